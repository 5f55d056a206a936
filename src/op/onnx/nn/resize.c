/* SPDX-License-Identifier: MIT */
/*
 * resize.c — Resize: output sizes from scales or sizes. Linear and cubic modes are separable and
 * run one axis after another; mode nearest only selects elements and supports any type.
 */
#include "op/internal/gradient.h"
#include "op/share/resize.h"

#include <math.h>

/* Reads the axes of the elements of roi, scales and sizes. */
static poprt_status read_axes(const prt_infer *c, uint32_t rank, uint32_t *axes, uint32_t *count)
{
    const prt_resize_attrs *a = c->attrs;
    uint32_t seen = 0;
    *count = a->axes.count != 0 ? a->axes.count : rank;
    if (*count > rank)
        return prt_infer_fail(c, POPRT_E_SHAPE, "axes has %u values, but the input has rank %u",
            *count, rank);
    for (uint32_t i = 0; i < *count; i++) {
        axes[i] = i;
        if (a->axes.count != 0)
            PRT_TRY(prt_infer_axis(c, a->axes.data[i], rank, false, &axes[i]));
        if ((seen >> axes[i] & 1) != 0)
            return prt_infer_fail(c, POPRT_E_SHAPE, "axes names axis %u twice", axes[i]);
        seen |= 1u << axes[i];
    }
    return POPRT_OK;
}

/* Returns true if an input is present and not known to be empty; old models pass an empty input
 * to omit it. */
static bool given(const prt_infer *c, uint32_t i)
{
    return prt_infer_has(c, i) &&
        !(prt_infer_ranked(c, i) && c->in[i].rank == 1 && c->in[i].dims[0] == 0);
}

/* Returns floor(dim * scale) as an expression if float32 multiplies by the scale exactly (0.5,
 * 1.25); unknown for others. */
static int64_t scale_expression(const prt_infer *c, int64_t dim, float scale)
{
    int64_t below = 1;
    while (scale != floorf(scale) && below < 256) {
        scale *= 2.0f;
        below *= 2;
    }
    if (scale != floorf(scale) || scale >= 65536.0f || c->dims == NULL)
        return PRT_DIM_UNKNOWN;
    return prt_dim_floordiv(c->dims, prt_dim_mul(c->dims, dim, (int64_t)scale), below);
}

/* Multiplies an input dim by a scale, in float32 like exporters. */
static poprt_status scale_dim(const prt_infer *c, int64_t dim, float scale, int64_t *out)
{
    if (!(scale > 0.0f) || isinf(scale))
        return prt_infer_fail(c, POPRT_E_ARG, "scales contains %g; it must be positive and finite",
            (double)scale);
    *out = PRT_DIM_UNKNOWN;
    if (scale == 1.0f)
        *out = dim;
    else if (!prt_dim_is_number(dim))
        *out = scale_expression(c, dim, scale);
    if (!prt_dim_is_number(dim) || scale == 1.0f)
        return POPRT_OK;
    const float size = floorf((float)dim * scale);
    if (size > 1e15f)
        return prt_infer_fail(c, POPRT_E_LIMIT,
            "the output would have a dim of %g, which is too large", (double)size);
    *out = (int64_t)size;
    return POPRT_OK;
}

static poprt_status dims_of_scales(const prt_infer *c, const uint32_t *axes, uint32_t count,
    int64_t *dims)
{
    const prt_tensor *scales = c->value[2];
    if (scales == NULL) {
        for (uint32_t i = 0; i < count; i++)
            dims[axes[i]] = PRT_DIM_UNKNOWN;
        return POPRT_OK;
    }
    if (prt_tensor_count(scales) != count)
        return prt_infer_fail(c, POPRT_E_SHAPE, "scales has %zu values; %u are required",
            prt_tensor_count(scales), count);
    for (uint32_t i = 0; i < count; i++)
        PRT_TRY(scale_dim(c, dims[axes[i]], ((const float *)scales->data)[i], &dims[axes[i]]));
    return POPRT_OK;
}

