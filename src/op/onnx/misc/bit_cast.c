/* SPDX-License-Identifier: MIT */
/* bit_cast.c — BitCast: reinterprets the bits as another type of the same width. */
#include "op/check.h"
#include "op/op.h"

static poprt_status infer(prt_infer *c)
{
    const prt_bit_cast_attrs *a = c->attrs;
    const int32_t from = c->in[0].dtype;
    PRT_TRY(prt_infer_dtype_attr(c, "to", c->def->types[1].set, a->to));
    const int32_t to = (int32_t)a->to;
    if (from != PRT_DTYPE_undefined && prt_dtype_bits(from) != prt_dtype_bits(to))
        return prt_infer_fail(c, POPRT_E_TYPE,
            "%s and %s have different widths; equal widths are required", prt_dtype_of(from)->name,
            prt_dtype_of(to)->name);
    return prt_infer_like(c, 0, 0, to);
}

static poprt_status eval(prt_eval *c)
{
    if (prt_eval_wants(c, 0) && c->in[0]->size != 0)
        memcpy(c->out[0]->data, c->in[0]->data, c->in[0]->size);
    return POPRT_OK;
}

const prt_op_hooks prt_op_bit_cast = { .infer = infer, .eval = eval };
