/* SPDX-License-Identifier: MIT */
/*
 * transposed.c — converts ConvTranspose to ordinary convolutions of its input. The results are
 * channels of one image, which are then placed side by side as pixels.
 *
 * Output pixel o gets tap k of input pixel i where o = i * stride - begin + k. For the outputs o =
 * i' * stride + r (phase r), these are every stride-th tap, at integer distances from i': one
 * convolution for each r. There are three ways: one convolution for all phases, in which some taps
 * are 0 (large Winograd tiles make up for that); one convolution that computes the output with its
 * pads, which are cut off; or one convolution for each phase.
 */
#include <math.h>

#include "op/internal/fused.h"
#include "pass/layout/to_nhwc.h"
#include "pass/layout/conv_algorithm.h"

enum {
    AXES = 3,
    LANES = 16,        /* filters in a vector; the cost counts whole vectors */
    MIN_CHANNELS = 16, /* least channels and filters for large tiles */
    MIN_PIXELS = 400,
    MAX_PHASES = 64
};

/* Cost factors of a tap. */
static const double LARGE_TILES = 0.33; /* in large Winograd tiles */
static const double SEPARATE = 1.1;     /* in one convolution for each phase */
static const double UNCHANGED = 1.3;    /* in ConvTranspose */

/* The window along one axis. */
typedef struct axis {
    int64_t in, kernel, stride, begin, out; /* in and out may be unknown */
    bool whole;                             /* out = in * stride */
} axis;

typedef struct span {
    int64_t begin;       /* pad of the computed outputs */
    int64_t first, last; /* first and last distance of inputs */
    int64_t padded;      /* additional input positions, which the outputs in the pads need */
} span;

typedef struct transposed {
    prt_value *x, *bias;
    prt_tensor w;
    uint32_t axes;
    axis axis[AXES];
    size_t channels, filters;
    prt_act act;
    prt_op *reader; /* an activation that is the only reader; NULL: none */
} transposed;

/* ---- matching */

static bool find_axis(transposed *t, const prt_conv_transpose_attrs *a, uint32_t i)
{
    axis *x = &t->axis[i];
    x->in = t->x->type->dims[i + 2];
    x->kernel = t->w.dims[i + 2];
    x->stride = prt_i64s_at(a->strides, i, 1);
    x->begin = prt_i64s_at(a->pads, i, 0);
    const int64_t end = prt_i64s_at(a->pads, i + t->axes, 0) - prt_i64s_at(a->output_padding, i, 0);
    if (prt_i64s_at(a->dilations, i, 1) != 1 || x->kernel < x->stride || x->kernel > INT16_MAX ||
        x->begin > INT16_MAX || end < 0 || end > INT16_MAX ||
        (prt_dim_is_number(x->in) && (x->in < 1 || x->in > INT32_MAX)))
        return false;
    x->whole = x->kernel - x->begin - end == x->stride;
    x->out = prt_dim_is_number(x->in) ? (x->in - 1) * x->stride + x->kernel - x->begin - end
                                      : PRT_DIM_UNKNOWN;
    return !prt_dim_is_number(x->out) || x->out > 0;
}

/* Finds a single reader that is an activation, which is applied before the pixels are placed. */
static void find_reader(transposed *t, const prt_op *root)
{
    prt_op *reader = prt_value_used_once(&root->out[0]) ? root->out[0].uses->user : NULL;
    t->act = (prt_act){ .kind = PRT_ACT_none };
    if (reader != NULL && reader->graph == root->graph && reader->n_in == 1 && reader->n_out == 1 &&
        prt_fused_act_of(reader->def->id, reader->attrs, &t->act))
        t->reader = reader;
}

