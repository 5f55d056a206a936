/* SPDX-License-Identifier: MIT */
/* conv.c — converts convolutions with constant weights to NhwcConv: chooses the algorithm by a cost
 * model and packs the weights for it. */
#include "op/internal/fused.h"
#include "op/internal/nhwc.h"
#include "pass/layout/to_nhwc.h"
#include "pass/layout/conv_algorithm.h"
#include "pass/layout/pixel_blocking.h"
#include "pass/pack/pack.h"

enum {
    MIN_WINOGRAD = 16, /* least channels and filters for Winograd */
    MANY_PIXELS = 400, /* output pixels along an axis from which large tiles are clearly best */
    MIN_PIXELS = 9,    /* output pixels from which any Winograd tiles pay */
    MIN_FILTERS = 8,   /* least filters of a group */
    CLOSE = 4          /* a rule is close to its threshold within this factor */
};

/* Parameters of the cost model (measured). */
static const double WEIGHTS =
    6.0;                        /* tiles multiplied while a matrix of weights is fetched or made */
static const double PAYS = 0.8; /* largest cost, relative to panels, at which transforms pay */
static const double LARGEST =
    1.08; /* cost factor of the largest tiles, whose transforms are slow */

typedef struct conv {
    prt_nhwc_conv_attrs attrs;
    prt_nhwc_weights layout;
    prt_value *x, *w, *bias, *residual;
    const prt_type *y;
    int64_t pads[2 * PRT_MAX_SPATIAL], kernel[PRT_MAX_SPATIAL], strides[PRT_MAX_SPATIAL];
    prt_pixel_blocking blocking;
    float *blocked_weights; /* scratch for the weights of a pixel-blocked convolution */
} conv;

bool prt_to_nhwc_window(const prt_value *x, const prt_tensor *w, const prt_window_spec *spec,
    prt_window *to, int64_t *kernel, int64_t *pads)
{
    const uint32_t spatial = (uint32_t)x->type->rank - 2;
    const int64_t *in = x->type->dims + 2;
    const bool explicit = spec->auto_pad.size == 0 || prt_str_is(spec->auto_pad, "NOTSET") ||
        prt_str_is(spec->auto_pad, "VALID");
    int64_t sizes[PRT_MAX_SPATIAL];
    for (uint32_t i = 0; i < spatial; i++) {
        const bool whole = prt_i64s_at(spec->strides, i, 1) == 1;
        if (!prt_dim_is_number(in[i]) && !explicit && !whole)
            return false;
        /* The padding does not depend on an unknown size here. */
        sizes[i] = prt_dim_is_number(in[i]) ? in[i] : INT32_MAX;
        kernel[i] = w->dims[i + 2];
    }
    prt_window_fill(NULL, spec, spatial, sizes, kernel, to);
    for (uint32_t i = 0; i < spatial; i++) {
        pads[i] = to->begin[i];
        pads[spatial + i] = to->end[i];
    }
    return true;
}

/* Returns the output pixels along an axis, at most MANY_PIXELS, which also stands for an unknown
 * number. */
static int64_t pixels_along(const conv *v, uint32_t axis)
{
    const int64_t pixels = v->y->dims[axis + 2];
    return prt_dim_is_number(pixels) && pixels < MANY_PIXELS ? pixels : MANY_PIXELS;
}

static bool is_by_two(const prt_window *w)
{
    return w->rank == 2 && w->stride[0] == 2 && w->stride[1] == 2;
}

/* Returns the share of taps along an axis that lie inside the image. For dilated kernels with
 * enough channels, panels skip taps in the padding. */
static double share_inside(const conv *v, const prt_window *w, uint32_t axis)
{
    const size_t out = (size_t)w->out[axis], kernel = (size_t)v->kernel[axis];
    size_t inside = 0, first, last;
    if (w->dilation[axis] == 1 || v->layout.channels < PRT_NHWC_FAR_DEPTH ||
        !prt_dim_is_number(v->y->dims[axis + 2]) || out == 0 || out > (size_t)MANY_PIXELS)
        return 1.0;
    for (size_t i = 0; i < out; i++) {
        prt_nhwc_inside(i, (size_t)w->stride[axis], (size_t)w->dilation[axis], w->begin[axis],
            kernel, (size_t)w->in[axis], &first, &last);
        inside += last - first;
    }
    return (double)inside / (double)(out * kernel);
}

