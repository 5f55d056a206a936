/* SPDX-License-Identifier: MIT */
/*
 * nonzero.c — operators that test elements for zero.
 *
 *     replace_consecutive_cast_with_notzero  Cast to bool, then Cast to a number: NotZero. Bitwise
 *                                            equal; NaN is not zero.
 *     replace_nonzero                        NonZero of a vector with exactly one nonzero element
 *                                            becomes ArgMax, if the graph proves that. Known
 *                                            proofs: a permutation of 0, 1, ... compared with one
 *                                            number in that range (a constant, or an ArgMax or
 *                                            ArgMin of a short enough axis); OneHot of such a
 *                                            number. Casts in between are skipped.
 */
#include "pass/engine/match.h"

/* ---- two casts */

static bool apply_casts(prt_pass *p, prt_build *b, prt_op *root)
{
    const int64_t to = ((const prt_cast_attrs *)root->attrs)->to;
    const prt_op *first = prt_match_interior(root, 0, PRT_OP_cast);
    (void)p;
    if (first == NULL || ((const prt_cast_attrs *)first->attrs)->to != PRT_DTYPE_bool ||
        to == PRT_DTYPE_bool || to < 0 || to >= PRT_DTYPE_COUNT ||
        !prt_match_allows(PRT_OP_gc_not_zero, (int32_t)to) ||
        !prt_match_allows(PRT_OP_gc_not_zero, prt_match_dtype(prt_op_input(first, 0))))
        return false;
    prt_gc_not_zero_attrs attrs = PRT_ATTRS_OF(gc_not_zero);
    PRT_ATTR_SET(attrs, gc_not_zero, to, to);
    prt_value *x = prt_op_input(first, 0);
    return prt_match_replace_op(b, root, PRT_OP_gc_not_zero, &attrs, 1, &x);
}

/* ---- NonZero */

enum { MOST_LIST = 1 << 15, MOST_STEPS = 8 };

static bool has_one_element(const prt_value *v)
{
    const prt_type *type = prt_match_static(v);
    for (int32_t i = 0; type != NULL && i < type->rank; i++)
        if (type->dims[i] != 1)
            return false;
    return type != NULL;
}

/* Returns whether input `slot`, a single integer, is in [0, *most): it is a constant or an index of
 * ArgMax or ArgMin. */
static bool bounded(const prt_op *op, uint32_t slot, int64_t *most)
{
    int64_t number;
    if (prt_match_integer(op, slot, &number)) {
        *most = number < INT64_MAX ? number + 1 : 0;
        return number >= 0 && *most > 0;
    }
    if (!has_one_element(prt_op_input(op, slot)))
        return false;
    for (uint32_t i = 0; i < MOST_STEPS; i++) {
        const prt_value *v = prt_op_input(op, slot);
        const prt_op *def = v != NULL && v->graph == op->graph ? v->def : NULL;
        if (prt_op_is(def, PRT_OP_argmax) || prt_op_is(def, PRT_OP_argmin)) {
            const int64_t axis = ((const prt_argmax_attrs *)def->attrs)->axis;
            *most = prt_match_dim(prt_op_input(def, 0), axis);
            return *most > 0 && *most <= INT32_MAX;
        }
        /* a Cast to a type that holds every such index */
        const bool cast = prt_op_is(def, PRT_OP_cast) &&
            (v->type->dtype == PRT_DTYPE_i32 || v->type->dtype == PRT_DTYPE_i64);
        if (!cast && !prt_op_is(def, PRT_OP_squeeze) && !prt_op_is(def, PRT_OP_unsqueeze) &&
            !prt_op_is(def, PRT_OP_reshape))
            return false;
        op = def;
        slot = 0;
    }
    return false;
}

/* Returns whether the constant is a permutation of 0 ... n - 1 with n >= `most`, so that every
 * number below `most` occurs once. */
static bool lists_all(const prt_tensor *t, int64_t most)
{
    uint64_t seen[MOST_LIST / 64] = { 0 };
    const int64_t n = (int64_t)prt_tensor_count(t);
    if (t->rank != 1 || !prt_dtype_is_integer(t->dtype) || n > MOST_LIST || most > n)
        return false;
    for (int64_t i = 0; i < n; i++) {
        const int64_t x = prt_load_i64(t->dtype, t->data, (size_t)i);
        if (x < 0 || x >= n || (seen[x / 64] >> x % 64 & 1) != 0)
            return false;
        seen[x / 64] |= (uint64_t)1 << x % 64;
    }
    return n != 0;
}

static bool one_is_equal(const prt_op *equal)
{
    prt_tensor t;
    int64_t most;
    for (uint32_t slot = 0; slot < 2; slot++)
        if (prt_match_constant(equal, slot, &t) && bounded(equal, 1 - slot, &most) &&
            lists_all(&t, most))
            return true;
    return false;
}

/* Returns whether the OneHot has off value 0, a positive on value, and an index within the
 * depth. */
static bool one_is_hot(const prt_op *hot)
{
    prt_tensor values;
    int64_t most, depth;
    if (!prt_match_constant(hot, 2, &values) || prt_tensor_count(&values) != 2 ||
        (!prt_dtype_is_float(values.dtype) && !prt_dtype_is_integer(values.dtype)) ||
        prt_load_f64(values.dtype, values.data, 0) != 0 ||
        !(prt_load_f64(values.dtype, values.data, 1) > 0))
        return false;
    return prt_match_integer(hot, 1, &depth) && bounded(hot, 0, &most) && most <= depth;
}

static bool is_one_set(const prt_op *root)
{
    const prt_op *op = root;
    for (uint32_t i = 0; i < 2; i++) {
        const prt_op *cast = prt_match_producer(op, 0, PRT_OP_cast);
        const int32_t from = cast != NULL ? prt_match_dtype(prt_op_input(cast, 0)) : 0;
        if (cast == NULL || (from != PRT_DTYPE_bool && !prt_dtype_is_integer(from)))
            break;
        if (from != PRT_DTYPE_bool && ((const prt_cast_attrs *)cast->attrs)->to != PRT_DTYPE_bool)
            break; /* a narrower integer may be 0 where the wider one is not */
        op = cast;
    }
    const prt_op *equal = prt_match_producer(op, 0, PRT_OP_equal);
    const prt_op *hot = prt_match_producer(op, 0, PRT_OP_one_hot);
    return equal != NULL ? one_is_equal(equal) : hot != NULL && one_is_hot(hot);
}

static bool apply_nonzero(prt_pass *p, prt_build *b, prt_op *root)
{
    static const int64_t shape[2] = { 1, 1 };
    prt_value *x = prt_op_input(root, 0);
    const prt_type *type = prt_match_ranked(x);
    (void)p;
    if (type == NULL || type->rank != 1 || !is_one_set(root))
        return false;
    if (!prt_match_allows(PRT_OP_argmax, type->dtype))
        x = prt_match_add_cast(b, x, PRT_DTYPE_i32);
    prt_value *in[2] = { prt_build_unary(b, PRT_OP_argmax, x), prt_build_i64s(b, 2, shape) };
    return prt_match_replace_op(b, root, PRT_OP_reshape, NULL, 2, in);
}

PRT_PASS_OF_REWRITE(replace_consecutive_cast_with_notzero, PRT_OP_cast, apply_casts);
PRT_PASS_OF_REWRITE(replace_nonzero, PRT_OP_nonzero, apply_nonzero);
