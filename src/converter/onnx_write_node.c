/* SPDX-License-Identifier: MIT */
/*
 * onnx_write_node.c — writes ops as nodes: as the bytes an op was read from if they still describe
 * the op, else encoded from its attributes.
 */
#include "converter/history.h"
#include "converter/onnx_raw.h"
#include "converter/onnx_write.h"
#include "converter/source_node.h"
#include "op/words.h"

/* ---- validity of the source bytes ---- */

static bool is_inside(const prt_graph *graph, const prt_op *owner)
{
    for (; graph != NULL; graph = graph->owner != NULL ? graph->owner->graph : NULL)
        if (graph->owner == owner)
            return true;
    return false;
}

/* Returns whether the source of `op` uses the names that its values have in the file. Values
 * inside of `root` are named by the root's bytes and need no check, unlike the outputs of `root`
 * itself. */
static bool same_names(const prt_onnx_writer *w, const prt_op *op, const prt_op *root)
{
    uint32_t in = 0, out = 0;
    prt_wire r = prt_onnx_open((prt_bytes){ op->source, op->source_size }, PRT_ONNX_Node, 1);
    prt_field f;
    while (prt_wire_next(&r, &f)) {
        const prt_str name = prt_wire_text(&r, &f);
        if (f.number == PRT_ONNX_Node_input) {
            if (in >= op->n_in)
                return false;
            const prt_value *value = op->in[in++].value;
            if (value != NULL && is_inside(value->graph, root))
                continue;
            if (!prt_str_equal(prt_names_value(w->names, value), name))
                return false;
        } else if (f.number == PRT_ONNX_Node_output) {
            if (out >= op->n_out)
                return false;
            const prt_value *value = &op->out[out++];
            if (op == root && !prt_str_equal(prt_names_value(w->names, value), name))
                return false;
        }
    }
    return r.status == POPRT_OK && in == op->n_in && out == op->n_out;
}

/* Returns whether attribute `k` has to be written although it has its default. onnx.checker infers
 * the shape of an STFT without `onesided` as if that were 0, and refuses the shape that the file
 * states. */
static bool is_misread(const prt_onnx_writer *w, const prt_op *op, uint32_t k)
{
    return prt_op_is(op, PRT_OP_stft) &&
        strcmp(prt_attr_name(&op->def->attrs[k]), "onesided") == 0 &&
        !prt_attr_given(op->attrs, k) && w->m->describes_values;
}

static bool lacks_attribute(const prt_onnx_writer *w, const prt_op *op)
{
    for (uint32_t k = 0; op->def != NULL && k < op->def->n_attrs; k++)
        if (is_misread(w, op, k))
            return true;
    return false;
}

static bool source_holds(const prt_onnx_writer *w, const prt_op *op, const prt_op *root)
{
    if (op->source == NULL || !same_names(w, op, root) || lacks_attribute(w, op))
        return false;
    for (uint32_t i = 0; i < op->n_regions; i++) {
        const prt_graph *g = op->regions[i];
        prt_for_each_op (inner, g)
            if (!source_holds(w, inner, root))
                return false;
        for (uint32_t k = 0; k < g->ret->n_in; k++)
            if (!is_inside(g->ret->in[k].value->graph, root))
                return false;
    }
    return true;
}

/* ---- attributes ---- */

static const int32_t onnx_kinds[] = {
    [PRT_ATTR_i64] = PRT_ONNX_INT,
    [PRT_ATTR_f32] = PRT_ONNX_FLOAT,
    [PRT_ATTR_str] = PRT_ONNX_STRING,
    [PRT_ATTR_i64s] = PRT_ONNX_INTS,
    [PRT_ATTR_f32s] = PRT_ONNX_FLOATS,
    [PRT_ATTR_strs] = PRT_ONNX_STRINGS,
    [PRT_ATTR_tensor] = PRT_ONNX_TENSOR,
    [PRT_ATTR_graph] = PRT_ONNX_GRAPH,
    [PRT_ATTR_type] = PRT_ONNX_TYPE_PROTO,
};

