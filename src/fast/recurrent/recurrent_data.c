/* SPDX-License-Identifier: MIT */
/* recurrent_data.c — operands, states and scratch of a recurrent operator. */
#include "fast/recurrent/recurrent.h"

#include <math.h>

#include "fast/parallel.h"

enum {
    MAX_ROWS = 240, /* rows of X in one product with W */
    PACK_USES = 8,  /* uses of R, from which on packing it pays */
    MIN_ENTRIES = 8 /* entries of a piece, at least */
};

static bool act_of(const prt_activation *f, prt_act *to)
{
    static const struct {
        const char *name;
        int kind;
    } known[] = { { "sigmoid", PRT_ACT_sigmoid }, { "tanh", PRT_ACT_tanh },
        { "relu", PRT_ACT_relu }, { "leakyrelu", PRT_ACT_leaky_relu },
        { "hardsigmoid", PRT_ACT_hard_sigmoid } };
    const char *name = prt_activation_name(f);
    for (size_t i = 0; i < PRT_COUNT_OF(known); i++)
        if (strcmp(name, known[i].name) == 0) {
            *to = (prt_act){ known[i].kind, (float)f->alpha, (float)f->beta };
            return true;
        }
    return false;
}

static const float *data_of(const prt_eval *c, uint32_t i)
{
    return i != UINT32_MAX && prt_eval_has(c, i) ? c->in[i]->data : NULL;
}

/* Returns whether the present inputs are float32 and no dim is 0. */
static bool is_supported(const prt_eval *c, const prt_recurrent *n)
{
    const bool floats = n->prepare == NULL;
    for (uint32_t i = 0; i < c->n_in; i++)
        if ((floats ? i != 4 : i == 3 || (i > 4 && i < 8)) && prt_eval_has(c, i) &&
            !prt_fast_has(c, i))
            return false;
    return prt_fast_has(c, 0) && (!floats || (prt_fast_has(c, 1) && prt_fast_has(c, 2))) &&
        n->seq != 0 && n->batch != 0 && n->input != 0 && n->hidden != 0;
}

static bool read_acts(prt_recurrent *n)
{
    for (size_t d = 0; d < n->directions; d++) {
        prt_activation f[PRT_RNN_MAX_FUNCTIONS];
        prt_cell_acts *acts = &n->side[d].acts;
        prt_rnn_functions(&n->form, d, f);
        acts->clip = n->form.clip > 0.0 ? (float)n->form.clip : INFINITY;
        for (size_t i = 0; i < n->form.functions; i++)
            if (!act_of(&f[i], &acts->act[i]))
                return false;
    }
    return true;
}

static poprt_status read_bias(prt_recurrent *n, size_t d)
{
    prt_recurrent_direction *side = &n->side[d];
    const float *b = data_of(n->eval, 3);
    if (b == NULL)
        return POPRT_OK;
    side->bias = prt_parallel_zeroed_floats(n->eval, 1, n->rows);
    if (side->bias == NULL)
        return POPRT_E_NOMEM;
    b += d * 2 * n->rows;
    const size_t both = n->linear_before_reset ? n->rows - n->hidden : n->rows;
    n->kern->rows.binary(PRT_BINARY_add, both, b, 1, b + n->rows, 1, side->bias);
    memcpy(side->bias + both, b + both, (n->rows - both) * sizeof(float));
    side->recurrent_bias = n->linear_before_reset ? b + n->rows + both : NULL;
    return POPRT_OK;
}

/* Returns the offset of an entry's state in inputs and outputs. */
static size_t state_at(const prt_recurrent *n, size_t d, size_t b)
{
    const size_t row = n->form.layout != 0 ? b * n->directions + d : d * n->batch + b;
    return row * n->hidden;
}

static poprt_status read_state(const prt_recurrent *n, size_t d, uint32_t in, float **to)
{
    const float *from = data_of(n->eval, in);
    *to = prt_parallel_zeroed_floats(n->eval, n->batch, n->hidden);
    if (*to == NULL)
        return POPRT_E_NOMEM;
    for (size_t b = 0; from != NULL && b < n->batch; b++)
        memcpy(*to + b * n->hidden, from + state_at(n, d, b), n->hidden * sizeof(float));
    return POPRT_OK;
}

static void write_state(const prt_recurrent *n, size_t d, uint32_t out, const float *from)
{
    if (!prt_eval_wants(n->eval, out))
        return;
    float *to = n->eval->out[out]->data;
    for (size_t b = 0; b < n->batch; b++)
        memcpy(to + state_at(n, d, b), from + b * n->hidden, n->hidden * sizeof(float));
}

