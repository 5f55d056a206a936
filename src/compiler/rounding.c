/* SPDX-License-Identifier: MIT */
/*
 * rounding.c — stochastic rounding as a form of the graph.
 *
 *     y = Op(x)                     y = StochasticRound(Op(Cast(x)))
 *     y = Cast(x)                   y = StochasticRound(x)
 *     w' = SgdUpdate(w, g)          Assign(w, StochasticRound(SgdUpdate(Cast(w), g)))
 *     a' = Assign(a, g)             Assign(a, StochasticRound(g))
 *
 * Here x, y, w and a are float16; the Casts of operands give float32. Operators stay that move
 * elements, that compute with constants alone, or that give float16 whatever their operands are.
 */
#include "compiler/rounding.h"

#include "ir/build.h"

static bool is_half(const prt_value *v)
{
    return v != NULL && v->type->kind == PRT_VALUE_TENSOR && v->type->dtype == PRT_DTYPE_f16;
}

/* Returns whether a rounding of this value to float16 loses bits and the value is a number. */
static bool is_wide(const prt_value *v)
{
    return v->type->kind == PRT_VALUE_TENSOR &&
        (v->type->dtype == PRT_DTYPE_f32 || v->type->dtype == PRT_DTYPE_f64 ||
            v->type->dtype == PRT_DTYPE_bf16);
}

static bool takes_float(const prt_op *op, const prt_slot_def *slot)
{
    for (uint32_t i = 0; slot != NULL && i < op->def->n_types; i++)
        if (strcmp(op->def->types[i].var, slot->var) == 0)
            return (op->def->types[i].set & PRT_T(f32)) != 0;
    return false;
}

static bool updates(const prt_op *op)
{
    return (op->def->traits & PRT_UPDATES) != 0;
}

/* ---- one op */

/* An op before its conversion. */
typedef struct former {
    prt_value **in;
    const prt_type **types; /* of the outputs */
} former;

static poprt_status save(const prt_op *op, former *to)
{
    prt_arena *arena = op->graph->module->arena;
    to->in = PRT_NEW_N(arena, prt_value *, (size_t)op->n_in + 1);
    to->types = PRT_NEW_N(arena, const prt_type *, (size_t)op->n_out + 1);
    if (to->in == NULL || to->types == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->n_in; i++)
        to->in[i] = op->in[i].value;
    for (uint32_t i = 0; i < op->n_out; i++)
        to->types[i] = op->out[i].type;
    return POPRT_OK;
}

/* Casts the float16 operands: of an op that writes variables, their old values only. */
static poprt_status widen_operands(prt_op *op, bool *any)
{
    const uint32_t n = updates(op) && op->n_out < op->n_in ? op->n_out : op->n_in;
    prt_build b = prt_build_before(op);
    prt_cast_attrs a = PRT_ATTRS_OF(cast);
    PRT_ATTR_SET(a, cast, to, PRT_DTYPE_f32);
    *any = false;
    for (uint32_t i = 0; i < n; i++) {
        prt_value *x = op->in[i].value;
        if (!is_half(x) || !takes_float(op, prt_op_in_slot(op->def, i)))
            continue;
        prt_value *wide = prt_build_op(&b, PRT_OP_cast, &a, 1, &x);
        PRT_TRY(prt_build_status(&b));
        prt_op_set_input(op, i, wide);
        *any = true;
    }
    return POPRT_OK;
}

/* Types the op anew. Sets `*wide` to whether its float16 results are float32 now. */
static poprt_status infer(prt_op *op, bool *wide)
{
    *wide = true;
    for (uint32_t i = 0; i < op->n_out; i++) {
        const prt_type *type = op->out[i].type;
        if (is_half(&op->out[i]))
            op->out[i].type =
                prt_type_tensor(op->graph->module->types, PRT_DTYPE_f32, type->rank, type->dims);
        if (op->out[i].type == NULL)
            return POPRT_E_NOMEM;
    }
    const poprt_status status = prt_ir_infer_op(op);
    if (status == POPRT_E_NOMEM)
        return status;
    for (uint32_t i = 0; i < op->n_out; i++)
        *wide = *wide && status == POPRT_OK && !is_half(&op->out[i]);
    return POPRT_OK;
}

static void go_back(prt_op *op, const former *was)
{
    for (uint32_t i = 0; i < op->n_in; i++) {
        prt_value *cast = op->in[i].value;
        prt_op_set_input(op, i, was->in[i]);
        if (cast != was->in[i])
            prt_op_erase(cast->def);
    }
    for (uint32_t i = 0; i < op->n_out; i++)
        op->out[i].type = was->types[i];
}

