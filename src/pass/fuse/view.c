/* SPDX-License-Identifier: MIT */
/* view.c — traces views: one function for each operator that makes a view, applied from the source
 * on. */
#include "pass/fuse/view.h"

enum { MAX_STEPS = 16 }; /* limit of the operators in a view */

bool prt_view_is_static(const prt_value *value)
{
    if (value == NULL || !prt_type_is_tensor(value->type) || value->type->rank < 0)
        return false;
    for (int32_t i = 0; i < value->type->rank; i++)
        if (!prt_dim_is_number(value->type->dims[i]))
            return false;
    return true;
}

bool prt_view_identity(prt_value *value, prt_view *out)
{
    uint64_t count;
    if (!prt_view_is_static(value) || value->type->rank > PRT_MAX_RANK ||
        !prt_type_count(value->type, &count) || count > INT32_MAX)
        return false;
    *out = (prt_view){ .value = value, .rank = (uint32_t)value->type->rank, .scale = 1.0 };
    int64_t step = 1;
    for (uint32_t i = out->rank; i-- > 0;) {
        out->dims[i] = value->type->dims[i];
        out->steps[i] = step;
        step *= out->dims[i];
    }
    return true;
}

bool prt_view_is_contiguous(const prt_view *v)
{
    int64_t step = 1;
    for (uint32_t i = v->rank; i-- > 0; step *= v->dims[i])
        if (v->dims[i] != 1 && v->steps[i] != step)
            return false;
    return v->first == 0;
}

/* Copies the dims and strides of axes that do not have size 1; returns their number. */
static uint32_t squeeze(const prt_view *v, int64_t *dims, int64_t *steps)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->rank; i++)
        if (v->dims[i] != 1) {
            dims[n] = v->dims[i];
            steps[n++] = v->steps[i];
        }
    return n;
}

/* Old and new axes are matched in groups of equal products; the old axes of a group must be
 * contiguous. */
bool prt_view_reshape(prt_view *v, uint32_t rank, const int64_t *dims)
{
    int64_t old[PRT_MAX_RANK], by[PRT_MAX_RANK], steps[PRT_MAX_RANK];
    const uint32_t n = squeeze(v, old, by);
    uint32_t at = 0, to = 0;
    for (uint32_t i = 0; i < n; i++)
        if (old[i] == 0)
            return false;
    while (to < rank || at < n) {
        if (to < rank && dims[to] == 1) {
            steps[to++] = 0;
            continue;
        }
        if (to == rank || at == n)
            return false;
        const uint32_t first = to;
        int64_t have = old[at], want = dims[to++], step = by[at];
        for (at++; have != want;) {
            if (!prt_dim_is_number(have) || !prt_dim_is_number(want))
                return false;
            if (have < want && at < n) {
                if (step != by[at] * old[at])
                    return false;
                have *= old[at];
                step = by[at++];
            } else if (have > want && to < rank && dims[to] != 0) {
                want *= dims[to++];
            } else {
                return false;
            }
        }
        for (uint32_t i = to; i-- > first; step *= dims[i])
            steps[i] = step;
    }
    v->rank = rank;
    memcpy(v->dims, dims, rank * sizeof(int64_t));
    memcpy(v->steps, steps, rank * sizeof(int64_t));
    return true;
}

/* Like prt_view_identity, with an expression as the last dim. At most one other dim is not 1. */
static bool whole_open(prt_value *value, prt_view *out)
{
    const prt_type *type = value->type;
    if (!prt_type_is_tensor(type) || type->rank < 1 || type->rank > PRT_MAX_RANK ||
        !prt_dim_is_expr(type->dims[type->rank - 1]))
        return false;
    *out = (prt_view){ .value = value, .rank = (uint32_t)type->rank, .scale = 1.0 };
    uint32_t rows = 0;
    for (uint32_t i = 0; i < out->rank; i++) {
        const bool last = i + 1 == out->rank;
        out->dims[i] = type->dims[i];
        out->steps[i] = last ? 1 : PRT_VIEW_OPEN;
        if (!last && !prt_dim_is_number(out->dims[i]))
            return false;
        rows += !last && out->dims[i] != 1;
    }
    return rows <= 1;
}

