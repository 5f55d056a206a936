/* SPDX-License-Identifier: MIT */
/* fused_attention.h — the attributes of fused_attention, resolved with the shapes of its
   tensors. */
#ifndef PRT_OP_INTERNAL_FUSED_ATTENTION_H
#define PRT_OP_INTERNAL_FUSED_ATTENTION_H

#include "op/share/attention_core.h"

enum {
    PRT_MHA_Q,
    PRT_MHA_K,
    PRT_MHA_V,
    PRT_MHA_BIAS,
    PRT_MHA_MASK,
    PRT_MHA_KEEP,
    PRT_MHA_PAST_KEY,
    PRT_MHA_PAST_VALUE
};
enum { PRT_MHA_Y, PRT_MHA_PRESENT_KEY, PRT_MHA_PRESENT_VALUE };

/* "Given by the tensors". In `sizes`, past: the number of rows of the cache. In the strides of
   bias, mask and keep, except from key to key: the number of keys. */
#define PRT_MHA_OPEN ((int64_t)-1)

/* The elements of the attribute `sizes`. Query heads come in groups; each group shares one head of
   K and V. */
typedef enum prt_mha_size {
    PRT_MHA_batch,
    PRT_MHA_heads,
    PRT_MHA_groups,
    PRT_MHA_queries,
    PRT_MHA_past, /* keys from the cache */
    PRT_MHA_keys, /* new keys */
    PRT_MHA_size, /* elements of a row of Q and K */
    PRT_MHA_wide, /* elements of a row of V and Y */
    PRT_MHA_SIZES
} prt_mha_size;

/* A tensor of bias, mask or keep with its strides by image, head, query and key. If data is NULL,
   the tensor is absent. */
typedef struct prt_scores_view {
    const void *data;
    size_t batch, head, row, key;
} prt_scores_view;

static inline size_t prt_scores_at(const prt_scores_view *v, size_t batch, size_t head, size_t row)
{
    return batch * v->batch + head * v->head + row * v->row;
}

typedef struct prt_mha {
    size_t sizes[PRT_MHA_SIZES];
    prt_heads q, k, v, y;
    prt_heads past_k, past_v, present_k, present_v; /* data NULL: absent */
    prt_scores_view bias, mask, keep;
    float scale, fill, least; /* lower bound of scores; -inf: unbounded */
    bool inverted, causal;
    bool guarded; /* a query whose weights are NaN gives zeros */
} prt_mha;

/* Resolves the attributes with the tensors of `c`, which have passed infer. */
prt_mha prt_mha_of(const prt_eval *c);

#endif
