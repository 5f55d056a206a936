/* SPDX-License-Identifier: MIT */
/* recurrent.c — converts RNN, GRU and LSTM with constant W and R to the packed operators of
 * op/internal/recurrent.def. */
#include "op/internal/packed_rnn.h"
#include "pass/pack/pack.h"

enum { INPUTS = 8, OUTPUTS = 3 };

/* Returns whether the tensor has a matrix [rows, k] for each direction, with rows = gates *
 * hidden. */
static bool is_matrices(const prt_packed_rnn *q, const prt_tensor *t, size_t k)
{
    return t->dtype == PRT_DTYPE_f32 && t->rank == 3 && t->dims[0] == (int64_t)q->directions &&
        t->dims[1] == (int64_t)q->rows && t->dims[2] == (int64_t)k;
}

/* Copies the attributes to the packed operator, and sets the sizes. */
#define COPY_ATTRS(id)                                                                             \
    do {                                                                                           \
        to->id = PRT_ATTRS_OF(packed_##id);                                                        \
        memcpy(&to->id, op->attrs, offsetof(prt_packed_##id##_attrs, input_size));                 \
        PRT_ATTR_SET(to->id, packed_##id, hidden_size, hidden);                                    \
        PRT_ATTR_SET(to->id, packed_##id, input_size, input);                                      \
    } while (0)

/* Returns the packed operator, and writes its attributes. */
static uint32_t packed_op(const prt_op *op, int64_t input, int64_t hidden,
    prt_packed_rnn_attrs_any *to)
{
    switch (op->def->id) {
    case PRT_OP_lstm:
        COPY_ATTRS(lstm);
        return PRT_OP_packed_lstm;
    case PRT_OP_gru:
        COPY_ATTRS(gru);
        return PRT_OP_packed_gru;
    default:
        COPY_ATTRS(rnn);
        return PRT_OP_packed_rnn;
    }
}

static void pack_w(const void *user, const float *from, float *to)
{
    prt_packed_rnn_w(user, from, to);
}

static void pack_r(const void *user, const float *from, float *to)
{
    prt_packed_rnn_r(user, from, to);
}

bool prt_pack_recurrent(prt_pass *p, prt_build *b, prt_op *root)
{
    static const int64_t columns[3] = { 0, 2, 1 };
    prt_tensor w, r;
    prt_packed_rnn_attrs_any attrs;
    prt_packed_rnn q;
    if (!prt_match_constant(root, 1, &w) || !prt_match_constant(root, 2, &r) || w.rank != 3 ||
        r.rank != 3 || prt_tensor_count(&w) + prt_tensor_count(&r) < PRT_PACK_MIN_ELEMENTS)
        return false;
    const uint32_t id = packed_op(root, w.dims[2], r.dims[2], &attrs);
    if (!prt_packed_rnn_of(id, &attrs, &q) || !is_matrices(&q, &w, q.input) ||
        !is_matrices(&q, &r, q.hidden))
        return false;
    prt_value *in[INPUTS] = { NULL };
    for (uint32_t i = 0; i < root->n_in && i < INPUTS; i++)
        in[i] = prt_op_input(root, i);
    prt_pack to_w = { .count = q.w, .write = pack_w, .user = &q };
    prt_pack to_r = { .count = q.r, .write = pack_r, .user = &q };
    prt_pack_add_transpose(&to_w, 3, w.dims, columns);
    prt_pack_add_panels(&to_w, q.directions, q.input, q.rows, 0);
    prt_pack_add_transpose(&to_r, 3, r.dims, columns);
    prt_pack_add_panels(&to_r, q.directions, q.hidden, q.rows - q.separate_rows, q.separate_rows);
    in[1] = prt_pack_constant(p, root, 1, &w, &to_w);
    in[2] = prt_pack_constant(p, root, 2, &r, &to_r);
    if (in[1] == NULL || in[2] == NULL)
        return false;
    prt_op *op = prt_build_op_n(b, id, &attrs, root->n_in, in, root->n_out);
    for (uint32_t i = 0; op != NULL && i < root->n_out && i < OUTPUTS; i++)
        (void)prt_pass_replace(b, &root->out[i], &op->out[i]);
    return true;
}