static bool match(transposed *t, const prt_op *root)
{
    const prt_conv_transpose_attrs *a = root->attrs;
    t->x = prt_op_input(root, 0);
    t->bias = prt_op_input(root, 2);
    if (!prt_to_nhwc_is_image(t->x) || !prt_match_is_f32(t->x) || t->x->type->rank > 2 + AXES ||
        !prt_match_constant(root, 1, &t->w) || t->w.dtype != PRT_DTYPE_f32 ||
        (int32_t)t->w.rank != t->x->type->rank || prt_tensor_count(&t->w) == 0 || a->group != 1 ||
        a->output_shape.count != 0 || (t->bias != NULL && !prt_match_is_f32(t->bias)) ||
        (a->auto_pad.size != 0 && !prt_str_is(a->auto_pad, "NOTSET")))
        return false;
    t->axes = t->w.rank - 2;
    t->channels = (size_t)t->w.dims[0];
    t->filters = (size_t)t->w.dims[1];
    for (uint32_t i = 0; i < t->axes; i++)
        if (!find_axis(t, a, i))
            return false;
    for (uint32_t i = 1; i < t->axes; i++)
        if (!prt_dim_is_number(t->axis[i].in))
            return false; /* placing pixels needs the row length */
    find_reader(t, root);
    return true;
}

/* ---- costs */

/* Returns the distances of the inputs that outputs r to end (of a stride) read, with pad `begin`.
 * If pads do not exceed kernel - stride, 0 is among them. */
static span span_of(const axis *x, int64_t begin, int64_t r, int64_t end)
{
    span s = { .begin = begin };
    for (; r < end; r++) {
        const int64_t tap = (r + begin) % x->stride, last = (r + begin) / x->stride;
        const int64_t first = last - (x->kernel - 1 - tap) / x->stride;
        s.first = first < s.first ? first : s.first;
        s.last = last > s.last ? last : s.last;
    }
    return s;
}

static int64_t taps_of(const span *s)
{
    return s->last - s->first + 1;
}

/* Returns the filters rounded up to whole vectors. */
static double lanes(size_t filters)
{
    return (double)((filters + LANES - 1) / LANES * LANES);
}

static double pixels_of(const transposed *t)
{
    double pixels = 1.0;
    for (uint32_t i = 0; i < t->axes; i++)
        pixels *= prt_dim_is_number(t->axis[i].in) ? (double)t->axis[i].in : MIN_PIXELS;
    return pixels;
}

static double kernel_of(const transposed *t)
{
    double taps = 1.0;
    for (uint32_t i = 0; i < t->axes; i++)
        taps *= (double)t->axis[i].kernel;
    return taps;
}

static size_t phases_of(const transposed *t)
{
    size_t phases = 1;
    for (uint32_t i = 0; i < t->axes; i++)
        phases *= (size_t)t->axis[i].stride;
    return phases;
}

/* Estimates the cost of one convolution for all phases, in lanes times taps. */
static double cost_of(prt_pass *p, const transposed *t, const span *s)
{
    const size_t filters = t->filters * phases_of(t);
    double taps = 1.0, pixels = 1.0;
    bool three = t->axes == 2;
    for (uint32_t i = 0; i < t->axes; i++) {
        const double in = prt_dim_is_number(t->axis[i].in) ? (double)t->axis[i].in : MIN_PIXELS;
        taps *= (double)taps_of(&s[i]);
        three = three && taps_of(&s[i]) == 3;
        pixels *= (in + (double)s[i].padded) / in;
    }
    if (three && prt_conv_algorithm_allowed(p, PRT_NHWC_winograd) && t->channels >= MIN_CHANNELS &&
        filters >= MIN_CHANNELS && pixels_of(t) >= MIN_PIXELS)
        taps *= LARGE_TILES;
    return lanes(filters) * taps * pixels;
}

/* Estimates the cost of one convolution for each phase. */
static double cost_separate(const transposed *t)
{
    return lanes(t->filters) * kernel_of(t) * (phases_of(t) > 1 ? SEPARATE : 1.0);
}

static double cost_unchanged(const transposed *t)
{
    return (double)t->filters * kernel_of(t) * UNCHANGED;
}

/* ---- the convolutions ---- */

/* Phases that one convolution computes: `count` phases along each axis, from r on. */
typedef struct part {
    const transposed *t;
    span span[AXES];
    int64_t r[AXES], count[AXES];
} part;

