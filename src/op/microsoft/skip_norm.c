/* SPDX-License-Identifier: MIT */
/*
 * skip_norm.c — sums that are normalised by row: SkipLayerNormalization and
 * SkipSimplifiedLayerNormalization (without a mean) of input, residual and bias; and
 * EmbedLayerNormalization of word, position and segment embeddings.
 */
#include <math.h>

#include "op/share/norm_core.h"

/* ---- SkipLayerNormalization, SkipSimplifiedLayerNormalization ---- */

enum { IN_X, IN_SKIP, IN_GAMMA };
enum { OUT_Y, OUT_MEAN, OUT_INVERSE, OUT_SUM };

/* Fails unless the residual has the input's dims; the first dim may be missing or 1, and then
   broadcasts. */
static poprt_status check_skip(const prt_infer *c)
{
    const prt_shape *x = &c->in[IN_X], *s = &c->in[IN_SKIP];
    if (!prt_infer_ranked(c, IN_X) || !prt_infer_ranked(c, IN_SKIP))
        return POPRT_OK;
    bool fits = s->rank <= x->rank && s->rank >= x->rank - 1;
    for (int32_t k = 1; fits && k <= s->rank; k++) {
        const int64_t a = s->dims[s->rank - k], b = x->dims[x->rank - k];
        fits = !prt_dim_is_number(a) || !prt_dim_is_number(b) || a == b || (a == 1 && k == x->rank);
    }
    if (!fits)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the residual must have the shape of the input or of one image");
    return POPRT_OK;
}

static poprt_status infer_skip(prt_infer *c)
{
    const prt_shape *x = &c->in[IN_X];
    int64_t dims[PRT_MAX_RANK] = { 0 };
    PRT_TRY(check_skip(c));
    if (prt_infer_ranked(c, IN_X)) {
        if (x->rank != 2 && x->rank != 3)
            return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; accepted: 2, 3",
                x->rank);
        for (uint32_t i = IN_GAMMA; i < c->n_in; i++)
            PRT_TRY(prt_infer_vector(c, i, x->dims[x->rank - 1]));
        for (int32_t k = 0; k < x->rank; k++)
            dims[k] = k + 1 < x->rank ? x->dims[k] : 1;
    }
    PRT_TRY(prt_infer_like(c, OUT_Y, IN_X, x->dtype));
    PRT_TRY(prt_infer_set(c, OUT_MEAN, PRT_DTYPE_f32, x->rank, dims));
    PRT_TRY(prt_infer_set(c, OUT_INVERSE, PRT_DTYPE_f32, x->rank, dims));
    return prt_infer_like(c, OUT_SUM, IN_X, x->dtype);
}

/* Loads an optional vector as doubles in scratch; `*to` is unchanged if it is absent. */
static poprt_status load_vector(prt_eval *c, uint32_t i, const double **to)
{
    if (i < c->n_in && prt_eval_has(c, i) && (*to = prt_eval_reals(c, c->in[i])) == NULL)
        return POPRT_E_NOMEM;
    return POPRT_OK;
}

/* Layer normalisation of rows: subtracts the mean (unless `rms`), divides by the deviation, applies
   gamma and beta. */
typedef struct rows {
    bool rms, statistics; /* statistics: mean and inverse deviation are outputs */
    double epsilon;
    size_t n;
    const double *gamma, *beta;
    double *row;
} rows;

static void finish_row(const prt_eval *c, const rows *s, size_t r)
{
    double mean = 0;
    const double square =
        s->rms ? prt_norm_square(s->row, s->n) : prt_norm_centre(s->row, s->n, &mean);
    const double inverse = 1 / sqrt(square + s->epsilon);
    for (size_t i = 0; i < s->n; i++)
        s->row[i] = s->row[i] * inverse * (s->gamma != NULL ? s->gamma[i] : 1) +
            (s->beta != NULL ? s->beta[i] : 0);
    if (prt_eval_wants(c, OUT_Y))
        prt_reals_store(c->out[OUT_Y]->dtype, c->out[OUT_Y]->data, r * s->n, 1, s->n, s->row);
    if (!s->statistics)
        return;
    if (prt_eval_wants(c, OUT_MEAN))
        prt_reals_store(PRT_DTYPE_f32, c->out[OUT_MEAN]->data, r, 1, 1, &mean);
    if (prt_eval_wants(c, OUT_INVERSE))
        prt_reals_store(PRT_DTYPE_f32, c->out[OUT_INVERSE]->data, r, 1, 1, &inverse);
}

