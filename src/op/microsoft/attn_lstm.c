/* SPDX-License-Identifier: MIT */
/*
 * attn_lstm.c — AttnLSTM: an LSTM that attends to a memory after each step (Bahdanau attention).
 * The last attention vector is concatenated to X. It is the mean of the memory's rows with the
 * weights softmax(V · tanh(row * MW + h * QW)); with AW it is [h, that mean] times AW.
 */
#include <math.h>

#include "op/share/delegate.h"
#include "op/share/rnn_core.h"

enum { LSTM_INPUTS = 8 };
enum {
    IN_X,
    IN_W,
    IN_R,
    IN_LENGTHS = 4,
    IN_H,
    IN_C,
    IN_P,
    IN_QUERY,
    IN_KEYS,
    IN_V,
    IN_MEMORY,
    IN_ROWS,
    IN_LAYER
};

typedef prt_ms_attn_lstm_attrs attrs;

/* ---- shapes ---- */

static poprt_status check_dims(const prt_infer *c, uint32_t i, int32_t rank, const int64_t *want,
    const char *what)
{
    int64_t dim;
    PRT_TRY(prt_infer_rank(c, i, rank));
    for (uint32_t k = 0; prt_infer_has(c, i) && k < (uint32_t)rank; k++)
        PRT_TRY(prt_infer_merge(c, want[k], prt_infer_dim(c, i, k), what, &dim));
    return POPRT_OK;
}

/* Checks all inputs but the LSTM's. `seen` gets the size of the attention vector. */
static poprt_status check_attention(const prt_infer *c, int64_t *seen)
{
    const int64_t directions = prt_infer_dim(c, IN_W, 0), hidden = prt_infer_dim(c, IN_R, 2);
    const int64_t batch = prt_infer_dim(c, IN_X, 1), size = prt_infer_dim(c, IN_QUERY, 2);
    const int64_t depth = prt_infer_dim(c, IN_MEMORY, 2);
    const int64_t query[3] = { directions, hidden, size }, keys[3] = { directions, depth, size };
    const int64_t v[2] = { directions, size };
    const int64_t memory[3] = { batch, prt_infer_dim(c, IN_MEMORY, 1), depth };
    const int64_t layer[3] = { directions, prt_dim_add(c->dims, hidden, depth),
        prt_infer_dim(c, IN_LAYER, 2) };
    for (uint32_t i = IN_QUERY; i <= IN_MEMORY; i++)
        if (!prt_infer_has(c, i))
            return prt_infer_fail(c, POPRT_E_ARG, "needs inputs QW, MW, V and M");
    PRT_TRY(check_dims(c, IN_QUERY, 3, query, "a dim of QW"));
    PRT_TRY(check_dims(c, IN_KEYS, 3, keys, "a dim of MW"));
    PRT_TRY(check_dims(c, IN_V, 2, v, "a dim of V"));
    PRT_TRY(check_dims(c, IN_MEMORY, 3, memory, "a dim of M"));
    PRT_TRY(prt_infer_vector(c, IN_ROWS, batch));
    PRT_TRY(check_dims(c, IN_LAYER, 3, layer, "a dim of AW"));
    *seen = prt_infer_has(c, IN_LAYER) ? layer[2] : depth;
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const attrs *a = c->attrs;
    const prt_lstm_attrs lstm = { .direction = a->direction,
        .activations = a->activations,
        .activation_alpha = a->activation_alpha,
        .activation_beta = a->activation_beta,
        .hidden_size = a->hidden_size,
        .clip = a->clip };
    prt_shape in[LSTM_INPUTS] = { 0 }, out[3];
    int64_t seen = PRT_DIM_UNKNOWN;
    PRT_TRY(prt_infer_rank(c, IN_X, 3));
    PRT_TRY(prt_infer_rank(c, IN_W, 3));
    PRT_TRY(prt_infer_rank(c, IN_R, 3));
    PRT_TRY(check_attention(c, &seen));
    for (uint32_t i = 0; i < LSTM_INPUTS; i++)
        in[i] = prt_infer_has(c, i) ? c->in[i] : (prt_shape){ .kind = PRT_VALUE_ABSENT };
    if (in[IN_X].rank == 3)
        in[IN_X].dims[2] = prt_dim_add(c->dims, in[IN_X].dims[2], seen);
    PRT_TRY(prt_delegate_infer(c, PRT_OP_lstm, &lstm, LSTM_INPUTS, in, NULL, 3, out));
    for (uint32_t i = 0; i < 3; i++)
        PRT_TRY(prt_infer_set(c, i, c->in[IN_X].dtype, out[i].rank, out[i].dims));
    return POPRT_OK;
}

