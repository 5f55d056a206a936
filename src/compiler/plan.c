/* SPDX-License-Identifier: MIT */
/*
 * plan.c — the memory plan: an offset for every planned buffer of a block whose sizes are all known
 * at compile time. Blocks with symbolic sizes are planned when a session knows the symbols.
 */
#include "compiler/draft.h"

static poprt_status plan_block(prt_draft *d, prt_draft_block *b)
{
    const size_t n = b->buffers.count;
    size_t *sizes = PRT_NEW_N(d->arena, size_t, n);
    size_t *offsets = PRT_NEW_N(d->arena, size_t, n);
    if (sizes == NULL || offsets == NULL)
        return POPRT_E_NOMEM;
    b->is_static = true;
    for (size_t i = 0; i < n; i++) {
        const prt_buffer *x = &b->buffers.data[i];
        sizes[i] = SIZE_MAX;
        if (x->space != PRT_SPACE_PLANNED)
            continue;
        if (prt_type_size(x->type, &sizes[i]))
            continue;
        if (prt_type_is_static(x->type))
            return prt_fail(POPRT_E_LIMIT, x->name.data, "value exceeds the address space");
        b->is_static = false;
    }
    if (!b->is_static)
        return POPRT_OK;
    const prt_block shape = { .n_buffers = (uint32_t)n, .buffers = b->buffers.data };
    PRT_TRY(prt_block_plan(&shape, sizes, offsets, &b->plan_size, &b->plan_peak, d->arena));
    for (size_t i = 0; i < n; i++)
        if (sizes[i] != SIZE_MAX)
            b->buffers.data[i].offset = offsets[i];
    return POPRT_OK;
}

poprt_status prt_compile_plan(prt_draft *d)
{
    for (size_t k = 0; k < d->blocks.count; k++)
        PRT_TRY(plan_block(d, d->blocks.data[k]));
    return POPRT_OK;
}
