/* SPDX-License-Identifier: MIT */
/*
 * pool.c — MaxPool and AveragePool of NCHW float32: each output row is the maximum, or the sum, of
 * shifted rows of a padded plane.
 */
#include <math.h>

#include "fast/conv/planes.h"
#include "fast/parallel.h"

typedef struct pool_work {
    const prt_kern *kern;
    prt_planes planes;
    const float *x, *ones;
    float *y, *factors; /* by output column: 1 / columns of the window inside the input; NULL:
                         * MaxPool */
    bool with_padding;  /* the average counts padding */
} pool_work;

/* Returns the kernel positions of window `o` that lie inside the input along one axis. */
static size_t inside(size_t o, size_t stride, int64_t begin, size_t kernel, size_t dilation,
    size_t in)
{
    size_t count = 0;
    for (size_t k = 0; k < kernel; k++) {
        const int64_t at = (int64_t)(o * stride + k * dilation) - begin;
        count += at >= 0 && at < (int64_t)in;
    }
    return count;
}

static void run_plane(const void *user, size_t item, float *scratch)
{
    const pool_work *j = user;
    const prt_planes *p = &j->planes;
    const float *x = j->x + item * p->in_h * p->in_w, *from[PRT_PLANE_TAPS];
    const float *plane = prt_planes_arrange(p, x, j->factors != NULL ? 0.0f : -INFINITY, scratch);
    const size_t taps = p->kernel_h * p->kernel_w;
    for (size_t y = 0; y < p->out_h; y++) {
        float *to = j->y + (item * p->out_h + y) * p->out_w;
        prt_planes_taps(p, plane, y, from);
        if (j->factors == NULL) {
            j->kern->rows.max(p->out_w, taps, from, to);
            continue;
        }
        const prt_taps t = { .n = p->out_w, .taps = taps, .from = from, .w = j->ones, .y = to };
        const size_t rows = j->with_padding
            ? p->kernel_h
            : inside(y, p->stride_h, p->top, p->kernel_h, p->dilation_h, p->in_h);
        j->kern->rows.taps(&t);
        j->kern->rows.binary(PRT_BINARY_mul, p->out_w, to, 1, j->factors, 1, to);
        j->kern->rows.scale(p->out_w, to, 1.0f / (float)(rows != 0 ? rows : 1), 0.0f, to);
    }
}

static poprt_status prepare_average(prt_eval *c, pool_work *j)
{
    const prt_planes *p = &j->planes;
    float *ones = prt_eval_scratch(c, p->kernel_h * p->kernel_w, sizeof(float));
    j->factors = prt_eval_scratch(c, p->out_w, sizeof(float));
    if (ones == NULL || j->factors == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < p->kernel_h * p->kernel_w; i++)
        ones[i] = 1.0f;
    for (size_t i = 0; i < p->out_w; i++) {
        const size_t n = j->with_padding
            ? p->kernel_w
            : inside(i, p->stride_w, p->left, p->kernel_w, p->dilation_w, p->in_w);
        j->factors[i] = 1.0f / (float)(n != 0 ? n : 1);
    }
    j->ones = ones;
    return POPRT_OK;
}

poprt_status prt_fast_pool(prt_eval *c, const prt_kern *k, bool *done)
{
    const bool max = c->def->id == PRT_OP_max_pool;
    const prt_max_pool_attrs *m = c->attrs;
    const prt_average_pool_attrs *a = c->attrs;
    if (!prt_fast_has(c, 0) || !prt_eval_wants(c, 0) || prt_eval_wants(c, 1) ||
        c->in[0]->rank < 3 || c->in[0]->rank > 4)
        return prt_fast_use_reference(done);
    const prt_tensor *x = c->in[0];
    prt_window_spec spec = PRT_WINDOW_SPEC(a);
    if (max)
        spec = (prt_window_spec)PRT_WINDOW_SPEC(m);
    spec.ceil_mode = (max ? m->ceil_mode : a->ceil_mode) != 0;
    prt_window window;
    prt_window_fill(NULL, &spec, x->rank - 2, x->dims + 2, NULL, &window);
    pool_work j = { .kern = k,
        .x = x->data,
        .y = c->out[0]->data,
        .with_padding = !max && a->count_include_pad != 0 && prt_window_is_padded(&window) };
    if (!prt_planes_init(&j.planes, &window) || (j.with_padding && prt_window_goes_beyond(&window)))
        return prt_fast_use_reference(done);
    if (!max)
        PRT_TRY(prepare_average(c, &j));
    return prt_parallel_for(c, prt_dims_product(x->dims, 0, 2), prt_planes_size(&j.planes),
        run_plane, &j);
}
