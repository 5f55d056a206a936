/* SPDX-License-Identifier: MIT */
/* test_watch.c — warnings of values that overflow float16, on samples and on generated data. */
#include <stdio.h>
#include <string.h>

#include "pass/engine/manager.h"
#include "pass/precision/feed.h"
#include "support/check_main.h"
#include "support/graph_text.h"

static char warned[8192], noted[8192];

static void record_message(void *user, prt_pass_level level, const char *pass, const char *subject,
    const char *message)
{
    char *to = level == PRT_PASS_WARNS ? warned : noted;
    const size_t n = strlen(to);
    (void)user;
    (void)pass;
    (void)subject;
    (void)snprintf(to + n, sizeof(warned) - n, "%s\n", message);
}

static void run_on(const char *text, const char *pass, const prt_feed *feed)
{
    const prt_pass_observer observer = { .report = record_message };
    prt_graph *g = graph_from_text(text);
    prt_pass_manager *pm = NULL;
    warned[0] = noted[0] = '\0';
    ck_assert_int_eq(prt_pass_manager_create(NULL, &pm), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add(pm, pass, 0, NULL), POPRT_OK);
    prt_pass_manager_set_observer(pm, &observer);
    prt_pass_manager_set_reference(pm, NULL, feed);
    ck_assert_int_eq(prt_pass_manager_run(pm, g->module, NULL), POPRT_OK);
    ck_assert_int_eq(prt_ir_verify(g->module), POPRT_OK);
    prt_pass_manager_release(pm);
    module_free(g);
}

static const char *const product = "x = input f32[n,2]\nw = const f32[2,2] {1,2,3,4}\n"
                                   "a = mul x x\np = matmul a w\ny = relu p\nreturn y\n";

/* Four samples of x; the last one is `large`. */
static void with_samples(float large, const char *pass)
{
    const float values[] = { 1, 2, 3, 4, 5, 6, 7, large };
    const int64_t dims[] = { 4, 2 };
    prt_feed_array array = { .name = PRT_STR("x") };
    ck_assert(prt_tensor_init(&array.tensor, PRT_DTYPE_f32, 2, dims, (void *)(uintptr_t)values));
    const prt_feed feed = { .n_arrays = 1, .arrays = &array };
    run_on(product, pass, &feed);
}

START_TEST(samples_reveal_overflow)
{
    with_samples(300, "float_to_mixed");
    ck_assert_msg(strstr(warned,
                      "a is float16 and overflows: the samples make it as large as "
                      "9e+04, the type ends at 65504\n") != NULL,
        "%s", warned);
    ck_assert_ptr_nonnull(strstr(warned, "p is float16 and overflows"));
    with_samples(8, "float_to_mixed");
    ck_assert_str_eq(warned, "");
    /* x itself is an input, and float16 here */
    with_samples(70000, "float_to_half");
    ck_assert_ptr_nonnull(strstr(warned, "x is float16 and overflows: the samples"));
}
END_TEST

START_TEST(data_is_made_up_without_samples)
{
    const prt_feed feed = { .n_arrays = 0 };
    run_on("x = input f32[2,2]\nc = const f32[] {1e6}\nw = const f32[2,2] {1,2,3,4}\n"
           "a = mul x c\np = matmul a w\nreturn p\n",
        "float_to_mixed", &feed);
    ck_assert_msg(strstr(warned, "a is float16 and overflows: made-up data make it") != NULL, "%s",
        warned);
    /* values that stay float32 are not checked */
    run_on("x = input f32[2,2]\nc = const f32[] {1e6}\nw = const f32[2,2] {1,2,3,4}\n"
           "p = matmul x w\na = mul p c\nreturn a\n",
        "float_to_mixed", &feed);
    ck_assert_str_eq(warned, "");
}
END_TEST

/* A model that cannot run is converted all the same. */
START_TEST(models_that_cannot_run_are_noted)
{
    const prt_feed_array array = { .name = PRT_STR("other") };
    const prt_feed feed = { .n_arrays = 1, .arrays = &array };
    run_on(product, "float_to_mixed", &feed);
    ck_assert_str_eq(warned, "");
    ck_assert_ptr_nonnull(strstr(noted, "overflow of float16 is not checked"));
}
END_TEST

START_TEST(the_number_of_warnings_is_bounded)
{
    char text[4096] = "x = input f32[2,2]\nc = const f32[] {1e6}\nw = const f32[2,2] {1,2,3,4}\n"
                      "a0 = mul x c\n";
    const prt_feed feed = { .n_arrays = 0 };
    for (int i = 0; i < 10; i++) {
        const size_t n = strlen(text);
        (void)snprintf(text + n, sizeof(text) - n, "a%d = matmul a%d w\n", i + 1, i);
    }
    (void)strcat(text, "return a10\n");
    run_on(text, "float_to_mixed", &feed);
    ck_assert_ptr_nonnull(strstr(warned, "more values overflow float16\n"));
    int lines = 0;
    for (const char *at = warned; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    ck_assert_int_eq(lines, 9);
}
END_TEST

PRT_TEST_MAIN("pass/precision/watch", samples_reveal_overflow, data_is_made_up_without_samples,
    models_that_cannot_run_are_noted, the_number_of_warnings_is_bounded)
