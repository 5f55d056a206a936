/* SPDX-License-Identifier: MIT */
/* loop.c — facts about Loops. */
#include "pass/recurrent/loop.h"

#include "pass/engine/region.h"

enum {
    DEPTH = 16,   /* of a chain of operators that is followed */
    VISITS = 256, /* values that are looked at to read one integer tensor */
    VALUES = 32   /* inputs or outputs of a Loop; recurrent layers have fewer */
};

#define LARGE ((int64_t)1 << 40) /* an integer at least as large counts as this one */

/* ---- the loop */

/* Returns whether a condition of the loop is always true. */
static bool is_true(const prt_loop *l, const prt_value *v, uint32_t depth)
{
    prt_tensor t;
    if (v == NULL)
        return true;
    if (prt_value_is_fixed(v) && prt_value_tensor(v, &t))
        return prt_tensor_count(&t) == 1 && prt_load_i64(t.dtype, t.data, 0) != 0;
    if (v == l->body->inputs.data[1])
        return is_true(l, prt_op_input(l->op, 1), depth);
    return prt_op_is(v->def, PRT_OP_identity) && depth < DEPTH &&
        is_true(l, prt_op_input(v->def, 0), depth + 1);
}

bool prt_loop_init(prt_op *op, prt_loop *l)
{
    int64_t trips;
    if (!prt_op_is(op, PRT_OP_loop) || op->n_regions != 1 || op->n_in < PRT_LOOP_FIRST ||
        op->n_in > VALUES || op->n_out > VALUES || prt_op_input(op, 0) == NULL ||
        !prt_region_is_pure(op))
        return false;
    *l = (prt_loop){ .op = op, .body = op->regions[0], .carried = op->n_in - PRT_LOOP_FIRST };
    if (l->body->inputs.count != op->n_in || l->body->ret->n_in != op->n_out + 1 ||
        op->n_out < l->carried || !is_true(l, prt_op_input(op, 1), 0) ||
        !is_true(l, prt_op_input(l->body->ret, 0), 0))
        return false;
    for (uint32_t i = 0; i < l->body->ret->n_in; i++)
        if (prt_op_input(l->body->ret, i) == NULL)
            return false;
    const prt_content *content = op->in[0].value->content;
    l->trips = content != NULL && content->count == 1 ? content->values[0] : PRT_DIM_UNKNOWN;
    if (prt_match_integer(op, 0, &trips))
        l->trips = trips > 0 ? trips : 0;
    return true;
}

bool prt_loop_is_outer(const prt_loop *l, const prt_value *v)
{
    return v != NULL && (v->graph != l->body || prt_value_is_constant(v));
}

prt_value *prt_loop_outer(const prt_loop *l, prt_build *b, prt_value *v)
{
    prt_tensor t;
    if (v == NULL || v->graph != l->body)
        return v;
    if (!prt_value_tensor(v, &t))
        return NULL;
    return prt_build_tensor(b, t.dtype, t.rank, t.dims, t.data);
}

uint32_t prt_loop_state(const prt_loop *l, const prt_value *v)
{
    return v != NULL && v->graph == l->body && prt_value_is_input(v) && v->slot >= PRT_LOOP_FIRST
        ? v->slot - PRT_LOOP_FIRST
        : UINT32_MAX;
}

prt_value *prt_loop_next(const prt_loop *l, uint32_t k)
{
    return prt_op_input(l->body->ret, k + 1);
}

/* ---- moves */

/* Reads the rows of a value: the only leading dim that is not 1. Returns false if there are
 * several. */
static bool rows_of(const prt_value *v, int64_t *rows, int64_t *columns)
{
    const prt_type *type = prt_match_ranked(v);
    if (type == NULL || type->rank < 1)
        return false;
    *rows = 1;
    *columns = prt_match_dim(v, -1);
    for (int32_t i = 0; i < type->rank - 1; i++) {
        if (type->dims[i] != 1 && *rows != 1)
            return false;
        *rows = type->dims[i] != 1 ? type->dims[i] : *rows;
    }
    return *columns > 0;
}

prt_value *prt_loop_rows(prt_value *v)
{
    for (uint32_t depth = 0; v != NULL && depth < DEPTH; depth++) {
        int64_t a, b, n, m;
        const prt_op *op = v->def;
        if (prt_op_is(op, PRT_OP_identity)) {
            v = op->in[0].value;
            continue;
        }
        if ((!prt_op_is(op, PRT_OP_reshape) && !prt_op_is(op, PRT_OP_squeeze) &&
                !prt_op_is(op, PRT_OP_unsqueeze)) ||
            !rows_of(v, &a, &n) || !rows_of(op->in[0].value, &b, &m) || n != m)
            break;
        v = op->in[0].value;
    }
    return v;
}

