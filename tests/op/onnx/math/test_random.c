/* SPDX-License-Identifier: MIT */
/* test_random.c — random operators: equal results for equal seeds, ranges, the requested type. */
#include <stdio.h>
#include <string.h>

#include "support/check_main.h"
#include "support/op_text.h"

START_TEST(equal_seeds_give_equal_numbers)
{
    char first[256];
    (void)snprintf(first, sizeof(first), "%s",
        op_value("y = random_normal {shape=[3], seed=1}\nreturn y\n"));
    ck_assert_str_eq(first, op_value("y = random_normal {shape=[3], seed=1}\nreturn y\n"));
    ck_assert_str_ne(first, op_value("y = random_normal {shape=[3], seed=2}\nreturn y\n"));
    /* An element depends on its index only. */
    const char *longer = op_value("y = random_normal {shape=[4], seed=1}\nreturn y\n");
    const char *values = strchr(first, ':');
    ck_assert_int_eq(strncmp(strchr(longer, ':'), values, strlen(values)), 0);
}
END_TEST

START_TEST(means_are_as_specified)
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

START_TEST(types_are_inferred_and_errors_found)
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

/* Of 100000 numbers: the minimum, the maximum and the mean of the squares, in hundredths. */
#define MOMENTS                                                                                    \
    "a = reduce_min x {keepdims=0}\nb = reduce_max x {keepdims=0}\n"                               \
    "c = reduce_sum_square x {keepdims=0}\nk = const f32[] {1000}\nd = div c k\ne = round d\n"     \
    "return a, b, e\n"

START_TEST(range_and_variance_are_as_specified)
{
    static const char uniform[] =
        "x = random_uniform {shape=[100000], seed=5, low=-1, high=2}\n" MOMENTS;
    static const char normal[] = "x = random_normal {shape=[100000], seed=5, scale=0.5}\n" MOMENTS;
    const double least = strtod(strchr(op_value_of(uniform, 0), ':') + 1, NULL);
    const double most = strtod(strchr(op_value_of(uniform, 1), ':') + 1, NULL);
    ck_assert(least >= -1 && least < -0.99 && most <= 2 && most > 1.99);
    ck_assert_str_eq(op_value_of(uniform, 2), "f32[]: 100"); /* (2^3 + 1) / 9 */
    ck_assert_str_eq(op_value_of(normal, 2), "f32[]: 25");   /* 0.5^2 */
    const double tail = strtod(strchr(op_value_of(normal, 1), ':') + 1, NULL);
    ck_assert(tail > 1.5 && tail < 4);
}
END_TEST

START_TEST(frequencies_follow_the_probabilities)
{
    /* In thousandths. */
    ck_assert_str_eq(op_value("p = const f32[1] {0.25}\ns = const i64[1] {100000}\n"
                              "q = expand p s\nx = bernoulli q {seed=1}\n"
                              "m = reduce_mean x {keepdims=0}\nk = const f32[] {100}\n"
                              "c = mul m k\ny = round c\nreturn y\n"),
        "f32[]: 25");
    /* Chances of 1/2, 1/4, 1/4: the mean class is 3/4. */
    ck_assert_str_eq(op_value("p = const f32[1,3] {0.69314718,0,0}\n"
                              "x = multinomial p {seed=1, sample_size=100000, dtype=7}\n"
                              "f = cast x {to=1}\nm = reduce_mean f {keepdims=0}\n"
                              "k = const f32[] {100}\nc = mul m k\ny = round c\nreturn y\n"),
        "f32[]: 75");
    ck_assert_str_eq(op_value("x = const f32[100000] ones\nr = const f32[] {0.25}\n"
                              "t = const bool[] {true}\nd, u = dropout x r t {seed=1}\n"
                              "f = cast u {to=1}\nm = reduce_mean f {keepdims=0}\n"
                              "k = const f32[] {100}\nc = mul m k\ny = round c\nreturn y\n"),
        "f32[]: 75");
}
END_TEST

/* Two runs of the same graph agree only if the seed is given. */
START_TEST(a_given_seed_repeats_and_a_missing_one_differs)
{
    static const char *const rows[] = { "random_normal {shape=[8]%s}",
        "random_uniform {shape=[8]%s}", "random_normal_like x {dtype=11%s}",
        "random_uniform_like x {dtype=10%s}", "bernoulli x {dtype=6%s}",
        "multinomial z {sample_size=8%s}" };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char graph[512], row[128], first[256];
        for (int given = 0; given < 2; given++) {
            (void)snprintf(row, sizeof(row), rows[i], given != 0 ? ", seed=7" : "");
            (void)snprintf(graph, sizeof(graph),
                "x = const f32[64] fill 0.5\nz = const f32[2,9] zeros\n"
                "a = %s\nb = %s\nc = equal a b\nd = cast c {to=7}\n"
                "y = reduce_min d {keepdims=0}\nreturn y\n",
                row, row);
            (void)snprintf(first, sizeof(first), "%s", op_value(graph));
            ck_assert_msg(strcmp(first, given != 0 ? "i64[]: 1" : "i64[]: 0") == 0, "%s: %s", graph,
                first);
        }
    }
}
END_TEST

PRT_TEST_MAIN("op/random", equal_seeds_give_equal_numbers, means_are_as_specified,
    types_are_inferred_and_errors_found, range_and_variance_are_as_specified,
    frequencies_follow_the_probabilities, a_given_seed_repeats_and_a_missing_one_differs)
