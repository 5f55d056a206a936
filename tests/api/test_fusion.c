/* SPDX-License-Identifier: MIT */
/*
 * test_fusion.c — fused models: which models can be fused, how inputs and index select the graph
 * of a run, and which runs are refused.
 * Covers: merge_models.c.
 */
#include "api_test.h"
#include "models.h"

/* Graph 0: digits, image [1,1,8,8]; graph 1: dense, x [1,2]; graph 2: sequences, more [2]. */
static poprt_model *fuse_three(poprt_env *env)
{
    static const int64_t image[4] = { 1, 1, 8, 8 }, x[2] = { 1, 2 }, more[1] = { 2 };
    poprt_model *models[3] = { NULL }, *fused = NULL;
    ck_assert_ok(poprt_model_load_file(env, DIGITS, NULL, &models[0]));
    ck_assert_ok(poprt_model_load_bytes(env, dense_model, sizeof(dense_model), NULL, &models[1]));
    ck_assert_ok(
        poprt_model_load_bytes(env, sequence_model, sizeof(sequence_model), NULL, &models[2]));
    ck_assert_ok(poprt_model_set_input_shape(models[0], "image", image, 4));
    ck_assert_ok(poprt_model_set_input_shape(models[1], "x", x, 2));
    ck_assert_ok(poprt_model_set_input_shape(models[2], "more", more, 1));
    ck_assert_ok(poprt_model_fuse((const poprt_model *const *)models, 3, &fused));
    for (size_t i = 0; i < 3; i++)
        poprt_model_release(models[i]);
    return fused;
}

typedef struct fused {
    poprt_env *env;
    poprt_executable *exec;
    poprt_session *session;
    poprt_stepio *io;
    digit digit;
    float x[2], y[3];
    int64_t x_dims[2];
    uint32_t index;
    poprt_tensor x_in, y_out, index_in;
} fused;

enum { INDEX, IMAGE, X, ITEMS, MORE, LOGITS, Y, ALL, SLOTS };

static void fused_open(fused *f)
{
    static const int64_t one = 1;
    *f = (fused){ .x = { 1, 1 }, .y = { 7, 7, 7 }, .x_dims = { 1, 2 } };
    ck_assert_ok(poprt_env_create(NULL, &f->env));
    poprt_model *model = fuse_three(f->env);
    ck_assert_ok(poprt_compile(model, NULL, &f->exec));
    poprt_model_release(model);
    ck_assert_ok(poprt_session_create(f->exec, NULL, &f->session));
    ck_assert_ok(poprt_stepio_create(f->session, &f->io));
    digit_init(&f->digit, 1);
    f->x_in = (poprt_tensor){ .data = f->x,
        .size = sizeof(f->x),
        .dims = f->x_dims,
        .rank = 2,
        .dtype = POPRT_DTYPE_FLOAT32 };
    f->y_out = (poprt_tensor){ .data = f->y, .size = sizeof(f->y) };
    f->index_in = (poprt_tensor){ .data = &f->index,
        .size = 4,
        .dims = &one,
        .rank = 1,
        .dtype = POPRT_DTYPE_UINT32 };
}

static void fused_close(fused *f)
{
    poprt_stepio_release(f->io);
    poprt_session_release(f->session);
    poprt_executable_release(f->exec);
    poprt_env_release(f->env);
}

static void check_dense(const fused *f)
{
    poprt_tensor out;
    ck_assert_ok(poprt_stepio_output(f->io, Y, &out));
    ck_assert_uint_eq(out.size, sizeof(f->y));
    const float *y = out.data;
    ck_assert_float_eq(y[0], 5.5f);
    ck_assert_float_eq(y[1], 0);
    ck_assert_float_eq(y[2], 9);
}