bool prt_view_broadcast(const prt_value *value, uint32_t rank, const int64_t *dims, prt_view *out)
{
    prt_view whole;
    prt_value *from = (prt_value *)(uintptr_t)value;
    if ((!prt_view_identity(from, &whole) && !whole_open(from, &whole)) || whole.rank > rank)
        return false;
    *out = whole;
    out->rank = rank;
    for (uint32_t i = 0; i < rank; i++) {
        const uint32_t lead = rank - whole.rank;
        const bool repeats = i < lead || whole.dims[i - lead] == 1;
        if (!repeats && whole.dims[i - lead] != dims[i])
            return false;
        out->dims[i] = dims[i];
        out->steps[i] = repeats ? 0 : whole.steps[i - lead];
    }
    return true;
}

bool prt_view_number(const prt_op *op, uint32_t slot, double *out)
{
    prt_tensor t;
    if (!prt_match_constant(op, slot, &t) || !prt_dtype_is_float(t.dtype) ||
        prt_tensor_count(&t) != 1)
        return false;
    *out = prt_load_f64(t.dtype, t.data, 0);
    return true;
}

/* ---- one operator */

static bool transpose(prt_view *v, const prt_op *op)
{
    const prt_transpose_attrs *a = op->attrs;
    const prt_view from = *v;
    if (a->perm.count != 0 && a->perm.count != v->rank)
        return false;
    for (uint32_t i = 0; i < v->rank; i++) {
        const int64_t axis = a->perm.count != 0 ? a->perm.data[i] : (int64_t)(v->rank - 1 - i);
        if (axis < 0 || axis >= (int64_t)v->rank)
            return false;
        v->dims[i] = from.dims[axis];
        v->steps[i] = from.steps[axis];
    }
    return true;
}

static bool integer_at(const prt_op *op, uint32_t slot, uint32_t i, int64_t *out)
{
    prt_tensor t;
    if (!prt_match_constant(op, slot, &t) || i >= prt_tensor_count(&t) ||
        (t.dtype != PRT_DTYPE_i64 && t.dtype != PRT_DTYPE_i32))
        return false;
    *out = prt_load_i64(t.dtype, t.data, i);
    return true;
}

/* Returns the number of elements of input `slot`; 0 if it is not constant. */
static uint32_t integers(const prt_op *op, uint32_t slot)
{
    prt_tensor t;
    return prt_match_constant(op, slot, &t) ? (uint32_t)prt_tensor_count(&t) : 0;
}

/* Supports steps of 1 only. The result's dims are those that type inference found. */
static bool slice(prt_view *v, const prt_op *op)
{
    const prt_value *y = &op->out[0];
    const uint32_t n = integers(op, 1);
    if (n == 0 || !prt_view_is_static(y) || y->type->rank != (int32_t)v->rank)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        int64_t start, axis = i, step = 1;
        if (!integer_at(op, 1, i, &start) ||
            (prt_op_input(op, 3) != NULL && !integer_at(op, 3, i, &axis)) ||
            (prt_op_input(op, 4) != NULL && !integer_at(op, 4, i, &step)))
            return false;
        axis += axis < 0 ? (int64_t)v->rank : 0;
        if (step != 1 || axis < 0 || axis >= (int64_t)v->rank)
            return false;
        start += start < 0 ? v->dims[axis] : 0;
        start = start < 0 ? 0 : start > v->dims[axis] ? v->dims[axis] : start;
        if (start + y->type->dims[axis] > v->dims[axis])
            return false;
        v->first += start * v->steps[axis];
    }
    memcpy(v->dims, y->type->dims, v->rank * sizeof(int64_t));
    return true;
}

static bool split(prt_view *v, const prt_op *op, uint32_t slot)
{
    const prt_split_attrs *a = op->attrs;
    const int64_t axis = a->axis < 0 ? a->axis + (int64_t)v->rank : a->axis;
    if (axis < 0 || axis >= (int64_t)v->rank)
        return false;
    int64_t start = 0;
    for (uint32_t i = 0; i <= slot; i++) {
        const prt_value *y = &op->out[i];
        if (!prt_view_is_static(y) || y->type->rank != (int32_t)v->rank)
            return false;
        if (i == slot)
            memcpy(v->dims, y->type->dims, v->rank * sizeof(int64_t));
        else
            start += y->type->dims[axis];
    }
    v->first += start * v->steps[axis];
    return true;
}

