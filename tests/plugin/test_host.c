/* SPDX-License-Identifier: MIT */
/*
 * test_host.c — plug-ins that are part of the program: the host functions for passes and
 * operators, and the calls that the host refuses.
 * Covers: attr.c, edits.c, graphs.c, op.c, pass.c.
 */
#include "plugin/plugin_test.h"

static const float x[] = { -4, -1, 0, 1, 2, -0.5f };

/* Runs a function as a pass on a model and returns the model. */
static poprt_status run_on(run_fn run, const char *path, poprt_model **model)
{
    one_pass p;
    make_pass(&p, run);
    poprt_env *env = make_env();
    ck_assert_ok(poprt_env_add_plugin(env, &p.plugin));
    *model = load_model(env, path);
    const poprt_status status = run_pass(env, *model, "try_it");
    poprt_env_release(env);
    return status;
}

static void run_and_release(run_fn run, const char *path)
{
    poprt_model *model = NULL;
    ck_assert_ok(run_on(run, path, &model));
    poprt_model_release(model);
}

/* ---- questions */

static poprt_status query_graph(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    int32_t *changed)
{
    poprt_node *leak = host->graph_first(graph), *plus = host->node_next(leak);
    poprt_attr alpha;
    poprt_type type;
    poprt_tensor one;
    uint32_t slot = 99;
    (void)changed;
    ck_assert_uint_eq(host->abi, POPRT_PLUGIN_ABI);
    ck_assert_uint_eq(host->struct_size, sizeof(*host));
    ck_assert_str_eq(host->library, poprt_version());
    ck_assert_ptr_null(host->node_next(plus));
    ck_assert_str_eq(host->node_op_type(leak), "LeakyRelu");
    ck_assert_str_eq(host->node_domain(leak), "custom.ops");
    ck_assert_str_eq(host->node_name(leak), "leak");
    ck_assert_str_eq(host->node_domain(plus), "");
    ck_assert_ptr_eq(host->node_graph(plus), graph);
    ck_assert_uint_eq(host->node_subgraphs(plus), 0);
    ck_assert_ptr_null(host->node_subgraph(plus, 0));
    ck_assert_uint_eq(host->graph_inputs(graph), 1);
    ck_assert_uint_eq(host->graph_outputs(graph), 1);
    ck_assert_uint_eq(host->node_inputs(plus), 2);
    ck_assert_uint_eq(host->node_outputs(plus), 1);
    ck_assert_ptr_eq(host->graph_input(graph, 0), host->node_input(leak, 0));
    ck_assert_ptr_null(host->graph_input(graph, 1));
    ck_assert_ptr_eq(host->graph_output(graph, 0), host->node_output(plus, 0));
    ck_assert_ptr_null(host->graph_output(graph, 1));
    ck_assert_ptr_null(host->node_output(plus, 1));
    ck_assert_ptr_null(host->node_input(plus, 2));

    poprt_value *in = host->graph_input(graph, 0), *mid = host->node_output(leak, 0);
    poprt_value *constant = host->node_input(plus, 1);
    ck_assert_str_eq(host->value_name(in), "x");
    ck_assert_ptr_null(host->value_maker(in));
    ck_assert_ptr_eq(host->value_maker(mid), leak);
    ck_assert_ptr_eq(host->value_reader(mid, 0, &slot), plus);
    ck_assert_uint_eq(slot, 0);
    ck_assert_ptr_eq(host->value_reader(constant, 0, &slot), plus);
    ck_assert_uint_eq(slot, 1);
    ck_assert_ptr_null(host->value_reader(mid, 1, NULL));
    ck_assert_int_eq(host->value_is_output(mid), 0);
    ck_assert_int_eq(host->value_is_output(host->node_output(plus, 0)), 1);
    ck_assert_ptr_null(host->value_reader(host->node_output(plus, 0), 0, NULL));
    ck_assert_int_eq(host->value_type(in, &type), POPRT_OK);
    ck_assert_int_eq(type.dtype, POPRT_DTYPE_FLOAT32);
    ck_assert_int_eq(type.rank, 2);
    ck_assert_int_lt(type.dims[0], 0);
    ck_assert_int_eq(type.dims[1], 3);
    ck_assert_int_eq(host->value_constant(pass, constant, &one), POPRT_OK);
    ck_assert_uint_eq(one.size, 4);
    ck_assert_float_eq(*(const float *)one.data, 1);
    ck_assert_fails(host->value_constant(pass, in, &one), POPRT_E_NOT_FOUND);
    ck_assert_int_eq(host->node_attr(leak, "alpha", &alpha), POPRT_OK);
    ck_assert_int_eq(alpha.kind, POPRT_ATTR_FLOAT);
    ck_assert_float_eq(alpha.real, 0.25f);
    ck_assert_fails(host->node_attr(leak, "beta", &alpha), POPRT_E_NOT_FOUND);
    ck_assert_int_eq(host->pass_check(pass), POPRT_OK);
    void *block = host->allocate(host, 100);
    ck_assert_ptr_nonnull(block);
    memset(block, 1, 100);
    host->release(host, block);
    host->release(host, NULL);
    return POPRT_OK;
}

