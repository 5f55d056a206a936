/* SPDX-License-Identifier: MIT */
/*
 * conv3d.c — converts 3-D convolutions to 2-D convolutions: planes become images of the batch, and
 * the input planes that an output plane reads become channels of one image. So they can use
 * Winograd's algorithm and the kernels for few channels.
 */
#include "op/internal/fused.h"
#include "pass/layout/to_nhwc.h"

enum {
    SPATIAL = 3,
    RANK = 5,
    DEPTH = 1,              /* depth axis after the channels or planes have moved */
    SHORT_ROW_CHANNELS = 8, /* below this many channels, rows of taps are short */
    MIN_CHANNELS = 16,      /* least channels and filters for large tiles */
    MIN_PIXELS = 100,       /* least pixels of a plane for large tiles */
    MAX_PLANES = 16,        /* largest kernel depth */
    MAX_BYTES = 1 << 26     /* largest size of the concatenated planes, in bytes */
};

typedef struct conv3d {
    prt_value *old; /* the weights of the volume */
    prt_value *x, *bias, *residual;
    prt_tensor w;
    prt_fused_conv_attrs attrs; /* attributes of the 2-D convolution, without its lists */
    const prt_type *y;
    int64_t in[SPATIAL], kernel[SPATIAL], pads[2 * SPATIAL], stride[SPATIAL], dilation[SPATIAL];
    int64_t channels; /* channels of x */
} conv3d;

/* Returns whether the conversion pays. */
static bool is_faster(const conv3d *v)
{
    const int64_t filters = v->w.dims[0], pixels = v->in[1] * v->in[2];
    const int64_t batch = prt_dim_is_number(v->y->dims[0]) ? v->y->dims[0] : 1;
    const bool square = v->kernel[1] == v->kernel[2] && (v->kernel[1] == 3 || v->kernel[1] == 5) &&
        v->stride[1] == 1 && v->stride[2] == 1;
    /* Depthwise 3-D convolutions have kernels, but these are slower where the depth is 1. */
    if (v->attrs.group > 1)
        return v->kernel[0] == 1;
    const double bytes = (double)batch * (double)v->y->dims[2] * (double)pixels *
        (double)(v->kernel[0] * v->channels) * (double)sizeof(float);
    if (v->kernel[0] > 1 && bytes > MAX_BYTES)
        return false;
    if (v->channels < SHORT_ROW_CHANNELS && v->kernel[1] * v->kernel[2] > 1)
        return true;
    return square && v->channels * v->kernel[0] >= MIN_CHANNELS && filters >= MIN_CHANNELS &&
        pixels >= MIN_PIXELS;
}

static bool match(conv3d *v, const prt_op *root, const prt_conv_attrs *a)
{
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    prt_window window;
    v->x = prt_op_input(root, 0);
    v->old = prt_op_input(root, 1);
    v->bias = prt_op_input(root, 2);
    v->y = root->out[0].type;
    if (!prt_match_is_sized(v->x, RANK) || !prt_match_is_sized(&root->out[0], RANK) ||
        !prt_match_constant(root, 1, &v->w) || v->w.dtype != PRT_DTYPE_f32 || v->w.rank != RANK ||
        prt_tensor_count(&v->w) == 0 || a->group < 1 ||
        !prt_to_nhwc_window(v->x, &v->w, &spec, &window, v->kernel, v->pads) ||
        v->kernel[0] > MAX_PLANES)
        return false;
    v->channels = v->x->type->dims[1];
    if (a->group > 1 && (a->group != v->channels || v->w.dims[0] != v->channels))
        return false;
    for (uint32_t i = 0; i < SPATIAL; i++) {
        v->in[i] = v->x->type->dims[i + 2];
        v->stride[i] = window.stride[i];
        v->dilation[i] = window.dilation[i];
        if (v->pads[i] < 0 || v->pads[SPATIAL + i] < 0 || v->pads[i] > INT16_MAX ||
            v->pads[SPATIAL + i] > INT16_MAX)
            return false;
    }
    PRT_ATTR_SET(v->attrs, fused_conv, group, a->group);
    return is_faster(v);
}

