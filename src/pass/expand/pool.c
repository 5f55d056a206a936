/* SPDX-License-Identifier: MIT */
/*
 * pool.c — MaxPool and AveragePool over three dims become a pool over the last two dims and a pool
 * over the first: the maximum of maxima or, if no window is clipped, the mean of means.
 *
 *     Reshape to [n, c * d, h, w], pool, Reshape to [n, c, d, h * w], pool, Reshape
 *
 * Requires known dims except for the batch, explicit pads and no dilations. Pools after a
 * convolution are left to layout/pool.c, since their inputs become channels-last.
 */
#include "op/share/sliding.h"
#include "pass/expand/expand.h"

enum { SPACE = 3, RANK = 5 };

typedef struct window {
    int64_t kernel[SPACE], strides[SPACE], pads[2 * SPACE];
} window;

static bool all(const int64_t *values, uint32_t count, int64_t value)
{
    for (uint32_t i = 0; i < count; i++)
        if (values[i] != value)
            return false;
    return true;
}

/* Returns whether x comes from a Conv with constant weights, through operators that keep the
 * rank. */
static bool follows_conv(const prt_value *x)
{
    for (uint32_t steps = 0; steps < 8 && x != NULL && x->def != NULL; steps++) {
        prt_tensor w;
        if (prt_op_is(x->def, PRT_OP_conv))
            return prt_match_constant(x->def, 1, &w);
        if (x->def->n_out != 1 || prt_match_ranked(x) == NULL ||
            !prt_match_is_f32(prt_op_input(x->def, 0)) ||
            prt_op_input(x->def, 0)->type->rank != x->type->rank)
            return false;
        x = prt_op_input(x->def, 0);
    }
    return false;
}

static bool match_window(const prt_op *root, prt_str auto_pad, prt_i64s kernel, prt_i64s strides,
    prt_i64s pads, prt_i64s dilations, window *w)
{
    if (!prt_match_is_sized(prt_op_input(root, 0), RANK) ||
        !prt_match_is_sized(&root->out[0], RANK) || !prt_str_is(auto_pad, "NOTSET") ||
        kernel.count != SPACE || !all(dilations.data, dilations.count, 1) ||
        follows_conv(prt_op_input(root, 0)))
        return false;
    for (uint32_t i = 0; i < SPACE; i++) {
        w->kernel[i] = kernel.data[i];
        w->strides[i] = prt_i64s_at(strides, i, 1);
    }
    for (uint32_t i = 0; i < 2 * SPACE; i++)
        w->pads[i] = prt_i64s_at(pads, i, 0);
    return true;
}

/* Builds one of the two pools: over the last two dims, or over the first with a window of 1 on the
 * other axis. */
static prt_value *pool(prt_build *b, const prt_op *root, const window *w, bool first, prt_value *x)
{
    const int64_t kernel[2] = { w->kernel[first ? 0 : 1], first ? 1 : w->kernel[2] };
    const int64_t strides[2] = { w->strides[first ? 0 : 1], first ? 1 : w->strides[2] };
    const int64_t pads[4] = { w->pads[first ? 0 : 1], first ? 0 : w->pads[2],
        w->pads[first ? 3 : 4], first ? 0 : w->pads[5] };
    const prt_i64s kernels = { kernel, 2 }, steps = { strides, 2 }, edges = { pads, 4 };
    if (prt_op_is(root, PRT_OP_max_pool)) {
        prt_max_pool_attrs attrs = PRT_ATTRS_OF(max_pool);
        PRT_ATTR_SET(attrs, max_pool, kernel_shape, kernels);
        PRT_ATTR_SET(attrs, max_pool, strides, steps);
        PRT_ATTR_SET(attrs, max_pool, pads, edges);
        PRT_ATTR_SET(attrs, max_pool, ceil_mode,
            ((const prt_max_pool_attrs *)root->attrs)->ceil_mode);
        return prt_build_op(b, PRT_OP_max_pool, &attrs, 1, &x);
    }
    prt_average_pool_attrs attrs = PRT_ATTRS_OF(average_pool);
    PRT_ATTR_SET(attrs, average_pool, kernel_shape, kernels);
    PRT_ATTR_SET(attrs, average_pool, strides, steps);
    PRT_ATTR_SET(attrs, average_pool, pads, edges);
    PRT_ATTR_SET(attrs, average_pool, count_include_pad, 1);
    return prt_build_op(b, PRT_OP_average_pool, &attrs, 1, &x);
}

static bool become_pools(prt_build *b, prt_op *root, const window *w)
{
    const prt_type *x = prt_op_input(root, 0)->type, *y = root->out[0].type;
    const int64_t planes[4] = { 0, x->dims[1] * x->dims[2], x->dims[3], x->dims[4] };
    const int64_t columns[4] = { 0, x->dims[1], x->dims[2], y->dims[3] * y->dims[4] };
    const int64_t last[RANK] = { 0, y->dims[1], y->dims[2], y->dims[3], y->dims[4] };
    prt_value *v = prt_match_add_reshape(b, prt_op_input(root, 0), 4, planes);
    v = pool(b, root, w, false, v);
    v = pool(b, root, w, true, prt_match_add_reshape(b, v, 4, columns));
    return prt_match_replace(b, root, prt_match_add_reshape(b, v, RANK, last));
}

bool prt_expand_max_pool(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_max_pool_attrs *a = root->attrs;
    window w;
    (void)p;
    return (root->n_out < 2 || !prt_value_used(&root->out[1])) &&
        match_window(root, a->auto_pad, a->kernel_shape, a->strides, a->pads, a->dilations, &w) &&
        become_pools(b, root, &w);
}

bool prt_expand_average_pool(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_average_pool_attrs *a = root->attrs;
    window w;
    (void)p;
    return a->ceil_mode == 0 &&
        match_window(root, a->auto_pad, a->kernel_shape, a->strides, a->pads, a->dilations, &w) &&
        (a->count_include_pad != 0 || all(w.pads, 2 * SPACE, 0)) && become_pools(b, root, &w);
}
