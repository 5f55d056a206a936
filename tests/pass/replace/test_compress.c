/* SPDX-License-Identifier: MIT */
/* test_compress.c — compress_pattern. */
#include "support/check_main.h"
#include "support/graph_text.h"

#define IN "x = input f32[2,5]\nc = input bool[5]\na = const i64[1] {1}\n"

START_TEST(sums_do_not_see_zeros)
{
    static const char *const pass = "compress_pattern";
    assert_pass_rewrites(pass, NULL,
        IN "k = compress x c {axis=1} @k\ns = abs k\ny = reduce_sum s a\nreturn y\n",
        IN "k = gc_mask_compress x c {axis=1} @k\ns = abs k\ny = reduce_sum s a\nreturn y\n");
    assert_pass_rewrites(pass, NULL, IN "k = compress x c\ny = reduce_l2 k\nreturn y\n",
        IN "k = gc_mask_compress x c\ny = reduce_l2 k\nreturn y\n");
    assert_pass_keeps_results(IN "k = compress x c {axis=-1}\ns = tanh k\nt = neg k\n"
                                 "y = reduce_sum s a\nz = reduce_sum_square t a\n"
                                 "w = reduce_l1 k\nreturn y, z, w\n",
        pass, 0);
    assert_pass_keeps_results("q = input bool[]\nx = input f32[5]\nz = input f32[1]\n"
                              "k = const bool[3] {true,false,true}\nr = if q {\n"
                              "  then_branch { c = greater x z; s = compress x c; "
                              "t = reduce_sum s; return t }\n"
                              "  else_branch { return z }\n}\nreturn r\n",
        pass, 0);
}
END_TEST

START_TEST(other_compressions_are_left)
{
    static const char *const pass = "compress_pattern";
    assert_pass_leaves(pass, NULL, IN "k = compress x c {axis=1}\nreturn k\n");
    assert_pass_leaves(pass, NULL, IN "k = compress x c {axis=1}\ny = reduce_mean k a\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        IN "k = compress x c {axis=1}\ns = exp k\ny = reduce_sum s a\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        IN "k = compress x c {axis=1}\ny = reduce_sum k a\nz = shape k\nreturn y, z\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[2,5]\nc = input bool[2]\na = const i64[1] {1}\nk = compress x c {axis=0}\n"
        "y = reduce_sum k a\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        IN "b = input i64[1]\nk = compress x c {axis=1}\ny = reduce_sum k b\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[2,5]\nc = const bool[2] {true,false}\nk = compress x c {axis=1}\n"
        "y = reduce_sum k\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/replace/compress", sums_do_not_see_zeros, other_compressions_are_left)
