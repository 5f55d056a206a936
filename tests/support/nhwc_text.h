/* SPDX-License-Identifier: MIT */
/*
 * nhwc_text.h — graphs of the operators of op/internal/nhwc.def as text, with constants from a
 * seeded generator, and the same graphs with channels first by ONNX operators.
 */
#ifndef PRT_TESTS_SUPPORT_NHWC_TEXT_H
#define PRT_TESTS_SUPPORT_NHWC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct nhwc_window { /* the first entries are used, one for each spatial dim */
    int in[3], kernel[3], stride[3], dilation[3], pads[6];
} nhwc_window;

typedef struct nhwc_conv_case {
    int rank; /* 3 to 5 */
    int n;
    nhwc_window w;
    int group, channels, filters;  /* channels and filters of one group */
    const char *form, *activation; /* activation: "" or its name, then its attributes */
    bool images, gate, bias, residual;
    bool transformed;    /* weights transformed for Winograd */
    const char *special; /* NULL, or an element of X and of the residual: "nan", "inf" */
} nhwc_conv_case;

/* A case of NhwcQConv, which uses the members of `of` that it supports. The scales of filters
 * start at `scale`. */
typedef struct nhwc_bytes_case {
    nhwc_conv_case of;
    bool x_signed, y_signed;
    int x_zero, y_zero;
    double scale;
} nhwc_bytes_case;

typedef struct nhwc_separable_case {
    int n;
    nhwc_window w;
    int channels, hidden, filters; /* filters 0: no last part; channels 0: no first part */
    bool bias, residual, mean;
    const char *activation[3];
} nhwc_separable_case;

/* Returns a random number below `n`, the same sequence for the same seed. */
uint32_t nhwc_random(uint32_t *state, uint32_t n);

/* Returns a random window whose output is not empty. */
nhwc_window nhwc_random_window(uint32_t *state, int rank, int most_in, int most_kernel);

/* Return graphs that the caller frees. `y` is the operator's result; `z` (with `plain`) is the
 * result of ONNX operators. */
char *nhwc_conv_text(const nhwc_conv_case *c, uint32_t seed, bool plain);
char *nhwc_bytes_text(const nhwc_bytes_case *c, uint32_t seed, bool plain);
char *nhwc_separable_text(const nhwc_separable_case *c, uint32_t seed, bool plain);

/* Returns the number of elements of packed weights. */
size_t nhwc_weights_count(const char *form, int group, int channels, int filters, int taps);

#endif
