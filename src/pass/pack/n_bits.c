/* SPDX-License-Identifier: MIT */
/*
 * n_bits.c — pack_n_bits: converts products with constant low-bit integers and scales to
 * fused_linear. A session widens the panels as it reads them (kern/gemm/low_precision.h), so the
 * weights stay small.
 *
 *     MatMulNBits                                      with 2, 4 or 8 bits
 *     MatMul or Gemm whose right operand is a          with 2, 4 or 8 bits, with or without a
 *     DequantizeLinear of a constant matrix            Transpose; one scale, scales by column,
 *                                                      or by blocks along K
 *
 * Requires a float32 left operand. Runs before constant folding. With compute=model, accuracy_level
 * 4 of MatMulNBits allows quantising the left operand by blocks.
 */
#include <string.h>

#include "kern/int8/dot.h"
#include "kern/gemm/low_precision.h"
#include "op/words.h"
#include "pass/engine/choices.h"
#include "pass/engine/match.h"
#include "pass/pack/pack.h"

enum { ROUNDED = 4 }; /* accuracy_level that allows int8 */

/* A K by N matrix of low-bit integers; an element stands for (number - zero) * scale. */
typedef struct numbers {
    prt_tensor q, scale, zero; /* zero.data is NULL without zero points */
    size_t k, n, block, blocks;
    size_t row, column; /* strides of q: element (k, j) is at k * row + j * column */
    size_t scale_row, scale_column;
    size_t zero_row, zero_column; /* strides of the zero points */
    uint32_t bits;
    bool has_sign;
    bool rounds;   /* the left operand may be quantised to int8 */
    double absent; /* the zero point if there is none */
} numbers;

/* Returns the middle of an unsigned range, which is subtracted from the numbers; 0 for signed
 * numbers. */
static int middle(const numbers *w)
{
    return w->has_sign ? 0 : 1 << (w->bits - 1);
}

static int number_at(const numbers *w, const void *data, size_t index)
{
    const int raw = (int)prt_packed_load(w->bits, data, index), half = 1 << (w->bits - 1);
    return w->has_sign ? (raw ^ half) - half : raw;
}

static double zero_at(const numbers *w, size_t block, size_t j)
{
    const size_t at = block * w->zero_row + j * w->zero_column;
    if (w->zero.data == NULL)
        return w->absent;
    return prt_dtype_is_float(w->zero.dtype) ? prt_load_f64(w->zero.dtype, w->zero.data, at)
                                             : (double)number_at(w, w->zero.data, at);
}

/* Copies 4-bit numbers in words: in both layouts a word has eight consecutive rows of a column. */
static void pack_words(const numbers *w, size_t first, size_t columns, uint32_t *to)
{
    const size_t width = prt_gemm_width(columns);
    const uint8_t *from = (const uint8_t *)w->q.data + first * w->column / 2;
    for (size_t j = 0; j < columns; j++, from += w->column / 2)
        for (size_t k = 0; k < w->k; k += PRT_LOW_PRECISION_I4_ROWS) {
            uint32_t word;
            memcpy(&word, from + k / 2, sizeof(word));
            word ^= w->has_sign ? 0 : 0x88888888u;
            if (w->k - k < PRT_LOW_PRECISION_I4_ROWS)
                word &= (1u << 4 * (w->k - k)) - 1u;
            to[k / PRT_LOW_PRECISION_I4_ROWS * width + j] = word;
        }
}

static void pack_panel(const numbers *w, int kind, size_t first, size_t columns, uint8_t *to)
{
    const size_t width = prt_gemm_width(columns);
    const int shift = middle(w);
    for (size_t k = 0; k < w->k; k++)
        for (size_t j = 0; j < columns; j++) {
            const size_t at = prt_low_precision_at(kind, width, k, j);
            const int x = number_at(w, w->q.data, k * w->row + (first + j) * w->column) - shift;
            if (kind == PRT_LOW_PRECISION_i8)
                to[at] = (uint8_t)x;
            else
                to[at / 2] = (uint8_t)(to[at / 2] | (x & 15) << at % 2 * 4);
        }
}