/* Supports one scalar index, which removes its axis. */
static bool gather(prt_view *v, const prt_op *op)
{
    const prt_gather_attrs *a = op->attrs;
    const int64_t axis = a->axis < 0 ? a->axis + (int64_t)v->rank : a->axis;
    const prt_value *index = prt_op_input(op, 1);
    int64_t at;
    if (axis < 0 || axis >= (int64_t)v->rank || !prt_type_is_tensor(index->type) ||
        index->type->rank != 0 || !integer_at(op, 1, 0, &at))
        return false;
    at += at < 0 ? v->dims[axis] : 0;
    if (at < 0 || at >= v->dims[axis])
        return false;
    v->first += at * v->steps[axis];
    v->rank--;
    for (uint32_t i = (uint32_t)axis; i < v->rank; i++) {
        v->dims[i] = v->dims[i + 1];
        v->steps[i] = v->steps[i + 1];
    }
    return true;
}

static bool reshape(prt_view *v, const prt_op *op)
{
    const prt_value *y = &op->out[0];
    return prt_view_is_static(y) && y->type->rank <= PRT_MAX_RANK &&
        prt_view_reshape(v, (uint32_t)y->type->rank, y->type->dims);
}

/* Supports a Mul or Div by a constant number that does not enlarge the rank. */
static bool factor(prt_view *v, const prt_op *op)
{
    const prt_value *y = &op->out[0];
    const bool div = prt_op_is(op, PRT_OP_div);
    double by;
    if (!prt_view_is_static(y) || y->type->rank != (int32_t)v->rank ||
        !prt_view_number(op, !div && prt_view_number(op, 0, &by) ? 0 : 1, &by))
        return false;
    v->scale = div ? v->scale / by : v->scale * by;
    return true;
}

static bool step(prt_view *v, const prt_value *value)
{
    const prt_op *op = value->def;
    switch (op->def->id) {
    case PRT_OP_transpose:
        return transpose(v, op);
    case PRT_OP_slice:
        return slice(v, op);
    case PRT_OP_split:
        return split(v, op, value->slot);
    case PRT_OP_gather:
        return gather(v, op);
    case PRT_OP_mul:
    case PRT_OP_div:
        return factor(v, op);
    case PRT_OP_identity:
        return true;
    default:
        return reshape(v, op);
    }
}

/* Returns the value that this one may be a view of; NULL: it is not a view. */
static prt_value *source_of(const prt_value *value)
{
    static const uint32_t ids[] = { PRT_OP_transpose, PRT_OP_slice, PRT_OP_split, PRT_OP_gather,
        PRT_OP_reshape, PRT_OP_squeeze, PRT_OP_unsqueeze, PRT_OP_flatten, PRT_OP_identity };
    const prt_op *op = value->def;
    double by;
    if (op == NULL || op->def == NULL)
        return NULL;
    for (size_t i = 0; i < PRT_COUNT_OF(ids); i++)
        if (prt_op_is(op, ids[i]))
            return prt_op_input(op, 0);
    if (prt_op_is(op, PRT_OP_div) && prt_view_number(op, 1, &by))
        return prt_op_input(op, 0);
    if (prt_op_is(op, PRT_OP_mul))
        return prt_view_number(op, 0, &by) ? prt_op_input(op, 1)
            : prt_view_number(op, 1, &by)  ? prt_op_input(op, 0)
                                           : NULL;
    return NULL;
}

/* Goes from the source towards `value`. Where a step does not have constant strides, its result
 * becomes the source. */
bool prt_view_trace(prt_value *value, prt_view *out)
{
    prt_value *chain[MAX_STEPS + 1] = { value };
    uint32_t n = 0;
    while (n < MAX_STEPS) {
        prt_value *from = source_of(chain[n]);
        if (from == NULL || !prt_view_is_static(from) || from->graph != value->graph ||
            from->type->dtype != value->type->dtype)
            break;
        chain[++n] = from;
    }
    if (!prt_view_identity(chain[n], out))
        return false;
    while (n-- > 0)
        if (!step(out, chain[n]) && !prt_view_identity(chain[n], out))
            return false;
    return true;
}
