/* SPDX-License-Identifier: MIT */
/*
 * variadic.c — Max, Min, Sum, Mean of any number of broadcast inputs, accumulated in double or in
 * 64-bit integers in the order of the inputs.
 */
#include <math.h>

#include "op/share/broadcast.h"
#include "op/content.h"

typedef struct fold {
    void (*f64)(size_t n, const double *x, double *y);
    void (*i64)(size_t n, const int64_t *x, int64_t *y);
    void (*u64)(size_t n, const uint64_t *x, uint64_t *y);
} fold;

/* NaN propagates, as in numpy. */
static void max_f64(size_t n, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] > y[i] || isnan(x[i]))
            y[i] = x[i];
}

static void min_f64(size_t n, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] < y[i] || isnan(x[i]))
            y[i] = x[i];
}

static void sum_f64(size_t n, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

#define PICK(name, type, op)                                                                       \
    static void name(size_t n, const type *x, type *y)                                             \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = x[i] op y[i] ? x[i] : y[i];                                                     \
    }

PICK(max_i64, int64_t, >)
PICK(max_u64, uint64_t, >)
PICK(min_i64, int64_t, <)
PICK(min_u64, uint64_t, <)

static const fold fold_max = { max_f64, max_i64, max_u64 };
static const fold fold_min = { min_f64, min_i64, min_u64 };
static const fold fold_sum = { .f64 = sum_f64 };

/* Accumulates the whole output, so that each input is read once with its own strides. */
static poprt_status fold_floats(prt_eval *c, const fold *f, size_t n, double *acc)
{
    prt_tensor *out = c->out[0];
    double x[PRT_RUN];
    for (uint32_t k = 0; k < c->n_in; k++) {
        prt_rows r;
        prt_rows_init(&r, out, 1, &c->in[k]);
        while (prt_rows_next(&r)) {
            prt_read_f64(out->dtype, c->in[k]->data, r.from[0], r.step[0], r.count,
                k == 0 ? acc + r.to : x);
            if (k > 0)
                f->f64(r.count, x, acc + r.to);
        }
    }
    if (c->def->id == PRT_OP_mean)
        for (size_t i = 0; i < n; i++)
            acc[i] /= c->n_in;
    prt_write_f64(out->dtype, out->data, 0, n, acc);
    return POPRT_OK;
}

static poprt_status fold_ints(prt_eval *c, const fold *f, size_t n, int64_t *acc)
{
    prt_tensor *out = c->out[0];
    const bool no_sign = prt_dtype_is_unsigned(out->dtype);
    int64_t x[PRT_RUN];
    for (uint32_t k = 0; k < c->n_in; k++) {
        prt_rows r;
        prt_rows_init(&r, out, 1, &c->in[k]);
        while (prt_rows_next(&r)) {
            prt_read_i64(out->dtype, c->in[k]->data, r.from[0], r.step[0], r.count,
                k == 0 ? acc + r.to : x);
            if (k > 0 && no_sign)
                f->u64(r.count, (const uint64_t *)x, (uint64_t *)(acc + r.to));
            else if (k > 0)
                f->i64(r.count, x, acc + r.to);
        }
    }
    prt_write_i64(out->dtype, out->data, 0, n, acc);
    return POPRT_OK;
}

static poprt_status eval_fold(prt_eval *c, const fold *f)
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const size_t n = prt_tensor_count(c->out[0]);
    if (n == 0)
        return POPRT_OK;
    void *acc = prt_eval_scratch(c, n, sizeof(int64_t));
    if (acc == NULL)
        return POPRT_E_NOMEM;
    if (prt_dtype_is_float(c->out[0]->dtype))
        return fold_floats(c, f, n, acc);
    return fold_ints(c, f, n, acc);
}

/* The generic check of the row covers only the first input of a variadic slot. */
static poprt_status infer_fold(prt_infer *c)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        if (!prt_infer_has(c, i))
            return prt_infer_fail(c, POPRT_E_PARSE, "input %u is missing", i);
    return prt_infer_nary(c);
}

/* A symbol may be zero, so its maximum with a number stays an expression. */
static int64_t known_max(const prt_infer *c, uint32_t n, const int64_t *in)
{
    int64_t most = in[0];
    for (uint32_t i = 1; i < n; i++)
        most = prt_dim_max(c->dims, most, in[i]);
    return most;
}

static int64_t known_min(const prt_infer *c, uint32_t n, const int64_t *in)
{
    int64_t least = in[0];
    for (uint32_t i = 1; i < n; i++)
        least = prt_dim_min(c->dims, least, in[i]);
    return least;
}

static int64_t known_sum(const prt_infer *c, uint32_t n, const int64_t *in)
{
    int64_t total = in[0];
    for (uint32_t i = 1; i < n; i++)
        total = prt_dim_add(c->dims, total, in[i]);
    return total;
}

#define FOLD(id)                                                                                   \
    static poprt_status infer_##id(prt_infer *c)                                                   \
    {                                                                                              \
        PRT_TRY(infer_fold(c));                                                                    \
        return prt_known_map(c, known_##id);                                                       \
    }                                                                                              \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        return eval_fold(c, &fold_##id);                                                           \
    }                                                                                              \
    const prt_op_hooks prt_op_##id = { .infer = infer_##id, .eval = eval_##id };

FOLD(max)
FOLD(min)
FOLD(sum)

static poprt_status eval_mean(prt_eval *c)
{
    return eval_fold(c, &fold_sum);
}

const prt_op_hooks prt_op_mean = { .infer = infer_fold, .eval = eval_mean };