bool prt_loop_is_zero(const prt_value *v)
{
    prt_tensor t;
    for (uint32_t depth = 0; depth < DEPTH && v->def != NULL &&
         (prt_op_is(v->def, PRT_OP_expand) || prt_op_is(v->def, PRT_OP_identity));
         depth++)
        v = v->def->in[0].value;
    if (prt_op_is(v->def, PRT_OP_constant_of_shape))
        return ((const prt_constant_of_shape_attrs *)v->def->attrs)->value == NULL;
    if (!prt_value_is_fixed(v) || !prt_value_tensor(v, &t) || !prt_dtype_is_float(t.dtype))
        return false;
    for (size_t i = 0; i < prt_tensor_count(&t); i++)
        if (prt_load_f64(t.dtype, t.data, i) != 0)
            return false;
    return true;
}

/* ---- integers */

/* The values that are still to be looked at, and how deep the next one is. */
typedef struct effort {
    uint32_t visits, depth;
} effort;

static bool integers(const prt_loop *l, const prt_value *v, prt_loop_integer *out, uint32_t *count,
    effort *e);

static bool constants(const prt_value *v, prt_loop_integer *out, uint32_t *count)
{
    prt_tensor t;
    if (!prt_value_is_fixed(v) || !prt_value_tensor(v, &t) ||
        (!prt_dtype_is_integer(t.dtype) && t.dtype != PRT_DTYPE_bool) ||
        prt_tensor_count(&t) > PRT_MAX_RANK)
        return false;
    *count = (uint32_t)prt_tensor_count(&t);
    for (uint32_t i = 0; i < *count; i++) {
        const int64_t x = prt_load_i64(t.dtype, t.data, i);
        out[i] = (prt_loop_integer){ 0, x > LARGE ? LARGE : x < -LARGE ? -LARGE : x };
    }
    return true;
}

/* Reads a carried value that grows by a constant in each iteration. */
static bool counter(const prt_loop *l, uint32_t k, prt_loop_integer *out)
{
    prt_loop_integer start[PRT_MAX_RANK], step[PRT_MAX_RANK];
    uint32_t n = 0, m = 0;
    const prt_value *first = prt_op_input(l->op, k + PRT_LOOP_FIRST);
    const prt_value *input = l->body->inputs.data[k + PRT_LOOP_FIRST];
    const prt_value *next = prt_loop_next(l, k);
    for (uint32_t i = 0; i < DEPTH && next != NULL && prt_op_is(next->def, PRT_OP_identity); i++)
        next = next->def->in[0].value;
    if (first == NULL || next == NULL || !prt_op_is(next->def, PRT_OP_add) ||
        !constants(first, start, &n) || n != 1)
        return false;
    for (uint32_t i = 0; i < 2; i++)
        if (next->def->in[i].value == input && constants(next->def->in[1 - i].value, step, &m) &&
            m == 1) {
            *out = (prt_loop_integer){ step->start, start->start };
            return true;
        }
    return false;
}

/* Reads whether a < b in all iterations; false if it is not the same in all of them. */
static bool always_less(prt_loop_integer a, prt_loop_integer b, prt_loop_integer *out)
{
    const int64_t slope = a.slope - b.slope, start = a.start - b.start;
    *out = (prt_loop_integer){ 0, start < 0 };
    return start < 0 ? slope <= 0 : slope >= 0;
}

/* Applies an elementwise operator of two or three inputs. */
static bool elementwise(const prt_loop *l, const prt_op *op, prt_loop_integer *out, uint32_t *count,
    effort *e)
{
    prt_loop_integer x[3][PRT_MAX_RANK];
    uint32_t n[3];
    *count = 1;
    for (uint32_t i = 0; i < op->n_in; i++) {
        if (!integers(l, prt_op_input(op, i), x[i], &n[i], e) || n[i] == 0)
            return false;
        if (n[i] != 1 && *count != 1 && n[i] != *count)
            return false;
        *count = n[i] != 1 ? n[i] : *count;
    }
    for (uint32_t i = 0; i < *count; i++) {
        const prt_loop_integer a = x[0][n[0] == 1 ? 0 : i], b = x[1][n[1] == 1 ? 0 : i];
        if (op->def->id == PRT_OP_add)
            out[i] = (prt_loop_integer){ a.slope + b.slope, a.start + b.start };
        else if (op->def->id == PRT_OP_sub)
            out[i] = (prt_loop_integer){ a.slope - b.slope, a.start - b.start };
        else if (op->def->id == PRT_OP_where)
            out[i] = a.start != 0 ? b : x[2][n[2] == 1 ? 0 : i];
        else if (!always_less(a, b, &out[i]))
            return false;
    }
    return true;
}

