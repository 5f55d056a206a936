/* SPDX-License-Identifier: MIT */
/*
 * attention_mask.c — AttentionMask of ai.graphcore: the additive mask of samples that are packed
 * into one row. Tokens with equal ids attend to each other; other pairs get -10000
 * tanh(|difference|).
 */
#include <math.h>

#include "op/share/reals.h"

static poprt_status infer(prt_infer *c)
{
    const prt_gc_attention_mask_attrs *a = c->attrs;
    const bool half = prt_str_is(a->dataType, "FLOAT16");
    int64_t batch = prt_infer_dim(c, 0, 0), length = prt_infer_dim(c, 0, 1);
    if (!half && !prt_str_is(a->dataType, "FLOAT"))
        return prt_infer_fail(c, POPRT_E_ARG, "dataType is \"%.*s\"; accepted: FLOAT, FLOAT16",
            PRT_STR_ARG(a->dataType));
    PRT_TRY(prt_infer_rank(c, 0, 2));
    PRT_TRY(prt_infer_rank(c, 1, 4));
    PRT_TRY(prt_infer_merge(c, batch, prt_infer_dim(c, 1, 0), "batch", &batch));
    for (uint32_t k = 2; k < 4; k++)
        PRT_TRY(prt_infer_merge(c, length, prt_infer_dim(c, 1, k), "length", &length));
    const int64_t dims[4] = { batch, 1, length, length };
    return prt_infer_set(c, 0, half ? PRT_DTYPE_f16 : PRT_DTYPE_f32, 4, dims);
}

static double penalty(int64_t a, int64_t b)
{
    const uint64_t apart = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
    return apart == 0 ? 0.0 : -10000.0 * tanh((double)apart);
}

static poprt_status eval(prt_eval *c)
{
    const prt_tensor *mask = c->in[0];
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_tensor *y = c->out[0];
    const size_t n = (size_t)mask->dims[1], rows = prt_tensor_count(mask);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < n; j++)
            prt_store_f64(y->dtype, y->data, i * n + j,
                penalty(prt_load_i64(mask->dtype, mask->data, i),
                    prt_load_i64(mask->dtype, mask->data, i / n * n + j)));
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_attention_mask = { .infer = infer, .eval = eval };
