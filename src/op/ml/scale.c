/* SPDX-License-Identifier: MIT */
/* scale.c — Binarizer, Scaler, Imputer and Normalizer. */
#include <math.h>

#include "op/share/broadcast.h"
#include "op/ml/ml.h"

/* ---- Binarizer ---- */

/* Returns x > threshold for integers. It compares x with the floor of the threshold, so that x
   keeps all its bits. NaN is never exceeded. */
static int64_t exceeds(int64_t x, double threshold)
{
    if (isnan(threshold) || threshold >= 0x1p63)
        return 0;
    return threshold < -0x1p63 || x > (int64_t)floor(threshold);
}

static poprt_status binarize_eval(prt_eval *c)
{
    const prt_ml_binarizer_attrs *a = c->attrs;
    const double t = (double)a->threshold;
    const prt_tensor *x = c->in[0];
    const size_t n = prt_tensor_count(x);
    const bool is_float = prt_dtype_is_float(x->dtype);
    for (size_t i = 0; prt_eval_wants(c, 0) && i < n; i++) {
        const int64_t one = is_float ? prt_load_f64(x->dtype, x->data, i) > t
                                     : exceeds(prt_load_i64(x->dtype, x->data, i), t);
        prt_store_i64(x->dtype, c->out[0]->data, i, one);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ml_binarizer = { .infer = prt_infer_unary, .eval = binarize_eval };

/* ---- lists with one number per feature ---- */

/* Checks that a list has one number for all features or one number for each element of the last
   axis. It may be empty if `least` is 0. */
static poprt_status check_per_feature(const prt_infer *c, const char *name, uint32_t count,
    uint32_t least)
{
    if (count == 1 || (count == 0 && least == 0))
        return POPRT_OK;
    if (count == 0)
        return prt_infer_fail(c, POPRT_E_ARG, "%s is missing", name);
    if (!prt_infer_ranked(c, 0))
        return POPRT_OK;
    const prt_shape *x = &c->in[0];
    const int64_t width = x->rank != 0 ? x->dims[x->rank - 1] : 1;
    if (prt_dim_is_number(width) && width != (int64_t)count)
        return prt_infer_fail(c, POPRT_E_ARG, "%s has %u numbers for %lld features", name, count,
            (long long)width);
    return POPRT_OK;
}

/* Returns the list index for element i. */
static inline uint32_t at_feature(uint32_t count, size_t i)
{
    return count > 1 ? (uint32_t)(i % count) : 0;
}

/* Returns the list index for the next element after list index k. */
static inline uint32_t next_feature(uint32_t count, uint32_t k)
{
    return k + 1 < count ? k + 1 : 0;
}

/* ---- Scaler ---- */

static poprt_status scale_infer(prt_infer *c)
{
    const prt_ml_scaler_attrs *a = c->attrs;
    PRT_TRY(check_per_feature(c, "scale", a->scale.count, 0));
    PRT_TRY(check_per_feature(c, "offset", a->offset.count, 0));
    return prt_infer_like(c, 0, 0, PRT_DTYPE_f32);
}

static poprt_status scale_eval(prt_eval *c)
{
    const prt_ml_scaler_attrs *a = c->attrs;
    const prt_f32s offset = a->offset, scale = a->scale;
    const prt_tensor *x = c->in[0];
    const size_t n = prt_tensor_count(x);
    double v[PRT_RUN];
    for (size_t from = 0; prt_eval_wants(c, 0) && from < n; from += PRT_RUN) {
        const size_t count = n - from < PRT_RUN ? n - from : PRT_RUN;
        uint32_t o = at_feature(offset.count, from), k = at_feature(scale.count, from);
        prt_read_f64(x->dtype, x->data, from, 1, count, v);
        for (size_t i = 0; offset.count != 0 && i < count; i++, o = next_feature(offset.count, o))
            v[i] -= (double)offset.data[o];
        for (size_t i = 0; scale.count != 0 && i < count; i++, k = next_feature(scale.count, k))
            v[i] *= (double)scale.data[k];
        prt_write_f64(PRT_DTYPE_f32, c->out[0]->data, from, count, v);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ml_scaler = { .infer = scale_infer, .eval = scale_eval };

/* ---- Imputer ---- */

static poprt_status impute_infer(prt_infer *c)
{
    const prt_ml_imputer_attrs *a = c->attrs;
    const int32_t dtype = c->in[0].dtype;
    const prt_i64s ints = a->imputed_value_int64s;
    if (dtype == PRT_DTYPE_undefined)
        return prt_infer_unary(c);
    if (prt_dtype_is_float(dtype))
        PRT_TRY(check_per_feature(c, "imputed_value_floats", a->imputed_value_floats.count, 1));
    else
        PRT_TRY(check_per_feature(c, "imputed_value_int64s", ints.count, 1));
    for (uint32_t i = 0; dtype == PRT_DTYPE_i32 && i < ints.count; i++)
        if (ints.data[i] != (int32_t)ints.data[i])
            return prt_infer_fail(c, POPRT_E_ARG,
                "imputed_value_int64s[%u] is %lld: it does not "
                "fit int32",
                i, (long long)ints.data[i]);
    return prt_infer_unary(c);
}

static poprt_status impute_eval(prt_eval *c)
{
    const prt_ml_imputer_attrs *a = c->attrs;
    const prt_f32s floats = a->imputed_value_floats;
    const prt_i64s ints = a->imputed_value_int64s;
    const prt_tensor *x = c->in[0];
    const size_t n = prt_tensor_count(x);
    const bool is_float = prt_dtype_is_float(x->dtype);
    const double old = (double)a->replaced_value_float;
    for (size_t i = 0; prt_eval_wants(c, 0) && i < n; i++) {
        if (is_float) {
            double v = prt_load_f64(x->dtype, x->data, i);
            if (v == old || (isnan(v) && isnan(old)))
                v = (double)floats.data[at_feature(floats.count, i)];
            prt_store_f64(x->dtype, c->out[0]->data, i, v);
        } else {
            int64_t v = prt_load_i64(x->dtype, x->data, i);
            if (v == a->replaced_value_int64)
                v = ints.data[at_feature(ints.count, i)];
            prt_store_i64(x->dtype, c->out[0]->data, i, v);
        }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ml_imputer = { .infer = impute_infer, .eval = impute_eval };

/* ---- Normalizer ---- */

static poprt_status normalize_infer(prt_infer *c)
{
    const prt_ml_normalizer_attrs *a = c->attrs;
    int64_t rows, features;
    if (!prt_str_is(a->norm, "MAX") && !prt_str_is(a->norm, "L1") && !prt_str_is(a->norm, "L2"))
        return prt_infer_fail(c, POPRT_E_ARG, "norm is not one of MAX, L1, L2");
    PRT_TRY(prt_ml_infer_rows(c, &rows, &features));
    return prt_infer_like(c, 0, 0, PRT_DTYPE_f32);
}

/* Returns the divisor of a row. MAX is the largest value, not the largest magnitude. */
static double norm_of(prt_str norm, const double *v, size_t n)
{
    const bool max = prt_str_is(norm, "MAX"), l1 = prt_str_is(norm, "L1");
    double sum = max ? -(double)INFINITY : 0.0;
    for (size_t i = 0; i < n; i++)
        sum = max ? fmax(sum, v[i]) : sum + (l1 ? fabs(v[i]) : v[i] * v[i]);
    return max || l1 ? sum : sqrt(sum);
}

static poprt_status normalize_eval(prt_eval *c)
{
    const prt_ml_normalizer_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const size_t rows = prt_ml_rows(x), n = prt_ml_features(x);
    if (!prt_eval_wants(c, 0) || x->size == 0)
        return POPRT_OK;
    double *v = prt_eval_scratch(c, n, sizeof(*v));
    if (v == NULL)
        return POPRT_E_NOMEM;
    for (size_t r = 0; r < rows; r++) {
        prt_read_f64(x->dtype, x->data, r * n, 1, n, v);
        const double norm = norm_of(a->norm, v, n);
        for (size_t i = 0; i < n && norm != 0.0; i++)
            v[i] /= norm;
        prt_write_f64(PRT_DTYPE_f32, c->out[0]->data, r * n, n, v);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ml_normalizer = { .infer = normalize_infer, .eval = normalize_eval };
