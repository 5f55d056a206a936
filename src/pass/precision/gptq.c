/* SPDX-License-Identifier: MIT */
/*
 * gptq.c — GPTQ (Frantar et al., 2022). H is the sum of x x' over the inputs x, and U the upper
 * triangular matrix with U'U = H^-1. After rounding weight j, the error divided by U(j,j), times
 * U(j,l), is subtracted from each later weight l. One hundredth of H's mean diagonal is added to
 * the diagonal first.
 *
 * U is the inverse of a triangular factor of H with rows and columns in reverse order, so that H
 * itself need not be inverted.
 */
#include "pass/precision/gptq.h"

#include <math.h>

#include "op/share/sliding.h"

enum { MOST_DEPTH = 2048, MOST_ROWS = 16384 };

static const double most_work = 0x1p36, damping = 0.01;

/* Returns the index of the weight element by which filter `f` multiplies input `k` of a sum. */
static size_t at(const prt_gptq *g, size_t f, size_t k)
{
    const bool by_filter = prt_op_is(g->layer, PRT_OP_conv) ||
        (prt_op_is(g->layer, PRT_OP_gemm) &&
            ((const prt_gemm_attrs *)g->layer->attrs)->transB != 0);
    return by_filter ? f * g->depth + k : k * g->filters + f;
}

static bool is_plain(const prt_op *op, const prt_tensor *w)
{
    if (prt_op_is(op, PRT_OP_conv))
        return w->rank >= 3 && ((const prt_conv_attrs *)op->attrs)->group == 1;
    return w->rank == 2;
}

poprt_status prt_gptq_create(prt_arena *arena, const prt_op *layer, size_t values, prt_gptq **out)
{
    prt_tensor w;
    *out = NULL;
    if (!prt_fp8_weight(layer, &w) || !is_plain(layer, &w) || prt_tensor_count(&w) == 0)
        return POPRT_OK;
    prt_gptq *g = PRT_NEW(arena, prt_gptq);
    if (g == NULL)
        return POPRT_E_NOMEM;
    g->layer = layer;
    g->weight = w;
    g->each = values < MOST_ROWS ? MOST_ROWS / (values != 0 ? values : 1) : 1;
    const bool transposed =
        prt_op_is(layer, PRT_OP_gemm) && ((const prt_gemm_attrs *)layer->attrs)->transB != 0;
    g->filters = (size_t)w.dims[prt_op_is(layer, PRT_OP_conv) || transposed ? 0 : 1];
    g->depth = prt_tensor_count(&w) / g->filters;
    const double depth = (double)g->depth;
    if (g->depth > MOST_DEPTH || depth * depth * (double)g->filters > most_work)
        return POPRT_OK;
    g->hessian = PRT_NEW_N(arena, double, g->depth * g->depth);
    g->factor = PRT_NEW_N(arena, double, g->depth * g->depth);
    g->row = PRT_NEW_N(arena, double, g->depth);
    if (g->hessian == NULL || g->factor == NULL || g->row == NULL)
        return POPRT_E_NOMEM;
    *out = g;
    return POPRT_OK;
}

/* ---- inputs */

/* Adds row * row' to the lower triangle of the Hessian. */
static void add_row(prt_gptq *g)
{
    for (size_t i = 0; i < g->depth; i++) {
        double *to = g->hessian + i * g->depth;
        const double x = g->row[i];
        for (size_t j = 0; x != 0 && j <= i; j++)
            to[j] += x * g->row[j];
    }
}

/* Returns the index of the i-th sampled row among `all`. */
static size_t sampled_row(const prt_gptq *g, size_t i, size_t all)
{
    return all <= g->each ? i : (size_t)((uint64_t)i * all / g->each);
}

static size_t sample_count(const prt_gptq *g, size_t all)
{
    return all <= g->each ? all : g->each;
}

static double load(const prt_tensor *x, size_t i)
{
    const double value = prt_load_f64(x->dtype, x->data, i);
    return isfinite(value) ? value : 0;
}

static void add_matrix(prt_gptq *g, const prt_tensor *x)
{
    const bool transposed =
        prt_op_is(g->layer, PRT_OP_gemm) && ((const prt_gemm_attrs *)g->layer->attrs)->transA != 0;
    const size_t rows = prt_tensor_count(x) / g->depth;
    for (size_t i = 0; i < sample_count(g, rows); i++) {
        const size_t r = sampled_row(g, i, rows);
        for (size_t k = 0; k < g->depth; k++)
            g->row[k] = load(x, transposed ? k * rows + r : r * g->depth + k);
        add_row(g);
    }
}