/* Returns the tap of W that is tap `tap` of the convolution for phase `phase`; -1: the tap is 0. */
static int64_t source_of(const part *q, size_t phase, size_t tap)
{
    int64_t at = 0, step = 1;
    for (uint32_t i = q->t->axes; i-- > 0;) {
        const axis *x = &q->t->axis[i];
        const span *s = &q->span[i];
        const size_t taps = (size_t)taps_of(s), count = (size_t)q->count[i];
        const int64_t distance = s->first + (int64_t)(tap % taps);
        const int64_t k = q->r[i] + (int64_t)(phase % count) + s->begin - distance * x->stride;
        if (k < 0 || k >= x->kernel)
            return -1;
        at += k * step;
        step *= x->kernel;
        tap /= taps;
        phase /= count;
    }
    return at;
}

/* Writes the weights [phases, filters, channels, taps] into zeros, from [channels, filters,
 * taps]. */
static void pack_weights(const part *q, size_t phases, size_t taps, float *to)
{
    const transposed *t = q->t;
    const size_t all = prt_dims_product(t->w.dims, 2, t->w.rank);
    for (size_t phase = 0; phase < phases; phase++)
        for (size_t tap = 0; tap < taps; tap++) {
            const int64_t at = source_of(q, phase, tap);
            const float *from = (const float *)t->w.data + (at < 0 ? 0 : at);
            for (size_t f = 0; f < t->filters && at >= 0; f++)
                for (size_t c = 0; c < t->channels; c++)
                    to[((phase * t->filters + f) * t->channels + c) * taps + tap] =
                        from[(c * t->filters + f) * all];
        }
}

/* Builds one convolution, channels first. NULL: no memory or a failure. */
static prt_value *build_part(prt_pass *p, prt_build *b, const part *q)
{
    const transposed *t = q->t;
    int64_t dims[2 + AXES] = { (int64_t)t->filters, (int64_t)t->channels }, pads[2 * AXES];
    int64_t phases = 1;
    size_t taps = 1;
    for (uint32_t i = 0; i < t->axes; i++) {
        const span *s = &q->span[i];
        phases *= q->count[i];
        dims[2 + i] = taps_of(s);
        pads[i] = -s->first;
        pads[t->axes + i] = s->last + s->padded;
        taps *= (size_t)dims[2 + i];
    }
    dims[0] *= phases;
    const size_t count = (size_t)dims[0] * t->channels * taps;
    float *w = PRT_NEW_N(p->arena, float, count);
    if (w == NULL)
        return NULL;
    pack_weights(q, (size_t)phases, taps, w);
    prt_fused_conv_attrs attrs = PRT_ATTRS_OF(fused_conv);
    const prt_i64s all = { .data = pads, .count = 2 * t->axes };
    PRT_ATTR_SET(attrs, fused_conv, pads, all);
    if (t->reader != NULL) {
        PRT_ATTR_SET(attrs, fused_conv, activation, t->act.kind);
        PRT_ATTR_SET(attrs, fused_conv, alpha, t->act.a);
        PRT_ATTR_SET(attrs, fused_conv, beta, t->act.b);
    }
    prt_value *in[3] = { t->x, prt_build_tensor(b, PRT_DTYPE_f32, t->w.rank, dims, w), t->bias };
    if (t->bias != NULL && phases > 1)
        in[2] = prt_build_binary(b, PRT_OP_tile, t->bias, prt_build_i64s(b, 1, &phases));
    return prt_build_op(b, PRT_OP_fused_conv, &attrs, t->bias != NULL ? 3 : 2, in);
}

