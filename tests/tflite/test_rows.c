/* SPDX-License-Identifier: MIT */
/*
 * test_rows.c — every operator of TFLite with inputs that it does not expect, and without options:
 * it is converted, or refused with a message (convert.c, op_basic.c, op_conv.c, op_custom.c,
 * op_recurrent.c, op_state.c).
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/onnx_bytes.h"
#include "support/tflite_text.h"
#include "tflite/schema.h"

enum { MOST = 7 };

/* Writes a model of one operator with `n` inputs of a type. */
static void write_model(char *to, size_t size, const char *name, const char *type, int n)
{
    size_t at = 0;
    for (int k = 0; k < MOST; k++)
        at += (size_t)snprintf(to + at, size - at, "x%d = %s\n", k, type);
    at += (size_t)snprintf(to + at, size - at, "y = f32[2]\nz = i32[2]\ny z = %s(", name);
    for (int k = 0; k < n; k++)
        at += (size_t)snprintf(to + at, size - at, "%sx%d", k != 0 ? ", " : "", k);
    (void)snprintf(to + at, size - at, ")\ninputs x0 x1 x2 x3 x4 x5 x6\noutputs y\n");
}

START_TEST(unexpected_inputs_are_refused)
{
    static const char *const types[] = { "f32[2,3]", "i32[]", "bool[2]", "i8[2,3] scale 0.5 3",
        "f32[1,?,4,2]", "i64[3]", "f32[2,3] variable" };
    size_t converted = 0, refused = 0;
    for (int32_t code = 0; code < PRT_TFLITE_OPERATORS; code++)
        for (size_t i = 0; i < PRT_COUNT_OF(types) && code != PRT_TFLITE_OP_CUSTOM; i++)
            for (int n = 0; n <= MOST; n++) {
                char text[1000];
                prt_module *m = NULL;
                write_model(text, sizeof(text), prt_tflite_builtin_name(code), types[i], n);
                if (tflite_read(text, NULL, &m) == POPRT_OK)
                    converted++;
                else
                    refused += last_error()[0] != '\0';
                prt_module_release(m);
            }
    ck_assert_uint_gt(converted, 100);
    ck_assert_uint_gt(refused, 1000);
}
END_TEST

PRT_TEST_MAIN("tflite/rows", unexpected_inputs_are_refused)
