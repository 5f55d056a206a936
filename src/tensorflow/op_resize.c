/* SPDX-License-Identifier: MIT */
/*
 * op_resize.c — resizing of images. Operator Resize says most of it. Where it would select other
 * cells or weights than TensorFlow, indices, weights or constant matrices say it exactly.
 */
#include <math.h>

#include "tensorflow/conv.h"
#include "tensorflow/formulas.h"

static const prt_tf_window nhwc = { .axes = 2, .channels_last = true };

/* Source coordinates: i·in/out, i·(in - 1)/(out - 1), or (i + 0.5)·in/out - 0.5. */
typedef struct resize {
    bool corners, half;
    bool known; /* both sizes are */
    int64_t in[2], out[2];
    prt_value *size; /* int64, of rank 1 */
} resize;

static bool read_resize(prt_tf_call *n, resize *r)
{
    enum { LARGEST = 1 << 20 }; /* sizes that are computed with here */
    int64_t out[2] = { PRT_DIM_UNKNOWN, PRT_DIM_UNKNOWN };
    uint32_t count = 0;
    *r = (resize){ .corners = prt_tf_attr_bool(n, "align_corners", false),
        .half = prt_tf_attr_bool(n, "half_pixel_centers", false) };
    prt_value *x = prt_tf_in(n, 0), *size = prt_tf_in(n, 1);
    if (x == NULL || size == NULL)
        return false;
    if (r->corners && r->half) {
        (void)prt_tf_refuse(n, "align_corners and half_pixel_centers are both set");
        return false;
    }
    r->known = prt_tf_ints(n, 1, 2, out, &count) && count == 2;
    for (uint32_t i = 0; i < 2; i++) {
        r->in[i] = prt_tf_dim(x, i + 1);
        r->out[i] = out[i];
        r->known =
            r->known && r->in[i] > 0 && r->in[i] <= LARGEST && out[i] > 0 && out[i] <= LARGEST;
    }
    r->size = prt_build_cast(&n->b, size, PRT_DTYPE_i64);
    return true;
}

/* Sets `scale` to the size of the result in relation to the image's on an axis, if the ratio is a
 * whole number, or a power of two less than 1. */
static bool exact_scale(prt_tf_call *n, const resize *r, uint32_t axis, float *scale)
{
    enum { MOST = 1 << 12 };
    prt_dims *dims = n->c->module->dims;
    const int64_t up = prt_dim_make(dims, PRT_DIM_RATIO, r->out[axis], r->in[axis]);
    const int64_t down = prt_dim_make(dims, PRT_DIM_RATIO, r->in[axis], r->out[axis]);
    const bool divides = down > 0 && down <= MOST && (down & (down - 1)) == 0;
    *scale = up > 0 && up <= MOST ? (float)up : divides ? 1.0f / (float)down : 0;
    return *scale > 0;
}

/* Builds Resize on channels first. `attrs` has everything but the coordinates. The sizes are those
 * of all axes: onnxruntime up to 1.32 moves transposes wrongly over a Resize with attribute axes.
 */
static prt_value *resize_op(prt_tf_call *n, const resize *r, prt_value *x, prt_resize_attrs *attrs)
{
    static const int64_t rank = 4;
    float scales[4] = { 1, 1 };
    PRT_ATTR_SET(*attrs, resize, coordinate_transformation_mode,
        r->corners    ? PRT_STR("align_corners")
            : r->half ? PRT_STR("half_pixel")
                      : PRT_STR("asymmetric"));
    x = prt_tf_to_channels_first(&n->b, x, &nhwc);
    prt_value *in[4] = { x };
    const bool exact = exact_scale(n, r, 0, &scales[2]) && exact_scale(n, r, 1, &scales[3]);
    if (exact) {
        in[2] = prt_build_tensor(&n->b, PRT_DTYPE_f32, 1, &rank, scales);
    } else {
        prt_value *sizes[] = { prt_build_slice(&n->b, prt_build_shape(&n->b, x), 0, 0, 2, 1),
            r->size };
        in[3] = prt_build_concat(&n->b, 0, 2, sizes);
    }
    return prt_tf_from_channels_first(&n->b,
        prt_build_op(&n->b, PRT_OP_resize, attrs, exact ? 3 : 4, in), &nhwc);
}

