/* SPDX-License-Identifier: MIT */
/* interface.c — what a model takes and gives: finding, shaping, adding, removing. */
#include "ir/interface.h"

prt_value *prt_module_find_input(const prt_module *module, const char *name)
{
    const prt_graph *graph = module->main;
    for (size_t i = 0; i < graph->inputs.count; i++)
        if (prt_str_is(graph->inputs.data[i]->name, name))
            return graph->inputs.data[i];
    return NULL;
}

/* A symbol means the same number everywhere, so fixing it in one input fixes it in all. */
static poprt_status fix_dim(prt_module *module, int64_t dim, int64_t number)
{
    if (!prt_dim_is_expr(dim))
        return POPRT_OK;
    for (size_t i = 0; i < module->main->inputs.count; i++) {
        prt_value *v = module->main->inputs.data[i];
        if (!prt_type_is_tensor(v->type) || v->type->rank <= 0 || v->type->rank > PRT_MAX_RANK)
            continue;
        int64_t dims[PRT_MAX_RANK];
        for (int32_t d = 0; d < v->type->rank; d++)
            dims[d] = v->type->dims[d] == dim ? number : v->type->dims[d];
        const prt_type *type =
            prt_type_tensor(module->types, v->type->dtype, v->type->rank, dims);
        if (type == NULL)
            return POPRT_E_NOMEM;
        v->type = type;
    }
    return POPRT_OK;
}

static poprt_status check_shape(const prt_value *v, const int64_t *dims, uint32_t rank)
{
    const char *name = v->name.data;
    if (!prt_type_is_tensor(v->type))
        return prt_fail(POPRT_E_TYPE, name, "is not a tensor and has no shape");
    if (rank > PRT_MAX_RANK)
        return prt_fail(POPRT_E_LIMIT, name, "rank %u is above %d", rank, PRT_MAX_RANK);
    if (v->type->rank >= 0 && (uint32_t)v->type->rank != rank)
        return prt_fail(POPRT_E_SHAPE, name, "has %d dimensions, %u are given", v->type->rank,
            rank);
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < -1 || dims[i] > INT32_MAX)
            return prt_fail(POPRT_E_ARG, name, "dimension %u: %lld is not from -1 to %d", i,
                (long long)dims[i], INT32_MAX);
        const int64_t now = v->type->rank >= 0 ? v->type->dims[i] : PRT_DIM_UNKNOWN;
        if (dims[i] >= 0 && prt_dim_is_number(now) && now != dims[i])
            return prt_fail(POPRT_E_SHAPE, name,
                "dimension %u is %lld in the model and cannot become %lld", i, (long long)now,
                (long long)dims[i]);
    }
    return POPRT_OK;
}

poprt_status prt_module_set_input_shape(prt_module *module, const char *input,
    const int64_t *dims, uint32_t rank)
{
    prt_value *v = prt_module_find_input(module, input);
    int64_t now[PRT_MAX_RANK];
    if (v == NULL)
        return prt_fail(POPRT_E_NOT_FOUND, input, "the model has no input of this name");
    PRT_TRY(check_shape(v, dims, rank));
    for (uint32_t i = 0; i < rank; i++) {
        now[i] = v->type->rank >= 0 ? v->type->dims[i] : PRT_DIM_UNKNOWN;
        if (dims[i] < 0)
            continue;
        PRT_TRY(fix_dim(module, now[i], dims[i]));
        now[i] = dims[i];
    }
    const prt_type *type = prt_type_tensor(module->types, v->type->dtype, (int32_t)rank, now);
    if (type == NULL)
        return POPRT_E_NOMEM;
    v->type = type;
    return POPRT_OK;
}

/* ---- inputs and outputs that come and go */

void prt_graph_drop_inputs(prt_graph *graph, bool (*goes)(const prt_value *input))
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->inputs.count; i++) {
        prt_value *v = graph->inputs.data[i];
        if (goes(v)) {
            v->name = PRT_STR("");
            continue;
        }
        v->slot = (uint32_t)kept;
        graph->inputs.data[kept++] = v;
    }
    graph->inputs.count = kept;
}

bool prt_graph_has_output(const prt_graph *graph, prt_str name)
{
    for (uint32_t i = 0; i < graph->output_names.count; i++)
        if (prt_str_equal(graph->output_names.data[i], name))
            return true;
    return false;
}

poprt_status prt_graph_keep_outputs(prt_graph *graph, prt_arena *scratch, const bool *keep)
{
    const uint32_t count = graph->ret->n_in;
    prt_value **values = PRT_NEW_N(scratch, prt_value *, count);
    prt_str *names = PRT_NEW_N(scratch, prt_str, count);
    uint32_t n = 0;
    if (count != 0 && (values == NULL || names == NULL))
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++)
        if (keep[i]) {
            values[n] = graph->ret->in[i].value;
            names[n++] = graph->output_names.data[i];
        }
    return prt_graph_set_outputs(graph, n, values, names);
}

poprt_status prt_graph_add_output(prt_graph *graph, prt_arena *scratch, prt_value *value,
    prt_str name)
{
    const uint32_t count = graph->ret->n_in;
    prt_value **values = PRT_NEW_N(scratch, prt_value *, (size_t)count + 1);
    prt_str *names = PRT_NEW_N(scratch, prt_str, (size_t)count + 1);
    if (values == NULL || names == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = graph->ret->in[i].value;
        names[i] = graph->output_names.data[i];
    }
    values[count] = value;
    names[count] = name;
    return prt_graph_set_outputs(graph, count + 1, values, names);
}
