/* SPDX-License-Identifier: MIT */
/*
 * pixel_blocking.h — convolutions of few filters compute several neighbouring pixels at once. A
 * convolution with kernel width W, stride s and F filters becomes one with `by` copies of the
 * filters, each shifted by s:
 *
 *     kernel width W + (by - 1) s, stride by * s, by * F filters
 *
 * The channels of its output pixels are those of `by` pixels, and with channels last no element has
 * to move. So the filters fill a vector. Some taps of the wide kernel are zeros: an infinity or NaN
 * in x makes up to `by` - 1 more pixels NaN (as Winograd's algorithm does in a tile).
 */
#ifndef PRT_PASS_LAYOUT_PIXEL_BLOCKING_H
#define PRT_PASS_LAYOUT_PIXEL_BLOCKING_H

#include "op/internal/nhwc.h"
#include "op/share/sliding.h"
#include "pass/engine/pass.h"

typedef struct prt_pixel_blocking {
    int64_t by;         /* pixels computed at once; 1: no blocking */
    int64_t tiles;      /* blocks of pixels in a row of y */
    int64_t pixels;     /* pixels in a row of y */
    int64_t step, taps; /* original stride and kernel width along the row */
} prt_pixel_blocking;

/* Chooses the blocking of a convolution with result `y`, channels first. `exact`: the blocks must
 * not go beyond the row. */
prt_pixel_blocking prt_pixel_blocking_of(const prt_nhwc_weights *layout, const prt_type *y,
    const prt_window *w, bool exact);

/* Converts the window (the last axis of the lists) and the weights to those of the blocked
 * convolution. */
void prt_pixel_blocking_apply(const prt_pixel_blocking *v, const prt_window *w,
    prt_nhwc_weights *layout, int64_t *kernel, int64_t *strides, int64_t *pads);

/* Writes the weights [filters, channels, taps...] of the blocked convolution `layout` from the
 * original ones. */
void prt_pixel_blocking_pack(const prt_pixel_blocking *v, const prt_nhwc_weights *layout,
    const float *from, float *to);

/* Writes the steps of weight_form.h by which the original weights are part of these; returns their
 * number. */
uint32_t prt_pixel_blocking_steps(const prt_pixel_blocking *v, const prt_nhwc_weights *layout,
    prt_weight_step steps[2]);

/* Repeats a bias vector for all copies of the filters. */
prt_value *prt_pixel_blocking_bias(prt_build *b, const prt_pixel_blocking *v, prt_value *bias);
/* Convert a tensor like y, channels last, to the dims of the blocked result, and the blocked result
 * to y. */
prt_value *prt_pixel_blocking_join(prt_build *b, const prt_pixel_blocking *v, const prt_type *y,
    prt_value *x);
prt_value *prt_pixel_blocking_split(prt_build *b, const prt_pixel_blocking *v, const prt_type *y,
    prt_value *x);

#endif
