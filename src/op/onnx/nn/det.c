/* SPDX-License-Identifier: MIT */
/*
 * det.c — Det: determinants of the square matrices in the last two dims, by Gaussian elimination
 * with partial pivoting.
 */
#include <math.h>

#include "op/internal/gradient.h"
#include "op/share/reals.h"

static poprt_status infer(prt_infer *c)
{
    const prt_shape *x = &c->in[0];
    int64_t side;
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, x->dtype, x->rank);
    if (x->rank < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the input has rank %d; a rank of at least 2 is required", x->rank);
    PRT_TRY(prt_infer_merge(c, x->dims[x->rank - 1], x->dims[x->rank - 2], "side of the matrix",
        &side));
    return prt_infer_set(c, 0, x->dtype, x->rank - 2, x->dims);
}

/* Returns the determinant; the matrix is overwritten. */
static double determinant(size_t n, double *m)
{
    double det = 1.0;
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(m[i * n + k]) > fabs(m[pivot * n + k]))
                pivot = i;
        if (m[pivot * n + k] == 0.0)
            return 0.0;
        if (pivot != k) {
            det = -det;
            for (size_t j = k; j < n; j++) {
                const double t = m[k * n + j];
                m[k * n + j] = m[pivot * n + j];
                m[pivot * n + j] = t;
            }
        }
        det *= m[k * n + k];
        for (size_t i = k + 1; i < n; i++) {
            const double factor = m[i * n + k] / m[k * n + k];
            for (size_t j = k; j < n; j++)
                m[i * n + j] -= factor * m[k * n + j];
        }
    }
    return det;
}

static poprt_status eval(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    const size_t n = (size_t)x->dims[x->rank - 1], count = prt_tensor_count(y);
    double *m = prt_eval_scratch(c, n, n * sizeof(double));
    if (m == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        prt_reals_load(x->dtype, x->data, i * n * n, 1, n * n, m);
        const double det = determinant(n, m);
        prt_reals_store(y->dtype, y->data, i, 1, 1, &det);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_det = { .infer = infer, .eval = eval };

/* ---- DetGrad */

static poprt_status infer_grad(prt_infer *c)
{
    static const uint32_t like[1] = { 0 };
    const prt_det_attrs forward = PRT_ATTRS_OF(det);
    const prt_gradient g = { PRT_OP_det, &forward, 1, 1, 1, like };
    return prt_gradient_infer(c, &g);
}

/* Returns the cofactor of element (row, col): the determinant of the other rows and columns with a
 * sign. Unlike the inverse it exists for singular matrices. `minor` is overwritten. */
static double cofactor(size_t n, const double *m, size_t row, size_t col, double *minor)
{
    double *to = minor;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (i != row && k != col)
                *to++ = m[i * n + k];
    const double det = determinant(n - 1, minor);
    return (row + col) % 2 == 0 ? det : -det;
}

static poprt_status eval_grad(prt_eval *c)
{
    const prt_tensor *x = c->in[0], *dy = c->in[1];
    const size_t n = (size_t)x->dims[x->rank - 1], count = prt_tensor_count(dy);
    double *m = prt_eval_scratch(c, n, n * sizeof(double));
    double *minor = prt_eval_scratch(c, n, n * sizeof(double));
    if (m == NULL || minor == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        PRT_TRY(c->host->check(c));
        prt_reals_load(x->dtype, x->data, i * n * n, 1, n * n, m);
        for (size_t k = 0; k < n * n; k++) {
            const double d = prt_real_at(dy, i) * cofactor(n, m, k / n, k % n, minor);
            prt_reals_store(x->dtype, c->out[0]->data, i * n * n + k, 1, 1, &d);
        }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_det_grad = { .infer = infer_grad, .eval = eval_grad };
