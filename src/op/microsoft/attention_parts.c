/* SPDX-License-Identifier: MIT */
/* attention_parts.c — masks, projections and biases of attention operators. */
#include "op/microsoft/attention_parts.h"

#include <math.h>

#include "op/share/product.h"

/* ---- masks ---- */

double prt_ms_bias_at(const prt_tensor *t, size_t batch, size_t head, size_t i, size_t j)
{
    const size_t at[4] = { batch, head, i, j };
    size_t index = 0;
    double value;
    for (uint32_t k = 0; k < 4; k++) {
        const size_t dim = (size_t)t->dims[k];
        if (dim != 1 && at[k] >= dim)
            return 0;
        index = index * dim + (dim == 1 ? 0 : at[k]);
    }
    prt_reals_load(t->dtype, t->data, index, 1, 1, &value);
    return value;
}

/* Returns whether the mask hides key `j` from query `i`; `before` keys precede the first query's
   own. */
static bool is_closed(const prt_tensor *m, size_t images, size_t batch, size_t i, size_t j,
    size_t before)
{
    const int32_t *data = m->data;
    if (m->rank == 1) {
        const bool starts = (size_t)m->dims[0] == 2 * images && images != 0;
        return (int64_t)j >= data[batch] || (starts && (int64_t)j < data[batch + images]);
    }
    const size_t last = (size_t)m->dims[m->rank - 1];
    if (j >= last)
        return false;
    if (m->rank == 2)
        return data[batch * last + j] <= 0;
    const size_t rows = (size_t)m->dims[m->rank - 2], row = m->rank == 3 ? i : before + i;
    return row < rows && data[(batch * rows + row) * last + j] <= 0;
}

void prt_ms_fill_bias(const prt_attention *s, size_t batch, size_t head, size_t i, double *to)
{
    const prt_ms_mask *m = s->user;
    const size_t before = s->total > s->q.rows ? s->total - s->q.rows : 0;
    const size_t image = m->first + batch;
    for (size_t j = 0; j < s->total; j++) {
        to[j] = 0;
        if (m->causal && j > before + i) {
            to[j] = -HUGE_VAL;
            continue;
        }
        if (m->mask != NULL && is_closed(m->mask, s->batch, image, i, j, before))
            to[j] = m->filter;
        if (m->bias != NULL)
            to[j] += prt_ms_bias_at(m->bias, image, head, i, j);
    }
}

bool prt_ms_range(const prt_attention *s, size_t batch, size_t i, size_t *first, size_t *end)
{
    const prt_ms_mask *m = s->user;
    const size_t before = s->total > s->q.rows ? s->total - s->q.rows : 0;
    *first = 0;
    *end = m->causal && before + i + 1 < s->total ? before + i + 1 : s->total;
    if (m->bias != NULL || (m->mask != NULL && m->mask->rank > 2))
        return false;
    for (size_t j = 0; m->mask != NULL && j < *end; j++)
        if (is_closed(m->mask, s->batch, m->first + batch, i, j, before))
            return false;
    return true;
}

static bool differ(int64_t have, int64_t want)
{
    return prt_dim_is_number(have) && prt_dim_is_number(want) && have != want;
}

poprt_status prt_ms_check_mask(const prt_infer *c, uint32_t mask, const int64_t *want)
{
    if (!prt_infer_ranked(c, mask))
        return POPRT_OK;
    const prt_shape *m = &c->in[mask];
    const int64_t batch = want[0], n = m->rank > 0 ? m->dims[0] : 0;
    bool fits = m->rank >= 1 && m->rank <= 4;
    if (m->rank == 1)
        fits = !differ(n, batch) || !differ(n, prt_dim_mul(c->dims, batch, 2)) ||
            !differ(n, prt_dim_add(c->dims, prt_dim_mul(c->dims, batch, 3), 2));
    else if (fits)
        fits = !differ(n, batch);
    if (m->rank == 2)
        fits = fits && !differ(m->dims[1], want[3]);
    if (m->rank == 3)
        fits = fits && !differ(m->dims[1], want[2]) && !differ(m->dims[2], want[3]);
    if (m->rank == 4)
        fits = fits && !differ(m->dims[1], 1);
    if (!fits)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the mask of rank %d does not fit; accepted: [batch], [2 * batch], [3 * batch + 2], "
            "[batch, keys], [batch, queries, keys], [batch, 1, most, most]",
            m->rank);
    return POPRT_OK;
}

poprt_status prt_ms_check_bias(const prt_infer *c, uint32_t bias, const int64_t *want)
{
    if (!prt_infer_ranked(c, bias))
        return POPRT_OK;
    PRT_TRY(prt_infer_rank(c, bias, 4));
    for (uint32_t k = 0; k < 4; k++) {
        const int64_t have = c->in[bias].dims[k];
        if (differ(have, want[k]) && have != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "dim %u of attention_bias is %lld; 1 or %lld is needed", k, (long long)have,
                (long long)want[k]);
    }
    return POPRT_OK;
}