static void add_window(prt_gptq *g, const prt_tensor *x, const prt_window *w, size_t first,
    const int64_t *out)
{
    const size_t plane = prt_dims_product(x->dims, 2, x->rank);
    const size_t taps = prt_dims_product(g->weight.dims, 2, g->weight.rank);
    int64_t tap[PRT_MAX_SPATIAL] = { 0 };
    for (size_t t = 0; t < taps; t++) {
        const size_t from = prt_window_source(w, out, tap);
        for (size_t c = 0; c < (size_t)x->dims[1]; c++)
            g->row[c * taps + t] = from == SIZE_MAX ? 0 : load(x, first + c * plane + from);
        (void)prt_at_next(w->rank, w->kernel, tap);
    }
    add_row(g);
}

static void add_images(prt_gptq *g, const prt_tensor *x)
{
    const prt_conv_attrs *a = g->layer->attrs;
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    prt_window w;
    prt_window_fill(NULL, &spec, x->rank - 2, x->dims + 2, g->weight.dims + 2, &w);
    const size_t positions = prt_dims_product(w.out, 0, w.rank);
    const size_t image = prt_dims_product(x->dims, 1, x->rank);
    const size_t rows = (size_t)x->dims[0] * positions;
    for (size_t i = 0; i < sample_count(g, rows); i++) {
        const size_t r = sampled_row(g, i, rows);
        int64_t out[PRT_MAX_SPATIAL];
        prt_unravel(r % positions, w.rank, w.out, out);
        add_window(g, x, &w, r / positions * image, out);
    }
}

void prt_gptq_add(prt_gptq *g, const prt_tensor *x)
{
    if (prt_op_is(g->layer, PRT_OP_conv))
        add_images(g, x);
    else
        add_matrix(g, x);
}

/* ---- rounding */

static double hessian_at(const prt_gptq *g, size_t i, size_t j)
{
    return i >= j ? g->hessian[i * g->depth + j] : g->hessian[j * g->depth + i];
}

/* Cholesky factor L of H = L L', rows and columns in reverse order. Returns false if H is not
 * positive definite. */
static bool decompose(prt_gptq *g, double more)
{
    const size_t n = g->depth;
    for (size_t i = 0; i < n; i++) {
        double *row = g->factor + i * n;
        for (size_t j = 0; j <= i; j++) {
            const double *other = g->factor + j * n;
            double sum = hessian_at(g, n - 1 - i, n - 1 - j) + (i == j ? more : 0);
            for (size_t k = 0; k < j; k++)
                sum -= row[k] * other[k];
            if (i == j && !(sum > 0))
                return false;
            row[j] = i == j ? sqrt(sum) : sum / other[j];
        }
    }
    return true;
}

/* Replaces the lower triangular factor by its inverse, row by row. */
static void invert(prt_gptq *g)
{
    const size_t n = g->depth;
    for (size_t i = 0; i < n; i++) {
        double *row = g->factor + i * n;
        const double diagonal = row[i];
        for (size_t j = 0; j < i; j++)
            g->row[j] = row[j];
        for (size_t j = 0; j < i; j++)
            row[j] = 0;
        for (size_t k = 0; k < i; k++) {
            const double *other = g->factor + k * n;
            for (size_t j = 0; j <= k; j++)
                row[j] -= g->row[k] * other[j];
        }
        for (size_t j = 0; j < i; j++)
            row[j] /= diagonal;
        row[i] = 1 / diagonal;
    }
}

static void round_filter(const prt_gptq *g, prt_fp8_code code, size_t f, double *to)
{
    const size_t n = g->depth;
    double *w = g->row;
    for (size_t k = 0; k < n; k++)
        w[k] = load(&g->weight, at(g, f, k));
    for (size_t j = 0; j < n; j++) {
        const double *u = g->factor + (n - 1 - j) * n; /* U(j,l) is at index n - 1 - l */
        double q;
        prt_fp8_round(code, 1, &w[j], &q);
        const double error = (w[j] - q) / u[n - 1 - j];
        to[at(g, f, j)] = q;
        for (size_t l = j + 1; l < n; l++)
            w[l] -= error * u[n - 1 - l];
    }
}

bool prt_gptq_round(prt_gptq *g, prt_fp8_code code, double *to)
{
    double trace = 0;
    for (size_t i = 0; i < g->depth; i++)
        trace += hessian_at(g, i, i);
    if (!(trace > 0) || !isfinite(trace) || !decompose(g, damping * trace / (double)g->depth))
        return false;
    invert(g);
    for (size_t f = 0; f < g->filters; f++)
        round_filter(g, code, f, to);
    return true;
}

double prt_gptq_error(const prt_gptq *g, const double *q)
{
    double sum = 0;
    for (size_t f = 0; f < g->filters; f++) {
        for (size_t k = 0; k < g->depth; k++)
            g->row[k] = load(&g->weight, at(g, f, k)) - q[at(g, f, k)];
        for (size_t i = 0; i < g->depth; i++)
            for (size_t j = 0; j < g->depth; j++)
                sum += g->row[i] * hessian_at(g, i, j) * g->row[j];
    }
    return sum;
}
