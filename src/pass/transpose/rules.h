/* SPDX-License-Identifier: MIT */
/*
 * rules.h — how operators compute the same from permuted inputs: a table of operators, the
 * permutations of their ports, and their new attributes and operands.
 */
#ifndef PRT_PASS_TRANSPOSE_RULES_H
#define PRT_PASS_TRANSPOSE_RULES_H

#include "pass/transpose/plan.h"

typedef enum prt_move_kind {
    PRT_MOVE_elementwise, /* the inputs are broadcast to the shape of the output */
    PRT_MOVE_same,        /* data inputs and outputs have the same axes */
    PRT_MOVE_axes,        /* input 0 and output 0 have axes in common, in the same order */
    PRT_MOVE_reshape,     /* the dims of input 0 and of output 0 are products of the same groups */
    PRT_MOVE_dims         /* reads the dims of its input: Shape, Size */
} prt_move_kind;

typedef enum prt_move_attr {
    PRT_MOVE_no_attr,
    PRT_MOVE_axis, /* i64 `axis` */
    PRT_MOVE_list  /* i64s `axes` */
} prt_move_attr;

typedef struct prt_move_rule {
    uint16_t op;
    uint8_t kind;
    uint8_t inputs, outputs; /* bit i: input or output i is data; ALL: every one is */
    uint8_t attr;            /* attribute with axes of input 0 */
    uint8_t axes;            /* input with axes, a constant; 0: it has none */
    uint8_t lists;           /* bit i: input i has a number, or two numbers, for each axis */
} prt_move_rule;

enum { PRT_MOVE_ALL = 0xff };

static inline bool prt_move_has(uint8_t set, uint32_t i)
{
    return set == PRT_MOVE_ALL || (i < 8 && (set >> i & 1) != 0);
}

/* Returns the rule of an operator if its attributes and operands allow it; otherwise NULL. */
const prt_move_rule *prt_move_rule_of(const prt_op *op);

static inline bool prt_move_reads_dims(const prt_plan_node *node)
{
    return node->rule != NULL && node->rule->kind == PRT_MOVE_dims;
}

/* Sets the second permutations of all ports of a node, given that of port `from`. The families of
 * other ports may have layouts already, which decide the places of dims of 1. Returns false if the
 * operator cannot compute from these inputs; the ports then have any permutations. */
bool prt_move_derive(const prt_plan *plan, const prt_plan_node *node, uint32_t from);

/* Computes the constant shape for a Reshape of a tensor of type `x`, permuted by `px`, to type `y`,
 * permuted by `py`: 0 copies a dim, and -1 is inferred. Returns false if there is none. */
bool prt_move_shape(const prt_type *x, prt_perm px, const prt_type *y, prt_perm py, int64_t *shape);

/* Returns whether the value has one element, so that it is broadcast alike in each layout. */
bool prt_move_is_single(const prt_value *v);

/* Reads the axes of the operator as a bit set: those that it reduces, squeezes or inserts. */
bool prt_move_axes_of(const prt_op *op, uint32_t *set);

#endif
