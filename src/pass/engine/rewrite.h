/* SPDX-License-Identifier: MIT */
/*
 * rewrite.h — rewriting by patterns: a root operator and a function that matches and edits. The
 * engine calls it for every op of that kind, and again for what an edit may have made possible.
 */
#ifndef PRT_PASS_ENGINE_REWRITE_H
#define PRT_PASS_ENGINE_REWRITE_H

#include "pass/engine/pass.h"

struct prt_rewrite {
    uint32_t root; /* PRT_OP_* */
    /*
     * Looks at `root` and what is around it. Returns false and touches nothing where the pattern
     * is not there. Otherwise edits through `b`, whose new ops go before `root`, and returns true;
     * a failure stays in `b`. Constants it made in vain are not an edit.
     */
    bool (*apply)(prt_pass *p, prt_build *b, prt_op *root);
};

/* Runs the rewrites on one graph (not on its regions) until none applies. */
poprt_status prt_rewrite_graph(prt_pass *p, prt_graph *graph, const prt_rewrite *rewrites,
    uint32_t count, bool *changed);

/* ---- for matchers */

/* The op that makes input `slot` of `op`, when it is an `id` of the same graph; else NULL. */
prt_op *prt_match_producer(const prt_op *op, uint32_t slot, uint32_t id);

/* The same, when nobody else reads that value and it is no output: it goes with the pattern. */
prt_op *prt_match_interior(const prt_op *op, uint32_t slot, uint32_t id);

/* Input `slot` as a constant tensor; false when it is absent or none. Any address. */
bool prt_match_constant(const prt_op *op, uint32_t slot, prt_tensor *out);

/* The op of a new value gets the marks of the one that it stands for; NULL for `y` is allowed, a
 * failure stays in `b`. */
void prt_match_mark(prt_build *b, prt_value *y, const prt_op *from);

#endif
