/* SPDX-License-Identifier: MIT */
/* test_resize.c — Resize, GridSample, AffineGrid, RoiAlign, MaxRoiPool: sizes, types, errors.
 * Covers: grid_sample.c, affine_grid.c, roi.c, resize_coords.c. */
#include "support/check_main.h"
#include "support/op_text.h"

#define SCALED(type, scales, attrs)                                                                \
    "x = input " type "\ns = const f32[2] {" scales "}\ny = resize x _ s {" attrs "}\nreturn y\n"
#define LINE(type, data, scale, attrs)                                                             \
    "x = const " type " {" data "}\ns = const f32[1] {" scale "}\ny = resize x _ s {" attrs        \
    "}\nreturn y\n"
#define GRID(x, grid, attrs)                                                                       \
    "x = const f32[1,1,3] {" x "}\ng = const f32[1,2,1] {" grid "}\ny = grid_sample x g {" attrs   \
    "}\nreturn y\n"

START_TEST(sizes_follow_the_scales)
{
    ck_assert_str_eq(op_type(SCALED("f32[n,h]", "1,2", "")), "f32[n,(2*h)]");
    ck_assert_str_eq(op_type(SCALED("f32[4,3]", "0.5,1.6666666", "")), "f32[2,5]");
    ck_assert_str_eq(op_type(SCALED("f32[2,h]", "0.5,0.5", "")), "f32[1,(h/2)]");
    ck_assert_str_eq(op_type(SCALED("f32[2,h]", "1,1.25", "")), "f32[2,((5*h)/4)]");
    ck_assert_str_eq(op_type(SCALED("f32[2,h]", "1,0.3", "")), "f32[2,?]");
    ck_assert_str_eq(op_type("x = input f32[a,b]\nm = input f32[c,d]\nz = shape m\n"
                             "y = resize x _ _ z\nreturn y\n"),
        "f32[c,d]");
    ck_assert_str_eq(op_type("x = input f32[n,4,8]\nz = const i64[2] {10,10}\n"
                             "y = resize x _ _ z {axes=[1,-1], "
                             "keep_aspect_ratio_policy=not_larger}\nreturn y\n"),
        "f32[n,5,10]");
    ck_assert_str_eq(op_type("x = input f32[n,4,8]\nz = input i64[2]\n"
                             "y = resize x _ _ z {axes=[1,2]}\nreturn y\n"),
        "f32[n,?,?]");
}
END_TEST

START_TEST(resized_values_are_as_specified)
{
    ck_assert_str_eq(op_value(LINE("string[2]", "\"a\",\"b\"", "2", "")),
        "string[4]: 'a' 'a' 'b' 'b'");
    ck_assert_str_eq(op_value(LINE("u8[2]", "0,255", "2", "mode=linear")), "u8[4]: 0 64 191 255");
    ck_assert_str_eq(op_value(LINE("i4[2]", "-8,7", "2", "mode=cubic")), "i4[4]: -8 -5 4 7");
    ck_assert_str_eq(op_value(LINE("f16[3]", "1,2,3", "0.34", "mode=linear, antialias=1")),
        "f16[1]: 1.98633");
    ck_assert_str_eq(op_value("x = const f32[3] {1,2,3}\nr = const f32[2] {0.5,1.5}\n"
                              "z = const i64[1] {3}\ny = resize x r _ z {coordinate_"
                              "transformation_mode=tf_crop_and_resize, extrapolation_value=9.0, "
                              "mode=linear}\nreturn y\n"),
        "f32[3]: 2 3 9");
    ck_assert_str_eq(op_value("x = const f32[0,3] {}\nz = const i64[2] {0,6}\n"
                              "y = resize x _ _ z\nreturn y\n"),
        "f32[0,6]:");
}
END_TEST

