/* SPDX-License-Identifier: MIT */
/*
 * slide.h — depthwise convolutions of whole rows of outputs, padding and all: what a tap reads
 * outside the image is left out.
 */
#ifndef PRT_KERN_CONV_SLIDE_H
#define PRT_KERN_CONV_SLIDE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct prt_slide {
    size_t lines, n; /* rows of outputs, and outputs of each */
    size_t channels;
    size_t x_pitch, pitch;     /* floats from pixel to pixel, of the output and from tap to tap */
    size_t rows, columns;      /* taps; their rows follow each other */
    size_t stride_h, stride_w; /* inputs between outputs */
    size_t above, left;        /* rows and columns before `x` that output 0 reaches to */
    size_t in_h, in_w;         /* of the image from `x` on */
    const float *x, *w;
    const float *bias; /* by channel; NULL: none */
    float low, high;   /* bounds of the results; NaN comes through */
    float *y;
} prt_slide;

enum { PRT_SLIDE_CHANNELS = 16 };

/* Whether the kernels do it: rows of 3, 5 or 7 taps, a stride of 1 or (but for 7) 2 along them, at
 * least PRT_SLIDE_CHANNELS, and at most half a row of taps outside the image at either end. */
bool prt_slide_fits(const prt_slide *s);

typedef void (*prt_slide_fn)(const prt_slide *s);

#endif
