/* SPDX-License-Identifier: MIT */
/*
 * checks.c — check_unsupported_attribute: warns of unknown operators, and of attributes that the
 * operator's schema lacks and that the library ignores (marks that begin with two underscores are
 * meant to be kept).
 *
 * final_check: the last pass. Infers types again, merges equal initializers, makes names of nodes
 * unique, lets the file contain the types of all values, and warns of values without a known type
 * or shape. It never fails because of its findings.
 */
#include "ir/extra.h"
#include "pass/engine/pass.h"

static poprt_status check_attributes(prt_pass *p, prt_graph *graph, bool *changed)
{
    (void)changed;
    prt_for_each_op (op, graph) {
        prt_str name;
        if (op->def == NULL)
            prt_pass_warn(p, prt_op_label(op),
                "operator %s of domain %s is unknown; the "
                "model cannot be compiled",
                op->name.data, op->domain.size != 0 ? op->domain.data : "ai.onnx");
        for (const prt_raw *at = NULL; op->def != NULL && prt_op_next_extra(op, &at, &name);)
            if (name.size < 2 || memcmp(name.data, "__", 2) != 0)
                prt_pass_warn(p, prt_op_label(op), "%s has no attribute %.*s: it has no effect",
                    op->name.data, PRT_STR_ARG(name));
    }
    return POPRT_OK;
}

static poprt_status run_attributes(prt_pass *p, prt_graph *graph, bool *changed)
{
    return prt_pass_each_graph(p, graph, check_attributes, changed);
}

const prt_pass_hooks prt_pass_check_unsupported_attribute = { .run = run_attributes };

/* ---- final_check */

static void check_value(const prt_pass *p, const prt_value *v)
{
    const prt_type *type = v->type;
    const char *name = v->name.size != 0 ? v->name.data : "a value without name";
    if (type->kind == PRT_VALUE_UNKNOWN ||
        (prt_type_is_tensor(type) && type->dtype == PRT_DTYPE_undefined)) {
        prt_pass_warn(p, name, "has no known type");
        return;
    }
    if (!prt_type_is_tensor(type))
        return;
    if (type->rank < 0) {
        prt_pass_warn(p, name, "has no known shape");
        return;
    }
    for (int32_t i = 0; i < type->rank; i++)
        if (type->dims[i] == 0) {
            prt_pass_warn(p, name, "has no elements: dimension %d is 0", i);
            return;
        }
}

static poprt_status check_types(prt_pass *p, prt_graph *graph, bool *changed)
{
    (void)changed;
    prt_for_each_op (op, graph)
        for (uint32_t i = 0; i < op->n_out; i++)
            if (prt_value_used(&op->out[i]))
                check_value(p, &op->out[i]);
    return POPRT_OK;
}

static poprt_status run_final(prt_pass *p, prt_graph *graph, bool *changed)
{
    static const char *const parts[] = { "sort_graph", "shape_inference",
        "remove_duplicated_initializer", "unique_name_for_nodes" };
    for (size_t i = 0; i < PRT_COUNT_OF(parts); i++)
        PRT_TRY(prt_pass_run_other(p, parts[i], changed));
    p->module->describes_values = true;
    return prt_pass_each_graph(p, graph, check_types, changed);
}

const prt_pass_hooks prt_pass_final_check = { .run = run_final };