/* Writes only the value. A tensor attribute stays in the model, whatever its size. */
static void put_value(prt_onnx_writer *w, const prt_op *op, uint32_t kind, const void *field)
{
    prt_encoder *p = &w->encoder;
    const prt_str data_name = w->data_name;
    switch (prt_attr_outer_kind(kind)) {
    case PRT_ATTR_i64:
        prt_encode_int(p, PRT_ONNX_Attribute_i, *(const int64_t *)field);
        break;
    case PRT_ATTR_f32:
        prt_encode_float(p, PRT_ONNX_Attribute_f, *(const float *)field);
        break;
    case PRT_ATTR_str:
        prt_encode_str(p, PRT_ONNX_Attribute_s, prt_attr_text(kind, field));
        break;
    case PRT_ATTR_i64s:
        for (uint32_t i = 0; i < ((const prt_i64s *)field)->count; i++)
            prt_encode_int(p, PRT_ONNX_Attribute_ints, ((const prt_i64s *)field)->data[i]);
        break;
    case PRT_ATTR_f32s:
        for (uint32_t i = 0; i < ((const prt_f32s *)field)->count; i++)
            prt_encode_float(p, PRT_ONNX_Attribute_floats, ((const prt_f32s *)field)->data[i]);
        break;
    case PRT_ATTR_strs:
        for (uint32_t i = 0; i < ((const prt_strs *)field)->count; i++)
            prt_encode_str(p, PRT_ONNX_Attribute_strings, ((const prt_strs *)field)->data[i]);
        break;
    case PRT_ATTR_tensor:
        w->data_name = PRT_STR("");
        prt_onnx_put_tensor(w, PRT_ONNX_Attribute_t, PRT_STR(""),
            *(const prt_tensor *const *)field);
        w->data_name = data_name;
        break;
    case PRT_ATTR_graph:
        prt_onnx_put_graph(w, PRT_ONNX_Attribute_g, op->regions[*(const uint32_t *)field]);
        break;
    default:
        prt_onnx_put_type(w, PRT_ONNX_Attribute_tp, *(const prt_type *const *)field);
        break;
    }
}

/* Returns whether the operator's schema in the file has the attribute; true if the schemas are
 * unknown. */
static bool has_attr(const prt_onnx_writer *w, const prt_op *op, const char *name)
{
    if (!prt_domain_is_onnx(op->domain) && !prt_str_is(op->domain, PRT_HISTORY_ML))
        return true;
    const int64_t opset = prt_onnx_opset_of(w, op->domain);
    return prt_history_version(op->name, opset) == 0 || prt_history_has_attr(op->name, opset, name);
}

/* Returns whether attribute k is written. A value other than the default always is. The default is
 * written if it was given and the file's schema has the attribute. */
static bool is_written(const prt_onnx_writer *w, const prt_op *op, uint32_t k)
{
    const prt_attr_def *row = &op->def->attrs[k];
    const bool pointer =
        row->kind == PRT_ATTR_tensor || row->kind == PRT_ATTR_type || row->kind == PRT_ATTR_graph;
    return prt_history_must_write(op, k) ||
        (!pointer && prt_attr_given(op->attrs, k) && has_attr(w, op, prt_attr_name(row)));
}

static void put_attr(prt_onnx_writer *w, const prt_op *op, const prt_attr_def *row)
{
    const prt_encode_mark attr = prt_encode_open(&w->encoder, PRT_ONNX_Node_attribute);
    prt_encode_str(&w->encoder, PRT_ONNX_Attribute_name, prt_str_of(prt_attr_name(row)));
    put_value(w, op, row->kind, (const char *)op->attrs + row->offset);
    prt_encode_int(&w->encoder, PRT_ONNX_Attribute_type,
        onnx_kinds[prt_attr_outer_kind(row->kind)]);
    prt_encode_close(&w->encoder, attr);
}

/* Returns whether region k is the value of one of the row's attributes. */
static bool is_claimed(const prt_op *op, uint32_t k)
{
    for (uint32_t i = 0; op->def != NULL && i < op->def->n_attrs; i++) {
        const prt_attr_def *row = &op->def->attrs[i];
        const void *field = (const char *)op->attrs + row->offset;
        if (row->kind == PRT_ATTR_graph && *(const uint32_t *)field == k)
            return true;
    }
    return false;
}

/* Writes an attribute kept as raw bytes. Graphs in it were read as regions, in order, and the
 * regions are written in their place. */
