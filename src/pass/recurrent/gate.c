/* SPDX-License-Identifier: MIT */
/* gate.c — reads sums of products, and builds the weights of recurrent operators of them. */
#include "ir/build_ops.h"
#include "pass/recurrent/cell.h"

enum { DEPTH = 16 };

typedef struct reader {
    prt_cell *cell;
    prt_cell_gate *gate;
} reader;

/* ---- factors of products */

/* Reads x: a Gather of the step of this iteration. */
static bool read_x(prt_cell *cell, const prt_value *v)
{
    prt_loop_integer at;
    const prt_op *op = v->def;
    if (!prt_op_is(op, PRT_OP_gather) || !prt_loop_is_outer(cell->loop, op->in[0].value) ||
        !prt_loop_integer_of(cell->loop, op->in[1].value, &at))
        return false;
    prt_value *x = op->in[0].value;
    const prt_type *type = prt_match_ranked(x);
    const int64_t axis = ((const prt_gather_attrs *)op->attrs)->axis;
    const int64_t trips = cell->loop->trips;
    const bool forward = at.slope == 1 && at.start == 0;
    const bool backwards = at.slope == -1 && prt_dim_is_number(trips) && at.start == trips - 1;
    uint32_t k;
    if (type == NULL || type->rank != 3 || !prt_match_axis(axis, 3, &k) || k > 1 ||
        (!forward && !backwards) || (backwards && type->dims[k] != trips))
        return false;
    if (cell->x != NULL && (cell->x != x || cell->axis != k || cell->backwards != backwards))
        return false;
    cell->x = x;
    cell->axis = k;
    cell->backwards = backwards;
    return true;
}

/* Reads the factor of a product whose first column meets row `row` of the matrix. */
static bool read_factor(reader *r, prt_value *v, prt_cell_product part, uint32_t depth)
{
    v = prt_loop_rows(v);
    const int64_t size = prt_match_dim(v, -1);
    if (size <= 0 || depth == DEPTH || prt_loop_is_outer(r->cell->loop, v))
        return false;
    part.rows = size;
    if (prt_op_is(v->def, PRT_OP_concat)) {
        uint32_t axis;
        const prt_type *type = prt_match_ranked(v);
        if (!prt_match_axis(((const prt_concat_attrs *)v->def->attrs)->axis, type->rank, &axis) ||
            (int32_t)axis != type->rank - 1)
            return false;
        for (uint32_t i = 0; i < v->def->n_in; i++) {
            if (!read_factor(r, v->def->in[i].value, part, depth + 1))
                return false;
            part.row += prt_match_dim(v->def->in[i].value, -1);
        }
        return true;
    }
    const bool is_x = prt_op_is(v->def, PRT_OP_gather);
    prt_cell_product *to = is_x ? &r->gate->x : &r->gate->h;
    if (to->matrix != NULL || (is_x ? !read_x(r->cell, v) : size != r->cell->hidden))
        return false;
    *to = part;
    if (!is_x)
        r->gate->h_of = v;
    return true;
}

static bool read_product(reader *r, const prt_op *op, int64_t column, uint32_t depth)
{
    const prt_gemm_attrs *a = op->attrs;
    const bool gemm = op->def->id == PRT_OP_gemm;
    prt_cell_product part = { .matrix = op->in[1].value, .column = column };
    const prt_type *type = prt_match_static(part.matrix);
    if (gemm && (a->transA != 0 || a->alpha != 1.0f || a->beta != 1.0f))
        return false;
    part.transposed = gemm && a->transB != 0;
    return type != NULL && type->rank == 2 && prt_loop_is_outer(r->cell->loop, part.matrix) &&
        prt_match_dim(op->in[0].value, -1) == type->dims[part.transposed ? 1 : 0] &&
        read_factor(r, op->in[0].value, part, depth);
}

/* ---- terms of sums */

static bool read_term(reader *r, prt_value *v, int64_t column, uint32_t depth);

static bool read_bias(reader *r, prt_value *v, int64_t column)
{
    const prt_type *type = prt_match_static(v);
    prt_cell_gate *gate = r->gate;
    if (type == NULL || gate->n_bias == PRT_CELL_BIASES)
        return false;
    for (int32_t i = 0; i < type->rank - 1; i++)
        if (type->dims[i] != 1)
            return false;
    if (type->rank == 0 || type->dims[type->rank - 1] == 1)
        column = 0;
    else if (type->dims[type->rank - 1] < column + r->cell->hidden)
        return false;
    gate->bias[gate->n_bias++] = (prt_cell_bias){ v, column };
    return true;
}

