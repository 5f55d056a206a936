/* SPDX-License-Identifier: MIT */
/*
 * trilu.c — Trilu (upper or lower triangles) and ReverseSequence (reverses the start of each
 * sequence).
 */
#include "op/share/shape_values.h"

/* ---- Trilu */

static poprt_status infer_trilu(prt_infer *c)
{
    if (prt_infer_ranked(c, 0) && c->in[0].rank < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the input has rank %d; a rank of at least 2 is required", c->in[0].rank);
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

static poprt_status eval_trilu(prt_eval *c)
{
    const prt_trilu_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    const int64_t rows = x->dims[x->rank - 2], cols = x->dims[x->rank - 1];
    const int64_t total = (int64_t)prt_dims_product(x->dims, 0, x->rank - 1);
    int64_t k = 0;
    uint32_t count = 1;
    if (prt_eval_has(c, 1))
        PRT_TRY(prt_eval_ints(c, 1, &k, 1, &count));
    if (count != 1)
        return prt_eval_fail(c, POPRT_E_SHAPE, "k must be one number");
    k = k < -rows - 1 ? -rows - 1 : k > cols + 1 ? cols + 1 : k;
    for (int64_t r = 0; r < total; r++) {
        /* Upper: columns from row + k on are kept. Lower: columns up to row + k are kept. */
        int64_t edge = r % rows + k + (a->upper != 0 ? 0 : 1);
        edge = edge < 0 ? 0 : edge > cols ? cols : edge;
        const size_t at = (size_t)(r * cols), left = (size_t)edge, right = (size_t)(cols - edge);
        if (a->upper != 0) {
            prt_zero_elements(y->dtype, y->data, at, left);
            prt_element_copy(y->dtype, y->data, at + left, x->data, at + left, right);
        } else {
            prt_element_copy(y->dtype, y->data, at, x->data, at, left);
            prt_zero_elements(y->dtype, y->data, at + left, right);
        }
    }
    return POPRT_OK;
}

/* ---- ReverseSequence */

static poprt_status infer_reverse(prt_infer *c)
{
    const prt_reverse_sequence_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    if (a->batch_axis < 0 || a->batch_axis > 1 || a->time_axis != 1 - a->batch_axis)
        return prt_infer_fail(c, POPRT_E_ARG,
            "batch_axis and time_axis must be 0 and 1 or 1 and 0, not %lld and %lld",
            (long long)a->batch_axis, (long long)a->time_axis);
    if (x->rank >= 0 && x->rank < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the input has rank %d; a rank of at least 2 is required", x->rank);
    if (x->rank >= 0 && c->in[1].rank >= 0) {
        int64_t batch;
        if (c->in[1].rank != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE, "sequence_lens has rank %d, not 1",
                c->in[1].rank);
        PRT_TRY(prt_infer_merge(c, x->dims[a->batch_axis], c->in[1].dims[0], "the batch", &batch));
    }
    return prt_infer_like(c, 0, 0, x->dtype);
}

static poprt_status eval_reverse(prt_eval *c)
{
    const prt_reverse_sequence_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *lens = c->in[1];
    const bool batch_first = a->batch_axis == 0;
    const int64_t batch = x->dims[a->batch_axis], time = x->dims[a->time_axis];
    const size_t inner = prt_dims_product(x->dims, 2, x->rank);
    if (prt_tensor_count(lens) != (size_t)batch)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "sequence_lens has %zu elements, but the batch has %lld", prt_tensor_count(lens),
            (long long)batch);
    for (int64_t b = 0; b < batch; b++) {
        const int64_t len = prt_load_i64(lens->dtype, lens->data, (size_t)b);
        if (len < 0 || len > time)
            return prt_eval_fail(c, POPRT_E_ARG,
                "a sequence length is %lld, which is outside [0, %lld]", (long long)len,
                (long long)time);
        for (int64_t t = 0; t < time; t++) {
            const int64_t s = t < len ? len - 1 - t : t;
            const int64_t to = batch_first ? b * time + t : t * batch + b;
            const int64_t from = batch_first ? b * time + s : s * batch + b;
            prt_element_copy(x->dtype, c->out[0]->data, (size_t)to * inner, x->data,
                (size_t)from * inner, inner);
        }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_trilu = { .infer = infer_trilu, .eval = eval_trilu };
const prt_op_hooks prt_op_reverse_sequence = { .infer = infer_reverse, .eval = eval_reverse };