/* Estimates the cost of an algorithm, in products of one channel with one filter. */
static double cost_of(const conv *v, const prt_window *w, prt_nhwc_algorithm algorithm)
{
    const size_t points = prt_nhwc_points(algorithm), side = prt_nhwc_side(algorithm);
    const bool line = algorithm == PRT_NHWC_winograd_line;
    double matrices = (double)points, count = 1.0, inside = 1.0;
    for (uint32_t i = 0; i < w->rank; i++) {
        const size_t pixels = (size_t)pixels_along(v, i), dilation = (size_t)w->dilation[i];
        size_t tiles = pixels, each;
        if (line && v->kernel[i] > 1) {
            const prt_nhwc_line l = prt_nhwc_line_of(v->layout.taps, pixels, dilation);
            tiles = l.tiles;
            matrices *= (double)l.pieces;
        } else if (points != 0 && !line) {
            tiles = prt_nhwc_tiles(pixels, dilation, points + 1 - side, &each);
        }
        count *= (double)tiles;
        inside *= points == 0 ? share_inside(v, w, i) : 1.0;
    }
    if (points == 0)
        return (double)v->layout.taps * count * inside;
    matrices *= line ? 1.0 : (double)points;
    matrices *= algorithm == PRT_NHWC_winograd6 ? LARGEST : 1.0;
    return (is_by_two(w) ? 81.0 : matrices) * count + matrices * WEIGHTS;
}

/* Returns the Winograd algorithm with the lowest cost, or panels if none pays. Large tiles need
 * fewer products; small tiles need fewer weights, which are read from memory or transformed in each
 * run. Weights for 5x5 kernels must be transformed ahead. */
static prt_nhwc_algorithm winograd_of(prt_pass *p, const conv *v, const prt_window *w)
{
    static const prt_nhwc_algorithm all[] = { PRT_NHWC_winograd, PRT_NHWC_winograd2,
        PRT_NHWC_winograd5, PRT_NHWC_winograd6, PRT_NHWC_winograd_line };
    const size_t least =
        v->layout.channels < v->layout.filters ? v->layout.channels : v->layout.filters;
    prt_nhwc_algorithm best = PRT_NHWC_panels;
    if (w->rank > 2 || least < MIN_WINOGRAD || prt_conv_algorithm_bf16x3(p, &v->layout))
        return best;
    double most = PAYS * cost_of(v, w, best);
    for (uint32_t i = 0; i < PRT_COUNT_OF(all); i++) {
        prt_nhwc_weights made = v->layout;
        made.algorithm = all[i];
        if (!prt_nhwc_fits(&v->attrs, &made) || !prt_conv_algorithm_allowed(p, all[i]) ||
            cost_of(v, w, all[i]) >= most ||
            (all[i] == PRT_NHWC_winograd5 && !prt_conv_algorithm_transform(p, made, false)))
            continue;
        best = all[i];
        most = cost_of(v, w, best);
    }
    return best;
}

/* Returns whether neither panels nor large tiles are clearly best by the number of channels and
 * pixels. */
static bool is_close(const conv *v)
{
    const prt_nhwc_weights *f = &v->layout;
    const size_t least = f->channels < f->filters ? f->channels : f->filters;
    if (v->y->rank > 4)
        return false;
    const int64_t pixels = pixels_along(v, 0) * (v->y->rank == 4 ? pixels_along(v, 1) : 1);
    return least >= MIN_WINOGRAD / CLOSE && pixels >= MIN_PIXELS &&
        (least < MIN_WINOGRAD * CLOSE || pixels < MANY_PIXELS * CLOSE);
}

/* Chooses the algorithm by rule among those the options allow. Returns false if no algorithm
 * suits. */
static bool choose_algorithm(prt_pass *p, conv *v, const prt_window *w)
{
    prt_nhwc_weights *f = &v->layout;
    if (f->group > 1 && prt_nhwc_is_depthwise(f) && (w->rank < 3 || f->channels == 1)) {
        f->algorithm = PRT_NHWC_taps;
        return true;
    }
    f->algorithm = winograd_of(p, v, w);
    return f->group == 1 || f->filters >= MIN_FILTERS;
}

static void pack_weights(const void *user, const float *from, float *to)
{
    const conv *v = user;
    if (v->blocking.by > 1)
        prt_pixel_blocking_pack(&v->blocking, &v->layout, from, v->blocked_weights);
    prt_nhwc_weights_pack(&v->layout, v->blocking.by > 1 ? v->blocked_weights : from, to);
}

