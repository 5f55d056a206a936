/* SPDX-License-Identifier: MIT */
/*
 * retype_unknown.c — element types of values that depend on unknown operators.
 *
 * Inference knows nothing about results of operators outside the table. But all slots of one type
 * variable have one type: a value multiplied by a float32 constant is float32. Without this rule
 * the constant would become float16 and the value would not.
 */
#include "pass/precision/retype_state.h"

enum { ROUNDS = 16, MAX_DEPTH = 256 };

static bool is_unknown(const prt_value *v)
{
    return v != NULL &&
        (v->type->kind == PRT_VALUE_UNKNOWN ||
            (v->type->kind == PRT_VALUE_TENSOR && v->type->dtype == PRT_DTYPE_undefined));
}

/* Returns whether the slot has exactly the type of the variable. */
static bool has_var(const prt_slot_def *slot, const prt_type_def *var)
{
    return slot != NULL && (slot->flags & PRT_SLOT_HETEROGENEOUS) == 0 &&
        strcmp(slot->var, var->var) == 0;
}

static void read_dtype(const prt_value *v, int32_t *dtype)
{
    if (v != NULL && v->type->kind == PRT_VALUE_TENSOR && v->type->dtype != PRT_DTYPE_undefined)
        *dtype = v->type->dtype;
}

/* Returns the element type of a variable in this op; PRT_DTYPE_undefined if no slot tells. */
static int32_t type_of_var(const prt_op *op, const prt_type_def *var)
{
    int32_t dtype = PRT_DTYPE_undefined;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (has_var(prt_op_in_slot(op->def, i), var))
            read_dtype(op->in[i].value, &dtype);
    for (uint32_t i = 0; i < op->n_out; i++)
        if (has_var(prt_op_out_slot(op->def, i), var))
            read_dtype(&op->out[i], &dtype);
    return dtype;
}

static poprt_status learn_value(prt_retype_state *s, prt_value *v, int32_t dtype, bool *learned)
{
    if (!is_unknown(v))
        return POPRT_OK;
    const bool tensor = v->type->kind == PRT_VALUE_TENSOR;
    const prt_type *type = prt_type_tensor(s->p->module->types, dtype,
        tensor ? v->type->rank : PRT_RANK_UNKNOWN, tensor ? v->type->dims : NULL);
    if (type == NULL)
        return POPRT_E_NOMEM;
    v->type = type;
    *learned = true;
    return POPRT_OK;
}

static poprt_status learn_var(prt_retype_state *s, prt_op *op, const prt_type_def *var,
    bool *learned)
{
    const int32_t dtype = type_of_var(op, var);
    if (dtype == PRT_DTYPE_undefined)
        return POPRT_OK;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (has_var(prt_op_in_slot(op->def, i), var))
            PRT_TRY(learn_value(s, op->in[i].value, dtype, learned));
    for (uint32_t i = 0; i < op->n_out; i++)
        if (has_var(prt_op_out_slot(op->def, i), var))
            PRT_TRY(learn_value(s, &op->out[i], dtype, learned));
    return POPRT_OK;
}

static bool has_unknown(const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (is_unknown(op->in[i].value))
            return true;
    for (uint32_t i = 0; i < op->n_out; i++)
        if (is_unknown(&op->out[i]))
            return true;
    return false;
}

static poprt_status learn_graph(prt_retype_state *s, prt_graph *graph, uint32_t depth, bool *any)
{
    if (depth > MAX_DEPTH)
        return prt_fail(POPRT_E_LIMIT, graph->name.data, "regions are nested too deeply");
    prt_for_each_op (op, graph) {
        bool learned = false;
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(learn_graph(s, op->regions[i], depth + 1, any));
        if (op->def == NULL || !has_unknown(op))
            continue;
        PRT_TRY(prt_pass_check(s->p));
        for (uint32_t k = 0; k < op->def->n_types; k++)
            PRT_TRY(learn_var(s, op, &op->def->types[k], &learned));
        *any = *any || learned;
    }
    return POPRT_OK;
}

poprt_status prt_retype_infer_unknown(prt_retype_state *s)
{
    bool changed = true;
    for (uint32_t round = 0; round < ROUNDS && changed; round++) {
        changed = false;
        PRT_TRY(learn_graph(s, s->p->module->main, 0, &changed));
    }
    return POPRT_OK;
}

bool prt_retype_may_be_from(const prt_retype_state *s, const prt_op *op)
{
    for (uint32_t i = 0; op->n_regions == 0 && i < op->n_in; i++)
        if (is_unknown(op->in[i].value) &&
            prt_retype_allows(op, prt_op_in_slot(op->def, i), s->how->from))
            return true;
    return false;
}
