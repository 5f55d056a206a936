/* SPDX-License-Identifier: MIT */
/* test_attributes.c — attributes of all kinds: of operators of plug-ins, in infer, eval, lower and
 * kernels, and of nodes that passes read and change.
 * Covers: attr.c, region.c. */
#include "plugin/plugin_test.h"
#include "poprt/builder.h"

static const int64_t ints[] = { 10, 20 };
static const float floats[] = { 0.5f, 0.25f };
static const poprt_string words[] = { { "one", 3 }, { "", 0 }, { "a\0b", 3 } };
static const poprt_string other_words[] = { { "default", 7 } };
static const float table[] = { 1000, 2000 };
static const int64_t table_dims[] = { 2 };
static const poprt_tensor tensor = { .data = (void *)(uintptr_t)table,
    .size = sizeof(table),
    .dims = table_dims,
    .rank = 1,
    .dtype = POPRT_DTYPE_FLOAT32 };
static const poprt_string names[] = { { "p", 1 }, { "qrs", 3 } };
static const poprt_tensor name_tensor = { .data = (void *)(uintptr_t)names,
    .size = sizeof(names),
    .dims = table_dims,
    .rank = 1,
    .dtype = POPRT_DTYPE_STRING };
static const poprt_type type = { .dtype = POPRT_DTYPE_FLOAT16, .rank = 2, .dims = { 4, -1 } };

typedef poprt_status (*get_fn)(const void *context, const char *name, poprt_attr *out);

/* Returns a sum to which every attribute of the list contributes; -1 if one is not as expected. */
static float sum_of(get_fn get, const void *context, bool given)
{
    poprt_attr a;
    float sum = 0;
    ck_assert_ok(get(context, "number", &a));
    ck_assert_int_eq(a.kind, POPRT_ATTR_INT);
    sum += (float)a.integer;
    ck_assert_ok(get(context, "real", &a));
    sum += a.real;
    ck_assert_ok(get(context, "text", &a));
    sum += (float)a.count;
    ck_assert_ok(get(context, "ints", &a));
    sum += (float)a.ints[a.count - 1];
    ck_assert_ok(get(context, "floats", &a));
    sum += a.floats[a.count - 1];
    ck_assert_ok(get(context, "words", &a));
    ck_assert_int_eq(a.kind, POPRT_ATTR_STRINGS);
    const poprt_string *w = poprt_attr_object(&a);
    for (uint32_t i = 0; i < a.count; i++)
        sum += 100.0f * (float)w[i].size;
    if (given)
        ck_assert_mem_eq(w[2].data, "a\0b", 3);
    ck_assert_ok(get(context, "table", &a));
    ck_assert_int_eq(a.kind, POPRT_ATTR_TENSOR);
    const poprt_tensor *t = poprt_attr_object(&a);
    ck_assert_int_eq(t->dims[0], 2);
    sum += ((const float *)t->data)[1];
    ck_assert_ok(get(context, "names", &a));
    ck_assert_int_eq(poprt_attr_object(&a) != NULL, given);
    if (given) {
        t = poprt_attr_object(&a);
        ck_assert_int_eq(t->dtype, POPRT_DTYPE_STRING);
        ck_assert_mem_eq(((const poprt_string *)t->data)[1].data, "qrs", 3);
    }
    ck_assert_ok(get(context, "like", &a));
    ck_assert_int_eq(a.kind, POPRT_ATTR_TYPE);
    const poprt_type *like = poprt_attr_object(&a);
    ck_assert_int_eq(like != NULL, given);
    if (given) {
        ck_assert_int_eq(like->dtype, POPRT_DTYPE_FLOAT16);
        ck_assert_int_eq(like->rank, 2);
        ck_assert_int_eq(like->dims[0], 4);
        ck_assert_int_eq(like->dims[1], -1);
    }
    return sum;
}

enum { KINDS = 9 };

static poprt_attr record[KINDS];

static void make_record(void)
{
    const poprt_attr attrs[KINDS] = { poprt_attr_int("number", 1), poprt_attr_float("real", 0.125f),
        poprt_attr_string("text", "x"), poprt_attr_ints("ints", ints, 1),
        poprt_attr_floats("floats", floats, 1), poprt_attr_strings("words", other_words, 1),
        poprt_attr_tensor("table", &tensor), poprt_attr_tensor("names", NULL),
        poprt_attr_type("like", NULL) };
    memcpy(record, attrs, sizeof(attrs));
}

