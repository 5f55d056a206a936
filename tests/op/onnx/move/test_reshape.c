/* SPDX-License-Identifier: MIT */
/* test_reshape.c — Reshape, Flatten, Squeeze, Unsqueeze, Shape, Size: symbolic dims and errors.
 * Covers: squeeze.c, shape.c, shape_values.c. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/op_text.h"

/* Reshape x of a type by a constant shape. */
#define RESHAPE(type, n, shape)                                                                    \
    "x = input " type "\ns = const i64[" n "] {" shape "}\ny = reshape x s\nreturn y\n"

START_TEST(inferred_dim_is_symbolic)
{
    ck_assert_str_eq(op_type(RESHAPE("f32[batch,seq,8]", "2", "-1,8")), "f32[(batch*seq),8]");
    ck_assert_str_eq(op_type(RESHAPE("f32[batch,12,seq,64]", "3", "0,-1,64")),
        "f32[batch,(12*seq),64]");
    ck_assert_str_eq(op_type(RESHAPE("f32[batch,seq,768]", "4", "0,0,12,-1")),
        "f32[batch,seq,12,64]");
    ck_assert_str_eq(op_type(RESHAPE("f32[?,4,8]", "2", "0,-1")), "f32[?,32]");
    ck_assert_str_eq(op_type(RESHAPE("f32[?,4,8]", "2", "-1,32")), "f32[?,32]");
    ck_assert_str_eq(op_type(RESHAPE("f32[]", "1", "-1")), "f32[1]");
    ck_assert_str_eq(op_type(RESHAPE("f32[1]", "0", "")), "f32[]");
}
END_TEST

/* The graph that an exporter writes for view(b, s, heads, -1). */
START_TEST(shapes_built_from_shapes_are_known)
{
    const char *head = "x = input f32[batch,seq,96]\n"
                       "sh = shape x\n"
                       "i0 = const i64[] {0}\ni1 = const i64[] {1}\n"
                       "b = gather sh i0\ns = gather sh i1\n"
                       "zero = const i64[1] {0}\n"
                       "b1 = unsqueeze b zero\ns1 = unsqueeze s zero\n"
                       "h = const i64[1] {12}\nm = const i64[1] {-1}\n";
    char text[2048];
    (void)snprintf(text, sizeof(text),
        "%s t = concat b1 s1 h m {axis=0}\n y = reshape x t\n return y\n", head);
    ck_assert_str_eq(op_type(text), "f32[batch,seq,12,8]");
    (void)snprintf(text, sizeof(text), "%s t = concat b1 s1 h m {axis=0}\n return t\n", head);
    ck_assert_str_eq(op_content(text), "batch seq 12 -1");
    (void)snprintf(text, sizeof(text),
        "%s bs = mul b s\n bs1 = unsqueeze bs zero\n t = concat bs1 m {axis=0}\n"
        " y = reshape x t\n return y\n",
        head);
    ck_assert_str_eq(op_type(text), "f32[(batch*seq),96]");
}
END_TEST

START_TEST(shape_and_size_know_symbols)
{
    ck_assert_str_eq(op_content("x = input f32[a,3,b]\ny = shape x\nreturn y\n"), "a 3 b");
    ck_assert_str_eq(op_content("x = input f32[a,3,b]\ny = shape x {start=-2}\nreturn y\n"), "3 b");
    ck_assert_str_eq(op_content("x = input f32[a,3,b]\ny = shape x {end=-1}\nreturn y\n"), "a 3");
    ck_assert_str_eq(op_content("x = input f32[a,3]\ny = size x\nreturn y\n"), "(3*a)");
    ck_assert_str_eq(
        op_type("x = input f32[a,3]\ny = shape x {start=2, end=-9223372036854775808}\nreturn y\n"),
        "i64[0]");
    ck_assert_str_eq(op_content("x = input f32[a,b,4]\ns = shape x\n"
                                "a0 = const i64[1] {0}\np = reduce_prod s a0 {keepdims=0}\n"
                                "return p\n"),
        "(4*(a*b))");
}
END_TEST

