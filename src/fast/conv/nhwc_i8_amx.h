/* SPDX-License-Identifier: MIT */
/* nhwc_i8_amx.h — convolutions of bytes to bytes by what kern/int8/requantize_tiles.h has. */
#ifndef PRT_FAST_CONV_NHWC_I8_AMX_H
#define PRT_FAST_CONV_NHWC_I8_AMX_H

#include "fast/nhwc.h"

/* Of a kernel whose rows are pieces of few words, as first layers have them, so many rows are one
 * piece. */
size_t prt_nhwc_i8_amx_joined(const prt_nhwc *v);

/* Rows and columns of an image with its padding: *high and *wide are what is read of it, and become
 * what is laid out. */
void prt_nhwc_i8_amx_lay(const prt_nhwc *v, size_t joined, size_t *high, size_t *wide);

/* Where row `row` is, where each `phases`-th of `rows` follow each other. */
static inline size_t prt_nhwc_i8_amx_row(size_t row, size_t rows, size_t phases)
{
    return row % phases * (rows / phases) + row / phases;
}

/* Sizes of v in words; x is unsigned. Where it is not plain, images have their padding, and the
 * kernel's columns are channels; rows are in stride_h phases, unless they are `joined`; and what
 * follows the last byte can be read: 16 outputs, and a step of K. */
typedef struct prt_nhwc_i8_amx_conv {
    const prt_nhwc *v;
    size_t joined;     /* or no more than 1 */
    const uint32_t *w; /* panels */
    prt_requantize q;
    uint8_t *y;
} prt_nhwc_i8_amx_conv;

#ifdef PRT_NO_AMX
enum { PRT_HAS_TILES = 0 };
#else
enum { PRT_HAS_TILES = 1 };
#endif

/* It takes less time so than otherwise. */
bool prt_nhwc_i8_amx_pays(const prt_kern *kern, size_t pixels, size_t filters, size_t words);

poprt_status prt_nhwc_i8_amx_conv_run(prt_eval *c, const prt_nhwc_i8_amx_conv *t);

#endif
