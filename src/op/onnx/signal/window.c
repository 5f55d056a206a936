/* SPDX-License-Identifier: MIT */
/* window.c — HannWindow, HammingWindow, BlackmanWindow and MelWeightMatrix. */
#include <math.h>

#include "op/check.h"
#include "op/op.h"

static const double TWO_PI = 6.28318530717958647692;

static poprt_status infer_window(prt_infer *c, int64_t dtype)
{
    int64_t size;
    PRT_TRY(prt_infer_dtype_attr(c, "output_datatype", PRT_T_NUM, dtype));
    PRT_TRY(prt_infer_scalar(c, 0, &size));
    return prt_infer_set(c, 0, (int32_t)dtype, 1, &size);
}

/* Computes a0 - a1 cos(t) + a2 cos(2t); t runs from 0 to 2 pi, divided by the size (periodic) or
 * by the size less one (symmetric). */
static poprt_status eval_window(prt_eval *c, bool periodic, double a0, double a1, double a2)
{
    const int64_t size = prt_load_i64(c->in[0]->dtype, c->in[0]->data, 0);
    if (size < 0)
        return prt_eval_fail(c, POPRT_E_SHAPE, "the size is %lld; it must be at least 0",
            (long long)size);
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_tensor *y = c->out[0];
    PRT_TRY(prt_eval_shape(c, 0, y->dtype, 1, &size));
    const size_t n = prt_tensor_count(y);
    const double steps = periodic || n < 2 ? (double)n : (double)(n - 1);
    for (size_t i = 0; i < n; i++) {
        const double t = TWO_PI * (double)i / steps;
        prt_store_f64(y->dtype, y->data, i, a0 - a1 * cos(t) + a2 * cos(2 * t));
    }
    return POPRT_OK;
}

static poprt_status hann_infer(prt_infer *c)
{
    return infer_window(c, ((const prt_hann_window_attrs *)c->attrs)->output_datatype);
}

static poprt_status hann_eval(prt_eval *c)
{
    return eval_window(c, ((const prt_hann_window_attrs *)c->attrs)->periodic != 0, 0.5, 0.5, 0);
}

static poprt_status hamming_infer(prt_infer *c)
{
    return infer_window(c, ((const prt_hamming_window_attrs *)c->attrs)->output_datatype);
}

static poprt_status hamming_eval(prt_eval *c)
{
    return eval_window(c, ((const prt_hamming_window_attrs *)c->attrs)->periodic != 0, 25.0 / 46,
        21.0 / 46, 0);
}

static poprt_status blackman_infer(prt_infer *c)
{
    return infer_window(c, ((const prt_blackman_window_attrs *)c->attrs)->output_datatype);
}

static poprt_status blackman_eval(prt_eval *c)
{
    return eval_window(c, ((const prt_blackman_window_attrs *)c->attrs)->periodic != 0, 0.42, 0.5,
        0.08);
}

/* ---- MelWeightMatrix: one triangle filter over the spectrum for each mel band ---- */

static poprt_status mel_infer(prt_infer *c)
{
    const prt_mel_weight_matrix_attrs *a = c->attrs;
    int64_t dims[2], length;
    PRT_TRY(prt_infer_dtype_attr(c, "output_datatype", PRT_T_NUM, a->output_datatype));
    PRT_TRY(prt_infer_scalar(c, 0, &dims[1]));
    PRT_TRY(prt_infer_scalar(c, 1, &length));
    if (prt_dim_is_number(length) && length < 0)
        return prt_infer_fail(c, POPRT_E_ARG, "dft_length is %lld; it must be at least 0",
            (long long)length);
    dims[0] = prt_dim_add(c->dims, prt_dim_floordiv(c->dims, length, 2), 1);
    return prt_infer_set(c, 0, (int32_t)a->output_datatype, 2, dims);
}

static poprt_status read_scalar(prt_eval *c, uint32_t i, double *to)
{
    if (prt_tensor_count(c->in[i]) != 1)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "input %u is not one number; a tensor of one element is required", i);
    *to = prt_load_f64(c->in[i]->dtype, c->in[i]->data, 0);
    return POPRT_OK;
}

static double mel_of(double hertz)
{
    return 2595 * log10(1 + hertz / 700);
}

/* Returns the spectrum bin at step `i` of the mel scale, clamped to the matrix. */
static int64_t bin_at(const double *v, double low, double step, int64_t i, int64_t bins)
{
    const double hertz = 700 * (pow(10, (low + (double)i * step) / 2595) - 1);
    const double bin = floor((v[1] + 1) * hertz / v[2]);
    if (!(bin > 0))
        return 0;
    return bin < (double)bins ? (int64_t)bin : bins;
}

static poprt_status mel_eval(prt_eval *c)
{
    double v[5];
    for (uint32_t i = 0; i < 5; i++)
        PRT_TRY(read_scalar(c, i, &v[i]));
    if (!(v[2] > 0))
        return prt_eval_fail(c, POPRT_E_ARG, "sample_rate must be positive");
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const int64_t bins = prt_load_i64(c->in[1]->dtype, c->in[1]->data, 0) / 2 + 1;
    const int64_t bands = prt_load_i64(c->in[0]->dtype, c->in[0]->data, 0);
    const int64_t dims[2] = { bins, bands };
    if (bins < 1 || bands < 0)
        return prt_eval_fail(c, POPRT_E_ARG,
            "there are %lld mel bands and %lld bins; at least 0 and 1 are required",
            (long long)bands, (long long)bins);
    prt_tensor *y = c->out[0];
    PRT_TRY(prt_eval_shape(c, 0, y->dtype, 2, dims));
    const double low = mel_of(v[3]), step = (mel_of(v[4]) - low) / (v[0] + 2);
    for (size_t i = 0; i < prt_tensor_count(y); i++)
        prt_store_f64(y->dtype, y->data, i, 0);
    for (int64_t k = 0; k < bands; k++) {
        const int64_t left = bin_at(v, low, step, k, bins);
        const int64_t top = bin_at(v, low, step, k + 1, bins);
        const int64_t right = bin_at(v, low, step, k + 2, bins);
        for (int64_t j = left; j <= top && j < bins; j++)
            prt_store_f64(y->dtype, y->data, (size_t)(j * bands + k),
                top == left ? 1 : (double)(j - left) / (double)(top - left));
        for (int64_t j = top; j < right; j++)
            prt_store_f64(y->dtype, y->data, (size_t)(j * bands + k),
                (double)(right - j) / (double)(right - top));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_hann_window = { .infer = hann_infer, .eval = hann_eval };
const prt_op_hooks prt_op_hamming_window = { .infer = hamming_infer, .eval = hamming_eval };
const prt_op_hooks prt_op_blackman_window = { .infer = blackman_infer, .eval = blackman_eval };
const prt_op_hooks prt_op_mel_weight_matrix = { .infer = mel_infer, .eval = mel_eval };
