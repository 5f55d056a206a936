/* SPDX-License-Identifier: MIT */
/* region.c — regions, and the conversion of branches to If. */
#include "tensorflow/region.h"

#include "ir/build_ops.h"
#include "tensorflow/list.h"

prt_value *prt_tf_condition(prt_tf_call *call, prt_build *b, prt_value *v)
{
    const int32_t dtype = prt_tf_dtype(v), rank = prt_tf_rank(v);
    if (v == NULL)
        return NULL;
    if (rank > 0) {
        v = prt_build_unary(b, PRT_OP_size, v);
        return prt_build_binary(b, PRT_OP_greater, v, prt_build_i64(b, 0));
    }
    if (dtype == PRT_DTYPE_undefined || dtype == PRT_DTYPE_string) {
        (void)prt_tf_refuse(call, "the condition is a string, or of a type that is not known");
        return NULL;
    }
    if (dtype != PRT_DTYPE_bool)
        v = prt_build_cast(b, v, PRT_DTYPE_bool);
    return rank == 0 ? v : prt_build_reshape(b, v, 0, NULL);
}

bool prt_tf_known_condition(prt_tf_call *call, const prt_value *condition, bool *out)
{
    prt_tensor t;
    if (condition == NULL || !prt_value_is_constant(condition) ||
        !prt_value_aligned(condition, call->c->arena, &t) || prt_tensor_count(&t) != 1)
        return false;
    *out = prt_load_i64(t.dtype, t.data, 0) != 0;
    return true;
}

poprt_status prt_tf_region_end(prt_tf_converter *c, prt_graph *region, uint32_t count,
    prt_value **values)
{
    prt_build b = prt_build_at_end(region);
    prt_str *names = PRT_NEW_N(c->arena, prt_str, count);
    if (names == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        bool shared = values[i]->def == NULL || values[i]->graph != region;
        for (uint32_t k = 0; k < i; k++)
            shared = shared || values[k] == values[i];
        if (shared)
            values[i] = prt_build_unary(&b, PRT_OP_identity, values[i]);
        PRT_TRY(prt_build_status(&b));
        names[i] = prt_module_fresh_name(c->module, "result");
        if (names[i].data == NULL)
            return POPRT_E_NOMEM;
    }
    return prt_graph_set_outputs(region, count, values, names);
}

prt_op *prt_tf_region_op(prt_tf_call *call, uint32_t id, uint32_t n_in, prt_value *const *in,
    uint32_t n_out, uint32_t n_regions, prt_graph *const *regions)
{
    prt_build *b = &call->b;
    if (b->status != POPRT_OK)
        return NULL;
    b->status = POPRT_E_NOMEM;
    prt_op *op = prt_graph_add_op(b->graph, NULL, prt_op_of(id), n_in, n_out, n_regions);
    if (op == NULL)
        return NULL;
    op->origin = b->origin;
    for (uint32_t i = 0; i < n_regions; i++) {
        op->regions[i] = regions[i];
        regions[i]->owner = op;
    }
    if (id == PRT_OP_if) {
        PRT_ATTR_SET(*(prt_if_attrs *)op->attrs, if, then_branch, 0);
        PRT_ATTR_SET(*(prt_if_attrs *)op->attrs, if, else_branch, 1);
    } else {
        PRT_ATTR_SET(*(prt_loop_attrs *)op->attrs, loop, body, 0);
    }
    for (uint32_t i = 0; i < n_in; i++)
        prt_op_set_input(op, i, in[i]);
    b->status = prt_ir_infer_new_op(op);
    return b->status == POPRT_OK ? op : NULL;
}

poprt_status prt_tf_region_drop(prt_tf_call *call, prt_graph *region)
{
    prt_op *op = prt_graph_add_op(call->b.graph, NULL, prt_op_of(PRT_OP_loop), 0, 0, 1);
    if (op == NULL)
        return POPRT_E_NOMEM;
    op->regions[0] = region;
    region->owner = op;
    prt_op_erase(op);
    return POPRT_OK;
}

/* ---- branches */

/* Returns the tensor of a result of a branch: of a list, all its elements. */
static prt_value *tensor_of(prt_graph *graph, prt_str origin, const prt_tf_value *v,
    poprt_status *status)
{
    prt_build b = prt_build_at_end(graph);
    b.origin = origin;
    prt_value *t = v->kind == PRT_TF_list ? prt_tf_list_tensor(&b, v->handle) : v->value;
    *status = prt_build_status(&b);
    return t;
}

