/* SPDX-License-Identifier: MIT */
/*
 * test_weights_life.c — copies of weights on the host: whether they are in sync with sessions,
 * sessions that share one, and sessions that take the weights of another model. Covers: weights.c,
 * export.c.
 */
#include <math.h>

#include "lesson.h"

enum { ELEMENTS = IN * OUT };

static bool in_sync(const poprt_weights *weights, poprt_session *session)
{
    int32_t result = -1;
    ck_assert_ok(poprt_weights_in_sync(weights, session, &result));
    ck_assert(result == 0 || result == 1);
    return result == 1;
}

static void set_first(poprt_weights *weights, float value)
{
    poprt_tensor w;
    ck_assert_ok(poprt_weights_find(weights, "w", &w));
    ((float *)w.data)[0] = value;
    ck_assert_ok(poprt_weights_changed(weights));
}

static float first_of(poprt_session *session)
{
    float w[ELEMENTS], b[OUT];
    lesson_weights(session, w, b);
    return w[0];
}

START_TEST(changes_of_each_side_end_the_sync)
{
    lesson *l = lesson_begin("sgd", 4);
    poprt_session *session = lesson_session(l), *other = lesson_session(l);
    poprt_weights *weights = NULL;
    float w[ELEMENTS] = { 0 };
    static const int64_t dims[] = { IN, OUT };
    const poprt_tensor tensor = { w, sizeof(w), dims, 2, POPRT_DTYPE_FLOAT32 };
    ck_assert_ok(poprt_weights_create(session, &weights));
    ck_assert(in_sync(weights, session));
    ck_assert(!in_sync(weights, other)); /* equal contents, but not one from the other */
    lesson_run(l, session, 1);
    ck_assert(!in_sync(weights, session));
    ck_assert_ok(poprt_session_weights_to_host(session, weights));
    ck_assert(in_sync(weights, session));
    ck_assert_ok(poprt_session_write_weight(session, "w", &tensor));
    ck_assert(!in_sync(weights, session));
    ck_assert_ok(poprt_session_weights_from_host(session, weights));
    ck_assert_ok(poprt_session_weights_from_host(other, weights));
    ck_assert(in_sync(weights, session) && in_sync(weights, other));
    set_first(weights, 3.0f);
    ck_assert(!in_sync(weights, session) && !in_sync(weights, other));
    ck_assert_ok(poprt_session_weights_from_host(session, weights));
    ck_assert(in_sync(weights, session) && !in_sync(weights, other));
    ck_assert_ok(poprt_weights_load_model(weights, l->model, 0));
    ck_assert(!in_sync(weights, session));
    poprt_weights_release(weights);
    poprt_session_release(other);
    poprt_session_release(session);
    lesson_end(l);
}
END_TEST

START_TEST(sessions_follow_a_copy_that_they_share)
{
    lesson *l = lesson_begin("sgd", 4);
    poprt_session *sessions[2] = { lesson_session(l), lesson_session(l) };
    poprt_weights *weights = NULL;
    ck_assert_ok(poprt_optimizer_set(l->optimizer, "learning_rate", 0.001f, 1));
    ck_assert_ok(poprt_weights_create(sessions[0], &weights));
    for (int i = 0; i < 2; i++)
        ck_assert_ok(poprt_session_share_weights(sessions[i], weights));
    set_first(weights, 100.0f);
    for (int i = 0; i < 2; i++) {
        lesson_run(l, sessions[i], 1);
        ck_assert_float_gt(fabsf(first_of(sessions[i])), 10.0f);
    }
    /* Training goes on from its own weights while the copy does not change. */
    const float before = first_of(sessions[0]);
    lesson_run(l, sessions[0], 1);
    ck_assert_float_ne(first_of(sessions[0]), before);
    ck_assert_float_eq(first_of(sessions[1]), before);
    lesson_run(l, sessions[1], 1);
    ck_assert_float_eq(first_of(sessions[1]), first_of(sessions[0]));
    set_first(weights, -100.0f);
    lesson_run(l, sessions[0], 1);
    ck_assert_float_lt(first_of(sessions[0]), 0.0f);
    /* The second session keeps its weights when it stops sharing; the copy outlives its handle. */
    ck_assert_ok(poprt_session_share_weights(sessions[1], NULL));
    lesson_run(l, sessions[1], 1);
    ck_assert_float_gt(first_of(sessions[1]), 0.0f);
    poprt_weights_release(weights);
    lesson_run(l, sessions[0], 1);
    for (int i = 0; i < 2; i++)
        poprt_session_release(sessions[i]);
    lesson_end(l);
}
END_TEST

