/* SPDX-License-Identifier: MIT */
/*
 * rotary.c — matmul_rotary_embedding: x * cos + rot(x) * sin becomes x * cos + MatMul(x, R) * sin.
 * rot permutes the last axis and negates some elements; R is a constant with one 1 or -1 in each
 * column. Results are bitwise equal in any precision for finite x, except for the sign of zeros.
 *
 * rot is any composition of Slice, Split, Neg, Mul by -1, Concat, Unsqueeze, Squeeze, Reshape and
 * Identity on the last axis of x: swapped halves or swapped pairs, as several exporters write them.
 * The pass traces it element by element.
 */
#include <stdio.h>

#include "pass/engine/match.h"

enum { MOST_DIM = 512, MOST_DEPTH = 12, MOST_STEPS = 1024 };

/* The last one or two axes of a value as elements of x: index + 1, negative if the element is
 * negated. */
typedef struct row {
    uint32_t axes;
    int64_t dims[2];
    int16_t at[MOST_DIM];
} row;

typedef struct tracer {
    const prt_value *x; /* a value of this graph or of an outer one */
    const prt_graph *graph;
    uint32_t rank; /* rank of x */
    uint32_t steps;
    row part[MOST_DEPTH + 1]; /* operands of Concat, by depth */
} tracer;

static size_t row_size(const row *r)
{
    return (size_t)(r->dims[0] * (r->axes == 2 ? r->dims[1] : 1));
}

/* Maps `axis` of a value with this row to its trailing axis (0: the first one); -1 if it is not a
 * trailing axis. */
static int64_t trailing(const tracer *t, const row *r, int64_t axis)
{
    const int64_t rank = (int64_t)t->rank - 1 + r->axes;
    axis += axis < 0 ? rank : 0;
    const int64_t first = (int64_t)t->rank - 1;
    return axis >= first && axis < rank ? axis - first : -1;
}

/* Selects elements first, first + step, ... of the last axis. Returns false for the first of two
 * axes. */
static bool select_elements(row *r, int64_t axis, int64_t first, int64_t step, int64_t count)
{
    const row from = *r;
    if (axis == 0 && r->axes == 2)
        return false;
    const int64_t whole = r->dims[axis], rows = axis == 1 ? r->dims[0] : 1;
    r->dims[axis] = count;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < count; k++)
            r->at[i * count + k] = from.at[i * whole + first + k * step];
    return true;
}

static bool trace(tracer *t, const prt_value *v, row *r, uint32_t depth);

static bool trace_slice(tracer *t, const prt_op *op, row *r)
{
    int64_t number[4] = { 0, 0, 0, 1 };
    if (!prt_match_integer(op, 1, &number[0]) || !prt_match_integer(op, 2, &number[1]) ||
        !prt_match_integer(op, 3, &number[2]) ||
        (prt_op_input(op, 4) != NULL && !prt_match_integer(op, 4, &number[3])))
        return false;
    const int64_t axis = trailing(t, r, number[2]), step = number[3];
    if (axis < 0 || step < 1)
        return false;
    const int64_t whole = r->dims[axis];
    int64_t first = number[0], end = number[1];
    first = first < -whole ? 0 : first < 0 ? first + whole : first > whole ? whole : first;
    end = end < -whole ? 0 : end < 0 ? end + whole : end > whole ? whole : end;
    const int64_t count = end > first ? (end - first - 1) / step + 1 : 0;
    return count > 0 && select_elements(r, axis, first, step, count);
}

static bool trace_split(tracer *t, const prt_op *op, uint32_t slot, row *r)
{
    const int64_t axis = trailing(t, r, ((const prt_split_attrs *)op->attrs)->axis);
    int64_t first = 0;
    if (axis < 0)
        return false;
    for (uint32_t i = 0; i <= slot; i++) {
        const int64_t part = prt_match_dim(&op->out[i], ((const prt_split_attrs *)op->attrs)->axis);
        if (part < 1 || part > r->dims[axis] - first)
            return false;
        if (i == slot)
            return select_elements(r, axis, first, 1, part);
        first += part;
    }
    return false;
}

