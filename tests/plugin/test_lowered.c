/* SPDX-License-Identifier: MIT */
/*
 * test_lowered.c — programs with kernels of plug-ins: the checks of a reader, the memory of
 * results, and replaced weights. Links the internal libraries.
 * Covers: kernel.c, lowered.c.
 */
#include <check.h>
#include <stdlib.h>

#include "cpu/cpu.h"
#include "plugin/plugin.h"
#include "poprt/plugin.h"
#include "program/popef.h"
#include "runtime/session.h"
#include "support/check_main.h"
#include "support/program_text.h"

/* ---- custom.ops.Scale: x * s; by its kernel x * s + 100, so that one can tell */

static poprt_status infer(const poprt_host *host, poprt_infer *c)
{
    poprt_type type;
    const poprt_status status = host->infer_input(c, 0, &type);
    return status == POPRT_OK ? host->infer_output(c, 0, &type) : status;
}

static poprt_status eval(const poprt_host *host, poprt_eval *c)
{
    poprt_tensor x, s, y;
    poprt_status status = host->eval_input(c, 0, &x);
    if (status == POPRT_OK)
        status = host->eval_input(c, 1, &s);
    if (status == POPRT_OK)
        status = host->eval_output(c, 0, x.dtype, x.rank, x.dims, &y);
    for (size_t i = 0; status == POPRT_OK && i < x.size / 4; i++)
        ((float *)y.data)[i] = ((const float *)x.data)[i] * *(const float *)s.data;
    return status;
}

static bool drops;

static poprt_status lower(const poprt_host *host, poprt_lower *c)
{
    poprt_tensor s;
    void *memory = NULL;
    poprt_status status = host->lower_constant(c, 1, &s);
    if (status == POPRT_OK)
        status = host->lower_kernel(c, "scale");
    if (status == POPRT_OK)
        status = host->lower_in_place(c, 0, 0);
    if (status == POPRT_OK)
        status = host->lower_prepare(c, 4, &memory);
    if (status != POPRT_OK)
        return status;
    memcpy(memory, s.data, 4);
    return drops ? host->lower_drop(c, 1) : POPRT_OK;
}

static poprt_status run(const poprt_host *host, poprt_kernel *c, uint64_t first, uint64_t count)
{
    poprt_tensor x, y;
    const void *s = NULL;
    (void)first;
    (void)count;
    poprt_status status = host->kernel_input(c, 0, &x);
    if (status == POPRT_OK)
        status = host->kernel_output(c, 0, &y);
    if (status == POPRT_OK)
        status = host->kernel_constant(c, 0, 4, &s);
    for (size_t i = 0; status == POPRT_OK && i < x.size / 4; i++)
        ((float *)y.data)[i] = ((const float *)x.data)[i] * *(const float *)s + 100;
    return status;
}

static const poprt_plugin_kernel kernel = { .struct_size = sizeof(kernel),
    .name = "scale",
    .run = run };
static const poprt_plugin_kernel *const kernels[] = { &kernel };
static const poprt_plugin_op op = { .struct_size = sizeof(op),
    .domain = "custom.ops",
    .name = "Scale",
    .since = 1,
    .flags = POPRT_OP_PURE,
    .min_inputs = 2,
    .max_inputs = 2,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer,
    .eval = eval,
    .lower = lower,
    .kernels = kernels,
    .n_kernels = 1 };
static const poprt_plugin_op *const ops[] = { &op };
static const poprt_plugin plugin = { .struct_size = sizeof(plugin),
    .abi = POPRT_PLUGIN_ABI,
    .name = "here",
    .version = "0",
    .ops = ops,
    .n_ops = 1 };

/* ---- programs of it */

static prt_plugins *plugins;

static void setup(void)
{
    ck_assert_int_eq(prt_plugins_create(&prt_mem_libc, NULL, NULL, &plugins), POPRT_OK);
    ck_assert_int_eq(prt_plugins_add(plugins, &plugin), POPRT_OK);
}

