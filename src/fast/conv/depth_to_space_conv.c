/* SPDX-License-Identifier: MIT */
/*
 * depth_to_space_conv.c — NhwcSpread (ConvTranspose whose kernel equals its stride) by GEMM: a row
 * of input pixels times the weights of one kernel row is a row of the output as it lies in memory.
 * If the output is a part of the columns of a wider tensor, it is written pixel by pixel.
 */
#include "fast/nhwc.h"

#include "fast/parallel.h"
#include "op/internal/fused.h"

enum {
    PIXELS = 96
}; /* pixels of an item, at least: each item reads all weights of its kernel
    * row */

typedef struct depth_to_space_work {
    const prt_kern *kern;
    size_t wide, high;   /* pixels of an input row; rows of the kernel */
    size_t rows, blocks; /* input rows of all images; blocks of them */
    prt_nhwc_product product;
    const float *x;
    float *y;
    size_t y_row; /* floats */
} depth_to_space_work;

/* Multiplies a block of input rows by one kernel row. */
static void run_rows(const void *user, size_t item, float *scratch)
{
    const depth_to_space_work *j = user;
    prt_nhwc_product p = j->product;
    const size_t first = prt_parallel_piece_begin(j->rows, j->blocks, item / j->high);
    (void)scratch;
    p.lines = prt_parallel_piece_begin(j->rows, j->blocks, item / j->high + 1) - first;
    p.w += item % j->high * p.k * prt_nhwc_panels_width(p.n);
    prt_nhwc_multiply(j->kern, &p, j->wide, j->x + first * p.a_line,
        j->y + first * p.c_line + item % j->high * j->y_row, NULL);
}

poprt_status prt_fast_nhwc_spread(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_nhwc_spread_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const prt_act act = { a->activation, a->alpha, a->beta };
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_fast_has_output(c) || x->rank != 4 ||
        x->dims[3] == 0 || prt_tensor_count(c->out[0]) == 0)
        return prt_fast_use_reference(done);
    const size_t filters = (size_t)a->filters, pitch = prt_tensor_pitch(c->out[0]);
    const size_t columns = (size_t)a->kernel_shape.data[1];
    if (pitch != filters && filters % PRT_GEMM_SLICE != 0)
        return prt_fast_use_reference(done);
    depth_to_space_work j = { .kern = k,
        .wide = (size_t)x->dims[2],
        .high = (size_t)a->kernel_shape.data[0],
        .x = x->data,
        .y = c->out[0]->data,
        .y_row = (size_t)x->dims[2] * columns * pitch,
        .product = { .k = (size_t)x->dims[3],
            .w = c->in[1]->data,
            .act = act,
            .n = columns * filters,
            .lda = prt_tensor_pitch(x),
            .ldc = columns * pitch,
            .run = pitch != filters ? filters : columns * filters,
            .run_stride = pitch } };
    if (prt_eval_has(c, 2)) { /* repeat the bias for each kernel column */
        float *bias = prt_parallel_zeroed_floats(c, 1, j.product.n);
        if (bias == NULL)
            return POPRT_E_NOMEM;
        for (size_t i = 0; i < j.product.n; i++)
            bias[i] = ((const float *)c->in[2]->data)[i % filters];
        j.product.bias = bias;
    }
    j.rows = (size_t)(x->dims[0] * x->dims[1]);
    j.product.a_line = j.wide * j.product.lda;
    j.product.c_line = j.high * j.y_row;
    const size_t each = (PIXELS + j.wide - 1) / j.wide;
    j.blocks = prt_parallel_blocks(c, j.high, (j.rows + each - 1) / each, j.rows, 1);
    return prt_parallel_for(c, j.blocks * j.high, 0, run_rows, &j);
}
