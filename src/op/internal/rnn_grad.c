/* SPDX-License-Identifier: MIT */
/*
 * rnn_grad.c — gradients of RNN, GRU and LSTM by backpropagation through time. Each batch entry and
 * direction runs forwards, keeping its states and the arguments of its gates, then backwards.
 */
#include "op/internal/gradient.h"
#include "op/share/rnn_core.h"

enum { X, W, R, B, LENGTHS, H0, MOST_OUTPUTS = 7 };

typedef struct backprop backprop;
struct backprop {
    const prt_rnn_params *params;
    bool variant; /* linear_before_reset of GRU, input_forget of LSTM */
    size_t seq, batch, input, hidden, directions, rows;
    const double *x, *w, *r, *b, *h0, *c0, *p; /* whole inputs; NULL: absent */
    const double *dy, *dh_last, *dc_last;
    double *dx, *dw, *dr, *db, *dh0, *dc0, *dp;
    /* Of the current direction. */
    const double *wd, *rd, *wb, *rb, *pd;
    double *dwd, *drd, *dwb, *drb, *dpd;
    prt_activation f[PRT_RNN_MAX_FUNCTIONS];
    /* Kept for each step: states before it (and behind the last one), arguments of the gates, and
     * the recurrent part of GRU's third gate. */
    double *h, *c, *gates, *recurrent;
    /* Gradients of the states, and of W x and R h in the arguments of the gates. */
    double *dh, *dc, *dh_before, *wa, *ra, *reset;
    void (*forward)(const backprop *s, size_t t, const double *x);
    /* Replaces dh and dc by those before the step. */
    void (*backward)(const backprop *s, size_t t, const double *x, double *dx);
};

static double *state_at(double *states, const backprop *s, size_t t)
{
    return states + t * s->hidden;
}

/* Sets rows [first, last) of the arguments of step t to W x + R h and the biases. */
static void set_arguments(const backprop *s, size_t t, const double *x, size_t first, size_t last)
{
    double *a = s->gates + t * s->rows;
    for (size_t i = first; i < last; i++)
        a[i] = s->wb != NULL ? s->wb[i] + s->rb[i] : 0.0;
    prt_rnn_add_product(last - first, s->input, s->wd + first * s->input, x, a + first);
    prt_rnn_add_product(last - first, s->hidden, s->rd + first * s->hidden, state_at(s->h, s, t),
        a + first);
}

/* Adds the gradients of rows [first, last) of m v, where `d` is that of the product. */
static void add_product_gradient(size_t first, size_t last, size_t n, const double *m,
    const double *v, const double *d, double *dm, double *dv)
{
    for (size_t i = first; i < last; i++)
        for (size_t k = 0; k < n; k++) {
            dm[i * n + k] += d[i] * v[k];
            dv[k] += m[i * n + k] * d[i];
        }
}

/* Adds the gradients of W, x and the biases, from those of the arguments. */
static void add_input_gradient(const backprop *s, const double *x, double *dx)
{
    add_product_gradient(0, s->rows, s->input, s->wd, x, s->wa, s->dwd, dx);
    for (size_t i = 0; s->dwb != NULL && i < s->rows; i++) {
        s->dwb[i] += s->wa[i];
        s->drb[i] += s->ra[i];
    }
}

/* ---- RNN */

static void rnn_forward(const backprop *s, size_t t, const double *x)
{
    const double *a = s->gates + t * s->rows;
    set_arguments(s, t, x, 0, s->rows);
    for (size_t i = 0; i < s->hidden; i++)
        state_at(s->h, s, t + 1)[i] = prt_activate(&s->f[0], a[i]);
}

static void rnn_backward(const backprop *s, size_t t, const double *x, double *dx)
{
    const double *a = s->gates + t * s->rows;
    for (size_t i = 0; i < s->hidden; i++) {
        s->wa[i] = s->ra[i] = s->dh[i] * prt_activation_slope(&s->f[0], a[i]);
        s->dh[i] = 0.0;
    }
    add_input_gradient(s, x, dx);
    add_product_gradient(0, s->rows, s->hidden, s->rd, state_at(s->h, s, t), s->ra, s->drd, s->dh);
}

/* ---- GRU: gates z, r, h */

