/* SPDX-License-Identifier: MIT */
/*
 * attention_core.h — what all attentions share: softmax(scale * Q K' + bias) V head by head, with a
 * cache of keys and values in front of the new ones.
 *
 * The members differ in how heads lie in their tensors, in what is added to the scores, and in how
 * many rows of the cache count.
 */
#ifndef PRT_OP_SHARE_ATTENTION_CORE_H
#define PRT_OP_SHARE_ATTENTION_CORE_H

#include "op/share/reals.h"

/* Element d of row r of a head of an image: first + image * batch + head * head + r * row + d. */
typedef struct prt_heads {
    int32_t dtype;
    void *data; /* NULL: absent */
    size_t first, batch, head, row;
    size_t heads, rows, size;
} prt_heads;

/* [batch, heads, rows, size], maybe with room for more; NULL gives an absent one. The present may
 * lie where the past does, with as much room. */
prt_heads prt_heads_split(const prt_tensor *t);
/* [batch, rows, heads * size]; `heads` is not 0 and divides the last dim. */
prt_heads prt_heads_joined(const prt_tensor *t, size_t heads);

static inline size_t prt_heads_at(const prt_heads *h, size_t batch, size_t head, size_t row)
{
    return h->first + batch * h->batch + head * h->head + row * h->row;
}

/* What the scores of a query have gone through. */
enum { PRT_SCORES_RAW, PRT_SCORES_CAPPED, PRT_SCORES_BIASED, PRT_SCORES_SOFTMAX };

typedef struct prt_attention prt_attention;
struct prt_attention {
    prt_heads q, k, v, past_k, past_v;
    prt_heads y, present_k, present_v; /* written where present */
    size_t batch;
    double scale;
    double cap;              /* 0: none */
    const double *sinks;     /* by query head: a logit without a value; NULL: none */
    const size_t *past_rows; /* by image: rows of the cache that count; NULL: all of them */
    const size_t *new_rows;  /* by image: rows of K and V that count; NULL: all of them */
    const size_t *leave;     /* by image: first keys that present does not take; NULL: none */
    /* Fills what is added to the scores of query `i`, -HUGE_VAL for a key it must not see. */
    void (*bias)(const prt_attention *s, size_t batch, size_t head, size_t i, double *to);
    /* True where that is 0 for keys [*first, *end) and no other key is to be seen; `end` never
     * falls with i, and once it is false it stays so. May be NULL. */
    bool (*range)(const prt_attention *s, size_t batch, size_t i, size_t *first, size_t *end);
    /* Looks at the scores of query `i`, one of PRT_SCORES_* at a time; may be NULL. */
    void (*scores)(const prt_attention *s, int stage, size_t batch, size_t head, size_t i,
        const double *scores);
    const void *user;
    /* set for the hooks: keys of this image, and how many of them come from the cache */
    size_t total, past;
    /* private */
    double *keys, *values, *query, *result, *row, *added;
};

/* Runs all images and heads. Heads of Q divide into those of K; V has as many as K. */
poprt_status prt_attention_run(prt_eval *c, prt_attention *s);

#endif
