/* SPDX-License-Identifier: MIT */
/*
 * quantized_lstm.c — DynamicQuantizeLSTM: LSTM with int8 products (dot4_i8). Each run packs W and R
 * into panels, quantises X as a whole, and quantises the state before every step.
 */
#include <math.h>

#include "fast/gemm/integer.h"
#include "fast/recurrent/recurrent.h"
#include "fast/parallel.h"
#include "op/share/quant.h"

enum {
    IN_W = 1,                 /* input W; R follows */
    IN_W_SCALE = 8,           /* input of W's scale; zero point, and R's, follow */
    QUANTIZE_LEAST = 1 << 14, /* elements of X that an item quantises, at least */
    PART_WORDS = 32,          /* words of W or R that an item packs, about */
    MIN_WORDS = 4             /* words packed for all panels at a time */
};

/* W or R of one direction, [depth, rows]. */
typedef struct matrix {
    uint32_t *panels;
    int32_t *sums, *zeros; /* by column: sums of the signed bytes; their zero points */
    float *scales;
} matrix;

typedef struct lstm {
    prt_recurrent n; /* first member: hooks get a pointer to it */
    bool coupled;
    size_t depth[2], words[2];    /* of W; of R */
    matrix of[2][2];              /* by direction */
    size_t panels, parts, pieces; /* parts of the words; pieces of X */
    uint32_t *ones;               /* a row of ones */
    int32_t *none;                /* zeros for a panel */
    uint32_t *x;                  /* [seq, batch] rows of words */
    uint32_t *x_sums;
    float x_scale;
    uint8_t x_zero;
} lstm;

/* ---- weights ---- */

/* Packs words [begin, end) of columns [first, first + columns) of W or R. */
static void pack_block(const lstm *q, size_t which, size_t d, size_t first, size_t columns,
    size_t begin, size_t end)
{
    const size_t n = q->n.rows, depth = q->depth[which];
    const prt_tensor *w = q->n.eval->in[IN_W + which];
    const uint8_t *b = (const uint8_t *)w->data + d * depth * n + first;
    const uint32_t all = w->dtype == PRT_DTYPE_u8 ? 0x80808080u : 0;
    uint32_t *to = q->of[d][which].panels + first * q->words[which];
    for (size_t i = begin; i < end; i++) {
        const size_t left = depth - i * PRT_DOT_FOUR;
        const uint32_t flip = left < PRT_DOT_FOUR ? all >> 8 * (PRT_DOT_FOUR - left) : all;
        const uint8_t *rows[PRT_DOT_FOUR];
        for (size_t t = 0; t < PRT_DOT_FOUR; t++)
            rows[t] =
                t < left ? b + (i * PRT_DOT_FOUR + t) * n : (const uint8_t *)(const void *)q->none;
        q->n.kern->bytes.pack4(columns, rows, flip, to + i * prt_gemm_width(columns));
    }
}

/* Packs some words of all columns. MIN_WORDS at a time, so that their rows stay in cache from one
 * panel to the next. */
static void pack_words(const void *user, size_t item, float *scratch)
{
    const lstm *q = user;
    const size_t which = item % 2, d = item / 2 % q->n.directions, n = q->n.rows;
    const size_t part = item / 2 / q->n.directions, words = q->words[which];
    const size_t end = prt_parallel_piece_begin(words, q->parts, part + 1);
    (void)scratch;
    for (size_t i = prt_parallel_piece_begin(words, q->parts, part); i < end; i += MIN_WORDS)
        for (size_t first = 0; first < n; first += PRT_GEMM_PANEL)
            pack_block(q, which, d, first, prt_gemm_panel_columns(n, first), i,
                end - i < MIN_WORDS ? end : i + MIN_WORDS);
}

