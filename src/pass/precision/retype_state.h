/* SPDX-License-Identifier: MIT */
/* retype_state.h — state shared by the files retype*.c. */
#ifndef PRT_PASS_PRECISION_RETYPE_STATE_H
#define PRT_PASS_PRECISION_RETYPE_STATE_H

#include "ir/build.h"
#include "pass/precision/retype.h"

/* Copies of one value of type `from`; both full and to are NULL for values of other types. */
typedef struct prt_retype_copies {
    prt_value *full, *to;
    /* `to` copy of the value clipped from below (see prt_retype_mask); NULL: not made yet */
    prt_value *mask;
} prt_retype_copies;

/* A graph as it was at the start of the pass. Ops and values made later have higher ids. */
typedef struct prt_retype_graph {
    prt_graph *graph;
    uint32_t n_values, n_ops;
    prt_retype_copies *copies; /* by value id */
    uint8_t *modes;            /* by op id: prt_retype_mode */
    uint8_t *bits;             /* by value id, see retype_bits.c; NULL: bits are not tracked */
    bool edges;                /* inputs and results of this region stay full */
} prt_retype_graph;

/* A constant in type `to` and its original. */
typedef struct prt_retype_made {
    prt_value *to, *from;
} prt_retype_made;

typedef struct prt_retype_state {
    prt_pass *p;
    const prt_retype *how;
    prt_map graphs; /* by address of the graph: prt_retype_graph */
    PRT_VEC(prt_retype_made) made;
    PRT_VEC(prt_op *) casts; /* Casts that may have become identities */
    int64_t opset;           /* operators that need a later opset for type `to` are kept */
    bool changed;
} prt_retype_state;

/* ---- retype_plan.c */

/* Records all graphs and decides the mode of every op. */
poprt_status prt_retype_plan(prt_retype_state *s);

prt_retype_graph *prt_retype_graph_of(const prt_retype_state *s, const prt_graph *graph);

/* Returns whether a slot of the op's row may have an element type. */
bool prt_retype_allows(const prt_op *op, const prt_slot_def *slot, int32_t dtype);

/* Returns whether the value is a tensor of that element type. */
bool prt_retype_is(const prt_value *v, int32_t dtype);
/* Returns whether the type is a sequence, optional or map that contains that element type. */
bool prt_retype_wraps(const prt_type *type, int32_t dtype);

/* ---- retype_unknown.c */

/* Sets unknown element types that follow from the type variables of operators. */
poprt_status prt_retype_infer_unknown(prt_retype_state *s);

/* Returns whether an operand's type is still unknown and may be `from`. */
bool prt_retype_may_be_from(const prt_retype_state *s, const prt_op *op);

/* ---- retype_bits.c */

/* Keeps all ops and values whose bits a BitCast reads or gives. */
poprt_status prt_retype_keep_bits(prt_retype_state *s);

/* Returns whether the bits of the value matter. */
bool prt_retype_has_bits(const prt_retype_state *s, const prt_value *v);

/* ---- retype_value.c */

/* Returns the copies of a value; NULL for values made by the pass. */
prt_retype_copies *prt_retype_copies_of(const prt_retype_state *s, const prt_value *v);

/* Returns the full copy of a value or the copy in type `to`; makes a missing one as a Cast or a
 * constant. Returns values of other types unchanged. */
poprt_status prt_retype_copy_of(prt_retype_state *s, prt_value *v, bool full, prt_value **out);

/* Returns the `to` copy of a float mask that is added to scores. Finite numbers below the range of
 * the type become its lowest finite number; infinities would turn a row that is masked completely
 * into NaN. */
poprt_status prt_retype_mask(prt_retype_state *s, prt_value *v, prt_value **out);

/* Builds a Cast right after the value's own op, so that every reader of the value can read it. */
poprt_status prt_retype_cast(prt_retype_state *s, prt_value *v, int32_t to, prt_value **out);

/* Returns the type with `from` replaced by `to`; NULL if memory is short. */
const prt_type *prt_retype_type(const prt_retype_state *s, const prt_type *type);

/* Returns the number clipped to `how`'s range. */
double prt_retype_clip(const prt_retype *how, double x);

/* Converts a graph's input to type `to`, with its default. */
poprt_status prt_retype_input(prt_retype_state *s, prt_value *v);

/* ---- retype_attrs.c */

/* Converts attributes that name `from`; sets `*any` if there are some. The op gets a copy of its
 * attributes first. */
poprt_status prt_retype_attrs(prt_retype_state *s, prt_op *op, bool *any);

/* Clips the value of a ConstantOfShape that stays `from`, if that changes it by less than the
 * rounding of `to`. */
poprt_status prt_retype_clip_fill(prt_retype_state *s, prt_op *op);

#endif
