/* SPDX-License-Identifier: MIT */
/*
 * bf16x3_work.h — one bf16x3 product while it runs: shared by matrix products (gemm/bf16x3.c) and
 * convolutions (conv/bf16x3_conv.c).
 *
 * A is converted to bf16 pairs in units: a row of A, or the rows of A of one row of pixels. A
 * convolution over an image with padding has the pixels of the padded row as rows of its unit, and
 * a row of its A consists of `taps` pieces of k floats each.
 */
#ifndef PRT_FAST_GEMM_BF16X3_WORK_H
#define PRT_FAST_GEMM_BF16X3_WORK_H

#include <stdatomic.h>

#include "fast/gemm/bf16x3.h"

/* Converted units [row, end) of A. All units with the first PRT_BF16X3_DEPTH of K come first, then
 * all units with the next ones. */
typedef struct prt_bf16x3_converted {
    size_t row, end;
    float *a;
    size_t plane; /* floats from one block of K to the next */
} prt_bf16x3_converted;

typedef struct prt_bf16x3_work {
    const prt_product_spec *p; /* one batch; `a` are the rows to convert */
    const prt_kern *kern;
    size_t units, k;           /* units of A, and floats of a row or of a piece of it */
    size_t unit_rows;          /* rows of A in a unit */
    prt_bf16x3_converted a;    /* all of A, converted beforehand; `a.a` is NULL: items convert A */
    size_t pitch;              /* floats from one converted row to the next */
    size_t pieces;             /* work items of the conversion of A */
    const prt_nhwc *images;    /* NCHW convolution, run by im2col; else NULL */
    const prt_nhwc *v;         /* NHWC convolution over a padded image; else NULL */
    size_t padded_w, padded_h; /* pixels of its image with padding */
    size_t taps, sums_w;       /* taps; pixels of a row of sums */
    size_t *tap_at;            /* floats from a pixel to its tap t in the padded image */
    size_t chunk_step;         /* columns: chunks are multiples of it */
    size_t chunks, blocks;     /* chunks of columns; blocks of rows of C or of rows of pixels */
    bool converts_own;         /* an item converts the units of A that it reads */
    size_t span;               /* panels multiplied by one part of K before the next part */
    size_t parts;              /* parts of K: see prt_bf16x3_part */
    size_t part_size, sums, table; /* floats: of a converted part of a panel, of sums, of the table
                                    * of tiles or of packed panels */
    size_t scratch;                /* floats of an item */
    const prt_nhwc_sink *sink; /* takes the finished panels, which share one place in C; or NULL */
    _Atomic bool finite;       /* no element of A or B has been found that is not finite */
} prt_bf16x3_work;

/* One part of K of one panel of B: up to PRT_BF16X3_DEPTH rows, in whole taps where they fit. */
typedef struct prt_bf16x3_part {
    size_t first;      /* column */
    size_t tap, skip;  /* the first tap, and the first element of it */
    bool begins, ends; /* the first part of K; the last one */
    prt_bf16x3_panel panel;
} prt_bf16x3_part;

/* The rows of C that an item computes. */
typedef struct prt_bf16x3_item {
    size_t first, count;   /* rows of C; rows of pixels where `v` is set */
    size_t tiles;          /* the members from here to `sums` are used where `v` is set */
    const size_t *tile_at; /* floats from the first converted unit to each tile's first row */
    float *sums;
    prt_bf16x3_converted a; /* the units that the rows read */
} prt_bf16x3_item;

/* n / most, rounded up. */
static inline size_t prt_bf16x3_item_count(size_t n, size_t most)
{
    return (n + most - 1) / most;
}

/* Cuts `all` rows of C (or rows of pixels, with `row` rows of C each) of each of `images` into
 * items, and sets the sizes that follow from it. */
void prt_bf16x3_set_items(const prt_eval *c, prt_bf16x3_work *w, size_t images, size_t all,
    size_t row);

/* Cuts the work and runs it. Clears `*done` where not all elements are finite; C then holds
 * anything. */
poprt_status prt_bf16x3_run(prt_eval *c, prt_bf16x3_work *w, size_t images, size_t all, size_t row,
    bool *done);

/* Runs one item of a prt_bf16x3_work, `user`, on this thread. */
void prt_bf16x3_run_item(const void *user, size_t item, float *scratch);

/* Converts `rows` consecutive rows of A to `to`, `plane` floats from one block of K to the next. */
void prt_bf16x3_convert_rows(prt_bf16x3_work *w, const float *a, size_t lda, size_t rows,
    size_t plane, float *to);

/* The functions from here on are in conv/bf16x3_conv.c. They convert units [row, end): rows of the
 * padded images; or rows of pixels by im2col, with `band`, prt_bf16x3_band_size floats. */
void prt_bf16x3_convert_padded(prt_bf16x3_work *w, size_t row, size_t end, size_t plane, float *to);
void prt_bf16x3_convert_im2col(prt_bf16x3_work *w, size_t row, size_t end, size_t plane,
    float *band, float *to);

/* Floats of the band of input that one im2col step reads; 0 where there is no im2col. */
size_t prt_bf16x3_band_size(const prt_bf16x3_work *w);

/* Fills the table `to` of the tiles of rows of pixels that read from unit `row` on. */
void prt_bf16x3_find_tiles(const prt_bf16x3_work *w, prt_bf16x3_item *r, size_t row, size_t *to);

/* Writes the sums of a panel to the output, with the residual and the activation. */
void prt_bf16x3_finish_pixels(const prt_bf16x3_work *w, const prt_bf16x3_item *r,
    const prt_bf16x3_part *t);

#endif
