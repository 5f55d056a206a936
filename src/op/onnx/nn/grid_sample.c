/* SPDX-License-Identifier: MIT */
/*
 * grid_sample.c — GridSample: samples images with any number of spatial dims at the positions of a
 * grid.
 */
#include <math.h>

#include "op/internal/gradient.h"
#include "op/share/elements.h"
#include "op/share/sliding.h"

typedef struct sampler {
    uint32_t rank;
    const int64_t *dims; /* spatial dims of the image */
    uint32_t taps;       /* taps per axis: 1 nearest, 2 linear, 4 cubic */
    bool zeros, reflect, corners;
} sampler;

static bool read_sampler(const prt_grid_sample_attrs *a, sampler *s)
{
    const bool border = prt_str_is(a->padding_mode, "border");
    s->zeros = prt_str_is(a->padding_mode, "zeros");
    s->reflect = prt_str_is(a->padding_mode, "reflection");
    s->corners = a->align_corners != 0;
    s->taps = prt_str_is(a->mode, "nearest") ? 1
        : prt_str_is(a->mode, "linear")      ? 2
        : prt_str_is(a->mode, "cubic")       ? 4
                                             : 0;
    return s->taps != 0 && (border || s->zeros || s->reflect);
}

static poprt_status infer(prt_infer *c)
{
    const prt_grid_sample_attrs *a = c->attrs;
    const int32_t dtype = c->in[0].dtype;
    int64_t dims[PRT_MAX_RANK], merged;
    sampler s;
    if (!read_sampler(a, &s))
        return prt_infer_fail(c, POPRT_E_ARG,
            "mode is \"%.*s\" (accepted: nearest, linear, cubic), padding_mode \"%.*s\" (accepted: "
            "zeros, border, reflection)",
            PRT_STR_ARG(a->mode), PRT_STR_ARG(a->padding_mode));
    if (s.taps > 1 && dtype != PRT_DTYPE_undefined && !prt_dtype_is_float(dtype) &&
        !prt_dtype_is_integer(dtype))
        return prt_infer_fail(c, POPRT_E_TYPE, "%s elements cannot be interpolated",
            prt_dtype_of(dtype)->name);
    const int32_t rank = prt_infer_ranked(c, 0) ? c->in[0].rank
        : prt_infer_ranked(c, 1)                ? c->in[1].rank
                                                : PRT_RANK_UNKNOWN;
    if (rank < 0)
        return prt_infer_unranked(c, 0, dtype, rank);
    if (rank < 3)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the image has rank %d; a rank of at least 3 is required", rank);
    PRT_TRY(prt_infer_rank(c, 0, rank));
    PRT_TRY(prt_infer_rank(c, 1, rank));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 0, 0), prt_infer_dim(c, 1, 0), "batch", &dims[0]));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 1, (uint32_t)rank - 1), rank - 2,
        "last dim of the grid", &merged));
    dims[1] = prt_infer_dim(c, 0, 1);
    for (uint32_t i = 2; i < (uint32_t)rank; i++)
        dims[i] = prt_infer_dim(c, 1, i - 1);
    return prt_infer_exact(c, 0, dtype, rank, dims);
}

/* Reflects a coordinate at the borders until it is inside. */
static double reflect(double x, double least, double most)
{
    const double range = most - least;
    if (range <= 0.0)
        return least;
    const double over = fmod(fabs(x - least), 2.0 * range);
    return least + (over <= range ? over : 2.0 * range - over);
}

/* Converts a grid coordinate in [-1, 1] to an image coordinate and applies the padding mode.
 * Single precision unless the grid is double, like other implementations, because ties depend on
 * it. */
static double to_image(const sampler *s, uint32_t axis, double g, bool wide)
{
    const double far = 1e15, size = (double)s->dims[axis];
    const double least = s->corners ? 0.0 : -0.5, most = least + (s->corners ? size - 1.0 : size);
    double x = s->corners ? (g + 1.0) / 2.0 * (size - 1.0) : ((g + 1.0) * size - 1.0) / 2.0;
    if (!wide) {
        const float f = (float)g, n = (float)size;
        x = (double)(s->corners ? (f + 1.0f) / 2.0f * (n - 1.0f) : ((f + 1.0f) * n - 1.0f) / 2.0f);
    }
    if (isnan(x))
        x = -2.0;
    x = fmin(fmax(x, -far), far);
    if (s->taps == 1)
        x = nearbyint(x);
    if (x < least || x > most) {
        if (s->reflect)
            x = reflect(x, least, most);
        else if (!s->zeros && s->taps != 4) /* cubic filters also read taps beyond the border */
            x = fmin(fmax(x, 0.0), size - 1.0);
    }
    return x;
}

