/* SPDX-License-Identifier: MIT */
/*
 * plugin_leaky_relu.c — a plug-in with one operator: custom.ops.LeakyRelu, y = x where x > 0, alpha
 * * x elsewhere. `infer` says that the output is like the input, `eval` computes it, and `grad`
 * builds its gradient from ordinary operators.
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

static poprt_status add_scalar(const poprt_host *host, const poprt_grad *c, float value,
    poprt_value **out)
{
    const poprt_tensor scalar = { .data = &value,
        .size = sizeof(value),
        .dtype = POPRT_DTYPE_FLOAT32 };
    return host->graph_add_constant(host->grad_graph(c), NULL, &scalar, out);
}

/* Adds a node of ai.onnx with one output, which becomes *out. */
static poprt_status add_node(const poprt_host *host, const poprt_grad *c, const char *op_type,
    uint32_t n, poprt_value *const *inputs, poprt_value **out)
{
    const poprt_node_form form = { .struct_size = sizeof(form),
        .op_type = op_type,
        .inputs = inputs,
        .n_inputs = n,
        .n_outputs = 1 };
    poprt_node *node;
    const poprt_status status =
        host->graph_add_node(host->grad_graph(c), host->grad_before(c), &form, &node);
    if (status == POPRT_OK)
        *out = host->node_output(node, 0);
    return status;
}

/* dx = Where(x > 0, dy, alpha * dy) */
static poprt_status grad(const poprt_host *host, poprt_grad *c)
{
    poprt_value *x = host->node_input(host->grad_node(c), 0), *dy = host->grad_of_output(c, 0);
    poprt_value *zero = NULL, *alpha = NULL, *positive = NULL, *scaled = NULL, *dx = NULL;
    poprt_attr attr;
    poprt_status status = host->node_attr(host->grad_node(c), "alpha", &attr);
    if (status == POPRT_OK)
        status = add_scalar(host, c, 0.0f, &zero);
    if (status == POPRT_OK)
        status = add_scalar(host, c, attr.real, &alpha);
    if (status == POPRT_OK)
        status = add_node(host, c, "Greater", 2, (poprt_value *const[]){ x, zero }, &positive);
    if (status == POPRT_OK)
        status = add_node(host, c, "Mul", 2, (poprt_value *const[]){ alpha, dy }, &scaled);
    if (status == POPRT_OK)
        status = add_node(host, c, "Where", 3, (poprt_value *const[]){ positive, dy, scaled }, &dx);
    return status == POPRT_OK ? host->grad_set(c, 0, dx) : status;
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
    .grad = grad,
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
