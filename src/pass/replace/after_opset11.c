/* SPDX-License-Identifier: MIT */
/*
 * after_opset11.c — replaces operators that opset 11 lacks, and fills in optional inputs:
 *
 *     replace_castlike           Cast to the type of input 1, if it is known
 *     replace_celu               alpha * Elu(x / alpha): two more roundings; bitwise equal for
 *                                alpha 1, which is Elu
 *     replace_clip_empty_inputs  missing bounds of Clip
 *     replace_greater_or_equal   Not(Less), for floats Or(Greater, Equal)
 *     replace_hardswish          x * HardSigmoid(x): one more rounding
 *     replace_less_or_equal      Not(Less) with swapped operands, for floats Or(Less, Equal)
 *     replace_trilu              Where with a constant mask
 *
 * Differences from the reference: Not(Less) would be true for NaN, so floats use two comparisons,
 * which are exact. Missing bounds of Clip are infinities for floats, which is bitwise equal, and
 * the limits of the type for integers. Celu and Trilu become standard instead of custom operators.
 */
#include <math.h>
#include <stdio.h>

#include "ir/formula.h"
#include "pass/engine/match.h"

static bool apply_cast_like(prt_pass *p, prt_build *b, prt_op *root)
{
    const int32_t to = prt_match_dtype(prt_op_input(root, 1));
    (void)p;
    if (to == PRT_DTYPE_undefined)
        return false;
    prt_value *y = prt_build_cast_like(b, root->attrs, prt_op_input(root, 0), to);
    return prt_match_replace(b, root, y);
}

static bool apply_celu(prt_pass *p, prt_build *b, prt_op *root)
{
    const float alpha = ((const prt_celu_attrs *)root->attrs)->alpha;
    prt_value *x = prt_op_input(root, 0);
    (void)p;
    if (prt_match_dtype(x) == PRT_DTYPE_undefined || !(alpha > 0.0f) || !isfinite(alpha))
        return false;
    return prt_match_replace(b, root, prt_build_celu(b, x, alpha));
}

static bool apply_hard_swish(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return prt_match_replace(b, root, prt_build_hard_swish(b, prt_op_input(root, 0)));
}

/* ---- comparisons */

static bool or_equal(prt_build *b, prt_op *root, bool greater)
{
    prt_value *x = prt_op_input(root, 0), *y = prt_op_input(root, 1);
    const int32_t dtype = prt_match_dtype(x);
    if (dtype == PRT_DTYPE_undefined)
        return false;
    if (prt_dtype_is_float(dtype))
        return prt_match_replace(b, root, prt_build_or_equal(b, greater, x, y));
    prt_value *less = prt_build_binary(b, PRT_OP_less, greater ? x : y, greater ? y : x);
    return prt_match_replace_op(b, root, PRT_OP_not, NULL, 1, &less);
}

static bool apply_greater(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return or_equal(b, root, true);
}

static bool apply_less(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return or_equal(b, root, false);
}

/* ---- Clip */

static prt_value *bound(prt_build *b, int32_t dtype, bool high)
{
    const uint32_t bits = prt_dtype_bits(dtype);
    unsigned char bytes[8] = { 0 };
    if (prt_dtype_is_float(dtype))
        prt_store_f64(dtype, bytes, 0, high ? (double)INFINITY : -(double)INFINITY);
    else if (prt_dtype_of(dtype)->kind == PRT_KIND_uint)
        prt_store_u64(dtype, bytes, 0, high ? UINT64_MAX >> (64 - bits) : 0);
    else
        prt_store_i64(dtype, bytes, 0, (high ? INT64_MAX : INT64_MIN) >> (64 - bits));
    return prt_build_tensor(b, dtype, 0, NULL, bytes);
}

static bool apply_clip(prt_pass *p, prt_build *b, prt_op *root)
{
    const int32_t dtype = prt_match_dtype(prt_op_input(root, 0));
    (void)p;
    if (dtype == PRT_DTYPE_undefined ||
        (prt_op_input(root, 1) != NULL && prt_op_input(root, 2) != NULL))
        return false;
    while (b->status == POPRT_OK && root->n_in < 3)
        b->status = prt_op_add_input(root, NULL);
    for (uint32_t i = 1; b->status == POPRT_OK && i < 3; i++)
        if (prt_op_input(root, i) == NULL)
            prt_op_set_input(root, i, bound(b, dtype, i == 2));
    return true;
}

/* ---- Trilu */

enum { MOST_MASK = 1 << 22 }; /* largest mask, in elements */

/* Returns a mask that is true where an element stays. */
static prt_value *triangle(prt_pass *p, prt_build *b, int64_t rows, int64_t columns, int64_t k,
    bool upper)
{
    prt_module *m = b->graph->module;
    const int64_t dims[2] = { rows, columns };
    const prt_type *type = prt_type_tensor(m->types, PRT_DTYPE_bool, 2, dims);
    prt_blob *blob = NULL;
    char name[128];
    if (type == NULL ||
        prt_blob_create(m->allocator, (size_t)(rows * columns), &blob) != POPRT_OK) {
        b->status = POPRT_E_NOMEM;
        return NULL;
    }
    unsigned char *mask = prt_blob_bytes(blob);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            mask[i * columns + j] = upper ? j - i >= k : j - i <= k;
    (void)snprintf(name, sizeof(name), "%s_%lld_%lld_%lld", upper ? "triu" : "tril",
        (long long)rows, (long long)columns, (long long)k);
    return prt_match_shared_constant(p, b, name, type, blob);
}

static bool is_plain(int32_t dtype)
{
    return dtype == PRT_DTYPE_bool || prt_dtype_is_float(dtype) || prt_dtype_is_integer(dtype);
}

static bool apply_trilu(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 0);
    const int64_t rows = prt_match_dim(x, -2), columns = prt_match_dim(x, -1);
    int64_t k = 0;
    if (!is_plain(prt_match_dtype(x)) || rows < 0 || columns < 0 ||
        (columns != 0 && rows > MOST_MASK / columns) ||
        (prt_op_input(root, 1) != NULL && !prt_match_integer(root, 1, &k)))
        return false;
    const bool upper = ((const prt_trilu_attrs *)root->attrs)->upper != 0;
    prt_value *in[3] = { triangle(p, b, rows, columns, k, upper), x };
    if (in[0] == NULL)
        return b->status != POPRT_OK;
    in[2] = prt_build_scalar(b, x->type->dtype, 0);
    return prt_match_replace_op(b, root, PRT_OP_where, NULL, 3, in);
}

PRT_PASS_OF_REWRITE(replace_castlike, PRT_OP_cast_like, apply_cast_like);
PRT_PASS_OF_REWRITE(replace_celu, PRT_OP_celu, apply_celu);
PRT_PASS_OF_REWRITE(replace_clip_empty_inputs, PRT_OP_clip, apply_clip);
PRT_PASS_OF_REWRITE(replace_greater_or_equal, PRT_OP_greater_or_equal, apply_greater);
PRT_PASS_OF_REWRITE(replace_hardswish, PRT_OP_hard_swish, apply_hard_swish);
PRT_PASS_OF_REWRITE(replace_less_or_equal, PRT_OP_less_or_equal, apply_less);
PRT_PASS_OF_REWRITE(replace_trilu, PRT_OP_trilu, apply_trilu);
