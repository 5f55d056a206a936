/* SPDX-License-Identifier: MIT */
/* test_elementwise.c — functions, scaled sums, remainders and bit operators of ai.graphcore. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(functions_have_their_values)
{
    ck_result("x = const f32[6] {-2.5,-0.5,0.5,1.5,2.4,nan}\ny = gc_round x\nreturn y\n",
        "f32[6] {-3,-1,1,2,2,nan}");
    ck_result("x = const f32[4] {-2.5,-0.5,0.5,1.5}\ny = gc_nearby_int x\nreturn y\n",
        "f32[4] {-2,-0,0,2}");
    ck_result_within("x = const f32[3] {1e-10,1,-1}\ny = gc_expm1 x\nreturn y\n",
        "f32[3] {1e-10,1.7182818,-0.63212056}", 1e-7);
    ck_result_within("x = const f32[2] {1e-10,1}\ny = gc_log1p x\nreturn y\n",
        "f32[2] {1e-10,0.69314718}", 1e-7);
    ck_result_within("x = const f32[3] {-1,0,3}\ny = gc_gelu x\nreturn y\n",
        "f32[3] {-0.15880801,0,2.9963627}", 1e-6);
    ck_result_within("x = const f32[2] {-1,3}\ny = gc_gelu_erf x\nreturn y\n",
        "f32[2] {-0.15865525,2.9959502}", 1e-6);
    ck_result_within("x = const f32[2] {-1,3}\ny = gc_swish x\nreturn y\n",
        "f32[2] {-0.26894142,2.8577224}", 1e-6);
    ck_result("x = const f32[2,0] {}\ny = gc_scale x {scale=3}\nreturn y\n", "f32[2,0] {}");
    ck_result("x = const f16[2] {1.5,-2}\ny = gc_scale x {scale=-2}\nreturn y\n", "f16[2] {-3,4}");
    ck_result("x = const i8[3] {-3,12,0}\ny = gc_square x\nreturn y\n", "i8[3] {9,-112,0}");
    ck_result("x = const f32[] {-3}\ny = gc_square x\nreturn y\n", "f32[] {9}");
}
END_TEST

START_TEST(binary_operators_have_their_values)
{
    ck_result_within("y = const f32[2,1] {1,-1}\nx = const f32[2] {0,-1}\nz = gc_atan2 y x\n"
                     "return z\n",
        "f32[2,2] {1.5707963,2.3561945,-1.5707963,-2.3561945}", 1e-6);
    ck_result("a = const i32[3] {-7,7,-7}\nb = const i32[3] {3,-3,-1}\ny = gc_fmod a b\nreturn y\n",
        "i32[3] {-1,1,0}");
    ck_result("a = const i32[3] {-7,7,-7}\nb = const i32[3] {3,-3,-1}\n"
              "y = gc_remainder a b\nreturn y\n",
        "i32[3] {2,-2,0}");
    ck_failure("a = const i32[1] {1}\nb = const i32[1] {0}\ny = gc_fmod a b\nreturn y\n",
        POPRT_E_ARG, "zero");
    ck_type("x = input f32[n,1]\ny = input f32[3]\nz = gc_atan2 x y\nreturn z\n", "f32[n,3]");
}
END_TEST

START_TEST(bit_operators_have_their_values)
{
    const struct {
        const char *op, *want;
    } cases[] = { { "and", "u32[2] {8,0}" }, { "or", "u32[2] {14,4294967295}" },
        { "xor", "u32[2] {6,4294967295}" }, { "xnor", "u32[2] {4294967289,0}" } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text),
            "a = const u32[2] {12,0}\n"
            "b = const u32[2] {10,4294967295}\ny = gc_bitwise_%s a b\nreturn y\n",
            cases[i].op);
        ck_result(text, cases[i].want);
    }
    ck_result("a = const i32[2] {0,-1}\ny = gc_bitwise_not a\nreturn y\n", "i32[2] {-1,0}");
}
END_TEST

START_TEST(scaled_add_scales_both_inputs)
{
    const char *in = "x = const f32[2] {1,2}\ny = const f32[2,1] {10,20}\n";
    char text[256];
    (void)snprintf(text, sizeof(text), "%sz = gc_scaled_add x y {scale0=2,scale1=-1}\nreturn z\n",
        in);
    ck_result(text, "f32[2,2] {-8,-6,-18,-16}");
    (void)snprintf(text, sizeof(text),
        "%ss = const f32[] {3}\nz = gc_scaled_add x y s s {scale0=9}\nreturn z\n", in);
    ck_result(text, "f32[2,2] {33,36,63,66}");
    (void)snprintf(text, sizeof(text),
        "%ss = const f32[1] {3}\nz = gc_scaled_add x y _ s\n"
        "return z\n",
        in);
    ck_result(text, "f32[2,2] {31,32,61,62}");
    (void)snprintf(text, sizeof(text),
        "%ss = const f32[] {3}\nz = gc_scaled_add x y s\n"
        "return z\n",
        in);
    ck_failure(text, POPRT_E_PARSE, "needs input scale1");
    (void)snprintf(text, sizeof(text),
        "%ss = const f32[] {3}\n"
        "z = gc_scaled_add x y _ s {scale0=2}\nreturn z\n",
        in);
    ck_failure(text, POPRT_E_ARG, "scale0 1");
    (void)snprintf(text, sizeof(text), "%sz = gc_scaled_add x y x x\nreturn z\n", in);
    ck_failure(text, POPRT_E_SHAPE, "one number");
}
END_TEST

START_TEST(scalar_constants_are_applied)
{
    ck_result("x = const f32[2] {4,8}\ny = gc_binary_const_scalar x "
              "{value=2,op=Div,scalar_in_index=0}\nreturn y\n",
        "f32[2] {0.5,0.25}");
    ck_result("x = const i32[2] {4,-8}\ny = gc_binary_const_scalar x {value=3,op=Sub}\nreturn y\n",
        "i32[2] {1,-11}");
    ck_result("x = const f32[2] {4,-3}\ny = gc_binary_const_scalar x {value=2,op=Pow}\nreturn y\n",
        "f32[2] {16,9}");
    ck_failure("x = const f32[1] {4}\ny = gc_binary_const_scalar x {op=Max}\nreturn y\n",
        POPRT_E_ARG, "Add, Sub, Mul, Div, Pow");
    ck_failure("x = const f32[1] {4}\ny = gc_binary_const_scalar x {op=Add,scalar_in_index=2}\n"
               "return y\n",
        POPRT_E_ARG, "scalar_in_index");
    ck_failure("x = const i32[1] {4}\ny = gc_binary_const_scalar x {op=Div,value=0.5}\nreturn y\n",
        POPRT_E_ARG, "zero");
}
END_TEST

START_TEST(increments_wrap_at_the_modulus)
{
    ck_result("x = const i32[3] {3,4,-9}\ny = gc_increment_mod x {increment=1,modulus=5}\n"
              "return y\n",
        "i32[3] {4,0,-3}");
    ck_result(
        "x = const u8[2] {255,10}\ny = gc_increment_mod x {increment=2,modulus=7}\nreturn y\n",
        "u8[2] {1,5}");
    ck_result("x = const f32[2] {1.5,-1}\ny = gc_increment_mod x {increment=1,modulus=2}\n"
              "return y\n",
        "f32[2] {0.5,0}");
    ck_result("x = const i64[1] {-9223372036854775808}\n"
              "y = gc_increment_mod x {increment=0,modulus=-1}\nreturn y\n",
        "i64[1] {0}");
    ck_failure("x = const i32[1] {3}\ny = gc_increment_mod x {increment=1,modulus=0.5}\nreturn y\n",
        POPRT_E_ARG, "modulus");
}
END_TEST

PRT_TEST_MAIN("op/graphcore/elementwise", functions_have_their_values,
    binary_operators_have_their_values, bit_operators_have_their_values,
    scaled_add_scales_both_inputs, scalar_constants_are_applied, increments_wrap_at_the_modulus)
