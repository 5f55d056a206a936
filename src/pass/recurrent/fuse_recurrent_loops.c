/* SPDX-License-Identifier: MIT */
/*
 * fuse_recurrent_loops.c — fuse_recurrent_loops: a Loop whose body is the cell of an LSTM, a GRU or
 * a simple RNN becomes this operator. All results of the Loop that are read must be one of: the
 * outputs of all steps, the last states, and counters. A step is read from a tensor outside by the
 * number of the iteration.
 *
 * The operator reads as many steps as the Loop has iterations. Steps in reverse order, as a Slice
 * outside gives them, make the direction "reverse".
 */
#include "ir/build_ops.h"
#include "pass/recurrent/cell.h"

typedef enum result_kind { UNREAD, STEPS, LAST_H, LAST_C, COUNTER } result_kind;

/* ---- what the results of the Loop are */

/* Returns whether a value of the body is the output of a step: after the end of a sequence, if
 * sequences have lengths, it must be zero. */
static bool is_step(const prt_cell *cell, prt_value *v)
{
    bool active;
    v = prt_loop_rows(v);
    if (cell->lengths == NULL)
        return v == cell->new_h;
    if (!prt_op_is(v->def, PRT_OP_where) ||
        prt_loop_lengths(cell->loop, v->def->in[0].value, &active) != cell->lengths)
        return false;
    return prt_loop_rows(v->def->in[active ? 1 : 2].value) == cell->new_h &&
        prt_loop_is_zero(v->def->in[active ? 2 : 1].value);
}

/* How a result gets the type of an output. */
typedef struct shape {
    bool reshapes; /* to numbers; otherwise axes of one element are inserted */
    int64_t axes[PRT_MAX_RANK];
    uint32_t n_axes;
} shape;

/* Finds how the outputs of all steps (rank 3), or a last state (rank 2), get the type of output k.
 * Returns false if that needs numbers that only a run knows. */
static bool find_shape(const prt_cell *cell, uint32_t k, int32_t rank, shape *to)
{
    const prt_value *out = &cell->loop->op->out[k];
    const prt_type *type = prt_match_ranked(out);
    const int64_t dims[] = { cell->loop->trips, cell->x->type->dims[1 - cell->axis], cell->hidden };
    int32_t left = rank;
    *to = (shape){ .n_axes = 0 };
    for (int32_t i = type != NULL ? type->rank - 1 : -1; i >= 0; i--) {
        const int64_t dim = type->dims[i];
        if (left > 0 && (dim == dims[3 - rank + left - 1] || !prt_dim_is_number(dim)))
            left--;
        else if (dim == 1)
            to->axes[to->n_axes++] = i;
        else
            left = -1;
    }
    if (type != NULL && left == 0)
        return true;
    to->reshapes = true;
    return prt_match_static(out) != NULL;
}

/* Returns what output k is; UNREAD also if it is something else, which `*other` then says. */
static result_kind classify(const prt_cell *cell, uint32_t k, bool *other)
{
    const prt_loop *l = cell->loop;
    prt_loop_integer count;
    *other = false;
    if (!prt_value_used(&l->op->out[k]))
        return UNREAD;
    if (k == cell->h)
        return LAST_H;
    if (k == cell->c)
        return LAST_C;
    if (k < l->carried && prt_loop_integer_of(l, l->body->inputs.data[k + PRT_LOOP_FIRST], &count))
        return COUNTER;
    shape ignored;
    prt_value *item = k < l->carried ? prt_loop_item(l, k) : prt_loop_next(l, k);
    if (item != NULL && find_shape(cell, k, 3, &ignored) && is_step(cell, item))
        return STEPS;
    const bool runs = prt_dim_is_number(l->trips) && l->trips > 0;
    if (item == NULL && runs && cell->lengths == NULL && find_shape(cell, k, 2, &ignored) &&
        prt_loop_rows(prt_loop_next(l, k)) == cell->new_h)
        return LAST_H;
    *other = true;
    return UNREAD;
}

static bool are_results(const prt_cell *cell)
{
    bool other = false;
    for (uint32_t k = 0; k < cell->loop->op->n_out; k++) {
        classify(cell, k, &other);
        if (other)
            return false;
    }
    return true;
}