/* Builds one convolution for each phase and concatenates the results as channels. */
static prt_value *build_separate(prt_pass *p, prt_build *b, const transposed *t)
{
    prt_value *parts[MAX_PHASES];
    const size_t phases = phases_of(t);
    for (size_t k = 0; k < phases; k++) {
        part q = { .t = t };
        size_t rest = k;
        for (uint32_t i = t->axes; i-- > 0; rest /= (size_t)t->axis[i].stride) {
            q.r[i] = (int64_t)(rest % (size_t)t->axis[i].stride);
            q.count[i] = 1;
            q.span[i] = span_of(&t->axis[i], t->axis[i].begin, q.r[i], q.r[i] + 1);
        }
        parts[k] = build_part(p, b, &q);
        if (parts[k] == NULL)
            return NULL;
    }
    prt_concat_attrs attrs = PRT_ATTRS_OF(concat);
    PRT_ATTR_SET(attrs, concat, axis, 1);
    return phases > 1 ? prt_build_op(b, PRT_OP_concat, &attrs, (uint32_t)phases, parts) : parts[0];
}

/* ---- placing pixels */

/* Cuts off the outputs in the pads. */
static prt_value *cut_pads(prt_build *b, const transposed *t, const span *s, prt_value *y)
{
    int64_t first[AXES], end[AXES], axes[AXES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->axes; i++) {
        const axis *x = &t->axis[i];
        if (x->whole && s[i].begin == x->begin && s[i].padded == 0)
            continue;
        first[n] = x->begin - s[i].begin;
        end[n] = first[n] + x->out;
        axes[n++] = i + 1;
    }
    prt_value *in[4] = { y, prt_build_i64s(b, n, first), prt_build_i64s(b, n, end),
        prt_build_i64s(b, n, axes) };
    return n != 0 ? prt_build_op(b, PRT_OP_slice, NULL, 4, in) : y;
}

static bool replace(prt_build *b, prt_op *root, const transposed *t, const span *s, prt_value *y)
{
    const int64_t filters = (int64_t)t->filters;
    int64_t size[AXES], block[AXES];
    if (y == NULL)
        return false;
    y = prt_to_nhwc_last(b, y);
    for (uint32_t i = 0; i < t->axes; i++) {
        const axis *x = &t->axis[i];
        block[i] = x->stride;
        size[i] = prt_dim_is_number(x->in) ? (x->in + s[i].padded) * x->stride : -1;
    }
    if (phases_of(t) > 1)
        y = prt_to_nhwc_place_blocks(b, y, t->axes, block, size, filters);
    prt_value *image = y != NULL ? cut_pads(b, t, s, y) : NULL;
    prt_to_nhwc_replace(b, t->reader != NULL ? t->reader : root, 0, image);
    return true;
}

bool prt_to_nhwc_conv_transpose(prt_pass *p, prt_build *b, prt_op *root)
{
    transposed t = { .reader = NULL };
    span exact[AXES], full[AXES];
    bool whole = true, known = true;
    if (!match(&t, root))
        return false;
    for (uint32_t i = 0; i < t.axes; i++) {
        const axis *x = &t.axis[i];
        whole = whole && x->whole;
        known = known && prt_dim_is_number(x->in);
        exact[i] = span_of(x, x->begin, 0, x->stride);
        full[i] = span_of(x, 0, 0, x->stride);
        full[i].padded = -full[i].first;
    }
    const double together = whole ? cost_of(p, &t, exact) : HUGE_VAL;
    const double padded = known ? cost_of(p, &t, full) : HUGE_VAL;
    const double separate = whole && phases_of(&t) <= MAX_PHASES ? cost_separate(&t) : HUGE_VAL;
    const double least = fmin(together, fmin(padded, separate));
    const span *s = least == padded ? full : exact;
    part q = { .t = &t };
    size_t size = t.channels * t.filters * sizeof(float);
    for (uint32_t i = 0; i < t.axes; i++) {
        q.span[i] = s[i];
        q.count[i] = t.axis[i].stride;
        size *= (size_t)(least == separate ? t.axis[i].kernel : taps_of(&s[i]) * q.count[i]);
    }
    if (least >= cost_unchanged(&t) || !prt_pass_reserve(p, size))
        return false;
    return replace(b, root, &t, s,
        least == separate ? build_separate(p, b, &t) : build_part(p, b, &q));
}
