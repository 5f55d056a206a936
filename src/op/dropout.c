/* SPDX-License-Identifier: MIT */
/*
 * dropout.c — Dropout: a copy, or in training mode each element kept with probability 1 - ratio
 * and scaled by 1 / (1 - ratio).
 *
 * A given seed decides the mask as in ONNX's published examples, which are made with numpy's old
 * generator: the 32-bit Mersenne Twister, two words to a double.
 */
#include "op/broadcast.h"

enum { WORDS = 624, MIDDLE = 397 };

typedef struct twister {
    uint32_t words[WORDS];
    uint32_t at;
} twister;

static void twister_seed(twister *t, uint32_t seed)
{
    t->words[0] = seed;
    for (uint32_t i = 1; i < WORDS; i++)
        t->words[i] = 1812433253u * (t->words[i - 1] ^ t->words[i - 1] >> 30) + i;
    t->at = WORDS;
}

static void twister_renew(twister *t)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        const uint32_t y = (t->words[i] & 0x80000000u) | (t->words[(i + 1) % WORDS] & 0x7fffffffu);
        t->words[i] = t->words[(i + MIDDLE) % WORDS] ^ y >> 1 ^ ((y & 1) != 0 ? 0x9908b0dfu : 0);
    }
    t->at = 0;
}

static uint32_t twister_next(twister *t)
{
    if (t->at == WORDS)
        twister_renew(t);
    uint32_t y = t->words[t->at++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

/* In [0, 1), 53 bits of it. */
static double twister_double(twister *t)
{
    const uint32_t a = twister_next(t) >> 5, b = twister_next(t) >> 6;
    return (a * 67108864.0 + b) / 9007199254740992.0;
}

static poprt_status infer(prt_infer *c)
{
    const int32_t dtype = c->in[0].dtype;
    for (uint32_t i = 1; i < 3; i++) {
        bool one = true;
        for (int32_t k = 0; prt_infer_ranked(c, i) && k < c->in[i].rank; k++)
            one &= c->in[i].dims[k] == 1 || !prt_dim_is_number(c->in[i].dims[k]);
        if (!one)
            return prt_infer_fail(c, POPRT_E_SHAPE, "%s is no scalar",
                i == 1 ? "ratio" : "training_mode");
    }
    if (!prt_infer_ranked(c, 0)) {
        PRT_TRY(prt_infer_unranked(c, 0, dtype, PRT_RANK_UNKNOWN));
        return prt_infer_unranked(c, 1, PRT_DTYPE_bool, PRT_RANK_UNKNOWN);
    }
    PRT_TRY(prt_infer_like(c, 0, 0, dtype));
    return prt_infer_like(c, 1, 0, PRT_DTYPE_bool);
}

static poprt_status copy_all(prt_eval *c)
{
    if (prt_eval_wants(c, 1) && c->out[1]->size != 0)
        memset(c->out[1]->data, 1, c->out[1]->size);
    return prt_eval_copy(c, 0, c->in[0]);
}

static poprt_status drop(prt_eval *c, double ratio)
{
    const prt_dropout_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    twister *t = prt_eval_scratch(c, 1, sizeof(twister));
    if (t == NULL)
        return POPRT_E_NOMEM;
    const uint64_t seed = prt_attr_given(a, 0) ? (uint64_t)a->seed : c->host->seed(c);
    twister_seed(t, (uint32_t)(seed ^ seed >> 32));
    const double scale = ratio < 1.0 ? 1.0 / (1.0 - ratio) : 0.0;
    const size_t n = prt_tensor_count(x);
    for (size_t i = 0; i < n; i++) {
        const bool keep = twister_double(t) >= ratio;
        const double v = prt_load_f64(x->dtype, x->data, i);
        if (prt_eval_wants(c, 0))
            prt_store_f64(x->dtype, c->out[0]->data, i, keep ? v * scale : 0.0);
        if (prt_eval_wants(c, 1))
            ((uint8_t *)c->out[1]->data)[i] = keep;
    }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const bool training =
        prt_eval_has(c, 2) && prt_load_i64(c->in[2]->dtype, c->in[2]->data, 0) != 0;
    const double ratio =
        prt_eval_has(c, 1) ? prt_load_f64(c->in[1]->dtype, c->in[1]->data, 0) : 0.5;
    if (!training || ratio == 0.0)
        return copy_all(c);
    if (!(ratio > 0.0 && ratio <= 1.0))
        return prt_eval_fail(c, POPRT_E_ARG, "ratio is %g; accepted: 0 to 1", ratio);
    return drop(c, ratio);
}

const prt_op_hooks prt_op_dropout = { .infer = infer, .eval = eval };
