/* SPDX-License-Identifier: MIT */
/*
 * norms.c — normalisations and means.
 *
 *     replace_bn_with_mul_add           BatchNormalization for inference with constant parameters
 *                                       becomes x * a + b by channel, a = scale / sqrt(var + e),
 *                                       b = bias - mean * a, computed in double and rounded once:
 *                                       within 3 ulp of the largest of x * a, b and the result.
 *     replace_groupnorm_with_fast_norm  float16 GroupNormalization with one group and rank 2
 *                                       becomes FastNorm; with more dims, factors by channel
 *                                       would not be factors by column. Bitwise equal.
 *     replace_half_reducemean           float16 ReduceMean becomes ReduceSum(x * (1/N)): the
 *                                       factor comes first, because the sum may overflow.
 *                                       Products and 1/N are rounded: within 2^-10 of the sum of
 *                                       magnitudes / N, plus 2^-25 for each subnormal product.
 *                                       Not applied if 1/N is subnormal (N > 16384).
 */
#include <math.h>

#include "pass/engine/match.h"

/* ---- BatchNormalization */

typedef struct norm {
    prt_tensor part[4]; /* scale, bias, mean, variance */
    int64_t channels;
    int32_t dtype, rank; /* of the image */
    double epsilon;
} norm;

static bool match_norm(const prt_op *op, norm *n)
{
    const prt_batch_normalization_attrs *a = op->attrs;
    const prt_type *x = prt_match_ranked(prt_op_input(op, 0));
    if (a->training_mode != 0 || !prt_match_outputs_unused(op, 1) || x == NULL || x->rank < 2 ||
        !prt_dtype_is_float(x->dtype))
        return false;
    for (uint32_t i = 0; i < 4; i++)
        if (!prt_match_constant(op, i + 1, &n->part[i]) || n->part[i].rank != 1 ||
            n->part[i].dims[0] != n->part[0].dims[0])
            return false;
    n->channels = n->part[0].dims[0];
    n->dtype = x->dtype;
    n->rank = x->rank;
    n->epsilon = (double)a->epsilon;
    return true;
}

static double part_at(const norm *n, uint32_t part, int64_t i)
{
    return prt_load_f64(n->part[part].dtype, n->part[part].data, (size_t)i);
}

/* Returns the factors (or summands) by channel, with dims that broadcast. Returns NULL if one is
 * not finite or the pass cannot afford them; a failure is in `b`. */
static prt_value *by_channel(prt_pass *p, prt_build *b, const norm *n, bool summands)
{
    int64_t dims[PRT_MAX_RANK] = { 1, n->channels };
    size_t size;
    for (int32_t i = 2; i < n->rank; i++)
        dims[i] = 1;
    void *data = prt_dtype_size(n->dtype, (uint64_t)n->channels, &size)
        ? prt_arena_alloc(p->arena, size)
        : NULL;
    if (data != NULL && !prt_pass_reserve(p, size))
        return NULL;
    if (data == NULL) {
        b->status = POPRT_E_NOMEM;
        return NULL;
    }
    for (int64_t i = 0; i < n->channels; i++) {
        const double factor = part_at(n, 0, i) / sqrt(part_at(n, 3, i) + n->epsilon);
        const double y = summands ? part_at(n, 1, i) - part_at(n, 2, i) * factor : factor;
        prt_store_f64(n->dtype, data, (size_t)i, y);
        if (!isfinite(prt_load_f64(n->dtype, data, (size_t)i)))
            return NULL;
    }
    return prt_build_tensor(b, n->dtype, (uint32_t)n->rank, dims, data);
}

static bool apply_batch_norm(prt_pass *p, prt_build *b, prt_op *root)
{
    norm n;
    if (!match_norm(root, &n))
        return false;
    prt_value *factors = by_channel(p, b, &n, false);
    prt_value *summands = factors != NULL ? by_channel(p, b, &n, true) : NULL;
    if (summands == NULL)
        return b->status != POPRT_OK;
    prt_value *y = prt_build_binary(b, PRT_OP_mul, prt_op_input(root, 0), factors);
    return prt_match_replace(b, root, prt_build_binary(b, PRT_OP_add, y, summands));
}

/* ---- GroupNormalization */

static bool to_fast_norm(prt_build *b, prt_op *root, int64_t groups, float epsilon)
{
    prt_value *in[3] = { prt_op_input(root, 0), prt_op_input(root, 1), prt_op_input(root, 2) };
    const prt_type *x = prt_match_ranked(in[0]);
    if (x == NULL || x->dtype != PRT_DTYPE_f16 || x->rank != 2 || groups != 1 ||
        !prt_match_outputs_unused(root, 1))
        return false;
    prt_gc_fast_norm_attrs attrs = PRT_ATTRS_OF(gc_fast_norm);
    PRT_ATTR_SET(attrs, gc_fast_norm, epsilon, epsilon);
    return prt_match_replace_op(b, root, PRT_OP_gc_fast_norm, &attrs, 3, in);
}

static bool apply_group_norm(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_group_normalization_attrs *a = root->attrs;
    (void)p;
    return to_fast_norm(b, root, a->num_groups, a->epsilon);
}

static bool apply_gc_group_norm(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_gc_group_normalization_attrs *a = root->attrs;
    (void)p;
    return to_fast_norm(b, root, a->num_groups, a->epsilon);
}

/* ---- ReduceMean */

enum { MOST_HALF = 1 << 14 }; /* largest N for which 1/N is a normal number */

static bool apply_mean(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_reduce_mean_attrs *a = root->attrs;
    prt_value *x = prt_op_input(root, 0);
    uint32_t set;
    int64_t n = 1;
    (void)p;
    if (prt_match_dtype(x) != PRT_DTYPE_f16 || !prt_match_reduce_axes(root, &set) || set == 0)
        return false;
    for (int32_t i = 0; i < x->type->rank; i++) {
        const int64_t dim = (set >> i & 1) != 0 ? prt_match_dim(x, i) : 1;
        if (dim < 1 || dim > MOST_HALF / n)
            return false;
        n *= dim;
    }
    prt_reduce_sum_attrs attrs = PRT_ATTRS_OF(reduce_sum);
    PRT_ATTR_SET(attrs, reduce_sum, keepdims, a->keepdims);
    prt_value *part =
        prt_build_binary(b, PRT_OP_mul, x, prt_build_scalar(b, PRT_DTYPE_f16, 1.0 / (double)n));
    prt_value *in[2] = { part, prt_op_input(root, 1) };
    return prt_match_replace_op(b, root, PRT_OP_reduce_sum, &attrs, in[1] != NULL ? 2 : 1, in);
}

PRT_PASS_OF_REWRITE(replace_bn_with_mul_add, PRT_OP_batch_normalization, apply_batch_norm);
PRT_PASS_OF_REWRITE(replace_half_reducemean, PRT_OP_reduce_mean, apply_mean);

static const prt_rewrite group_norms[] = { { PRT_OP_group_normalization, apply_group_norm },
    { PRT_OP_gc_group_normalization, apply_gc_group_norm } };

const prt_pass_hooks prt_pass_replace_groupnorm_with_fast_norm = { .rewrites = group_norms,
    .n_rewrites = PRT_COUNT_OF(group_norms) };