poprt_status prt_tf_row_resize_bilinear(prt_tf_call *n)
{
    resize r;
    prt_resize_attrs attrs = PRT_ATTRS_OF(resize);
    if (!read_resize(n, &r))
        return prt_tf_end(n);
    PRT_ATTR_SET(attrs, resize, mode, PRT_STR("linear"));
    prt_tf_set(n, 0,
        resize_op(n, &r, prt_build_cast(&n->b, prt_tf_in(n, 0), PRT_DTYPE_f32), &attrs));
    return prt_tf_end(n);
}

/* ---- nearest neighbour */

/* Returns the cell that TensorFlow selects, in its arithmetic of float32. */
static int64_t nearest(const resize *r, uint32_t axis, int64_t i)
{
    const int64_t in = r->in[axis], out = r->out[axis];
    const bool corners = r->corners && out > 1;
    const float scale = corners ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
    const float at = r->half ? ((float)i + 0.5f) * scale : (float)i * scale;
    const int64_t cell = (int64_t)(r->corners ? roundf(at) : floorf(at));
    return cell < in - 1 ? cell : in - 1;
}

/* Returns the cell that Resize selects, which divides by out/in. */
static int64_t nearest_of_resize(const resize *r, uint32_t axis, int64_t i)
{
    const int64_t in = r->in[axis], out = r->out[axis];
    const double scale = (double)in / (double)out;
    double at = r->half ? ((double)i + 0.5) * scale : (double)i * scale;
    if (r->corners)
        at = out > 1 ? floor((double)i * (double)(in - 1) / (double)(out - 1) + 0.5) : 0;
    const int64_t cell = (int64_t)floor(at);
    return cell < in - 1 ? cell : in - 1;
}

/* Sets `equal` if both select the same cells on an axis. */
static int64_t *cells(prt_tf_call *n, const resize *r, uint32_t axis, bool *equal)
{
    int64_t *to = PRT_NEW_N(n->c->arena, int64_t, (size_t)r->out[axis]);
    if (to == NULL)
        n->status = POPRT_E_NOMEM;
    for (int64_t i = 0; i < r->out[axis] && to != NULL; i++) {
        to[i] = nearest(r, axis, i);
        *equal = *equal && to[i] == nearest_of_resize(r, axis, i);
    }
    return to;
}

poprt_status prt_tf_row_resize_nearest(prt_tf_call *n)
{
    resize r;
    bool equal = true;
    int64_t *at[2] = { NULL, NULL };
    prt_resize_attrs attrs = PRT_ATTRS_OF(resize);
    if (!read_resize(n, &r))
        return prt_tf_end(n);
    for (uint32_t i = 0; i < 2 && r.known; i++)
        if ((at[i] = cells(n, &r, i, &equal)) == NULL)
            return prt_tf_end(n);
    prt_value *x = prt_tf_in(n, 0);
    for (uint32_t i = 0; i < 2 && !equal; i++)
        x = prt_build_gather(&n->b, x, prt_build_i64s(&n->b, (uint32_t)r.out[i], at[i]), i + 1);
    if (equal) {
        PRT_ATTR_SET(attrs, resize, nearest_mode,
            r.half || r.corners ? PRT_STR("round_prefer_ceil") : PRT_STR("floor"));
        x = resize_op(n, &r, x, &attrs);
    }
    prt_tf_set(n, 0, x);
    return prt_tf_end(n);
}

/* ---- bicubic */

/* Returns the weight of a cell between 0 and 1 (`inner`) or 1 and 2 away. */
static prt_value *cubic(prt_tf_call *n, prt_value *x, double a, bool inner)
{
    const double factors[2][4] = { { a, -5 * a, 8 * a, -4 * a }, { a + 2, -(a + 3), 0, 1 } };
    prt_value *y = F32(factors[inner][0]);
    for (uint32_t i = 1; i < 4; i++)
        y = BINARY(add, BINARY(mul, y, x), F32(factors[inner][i]));
    return y;
}

