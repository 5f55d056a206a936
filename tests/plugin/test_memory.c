/* SPDX-License-Identifier: MIT */
/*
 * test_memory.c — plug-ins with an allocator that refuses one request, tried for every request.
 * Covers: plugins.c.
 */
#include "plugin/plugin_test.h"

const poprt_plugin *packed_dense_entry(const poprt_host *host);

typedef struct counter {
    size_t calls, live, refuse_at;
} counter;

static void *count_alloc(void *user, size_t size, size_t align)
{
    counter *c = user;
    void *ptr = NULL;
    if (++c->calls == c->refuse_at || posix_memalign(&ptr, align, size) != 0)
        return NULL;
    memset(ptr, 0xa5, size); /* the library must not rely on zeroed memory */
    c->live++;
    return ptr;
}

static void count_release(void *user, void *ptr)
{
    counter *c = user;
    c->live--;
    free(ptr);
}

static poprt_status infer(const poprt_host *host, poprt_infer *c)
{
    const poprt_type type = { .dtype = POPRT_DTYPE_FLOAT32, .rank = -1 };
    return host->infer_output(c, 0, &type);
}

static poprt_status build(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    int32_t *changed)
{
    static const float two[] = { 2 };
    const char *const chains[] = { "Neg:1" };
    const poprt_tensor t = { .data = (void *)(uintptr_t)two,
        .size = 4,
        .dtype = POPRT_DTYPE_FLOAT32 };
    const poprt_attr mark = { .name = "mark",
        .kind = POPRT_ATTR_STRING,
        .string = "s",
        .count = 1 };
    poprt_value *in[2] = { host->graph_output(graph, 0), NULL };
    poprt_node *made = NULL;
    poprt_match *match = NULL;
    int32_t found = 0;
    const poprt_node_form form = { .struct_size = sizeof(form),
        .op_type = "Mul",
        .name = "twice",
        .inputs = in,
        .attrs = &mark,
        .n_inputs = 2,
        .n_outputs = 1,
        .n_attrs = 1 };
    poprt_status status = host->graph_add_constant(graph, "two", &t, &in[1]);
    if (status == POPRT_OK)
        status = host->graph_add_node(graph, NULL, &form, &made);
    if (status == POPRT_OK)
        status = host->pattern_create(pass, chains, 1, &match);
    if (status == POPRT_OK)
        status = host->pattern_next(match, graph, &found);
    *changed = 1;
    return status;
}

static poprt_status run_model_life(counter *c, const poprt_plugin *pass, const poprt_plugin *op)
{
    const poprt_allocator allocator = { .user = c, .alloc = count_alloc, .release = count_release };
    const poprt_env_options options = { .struct_size = sizeof(options), .allocator = &allocator };
    poprt_env *env = NULL;
    poprt_model *model = NULL;
    poprt_pass_manager *manager = NULL;
    poprt_status status = poprt_env_create(&options, &env);
    if (status == POPRT_OK)
        status = poprt_env_add_plugin(env, pass);
    if (status == POPRT_OK)
        status = poprt_env_add_plugin(env, op);
    if (status == POPRT_OK)
        status = poprt_model_load_file(env, MODEL("negs"), NULL, &model);
    if (status == POPRT_OK)
        status = poprt_pass_manager_create(env, &manager);
    if (status == POPRT_OK)
        status = poprt_pass_manager_add(manager, "try_it", NULL);
    if (status == POPRT_OK)
        status = poprt_pass_manager_run(manager, model);
    poprt_pass_manager_release(manager);
    poprt_model_release(model);
    poprt_env_release(env);
    return status;
}

/* Compiles a model with one lowered operator, writes and reads PopEF, and runs it. */
static poprt_status run_kernel_life(counter *c, const poprt_plugin *dense)
{
    static float x[24];
    const poprt_allocator allocator = { .user = c, .alloc = count_alloc, .release = count_release };
    const poprt_env_options options = { .struct_size = sizeof(options), .allocator = &allocator };
    const int64_t in_dims[] = { 1, 24 };
    const poprt_tensor in = { .data = x,
        .size = sizeof(x),
        .dims = in_dims,
        .rank = 2,
        .dtype = POPRT_DTYPE_FLOAT32 };
    buffer file = { NULL, 0 };
    poprt_env *env = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL, *again = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_status status = poprt_env_create(&options, &env);
    if (status == POPRT_OK)
        status = poprt_env_add_plugin(env, dense);
    if (status == POPRT_OK)
        status = poprt_model_load_file(env, MODEL("dense"), NULL, &model);
    if (status == POPRT_OK)
        status = poprt_compile(model, NULL, &exec);
    if (status == POPRT_OK)
        status = poprt_executable_save(exec, buffer_write, &file);
    if (status == POPRT_OK)
        status = poprt_executable_load_bytes(env, file.data, file.size, NULL, &again);
    if (status == POPRT_OK)
        status = poprt_session_create(again, NULL, &session);
    if (status == POPRT_OK)
        status = poprt_stepio_create(session, &io);
    if (status == POPRT_OK)
        status = poprt_stepio_bind(io, "x", &in);
    if (status == POPRT_OK)
        status = poprt_session_run(session, io);
    if (status == POPRT_OK) { /* later runs allocate nothing */
        const size_t calls = c->calls;
        ck_assert_ok(poprt_session_run(session, io));
        ck_assert_uint_eq(c->calls, calls);
    }
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(again);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_env_release(env);
    free(file.data);
    return status;
}

START_TEST(refused_memory_of_kernels_is_an_error)
{
    const poprt_host host = { .struct_size = sizeof(host), .abi = POPRT_PLUGIN_ABI };
    poprt_status status = POPRT_E_NOMEM;
    size_t at = 0;
    while (status != POPRT_OK) {
        counter c = { .refuse_at = ++at };
        status = run_kernel_life(&c, packed_dense_entry(&host));
        ck_assert_uint_eq(c.live, 0);
        if (status != POPRT_OK)
            ck_assert_fails(status, POPRT_E_NOMEM);
    }
    ck_assert_uint_gt(at, 40);
}
END_TEST

START_TEST(refused_memory_is_an_error)
{
    static const int64_t list[] = { 1, 2 };
    const poprt_attr attrs[] = {
        { .name = "a", .kind = POPRT_ATTR_INTS, .ints = list, .count = 2 },
    };
    const poprt_plugin_op leaky = { .struct_size = sizeof(leaky),
        .domain = "custom.ops",
        .name = "LeakyRelu",
        .since = 1,
        .min_inputs = 1,
        .max_inputs = POPRT_PLUGIN_ANY,
        .min_outputs = 1,
        .max_outputs = 1,
        .attrs = attrs,
        .n_attrs = 1,
        .infer = infer };
    const poprt_plugin_op *const ops[] = { &leaky };
    const poprt_plugin op = { .struct_size = sizeof(op),
        .abi = POPRT_PLUGIN_ABI,
        .name = "op",
        .version = "0",
        .ops = ops,
        .n_ops = 1 };
    one_pass p;
    poprt_status status = POPRT_E_NOMEM;
    size_t at = 0;
    make_pass(&p, build);
    while (status != POPRT_OK) {
        counter c = { .refuse_at = ++at };
        status = run_model_life(&c, &p.plugin, &op);
        ck_assert_uint_eq(c.live, 0);
        if (status != POPRT_OK)
            ck_assert_fails(status, POPRT_E_NOMEM);
    }
    ck_assert_uint_gt(at, 20);
}
END_TEST

PRT_TEST_MAIN("plugin/memory", refused_memory_is_an_error, refused_memory_of_kernels_is_an_error)