/* Reads a summand. One with a single column is repeated. */
static bool read_summand(reader *r, prt_value *v, int64_t columns, int64_t column, uint32_t depth)
{
    if (prt_loop_is_outer(r->cell->loop, v))
        return read_bias(r, v, column);
    return prt_match_dim(v, -1) == columns && read_term(r, v, column, depth);
}

bool prt_cell_first_column(const prt_value *v, int64_t *first)
{
    const prt_op *op = v->def;
    int64_t start = 0, axis = 0, step = 1;
    const prt_type *type = prt_match_ranked(op->in[0].value);
    const bool split = op->def->id == PRT_OP_split;
    if (split)
        axis = ((const prt_split_attrs *)op->attrs)->axis;
    else if (!prt_match_integer(op, 1, &start) ||
        (prt_op_input(op, 3) != NULL && !prt_match_integer(op, 3, &axis)) ||
        (prt_op_input(op, 4) != NULL && !prt_match_integer(op, 4, &step)))
        return false;
    uint32_t at;
    if (type == NULL || !prt_match_axis(axis, type->rank, &at) || (int32_t)at != type->rank - 1 ||
        step != 1)
        return false;
    const int64_t size = prt_match_dim(op->in[0].value, -1);
    *first = start < 0 ? start + size : start;
    for (uint32_t i = 0; split && i < v->slot; i++) {
        const int64_t part = prt_match_dim(&op->out[i], -1);
        if (part < 0)
            return false;
        *first += part;
    }
    const int64_t width = prt_match_dim(v, -1);
    return *first >= 0 && width > 0 && *first + width <= size;
}

/* Reads a product of elements: a peephole, or a sum times the reset gate of a GRU. */
static bool read_mul(reader *r, const prt_op *op, int64_t column)
{
    prt_cell_gate *gate = r->gate;
    const int64_t hidden = r->cell->hidden;
    if (column != 0 || prt_match_dim(&op->out[0], -1) != hidden)
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        prt_value *v = op->in[i].value;
        uint64_t count;
        if (!prt_loop_is_outer(r->cell->loop, v))
            continue;
        if (gate->peephole != NULL || prt_match_static(v) == NULL ||
            !prt_type_count(v->type, &count) || (int64_t)count != hidden ||
            prt_match_dim(v, -1) != hidden)
            return false;
        gate->peephole = v;
        gate->peephole_of = prt_loop_rows(op->in[1 - i].value);
        return true;
    }
    if (gate->scaled != NULL)
        return false;
    gate->scaled = op;
    return true;
}

/* Adds the columns from `column` on of a value of the body to the gate. */
static bool read_term(reader *r, prt_value *v, int64_t column, uint32_t depth)
{
    int64_t first;
    v = prt_loop_rows(v);
    const prt_op *op = v->def;
    if (op == NULL || op->def == NULL || v->graph != r->cell->loop->body || depth == DEPTH)
        return false;
    switch (op->def->id) {
    case PRT_OP_add:
        for (uint32_t i = 0; i < 2; i++)
            if (!read_summand(r, op->in[i].value, prt_match_dim(v, -1), column, depth + 1))
                return false;
        return true;
    case PRT_OP_split:
    case PRT_OP_slice:
        return prt_cell_first_column(v, &first) &&
            read_term(r, op->in[0].value, column + first, depth + 1);
    case PRT_OP_matmul:
        return read_product(r, op, column, depth + 1);
    case PRT_OP_gemm:
        return read_product(r, op, column, depth + 1) &&
            (prt_op_input(op, 2) == NULL ||
                read_summand(r, op->in[2].value, prt_match_dim(v, -1), column, depth + 1));
    case PRT_OP_mul:
        return read_mul(r, op, column);
    default:
        return false;
    }
}

bool prt_cell_read_gate(prt_cell *cell, prt_cell_columns in, prt_cell_gate *gate)
{
    reader r = { cell, gate };
    *gate = (prt_cell_gate){ .n_bias = 0 };
    return in.column + cell->hidden <= prt_match_dim(in.of, -1) &&
        read_term(&r, in.of, in.column, 0);
}

