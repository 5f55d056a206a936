/* SPDX-License-Identifier: MIT */
/* n_bits.c — packed weights of 2, 4 or 8 bits, and MatMulNBits. */
#include "op/microsoft/n_bits.h"

static int64_t ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static poprt_status check_attrs(const prt_infer *c, const prt_n_bits_params *f)
{
    if (f->n < 1 || f->n > INT32_MAX || f->k < 1 || f->k > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "N and K are %lld and %lld; accepted: 1 to %d",
            (long long)f->n, (long long)f->k, INT32_MAX);
    if (f->bits != 2 && f->bits != 4 && f->bits != 8)
        return prt_infer_fail(c, POPRT_E_ARG, "bits is %lld; accepted: 2, 4, 8",
            (long long)f->bits);
    if (f->block < 16 || f->block > INT32_MAX || (f->block & (f->block - 1)) != 0)
        return prt_infer_fail(c, POPRT_E_ARG,
            "block_size is %lld; a power of two from 16 on is needed", (long long)f->block);
    return POPRT_OK;
}

poprt_status prt_n_bits_check(const prt_infer *c, const prt_n_bits_params *f)
{
    PRT_TRY(check_attrs(c, f));
    const int64_t blocks = ceil_div(f->k, f->block);
    PRT_TRY(prt_check_count(c, f->weights, f->n * blocks * (f->block * f->bits / 8)));
    PRT_TRY(prt_check_count(c, f->scales, f->n * blocks));
    if (prt_infer_has(c, f->zeros) && c->in[f->zeros].dtype != PRT_DTYPE_undefined) {
        const bool packed = c->in[f->zeros].dtype == PRT_DTYPE_u8;
        PRT_TRY(
            prt_check_count(c, f->zeros, f->n * (packed ? ceil_div(blocks * f->bits, 8) : blocks)));
    }
    if (prt_infer_ranked(c, f->groups) && c->in[f->groups].rank != 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "g_idx has rank %d; 1 is needed",
            c->in[f->groups].rank);
    const int64_t groups = prt_infer_dim(c, f->groups, 0);
    if (prt_dim_is_number(groups) && groups != f->k && groups != blocks * f->block)
        return prt_infer_fail(c, POPRT_E_SHAPE, "g_idx has %lld elements; %lld are needed",
            (long long)groups, (long long)f->k);
    return prt_infer_vector(c, f->bias, f->n);
}

poprt_status prt_n_bits_init(const prt_eval *c, const prt_n_bits_params *f, prt_n_bits *w)
{
    *w = (prt_n_bits){ .k = (size_t)f->k,
        .block = (size_t)f->block,
        .bits = (uint32_t)f->bits,
        .blocks = (size_t)ceil_div(f->k, f->block),
        .data = c->in[f->weights]->data,
        .scales = c->in[f->scales],
        .zeros = prt_eval_has(c, f->zeros) ? c->in[f->zeros] : NULL,
        .groups = prt_eval_has(c, f->groups) ? c->in[f->groups] : NULL };
    w->row = w->blocks * (w->block * w->bits / 8);
    for (size_t i = 0; w->groups != NULL && i < w->k; i++) {
        const int64_t group = prt_load_i64(w->groups->dtype, w->groups->data, i);
        if (group < 0 || (size_t)group >= w->blocks)
            return prt_eval_fail(c, POPRT_E_ARG, "g_idx has block %lld; there are %zu blocks",
                (long long)group, w->blocks);
    }
    return POPRT_OK;
}

static double zero_of(const prt_n_bits *w, size_t row, size_t block)
{
    const prt_tensor *z = w->zeros;
    if (z == NULL)
        return (double)(1u << (w->bits - 1));
    if (z->dtype != PRT_DTYPE_u8)
        return prt_load_f64(z->dtype, z->data, row * w->blocks + block);
    const size_t bytes = (w->blocks * w->bits + 7) / 8;
    return prt_packed_load(w->bits, (const uint8_t *)z->data + row * bytes, block);
}

void prt_n_bits_column(const void *user, size_t column, double *to, size_t step)
{
    const prt_n_bits *w = user;
    const uint8_t *data = w->data + column * w->row;
    const size_t row = w->first + column;
    size_t last = SIZE_MAX;
    double scale = 0, zero = 0;
    for (size_t k = 0; k < w->k; k++) {
        const size_t block = w->groups != NULL
            ? (size_t)prt_load_i64(w->groups->dtype, w->groups->data, k)
            : k / w->block;
        if (block != last) {
            scale = prt_load_f64(w->scales->dtype, w->scales->data, row * w->blocks + block);
            zero = zero_of(w, w->first_zero + column, block);
            last = block;
        }
        to[k * step] = ((double)prt_packed_load(w->bits, data, k) - zero) * scale;
    }
}

/* ---- MatMulNBits ---- */

static prt_n_bits_params params_of(const prt_ms_matmul_n_bits_attrs *a)
{
    return (prt_n_bits_params){ .n = a->N,
        .k = a->K,
        .bits = a->bits,
        .block = a->block_size,
        .weights = 1,
        .scales = 2,
        .zeros = 3,
        .groups = 4,
        .bias = 5 };
}

static poprt_status infer(prt_infer *c)
{
    const prt_ms_matmul_n_bits_attrs *a = c->attrs;
    const prt_n_bits_params params = params_of(a);
    if (a->weight_prepacked != 0)
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED,
            "weight_prepacked is %lld: weights packed for a device are not supported",
            (long long)a->weight_prepacked);
    PRT_TRY(prt_n_bits_check(c, &params));
    return prt_unpacked_matmul_infer(c, 0, a->N, a->K);
}

static poprt_status eval(prt_eval *c)
{
    const prt_n_bits_params params = params_of(c->attrs);
    const double *bias;
    prt_n_bits bits;
    PRT_TRY(prt_n_bits_init(c, &params, &bits));
    if (!prt_load_reals(c, params.bias, &bias))
        return POPRT_E_NOMEM;
    const prt_unpacked_matmul w = { .n = (size_t)params.n,
        .k = (size_t)params.k,
        .column = prt_n_bits_column,
        .user = &bits };
    return prt_unpacked_matmul_run(c, &w, c->in[0], bias, c->out[0]);
}

const prt_op_hooks prt_op_ms_matmul_n_bits = { .infer = infer, .eval = eval };