/* Returns the source coordinate of each cell of the result on an axis, in float32. */
static prt_value *sources(prt_tf_call *n, const resize *r, prt_value *in, prt_value *size)
{
    static const int64_t zero = 0;
    prt_value *one = F32(1), *out = prt_build_cast(&n->b, size, PRT_DTYPE_f32);
    prt_value *limit = prt_build_squeeze(&n->b, size, 1, &zero);
    prt_value *cell =
        prt_build_cast(&n->b, prt_build_range(&n->b, I64(0), limit, I64(1)), PRT_DTYPE_f32);
    prt_value *scale = BINARY(div, in, out);
    if (r->corners) {
        prt_value *gaps = BINARY(sub, out, one), *many = BINARY(greater, gaps, F32(0));
        scale = WHERE(many, BINARY(div, BINARY(sub, in, one), WHERE(many, gaps, one)), scale);
    }
    if (!r->half)
        return BINARY(mul, cell, scale);
    cell = BINARY(mul, BINARY(add, cell, F32(0.5)), scale);
    return BINARY(sub, cell, F32(0.5));
}

/* Resizes one axis: the weighted sum of four cells. TensorFlow looks the weights up in a table of
 * 1024 steps. With half pixels, cells outside have no weight and the others are scaled to a sum of
 * 1; otherwise the cell at the edge is repeated. */
static prt_value *cubic_axis(prt_tf_call *n, const resize *r, prt_value *x, int64_t axis)
{
    const int64_t behind[] = { 1, 2 };
    prt_value *w[4], *cell[4], *sum = NULL, *y = NULL;
    prt_value *in = prt_build_cast(&n->b, prt_build_size_of(&n->b, x, axis), PRT_DTYPE_f32);
    prt_value *last = BINARY(sub, in, F32(1)), *zero = F32(0);
    prt_value *at = sources(n, r, in, prt_build_slice(&n->b, r->size, 0, axis - 1, axis, 1));
    prt_value *low = UNARY(floor, at);
    prt_value *step = UNARY(round, BINARY(mul, BINARY(sub, at, low), F32(1024)));
    step = BINARY(mul, step, F32(1.0 / 1024));
    for (int32_t k = 0; k < 4; k++) {
        prt_value *distance = UNARY(abs, BINARY(sub, F32(k - 1), step));
        cell[k] = BINARY(add, low, F32(k - 1));
        w[k] = cubic(n, distance, r->half ? -0.5 : -0.75, k == 1 || k == 2);
        prt_value *out = BINARY(or, BINARY(less, cell[k], zero), BINARY(greater, cell[k], last));
        if (r->half)
            w[k] = WHERE(out, zero, w[k]);
        sum = k == 0 ? w[0] : BINARY(add, sum, w[k]);
    }
    for (int32_t k = 0; k < 4; k++) {
        prt_value *index = BINARY(max, BINARY(min, cell[k], last), zero);
        prt_value *part =
            prt_build_gather(&n->b, x, prt_build_cast(&n->b, index, PRT_DTYPE_i64), axis);
        if (r->half)
            w[k] = BINARY(div, w[k], sum);
        w[k] = prt_build_unsqueeze(&n->b, w[k], axis == 1 ? 2 : 1, behind);
        part = BINARY(mul, part, w[k]);
        y = k == 0 ? part : BINARY(add, y, part);
    }
    return y;
}

poprt_status prt_tf_row_resize_bicubic(prt_tf_call *n)
{
    resize r;
    if (!read_resize(n, &r))
        return prt_tf_end(n);
    prt_value *x = prt_build_cast(&n->b, prt_tf_in(n, 0), PRT_DTYPE_f32);
    for (int64_t axis = 1; axis < 3; axis++)
        x = cubic_axis(n, &r, x, axis);
    prt_tf_set(n, 0, x);
    return prt_tf_end(n);
}

