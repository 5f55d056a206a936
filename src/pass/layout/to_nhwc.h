/* SPDX-License-Identifier: MIT */
/*
 * to_nhwc.h — the two Transposes between channels first, [N, C, spatial...], and channels last,
 * [N, spatial..., C]: of ranks 3 to 5.
 */
#ifndef PRT_PASS_LAYOUT_TO_NHWC_H
#define PRT_PASS_LAYOUT_TO_NHWC_H

#include "op/share/sliding.h"
#include "pass/engine/match.h"

/* Axis of channels last that axis i of channels first is. */
static inline uint32_t prt_to_nhwc_axis(uint32_t i, uint32_t rank)
{
    return i == 0 ? 0 : i == 1 ? rank - 1 : i - 1;
}

enum {
    PRT_TURN_RANK = 5,
    PRT_TURN_IMAGE = 4 /* most channels of an image that a convolution lays out by itself */
};

/* A tensor of rank 3 to 5. */
bool prt_to_nhwc_is_image(const prt_value *v);

/* `v` is made by a Transpose from channels last to first: what it turns; else NULL. */
prt_value *prt_to_nhwc_source(const prt_value *v);

/* A Transpose from channels first to last. */
bool prt_to_nhwc_is_last(const prt_op *op);

/* `v`, channels first, as channels last: what a turn made it from, or a new Transpose. */
prt_value *prt_to_nhwc_last(prt_build *b, prt_value *v);

/* Replaces output `i` of `root`, channels first, by `y`, which has its channels last. */
void prt_to_nhwc_replace(prt_build *b, prt_op *root, uint32_t i, prt_value *y);

/* The same elements in dims `dims`; NULL when more than one is unknown, or on failure. */
prt_value *prt_to_nhwc_reshape(prt_build *b, prt_value *x, uint32_t rank, const int64_t *dims);

/* Channels of a block of pixels, as [its sizes, channels], laid out as those pixels: an image of
 * these sizes (-1: not known) and channels. NULL on failure. */
prt_value *prt_to_nhwc_side_by_side(prt_build *b, prt_value *x, uint32_t axes, const int64_t *block,
    const int64_t *size, int64_t channels);

/* The window of a convolution of `x` with weights `w` (their dims), and what NhwcConv says of it;
 * false when padding depends on sizes that are unknown. */
bool prt_to_nhwc_window(const prt_value *x, const prt_tensor *w, const prt_window_spec *spec,
    prt_window *to, int64_t *kernel, int64_t *pads);

/* ---- rewrites, by file: see channels_last.c */
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
bool prt_to_nhwc_to_space(prt_build *b, prt_op *root);
bool prt_to_nhwc_to_depth(prt_build *b, prt_op *root);
bool prt_to_nhwc_spread(prt_pass *p, prt_build *b, prt_op *root);
bool prt_to_nhwc_transposed(prt_pass *p, prt_build *b, prt_op *root);
bool prt_to_nhwc_volume(prt_pass *p, prt_build *b, prt_op *root);
bool prt_to_nhwc_conv(prt_pass *p, prt_build *b, prt_op *root);

#endif