/* ---- evaluation ---- */

typedef struct attention {
    size_t input, seen, size, most, depth; /* most: rows of the memory */
    bool input_forget;
    const double *query, *v, *layer; /* indexed by direction; layer NULL: absent */
    const double *memory;            /* [batch, most, depth] */
    const double *keys;              /* [directions, batch, most, size] */
    const size_t *rows;              /* number of memory rows of each batch entry */
    double *x;                       /* input + seen elements: X, then the attention vector */
    double *asked, *weight, *joined; /* sizes: size; most; hidden + depth */
} attention;

/* to[j] = sum over k of x[k] * m[k, j] */
static void multiply(size_t n, size_t columns, const double *x, const double *m, double *to)
{
    memset(to, 0, columns * sizeof(double));
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < columns; j++)
            to[j] += x[k] * m[k * columns + j];
}

/* Computes the attention weights of the memory's rows for the state h. */
static void find_weights(const attention *s, const prt_rnn *n, size_t rows)
{
    const double *keys = s->keys + (n->direction * n->batch + n->entry) * s->most * s->size;
    const double *v = s->v + n->direction * s->size;
    double most = -HUGE_VAL, sum = 0;
    multiply(n->hidden, s->size, n->h, s->query + n->direction * n->hidden * s->size, s->asked);
    for (size_t r = 0; r < rows; r++) {
        double score = 0;
        for (size_t k = 0; k < s->size; k++)
            score += v[k] * tanh(keys[r * s->size + k] + s->asked[k]);
        s->weight[r] = score;
        most = fmax(most, score);
    }
    for (size_t r = 0; r < rows; r++)
        sum += s->weight[r] = exp(s->weight[r] - most);
    for (size_t r = 0; r < rows; r++)
        s->weight[r] /= sum;
}

static void cell(const prt_rnn *n, const double *x)
{
    const attention *s = n->user;
    const size_t rows = s->rows[n->entry], hidden = n->hidden;
    double *seen = s->x + s->input, *context = s->joined + hidden;
    if (n->step == 0)
        memset(seen, 0, s->seen * sizeof(double));
    if (s->input != 0)
        memcpy(s->x, x, s->input * sizeof(double));
    prt_lstm_step(n, s->x, n->h, s->input_forget);
    find_weights(s, n, rows);
    multiply(rows, s->depth, s->weight, s->memory + n->entry * s->most * s->depth, context);
    if (s->layer == NULL) {
        memcpy(seen, context, s->depth * sizeof(double));
        return;
    }
    memcpy(s->joined, n->h, hidden * sizeof(double));
    multiply(hidden + s->depth, s->seen, s->joined,
        s->layer + n->direction * (hidden + s->depth) * s->seen, seen);
}

static poprt_status read_rows(prt_eval *c, attention *s, size_t batch)
{
    const bool given = prt_eval_has(c, IN_ROWS);
    size_t *rows = prt_eval_scratch(c, batch + 1, sizeof(size_t));
    if (rows == NULL)
        return POPRT_E_NOMEM;
    for (size_t b = 0; b < batch; b++) {
        const int64_t count =
            given ? prt_load_i64(PRT_DTYPE_i32, c->in[IN_ROWS]->data, b) : (int64_t)s->most;
        if (count < 1 || (uint64_t)count > s->most)
            return prt_eval_fail(c, POPRT_E_ARG, "memory_seq_lens has %lld, outside [1, %zu]",
                (long long)count, s->most);
        rows[b] = (size_t)count;
    }
    s->rows = rows;
    return POPRT_OK;
}

