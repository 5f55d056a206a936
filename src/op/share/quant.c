/* SPDX-License-Identifier: MIT */
/* quant.c — quantised integers: ranges, rounding, per-tensor scale and zero point. */
#include "op/share/quant.h"

#include <math.h>

#include "op/check.h"
#include "op/share/delegate.h"
#include "op/share/reals.h"

bool prt_quant_range(int32_t dtype, double *low, double *high)
{
    const prt_dtype_info *t = prt_dtype_of(dtype);
    if (t->kind != PRT_KIND_int && t->kind != PRT_KIND_uint)
        return false;
    const double half = (double)((uint64_t)1 << (t->bits - 1));
    *low = t->kind == PRT_KIND_int ? -half : 0;
    *high = t->kind == PRT_KIND_int ? half - 1 : 2 * half - 1;
    return true;
}

void prt_quant_store(int32_t dtype, void *data, size_t index, double value, double zero)
{
    double low = 0, high = 0, v = nearbyint(value) + zero;
    (void)prt_quant_range(dtype, &low, &high);
    if (!(v > low)) /* also true for NaN */
        v = low;
    else if (v > high)
        v = high;
    prt_store_i64(dtype, data, index, (int64_t)v);
}

poprt_status prt_quant_check(const prt_infer *c, uint32_t scale)
{
    int64_t unused;
    PRT_TRY(prt_infer_scalar(c, scale, &unused));
    return prt_infer_scalar(c, scale + 1, &unused);
}

double prt_quant_number(const prt_eval *c, uint32_t i, double absent)
{
    double value = absent;
    if (prt_eval_has(c, i))
        prt_reals_load(c->in[i]->dtype, c->in[i]->data, 0, 1, 1, &value);
    return value;
}

prt_quant prt_quant_of(const prt_eval *c, uint32_t scale)
{
    return (prt_quant){ prt_quant_number(c, scale, 1), prt_quant_number(c, scale + 1, 0) };
}

poprt_status prt_quant_dequantize_input(prt_eval *c, uint32_t data, prt_tensor *to)
{
    const prt_tensor *x = c->in[data];
    const prt_quant q = prt_quant_of(c, data + 1);
    const size_t n = prt_tensor_count(x);
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, x->rank, x->dims, to));
    double *v = to->data;
    prt_reals_load(x->dtype, x->data, 0, 1, n, v);
    for (size_t i = 0; i < n; i++)
        v[i] = (v[i] - q.zero) * q.scale;
    return POPRT_OK;
}

void prt_quant_quantize_output(prt_eval *c, const prt_tensor *from, uint32_t scale)
{
    const prt_quant q = prt_quant_of(c, scale);
    const double *v = from->data;
    prt_tensor *y = c->out[0];
    const size_t n = prt_tensor_count(y);
    for (size_t i = 0; i < n; i++)
        prt_quant_store(y->dtype, y->data, i, v[i] / q.scale, q.zero);
}

poprt_status prt_quant_dynamic(prt_eval *c, const prt_tensor *x, prt_tensor *to, prt_quant *q)
{
    float scale;
    uint8_t zero;
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_u8, x->rank, x->dims, to));
    prt_quant_dynamic_run(prt_tensor_count(x), x->data, to->data, &scale, &zero);
    *q = (prt_quant){ (double)scale, (double)zero };
    return POPRT_OK;
}