static void pack_panels(const numbers *w, int kind, void *to)
{
    /* Words can be copied if each column of q begins at a word. */
    const bool words = w->bits == 4 && w->row == 1 && w->column % PRT_LOW_PRECISION_I4_ROWS == 0;
    for (size_t first = 0; first < w->n; first += PRT_GEMM_PANEL) {
        const size_t left = w->n - first, columns = left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL;
        char *panel =
            (char *)to + prt_low_precision_bytes(kind, first * prt_low_precision_rows(kind, w->k));
        if (words)
            pack_words(w, first, columns, (uint32_t *)(void *)panel);
        else
            pack_panel(w, kind, first, columns, (uint8_t *)panel);
    }
}

/* Writes panels of scales, a row for each block, and of offsets. Returns false if all offsets are
 * 0. */
static bool pack_scales(const numbers *w, float *scale, float *offset)
{
    bool some = false;
    for (size_t j = 0; j < w->n; j++) {
        const size_t first = j / PRT_GEMM_PANEL * PRT_GEMM_PANEL;
        const size_t width = prt_gemm_panel_width(w->n, first);
        for (size_t b = 0; b < w->blocks; b++) {
            const double s =
                prt_load_f64(w->scale.dtype, w->scale.data, b * w->scale_row + j * w->scale_column);
            const double zero = zero_at(w, b, j) - (double)middle(w);
            const size_t to = first * w->blocks + b * width + j - first;
            scale[to] = (float)s;
            offset[to] = (float)-(zero * s);
            some = some || zero != 0.0;
        }
    }
    return some;
}

/* Records where the integers and the scales, `old`, are. */
static poprt_status hold(const numbers *w, prt_value *const old[2], prt_value *const to[3])
{
    const int64_t k = (int64_t)w->k, n = (int64_t)w->n, blocks = (int64_t)w->blocks;
    const prt_weight_step integers = { .kind = PRT_WEIGHT_integers,
        .rank = 4,
        .dims = { k, n, (int64_t)w->row, (int64_t)w->column },
        .more = { w->bits, w->has_sign } };
    prt_weight_step scales[2] = {
        { .kind = PRT_WEIGHT_transpose, .rank = 2, .dims = { n, blocks }, .more = { 1, 0 } },
        { .kind = PRT_WEIGHT_panels, .rank = 4, .dims = { 1, blocks, n, 0 } }
    };
    const bool as_is = w->scale_column == 1; /* else the blocks of a column follow each other */
    if (w->scale_column == 0)                /* one scale of all columns */
        scales[0] = (prt_weight_step){ .kind = PRT_WEIGHT_part,
            .rank = 1,
            .dims = { n },
            .more = { 0, 0, 1 } };
    PRT_TRY(prt_value_hold(to[0], old[0], 1, &integers));
    return prt_value_hold(to[1], old[1], as_is ? 1 : 2, as_is ? scales + 1 : scales);
}

/* Makes constants of the panels, scales and offsets (NULL without offsets). Returns false without
 * memory. */
static bool pack(prt_pass *p, prt_build *b, const numbers *w, prt_value *const old[2],
    prt_value *to[3])
{
    const int kind = w->bits == 8 ? PRT_LOW_PRECISION_i8 : PRT_LOW_PRECISION_i4;
    const prt_allocator *a = p->module->allocator;
    prt_blob *blobs[3] = { NULL };
    const size_t width = prt_gemm_width(w->n);
    size_t count, scales;
    bool ok = prt_size_mul(prt_low_precision_rows(kind, w->k), width, &count) &&
        prt_size_mul(w->blocks * sizeof(float), width, &scales) &&
        prt_blob_create(a, prt_low_precision_bytes(kind, count), &blobs[0]) == POPRT_OK &&
        prt_blob_create(a, scales, &blobs[1]) == POPRT_OK &&
        prt_blob_create(a, scales, &blobs[2]) == POPRT_OK;
    if (!ok) {
        for (size_t i = 0; i < 3; i++)
            prt_blob_release(blobs[i]);
        return false;
    }
    pack_panels(w, kind, prt_blob_bytes(blobs[0]));
    const bool some =
        pack_scales(w, (void *)prt_blob_bytes(blobs[1]), (void *)prt_blob_bytes(blobs[2]));
    const int64_t size = (int64_t)count, by_size = (int64_t)(w->blocks * width);
    const prt_type *by = prt_type_tensor(p->module->types, PRT_DTYPE_f32, 1, &by_size);
    to[0] = prt_pass_derive(b->graph, old[0],
        prt_type_tensor(p->module->types,
            kind == PRT_LOW_PRECISION_i8 ? PRT_DTYPE_i8 : PRT_DTYPE_i4, 1, &size),
        blobs[0]);
    to[1] = prt_pass_derive(b->graph, old[0], by, blobs[1]);
    to[2] = NULL;
    if (some)
        to[2] = prt_pass_derive(b->graph, old[0], by, blobs[2]);
    else
        prt_blob_release(blobs[2]);
    return to[0] != NULL && to[1] != NULL && (to[2] != NULL || !some) &&
        hold(w, old, to) == POPRT_OK;
}

