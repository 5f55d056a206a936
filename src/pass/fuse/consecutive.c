/* SPDX-License-Identifier: MIT */
/*
 * consecutive.c — fuse_consecutive_cast, _reshape, _squeeze, _unsqueeze, _transpose: merges two
 * operators of a kind, if only the second one reads the first. Results are bitwise equal.
 *
 *     Cast        the first type holds every value of the input's type, so that only the second
 *                 Cast rounds or truncates; a float type between two integer types is excluded if
 *                 the result type does not hold every input value
 *     Reshape     the second shape is constant; its zeros, which copy dims of the inner value, are
 *                 replaced by these dims; the first may be a Flatten if all dims are known
 *     Squeeze     constant axes; the second axes are counted without the first ones
 *     Unsqueeze   constant axes; the first axes are shifted by the second ones
 *     Transpose   perm[i] = first[second[i]]; an identity is removed; a swap of the last two axes
 *                 between two Reshapes that merge and split the other axes moves past them
 */
#include "pass/engine/match.h"

/* ---- Cast */

/* Returns the bits of precision of a type: all bits of an integer, the significand of a float. */
static uint32_t digits(int32_t dtype)
{
    switch (dtype) {
    case PRT_DTYPE_f16:
        return 11;
    case PRT_DTYPE_bf16:
        return 8;
    case PRT_DTYPE_f32:
        return 24;
    case PRT_DTYPE_f64:
        return 53;
    default:
        return dtype == PRT_DTYPE_bool ? 1 : prt_dtype_bits(dtype);
    }
}

static bool is_plain(int32_t dtype)
{
    switch (dtype) {
    case PRT_DTYPE_f16:
    case PRT_DTYPE_bf16:
    case PRT_DTYPE_f32:
    case PRT_DTYPE_f64:
    case PRT_DTYPE_bool:
        return true;
    default:
        return prt_dtype_is_integer(dtype) && prt_dtype_bits(dtype) >= 8;
    }
}

/* Returns whether type `to` can represent every value of type `from`. */
static bool holds(int32_t to, int32_t from)
{
    if (to == from)
        return true;
    if (from == PRT_DTYPE_bool)
        return true;
    if (to == PRT_DTYPE_bool)
        return false;
    const bool to_float = prt_dtype_is_float(to), from_float = prt_dtype_is_float(from);
    const bool from_signed = prt_dtype_of(from)->kind == PRT_KIND_int;
    if (from_float)
        return to_float && digits(to) >= digits(from) &&
            (to == PRT_DTYPE_f64 || to == PRT_DTYPE_f32);
    if (to_float) /* one bit of a signed integer is the sign */
        return digits(to) + (from_signed ? 1 : 0) >= digits(from);
    if (prt_dtype_of(to)->kind == PRT_KIND_uint)
        return !from_signed && digits(to) >= digits(from);
    return digits(to) >= digits(from) + (from_signed ? 0 : 1);
}

/* Returns whether a value that is out of range for an integer type is converted alike with and
 * without the first Cast; the rule differs between floats and integers. */
static bool casts_alike(int32_t from, int32_t by, int32_t to)
{
    return prt_dtype_is_float(from) == prt_dtype_is_float(by) || prt_dtype_is_float(to) ||
        to == PRT_DTYPE_bool || holds(to, from);
}

static bool apply_cast(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_op *first = prt_match_interior(root, 0, PRT_OP_cast);
    (void)p;
    if (first == NULL)
        return false;
    prt_value *x = prt_op_input(first, 0);
    const int32_t to = (int32_t)((const prt_cast_attrs *)root->attrs)->to;
    const int32_t by = (int32_t)((const prt_cast_attrs *)first->attrs)->to;
    if (!prt_type_is_tensor(x->type) || !is_plain(x->type->dtype) || !is_plain(by) ||
        !is_plain(to) || !holds(by, x->type->dtype) || !casts_alike(x->type->dtype, by, to))
        return false;
    return prt_match_replace_named(b, root, PRT_OP_cast, root->attrs, 1, &x);
}

/* ---- Reshape */

/* Replaces zeros in the second shape by the dims they copy. Returns false if such a dim is not
 * known. */
static bool replace_zeros(const prt_op *root, int64_t *shape, uint32_t n, bool *differs)
{
    const prt_type *between = prt_op_input(root, 0)->type;
    const bool copies = ((const prt_reshape_attrs *)root->attrs)->allowzero == 0;
    for (uint32_t i = 0; copies && i < n; i++) {
        if (shape[i] != 0)
            continue;
        if (!prt_type_is_tensor(between) || (int64_t)i >= between->rank ||
            !prt_dim_is_number(between->dims[i]) || between->dims[i] == 0)
            return false;
        shape[i] = between->dims[i];
        *differs = true;
    }
    return true;
}

/* Merges a Flatten and a Reshape whose shapes are known. */
static bool merge_flatten(prt_build *b, prt_op *root)
{
    const prt_op *first = prt_match_interior(root, 0, PRT_OP_flatten);
    const prt_type *y = prt_match_static(&root->out[0]);
    if (first == NULL || y == NULL || prt_match_static(prt_op_input(first, 0)) == NULL)
        return false;
    for (int32_t i = 0; i < y->rank; i++)
        if (y->dims[i] == 0)
            return false;
    prt_value *in[2] = { prt_op_input(first, 0), prt_build_i64s(b, (uint32_t)y->rank, y->dims) };
    return prt_match_replace_named(b, root, PRT_OP_reshape, NULL, 2, in);
}