/* Returns whether the first states have the batch of x, so that nothing is broadcast. */
static bool has_batch(const prt_cell *cell, uint32_t k)
{
    const prt_type *x = prt_match_ranked(cell->x);
    const prt_type *type = prt_match_ranked(prt_op_input(cell->loop->op, k + PRT_LOOP_FIRST));
    const int64_t batch = x->dims[1 - cell->axis];
    return type != NULL && type->rank == 2 && batch != PRT_DIM_UNKNOWN && type->dims[0] == batch &&
        type->dims[1] == cell->hidden;
}

/* ---- the operator */

/* Returns x if `v` is the whole of x in reverse order along an axis; otherwise NULL. */
static prt_value *reversed(const prt_value *v, int64_t axis)
{
    int64_t start, end, at, step;
    const prt_op *op = v->def;
    if (!prt_op_is(op, PRT_OP_slice) || !prt_match_integer(op, 1, &start) ||
        !prt_match_integer(op, 2, &end) || !prt_match_integer(op, 3, &at) ||
        !prt_match_integer(op, 4, &step))
        return NULL;
    const int64_t size = prt_match_dim(op->in[0].value, axis);
    const bool whole = (start == -1 || (size >= 0 && start >= size - 1)) &&
        (end <= INT32_MIN || (size >= 0 && end < -size));
    return at == axis && step == -1 && whole ? op->in[0].value : NULL;
}

/* Returns the number of iterations as int64 of rank 0 or 1. */
static prt_value *iterations(const prt_loop *l, prt_build *b, uint32_t rank)
{
    prt_value *v = prt_build_reshape(b, l->op->in[0].value, rank, (int64_t[]){ 1 });
    return prt_build_op(b, PRT_OP_max, NULL, 2, (prt_value *[]){ v, prt_build_i64(b, 0) });
}

/* Returns x as [time, batch, input] with as many steps as the Loop has iterations. Sets
 * `*reverse` if the operator must read it backwards. */
static prt_value *steps_of(const prt_cell *cell, prt_build *b, bool *reverse)
{
    prt_value *x = cell->x;
    const int64_t time = x->type->dims[cell->axis], trips = cell->loop->trips;
    const bool all = trips != PRT_DIM_UNKNOWN && trips == time;
    prt_value *before = all && cell->lengths == NULL ? reversed(x, cell->axis) : NULL;
    *reverse = cell->backwards != (before != NULL);
    x = before != NULL ? before : x;
    if (cell->axis == 1)
        x = prt_build_transpose(b, x, 3, (int64_t[]){ 1, 0, 2 });
    if (all)
        return x;
    prt_value *zero = prt_build_i64s(b, 1, (int64_t[]){ 0 });
    return prt_build_slice_by(b, x, zero, iterations(cell->loop, b, 1), zero, NULL);
}

/* Returns the lengths of the sequences, int32 from 0 to the number of steps. */
static prt_value *lengths_of(const prt_cell *cell, prt_build *b, prt_value *x)
{
    prt_value *v = prt_loop_outer(cell->loop, b, cell->lengths);
    prt_value *time = prt_build_size_of(b, x, 0);
    v = prt_build_cast(b, prt_build_reshape(b, v, 1, (int64_t[]){ -1 }), PRT_DTYPE_i64);
    v = prt_build_op(b, PRT_OP_max, NULL, 2, (prt_value *[]){ v, prt_build_i64(b, 0) });
    v = prt_build_op(b, PRT_OP_min, NULL, 2, (prt_value *[]){ v, time });
    v = prt_build_expand(b, v, prt_build_size_of(b, x, 1));
    return prt_build_cast(b, v, PRT_DTYPE_i32);
}

/* Returns the first state with the axis of directions; NULL: zeros. */
static prt_value *first_of(const prt_cell *cell, prt_build *b, uint32_t k)
{
    prt_value *v = prt_op_input(cell->loop->op, k + PRT_LOOP_FIRST);
    return prt_loop_is_zero(v) ? NULL : prt_build_unsqueeze(b, v, 1, (int64_t[]){ 0 });
}