/* 1 + 0.125 + 1 + 10 + 0.5 + 700 + 2000 */
static const float default_sum = 2712.625f;
/* 7 + 0.5 + 4 + 20 + 0.25 + 600 + 2000 */
static const float given_sum = 2631.75f;

static void given_attrs(poprt_attr *out)
{
    const poprt_attr attrs[KINDS] = { poprt_attr_int("number", 7), poprt_attr_float("real", 0.5f),
        poprt_attr_string("text", "four"), poprt_attr_ints("ints", ints, 2),
        poprt_attr_floats("floats", floats, 2), poprt_attr_strings("words", words, 3),
        poprt_attr_tensor("table", &tensor), poprt_attr_tensor("names", &name_tensor),
        poprt_attr_type("like", &type) };
    memcpy(out, attrs, sizeof(attrs));
}

/* ---- an operator that adds the sum to its input */

static bool attrs_given; /* by the model of the test */
static int infer_calls, eval_calls, lower_calls;
static const poprt_host *host_of_test;

static poprt_status get_infer(const void *c, const char *name, poprt_attr *out)
{
    return host_of_test->infer_attr(c, name, out);
}

static poprt_status get_eval(const void *c, const char *name, poprt_attr *out)
{
    return host_of_test->eval_attr(c, name, out);
}

static poprt_status get_lower(const void *c, const char *name, poprt_attr *out)
{
    return host_of_test->lower_attr(c, name, out);
}

static poprt_status get_kernel(const void *c, const char *name, poprt_attr *out)
{
    return host_of_test->kernel_attr(c, name, out);
}

static float expected_sum(void)
{
    return attrs_given ? given_sum : default_sum;
}

static poprt_status infer(const poprt_host *host, poprt_infer *c)
{
    poprt_type t;
    host_of_test = host;
    infer_calls++;
    ck_assert_float_eq(sum_of(get_infer, c, attrs_given), expected_sum());
    poprt_status status = host->infer_input(c, 0, &t);
    return status == POPRT_OK ? host->infer_output(c, 0, &t) : status;
}

static void add_sum(const poprt_tensor *x, poprt_tensor *y, float sum)
{
    for (int i = 0; i < 6; i++)
        ((float *)y->data)[i] = ((const float *)x->data)[i] + sum;
}

static poprt_status eval(const poprt_host *host, poprt_eval *c)
{
    poprt_tensor x, y;
    host_of_test = host;
    eval_calls++;
    ck_assert_ok(host->eval_input(c, 0, &x));
    ck_assert_ok(host->eval_output(c, 0, x.dtype, x.rank, x.dims, &y));
    add_sum(&x, &y, sum_of(get_eval, c, attrs_given));
    return POPRT_OK;
}

static poprt_status lower(const poprt_host *host, poprt_lower *c)
{
    lower_calls++;
    ck_assert_float_eq(sum_of(get_lower, c, attrs_given), expected_sum());
    ck_assert_ok(host->lower_items(c, 4));
    return host->lower_kernel(c, "add");
}

/* Four calls at most, on several threads; the first one does the work. */
static poprt_status run_kernel(const poprt_host *host, poprt_kernel *c, uint64_t first,
    uint64_t count)
{
    poprt_tensor x, y;
    poprt_attr a;
    (void)count;
    const float sum = sum_of(get_kernel, c, attrs_given);
    ck_assert_fails(host->kernel_attr(c, "other", &a), POPRT_E_NOT_FOUND);
    if (first != 0)
        return POPRT_OK;
    ck_assert_ok(host->kernel_input(c, 0, &x));
    ck_assert_ok(host->kernel_output(c, 0, &y));
    add_sum(&x, &y, sum);
    return POPRT_OK;
}

static const poprt_plugin_kernel kernel = { .struct_size = sizeof(kernel),
    .name = "add",
    .run = run_kernel };
static const poprt_plugin_kernel *const kernels[] = { &kernel };

static poprt_plugin_op make_op(const char *name)
{
    make_record();
    return (poprt_plugin_op){ .struct_size = sizeof(poprt_plugin_op),
        .domain = "custom.ops",
        .name = name,
        .since = 1,
        .flags = POPRT_OP_PURE,
        .min_inputs = 1,
        .max_inputs = 1,
        .min_outputs = 1,
        .max_outputs = 1,
        .attrs = record,
        .n_attrs = KINDS,
        .infer = infer,
        .eval = eval };
}

