/* SPDX-License-Identifier: MIT */
/* op_space.c — blocks of space in batches and channels; orders of axes. */
#include "tensorflow/formulas.h"

/* ---- SpaceToBatchND, BatchToSpaceND */

/* The block sizes of the axes 1, 2, … */
typedef struct blocks {
    uint32_t rank, count;
    int64_t size[PRT_MAX_RANK], product;
} blocks;

static bool read_blocks(prt_tf_call *n, blocks *b)
{
    const int32_t rank = prt_tf_need_rank(n, 0);
    if (rank < 0 || !prt_tf_need_ints(n, 1, "the block shape", PRT_MAX_RANK, b->size, &b->count))
        return false;
    b->rank = (uint32_t)rank;
    b->product = 1;
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->size[i] < 1 || b->size[i] > INT32_MAX || b->product > INT32_MAX)
            b->product = 0;
        b->product *= b->size[i];
    }
    if (b->rank <= b->count || b->rank + b->count > PRT_MAX_RANK || b->product < 1)
        (void)prt_tf_refuse(n, "the block shape does not fit a tensor of rank %u", b->rank);
    return n->status == POPRT_OK;
}

/* Appends a size to a list of the sizes of a shape: that of an axis, times or by a number. */
typedef struct shape_list {
    prt_value *shape, *parts[2 * PRT_MAX_RANK];
    uint32_t count;
} shape_list;

static void push_axis(prt_tf_call *n, shape_list *l, int64_t axis, uint32_t id, int64_t by)
{
    prt_value *size = prt_build_gather(&n->b, l->shape, prt_build_i64s(&n->b, 1, &axis), 0);
    if (by != 1)
        size = prt_build_binary(&n->b, id, size, prt_build_i64s(&n->b, 1, &by));
    l->parts[l->count++] = size;
}

static void push_number(prt_tf_call *n, shape_list *l, int64_t number)
{
    l->parts[l->count++] = prt_build_i64s(&n->b, 1, &number);
}

static prt_value *reshape_by(prt_tf_call *n, prt_value *x, shape_list *l)
{
    prt_value *shape = prt_build_concat(&n->b, 0, l->count, l->parts);
    l->count = 0;
    return prt_build_reshape_to(&n->b, x, shape);
}

/* Pads the axes 1, 2, … by the rows of input 2. */
static prt_value *pad_space(prt_tf_call *n, prt_value *x, const blocks *b)
{
    static const int64_t zeros[2 * PRT_MAX_RANK], swap[] = { 1, 0 };
    const int64_t rest = (int64_t)b->rank - b->count - 1;
    prt_value *parts[] = { prt_build_tensor(&n->b, PRT_DTYPE_i64, 2, (int64_t[]){ 1, 2 }, zeros),
        prt_tf_in_i64(n, 2, false),
        prt_build_tensor(&n->b, PRT_DTYPE_i64, 2, (int64_t[]){ rest, 2 }, zeros) };
    prt_value *pads = prt_build_concat(&n->b, 0, rest > 0 ? 3 : 2, parts);
    pads =
        prt_build_reshape(&n->b, prt_build_transpose(&n->b, pads, 2, swap), 1, (int64_t[]){ -1 });
    return BINARY(pad, x, pads);
}

/* [N, h·bh, w·bw, C] → [N, h, bh, w, bw, C] → [bh, bw, N, h, w, C] → [bh·bw·N, h, w, C] */
poprt_status prt_tf_row_space_to_batch(prt_tf_call *n)
{
    blocks b;
    if (!read_blocks(n, &b))
        return prt_tf_end(n);
    const uint32_t m = b.count, rank = b.rank;
    int64_t perm[PRT_MAX_RANK];
    prt_value *x = pad_space(n, prt_tf_in(n, 0), &b);
    shape_list l = { .shape = prt_build_shape(&n->b, x) };
    push_axis(n, &l, 0, PRT_OP_mul, 1);
    for (uint32_t i = 0; i < m; i++) {
        push_axis(n, &l, i + 1, PRT_OP_div, b.size[i]);
        push_number(n, &l, b.size[i]);
        perm[i] = 2 * i + 2;
        perm[m + 1 + i] = 2 * i + 1;
    }
    perm[m] = 0;
    for (uint32_t i = m + 1; i < rank; i++) {
        push_axis(n, &l, i, PRT_OP_mul, 1);
        perm[m + i] = m + i;
    }
    x = prt_build_transpose(&n->b, reshape_by(n, x, &l), rank + m, perm);
    push_axis(n, &l, 0, PRT_OP_mul, b.product);
    for (uint32_t i = 1; i < rank; i++)
        push_axis(n, &l, i, PRT_OP_div, i <= m ? b.size[i - 1] : 1);
    return prt_tf_end_with(n, reshape_by(n, x, &l));
}

/* Cuts the crops of input 2 off the axes 1, 2, … */
static prt_value *crop_space(prt_tf_call *n, prt_value *x, uint32_t count)
{
    int64_t axes[PRT_MAX_RANK];
    prt_value *crops = prt_tf_in_i64(n, 2, false), *zero = I64(0);
    prt_value *starts = prt_build_gather(&n->b, crops, zero, 1);
    prt_value *ends = prt_build_gather(&n->b, crops, I64(1), 1);
    ends =
        prt_build_where(&n->b, BINARY(equal, ends, zero), I64(INT64_MAX), BINARY(sub, zero, ends));
    for (uint32_t i = 0; i < count; i++)
        axes[i] = i + 1;
    return prt_build_slice_by(&n->b, x, starts, ends, prt_build_i64s(&n->b, count, axes), NULL);
}

