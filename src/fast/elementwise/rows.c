/* SPDX-License-Identifier: MIT */
/* rows.c — operators that work row by row. */
#include "fast/elementwise/rows.h"

#include "fast/parallel.h"

prt_fast_rows prt_fast_rows_of(const prt_eval *c, const prt_kern *k, uint32_t first)
{
    const prt_tensor *x = c->in[0];
    return (prt_fast_rows){ .kern = k,
        .count = prt_dims_product(x->dims, 0, first),
        .n = prt_dims_product(x->dims, first, x->rank),
        .x = x->data,
        .y = c->out[0]->data };
}

static void run_piece(const void *user, size_t item, float *scratch)
{
    const prt_fast_rows *r = user;
    const size_t end = prt_parallel_piece_begin(r->count, r->pieces, item + 1);
    (void)scratch;
    for (size_t i = prt_parallel_piece_begin(r->count, r->pieces, item); i < end; i++)
        r->run(r, i);
}

poprt_status prt_fast_rows_run(prt_eval *c, prt_fast_rows *r)
{
    const size_t most = prt_parallel_balanced_pieces(c, r->count * r->n, 1 << 14);
    r->pieces = r->count < most ? r->count : most;
    return prt_parallel_for(c, r->pieces, 0, run_piece, r);
}
