/* SPDX-License-Identifier: MIT */
/* nhwc.h — a float32 convolution with channels last, for the ways to compute one. */
#ifndef PRT_FAST_NHWC_H
#define PRT_FAST_NHWC_H

#include "fast/fast.h"
#include "op/internal/nhwc.h"

typedef struct prt_nhwc {
    const prt_kern *kern;
    prt_nhwc_weights form;
    size_t batch, in_d, in_h, in_w, out_d, out_h, out_w; /* d: of volumes, else 1 */
    size_t in_c, out_c;                                  /* of all groups */
    size_t x_pitch, y_pitch, residual_pitch; /* floats from pixel to pixel: no less than channels */
    size_t kernel_d, kernel_h, kernel_w, stride_d, stride_h, stride_w;
    size_t dilation_d, dilation_h, dilation_w;
    int64_t front, top, left;             /* padding */
    bool images;                          /* x has its channels first */
    bool in_order;                        /* not by Strassen's algorithm */
    const float *x, *w, *bias, *residual; /* bias and residual may be NULL */
    const float *scale; /* of each input channel, of split products alone; NULL: none */
    float *y;
    prt_act act;
    const float *zeros;      /* a pixel of the padding */
    const prt_tensor *later; /* as prt_eval has it */
} prt_nhwc;

/* Images, not volumes. */
static inline bool prt_nhwc_is_flat(const prt_nhwc *v)
{
    return v->in_d == 1 && v->kernel_d == 1 && v->front == 0 && v->out_d == 1;
}

/* Outputs are inputs, one by one. */
static inline bool prt_nhwc_is_plain(const prt_nhwc *v)
{
    return !v->images && v->form.taps == 1 && v->stride_d == 1 && v->stride_h == 1 &&
        v->stride_w == 1 && v->front == 0 && v->top == 0 && v->left == 0 && v->in_d == v->out_d &&
        v->in_h == v->out_h && v->in_w == v->out_w;
}

/* Inputs of an output that no other one reads, about. */
static inline size_t prt_nhwc_inputs_each(const prt_nhwc *v)
{
    return prt_lesser(v->stride_d, v->kernel_d) * prt_lesser(v->stride_h, v->kernel_h) *
        prt_lesser(v->stride_w, v->kernel_w);
}

/* Spatial sizes, of rank 1 to 3. */
void prt_nhwc_take_window(prt_nhwc *v, const prt_window *w);

/* Where outputs [first, first + count) of image n read a group: tap t of output first + i goes to
 * to[t * count + i]. */
void prt_nhwc_find_taps(const prt_nhwc *v, size_t n, size_t group, size_t first, size_t count,
    const float **to);

/* Of images with channels first: rows of the image with padding, its channels last, that whole rows
 * [row, row + rows) of the output read; floats of one. */
void prt_nhwc_lay_band(const prt_nhwc *v, size_t n, size_t row, size_t rows, float *to);
size_t prt_nhwc_band_wide(const prt_nhwc *v);

/* Rows of the image with padding that so many of the output, one after the other, read. */
size_t prt_nhwc_band_high(const prt_nhwc *v, size_t rows);

/* Windows over each channel by itself. */
typedef struct prt_nhwc_windows prt_nhwc_windows;
struct prt_nhwc_windows {
    const prt_nhwc *v;
    size_t inner, outer; /* outputs [inner, outer) of a row see no padding at its ends */
    size_t upper, lower; /* rows that see none above and below */
    bool bounded;        /* what is left to be done are bounds, and they are in `d` */
    bool none;           /* of volumes: all taps are in the padding */
    bool slides;         /* by `slide`, for which rows remain to be set; else by blocks */
    prt_slide slide;
    prt_windows d; /* what all blocks share */
    void (*run)(const prt_nhwc_windows *w, const prt_windows *d);
};

/* Of a depthwise convolution; others set `run`. */
void prt_nhwc_windows_init(prt_nhwc_windows *w, const prt_nhwc *v);

/* Whether all channels can be taken so many at a time. */
bool prt_nhwc_windows_can_take(const prt_nhwc_windows *w, size_t channels);

/* Channels from `first` on: later x, whose pixels are so far apart, and y are the first one's. */
void prt_nhwc_windows_take(prt_nhwc_windows *w, size_t first, size_t count, size_t x_pitch);

/* Rows [row, end) of the output of one image, to `y` and behind. `x` is row `x_row` of its input,
 * and all rows that these need follow it. */
void prt_nhwc_windows_run(const prt_nhwc_windows *w, size_t row, size_t end, const float *x,
    size_t x_row, float *y);

/* C = end(A B) for `rows` rows of A, with B packed: [k, n]. */
typedef struct prt_nhwc_product {
    size_t k, n;
    size_t lda, ldc; /* floats from row to row */
    size_t run, far; /* columns of C come in runs of so many, so far apart: n, or multiples of 16 */
    size_t lines;    /* of all those rows, which share panels while these are near; 0: one */
    size_t a_line, c_line; /* floats from line to line */
    const float *w;
    const float *bias; /* NULL: none */
    prt_act act;
} prt_nhwc_product;

/* Takes columns [first, first + columns) of C. */
typedef struct prt_nhwc_sink {
    void (*take)(void *user, size_t first, size_t columns);
    void *user;
} prt_nhwc_sink;

void prt_nhwc_multiply(const prt_kern *kern, const prt_nhwc_product *p, size_t rows, const float *a,
    float *c, const float *residual);

/* Outputs [first, end) of the only row of an image, with what they read. */
prt_nhwc prt_nhwc_part_of_line(const prt_nhwc *v, size_t image, size_t first, size_t end);

poprt_status prt_nhwc_depthwise(prt_eval *c, const prt_nhwc *v);
/* NhwcMaxPool of bytes, whose addresses are in `v`. */
poprt_status prt_nhwc_pool_bytes(prt_eval *c, const prt_nhwc *v, bool sign);
poprt_status prt_nhwc_winograd(prt_eval *c, const prt_nhwc *v);

/* Not every level has all of Winograd's forms; what is not transformed can be run as panels. */
bool prt_nhwc_has_winograd(const prt_nhwc *v);

/* Rows of finished sums, `n` floats of y from `at` on: the residual, then an activation that is
 * more than bounds. */
static inline void prt_nhwc_finish(const prt_nhwc *v, bool add, size_t at, size_t n)
{
    if (add)
        v->kern->rows.two(PRT_TWO_add, n, v->y + at, 1, v->residual + at, 1, v->y + at);
    v->kern->rows.act(&v->act, n, v->y + at, v->y + at);
}

#endif
