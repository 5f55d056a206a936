/* SPDX-License-Identifier: MIT */
/*
 * downgrade_nn.c — downgrades neural-network operators: softmax over several dims, attributes that
 * were removed or changed their type, and the order of axes of recurrent operators.
 */
#include "converter/downgrade.h"
#include "converter/conversions.h"

/* ---- Softmax, LogSoftmax, Hardmax ---- */

/* If all dims after the axis are 1, the old and the new meaning agree. Otherwise the axis is
 * transposed to the end and back. */
poprt_status prt_down_flat_softmax(prt_downgrade *d)
{
    prt_op *op = d->op;
    prt_softmax_attrs *a = op->attrs; /* the three structs have the same layout */
    const prt_type *type = prt_down_ranked(prt_op_input(op, 0));
    int64_t perm[PRT_MAX_RANK], axis;
    if (type == NULL || !prt_down_axis_of(a->axis, type->rank, &axis))
        return prt_down_refuse(d,
            "at that opset all dimensions from the axis on count as one, so its rank must be "
            "known");
    const int64_t last = type->rank - 1;
    a->axis = axis;
    prt_down_mark_given(op, "axis");
    bool flat = true;
    for (int64_t i = axis + 1; i <= last; i++)
        flat = flat && type->dims[i] == 1;
    if (flat)
        return POPRT_OK;
    for (int64_t i = 0; i <= last; i++)
        perm[i] = i == axis ? last : i == last ? axis : i;
    a->axis = last;
    prt_build b = prt_build_before(op);
    prt_value *x = prt_down_transpose(&b, prt_op_input(op, 0), (uint32_t)type->rank, perm);
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(op, 0, x);
    op->out[0].type = x->type;
    b = prt_down_build_after(op);
    return prt_down_wrap(&b, &op->out[0],
        prt_down_transpose(&b, &op->out[0], (uint32_t)type->rank, perm));
}

/* ---- Gemm ---- */

poprt_status prt_down_gemm_bias(prt_downgrade *d)
{
    prt_op *op = d->op;
    if (prt_op_input(op, 2) != NULL)
        return POPRT_OK;
    prt_build b = prt_build_before(op);
    prt_value *zero = prt_down_scalar(&b, 0, prt_op_input(op, 0));
    PRT_TRY(prt_build_status(&b));
    return prt_down_set_input(op, 2, zero);
}

poprt_status prt_down_gemm_broadcast(prt_downgrade *d)
{
    const prt_type *c = prt_down_ranked(prt_op_input(d->op, 2));
    return c != NULL && c == d->op->out[0].type ? POPRT_OK : prt_down_add_int(d, "broadcast", 1);
}

/* ---- pooling ---- */

typedef struct pool {
    prt_i64s kernel, strides, pads, dilations;
    prt_str auto_pad;
    int64_t ceil_mode;
} pool;

static pool pool_of(const prt_op *op)
{
#define POOL(id)                                                                                   \
    case PRT_OP_##id: {                                                                            \
        const prt_##id##_attrs *a = op->attrs;                                                     \
        return (pool){ a->kernel_shape, a->strides, a->pads, a->dilations, a->auto_pad,            \
            a->ceil_mode };                                                                        \
    }
    switch (op->def->id) {
        POOL(average_pool)
        POOL(lp_pool)
    default:
        POOL(max_pool)
    }
#undef POOL
}

static int64_t entry(prt_i64s list, uint32_t i, int64_t absent)
{
    return i < list.count ? list.data[i] : absent;
}

static bool is_small(int64_t number, int64_t least)
{
    return number >= least && number <= 1 << 28;
}

static bool is_rounded_down(const pool *p, const prt_type *x, const prt_type *y)
{
    const uint32_t n = p->kernel.count;
    for (uint32_t i = 0; i < n; i++) {
        const int64_t before = entry(p->pads, i, 0), behind = entry(p->pads, n + i, 0);
        const int64_t stride = entry(p->strides, i, 1), step = entry(p->dilations, i, 1);
        if (!is_small(x->dims[i + 2], 0) || !is_small(before, 0) || !is_small(behind, 0) ||
            !is_small(stride, 1) || !is_small(step, 1) || !is_small(p->kernel.data[i], 1))
            return false;
        const int64_t in = x->dims[i + 2] + before + behind;
        const int64_t window = (p->kernel.data[i] - 1) * step + 1;
        if (in < window || (in - window) / stride + 1 != y->dims[i + 2])
            return false;
    }
    return true;
}

/* Older versions disagree on windows that lie in the padding. If rounding up makes no difference to
 * the output shape, ceil_mode is dropped. */
poprt_status prt_down_ceil(prt_downgrade *d)
{
    const pool p = pool_of(d->op);
    const prt_type *x = prt_down_static(prt_op_input(d->op, 0));
    const prt_type *y = prt_down_static(&d->op->out[0]);
    if (p.ceil_mode != 0 && prt_str_is(p.auto_pad, "NOTSET") && x != NULL && y != NULL &&
        x->rank == (int32_t)p.kernel.count + 2 && y->rank == x->rank && is_rounded_down(&p, x, y))
        prt_down_reset_attr(d->op, "ceil_mode");
    return POPRT_OK;
}