static bool replace(prt_pass *p, prt_build *b, prt_op *root, const numbers *w,
    prt_value *const old[2], prt_value *bias)
{
    prt_fused_linear_attrs attrs = PRT_ATTRS_OF(fused_linear);
    prt_value *packed[3];
    if (!pack(p, b, w, old, packed))
        return b->status != POPRT_OK;
    PRT_ATTR_SET(attrs, fused_linear, columns, (int64_t)w->n);
    PRT_ATTR_SET(attrs, fused_linear, block, (int64_t)w->block);
    if (w->rounds && w->bits != 8 && w->block <= PRT_DOT_DEPTH)
        PRT_ATTR_SET(attrs, fused_linear, compute, PRT_LINEAR_i8);
    prt_value *in[6] = { prt_op_input(root, 0), packed[0], bias, NULL, packed[1], packed[2] };
    prt_value *y = prt_build_op(b, PRT_OP_fused_linear, &attrs, packed[2] != NULL ? 6 : 5, in);
    prt_match_mark(b, y, root);
    if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

/* ---- MatMulNBits */

static bool in_order(const prt_op *op, const prt_ms_matmul_n_bits_attrs *a)
{
    prt_tensor groups;
    if (prt_op_input(op, 4) == NULL)
        return true;
    if (!prt_match_constant(op, 4, &groups))
        return false;
    for (int64_t k = 0; k < a->K; k++)
        if (prt_load_i64(groups.dtype, groups.data, (size_t)k) != k / a->block_size)
            return false;
    return true;
}

static bool apply_n_bits(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_ms_matmul_n_bits_attrs *a = root->attrs;
    const prt_value *x = prt_op_input(root, 0), *bias = prt_op_input(root, 5);
    numbers w = { .k = (size_t)a->K,
        .n = (size_t)a->N,
        .block = (size_t)a->block_size,
        .bits = (uint32_t)a->bits,
        .row = 1,
        .scale_row = 1,
        .zero_row = 1,
        .rounds =
            a->accuracy_level == ROUNDED && prt_pass_choice(p, "compute") == PRT_COMPUTE_model };
    if (!prt_match_is_f32(x) || x->type->rank < 1 || !prt_match_is_f32(&root->out[0]) ||
        !prt_match_constant(root, 1, &w.q) || !prt_match_constant(root, 2, &w.scale) ||
        (prt_op_input(root, 3) != NULL && !prt_match_constant(root, 3, &w.zero)) ||
        (bias != NULL && (!prt_match_is_f32(bias) || bias->type->rank != 1)) || !in_order(root, a))
        return false;
    w.blocks = (w.k - 1) / w.block + 1;
    w.column = w.blocks * w.block;
    w.scale_column = w.blocks;
    w.zero_column = w.zero.data != NULL && w.zero.dtype == PRT_DTYPE_u8
        ? (w.blocks * w.bits + 7) / 8 * 8 / w.bits
        : w.blocks;
    w.absent = (double)middle(&w);
    prt_value *const old[2] = { prt_op_input(root, 1), prt_op_input(root, 2) };
    return replace(p, b, root, &w, old, prt_op_input(root, 5));
}

/* ---- DequantizeLinear */

static bool bits_of(int32_t dtype, numbers *w)
{
    switch (dtype) {
    case PRT_DTYPE_i2:
    case PRT_DTYPE_i4:
    case PRT_DTYPE_i8:
    case PRT_DTYPE_u2:
    case PRT_DTYPE_u4:
    case PRT_DTYPE_u8:
        w->bits = prt_dtype_bits(dtype);
        w->has_sign = dtype == PRT_DTYPE_i2 || dtype == PRT_DTYPE_i4 || dtype == PRT_DTYPE_i8;
        return true;
    default:
        return false;
    }
}

/* Reads scales by blocks along K; `axis` is the axis of K in the constant. */
static bool read_scales(const prt_op *op, int64_t axis, numbers *w)
{
    const prt_dequantize_linear_attrs *a = op->attrs;
    const int64_t along = a->axis < 0 ? a->axis + 2 : a->axis;
    w->block = (w->k + PRT_LOW_PRECISION_I4_ROWS - 1) / PRT_LOW_PRECISION_I4_ROWS *
        PRT_LOW_PRECISION_I4_ROWS;
    w->blocks = 1;
    if (w->zero.data != NULL && prt_tensor_count(&w->zero) != prt_tensor_count(&w->scale))
        return false;
    if (a->block_size != 0) {
        if (along != axis || a->block_size < 0 || a->block_size % PRT_LOW_PRECISION_I4_ROWS != 0)
            return false;
        w->block = (size_t)a->block_size;
        w->blocks = prt_low_precision_blocks(w->block, w->k);
        if (w->scale.rank != 2 || (size_t)w->scale.dims[axis] != w->blocks ||
            (size_t)w->scale.dims[!axis] != w->n)
            return false;
        w->scale_row = axis == 0 ? w->n : 1;
        w->scale_column = axis == 0 ? 1 : w->blocks;
    } else if (prt_tensor_count(&w->scale) != 1) {
        if (along == axis || prt_tensor_count(&w->scale) != w->n)
            return false;
        w->scale_column = 1;
    }
    w->zero_row = w->scale_row;
    w->zero_column = w->scale_column;
    return true;
}

static bool read_right(const prt_op *root, bool transposed, numbers *w, const prt_op **op)
{
    const prt_op *transpose = prt_match_interior(root, 1, PRT_OP_transpose);
    *op = prt_match_interior(transpose != NULL ? transpose : root, transpose != NULL ? 0 : 1,
        PRT_OP_dequantize_linear);
    if (*op == NULL || !prt_match_is_f32(&(*op)->out[0]) || !prt_match_constant(*op, 0, &w->q) ||
        w->q.rank != 2 || !bits_of(w->q.dtype, w) ||
        prt_tensor_count(&w->q) < PRT_PACK_MIN_ELEMENTS || !prt_match_constant(*op, 1, &w->scale) ||
        w->scale.dtype == PRT_DTYPE_f8e8m0 ||
        (prt_op_input(*op, 2) != NULL && !prt_match_constant(*op, 2, &w->zero)))
        return false;
    if (transpose != NULL) { /* a Transpose of a matrix swaps the axes or keeps them */
        const prt_transpose_attrs *t = transpose->attrs;
        transposed ^= t->perm.count != 2 || t->perm.data[0] != 0;
    }
    w->k = (size_t)w->q.dims[transposed];
    w->n = (size_t)w->q.dims[!transposed];
    w->row = transposed ? 1 : w->n;
    w->column = transposed ? w->k : 1;
    return read_scales(*op, transposed, w);
}

static bool replace_dequantized(prt_pass *p, prt_build *b, prt_op *root, const numbers *w,
    const prt_op *op, prt_value *bias)
{
    prt_value *const old[2] = { prt_op_input(op, 0), prt_op_input(op, 1) };
    return replace(p, b, root, w, old, bias);
}

static bool apply_matmul(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_value *x = prt_op_input(root, 0);
    const prt_op *op;
    numbers w = { .k = 0 };
    return prt_match_is_f32(x) && x->type->rank >= 2 && read_right(root, false, &w, &op) &&
        replace_dequantized(p, b, root, &w, op, NULL);
}

static bool apply_gemm(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_gemm_attrs *a = root->attrs;
    prt_value *bias = prt_op_input(root, 2);
    const prt_op *op;
    numbers w = { .k = 0 };
    return prt_match_is_f32(prt_op_input(root, 0)) && a->transA == 0 && a->alpha == 1.0f &&
        a->beta == 1.0f && read_right(root, a->transB != 0, &w, &op) &&
        (bias == NULL ||
            (prt_match_is_f32(bias) && bias->type->rank == 1 &&
                bias->type->dims[0] == (int64_t)w.n)) &&
        replace_dequantized(p, b, root, &w, op, bias);
}

static const prt_rewrite rewrites[] = { { PRT_OP_ms_matmul_n_bits, apply_n_bits },
    { PRT_OP_matmul, apply_matmul }, { PRT_OP_gemm, apply_gemm } };

const prt_pass_hooks prt_pass_pack_n_bits = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