/* ---- matrices */

enum { MAX_MATRIX = 1 << 23 }; /* elements */

static float *new_matrix(prt_tf_call *n, int64_t rows, int64_t columns)
{
    float *m = NULL;
    if (rows > MAX_MATRIX / columns)
        (void)prt_tf_refuse(n, "the image is too large");
    else if ((m = PRT_NEW_N(n->c->arena, float, (size_t)(rows * columns))) == NULL)
        n->status = POPRT_E_NOMEM;
    return m;
}

/* Multiplies the rows of an image by one matrix [out, in] and its columns by another. */
static prt_value *by_matrices(prt_tf_call *n, const resize *r, prt_value *x, float *const m[2])
{
    prt_value *v[2];
    for (uint32_t i = 0; i < 2; i++)
        v[i] = prt_build_tensor(&n->b, PRT_DTYPE_f32, 2, (const int64_t[]){ r->out[i], r->in[i] },
            m[i]);
    x = prt_tf_to_channels_first(&n->b, prt_build_cast(&n->b, x, PRT_DTYPE_f32), &nhwc);
    x = BINARY(matmul, BINARY(matmul, v[0], x), prt_build_swap_last(&n->b, v[1]));
    return prt_tf_from_channels_first(&n->b, x, &nhwc);
}

/* Means over ranges of cells, in which cells count by their part. */
static float *area_matrix(prt_tf_call *n, const resize *r, uint32_t axis)
{
    const int64_t in = r->in[axis], out = r->out[axis];
    const bool corners = r->corners && out > 1;
    const float scale = corners ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
    float *m = new_matrix(n, out, in);
    for (int64_t i = 0; i < out && m != NULL; i++) {
        const float begin = (float)i * scale, end = (float)(i + 1) * scale;
        for (int64_t k = (int64_t)floorf(begin); (float)k < end; k++) {
            const float from = (float)k < begin ? begin : (float)k;
            const float to = (float)(k + 1) > end ? end : (float)(k + 1);
            m[i * in + (k < in ? k : in - 1)] += (to - from) / scale;
        }
    }
    return m;
}

poprt_status prt_tf_row_resize_area(prt_tf_call *n)
{
    resize r;
    float *m[2];
    if (!read_resize(n, &r))
        return prt_tf_end(n);
    if (!r.known)
        return prt_tf_refuse(n, "the sizes of the image and of the result must be known");
    for (uint32_t i = 0; i < 2; i++)
        if ((m[i] = area_matrix(n, &r, i)) == NULL)
            return prt_tf_end(n);
    prt_tf_set(n, 0, by_matrices(n, &r, prt_tf_in(n, 0), m));
    return prt_tf_end(n);
}

/* ---- ScaleAndTranslate */

typedef enum kernel {
    LANCZOS1,
    LANCZOS3,
    LANCZOS5,
    GAUSSIAN,
    BOX,
    TRIANGLE,
    KEYS_CUBIC,
    MITCHELL_CUBIC,
    KERNELS
} kernel;

static const struct {
    const char *name;
    double radius;
} kernels[KERNELS] = { { "lanczos1", 1 }, { "lanczos3", 3 }, { "lanczos5", 5 }, { "gaussian", 1.5 },
    { "box", 1 }, { "triangle", 1 }, { "keyscubic", 2 }, { "mitchellcubic", 2 } };

