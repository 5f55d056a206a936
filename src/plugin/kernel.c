/* SPDX-License-Identifier: MIT */
/*
 * kernel.c — kernels of plug-ins: checks their records and runs steps by them. The items of a step
 * are divided into calls by their number alone, so the calls do not depend on the number of
 * threads. Each thread has its own scratch. The data of a kernel may come from a PopEF file, so the
 * kernel states the sizes it expects.
 */
#include <stdatomic.h>
#include <stdio.h>

#include "base/blob.h"
#include "fast/parallel.h"
#include "plugin/internal.h"

enum { MAX_KERNELS = 64, MOST_CALLS = 256 };

/* State of a step while its kernel runs. */
typedef struct kernel_run {
    prt_eval *c;
    const prt_plugin_op *op;
    const poprt_plugin_kernel *kernel;
    size_t calls;
    const poprt_attr *attrs; /* by attribute, exported before the calls; NULL: none needs memory */
    _Atomic bool failed;
    _Atomic bool has_error; /* true: `error` is set */
    prt_error_copy error;
} kernel_run;

struct poprt_kernel {
    const kernel_run *kernel_run;
    void *scratch;
};

/* ---- running */

static void run_call(const void *user, size_t index, float *scratch)
{
    kernel_run *j = (kernel_run *)(uintptr_t)user;
    const uint64_t items = j->c->lowered->items;
    const size_t first = prt_parallel_piece_begin((size_t)items, j->calls, index);
    const size_t end = prt_parallel_piece_begin((size_t)items, j->calls, index + 1);
    poprt_kernel context = { j, scratch };
    char what[300];
    if (atomic_load_explicit(&j->failed, memory_order_relaxed))
        return;
    prt_plugin_enter();
    poprt_status status = j->kernel->run(&j->op->plugin->all->host, &context, first, end - first);
    if (status == POPRT_OK)
        return;
    (void)snprintf(what, sizeof(what), "%s, kernel %s", j->op->row.def.key, j->kernel->name);
    status = prt_plugin_leave(j->op->plugin, what, j->c->origin.data, status);
    if (!atomic_exchange(&j->has_error, true)) { /* only the first failure */
        prt_error_save(&j->error);
        j->error.status = status;
    }
    atomic_store(&j->failed, true);
}

/* Tells whether every used output is a tensor with memory. */
static bool is_ready(const prt_eval *c)
{
    for (uint32_t i = 0; i < c->n_out; i++) {
        const prt_tensor *t = c->out[i];
        if (t != NULL &&
            (t->kind != PRT_VALUE_TENSOR || t->dtype == PRT_DTYPE_string ||
                (t->data == NULL && t->size != 0)))
            return false;
    }
    return true;
}

static void *eval_alloc(void *context, size_t size)
{
    return prt_eval_scratch(context, size, 1);
}

/* Exports the attributes of an operator that has strings, tensors or types, since the threads of a
 * kernel share no memory that they could allocate. */
static poprt_status export_attrs(prt_eval *c, const poprt_attr **out)
{
    bool needed = false;
    for (uint32_t i = 0; i < c->def->n_attrs; i++)
        needed = needed || prt_plugin_attr_needs_memory(c->def->attrs[i].kind);
    *out = NULL;
    if (!needed)
        return POPRT_OK;
    poprt_attr *attrs = prt_eval_scratch(c, c->def->n_attrs, sizeof(*attrs));
    if (attrs == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < c->def->n_attrs; i++)
        PRT_TRY(prt_plugin_export_attr(&c->def->attrs[i], c->attrs,
            (prt_plugin_memory){ eval_alloc, c }, &attrs[i]));
    *out = attrs;
    return POPRT_OK;
}

static poprt_status run(prt_eval *c, const struct prt_kern *kern, bool *done)
{
    (void)kern;
    const prt_plugin_op *op = prt_plugin_op_of(c->def);
    const prt_lowered *how = c->lowered;
    if (!is_ready(c)) {
        *done = false;
        return POPRT_OK;
    }
    kernel_run j = { .c = c,
        .op = op,
        .kernel = &op->kernels[how->kernel],
        .calls = how->items < MOST_CALLS ? (size_t)how->items : MOST_CALLS };
    PRT_TRY(export_attrs(c, &j.attrs));
    atomic_init(&j.failed, false);
    atomic_init(&j.has_error, false);
    const size_t floats = ((size_t)how->scratch + sizeof(float) - 1) / sizeof(float);
    const poprt_status status = prt_parallel_for(c, j.calls, floats, run_call, &j);
    if (!atomic_load(&j.failed))
        return status;
    prt_error_restore(&j.error);
    return j.error.status;
}

/* ---- for kernels */

static const prt_eval *eval_of(const poprt_kernel *context)
{
    return context->kernel_run->c;
}

static uint32_t kernel_inputs(const poprt_kernel *context)
{
    return eval_of(context)->n_in;
}

static uint32_t kernel_outputs(const poprt_kernel *context)
{
    return eval_of(context)->n_out;
}

static poprt_status kernel_attr(const poprt_kernel *context, const char *name, poprt_attr *out)
{
    const prt_eval *c = eval_of(context);
    const uint32_t index = name != NULL ? prt_op_attr(c->def, prt_str_of(name)) : UINT32_MAX;
    if (context->kernel_run->attrs == NULL || index == UINT32_MAX)
        return prt_plugin_get_attr(c->def, c->attrs, name, (prt_plugin_memory){ NULL, NULL }, out);
    *out = context->kernel_run->attrs[index];
    return POPRT_OK;
}