/* Keeps the aspect ratio: the smallest or largest scale applies to all axes. */
static void keep_ratio(const prt_resize_params *params, const uint32_t *axes, uint32_t count,
    const int64_t *sizes, int64_t *dims)
{
    double best = 0.0;
    bool known = true;
    for (uint32_t i = 0; i < count; i++) {
        known = known && prt_dim_is_number(sizes[i]) && prt_dim_is_number(dims[axes[i]]) &&
            dims[axes[i]] > 0;
        const double scale = known ? (double)sizes[i] / (double)dims[axes[i]] : 0.0;
        if (i == 0 || (params->policy == PRT_POLICY_not_larger ? scale < best : scale > best))
            best = scale;
    }
    for (uint32_t i = 0; i < count; i++) {
        const double size = known ? floor(best * (double)dims[axes[i]] + 0.5) : -1.0;
        dims[axes[i]] = size >= 0.0 && size < 1e15 ? (int64_t)size : PRT_DIM_UNKNOWN;
    }
}

static poprt_status dims_of_sizes(const prt_infer *c, const prt_resize_params *params,
    const uint32_t *axes, uint32_t count, int64_t *dims)
{
    int64_t sizes[PRT_MAX_RANK];
    uint32_t n;
    if (!prt_infer_ints(c, 3, sizes, PRT_MAX_RANK, &n)) {
        for (uint32_t i = 0; i < count; i++)
            dims[axes[i]] = PRT_DIM_UNKNOWN;
        return POPRT_OK;
    }
    if (n != count)
        return prt_infer_fail(c, POPRT_E_SHAPE, "sizes has %u values; %u are required", n, count);
    for (uint32_t i = 0; i < count; i++)
        if (prt_dim_is_number(sizes[i]) && sizes[i] < 0)
            return prt_infer_fail(c, POPRT_E_SHAPE, "sizes contains %lld; it must be at least 0",
                (long long)sizes[i]);
    if (params->policy != PRT_POLICY_stretch) {
        keep_ratio(params, axes, count, sizes, dims);
        return POPRT_OK;
    }
    for (uint32_t i = 0; i < count; i++)
        dims[axes[i]] = sizes[i];
    return POPRT_OK;
}

static poprt_status check_params(const prt_infer *c, prt_resize_params *params)
{
    prt_str bad;
    const int32_t dtype = c->in[0].dtype;
    const bool number = dtype == PRT_DTYPE_undefined || dtype == PRT_DTYPE_bool ||
        prt_dtype_is_float(dtype) || prt_dtype_is_integer(dtype);
    if (!prt_resize_read(c->attrs, params, &bad))
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED,
            "the attribute value \"%.*s\" is not supported", PRT_STR_ARG(bad));
    if (params->mode != PRT_RESIZE_NEAREST && !number)
        return prt_infer_fail(c, POPRT_E_TYPE, "%s elements cannot be interpolated",
            prt_dtype_of(dtype)->name);
    if (params->mode == PRT_RESIZE_NEAREST && params->antialias)
        return prt_infer_fail(c, POPRT_E_ARG, "antialias needs mode linear or cubic");
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_shape *x = &c->in[0];
    prt_resize_params params;
    uint32_t axes[PRT_MAX_RANK], count;
    int64_t dims[PRT_MAX_RANK];
    PRT_TRY(check_params(c, &params));
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, x->dtype, x->rank);
    PRT_TRY(read_axes(c, (uint32_t)x->rank, axes, &count));
    memcpy(dims, x->dims, sizeof(dims));
    const bool scales = given(c, 2), sizes = given(c, 3);
    if (!scales && !sizes)
        return prt_infer_fail(c, POPRT_E_ARG, "neither scales nor sizes is given");
    if (scales && sizes && c->value[2] != NULL && prt_tensor_count(c->value[2]) != 0)
        return prt_infer_fail(c, POPRT_E_ARG,
            "both scales and sizes are given; only one is accepted");
    if (sizes)
        PRT_TRY(dims_of_sizes(c, &params, axes, count, dims));
    else
        PRT_TRY(dims_of_scales(c, axes, count, dims));
    return prt_infer_exact(c, 0, x->dtype, x->rank, dims);
}

/* ---- evaluation ---- */

