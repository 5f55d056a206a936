/* SPDX-License-Identifier: MIT */
/* test_causal_conv.c — CausalConvWithState: past and new elements, the state for the next call,
 * errors. Expected values come from the operator's definition in Python. */
#include "support/check_main.h"
#include "support/op_check.h"

#define INPUTS                                                                                     \
    "x = const f32[1,2,3] {1,2,3,4,5,6}\nw = const f32[2,1,2] {1,10,2,-1}\n"                       \
    "b = const f32[2] {0.5,-0.5}\np = const f32[1,2,1] {7,8}\n"

START_TEST(continues_from_its_state)
{
    ck_result(INPUTS "y, s = causal_conv_with_state x w b p\nreturn y\n",
        "f32[1,2,3] {17.5,21.5,32.5,11.5,2.5,3.5}");
    ck_result(INPUTS "y, s = causal_conv_with_state x w b p\nreturn s\n", "f32[1,2,1] {3,6}");
    /* The same input in two calls. */
    ck_result("x = const f32[1,1,2] {1,2}\nz = const f32[1,1,1] {3}\nw = const f32[1,1,2] {1,10}\n"
              "a, s = causal_conv_with_state x w\nb, t = causal_conv_with_state z w _ s\n"
              "y = concat a b {axis=2}\nreturn y\n",
        "f32[1,1,3] {10,21,32}");
}
END_TEST

START_TEST(activations_have_their_values)
{
    const char *want = "f32[1,2,3] {9.999546,21,32,-0.07194484,2.8577223,3.928055}";
    ck_result_within(INPUTS "y, s = causal_conv_with_state x w {activation=silu}\nreturn y\n", want,
        1e-6);
    ck_result_within(INPUTS "y, s = causal_conv_with_state x w {activation=swish}\nreturn y\n",
        want, 1e-6);
}
END_TEST

#define LONG                                                                                       \
    "x = const f32[1,1,1] {2}\nw = const f32[1,1,4] {1,10,100,1000}\n"                             \
    "p = const f32[1,1,3] {3,4,5}\n"

START_TEST(long_states_keep_old_elements)
{
    ck_result(LONG "y, s = causal_conv_with_state x w _ p\nreturn y\n", "f32[1,1,1] {2543}");
    ck_result(LONG "y, s = causal_conv_with_state x w _ p\nreturn s\n", "f32[1,1,3] {4,5,2}");
    ck_result(LONG "y, s = causal_conv_with_state x w\nreturn s\n", "f32[1,1,3] {0,0,2}");
    /* Without new elements the state stays. */
    ck_result("x = const f32[1,1,0] {}\nw = const f32[1,1,3] ones\np = const f32[1,1,2] {3,4}\n"
              "y, s = causal_conv_with_state x w _ p\nreturn s\n",
        "f32[1,1,2] {3,4}");
    /* A kernel of one element has no state. */
    ck_result("x = const f16[1,1,2] {1,2}\nw = const f16[1,1,1] {3}\n"
              "y, s = causal_conv_with_state x w\nreturn s\n",
        "f16[1,1,0] {}");
}
END_TEST

START_TEST(shapes_are_inferred)
{
    ck_type("x = input f32[b,4,n]\nw = input f32[4,1,3]\ny, s = causal_conv_with_state x w\n"
            "return y, s\n",
        "f32[b,4,n]");
    ck_type("x = input bf16[b,4,n]\nw = input bf16[4,1,3]\ny, s = causal_conv_with_state x w\n"
            "return s, y\n",
        "bf16[b,4,2]");
}
END_TEST

START_TEST(wrong_inputs_are_refused)
{
    ck_failure(INPUTS "y, s = causal_conv_with_state x w {activation=relu}\nreturn y\n",
        POPRT_E_ARG, "activation is \"relu\"");
    ck_failure(INPUTS "y, s = causal_conv_with_state x x\nreturn y\n", POPRT_E_SHAPE,
        "dim 1 of the weight");
    ck_failure(INPUTS "y, s = causal_conv_with_state x w p\nreturn y\n", POPRT_E_SHAPE, "rank 3");
    ck_failure(INPUTS "y, s = causal_conv_with_state x w b x\nreturn y\n", POPRT_E_SHAPE,
        "the length of the state");
    ck_failure("x = const f32[1,1,1] {2}\nw = const f32[1,1,0] {}\n"
               "y, s = causal_conv_with_state x w\nreturn y\n",
        POPRT_E_SHAPE, "no elements");
}
END_TEST

PRT_TEST_MAIN("op/causal_conv", continues_from_its_state, activations_have_their_values,
    long_states_keep_old_elements, shapes_are_inferred, wrong_inputs_are_refused)
