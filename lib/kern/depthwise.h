/* SPDX-License-Identifier: MIT */
/*
 * depthwise.h — convolutions of each channel by itself, channels side by side in memory: a block of
 * outputs, whose taps all lie inside the input.
 */
#ifndef PRT_KERN_DEPTHWISE_H
#define PRT_KERN_DEPTHWISE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct prt_depthwise {
    size_t lines, n;       /* rows of outputs, and outputs of one, `channels` floats apart */
    size_t channels;
    size_t rows, columns;  /* taps */
    const float *x;        /* what the first tap of the first output reads */
    size_t x_line, x_step; /* floats from an output's inputs to those of the next line, column */
    size_t x_row, x_column; /* from a tap's input to the next one's */
    const float *w;        /* taps are `channels` apart, their rows `w_row` */
    size_t w_row;
    const float *bias;     /* by channel; NULL: none */
    float low, high;       /* bounds of the results; NaN comes through */
    float *y;
    size_t y_line;
} prt_depthwise;

typedef void (*prt_depthwise_fn)(const prt_depthwise *d);

#endif