static poprt_status different(prt_tf_call *call, uint32_t k)
{
    return prt_tf_refuse(call,
        "result %u of the branches has two types, of which ONNX's If accepts one", k);
}

/* One result of both sides. */
typedef struct result {
    prt_tf_value side[2];
    prt_value *value[2]; /* NULL: the If has no such output */
} result;

static poprt_status pair_results(prt_tf_call *call, prt_graph *const *regions, uint32_t n_out,
    result *results, prt_tf_value *out, uint32_t *count)
{
    *count = 0;
    for (uint32_t k = 0; k < n_out; k++) {
        const prt_tf_value *a = &results[k].side[0], *b = &results[k].side[1];
        out[k] = (prt_tf_value){ .kind = PRT_TF_failed };
        if (a->kind == PRT_TF_failed || b->kind == PRT_TF_failed)
            continue;
        if (a->kind != b->kind)
            return different(call, k);
        out[k] = *a;
        if (a->kind != PRT_TF_tensor && a->kind != PRT_TF_complex && a->kind != PRT_TF_list) {
            if (a->handle != b->handle)
                return prt_tf_refuse(call, "the branches return different resources");
            continue;
        }
        if (a->kind == PRT_TF_tensor && a->value == b->value)
            continue; /* a value of the graph around the If */
        for (uint32_t s = 0; s < 2; s++) {
            poprt_status status;
            results[k].value[s] =
                tensor_of(regions[s], call->b.origin, &results[k].side[s], &status);
            PRT_TRY(status);
        }
        if (prt_tf_dtype(results[k].value[0]) != prt_tf_dtype(results[k].value[1]))
            return different(call, k);
        ++*count;
    }
    return POPRT_OK;
}

static poprt_status make_if(prt_tf_call *call, prt_value *condition, prt_graph *const *regions,
    uint32_t n_out, result *results, prt_tf_value *out)
{
    uint32_t count;
    PRT_TRY(pair_results(call, regions, n_out, results, out, &count));
    prt_value **values = PRT_NEW_N(call->c->arena, prt_value *, count);
    if (values == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t s = 0; s < 2; s++) {
        uint32_t at = 0;
        for (uint32_t k = 0; k < n_out; k++)
            if (results[k].value[s] != NULL)
                values[at++] = results[k].value[s];
        PRT_TRY(prt_tf_region_end(call->c, regions[s], count, values));
    }
    if (count == 0) {
        PRT_TRY(prt_tf_region_drop(call, regions[0]));
        return prt_tf_region_drop(call, regions[1]);
    }
    const prt_op *op = prt_tf_region_op(call, PRT_OP_if, 1, &condition, count, 2, regions);
    if (op == NULL)
        return prt_build_status(&call->b);
    for (uint32_t k = 0, at = 0; k < n_out; k++) {
        if (results[k].value[0] == NULL)
            continue;
        prt_value *v = &op->out[at++];
        const prt_tf_list list = prt_tf_list_of_tensor(v);
        if (out[k].kind == PRT_TF_list)
            out[k] = prt_tf_list_value(call->c, &list);
        else
            out[k].value = v;
    }
    return POPRT_OK;
}

poprt_status prt_tf_branch(prt_tf_call *call, prt_value *condition, prt_tf_branch_fn fn,
    const void *user, uint32_t n_out, prt_tf_value *out)
{
    bool side;
    prt_graph *regions[2];
    prt_tf_value *found = PRT_NEW_N(call->c->arena, prt_tf_value, n_out);
    result *results = PRT_NEW_N(call->c->arena, result, n_out);
    if (found == NULL || results == NULL)
        return POPRT_E_NOMEM;
    if (condition == NULL)
        return prt_tf_end(call);
    if (prt_tf_known_condition(call, condition, &side))
        return fn(call, user, side, call->b.graph, n_out, out);
    for (uint32_t s = 0; s < 2; s++) {
        if ((regions[s] = prt_graph_create(call->c->module, NULL)) == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(fn(call, user, s == 0, regions[s], n_out, found));
        for (uint32_t k = 0; k < n_out; k++)
            results[k].side[s] = found[k];
    }
    return make_if(call, condition, regions, n_out, results, out);
}
