/* SPDX-License-Identifier: MIT */
/*
 * q_lstm.c — DynamicQuantizeLSTM: an LSTM with quantised weights, gates in the last dim. The other
 * factors are quantised dynamically: X as a whole (without the steps after the end of all
 * sequences), and before each step the hidden state of each batch entry.
 */
#include "op/share/delegate.h"
#include "op/share/quant.h"
#include "op/share/rnn_core.h"

enum {
    INPUTS = 8,
    IN_X = 0,
    IN_W,
    IN_R,
    IN_LENGTHS = 4,
    IN_C = 6,
    IN_P,
    IN_W_SCALE,
    IN_W_ZERO,
    IN_R_SCALE,
    IN_R_ZERO
};

/* ---- shapes ---- */

/* Converts the dims [directions, size, gates] to those of LSTM, [directions, gates, size]. */
static void transpose_shape(prt_shape *s)
{
    if (s->rank != 3)
        return;
    const int64_t size = s->dims[1];
    s->dims[1] = s->dims[2];
    s->dims[2] = size;
}

/* Checks that input `i` has one number for each direction, or for each gate of each direction. */
static poprt_status check_factors(const prt_infer *c, uint32_t i, uint32_t weights)
{
    const prt_shape *s = &c->in[i];
    int64_t merged;
    if (!prt_infer_ranked(c, i))
        return POPRT_OK;
    if (s->rank != 1 && s->rank != 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "input %u has rank %d; 1 or 2 is needed", i,
            s->rank);
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, weights, 0), s->dims[0], "the number of directions",
        &merged));
    if (s->rank == 2 && s->dims[1] != 1)
        return prt_infer_merge(c, prt_infer_dim(c, weights, 2), s->dims[1], "the number of gates",
            &merged);
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_ms_dynamic_quantize_lstm_attrs *a = c->attrs;
    const prt_lstm_attrs attrs = { .direction = a->direction,
        .activations = a->activations,
        .activation_alpha = a->activation_alpha,
        .activation_beta = a->activation_beta,
        .hidden_size = a->hidden_size,
        .clip = a->clip };
    prt_shape in[INPUTS], out[3];
    for (uint32_t i = IN_W_SCALE; i <= IN_R_ZERO; i++)
        PRT_TRY(check_factors(c, i, i < IN_R_SCALE ? IN_W : IN_R));
    memcpy(in, c->in, sizeof(in));
    transpose_shape(&in[IN_W]);
    transpose_shape(&in[IN_R]);
    PRT_TRY(prt_delegate_infer(c, PRT_OP_lstm, &attrs, INPUTS, in, NULL, 3, out));
    for (uint32_t i = 0; i < 3; i++)
        PRT_TRY(prt_infer_set(c, i, PRT_DTYPE_f32, out[i].rank, out[i].dims));
    return POPRT_OK;
}

/* ---- evaluation ---- */

/* Dequantises weights and transposes them to gates first. */
static poprt_status dequantize_weights(prt_eval *c, uint32_t i, prt_tensor *to)
{
    const prt_tensor *w = c->in[i], *scale = c->in[i == IN_W ? IN_W_SCALE : IN_R_SCALE];
    const prt_tensor *zero = c->in[i == IN_W ? IN_W_ZERO : IN_R_ZERO];
    const size_t directions = (size_t)w->dims[0], size = (size_t)w->dims[1];
    const size_t gates = (size_t)w->dims[2];
    const int64_t dims[] = { w->dims[0], w->dims[2], w->dims[1] };
    const bool each_scale = prt_tensor_count(scale) != directions;
    const bool each_zero = prt_tensor_count(zero) != directions;
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, 3, dims, to));
    double *v = to->data;
    for (size_t d = 0; d < directions; d++)
        for (size_t g = 0; g < gates; g++) {
            const double s =
                prt_load_f64(scale->dtype, scale->data, each_scale ? d * gates + g : d);
            const double z =
                (double)prt_load_i64(zero->dtype, zero->data, each_zero ? d * gates + g : d);
            for (size_t k = 0; k < size; k++)
                *v++ =
                    s * ((double)prt_load_i64(w->dtype, w->data, (d * size + k) * gates + g) - z);
        }
    return POPRT_OK;
}

/* Quantises n numbers dynamically and dequantises them. */
static void round_dynamic(size_t n, const float *x, uint8_t *bytes, double *to)
{
    float scale;
    uint8_t zero;
    prt_quant_dynamic_run(n, x, bytes, &scale, &zero);
    for (size_t i = 0; i < n; i++)
        to[i] = ((double)bytes[i] - (double)zero) * (double)scale;
}

typedef struct state {
    bool input_forget;
    float *h; /* hidden size */
    uint8_t *bytes;
} state;

static void cell(const prt_rnn *n, const double *x)
{
    const state *s = n->user;
    for (size_t i = 0; i < n->hidden; i++)
        s->h[i] = (float)n->h[i];
    round_dynamic(n->hidden, s->h, s->bytes, n->scratch);
    prt_lstm_step(n, x, n->scratch, s->input_forget);
}

/* Returns the number of elements of X up to the end of the longest sequence. */
static size_t used_count(const prt_eval *c)
{
    const prt_tensor *x = c->in[IN_X];
    const size_t step = prt_dims_product(x->dims, 1, 3), batch = (size_t)x->dims[1];
    int64_t most = 0;
    if (!prt_eval_has(c, IN_LENGTHS))
        return prt_tensor_count(x);
    for (size_t b = 0; b < batch; b++) {
        const int64_t length = prt_load_i64(PRT_DTYPE_i32, c->in[IN_LENGTHS]->data, b);
        most = length > most ? length : most;
    }
    return (size_t)(most < x->dims[0] ? most : x->dims[0]) * step;
}

static poprt_status eval(prt_eval *c)
{
    const prt_ms_dynamic_quantize_lstm_attrs *a = c->attrs;
    const prt_rnn_params params = { .gates = 4,
        .functions = 3,
        .usual = { "Sigmoid", "Tanh", "Tanh" },
        .direction = a->direction,
        .activations = a->activations,
        .alpha = a->activation_alpha,
        .beta = a->activation_beta,
        .hidden_size = a->hidden_size,
        .clip = (double)a->clip };
    const prt_tensor *x = c->in[IN_X], *in[INPUTS];
    const size_t count = used_count(c), hidden = (size_t)c->in[IN_R]->dims[1];
    prt_tensor inputs, w, r;
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, x->rank, x->dims, &inputs));
    PRT_TRY(dequantize_weights(c, IN_W, &w));
    PRT_TRY(dequantize_weights(c, IN_R, &r));
    uint8_t *bytes = prt_eval_scratch(c, count + hidden + 1, 1);
    const state s = { .input_forget = a->input_forget != 0,
        .h = prt_eval_scratch(c, hidden + 1, sizeof(float)),
        .bytes = bytes };
    if (bytes == NULL || s.h == NULL)
        return POPRT_E_NOMEM;
    round_dynamic(count, x->data, bytes, inputs.data);
    for (uint32_t i = 0; i < INPUTS; i++)
        in[i] = prt_eval_has(c, i) ? c->in[i] : NULL;
    in[IN_X] = &inputs;
    in[IN_W] = &w;
    in[IN_R] = &r;
    prt_eval sub = *c;
    sub.in = in;
    sub.n_in = INPUTS;
    return prt_rnn_run(&sub, &params, IN_C, IN_P, cell, &s);
}

const prt_op_hooks prt_op_ms_dynamic_quantize_lstm = { .infer = infer, .eval = eval };
