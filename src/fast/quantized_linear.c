/* SPDX-License-Identifier: MIT */
/* quantized_linear.c — items of a panel and some rows: sums stay near, and become floats there. */
#include <math.h>

#include "fast/integer.h"
#include "fast/share.h"
#include "op/fused.h"
#include "op/quant.h"

/* Rows of an item, and of what has its sums near; elements of A of an item that makes words of
 * them. */
enum { ROWS = 240, SOME = 48, COPY_LEAST = 1 << 15, QUANTIZE_LEAST = 1 << 14 };

/* What a row was quantised by. */
typedef struct row_by {
    float scale;
    int32_t zero;
} row_by;

typedef struct job {
    const prt_kern *kern;
    size_t m, n, k, words, panels, blocks, pieces;
    uint8_t flip;
    const uint8_t *x;
    const float *floats; /* instead of x */
    uint32_t *copy;
    row_by by, *rows; /* of all; of each row of floats */
    const uint32_t *a, *b;
    const int32_t *columns; /* their sums */
    const float *scales, *bias, *residual;
    float *y;
    prt_act act;
} job;

static void copy_rows(const void *user, size_t item, float *scratch)
{
    const job *j = user;
    const size_t end = prt_share_cut(j->m, j->pieces, item + 1);
    (void)scratch;
    for (size_t i = prt_share_cut(j->m, j->pieces, item); i < end; i++)
        j->kern->bytes.row(j->k, j->x + i * j->k, j->flip, (uint8_t *)(j->copy + i * j->words));
}

static void quantize_rows(const void *user, size_t item, float *scratch)
{
    const job *j = user;
    const size_t end = prt_share_cut(j->m, j->pieces, item + 1);
    (void)scratch;
    for (size_t i = prt_share_cut(j->m, j->pieces, item); i < end; i++) {
        const float *x = j->floats + i * j->k;
        uint8_t *to = (uint8_t *)(j->copy + i * j->words), zero = 0;
        float scale = NAN;
        (void)prt_integer_scale(j->kern, j->k, x, &scale, &zero);
        j->kern->bytes.quantize(j->k, x, scale, (float)zero, false, to);
        for (size_t k = j->k; k % PRT_DOT_FOUR != 0; k++)
            to[k] = 0;
        j->rows[i] = (row_by){ scale, zero };
    }
}

static void finish_row(const job *j, size_t row, size_t first, size_t columns, int32_t *sums)
{
    const prt_kern *k = j->kern;
    const row_by by = j->rows != NULL ? j->rows[row] : j->by;
    float *y = j->y + row * j->n + first;
    k->bytes.settle(columns, sums, by.zero, 0, j->columns + first, j->columns + first);
    k->bytes.scale(columns, sums, by.scale, j->scales + first,
        j->bias != NULL ? j->bias + first : NULL, y);
    if (j->residual != NULL)
        k->rows.two(PRT_TWO_add, columns, y, 1, j->residual + row * j->n + first, 1, y);
    if (j->act.kind != PRT_ACT_none)
        k->rows.act(&j->act, columns, y, y);
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const job *j = user;
    const size_t panel = item % j->panels, block = item / j->panels;
    const size_t first = panel * PRT_GEMM_PANEL, left = j->n - first;
    const size_t begin = prt_share_cut(j->m, j->blocks, block);
    const size_t end = prt_share_cut(j->m, j->blocks, block + 1);
    int32_t *sums = (int32_t *)(void *)scratch;
    prt_dot_block g = { .columns = left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL,
        .words = j->words, .lda = j->words, .b = j->b + first * j->words, .c = sums,
        .ldc = PRT_GEMM_PANEL };
    if (left > PRT_GEMM_PANEL) { /* the next weights come meanwhile */
        g.next = (const char *)(g.b + j->words * PRT_GEMM_PANEL);
        g.next_lines =
            j->words * prt_gemm_panel_width(j->n, first + PRT_GEMM_PANEL) / PRT_GEMM_SLICE;
    }
    for (size_t row = begin; row < end; row += g.rows, g.next = NULL) {
        g.rows = end - row < SOME ? end - row : SOME;
        g.a = j->a + row * j->words;
        j->kern->dot.fours(&g);
        for (size_t i = 0; i < g.rows; i++)
            finish_row(j, row + i, first, g.columns, sums + i * PRT_GEMM_PANEL);
    }
}

/* One scale for each column. */
static poprt_status take_columns(prt_eval *c, job *j)
{
    const prt_tensor *scale = c->in[4];
    j->by = (row_by){ 1.0f, (int32_t)prt_quant_number(c, 1, 0) + (j->flip != 0 ? 128 : 0) };
    j->columns = c->in[3]->data;
    j->scales = scale->data;
    if (prt_tensor_count(scale) == j->n)
        return POPRT_OK;
    float *scales = prt_share_raw(c, 1, j->n);
    for (size_t i = 0; scales != NULL && i < j->n; i++)
        scales[i] = *(const float *)scale->data;
    j->scales = scales;
    return scales != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

/* Words of A's bytes. */
static poprt_status take_rows(prt_eval *c, job *j)
{
    const bool floats = c->in[0]->dtype == PRT_DTYPE_f32;
    j->a = c->in[0]->data;
    if (!floats && j->k % PRT_DOT_FOUR == 0 && j->flip == 0 &&
        (uintptr_t)j->a % sizeof(uint32_t) == 0)
        return POPRT_OK;
    const size_t most = prt_share_pieces(j->m * j->k, floats ? QUANTIZE_LEAST : COPY_LEAST);
    j->pieces = j->m < most ? j->m : most;
    j->copy = (uint32_t *)(void *)prt_share_raw(c, j->m, j->words);
    if (j->copy == NULL)
        return POPRT_E_NOMEM;
    j->a = j->copy;
    if (!floats) {
        j->x = c->in[0]->data;
        return prt_share_run(c, j->pieces, 0, copy_rows, j);
    }
    j->floats = c->in[0]->data;
    j->rows = (row_by *)(void *)prt_share_raw(c, j->m, sizeof(row_by) / sizeof(float));
    return j->rows == NULL ? POPRT_E_NOMEM : prt_share_run(c, j->pieces, 0, quantize_rows, j);
}

static const float *floats(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) ? c->in[i]->data : NULL;
}

poprt_status prt_fast_quantized_linear(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_quantized_linear(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_quantized_linear_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    job j = { .kern = k, .n = (size_t)a->columns, .k = (size_t)x->dims[x->rank - 1] };
    if (!prt_fast_wants(c) || prt_tensor_count(c->out[0]) == 0 || j.k == 0 ||
        (uintptr_t)c->in[2]->data % sizeof(uint32_t) != 0 ||
        !prt_fused_act(a->activation, a->alpha, a->beta, &j.act))
        return prt_fast_pass(done);
    j.m = prt_dims_product(x->dims, 0, x->rank - 1);
    j.words = (j.k + PRT_DOT_FOUR - 1) / PRT_DOT_FOUR;
    j.flip = x->dtype == PRT_DTYPE_i8 ? 0x80 : 0;
    j.b = c->in[2]->data;
    j.bias = floats(c, 5);
    j.residual = floats(c, 6);
    j.y = c->out[0]->data;
    PRT_TRY(take_columns(c, &j));
    PRT_TRY(take_rows(c, &j));
    j.panels = (j.n + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
    j.blocks = (j.m + ROWS - 1) / ROWS;
    return prt_share_run(c, j.panels * j.blocks, SOME * PRT_GEMM_PANEL, run_item, &j);
}
