/* SPDX-License-Identifier: MIT */
/* test_onnx_equivalents.c — ai.graphcore's versions of standard operators, FastNorm, NotZero and
 * views. Covers: onnx_hooks.c, state.c. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/fast_check.h"
#include "support/op_check.h"

START_TEST(standard_operators_have_their_values)
{
    ck_result_within("x = const f32[3] {-0.5,0,2}\ny = gc_erf_v2 x\nreturn y\n",
        "f32[3] {-0.5204999,0,0.9953223}", 1e-7);
    ck_result("x = const f16[5] {-2.5,-0.5,0.5,1.5,2.4}\ny = gc_round_v2 x\nreturn y\n",
        "f16[5] {-2,-0,0,2,2}");
    ck_result("x = const f32[4] {inf,-inf,nan,1}\ny = gc_is_inf_v2 x\nreturn y\n",
        "bool[4] {true,true,false,false}");
    ck_result("x = const f32[2] {inf,-inf}\ny = gc_is_inf_v2 x {detect_negative=0}\nreturn y\n",
        "bool[2] {true,false}");
    ck_result("x = const f32[2] {inf,-inf}\ny = gc_is_inf_v2 x {detect_positive=0}\nreturn y\n",
        "bool[2] {false,true}");
    ck_result("c = const bool[2] {true,false}\na = const i32[2,1] {1,2}\nb = const i32[] {9}\n"
              "y = gc_where_v2 c a b\nreturn y\n",
        "i32[2,2] {1,9,2,9}");
    ck_result("x = const f32[3] {-2,0,3}\ny = gc_leaky_relu x {alpha=0.5}\nreturn y\n",
        "f32[3] {-1,0,3}");
    ck_result_within("x = const f32[1] {-1}\ny = gc_leaky_relu x\nreturn y\n", "f32[1] {-0.01}",
        1e-8);
    ck_result("x = const f32[2,2] {0,0,7,7}\ny = gc_softmax_v2 x\nreturn y\n",
        "f32[2,2] {0.5,0.5,0.5,0.5}");
    ck_result_within("x = const f32[2,1] {0,1}\ny = gc_softmax_v2 x {axis=0}\nreturn y\n",
        "f32[2,1] {0.26894142,0.73105858}", 1e-7);
    ck_type("x = input f32[n,3]\ny = gc_softmax_v2 x {axis=1}\nreturn y\n", "f32[n,3]");
    ck_failure("x = const f32[2] {1,2}\ny = gc_softmax_v2 x {axis=1}\nreturn y\n", POPRT_E_SHAPE,
        "axis");
}
END_TEST

START_TEST(remap_keeps_every_value)
{
    ck_result("x = const i8[2,0] {}\ny = gc_remap x {fwd_grain_size=4}\nreturn y\n", "i8[2,0] {}");
    ck_result("x = const string[1] {\"a\"}\ny = gc_remap x\nreturn y\n", "string[1] {\"a\"}");
    ck_result("x = const f32[2] {1,2}\ny = gc_print_tile_mapping x\nreturn y\n", "f32[2] {1,2}");
    ck_type("x = input f16[?,4]\ny = gc_remap x\nreturn y\n", "f16[?,4]");
}
END_TEST

START_TEST(fast_norm_normalises_rows)
{
#define NORM "s = const f32[2] {1,2}\nb = const f32[2] {0,1}\n"
    ck_result_within("x = const f32[2,2] {1,3,4,4}\n" NORM "y = gc_fast_norm x s b {epsilon=0}\n"
                     "return y\n",
        "f32[2,2] {-1,3,nan,nan}", 1e-6);
    ck_result_within("x = const f32[2,2] {1,3,4,4}\n" NORM
                     "y = gc_fast_norm x s b {epsilon=3, num_groups=2}\nreturn y\n",
        "f32[2,2] {-0.5,2,0,1}", 1e-6);
    ck_type("x = input f32[n,m,2]\n" NORM "y = gc_fast_norm x s b\nreturn y\n", "f32[n,m,2]");
    ck_failure("x = const f32[2,2] {1,3,4,4}\n" NORM "y = gc_fast_norm x s b {num_groups=3}\n"
               "return y\n",
        POPRT_E_SHAPE, "there are 2 rows");
    ck_failure("x = const f32[2,2] {1,3,4,4}\n" NORM "y = gc_fast_norm x s b {num_groups=-1}\n"
               "return y\n",
        POPRT_E_ARG, "num_groups is -1");
    ck_failure("x = const f32[1,3] {1,3,4}\n" NORM "y = gc_fast_norm x s b\nreturn y\n",
        POPRT_E_SHAPE, "2");
    ck_failure("x = const f32[] {1}\n" NORM "y = gc_fast_norm x s b\nreturn y\n", POPRT_E_SHAPE,
        "is a scalar");
}
END_TEST

START_TEST(nonzero_values_give_one)
{
    ck_result("x = const f32[4] {0,-0,nan,3e-45}\ny = gc_not_zero x\nreturn y\n",
        "f32[4] {0,0,1,1}");
    ck_result("x = const i32[3] {0,256,-1}\ny = gc_not_zero x {to=1}\nreturn y\n",
        "f32[3] {0,1,1}");
    ck_result("x = const f16[] {0.5}\ny = gc_not_zero x {to=2}\nreturn y\n", "u8[] {1}");
    ck_result("x = const u64[2] {18446744073709551615,0}\ny = gc_not_zero x {to=9}\nreturn y\n",
        "bool[2] {true,false}");
    ck_type("x = input i64[n]\ny = gc_not_zero x {to=10}\nreturn y\n", "f16[n]");
    ck_failure("x = const f32[1] {1}\ny = gc_not_zero x {to=8}\nreturn y\n", POPRT_E_TYPE, "to 8");
    ck_failure("x = const f32[1] {1}\ny = gc_not_zero x {to=-1}\nreturn y\n", POPRT_E_TYPE,
        "to -1");
}
END_TEST

START_TEST(fast_operators_equal_the_reference)
{
    static const char *const ones[] = { "gc_erf_v2", "gc_gelu", "gc_gelu_erf", "gc_leaky_relu",
        "gc_swish", "gc_softmax_v2" };
    char text[256];
    for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++) {
        (void)snprintf(text, sizeof(text), "x = input f32[5,67]\ny = %s x\nreturn y\n", ones[i]);
        fast_check(text, -3, 3, 1e-6);
    }
    fast_check("x = input f32[5,67]\ny = gc_round_v2 x\nreturn y\n", -3, 3, 0);
    fast_check("x = input f32[2,9,33]\ny = gc_softmax_v2 x {axis=1}\nreturn y\n", -3, 3, 1e-6);
    fast_check("x = input f32[7,65]\ns = input f32[65]\nb = input f32[65]\n"
               "y = gc_fast_norm x s b {num_groups=7}\nreturn y\n",
        -1, 1, 1e-5);
    fast_check("x = input f32[2,6,17]\ns = input f32[6]\nb = input f32[6]\n"
               "y = gc_group_normalization x s b {num_groups=3}\nreturn y\n",
        -1, 1, 1e-5);
    fast_check("x = input f32[9,33]\nz = input f32[33]\nc = less x z\ny = gc_where_v2 c x z\n"
               "return y\n",
        -1, 1, 0);
}
END_TEST

PRT_TEST_MAIN("op/graphcore/onnx_equivalents", standard_operators_have_their_values,
    remap_keeps_every_value, fast_norm_normalises_rows, nonzero_values_give_one,
    fast_operators_equal_the_reference)
