/* SPDX-License-Identifier: MIT */
/* nhwc_shuffle.c — NhwcShuffle: interleaves the channels of two images, into one output or two
   halves. */
#include "op/share/reals.h"

static poprt_status infer(prt_infer *c)
{
    const prt_shape *a = &c->in[0], *b = &c->in[1];
    const bool halves = ((const prt_nhwc_shuffle_attrs *)c->attrs)->halves != 0;
    int64_t dims[PRT_MAX_RANK];
    if (prt_infer_wants(c, 1) && !halves)
        return prt_infer_fail(c, POPRT_E_ARG, "the second output needs halves 1");
    if (!prt_infer_ranked(c, 0) || !prt_infer_ranked(c, 1)) {
        PRT_TRY(prt_infer_unranked(c, 1, a->dtype, PRT_RANK_UNKNOWN));
        return prt_infer_unranked(c, 0, a->dtype, PRT_RANK_UNKNOWN);
    }
    if (a->rank < 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "A has rank 0; at least 1 is needed");
    PRT_TRY(prt_infer_rank(c, 1, a->rank));
    for (int32_t i = 0; i < a->rank; i++)
        PRT_TRY(prt_infer_merge(c, a->dims[i], b->dims[i], "a dim of both", &dims[i]));
    if (!halves)
        dims[a->rank - 1] = prt_dim_mul(c->dims, dims[a->rank - 1], 2);
    PRT_TRY(prt_infer_set(c, 1, a->dtype, a->rank, dims));
    return prt_infer_set(c, 0, a->dtype, a->rank, dims);
}

static poprt_status eval(prt_eval *c)
{
    const prt_tensor *a = c->in[0], *b = c->in[1];
    const size_t channels = (size_t)a->dims[a->rank - 1];
    const size_t pixels = prt_dims_product(a->dims, 0, a->rank - 1);
    const bool halves = ((const prt_nhwc_shuffle_attrs *)c->attrs)->halves != 0;
    const size_t size = halves ? channels : 2 * channels;
    for (size_t p = 0; channels != 0 && p < pixels; p++)
        for (size_t i = 0; i < 2 * channels; i++) {
            const uint32_t k = i < size ? 0 : 1;
            if (prt_eval_wants(c, k))
                prt_element_copy(a->dtype, c->out[k]->data, p * size + i % size,
                    i % 2 == 0 ? a->data : b->data, p * channels + i / 2, 1);
        }
    return POPRT_OK;
}

const prt_op_hooks prt_op_nhwc_shuffle = { .infer = infer, .eval = eval };