static void sum_columns(const void *user, size_t item, float *scratch)
{
    const lstm *q = user;
    const size_t which = item % 2, d = item / 2 % q->n.directions, n = q->n.rows;
    const size_t first = item / 2 / q->n.directions * PRT_GEMM_PANEL;
    const matrix *m = &q->of[d][which];
    const prt_dot_block g = { .rows = 1,
        .columns = prt_gemm_panel_columns(n, first),
        .words = q->words[which],
        .a = q->ones,
        .lda = q->words[which],
        .b = m->panels + first * q->words[which],
        .c = m->sums + first,
        .ldc = PRT_GEMM_PANEL };
    (void)scratch;
    q->n.kern->dot.i8(&g);
}

/* Reads scales and zero points by column; the operator has one, or one for each column, of a
 * direction. */
static poprt_status read_matrix(lstm *q, size_t d, size_t which)
{
    prt_eval *c = q->n.eval;
    matrix *m = &q->of[d][which];
    const uint32_t at = IN_W_SCALE + 2 * (uint32_t)which;
    const prt_tensor *scale = c->in[at], *zero = c->in[at + 1];
    const size_t n = q->n.rows, wide = prt_gemm_width(n);
    const size_t scales = prt_tensor_count(scale) / q->n.directions;
    const size_t zeros = prt_tensor_count(zero) / q->n.directions;
    const int64_t less = zero->dtype == PRT_DTYPE_u8 ? 128 : 0;
    m->panels = (uint32_t *)(void *)prt_parallel_uninitialized_floats(c, q->words[which], wide);
    m->scales = prt_parallel_zeroed_floats(c, 3, wide);
    if (m->panels == NULL || m->scales == NULL)
        return POPRT_E_NOMEM;
    m->sums = (int32_t *)(void *)(m->scales + wide);
    m->zeros = m->sums + wide;
    for (size_t j = 0; j < n; j++) {
        m->scales[j] = ((const float *)scale->data)[d * scales + (scales != 1 ? j : 0)];
        m->zeros[j] =
            (int32_t)(prt_load_i64(zero->dtype, zero->data, d * zeros + (zeros != 1 ? j : 0)) -
                less);
    }
    return POPRT_OK;
}

/* ---- data ---- */

static void quantize_rows(const void *user, size_t item, float *scratch)
{
    const lstm *q = user;
    const size_t rows = q->n.seq * q->n.batch,
                 end = prt_parallel_piece_begin(rows, q->pieces, item + 1);
    const prt_kern_bytes *k = &q->n.kern->bytes;
    const float *x = q->n.eval->in[0]->data;
    (void)scratch;
    for (size_t i = prt_parallel_piece_begin(rows, q->pieces, item); i < end; i++) {
        uint8_t *to = (uint8_t *)(q->x + i * q->words[0]);
        k->quantize(q->n.input, x + i * q->n.input, q->x_scale, (float)q->x_zero, false, to);
        q->x_sums[i] = k->sum(q->n.input, to);
    }
}

/* Quantises X. Steps after the end of all entries do not affect the scale. */
static poprt_status quantize_input(lstm *q, bool *supported)
{
    prt_recurrent *n = &q->n;
    size_t steps = n->lengths == NULL ? n->seq : 0;
    for (size_t b = 0; n->lengths != NULL && b < n->batch; b++)
        steps = n->lengths[b] > steps ? n->lengths[b] : steps;
    *supported = steps != 0 &&
        prt_integer_scale(n->kern, steps * n->batch * n->input, n->eval->in[0]->data, &q->x_scale,
            &q->x_zero);
    if (!*supported)
        return POPRT_OK;
    const size_t rows = n->seq * n->batch,
                 most = prt_parallel_pieces(rows * n->input, QUANTIZE_LEAST);
    q->pieces = rows < most ? rows : most;
    q->x = (uint32_t *)(void *)prt_parallel_zeroed_floats(n->eval, rows, q->words[0]);
    q->x_sums = (uint32_t *)(void *)prt_parallel_uninitialized_floats(n->eval, rows, 1);
    if (q->x == NULL || q->x_sums == NULL)
        return POPRT_E_NOMEM;
    return prt_parallel_for(n->eval, q->pieces, 0, quantize_rows, q);
}

