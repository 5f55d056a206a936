/* SPDX-License-Identifier: MIT */
/* rnn_core.c — shapes, activation functions and the time loop of recurrent operators. */
#include "op/share/rnn_core.h"

#include <math.h>

/* ---- activation functions ---- */

static double relu(double x, double a, double b)
{
    (void)a;
    (void)b;
    return x < 0.0 ? 0.0 : x;
}
static double hyperbolic(double x, double a, double b)
{
    (void)a;
    (void)b;
    return tanh(x);
}
static double sigmoid(double x, double a, double b)
{
    (void)a;
    (void)b;
    return 1.0 / (1.0 + exp(-x));
}
static double affine(double x, double a, double b)
{
    return a * x + b;
}
static double leaky_relu(double x, double a, double b)
{
    (void)b;
    return x >= 0.0 ? x : a * x;
}
static double thresholded_relu(double x, double a, double b)
{
    (void)b;
    return x >= a ? x : 0.0;
}
static double scaled_tanh(double x, double a, double b)
{
    return a * tanh(b * x);
}
static double hard_sigmoid(double x, double a, double b)
{
    const double y = a * x + b;
    return y < 0.0 ? 0.0 : y > 1.0 ? 1.0 : y;
}
static double elu(double x, double a, double b)
{
    (void)b;
    return x >= 0.0 ? x : a * expm1(x);
}
static double softsign(double x, double a, double b)
{
    (void)a;
    (void)b;
    return x / (1.0 + fabs(x));
}
static double softplus(double x, double a, double b)
{
    (void)a;
    (void)b;
    return fmax(x, 0.0) + log1p(exp(-fabs(x)));
}

/* ---- their derivatives; at a kink that of the right side, except for relu, as in PopART */

static double relu_slope(double x, double a, double b)
{
    (void)a;
    (void)b;
    return x > 0.0 ? 1.0 : 0.0;
}
static double hyperbolic_slope(double x, double a, double b)
{
    const double y = hyperbolic(x, a, b);
    return 1.0 - y * y;
}
static double sigmoid_slope(double x, double a, double b)
{
    const double y = sigmoid(x, a, b);
    return y * (1.0 - y);
}
static double affine_slope(double x, double a, double b)
{
    (void)x;
    (void)b;
    return a;
}
static double leaky_relu_slope(double x, double a, double b)
{
    (void)b;
    return x >= 0.0 ? 1.0 : a;
}
static double thresholded_relu_slope(double x, double a, double b)
{
    (void)b;
    return x >= a ? 1.0 : 0.0;
}
static double scaled_tanh_slope(double x, double a, double b)
{
    const double y = tanh(b * x);
    return a * b * (1.0 - y * y);
}
static double hard_sigmoid_slope(double x, double a, double b)
{
    const double y = a * x + b;
    return y > 0.0 && y < 1.0 ? a : 0.0;
}
static double elu_slope(double x, double a, double b)
{
    (void)b;
    return x >= 0.0 ? 1.0 : a * exp(x);
}
static double softsign_slope(double x, double a, double b)
{
    const double y = 1.0 + fabs(x);
    (void)a;
    (void)b;
    return 1.0 / (y * y);
}

/* The default factors are those of the operators of the same name, which are floats. */
static const struct {
    const char *name;
    double (*fn)(double x, double alpha, double beta);
    double (*slope)(double x, double alpha, double beta);
    bool has_alpha, has_beta;
    double alpha, beta;
} functions[] = {
    { "relu", relu, relu_slope, false, false, 0.0, 0.0 },
    { "tanh", hyperbolic, hyperbolic_slope, false, false, 0.0, 0.0 },
    { "sigmoid", sigmoid, sigmoid_slope, false, false, 0.0, 0.0 },
    { "affine", affine, affine_slope, true, true, 1.0, 0.0 },
    { "leakyrelu", leaky_relu, leaky_relu_slope, true, false, (double)0.01f, 0.0 },
    { "thresholdedrelu", thresholded_relu, thresholded_relu_slope, true, false, 1.0, 0.0 },
    { "scaledtanh", scaled_tanh, scaled_tanh_slope, true, true, 1.0, 1.0 },
    { "hardsigmoid", hard_sigmoid, hard_sigmoid_slope, true, true, (double)0.2f, 0.5 },
    { "elu", elu, elu_slope, true, false, 1.0, 0.0 },
    { "softsign", softsign, softsign_slope, false, false, 0.0, 0.0 },
    { "softplus", softplus, sigmoid, false, false, 0.0, 0.0 },
};

