/* SPDX-License-Identifier: MIT */
/*
 * sliding.h — sliding windows over spatial dims: kernel, strides, dilations and padding as the
 * convolution and pooling attributes give them, output sizes, and where each window reads.
 *
 * Window position o covers the inputs o * stride - begin + k * dilation for k < kernel.
 */
#ifndef PRT_OP_SHARE_SLIDING_H
#define PRT_OP_SHARE_SLIDING_H

#include "op/share/reals.h"

enum { PRT_MAX_SPATIAL = PRT_MAX_RANK - 2 };

/* Attributes as given: empty lists stand for their defaults. */
typedef struct prt_window_spec {
    prt_i64s kernel, strides, dilations, pads;
    prt_str auto_pad; /* absent: explicit pads */
    bool ceil_mode;
} prt_window_spec;

typedef struct prt_window {
    uint32_t rank;
    int64_t in[PRT_MAX_SPATIAL], out[PRT_MAX_SPATIAL];
    int64_t kernel[PRT_MAX_SPATIAL], stride[PRT_MAX_SPATIAL], dilation[PRT_MAX_SPATIAL];
    int64_t begin[PRT_MAX_SPATIAL], end[PRT_MAX_SPATIAL]; /* padding */
} prt_window;

/* For the infer hook: the attributes' lengths and ranges for `rank` spatial dims. */
poprt_status prt_window_check(const prt_infer *c, const prt_window_spec *spec, uint32_t rank);

/*
 * Fills a window from checked attributes, the spatial dims of the input and the kernel's (NULL:
 * the attribute's). With a dims table, sizes may be expressions or unknown; at run time `dims` is
 * NULL and every number that follows from `infer`'s success fits.
 */
void prt_window_fill(prt_dims *dims, const prt_window_spec *spec, uint32_t rank, const int64_t *in,
    const int64_t *kernel, prt_window *w);

/* Some padding was asked for. */
bool prt_window_is_padded(const prt_window *w);

/* The last window ends behind the padding that was asked for, as ceil_mode lets it. */
bool prt_window_goes_beyond(const prt_window *w);

/* Spatial dims of the kernel: the weights' (input `i`, from dim 2 on) merged with the attribute. */
poprt_status prt_window_kernel(const prt_infer *c, uint32_t i, const prt_window_spec *spec,
    uint32_t rank, int64_t *kernel);

/* Input index that window position `out` reads at kernel offset `k`, flattened over the spatial
 * dims; SIZE_MAX in the padding. Numbers only. */
size_t prt_window_source(const prt_window *w, const int64_t *out, const int64_t *k);

/* An attribute list's element, or its default. */
static inline int64_t prt_i64s_at(prt_i64s list, uint32_t i, int64_t absent)
{
    return i < list.count ? list.data[i] : absent;
}

static inline bool prt_i64s_are(prt_i64s list, int64_t value)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (list.data[i] != value)
            return false;
    return true;
}

static inline bool prt_window_is_same(const prt_window_spec *spec)
{
    return prt_str_is(spec->auto_pad, "SAME_UPPER") || prt_str_is(spec->auto_pad, "SAME_LOWER");
}

/* The spec of an attribute struct that has all of the usual names but ceil_mode. */
#define PRT_WINDOW_SPEC(a)                                                                         \
    {                                                                                              \
        .kernel = (a)->kernel_shape, .strides = (a)->strides, .dilations = (a)->dilations,         \
        .pads = (a)->pads, .auto_pad = (a)->auto_pad                                               \
    }

#endif
