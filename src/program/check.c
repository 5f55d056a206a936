/* SPDX-License-Identifier: MIT */
/*
 * check.c — validates a program from a file. Every index must be in range and every buffer must
 * agree with its space. Planned buffers must lie inside the block's memory, and must not overlap
 * while both are alive. Every body must be called once and from its parent, unless all its callers
 * are operators that share bodies (PRT_CALLS), and no step may read a buffer before it is written.
 * sharing.c checks how buffers share memory, variables.c how steps write variables.
 */
#include "op/op.h"
#include "program/lowered.h"
#include "program/sharing.h"
#include "program/variables.h"

static poprt_status bad(const prt_block *block, const char *what)
{
    return prt_fail(POPRT_E_PARSE, block->name.data, "program is inconsistent: %s", what);
}

static poprt_status check_buffer(const prt_program *p, const prt_block *b, const prt_buffer *buffer)
{
    size_t size;
    switch (buffer->space) {
    case PRT_SPACE_PLANNED:
        if (!prt_type_is_tensor(buffer->type) || buffer->type->rank < 0 ||
            buffer->type->rank > PRT_MAX_RANK || buffer->type->dtype == PRT_DTYPE_string)
            return bad(b, "a planned buffer is not a numeric tensor of known rank");
        if (buffer->first > buffer->last || buffer->last > b->n_steps)
            return bad(b, "a buffer ends before it begins, or after the last step");
        if (!b->is_static)
            return POPRT_OK;
        if (!prt_type_size(buffer->type, &size) || buffer->offset % PRT_BUFFER_ALIGN != 0 ||
            buffer->offset > b->plan_size || size > b->plan_size - buffer->offset)
            return bad(b, "a planned buffer lies outside the plan");
        return POPRT_OK;
    case PRT_SPACE_CONSTANT:
        if (buffer->ref >= p->n_constants || p->constants[buffer->ref].type != buffer->type)
            return bad(b, "a buffer does not refer to a constant of its type");
        return POPRT_OK;
    case PRT_SPACE_INPUT:
        return buffer->ref < b->n_inputs ? POPRT_OK : bad(b, "a buffer refers to a missing input");
    case PRT_SPACE_OUTPUT:
        if (b != p->blocks || buffer->ref >= b->n_outputs ||
            &b->buffers[b->outputs[buffer->ref]] != buffer)
            return bad(b, "a buffer refers to a missing output");
        return POPRT_OK;
    case PRT_SPACE_CAPTURE:
        if (b == &p->blocks[b->parent] || buffer->ref >= p->blocks[b->parent].n_buffers)
            return bad(b, "a capture refers to a missing buffer of the enclosing block");
        if (p->blocks[b->parent].buffers[buffer->ref].space == PRT_SPACE_COLUMNS)
            return bad(b, "a capture refers to columns of the enclosing block");
        return POPRT_OK;
    case PRT_SPACE_VARIABLE:
        if (buffer->ref >= p->n_variables || p->variables[buffer->ref].type != buffer->type ||
            b->parent != (uint32_t)(b - p->blocks))
            return bad(b, "a buffer does not refer to a variable of its type");
        return POPRT_OK;
    case PRT_SPACE_DYNAMIC:
        return POPRT_OK;
    case PRT_SPACE_VIEW:
    case PRT_SPACE_PART:
    case PRT_SPACE_COLUMNS:
        return prt_sharing_check_buffer(b, buffer);
    default:
        return bad(b, "a buffer has an unknown memory space");
    }
}

/* Checks that planned buffers alive at the same time do not overlap. Each buffer is compared with
 * the buffers alive at its first step only, so files with many buffers stay cheap without
 * sorting. */
static poprt_status check_overlaps(const prt_block *b, prt_arena *scratch)
{
    uint32_t *alive = PRT_NEW_N(scratch, uint32_t, b->n_buffers);
    uint32_t *by_first = PRT_NEW_N(scratch, uint32_t, b->n_buffers);
    uint32_t *heads = PRT_NEW_N(scratch, uint32_t, (size_t)b->n_steps + 2);
    if (alive == NULL || by_first == NULL || heads == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < b->n_buffers; i++) { /* lists of buffers by first step, 1-based */
        if (b->buffers[i].space != PRT_SPACE_PLANNED)
            continue;
        by_first[i] = heads[b->buffers[i].first];
        heads[b->buffers[i].first] = i + 1;
    }
    uint32_t n = 0;
    for (uint32_t step = 0; step <= b->n_steps; step++) {
        uint32_t kept = 0;
        for (uint32_t k = 0; k < n; k++)
            if (b->buffers[alive[k]].last >= step)
                alive[kept++] = alive[k];
        n = kept;
        for (uint32_t i = heads[step]; i != 0; i = by_first[i - 1]) {
            const prt_buffer *x = &b->buffers[i - 1];
            size_t x_size = 0, y_size = 0;
            (void)prt_type_size(x->type, &x_size);
            for (uint32_t k = 0; k < n; k++) {
                const prt_buffer *y = &b->buffers[alive[k]];
                (void)prt_type_size(y->type, &y_size);
                if (x->offset < y->offset + y_size && y->offset < x->offset + x_size)
                    return bad(b, "two buffers share memory while both are in use");
            }
            alive[n++] = i - 1;
        }
    }
    return POPRT_OK;
}