/* Concatenates rows along the last axis. */
static bool trace_concat(tracer *t, const prt_op *op, row *r, uint32_t depth)
{
    row *part = &t->part[depth];
    for (uint32_t i = 0; i < op->n_in; i++) {
        if (!trace(t, prt_op_input(op, i), part, depth))
            return false;
        const int64_t axis = trailing(t, part, ((const prt_concat_attrs *)op->attrs)->axis);
        if (axis < 0 || axis + 1 != (int64_t)part->axes)
            return false;
        if (i == 0) {
            *r = *part;
            continue;
        }
        if (part->axes != r->axes || (r->axes == 2 && part->dims[0] != r->dims[0]) ||
            row_size(r) + row_size(part) > MOST_DIM)
            return false;
        const row before = *r;
        const int64_t a = before.dims[axis], b = part->dims[axis];
        const int64_t rows = r->axes == 2 ? r->dims[0] : 1;
        for (int64_t k = 0; k < rows; k++) {
            memcpy(r->at + k * (a + b), before.at + k * a, (size_t)a * sizeof(r->at[0]));
            memcpy(r->at + k * (a + b) + a, part->at + k * b, (size_t)b * sizeof(r->at[0]));
        }
        r->dims[axis] = a + b;
    }
    return op->n_in != 0;
}

/* Reads the shape of a view: it must have the dims of x except for the last, then one or two
 * dims. */
static bool trace_view(const tracer *t, const prt_value *v, row *r)
{
    const prt_type *y = prt_match_ranked(v), *x = prt_match_ranked(t->x);
    if (y == NULL || (y->rank != x->rank && y->rank != x->rank + 1))
        return false;
    for (int32_t i = 0; i < x->rank - 1; i++)
        if (y->dims[i] != x->dims[i] || y->dims[i] == PRT_DIM_UNKNOWN)
            return false;
    const size_t size = row_size(r);
    r->axes = (uint32_t)(y->rank - x->rank + 1);
    for (uint32_t i = 0; i < r->axes; i++) {
        r->dims[i] = prt_match_dim(v, x->rank - 1 + (int64_t)i);
        if (r->dims[i] < 1 || r->dims[i] > MOST_DIM)
            return false;
    }
    return row_size(r) == size;
}

static bool negate(row *r)
{
    for (size_t i = 0; i < row_size(r); i++)
        r->at[i] = (int16_t)-r->at[i];
    return true;
}

static bool trace(tracer *t, const prt_value *v, row *r, uint32_t depth)
{
    if (v == t->x) {
        *r = (row){ .axes = 1, .dims = { prt_match_dim(v, -1) } };
        for (int64_t i = 0; i < r->dims[0]; i++)
            r->at[i] = (int16_t)(i + 1);
        return true;
    }
    const prt_op *op = v != NULL ? v->def : NULL;
    if (op == NULL || op->def == NULL || v->graph != t->graph || depth == MOST_DEPTH ||
        t->steps++ > MOST_STEPS)
        return false;
    double by;
    switch (op->def->id) {
    case PRT_OP_concat:
        return trace_concat(t, op, r, depth + 1);
    case PRT_OP_slice:
        return trace(t, prt_op_input(op, 0), r, depth + 1) && trace_slice(t, op, r);
    case PRT_OP_split:
        return trace(t, prt_op_input(op, 0), r, depth + 1) && trace_split(t, op, v->slot, r);
    case PRT_OP_neg:
        return trace(t, prt_op_input(op, 0), r, depth + 1) && negate(r);
    case PRT_OP_mul:
        return prt_match_number(op, 1, &by) && by == -1 && v->type == prt_op_input(op, 0)->type &&
            trace(t, prt_op_input(op, 0), r, depth + 1) && negate(r);
    case PRT_OP_identity:
        return trace(t, prt_op_input(op, 0), r, depth + 1);
    case PRT_OP_reshape:
    case PRT_OP_unsqueeze:
    case PRT_OP_squeeze:
        return trace(t, prt_op_input(op, 0), r, depth + 1) && trace_view(t, v, r);
    default:
        return false;
    }
}

