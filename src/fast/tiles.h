/* SPDX-License-Identifier: MIT */
/* tiles.h — convolutions of bytes to bytes by what kern/tiles.h has. */
#ifndef PRT_FAST_TILES_H
#define PRT_FAST_TILES_H

#include "fast/nhwc.h"

/* Of a kernel whose rows are pieces of few words, as first layers have them, so many rows are one
 * piece. */
size_t prt_tiles_joined(const prt_nhwc *v);

/* Rows and columns of an image with its padding: *high and *wide are what is read of it, and become
 * what is laid out. */
void prt_tiles_lay(const prt_nhwc *v, size_t joined, size_t *high, size_t *wide);

/* Sizes of v in words; x is unsigned. */
typedef struct prt_tiles_conv {
    const prt_nhwc *v;
    bool plain;     /* outputs are inputs, one by one: x as it is. Else images with their padding,
                     * whose kernel's columns are channels; row y of one is at row y % stride_h of
                     * planes, unless rows are `joined`, and what follows the last byte can be read:
                     * 16 outputs, and a step of K */
    size_t joined;  /* or 1 */
    const uint32_t *w; /* panels */
    prt_requantize q;
    uint8_t *y;
} prt_tiles_conv;

#ifdef PRT_NO_AMX
enum { PRT_HAS_TILES = 0 };
#else
enum { PRT_HAS_TILES = 1 };
#endif

/* It takes less time so than otherwise. */
bool prt_tiles_pays(const prt_kern *kern, size_t pixels, size_t filters, size_t words);

poprt_status prt_tiles_conv_run(prt_eval *c, const prt_tiles_conv *t);

#endif
