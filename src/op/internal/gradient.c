/* SPDX-License-Identifier: MIT */
/* gradient.c — inference of gradient operators by the hook of the forward operator. */
#include "op/internal/gradient.h"

static poprt_status check_gradient(const prt_infer *c, uint32_t input, const prt_shape *y)
{
    const prt_shape *d = &c->in[input];
    int64_t merged;
    if (!prt_infer_ranked(c, input) || y->kind != PRT_VALUE_TENSOR || y->rank < 0)
        return POPRT_OK;
    if (d->rank != y->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the gradient at input %u has rank %d; that of the result is %d", input, d->rank,
            y->rank);
    for (int32_t i = 0; i < y->rank; i++)
        PRT_TRY(prt_infer_merge(c, d->dims[i], y->dims[i], "a dim of a gradient", &merged));
    return POPRT_OK;
}

poprt_status prt_gradient_infer(prt_infer *c, const prt_gradient *forward)
{
    prt_shape out[PRT_GRADIENT_MOST_OUTPUTS];
    prt_content content[PRT_GRADIENT_MOST_OUTPUTS] = { { 0 } };
    prt_infer f = *c;
    f.def = prt_op_of(forward->id);
    f.attrs = forward->attrs;
    f.n_in = forward->n_in < c->n_in ? forward->n_in : c->n_in;
    f.n_out = forward->n_out;
    f.out = out;
    f.out_content = content;
    for (uint32_t i = 0; i < f.n_out; i++)
        out[i] = (prt_shape){ .kind = PRT_VALUE_UNKNOWN, .dtype = c->in[0].dtype };
    PRT_TRY(f.def->hooks->infer(&f));
    for (uint32_t i = 0; i < f.n_out; i++)
        PRT_TRY(check_gradient(c, forward->n_in + i, &out[i]));
    for (uint32_t i = 0; i < c->n_out && i < forward->n_likes; i++) {
        const uint32_t like = forward->like[i];
        if (prt_infer_has(c, like))
            PRT_TRY(prt_infer_like(c, i, like, c->in[like].dtype));
    }
    return POPRT_OK;
}
