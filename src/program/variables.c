/* SPDX-License-Identifier: MIT */
/* variables.c — checks of variables and entries; see variables.h. */
#include "program/variables.h"

#include "op/op.h"
#include "program/sharing.h"

static poprt_status bad(prt_str name, const char *what)
{
    return prt_fail(POPRT_E_PARSE, name.data, "program is inconsistent: %s", what);
}

/* Returns whether a constant may stand for first contents that the file does not have. */
static bool stands_for_none(const prt_constant *c, const prt_variable *v)
{
    return prt_type_is_tensor(c->type) && c->type->dtype == PRT_DTYPE_u8 && c->type->rank == 1 &&
        c->type->dims[0] == 0 &&
        (v->role == PRT_VARIABLE_weight || v->role == PRT_VARIABLE_statistic ||
            v->role == PRT_VARIABLE_state);
}

static poprt_status check_variable(const prt_program *p, uint32_t index)
{
    const prt_variable *v = &p->variables[index];
    size_t size;
    if (!prt_type_is_tensor(v->type) || !prt_type_size(v->type, &size) ||
        v->type->rank > PRT_MAX_RANK || v->type->dtype == PRT_DTYPE_string ||
        prt_dtype_bits(v->type->dtype) < 8)
        return bad(v->name, "a variable is not a numeric tensor of fixed shape");
    if (v->role >= PRT_VARIABLE_ROLE_COUNT || v->of >= p->n_variables || v->loss_scale < -1 ||
        v->loss_scale > 1)
        return bad(v->name, "a variable has an unknown role, or belongs to a missing one");
    if (v->init != PRT_NO_CONSTANT &&
        (v->init >= p->n_constants ||
            (p->constants[v->init].type != v->type && !stands_for_none(&p->constants[v->init], v))))
        return bad(v->name, "a variable begins as a constant of another type");
    if ((v->role == PRT_VARIABLE_accumulator || v->role == PRT_VARIABLE_gradient) &&
        (v->init != PRT_NO_CONSTANT || v->fill != 0.0f))
        return bad(v->name, "an accumulator or gradient does not begin as zeros");
    return POPRT_OK;
}

static poprt_status check_scaling(const prt_program *p)
{
    const prt_loss_scaling *s = &p->scaling;
    if (s->counts == PRT_NO_VARIABLE && s->factor == PRT_NO_VARIABLE)
        return POPRT_OK;
    if (s->counts >= p->n_variables || s->factor >= p->n_variables || s->period < 1 ||
        !(s->threshold >= 0.0f && s->threshold <= 1.0f))
        return bad(p->name, "its loss scaling refers to missing variables");
    const prt_variable *counts = &p->variables[s->counts], *factor = &p->variables[s->factor];
    if (counts->type->dtype != PRT_DTYPE_i64 || counts->type->rank != 1 ||
        counts->type->dims[0] != 2 || counts->role != PRT_VARIABLE_accumulator ||
        factor->type->dtype != PRT_DTYPE_f32 || factor->type->rank != 0 ||
        factor->role != PRT_VARIABLE_state)
        return bad(p->name, "its loss scaling refers to variables of other types");
    return POPRT_OK;
}

static poprt_status check_flow(const prt_program *p)
{
    if (!p->has_flow)
        return POPRT_OK;
    PRT_TRY(prt_flow_check(&p->flow));
    for (uint32_t i = 0; i < p->n_outputs; i++)
        PRT_TRY(prt_anchor_check(&p->flow, &p->anchors[i], p->outputs[i].name.data));
    return check_scaling(p);
}

poprt_status prt_variables_check(const prt_program *p)
{
    PRT_TRY(check_flow(p));
    for (uint32_t i = 0; i < p->n_variables; i++)
        PRT_TRY(check_variable(p, i));
    if (p->n_entries > PRT_ENTRY_KIND_COUNT)
        return bad(p->name, "it has more entries than there are kinds");
    for (uint32_t i = 0; i < p->n_entries; i++) {
        if (p->entries[i].kind >= PRT_ENTRY_KIND_COUNT || p->entries[i].block == 0 ||
            p->entries[i].block >= p->n_blocks)
            return bad(p->name, "an entry has an unknown kind or a missing block");
        for (uint32_t k = 0; k < i; k++)
            if (p->entries[k].kind == p->entries[i].kind ||
                p->entries[k].block == p->entries[i].block)
                return bad(p->name, "two entries are of one kind or one block");
    }
    return POPRT_OK;
}

/* What a step of entry `update` may be: see variables.h. */
static poprt_status check_update_step(const prt_program *p, const prt_block *b,
    const prt_step *step)
{
    const prt_eval_params *params = &p->params[step->params];
    const uint32_t *args = &p->args[step->args];
    if ((params->def->traits & (PRT_UPDATES | PRT_PURE | PRT_RANDOM)) == 0 ||
        params->n_regions != 0 || step->kernel != PRT_KERNEL_eval)
        return bad(params->origin, "a step of the update has side effects");
    for (uint32_t i = 0; i < step->n_in + step->n_out; i++)
        if (args[i] != PRT_NO_BUFFER && b->buffers[args[i]].space == PRT_SPACE_DYNAMIC)
            return bad(params->origin, "a step of the update allocates memory");
    return POPRT_OK;
}

