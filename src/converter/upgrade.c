/* SPDX-License-Identifier: MIT */
/* upgrade.c — runs the rows of upgrade.def and converts a node's attributes into those of its
 * op. */
#include "converter/upgrade.h"

#include "converter/conversions.h"
#include "converter/onnx_raw.h"
#include "converter/source_node.h"
#include "ir/place.h"
#include "ir/report.h"
#include "op/words.h"

static const prt_opset_variant variants[] = {
#define VARIANT(domain, name, from, to, up, down) { domain, name, from, to, up, down },
#define UPGRADE(domain, name, from, to, up) { domain, name, from, to, up, NULL },
#define DOWNGRADE(domain, name, from, to, down) { domain, name, from, to, NULL, down },
#include "converter/upgrade.def"
};

static const struct {
    char name[28];
    int32_t since;
} meanings[] = {
#define MEANING(domain, name, since) { name, since },
#include "converter/upgrade.def"
};

const prt_opset_variant *prt_opset_variants(size_t *count)
{
    *count = PRT_COUNT_OF(variants);
    return variants;
}

int64_t prt_opset_variant_meaning(prt_str name)
{
    int64_t since = 1;
    for (size_t i = 0; i < PRT_COUNT_OF(meanings); i++)
        if (meanings[i].since > since && prt_str_is(name, meanings[i].name))
            since = meanings[i].since;
    return since;
}

/* ---- attributes ---- */

const prt_node_attr *prt_upgrade_attr(prt_upgrade *u, const char *name)
{
    for (uint32_t i = 0; i < u->n_attrs; i++)
        if (prt_str_is(u->attrs[i].name, name)) {
            u->attrs[i].taken = true;
            return &u->attrs[i];
        }
    return NULL;
}

int64_t prt_upgrade_i64(prt_upgrade *u, const char *name, int64_t absent)
{
    const prt_node_attr *a = prt_upgrade_attr(u, name);
    return a != NULL && a->kind == PRT_ONNX_INT ? a->i : absent;
}

float prt_upgrade_f32(prt_upgrade *u, const char *name, float absent)
{
    const prt_node_attr *a = prt_upgrade_attr(u, name);
    return a != NULL && a->kind == PRT_ONNX_FLOAT ? a->f : absent;
}

/* In files that predate AttributeProto.type, an attribute without any value (kind 0) is an empty
 * list. */
static bool set_field(const prt_attr_def *row, const prt_node_attr *a, void *to)
{
    static const int32_t kinds[] = {
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
    const bool list =
        row->kind == PRT_ATTR_i64s || row->kind == PRT_ATTR_f32s || row->kind == PRT_ATTR_strs;
    if (a->kind != kinds[prt_attr_outer_kind(row->kind)] && !(a->kind == 0 && list))
        return false;
    switch (row->kind) {
    case PRT_ATTR_i64:
        *(int64_t *)to = a->i;
        break;
    case PRT_ATTR_f32:
        *(float *)to = a->f;
        break;
    case PRT_ATTR_str:
        *(prt_str *)to = a->s;
        break;
    case PRT_ATTR_act:
    case PRT_ATTR_form:
    case PRT_ATTR_products:
        return prt_attr_set_word(row->kind, a->s, to);
    case PRT_ATTR_i64s:
        *(prt_i64s *)to = a->ints;
        break;
    case PRT_ATTR_f32s:
        *(prt_f32s *)to = a->floats;
        break;
    case PRT_ATTR_strs:
        *(prt_strs *)to = a->strings;
        break;
    case PRT_ATTR_tensor:
        *(const prt_tensor **)to = a->tensor;
        break;
    case PRT_ATTR_graph:
        *(uint32_t *)to = a->graph;
        break;
    default:
        *(const prt_type **)to = a->type;
        break;
    }
    return true;
}

/* Copies the node's attributes to the typed attributes of the op, by name and kind. */
static void fill_attrs(prt_upgrade *u)
{
    const prt_op_def *def = u->op->def;
    for (uint32_t i = 0; i < u->n_attrs; i++) {
        prt_node_attr *a = &u->attrs[i];
        const uint32_t k = a->taken ? UINT32_MAX : prt_op_attr(def, a->name);
        if (k == UINT32_MAX ||
            !set_field(&def->attrs[k], a, (char *)u->op->attrs + def->attrs[k].offset))
            continue;
        *(uint64_t *)u->op->attrs |= (uint64_t)1 << k;
        a->taken = true;
    }
}

poprt_status prt_upgrade_become(prt_upgrade *u, uint32_t id)
{
    prt_op *op = u->op;
    const prt_op_def *def = prt_op_of(id);
    void *attrs = prt_arena_copy(op->graph->module->arena, def->defaults, def->attrs_size);
    if (attrs == NULL)
        return POPRT_E_NOMEM;
    op->def = def;
    op->attrs = attrs;
    op->domain = prt_str_of(def->domain);
    op->name = prt_str_of(def->name);
    prt_op_touch(op);
    fill_attrs(u);
    return POPRT_OK;
}

poprt_status prt_upgrade_ints_to_input(prt_upgrade *u, const char *name, uint32_t slot)
{
    const prt_node_attr *a = prt_upgrade_attr(u, name);
    if (a == NULL)
        return POPRT_OK;
    if (a->kind != PRT_ONNX_INTS && a->kind != 0)
        return prt_fail(POPRT_E_PARSE, prt_op_label(u->op),
            "%.100s: attribute '%.100s' must be a list of integers", u->op->name.data, name);
    prt_build b = prt_build_before(u->op);
    prt_value *value = prt_build_i64s(&b, a->ints.count, a->ints.data);
    PRT_TRY(prt_build_status(&b));
    while (u->op->n_in <= slot)
        PRT_TRY(prt_op_add_input(u->op, NULL));
    prt_op_set_input(u->op, slot, value);
    return POPRT_OK;
}

poprt_status prt_upgrade_refuse(const prt_upgrade *u, poprt_status status, const char *what)
{
    return prt_fail(status, prt_op_label(u->op), "%.100s of opset %lld: %s", u->op->name.data,
        (long long)u->version, what);
}

void prt_upgrade_set_attr(prt_upgrade *u, size_t offset, const void *value, size_t size)
{
    prt_op *op = u->op;
    memcpy((char *)op->attrs + offset, value, size);
    for (uint32_t i = 0; i < op->def->n_attrs; i++)
        if (op->def->attrs[i].offset == offset)
            *(uint64_t *)op->attrs |= (uint64_t)1 << i;
}

const prt_type *prt_upgrade_ranked(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) && v->type->rank >= 0 ? v->type : NULL;
}

