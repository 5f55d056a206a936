/* SPDX-License-Identifier: MIT */
/*
 * quantized_linear.c — QuantizedLinear: int8 GEMM (dot4_i8) with float32 results. An item is one
 * panel of B times a block of rows. The sums of one call of the kernel stay in L1, where they are
 * converted to float32.
 */
#include <math.h>

#include "fast/gemm/integer.h"
#include "fast/parallel.h"
#include "op/internal/fused.h"
#include "op/share/quant.h"

enum {
    ROWS = 240,              /* rows of an item */
    COPY_LEAST = 1 << 15,    /* elements of A that an item copies, at least */
    QUANTIZE_LEAST = 1 << 14 /* elements of A that an item quantises, at least */
};

typedef struct qlinear_work {
    const prt_kern *kern;
    size_t m, n, k, words, panels, blocks, pieces;
    uint8_t flip;
    const uint8_t *x;
    const float *floats; /* float32 input, instead of x */
    uint32_t *copy;
    prt_bytes_by by, *rows; /* quantisation parameters of all rows; of each row of a float32
                             * input */
    const uint32_t *a, *b;
    prt_finish end; /* at row 0, column 0 */
} qlinear_work;

static void copy_rows(const void *user, size_t item, float *scratch)
{
    const qlinear_work *j = user;
    const size_t end = prt_parallel_piece_begin(j->m, j->pieces, item + 1);
    (void)scratch;
    for (size_t i = prt_parallel_piece_begin(j->m, j->pieces, item); i < end; i++)
        j->kern->bytes.row(j->k, j->x + i * j->k, j->flip, (uint8_t *)(j->copy + i * j->words));
}

static void quantize_rows(const void *user, size_t item, float *scratch)
{
    const qlinear_work *j = user;
    const size_t end = prt_parallel_piece_begin(j->m, j->pieces, item + 1);
    (void)scratch;
    for (size_t i = prt_parallel_piece_begin(j->m, j->pieces, item); i < end; i++) {
        const float *x = j->floats + i * j->k;
        uint8_t *to = (uint8_t *)(j->copy + i * j->words), zero = 0;
        float scale = NAN;
        (void)prt_integer_scale(j->kern, j->k, x, &scale, &zero);
        j->kern->bytes.quantize(j->k, x, scale, (float)zero, false, to);
        for (size_t k = j->k; k % PRT_DOT_FOUR != 0; k++)
            to[k] = 0;
        j->rows[i] = (prt_bytes_by){ scale, zero };
    }
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const qlinear_work *j = user;
    const size_t panel = item % j->panels, block = item / j->panels;
    const size_t first = panel * PRT_GEMM_PANEL, left = j->n - first;
    const size_t begin = prt_parallel_piece_begin(j->m, j->blocks, block);
    const size_t end = prt_parallel_piece_begin(j->m, j->blocks, block + 1);
    int32_t *sums = (int32_t *)(void *)scratch;
    prt_dot_block g = { .columns = left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL,
        .words = j->words,
        .lda = j->words,
        .b = j->b + first * j->words,
        .c = sums,
        .ldc = PRT_GEMM_PANEL };
    const bool more = left > PRT_GEMM_PANEL; /* prefetch the weights of the next panel */
    const char *next = more ? (const char *)(g.b + j->words * PRT_GEMM_PANEL) : NULL;
    const size_t lines =
        more ? j->words * prt_gemm_panel_width(j->n, first + PRT_GEMM_PANEL) / PRT_GEMM_SLICE : 0;
    for (size_t row = begin; row < end; row += g.rows) {
        g.rows = end - row < j->kern->dot.rows ? end - row : j->kern->dot.rows;
        prt_dot_set_prefetch(&g, next, lines, row - begin, end - begin);
        g.a = j->a + row * j->words;
        j->kern->dot.i8(&g);
        prt_finish f = prt_integer_finish(&j->end, row, first);
        f.rows = g.rows;
        f.columns = g.columns;
        f.sums = sums;
        j->kern->bytes.finish(&f);
    }
}

