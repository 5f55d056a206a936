/* SPDX-License-Identifier: MIT */
/* edits.c — host functions that change graphs. All arguments are checked first. */
#include "base/record.h"
#include "ir/extra.h"
#include "plugin/internal.h"

enum { MAX_SLOTS = 1 << 16, MAX_TEXT = 1 << 20 };

static prt_op *op_of(poprt_node *node)
{
    return (prt_op *)(void *)node;
}

static prt_value *value_of(poprt_value *value)
{
    return (prt_value *)(void *)value;
}

static poprt_status check_node(const prt_op *op)
{
    if (op == NULL)
        return prt_fail(POPRT_E_ARG, NULL, "the node is NULL");
    return op->dead ? prt_fail(POPRT_E_STATE, prt_op_label(op), "the node was removed") : POPRT_OK;
}

static poprt_status check_value(const prt_value *value)
{
    if (value == NULL)
        return prt_fail(POPRT_E_ARG, NULL, "the value is NULL");
    if (value->def != NULL && value->def->dead)
        return prt_fail(POPRT_E_STATE, value->name.data,
            "the node that produced the value was removed");
    return POPRT_OK;
}

/* ---- attributes and inputs */

/* Sets an attribute that the operator's row does not define; it is written unchanged. */
static poprt_status set_mark(prt_op *op, const poprt_attr *a)
{
    prt_arena *arena = op->graph->module->arena;
    const char *text = NULL;
    prt_strs texts;
    switch (a->kind) {
    case POPRT_ATTR_INT:
        return prt_op_set_mark_i64(op, a->name, a->integer);
    case POPRT_ATTR_FLOAT:
        return prt_op_set_mark_f32(op, a->name, a->real);
    case POPRT_ATTR_STRING:
        text = prt_arena_text(arena, a->count != 0 ? a->string : "", a->count);
        return text != NULL ? prt_op_set_mark_text(op, a->name, text) : POPRT_E_NOMEM;
    case POPRT_ATTR_INTS:
        return prt_op_set_mark_i64s(op, a->name, (prt_i64s){ a->ints, a->count });
    case POPRT_ATTR_FLOATS:
        return prt_op_set_mark_f32s(op, a->name, (prt_f32s){ a->floats, a->count });
    case POPRT_ATTR_STRINGS:
        PRT_TRY(prt_plugin_copy_strings(arena, a, &texts));
        return prt_op_set_mark_texts(op, a->name, texts);
    default:
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op),
            "attribute %s cannot be a tensor, type or graph, because the operator does not define "
            "it",
            a->name);
    }
}

static poprt_status set_attr(prt_op *op, const poprt_attr *a)
{
    PRT_TRY(prt_plugin_check_attr(a));
    const uint32_t index = op->def != NULL ? prt_op_attr(op->def, prt_str_of(a->name)) : UINT32_MAX;
    if (index == UINT32_MAX)
        return set_mark(op, a);
    prt_module *m = op->graph->module;
    PRT_TRY(prt_plugin_copy_attr(m->arena, m, &op->def->attrs[index], index, a, op->attrs));
    prt_op_touch(op);
    return POPRT_OK;
}

static poprt_status node_set_attr(poprt_node *node, const poprt_attr *attr)
{
    PRT_TRY(check_node(op_of(node)));
    return set_attr(op_of(node), attr);
}

static poprt_status node_set_input(poprt_node *node, uint32_t index, poprt_value *value)
{
    prt_op *op = op_of(node);
    PRT_TRY(check_node(op));
    if (value != NULL)
        PRT_TRY(check_value(value_of(value)));
    if (index >= op->n_in)
        return prt_fail(POPRT_E_ARG, prt_op_label(op),
            "the node has %u inputs: there is no input %u", op->n_in, index);
    prt_op_set_input(op, index, value_of(value));
    prt_op_touch(op);
    return POPRT_OK;
}

static poprt_status node_remove(poprt_node *node)
{
    prt_op *op = op_of(node);
    PRT_TRY(check_node(op));
    for (uint32_t i = 0; i < op->n_out; i++)
        if (prt_value_used(&op->out[i]))
            return prt_fail(POPRT_E_STATE, prt_op_label(op),
                "output %u is in use: the node cannot be removed", i);
    prt_op_erase(op);
    return POPRT_OK;
}

/* ---- new nodes and constants */

