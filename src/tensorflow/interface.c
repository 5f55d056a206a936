/* SPDX-License-Identifier: MIT */
/* interface.c — chooses the inputs and outputs of a GraphDef, and makes those of the model. */
#include "tensorflow/interface.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/nearest.h"
#include "ir/build_ops.h"
#include "tensorflow/saved_model.h"

/* ---- types of placeholders */

static void read_placeholder(prt_tf_converter *c, const prt_tf_node *node, prt_tf_input *in)
{
    enum { SCALARS = 24 }; /* producers before this one write [] for an unknown shape */
    prt_tf_attr_value v;
    const prt_tf_attr *attr = prt_tf_attr_find(node->attrs, node->n_attrs, PRT_STR("shape"));
    in->dtype = prt_tf_output_type(c, node, in->edge.output);
    if (attr == NULL || prt_tf_attr_read(attr, &v) != POPRT_OK || v.kind != PRT_TF_ATTR_shape ||
        prt_tf_shape_read(v.bytes, attr->depth + 1, &in->rank, in->dims) != POPRT_OK ||
        (in->rank == 0 && c->graph->producer < SCALARS))
        in->rank = PRT_RANK_UNKNOWN;
}

/* ---- names */

static poprt_status no_tensor(prt_tf_converter *c, const char *option, prt_str name)
{
    const prt_tf_body *body = &c->graph->main;
    const char **names = PRT_NEW_N(c->arena, const char *, body->n_nodes);
    char *word = prt_arena_text(c->arena, name.data, name.size);
    if (names == NULL || word == NULL)
        return POPRT_E_NOMEM;
    word[strcspn(word, ":")] = '\0';
    for (uint32_t i = 0; i < body->n_nodes; i++)
        if ((names[i] = prt_arena_text(c->arena, body->nodes[i].name.data,
                 body->nodes[i].name.size)) == NULL)
            return POPRT_E_NOMEM;
    return prt_fail_nearest(word, names, body->n_nodes, "%s: the graph has no tensor of this name",
        option);
}

/* Returns the name with ":0" behind it, unless it names an output already. */
static prt_str with_output(prt_tf_converter *c, prt_str name)
{
    char *text = prt_arena_alloc(c->arena, (size_t)name.size + 3);
    if (text == NULL)
        return (prt_str){ NULL, 0 };
    memcpy(text, name.data, name.size);
    if (memchr(name.data, ':', name.size) != NULL)
        return (prt_str){ text, name.size };
    memcpy(text + name.size, ":0", 2);
    return (prt_str){ text, name.size + 2 };
}

/* Splits the next name off a list, with its shape in brackets, if it has one. */
static bool next_spec(const char **at, prt_str *name, prt_str *shape)
{
    const char *first = *at + strspn(*at, " \t,");
    const size_t plain = strcspn(first, ",[");
    *name = (prt_str){ first, (uint32_t)plain };
    *shape = (prt_str){ NULL, 0 };
    *at = first + plain;
    while (name->size > 0 && (first[name->size - 1] == ' ' || first[name->size - 1] == '\t'))
        name->size--;
    if (first[plain] == '[') {
        const size_t n = strcspn(first + plain + 1, "]");
        *shape = (prt_str){ first + plain + 1, (uint32_t)n };
        *at = first + plain + 1 + n;
        *at += **at == ']';
    }
    return name->size != 0;
}

/* Reads a shape as "1,28,?,-1". */
static poprt_status parse_shape(prt_str text, prt_tf_input *in)
{
    const char *at = text.data, *end = text.data + text.size;
    in->rank = 0;
    while (at < end) {
        char *rest = NULL;
        while (at < end && (*at == ' ' || *at == ','))
            at++;
        if (at == end)
            break;
        if (in->rank == PRT_MAX_RANK)
            return prt_fail(POPRT_E_LIMIT, "inputs", "a shape has more than 8 dimensions");
        if (*at == '?') {
            in->dims[in->rank++] = PRT_DIM_UNKNOWN;
            at++;
            continue;
        }
        const long long dim = strtoll(at, &rest, 10);
        if (rest == at || rest > end || dim < -1)
            return prt_fail(POPRT_E_ARG, "inputs",
                "'%.*s' is not a shape: give numbers separated by commas, -1 or ? for a free "
                "dimension",
                PRT_STR_ARG(text));
        in->dims[in->rank++] = dim == -1 ? PRT_DIM_UNKNOWN : dim;
        at = rest;
    }
    return POPRT_OK;
}

