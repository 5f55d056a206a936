/* SPDX-License-Identifier: MIT */
/*
 * scores.c — matches the operators from a Softmax back to the product: scores = max(where(keep,
 * scale * Q K' + bias + mask, fill), least). From the Softmax inwards the order is Max, Where,
 * sums, factors; Reshapes may stand anywhere. A Where that hides nothing, or hides only keys ahead
 * of each query (causal), may also stand behind sums.
 */
#include "pass/fuse/scores.h"

#include <math.h>

enum { MAX_STEPS = 10 /* operators */, MAX_CHECKED = 1 << 22 /* elements of a constant mask */ };

static const double NEVER = -1e30; /* a score below this has no weight next to any other */

/* ---- the path of the scores ---- */

/* Returns whether all dims are numbers; the last one, the keys, may be an expression. */
static bool has_known_dims(const prt_value *v)
{
    const prt_type *type = v != NULL ? v->type : NULL;
    if (!prt_type_is_tensor(type) || type->rank < 0)
        return false;
    for (int32_t i = 0; i < type->rank; i++)
        if (!prt_dim_is_number(type->dims[i]) &&
            (i + 1 < type->rank || !prt_dim_is_expr(type->dims[i])))
            return false;
    return true;
}

static bool is_reshape(const prt_op *op)
{
    return prt_op_is(op, PRT_OP_reshape) || prt_op_is(op, PRT_OP_squeeze) ||
        prt_op_is(op, PRT_OP_unsqueeze);
}

bool prt_scores_factor(const prt_op *op, double *by, uint32_t *slot)
{
    *slot = 0;
    if (prt_op_is(op, PRT_OP_div)) {
        if (!prt_view_number(op, 1, by))
            return false;
        *by = 1.0 / *by;
        return true;
    }
    if (!prt_op_is(op, PRT_OP_mul))
        return false;
    if (prt_view_number(op, 1, by))
        return true;
    *slot = 1;
    return prt_view_number(op, 0, by);
}

/* Returns whether the value comes from a product of two computed matrices through operators that
 * may stand behind it. */
static bool leads_back(const prt_value *v, uint32_t depth)
{
    const prt_op *op = v != NULL && prt_value_used_once(v) ? v->def : NULL;
    double by;
    uint32_t slot;
    if (op == NULL || depth == MAX_STEPS || op->graph != v->graph)
        return false;
    if (prt_op_is(op, PRT_OP_matmul))
        return prt_op_input(op, 0)->constant == NULL && prt_op_input(op, 1)->constant == NULL;
    if (is_reshape(op))
        return leads_back(prt_op_input(op, 0), depth + 1);
    if (prt_scores_factor(op, &by, &slot))
        return leads_back(prt_op_input(op, slot), depth + 1);
    if (prt_op_is(op, PRT_OP_add))
        return leads_back(prt_op_input(op, 0), depth + 1) ||
            leads_back(prt_op_input(op, 1), depth + 1);
    if (prt_op_is(op, PRT_OP_max) && op->n_in == 2)
        return leads_back(prt_op_input(op, 0), depth + 1) ||
            leads_back(prt_op_input(op, 1), depth + 1);
    return prt_op_is(op, PRT_OP_where) &&
        (leads_back(prt_op_input(op, 1), depth + 1) || leads_back(prt_op_input(op, 2), depth + 1));
}

/* ---- masks ---- */

/* Returns whether the constant has one value for each query and key, the same for all images and
 * heads, and is small enough to be checked. */
static bool is_flat(const prt_view *v)
{
    for (uint32_t i = 0; i + 2 < v->rank; i++)
        if (v->steps[i] != 0 && v->dims[i] != 1)
            return false;
    return v->rank >= 2 && v->dims[v->rank - 1] * v->dims[v->rank - 2] <= MAX_CHECKED;
}

typedef enum mask_kind { MASK_OTHER, MASK_OPEN, MASK_CAUSAL } mask_kind;