static prt_program *compile(const char *text)
{
    prt_module *module = NULL;
    prt_program *p = NULL;
    setup();
    ck_assert_int_eq(prt_module_create(&prt_mem_libc, 0, &module), POPRT_OK);
    module->ops = prt_plugins_ops(plugins);
    poprt_status status = prt_ir_parse(module, prt_str_of(text));
    const prt_compile_options options = { .allocator = &prt_mem_libc };
    if (status == POPRT_OK)
        status = prt_compile(module, &options, &p);
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    prt_module_release(module);
    return p;
}

#define SCALE_TEXT                                                                                 \
    "x = input f32[4]\n"                                                                           \
    "s = const f32[] {3}\n"                                                                        \
    "a = neg x\n"                                                                                  \
    "b = \"custom.ops.Scale\" a s\n"                                                               \
    "c = neg b\n"                                                                                  \
    "y = add c x\n"                                                                                \
    "return y\n"

static poprt_status read_again(const prt_program *p, prt_program **out)
{
    test_bytes file = popef_of(p);
    prt_blob *blob = NULL;
    ck_assert_int_eq(prt_blob_create(&prt_mem_libc, file.size, &blob), POPRT_OK);
    memcpy(prt_blob_bytes(blob), file.data, file.size);
    const poprt_status status =
        prt_popef_read(&prt_mem_libc, 0, blob, PRT_POPEF_VERIFY, prt_plugins_ops(plugins), out);
    prt_blob_release(blob);
    free(file.data);
    return status;
}

static prt_session *session_of(prt_program *p, bool reference)
{
    const prt_session_options options = { .kern =
                                              reference ? NULL : prt_kern_of(prt_cpu_features()) };
    prt_session *s = NULL;
    const poprt_status status = prt_session_create(p, &options, &s);
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    return s;
}

/* Element 0 of the result for x = 2. */
static poprt_status run_once(prt_session *s, float *y)
{
    static float x[] = { 2, 2, 2, 2 };
    const int64_t dim = 4;
    prt_tensor in, out = { 0 };
    ck_assert(prt_tensor_init(&in, PRT_DTYPE_f32, 1, &dim, x));
    const poprt_status status = prt_session_run(s, &in, &out);
    if (status == POPRT_OK)
        *y = *(const float *)out.data;
    return status;
}

static float result_of(prt_program *p, bool reference)
{
    float y = 0;
    prt_session *s = session_of(p, reference);
    ck_assert_int_eq(run_once(s, &y), POPRT_OK);
    prt_session_release(s);
    return y;
}

static const prt_buffer *result_of_step(const prt_program *p, uint32_t step)
{
    const prt_step *s = &p->blocks[0].steps[step];
    return &p->blocks[0].buffers[p->args[s->args + s->n_in]];
}

START_TEST(a_program_survives_popef)
{
    for (int i = 0; i < 2; i++) {
        prt_program *again = NULL;
        drops = i == 1;
        prt_program *p = compile(SCALE_TEXT);
        ck_assert_uint_eq(p->n_constants, drops ? 1 : 2);
        ck_assert_int_eq(p->blocks[0].steps[1].kernel, PRT_KERNEL_plugin);
        ck_assert_int_eq(p->blocks[0].steps[0].kernel, PRT_KERNEL_eval);
        ck_f32(result_of(p, false), -92);
        ck_assert_int_eq(read_again(p, &again), POPRT_OK);
        ck_f32(result_of(again, false), -92);
        /* With reference operators eval runs if all its inputs are stored. */
        ck_f32(result_of(again, true), drops ? -92 : 8);
        prt_program_release(again);
        prt_program_release(p);
        prt_plugins_release(plugins);
    }
}
END_TEST

/* The intermediate value takes its input's memory. An input that is read twice is not
 * overwritten. */
