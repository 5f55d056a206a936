/* SPDX-License-Identifier: MIT */
/* rewrite.h — the edits of optimize_transposes: values in other layouts, and moved operators. */
#ifndef PRT_PASS_TRANSPOSE_REWRITE_H
#define PRT_PASS_TRANSPOSE_REWRITE_H

#include "pass/transpose/rules.h"

typedef struct prt_plan_edit {
    prt_plan *plan;
    prt_build b;
    uint32_t *positions; /* by op id: place in the list before the rewriting, from 1 */
    uint32_t at;         /* place of the op that is rewritten now */
    uint32_t n_ops;      /* ids from here on belong to new ops */
    bool *replaced;      /* by op id */
    bool *output_set;    /* by output of the graph: it has its value */
    bool changed;
} prt_plan_edit;

/* Returns the value of a family in a layout, which exists or is made before the op that is
 * rewritten now. NULL after a failure, which is in `e->b`. */
prt_value *prt_plan_in_layout(prt_plan_edit *e, uint32_t family, prt_perm layout);

/* Returns the value that a port reads after the rewriting. */
prt_value *prt_plan_operand(prt_plan_edit *e, const prt_port *port);

/* Replaces the op of a node that moves, or of one that reads dims. */
void prt_plan_move(prt_plan_edit *e, const prt_plan_node *node);
void prt_plan_read_dims(prt_plan_edit *e, const prt_plan_node *node);

#endif
