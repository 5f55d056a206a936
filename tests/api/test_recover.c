/* SPDX-License-Identifier: MIT */
/*
 * test_recover.c — categories of errors, and poprt_session_recover after injected faults:
 * callbacks, plug-ins and allocators that fail, and cancelled runs.
 */
#include "lesson.h"

#include "poprt/builder.h"
#include "poprt/plugin.h"

#undef fail /* of check.h: also a member of poprt_host */

/* ---- categories */

START_TEST(every_status_has_a_category_and_an_action)
{
    static const struct {
        poprt_status status;
        int32_t category, action;
    } rows[] = { { POPRT_OK, POPRT_ERROR_NONE, POPRT_RECOVERY_NONE },
        { POPRT_E_NOMEM, POPRT_ERROR_OUT_OF_MEMORY, POPRT_RECOVERY_NONE },
        { POPRT_E_ARG, POPRT_ERROR_APPLICATION, POPRT_RECOVERY_NONE },
        { POPRT_E_STATE, POPRT_ERROR_APPLICATION, POPRT_RECOVERY_NONE },
        { POPRT_E_UNSUPPORTED, POPRT_ERROR_APPLICATION, POPRT_RECOVERY_NONE },
        { POPRT_E_NOT_FOUND, POPRT_ERROR_APPLICATION, POPRT_RECOVERY_NONE },
        { POPRT_E_IO, POPRT_ERROR_RECOVERABLE, POPRT_RECOVERY_IPU_RESET },
        { POPRT_E_PLUGIN, POPRT_ERROR_RECOVERABLE, POPRT_RECOVERY_IPU_RESET },
        { POPRT_E_CANCELLED, POPRT_ERROR_RECOVERABLE, POPRT_RECOVERY_IPU_RESET },
        { POPRT_E_DEVICE, POPRT_ERROR_RECOVERABLE, POPRT_RECOVERY_PARTITION_RESET },
        { POPRT_E_INTERNAL, POPRT_ERROR_UNRECOVERABLE, POPRT_RECOVERY_NONE },
        { 99, POPRT_ERROR_UNRECOVERABLE, POPRT_RECOVERY_NONE },
        { -1, POPRT_ERROR_UNRECOVERABLE, POPRT_RECOVERY_NONE } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ck_assert_int_eq(poprt_status_category(rows[i].status), rows[i].category);
        ck_assert_int_eq(poprt_status_recovery(rows[i].status), rows[i].action);
    }
    for (poprt_status s = POPRT_E_NOMEM; s <= POPRT_E_INTERNAL; s++)
        ck_assert_int_ne(poprt_status_category(s), POPRT_ERROR_NONE);
    ck_assert_str_eq(poprt_error_category_name(POPRT_ERROR_OUT_OF_MEMORY), "out of memory");
    ck_assert_str_eq(poprt_error_category_name(5), "?");
    ck_assert_str_eq(poprt_recovery_name(POPRT_RECOVERY_IPU_RESET), "IPU_RESET");
    ck_assert_str_eq(poprt_recovery_name(POPRT_RECOVERY_LINK_RESET), "LINK_RESET");
    ck_assert_str_eq(poprt_recovery_name(POPRT_RECOVERY_FULL_RESET), "FULL_RESET");
    ck_assert_str_eq(poprt_recovery_name(-1), "?");

    poprt_model *model = NULL;
    ck_assert_fails(poprt_model_load_file(NULL, "/nowhere.onnx", NULL, &model), POPRT_E_NOT_FOUND);
    ck_assert_int_eq(poprt_last_error()->category, POPRT_ERROR_APPLICATION);
    ck_assert_str_eq(poprt_last_error()->location, "");
    ck_assert_uint_eq(poprt_last_error()->struct_size, sizeof(poprt_error));
}
END_TEST

/* ---- an allocator that refuses */

enum { HEADER = 64 };

typedef struct faulty {
    long left;   /* allocations until the first refusal; negative: no refusal */
    size_t held; /* bytes */
} faulty;

