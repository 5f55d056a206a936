/* SPDX-License-Identifier: MIT */
/* crop_and_resize.c — CropAndResize: boxes of images resampled to one size, with aligned
   corners. */
#include <math.h>

#include "op/share/reals.h"

enum { IN_X, IN_BOXES, IN_IMAGES, IN_SIZE };

static poprt_status infer(prt_infer *c)
{
    const prt_ms_crop_and_resize_attrs *a = c->attrs;
    int64_t boxes, dim, size[2] = { PRT_DIM_UNKNOWN, PRT_DIM_UNKNOWN };
    uint32_t count = 0;
    if (!prt_str_is(a->mode, "bilinear") && !prt_str_is(a->mode, "nearest"))
        return prt_infer_fail(c, POPRT_E_PARSE, "mode is \"%.*s\"; accepted: bilinear, nearest",
            PRT_STR_ARG(a->mode));
    PRT_TRY(prt_infer_rank(c, IN_X, 4));
    PRT_TRY(prt_infer_rank(c, IN_BOXES, 2));
    PRT_TRY(prt_infer_merge(c, 4, prt_infer_dim(c, IN_BOXES, 1), "the corners of a box", &dim));
    boxes = prt_infer_dim(c, IN_BOXES, 0);
    PRT_TRY(prt_infer_vector(c, IN_IMAGES, boxes));
    PRT_TRY(prt_infer_vector(c, IN_SIZE, 2));
    if (!prt_infer_ints(c, IN_SIZE, size, 2, &count) || count != 2)
        size[0] = size[1] = PRT_DIM_UNKNOWN;
    for (uint32_t i = 0; i < 2; i++)
        if (prt_dim_is_number(size[i]) && size[i] < 1)
            return prt_infer_fail(c, POPRT_E_ARG, "crop_size has %lld; positive sizes are needed",
                (long long)size[i]);
    const int64_t dims[4] = { boxes, prt_infer_dim(c, IN_X, 1), size[0], size[1] };
    return prt_infer_exact(c, 0, c->in[IN_X].dtype, 4, dims);
}

/* Returns the coordinate, in a side of `size` elements, of sample `i` of `n` between two
   corners. Single precision, as in ONNX Runtime and TensorFlow: nearest samples and those at the
   border depend on how a coordinate is rounded. */
static double place(double from, double to, int64_t i, int64_t n, int64_t size)
{
    const float first = (float)from, end = (float)to, last = (float)(size - 1);
    if (n == 1)
        return (double)(0.5F * (first + end) * last);
    const float scale = (end - first) * last / (float)(n - 1);
    return (double)(first * last + (float)i * scale);
}

/* Returns the image at (y, x), which are inside. */
static double sample(const prt_tensor *t, size_t plane, double y, double x, bool nearest)
{
    const size_t width = (size_t)t->dims[3], first = plane * (size_t)t->dims[2] * width;
    if (nearest)
        return prt_real_at(t, first + (size_t)round(y) * width + (size_t)round(x));
    const size_t top = (size_t)floor(y), bottom = (size_t)ceil(y);
    const size_t left = (size_t)floor(x), right = (size_t)ceil(x);
    const double dy = y - floor(y), dx = x - floor(x);
    const double a = prt_real_at(t, first + top * width + left);
    const double b = prt_real_at(t, first + top * width + right);
    const double d = prt_real_at(t, first + bottom * width + left);
    const double e = prt_real_at(t, first + bottom * width + right);
    const double upper = a + (b - a) * dx, lower = d + (e - d) * dx;
    return upper + (lower - upper) * dy;
}

static poprt_status eval(prt_eval *c)
{
    const prt_ms_crop_and_resize_attrs *a = c->attrs;
    const prt_tensor *t = c->in[IN_X], *boxes = c->in[IN_BOXES];
    prt_tensor *out = c->out[0];
    const int32_t *image = c->in[IN_IMAGES]->data;
    const int64_t high = t->dims[2], wide = t->dims[3], rows = out->dims[2], cols = out->dims[3];
    const size_t channels = (size_t)t->dims[1];
    const bool nearest = prt_str_is(a->mode, "nearest");
    size_t to = 0;
    for (int64_t n = 0; n < boxes->dims[0]; n++) {
        double box[4];
        prt_reals_load(boxes->dtype, boxes->data, (size_t)n * 4, 1, 4, box);
        if (image[n] < 0 || image[n] >= t->dims[0])
            return prt_eval_fail(c, POPRT_E_ARG,
                "box %lld refers to image %d; there are %lld images", (long long)n, (int)image[n],
                (long long)t->dims[0]);
        PRT_TRY(c->host->check(c));
        for (size_t k = 0; k < channels; k++)
            for (int64_t i = 0; i < rows; i++)
                for (int64_t j = 0; j < cols; j++, to++) {
                    const double y = place(box[0], box[2], i, rows, high);
                    const double x = place(box[1], box[3], j, cols, wide);
                    const bool inside =
                        y >= 0 && y <= (double)(high - 1) && x >= 0 && x <= (double)(wide - 1);
                    const double value = inside
                        ? sample(t, (size_t)image[n] * channels + k, y, x, nearest)
                        : (double)a->extrapolation_value;
                    prt_reals_store(out->dtype, out->data, to, 1, 1, &value);
                }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_crop_and_resize = { .infer = infer, .eval = eval };
