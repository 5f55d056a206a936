/* SPDX-License-Identifier: MIT */
/*
 * lower.c — the `lower` hook of a plug-in's operator and its host functions. They check each
 * request and store it in the context (op/lower.h) that the compiler reads.
 */
#include "base/nearest.h"
#include "plugin/internal.h"

static prt_lower *of(const poprt_lower *context)
{
    return (prt_lower *)(uintptr_t)context;
}

poprt_status prt_plugin_run_lower(prt_lower *c)
{
    const prt_plugin_op *op = prt_plugin_op_of(c->def);
    prt_plugin_enter();
    PRT_TRY(prt_plugin_leave(op->plugin, op->row.def.key, c->origin.data,
        op->record.lower(&op->plugin->all->host, (poprt_lower *)(void *)c)));
    const bool asked = c->n_prepared != 0 || c->dropped != 0 || c->scratch != 0 ||
        c->in_place_inputs != 0 || c->items != 1;
    if (c->kernel == PRT_LOWER_NO_KERNEL && asked)
        return prt_fail(POPRT_E_PLUGIN, c->origin.data,
            "plug-in %.100s, %.200s: lower describes the needs of a kernel, but chose no kernel",
            op->plugin->name, op->row.def.key);
    return POPRT_OK;
}

/* ---- queries */

static bool has_input(const prt_lower *c, uint32_t input)
{
    return input < c->n_in && c->in[input] != NULL;
}

static bool has_output(const prt_lower *c, uint32_t output)
{
    return output < c->n_out && c->out[output] != NULL;
}

static uint32_t lower_inputs(const poprt_lower *context)
{
    return of(context)->n_in;
}

static uint32_t lower_outputs(const poprt_lower *context)
{
    return of(context)->n_out;
}

static poprt_status lower_attr(const poprt_lower *context, const char *name, poprt_attr *out)
{
    const prt_lower *c = of(context);
    return prt_plugin_get_attr(c->def, c->attrs, name, prt_plugin_arena_memory(c->arena), out);
}

static int32_t lower_has_input(const poprt_lower *context, uint32_t input)
{
    return has_input(of(context), input);
}

static int32_t lower_has_output(const poprt_lower *context, uint32_t output)
{
    return has_output(of(context), output);
}

static poprt_status lower_input(const poprt_lower *context, uint32_t input, poprt_type *out)
{
    if (!has_input(of(context), input))
        return prt_plugin_no_slot("input", input);
    *out = prt_plugin_export_type(of(context)->in[input]);
    return POPRT_OK;
}

static poprt_status lower_output(const poprt_lower *context, uint32_t output, poprt_type *out)
{
    if (!has_output(of(context), output))
        return prt_plugin_no_slot("wanted output", output);
    *out = prt_plugin_export_type(of(context)->out[output]);
    return POPRT_OK;
}

static poprt_status get_elements(prt_lower *c, uint32_t input, prt_tensor *t)
{
    if (!has_input(c, input))
        return prt_plugin_no_slot("input", input);
    *t = (prt_tensor){ .kind = PRT_VALUE_ABSENT };
    if (input < 64)
        PRT_TRY(c->elements(c, input, t));
    if (t->kind != PRT_VALUE_TENSOR)
        return prt_fail(POPRT_E_NOT_FOUND, NULL, "input %u is not a constant, or may change",
            input);
    c->read_constants |= (uint64_t)1 << input;
    return POPRT_OK;
}

/* `out` points to the dims of the type, which outlives the call. */
static poprt_status lower_constant(poprt_lower *context, uint32_t input, poprt_tensor *out)
{
    prt_lower *c = of(context);
    prt_tensor t;
    PRT_TRY(get_elements(c, input, &t));
    *out = (poprt_tensor){ .data = t.data,
        .size = t.size,
        .dims = c->in[input]->dims,
        .rank = t.rank,
        .dtype = t.dtype };
    return POPRT_OK;
}

/* ---- requests */

static poprt_status check_type(const prt_type *type, const char *what, uint32_t i)
{
    if (type == NULL ||
        (type->kind == PRT_VALUE_TENSOR && type->dtype != PRT_DTYPE_undefined &&
            type->dtype != PRT_DTYPE_string))
        return POPRT_OK;
    return prt_fail(POPRT_E_TYPE, NULL,
        "%s %u is not a tensor of numbers or bool, which kernels need", what, i);
}