static void gru_forward(const backprop *s, size_t t, const double *x)
{
    const size_t hidden = s->hidden;
    const double *h = state_at(s->h, s, t), *weights = s->rd + 2 * hidden * hidden;
    double *a = s->gates + t * s->rows, *q = state_at(s->recurrent, s, t);
    set_arguments(s, t, x, 0, 2 * hidden);
    for (size_t i = 0; i < hidden; i++) {
        s->reset[i] = prt_activate(&s->f[0], a[hidden + i]);
        a[2 * hidden + i] = s->wb != NULL ? s->wb[2 * hidden + i] : 0.0;
        q[i] = s->rb != NULL ? s->rb[2 * hidden + i] : 0.0;
        if (!s->variant)
            s->reset[i] *= h[i];
    }
    prt_rnn_add_product(hidden, s->input, s->wd + 2 * hidden * s->input, x, a + 2 * hidden);
    prt_rnn_add_product(hidden, hidden, weights, s->variant ? h : s->reset, q);
    for (size_t i = 0; i < hidden; i++) {
        a[2 * hidden + i] += s->variant ? s->reset[i] * q[i] : q[i];
        const double z = prt_activate(&s->f[0], a[i]);
        const double candidate = prt_activate(&s->f[1], a[2 * hidden + i]);
        state_at(s->h, s, t + 1)[i] = (1.0 - z) * candidate + z * h[i];
    }
}

static void gru_backward(const backprop *s, size_t t, const double *x, double *dx)
{
    const size_t hidden = s->hidden;
    const double *h = state_at(s->h, s, t), *a = s->gates + t * s->rows;
    const double *q = state_at(s->recurrent, s, t), *weights = s->rd + 2 * hidden * hidden;
    double *dr = s->dc; /* a GRU has no cell state */
    for (size_t i = 0; i < hidden; i++) {
        const double z = prt_activate(&s->f[0], a[i]), dh = s->dh[i];
        const double r = prt_activate(&s->f[0], a[hidden + i]);
        const double candidate = prt_activate(&s->f[1], a[2 * hidden + i]);
        const double d = dh * (1.0 - z) * prt_activation_slope(&s->f[1], a[2 * hidden + i]);
        s->wa[i] = dh * (h[i] - candidate) * prt_activation_slope(&s->f[0], a[i]);
        s->wa[2 * hidden + i] = d;
        s->ra[2 * hidden + i] = s->variant ? d * r : d;
        s->reset[i] = s->variant ? h[i] : r * h[i];
        s->dh[i] = dh * z;
        dr[i] = s->variant ? d * q[i] : 0.0;
        s->dh_before[i] = 0.0;
    }
    add_product_gradient(0, hidden, hidden, weights, s->reset, s->ra + 2 * hidden,
        s->drd + 2 * hidden * hidden, s->dh_before);
    for (size_t i = 0; i < hidden; i++) {
        const double r = prt_activate(&s->f[0], a[hidden + i]);
        if (!s->variant)
            dr[i] = s->dh_before[i] * h[i];
        s->dh[i] += s->variant ? s->dh_before[i] : s->dh_before[i] * r;
        s->wa[hidden + i] = dr[i] * prt_activation_slope(&s->f[0], a[hidden + i]);
        s->ra[i] = s->wa[i];
        s->ra[hidden + i] = s->wa[hidden + i];
    }
    add_input_gradient(s, x, dx);
    add_product_gradient(0, 2 * hidden, hidden, s->rd, h, s->ra, s->drd, s->dh);
}

/* ---- LSTM: gates i, o, f, c; peepholes i, o, f. The cell state is not clipped. */

/* The values of the gates of element k at step t. */
typedef struct lstm_gates {
    double i, o, f, g, c, c_before, squashed;
} lstm_gates;

static lstm_gates lstm_at(const backprop *s, size_t t, size_t k)
{
    const double *a = s->gates + t * s->rows;
    lstm_gates v = { .c_before = state_at(s->c, s, t)[k], .c = state_at(s->c, s, t + 1)[k] };
    v.i = prt_activate(&s->f[0], a[k]);
    v.o = prt_activate(&s->f[0], a[s->hidden + k]);
    v.f = s->variant ? 1.0 - v.i : prt_activate(&s->f[0], a[2 * s->hidden + k]);
    v.g = prt_activate(&s->f[1], a[3 * s->hidden + k]);
    v.squashed = s->f[2].fn(v.c, s->f[2].alpha, s->f[2].beta);
    return v;
}

