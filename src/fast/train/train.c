/* SPDX-License-Identifier: MIT */
/* train.c — conversion of pieces of rows. */
#include "fast/train/train.h"

#include "num/half.h"

static float widen_bf16(uint16_t half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Rounds to nearest even; NaN stays NaN. */
static uint16_t round_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return (uint16_t)(value == value ? rounded : bits >> 16 | 0x40u);
}

const float *prt_train_load(const prt_tensor *t, size_t first, size_t n, prt_train_buffer *buffer)
{
    if (t == NULL)
        return NULL;
    if (t->dtype == PRT_DTYPE_f32)
        return (const float *)t->data + first;
    const uint16_t *from = (const uint16_t *)t->data + first;
    if (t->dtype == PRT_DTYPE_f16)
        for (size_t i = 0; i < n; i++)
            buffer->at[i] = prt_half_to_f32(from[i]);
    else
        for (size_t i = 0; i < n; i++)
            buffer->at[i] = widen_bf16(from[i]);
    return buffer->at;
}

float *prt_train_place(const prt_tensor *t, size_t first, prt_train_buffer *buffer)
{
    if (t == NULL)
        return NULL;
    return t->dtype == PRT_DTYPE_f32 ? (float *)t->data + first : buffer->at;
}

void prt_train_store(const prt_tensor *t, size_t first, size_t n, const prt_train_buffer *buffer)
{
    if (t == NULL || t->dtype == PRT_DTYPE_f32)
        return;
    uint16_t *to = (uint16_t *)t->data + first;
    if (t->dtype == PRT_DTYPE_f16)
        for (size_t i = 0; i < n; i++)
            to[i] = prt_f32_to_half(buffer->at[i]);
    else
        for (size_t i = 0; i < n; i++)
            to[i] = round_bf16(buffer->at[i]);
}

static bool is_supported(const prt_tensor *t)
{
    return t->kind == PRT_VALUE_TENSOR && t->data != NULL &&
        (t->dtype == PRT_DTYPE_f32 || t->dtype == PRT_DTYPE_f16 || t->dtype == PRT_DTYPE_bf16);
}

bool prt_train_supports(const prt_eval *c, uint32_t in, uint32_t out)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        if ((in >> i & 1) != 0 && prt_eval_has(c, i) && !is_supported(c->in[i]))
            return false;
    for (uint32_t i = 0; i < 32 && out >> i != 0; i++)
        if ((out >> i & 1) != 0 && prt_eval_has(c, i) &&
            (!prt_eval_wants(c, i) || !is_supported(c->out[i])))
            return false;
    return true;
}