static int32_t kernel_has_input(const poprt_kernel *context, uint32_t input)
{
    return prt_eval_has(eval_of(context), input);
}

static int32_t kernel_has_output(const poprt_kernel *context, uint32_t output)
{
    return prt_eval_wants(eval_of(context), output);
}

static poprt_status kernel_input(const poprt_kernel *context, uint32_t input, poprt_tensor *out)
{
    const prt_eval *c = eval_of(context);
    if (!prt_eval_has(c, input))
        return prt_plugin_no_slot("input", input);
    prt_plugin_export_tensor(c->in[input], out);
    return POPRT_OK;
}

static poprt_status kernel_output(const poprt_kernel *context, uint32_t output, poprt_tensor *out)
{
    const prt_eval *c = eval_of(context);
    if (!prt_eval_wants(c, output))
        return prt_plugin_no_slot("wanted output", output);
    prt_plugin_export_tensor(c->out[output], out);
    return POPRT_OK;
}

static poprt_status kernel_constant(const poprt_kernel *context, uint32_t index, size_t size,
    const void **out)
{
    const prt_eval *c = eval_of(context);
    if (index >= c->lowered->n_constants)
        return prt_plugin_no_slot("prepared constant", index);
    const prt_blob *blob = c->weights[c->lowered->constants[index]];
    if (blob->size != size)
        return prt_fail(POPRT_E_PLUGIN, NULL,
            "prepared constant %u has %zu bytes, but the kernel needs %zu: compile the model again",
            index, blob->size, size);
    *out = blob->data;
    return POPRT_OK;
}

static void *kernel_scratch(const poprt_kernel *context, size_t size)
{
    const uint64_t have = eval_of(context)->lowered->scratch;
    if (size <= have && context->scratch != NULL)
        return context->scratch;
    (void)prt_fail(POPRT_E_PLUGIN, NULL,
        "there are %llu bytes of scratch, but the kernel needs %zu: compile the model again",
        (unsigned long long)have, size);
    return NULL;
}

static uint64_t kernel_items(const poprt_kernel *context)
{
    return eval_of(context)->lowered->items;
}

static poprt_status kernel_check(const poprt_kernel *context)
{
    prt_eval *c = context->kernel_run->c;
    return c->host->check(c);
}

void prt_plugin_host_kernels(poprt_host *host)
{
    host->kernel_inputs = kernel_inputs;
    host->kernel_outputs = kernel_outputs;
    host->kernel_attr = kernel_attr;
    host->kernel_has_input = kernel_has_input;
    host->kernel_has_output = kernel_has_output;
    host->kernel_input = kernel_input;
    host->kernel_output = kernel_output;
    host->kernel_constant = kernel_constant;
    host->kernel_scratch = kernel_scratch;
    host->kernel_items = kernel_items;
    host->kernel_check = kernel_check;
}

/* ---- records */

static poprt_status copy_kernel(const prt_plugin_op *op, uint32_t index, poprt_plugin_kernel *to,
    const char **names)
{
    const char *key = op->row.def.key;
    PRT_TRY(prt_plugin_import(to, sizeof(*to), sizeof(*to), op->record.kernels[index],
        "poprt_plugin_kernel"));
    if (!prt_plugin_is_name(to->name, true))
        return prt_fail(POPRT_E_PLUGIN, key, "a kernel needs a name of letters, digits and '_'");
    if (to->run == NULL)
        return prt_fail(POPRT_E_PLUGIN, key, "kernel %s has no function `run`", to->name);
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(names[i], to->name) == 0)
            return prt_fail(POPRT_E_PLUGIN, key, "kernel %s is listed twice", to->name);
    names[index] = to->name;
    return POPRT_OK;
}

poprt_status prt_plugin_copy_kernels(prt_plugin_op *op)
{
    const poprt_plugin_op *r = &op->record;
    const char *key = op->row.def.key;
    prt_arena *arena = op->plugin->all->arena;
    if (r->n_kernels > MAX_KERNELS || (r->n_kernels != 0 && r->kernels == NULL))
        return prt_fail(POPRT_E_PLUGIN, key,
            "the operator's list of kernels is NULL, or longer than %d", MAX_KERNELS);
    if ((r->lower == NULL) != (r->n_kernels == 0) || (r->lower != NULL && r->eval == NULL))
        return prt_fail(POPRT_E_PLUGIN, key,
            "the operator needs lower, kernels and eval together: lower without kernels, kernels "
            "without lower, and both without eval are refused");
    const uint32_t n = (uint32_t)r->n_kernels;
    poprt_plugin_kernel *kernels = PRT_NEW_N(arena, poprt_plugin_kernel, (size_t)n + 1);
    const char **names = PRT_NEW_N(arena, const char *, (size_t)n + 1);
    if (kernels == NULL || names == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        PRT_TRY(copy_kernel(op, i, &kernels[i], names));
    op->kernels = kernels;
    op->row.kernels = names;
    op->row.n_kernels = n;
    op->row.lower = r->lower != NULL ? prt_plugin_run_lower : NULL;
    op->row.run = run;
    return POPRT_OK;
}
