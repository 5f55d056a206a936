/* SPDX-License-Identifier: MIT */
/*
 * matmul.c — MatMul, Gemm and FusedLinear of float32. Few rows run as GEMV over panels of B in
 * place; other products by bf16x3, Strassen, or the float32 GEMM of product.c.
 */
#include "fast/gemm/matmul.h"
#include "fast/gemm/product.h"
#include "fast/parallel.h"
#include "fast/gemm/bf16x3.h"
#include "fast/gemm/strassen.h"
#include "op/internal/fused.h"
#include "op/share/low_precision.h"
#include "op/share/product.h"

/* The right-hand matrix: element (k, j) of batch i's B is at data[base + k * row + j * column]. */
typedef struct right {
    const float *data;
    size_t size; /* elements of all batches */
    size_t row, column;
    const prt_matmul *mm;
    size_t c_step;                   /* elements of C in a batch */
    const prt_linear *low_precision; /* product whose low-precision panels are widened to float32 */
} right;

static void pack(const prt_product_spec *p, size_t batch, size_t first, size_t columns, size_t k,
    size_t depth, float *to)
{
    const right *b = p->user;
    size_t a_at = 0, b_at = 0;
    if (b->mm != NULL)
        prt_matmul_at(b->mm, batch, &a_at, &b_at);
    prt_gemm_pack(depth, columns, b->data + b_at + k * b->row + first * b->column, b->row,
        b->column, to);
}

enum {
    IN_PLACE_ROWS = 64,    /* rows of A, up to which packing B does not pay */
    IN_PLACE_COLUMNS = 512 /* columns of B, up to which it is read in place then */
};

static const float *in_place(const prt_product_spec *p, size_t batch, size_t first, size_t k,
    size_t *stride)
{
    const right *b = p->user;
    size_t a_at, b_at;
    prt_matmul_at(b->mm, batch, &a_at, &b_at);
    const size_t at = b_at + k * b->row + first, last = at + (p->k - k - 1) * b->row;
    if (last + prt_gemm_panel_width(p->n, first) > b->size)
        return NULL;
    *stride = b->row;
    return b->data + at;
}

/* Returns the panel of column `first`, and its scales. */
static const void *low_precision_panel(const prt_linear *f, size_t first,
    prt_low_precision_scales *by)
{
    const size_t at =
        f->by.block != 0 ? first * prt_low_precision_blocks(f->by.block, f->k) : first;
    *by = f->by;
    if (by->scale != NULL)
        by->scale += at;
    if (by->offset != NULL)
        by->offset += at;
    return (const char *)f->panels +
        prt_low_precision_bytes(f->low_precision,
            first * prt_low_precision_rows(f->low_precision, f->k));
}

/* Packs a low-precision panel: widens it to float32. */
static void widen(const prt_product_spec *p, size_t batch, size_t first, size_t columns, size_t k,
    size_t depth, float *to)
{
    const prt_linear *f = ((const right *)p->user)->low_precision;
    prt_low_precision_scales by;
    const void *panel = low_precision_panel(f, first, &by);
    (void)batch;
    f->kern->low_precision.widen(f->low_precision, columns, k, depth, panel, &by, to);
}

static const void *source(const prt_product_spec *p, size_t first, size_t columns, size_t k,
    size_t depth, size_t *bytes)
{
    const prt_linear *f = ((const right *)p->user)->low_precision;
    const size_t width = prt_gemm_width(columns);
    prt_low_precision_scales by;
    const char *panel = low_precision_panel(f, first, &by);
    *bytes = prt_low_precision_bytes(f->low_precision, depth * width);
    return panel + prt_low_precision_bytes(f->low_precision, k * width);
}

static void find(const prt_product_spec *p, size_t batch, size_t *a, size_t *c, size_t *bias)
{
    const right *b = p->user;
    size_t b_at;
    prt_matmul_at(b->mm, batch, a, &b_at);
    *c = batch * b->c_step;
    *bias = 0;
}