static void *faulty_alloc(void *user, size_t size, size_t align)
{
    faulty *f = user;
    if (f->left == 0)
        return NULL;
    f->left -= f->left > 0;
    char *p = aligned_alloc(align > HEADER ? align : HEADER,
        (size + HEADER + HEADER - 1) / HEADER * HEADER);
    ck_assert_ptr_nonnull(p);
    memcpy(p, &size, sizeof(size));
    f->held += size;
    return p + HEADER;
}

static void faulty_release(void *user, void *ptr)
{
    faulty *f = user;
    size_t size;
    memcpy(&size, (char *)ptr - HEADER, sizeof(size));
    f->held -= size;
    free((char *)ptr - HEADER);
}

static poprt_env *faulty_env(faulty *f)
{
    const poprt_allocator allocator = { .user = f,
        .alloc = faulty_alloc,
        .release = faulty_release };
    const poprt_env_options options = { .struct_size = sizeof(options), .allocator = &allocator };
    poprt_env *env = NULL;
    ck_assert_ok(poprt_env_create(&options, &env));
    return env;
}

/* Runs a digit with the outputs in memory of the session. */
static poprt_status run_digit(poprt_session *session, float scores[10])
{
    poprt_stepio *io = NULL;
    poprt_tensor out;
    digit d;
    digit_init(&d, 5);
    poprt_status status = poprt_stepio_create(session, &io);
    if (status == POPRT_OK)
        status = poprt_stepio_bind(io, "image", &d.in);
    if (status == POPRT_OK)
        status = poprt_session_run(session, io);
    if (status == POPRT_OK)
        status = poprt_stepio_output(io, 1, &out);
    if (status == POPRT_OK)
        memcpy(scores, out.data, sizeof(float) * 10);
    poprt_stepio_release(io);
    return status;
}

/* `batch`: value of the symbolic dimension at the creation of the session; NULL: not set. */
static void check_refusals(const char *batch)
{
    faulty f = { .left = -1 };
    poprt_env *env = faulty_env(&f);
    poprt_executable *exec = compile_digits(env);
    poprt_session *session = NULL;
    poprt_config *config = NULL;
    float expected[10], found[10];
    digit_expect(exec, 5, expected);
    ck_assert_ok(poprt_config_create(env, &config));
    if (batch != NULL)
        ck_assert_ok(poprt_config_set(config, "dim.batch", batch));
    ck_assert_ok(poprt_session_create(exec, config, &session));
    poprt_config_release(config);
    const size_t created = poprt_session_memory(session);
    int refusals = 0;
    for (long n = 0;; n++) {
        f.left = n;
        const poprt_status status = run_digit(session, found);
        f.left = -1;
        if (status == POPRT_OK)
            break;
        refusals++;
        ck_assert_int_eq(status, POPRT_E_NOMEM);
        ck_assert_int_eq(poprt_last_error()->category, POPRT_ERROR_OUT_OF_MEMORY);
        ck_assert_ok(poprt_session_recover(session));
        ck_assert_uint_le(poprt_session_memory(session), created);
        ck_assert_ok(run_digit(session, found));
        ck_assert_mem_eq(found, expected, sizeof(expected));
        ck_assert_uint_gt(poprt_session_memory(session), created);
        ck_assert_ok(poprt_session_recover(session));
        ck_assert_uint_le(poprt_session_memory(session), created);
    }
    ck_assert_int_ge(refusals, 2);
    ck_assert_mem_eq(found, expected, sizeof(expected));

    /* Recovering may itself find no memory; then it is called again. */
    f.left = 0;
    ck_assert_fails(poprt_session_recover(session), POPRT_E_NOMEM);
    f.left = -1;
    ck_assert_ok(poprt_session_recover(session));
    ck_assert_ok(run_digit(session, found));
    ck_assert_mem_eq(found, expected, sizeof(expected));
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_env_release(env);
    ck_assert_uint_eq(f.held, 0);
}

