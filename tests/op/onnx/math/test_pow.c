/* SPDX-License-Identifier: MIT */
/* test_pow.c — Pow over pairs of types, negative exponents, wrapping. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(base_and_exponent_types_mix)
{
    ck_result("x = const f32[3] {2,3,4}\ne = const i64[] {2}\ny = pow x e\nreturn y\n",
        "f32[3] {4,9,16}");
    ck_result("x = const i64[3] {2,3,4}\ne = const f32[] {0.5}\ny = pow x e\nreturn y\n",
        "i64[3] {1,1,2}");
    ck_result("x = const i32[2] {3,-3}\ne = const u64[] {3}\ny = pow x e\nreturn y\n",
        "i32[2] {27,-27}");
    ck_result("x = const f64[2] {-1,0}\ne = const f64[2] {0.5,-1}\ny = pow x e\nreturn y\n",
        "f64[2] {nan,inf}");
}
END_TEST

START_TEST(integers_stay_exact)
{
    ck_result("x = const i64[2] {3,-3}\ne = const i64[] {39}\ny = pow x e\nreturn y\n",
        "i64[2] {4052555153018976267,-4052555153018976267}");
    ck_result("x = const i32[2] {2,3}\ne = const i32[] {32}\ny = pow x e\nreturn y\n",
        "i32[2] {0,-501334399}");
    ck_result("x = const i32[4] {1,-1,-1,7}\ne = const i32[4] {-3,-3,-2,-1}\ny = pow x e\n"
              "return y\n",
        "i32[4] {1,-1,1,0}");
    ck_failure("x = const i32[1] {0}\ne = const i32[1] {-1}\ny = pow x e\nreturn y\n", POPRT_E_ARG,
        "negative power");
}
END_TEST

PRT_TEST_MAIN("op/pow", base_and_exponent_types_mix, integers_stay_exact)
