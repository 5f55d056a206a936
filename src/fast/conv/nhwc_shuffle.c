/* SPDX-License-Identifier: MIT */
/* nhwc_shuffle.c — NhwcShuffle: interleaves the channels of two tensors, pixel by pixel. */
#include "fast/parallel.h"

#include "fast/fast.h"

enum { LEAST = 1 << 15 }; /* floats of an item, at least */

typedef struct shuffle_work {
    const prt_kern *kern;
    size_t pixels, channels, pieces;
    const float *a, *b;
    float *y, *high; /* second half of the outputs; NULL: y has all */
} shuffle_work;

/* An odd number of channels splits a pair: the second half then begins with a channel of B. */
static void run_pixels(const void *user, size_t item, float *scratch)
{
    const shuffle_work *j = user;
    const size_t end = prt_parallel_piece_begin(j->pixels, j->pieces, item + 1), n = j->channels;
    (void)scratch;
    for (size_t p = prt_parallel_piece_begin(j->pixels, j->pieces, item); p < end; p++) {
        const float *a = j->a + p * n, *b = j->b + p * n;
        if (j->high == NULL) {
            j->kern->zip(2 * n, a, b, j->y + p * 2 * n);
            continue;
        }
        j->kern->zip(n, a, b, j->y + p * n);
        if (n % 2 == 0)
            j->kern->zip(n, a + n / 2, b + n / 2, j->high + p * n);
        else
            j->kern->zip(n, b + n / 2, a + n / 2 + 1, j->high + p * n);
    }
}

poprt_status prt_fast_nhwc_shuffle(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_tensor *a = c->in[0];
    const prt_nhwc_shuffle_attrs *attrs = c->attrs;
    const bool halves = attrs->halves != 0;
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_fast_has_output(c) ||
        prt_tensor_count(a) == 0 || prt_eval_wants(c, 1) != halves)
        return prt_fast_use_reference(done);
    shuffle_work j = { .kern = k,
        .channels = (size_t)a->dims[a->rank - 1],
        .pixels = prt_dims_product(a->dims, 0, a->rank - 1),
        .a = a->data,
        .b = c->in[1]->data,
        .y = c->out[0]->data,
        .high = halves ? c->out[1]->data : NULL };
    j.pieces = prt_parallel_balanced_pieces(c, j.pixels * j.channels, LEAST);
    return prt_parallel_for(c, j.pieces, 0, run_pixels, &j);
}