START_TEST(graphs_can_be_queried)
{
    run_and_release(query_graph, MODEL("leaky"));
}
END_TEST

/* ---- edits */

/* Builds y = Clip(Transpose(Transpose(x)) * 3) with attributes, constants and an absent input. */
static poprt_status build_clip(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    int32_t *changed)
{
    static const int64_t swap[] = { 1, 0 }, dims[] = { 1 };
    static const float three[] = { 3 }, most[] = { 2 };
    const poprt_attr perm = { .name = "perm", .kind = POPRT_ATTR_INTS, .count = 2, .ints = swap };
    const poprt_tensor factor = { .data = (void *)(uintptr_t)three,
        .size = 4,
        .dims = dims,
        .rank = 1,
        .dtype = POPRT_DTYPE_FLOAT32 };
    const poprt_tensor bound = { .data = (void *)(uintptr_t)most,
        .size = 4,
        .dtype = POPRT_DTYPE_FLOAT32 };
    poprt_value *v = host->graph_input(graph, 0), *c = NULL, *max = NULL;
    poprt_node *node = NULL;
    poprt_attr seen;
    poprt_type type;
    poprt_node_form form = { .struct_size = sizeof(form),
        .op_type = "Transpose",
        .inputs = &v,
        .attrs = &perm,
        .n_inputs = 1,
        .n_outputs = 1,
        .n_attrs = 1 };
    for (int i = 0; i < 2; i++) {
        ck_assert_ok(host->graph_add_node(graph, NULL, &form, &node));
        ck_assert_ok(host->node_attr(node, "perm", &seen));
        ck_assert_uint_eq(seen.count, 2);
        ck_assert_int_eq(seen.ints[0], 1);
        v = host->node_output(node, 0);
        ck_assert_ok(host->value_type(v, &type));
        ck_assert_int_eq(type.dims[0], i == 0 ? 3 : 2);
    }
    ck_assert_ok(host->graph_add_constant(graph, "x", &factor, &c)); /* the name is taken */
    ck_assert_str_ne(host->value_name(c), "x");
    ck_assert_ok(host->graph_add_constant(graph, NULL, &bound, &max));
    poprt_value *const factors[] = { v, c };
    form = (poprt_node_form){ .struct_size = sizeof(form),
        .domain = "ai.onnx",
        .op_type = "Mul",
        .name = "product",
        .inputs = factors,
        .n_inputs = 2,
        .n_outputs = 1 };
    ck_assert_ok(host->graph_add_node(graph, NULL, &form, &node));
    poprt_value *const clip[] = { host->node_output(node, 0), NULL, NULL };
    form = (poprt_node_form){ .struct_size = sizeof(form),
        .domain = "",
        .op_type = "Clip",
        .inputs = clip,
        .n_inputs = 3,
        .n_outputs = 1 };
    ck_assert_ok(host->graph_add_node(graph, NULL, &form, &node));
    ck_assert_ok(host->node_set_input(node, 2, max));
    ck_assert_fails(host->node_set_input(node, 3, max), POPRT_E_ARG);
    ck_assert_ok(host->value_replace(host->graph_output(graph, 0), host->node_output(node, 0)));
    ck_assert_str_eq(host->value_name(host->graph_output(graph, 0)), "y");
    (void)pass;
    *changed = 1;
    return POPRT_OK;
}