/* Rounds output i, and writes it to `variable` unless that is NULL. */
static poprt_status round_output(prt_op *op, uint32_t i, prt_value *variable)
{
    prt_value *x = &op->out[i];
    prt_build b = op->next != NULL ? prt_build_before(op->next) : prt_build_at_end(op->graph);
    b.origin = op->origin;
    b.like = op;
    prt_value *y = prt_build_unary(&b, PRT_OP_stochastic_round, x);
    PRT_TRY(prt_build_status(&b));
    prt_build_replace_uses(&b, x, y);
    prt_op_set_input(y->def, 0, x);
    if (variable != NULL)
        (void)prt_build_binary(&b, PRT_OP_assign, variable, y);
    return prt_build_status(&b);
}

static poprt_status round_results(prt_op *op)
{
    former was;
    bool any, wide;
    PRT_TRY(save(op, &was));
    PRT_TRY(widen_operands(op, &any));
    if (!any)
        return POPRT_OK;
    PRT_TRY(infer(op, &wide));
    if (!wide) {
        go_back(op, &was);
        return POPRT_OK;
    }
    prt_op_touch(op);
    for (uint32_t i = op->n_out; i-- > 0;) {
        prt_value *old = updates(op) && i < op->n_in ? was.in[i] : NULL;
        prt_value *variable = old != NULL && old->variable != NULL ? old : NULL;
        if (was.types[i]->kind == PRT_VALUE_TENSOR && was.types[i]->dtype == PRT_DTYPE_f16 &&
            (variable != NULL || prt_value_used(&op->out[i])))
            PRT_TRY(round_output(op, i, variable));
    }
    return POPRT_OK;
}

static poprt_status round_cast(prt_op *op)
{
    prt_build b = prt_build_before(op);
    prt_value *y = prt_build_unary(&b, PRT_OP_stochastic_round, op->in[0].value);
    PRT_TRY(prt_build_status(&b));
    prt_build_replace(&b, &op->out[0], y);
    return prt_build_status(&b);
}

static poprt_status round_assigned(prt_op *op)
{
    prt_build b = prt_build_before(op);
    prt_value *y = prt_build_unary(&b, PRT_OP_stochastic_round, op->in[1].value);
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(op, 1, y);
    return POPRT_OK;
}

/* ---- graphs */

/* Returns whether some result is float16 and arithmetic makes it. */
static bool computes_half(const prt_op *op)
{
    const uint32_t stay = PRT_VIEW | PRT_STATEFUL | PRT_COLLECTIVE;
    bool any = false;
    for (uint32_t i = 0; i < op->n_out; i++)
        any = any || is_half(&op->out[i]);
    return any && op->n_regions == 0 && op->def->id < PRT_OP_COUNT &&
        (op->def->traits & stay) == 0 && !prt_op_only_moves(op->def, op->attrs);
}

static poprt_status visit(prt_op *op)
{
    if (!computes_half(op))
        return POPRT_OK;
    if (prt_op_is(op, PRT_OP_cast) || prt_op_is(op, PRT_OP_cast_like))
        return is_wide(op->in[0].value) ? round_cast(op) : POPRT_OK;
    if (prt_op_is(op, PRT_OP_assign))
        return is_wide(op->in[1].value) ? round_assigned(op) : POPRT_OK;
    return round_results(op);
}

/* Returns whether all inputs are known before a run; `known` has the first `n` values of the op's
 * graph, and roundings are among the others. */
static bool is_known(const prt_op *op, const bool *known, uint32_t n)
{
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = op->in[i].value;
        if (v != NULL && !prt_value_is_fixed(v) &&
            (v->graph != op->graph || v->def == NULL || v->id >= n || !known[v->id]))
            return false;
    }
    return (op->def->traits & PRT_PURE) != 0;
}

static poprt_status round_graph(prt_graph *graph)
{
    const uint32_t n = graph->n_values;
    bool *known = PRT_NEW_N(graph->module->arena, bool, (size_t)n + 1);
    if (known == NULL)
        return POPRT_E_NOMEM;
    for (prt_op *op = graph->first, *next; op != NULL; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(round_graph(op->regions[i]));
        if (op->def == NULL)
            continue;
        const bool constant = is_known(op, known, n);
        for (uint32_t i = 0; i < op->n_out; i++)
            known[op->out[i].id] = constant;
        if (!constant)
            PRT_TRY(visit(op));
    }
    return POPRT_OK;
}

poprt_status prt_round_stochastically(prt_module *module)
{
    PRT_TRY(round_graph(module->main));
    for (size_t i = 0; i < module->entries.count; i++)
        PRT_TRY(round_graph(module->entries.data[i].graph));
    return POPRT_OK;
}