/* Returns 1 if this element of a mask keeps its score, 0 if it hides it, otherwise -1. */
static int keeps_score(const prt_scores *s, const prt_tensor *t, size_t at, bool where)
{
    if (where)
        return (((const unsigned char *)t->data)[at] != 0) != s->inverted;
    const double x = prt_load_f64(t->dtype, t->data, at);
    return x == 0.0 ? 1 : x <= NEVER ? 0 : -1;
}

/* Classifies a mask. A constant that keeps everything is dropped; a constant that hides all keys
 * ahead of each query is causal, where the last query is at the position of the last key. */
static mask_kind kind_of(const prt_scores *s, const prt_view *v, bool where)
{
    prt_tensor t;
    if (!prt_value_is_fixed(v->value) || !prt_value_tensor(v->value, &t) || !is_flat(v) ||
        !prt_dim_is_number(v->dims[v->rank - 1]))
        return MASK_OTHER;
    const int64_t rows = v->dims[v->rank - 2], keys = v->dims[v->rank - 1];
    bool open = true, causal = rows <= keys;
    for (int64_t i = 0; i < rows && (open || causal); i++)
        for (int64_t j = 0; j < keys; j++) {
            const int64_t at = v->first + i * v->steps[v->rank - 2] + j * v->steps[v->rank - 1];
            const int sees = keeps_score(s, &t, (size_t)at, where);
            open = open && sees == 1;
            causal = causal && sees == (j <= i + keys - rows);
        }
    if ((where && s->fill > NEVER) || s->least > NEVER)
        causal = false;
    return open ? MASK_OPEN : causal ? MASK_CAUSAL : MASK_OTHER;
}

static bool add_mask(prt_scores *s, const prt_view *v, uint32_t first, uint32_t end, bool where)
{
    switch (kind_of(s, v, where)) {
    case MASK_CAUSAL:
        s->causal = true;
        return true;
    case MASK_OPEN:
        return true;
    default:
        for (uint32_t i = first; i < end; i++)
            if (s->views[i].value == NULL) {
                s->views[i] = *v;
                return true;
            }
        return false;
    }
}

static bool has_views(const prt_scores *s)
{
    return s->causal || s->views[PRT_SCORES_BIAS].value != NULL ||
        s->views[PRT_SCORES_MASK].value != NULL || s->views[PRT_SCORES_KEEP].value != NULL;
}

/* ---- one operator, whose output is `v`: returns the input to continue with, or NULL ---- */

static prt_value *through_add(prt_scores *s, const prt_value *v)
{
    const prt_op *op = v->def;
    for (uint32_t slot = 0; slot < 2; slot++) {
        prt_value *from = prt_op_input(op, slot), *mask = prt_op_input(op, 1 - slot);
        prt_view view;
        if (!leads_back(from, 0) || from->type != v->type || !has_known_dims(mask) ||
            mask->type->dtype != PRT_DTYPE_f32 || s->scale != 1.0)
            continue;
        if (prt_view_broadcast(mask, (uint32_t)v->type->rank, v->type->dims, &view) &&
            add_mask(s, &view, PRT_SCORES_BIAS, PRT_SCORES_KEEP, false))
            return from;
    }
    return NULL;
}

/* A Where must be outside of all sums, since its fill value is final, unless it hides nothing or is
 * causal. */
static prt_value *through_where(prt_scores *s, const prt_value *v)
{
    const prt_op *op = v->def;
    prt_value *cond = prt_op_input(op, 0);
    prt_view view;
    const bool inverted = !prt_view_number(op, 2, &s->fill);
    prt_value *from = prt_op_input(op, inverted ? 2 : 1);
    if ((inverted && !prt_view_number(op, 1, &s->fill)) || isnan(s->fill) || s->scale != 1.0 ||
        s->views[PRT_SCORES_KEEP].value != NULL || from->type != v->type || !has_known_dims(cond) ||
        cond->type->dtype != PRT_DTYPE_bool ||
        !prt_view_broadcast(cond, (uint32_t)v->type->rank, v->type->dims, &view))
        return NULL;
    s->inverted = inverted;
    if (has_views(s) && kind_of(s, &view, true) == MASK_OTHER)
        return NULL;
    return add_mask(s, &view, PRT_SCORES_KEEP, PRT_SCORES_VIEWS, true) ? from : NULL;
}