START_TEST(graphs_can_be_edited)
{
    static const float expected[] = { -12, -3, 0, 2, 2, -1.5f };
    poprt_model *model = NULL;
    ck_assert_ok(run_on(build_clip, MODEL("negs"), &model));
    char *text = text_of(model);
    ck_assert_ptr_null(strstr(text, "neg"));
    free(text);
    expect_result(model, x, expected);
    poprt_model_release(model);
}
END_TEST

/* Sets marks on nodes of known and unknown operators. */
static poprt_status set_marks(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    int32_t *changed)
{
    static const int64_t list[] = { 1 };
    poprt_node *leak = host->graph_first(graph), *made = NULL;
    poprt_value *in = host->graph_input(graph, 0);
    const poprt_attr attrs[] = {
        { .name = "__number", .kind = POPRT_ATTR_INT, .integer = 7 },
        { .name = "share", .kind = POPRT_ATTR_FLOAT, .real = 0.5f },
        { .name = "note", .kind = POPRT_ATTR_STRING, .string = "hello", .count = 4 },
    };
    const poprt_tensor tensor = { .data = (void *)(uintptr_t)list,
        .size = sizeof(list[0]),
        .dtype = POPRT_DTYPE_INT64 };
    const poprt_attr more = poprt_attr_tensor("list", &tensor);
    const poprt_attr wrong = { .name = "alpha", .kind = 10 };
    poprt_attr seen;
    const poprt_node_form form = { .struct_size = sizeof(form),
        .domain = "else.where",
        .op_type = "Nobody",
        .inputs = &in,
        .attrs = attrs,
        .n_inputs = 1,
        .n_outputs = 1,
        .n_attrs = 3 };
    for (int i = 0; i < 3; i++)
        ck_assert_ok(host->node_set_attr(leak, &attrs[i]));
    ck_assert_ok(host->graph_add_node(graph, leak, &form, &made));
    for (int i = 0; i < 2; i++) {
        poprt_node *node = i == 0 ? leak : made;
        ck_assert_ok(host->node_attr(node, "__number", &seen));
        ck_assert_int_eq(seen.integer, 7);
        ck_assert_ok(host->node_attr(node, "share", &seen));
        ck_assert_float_eq(seen.real, 0.5f);
        ck_assert_ok(host->node_attr(node, "note", &seen));
        ck_assert_int_eq(seen.kind, POPRT_ATTR_STRING);
        ck_assert_uint_eq(seen.count, 4);
        ck_assert_int_eq(memcmp(seen.string, "hell", 4), 0);
        ck_assert_fails(host->node_set_attr(node, &more), POPRT_E_UNSUPPORTED);
    }
    ck_assert_fails(host->node_set_attr(leak, &wrong), POPRT_E_ARG);
    ck_assert_ok(host->node_remove(made));
    ck_assert_fails(host->node_remove(made), POPRT_E_STATE);
    ck_assert_fails(host->node_set_attr(made, &attrs[0]), POPRT_E_STATE);
    ck_assert_ptr_null(host->node_graph(made));
    ck_assert_uint_eq(host->node_outputs(made), 0);
    ck_assert_ptr_eq(host->node_next(made), leak);
    ck_assert_fails(host->node_remove(leak), POPRT_E_STATE);
    (void)pass;
    *changed = 1;
    return POPRT_OK;
}

