/* SPDX-License-Identifier: MIT */
/*
 * pool.c — pools with channels last. A 3-D pool is a 2-D pool over the last two axes, with planes
 * as images, followed by one over the first axis, with each plane as a row.
 */
#include "pass/layout/to_nhwc.h"

enum { RANK_3D = 5, SPATIAL = 3 };

/* Attributes of a 2-D pool. */
typedef struct lists {
    int64_t kernel[2], strides[2], dilations[2], pads[4];
} lists;

/* Copies the attributes of axis `from` (SPATIAL: an axis without pooling) to axis `to`. */
static void copy_axis(const prt_max_pool_attrs *a, uint32_t from, uint32_t to, lists *l)
{
    const bool unpooled = from == SPATIAL;
    l->kernel[to] = unpooled ? 1 : a->kernel_shape.data[from];
    l->strides[to] = unpooled ? 1 : prt_i64s_at(a->strides, from, 1);
    l->dilations[to] = unpooled ? 1 : prt_i64s_at(a->dilations, from, 1);
    l->pads[to] = unpooled ? 0 : prt_i64s_at(a->pads, from, 0);
    l->pads[2 + to] = unpooled ? 0 : prt_i64s_at(a->pads, SPATIAL + from, 0);
}

static prt_value *build_pool(prt_build *b, const prt_op *root, const prt_max_pool_attrs *a,
    const lists *l, prt_value *x)
{
    const prt_i64s kernel = { l->kernel, 2 }, strides = { l->strides, 2 };
    const prt_i64s dilations = { l->dilations, 2 }, pads = { l->pads, 4 };
    if (prt_op_is(root, PRT_OP_max_pool)) {
        prt_nhwc_max_pool_attrs attrs = PRT_ATTRS_OF(nhwc_max_pool);
        PRT_ATTR_SET(attrs, nhwc_max_pool, kernel_shape, kernel);
        PRT_ATTR_SET(attrs, nhwc_max_pool, strides, strides);
        PRT_ATTR_SET(attrs, nhwc_max_pool, dilations, dilations);
        PRT_ATTR_SET(attrs, nhwc_max_pool, pads, pads);
        PRT_ATTR_SET(attrs, nhwc_max_pool, ceil_mode, a->ceil_mode);
        return prt_build_op(b, PRT_OP_nhwc_max_pool, &attrs, 1, &x);
    }
    prt_nhwc_average_pool_attrs attrs = PRT_ATTRS_OF(nhwc_average_pool);
    PRT_ATTR_SET(attrs, nhwc_average_pool, kernel_shape, kernel);
    PRT_ATTR_SET(attrs, nhwc_average_pool, strides, strides);
    PRT_ATTR_SET(attrs, nhwc_average_pool, dilations, dilations);
    PRT_ATTR_SET(attrs, nhwc_average_pool, pads, pads);
    PRT_ATTR_SET(attrs, nhwc_average_pool, count_include_pad, 1);
    return prt_build_op(b, PRT_OP_nhwc_average_pool, &attrs, 1, &x);
}

/* Splits a 3-D pool. A mean of means is the mean only if no window is cut off, which is checked
 * here. */
static bool pool_3d(prt_build *b, prt_op *root, prt_value *x)
{
    prt_max_pool_attrs a = PRT_ATTRS_OF(max_pool);
    const prt_type *y = root->out[0].type;
    lists planes, depth;
    if (prt_op_is(root, PRT_OP_max_pool)) {
        a = *(const prt_max_pool_attrs *)root->attrs;
    } else {
        const prt_average_pool_attrs *m = root->attrs;
        a.kernel_shape = m->kernel_shape;
        a.strides = m->strides;
        a.dilations = m->dilations;
        a.pads = m->pads;
        a.auto_pad = m->auto_pad;
        for (uint32_t i = 0; i < m->pads.count; i++)
            if (m->pads.data[i] != 0 && m->count_include_pad == 0)
                return false;
        if (m->ceil_mode != 0)
            return false;
    }
    if (!prt_match_is_sized(x, RANK_3D) || !prt_match_is_sized(&root->out[0], RANK_3D) ||
        !prt_str_is(a.auto_pad, "NOTSET"))
        return false;
    copy_axis(&a, 1, 0, &planes);
    copy_axis(&a, 2, 1, &planes);
    copy_axis(&a, 0, 0, &depth);
    copy_axis(&a, SPATIAL, 1, &depth);
    /* x has channels last, y channels first. */
    const int64_t *d = x->type->dims, *to = y->dims;
    const int64_t images[4] = { -1, d[2], d[3], d[4] };
    const int64_t rows[4] = { -1, d[1], to[3] * to[4], d[4] };
    const int64_t dims_3d[RANK_3D] = { -1, to[2], to[3], to[4], d[4] };
    x = build_pool(b, root, &a, &planes, prt_match_add_reshape(b, x, 4, images));
    x = build_pool(b, root, &a, &depth, prt_match_add_reshape(b, x, 4, rows));
    prt_to_nhwc_replace(b, root, 0, prt_match_add_reshape(b, x, RANK_3D, dims_3d));
    return true;
}

bool prt_to_nhwc_pool(prt_build *b, prt_op *root)
{
    prt_value *x = prt_to_nhwc_source(prt_op_input(root, 0));
    const bool max = prt_op_is(root, PRT_OP_max_pool);
    const int32_t dtype = x != NULL ? x->type->dtype : 0;
    if (x == NULL || (root->n_out > 1 && prt_value_used(&root->out[1])))
        return false;
    if (x->type->rank == RANK_3D)
        return pool_3d(b, root, x);
    if (x->type->rank != 4 ||
        (dtype != PRT_DTYPE_f32 && !(max && (dtype == PRT_DTYPE_u8 || dtype == PRT_DTYPE_i8))))
        return false;
    /* The operators have the same attributes in the same order. */
    const uint32_t id = max ? PRT_OP_nhwc_max_pool : PRT_OP_nhwc_average_pool;
    prt_to_nhwc_replace(b, root, 0, prt_build_op(b, id, root->attrs, 1, &x));
    return true;
}
