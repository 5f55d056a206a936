/* SPDX-License-Identifier: MIT */
/* read.c — reads a TFLite model: chooses a subgraph, inputs and outputs, and converts. */
#include "tflite/tflite.h"

#include <stdio.h>

#include "base/file.h"
#include "base/list.h"
#include "base/nearest.h"
#include "tensorflow/interface.h"
#include "tflite/convert.h"

bool prt_tflite_recognises(const prt_blob *bytes)
{
    return prt_tflite_is(bytes->data, bytes->size);
}

/* ---- inputs and outputs */

/* Returns the name of an input or output: a tensor may have none, but those of ONNX have one. */
static prt_str name_of(prt_tf_converter *c, prt_str name, uint32_t tensor)
{
    char text[24];
    if (name.size != 0)
        return name;
    (void)snprintf(text, sizeof(text), "tensor_%u", tensor);
    const char *kept = prt_arena_text(c->arena, text, strlen(text));
    return kept != NULL ? prt_str_of(kept) : (prt_str){ NULL, 0 };
}

static poprt_status add_input(prt_tf_converter *c, const prt_tflite_body *body, prt_str name,
    uint32_t tensor, prt_tf_interface *io)
{
    const prt_tflite_tensor *t = &body->graph->tensors[tensor];
    prt_tf_input in = { .name = name_of(c, name, tensor),
        .edge = body->from[tensor],
        .dtype = t->dtype,
        .rank = t->rank == 0 && !t->has_rank && t->dtype == PRT_DTYPE_undefined
            ? PRT_RANK_UNKNOWN
            : (int32_t)t->rank };
    for (uint32_t i = 0; i < t->rank; i++)
        in.dims[i] = t->dims[i] < 0 ? PRT_DIM_UNKNOWN : t->dims[i];
    return in.name.data != NULL && PRT_VEC_PUSH(c->arena, &io->inputs, in) ? POPRT_OK
                                                                           : POPRT_E_NOMEM;
}

static poprt_status add_output(prt_tf_converter *c, const prt_tflite_body *body, prt_str name,
    uint32_t tensor, prt_tf_interface *io)
{
    const prt_tf_output o = { .name = name_of(c, name, tensor), .edge = body->from[tensor] };
    return o.name.data != NULL && PRT_VEC_PUSH(c->arena, &io->outputs, o) ? POPRT_OK
                                                                          : POPRT_E_NOMEM;
}

typedef poprt_status (*add_fn)(prt_tf_converter *c, const prt_tflite_body *body, prt_str name,
    uint32_t tensor, prt_tf_interface *io);

static poprt_status no_tensor(prt_tf_converter *c, const prt_tflite_subgraph *g, const char *option,
    prt_str name)
{
    const char **names = PRT_NEW_N(c->arena, const char *, g->n_tensors);
    const char *word = prt_arena_text(c->arena, name.data, name.size);
    if (names == NULL || word == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < g->n_tensors; i++)
        if ((names[i] = prt_arena_text(c->arena,
                 g->tensors[i].name.size != 0 ? g->tensors[i].name.data : "",
                 g->tensors[i].name.size)) == NULL)
            return POPRT_E_NOMEM;
    return prt_fail_nearest(word, names, g->n_tensors, "%s: the model has no tensor of this name",
        option);
}

/* Returns the tensor of a name: of a port of the signature, or its own. Returns the number of
 * tensors if there is none. */
static size_t find_tensor(const prt_tflite_subgraph *g, const prt_tflite_port *ports,
    size_t n_ports, prt_str name)
{
    size_t i = 0;
    for (size_t k = 0; k < n_ports; k++)
        if (prt_str_equal(ports[k].name, name))
            return ports[k].tensor;
    while (i < g->n_tensors && !prt_str_equal(g->tensors[i].name, name))
        i++;
    return i;
}

/* Adds the tensors that an option names. */
static poprt_status add_named(prt_tf_converter *c, const prt_tflite_body *body, const char *option,
    const char *list, const prt_tflite_port *ports, size_t n_ports, add_fn add,
    prt_tf_interface *io)
{
    const prt_tflite_subgraph *g = body->graph;
    prt_str name;
    for (const char *at = list; at != NULL && prt_list_next(&at, &name);) {
        const size_t i = find_tensor(g, ports, n_ports, name);
        if (i == g->n_tensors)
            return no_tensor(c, g, option, name);
        PRT_TRY(add(c, body, name, (uint32_t)i, io));
    }
    return POPRT_OK;
}

static poprt_status add_all(prt_tf_converter *c, const prt_tflite_body *body, prt_tflite_ints list,
    add_fn add, prt_tf_interface *io)
{
    for (size_t i = 0; i < list.count; i++)
        PRT_TRY(add(c, body, body->graph->tensors[list.data[i]].name, (uint32_t)list.data[i], io));
    return POPRT_OK;
}