static poprt_status lower_kernel(poprt_lower *context, const char *name)
{
    prt_lower *c = of(context);
    const prt_op_row *row = prt_op_row_of(c->def);
    char nearest[256];
    for (uint32_t i = 0; i < c->n_in; i++)
        PRT_TRY(check_type(c->in[i], "input", i));
    for (uint32_t i = 0; i < c->n_out; i++)
        PRT_TRY(check_type(c->out[i], "output", i));
    for (uint32_t i = 0; name != NULL && i < row->n_kernels; i++)
        if (strcmp(row->kernels[i], name) == 0) {
            c->kernel = i;
            return POPRT_OK;
        }
    prt_nearest(name != NULL ? name : "", row->kernels, row->n_kernels, nearest, sizeof(nearest));
    return prt_fail(POPRT_E_NOT_FOUND, NULL,
        "the operator's record has no kernel %.100s; nearest: %s", name != NULL ? name : "NULL",
        nearest);
}

static poprt_status lower_prepare(poprt_lower *context, size_t size, void **memory)
{
    prt_lower *c = of(context);
    if (size == 0 || size > PRT_LOWER_MAX_BYTES)
        return prt_fail(POPRT_E_LIMIT, NULL,
            "a constant of %zu bytes is out of range: 1 to %llu bytes are allowed", size,
            (unsigned long long)PRT_LOWER_MAX_BYTES);
    if (c->n_prepared == PRT_LOWER_MAX_CONSTANTS)
        return prt_fail(POPRT_E_LIMIT, NULL, "more than %u constants", PRT_LOWER_MAX_CONSTANTS);
    PRT_TRY(c->prepare(c, size, memory));
    c->n_prepared++;
    return POPRT_OK;
}

static poprt_status lower_drop(poprt_lower *context, uint32_t input)
{
    prt_lower *c = of(context);
    prt_tensor t;
    PRT_TRY(get_elements(c, input, &t));
    c->dropped |= (uint64_t)1 << input;
    return POPRT_OK;
}

static poprt_status lower_scratch(poprt_lower *context, size_t size)
{
    if (size > PRT_LOWER_MAX_SCRATCH)
        return prt_fail(POPRT_E_LIMIT, NULL, "%zu bytes of scratch are too many: %llu are allowed",
            size, (unsigned long long)PRT_LOWER_MAX_SCRATCH);
    of(context)->scratch = size;
    return POPRT_OK;
}

static poprt_status lower_in_place(poprt_lower *context, uint32_t output, uint32_t input)
{
    prt_lower *c = of(context);
    if (!has_input(c, input))
        return prt_plugin_no_slot("input", input);
    if (!has_output(c, output))
        return prt_plugin_no_slot("wanted output", output);
    if (output == 0 && input < 64)
        c->in_place_inputs |= (uint64_t)1 << input;
    return POPRT_OK;
}

static poprt_status lower_items(poprt_lower *context, uint64_t count)
{
    if (count == 0 || count > PRT_LOWER_MAX_ITEMS)
        return prt_fail(POPRT_E_LIMIT, NULL,
            "%llu items of work are out of range: 1 to %llu are allowed", (unsigned long long)count,
            (unsigned long long)PRT_LOWER_MAX_ITEMS);
    of(context)->items = count;
    return POPRT_OK;
}

void prt_plugin_host_lower(poprt_host *host)
{
    host->lower_inputs = lower_inputs;
    host->lower_outputs = lower_outputs;
    host->lower_attr = lower_attr;
    host->lower_has_input = lower_has_input;
    host->lower_has_output = lower_has_output;
    host->lower_input = lower_input;
    host->lower_output = lower_output;
    host->lower_constant = lower_constant;
    host->lower_kernel = lower_kernel;
    host->lower_prepare = lower_prepare;
    host->lower_drop = lower_drop;
    host->lower_scratch = lower_scratch;
    host->lower_in_place = lower_in_place;
    host->lower_items = lower_items;
}
