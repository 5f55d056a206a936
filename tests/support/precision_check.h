/* SPDX-License-Identifier: MIT */
/*
 * precision_check.h — the effect of passes that change element types on the trained models of
 * tests/fixtures: the distance of results, and the number of digits read correctly.
 */
#ifndef PRT_TESTS_SUPPORT_PRECISION_CHECK_H
#define PRT_TESTS_SUPPORT_PRECISION_CHECK_H

#include "ir/ir.h"

/* The model of a folder of tests/fixtures, its constants folded. */
prt_graph *trained_model(const char *name);

/* The largest difference of results on the stored inputs (up to three data sets), divided by the
 * largest element of an output, and the largest distance 1 - cos of outputs. Inputs are
 * converted to the input types of `after`. */
typedef struct model_distance {
    double worst, cosine;
} model_distance;
model_distance distance_of(const char *name, const prt_graph *before, const prt_graph *after);

/* The pass changes the model, and results stay within `tolerance` times the largest. */
void assert_model_stays_close(const char *name, const char *pass, const char *options,
    double tolerance);

/* Returns how many of the 360 held-back digits the model classifies correctly. */
uint32_t digits_read(const prt_graph *graph);

/* The held-back digits: their "images" or "labels". */
void read_digits(prt_arena *arena, const char *file, prt_tensor *out);

/* A tensor as another element type, in `arena`. */
void tensor_as(prt_arena *arena, const prt_tensor *from, int32_t dtype, prt_tensor *out);

#endif
