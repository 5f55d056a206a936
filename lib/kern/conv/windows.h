/* SPDX-License-Identifier: MIT */
/*
 * windows.h — sliding windows over channels-last images, each channel by itself: depthwise
 * convolution and pooling. A block has outputs whose taps are all inside the input.
 */
#ifndef PRT_KERN_CONV_WINDOWS_H
#define PRT_KERN_CONV_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct prt_windows {
    size_t lines, n; /* rows of outputs; outputs of a row */
    size_t channels;
    size_t rows, columns;   /* taps */
    const float *x;         /* input of the first tap of the first output */
    size_t x_line, x_step;  /* floats from an output's inputs to the inputs of the next line; of the
                             * next column */
    size_t x_row, x_column; /* floats from a tap's input to the input of the next tap, by row and
                             * column */
    float *y;
    size_t y_line, y_step; /* floats from line to line of outputs; from output to output */
    /* depthwise convolution only */
    const float *w; /* taps are `group * channels` apart, rows of taps `w_row` */
    size_t w_row;
    size_t more;             /* kernel planes after the first one; 0 for images and groups */
    size_t x_plane, w_plane; /* floats from plane to plane */
    size_t group;      /* channels of a group, 1, 2, 4 or 8: each output reads all of them; a tap
                        * has a row of weights for each */
    const float *bias; /* by channel; NULL: no bias */
    float low, high;   /* bounds of the results; NaN is preserved */
    /* average pooling only */
    float scale; /* factor of the sum */
} prt_windows;

typedef struct prt_kern_windows {
    void (*depthwise)(const prt_windows *d);
    /* -infinity without taps; NaN if an input is NaN. */
    void (*max)(const prt_windows *d);
    void (*mean)(const prt_windows *d);
} prt_kern_windows;

#endif
