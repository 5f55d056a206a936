/* SPDX-License-Identifier: MIT */
/*
 * parallel.h — items of work over the threads that the host lends. Items are taken one by one by
 * whoever is free, each participant with scratch of its own.
 */
#ifndef PRT_FAST_PARALLEL_H
#define PRT_FAST_PARALLEL_H

#include "op/op.h"

/* rows * columns zeroed floats of scratch at the start of a cache line; NULL (failure recorded)
 * when refused. */
float *prt_parallel_floats(prt_eval *c, size_t rows, size_t columns);

/* The same with any contents. */
float *prt_parallel_raw(prt_eval *c, size_t rows, size_t columns);

typedef void (*prt_parallel_body)(const void *user, size_t item, float *scratch);

/* Runs body(user, i, scratch) once for each i below `count`; `scratch` has `floats` elements with
 * any contents. Fails when the host cancels or memory is refused. What reads and writes next to
 * nothing stays on the calling thread. */
poprt_status prt_parallel_for(prt_eval *c, size_t count, size_t floats, prt_parallel_body body,
    const void *user);

/* Floats of scratch that each participant of such a run has in memory that is there anyway, and in
 * its caches maybe. */
size_t prt_parallel_idle_scratch(prt_eval *c, size_t count);

/* The scratch of such runs of `count` items or fewer; NULL (failure recorded) when refused. */
float *prt_parallel_scratch(prt_eval *c, size_t count, size_t floats);

/* The same in `room`, which is left for the next run; NULL where `floats` is 0. */
poprt_status prt_parallel_for_in(prt_eval *c, size_t count, size_t floats, float *room,
    prt_parallel_body body, const void *user);

/* Pieces of `total` elements that are worth a thread's while: how many of `least` or more. */
static inline size_t prt_parallel_pieces(size_t total, size_t least)
{
    const size_t pieces = total / least;
    return pieces < 1 ? 1 : pieces > 64 ? 64 : pieces;
}

/* Threads that take part in a run. */
static inline size_t prt_parallel_width(const prt_eval *c)
{
    return c->par != NULL ? c->par->width : 1;
}

/* Few items of one size are a whole number for each thread, or so many that it does not matter. */
static inline bool prt_parallel_even(const prt_eval *c, size_t items)
{
    const size_t width = prt_parallel_width(c);
    return items % width == 0 || items > 8 * width;
}

/* So many blocks of `rows`, each of which makes `items`; more where those are few and would not be
 * a whole number for each thread, and blocks have `least` rows still. */
static inline size_t prt_parallel_blocks(const prt_eval *c, size_t items, size_t blocks,
    size_t rows, size_t least)
{
    if (!prt_parallel_even(c, items * blocks))
        while (items * blocks % prt_parallel_width(c) != 0 && rows / (blocks + 1) >= least)
            blocks++;
    return blocks;
}

/* Pieces as prt_parallel_pieces has them, where results do not depend on them: a whole number for
 * each thread, and one for each where they are not too small for that. Even a short step is done
 * where the step before has left its inputs. */
static inline size_t prt_parallel_alike(const prt_eval *c, size_t total, size_t least)
{
    enum { SMALLEST = 1 << 13 }; /* elements of such a piece */
    const size_t pieces = prt_parallel_pieces(total, least), width = prt_parallel_width(c);
    if (prt_parallel_even(c, pieces) || total / width < SMALLEST)
        return pieces;
    return (pieces + width - 1) / width * width;
}

/* First element of piece i of n. */
static inline size_t prt_parallel_cut(size_t total, size_t n, size_t i)
{
    if (n == 1) /* divisions take a while */
        return total * i;
    return total / n * i + (total % n < i ? total % n : i);
}

#endif