static bool joined(const prt_loop *l, const prt_op *op, prt_loop_integer *out, uint32_t *count,
    effort *e)
{
    prt_loop_integer part[PRT_MAX_RANK];
    uint32_t n = 0;
    *count = 0;
    for (uint32_t i = 0; i < op->n_in; i++) {
        if (!integers(l, prt_op_input(op, i), part, &n, e) || *count + n > PRT_MAX_RANK)
            return false;
        memcpy(out + *count, part, n * sizeof(*part));
        *count += n;
    }
    return true;
}

/* Reads the elements that an operator of the body computes. */
static bool computed(const prt_loop *l, const prt_op *op, prt_loop_integer *out, uint32_t *count,
    effort *e)
{
    switch (op->def->id) {
    case PRT_OP_cast:
    case PRT_OP_identity:
    case PRT_OP_reshape:
    case PRT_OP_squeeze:
    case PRT_OP_unsqueeze:
        return integers(l, op->in[0].value, out, count, e);
    case PRT_OP_add:
    case PRT_OP_sub:
    case PRT_OP_less:
    case PRT_OP_where:
        return elementwise(l, op, out, count, e);
    case PRT_OP_concat:
        return joined(l, op, out, count, e);
    default:
        return false;
    }
}

static bool integers(const prt_loop *l, const prt_value *v, prt_loop_integer *out, uint32_t *count,
    effort *e)
{
    const prt_type *type = prt_match_ranked(v);
    if (type == NULL || e->visits == 0 || e->depth == DEPTH)
        return false;
    e->visits--;
    if (constants(v, out, count))
        return true;
    *count = 1;
    if (v == l->body->inputs.data[0]) {
        *out = (prt_loop_integer){ 1, 0 };
        return true;
    }
    const uint32_t k = prt_loop_state(l, v);
    if (k != UINT32_MAX)
        return counter(l, k, out);
    if (v->def == NULL || v->def->def == NULL || type->rank > 1 ||
        (!prt_dtype_is_integer(type->dtype) && type->dtype != PRT_DTYPE_bool))
        return false;
    e->depth++;
    const bool known = computed(l, v->def, out, count, e);
    e->depth--;
    return known;
}

bool prt_loop_integers(const prt_loop *l, const prt_value *v, prt_loop_integer out[PRT_MAX_RANK],
    uint32_t *count)
{
    effort e = { VISITS, 0 };
    return integers(l, v, out, count, &e);
}

bool prt_loop_integer_of(const prt_loop *l, const prt_value *v, prt_loop_integer *out)
{
    prt_loop_integer all[PRT_MAX_RANK];
    uint32_t count;
    if (!prt_loop_integers(l, v, all, &count) || count != 1)
        return false;
    *out = all[0];
    return true;
}

/* ---- tensors that are written step by step */

static bool is_number(prt_loop_integer a, int64_t slope, int64_t start)
{
    return a.slope == slope && a.start == start;
}

/* Reads a Slice of `v` that takes a range of axis 0, and all of the other axes. */
static bool slice_of(const prt_loop *l, const prt_value *part, const prt_value *v,
    prt_loop_integer *start, prt_loop_integer *end)
{
    prt_loop_integer in[5][PRT_MAX_RANK];
    uint32_t n[5] = { 0 };
    const prt_op *op = part->def;
    const prt_type *type = prt_match_ranked(v);
    if (!prt_op_is(op, PRT_OP_slice) || op->in[0].value != v || type == NULL)
        return false;
    for (uint32_t i = 1; i < op->n_in && i < 5; i++)
        if (prt_op_input(op, i) != NULL && !prt_loop_integers(l, op->in[i].value, in[i], &n[i]))
            return false;
    *start = (prt_loop_integer){ 0, 0 };
    *end = (prt_loop_integer){ 0, LARGE };
    if (n[1] != n[2] || (n[3] != 0 && n[3] != n[1]) || (n[4] != 0 && n[4] != n[1]))
        return false;
    for (uint32_t i = 0; i < n[1]; i++) {
        const int64_t axis = n[3] != 0 ? in[3][i].start : i;
        if (axis < 0 || axis >= type->rank || (n[4] != 0 && !is_number(in[4][i], 0, 1)))
            return false;
        const int64_t dim = type->dims[axis];
        if (axis == 0) {
            *start = in[1][i];
            *end = in[2][i];
        } else if (!is_number(in[1][i], 0, 0) || in[2][i].slope != 0 ||
            in[2][i].start < (prt_dim_is_number(dim) ? dim : INT32_MAX)) {
            return false;
        }
    }
    return true;
}