/* Returns the sums of A's rows by block of K. */
static const float *sum_rows(prt_eval *c, const prt_linear *f)
{
    const size_t blocks = prt_low_precision_blocks(f->by.block, f->k);
    float *sums = prt_parallel_uninitialized_floats(c, f->m, blocks);
    for (size_t i = 0; sums != NULL && i < f->m; i++)
        for (size_t b = 0; b < blocks; b++) {
            const size_t from = b * f->by.block, left = f->k - from;
            sums[i * blocks + b] = (float)f->kern->rows.sum(left < f->by.block ? left : f->by.block,
                f->a + i * f->k + from);
        }
    return sums;
}

/* Multiplies all rows by the panels from column `from` on; each panel is read once. */
static void run_panels(const prt_linear *f, size_t from, size_t n)
{
    for (size_t at = from; at < from + n; at += PRT_GEMM_PANEL) {
        const size_t columns = prt_gemm_panel_columns(f->n, at);
        const prt_gemm_end end = { .bias = f->bias != NULL ? f->bias + at : NULL,
            .residual = f->residual != NULL ? f->residual + at : NULL,
            .ldr = f->n,
            .act = f->act };
        if (f->low_precision < PRT_LOW_PRECISION_COUNT) {
            prt_low_precision_block g = { .kind = f->low_precision,
                .rows = f->m,
                .columns = columns,
                .k = f->k,
                .a = f->a,
                .lda = f->k,
                .sums = f->sums,
                .ldsums = prt_low_precision_blocks(f->by.block, f->k),
                .c = f->y + at,
                .ldc = f->n,
                .end = &end };
            g.b = low_precision_panel(f, at, &g.by);
            f->kern->low_precision.small_m(&g);
            continue;
        }
        const prt_gemm_block g = { .rows = f->m,
            .columns = columns,
            .k = f->k,
            .a = f->a,
            .lda = f->k,
            .b = f->b + at * f->k,
            .stride = prt_gemm_width(columns),
            .c = f->y + at,
            .ldc = f->n,
            .in_cache = f->weights_in_cache,
            .end = &end };
        f->kern->gemm(&g);
    }
}

/* An item that reads B from memory reads up to this number of panels side by side. */
enum { FAR_PANELS = 12 };

static bool streams_weights(const prt_linear *f)
{
    return f->packed && f->m == 1 && !f->weights_in_cache &&
        f->low_precision == PRT_LOW_PRECISION_COUNT &&
        f->residual != f->y; /* the residual is added last */
}

/* Adds the residual to columns [from, from + n) of a row, then applies the activation. */
static void finish_row(const prt_linear *f, size_t row, size_t from, size_t n)
{
    const prt_kern_rows *rows = &f->kern->rows;
    const size_t at = row * f->n + from;
    float *y = f->y + at;
    if (f->residual != NULL)
        rows->binary(PRT_BINARY_add, n, y, 1, f->residual + at, 1, y);
    if (f->act.kind != PRT_ACT_none)
        rows->act(&f->act, n, y, y);
}

static void run_streaming_row(const prt_linear *f, size_t from, size_t n)
{
    const prt_gemm_row r = { .k = f->k,
        .columns = n,
        .x = f->a,
        .b = f->b + from * f->k,
        .add = f->bias != NULL ? f->bias + from : NULL,
        .y = f->y + from,
        .from_memory = true };
    f->kern->gemm_row(&r);
    finish_row(f, 0, from, n);
}

