/* SPDX-License-Identifier: MIT */
/* words.c — attributes whose values are words of a fixed list. */
#include "op/words.h"

static const prt_str acts[PRT_ACT_COUNT] = {
    [PRT_ACT_none] = PRT_STR_INIT(""),
    [PRT_ACT_relu] = PRT_STR_INIT("Relu"),
    [PRT_ACT_clip] = PRT_STR_INIT("Clip"),
    [PRT_ACT_leaky_relu] = PRT_STR_INIT("LeakyRelu"),
    [PRT_ACT_sigmoid] = PRT_STR_INIT("Sigmoid"),
    [PRT_ACT_tanh] = PRT_STR_INIT("Tanh"),
    [PRT_ACT_silu] = PRT_STR_INIT("Silu"),
    [PRT_ACT_hard_sigmoid] = PRT_STR_INIT("HardSigmoid"),
    [PRT_ACT_hard_swish] = PRT_STR_INIT("HardSwish"),
    [PRT_ACT_gelu] = PRT_STR_INIT("Gelu"),
    [PRT_ACT_gelu_tanh] = PRT_STR_INIT("GeluTanh"),
};

static const prt_str forms[PRT_NHWC_ALGORITHMS] = {
    [PRT_NHWC_panels] = PRT_STR_INIT("panels"),
    [PRT_NHWC_taps] = PRT_STR_INIT("taps"),
    [PRT_NHWC_winograd] = PRT_STR_INIT("winograd"),
    [PRT_NHWC_winograd2] = PRT_STR_INIT("winograd2"),
    [PRT_NHWC_winograd5] = PRT_STR_INIT("winograd5"),
    [PRT_NHWC_winograd6] = PRT_STR_INIT("winograd6"),
    [PRT_NHWC_winograd_line] = PRT_STR_INIT("winograd_line"),
};

static const prt_str products[PRT_LINEAR_COUNT] = {
    [PRT_LINEAR_float] = PRT_STR_INIT(""),
    [PRT_LINEAR_bf16] = PRT_STR_INIT("bf16"),
    [PRT_LINEAR_i8] = PRT_STR_INIT("i8"),
};

const prt_str *prt_attr_words(uint32_t kind, uint32_t *count)
{
    switch (kind) {
    case PRT_ATTR_act:
        *count = PRT_ACT_COUNT;
        return acts;
    case PRT_ATTR_form:
        *count = PRT_NHWC_ALGORITHMS;
        return forms;
    case PRT_ATTR_products:
        *count = PRT_LINEAR_COUNT;
        return products;
    default:
        *count = 0;
        return NULL;
    }
}

prt_str prt_attr_text(uint32_t kind, const void *field)
{
    uint32_t count;
    const prt_str *words = prt_attr_words(kind, &count);
    return words != NULL ? words[*(const int32_t *)field] : *(const prt_str *)field;
}

bool prt_attr_set_word(uint32_t kind, prt_str word, void *field)
{
    uint32_t count;
    const prt_str *words = prt_attr_words(kind, &count);
    for (uint32_t i = 0; i < count; i++)
        if (prt_str_equal(word, words[i])) {
            *(int32_t *)field = (int32_t)i;
            return true;
        }
    return false;
}
