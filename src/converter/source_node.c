/* SPDX-License-Identifier: MIT */
/* source_node.c — decides which ops are written as the node they were read from. */
#include "converter/source_node.h"

#include "converter/history.h"
#include "converter/onnx_raw.h"
#include "converter/write_back.h"

static const prt_source_node_row rows[] = {
#define WRITE_AS_READ(domain, name, types) { domain, name, types, NULL },
#define REASSEMBLE(domain, name, types, back) { domain, name, types, back },
#include "converter/upgrade.def"
};

static const prt_source_node_row *row_of(prt_str domain, prt_str name)
{
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
        if (prt_str_is(name, rows[i].name) && prt_str_is(domain, rows[i].domain))
            return &rows[i];
    return NULL;
}

prt_saved_node prt_source_node_save(const prt_upgrade *u)
{
    const prt_op *op = u->op;
    prt_saved_node before = { .op = op, .domain = op->domain, .name = op->name };
    /* A node of a function has no source bytes, and attributes from elsewhere. */
    if (op->source == NULL || op->n_in > PRT_SOURCE_NODE_INPUTS || op->n_regions != 0)
        return before;
    before.row = row_of(op->domain, op->name);
    before.n_in = op->n_in;
    for (uint32_t i = 0; i < op->n_in; i++)
        before.in[i] = op->in[i].value;
    return before;
}

/* Absent inputs at the end are ignored. */
static bool same_inputs(const prt_op *op, const prt_saved_node *before)
{
    for (uint32_t i = 0; i < PRT_SOURCE_NODE_INPUTS; i++)
        if (prt_op_input(op, i) != (i < before->n_in ? before->in[i] : NULL))
            return false;
    return op->n_in <= PRT_SOURCE_NODE_INPUTS;
}

static uint32_t used_inputs(const prt_op *op)
{
    uint32_t n = op->n_in;
    while (n > 0 && op->in[n - 1].value == NULL)
        n--;
    return n;
}

/* Returns whether the op that stands for the node is recorded to be written as that node. */
static bool is_recorded(const prt_op *op, const prt_saved_node *before)
{
    if (before->row == NULL || op->source != NULL || op->def == NULL)
        return false;
    return before->row->back != NULL || (op == before->op && same_inputs(op, before));
}

poprt_status prt_source_node_record(prt_upgrade *u, const prt_saved_node *before)
{
    prt_op *op = u->inner != NULL ? u->inner : u->op;
    if (!is_recorded(op, before))
        return POPRT_OK;
    prt_arena *arena = op->graph->module->arena;
    prt_raw_list fields = { NULL, NULL };
    for (uint32_t i = 0; i < u->n_attrs; i++)
        if (u->attrs[i].taken)
            PRT_TRY(prt_raw_keep(arena, &fields, PRT_ONNX_Node_attribute,
                (prt_bytes){ u->attrs[i].field, u->attrs[i].field_size }));
    prt_source_node *as = PRT_NEW(arena, prt_source_node);
    if (as == NULL)
        return POPRT_E_NOMEM;
    *as = (prt_source_node){ .domain = before->domain,
        .name = before->name,
        .version = u->version,
        .types = before->row->types,
        .n_in = used_inputs(op),
        .rebuilt = before->row->back != NULL,
        .def = op->def,
        .attrs = prt_arena_copy(arena, op->attrs, op->def->attrs_size),
        .fields = fields.first };
    op->source_node = as;
    return as->attrs != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static bool takes(uint64_t types, const prt_type *type)
{
    return types == 0 || !prt_type_is_tensor(type) || type->dtype == PRT_DTYPE_undefined ||
        (types >> type->dtype & 1) != 0;
}

/* Returns whether the op still has the operator and the attributes that the reader gave it. */
static bool is_unchanged(const prt_op *op)
{
    const prt_source_node *as = op->source_node;
    return as != NULL && op->def == as->def && prt_attrs_equal(op->def, op->attrs, as->attrs);
}

bool prt_source_node_is_current(const prt_op *op)
{
    const prt_source_node *as = op->source_node;
    if (as == NULL || as->rebuilt || used_inputs(op) != as->n_in || !is_unchanged(op))
        return false;
    for (uint32_t i = 0; i < as->n_in; i++)
        if (op->in[i].value != NULL && !takes(as->types, op->in[i].value->type))
            return false;
    for (uint32_t i = 0; i < op->n_out; i++)
        if (!takes(as->types, op->out[i].type))
            return false;
    return true;
}

bool prt_source_node_is_current_at(const prt_op *op, int64_t version)
{
    if (!prt_source_node_is_current(op))
        return false;
    return !prt_str_is(op->source_node->domain, PRT_HISTORY_ML) ||
        prt_history_version(op->source_node->name, version) ==
        prt_history_version(op->source_node->name, op->source_node->version);
}

prt_reassemble_fn prt_source_node_reassemble(const prt_op *op)
{
    const prt_source_node *as = op->source_node;
    if (as == NULL || !as->rebuilt || !is_unchanged(op) || op->n_in == 0 ||
        op->in[0].value == NULL || !takes(as->types, op->in[0].value->type) ||
        !takes(as->types, op->out[0].type))
        return NULL;
    return row_of(as->domain, as->name)->back;
}
