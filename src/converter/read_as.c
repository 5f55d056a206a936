/* SPDX-License-Identifier: MIT */
/* read_as.c — decides which ops are written as the node they were read from. */
#include "converter/read_as.h"

#include "converter/history.h"
#include "converter/onnx_raw.h"
#include "converter/write_back.h"

static const prt_kept kept[] = {
#define WRITE_AS_READ(domain, name, types) { domain, name, types, NULL },
#define REASSEMBLE(domain, name, types, back) { domain, name, types, back },
#include "converter/upgrade.def"
};

static const prt_kept *row_of(prt_str domain, prt_str name)
{
    for (size_t i = 0; i < PRT_COUNT_OF(kept); i++)
        if (prt_str_is(name, kept[i].name) && prt_str_is(domain, kept[i].domain))
            return &kept[i];
    return NULL;
}

prt_read_before prt_read_as_before(const prt_upgrade *u)
{
    const prt_op *op = u->op;
    prt_read_before before = { .op = op, .domain = op->domain, .name = op->name };
    /* A node of a function has no source bytes, and attributes from elsewhere. */
    if (op->source == NULL || op->n_in > PRT_READ_AS_INPUTS || op->n_regions != 0)
        return before;
    before.row = row_of(op->domain, op->name);
    before.n_in = op->n_in;
    for (uint32_t i = 0; i < op->n_in; i++)
        before.in[i] = op->in[i].value;
    return before;
}

/* Absent inputs at the end are ignored. */
static bool same_inputs(const prt_op *op, const prt_read_before *before)
{
    for (uint32_t i = 0; i < PRT_READ_AS_INPUTS; i++)
        if (prt_op_input(op, i) != (i < before->n_in ? before->in[i] : NULL))
            return false;
    return op->n_in <= PRT_READ_AS_INPUTS;
}

static uint32_t used_inputs(const prt_op *op)
{
    uint32_t n = op->n_in;
    while (n > 0 && op->in[n - 1].value == NULL)
        n--;
    return n;
}

/* Returns whether the op that stands for the node is recorded to be written as that node. */
static bool is_recorded(const prt_op *op, const prt_read_before *before)
{
    if (before->row == NULL || op->source != NULL || op->def == NULL)
        return false;
    return before->row->back != NULL || (op == before->op && same_inputs(op, before));
}

poprt_status prt_read_as_note(prt_upgrade *u, const prt_read_before *before)
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
    prt_read_as *as = PRT_NEW(arena, prt_read_as);
    if (as == NULL)
        return POPRT_E_NOMEM;
    *as = (prt_read_as){ .domain = before->domain,
        .name = before->name,
        .version = u->version,
        .types = before->row->types,
        .n_in = used_inputs(op),
        .rebuilt = before->row->back != NULL,
        .def = op->def,
        .attrs = prt_arena_copy(arena, op->attrs, op->def->attrs_size),
        .fields = fields.first };
    op->read_as = as;
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
    const prt_read_as *as = op->read_as;
    return as != NULL && op->def == as->def && prt_attrs_equal(op->def, op->attrs, as->attrs);
}

bool prt_read_as_holds(const prt_op *op)
{
    const prt_read_as *as = op->read_as;
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

bool prt_read_as_at(const prt_op *op, int64_t version)
{
    if (!prt_read_as_holds(op))
        return false;
    return !prt_str_is(op->read_as->domain, PRT_HISTORY_ML) ||
        prt_history_version(op->read_as->name, version) ==
        prt_history_version(op->read_as->name, op->read_as->version);
}

prt_back_fn prt_read_as_back(const prt_op *op)
{
    const prt_read_as *as = op->read_as;
    if (as == NULL || !as->rebuilt || !is_unchanged(op) || op->n_in == 0 ||
        op->in[0].value == NULL || !takes(as->types, op->in[0].value->type) ||
        !takes(as->types, op->out[0].type))
        return NULL;
    return row_of(as->domain, as->name)->back;
}
