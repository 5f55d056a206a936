/* SPDX-License-Identifier: MIT */
/*
 * test_flow.c — inference with data flow through the interface: buffers and callbacks, return
 * types, replicas, anchors inside the model, synthetic data, errors, and the arithmetic of shapes.
 *
 * Covers: flow.c, stepio_flow.c, synthetic.c.
 */
#include "api_test.h"

#include "poprt/data.h"

enum { B = 4, R = 2, N = B * R };

typedef struct batch {
    poprt_env *env;
    poprt_model *model;
    float images[N][64], expected[N][10];
} batch;

static batch *begin(void)
{
    batch *b = calloc(1, sizeof(*b));
    ck_assert_ptr_nonnull(b);
    ck_assert_ok(poprt_env_create(NULL, &b->env));
    poprt_executable *exec = compile_digits(b->env);
    for (uint32_t i = 0; i < N; i++) {
        digit d;
        digit_init(&d, 100 + i);
        memcpy(b->images[i], d.image, sizeof(d.image));
        digit_expect(exec, 100 + i, b->expected[i]);
    }
    poprt_executable_release(exec);
    ck_assert_ok(poprt_model_load_file(b->env, DIGITS, NULL, &b->model));
    const int64_t one[4] = { 1, -1, -1, -1 };
    (void)poprt_model_set_input_shape(b->model, "image", one, 4);
    return b;
}

static void end(batch *b)
{
    poprt_model_release(b->model);
    poprt_env_release(b->env);
    free(b);
}

static poprt_session *session_for(batch *b, const poprt_flow *flow, const char *replicas,
    const char *options)
{
    poprt_config *config = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    ck_assert_ok(poprt_config_create(b->env, &config));
    ck_assert_ok(poprt_config_set(config, "enable_replicated_graphs", "true"));
    ck_assert_ok(poprt_config_set(config, "replicated_graph_count", replicas));
    ck_assert_ok(poprt_config_load_text(config, NULL, options, strlen(options)));
    ck_assert_ok(poprt_compile_flow(b->model, flow, config, &exec));
    ck_assert_ok(poprt_session_create(exec, config, &session));
    poprt_executable_release(exec);
    poprt_config_release(config);
    return session;
}

static poprt_tensor tensor_of(void *data, size_t size, uint32_t rank, const int64_t *dims)
{
    return (poprt_tensor){ .data = data,
        .size = size,
        .dims = dims,
        .rank = rank,
        .dtype = POPRT_DTYPE_FLOAT32 };
}

START_TEST(a_run_returns_what_single_runs_return)
{
    static const struct {
        int32_t type;
        int64_t period;
        uint32_t first, step, count; /* images whose scores are returned */
    } rows[] = { { POPRT_ANCHOR_ALL, 0, 0, 1, N }, { POPRT_ANCHOR_FINAL, 0, N - R, 1, R },
        { POPRT_ANCHOR_EVERY_N, 4, N - R, 1, R }, { POPRT_ANCHOR_EVERY_N, 1, 0, 1, N } };
    batch *b = begin();
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        poprt_flow *flow = NULL;
        poprt_stepio *io = NULL;
        float scores[N][10] = { { 0 } };
        const int64_t flat = N * 64;
        ck_assert_ok(poprt_flow_create(b->env, B, &flow));
        ck_assert_ok(poprt_flow_anchor(flow, "logits", rows[k].type, rows[k].period));
        poprt_session *session = session_for(b, flow, "2", "");
        poprt_flow_release(flow);
        ck_assert_ok(poprt_stepio_create(session, &io));
        const poprt_tensor in = tensor_of(b->images, sizeof(b->images), 1, &flat);
        poprt_tensor out = tensor_of(scores, sizeof(scores), 0, NULL);
        ck_assert_ok(poprt_stepio_bind(io, "image", &in));
        ck_assert_ok(poprt_stepio_bind(io, "logits", k % 2 == 0 ? &out : NULL));
        for (int run = 0; run < 2; run++)
            ck_assert_ok(poprt_session_run(session, io));
        ck_assert_ok(poprt_stepio_output(io, 1, &out));
        ck_assert_uint_eq(out.size, rows[k].count * 40);
        ck_assert_int_eq(out.dims[0], rows[k].count == R ? R : B);
        for (uint32_t i = 0; i < rows[k].count; i++)
            ck_assert_mem_eq((const float *)out.data + (size_t)10 * i,
                b->expected[rows[k].first + i * rows[k].step], 40);
        poprt_stepio_release(io);
        poprt_session_release(session);
    }
    end(b);
}
END_TEST

