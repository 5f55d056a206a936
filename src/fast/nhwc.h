/* SPDX-License-Identifier: MIT */
/* nhwc.h — a float32 NHWC convolution, as the algorithms of fast/conv take it. */
#ifndef PRT_FAST_NHWC_H
#define PRT_FAST_NHWC_H

#include "fast/fast.h"
#include "op/internal/nhwc.h"

typedef struct prt_nhwc {
    const prt_kern *kern;
    prt_nhwc_weights layout;
    size_t batch, in_d, in_h, in_w, out_d, out_h, out_w; /* d: depth; 1 for images */
    size_t in_c, out_c;                                  /* channels of all groups */
    size_t x_pitch, y_pitch, residual_pitch; /* floats from pixel to pixel, at least the channels */
    size_t kernel_d, kernel_h, kernel_w, stride_d, stride_h, stride_w;
    size_t dilation_d, dilation_h, dilation_w;
    int64_t front, top, left;             /* padding */
    bool images;                          /* x is NCHW */
    bool in_order;                        /* in_order: the sums keep their order, so no Strassen */
    const float *x, *w, *bias, *residual; /* bias and residual may be NULL */
    const float *scale;                   /* by input channel, for bf16x3 only; NULL: no scale */
    float *y;
    prt_act act;
    const float *zeros;              /* one pixel of padding */
    const prt_tensor *prefetch_hint; /* prt_eval's `prefetch_hint`: a constant to prefetch */
} prt_nhwc;

/* Returns whether the input is an image, not a volume. */
static inline bool prt_nhwc_is_2d(const prt_nhwc *v)
{
    return v->in_d == 1 && v->kernel_d == 1 && v->front == 0 && v->out_d == 1;
}

/* Returns whether this is a pointwise convolution: output i reads only input i. */
static inline bool prt_nhwc_is_pointwise_conv(const prt_nhwc *v)
{
    return !v->images && v->layout.taps == 1 && v->stride_d == 1 && v->stride_h == 1 &&
        v->stride_w == 1 && v->front == 0 && v->top == 0 && v->left == 0 && v->in_d == v->out_d &&
        v->in_h == v->out_h && v->in_w == v->out_w;
}

/* Returns the approximate number of new input pixels per output pixel (overlap counted once). */
static inline size_t prt_nhwc_inputs_each(const prt_nhwc *v)
{
    return prt_size_min(v->stride_d, v->kernel_d) * prt_size_min(v->stride_h, v->kernel_h) *
        prt_size_min(v->stride_w, v->kernel_w);
}

/* Reads the spatial sizes from a window of rank 1 to 3. */
void prt_nhwc_set_window(prt_nhwc *v, const prt_window *w);

/* Finds the addresses that outputs [first, first + count) of image n read for a group: tap t of
 * output first + i goes to to[t * count + i]. */
void prt_nhwc_find_taps(const prt_nhwc *v, size_t n, size_t group, size_t first, size_t count,
    const float **to);

/* For NCHW input: writes the band that rows [row, row + rows) of the output read to `to`, as NHWC
 * rows with padding. prt_nhwc_band_row_size returns the floats of a row of the band. */
void prt_nhwc_copy_band(const prt_nhwc *v, size_t n, size_t row, size_t rows, float *to);
size_t prt_nhwc_band_row_size(const prt_nhwc *v);

/* Finds the addresses of `rows` rows of the output in a band. A kernel row is one contiguous piece:
 * piece t of output i goes to to[t * rows * out_w + i]. */
void prt_nhwc_find_band(const prt_nhwc *v, size_t rows, const float *band, const float **to);

/* Returns the rows of the padded image that `rows` consecutive rows of the output read. */
size_t prt_nhwc_band_rows(const prt_nhwc *v, size_t rows);

/* Sliding windows over each channel: depthwise convolution and pooling. */
typedef struct prt_nhwc_windows prt_nhwc_windows;
struct prt_nhwc_windows {
    const prt_nhwc *v;
    size_t inner, outer; /* outputs [inner, outer) of a row read no padding at its ends */
    size_t upper, lower; /* rows [upper, lower) read no padding above and below */
    bool bounded;        /* the activation is a range, which is in `d`, and there is no residual */
    bool none;           /* volumes: all taps are in the padding */
    bool slides;         /* run by `slide`, whose rows are set for each call; else by blocks */
    prt_slide slide;
    prt_windows d; /* the parameters that all blocks share */
    void (*run)(const prt_nhwc_windows *w, const prt_windows *d);
};

/* Initialises the windows of a depthwise convolution. Pooling then sets `run`. */
void prt_nhwc_windows_init(prt_nhwc_windows *w, const prt_nhwc *v);

/* Returns whether the channels can be processed in parts of `channels`. */
bool prt_nhwc_windows_can_split(const prt_nhwc_windows *w, size_t channels);

/* Restricts the windows to channels [first, first + count). From then on x, whose pixels are
 * `x_pitch` floats apart, and y point to channel `first`. */
void prt_nhwc_windows_select_channels(prt_nhwc_windows *w, size_t first, size_t count,
    size_t x_pitch);

/* Computes rows [row, end) of the output of one image into `y`. `x` is row `x_row` of its input,
 * followed by all the rows that these outputs read. */
void prt_nhwc_windows_run(const prt_nhwc_windows *w, size_t row, size_t end, const float *x,
    size_t x_row, float *y);

/* C = end(A B) for `rows` rows of A. B is packed: [k, n]. */
typedef struct prt_nhwc_product {
    size_t k, n;
    size_t lda, ldc;        /* floats from row to row */
    size_t run, run_stride; /* columns of C are stored in runs of `run` columns, n or a multiple of
                             * 16, `run_stride` apart */
    size_t lines; /* blocks of `rows` rows that are multiplied while a panel is in cache; 0:
                   * one */
    size_t a_line, c_line; /* floats from one block to the next */
    const float *w;
    const float *bias; /* NULL: no bias */
    prt_act act;
} prt_nhwc_product;

/* Consumes columns [first, first + columns) of C. */
typedef struct prt_nhwc_sink {
    void (*consume)(void *user, size_t first, size_t columns);
    void *user;
} prt_nhwc_sink;

/* Multiplies by the float32 GEMM kernel, on the calling thread. */
void prt_nhwc_multiply(const prt_kern *kern, const prt_nhwc_product *p, size_t rows, const float *a,
    float *c, const float *residual);

/* Returns the convolution of outputs [first, end) of the only row of image `image`, with its
 * inputs. */
prt_nhwc prt_nhwc_part_of_line(const prt_nhwc *v, size_t image, size_t first, size_t end);

poprt_status prt_nhwc_depthwise(prt_eval *c, const prt_nhwc *v);
/* NhwcMaxPool of 8-bit integers; `v` holds their addresses. */
poprt_status prt_nhwc_pool_bytes(prt_eval *c, const prt_nhwc *v, bool sign);
poprt_status prt_nhwc_winograd(prt_eval *c, const prt_nhwc *v);

/* Returns whether the kernel level has the Winograd algorithm of `v`. If not, weights that are not
 * transformed run as panels. */
bool prt_nhwc_has_winograd(const prt_nhwc *v);

/* Finishes `n` floats of y from `at` on: adds the residual, then applies the activation. */
static inline void prt_nhwc_finish(const prt_nhwc *v, bool add, size_t at, size_t n)
{
    if (add)
        v->kern->rows.binary(PRT_BINARY_add, n, v->y + at, 1, v->residual + at, 1, v->y + at);
    v->kern->rows.act(&v->act, n, v->y + at, v->y + at);
}

#endif