/* The activation functions as attributes. */
typedef struct lists {
    prt_str names[PRT_CELL_FUNCTIONS];
    float alpha[PRT_CELL_FUNCTIONS], beta[PRT_CELL_FUNCTIONS];
    prt_strs activations;
    prt_f32s alphas, betas;
    bool usual; /* the functions are those that the operator has by itself */
} lists;

static void list_functions(const prt_cell *cell, lists *to)
{
    const uint32_t n = cell->n_functions;
    *to = (lists){ .usual = true, .activations = { to->names, n } };
    for (uint32_t i = 0; i < n; i++) {
        const prt_cell_function *f = &cell->functions[i];
        const bool sigmoid = i == 0 && cell->op != PRT_OP_rnn;
        to->names[i] = prt_str_of(f->name);
        to->usual = to->usual && strcmp(f->name, sigmoid ? "Sigmoid" : "Tanh") == 0;
        if (f->has_alpha)
            to->alpha[to->alphas.count++] = f->alpha;
        if (f->has_beta)
            to->beta[to->betas.count++] = f->beta;
    }
    to->alphas.data = to->alpha;
    to->betas.data = to->beta;
}

/* Declares the attributes that all three operators have. */
#define COMMON_ATTRS(id)                                                                           \
    prt_##id##_attrs attrs = PRT_ATTRS_OF(id);                                                     \
    if (reverse)                                                                                   \
        PRT_ATTR_SET(attrs, id, direction, PRT_STR("reverse"));                                    \
    if (!f.usual)                                                                                  \
        PRT_ATTR_SET(attrs, id, activations, f.activations);                                       \
    if (f.alphas.count != 0)                                                                       \
        PRT_ATTR_SET(attrs, id, activation_alpha, f.alphas);                                       \
    if (f.betas.count != 0)                                                                        \
        PRT_ATTR_SET(attrs, id, activation_beta, f.betas);                                         \
    PRT_ATTR_SET(attrs, id, hidden_size, cell->hidden)

/* Adds the operator. NULL: a failure is in `b`. */
static prt_op *build_layer(const prt_cell *cell, prt_build *b, bool *reversed_steps)
{
    lists f;
    bool reverse;
    list_functions(cell, &f);
    prt_value *x = steps_of(cell, b, &reverse);
    const prt_cell_weights w = prt_cell_build(cell, b);
    prt_value *lengths = cell->lengths != NULL ? lengths_of(cell, b, x) : NULL;
    prt_value *h = first_of(cell, b, cell->h);
    prt_value *c = cell->op == PRT_OP_lstm ? first_of(cell, b, cell->c) : NULL;
    prt_value *in[] = { x, w.w, w.r, w.b, lengths, h, c, w.p };
    *reversed_steps = reverse;
    if (x == NULL || prt_build_status(b) != POPRT_OK)
        return NULL;
    if (cell->op == PRT_OP_lstm) {
        COMMON_ATTRS(lstm);
        return prt_build_op_n(b, PRT_OP_lstm, &attrs, w.p != NULL ? 8 : 7, in, 3);
    }
    if (cell->op == PRT_OP_gru) {
        COMMON_ATTRS(gru);
        if (cell->linear_before_reset)
            PRT_ATTR_SET(attrs, gru, linear_before_reset, 1);
        return prt_build_op_n(b, PRT_OP_gru, &attrs, 6, in, 2);
    }
    COMMON_ATTRS(rnn);
    return prt_build_op_n(b, PRT_OP_rnn, &attrs, 6, in, 2);
}

/* ---- the results */

/* Replaces values that reverse `result` along an axis by `steps`. */
static void replace_reversals(prt_build *b, const prt_value *result, int64_t axis, prt_value *steps)
{
    for (const prt_use *u = result->uses, *next; u != NULL; u = next) {
        prt_value *out = u->user->n_out == 1 ? &u->user->out[0] : NULL;
        next = u->next;
        if (out != NULL && !prt_value_is_output(out) && out->graph == steps->graph &&
            reversed(out, axis) == result)
            prt_build_replace_uses(b, out, steps);
    }
}

/* Replaces Slices that reverse the outputs of a layer of direction "reverse", perhaps after a
 * Transpose, by the outputs `steps` in the order of time. */
