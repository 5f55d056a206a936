/* SPDX-License-Identifier: MIT */
/*
 * attend.h — what the attentions of com.microsoft share: masks in their many forms, the projection
 * of the input to Q, K and V, and biases of heads.
 */
#ifndef PRT_OP_MICROSOFT_ATTEND_H
#define PRT_OP_MICROSOFT_ATTEND_H

#include "op/share/attention_core.h"

/*
 * What is added to scores. `mask` (integers; NULL for none) is by its rank
 *     1  lengths of the images, or their ends and then their starts, or lengths and offsets
 *     2  [batch, keys], 3 [batch, queries, keys], 4 [batch, 1, most, most]: keys above 0 are open
 * and `bias` has four dims that broadcast. Queries are the last ones of the keys.
 */
typedef struct prt_ms_mask {
    const prt_tensor *mask, *bias;
    double filter; /* added for a key that the mask closes */
    bool causal;
    size_t first; /* image of the tensors that image 0 of a run is */
} prt_ms_mask;

/* A prt_attention's `bias` whose `user` points to a prt_ms_mask. */
void prt_ms_fill_bias(const prt_attention *s, size_t batch, size_t head, size_t i, double *to);
/* Its `range`. */
bool prt_ms_range(const prt_attention *s, size_t batch, size_t i, size_t *first, size_t *end);
/* One element of a bias of rank 4 whose dims of 1 broadcast; 0 beyond its last dim. */
double prt_ms_bias_at(const prt_tensor *t, size_t batch, size_t head, size_t i, size_t j);

/* Checks mask and bias (input indices) against batch, heads, queries and keys; unknown is fine. */
poprt_status prt_ms_check_mask(const prt_infer *c, uint32_t mask, const int64_t *want);
poprt_status prt_ms_check_bias(const prt_infer *c, uint32_t bias, const int64_t *want);

/* num_heads and friends: positive, and dividing `size` where that is known. */
poprt_status prt_ms_check_heads(const prt_infer *c, int64_t heads, int64_t size);

/* Sizes of all heads of Q, K and V together, unknown where they are: `given`, or thirds of the
 * columns of the weights, input 1. */
poprt_status prt_ms_hidden_sizes(const prt_infer *c, prt_i64s given, int64_t *sizes);

/* `scale`, or one over the root of the head size where it is 0. */
double prt_ms_scale(float scale, size_t size);

/* The keys (0) or values (1) of a cache [2, batch, heads, rows, size]; absent ones of NULL. */
prt_heads prt_ms_half(const prt_tensor *t, size_t which);

/* x [rows, in] times w [in, cols] plus bias [cols] (may be NULL), in double scratch; NULL (failure
 * recorded) when refused. `rows` counts all dims of x but the last. */
double *prt_ms_project(prt_eval *c, const prt_tensor *x, const prt_tensor *w,
    const prt_tensor *bias);

/* The same heads in scratch with bias[from + head * size + d] added; `h` unless there is a bias. */
poprt_status prt_ms_add_bias(prt_eval *c, prt_heads *h, size_t batch, const prt_tensor *bias,
    size_t from);

/* Tensor i or NULL. */
static inline const prt_tensor *prt_ms_in(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) ? c->in[i] : NULL;
}
static inline prt_tensor *prt_ms_out(const prt_eval *c, uint32_t i)
{
    return prt_eval_wants(c, i) ? c->out[i] : NULL;
}

/* Zeros output i. */
static inline void prt_ms_clear(const prt_eval *c, uint32_t i)
{
    if (prt_eval_wants(c, i) && c->out[i]->size != 0)
        memset(c->out[i]->data, 0, c->out[i]->size);
}

#endif
