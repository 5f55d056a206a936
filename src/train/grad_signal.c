/* SPDX-License-Identifier: MIT */
/*
 * grad_signal.c — gradients of linear maps: DFT, STFT, Col2Im, AffineGrid and Range. Each is
 * rebuilt as a product with a matrix or as a convolution. The matrix is the operator applied to
 * the unit matrix, which constant folding computes.
 */
#include "train/terms.h"

/* The unit matrix of `n` rows, of a floating-point type. */
static prt_value *unit_matrix(prt_grad *g, prt_value *like, int64_t n)
{
    prt_eye_like_attrs attrs = PRT_ATTRS_OF(eye_like);
    const int64_t dims[2] = { n, n };
    prt_value *square = BINARY(expand, NUM(like, 0.0), prt_build_i64s(g->b, 2, dims));
    PRT_ATTR_SET(attrs, eye_like, k, 0);
    return prt_build_op(g->b, PRT_OP_eye_like, &attrs, 1, &square);
}

/* DFT of x along `axis`, as the product of the numbers along the axis with a matrix. */
static prt_value *spectrum(prt_grad *g, const prt_dft_attrs *a, prt_value *x, prt_value *length,
    int64_t axis)
{
    int64_t perm[PRT_MAX_RANK], back[PRT_MAX_RANK], rows[PRT_MAX_RANK];
    const int32_t rank = prt_grad_rank(x);
    if (g->b->status != POPRT_OK)
        return NULL;
    const int64_t n = x->type->dims[axis], parts = x->type->dims[rank - 1];
    uint32_t at = 0;
    for (int64_t i = 0; i < rank; i++)
        if (i != axis)
            perm[at++] = i;
    for (int64_t i = rank - 1; i > rank - 2; i--)
        perm[i] = perm[i - 1];
    perm[rank - 2] = axis;
    for (int64_t i = 0; i < rank; i++)
        back[perm[i]] = i;
    for (int32_t i = 0; i < rank - 2; i++)
        rows[i] = 0;
    rows[rank - 2] = n * parts;
    prt_value *flat = prt_grad_permute(g, x, (uint32_t)rank, perm);
    flat = prt_grad_reshape_to(g, flat, (uint32_t)rank - 1, rows);
    const int64_t cube[3] = { n * parts, n, parts }, table[2] = { n * parts, -1 };
    prt_value *in[3] = { prt_grad_reshape_to(g, unit_matrix(g, x, n * parts), 3, cube), length,
        prt_build_i64(g->b, 1) };
    prt_value *matrix = prt_build_op(g->b, PRT_OP_dft, a, 3, in);
    if (g->b->status != POPRT_OK)
        return NULL;
    const int64_t out = matrix->type->rank == 3 ? matrix->type->dims[2] : 2;
    rows[rank - 2] = -1;
    rows[rank - 1] = out;
    flat = BINARY(matmul, flat, prt_grad_reshape_to(g, matrix, 2, table));
    flat = prt_grad_reshape_to(g, flat, (uint32_t)rank, rows);
    return prt_grad_permute(g, flat, (uint32_t)rank, back);
}

poprt_status prt_grad_dft(prt_grad *g)
{
    prt_value *x = prt_grad_x(g, 0), *given = prt_grad_x(g, 2);
    const int32_t rank = prt_grad_rank(x);
    prt_tensor t;
    int64_t axis = -2;
    if (given != NULL && !prt_value_tensor(given, &t))
        return prt_grad_refuse(g, "the axis is not a constant");
    if (given != NULL)
        axis = prt_load_i64(t.dtype, t.data, 0);
    if (rank < 2 || !prt_dim_is_number(x->type->dims[rank - 1]))
        return prt_grad_refuse(g, "needs an input of known rank");
    axis += axis < 0 ? rank : 0;
    if (!prt_dim_is_number(x->type->dims[axis]))
        return prt_grad_refuse(g, "needs a known length");
    return prt_grad_by(g, spectrum(g, g->op->attrs, x, prt_grad_x(g, 1), axis));
}

