/* SPDX-License-Identifier: MIT */
/*
 * feed.h — inputs for running a model inside a pass: samples cut into batches, or made-up data;
 * and who runs it.
 */
#ifndef PRT_PASS_PRECISION_FEED_H
#define PRT_PASS_PRECISION_FEED_H

#include "ir/ir.h"

/* Samples of one input: axis 0 counts them. */
typedef struct prt_feed_array {
    prt_str name;
    prt_tensor tensor;
} prt_feed_array;

/* Runs the main graph: `out` are views that live as long as `arena`. `batch` counts the runs on one
 * module; at 0 it may be another one than before. */
typedef poprt_status (*prt_feed_run)(void *user, const prt_module *module, size_t batch,
    uint32_t n_in, const prt_tensor *const *in, uint32_t n_out, prt_tensor *out, prt_arena *arena);

typedef struct prt_feed {
    uint32_t n_arrays; /* 0: made-up data */
    const prt_feed_array *arrays;
    prt_feed_run run; /* NULL: the reference evaluator */
    void *user;
    const prt_module *shapes; /* where made-up data finds dims that a model leaves open; or NULL */
    size_t batches, batch;    /* how many, of how many samples; set by prt_feed_open */
} prt_feed;

/*
 * Looks at the inputs of the model: all without a default need an array of their shape, but for
 * axis 0. A batch is what the model takes, or up to 8 samples where that is open; samples that do
 * not fill the last one are left out. Made-up data is one batch: numbers in [-1, 1), integers 0 and
 * 1, the same each time; open dimensions are 2, or what `shapes` has for the
 * input of that name.
 */
poprt_status prt_feed_open(prt_feed *feed, const prt_module *module);

/* Runs `module`, whose inputs are those of the model, on batch `index`. */
poprt_status prt_feed_batch(const prt_feed *feed, const prt_module *module, size_t index,
    prt_tensor *out, prt_arena *arena);

#endif
