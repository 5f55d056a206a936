/* SPDX-License-Identifier: MIT */
/*
 * parallel.h — runs work items on the threads that the host lends. Free threads take items one by
 * one; each thread has scratch of its own.
 */
#ifndef PRT_FAST_PARALLEL_H
#define PRT_FAST_PARALLEL_H

#include "op/op.h"

/* Returns rows * columns zeroed floats of scratch that begin at a cache line. Returns NULL and
 * records the failure if memory is refused. */
float *prt_parallel_zeroed_floats(prt_eval *c, size_t rows, size_t columns);

/* The same, not zeroed. */
float *prt_parallel_uninitialized_floats(prt_eval *c, size_t rows, size_t columns);

typedef void (*prt_parallel_body)(const void *user, size_t item, float *scratch);

/* Runs body(user, i, scratch) once for each i below `count`; `scratch` has `floats` elements that
 * are not initialised. Fails when the host cancels or memory is refused. If the step reads and
 * writes very few bytes, all items run on the calling thread. */
poprt_status prt_parallel_for(prt_eval *c, size_t count, size_t floats, prt_parallel_body body,
    const void *user);

/* Returns the floats of idle memory of the session that each thread of such a run can use as
 * scratch. Idle memory may still be in the thread's caches. */
size_t prt_parallel_idle_scratch(prt_eval *c, size_t count);

/* Allocates scratch for runs of up to `count` items. Returns NULL and records the failure if memory
 * is refused. */
float *prt_parallel_scratch(prt_eval *c, size_t count, size_t floats);

/* Like prt_parallel_for, in scratch from prt_parallel_scratch, which the caller may use again for
 * the next run. `scratch` is NULL if `floats` is 0. */
poprt_status prt_parallel_for_in(prt_eval *c, size_t count, size_t floats, float *scratch,
    prt_parallel_body body, const void *user);

/* Returns the number of pieces of `total` elements, each of `least` or more: 1 to 64. */
static inline size_t prt_parallel_pieces(size_t total, size_t least)
{
    const size_t pieces = total / least;
    return pieces < 1 ? 1 : pieces > 64 ? 64 : pieces;
}

/* Returns the number of threads that take part in a run. */
static inline size_t prt_parallel_threads(const prt_eval *c)
{
    return c->par != NULL ? c->par->width : 1;
}

/* Returns whether the items are balanced: the same number for each thread, or so many that the
 * remainder does not matter. */
static inline bool prt_parallel_is_balanced(const prt_eval *c, size_t items)
{
    const size_t width = prt_parallel_threads(c);
    return items % width == 0 || items > 8 * width;
}

/* Returns the number of blocks of `rows` rows, with `items` items in each. Raises `blocks` until
 * the threads are balanced, as long as blocks have `least` rows. */
static inline size_t prt_parallel_blocks(const prt_eval *c, size_t items, size_t blocks,
    size_t rows, size_t least)
{
    if (!prt_parallel_is_balanced(c, items * blocks))
        while (items * blocks % prt_parallel_threads(c) != 0 && rows / (blocks + 1) >= least)
            blocks++;
    return blocks;
}

/* Like prt_parallel_pieces, for work whose results do not depend on the number of pieces: the same
 * number for each thread, unless pieces become too small. Even a short step then finds its inputs
 * in the caches that the step before has filled. */
static inline size_t prt_parallel_balanced_pieces(const prt_eval *c, size_t total, size_t least)
{
    enum { SMALLEST = 1 << 13 }; /* elements of such a piece */
    const size_t pieces = prt_parallel_pieces(total, least), width = prt_parallel_threads(c);
    if (prt_parallel_is_balanced(c, pieces) || total / width < SMALLEST)
        return pieces;
    return (pieces + width - 1) / width * width;
}

/* Returns the first element of piece i of n. */
static inline size_t prt_parallel_piece_begin(size_t total, size_t n, size_t i)
{
    if (n == 1) /* saves two divisions */
        return total * i;
    return total / n * i + (total % n < i ? total % n : i);
}

#endif
