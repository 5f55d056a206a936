/* SPDX-License-Identifier: MIT */
/* quantized_cache.c — conversion of quantised attention caches to doubles and back. */
#include "op/microsoft/quantized_cache.h"

#include "op/microsoft/attention_parts.h"
#include "op/share/quant.h"

enum { NIBBLE_ZERO = 8 };

static poprt_status check_type(const prt_infer *c, const prt_ms_cache_params *f, int64_t *width)
{
    const int32_t dtype = c->in[f->past].dtype;
    const bool pairs = dtype == PRT_DTYPE_u8;
    *width = f->size;
    if (dtype == PRT_DTYPE_undefined)
        return POPRT_OK;
    if (!pairs && dtype != PRT_DTYPE_i8 && dtype != PRT_DTYPE_f8e4m3fn)
        return prt_infer_fail(c, POPRT_E_TYPE,
            "a quantised cache must be int8, float8e4m3fn or uint8, "
            "not %s",
            prt_dtype_of(dtype)->name);
    if (f->bits != (pairs ? 4 : 8) && (f->bits != 0 || pairs))
        return prt_infer_fail(c, POPRT_E_ARG,
            "kv_cache_bit_width is %lld for a cache of %s; 4 is needed for uint8, 8 for other "
            "types",
            (long long)f->bits, prt_dtype_of(dtype)->name);
    if (!pairs)
        return POPRT_OK;
    if (prt_dim_is_number(f->size) && f->size % 2 != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "%lld numbers of 4 bits do not fill bytes; an even number is needed",
            (long long)f->size);
    *width = prt_dim_floordiv(c->dims, f->size, 2);
    return POPRT_OK;
}

poprt_status prt_ms_cache_check(const prt_infer *c, const prt_ms_cache_params *f, int64_t *width)
{
    const bool whole = prt_str_is(f->kind, "PER_TENSOR");
    const int64_t want[4] = { 1, whole ? 1 : f->heads, 1, whole ? 1 : f->size };
    if (!whole && !prt_str_is(f->kind, "PER_CHANNEL"))
        return prt_infer_fail(c, POPRT_E_ARG,
            "k_quant_type or v_quant_type is '%.*s'; accepted: PER_TENSOR, PER_CHANNEL, or NONE "
            "for both",
            PRT_STR_ARG(f->kind));
    if (!prt_infer_has(c, f->past) || !prt_infer_has(c, f->scale))
        return prt_infer_fail(c, POPRT_E_ARG, "a quantised cache needs its past and its scale");
    PRT_TRY(check_type(c, f, width));
    if (!prt_infer_ranked(c, f->scale))
        return POPRT_OK;
    const prt_shape *s = &c->in[f->scale];
    if (s->rank > 4)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the scale has rank %d; 4, the cache's rank, is needed", s->rank);
    for (int32_t k = 0; k < s->rank; k++) {
        const int64_t have = s->dims[k], need = want[4 - s->rank + k];
        if (prt_dim_is_number(have) && have != 1 && prt_dim_is_number(need) && have != need)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "dim %d of a cache's scale is %lld; 1 or %lld is needed", k, (long long)have,
                (long long)need);
    }
    return POPRT_OK;
}

prt_ms_cache_quant prt_ms_cache_quant_of(const prt_tensor *past, const prt_tensor *scale)
{
    prt_ms_cache_quant code = { .code = past->dtype, .scale = *scale };
    if (past->dtype == PRT_DTYPE_u8)
        code.code = PRT_DTYPE_u4;
    code.scale.rank = 4;
    for (uint32_t k = 0; k < 4; k++)
        code.scale.dims[k] = k < 4 - scale->rank ? 1 : scale->dims[k - (4 - scale->rank)];
    return code;
}

static void encode(int32_t code, void *data, size_t at, double x)
{
    if (code == PRT_DTYPE_f8e4m3fn)
        prt_store_f64_as(code, data, at, x, true);
    else
        prt_quant_store(code, data, at, x, code == PRT_DTYPE_u4 ? NIBBLE_ZERO : 0);
}

static double decode(int32_t code, const void *data, size_t at)
{
    return prt_load_f64(code, data, at) - (code == PRT_DTYPE_u4 ? NIBBLE_ZERO : 0);
}

static poprt_status make_blank(prt_eval *c, size_t batch, size_t heads, size_t rows, size_t size,
    prt_heads *to)
{
    const size_t each = heads * rows * size;
    double *data = prt_eval_scratch(c, batch, each * sizeof(double));
    if (data == NULL)
        return POPRT_E_NOMEM;
    *to = (prt_heads){ .dtype = PRT_DTYPE_f64,
        .data = data,
        .batch = each,
        .head = rows * size,
        .row = size,
        .heads = heads,
        .rows = rows,
        .size = size };
    return POPRT_OK;
}

poprt_status prt_ms_cache_zeros(prt_eval *c, const prt_tensor *t, size_t size, prt_heads *to)
{
    return make_blank(c, (size_t)t->dims[0], (size_t)t->dims[1], (size_t)t->dims[2], size, to);
}

poprt_status prt_ms_cache_dequantize(prt_eval *c, const prt_ms_cache_quant *code,
    const prt_tensor *t, size_t size, prt_heads *to)
{
    PRT_TRY(prt_ms_cache_zeros(c, t, size, to));
    const size_t all = (size_t)t->dims[0] * to->batch;
    double *x = to->data;
    for (size_t i = 0; i < all; i++)
        x[i] = decode(code->code, t->data, i) *
            prt_ms_bias_at(&code->scale, 0, i / to->head % to->heads, 0, i % size);
    return POPRT_OK;
}

poprt_status prt_ms_cache_round(prt_eval *c, const prt_ms_cache_quant *code, size_t batch,
    prt_heads *h)
{
    prt_heads to;
    PRT_TRY(make_blank(c, batch, h->heads, h->rows, h->size, &to));
    for (size_t b = 0; b < batch; b++)
        for (size_t k = 0; k < h->heads; k++)
            for (size_t r = 0; r < h->rows; r++) {
                double *row = (double *)to.data + prt_heads_at(&to, b, k, r);
                prt_reals_load(h->dtype, h->data, prt_heads_at(h, b, k, r), 1, h->size, row);
                for (size_t d = 0; d < h->size; d++) {
                    const double scale = prt_ms_bias_at(&code->scale, 0, k, 0, d);
                    uint8_t place = 0;
                    encode(code->code, &place, 0, row[d] / scale);
                    row[d] = decode(code->code, &place, 0) * scale;
                }
            }
    *h = to;
    return POPRT_OK;
}

void prt_ms_cache_quantize(const prt_ms_cache_quant *code, const prt_heads *from, prt_tensor *t)
{
    const size_t all = (size_t)t->dims[0] * from->batch;
    const double *x = from->data;
    for (size_t i = 0; i < all; i++)
        encode(code->code, t->data, i,
            x[i] /
                prt_ms_bias_at(&code->scale, 0, i / from->head % from->heads, 0, i % from->size));
}
