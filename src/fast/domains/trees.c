/* SPDX-License-Identifier: MIT */
/* trees.c — PackedTrees: an item is a block of rows. */
#include <stdatomic.h>

#include "fast/fast.h"
#include "fast/parallel.h"
#include "op/ml/tree_packed.h"

typedef struct trees_work {
    prt_packed_forest f;
    _Atomic bool *broken;
} trees_work;

static void run_rows(const void *user, size_t item, float *scratch)
{
    const trees_work *j = user;
    if (!prt_packed_run(&j->f, item * j->f.most, (double *)(void *)scratch))
        atomic_store_explicit(j->broken, true, memory_order_relaxed);
}

poprt_status prt_fast_packed_trees(prt_eval *c, const prt_kern *k, bool *done)
{
    _Atomic bool broken = false;
    trees_work j = { .broken = &broken };
    size_t floats;
    (void)k;
    (void)done;
    PRT_TRY(prt_packed_read(c, &j.f));
    if (j.f.rows == 0)
        return POPRT_OK;
    if (!prt_packed_scratch_size(&j.f, &floats) || !prt_size_mul(floats, 2, &floats))
        return prt_fail_nomem(SIZE_MAX);
    PRT_TRY(prt_parallel_for(c, (j.f.rows + j.f.most - 1) / j.f.most, floats, run_rows, &j));
    return broken ? prt_packed_fail(c) : POPRT_OK;
}
