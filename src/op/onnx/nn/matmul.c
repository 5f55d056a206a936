/* SPDX-License-Identifier: MIT */
/* matmul.c — MatMul with numpy's broadcasting, and Gemm. */
#include "op/share/product.h"

/* The destination of sums: rows of the output from element `first` on. Gemm scales them and adds
 * C. */
typedef struct sink {
    prt_tensor *y;
    size_t first;
    double alpha, beta;
    const prt_tensor *c; /* may be NULL */
    size_t c_row, c_col; /* strides of C; 0 where it broadcasts */
} sink;

/* ---- MatMul ---- */

static poprt_status infer_matmul(prt_infer *c)
{
    prt_shape out;
    PRT_TRY(prt_matmul_infer(c, 0, 1, &out));
    return prt_infer_exact(c, 0, c->in[0].dtype, out.rank, out.dims);
}

static void store_matmul(const prt_product *p, size_t i, size_t j, size_t count, double *sums)
{
    const sink *to = p->user;
    prt_reals_store(to->y->dtype, to->y->data, to->first + i * p->n + j, 1, count, sums);
}

static poprt_status matmul_words(prt_eval *c, prt_product *p, const prt_matmul *mm)
{
    prt_tensor *y = c->out[0];
    uint64_t *out = prt_eval_scratch(c, p->m, p->n * sizeof(uint64_t));
    if (out == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < mm->batches; i++) {
        prt_matmul_at(mm, i, &p->a.first, &p->b.first);
        PRT_TRY(prt_product_words(c, p, out));
        for (size_t k = 0; k < p->m * p->n; k++)
            prt_store_u64(y->dtype, y->data, i * p->m * p->n + k, out[k]);
    }
    return POPRT_OK;
}

static poprt_status eval_matmul(prt_eval *c)
{
    const prt_tensor *a = c->in[0], *b = c->in[1];
    sink to = { .y = c->out[0] };
    prt_matmul mm;
    prt_matmul_init(&mm, a, b);
    if (prt_tensor_count(to.y) == 0)
        return POPRT_OK;
    /* With one right-hand matrix, the batch is merged into the rows of the left-hand matrix. */
    if (b->rank <= 2) {
        mm.m *= mm.batches;
        mm.batches = 1;
    }
    prt_product p = { .m = mm.m, .n = mm.n, .k = mm.k, .store = store_matmul, .user = &to };
    p.a = (prt_operand){ .dtype = a->dtype, .data = a->data, .row = mm.k, .col = 1 };
    p.b = (prt_operand){ .dtype = b->dtype, .data = b->data, .row = mm.n, .col = 1 };
    if (prt_product_is_wide(a->dtype))
        return matmul_words(c, &p, &mm);
    PRT_TRY(prt_product_init(c, &p));
    for (size_t i = 0; i < mm.batches; i++) {
        prt_matmul_at(&mm, i, &p.a.first, &p.b.first);
        to.first = i * p.m * p.n;
        PRT_TRY(prt_product_run(c, &p));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_matmul = { .infer = infer_matmul, .eval = eval_matmul };

/* ---- Gemm ---- */

static poprt_status infer_gemm(prt_infer *c)
{
    const prt_gemm_attrs *a = c->attrs;
    int64_t inner;
    PRT_TRY(prt_infer_rank(c, 0, 2));
    PRT_TRY(prt_infer_rank(c, 1, 2));
    const int64_t dims[2] = { prt_infer_dim(c, 0, a->transA != 0),
        prt_infer_dim(c, 1, a->transB == 0) };
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 0, a->transA == 0),
        prt_infer_dim(c, 1, a->transB != 0), "inner dim", &inner));
    if (prt_infer_ranked(c, 2)) {
        const prt_shape *bias = &c->in[2];
        if (bias->rank > 2)
            return prt_infer_fail(c, POPRT_E_SHAPE, "C has rank %d; the limit is 2", bias->rank);
        for (int32_t i = 1; i <= bias->rank; i++) {
            const int64_t dim = bias->dims[bias->rank - i], want = dims[2 - i];
            if (prt_dim_is_number(dim) && prt_dim_is_number(want) && dim != 1 && dim != want)
                return prt_infer_fail(c, POPRT_E_SHAPE,
                    "a dim of C is %lld, which does not broadcast to %lld", (long long)dim,
                    (long long)want);
        }
    }
    return prt_infer_exact(c, 0, c->in[0].dtype, 2, dims);
}