START_TEST(sums_and_values_inside_the_model_are_returned)
{
    batch *b = begin();
    poprt_flow *flow = NULL;
    poprt_stepio *io = NULL;
    poprt_tensor out;
    float sum[10] = { 0 };
    const int64_t dims[2] = { N, 64 };
    ck_assert_ok(poprt_flow_create(b->env, N, &flow));
    ck_assert_ok(poprt_flow_anchor(flow, "logits", POPRT_ANCHOR_SUM, 0));
    ck_assert_ok(poprt_flow_anchor(flow, "image", POPRT_ANCHOR_FINAL, 0));
    poprt_session *session = session_for(b, flow, "1", "");
    poprt_flow_release(flow);
    ck_assert_ok(poprt_stepio_create(session, &io));
    const poprt_tensor in = tensor_of(b->images, sizeof(b->images), 2, dims);
    ck_assert_ok(poprt_stepio_bind(io, "image", &in));
    ck_assert_ok(poprt_session_run(session, io));
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 10; c++)
            sum[c] += b->expected[i][c];
    ck_assert_ok(poprt_stepio_output(io, 1, &out));
    ck_assert_uint_eq(out.size, 40);
    ck_assert_mem_eq(out.data, sum, 40);
    ck_assert_ok(poprt_stepio_output(io, 2, &out));
    ck_assert_mem_eq(out.data, b->images[N - 1], 256);
    poprt_stepio_release(io);
    poprt_session_release(session);
    end(b);
}
END_TEST

/* ---- callbacks */

typedef struct talk {
    batch *b;
    uint32_t next_in, next_out, done_in, done_out;
    int64_t dims[4];
    float scores[N][10];
    char order[512];
} talk;

static void note(talk *t, const char *word)
{
    (void)strncat(t->order, word, sizeof(t->order) - strlen(t->order) - 1);
}

static poprt_status next_input(void *user, const char *name, int32_t prefetch, int32_t broadcast,
    poprt_tensor *tensor)
{
    talk *t = user;
    ck_assert_str_eq(name, "image");
    ck_assert_int_eq(broadcast, 0);
    note(t, prefetch ? "i" : "I");
    *tensor = tensor_of(t->b->images[t->next_in++], 256, 4, t->dims);
    return POPRT_OK;
}

static poprt_status next_input_now(void *user, const char *name, poprt_tensor *tensor)
{
    return next_input(user, name, 0, 0, tensor);
}

static void input_done(void *user, const char *name)
{
    talk *t = user;
    (void)name;
    t->done_in++;
    note(t, "c");
}

static poprt_status next_output(void *user, const char *name, poprt_tensor *tensor)
{
    talk *t = user;
    (void)name;
    note(t, "o");
    ck_assert_uint_eq(tensor->size, 40);
    tensor->data = t->scores[t->next_out++];
    return POPRT_OK;
}

static void output_done(void *user, const char *name)
{
    talk *t = user;
    (void)name;
    t->done_out++;
    note(t, "d");
}

