/* SPDX-License-Identifier: MIT */
/* conv_core.c — shape inference and the tiled product of convolutions. */
#include "op/share/conv_core.h"

#include "op/share/gemm_tiles.h"

/* Checks the channels of the input against the weights and the groups. */
static poprt_status check_channels(prt_infer *c, prt_conv_slots s, int64_t group, int64_t *filters)
{
    const int64_t m = prt_infer_dim(c, s.w, 0), per_group = prt_infer_dim(c, s.w, 1);
    int64_t channels;
    if (group < 1 || group > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "group is %lld; accepted: 1 to 2147483647",
            (long long)group);
    if (prt_dim_is_number(m) && m % group != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld filters are not divisible by %lld groups",
            (long long)m, (long long)group);
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, s.x, 1), prt_dim_mul(c->dims, per_group, group),
        "number of channels", &channels));
    if (s.bias != UINT32_MAX)
        PRT_TRY(prt_infer_vector(c, s.bias, m));
    *filters = m;
    return POPRT_OK;
}

poprt_status prt_conv_infer(prt_infer *c, prt_conv_slots s, const prt_window_spec *spec,
    int64_t group, int32_t dtype)
{
    int64_t dims[PRT_MAX_RANK], kernel[PRT_MAX_SPATIAL], in[PRT_MAX_SPATIAL];
    int32_t rank = prt_infer_ranked(c, s.x) ? c->in[s.x].rank
        : prt_infer_ranked(c, s.w)          ? c->in[s.w].rank
        : spec->kernel.count != 0           ? (int32_t)spec->kernel.count + 2
                                            : PRT_RANK_UNKNOWN;
    if (rank < 0)
        return prt_infer_unranked(c, 0, dtype, rank);
    if (rank < 3 || rank > PRT_MAX_RANK)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; accepted: 3 to %d", rank,
            PRT_MAX_RANK);
    const uint32_t spatial = (uint32_t)rank - 2;
    PRT_TRY(prt_infer_rank(c, s.x, rank));
    PRT_TRY(prt_infer_rank(c, s.w, rank));
    PRT_TRY(prt_window_check(c, spec, spatial));
    PRT_TRY(prt_window_kernel(c, s.w, spec, spatial, kernel));
    PRT_TRY(check_channels(c, s, group, &dims[1]));
    for (uint32_t i = 0; i < spatial; i++)
        in[i] = prt_infer_dim(c, s.x, i + 2);
    prt_window w;
    prt_window_fill(c->dims, spec, spatial, in, kernel, &w);
    dims[0] = prt_infer_dim(c, s.x, 0);
    memcpy(dims + 2, w.out, spatial * sizeof(int64_t));
    return prt_infer_exact(c, 0, dtype, rank, dims);
}

static poprt_status load_weights(prt_eval *c, prt_conv *v, const prt_tensor *w,
    const prt_tensor *zeros)
{
    double *to = prt_eval_reals(c, w);
    if (to == NULL)
        return POPRT_E_NOMEM;
    v->weights = to;
    if (zeros == NULL)
        return POPRT_OK;
    const size_t filters = v->groups * v->filters;
    const bool each = prt_tensor_count(zeros) != 1;
    for (size_t m = 0; m < filters; m++) {
        double zero;
        prt_reals_load(zeros->dtype, zeros->data, each ? m : 0, 1, 1, &zero);
        for (size_t k = 0; k < v->depth; k++)
            to[m * v->depth + k] -= zero;
    }
    return POPRT_OK;
}

poprt_status prt_conv_init(prt_eval *c, prt_conv *v, prt_conv_slots s, const prt_window_spec *spec,
    int64_t group, const prt_tensor *zeros)
{
    const prt_tensor *x = c->in[s.x], *w = c->in[s.w];
    const uint32_t spatial = x->rank - 2;
    *v = (prt_conv){ .x = x,
        .y = c->out[0],
        .source = prt_window_source,
        .gather = prt_conv_gather,
        .store = prt_conv_store };
    prt_window_fill(NULL, spec, spatial, x->dims + 2, w->dims + 2, &v->window);
    v->batch = (size_t)x->dims[0];
    v->groups = (size_t)group;
    v->channels = (size_t)w->dims[1];
    v->filters = (size_t)w->dims[0] / v->groups;
    v->taps = prt_dims_product(w->dims, 2, w->rank);
    v->depth = v->channels * v->taps;
    v->in_positions = prt_dims_product(x->dims, 2, x->rank);
    v->positions = prt_dims_product(c->out[0]->dims, 2, x->rank);
    if (s.bias != UINT32_MAX && prt_eval_has(c, s.bias) &&
        (v->bias = prt_eval_reals(c, c->in[s.bias])) == NULL)
        return POPRT_E_NOMEM;
    return load_weights(c, v, w, zeros);
}

