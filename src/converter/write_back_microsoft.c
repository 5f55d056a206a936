/* SPDX-License-Identifier: MIT */
/* write_back_microsoft.c — finds the operands of com.microsoft nodes that upgrade_microsoft.c
 * replaced. */
#include "converter/downgrade.h"
#include "converter/write_back.h"

/* Returns input 0 of the op that computes a value if the op has this id, else NULL. */
static prt_value *producer_input(const prt_value *v, uint32_t id)
{
    const prt_op *op = v != NULL ? v->def : NULL;
    return op != NULL && prt_op_is(op, id) ? prt_op_input(op, 0) : NULL;
}

static int32_t rank_of(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) ? v->type->rank : PRT_RANK_UNKNOWN;
}

/* Returns the operand of a Reshape if it is a scalar, a list or a single row, which the node
 * accepts. */
static prt_value *without_reshape(prt_value *v)
{
    prt_value *x = producer_input(v, PRT_OP_reshape);
    const int32_t rank = rank_of(x);
    const bool row = rank == 2 && x->type->dims[0] == 1;
    return rank == 0 || rank == 1 || (row && rank_of(v) == 1) ? x : v;
}

static void set_inputs(prt_write_back *w, const prt_op *op, uint32_t count)
{
    w->n_in = count;
    for (uint32_t i = 0; i < count; i++)
        w->in[i] = prt_op_input(op, i);
    while (w->n_in > 0 && w->in[w->n_in - 1] == NULL)
        w->n_in--;
}

static void set_output(prt_write_back *w, prt_value *out)
{
    w->n_out = 1;
    w->out[0] = out;
}

static bool is_number(const prt_value *v, int64_t number)
{
    int64_t found;
    uint32_t count;
    return prt_down_integers(v, 1, &found, &count) && count == 1 && found == number;
}

/* ---- operators that move elements ---- */

bool prt_back_ms_range(prt_write_back *w, prt_op *op)
{
    double step;
    const prt_value *absent = producer_input(prt_op_input(op, 2), PRT_OP_cast_like);
    set_inputs(w, op, 3);
    for (uint32_t i = 0; i < w->n_in; i++)
        w->in[i] = without_reshape(w->in[i]);
    if (absent != NULL && prt_down_number(absent, &step) && step == 1.0)
        w->n_in = 2;
    set_output(w, &op->out[0]);
    return true;
}

/* The node's axis is a scalar of int32. */
bool prt_back_ms_expand_dims(prt_write_back *w, prt_op *op)
{
    prt_value *axes = prt_op_input(op, 1);
    prt_value *axis = producer_input(producer_input(axes, PRT_OP_reshape), PRT_OP_cast);
    int64_t number;
    uint32_t count = 1;
    const bool known = prt_down_integers(axes, 1, &number, &count);
    if (count != 1)
        return false;
    if (rank_of(axis) != 0 || axis->type->dtype != PRT_DTYPE_i32)
        axis = known ? prt_build_scalar(&w->b, PRT_DTYPE_i32, (double)number)
                     : prt_down_cast(&w->b, prt_down_reshape(&w->b, axes, 0, NULL), PRT_DTYPE_i32);
    set_inputs(w, op, 1);
    w->in[w->n_in++] = axis;
    set_output(w, &op->out[0]);
    return true;
}

/* The node's indices are int32 or int64. */
bool prt_back_ms_gather_nd(prt_write_back *w, prt_op *op)
{
    prt_value *indices = producer_input(prt_op_input(op, 1), PRT_OP_cast);
    set_inputs(w, op, 2);
    if (indices != NULL && prt_down_dtype(indices) == PRT_DTYPE_i32)
        w->in[1] = indices;
    set_output(w, &op->out[0]);
    return true;
}

bool prt_back_ms_pad(prt_write_back *w, prt_op *op)
{
    if (prt_op_input(op, 3) != NULL)
        return false;
    set_inputs(w, op, 3);
    for (uint32_t i = 1; i < w->n_in; i++)
        w->in[i] = without_reshape(w->in[i]);
    set_output(w, &op->out[0]);
    return true;
}

/* Inputs that concern gradients were dropped. */
bool prt_back_ms_embedding(prt_write_back *w, prt_op *op)
{
    set_inputs(w, op, 2);
    set_output(w, &op->out[0]);
    return prt_down_dtype(prt_op_input(op, 1)) == PRT_DTYPE_i64;
}

/* The node does not return the first indices. */
bool prt_back_ms_unique(prt_write_back *w, prt_op *op)
{
    static const uint32_t place[PRT_WRITE_BACK_OUTPUTS] = { 0, 2, 3 };
    if (op->n_out != 4 || prt_value_used(&op->out[1]))
        return false;
    set_inputs(w, op, 1);
    w->n_out = PRT_WRITE_BACK_OUTPUTS;
    for (uint32_t i = 0; i < w->n_out; i++)
        w->out[i] = &op->out[place[i]];
    return true;
}

