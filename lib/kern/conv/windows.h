/* SPDX-License-Identifier: MIT */
/*
 * windows.h — windows that slide over images, channels side by side in memory and each by itself:
 * depthwise convolutions and pools. A block of outputs whose taps all lie inside the input.
 */
#ifndef PRT_KERN_CONV_WINDOWS_H
#define PRT_KERN_CONV_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct prt_windows {
    size_t lines, n; /* rows of outputs, and outputs of one */
    size_t channels;
    size_t rows, columns;   /* taps */
    const float *x;         /* what the first tap of the first output reads */
    size_t x_line, x_step;  /* floats from an output's inputs to those of the next line, column */
    size_t x_row, x_column; /* from a tap's input to the next one's */
    float *y;
    size_t y_line, y_step; /* floats from line to line of outputs, and from one to the next */
    /* depthwise only */
    const float *w; /* taps are `group * channels` apart, their rows `w_row` */
    size_t w_row;
    size_t more;             /* planes of taps behind the first one: 0 of images, and of groups */
    size_t x_plane, w_plane; /* floats from a plane to the next one */
    size_t group;      /* channels, all of which each output of them is made of: 1, 2, 4 or 8; a tap
                        * has a row of weights for each of them */
    const float *bias; /* by channel; NULL: none */
    float low, high;   /* bounds of the results; NaN comes through */
    /* mean only */
    float scale; /* of the sum */
} prt_windows;

typedef struct prt_kern_windows {
    void (*depthwise)(const prt_windows *d);
    /* Without taps -infinity; NaN where an input is. */
    void (*largest)(const prt_windows *d);
    void (*mean)(const prt_windows *d);
} prt_kern_windows;

#endif
