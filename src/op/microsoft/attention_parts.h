/* SPDX-License-Identifier: MIT */
/*
 * attention_parts.h — shared parts of the attention operators of com.microsoft: masks in all their
 * layouts, the projection of the input to Q, K and V, and biases of heads.
 */
#ifndef PRT_OP_MICROSOFT_ATTENTION_PARTS_H
#define PRT_OP_MICROSOFT_ATTENTION_PARTS_H

#include "op/share/attention_core.h"

/*
 * Additive mask of scores. The meaning of `mask` (integers; NULL: absent) depends on its rank:
 *     1  lengths of the images, or their ends and then their starts, or lengths and offsets
 *     2  [batch, keys]
 *     3  [batch, queries, keys]
 *     4  [batch, 1, most, most]
 * In ranks 2 to 4, keys with a value above 0 are visible. `bias` has four dims that broadcast. The
 * queries are at the positions of the last keys.
 */
typedef struct prt_ms_mask {
    const prt_tensor *mask, *bias;
    double filter; /* value added to the score of a masked key */
    bool causal;
    size_t first; /* index in the tensors of image 0 of the run */
} prt_ms_mask;

/* The `bias` function of prt_attention; its `user` points to a prt_ms_mask. */
void prt_ms_fill_bias(const prt_attention *s, size_t batch, size_t head, size_t i, double *to);
/* The `range` function of prt_attention, with the same `user`. */
bool prt_ms_range(const prt_attention *s, size_t batch, size_t i, size_t *first, size_t *end);
/* Returns one element of a bias of rank 4 whose dims of 1 broadcast; 0 beyond its last dim. */
double prt_ms_bias_at(const prt_tensor *t, size_t batch, size_t head, size_t i, size_t j);

/* Check mask and bias (input indices) against batch, heads, queries and keys. Unknown dims are
   accepted. */
poprt_status prt_ms_check_mask(const prt_infer *c, uint32_t mask, const int64_t *want);
poprt_status prt_ms_check_bias(const prt_infer *c, uint32_t bias, const int64_t *want);

/* Fails unless `heads` is positive and divides `size`, if that is known. */
poprt_status prt_ms_check_heads(const prt_infer *c, int64_t heads, int64_t size);

/* Finds the sizes of Q, K and V over all heads, from `given` or as thirds of the columns of the
   weights, input 1. A size may be unknown. */
poprt_status prt_ms_hidden_sizes(const prt_infer *c, prt_i64s given, int64_t *sizes);

/* Returns `scale`, or 1 / sqrt(head size) if `scale` is 0. */
double prt_ms_scale(float scale, size_t size);

/* Returns the keys (0) or values (1) of a cache [2, batch, heads, rows, size]; absent heads for
   NULL. */
prt_heads prt_ms_half(const prt_tensor *t, size_t which);

/* Returns x [rows, in] times w [in, cols] plus bias [cols] (may be NULL) in double scratch; NULL,
   with the failure recorded, on allocation failure. `rows` is the product of all dims of x but the
   last. */
double *prt_ms_project(prt_eval *c, const prt_tensor *x, const prt_tensor *w,
    const prt_tensor *bias);

/* Replaces `h` by a copy in scratch with bias[from + head * size + d] added. Does nothing if the
   bias is NULL. */
poprt_status prt_ms_add_bias(prt_eval *c, prt_heads *h, size_t batch, const prt_tensor *bias,
    size_t from);

/* Returns tensor i, or NULL if it is absent. */
static inline const prt_tensor *prt_ms_in(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) ? c->in[i] : NULL;
}
static inline prt_tensor *prt_ms_out(const prt_eval *c, uint32_t i)
{
    return prt_eval_wants(c, i) ? c->out[i] : NULL;
}

/* Fills output i with zeros. */
static inline void prt_ms_clear(const prt_eval *c, uint32_t i)
{
    if (prt_eval_wants(c, i) && c->out[i]->size != 0)
        memset(c->out[i]->data, 0, c->out[i]->size);
}

#endif
