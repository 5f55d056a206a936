/* SPDX-License-Identifier: MIT */
/*
 * rewrite.h — rewriting by patterns: a root operator and a function that matches and edits. The
 * engine calls the function for every op of that kind, and again for ops near an edit.
 */
#ifndef PRT_PASS_ENGINE_REWRITE_H
#define PRT_PASS_ENGINE_REWRITE_H

#include "pass/engine/pass.h"

struct prt_rewrite {
    uint32_t root; /* PRT_OP_* */
    /*
     * Matches the pattern around `root`. Returns false and changes nothing if the pattern does not
     * match. Otherwise edits through `b`, whose new ops go before `root`, and returns true; a
     * failure is in `b`. Constants that were made and not used do not count as an edit.
     */
    bool (*apply)(prt_pass *p, prt_build *b, prt_op *root);
};

/* Runs the rewrites on one graph (not on its regions) until none applies. */
poprt_status prt_rewrite_graph(prt_pass *p, prt_graph *graph, const prt_rewrite *rewrites,
    uint32_t count, bool *changed);

/* ---- functions for matchers */

/* Returns the producer of input `slot` of `op` if it is an `id` of the same graph; otherwise
 * NULL. */
prt_op *prt_match_producer(const prt_op *op, uint32_t slot, uint32_t id);

/* Like prt_match_producer, if the value has no other reader and is not a graph output, so that the
 * producer can be removed with the pattern. */
prt_op *prt_match_interior(const prt_op *op, uint32_t slot, uint32_t id);

/* Reads input `slot` as a constant tensor. Returns false if it is absent or not constant. The data
 * may have any alignment. */
bool prt_match_constant(const prt_op *op, uint32_t slot, prt_tensor *out);

/* Copies the marks of `from` to the op that makes `y`. `y` may be NULL; a failure is in `b`. */
void prt_match_mark(prt_build *b, prt_value *y, const prt_op *from);

#endif