/* ---- the operator's inputs */

/* Returns the range of an axis; the whole axis is not sliced. */
static prt_value *range(prt_build *b, prt_value *v, int64_t axis, int64_t first, int64_t count)
{
    return first == 0 && prt_match_dim(v, axis) == count
        ? v
        : prt_build_slice(b, v, axis, first, first + count, 1);
}

/* Returns the weights of a product as [hidden, rows]. */
static prt_value *weights(const prt_cell *cell, prt_build *b, const prt_cell_product *part)
{
    prt_value *m = prt_loop_outer(cell->loop, b, part->matrix);
    m = range(b, m, part->transposed ? 1 : 0, part->row, part->rows);
    m = range(b, m, part->transposed ? 0 : 1, part->column, cell->hidden);
    return part->transposed ? m : prt_build_transpose(b, m, 2, (int64_t[]){ 1, 0 });
}

/* Returns the values of a vector of `hidden` elements, zeros if `v` is NULL. */
static prt_value *vector(const prt_cell *cell, prt_build *b, prt_value *v, int64_t column)
{
    const int32_t dtype = cell->x->type->dtype;
    const int64_t hidden = cell->hidden;
    v = v != NULL ? prt_loop_outer(cell->loop, b, v) : prt_build_scalar(b, dtype, 0);
    uint64_t count;
    if (v == NULL || !prt_type_count(v->type, &count))
        return NULL;
    if (count == 1)
        return prt_build_expand(b, v, prt_build_i64s(b, 1, &hidden));
    v = prt_build_reshape(b, v, 1, (int64_t[]){ -1 });
    return range(b, v, 0, column, hidden);
}

/* Returns the sum of the biases of a gate; NULL without biases or after a failure. */
static prt_value *biases(const prt_cell *cell, prt_build *b, const prt_cell_gate *gate)
{
    prt_value *sum = NULL;
    for (uint32_t i = 0; i < gate->n_bias; i++) {
        prt_value *v = vector(cell, b, gate->bias[i].value, gate->bias[i].column);
        sum = sum == NULL ? v : prt_build_binary(b, PRT_OP_add, sum, v);
    }
    return sum;
}

/* Joins the parts of all gates, and adds the axis of directions. */
static prt_value *joined(prt_build *b, uint32_t count, prt_value *const *parts)
{
    return prt_build_unsqueeze(b, prt_build_concat(b, 0, count, parts), 1, (int64_t[]){ 0 });
}

static prt_value *all_biases(const prt_cell *cell, prt_build *b)
{
    prt_value *parts[2 * PRT_CELL_GATES];
    const uint32_t n = cell->n_gates;
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        const bool reset = cell->linear_before_reset && i == n - 1;
        prt_value *x = biases(cell, b, &cell->gates[i]);
        prt_value *h = reset ? biases(cell, b, &cell->reset) : NULL;
        any = any || x != NULL || h != NULL;
        parts[i] = x != NULL ? x : vector(cell, b, NULL, 0);
        parts[n + i] = h != NULL ? h : vector(cell, b, NULL, 0);
    }
    return any ? joined(b, 2 * n, parts) : NULL;
}

prt_cell_weights prt_cell_build(const prt_cell *cell, prt_build *b)
{
    prt_cell_weights out = { .w = NULL };
    prt_value *w[PRT_CELL_GATES], *r[PRT_CELL_GATES], *p[PRT_CELL_GATES];
    const uint32_t n = cell->n_gates;
    bool peepholes = false;
    for (uint32_t i = 0; i < n; i++) {
        const bool reset = cell->linear_before_reset && i == n - 1;
        w[i] = weights(cell, b, &cell->gates[i].x);
        r[i] = weights(cell, b, reset ? &cell->reset.h : &cell->gates[i].h);
        peepholes = peepholes || cell->gates[i].peephole != NULL;
    }
    out.w = joined(b, n, w);
    out.r = joined(b, n, r);
    out.b = all_biases(cell, b);
    for (uint32_t i = 0; peepholes && i + 1 < n; i++)
        p[i] = vector(cell, b, cell->gates[i].peephole, 0);
    if (peepholes)
        out.p = joined(b, n - 1, p);
    return out;
}
