/* SPDX-License-Identifier: MIT */
/* nhwc_norm.c — NhwcGroupNorm: group normalisation of channels-last images. */
#include <math.h>

#include "op/internal/fused.h"
#include "op/share/norm_core.h"

static poprt_status infer(prt_infer *c)
{
    const prt_nhwc_group_norm_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    if (prt_infer_ranked(c, 0) && x->rank < 3)
        return prt_infer_fail(c, POPRT_E_SHAPE, "X has rank %d; at least 3 is needed", x->rank);
    const int64_t channels = prt_infer_ranked(c, 0) ? x->dims[x->rank - 1] : PRT_DIM_UNKNOWN;
    if (a->num_groups < 1 || (prt_dim_is_number(channels) && channels % a->num_groups != 0))
        return prt_infer_fail(c, POPRT_E_SHAPE, "channels do not divide into %lld groups",
            (long long)a->num_groups);
    PRT_TRY(prt_infer_vector(c, 1, channels));
    PRT_TRY(prt_infer_vector(c, 2, channels));
    return prt_infer_like(c, 0, 0, x->dtype);
}

static poprt_status eval(prt_eval *c)
{
    const prt_nhwc_group_norm_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const size_t images = (size_t)x->dims[0], channels = (size_t)x->dims[x->rank - 1];
    const size_t pixels = prt_dims_product(x->dims, 1, x->rank - 1);
    const size_t each = channels / (size_t)a->num_groups;
    const prt_act act = { a->activation, a->alpha, a->beta };
    if (prt_tensor_count(x) == 0)
        return POPRT_OK;
    double *group = prt_eval_scratch(c, pixels, each * sizeof(double));
    if (group == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < images; i++)
        for (size_t first = 0; first < channels; first += each) {
            const size_t at = i * pixels * channels + first;
            double mean;
            PRT_TRY(c->host->check(c));
            for (size_t p = 0; p < pixels; p++)
                prt_reals_load(x->dtype, x->data, at + p * channels, 1, each, group + p * each);
            const double variance = prt_norm_centre(group, pixels * each, &mean);
            const double inverse = 1.0 / sqrt(variance + (double)a->epsilon);
            for (size_t p = 0; p < pixels; p++) {
                double *row = group + p * each;
                for (size_t k = 0; k < each; k++)
                    row[k] = row[k] * inverse * prt_real_at(c->in[1], first + k) +
                        prt_real_at(c->in[2], first + k);
                prt_reals_store(x->dtype, c->out[0]->data, at + p * channels, 1, each, row);
            }
        }
    prt_fused_finish(c, NULL, NULL, &act);
    return POPRT_OK;
}

const prt_op_hooks prt_op_nhwc_group_norm = { .infer = infer, .eval = eval };