/* Returns the row of `functions` with this name, ignoring case; PRT_COUNT_OF(functions) if there
 * is none. */
static size_t find_function(prt_str name)
{
    size_t i = 0;
    for (; i < PRT_COUNT_OF(functions); i++) {
        const char *want = functions[i].name;
        uint32_t k = 0;
        while (k < name.size && want[k] != '\0' && (name.data[k] | 0x20) == want[k])
            k++;
        if (k == name.size && want[k] == '\0')
            break;
    }
    return i;
}

bool prt_activation_find(prt_str name, prt_activation *to)
{
    const size_t i = find_function(name);
    if (i == PRT_COUNT_OF(functions))
        return false;
    *to = (prt_activation){ .fn = functions[i].fn,
        .alpha = functions[i].alpha,
        .beta = functions[i].beta,
        .slope = functions[i].slope };
    return true;
}

const char *prt_activation_name(const prt_activation *f)
{
    size_t i = 0;
    while (functions[i].fn != f->fn)
        i++;
    return functions[i].name;
}

size_t prt_rnn_directions(const prt_rnn_params *params)
{
    return prt_str_is(params->direction, "bidirectional") ? 2 : 1;
}

bool prt_rnn_backward(const prt_rnn_params *params, size_t direction)
{
    return direction == 1 || prt_str_is(params->direction, "reverse");
}

void prt_rnn_functions(const prt_rnn_params *params, size_t direction, prt_activation *to)
{
    uint32_t alpha = 0, beta = 0;
    for (size_t i = 0; i < (direction + 1) * params->functions; i++) {
        const prt_str name = params->activations.count != 0
            ? params->activations.data[i]
            : prt_str_of(params->usual[i % params->functions]);
        const size_t row = find_function(name);
        prt_activation *f = &to[i % params->functions];
        *f = (prt_activation){ .fn = functions[row].fn,
            .alpha = functions[row].alpha,
            .beta = functions[row].beta,
            .clip = params->clip,
            .slope = functions[row].slope };
        if (functions[row].has_alpha && alpha < params->alpha.count)
            f->alpha = (double)params->alpha.data[alpha++];
        if (functions[row].has_beta && beta < params->beta.count)
            f->beta = (double)params->beta.data[beta++];
    }
}

/* ---- shapes ---- */

static poprt_status check_params(const prt_infer *c, const prt_rnn_params *params)
{
    const size_t count = prt_rnn_directions(params) * params->functions;
    if (count == params->functions && !prt_str_is(params->direction, "forward") &&
        !prt_str_is(params->direction, "reverse"))
        return prt_infer_fail(c, POPRT_E_ARG,
            "direction is \"%.*s\"; accepted: forward, reverse, bidirectional",
            PRT_STR_ARG(params->direction));
    if (params->layout != 0 && params->layout != 1)
        return prt_infer_fail(c, POPRT_E_ARG, "layout is %lld; accepted: 0, 1",
            (long long)params->layout);
    if (params->hidden_size < 0 || params->hidden_size > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "hidden_size is %lld; accepted: 0 to 2147483647",
            (long long)params->hidden_size);
    if (params->activations.count != 0 && params->activations.count != count)
        return prt_infer_fail(c, POPRT_E_ARG, "activations has %u names; %zu are required",
            params->activations.count, count);
    for (uint32_t i = 0; i < params->activations.count; i++)
        if (find_function(params->activations.data[i]) == PRT_COUNT_OF(functions))
            return prt_infer_fail(c, POPRT_E_UNSUPPORTED,
                "activation \"%.*s\" is not a known activation function",
                PRT_STR_ARG(params->activations.data[i]));
    return POPRT_OK;
}

/* Checks that input i, if present, has these dims. */
static poprt_status check_dims(const prt_infer *c, uint32_t i, int32_t rank, const int64_t *dims)
{
    int64_t merged;
    if (!prt_infer_ranked(c, i))
        return POPRT_OK;
    PRT_TRY(prt_infer_rank(c, i, rank));
    for (int32_t k = 0; k < rank; k++)
        PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, i, (uint32_t)k), dims[k],
            prt_slot_name(prt_op_in_slot(c->def, i)), &merged));
    return POPRT_OK;
}

