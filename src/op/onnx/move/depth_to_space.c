/* SPDX-License-Identifier: MIT */
/*
 * depth_to_space.c — DepthToSpace and SpaceToDepth: move blocks of an image into channels and back.
 *
 * Both are one permutation of six axes: channels C = block * block * rest (DCR) or rest * block *
 * block (CRD), rows H = h * block, columns W = w * block.
 */
#include "op/share/shape_values.h"

static poprt_status check(const prt_infer *c, prt_str mode, int64_t block)
{
    if (!prt_str_is(mode, "DCR") && !prt_str_is(mode, "CRD"))
        return prt_infer_fail(c, POPRT_E_ARG, "mode is \"%.*s\"; accepted: DCR, CRD",
            PRT_STR_ARG(mode));
    if (block < 1 || block > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "blocksize is %lld; accepted: 1 to 2147483647",
            (long long)block);
    if (c->in[0].rank >= 0 && c->in[0].rank != 4)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d, not 4", c->in[0].rank);
    return POPRT_OK;
}

static poprt_status divide(const prt_infer *c, int64_t dim, int64_t by, int64_t *out)
{
    if (prt_dim_is_number(dim) && dim % by != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "dim %lld is not a multiple of blocksize %lld",
            (long long)dim, (long long)by);
    *out = prt_dim_floordiv(c->dims, dim, by);
    return POPRT_OK;
}

static poprt_status infer_to_space(prt_infer *c)
{
    const prt_depth_to_space_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    const int64_t b = a->blocksize;
    PRT_TRY(check(c, a->mode, b));
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, x->dtype, 4);
    int64_t dims[4] = { x->dims[0], 0, prt_dim_mul(c->dims, x->dims[2], b),
        prt_dim_mul(c->dims, x->dims[3], b) };
    PRT_TRY(divide(c, x->dims[1], b * b, &dims[1]));
    return prt_infer_set(c, 0, x->dtype, 4, dims);
}

static poprt_status infer_to_depth(prt_infer *c)
{
    const prt_space_to_depth_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    const int64_t b = a->blocksize;
    PRT_TRY(check(c, a->mode, b));
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, x->dtype, 4);
    int64_t dims[4] = { x->dims[0], prt_dim_mul(c->dims, x->dims[1], b * b), 0, 0 };
    PRT_TRY(divide(c, x->dims[2], b, &dims[2]));
    PRT_TRY(divide(c, x->dims[3], b, &dims[3]));
    return prt_infer_set(c, 0, x->dtype, 4, dims);
}

/* The output is [n, rest, h, row, w, column], the input [n, channels…, h, w]. */
static poprt_status eval_to_space(prt_eval *c)
{
    const prt_depth_to_space_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const int64_t b = a->blocksize, h = x->dims[2], w = x->dims[3], rest = x->dims[1] / (b * b);
    const int64_t plane = h * w;
    const bool dcr = prt_str_is(a->mode, "DCR");
    const int64_t row = dcr ? b * rest * plane : b * plane, column = dcr ? rest * plane : plane;
    const prt_view v = { .rank = 6,
        .dims = { x->dims[0], rest, h, b, w, b },
        .stride = { x->dims[1] * plane, dcr ? plane : b * b * plane, w, row, 1, column } };
    prt_view_eval(c, &v);
    return POPRT_OK;
}

/* The output is [n, row, column, rest, h, w] (DCR) or [n, rest, row, column, h, w] (CRD). */
static poprt_status eval_to_depth(prt_eval *c)
{
    const prt_space_to_depth_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const int64_t b = a->blocksize, h = x->dims[2] / b, w = x->dims[3] / b, rest = x->dims[1];
    const int64_t line = x->dims[3], plane = x->dims[2] * line;
    const prt_view dcr = { .rank = 6,
        .dims = { x->dims[0], b, b, rest, h, w },
        .stride = { rest * plane, line, 1, plane, b * line, b } };
    const prt_view crd = { .rank = 6,
        .dims = { x->dims[0], rest, b, b, h, w },
        .stride = { rest * plane, plane, line, 1, b * line, b } };
    prt_view_eval(c, prt_str_is(a->mode, "DCR") ? &dcr : &crd);
    return POPRT_OK;
}

const prt_op_hooks prt_op_depth_to_space = { .infer = infer_to_space, .eval = eval_to_space };
const prt_op_hooks prt_op_space_to_depth = { .infer = infer_to_depth, .eval = eval_to_depth };
