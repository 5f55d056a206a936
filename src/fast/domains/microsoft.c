/* SPDX-License-Identifier: MIT */
/*
 * microsoft.c — com.microsoft: Gelu with a bias, normalisations with a residual, products with a
 * transposed side.
 */
#include <math.h>

#include "fast/gemm/matmul.h"
#include "fast/elementwise/rows.h"

/* ---- BiasGelu and FastGelu ---- */

static void gelu_row(const prt_fast_rows *r, size_t i)
{
    const prt_act act = { .kind = r->inner != 0 ? PRT_ACT_gelu_tanh : PRT_ACT_gelu };
    const float *x = r->x + i * r->n;
    float *y = r->y + i * r->n;
    if (r->beta != NULL)
        r->kern->rows.binary(PRT_BINARY_add, r->n, x, 1, r->beta, 1, y);
    r->kern->rows.act(&act, r->n, r->beta != NULL ? y : x, y);
}

poprt_status prt_fast_bias_gelu(prt_eval *c, const prt_kern *k, bool *done)
{
    if (!prt_fast_has(c, 0) || !prt_fast_has_only_output(c) || c->in[0]->rank == 0)
        return prt_fast_use_reference(done);
    prt_fast_rows r = prt_fast_rows_of(c, k, c->in[0]->rank - 1);
    r.beta = prt_eval_has(c, 1) ? c->in[1]->data : NULL;
    r.inner = c->def->id == PRT_OP_ms_fast_gelu;
    r.run = gelu_row;
    return prt_fast_rows_run(c, &r);
}

/* ---- SkipLayerNormalization and SkipSimplifiedLayerNormalization ---- */

enum { IN_X, IN_SKIP, IN_GAMMA };
enum { OUT_Y, OUT_MEAN, OUT_INVERSE, OUT_SUM };

typedef struct sums {
    prt_fast_rows rows; /* first member: run() gets a pointer to it */
    const float *skip, *bias;
    size_t skips; /* rows of the residual */
    float *sum;   /* output, or NULL */
    bool rms;
} sums;

static void skip_row(const prt_fast_rows *r, size_t i)
{
    const sums *s = (const sums *)(const void *)r;
    const prt_kern_rows *k = &r->kern->rows;
    const size_t n = r->n;
    float *y = r->y + i * n;
    k->binary(PRT_BINARY_add, n, r->x + i * n, 1, s->skip + i % s->skips * n, 1, y);
    if (s->bias != NULL)
        k->binary(PRT_BINARY_add, n, y, 1, s->bias, 1, y);
    if (s->sum != NULL)
        memcpy(s->sum + i * n, y, n * sizeof(float));
    if (!s->rms) {
        k->layer_norm(n, y, r->epsilon, r->gamma, r->beta, y);
        return;
    }
    const double square = k->squares(n, y) / (double)n;
    k->scale(n, y, (float)(1.0 / sqrt(square + (double)r->epsilon)), 0.0f, y);
    k->binary(PRT_BINARY_mul, n, y, 1, r->gamma, 1, y);
}

static const float *optional(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) ? c->in[i]->data : NULL;
}

poprt_status prt_fast_skip_norm(prt_eval *c, const prt_kern *k, bool *done)
{
    const bool rms = c->def->id == PRT_OP_ms_skip_simplified_layer_normalization;
    if (!prt_fast_has(c, IN_X) || !prt_fast_has_output(c) || prt_eval_wants(c, OUT_MEAN) ||
        prt_eval_wants(c, OUT_INVERSE) || prt_tensor_count(c->in[IN_X]) == 0)
        return prt_fast_use_reference(done);
    sums s = { .rows = prt_fast_rows_of(c, k, c->in[IN_X]->rank - 1),
        .rms = rms,
        .skip = c->in[IN_SKIP]->data,
        .bias = optional(c, rms ? 3 : 4),
        .sum = prt_eval_wants(c, OUT_SUM) ? c->out[OUT_SUM]->data : NULL };
    s.skips = prt_tensor_count(c->in[IN_SKIP]) / s.rows.n;
    s.rows.gamma = c->in[IN_GAMMA]->data;
    s.rows.beta = rms ? NULL : optional(c, 3);
    s.rows.epsilon = rms
        ? ((const prt_ms_skip_simplified_layer_normalization_attrs *)c->attrs)->epsilon
        : ((const prt_ms_skip_layer_normalization_attrs *)c->attrs)->epsilon;
    s.rows.run = skip_row;
    return prt_fast_rows_run(c, &s.rows);
}

/* ---- FusedMatMul ---- */

/* The right side may be transposed. `alpha` is applied last, as in the reference. */
poprt_status prt_fast_fused_matmul(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_ms_fused_matmul_attrs *attrs = c->attrs;
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_eval_wants(c, 0) || attrs->transA != 0 ||
        attrs->transBatchA != 0 || attrs->transBatchB != 0)
        return prt_fast_use_reference(done);
    prt_tensor b = *c->in[1], *y = c->out[0];
    const bool transposed = attrs->transB != 0 && b.rank > 1;
    if (transposed) {
        b.dims[b.rank - 1] = c->in[1]->dims[b.rank - 2];
        b.dims[b.rank - 2] = c->in[1]->dims[b.rank - 1];
    }
    PRT_TRY(prt_matmul_run(c, k, c->in[0], &b, transposed, done));
    if (*done && attrs->alpha != 1.0f)
        k->rows.scale(prt_tensor_count(y), y->data, attrs->alpha, 0.0f, y->data);
    return POPRT_OK;
}
