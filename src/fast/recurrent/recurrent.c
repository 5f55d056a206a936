/* SPDX-License-Identifier: MIT */
/*
 * recurrent.c — RNN, GRU and LSTM: one GEMM of W for a stretch of time steps, then the loop over
 * time with a GEMV (or a GEMM of few rows) of R in each step. R's panels stay in L2 if they fit.
 */
#include "fast/recurrent/recurrent.h"

#include "fast/gemm/product.h"
#include "fast/parallel.h"
#include "fast/gemm/bf16x3.h"

enum {
    PACK_ROWS = 4,  /* rows of X, from which on packing W pays */
    AHEAD = 2,      /* register tiles of gates that are computed at a time during R's products */
    LARGE = 1 << 18 /* elements of R that exceed L2 */
};

/* ---- R ---- */

static size_t panels_of(const prt_recurrent_part *p)
{
    return (p->rows + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
}

/* Packs one panel of one part of one direction. */
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
    prt_gemm_pack(n->hidden, prt_gemm_panel_columns(part->rows, first), part->r + first * n->hidden,
        1, n->hidden, part->packed + first * n->hidden);
}

static poprt_status pack(const prt_recurrent *n)
{
    size_t panels = 0;
    if (n->side[0].part[0].packed == NULL)
        return POPRT_OK;
    for (size_t i = 0; i < n->parts; i++)
        panels += panels_of(&n->side[0].part[i]);
    return prt_parallel_for(n->eval, n->directions * panels, 0, pack_panel, n);
}

/* A row times panels, shared by threads. Each thread finds its panels in its caches from the step
 * before. */
typedef struct cut_row {
    const prt_recurrent *n;
    const prt_gemm_row *g;
    size_t parts;
} cut_row;