START_TEST(attributes_can_be_marks)
{
    run_and_release(set_marks, MODEL("leaky"));
}
END_TEST

/* A refused edit changes nothing. */
static poprt_status try_wrong_edits(const poprt_host *host, poprt_pass_run *pass,
    poprt_graph *graph, int32_t *changed)
{
    const int64_t dims[] = { -1 }, two[] = { 2 };
    const float one[] = { 1 };
    poprt_node *made = NULL, *first = host->graph_first(graph);
    poprt_value *v = host->graph_input(graph, 0), *out = NULL;
    poprt_value *const three[] = { v, v, v };
    poprt_node_form form = { .struct_size = sizeof(form),
        .op_type = "Neg",
        .inputs = three,
        .n_inputs = 3,
        .n_outputs = 1 };
    ck_assert_fails(host->graph_add_node(graph, NULL, &form, &made), POPRT_E_ARG);
    form.n_inputs = 0;
    ck_assert_fails(host->graph_add_node(graph, NULL, &form, &made), POPRT_E_PARSE);
    form = (poprt_node_form){ .struct_size = sizeof(form),
        .op_type = "If",
        .inputs = three,
        .n_inputs = 1,
        .n_outputs = 1 };
    ck_assert_fails(host->graph_add_node(graph, NULL, &form, &made), POPRT_E_UNSUPPORTED);
    form.op_type = NULL;
    ck_assert_fails(host->graph_add_node(graph, NULL, &form, &made), POPRT_E_ARG);
    form.op_type = "Neg";
    form.inputs = NULL;
    ck_assert_fails(host->graph_add_node(graph, NULL, &form, &made), POPRT_E_ARG);
    form.struct_size = 8;
    ck_assert_fails(host->graph_add_node(graph, NULL, &form, &made), POPRT_E_PLUGIN);
    ck_assert_ptr_null(made);

    poprt_tensor t = { .data = (void *)(uintptr_t)one,
        .size = 4,
        .dims = dims,
        .rank = 1,
        .dtype = POPRT_DTYPE_FLOAT32 };
    ck_assert_fails(host->graph_add_constant(graph, NULL, &t, &out), POPRT_E_ARG);
    t.dims = two;
    ck_assert_fails(host->graph_add_constant(graph, NULL, &t, &out), POPRT_E_ARG);
    t.dtype = POPRT_DTYPE_STRING;
    ck_assert_fails(host->graph_add_constant(graph, NULL, &t, &out), POPRT_E_ARG);
    ck_assert_fails(host->value_replace(host->graph_output(graph, 0), v), POPRT_E_STATE);
    ck_assert_fails(host->value_replace(NULL, v), POPRT_E_ARG);
    ck_assert_ptr_eq(host->graph_first(graph), first);
    (void)pass;
    (void)changed;
    return POPRT_OK;
}

START_TEST(wrong_edits_are_refused)
{
    run_and_release(try_wrong_edits, MODEL("negs"));
}
END_TEST

/* Makes the first node read the output of the last one. */
static poprt_status break_order(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    int32_t *changed)
{
    (void)pass;
    (void)changed; /* and does not report the change */
    return host->node_set_input(host->graph_first(graph), 0, host->graph_output(graph, 0));
}

static poprt_status fail_alone(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    int32_t *changed)
{
    (void)host;
    (void)pass;
    (void)graph;
    (void)changed;
    return POPRT_E_LIMIT;
}

START_TEST(a_broken_graph_fails_the_plugin)
{
    poprt_model *model = NULL;
    ck_assert_says(run_on(break_order, MODEL("negs"), &model), POPRT_E_PLUGIN,
        "plug-in here, pass try_it left a broken graph");
    poprt_model_release(model);
    ck_assert_says(run_on(fail_alone, MODEL("negs"), &model), POPRT_E_LIMIT,
        "plug-in here, pass try_it: the plug-in gave no reason");
    poprt_model_release(model);
}
END_TEST