prt_value *prt_loop_item(const prt_loop *l, uint32_t k)
{
    prt_loop_integer start, end;
    const prt_value *v = l->body->inputs.data[k + PRT_LOOP_FIRST];
    const prt_value *first = prt_op_input(l->op, k + PRT_LOOP_FIRST);
    const prt_op *op = prt_loop_next(l, k)->def;
    const int64_t size = prt_match_dim(first, 0);
    if (!prt_op_is(op, PRT_OP_concat) || op->n_in != 3 || size < 0 || size != l->trips ||
        ((const prt_concat_attrs *)op->attrs)->axis != 0)
        return NULL;
    if (!slice_of(l, op->in[0].value, v, &start, &end) || !is_number(start, 0, 0) ||
        !is_number(end, 1, 0))
        return NULL;
    if (!slice_of(l, op->in[2].value, v, &start, &end) || !is_number(start, 1, 1) ||
        end.slope != 0 || end.start < size || prt_match_dim(op->in[1].value, 0) != 1)
        return NULL;
    return op->in[1].value;
}

/* ---- masks */

/* Compares the iteration with lengths; NULL: the op does something else. */
static prt_value *compared(const prt_loop *l, const prt_op *op, bool *active)
{
    static const struct {
        uint32_t id, iteration; /* the operand that is the iteration */
        bool below;             /* whether the result is iteration < length */
    } forms[] = { { PRT_OP_less, 0, true }, { PRT_OP_greater, 1, true },
        { PRT_OP_greater_or_equal, 0, false }, { PRT_OP_less_or_equal, 1, false } };
    prt_loop_integer i;
    for (size_t k = 0; k < PRT_COUNT_OF(forms); k++) {
        if (!prt_op_is(op, forms[k].id) ||
            !prt_loop_integer_of(l, op->in[forms[k].iteration].value, &i) || !is_number(i, 1, 0))
            continue;
        prt_value *lengths = op->in[1 - forms[k].iteration].value;
        *active = *active == forms[k].below;
        return prt_loop_is_outer(l, lengths) ? lengths : NULL;
    }
    return NULL;
}

/* Returns the input of an op that makes a vector a column, or repeats a column; NULL for another
 * op. */
static prt_value *widened(const prt_op *op)
{
    int64_t repeats[PRT_MAX_RANK];
    uint32_t n = 0;
    const prt_type *type = prt_match_ranked(&op->out[0]);
    const prt_type *from = prt_match_ranked(prt_op_input(op, 0));
    const bool column = type != NULL && type->rank == 2 && type->dims[1] == 1;
    if (from == NULL)
        return NULL;
    if (prt_op_is(op, PRT_OP_unsqueeze) || prt_op_is(op, PRT_OP_reshape))
        return column && from->rank == 1 ? op->in[0].value : NULL;
    if (prt_op_is(op, PRT_OP_tile) && prt_match_i64s(op, 1, PRT_MAX_RANK, repeats, &n) && n == 2)
        return repeats[0] == 1 && from->dims[1] == 1 ? op->in[0].value : NULL;
    return prt_op_is(op, PRT_OP_identity) ? op->in[0].value : NULL;
}

prt_value *prt_loop_lengths(const prt_loop *l, prt_value *condition, bool *active)
{
    prt_value *v = condition;
    const prt_type *type = prt_match_ranked(condition);
    *active = true;
    if (type == NULL || type->rank != 2)
        return NULL;
    for (uint32_t depth = 0; depth < DEPTH && v != NULL && v->def != NULL; depth++) {
        prt_value *lengths = compared(l, v->def, active);
        if (lengths != NULL) {
            const prt_type *of = prt_match_ranked(lengths);
            type = prt_match_ranked(v);
            return of != NULL && type != NULL && prt_dtype_is_integer(of->dtype) &&
                    of->rank == type->rank && (of->rank == 1 || of->dims[1] == 1)
                ? lengths
                : NULL;
        }
        *active = *active != prt_op_is(v->def, PRT_OP_not);
        v = prt_op_is(v->def, PRT_OP_not) ? v->def->in[0].value : widened(v->def);
    }
    return NULL;
}
