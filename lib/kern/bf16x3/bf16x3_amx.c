/* SPDX-License-Identifier: MIT */
/*
 * bf16x3_amx.c — split products by AMX: 32 rows by 32 columns at a time, four tiles of sums; a step
 * is a unit of K, for which there are twelve products of tiles and eight loads.
 *
 * A split panel is, for each 32 columns and each unit of K, four tiles of B: high parts of the
 * first and the last 16 columns, then low parts. A pair is elements k and k + 16 of a unit, of rows
 * of A as well.
 */
#include "kern/bf16x3/bf16x3.inl"

enum { BYTES = 4 * 1024 /* of B for a step: four tiles */ };

/* ---- splitting ---- */

bool prt_bf16x3_rows_amx(size_t rows, size_t k, const float *a, size_t lda, const float *scale,
    float *to, size_t ldto);

bool prt_bf16x3_rows_amx(size_t rows, size_t k, const float *a, size_t lda, const float *scale,
    float *to, size_t ldto)
{
    __m512i order;
    __m512 check = _mm512_setzero_ps();
    order_pairs(&order);
    for (size_t i = 0; i < rows; i++)
        for (size_t p = 0; p < k; p += UNIT) {
            const float *x = a + i * lda + p;
            const size_t left = k - p;
            const __mmask16 first = mask_of(left), second = left > TILE ? mask_of(left - TILE) : 0;
            __m512 upper = _mm512_maskz_loadu_ps(first, x);
            __m512 lower = _mm512_maskz_loadu_ps(second, x + TILE);
            if (scale != NULL) {
                upper = _mm512_mul_ps(upper, _mm512_maskz_loadu_ps(first, scale + p));
                lower = _mm512_mul_ps(lower, _mm512_maskz_loadu_ps(second, scale + p + TILE));
            }
            const halves h = split(upper, lower, order, check);
            _mm512_storeu_si512(to + i * ldto + p, h.high);
            _mm512_storeu_si512(to + i * ldto + p + TILE, h.low);
            check = h.check;
        }
    return is_finite(check);
}

/* What a vector has of one piece of a row. */
typedef struct bit {
    ptrdiff_t at; /* of its first lane, from the row's first element on */
    __mmask16 mask;
    bool last; /* of the vector */
} bit;

enum { MOST_BITS = PRT_BF16X3_DEPTH + PRT_BF16X3_DEPTH / TILE }; /* pieces of one element */

static size_t find_bits(const prt_bf16x3_pixels *g, bit *to)
{
    const size_t end = g->skip + g->k;
    size_t n = 0;
    for (size_t k = g->skip; k < g->skip + prt_bf16x3_size(g->k); k += TILE) {
        to[n] = (bit){ 0, 0, true };
        for (size_t i = k, some; i < k + TILE && i < end; i += some) {
            const size_t piece = i / g->each, after = (piece + 1) * g->each;
            const size_t past = after < end ? after : end;
            some = (past < k + TILE ? past : k + TILE) - i;
            n += i != k ? 1 : 0;
            to[n] = (bit){ (ptrdiff_t)(piece * g->far + k) - (ptrdiff_t)(piece * g->each),
                (__mmask16)(mask_of(some) << (i - k)), false };
        }
        to[n++].last = true;
    }
    return n;
}

static inline __attribute__((always_inline)) __m512 gather(const float *x, const bit **next)
{
    __m512 v = _mm512_setzero_ps();
    const bit *b = *next;
    do
        v = _mm512_mask_loadu_ps(v, b->mask, x + b->at);
    while (!b++->last);
    *next = b;
    return v;
}

bool prt_bf16x3_pixels_amx(const prt_bf16x3_pixels *g);

bool prt_bf16x3_pixels_amx(const prt_bf16x3_pixels *g)
{
    bit bits[MOST_BITS];
    __m512i order;
    __m512 check = _mm512_setzero_ps();
    const bit *end = bits + find_bits(g, bits);
    const float *x = g->x;
    const size_t step = g->step, far = g->ldto;
    float *row = g->to;
    order_pairs(&order);
    for (size_t i = g->count; i != 0; i--, x += step, row += far) {
        float *to = row;
        for (const bit *b = bits; b != end; to += UNIT) {
            const __m512 upper = gather(x, &b), lower = gather(x, &b);
            const halves h = split(upper, lower, order, check);
            _mm512_storeu_si512(to, h.high);
            _mm512_storeu_si512(to + TILE, h.low);
            check = h.check;
        }
    }
    return is_finite(check);
}

