/* SPDX-License-Identifier: MIT */
/* match.h — matchers and edits that several passes share. */
#ifndef PRT_PASS_ENGINE_MATCH_H
#define PRT_PASS_ENGINE_MATCH_H

#include "pass/engine/rewrite.h"

/* ---- questions about operands */

/* Returns the element type of a tensor; PRT_DTYPE_undefined if it is not known or the value is not
 * a tensor. */
int32_t prt_match_dtype(const prt_value *v);
/* Returns the type of a tensor of known rank; otherwise NULL. */
const prt_type *prt_match_ranked(const prt_value *v);
/* Like prt_match_ranked, and all dims must be numbers. */
const prt_type *prt_match_static(const prt_value *v);
/* Returns whether the value is a float32 tensor of known rank; false for NULL. */
bool prt_match_is_f32(const prt_value *v);
/* Like prt_match_is_f32, with this rank, and all dims but the first must be numbers from 1 to
 * INT32_MAX. The product of any two of them does not overflow. */
bool prt_match_is_sized(const prt_value *v, int32_t rank);
/* Returns dim `axis` (counted from the end if negative) if it is a number; otherwise -1. */
int64_t prt_match_dim(const prt_value *v, int64_t axis);

/* Returns whether the operator table allows this element type for input 0. */
bool prt_match_allows(uint32_t id, int32_t dtype);

/* Reads input `slot`, a constant with one element of any integer or float type and any rank.
 * Returns false if it is something else. */
bool prt_match_number(const prt_op *op, uint32_t slot, double *out);
/* Like prt_match_number, for integer types only and without rounding. */
bool prt_match_integer(const prt_op *op, uint32_t slot, int64_t *out);

/* Reads the axes of a Reduce operator as a bit set. Returns false if they are not constant or the
 * rank is not known. Without axes the set has all axes, or no axis if `noop_with_empty_axes` is
 * set. */
bool prt_match_reduce_axes(const prt_op *op, uint32_t *set);

/* Returns whether all outputs from `first` on are unused. */
bool prt_match_outputs_unused(const prt_op *op, uint32_t first);

/* Makes a constant from float input `slot` by applying `f` to every element. Returns NULL if a
 * result is not finite or is subnormal, if the pass cannot afford the constant, or if a failure is
 * in `b`. */
prt_value *prt_match_map_constant(prt_pass *p, prt_build *b, const prt_op *op, uint32_t slot,
    double (*f)(double x, double with), double with);

/* Reads the integers of constant input `slot`. Returns false if it is not a constant of integers or
 * has more than `most` elements. */
bool prt_match_i64s(const prt_op *op, uint32_t slot, uint32_t most, int64_t *out, uint32_t *count);

/* Converts an axis of a value of that rank to one counted from the front. Returns false if it is
 * out of range, or negative while the rank is not known. */
bool prt_match_axis(int64_t axis, int32_t rank, uint32_t *out);

/* Returns whether broadcasting `small` with `big` is known to give the shape of `big`. */
bool prt_match_broadcasts(const prt_type *small, const prt_type *big);

/* Returns the only reader of a value if it is an `id` of the same graph; otherwise NULL. */
prt_op *prt_match_reader(const prt_value *value, uint32_t id);

/* Reads input `slot` if it is a fixed constant that only this op reads. */
bool prt_match_own_constant(const prt_op *op, uint32_t slot, prt_tensor *out);

/* Returns an array, indexed by op id, with the position of each op in the graph's list, from 1; 0:
 * not in the list. NULL: no memory. */
uint32_t *prt_match_positions(prt_arena *arena, const prt_graph *graph);

/* Ops with the same key, in the order they were added. */
typedef struct prt_match_group {
    PRT_VEC(prt_op *) ops;
} prt_match_group;

typedef struct prt_match_groups {
    prt_map by_key;
    PRT_VEC(prt_match_group *) list;
} prt_match_groups;

poprt_status prt_match_group_add(prt_arena *arena, prt_match_groups *groups, const void *key,
    size_t key_size, prt_op *op);