/* Adds the steps that lead from W to its layout. Winograd transforms round. */
static void add_steps(const conv *v, prt_pack *how)
{
    static const int64_t panels[4] = { 0, 3, 2, 1 }, taps[4] = { 3, 2, 0, 1 };
    const prt_nhwc_weights *f = &v->layout;
    const int64_t dims[4] = { (int64_t)f->group, (int64_t)f->filters, (int64_t)f->channels,
        (int64_t)f->taps };
    if (f->transformed)
        return;
    if (v->blocking.by > 1)
        how->n_steps = prt_pixel_blocking_steps(&v->blocking, f, how->steps);
    prt_pack_add_transpose(how, 4, dims, f->algorithm == PRT_NHWC_taps ? taps : panels);
    if (f->algorithm != PRT_NHWC_taps)
        prt_pack_add_panels(how, f->group, f->taps * f->channels, f->filters, 0);
}

/* Packs the constant W for the algorithm; NULL: W is not constant, or no memory. */
static prt_value *pack(prt_pass *p, prt_op *root, conv *v)
{
    const prt_nhwc_weights *f = &v->layout;
    prt_pack how = { .write = pack_weights, .user = v };
    prt_tensor w;
    if (!prt_match_constant(root, 1, &w) || !prt_nhwc_weights_size(f, &how.count))
        return NULL;
    if (v->blocking.by > 1 &&
        (v->blocked_weights = PRT_NEW_N(p->arena, float, f->filters * f->channels * f->taps)) ==
            NULL)
        return NULL;
    add_steps(v, &how);
    return prt_pack_constant(p, root, 1, &w, &how);
}

static bool is_f32(const prt_value *v)
{
    return v == NULL || (prt_type_is_tensor(v->type) && v->type->dtype == PRT_DTYPE_f32);
}

/* Reads everything but the activation, from the attributes of Conv. */
static bool match(prt_pass *p, conv *v, const prt_op *root, const prt_conv_attrs *a)
{
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    prt_tensor w;
    prt_window window;
    v->x = prt_op_input(root, 0);
    v->w = prt_op_input(root, 1);
    v->bias = prt_op_input(root, 2);
    v->y = root->out[0].type;
    if (v->residual != NULL && !prt_to_nhwc_is_image(v->residual))
        return false;
    if (!prt_to_nhwc_is_image(v->x) || !is_f32(v->x) || !is_f32(v->bias) || !is_f32(v->residual) ||
        !prt_match_constant(root, 1, &w) || w.dtype != PRT_DTYPE_f32 ||
        !prt_to_nhwc_is_image(&root->out[0]) || (int32_t)w.rank != v->x->type->rank ||
        a->group < 1 || prt_tensor_count(&w) == 0)
        return false;
    v->layout = (prt_nhwc_weights){ .group = (size_t)a->group,
        .channels = (size_t)w.dims[1],
        .filters = (size_t)(w.dims[0] / a->group),
        .taps = 1 };
    for (uint32_t i = 2; i < w.rank; i++)
        v->layout.taps *= (size_t)w.dims[i];
    if (!prt_to_nhwc_window(v->x, &w, &spec, &window, v->kernel, v->pads))
        return false;
    v->attrs = PRT_ATTRS_OF(nhwc_conv);
    const prt_i64s kernel = { .data = v->kernel, .count = w.rank - 2 };
    const prt_i64s strides = { .data = v->strides, .count = w.rank - 2 };
    const prt_i64s pads = { .data = v->pads, .count = 2 * (w.rank - 2) };
    PRT_ATTR_SET(v->attrs, nhwc_conv, group, a->group);
    PRT_ATTR_SET(v->attrs, nhwc_conv, kernel_shape, kernel);
    PRT_ATTR_SET(v->attrs, nhwc_conv, pads, pads);
    PRT_ATTR_SET(v->attrs, nhwc_conv, strides, a->strides);
    PRT_ATTR_SET(v->attrs, nhwc_conv, dilations, a->dilations);
    if (!choose_algorithm(p, v, &window))
        return false;
    v->blocking = prt_pixel_blocking_of(&v->layout, v->y, &window, v->residual != NULL);
    memcpy(v->strides, window.stride, sizeof(v->strides));
    if (v->blocking.by > 1) {
        prt_pixel_blocking_apply(&v->blocking, &window, &v->layout, v->kernel, v->strides, v->pads);
        v->attrs.strides = strides;
    }
    PRT_ATTR_SET(v->attrs, nhwc_conv, form, (int32_t)v->layout.algorithm);
    PRT_ATTR_SET(v->attrs, nhwc_conv, channels, (int64_t)v->layout.channels);
    PRT_ATTR_SET(v->attrs, nhwc_conv, filters, (int64_t)v->layout.filters);
    return true;
}

