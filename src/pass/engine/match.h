/* SPDX-License-Identifier: MIT */
/* match.h — what matchers and edits of several passes share. */
#ifndef PRT_PASS_ENGINE_MATCH_H
#define PRT_PASS_ENGINE_MATCH_H

#include "pass/engine/rewrite.h"

/* ---- questions about operands */

/* Element type of a tensor; PRT_DTYPE_undefined where it is not known or something else. */
int32_t prt_match_dtype(const prt_value *v);
/* Its type when it is a tensor of known rank; else NULL. */
const prt_type *prt_match_ranked(const prt_value *v);
/* The same where all dims are numbers. */
const prt_type *prt_match_static(const prt_value *v);
/* A tensor of float32 and of known rank; false for NULL. */
bool prt_match_is_f32(const prt_value *v);
/* The same of this rank, whose dims but the first are numbers from 1 to INT32_MAX: any two have a
 * product. */
bool prt_match_is_sized(const prt_value *v, int32_t rank);
/* Dim `axis` (counted from the end when negative) when that is a number; else -1. */
int64_t prt_match_dim(const prt_value *v, int64_t axis);

/* Does the operator's row allow this element type for input 0? */
bool prt_match_takes(uint32_t id, int32_t dtype);

/* Input `slot` is a constant of one number, of any integer or float type and any rank. */
bool prt_match_number(const prt_op *op, uint32_t slot, double *out);
/* The same for integers, exactly. */
bool prt_match_integer(const prt_op *op, uint32_t slot, int64_t *out);

/* Axes of a Reduce operator, a set of bits; false when they are not constant or a rank is not
 * known. Without axes: all of them, or none where the operator says that this is meant. */
bool prt_match_reduced(const prt_op *op, uint32_t *set);

/* Nobody reads outputs from `first` on. */
bool prt_match_only(const prt_op *op, uint32_t first);

/* A constant like input `slot` of floats with `f` applied to every element; NULL when a result is
 * not finite or so small that it loses bits, when the pass cannot afford it, or when a failure
 * stays in `b`. */
prt_value *prt_match_mapped(prt_pass *p, prt_build *b, const prt_op *op, uint32_t slot,
    double (*f)(double x, double with), double with);

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

/* A constant of the main graph that goes by what it is: the one of this name, when it has this type
 * and these bytes, or a new one. Takes over the blob. NULL: the pass cannot afford it, or a
 * failure stays in `b`. */
prt_value *prt_match_shared(prt_pass *p, prt_build *b, const char *name, const prt_type *type,
    prt_blob *blob);

/* x in another shape. */
prt_value *prt_match_shaped(prt_build *b, prt_value *x, uint32_t rank, const int64_t *dims);

/* x with its dims in another order. */
prt_value *prt_match_transposed(prt_build *b, prt_value *x, uint32_t rank, const int64_t *perm);

/* x as `dtype`; x itself when it is that. */
prt_value *prt_match_cast(prt_build *b, prt_value *x, int32_t dtype);

/* `root` is the second Reshape of
 *
 *     [.., S, D] → Reshape to [N, S, D] → Transpose to [N, D, S] → Reshape to [.., D, S],
 *
 * each read by the next alone, of known dims: how torch's exporters turn the last two axes. Becomes
 * one Transpose, behind a Reshape where the leading dims differ. A rewrite. */
bool prt_match_swap(prt_pass *p, prt_build *b, prt_op *root);

/* Output 0 of `root` becomes `to`; ops that `b` has made before root get root's marks. True,
 * whatever stays in `b`: to be the last call of an `apply`. */
bool prt_match_become(prt_build *b, prt_op *root, prt_value *to);
/* The same with an operator of these attributes and inputs. */
bool prt_match_become_op(prt_build *b, prt_op *root, uint32_t id, const void *attrs, uint32_t n_in,
    prt_value *const *in);

/* Hooks of a pass that is one rewrite. */
#define PRT_PASS_OF_ONE(id, root, apply)                                                           \
    static const prt_rewrite id##_rewrites[] = { { root, apply } };                                \
    const prt_pass_hooks prt_pass_##id = { .rewrites = id##_rewrites, .n_rewrites = 1 }

#endif
