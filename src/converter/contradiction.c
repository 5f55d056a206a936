/* SPDX-License-Identifier: MIT */
/*
 * contradiction.c — prepares branches of an If with contradictory shapes for writing. Such a branch
 * fails when it is executed, but other readers infer its shapes when they load the model, and
 * refuse the whole model. So the branch reads outer values through a Reshape to their own shape
 * plus the condition times 0. No reader can know that shape before it runs the model.
 */
#include "base/map.h"
#include "converter/downgrade.h"
#include "converter/onnx.h"

bool prt_onnx_has_contradiction(const prt_graph *graph)
{
    if (graph->contradictory)
        return true;
    prt_for_each_op (op, graph)
        for (uint32_t i = 0; i < op->n_regions; i++)
            if (prt_onnx_has_contradiction(op->regions[i]))
                return true;
    return false;
}

/* State of rewriting one branch. */
typedef struct branch_state {
    prt_build b; /* inserts ops at the beginning of the branch */
    prt_graph *branch;
    prt_value *zero; /* the condition times 0 */
    prt_map hidden;  /* by the bytes of a value's address: the value that replaces it */
} branch_state;

static bool is_inside(const prt_graph *graph, const prt_graph *branch)
{
    while (graph != NULL && graph != branch)
        graph = graph->owner != NULL ? graph->owner->graph : NULL;
    return graph != NULL;
}

/* Constants keep their shapes in the file, sequences have no shape, and a scalar needs no
 * hiding. */
static bool has_shape(const branch_state *h, const prt_value *v)
{
    return v != NULL && !is_inside(v->graph, h->branch) && !prt_value_is_constant(v) &&
        v->type->kind == PRT_VALUE_TENSOR && v->type->rank > 0;
}

static poprt_status hide_shape(branch_state *h, prt_value *v, prt_value **out)
{
    const prt_str key = { (const char *)&v, sizeof(v) };
    *out = prt_map_find(&h->hidden, key);
    if (*out != NULL)
        return POPRT_OK;
    prt_value *shape =
        prt_build_binary(&h->b, PRT_OP_add, prt_build_unary(&h->b, PRT_OP_shape, v), h->zero);
    *out = prt_build_binary(&h->b, PRT_OP_reshape, v, shape);
    PRT_TRY(prt_build_status(&h->b));
    const char *kept = prt_arena_copy(h->branch->module->arena, key.data, key.size);
    return kept != NULL ? prt_map_set(&h->hidden, (prt_str){ kept, key.size }, *out)
                        : POPRT_E_NOMEM;
}

static poprt_status hide_inputs(branch_state *h, prt_op *op)
{
    prt_value *by;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (has_shape(h, op->in[i].value)) {
            PRT_TRY(hide_shape(h, op->in[i].value, &by));
            prt_op_set_input(op, i, by);
        }
    return POPRT_OK;
}

/* Rewrites the ops of a graph from `op` on, and its results. The reader bounds the nesting of
 * regions. */
static poprt_status hide_all(branch_state *h, prt_graph *graph, prt_op *op)
{
    for (; op != NULL; op = op->next) {
        PRT_TRY(hide_inputs(h, op));
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(hide_all(h, op->regions[i], op->regions[i]->first));
    }
    return hide_inputs(h, graph->ret);
}

static poprt_status open_branch(prt_op *op, prt_graph *branch)
{
    prt_op *first = branch->first;
    if (first == NULL)
        return POPRT_OK;
    branch_state h = { .b = prt_build_before(first),
        .branch = branch,
        .hidden = prt_map_in(branch->module->arena) };
    h.zero = prt_build_binary(&h.b, PRT_OP_mul, prt_down_cast(&h.b, op->in[0].value, PRT_DTYPE_i64),
        prt_build_i64(&h.b, 0));
    PRT_TRY(prt_build_status(&h.b));
    PRT_TRY(hide_all(&h, branch, first));
    prt_op_touch(op);
    return POPRT_OK;
}

poprt_status prt_onnx_hide_contradictions(prt_graph *graph)
{
    prt_for_each_op (op, graph)
        for (uint32_t i = 0; i < op->n_regions; i++) {
            prt_graph *region = op->regions[i];
            if (region->contradictory && op->in[0].value != NULL)
                PRT_TRY(open_branch(op, region));
            else
                PRT_TRY(prt_onnx_hide_contradictions(region));
        }
    return POPRT_OK;
}