/* Builds y = op(x) over float32[2,3], in the environment of the plug-in. */
static poprt_model *build_model(poprt_env *env, const char *op, const poprt_attr *attrs, uint32_t n)
{
    const poprt_type t = { .dtype = POPRT_DTYPE_FLOAT32, .rank = 2, .dims = { 2, 3 } };
    poprt_builder *b = NULL;
    poprt_model *model = NULL;
    ck_assert_ok(poprt_builder_create(env, 13, &b));
    const poprt_id x = poprt_builder_input(b, "x", &t, NULL);
    const char *const y[] = { "y" };
    const poprt_builder_op_info info = { .struct_size = sizeof(info),
        .domain = "custom.ops",
        .op_type = op,
        .inputs = &x,
        .attrs = attrs,
        .output_names = y,
        .n_inputs = 1,
        .n_attrs = n,
        .n_outputs = 1 };
    const poprt_id id = poprt_builder_op(b, &info, NULL);
    ck_assert_ok(poprt_builder_output(b, id));
    ck_assert_ok(poprt_builder_finish(b, &model));
    poprt_builder_release(b);
    return model;
}

/* Compiles, stores as PopEF, loads and runs; expects x + sum. */
static void check_sum(poprt_env *env, poprt_model *model, float sum)
{
    static const float x[6] = { 0, 1, 2, 3, 4, 5 };
    poprt_executable *exec = NULL, *loaded = NULL;
    buffer bytes = { NULL, 0 };
    float y[6];
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &bytes));
    ck_assert_ok(poprt_executable_load_bytes(env, bytes.data, bytes.size, NULL, &loaded));
    poprt_executable *const both[] = { exec, loaded };
    for (int k = 0; k < 2; k++) {
        memset(y, 0, sizeof(y));
        ck_assert_ok(run_exec(both[k], x, y));
        for (int i = 0; i < 6; i++)
            ck_assert_float_eq(y[i], x[i] + sum);
    }
    poprt_executable_release(loaded);
    poprt_executable_release(exec);
    free(bytes.data);
}

START_TEST(operators_have_attributes_of_every_kind)
{
    poprt_attr attrs[KINDS];
    for (int with_kernel = 0; with_kernel < 2; with_kernel++)
        for (int given = 0; given < 2; given++) {
            poprt_env *env = make_env();
            poprt_plugin_op op = make_op("AddSum");
            if (with_kernel != 0) {
                op.lower = lower;
                op.kernels = kernels;
                op.n_kernels = 1;
            }
            infer_calls = eval_calls = lower_calls = 0;
            attrs_given = given != 0;
            given_attrs(attrs);
            ck_assert_ok(add_op(env, &op));
            poprt_model *model = build_model(env, "AddSum", attrs, attrs_given ? KINDS : 0);
            check_sum(env, model, expected_sum());
            ck_assert_int_gt(infer_calls, 0);
            ck_assert_int_eq(eval_calls != 0, with_kernel == 0);
            ck_assert_int_eq(lower_calls != 0, with_kernel != 0);
            poprt_model_release(model);
            poprt_env_release(env);
        }
}
END_TEST

START_TEST(attributes_survive_onnx)
{
    poprt_attr attrs[KINDS];
    poprt_env *env = make_env();
    const poprt_plugin_op op = make_op("AddSum");
    buffer bytes = { NULL, 0 };
    poprt_model *again = NULL;
    attrs_given = true;
    given_attrs(attrs);
    ck_assert_ok(add_op(env, &op));
    poprt_model *model = build_model(env, "AddSum", attrs, KINDS);
    ck_assert_ok(poprt_model_save(model, buffer_write, &bytes));
    ck_assert_ok(poprt_model_load_bytes(env, bytes.data, bytes.size, NULL, &again));
    check_sum(env, again, given_sum);
    poprt_model_release(again);
    poprt_model_release(model);
    free(bytes.data);
    poprt_env_release(env);
}
END_TEST

/* ---- a graph as an attribute: it runs twice */

static poprt_status infer_body(const poprt_host *host, poprt_infer *c)
{
    poprt_type x, y;
    poprt_attr a;
    ck_assert_ok(host->infer_attr(c, "body", &a));
    ck_assert_int_eq(a.kind, POPRT_ATTR_GRAPH);
    ck_assert_ptr_null(poprt_attr_object(&a));
    ck_assert_ok(host->infer_input(c, 0, &x));
    ck_assert_fails(host->infer_graph(c, "other", 1, &x, 1, &y), POPRT_E_NOT_FOUND);
    const poprt_status status = host->infer_graph(c, "body", 1, &x, 1, &y);
    if (status != POPRT_OK || y.dtype == POPRT_DTYPE_UNDEFINED)
        return status;
    ck_assert_int_eq(y.dtype, POPRT_DTYPE_FLOAT32);
    ck_assert_int_eq(y.rank, 2);
    return host->infer_output(c, 0, &y);
}

