/* SPDX-License-Identifier: MIT */
/*
 * quantized_linear.c — fuse_quantized_linear: replaces products of 8-bit integers with constant
 * weights and float results by one operator with packed weights:
 *
 *     MatMulInteger, Cast to float32, Mul by a scale        QuantizedLinear
 *     MatMulIntegerToFloat                                  Mul of the scales, QuantizedLinear
 *     DynamicQuantizeMatMul                                 DynamicQuantizeLinear, the same
 *
 * Requires one zero point for the data and a scale that is one number or one for each column. Both
 * may be computed in each run. The inner results have one reader.
 *
 * If weights minus their zero point z do not fit into int8, a part of z stays out of the packed
 * weights. Then z times the sum of each row of the data is subtracted from the result.
 */
#include "kern/int8/dot.h"
#include "op/internal/nhwc.h"
#include "pass/fuse/quantized.h"
#include "pass/engine/match.h"

/* Returns whether the value is a float32 vector of `columns` elements, or (`one`) a single
 * number. */
static bool is_by_column(const prt_value *v, int64_t columns, bool one)
{
    return prt_match_is_f32(v) &&
        ((one && prt_quantized_one(v)) || (v->type->rank == 1 && v->type->dims[0] == columns));
}

typedef struct product {
    const prt_op *op;
    uint32_t a_zero, b_zero; /* indices of the inputs; inputs 0 and 1 are A and B */
    prt_tensor b, b_zeros;
    size_t zeros; /* number of zero points of B; 0: no such input */
    prt_nhwc_weights layout;
    bool separate_zeros; /* the weights contain only `middle`, not the zero points */
    int middle;
} product;

static bool match_operands(product *m)
{
    const prt_value *a = prt_op_input(m->op, 0), *zero = prt_op_input(m->op, m->a_zero);
    if (!prt_match_constant(m->op, 1, &m->b) || !prt_quantized_byte(prt_op_input(m->op, 1)) ||
        m->b.rank != 2 || prt_tensor_count(&m->b) == 0 || !prt_type_is_tensor(a->type) ||
        a->type->rank < 1 || (zero != NULL && !prt_quantized_one(zero)))
        return false;
    m->layout = (prt_nhwc_weights){ .algorithm = PRT_NHWC_panels,
        .group = 1,
        .channels = (size_t)m->b.dims[0],
        .filters = (size_t)m->b.dims[1],
        .taps = 1 };
    if (prt_op_input(m->op, m->b_zero) == NULL)
        return true;
    if (!prt_match_constant(m->op, m->b_zero, &m->b_zeros) || m->b_zeros.rank > 1)
        return false;
    m->zeros = prt_tensor_count(&m->b_zeros);
    return m->zeros == 1 || m->zeros == m->layout.filters;
}

static int byte_at(const prt_tensor *t, size_t i)
{
    const uint8_t byte = ((const uint8_t *)t->data)[i];
    return t->dtype == PRT_DTYPE_i8 ? (int8_t)byte : byte;
}

static int zero_at(const product *m, size_t j)
{
    return m->zeros != 0 ? byte_at(&m->b_zeros, m->zeros != 1 ? j : 0) : 0;
}

/* Packs row k of B, columns [first, end) of one panel, and adds it to the sums. Returns false if a
 * weight does not fit into int8. */
static bool pack_row(const product *m, size_t k, size_t first, size_t end, int8_t *to,
    int32_t *sums)
{
    const size_t n = m->layout.filters;
    to += prt_nhwc_qconv_at(&m->layout, 0, first, k, 0);
    for (size_t j = first; j < end; j++, to += PRT_DOT_FOUR) {
        const int v = byte_at(&m->b, k * n + j) - (m->separate_zeros ? m->middle : zero_at(m, j));
        if (v < -128 || v > 127)
            return false;
        *to = (int8_t)v;
        sums[j] = (int32_t)((uint32_t)sums[j] + (uint32_t)v);
    }
    return true;
}

static bool pack_panels(const product *m, int8_t *to, int32_t *sums)
{
    const size_t n = m->layout.filters;
    for (size_t first = 0, end; first < n; first = end) {
        end = n - first < PRT_GEMM_PANEL ? n : first + PRT_GEMM_PANEL;
        for (size_t k = 0; k < m->layout.channels; k++)
            if (!pack_row(m, k, first, end, to, sums))
                return false;
    }
    return true;
}

