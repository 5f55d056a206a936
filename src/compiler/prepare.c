/* SPDX-License-Identifier: MIT */
/*
 * prepare.c — operators of plug-ins with a kernel. Their `lower` hooks select the kernel of a step
 * and its parameters (op/lower.h). The data they prepare becomes constants of the program.
 */
#include "compiler/draft.h"

/* The context of a hook's callbacks. */
typedef struct hook_context {
    prt_draft *draft;
    const prt_op *op;
} hook_context;

static poprt_status elements(prt_lower *c, uint32_t input, prt_tensor *out)
{
    const hook_context *a = c->user;
    const prt_value *v = a->op->in[input].value;
    if (v == NULL || !prt_value_is_fixed(v) || !prt_value_tensor(v, out)) {
        *out = (prt_tensor){ .kind = PRT_VALUE_ABSENT };
        return POPRT_OK;
    }
    return prt_value_aligned(v, a->draft->arena, out) ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status prepare(prt_lower *c, size_t size, void **memory)
{
    const hook_context *a = c->user;
    prt_draft *d = a->draft;
    const size_t limit = d->options->memory_limit;
    prt_prepared made = { NULL, a->op };
    if (limit != 0 && (size > limit || d->prepared_bytes > limit - size))
        return prt_fail(POPRT_E_LIMIT, NULL,
            "a constant of %zu bytes, with the %llu before it, is above memory_limit", size,
            (unsigned long long)d->prepared_bytes);
    PRT_TRY(prt_blob_create(d->options->allocator, size, &made.blob));
    if (!PRT_VEC_PUSH(d->arena, &d->prepared, made)) {
        prt_blob_release(made.blob);
        return POPRT_E_NOMEM;
    }
    d->prepared_bytes += size;
    *memory = prt_blob_bytes(made.blob);
    return POPRT_OK;
}

static bool is_read_twice(const prt_op *op, uint32_t input)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (i != input && op->in[i].value == op->in[input].value)
            return true;
    return false;
}

/* Returns whether the input has no other reader, so that it need not be stored. */
static bool may_drop(const prt_op *op, uint32_t input)
{
    return op->in[input].value != NULL && prt_value_used_once(op->in[input].value);
}

/* Returns the parameters that the hook has set; NULL without memory. An input that is read twice
 * cannot be written over. */
static prt_lowered *read_lowered(prt_draft *d, const prt_op *op, const prt_lower *c)
{
    const uint32_t first = (uint32_t)d->prepared.count - c->n_prepared;
    prt_lowered *how = PRT_NEW(d->arena, prt_lowered);
    uint32_t *constants = PRT_NEW_N(d->arena, uint32_t, c->n_prepared);
    prt_lowered_input *dropped = PRT_NEW_N(d->arena, prt_lowered_input, op->n_in);
    if (how == NULL || constants == NULL || dropped == NULL)
        return NULL;
    *how = (prt_lowered){ .kernel = c->kernel,
        .n_constants = c->n_prepared,
        .constants = constants,
        .dropped = dropped,
        .scratch = c->scratch,
        .items = c->items,
        .read_constants = c->read_constants };
    for (uint32_t i = 0; i < c->n_prepared; i++)
        constants[i] = first + i;
    for (uint32_t i = 0; i < op->n_in && i < 64; i++) {
        const uint64_t bit = (uint64_t)1 << i;
        if ((c->dropped & bit) != 0 && may_drop(op, i))
            dropped[how->n_dropped++] = (prt_lowered_input){ i, op->in[i].value->type };
        else if ((c->in_place_inputs & bit) != 0 && !is_read_twice(op, i))
            how->in_place_inputs |= bit;
    }
    return how;
}

poprt_status prt_compile_prepare(prt_draft *d, prt_draft_step *step)
{
    const prt_op *op = step->op;
    const prt_op_row *row = prt_op_row_of(op->def);
    if (row == NULL || row->lower == NULL)
        return POPRT_OK;
    hook_context a = { d, op };
    const prt_type **types = PRT_NEW_N(d->arena, const prt_type *, (size_t)op->n_in + op->n_out);
    if (types == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->n_in; i++)
        types[i] = op->in[i].value != NULL ? op->in[i].value->type : NULL;
    for (uint32_t i = 0; i < op->n_out; i++)
        types[op->n_in + i] = i == 0 || op->out[i].uses != NULL ? op->out[i].type : NULL;
    prt_lower c = { .def = op->def,
        .attrs = op->attrs,
        .origin = prt_str_of(prt_op_label(op)),
        .n_in = op->n_in,
        .n_out = op->n_out,
        .in = types,
        .out = types + op->n_in,
        .elements = elements,
        .prepare = prepare,
        .user = &a,
        .arena = d->arena,
        .kernel = PRT_LOWER_NO_KERNEL,
        .items = 1 };
    PRT_TRY(row->lower(&c));
    if (c.kernel == PRT_LOWER_NO_KERNEL)
        return POPRT_OK;
    step->lowered = read_lowered(d, op, &c);
    step->kernel = PRT_KERNEL_plugin;
    return step->lowered != NULL ? POPRT_OK : POPRT_E_NOMEM;
}
