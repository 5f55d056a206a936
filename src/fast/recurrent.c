/* SPDX-License-Identifier: MIT */
/* recurrent.c — operands of a recurrent operator, and its walk over time. */
#include "fast/recurrent.h"

#include <math.h>

#include "fast/product.h"
#include "fast/share.h"

enum {
    STRETCH_ROWS = 240, /* rows of X in one product with W */
    FEW_ROWS = 4,       /* packing W pays from here on */
    FEW_USES = 8,       /* packing R pays from here on */
    FEW_ENTRIES = 8     /* that are worth a thread's while */
};

/* ---- operands ---- */

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

/* The tensors that are there are float32, and none of the dims is 0. */
static bool is_ours(const prt_eval *c, const prt_recurrent *n)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        if (i != 4 && prt_eval_has(c, i) && !prt_fast_has(c, i))
            return false;
    return prt_fast_has(c, 0) && prt_fast_has(c, 1) && prt_fast_has(c, 2) && n->seq != 0 &&
        n->batch != 0 && n->input != 0 && n->hidden != 0;
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
    prt_recurrent_side *side = &n->side[d];
    const float *b = data_of(n->eval, 3);
    if (b == NULL)
        return POPRT_OK;
    side->bias = prt_share_floats(n->eval, 1, n->rows);
    if (side->bias == NULL)
        return POPRT_E_NOMEM;
    b += d * 2 * n->rows;
    const size_t both = n->late ? n->rows - n->hidden : n->rows;
    n->kern->rows.two(PRT_TWO_add, both, b, 1, b + n->rows, 1, side->bias);
    memcpy(side->bias + both, b + both, (n->rows - both) * sizeof(float));
    side->late = n->late ? b + n->rows + both : NULL;
    return POPRT_OK;
}

/* Where an entry's state is in inputs and outputs. */
static size_t state_at(const prt_recurrent *n, size_t d, size_t b)
{
    const size_t row = n->form.layout != 0 ? b * n->directions + d : d * n->batch + b;
    return row * n->hidden;
}

