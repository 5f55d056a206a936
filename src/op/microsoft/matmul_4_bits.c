/* SPDX-License-Identifier: MIT */
/*
 * matmul_4_bits.c — MatMulBnb4 and MatMulFpQ4: 4-bit weights that index a table, or integers in
 * blobs that include their scale.
 */
#include "op/microsoft/unpacked_matmul.h"

/* ---- MatMulBnb4 ---- */

/* Tables of bitsandbytes: FP4, a float with two exponent bits, and NF4, quantiles of the normal
   distribution. Values are in [-1, 1]; each block is scaled by its largest magnitude. */
static const float fp4[16] = { 0.0f, 0.0052083335f, 0.6666667f, 1.0f, 0.33333334f, 0.5f,
    0.16666667f, 0.25f, 0.0f, -0.0052083335f, -0.6666667f, -1.0f, -0.33333334f, -0.5f, -0.16666667f,
    -0.25f };
static const float nf4[16] = { -1.0f, -0.6961928f, -0.52507305f, -0.3949175f, -0.28444138f,
    -0.18477343f, -0.091050036f, 0.0f, 0.0795803f, 0.1609302f, 0.2461123f, 0.33791524f, 0.44070983f,
    0.562617f, 0.72295684f, 1.0f };

typedef struct bnb {
    const float *table;
    const uint8_t *data;
    const prt_tensor *most; /* largest magnitude of each block of the flattened weights */
    size_t n, k, block;
    bool transposed; /* columns of the product are columns of B, not rows */
} bnb;

static poprt_status infer_bnb(prt_infer *c)
{
    const prt_ms_matmul_bnb4_attrs *a = c->attrs;
    if (a->N < 1 || a->N > INT32_MAX || a->K < 1 || a->K > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "N and K are %lld and %lld; accepted: 1 to %d",
            (long long)a->N, (long long)a->K, INT32_MAX);
    if (a->quant_type != 0 && a->quant_type != 1)
        return prt_infer_fail(c, POPRT_E_ARG, "quant_type is %lld; accepted: 0 (FP4), 1 (NF4)",
            (long long)a->quant_type);
    if (a->block_size < 16 || (a->block_size & (a->block_size - 1)) != 0)
        return prt_infer_fail(c, POPRT_E_ARG,
            "block_size is %lld; a power of two from 16 on is needed", (long long)a->block_size);
    const int64_t count = a->N * a->K;
    PRT_TRY(prt_check_count(c, 1, (count + 1) / 2));
    PRT_TRY(prt_check_count(c, 2, (count - 1) / a->block_size + 1));
    return a->transB != 0 ? prt_unpacked_matmul_infer(c, 0, a->N, a->K)
                          : prt_unpacked_matmul_infer(c, 0, a->K, a->N);
}

/* Unpacks a column; the high half of a byte comes first. */
static void bnb_column(const void *user, size_t column, double *to, size_t step)
{
    const bnb *w = user;
    const size_t count = w->transposed ? w->n : w->k;
    for (size_t i = 0; i < count; i++) {
        const size_t at = w->transposed ? i * w->k + column : column * w->k + i;
        const uint32_t bits = at % 2 == 0 ? w->data[at / 2] >> 4 : w->data[at / 2] & 15u;
        to[i * step] =
            (double)w->table[bits] * prt_load_f64(w->most->dtype, w->most->data, at / w->block);
    }
}

static poprt_status eval_bnb(prt_eval *c)
{
    const prt_ms_matmul_bnb4_attrs *a = c->attrs;
    const bnb b = { .table = a->quant_type == 0 ? fp4 : nf4,
        .data = c->in[1]->data,
        .most = c->in[2],
        .n = (size_t)a->N,
        .k = (size_t)a->K,
        .block = (size_t)a->block_size,
        .transposed = a->transB == 0 };
    const prt_unpacked_matmul w = { .n = b.transposed ? b.k : b.n,
        .k = b.transposed ? b.n : b.k,
        .column = bnb_column,
        .user = &b };
    return prt_unpacked_matmul_run(c, &w, c->in[0], NULL, c->out[0]);
}