/* The inputs or outputs of the signature; NULL without one. */
static const prt_saved_ports *ports_of(const prt_tf_converter *c, bool inputs)
{
    if (c->saved == NULL || c->saved->outputs.count == 0)
        return NULL;
    return inputs ? &c->saved->inputs : &c->saved->outputs;
}

/* Finds the tensor of a name. `port` is NULL unless it is an input or output of the signature. */
static poprt_status find_tensor(prt_tf_converter *c, const char *option, prt_str name,
    const prt_saved_ports *ports, const prt_saved_port **port, prt_tf_edge *edge)
{
    *port = NULL;
    if (ports != NULL)
        PRT_TRY(prt_fail_about(prt_saved_port_find(c->saved, c->graph, ports, name, port), option));
    if (*port != NULL)
        name = (*port)->tensor;
    return prt_tf_find_tensor(c->graph, &c->graph->main, name, edge) ? POPRT_OK
                                                                     : no_tensor(c, option, name);
}

static poprt_status add_input(prt_tf_converter *c, prt_str name, const prt_saved_port *port,
    prt_tf_edge edge, prt_str shape, prt_tf_interface *out)
{
    prt_tf_input in = { .name = port != NULL ? port->name : with_output(c, name), .edge = edge };
    if (in.name.data == NULL)
        return POPRT_E_NOMEM;
    read_placeholder(c, &c->graph->main.nodes[edge.node], &in);
    if (port != NULL && in.rank == PRT_RANK_UNKNOWN && port->shape.data != NULL)
        PRT_TRY(prt_tf_shape_read(port->shape, port->depth, &in.rank, in.dims));
    if (port != NULL) {
        in.default_value = port->default_value;
        in.depth = port->depth;
    }
    if (shape.data != NULL)
        PRT_TRY(parse_shape(shape, &in));
    return PRT_VEC_PUSH(c->arena, &out->inputs, in) ? POPRT_OK : POPRT_E_NOMEM;
}

static bool is_placeholder(const prt_tf_node *node)
{
    return prt_str_is(node->op, "Placeholder") || prt_str_is(node->op, "PlaceholderV2");
}

static poprt_status choose_inputs(prt_tf_converter *c, const prt_tf_options *options,
    prt_tf_interface *out)
{
    const prt_tf_body *body = &c->graph->main;
    const prt_saved_ports *ports = ports_of(c, true);
    const char *at = options->inputs != NULL ? options->inputs : "";
    const prt_saved_port *port;
    prt_tf_edge edge;
    prt_str name, shape;
    const bool named = at[strspn(at, " \t,")] != '\0';
    while (next_spec(&at, &name, &shape)) {
        PRT_TRY(find_tensor(c, "inputs", name, ports, &port, &edge));
        PRT_TRY(add_input(c, name, port, edge, shape, out));
    }
    for (size_t i = 0; !named && ports != NULL && i < ports->count; i++) {
        port = &ports->data[i];
        PRT_TRY(find_tensor(c, "inputs", port->tensor, NULL, &port, &edge));
        PRT_TRY(add_input(c, PRT_STR(""), &ports->data[i], edge, (prt_str){ NULL, 0 }, out));
    }
    for (uint32_t i = 0; !named && ports == NULL && i < body->n_nodes; i++)
        if (is_placeholder(&body->nodes[i]))
            PRT_TRY(add_input(c, body->nodes[i].name, NULL, (prt_tf_edge){ i, 0 },
                (prt_str){ NULL, 0 }, out));
    return POPRT_OK;
}