START_TEST(a_refused_allocation_is_recovered_from)
{
    check_refusals(NULL);
    check_refusals("1");
}
END_TEST

/* ---- callbacks */

typedef struct source {
    digit d;
    poprt_session *session;
    poprt_status fault; /* status that `in` returns once */
    bool cancels;       /* `in` cancels the run */
} source;

static poprt_status fill_image(void *user, const char *name, poprt_tensor *tensor)
{
    source *s = user;
    (void)name;
    const poprt_status fault = s->fault;
    s->fault = POPRT_OK;
    *tensor = s->d.in;
    if (s->cancels)
        poprt_session_cancel(s->session);
    s->cancels = false;
    return fault;
}

static poprt_status take_scores(void *user, const char *name, poprt_tensor *tensor)
{
    source *s = user;
    (void)name;
    *tensor = s->d.out;
    return POPRT_OK;
}

START_TEST(a_failed_callback_and_a_cancelled_run_are_recovered_from)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_stepio *io = NULL;
    float expected[10];
    source s = { .fault = POPRT_E_IO };
    const poprt_stepio_callbacks callbacks = { .struct_size = sizeof(callbacks),
        .user = &s,
        .in = fill_image,
        .out = take_scores };
    digit_expect(exec, 5, expected);
    digit_init(&s.d, 5);
    ck_assert_ok(poprt_session_create(exec, NULL, &s.session));
    ck_assert_ok(poprt_stepio_create_callbacks(s.session, &callbacks, &io));
    ck_assert_int_eq(poprt_session_run(s.session, io), POPRT_E_IO);
    ck_assert_int_eq(poprt_last_error()->action, POPRT_RECOVERY_IPU_RESET);
    ck_assert_ok(poprt_session_recover(s.session));
    ck_assert_ok(poprt_session_run(s.session, io));
    ck_assert_mem_eq(s.d.scores, expected, sizeof(expected));

    s.cancels = true;
    ck_assert_fails(poprt_session_run(s.session, io), POPRT_E_CANCELLED);
    ck_assert_int_eq(poprt_last_error()->category, POPRT_ERROR_RECOVERABLE);
    ck_assert_ok(poprt_session_recover(s.session));
    memset(s.d.scores, 0, sizeof(s.d.scores));
    ck_assert_ok(poprt_session_run(s.session, io));
    ck_assert_mem_eq(s.d.scores, expected, sizeof(expected));

    s.fault = POPRT_E_INTERNAL;
    ck_assert_int_eq(poprt_session_run(s.session, io), POPRT_E_INTERNAL);
    ck_assert_fails(poprt_session_recover(s.session), POPRT_E_STATE);
    ck_assert_str_eq(poprt_last_error()->stage, "recover");
    ck_assert_fails(poprt_session_recover(NULL), POPRT_E_ARG);
    poprt_stepio_release(io);
    poprt_session_release(s.session);
    poprt_executable_release(exec);
}
END_TEST

/* Calls recover inside of a run. */
static poprt_status recover_in(void *user, const char *name, poprt_tensor *tensor)
{
    source *s = user;
    ck_assert_int_eq(poprt_session_recover(s->session), POPRT_E_STATE);
    return fill_image(user, name, tensor);
}

START_TEST(a_running_session_is_left_alone)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_stepio *io = NULL;
    float expected[10];
    source s = { .fault = POPRT_OK };
    const poprt_stepio_callbacks callbacks = { .struct_size = sizeof(callbacks),
        .user = &s,
        .in = recover_in,
        .out = take_scores };
    digit_expect(exec, 5, expected);
    digit_init(&s.d, 5);
    ck_assert_ok(poprt_session_create(exec, NULL, &s.session));
    ck_assert_ok(poprt_stepio_create_callbacks(s.session, &callbacks, &io));
    ck_assert_ok(poprt_session_run(s.session, io));
    ck_assert_mem_eq(s.d.scores, expected, sizeof(expected));
    poprt_stepio_release(io);
    poprt_session_release(s.session);
    poprt_executable_release(exec);
}
END_TEST