/* A panel that is being split: rows k and k + 16 of a unit at a time. */
typedef struct weave {
    const float *b;
    size_t stride, vectors;
    size_t piece, k; /* rows of a piece; those that it has from this unit on */
    char *to;
    size_t far[PRT_GEMM_PANEL / TILE]; /* bytes from the first vector's tile to the others' */
    size_t row, left;                  /* of a unit; of all units */
    size_t credit, rate;               /* ONE a row */
    __m512i order;
    __m512 check;
} weave;

enum {
    ONE = 256,
    MOST_WEAVE = 80 /* a slot, where a trail beside it gains */
};

static size_t units_of(size_t k, size_t taps)
{
    return (k + UNIT - 1) / UNIT * taps;
}

static void begin_weave(weave *w, const prt_bf16x3_panel *p)
{
    const size_t units = units_of(p->k, p->taps);
    w->b = p->b;
    w->stride = p->stride;
    w->vectors = prt_gemm_width(p->columns) / TILE;
    w->piece = w->k = p->k;
    w->to = (char *)p->to;
    for (size_t v = 0; v < w->vectors; v++)
        w->far[v] = v / 2 * units * BYTES + v % 2 * BYTES / 4;
    w->row = 0;
    w->left = units * TILE;
    w->credit = 0;
    order_pairs(&w->order);
    w->check = _mm512_setzero_ps();
}

/* Memory is slow to begin with a unit: the next one is fetched meanwhile. */
static __attribute__((noinline)) void weave_row(weave *w)
{
    const float *b = w->b + w->row * w->stride, *under = b + TILE * w->stride;
    const bool above = w->row < w->k, below = w->row + TILE < w->k;
    for (size_t v = 0; v < w->vectors; v++) {
        __builtin_prefetch(b + UNIT * w->stride + v * TILE, 0, 2);
        __builtin_prefetch(under + UNIT * w->stride + v * TILE, 0, 2);
        const __m512 x = above ? _mm512_loadu_ps(b + v * TILE) : _mm512_setzero_ps();
        const __m512 y = below ? _mm512_loadu_ps(under + v * TILE) : _mm512_setzero_ps();
        const halves h = split(x, y, w->order, w->check);
        char *to = w->to + w->far[v];
        _mm512_storeu_si512(to, h.high);
        _mm512_storeu_si512(to + BYTES / 2, h.low);
        w->check = h.check;
    }
    w->left--;
    w->to += LINE;
    if (++w->row == TILE) {
        const size_t some = w->k < UNIT ? w->k : UNIT;
        w->row = 0;
        w->b += some * w->stride;
        w->k = some < w->k ? w->k - some : w->piece;
        w->to += BYTES - TILE * LINE;
    }
}

static inline __attribute__((always_inline)) void weave_rows(weave *w, size_t credit)
{
    for (w->credit += credit; w->credit >= ONE && w->left != 0; w->credit -= ONE)
        weave_row(w);
}

static bool end_weave(weave *w)
{
    weave_rows(w, w->left * ONE);
    return is_finite(w->check);
}

void prt_bf16x3_panel_amx(prt_bf16x3_panel *p);

void prt_bf16x3_panel_amx(prt_bf16x3_panel *p)
{
    weave w;
    begin_weave(&w, p);
    p->finite = end_weave(&w);
}

/* ---- sums that end within bounds ---- */

/* A square of them on its way to C while the next one is summed up. */
typedef struct trail {
    const float *sums;     /* WIDE a row */
    const float *residual; /* or NULL */
    float *c;
    size_t ldr, ldc;
    size_t left, each; /* rows; those of a slot */
    __mmask16 mask[2]; /* of columns */
    float low, high;
} trail;

static __attribute__((noinline)) void trail_rows(trail *t, size_t most)
{
    const __m512 low = _mm512_set1_ps(t->low), high = _mm512_set1_ps(t->high);
    const size_t rows = t->left < most ? t->left : most;
    t->left -= rows;
    for (size_t i = rows; i != 0; i--) {
        for (size_t v = 0; v < 2; v++) {
            __m512 x = _mm512_load_ps(t->sums + v * TILE);
            if (t->residual != NULL)
                x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(t->mask[v], t->residual + v * TILE));
            _mm512_mask_storeu_ps(t->c + v * TILE, t->mask[v],
                _mm512_min_ps(high, _mm512_max_ps(low, x)));
        }
        t->sums += WIDE;
        t->c += t->ldc;
        if (t->residual != NULL)
            t->residual += t->ldr;
    }
}

/* ---- products ---- */

/* What goes on between products of tiles. */
static __attribute__((noinline)) void fill_slot(weave *w, trail *t)
{
    weave_rows(w, w->rate);
    trail_rows(t, t->each);
}

#define FILL() (trails ? fill_slot(w, t) : weave_rows(w, w->rate))

