/* SPDX-License-Identifier: MIT */
/* byte_table.c — ByteTable: a table look-up of 256 entries, Y[i] = table[X[i]]. */
#include "op/op.h"

enum { X = 0, TABLE = 1, ALL_BYTES = 256 };

static poprt_status infer(prt_infer *c)
{
    const prt_shape *t = &c->in[TABLE];
    if (t->rank >= 0 &&
        (t->rank != 1 || (prt_dim_is_number(t->dims[0]) && t->dims[0] != ALL_BYTES)))
        return prt_infer_fail(c, POPRT_E_SHAPE, "table does not have the shape [%d]", ALL_BYTES);
    return prt_infer_like(c, 0, X, t->dtype);
}

static poprt_status eval(prt_eval *c)
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const uint8_t *x = c->in[X]->data, *table = c->in[TABLE]->data;
    uint8_t *y = c->out[0]->data;
    const size_t n = prt_tensor_count(c->in[X]);
    for (size_t i = 0; i < n; i++)
        y[i] = table[x[i]];
    return POPRT_OK;
}

const prt_op_hooks prt_op_byte_table = { .infer = infer, .eval = eval };
