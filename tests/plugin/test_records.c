/* SPDX-License-Identifier: MIT */
/*
 * test_records.c — records of plug-ins that are refused, each for one reason.
 * Covers: op.c, pass.c, plugins.c.
 */
#include "plugin/plugin_test.h"

static poprt_status do_nothing(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    int32_t *changed)
{
    (void)host;
    (void)pass;
    (void)graph;
    (void)changed;
    return POPRT_OK;
}

static poprt_status leave_alone(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    poprt_match *match, int32_t *changed)
{
    (void)match;
    return do_nothing(host, pass, graph, changed);
}

static poprt_status infer(const poprt_host *host, poprt_infer *c)
{
    const poprt_type type = { .dtype = POPRT_DTYPE_FLOAT32, .rank = -1 };
    return host->infer_output(c, 0, &type);
}

static const poprt_attr attrs[] = { { .name = "a", .kind = POPRT_ATTR_INT } };

static const poprt_plugin_op good_op = { .struct_size = sizeof(good_op),
    .domain = "custom.ops",
    .name = "LeakyRelu",
    .since = 1,
    .min_inputs = 1,
    .max_inputs = 2,
    .min_outputs = 1,
    .max_outputs = POPRT_PLUGIN_ANY,
    .attrs = attrs,
    .n_attrs = 1,
    .infer = infer };

static void refuse_op(const poprt_plugin_op *op, const char *words)
{
    poprt_env *env = make_env();
    ck_assert_says(add_op(env, op), POPRT_E_PLUGIN, words);
    poprt_env_release(env);
}

START_TEST(invalid_operators_are_refused)
{
    const poprt_attr twice[] = { { .name = "a", .kind = POPRT_ATTR_INT },
        { .name = "a", .kind = POPRT_ATTR_INT } };
    poprt_plugin_op op = good_op;
    refuse_op(NULL, "contains NULL");
    op.struct_size = 8;
    refuse_op(&op, "struct_size of a poprt_plugin_op is 8");
    op = good_op;
    op.struct_size = (size_t)1 << 40;
    refuse_op(&op, "struct_size");
    op = good_op;
    op.name = NULL;
    refuse_op(&op, "needs a name");
    op = good_op;
    op.infer = NULL;
    refuse_op(&op, "no function `infer`");
    op = good_op;
    op.since = 0;
    refuse_op(&op, "`since`");
    op = good_op;
    op.max_inputs = 65;
    refuse_op(&op, "from 0 to 64");
    op.max_inputs = 0;
    refuse_op(&op, "from 0 to 64");
    op = good_op;
    op.min_outputs = POPRT_PLUGIN_ANY;
    refuse_op(&op, "from 0 to 64");
    op = good_op;
    op.n_attrs = 64;
    refuse_op(&op, "longer than 63");
    op.attrs = NULL;
    op.n_attrs = 1;
    refuse_op(&op, "is NULL");
    op.attrs = twice;
    op.n_attrs = 2;
    refuse_op(&op, "twice");
}
END_TEST

static poprt_status eval(const poprt_host *host, poprt_eval *c)
{
    return host->eval_check(c);
}

static poprt_status lower(const poprt_host *host, poprt_lower *c)
{
    return host->lower_kernel(c, "one");
}

static poprt_status run(const poprt_host *host, poprt_kernel *c, uint64_t first, uint64_t count)
{
    (void)first;
    (void)count;
    return host->kernel_check(c);
}

START_TEST(invalid_kernels_are_refused)
{
    poprt_plugin_kernel one = { .struct_size = sizeof(one), .name = "one", .run = run };
    const poprt_plugin_kernel *kernels[] = { &one, &one };
    poprt_plugin_op op = good_op;
    op.lower = lower;
    refuse_op(&op, "lower without kernels");
    op.kernels = kernels;
    op.n_kernels = 1;
    refuse_op(&op, "without eval");
    op.eval = eval;
    op.lower = NULL;
    refuse_op(&op, "kernels without lower");
    op.lower = lower;
    op.n_kernels = 65;
    refuse_op(&op, "longer than 64");
    op.n_kernels = 2;
    refuse_op(&op, "kernel one is listed twice");
    op.kernels = NULL;
    refuse_op(&op, "list of kernels is NULL");
    op.kernels = kernels;
    op.n_kernels = 1;
    one.run = NULL;
    refuse_op(&op, "kernel one has no function `run`");
    one.run = run;
    one.name = "one two";
    refuse_op(&op, "a kernel needs a name");
    one.name = NULL;
    refuse_op(&op, "a kernel needs a name");
    one.struct_size = 8;
    refuse_op(&op, "struct_size of a poprt_plugin_kernel is 8");
    kernels[0] = NULL;
    refuse_op(&op, "contains NULL");
}
END_TEST

