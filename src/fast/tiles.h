/* SPDX-License-Identifier: MIT */
/* tiles.h — convolutions of bytes to bytes by what kern/tiles.h has. */
#ifndef PRT_FAST_TILES_H
#define PRT_FAST_TILES_H

#include "fast/nhwc.h"

/* Images with their padding, without a sign. */
typedef struct prt_tiles_conv {
    const prt_kern *kern;
    size_t batch, out_h, out_w, filters;
    const uint8_t *x;
    size_t image;         /* bytes from image to image */
    size_t wide;          /* outputs of a row, with those that are none: no more than `out_w` and */
    size_t lda;           /* what the row has behind it; bytes from what one reads to the next's */
    size_t taps, words;   /* pieces of K, and words of each */
    const size_t *tap_at; /* bytes to each */
    bool room;            /* what follows the last byte can be read: 16 outputs, and a step of K */
    const uint32_t *w;    /* panels */
    prt_requantize q;
    uint8_t *y;
    size_t y_pitch;
    const prt_tensor *later; /* as prt_eval has it */
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
