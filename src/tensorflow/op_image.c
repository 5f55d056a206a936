/* SPDX-License-Identifier: MIT */
/* op_image.c — crops, patches, transforms and colours of images. */
#include <math.h>

#include "tensorflow/conv.h"
#include "tensorflow/formulas.h"

static const prt_tf_window nhwc = { .axes = 2, .channels_last = true };

/* ---- crops */

#ifndef PRT_NO_MICROSOFT
poprt_status prt_tf_row_crop_and_resize(prt_tf_call *n)
{
    prt_ms_crop_and_resize_attrs attrs = PRT_ATTRS_OF(ms_crop_and_resize);
    const prt_str method = prt_tf_attr_str(n, "method", "bilinear");
    if (!prt_str_is(method, "bilinear") && !prt_str_is(method, "nearest"))
        return prt_tf_refuse(n, "method %.*s is not known", PRT_STR_ARG(method));
    PRT_ATTR_SET(attrs, ms_crop_and_resize, mode, method);
    PRT_ATTR_SET(attrs, ms_crop_and_resize, extrapolation_value,
        prt_tf_attr_f32(n, "extrapolation_value", 0));
    prt_value *x = prt_build_cast(&n->b, prt_tf_in(n, 0), PRT_DTYPE_f32);
    prt_value *in[] = { prt_tf_to_channels_first(&n->b, x, &nhwc), prt_tf_in(n, 1), prt_tf_in(n, 2),
        prt_tf_in(n, 3) };
    prt_value *y = prt_build_op(&n->b, PRT_OP_ms_crop_and_resize, &attrs, 4, in);
    prt_tf_set(n, 0, prt_tf_from_channels_first(&n->b, y, &nhwc));
    return prt_tf_end(n);
}
#else
poprt_status prt_tf_row_crop_and_resize(prt_tf_call *n)
{
    return prt_tf_refuse(n, "this library was built without the operators of com.microsoft");
}
#endif

/* ---- patches */

/* Returns the number of patches along an axis, as a vector of one number. */
static prt_value *patch_count(prt_tf_call *n, const prt_tf_window *w, prt_value *x, uint32_t i)
{
    const int64_t span = (w->kernel[i] - 1) * w->dilation[i] + 1;
    prt_value *extent = BINARY(sub, prt_build_size_of(&n->b, x, i + 1), I64(span - w->stride[i]));
    return BINARY(max, BINARY(div, extent, I64(w->stride[i])), I64(0));
}

/* Selects, on one axis, the cells of all patches: the axis of size s becomes one of
 * patches · kernel. */
static prt_value *select_cells(prt_tf_call *n, const prt_tf_window *w, prt_value *x, uint32_t i,
    prt_value *count)
{
    static const int64_t zero = 0, one = 1, flat = -1;
    prt_value *first =
        prt_build_range(&n->b, I64(0), prt_build_squeeze(&n->b, count, 1, &zero), I64(1));
    first = prt_build_unsqueeze(&n->b, BINARY(mul, first, I64(w->stride[i])), 1, &one);
    prt_value *step = prt_build_range(&n->b, I64(0), I64(w->kernel[i]), I64(1));
    prt_value *at = BINARY(add, first, BINARY(mul, step, I64(w->dilation[i])));
    return prt_build_gather(&n->b, x, prt_build_reshape(&n->b, at, 1, &flat), i + 1);
}