/* Returns whether the convolution converts its input itself, which suits images of few channels. */
static bool reads_nchw(const conv *v)
{
    const prt_i64s *d = &v->attrs.dilations;
    return v->layout.channels <= PRT_TO_NHWC_IMAGE_CHANNELS &&
        v->layout.algorithm == PRT_NHWC_panels && v->layout.group == 1 && v->x->type->rank < 5 &&
        prt_to_nhwc_source(v->x) == NULL && (d->count == 0 || d->data[d->count - 1] == 1);
}

/* Returns whether filters of a 1x1 convolution of one group, which Strassen's algorithm may
 * compute, are equal or zero. */
static bool filters_repeat(const prt_pass *p, const prt_op *root, const conv *v)
{
    prt_tensor w;
    if (v->layout.algorithm != PRT_NHWC_panels || v->layout.group != 1 || v->layout.taps != 1 ||
        !prt_match_constant(root, 1, &w))
        return false;
    const prt_pack_matrix m = { .data = w.data,
        .k = v->layout.channels,
        .n = v->layout.filters,
        .row = 1,
        .column = v->layout.channels };
    return v->blocking.by <= 1 && prt_pack_columns_repeat(p, &m);
}

static bool replace(prt_pass *p, prt_build *b, prt_op *root, conv *v)
{
    const bool blocking = v->blocking.by > 1;
    if (v->layout.channels > PRT_TO_NHWC_IMAGE_CHANNELS && !blocking)
        v->layout.algorithm =
            prt_conv_algorithm_of_conv(p, root, &v->attrs, &v->layout, is_close(v));
    v->attrs.form = (int32_t)v->layout.algorithm;
    v->layout.transformed = v->strides[0] == 1 && prt_conv_algorithm_transform(p, v->layout, true);
    if (v->layout.transformed)
        PRT_ATTR_SET(v->attrs, nhwc_conv, transformed, 1);
    if (filters_repeat(p, root, v))
        PRT_ATTR_SET(v->attrs, nhwc_conv, in_order, 1);
    const bool images = reads_nchw(v);
    prt_value *in[4] = { v->x, pack(p, root, v), v->bias, v->residual };
    if (in[1] == NULL)
        return false;
    if (images)
        PRT_ATTR_SET(v->attrs, nhwc_conv, images, 1);
    else
        in[0] = prt_to_nhwc_last(b, v->x);
    if (v->residual != NULL)
        in[3] = prt_to_nhwc_last(b, v->residual);
    if (blocking) {
        in[2] = prt_pixel_blocking_bias(b, &v->blocking, v->bias);
        in[3] = v->residual != NULL ? prt_pixel_blocking_join(b, &v->blocking, v->y, in[3]) : NULL;
    }
    const uint32_t n = v->residual != NULL ? 4 : v->bias != NULL ? 3 : 2;
    prt_value *y = prt_build_op(b, PRT_OP_nhwc_conv, &v->attrs, n, in);
    prt_to_nhwc_replace(b, root, 0,
        blocking ? prt_pixel_blocking_split(b, &v->blocking, v->y, y) : y);
    return true;
}

bool prt_to_nhwc_conv(prt_pass *p, prt_build *b, prt_op *root)
{
    conv v = { .residual = NULL };
    if (prt_op_is(root, PRT_OP_conv))
        return match(p, &v, root, root->attrs) && replace(p, b, root, &v);
    const prt_fused_conv_attrs *f = root->attrs;
    const prt_conv_attrs a = prt_fused_conv_of(f);
    v.residual = prt_op_input(root, 3);
    if (!match(p, &v, root, &a))
        return false;
    PRT_ATTR_SET(v.attrs, nhwc_conv, activation, f->activation);
    PRT_ATTR_SET(v.attrs, nhwc_conv, alpha, f->alpha);
    PRT_ATTR_SET(v.attrs, nhwc_conv, beta, f->beta);
    return replace(p, b, root, &v);
}
