/* SPDX-License-Identifier: MIT */
/*
 * alias.c — per operator: outputs that are views, concatenations without copies, results in place.
 */
#include "op/alias.h"

#include "op/words.h"

/* Operators without PRT_VIEW whose output is a view for some attributes, shapes or contents. */
static bool may_be_view(uint32_t id)
{
    return id == PRT_OP_slice || id == PRT_OP_split || id == PRT_OP_transpose ||
        id == PRT_OP_expand || id == PRT_OP_dropout || id == PRT_OP_cast || id == PRT_OP_cast_like;
}

bool prt_alias_may_view(const prt_op_def *def)
{
    const uint32_t views = PRT_VIEW | PRT_PURE;
    return (def->traits & views) == views || may_be_view(def->id);
}

static bool has(uint32_t n_in, const prt_tensor *const *in, uint32_t i)
{
    return i < n_in && in[i] != NULL && in[i]->kind != PRT_VALUE_ABSENT;
}

/* Input i is present, and its contents are not known. */
static bool is_unknown(uint32_t n_in, const prt_tensor *const *in, uint32_t i)
{
    return has(n_in, in, i) && (in[i]->kind != PRT_VALUE_TENSOR || in[i]->data == NULL);
}

static int64_t number(uint32_t n_in, const prt_tensor *const *in, uint32_t i, size_t k,
    int64_t absent)
{
    return has(n_in, in, i) ? prt_load_i64(in[i]->dtype, in[i]->data, k) : absent;
}

/* Writes the first index per axis that Slice reads. Returns false if an input is not known or a
 * step is not 1. */
static bool slice_firsts(uint32_t n_in, const prt_tensor *const *in, int64_t *first)
{
    const prt_tensor *x = in[0];
    if (!has(n_in, in, 1) || !has(n_in, in, 2))
        return false;
    const size_t n = prt_tensor_count(in[1]);
    for (uint32_t i = 1; i < 5; i++)
        if (is_unknown(n_in, in, i) || (has(n_in, in, i) && prt_tensor_count(in[i]) != n))
            return false;
    for (size_t k = 0; k < n; k++) {
        int64_t axis = number(n_in, in, 3, k, (int64_t)k), start = number(n_in, in, 1, k, 0);
        axis += axis < 0 ? x->rank : 0;
        if (axis < 0 || axis >= (int64_t)x->rank || number(n_in, in, 4, k, 1) != 1)
            return false;
        const int64_t dim = x->dims[axis];
        start = start < -dim ? 0 : start < 0 ? start + dim : start > dim ? dim : start;
        first[axis] = start;
    }
    return true;
}

/* Computes the offset, in elements, of the box of x that starts at `first` and has y's dims.
 * Returns false if the box is not contiguous: below the innermost sliced axis all axes are
 * whole, above it all dims are 1. */
static bool box_offset(const prt_tensor *x, const prt_tensor *y, const int64_t *first,
    size_t *elements)
{
    bool cut = false;
    *elements = 0;
    if (x->rank != y->rank)
        return false;
    for (uint32_t i = x->rank; i-- > 0;) {
        if (first[i] < 0 || y->dims[i] < 0 || first[i] > x->dims[i] - y->dims[i] ||
            (cut && y->dims[i] != 1))
            return false;
        cut = cut || y->dims[i] != x->dims[i];
        *elements += (size_t)first[i] * prt_dims_product(x->dims, i + 1, x->rank);
    }
    return true;
}

static bool split_firsts(const prt_split_attrs *a, uint32_t n_in, const prt_tensor *const *in,
    uint32_t n_out, uint32_t i, int64_t *first)
{
    const prt_tensor *x = in[0];
    const int64_t axis = a->axis < 0 ? a->axis + x->rank : a->axis;
    if (axis < 0 || axis >= (int64_t)x->rank || is_unknown(n_in, in, 1))
        return false;
    const int64_t whole = x->dims[axis], part = whole / n_out + (whole % n_out != 0);
    if (has(n_in, in, 1) && prt_tensor_count(in[1]) != n_out)
        return false;
    for (uint32_t k = 0; k < i; k++) {
        const int64_t size = number(n_in, in, 1, k, part);
        if (size < 0)
            return false;
        first[axis] = size < whole - first[axis] ? first[axis] + size : whole;
    }
    return true;
}

/* Returns true if the permutation keeps the order of the axes longer than 1, so that no element
 * moves. */
static bool keeps_order(const prt_transpose_attrs *a, const prt_tensor *x)
{
    int64_t last = -1;
    for (uint32_t i = 0; i < x->rank; i++) {
        int64_t axis = (int64_t)(x->rank - 1 - i);
        if (i < a->perm.count)
            axis = a->perm.data[i] < 0 ? a->perm.data[i] + x->rank : a->perm.data[i];
        if (axis < 0 || axis >= (int64_t)x->rank)
            return false;
        if (x->dims[axis] == 1)
            continue;
        if (axis < last)
            return false;
        last = axis;
    }
    return true;
}

/* Dropout copies its input: it does not train, and its mask output is not wanted. */
static bool drops_nothing(uint32_t n_in, const prt_tensor *const *in, bool others)
{
    return !others && !is_unknown(n_in, in, 2) && number(n_in, in, 2, 0, 0) == 0;
}

