/* SPDX-License-Identifier: MIT */
/* saved_resolve.c — resolves what handles of a model stand for, and the order of a signature. */
#include <stdio.h>
#include <stdlib.h>

#include "tensorflow/saved_parts.h"

/* ---- the order of inputs and outputs */

/* Finds the node of the main graph that makes a tensor, behind identities. */
static poprt_status find_node(const prt_saved_model *m, prt_tf_graph *graph, prt_str tensor,
    bool through, prt_tf_edge *out)
{
    const prt_tf_body *body = &graph->main;
    if (!prt_tf_find_tensor(graph, body, tensor, out))
        return prt_fail(POPRT_E_PARSE, NULL,
            "signature '%.*s' has tensor '%.*s', which no node makes", PRT_STR_ARG(m->signature),
            PRT_STR_ARG(tensor));
    for (uint32_t i = 0; through && i < body->n_nodes; i++) {
        const prt_tf_node *node = &body->nodes[out->node];
        if (node->n_in == 0 || !prt_str_is(node->op, "Identity"))
            break;
        *out = node->in[0];
    }
    return POPRT_OK;
}

static int by_order(const void *a, const void *b)
{
    const prt_saved_port *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    const uint32_t size = x->name.size < y->name.size ? x->name.size : y->name.size;
    const int order = size != 0 ? memcmp(x->name.data, y->name.data, size) : 0;
    return order != 0 ? order : (x->name.size > y->name.size) - (x->name.size < y->name.size);
}

/* The outputs of a signature are results of one call, in most files; others have no order but that
 * of names. */
static poprt_status order_ports(prt_saved_model *m, prt_tf_graph *graph)
{
    prt_tf_edge call, edge;
    if (m->outputs.count == 0)
        return POPRT_OK;
    PRT_TRY(find_node(m, graph, m->outputs.data[0].tensor, true, &call));
    const prt_tf_node *node = &graph->main.nodes[call.node];
    const bool calls = prt_tf_attr_find(node->attrs, node->n_attrs, PRT_STR("f")) != NULL;
    for (size_t i = 0; i < m->outputs.count; i++) {
        PRT_TRY(find_node(m, graph, m->outputs.data[i].tensor, true, &edge));
        m->outputs.data[i].order = calls && edge.node == call.node ? edge.output : UINT32_MAX;
    }
    for (size_t i = 0; i < m->inputs.count; i++) {
        PRT_TRY(find_node(m, graph, m->inputs.data[i].tensor, false, &edge));
        uint32_t at = 0;
        while (at < node->n_in && node->in[at].node != edge.node)
            at++;
        m->inputs.data[i].order = calls && at < node->n_in ? at : UINT32_MAX;
    }
    if (m->inputs.count != 0)
        qsort(m->inputs.data, m->inputs.count, sizeof(*m->inputs.data), by_order);
    qsort(m->outputs.data, m->outputs.count, sizeof(*m->outputs.data), by_order);
    return POPRT_OK;
}

/* ---- names of inputs and outputs */

/* Returns the names of the arguments of the function that the signature calls. */
static prt_strs argument_names(const prt_saved_model *m, prt_tf_graph *graph)
{
    prt_tf_edge call;
    prt_tf_attr_value v;
    prt_tf_func func;
    const prt_strs none = { NULL, 0 };
    if (m->outputs.count == 0 ||
        find_node(m, graph, m->outputs.data[0].tensor, true, &call) != POPRT_OK)
        return none;
    const prt_tf_node *node = &graph->main.nodes[call.node];
    const prt_tf_attr *attr = prt_tf_attr_find(node->attrs, node->n_attrs, PRT_STR("f"));
    if (attr == NULL || prt_tf_attr_read(attr, &v) != POPRT_OK || v.kind != PRT_TF_ATTR_func ||
        prt_tf_func_read(m->arena, v.bytes, attr->depth + 1, &func) != POPRT_OK)
        return none;
    const prt_tf_function *fn = prt_tf_function_find(graph, func.name);
    return fn != NULL ? fn->body->arg_names : none;
}

/* Removes ":0" from the end of a name. */
static prt_str without_output(prt_str name)
{
    if (name.size > 2 && memcmp(name.data + name.size - 2, ":0", 2) == 0)
        name.size -= 2;
    return name;
}

static bool is_meant(const prt_saved_port *port, bool input, prt_strs arguments, prt_str name)
{
    char identity[32];
    if (prt_str_equal(port->name, name) || prt_str_equal(without_output(port->tensor), name))
        return true;
    if (input)
        return port->order < arguments.count && prt_str_equal(arguments.data[port->order], name);
    (void)snprintf(identity, sizeof(identity), port->order == 0 ? "Identity" : "Identity_%u",
        port->order);
    return port->order != UINT32_MAX && prt_str_is(name, identity);
}

poprt_status prt_saved_port_find(const prt_saved_model *m, prt_tf_graph *graph,
    const prt_saved_ports *ports, prt_str name, const prt_saved_port **out)
{
    const bool input = ports == &m->inputs;
    const prt_strs arguments = input ? argument_names(m, graph) : (prt_strs){ NULL, 0 };
    *out = NULL;
    for (size_t i = 0; i < ports->count; i++) {
        const prt_saved_port *port = &ports->data[i];
        if (!is_meant(port, input, arguments, without_output(name)) &&
            !prt_str_equal(port->tensor, name))
            continue;
        if (*out != NULL)
            return prt_fail(POPRT_E_ARG, NULL, "'%.*s' may mean '%.*s' or '%.*s'",
                PRT_STR_ARG(name), PRT_STR_ARG((*out)->name), PRT_STR_ARG(port->name));
        *out = port;
    }
    return POPRT_OK;
}

/* ---- */

poprt_status prt_saved_model_resolve(prt_saved_model *m, prt_tf_graph *graph)
{
    m->graph = graph;
    poprt_status status = order_ports(m, graph);
    if (status == POPRT_OK)
        status = prt_saved_objects_resolve(m, graph);
    return prt_fail_in_file(status, m->path);
}

static poprt_status fail_resource(const prt_saved_model *m, const prt_tf_node *node)
{
    char name[256];
    (void)snprintf(name, sizeof(name), "%.*s", PRT_STR_ARG(node->name));
    const poprt_status status = prt_fail(POPRT_E_NOT_FOUND, name, "%s",
        m->bundle == NULL
            ? "the model has no checkpoint (variables/variables.index) with contents for this node"
            : "neither the checkpoint nor the initialisation of the model has contents for this "
              "node");
    return prt_fail_in_file(status, m->path);
}

poprt_status prt_saved_resource_find(prt_saved_model *m, const prt_tf_node *node,
    const prt_saved_resource **out)
{
    const prt_tf_body *body = &m->graph->main;
    const bool main = node >= body->nodes && node < body->nodes + body->n_nodes;
    *out = main ? prt_map_find(&m->by_node, node->name) : NULL;
    if (*out != NULL)
        return POPRT_OK;
    if (!m->followed) {
        m->followed = true;
        PRT_TRY(prt_fail_in_file(prt_saved_effects_resolve(m, m->graph), m->path));
    }
    const prt_str name = prt_saved_resource_name(m->arena, node);
    if (name.data == NULL)
        return POPRT_E_NOMEM;
    *out = prt_map_find(&m->by_name, name);
    return *out != NULL ? POPRT_OK : fail_resource(m, node);
}
