/* SPDX-License-Identifier: MIT */
/* test_random.c — random operators: the same by seed, in range, of the type asked for. */
#include <stdio.h>
#include <string.h>

#include "support/check_main.h"
#include "support/op_text.h"

START_TEST(seeds)
{
    char first[256];
    (void)snprintf(first, sizeof(first), "%s",
        op_value("y = random_normal {shape=[3], seed=1}\nreturn y\n"));
    ck_assert_str_eq(first, op_value("y = random_normal {shape=[3], seed=1}\nreturn y\n"));
    ck_assert_str_ne(first, op_value("y = random_normal {shape=[3], seed=2}\nreturn y\n"));
    /* An element depends on its index alone. */
    const char *longer = op_value("y = random_normal {shape=[4], seed=1}\nreturn y\n");
    const char *values = strchr(first, ':');
    ck_assert_int_eq(strncmp(strchr(longer, ':'), values, strlen(values)), 0);
}
END_TEST

START_TEST(means)
{
    ck_assert_str_eq(op_value("x = random_uniform {shape=[100000], seed=3, low=2, high=4}\n"
                              "m = reduce_mean x {keepdims=0}\ny = round m\nreturn y\n"),
        "f32[]: 3");
    ck_assert_str_eq(op_value("x = random_normal {shape=[100000], seed=3, mean=5, scale=2}\n"
                              "m = reduce_mean x {keepdims=0}\ny = round m\nreturn y\n"),
        "f32[]: 5");
    ck_assert_str_eq(op_value("p = const f32[3] {0,1,nan}\ny = bernoulli p {dtype=6}\nreturn y\n"),
        "i32[3]: 0 1 0");
    ck_assert_str_eq(op_value("p = const f32[1,3] {-inf,0,-inf}\n"
                              "y = multinomial p {sample_size=4, dtype=7}\nreturn y\n"),
        "i64[1,4]: 1 1 1 1");
}
END_TEST

START_TEST(types_and_errors)
{
    ck_assert_str_eq(op_type("x = input i32[n]\ny = random_uniform_like x {dtype=10}\nreturn y\n"),
        "f16[n]");
    ck_assert_str_eq(op_status("x = const i32[2] zeros\ny = random_uniform_like x\nreturn y\n"),
        "POPRT_E_TYPE");
    ck_assert_str_eq(op_status("y = random_uniform {shape=[-1]}\nreturn y\n"), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("y = random_uniform {shape=[1,1,1,1,1,1,1,1,1]}\nreturn y\n"),
        "POPRT_E_LIMIT");
    ck_assert_str_eq(op_status("p = const f32[1,0] {}\ny = multinomial p\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("p = const f32[1,1] {0}\ny = multinomial p {sample_size=0}\n"
                               "return y\n"),
        "POPRT_E_ARG");
}
END_TEST

PRT_TEST_MAIN("op/random", seeds, means, types_and_errors)