static void lstm_forward(const backprop *s, size_t t, const double *x)
{
    const size_t hidden = s->hidden;
    double *a = s->gates + t * s->rows;
    set_arguments(s, t, x, 0, s->rows);
    for (size_t k = 0; k < hidden; k++) {
        double *c = &state_at(s->c, s, t + 1)[k];
        const double before = state_at(s->c, s, t)[k];
        if (s->pd != NULL) {
            a[k] += s->pd[k] * before;
            a[2 * hidden + k] += s->pd[2 * hidden + k] * before;
        }
        lstm_gates v = lstm_at(s, t, k);
        *c = v.f * before + v.i * v.g;
        if (s->pd != NULL)
            a[hidden + k] += s->pd[hidden + k] * *c;
        v = lstm_at(s, t, k);
        state_at(s->h, s, t + 1)[k] = v.o * v.squashed;
    }
}

static void lstm_backward(const backprop *s, size_t t, const double *x, double *dx)
{
    const size_t hidden = s->hidden;
    const double *a = s->gates + t * s->rows, *p = s->pd;
    for (size_t k = 0; k < hidden; k++) {
        const lstm_gates v = lstm_at(s, t, k);
        const double dh = s->dh[k];
        const double d_o = dh * v.squashed * prt_activation_slope(&s->f[0], a[hidden + k]);
        const prt_activation whole = { s->f[2].fn, s->f[2].alpha, s->f[2].beta, 0.0,
            s->f[2].slope };
        double dc = s->dc[k] + dh * v.o * prt_activation_slope(&whole, v.c);
        if (p != NULL)
            dc += d_o * p[hidden + k];
        const double df = dc * v.c_before, di = dc * v.g - (s->variant ? df : 0.0);
        const double d_i = di * prt_activation_slope(&s->f[0], a[k]);
        const double d_f =
            s->variant ? 0.0 : df * prt_activation_slope(&s->f[0], a[2 * hidden + k]);
        s->wa[k] = d_i;
        s->wa[hidden + k] = d_o;
        s->wa[2 * hidden + k] = d_f;
        s->wa[3 * hidden + k] = dc * v.i * prt_activation_slope(&s->f[1], a[3 * hidden + k]);
        s->dc[k] = dc * v.f;
        if (p != NULL) {
            s->dc[k] += d_i * p[k] + d_f * p[2 * hidden + k];
            s->dpd[k] += d_i * v.c_before;
            s->dpd[hidden + k] += d_o * v.c;
            s->dpd[2 * hidden + k] += d_f * v.c_before;
        }
        s->dh[k] = 0.0;
    }
    memcpy(s->ra, s->wa, s->rows * sizeof(double));
    add_input_gradient(s, x, dx);
    add_product_gradient(0, s->rows, hidden, s->rd, state_at(s->h, s, t), s->ra, s->drd, s->dh);
}

/* ---- the sequence */

static size_t state_index(const backprop *s, size_t direction, size_t b)
{
    const size_t row =
        s->params->layout != 0 ? b * s->directions + direction : direction * s->batch + b;
    return row * s->hidden;
}

static void load_state(const backprop *s, const double *from, size_t at, double *to)
{
    for (size_t i = 0; i < s->hidden; i++)
        to[i] = from != NULL ? from[at + i] : 0.0;
}

static void run_entry(const backprop *s, size_t direction, size_t b, size_t length)
{
    const bool batch_first = s->params->layout != 0;
    const bool reverse = prt_rnn_backward(s->params, direction);
    const size_t state = state_index(s, direction, b);
    load_state(s, s->h0, state, s->h);
    load_state(s, s->c0, state, s->c);
    for (size_t t = 0; t < 2 * length; t++) {
        const size_t step = t < length ? t : 2 * length - 1 - t;
        const size_t at = reverse ? length - 1 - step : step;
        const size_t row = batch_first ? b * s->seq + at : at * s->batch + b;
        const size_t y = batch_first ? row * s->directions + direction
                                     : (at * s->directions + direction) * s->batch + b;
        if (t < length) {
            s->forward(s, step, s->x + row * s->input);
            continue;
        }
        if (t == length) {
            load_state(s, s->dh_last, state, s->dh);
            load_state(s, s->dc_last, state, s->dc);
        }
        for (size_t i = 0; s->dy != NULL && i < s->hidden; i++)
            s->dh[i] += s->dy[y * s->hidden + i];
        s->backward(s, step, s->x + row * s->input, s->dx + row * s->input);
    }
    if (length == 0) {
        load_state(s, s->dh_last, state, s->dh);
        load_state(s, s->dc_last, state, s->dc);
    }
    for (size_t i = 0; i < s->hidden; i++) {
        if (s->dh0 != NULL)
            s->dh0[state + i] = s->dh[i];
        if (s->dc0 != NULL)
            s->dc0[state + i] = s->dc[i];
    }
}

