/* SPDX-License-Identifier: MIT */
/*
 * lower.c — lowers operations to steps on buffers, and graphs to blocks. Every operation is an
 * `eval` step unless its plug-in has a kernel for it.
 *
 * A body (region of If, Loop, Scan) is a block of its own. A value of an enclosing graph is
 * captured: by a buffer that stands for a buffer of the parent block, through as many levels as
 * needed. Constants are shared by all blocks, and so are equal callees (callees.c).
 */
#include "compiler/draft.h"

static uint32_t add_buffer(prt_draft *d, prt_draft_block *b, const prt_value *v, uint32_t space,
    uint32_t ref)
{
    const prt_buffer buffer = { .type = v->type, .name = v->name, .space = space, .ref = ref };
    if (!PRT_VEC_PUSH(d->arena, &b->buffers, buffer))
        return PRT_NO_BUFFER;
    return (uint32_t)b->buffers.count - 1;
}

/* Returns whether the size is known before the run, given the values of symbols. */
static bool is_plannable(const prt_type *type)
{
    if (!prt_type_is_tensor(type) || type->rank < 0 || type->rank > PRT_MAX_RANK ||
        type->dtype == PRT_DTYPE_undefined || type->dtype == PRT_DTYPE_string)
        return false;
    for (int32_t i = 0; i < type->rank; i++)
        if (type->dims[i] == PRT_DIM_UNKNOWN)
            return false;
    return true;
}

static uint32_t constant_buffer(prt_draft *d, prt_draft_block *b, const prt_value *v)
{
    const prt_str key = { (const char *)&v, sizeof(v) };
    uintptr_t index = (uintptr_t)prt_map_find(&d->constant_of, key);
    if (index == 0) {
        const prt_str own = prt_draft_key(d, v);
        if (own.data == NULL || !PRT_VEC_PUSH(d->arena, &d->constants, v))
            return PRT_NO_BUFFER;
        index = d->constants.count;
        if (prt_map_set(&d->constant_of, own, (void *)index) != POPRT_OK)
            return PRT_NO_BUFFER;
    }
    return add_buffer(d, b, v, PRT_SPACE_CONSTANT, (uint32_t)index - 1);
}

/* Returns the buffer of block `b` that holds `v`, made on first use; PRT_NO_BUFFER with a recorded
 * failure. */
static uint32_t buffer_for(prt_draft *d, prt_draft_block *b, const prt_value *v)
{
    const bool own = v->graph == b->graph;
    const prt_str key = { (const char *)&v, sizeof(v) };
    const uintptr_t known = own ? b->buffer_of[v->id] : (uintptr_t)prt_map_find(&b->captures, key);
    if (known != 0)
        return (uint32_t)known - 1;
    uint32_t made;
    if (v->constant != NULL) {
        made = constant_buffer(d, b, v);
    } else if (own && v->variable != NULL) {
        made = add_buffer(d, b, v, PRT_SPACE_VARIABLE, v->variable->index);
    } else if (own) {
        made =
            add_buffer(d, b, v, is_plannable(v->type) ? PRT_SPACE_PLANNED : PRT_SPACE_DYNAMIC, 0);
    } else if (b->parent == b->index) {
        (void)prt_fail(POPRT_E_INTERNAL, v->name.data,
            "value does not belong to an enclosing graph");
        return PRT_NO_BUFFER;
    } else {
        const uint32_t outer = buffer_for(d, d->blocks.data[b->parent], v);
        if (outer == PRT_NO_BUFFER)
            return outer;
        made = add_buffer(d, b, v, PRT_SPACE_CAPTURE, outer);
    }
    if (made == PRT_NO_BUFFER)
        return made;
    if (own) {
        b->buffer_of[v->id] = made + 1;
        return made;
    }
    const prt_str kept = prt_draft_key(d, v);
    if (kept.data == NULL ||
        prt_map_set(&b->captures, kept, (void *)((uintptr_t)made + 1)) != POPRT_OK)
        return PRT_NO_BUFFER;
    return made;
}

/* Returns the variable whose new value is output i of the op; NULL if it is not that of one. */
static const prt_ir_variable *updated_variable(const prt_op *op, uint32_t i)
{
    if (op->def == NULL || (op->def->traits & PRT_UPDATES) == 0 || i >= op->n_in ||
        op->in[i].value == NULL || op->in[i].value->graph != op->graph)
        return NULL;
    return op->in[i].value->variable;
}

static poprt_status lower_graph(prt_draft *d, const prt_graph *graph, uint32_t parent,
    uint32_t *index);

/* Lowers the regions of an op. Equal callees become one block. */
static poprt_status lower_regions(prt_draft *d, const prt_draft_block *b, const prt_op *op,
    uint32_t *blocks)
{
    const bool calls = op->def != NULL && (op->def->traits & PRT_CALLS) != 0;
    for (uint32_t i = 0; i < op->n_regions; i++) {
        blocks[i] = calls ? prt_compile_find_callee(d, b->index, op->regions[i]) : UINT32_MAX;
        if (blocks[i] != UINT32_MAX)
            continue;
        PRT_TRY(lower_graph(d, op->regions[i], b->index, &blocks[i]));
        if (calls)
            PRT_TRY(prt_compile_add_callee(d, blocks[i]));
    }
    return POPRT_OK;
}

