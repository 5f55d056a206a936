/* SPDX-License-Identifier: MIT */
/* test_consecutive_slice.c — fuse_consecutive_slice. */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "fuse_consecutive_slice";

#define X                                                                                          \
    "x = input f32[2,6,8]\no = const i64[1] {1}\nf = const i64[1] {5}\nlast = const i64[1] {-1}\n" \
    "two = const i64[1] {2}\nback = const i64[1] {-9}\n"

START_TEST(slices_of_other_axes_join)
{
    static const char *const text = X "a = slice x o f o @one\ny = slice a o f last two @two\n"
                                      "return y\n";
    assert_pass_rewrites(pass, NULL, text,
        X "%0 = const i64[2] {1,1}\n%1 = const i64[2] {5,5}\n"
          "%2 = const i64[2] {1,2}\n%3 = const i64[2] {1,2}\ny = slice x %0 %1 %2 %3 @two\n"
          "return y\n");
    assert_pass_keeps_results(text, pass, 0);
    /* quarters of an image, as patches are merged: two Slices read each first one */
    assert_pass_keeps_results(X
        "z = const i64[1] {0}\ng = const i64[1] {4}\na = slice x z g o two\n"
        "b = slice x o g o two\np = slice a z g two two\nq = slice a o g two two\n"
        "r = slice b z g two two\ns = slice b o g two two\ny = concat p q r s {axis=1}\nreturn y\n",
        pass, 0);
    /* backwards, and three in a row */
    assert_pass_keeps_results(X "a = slice x f back o last\nb = slice a o f two\n"
                                "z = const i64[1] {0}\ny = slice b o two z\nreturn y\n",
        pass, 0);
    assert_pass_keeps_results(X
        "q = input bool[]\nr = if q {\n"
        "  then_branch { a = slice x o f o; t = slice a o f two; return t }\n"
        "  else_branch { e = relu x; return e }\n}\nreturn r\n",
        pass, 0);
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const texts[] = {
        X "a = slice x o f o\ny = slice a o two o\nreturn y\n",      /* one axis */
        X "a = slice x o f last\ny = slice a o two two\nreturn y\n", /* the same, counted
                                                                        from the end */
        X "a = slice x o f o\ny = slice a o f two\nreturn y, a\n",   /* an output between */
        X "a = slice x o f o\ny = slice a o f two\nz = relu a\nreturn y, z\n",
        X "n = input i64[1]\na = slice x n f o\ny = slice a o f two\nreturn y\n",
        X "n = input i64[1]\na = slice x o f o\ny = slice a o f two\nz = slice a n f two\n"
          "return y, z\n",
        ("x = input f32[*]\no = const i64[1] {1}\nf = const i64[1] {5}\ntwo = const i64[1] {2}\n"
         "a = slice x o f o\ny = slice a o f two\nreturn y\n"),
    };
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++)
        assert_pass_leaves(pass, NULL, texts[i]);
}
END_TEST

PRT_TEST_MAIN("pass/fuse/consecutive_slice", slices_of_other_axes_join, near_misses_are_left)