/* The frames are gathered, multiplied by the window, and transformed. */
poprt_status prt_grad_stft(prt_grad *g)
{
    const prt_stft_attrs *a = g->op->attrs;
    prt_value *signal = prt_grad_x(g, 0), *window = prt_grad_x(g, 2), *y = prt_grad_y(g);
    prt_value *length = prt_grad_x(g, 3), *step = prt_grad_x(g, 1);
    prt_gather_attrs gather = PRT_ATTRS_OF(gather);
    prt_dft_attrs dft = PRT_ATTRS_OF(dft);
    static const int64_t column[2] = { -1, 1 }, last[1] = { 1 };
    prt_tensor t;
    if (length == NULL && window == NULL)
        return prt_grad_refuse(g, "needs a frame length or a window");
    if (length != NULL && !prt_value_tensor(length, &t))
        return prt_grad_refuse(g, "the frame length is not a constant");
    const int64_t n = length != NULL ? prt_load_i64(t.dtype, t.data, 0)
        : prt_grad_rank(window) == 1 ? window->type->dims[0]
                                     : PRT_DIM_UNKNOWN;
    if (prt_grad_rank(signal) != 3 || !prt_dim_is_number(n) || n < 1)
        return prt_grad_refuse(g, "needs a signal of known rank and frames of known length");
    PRT_ATTR_SET(gather, gather, axis, 1);
    PRT_ATTR_SET(dft, dft, onesided, a->onesided);
    prt_value *frames = prt_grad_count(g, prt_grad_dim(g, y, 1));
    prt_value *start = MUL(frames, prt_grad_cast_to(g, step, PRT_DTYPE_i64));
    prt_value *places = ADD(prt_grad_reshape_to(g, start, 2, column),
        prt_grad_count(g, prt_build_i64s(g->b, 1, &n)));
    prt_value *in[2] = { signal, places };
    prt_value *x = prt_build_op(g->b, PRT_OP_gather, &gather, 2, in);
    if (window != NULL)
        x = MUL(x, prt_grad_unsqueeze(g, window, 1, last));
    return prt_grad_by(g, spectrum(g, &dft, x, NULL, 2));
}

/* Col2Im is the gradient of a convolution whose filter k selects tap k of a block. */
poprt_status prt_grad_col2im(prt_grad *g)
{
    const prt_col2im_attrs *a = g->op->attrs;
    const prt_type *y = prt_grad_y(g)->type;
    prt_conv_attrs conv = PRT_ATTRS_OF(conv);
    prt_tensor t;
    int64_t image[PRT_MAX_RANK] = { -1, 1 }, kernel[PRT_MAX_RANK], taps = 1;
    if (!prt_value_tensor(prt_grad_x(g, 2), &t) || y->rank < 3)
        return prt_grad_refuse(g, "the shape of the blocks is not a constant");
    for (int32_t i = 2; i < y->rank; i++) {
        kernel[i] = prt_load_i64(t.dtype, t.data, (size_t)i - 2);
        taps *= kernel[i];
        image[i] = y->dims[i];
        if (!prt_dim_is_number(y->dims[i]))
            return prt_grad_refuse(g, "needs an image of known size");
    }
    kernel[0] = taps;
    kernel[1] = 1;
    PRT_ATTR_SET(conv, conv, strides, a->strides);
    PRT_ATTR_SET(conv, conv, dilations, a->dilations);
    PRT_ATTR_SET(conv, conv, pads, a->pads);
    prt_value *dy = prt_grad_reshape_to(g, g->out[0], (uint32_t)y->rank, image);
    prt_value *filters = unit_matrix(g, dy, taps);
    prt_value *in[2] = { dy, prt_grad_reshape_to(g, filters, (uint32_t)y->rank, kernel) };
    return prt_grad_set(g, 0,
        prt_grad_reshape(g, prt_build_op(g->b, PRT_OP_conv, &conv, 2, in), prt_grad_x(g, 0)));
}

