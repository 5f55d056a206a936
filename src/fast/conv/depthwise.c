/* SPDX-License-Identifier: MIT */
/*
 * depthwise.c — depthwise NCHW convolution: each output row is a weighted sum of shifted input rows
 * (the kernel `rows.taps`).
 */
#include "fast/conv/conv.h"

#include "fast/conv/planes.h"
#include "fast/parallel.h"

typedef struct depthwise_work {
    const prt_conv_fast *v;
    prt_planes planes;
} depthwise_work;

static void run_filter(const void *user, size_t item, float *scratch)
{
    const depthwise_work *j = user;
    const prt_conv_fast *v = j->v;
    const prt_planes *p = &j->planes;
    const size_t filters = v->groups * v->filters, filter = item % filters, n = item / filters;
    const size_t channel = filter / v->filters, taps = p->kernel_h * p->kernel_w;
    const float *x = v->x + (n * v->groups + channel) * p->in_h * p->in_w;
    const float *plane = prt_planes_arrange(p, x, 0.0f, scratch);
    const float *from[PRT_PLANE_TAPS];
    const prt_act none = { PRT_ACT_none, 0, 0 };
    prt_taps t = { .n = p->out_w,
        .taps = taps,
        .from = from,
        .w = v->w + filter * taps,
        .bias = v->bias != NULL ? v->bias[filter] : 0.0f,
        .act = v->residual == NULL ? v->act : none };
    for (size_t y = 0; y < p->out_h; y++) {
        prt_planes_taps(p, plane, y, from);
        t.y = v->y + (item * p->out_h + y) * p->out_w;
        v->kern->rows.taps(&t);
        if (v->residual == NULL)
            continue;
        v->kern->rows.binary(PRT_BINARY_add, p->out_w, t.y, 1,
            v->residual + (item * p->out_h + y) * p->out_w, 1, t.y);
        v->kern->rows.act(&v->act, p->out_w, t.y, t.y);
    }
}

poprt_status prt_fast_depthwise(prt_eval *c, const prt_conv_fast *v, bool *done)
{
    depthwise_work j = { .v = v };
    if (!prt_planes_init(&j.planes, v->window))
        return prt_fast_use_reference(done);
    return prt_parallel_for(c, v->batch * v->groups * v->filters, prt_planes_size(&j.planes),
        run_filter, &j);
}