static void refuse_plugin(const poprt_plugin *plugin, const char *words)
{
    poprt_env *env = make_env();
    ck_assert_says(poprt_env_add_plugin(env, plugin), POPRT_E_PLUGIN, words);
    poprt_env_release(env);
}

START_TEST(invalid_plugins_are_refused)
{
    one_pass p, good;
    make_pass(&good, do_nothing);
    poprt_env *env = make_env();
    p.plugin = good.plugin;
    p.plugin.abi = 99;
    ck_assert_says(poprt_env_add_plugin(env, &p.plugin), POPRT_E_VERSION, "interface 99");
    ck_assert_fails(poprt_env_add_plugin(env, NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_env_add_plugin(NULL, &good.plugin), POPRT_E_ARG);
    poprt_env_release(env);
    p.plugin = good.plugin;
    p.plugin.struct_size = 24;
    refuse_plugin(&p.plugin, "struct_size of a poprt_plugin is 24");
    p.plugin = good.plugin;
    p.plugin.name = "";
    refuse_plugin(&p.plugin, "needs a name");
    p.plugin = good.plugin;
    p.plugin.version = NULL;
    refuse_plugin(&p.plugin, "no version");
    p.plugin = good.plugin;
    p.plugin.n_ops = 1;
    refuse_plugin(&p.plugin, "is NULL");
    p.plugin = good.plugin;
    p.plugin.n_passes = SIZE_MAX;
    refuse_plugin(&p.plugin, "more than");
}
END_TEST

START_TEST(invalid_passes_are_refused)
{
    one_pass p;
    make_pass(&p, do_nothing);
    p.pass.name = "two words";
    refuse_plugin(&p.plugin, "letters, digits");
    p.pass.name = NULL;
    refuse_plugin(&p.plugin, "needs a name");
    p.pass.name = "constant_folding";
    refuse_plugin(&p.plugin, "already a pass of this name, in the library");
    p.pass.name = "fine";
    p.pass.doc = NULL;
    refuse_plugin(&p.plugin, "documentation");
    p.pass.doc = "";
    p.pass.run = NULL;
    refuse_plugin(&p.plugin, "`run`");
    poprt_plugin_option option = { "n", "one", "Of a test.", POPRT_PASS_OPTION_INT };
    p.pass.run = do_nothing;
    p.pass.n_options = 1;
    refuse_plugin(&p.plugin, "NULL or longer");
    p.pass.options = &option;
    refuse_plugin(&p.plugin, "not of its kind");
    option.kind = 4;
    refuse_plugin(&p.plugin, "a POPRT_PASS_OPTION_ kind");
    p.pass.n_options = 0;
    const poprt_plugin_pass *const twice[] = { &p.pass, &p.pass };
    p.plugin.passes = twice;
    p.plugin.n_passes = 2;
    refuse_plugin(&p.plugin, "already a pass of this name, in here");
}
END_TEST

START_TEST(invalid_patterns_are_refused)
{
    const char *chains[] = { "Neg:1 -> Relu:1" };
    poprt_plugin_pattern pattern = { .struct_size = sizeof(pattern),
        .name = "p",
        .doc = "",
        .chains = chains,
        .n_chains = 1,
        .rewrite = leave_alone };
    const poprt_plugin_pattern *const patterns[] = { &pattern };
    const poprt_plugin plugin = { .struct_size = sizeof(plugin),
        .abi = POPRT_PLUGIN_ABI,
        .name = "here",
        .version = "0",
        .patterns = patterns,
        .n_patterns = 1 };
    refuse_plugin(&plugin, "this label already belongs to another operator");
    chains[0] = NULL;
    refuse_plugin(&plugin, "NULL");
    pattern.n_chains = 0;
    refuse_plugin(&plugin, "from 1 to");
    pattern.n_chains = 1;
    chains[0] = "Neg:1";
    pattern.rewrite = NULL;
    refuse_plugin(&plugin, "`rewrite`");
}
END_TEST

START_TEST(valid_records_are_accepted)
{
    poprt_env *env = make_env();
    ck_assert_ok(add_op(env, &good_op));
    poprt_env_release(env);
}
END_TEST

PRT_TEST_MAIN("plugin/records", invalid_operators_are_refused, invalid_kernels_are_refused,
    invalid_plugins_are_refused, invalid_passes_are_refused, invalid_patterns_are_refused,
    valid_records_are_accepted)