/* A point of the grid is the matrix times the point of the identity map, with a 1 appended. */
poprt_status prt_grad_affine_grid(prt_grad *g)
{
    prt_value *theta = prt_grad_x(g, 0), *y = prt_grad_y(g), *dy = g->out[0];
    const int32_t rank = prt_grad_rank(y);
    const int64_t n = rank - 2;
    if (rank < 4)
        return prt_grad_refuse(g, "needs a grid of known rank");
    static const int64_t front[1] = { 0 }, swap[3] = { 0, 2, 1 }, row[1] = { 1 }, column[1] = { 2 };
    const int64_t points[3] = { 0, -1, n };
    /* One image is enough, because the identity map is the same for all. */
    prt_value *map = prt_grad_slice(g, unit_matrix(g, theta, n + 1), 0, 0, n, 1);
    prt_value *size[2] = { prt_build_i64s(g->b, 1, row),
        prt_grad_slice(g, prt_grad_x(g, 1), 0, 1, INT64_MAX, 1) };
    prt_value *in[2] = { prt_grad_unsqueeze(g, map, 1, front),
        prt_grad_concat_values(g, 0, 2, size) };
    prt_value *base = prt_build_op(g->b, PRT_OP_affine_grid, g->op->attrs, 2, in);
    base = prt_grad_reshape_to(g, base, 3, points);
    dy = prt_grad_reshape_to(g, dy, 3, points);
    prt_value *parts[2] = { BINARY(matmul, prt_grad_permute(g, dy, 3, swap), base),
        prt_grad_unsqueeze(g, prt_grad_sum(g, dy, 1, row, false), 1, column) };
    return prt_grad_set(g, 0, prt_grad_concat_values(g, 2, 2, parts));
}

/* start + i * delta */
poprt_status prt_grad_range(prt_grad *g)
{
    prt_value *dy = g->out[0], *all = prt_grad_count(g, prt_grad_dim(g, dy, 0));
    static const int64_t axis[1] = { 0 };
    if (g->wanted[0])
        PRT_TRY(prt_grad_set(g, 0,
            prt_grad_reshape(g, prt_grad_sum(g, dy, 1, axis, false), prt_grad_x(g, 0))));
    if (!g->wanted[2])
        return POPRT_OK;
    prt_value *d = prt_grad_sum(g, MUL(dy, prt_grad_cast_as(g, all, dy)), 1, axis, false);
    return prt_grad_set(g, 2, prt_grad_reshape(g, d, prt_grad_x(g, 2)));
}

/* A depthwise convolution of the past elements and the new ones; the state is the end of both. */
poprt_status prt_grad_causal_conv(prt_grad *g)
{
    const prt_causal_conv_with_state_attrs *a = g->op->attrs;
    prt_value *x = prt_grad_x(g, 0), *w = prt_grad_x(g, 1), *past = prt_grad_x(g, 3);
    prt_conv_attrs attrs = PRT_ATTRS_OF(conv);
    if (prt_grad_rank(w) != 3 || !prt_type_is_static(w->type))
        return prt_grad_refuse(g, "needs weights of known shape");
    const int64_t kept = w->type->dims[2] - 1, pads[6] = { 0, 0, kept };
    PRT_ATTR_SET(attrs, conv, group, w->type->dims[0]);
    prt_value *all = past != NULL ? prt_grad_concat_values(g, 2, 2, (prt_value *[2]){ past, x })
                                  : BINARY(pad, x, prt_build_i64s(g->b, 6, pads));
    prt_value *in[3] = { all, w, prt_grad_x(g, 2) }, *ys[2];
    ys[0] = prt_build_op(g->b, PRT_OP_conv, &attrs, in[2] != NULL ? 3 : 2, in);
    if (!prt_str_is(a->activation, "none"))
        ys[0] = CALL(swish, ys[0]);
    ys[1] = prt_grad_slice(g, all, 2, kept != 0 ? -kept : INT64_MAX, INT64_MAX, 1);
    return prt_grad_by_outputs(g, ys);
}