/* Returns whether a node that nothing reads is an output of the model. */
static bool may_be_output(const prt_tf_node *node)
{
    static const char *const others[] = { "NoOp", "Assert", "Const", "SaveV2", "RestoreV2",
        "MergeV2Checkpoints", "ShardedFilename", "Print", "PrintV2" };
    for (size_t i = 0; i < PRT_COUNT_OF(others); i++)
        if (prt_str_is(node->op, others[i]))
            return false;
    return !is_placeholder(node) && node->n_out != 0;
}

/* Marks the nodes that depend on an input of the model: follows the readers of each node. */
static poprt_status follow_inputs(prt_tf_converter *c, const prt_tf_interface *io, bool *marked)
{
    const prt_tf_body *body = &c->graph->main;
    size_t count = 0, todo = 0;
    size_t *first = PRT_NEW_N(c->arena, size_t, (size_t)body->n_nodes + 2);
    if (first == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < body->n_nodes; i++)
        for (uint32_t k = 0; k < body->nodes[i].n_in; k++, count++)
            first[body->nodes[i].in[k].node + 2]++;
    for (uint32_t i = 0; i < body->n_nodes; i++)
        first[i + 2] += first[i + 1];
    uint32_t *readers = PRT_NEW_N(c->arena, uint32_t, count + 1);
    uint32_t *stack = PRT_NEW_N(c->arena, uint32_t, body->n_nodes);
    if (readers == NULL || stack == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < body->n_nodes; i++)
        for (uint32_t k = 0; k < body->nodes[i].n_in; k++)
            readers[first[body->nodes[i].in[k].node + 1]++] = i;
    for (size_t i = 0; i < io->inputs.count; i++) {
        const uint32_t node = io->inputs.data[i].edge.node;
        if (!marked[node])
            stack[todo++] = node;
        marked[node] = true;
    }
    while (todo != 0) {
        const uint32_t node = stack[--todo];
        for (size_t k = first[node]; k < first[node + 1]; k++)
            if (!marked[readers[k]]) {
                marked[readers[k]] = true;
                stack[todo++] = readers[k];
            }
    }
    return POPRT_OK;
}

/* Marks the nodes that a node reads, or waits for: the sides of a branch of TensorFlow 1 are read
 * by control edges alone. A NoOp may wait for outputs. */
static void mark_inputs(const prt_tf_node *node, bool *read)
{
    for (uint32_t k = 0; k < node->n_in; k++)
        read[node->in[k].node] = true;
    for (uint32_t k = 0; k < node->n_control && !prt_str_is(node->op, "NoOp"); k++)
        read[node->control[k]] = true;
}

/* The graph of a checkpoint trains, saves and restores too: its outputs depend on inputs. */
static poprt_status choose_outputs(prt_tf_converter *c, const prt_tf_options *options,
    prt_tf_interface *out)
{
    const prt_tf_body *body = &c->graph->main;
    const prt_saved_ports *ports = ports_of(c, false);
    const char *at = options->outputs != NULL ? options->outputs : "";
    const prt_saved_port *port;
    prt_str name, shape;
    while (next_spec(&at, &name, &shape)) {
        prt_tf_output o = { 0 };
        PRT_TRY(find_tensor(c, "outputs", name, ports, &port, &o.edge));
        o.name = port != NULL ? port->name : with_output(c, name);
        if (o.name.data == NULL || !PRT_VEC_PUSH(c->arena, &out->outputs, o))
            return POPRT_E_NOMEM;
    }
    if (out->outputs.count != 0)
        return POPRT_OK;
    for (size_t i = 0; ports != NULL && i < ports->count; i++) {
        prt_tf_output o = { .name = ports->data[i].name };
        PRT_TRY(find_tensor(c, "outputs", ports->data[i].tensor, NULL, &port, &o.edge));
        if (!PRT_VEC_PUSH(c->arena, &out->outputs, o))
            return POPRT_E_NOMEM;
    }
    if (ports != NULL)
        return POPRT_OK;
    bool *read = PRT_NEW_N(c->arena, bool, body->n_nodes);
    bool *depends = PRT_NEW_N(c->arena, bool, body->n_nodes);
    if (read == NULL || depends == NULL)
        return POPRT_E_NOMEM;
    const bool all = c->saved == NULL || out->inputs.count == 0;
    if (!all)
        PRT_TRY(follow_inputs(c, out, depends));
    for (uint32_t i = 0; i < body->n_nodes; i++)
        mark_inputs(&body->nodes[i], read);
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        const prt_tf_output o = { .name = with_output(c, body->nodes[i].name), .edge = { i, 0 } };
        if (!read[i] && (all || depends[i]) && may_be_output(&body->nodes[i]) &&
            (o.name.data == NULL || !PRT_VEC_PUSH(c->arena, &out->outputs, o)))
            return POPRT_E_NOMEM;
    }
    if (out->outputs.count == 0)
        return prt_fail(POPRT_E_ARG, "outputs",
            "the graph has no node that could be an output: name the outputs");
    return POPRT_OK;
}

