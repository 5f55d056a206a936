/* SPDX-License-Identifier: MIT */
/* nhwc.h — weight layouts and shared functions of operators on channels-last images. */
#ifndef PRT_OP_INTERNAL_NHWC_H
#define PRT_OP_INTERNAL_NHWC_H

#include "op/share/sliding.h"
#include "op/words.h"

/* Layout of convolution weights. Channels and filters are counts per group. */
typedef struct prt_nhwc_weights {
    prt_nhwc_algorithm algorithm;
    size_t group, channels, filters, taps;
    bool transformed; /* Winograd only: stored as Winograd points instead of taps */
} prt_nhwc_weights;

/* Returns the number of Winograd tiles along one axis of an output, each of `side` pixels that are
   `dilation` apart. Each residue modulo the dilation is an axis of its own with `*each` tiles. */
static inline size_t prt_nhwc_tiles(size_t pixels, size_t dilation, size_t side, size_t *each)
{
    const size_t axes = pixels < dilation ? pixels : dilation;
    *each = pixels != 0 ? (pixels - 1) / dilation / side + 1 : 0;
    return axes * *each;
}

/* Range of taps [*first, *last) that output position `out` reads inside the input, along one
   axis. */
static inline void prt_nhwc_inside(size_t out, size_t stride, size_t dilation, int64_t begin,
    size_t kernel, size_t in, size_t *first, size_t *last)
{
    const int64_t start = (int64_t)(out * stride) - begin, d = (int64_t)dilation;
    const int64_t low = start < 0 ? (-start + d - 1) / d : 0;
    const int64_t high = start < (int64_t)in ? ((int64_t)in - start + d - 1) / d : 0;
    *last = high < (int64_t)kernel ? (size_t)high : kernel;
    *first = low < (int64_t)*last ? (size_t)low : *last;
}

/* Thresholds from which on the algorithm panels runs in bf16x3. */
enum {
    PRT_NHWC_BF16X3_CHANNELS = 16, /* input channels */
    PRT_NHWC_BF16X3_IMAGES = 96,   /* input channels times taps, for images with channels first */
    PRT_NHWC_BF16X3_FILTERS = 24   /* filters */
};

/* Minimum number of channels for which the algorithm panels skips taps that lie in the padding
   because of a large dilation. */
enum { PRT_NHWC_FAR_DEPTH = 64 };

/* Returns the number of Winograd points along each axis, or along the line of winograd_line, which
   equals the input pixels of a tile; 0 for other forms. */
static inline size_t prt_nhwc_points(prt_nhwc_algorithm algorithm)
{
    static const uint8_t points[PRT_NHWC_ALGORITHMS] = { [PRT_NHWC_winograd] = 6,
        [PRT_NHWC_winograd2] = 4,
        [PRT_NHWC_winograd5] = 6,
        [PRT_NHWC_winograd6] = 8,
        [PRT_NHWC_winograd_line] = 8 };
    return points[algorithm];
}

/* Returns the kernel size, along each axis, of a two-dimensional Winograd algorithm. */
static inline size_t prt_nhwc_side(prt_nhwc_algorithm algorithm)
{
    return algorithm == PRT_NHWC_winograd5 ? 5 : 3;
}

/* Decomposition of a kernel of `taps` along a line for winograd_line: a sum of `pieces` kernels of
   at most 9 - out taps each, computed in `tiles` tiles of `out` outputs. */
typedef struct prt_nhwc_line {
    size_t out, pieces, tiles;
} prt_nhwc_line;

/* Returns the decomposition with the fewest products. */
prt_nhwc_line prt_nhwc_line_of(size_t taps, size_t pixels, size_t dilation);

/* Returns whether groups are so small that the algorithm taps applies (depthwise or nearly). */
static inline bool prt_nhwc_is_depthwise(const prt_nhwc_weights *w)
{
    return w->channels == w->filters && w->channels <= 8 && (w->channels & (w->channels - 1)) == 0;
}