START_TEST(bad_shapes_are_errors)
{
    ck_assert_str_eq(op_status("x = const f32[2,3] zeros\ns = const i64[2] {4,-1}\n"
                               "y = reshape x s\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2,3] zeros\ns = const i64[2] {-1,-1}\n"
                               "y = reshape x s\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2,3] zeros\ns = const i64[3] {2,3,0}\n"
                               "y = reshape x s\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2,3] zeros\ns = const i64[2] {5,0}\n"
                               "y = reshape x s\nreturn y\n"),
        "POPRT_E_SHAPE");
    /* If a zero dim of the shape matches no zero dim of the input, -1 is undetermined. */
    ck_assert_str_eq(op_status("x = const f32[2,3] zeros\ns = const i64[2] {-1,0}\n"
                               "y = reshape x s {allowzero=1}\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[0,3] zeros\ns = const i64[3] {-1,0,0}\n"
                               "y = reshape x s {allowzero=1}\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\n"
                               "s = const i64[3] {4294967296,4294967296,4294967296}\n"
                               "y = reshape x s\nreturn y\n"),
        "POPRT_E_LIMIT");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\ns = const i64[1] {-9223372036854775808}\n"
                               "y = reshape x s\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\ns = const i64[9] {1,1,1,1,1,1,1,1,2}\n"
                               "y = reshape x s\nreturn y\n"),
        "POPRT_E_LIMIT");
}
END_TEST

/* Zero dims cancel as any other number would. */
START_TEST(equal_zero_dims_cancel)
{
    ck_assert_str_eq(op_value("x = const f32[0,3] zeros\ns = const i64[2] {0,-1}\n"
                              "y = reshape x s\nreturn y\n"),
        "f32[0,3]:");
    ck_assert_str_eq(op_value("x = const f32[0,6,4] zeros\ns = const i64[4] {0,-1,2,4}\n"
                              "y = reshape x s {allowzero=1}\nreturn y\n"),
        "f32[0,3,2,4]:");
    ck_assert_str_eq(op_value("x = const f32[0,6,4] zeros\ns = const i64[2] {-1,8}\n"
                              "y = reshape x s\nreturn y\n"),
        "f32[0,8]:");
}
END_TEST

START_TEST(values_keep_their_order)
{
    ck_assert_str_eq(op_value("x = const i4[2,3] {1,2,3,-4,5,-6}\ns = const i64[2] {3,-1}\n"
                              "y = reshape x s\nreturn y\n"),
        "i4[3,2]: 1 2 3 -4 5 -6");
    ck_assert_str_eq(op_value("x = const string[2] {a,bc}\ns = const i64[2] {0,1}\n"
                              "y = unsqueeze x s\nreturn y\n"),
        "string[1,1,2]: 'a' 'bc'");
    ck_assert_str_eq(op_value("x = const f32[0,3] zeros\ns = const i64[2] {3,0}\n"
                              "y = reshape x s {allowzero=1}\nreturn y\n"),
        "f32[3,0]:");
    ck_assert_str_eq(op_value(
                         "x = const i32[2,3] {1,2,3,4,5,6}\ny = flatten x {axis=0}\nreturn y\n"),
        "i32[1,6]: 1 2 3 4 5 6");
}
END_TEST

START_TEST(wrong_axes_are_refused)
{
    ck_assert_str_eq(op_type("x = input f32[1,a,1]\ns = const i64[2] {0,-1}\ny = squeeze x s\n"
                             "return y\n"),
        "f32[a]");
    ck_assert_str_eq(op_type("x = input f32[1,a]\ny = squeeze x\nreturn y\n"), "f32[*]");
    ck_assert_str_eq(op_type("x = input f32[1,2,1]\ny = squeeze x\nreturn y\n"), "f32[2]");
    ck_assert_str_eq(op_status("x = const f32[2,1] zeros\ns = const i64[1] {0}\ny = squeeze x s\n"
                               "return y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\ns = const i64[2] {0,-3}\n"
                               "y = unsqueeze x s\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\ns = const i64[1] {9223372036854775807}\n"
                               "y = unsqueeze x s\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[1,1,1,1,1,1,1,1] zeros\ns = const i64[1] {0}\n"
                               "y = unsqueeze x s\nreturn y\n"),
        "POPRT_E_LIMIT");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\ny = flatten x {axis=3}\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

PRT_TEST_MAIN("op/reshape", inferred_dim_is_symbolic, shapes_built_from_shapes_are_known,
    shape_and_size_know_symbols, bad_shapes_are_errors, equal_zero_dims_cancel,
    values_keep_their_order, wrong_axes_are_refused)
