/* SPDX-License-Identifier: MIT */
/*
 * broken.c — plug-ins that must be refused or must fail. The macro BROKEN, a letter, selects one.
 */
#include "poprt/plugin.h"

static poprt_status no_infer(const poprt_host *host, poprt_infer *c)
{
    (void)c;
    return host->fail(POPRT_E_SHAPE, NULL, "no shape is good enough");
}

static poprt_status infer(const poprt_host *host, poprt_infer *c)
{
    poprt_type type;
    const poprt_status status = host->infer_input(c, 0, &type);
    return status == POPRT_OK ? host->infer_output(c, 0, &type) : status;
}

/* Fails without a message and with an invalid status. */
static poprt_status eval(const poprt_host *host, poprt_eval *c)
{
    (void)host;
    (void)c;
    return 4711;
}

static const poprt_plugin_op op = {
    .struct_size = sizeof(op),
    .domain = BROKEN == 'd' ? "" : "custom.ops",
    .name = BROKEN == 'd' ? "Relu" : "LeakyRelu",
    .since = 1,
    .min_inputs = 1,
    .max_inputs = 1,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = BROKEN == 'i' ? no_infer : infer,
    .eval = eval,
};

static const poprt_plugin_op *const ops[] = { &op };

static const poprt_plugin plugin = {
    .struct_size = sizeof(plugin),
    .abi = BROKEN == 'v' ? POPRT_PLUGIN_ABI + 1 : POPRT_PLUGIN_ABI,
    .name = "broken",
    .version = "1.0",
    .ops = ops,
    .n_ops = 1,
};

#if BROKEN == 's'
POPRT_PLUGIN_EXPORT const poprt_plugin *another_entry(const poprt_host *host);
#define poprt_plugin_entry another_entry
#endif
const poprt_plugin *poprt_plugin_entry(const poprt_host *host)
{
    (void)host;
    return BROKEN == 'n' ? NULL : &plugin;
}
