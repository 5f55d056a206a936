/* SPDX-License-Identifier: MIT */
/* write_back.c — replaces ops by the nodes of rows REASSEMBLE that they stand for. */
#include "converter/write_back.h"

#include "converter/downgrade.h"
#include "converter/onnx.h"
#include "ir/extra.h"

bool prt_onnx_has_replaced(const prt_graph *graph)
{
    prt_for_each_op (op, graph) {
        if (prt_source_node_reassemble(op) != NULL)
            return true;
        for (uint32_t i = 0; i < op->n_regions; i++)
            if (prt_onnx_has_replaced(op->regions[i]))
                return true;
    }
    return false;
}

/* Returns the node's attributes, followed by the extra fields of the op. */
static const prt_raw *list_extra(prt_arena *arena, const prt_raw *fields, const prt_raw *extra,
    poprt_status *status)
{
    const prt_raw *first = NULL;
    const prt_raw **end = &first;
    for (; fields != NULL; fields = fields->next) {
        prt_raw *copy = prt_arena_copy(arena, fields, sizeof(*fields));
        if (copy == NULL) {
            *status = POPRT_E_NOMEM;
            return NULL;
        }
        *end = copy;
        end = (const prt_raw **)&copy->next;
    }
    *end = extra;
    return first;
}

static poprt_status add_node(prt_write_back *w, const prt_op *op)
{
    const prt_source_node *as = op->source_node;
    poprt_status status = POPRT_OK;
    prt_op *node = prt_graph_add_op(op->graph, w->b.before, NULL, w->n_in, w->n_out, 0);
    if (node == NULL)
        return POPRT_E_NOMEM;
    node->domain = as->domain;
    node->name = as->name;
    node->origin = op->origin;
    node->merged = op->merged;
    node->source_opset = (uint32_t)as->version;
    node->extra = list_extra(op->graph->module->arena, as->fields, op->extra, &status);
    PRT_TRY(status);
    for (uint32_t i = 0; i < w->n_in; i++)
        prt_op_set_input(node, i, w->in[i]);
    for (uint32_t i = 0; i < w->n_out; i++) {
        node->out[i].type = w->out[i]->type;
        prt_build_replace_uses(&w->b, w->out[i], &node->out[i]);
    }
    return prt_build_status(&w->b);
}

/* Returns the op before a Transpose that may belong to the same node, else the op itself. */
static prt_op *inner_of(prt_op *op)
{
    prt_value *x = prt_op_is(op, PRT_OP_transpose) ? prt_op_input(op, 0) : NULL;
    return x != NULL && x->def != NULL && x->def->graph == op->graph && prt_value_is_read_by(x, op)
        ? x->def
        : op;
}

poprt_status prt_write_back_op(prt_op *op, bool *done)
{
    prt_op *const inner = inner_of(op);
    const prt_reassemble_fn back = prt_source_node_reassemble(inner);
    *done = false;
    if (back == NULL)
        return POPRT_OK;
    prt_write_back w = { .b = prt_build_before(inner) };
    const bool found = back(&w, inner);
    PRT_TRY(prt_build_status(&w.b));
    if (!found || (inner != op && w.out[0]->def != op))
        return POPRT_OK;
    prt_op *const outer = w.out[0]->def;
    PRT_TRY(add_node(&w, inner));
    if (outer != inner)
        prt_op_erase(outer);
    prt_op_erase(inner);
    *done = true;
    return POPRT_OK;
}
