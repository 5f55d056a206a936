/* SPDX-License-Identifier: MIT */
/* inspect.c — lists the tensors of a session, and counts its memory by kind; see inspect.h. */
#include "runtime/inspect.h"

#include "runtime/flow_run.h"
#include "runtime/frame.h"

/* ---- tensors */

/* A buffer that is listed: neither one of another block, nor a constant or a variable. */
static bool is_listed(const prt_buffer *b)
{
    return b->space != PRT_SPACE_CAPTURE && b->space != PRT_SPACE_CONSTANT &&
        b->space != PRT_SPACE_VARIABLE;
}

static size_t count_listed(const prt_block *block)
{
    size_t n = 0;
    for (uint32_t i = 0; i < block->n_buffers; i++)
        n += is_listed(&block->buffers[i]);
    return n;
}

size_t prt_session_tensor_count(const prt_session *s)
{
    const prt_program *p = s->program;
    size_t n = (size_t)p->n_constants + p->n_variables;
    for (uint32_t k = 0; k < p->n_blocks; k++)
        n += count_listed(&p->blocks[k]);
    return n;
}

/* Fills dims and size from a type. */
static void fill_static(const prt_type *type, prt_session_tensor *out)
{
    size_t size;
    out->type = type;
    for (int32_t i = 0; i < type->rank && i < PRT_MAX_RANK; i++)
        out->dims[i] = prt_dim_is_number(type->dims[i]) ? type->dims[i] : PRT_DIM_UNKNOWN;
    out->size = prt_type_is_tensor(type) && prt_type_size(type, &size) ? size : 0;
}

static bool is_main_output(const prt_block *block, uint32_t buffer)
{
    for (uint32_t i = 0; i < block->n_outputs; i++)
        if (block->outputs[i] == buffer)
            return true;
    return false;
}

static void fill_buffer(const prt_session *s, uint32_t block, uint32_t buffer,
    prt_session_tensor *out)
{
    const prt_block *b = &s->program->blocks[block];
    const prt_frame *f = &s->frames[block];
    const prt_buffer *x = &b->buffers[buffer];
    *out = (prt_session_tensor){ .name = x->name, .kind = PRT_TENSOR_VALUE, .block = block };
    if (x->space == PRT_SPACE_INPUT)
        out->kind = PRT_TENSOR_INPUT;
    else if (x->space == PRT_SPACE_OUTPUT || is_main_output(b, buffer))
        out->kind = PRT_TENSOR_OUTPUT;
    fill_static(x->type, out);
    if (!s->resolved || f->invalid_shapes || !prt_type_is_tensor(x->type) || x->type->rank < 0)
        return;
    /* The shapes of the last run. */
    const prt_tensor *t = &f->expected[buffer];
    memcpy(out->dims, t->dims, t->rank * sizeof(int64_t));
    out->size = t->size != SIZE_MAX ? t->size : 0;
}

bool prt_session_next_tensor(const prt_session *s, prt_tensor_place *at, prt_session_tensor *out)
{
    const prt_program *p = s->program;
    if (at->constant < p->n_constants) {
        const prt_constant *c = &p->constants[at->constant++];
        *out = (prt_session_tensor){ .name = c->name, .kind = PRT_TENSOR_CONSTANT };
        fill_static(c->type, out);
        return true;
    }
    if (at->variable < p->n_variables) {
        const prt_variable *v = &p->variables[at->variable++];
        *out = (prt_session_tensor){ .name = v->name, .kind = PRT_TENSOR_VARIABLE };
        fill_static(v->type, out);
        return true;
    }
    for (; at->block < p->n_blocks; at->block++, at->buffer = 0)
        while (at->buffer < p->blocks[at->block].n_buffers) {
            const uint32_t buffer = at->buffer++;
            if (is_listed(&p->blocks[at->block].buffers[buffer])) {
                fill_buffer(s, at->block, buffer, out);
                return true;
            }
        }
    return false;
}

