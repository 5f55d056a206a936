/* SPDX-License-Identifier: MIT */
/*
 * pixel_blocking.h — convolutions of few filters, as those of W taps and stride s in a row of
 * pixels, work on several neighbouring pixels at once: with `by` copies of the filters, moved by s
 * each,
 *
 *     kernel W + (by - 1) s, stride by * s, by * F filters
 *
 * gives pixels whose channels are those of `by` pixels, channels last, so that nothing has to move.
 * A vector of filters is full then; some of the taps are zeros, by which an infinity or NaN of x
 * makes NaN of up to `by` - 1 pixels more (as Winograd's algorithm does in a tile).
 */
#ifndef PRT_PASS_LAYOUT_PIXEL_BLOCKING_H
#define PRT_PASS_LAYOUT_PIXEL_BLOCKING_H

#include "op/internal/nhwc.h"
#include "op/share/sliding.h"
#include "pass/engine/pass.h"

typedef struct prt_pixel_blocking {
    int64_t by;         /* pixels; 1: as it is */
    int64_t tiles;      /* wide pixels in a row of y, */
    int64_t pixels;     /* which has these */
    int64_t step, taps; /* stride and kernel along the row, as they were */
} prt_pixel_blocking;

/* What pays for a convolution that gives `y`, channels first. `exact`: no wide pixel may go beyond
 * the row. */
prt_pixel_blocking prt_pixel_blocking_of(const prt_nhwc_weights *form, const prt_type *y,
    const prt_window *w, bool exact);

/* Its window (the last axis of the lists) and weights become those of the wide one. */
void prt_pixel_blocking_apply(const prt_pixel_blocking *v, const prt_window *w,
    prt_nhwc_weights *form, int64_t *kernel, int64_t *strides, int64_t *pads);

/* Weights [filters, channels, taps...] of the wide one, `form`, from the others. */
void prt_pixel_blocking_lay(const prt_pixel_blocking *v, const prt_nhwc_weights *form,
    const float *from, float *to);

/* Bias, a vector, for all copies. */
prt_value *prt_pixel_blocking_bias(prt_build *b, const prt_pixel_blocking *v, prt_value *bias);
/* A tensor like y, channels last, as the wide one has it; and its result as y. */
prt_value *prt_pixel_blocking_joined(prt_build *b, const prt_pixel_blocking *v, const prt_type *y,
    prt_value *x);
prt_value *prt_pixel_blocking_apart(prt_build *b, const prt_pixel_blocking *v, const prt_type *y,
    prt_value *x);

#endif