static poprt_status intern(prt_module *m, const char *text, prt_str *out)
{
    if (text == NULL)
        text = "";
    if (strlen(text) > MAX_TEXT)
        return prt_fail(POPRT_E_LIMIT, NULL, "a name is longer than %d bytes", MAX_TEXT);
    *out = prt_module_str(m, prt_str_of(text));
    return out->data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status check_form(const poprt_node_form *f)
{
    if (f->op_type == NULL || f->op_type[0] == '\0')
        return prt_fail(POPRT_E_ARG, f->name, "a node needs an operator type");
    if (f->n_inputs > MAX_SLOTS || f->n_outputs > MAX_SLOTS || f->n_outputs == 0 ||
        (f->n_inputs != 0 && f->inputs == NULL) || (f->n_attrs != 0 && f->attrs == NULL))
        return prt_fail(POPRT_E_ARG, f->name,
            "%.100s: a list is NULL, or the node has no output or more than %d slots", f->op_type,
            MAX_SLOTS);
    for (uint32_t i = 0; i < f->n_inputs; i++)
        if (f->inputs[i] != NULL)
            PRT_TRY(check_value(value_of(f->inputs[i])));
    return POPRT_OK;
}

static poprt_status fill_node(prt_op *op, const poprt_node_form *f, prt_str domain, prt_str name)
{
    if (op->def == NULL) {
        op->domain = domain;
        op->name = name;
    }
    PRT_TRY(intern(op->graph->module, f->name, &op->origin));
    for (uint32_t i = 0; i < f->n_inputs; i++)
        prt_op_set_input(op, i, value_of(f->inputs[i]));
    for (uint32_t i = 0; i < f->n_attrs; i++)
        PRT_TRY(set_attr(op, &f->attrs[i]));
    return op->def != NULL ? prt_ir_infer_new_op(op) : POPRT_OK;
}

static poprt_status graph_add_node(poprt_graph *graph, poprt_node *before,
    const poprt_node_form *form, poprt_node **out)
{
    prt_graph *g = (prt_graph *)(void *)graph;
    prt_module *m = g->module;
    poprt_node_form f;
    prt_str domain, name;
    PRT_TRY(prt_plugin_import(&f, sizeof(f), sizeof(f), form, "poprt_node_form"));
    PRT_TRY(check_form(&f));
    if (before != NULL)
        PRT_TRY(check_node(op_of(before)));
    if (before != NULL && op_of(before)->graph != g)
        return prt_fail(POPRT_E_ARG, f.name, "the node `before` is in another graph");
    PRT_TRY(intern(m, f.domain, &domain));
    PRT_TRY(intern(m, f.op_type, &name));
    const prt_op_def *def = prt_op_find_in(m->ops, domain, name);
    if (def != NULL && (def->traits & PRT_CONTROL) != 0)
        return prt_fail(POPRT_E_UNSUPPORTED, f.name,
            "%.100s has subgraphs: a plug-in cannot create it", f.op_type);
    if (def != NULL && (f.n_inputs > def->max_in || f.n_outputs > def->max_out))
        return prt_fail(POPRT_E_ARG, f.name, "%.100s has at most %u inputs and %u outputs",
            f.op_type, def->max_in, def->max_out);
    prt_op *op = prt_graph_add_op(g, op_of(before), def, f.n_inputs, f.n_outputs, 0);
    if (op == NULL)
        return POPRT_E_NOMEM;
    const poprt_status status = fill_node(op, &f, domain, name);
    if (status != POPRT_OK) {
        prt_op_erase(op);
        return status;
    }
    *out = (poprt_node *)(void *)op;
    return POPRT_OK;
}

static poprt_status check_tensor(const poprt_tensor *t)
{
    prt_tensor ours;
    if (t == NULL || t->dtype <= PRT_DTYPE_undefined || t->dtype >= PRT_DTYPE_COUNT ||
        t->dtype == PRT_DTYPE_string || t->rank > PRT_MAX_RANK || (t->rank != 0 && t->dims == NULL))
        return prt_fail(POPRT_E_ARG, NULL,
            "the constant must be a tensor of numbers of rank 0 to %d", PRT_MAX_RANK);
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dims[i] < 0)
            return prt_fail(POPRT_E_ARG, NULL, "dim %u of the constant is negative", i);
    if (!prt_tensor_init(&ours, t->dtype, t->rank, t->dims, NULL) || ours.size != t->size ||
        (t->size != 0 && t->data == NULL))
        return prt_fail(POPRT_E_ARG, NULL,
            "the constant has %zu bytes, which does not match its dims", t->size);
    return POPRT_OK;
}

static poprt_status graph_add_constant(poprt_graph *graph, const char *name,
    const poprt_tensor *tensor, poprt_value **out)
{
    prt_graph *g = (prt_graph *)(void *)graph;
    PRT_TRY(check_tensor(tensor));
    prt_build b = prt_build_at_end(g);
    prt_value *v = prt_build_tensor(&b, tensor->dtype, tensor->rank, tensor->dims, tensor->data);
    PRT_TRY(prt_build_status(&b));
    if (name != NULL && name[0] != '\0') {
        if (strlen(name) > MAX_TEXT)
            return prt_fail(POPRT_E_LIMIT, NULL, "a name is longer than %d bytes", MAX_TEXT);
        const prt_str fresh = prt_module_fresh_name(g->module, name);
        if (fresh.data == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_value_set_name(v, fresh));
    }
    *out = (poprt_value *)(void *)v;
    return POPRT_OK;
}

static poprt_status value_replace(poprt_value *from, poprt_value *to)
{
    prt_value *a = value_of(from), *b = value_of(to);
    PRT_TRY(check_value(a));
    PRT_TRY(check_value(b));
    prt_build build = prt_build_at_end(a->graph);
    if (b->def != NULL && b->graph == a->graph)
        build.first = b->def->id; /* nodes built from here on stand for the producer of `to` */
    if (prt_pass_replace(&build, a, b))
        return POPRT_OK;
    PRT_TRY(prt_build_status(&build));
    return prt_fail(POPRT_E_STATE, a->name.data,
        "an output of the graph cannot become an input, a constant or another output");
}

void prt_plugin_host_edits(poprt_host *host)
{
    host->node_set_attr = node_set_attr;
    host->node_set_input = node_set_input;
    host->node_remove = node_remove;
    host->graph_add_node = graph_add_node;
    host->graph_add_constant = graph_add_constant;
    host->value_replace = value_replace;
}
