/* SPDX-License-Identifier: MIT */
/*
 * resize.c — Resize of float32 images, nearest and linear, along their last two axes (NCHW) or the
 * two before the last one (NHWC). Sources and weights are computed once for each axis. A row is
 * resized along its columns once and kept while output rows need it; rows are then blended by
 * vectors.
 */
#include "op/share/resize.h"

#include "fast/parallel.h"

#include "fast/fast.h"

enum {
    TAPS = 2,       /* inputs of an output along an axis */
    LEAST = 1 << 14 /* elements of an item, at least */
};

/* The two inputs of each output of an axis, and their weights; for nearest the first one counts. */
typedef struct axis_map {
    size_t in, out;
    size_t *at[TAPS];
    float *weight[TAPS];
} axis_map;

typedef struct resize_work {
    const prt_kern *kern;
    bool nearest;
    axis_map rows, columns;
    size_t channels; /* contiguous channels; 1: NCHW */
    size_t bands;    /* bands of an output plane */
    const float *x;
    float *y;
} resize_work;

static poprt_status alloc_map(prt_eval *c, const prt_resize_axis *axis, axis_map *map)
{
    *map = (axis_map){ .in = (size_t)axis->in, .out = (size_t)axis->out };
    for (size_t t = 0; t < TAPS; t++) {
        map->at[t] = prt_eval_scratch(c, map->out, sizeof(size_t));
        map->weight[t] = prt_eval_scratch(c, map->out, sizeof(float));
        if (map->at[t] == NULL || map->weight[t] == NULL)
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

static size_t clamp(const prt_resize_axis *axis, int64_t index)
{
    return index < 0 ? 0 : index >= axis->in ? (size_t)axis->in - 1 : (size_t)index;
}

/* Computes linear weights. If a weight is 0, the other input takes both places with half its
 * weight, so that 0 is never multiplied by an infinity. */
static void blend(const prt_resize_params *params, const prt_resize_axis *axis, double coordinate,
    axis_map *map, size_t k)
{
    double weights[TAPS];
    const int64_t first = prt_resize_weights(params, axis, coordinate, TAPS, weights);
    const bool one = weights[0] == 0.0 || weights[1] == 0.0;
    const double half = (weights[0] + weights[1]) / 2.0;
    for (size_t t = 0; t < TAPS; t++) {
        const size_t from = one ? (weights[0] == 0.0 ? 1 : 0) : t;
        map->at[t][k] = clamp(axis, first + (int64_t)from);
        map->weight[t][k] = (float)(one ? half : weights[t]);
    }
}

static poprt_status fill_map(prt_eval *c, const prt_resize_params *params,
    const prt_resize_axis *axis, axis_map *map)
{
    const bool same = prt_resize_is_identity(params, axis);
    PRT_TRY(alloc_map(c, axis, map));
    for (size_t k = 0; k < map->out; k++) {
        double coordinate = (double)k;
        if (!same)
            (void)prt_resize_coordinate(params, axis, (int64_t)k, &coordinate);
        if (same || params->mode == PRT_RESIZE_NEAREST) {
            map->at[0][k] = same ? k : (size_t)prt_resize_nearest(params, axis, coordinate);
            map->at[1][k] = map->at[0][k];
            map->weight[0][k] = map->weight[1][k] = 0.5f;
        } else {
            blend(params, axis, coordinate, map, k);
        }
    }
    return POPRT_OK;
}

static void widen_nearest(const resize_work *j, const float *x, float *y)
{
    const size_t *at = j->columns.at[0], n = j->channels;
    if (n > 1)
        for (size_t i = 0; i < j->columns.out; i++)
            j->kern->moves.copy(1, n, x + at[i] * n, n, y + i * n, n);
    else
        for (size_t i = 0; i < j->columns.out; i++)
            y[i] = x[at[i]];
}

static void widen_linear(const resize_work *j, const float *x, float *y)
{
    const axis_map *m = &j->columns;
    const size_t *a = m->at[0], *b = m->at[1], n = j->channels;
    const float *u = m->weight[0], *v = m->weight[1];
    for (size_t i = 0; i < m->out && n > 1; i++) {
        const float *from[TAPS] = { x + a[i] * n, x + b[i] * n };
        const float weights[TAPS] = { u[i], v[i] };
        const prt_taps taps = { .n = n, .taps = TAPS, .from = from, .w = weights, .y = y + i * n };
        j->kern->rows.taps(&taps);
    }
    for (size_t i = 0; i < m->out && n == 1; i++)
        y[i] = u[i] * x[a[i]] + v[i] * x[b[i]];
}

/* Repeated rows are copied. */
static void run_nearest(const resize_work *j, const float *x, float *y, size_t first, size_t end)
{
    const size_t *at = j->rows.at[0], wide = j->columns.out * j->channels;
    for (size_t k = first; k < end; k++) {
        if (k != first && at[k] == at[k - 1])
            memcpy(y + k * wide, y + (k - 1) * wide, wide * sizeof(float));
        else
            widen_nearest(j, x + at[k] * j->columns.in * j->channels, y + k * wide);
    }
}

/* Keeps the last two resized rows. */
static void run_linear(const resize_work *j, const float *x, float *y, size_t first, size_t end,
    float *scratch)
{
    const size_t wide = j->columns.out * j->channels;
    size_t kept[TAPS] = { SIZE_MAX, SIZE_MAX };
    for (size_t k = first; k < end; k++) {
        const size_t want[TAPS] = { j->rows.at[0][k], j->rows.at[1][k] };
        const float *from[TAPS];
        for (size_t t = 0; t < TAPS; t++) {
            /* Keeps the row that the other tap needs. */
            const size_t slot = kept[0] == want[t] ? 0
                : kept[1] == want[t]               ? 1
                : kept[0] == want[1 - t]           ? 1
                                                   : 0;
            if (kept[slot] != want[t])
                widen_linear(j, x + want[t] * j->columns.in * j->channels, scratch + slot * wide);
            kept[slot] = want[t];
            from[t] = scratch + slot * wide;
        }
        const float weights[TAPS] = { j->rows.weight[0][k], j->rows.weight[1][k] };
        const prt_taps taps = { .n = wide,
            .taps = TAPS,
            .from = from,
            .w = weights,
            .y = y + k * wide };
        j->kern->rows.taps(&taps);
    }
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const resize_work *j = user;
    const size_t plane = item / j->bands, band = item % j->bands;
    const float *x = j->x + plane * j->rows.in * j->columns.in * j->channels;
    float *y = j->y + plane * j->rows.out * j->columns.out * j->channels;
    const size_t first = prt_parallel_piece_begin(j->rows.out, j->bands, band);
    const size_t end = prt_parallel_piece_begin(j->rows.out, j->bands, band + 1);
    if (j->nearest)
        run_nearest(j, x, y, first, end);
    else
        run_linear(j, x, y, first, end, scratch);
}

poprt_status prt_fast_resize(prt_eval *c, const prt_kern *k, bool *done)
{
    prt_resize_params params;
    prt_resize_axis axis[PRT_MAX_RANK];
    prt_str bad;
    if (!prt_fast_has(c, 0) || !prt_eval_wants(c, 0) || c->in[0]->rank < 2 ||
        prt_tensor_count(c->in[0]) == 0 || prt_tensor_count(c->out[0]) == 0)
        return prt_fast_use_reference(done);
    const uint32_t rank = c->in[0]->rank;
    (void)prt_resize_read(c->attrs, &params, &bad);
    PRT_TRY(prt_resize_axes(c, &params, axis));
    const bool channels_last = rank == 4 && prt_resize_is_identity(&params, &axis[3]) &&
        !prt_resize_is_identity(&params, &axis[1]);
    const uint32_t last = rank - (channels_last ? 3 : 2);
    bool mine = params.mode != PRT_RESIZE_CUBIC && params.coords != PRT_COORDS_tf_crop_and_resize;
    for (uint32_t i = 0; i < last; i++)
        mine = mine && prt_resize_is_identity(&params, &axis[i]);
    for (uint32_t i = last; i < last + 2 && params.mode == PRT_RESIZE_LINEAR; i++)
        mine = mine && prt_resize_taps(&params, &axis[i]) == TAPS;
    if (!mine)
        return prt_fast_use_reference(done);
    resize_work j = { .kern = k,
        .nearest = params.mode == PRT_RESIZE_NEAREST,
        .x = c->in[0]->data,
        .y = c->out[0]->data,
        .channels = channels_last ? (size_t)c->in[0]->dims[3] : 1 };
    PRT_TRY(fill_map(c, &params, &axis[last], &j.rows));
    PRT_TRY(fill_map(c, &params, &axis[last + 1], &j.columns));
    const size_t wanted =
        prt_parallel_balanced_pieces(c, j.rows.out * j.columns.out * j.channels, LEAST);
    j.bands = wanted < j.rows.out ? wanted : j.rows.out;
    return prt_parallel_for(c, prt_dims_product(c->in[0]->dims, 0, last) * j.bands,
        j.nearest ? 0 : TAPS * j.columns.out * j.channels, run_item, &j);
}