/* Makes constants of the packed B and its column sums. Returns false if a failure is in `b`, or
 * without memory. */
static bool pack(prt_pass *p, prt_build *b, product *m, prt_value *to[2])
{
    prt_blob *bytes = NULL, *sums = NULL;
    size_t count;
    bool ok = prt_nhwc_qconv_size(&m->layout, &count) &&
        prt_blob_create(p->module->allocator, count, &bytes) == POPRT_OK &&
        prt_blob_create(p->module->allocator, m->layout.filters * sizeof(int32_t), &sums) ==
            POPRT_OK;
    m->middle = m->b.dtype == PRT_DTYPE_u8 ? 128 : 0;
    for (int i = 0; i < 2 && ok; i++) {
        m->separate_zeros = i != 0;
        memset(prt_blob_bytes(bytes), 0, count);
        memset(prt_blob_bytes(sums), 0, m->layout.filters * sizeof(int32_t));
        if (pack_panels(m, (int8_t *)prt_blob_bytes(bytes),
                (int32_t *)(void *)prt_blob_bytes(sums)))
            break;
    }
    if (!ok) {
        prt_blob_release(bytes);
        prt_blob_release(sums);
        return false;
    }
    const int64_t dims[2] = { (int64_t)count, (int64_t)m->layout.filters };
    prt_value *w = prt_op_input(m->op, 1);
    to[0] = prt_pass_derive(b->graph, w,
        prt_type_tensor(p->module->types, PRT_DTYPE_i8, 1, &dims[0]), bytes);
    to[1] = prt_pass_derive(b->graph, w,
        prt_type_tensor(p->module->types, PRT_DTYPE_i32, 1, &dims[1]), sums);
    return to[0] != NULL && to[1] != NULL;
}

/* Makes a constant of the parts of the zero points that the packed weights do not contain. */
static prt_value *separate_zero_points(prt_pass *p, prt_build *b, const product *m)
{
    const int64_t dim = (int64_t)m->zeros;
    float *z = PRT_NEW_N(p->arena, float, m->zeros);
    for (size_t j = 0; z != NULL && j < m->zeros; j++)
        z[j] = (float)(zero_at(m, j) - m->middle);
    if (z != NULL)
        return prt_build_tensor(b, PRT_DTYPE_f32, 1, &dim, z);
    b->status = POPRT_E_NOMEM;
    return NULL;
}

/* Subtracts the contribution of the separate zero points from y: (row sums of A minus its zero
 * point) times zero points times scale. */
static prt_value *subtract_zeros(prt_pass *p, prt_build *b, const product *m, prt_value *const *in,
    prt_value *y)
{
    prt_reduce_sum_attrs attrs = PRT_ATTRS_OF(reduce_sum);
    const int64_t last = in[0]->type->rank - 1;
    prt_value *rows[2] = { prt_match_add_cast(b, in[0], PRT_DTYPE_f32),
        prt_build_i64s(b, 1, &last) };
    prt_value *sums = prt_build_op(b, PRT_OP_reduce_sum, &attrs, 2, rows);
    prt_value *zero = prt_build_binary(b, PRT_OP_mul, prt_match_add_cast(b, in[1], PRT_DTYPE_f32),
        prt_build_scalar(b, PRT_DTYPE_f32, (double)m->layout.channels));
    sums = prt_build_binary(b, PRT_OP_sub, sums, zero);
    return prt_build_binary(b, PRT_OP_sub, y,
        prt_build_binary(b, PRT_OP_mul, sums,
            prt_build_binary(b, PRT_OP_mul, in[4], separate_zero_points(p, b, m))));
}