bool prt_alias_view(const prt_op_def *def, const void *attrs, uint32_t n_in,
    const prt_tensor *const *in, uint32_t n_out, bool others, uint32_t i, const prt_tensor *y,
    size_t *offset)
{
    int64_t first[PRT_MAX_RANK] = { 0 };
    size_t elements = 0;
    *offset = 0;
    if (!prt_alias_may_view(def) || !has(n_in, in, 0) || in[0]->kind != PRT_VALUE_TENSOR ||
        y->kind != PRT_VALUE_TENSOR || in[0]->dtype != y->dtype || prt_dtype_bits(y->dtype) < 8 ||
        y->dtype == PRT_DTYPE_string)
        return false;
    bool same = i == 0 && in[0]->size == y->size;
    if (def->id == PRT_OP_slice)
        same = slice_firsts(n_in, in, first) && box_offset(in[0], y, first, &elements);
    else if (def->id == PRT_OP_split)
        same = split_firsts(attrs, n_in, in, n_out, i, first) &&
            box_offset(in[0], y, first, &elements);
    else if (def->id == PRT_OP_transpose)
        same = same && keeps_order(attrs, in[0]);
    else if (def->id == PRT_OP_dropout)
        same = same && drops_nothing(n_in, in, others);
    if (!same)
        return false;
    *offset = elements * (prt_dtype_bits(y->dtype) / 8);
    return *offset <= in[0]->size && y->size <= in[0]->size - *offset;
}

bool prt_alias_may_join(const prt_op_def *def)
{
    return def->id == PRT_OP_concat;
}

bool prt_alias_join(const prt_op_def *def, const void *attrs, const prt_tensor *y)
{
    if (!prt_alias_may_join(def) || y->kind != PRT_VALUE_TENSOR || prt_dtype_bits(y->dtype) < 8 ||
        y->dtype == PRT_DTYPE_string)
        return false;
    const int64_t given = ((const prt_concat_attrs *)attrs)->axis;
    const int64_t axis = given < 0 ? given + y->rank : given;
    return axis >= 0 && axis < (int64_t)y->rank &&
        prt_dims_product(y->dims, 0, (uint32_t)axis) == 1;
}

bool prt_alias_takes_concat_columns(const prt_op_def *def, const void *attrs, uint32_t rank,
    bool apart)
{
    if (def->id != (apart ? PRT_OP_split : PRT_OP_concat) || rank == 0)
        return false;
    const int64_t axis =
        apart ? ((const prt_split_attrs *)attrs)->axis : ((const prt_concat_attrs *)attrs)->axis;
    return axis == -1 || axis == (int64_t)rank - 1;
}

static bool is_point(const prt_i64s *kernel)
{
    for (uint32_t i = 0; i < kernel->count; i++)
        if (kernel->data[i] != 1)
            return false;
    return true;
}

/* The depthwise kernels (algorithm `taps`) need channels without gaps, except for 1x1 kernels. */
static bool conv_takes_columns(const prt_nhwc_conv_attrs *a, bool out, uint32_t i)
{
    if (a->form == PRT_NHWC_taps)
        return !out && i == 0 && is_point(&a->kernel_shape);
    return out || i == 3 || (i == 0 && a->images == 0);
}

bool prt_alias_takes_columns(const prt_op_def *def, const void *attrs, const prt_type *type,
    bool out, uint32_t i)
{
    const bool bytes = type->dtype == PRT_DTYPE_u8 || type->dtype == PRT_DTYPE_i8;
    if (!prt_type_is_tensor(type) || type->rank <= 0 || (!bytes && type->dtype != PRT_DTYPE_f32))
        return false;
    switch (def->id) {
    case PRT_OP_concat:
    case PRT_OP_split:
        return prt_alias_takes_concat_columns(def, attrs, (uint32_t)type->rank,
            def->id == PRT_OP_split);
    case PRT_OP_nhwc_conv:
        return conv_takes_columns(attrs, out, i);
    case PRT_OP_nhwc_qconv:
        return out || (i == 0 && ((const prt_nhwc_qconv_attrs *)attrs)->images == 0);
    case PRT_OP_nhwc_quantized_conv:
        return out || i == 5;
    case PRT_OP_nhwc_separable:
        return !out && i == 0 && is_point(&((const prt_nhwc_separable_attrs *)attrs)->kernel_shape);
    case PRT_OP_nhwc_spread: /* stores whole vectors of 16 filters */
        return i == 0 && (!out || ((const prt_nhwc_spread_attrs *)attrs)->filters % 16 == 0);
    case PRT_OP_nhwc_average_pool:
    case PRT_OP_nhwc_max_pool:
    case PRT_OP_byte_table:
        return i == 0;
    default:
        return false;
    }
}

bool prt_alias_in_place(const prt_op_def *def, uint32_t n_in, uint32_t in)
{
    const uint32_t needed = PRT_PURE | PRT_ELEMENTWISE;
    if (def->id == PRT_OP_elementwise)
        return in < n_in;
    if ((def->traits & needed) != needed || def->domain[0] != '\0' || def->id == PRT_OP_where)
        return false;
    return n_in <= 2 ? in < n_in : in == 0 && def->id == PRT_OP_clip;
}
