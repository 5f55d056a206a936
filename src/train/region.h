/* SPDX-License-Identifier: MIT */
/* region.h — copies of regions inside a module and new ops with regions, for the gradients of
 * control operators. */
#ifndef PRT_TRAIN_REGION_H
#define PRT_TRAIN_REGION_H

#include "ir/build.h"

typedef PRT_VEC(prt_value *) prt_value_list;

/* Appends the values of other graphs that a region or a region in it reads, each once. The list is
 * in `arena`. Fails without memory. */
poprt_status prt_region_captures(const prt_graph *region, prt_arena *arena, prt_value_list *out);

/* A copy of a region's ops: what replaces its inputs, and values of the graphs around it. */
typedef struct prt_region_copy {
    const prt_graph *region;
    prt_value *const *inputs; /* one for each input of the region */
    uint32_t n_replaced;
    prt_value *const *from, *const *to; /* captured values and their replacements */
    uint32_t n_given;
    prt_value *const *results, *const *given; /* results of ops, which are given and not copied */
} prt_region_copy;

/* Returns whether `graph` is `region` or nested in it. */
bool prt_region_contains(const prt_graph *region, const prt_graph *graph);

/*
 * Adds copies of the region's ops at `b`. ret[i] becomes the value that the region returns i-th;
 * `ret` has an entry for each output of the region. Fails if regions are nested too deeply.
 */
poprt_status prt_region_copy_ops(prt_build *b, const prt_region_copy *copy, prt_value **ret);

/* Adds an op with empty regions, for which the caller calls prt_ir_infer_new_op when they are
 * filled. Returns NULL on failure, which the builder's status says. */
prt_op *prt_region_add_op(prt_build *b, uint32_t id, uint32_t n_in, prt_value *const *in,
    uint32_t n_out, uint32_t n_regions);
/* The same for a Loop. */
prt_op *prt_region_add_loop(prt_build *b, uint32_t n_in, prt_value *const *in, uint32_t n_out);
/* Adds the inputs of its body: iteration, condition, and carried values with the types of the
 * loop's inputs. */
poprt_status prt_region_add_loop_inputs(prt_op *loop);

/* Makes a region return values without names. */
poprt_status prt_region_return(prt_graph *graph, uint32_t n, prt_value *const *values);

#endif
