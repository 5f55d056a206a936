/* SPDX-License-Identifier: MIT */
/* swi_glu.c — SwiGLU: a * sigmoid(alpha * a) * b. */
#include <math.h>

#include "op/op.h"

static poprt_status infer(prt_infer *c)
{
    prt_shape s = c->in[0];
    if (prt_infer_ranked(c, 0) && prt_infer_ranked(c, 1)) {
        if (c->in[1].rank != s.rank)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "the inputs have ranks %d and %d, which must be equal", s.rank, c->in[1].rank);
        for (int32_t k = 0; k < s.rank; k++)
            PRT_TRY(prt_infer_merge(c, s.dims[k], c->in[1].dims[k], "a dim", &s.dims[k]));
    } else if (prt_infer_ranked(c, 1)) {
        s = c->in[1];
    }
    return prt_infer_set(c, 0, s.dtype, s.rank, s.dims);
}

static poprt_status eval(prt_eval *c)
{
    const double alpha = (double)((const prt_swi_glu_attrs *)c->attrs)->alpha;
    const prt_tensor *x = c->in[0], *y = c->in[1];
    for (size_t i = 0; prt_eval_wants(c, 0) && i < prt_tensor_count(x); i++) {
        const double a = prt_load_f64(x->dtype, x->data, i);
        prt_store_f64(x->dtype, c->out[0]->data, i,
            a / (1 + exp(-alpha * a)) * prt_load_f64(y->dtype, y->data, i));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_swi_glu = { .infer = infer, .eval = eval };
