/* SPDX-License-Identifier: MIT */
/*
 * sink_transpose.c — moves Transposes to channels first from before an operator to behind it: the
 * operator gets its input with channels last and renamed axes, and its output is transposed.
 */
#include "op/share/shape_values.h"
#include "pass/layout/to_nhwc.h"

/* Reads a constant list of `count` integers at input `slot`. */
static bool ints_at(const prt_op *op, uint32_t slot, uint32_t count, int64_t *to)
{
    prt_tensor t;
    if (!prt_match_constant(op, slot, &t) ||
        (t.dtype != PRT_DTYPE_i64 && t.dtype != PRT_DTYPE_i32) || prt_tensor_count(&t) != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        to[i] = (int64_t)prt_load_f64(t.dtype, t.data, i);
    return true;
}

static uint32_t count_at(const prt_op *op, uint32_t slot)
{
    prt_tensor t;
    return prt_match_constant(op, slot, &t) && prt_tensor_count(&t) <= PRT_MAX_RANK
        ? (uint32_t)prt_tensor_count(&t)
        : UINT32_MAX;
}

/* ---- element-wise operators */

/* Returns the number of elements of a value that broadcasts along all axes but the channels: 1 for
 * a single element, the channels for a constant; otherwise 0. */
static int64_t broadcast_count(const prt_value *v, uint32_t rank)
{
    const prt_type *t = v->type;
    int64_t count = 1, channels = 1;
    if (!prt_type_is_tensor(t) || t->rank < 0 || (uint32_t)t->rank > rank)
        return 0;
    for (int32_t i = 0; i < t->rank; i++) {
        if (!prt_dim_is_number(t->dims[i]))
            return 0;
        count *= t->dims[i];
        if (rank - (uint32_t)t->rank + (uint32_t)i == 1)
            channels = t->dims[i];
    }
    return count == 1 || (count == channels && v->constant != NULL) ? count : 0;
}

/* At rank 3, a Transpose to channels last equals one to channels first. If no more than half of the
 * operands are transposed, a rewrite would be undone by the next one, without end. */
static bool may_oscillate(uint32_t rank, uint32_t n_transposed, uint32_t images)
{
    return rank == 3 && 2 * n_transposed <= images;
}

bool prt_to_nhwc_elementwise(prt_build *b, prt_op *root)
{
    prt_value *in[PRT_MAX_RANK];
    const uint32_t rank = (uint32_t)root->out[0].type->rank;
    uint32_t n_transposed = 0, images = 0;
    bool convert[PRT_MAX_RANK] = { false };
    if (root->n_out != 1 || root->n_in > PRT_MAX_RANK || !prt_to_nhwc_is_image(&root->out[0]))
        return false;
    /* The table of a ByteTable applies to all elements. */
    const uint32_t n_data = root->def->id == PRT_OP_byte_table ? 1 : root->n_in;
    for (uint32_t i = n_data; i < root->n_in; i++)
        in[i] = prt_op_input(root, i);
    for (uint32_t i = 0; i < n_data; i++) {
        prt_value *v = prt_op_input(root, i);
        const bool whole = prt_to_nhwc_is_image(v) && (uint32_t)v->type->rank == rank;
        in[i] = v;
        n_transposed += whole && prt_to_nhwc_source(v) != NULL;
        convert[i] = whole && (prt_to_nhwc_source(v) != NULL || v->constant == NULL);
        images += convert[i];
        if (v != NULL && !convert[i] && broadcast_count(v, rank) == 0)
            return false;
    }
    if (n_transposed == 0 || may_oscillate(rank, n_transposed, images))
        return false;
    for (uint32_t i = 0; i < n_data; i++) {
        if (in[i] == NULL)
            continue;
        const int64_t count = broadcast_count(in[i], rank);
        if (convert[i])
            in[i] = prt_to_nhwc_last(b, in[i]);
        else if (in[i]->type->rank > 1)
            in[i] = prt_to_nhwc_reshape(b, in[i], 1, &count);
    }
    prt_to_nhwc_replace(b, root, 0, prt_build_op(b, root->def->id, root->attrs, root->n_in, in));
    return true;
}

/* ---- operators along an axis */

static int64_t axis_of(int64_t axis, int32_t rank)
{
    return (int64_t)prt_to_nhwc_axis((uint32_t)(axis < 0 ? axis + rank : axis), (uint32_t)rank);
}

enum { MAX_INPUTS = 64 };

bool prt_to_nhwc_concat(prt_build *b, prt_op *root)
{
    const prt_concat_attrs *a = root->attrs;
    prt_concat_attrs attrs = *a;
    prt_value *in[MAX_INPUTS];
    uint32_t n_transposed = 0;
    if (root->n_in > MAX_INPUTS || !prt_to_nhwc_is_image(&root->out[0]))
        return false;
    for (uint32_t i = 0; i < root->n_in; i++) {
        in[i] = prt_op_input(root, i);
        if (!prt_to_nhwc_is_image(in[i]))
            return false;
        n_transposed += prt_to_nhwc_source(in[i]) != NULL;
    }
    if (n_transposed == 0 || 2 * n_transposed < root->n_in ||
        may_oscillate((uint32_t)root->out[0].type->rank, n_transposed, root->n_in))
        return false;
    for (uint32_t i = 0; i < root->n_in; i++)
        if ((in[i] = prt_to_nhwc_last(b, in[i])) == NULL)
            return true;
    PRT_ATTR_SET(attrs, concat, axis, axis_of(a->axis, root->out[0].type->rank));
    prt_to_nhwc_replace(b, root, 0, prt_build_op(b, PRT_OP_concat, &attrs, root->n_in, in));
    return true;
}

bool prt_to_nhwc_split(prt_build *b, prt_op *root)
{
    const prt_split_attrs *a = root->attrs;
    prt_split_attrs attrs = *a;
    prt_value *in[2] = { prt_to_nhwc_source(prt_op_input(root, 0)), prt_op_input(root, 1) };
    bool read = false;
    if (in[0] == NULL)
        return false;
    for (uint32_t i = 0; i < root->n_out; i++) {
        read = read || prt_value_used(&root->out[i]);
        if (!prt_to_nhwc_is_image(&root->out[i]))
            return false;
    }
    if (!read)
        return false;
    PRT_ATTR_SET(attrs, split, axis, axis_of(a->axis, in[0]->type->rank));
    prt_op *op = prt_build_op_n(b, PRT_OP_split, &attrs, in[1] != NULL ? 2 : 1, in, root->n_out);
    for (uint32_t i = 0; op != NULL && i < root->n_out; i++)
        if (prt_value_used(&root->out[i]))
            prt_to_nhwc_replace(b, root, i, &op->out[i]);
    return true;
}

/* Reorders a list of one number for each axis to channels last. */
static void list_to_last(const int64_t *from, uint32_t rank, int64_t *to)
{
    for (uint32_t i = 0; i < rank; i++)
        to[prt_to_nhwc_axis(i, rank)] = from[i];
}

bool prt_to_nhwc_pad(prt_build *b, prt_op *root)
{
    prt_value *x = prt_to_nhwc_source(prt_op_input(root, 0));
    int64_t pads[2 * PRT_TO_NHWC_MAX_RANK], reordered[2 * PRT_TO_NHWC_MAX_RANK];
    if (x == NULL || root->n_in > 3)
        return false;
    const uint32_t rank = (uint32_t)x->type->rank;
    if (!ints_at(root, 1, 2 * rank, pads))
        return false;
    list_to_last(pads, rank, reordered);
    list_to_last(pads + rank, rank, reordered + rank);
    prt_value *in[3] = { x, prt_build_i64s(b, 2 * rank, reordered), prt_op_input(root, 2) };
    prt_to_nhwc_replace(b, root, 0, prt_build_op(b, PRT_OP_pad, root->attrs, root->n_in, in));
    return true;
}

bool prt_to_nhwc_slice(prt_build *b, prt_op *root)
{
    prt_value *x = prt_to_nhwc_source(prt_op_input(root, 0));
    int64_t axes[PRT_MAX_RANK];
    const uint32_t count = count_at(root, 3);
    if (x == NULL || root->n_in < 4 || count > PRT_TO_NHWC_MAX_RANK ||
        !ints_at(root, 3, count, axes) || prt_op_input(root, 1)->type->dtype != PRT_DTYPE_i64)
        return false;
    for (uint32_t i = 0; i < count; i++)
        axes[i] = axis_of(axes[i], x->type->rank);
    prt_value *in[5] = { x, prt_op_input(root, 1), prt_op_input(root, 2),
        prt_build_i64s(b, count, axes), prt_op_input(root, 4) };
    prt_to_nhwc_replace(b, root, 0, prt_build_op(b, PRT_OP_slice, root->attrs, root->n_in, in));
    return true;
}

/* ---- images ---- */

bool prt_to_nhwc_resize(prt_build *b, prt_op *root)
{
    const prt_resize_attrs *a = root->attrs;
    prt_value *x = prt_to_nhwc_source(prt_op_input(root, 0));
    const uint32_t slot = prt_op_input(root, 3) != NULL ? 3 : 2;
    prt_tensor t;
    if (x == NULL || a->axes.count != 0 ||
        prt_str_is(a->coordinate_transformation_mode, "tf_crop_and_resize") ||
        !prt_match_constant(root, slot, &t))
        return false;
    const uint32_t rank = (uint32_t)x->type->rank;
    if (prt_tensor_count(&t) != rank)
        return false;
    int64_t sizes[PRT_TO_NHWC_MAX_RANK];
    float scales[PRT_TO_NHWC_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        const double v = prt_load_f64(t.dtype, t.data, i);
        sizes[prt_to_nhwc_axis(i, rank)] = (int64_t)v;
        scales[prt_to_nhwc_axis(i, rank)] = (float)v;
    }
    const int64_t dim = rank;
    prt_value *in[4] = { x, NULL, NULL, NULL };
    in[slot] = slot == 3 ? prt_build_i64s(b, rank, sizes)
                         : prt_build_tensor(b, PRT_DTYPE_f32, 1, &dim, scales);
    prt_to_nhwc_replace(b, root, 0, prt_build_op(b, PRT_OP_resize, a, slot + 1, in));
    return true;
}

bool prt_to_nhwc_reduce(prt_build *b, prt_op *root)
{
    const prt_reduce_mean_attrs *a = root->attrs;
    prt_value *x = prt_to_nhwc_source(prt_op_input(root, 0));
    int64_t axes[PRT_MAX_RANK];
    const uint32_t count = count_at(root, 1);
    bool kept = true; /* the batch and the channels are not reduced */
    if (x == NULL || root->n_in < 2 || count == 0 || count > PRT_TO_NHWC_MAX_RANK ||
        !ints_at(root, 1, count, axes))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        axes[i] = axis_of(axes[i], x->type->rank);
        kept = kept && axes[i] != 0 && axes[i] != x->type->rank - 1;
    }
    /* Without keepdims, the remaining axes must have the same order: all axes between batch and
     * channels are reduced. */
    if (a->keepdims == 0 && (!kept || (int32_t)count != x->type->rank - 2))
        return false;
    prt_value *in[2] = { x, prt_build_i64s(b, count, axes) };
    prt_value *y = prt_build_op(b, root->def->id, root->attrs, 2, in);
    if (a->keepdims != 0)
        prt_to_nhwc_replace(b, root, 0, y);
    else if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

bool prt_to_nhwc_global(prt_build *b, prt_op *root)
{
    static const int64_t axes[3] = { 1, 2, 3 };
    prt_value *x = prt_to_nhwc_source(prt_op_input(root, 0));
    if (x == NULL)
        return false;
    prt_value *in[2] = { x, prt_build_i64s(b, (uint32_t)x->type->rank - 2, axes) };
    const uint32_t id =
        prt_op_is(root, PRT_OP_global_max_pool) ? PRT_OP_reduce_max : PRT_OP_reduce_mean;
    prt_to_nhwc_replace(b, root, 0, prt_build_op(b, id, NULL, 2, in));
    return true;
}

bool prt_to_nhwc_norm(prt_build *b, prt_op *root)
{
    prt_value *x = prt_to_nhwc_source(prt_op_input(root, 0));
    prt_nhwc_group_norm_attrs attrs = PRT_ATTRS_OF(nhwc_group_norm);
    float epsilon;
    int64_t groups;
    if (!prt_match_is_f32(x) || !prt_match_is_f32(prt_op_input(root, 1)) ||
        !prt_match_is_f32(prt_op_input(root, 2)))
        return false;
    if (prt_op_is(root, PRT_OP_group_normalization)) {
        const prt_group_normalization_attrs *a = root->attrs;
        groups = a->num_groups;
        epsilon = a->epsilon;
    } else {
        const prt_instance_normalization_attrs *a = root->attrs;
        groups = x->type->dims[x->type->rank - 1];
        epsilon = a->epsilon;
    }
    if (!prt_dim_is_number(groups) || groups < 1)
        return false;
    PRT_ATTR_SET(attrs, nhwc_group_norm, num_groups, groups);
    PRT_ATTR_SET(attrs, nhwc_group_norm, epsilon, epsilon);
    prt_value *in[3] = { x, prt_op_input(root, 1), prt_op_input(root, 2) };
    prt_to_nhwc_replace(b, root, 0, prt_build_op(b, PRT_OP_nhwc_group_norm, &attrs, 3, in));
    return true;
}