static poprt_status check_inputs(prt_infer *c, const prt_rnn_params *params, int64_t batch,
    int64_t hidden)
{
    const int64_t dirs = (int64_t)prt_rnn_directions(params);
    const int64_t rows = prt_dim_mul(c->dims, hidden, params->gates);
    const int64_t w[3] = { dirs, rows, prt_infer_dim(c, 0, 2) }, r[3] = { dirs, rows, hidden };
    const int64_t b[2] = { dirs, prt_dim_mul(c->dims, rows, 2) };
    const int64_t p[2] = { dirs, prt_dim_mul(c->dims, hidden, 3) };
    const int64_t plain[3] = { dirs, batch, hidden }, batch_first[3] = { batch, dirs, hidden };
    PRT_TRY(prt_infer_rank(c, 0, 3));
    PRT_TRY(check_dims(c, 1, 3, w));
    PRT_TRY(check_dims(c, 2, 3, r));
    PRT_TRY(check_dims(c, 3, 2, b));
    PRT_TRY(check_dims(c, 4, 1, &batch));
    PRT_TRY(check_dims(c, 5, 3, params->layout != 0 ? batch_first : plain));
    PRT_TRY(check_dims(c, 6, 3, params->layout != 0 ? batch_first : plain));
    return check_dims(c, 7, 2, p);
}

poprt_status prt_rnn_infer(prt_infer *c, const prt_rnn_params *params)
{
    PRT_TRY(check_params(c, params));
    const bool batch_first = params->layout != 0;
    const int64_t seq = prt_infer_dim(c, 0, batch_first), batch = prt_infer_dim(c, 0, !batch_first);
    const int64_t dirs = (int64_t)prt_rnn_directions(params);
    int64_t hidden;
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 2, 2),
        params->hidden_size != 0 ? params->hidden_size : PRT_DIM_UNKNOWN, "hidden_size", &hidden));
    PRT_TRY(check_inputs(c, params, batch, hidden));
    const int64_t y[2][4] = { { seq, dirs, batch, hidden }, { batch, seq, dirs, hidden } };
    const int64_t state[2][3] = { { dirs, batch, hidden }, { batch, dirs, hidden } };
    PRT_TRY(prt_infer_exact(c, 0, c->in[0].dtype, 4, y[batch_first]));
    PRT_TRY(prt_infer_exact(c, 1, c->in[0].dtype, 3, state[batch_first]));
    return prt_infer_exact(c, 2, c->in[0].dtype, 3, state[batch_first]);
}

/* ---- evaluation ---- */

void prt_rnn_add_product(size_t rows, size_t n, const double *m, const double *x, double *y)
{
    size_t i = 0;
    for (; i + 4 <= rows; i += 4, m += 4 * n) {
        double s0 = y[i], s1 = y[i + 1], s2 = y[i + 2], s3 = y[i + 3];
        for (size_t k = 0; k < n; k++) {
            s0 += m[k] * x[k];
            s1 += m[n + k] * x[k];
            s2 += m[2 * n + k] * x[k];
            s3 += m[3 * n + k] * x[k];
        }
        y[i] = s0;
        y[i + 1] = s1;
        y[i + 2] = s2;
        y[i + 3] = s3;
    }
    for (; i < rows; i++, m += n)
        for (size_t k = 0; k < n; k++)
            y[i] += m[k] * x[k];
}

/* Reads all elements of an input as doubles. NULL and true if the input is absent. */
static bool reals_of(prt_eval *c, uint32_t i, const double **to)
{
    *to = NULL;
    if (i == UINT32_MAX || !prt_eval_has(c, i))
        return true;
    *to = prt_eval_reals(c, c->in[i]);
    return *to != NULL;
}

typedef struct operands {
    const double *x, *w, *r, *b, *h, *c, *p;
} operands;

/* Returns the element index of the state of one batch entry, in an initial value or an output. */
static size_t state_at(const prt_rnn *n, size_t direction, size_t b)
{
    const size_t row =
        n->params->layout != 0 ? b * n->directions + direction : direction * n->batch + b;
    return row * n->hidden;
}

static void write_state(const prt_eval *c, uint32_t out, const prt_rnn *n, size_t direction,
    size_t b, const double *state)
{
    if (prt_eval_wants(c, out))
        prt_reals_store(c->out[out]->dtype, c->out[out]->data, state_at(n, direction, b), 1,
            n->hidden, state);
}