START_TEST(inputs_and_outputs_tell_their_graph)
{
    static const struct {
        const char *name;
        int32_t graph;
    } rows[SLOTS] = { { "index", -1 }, { "graph0/image", 0 }, { "graph1/x", 1 },
        { "graph2/items", 2 }, { "graph2/more", 2 }, { "graph0/logits", 0 }, { "graph1/y", 1 },
        { "graph2/all", 2 } };
    fused f;
    fused_open(&f);
    poprt_model *model = fuse_three(f.env);
    ck_assert_uint_eq(poprt_executable_graph_count(f.exec), 3);
    ck_assert_uint_eq(poprt_executable_graph_count(NULL), 0);
    for (size_t i = 0; i < SLOTS; i++) {
        poprt_io_info info = { .struct_size = sizeof(info) };
        const int32_t direction = i < LOGITS ? POPRT_INPUT : POPRT_OUTPUT;
        const size_t at = i < LOGITS ? i : i - LOGITS;
        ck_assert_ok(poprt_executable_io_at(f.exec, direction, at, &info));
        ck_assert_str_eq(info.name, rows[i].name);
        ck_assert_int_eq(info.graph, rows[i].graph);
        ck_assert_ok(poprt_model_io_at(model, direction, at, &info));
        ck_assert_str_eq(info.name, rows[i].name);
        ck_assert_int_eq(info.graph, rows[i].graph);
    }
    poprt_model_release(model);
    fused_close(&f);
    poprt_executable *plain = compile_digits(NULL);
    poprt_io_info info = { .struct_size = sizeof(info) };
    ck_assert_uint_eq(poprt_executable_graph_count(plain), 0);
    ck_assert_ok(poprt_executable_io_at(plain, POPRT_INPUT, 0, &info));
    ck_assert_int_eq(info.graph, -1);
    poprt_executable_release(plain);
}
END_TEST

/* Runs one graph after the other with the same StepIO; the results equal the results of the
 * separate models. */
START_TEST(the_inputs_select_the_graph)
{
    fused f;
    float scores[10];
    poprt_tensor out;
    fused_open(&f);
    poprt_executable *alone = compile_digits(f.env);
    digit_expect(alone, 1, scores);
    poprt_executable_release(alone);
    ck_assert_fails(poprt_session_run(f.session, f.io), POPRT_E_STATE);
    ck_assert_str_eq(poprt_last_error()->subject, "index");
    for (int round = 0; round < 2; round++) {
        ck_assert_ok(poprt_stepio_bind(f.io, "graph0/image", &f.digit.in));
        ck_assert_ok(poprt_session_run(f.session, f.io));
        ck_assert_ok(poprt_stepio_output(f.io, LOGITS, &out));
        ck_assert_mem_eq(out.data, scores, sizeof(scores));
        ck_assert_fails(poprt_stepio_output(f.io, Y, &out), POPRT_E_STATE);
        ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "graph 0"));
        ck_assert_ok(poprt_stepio_bind(f.io, "graph0/image", NULL));
        ck_assert_ok(poprt_stepio_bind(f.io, "graph1/x", &f.x_in));
        ck_assert_ok(poprt_session_run(f.session, f.io));
        check_dense(&f);
        ck_assert_fails(poprt_stepio_output(f.io, LOGITS, &out), POPRT_E_STATE);
        ck_assert_ok(poprt_stepio_bind(f.io, "graph1/x", NULL));
    }
    fused_close(&f);
}
END_TEST

START_TEST(a_fused_graph_may_have_sequences)
{
    fused f;
    size_t count = 0;
    const int64_t two = 2;
    poprt_tensor item = { 0 };
    fused_open(&f);
    item = (poprt_tensor){ .data = f.x,
        .size = sizeof(f.x),
        .dims = &two,
        .rank = 1,
        .dtype = POPRT_DTYPE_FLOAT32 };
    ck_assert_ok(poprt_stepio_bind_sequence(f.io, ITEMS, &item, 1, 1));
    ck_assert_fails(poprt_session_run(f.session, f.io), POPRT_E_STATE);
    ck_assert_str_eq(poprt_last_error()->subject, "graph2/more");
    ck_assert_ok(poprt_stepio_bind(f.io, "graph2/more", &item));
    ck_assert_ok(poprt_session_run(f.session, f.io));
    ck_assert_ok(poprt_stepio_output_count(f.io, ALL, &count, NULL));
    ck_assert_uint_eq(count, 2);
    ck_assert_fails(poprt_stepio_output_count(f.io, Y, &count, NULL), POPRT_E_STATE);
    fused_close(&f);
}
END_TEST

