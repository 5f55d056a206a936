/* SPDX-License-Identifier: MIT */
/* squeeze.c — Flatten, Squeeze, Unsqueeze: the same elements with dims merged, removed or added. */
#include "op/share/shape_values.h"

static poprt_status infer_flatten(prt_infer *c)
{
    const prt_flatten_attrs *a = c->attrs;
    const prt_shape *in = &c->in[0];
    if (in->rank < 0)
        return prt_infer_unranked(c, 0, in->dtype, 2);
    uint32_t axis;
    PRT_TRY(prt_infer_axis(c, a->axis, in->rank, true, &axis));
    const int64_t dims[2] = { prt_infer_product(c, in->dims, 0, axis),
        prt_infer_product(c, in->dims, axis, (uint32_t)in->rank) };
    return prt_infer_set(c, 0, in->dtype, 2, dims);
}

/* Converts the axes of input 1 to a set of bits below `rank`. */
static poprt_status read_axes(const prt_infer *c, const int64_t *axes, uint32_t count, int32_t rank,
    uint32_t *set)
{
    if (!prt_shape_axes(axes, count, (uint32_t)rank, set))
        return prt_infer_fail(c, POPRT_E_SHAPE, "an axis is outside [%d, %d]", -rank, rank - 1);
    return POPRT_OK;
}

/* Without axes, every dim of 1 is removed. Returns false if a dim is not known. */
static bool find_ones(const prt_shape *in, uint32_t *set)
{
    *set = 0;
    for (int32_t i = 0; i < in->rank; i++) {
        if (!prt_dim_is_number(in->dims[i]))
            return false;
        *set |= (in->dims[i] == 1 ? 1u : 0u) << i;
    }
    return in->rank >= 0;
}

static poprt_status infer_squeeze(prt_infer *c)
{
    const prt_shape *in = &c->in[0];
    int64_t axes[PRT_MAX_RANK], dims[PRT_MAX_RANK], listed;
    uint32_t count = 0, set;
    if (prt_infer_has(c, 1)) {
        if (in->rank < 0 || !prt_infer_ints(c, 1, axes, PRT_MAX_RANK, &count)) {
            if (in->rank > 0 && prt_shape_values_count(c, 1, &listed) && listed == 1)
                return prt_infer_unranked(c, 0, in->dtype, in->rank - 1);
            return prt_infer_unranked(c, 0, in->dtype, PRT_RANK_UNKNOWN);
        }
        PRT_TRY(read_axes(c, axes, count, in->rank, &set));
    } else if (!find_ones(in, &set)) {
        return prt_infer_unranked(c, 0, in->dtype, PRT_RANK_UNKNOWN);
    }
    int32_t rank = 0;
    for (int32_t i = 0; i < in->rank; i++) {
        if ((set >> i & 1) == 0)
            dims[rank++] = in->dims[i];
        else if (prt_dim_is_number(in->dims[i]) && in->dims[i] != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "axis %d has dim %lld and cannot be squeezed; a dim of 1 is required", i,
                (long long)in->dims[i]);
    }
    PRT_TRY(prt_infer_set(c, 0, in->dtype, rank, dims));
    return prt_shape_values_pass(c);
}

static poprt_status infer_unsqueeze(prt_infer *c)
{
    const prt_shape *in = &c->in[0];
    int64_t axes[PRT_MAX_RANK], dims[PRT_MAX_RANK], listed;
    uint32_t count = 0, set;
    if (in->rank < 0 || !prt_infer_ints(c, 1, axes, PRT_MAX_RANK, &count)) {
        if (in->rank < 0 || !prt_shape_values_count(c, 1, &listed))
            return prt_infer_unranked(c, 0, in->dtype, PRT_RANK_UNKNOWN);
        if (listed > PRT_MAX_RANK - in->rank)
            return prt_infer_fail(c, POPRT_E_LIMIT,
                "%lld axes added to rank %d exceed the rank limit of %d", (long long)listed,
                in->rank, PRT_MAX_RANK);
        return prt_infer_unranked(c, 0, in->dtype, in->rank + (int32_t)listed);
    }
    const int32_t rank = in->rank + (int32_t)count;
    if (rank > PRT_MAX_RANK)
        return prt_infer_fail(c, POPRT_E_LIMIT, "the output would have rank %d; the limit is %d",
            rank, PRT_MAX_RANK);
    PRT_TRY(read_axes(c, axes, count, rank, &set));
    if ((uint32_t)__builtin_popcount(set) != count)
        return prt_infer_fail(c, POPRT_E_SHAPE, "axes names an axis twice");
    for (int32_t i = 0, k = 0; i < rank; i++)
        dims[i] = (set >> i & 1) != 0 ? 1 : in->dims[k++];
    PRT_TRY(prt_infer_set(c, 0, in->dtype, rank, dims));
    return prt_shape_values_pass(c);
}

const prt_op_hooks prt_op_flatten = { .infer = infer_flatten, .eval = prt_copy_flat };
const prt_op_hooks prt_op_squeeze = { .infer = infer_squeeze, .eval = prt_copy_flat };
const prt_op_hooks prt_op_unsqueeze = { .infer = infer_unsqueeze, .eval = prt_copy_flat };
