/* SPDX-License-Identifier: MIT */
/*
 * lstm.c — LSTM of ai.graphcore: weights [4, I + H, H] for the gates forget, input, candidate and
 * output; rows of a gate's matrix are first for the input, then for the last hidden state.
 */
#include <math.h>

#include "op/share/reals.h"

enum { X, WEIGHTS, BIAS, STATE, LENGTHS, GATES = 4 };

static poprt_status infer(prt_infer *c)
{
    const prt_gc_lstm_attrs *a = c->attrs;
    const int32_t dtype = c->in[X].dtype;
    PRT_TRY(prt_infer_rank(c, X, 3));
    PRT_TRY(prt_infer_rank(c, WEIGHTS, 3));
    PRT_TRY(prt_infer_rank(c, BIAS, 2));
    PRT_TRY(prt_infer_rank(c, STATE, 3));
    int64_t seq = prt_infer_dim(c, X, 0), batch = prt_infer_dim(c, X, 1), merged;
    int64_t hidden = prt_infer_dim(c, WEIGHTS, 2);
    PRT_TRY(prt_infer_merge(c, GATES, prt_infer_dim(c, WEIGHTS, 0), "number of gates", &merged));
    PRT_TRY(prt_infer_merge(c, GATES, prt_infer_dim(c, BIAS, 0), "number of gates", &merged));
    PRT_TRY(prt_infer_merge(c, hidden, prt_infer_dim(c, BIAS, 1), "the hidden size", &hidden));
    PRT_TRY(prt_infer_merge(c, hidden, prt_infer_dim(c, STATE, 2), "the hidden size", &hidden));
    PRT_TRY(prt_infer_merge(c, 2, prt_infer_dim(c, STATE, 0), "number of states", &merged));
    PRT_TRY(prt_infer_merge(c, batch, prt_infer_dim(c, STATE, 1), "the batch", &batch));
    PRT_TRY(prt_infer_merge(c, prt_dim_add(c->dims, prt_infer_dim(c, X, 2), hidden),
        prt_infer_dim(c, WEIGHTS, 1), "rows of the weights", &merged));
    PRT_TRY(prt_infer_vector(c, LENGTHS, batch));
    const int64_t dims[3] = { seq, batch, hidden };
    const bool full = a->output_full_sequence != 0;
    PRT_TRY(prt_infer_exact(c, 0, dtype, full ? 3 : 2, full ? dims : dims + 1));
    return prt_infer_exact(c, 1, dtype, 2, dims + 1);
}

typedef struct lstm {
    size_t seq, batch, input, hidden;
    const double *x, *weights, *bias, *state; /* bias, state NULL: zeros */
    double *h, *cell, *gate;                  /* sizes: hidden, hidden, GATES * hidden */
} lstm;

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

/* Computes gate = bias + [x, h] · weights for all four gates. */
static void gates(const lstm *l, const double *x)
{
    const size_t rows = l->input + l->hidden, hidden = l->hidden;
    for (size_t g = 0; g < GATES; g++)
        for (size_t j = 0; j < hidden; j++) {
            const double *w = l->weights + g * rows * hidden + j;
            double sum = l->bias != NULL ? l->bias[g * hidden + j] : 0.0;
            for (size_t i = 0; i < l->input; i++)
                sum += x[i] * w[i * hidden];
            for (size_t i = 0; i < hidden; i++)
                sum += l->h[i] * w[(l->input + i) * hidden];
            l->gate[g * hidden + j] = sum;
        }
}

static void step(const lstm *l, const double *x)
{
    const size_t hidden = l->hidden;
    gates(l, x);
    for (size_t j = 0; j < hidden; j++) {
        const double forget = sigmoid(l->gate[j]), in = sigmoid(l->gate[hidden + j]);
        const double candidate = tanh(l->gate[2 * hidden + j]);
        l->cell[j] = forget * l->cell[j] + in * candidate;
        l->h[j] = sigmoid(l->gate[3 * hidden + j]) * tanh(l->cell[j]);
    }
}

static void store(const prt_eval *c, uint32_t out, size_t row, const lstm *l, const double *from)
{
    if (prt_eval_wants(c, out))
        prt_reals_store(c->out[out]->dtype, c->out[out]->data, row * l->hidden, 1, l->hidden, from);
}

/* Runs one batch entry. Outputs after the end of the sequence are zero; the final states are those
   of its last step. */
static void run_entry(prt_eval *c, const lstm *l, size_t b, size_t length, bool full)
{
    for (size_t j = 0; j < l->hidden; j++) {
        l->h[j] = l->state != NULL ? l->state[b * l->hidden + j] : 0.0;
        l->cell[j] = l->state != NULL ? l->state[(l->batch + b) * l->hidden + j] : 0.0;
    }
    for (size_t t = 0; t < length; t++) {
        step(l, l->x + (t * l->batch + b) * l->input);
        if (full)
            store(c, 0, t * l->batch + b, l, l->h);
    }
    if (!full)
        store(c, 0, b, l, l->h);
    store(c, 1, b, l, l->cell);
    memset(l->gate, 0, l->hidden * sizeof(double));
    for (size_t t = length; full && t < l->seq; t++)
        store(c, 0, t * l->batch + b, l, l->gate);
}

static poprt_status load(prt_eval *c, uint32_t i, const double **to)
{
    *to = NULL;
    return !prt_eval_has(c, i) || (*to = prt_eval_reals(c, c->in[i])) != NULL ? POPRT_OK
                                                                              : POPRT_E_NOMEM;
}

static poprt_status eval(prt_eval *c)
{
    const prt_gc_lstm_attrs *a = c->attrs;
    lstm l = { .seq = (size_t)c->in[X]->dims[0],
        .batch = (size_t)c->in[X]->dims[1],
        .input = (size_t)c->in[X]->dims[2],
        .hidden = (size_t)c->in[WEIGHTS]->dims[2] };
    PRT_TRY(load(c, X, &l.x));
    PRT_TRY(load(c, WEIGHTS, &l.weights));
    PRT_TRY(load(c, BIAS, &l.bias));
    PRT_TRY(load(c, STATE, &l.state));
    l.h = prt_eval_scratch(c, l.hidden + 1, sizeof(double));
    l.cell = prt_eval_scratch(c, l.hidden + 1, sizeof(double));
    l.gate = prt_eval_scratch(c, l.hidden + 1, GATES * sizeof(double));
    if (l.h == NULL || l.cell == NULL || l.gate == NULL)
        return POPRT_E_NOMEM;
    for (size_t b = 0; b < l.batch; b++) {
        int64_t length = (int64_t)l.seq;
        if (prt_eval_has(c, LENGTHS))
            length = prt_load_i64(c->in[LENGTHS]->dtype, c->in[LENGTHS]->data, b);
        if (length < 0 || (size_t)length > l.seq)
            return prt_eval_fail(c, POPRT_E_ARG, "seqLens has %lld, outside [0, %zu]",
                (long long)length, l.seq);
        PRT_TRY(c->host->check(c));
        run_entry(c, &l, b, (size_t)length, a->output_full_sequence != 0);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_lstm = { .infer = infer, .eval = eval };