/* Projects the rows of the memory to keys, for each direction. */
static poprt_status make_keys(prt_eval *c, attention *s, size_t directions, size_t batch)
{
    const double *weights = prt_eval_reals(c, c->in[IN_KEYS]);
    size_t each, all;
    if (!prt_size_mul(s->most, s->size, &each) || !prt_size_mul(each, directions, &all) ||
        !prt_size_mul(all, batch, &all))
        return prt_eval_fail(c, POPRT_E_LIMIT, "the memory is too large");
    double *keys = prt_eval_scratch(c, all, sizeof(double));
    if (weights == NULL || keys == NULL)
        return POPRT_E_NOMEM;
    for (size_t d = 0; d < directions; d++)
        for (size_t r = 0; r < batch * s->most; r++)
            multiply(s->depth, s->size, s->memory + r * s->depth, weights + d * s->depth * s->size,
                keys + (d * batch * s->most + r) * s->size);
    s->keys = keys;
    return POPRT_OK;
}

static poprt_status begin(prt_eval *c, const attrs *a, attention *s, prt_tensor *x)
{
    const prt_tensor *memory = c->in[IN_MEMORY], *from = c->in[IN_X];
    const size_t directions = (size_t)c->in[IN_W]->dims[0], batch = (size_t)from->dims[1];
    const size_t hidden = (size_t)c->in[IN_R]->dims[2], steps = (size_t)from->dims[0];
    const int64_t dims[3] = { from->dims[0], from->dims[1], c->in[IN_W]->dims[2] };
    *s = (attention){ .input = (size_t)from->dims[2],
        .size = (size_t)c->in[IN_QUERY]->dims[2],
        .most = (size_t)memory->dims[1],
        .depth = (size_t)memory->dims[2],
        .input_forget = a->input_forget != 0 };
    s->seen = (size_t)dims[2] - s->input;
    PRT_TRY(read_rows(c, s, batch));
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, 3, dims, x));
    s->query = prt_eval_reals(c, c->in[IN_QUERY]);
    s->v = prt_eval_reals(c, c->in[IN_V]);
    s->memory = prt_eval_reals(c, memory);
    s->x = prt_eval_scratch(c, (size_t)dims[2] + 1, sizeof(double));
    s->asked = prt_eval_scratch(c, s->size + s->most + 1, sizeof(double));
    s->joined = prt_eval_scratch(c, hidden + s->depth + 1, sizeof(double));
    if (s->query == NULL || s->v == NULL || s->memory == NULL || s->x == NULL || s->asked == NULL ||
        s->joined == NULL)
        return POPRT_E_NOMEM;
    s->weight = s->asked + s->size;
    if (prt_eval_has(c, IN_LAYER) && (s->layer = prt_eval_reals(c, c->in[IN_LAYER])) == NULL)
        return POPRT_E_NOMEM;
    for (size_t r = 0; r < steps * batch; r++)
        prt_reals_load(from->dtype, from->data, r * s->input, 1, s->input,
            (double *)x->data + r * (size_t)dims[2]);
    return make_keys(c, s, directions, batch);
}

static poprt_status eval(prt_eval *c)
{
    const attrs *a = c->attrs;
    const prt_rnn_params params = { .gates = 4,
        .functions = 3,
        .usual = { "Sigmoid", "Tanh", "Tanh" },
        .direction = a->direction,
        .activations = a->activations,
        .alpha = a->activation_alpha,
        .beta = a->activation_beta,
        .hidden_size = a->hidden_size,
        .clip = (double)a->clip };
    const prt_tensor *in[LSTM_INPUTS];
    attention s;
    prt_tensor x;
    PRT_TRY(begin(c, a, &s, &x));
    for (uint32_t i = 0; i < LSTM_INPUTS; i++)
        in[i] = prt_eval_has(c, i) ? c->in[i] : NULL;
    in[IN_X] = &x;
    prt_eval sub = *c;
    sub.in = in;
    sub.n_in = LSTM_INPUTS;
    return prt_rnn_run(&sub, &params, IN_C, IN_P, cell, &s);
}

const prt_op_hooks prt_op_ms_attn_lstm = { .infer = infer, .eval = eval };