static poprt_status read_lengths(prt_recurrent *n)
{
    if (!prt_eval_has(n->eval, 4))
        return POPRT_OK;
    size_t *lengths = prt_eval_scratch(n->eval, n->batch, sizeof(size_t));
    if (lengths == NULL)
        return POPRT_E_NOMEM;
    for (size_t b = 0; b < n->batch; b++)
        PRT_TRY(prt_rnn_length(n->eval, n->seq, b, &lengths[b]));
    n->lengths = lengths;
    return POPRT_OK;
}

static poprt_status read_weights(prt_recurrent *n, size_t d)
{
    prt_recurrent_direction *side = &n->side[d];
    const float *w = data_of(n->eval, 1), *r = data_of(n->eval, 2);
    const size_t linear_before_reset = n->separate_rows * n->hidden;
    side->part[0].rows = n->rows - linear_before_reset;
    side->part[1].rows = linear_before_reset;
    if (n->prepare != NULL)
        return POPRT_OK;
    if (n->ready != NULL) {
        side->w = w + d * (n->ready->w / n->directions);
        side->part[0].panels = r + d * (n->ready->r / n->directions);
        side->part[1].panels =
            side->part[0].panels + n->hidden * prt_gemm_width(side->part[0].rows);
        return POPRT_OK;
    }
    side->w = w + d * n->rows * n->input;
    side->part[0].r = r + d * n->rows * n->hidden;
    side->part[1].r = side->part[0].r + side->part[0].rows * n->hidden;
    for (size_t i = 0; i < n->parts && n->seq * n->batch >= PACK_USES; i++) {
        prt_recurrent_part *part = &side->part[i];
        part->packed =
            prt_parallel_uninitialized_floats(n->eval, n->hidden, prt_gemm_width(part->rows));
        if (part->packed == NULL)
            return POPRT_E_NOMEM;
        part->panels = part->packed;
    }
    return POPRT_OK;
}

static poprt_status read_side(prt_recurrent *n, size_t d)
{
    prt_recurrent_direction *side = &n->side[d];
    const float *p = data_of(n->eval, n->peepholes);
    side->peepholes = p != NULL ? p + d * 3 * n->hidden : NULL;
    side->backward = prt_rnn_backward(&n->form, d);
    PRT_TRY(read_weights(n, d));
    size_t most;
    if (!prt_size_mul(n->most, n->batch, &most))
        return prt_fail_nomem(SIZE_MAX);
    side->gates = prt_parallel_uninitialized_floats(n->eval, most, n->rows);
    if (side->gates == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(read_bias(n, d));
    PRT_TRY(read_state(n, d, 5, &side->h));
    return n->initial_c != UINT32_MAX ? read_state(n, d, n->initial_c, &side->c) : POPRT_OK;
}

poprt_status prt_recurrent_read(prt_recurrent *n, bool *supported)
{
    const prt_eval *c = n->eval;
    const bool batch_first = n->form.layout != 0;
    const int64_t *x = c->in[0]->dims;
    n->seq = (size_t)x[batch_first];
    n->batch = (size_t)x[!batch_first];
    n->input = (size_t)x[2];
    n->hidden =
        n->ready != NULL ? n->ready->hidden : (size_t)c->in[2]->dims[n->prepare != NULL ? 1 : 2];
    n->directions = prt_rnn_directions(&n->form);
    n->rows = n->form.gates * n->hidden;
    n->parts = n->separate_rows != 0 ? 2 : 1;
    *supported = is_supported(c, n) && read_acts(n);
    if (!*supported)
        return POPRT_OK;
    n->most = n->batch < MAX_ROWS ? MAX_ROWS / n->batch : 1;
    const size_t stretches = (n->seq + n->most - 1) / n->most;
    n->most = (n->seq + stretches - 1) / stretches;
    n->pieces = prt_parallel_pieces(n->batch, MIN_ENTRIES);
    PRT_TRY(read_lengths(n));
    for (size_t d = 0; d < n->directions; d++)
        PRT_TRY(read_side(n, d));
    return n->prepare != NULL ? n->prepare(n, supported) : POPRT_OK;
}

void prt_recurrent_write(const prt_recurrent *n)
{
    for (size_t d = 0; d < n->directions; d++) {
        write_state(n, d, 1, n->side[d].h);
        write_state(n, d, 2, n->side[d].c);
    }
}
