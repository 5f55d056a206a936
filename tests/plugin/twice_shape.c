/* SPDX-License-Identifier: MIT */
/*
 * twice_shape.c — a plug-in with one shape function. The operator other.ops.Twice, which only
 * another runtime implements, doubles the first dimension of a tensor. Models with it can be
 * converted, and the types after it are known.
 */
#include "poprt/plugin.h"

static poprt_status infer(const poprt_host *host, poprt_infer *c)
{
    poprt_type type;
    const poprt_status status = host->infer_input(c, 0, &type);
    if (status != POPRT_OK)
        return status;
    if (type.rank == 0)
        return host->fail(POPRT_E_SHAPE, NULL, "a scalar cannot be twice as long");
    if (type.rank > 0)
        type.dims[0] = type.dims[0] >= 0 ? 2 * type.dims[0] : -1;
    return host->infer_output(c, 0, &type);
}

static const poprt_plugin_op twice = {
    .struct_size = sizeof(twice),
    .domain = "other.ops",
    .name = "Twice",
    .since = 1,
    .min_inputs = 1,
    .max_inputs = 1,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer,
};

static const poprt_plugin_op *const ops[] = { &twice };

static const poprt_plugin plugin = {
    .struct_size = sizeof(plugin),
    .abi = POPRT_PLUGIN_ABI,
    .name = "twice_shape",
    .version = "1.0",
    .ops = ops,
    .n_ops = 1,
};

const poprt_plugin *poprt_plugin_entry(const poprt_host *host)
{
    return host->abi >= POPRT_PLUGIN_ABI ? &plugin : NULL;
}
