/* SPDX-License-Identifier: MIT */
/* retype_state.h — what the files retype*.c share, and nobody else uses. */
#ifndef PRT_PASS_PRECISION_RETYPE_STATE_H
#define PRT_PASS_PRECISION_RETYPE_STATE_H

#include "ir/build.h"
#include "pass/precision/retype.h"

/* Forms of one value of type `from`; full and to NULL: it is of another type. */
typedef struct prt_opset_variants {
    prt_value *full, *to;
    prt_value *mask; /* `to` of what is above the least number of that type; NULL: not made yet */
} prt_opset_variants;

/* A graph as it was when the pass began: ops and values made later have higher ids. */
typedef struct prt_retype_graph {
    prt_graph *graph;
    uint32_t n_values, n_ops;
    prt_opset_variants *forms; /* by value id */
    uint8_t *modes;            /* by op id: prt_retype_mode */
    uint8_t *bits;             /* by value id, see retype_bits.c; NULL: they are not looked at */
    bool edges;                /* inputs and results of this region stay full */
} prt_retype_graph;

/* A constant in type `to` and the one it was made from. */
typedef struct prt_retype_made {
    prt_value *to, *from;
} prt_retype_made;

typedef struct prt_retype_state {
    prt_pass *p;
    const prt_retype *how;
    prt_map graphs; /* by address: prt_retype_graph */
    PRT_VEC(prt_retype_made) made;
    PRT_VEC(prt_op *) casts; /* that may do nothing any more */
    int64_t opset;           /* operators that need a later one for type `to` stay */
    bool changed;
} prt_retype_state;

/* ---- retype_plan.c */

/* Notes all graphs and decides the mode of every op. */
poprt_status prt_retype_plan(prt_retype_state *s);

prt_retype_graph *prt_retype_graph_of(const prt_retype_state *s, const prt_graph *graph);

/* A slot of op's row as an input or output may have an element type. */
bool prt_retype_allows(const prt_op *op, const prt_slot_def *slot, int32_t dtype);

/* The value is a tensor of that element type. */
bool prt_retype_is(const prt_value *v, int32_t dtype);
/* It is a sequence, optional or map that has that element type in it. */
bool prt_retype_wraps(const prt_type *type, int32_t dtype);

/* ---- retype_unknown.c */

/* Gives values of unknown element type the one that the operators they go through imply. */
poprt_status prt_retype_learn(prt_retype_state *s);

/* An operand's type is still unknown and may be `from`. */
bool prt_retype_is_blind(const prt_retype_state *s, const prt_op *op);

/* ---- retype_bits.c */

/* Keeps all that has to do with values that a BitCast reads or gives. */
poprt_status prt_retype_keep_bits(prt_retype_state *s);

/* The value is one of them. */
bool prt_retype_has_bits(const prt_retype_state *s, const prt_value *v);

/* ---- retype_value.c */

/* Where the forms of a value are kept; NULL for values made by the pass. */
prt_opset_variants *prt_retype_forms(const prt_retype_state *s, const prt_value *v);

/* The form of a value in one of the two types: a Cast or a constant is made where it is missing.
 * Values of other types come back as they are. */
poprt_status prt_retype_form(prt_retype_state *s, prt_value *v, bool full, prt_value **out);

/* The form in type `to` of a float mask that is added to scores: finite numbers below the range of
 * the type become its least finite one. As infinities they would make NaN of a row that is masked
 * whole. */
poprt_status prt_retype_mask(prt_retype_state *s, prt_value *v, prt_value **out);

/* A Cast right behind the value's own op, so that all who may read the value may read it. */
poprt_status prt_retype_cast(prt_retype_state *s, prt_value *v, int32_t to, prt_value **out);

/* A type with `from` exchanged for `to`; NULL without memory. */
const prt_type *prt_retype_type(const prt_retype_state *s, const prt_type *type);

/* The number, or the end of `how`'s range that it is beyond. */
double prt_retype_clip(const prt_retype *how, double x);

/* A graph's input becomes one of type `to`, its default too. */
poprt_status prt_retype_input(prt_retype_state *s, prt_value *v);

/* ---- retype_attrs.c */

/* Attributes that say `from`; `*any` tells whether there are some. The op gets a copy of its
 * attributes before they are changed. */
poprt_status prt_retype_attrs(prt_retype_state *s, prt_op *op, bool *any);

/* The number of a ConstantOfShape that stays `from` is clipped where that changes it by less than
 * the rounding of `to`. */
poprt_status prt_retype_clip_fill(prt_retype_state *s, prt_op *op);

#endif