/* `n` units of K of rows from `a` and `under` on, `lda` bytes apart. */
static inline __attribute__((always_inline)) void run_whole(const char *a, const char *under,
    size_t lda, const char *b, size_t n, bool trails, weave *w, trail *t)
{
    for (; n != 0; n--, a += 2 * LINE, under += 2 * LINE, b += BYTES) {
        _tile_loadd(4, a + LINE, lda); /* low high' */
        _tile_loadd(6, b, LINE);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(5, under + LINE, lda);
        _tile_dpbf16ps(2, 5, 6);
        _tile_loadd(7, b + BYTES / 4, LINE);
        FILL();
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(3, 5, 7);
        _tile_loadd(4, a, lda); /* high high' */
        _tile_dpbf16ps(0, 4, 6);
        FILL();
        _tile_loadd(5, under, lda);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
        FILL();
        _tile_loadd(6, b + BYTES / 2, LINE); /* high low' */
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(2, 5, 6);
        _tile_loadd(7, b + BYTES / 4 * 3, LINE);
        FILL();
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(3, 5, 7);
    }
}

static void run_steps(const char *a, const char *under, size_t lda, const char *b, size_t n,
    bool lower, bool right, weave *w, trail *t)
{
    BARRIER();
    if (lower && right) {
        if (t->left != 0)
            run_whole(a, under, lda, b, n, true, w, t);
        else
            run_whole(a, under, lda, b, n, false, w, t);
        return;
    }
    for (; n != 0; n--, a += 2 * LINE, under += 2 * LINE, b += BYTES) {
        for (size_t part = 0; part < 3; part++) {
            _tile_loadd(4, a + (part == 0 ? LINE : 0), lda);
            _tile_loadd(6, b + (part == 2 ? BYTES / 2 : 0), LINE);
            _tile_dpbf16ps(0, 4, 6);
            if (right) {
                _tile_loadd(7, b + (part == 2 ? BYTES / 4 * 3 : BYTES / 4), LINE);
                _tile_dpbf16ps(1, 4, 7);
            }
            if (lower) {
                _tile_loadd(5, under + (part == 0 ? LINE : 0), lda);
                _tile_dpbf16ps(2, 5, 6);
            }
        }
        weave_rows(w, SLOTS * w->rate);
        trail_rows(t, SLOTS * t->each);
    }
}

typedef struct strip {
    const prt_bf16x3_block *g;
    size_t row, rows;
    size_t each;       /* of a tile */
    size_t units;      /* of all K */
    const float *bias; /* of all columns, and room behind them */
    float *room;       /* for the sums of a square */
    bool bounded;      /* they are left to `trail` */
    weave weave;
    trail trail;
} strip;

/* All K of columns from `j` on, for the tiles of sums. */
static void sum_up(strip *s, size_t j, bool lower, bool right)
{
    const prt_bf16x3_block *g = s->g;
    const size_t each = units_of(g->k, 1), tile = s->row / TILE;
    const char *b = (const char *)g->b + j / WIDE * s->units * BYTES;
    for (size_t t = 0; t < g->taps; t++, b += each * BYTES) {
        const float *a = g->a + s->row * g->lda, *under = a + s->each * g->lda;
        if (g->tile_at != NULL) {
            a = g->a + g->tile_at[tile] + g->tap_at[t];
            under = lower ? g->a + g->tile_at[tile + 1] + g->tap_at[t] : a;
        }
        run_steps((const char *)a, (const char *)under, g->lda * sizeof(float), b, each, lower,
            right, &s->weave, &s->trail);
    }
}

/* The first `n` columns of rows. */
static __attribute__((noinline)) void copy_rows(size_t rows, size_t n, const float *x, size_t ldx,
    float *y, size_t ldy)
{
    for (size_t i = 0; i < rows; i++, x += ldx, y += ldy)
        for (size_t j = 0; j < n; j += TILE)
            _mm512_mask_storeu_ps(y + j, mask_of(n - j),
                _mm512_maskz_loadu_ps(mask_of(n - j), x + j));
}

/* What becomes of the sums of columns from `j` on, which are in the room. */
static void begin_trail(strip *s, size_t j, size_t columns)
{
    const prt_bf16x3_block *g = s->g;
    const prt_gemm_end *e = g->end;
    trail *t = &s->trail;
    t->sums = s->room;
    t->c = g->c + s->row * g->ldc + j;
    t->ldc = g->ldc;
    t->residual = e->residual != NULL ? e->residual + s->row * e->ldr + j : NULL;
    t->ldr = e->ldr;
    t->left = s->rows;
    t->each = s->rows / (s->units * SLOTS) + 1;
    t->mask[0] = mask_of(columns);
    t->mask[1] = mask_of(columns > TILE ? columns - TILE : 0);
}

