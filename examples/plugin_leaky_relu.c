/* SPDX-License-Identifier: MIT */
/*
 * plugin_leaky_relu.c — a plug-in with one operator: custom.ops.LeakyRelu, y = x where x > 0, alpha
 * * x elsewhere. `infer` says that the output is like the input, `eval` computes it.
 */
#include "poprt/plugin.h"

static poprt_status infer(const poprt_host *host, poprt_infer *c)
{
    poprt_type type;
    const poprt_status status = host->infer_input(c, 0, &type);
    if (status != POPRT_OK)
        return status;
    if (type.dtype != POPRT_DTYPE_FLOAT32 && type.dtype != POPRT_DTYPE_UNDEFINED)
        return host->fail(POPRT_E_TYPE, NULL, "input 0 must be float32");
    type.dtype = POPRT_DTYPE_FLOAT32;
    return host->infer_output(c, 0, &type);
}

static poprt_status eval(const poprt_host *host, poprt_eval *c)
{
    poprt_attr alpha;
    poprt_tensor x, y;
    poprt_status status = host->eval_attr(c, "alpha", &alpha);
    if (status == POPRT_OK)
        status = host->eval_input(c, 0, &x);
    if (status == POPRT_OK)
        status = host->eval_output(c, 0, x.dtype, x.rank, x.dims, &y);
    if (status != POPRT_OK)
        return status;
    const float *from = (const float *)x.data;
    float *to = (float *)y.data;
    for (size_t i = 0; i < x.size / sizeof(float); i++)
        to[i] = from[i] > 0 ? from[i] : alpha.real * from[i];
    return POPRT_OK;
}

static const poprt_attr attrs[] = {
    { .name = "alpha", .kind = POPRT_ATTR_FLOAT, .real = 0.01f },
};

static const poprt_plugin_op leaky_relu = {
    .struct_size = sizeof(leaky_relu),
    .domain = "custom.ops",
    .name = "LeakyRelu",
    .since = 1,
    .flags = POPRT_OP_PURE,
    .min_inputs = 1,
    .max_inputs = 1,
    .min_outputs = 1,
    .max_outputs = 1,
    .attrs = attrs,
    .n_attrs = 1,
    .infer = infer,
    .eval = eval,
};

static const poprt_plugin_op *const ops[] = { &leaky_relu };

static const poprt_plugin plugin = {
    .struct_size = sizeof(plugin),
    .abi = POPRT_PLUGIN_ABI,
    .name = "leaky_relu",
    .version = "1.0",
    .ops = ops,
    .n_ops = 1,
};

const poprt_plugin *poprt_plugin_entry(const poprt_host *host)
{
    return host->abi >= POPRT_PLUGIN_ABI ? &plugin : NULL;
}