/* Converts an integer position to an index; -1 where the padding is zero. */
static int64_t to_index(const sampler *s, uint32_t axis, int64_t at)
{
    const int64_t size = s->dims[axis];
    if (at >= 0 && at < size)
        return at;
    if (s->zeros)
        return -1;
    if (s->reflect)
        at = (int64_t)(s->corners ? reflect((double)at, 0.0, (double)size - 1.0)
                                  : reflect((double)at, -0.5, (double)size - 0.5));
    return at < 0 ? 0 : at >= size ? size - 1 : at;
}

static void cubic_weights(double t, double *w)
{
    const double a = -0.75;
    const double d[4] = { t + 1.0, t, 1.0 - t, 2.0 - t };
    for (size_t i = 0; i < 4; i++)
        w[i] = i == 1 || i == 2 ? ((a + 2.0) * d[i] - (a + 3.0)) * d[i] * d[i] + 1.0
                                : ((a * d[i] - 5.0 * a) * d[i] + 8.0 * a) * d[i] - 4.0 * a;
}

/* Indices and weights of the taps along each axis at one position. */
typedef struct taps {
    int64_t index[PRT_MAX_SPATIAL][4];
    double weight[PRT_MAX_SPATIAL][4];
} taps;

static void find_taps(const sampler *s, const double *grid, bool wide, taps *t)
{
    for (uint32_t axis = 0; axis < s->rank; axis++) {
        /* The grid stores the last axis first. */
        const double x = to_image(s, axis, grid[s->rank - 1 - axis], wide), whole = floor(x);
        const int64_t first = (int64_t)whole - (s->taps == 4 ? 1 : 0);
        double *w = t->weight[axis];
        w[0] = 1.0;
        if (s->taps == 2) {
            w[0] = 1.0 - (x - whole);
            w[1] = x - whole;
        } else if (s->taps == 4) {
            cubic_weights(x - whole, w);
        }
        for (uint32_t k = 0; k < s->taps; k++)
            t->index[axis][k] = to_index(s, axis, first + k);
    }
}

/* An element of a plane that a position reads, and its weight. */
typedef struct tap {
    size_t at; /* SIZE_MAX: outside, where the value is zero */
    double weight;
} tap;

/* Computes all taps^rank taps of a position, which are the same for every channel. */
static void multiply_taps(const sampler *s, const taps *t, tap *to)
{
    const int64_t counts[PRT_MAX_SPATIAL] = { s->taps, s->taps, s->taps, s->taps, s->taps,
        s->taps };
    int64_t k[PRT_MAX_SPATIAL] = { 0 };
    do {
        bool inside = true;
        *to = (tap){ 0, 1.0 };
        for (uint32_t i = 0; i < s->rank; i++) {
            to->weight *= t->weight[i][k[i]];
            inside = inside && t->index[i][k[i]] >= 0;
            to->at = to->at * (size_t)s->dims[i] + (size_t)t->index[i][k[i]];
        }
        if (!inside)
            to->at = SIZE_MAX;
        to++;
    } while (prt_at_next(s->rank, counts, k));
}

/* Returns the weighted sum of the taps of one position in a plane of float (`single`) or double. */
static inline double interpolate(const tap *t, size_t count, const float *single,
    const double *plane)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        if (t[i].at != SIZE_MAX)
            sum += t[i].weight * (single != NULL ? (double)single[t[i].at] : plane[t[i].at]);
    return sum;
}

/* Computes `count` positions of `each` taps. */
static void interpolate_all(const tap *t, size_t each, size_t count, const float *single,
    const double *plane, double *sums)
{
    if (single == NULL)
        for (size_t p = 0; p < count; p++)
            sums[p] = interpolate(t + p * each, each, NULL, plane);
    else if (each == 4)
        for (size_t p = 0; p < count; p++)
            sums[p] = interpolate(t + p * 4, 4, single, NULL);
    else
        for (size_t p = 0; p < count; p++)
            sums[p] = interpolate(t + p * each, each, single, NULL);
}

/* Copies one element of a channel, for mode nearest. */
static void copy_nearest(const prt_tensor *x, prt_tensor *y, size_t from, size_t to, size_t at)
{
    const size_t bits = prt_dtype_bits(y->dtype);
    if (at != SIZE_MAX)
        prt_element_copy(y->dtype, y->data, to, x->data, from + at, 1);
    else if (bits >= 8)
        memset((char *)y->data + to * (bits / 8), 0, bits / 8);
    else
        prt_store_i64(y->dtype, y->data, to, 0);
}

