/* SPDX-License-Identifier: MIT */
/*
 * dft.c — DFT along one axis, and STFT, the DFT of windowed frames. Each DFT is computed by its
 * defining sum, with a table of the n different factors. The last axis holds the parts of numbers:
 * two for complex, one for real.
 */
#include <math.h>

#include "op/check.h"
#include "op/op.h"

enum { CHECK_ABOVE = 2048 }; /* above this length, every bin checks for cancellation */

typedef struct line {
    size_t n;
    bool inverse;
    double *cosine, *sine; /* of 2 pi k / n */
    double *re, *im;       /* real and imaginary parts of the line */
} line;

static poprt_status make_line(prt_eval *c, size_t n, bool inverse, line *l)
{
    double *memory = prt_eval_scratch(c, n, 4 * sizeof(double));
    if (memory == NULL)
        return POPRT_E_NOMEM;
    *l = (line){ n, inverse, memory, memory + n, memory + 2 * n, memory + 3 * n };
    for (size_t k = 0; k < n; k++) {
        const double t = 6.28318530717958647692 * (double)k / (double)n;
        l->cosine[k] = cos(t);
        l->sine[k] = sin(t);
    }
    return POPRT_OK;
}

/* Computes bin `k`: the product of the line and the k-th row of factors. */
static void sum_bin(const line *l, size_t k, double *re, double *im)
{
    double a = 0, b = 0;
    const double sign = l->inverse ? -1 : 1;
    for (size_t i = 0, at = 0; i < l->n; i++) {
        const double cosine = l->cosine[at], sine = sign * l->sine[at];
        a += l->re[i] * cosine + l->im[i] * sine;
        b += l->im[i] * cosine - l->re[i] * sine;
        at += k;
        if (at >= l->n)
            at -= l->n;
    }
    *re = l->inverse ? a / (double)l->n : a;
    *im = l->inverse ? b / (double)l->n : b;
}

/* Loads element `at` of a tensor with `parts` (1 or 2) parts in the last axis. */
static void load_number(const prt_tensor *x, size_t at, size_t parts, double *re, double *im)
{
    *re = prt_load_f64(x->dtype, x->data, at * parts);
    *im = parts == 2 ? prt_load_f64(x->dtype, x->data, at * parts + 1) : 0;
}

static void store_number(prt_tensor *y, size_t at, size_t parts, double re, double im)
{
    prt_store_f64(y->dtype, y->data, at * parts, re);
    if (parts == 2)
        prt_store_f64(y->dtype, y->data, at * parts + 1, im);
}

static poprt_status check_parts(const prt_infer *c, int64_t dim)
{
    if (prt_dim_is_number(dim) && dim != 1 && dim != 2)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the last dim is %lld; accepted: 1 (real), 2 (complex)", (long long)dim);
    return POPRT_OK;
}

/* ---- DFT ---- */

/* Computes the DFT length from input 1 or from the axis; a one-sided spectrum has about half of
 * it. */
static poprt_status dft_length(prt_infer *c, int64_t dim, int64_t *length)
{
    const prt_dft_attrs *a = c->attrs;
    if (prt_infer_has(c, 1))
        PRT_TRY(prt_infer_scalar(c, 1, length));
    else if (a->inverse != 0 && a->onesided != 0)
        *length = prt_dim_mul(c->dims, 2, prt_dim_sub(c->dims, dim, 1));
    else
        *length = dim;
    if (prt_dim_is_number(*length) && *length < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "the DFT length is %lld; it must be at least 1",
            (long long)*length);
    return POPRT_OK;
}

static poprt_status dft_infer(prt_infer *c)
{
    const prt_dft_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK], axis_number = -2, length;
    uint32_t axis;
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    if (x->rank < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the input has rank %d; a rank of at least 2 is required", x->rank);
    PRT_TRY(check_parts(c, x->dims[x->rank - 1]));
    memcpy(dims, x->dims, sizeof(dims));
    dims[x->rank - 1] = a->inverse != 0 && a->onesided != 0 ? 1 : 2;
    if (prt_infer_has(c, 2))
        PRT_TRY(prt_infer_scalar(c, 2, &axis_number));
    if (!prt_dim_is_number(axis_number)) {
        for (int32_t k = 0; k + 1 < x->rank; k++)
            dims[k] = PRT_DIM_UNKNOWN;
        return prt_infer_set(c, 0, x->dtype, x->rank, dims);
    }
    PRT_TRY(prt_infer_axis(c, axis_number, x->rank, false, &axis));
    if (axis + 1 == (uint32_t)x->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "axis is the last axis, which holds the real and imaginary parts");
    PRT_TRY(dft_length(c, x->dims[axis], &length));
    if (a->onesided != 0 && a->inverse == 0)
        length = prt_dim_add(c->dims, prt_dim_floordiv(c->dims, length, 2), 1);
    dims[axis] = length;
    return prt_infer_set(c, 0, x->dtype, x->rank, dims);
}

