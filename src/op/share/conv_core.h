/* SPDX-License-Identifier: MIT */
/*
 * conv_core.h — the parts shared by all convolutions: shape inference, and the product of filters
 * with gathered (im2col) inputs, one tile of output positions at a time.
 *
 * A convolution is, per image and group, a matrix product: [filters, depth] by [depth, positions].
 * Depth runs over channels and kernel positions ("taps"); taps vary fastest. The operators differ
 * in how they gather a panel of the right-hand matrix and in how they store the sums.
 */
#ifndef PRT_OP_SHARE_CONV_CORE_H
#define PRT_OP_SHARE_CONV_CORE_H

#include "op/share/sliding.h"

typedef struct prt_conv prt_conv;
struct prt_conv {
    prt_window window;
    const prt_tensor *x;
    prt_tensor *y;
    size_t batch, groups;
    size_t channels, filters;       /* per group */
    size_t taps, depth;             /* kernel positions; channels * taps */
    size_t in_positions, positions; /* number of spatial positions of input and output */
    const double *weights;          /* [groups * filters][depth] */
    const double *bias;             /* per filter; NULL: no bias */
    double zero;                    /* zero point of the input, which is subtracted */
    double *plane;                  /* channels of one image and group: [channels][in_positions] */
    /* Returns the input index of an output position and tap; SIZE_MAX for padding. */
    size_t (*source)(const prt_window *w, const int64_t *out, const int64_t *tap);
    /* Gathers the panel for `count` positions from `first` on: prt_conv_gather or the operator's
     * own function. */
    void (
        *gather)(const prt_conv *v, size_t n, size_t g, size_t first, size_t count, double *panel);
    /* Stores `count` sums of a filter: prt_conv_store or the operator's own function. */
    void (*store)(const prt_conv *v, size_t n, size_t filter, size_t first, size_t count,
        double *sums);
    const void *user;
};

/* The inputs that hold the image, the weights and the bias (UINT32_MAX: no bias). */
typedef struct prt_conv_slots {
    uint32_t x, w, bias;
} prt_conv_slots;

/* Checks X (N, C, …), W (M, C/group, …) and B (M); sets output 0 to (N, M, …) of `dtype`. */
poprt_status prt_conv_infer(prt_infer *c, prt_conv_slots slots, const prt_window_spec *spec,
    int64_t group, int32_t dtype);

/* Reads sizes from the operands, sets the default hooks, and converts the weights to double less
 * `zeros` (one value, or one per filter; NULL: no zero points). Fails only if out of memory. */
poprt_status prt_conv_init(prt_eval *c, prt_conv *v, prt_conv_slots slots,
    const prt_window_spec *spec, int64_t group, const prt_tensor *zeros);

poprt_status prt_conv_run(prt_eval *c, prt_conv *v);

void prt_conv_gather(const prt_conv *v, size_t n, size_t g, size_t first, size_t count,
    double *panel);
void prt_conv_store(const prt_conv *v, size_t n, size_t filter, size_t first, size_t count,
    double *sums);

/* ConvTranspose: computes output sizes and padding; w->in, out, begin and end are from the point
 * of view of the operator. Otherwise like prt_window_fill. */
void prt_conv_transpose_fill(prt_dims *d, const prt_conv_transpose_attrs *a, uint32_t rank,
    const int64_t *in, const int64_t *kernel, prt_window *w);

/* Returns the element index of a filter's position in the output. */
static inline size_t prt_conv_at(const prt_conv *v, size_t n, size_t filter, size_t position)
{
    return (n * v->groups * v->filters + filter) * v->positions + position;
}

#endif
