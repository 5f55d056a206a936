/* SPDX-License-Identifier: MIT */
/*
 * packed_dense.c — a plug-in with an operator that is compiled: custom.ops.Dense, a product with
 * float32 weights, a bias, and HardSwish behind it.
 *
 *     y[i][j] = s(b[j] + sum over k of x[i][k] * w[k][j]),  s(v) = v * min(max(v / 6 + 0.5, 0), 1)
 *
 * `eval` says so in plain loops. Where the weights are a constant, `lower` packs them into panels
 * of eight columns, of which the kernel "panels" makes one an item: several threads share the
 * panels, and each adds up eight columns at once. The sums are the same, in the same order.
 */
#include "poprt/plugin.h"

enum { WIDE = 8 };

static poprt_status infer(const poprt_host *host, poprt_infer *c)
{
    poprt_type x, w;
    poprt_status status = host->infer_input(c, 0, &x);
    if (status == POPRT_OK)
        status = host->infer_input(c, 1, &w);
    if (status != POPRT_OK)
        return status;
    if ((x.rank >= 0 && x.rank != 2) || (w.rank >= 0 && w.rank != 2))
        return host->fail(POPRT_E_SHAPE, NULL, "inputs 0 and 1 must be matrices");
    if (x.rank == 2 && w.rank == 2 && x.dims[1] >= 0 && w.dims[0] >= 0 && x.dims[1] != w.dims[0])
        return host->fail(POPRT_E_SHAPE, NULL, "input 1 has not as many rows as input 0 columns");
    const poprt_type y = { .dtype = POPRT_DTYPE_FLOAT32,
        .rank = 2,
        .dims = { x.rank == 2 ? x.dims[0] : -1, w.rank == 2 ? w.dims[1] : -1 } };
    return host->infer_output(c, 0, &y);
}

static float finish(double sum)
{
    const float v = (float)sum;
    const float gate = v / 6.0f + 0.5f;
    return v * (gate < 0 ? 0 : gate > 1 ? 1 : gate);
}

static poprt_status check(const poprt_host *host, const poprt_tensor *x, const poprt_tensor *b,
    const poprt_tensor *w)
{
    if (x->dtype != POPRT_DTYPE_FLOAT32 || b->dtype != POPRT_DTYPE_FLOAT32 ||
        w->dtype != POPRT_DTYPE_FLOAT32)
        return host->fail(POPRT_E_TYPE, NULL, "inputs must be float32");
    if (b->rank != 1 || b->dims[0] != w->dims[1])
        return host->fail(POPRT_E_SHAPE, NULL, "input 2 has no element for each column");
    return POPRT_OK;
}

static poprt_status eval(const poprt_host *host, poprt_eval *c)
{
    poprt_tensor x, w, b, y;
    poprt_status status = host->eval_input(c, 0, &x);
    if (status == POPRT_OK)
        status = host->eval_input(c, 1, &w);
    if (status == POPRT_OK)
        status = host->eval_input(c, 2, &b);
    if (status == POPRT_OK)
        status = check(host, &x, &b, &w);
    if (status != POPRT_OK)
        return status;
    const int64_t dims[] = { x.dims[0], w.dims[1] };
    status = host->eval_output(c, 0, POPRT_DTYPE_FLOAT32, 2, dims, &y);
    if (status != POPRT_OK)
        return status;
    const size_t rows = (size_t)dims[0], columns = (size_t)dims[1], deep = (size_t)x.dims[1];
    const float *px = (const float *)x.data, *pw = (const float *)w.data;
    const float *pb = (const float *)b.data;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            double sum = (double)pb[j];
            for (size_t k = 0; k < deep; k++)
                sum += (double)px[i * deep + k] * (double)pw[k * columns + j];
            ((float *)y.data)[i * columns + j] = finish(sum);
        }
    return POPRT_OK;
}

/* ---- compiled */

/* Columns [p * 8, p * 8 + 8) row by row; columns past the end are zero already. */
static void pack(const poprt_tensor *w, float *to)
{
    const float *from = (const float *)w->data;
    const size_t deep = (size_t)w->dims[0], columns = (size_t)w->dims[1];
    for (size_t k = 0; k < deep; k++)
        for (size_t j = 0; j < columns; j++)
            to[(j / WIDE * deep + k) * WIDE + j % WIDE] = from[k * columns + j];
}