/* Returns the weight at a distance that is not negative. */
static double weight_of(kernel k, double x)
{
    const double pi = 3.14159265358979323846, radius = kernels[k].radius;
    switch (k) {
    case GAUSSIAN: /* the standard deviation is a third of the radius */
        return x >= radius ? 0 : exp(-x * x / (2 * (radius / 3) * (radius / 3)));
    case BOX:
        return x < 0.5 ? 1 : x == 0.5 ? 0.5 : 0;
    case TRIANGLE:
        return x < 1 ? 1 - x : 0;
    case KEYS_CUBIC:
        return x >= 2 ? 0
            : x >= 1  ? ((-0.5 * x + 2.5) * x - 4) * x + 2
                      : (1.5 * x - 2.5) * x * x + 1;
    case MITCHELL_CUBIC:
        return x >= 2 ? 0
            : x >= 1  ? ((-7.0 / 18 * x + 2) * x - 10.0 / 3) * x + 16.0 / 9
                      : (7.0 / 6 * x - 2) * x * x + 8.0 / 9;
    default:
        return x > radius ? 0
            : x <= 1e-3   ? 1
                          : radius * sin(pi * x) * sin(pi * x / radius) / (pi * pi * x * x);
    }
}

/* The kernel lies around the source of each cell, wider by the scale if `antialias` is set. Sources
 * outside of the image give 0. Positions are float32 as in TensorFlow, since kernels have steps. */
static float *kernel_matrix(prt_tf_call *n, const resize *r, uint32_t axis, kernel k,
    const float scale[2], const float shift[2], bool antialias)
{
    const int64_t in = r->in[axis], out = r->out[axis];
    const float inverse = 1.0f / scale[axis], shifted = -inverse * shift[axis];
    const float wide = antialias && inverse > 1 ? inverse : 1;
    const float shrink = 1.0f / wide, reach = (float)kernels[k].radius * wide;
    float *m = new_matrix(n, out, in);
    for (int64_t i = 0; i < out && m != NULL; i++) {
        const float at = ((float)i + 0.5f) * inverse + shifted;
        if (!(at >= 0 && at <= (float)in))
            continue;
        const float first = ceilf(at - reach - 0.5f), last = floorf(at + reach - 0.5f);
        const int64_t begin = first < 0 ? 0 : (int64_t)first;
        const int64_t end = last < (float)in ? (int64_t)last + 1 : in;
        double sum = 0;
        for (int64_t j = begin; j < end; j++)
            sum += weight_of(k, (double)fabsf(((float)j + 0.5f - at) * shrink));
        for (int64_t j = begin; j < end && fabs(sum) > 1e-35; j++)
            m[i * in + j] =
                (float)(weight_of(k, (double)fabsf(((float)j + 0.5f - at) * shrink)) / sum);
    }
    return m;
}

/* Reads two floats of an input, which must be known. */
static bool two_floats(prt_tf_call *n, uint32_t i, const char *what, float to[2])
{
    prt_tensor t;
    const bool known =
        prt_tf_constant(n, i, &t) && t.dtype == PRT_DTYPE_f32 && prt_tensor_count(&t) == 2;
    if (known)
        memcpy(to, t.data, 2 * sizeof(float));
    else if (n->status == POPRT_OK)
        (void)prt_tf_refuse(n, "%s (input %u) must be a constant", what, i);
    return known;
}

poprt_status prt_tf_row_scale_and_translate(prt_tf_call *n)
{
    resize r;
    float scale[2], shift[2], *m[2];
    const prt_str name = prt_tf_attr_str(n, "kernel_type", "lanczos3");
    kernel k = 0;
    while (k < KERNELS && !prt_str_is(name, kernels[k].name))
        k++;
    if (k == KERNELS)
        return prt_tf_refuse(n, "kernel_type %.*s is not known", PRT_STR_ARG(name));
    if (!read_resize(n, &r) || !two_floats(n, 2, "scale", scale) ||
        !two_floats(n, 3, "translation", shift))
        return prt_tf_end(n);
    if (!r.known || !(scale[0] > 0) || !(scale[1] > 0))
        return prt_tf_refuse(n, "sizes must be known and scales positive");
    for (uint32_t i = 0; i < 2; i++)
        if ((m[i] = kernel_matrix(n, &r, i, k, scale, shift,
                 prt_tf_attr_bool(n, "antialias", true))) == NULL)
            return prt_tf_end(n);
    prt_tf_set(n, 0, by_matrices(n, &r, prt_tf_in(n, 0), m));
    return prt_tf_end(n);
}