/* Points in time, and depth, by block. */
typedef struct timeline {
    uint32_t *calls;  /* number of steps that call the block */
    bool *is_callee;  /* all of them have PRT_CALLS */
    uint32_t *caller; /* the first step of the parent that calls it */
    uint32_t **ready; /* by buffer: the first step that may read it; UINT32_MAX: no step */
    uint32_t *depth;  /* number of enclosing blocks */
} timeline;

/* Finds the buffers that can be read from the start, and those that each step adds. Parents come
 * before their bodies, so `ready` of the parent is known. */
static poprt_status check_reads(const prt_program *p, uint32_t block, timeline *t,
    prt_arena *scratch)
{
    const prt_block *b = &p->blocks[block];
    uint32_t *ready = PRT_NEW_N(scratch, uint32_t, b->n_buffers);
    if (ready == NULL)
        return POPRT_E_NOMEM;
    t->ready[block] = ready;
    const uint32_t caller = t->calls[block] != 0 ? t->caller[block] : 0;
    for (uint32_t i = 0; i < b->n_buffers; i++) {
        const prt_buffer *buffer = &b->buffers[i];
        ready[i] = buffer->space == PRT_SPACE_CONSTANT || buffer->space == PRT_SPACE_VARIABLE
            ? 0
            : UINT32_MAX;
        if (buffer->space == PRT_SPACE_CAPTURE && t->ready[b->parent][buffer->ref] <= caller)
            ready[i] = 0;
    }
    for (uint32_t i = 0; i < b->n_inputs; i++)
        ready[b->inputs[i]] = 0;
    for (uint32_t k = 0; k < b->n_steps; k++) {
        const prt_step *step = &b->steps[k];
        const uint32_t *args = &p->args[step->args];
        for (uint32_t i = 0; i < step->n_in; i++)
            if (args[i] != PRT_NO_BUFFER && ready[args[i]] > k)
                return bad(b, "a step reads a buffer before it is written");
        for (uint32_t i = step->n_in; i < step->n_in + step->n_out; i++)
            if (args[i] != PRT_NO_BUFFER && ready[args[i]] > k + 1)
                ready[args[i]] = k + 1;
        const prt_eval_params *params = &p->params[step->params];
        for (uint32_t i = 0; i < params->n_regions; i++) {
            const uint32_t body = params->regions[i];
            if (p->blocks[body].parent == block && k < t->caller[body])
                t->caller[body] = k;
        }
    }
    for (uint32_t i = 0; i < b->n_outputs; i++)
        if (ready[b->outputs[i]] > b->n_steps)
            return bad(b, "an output is never written");
    return POPRT_OK;
}

static bool has_captures(const prt_block *b)
{
    for (uint32_t i = 0; i < b->n_buffers; i++)
        if (b->buffers[i].space == PRT_SPACE_CAPTURE)
            return true;
    return false;
}

/* Checks the bodies of a step. A callee without captures may have callers in several blocks. */
static poprt_status check_bodies(const prt_program *p, uint32_t block,
    const prt_eval_params *params, timeline *t)
{
    const bool calls = (params->def->traits & PRT_CALLS) != 0;
    for (uint32_t i = 0; i < params->n_regions; i++) {
        const uint32_t body = params->regions[i];
        if (body >= p->n_blocks || body <= block)
            return bad(&p->blocks[block], "a body belongs to another step");
        const bool is_callee = calls && (t->calls[body] == 0 || t->is_callee[body]);
        if ((t->calls[body]++ != 0 && !is_callee) ||
            (p->blocks[body].parent != block && (!calls || has_captures(&p->blocks[body]))))
            return bad(&p->blocks[block], "a body belongs to another step");
        t->is_callee[body] = is_callee;
        if (t->depth[body] < t->depth[block] + 1)
            t->depth[body] = t->depth[block] + 1;
    }
    return POPRT_OK;
}

