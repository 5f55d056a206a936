/* SPDX-License-Identifier: MIT */
/*
 * nhwc_spread.c — NhwcSpread as products: a row of pixels with the weights of one row of the kernel
 * is a row of the output, as it lies there.
 */
#include "fast/share.h"
#include "op/fused.h"
#include "op/nhwc.h"

#include "fast/fast.h"

enum { DEPTH = 512 };

typedef struct job {
    const prt_kern *kern;
    size_t rows, wide, channels, filters, high, columns; /* columns of a matrix of weights */
    const float *x, *w, *bias; /* bias by column; NULL: none */
    float *y;
    prt_act act;
} job;

static void run_row(const void *user, size_t item, float *scratch)
{
    const job *j = user;
    const size_t row = item / j->high, ky = item % j->high;
    const float *w = j->w + ky * j->channels * prt_nhwc_panels_width(j->columns);
    const size_t parts = (j->channels + DEPTH - 1) / DEPTH;
    (void)scratch;
    for (size_t first = 0; first < j->columns; first += PRT_GEMM_PANEL) {
        const size_t left = j->columns - first;
        const size_t columns = left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL;
        const size_t width = prt_gemm_width(columns);
        const prt_gemm_end end = { .bias = j->bias != NULL ? j->bias + first : NULL,
            .act = j->act };
        for (size_t i = 0; i < parts; i++) {
            const size_t k = prt_share_cut(j->channels, parts, i);
            const prt_gemm_block g = { .rows = j->wide, .columns = columns,
                .k = prt_share_cut(j->channels, parts, i + 1) - k,
                .a = j->x + row * j->wide * j->channels + k, .lda = j->channels,
                .b = w + first * j->channels + k * width, .stride = width,
                .c = j->y + item * j->wide * j->columns + first, .ldc = j->columns, .add = k != 0,
                .end = i + 1 == parts ? &end : NULL };
            j->kern->gemm(&g);
        }
    }
}

poprt_status prt_fast_nhwc_spread(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_nhwc_spread(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_nhwc_spread_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    prt_act act;
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_fast_wants(c) || x->rank != 4 ||
        x->dims[3] == 0 || prt_tensor_count(c->out[0]) == 0 ||
        !prt_fused_act(a->activation, a->alpha, a->beta, &act))
        return prt_fast_pass(done);
    job j = { .kern = k, .rows = (size_t)(x->dims[0] * x->dims[1]), .wide = (size_t)x->dims[2],
        .channels = (size_t)x->dims[3], .filters = (size_t)a->filters,
        .high = (size_t)a->kernel_shape.data[0],
        .columns = (size_t)(a->kernel_shape.data[1] * a->filters), .x = x->data,
        .w = c->in[1]->data, .y = c->out[0]->data, .act = act };
    if (prt_eval_has(c, 2)) { /* once for each column of the kernel */
        float *bias = prt_share_floats(c, 1, j.columns);
        if (bias == NULL)
            return POPRT_E_NOMEM;
        for (size_t i = 0; i < j.columns; i++)
            bias[i] = ((const float *)c->in[2]->data)[i % j.filters];
        j.bias = bias;
    }
    return prt_share_run(c, j.rows * j.high, 0, run_row, &j);
}