START_TEST(callbacks_get_blocks_in_the_order_of_the_buffers)
{
    static const char now[] = "IIododccIIododccIIododccIIododcc";
    static const char ahead[] = "IIiiododcciiododcciiododccododcc";
    static const struct {
        const char *options, *order;
        bool prefetch;
    } rows[] = { { "default_buffering_depth = 2", now, false },
        { "default_buffering_depth = 2", ahead, true }, { "", now, true },
        { "bufferingDepthMap = {'image': 2}", ahead, true },
        { "defaultBufferingDepth = 2\nenablePrefetchDatastreams = False", now, true } };
    batch *b = begin();
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        poprt_flow *flow = NULL;
        poprt_stepio *io = NULL;
        talk *t = calloc(1, sizeof(*t));
        ck_assert_ptr_nonnull(t);
        *t = (talk){ .b = b, .dims = { 1, 1, 8, 8 } };
        const poprt_stepio_callbacks callbacks = { .struct_size = sizeof(callbacks),
            .user = t,
            .in = next_input_now,
            .in_complete = input_done,
            .out = next_output,
            .out_complete = output_done,
            .prefetch = rows[k].prefetch ? next_input : NULL };
        ck_assert_ok(poprt_flow_create(b->env, B, &flow));
        poprt_session *session = session_for(b, flow, "2", rows[k].options);
        poprt_flow_release(flow);
        ck_assert_ok(poprt_stepio_create_callbacks(session, &callbacks, &io));
        ck_assert_ok(poprt_session_run(session, io));
        ck_assert_str_eq(t->order, rows[k].order);
        ck_assert_uint_eq(t->done_in, N);
        ck_assert_uint_eq(t->done_out, N);
        ck_assert_mem_eq(t->scores, b->expected, sizeof(b->expected));
        poprt_stepio_release(io);
        poprt_session_release(session);
        free(t);
    }
    end(b);
}
END_TEST

START_TEST(synthetic_data_replaces_the_callers)
{
    static const char *const modes[] = { "zeros", "random_normal", "random_uniform" };
    batch *b = begin();
    for (int k = 0; k < 6; k++) {
        poprt_flow *flow = NULL;
        poprt_config *config = NULL;
        poprt_executable *exec = NULL;
        poprt_session *session = NULL;
        poprt_stepio *io = NULL;
        poprt_tensor out;
        ck_assert_ok(poprt_config_create(b->env, &config));
        ck_assert_ok(poprt_config_set(config, "synthetic_data_mode", modes[k % 3]));
        ck_assert_ok(poprt_flow_create(b->env, 2, &flow));
        ck_assert_ok(poprt_flow_anchor(flow, "image", POPRT_ANCHOR_ALL, 0));
        if (k < 3)
            ck_assert_ok(poprt_compile_flow(b->model, flow, config, &exec));
        else
            ck_assert_ok(poprt_compile(b->model, config, &exec));
        ck_assert_ok(poprt_session_create(exec, config, &session));
        ck_assert_ok(poprt_stepio_create(session, &io));
        ck_assert_ok(poprt_session_run(session, io));
        ck_assert_ok(poprt_stepio_output(io, 1, &out));
        if (k < 3) {
            const float *x = out.data;
            float most = 0, least = 0;
            ck_assert_uint_eq(out.size, 2 * 256);
            ck_assert_mem_eq(x, x + 64, 256); /* made once */
            for (int i = 0; i < 64; i++) {
                most = x[i] > most ? x[i] : most;
                least = x[i] < least ? x[i] : least;
            }
            ck_assert((most > 0) == (k != 0) && (least < 0) == (k == 1) && most < (k == 2 ? 1 : 6));
        }
        poprt_stepio_release(io);
        poprt_session_release(session);
        poprt_executable_release(exec);
        poprt_flow_release(flow);
        poprt_config_release(config);
    }
    end(b);
}
END_TEST

static void refuse_depths(batch *b, const poprt_flow *flow)
{
    static const char *const maps[] = { "{\"imag\": 2}", "{\"image\": 0}", "[2]", "{" };
    poprt_config *config = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    ck_assert_ok(poprt_config_create(b->env, &config));
    ck_assert_ok(poprt_compile_flow(b->model, flow, NULL, &exec));
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        ck_assert_ok(poprt_config_set(config, "buffering_depth_map", maps[i]));
        ck_assert_int_ne(poprt_session_create(exec, config, &session), POPRT_OK);
    }
    poprt_executable_release(exec);
    poprt_config_release(config);
}

