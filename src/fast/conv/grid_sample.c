/* SPDX-License-Identifier: MIT */
/*
 * grid_sample.c — GridSample of images, linear, padding mode zeros or border. The four neighbours
 * and weights of a position are computed once for all channels.
 */
#include <math.h>

#include "fast/fast.h"
#include "fast/parallel.h"

enum {
    POINTS = 512,     /* positions of an item */
    TAPS = 4,         /* neighbours of a position */
    LARGEST = 1 << 24 /* height and width, up to which float32 holds positions exactly */
};

/* Indices into a plane, negative for zero padding, and their weights. */
typedef struct tap {
    int32_t at[TAPS];
    float weight[TAPS];
} tap;

typedef struct grid_sample_work {
    const float *x, *grid;
    float *y;
    size_t channels, points, pieces;
    int32_t dims[2];
    bool corners, zeros;
} grid_sample_work;

/* Returns the position of a grid coordinate on an axis. NaN and large values become finite. */
static float position(const grid_sample_work *j, uint32_t axis, float g)
{
    const float size = (float)j->dims[axis], far = 2.0f * LARGEST;
    const float at =
        j->corners ? (g + 1.0f) / 2.0f * (size - 1.0f) : ((g + 1.0f) * size - 1.0f) / 2.0f;
    if (isnan(at)) /* as in the reference */
        return j->zeros ? -2.0f : 0.0f;
    return at > -far ? at < far ? at : far : -far;
}

static int32_t index_of(const grid_sample_work *j, uint32_t axis, int32_t at)
{
    const int32_t last = j->dims[axis] - 1;
    if (at >= 0 && at <= last)
        return at;
    return j->zeros ? -1 : at < 0 ? 0 : last;
}

/* Finds the neighbours of a grid position. The grid names the last axis first. */
static tap find(const grid_sample_work *j, const float *grid)
{
    tap t;
    int32_t at[2][2];
    float weight[2][2];
    for (uint32_t axis = 0; axis < 2; axis++) {
        const float x = position(j, axis, grid[1 - axis]), whole = floorf(x);
        for (int32_t k = 0; k < 2; k++)
            at[axis][k] = index_of(j, axis, (int32_t)whole + k);
        weight[axis][1] = x - whole;
        weight[axis][0] = 1.0f - weight[axis][1];
    }
    for (uint32_t k = 0; k < TAPS; k++) {
        const int32_t row = at[0][k / 2], column = at[1][k % 2];
        t.at[k] = row < 0 || column < 0 ? -1 : row * j->dims[1] + column;
        t.weight[k] = weight[0][k / 2] * weight[1][k % 2];
    }
    return t;
}

static float interpolate(const tap *t, const float *plane)
{
    float sum = 0.0f;
    if ((t->at[0] | t->at[1] | t->at[2] | t->at[3]) >= 0)
        return t->weight[0] * plane[t->at[0]] + t->weight[1] * plane[t->at[1]] +
            (t->weight[2] * plane[t->at[2]] + t->weight[3] * plane[t->at[3]]);
    for (uint32_t k = 0; k < TAPS; k++)
        if (t->at[k] >= 0)
            sum += t->weight[k] * plane[t->at[k]];
    return sum;
}

static void run_piece(const void *user, size_t item, float *scratch)
{
    const grid_sample_work *j = user;
    const size_t n = item / j->pieces, piece = item % j->pieces;
    const size_t first = prt_parallel_piece_begin(j->points, j->pieces, piece);
    const size_t count = prt_parallel_piece_begin(j->points, j->pieces, piece + 1) - first;
    const size_t size = (size_t)j->dims[0] * (size_t)j->dims[1];
    tap *taps = (tap *)(void *)scratch;
    for (size_t i = 0; i < count; i++)
        taps[i] = find(j, j->grid + 2 * (n * j->points + first + i));
    for (size_t ch = n * j->channels; ch < (n + 1) * j->channels; ch++) {
        const float *plane = j->x + ch * size;
        float *y = j->y + ch * j->points + first;
        for (size_t i = 0; i < count; i++)
            y[i] = interpolate(&taps[i], plane);
    }
}

poprt_status prt_fast_grid_sample(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_grid_sample_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const bool zeros = prt_str_is(a->padding_mode, "zeros");
    (void)k;
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_fast_has_output(c) || x->rank != 4 ||
        !prt_str_is(a->mode, "linear") || (!zeros && !prt_str_is(a->padding_mode, "border")) ||
        prt_tensor_count(x) == 0 || prt_tensor_count(c->out[0]) == 0 || x->dims[2] > LARGEST ||
        x->dims[3] > LARGEST || x->dims[2] * x->dims[3] > INT32_MAX)
        return prt_fast_use_reference(done);
    grid_sample_work j = { .x = x->data,
        .grid = c->in[1]->data,
        .y = c->out[0]->data,
        .channels = (size_t)x->dims[1],
        .points = prt_dims_product(c->out[0]->dims, 2, 4),
        .dims = { (int32_t)x->dims[2], (int32_t)x->dims[3] },
        .corners = a->align_corners != 0,
        .zeros = zeros };
    j.pieces = (j.points + POINTS - 1) / POINTS;
    return prt_parallel_for(c, (size_t)x->dims[0] * j.pieces, POINTS * sizeof(tap) / sizeof(float),
        run_piece, &j);
}