/* A Max must be outside of all other operators. */
static prt_value *through_max(prt_scores *s, const prt_value *v)
{
    const prt_op *op = v->def;
    for (uint32_t slot = 0; slot < 2 && op->n_in == 2; slot++) {
        prt_value *from = prt_op_input(op, slot);
        if (prt_view_number(op, 1 - slot, &s->least) && !isnan(s->least))
            return s->scale == 1.0 && !has_views(s) && from->type == v->type ? from : NULL;
    }
    return NULL;
}

static prt_value *through_reshape(prt_scores *s, const prt_value *v)
{
    prt_value *from = prt_op_input(v->def, 0);
    if (!has_known_dims(from) || from->type->rank > PRT_MAX_RANK)
        return NULL;
    /* A causal mask refers to the last two dims, which must stay. */
    const int32_t r = from->type->rank, n = v->type->rank;
    if (r < 2 || n < 2 || from->type->dims[r - 1] != v->type->dims[n - 1] ||
        from->type->dims[r - 2] != v->type->dims[n - 2])
        return NULL;
    for (uint32_t i = 0; i < PRT_SCORES_VIEWS; i++)
        if (s->views[i].value != NULL &&
            !prt_view_reshape(&s->views[i], (uint32_t)r, from->type->dims))
            return NULL;
    return from;
}

static prt_value *through(prt_scores *s, const prt_value *v)
{
    double by;
    uint32_t slot;
    const prt_op *op = v->def;
    if (prt_op_is(op, PRT_OP_add))
        return through_add(s, v);
    if (prt_op_is(op, PRT_OP_where))
        return through_where(s, v);
    if (prt_op_is(op, PRT_OP_max))
        return s->least == -HUGE_VAL ? through_max(s, v) : NULL;
    if (is_reshape(op))
        return through_reshape(s, v);
    if (!prt_scores_factor(op, &by, &slot) || prt_op_input(op, slot)->type != v->type)
        return NULL;
    s->scale *= by;
    return prt_op_input(op, slot);
}

/* Converts masks to rank 4: images, heads, queries, keys. */
static bool finish(prt_scores *s, const prt_type *type)
{
    for (uint32_t i = 0; i < PRT_SCORES_VIEWS; i++) {
        prt_view *v = &s->views[i];
        if (v->value == NULL)
            continue;
        if (v->rank != (uint32_t)type->rank || v->first != 0)
            return false;
        const prt_view from = *v;
        const uint32_t r = v->rank;
        v->steps[0] = r >= 3 ? from.steps[0] : 0;
        v->steps[1] = r == 4 ? from.steps[1] : 0;
        v->steps[2] = from.steps[r - 2];
        v->steps[3] = from.steps[r - 1];
        v->rank = 4;
    }
    return true;
}

bool prt_scores_match(const prt_op *softmax, prt_scores *out)
{
    const int64_t axis = ((const prt_softmax_attrs *)softmax->attrs)->axis;
    const prt_value *v = prt_op_input(softmax, 0);
    const prt_type *type = v->type;
    *out = (prt_scores){ .scale = 1.0, .least = -HUGE_VAL };
    if (!has_known_dims(v) || type->rank < 2 || type->rank > 4 ||
        (axis != -1 && axis != type->rank - 1) || !leads_back(v, 0))
        return false;
    for (uint32_t i = 0; i < MAX_STEPS && !prt_op_is(v->def, PRT_OP_matmul); i++) {
        v = through(out, v);
        if (v == NULL || v->def == NULL || !prt_value_used_once(v) || !has_known_dims(v))
            return false;
    }
    out->product = v->def;
    return prt_op_is(v->def, PRT_OP_matmul) && v->type == type && finish(out, type);
}
