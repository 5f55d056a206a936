/* SPDX-License-Identifier: MIT */
/* test_resize.c — the fast Resize against the reference, mode by mode.
 * Covers: resize_coords.c. */
#include <stdio.h>

#include "base/status.h"
#include "support/check_main.h"
#include "support/fast_check.h"

static void check_resize(const char *dims, const char *scales, const char *attrs)
{
    char text[512];
    (void)snprintf(text, sizeof(text),
        "x = input f32[%s]\ns = const f32[%s\ny = resize x _ s {%s}\nreturn y\n", dims, scales,
        attrs);
    fast_check(text, -1, 1, 1e-6);
}

START_TEST(every_mode_equals_the_reference)
{
    static const char *const coords[] = { "half_pixel", "half_pixel_symmetric",
        "pytorch_half_pixel", "align_corners", "asymmetric" };
    static const char *const scales[] = { "4] {1,1,2,2}", "4] {1,1,3,1}", "4] {1,1,1,4}",
        "4] {1,1,1.5,2.6}", "4] {1,1,0.5,0.3}", "4] {1,1,0.7,3}" };
    static const char *const kinds[] = { "mode=\"nearest\"",
        "mode=\"nearest\",nearest_mode=\"ceil\"", "mode=\"nearest\",nearest_mode=\"floor\"",
        "mode=\"linear\"", "mode=\"linear\",exclude_outside=1" };
    char attrs[200];
    for (size_t i = 0; i < PRT_COUNT_OF(coords); i++)
        for (size_t k = 0; k < PRT_COUNT_OF(kinds); k++)
            for (size_t s = 0; s < PRT_COUNT_OF(scales); s++) {
                (void)snprintf(attrs, sizeof(attrs), "%s,coordinate_transformation_mode=\"%s\"",
                    kinds[k], coords[i]);
                check_resize("2,3,7,9", scales[s], attrs);
            }
}
END_TEST

START_TEST(every_size_equals_the_reference)
{
    check_resize("150,131", "2] {2,3}", "mode=\"linear\"");
    check_resize("1,1,200,210", "4] {1,1,2,2}", "mode=\"nearest\"");
    check_resize("3,1,1", "3] {1,5,4}", "mode=\"linear\"");
    check_resize("2,1,1,6", "4] {1,1,1,1}", "mode=\"linear\"");
    check_resize("5,40", "2] {1,1.25}", "mode=\"linear\"");
    check_resize("2,3,4,5", "4] {2,1,1,2}", "mode=\"nearest\"");
    check_resize("2,3,4,5", "4] {1,2,2,2}", "mode=\"linear\"");
    check_resize("7", "1] {2}", "mode=\"linear\"");
    check_resize("1,2,8,8", "4] {1,1,0.5,0.5}", "mode=\"linear\",antialias=1");
    check_resize("1,2,8,8", "4] {1,1,2,2}", "mode=\"cubic\"");
    fast_check("x = input f32[2,3,8,9]\ns = const i64[2] {12,20}\n"
               "y = resize x _ _ s {mode=\"linear\",axes=[2,3],"
               "keep_aspect_ratio_policy=\"not_larger\"}\nreturn y\n",
        -1, 1, 1e-6);
    fast_check("x = input f32[1,1,0,9]\ns = const i64[4] {1,1,0,18}\n"
               "y = resize x _ _ s\nreturn y\n",
        -1, 1, 1e-6);
}
END_TEST

START_TEST(infinities_reach_only_weighted_outputs)
{
    check_resize("0,4", "2] {1,2}", "mode=\"linear\"");
    fast_check("x = const f32[2,3] {inf,1,2,3,nan,-inf}\nz = input f32[]\n"
               "s = const f32[2] {3,3}\ny = resize x _ s {mode=\"linear\"}\n"
               "r = add y z\nreturn r\n",
        0, 1, 1e-6);
    fast_check("x = input f32[2,3]\nz = const f32[2,3] {inf,0,0,0,nan,-inf}\ny = add x z\n"
               "s = const f32[2] {2,3}\nr = resize y _ s {mode=\"linear\","
               "coordinate_transformation_mode=\"asymmetric\"}\nreturn r\n",
        0, 1, 1e-6);
    fast_check("x = input f32[2,3]\nz = const f32[2,3] {inf,0,0,0,nan,-inf}\ny = add x z\n"
               "s = const f32[2] {2,3}\nr = resize y _ s {mode=\"nearest\"}\nreturn r\n",
        0, 1, 1e-6);
}
END_TEST

PRT_TEST_MAIN("fast/resize", every_mode_equals_the_reference, every_size_equals_the_reference,
    infinities_reach_only_weighted_outputs)
