/* SPDX-License-Identifier: MIT */
/*
 * widen.c — widen_half and decode_fp8, run before compiling because kernels exist for float32.
 *
 * widen_half: operators on float16 and bfloat16 compute in float32 and pass their results on
 * without rounding. Values inside the model are then at least as precise, and adjacent operators
 * can be fused. Inputs and outputs keep their types. Quantisation, random numbers and operators
 * that define their own arithmetic stay. With `exact` every result is rounded by a Cast, as the
 * model defines; operators that only move elements stay.
 *
 * decode_fp8: FP8MatMul and FP8Conv with constant bytes and scales on the right become float32
 * MatMul and Conv. The right operand is decoded with both scales; bytes on the left are decoded by
 * BitCast and Cast. Sums are float32; the result is rounded to float16.
 */
#include <math.h>

#include "pass/precision/fp8.h"
#include "pass/precision/retype.h"
#include "pass/engine/rewrite.h"

/* ---- widen_half */

/* Returns whether the arithmetic does not follow from the types of the operands alone. */
static bool has_own_arithmetic(const prt_op *op)
{
    static const uint32_t ids[] = { PRT_OP_cast_like, PRT_OP_dequantize_linear,
        PRT_OP_gc_cast_then_pow2_scale, PRT_OP_gc_cast_to_uint8, PRT_OP_gc_fp8_conv,
        PRT_OP_gc_fp8_matmul, PRT_OP_gc_pow2_scale_then_cast, PRT_OP_quantize_linear };
    for (size_t i = 0; i < PRT_COUNT_OF(ids); i++)
        if (prt_op_is(op, ids[i]))
            return true;
    return false;
}

static bool reads(const prt_op *op, int32_t dtype)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i].value != NULL && prt_type_is_tensor(op->in[i].value->type) &&
            op->in[i].value->type->dtype == dtype)
            return true;
    return false;
}

/* Returns whether an operator computes with the result of this Cast, or passes it on. */
static bool is_worked_with(const prt_op *cast)
{
    prt_for_each_use (use, &cast->out[0])
        if (use->user != use->user->graph->ret && use->user->n_regions == 0 &&
            use->user->def != NULL && !has_own_arithmetic(use->user))
            return true;
    return false;
}

static prt_retype_mode widen_mode(const prt_retype *how, const prt_op *op)
{
    const uint32_t never = PRT_RANDOM | PRT_STATEFUL | PRT_COLLECTIVE;
    const uint32_t moves = PRT_MOVES | PRT_VIEW;
    if (op->n_regions != 0)
        return PRT_RETYPE_EDGES;
    if ((op->def->traits & PRT_PURE) == 0 || (op->def->traits & never) != 0 ||
        has_own_arithmetic(op))
        return PRT_RETYPE_KEEP;
    if ((op->def->traits & moves) != 0)
        return how->rounds ? PRT_RETYPE_KEEP : PRT_RETYPE_FOLLOW;
    if (prt_op_is(op, PRT_OP_cast))
        return how->rounds || !is_worked_with(op) ? PRT_RETYPE_KEEP : PRT_RETYPE_CONVERT;
    return reads(op, how->from) ? PRT_RETYPE_CONVERT : PRT_RETYPE_KEEP;
}