poprt_status prt_upgrade_become_reshape(prt_upgrade *u, prt_build *b, prt_value *value,
    prt_value *like)
{
    prt_value *shape = prt_build_unary(b, PRT_OP_shape, like);
    PRT_TRY(prt_build_status(b));
    PRT_TRY(prt_upgrade_become(u, PRT_OP_reshape));
    PRT_UPGRADE_SET(u, reshape, allowzero, 1);
    for (uint32_t i = u->op->n_in; i < 2; i++)
        PRT_TRY(prt_op_add_input(u->op, NULL));
    prt_op_set_input(u->op, 0, value);
    prt_op_set_input(u->op, 1, shape);
    for (uint32_t i = 2; i < u->op->n_in; i++)
        prt_op_set_input(u->op, i, NULL);
    u->op->n_in = 2;
    return POPRT_OK;
}

/* ---- rows ---- */

static const prt_opset_variant *next_row(const prt_op *op, int64_t version)
{
    const char first = op->name.size != 0 ? op->name.data[0] : '\0'; /* avoids most comparisons */
    for (size_t i = 0; i < PRT_COUNT_OF(variants); i++)
        if (variants[i].up != NULL && variants[i].from <= version && version < variants[i].to &&
            variants[i].name[0] == first && prt_str_is(op->name, variants[i].name) &&
            prt_str_is(op->domain, variants[i].domain))
            return &variants[i];
    return NULL;
}

poprt_status prt_upgrade_op(prt_upgrade *u)
{
    int64_t version = u->version;
    const prt_opset_variant *row;
    while (u->op != NULL && (row = next_row(u->op, version)) != NULL) {
        prt_op_touch(u->op);
        if (u->op->graph->module->conversion_counts != NULL)
            u->op->graph->module->conversion_counts[2 * (row - variants)]++;
        PRT_TRY(row->up(u));
        version = row->to;
        if (u->op != NULL)
            u->op->source_opset = 0; /* canonical, like an op made by the library */
    }
    return POPRT_OK;
}

/* Handles the remaining attributes: fails on a wrong type, and keeps unknown ones as raw bytes. */
static poprt_status keep_attrs(prt_upgrade *u)
{
    prt_op *op = u->inner != NULL ? u->inner : u->op;
    prt_raw_list list = { NULL, NULL };
    for (uint32_t i = 0; i < u->n_attrs; i++) {
        const prt_node_attr *a = &u->attrs[i];
        if (a->taken)
            continue;
        /* consumed_inputs is an optimisation hint of opset 1 that every operator could carry. */
        if (u->version < 6 && prt_str_is(a->name, "consumed_inputs")) {
            prt_op_touch(op);
            continue;
        }
        if (op->def != NULL && prt_op_attr(op->def, a->name) != UINT32_MAX)
            return prt_fail(POPRT_E_PARSE, prt_op_label(op),
                "%.100s: attribute '%.*s' is of the wrong type (%d)", op->name.data,
                PRT_SHOW(a->name), a->kind);
        PRT_TRY(prt_raw_keep(op->graph->module->arena, &list, PRT_ONNX_Node_attribute,
            (prt_bytes){ a->field, a->field_size }));
    }
    if (list.last != NULL) {
        list.last->next = (prt_raw *)(uintptr_t)op->extra;
        op->extra = list.first;
    }
    return prt_op_read_place(op);
}

static poprt_status upgrade_node(prt_upgrade *u)
{
    PRT_TRY(prt_upgrade_check_names(u));
    const prt_saved_node before = prt_source_node_save(u);
    if (u->op->def != NULL)
        fill_attrs(u);
    PRT_TRY(prt_upgrade_op(u));
    if (u->op == NULL)
        return POPRT_OK;
    PRT_TRY(keep_attrs(u));
    PRT_TRY(prt_source_node_record(u, &before));
    const bool nested = u->op->graph->owner != NULL;
    return nested ? POPRT_OK : prt_ir_infer_op(u->op);
}

poprt_status prt_upgrade_all(prt_upgrade *nodes, size_t count)
{
    prt_report report = { .status = POPRT_OK };
    const prt_graph *main = NULL;
    for (size_t i = 0; i < count; i++) {
        const prt_op *op = nodes[i].op;
        const poprt_status status = upgrade_node(&nodes[i]);
        if (status == POPRT_E_NOMEM)
            return status;
        if (status != POPRT_OK)
            prt_ir_report_failure(&report, op, status);
        main = op->graph->module->main;
    }
    /* Also report unknown operators, so that the user gets all problems at once. */
    if (report.count != 0)
        prt_ir_report_unknown(&report, main);
    return prt_report_end(&report);
}