poprt_status prt_down_real_p(prt_downgrade *d)
{
    const int64_t p = prt_op_is(d->op, PRT_OP_lp_pool)
        ? ((const prt_lp_pool_attrs *)d->op->attrs)->p
        : ((const prt_global_lp_pool_attrs *)d->op->attrs)->p;
    prt_down_reset_attr(d->op, "p");
    return prt_down_add_float(d, "p", (float)p);
}

/* ---- RNN, GRU, LSTM ---- */

/* Before opset 3 a GRU had to have its last state as an output. An op without that output is
 * replaced by one with it, which is then downgraded in turn. */
static poprt_status add_last_state(prt_downgrade *d)
{
    prt_op *op = d->op;
    if (op->n_out < 2) {
        prt_value *in[6] = { NULL };
        for (uint32_t i = 0; i < op->n_in && i < PRT_COUNT_OF(in); i++)
            in[i] = op->in[i].value;
        prt_build b = prt_build_before(op);
        prt_op *gru = prt_build_op_n(&b, PRT_OP_gru, op->attrs, op->n_in, in, 2);
        PRT_TRY(prt_build_status(&b));
        gru->extra = op->extra;
        return prt_down_replace(d, &b, &gru->out[0]);
    }
    prt_value *last = &op->out[1];
    if (last->name.size != 0)
        return POPRT_OK;
    const prt_str name = prt_module_fresh_name(op->graph->module, "Y_h");
    return name.data != NULL ? prt_value_set_name(last, name) : POPRT_E_NOMEM;
}

poprt_status prt_down_output_sequence(prt_downgrade *d)
{
    if (prt_op_is(d->op, PRT_OP_gru) && d->target < 3)
        PRT_TRY(add_last_state(d));
    if (d->op == NULL)
        return POPRT_OK;
    prt_down_mark_given(d->op, "direction"); /* because the default in the old schema has a typo */
    return prt_down_add_int(d, "output_sequence",
        d->op->out[0].name.size != 0 || prt_value_used(&d->op->out[0]));
}

static bool has_layout(const prt_op *op)
{
    switch (op->def->id) {
    case PRT_OP_rnn:
        return ((const prt_rnn_attrs *)op->attrs)->layout != 0;
    case PRT_OP_gru:
        return ((const prt_gru_attrs *)op->attrs)->layout != 0;
    default:
        return ((const prt_lstm_attrs *)op->attrs)->layout != 0;
    }
}

/* Transposes the operands, because the batch axis had to follow the sequence or direction axes. */
poprt_status prt_down_layout(prt_downgrade *d)
{
    static const int64_t swap[3] = { 1, 0, 2 }, sequence[4] = { 2, 0, 1, 3 };
    static const int slots[3] = { 0, 5, 6 };
    prt_op *op = d->op;
    if (!has_layout(op))
        return POPRT_OK;
    prt_down_reset_attr(op, "layout");
    prt_build b = prt_build_before(op);
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t slot = (uint32_t)slots[i];
        if (prt_op_input(op, slot) == NULL)
            continue;
        prt_value *v = prt_down_transpose(&b, prt_op_input(op, slot), 3, swap);
        PRT_TRY(prt_build_status(&b));
        prt_op_set_input(op, slot, v);
    }
    PRT_TRY(prt_ir_infer_op(op));
    for (uint32_t i = 0; i < op->n_out; i++) {
        prt_value *v = &op->out[i];
        if (v->name.size == 0 && !prt_value_used(v))
            continue;
        b = prt_down_build_after(op);
        PRT_TRY(prt_down_wrap(&b, v,
            prt_down_transpose(&b, v, i == 0 ? 4 : 3, i == 0 ? sequence : swap)));
    }
    return POPRT_OK;
}

/* ---- images and boxes ---- */

poprt_status prt_down_grid_sample(prt_downgrade *d)
{
    const prt_grid_sample_attrs *a = d->op->attrs;
    const bool linear = prt_str_is(a->mode, "linear"), cubic = prt_str_is(a->mode, "cubic");
    const prt_type *x = prt_down_ranked(prt_op_input(d->op, 0));
    if (x == NULL || x->rank != 4)
        return prt_down_refuse(d, "at that opset it samples two-dimensional images only");
    if (!linear && !cubic)
        return POPRT_OK;
    prt_down_reset_attr(d->op, "mode");
    return prt_down_add_text(d, "mode", linear ? "bilinear" : "bicubic");
}

poprt_status prt_down_roi_align(prt_downgrade *d)
{
    const prt_roi_align_attrs *a = d->op->attrs;
    if (!prt_str_is(a->coordinate_transformation_mode, "output_half_pixel"))
        return prt_down_refuse(d, "the mode 'half_pixel' does not exist at that opset");
    prt_down_reset_attr(d->op, "coordinate_transformation_mode");
    return POPRT_OK;
}