/* Returns the weights as [filters, planes * channels, taps]. */
static prt_value *weights_of(prt_pass *p, prt_build *b, const conv3d *v)
{
    const size_t filters = (size_t)v->w.dims[0], channels = (size_t)v->w.dims[1];
    const size_t taps = (size_t)(v->kernel[1] * v->kernel[2]), planes = (size_t)v->kernel[0];
    const int64_t dims[4] = { v->w.dims[0], v->w.dims[1] * v->kernel[0], v->kernel[1],
        v->kernel[2] };
    float *w = PRT_NEW_N(p->arena, float, filters *channels *planes *taps), *to = w;
    for (size_t f = 0; w != NULL && f < filters; f++)
        for (size_t k = 0; k < planes; k++)
            for (size_t c = 0; c < channels; c++, to += taps)
                memcpy(to, (const float *)v->w.data + ((f * channels + c) * planes + k) * taps,
                    taps * sizeof(float));
    prt_value *made = w != NULL ? prt_build_tensor(b, PRT_DTYPE_f32, 4, dims, w) : NULL;
    const prt_weight_step s = { .kind = PRT_WEIGHT_transpose,
        .rank = 4,
        .dims = { v->w.dims[0], v->w.dims[1], v->kernel[0], (int64_t)taps },
        .more = { 0, 2, 1, 3 } };
    if (made != NULL && prt_value_hold(made, v->old, 1, &s) != POPRT_OK)
        b->status = POPRT_E_NOMEM;
    return made;
}

/* Pads x along the depth, which is axis DEPTH. */
static prt_value *padded(prt_build *b, const conv3d *v, prt_value *x)
{
    int64_t pads[2 * RANK] = { 0 };
    pads[DEPTH] = v->pads[0];
    pads[RANK + DEPTH] = v->pads[SPATIAL];
    prt_value *in[2] = { x, prt_build_i64s(b, 2 * RANK, pads) };
    return v->pads[0] != 0 || v->pads[SPATIAL] != 0 ? prt_build_op(b, PRT_OP_pad, NULL, 2, in) : x;
}

/* Returns the input planes that plane `k` of the kernel reads. */
static prt_value *planes_of_tap(prt_build *b, const conv3d *v, prt_value *x, int64_t k)
{
    const int64_t first = k * v->dilation[0], along = DEPTH, step = v->stride[0];
    const int64_t end = first + (v->y->dims[2] - 1) * step + 1;
    if (v->kernel[0] == 1 && step == 1 && end == v->in[0] + v->pads[0] + v->pads[SPATIAL])
        return x;
    prt_value *in[5] = { x, prt_build_i64s(b, 1, &first), prt_build_i64s(b, 1, &end),
        prt_build_i64s(b, 1, &along), prt_build_i64s(b, 1, &step) };
    return prt_build_op(b, PRT_OP_slice, NULL, 5, in);
}

/* Converts a volume with channels last to images with channels first. */
static prt_value *images_of(prt_build *b, prt_value *x, int64_t channels, const int64_t *size)
{
    static const int64_t first[4] = { 0, 3, 1, 2 };
    const int64_t dims[4] = { -1, size[0], size[1], channels };
    return prt_match_add_transpose(b, prt_match_add_reshape(b, x, 4, dims), 4, first);
}

