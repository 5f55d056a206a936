/* SPDX-License-Identifier: MIT */
/*
 * feed.h — inputs for running a model inside a pass: samples cut into batches, or pseudo-random
 * data; and the function that runs it.
 */
#ifndef PRT_PASS_PRECISION_FEED_H
#define PRT_PASS_PRECISION_FEED_H

#include "ir/ir.h"

/* Samples of one input; axis 0 is the index of the sample. */
typedef struct prt_feed_array {
    prt_str name;
    prt_tensor tensor;
} prt_feed_array;

/* Runs the main graph; sets `out` to views that live as long as `arena`. `batch` counts the runs of
 * one module; a call with 0 may pass another module than before. */
typedef poprt_status (*prt_feed_run)(void *user, const prt_module *module, size_t batch,
    uint32_t n_in, const prt_tensor *const *in, uint32_t n_out, prt_tensor *out, prt_arena *arena);

typedef struct prt_feed {
    uint32_t n_arrays; /* 0: pseudo-random data */
    const prt_feed_array *arrays;
    prt_feed_run run; /* NULL: reference evaluator */
    void *user;
    /* dims for pseudo-random data where the model leaves them open; NULL: none */
    const prt_module *shapes;
    /* number of batches and their size in samples, set by prt_feed_open */
    size_t batches, batch;
} prt_feed;

/*
 * Checks the arrays against the inputs of the model: every input without a default needs an array
 * of its shape except for axis 0. The batch size is that of the model, or up to 8 if it is open; an
 * incomplete last batch is dropped. Pseudo-random data is one batch, equal in every run: numbers in
 * [-1, 1), integers 0 and 1; open dims are 2, or those of the same input of `shapes`.
 */
poprt_status prt_feed_open(prt_feed *feed, const prt_module *module);

/* Makes `values` the outputs of `clone`, a module that only prt_feed_batch runs. */
poprt_status prt_feed_set_outputs(prt_module *clone, uint32_t count, prt_value *const *values,
    prt_arena *arena);

/* Runs `module`, which has the inputs of the model, on batch `index`. */
poprt_status prt_feed_batch(const prt_feed *feed, const prt_module *module, size_t index,
    prt_tensor *out, prt_arena *arena);

#endif