/* ---- options */

static poprt_status read_options(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    int32_t *changed)
{
    (void)graph;
    (void)changed;
    ck_assert_str_eq(host->pass_option(pass, "times"), "3");
    ck_assert_str_eq(host->pass_option(pass, "way"), "up, down");
    ck_assert_ptr_null(host->pass_option(pass, "other"));
    return POPRT_OK;
}

START_TEST(passes_read_their_options)
{
    const poprt_plugin_option options[] = {
        { "times", "1", "How often.", POPRT_PASS_OPTION_INT },
        { "way", "up, down", "Where.", POPRT_PASS_OPTION_TEXT },
    };
    const poprt_pass_arg three = { "times", "3" }, many = { "times", "many" },
                         other = { "where", "up" };
    one_pass p;
    poprt_pass_manager *manager = NULL;
    make_pass(&p, read_options);
    p.pass.options = options;
    p.pass.n_options = 2;
    poprt_env *env = make_env();
    ck_assert_ok(poprt_env_add_plugin(env, &p.plugin));
    poprt_model *model = load_model(env, MODEL("negs"));
    ck_assert_ok(poprt_pass_manager_create(env, &manager));
    ck_assert_fails(poprt_pass_manager_add_args(manager, "try_it", &many, 1), POPRT_E_ARG);
    ck_assert_fails(poprt_pass_manager_add_args(manager, "try_it", &other, 1), POPRT_E_ARG);
    ck_assert_ok(poprt_pass_manager_add_args(manager, "try_it", &three, 1));
    ck_assert_ok(poprt_pass_manager_run(manager, model));
    poprt_pass_manager_release(manager);
    poprt_model_release(model);
    poprt_env_release(env);
}
END_TEST

/* ---- patterns */

static poprt_status count_pairs(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    int32_t *changed)
{
    const char *const chains[] = { "Neg:a->Neg:b" }, *const bad[] = { "Neg" };
    poprt_match *match = NULL;
    int32_t found = 0;
    uint32_t n = 0;
    ck_assert_fails(host->pattern_create(pass, bad, 1, &match), POPRT_E_PARSE);
    ck_assert_fails(host->pattern_create(pass, bad, 0, &match), POPRT_E_PARSE);
    ck_assert_ok(host->pattern_create(pass, chains, 1, &match));
    for (;; n++) {
        ck_assert_ok(host->pattern_next(match, graph, &found));
        if (found == 0)
            break;
        ck_assert_ptr_eq(host->node_input(host->match_node(match, "b"), 0),
            host->node_output(host->match_node(match, "a"), 0));
        ck_assert_ptr_null(host->match_node(match, "c"));
    }
    ck_assert_uint_eq(n, 3);
    (void)changed;
    return POPRT_OK;
}

START_TEST(passes_can_match_patterns)
{
    run_and_release(count_pairs, MODEL("negs"));
}
END_TEST

/* Each rewrite creates the next match. */
static poprt_status grow_match(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    poprt_match *match, int32_t *changed)
{
    poprt_node *neg = host->match_node(match, "1"), *made = NULL;
    poprt_value *in = host->node_input(neg, 0);
    const poprt_node_form form = { .struct_size = sizeof(form),
        .op_type = "Neg",
        .inputs = &in,
        .n_inputs = 1,
        .n_outputs = 1 };
    (void)pass;
    *changed = 1;
    return host->graph_add_node(graph, neg, &form, &made);
}

