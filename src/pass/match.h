/* SPDX-License-Identifier: MIT */
/* match.h — what matchers and edits of several passes share. */
#ifndef PRT_PASS_MATCH_H
#define PRT_PASS_MATCH_H

#include "pass/rewrite.h"

/* The integers of constant input `slot`; false when it is none, or has more than `most`. */
bool prt_match_i64s(const prt_op *op, uint32_t slot, uint32_t most, int64_t *out, uint32_t *count);

/* An axis of a value of that rank, counted from the front; false when it is out of range, or
 * negative where the rank is not known. */
bool prt_match_axis(int64_t axis, int32_t rank, uint32_t *out);

/* Broadcasting `small` with `big` gives the shape of `big`. False where that is not known. */
bool prt_match_fits(const prt_type *small, const prt_type *big);

/* The only reader of a value, when it is an `id` of the same graph; else NULL. */
prt_op *prt_match_reader(const prt_value *value, uint32_t id);

/* A fixed constant that one op alone reads. */
bool prt_match_own_constant(const prt_op *op, uint32_t slot, prt_tensor *out);

/* Ops of a graph by place in its list, from 1, by op id; 0: no op of the list. NULL: no memory. */
uint32_t *prt_match_places(prt_arena *arena, const prt_graph *graph);

/* Ops with one key, in the order they were added. */
typedef struct prt_match_group {
    PRT_VEC(prt_op *) ops;
} prt_match_group;

typedef struct prt_match_groups {
    prt_map by_key;
    PRT_VEC(prt_match_group *) list;
} prt_match_groups;

poprt_status prt_match_gather(prt_arena *arena, prt_match_groups *groups, const void *key,
    size_t key_size, prt_op *op);

/* The first node of that name, in the graph or in one of its regions. */
prt_op *prt_match_node(prt_graph *graph, prt_str name);

/* The nodes that a list option names, which must be `multiple` or more and a multiple of it;
 * failures name the option. `*count` is 0 for an empty list. */
poprt_status prt_match_nodes(const prt_pass *p, const char *option, uint32_t multiple,
    prt_graph *graph, prt_op ***out, uint32_t *count);

/* ---- edits */

/* A new op with the name and the marks of `like`; NULL after a failure. */
prt_op *prt_match_new(prt_build *b, const prt_op *like, uint32_t id, const void *attrs,
    uint32_t n_in, prt_value *const *in, uint32_t n_out);

/* A new op in the place of `root`, with its marks; true, a failure stays in `b`. */
bool prt_match_put(prt_build *b, prt_op *root, uint32_t id, const void *attrs, uint32_t n_in,
    prt_value *const *in);

/* A constant with the bytes of `old` and other dims of the same product. NULL: refused. */
prt_value *prt_match_reshaped(prt_build *b, prt_value *old, uint32_t rank, const int64_t *dims);

/* The value of an operator on constants as a new constant, named after `like`, evaluated right
 * now. NULL, and nothing is made: an input is no fixed constant, the result takes more bytes than
 * all inputs (and a few) or has a number that is not finite, or the operator fails. */
prt_value *prt_match_compute(prt_pass *p, prt_build *b, const prt_value *like, uint32_t id,
    const void *attrs, uint32_t n_in, prt_value *const *in);

#endif