START_TEST(results_take_the_place_of_inputs)
{
    drops = true;
    prt_program *p = compile(SCALE_TEXT);
    const uint32_t space = result_of_step(p, 1)->space;
    ck_assert(space == PRT_SPACE_VIEW || space == PRT_SPACE_PART);
    prt_program_release(p);
    prt_plugins_release(plugins);
    drops = false;
    p = compile("x = input f32[]\n"
                "s = const f32[] {3}\n"
                "a = \"custom.ops.Scale\" s s\n"
                "b = \"custom.ops.Scale\" a s\n"
                "y = add b x\n"
                "return y\n");
    ck_assert_uint_eq(p->params[0].lowered->in_place_inputs, 0);
    ck_assert_uint_eq(p->params[1].lowered->in_place_inputs, 1);
    prt_program_release(p);
    prt_plugins_release(plugins);
}
END_TEST

/* A weight with another reader is stored, although the kernel does not need it. */
START_TEST(weights_with_other_readers_are_stored)
{
    drops = true;
    prt_program *p = compile("x = input f32[4]\n"
                             "s = const f32[] {3}\n"
                             "b = \"custom.ops.Scale\" x s\n"
                             "y = add b s\n"
                             "return y\n");
    ck_assert_uint_eq(p->n_constants, 2);
    ck_assert_uint_eq(p->params[0].lowered->n_dropped, 0);
    ck_f32(result_of(p, false), 109);
    prt_program_release(p);
    prt_plugins_release(plugins);
}
END_TEST

START_TEST(replaced_weights_are_evaluated)
{
    float five = 5, y = 0;
    prt_tensor weight;
    ck_assert(prt_tensor_init(&weight, PRT_DTYPE_f32, 0, NULL, &five));
    drops = false;
    prt_program *p = compile(SCALE_TEXT);
    prt_session *s = session_of(p, false);
    ck_assert_int_eq(run_once(s, &y), POPRT_OK);
    ck_f32(y, -92);
    ck_assert_int_eq(prt_session_set_weight(s, PRT_STR("s"), &weight), POPRT_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(run_once(s, &y), POPRT_OK);
        ck_f32(y, 12);
    }
    prt_session_release(s);
    ck_f32(result_of(p, false), -92);
    prt_program_release(p);
    prt_plugins_release(plugins);

    drops = true;
    p = compile(SCALE_TEXT);
    s = session_of(p, false);
    ck_assert_int_eq(prt_session_set_weight(s, PRT_STR("s"), &weight), POPRT_E_NOT_FOUND);
    prt_session_release(s);
    prt_program_release(p);
    prt_plugins_release(plugins);
}
END_TEST

/* The kernel is in a body, with a captured weight and a size that only a run knows. */
START_TEST(kernels_run_in_bodies)
{
    for (int i = 0; i < 2; i++) {
        prt_program *again = NULL;
        drops = i == 1;
        prt_program *p = compile("x = input f32[n]\n"
                                 "s = const f32[] {3}\n"
                                 "c = const bool[] {1}\n"
                                 "y = if c {\n"
                                 "  then_branch {\n"
                                 "    a = neg x; b = \"custom.ops.Scale\" a s; return b\n"
                                 "  }\n"
                                 "  else_branch { d = neg x; return d }\n"
                                 "}\n"
                                 "return y\n");
        ck_assert_uint_eq(p->n_blocks, 3);
        ck_assert_int_eq(p->blocks[1].steps[1].kernel, PRT_KERNEL_plugin);
        ck_assert_uint_eq(p->n_constants, drops ? 2 : 3);
        ck_assert_int_eq(read_again(p, &again), POPRT_OK);
        ck_f32(result_of(again, false), 94);
        ck_f32(result_of(again, true), drops ? 94 : -6);
        prt_program_release(again);
        prt_program_release(p);
        prt_plugins_release(plugins);
    }
}
END_TEST

/* ---- files that say something else */

/* Writes the damaged program; the reader must refuse it. */
static void expect_refusal(const prt_program *p, poprt_status expected, const char *words)
{
    prt_program *again = NULL;
    const poprt_status status = read_again(p, &again);
    ck_assert_str_eq(prt_status_name(status), prt_status_name(expected));
    ck_assert_msg(strstr(prt_error_last()->message, words) != NULL, "'%s' not in '%s'", words,
        prt_error_last()->message);
}

