/* SPDX-License-Identifier: MIT */
/*
 * det.c — Det: determinants of the square matrices in the last two dims, by Gaussian elimination
 * with partial pivoting.
 */
#include <math.h>

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