static void store_gemm(const prt_product *p, size_t i, size_t j, size_t count, double *sums)
{
    const sink *to = p->user;
    double bias[PRT_TILE_COLS];
    for (size_t k = 0; k < count; k++)
        sums[k] *= to->alpha;
    if (to->c != NULL) {
        prt_reals_load(to->c->dtype, to->c->data, i * to->c_row + j * to->c_col, to->c_col, count,
            bias);
        for (size_t k = 0; k < count; k++)
            sums[k] += to->beta * bias[k];
    }
    prt_reals_store(to->y->dtype, to->y->data, i * p->n + j, 1, count, sums);
}

/* Integers: exact if alpha and beta are 1; otherwise the scaled sum is truncated toward zero. */
static poprt_status gemm_words(prt_eval *c, const prt_product *p, const sink *to)
{
    const int32_t dtype = to->y->dtype;
    const bool exact = to->alpha == 1.0 && (to->c == NULL || to->beta == 1.0);
    uint64_t *out = prt_eval_scratch(c, p->m, p->n * sizeof(uint64_t));
    if (out == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_product_words(c, p, out));
    for (size_t i = 0; i < p->m * p->n; i++) {
        const size_t at = i / p->n * to->c_row + i % p->n * to->c_col;
        if (exact) {
            const int64_t bias = to->c != NULL ? prt_load_i64(dtype, to->c->data, at) : 0;
            prt_store_u64(dtype, to->y->data, i, out[i] + (uint64_t)bias);
            continue;
        }
        const double sum = dtype == PRT_DTYPE_u64 ? (double)out[i] : (double)(int64_t)out[i];
        double bias = 0.0;
        if (to->c != NULL)
            prt_reals_load(dtype, to->c->data, at, 1, 1, &bias);
        prt_store_f64(dtype, to->y->data, i, to->alpha * sum + to->beta * bias);
    }
    return POPRT_OK;
}

static prt_operand operand(const prt_tensor *t, bool transposed)
{
    const size_t cols = (size_t)t->dims[1];
    return (prt_operand){ .dtype = t->dtype,
        .data = t->data,
        .row = transposed ? 1 : cols,
        .col = transposed ? cols : 1 };
}

static poprt_status eval_gemm(prt_eval *c)
{
    const prt_gemm_attrs *a = c->attrs;
    const prt_tensor *bias = prt_eval_has(c, 2) && a->beta != 0.0f ? c->in[2] : NULL;
    sink to = { .y = c->out[0], .alpha = (double)a->alpha, .beta = (double)a->beta, .c = bias };
    if (prt_tensor_count(to.y) == 0)
        return POPRT_OK;
    if (bias != NULL && bias->rank > 0 && bias->dims[bias->rank - 1] != 1)
        to.c_col = 1;
    if (bias != NULL && bias->rank > 1 && bias->dims[0] != 1)
        to.c_row = (size_t)bias->dims[1];
    prt_product p = { .m = (size_t)to.y->dims[0],
        .n = (size_t)to.y->dims[1],
        .k = (size_t)c->in[0]->dims[a->transA == 0],
        .store = store_gemm,
        .user = &to };
    p.a = operand(c->in[0], a->transA != 0);
    p.b = operand(c->in[1], a->transB != 0);
    if (prt_product_is_wide(to.y->dtype))
        return gemm_words(c, &p, &to);
    PRT_TRY(prt_product_init(c, &p));
    return prt_product_run(c, &p);
}

const prt_op_hooks prt_op_gemm = { .infer = infer_gemm, .eval = eval_gemm };
