/* SPDX-License-Identifier: MIT */
/*
 * broadcast.c — the iterator over rows of broadcast inputs, and element-wise kernels that use it.
 */
#include "op/share/broadcast.h"

/* Element strides of an input along the output's axes. */
static void strides_of(const prt_tensor *in, uint32_t rank, size_t *stride)
{
    memset(stride, 0, PRT_MAX_RANK * sizeof(size_t));
    if (in == NULL)
        return;
    size_t size = 1;
    for (uint32_t k = 1; k <= in->rank && k <= rank; k++) {
        const int64_t dim = in->dims[in->rank - k];
        stride[rank - k] = dim == 1 ? 0 : size;
        size *= (size_t)dim;
    }
}

/* Returns true if every input walks axis `outer` and the next one as a single longer axis. */
static bool merges(const prt_rows *r, uint32_t outer, const size_t inner[PRT_ROWS_MAX], int64_t dim)
{
    for (uint32_t k = 0; k < r->n_in; k++)
        if (r->stride[k][outer] != inner[k] * (size_t)dim)
            return false;
    return true;
}

void prt_rows_init(prt_rows *r, const prt_tensor *out, uint32_t n_in, const prt_tensor *const *in)
{
    size_t stride[PRT_ROWS_MAX][PRT_MAX_RANK];
    PRT_ASSERT(n_in <= PRT_ROWS_MAX);
    memset(r, 0, sizeof(*r));
    r->n_in = n_in;
    r->most = PRT_RUN;
    r->total = prt_tensor_count(out);
    for (uint32_t k = 0; k < n_in; k++)
        strides_of(in[k], out->rank, stride[k]);
    for (uint32_t i = 0; i < out->rank; i++) {
        if (out->dims[i] == 1)
            continue;
        size_t inner[PRT_ROWS_MAX] = { 0 };
        for (uint32_t k = 0; k < n_in; k++)
            inner[k] = stride[k][i];
        if (r->rank > 0 && merges(r, r->rank - 1, inner, out->dims[i]))
            r->dims[r->rank - 1] *= out->dims[i];
        else
            r->dims[r->rank++] = out->dims[i];
        for (uint32_t k = 0; k < n_in; k++)
            r->stride[k][r->rank - 1] = inner[k];
    }
    if (r->rank == 0)
        r->dims[r->rank++] = 1;
}

void prt_rows_part(prt_rows *r, size_t first, size_t end)
{
    r->next = first;
    r->total = end;
    r->count = 0;
    for (uint32_t i = r->rank; i-- > 0 && first < end; first /= (size_t)r->dims[i])
        r->at[i] = (int64_t)(first % (size_t)r->dims[i]);
}

/* Recomputes the positions of all inputs from the coordinates. */
static void find_positions(prt_rows *r)
{
    for (uint32_t k = 0; k < r->n_in; k++) {
        r->from[k] = 0;
        for (uint32_t i = 0; i < r->rank; i++)
            r->from[k] += r->stride[k][i] * (size_t)r->at[i];
        r->step[k] = r->stride[k][r->rank - 1];
    }
}

/* Advances to the run at `next`, a mixed-radix counter. Usually only the last axis changes, and
 * otherwise mostly the one before it. */
bool prt_rows_next(prt_rows *r)
{
    if (r->next >= r->total)
        return false;
    const uint32_t last = r->rank - 1;
    uint32_t moved = last;
    r->at[last] += (int64_t)r->count;
    for (; moved > 0 && r->at[moved] == r->dims[moved]; moved--) {
        r->at[moved] = 0;
        r->at[moved - 1]++;
    }
    if (r->count == 0 || moved + 1 < last) {
        find_positions(r);
    } else {
        for (uint32_t k = 0; k < r->n_in; k++) {
            r->from[k] += r->count * r->step[k];
            if (moved < last)
                r->from[k] += r->stride[k][moved] - (size_t)r->dims[last] * r->step[k];
        }
    }
    const size_t row = (size_t)(r->dims[last] - r->at[last]), rest = r->total - r->next;
    const size_t left = row < rest ? row : rest;
    r->count = left < r->most ? left : r->most;
    r->to = r->next;
    r->next += r->count;
    return true;
}