/* Limit of taps held at a time; they take 16 MB. */
enum { MOST_TAPS = 1 << 20 };

static poprt_status eval(prt_eval *c)
{
    const prt_tensor *x = c->in[0], *grid = c->in[1];
    prt_tensor *y = c->out[0];
    sampler s = { .rank = x->rank - 2, .dims = x->dims + 2 };
    (void)read_sampler(c->attrs, &s);
    const size_t channels = (size_t)x->dims[1], size = prt_dims_product(x->dims, 2, x->rank);
    const size_t points = prt_dims_product(y->dims, 2, y->rank);
    size_t each = 1;
    for (uint32_t i = 0; i < s.rank; i++)
        each *= s.taps;
    if (prt_tensor_count(y) == 0)
        return POPRT_OK;
    if (size == 0)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "the image is empty; at least one element is required");
    const size_t most = MOST_TAPS / each < points ? MOST_TAPS / each : points;
    const double *at = prt_eval_reals(c, grid);
    tap *t = prt_eval_scratch(c, most * each, sizeof(tap));
    double *plane = s.taps > 1 ? prt_eval_scratch(c, size, sizeof(double)) : NULL;
    double *sums = s.taps > 1 ? prt_eval_scratch(c, most, sizeof(double)) : NULL;
    if (at == NULL || t == NULL || (s.taps > 1 && (plane == NULL || sums == NULL)))
        return POPRT_E_NOMEM;
    for (size_t n = 0; n < (size_t)x->dims[0]; n++)
        for (size_t first = 0; first < points; first += most) {
            const size_t some = points - first < most ? points - first : most;
            for (size_t p = 0; p < some; p++) {
                taps found;
                find_taps(&s, at + (n * points + first + p) * s.rank, grid->dtype == PRT_DTYPE_f64,
                    &found);
                multiply_taps(&s, &found, t + p * each);
            }
            for (size_t ch = 0; ch < channels; ch++) {
                const size_t from = (n * channels + ch) * size;
                const size_t to = (n * channels + ch) * points + first;
                PRT_TRY(c->host->check(c));
                for (size_t p = 0; p < some && plane == NULL; p++)
                    copy_nearest(x, y, from, to + p, t[p].at);
                if (plane == NULL)
                    continue;
                const float *single =
                    x->dtype == PRT_DTYPE_f32 ? (const float *)x->data + from : NULL;
                if (single == NULL)
                    prt_read_f64(x->dtype, x->data, from, 1, size, plane);
                interpolate_all(t, each, some, single, plane, sums);
                prt_write_f64(y->dtype, y->data, to, some, sums);
            }
        }
    return POPRT_OK;
}

const prt_op_hooks prt_op_grid_sample = { .infer = infer, .eval = eval };

/* ---- GridSampleGrad ---- */

static prt_grid_sample_attrs forward_attrs(const prt_grid_sample_grad_attrs *a)
{
    prt_grid_sample_attrs forward = PRT_ATTRS_OF(grid_sample);
    forward.align_corners = a->align_corners;
    forward.padding_mode = a->padding_mode;
    forward.mode = a->mode;
    return forward;
}

static poprt_status infer_grad(prt_infer *c)
{
    static const uint32_t like[2] = { 0, 1 };
    const prt_grid_sample_attrs forward = forward_attrs(c->attrs);
    const prt_gradient g = { PRT_OP_grid_sample, &forward, 2, 1, 2, like };
    return prt_gradient_infer(c, &g);
}

/* Returns the derivative of to_image: 0 where a coordinate is clamped or selects an element, and
 * with the sign of the reflections. */
static double image_slope(const sampler *s, uint32_t axis, double g)
{
    const double size = (double)s->dims[axis], scale = s->corners ? size - 1.0 : size;
    const double least = s->corners ? 0.0 : -0.5, most = least + scale;
    const double x = s->corners ? (g + 1.0) / 2.0 * scale : ((g + 1.0) * size - 1.0) / 2.0;
    if (s->taps == 1 || !(fabs(x) < 1e15))
        return 0.0;
    if (s->reflect && (x < least || x > most)) {
        const double range = most - least;
        const double over = range > 0.0 ? fmod(fabs(x - least), 2.0 * range) : 0.0;
        const double sign = (over <= range ? 1.0 : -1.0) * (x < least ? -1.0 : 1.0);
        return range > 0.0 ? sign * scale / 2.0 : 0.0;
    }
    if (!s->zeros && !s->reflect && s->taps != 4 && (x <= 0.0 || x >= size - 1.0))
        return 0.0;
    return scale / 2.0;
}

