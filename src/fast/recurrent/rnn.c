/* SPDX-License-Identifier: MIT */
/* rnn.c — the steps of RNN, GRU and LSTM in float32. */
#include "fast/recurrent/recurrent.h"

static void rnn_step(const prt_recurrent *n, const prt_recurrent_step *s)
{
    const prt_recurrent_direction *side = s->side;
    const prt_act clip = { PRT_ACT_clip, -side->acts.clip, side->acts.clip };
    float *h = side->h + s->entry * n->hidden, *x = s->gates;
    prt_recurrent_product(n, s, 0, h, true, x, n->rows);
    for (size_t i = 0; i < s->count; i++, x += n->rows, h += n->hidden)
        if (prt_recurrent_active(n, s, s->entry + i)) {
            n->kern->rows.act(&clip, n->hidden, x, x);
            n->kern->rows.act(&side->acts.act[0], n->hidden, x, h);
        }
}

/* Returns the attributes of the ONNX operator. Fills `ready` if this is a packed one. */
static const void *attrs_of(const prt_eval *c, prt_packed_rnn *ready, prt_recurrent *n)
{
    if (!prt_packed_rnn_is(c->def->id) || !prt_packed_rnn_of(c->def->id, c->attrs, ready))
        return c->attrs;
    n->ready = ready;
    return &ready->attrs;
}

poprt_status prt_fast_rnn(prt_eval *c, const prt_kern *k, bool *done)
{
    prt_packed_rnn ready;
    prt_recurrent n = { .initial_c = UINT32_MAX, .peepholes = UINT32_MAX, .step = rnn_step };
    n.attrs = attrs_of(c, &ready, &n);
    n.form = prt_rnn_params_of_rnn(n.attrs);
    return prt_recurrent_run(&n, c, k, done);
}

static prt_gru_cell gru_cell(const prt_recurrent *n, const prt_recurrent_step *s, size_t i)
{
    float *h = s->side->h + (s->entry + i) * n->hidden,
          *hidden_scratch = s->hidden_scratch + i * n->hidden;
    return (prt_gru_cell){ .n = n->hidden,
        .acts = &s->side->acts,
        .gates = s->gates + i * n->rows,
        .with = n->linear_before_reset ? hidden_scratch : h,
        .bias = s->side->recurrent_bias,
        .reset = hidden_scratch,
        .h = h,
        .add = n->linear_before_reset };
}

/* The product of gate h comes before the reset, or multiplies the reset state. */
static void gru_step(const prt_recurrent *n, const prt_recurrent_step *s)
{
    const size_t hidden = n->hidden;
    const float *h = s->side->h + s->entry * hidden;
    prt_recurrent_product(n, s, 0, h, true, s->gates, n->rows);
    if (n->linear_before_reset)
        prt_recurrent_product(n, s, 1, h, false, s->hidden_scratch, hidden);
    for (size_t i = 0; i < s->count; i++) {
        const prt_gru_cell cell = gru_cell(n, s, i);
        n->kern->cells.gru_reset(&cell);
    }
    if (!n->linear_before_reset)
        prt_recurrent_product(n, s, 1, s->hidden_scratch, true, s->gates + 2 * hidden, n->rows);
    for (size_t i = 0; i < s->count; i++) {
        const prt_gru_cell cell = gru_cell(n, s, i);
        if (prt_recurrent_active(n, s, s->entry + i))
            n->kern->cells.gru_state(&cell);
    }
}

poprt_status prt_fast_gru(prt_eval *c, const prt_kern *k, bool *done)
{
    prt_packed_rnn ready;
    prt_recurrent n = { .initial_c = UINT32_MAX,
        .peepholes = UINT32_MAX,
        .separate_rows = 1,
        .step = gru_step };
    const prt_gru_attrs *a = n.attrs = attrs_of(c, &ready, &n);
    n.form = prt_rnn_params_of_gru(a);
    n.linear_before_reset = a->linear_before_reset != 0;
    return prt_recurrent_run(&n, c, k, done);
}

static void lstm_step(const prt_recurrent *n, const prt_recurrent_step *s)
{
    const prt_recurrent_direction *side = s->side;
    const prt_lstm_attrs *a = n->attrs;
    const size_t at = s->entry * n->hidden;
    prt_recurrent_product(n, s, 0, side->h + at, true, s->gates, n->rows);
    for (size_t i = 0; i < s->count; i++) {
        const prt_lstm_cell cell = { .n = n->hidden,
            .acts = &side->acts,
            .gates = s->gates + i * n->rows,
            .peepholes = side->peepholes,
            .c = side->c + at + i * n->hidden,
            .h = side->h + at + i * n->hidden,
            .coupled = a->input_forget != 0 };
        if (prt_recurrent_active(n, s, s->entry + i))
            n->kern->cells.lstm(&cell);
    }
}

poprt_status prt_fast_lstm(prt_eval *c, const prt_kern *k, bool *done)
{
    prt_packed_rnn ready;
    prt_recurrent n = { .initial_c = 6, .peepholes = 7, .step = lstm_step };
    n.attrs = attrs_of(c, &ready, &n);
    n.form = prt_rnn_params_of_lstm(n.attrs);
    return prt_recurrent_run(&n, c, k, done);
}