static void drop_reversals(prt_build *b, const prt_value *result, prt_value *steps)
{
    replace_reversals(b, result, 0, steps);
    prt_for_each_use (u, result) {
        const prt_op *op = u->user;
        const prt_transpose_attrs *a = op->attrs;
        if (!prt_op_is(op, PRT_OP_transpose) || op->graph != steps->graph || a->perm.count != 3 ||
            prt_match_ranked(steps) == NULL || steps->type->rank != 3)
            continue;
        prt_value *moved = prt_build_transpose(b, steps, 3, a->perm.data);
        for (int64_t axis = 0; axis < 3 && moved != NULL; axis++)
            if (a->perm.data[axis] == 0)
                replace_reversals(b, &op->out[0], axis, moved);
    }
}

/* Returns the last value of a counter. */
static prt_value *counted(const prt_loop *l, prt_build *b, uint32_t k)
{
    prt_loop_integer count;
    prt_value *start = prt_op_input(l->op, k + PRT_LOOP_FIRST);
    const prt_value *input = l->body->inputs.data[k + PRT_LOOP_FIRST];
    if (!prt_loop_integer_of(l, input, &count))
        return NULL;
    prt_value *trips =
        prt_build_binary(b, PRT_OP_mul, iterations(l, b, 0), prt_build_i64(b, count.slope));
    return prt_build_binary(b, PRT_OP_add, start, prt_build_cast_as(b, trips, start));
}

/* Returns the value that replaces output k. */
static prt_value *result_of(const prt_cell *cell, prt_build *b, uint32_t k, prt_op *layer,
    bool reverse)
{
    bool other;
    shape form;
    const prt_loop *l = cell->loop;
    prt_value *out = &l->op->out[k], *v;
    const result_kind kind = classify(cell, k, &other);
    if (kind == COUNTER)
        return counted(l, b, k);
    v = kind == STEPS
        ? prt_build_squeeze(b, &layer->out[0], 1, (int64_t[]){ 1 })
        : prt_build_squeeze(b, &layer->out[kind == LAST_H ? 1 : 2], 1, (int64_t[]){ 0 });
    if (kind == STEPS && reverse) {
        if (v != NULL)
            drop_reversals(b, out, v);
        v = prt_build_slice(b, v, 0, -1, INT64_MIN, -1);
    }
    if (k == cell->h || k == cell->c || !find_shape(cell, k, kind == STEPS ? 3 : 2, &form))
        return v;
    if (form.reshapes)
        return prt_build_reshape(b, v, (uint32_t)out->type->rank, out->type->dims);
    return form.n_axes != 0 ? prt_build_unsqueeze(b, v, form.n_axes, form.axes) : v;
}

static poprt_status replace(const prt_cell *cell)
{
    prt_op *loop = cell->loop->op;
    prt_build b = prt_build_before(loop);
    b.like = loop;
    bool reverse;
    prt_op *layer = build_layer(cell, &b, &reverse);
    for (uint32_t k = 0; layer != NULL && k < loop->n_out; k++) {
        prt_value *out = &loop->out[k];
        if (!prt_value_used(out))
            continue;
        prt_value *v = result_of(cell, &b, k, layer, reverse);
        PRT_TRY(prt_build_status(&b));
        PRT_TRY(prt_value_refine_type(v, out->type));
        prt_build_replace_uses(&b, out, v);
    }
    PRT_TRY(prt_build_status(&b));
    if (layer != NULL)
        prt_op_erase(loop);
    return POPRT_OK;
}

/* Returns whether a layer may stand for the loop whose cell was matched. */
static bool is_layer(const prt_cell *cell)
{
    /* Sequences of different lengths are reversed each by itself. */
    return !(cell->backwards && cell->lengths != NULL) && has_batch(cell, cell->h) &&
        (cell->op != PRT_OP_lstm || has_batch(cell, cell->c)) && are_results(cell);
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    for (prt_op *op = graph->first, *next; op != NULL; op = next) {
        prt_loop l;
        prt_cell cell;
        next = op->next;
        PRT_TRY(prt_pass_check(p));
        if (!prt_loop_init(op, &l))
            continue;
        for (uint32_t k = 0; k < l.carried; k++)
            if (prt_cell_match(&l, k, &cell) && is_layer(&cell)) {
                PRT_TRY(replace(&cell));
                *changed = true;
                break;
            }
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_fuse_recurrent_loops = { .run = run };