/* ---- Fourier transforms ---- */

/* The node's input lacks the last dim, which holds the parts of a number; a real signal has one
 * part. */
bool prt_back_ms_rfft(prt_write_back *w, prt_op *op)
{
    static const int64_t last = -1;
    prt_value *x = prt_op_input(op, 0), *signal = producer_input(x, PRT_OP_unsqueeze);
    const int32_t rank = rank_of(x);
    if (rank < 2 || x->type->dims[rank - 1] != 1 || prt_op_input(op, 1) != NULL ||
        !(is_number(prt_op_input(op, 2), -2) || is_number(prt_op_input(op, 2), rank - 2)))
        return false;
    const prt_value *axes = signal != NULL ? prt_op_input(x->def, 1) : NULL;
    if (!is_number(axes, -1) && !is_number(axes, rank - 1))
        signal = prt_build_binary(&w->b, PRT_OP_squeeze, x, prt_build_i64s(&w->b, 1, &last));
    w->n_in = 1;
    w->in[0] = signal;
    set_output(w, &op->out[0]);
    return true;
}

/* ---- channels last ---- */

/* Computes the permutation that moves channels from the end to axis 1, or from there to the end. */
static void channel_permutation(int32_t rank, bool to_last, int64_t *perm)
{
    for (int32_t i = 0; i < rank; i++)
        perm[i] = i == 0 ? 0 : to_last ? (i + 1 < rank ? i + 1 : 1) : (i == 1 ? rank - 1 : i - 1);
}

static bool is_transpose(const prt_op *op, int32_t rank, const int64_t *perm)
{
    const prt_transpose_attrs *a = op != NULL ? op->attrs : NULL;
    return op != NULL && prt_op_is(op, PRT_OP_transpose) && a->perm.count == (uint32_t)rank &&
        memcmp(a->perm.data, perm, (size_t)rank * sizeof(*perm)) == 0;
}

/* Returns an image with its channels last: the input of the Transpose that moved them, or a
 * Transpose. */
static prt_value *channels_last(prt_build *b, prt_value *x, int32_t rank)
{
    int64_t first[PRT_MAX_RANK], last[PRT_MAX_RANK];
    channel_permutation(rank, false, first);
    channel_permutation(rank, true, last);
    return is_transpose(x->def, rank, first) ? prt_op_input(x->def, 0)
                                             : prt_down_transpose(b, x, (uint32_t)rank, last);
}

/* Returns the Transpose that is the only reader of the output and moves its channels to the end, or
 * NULL. */
static prt_op *transpose_behind(const prt_op *op, int32_t rank)
{
    int64_t last[PRT_MAX_RANK];
    prt_op *user = op->out[0].uses != NULL ? op->out[0].uses->user : NULL;
    channel_permutation(rank, true, last);
    return user != NULL && user->graph == op->graph && is_transpose(user, rank, last) &&
            prt_value_is_read_by(&op->out[0], user)
        ? user
        : NULL;
}

/* Adds two Transposes after the op that cancel each other, and returns the first one. */
static prt_op *add_transposes(prt_write_back *w, prt_op *op, int32_t rank)
{
    int64_t first[PRT_MAX_RANK], last[PRT_MAX_RANK];
    prt_build b = prt_down_build_after(op);
    channel_permutation(rank, false, first);
    channel_permutation(rank, true, last);
    prt_value *y = prt_down_transpose(&b, &op->out[0], (uint32_t)rank, last);
    w->b.status = prt_down_wrap(&b, &op->out[0], prt_down_transpose(&b, y, (uint32_t)rank, first));
    return y != NULL ? y->def : NULL;
}

/* Passes cancel a Transpose against that of the next node; this hook adds them again. The op stays
 * if both of its Transposes are gone and ai.onnx has always supported its type. */
bool prt_back_ms_nhwc(prt_write_back *w, prt_op *op)
{
    const int32_t rank = rank_of(prt_op_input(op, 0));
    int64_t first[PRT_MAX_RANK];
    if (rank < 3 || rank > PRT_MAX_RANK || rank_of(&op->out[0]) != rank)
        return false;
    channel_permutation(rank, false, first);
    prt_op *transpose = transpose_behind(op, rank);
    if (transpose == NULL && !is_transpose(prt_op_input(op, 0)->def, rank, first) &&
        prt_dtype_is_float(prt_down_dtype(&op->out[0])))
        return false;
    set_inputs(w, op, 4);
    for (uint32_t i = 0; i < w->n_in; i += 3)
        w->in[i] = channels_last(&w->b, w->in[i], rank);
    if (transpose == NULL)
        transpose = add_transposes(w, op, rank);
    if (transpose == NULL)
        return false;
    set_output(w, &transpose->out[0]);
    return true;
}
