/* SPDX-License-Identifier: MIT */
/*
 * plan.h — the layouts of a graph's values, for optimize_transposes.
 *
 * A family is a value that no Transpose makes, its root, and all values that Transposes make of it.
 * A layout of a family is the permutation that makes it of the root. A node is an operator other
 * than Transpose, or the return of the graph. Its ports are its inputs, its outputs, and the values
 * of the graph that its regions read.
 *
 * A node that can compute the same from permuted inputs is movable: each of its ports has a second
 * permutation, relative to the value as the operator reads or writes it now. Either all ports have
 * the identity, or all have their second permutation; the latter is called moved.
 */
#ifndef PRT_PASS_TRANSPOSE_PLAN_H
#define PRT_PASS_TRANSPOSE_PLAN_H

#include "pass/engine/match.h"
#include "pass/transpose/perm.h"

#define PRT_PLAN_NONE UINT32_MAX

struct prt_move_rule;

typedef struct prt_plan_value { /* a value of a family */
    prt_perm layout;
    prt_value *value;
} prt_plan_value;

typedef struct prt_family {
    prt_value *root;
    uint32_t maker;        /* port that writes the root; PRT_PLAN_NONE: an input, a constant … */
    uint32_t first, count; /* ports that read it: plan->readers[first ...] */
    prt_perm a, b;         /* the layouts between which the cut chooses; 0: not assigned */
    bool free;             /* a constant that can be stored in any layout */
    bool fixed;            /* no second layout is assigned */
    bool touched;          /* the rewriting replaces its readers' operands */
    int64_t cost;          /* of one Transpose */
    int64_t transposes;    /* cost of all Transposes that the graph has now */
    PRT_VEC(prt_perm) perms; /* the layouts of the family except the identity */
    PRT_VEC(prt_perm) needs; /* the layouts that are read after the cut, each once */
    /* the values that exist; the first one is what the maker writes */
    PRT_VEC(prt_plan_value) values;
} prt_family;

typedef struct prt_port {
    uint32_t node;
    uint32_t family; /* PRT_PLAN_NONE: not a tensor of known rank from 2 to 8 */
    prt_perm layout; /* of the value that is read or written */
    prt_perm moved;  /* relative to that value, if the node is moved */
    prt_use *use;    /* NULL: an output */
} prt_port;

typedef struct prt_plan_node {
    prt_op *op;
    uint32_t first, n_ports;          /* its ports: inputs, outputs, reads of its regions */
    const struct prt_move_rule *rule; /* NULL: it cannot move */
    bool movable;                     /* its ports have second permutations */
    bool at_a; /* unmoved, its ports have the layout `a` of their families; otherwise `b` */
    bool moves;
} prt_plan_node;

typedef struct prt_plan_outer { /* a value of an outer graph that is read here */
    const prt_value *value;
    uint32_t family;
    prt_perm layout;
} prt_plan_outer;

typedef struct prt_plan {
    prt_pass *p;
    prt_graph *graph;
    prt_arena *arena;
    uint32_t n_values;   /* of the graph, when the plan was made */
    uint32_t *family_of; /* by value id; PRT_PLAN_NONE: no family */
    prt_perm *layout_of; /* by value id */
    prt_map outer;       /* prt_plan_outer, by the address of the value */
    PRT_VEC(prt_family) families;
    PRT_VEC(prt_plan_node) nodes; /* in the order of the graph; the return is the last one */
    PRT_VEC(prt_port) ports;
    uint32_t *readers;     /* ports, grouped by family */
    PRT_VEC(int64_t) dims; /* estimates of symbolic dims, by index */
} prt_plan;

/* Makes the plan of a graph: families, nodes and ports. No node is movable yet. */
poprt_status prt_plan_build(prt_pass *p, prt_graph *graph, prt_plan *out);

/* Makes nodes movable, beginning at the Transposes. The layouts that most Transposes convert
 * between come first, or last with `rare_first`. */
poprt_status prt_plan_propagate(prt_plan *plan, bool rare_first);

/* Decides which nodes move, so that the cost of all Transposes is the least one; among the cheapest
 * decisions, the one with the fewest moves. No node moves if the search takes too long. */
poprt_status prt_plan_cut(prt_plan *plan);

/* Rewrites the graph as decided. Sets *changed if anything was done. */
poprt_status prt_plan_apply(prt_plan *plan, bool *changed);

/* Returns the layout of its family that the port reads or writes after the rewriting. */
static inline prt_perm prt_port_after(const prt_plan *plan, const prt_port *port)
{
    return plan->nodes.data[port->node].moves ? prt_perm_then(port->layout, port->moved)
                                              : port->layout;
}

#endif
