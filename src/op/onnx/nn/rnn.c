/* SPDX-License-Identifier: MIT */
/* rnn.c — the cells of RNN, GRU and LSTM. */
#include "op/share/rnn_core.h"

/* Computes gate = W x + R h + biases for rows [first, last). */
static void gates(const prt_rnn *n, const double *x, const double *h, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++)
        n->gate[i] = n->wb != NULL ? n->wb[i] + n->rb[i] : 0.0;
    prt_rnn_add_product(last - first, n->input, n->w + first * n->input, x, n->gate + first);
    prt_rnn_add_product(last - first, n->hidden, n->r + first * n->hidden, h, n->gate + first);
}

/* ---- RNN ---- */

prt_rnn_params prt_rnn_params_of_rnn(const prt_rnn_attrs *a)
{
    return (prt_rnn_params){ .gates = 1, .functions = 1, .usual = { "Tanh" }, PRT_RNN_COMMON(a) };
}

static poprt_status infer_rnn(prt_infer *c)
{
    const prt_rnn_params params = prt_rnn_params_of_rnn(c->attrs);
    return prt_rnn_infer(c, &params);
}

static void rnn_cell(const prt_rnn *n, const double *x)
{
    gates(n, x, n->h, 0, n->hidden);
    for (size_t i = 0; i < n->hidden; i++)
        n->h[i] = prt_activate(&n->f[0], n->gate[i]);
}

static poprt_status eval_rnn(prt_eval *c)
{
    const prt_rnn_params params = prt_rnn_params_of_rnn(c->attrs);
    return prt_rnn_run(c, &params, UINT32_MAX, UINT32_MAX, rnn_cell, NULL);
}

const prt_op_hooks prt_op_rnn = { .infer = infer_rnn, .eval = eval_rnn };

/* ---- GRU: gates z, r, h ---- */

prt_rnn_params prt_rnn_params_of_gru(const prt_gru_attrs *a)
{
    return (prt_rnn_params){ .gates = 3,
        .functions = 2,
        .usual = { "Sigmoid", "Tanh" },
        PRT_RNN_COMMON(a) };
}

static poprt_status infer_gru(prt_infer *c)
{
    const prt_rnn_params params = prt_rnn_params_of_gru(c->attrs);
    return prt_rnn_infer(c, &params);
}

static void gru_cell(const prt_rnn *n, const double *x)
{
    const prt_gru_attrs *a = n->user;
    const size_t hidden = n->hidden;
    double *z = n->gate, *r = z + hidden, *h = r + hidden, *recurrent = n->scratch;
    const double *weights = n->r + 2 * hidden * hidden;
    gates(n, x, n->h, 0, 2 * hidden);
    for (size_t i = 0; i < hidden; i++) {
        z[i] = prt_activate(&n->f[0], z[i]);
        r[i] = prt_activate(&n->f[0], r[i]);
        h[i] = n->wb != NULL ? n->wb[2 * hidden + i] : 0.0;
        recurrent[i] = n->rb != NULL ? n->rb[2 * hidden + i] : 0.0;
    }
    prt_rnn_add_product(hidden, n->input, n->w + 2 * hidden * n->input, x, h);
    if (a->linear_before_reset != 0) {
        prt_rnn_add_product(hidden, hidden, weights, n->h, recurrent);
        for (size_t i = 0; i < hidden; i++)
            h[i] += r[i] * recurrent[i];
    } else {
        for (size_t i = 0; i < hidden; i++) {
            r[i] *= n->h[i];
            h[i] += recurrent[i];
        }
        prt_rnn_add_product(hidden, hidden, weights, r, h);
    }
    for (size_t i = 0; i < hidden; i++)
        n->h[i] = (1.0 - z[i]) * prt_activate(&n->f[1], h[i]) + z[i] * n->h[i];
}

static poprt_status eval_gru(prt_eval *c)
{
    const prt_rnn_params params = prt_rnn_params_of_gru(c->attrs);
    return prt_rnn_run(c, &params, UINT32_MAX, UINT32_MAX, gru_cell, c->attrs);
}

const prt_op_hooks prt_op_gru = { .infer = infer_gru, .eval = eval_gru };

/* ---- LSTM: gates i, o, f, c; peepholes i, o, f ---- */

prt_rnn_params prt_rnn_params_of_lstm(const prt_lstm_attrs *a)
{
    return (prt_rnn_params){ .gates = 4,
        .functions = 3,
        .usual = { "Sigmoid", "Tanh", "Tanh" },
        PRT_RNN_COMMON(a) };
}

static poprt_status infer_lstm(prt_infer *c)
{
    const prt_rnn_params params = prt_rnn_params_of_lstm(c->attrs);
    return prt_rnn_infer(c, &params);
}

void prt_lstm_step(const prt_rnn *n, const double *x, const double *h, bool input_forget)
{
    const size_t hidden = n->hidden;
    const double *p = n->p;
    gates(n, x, h, 0, 4 * hidden);
    for (size_t k = 0; k < hidden; k++) {
        const double before = n->c[k];
        double i = n->gate[k], o = n->gate[hidden + k], f = n->gate[2 * hidden + k];
        if (p != NULL) {
            i += p[k] * before;
            f += p[2 * hidden + k] * before;
        }
        i = prt_activate(&n->f[0], i);
        f = input_forget ? 1.0 - i : prt_activate(&n->f[0], f);
        n->c[k] = f * before + i * prt_activate(&n->f[1], n->gate[3 * hidden + k]);
        if (p != NULL)
            o += p[hidden + k] * n->c[k];
        /* The cell state is not a gate, so it is not clipped. */
        n->h[k] = prt_activate(&n->f[0], o) * n->f[2].fn(n->c[k], n->f[2].alpha, n->f[2].beta);
    }
}

static void lstm_cell(const prt_rnn *n, const double *x)
{
    const prt_lstm_attrs *a = n->user;
    prt_lstm_step(n, x, n->h, a->input_forget != 0);
}

static poprt_status eval_lstm(prt_eval *c)
{
    const prt_rnn_params params = prt_rnn_params_of_lstm(c->attrs);
    return prt_rnn_run(c, &params, 6, 7, lstm_cell, c->attrs);
}

const prt_op_hooks prt_op_lstm = { .infer = infer_lstm, .eval = eval_lstm };
