/* SPDX-License-Identifier: MIT */
/*
 * packed_rnn.c — packed RNN, GRU and LSTM. Shapes are inferred by the ONNX operators with the
 * shapes of unpacked weights; values are computed by them after unpacking.
 */
#include "op/internal/packed_rnn.h"

#include "kern/gemm/gemm.h"
#include "op/share/delegate.h"

enum { INPUTS = 8, OUTPUTS = 3 };

/* The attribute structs have a common prefix: input_size is the first attribute that ONNX lacks. */
#define BEGINS_ALIKE(id)                                                                           \
    _Static_assert(offsetof(prt_packed_##id##_attrs, activations) ==                               \
                offsetof(prt_##id##_attrs, activations) &&                                         \
            offsetof(prt_packed_##id##_attrs, input_size) == sizeof(prt_##id##_attrs),             \
        "attributes of " #id)
BEGINS_ALIKE(rnn);
BEGINS_ALIKE(gru);
BEGINS_ALIKE(lstm);

/* ---- layout ---- */

static bool find_sizes(prt_packed_rnn *p)
{
    const size_t width = prt_gemm_width(p->rows);
    const size_t split =
        prt_gemm_width(p->rows - p->separate_rows) + prt_gemm_width(p->separate_rows);
    size_t bytes;
    return prt_size_mul(p->directions * width, p->input, &p->w) &&
        prt_size_mul(p->directions * split, p->hidden, &p->r) &&
        prt_size_mul(p->w, sizeof(float), &bytes) && prt_size_mul(p->r, sizeof(float), &bytes);
}

bool prt_packed_rnn_of(uint32_t id, const void *attrs, prt_packed_rnn *out)
{
    int64_t input;
    prt_rnn_params params;
    memset(out, 0, sizeof(*out));
    if (id == PRT_OP_packed_lstm) {
        out->plain = PRT_OP_lstm;
        memcpy(&out->attrs.lstm, attrs, sizeof(out->attrs.lstm));
        params = prt_rnn_params_of_lstm(&out->attrs.lstm);
        input = ((const prt_packed_lstm_attrs *)attrs)->input_size;
    } else if (id == PRT_OP_packed_gru) {
        out->plain = PRT_OP_gru;
        memcpy(&out->attrs.gru, attrs, sizeof(out->attrs.gru));
        params = prt_rnn_params_of_gru(&out->attrs.gru);
        input = ((const prt_packed_gru_attrs *)attrs)->input_size;
    } else {
        out->plain = PRT_OP_rnn;
        memcpy(&out->attrs.rnn, attrs, sizeof(out->attrs.rnn));
        params = prt_rnn_params_of_rnn(&out->attrs.rnn);
        input = ((const prt_packed_rnn_attrs *)attrs)->input_size;
    }
    if (input < 1 || input > INT32_MAX || params.hidden_size < 1 || params.hidden_size > INT32_MAX)
        return false;
    out->directions = prt_rnn_directions(&params);
    out->input = (size_t)input;
    out->hidden = (size_t)params.hidden_size;
    out->separate_rows = id == PRT_OP_packed_gru ? out->hidden : 0;
    return prt_size_mul(params.gates, out->hidden, &out->rows) && out->rows <= INT32_MAX &&
        find_sizes(out);
}

void prt_packed_rnn_w(const prt_packed_rnn *p, const float *w, float *to)
{
    for (size_t d = 0; d < p->directions; d++, w += p->rows * p->input)
        prt_gemm_pack_all(p->input, p->rows, w, 1, p->input, to + d * (p->w / p->directions));
}

void prt_packed_rnn_plain_w(const prt_packed_rnn *p, const float *from, float *w)
{
    for (size_t d = 0; d < p->directions; d++, w += p->rows * p->input)
        prt_gemm_unpack_all(p->input, p->rows, from + d * (p->w / p->directions), w, 1, p->input);
}

void prt_packed_rnn_r(const prt_packed_rnn *p, const float *r, float *to)
{
    const size_t k = p->hidden, first = p->rows - p->separate_rows;
    for (size_t d = 0; d < p->directions; d++, r += p->rows * k, to += p->r / p->directions) {
        prt_gemm_pack_all(k, first, r, 1, k, to);
        prt_gemm_pack_all(k, p->separate_rows, r + first * k, 1, k, to + k * prt_gemm_width(first));
    }
}

void prt_packed_rnn_plain_r(const prt_packed_rnn *p, const float *from, float *r)
{
    const size_t k = p->hidden, first = p->rows - p->separate_rows;
    for (size_t d = 0; d < p->directions; d++, r += p->rows * k, from += p->r / p->directions) {
        prt_gemm_unpack_all(k, first, from, r, 1, k);
        prt_gemm_unpack_all(k, p->separate_rows, from + k * prt_gemm_width(first), r + first * k, 1,
            k);
    }
}

/* ---- operators ---- */

static prt_shape plain_shape(const prt_packed_rnn *p, size_t k)
{
    return (prt_shape){ .kind = PRT_VALUE_TENSOR,
        .dtype = PRT_DTYPE_f32,
        .rank = 3,
        .dims = { (int64_t)p->directions, (int64_t)p->rows, (int64_t)k } };
}

static poprt_status infer(prt_infer *c)
{
    prt_packed_rnn p;
    prt_shape in[INPUTS] = { { 0 } }, out[OUTPUTS];
    if (!prt_packed_rnn_of(c->def->id, c->attrs, &p))
        return prt_infer_fail(c, POPRT_E_ARG,
            "hidden_size and input_size must be at least 1, and the weights must fit in memory");
    PRT_TRY(prt_infer_vector(c, 1, (int64_t)p.w));
    PRT_TRY(prt_infer_vector(c, 2, (int64_t)p.r));
    memcpy(in, c->in, (c->n_in < INPUTS ? c->n_in : INPUTS) * sizeof(*in));
    in[1] = plain_shape(&p, p.input);
    in[2] = plain_shape(&p, p.hidden);
    PRT_TRY(prt_delegate_infer(c, p.plain, &p.attrs, c->n_in, in, NULL, OUTPUTS, out));
    for (uint32_t i = 0; i < c->n_out && i < OUTPUTS; i++)
        PRT_TRY(prt_infer_exact(c, i, PRT_DTYPE_f32, out[i].rank, out[i].dims));
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    prt_packed_rnn p;
    prt_tensor w, r;
    const prt_tensor *in[INPUTS] = { NULL };
    if (!prt_packed_rnn_of(c->def->id, c->attrs, &p))
        return prt_eval_fail(c, POPRT_E_ARG, "hidden_size and input_size must be at least 1");
    const prt_shape w_shape = plain_shape(&p, p.input), r_shape = plain_shape(&p, p.hidden);
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f32, 3, w_shape.dims, &w));
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f32, 3, r_shape.dims, &r));
    prt_packed_rnn_plain_w(&p, c->in[1]->data, w.data);
    prt_packed_rnn_plain_r(&p, c->in[2]->data, r.data);
    for (uint32_t i = 0; i < c->n_in && i < INPUTS; i++)
        in[i] = prt_eval_has(c, i) ? c->in[i] : NULL;
    in[1] = &w;
    in[2] = &r;
    return prt_delegate_eval(c, p.plain, &p.attrs, c->n_in, in, c->n_out, c->out);
}

const prt_op_hooks prt_op_packed_rnn = { .infer = infer, .eval = eval };
const prt_op_hooks prt_op_packed_gru = { .infer = infer, .eval = eval };
const prt_op_hooks prt_op_packed_lstm = { .infer = infer, .eval = eval };
