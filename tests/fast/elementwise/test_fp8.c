/* SPDX-License-Identifier: MIT */
/* test_fp8.c — fast casts between 8-bit floats and other types.
 * Covers: graphcore.c. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/fast_check.h"

static const char *const shapes[] = { "", "0,4", "7", "3,4,50", "3,40000" };
static const char *const formats[] = { "F143", "F152" };

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* The cast goes on to int32, so that every byte is compared. */
START_TEST(casts_to_float8_equal_the_reference)
{
    static const int scales[] = { -32, -10, -1, 0, 3, 12, 31 };
    static const double ranges[] = { 1e-3, 1, 300, 7e4 };
    char text[512];
    for (size_t i = 0; i < SHAPES; i++)
        for (size_t f = 0; f < 2; f++)
            for (size_t k = 0; k < 7; k++)
                for (int type = 1; type <= 10; type += 9) {
                    (void)snprintf(text, sizeof(text),
                        "x = input f32[%s]\nh = cast x {to=%d}\ns = const i32[1] {%d}\n"
                        "b = gc_cast_to_uint8 h s {fp8Format=%s}\nc = cast b {to=6}\n"
                        "y = cast c {to=1}\nreturn y\n",
                        shapes[i], type, scales[k], formats[f]);
                    fast_check(text, -ranges[k % 4], ranges[k % 4], 0);
                }
}
END_TEST

START_TEST(casts_of_edge_values_equal_the_reference)
{
    char text[512];
    for (size_t f = 0; f < 2; f++) {
        (void)snprintf(text, sizeof(text),
            "x = const f32[14] {nan,inf,-inf,0,-0,240,-239,231,1e30,57344,61440,"
            "0.00048828125,0.00146484375,-1e-9}\ns = const i32[1] {0}\n"
            "b = gc_cast_to_uint8 x s {fp8Format=%s}\nc = cast b {to=6}\n"
            "y = cast c {to=1}\nreturn y\n",
            formats[f]);
        fast_check(text, 0, 1, 0);
    }
}
END_TEST

/* To bytes and back: types 17 to 20 are the float8 types of ONNX. */
START_TEST(casts_from_float8_equal_the_reference)
{
    char text[512];
    for (size_t i = 0; i < SHAPES; i++)
        for (int type = 17; type <= 20; type++) {
            (void)snprintf(text, sizeof(text),
                "x = input f32[%s]\nb = cast x {to=%d}\ny = cast b {to=1}\nreturn y\n", shapes[i],
                type);
            fast_check(text, -500, 500, 0);
        }
}
END_TEST

PRT_TEST_MAIN("fast/fp8", casts_to_float8_equal_the_reference,
    casts_of_edge_values_equal_the_reference, casts_from_float8_equal_the_reference)