/* Returns the buffer of which `buffer` is a view. */
static uint32_t viewed(const prt_block *b, uint32_t buffer)
{
    while (b->buffers[buffer].space == PRT_SPACE_VIEW)
        buffer = b->buffers[buffer].ref;
    return buffer;
}

/* Records the step that writes each variable; `written` has the buffer of the new value, from 1. */
static poprt_status find_writers(const prt_program *p, const prt_block *b, uint32_t *written,
    uint32_t *writer)
{
    for (uint32_t k = 0; k < b->n_steps; k++) {
        const prt_step *step = &b->steps[k];
        const uint32_t *args = &p->args[step->args];
        const prt_op_def *def = p->params[step->params].def;
        for (uint32_t o = 0; o < step->n_out; o++) {
            const uint32_t out = args[step->n_in + o];
            if (out == PRT_NO_BUFFER || b->buffers[out].space != PRT_SPACE_VARIABLE)
                continue;
            const uint32_t variable = b->buffers[out].ref;
            if (!prt_sharing_is_update(b, def, args, o, step->n_in) || written[variable] != 0 ||
                args[o] == out)
                return bad(p->variables[variable].name, "a step may not write this variable");
            written[variable] = out + 1;
            writer[variable] = k;
        }
    }
    return POPRT_OK;
}

static bool reads_old(const prt_block *b, uint32_t buffer, uint32_t step, const uint32_t *written,
    const uint32_t *writer)
{
    if (buffer == PRT_NO_BUFFER)
        return false;
    const uint32_t root = viewed(b, buffer);
    const prt_buffer *x = &b->buffers[root];
    return x->space == PRT_SPACE_VARIABLE && written[x->ref] != 0 && written[x->ref] != root + 1 &&
        writer[x->ref] < step;
}

/* Checks the inputs of a step, and the values that its bodies capture. */
static poprt_status check_reads(const prt_program *p, const prt_block *b, uint32_t step,
    const uint32_t *written, const uint32_t *writer)
{
    const prt_step *s = &b->steps[step];
    const prt_eval_params *params = &p->params[s->params];
    bool old = false;
    for (uint32_t i = 0; i < s->n_in; i++)
        old = old || reads_old(b, p->args[s->args + i], step, written, writer);
    for (uint32_t r = 0; r < params->n_regions; r++) {
        const prt_block *body = &p->blocks[params->regions[r]];
        for (uint32_t i = 0; i < body->n_buffers; i++)
            if (body->buffers[i].space == PRT_SPACE_CAPTURE)
                old = old || reads_old(b, body->buffers[i].ref, step, written, writer);
    }
    return old ? bad(params->origin, "a step reads a variable after it was written") : POPRT_OK;
}

/* A new value is read only after it is written. */
static poprt_status check_new(const prt_program *p, const prt_block *b, const uint32_t *written,
    const uint32_t *writer)
{
    for (uint32_t k = 0; k < b->n_steps; k++)
        for (uint32_t i = 0; i < b->steps[k].n_in; i++) {
            const uint32_t in = p->args[b->steps[k].args + i];
            const uint32_t root = in != PRT_NO_BUFFER ? viewed(b, in) : 0;
            const prt_buffer *x = &b->buffers[root];
            if (in != PRT_NO_BUFFER && x->space == PRT_SPACE_VARIABLE &&
                written[x->ref] == root + 1 && writer[x->ref] >= k)
                return bad(p->variables[x->ref].name, "a new value is read before it is written");
        }
    return POPRT_OK;
}

poprt_status prt_variables_check_block(const prt_program *p, uint32_t block, prt_arena *scratch)
{
    const prt_block *b = &p->blocks[block];
    if (p->n_variables == 0)
        return POPRT_OK;
    uint32_t *written = PRT_NEW_N(scratch, uint32_t, p->n_variables);
    uint32_t *writer = PRT_NEW_N(scratch, uint32_t, p->n_variables);
    if (written == NULL || writer == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(find_writers(p, b, written, writer));
    for (uint32_t k = 0; k < b->n_steps; k++) {
        PRT_TRY(check_reads(p, b, k, written, writer));
        if (block == prt_program_entry(p, PRT_ENTRY_update) && block != 0)
            PRT_TRY(check_update_step(p, b, &b->steps[k]));
    }
    PRT_TRY(check_new(p, b, written, writer));
    for (uint32_t i = 0; i < b->n_outputs; i++)
        if (reads_old(b, b->outputs[i], b->n_steps, written, writer))
            return bad(b->name, "an output is a variable's old value");
    return POPRT_OK;
}
