/* SPDX-License-Identifier: MIT */
/* matmul.c — MatMul and Gemm of float32. */
#include "fast/product.h"
#include "fast/share.h"
#include "op/fused.h"
#include "op/product.h"


enum { FEW_ROWS = 4 }; /* packing B pays from here on */

/* Element (k, j) of batch i's B is at data[base + k * row + j * column]. */
typedef struct right {
    const float *data;
    size_t row, column;
    const prt_matmul *mm;
    size_t c_step; /* elements of C in a batch */
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

static void find(const prt_product_spec *p, size_t batch, size_t *a, size_t *c, size_t *bias)
{
    const right *b = p->user;
    size_t b_at;
    prt_matmul_at(b->mm, batch, a, &b_at);
    *c = batch * b->c_step;
    *bias = 0;
}

poprt_status prt_fast_matmul(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_matmul(prt_eval *c, const prt_kern *k, bool *done)
{
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_eval_wants(c, 0))
        return prt_fast_pass(done);
    const prt_tensor *a = c->in[0], *b = c->in[1];
    prt_matmul mm;
    prt_matmul_init(&mm, a, b);
    if (mm.k == 0)
        return prt_fast_pass(done);
    if (b->rank <= 2) { /* one right-hand matrix: the batch is more rows of the left one */
        mm.m *= mm.batches;
        mm.batches = 1;
    }
    const right from = { .data = b->data, .row = mm.n, .column = 1, .mm = &mm,
        .c_step = mm.m * mm.n };
    const prt_product_spec p = { .batches = mm.batches, .m = mm.m, .n = mm.n, .k = mm.k,
        .a = a->data, .lda = mm.k, .c = c->out[0]->data, .ldc = mm.n,
        .at = mm.batches > 1 ? find : NULL, .pack = pack, .user = &from };
    return prt_product_fast(c, k, &p);
}

/* Few rows of A, and rows of B as columns: each element is a sum along two rows. */
typedef struct dots {
    const prt_kern *kern;
    size_t m, n, k, pieces;
    const float *a, *b, *bias;
    float *y;
} dots;

static void run_dots(const void *user, size_t item, float *scratch)
{
    const dots *d = user;
    const size_t from = prt_share_cut(d->n, d->pieces, item);
    const size_t n = prt_share_cut(d->n, d->pieces, item + 1) - from;
    (void)scratch;
    for (size_t i = 0; i < d->m; i++) {
        float *y = d->y + i * d->n + from;
        d->kern->rows.dots(d->k, n, d->a + i * d->k, d->b + from * d->k, d->k, y);
        if (d->bias != NULL)
            d->kern->rows.two(PRT_TWO_add, n, y, 1, d->bias + from, 1, y);
    }
}

poprt_status prt_fast_linear(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_linear(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_fused_linear_attrs *attrs = c->attrs;
    prt_act act;
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_eval_wants(c, 0) ||
        !prt_fused_act(attrs->activation, attrs->alpha, attrs->beta, &act))
        return prt_fast_pass(done);
    const prt_tensor *a = c->in[0], *b = c->in[1], *y = c->out[0];
    const size_t n = (size_t)y->dims[y->rank - 1], depth = (size_t)a->dims[a->rank - 1];
    const size_t m = prt_dims_product(a->dims, 0, a->rank - 1);
    const bool turned = attrs->transB != 0;
    if (depth == 0)
        return prt_fast_pass(done);
    const right from = { .data = b->data, .row = turned ? 1 : n, .column = turned ? depth : 1 };
    const prt_product_spec p = { .batches = 1, .m = m, .n = n, .k = depth, .a = a->data,
        .lda = depth, .c = y->data, .ldc = n,
        .end = { .bias = prt_eval_has(c, 2) ? c->in[2]->data : NULL,
            .residual = prt_eval_has(c, 3) ? c->in[3]->data : NULL, .ldr = n, .act = act },
        .pack = pack, .user = &from };
    return prt_product_fast(c, k, &p);
}

poprt_status prt_fast_gemm(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_gemm(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_gemm_attrs *attrs = c->attrs;
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_eval_wants(c, 0) ||
        attrs->alpha != 1.0f || attrs->transA != 0)
        return prt_fast_pass(done);
    const prt_tensor *a = c->in[0], *b = c->in[1], *y = c->out[0];
    const prt_tensor *bias = prt_eval_has(c, 2) ? c->in[2] : NULL;
    const size_t m = (size_t)y->dims[0], n = (size_t)y->dims[1], depth = (size_t)a->dims[1];
    const bool by_column = bias != NULL && prt_tensor_count(bias) == n && bias->rank > 0 &&
        (size_t)bias->dims[bias->rank - 1] == n;
    if (depth == 0 || (bias != NULL && (attrs->beta != 1.0f || !by_column)))
        return prt_fast_pass(done);
    const bool turned = attrs->transB != 0;
    if (turned && m < FEW_ROWS) {
        const dots d = { .kern = k, .m = m, .n = n, .k = depth, .a = a->data, .b = b->data,
            .bias = bias != NULL ? bias->data : NULL, .y = y->data,
            .pieces = prt_share_pieces(n, 64) };
        return prt_share_run(c, d.pieces, 0, run_dots, &d);
    }
    const right from = { .data = b->data, .row = turned ? 1 : n, .column = turned ? depth : 1 };
    const prt_product_spec p = { .batches = 1, .m = m, .n = n, .k = depth, .a = a->data,
        .lda = depth, .c = y->data, .ldc = n,
        .end = { .bias = bias != NULL ? bias->data : NULL }, .pack = pack, .user = &from };
    return prt_product_fast(c, k, &p);
}
