/* SPDX-License-Identifier: MIT */
/* attention.h — attention and rotary embeddings rebuilt from simpler operators, for the rules of
 * several domains. */
#ifndef PRT_TRAIN_ATTENTION_H
#define PRT_TRAIN_ATTENTION_H

#include "train/rule.h"

/* softmax(cap(scale Q K') + bias) V for tensors [batch, heads, rows, size]. Q may have more heads
 * than K and V, a multiple. */
typedef struct prt_grad_attention {
    prt_value *q, *k, *v;
    prt_value *bias;   /* broadcasts to the scores; NULL: none */
    prt_value *closed; /* bool, broadcasts to the scores: keys that a query does not see; or NULL */
    double scale;      /* 0: 1 / sqrt(size) */
    double cap;        /* 0: no cap */
    /* Results: the scores at each stage. */
    prt_value *raw, *capped, *biased, *shares, *y;
} prt_grad_attention;

/* Refuses heads whose number is not known. */
poprt_status prt_grad_attend(prt_grad *g, prt_grad_attention *a);

/* [batch, rows, heads * size] to [batch, heads, rows, size], and back. */
prt_value *prt_grad_split_heads(prt_grad *g, prt_value *v, int64_t heads);
prt_value *prt_grad_join_heads(prt_grad *g, prt_value *v);

/* The positions of queries among the keys, as int64 [rows, 1]: the first query is at the first of
 * the last keys, which are as many as the rows of `last`. And the positions of the keys, [keys]. */
prt_value *prt_grad_query_places(prt_grad *g, prt_value *q, prt_value *k, prt_value *last);
prt_value *prt_grad_key_places(prt_grad *g, prt_value *k);

typedef struct prt_grad_rotation {
    prt_value *x;             /* [batch, heads, rows, size], or [batch, rows, heads * size] */
    prt_value *cosine, *sine; /* [batch, rows, pairs] */
    int64_t heads;            /* of the second shape */
    int64_t rotated;          /* elements of a head that are rotated; 0: all */
    bool interleaved;
} prt_grad_rotation;

prt_value *prt_grad_rotate(prt_grad *g, const prt_grad_rotation *r);

#endif
