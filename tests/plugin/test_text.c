/* SPDX-License-Identifier: MIT */
/*
 * test_text.c — the worked examples in one program, on graphs as text: their rows in the parser,
 * the printer, clones, the evaluator, folding, regions and gradients. Links the internal libraries.
 * Covers: grad.c.
 */
#include <check.h>

#include "ir/interp.h"
#include "pass/engine/manager.h"
#include "plugin/plugin.h"
#include "support/check_main.h"
#include "support/graph_text.h"
#include "train/autodiff.h"

struct poprt_plugin;
/* The entry functions of the examples, each under its own name. */
typedef const struct poprt_plugin *(*entry_fn)(const void *host);
const struct poprt_plugin *leaky_relu_entry(const void *host);
const struct poprt_plugin *replace_add_entry(const void *host);

/* The fields of a host that entry functions read. */
static const struct {
    size_t struct_size;
    uint32_t abi;
} host = { sizeof(host), 1 };

static prt_plugins *make_plugins(entry_fn entry)
{
    prt_plugins *plugins = NULL;
    ck_assert_int_eq(prt_plugins_create(&prt_mem_libc, NULL, NULL, &plugins), POPRT_OK);
    ck_assert_int_eq(prt_plugins_add(plugins, entry(&host)), POPRT_OK);
    return plugins;
}

static prt_module *parse(const prt_plugins *plugins, const char *text)
{
    prt_module *module = NULL;
    ck_assert_int_eq(prt_module_create(&prt_mem_libc, 0, &module), POPRT_OK);
    module->ops = prt_plugins_ops(plugins);
    const poprt_status status = prt_ir_parse(module, prt_str_of(text));
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    ck_assert_int_eq(prt_ir_verify(module), POPRT_OK);
    return module;
}

#define LEAKY_TEXT                                                                                 \
    "x = input f32[n,2]\n"                                                                         \
    "y = \"custom.ops.LeakyRelu\" x {alpha=0.5}\n"                                                 \
    "z = \"custom.ops.LeakyRelu\" y\n"                                                             \
    "return z\n"

START_TEST(text_is_read_and_printed)
{
    prt_plugins *plugins = make_plugins(leaky_relu_entry);
    prt_module *module = parse(plugins, LEAKY_TEXT), *clone = NULL;
    const prt_type *type = module->main->ret->in[0].value->type;
    ck_assert_int_eq(type->rank, 2);
    ck_assert_int_eq(type->dims[1], 2);
    ck_assert_str_eq(graph_text(module->main), LEAKY_TEXT);
    ck_assert_int_eq(prt_ir_clone(module, &clone), POPRT_OK);
    ck_assert_str_eq(graph_text(clone->main), LEAKY_TEXT);
    ck_assert_ptr_eq(clone->main->first->def, module->main->first->def);
    ck_assert_str_eq(prt_op_plugin(clone->main->first->def), "leaky_relu");
    ck_assert_ptr_null(prt_op_plugin(prt_op_of(PRT_OP_relu)));
    prt_module_release(clone);
    prt_module_release(module);
    prt_plugins_release(plugins);
}
END_TEST

START_TEST(invalid_text_is_refused)
{
    prt_plugins *plugins = make_plugins(leaky_relu_entry);
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "x = input f32[2]\ny = \"custom.ops.LeakyRelu\" x {beta=1}\nreturn y\n",
            "has no attribute 'beta'" },
        { "x = input i32[2]\ny = \"custom.ops.LeakyRelu\" x\nreturn y\n",
            "plug-in leaky_relu, custom.ops.LeakyRelu: input 0 must be float32" },
        { "x = input f32[2]\ny = \"custom.ops.LeakyRelu\" x x\nreturn y\n", "at most 1 and 1" },
        { "x = input string[2]\ny = \"custom.ops.LeakyRelu\" x\nreturn y\n", "accepted" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        prt_module *module = NULL;
        ck_assert_int_eq(prt_module_create(&prt_mem_libc, 0, &module), POPRT_OK);
        module->ops = prt_plugins_ops(plugins);
        ck_assert_int_ne(prt_ir_parse(module, prt_str_of(cases[i].text)), POPRT_OK);
        ck_assert_msg(strstr(prt_error_last()->message, cases[i].error) != NULL, "'%s' is not '%s'",
            prt_error_last()->message, cases[i].error);
        prt_module_release(module);
    }
    prt_plugins_release(plugins);
}
END_TEST