START_TEST(wrong_flows_are_refused)
{
    batch *b = begin();
    poprt_flow *flow = NULL;
    poprt_executable *exec = NULL;
    poprt_stepio *io = NULL;
    const int64_t too_small = 64;
    ck_assert_fails(poprt_flow_create(b->env, 0, &flow), POPRT_E_ARG);
    ck_assert_ok(poprt_flow_create(b->env, 6, &flow));
    ck_assert_fails(poprt_flow_anchor(flow, "logits", 4, 0), POPRT_E_ARG);
    ck_assert_fails(poprt_flow_anchor(flow, "logits", POPRT_ANCHOR_EVERY_N, 4), POPRT_E_ARG);
    ck_assert_fails(poprt_flow_anchor(flow, "logits", POPRT_ANCHOR_ALL, 2), POPRT_E_ARG);
    ck_assert_ok(poprt_flow_anchor(flow, "logits", POPRT_ANCHOR_EVERY_N, 3));
    ck_assert_fails(poprt_flow_anchor(flow, "logits", POPRT_ANCHOR_ALL, 0), POPRT_E_ARG);
    ck_assert_fails(poprt_flow_input(flow, "image", 2), POPRT_E_ARG);
    ck_assert_ok(poprt_flow_input(flow, "imag", POPRT_STREAM_BROADCAST));
    ck_assert_fails(poprt_compile_flow(b->model, flow, NULL, &exec), POPRT_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "nearest: image"));
    ck_assert_ok(poprt_flow_input(flow, "imag", POPRT_STREAM_REPLICATE));
    poprt_session *session = session_for(b, flow, "1", "");
    ck_assert_ok(poprt_stepio_create(session, &io));
    const poprt_tensor in = tensor_of(b->images, 256, 1, &too_small);
    ck_assert_fails(poprt_stepio_bind(io, "image", &in), POPRT_E_SHAPE);
    ck_assert_fails(poprt_session_run(session, io), POPRT_E_STATE);
    poprt_stepio_release(io);
    poprt_session_release(session);
    refuse_depths(b, flow);
    ck_assert_ok(poprt_flow_anchor(flow, "logit", POPRT_ANCHOR_ALL, 0));
    ck_assert_fails(poprt_compile_flow(b->model, flow, NULL, &exec), POPRT_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "logits"));
    poprt_flow_release(flow);
    end(b);
}
END_TEST

START_TEST(shapes_of_batches)
{
    static const struct {
        poprt_batching b;
        uint32_t rank;
        int64_t dims[2], out[2], blocks;
    } rows[] = {
        { { 0, 10, 0, 0, 0, 2, 1, 0 }, 2, { 1, 5 }, { 10, 5 }, 10 },
        { { 0, 10, 0, 0, 0, 1, 0, 5 }, 2, { 1, 5 }, { 2, 5 }, 2 },
        { { 0, 100, 0, 4, 0, 0, 0, 0 }, 1, { 2 }, { 8 }, 4 },
        { { 0, 100, 0, 4, 0, 0, 0, 0 }, 0, { 0 }, { 4 }, 4 },
        { { 0, 4, 8, 2, 0, 2, 0, 0 }, 1, { 2 }, { 128 }, 64 },
        { { 0, 4, 8, 2, 0, 3, 0, 0 }, 0, { 0 }, { 2 }, 2 },
        { { 0, 1, 1, 8, 4, 0, 1, 0 }, 1, { 1 }, { 2 }, 2 },
        { { 0, 1000, 0, 0, 0, 0, 0, 0 }, 0, { 0 }, { 0 }, 1 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        poprt_batching b = rows[i].b;
        int64_t out[3] = { 0 }, blocks = 0;
        uint32_t rank = 9;
        b.struct_size = sizeof(b);
        ck_assert_ok(poprt_batching_shape(&b, rows[i].rank, rows[i].dims, &rank, out, &blocks));
        ck_assert_int_eq(blocks, rows[i].blocks);
        ck_assert_uint_eq(rank, rows[i].rank == 0 && blocks > 1 ? 1 : rows[i].rank);
        for (uint32_t k = 0; k < rank; k++)
            ck_assert_int_eq(out[k], rows[i].out[k]);
    }
    poprt_batching bad = { .struct_size = sizeof(bad),
        .replication_factor = 6,
        .input_group_size = 4 };
    ck_assert_fails(poprt_batching_shape(&bad, 0, NULL, NULL, NULL, NULL), POPRT_E_ARG);
}
END_TEST

PRT_TEST_MAIN("api/flow", synthetic_data_replaces_the_callers,
    a_run_returns_what_single_runs_return, sums_and_values_inside_the_model_are_returned,
    callbacks_get_blocks_in_the_order_of_the_buffers, wrong_flows_are_refused, shapes_of_batches)
