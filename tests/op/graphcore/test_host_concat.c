/* SPDX-License-Identifier: MIT */
/* test_host_concat.c — HostConcatSplitReshape of ai.graphcore. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(each_row_becomes_an_output)
{
    ck_result("x = const i32[2,6] {1,2,3,4,5,6,7,8,9,10,11,12}\n"
              "a, b = gc_host_concat_split_reshape x {shapes=[2,3,2,3]}\nreturn b\n",
        "i32[2,3] {7,8,9,10,11,12}");
    ck_result("x = const i32[2,6] {1,2,3,4,5,6,7,8,9,10,11,12}\n"
              "a, b = gc_host_concat_split_reshape x {shapes=[6,1,3,2]}\nreturn a\n",
        "i32[6,1] {1,2,3,4,5,6}");
    ck_result("x = const f16[3,1] {1,2,3}\na, _, c = gc_host_concat_split_reshape x\nreturn c\n",
        "f16[] {3}");
    ck_result("x = const f16[1,0] {}\na = gc_host_concat_split_reshape x {shapes=[0,5]}\n"
              "return a\n",
        "f16[0,5] {}");
    ck_type("x = input f32[n,m]\na, b = gc_host_concat_split_reshape x {shapes=[4,1,4,1]}\n"
            "return a\n",
        "f32[4,1]");
}
END_TEST

START_TEST(wrong_shapes_are_refused)
{
    ck_failure("x = const f32[2,2] {1,2,3,4}\na = gc_host_concat_split_reshape x {shapes=[2]}\n"
               "return a\n",
        POPRT_E_SHAPE, "number of rows");
    ck_failure("x = const f32[1,2] {1,2}\na = gc_host_concat_split_reshape x {shapes=[3]}\n"
               "return a\n",
        POPRT_E_SHAPE, "length of a row");
    ck_failure("x = const f32[2,2] {1,2,3,4}\n"
               "a, b = gc_host_concat_split_reshape x {shapes=[2,1,2]}\nreturn a\n",
        POPRT_E_ARG, "2 shapes of one rank");
    ck_failure("x = const f32[1,2] {1,2}\na = gc_host_concat_split_reshape x {shapes=[-1,-2]}\n"
               "return a\n",
        POPRT_E_ARG, "is -1");
    ck_failure("x = const f32[2] {1,2}\na = gc_host_concat_split_reshape x {shapes=[2]}\n"
               "return a\n",
        POPRT_E_SHAPE, "rank");
}
END_TEST

PRT_TEST_MAIN("op/graphcore/host_concat", each_row_becomes_an_output, wrong_shapes_are_refused)