static poprt_status check_step(const prt_program *p, uint32_t block, const prt_step *step,
    timeline *t)
{
    const prt_block *b = &p->blocks[block];
    if (step->kernel >= PRT_KERNEL_COUNT || step->flags != 0 || step->params >= p->n_params)
        return bad(b, "a step has an unknown kind");
    if (step->n_in > p->n_args || step->n_out > p->n_args - step->n_in ||
        step->args > p->n_args - step->n_in - step->n_out)
        return bad(b, "a step's arguments lie outside the list");
    for (uint32_t i = 0; i < step->n_in + step->n_out; i++) {
        const uint32_t arg = p->args[step->args + i];
        if (arg == PRT_NO_BUFFER)
            continue;
        if (arg >= b->n_buffers)
            return bad(b, "a step refers to a missing buffer");
        const uint32_t space = b->buffers[arg].space;
        if (i >= step->n_in &&
            (space == PRT_SPACE_CONSTANT || space == PRT_SPACE_INPUT || space == PRT_SPACE_CAPTURE))
            return bad(b, "a step writes into an input or constant");
    }
    const prt_eval_params *params = &p->params[step->params];
#ifndef PRT_NO_COMPILER
    if ((step->kernel == PRT_KERNEL_plugin) != (params->lowered != NULL))
        return bad(b, "a step has an unknown kind");
    if (params->lowered != NULL)
        PRT_TRY(prt_lowered_check(p, step));
#endif
    return check_bodies(p, block, params, t);
}

static poprt_status check_block(const prt_program *p, uint32_t block, timeline *t,
    prt_arena *scratch)
{
    const prt_block *b = &p->blocks[block];
    if (b->parent > block || prt_program_is_entry(p, block) != (b->parent == block))
        return bad(b, "blocks are out of order");
    if (block != 0 && b->parent == block && (b->n_inputs != 0 || b->n_outputs != 0))
        return bad(b, "an entry has inputs or outputs");
    if (b->parent != block && t->depth[block] < t->depth[b->parent] + 1)
        t->depth[block] = t->depth[b->parent] + 1;
    if (t->depth[block] > PRT_MAX_BLOCK_DEPTH)
        return prt_fail(POPRT_E_LIMIT, b->name.data, "blocks are nested more than %d deep",
            PRT_MAX_BLOCK_DEPTH);
    for (uint32_t i = 0; i < b->n_inputs; i++)
        if (b->inputs[i] >= b->n_buffers || b->buffers[b->inputs[i]].space != PRT_SPACE_INPUT ||
            b->buffers[b->inputs[i]].ref != i)
            return bad(b, "an input does not refer to its buffer");
    for (uint32_t i = 0; i < b->n_outputs; i++)
        if (b->outputs[i] >= b->n_buffers || b->buffers[b->outputs[i]].space == PRT_SPACE_COLUMNS)
            return bad(b, "an output refers to a missing buffer or to columns");
    for (uint32_t i = 0; i < b->n_buffers; i++)
        PRT_TRY(check_buffer(p, b, &b->buffers[i]));
    for (uint32_t i = 0; i < b->n_steps; i++)
        PRT_TRY(check_step(p, block, &b->steps[i], t));
    PRT_TRY(check_reads(p, block, t, scratch));
    return b->is_static ? check_overlaps(b, scratch) : POPRT_OK;
}

poprt_status prt_program_check(const prt_program *p)
{
    if (p->n_blocks == 0)
        return prt_fail(POPRT_E_PARSE, NULL, "program has no main block");
    if (p->n_inputs != p->blocks[0].n_inputs || p->n_outputs != p->blocks[0].n_outputs)
        return bad(&p->blocks[0], "inputs and outputs differ from the main block's");
    if (p->n_graphs != 0 && !prt_program_may_be_fused(p, p->n_graphs))
        return bad(&p->blocks[0], "inputs and outputs are not those of fused models");
    PRT_TRY(prt_variables_check(p));
    prt_arena *scratch = NULL;
    PRT_TRY(prt_arena_create(p->allocator, 0, &scratch));
    timeline t = { .calls = PRT_NEW_N(scratch, uint32_t, p->n_blocks),
        .is_callee = PRT_NEW_N(scratch, bool, p->n_blocks),
        .caller = PRT_NEW_N(scratch, uint32_t, p->n_blocks),
        .ready = PRT_NEW_N(scratch, uint32_t *, p->n_blocks),
        .depth = PRT_NEW_N(scratch, uint32_t, p->n_blocks) };
    poprt_status status = POPRT_OK;
    if (t.calls == NULL || t.is_callee == NULL || t.caller == NULL || t.ready == NULL ||
        t.depth == NULL)
        status = POPRT_E_NOMEM;
    for (uint32_t i = 0; status == POPRT_OK && i < p->n_blocks; i++)
        t.caller[i] = UINT32_MAX;
    for (uint32_t i = 0; status == POPRT_OK && i < p->n_blocks; i++)
        status = check_block(p, i, &t, scratch);
    for (uint32_t i = 0; status == POPRT_OK && i < p->n_blocks; i++)
        status = prt_sharing_check(p, i, scratch); /* also looks into bodies */
    for (uint32_t i = 0; status == POPRT_OK && i < p->n_blocks; i++)
        status = prt_variables_check_block(p, i, scratch);
    prt_arena_release(scratch);
    return status;
}
