/* SPDX-License-Identifier: MIT */
/* test_watch.c — the steps that a session reports to its watch function. */
#include "api_test.h"
#include "models.h"

enum { MOST = 64 };

typedef struct seen {
    size_t n;
    poprt_step steps[MOST];
} seen;

static void note_step(void *user, const poprt_step *step)
{
    seen *s = user;
    ck_assert_uint_lt(s->n, MOST);
    ck_assert_uint_eq(step->struct_size, sizeof(*step));
    s->steps[s->n++] = *step;
}

START_TEST(steps_are_reported_in_order)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_session *session = NULL;
    seen s = { 0 };
    digit d;
    float expected[10];
    digit_expect(exec, 3, expected);
    digit_init(&d, 3);
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    poprt_stepio *io = digit_bind(&d, session);
    ck_assert_ok(poprt_session_watch(session, note_step, &s));
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert(memcmp(d.scores, expected, sizeof(expected)) == 0);
    ck_assert_uint_ge(s.n, 3);
    for (size_t i = 0; i < s.n; i++) {
        ck_assert_uint_eq(s.steps[i].block, 0);
        ck_assert_uint_le(s.steps[i].start_ns, s.steps[i].stop_ns);
        ck_assert(s.steps[i].op[0] != '\0' && s.steps[i].form != NULL && s.steps[i].node != NULL);
        if (i != 0) {
            ck_assert_uint_lt(s.steps[i - 1].index, s.steps[i].index);
            ck_assert_uint_le(s.steps[i - 1].stop_ns, s.steps[i].start_ns);
        }
    }
    const size_t each = s.n;
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_uint_eq(s.n, 2 * each);
    ck_assert_ok(poprt_session_watch(session, NULL, NULL));
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_uint_eq(s.n, 2 * each);
    ck_assert_fails(poprt_session_watch(NULL, note_step, &s), POPRT_E_ARG);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(bodies_lie_within_their_step)
{
    int64_t trips = 5;
    float start = 2.0f, end = 0.0f;
    const int64_t one[] = { 1 };
    const poprt_tensor in = { &trips, sizeof(trips), NULL, 0, POPRT_DTYPE_INT64 };
    const poprt_tensor from = { &start, sizeof(start), one, 1, POPRT_DTYPE_FLOAT32 };
    const poprt_tensor to = { &end, sizeof(end), one, 1, POPRT_DTYPE_FLOAT32 };
    poprt_executable *exec = compile_bytes(NULL, loop_model, sizeof(loop_model));
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    seen s = { 0 };
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "trips", &in));
    ck_assert_ok(poprt_stepio_bind(io, "start", &from));
    ck_assert_ok(poprt_stepio_bind(io, "end", &to));
    ck_assert_ok(poprt_session_watch(session, note_step, &s));
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert(end == 7.0f);
    ck_assert_uint_ge(s.n, 6);
    const poprt_step *loop = &s.steps[s.n - 1];
    ck_assert_uint_eq(loop->block, 0);
    ck_assert_str_eq(loop->op, "loop");
    size_t inner = 0;
    for (size_t i = 0; i + 1 < s.n; i++)
        if (s.steps[i].block != 0) {
            ck_assert_uint_le(loop->start_ns, s.steps[i].start_ns);
            ck_assert_uint_ge(loop->stop_ns, s.steps[i].stop_ns);
            inner += strcmp(s.steps[i].op, "add") == 0;
        }
    ck_assert_uint_eq(inner, 5);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(bodies_are_graphs_of_their_own)
{
    poprt_executable *exec = compile_bytes(NULL, loop_model, sizeof(loop_model));
    buffer text = { NULL, 0 };
    ck_assert_ok(poprt_executable_describe(exec, POPRT_FORMAT_GRAPHS_JSON, buffer_write, &text));
    ck_assert_ptr_nonnull(strstr((const char *)text.data, "\"graph1\": ["));
    ck_assert_ptr_nonnull(strstr((const char *)text.data, "\"type\": \"Loop\""));
    free(text.data);
    poprt_executable_release(exec);
}
END_TEST

/* The time of a loop counts for its own operator and for those of its body, but not twice. */
START_TEST(times_of_bodies_count_once)
{
    poprt_executable *exec = compile_bytes(NULL, loop_model, sizeof(loop_model));
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    buffer text = { NULL, 0 };
    int64_t trips = 500;
    float start = 2.0f;
    const int64_t one[] = { 1 };
    const poprt_tensor in = { &trips, sizeof(trips), NULL, 0, POPRT_DTYPE_INT64 };
    const poprt_tensor from = { &start, sizeof(start), one, 1, POPRT_DTYPE_FLOAT32 };
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_session_profile(session, 1));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "trips", &in));
    ck_assert_ok(poprt_stepio_bind(io, "start", &from));
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_ok(poprt_session_report(session, POPRT_FORMAT_JSON, buffer_write, &text));
    const char *profile = strstr((const char *)text.data, "\"profile\":");
    const char *loop = strstr(profile, "\"operator\": \"loop\"");
    const char *steps = strstr(profile, "\"steps\": [");
    ck_assert_ptr_nonnull(loop);
    long long total = 0, run_ns = atoll(strstr(profile, "\"run_ns\":") + 9);
    for (const char *at = profile; (at = strstr(at, "\"ns\":")) != NULL && at < steps; at++)
        total += atoll(at + 5);
    ck_assert_int_gt(total, 0);
    ck_assert_int_le(total, run_ns);
    free(text.data);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
}
END_TEST

PRT_TEST_MAIN("api/watch", steps_are_reported_in_order, bodies_lie_within_their_step,
    bodies_are_graphs_of_their_own, times_of_bodies_count_once)
