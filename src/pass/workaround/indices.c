/* SPDX-License-Identifier: MIT */
/*
 * indices.c — indices_workaround: indices of Gather and GatherElements become int32 and
 * non-negative. Constants are rewritten; other negative indices get the size of the axis added,
 * which must be known: Where(i < 0, i + n, i). Bitwise equal for indices within the axis; an index
 * beyond 32 bits, which was an error, may not be reported afterwards.
 */
#include "pass/engine/match.h"

enum { MOST_STEPS = 8 };

/* Matches Where(x < 0, ..., x) as this pass builds it. */
static bool is_made_non_negative(const prt_op *where)
{
    const prt_op *less = prt_match_producer(where, 0, PRT_OP_less);
    double zero;
    return less != NULL && prt_op_input(less, 0) == prt_op_input(where, 2) &&
        prt_match_number(less, 1, &zero) && zero == 0;
}

static bool content_is_positive(const prt_value *v)
{
    if (v->content == NULL || v->content->count == 0)
        return false;
    for (uint32_t i = 0; i < v->content->count; i++)
        if (!prt_dim_is_number(v->content->values[i]) || v->content->values[i] < 0)
            return false;
    return true;
}

/* Returns whether no element can be negative. */
static bool is_positive(const prt_value *v)
{
    for (uint32_t i = 0; i < MOST_STEPS && v != NULL; i++) {
        const prt_op *op = v->def;
        if (op == NULL || op->def == NULL)
            return false;
        if (content_is_positive(v) || prt_op_is(op, PRT_OP_argmax) ||
            prt_op_is(op, PRT_OP_argmin) || prt_op_is(op, PRT_OP_nonzero) ||
            prt_op_is(op, PRT_OP_shape) || prt_op_is(op, PRT_OP_size) ||
            (prt_op_is(op, PRT_OP_topk) && v->slot == 1) ||
            (prt_op_is(op, PRT_OP_where) && is_made_non_negative(op)))
            return true;
        const bool same = prt_op_is(op, PRT_OP_reshape) || prt_op_is(op, PRT_OP_squeeze) ||
            prt_op_is(op, PRT_OP_unsqueeze) || prt_op_is(op, PRT_OP_transpose) ||
            prt_op_is(op, PRT_OP_identity);
        /* the Cast of an int64 may wrap, but such an index was invalid before */
        const bool cast = prt_op_is(op, PRT_OP_cast) &&
            prt_dtype_is_integer(prt_match_dtype(prt_op_input(op, 0)));
        if (!same && !cast)
            return false;
        v = prt_op_input(op, 0);
    }
    return false;
}

/* Returns a constant as int32 in [0, n); NULL if it is that already or cannot be converted. `n` <
 * 0: unknown. */
static prt_value *rewritten(prt_pass *p, prt_build *b, const prt_value *old, const prt_tensor *t,
    int64_t n)
{
    const size_t count = prt_tensor_count(t);
    bool same = t->dtype == PRT_DTYPE_i32;
    prt_blob *blob = NULL;
    for (size_t i = 0; i < count; i++) {
        const int64_t x = prt_load_i64(t->dtype, t->data, i);
        same = same && x >= 0;
        if (x > INT32_MAX || (x < 0 && (n < 0 || n > INT32_MAX || x < -n)))
            return NULL;
    }
    const prt_type *type =
        prt_type_tensor(b->graph->module->types, PRT_DTYPE_i32, (int32_t)t->rank, t->dims);
    if (same || !prt_pass_reserve(p, count * 4))
        return NULL;
    b->status = POPRT_E_NOMEM;
    if (type == NULL || prt_blob_create(b->graph->module->allocator, count * 4, &blob) != POPRT_OK)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const int64_t x = prt_load_i64(t->dtype, t->data, i);
        prt_store_i64(PRT_DTYPE_i32, prt_blob_bytes(blob), i, x < 0 ? x + n : x);
    }
    prt_value *v = prt_pass_derive(b->graph, old, type, blob);
    if (v != NULL)
        b->status = POPRT_OK;
    return v;
}

static prt_value *made_non_negative(prt_build *b, prt_value *x, int64_t n)
{
    const int32_t dtype = x->type->dtype;
    prt_value *less = prt_build_binary(b, PRT_OP_less, x, prt_build_scalar(b, dtype, 0));
    prt_value *sum = prt_build_binary(b, PRT_OP_add, x, prt_build_scalar(b, dtype, (double)n));
    prt_value *in[3] = { less, sum, x };
    return prt_build_op(b, PRT_OP_where, NULL, 3, in);
}

static bool fix(prt_pass *p, prt_build *b, prt_op *root, int64_t axis)
{
    prt_value *index = prt_op_input(root, 1), *better = NULL;
    const int64_t n = prt_match_dim(prt_op_input(root, 0), axis);
    const int32_t dtype = prt_match_dtype(index);
    prt_tensor t;
    if (dtype == PRT_DTYPE_undefined)
        return false;
    if (prt_match_constant(root, 1, &t)) {
        better = rewritten(p, b, index, &t, n);
    } else if (is_positive(index)) {
        better = dtype != PRT_DTYPE_i32 ? prt_match_add_cast(b, index, PRT_DTYPE_i32) : NULL;
    } else if (n >= 1 && n <= INT32_MAX) {
        better = made_non_negative(b, index, n);
        if (b->status == POPRT_OK)
            better = prt_match_add_cast(b, better, PRT_DTYPE_i32);
    }
    if (better != NULL && b->status == POPRT_OK)
        prt_op_set_input(root, 1, better);
    return better != NULL || b->status != POPRT_OK;
}

static bool apply_gather(prt_pass *p, prt_build *b, prt_op *root)
{
    return fix(p, b, root, ((const prt_gather_attrs *)root->attrs)->axis);
}

static bool apply_elements(prt_pass *p, prt_build *b, prt_op *root)
{
    return fix(p, b, root, ((const prt_gather_elements_attrs *)root->attrs)->axis);
}

static const prt_rewrite rewrites[] = { { PRT_OP_gather, apply_gather },
    { PRT_OP_gather_elements, apply_elements } };

const prt_pass_hooks prt_pass_indices_workaround = { .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites) };
