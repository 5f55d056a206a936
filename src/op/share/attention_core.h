/* SPDX-License-Identifier: MIT */
/*
 * attention_core.h — the loops shared by all attention operators: softmax(scale * Q K' + bias) V
 * per head, with a cache of keys and values in front of the new ones.
 *
 * The operators differ in the layout of heads in their tensors, in the bias added to the scores,
 * and in the number of valid rows of the cache.
 */
#ifndef PRT_OP_SHARE_ATTENTION_CORE_H
#define PRT_OP_SHARE_ATTENTION_CORE_H

#include "op/share/reals.h"

/* The layout of heads: element d of row r of head h of image b is at first + b * batch + h *
 * head + r * row + d. */
typedef struct prt_heads {
    int32_t dtype;
    void *data; /* NULL: absent */
    size_t first, batch, head, row;
    size_t heads, rows, size;
} prt_heads;

/* Returns the layout of a tensor [batch, heads, rows, size], which may have capacity for more
 * rows; NULL gives an absent one. The present cache may share the memory of the past cache if
 * both have the same capacity. */
prt_heads prt_heads_of_rank4(const prt_tensor *t);
/* Returns the layout of a tensor [batch, rows, heads * size]; `heads` is not 0 and divides the
 * last dim. */
prt_heads prt_heads_of_rank3(const prt_tensor *t, size_t heads);

static inline size_t prt_heads_at(const prt_heads *h, size_t batch, size_t head, size_t row)
{
    return h->first + batch * h->batch + head * h->head + row * h->row;
}

/* Stages of the scores of a query, in order. */
enum { PRT_SCORES_RAW, PRT_SCORES_CAPPED, PRT_SCORES_BIASED, PRT_SCORES_SOFTMAX };

typedef struct prt_attention prt_attention;
struct prt_attention {
    prt_heads q, k, v, past_k, past_v;
    prt_heads y, present_k, present_v; /* written if present */
    size_t batch;
    double scale;
    double cap;              /* limit of the soft cap; 0: no cap */
    const double *sinks;     /* per query head: an extra logit without a value; may be NULL */
    const size_t *past_rows; /* per image: number of valid rows of the cache; NULL: all rows */
    const size_t *new_rows;  /* per image: number of valid rows of K and V; NULL: all rows */
    /* per image: number of leading keys that the present cache omits; may be NULL */
    const size_t *leave;
    /* Writes the bias of the scores of query `i`; -HUGE_VAL masks a key. */
    void (*bias)(const prt_attention *s, size_t batch, size_t head, size_t i, double *to);
    /* Returns true if the bias of query `i` is 0 for keys [*first, *end) and masks all other
     * keys. `*end` never decreases with i. After a false result, the result is false for all
     * later queries. May be NULL. */
    bool (*range)(const prt_attention *s, size_t batch, size_t i, size_t *first, size_t *end);
    /* Reads the scores of query `i` after one stage (PRT_SCORES_*); may be NULL. */
    void (*scores)(const prt_attention *s, int stage, size_t batch, size_t head, size_t i,
        const double *scores);
    const void *user;
    /* set for the hooks: number of keys of this image, and how many of them come from the cache */
    size_t total, past;
    /* private */
    double *keys, *values, *query, *result, *row, *added;
};

/* Runs all images and heads. The number of heads of Q is a multiple of that of K; V has as many
 * heads as K. */
poprt_status prt_attention_run(prt_eval *c, prt_attention *s);

#endif