static inline bool prt_nhwc_is_pointwise(const prt_i64s *kernel_shape)
{
    for (uint32_t i = 0; i < kernel_shape->count; i++)
        if (kernel_shape->data[i] != 1)
            return false;
    return true;
}

/* Reads the layout from checked attributes (see infer in nhwc.c). Returns false for an overflow of
   taps. */
bool prt_nhwc_weights_of(const prt_nhwc_conv_attrs *a, prt_nhwc_weights *out);

/* Returns whether the algorithm supports this kernel, these strides and these dilations. */
bool prt_nhwc_fits(const prt_nhwc_conv_attrs *a, const prt_nhwc_weights *w);

/* Computes the number of floats of the weights. Returns false where their size overflows or the
   algorithm does not fit. */
bool prt_nhwc_weights_size(const prt_nhwc_weights *w, size_t *count);

/* Returns the distance in floats between the panels of two groups, or between two transformed
   matrices. */
size_t prt_nhwc_weights_step(const prt_nhwc_weights *w);

/* Returns the total width of all panels of a packed matrix with `filters` columns; then the offset
   of element (k, filter) in such a matrix with `depth` rows. */
size_t prt_nhwc_panels_width(size_t filters);
size_t prt_nhwc_panel_at(size_t filters, size_t depth, size_t k, size_t filter);

/* Computes the number of floats of the weights of NhwcSpread. Returns false for invalid or too
   large sizes. */
bool prt_nhwc_spread_size(const prt_nhwc_spread_attrs *a, size_t channels, size_t *count);

/* Convert between the order of Conv, [group * filters, channels, taps], and the layout `w`.
   Unpacking transformed weights is accurate to a few units in the last place of float32. */
void prt_nhwc_weights_pack(const prt_nhwc_weights *w, const float *from, float *to);
void prt_nhwc_weights_unpack(const prt_nhwc_weights *w, const float *from, float *to);

/* Computes the number of bytes of the weights of NhwcQConv for panels or taps. Returns false
   where it overflows. prt_nhwc_qconv_at returns the offset of tap t of a channel of a filter. */
bool prt_nhwc_qconv_size(const prt_nhwc_weights *w, size_t *count);
size_t prt_nhwc_qconv_at(const prt_nhwc_weights *w, size_t group, size_t filter, size_t channel,
    size_t t);

/* Return the window attributes of NhwcQConv and NhwcQuantizedConv as attributes of NhwcConv. They
   borrow from `a`. */
prt_nhwc_conv_attrs prt_nhwc_conv_of(const prt_nhwc_qconv_attrs *a);
prt_nhwc_conv_attrs prt_nhwc_quantized_conv_of(const prt_nhwc_quantized_conv_attrs *a);

/* Returns the attributes of the NhwcConv that is part 0, 1 or 2 of NhwcSeparable; `channels` is the
   number of channels of X. They borrow from `a`. */
prt_nhwc_conv_attrs prt_nhwc_separable_part(const prt_nhwc_separable_attrs *a, int part,
    int64_t channels);

/* Shared shape and value functions of channels-last operators. prt_nhwc_infer_weights returns in
   `to` the shape that W has as input of Conv, and checks the attributes. The other two run the
   channels-first operator `id` on transposed data. `in[0]` and `y` are channels last; with
   `images`, in[0] is channels first. */
poprt_status prt_nhwc_infer_weights(prt_infer *c, const prt_nhwc_conv_attrs *a, int32_t dtype,
    prt_shape *to);
poprt_status prt_nhwc_infer_transposed(prt_infer *c, uint32_t id, const void *attrs, bool images,
    uint32_t n_in, prt_shape *in, int32_t dtype);
poprt_status prt_nhwc_eval_transposed(prt_eval *c, uint32_t id, const void *attrs, bool images,
    uint32_t n_in, const prt_tensor **in, prt_tensor *y);
prt_conv_attrs prt_nhwc_plain_conv(const prt_nhwc_conv_attrs *a);

/* Computes the window over the spatial dims of X, which are numbers. With `images` X is channels
   first. */
void prt_nhwc_window(const prt_nhwc_conv_attrs *a, const prt_tensor *x, prt_window *w);

#endif