START_TEST(an_index_must_agree_with_the_inputs)
{
    fused f;
    fused_open(&f);
    ck_assert_ok(poprt_stepio_bind(f.io, "index", &f.index_in));
    ck_assert_ok(poprt_stepio_bind(f.io, "graph1/x", &f.x_in));
    f.index = 1;
    ck_assert_ok(poprt_session_run(f.session, f.io));
    check_dense(&f);
    f.index = 0;
    ck_assert_fails(poprt_session_run(f.session, f.io), POPRT_E_ARG);
    ck_assert_str_eq(poprt_last_error()->subject, "graph1/x");
    f.index = 3;
    ck_assert_fails(poprt_session_run(f.session, f.io), POPRT_E_ARG);
    ck_assert_str_eq(poprt_last_error()->subject, "index");
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "no graph 3"));
    f.index = 2;
    ck_assert_ok(poprt_stepio_bind(f.io, "graph1/x", NULL));
    ck_assert_fails(poprt_session_run(f.session, f.io), POPRT_E_STATE);
    ck_assert_str_eq(poprt_last_error()->subject, "graph2/items");
    ck_assert_ok(poprt_stepio_bind(f.io, "index", NULL));
    ck_assert_ok(poprt_stepio_bind(f.io, "graph1/x", &f.x_in));
    ck_assert_ok(poprt_stepio_bind(f.io, "graph0/image", &f.digit.in));
    ck_assert_fails(poprt_session_run(f.session, f.io), POPRT_E_ARG);
    ck_assert_str_eq(poprt_last_error()->subject, "graph1/x");
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "graph0/image"));
    fused_close(&f);
}
END_TEST

START_TEST(an_index_of_another_type_or_size_is_refused)
{
    fused f;
    const int64_t none = 0, two = 2;
    fused_open(&f);
    poprt_tensor t = f.index_in;
    t.dtype = POPRT_DTYPE_INT32;
    ck_assert_fails(poprt_stepio_bind(f.io, "index", &t), POPRT_E_TYPE);
    t = f.index_in;
    t.dims = &none;
    ck_assert_fails(poprt_stepio_bind(f.io, "index", &t), POPRT_E_SHAPE);
    t.dims = &two;
    ck_assert_fails(poprt_stepio_bind(f.io, "index", &t), POPRT_E_SHAPE);
    t = f.index_in;
    t.data = NULL;
    ck_assert_fails(poprt_stepio_bind(f.io, "index", &t), POPRT_E_ARG);
    fused_close(&f);
}
END_TEST

/* Buffers are bound to the outputs of all graphs. Only the output of the selected graph is
 * written. */
START_TEST(outputs_of_other_graphs_are_not_written)
{
    fused f;
    fused_open(&f);
    ck_assert_ok(poprt_stepio_bind(f.io, "graph0/logits", &f.digit.out));
    ck_assert_ok(poprt_stepio_bind(f.io, "graph1/y", &f.y_out));
    ck_assert_ok(poprt_stepio_bind(f.io, "graph0/image", &f.digit.in));
    ck_assert_ok(poprt_session_run(f.session, f.io));
    ck_assert_float_eq(f.y[0], 7);
    ck_assert_float_ne(f.digit.scores[0], 0);
    const float before = f.digit.scores[0];
    ck_assert_ok(poprt_stepio_bind(f.io, "graph0/image", NULL));
    ck_assert_ok(poprt_stepio_bind(f.io, "graph1/x", &f.x_in));
    ck_assert_ok(poprt_session_run(f.session, f.io));
    ck_assert_float_eq(f.y[0], 5.5f);
    ck_assert_float_eq(f.digit.scores[0], before);
    fused_close(&f);
}
END_TEST

/* ---- callbacks */

typedef struct talk {
    fused *f;
    char order[128];
} talk;

static void note_call(talk *t, const char *word, const char *name)
{
    const size_t used = strlen(t->order);
    (void)snprintf(t->order + used, sizeof(t->order) - used, "%s %s;", word, name);
}

static poprt_status provide_input(void *user, const char *name, poprt_tensor *tensor)
{
    talk *t = user;
    note_call(t, "in", name);
    *tensor = strcmp(name, "index") == 0 ? t->f->index_in : t->f->x_in;
    return POPRT_OK;
}

static void finish_input(void *user, const char *name)
{
    note_call(user, "read", name);
}

static poprt_status provide_output(void *user, const char *name, poprt_tensor *tensor)
{
    talk *t = user;
    note_call(t, "out", name);
    tensor->data = t->f->y;
    tensor->size = sizeof(t->f->y);
    return POPRT_OK;
}

static void finish_output(void *user, const char *name)
{
    note_call(user, "written", name);
}