/* Replaces `root`. in: A, its zero point or NULL, two constants of B, scale, bias or NULL. */
static bool replace(prt_pass *p, prt_build *b, prt_op *root, const product *m, prt_value *in[6])
{
    prt_quantized_linear_attrs attrs = PRT_ATTRS_OF(quantized_linear);
    PRT_ATTR_SET(attrs, quantized_linear, columns, (int64_t)m->layout.filters);
    if (in[1] == NULL)
        in[1] = prt_build_scalar(b, in[0]->type->dtype, 0);
    prt_value *y = in[1] != NULL && in[4] != NULL
        ? prt_build_op(b, PRT_OP_quantized_linear, &attrs, in[5] != NULL ? 6 : 5, in)
        : NULL;
    if (y != NULL && m->separate_zeros)
        y = subtract_zeros(p, b, m, in, y);
    if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

static bool apply_mul(prt_pass *p, prt_build *b, prt_op *root)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        const prt_op *cast = prt_match_interior(root, slot, PRT_OP_cast);
        product m = { .op =
                          cast != NULL ? prt_match_interior(cast, 0, PRT_OP_matmul_integer) : NULL,
            .a_zero = 2,
            .b_zero = 3 };
        prt_value *scale = prt_op_input(root, 1 - slot);
        if (m.op == NULL || !prt_match_is_f32(&cast->out[0]) || !match_operands(&m) ||
            !is_by_column(scale, (int64_t)m.layout.filters, true))
            continue;
        prt_value *in[6] = { prt_op_input(m.op, 0), prt_op_input(m.op, 2), NULL, NULL, scale,
            NULL };
        return pack(p, b, &m, in + 2) ? replace(p, b, root, &m, in) : b->status != POPRT_OK;
    }
    return false;
}

#ifndef PRT_NO_MICROSOFT
/* Returns whether the scales of A (if it has one) and B and the bias (if any) have valid shapes. */
static bool check_scales(const product *m, const prt_value *a, const prt_value *b,
    const prt_value *bias)
{
    const int64_t n = (int64_t)m->layout.filters;
    return (a == NULL || is_by_column(a, 1, true)) && is_by_column(b, n, true) &&
        (bias == NULL || is_by_column(bias, n, false));
}

static prt_value *multiplied(prt_build *b, prt_value *x, prt_value *y)
{
    prt_value *in[2] = { x, y };
    return prt_build_op(b, PRT_OP_mul, NULL, 2, in);
}

static bool apply_to_float(prt_pass *p, prt_build *b, prt_op *root)
{
    product m = { .op = root, .a_zero = 4, .b_zero = 5 };
    prt_value *in[6] = { prt_op_input(root, 0), prt_op_input(root, 4), NULL, NULL, NULL,
        prt_op_input(root, 6) };
    if (!match_operands(&m) ||
        !check_scales(&m, prt_op_input(root, 2), prt_op_input(root, 3), in[5]))
        return false;
    if (!pack(p, b, &m, in + 2))
        return b->status != POPRT_OK;
    in[4] = multiplied(b, prt_op_input(root, 2), prt_op_input(root, 3));
    return replace(p, b, root, &m, in);
}

static bool apply_dynamic(prt_pass *p, prt_build *b, prt_op *root)
{
    product m = { .op = root,
        .a_zero = 5,
        .b_zero = 3 }; /* input 5 does not exist: no zero point of A */
    prt_value *x = prt_op_input(root, 0),
              *in[6] = { NULL, NULL, NULL, NULL, NULL, prt_op_input(root, 4) };
    if (!match_operands(&m) || !prt_match_is_f32(x) ||
        !check_scales(&m, NULL, prt_op_input(root, 2), in[5]))
        return false;
    if (!pack(p, b, &m, in + 2))
        return b->status != POPRT_OK;
    prt_op *q = prt_match_new(b, root, PRT_OP_dynamic_quantize_linear, NULL, 1, &x, 3);
    if (q == NULL)
        return true;
    in[0] = &q->out[0];
    in[1] = &q->out[2];
    in[4] = multiplied(b, &q->out[1], prt_op_input(root, 2));
    return replace(p, b, root, &m, in);
}
#endif

static const prt_rewrite rewrites[] = {
    { PRT_OP_mul, apply_mul },
#ifndef PRT_NO_MICROSOFT
    { PRT_OP_ms_matmul_integer_to_float, apply_to_float },
    { PRT_OP_ms_dynamic_quantize_matmul, apply_dynamic },
#endif
};

const prt_pass_hooks prt_pass_fuse_quantized_linear = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