/* ---- a plug-in */

static poprt_status fault_of_kernel;

static poprt_status infer_same(const poprt_host *host, poprt_infer *c)
{
    poprt_type type;
    const poprt_status status = host->infer_input(c, 0, &type);
    return status == POPRT_OK ? host->infer_output(c, 0, &type) : status;
}

static poprt_status eval_twice(const poprt_host *host, poprt_eval *c)
{
    poprt_tensor x, y;
    poprt_status status = host->eval_input(c, 0, &x);
    if (status == POPRT_OK)
        status = host->eval_output(c, 0, x.dtype, x.rank, x.dims, &y);
    if (status != POPRT_OK)
        return status;
    for (size_t i = 0; i < x.size / sizeof(float); i++)
        ((float *)y.data)[i] = 2 * ((const float *)x.data)[i];
    return fault_of_kernel != POPRT_OK
        ? host->fail(fault_of_kernel, NULL, "the coprocessor does not answer")
        : POPRT_OK;
}

static const poprt_plugin_op twice_op = { .struct_size = sizeof(twice_op),
    .domain = "custom.ops",
    .name = "Twice",
    .since = 1,
    .min_inputs = 1,
    .max_inputs = 1,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer_same,
    .eval = eval_twice };
static const poprt_plugin_op *const plugin_ops[] = { &twice_op };
static const poprt_plugin plugin = { .struct_size = sizeof(plugin),
    .abi = POPRT_PLUGIN_ABI,
    .name = "twice",
    .version = "1",
    .ops = plugin_ops,
    .n_ops = 1 };

/* Builds y = Twice(x) of float32[n]. */
static poprt_executable *compile_twice(void)
{
    static const char *const dim_names[] = { "n" };
    const poprt_type type = { .dtype = POPRT_DTYPE_FLOAT32, .rank = 1, .dims = { -1 } };
    poprt_env *env = NULL;
    poprt_builder *builder = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    ck_assert_ok(poprt_env_add_plugin(env, &plugin));
    ck_assert_ok(poprt_builder_create(env, 0, &builder));
    const poprt_id x = poprt_builder_input(builder, "x", &type, dim_names);
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .domain = "custom.ops",
        .op_type = "Twice",
        .name = "doubling",
        .inputs = &x,
        .n_inputs = 1,
        .n_outputs = 1 };
    (void)poprt_builder_output(builder, poprt_builder_op(builder, &op, NULL));
    ck_assert_ok(poprt_builder_finish(builder, &model));
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    poprt_model_release(model);
    poprt_builder_release(builder);
    poprt_env_release(env);
    return exec;
}

START_TEST(a_failed_kernel_of_a_plugin_is_recovered_from)
{
    const int64_t n = 3;
    float x[3] = { 1, -2, 3 };
    const poprt_tensor in = { x, sizeof(x), &n, 1, POPRT_DTYPE_FLOAT32 };
    poprt_executable *exec = compile_twice();
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_tensor out;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "x", &in));
    fault_of_kernel = POPRT_E_PLUGIN;
    ck_assert_fails(poprt_session_run(session, io), POPRT_E_PLUGIN);
    ck_assert_str_eq(poprt_last_error()->subject, "doubling");
    ck_assert_int_eq(poprt_last_error()->category, POPRT_ERROR_RECOVERABLE);
    fault_of_kernel = POPRT_OK;
    ck_assert_ok(poprt_session_recover(session));
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_ok(poprt_stepio_output(io, 1, &out));
    for (int i = 0; i < 3; i++)
        ck_assert_float_eq(((const float *)out.data)[i], 2 * x[i]);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
}
END_TEST

/* ---- training */

/* Blocks of a lesson through callbacks, which fail at one of them. */
typedef struct blocks {
    lesson *l;
    uint32_t at[2], asked; /* next block of x and y; blocks asked for */
    uint32_t fails_at;     /* 0: never */
    float loss[64];
} blocks;

