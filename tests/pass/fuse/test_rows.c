/* SPDX-License-Identifier: MIT */
/*
 * test_rows.c — rows_as_matrix.
 * Covers: rows_apply.c.
 */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "rows_as_matrix";

#define X                                                                                          \
    "x = input f32[2,3,4]\nw = const f32[4,4] {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}\n"                 \
    "b = const f32[4] {1,-1,2,-2}\n"

START_TEST(products_get_their_bias)
{
    /* heads of attention: a view is there anyway */
    static const char *const heads = X "to = const i64[4] {0,0,2,2}\nm = matmul x w @m\n"
                                       "a = add m b @a\nn = matmul a w @n\nc = add b n\n"
                                       "y = reshape c to @heads\nreturn y\n";
    assert_pass_rewrites(pass, NULL, heads,
        X "to = const i64[4] {0,0,2,2}\n%0 = const i64[2] {6,4}\n%1 = reshape x %0 @m\n"
          "%2 = gemm %1 w b @m\n%3 = gemm %2 w b @n\n%4 = const i64[4] {2,3,2,2}\n"
          "y = reshape %3 %4 @heads\nreturn y\n");
    assert_pass_keeps_results(heads, pass, 1e-6);
    /* matrices already; the bias first, and of rank 2 */
    assert_pass_rewrites(pass, NULL,
        "x = input f32[3,4]\nw = const f32[4,2] {1,2,3,4,5,6,7,8}\nb = const f32[1,2] {1,-1}\n"
        "m = matmul x w\ny = add b m\nreturn y\n",
        "x = input f32[3,4]\nw = const f32[4,2] {1,2,3,4,5,6,7,8}\nb = const f32[1,2] {1,-1}\n"
        "%0 = const f32[2] {1,-1}\ny = gemm x w %0\nreturn y\n");
    /* a chain: norm, products, a residual, the last axis cut and joined */
    static const char *const chain = X
        "s = const f32[4] {1,2,1,2}\nr = const f32[1,1,4] {1,0,1,0}\nn = layer_normalization x s b "
        "{axis=2}\nm = matmul n w\na = add m b\ng = gelu a\no = matmul g w\nc = add o b\n"
        "d = add c x\ne = mul d r\ni, j = split e {axis=2, num_outputs=2}\n"
        "k = concat j i {axis=2}\nt = softmax k\nu = matmul t w\ny = add u b\nreturn y\n";
    assert_pass_keeps_results(chain, pass, 1e-5);
    assert_pass_keeps_results(X "q = input bool[]\nr = if q {\n"
                                "  then_branch { l = relu x; m = matmul l w; a = add m b\n"
                                "    n = matmul a w; t = add n b; k = matmul t w; z = add k b\n"
                                "    return z }\n"
                                "  else_branch { e = relu x; return e }\n}\nreturn r\n",
        pass, 1e-5);
    /* values read from outside: a constant twice, and an input with a default */
    assert_pass_keeps_results(X
        "d = input f32[2,3,4] fill 3\nc = const f32[2,3,4] fill 2\nq = input bool[]\nr = if q {\n"
        "  then_branch { l = relu x; o = mul l d; m = matmul o w; a = add m b; s = mul a c\n"
        "    n = matmul s w; t = add n b; u = mul t c; k = matmul u w; z = add k b; return z }\n"
        "  else_branch { e = relu x; return e }\n}\nreturn r\n",
        pass, 1e-5);
}
END_TEST

START_TEST(views_between_products_are_removed)
{
    static const char *const text =
        "x = input f32[6,4]\nw = const f32[4,4] {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}\n"
        "three = const i64[3] {2,3,4}\ntwo = const i64[2] {-1,4}\nm = gemm x w\n"
        "a = reshape m three\ng = tanh a @act\nh = reshape g two\ny = gemm h w\nreturn y\n";
    assert_pass_rewrites(pass, NULL, text,
        "x = input f32[6,4]\nw = const f32[4,4] {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}\n"
        "three = const i64[3] {2,3,4}\ntwo = const i64[2] {-1,4}\nm = gemm x w\n"
        "h = tanh m @act\ny = gemm h w\nreturn y\n");
    assert_pass_keeps_results(text, pass, 0);
    /* a constant for each element, an output in between, a view of another kind */
    assert_pass_keeps_results(
        "x = input f32[6,4]\nthree = const i64[3] {2,3,4}\ntwo = const i64[2] {6,4}\n"
        "e = const f32[2,3,4] {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6}\n"
        "a = reshape x three\nb = mul a e\nc = squeeze b\nd = reshape c two\nz = neg d\n"
        "return z, b\n",
        pass, 0);
    assert_pass_keeps_results(
        "x = input f32[2,2,3,4]\nto = const i64[3] {2,6,4}\nfour = const i64[2] {12,4}\n"
        "p = transpose x {perm=[0,2,1,3]}\na = reshape p to\nb = exp a\nc = reshape b four\n"
        "z = neg c\nreturn z\n",
        pass, 0);
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const texts[] = {
        X "m = matmul x w\na = add m b\nreturn a\n", /* two Reshapes for one node */
        X "v = input f32[4,4]\nto = const i64[4] {2,3,2,2}\nm = matmul x v\na = add m b\n"
          "y = reshape a to\nreturn y\n",
        X "to = const i64[4] {2,3,2,2}\nm = matmul x w\na = add m b\ny = reshape a to\n"
          "z = relu m\nreturn y, z\n",
        "x = input f32[n,3,4]\nw = const f32[4,4] {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}\n"
        "b = const f32[4] {1,-1,2,-2}\nm = matmul x w\ny = add m b\nreturn y\n",
        "x = input i32[3,4]\nw = const i32[4,1] {1,2,3,4}\nb = const i32[1] {1}\n"
        "m = matmul x w\ny = add m b\nreturn y\n",
        /* a number for each row */
        "x = input f32[3,4]\nw = const f32[4,2] {1,2,3,4,5,6,7,8}\nb = const f32[3,1] {1,2,3}\n"
        "m = matmul x w\ny = add m b\nreturn y\n",
        /* along another axis */
        "x = input f32[6,4]\nthree = const i64[3] {2,3,4}\ntwo = const i64[2] {6,4}\n"
        "a = reshape x three\nb = softmax a {axis=1}\nc = reshape b two\nreturn c\n",
        /* nothing has elements */
        "x = input f32[0,4]\nw = const f32[4,2] {1,2,3,4,5,6,7,8}\nb = const f32[2] {1,-1}\n"
        "m = matmul x w\ny = add m b\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++)
        assert_pass_leaves(pass, NULL, texts[i]);
}
END_TEST

PRT_TEST_MAIN("pass/fuse/rows", products_get_their_bias, views_between_products_are_removed,
    near_misses_are_left)