/* Returns patches [N, count…, kernel…·C] of an image with zeros around it. */
static prt_value *patches(prt_tf_call *n, const prt_tf_window *w, prt_value *x)
{
    const uint32_t axes = w->axes;
    int64_t pads[2 * PRT_TF_MAX_AXES], all[2 * (PRT_TF_MAX_AXES + 2)] = { 0 };
    int64_t perm[2 + 2 * PRT_TF_MAX_AXES], cells = 1;
    prt_value *apart[2 + 2 * PRT_TF_MAX_AXES], *joint[2 + PRT_TF_MAX_AXES];
    if (!prt_tf_window_pads(w, x, pads)) {
        (void)prt_tf_refuse(n, "the size of the image must be known for padding SAME");
        return NULL;
    }
    for (uint32_t i = 0; i < axes; i++) {
        all[i + 1] = pads[i];
        all[i + 3 + axes] = pads[i + axes];
        if (w->kernel[i] > INT32_MAX / cells) {
            (void)prt_tf_refuse(n, "the patches are too large");
            return NULL;
        }
        cells *= w->kernel[i];
    }
    x = BINARY(pad, x, prt_build_i64s(&n->b, 2 * (axes + 2), all));
    joint[0] = apart[0] = prt_build_size_of(&n->b, x, 0);
    apart[1 + 2 * axes] = prt_build_size_of(&n->b, x, axes + 1);
    joint[1 + axes] = BINARY(mul, apart[1 + 2 * axes], I64(cells));
    perm[0] = 0;
    perm[1 + 2 * axes] = 1 + 2 * axes;
    for (uint32_t i = 0; i < axes; i++) {
        joint[1 + i] = apart[1 + 2 * i] = patch_count(n, w, x, i);
        apart[2 + 2 * i] = prt_build_i64s(&n->b, 1, &w->kernel[i]);
        perm[1 + i] = 1 + 2 * i;
        perm[1 + axes + i] = 2 + 2 * i;
    }
    for (uint32_t i = 0; i < axes; i++)
        x = select_cells(n, w, x, i, joint[1 + i]);
    x = prt_build_reshape_to(&n->b, x, prt_build_concat(&n->b, 0, 2 + 2 * axes, apart));
    x = prt_build_transpose(&n->b, x, 2 + 2 * axes, perm);
    return prt_build_reshape_to(&n->b, x, prt_build_concat(&n->b, 0, 2 + axes, joint));
}

