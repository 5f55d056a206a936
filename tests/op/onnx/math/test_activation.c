/* SPDX-License-Identifier: MIT */
/* test_activation.c — activations with parameters: attributes, integers, hostile values. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(attributes_change_the_result)
{
    ck_result("x = const f64[2] {-2,2}\ny = leaky_relu x {alpha=0.5}\nreturn y\n", "f64[2] {-1,2}");
    ck_result("x = const f64[3] {1,2,3}\ny = thresholded_relu x {alpha=2}\nreturn y\n",
        "f64[3] {0,0,3}");
    ck_result("x = const f64[3] {-1,0,5}\ny = hard_sigmoid x {alpha=0.25,beta=0.5}\nreturn y\n",
        "f64[3] {0.25,0.5,1}");
    ck_result_within("x = const f64[2] {-1,1}\ny = elu x {alpha=2}\nreturn y\n",
        "f64[2] {-1.2642411176571153,1}", 1e-14);
    ck_result_within("x = const f64[2] {-1,1}\ny = celu x {alpha=2}\nreturn y\n",
        "f64[2] {-0.78693868057473315,1}", 1e-14);
    ck_result_within("x = const f64[1] {1}\ny = swish x {alpha=2}\nreturn y\n",
        "f64[1] {0.88079707797788243}", 1e-14);
}
END_TEST

START_TEST(gelu_has_two_approximations)
{
    ck_result_within("x = const f64[2] {-1,2}\ny = gelu x\nreturn y\n",
        "f64[2] {-0.15865525393145707,1.9544997361036416}", 1e-14);
    ck_result_within("x = const f64[2] {-1,2}\ny = gelu x {approximate=tanh}\nreturn y\n",
        "f64[2] {-0.15880800939172324,1.9545976940877752}", 1e-14);
    ck_failure("x = const f32[1] {1}\ny = gelu x {approximate=sin}\nreturn y\n", POPRT_E_PARSE,
        "approximate");
}
END_TEST

START_TEST(shrink_of_integers_truncates_and_wraps)
{
    ck_result("x = const i32[5] {-3,-1,0,1,3}\ny = shrink x {lambd=1.5,bias=1}\nreturn y\n",
        "i32[5] {-2,0,0,0,2}");
    ck_result("x = const i32[2] {-3,3}\ny = shrink x {lambd=1.5,bias=1.5}\nreturn y\n",
        "i32[2] {-1,1}");
    ck_result("x = const u64[1] {18446744073709551615}\ny = shrink x {bias=1}\nreturn y\n",
        "u64[1] {18446744073709551614}");
    ck_result("x = const i8[1] {127}\ny = shrink x {bias=-1}\nreturn y\n", "i8[1] {-128}");
    ck_result("x = const i8[1] {5}\ny = shrink x {bias=inf}\nreturn y\n", "i8[1] {0}");
}
END_TEST

PRT_TEST_MAIN("op/activation", attributes_change_the_result, gelu_has_two_approximations,
    shrink_of_integers_truncates_and_wraps)