poprt_status prt_ms_check_heads(const prt_infer *c, int64_t heads, int64_t size)
{
    if (heads < 1 || heads > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "num_heads is %lld; at least 1 is needed",
            (long long)heads);
    if (prt_dim_is_number(size) && size % heads != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld is not divisible by %lld heads",
            (long long)size, (long long)heads);
    return POPRT_OK;
}

poprt_status prt_ms_hidden_sizes(const prt_infer *c, prt_i64s given, int64_t *sizes)
{
    const int64_t all = prt_infer_dim(c, 1, 1);
    if (given.count == 0) {
        if (prt_dim_is_number(all) && all % 3 != 0)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "weights have %lld columns; a multiple of 3 is needed", (long long)all);
        for (uint32_t i = 0; i < 3; i++)
            sizes[i] = prt_dim_floordiv(c->dims, all, 3);
        return POPRT_OK;
    }
    if (given.count != 3)
        return prt_infer_fail(c, POPRT_E_ARG, "qkv_hidden_sizes has %u numbers; 3 are needed",
            given.count);
    for (uint32_t i = 0; i < 3; i++) {
        sizes[i] = given.data[i];
        if (sizes[i] < 1 || sizes[i] > INT32_MAX)
            return prt_infer_fail(c, POPRT_E_ARG,
                "qkv_hidden_sizes has %lld; positive sizes are needed", (long long)sizes[i]);
    }
    if (sizes[0] != sizes[1])
        return prt_infer_fail(c, POPRT_E_ARG, "Q and K have different sizes, %lld and %lld",
            (long long)sizes[0], (long long)sizes[1]);
    if (prt_dim_is_number(all) && all != sizes[0] + sizes[1] + sizes[2])
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "weights have %lld columns; qkv_hidden_sizes needs %lld", (long long)all,
            (long long)(sizes[0] + sizes[1] + sizes[2]));
    return POPRT_OK;
}

double prt_ms_scale(float scale, size_t size)
{
    return scale != 0.0f ? (double)scale : 1 / sqrt((double)size);
}

/* ---- caches ---- */

prt_heads prt_ms_half(const prt_tensor *t, size_t which)
{
    prt_heads h = { 0 };
    if (t == NULL)
        return h;
    h = (prt_heads){ .dtype = t->dtype,
        .data = t->data,
        .heads = (size_t)t->dims[2],
        .rows = (size_t)t->dims[3],
        .size = (size_t)t->dims[4] };
    h.row = h.size;
    h.head = h.rows * h.size;
    h.batch = h.heads * h.head;
    h.first = which * (size_t)t->dims[1] * h.batch;
    return h;
}

/* ---- projections ---- */

typedef struct sink {
    double *to;
    const double *bias;
} sink;

static void store_sums(const prt_product *p, size_t i, size_t j, size_t count, double *sums)
{
    const sink *s = p->user;
    for (size_t k = 0; k < count; k++)
        s->to[i * p->n + j + k] = sums[k] + (s->bias != NULL ? s->bias[j + k] : 0);
}

double *prt_ms_project(prt_eval *c, const prt_tensor *x, const prt_tensor *w,
    const prt_tensor *bias)
{
    const size_t rows = prt_dims_product(x->dims, 0, x->rank - 1);
    const size_t in = (size_t)w->dims[0], cols = (size_t)w->dims[1];
    sink to = { prt_eval_scratch(c, rows, cols * sizeof(double)), NULL };
    prt_product p = { .m = rows, .n = cols, .k = in, .store = store_sums, .user = &to };
    p.a = (prt_operand){ .dtype = x->dtype, .data = x->data, .row = in, .col = 1 };
    p.b = (prt_operand){ .dtype = w->dtype, .data = w->data, .row = cols, .col = 1 };
    if (to.to == NULL || (bias != NULL && (to.bias = prt_eval_reals(c, bias)) == NULL) ||
        prt_product_init(c, &p) != POPRT_OK || prt_product_run(c, &p) != POPRT_OK)
        return NULL;
    return to.to;
}

poprt_status prt_ms_add_bias(prt_eval *c, prt_heads *h, size_t batch, const prt_tensor *bias,
    size_t from)
{
    if (bias == NULL || h->data == NULL)
        return POPRT_OK;
    const size_t each = h->heads * h->rows * h->size;
    double *to = prt_eval_scratch(c, batch, each * sizeof(double));
    double *add = prt_eval_scratch(c, h->size + 1, sizeof(double));
    if (to == NULL || add == NULL)
        return POPRT_E_NOMEM;
    for (size_t k = 0; k < h->heads; k++) {
        prt_reals_load(bias->dtype, bias->data, from + k * h->size, 1, h->size, add);
        for (size_t b = 0; b < batch; b++)
            for (size_t r = 0; r < h->rows; r++) {
                double *row = to + b * each + (k * h->rows + r) * h->size;
                prt_reals_load(h->dtype, h->data, prt_heads_at(h, b, k, r), 1, h->size, row);
                for (size_t d = 0; d < h->size; d++)
                    row[d] += add[d];
            }
    }
    *h = (prt_heads){ .dtype = PRT_DTYPE_f64,
        .data = to,
        .batch = each,
        .head = h->rows * h->size,
        .row = h->size,
        .heads = h->heads,
        .rows = h->rows,
        .size = h->size };
    return POPRT_OK;
}