static poprt_status add_ports(prt_tf_converter *c, const prt_tflite_body *body,
    const prt_tflite_port *ports, size_t count, add_fn add, prt_tf_interface *io)
{
    for (size_t i = 0; i < count; i++)
        PRT_TRY(add(c, body, ports[i].name, ports[i].tensor, io));
    return POPRT_OK;
}

/* Finds the signature that the options name. Sets `out` to NULL without a name. */
static poprt_status find_signature(prt_tf_converter *c, const prt_tflite_model *m,
    const prt_tf_options *options, const prt_tflite_signature **out)
{
    *out = NULL;
    if (options->signature == NULL || options->signature[0] == '\0')
        return POPRT_OK;
    const char **names = PRT_NEW_N(c->arena, const char *, m->n_signatures);
    if (names == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < m->n_signatures; i++) {
        const prt_str key = m->signatures[i].key;
        if (prt_str_is(key, options->signature)) {
            *out = &m->signatures[i];
            return POPRT_OK;
        }
        if ((names[i] = prt_arena_text(c->arena, key.size != 0 ? key.data : "", key.size)) == NULL)
            return POPRT_E_NOMEM;
    }
    return prt_fail_nearest(options->signature, names, m->n_signatures,
        "signature_def: the model has no signature of this name");
}

static poprt_status choose(prt_tf_converter *c, const prt_tflite_body *body,
    const prt_tflite_signature *s, const prt_tf_options *options, prt_tf_interface *io)
{
    const prt_tflite_subgraph *g = body->graph;
    static const prt_tflite_signature none;
    const prt_tflite_signature *ports = s != NULL ? s : &none;
    PRT_TRY(add_named(c, body, "inputs", options->inputs, ports->inputs, ports->n_inputs, add_input,
        io));
    PRT_TRY(add_named(c, body, "outputs", options->outputs, ports->outputs, ports->n_outputs,
        add_output, io));
    if (io->inputs.count == 0)
        PRT_TRY(s != NULL ? add_ports(c, body, s->inputs, s->n_inputs, add_input, io)
                          : add_all(c, body, g->inputs, add_input, io));
    if (io->outputs.count == 0)
        PRT_TRY(s != NULL ? add_ports(c, body, s->outputs, s->n_outputs, add_output, io)
                          : add_all(c, body, g->outputs, add_output, io));
    if (io->outputs.count == 0)
        return prt_fail(POPRT_E_ARG, "outputs", "the model has no outputs: name some");
    return prt_tf_interface_layouts(c, options, io);
}

/* ---- conversion */

static poprt_status convert(prt_tf_converter *c, prt_blob *file, const prt_tf_options *options)
{
    prt_tflite_model *m = NULL;
    const prt_tflite_body *bodies;
    prt_tf_interface io = { 0 };
    prt_tf_scope *scope;
    const prt_tflite_signature *s;
    if (options->saved_model || options->tags != NULL)
        return prt_fail(POPRT_E_ARG, options->saved_model ? "saved_model" : "tag",
            "the model is a TFLite file, and only a SavedModel has tags");
    c->graph = PRT_NEW(c->arena, prt_tf_graph);
    if (c->graph == NULL)
        return POPRT_E_NOMEM;
    c->graph->arena = c->arena;
    c->graph->functions = prt_map_in(c->arena);
    PRT_TRY(prt_tf_rows(c->arena, &c->graph->rows));
    PRT_TRY(prt_tflite_parse(c->arena, file, &m));
    PRT_TRY(find_signature(c, m, options, &s));
    PRT_TRY(prt_tflite_bodies(c, m, &bodies));
    const prt_tflite_body *body = &bodies[s != NULL ? s->subgraph : 0];
    PRT_TRY(choose(c, body, s, options, &io));
    PRT_TRY(
        prt_tf_scope_create(c, NULL, &body->body, c->module->main, PRT_STR(""), 0, NULL, &scope));
    PRT_TRY(prt_tflite_initialise(c, bodies, body));
    return prt_tf_convert(c, scope, &io);
}

poprt_status prt_tflite_read_bytes(const prt_allocator *allocator, prt_blob *bytes,
    const char *name, const prt_tf_options *options, prt_module **out)
{
    return prt_tf_read_with(allocator, bytes, name, options, convert, out);
}

poprt_status prt_tflite_read_file(const prt_allocator *allocator, const char *path,
    const prt_tf_options *options, prt_module **out)
{
    prt_blob *bytes = NULL;
    PRT_TRY(prt_file_map(allocator, path, &bytes));
    const poprt_status status = prt_tflite_read_bytes(allocator, bytes, path, options, out);
    prt_blob_release(bytes);
    return status;
}