static poprt_status lower(const poprt_host *host, poprt_lower *c)
{
    poprt_tensor w;
    poprt_type b;
    void *packed = NULL;
    if (host->lower_constant(c, 1, &w) != POPRT_OK)
        return POPRT_OK; /* weights are not constant: eval runs */
    poprt_status status = host->lower_input(c, 2, &b);
    if (status != POPRT_OK)
        return status;
    if (w.dtype != POPRT_DTYPE_FLOAT32 || b.dtype != POPRT_DTYPE_FLOAT32 || b.rank != 1 ||
        b.dims[0] != w.dims[1] || w.size == 0)
        return POPRT_OK;
    const uint64_t panels = ((uint64_t)w.dims[1] + WIDE - 1) / WIDE;
    status = host->lower_kernel(c, "panels");
    if (status == POPRT_OK)
        status = host->lower_prepare(c, panels * (size_t)w.dims[0] * WIDE * sizeof(float), &packed);
    if (status != POPRT_OK)
        return status;
    pack(&w, (float *)packed);
    status = host->lower_drop(c, 1);
    if (status == POPRT_OK)
        status = host->lower_scratch(c, WIDE * sizeof(double));
    return status == POPRT_OK ? host->lower_items(c, panels) : status;
}

/* Computes row i of one panel. */
static void run_row(const float *x, const float *w, const float *b, size_t deep, size_t width,
    double *sums, float *y)
{
    for (size_t j = 0; j < WIDE; j++)
        sums[j] = j < width ? (double)b[j] : 0;
    for (size_t k = 0; k < deep; k++)
        for (size_t j = 0; j < WIDE; j++)
            sums[j] += (double)x[k] * (double)w[k * WIDE + j];
    for (size_t j = 0; j < width; j++)
        y[j] = finish(sums[j]);
}

/* Sizes are taken from the tensors of this run, which infer has checked. The prepared constants
 * must match them. */
static poprt_status run(const poprt_host *host, poprt_kernel *c, uint64_t first, uint64_t count)
{
    poprt_tensor x, b, y;
    const void *packed = NULL;
    poprt_status status = host->kernel_input(c, 0, &x);
    if (status == POPRT_OK)
        status = host->kernel_input(c, 2, &b);
    if (status == POPRT_OK)
        status = host->kernel_output(c, 0, &y);
    if (status != POPRT_OK)
        return status;
    const size_t rows = (size_t)y.dims[0], columns = (size_t)y.dims[1], deep = (size_t)x.dims[1];
    const size_t panels = (columns + WIDE - 1) / WIDE;
    if (host->kernel_items(c) != panels)
        return host->fail(POPRT_E_PLUGIN, NULL, "there is not one item for each panel");
    status = check(host, &x, &b, &y);
    if (status == POPRT_OK)
        status = host->kernel_constant(c, 0, panels * deep * WIDE * sizeof(float), &packed);
    double *sums =
        status == POPRT_OK ? (double *)host->kernel_scratch(c, WIDE * sizeof(double)) : NULL;
    if (sums == NULL)
        return status != POPRT_OK ? status : POPRT_E_PLUGIN;
    for (uint64_t p = first; p < first + count; p++) {
        const size_t j = (size_t)p * WIDE;
        const size_t width = columns - j < WIDE ? columns - j : WIDE;
        const float *w = (const float *)packed + (size_t)p * deep * WIDE;
        for (size_t i = 0; i < rows; i++)
            run_row((const float *)x.data + i * deep, w, (const float *)b.data + j, deep, width,
                sums, (float *)y.data + i * columns + j);
    }
    return POPRT_OK;
}

static const poprt_plugin_kernel panels = {
    .struct_size = sizeof(panels),
    .name = "panels",
    .run = run,
};

static const poprt_plugin_kernel *const kernels[] = { &panels };

static const poprt_plugin_op dense = {
    .struct_size = sizeof(dense),
    .domain = "custom.ops",
    .name = "Dense",
    .since = 1,
    .flags = POPRT_OP_PURE,
    .min_inputs = 3,
    .max_inputs = 3,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer,
    .eval = eval,
    .lower = lower,
    .kernels = kernels,
    .n_kernels = 1,
};

static const poprt_plugin_op *const ops[] = { &dense };

static const poprt_plugin plugin = {
    .struct_size = sizeof(plugin),
    .abi = POPRT_PLUGIN_ABI,
    .name = "packed_dense",
    .version = "1.0",
    .ops = ops,
    .n_ops = 1,
};

/* A host without kernels does not know `lower` either. */
const poprt_plugin *poprt_plugin_entry(const poprt_host *host)
{
    return host->abi >= POPRT_PLUGIN_ABI && host->struct_size >= sizeof(poprt_host) ? &plugin
                                                                                    : NULL;
}
