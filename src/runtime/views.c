/* SPDX-License-Identifier: MIT */
/*
 * views.c — steps without arithmetic: views and concatenations of bytes. Bytes in place are left
 * there; the others are moved by memmove, because a file may have placed both in the same memory.
 */
#include "op/alias.h"
#include "program/sharing.h"
#include "runtime/frame.h"

void prt_move_pieces(size_t count, size_t size, const void *from, size_t from_step, void *to,
    size_t to_step)
{
    for (size_t i = 0; i < count && size != 0; i++)
        memcpy((char *)to + i * to_step, (const char *)from + i * from_step, size);
}

bool prt_frame_may_write_in_place(const prt_frame_step *step)
{
    if (step->in_place_input == 0 ||
        !prt_sharing_in_place(step->params, step->n_in, step->in_place_input - 1u))
        return false;
    const prt_tensor *x = step->in[step->in_place_input - 1], *y = step->out[0];
    return x->kind == PRT_VALUE_TENSOR && y->kind == PRT_VALUE_TENSOR && x->dtype == y->dtype &&
        x->rank == y->rank && x->size == y->size && prt_dims_equal(x->dims, y->dims, x->rank);
}

bool prt_frame_may_eval(const prt_frame_step *step)
{
    if (!step->aliases_input)
        return true;
    for (uint32_t i = 0; i < step->n_in; i++)
        if (prt_sharing_in_place(step->params, step->n_in, i))
            return true;
    (void)prt_fail(POPRT_E_PARSE, step->params->origin.data,
        "program is inconsistent: a result lies in the memory of an input");
    return false;
}

bool prt_frame_views(const prt_frame_step *step, size_t *offsets)
{
    const prt_eval_params *p = step->params;
    bool others = false;
    if (!prt_alias_may_view(p->def) || step->n_in == 0 || step->in[0] == NULL)
        return false;
    for (uint32_t i = 1; i < step->n_out; i++)
        others = others || step->out[i] != NULL;
    for (uint32_t i = 0; i < step->n_out; i++) {
        const prt_view_query query = { .attrs = p->attrs,
            .n_in = step->n_in,
            .n_out = step->n_out,
            .in = step->in,
            .i = i,
            .y = step->out[i],
            .others = others };
        if (step->out[i] != NULL && !prt_alias_view(p->def, &query, &offsets[i]))
            return false;
    }
    return true;
}

enum { SMALL = 4096 }; /* maximum of bytes moved while a session is measured */

void prt_frame_place_views(prt_frame *f, const prt_frame_step *step, const size_t *offsets)
{
    char *from = step->in[0]->data;
    const bool moves = !f->session->memory.measures;
    for (uint32_t i = 0; i < step->n_out; i++) {
        prt_tensor *y = step->out[i];
        if (y == NULL)
            continue;
        void *at = from != NULL ? from + offsets[i] : NULL;
        if (f->block->buffers[step->out_buffers[i]].space == PRT_SPACE_VIEW)
            y->data = at;
        else if (y->data != at && y->size != 0 && (moves || y->size <= SMALL))
            memmove(y->data, at, y->size);
    }
}

bool prt_frame_may_concat(const prt_frame_step *step)
{
    const prt_eval_params *p = step->params;
    size_t size = 0;
    if (!prt_alias_is_concat(p->def) || step->n_out != 1 || step->out[0] == NULL ||
        !prt_alias_concat_is_contiguous(p->def, p->attrs, step->out[0]))
        return false;
    for (uint32_t i = 0; i < step->n_in; i++) {
        const prt_tensor *x = step->in[i];
        if (x == NULL || x->kind != PRT_VALUE_TENSOR || x->dtype != step->out[0]->dtype ||
            !prt_size_add(size, x->size, &size))
            return false;
    }
    return size == step->out[0]->size;
}

void prt_frame_concat(const prt_frame_step *step)
{
    char *to = step->out[0]->data;
    for (uint32_t i = 0; i < step->n_in; i++) {
        const prt_tensor *x = step->in[i];
        if (x->data != to && x->size != 0)
            memmove(to, x->data, x->size);
        if (x->size != 0)
            to += x->size;
    }
}