static void run_entry(prt_eval *c, prt_rnn *n, const operands *o, size_t direction, size_t b,
    size_t length)
{
    const bool batch_first = n->params->layout != 0;
    const bool backward = prt_rnn_backward(n->params, direction);
    const size_t state = state_at(n, direction, b);
    n->direction = direction;
    n->entry = b;
    for (size_t i = 0; i < n->hidden; i++) {
        n->h[i] = o->h != NULL ? o->h[state + i] : 0.0;
        n->c[i] = o->c != NULL ? o->c[state + i] : 0.0;
    }
    for (size_t t = 0; t < length; t++) {
        const size_t at = backward ? length - 1 - t : t;
        n->step = t;
        n->cell(n, o->x + (batch_first ? b * n->seq + at : at * n->batch + b) * n->input);
        const size_t to = batch_first ? (b * n->seq + at) * n->directions + direction
                                      : (at * n->directions + direction) * n->batch + b;
        if (prt_eval_wants(c, 0))
            prt_reals_store(c->out[0]->dtype, c->out[0]->data, to * n->hidden, 1, n->hidden, n->h);
    }
    write_state(c, 1, n, direction, b, n->h);
    write_state(c, 2, n, direction, b, n->c);
}

poprt_status prt_rnn_length(const prt_eval *c, size_t seq, size_t b, size_t *length)
{
    *length = seq;
    if (!prt_eval_has(c, 4))
        return POPRT_OK;
    const int64_t given = prt_load_i64(c->in[4]->dtype, c->in[4]->data, b);
    if (given < 0 || (size_t)given > seq)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "sequence_lens contains %lld, which is outside [0, %zu]", (long long)given, seq);
    *length = (size_t)given;
    return POPRT_OK;
}

static void choose_direction(prt_rnn *n, const operands *o, size_t direction)
{
    n->w = o->w + direction * n->rows * n->input;
    n->r = o->r + direction * n->rows * n->hidden;
    n->wb = o->b != NULL ? o->b + direction * 2 * n->rows : NULL;
    n->rb = o->b != NULL ? n->wb + n->rows : NULL;
    n->p = o->p != NULL ? o->p + direction * 3 * n->hidden : NULL;
    prt_rnn_functions(n->params, direction, n->f);
}

poprt_status prt_rnn_run(prt_eval *c, const prt_rnn_params *params, uint32_t initial_c,
    uint32_t peephole, void (*cell)(const prt_rnn *n, const double *x), const void *user)
{
    const prt_tensor *x = c->in[0];
    const bool batch_first = params->layout != 0;
    prt_rnn n = { .params = params,
        .seq = (size_t)x->dims[batch_first],
        .batch = (size_t)x->dims[!batch_first],
        .input = (size_t)x->dims[2],
        .hidden = (size_t)c->in[2]->dims[2],
        .directions = prt_rnn_directions(params),
        .cell = cell,
        .user = user };
    operands o;
    n.rows = params->gates * n.hidden;
    n.gate = prt_eval_scratch(c, n.rows, sizeof(double));
    n.scratch = prt_eval_scratch(c, n.rows, sizeof(double));
    n.h = prt_eval_scratch(c, n.hidden, sizeof(double));
    n.c = prt_eval_scratch(c, n.hidden, sizeof(double));
    if (n.gate == NULL || n.scratch == NULL || n.h == NULL || n.c == NULL ||
        !reals_of(c, 0, &o.x) || !reals_of(c, 1, &o.w) || !reals_of(c, 2, &o.r) ||
        !reals_of(c, 3, &o.b) || !reals_of(c, 5, &o.h) || !reals_of(c, initial_c, &o.c) ||
        !reals_of(c, peephole, &o.p))
        return POPRT_E_NOMEM;
    if (prt_eval_wants(c, 0) && c->out[0]->size != 0)
        memset(c->out[0]->data, 0, c->out[0]->size);
    for (size_t direction = 0; direction < n.directions; direction++) {
        choose_direction(&n, &o, direction);
        for (size_t b = 0; b < n.batch; b++) {
            size_t length;
            PRT_TRY(c->host->check(c));
            PRT_TRY(prt_rnn_length(c, n.seq, b, &length));
            run_entry(c, &n, &o, direction, b, length);
        }
    }
    return POPRT_OK;
}