START_TEST(wrong_attributes_are_refused)
{
    ck_assert_str_eq(op_status(LINE("f32[1]", "1", "0", "")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(LINE("f32[1]", "1", "nan", "")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(LINE("f32[1]", "1", "1e30", "")), "POPRT_E_LIMIT");
    ck_assert_str_eq(op_status(LINE("f32[1]", "1", "1", "mode=quintic")), "POPRT_E_UNSUPPORTED");
    ck_assert_str_eq(op_status(LINE("string[1]", "\"a\"", "1", "mode=linear")), "POPRT_E_TYPE");
    ck_assert_str_eq(op_status(LINE("f32[1]", "1", "1", "axes=[1]")), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[1,1] zeros\ns = const f32[2] {1,1}\n"
                               "y = resize x _ s {axes=[0,-2]}\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[0] {}\nz = const i64[1] {3}\ny = resize x _ _ z\n"
                               "return y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[1] zeros\ny = resize x\nreturn y\n"), "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\nz = const i64[1] {3}\ny = resize x _ _ z "
                               "{coordinate_transformation_mode=tf_crop_and_resize}\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(grid_positions_outside_are_padded)
{
    ck_assert_str_eq(op_value(GRID("1,2,3", "0,nan", "")), "f32[1,1,2]: 2 0");
    ck_assert_str_eq(op_value(GRID("1,2,3", "inf,-inf", "padding_mode=border")), "f32[1,1,2]: 3 1");
    ck_assert_str_eq(op_value(GRID("1,2,3", "1.5,-2", "padding_mode=reflection, align_corners=1")),
        "f32[1,1,2]: 2.5 2");
    ck_assert_str_eq(op_status(GRID("1,2,3", "0,0", "mode=bilinear")), "POPRT_E_ARG");
    ck_assert_str_eq(op_value("x = const i4[1,1,3] {1,2,3}\ng = const f32[1,2,1] {0,9}\n"
                              "y = grid_sample x g {mode=nearest}\nreturn y\n"),
        "i4[1,1,2]: 2 0");
    ck_assert_str_eq(op_status("x = const f32[1,1,0] {}\ng = const f32[1,2,1] {0,9}\n"
                               "y = grid_sample x g\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_value("t = const f64[1,2,3] {1,0,0,0,1,5}\ns = const i64[4] {1,1,1,2}\n"
                              "y = affine_grid t s\nreturn y\n"),
        "f64[1,1,2,2]: -0.5 5 0.5 5");
    ck_assert_str_eq(op_status("t = const f64[1,2,3] zeros\ns = const i64[5] {1,1,1,2,2}\n"
                               "y = affine_grid t s\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

#define ROI(op, box, attrs)                                                                        \
    "x = const f32[1,1,2,2] {1,2,3,4}\nr = const f32[1,4] {" box "}\n" attrs                       \
    "\ny = roi_align x r b {" op "}\nreturn y\n"

START_TEST(regions_of_interest_are_pooled)
{
    ck_assert_str_eq(op_value(ROI("sampling_ratio=1", "0,0,2,2", "b = const i64[1] {0}")),
        "f32[1,1,1,1]: 2.5");
    ck_assert_str_eq(op_value(ROI("sampling_ratio=5", "0,0,2,2", "b = const i64[1] {0}")),
        "f32[1,1,1,1]: 2.5"); /* more samples than one block */
    ck_assert_str_eq(op_value(
                         ROI("sampling_ratio=6,mode=\"max\"", "1,1,1,1", "b = const i64[1] {0}")),
        "f32[1,1,1,1]: 1");
    ck_assert_str_eq(op_status(ROI("", "0,0,2,2", "b = const i64[1] {1}")), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(ROI("", "0,0,2,2", "b = const i64[1] {-1}")), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(ROI("", "0,0,1e30,2", "b = const i64[1] {0}")), "POPRT_E_LIMIT");
    ck_assert_str_eq(op_status(ROI("", "nan,0,1,2", "b = const i64[1] {0}")), "POPRT_E_LIMIT");
    ck_assert_str_eq(op_status(ROI("output_height=0", "0,0,1,2", "b = const i64[1] {0}")),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_value("x = const f32[1,1,2,2] {1,2,3,4}\nr = const f32[1,5] {0,0,0,inf,9}\n"
                              "y = max_roi_pool x r {pooled_shape=[1,1]}\nreturn y\n"),
        "f32[1,1,1,1]: 4");
    ck_assert_str_eq(op_status("x = const f32[1,1,2,2] {1,2,3,4}\n"
                               "r = const f32[1,5] {nan,0,0,1,9}\n"
                               "y = max_roi_pool x r {pooled_shape=[1,1]}\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

PRT_TEST_MAIN("op/resize", sizes_follow_the_scales, resized_values_are_as_specified,
    wrong_attributes_are_refused, grid_positions_outside_are_padded, regions_of_interest_are_pooled)