static prt_value *convolved(prt_pass *p, prt_build *b, const conv3d *v, prt_value *x,
    prt_value *residual)
{
    prt_fused_conv_attrs attrs = v->attrs;
    const int64_t pads[4] = { v->pads[1], v->pads[2], v->pads[SPATIAL + 1], v->pads[SPATIAL + 2] };
    const prt_i64s edges = { pads, 4 }, strides = { v->stride + 1, 2 };
    const prt_i64s dilations = { v->dilation + 1, 2 };
    PRT_ATTR_SET(attrs, fused_conv, pads, edges);
    PRT_ATTR_SET(attrs, fused_conv, strides, strides);
    PRT_ATTR_SET(attrs, fused_conv, dilations, dilations);
    prt_value *in[4] = { x, weights_of(p, b, v), v->bias, residual };
    if (in[1] == NULL)
        return NULL;
    return prt_build_op(b, PRT_OP_fused_conv, &attrs,
        residual != NULL      ? 4
            : v->bias != NULL ? 3
                              : 2,
        in);
}

/* Concatenates the planes of the kernel as channels and convolves them. Few channels come first, as
 * in images. */
static prt_value *concat_planes(prt_pass *p, prt_build *b, const conv3d *v, prt_value *residual)
{
    static const int64_t planes_first[RANK] = { 0, 2, 1, 3, 4 };
    const bool channels_first =
        v->channels == 1 || v->kernel[0] * v->channels <= PRT_TO_NHWC_IMAGE_CHANNELS;
    const int64_t planes[4] = { -1, v->channels, v->in[1], v->in[2] };
    prt_value *x = channels_first ? prt_match_add_transpose(b, v->x, RANK, planes_first)
                                  : prt_to_nhwc_last(b, v->x);
    prt_value *part[MAX_PLANES];
    x = x != NULL ? padded(b, v, x) : NULL;
    for (int64_t k = 0; k < v->kernel[0]; k++) {
        part[k] = x != NULL ? planes_of_tap(b, v, x, k) : NULL;
        part[k] = channels_first ? prt_match_add_reshape(b, part[k], 4, planes) : part[k];
        if (part[k] == NULL)
            return NULL;
    }
    prt_concat_attrs attrs = PRT_ATTRS_OF(concat);
    PRT_ATTR_SET(attrs, concat, axis, channels_first ? 1 : RANK - 1);
    x = v->kernel[0] == 1 ? part[0]
                          : prt_build_op(b, PRT_OP_concat, &attrs, (uint32_t)v->kernel[0], part);
    if (x != NULL && !channels_first)
        x = images_of(b, x, v->kernel[0] * v->channels, v->in + 1);
    return x != NULL ? convolved(p, b, v, x, residual) : NULL;
}

bool prt_to_nhwc_conv3d(prt_pass *p, prt_build *b, prt_op *root)
{
    conv3d v = { .attrs = PRT_ATTRS_OF(fused_conv) };
    prt_value *residual = NULL;
    if (prt_op_is(root, PRT_OP_conv)) {
        if (!match(&v, root, root->attrs))
            return false;
    } else {
        const prt_fused_conv_attrs *f = root->attrs;
        const prt_conv_attrs a = prt_fused_conv_of(f);
        v.residual = prt_op_input(root, 3);
        if (!match(&v, root, &a))
            return false;
        PRT_ATTR_SET(v.attrs, fused_conv, activation, f->activation);
        PRT_ATTR_SET(v.attrs, fused_conv, alpha, f->alpha);
        PRT_ATTR_SET(v.attrs, fused_conv, beta, f->beta);
    }
    const int64_t *d = v.y->dims, dims[RANK] = { -1, d[2], d[3], d[4], d[1] };
    if (!prt_pass_reserve(p, prt_tensor_count(&v.w) * sizeof(float)))
        return false;
    if (v.residual != NULL)
        residual = images_of(b, prt_to_nhwc_last(b, v.residual), d[1], d + 3);
    prt_value *y = concat_planes(p, b, &v, residual);
    y = y != NULL ? prt_match_add_reshape(b, prt_to_nhwc_last(b, y), RANK, dims) : NULL;
    prt_to_nhwc_replace(b, root, 0, y);
    return true;
}
