/* SPDX-License-Identifier: MIT */
/* grad_graphcore_nn.c — gradients of LSTM, MultiConv, ScatterReduce, GroupedGather, SplineWeighting
 * and PackedDataBlock of ai.graphcore. */
#include "op/share/sliding.h"
#include "train/region.h"
#include "train/terms.h"

/* ---- LSTM: weights [4, I + H, H] of the gates f, i, g, o; ONNX has [1, 4 H, ...] of i, o, f, g */

/* Rows [start, end) of each gate's matrix as a matrix of ONNX. */
static prt_value *gate_rows(prt_grad *g, prt_value *weights, int64_t start, int64_t end)
{
    static const int64_t order[4] = { 1, 3, 0, 2 }, perm[3] = { 0, 2, 1 };
    const int64_t dims[3] = { 1, 4 * weights->type->dims[2], -1 };
    prt_value *v = prt_grad_slice(g, weights, 1, start, end, 1);
    v = BINARY(gather, v, prt_build_i64s(g->b, 4, order));
    return prt_grad_reshape_to(g, prt_grad_permute(g, v, 3, perm), 3, dims);
}

poprt_status prt_grad_gc_lstm(prt_grad *g)
{
    static const int64_t order[4] = { 1, 3, 0, 2 }, row[2] = { 1, -1 };
    static const int64_t first[1] = { 0 }, direction[1] = { 1 };
    const prt_gc_lstm_attrs *a = g->op->attrs;
    prt_value *weights = prt_grad_x(g, 1), *bias = prt_grad_x(g, 2), *state = prt_grad_x(g, 3);
    prt_value *lengths = prt_grad_x(g, 4), *in[7] = { prt_grad_x(g, 0) };
    if (prt_grad_rank(weights) != 3 || !prt_dim_is_number(weights->type->dims[2]))
        return prt_grad_refuse(g, "needs a known hidden size");
    const int64_t hidden = weights->type->dims[2];
    prt_lstm_attrs attrs = PRT_ATTRS_OF(lstm);
    PRT_ATTR_SET(attrs, lstm, hidden_size, hidden);
    in[1] = gate_rows(g, weights, 0, -hidden);
    in[2] = gate_rows(g, weights, -hidden, INT64_MAX);
    if (bias != NULL) {
        prt_value *b = BINARY(gather, bias, prt_build_i64s(g->b, 4, order));
        b = prt_grad_reshape_to(g, b, 2, row);
        prt_value *parts[2] = { b, prt_grad_filled(g, b, 0.0) };
        in[3] = prt_grad_concat_values(g, 1, 2, parts);
    }
    if (lengths != NULL)
        in[4] = prt_grad_cast_to(g, lengths, PRT_DTYPE_i32);
    for (uint32_t i = 0; i < 2 && state != NULL; i++)
        in[5 + i] = prt_grad_slice(g, state, 0, i, (int64_t)i + 1, 1);
    const prt_op *op = prt_build_op_n(g->b, PRT_OP_lstm, &attrs, 7, in, 3);
    if (op == NULL)
        return g->b->status;
    prt_value *const ys[2] = { a->output_full_sequence != 0
            ? prt_grad_squeeze(g, &op->out[0], 1, direction)
            : prt_grad_squeeze(g, &op->out[1], 1, first),
        prt_grad_squeeze(g, &op->out[2], 1, first) };
    return prt_grad_by_outputs(g, ys);
}

/* ---- MultiConv */

