/* SPDX-License-Identifier: MIT */
/* features.c — ArrayFeatureExtractor and FeatureVectorizer: selection and concatenation of
   columns. */
#include "op/share/elements.h"
#include "op/ml/ml.h"

/* ---- ArrayFeatureExtractor: elements of the last axis ---- */

static poprt_status extract_infer(prt_infer *c)
{
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK];
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    if (x->rank == 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "input 0 is a scalar; at least rank 1 is needed");
    const int64_t n = prt_infer_ranked(c, 1)
        ? prt_infer_product(c, c->in[1].dims, 0, (uint32_t)c->in[1].rank)
        : PRT_DIM_UNKNOWN;
    memcpy(dims, x->dims, sizeof(dims));
    if (x->rank == 1) { /* one row */
        dims[0] = 1;
        dims[1] = n;
        return prt_infer_set(c, 0, x->dtype, 2, dims);
    }
    dims[x->rank - 1] = n;
    return prt_infer_set(c, 0, x->dtype, x->rank, dims);
}

static poprt_status extract_eval(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const int64_t *at = c->in[1]->data;
    const size_t n = prt_tensor_count(c->in[1]), width = prt_ml_features(x);
    const size_t rows = prt_dims_product(x->dims, 0, x->rank - 1);
    for (size_t i = 0; i < n; i++)
        if (at[i] < 0 || (uint64_t)at[i] >= width)
            return prt_eval_fail(c, POPRT_E_ARG, "index %zu is %lld; there are %zu features", i,
                (long long)at[i], width);
    for (size_t r = 0; prt_eval_wants(c, 0) && r < rows; r++)
        for (size_t i = 0; i < n; i++)
            prt_element_copy(x->dtype, c->out[0]->data, r * n + i, x->data,
                r * width + (size_t)at[i], 1);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ml_array_feature_extractor = { .infer = extract_infer,
    .eval = extract_eval };

/* ---- FeatureVectorizer: concatenates the inputs' features, truncated or zero-padded ---- */

/* Returns the rows and features of input i: all axes but the first are features. */
static void size_of_input(prt_infer *c, uint32_t i, int64_t *rows, int64_t *features)
{
    *rows = *features = PRT_DIM_UNKNOWN;
    if (!prt_infer_ranked(c, i))
        return;
    const prt_shape *x = &c->in[i];
    *rows = x->rank < 2 ? 1 : x->dims[0];
    *features = prt_infer_product(c, x->dims, x->rank < 2 ? 0 : 1, (uint32_t)x->rank);
}

static poprt_status vectorize_infer(prt_infer *c)
{
    const prt_ml_feature_vectorizer_attrs *a = c->attrs;
    const prt_i64s widths = a->inputdimensions;
    int64_t dims[2] = { PRT_DIM_UNKNOWN, 0 };
    if (widths.count != 0 && widths.count != c->n_in)
        return prt_infer_fail(c, POPRT_E_ARG, "inputdimensions has %u numbers for %u inputs",
            widths.count, c->n_in);
    for (uint32_t i = 0; i < c->n_in; i++) {
        int64_t rows, features;
        if (!prt_infer_has(c, i))
            return prt_infer_fail(c, POPRT_E_PARSE, "input %u is missing", i);
        size_of_input(c, i, &rows, &features);
        PRT_TRY(prt_infer_merge(c, dims[0], rows, "the number of rows", &dims[0]));
        if (widths.count != 0)
            features = widths.data[i];
        if (widths.count != 0 && (features < 0 || features > INT32_MAX))
            return prt_infer_fail(c, POPRT_E_ARG, "inputdimensions[%u] is %lld", i,
                (long long)features);
        dims[1] = prt_dim_add(c->dims, dims[1], features);
    }
    return prt_infer_set(c, 0, PRT_DTYPE_f32, 2, dims);
}

static poprt_status vectorize_eval(prt_eval *c)
{
    const prt_ml_feature_vectorizer_attrs *a = c->attrs;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_tensor *y = c->out[0];
    const size_t rows = (size_t)y->dims[0], width = (size_t)y->dims[1];
    size_t first = 0;
    if (y->size != 0)
        memset(y->data, 0, y->size);
    for (uint32_t i = 0; i < c->n_in; i++) {
        const prt_tensor *x = c->in[i];
        const size_t has = prt_dims_product(x->dims, x->rank < 2 ? 0 : 1, x->rank);
        const prt_i64s widths = a->inputdimensions;
        const size_t gets = widths.count != 0 ? (size_t)widths.data[i] : has;
        for (size_t r = 0; r < rows; r++)
            for (size_t k = 0; k < has && k < gets; k++)
                prt_store_f64(PRT_DTYPE_f32, y->data, r * width + first + k,
                    prt_load_f64(x->dtype, x->data, r * has + k));
        first += gets;
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ml_feature_vectorizer = { .infer = vectorize_infer,
    .eval = vectorize_eval };
