/* SPDX-License-Identifier: MIT */
/* integer_matmul.c — MatMulInteger and QLinearMatMul of 8-bit integers. */
#include "fast/gemm/integer.h"
#include "fast/parallel.h"
#include "op/share/product.h"
#include "op/share/quant.h"

typedef struct matmul {
    const prt_matmul *mm;
    const uint8_t *b;
    prt_requantize q;
    void *y;
    bool one; /* the right side is one matrix: batches are more rows of A */
} matmul;

static const uint8_t *right(const prt_integer *p, size_t batch, size_t k, size_t first,
    size_t columns, uint8_t *scratch)
{
    const matmul *m = p->user;
    size_t a = 0, b = 0;
    (void)columns;
    (void)scratch;
    if (!m->one)
        prt_matmul_at(m->mm, batch, &a, &b);
    return m->b + b + k * p->n + first;
}

static void store_integer(const prt_integer *p, size_t batch, size_t row, size_t first,
    size_t columns, const int32_t *sums)
{
    const matmul *m = p->user;
    memcpy((int32_t *)m->y + (batch * p->m + row) * p->n + first, sums, columns * sizeof(int32_t));
}

static void store_bytes(const prt_integer *p, size_t batch, size_t row, size_t first,
    size_t columns, const int32_t *sums)
{
    const matmul *m = p->user;
    prt_requantize q = m->q;
    q.scales = q.scales != NULL ? q.scales + first : NULL;
    p->kern->bytes.requantize(columns, sums, &q,
        (uint8_t *)m->y + (batch * p->m + row) * p->n + first);
}

/* Runs both operators. `a_zero` and `b_zero` are the inputs of zero points. Passes products whose
 * left sides are broadcast. */
static poprt_status run(prt_eval *c, const prt_kern *k, uint32_t a, uint32_t b, uint32_t a_zero,
    uint32_t b_zero, matmul *m, bool *done)
{
    const prt_tensor *x = c->in[a], *w = c->in[b];
    prt_matmul mm;
    prt_matmul_init(&mm, x, w);
    m->mm = &mm;
    m->b = w->data;
    m->y = c->out[0]->data;
    m->one = w->rank <= 2;
    prt_integer p = { .kern = k,
        .m = mm.m,
        .n = mm.n,
        .k = mm.k,
        .a = x->data,
        .batches = mm.batches,
        .lefts = mm.batches,
        .a_signed = x->dtype == PRT_DTYPE_i8,
        .b_signed = w->dtype == PRT_DTYPE_i8,
        .right = right,
        .user = m,
        .store = c->out[0]->dtype == PRT_DTYPE_i32 ? store_integer : store_bytes };
    if (m->one) {
        p.m *= mm.batches;
        p.batches = p.lefts = 1;
    }
    if (p.k == 0 || prt_tensor_count(x) != p.lefts * p.m * p.k)
        return prt_fast_use_reference(done);
    p.a_zero = prt_integer_zeros(c, a_zero, p.m, &p.a_step);
    p.b_zero = prt_integer_zeros(c, b_zero, p.n, &p.b_step);
    if (p.a_zero == NULL || p.b_zero == NULL || p.a_step != 0)
        return prt_fast_use_reference(done);
    return prt_integer_run(c, &p);
}

poprt_status prt_fast_matmul_integer(prt_eval *c, const prt_kern *k, bool *done)
{
    matmul m = { 0 };
    if (!prt_integer_has(c, 0) || !prt_integer_has(c, 1) || !prt_fast_has_output(c))
        return prt_fast_use_reference(done);
    return run(c, k, 0, 1, 2, 3, &m, done);
}

static bool is_one(const prt_eval *c, uint32_t i)
{
    return prt_tensor_count(c->in[i]) == 1;
}

poprt_status prt_fast_qlinear_matmul(prt_eval *c, const prt_kern *k, bool *done)
{
    matmul m = { 0 };
    if (!prt_integer_has(c, 0) || !prt_integer_has(c, 3) || !prt_fast_has_output(c) ||
        !prt_integer_has(c, 7) || !is_one(c, 1) || !is_one(c, 6) || !is_one(c, 7))
        return prt_fast_use_reference(done);
    const prt_tensor *scale = c->in[4];
    const size_t n = prt_tensor_count(scale),
                 columns = (size_t)c->out[0]->dims[c->out[0]->rank - 1];
    if (c->out[0]->rank < 2 || c->in[3]->rank < 2 || (n != 1 && (scale->rank != 1 || n != columns)))
        return prt_fast_use_reference(done);
    const double a = prt_quant_number(c, 1, 1), y = prt_quant_number(c, 6, 1);
    m.q.zero = prt_quant_number(c, 7, 0);
    (void)prt_quant_range(c->out[0]->dtype, &m.q.low, &m.q.high);
    double *scales = prt_eval_scratch(c, n, sizeof(double));
    if (scales == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        scales[i] = a * prt_load_f64(scale->dtype, scale->data, i) / y;
    m.q.scale = scales[0];
    m.q.scales = n != 1 ? scales : NULL;
    return run(c, k, 0, 3, 2, 5, &m, done);
}