/* Inserts `by` - 1 zeros between the elements along an axis of known size. */
static prt_value *dilated(prt_grad *g, prt_value *x, int64_t axis, int64_t by)
{
    int64_t pads[2 * (PRT_MAX_RANK + 1)] = { 0 }, dims[PRT_MAX_RANK] = { 0 };
    const uint32_t rank = (uint32_t)prt_grad_rank(x);
    const int64_t inner[1] = { axis + 1 };
    if (by == 1 || g->b->status != POPRT_OK)
        return x;
    const int64_t n = x->type->dims[axis];
    for (uint32_t i = 0; i < rank; i++)
        dims[i] = x->type->dims[i] >= 0 ? x->type->dims[i] : 0;
    dims[axis] = n * by;
    pads[rank + 1 + axis + 1] = by - 1;
    x = BINARY(pad, prt_grad_unsqueeze(g, x, 1, inner), prt_build_i64s(g->b, 2 * (rank + 1), pads));
    return prt_grad_slice(g, prt_grad_reshape_to(g, x, rank, dims), axis, 0, (n - 1) * by + 1, 1);
}

/* Pads spatial dims; negative pads crop. */
static prt_value *padded(prt_grad *g, prt_value *x, prt_i64s pads, uint32_t first, uint32_t n)
{
    int64_t all[2 * PRT_MAX_RANK] = { 0 };
    bool none = true;
    for (uint32_t i = 0; i < n && pads.count != 0; i++) {
        all[2 + i] = pads.data[2 * first + i];
        all[n + 4 + i] = pads.data[2 * first + n + i];
        none = none && all[2 + i] == 0 && all[n + 4 + i] == 0;
    }
    return none ? x : BINARY(pad, x, prt_build_i64s(g->b, 2 * (n + 2), all));
}

static prt_i64s part_of(prt_i64s list, uint32_t first, uint32_t n)
{
    return list.count != 0 ? (prt_i64s){ list.data + first, n } : list;
}

/* Convolution k, whose spatial dims are `first` and on in the lists. */
static prt_value *one_conv(prt_grad *g, uint32_t k, uint32_t first, uint32_t n)
{
    const prt_gc_multi_conv_attrs *a = g->op->attrs;
    prt_value *x = prt_grad_x(g, 3 * k), *w = prt_grad_x(g, 3 * k + 1);
    prt_conv_attrs conv = PRT_ATTRS_OF(conv);
    const int64_t channels = x->type->dims[1], each = w->type->dims[1];
    PRT_ATTR_SET(conv, conv, strides, part_of(a->strides, first, n));
    PRT_ATTR_SET(conv, conv, dilations, part_of(a->dilations, first, n));
    PRT_ATTR_SET(conv, conv, group, each > 0 && channels > 0 ? channels / each : 1);
    for (uint32_t i = 0; i < n; i++)
        x = dilated(g, x, 2 + (int64_t)i, prt_i64s_at(a->inDilations, first + i, 1));
    prt_value *in[3] = { padded(g, x, a->pads, first, n), w, prt_grad_x(g, 3 * k + 2) };
    prt_value *y = prt_build_op(g->b, PRT_OP_conv, &conv, in[2] != NULL ? 3 : 2, in);
    return padded(g, y, a->outPads, first, n);
}

poprt_status prt_grad_gc_multi_conv(prt_grad *g)
{
    prt_value **ys = PRT_NEW_N(g->b->graph->module->arena, prt_value *, g->op->n_out);
    uint32_t first = 0;
    if (ys == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t k = 0; k < g->op->n_out; k++) {
        const int32_t rank = prt_grad_rank(prt_grad_x(g, 3 * k));
        if (rank < 3 || prt_grad_rank(prt_grad_x(g, 3 * k + 1)) != rank)
            return prt_grad_refuse(g, "needs inputs of known rank");
        if (g->out[k] != NULL)
            ys[k] = one_conv(g, k, first, (uint32_t)rank - 2);
        first += (uint32_t)rank - 2;
    }
    PRT_TRY(g->b->status);
    return prt_grad_by_outputs(g, ys);
}

/* ---- GroupedGather and ScatterReduce */

poprt_status prt_grad_gc_grouped_gather(prt_grad *g)
{
    const prt_gc_grouped_gather_attrs *a = g->op->attrs;
    prt_gather_attrs attrs = PRT_ATTRS_OF(gather);
    if (a->group_size > 1)
        return prt_grad_moved(g);
    PRT_ATTR_SET(attrs, gather, axis, a->axis);
    prt_value *in[2] = { prt_grad_x(g, 0), prt_grad_cast_to(g, prt_grad_x(g, 1), PRT_DTYPE_i64) };
    return prt_grad_by(g, prt_build_op(g->b, PRT_OP_gather, &attrs, 2, in));
}

