/* SPDX-License-Identifier: MIT */
/* variable.c — variables of a module, and the graphs of its entries. */
#include "ir/ir.h"

prt_ir_variable *prt_module_variable(const prt_module *module, prt_str name)
{
    return prt_map_find(&module->variable_names, name);
}

prt_ir_variable *prt_module_add_variable(prt_module *module, prt_str name, const prt_type *type,
    uint32_t role)
{
    prt_ir_variable *v = PRT_NEW(module->arena, prt_ir_variable);
    if (v == NULL)
        return NULL;
    *v = (prt_ir_variable){ .index = (uint32_t)module->variables.count,
        .name = prt_module_str(module, name),
        .type = type,
        .role = role,
        .of = (uint32_t)module->variables.count };
    if (v->name.data == NULL || !PRT_VEC_PUSH(module->arena, &module->variables, v) ||
        prt_map_set(&module->variable_names, v->name, v) != POPRT_OK)
        return NULL;
    return v;
}

/* Makes `value` the value of a variable in a graph. */
static bool add_value(prt_graph *graph, const prt_ir_variable *variable, prt_value *value)
{
    return PRT_VEC_PUSH(graph->module->arena, &graph->variables, value) &&
        prt_map_set(&graph->variable_values, variable->name, value) == POPRT_OK;
}

prt_value *prt_graph_variable(prt_graph *graph, const prt_ir_variable *variable)
{
    prt_module *m = graph->module;
    prt_value *v = prt_map_find(&graph->variable_values, variable->name);
    if (v != NULL && v->variable == variable)
        return v;
    v = PRT_NEW(m->arena, prt_value);
    if (v == NULL)
        return NULL;
    *v = (prt_value){ .id = graph->n_values++,
        .type = variable->type,
        .graph = graph,
        .name = PRT_STR(""),
        .doc = PRT_STR(""),
        .variable = variable };
    if (graph == m->main && prt_map_find(&m->names, variable->name) == NULL &&
        prt_value_set_name(v, variable->name) != POPRT_OK)
        return NULL;
    return add_value(graph, variable, v) ? v : NULL;
}

static poprt_status make_variable(prt_value *constant, uint32_t role)
{
    prt_graph *graph = constant->graph;
    prt_ir_variable *v =
        prt_module_add_variable(graph->module, constant->name, constant->type, role);
    if (v == NULL || !add_value(graph, v, constant))
        return POPRT_E_NOMEM;
    v->init = constant->constant;
    constant->constant = NULL;
    constant->content = NULL;
    constant->variable = v;
    prt_for_each_use (use, constant)
        prt_op_touch(use->user);
    return POPRT_OK;
}

poprt_status prt_graph_make_variables(prt_graph *graph, size_t count, prt_value *const *constants,
    uint32_t role)
{
    for (size_t i = 0; i < count; i++)
        PRT_TRY(make_variable(constants[i], role));
    size_t kept = 0;
    for (size_t i = 0; i < graph->constants.count; i++)
        if (graph->constants.data[i]->variable == NULL)
            graph->constants.data[kept++] = graph->constants.data[i];
    graph->constants.count = kept;
    return POPRT_OK;
}

prt_ir_variable *prt_value_make_variable(prt_value *constant, uint32_t role)
{
    if (prt_graph_make_variables(constant->graph, 1, &constant, role) != POPRT_OK)
        return NULL;
    return (prt_ir_variable *)(uintptr_t)constant->variable;
}

prt_graph *prt_module_entry(prt_module *module, uint32_t kind)
{
    for (size_t i = 0; i < module->entries.count; i++)
        if (module->entries.data[i].kind == kind)
            return module->entries.data[i].graph;
    const prt_ir_entry entry = { kind, prt_graph_create(module, NULL) };
    if (entry.graph == NULL || !PRT_VEC_PUSH(module->arena, &module->entries, entry))
        return NULL;
    return entry.graph;
}

/* Returns whether the operator computes shapes from this input, which passes and plans need. */
static bool decides_shape(const prt_use *use)
{
    const prt_op *op = use->user;
    return prt_op_is(op, PRT_OP_range) || (prt_op_is(op, PRT_OP_resize) && use != &op->in[0]);
}

/* Returns whether all readers take the value as the bias of a quantised convolution or product. */
static bool is_quantized_bias(const prt_value *v)
{
    prt_for_each_use (use, v) {
        const prt_op *op = use->user;
        const uint32_t slot = (uint32_t)(use - op->in);
        if (!(prt_op_is(op, PRT_OP_qlinear_conv) && slot == 8) &&
            !(prt_op_is(op, PRT_OP_dequantize_linear) && slot == 0) &&
            !(op->def != NULL && strcmp(op->def->name, "QGemm") == 0 && slot == 6))
            return false;
    }
    return true;
}

bool prt_value_may_be_free(const prt_value *v)
{
    if (!prt_value_is_constant(v) || v->initializer == PRT_INITIALIZER_none || v->name.size == 0 ||
        !prt_type_is_tensor(v->type) || !prt_type_is_static(v->type) ||
        v->type->rank > PRT_MAX_RANK)
        return false;
    const int32_t dtype = v->type->dtype;
    if (!(prt_dtype_is_float(dtype) && prt_dtype_bits(dtype) >= 8) && dtype != PRT_DTYPE_i8 &&
        dtype != PRT_DTYPE_u8 && !(dtype == PRT_DTYPE_i32 && is_quantized_bias(v)))
        return false;
    prt_for_each_use (use, v)
        if (decides_shape(use))
            return false;
    return true;
}

poprt_status prt_module_free_weights(prt_module *module)
{
    prt_graph *g = module->main;
    size_t n = 0;
    prt_value **weights = PRT_NEW_N(module->arena, prt_value *, g->constants.count);
    if (weights == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = g->constants.count; i-- > 0;)
        if (prt_value_may_be_free(g->constants.data[i]))
            weights[n++] = g->constants.data[i];
    return prt_graph_make_variables(g, n, weights, PRT_VARIABLE_weight);
}
