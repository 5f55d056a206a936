/* SPDX-License-Identifier: MIT */
/* test_flex_attention.c — FlexAttention: grouped heads, graphs that change scores and
 * probabilities, the type of the softmax, errors. */
#include "support/check_main.h"
#include "support/op_check.h"

/* Zero scores give all values the same weight. */
#define EVEN                                                                                       \
    "q = const f32[1,2,1,1] {0,0}\nk = const f32[1,1,2,1] {1,5}\n"                                 \
    "v = const f32[1,1,2,2] {2,4,6,16}\n"

START_TEST(equal_scores_weigh_values_equally)
{
    ck_result(EVEN "y = flex_attention q k v\nreturn y\n", "f32[1,2,1,2] {4,10,4,10}");
    /* exp(0) : exp(ln 3) = 1 : 3, by the given scale or by one over the square root of the head
     * size. */
    ck_result_within(
        "q = const f32[1,1,1,1] {2}\nk = const f32[1,1,2,1] {0,1.0986122887}\n"
        "v = const f32[1,1,2,1] {1,5}\ny = flex_attention q k v {scale=0.5}\nreturn y\n",
        "f32[1,1,1,1] {4}", 1e-6);
    ck_result_within("q = const f64[1,1,1,4] {1,1,0,0}\n"
                     "k = const f64[1,1,2,4] {0,0,9,9,1.0986122887,1.0986122887,9,9}\n"
                     "v = const f64[1,1,2,1] {1,5}\ny = flex_attention q k v\nreturn y\n",
        "f64[1,1,1,1] {4}", 1e-6);
}
END_TEST

START_TEST(each_group_reads_its_own_keys)
{
    ck_result("q = const f32[1,4,1,1] zeros\nk = const f32[1,2,1,1] {1,1}\n"
              "v = const f32[1,2,1,1] {7,9}\ny = flex_attention q k v\nreturn y\n",
        "f32[1,4,1,1] {7,7,9,9}");
    ck_result("q = const f32[2,2,1,1] zeros\nk = const f32[2,1,1,1] {1,1}\n"
              "v = const f32[2,1,1,1] {7,9}\ny = flex_attention q k v\nreturn y\n",
        "f32[2,2,1,1] {7,7,9,9}");
}
END_TEST

START_TEST(graphs_change_scores_and_probabilities)
{
    /* Only the first key is left. */
    ck_result(EVEN "m = const f32[1,1,1,2] {0,-inf}\n"
                   "y = flex_attention q k v {score_mod {s = input f32[1,2,1,2]\nt = add s m\n"
                   "return t\n}}\nreturn y\n",
        "f32[1,2,1,2] {2,4,2,4}");
    ck_result(EVEN "y = flex_attention q k v {prob_mod {p = input f32[1,2,1,2]\nt = add p p\n"
                   "return t\n}}\nreturn y\n",
        "f32[1,2,1,2] {8,20,8,20}");
    /* Both graphs, and a graph that returns its own input. */
    ck_result(EVEN "y = flex_attention q k v {prob_mod {p = input f32[1,2,1,2]\nt = neg p\n"
                   "return t\n} score_mod {s = input f32[1,2,1,2]\nreturn s\n}}\nreturn y\n",
        "f32[1,2,1,2] {-4,-10,-4,-10}");
}
END_TEST

START_TEST(softmax_runs_in_the_given_type)
{
    /* A score above float16's range is infinite in a graph that works in float16. */
    ck_result("q = const f16[1,1,1,1] {60000}\nk = const f16[1,1,1,1] {4}\n"
              "v = const f16[1,1,1,1] {1}\n"
              "y = flex_attention q k v {softmax_precision=10, prob_mod {p = input f16[1,1,1,1]\n"
              "return p\n} score_mod {s = input f16[1,1,1,1]\nb = isinf s\n"
              "t = cast b {to=10}\nreturn t\n}, scale=1.0}\nreturn y\n",
        "f16[1,1,1,1] {1}");
    ck_type("q = input bf16[b,4,s,8]\nk = input bf16[b,2,t,8]\nv = input bf16[b,2,t,6]\n"
            "y = flex_attention q k v {score_mod {s = input f32[b,4,s,t]\nr = neg s\nreturn r\n}}\n"
            "return y\n",
        "bf16[b,4,s,6]");
}
END_TEST

START_TEST(empty_queries_or_keys_give_empty_or_zero)
{
    ck_result("q = const f32[1,1,0,1] {}\nk = const f32[1,1,2,1] {1,2}\n"
              "y = flex_attention q k k\nreturn y\n",
        "f32[1,1,0,1] {}");
    ck_result("q = const f32[1,1,1,1] {1}\nk = const f32[1,1,0,1] {}\n"
              "y = flex_attention q k k\nreturn y\n",
        "f32[1,1,1,1] {0}");
}
END_TEST

START_TEST(wrong_inputs_are_refused)
{
    ck_failure("q = const f32[1,1,1] {1}\ny = flex_attention q q q\nreturn y\n", POPRT_E_SHAPE,
        "has rank 3 where 4 is needed");
    ck_failure("q = const f32[1,3,1,1] zeros\nk = const f32[1,2,1,1] zeros\n"
               "y = flex_attention q k k\nreturn y\n",
        POPRT_E_SHAPE, "3 query heads over 2 key heads");
    ck_failure(EVEN "y = flex_attention q k q\nreturn y\n", POPRT_E_SHAPE, "the number of heads");
    ck_failure(EVEN "y = flex_attention q v v\nreturn y\n", POPRT_E_SHAPE, "the head size");
    ck_failure(EVEN "y = flex_attention q k v {softmax_precision=7}\nreturn y\n", POPRT_E_TYPE,
        "softmax_precision 7");
    ck_failure(EVEN "y = flex_attention q k v {score_mod {s = input f32[1,2,1,2]\n"
                    "a = const i64[1] {3}\nt = reduce_sum s a\nreturn t\n}}\nreturn y\n",
        POPRT_E_SHAPE, "score_mod");
    ck_failure(EVEN "y = flex_attention q k v {prob_mod {s = input f32[1,2,1,2]\n"
                    "t = cast s {to=11}\nreturn t\n}}\nreturn y\n",
        POPRT_E_TYPE, "prob_mod returns float64; float32 is required");
}
END_TEST

PRT_TEST_MAIN("op/flex_attention", equal_scores_weigh_values_equally, each_group_reads_its_own_keys,
    graphs_change_scores_and_probabilities, softmax_runs_in_the_given_type,
    empty_queries_or_keys_give_empty_or_zero, wrong_inputs_are_refused)
