/* SPDX-License-Identifier: MIT */
/* region.h — the regions of If and Loop, which the conversion of branches and loops fills. */
#ifndef PRT_TENSORFLOW_REGION_H
#define PRT_TENSORFLOW_REGION_H

#include "tensorflow/convert.h"

/* Returns what TensorFlow takes a tensor for as a condition, as bool of rank 0: numbers are true
 * unless they are 0, strings unless they are empty, and tensors of a higher rank unless they have
 * no element. */
prt_value *prt_tf_condition(prt_tf_call *call, prt_build *b, prt_value *v);
/* Returns whether a condition is a constant, and sets `out` to it. */
bool prt_tf_known_condition(prt_tf_call *call, const prt_value *condition, bool *out);

/* Converts a function that a node calls, with operators in `graph`. */
poprt_status prt_tf_inline_in(prt_tf_call *call, prt_graph *graph, const prt_tf_function *fn,
    const prt_tf_func *func, uint32_t n_in, const prt_tf_value *in, uint32_t n_out,
    prt_tf_value *out);

/* Sets the outputs of a region. A value of a graph around it, a constant, an input, and one that is
 * listed twice get an Identity. */
poprt_status prt_tf_region_end(prt_tf_converter *c, prt_graph *region, uint32_t count,
    prt_value **values);

/* Adds an If (two regions) or a Loop (one) to the end of the call's graph, and infers its types.
 * Returns NULL on failure, which is recorded in the builder of the call. */
prt_op *prt_tf_region_op(prt_tf_call *call, uint32_t id, uint32_t n_in, prt_value *const *in,
    uint32_t n_out, uint32_t n_regions, prt_graph *const *regions);

/* Releases the uses of a region that is not needed. */
poprt_status prt_tf_region_drop(prt_tf_call *call, prt_graph *region);

/* Converts one side of a branch: sets `out` to its results, with operators in `graph`. */
typedef poprt_status (*prt_tf_branch_fn)(prt_tf_call *call, const void *user, bool side,
    prt_graph *graph, uint32_t n_out, prt_tf_value *out);
/* Converts both sides of a branch to an If, or one of them if the condition is a constant. */
poprt_status prt_tf_branch(prt_tf_call *call, prt_value *condition, prt_tf_branch_fn fn,
    const void *user, uint32_t n_out, prt_tf_value *out);

/* A loop: `condition` and `step` build operators in a graph from the values of the variables. */
typedef struct prt_tf_loop {
    uint32_t n;
    const prt_tf_value *start; /* of each variable */
    const bool *invariant;     /* the variables that no iteration changes */
    poprt_status (*condition)(prt_tf_call *call, const void *user, prt_graph *graph,
        const prt_tf_value *variables, prt_tf_value *out);
    poprt_status (*step)(prt_tf_call *call, const void *user, prt_graph *graph,
        const prt_tf_value *variables, prt_tf_value *next);
    const void *user;
} prt_tf_loop;
/* Converts a loop; `out` receives the last values of the variables. */
poprt_status prt_tf_convert_loop(prt_tf_call *call, const prt_tf_loop *loop, prt_tf_value *out);

#endif