void prt_conv_gather(const prt_conv *v, size_t n, size_t g, size_t first, size_t count,
    double *panel)
{
    int64_t out[PRT_TILE_COLS][PRT_MAX_SPATIAL], tap[PRT_MAX_SPATIAL] = { 0 };
    size_t from[PRT_TILE_COLS];
    (void)n;
    (void)g;
    for (size_t j = 0; j < count; j++)
        prt_unravel(first + j, v->window.rank, v->window.out, out[j]);
    for (size_t t = 0; t < v->taps; t++) {
        for (size_t j = 0; j < count; j++)
            from[j] = v->source(&v->window, out[j], tap);
        for (size_t ch = 0; ch < v->channels; ch++) {
            const double *row = v->plane + ch * v->in_positions;
            for (size_t j = 0; j < count; j++)
                panel[prt_tile_at(v->depth, ch * v->taps + t, j)] =
                    from[j] == SIZE_MAX ? 0.0 : row[from[j]];
        }
        (void)prt_at_next(v->window.rank, v->window.kernel, tap);
    }
}

void prt_conv_store(const prt_conv *v, size_t n, size_t filter, size_t first, size_t count,
    double *sums)
{
    if (v->bias != NULL)
        for (size_t j = 0; j < count; j++)
            sums[j] += v->bias[filter];
    prt_reals_store(v->y->dtype, v->y->data, prt_conv_at(v, n, filter, first), 1, count, sums);
}

/* The product of one image and group. */
typedef struct group_run {
    const prt_conv *v;
    size_t n, g;
} group_run;

/* Computes a tile of output positions for all filters. */
static void run_tile(const void *user, size_t tile, double *panel)
{
    const group_run *r = user;
    const prt_conv *v = r->v;
    double sums[PRT_TILE_ROWS][PRT_TILE_COLS];
    const size_t first = tile * PRT_TILE_COLS, left = v->positions - first;
    const size_t count = left < PRT_TILE_COLS ? left : PRT_TILE_COLS;
    v->gather(v, r->n, r->g, first, count, panel);
    for (size_t m = 0; m < v->filters; m += PRT_TILE_ROWS) {
        const size_t rows = v->filters - m < PRT_TILE_ROWS ? v->filters - m : PRT_TILE_ROWS;
        const size_t filter = r->g * v->filters + m;
        prt_tile_product(rows, count, v->depth, v->weights + filter * v->depth, panel, sums);
        for (size_t i = 0; i < rows; i++)
            v->store(v, r->n, filter + i, first, count, sums[i]);
    }
}

static poprt_status run_group(prt_eval *c, prt_conv *v, size_t n, size_t g, double *panels)
{
    const size_t elements = v->channels * v->in_positions;
    prt_reals_load(v->x->dtype, v->x->data, (n * v->groups + g) * elements, 1, elements, v->plane);
    if (v->zero != 0.0)
        for (size_t i = 0; i < elements; i++)
            v->plane[i] -= v->zero;
    const group_run run = { v, n, g };
    const prt_gemm_tiles tiles = { .count = (v->positions + PRT_TILE_COLS - 1) / PRT_TILE_COLS,
        .depth = v->depth,
        .run = run_tile,
        .user = &run };
    return prt_gemm_tiles_run(c, &tiles, panels);
}

poprt_status prt_conv_run(prt_eval *c, prt_conv *v)
{
    if (prt_tensor_count(v->y) == 0)
        return POPRT_OK;
    double *panels = prt_gemm_tiles_panels(c, v->depth);
    v->plane = prt_eval_scratch(c, v->channels, v->in_positions * sizeof(double));
    if (panels == NULL || v->plane == NULL)
        return POPRT_E_NOMEM;
    for (size_t n = 0; n < v->batch; n++)
        for (size_t g = 0; g < v->groups; g++)
            PRT_TRY(run_group(c, v, n, g, panels));
    return POPRT_OK;
}
