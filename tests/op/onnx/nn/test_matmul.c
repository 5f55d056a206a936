/* SPDX-License-Identifier: MIT */
/* test_matmul.c — MatMul, Gemm, their integer variants, Einsum, Det: shapes, wrapping, errors.
 * Covers: einsum.c, equation.c, det.c, matmul_quantized.c, gemm_tiles.c, product.c. */
#include "support/check_main.h"
#include "support/op_text.h"

#define TYPE(a, b) "a = input " a "\nb = input " b "\ny = matmul a b\nreturn y\n"
#define EINSUM(eq, a, b)                                                                           \
    "a = input " a "\nb = input " b "\ny = einsum a b {equation=\"" eq "\"}\nreturn y\n"
#define BAD(eq)                                                                                    \
    "a = const f32[2,3] zeros\nb = const f32[3,2] zeros\ny = einsum a b {equation=\"" eq           \
    "\"}\nreturn y\n"

START_TEST(matmul_shapes_are_inferred)
{
    ck_assert_str_eq(op_type(TYPE("f32[n,1,s,64]", "f32[8,64,t]")), "f32[n,8,s,t]");
    ck_assert_str_eq(op_type(TYPE("f32[64]", "f32[n,64,t]")), "f32[n,t]");
    ck_assert_str_eq(op_type(TYPE("f32[n,64]", "f32[64]")), "f32[n]");
    ck_assert_str_eq(op_type(TYPE("f32[k]", "f32[k]")), "f32[]");
    ck_assert_str_eq(op_type(TYPE("f32", "f32[2,2]")), "f32[*]");
    ck_assert_str_eq(op_status("a = const f32[2,3] zeros\ny = matmul a a\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("a = const f32[2,3] zeros\ns = const f32[] {1}\n"
                               "y = matmul a s\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("a = const f32[2,1,1] zeros\nb = const f32[3,1,1] zeros\n"
                               "y = matmul a b\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(integer_products_wrap)
{
    ck_assert_str_eq(op_value("a = const i32[1,2] {2147483647,1}\nb = const i32[2,1] {2,3}\n"
                              "y = matmul a b\nreturn y\n"),
        "i32[1,1]: 1");
    ck_assert_str_eq(op_value("a = const u64[1] {9223372036854775808}\nb = const u64[1,2] {2,1}\n"
                              "y = matmul a b\nreturn y\n"),
        "u64[2]: 0 9223372036854775808");
    ck_assert_str_eq(op_value("a = const f32[2,0] {}\nb = const f32[0,2] {}\ny = matmul a b\n"
                              "return y\n"),
        "f32[2,2]: 0 0 0 0");
    ck_assert_str_eq(op_value("a = const f16[2,2] {1,2,3,4}\nb = const f16[2] {1,10}\n"
                              "y = matmul a b\nreturn y\n"),
        "f16[2]: 21 43");
    ck_assert_str_eq(op_value("a = const u8[2,1,2] {1,2,3,4}\nb = const i8[2,1] {-1,1}\n"
                              "z = const u8[2,1,1] {1,2}\ny = matmul_integer a b z\nreturn y\n"),
        "i32[2,1,1]: 1 1");
    ck_assert_str_eq(op_status("a = const u8[1,2] {1,2}\nb = const i8[2,1] {-1,1}\n"
                               "z = const u8[3] {1,2,3}\ny = matmul_integer a b z\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(gemm_has_its_values)
{
    ck_assert_str_eq(op_value("a = const i32[1,2] {7,1}\nb = const i32[2,1] {2,3}\n"
                              "c = const i32[] {-3}\ny = gemm a b c\nreturn y\n"),
        "i32[1,1]: 14");
    ck_assert_str_eq(op_value("a = const i32[1,2] {7,1}\nb = const i32[2,1] {2,3}\n"
                              "c = const i32[1] {-3}\ny = gemm a b c {alpha=0.5}\nreturn y\n"),
        "i32[1,1]: 5");
    ck_assert_str_eq(op_value("a = const f32[1,1] {2}\nc = const f32[1,1] {nan}\n"
                              "y = gemm a a c {beta=0.0}\nreturn y\n"),
        "f32[1,1]: 4");
    ck_assert_str_eq(op_type("a = input f32[k,n]\nb = input f32[m,k]\n"
                             "y = gemm a b {transA=1, transB=1}\nreturn y\n"),
        "f32[n,m]");
    ck_assert_str_eq(op_status("a = const f32[2,2] zeros\nc = const f32[3] zeros\n"
                               "y = gemm a a c\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(einsum_follows_its_equation)
{
    ck_assert_str_eq(op_type(EINSUM("bhqd,bhkd->bhqk", "f32[b,8,q,64]", "f32[b,8,k,64]")),
        "f32[b,8,q,k]");
    ck_assert_str_eq(op_type(EINSUM("...ij,...jk", "f32[n,1,2,3]", "f32[5,3,4]")), "f32[n,5,2,4]");
    ck_assert_str_eq(op_type(EINSUM("ij,jk->ki", "f32", "f32")), "f32[?,?]");
    ck_assert_str_eq(op_value("a = const i64[2,2] {1,2,3,4}\ny = einsum a {equation=\"ii\"}\n"
                              "return y\n"),
        "i64[]: 5");
    ck_assert_str_eq(op_value("a = const f32[2,2] {1,2,3,4}\nb = const f32[1,2] {10,100}\n"
                              "y = einsum a b {equation=\"ij,ij->i\"}\nreturn y\n"),
        "f32[2]: 210 430");
    ck_assert_str_eq(op_status(BAD("ij,jk,kl->il")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(BAD("ij,ij")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(BAD("ij,jk->iz")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(BAD("ij,jk->ii")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(BAD("ijk,jk->i")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(BAD("i1,jk->i")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(BAD("ij,jk-")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(BAD("..ij,jk")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(BAD("")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = input f32[2,2]\ny = einsum x\nreturn y\n"), "POPRT_E_ARG");
}
END_TEST

START_TEST(determinants_have_their_values)
{
    ck_assert_str_eq(op_value("a = const f64[2,2,2] {0,1,1,0,1,2,2,4}\ny = det a\nreturn y\n"),
        "f64[2]: -1 0");
    ck_assert_str_eq(op_value("a = const f32[0,0] {}\ny = det a\nreturn y\n"), "f32[]: 1");
    ck_assert_str_eq(op_status("a = const f32[2,3] zeros\ny = det a\nreturn y\n"), "POPRT_E_SHAPE");
}
END_TEST

PRT_TEST_MAIN("op/matmul", matmul_shapes_are_inferred, integer_products_wrap, gemm_has_its_values,
    einsum_follows_its_equation, determinants_have_their_values)