poprt_status prt_resize_axes(prt_eval *c, const prt_resize_params *params, prt_resize_axis *axis)
{
    const prt_resize_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *y = c->out[0];
    const uint32_t count = a->axes.count != 0 ? a->axes.count : x->rank;
    const bool scaled = prt_eval_has(c, 2) && prt_tensor_count(c->in[2]) != 0;
    const bool cropped = params->coords == PRT_COORDS_tf_crop_and_resize;
    /* The common scale of the listed axes, if the aspect ratio policy requires one. */
    double ratio = 0.0;
    if (cropped && (!prt_eval_has(c, 1) || prt_tensor_count(c->in[1]) != 2 * (size_t)count))
        return prt_eval_fail(c, POPRT_E_SHAPE, "roi must have %u values", 2 * count);
    for (uint32_t i = 0; i < x->rank; i++) {
        const double in = (double)x->dims[i], out = (double)y->dims[i];
        axis[i] = (prt_resize_axis){ .in = x->dims[i],
            .out = y->dims[i],
            .width = out,
            .scale = in > 0.0 ? out / in : 1.0,
            .end = 1.0 };
    }
    for (uint32_t i = 0; i < count; i++) {
        const int64_t at = a->axes.count == 0 ? i
            : a->axes.data[i] < 0             ? a->axes.data[i] + x->rank
                                              : a->axes.data[i];
        prt_resize_axis *ax = &axis[at];
        if (scaled) {
            prt_reals_load(PRT_DTYPE_f32, c->in[2]->data, i, 1, 1, &ax->scale);
            ax->width = ax->scale * (double)ax->in;
        } else if (params->policy != PRT_POLICY_stretch && ax->in > 0) {
            const int64_t size = prt_load_i64(PRT_DTYPE_i64, c->in[3]->data, i);
            const double s = (double)size / (double)ax->in;
            if (i == 0 || (params->policy == PRT_POLICY_not_larger ? s < ratio : s > ratio))
                ratio = s;
        }
        if (cropped) {
            prt_reals_load(c->in[1]->dtype, c->in[1]->data, i, 1, 1, &ax->start);
            prt_reals_load(c->in[1]->dtype, c->in[1]->data, count + i, 1, 1, &ax->end);
        }
    }
    for (uint32_t i = 0; i < count && ratio > 0.0; i++) {
        const int64_t at = a->axes.count == 0 ? i
            : a->axes.data[i] < 0             ? a->axes.data[i] + x->rank
                                              : a->axes.data[i];
        axis[at].scale = ratio;
        axis[at].width = ratio * (double)axis[at].in;
    }
    return POPRT_OK;
}

static void store_rounded(const prt_tensor *y, size_t at, double value)
{
    if (prt_dtype_is_integer(y->dtype)) {
        const uint32_t bits = prt_dtype_bits(y->dtype);
        const bool is_signed = prt_dtype_of(y->dtype)->kind == PRT_KIND_int;
        const double most = ldexp(1.0, (int)bits - (is_signed ? 1 : 0));
        value = nearbyint(value);
        if (bits < 64) /* prt_store_f64 saturates to 64 bits */
            value = fmin(fmax(value, is_signed ? -most : 0.0), most - 1.0);
        else if (!is_signed && !(value > 0.0))
            value = 0.0;
    } else if (y->dtype == PRT_DTYPE_bool) {
        value = value != 0.0 ? 1.0 : 0.0;
    }
    prt_store_f64(y->dtype, y->data, at, value);
}

static poprt_status run_nearest(prt_eval *c, const prt_resize_params *params,
    const prt_resize_axis *axis)
{
    const prt_resize_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    int64_t *from[PRT_MAX_RANK], at[PRT_MAX_RANK] = { 0 };
    for (uint32_t i = 0; i < x->rank; i++) {
        from[i] = prt_eval_scratch(c, (size_t)y->dims[i], sizeof(int64_t));
        if (from[i] == NULL)
            return POPRT_E_NOMEM;
        const bool same = prt_resize_is_identity(params, &axis[i]);
        for (int64_t k = 0; k < y->dims[i]; k++) {
            double coordinate = (double)k;
            const bool inside = same || prt_resize_coordinate(params, &axis[i], k, &coordinate);
            from[i][k] = same ? k : inside ? prt_resize_nearest(params, &axis[i], coordinate) : -1;
        }
    }
    const size_t n = prt_tensor_count(y), size = prt_dtype_bits(y->dtype) / 8;
    for (size_t to = 0; to < n; to++) {
        size_t source = 0;
        bool inside = true;
        for (uint32_t i = 0; i < x->rank; i++) {
            inside = inside && from[i][at[i]] >= 0;
            source = source * (size_t)x->dims[i] + (size_t)from[i][at[i]];
        }
        if (inside)
            prt_element_copy(y->dtype, y->data, to, x->data, source, 1);
        else if (prt_dtype_is_float(y->dtype) || prt_dtype_is_integer(y->dtype))
            store_rounded(y, to, (double)a->extrapolation_value);
        else /* types that cannot hold the value: false, an empty string, complex zero */
            memset((char *)y->data + to * size, 0, size);
        (void)prt_at_next(x->rank, y->dims, at);
    }
    return POPRT_OK;
}