START_TEST(an_endless_pattern_is_stopped)
{
    const char *const chains[] = { "Neg:1" };
    const poprt_plugin_pattern pattern = { .struct_size = sizeof(pattern),
        .name = "grow",
        .doc = "More and more.",
        .chains = chains,
        .n_chains = 1,
        .rewrite = grow_match };
    const poprt_plugin_pattern *const patterns[] = { &pattern };
    const poprt_plugin plugin = { .struct_size = sizeof(plugin),
        .abi = POPRT_PLUGIN_ABI,
        .name = "here",
        .version = "0",
        .patterns = patterns,
        .n_patterns = 1 };
    poprt_env *env = make_env();
    ck_assert_ok(poprt_env_add_plugin(env, &plugin));
    poprt_model *model = load_model(env, MODEL("negs"));
    ck_assert_says(run_pass(env, model, "grow"), POPRT_E_PLUGIN, "does not terminate");
    poprt_model_release(model);
    poprt_env_release(env);
}
END_TEST

/* ---- operators */

/* Neg that uses every host function for operators: a shape known only to eval, scratch,
 * defaults. */
static poprt_status infer(const poprt_host *host, poprt_infer *c)
{
    poprt_type type = { .dtype = POPRT_DTYPE_FLOAT32, .rank = 9 };
    poprt_attr a;
    int64_t numbers[4];
    uint32_t count = 99;
    ck_assert_uint_eq(host->infer_inputs(c), 1);
    ck_assert_uint_eq(host->infer_outputs(c), 1);
    ck_assert_int_eq(host->infer_has_input(c, 0), 1);
    ck_assert_int_eq(host->infer_has_input(c, 1), 0);
    ck_assert_int_eq(host->infer_has_output(c, 0), 1);
    ck_assert_fails(host->infer_input(c, 1, &type), POPRT_E_ARG);
    ck_assert_fails(host->infer_output(c, 1, &type), POPRT_E_ARG);
    ck_assert_fails(host->infer_output(c, 0, &type), POPRT_E_LIMIT);
    type.rank = 1;
    type.dims[0] = -5;
    ck_assert_fails(host->infer_output(c, 0, &type), POPRT_E_SHAPE);
    type.dims[0] = -((int64_t)1 << 62) - 1000000; /* an expression that does not exist */
    ck_assert_fails(host->infer_output(c, 0, &type), POPRT_E_SHAPE);
    type.dtype = 77;
    ck_assert_fails(host->infer_output(c, 0, &type), POPRT_E_TYPE);
    ck_assert_ok(host->infer_integers(c, 0, numbers, 4, &count));
    ck_assert_uint_eq(count, 0);
    ck_assert_ok(host->infer_attr(c, "alpha", &a));
    ck_assert_float_eq(a.real, 0.25f); /* the model's */
    ck_assert_ok(host->infer_attr(c, "text", &a));
    ck_assert_int_eq(a.kind, POPRT_ATTR_STRING);
    ck_assert_uint_eq(a.count, 3);
    ck_assert_ok(host->infer_attr(c, "list", &a));
    ck_assert_int_eq(a.ints[1], -2);
    ck_assert_fails(host->infer_attr(c, "other", &a), POPRT_E_NOT_FOUND);
    type = (poprt_type){ .dtype = POPRT_DTYPE_FLOAT32, .rank = -1 };
    return host->infer_output(c, 0, &type);
}

static poprt_status eval(const poprt_host *host, poprt_eval *c)
{
    poprt_tensor in, out;
    poprt_attr a;
    const int64_t negative[] = { -1 };
    ck_assert_uint_eq(host->eval_inputs(c), 1);
    ck_assert_uint_eq(host->eval_outputs(c), 1);
    ck_assert_int_eq(host->eval_has_input(c, 0), 1);
    ck_assert_int_eq(host->eval_has_input(c, 1), 0);
    ck_assert_int_eq(host->eval_has_output(c, 0), 1);
    ck_assert_fails(host->eval_input(c, 1, &in), POPRT_E_ARG);
    ck_assert_ok(host->eval_input(c, 0, &in));
    ck_assert_ok(host->eval_attr(c, "floats", &a));
    ck_assert_uint_eq(a.count, 0);
    ck_assert_fails(host->eval_output(c, 1, in.dtype, in.rank, in.dims, &out), POPRT_E_ARG);
    ck_assert_fails(host->eval_output(c, 0, in.dtype, 1, negative, &out), POPRT_E_ARG);
    ck_assert_fails(host->eval_output(c, 0, 0, in.rank, in.dims, &out), POPRT_E_ARG);
    ck_assert_ok(host->eval_check(c));
    float *twice = host->eval_scratch(c, 2 * in.size);
    ck_assert_ptr_nonnull(twice);
    memcpy(twice, in.data, in.size);
    ck_assert_ok(host->eval_output(c, 0, in.dtype, in.rank, in.dims, &out));
    for (size_t i = 0; i < in.size / sizeof(float); i++)
        ((float *)out.data)[i] = -twice[i];
    return POPRT_OK;
}

