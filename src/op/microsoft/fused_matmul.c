/* SPDX-License-Identifier: MIT */
/*
 * fused_matmul.c — FusedMatMul: alpha times a product of matrices, each of which may be transposed
 * in its last two dims or with its batch dims; and FusedMatMulActivation, the same with an
 * activation.
 */
#include "op/microsoft/activation.h"
#include "op/share/product.h"

/* How an operand is read: `last` swaps the last two dims; `batch` reads [m, batch…, k] as [batch…,
   m, k]. */
typedef struct side {
    bool last, batch;
} side;

typedef struct params {
    side a, b;
    float alpha;
    prt_ms_activation activation;
} params;

static params plain_params(const void *attrs)
{
    const prt_ms_fused_matmul_attrs *a = attrs;
    return (params){ { a->transA != 0, a->transBatchA != 0 },
        { a->transB != 0, a->transBatchB != 0 }, a->alpha, { PRT_STR(""), { 0 }, 0 } };
}

static params activation_params(const void *attrs)
{
    const prt_ms_fused_matmul_activation_attrs *a = attrs;
    const prt_str name = a->activation;
    const bool given = prt_attr_given(a, 1) || prt_attr_given(a, 3);
    const uint32_t numbers = !given ? 0 : prt_attr_given(a, 3) ? 2 : 1;
    return (params){ { a->transA != 0, a->transBatchA != 0 },
        { a->transB != 0, a->transBatchB != 0 }, a->alpha,
        { name,
            { a->activation_alpha,
                prt_str_is(name, "Selu") ? a->activation_gamma : a->activation_beta },
            numbers } };
}

/* Returns the dims of the matrices that are multiplied. */
static void transpose_dims(side s, uint32_t rank, const int64_t *from, int64_t *to)
{
    memcpy(to, from, rank * sizeof(int64_t));
    if (rank < 2)
        return;
    if (s.batch) {
        memcpy(to, from + 1, (rank - 2) * sizeof(int64_t));
        to[rank - 2] = from[0];
    }
    if (s.last) {
        const int64_t swap = to[rank - 1];
        to[rank - 1] = to[rank - 2];
        to[rank - 2] = swap;
    }
}

static poprt_status infer_with(prt_infer *c, const params *f)
{
    prt_shape in[2] = { c->in[0], c->in[1] }, out;
    prt_infer transposed = *c;
    PRT_TRY(prt_ms_activation_check(c, &f->activation));
    for (uint32_t i = 0; i < 2; i++)
        if (prt_infer_ranked(c, i))
            transpose_dims(i == 0 ? f->a : f->b, (uint32_t)in[i].rank, c->in[i].dims, in[i].dims);
    transposed.in = in;
    PRT_TRY(prt_matmul_infer(&transposed, 0, 1, &out));
    return prt_infer_exact(c, 0, c->in[0].dtype, out.rank, out.dims);
}

/* Copies a tensor [m, batch…, k] to [batch…, m, k], as doubles in scratch. */
static poprt_status transpose_batch(prt_eval *c, prt_tensor *t)
{
    const size_t m = (size_t)t->dims[0], k = (size_t)t->dims[t->rank - 1];
    const size_t batches = prt_dims_product(t->dims, 1, t->rank - 1);
    double *to = prt_eval_scratch(c, prt_tensor_count(t), sizeof(double));
    if (to == NULL)
        return POPRT_E_NOMEM;
    for (size_t b = 0; b < batches; b++)
        for (size_t i = 0; i < m; i++)
            prt_reals_load(t->dtype, t->data, (i * batches + b) * k, 1, k, to + (b * m + i) * k);
    t->dtype = PRT_DTYPE_f64;
    t->data = to;
    return POPRT_OK;
}

/* Converts the dims of an operand to the dims that matmul pairs, and finds its strides. */
static poprt_status load_operand(prt_eval *c, side s, prt_tensor *t, prt_operand *o)
{
    int64_t dims[PRT_MAX_RANK];
    if (s.batch && t->rank > 2)
        PRT_TRY(transpose_batch(c, t));
    transpose_dims(s, t->rank, t->dims, dims);
    memcpy(t->dims, dims, t->rank * sizeof(int64_t));
    const bool transposed = s.last && t->rank > 1;
    const size_t cols = (size_t)t->dims[t->rank - 1];
    const size_t rows = t->rank > 1 ? (size_t)t->dims[t->rank - 2] : 1;
    *o = (prt_operand){ .dtype = t->dtype,
        .data = t->data,
        .row = transposed ? 1 : cols,
        .col = transposed ? rows : 1 };
    return POPRT_OK;
}

typedef struct sink {
    prt_tensor *y;
    size_t first;
    double alpha;
} sink;

static void store(const prt_product *p, size_t i, size_t j, size_t count, double *sums)
{
    const sink *to = p->user;
    for (size_t k = 0; k < count; k++)
        sums[k] *= to->alpha;
    prt_reals_store(to->y->dtype, to->y->data, to->first + i * p->n + j, 1, count, sums);
}

static poprt_status eval_with(prt_eval *c, const params *f)
{
    prt_tensor a = *c->in[0], b = *c->in[1];
    sink to = { .y = c->out[0], .alpha = (double)f->alpha };
    prt_product p = { .store = store, .user = &to };
    prt_matmul mm;
    if (!prt_eval_wants(c, 0) || prt_tensor_count(to.y) == 0)
        return POPRT_OK;
    PRT_TRY(load_operand(c, f->a, &a, &p.a));
    PRT_TRY(load_operand(c, f->b, &b, &p.b));
    if (b.rank == 1)
        p.b.row = 1;
    prt_matmul_init(&mm, &a, &b);
    if (b.rank <= 2 && !f->a.last) { /* one right-hand matrix: the batch becomes more rows */
        mm.m *= mm.batches;
        mm.batches = 1;
    }
    p.m = mm.m;
    p.n = mm.n;
    p.k = mm.k;
    PRT_TRY(prt_product_init(c, &p));
    for (size_t i = 0; i < mm.batches; i++) {
        prt_matmul_at(&mm, i, &p.a.first, &p.b.first);
        to.first = i * p.m * p.n;
        PRT_TRY(prt_product_run(c, &p));
    }
    return prt_ms_activation_run(c, &f->activation, NULL);
}

#define VARIANT(id, params_of)                                                                     \
    static poprt_status infer_##id(prt_infer *c)                                                   \
    {                                                                                              \
        const params f = params_of(c->attrs);                                                      \
        return infer_with(c, &f);                                                                  \
    }                                                                                              \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        const params f = params_of(c->attrs);                                                      \
        return eval_with(c, &f);                                                                   \
    }                                                                                              \
    const prt_op_hooks prt_op_ms_##id = { .infer = infer_##id, .eval = eval_##id };

VARIANT(fused_matmul, plain_params)
VARIANT(fused_matmul_activation, activation_params)