START_TEST(callbacks_are_called_for_one_graph)
{
    fused f;
    poprt_stepio *io = NULL;
    talk t = { .f = &f };
    const poprt_stepio_callbacks callbacks = { .struct_size = sizeof(callbacks),
        .user = &t,
        .in = provide_input,
        .in_complete = finish_input,
        .out = provide_output,
        .out_complete = finish_output };
    fused_open(&f);
    ck_assert_ok(poprt_stepio_create_callbacks(f.session, &callbacks, &io));
    f.index = 1;
    ck_assert_ok(poprt_session_run(f.session, io));
    ck_assert_str_eq(t.order,
        "in index;in graph1/x;out graph1/y;read index;read graph1/x;written graph1/y;");
    ck_assert_float_eq(f.y[2], 9);
    f.index = 9;
    t.order[0] = '\0';
    ck_assert_fails(poprt_session_run(f.session, io), POPRT_E_ARG);
    ck_assert_str_eq(t.order, "in index;read index;");
    poprt_stepio_release(io);
    fused_close(&f);
}
END_TEST

/* ---- files */

START_TEST(popef_and_onnx_keep_the_fusion)
{
    fused f;
    buffer popef = { 0 };
    poprt_model *model = NULL, *again = NULL;
    poprt_executable *exec = NULL, *other = NULL;
    char path[] = "/tmp/poprt_fusion_XXXXXX";
    fused_open(&f);
    ck_assert_ok(poprt_executable_save(f.exec, buffer_write, &popef));
    ck_assert_ok(poprt_executable_load_bytes(f.env, popef.data, popef.size, NULL, &exec));
    ck_assert_uint_eq(poprt_executable_graph_count(exec), 3);
    poprt_executable_release(exec);
    free(popef.data);
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    (void)fclose(fdopen(file, "wb"));
    model = fuse_three(f.env);
    ck_assert_ok(poprt_model_save_file(model, path));
    ck_assert_ok(poprt_model_load_file(f.env, path, NULL, &again));
    ck_assert_ok(poprt_compile(again, NULL, &other));
    ck_assert_uint_eq(poprt_executable_graph_count(other), 3);
    (void)remove(path);
    poprt_executable_release(other);
    poprt_model_release(again);
    poprt_model_release(model);
    fused_close(&f);
}
END_TEST

START_TEST(unfusable_models_are_refused)
{
    poprt_env *env = NULL;
    poprt_model *a = NULL, *b = NULL, *out = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    ck_assert_ok(poprt_model_load_bytes(env, dense_model, sizeof(dense_model), NULL, &a));
    ck_assert_ok(poprt_model_load_bytes(NULL, dense_model, sizeof(dense_model), NULL, &b));
    const poprt_model *same[2] = { a, a }, *two[2] = { a, b }, *gap[2] = { a, NULL },
                      *front[2] = { NULL, a };
    ck_assert_fails(poprt_model_fuse(same, 2, &out), POPRT_E_SHAPE);
    ck_assert_str_eq(poprt_last_error()->subject, "x");
    ck_assert_fails(poprt_model_fuse(same, 1, &out), POPRT_E_ARG);
    ck_assert_fails(poprt_model_fuse(same, 0, &out), POPRT_E_ARG);
    ck_assert_fails(poprt_model_fuse(same, 65, &out), POPRT_E_ARG);
    ck_assert_fails(poprt_model_fuse(NULL, 2, &out), POPRT_E_ARG);
    ck_assert_fails(poprt_model_fuse(same, 2, NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_model_fuse(gap, 2, &out), POPRT_E_ARG);
    ck_assert_fails(poprt_model_fuse(front, 2, &out), POPRT_E_ARG);
    ck_assert_fails(poprt_model_fuse(two, 2, &out), POPRT_E_ARG);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "environment"));
    ck_assert_ptr_null(out);
    poprt_model_release(a);
    poprt_model_release(b);
    poprt_env_release(env);
}
END_TEST

PRT_TEST_MAIN("api/fusion", inputs_and_outputs_tell_their_graph, the_inputs_select_the_graph,
    a_fused_graph_may_have_sequences, an_index_must_agree_with_the_inputs,
    an_index_of_another_type_or_size_is_refused, outputs_of_other_graphs_are_not_written,
    callbacks_are_called_for_one_graph, popef_and_onnx_keep_the_fusion,
    unfusable_models_are_refused)
