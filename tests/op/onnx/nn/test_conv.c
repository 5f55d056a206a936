/* SPDX-License-Identifier: MIT */
/* test_conv.c — Conv and related operators: symbolic sizes, padding, unusual types, wrong
 * attributes.
 * Covers: conv_transpose.c, deform_conv.c, col2im.c, conv_core.c. */
#include "support/check_main.h"
#include "support/op_check.h"
#include "support/op_text.h"

#define TYPE(op, x, w, attrs)                                                                      \
    "x = input " x "\nw = input " w "\ny = " op " x w {" attrs "}\nreturn y\n"
#define STATUS(op, x, w, attrs)                                                                    \
    "x = const " x " zeros\nw = const " w " zeros\ny = " op " x w {" attrs "}\nreturn y\n"

START_TEST(sizes_are_symbolic)
{
    ck_assert_str_eq(op_type(TYPE("conv", "f32[n,3,h,224]", "f32[64,3,7,7]",
                         "strides=[2,2], pads=[3,3,3,3]")),
        "f32[n,64,((h+1)/2),112]");
    ck_assert_str_eq(op_type(TYPE("conv", "f32[n,3,h,w]", "f32[m,3,3,3]", "pads=[1,1,1,1]")),
        "f32[n,m,h,w]");
    ck_assert_str_eq(op_type(TYPE("conv", "f16[1,2,l]", "f16[4,2,3]", "auto_pad=VALID")),
        "f16[1,4,(l-2)]");
    ck_assert_str_eq(op_type(TYPE("conv", "f32", "f32[4,2,3,3]", "")), "f32[?,4,?,?]");
    ck_assert_str_eq(op_type(TYPE("conv", "f32", "f32", "kernel_shape=[3,3]")), "f32[?,?,?,?]");
    ck_assert_str_eq(op_type(TYPE("conv_transpose", "f32[n,4,h,8]", "f32[4,3,2,2]",
                         "strides=[2,2], group=2")),
        "f32[n,6,(2*h),16]");
    ck_assert_str_eq(op_type(
                         TYPE("conv_transpose", "f32[n,4,h]", "f32[4,3,5]", "output_shape=[9]")),
        "f32[n,3,9]");
}
END_TEST

START_TEST(convolutions_have_their_values)
{
    ck_assert_str_eq(op_value("x = const f64[1,1,4] {1,2,3,4}\nw = const f64[2,1,2] {1,1,1,-1}\n"
                              "b = const f64[2] {0.5,0}\ny = conv x w b {pads=[1,0]}\nreturn y\n"),
        "f64[1,2,4]: 1.5 3.5 5.5 7.5 -1 -1 -1 -1");
    ck_assert_str_eq(op_value("x = const bf16[1,2,2] {1,2,3,4}\nw = const bf16[2,1,1] {2,3}\n"
                              "y = conv x w {group=2}\nreturn y\n"),
        "bf16[1,2,2]: 2 4 9 12");
    ck_assert_str_eq(op_value("x = const f32[1,1,2] {1,2}\nw = const f32[1,1,3] {1,10,100}\n"
                              "y = conv_transpose x w {strides=[2], output_padding=[1]}\n"
                              "return y\n"),
        "f32[1,1,6]: 1 10 102 20 200 0");
    ck_assert_str_eq(op_value("x = const u8[1,1,3] {1,2,3}\nw = const i8[1,1,2] {-1,2}\n"
                              "z = const u8[] {2}\ny = conv_integer x w z {pads=[1,1]}\n"
                              "return y\n"),
        "i32[1,1,4]: -2 1 2 -1");
    ck_assert_str_eq(op_value("x = const f32[0,1,4] {}\nw = const f32[2,1,2] zeros\n"
                              "y = conv x w\nreturn y\n"),
        "f32[0,2,3]:");
    ck_assert_str_eq(op_value("x = const f32[1,0,2] {}\nw = const f32[1,0,1] {}\n"
                              "b = const f32[1] {3}\ny = conv x w b\nreturn y\n"),
        "f32[1,1,2]: 3 3");
}
END_TEST

START_TEST(wrong_attributes_are_refused)
{
    ck_assert_str_eq(op_status(STATUS("conv", "f32[1,1,4,4]", "f32[1,1,2,2]", "strides=[0,1]")),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status(STATUS("conv", "f32[1,1,4,4]", "f32[1,1,2,2]", "strides=[1]")),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(STATUS("conv", "f32[1,1,4,4]", "f32[1,1,2,2]",
                         "dilations=[9223372036854775807,1]")),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status(STATUS("conv", "f32[1,1,4,4]", "f32[1,1,2,2]", "pads=[-1,0,0,0]")),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status(STATUS("conv", "f32[1,1,4,4]", "f32[1,1,2,2]", "auto_pad=SAME")),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status(STATUS("conv", "f32[1,1,4,4]", "f32[1,1,2,2]", "group=0")),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status(STATUS("conv", "f32[1,4,4,4]", "f32[3,2,2,2]", "group=2")),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(STATUS("conv", "f32[1,1,4,4]", "f32[1,1,7,7]", "")),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(STATUS("conv", "f32[1,1]", "f32[1,1]", "")), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(STATUS("conv_transpose", "f32[1,1,4]", "f32[1,1,2]",
                         "output_padding=[-1]")),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status(STATUS("conv_transpose", "f32[1,3,4]", "f32[3,1,2]", "group=2")),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[1,1,3,3] zeros\nw = const f32[1,1,2,2] zeros\n"
                               "o = const f32[1,8,3,2] zeros\ny = deform_conv x w o\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[1,1,3,3] zeros\nw = const f32[1,1,2,2] zeros\n"
                               "o = const f32[1,8,2,2] zeros\ny = deform_conv x w o "
                               "{offset_group=2}\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(col2im_counts_blocks)
{
    ck_assert_str_eq(op_value("x = const i32[1,2,3] {1,2,3,10,20,30}\ni = const i64[1] {4}\n"
                              "b = const i64[1] {2}\ny = col2im x i b\nreturn y\n"),
        "i32[1,1,4]: 1 12 23 30");
    ck_assert_str_eq(op_status("x = const f32[1,2,4] zeros\ni = const i64[1] {4}\n"
                               "b = const i64[1] {2}\ny = col2im x i b\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[1,2,3] zeros\ni = const i64[1] {4}\n"
                               "b = const i64[1] {0}\ny = col2im x i b\nreturn y\n"),
        "POPRT_E_SHAPE");
    /* Blocks of two elements that overlap by one, of complex numbers and of bools. */
    ck_result("x = const c64[1,2,2] {(1,2), (3,4), (5,6), (7,8)}\ni = const i64[1] {3}\n"
              "b = const i64[1] {2}\ny = col2im x i b\nreturn y\n",
        "c64[1,1,3] {(1,2), (8,10), (7,8)}");
    ck_assert_str_eq(op_value("x = const bool[1,2,2] {true,false,false,false}\n"
                              "i = const i64[1] {3}\nb = const i64[1] {2}\n"
                              "y = col2im x i b\nreturn y\n"),
        "bool[1,1,3]: 1 0 0");
}
END_TEST

PRT_TEST_MAIN("op/conv", sizes_are_symbolic, convolutions_have_their_values,
    wrong_attributes_are_refused, col2im_counts_blocks)
