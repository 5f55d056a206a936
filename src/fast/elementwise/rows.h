/* SPDX-License-Identifier: MIT */
/* rows.h — operators that work on contiguous rows of float32; an item is a block of rows. */
#ifndef PRT_FAST_ELEMENTWISE_ROWS_H
#define PRT_FAST_ELEMENTWISE_ROWS_H

#include "fast/fast.h"

typedef struct prt_fast_rows prt_fast_rows;
struct prt_fast_rows {
    const prt_kern *kern;
    size_t count, n; /* rows, and elements of a row */
    const float *x, *gamma, *beta;
    float *y;
    float epsilon;
    size_t channels, inner; /* for normalisations by channel: channels, and elements of one */
    const float *mean, *variance;
    void (*run)(const prt_fast_rows *r, size_t row);
    size_t pieces; /* set by prt_fast_rows_run */
};

/* Returns the rows of input 0 and output 0; a row consists of the axes from `first` on. */
prt_fast_rows prt_fast_rows_of(const prt_eval *c, const prt_kern *k, uint32_t first);

/* Calls r->run once for every row. */
poprt_status prt_fast_rows_run(prt_eval *c, prt_fast_rows *r);

/* Returns whether output 0 is wanted, has memory, and is the only output. */
static inline bool prt_fast_has_only_output(const prt_eval *c)
{
    for (uint32_t i = 1; i < c->n_out; i++)
        if (prt_eval_wants(c, i))
            return false;
    return prt_fast_has_output(c);
}

#endif
