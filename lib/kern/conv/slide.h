/* SPDX-License-Identifier: MIT */
/*
 * slide.h — depthwise convolutions of whole rows of outputs, including padding: taps outside the
 * image are skipped.
 */
#ifndef PRT_KERN_CONV_SLIDE_H
#define PRT_KERN_CONV_SLIDE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct prt_slide {
    size_t lines, n; /* rows of outputs; outputs of a row */
    size_t channels;
    size_t x_pitch, pitch;     /* floats from pixel to pixel of x; of y and from tap to tap */
    size_t rows, columns;      /* taps; their rows are contiguous */
    size_t stride_h, stride_w; /* inputs from output to output */
    size_t above, left;        /* rows and columns of padding before `x` that output 0 reads */
    size_t in_h, in_w;         /* of the image, from `x` on */
    const float *x, *w;
    const float *bias; /* by channel; NULL: no bias */
    float low, high;   /* bounds of the results; NaN is preserved */
    float *y;
} prt_slide;

enum { PRT_SLIDE_CHANNELS = 16 };

/* Returns whether the kernels support it: kernels of 3, 5 or 7 columns, column stride 1 or (not for
 * 7) 2, at least PRT_SLIDE_CHANNELS channels, and padding of at most half a row of taps at either
 * end. */
bool prt_slide_fits(const prt_slide *s);

typedef void (*prt_slide_fn)(const prt_slide *s);

#endif
