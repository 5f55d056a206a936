/* SPDX-License-Identifier: MIT */
/*
 * input_shape.c — const_batch_size: sets unknown leading dimensions of inputs to a number.
 * const_input_shape: sets dimensions of named inputs, and the batch axis of all inputs. A known
 * dimension cannot be changed. All types are inferred again.
 */
#include "ir/interface.h"
#include "pass/engine/pass.h"

static poprt_status infer_again(const prt_module *module, bool any, bool *changed)
{
    if (!any)
        return POPRT_OK;
    *changed = true;
    return prt_ir_infer(module->main);
}

/* Sets one dimension of an input; the others stay. */
static poprt_status set_dim(prt_module *module, const prt_value *v, int32_t axis, int64_t size,
    bool *any)
{
    int64_t dims[PRT_MAX_RANK];
    for (int32_t i = 0; i < v->type->rank; i++)
        dims[i] = -1;
    dims[axis] = size;
    const prt_type *before = v->type;
    PRT_TRY(prt_module_set_input_shape(module, v->name.data, dims, (uint32_t)v->type->rank));
    *any = *any || v->type != before;
    return POPRT_OK;
}

static bool has_shape(const prt_value *v)
{
    return prt_type_is_tensor(v->type) && v->type->rank >= 0 && v->type->rank <= PRT_MAX_RANK;
}

static poprt_status run_batch(prt_pass *p, prt_graph *graph, bool *changed)
{
    const int64_t size = prt_pass_i64(p, "const_batch_size");
    bool any = false;
    if (size < 1)
        return prt_fail(POPRT_E_ARG, "const_batch_size",
            "%lld is not a batch size; 1 or more is accepted", (long long)size);
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const prt_value *v = graph->inputs.data[i];
        if (has_shape(v) && v->type->rank > 0 && !prt_dim_is_number(v->type->dims[0]))
            PRT_TRY(set_dim(p->module, v, 0, size, &any));
    }
    return infer_again(p->module, any, changed);
}

const prt_pass_hooks prt_pass_const_batch_size = { .run = run_batch };

/* Applies a member of the object: input name and array of dimensions. */
static poprt_status set_shape(prt_pass *p, const prt_json *shape, bool *any)
{
    int64_t dims[PRT_MAX_RANK];
    const char *name = prt_arena_text(p->arena, shape->key.data, shape->key.size);
    if (name == NULL)
        return POPRT_E_NOMEM;
    if (shape->kind != PRT_JSON_ARRAY || shape->count > PRT_MAX_RANK)
        return prt_fail(POPRT_E_ARG, name, "a shape is an array of up to %d dimensions",
            PRT_MAX_RANK);
    for (uint32_t i = 0; i < shape->count; i++)
        if (!prt_json_i64(&shape->items[i], &dims[i]))
            return prt_fail(POPRT_E_ARG, name, "dimension %u is not an integer", i);
    const prt_value *v = prt_module_find_input(p->module, name);
    const prt_type *before = v != NULL ? v->type : NULL;
    PRT_TRY(prt_module_set_input_shape(p->module, name, dims, shape->count));
    *any = *any || v->type != before;
    return POPRT_OK;
}

static poprt_status set_batch(prt_pass *p, prt_graph *graph, bool *any)
{
    const int64_t size = prt_pass_i64(p, "batch_size"), axis = prt_pass_i64(p, "batch_axis");
    if (size < 0 && axis < 0)
        return POPRT_OK;
    if (size < 1 || axis < 0)
        return prt_fail(POPRT_E_ARG, size < 1 ? "batch_size" : "batch_axis",
            "batch_size and batch_axis work together: a size from 1 and an axis from 0");
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const prt_value *v = graph->inputs.data[i];
        if (!has_shape(v) || axis >= v->type->rank)
            return prt_fail(POPRT_E_SHAPE, v->name.data, "has no axis %lld for the batch",
                (long long)axis);
        PRT_TRY(set_dim(p->module, v, (int32_t)axis, size, any));
    }
    return POPRT_OK;
}

static poprt_status run_shape(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_json *shapes;
    bool any = false;
    PRT_TRY(prt_pass_json(p, "const_input_shape", &shapes));
    if (shapes != NULL && shapes->kind != PRT_JSON_OBJECT)
        return prt_fail(POPRT_E_ARG, "const_input_shape",
            "an object of shapes by input is needed: {\"NAME\": [1, 3]}");
    for (uint32_t i = 0; shapes != NULL && i < shapes->count; i++)
        PRT_TRY(set_shape(p, &shapes->items[i], &any));
    PRT_TRY(set_batch(p, graph, &any));
    return infer_again(p->module, any, changed);
}

const prt_pass_hooks prt_pass_const_input_shape = { .run = run_shape };
