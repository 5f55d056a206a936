/* SPDX-License-Identifier: MIT */
/*
 * columns.c — steps with arguments that are columns of larger buffers. A fast operator that
 * supports a row stride accesses them in place; all other kernels get contiguous copies.
 */
#include "op/alias.h"
#include "program/sharing.h"
#include "runtime/frame.h"

uint8_t prt_columns_of(const prt_frame *f, const prt_frame_step *step)
{
    const prt_eval_params *p = step->params;
    const uint32_t *args = step->out_buffers - step->n_in;
    uint8_t columns = PRT_COLUMNS_none;
    for (uint32_t i = 0; i < step->n_in + step->n_out; i++) {
        const prt_buffer *b = args[i] != PRT_NO_BUFFER ? &f->block->buffers[args[i]] : NULL;
        if (b == NULL || b->space != PRT_SPACE_COLUMNS)
            continue;
        const bool out = i >= step->n_in;
        columns = columns == PRT_COLUMNS_none ? PRT_COLUMNS_strided : columns;
        if (step->fast == NULL ||
            !prt_alias_takes_columns(p->def, p->attrs, b->type, out, out ? i - step->n_in : i))
            columns = PRT_COLUMNS_copied;
    }
    return columns;
}

bool prt_columns_are_in_place(const prt_frame *f, const prt_frame_step *step)
{
    return prt_sharing_all_concat_columns(f->block, step->params, step->out_buffers - step->n_in,
        step->n_in, step->n_out);
}

/* Copies the rows of the last axis; the row strides are in bytes. */
static void copy_rows(const prt_tensor *t, const void *from, size_t from_row, void *to,
    size_t to_row)
{
    const size_t row = (size_t)t->dims[t->rank - 1] * (prt_dtype_bits(t->dtype) / 8);
    prt_move_pieces(row != 0 ? t->size / row : 0, row, from, from_row, to, to_row);
}

/* Returns the row stride in bytes. */
static size_t row_step(const prt_tensor *t)
{
    return prt_tensor_pitch(t) * (prt_dtype_bits(t->dtype) / 8);
}

static poprt_status make_contiguous(prt_eval *c, const prt_tensor *t, prt_tensor *to)
{
    *to = *t;
    to->pitch = 0;
    to->data = prt_eval_scratch_raw(c, t->size, 1);
    return to->data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_columns_eval(prt_eval *c)
{
    const uint32_t n = c->n_in + c->n_out;
    prt_tensor *tensors = prt_eval_scratch(c, n, sizeof(prt_tensor));
    const prt_tensor **in = prt_eval_scratch(c, c->n_in, sizeof(in[0]));
    prt_tensor **out = prt_eval_scratch(c, c->n_out, sizeof(out[0]));
    prt_eval contiguous = *c;
    if (tensors == NULL || in == NULL || out == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < c->n_in; i++) {
        const prt_tensor *t = in[i] = c->in[i];
        if (t == NULL || t->pitch == 0)
            continue;
        PRT_TRY(make_contiguous(c, t, &tensors[i]));
        copy_rows(t, t->data, row_step(t), tensors[i].data, row_step(&tensors[i]));
        in[i] = &tensors[i];
    }
    for (uint32_t o = 0; o < c->n_out; o++) {
        out[o] = c->out[o];
        if (out[o] == NULL || out[o]->pitch == 0)
            continue;
        out[o] = &tensors[c->n_in + o];
        PRT_TRY(make_contiguous(c, c->out[o], out[o]));
    }
    contiguous.in = in;
    contiguous.out = out;
    PRT_TRY(prt_op_eval(&contiguous));
    for (uint32_t o = 0; o < c->n_out; o++) {
        const prt_tensor *t = out[o], *to = c->out[o];
        if (t == to)
            continue;
        if (t->kind != PRT_VALUE_TENSOR || t->rank != to->rank || t->dtype != to->dtype ||
            !prt_dims_equal(t->dims, to->dims, t->rank))
            return prt_eval_fail(c, POPRT_E_INTERNAL,
                "output %u differs from its inferred type or shape", o);
        copy_rows(t, t->data, row_step(t), to->data, row_step(to));
    }
    return POPRT_OK;
}
