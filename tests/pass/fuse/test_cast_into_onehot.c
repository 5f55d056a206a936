/* SPDX-License-Identifier: MIT */
/* test_cast_into_onehot.c — fuse_cast_into_onehot. */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "fuse_cast_into_onehot";

#define HOT "i = input i64[4]\nd = const i64[] {5}\nv = const i64[2] {0,3}\n"

START_TEST(the_values_are_cast)
{
    static const char *const text =
        HOT "h = one_hot i d v {axis=0} @hot\ny = cast h {to=1} @cast\nreturn y\n";
    assert_pass_rewrites(pass, NULL, text,
        HOT "v_0 = const f32[2] {0,3}\ny = one_hot i d v_0 {axis=0} @hot\nreturn y\n");
    assert_pass_keeps_results(text, pass, 0);
    assert_pass_keeps_results(HOT
        "q = input bool[]\nr = if q {\n  then_branch { h = one_hot i d v; "
        "y = cast h {to=1}; return y }\n"
        "  else_branch { e = cast i {to=1}; return e }\n}\nreturn r\n",
        pass, 0);
}
END_TEST

START_TEST(near_misses_are_left)
{
    assert_pass_leaves(pass, NULL, HOT "h = one_hot i d v\ny = cast h {to=1}\nreturn y, h\n");
    assert_pass_leaves(pass, NULL,
        "i = input i64[4]\nd = const i64[] {5}\nv = input i64[2]\nh = one_hot i d v\n"
        "y = cast h {to=1}\nreturn y\n");
    assert_pass_leaves(pass, NULL, HOT "y = cast i {to=1}\nreturn y\n");
    /* of int64, int64 and float16 other runtimes have no kernel */
    assert_pass_leaves(pass, NULL, HOT "h = one_hot i d v\ny = cast h {to=10}\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/fuse/cast_into_onehot", the_values_are_cast, near_misses_are_left)
