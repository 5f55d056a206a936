/* SPDX-License-Identifier: MIT */
/*
 * quantized_add.c — QuantizedAdd and QuantizedMul: DequantizeLinear of both inputs, Add or Mul, and
 * QuantizeLinear, with the roundings of these operators.
 */
#include "op/share/broadcast.h"
#include "op/check.h"
#include "op/share/quant.h"

enum { A = 0, B = 3, C_SCALE = 6 };

static poprt_status infer(prt_infer *c)
{
    const prt_shape in[2] = { c->in[A], c->in[B] };
    prt_shape out = { .kind = PRT_VALUE_TENSOR, .rank = 0 };
    prt_infer sub = *c;
    PRT_TRY(prt_quant_check(c, A + 1));
    PRT_TRY(prt_quant_check(c, B + 1));
    PRT_TRY(prt_quant_check(c, C_SCALE));
    sub.in = in;
    sub.n_in = 2;
    PRT_TRY(prt_infer_broadcast(&sub, 0, 2, &out));
    return prt_infer_set(c, 0, c->in[C_SCALE + 1].dtype, out.rank, out.dims);
}

/* Returns the dequantised element i. */
static float dequantize(const prt_tensor *x, size_t i, const prt_quant *q)
{
    return (float)((prt_load_f64(x->dtype, x->data, i) - q->zero) * q->scale);
}

static poprt_status eval(prt_eval *c)
{
    const prt_tensor *in[2] = { c->in[A], c->in[B] };
    const prt_quant a = prt_quant_of(c, A + 1), b = prt_quant_of(c, B + 1);
    const prt_quant y = prt_quant_of(c, C_SCALE);
    prt_rows r;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_rows_init(&r, c->out[0], 2, in);
    while (prt_rows_next(&r))
        for (size_t i = 0; i < r.count; i++) {
            const float left = dequantize(in[0], r.from[0] + i * r.step[0], &a);
            const float right = dequantize(in[1], r.from[1] + i * r.step[1], &b);
            const float both = c->def->id == PRT_OP_quantized_mul ? left * right : left + right;
            prt_quant_store(c->out[0]->dtype, c->out[0]->data, r.to + i,
                (double)(both / (float)y.scale), y.zero);
        }
    return POPRT_OK;
}

const prt_op_hooks prt_op_quantized_add = { .infer = infer, .eval = eval };
const prt_op_hooks prt_op_quantized_mul = { .infer = infer, .eval = eval };
