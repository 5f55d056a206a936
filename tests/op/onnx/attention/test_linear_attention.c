/* SPDX-License-Identifier: MIT */
/* test_linear_attention.c — LinearAttention: the four rules, gates per head and per element, the
 * state of grouped heads, errors. Expected values come from the operator's definition in Python. */
#include "support/check_main.h"
#include "support/op_check.h"

#define INPUTS                                                                                     \
    "q = const f32[1,2,4] {1,2,3,4,1,0,0,1}\nk = const f32[1,2,2] {1,0.5,2,-1}\n"                  \
    "v = const f32[1,2,3] {1,2,3,4,5,6}\np = const f32[1,1,2,3] {1,2,3,4,5,6}\n"                   \
    "b = const f32[1,2,1] {0.5,2}\nd0 = const f32[1,2,1] {0.5,0.25}\nd = log d0\n"                 \
    "e0 = const f32[1,2,2] {0.5,0.25,0.25,1}\ne = log e0\n"
#define ATTRS(rule) " {q_num_heads=2, kv_num_heads=1, scale=1.0, update_rule=" rule "}\n"

START_TEST(linear_rule_has_its_values)
{
    ck_result(INPUTS "y, s = linear_attention q k v" ATTRS("linear") "return y\n",
        "f32[1,2,6] {2,4,6,5,10,15,9,12,15,-3.5,-4,-4.5}");
    ck_result(INPUTS "y, s = linear_attention q k v" ATTRS("linear") "return s\n",
        "f32[1,1,2,3] {9,12,15,-3.5,-4,-4.5}");
    /* The default scale is one over the square root of the head size. */
    ck_result_within("q = const f32[1,2,4] {1,2,3,4,1,0,0,1}\n"
                     "y, s = linear_attention q q q {q_num_heads=2, kv_num_heads=2, "
                     "update_rule=linear}\nreturn y\n",
        "f32[1,2,4] {3.535533905,7.07106781,53.03300858,70.71067811,"
        "1.414213538,1.414213538,8.48528099,12.02081489}",
        1e-6);
}
END_TEST

START_TEST(gated_rule_has_its_values)
{
    ck_result_within(INPUTS "y, s = linear_attention q k v _ d" ATTRS("gated") "return y\n",
        "f32[1,2,6] {2,4,6,5,10,15,8.25,10.5,12.75,-3.875,-4.75,-5.625}", 1e-6);
    ck_result_within(INPUTS "y, s = linear_attention q k v p e" ATTRS("gated") "return y\n",
        "f32[1,2,6] {4.5,7.5,10.5,10.5,18,25.5,8.375,10.75,13.125,-2.5,-2.75,-3}", 1e-6);
}
END_TEST

START_TEST(delta_rules_have_their_values)
{
    ck_result(INPUTS "y, s = linear_attention q k v _ _ b" ATTRS("delta") "return y\n",
        "f32[1,2,6] {1,2,3,2.5,5,7.5,13.5,15,16.5,-6.25,-6.5,-6.75}");
    ck_result_within(INPUTS "y, s = linear_attention q k v p d b" ATTRS("gated_delta") "return y\n",
        "f32[1,2,6] {4,5.75,7.5,8.25,12.375,16.5,17.4375,20.90625,24.375,"
        "-8.21875,-9.734375,-11.25}",
        1e-6);
    ck_result_within(INPUTS "y, s = linear_attention q k v p d b" ATTRS("gated_delta") "return s\n",
        "f32[1,1,2,3] {17.4375,20.90625,24.375,-8.21875,-9.734375,-11.25}", 1e-6);
}
END_TEST

START_TEST(without_positions_the_state_stays)
{
    const char *text = "q = const f32[2,0,4] {}\nk = const f32[2,0,2] {}\n"
                       "p = const f16[2,1,2,2] {1,2,3,4,5,6,7,8}\n"
                       "y, s = linear_attention q k k p" ATTRS("linear") "return s\n";
    ck_result(text, "f16[2,1,2,2] {1,2,3,4,5,6,7,8}");
}
END_TEST

START_TEST(shapes_are_inferred)
{
    ck_type("q = input f16[b,t,32]\nk = input f16[b,t,16]\nv = input f16[b,t,24]\n"
            "y, s = linear_attention q k v {q_num_heads=4, kv_num_heads=2, update_rule=linear}\n"
            "return y, s\n",
        "f16[b,t,48]");
    ck_type("q = input f16[b,t,32]\nk = input f16[b,t,16]\nv = input f16[b,t,24]\n"
            "p = input f32[b,2,8,12]\n"
            "y, s = linear_attention q k v p {q_num_heads=4, kv_num_heads=2, update_rule=linear}\n"
            "return s, y\n",
        "f32[b,2,8,12]");
}
END_TEST

START_TEST(wrong_inputs_are_refused)
{
    ck_failure(INPUTS "y, s = linear_attention q k v" ATTRS("other") "return y\n", POPRT_E_ARG,
        "update_rule is");
    ck_failure(INPUTS "y, s = linear_attention q k v" ATTRS("gated") "return y\n", POPRT_E_ARG,
        "requires the input decay");
    ck_failure(INPUTS "y, s = linear_attention q k v _ d" ATTRS("linear") "return y\n", POPRT_E_ARG,
        "does not use the input decay");
    ck_failure(INPUTS "y, s = linear_attention q k v _ d" ATTRS("gated_delta") "return y\n",
        POPRT_E_ARG, "requires the input beta");
    ck_failure(INPUTS "y, s = linear_attention q k v {q_num_heads=2, update_rule=linear}\n"
                      "return y\n",
        POPRT_E_ARG, "kv_num_heads must be at least 1");
    ck_failure(INPUTS "y, s = linear_attention q k v {q_num_heads=3, kv_num_heads=2, "
                      "update_rule=linear}\nreturn y\n",
        POPRT_E_SHAPE, "3 query heads over 2");
    ck_failure(INPUTS "y, s = linear_attention q k v {q_num_heads=3, kv_num_heads=1, "
                      "update_rule=linear}\nreturn y\n",
        POPRT_E_SHAPE, "4 is not divisible by 3 heads");
    ck_failure(INPUTS "y, s = linear_attention q k v _ v" ATTRS("gated") "return y\n",
        POPRT_E_SHAPE, "(decay) is 3; 1 or 2");
    ck_failure(INPUTS "y, s = linear_attention q q v" ATTRS("linear") "return y\n", POPRT_E_SHAPE,
        "the head size");
    ck_failure(INPUTS "y, s = linear_attention q v v p" ATTRS("linear") "return y\n", POPRT_E_SHAPE,
        "the head size");
}
END_TEST

PRT_TEST_MAIN("op/linear_attention", linear_rule_has_its_values, gated_rule_has_its_values,
    delta_rules_have_their_values, without_positions_the_state_stays, shapes_are_inferred,
    wrong_inputs_are_refused)