/* Resizes one axis, [outer][in][inner] to [outer][out][inner]. */
static poprt_status run_axis(prt_eval *c, const prt_resize_params *params,
    const prt_resize_axis *axis, size_t outer, size_t inner, const double *x, double *y)
{
    const prt_resize_attrs *a = c->attrs;
    const size_t taps = prt_resize_taps(params, axis);
    double *weights = prt_eval_scratch(c, taps, sizeof(double));
    if (weights == NULL)
        return POPRT_E_NOMEM;
    for (int64_t k = 0; k < axis->out; k++) {
        double at;
        const bool inside = prt_resize_coordinate(params, axis, k, &at);
        const int64_t first = prt_resize_weights(params, axis, at, taps, weights);
        PRT_TRY(c->host->check(c));
        for (size_t o = 0; o < outer; o++) {
            double *to = y + (o * (size_t)axis->out + (size_t)k) * inner;
            for (size_t i = 0; i < inner; i++)
                to[i] = inside ? 0.0 : (double)a->extrapolation_value;
            for (size_t t = 0; inside && t < taps; t++) {
                int64_t index = first + (int64_t)t;
                index = index < 0 ? 0 : index >= axis->in ? axis->in - 1 : index;
                const double *from = x + (o * (size_t)axis->in + (size_t)index) * inner;
                for (size_t i = 0; i < inner && weights[t] != 0.0; i++)
                    to[i] += weights[t] * from[i];
            }
        }
    }
    return POPRT_OK;
}

static poprt_status run_filter(prt_eval *c, const prt_resize_params *params,
    const prt_resize_axis *axis)
{
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    int64_t dims[PRT_MAX_RANK];
    double *now = prt_eval_reals(c, x);
    if (now == NULL)
        return POPRT_E_NOMEM;
    memcpy(dims, x->dims, sizeof(dims));
    /* Shrinking axes go first, so that no intermediate result is larger than input or output. */
    for (uint32_t step = 0; step < 2 * x->rank; step++) {
        const uint32_t i = step % x->rank;
        if (prt_resize_is_identity(params, &axis[i]) ||
            (axis[i].out < axis[i].in) != (step < x->rank))
            continue;
        const size_t outer = prt_dims_product(dims, 0, i);
        const size_t inner = prt_dims_product(dims, i + 1, x->rank);
        dims[i] = axis[i].out;
        double *next = prt_eval_scratch(c, prt_dims_product(dims, 0, x->rank), sizeof(double));
        if (next == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(run_axis(c, params, &axis[i], outer, inner, now, next));
        now = next;
    }
    const size_t n = prt_tensor_count(y);
    if (y->dtype == PRT_DTYPE_f32)
        prt_reals_store(y->dtype, y->data, 0, 1, n, now);
    else
        for (size_t i = 0; i < n; i++)
            store_rounded(y, i, now[i]);
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    prt_resize_params params;
    prt_resize_axis axis[PRT_MAX_RANK];
    prt_str bad;
    if (prt_tensor_count(c->out[0]) == 0)
        return POPRT_OK;
    if (prt_tensor_count(c->in[0]) == 0)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "the input is empty; at least one element is required");
    (void)prt_resize_read(c->attrs, &params, &bad);
    PRT_TRY(prt_resize_axes(c, &params, axis));
    return params.mode == PRT_RESIZE_NEAREST ? run_nearest(c, &params, axis)
                                             : run_filter(c, &params, axis);
}

const prt_op_hooks prt_op_resize = { .infer = infer, .eval = eval };