static void put_extra_attr(prt_onnx_writer *w, const prt_op *op, const prt_raw *raw,
    uint32_t *region)
{
    prt_wire node = prt_onnx_open((prt_bytes){ raw->bytes, raw->size }, PRT_ONNX_Node, 1);
    prt_field field, f;
    bool graphs = false;
    if (!prt_wire_next(&node, &field))
        return;
    prt_wire attr = prt_onnx_open(field.bytes, PRT_ONNX_Attribute, 2);
    while (prt_wire_next(&attr, &f))
        graphs =
            graphs || f.number == PRT_ONNX_Attribute_g || f.number == PRT_ONNX_Attribute_graphs;
    if (!graphs) {
        prt_encode_raw(&w->encoder, raw->bytes, raw->size);
        return;
    }
    const prt_encode_mark mark = prt_encode_open(&w->encoder, PRT_ONNX_Node_attribute);
    attr = prt_onnx_open(field.bytes, PRT_ONNX_Attribute, 2);
    while (prt_wire_next(&attr, &f)) {
        if (f.number != PRT_ONNX_Attribute_g && f.number != PRT_ONNX_Attribute_graphs) {
            prt_encode_raw(&w->encoder, f.whole.data, f.whole.size);
            continue;
        }
        while (is_claimed(op, *region))
            ++*region;
        if (*region < op->n_regions)
            prt_onnx_put_graph(w, f.number, op->regions[(*region)++]);
    }
    prt_encode_close(&w->encoder, mark);
}

/* ---- nodes ---- */

/* Returns the number of inputs without absent ones at the end. Those before repeated ones are
 * written, since the schema of Loop requires them. */
static uint32_t count_inputs(const prt_op *op)
{
    const bool repeats = op->def != NULL && op->def->max_in == UINT32_MAX;
    const uint32_t fixed = repeats ? op->def->n_in - 1u : 0;
    uint32_t n = op->n_in;
    while (n > fixed && op->in[n - 1].value == NULL)
        n--;
    return n;
}

static uint32_t count_outputs(const prt_onnx_writer *w, const prt_op *op)
{
    uint32_t n = op->n_out;
    while (n > 1 && prt_names_value(w->names, &op->out[n - 1]).size == 0)
        n--;
    return n;
}

/* Writes the attributes of the operator that the node has in the file. */
static void put_own_attrs(prt_onnx_writer *w, const prt_op *op, const prt_source_node *as)
{
    for (uint32_t k = 0; as == NULL && op->def != NULL && k < op->def->n_attrs; k++)
        if (is_written(w, op, k) || is_misread(w, op, k))
            put_attr(w, op, &op->def->attrs[k]);
    for (const prt_raw *raw = as != NULL ? as->fields : NULL; raw != NULL; raw = raw->next)
        prt_encode_raw(&w->encoder, raw->bytes, raw->size);
}

void prt_onnx_put_node(prt_onnx_writer *w, const prt_op *op)
{
    prt_encoder *p = &w->encoder;
    if (source_holds(w, op, op)) {
        prt_encode_bytes(p, PRT_ONNX_Graph_node, op->source, op->source_size);
        return;
    }
    const prt_source_node *as = op->source_node;
    if (as != NULL && !prt_source_node_is_current_at(op, prt_onnx_opset_of(w, as->domain)))
        as = NULL;
    const prt_str domain = as != NULL ? as->domain : op->domain;
    const prt_encode_mark node = prt_encode_open(p, PRT_ONNX_Graph_node);
    const uint32_t n_in = count_inputs(op), n_out = count_outputs(w, op);
    for (uint32_t i = 0; i < n_in; i++)
        prt_encode_str(p, PRT_ONNX_Node_input, prt_names_value(w->names, op->in[i].value));
    for (uint32_t i = 0; i < n_out; i++)
        prt_encode_str(p, PRT_ONNX_Node_output, prt_names_value(w->names, &op->out[i]));
    if (prt_names_node(w->names, op).size != 0)
        prt_encode_str(p, PRT_ONNX_Node_name, prt_names_node(w->names, op));
    prt_encode_str(p, PRT_ONNX_Node_op_type, as != NULL ? as->name : op->name);
    put_own_attrs(w, op, as);
    uint32_t region = 0;
    for (const prt_raw *raw = op->extra; raw != NULL; raw = raw->next)
        if (raw->field == PRT_ONNX_Node_attribute)
            put_extra_attr(w, op, raw, &region);
    if (domain.size != 0)
        prt_encode_str(p, PRT_ONNX_Node_domain, domain);
    for (const prt_raw *raw = op->extra; raw != NULL; raw = raw->next)
        if (raw->field != PRT_ONNX_Node_attribute)
            prt_encode_raw(p, raw->bytes, raw->size);
    prt_encode_close(p, node);
}

void prt_onnx_put_identity(prt_onnx_writer *w, prt_str from, prt_str to)
{
    const prt_encode_mark node = prt_encode_open(&w->encoder, PRT_ONNX_Graph_node);
    prt_encode_str(&w->encoder, PRT_ONNX_Node_input, from);
    prt_encode_str(&w->encoder, PRT_ONNX_Node_output, to);
    prt_encode_str(&w->encoder, PRT_ONNX_Node_op_type, PRT_STR("Identity"));
    prt_encode_close(&w->encoder, node);
}
