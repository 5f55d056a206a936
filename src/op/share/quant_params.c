/* SPDX-License-Identifier: MIT */
/* quant_params.c — scales and zero points of the matrices of a batch. */
#include "op/share/quant_params.h"

#include "op/share/reals.h"

poprt_status prt_quant_params_init(prt_eval *c, prt_quant_params *f, uint32_t i, size_t count,
    double absent)
{
    *f = (prt_quant_params){ .t = prt_eval_has(c, i) ? c->in[i] : NULL,
        .absent = absent,
        .count = count };
    f->values = prt_eval_scratch(c, count, sizeof(double));
    return f->values != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_quant_params_load(const prt_eval *c, prt_quant_params *f, size_t index,
    size_t batches)
{
    if (f->t == NULL) {
        for (size_t i = 0; i < f->count; i++)
            f->values[i] = f->absent;
        return POPRT_OK;
    }
    const size_t n = prt_tensor_count(f->t);
    size_t first = 0, step = 1;
    if (n == 1)
        step = 0;
    else if (n == f->count * batches)
        first = index * f->count;
    else if (n != f->count)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "scale or zero point has %zu elements; 1, %zu or %zu are accepted", n, f->count,
            f->count * batches);
    prt_reals_load(f->t->dtype, f->t->data, first, step, f->count, f->values);
    return POPRT_OK;
}
