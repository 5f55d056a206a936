/* SPDX-License-Identifier: MIT */
/*
 * to_nhwc.h — the two Transposes between channels first, [N, C, spatial...], and channels last, [N,
 * spatial..., C], of ranks 3 to 5, and the rewrites of channels_last.
 */
#ifndef PRT_PASS_LAYOUT_TO_NHWC_H
#define PRT_PASS_LAYOUT_TO_NHWC_H

#include "op/share/sliding.h"
#include "pass/engine/match.h"

/* Converts an axis from channels first to channels last. */
static inline uint32_t prt_to_nhwc_axis(uint32_t i, uint32_t rank)
{
    return i == 0 ? 0 : i == 1 ? rank - 1 : i - 1;
}

enum {
    PRT_TO_NHWC_MAX_RANK = 5,
    PRT_TO_NHWC_IMAGE_CHANNELS = 4 /* most channels of an image that a convolution converts */
};

/* Returns whether the value is a tensor of rank 3 to 5. */
bool prt_to_nhwc_is_image(const prt_value *v);

/* Returns the input of the Transpose from channels last to first that makes `v`; otherwise NULL. */
prt_value *prt_to_nhwc_source(const prt_value *v);

/* Returns whether the op is a Transpose from channels first to last. */
bool prt_to_nhwc_is_last(const prt_op *op);

/* Returns `v`, which has channels first, with channels last: the input of its Transpose, or the
 * result of a new one. */
prt_value *prt_to_nhwc_last(prt_build *b, prt_value *v);

/* Replaces output `i` of `root`, channels first, by `y`, which has channels last. */
void prt_to_nhwc_replace(prt_build *b, prt_op *root, uint32_t i, prt_value *y);

/* Adds a Reshape to `dims`, of which one may be unknown. NULL: more dims are unknown, or a
 * failure. */
prt_value *prt_to_nhwc_reshape(prt_build *b, prt_value *x, uint32_t rank, const int64_t *dims);

/* Places blocks of pixels: channels that are [block sizes, channels] become the pixels of an image
 * of these sizes (-1: not known). NULL after a failure. */
prt_value *prt_to_nhwc_place_blocks(prt_build *b, prt_value *x, uint32_t axes, const int64_t *block,
    const int64_t *size, int64_t channels);

/* Computes the window of a convolution of `x` with weights `w` (only their dims are read), and the
 * attributes of NhwcConv. Returns false if the padding depends on unknown sizes. */
bool prt_to_nhwc_window(const prt_value *x, const prt_tensor *w, const prt_window_spec *spec,
    prt_window *to, int64_t *kernel, int64_t *pads);

/* ---- rewrites; see channels_last.c */
bool prt_to_nhwc_elementwise(prt_build *b, prt_op *root);
bool prt_to_nhwc_concat(prt_build *b, prt_op *root);
bool prt_to_nhwc_split(prt_build *b, prt_op *root);
bool prt_to_nhwc_pad(prt_build *b, prt_op *root);
bool prt_to_nhwc_slice(prt_build *b, prt_op *root);
bool prt_to_nhwc_resize(prt_build *b, prt_op *root);
bool prt_to_nhwc_pool(prt_build *b, prt_op *root);
bool prt_to_nhwc_reduce(prt_build *b, prt_op *root);
bool prt_to_nhwc_global(prt_build *b, prt_op *root);
bool prt_to_nhwc_norm(prt_build *b, prt_op *root);
bool prt_to_nhwc_shuffle(prt_build *b, prt_op *root);
bool prt_to_nhwc_join_shuffle(prt_build *b, prt_op *root);
bool prt_to_nhwc_halves(prt_build *b, prt_op *root);
bool prt_to_nhwc_flatten(prt_build *b, prt_op *root);
bool prt_to_nhwc_unflatten(prt_build *b, prt_op *root);
bool prt_to_nhwc_depth_to_space(prt_build *b, prt_op *root);
bool prt_to_nhwc_space_to_depth(prt_build *b, prt_op *root);
bool prt_to_nhwc_depth_to_space_conv(prt_pass *p, prt_build *b, prt_op *root);
bool prt_to_nhwc_conv_transpose(prt_pass *p, prt_build *b, prt_op *root);
bool prt_to_nhwc_conv3d(prt_pass *p, prt_build *b, prt_op *root);
bool prt_to_nhwc_conv(prt_pass *p, prt_build *b, prt_op *root);

#endif