/* [bh·bw·N, h, w, C] → [bh, bw, N, h, w, C] → [N, h, bh, w, bw, C] → [N, h·bh, w·bw, C] */
poprt_status prt_tf_row_batch_to_space(prt_tf_call *n)
{
    blocks b;
    if (!read_blocks(n, &b))
        return prt_tf_end(n);
    const uint32_t m = b.count, rank = b.rank;
    int64_t perm[PRT_MAX_RANK] = { m };
    prt_value *x = prt_tf_in(n, 0);
    shape_list l = { .shape = prt_build_shape(&n->b, x) };
    for (uint32_t i = 0; i < m; i++) {
        push_number(n, &l, b.size[i]);
        perm[2 * i + 1] = m + 1 + i;
        perm[2 * i + 2] = i;
    }
    push_axis(n, &l, 0, PRT_OP_div, b.product);
    for (uint32_t i = 1; i < rank; i++) {
        push_axis(n, &l, i, PRT_OP_mul, 1);
        if (i > m)
            perm[m + i] = m + i;
    }
    x = prt_build_transpose(&n->b, reshape_by(n, x, &l), rank + m, perm);
    push_axis(n, &l, 0, PRT_OP_div, b.product);
    for (uint32_t i = 1; i < rank; i++)
        push_axis(n, &l, i, PRT_OP_mul, i <= m ? b.size[i - 1] : 1);
    x = reshape_by(n, x, &l);
    return prt_tf_end_with(n, m != 0 ? crop_space(n, x, m) : x);
}

/* ---- blocks in channels */

/* SpaceToDepth and DepthToSpace. */
poprt_status prt_tf_row_depth(prt_tf_call *n)
{
    static const int64_t to_nchw[] = { 0, 3, 1, 2 }, to_nhwc[] = { 0, 2, 3, 1 };
    const bool nhwc = prt_tf_attr_is(n, "data_format", "NHWC", "NHWC");
    prt_value *x = prt_tf_in(n, 0);
    prt_depth_to_space_attrs attrs = PRT_ATTRS_OF(depth_to_space);
    if (!nhwc && !prt_tf_attr_is(n, "data_format", "NHWC", "NCHW"))
        return prt_tf_refuse(n, "data_format must be NHWC or NCHW");
    PRT_ATTR_SET(attrs, depth_to_space, blocksize, prt_tf_attr_i64(n, "block_size", 1));
    x = nhwc ? prt_build_transpose(&n->b, x, 4, to_nchw) : x;
    x = prt_build_op(&n->b, n->node->row->id, &attrs, 1, &x);
    return prt_tf_end_with(n, nhwc ? prt_build_transpose(&n->b, x, 4, to_nhwc) : x);
}

/* ---- orders of axes */

/* Returns the place of a character in the first `count` of a text, or -1. */
static int64_t place_of(prt_str text, char c, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (text.data[i] == c)
            return i;
    return -1;
}

/* Reads the two formats, which must have the same letters. With `space`, N and C are left out. */
static bool read_formats(prt_tf_call *n, bool space, prt_str *from, prt_str *to, char kept[2][8])
{
    prt_str *format[] = { from, to };
    *from = prt_tf_attr_str(n, "src_format", "NHWC");
    *to = prt_tf_attr_str(n, "dst_format", "NCHW");
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < format[k]->size && count < 8; i++) {
            const char c = format[k]->data[i];
            if (!space || (c != 'N' && c != 'C'))
                kept[k][count++] = c;
        }
        *format[k] = (prt_str){ kept[k], count };
    }
    bool same = from->size == to->size;
    for (uint32_t i = 0; same && i < from->size; i++)
        same = place_of(*to, from->data[i], to->size) >= 0;
    if (!same)
        (void)prt_tf_refuse(n, "the formats '%.*s' and '%.*s' do not have the same axes",
            PRT_STR_ARG(*from), PRT_STR_ARG(*to));
    return same;
}

/* The rows of a vector or matrix, in the order of another format. */
poprt_status prt_tf_row_format_vec_permute(prt_tf_call *n)
{
    char kept[2][8];
    prt_str from, to;
    int64_t order[8];
    prt_value *x = prt_tf_in(n, 0);
    const int64_t count = prt_tf_dim(x, 0);
    if (!prt_dim_is_number(count))
        return prt_tf_refuse(n, "the number of axes is not known");
    const prt_str whole = prt_tf_attr_str(n, "src_format", "NHWC");
    if (!read_formats(n, count < (int64_t)whole.size, &from, &to, kept))
        return prt_tf_end(n);
    for (uint32_t i = 0; i < to.size; i++)
        order[i] = place_of(from, to.data[i], from.size);
    return prt_tf_end_with(n, prt_build_gather(&n->b, x, prt_build_i64s(&n->b, to.size, order), 0));
}

/* The numbers of axes, in another format. */
poprt_status prt_tf_row_format_dim_map(prt_tf_call *n)
{
    char kept[2][8];
    prt_str from, to;
    int64_t places[8];
    prt_value *x = prt_tf_in(n, 0);
    if (!read_formats(n, false, &from, &to, kept))
        return prt_tf_end(n);
    for (uint32_t i = 0; i < from.size; i++)
        places[i] = place_of(to, from.data[i], to.size);
    prt_value *map = prt_build_cast_as(&n->b, prt_build_i64s(&n->b, from.size, places), x);
    return prt_tf_end_with(n, prt_build_gather(&n->b, map, x, 0));
}

poprt_status prt_tf_row_invert_permutation(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    prt_value *size = prt_build_unary(&n->b, PRT_OP_size, x);
    prt_value *range = prt_build_range(&n->b, I64(0), size, I64(1));
    range = prt_build_cast_as(&n->b, range, x);
    return prt_tf_end_with(n,
        prt_build_op(&n->b, PRT_OP_scatter_elements, NULL, 3, (prt_value *[]){ range, x, range }));
}