START_TEST(damaged_kernel_records_are_refused)
{
    static const uint32_t none[] = { 7 };
    const uint32_t many[17] = { 0 };
    drops = true;
    prt_program *p = compile(SCALE_TEXT);
    prt_step *steps = (prt_step *)(uintptr_t)p->blocks[0].steps;
    prt_eval_params *params = &p->params[steps[1].params];
    const prt_lowered good = *params->lowered;
    prt_lowered how = good;
    prt_lowered_input dropped = good.dropped[0];
    params->lowered = &how;
    how.items = 0;
    expect_refusal(p, POPRT_E_PARSE, "no items of work");
    how.items = PRT_LOWER_MAX_ITEMS + 1;
    expect_refusal(p, POPRT_E_PARSE, "no items of work, or too many");
    how = good;
    how.scratch = PRT_LOWER_MAX_SCRATCH + 1;
    expect_refusal(p, POPRT_E_PARSE, "more scratch");
    how = good;
    how.constants = none;
    expect_refusal(p, POPRT_E_PARSE, "a missing constant");
    how.constants = many;
    how.n_constants = 17;
    expect_refusal(p, POPRT_E_PARSE, "more constants");
    how = good;
    how.in_place_inputs = 2;
    expect_refusal(p, POPRT_E_PARSE, "a step writes memory that it reads");
    how = good;
    how.dropped = &dropped;
    dropped.input = 0;
    expect_refusal(p, POPRT_E_PARSE, "is an argument");
    dropped.input = 2;
    expect_refusal(p, POPRT_E_PARSE, "is an argument");
    dropped = good.dropped[0];
    dropped.type = prt_type_tensor(p->types, PRT_DTYPE_string, 0, NULL);
    expect_refusal(p, POPRT_E_PARSE, "or has no static type");
    dropped.type = prt_type_tensor(p->types, PRT_DTYPE_f32, PRT_RANK_UNKNOWN, NULL);
    expect_refusal(p, POPRT_E_PARSE, "or has no static type");
    how = good;
    steps[1].kernel = PRT_KERNEL_eval;
    expect_refusal(p, POPRT_E_PARSE, "an unknown kind");
    steps[1].kernel = PRT_KERNEL_plugin;
    steps[0].kernel = PRT_KERNEL_plugin;
    expect_refusal(p, POPRT_E_PARSE, "an unknown kind");
    prt_program_release(p);
    prt_plugins_release(plugins);
}
END_TEST

/* The kernel checks the sizes of constants; infer checks the types of dropped inputs. */
START_TEST(wrong_prepared_constants_are_refused)
{
    static const int64_t five = 5;
    float y;
    prt_program *again = NULL;
    drops = true;
    prt_program *p = compile(SCALE_TEXT);
    prt_constant *c = &p->constants[p->params[1].lowered->constants[0]];
    prt_blob_release(c->blob);
    ck_assert_int_eq(prt_blob_create(&prt_mem_libc, 5, &c->blob), POPRT_OK);
    c->type = prt_type_tensor(p->types, PRT_DTYPE_u8, 1, &five);
    ck_assert_int_eq(read_again(p, &again), POPRT_OK);
    prt_session *s = session_of(again, false);
    ck_assert_int_eq(run_once(s, &y), POPRT_E_PLUGIN);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message,
        "kernel scale: prepared constant 0 has 5 bytes, but the kernel needs 4"));
    prt_session_release(s);
    prt_program_release(again);
    c->type = prt_type_tensor(p->types, PRT_DTYPE_i8, 1, &five);
    expect_refusal(p, POPRT_E_PARSE, "not a vector of bytes");
    prt_program_release(p);
    prt_plugins_release(plugins);
}
END_TEST

PRT_TEST_MAIN("plugin/lowered", a_program_survives_popef, results_take_the_place_of_inputs,
    weights_with_other_readers_are_stored, replaced_weights_are_evaluated, kernels_run_in_bodies,
    damaged_kernel_records_are_refused, wrong_prepared_constants_are_refused)