poprt_status prt_tf_choose_interface(prt_tf_converter *c, const prt_tf_options *options,
    prt_tf_interface *out)
{
    PRT_TRY(choose_inputs(c, options, out));
    return choose_outputs(c, options, out);
}

/* ---- layouts */

/* Replaces the name of an input or output by its key in the signature, if it has one. */
static poprt_status name_in_model(prt_tf_converter *c, const char *option, bool inputs,
    prt_str *name)
{
    const prt_saved_ports *ports = ports_of(c, inputs);
    const prt_saved_port *port = NULL;
    if (ports != NULL)
        PRT_TRY(
            prt_fail_about(prt_saved_port_find(c->saved, c->graph, ports, *name, &port), option));
    *name = port != NULL ? port->name : *name;
    return POPRT_OK;
}

static poprt_status no_port(const char *option, const char *what, prt_str name)
{
    return prt_fail(POPRT_E_NOT_FOUND, option, "the model has no %s '%.*s'", what,
        PRT_STR_ARG(name));
}

poprt_status prt_tf_interface_layouts(prt_tf_converter *c, const prt_tf_options *options,
    prt_tf_interface *io)
{
    const char *at = options->inputs_as_nchw != NULL ? options->inputs_as_nchw : "";
    prt_str name;
    while (prt_list_next(&at, &name)) {
        bool found = false;
        PRT_TRY(name_in_model(c, "inputs_as_nchw", true, &name));
        const prt_str full = with_output(c, name);
        for (size_t i = 0; i < io->inputs.count; i++)
            if (prt_str_equal(io->inputs.data[i].name, name) ||
                prt_str_equal(io->inputs.data[i].name, full))
                found = io->inputs.data[i].nchw = true;
        if (!found)
            return no_port("inputs_as_nchw", "input", name);
    }
    at = options->outputs_as_nchw != NULL ? options->outputs_as_nchw : "";
    while (prt_list_next(&at, &name)) {
        bool found = false;
        PRT_TRY(name_in_model(c, "outputs_as_nchw", false, &name));
        const prt_str full = with_output(c, name);
        for (size_t i = 0; i < io->outputs.count; i++)
            if (prt_str_equal(io->outputs.data[i].name, name) ||
                prt_str_equal(io->outputs.data[i].name, full))
                found = io->outputs.data[i].nchw = true;
        if (!found)
            return no_port("outputs_as_nchw", "output", name);
    }
    return POPRT_OK;
}

/* Writes the order of axes that moves the channels of images to or from the end. Returns false for
 * other ranks than 4 and 5. */
static bool channel_order(int32_t rank, bool to_last, int64_t perm[PRT_MAX_RANK])
{
    if (rank != 4 && rank != 5)
        return false;
    perm[0] = 0;
    for (int32_t i = 1; i < rank; i++)
        perm[i] = to_last ? (i == rank - 1 ? 1 : i + 1) : (i == 1 ? rank - 1 : i - 1);
    return true;
}

/* ---- the model's inputs and outputs */