static bool apply_reshape(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_op *first = prt_match_interior(root, 0, PRT_OP_reshape);
    int64_t shape[PRT_MAX_RANK];
    bool differs = false;
    uint32_t n;
    (void)p;
    if (merge_flatten(b, root))
        return true;
    if (first == NULL || !prt_match_i64s(root, 1, PRT_MAX_RANK, shape, &n) ||
        !replace_zeros(root, shape, n, &differs))
        return false;
    prt_value *in[2] = { prt_op_input(first, 0),
        differs ? prt_build_i64s(b, n, shape) : prt_op_input(root, 1) };
    return prt_match_replace_named(b, root, PRT_OP_reshape, root->attrs, 2, in);
}

/* ---- Squeeze, Unsqueeze: sets of axes as bits */

static int32_t rank_of(const prt_value *v)
{
    return prt_type_is_tensor(v->type) ? v->type->rank : PRT_RANK_UNKNOWN;
}

/* Reads the constant axes of `op` as a bit set, for a value of that rank. */
static bool axes_of(const prt_op *op, int32_t rank, uint64_t *set)
{
    int64_t axes[PRT_MAX_RANK];
    uint32_t n, at;
    *set = 0;
    if (prt_op_input(op, 1) == NULL || !prt_match_i64s(op, 1, PRT_MAX_RANK, axes, &n) || n == 0)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!prt_match_axis(axes[i], rank, &at) || at >= PRT_MAX_RANK)
            return false;
        *set |= (uint64_t)1 << at;
    }
    return true;
}

/* Numbers the positions that are not in `taken` in order, and returns those among them whose number
 * is in `wanted`. */
static uint64_t among_others(uint64_t taken, uint64_t wanted)
{
    uint64_t set = 0;
    for (uint32_t at = 0, k = 0; at < 2 * PRT_MAX_RANK; at++)
        if ((taken >> at & 1) == 0 && (wanted >> k++ & 1) != 0)
            set |= (uint64_t)1 << at;
    return set;
}

static bool put_axes(prt_build *b, prt_op *root, prt_value *x, uint64_t set)
{
    int64_t axes[2 * PRT_MAX_RANK];
    uint32_t n = 0;
    for (uint32_t i = 0; i < 2 * PRT_MAX_RANK; i++)
        if ((set >> i & 1) != 0)
            axes[n++] = i;
    prt_value *in[2] = { x, prt_build_i64s(b, n, axes) };
    return prt_match_replace_named(b, root, root->def->id, NULL, 2, in);
}

static bool apply_squeeze(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_op *first = prt_match_interior(root, 0, PRT_OP_squeeze);
    uint64_t one, two;
    (void)p;
    if (first == NULL || !axes_of(first, rank_of(prt_op_input(first, 0)), &one) ||
        !axes_of(root, rank_of(prt_op_input(root, 0)), &two))
        return false;
    return put_axes(b, root, prt_op_input(first, 0), one | among_others(one, two));
}

static bool apply_unsqueeze(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_op *first = prt_match_interior(root, 0, PRT_OP_unsqueeze);
    uint64_t one, two;
    (void)p;
    if (first == NULL || !axes_of(first, rank_of(&first->out[0]), &one) ||
        !axes_of(root, rank_of(&root->out[0]), &two))
        return false;
    return put_axes(b, root, prt_op_input(first, 0), two | among_others(two, one));
}

/* ---- Transpose */

/* Reads the permutation; without an attribute it is the reversal. Returns false if it is not
 * known. */
static bool perm_of(const prt_op *op, uint32_t *rank, int64_t *perm)
{
    const prt_i64s given = ((const prt_transpose_attrs *)op->attrs)->perm;
    const int32_t known = rank_of(prt_op_input(op, 0));
    if (given.count == 0 && known < 0)
        return false;
    *rank = given.count != 0 ? given.count : (uint32_t)known;
    if (*rank > PRT_MAX_RANK)
        return false;
    for (uint32_t i = 0; i < *rank; i++) {
        perm[i] = given.count != 0 ? given.data[i] : (int64_t)(*rank - 1 - i);
        if (perm[i] < 0 || perm[i] >= (int64_t)*rank)
            return false;
    }
    return true;
}

static bool apply_transpose(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_op *first = prt_match_interior(root, 0, PRT_OP_transpose);
    int64_t one[PRT_MAX_RANK], two[PRT_MAX_RANK], perm[PRT_MAX_RANK];
    uint32_t rank, second;
    bool moves = false;
    (void)p;
    if (first == NULL || !perm_of(first, &rank, one) || !perm_of(root, &second, two) ||
        rank != second)
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        perm[i] = one[two[i]];
        moves = moves || perm[i] != i;
    }
    prt_value *x = prt_op_input(first, 0);
    if (!moves && prt_pass_replace(b, &root->out[0], x))
        return true;
    prt_transpose_attrs attrs = PRT_ATTRS_OF(transpose);
    const prt_i64s both = { perm, rank };
    PRT_ATTR_SET(attrs, transpose, perm, both);
    return prt_match_replace_named(b, root, PRT_OP_transpose, &attrs, 1, &x);
}

#define FUSE(name)                                                                                 \
    static const prt_rewrite name##_rewrites[] = { { PRT_OP_##name, apply_##name } };              \
    const prt_pass_hooks prt_pass_fuse_consecutive_##name = { .rewrites = name##_rewrites,         \
        .n_rewrites = 1 };

FUSE(cast)
FUSE(reshape)
FUSE(squeeze)
FUSE(unsqueeze)

static const prt_rewrite transposes[] = { { PRT_OP_transpose, apply_transpose },
    { PRT_OP_reshape, prt_match_transpose_chain } };

const prt_pass_hooks prt_pass_fuse_consecutive_transpose = { .rewrites = transposes,
    .n_rewrites = PRT_COUNT_OF(transposes) };
