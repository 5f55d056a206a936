/* SPDX-License-Identifier: MIT */
/* grad.c — gradients of plug-in operators: the hook of the row, and its functions for plug-ins. */
#include "plugin/internal.h"
#include "train/rule.h"

static prt_grad *grad_of(const poprt_grad *context)
{
    return (prt_grad *)(void *)(uintptr_t)context;
}

static poprt_graph *grad_graph(const poprt_grad *context)
{
    return (poprt_graph *)(void *)grad_of(context)->b->graph;
}

static poprt_node *grad_before(const poprt_grad *context)
{
    return (poprt_node *)(void *)grad_of(context)->b->before;
}

static poprt_node *grad_node(const poprt_grad *context)
{
    return (poprt_node *)(void *)grad_of(context)->op;
}

static poprt_value *grad_of_output(const poprt_grad *context, uint32_t output)
{
    const prt_grad *g = grad_of(context);
    return output < g->op->n_out ? (poprt_value *)(void *)g->out[output] : NULL;
}

static int32_t grad_wants(const poprt_grad *context, uint32_t input)
{
    const prt_grad *g = grad_of(context);
    return input < g->op->n_in && g->wanted[input];
}

static poprt_status grad_set(poprt_grad *context, uint32_t input, poprt_value *gradient)
{
    prt_grad *g = grad_of(context);
    prt_value *v = (prt_value *)(void *)gradient;
    if (input >= g->op->n_in)
        return prt_plugin_no_slot("input", input);
    if (v == NULL || v->graph != g->b->graph || (v->def != NULL && v->def->dead))
        return prt_fail(POPRT_E_ARG, NULL,
            "the gradient of input %u must be a value of the graph of the node", input);
    return prt_grad_set(g, input, v);
}

poprt_status prt_plugin_run_grad(prt_grad *g)
{
    const prt_plugin_op *op = prt_plugin_op_of(g->op->def);
    prt_graph *graph = g->b->graph;
    prt_plugin_enter();
    const poprt_status status = op->record.grad(&op->plugin->all->host, (poprt_grad *)(void *)g);
    PRT_TRY(prt_plugin_leave(op->plugin, "grad", prt_op_label(g->op), status));
    /* New nodes without a name get that of the node whose gradient they compute. */
    prt_op *last = g->b->before != NULL ? g->b->before->prev : graph->last;
    for (; last != NULL && last != g->last; last = last->prev)
        if (last->origin.size == 0)
            last->origin = g->op->origin;
    return POPRT_OK;
}

void prt_plugin_host_grads(poprt_host *host)
{
    host->grad_graph = grad_graph;
    host->grad_before = grad_before;
    host->grad_node = grad_node;
    host->grad_of_output = grad_of_output;
    host->grad_wants = grad_wants;
    host->grad_set = grad_set;
}
