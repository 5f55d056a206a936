/* SPDX-License-Identifier: MIT */
/*
 * sliding.h — sliding windows over spatial dims: kernel, strides, dilations and padding from the
 * attributes of convolution and pooling, output sizes, and the input position of each window.
 *
 * Window position o covers the inputs o * stride - begin + k * dilation for k < kernel.
 */
#ifndef PRT_OP_SHARE_SLIDING_H
#define PRT_OP_SHARE_SLIDING_H

#include "op/share/reals.h"

enum { PRT_MAX_SPATIAL = PRT_MAX_RANK - 2 };

/* The attributes; an empty list stands for the default. */
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

/* For the infer hook: checks the attributes' lengths and ranges for `rank` spatial dims. */
poprt_status prt_window_check(const prt_infer *c, const prt_window_spec *spec, uint32_t rank);

/* Fills a window from checked attributes, the spatial dims of the input, and the kernel dims
 * (NULL: from the attribute). With a dims table, sizes may be expressions or unknown. At run
 * time `dims` is NULL, and after a successful infer every number fits. */
void prt_window_fill(prt_dims *dims, const prt_window_spec *spec, uint32_t rank, const int64_t *in,
    const int64_t *kernel, prt_window *w);

/* Returns true if any padding is requested. */
bool prt_window_is_padded(const prt_window *w);

/* Returns true if the last window ends after the requested padding, which ceil_mode allows. */
bool prt_window_goes_beyond(const prt_window *w);

/* Infers the spatial dims of the kernel: those of the weights (input `i`, from dim 2 on) merged
 * with the attribute. */
poprt_status prt_window_kernel(const prt_infer *c, uint32_t i, const prt_window_spec *spec,
    uint32_t rank, int64_t *kernel);

/* Returns the input index that window position `out` reads at kernel offset `k`, flattened over
 * the spatial dims; SIZE_MAX in the padding. All sizes must be numbers. */
size_t prt_window_source(const prt_window *w, const int64_t *out, const int64_t *k);

/* Returns an element of an attribute list, or the default. */
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

/* The spec of an attribute struct that has all the usual names except ceil_mode. */
#define PRT_WINDOW_SPEC(a)                                                                         \
    {                                                                                              \
        .kernel = (a)->kernel_shape, .strides = (a)->strides, .dilations = (a)->dilations,         \
        .pads = (a)->pads, .auto_pad = (a)->auto_pad                                               \
    }

#endif