static poprt_status eval_body(const poprt_host *host, poprt_eval *c)
{
    poprt_tensor x, y, out;
    ck_assert_ok(host->eval_input(c, 0, &x));
    ck_assert_fails(host->eval_graph(c, "other", 1, &x, 1, &y), POPRT_E_NOT_FOUND);
    ck_assert_fails(host->eval_graph(c, "body", 0, NULL, 1, &y), POPRT_E_SHAPE);
    ck_assert_ok(host->eval_graph(c, "body", 1, &x, 1, &y));
    float kept[6];
    memcpy(kept, y.data, sizeof(kept));
    y.data = kept;
    ck_assert_ok(host->eval_graph(c, "body", 1, &y, 1, &out));
    ck_assert_ok(host->eval_output(c, 0, out.dtype, out.rank, out.dims, &y));
    memcpy(y.data, out.data, out.size);
    return POPRT_OK;
}

START_TEST(graphs_of_attributes_run)
{
    static const float x[6] = { 0, 1, 2, 3, 4, 5 };
    const poprt_attr graph[] = { poprt_attr_graph("body", NULL) };
    poprt_plugin_op op = make_op("Twice");
    poprt_env *env = make_env();
    op.attrs = graph;
    op.n_attrs = 1;
    op.infer = infer_body;
    op.eval = eval_body;
    ck_assert_ok(add_op(env, &op));

    const poprt_type t = { .dtype = POPRT_DTYPE_FLOAT32, .rank = 2, .dims = { 2, 3 } };
    poprt_builder *b = NULL, *body = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_builder_create(env, 13, &b));
    const poprt_id in = poprt_builder_input(b, "x", &t, NULL);
    ck_assert_ok(poprt_builder_create_subgraph(b, "square", &body));
    const poprt_id inner = poprt_builder_input(body, "v", &t, NULL);
    const poprt_id squared[] = { inner, inner };
    const poprt_builder_op_info mul = { .struct_size = sizeof(mul),
        .op_type = "Mul",
        .inputs = squared,
        .n_inputs = 2,
        .n_outputs = 1 };
    ck_assert_ok(poprt_builder_output(body, poprt_builder_op(body, &mul, NULL)));
    const poprt_attr attr = poprt_attr_graph("body", body);
    const char *const y_name[] = { "y" };
    const poprt_builder_op_info info = { .struct_size = sizeof(info),
        .domain = "custom.ops",
        .op_type = "Twice",
        .inputs = &in,
        .attrs = &attr,
        .output_names = y_name,
        .n_inputs = 1,
        .n_attrs = 1,
        .n_outputs = 1 };
    ck_assert_ok(poprt_builder_output(b, poprt_builder_op(b, &info, NULL)));
    ck_assert_ok(poprt_builder_finish(b, &model));
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    float y[6];
    ck_assert_ok(run_exec(exec, x, y));
    for (int i = 0; i < 6; i++)
        ck_assert_float_eq(y[i], x[i] * x[i] * x[i] * x[i]);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_builder_release(body);
    poprt_builder_release(b);
    poprt_env_release(env);
}
END_TEST

/* ---- records that are refused */

START_TEST(wrong_defaults_are_refused)
{
    const poprt_string null_text[] = { { NULL, 1 } };
    poprt_tensor short_tensor = tensor;
    short_tensor.size = 4;
    const struct {
        poprt_attr attr;
        const char *words;
    } wrong[] = { { poprt_attr_strings("a", null_text, 1), "string 0" },
        { poprt_attr_strings("a", NULL, 1), "NULL" },
        { poprt_attr_tensor("a", &short_tensor), "4 bytes" },
        { poprt_attr_type("a", &type), "default must be NULL" },
        { poprt_attr_graph("a", (const struct poprt_builder *)(const void *)&type),
            "default must be NULL" } };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        poprt_env *env = make_env();
        poprt_plugin_op op = make_op("Wrong");
        op.attrs = &wrong[i].attr;
        op.n_attrs = 1;
        const poprt_status status = add_op(env, &op);
        ck_assert_int_ne(status, POPRT_OK);
        ck_assert_msg(strstr(poprt_last_error()->message, wrong[i].words) != NULL,
            "'%s' not in '%s'", wrong[i].words, poprt_last_error()->message);
        poprt_env_release(env);
    }
}
END_TEST