/* Returns the first node of that name in the graph or in its regions; NULL if there is none. */
prt_op *prt_match_node(prt_graph *graph, prt_str name);

/* Finds the nodes that a list option names. Fails, naming the option, if a node does not exist or
 * is named twice, or if their number is not a multiple of `multiple`. `*count` is 0 for an empty
 * list. */
poprt_status prt_match_nodes(const prt_pass *p, const char *option, uint32_t multiple,
    prt_graph *graph, prt_op ***out, uint32_t *count);

/* ---- edits */

/* Makes an op with the name and the marks of `like`. Returns NULL after a failure, which is in
 * `b`. */
prt_op *prt_match_new(prt_build *b, const prt_op *like, uint32_t id, const void *attrs,
    uint32_t n_in, prt_value *const *in, uint32_t n_out);

/* Replaces `root` by a new op with its name and its marks. Always returns true; a failure is in
 * `b`. */
bool prt_match_replace_named(prt_build *b, prt_op *root, uint32_t id, const void *attrs,
    uint32_t n_in, prt_value *const *in);

/* Makes a constant with the bytes of `old` and other dims with the same product; returns `old`
 * itself if the dims are the same. Returns NULL after a failure, which is in `b`. */
prt_value *prt_match_reshape_constant(prt_build *b, prt_value *old, uint32_t rank,
    const int64_t *dims);

/* Evaluates an operator on constants now and makes a constant, named after `like`, of the result.
 * Returns NULL, and makes nothing, if an input is not a fixed constant or the operator fails. The
 * same holds if the operator computes elements that are not finite, or if the result exceeds the
 * bytes of all inputs by more than 64. */
prt_value *prt_match_compute(prt_pass *p, prt_build *b, const prt_value *like, uint32_t id,
    const void *attrs, uint32_t n_in, prt_value *const *in);

/* Returns the constant of the main graph with this name if it has this type and these bytes,
 * otherwise makes a new one. Takes ownership of the blob. Returns NULL if the pass cannot afford
 * the constant, or after a failure, which is in `b`. */
prt_value *prt_match_shared_constant(prt_pass *p, prt_build *b, const char *name,
    const prt_type *type, prt_blob *blob);

/* Adds a Reshape of `x`. */
prt_value *prt_match_add_reshape(prt_build *b, prt_value *x, uint32_t rank, const int64_t *dims);

/* Adds a Transpose of `x`. */
prt_value *prt_match_add_transpose(prt_build *b, prt_value *x, uint32_t rank, const int64_t *perm);

/* Adds a Cast of `x` to `dtype`; returns `x` itself if it has this type. */
prt_value *prt_match_add_cast(prt_build *b, prt_value *x, int32_t dtype);

/* A rewrite for the way torch's exporters transpose the last two axes. `root` is the second Reshape
 * of
 *
 *     [.., S, D] → Reshape to [N, S, D] → Transpose to [N, D, S] → Reshape to [.., D, S],
 *
 * where all dims are known and each step is the only reader of the previous one. The chain becomes
 * one Transpose, after a Reshape where the leading dims differ. */
bool prt_match_transpose_chain(prt_pass *p, prt_build *b, prt_op *root);

/* Replaces output 0 of `root` by `to`; ops that `b` has made before `root` get the marks of `root`.
 * Always returns true, so that it can be the last call of an `apply`; a failure is in `b`. */
bool prt_match_replace(prt_build *b, prt_op *root, prt_value *to);
/* Like prt_match_replace, with a new op of these attributes and inputs. */
bool prt_match_replace_op(prt_build *b, prt_op *root, uint32_t id, const void *attrs, uint32_t n_in,
    prt_value *const *in);

/* Defines the hooks of a pass that consists of one rewrite. */
#define PRT_PASS_OF_REWRITE(id, root, apply)                                                       \
    static const prt_rewrite id##_rewrites[] = { { root, apply } };                                \
    const prt_pass_hooks prt_pass_##id = { .rewrites = id##_rewrites, .n_rewrites = 1 }

#endif