START_TEST(the_evaluator_runs_the_operator)
{
    prt_plugins *plugins = make_plugins(leaky_relu_entry);
    prt_module *module = parse(plugins, LEAKY_TEXT);
    prt_arena *arena = NULL;
    float x[] = { 1, -4 };
    const int64_t dims[] = { 1, 2 };
    prt_tensor in, out;
    const prt_tensor *ins[] = { &in };
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    ck_assert(prt_tensor_init(&in, PRT_DTYPE_f32, 2, dims, x));
    ck_assert_int_eq(prt_ir_run(module->main, 1, ins, 1, &out, arena), POPRT_OK);
    const float *y = out.data;
    ck_assert(y[0] == 1);
    ck_assert(y[1] == -2 * 0.01f);
    prt_arena_release(arena);
    prt_module_release(module);
    prt_plugins_release(plugins);
}
END_TEST

static void run(const prt_plugins *plugins, prt_module *module, const char *pass)
{
    prt_pass_manager *manager = NULL;
    ck_assert_int_eq(prt_pass_manager_create(&prt_mem_libc, &manager), POPRT_OK);
    for (size_t i = 0; prt_plugins_pass(plugins, i) != NULL; i++)
        ck_assert_int_eq(prt_pass_manager_register(manager, prt_plugins_pass(plugins, i)),
            POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add(manager, pass, 0, NULL), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_run(manager, module, NULL), POPRT_OK);
    prt_pass_manager_release(manager);
}

START_TEST(pure_operators_are_folded)
{
    prt_plugins *plugins = make_plugins(leaky_relu_entry);
    prt_module *module = parse(plugins,
        "x = input f32[2]\n"
        "c = const f32[2] {1, -4}\n"
        "l = \"custom.ops.LeakyRelu\" c {alpha=0.5}\n"
        "y = add x l\n"
        "return y\n");
    run(plugins, module, "constant_folding");
    ck_assert_ptr_nonnull(strstr(graph_text(module->main), "const f32[2] {1, -2}"));
    ck_assert_ptr_null(strstr(graph_text(module->main), "LeakyRelu"));
    prt_module_release(module);
    prt_plugins_release(plugins);
}
END_TEST

START_TEST(passes_visit_regions)
{
    prt_plugins *plugins = make_plugins(replace_add_entry);
    prt_module *module = parse(plugins,
        "c = input bool[]\n"
        "x = input f32[2]\n"
        "s = add x x\n"
        "y = if c {\n"
        "  then_branch { a = add s x; return a }\n"
        "  else_branch { b = mul s x; return b }\n"
        "}\n"
        "return y\n");
    run(plugins, module, "replace_add_with_sub");
    const char *text = graph_text(module->main);
    ck_assert_ptr_null(strstr(text, "add"));
    ck_assert_ptr_nonnull(strstr(text, "sub x x"));
    ck_assert_ptr_nonnull(strstr(text, "a = sub"));
    prt_module_release(module);
    prt_plugins_release(plugins);
}
END_TEST

/* The gradient of a node of a plug-in, which the plug-in builds. */
START_TEST(gradients_are_built_by_the_plugin)
{
    prt_plugins *plugins = make_plugins(leaky_relu_entry);
    prt_module *module = parse(plugins,
        "x = input f32[2]\ny = \"custom.ops.LeakyRelu\" x {alpha=0.5} @node\nreturn y\n");
    prt_graph *g = module->main;
    prt_build b = prt_build_at_end(g);
    prt_value *dx;
    ck_assert_int_eq(prt_autodiff(&b, g->ret->in[0].value, NULL, 1, g->inputs.data, 0, NULL, &dx,
                         NULL),
        POPRT_OK);
    ck_assert_int_eq(prt_graph_set_outputs(g, 1, &dx, (const prt_str[1]){ PRT_STR("dx") }),
        POPRT_OK);
    ck_assert_int_eq(prt_ir_verify(module), POPRT_OK);
    ck_assert_str_eq(dx->def->origin.data, "node");
    float x[2] = { -3, 4 };
    prt_tensor in, out;
    const prt_tensor *const ins[1] = { &in };
    ck_assert(prt_tensor_init(&in, PRT_DTYPE_f32, 1, (const int64_t[1]){ 2 }, x));
    ck_assert_int_eq(prt_ir_run(g, 1, ins, 1, &out, module->arena), POPRT_OK);
    ck_assert(((const float *)out.data)[0] == 0.5f && ((const float *)out.data)[1] == 1.0f);
    prt_module_release(module);
    prt_plugins_release(plugins);
}
END_TEST

PRT_TEST_MAIN("plugin/text", gradients_are_built_by_the_plugin, text_is_read_and_printed,
    invalid_text_is_refused, the_evaluator_runs_the_operator, pure_operators_are_folded,
    passes_visit_regions)
