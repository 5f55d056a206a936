/* SPDX-License-Identifier: MIT */
/*
 * rnn_core.h — the parts shared by RNN, GRU and LSTM: shapes, directions, activation functions with
 * their factors, and the loop over batch entries and time steps. Each operator provides its cell.
 */
#ifndef PRT_OP_SHARE_RNN_CORE_H
#define PRT_OP_SHARE_RNN_CORE_H

#include "op/share/reals.h"

enum { PRT_RNN_MAX_FUNCTIONS = 3 };

/* The common attributes, and the parameters that distinguish the operators. */
typedef struct prt_rnn_params {
    uint32_t gates;                           /* gates of W and R, which have gates * hidden rows */
    uint32_t functions;                       /* activation functions per direction */
    const char *usual[PRT_RNN_MAX_FUNCTIONS]; /* names of the default functions */
    prt_str direction;
    prt_strs activations;
    prt_f32s alpha, beta;
    int64_t hidden_size, layout;
    double clip; /* 0: no clipping */
} prt_rnn_params;

/* Initialises the fields that come from an attribute struct. */
#define PRT_RNN_COMMON(a)                                                                          \
    .direction = (a)->direction, .activations = (a)->activations, .alpha = (a)->activation_alpha,  \
    .beta = (a)->activation_beta, .hidden_size = (a)->hidden_size, .layout = (a)->layout,          \
    .clip = (double)(a)->clip

typedef struct prt_activation {
    double (*fn)(double x, double alpha, double beta);
    double alpha, beta, clip;
    double (*slope)(double x, double alpha, double beta); /* derivative of fn */
} prt_activation;

/* Returns the value of a gate: clipped, then passed through its function. */
static inline double prt_activate(const prt_activation *f, double x)
{
    if (f->clip > 0.0)
        x = x > f->clip ? f->clip : x < -f->clip ? -f->clip : x;
    return f->fn(x, f->alpha, f->beta);
}

/* Returns the derivative of prt_activate: 0 where the argument is clipped. */
static inline double prt_activation_slope(const prt_activation *f, double x)
{
    return f->clip > 0.0 && (x >= f->clip || x <= -f->clip) ? 0.0 : f->slope(x, f->alpha, f->beta);
}

/* Finds the function of this name, ignoring case, with its default factors and no clipping.
 * Returns false if there is none. */
bool prt_activation_find(prt_str name, prt_activation *to);

/* Returns the name, in lower case, of a function that prt_activation_find set. */
const char *prt_activation_name(const prt_activation *f);

typedef struct prt_rnn prt_rnn;
struct prt_rnn {
    const prt_rnn_params *params;
    size_t seq, batch, input, hidden, directions, rows; /* rows: gates * hidden */
    /* Of the current direction: weights, biases (may be NULL), peepholes (LSTM). */
    const double *w, *r, *wb, *rb, *p;
    prt_activation f[PRT_RNN_MAX_FUNCTIONS];
    double *gate, *h, *c, *scratch; /* sizes: rows; hidden; hidden; rows */
    /* Runs one step: x has `input` elements; h (and c) are read and replaced. */
    void (*cell)(const prt_rnn *n, const double *x);
    const void *user;
    size_t direction, entry, step; /* of the current step; steps count from 0 in both directions */
};

/* The parameters of the three operators. */
prt_rnn_params prt_rnn_params_of_rnn(const prt_rnn_attrs *a);
prt_rnn_params prt_rnn_params_of_gru(const prt_gru_attrs *a);
prt_rnn_params prt_rnn_params_of_lstm(const prt_lstm_attrs *a);

/* Returns 1 or 2. */
size_t prt_rnn_directions(const prt_rnn_params *params);

/* Returns true if direction `direction` goes from the last step to the first. */
bool prt_rnn_backward(const prt_rnn_params *params, size_t direction);

/* Sets the functions of one direction, whose names infer has checked. Each function with factors
 * takes the next ones in order. */
void prt_rnn_functions(const prt_rnn_params *params, size_t direction, prt_activation *to);

/* Reads the number of steps of batch entry b from input 4 (sequence_lens). Fails if it is
 * outside [0, seq]. */
poprt_status prt_rnn_length(const prt_eval *c, size_t seq, size_t b, size_t *length);

/* Checks the inputs and sets outputs 0 (Y), 1 (Y_h) and, with a cell state, 2 (Y_c). */
poprt_status prt_rnn_infer(prt_infer *c, const prt_rnn_params *params);

/* Runs the whole operator. `initial_c` and `peephole` are input slots, UINT32_MAX if not used. */
poprt_status prt_rnn_run(prt_eval *c, const prt_rnn_params *params, uint32_t initial_c,
    uint32_t peephole, void (*cell)(const prt_rnn *n, const double *x), const void *user);

/* Runs one step of an LSTM; the weights R are multiplied by `h`. */
void prt_lstm_step(const prt_rnn *n, const double *x, const double *h, bool input_forget);

/* Computes y[i] += row i of m · x. */
void prt_rnn_add_product(size_t rows, size_t n, const double *m, const double *x, double *y);

#endif