static poprt_status lower_op(prt_draft *d, prt_draft_block *b, const prt_op *op)
{
    prt_draft_step step = { .op = op, .kernel = PRT_KERNEL_eval };
    step.args = PRT_NEW_N(d->arena, uint32_t, (size_t)op->n_in + op->n_out);
    step.regions = PRT_NEW_N(d->arena, uint32_t, op->n_regions);
    if (step.args == NULL || step.regions == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_compile_prepare(d, &step));
    for (uint32_t i = 0; i < op->n_in; i++) {
        step.args[i] = PRT_NO_BUFFER;
        if (op->in[i].value == NULL || prt_draft_drops(&step, i))
            continue;
        step.args[i] = buffer_for(d, b, op->in[i].value);
        if (step.args[i] == PRT_NO_BUFFER)
            return prt_error_last()->status;
    }
    PRT_TRY(lower_regions(d, b, op, step.regions));
    for (uint32_t i = 0; i < op->n_out; i++) {
        const prt_value *v = &op->out[i];
        const prt_ir_variable *updated = updated_variable(op, i);
        step.args[op->n_in + i] = PRT_NO_BUFFER;
        if (updated != NULL) {
            const uint32_t made = add_buffer(d, b, v, PRT_SPACE_VARIABLE, updated->index);
            if (made == PRT_NO_BUFFER)
                return POPRT_E_NOMEM;
            b->buffer_of[v->id] = made + 1;
        }
        if (i > 0 && v->uses == NULL && updated == NULL)
            continue;
        step.args[op->n_in + i] = buffer_for(d, b, v);
        if (step.args[op->n_in + i] == PRT_NO_BUFFER)
            return prt_error_last()->status;
    }
    return PRT_VEC_PUSH(d->arena, &b->steps, step) ? POPRT_OK : POPRT_E_NOMEM;
}

/* Places an output of the main block in the caller's memory if its buffer is planned: its size is
 * known before the run, and it is not an input, a constant or an earlier output. */
static poprt_status lower_outputs(prt_draft *d, prt_draft_block *b)
{
    const prt_op *ret = b->graph->ret;
    b->n_outputs = ret->n_in;
    b->outputs = PRT_NEW_N(d->arena, uint32_t, ret->n_in);
    if (b->outputs == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < ret->n_in; i++) {
        if (ret->in[i].value == NULL)
            return prt_fail(POPRT_E_INTERNAL, b->graph->output_names.data[i].data,
                "output has no value");
        const uint32_t index = buffer_for(d, b, ret->in[i].value);
        if (index == PRT_NO_BUFFER)
            return prt_error_last()->status;
        prt_buffer *buffer = &b->buffers.data[index];
        if (b->index == 0 && buffer->space == PRT_SPACE_PLANNED) {
            buffer->space = PRT_SPACE_OUTPUT;
            buffer->ref = i;
        }
        b->outputs[i] = index;
    }
    return POPRT_OK;
}

static poprt_status lower_graph(prt_draft *d, const prt_graph *graph, uint32_t parent,
    uint32_t *index)
{
    prt_draft_block *b = PRT_NEW(d->arena, prt_draft_block);
    if (b == NULL || !PRT_VEC_PUSH(d->arena, &d->blocks, b))
        return POPRT_E_NOMEM;
    b->graph = graph;
    b->index = (uint32_t)d->blocks.count - 1;
    b->parent = graph->owner == NULL ? b->index : parent;
    b->captures = prt_map_in(d->arena);
    b->buffer_of = PRT_NEW_N(d->arena, uint32_t, (size_t)graph->n_values + 1);
    b->n_inputs = (uint32_t)graph->inputs.count;
    b->inputs = PRT_NEW_N(d->arena, uint32_t, b->n_inputs);
    if (b->buffer_of == NULL || b->inputs == NULL)
        return POPRT_E_NOMEM;
    *index = b->index;
    for (uint32_t i = 0; i < b->n_inputs; i++) {
        const prt_value *v = graph->inputs.data[i];
        b->inputs[i] = add_buffer(d, b, v, PRT_SPACE_INPUT, i);
        if (b->inputs[i] == PRT_NO_BUFFER)
            return POPRT_E_NOMEM;
        b->buffer_of[v->id] = b->inputs[i] + 1;
    }
    for (const prt_op *op = graph->first; op != NULL; op = op->next)
        PRT_TRY(lower_op(d, b, op));
    return lower_outputs(d, b);
}

poprt_status prt_compile_lower(prt_draft *d)
{
    uint32_t block;
    PRT_TRY(lower_graph(d, d->module->main, 0, &block));
    for (size_t i = 0; i < d->module->entries.count; i++) {
        PRT_TRY(lower_graph(d, d->module->entries.data[i].graph, 0, &block));
        const prt_entry entry = { d->module->entries.data[i].kind, block };
        if (!PRT_VEC_PUSH(d->arena, &d->entries, entry))
            return POPRT_E_NOMEM;
    }
    return d->unordered ? prt_compile_order_blocks(d) : POPRT_OK;
}