/* ---- ResizeGrad: the transposed linear map ---- */

static prt_resize_attrs forward_attrs(const prt_resize_grad_attrs *a)
{
    prt_resize_attrs forward = PRT_ATTRS_OF(resize);
    forward.keep_aspect_ratio_policy = a->keep_aspect_ratio_policy;
    forward.axes = a->axes;
    forward.antialias = a->antialias;
    forward.exclude_outside = a->exclude_outside;
    forward.nearest_mode = a->nearest_mode;
    forward.coordinate_transformation_mode = a->coordinate_transformation_mode;
    forward.cubic_coeff_a = a->cubic_coeff_a;
    forward.mode = a->mode;
    return forward;
}

static poprt_status infer_grad(prt_infer *c)
{
    static const uint32_t like[1] = { 0 };
    const prt_resize_attrs forward = forward_attrs(c->attrs);
    const prt_gradient g = { PRT_OP_resize, &forward, 4, 1, 1, like };
    return prt_gradient_infer(c, &g);
}

/* Maps the gradient of one axis back: [outer][out][inner] to [outer][in][inner], which is zero. */
static poprt_status transpose_axis(prt_eval *c, const prt_resize_params *params,
    const prt_resize_axis *axis, size_t outer, size_t inner, const double *dy, double *dx)
{
    const bool nearest = params->mode == PRT_RESIZE_NEAREST;
    const size_t taps = nearest ? 1 : prt_resize_taps(params, axis);
    double *weights = prt_eval_scratch(c, taps, sizeof(double));
    if (weights == NULL)
        return POPRT_E_NOMEM;
    for (int64_t k = 0; k < axis->out; k++) {
        double at;
        int64_t first;
        PRT_TRY(c->host->check(c));
        if (!prt_resize_coordinate(params, axis, k, &at))
            continue;
        weights[0] = 1.0;
        first = nearest ? prt_resize_nearest(params, axis, at)
                        : prt_resize_weights(params, axis, at, taps, weights);
        for (size_t t = 0; t < taps; t++) {
            int64_t index = first + (int64_t)t;
            index = index < 0 ? 0 : index >= axis->in ? axis->in - 1 : index;
            for (size_t o = 0; o < outer; o++) {
                const double *from = dy + (o * (size_t)axis->out + (size_t)k) * inner;
                double *to = dx + (o * (size_t)axis->in + (size_t)index) * inner;
                for (size_t i = 0; i < inner; i++)
                    to[i] += weights[t] * from[i];
            }
        }
    }
    return POPRT_OK;
}

static poprt_status eval_grad(prt_eval *c)
{
    const prt_resize_attrs attrs = forward_attrs(c->attrs);
    const prt_tensor *x = c->in[0];
    prt_tensor dy = *c->in[4], *out = &dy;
    prt_resize_params params = { 0 };
    prt_resize_axis axis[PRT_MAX_RANK];
    prt_eval forward = *c;
    int64_t dims[PRT_MAX_RANK];
    prt_str bad;
    forward.attrs = &attrs;
    forward.n_in = 4;
    forward.out = &out;
    (void)prt_resize_read(&attrs, &params, &bad);
    PRT_TRY(prt_resize_axes(&forward, &params, axis));
    if (prt_tensor_count(x) == 0)
        return POPRT_OK;
    double *now = prt_eval_reals(c, &dy);
    if (now == NULL)
        return POPRT_E_NOMEM;
    memcpy(dims, dy.dims, sizeof(dims));
    for (uint32_t i = x->rank; i-- > 0;) {
        if (prt_resize_is_identity(&params, &axis[i]))
            continue;
        const size_t outer = prt_dims_product(dims, 0, i);
        const size_t inner = prt_dims_product(dims, i + 1, x->rank);
        dims[i] = axis[i].in;
        double *next = prt_eval_scratch(c, prt_dims_product(dims, 0, x->rank) + 1, sizeof(double));
        if (next == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(transpose_axis(c, &params, &axis[i], outer, inner, now, next));
        now = next;
    }
    prt_reals_store(x->dtype, c->out[0]->data, 0, 1, prt_tensor_count(x), now);
    return POPRT_OK;
}

const prt_op_hooks prt_op_resize_grad = { .infer = infer_grad, .eval = eval_grad };
