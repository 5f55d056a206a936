/* SPDX-License-Identifier: MIT */
/* test_attention_mask.c — AttentionMask of ai.graphcore. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(ids_that_differ_are_masked)
{
    ck_result_within("m = const i32[2,3] {1,1,2,3,0,3}\ns = const f32[2,4,3,3] fill 7\n"
                     "y = gc_attention_mask m s\nreturn y\n",
        "f32[2,1,3,3] {0,0,-7615.9416,0,0,-7615.9416,-7615.9416,-7615.9416,0,"
        "0,-9950.5475,0,-9950.5475,0,-9950.5475,0,-9950.5475,0}",
        1e-6);
    ck_result("m = const i64[1,2] {9223372036854775807,-9223372036854775808}\n"
              "s = const f16[1,1,2,2] fill 0\ny = gc_attention_mask m s {dataType=\"FLOAT16\"}\n"
              "return y\n",
        "f16[1,1,2,2] {0,-10000,-10000,0}");
    ck_result("m = const i64[1,2] {9007199254740992,9007199254740993}\n"
              "s = const f16[1,1,2,2] fill 0\ny = gc_attention_mask m s {dataType=\"FLOAT16\"}\n"
              "return y\n",
        "f16[1,1,2,2] {0,-7616,-7616,0}");
    ck_result("m = const u32[0,2] {}\ns = const f32[0,1,2,2] {}\ny = gc_attention_mask m s\n"
              "return y\n",
        "f32[0,1,2,2] {}");
}
END_TEST

START_TEST(shapes_are_inferred_or_refused)
{
    ck_type("m = input i32[b,n]\ns = input f32[2,h,n,n]\ny = gc_attention_mask m s\nreturn y\n",
        "f32[2,1,n,n]");
    ck_failure("m = const i32[1,2] {1,1}\ns = const f32[1,1,2,3] fill 0\n"
               "y = gc_attention_mask m s\nreturn y\n",
        POPRT_E_SHAPE, "length");
    ck_failure("m = const i32[1,2] {1,1}\ns = const f32[2,1,2,2] fill 0\n"
               "y = gc_attention_mask m s\nreturn y\n",
        POPRT_E_SHAPE, "batch");
    ck_failure("m = const i32[2] {1,1}\ns = const f32[1,1,2,2] fill 0\n"
               "y = gc_attention_mask m s\nreturn y\n",
        POPRT_E_SHAPE, "rank");
    ck_failure("m = const i32[1,1] {1}\ns = const f32[1,1,1,1] fill 0\n"
               "y = gc_attention_mask m s {dataType=\"DOUBLE\"}\nreturn y\n",
        POPRT_E_ARG, "FLOAT16");
}
END_TEST

PRT_TEST_MAIN("op/graphcore/attention_mask", ids_that_differ_are_masked,
    shapes_are_inferred_or_refused)
