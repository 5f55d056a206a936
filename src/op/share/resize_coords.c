/* SPDX-License-Identifier: MIT */
/* resize_coords.c — coordinates and weights of Resize along one axis. */
#include <math.h>

#include "op/share/resize.h"

/* Returns the index of a word in a list; `count` if it is not there. */
static int32_t find_word(prt_str word, const char *const *words, int32_t count)
{
    int32_t i = 0;
    while (i < count && !prt_str_is(word, words[i]))
        i++;
    return i;
}

bool prt_resize_read(const prt_resize_attrs *a, prt_resize_params *params, prt_str *bad)
{
    static const char *const modes[] = { "nearest", "linear", "cubic" };
    static const char *const coords[] = { "half_pixel", "half_pixel_symmetric",
        "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn",
        "tf_crop_and_resize" };
    static const char *const rounds[] = { "round_prefer_floor", "round_prefer_ceil", "floor",
        "ceil" };
    static const char *const policies[] = { "stretch", "not_larger", "not_smaller" };
    const struct {
        prt_str word;
        const char *const *words;
        int32_t count;
        int32_t *to;
    } rows[] = {
        { a->mode, modes, PRT_COUNT_OF(modes), &params->mode },
        { a->coordinate_transformation_mode, coords, PRT_COORDS_COUNT, &params->coords },
        { a->nearest_mode, rounds, PRT_ROUND_COUNT, &params->round },
        { a->keep_aspect_ratio_policy, policies, PRT_POLICY_COUNT, &params->policy },
    };
    params->antialias = a->antialias != 0;
    params->exclude_outside = a->exclude_outside != 0;
    params->cubic_a = (double)a->cubic_coeff_a;
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
        *rows[i].to = find_word(rows[i].word, rows[i].words, rows[i].count);
        if (*rows[i].to == rows[i].count) {
            *bad = rows[i].word;
            return false;
        }
    }
    return true;
}

bool prt_resize_is_identity(const prt_resize_params *params, const prt_resize_axis *axis)
{
    return axis->in == axis->out && fabs(axis->scale - 1.0) < 1e-9 &&
        (params->coords != PRT_COORDS_tf_crop_and_resize ||
            (axis->start == 0.0 && axis->end == 1.0));
}

/* Uses single precision for mode nearest, like other implementations: ties depend on it. */
static double half_pixel(const prt_resize_params *params, const prt_resize_axis *axis, double x)
{
    if (params->mode == PRT_RESIZE_NEAREST)
        return (double)(((float)x + 0.5f) / (float)axis->scale - 0.5f);
    return (x + 0.5) / axis->scale - 0.5;
}

static double crop(const prt_resize_params *params, const prt_resize_axis *axis, double x)
{
    const double last = (double)axis->in - 1.0, end = (double)axis->out - 1.0;
    if (axis->out <= 1)
        return 0.5 * (axis->start + axis->end) * last;
    if (params->mode != PRT_RESIZE_NEAREST)
        return axis->start * last + x * (axis->end - axis->start) * last / end;
    const float a = (float)axis->start, b = (float)axis->end, in = (float)last;
    return (double)(a * in + (float)x * (b - a) * in / (float)end);
}

bool prt_resize_coordinate(const prt_resize_params *params, const prt_resize_axis *axis, int64_t at,
    double *to)
{
    const double x = (double)at, in = (double)axis->in, out = (double)axis->out;
    switch (params->coords) {
    case PRT_COORDS_half_pixel_symmetric:
        *to = in / 2.0 * (1.0 - out / axis->width) + half_pixel(params, axis, x);
        return true;
    case PRT_COORDS_pytorch_half_pixel:
        *to = axis->out > 1 ? half_pixel(params, axis, x) : 0.0;
        return true;
    case PRT_COORDS_align_corners:
        *to = axis->width == 1.0 || at == 0 ? 0.0 : x * (in - 1.0) / (axis->width - 1.0);
        return true;
    case PRT_COORDS_asymmetric:
        *to = params->mode == PRT_RESIZE_NEAREST ? (double)((float)x / (float)axis->scale)
                                                 : x / axis->scale;
        return true;
    case PRT_COORDS_tf_half_pixel_for_nn:
        *to = (double)(((float)x + 0.5f) / (float)axis->scale);
        return true;
    case PRT_COORDS_tf_crop_and_resize:
        *to = crop(params, axis, x);
        return *to >= 0.0 && *to <= in - 1.0;
    default:
        *to = half_pixel(params, axis, x);
        return true;
    }
}

/* Converts a coordinate to an index near the axis. NaN and far coordinates go to the ends. */
static int64_t to_index(const prt_resize_axis *axis, double x)
{
    const double most = (double)axis->in;
    if (!(x >= -most - 4.0))
        return -axis->in - 4;
    return (int64_t)fmin(x, 2.0 * most + 4.0);
}

int64_t prt_resize_nearest(const prt_resize_params *params, const prt_resize_axis *axis, double at)
{
    switch (params->round) {
    case PRT_ROUND_prefer_floor:
        at = ceil(at - 0.5);
        break;
    case PRT_ROUND_prefer_ceil:
        at = floor(at + 0.5);
        break;
    case PRT_ROUND_floor:
        at = floor(at);
        break;
    default:
        at = ceil(at);
        break;
    }
    const int64_t index = to_index(axis, at);
    return index < 0 ? 0 : index >= axis->in ? axis->in - 1 : index;
}

/* Returns the scale of the filter: below 1 only for antialiasing of a smaller output. */
static double shrink(const prt_resize_params *params, const prt_resize_axis *axis)
{
    return params->antialias && axis->scale < 1.0 ? axis->scale : 1.0;
}

/* Returns the first tap relative to the floor of the coordinate; taps are symmetric about it. */
static int64_t first_tap(const prt_resize_params *params, const prt_resize_axis *axis)
{
    const double reach = params->mode == PRT_RESIZE_CUBIC ? 2.0 : 1.0;
    const double first = floor(-reach / shrink(params, axis)) + 1.0;
    return to_index(axis, fmax(first, -2.0 * (double)axis->in - 4.0));
}

size_t prt_resize_taps(const prt_resize_params *params, const prt_resize_axis *axis)
{
    return (size_t)(2 - 2 * first_tap(params, axis));
}

static double filter(const prt_resize_params *params, double x)
{
    const double a = params->cubic_a, d = fabs(x);
    if (params->mode == PRT_RESIZE_LINEAR)
        return fmax(1.0 - d, 0.0);
    if (d <= 1.0)
        return ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
    if (d < 2.0)
        return ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a;
    return 0.0;
}

int64_t prt_resize_weights(const prt_resize_params *params, const prt_resize_axis *axis, double at,
    size_t taps, double *weights)
{
    const double factor = shrink(params, axis), whole = floor(at);
    const int64_t tap = first_tap(params, axis), first = to_index(axis, whole) + tap;
    double sum = 0.0;
    for (size_t i = 0; i < taps; i++) {
        const int64_t index = first + (int64_t)i;
        weights[i] = filter(params, ((double)tap + (double)i - (at - whole)) * factor);
        if (params->exclude_outside && (index < 0 || index >= axis->in))
            weights[i] = 0.0;
        sum += weights[i];
    }
    for (size_t i = 0; i < taps && sum != 0.0; i++)
        weights[i] /= sum;
    return first;
}