static poprt_status fill_block(void *user, const char *name, poprt_tensor *tensor)
{
    static const int64_t x_dims[] = { ROWS, IN }, y_dims[] = { ROWS, OUT };
    blocks *b = user;
    const bool is_x = strcmp(name, "x") == 0;
    const uint32_t i = b->at[!is_x]++;
    if (++b->asked == b->fails_at)
        return POPRT_E_IO;
    *tensor = (poprt_tensor){ .data = is_x ? b->l->x[i % 64] : b->l->y[i % 64],
        .size = is_x ? sizeof(b->l->x[0]) : sizeof(b->l->y[0]),
        .dims = is_x ? x_dims : y_dims,
        .rank = 2,
        .dtype = POPRT_DTYPE_FLOAT32 };
    return POPRT_OK;
}

static poprt_status take_block(void *user, const char *name, poprt_tensor *tensor)
{
    blocks *b = user;
    (void)name;
    *tensor =
        (poprt_tensor){ .data = b->loss, .size = sizeof(b->loss), .dtype = POPRT_DTYPE_FLOAT32 };
    return POPRT_OK;
}

static uint64_t updates_of(poprt_session *session)
{
    poprt_train_progress progress = { .struct_size = sizeof(progress) };
    ck_assert_ok(poprt_session_get_progress(session, &progress));
    return progress.updates;
}

/* A step of four batches fails at one of its blocks. Afterwards the session has made the updates of
 * the batches before, and goes on with the bits of a session that makes one batch a step and never
 * fails. */
static void check_fault(uint32_t fault)
{
    enum { BATCHES = 4 };
    lesson *l = lesson_begin("adam", BATCHES), *single = lesson_begin("adam", 1);
    poprt_session *session = lesson_session(l), *plain = lesson_session(single);
    blocks b = { .l = l, .fails_at = fault }, good = { .l = single };
    poprt_stepio_callbacks callbacks = { .struct_size = sizeof(callbacks),
        .user = &b,
        .in = fill_block,
        .out = take_block };
    poprt_stepio *io = NULL, *plain_io = NULL;
    ck_assert_ok(poprt_stepio_create_callbacks(session, &callbacks, &io));
    callbacks.user = &good;
    ck_assert_ok(poprt_stepio_create_callbacks(plain, &callbacks, &plain_io));
    ck_assert_int_eq(poprt_session_run(session, io), POPRT_E_IO);
    ck_assert_ok(poprt_session_recover(session));
    const uint64_t made = updates_of(session);
    ck_assert_uint_eq(made, (fault - 1) / 2);
    b.at[0] = b.at[1] = (uint32_t)made; /* the data that follow the last whole update */
    ck_assert_ok(poprt_session_run(session, io));
    for (uint64_t i = 0; i < made + BATCHES; i++)
        ck_assert_ok(poprt_session_run(plain, plain_io));
    float w[2][IN * OUT], bias[2][OUT];
    lesson_weights(session, w[0], bias[0]);
    lesson_weights(plain, w[1], bias[1]);
    ck_assert_mem_eq(w[0], w[1], sizeof(w[0]));
    ck_assert_mem_eq(bias[0], bias[1], sizeof(bias[0]));
    poprt_stepio_release(plain_io);
    poprt_stepio_release(io);
    poprt_session_release(plain);
    poprt_session_release(session);
    lesson_end(single);
    lesson_end(l);
}

START_TEST(training_continues_from_the_last_whole_update)
{
    for (uint32_t fault = 1; fault <= 8; fault++)
        check_fault(fault);
}
END_TEST

PRT_TEST_MAIN("api/recover", every_status_has_a_category_and_an_action,
    a_refused_allocation_is_recovered_from,
    a_failed_callback_and_a_cancelled_run_are_recovered_from, a_running_session_is_left_alone,
    a_failed_kernel_of_a_plugin_is_recovered_from, training_continues_from_the_last_whole_update)