static const int64_t ints[] = { 1, -2 };

static const poprt_attr attrs[] = {
    { .name = "list", .kind = POPRT_ATTR_INTS, .ints = ints, .count = 2 },
    { .name = "alpha", .kind = POPRT_ATTR_FLOAT, .real = 1 },
    { .name = "text", .kind = POPRT_ATTR_STRING, .string = "abc", .count = 3 },
    { .name = "floats", .kind = POPRT_ATTR_FLOATS },
    { .name = "number", .kind = POPRT_ATTR_INT, .integer = 4 },
};

static const poprt_plugin_op leaky = { .struct_size = sizeof(leaky),
    .domain = "custom.ops",
    .name = "LeakyRelu",
    .since = 1,
    .min_inputs = 1,
    .max_inputs = 2,
    .min_outputs = 1,
    .max_outputs = POPRT_PLUGIN_ANY,
    .attrs = attrs,
    .n_attrs = 5,
    .infer = infer,
    .eval = eval };

START_TEST(operators_of_the_program_run)
{
    static const float expected[] = { 5, 2, 1, 0, -1, 1.5f };
    poprt_env *env = make_env();
    ck_assert_ok(add_op(env, &leaky));
    poprt_model *model = load_model(env, MODEL("leaky"));
    expect_result(model, x, expected);
    poprt_model_release(model);
    poprt_env_release(env);
}
END_TEST

/* ---- log lines */

static poprt_status log_lines(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    int32_t *changed)
{
    host->log(host, POPRT_LOG_WARNING, "from anywhere");
    host->log(host, 99, "of no level");
    host->pass_warn(pass, "node", "from the pass");
    host->pass_note(pass, NULL, "too quiet");
    (void)graph;
    (void)changed;
    return POPRT_OK;
}

static void collect(void *user, int32_t level, const char *text)
{
    char *all = user;
    ck_assert_int_eq(level, POPRT_LOG_WARNING);
    (void)strncat(all, text, 400 - strlen(all));
    (void)strncat(all, ";", 400 - strlen(all));
}

START_TEST(lines_go_to_the_log)
{
    char all[512] = "";
    const poprt_env_options options = { .struct_size = sizeof(options),
        .log = collect,
        .log_user = all };
    poprt_env *env = NULL;
    one_pass p;
    make_pass(&p, log_lines);
    ck_assert_ok(poprt_env_create(&options, &env));
    ck_assert_ok(poprt_env_add_plugin(env, &p.plugin));
    poprt_model *model = load_model(env, MODEL("negs"));
    ck_assert_ok(run_pass(env, model, "try_it"));
    ck_assert_str_eq(all, "from anywhere;try_it: node: from the pass;");
    poprt_model_release(model);
    poprt_env_release(env);
}
END_TEST

PRT_TEST_MAIN("plugin/host", graphs_can_be_queried, graphs_can_be_edited, attributes_can_be_marks,
    wrong_edits_are_refused, a_broken_graph_fails_the_plugin, passes_can_match_patterns,
    an_endless_pattern_is_stopped, operators_of_the_program_run, passes_read_their_options,
    lines_go_to_the_log)