/* Returns whether every element occurs once and the row differs from x. */
static bool is_rotation(const row *r, int64_t n)
{
    bool seen[MOST_DIM] = { false }, moved = false;
    if (r->axes != 1 || r->dims[0] != n)
        return false;
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = (r->at[i] < 0 ? -r->at[i] : r->at[i]) - 1;
        if (seen[from])
            return false;
        seen[from] = true;
        moved = moved || from != i;
    }
    return moved;
}

/* Makes a name that identifies the matrix, so that all users share one constant. */
static void name_of(const row *r, int32_t dtype, char *to, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < r->dims[0]; i++)
        hash = (hash ^ (uint16_t)r->at[i]) * 0x100000001b3u;
    (void)snprintf(to, size, "rotation_%s_%d_%08x", prt_dtype_of(dtype)->name, (int)r->dims[0],
        (unsigned)(hash >> 32));
}

/* Returns R as a constant of the main graph, existing or new. */
static prt_value *rotation(prt_pass *p, prt_build *b, const row *r, int32_t dtype)
{
    prt_module *m = b->graph->module;
    const int64_t n = r->dims[0], dims[2] = { n, n };
    const prt_type *type = prt_type_tensor(m->types, dtype, 2, dims);
    size_t size;
    char text[64];
    prt_blob *blob = NULL;
    name_of(r, dtype, text, sizeof(text));
    if (type == NULL || !prt_type_size(type, &size) ||
        prt_blob_create(m->allocator, size, &blob) != POPRT_OK) {
        b->status = POPRT_E_NOMEM;
        return NULL;
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = (r->at[i] < 0 ? -r->at[i] : r->at[i]) - 1;
        prt_store_f64(dtype, prt_blob_bytes(blob), (size_t)(from * n + i), r->at[i] < 0 ? -1 : 1);
    }
    return prt_match_shared_constant(p, b, text, type, blob);
}

/* Replaces `rot`, if it is traced back to x, by a MatMul inserted before the op that makes it. */
static bool replace(prt_pass *p, prt_build *b, prt_value *x, prt_value *rot)
{
    const int64_t n = prt_match_dim(x, -1);
    const int32_t dtype = prt_match_dtype(x);
    tracer t = { .x = x, .graph = b->graph };
    if (n < 2 || n > MOST_DIM || x == rot || rot->def == NULL || !prt_dtype_is_float(dtype) ||
        !prt_match_allows(PRT_OP_matmul, dtype) || x->type->rank < 2 || rot->type != x->type ||
        rot->graph != b->graph)
        return false;
    t.rank = (uint32_t)x->type->rank;
    row r;
    if (!trace(&t, rot, &r, 0) || !is_rotation(&r, n))
        return false;
    prt_build at = *b;
    at.before = rot->def;
    prt_value *in[2] = { x, rotation(p, &at, &r, dtype) };
    if (in[1] == NULL) {
        b->status = at.status;
        return at.status != POPRT_OK;
    }
    prt_value *y = prt_build_op(&at, PRT_OP_matmul, NULL, 2, in);
    if (at.status == POPRT_OK)
        (void)prt_pass_replace(&at, rot, y);
    b->status = at.status;
    return true;
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        const prt_op *plain = prt_match_producer(root, slot, PRT_OP_mul);
        const prt_op *rotated = prt_match_producer(root, 1 - slot, PRT_OP_mul);
        for (uint32_t k = 0; plain != NULL && rotated != NULL && k < 4; k++)
            if (replace(p, b, prt_op_input(plain, k & 1), prt_op_input(rotated, k >> 1)))
                return true;
    }
    return false;
}

PRT_PASS_OF_REWRITE(matmul_rotary_embedding, PRT_OP_add, apply);