const prt_op_hooks prt_op_ms_matmul_bnb4 = { .infer = infer_bnb, .eval = eval_bnb };

/* ---- MatMulFpQ4 ----
 *
 * Each column is a list of blocks of 32 weights: a float scale; with quantisation type 1 a byte
 * with the zero point (otherwise it is 8); and 16 bytes. Byte i holds weight i in its low half and
 * weight i + 16 in its high half. The last block of a column is padded to full size.
 */
enum { BLOCK = 32, SCALE_SIZE = 4 };

typedef struct blob {
    const uint8_t *data;
    size_t k, blocks, size; /* size: bytes of a block */
} blob;

static poprt_status infer_blob(prt_infer *c)
{
    const prt_ms_matmul_fp_q4_attrs *a = c->attrs;
    const int64_t size = a->blk_quant_type == 0 ? SCALE_SIZE + 16 : SCALE_SIZE + 17;
    int64_t shape[2];
    uint32_t count;
    if (a->blk_quant_type != 0 && a->blk_quant_type != 1)
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED,
            "blk_quant_type is %lld; accepted: 0 and 1, blocks of 32",
            (long long)a->blk_quant_type);
    PRT_TRY(prt_check_count(c, 2, 2));
    if (!prt_infer_ints(c, 2, shape, 2, &count) || count != 2 || !prt_dim_is_number(shape[0]) ||
        !prt_dim_is_number(shape[1]))
        return prt_unpacked_matmul_infer(c, 0, PRT_DIM_UNKNOWN, PRT_DIM_UNKNOWN);
    for (uint32_t i = 0; i < 2; i++)
        if (shape[i] < 1 || shape[i] > INT32_MAX)
            return prt_infer_fail(c, POPRT_E_SHAPE, "B_shape has %lld; positive sizes are needed",
                (long long)shape[i]);
    PRT_TRY(prt_check_count(c, 1, (shape[0] + BLOCK - 1) / BLOCK * shape[1] * size));
    return prt_unpacked_matmul_infer(c, 0, shape[1], shape[0]);
}

static void blob_column(const void *user, size_t column, double *to, size_t step)
{
    const blob *w = user;
    for (size_t b = 0; b < w->blocks; b++) {
        const uint8_t *block = w->data + (column * w->blocks + b) * w->size;
        const uint8_t *bits = block + w->size - BLOCK / 2;
        const double zero = w->size == SCALE_SIZE + 17 ? (double)block[SCALE_SIZE] : 8;
        const size_t left = w->k - b * BLOCK, count = left < BLOCK ? left : BLOCK;
        float scale;
        memcpy(&scale, block, sizeof(scale));
        for (size_t i = 0; i < count; i++) {
            const uint32_t value = i < BLOCK / 2 ? bits[i] & 15u : bits[i - BLOCK / 2] >> 4;
            to[(b * BLOCK + i) * step] = ((double)value - zero) * (double)scale;
        }
    }
}

static poprt_status eval_blob(prt_eval *c)
{
    const prt_ms_matmul_fp_q4_attrs *a = c->attrs;
    const size_t k = (size_t)prt_load_i64(PRT_DTYPE_i64, c->in[2]->data, 0);
    const size_t n = (size_t)prt_load_i64(PRT_DTYPE_i64, c->in[2]->data, 1);
    const blob b = { .data = c->in[1]->data,
        .k = k,
        .blocks = (k + BLOCK - 1) / BLOCK,
        .size = a->blk_quant_type == 0 ? SCALE_SIZE + 16 : SCALE_SIZE + 17 };
    const prt_unpacked_matmul w = { .n = n, .k = k, .column = blob_column, .user = &b };
    return prt_unpacked_matmul_run(c, &w, c->in[0], NULL, c->out[0]);
}

const prt_op_hooks prt_op_ms_matmul_fp_q4 = { .infer = infer_blob, .eval = eval_blob };