static poprt_status eval_skip(prt_eval *c, bool rms, float epsilon)
{
    const prt_tensor *x = c->in[IN_X], *skip = c->in[IN_SKIP];
    const size_t n = (size_t)x->dims[x->rank - 1], count = prt_tensor_count(x);
    const size_t others = prt_tensor_count(skip), slot = rms ? 3 : 4;
    rows s = { .rms = rms, .statistics = true, .epsilon = (double)epsilon, .n = n };
    const double *bias = NULL;
    PRT_TRY(load_vector(c, IN_GAMMA, &s.gamma));
    if (!rms)
        PRT_TRY(load_vector(c, 3, &s.beta));
    PRT_TRY(load_vector(c, (uint32_t)slot, &bias));
    s.row = prt_eval_scratch(c, n + 1, 2 * sizeof(double));
    if (s.row == NULL)
        return POPRT_E_NOMEM;
    double *other = s.row + n;
    for (size_t at = 0; at < count; at += n) {
        prt_reals_load(x->dtype, x->data, at, 1, n, s.row);
        prt_reals_load(skip->dtype, skip->data, at % others, 1, n, other);
        for (size_t i = 0; i < n; i++)
            s.row[i] += other[i] + (bias != NULL ? bias[i] : 0);
        if (prt_eval_wants(c, OUT_SUM))
            prt_reals_store(x->dtype, c->out[OUT_SUM]->data, at, 1, n, s.row);
        finish_row(c, &s, at / n);
    }
    return POPRT_OK;
}

static poprt_status eval_layer(prt_eval *c)
{
    const prt_ms_skip_layer_normalization_attrs *a = c->attrs;
    return eval_skip(c, false, a->epsilon);
}

static poprt_status eval_simplified(prt_eval *c)
{
    const prt_ms_skip_simplified_layer_normalization_attrs *a = c->attrs;
    return eval_skip(c, true, a->epsilon);
}

const prt_op_hooks prt_op_ms_skip_layer_normalization = { .infer = infer_skip, .eval = eval_layer };
const prt_op_hooks prt_op_ms_skip_simplified_layer_normalization = { .infer = infer_skip,
    .eval = eval_simplified };

/* ---- EmbedLayerNormalization ---- */

enum { IN_IDS, IN_SEGMENTS, IN_WORDS, IN_PLACES, IN_PARTS, IN_SCALE, IN_SHIFT, IN_MASK, IN_AT };
enum { OUT_LENGTHS = 1, OUT_EMBEDDED };

/* Checks that input i is [batch, sequence] or, with `one`, [1, sequence]. */
static poprt_status check_ids(const prt_infer *c, uint32_t i, bool one)
{
    int64_t dim;
    PRT_TRY(prt_infer_rank(c, i, 2));
    const int64_t batch = prt_infer_dim(c, i, 0);
    if (!one || batch != 1)
        PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_IDS, 0), batch, "the batch", &dim));
    return prt_infer_merge(c, prt_infer_dim(c, IN_IDS, 1), prt_infer_dim(c, i, 1), "the sequence",
        &dim);
}

