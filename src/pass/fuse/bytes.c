/* SPDX-License-Identifier: MIT */
/*
 * bytes.c — fuse_bytes: keeps 8-bit integers between quantised operators:
 *
 *     DequantizeLinear, element-wise operators, QuantizeLinear   ByteTable
 *     DequantizeLinear of both, Add or Mul, QuantizeLinear       QuantizedAdd, QuantizedMul
 *     DequantizeLinear, MaxPool or an operator that moves        the same on bytes, ByteTable
 *     elements (moves_elements), QuantizeLinear
 *     DequantizeLinear of all, Concat, QuantizeLinear            ByteTable of each, Concat
 *     DequantizeLinear of both, Gemm, QuantizeLinear;            NhwcQConv, whose pixels are the
 *     QLinearMatMul with constant weights                        rows
 *
 * It also replaces operators of com.microsoft that are one of these, or that have no optimised
 * implementation. Runs after fuse_quantized and before constant folding.
 */
#include "pass/fuse/quantized.h"
#include "pass/layout/qconv.h"
#include "pass/layout/to_nhwc.h"

enum { MAX_CONCAT_INPUTS = 64 }; /* a Concat with more inputs stays as it is */

/* Returns whether `slot` is a float32 scale and the next input an 8-bit zero point, one element
 * each. */
static bool has_one(const prt_op *op, uint32_t slot)
{
    const prt_value *scale = prt_op_input(op, slot), *zero = prt_op_input(op, slot + 1);
    return prt_quantized_one(scale) && scale->type->dtype == PRT_DTYPE_f32 &&
        prt_quantized_one(zero) && prt_quantized_byte(zero);
}

/* Returns the DequantizeLinear of 8-bit integers that makes input `slot`; otherwise NULL. */
static prt_op *dequantized(const prt_op *op, uint32_t slot)
{
    prt_op *d = prt_match_producer(op, slot, PRT_OP_dequantize_linear);
    const prt_dequantize_linear_attrs *a = d != NULL ? d->attrs : NULL;
    return d != NULL && a->block_size == 0 && has_one(d, 1) &&
            prt_quantized_byte(prt_op_input(d, 0)) && d->out[0].type->dtype == PRT_DTYPE_f32
        ? d
        : NULL;
}

/* Returns whether both operators have the same scale and zero point. */
static bool same_quantization(const prt_op *d, const prt_op *q)
{
    for (uint32_t i = 1; i < 3; i++) {
        prt_tensor a, b;
        if (prt_op_input(d, i) == prt_op_input(q, i))
            continue;
        if (!prt_match_constant(d, i, &a) || !prt_match_constant(q, i, &b) || a.dtype != b.dtype ||
            memcmp(a.data, b.data, a.size) != 0)
            return false;
    }
    return true;
}

/* Returns whether the scale is constant and of ordinary size, so that dequantising and quantising
 * again with it restores the input. */
static bool is_ordinary(const prt_op *d)
{
    prt_tensor t;
    if (!prt_match_constant(d, 1, &t))
        return false;
    const double scale = prt_load_f64(t.dtype, t.data, 0);
    return scale > 1e-30 && scale < 1e30;
}

static bool finish(prt_build *b, prt_op *root, prt_value *y)
{
    if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return y != NULL;
}

/* ---- between DequantizeLinear and QuantizeLinear */

static bool moves_elements(const prt_op *op)
{
    switch (op->def->id) {
    case PRT_OP_max_pool:
        return op->n_out < 2 || !prt_value_used(&op->out[1]);
    case PRT_OP_reshape:
    case PRT_OP_flatten:
    case PRT_OP_transpose:
    case PRT_OP_squeeze:
    case PRT_OP_unsqueeze:
        return true;
    default:
        return false;
    }
}

/* Adds a QuantizeLinear of x with the parameters of `root`; it may become a table later. */
static prt_value *quantize_like(prt_build *b, const prt_op *root, prt_value *x)
{
    prt_value *in[3] = { x, prt_op_input(root, 1), prt_op_input(root, 2) };
    return prt_build_op(b, PRT_OP_quantize_linear, root->attrs, 3, in);
}

static bool fuse_move(prt_build *b, prt_op *root, prt_op *op)
{
    prt_op *d = op != NULL && moves_elements(op) ? dequantized(op, 0) : NULL;
    prt_value *in[2] = { NULL, NULL };
    if (d == NULL || op->n_in > 2 || !is_ordinary(d) || !is_ordinary(root))
        return false;
    in[0] = prt_op_input(d, 0);
    in[1] = prt_op_input(op, 1);
    prt_value *y = prt_build_op(b, op->def->id, op->attrs, op->n_in, in);
    if (y == NULL || same_quantization(d, root))
        return finish(b, root, y);
    prt_value *of[3] = { y, prt_op_input(d, 1), prt_op_input(d, 2) };
    y = prt_build_op(b, PRT_OP_dequantize_linear, d->attrs, 3, of);
    return finish(b, root, y != NULL ? quantize_like(b, root, y) : NULL);
}