/* Loads a line. Elements beyond the input are zero; a one-sided spectrum is completed by
 * symmetry. */
static void read_line(const prt_tensor *x, size_t base, size_t stride, size_t have, bool half,
    line *l)
{
    const size_t parts = (size_t)x->dims[x->rank - 1], given = half ? l->n / 2 + 1 : l->n;
    for (size_t i = 0; i < l->n; i++) {
        l->re[i] = l->im[i] = 0;
        if (i < have && i < given)
            load_number(x, base + i * stride, parts, &l->re[i], &l->im[i]);
    }
    if (!half)
        return;
    l->im[0] = 0;
    for (size_t i = given; i < l->n; i++) {
        l->re[i] = l->re[l->n - i];
        l->im[i] = -l->im[l->n - i];
    }
    if (l->n % 2 == 0)
        l->im[l->n / 2] = 0;
}

static poprt_status dft_run(prt_eval *c, uint32_t axis, line *l)
{
    const prt_dft_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    const size_t have = (size_t)x->dims[axis], bins = (size_t)y->dims[axis];
    const size_t parts = (size_t)y->dims[y->rank - 1];
    const size_t outer = prt_dims_product(x->dims, 0, axis);
    const size_t inner = prt_dims_product(x->dims, axis + 1, x->rank - 1);
    const bool half = a->inverse != 0 && a->onesided != 0;
    for (size_t o = 0; o < outer && inner != 0; o++)
        for (size_t i = 0; i < inner; i++) {
            PRT_TRY(c->host->check(c));
            read_line(x, o * have * inner + i, inner, have, half, l);
            for (size_t k = 0; k < bins; k++) {
                double re, im;
                if (l->n > CHECK_ABOVE)
                    PRT_TRY(c->host->check(c));
                sum_bin(l, k, &re, &im);
                store_number(y, (o * bins + k) * inner + i, parts, re, im);
            }
        }
    return POPRT_OK;
}

/* Reads axis and length from contents, which infer may not have seen. */
static poprt_status read_axis(prt_eval *c, uint32_t *axis, int64_t *length)
{
    const prt_dft_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    int64_t at = -2;
    if (prt_eval_has(c, 2))
        at = prt_load_i64(c->in[2]->dtype, c->in[2]->data, 0);
    if (at < -(int64_t)x->rank || at >= (int64_t)x->rank)
        return prt_eval_fail(c, POPRT_E_SHAPE, "axis %lld is outside the rank %u", (long long)at,
            x->rank);
    *axis = (uint32_t)(at < 0 ? at + (int64_t)x->rank : at);
    if (*axis + 1 == x->rank)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "axis is the last axis, which holds the real and imaginary parts");
    if (prt_eval_has(c, 1))
        *length = prt_load_i64(c->in[1]->dtype, c->in[1]->data, 0);
    else
        *length = a->inverse != 0 && a->onesided != 0 ? 2 * (x->dims[*axis] - 1) : x->dims[*axis];
    if (*length < 1)
        return prt_eval_fail(c, POPRT_E_ARG, "the DFT length is %lld; it must be at least 1",
            (long long)*length);
    return POPRT_OK;
}

static poprt_status dft_eval(prt_eval *c)
{
    const prt_dft_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    int64_t length = 1, dims[PRT_MAX_RANK];
    uint32_t axis = 0;
    line l;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(read_axis(c, &axis, &length));
    memcpy(dims, x->dims, sizeof(dims));
    dims[x->rank - 1] = a->inverse != 0 && a->onesided != 0 ? 1 : 2;
    dims[axis] = a->inverse == 0 && a->onesided != 0 ? length / 2 + 1 : length;
    PRT_TRY(prt_eval_shape(c, 0, x->dtype, x->rank, dims));
    PRT_TRY(make_line(c, (size_t)length, a->inverse != 0, &l));
    return dft_run(c, axis, &l);
}

/* ---- STFT ---- */

/* The signal is [batch, length, parts]; if the last dim is missing, as in some files, it is
 * real. */

/* Reads the number in a scalar input, or PRT_DIM_UNKNOWN. Fails with POPRT_E_ARG unless it is
 * positive. */
static poprt_status stft_number(const prt_infer *c, uint32_t i, int64_t *to)
{
    PRT_TRY(prt_infer_scalar(c, i, to));
    if (prt_dim_is_number(*to) && *to < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "input %u is %lld; it must be at least 1", i,
            (long long)*to);
    return POPRT_OK;
}

