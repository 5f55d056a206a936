/* SPDX-License-Identifier: MIT */
/* program.c — creation and release of a program, the memory plan of a block, totals. */
#include "program/program.h"

#include <stdatomic.h>

#include "op/op.h"
#include "op/words.h"
#include "plan/plan.h"

static const char *const kernel_names[] = {
#define KERNEL(id, doc) #id,
#include "program/kernels.def"
};

const char *prt_kernel_name(uint32_t kernel)
{
    return kernel < PRT_KERNEL_COUNT ? kernel_names[kernel] : "?";
}

bool prt_program_is_entry(const prt_program *program, uint32_t block)
{
    for (uint32_t i = 0; i < program->n_entries; i++)
        if (program->entries[i].block == block)
            return true;
    return block == 0;
}

uint32_t prt_program_entry(const prt_program *program, uint32_t kind)
{
    for (uint32_t i = 0; i < program->n_entries; i++)
        if (program->entries[i].kind == kind)
            return program->entries[i].block;
    return 0;
}

poprt_status prt_program_create(const prt_allocator *allocator, size_t limit, prt_program **out)
{
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(allocator, limit, &arena));
    prt_program *p = PRT_NEW(arena, prt_program);
    if (p == NULL || prt_dims_create(arena, &p->dims) != POPRT_OK ||
        prt_types_create(arena, &p->types) != POPRT_OK) {
        prt_arena_release(arena);
        return POPRT_E_NOMEM;
    }
    p->arena = arena;
    p->allocator = allocator;
    p->name = p->source = p->options = PRT_STR("");
    atomic_init(&p->refs, 1);
    *out = p;
    return POPRT_OK;
}

prt_program *prt_program_retain(prt_program *program)
{
    if (program != NULL)
        atomic_fetch_add_explicit(&program->refs, 1, memory_order_relaxed);
    return program;
}

void prt_program_release(prt_program *program)
{
    if (program == NULL || atomic_fetch_sub_explicit(&program->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < program->n_constants; i++) {
        prt_blob_release(program->constants[i].blob);
        prt_blob_release(program->constants[i].aligned);
    }
    prt_program *base = program->base;
    prt_blob_release(program->file);
    prt_arena_release(program->arena);
    prt_program_release(base);
}

void prt_program_find_initial(const prt_program *program, bool *initial)
{
    for (uint32_t i = 0; i < program->n_variables; i++)
        if (program->variables[i].init != PRT_NO_CONSTANT)
            initial[program->variables[i].init] = true;
    for (uint32_t k = 0; program->n_variables != 0 && k < program->n_blocks; k++)
        for (uint32_t i = 0; i < program->blocks[k].n_buffers; i++)
            if (program->blocks[k].buffers[i].space == PRT_SPACE_CONSTANT)
                initial[program->blocks[k].buffers[i].ref] = false;
}

static bool is_aligned(const prt_constant *c)
{
    return (uintptr_t)c->blob->data % (c->is_prepared ? PRT_BUFFER_ALIGN : 16) == 0;
}

size_t prt_program_weight_copy(const prt_program *program, uint32_t constant)
{
    const prt_constant *c = &program->constants[constant];
    return is_aligned(c) ? 0 : prt_blob_bytes_of(c->blob->size);
}

prt_blob *prt_program_weight(const prt_program *program, uint32_t constant)
{
    prt_constant *c = &program->constants[constant];
    if (is_aligned(c))
        return c->blob;
    prt_blob *known = atomic_load_explicit(&c->aligned, memory_order_acquire);
    if (known != NULL)
        return known;
    prt_blob *copy = NULL;
    if (prt_blob_create(program->allocator, c->blob->size, &copy) != POPRT_OK)
        return NULL;
    memcpy(prt_blob_bytes(copy), c->blob->data, c->blob->size);
    if (atomic_compare_exchange_strong(&c->aligned, &known, copy))
        return copy;
    prt_blob_release(copy); /* another thread was first */
    return known;
}

poprt_status prt_block_plan(const prt_block *block, const size_t *sizes, size_t *offsets,
    size_t *total, size_t *peak, prt_arena *scratch)
{
    prt_plan_item *items = PRT_NEW_N(scratch, prt_plan_item, block->n_buffers);
    if (items == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < block->n_buffers; i++)
        if (sizes[i] != SIZE_MAX)
            items[i] = (prt_plan_item){ .size = sizes[i],
                .first = block->buffers[i].first,
                .last = block->buffers[i].last };
    PRT_TRY(prt_plan_pack(scratch, items, block->n_buffers, PRT_BUFFER_ALIGN, 1, total, peak));
    for (uint32_t i = 0; i < block->n_buffers; i++)
        offsets[i] = items[i].offset;
    return POPRT_OK;
}

size_t prt_program_weight_bytes(const prt_program *program)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < program->n_constants; i++)
        sum += program->constants[i].blob->size;
    return sum;
}

