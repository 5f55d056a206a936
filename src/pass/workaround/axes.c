/* SPDX-License-Identifier: MIT */
/*
 * axes.c — axes and sizes in the form that a backend requires. Results are bitwise equal.
 *
 *     cumsum_workaround  the axis becomes a non-negative constant scalar
 *     onehot_workaround  the depth becomes int32, the axis non-negative
 *     topk_workaround    the axis becomes non-negative
 *
 * Differences from the reference: integers that CumSum adds stay integers, because float32 cannot
 * represent all of them; an axis that is only known at run time gives a warning.
 */
#include "pass/engine/match.h"

/* ---- CumSum */

/* Returns the only number of a value: a constant, or contents found by inference. */
static bool known_number(const prt_op *op, uint32_t slot, int64_t *out)
{
    const prt_value *v = prt_op_input(op, slot);
    if (prt_match_integer(op, slot, out))
        return true;
    if (v == NULL || v->content == NULL || v->content->count != 1 || prt_value_is_input(v) ||
        !prt_dim_is_number(v->content->values[0]))
        return false;
    *out = v->content->values[0];
    return true;
}

/* Returns whether input `slot` is already this number, as a constant of rank 0. */
static bool is_scalar(const prt_op *op, uint32_t slot, int64_t number)
{
    prt_tensor t;
    return prt_match_constant(op, slot, &t) && t.rank == 0 &&
        prt_load_i64(t.dtype, t.data, 0) == number;
}

static poprt_status fix_cumsum(prt_pass *p, prt_op *op, bool *changed)
{
    const prt_type *x = prt_match_ranked(prt_op_input(op, 0));
    int64_t axis;
    if (!known_number(op, 1, &axis)) {
        prt_pass_warn(p, prt_op_label(op),
            "the axis of CumSum is only known at run time; "
            "backends need a constant");
        return POPRT_OK;
    }
    if (axis < 0 && x != NULL)
        axis += x->rank;
    if (axis < 0 || is_scalar(op, 1, axis))
        return POPRT_OK;
    prt_build b = prt_build_before(op);
    prt_value *number = prt_build_scalar(&b, prt_op_input(op, 1)->type->dtype, (double)axis);
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(op, 1, number);
    *changed = true;
    return POPRT_OK;
}

static poprt_status run_cumsum(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_for_each_op (op, graph) {
        PRT_TRY(prt_pass_check(p));
        if (prt_op_is(op, PRT_OP_cumsum))
            PRT_TRY(fix_cumsum(p, op, changed));
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_cumsum_workaround = { .run = run_cumsum };

/* ---- OneHot */

/* Returns the depth as int32; NULL if it is int32 already or does not fit. */
static prt_value *depth_of(prt_build *b, const prt_op *root)
{
    prt_value *depth = prt_op_input(root, 1);
    prt_tensor t;
    if (prt_match_dtype(depth) == PRT_DTYPE_i32 || prt_match_dtype(depth) == PRT_DTYPE_undefined)
        return NULL;
    if (!prt_match_constant(root, 1, &t))
        return prt_match_add_cast(b, depth, PRT_DTYPE_i32);
    if (prt_tensor_count(&t) != 1)
        return NULL;
    const double number = prt_load_f64(t.dtype, t.data, 0);
    if (!(number >= 0 && number <= INT32_MAX))
        return NULL;
    const int32_t whole = (int32_t)number;
    return prt_build_tensor(b, PRT_DTYPE_i32, t.rank, t.dims, &whole);
}

static bool apply_one_hot(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_one_hot_attrs *a = root->attrs;
    const prt_type *index = prt_match_ranked(prt_op_input(root, 0));
    const bool behind = a->axis < 0 && index != NULL && a->axis + index->rank + 1 >= 0;
    prt_value *depth = depth_of(b, root);
    (void)p;
    if ((depth == NULL && !behind) || b->status != POPRT_OK)
        return b->status != POPRT_OK;
    if (depth != NULL)
        prt_op_set_input(root, 1, depth);
    if (behind)
        PRT_ATTR_SET(*a, one_hot, axis, a->axis + index->rank + 1);
    prt_op_touch(root);
    return true;
}

/* ---- TopK */

static bool apply_topk(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_topk_attrs *a = root->attrs;
    const prt_type *x = prt_match_ranked(prt_op_input(root, 0));
    (void)p;
    (void)b;
    if (a->axis >= 0 || x == NULL || a->axis + x->rank < 0)
        return false;
    PRT_ATTR_SET(*a, topk, axis, a->axis + x->rank);
    prt_op_touch(root);
    return true;
}

PRT_PASS_OF_REWRITE(onehot_workaround, PRT_OP_one_hot, apply_one_hot);
PRT_PASS_OF_REWRITE(topk_workaround, PRT_OP_topk, apply_topk);
