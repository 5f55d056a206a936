/* SPDX-License-Identifier: MIT */
/* fourier.c — Irfft: the inverse real DFT along the last dims. */
#include <math.h>

#include "op/share/reals.h"

static poprt_status infer(prt_infer *c)
{
    const prt_ms_irfft_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK], two;
    if (a->signal_ndim != 1 || a->onesided != 1 || a->normalized != 0)
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED,
            "signal_ndim and onesided must be 1, "
            "normalized 0");
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    if (x->rank < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; at least 2 is needed",
            x->rank);
    PRT_TRY(prt_infer_merge(c, 2, x->dims[x->rank - 1], "real and imaginary part", &two));
    memcpy(dims, x->dims, sizeof(dims));
    int64_t *n = &dims[x->rank - 2];
    if (prt_dim_is_number(*n) && *n < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "a spectrum of %lld numbers is too short; at least 2 are needed", (long long)*n);
    *n = prt_dim_mul(c->dims, prt_dim_sub(c->dims, *n, 1), 2);
    return prt_infer_exact(c, 0, x->dtype, x->rank - 1, dims);
}

/* Computes the DFT sum directly. Frequencies between the first and the last count twice, for their
   conjugates. */
static poprt_status eval(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const size_t waves = (size_t)x->dims[x->rank - 2], n = 2 * (waves - 1);
    double *in = prt_eval_scratch(c, waves, 2 * sizeof(double));
    double *out = prt_eval_scratch(c, n, sizeof(double));
    if (in == NULL || out == NULL)
        return POPRT_E_NOMEM;
    for (size_t r = 0; prt_eval_wants(c, 0) && r < prt_tensor_count(c->out[0]) / n; r++) {
        prt_reals_load(x->dtype, x->data, r * waves * 2, 1, waves * 2, in);
        for (size_t t = 0; t < n; t++) {
            PRT_TRY(c->host->check(c));
            out[t] = 0;
            for (size_t k = 0; k < waves; k++) {
                const double angle = 6.28318530717958647692 * (double)(k * t % n) / (double)n;
                const double wave = in[2 * k] * cos(angle) - in[2 * k + 1] * sin(angle);
                out[t] += (k == 0 || k + 1 == waves ? 1 : 2) * wave / (double)n;
            }
        }
        prt_reals_store(x->dtype, c->out[0]->data, r * n, 1, n, out);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_irfft = { .infer = infer, .eval = eval };