void prt_session_io(const prt_session *s, bool is_input, uint32_t index, prt_session_tensor *out)
{
    const prt_block *b = &s->program->blocks[0];
    fill_buffer(s, 0, is_input ? b->inputs[index] : b->outputs[index], out);
    out->name = is_input ? s->program->inputs[index].name : s->program->outputs[index].name;
}

/* ---- memory */

static size_t arena_size(const prt_arena *arena)
{
    return arena != NULL ? prt_arena_size(arena) : 0;
}

static size_t sum_arenas(prt_arena *const *arenas, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += arena_size(arenas[i]);
    return size;
}

static size_t count_weights(const prt_session *s)
{
    size_t size = 0;
    for (uint32_t i = 0; i < s->program->n_constants; i++) {
        size += s->replaced[i] ? s->weights[i]->size : prt_program_weight_copy(s->program, i);
        size += s->updates[i] != NULL ? s->updates[i]->size : 0;
    }
    return size;
}

void prt_session_tensor_insert(prt_session_tensor *list, uint32_t most, uint32_t *count,
    const prt_session_tensor *t)
{
    uint32_t at = *count;
    while (at > 0 && list[at - 1].size < t->size)
        at--;
    if (at == most || t->size == 0)
        return;
    *count += *count < most;
    for (uint32_t k = *count - 1; k > at; k--)
        list[k] = list[k - 1];
    list[at] = *t;
}

void prt_session_memory_by_kind(const prt_session *s, size_t bytes[PRT_MEMORY_KINDS])
{
    const prt_program *p = s->program;
    size_t known = 0;
    memset(bytes, 0, PRT_MEMORY_KINDS * sizeof(*bytes));
    for (uint32_t k = 0; k < p->n_blocks; k++) {
        const prt_frame *f = &s->frames[k];
        bytes[PRT_MEMORY_planned] += f->memory_size;
        bytes[PRT_MEMORY_dynamic] += sum_arenas(f->slots, f->block->n_buffers);
        bytes[PRT_MEMORY_scratch] += arena_size(f->scratch);
    }
    bytes[PRT_MEMORY_dynamic] += sum_arenas(s->free_slots, s->n_free_slots);
    bytes[PRT_MEMORY_scratch] += arena_size(s->infer_scratch);
    bytes[PRT_MEMORY_inputs] = sum_arenas(s->staging, p->n_inputs);
    bytes[PRT_MEMORY_outputs] = sum_arenas(s->results, p->n_outputs);
    if (s->flow != NULL)
        bytes[PRT_MEMORY_outputs] +=
            sum_arenas(s->flow->sum_memory, p->n_outputs * (size_t)p->flow.replicas);
    bytes[PRT_MEMORY_variables] = s->store != NULL ? prt_store_memory(s->store) : 0;
    bytes[PRT_MEMORY_weights] = count_weights(s);
    for (uint32_t i = 0; i < PRT_MEMORY_tables; i++)
        known += bytes[i];
    bytes[PRT_MEMORY_tables] = s->memory.total > known ? s->memory.total - known : 0;
}

void prt_session_live_bytes(const prt_session *s, uint64_t *bytes)
{
    const prt_block *b = &s->program->blocks[0];
    uint64_t live = 0;
    /* Differences first: what begins at a step, less what has ended before it. */
    memset(bytes, 0, b->n_steps * sizeof(*bytes));
    for (uint32_t i = 0; i < b->n_buffers; i++) {
        const prt_buffer *x = &b->buffers[i];
        prt_session_tensor t;
        const bool counts = x->space == PRT_SPACE_PLANNED || x->space == PRT_SPACE_DYNAMIC ||
            x->space == PRT_SPACE_OUTPUT;
        if (!counts || x->first >= b->n_steps)
            continue;
        fill_buffer(s, 0, i, &t);
        bytes[x->first] += t.size;
        if (x->last + 1 < b->n_steps)
            bytes[x->last + 1] -= t.size;
    }
    for (uint32_t k = 0; k < b->n_steps; k++)
        bytes[k] = live += bytes[k];
}