static void run_part(const void *user, size_t item, float *scratch)
{
    const cut_row *r = user;
    prt_gemm_row g = *r->g;
    const size_t panels = (g.columns + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
    const size_t first = prt_parallel_piece_begin(panels, r->parts, item) * PRT_GEMM_PANEL;
    const size_t end = prt_parallel_piece_begin(panels, r->parts, item + 1) * PRT_GEMM_PANEL;
    (void)scratch;
    g.columns = (end < g.columns ? end : g.columns) - first;
    g.b += first * g.k;
    g.y += first;
    g.add = g.add != NULL ? g.add + first : NULL;
    r->n->kern->gemm_row(&g);
}

/* Multiplies rows of X or of states by all panels; `add` as in prt_gemm_row. Every other step walks
 * through the panels backwards: if they just fill a cache level, a step begins with the panels that
 * the step before has left there. */
static void multiply_panels(const prt_recurrent *n, const prt_recurrent_step *s, size_t rows,
    prt_gemm_row g, size_t ldx, size_t ldy)
{
    const float *b = g.b;
    if (rows == 1) {
        const size_t panels = (g.columns + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
        const cut_row r = { n, &g, n->threads < panels ? n->threads : panels };
        g.back = s->at % 2 != 0;
        g.overlap = s->overlap;
        g.from_memory = n->kern->gemv_overlap_rows == 0 && g.k != 0 && g.columns >= LARGE / g.k;
        if (n->threads < 2)
            n->kern->gemm_row(&g);
        else /* on failure the loop over time ends as well */
            (void)prt_parallel_for(n->eval, r.parts, 0, run_part, &r);
        return;
    }
    for (size_t first = 0; first < g.columns; first += PRT_GEMM_PANEL) {
        const size_t columns = prt_gemm_panel_columns(g.columns, first);
        const prt_gemm_end end = { .bias = g.add != NULL ? g.add + first : NULL };
        const bool add = g.add == g.y;
        const prt_gemm_block block = { .rows = rows,
            .columns = columns,
            .k = g.k,
            .a = g.x,
            .lda = ldx,
            .b = b + first * g.k,
            .stride = prt_gemm_width(columns),
            .c = g.y + first,
            .ldc = ldy,
            .add = add,
            .end = add ? NULL : &end };
        n->kern->gemm(&block);
    }
}

void prt_recurrent_product(const prt_recurrent *n, const prt_recurrent_step *s, size_t part,
    const float *x, bool add, float *y, size_t stride)
{
    const prt_recurrent_part *p = &s->side->part[part];
    const size_t hidden = n->hidden;
    if (p->panels != NULL) {
        const prt_gemm_row g = { .k = hidden,
            .columns = p->rows,
            .x = x,
            .b = p->panels,
            .add = add ? y : NULL,
            .y = y };
        multiply_panels(n, s, s->count, g, hidden, stride);
        return;
    }
    for (size_t i = 0; i < s->count; i++, x += hidden, y += stride) {
        n->kern->rows.dots(hidden, p->rows, x, p->r, hidden, NULL, add ? s->sums : y);
        if (add)
            n->kern->rows.binary(PRT_BINARY_add, p->rows, y, 1, s->sums, 1, y);
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

static const float *w_panel(const prt_product_spec *p, size_t batch, size_t first, size_t k,
    size_t *stride)
{
    const float *w = p->user;
    (void)batch;
    *stride = prt_gemm_panel_width(p->n, first);
    return w + first * p->k + k * *stride;
}

/* Computes the gates of the stretch that depend on X, for its early steps. */
static poprt_status multiply_w(const prt_recurrent *n, const prt_recurrent_direction *side)
{
    const bool batch_first = n->form.layout != 0;
    const size_t steps = n->early, step = (batch_first ? 1 : n->batch) * n->input;
    const size_t from = side->backward ? n->steps - steps : 0;
    const float *x = (const float *)n->eval->in[0]->data + (side->first + from) * step;
    float *gates = side->gates + from * n->batch * n->rows;
    prt_product_spec p = { .batches = 1,
        .m = steps * n->batch,
        .n = n->rows,
        .k = n->input,
        .a = x,
        .lda = n->input,
        .c = gates,
        .ldc = n->rows,
        .end = { .bias = side->bias },
        .pack = pack_w,
        .direct = n->ready != NULL ? w_panel : NULL,
        .padded = n->ready != NULL,
        .user = side->w };
    if (!batch_first)
        return prt_product_fast(n->eval, n->kern, &p);
    /* Consecutive rows of X belong to one entry, or to one step. */
    const bool by_step = steps < n->batch;
    const size_t products = by_step ? steps : n->batch;
    p.m = by_step ? n->batch : steps;
    p.lda = by_step ? n->seq * n->input : n->input;
    p.ldc = by_step ? n->rows : n->batch * n->rows;
    for (size_t i = 0; i < products; i++) {
        p.a = x + i * (by_step ? 1 : n->seq) * n->input;
        p.c = gates + i * (by_step ? n->batch : 1) * n->rows;
        PRT_TRY(prt_product_fast(n->eval, n->kern, &p));
    }
    return POPRT_OK;
}

/* Computes the same for the entries of one step, if there are few rows in all. */
static void multiply_entries(const prt_recurrent *n, const prt_recurrent_step *s)
{
    const bool batch_first = n->form.layout != 0;
    const float *x = n->eval->in[0]->data, *bias = s->side->bias;
    float *y = s->gates;
    if (n->ready != NULL) {
        const size_t row = batch_first ? s->entry * n->seq + s->at : s->at * n->batch + s->entry;
        const prt_gemm_row g = { .k = n->input,
            .columns = n->rows,
            .x = x + row * n->input,
            .b = s->side->w,
            .add = bias,
            .y = y };
        multiply_panels(n, s, s->count, g, (batch_first ? n->seq : 1) * n->input, n->rows);
        return;
    }
    for (size_t b = s->entry; b < s->entry + s->count; b++, y += n->rows) {
        const size_t row = batch_first ? b * n->seq + s->at : s->at * n->batch + b;
        n->kern->rows.dots(n->input, n->rows, x + row * n->input, s->side->w, n->input, NULL, y);
        if (bias != NULL)
            n->kern->rows.binary(PRT_BINARY_add, n->rows, y, 1, bias, 1, y);
    }
}

/* ---- time ---- */

static void write_step(const prt_recurrent *n, const prt_recurrent_step *s, size_t d)
{
    const bool batch_first = n->form.layout != 0;
    if (!prt_eval_wants(n->eval, 0))
        return;
    float *y = n->eval->out[0]->data;
    for (size_t b = s->entry; b < s->entry + s->count; b++) {
        const size_t row = batch_first ? (b * n->seq + s->at) * n->directions + d
                                       : (s->at * n->directions + d) * n->batch + b;
        if (prt_recurrent_active(n, s, b))
            memcpy(y + row * n->hidden, s->side->h + b * n->hidden, n->hidden * sizeof(float));
    }
}

/* Sets the number of steps whose gates are computed before the loop over time. It is all steps,
 * unless R comes from a cache for a single row and bf16x3 is not faster. The gates of the other
 * steps are then computed during R's products (gemv_overlap): `n->ahead` steps at a time, during as
 * many steps. */
static void find_early(prt_recurrent *n)
{
    bool fits = n->kern->gemv_overlap_rows != 0 && n->batch == 1 && n->ready != NULL &&
        n->threads < 2 && n->lengths == NULL && n->hidden != 0 &&
        n->rows <= PRT_GEMM_CACHED / n->hidden &&
        !prt_bf16x3_pays(n->eval, n->kern, n->steps, n->rows, n->input);
    for (size_t i = 0; i < n->parts; i++)
        fits = fits && n->side[0].part[i].rows % PRT_GEMM_PANEL == 0;
    n->ahead = fits ? AHEAD * n->kern->gemv_overlap_rows : 0;
    n->early = fits && n->steps > 2 * n->ahead ? n->ahead + n->steps % n->ahead : n->steps;
}

/* If step i begins a group of steps, sets the gates of the next group to be computed during it. */
static void begin_group(const prt_recurrent *n, prt_recurrent_step *s, size_t i,
    prt_gemv_overlap *next)
{
    const prt_recurrent_direction *side = s->side;
    const size_t first = i == 0 ? n->early : i + n->ahead;
    if (n->early == n->steps || (i != 0 && (i < n->early || (i - n->early) % n->ahead != 0)))
        return;
    s->overlap = first < n->steps ? next : NULL;
    if (s->overlap == NULL)
        return;
    const size_t t = side->backward ? n->steps - first - n->ahead : first;
    *next = (prt_gemv_overlap){ .rows = n->ahead,
        .columns = n->rows,
        .k = n->input,
        .a = (const float *)n->eval->in[0]->data + (side->first + t) * n->input,
        .lda = n->input,
        .b = side->w,
        .bias = side->bias,
        .c = side->gates + t * n->rows,
        .ldc = n->rows };
}

/* Runs some entries of one direction through the current stretch. */
static void run_item(const void *user, size_t item, float *scratch)
{
    const prt_recurrent *n = user;
    const size_t d = item % n->directions, piece = item / n->directions;
    const prt_recurrent_direction *side = &n->side[d];
    prt_recurrent_step s = { .side = side,
        .sums = scratch,
        .extra = scratch + n->rows,
        .hidden_scratch = scratch + n->rows + n->extra,
        .entry = prt_parallel_piece_begin(n->batch, n->pieces, piece) };
    prt_gemv_overlap next;
    s.count = prt_parallel_piece_begin(n->batch, n->pieces, piece + 1) - s.entry;
    for (size_t i = 0; i < n->steps; i++) {
        const size_t t = side->backward ? n->steps - 1 - i : i;
        if (n->eval->host->check(n->eval) != POPRT_OK)
            return;
        begin_group(n, &s, i, &next);
        s.at = side->first + t;
        s.gates = side->gates + (t * n->batch + s.entry) * n->rows;
        if (n->multiply == NULL && n->steps * n->batch < PACK_ROWS)
            multiply_entries(n, &s);
        n->step(n, &s);
        write_step(n, &s, d);
    }
}

static poprt_status run_time(prt_recurrent *n)
{
    const size_t largest = (n->batch + n->pieces - 1) / n->pieces;
    size_t floats;
    if (!prt_size_mul(largest, n->hidden, &floats) ||
        !prt_size_add(floats, n->rows + n->extra, &floats))
        return prt_fail_nomem(SIZE_MAX);
    if (n->directions * n->batch == 1 && n->hidden != 0 && n->rows >= LARGE / n->hidden)
        n->threads = prt_parallel_threads(n->eval);
    for (size_t from = 0; from < n->seq; from += n->steps) {
        n->steps = n->seq - from < n->most ? n->seq - from : n->most;
        find_early(n);
        for (size_t d = 0; d < n->directions; d++) {
            prt_recurrent_direction *side = &n->side[d];
            side->first = side->backward ? n->seq - from - n->steps : from;
            if (n->multiply != NULL)
                PRT_TRY(n->multiply(n, side));
            else if (n->steps * n->batch >= PACK_ROWS)
                PRT_TRY(multiply_w(n, side));
        }
        PRT_TRY(prt_parallel_for(n->eval, n->directions * n->pieces, floats, run_item, n));
        PRT_TRY(n->eval->host->check(n->eval)); /* an item may have stopped for it */
    }
    return POPRT_OK;
}

poprt_status prt_recurrent_run(prt_recurrent *n, prt_eval *c, const prt_kern *k, bool *done)
{
    n->eval = c;
    n->kern = k;
    PRT_TRY(prt_recurrent_read(n, done));
    if (!*done)
        return POPRT_OK;
    PRT_TRY(pack(n));
    if (n->lengths != NULL && prt_eval_wants(c, 0))
        memset(c->out[0]->data, 0, c->out[0]->size);
    PRT_TRY(run_time(n));
    prt_recurrent_write(n);
    return POPRT_OK;
}