/* Quantises the inputs of a Concat instead of its result. */
static bool fuse_concat(prt_build *b, prt_op *root, prt_op *op)
{
    prt_value *in[MAX_CONCAT_INPUTS];
    if (op->def->id != PRT_OP_concat || op->n_in > MAX_CONCAT_INPUTS || !is_ordinary(root))
        return false;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_op *d = dequantized(op, i);
        if (d == NULL || !is_ordinary(d))
            return false;
    }
    for (uint32_t i = 0; i < op->n_in; i++)
        if ((in[i] = quantize_like(b, root, prt_op_input(op, i))) == NULL)
            return false;
    return finish(b, root, prt_build_op(b, PRT_OP_concat, op->attrs, op->n_in, in));
}

static bool fuse_binary(prt_build *b, prt_op *root, prt_op *op)
{
    const bool add = prt_op_is(op, PRT_OP_add), mul = prt_op_is(op, PRT_OP_mul);
    const prt_op *l = add || mul ? dequantized(op, 0) : NULL;
    const prt_op *r = l != NULL ? dequantized(op, 1) : NULL;
    if (r == NULL)
        return false;
    prt_value *in[8] = { prt_op_input(l, 0), prt_op_input(l, 1), prt_op_input(l, 2),
        prt_op_input(r, 0), prt_op_input(r, 1), prt_op_input(r, 2), prt_op_input(root, 1),
        prt_op_input(root, 2) };
    return finish(b, root,
        prt_build_op(b, add ? PRT_OP_quantized_add : PRT_OP_quantized_mul, NULL, 8, in));
}

/* ---- products */

/* Multiplies the rows of `x` by the matrix in `q`, in which all but `form` is set. `transposed`:
 * the matrix is [n, k]. */
static bool multiply(prt_pass *p, prt_build *b, prt_op *root, prt_qconv *q, prt_value *x,
    bool transposed)
{
    const prt_type *t = x->type, *y = root->out[0].type;
    int64_t dims[3] = { 1, 1, 1 };
    uint32_t open = 0;
    if (!prt_type_is_tensor(t) || t->rank < 2 || !prt_type_is_tensor(y) || y->rank != t->rank ||
        q->weights.rank != 2 || prt_tensor_count(&q->weights) == 0)
        return false;
    for (int32_t i = 0; i + 1 < t->rank; i++) {
        open += !prt_dim_is_number(t->dims[i]);
        if (t->dims[i] == 0)
            return false;
        dims[1] = open != 0 ? PRT_DIM_UNKNOWN : dims[1] * t->dims[i];
    }
    const size_t k = (size_t)q->weights.dims[transposed], n = (size_t)q->weights.dims[!transposed];
    if (open > 1 || t->dims[t->rank - 1] != (int64_t)k || y->dims[y->rank - 1] != (int64_t)n)
        return false;
    static const int64_t one[1] = { 1 };
    const prt_i64s kernel = { .data = one, .count = 1 };
    q->layout = (prt_nhwc_weights){ .algorithm = PRT_NHWC_panels,
        .group = 1,
        .channels = k,
        .filters = n,
        .taps = 1 };
    q->by_filter = transposed ? k : 1;
    q->by_channel = transposed ? 1 : n;
    q->attrs = PRT_ATTRS_OF(nhwc_qconv);
    PRT_ATTR_SET(q->attrs, nhwc_qconv, kernel_shape, kernel);
    dims[2] = (int64_t)k;
    prt_value *in[6], *v;
    if (!prt_qconv_pack(p, b, q, in))
        return false;
    in[0] = prt_to_nhwc_reshape(b, x, 3, dims);
    v = in[0] != NULL ? prt_qconv_build(b, q, in) : NULL;
    (void)finish(b, root, v != NULL ? prt_to_nhwc_reshape(b, v, (uint32_t)y->rank, y->dims) : NULL);
    return true;
}

static bool apply_matmul(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_qconv q = { .w = NULL };
    prt_value *in[8] = { NULL };
    for (uint32_t i = 0; i < 7; i++)
        in[i] = prt_op_input(root, i + 1);
    return prt_qconv_read(in, &q) && multiply(p, b, root, &q, prt_op_input(root, 0), false);
}