/* Marks that buffer `buffer` of the main block is read for its shape or contents. */
static void mark_read(prt_program *program, uint32_t buffer)
{
    const prt_buffer *b = &program->blocks[0].buffers[buffer];
    if (b->space == PRT_SPACE_INPUT)
        program->inputs[b->ref].any_shape = false;
}

void prt_program_mark_inputs(prt_program *program)
{
    const prt_block *main = &program->blocks[0];
    for (uint32_t i = 0; i < program->n_inputs; i++)
        program->inputs[i].any_shape = true;
    for (uint32_t i = 0; i < main->n_outputs; i++)
        mark_read(program, main->outputs[i]);
    for (uint32_t k = 0; k < main->n_steps; k++) {
        const prt_step *step = &main->steps[k];
        const prt_op_def *def = program->params[step->params].def;
        for (uint32_t i = 0; i < step->n_in; i++) {
            const uint32_t buffer = program->args[step->args + i];
            const prt_slot_def *slot = prt_op_in_slot(def, i); /* NULL: refused when it is bound */
            if (buffer != PRT_NO_BUFFER &&
                (slot == NULL || (slot->flags & PRT_SLOT_TYPE_ONLY) == 0))
                mark_read(program, buffer);
        }
    }
    for (uint32_t k = 1; k < program->n_blocks; k++)
        for (uint32_t i = 0; i < program->blocks[k].n_buffers; i++)
            if (program->blocks[k].parent == 0 &&
                program->blocks[k].buffers[i].space == PRT_SPACE_CAPTURE)
                mark_read(program, program->blocks[k].buffers[i].ref);
}

uint32_t prt_fused_graph_of(prt_str name)
{
    const uint32_t head = sizeof(PRT_FUSED_GRAPH) - 1;
    uint32_t graph = 0, i = head;
    if (name.size <= head || memcmp(name.data, PRT_FUSED_GRAPH, head) != 0)
        return PRT_NO_GRAPH;
    for (; i < name.size && i < head + 2 && name.data[i] >= '0' && name.data[i] <= '9'; i++)
        graph = 10 * graph + (uint32_t)(name.data[i] - '0');
    return i > head && i < name.size && name.data[i] == '/' ? graph : PRT_NO_GRAPH;
}

bool prt_program_may_be_fused(const prt_program *program, uint32_t n_graphs)
{
    const prt_io *in = program->inputs;
    if (n_graphs < 2 || n_graphs > PRT_FUSED_MOST || program->n_inputs == 0 ||
        !prt_str_is(in->name, PRT_FUSED_INDEX) || !prt_type_is_static(in->type) ||
        in->type->dtype != PRT_DTYPE_u32 || in->type->rank != 1 || in->type->dims[0] != 1)
        return false;
    for (uint32_t i = 1; i < program->n_inputs; i++)
        if (prt_fused_graph_of(in[i].name) >= n_graphs ||
            (!prt_type_is_static(in[i].type) && in[i].type->kind != PRT_VALUE_SEQUENCE &&
                in[i].type->kind != PRT_VALUE_OPTIONAL))
            return false;
    for (uint32_t i = 0; i < program->n_outputs; i++)
        if (prt_fused_graph_of(program->outputs[i].name) >= n_graphs)
            return false;
    return true;
}

prt_str prt_program_op_variant(const prt_eval_params *params)
{
    const uint32_t i = prt_op_attr(params->def, PRT_STR("form"));
    if (i == UINT32_MAX || params->def->attrs[i].kind != PRT_ATTR_form)
        return PRT_STR("");
    return prt_attr_text(PRT_ATTR_form, (const char *)params->attrs + params->def->attrs[i].offset);
}