/* Columns from `j` on of a strip. */
static void run_square(strip *s, size_t j)
{
    const prt_bf16x3_block *g = s->g;
    const size_t left = g->columns - j, columns = left < WIDE ? left : WIDE;
    const bool lower = s->rows > s->each, right = columns > TILE;
    const bool whole =
        g->tile_at != NULL || (columns % TILE == 0 && s->rows == (lower ? 2 * s->each : s->each));
    const bool direct = whole && !s->bounded;
    float *out = g->c + s->row * g->ldc + j, *c = whole ? out : s->room;
    size_t ldc = (whole ? g->ldc : (size_t)WIDE) * sizeof(float);
    if (g->add && !whole) {
        trail_rows(&s->trail, HIGH);
        copy_rows(s->rows, columns, out, g->ldc, s->room, WIDE);
    }
    BARRIER();
    if (g->add) {
        EACH_SUM(_tile_loadd, (const char *)c, s->each * ldc, ldc, lower, right)
    } else if (s->bias != NULL) { /* the same in each row */
        EACH_SUM(_tile_loadd, (const char *)(s->bias + j), 0, 0, lower, right)
    } else {
        zero_sums();
    }
    sum_up(s, j, lower, right);
    trail_rows(&s->trail, HIGH);
    c = direct ? out : s->room;
    ldc = (direct ? g->ldc : (size_t)WIDE) * sizeof(float);
    EACH_SUM(_tile_stored, (char *)c, s->each * ldc, ldc, lower, right)
    BARRIER();
    if (s->bounded)
        begin_trail(s, j, columns);
    else if (!whole)
        copy_rows(s->rows, columns, s->room, WIDE, out, g->ldc);
}

static void finish(const strip *s)
{
    const prt_bf16x3_block *g = s->g;
    prt_gemm_end end = *g->end;
    if (end.row_bias != NULL)
        end.row_bias += s->row;
    if (end.residual != NULL)
        end.residual += s->row * end.ldr;
    end_sums(s->rows, g->columns, g->c + s->row * g->ldc, g->ldc, &end);
}

/* Rows of each tile of a product. Strips are alike: one of few rows takes as long as others, and
 * another configuration longer. Tiles may go beyond the rows; what that gives stays in the room. */
static size_t rows_of_tiles(size_t rows, bool pieces)
{
    const size_t strips = (rows + HIGH - 1) / HIGH;
    return pieces ? TILE : rows <= TILE ? rows : (rows + 2 * strips - 1) / (2 * strips);
}

void prt_bf16x3_begin_amx(size_t rows, bool pieces);
void prt_bf16x3_multiply_amx(const prt_bf16x3_block *g);
void prt_bf16x3_end_amx(void);

void prt_bf16x3_begin_amx(size_t rows, bool pieces)
{
    const size_t each = rows_of_tiles(rows, pieces);
    configure(each, each);
}

void prt_bf16x3_end_amx(void)
{
    _tile_release();
}

void prt_bf16x3_multiply_amx(const prt_bf16x3_block *g)
{
    float bias[PRT_GEMM_PANEL];
    _Alignas(LINE) float room[HIGH * WIDE];
    strip s = { .g = g,
        .each = rows_of_tiles(g->rows, g->tile_at != NULL),
        .bias = g->bias,
        .units = units_of(g->k, g->taps),
        .room = room };
    const size_t pairs = (g->columns + WIDE - 1) / WIDE, high = 2 * s.each;
    const size_t steps = (g->rows + high - 1) / high * pairs * s.units;
    if (g->ahead != NULL)
        begin_weave(&s.weave, g->ahead);
    s.weave.rate = steps != 0 ? s.weave.left * ONE / (steps * SLOTS) + 1 : 0;
    s.bounded = g->end != NULL && g->end->row_bias == NULL && s.weave.rate <= MOST_WEAVE &&
        prt_act_bounds(&g->end->act, &s.trail.low, &s.trail.high);
    if (g->bias != NULL && g->columns % TILE != 0) {
        copy_rows(1, g->columns, g->bias, 0, bias, 0);
        s.bias = bias;
    }
    for (size_t j = 0; j < g->columns; j += WIDE)
        for (s.row = 0; s.row < g->rows; s.row += high) {
            s.rows = g->rows - s.row < high ? g->rows - s.row : high;
            run_square(&s, j);
            if (g->end != NULL && !s.bounded && j + WIDE >= g->columns)
                finish(&s);
        }
    trail_rows(&s.trail, HIGH);
    if (g->ahead != NULL)
        g->ahead->finite = end_weave(&s.weave);
}
