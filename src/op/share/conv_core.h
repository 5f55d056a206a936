/* SPDX-License-Identifier: MIT */
/*
 * conv_core.h — what all convolutions share: shape inference, and the product of filters with
 * gathered inputs, one tile of output positions after another.
 *
 * A convolution is, per image and group, a matrix product: filters × depth by depth × positions,
 * where depth runs over channels and kernel positions ("taps"), taps fastest. The members differ in
 * how a panel of the right-hand matrix is gathered and in what is done with the sums.
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
    size_t channels, filters;       /* of one group */
    size_t taps, depth;             /* kernel positions; channels * taps */
    size_t in_positions, positions; /* spatial sizes of input and output */
    const double *weights;          /* [groups * filters][depth] */
    const double *bias;             /* by filter; NULL for none */
    double zero;                    /* subtracted from the input: its zero point */
    double *plane;                  /* channels of one image and group: [channels][in_positions] */
    /* Input index of an output position and tap; SIZE_MAX for none. */
    size_t (*source)(const prt_window *w, const int64_t *out, const int64_t *tap);
    /* Gathers the panel for `count` positions from `first` on; prt_conv_gather or one's own. */
    void (
        *gather)(const prt_conv *v, size_t n, size_t g, size_t first, size_t count, double *panel);
    /* Takes `count` sums of a filter; prt_conv_store or one's own. */
    void (*store)(const prt_conv *v, size_t n, size_t filter, size_t first, size_t count,
        double *sums);
    const void *user;
};

/* Which inputs of the operator are the image, the weights and the bias (UINT32_MAX: none). */
typedef struct prt_conv_slots {
    uint32_t x, w, bias;
} prt_conv_slots;

/* Checks X (N, C, …), W (M, C/group, …) and B (M); sets output 0 to (N, M, …) of `dtype`. */
poprt_status prt_conv_infer(prt_infer *c, prt_conv_slots slots, const prt_window_spec *spec,
    int64_t group, int32_t dtype);

/* Sizes of a convolution from its operands, the default hooks, and the weights as doubles less
 * `zeros` (one, or one per filter; NULL for none). Failure: no memory. */
poprt_status prt_conv_init(prt_eval *c, prt_conv *v, prt_conv_slots slots,
    const prt_window_spec *spec, int64_t group, const prt_tensor *zeros);

poprt_status prt_conv_run(prt_eval *c, prt_conv *v);

void prt_conv_gather(const prt_conv *v, size_t n, size_t g, size_t first, size_t count,
    double *panel);
void prt_conv_store(const prt_conv *v, size_t n, size_t filter, size_t first, size_t count,
    double *sums);

/* ConvTranspose: output sizes and padding; w->in, out, begin and end are those of the operator
 * itself. As prt_window_fill otherwise. */
void prt_conv_transpose_fill(prt_dims *d, const prt_conv_transpose_attrs *a, uint32_t rank,
    const int64_t *in, const int64_t *kernel, prt_window *w);

/* Element index of a filter's position in the output. */
static inline size_t prt_conv_at(const prt_conv *v, size_t n, size_t filter, size_t position)
{
    return (n * v->groups * v->filters + filter) * v->positions + position;
}

#endif
