/* SPDX-License-Identifier: MIT */
/* test_order.c — Sort, ReduceMedian, Bucketize, Histogram: ties, NaN, empty inputs. */
#include "support/check_main.h"
#include "support/op_check.h"
#include "support/op_text.h"

START_TEST(nan_sorts_last_and_ties_keep_their_order)
{
    const char *text = "x = const f32[2,3] {3,nan,1,2,2,-1}\nv, i = gc_sort x\nreturn v, i\n";
    ck_assert_str_eq(op_value_of(text, 0), "f32[2,3]: 1 3 nan -1 2 2");
    ck_assert_str_eq(op_value_of(text, 1), "i32[2,3]: 2 0 1 2 0 1");
    ck_assert_str_eq(op_value_of("x = const i8[2,2] {1,2,1,-2}\n"
                                 "v, i = gc_sort x {axis=0,descending=1}\nreturn v, i\n",
                         1),
        "i32[2,2]: 0 0 1 1");
    ck_result("x = const f32[0] {}\nv = gc_sort x\nreturn v\n", "f32[0] {}");
    ck_failure("x = const f32[1] {1}\nv = gc_sort x {axis=1}\nreturn v\n", POPRT_E_SHAPE, "axis 1");
}
END_TEST

START_TEST(even_counts_give_the_lower_median)
{
    const char *text = "x = const f32[2,4] {4,1,3,2,9,9,0,5}\n"
                       "v, i = gc_reduce_median x {axes=[-1],keepdims=0}\nreturn v, i\n";
    ck_assert_str_eq(op_value_of(text, 0), "f32[2]: 2 5");
    ck_assert_str_eq(op_value_of(text, 1), "i32[2]: 3 3");
    ck_assert_str_eq(op_value_of("x = const i32[2,2] {4,1,3,2}\nv, i = gc_reduce_median x\n"
                                 "return v, i\n",
                         1),
        "i32[1,1]: 3");
    ck_result("x = const f32[2,2] {5,6,7,8}\nv = gc_reduce_median x {axes=[]}\nreturn v\n",
        "f32[2,2] {5,6,7,8}");
    ck_result("x = const f32[2,0] {}\nv = gc_reduce_median x {axes=[0],keepdims=0}\nreturn v\n",
        "f32[0] {}");
    ck_failure("x = const f32[2,0] {}\nv = gc_reduce_median x {axes=[1]}\nreturn v\n",
        POPRT_E_SHAPE, "at least one element");
    ck_failure("x = const f32[2] {1,2}\nv = gc_reduce_median x {axes=[0,-1]}\nreturn v\n",
        POPRT_E_SHAPE, "repeated");
    ck_type("x = input f32[n,m]\nv = gc_reduce_median x {axes=[1]}\nreturn v\n", "f32[n,1]");
}
END_TEST

START_TEST(bucketize_finds_the_bucket)
{
    ck_result("x = const f32[6] {0.5,1,1.5,2,9,nan}\ne = const f32[3] {1,2,3}\n"
              "y = gc_bucketize x e\nreturn y\n",
        "i32[6] {0,0,1,1,3,3}");
    ck_result("x = const f32[6] {0.5,1,1.5,2,9,nan}\ne = const f32[3] {1,2,3}\n"
              "y = gc_bucketize x e {right=1}\nreturn y\n",
        "i32[6] {0,1,1,2,3,3}");
    ck_result("x = const u32[2] {4294967295,0}\ne = const u32[0] {}\ny = gc_bucketize x e\n"
              "return y\n",
        "i32[2] {0,0}");
    ck_failure("x = const f32[1] {1}\ne = const f32[1,1] {1}\ny = gc_bucketize x e\nreturn y\n",
        POPRT_E_SHAPE, "boundaries");
}
END_TEST

START_TEST(histogram_counts_by_level)
{
    ck_result("x = const f32[6] {-2,-1,0,1,2,nan}\n"
              "y = gc_histogram x {levels=[-1,1]}\nreturn y\n",
        "u32[3] {1,2,3}");
    ck_result("x = const f16[3] {-2,-1,0}\n"
              "y = gc_histogram x {levels=[1,2],absoluteOfInput=1}\nreturn y\n",
        "u32[3] {1,1,1}");
    ck_result("x = const f32[0] {}\ny = gc_histogram x {levels=[]}\nreturn y\n", "u32[1] {0}");
    ck_failure("x = const f32[0] {}\ny = gc_histogram x {levels=[2,1]}\nreturn y\n", POPRT_E_ARG,
        "ascend");
}
END_TEST

PRT_TEST_MAIN("op/graphcore/order", nan_sorts_last_and_ties_keep_their_order,
    even_counts_give_the_lower_median, bucketize_finds_the_bucket, histogram_counts_by_level)
