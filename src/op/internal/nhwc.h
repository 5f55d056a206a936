/* SPDX-License-Identifier: MIT */
/* nhwc.h — convolutions whose channels come last: how their weights are laid out. */
#ifndef PRT_OP_INTERNAL_NHWC_H
#define PRT_OP_INTERNAL_NHWC_H

#include "op/share/sliding.h"

typedef enum prt_nhwc_form { /* see op/internal/nhwc.def */
    PRT_NHWC_panels,
    PRT_NHWC_taps,
    PRT_NHWC_winograd,
    PRT_NHWC_winograd2,
    PRT_NHWC_winograd5,
    PRT_NHWC_winograd6,
    PRT_NHWC_winograd_line,
    PRT_NHWC_FORMS
} prt_nhwc_form;

/* Channels and filters are those of one group. */
typedef struct prt_nhwc_weights {
    prt_nhwc_form form;
    size_t group, channels, filters, taps;
    bool transformed; /* Winograd's forms: by points instead of taps */
} prt_nhwc_weights;

const char *prt_nhwc_form_name(prt_nhwc_form form);

/* Tiles of `side` pixels along an axis of an output, whose pixels are as far apart as the taps:
 * every d-th pixel from each of the first d on is an axis of its own, with `each` tiles. */
static inline size_t prt_nhwc_tiles(size_t pixels, size_t dilation, size_t side, size_t *each)
{
    const size_t axes = pixels < dilation ? pixels : dilation;
    *each = pixels != 0 ? (pixels - 1) / dilation / side + 1 : 0;
    return axes * *each;
}

/* What an output at `out` needs of an axis: taps [*first, *last) read inside. */
static inline void prt_nhwc_inside(size_t out, size_t stride, size_t dilation, int64_t begin,
    size_t kernel, size_t in, size_t *first, size_t *last)
{
    const int64_t start = (int64_t)(out * stride) - begin, d = (int64_t)dilation;
    const int64_t low = start < 0 ? (-start + d - 1) / d : 0;
    const int64_t high = start < (int64_t)in ? ((int64_t)in - start + d - 1) / d : 0;
    *last = high < (int64_t)kernel ? (size_t)high : kernel;
    *first = low < (int64_t)*last ? (size_t)low : *last;
}

/* Channels (of images with channels first: with all taps) and filters from which on panels are
 * multiplied split. */
enum { PRT_NHWC_BF16X3_CHANNELS = 16, PRT_NHWC_BF16X3_IMAGES = 96, PRT_NHWC_BF16X3_FILTERS = 24 };

/* Channels from which on panels skip the padding of taps that lie apart. */
enum { PRT_NHWC_FAR_DEPTH = 64 };

/* Points of a Winograd form each way, or along its line, as many as inputs of a tile; 0 for the
 * other forms. */
static inline size_t prt_nhwc_points(prt_nhwc_form form)
{
    static const uint8_t points[PRT_NHWC_FORMS] = { [PRT_NHWC_winograd] = 6,
        [PRT_NHWC_winograd2] = 4,
        [PRT_NHWC_winograd5] = 6,
        [PRT_NHWC_winograd6] = 8,
        [PRT_NHWC_winograd_line] = 8 };
    return points[form];
}

/* Taps each way of the kernels that a Winograd form of squares is for. */
static inline size_t prt_nhwc_side(prt_nhwc_form form)
{
    return form == PRT_NHWC_winograd5 ? 5 : 3;
}

/* How winograd_line computes a kernel of `taps` over so many outputs with the fewest products: as a
 * sum of `pieces` of 9 - out taps or fewer, by tiles of `out` outputs. */
typedef struct prt_nhwc_line {
    size_t out, pieces, tiles;
} prt_nhwc_line;

prt_nhwc_line prt_nhwc_line_of(size_t taps, size_t pixels, size_t dilation);

/* Groups are so small that the form taps is for them. */
static inline bool prt_nhwc_is_depthwise(const prt_nhwc_weights *w)
{
    return w->channels == w->filters && w->channels <= 8 && (w->channels & (w->channels - 1)) == 0;
}

/* From checked attributes (at infer: see nhwc.c); false for a form that is none. */
bool prt_nhwc_weights_of(const prt_nhwc_conv_attrs *a, prt_nhwc_weights *out);

/* Whether the form is for a kernel, strides and dilations like these. */
bool prt_nhwc_fits(const prt_nhwc_conv_attrs *a, const prt_nhwc_weights *w);

/* Floats that they take; false when more than memory can hold, or when the form does not fit. */
bool prt_nhwc_weights_size(const prt_nhwc_weights *w, size_t *count);

/* Floats from the start of one group's panels, or of one transformed matrix, to the next. */
size_t prt_nhwc_weights_step(const prt_nhwc_weights *w);

/* Columns of a packed matrix with so many filters, all its panels together, and where element
 * (k, filter) of one with `depth` rows is. */
size_t prt_nhwc_panels_width(size_t filters);
size_t prt_nhwc_panel_at(size_t filters, size_t depth, size_t k, size_t filter);

/* Floats of the weights of NhwcSpread; false for impossible sizes. */
bool prt_nhwc_spread_size(const prt_nhwc_spread_attrs *a, size_t channels, size_t *count);

/* From the order of Conv, [group * filters, channels, taps], and back. The way back from what is
 * transformed is true to a few units of single precision. */
void prt_nhwc_weights_pack(const prt_nhwc_weights *w, const float *from, float *to);
void prt_nhwc_weights_unpack(const prt_nhwc_weights *w, const float *from, float *to);

/* Bytes of the weights of NhwcQConv, of form panels or taps; false when more than memory can hold.
 * Where tap t of a kernel's channel is in them. */
bool prt_nhwc_bytes_size(const prt_nhwc_weights *w, size_t *count);
size_t prt_nhwc_bytes_at(const prt_nhwc_weights *w, size_t group, size_t filter, size_t channel,
    size_t t);

/* The window attributes of NhwcQConv and NhwcQuantizedConv, as those of NhwcConv. */
prt_nhwc_conv_attrs prt_nhwc_conv_of(const prt_nhwc_qconv_attrs *a);
prt_nhwc_conv_attrs prt_nhwc_quantized_conv_of(const prt_nhwc_quantized_conv_attrs *a);

/* The NhwcConv that part 0, 1 or 2 of NhwcSeparable is; `channels`: of its X. */
prt_nhwc_conv_attrs prt_nhwc_separable_part(const prt_nhwc_separable_attrs *a, int part,
    int64_t channels);

/* What operators on channels last share: shapes (and, with it, the shape of W from attributes that
 * are checked) and values by an operator on channels first. `in[0]` and `y` have their channels
 * last, but for X of `images`. */
poprt_status prt_nhwc_infer_weights(prt_infer *c, const prt_nhwc_conv_attrs *a, int32_t dtype,
    prt_shape *to);
poprt_status prt_nhwc_infer_turned(prt_infer *c, uint32_t id, const void *attrs, bool images,
    uint32_t n_in, prt_shape *in, int32_t dtype);
poprt_status prt_nhwc_eval_turned(prt_eval *c, uint32_t id, const void *attrs, bool images,
    uint32_t n_in, const prt_tensor **in, prt_tensor *y);
prt_conv_attrs prt_nhwc_plain_conv(const prt_nhwc_conv_attrs *a);

/* The window over the spatial dims of X (`images`: channels first), numbers only. */
void prt_nhwc_window(const prt_nhwc_conv_attrs *a, const prt_tensor *x, prt_window *w);

#endif
