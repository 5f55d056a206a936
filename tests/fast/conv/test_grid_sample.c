/* SPDX-License-Identifier: MIT */
/* test_grid_sample.c — the fast GridSample against the reference, and the cases that it leaves
 * to the reference. */
#include <stdio.h>

#include "base/status.h"
#include "support/check_main.h"
#include "support/fast_check.h"

static void check(const char *x, const char *grid, const char *attrs, double reach)
{
    char text[512];
    (void)snprintf(text, sizeof(text),
        "x = input f32[%s]\ng = input f32[%s]\n"
        "y = grid_sample x g {%s}\nreturn y\n",
        x, grid, attrs);
    fast_check(text, -reach, reach, 1e-5);
}

static const char *const forms[] = { "mode=linear", "mode=linear,align_corners=1",
    "mode=linear,padding_mode=border", "mode=linear,padding_mode=border,align_corners=1" };

START_TEST(linear_sampling_equals_the_reference)
{
    for (size_t i = 0; i < PRT_COUNT_OF(forms); i++) {
        check("2,3,5,7", "2,4,6,2", forms[i], 1.0);
        check("2,3,5,7", "2,4,6,2", forms[i], 1.5);
        check("1,1,1,1", "1,3,3,2", forms[i], 2.0);
        check("3,20,9,4", "3,40,30,2", forms[i], 1.2); /* more points than one block */
        check("1,2,3,3", "1,2,2,2", forms[i], 1e30);
    }
}
END_TEST

START_TEST(special_positions_equal_the_reference)
{
    static const char *const grids[] = { "nan,0,0,nan,inf,0,0,-inf",
        "3e38,-3e38,-1,1,1,1,0.999,-1.001" };
    char text[512];
    for (size_t i = 0; i < PRT_COUNT_OF(forms); i++)
        for (size_t k = 0; k < PRT_COUNT_OF(grids); k++) {
            (void)snprintf(text, sizeof(text),
                "x = input f32[1,2,4,5]\n"
                "g = const f32[1,2,2,2] {%s}\ny = grid_sample x g {%s}\nreturn y\n",
                grids[k], forms[i]);
            fast_check(text, -1, 1, 1e-5);
        }
    /* Elements outside the image are not read, even if they are infinite or NaN. */
    fast_check("a = input f32[1,1,3,3]\nz = const f32[1,1,3,1] {inf,nan,1}\n"
               "x = concat a z {axis=3}\ng = const f32[1,1,3,2] {-1.2,0,-1.2,1,0,0}\n"
               "y = grid_sample x g {mode=linear}\nreturn y\n",
        -1, 1, 1e-5);
}
END_TEST

START_TEST(other_modes_run_by_the_reference)
{
    check("2,3,5,7", "2,4,6,2", "mode=nearest", 1.2);
    check("2,3,5,7", "2,4,6,2", "mode=cubic", 1.2);
    check("2,3,5,7", "2,4,6,2", "mode=linear,padding_mode=reflection", 2.2);
    check("2,3,5", "2,4,1", "mode=linear", 1.2);
    check("2,3,5,4,3", "2,4,2,3,3", "mode=linear", 1.2);
}
END_TEST

PRT_TEST_MAIN("fast/grid_sample", linear_sampling_equals_the_reference,
    special_positions_equal_the_reference, other_modes_run_by_the_reference)