static bool fuse_gemm(prt_pass *p, prt_build *b, prt_op *root, prt_op *op)
{
    const prt_gemm_attrs *a = op->attrs;
    prt_qconv q = { .w = NULL };
    prt_value *bias;
    if (!prt_op_is(op, PRT_OP_gemm) || a->transA != 0 || a->alpha != 1.0f || a->beta != 1.0f)
        return false;
    const prt_op *x = prt_quantized_side(op, 0, -1);
    const prt_op *w = prt_quantized_side(op, 1, a->transB != 0 ? 0 : 1);
    if (x == NULL || w == NULL || !prt_quantized_bias(op, x, w, &bias))
        return false;
    prt_value *in[8] = { prt_op_input(x, 1), prt_op_input(x, 2), prt_op_input(w, 0),
        prt_op_input(w, 1), prt_op_input(w, 2), prt_op_input(root, 1), prt_op_input(root, 2),
        bias };
    return prt_qconv_read(in, &q) && multiply(p, b, root, &q, prt_op_input(x, 0), a->transB != 0);
}

static bool apply_quantize(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_quantize_linear_attrs *q = root->attrs;
    const prt_value *x = prt_op_input(root, 0);
    if (q->block_size != 0 || q->precision != 0 || !has_one(root, 1) ||
        !prt_type_is_tensor(x->type) || x->type->dtype != PRT_DTYPE_f32 || x->def == NULL)
        return false;
    const prt_op *d = dequantized(root, 0);
    if (d != NULL && same_quantization(d, root) && is_ordinary(d))
        return prt_pass_replace(b, &root->out[0], prt_op_input(d, 0));
    if (prt_quantized_table(b, root))
        return true;
    prt_op *op = prt_match_interior(root, 0, x->def->def != NULL ? x->def->def->id : PRT_OP_COUNT);
    return op != NULL &&
        (fuse_binary(b, root, op) || fuse_gemm(p, b, root, op) || fuse_move(b, root, op) ||
            fuse_concat(b, root, op));
}

#ifndef PRT_NO_MICROSOFT
/* ---- operators of com.microsoft */

/* Returns the zero point at `slot`; if it is absent, 0 of the type of input `like`. */
static prt_value *zero_or_default(prt_build *b, const prt_op *op, uint32_t slot, uint32_t like)
{
    prt_value *v = prt_op_input(op, slot);
    return v != NULL ? v : prt_build_scalar(b, prt_op_input(op, like)->type->dtype, 0);
}

static bool apply_ms_add(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    prt_value *in[8];
    if (!prt_quantized_byte(prt_op_input(root, 0)) || !prt_quantized_byte(prt_op_input(root, 3)))
        return false;
    for (uint32_t i = 0; i < 7; i++)
        in[i] = prt_op_input(root, i);
    in[2] = zero_or_default(b, root, 2, 0);
    in[5] = zero_or_default(b, root, 5, 3);
    in[7] = zero_or_default(b, root, 7, 0);
    return finish(b, root, prt_build_op(b, PRT_OP_quantized_add, NULL, 8, in));
}

static bool apply_ms_gemm(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_ms_qgemm_attrs *a = root->attrs;
    prt_qconv q = { .w = NULL };
    if (a->transA != 0 || a->alpha != 1.0f || prt_op_input(root, 8) == NULL)
        return false;
    prt_value *in[8] = { prt_op_input(root, 1), prt_op_input(root, 2), prt_op_input(root, 3),
        prt_op_input(root, 4), prt_op_input(root, 5), prt_op_input(root, 7), prt_op_input(root, 8),
        prt_op_input(root, 6) };
    return prt_qconv_read(in, &q) &&
        multiply(p, b, root, &q, prt_op_input(root, 0), a->transB != 0);
}

static bool apply_ms_average(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_ms_qlinear_global_average_pool_attrs *a = root->attrs;
    prt_value *in[3] = { prt_op_input(root, 0), prt_op_input(root, 1), prt_op_input(root, 2) };
    prt_value *out[3] = { NULL, prt_op_input(root, 3), prt_op_input(root, 4) };
    (void)p;
    if (a->channels_last != 0 || !prt_quantized_byte(in[0]) || !has_one(root, 1) ||
        !has_one(root, 3))
        return false;
    prt_value *x = prt_build_op(b, PRT_OP_dequantize_linear, NULL, 3, in);
    out[0] = x != NULL ? prt_build_op(b, PRT_OP_global_average_pool, NULL, 1, &x) : NULL;
    return finish(b, root,
        out[0] != NULL ? prt_build_op(b, PRT_OP_quantize_linear, NULL, 3, out) : NULL);
}
#endif

static const prt_rewrite rewrites[] = {
    { PRT_OP_quantize_linear, apply_quantize },
    { PRT_OP_qlinear_matmul, apply_matmul },
#ifndef PRT_NO_MICROSOFT
    { PRT_OP_ms_qlinear_add, apply_ms_add },
    { PRT_OP_ms_qgemm, apply_ms_gemm },
    { PRT_OP_ms_qlinear_global_average_pool, apply_ms_average },
#endif
};

const prt_pass_hooks prt_pass_fuse_bytes = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