/* Reads the scales, one for each column. */
static poprt_status read_scales(prt_eval *c, qlinear_work *j)
{
    const prt_tensor *scale = c->in[4];
    j->by = (prt_bytes_by){ 1.0f, (int32_t)prt_quant_number(c, 1, 0) + (j->flip != 0 ? 128 : 0) };
    j->end.column_sums = c->in[3]->data;
    j->end.scales = scale->data;
    if (prt_tensor_count(scale) == j->n)
        return POPRT_OK;
    float *scales = prt_parallel_uninitialized_floats(c, 1, j->n);
    for (size_t i = 0; scales != NULL && i < j->n; i++)
        scales[i] = *(const float *)scale->data;
    j->end.scales = scales;
    return scales != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

/* Converts A's rows to unsigned words, unless they are already. */
static poprt_status prepare_rows(prt_eval *c, qlinear_work *j)
{
    const bool floats = c->in[0]->dtype == PRT_DTYPE_f32;
    j->a = c->in[0]->data;
    if (!floats && j->k % PRT_DOT_FOUR == 0 && j->flip == 0 &&
        (uintptr_t)j->a % sizeof(uint32_t) == 0)
        return POPRT_OK;
    const size_t most = prt_parallel_pieces(j->m * j->k, floats ? QUANTIZE_LEAST : COPY_LEAST);
    j->pieces = j->m < most ? j->m : most;
    j->copy = (uint32_t *)(void *)prt_parallel_uninitialized_floats(c, j->m, j->words);
    if (j->copy == NULL)
        return POPRT_E_NOMEM;
    j->a = j->copy;
    if (!floats) {
        j->x = c->in[0]->data;
        return prt_parallel_for(c, j->pieces, 0, copy_rows, j);
    }
    j->floats = c->in[0]->data;
    j->rows = (prt_bytes_by *)(void *)prt_parallel_uninitialized_floats(c, j->m,
        sizeof(prt_bytes_by) / sizeof(float));
    return j->rows == NULL ? POPRT_E_NOMEM : prt_parallel_for(c, j->pieces, 0, quantize_rows, j);
}

static const float *floats(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) ? c->in[i]->data : NULL;
}

poprt_status prt_fast_quantized_linear(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_quantized_linear_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    qlinear_work j = { .kern = k, .n = (size_t)a->columns, .k = (size_t)x->dims[x->rank - 1] };
    if (!prt_fast_has_output(c) || prt_tensor_count(c->out[0]) == 0 || j.k == 0 ||
        (uintptr_t)c->in[2]->data % sizeof(uint32_t) != 0)
        return prt_fast_use_reference(done);
    j.end.act = (prt_act){ a->activation, a->alpha, a->beta };
    j.m = prt_dims_product(x->dims, 0, x->rank - 1);
    j.words = (j.k + PRT_DOT_FOUR - 1) / PRT_DOT_FOUR;
    j.flip = x->dtype == PRT_DTYPE_i8 ? 0x80 : 0;
    j.b = c->in[2]->data;
    j.end.bias = floats(c, 5);
    j.end.residual = floats(c, 6);
    j.end.y = c->out[0]->data;
    j.end.ldr = j.end.ldy = j.n;
    j.end.ldsums = PRT_GEMM_PANEL;
    PRT_TRY(read_scales(c, &j));
    PRT_TRY(prepare_rows(c, &j));
    j.end.by = j.rows != NULL ? j.rows : &j.by;
    j.end.step = j.rows != NULL;
    j.panels = (j.n + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
    j.blocks = (j.m + ROWS - 1) / ROWS;
    return prt_parallel_for(c, j.panels * j.blocks, PRT_DOT_ROWS * PRT_GEMM_PANEL, run_item, &j);
}
