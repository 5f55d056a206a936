/* SPDX-License-Identifier: MIT */
/* nhwc_i8_amx.h — int8 convolutions with AMX tiles (kern/int8/requantize_tiles.h). */
#ifndef PRT_FAST_CONV_NHWC_I8_AMX_H
#define PRT_FAST_CONV_NHWC_I8_AMX_H

#include "fast/nhwc.h"

/* Returns the number of kernel rows that are joined into one piece of K. A first layer has few
 * words in each kernel row, so joining fills the tiles. */
size_t prt_nhwc_i8_amx_joined(const prt_nhwc *v);

/* Rounds the rows and columns of a padded image up to the layout of the copy. */
void prt_nhwc_i8_amx_round_size(const prt_nhwc *v, size_t joined, size_t *high, size_t *wide);

/* Returns the position of row `row` if the rows of each of `phases` phases are consecutive. */
static inline size_t prt_nhwc_i8_amx_row(size_t row, size_t rows, size_t phases)
{
    return row % phases * (rows / phases) + row / phases;
}

/* An int8 convolution whose input is laid out for tiles. Sizes of `v` are in words, and x is
 * unsigned. Unless it is pointwise, the images include their padding, kernel columns are channels,
 * and rows are in stride_h phases (not if they are joined). 16 outputs and a step of K can be read
 * behind the last byte. */
typedef struct prt_nhwc_i8_amx_conv {
    const prt_nhwc *v;
    size_t joined;     /* kernel rows joined; 0 or 1: not joined */
    const uint32_t *w; /* panels */
    prt_requantize q;
    uint8_t *y;
} prt_nhwc_i8_amx_conv;

#ifdef PRT_NO_AMX
enum { PRT_HAS_TILES = 0 };
#else
enum { PRT_HAS_TILES = 1 };
#endif

/* Returns whether tiles are faster than the other kernels. */
bool prt_nhwc_i8_amx_pays(const prt_kern *kern, size_t pixels, size_t filters, size_t words);

poprt_status prt_nhwc_i8_amx_conv_run(prt_eval *c, const prt_nhwc_i8_amx_conv *t);

#endif
