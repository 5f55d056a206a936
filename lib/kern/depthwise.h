/* SPDX-License-Identifier: MIT */
/*
 * depthwise.h — convolutions of each channel by itself, channels side by side in memory: one row
 * of outputs, whose taps all lie inside the input.
 */
#ifndef PRT_KERN_DEPTHWISE_H
#define PRT_KERN_DEPTHWISE_H

#include <stddef.h>

typedef struct prt_depthwise {
    size_t n, channels;    /* outputs of the row, `channels` floats apart */
    size_t rows, columns;  /* taps */
    const float *x;        /* what the first tap of the first output reads */
    size_t x_step;         /* floats from an output's inputs to the next one's */
    size_t x_row, x_column; /* from a tap's input to the next one's */
    const float *w;        /* taps are `channels` apart, their rows `w_row` */
    size_t w_row;
    const float *bias;     /* by channel; NULL: none */
    float low, high;       /* bounds of the results; NaN comes through */
    float *y;
} prt_depthwise;

typedef void (*prt_depthwise_fn)(const prt_depthwise *d);

#endif