static void run_small_m(const void *user, size_t item, float *scratch)
{
    const prt_linear *f = user;
    const prt_kern_rows *rows = &f->kern->rows;
    const size_t unit = f->transposed ? 1 : PRT_GEMM_PANEL;
    const size_t units = f->transposed ? f->n : (f->n + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
    const size_t from = prt_parallel_piece_begin(units, f->pieces, item) * unit;
    const size_t end = prt_parallel_piece_begin(units, f->pieces, item + 1) * unit;
    const size_t n = (end < f->n ? end : f->n) - from;
    (void)scratch;
    if (streams_weights(f)) {
        run_streaming_row(f, from, n);
        return;
    }
    if (f->packed) {
        run_panels(f, from, n);
        return;
    }
    for (size_t i = 0; i < f->m; i++) {
        float *y = f->y + i * f->n + from;
        if (f->transposed)
            rows->dots(f->k, n, f->a + i * f->k, f->b + from * f->k, f->k, NULL, y);
        else
            rows->sums(f->k, n, f->a + i * f->k, f->b + from, f->n, NULL, y);
        if (f->bias != NULL)
            rows->binary(PRT_BINARY_add, n, y, 1, f->bias + from, 1, y);
        finish_row(f, i, from, n);
    }
}

static const float *panel_at(const prt_product_spec *p, size_t batch, size_t first, size_t k,
    size_t *stride)
{
    const right *b = p->user;
    (void)batch;
    *stride = prt_gemm_panel_width(p->n, first);
    return b->data + first * p->k + k * *stride;
}

poprt_status prt_linear_run(prt_eval *c, prt_linear *f)
{
    const bool is_low_precision = f->low_precision < PRT_LOW_PRECISION_COUNT;
    if (f->m < PRT_LINEAR_UNPACKED_ROWS ||
        (is_low_precision && f->m <= PRT_LINEAR_LOW_PRECISION_ROWS)) {
        const size_t panels = (f->n + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
        f->pieces = prt_parallel_pieces(f->n * f->k, 1 << 16);
        f->weights_in_cache = c->weights_in_cache;
        if (!f->packed && !f->transposed) /* rows of B in place: long pieces of a row are faster */
            f->pieces = prt_parallel_threads(c);
        if (streams_weights(f)) { /* panels side by side, the same number for each thread */
            const size_t width = prt_parallel_threads(c), each = panels / (width * FAR_PANELS);
            f->pieces = prt_size_min(prt_parallel_balanced_pieces(c, f->n * f->k, 1 << 16),
                width * (each != 0 ? each : 1));
        }
        f->pieces = !f->transposed && panels < f->pieces ? panels : f->pieces;
        if (f->by.offset != NULL && (f->sums = sum_rows(c, f)) == NULL)
            return POPRT_E_NOMEM;
        return prt_parallel_for(c, f->pieces, 0, run_small_m, f);
    }
    if (f->packed && !is_low_precision && !f->in_order &&
        !prt_bf16x3_pays(c, f->kern, f->m, f->n, f->k) &&
        prt_strassen_pays(c, f->kern, f->m, f->n, f->k)) {
        const prt_strassen s = { .kern = f->kern,
            .batches = 1,
            .m = f->m,
            .n = f->n,
            .k = f->k,
            .a = f->a,
            .lda = f->k,
            .b = f->b,
            .c = f->y,
            .ldc = f->n,
            .end = { .bias = f->bias, .residual = f->residual, .ldr = f->n, .act = f->act } };
        return prt_strassen_run(c, &s);
    }
    const right from = { .data = f->b,
        .row = f->transposed ? 1 : f->n,
        .column = f->transposed ? f->k : 1,
        .low_precision = f };
    const prt_product_spec p = { .batches = 1,
        .m = f->m,
        .n = f->n,
        .k = f->k,
        .a = f->a,
        .lda = f->k,
        .c = f->y,
        .ldc = f->n,
        .end = { .bias = f->bias, .residual = f->residual, .ldr = f->n, .act = f->act },
        .pack = is_low_precision ? widen : pack,
        .source = is_low_precision ? source : NULL,
        .direct = f->packed && !is_low_precision ? panel_at : NULL,
        .padded = f->packed && !is_low_precision,
        .user = &from };
    return prt_product_fast(c, f->kern, &p);
}

poprt_status prt_matmul_run(prt_eval *c, const prt_kern *k, const prt_tensor *a,
    const prt_tensor *b, bool transposed, bool *done)
{
    prt_matmul mm;
    prt_matmul_init(&mm, a, b);
    if (mm.k == 0)
        return prt_fast_use_reference(done);
    if (b->rank <= 2) { /* the right side is one matrix: batches are more rows of A */
        prt_linear f = { .kern = k,
            .m = mm.m * mm.batches,
            .n = mm.n,
            .k = mm.k,
            .a = a->data,
            .b = b->data,
            .transposed = transposed,
            .low_precision = PRT_LOW_PRECISION_COUNT,
            .y = c->out[0]->data };
        return prt_linear_run(c, &f);
    }
    const right from = { .data = b->data,
        .size = prt_tensor_count(b),
        .row = transposed ? 1 : mm.n,
        .column = transposed ? mm.k : 1,
        .mm = &mm,
        .c_step = mm.m * mm.n };
    const bool as_is = !transposed && mm.m <= IN_PLACE_ROWS && mm.n <= IN_PLACE_COLUMNS;
    const prt_product_spec p = { .batches = mm.batches,
        .m = mm.m,
        .n = mm.n,
        .k = mm.k,
        .a = a->data,
        .lda = mm.k,
        .c = c->out[0]->data,
        .ldc = mm.n,
        .at = mm.batches > 1 ? find : NULL,
        .pack = pack,
        .direct = as_is ? in_place : NULL,
        .user = &from };
    return prt_product_fast(c, k, &p);
}

poprt_status prt_fast_matmul(prt_eval *c, const prt_kern *k, bool *done)
{
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_eval_wants(c, 0))
        return prt_fast_use_reference(done);
    return prt_matmul_run(c, k, c->in[0], c->in[1], false, done);
}

poprt_status prt_fast_linear(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_fused_linear_attrs *attrs = c->attrs;
    if (!prt_fast_has(c, 0) || !prt_eval_wants(c, 0))
        return prt_fast_use_reference(done);
    const prt_tensor *a = c->in[0], *b = c->in[1], *y = c->out[0];
    const size_t n = (size_t)y->dims[y->rank - 1], depth = (size_t)a->dims[a->rank - 1];
    const size_t m = prt_dims_product(a->dims, 0, a->rank - 1);
    const int low_precision = prt_low_precision_of(b->dtype);
    const bool scaled = prt_eval_has(c, 4);
    if (depth == 0 || (low_precision == PRT_LOW_PRECISION_COUNT && scaled))
        return prt_fast_use_reference(done);
    prt_linear f = { .kern = k,
        .m = m,
        .n = n,
        .k = depth,
        .a = a->data,
        .b = low_precision == PRT_LOW_PRECISION_COUNT ? b->data : NULL,
        .transposed = attrs->transB != 0,
        .packed = attrs->columns != 0,
        .in_order = attrs->in_order != 0,
        .low_precision = low_precision,
        .panels = b->data,
        .by = { .scale = scaled ? c->in[4]->data : NULL,
            .offset = prt_eval_has(c, 5) ? c->in[5]->data : NULL,
            .block = (size_t)attrs->block },
        .bias = prt_eval_has(c, 2) ? c->in[2]->data : NULL,
        .residual = prt_eval_has(c, 3) ? c->in[3]->data : NULL,
        .y = y->data,
        .act = { attrs->activation, attrs->alpha, attrs->beta } };
    if (attrs->compute == PRT_LINEAR_i8)
        return (uintptr_t)b->data % sizeof(uint32_t) == 0 ? prt_linear_i4_blocks(c, &f)
                                                          : prt_fast_use_reference(done);
    return attrs->compute == PRT_LINEAR_bf16 ? prt_linear_bf16(c, &f) : prt_linear_run(c, &f);
}

poprt_status prt_fast_gemm(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_gemm_attrs *attrs = c->attrs;
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_eval_wants(c, 0) ||
        attrs->alpha != 1.0f || attrs->transA != 0)
        return prt_fast_use_reference(done);
    const prt_tensor *a = c->in[0], *b = c->in[1], *y = c->out[0];
    const prt_tensor *bias = prt_eval_has(c, 2) ? c->in[2] : NULL;
    const size_t m = (size_t)y->dims[0], n = (size_t)y->dims[1], depth = (size_t)a->dims[1];
    const bool by_column = bias != NULL && prt_tensor_count(bias) == n && bias->rank > 0 &&
        (size_t)bias->dims[bias->rank - 1] == n;
    if (depth == 0 || (bias != NULL && (attrs->beta != 1.0f || !by_column)))
        return prt_fast_use_reference(done);
    prt_linear f = { .kern = k,
        .m = m,
        .n = n,
        .k = depth,
        .a = a->data,
        .b = b->data,
        .transposed = attrs->transB != 0,
        .low_precision = PRT_LOW_PRECISION_COUNT,
        .bias = bias != NULL ? bias->data : NULL,
        .y = y->data };
    return prt_linear_run(c, &f);
}