/* Gives the free dimensions of an input symbols: the input's name and the axis. */
static poprt_status name_dims(prt_tf_converter *c, prt_tf_input *in)
{
    for (int32_t i = 0; i < in->rank; i++) {
        char text[160];
        size_t at = 0;
        if (in->dims[i] != PRT_DIM_UNKNOWN)
            continue;
        for (uint32_t k = 0; k < in->name.size && at < sizeof(text) - 16; k++) {
            const char ch = in->name.data[k];
            if (ch == ':')
                break;
            text[at++] =
                (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z')
                ? ch
                : '_';
        }
        if (at == 0 || (text[0] >= '0' && text[0] <= '9'))
            text[0] = '_';
        (void)snprintf(text + at, sizeof(text) - at, "_%d", i);
        const prt_str name = prt_module_str(c->module, prt_str_of(text));
        if (name.data == NULL ||
            (in->dims[i] = prt_dim_symbol(c->module->dims, name)) == PRT_DIM_UNKNOWN)
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

/* Adds a warning about a name. */
static poprt_status warn(prt_tf_converter *c, const char *format, prt_str name)
{
    char text[400];
    name.size = name.size < 200 ? name.size : 200;
    (void)snprintf(text, sizeof(text), format, PRT_STR_ARG(name));
    const char *kept = prt_arena_text(c->arena, text, strlen(text));
    return kept != NULL && PRT_VEC_PUSH(c->arena, &c->warnings, prt_str_of(kept)) ? POPRT_OK
                                                                                  : POPRT_E_NOMEM;
}

/* Gives an input the value that it has where the caller omits it. */
static poprt_status set_default(prt_tf_converter *c, const prt_tf_input *in, prt_value *v)
{
    prt_value *constant;
    PRT_TRY(prt_tf_tensor_constant(c, v->graph, in->default_value, in->depth, in->name, &constant));
    if (constant->type != v->type)
        return warn(c, "input '%.*s' must be given: its default has another type than the input",
            in->name);
    v->constant = prt_blob_retain(constant->constant);
    return prt_module_keep(c->module, v->constant);
}

static poprt_status make_input(prt_tf_converter *c, prt_tf_scope *scope, prt_tf_input *in)
{
    prt_module *m = c->module;
    int64_t perm[PRT_MAX_RANK], dims[PRT_MAX_RANK];
    PRT_TRY(name_dims(c, in));
    const bool nchw = in->nchw && channel_order(in->rank, false, perm);
    for (int32_t i = 0; i < in->rank; i++)
        dims[i] = in->dims[nchw ? perm[i] : i];
    const prt_type *type = prt_type_tensor(m->types, in->dtype, in->rank, dims);
    prt_value *v =
        type != NULL ? prt_graph_add_input(scope->graph, prt_module_str(m, in->name), type) : NULL;
    if (v == NULL)
        return prt_error_last()->status;
    if (in->default_value.data != NULL && !nchw)
        PRT_TRY(set_default(c, in, v));
    if (nchw) {
        prt_build b = prt_build_at_end(scope->graph);
        (void)channel_order(in->rank, true, perm);
        v = prt_build_transpose(&b, v, (uint32_t)in->rank, perm);
        PRT_TRY(prt_build_status(&b));
    }
    const prt_tf_node *node = &scope->body->nodes[in->edge.node];
    if (scope->done[in->edge.node] == NULL)
        scope->done[in->edge.node] = PRT_NEW_N(c->arena, prt_tf_value, node->n_out);
    if (scope->done[in->edge.node] == NULL)
        return POPRT_E_NOMEM;
    if (in->edge.output >= node->n_out)
        return prt_fail(POPRT_E_NOT_FOUND, "inputs", "node '%.*s' has no output %u",
            PRT_STR_ARG(node->name), in->edge.output);
    scope->done[in->edge.node][in->edge.output] =
        (prt_tf_value){ .kind = PRT_TF_tensor, .value = v };
    prt_tf_mark_done(scope, in->edge.node);
    return POPRT_OK;
}

/* Returns the tensor of an output as the model gives it: complex tensors, lists and resources are
 * no outputs. */
static poprt_status make_output(prt_tf_converter *c, prt_tf_scope *scope, const prt_tf_output *o,
    prt_value **out)
{
    prt_tf_value v;
    int64_t perm[PRT_MAX_RANK];
    PRT_TRY(prt_tf_demand(c, scope, o->edge, &v));
    *out = NULL;
    if (v.kind == PRT_TF_failed)
        return POPRT_OK; /* prt_tf_report names it */
    if (v.kind != PRT_TF_tensor)
        return prt_fail(POPRT_E_UNSUPPORTED, "outputs",
            "'%.*s' is not a tensor of numbers or strings: complex tensors, lists and resources "
            "cannot be outputs",
            PRT_STR_ARG(o->name));
    *out = v.value;
    if (!o->nchw || !channel_order(prt_tf_rank(v.value), false, perm))
        return POPRT_OK;
    prt_build b = prt_build_at_end(scope->graph);
    *out = prt_build_transpose(&b, v.value, (uint32_t)prt_tf_rank(v.value), perm);
    return prt_build_status(&b);
}

/* An output needs an operator of its own where its tensor is an input, a constant, or another
 * output. */
static poprt_status own_output(prt_tf_scope *scope, prt_value *const *before, size_t count,
    prt_value **v)
{
    bool shared = (*v)->def == NULL;
    for (size_t i = 0; i < count; i++)
        shared = shared || before[i] == *v;
    if (!shared)
        return POPRT_OK;
    prt_build b = prt_build_at_end(scope->graph);
    *v = prt_build_unary(&b, PRT_OP_identity, *v);
    return prt_build_status(&b);
}

/* Names an output. An input and an output of a signature may have one name, those of an ONNX model
 * may not: the output gets a number then. */
static poprt_status name_output(prt_tf_converter *c, prt_str wanted, prt_map *taken, prt_str *out)
{
    prt_str name = wanted;
    if (prt_map_find(taken, name) != NULL) {
        const size_t size = (size_t)name.size + 16;
        char *text = prt_arena_alloc(c->arena, size);
        for (unsigned k = 1; text != NULL && prt_map_find(taken, name) != NULL; k++) {
            (void)snprintf(text, size, "%.*s_%u", PRT_STR_ARG(wanted), k);
            name = prt_str_of(text);
        }
        if (text == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(warn(c,
            "an input or another output has the name of output '%.*s' without its number", name));
    }
    *out = prt_module_str(c->module, name);
    return out->data != NULL ? prt_map_set(taken, *out, c) : POPRT_E_NOMEM;
}

static poprt_status mark_outputs(prt_tf_converter *c, prt_tf_scope *scope,
    const prt_tf_interface *io)
{
    const size_t count = io->outputs.count;
    prt_tf_edge *roots = PRT_NEW_N(c->arena, prt_tf_edge, count);
    if (roots == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        roots[i] = io->outputs.data[i].edge;
    return prt_tf_mark_wanted(c, scope, (uint32_t)count, roots);
}

poprt_status prt_tf_convert(prt_tf_converter *c, prt_tf_scope *scope, const prt_tf_interface *io)
{
    enum { MOST = 65536 };
    const size_t count = io->outputs.count;
    prt_map taken = prt_map_in(c->arena);
    prt_value **values = PRT_NEW_N(c->arena, prt_value *, count);
    prt_str *names = PRT_NEW_N(c->arena, prt_str, count);
    if (values == NULL || names == NULL)
        return POPRT_E_NOMEM;
    if (count > MOST)
        return prt_fail(POPRT_E_LIMIT, "outputs", "the model has more than %d outputs", MOST);
    for (size_t i = 0; i < io->inputs.count; i++) {
        PRT_TRY(make_input(c, scope, &io->inputs.data[i]));
        PRT_TRY(prt_map_set(&taken, io->inputs.data[i].name, c));
    }
    PRT_TRY(mark_outputs(c, scope, io));
    for (size_t i = 0; i < count; i++)
        PRT_TRY(make_output(c, scope, &io->outputs.data[i], &values[i]));
    PRT_TRY(prt_tf_report(c));
    for (size_t i = 0; i < count; i++) {
        PRT_TRY(own_output(scope, values, i, &values[i]));
        PRT_TRY(name_output(c, io->outputs.data[i].name, &taken, &names[i]));
    }
    return prt_graph_set_outputs(scope->graph, (uint32_t)count, values, names);
}