/* The elements that an operand of ScatterReduce meets: `v` at the indices, in the shape of src. */
static prt_value *reduced_at(prt_grad *g, prt_value *v)
{
    const prt_gc_scatter_reduce_attrs *a = g->op->attrs;
    prt_value *indices = prt_grad_cast_to(g, prt_grad_x(g, 1), PRT_DTYPE_i64);
    if (prt_grad_rank(indices) == prt_grad_rank(prt_grad_x(g, 0)))
        return prt_grad_gather_at(g, v, indices, a->axis);
    prt_gc_grouped_gather_attrs attrs = PRT_ATTRS_OF(gc_grouped_gather);
    PRT_ATTR_SET(attrs, gc_grouped_gather, axis, a->axis);
    PRT_ATTR_SET(attrs, gc_grouped_gather, group_size, a->group_size);
    prt_value *in[2] = { v, indices };
    return prt_build_op(g->b, PRT_OP_gc_grouped_gather, &attrs, 2, in);
}

/* Without reduction, elements of the initial values that are written have no gradient. */
static prt_value *untouched(prt_grad *g)
{
    prt_value *in[3] = { prt_grad_filled(g, prt_grad_x(g, 0), 0.0), prt_grad_x(g, 1), g->out[0] };
    return prt_build_op(g->b, PRT_OP_gc_scatter_reduce, g->op->attrs, 3, in);
}

poprt_status prt_grad_gc_scatter_reduce(prt_grad *g)
{
    const prt_gc_scatter_reduce_attrs *a = g->op->attrs;
    prt_value *src = prt_grad_x(g, 0), *initial = prt_grad_x(g, 2), *dy = g->out[0];
    prt_value *y = prt_grad_y(g), *zero = NUM(dy, 0.0), *d = NULL, *start = NULL;
    const bool extremum = prt_str_is(a->reduction, "max") || prt_str_is(a->reduction, "min");
    const bool product = prt_str_is(a->reduction, "mul"), none = prt_str_is(a->reduction, "none");
    if (prt_grad_rank(src) < 1 || prt_grad_rank(prt_grad_x(g, 1)) < 1)
        return prt_grad_refuse(g, "needs inputs of known rank");
    if (g->wanted[0]) {
        d = reduced_at(g, product ? MUL(dy, y) : dy);
        if (product)
            d = DIV(d, src);
        if (extremum)
            d = WHERE(BINARY(equal, src, reduced_at(g, y)), d, zero);
        PRT_TRY(prt_grad_set(g, 0, d));
    }
    if (initial == NULL || !g->wanted[2])
        return POPRT_OK;
    start = dy;
    if (product)
        start = DIV(MUL(dy, y), initial);
    if (extremum)
        start = WHERE(BINARY(equal, initial, y), dy, zero);
    return prt_grad_set(g, 2, none ? untouched(g) : start);
}

/* ---- SplineWeighting: the sum over s of basis[e, s] * (input[e] * weight[index[e, s]]) */

poprt_status prt_grad_gc_spline_weighting(prt_grad *g)
{
    static const int64_t rows[2] = { 1, 2 }, two[1] = { 2 }, one[1] = { 1 };
    prt_value *weights = BINARY(gather, prt_grad_x(g, 1), prt_grad_x(g, 3));
    prt_value *x = prt_grad_unsqueeze(g, prt_grad_x(g, 0), 2, rows);
    prt_value *products = prt_grad_squeeze(g, BINARY(matmul, x, weights), 1, two);
    prt_value *v = MUL(products, prt_grad_unsqueeze(g, prt_grad_x(g, 2), 1, two));
    return prt_grad_by(g, prt_grad_sum(g, v, 1, one, false));
}