static poprt_status run_widen(prt_pass *p, prt_graph *graph, bool *changed)
{
    static const int32_t types[] = { PRT_DTYPE_f16, PRT_DTYPE_bf16 };
    const bool exact = prt_pass_bool(p, "exact");
    (void)graph;
    for (size_t i = 0; i < PRT_COUNT_OF(types); i++) {
        const prt_retype how = { .from = types[i],
            .to = PRT_DTYPE_f32,
            .rounds = exact,
            .attrs = !exact,
            .eager = true,
            .mode = widen_mode };
        PRT_TRY(prt_retype_run(p, &how, changed));
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_widen_half = { .run = run_widen };

/* ---- decode_fp8 */

typedef struct match {
    prt_op *op;
    prt_fp8_code left, right;
    bool bytes; /* whether the left operand is bytes */
    prt_tensor weight;
} match;

static bool constant_scale(const prt_op *op, uint32_t slot, int32_t *out)
{
    prt_tensor t;
    if (!prt_match_constant(op, slot, &t) || prt_tensor_count(&t) != 1)
        return false;
    const int64_t scale = prt_load_i64(t.dtype, t.data, 0);
    *out = (int32_t)scale;
    return scale >= PRT_FP8_LEAST && scale <= PRT_FP8_MOST;
}

static bool is_match(match *m, prt_str left, prt_str right)
{
    const prt_value *x = prt_op_input(m->op, 0);
    m->left.format = prt_fp8_format_of(left);
    m->right.format = prt_fp8_format_of(right);
    m->bytes = prt_type_is_tensor(x->type) && x->type->dtype == PRT_DTYPE_u8;
    return m->left.format != PRT_DTYPE_undefined && m->right.format != PRT_DTYPE_undefined &&
        constant_scale(m->op, 2, &m->left.scale) && constant_scale(m->op, 3, &m->right.scale) &&
        prt_match_constant(m->op, 1, &m->weight);
}

/* Returns the decoded weight. If the left operand is float16, the weight is rounded to float16, as
 * the operator defines. */
static prt_value *weight_of(const match *m, prt_pass *p, prt_build *b)
{
    const size_t n = prt_tensor_count(&m->weight);
    prt_blob *blob = NULL;
    const prt_type *type =
        prt_type_tensor(p->module->types, PRT_DTYPE_f32, (int32_t)m->weight.rank, m->weight.dims);
    size_t size;
    if (type == NULL || !prt_dtype_size(PRT_DTYPE_f32, n, &size) ||
        prt_blob_create(p->module->allocator, size, &blob) != POPRT_OK) {
        b->status = POPRT_E_NOMEM;
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        double w = prt_fp8_decode(m->right, ((const uint8_t *)m->weight.data)[i]);
        uint16_t half;
        if (m->bytes) {
            w = ldexp(w, m->left.scale);
        } else {
            prt_store_f64(PRT_DTYPE_f16, &half, 0, w);
            w = prt_load_f64(PRT_DTYPE_f16, &half, 0);
        }
        prt_store_f64(PRT_DTYPE_f32, prt_blob_bytes(blob), i, w);
    }
    prt_value *v = prt_pass_derive(b->graph, prt_op_input(m->op, 1), type, blob);
    if (v == NULL)
        b->status = POPRT_E_NOMEM;
    return v;
}

static prt_value *cast_to(prt_build *b, prt_value *x, int32_t to)
{
    prt_cast_attrs a = PRT_ATTRS_OF(cast);
    PRT_ATTR_SET(a, cast, to, to);
    return prt_build_op(b, PRT_OP_cast, &a, 1, &x);
}

static prt_value *left_of(const match *m, prt_build *b)
{
    prt_value *x = prt_op_input(m->op, 0);
    prt_bit_cast_attrs a = PRT_ATTRS_OF(bit_cast);
    PRT_ATTR_SET(a, bit_cast, to, m->left.format);
    if (m->bytes)
        x = prt_build_op(b, PRT_OP_bit_cast, &a, 1, &x);
    return cast_to(b, x, PRT_DTYPE_f32);
}

static bool decode(const match *m, prt_pass *p, prt_build *b, uint32_t id, const void *attrs)
{
    prt_value *in[2] = { left_of(m, b), weight_of(m, p, b) };
    prt_value *y = prt_build_op(b, id, attrs, 2, in);
    y = cast_to(b, y, PRT_DTYPE_f16);
    if (prt_build_status(b) == POPRT_OK)
        (void)prt_pass_replace(b, &m->op->out[0], y);
    return true;
}

static bool decode_matmul(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_gc_fp8_matmul_attrs *a = root->attrs;
    match m = { .op = root };
    return is_match(&m, a->fp8FormatLHS, a->fp8FormatRHS) && decode(&m, p, b, PRT_OP_matmul, NULL);
}

#define COPY_ATTR(field)                                                                           \
    if (prt_attr_given(a, prt_op_attr(root->def, PRT_STR(#field))))                                \
    PRT_ATTR_SET(conv, conv, field, a->field)

static bool decode_conv(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_gc_fp8_conv_attrs *a = root->attrs;
    prt_conv_attrs conv = PRT_ATTRS_OF(conv);
    match m = { .op = root };
    if (!is_match(&m, a->fp8FormatLHS, a->fp8FormatRHS))
        return false;
    COPY_ATTR(group);
    COPY_ATTR(pads);
    COPY_ATTR(auto_pad);
    COPY_ATTR(strides);
    COPY_ATTR(dilations);
    COPY_ATTR(kernel_shape);
    return decode(&m, p, b, PRT_OP_conv, &conv);
}

static const prt_rewrite rewrites[] = { { PRT_OP_gc_fp8_matmul, decode_matmul },
    { PRT_OP_gc_fp8_conv, decode_conv } };

const prt_pass_hooks prt_pass_decode_fp8 = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
