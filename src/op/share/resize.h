/* SPDX-License-Identifier: MIT */
/*
 * resize.h — the coordinate mapping of Resize along one axis: parsed attributes, and the inputs and
 * weights of one output coordinate.
 */
#ifndef PRT_OP_SHARE_RESIZE_H
#define PRT_OP_SHARE_RESIZE_H

#include "op/share/reals.h"

typedef enum prt_resize_mode {
    PRT_RESIZE_NEAREST,
    PRT_RESIZE_LINEAR,
    PRT_RESIZE_CUBIC
} prt_resize_mode;

typedef enum prt_resize_coords {
    PRT_COORDS_half_pixel,
    PRT_COORDS_half_pixel_symmetric,
    PRT_COORDS_pytorch_half_pixel,
    PRT_COORDS_align_corners,
    PRT_COORDS_asymmetric,
    PRT_COORDS_tf_half_pixel_for_nn, /* until opset 13 */
    PRT_COORDS_tf_crop_and_resize,
    PRT_COORDS_COUNT
} prt_resize_coords;

typedef enum prt_resize_round {
    PRT_ROUND_prefer_floor,
    PRT_ROUND_prefer_ceil,
    PRT_ROUND_floor,
    PRT_ROUND_ceil,
    PRT_ROUND_COUNT
} prt_resize_round;

typedef enum prt_resize_policy {
    PRT_POLICY_stretch,
    PRT_POLICY_not_larger,
    PRT_POLICY_not_smaller,
    PRT_POLICY_COUNT
} prt_resize_policy;

typedef struct prt_resize_params {
    int32_t mode, coords, round, policy;
    bool antialias, exclude_outside;
    double cubic_a;
} prt_resize_params;

/* One axis: sizes, scale, requested output size (may be a fraction) and region of interest. */
typedef struct prt_resize_axis {
    int64_t in, out;
    double scale, width, start, end;
} prt_resize_axis;

/* Parses the text attributes. Returns false, with the value in `bad`, if a value is not known. */
bool prt_resize_read(const prt_resize_attrs *a, prt_resize_params *params, prt_str *bad);

/* Computes all parameters of each axis of the input, at run time. */
poprt_status prt_resize_axes(prt_eval *c, const prt_resize_params *params, prt_resize_axis *axis);

/* Returns true if the output equals the input along this axis. */
bool prt_resize_is_identity(const prt_resize_params *params, const prt_resize_axis *axis);

/* Computes the input coordinate of output coordinate `at`. Returns false if it is to be
 * extrapolated. */
bool prt_resize_coordinate(const prt_resize_params *params, const prt_resize_axis *axis, int64_t at,
    double *to);

/* Returns the nearest input index to a coordinate. */
int64_t prt_resize_nearest(const prt_resize_params *params, const prt_resize_axis *axis, double at);

/* Returns the maximum number of inputs with a weight for any output coordinate. */
size_t prt_resize_taps(const prt_resize_params *params, const prt_resize_axis *axis);

/* Computes the weights around a coordinate. Returns the first input index, which may be outside:
 * clamp it. */
int64_t prt_resize_weights(const prt_resize_params *params, const prt_resize_axis *axis, double at,
    size_t taps, double *weights);

#endif