static poprt_status infer_embed(prt_infer *c)
{
    int64_t size = prt_infer_dim(c, IN_WORDS, 1);
    if (prt_infer_has(c, IN_SEGMENTS) != prt_infer_has(c, IN_PARTS))
        return prt_infer_fail(c, POPRT_E_ARG,
            "segment_ids and segment_embedding must be given together");
    PRT_TRY(check_ids(c, IN_IDS, false));
    PRT_TRY(check_ids(c, IN_SEGMENTS, false));
    PRT_TRY(check_ids(c, IN_MASK, false));
    PRT_TRY(check_ids(c, IN_AT, true));
    for (uint32_t i = IN_WORDS; i <= IN_PARTS; i++) {
        PRT_TRY(prt_infer_rank(c, i, 2));
        PRT_TRY(prt_infer_merge(c, size, prt_infer_dim(c, i, 1), "the embedding's size", &size));
    }
    PRT_TRY(prt_infer_vector(c, IN_SCALE, size));
    PRT_TRY(prt_infer_vector(c, IN_SHIFT, size));
    const int64_t dims[3] = { prt_infer_dim(c, IN_IDS, 0), prt_infer_dim(c, IN_IDS, 1), size };
    PRT_TRY(prt_infer_exact(c, OUT_Y, c->in[IN_WORDS].dtype, 3, dims));
    PRT_TRY(prt_infer_exact(c, OUT_LENGTHS, PRT_DTYPE_i32, 1, dims));
    return prt_infer_exact(c, OUT_EMBEDDED, c->in[IN_WORDS].dtype, 3, dims);
}

/* Adds row `id` of a table. `scratch` is scratch of n doubles. */
static poprt_status add_row(prt_eval *c, uint32_t table, int64_t id, size_t n, double *scratch,
    double *row)
{
    const prt_tensor *t = c->in[table];
    if (id < 0 || id >= t->dims[0])
        return prt_eval_fail(c, POPRT_E_ARG, "%s has %lld rows; row %lld does not exist",
            prt_slot_name(prt_op_in_slot(c->def, table)), (long long)t->dims[0], (long long)id);
    prt_reals_load(t->dtype, t->data, (size_t)id * n, 1, n, scratch);
    for (size_t i = 0; i < n; i++)
        row[i] += scratch[i];
    return POPRT_OK;
}

/* Counts the ones in each image's mask; 0 without a mask. */
static void count_masks(const prt_eval *c, size_t batch, size_t length)
{
    int32_t *to = c->out[OUT_LENGTHS]->data;
    const int32_t *mask = prt_eval_has(c, IN_MASK) ? c->in[IN_MASK]->data : NULL;
    for (size_t b = 0; b < batch; b++) {
        to[b] = 0;
        for (size_t i = 0; mask != NULL && i < length; i++)
            to[b] += mask[b * length + i] == 1;
    }
}

static poprt_status eval_embed(prt_eval *c)
{
    const prt_ms_embed_layer_normalization_attrs *a = c->attrs;
    const prt_tensor *ids = c->in[IN_IDS], *at = prt_eval_has(c, IN_AT) ? c->in[IN_AT] : NULL;
    const size_t batch = (size_t)ids->dims[0], length = (size_t)ids->dims[1];
    const int32_t *word = ids->data;
    rows s = { .epsilon = (double)a->epsilon, .n = (size_t)c->in[IN_WORDS]->dims[1] };
    PRT_TRY(load_vector(c, IN_SCALE, &s.gamma));
    PRT_TRY(load_vector(c, IN_SHIFT, &s.beta));
    s.row = prt_eval_scratch(c, s.n + 1, 2 * sizeof(double));
    if (s.row == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < batch * length; i++) {
        int64_t place = (int64_t)(i % length);
        if (at != NULL)
            place = ((const int32_t *)at->data)[at->dims[0] == 1 ? i % length : i];
        memset(s.row, 0, s.n * sizeof(double));
        PRT_TRY(add_row(c, IN_WORDS, word[i], s.n, s.row + s.n, s.row));
        PRT_TRY(add_row(c, IN_PLACES, place, s.n, s.row + s.n, s.row));
        if (prt_eval_has(c, IN_PARTS))
            PRT_TRY(add_row(c, IN_PARTS, ((const int32_t *)c->in[IN_SEGMENTS]->data)[i], s.n,
                s.row + s.n, s.row));
        if (prt_eval_wants(c, OUT_EMBEDDED))
            prt_reals_store(c->out[OUT_EMBEDDED]->dtype, c->out[OUT_EMBEDDED]->data, i * s.n, 1,
                s.n, s.row);
        finish_row(c, &s, i);
    }
    if (prt_eval_wants(c, OUT_LENGTHS))
        count_masks(c, batch, length);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_embed_layer_normalization = { .infer = infer_embed,
    .eval = eval_embed };