static poprt_status extract_patches(prt_tf_call *n, uint32_t axes)
{
    prt_tf_window w;
    if (!prt_tf_read_window(n, axes, &w) ||
        !prt_tf_window_list(n, &w, "ksizes", prt_tf_attr_ints(n, "ksizes"), w.kernel) ||
        !prt_tf_window_list(n, &w, "rates", prt_tf_attr_ints(n, "rates"), w.dilation))
        return prt_tf_end(n);
    prt_value *x = prt_tf_in(n, 0);
    if (x != NULL)
        prt_tf_set(n, 0, patches(n, &w, x));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_extract_image_patches(prt_tf_call *n)
{
    return extract_patches(n, 2);
}

poprt_status prt_tf_row_extract_volume_patches(prt_tf_call *n)
{
    return extract_patches(n, 3);
}

/* ---- projective transforms */

/* Returns the integers from 0 to a size, as floats with two axes around theirs. */
static prt_value *positions(prt_tf_call *n, prt_value *size, const int64_t around[2])
{
    static const int64_t zero = 0;
    prt_value *limit = prt_build_squeeze(&n->b, size, 1, &zero);
    prt_value *v = prt_build_range(&n->b, I64(0), limit, I64(1));
    return prt_build_unsqueeze(&n->b, prt_build_cast(&n->b, v, PRT_DTYPE_f32), 2, around);
}

/* Returns t[first]·x + t[first + 1]·y + last, where `t` are the 8 numbers of each transform. */
static prt_value *plane(prt_tf_call *n, prt_op *t, uint32_t first, prt_value *x, prt_value *y,
    prt_value *last)
{
    prt_value *sum =
        BINARY(add, BINARY(mul, &t->out[first], x), BINARY(mul, &t->out[first + 1], y));
    return BINARY(add, sum, last);
}

/* Rounds halves away from zero. */
static prt_value *round_away(prt_tf_call *n, prt_value *x)
{
    return BINARY(mul, UNARY(sign, x), UNARY(floor, BINARY(add, UNARY(abs, x), F32(0.5))));
}

/* Maps cells outside of an axis of `size` cells into it: mirrored, with the cell at the edge twice.
 */
static prt_value *mirror(prt_tf_call *n, prt_value *at, prt_value *size)
{
    prt_value *one = F32(1), *two = BINARY(mul, size, F32(2)), *distance = UNARY(abs, at);
    prt_value *m =
        BINARY(sub, distance, BINARY(mul, two, UNARY(floor, BINARY(div, distance, two))));
    prt_value *back = BINARY(sub, two, m);
    prt_value *left = WHERE(BINARY(greater, m, size), back, BINARY(sub, m, one));
    prt_value *right = WHERE(BINARY(less, m, size), m, BINARY(sub, back, one));
    return WHERE(BINARY(less, at, F32(0)), left, right);
}

/* The same, as if the axis went on from its beginning. */
static prt_value *wrap(prt_tf_call *n, prt_value *at, prt_value *size)
{
    prt_value *zero = F32(0), *one = F32(1), *last = BINARY(sub, size, one);
    prt_value *rounds = UNARY(floor, BINARY(div, UNARY(abs, at), BINARY(max, last, one)));
    prt_value *left = BINARY(add, at, BINARY(mul, size, BINARY(add, rounds, one)));
    prt_value *right = BINARY(sub, at, BINARY(mul, size, rounds));
    right = WHERE(BINARY(greater, at, last), right, at);
    return WHERE(BINARY(less, at, zero), left, right);
}

/* An image as rows of pixels, and the cells of it that a transform reads. */
typedef struct sampler {
    prt_value *pixels;  /* [images · H · W, C] */
    prt_value *image;   /* the number of each image, [N, 1, 1] */
    prt_value *size[2]; /* H and W as float32 */
    prt_value *fill;    /* of cells outside; NULL: there are none */
} sampler;

static sampler sampler_of(prt_tf_call *n, prt_value *x, prt_value *fill)
{
    static const int64_t zero = 0, after[] = { 1, 2 }, flat = -1;
    sampler s = { .fill = fill };
    prt_value *shape[] = { prt_build_i64s(&n->b, 1, &flat), prt_build_size_of(&n->b, x, 3) };
    s.pixels = prt_build_reshape_to(&n->b, x, prt_build_concat(&n->b, 0, 2, shape));
    prt_value *count = prt_build_squeeze(&n->b, prt_build_size_of(&n->b, x, 0), 1, &zero);
    s.image = prt_build_unsqueeze(&n->b, prt_build_range(&n->b, I64(0), count, I64(1)), 2, after);
    for (uint32_t i = 0; i < 2; i++)
        s.size[i] = prt_build_cast(&n->b, prt_build_size_of(&n->b, x, i + 1), PRT_DTYPE_f32);
    return s;
}

/* Maps positions on axis i into the image, as `mode` says; CONSTANT leaves them outside. */
static prt_value *map_into(prt_tf_call *n, const sampler *s, uint32_t i, prt_value *at,
    prt_str mode)
{
    if (prt_str_is(mode, "CONSTANT"))
        return at;
    if (prt_str_is(mode, "REFLECT"))
        at = mirror(n, at, s->size[i]);
    else if (prt_str_is(mode, "WRAP"))
        at = wrap(n, at, s->size[i]);
    return BINARY(max, BINARY(min, at, BINARY(sub, s->size[i], F32(1))), F32(0));
}

/* Returns the pixels of cells (y, x), which are whole numbers. */
static prt_value *read_cells(prt_tf_call *n, const sampler *s, prt_value *y, prt_value *x)
{
    static const int64_t channel = 3;
    prt_value *at = s->image, *out = NULL, *cell[] = { y, x };
    for (uint32_t i = 0; i < 2; i++) {
        prt_value *last = BINARY(sub, s->size[i], F32(1));
        prt_value *inside = BINARY(max, BINARY(min, cell[i], last), F32(0));
        prt_value *outside = UNARY(not, BINARY(equal, cell[i], inside));
        out = out == NULL ? outside : BINARY(or, out, outside);
        at = BINARY(mul, at, prt_build_cast(&n->b, s->size[i], PRT_DTYPE_i64));
        at = BINARY(add, at, prt_build_cast(&n->b, inside, PRT_DTYPE_i64));
    }
    prt_value *read = prt_build_gather(&n->b, s->pixels, at, 0);
    return s->fill != NULL ? WHERE(prt_build_unsqueeze(&n->b, out, 1, &channel), s->fill, read)
                           : read;
}

/* Returns (1 - part)·a + part·b, where `part` is that of the position behind its cell. */
static prt_value *blend(prt_tf_call *n, prt_value *a, prt_value *b, prt_value *at, prt_value *cell)
{
    static const int64_t channel = 3;
    prt_value *part = prt_build_unsqueeze(&n->b, BINARY(sub, at, cell), 1, &channel);
    part = prt_build_cast_as(&n->b, part, a);
    prt_value *rest = BINARY(sub, prt_build_number(&n->b, a, 1), part);
    return BINARY(add, BINARY(mul, rest, a), BINARY(mul, part, b));
}

static prt_value *sample(prt_tf_call *n, const sampler *s, prt_value *y, prt_value *x, bool nearest)
{
    if (nearest)
        return read_cells(n, s, round_away(n, y), round_away(n, x));
    prt_value *top = UNARY(floor, y), *left = UNARY(floor, x), *half[2];
    for (uint32_t i = 0; i < 2; i++) {
        prt_value *row = i == 0 ? top : BINARY(add, top, F32(1));
        half[i] = blend(n, read_cells(n, s, row, left),
            read_cells(n, s, row, BINARY(add, left, F32(1))), x, left);
    }
    return blend(n, half[0], half[1], y, top);
}

/* Pixel (x, y) of the result is the pixel ((t0·x + t1·y + t2)/k, (t3·x + t4·y + t5)/k) of the
 * image, with k = t6·x + t7·y + 1; where k is 0, it is the fill value. */
poprt_status prt_tf_row_projective_transform(prt_tf_call *n)
{
    static const int64_t rows[] = { 0, 2 }, columns[] = { 0, 1 },
                         single[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    static const int64_t two = 2, channel = 3;
    static const char *const modes[] = { "CONSTANT", "NEAREST", "REFLECT", "WRAP" };
    const prt_str mode = prt_tf_attr_str(n, "fill_mode", "CONSTANT");
    const bool nearest = prt_tf_attr_is(n, "interpolation", "NEAREST", "NEAREST");
    prt_value *image = prt_tf_in(n, 0), *transforms = prt_tf_in(n, 1), *shape = prt_tf_in(n, 2);
    const int32_t type = prt_tf_dtype(image);
    if (image == NULL || transforms == NULL || shape == NULL)
        return prt_tf_end(n);
    uint32_t known = 0;
    while (known < PRT_COUNT_OF(modes) && !prt_str_is(mode, modes[known]))
        known++;
    if (known == PRT_COUNT_OF(modes))
        return prt_tf_refuse(n, "fill_mode %.*s is not known", PRT_STR_ARG(mode));
    const bool wide = type == PRT_DTYPE_f64 || type == PRT_DTYPE_i32 || type == PRT_DTYPE_i64;
    prt_value *x = prt_build_cast(&n->b, image, wide ? PRT_DTYPE_f64 : PRT_DTYPE_f32);
    prt_value *fill =
        n->n_in > 3 ? prt_build_cast_as(&n->b, prt_tf_in(n, 3), x) : prt_build_number(&n->b, x, 0);
    prt_op *t =
        prt_build_split(&n->b, prt_build_unsqueeze(&n->b, transforms, 1, &two), 1, 8, single);
    prt_op *size =
        prt_build_split(&n->b, prt_build_cast(&n->b, shape, PRT_DTYPE_i64), 0, 2, single);
    if (t == NULL || size == NULL)
        return prt_tf_end(n);
    prt_value *py = positions(n, &size->out[0], rows), *px = positions(n, &size->out[1], columns);
    prt_value *k = plane(n, t, 6, px, py, F32(1));
    prt_value *no = BINARY(equal, k, F32(0));
    k = WHERE(no, F32(1), k);
    prt_value *from_x = BINARY(div, plane(n, t, 0, px, py, &t->out[2]), k);
    prt_value *from_y = BINARY(div, plane(n, t, 3, px, py, &t->out[5]), k);
    const sampler s = sampler_of(n, x, prt_str_is(mode, "CONSTANT") ? fill : NULL);
    prt_value *y =
        sample(n, &s, map_into(n, &s, 0, from_y, mode), map_into(n, &s, 1, from_x, mode), nearest);
    y = WHERE(prt_build_unsqueeze(&n->b, no, 1, &channel), fill, y);
    prt_tf_set(n, 0, prt_build_cast(&n->b, y, type));
    return prt_tf_end(n);
}

/* ---- colours */

poprt_status prt_tf_row_adjust_contrast(prt_tf_call *n)
{
    static const int64_t axes[] = { -3, -2 };
    prt_value *image = prt_tf_in(n, 0);
    prt_value *x = prt_build_cast(&n->b, image, PRT_DTYPE_f32);
    prt_value *mean =
        prt_build_reduce(&n->b, PRT_OP_reduce_mean, x, prt_build_i64s(&n->b, 2, axes), true);
    prt_value *y = BINARY(add, BINARY(mul, BINARY(sub, x, mean), prt_tf_in(n, 1)), mean);
    prt_tf_set(n, 0, prt_build_cast_as(&n->b, y, image));
    return prt_tf_end(n);
}

/* Splits the last axis into three. */
static bool split3(prt_tf_call *n, prt_value *x, prt_value *out[3])
{
    static const int64_t ones[] = { 1, 1, 1 };
    prt_op *op = prt_build_split(&n->b, x, -1, 3, ones);
    for (uint32_t i = 0; i < 3; i++)
        out[i] = op != NULL ? &op->out[i] : NULL;
    return op != NULL;
}

static bool to_hsv(prt_tf_call *n, prt_value *rgb, prt_value *hsv[3])
{
    prt_value *c[3], *h[3];
    if (!split3(n, rgb, c))
        return false;
    prt_value *zero = prt_build_number(&n->b, rgb, 0), *one = prt_build_number(&n->b, rgb, 1);
    prt_value *v = prt_build_reduce_axis(&n->b, PRT_OP_reduce_max, rgb, -1, true);
    prt_value *range =
        BINARY(sub, v, prt_build_reduce_axis(&n->b, PRT_OP_reduce_min, rgb, -1, true));
    prt_value *grey = UNARY(not, BINARY(greater, range, zero));
    prt_value *black = UNARY(not, BINARY(greater, v, zero));
    prt_value *six = BINARY(mul, WHERE(grey, one, range), prt_build_number(&n->b, rgb, 6));
    for (uint32_t i = 0; i < 3; i++) {
        h[i] = BINARY(div, BINARY(sub, c[(i + 1) % 3], c[(i + 2) % 3]), six);
        h[i] = i == 0 ? h[i] : BINARY(add, h[i], prt_build_number(&n->b, rgb, i / 3.0));
    }
    prt_value *hue = WHERE(BINARY(equal, c[1], v), h[1], h[2]);
    hue = WHERE(grey, zero, WHERE(BINARY(equal, c[0], v), h[0], hue));
    hsv[0] = WHERE(BINARY(less, hue, zero), BINARY(add, hue, one), hue);
    hsv[1] = WHERE(black, zero, BINARY(div, range, WHERE(black, one, v)));
    hsv[2] = v;
    return true;
}

/* Red, green and blue of full saturation are ±|6h - centre| + offset, cut to [0, 1]. */
static prt_value *to_rgb(prt_tf_call *n, prt_value *const hsv[3])
{
    static const float numbers[3][3] = { { 3, 2, 4 }, { 1, -1, -1 }, { -1, 2, 2 } };
    static const int64_t three = 3;
    prt_value *k[3];
    for (uint32_t i = 0; i < 3; i++)
        k[i] = prt_build_cast_as(&n->b,
            prt_build_tensor(&n->b, PRT_DTYPE_f32, 1, &three, numbers[i]), hsv[0]);
    prt_value *one = prt_build_number(&n->b, hsv[0], 1);
    prt_value *six = BINARY(mul, hsv[0], prt_build_number(&n->b, hsv[0], 6));
    prt_value *full = BINARY(mul, UNARY(abs, BINARY(sub, six, k[0])), k[1]);
    full = prt_build_clip(&n->b, BINARY(add, full, k[2]), 0, 1);
    prt_value *mixed = BINARY(add, BINARY(sub, one, hsv[1]), BINARY(mul, hsv[1], full));
    return BINARY(mul, mixed, hsv[2]);
}

poprt_status prt_tf_row_rgb_to_hsv(prt_tf_call *n)
{
    prt_value *hsv[3];
    prt_value *x = prt_tf_in(n, 0);
    if (x != NULL && to_hsv(n, x, hsv))
        prt_tf_set(n, 0, prt_build_concat(&n->b, -1, 3, hsv));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_hsv_to_rgb(prt_tf_call *n)
{
    prt_value *hsv[3];
    if (split3(n, prt_tf_in(n, 0), hsv))
        prt_tf_set(n, 0, to_rgb(n, hsv));
    return prt_tf_end(n);
}

/* Changes hue or saturation in float32. */
static poprt_status adjust(prt_tf_call *n, bool hue)
{
    prt_value *hsv[3];
    prt_value *image = prt_tf_in(n, 0), *by = prt_tf_in(n, 1);
    prt_value *x = prt_build_cast(&n->b, image, PRT_DTYPE_f32);
    if (x == NULL || by == NULL || !to_hsv(n, x, hsv))
        return prt_tf_end(n);
    if (hue) {
        prt_value *sum = BINARY(add, hsv[0], by);
        hsv[0] = BINARY(sub, sum, UNARY(floor, sum));
    } else {
        hsv[1] = prt_build_clip(&n->b, BINARY(mul, hsv[1], by), 0, 1);
    }
    prt_tf_set(n, 0, prt_build_cast_as(&n->b, to_rgb(n, hsv), image));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_adjust_hue(prt_tf_call *n)
{
    return adjust(n, true);
}

poprt_status prt_tf_row_adjust_saturation(prt_tf_call *n)
{
    return adjust(n, false);
}