static poprt_status stft_infer(prt_infer *c)
{
    const prt_stft_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t dims[4] = { PRT_DIM_UNKNOWN, PRT_DIM_UNKNOWN, PRT_DIM_UNKNOWN, 2 };
    int64_t step, frame = PRT_DIM_UNKNOWN, signal = PRT_DIM_UNKNOWN;
    if (prt_infer_ranked(c, 0)) {
        if (x->rank != 2 && x->rank != 3)
            return prt_infer_fail(c, POPRT_E_SHAPE, "the signal has rank %d; accepted: 2, 3",
                x->rank);
        if (x->rank == 3)
            PRT_TRY(check_parts(c, x->dims[2]));
        if (x->rank == 3 && x->dims[2] == 2 && a->onesided != 0)
            return prt_infer_fail(c, POPRT_E_ARG,
                "a complex signal has no one-sided spectrum; onesided must be 0");
        dims[0] = x->dims[0];
        signal = x->dims[1];
    }
    PRT_TRY(stft_number(c, 1, &step));
    if (prt_infer_has(c, 3))
        PRT_TRY(stft_number(c, 3, &frame));
    else if (!prt_infer_has(c, 2))
        frame = signal;
    if (prt_infer_ranked(c, 2)) {
        if (c->in[2].rank != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE, "the window has rank %d; rank 1 is required",
                c->in[2].rank);
        PRT_TRY(prt_infer_merge(c, frame, c->in[2].dims[0], "the frame's length", &frame));
    }
    if (prt_dim_is_number(frame) && (frame < 1 || (prt_dim_is_number(signal) && frame > signal)))
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the frame length is %lld; accepted: 1 to the signal length, %lld", (long long)frame,
            (long long)signal);
    dims[1] = prt_dim_floordiv(c->dims, prt_dim_sub(c->dims, signal, frame), step);
    dims[1] = prt_dim_add(c->dims, dims[1], 1);
    dims[2] =
        a->onesided == 0 ? frame : prt_dim_add(c->dims, prt_dim_floordiv(c->dims, frame, 2), 1);
    return prt_infer_set(c, 0, x->dtype, 4, dims);
}

/* Computes step and frame length from contents, which infer may not have seen. */
static poprt_status read_frames(prt_eval *c, int64_t *step, int64_t *frame)
{
    const prt_stft_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    *step = prt_load_i64(c->in[1]->dtype, c->in[1]->data, 0);
    *frame = x->dims[1];
    if (prt_eval_has(c, 2))
        *frame = c->in[2]->dims[0];
    if (prt_eval_has(c, 3)) {
        const int64_t asked = prt_load_i64(c->in[3]->dtype, c->in[3]->data, 0);
        if (prt_eval_has(c, 2) && asked != *frame)
            return prt_eval_fail(c, POPRT_E_SHAPE,
                "the window has %lld elements, but frame_length is %lld", (long long)*frame,
                (long long)asked);
        *frame = asked;
    }
    if (*step < 1 || *frame < 1 || *frame > x->dims[1])
        return prt_eval_fail(c, POPRT_E_ARG,
            "frame length %lld or frame step %lld is not possible for a signal of length %lld",
            (long long)*frame, (long long)*step, (long long)x->dims[1]);
    const int64_t dims[4] = { x->dims[0], (x->dims[1] - *frame) / *step + 1,
        a->onesided != 0 ? *frame / 2 + 1 : *frame, 2 };
    return prt_eval_shape(c, 0, x->dtype, 4, dims);
}

static poprt_status stft_eval(prt_eval *c)
{
    const prt_tensor *x = c->in[0], *w = prt_eval_has(c, 2) ? c->in[2] : NULL;
    int64_t step = 1, frame = 1;
    line l;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(read_frames(c, &step, &frame));
    prt_tensor *y = c->out[0];
    PRT_TRY(make_line(c, (size_t)frame, false, &l));
    const size_t frames = (size_t)y->dims[1], bins = (size_t)y->dims[2];
    const size_t signal = (size_t)x->dims[1];
    const size_t parts = x->rank == 3 ? (size_t)x->dims[2] : 1;
    for (size_t f = 0; f < (size_t)y->dims[0] * frames; f++) {
        PRT_TRY(c->host->check(c));
        const size_t at = f / frames * signal + f % frames * (size_t)step;
        for (size_t i = 0; i < l.n; i++) {
            const double weight = w != NULL ? prt_load_f64(w->dtype, w->data, i) : 1;
            load_number(x, at + i, parts, &l.re[i], &l.im[i]);
            l.re[i] *= weight;
            l.im[i] *= weight;
        }
        for (size_t k = 0; k < bins; k++) {
            double re, im;
            if (l.n > CHECK_ABOVE)
                PRT_TRY(c->host->check(c));
            sum_bin(&l, k, &re, &im);
            store_number(y, f * bins + k, 2, re, im);
        }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_dft = { .infer = dft_infer, .eval = dft_eval };
const prt_op_hooks prt_op_stft = { .infer = stft_infer, .eval = stft_eval };