static poprt_status prepare(prt_recurrent *n, bool *supported)
{
    lstm *q = (lstm *)(void *)n;
    q->depth[0] = n->input;
    q->depth[1] = n->hidden;
    for (size_t i = 0; i < 2; i++)
        q->words[i] = (q->depth[i] + PRT_DOT_FOUR - 1) / PRT_DOT_FOUR;
    const size_t wide = prt_gemm_width(n->rows), most = q->words[q->words[1] > q->words[0]];
    n->extra = wide + q->words[1]; /* sums; the bytes of the state */
    q->panels = (n->rows + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
    q->ones = (uint32_t *)(void *)prt_parallel_uninitialized_floats(n->eval, 1, most);
    q->none = (int32_t *)(void *)prt_parallel_zeroed_floats(n->eval, 1, PRT_GEMM_PANEL);
    if (q->ones == NULL || q->none == NULL)
        return POPRT_E_NOMEM;
    memset(q->ones, 1, most * sizeof(uint32_t)); /* bytes; weights behind the last row are 0 */
    for (size_t d = 0; d < n->directions; d++)
        for (size_t i = 0; i < 2; i++)
            PRT_TRY(read_matrix(q, d, i));
    PRT_TRY(quantize_input(q, supported));
    if (!*supported)
        return POPRT_OK;
    q->parts = (q->words[0] + q->words[1] + PART_WORDS - 1) / PART_WORDS;
    PRT_TRY(prt_parallel_for(n->eval, 2 * n->directions * q->parts, 0, pack_words, q));
    return prt_parallel_for(n->eval, 2 * n->directions * q->panels, 0, sum_columns, q);
}

/* ---- products ---- */

/* Removes the zero points from the sums of a row whose bytes add up to `row`. */
static void remove_zero_points(const lstm *q, const matrix *m, size_t depth, size_t first,
    size_t columns, int32_t *sums, uint8_t zero, uint32_t row)
{
    q->n.kern->bytes.subtract_zeros(columns, sums, zero, (int32_t)(row - (uint32_t)depth * zero),
        m->zeros + first, m->sums + first);
}

typedef struct input_product {
    const lstm *q;
    const prt_recurrent_direction *side;
    size_t rows, blocks;
} input_product;

static void run_panel(const void *user, size_t item, float *scratch)
{
    const input_product *s = user;
    const lstm *q = s->q;
    const prt_recurrent_direction *side = s->side;
    const size_t first = item % q->panels * PRT_GEMM_PANEL, n = q->n.rows, block = item / q->panels;
    const size_t columns = prt_gemm_panel_columns(n, first);
    const size_t d = (size_t)(side - q->n.side), from = side->first * q->n.batch;
    const size_t end = prt_parallel_piece_begin(s->rows, s->blocks, block + 1);
    const matrix *m = &q->of[d][0];
    int32_t *sums = (int32_t *)(void *)scratch;
    const float *bias = side->bias != NULL ? side->bias + first : NULL;
    const prt_bytes_by by = { .scale = q->x_scale };
    prt_dot_block g = { .columns = columns,
        .words = q->words[0],
        .lda = q->words[0],
        .b = m->panels + first * q->words[0],
        .c = sums,
        .ldc = PRT_GEMM_PANEL };
    for (size_t row = prt_parallel_piece_begin(s->rows, s->blocks, block); row < end;
         row += g.rows) {
        g.rows = end - row < q->n.kern->dot.rows ? end - row : q->n.kern->dot.rows;
        g.a = q->x + (from + row) * q->words[0];
        q->n.kern->dot.i8(&g);
        for (size_t i = 0; i < g.rows; i++)
            remove_zero_points(q, m, q->depth[0], first, columns, sums + i * PRT_GEMM_PANEL,
                q->x_zero, q->x_sums[from + row + i]);
        q->n.kern->bytes.finish(&(prt_finish){ .rows = g.rows,
            .columns = columns,
            .sums = sums,
            .ldsums = PRT_GEMM_PANEL,
            .by = &by,
            .scales = m->scales + first,
            .bias = bias,
            .y = side->gates + row * n + first,
            .ldy = n });
    }
}

static poprt_status multiply(const prt_recurrent *n, const prt_recurrent_direction *side)
{
    const lstm *q = (const lstm *)(const void *)n;
    input_product s = { .q = q, .side = side, .rows = n->steps * n->batch };
    s.blocks = (s.rows + 2 * PRT_DOT_ROWS - 1) / (2 * PRT_DOT_ROWS);
    return prt_parallel_for(n->eval, q->panels * s.blocks, PRT_DOT_ROWS * PRT_GEMM_PANEL, run_panel,
        &s);
}

/* Adds the products of an entry's state to its gates. */
static void multiply_state(const lstm *q, const prt_recurrent_step *s, const float *h, float *gates)
{
    const prt_kern *k = q->n.kern;
    const size_t n = q->n.rows, wide = prt_gemm_width(n), hidden = q->n.hidden;
    const matrix *m = &q->of[s->side - q->n.side][1];
    int32_t *sums = (int32_t *)(void *)s->extra;
    uint32_t *bytes = (uint32_t *)(void *)(s->extra + wide);
    float scale;
    uint8_t zero;
    if (!prt_integer_scale(k, hidden, h, &scale, &zero)) {
        k->rows.scale(n, gates, NAN, 0.0f, gates);
        return;
    }
    bytes[q->words[1] - 1] = 0;
    k->bytes.quantize(hidden, h, scale, (float)zero, false, (uint8_t *)bytes);
    for (size_t first = 0; first < n; first += PRT_GEMM_PANEL) {
        const prt_dot_block g = { .rows = 1,
            .columns = prt_gemm_panel_columns(n, first),
            .words = q->words[1],
            .lda = q->words[1],
            .a = bytes,
            .b = m->panels + first * q->words[1],
            .c = sums + first,
            .ldc = PRT_GEMM_PANEL };
        k->dot.i8(&g);
    }
    remove_zero_points(q, m, hidden, 0, n, sums, zero,
        k->bytes.sum(hidden, (const uint8_t *)bytes));
    const prt_bytes_by by = { .scale = scale };
    k->bytes.finish(&(prt_finish){ .rows = 1,
        .columns = n,
        .sums = sums,
        .by = &by,
        .scales = m->scales,
        .bias = gates,
        .y = gates });
}

static void step(const prt_recurrent *n, const prt_recurrent_step *s)
{
    const lstm *q = (const lstm *)(const void *)n;
    const prt_recurrent_direction *side = s->side;
    for (size_t i = 0; i < s->count; i++) {
        const size_t at = (s->entry + i) * n->hidden;
        float *gates = s->gates + i * n->rows;
        const prt_lstm_cell cell = { .n = n->hidden,
            .acts = &side->acts,
            .gates = gates,
            .peepholes = side->peepholes,
            .c = side->c + at,
            .h = side->h + at,
            .coupled = q->coupled };
        if (!prt_recurrent_active(n, s, s->entry + i))
            continue;
        multiply_state(q, s, side->h + at, gates);
        n->kern->cells.lstm(&cell);
    }
}

poprt_status prt_fast_quantized_lstm(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_ms_dynamic_quantize_lstm_attrs *a = c->attrs;
    if (!prt_integer_has(c, 1) || !prt_integer_has(c, 2) || !prt_fast_has(c, IN_W_SCALE) ||
        !prt_fast_has(c, IN_W_SCALE + 2))
        return prt_fast_use_reference(done);
    lstm q = { .coupled = a->input_forget != 0,
        .n = { .initial_c = 6,
            .peepholes = 7,
            .step = step,
            .prepare = prepare,
            .multiply = multiply,
            .attrs = a,
            .form = { .gates = 4,
                .functions = 3,
                .usual = { "Sigmoid", "Tanh", "Tanh" },
                .direction = a->direction,
                .activations = a->activations,
                .alpha = a->activation_alpha,
                .beta = a->activation_beta,
                .hidden_size = a->hidden_size,
                .clip = (double)a->clip } } };
    return prt_recurrent_run(&q.n, c, k, done);
}
