/* SPDX-License-Identifier: MIT */
/*
 * test_weights.c — executables compiled with constant_weights=false: every weight is read and
 * written by the model's own name, also the weights that passes would fold, pack or quantise, and
 * also from PopEF. Results are those of a model with these weights.
 */
#include <math.h>

#include "api_test.h"

enum { MOST_WEIGHT = 1 << 18 };

static float results[2][10];

static void run(poprt_session *session, float scores[10])
{
    digit d;
    digit_init(&d, 5);
    poprt_stepio *io = digit_bind(&d, session);
    ck_assert_ok(poprt_session_run(session, io));
    memcpy(scores, d.scores, sizeof(d.scores));
    poprt_stepio_release(io);
}

static poprt_executable *compile(poprt_env *env, const char *weights)
{
    poprt_model *model = NULL;
    poprt_config *config = NULL;
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_config_create(env, &config));
    ck_assert_ok(poprt_config_set(config, "constant_weights", weights));
    ck_assert_ok(poprt_model_load_file(env, DIGITS, NULL, &model));
    ck_assert_ok(poprt_compile(model, config, &exec));
    poprt_model_release(model);
    poprt_config_release(config);
    return exec;
}

static void expect_close(const float *a, const float *b)
{
    for (int i = 0; i < 10; i++)
        ck_assert_float_eq_tol(a[i], b[i], 1e-4f * (1 + fabsf(b[i])));
}

/* The initializers of digits. Passes fold those of BatchNormalization into the convolutions before
 * it, and pack filters and matrices. */
static const char *const names[] = { "0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean",
    "1.running_var", "3.weight", "3.bias", "4.weight", "4.bias", "4.running_mean", "4.running_var",
    "7.weight", "7.bias", "8.weight", "8.bias", "8.running_mean", "8.running_var", "12.weight",
    "12.bias", "15.weight", "15.bias" };

START_TEST(every_weight_is_read_and_written)
{
    static float data[MOST_WEIGHT], kept[MOST_WEIGHT];
    poprt_env *env = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    poprt_executable *constant = compile(env, "true"), *exec = compile(env, "false"),
                     *loaded = NULL;
    poprt_session *session = NULL;
    buffer bytes = { 0 };
    ck_assert_ok(poprt_session_create(constant, NULL, &session));
    run(session, results[0]);
    poprt_session_release(session);
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &bytes));
    ck_assert_ok(poprt_executable_load_bytes(env, bytes.data, bytes.size, NULL, &loaded));
    for (int k = 0; k < 2; k++) {
        ck_assert_ok(poprt_session_create(k == 0 ? exec : loaded, NULL, &session));
        run(session, results[1]);
        expect_close(results[0], results[1]);
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            float changed[10];
            poprt_tensor t = { .data = data, .size = sizeof(data) };
            ck_assert_ok(poprt_session_read_weight(session, names[i], &t));
            memcpy(kept, data, t.size);
            for (size_t at = 0; at < t.size / 4; at++)
                data[at] += 0.5f;
            ck_assert_ok(poprt_session_write_weight(session, names[i], &t));
            run(session, changed);
            ck_assert_msg(memcmp(changed, results[1], sizeof(changed)) != 0, "%s", names[i]);
            memcpy(data, kept, t.size);
            ck_assert_ok(poprt_session_write_weight(session, names[i], &t));
        }
        float again[10];
        run(session, again);
        ck_assert_mem_eq(again, results[1], sizeof(again));
        poprt_session_release(session);
    }
    free(bytes.data);
    poprt_executable_release(loaded);
    poprt_executable_release(exec);
    poprt_executable_release(constant);
    poprt_env_release(env);
}
END_TEST

/* Swapping the rows of the last layer swaps the scores. */
START_TEST(written_weights_give_the_results_of_that_model)
{
    poprt_env *env = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    poprt_executable *exec = compile(env, "false");
    poprt_session *session = NULL;
    float w[10][96], b[10], before[10], after[10];
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    run(session, before);
    poprt_tensor tw = { .data = w, .size = sizeof(w) }, tb = { .data = b, .size = sizeof(b) };
    ck_assert_ok(poprt_session_read_weight(session, "15.weight", &tw));
    ck_assert_ok(poprt_session_read_weight(session, "15.bias", &tb));
    for (int i = 0; i < 5; i++) {
        float row[96];
        const float bias = b[i];
        memcpy(row, w[i], sizeof(row));
        memcpy(w[i], w[9 - i], sizeof(row));
        memcpy(w[9 - i], row, sizeof(row));
        b[i] = b[9 - i];
        b[9 - i] = bias;
    }
    ck_assert_ok(poprt_session_write_weight(session, "15.weight", &tw));
    ck_assert_ok(poprt_session_write_weight(session, "15.bias", &tb));
    run(session, after);
    for (int i = 0; i < 10; i++)
        ck_assert_float_eq_tol(after[i], before[9 - i], 1e-4f * (1 + fabsf(before[9 - i])));
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_env_release(env);
}
END_TEST

PRT_TEST_MAIN("api/weights", every_weight_is_read_and_written,
    written_weights_give_the_results_of_that_model)
