/* SPDX-License-Identifier: MIT */
/* fused_attention.h — what the attributes of fused_attention say, with its tensors. */
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

/* In `sizes`, past: as many rows as the tensors have. In the distances of bias, mask and keep, but
 * from key to key: as many elements as there are keys. */
#define PRT_MHA_OPEN ((int64_t)-1)

/* The attribute `sizes`. Heads of Q come in groups, one for each head of K and V. */
typedef enum prt_mha_size {
    PRT_MHA_batch,
    PRT_MHA_heads,
    PRT_MHA_groups,
    PRT_MHA_queries,
    PRT_MHA_past, /* keys from the cache */
    PRT_MHA_keys, /* new ones */
    PRT_MHA_size, /* of a row of Q and K */
    PRT_MHA_wide, /* of a row of V and Y */
    PRT_MHA_SIZES
} prt_mha_size;

/* What is added or asked for a score; data NULL: nothing. */
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
    float scale, fill, least; /* -inf: no least */
    bool inverted, causal;
    bool guarded; /* queries whose weights are not numbers give zeros */
} prt_mha;

/* The inputs and outputs have passed infer. */
prt_mha prt_mha_of(const prt_eval *c);

#endif