/* ---- passes */

/* Changes attributes that the operator defines, and adds some that it does not. */
static poprt_status change(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    int32_t *changed)
{
    poprt_node *node = host->graph_first(graph);
    const poprt_attr more[] = { poprt_attr_strings("words", other_words, 1),
        poprt_attr_strings("__words", words, 3), poprt_attr_ints("__ints", ints, 2),
        poprt_attr_floats("__floats", floats, 2), poprt_attr_strings("__none", NULL, 0) };
    poprt_attr a;
    (void)pass;
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
        ck_assert_ok(host->node_set_attr(node, &more[i]));
    ck_assert_ok(host->node_attr(node, "words", &a));
    ck_assert_int_eq(a.count, 1);
    ck_assert_ok(host->node_attr(node, "__words", &a));
    ck_assert_int_eq(a.kind, POPRT_ATTR_STRINGS);
    ck_assert_int_eq(a.count, 3);
    ck_assert_mem_eq(((const poprt_string *)poprt_attr_object(&a))[2].data, "a\0b", 3);
    ck_assert_ok(host->node_attr(node, "__ints", &a));
    ck_assert_int_eq(a.kind, POPRT_ATTR_INTS);
    ck_assert_int_eq(a.count, 2);
    ck_assert_int_eq(a.ints[1], 20);
    ck_assert_ok(host->node_attr(node, "__floats", &a));
    ck_assert_int_eq(a.count, 2);
    ck_assert_float_eq(a.floats[0], 0.5f);
    ck_assert_ok(host->node_attr(node, "__none", &a));
    ck_assert_int_eq(a.kind, POPRT_ATTR_STRINGS);
    ck_assert_int_eq(a.count, 0);
    ck_assert_ok(host->node_attr(node, "table", &a));
    ck_assert_float_eq(((const float *)((const poprt_tensor *)poprt_attr_object(&a))->data)[1],
        2000);
    a = poprt_attr_tensor("__table", &tensor);
    ck_assert_fails(host->node_set_attr(node, &a), POPRT_E_UNSUPPORTED);
    a = poprt_attr_tensor("words", &tensor);
    ck_assert_fails(host->node_set_attr(node, &a), POPRT_E_TYPE);
    a = poprt_attr_type("like", &type);
    ck_assert_ok(host->node_set_attr(node, &a));
    *changed = 1;
    return POPRT_OK;
}

static poprt_status look(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    int32_t *changed)
{
    poprt_node *node = host->graph_first(graph);
    poprt_attr a;
    (void)pass;
    ck_assert_ok(host->node_attr(node, "__words", &a));
    ck_assert_int_eq(a.count, 3);
    ck_assert_ok(host->node_attr(node, "words", &a));
    ck_assert_int_eq(a.count, 1);
    ck_assert_ok(host->node_attr(node, "like", &a));
    ck_assert_int_eq(((const poprt_type *)poprt_attr_object(&a))->dims[0], 4);
    *changed = 0;
    return POPRT_OK;
}

static poprt_status infer_same(const poprt_host *host, poprt_infer *c)
{
    poprt_type t;
    ck_assert_ok(host->infer_input(c, 0, &t));
    return host->infer_output(c, 0, &t);
}

START_TEST(passes_read_and_set_lists)
{
    const run_fn runs[] = { change, look };
    buffer bytes = { NULL, 0 };
    for (int k = 0; k < 2; k++) {
        poprt_env *env = make_env();
        poprt_plugin_op op = make_op("AddSum");
        one_pass pass;
        poprt_model *model = NULL;
        op.infer = infer_same;
        ck_assert_ok(add_op(env, &op));
        make_pass(&pass, runs[k]);
        pass.plugin.name = "pass";
        ck_assert_ok(poprt_env_add_plugin(env, &pass.plugin));
        if (k == 0)
            model = build_model(env, "AddSum", NULL, 0);
        else
            ck_assert_ok(poprt_model_load_bytes(env, bytes.data, bytes.size, NULL, &model));
        ck_assert_ok(run_pass(env, model, "try_it"));
        if (k == 0)
            ck_assert_ok(poprt_model_save(model, buffer_write, &bytes));
        poprt_model_release(model);
        poprt_env_release(env);
    }
    free(bytes.data);
}
END_TEST

PRT_TEST_MAIN("plugin/attributes", operators_have_attributes_of_every_kind, attributes_survive_onnx,
    graphs_of_attributes_run, wrong_defaults_are_refused, passes_read_and_set_lists)
