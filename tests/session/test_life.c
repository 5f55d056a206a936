/* SPDX-License-Identifier: MIT */
/* test_life.c — options of sessions and of training: what is measured, what travels, and how
 * gradients are added. */
#include "session_test.h"

#include <stdio.h>
#include <unistd.h>

#include "lesson.h"

/* loss = w (1 + 1e8 - 1e8 + 1), by four products: the order of the sum decides what is left. */
static float trained_weight(const char *options)
{
    static const float factors[] = { 1, 1e8f, -1e8f, 1 };
    static const int64_t one = 1;
    static const float zero = 0;
    float w = 0;
    poprt_builder *b = new_builder(13);
    const poprt_tensor t = tensor_of(POPRT_DTYPE_FLOAT32, &zero, sizeof(zero), &one, 1);
    const poprt_id x = FLOATS(b, 1), weight = poprt_builder_weight(b, "w", &t, 0);
    poprt_id sum = 0;
    for (int i = 0; i < 4; i++) {
        poprt_id y =
            poprt_op_mul(b, weight, add_scalar(b, POPRT_DTYPE_FLOAT32, &factors[i], 4), NULL);
        y = poprt_op_mul(b, y, x, NULL);
        sum = i == 0 ? y : poprt_op_add(b, sum, y, NULL);
    }
    const poprt_id loss = poprt_op_reduce_sum(b, sum, 0,
        &(poprt_reduce_sum_attrs){ .name = "total", .keepdims = poprt_int(0) });
    ck_assert_ok(poprt_builder_output(b, loss));
    char name[64];
    (void)snprintf(name, sizeof(name), "%s", poprt_builder_name(b, loss));
    poprt_model *model = finish(b);
    poprt_config *config = options_of(NULL, options);
    poprt_optimizer *sgd = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_flow *flow = NULL;
    ck_assert_ok(poprt_optimizer_create(NULL, "sgd", &sgd));
    ck_assert_ok(poprt_optimizer_set(sgd, "learning_rate", 1, 0));
    ck_assert_ok(poprt_flow_create(NULL, 1, &flow));
    const poprt_training training = { .struct_size = sizeof(training),
        .loss = name,
        .optimizer = sgd,
        .flow = flow };
    ck_assert_ok(poprt_compile_training(model, &training, config, &exec));
    ck_assert_ok(poprt_session_create(exec, config, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    const float ones = 1;
    const poprt_tensor in = tensor_of(POPRT_DTYPE_FLOAT32, &ones, sizeof(ones), &one, 1);
    ck_assert_ok(poprt_stepio_bind(io, "input", &in));
    ck_assert_ok(poprt_session_run(session, io));
    poprt_tensor out = tensor_of(POPRT_DTYPE_FLOAT32, &w, sizeof(w), NULL, 0);
    ck_assert_ok(poprt_session_read_weight(session, "w", &out));
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_flow_release(flow);
    poprt_optimizer_release(sgd);
    poprt_config_release(config);
    poprt_model_release(model);
    return w;
}

START_TEST(gradients_are_added_in_order_or_as_a_tree)
{
    ck_assert_float_eq(trained_weight(""), -1.0f); /* ((1 + 1e8) - 1e8) + 1 */
    ck_assert_float_eq(trained_weight("decomposeGradSum = True"), -0.0f); /* 1e8 - 1e8 */
}
END_TEST

/* A weight after a step of a float16 classifier with a loss scaling. */
static uint16_t scaled_weight(const char *options, float scaling)
{
    static const uint16_t x[] = { 0x3c00, 0x3800, 0xbc00, 0x3400 }, /* 1, 0.5, -1, 0.25 */
        zeros[2 * 3] = { 0 };
    static const int32_t labels[] = { 2, 0 };
    static const int64_t square[] = { 2, 2 }, wide[] = { 2, 3 }, two = 2;
    uint16_t w[2 * 3];
    char name[64];
    poprt_builder *b = new_builder(13);
    const poprt_tensor t = tensor_of(POPRT_DTYPE_FLOAT16, zeros, sizeof(zeros), wide, 2);
    const poprt_tensor l = tensor_of(POPRT_DTYPE_INT32, labels, sizeof(labels), &two, 1);
    const poprt_id in = INPUT(b, POPRT_DTYPE_FLOAT16, 2, 2),
                   weight = poprt_builder_weight(b, "w", &t, 0);
    const poprt_id logits = poprt_op_matmul(b, in, weight, NULL);
    const poprt_id loss = poprt_op_softmax_cross_entropy_loss(b, logits,
        poprt_builder_constant(b, "labels", &l, 0), 0, NULL, 1, NULL);
    ck_assert_ok(poprt_builder_output(b, loss));
    (void)snprintf(name, sizeof(name), "%s", poprt_builder_name(b, loss));
    poprt_model *model = finish(b);
    poprt_config *config = options_of(NULL, options);
    poprt_optimizer *sgd = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    ck_assert_ok(poprt_optimizer_create(NULL, "sgd", &sgd));
    ck_assert_ok(poprt_optimizer_set(sgd, "learning_rate", 1, 0));
    ck_assert_ok(poprt_optimizer_set(sgd, "lossScaling", scaling, 0));
    const poprt_training training = { .struct_size = sizeof(training),
        .loss = name,
        .optimizer = sgd };
    ck_assert_ok(poprt_compile_training(model, &training, config, &exec));
    ck_assert_ok(poprt_session_create(exec, config, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    const poprt_tensor bound = tensor_of(POPRT_DTYPE_FLOAT16, x, sizeof(x), square, 2);
    ck_assert_ok(poprt_stepio_bind(io, "input", &bound));
    ck_assert_ok(poprt_session_run(session, io));
    poprt_tensor out = tensor_of(POPRT_DTYPE_FLOAT16, w, sizeof(w), NULL, 0);
    ck_assert_ok(poprt_session_read_weight(session, "w", &out));
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_optimizer_release(sgd);
    poprt_config_release(config);
    poprt_model_release(model);
    return w[0];
}

START_TEST(a_loss_scaling_in_float32_does_not_overflow)
{
    const uint16_t right = scaled_weight("", 16);
    ck_assert_uint_eq(scaled_weight("ensureFp32LossScaleTensor = True", 16), right);
    ck_assert_uint_eq(scaled_weight("ensureFp32LossScaleTensor = True", 98304), right);
    ck_assert_uint_eq(scaled_weight("", 98304) & 0x7c00, 0x7c00); /* infinite or NaN */
}
END_TEST

static poprt_session *session_under(lesson *l, const char *options)
{
    poprt_config_release(l->config);
    l->config = options_of(l->env, options);
    return lesson_session(l);
}

START_TEST(states_travel_unless_their_streams_are_off)
{
    lesson *l = lesson_begin("sgd", 1);
    ck_assert_ok(poprt_optimizer_set(l->optimizer, "momentum", 0.9f, 0));
    for (int off = 0; off < 2; off++) {
        poprt_session *s = session_under(l, off ? "disableOptimizerStateTensorStreams = True" : "");
        poprt_weights *w = NULL;
        poprt_model *saved = NULL;
        poprt_tensor t;
        size_t states = 0;
        ck_assert_ok(poprt_weights_create(s, &w));
        for (size_t i = 0; i < poprt_weights_count(w); i++) {
            const char *name = NULL;
            ck_assert_ok(poprt_weights_at(w, i, &name, &t));
            states += strncmp(name, "Accl", 4) == 0;
        }
        ck_assert_int_eq(states != 0, !off);
        ck_assert_ok(poprt_weights_find(w, "w", &t));
        ck_assert_ok(poprt_session_export_model(s, l->model, 1, &saved));
        poprt_model_release(saved);
        poprt_weights_release(w);
        poprt_session_release(s);
    }
    lesson_end(l);
}
END_TEST

START_TEST(checkpoints_set_the_random_state_unless_it_is_kept)
{
    char path[64];
    lesson *l = lesson_begin("sgd", 1);
    poprt_train_progress progress = { .struct_size = sizeof(progress) };
    (void)snprintf(path, sizeof(path), "life_%ld.ckpt", (long)getpid());
    poprt_session *first = session_under(l, "");
    ck_assert_ok(poprt_session_set_random_state(first, 77, 5));
    ck_assert_ok(poprt_session_save_checkpoint(first, path, 0));
    for (int keeps = 0; keeps < 2; keeps++) {
        poprt_session *s =
            session_under(l, keeps ? "seed = 3\nenableLoadAndOffloadRNGState = False" : "seed = 3");
        ck_assert_ok(poprt_session_load_checkpoint(s, path));
        ck_assert_ok(poprt_session_get_progress(s, &progress));
        ck_assert_uint_eq(progress.seed, keeps ? 3 : 77);
        ck_assert_uint_eq(progress.micro_batches, keeps ? 0 : 5);
        ck_assert_int_eq(poprt_session_set_random_state(s, 8, 1), keeps ? POPRT_E_STATE : POPRT_OK);
        ck_assert_ok(poprt_session_set_random_seed(s, 9));
        poprt_session_release(s);
    }
    (void)remove(path);
    poprt_session_release(first);
    lesson_end(l);
}
END_TEST

/* Seeds 0 to 7, 16 draws each, by runs and by the micro-batches of one run. */
START_TEST(seeds_share_no_numbers)
{
    enum { SEEDS = 8, DRAWS = 16, WIDTH = 4 };
    static float drawn[2 * SEEDS * DRAWS][WIDTH];
    static const int64_t shape[] = { WIDTH }, all[] = { DRAWS, WIDTH };
    poprt_builder *b = new_builder(13);
    const poprt_random_uniform_attrs attrs = { .shape = POPRT_INTS(WIDTH) };
    const poprt_id y = poprt_op_random_uniform(b, &attrs);
    ck_assert_ok(poprt_builder_output(b, y));
    poprt_model *model = finish(b);
    poprt_executable *exec[2] = { NULL, NULL };
    poprt_flow *flow = NULL;
    ck_assert_ok(poprt_compile(model, NULL, &exec[0]));
    ck_assert_ok(poprt_flow_create(NULL, DRAWS, &flow));
    ck_assert_ok(poprt_compile_flow(model, flow, NULL, &exec[1]));
    for (int i = 0; i < 2 * SEEDS; i++) {
        const bool flows = i >= SEEDS;
        char options[32];
        (void)snprintf(options, sizeof(options), "seed = %d", i % SEEDS);
        poprt_config *config = options_of(NULL, options);
        poprt_session *session = NULL;
        poprt_stepio *io = NULL;
        ck_assert_ok(poprt_session_create(exec[flows], config, &session));
        ck_assert_ok(poprt_stepio_create(session, &io));
        for (int k = 0; k < (flows ? 1 : DRAWS); k++) {
            const poprt_tensor out = tensor_of(POPRT_DTYPE_FLOAT32, drawn[i * DRAWS + k],
                flows ? sizeof(drawn[0]) * DRAWS : sizeof(drawn[0]), flows ? all : shape,
                flows ? 2 : 1);
            ck_assert_ok(poprt_stepio_bind_at(io, 0, &out));
            ck_assert_ok(poprt_session_run(session, io));
        }
        poprt_stepio_release(io);
        poprt_session_release(session);
        poprt_config_release(config);
    }
    for (int i = 0; i < 2 * SEEDS * DRAWS; i++)
        for (int k = 0; k < i; k++)
            ck_assert_msg(memcmp(drawn[i], drawn[k], sizeof(drawn[0])) != 0,
                "draws %d and %d are equal", k, i);
    poprt_flow_release(flow);
    poprt_executable_release(exec[0]);
    poprt_executable_release(exec[1]);
    poprt_model_release(model);
}
END_TEST

START_TEST(runs_are_measured_on_request)
{
    lesson *l = lesson_begin("sgd", 4);
    uint64_t count = 0;
    poprt_session *s = session_under(l, "");
    poprt_stepio *io = lesson_bind(l, s, 4);
    ck_assert_ok(poprt_session_run(s, io));
    ck_assert_fails(poprt_session_get_cycle_count(s, &count), POPRT_E_STATE);
    poprt_stepio_release(io);
    poprt_session_release(s);
    s = session_under(l, "instrumentWithHardwareCycleCounter = True");
    io = lesson_bind(l, s, 4);
    ck_assert_fails(poprt_session_get_cycle_count(s, &count), POPRT_E_STATE);
    ck_assert_ok(poprt_session_run(s, io));
    ck_assert_ok(poprt_session_get_cycle_count(s, &count));
    ck_assert_uint_gt(count, 0);
    poprt_stepio_release(io);
    poprt_session_release(s);
    lesson_end(l);
}
END_TEST

START_TEST(nothing_runs_without_an_engine)
{
    lesson *l = lesson_begin("sgd", 1);
    poprt_executable *exec = NULL;
    poprt_session *s = NULL;
    poprt_config_release(l->config);
    l->config = options_of(l->env, "compileEngine = False");
    ck_assert_ok(lesson_compile(l, l->model, &exec));
    ck_assert_fails(poprt_session_create(exec, l->config, &s), POPRT_E_STATE);
    ck_assert_str_eq(poprt_last_error()->subject, "compile_engine");
    ck_assert_ok(poprt_session_create(exec, NULL, &s));
    poprt_session_release(s);
    poprt_executable_release(exec);
    lesson_end(l);
}
END_TEST

PRT_TEST_MAIN("session/life", gradients_are_added_in_order_or_as_a_tree,
    a_loss_scaling_in_float32_does_not_overflow, states_travel_unless_their_streams_are_off,
    checkpoints_set_the_random_state_unless_it_is_kept, seeds_share_no_numbers,
    runs_are_measured_on_request, nothing_runs_without_an_engine)