static void cubic_slopes(double t, double *w)
{
    const double a = -0.75;
    const double d[4] = { t + 1.0, t, 1.0 - t, 2.0 - t };
    for (size_t i = 0; i < 4; i++) {
        w[i] = i == 1 || i == 2 ? (3.0 * (a + 2.0) * d[i] - 2.0 * (a + 3.0)) * d[i]
                                : (3.0 * a * d[i] - 10.0 * a) * d[i] + 8.0 * a;
        if (i >= 2) /* the distance to the later taps falls */
            w[i] = -w[i];
    }
}

/* Computes the taps of a position whose weights along `axis` are derivatives by its coordinate. */
static void slope_taps(const sampler *s, uint32_t axis, const double *grid, bool wide, taps *t)
{
    const double g = grid[s->rank - 1 - axis], x = to_image(s, axis, g, wide);
    const double slope = image_slope(s, axis, g);
    double *w = t->weight[axis];
    if (s->taps == 4)
        cubic_slopes(x - floor(x), w);
    else if (s->taps == 2) {
        w[0] = -1.0;
        w[1] = 1.0;
    }
    for (uint32_t k = 0; k < s->taps; k++)
        w[k] = s->taps == 1 ? 0.0 : w[k] * slope;
}

/* Adds the gradients of one position, for all channels of an image. */
static void add_position(const sampler *s, const double *x, size_t channels, size_t size,
    const double *at, bool wide, const tap *t, size_t each, const double *dy, double *dx,
    tap *slopes, double *dgrid, size_t points)
{
    for (size_t ch = 0; ch < channels; ch++)
        for (size_t i = 0; i < each; i++)
            if (t[i].at != SIZE_MAX)
                dx[ch * size + t[i].at] += t[i].weight * dy[ch * points];
    for (uint32_t axis = 0; axis < s->rank; axis++) {
        taps found;
        double sum = 0.0;
        find_taps(s, at, wide, &found);
        slope_taps(s, axis, at, wide, &found);
        multiply_taps(s, &found, slopes);
        for (size_t ch = 0; ch < channels; ch++)
            sum += dy[ch * points] * interpolate(slopes, each, NULL, x + ch * size);
        dgrid[s->rank - 1 - axis] = sum;
    }
}

static poprt_status eval_grad(prt_eval *c)
{
    const prt_grid_sample_attrs forward = forward_attrs(c->attrs);
    const prt_tensor *x = c->in[0], *grid = c->in[1];
    sampler s = { .rank = x->rank - 2, .dims = x->dims + 2 };
    (void)read_sampler(&forward, &s);
    const size_t channels = (size_t)x->dims[1], size = prt_dims_product(x->dims, 2, x->rank);
    const size_t points = prt_dims_product(grid->dims, 1, grid->rank - 1);
    const bool wide = grid->dtype == PRT_DTYPE_f64;
    size_t each = 1;
    for (uint32_t i = 0; i < s.rank; i++)
        each *= s.taps;
    const double *values = prt_eval_reals(c, x), *at = prt_eval_reals(c, grid);
    const double *dy = prt_eval_reals(c, c->in[2]);
    double *dx = prt_eval_scratch(c, prt_tensor_count(x) + 1, sizeof(double));
    double *dgrid = prt_eval_scratch(c, prt_tensor_count(grid) + 1, sizeof(double));
    tap *t = prt_eval_scratch(c, 2 * each, sizeof(tap));
    if (values == NULL || at == NULL || dy == NULL || dx == NULL || dgrid == NULL || t == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; size != 0 && i < (size_t)x->dims[0] * points; i++) {
        const size_t image = i / points * channels;
        taps found;
        PRT_TRY(c->host->check(c));
        find_taps(&s, at + i * s.rank, wide, &found);
        multiply_taps(&s, &found, t);
        add_position(&s, values + image * size, channels, size, at + i * s.rank, wide, t, each,
            dy + image * points + i % points, dx + image * size, t + each, dgrid + i * s.rank,
            points);
    }
    if (prt_eval_wants(c, 0))
        prt_reals_store(x->dtype, c->out[0]->data, 0, 1, prt_tensor_count(x), dx);
    if (prt_eval_wants(c, 1))
        prt_reals_store(grid->dtype, c->out[1]->data, 0, 1, prt_tensor_count(grid), dgrid);
    return POPRT_OK;
}

const prt_op_hooks prt_op_grid_sample_grad = { .infer = infer_grad, .eval = eval_grad };