static void choose_direction(backprop *s, size_t direction)
{
    s->wd = s->w + direction * s->rows * s->input;
    s->rd = s->r + direction * s->rows * s->hidden;
    s->dwd = s->dw + direction * s->rows * s->input;
    s->drd = s->dr + direction * s->rows * s->hidden;
    s->wb = s->b != NULL ? s->b + direction * 2 * s->rows : NULL;
    s->rb = s->b != NULL ? s->wb + s->rows : NULL;
    s->dwb = s->b != NULL ? s->db + direction * 2 * s->rows : NULL;
    s->drb = s->b != NULL ? s->dwb + s->rows : NULL;
    s->pd = s->p != NULL ? s->p + direction * 3 * s->hidden : NULL;
    s->dpd = s->p != NULL ? s->dp + direction * 3 * s->hidden : NULL;
    prt_rnn_functions(s->params, direction, s->f);
}

/* Reads all elements of an input as doubles; NULL and true if it is absent. */
static bool load(prt_eval *c, uint32_t i, const double **to)
{
    *to = prt_eval_has(c, i) ? prt_eval_reals(c, c->in[i]) : NULL;
    return *to != NULL || !prt_eval_has(c, i);
}

/* Zeros of the size of an input, for its gradient; NULL and true if it is absent. */
static bool clear(prt_eval *c, uint32_t i, double **to)
{
    *to = NULL;
    if (!prt_eval_has(c, i))
        return true;
    *to = prt_eval_scratch(c, prt_tensor_count(c->in[i]) + 1, sizeof(double));
    return *to != NULL;
}

static bool allocate(prt_eval *c, backprop *s)
{
    const size_t steps = s->seq + 1;
    double **const parts[] = { &s->h, &s->c, &s->recurrent, &s->dh, &s->dc, &s->dh_before,
        &s->reset };
    s->gates = prt_eval_scratch(c, steps * s->rows, sizeof(double));
    s->wa = prt_eval_scratch(c, s->rows, sizeof(double));
    s->ra = prt_eval_scratch(c, s->rows, sizeof(double));
    if (s->gates == NULL || s->wa == NULL || s->ra == NULL)
        return false;
    for (size_t i = 0; i < PRT_COUNT_OF(parts); i++) {
        *parts[i] = prt_eval_scratch(c, (i < 3 ? steps : 1) * s->hidden + 1, sizeof(double));
        if (*parts[i] == NULL)
            return false;
    }
    return true;
}

/* `grads` is the first input with the gradient of an output. */
static poprt_status run(prt_eval *c, backprop *s, uint32_t grads)
{
    const prt_tensor *x = c->in[X];
    const bool batch_first = s->params->layout != 0, cell = s->params->gates == 4;
    s->seq = (size_t)x->dims[batch_first];
    s->batch = (size_t)x->dims[!batch_first];
    s->input = (size_t)x->dims[2];
    s->hidden = (size_t)c->in[R]->dims[2];
    s->directions = prt_rnn_directions(s->params);
    s->rows = s->params->gates * s->hidden;
    if (!allocate(c, s) || !load(c, X, &s->x) || !load(c, W, &s->w) || !load(c, R, &s->r) ||
        !load(c, B, &s->b) || !load(c, H0, &s->h0) || !load(c, grads, &s->dy) ||
        !load(c, grads + 1, &s->dh_last) || !clear(c, X, &s->dx) || !clear(c, W, &s->dw) ||
        !clear(c, R, &s->dr) || !clear(c, B, &s->db) || !clear(c, H0, &s->dh0))
        return POPRT_E_NOMEM;
    if (cell &&
        (!load(c, 6, &s->c0) || !load(c, 7, &s->p) || !load(c, grads + 2, &s->dc_last) ||
            !clear(c, 6, &s->dc0) || !clear(c, 7, &s->dp)))
        return POPRT_E_NOMEM;
    for (size_t direction = 0; direction < s->directions; direction++) {
        choose_direction(s, direction);
        for (size_t b = 0; b < s->batch; b++) {
            size_t length;
            PRT_TRY(c->host->check(c));
            PRT_TRY(prt_rnn_length(c, s->seq, b, &length));
            run_entry(s, direction, b, length);
        }
    }
    const double *const results[MOST_OUTPUTS] = { s->dx, s->dw, s->dr, s->db, s->dh0, s->dc0,
        s->dp };
    for (uint32_t i = 0; i < c->n_out; i++)
        if (prt_eval_wants(c, i) && results[i] != NULL)
            prt_reals_store(c->out[i]->dtype, c->out[i]->data, 0, 1, prt_tensor_count(c->out[i]),
                results[i]);
    return POPRT_OK;
}

