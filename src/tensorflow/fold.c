/* SPDX-License-Identifier: MIT */
/*
 * fold.c — folds new operators right after they were built, because the nodes behind them need
 * shapes and axes as constants. Large constants, such as transposed weights, are left to the
 * passes.
 */
#include "base/size.h"
#include "ir/evaluate.h"
#include "pass/fold/work.h"
#include "tensorflow/convert.h"
#include "tensorflow/list.h"

/* Largest result, largest input and scratch memory of an operator that is folded, in bytes. */
enum { RESULT = 16 << 10, INPUT = 1 << 20, SCRATCH = 4 << 20 };

static bool has_small_constants(const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = op->in[i].value;
        if (v != NULL && (!prt_value_is_fixed(v) || v->constant->size > INPUT))
            return false;
    }
    for (uint32_t i = 0; i < op->n_out; i++) {
        size_t size;
        if (prt_type_size(op->out[i].type, &size) && size > RESULT)
            return false;
    }
    return true;
}

/* Returns whether all integers of a value are known, and writes them as a tensor to `data`. */
static bool known_integers(const prt_value *v, void *data, prt_tensor *t)
{
    uint64_t count;
    if (v->content == NULL || !prt_type_count(v->type, &count) || count != v->content->count ||
        (v->type->dtype != PRT_DTYPE_i64 && v->type->dtype != PRT_DTYPE_i32 &&
            v->type->dtype != PRT_DTYPE_bool) ||
        !prt_tensor_init(t, v->type->dtype, (uint32_t)v->type->rank, v->type->dims, data))
        return false;
    for (uint32_t i = 0; i < v->content->count; i++) {
        if (!prt_dim_is_number(v->content->values[i]))
            return false;
        prt_store_i64(t->dtype, data, i, v->content->values[i]);
    }
    return true;
}

static void replace_pointer(prt_value **at, prt_value *from, prt_value *to)
{
    if (*at == from)
        *at = to;
}

/* Lists hold values too. */
static void replace_result(prt_tf_value *result, prt_value *from, prt_value *to)
{
    replace_pointer(&result->value, from, to);
    if (result->kind != PRT_TF_list)
        return;
    prt_tf_list *list = (prt_tf_list *)(uintptr_t)result->handle;
    replace_pointer(&list->value, from, to);
    replace_pointer(&list->size, from, to);
    if (list->scan != NULL) {
        replace_pointer(&list->scan->item, from, to);
        replace_pointer(&list->scan->index, from, to);
    }
}

static poprt_status replace(prt_value *v, const prt_tensor *t, uint32_t count, prt_tf_value *values)
{
    prt_value *constant = prt_graph_add_tensor(v->graph, t);
    if (constant == NULL)
        return POPRT_E_NOMEM;
    constant->content = v->content;
    prt_value_replace(v, constant);
    for (uint32_t k = 0; k < count; k++)
        replace_result(&values[k], v, constant);
    return POPRT_OK;
}

/* Evaluates an operator. One that fails on its constants stays, since a run may never reach it. */
static poprt_status evaluate(prt_op *op, prt_arena *scratch, uint32_t count, prt_tf_value *values)
{
    prt_tensor *out = PRT_NEW_N(scratch, prt_tensor, op->n_out);
    if (out == NULL)
        return POPRT_E_NOMEM;
    const poprt_status status = prt_op_evaluate(op, true, scratch, out);
    if (status == POPRT_E_CANCELLED || status == POPRT_E_INTERNAL)
        return status;
    if (status != POPRT_OK)
        return POPRT_OK;
    for (uint32_t i = 0; i < op->n_out; i++)
        if (out[i].kind != PRT_VALUE_TENSOR || out[i].size > RESULT)
            return POPRT_OK;
    for (uint32_t i = 0; i < op->n_out; i++)
        PRT_TRY(replace(&op->out[i], &out[i], count, values));
    prt_op_erase(op);
    return POPRT_OK;
}

/* Takes the steps of an operator from those that are left. Returns false if it needs more. */
static bool spend(prt_tf_converter *c, const prt_op *op)
{
    uint64_t steps = prt_fold_work(op);
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i].value != NULL)
            steps = prt_saturating_add(steps, op->in[i].value->constant->size);
    if (steps > (uint64_t)PRT_TF_FOLD_STEPS - c->folded)
        return false;
    c->folded += steps;
    return true;
}

static poprt_status fold_op(prt_tf_converter *c, prt_op *op, prt_arena *scratch, uint32_t count,
    prt_tf_value *values)
{
    int64_t data[PRT_CONTENT_MAX];
    bool all = true;
    if (has_small_constants(op) && spend(c, op))
        return evaluate(op, scratch, count, values);
    for (uint32_t i = 0; i < op->n_out; i++) {
        prt_tensor t;
        if (known_integers(&op->out[i], data, &t))
            PRT_TRY(replace(&op->out[i], &t, count, values));
        else
            all = false;
    }
    if (all)
        prt_op_erase(op);
    return POPRT_OK;
}

poprt_status prt_tf_fold(prt_tf_converter *c, prt_graph *graph, const prt_op *last, uint32_t count,
    prt_tf_value *values)
{
    prt_arena *scratch = NULL;
    poprt_status status = POPRT_OK;
    prt_op *op = last != NULL ? last->next : graph->first;
    for (prt_op *next; op != NULL && status == POPRT_OK; op = next) {
        next = op->next;
        if (!prt_op_is_evaluable(op) || op->n_out == 0 ||
            prt_op_is(op, PRT_OP_dequantize_linear)) /* quantised weights stay integers */
            continue;
        if (scratch == NULL)
            status = prt_arena_create(c->module->allocator, SCRATCH, &scratch);
        if (status == POPRT_OK)
            status = fold_op(c, op, scratch, count, values);
        if (status == POPRT_OK)
            prt_arena_reset(scratch);
    }
    prt_arena_release(scratch);
    return status;
}