static poprt_status read_state(const prt_recurrent *n, size_t d, uint32_t in, float **to)
{
    const float *from = data_of(n->eval, in);
    *to = prt_share_floats(n->eval, n->batch, n->hidden);
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

static poprt_status read_side(prt_recurrent *n, size_t d)
{
    prt_recurrent_side *side = &n->side[d];
    const float *p = data_of(n->eval, n->peepholes), *r = data_of(n->eval, 2);
    const size_t late = n->late_rows * n->hidden;
    side->w = data_of(n->eval, 1) + d * n->rows * n->input;
    side->peepholes = p != NULL ? p + d * 3 * n->hidden : NULL;
    side->backward = prt_rnn_backward(&n->form, d);
    side->part[0] = (prt_recurrent_part){ .rows = n->rows - late,
        .r = r + d * n->rows * n->hidden };
    side->part[1] = (prt_recurrent_part){ .rows = late,
        .r = side->part[0].r + side->part[0].rows * n->hidden };
    for (size_t i = 0; i < n->parts && n->seq * n->batch >= FEW_USES; i++) {
        prt_recurrent_part *part = &side->part[i];
        part->packed = prt_share_floats(n->eval, n->hidden, prt_gemm_width(part->rows));
        if (part->packed == NULL)
            return POPRT_E_NOMEM;
    }
    size_t most;
    if (!prt_size_mul(n->most, n->batch, &most))
        return prt_fail_nomem(SIZE_MAX);
    side->gates = prt_share_floats(n->eval, most, n->rows);
    if (side->gates == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(read_bias(n, d));
    PRT_TRY(read_state(n, d, 5, &side->h));
    return read_state(n, d, n->initial_c, &side->c);
}

/* ---- R ---- */

static size_t panels_of(const prt_recurrent_part *p)
{
    return (p->rows + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
}

/* An item is a panel of one part of one direction. */
static void pack_panel(const void *user, size_t item, float *scratch)
{
    const prt_recurrent *n = user;
    const prt_recurrent_part *part = n->side[item % n->directions].part;
    size_t first = item / n->directions * PRT_GEMM_PANEL;
    (void)scratch;
    const size_t panels = panels_of(part);
    if (first >= panels * PRT_GEMM_PANEL) {
        first -= panels * PRT_GEMM_PANEL;
        part++;
    }
    const size_t left = part->rows - first;
    prt_gemm_pack(n->hidden, left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL,
        part->r + first * n->hidden, 1, n->hidden, part->packed + first * n->hidden);
}

static poprt_status pack(const prt_recurrent *n)
{
    size_t panels = 0;
    if (n->side[0].part[0].packed == NULL)
        return POPRT_OK;
    for (size_t i = 0; i < n->parts; i++)
        panels += panels_of(&n->side[0].part[i]);
    return prt_share_run(n->eval, n->directions * panels, 0, pack_panel, n);
}

/* Every other step goes through the panels backwards: where they just fill a cache level, a step
 * begins with what the one before has left there. */
static void multiply_panels(const prt_recurrent *n, const prt_recurrent_step *s,
    const prt_recurrent_part *p, const float *x, bool add, float *y, size_t stride)
{
    const size_t panels = panels_of(p);
    for (size_t i = 0; i < panels; i++) {
        const size_t first = (s->at % 2 == 0 ? i : panels - 1 - i) * PRT_GEMM_PANEL;
        const size_t left = p->rows - first;
        const size_t columns = left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL;
        const prt_gemm_block g = { .rows = s->count, .columns = columns, .k = n->hidden, .a = x,
            .lda = n->hidden, .b = p->packed + first * n->hidden,
            .stride = prt_gemm_width(columns), .c = y + first, .ldc = stride, .add = add };
        n->kern->gemm(&g);
    }
}

void prt_recurrent_product(const prt_recurrent *n, const prt_recurrent_step *s, size_t part,
    const float *x, bool add, float *y, size_t stride)
{
    const prt_recurrent_part *p = &s->side->part[part];
    const size_t hidden = n->hidden;
    if (p->packed != NULL) {
        multiply_panels(n, s, p, x, add, y, stride);
        return;
    }
    for (size_t i = 0; i < s->count; i++, x += hidden, y += stride) {
        n->kern->rows.dots(hidden, p->rows, x, p->r, hidden, add ? s->sums : y);
        if (add)
            n->kern->rows.two(PRT_TWO_add, p->rows, y, 1, s->sums, 1, y);
    }
}

/* ---- W ---- */

static void pack_w(const prt_product_spec *p, size_t batch, size_t first, size_t columns, size_t k,
    size_t depth, float *to)
{
    const float *w = p->user;
    (void)batch;
    prt_gemm_pack(depth, columns, w + first * p->k + k, 1, p->k, to);
}

/* The gates of the stretch at hand, as far as they hang on X. */
static poprt_status multiply_w(const prt_recurrent *n, const prt_recurrent_side *side)
{
    const bool turned = n->form.layout != 0;
    const size_t steps = n->steps, step = (turned ? 1 : n->batch) * n->input;
    const float *x = (const float *)n->eval->in[0]->data + side->first * step;
    prt_product_spec p = { .batches = 1, .m = steps * n->batch, .n = n->rows, .k = n->input,
        .a = x, .lda = n->input, .c = side->gates, .ldc = n->rows, .end = { .bias = side->bias },
        .pack = pack_w, .user = side->w };
    if (!turned)
        return prt_product_fast(n->eval, n->kern, &p);
    /* Rows of X that follow each other are those of an entry, or of a step. */
    const bool by_step = steps < n->batch;
    const size_t products = by_step ? steps : n->batch;
    p.m = by_step ? n->batch : steps;
    p.lda = by_step ? n->seq * n->input : n->input;
    p.ldc = by_step ? n->rows : n->batch * n->rows;
    for (size_t i = 0; i < products; i++) {
        p.a = x + i * (by_step ? 1 : n->seq) * n->input;
        p.c = side->gates + i * (by_step ? n->batch : 1) * n->rows;
        PRT_TRY(prt_product_fast(n->eval, n->kern, &p));
    }
    return POPRT_OK;
}

/* The same for the entries of a step: few rows in all, and W as it is. */
static void multiply_entries(const prt_recurrent *n, const prt_recurrent_step *s)
{
    const bool turned = n->form.layout != 0;
    const float *x = n->eval->in[0]->data, *bias = s->side->bias;
    float *y = s->gates;
    for (size_t b = s->entry; b < s->entry + s->count; b++, y += n->rows) {
        const size_t row = turned ? b * n->seq + s->at : s->at * n->batch + b;
        n->kern->rows.dots(n->input, n->rows, x + row * n->input, s->side->w, n->input, y);
        if (bias != NULL)
            n->kern->rows.two(PRT_TWO_add, n->rows, y, 1, bias, 1, y);
    }
}

/* ---- time ---- */

static void write_step(const prt_recurrent *n, const prt_recurrent_step *s, size_t d)
{
    const bool turned = n->form.layout != 0;
    if (!prt_eval_wants(n->eval, 0))
        return;
    float *y = n->eval->out[0]->data;
    for (size_t b = s->entry; b < s->entry + s->count; b++) {
        const size_t row = turned ? (b * n->seq + s->at) * n->directions + d
                                  : (s->at * n->directions + d) * n->batch + b;
        if (prt_recurrent_active(n, s, b))
            memcpy(y + row * n->hidden, s->side->h + b * n->hidden, n->hidden * sizeof(float));
    }
}

/* An item is some entries in one direction, through the stretch at hand. */
static void run_item(const void *user, size_t item, float *scratch)
{
    const prt_recurrent *n = user;
    const size_t d = item % n->directions, piece = item / n->directions;
    const prt_recurrent_side *side = &n->side[d];
    prt_recurrent_step s = { .side = side, .sums = scratch, .spare = scratch + n->rows,
        .entry = prt_share_cut(n->batch, n->pieces, piece) };
    s.count = prt_share_cut(n->batch, n->pieces, piece + 1) - s.entry;
    for (size_t i = 0; i < n->steps; i++) {
        const size_t t = side->backward ? n->steps - 1 - i : i;
        if (n->eval->host->check(n->eval) != POPRT_OK)
            return;
        s.at = side->first + t;
        s.gates = side->gates + (t * n->batch + s.entry) * n->rows;
        if (n->steps * n->batch < FEW_ROWS)
            multiply_entries(n, &s);
        n->step(n, &s);
        write_step(n, &s, d);
    }
}

static poprt_status run_time(prt_recurrent *n)
{
    const size_t largest = (n->batch + n->pieces - 1) / n->pieces;
    size_t floats;
    if (!prt_size_mul(largest, n->hidden, &floats) || !prt_size_add(floats, n->rows, &floats))
        return prt_fail_nomem(SIZE_MAX);
    for (size_t from = 0; from < n->seq; from += n->steps) {
        n->steps = n->seq - from < n->most ? n->seq - from : n->most;
        for (size_t d = 0; d < n->directions; d++) {
            prt_recurrent_side *side = &n->side[d];
            side->first = side->backward ? n->seq - from - n->steps : from;
            if (n->steps * n->batch >= FEW_ROWS)
                PRT_TRY(multiply_w(n, side));
        }
        PRT_TRY(prt_share_run(n->eval, n->directions * n->pieces, floats, run_item, n));
        PRT_TRY(n->eval->host->check(n->eval)); /* an item may have been left for it */
    }
    return POPRT_OK;
}

poprt_status prt_recurrent_run(prt_recurrent *n, prt_eval *c, const prt_kern *k, bool *done)
{
    const bool turned = n->form.layout != 0;
    const int64_t *x = c->in[0]->dims;
    n->eval = c;
    n->kern = k;
    n->seq = (size_t)x[turned];
    n->batch = (size_t)x[!turned];
    n->input = (size_t)x[2];
    n->hidden = (size_t)c->in[2]->dims[2];
    n->directions = prt_rnn_directions(&n->form);
    n->rows = n->form.gates * n->hidden;
    n->parts = n->late_rows != 0 ? 2 : 1;
    if (!is_ours(c, n) || !read_acts(n))
        return prt_fast_pass(done);
    n->most = n->batch < STRETCH_ROWS ? STRETCH_ROWS / n->batch : 1;
    const size_t stretches = (n->seq + n->most - 1) / n->most;
    n->most = (n->seq + stretches - 1) / stretches;
    n->pieces = prt_share_pieces(n->batch, FEW_ENTRIES);
    PRT_TRY(read_lengths(n));
    for (size_t d = 0; d < n->directions; d++)
        PRT_TRY(read_side(n, d));
    PRT_TRY(pack(n));
    if (n->lengths != NULL && prt_eval_wants(c, 0))
        memset(c->out[0]->data, 0, c->out[0]->size);
    PRT_TRY(run_time(n));
    for (size_t d = 0; d < n->directions; d++) {
        write_state(n, d, 1, n->side[d].h);
        write_state(n, d, 2, n->side[d].c);
    }
    return POPRT_OK;
}