/* sequence_lens, input 4, has no gradient. */
static const uint32_t likes[MOST_OUTPUTS] = { X, W, R, B, H0, H0 + 1, H0 + 2 };

/* Copies the attributes that the three operators share. */
#define COPY_ATTRS(to, from)                                                                       \
    do {                                                                                           \
        (to).clip = (from)->clip;                                                                  \
        (to).activation_alpha = (from)->activation_alpha;                                          \
        (to).activation_beta = (from)->activation_beta;                                            \
        (to).hidden_size = (from)->hidden_size;                                                    \
        (to).layout = (from)->layout;                                                              \
        (to).direction = (from)->direction;                                                        \
        (to).activations = (from)->activations;                                                    \
    } while (0)

static poprt_status infer_rnn(prt_infer *c)
{
    const prt_rnn_grad_attrs *a = c->attrs;
    prt_rnn_attrs forward = PRT_ATTRS_OF(rnn);
    COPY_ATTRS(forward, a);
    const prt_gradient g = { PRT_OP_rnn, &forward, H0 + 1, 2, MOST_OUTPUTS - 2, likes };
    return prt_gradient_infer(c, &g);
}

static poprt_status infer_gru(prt_infer *c)
{
    const prt_gru_grad_attrs *a = c->attrs;
    prt_gru_attrs forward = PRT_ATTRS_OF(gru);
    COPY_ATTRS(forward, a);
    const prt_gradient g = { PRT_OP_gru, &forward, H0 + 1, 2, MOST_OUTPUTS - 2, likes };
    return prt_gradient_infer(c, &g);
}

static poprt_status infer_lstm(prt_infer *c)
{
    const prt_lstm_grad_attrs *a = c->attrs;
    prt_lstm_attrs forward = PRT_ATTRS_OF(lstm);
    COPY_ATTRS(forward, a);
    const prt_gradient g = { PRT_OP_lstm, &forward, H0 + 3, 3, MOST_OUTPUTS, likes };
    return prt_gradient_infer(c, &g);
}

static poprt_status eval_rnn(prt_eval *c)
{
    const prt_rnn_grad_attrs *a = c->attrs;
    const prt_rnn_params params = { .gates = 1,
        .functions = 1,
        .usual = { "Tanh" },
        PRT_RNN_COMMON(a) };
    backprop s = { .params = &params, .forward = rnn_forward, .backward = rnn_backward };
    return run(c, &s, H0 + 1);
}

static poprt_status eval_gru(prt_eval *c)
{
    const prt_gru_grad_attrs *a = c->attrs;
    const prt_rnn_params params = { .gates = 3,
        .functions = 2,
        .usual = { "Sigmoid", "Tanh" },
        PRT_RNN_COMMON(a) };
    backprop s = { .params = &params,
        .variant = a->linear_before_reset != 0,
        .forward = gru_forward,
        .backward = gru_backward };
    return run(c, &s, H0 + 1);
}

static poprt_status eval_lstm(prt_eval *c)
{
    const prt_lstm_grad_attrs *a = c->attrs;
    const prt_rnn_params params = { .gates = 4,
        .functions = 3,
        .usual = { "Sigmoid", "Tanh", "Tanh" },
        PRT_RNN_COMMON(a) };
    backprop s = { .params = &params,
        .variant = a->input_forget != 0,
        .forward = lstm_forward,
        .backward = lstm_backward };
    return run(c, &s, H0 + 3);
}

const prt_op_hooks prt_op_rnn_grad = { .infer = infer_rnn, .eval = eval_rnn };
const prt_op_hooks prt_op_gru_grad = { .infer = infer_gru, .eval = eval_gru };
const prt_op_hooks prt_op_lstm_grad = { .infer = infer_lstm, .eval = eval_lstm };