static void binary_floats(prt_eval *c, const prt_binary_fns *f, prt_rows *r)
{
    double a[PRT_RUN], b[PRT_RUN], y[PRT_RUN];
    while (prt_rows_next(r)) {
        prt_read_f64(c->in[0]->dtype, c->in[0]->data, r->from[0], r->step[0], r->count, a);
        prt_read_f64(c->in[1]->dtype, c->in[1]->data, r->from[1], r->step[1], r->count, b);
        f->f64(r->count, a, b, y);
        prt_write_f64(c->out[0]->dtype, c->out[0]->data, r->to, r->count, y);
    }
}

/* Signed and unsigned integers have the same bits, and the two C types may alias. */
static poprt_status binary_ints(prt_eval *c, const prt_binary_fns *f, prt_rows *r)
{
    const bool no_sign = prt_dtype_is_unsigned(c->in[0]->dtype);
    int64_t a[PRT_RUN], b[PRT_RUN], y[PRT_RUN];
    while (prt_rows_next(r)) {
        prt_read_i64(c->in[0]->dtype, c->in[0]->data, r->from[0], r->step[0], r->count, a);
        prt_read_i64(c->in[1]->dtype, c->in[1]->data, r->from[1], r->step[1], r->count, b);
        const bool ok = no_sign
            ? f->u64(r->count, (const uint64_t *)a, (const uint64_t *)b, (uint64_t *)y)
            : f->i64(r->count, a, b, y);
        if (!ok)
            return prt_eval_fail(c, POPRT_E_ARG, "integer division by zero");
        prt_write_i64(c->out[0]->dtype, c->out[0]->data, r->to, r->count, y);
    }
    return POPRT_OK;
}

poprt_status prt_eval_binary(prt_eval *c, const prt_binary_fns *f)
{
    const bool floats = prt_dtype_is_float(c->in[0]->dtype);
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    if (floats ? f->f64 == NULL : f->i64 == NULL || f->u64 == NULL)
        return prt_eval_fail(c, POPRT_E_TYPE, "element type %s is not supported",
            prt_dtype_of(c->in[0]->dtype)->name);
    prt_rows r;
    prt_rows_init(&r, c->out[0], 2, c->in);
    if (!floats)
        return binary_ints(c, f, &r);
    binary_floats(c, f, &r);
    return POPRT_OK;
}

poprt_status prt_eval_map(prt_eval *c, double (*f)(double x, const double *p), const double *p)
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    double x[PRT_RUN];
    prt_rows r;
    prt_rows_init(&r, c->out[0], 1, c->in);
    while (prt_rows_next(&r)) {
        prt_read_f64(c->in[0]->dtype, c->in[0]->data, r.from[0], r.step[0], r.count, x);
        for (size_t i = 0; i < r.count; i++)
            x[i] = f(x[i], p);
        prt_write_f64(c->out[0]->dtype, c->out[0]->data, r.to, r.count, x);
    }
    return POPRT_OK;
}

poprt_status prt_infer_unary(prt_infer *c)
{
    const int32_t dtype = c->out[0].dtype;
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, dtype, PRT_RANK_UNKNOWN);
    return prt_infer_like(c, 0, 0, dtype);
}

poprt_status prt_infer_nary(prt_infer *c)
{
    const int32_t dtype = c->out[0].dtype;
    prt_shape shape = { .kind = PRT_VALUE_TENSOR };
    PRT_TRY(prt_infer_broadcast(c, 0, c->n_in, &shape));
    return prt_infer_set(c, 0, dtype, shape.rank, shape.dims);
}