/* Returns the model of the lesson with another first element of a weight. */
static poprt_model *with_weights(lesson *l, const char *name, float value)
{
    poprt_session *session = lesson_session(l);
    poprt_model *model = NULL;
    poprt_tensor t;
    poprt_weights *weights = NULL;
    ck_assert_ok(poprt_weights_create(session, &weights));
    ck_assert_ok(poprt_weights_find(weights, name, &t));
    ((float *)t.data)[0] = value;
    ck_assert_ok(poprt_session_weights_from_host(session, weights));
    ck_assert_ok(poprt_session_export_model(session, l->model, 0, &model));
    poprt_weights_release(weights);
    poprt_session_release(session);
    return model;
}

static void refuses(poprt_session *session, const poprt_model *model, poprt_status status,
    const char *part)
{
    ck_assert_int_eq(poprt_session_reset_weights(session, model, 0), status);
    ck_assert_msg(strstr(poprt_last_error()->message, part) != NULL, "%s",
        poprt_last_error()->message);
}

START_TEST(weights_of_another_model_replace_those_of_a_session)
{
    lesson *l = lesson_begin("adam", 4);
    poprt_session *session = lesson_session(l);
    poprt_model *other = with_weights(l, "w", 7.0f);
    poprt_weights *weights = NULL;
    lesson_run(l, session, 2);
    ck_assert_ok(poprt_weights_create(session, &weights));
    ck_assert_ok(poprt_session_reset_weights(session, other, 0));
    ck_assert(!in_sync(weights, session));
    float w[2][ELEMENTS], b[2][OUT];
    lesson_weights(session, w[0], b[0]);
    ck_assert_float_eq(w[0][0], 7.0f);
    ck_assert_float_eq(w[0][1], -0.25f);
    ck_assert_float_eq(b[0][0], 0.1f);
    /* The states of the optimizer stay: the model has none. */
    poprt_tensor state = { .data = w[1], .size = sizeof(w[1]) }, kept;
    ck_assert_ok(poprt_session_read_weight(session, "Accl1___w", &state));
    ck_assert_ok(poprt_weights_find(weights, "Accl1___w", &kept));
    ck_assert_mem_eq(w[1], kept.data, sizeof(w[1]));
    ck_assert_int_eq(poprt_session_reset_weights(session, other, 1), POPRT_E_ARG);
    poprt_weights_release(weights);
    poprt_model_release(other);
    poprt_session_release(session);
    lesson_end(l);
}
END_TEST

START_TEST(constants_of_an_executable_refuse_changes)
{
    lesson *l = lesson_begin("sgd", 4);
    static const char *const frozen[] = { "b" };
    const poprt_training training = { .struct_size = sizeof(training),
        .loss = "loss",
        .optimizer = l->optimizer,
        .flow = l->flow,
        .frozen = frozen,
        .frozen_count = 1 };
    poprt_executable *exec = NULL, *constant = NULL;
    poprt_session *session = NULL, *inference = NULL;
    poprt_model *same = with_weights(l, "w", 7.0f), *other = with_weights(l, "b", 9.0f);
    ck_assert_ok(poprt_compile_training(l->model, &training, NULL, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_session_reset_weights(session, same, 0));
    ck_assert_float_eq(first_of(session), 7.0f);
    refuses(session, other, POPRT_E_STATE, "is a constant of the executable");
    ck_assert_float_eq(first_of(session), 7.0f);
    ck_assert_ok(poprt_session_reset_weights(session, other, POPRT_WEIGHTS_IGNORE_UNKNOWN));
    ck_assert_float_eq(first_of(session), 0.5f);
    ck_assert_ok(poprt_compile(l->model, NULL, &constant));
    ck_assert_ok(poprt_session_create(constant, NULL, &inference));
    refuses(inference, same, POPRT_E_STATE, "constant_weights=false");
    poprt_session_release(inference);
    poprt_executable_release(constant);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_model_release(same);
    poprt_model_release(other);
    lesson_end(l);
}
END_TEST

PRT_TEST_MAIN("api/weights_life", changes_of_each_side_end_the_sync,
    sessions_follow_a_copy_that_they_share, weights_of_another_model_replace_those_of_a_session,
    constants_of_an_executable_refuse_changes)
