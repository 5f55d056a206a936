/* SPDX-License-Identifier: MIT */
/*
 * words.h — attributes of operators that passes make, whose values are words of a fixed list: as
 * text (text IR, PopEF, descriptions) a string, in an attribute struct the number of the word.
 */
#ifndef PRT_OP_WORDS_H
#define PRT_OP_WORDS_H

#include "kern/vector/act.h"
#include "op/op.h"

/* Kind `form`: weight layouts and algorithms of channels-last convolutions; see
 * op/internal/nhwc.def. */
typedef enum prt_nhwc_algorithm {
    PRT_NHWC_panels,
    PRT_NHWC_taps,
    PRT_NHWC_winograd,
    PRT_NHWC_winograd2,
    PRT_NHWC_winograd5,
    PRT_NHWC_winograd6,
    PRT_NHWC_winograd_line,
    PRT_NHWC_ALGORITHMS
} prt_nhwc_algorithm;

/* Kind `products`: the arithmetic of fused_linear; see op/internal/fused.def. */
typedef enum prt_linear_products {
    PRT_LINEAR_float,
    PRT_LINEAR_bf16,
    PRT_LINEAR_i8,
    PRT_LINEAR_COUNT
} prt_linear_products;

/* Kind `act` has the words of prt_act_kind. */

/* Returns the words of an attribute kind and their number; NULL: the kind has no words. */
const prt_str *prt_attr_words(uint32_t kind, uint32_t *count);

/* Returns the kind by which files and hosts know an attribute: words are texts. */
static inline uint32_t prt_attr_outer_kind(uint32_t kind)
{
    uint32_t count;
    return prt_attr_words(kind, &count) != NULL ? (uint32_t)PRT_ATTR_str : kind;
}

/* Returns the text of a field of kind `str` or of a kind that has words. */
prt_str prt_attr_text(uint32_t kind, const void *field);

/* Sets a field of a kind that has words. Returns false for an unknown word. */
bool prt_attr_set_word(uint32_t kind, prt_str word, void *field);

#endif
