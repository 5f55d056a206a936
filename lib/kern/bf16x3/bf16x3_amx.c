/* SPDX-License-Identifier: MIT */
/*
 * bf16x3_amx.c — bf16x3 GEMM by AMX. The unit is a block of 32 rows by 32 columns of C: four tiles
 * of sums. A step is a unit of K (32 elements): twelve tile products and eight tile loads. Loop
 * order: columns, rows, K. Between the tile products, slots convert the next panel and write out
 * the previous block.
 *
 * A converted panel has, for each 32 columns and each unit of K, four tiles of B: the high parts of
 * the first and the last 16 columns, then the low parts. A pair is elements k and k + 16 of a unit,
 * as in rows of A.
 */
#include "kern/bf16x3/bf16x3.inl"

enum { BYTES = 4 * 1024 /* bytes of B for a step: four tiles */ };

/* ---- conversion ---- */

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
            const halves h = convert_pairs(upper, lower, order, check);
            _mm512_storeu_si512(to + i * ldto + p, h.high);
            _mm512_storeu_si512(to + i * ldto + p + TILE, h.low);
            check = h.check;
        }
    return is_finite(check);
}

/* The part of a vector that comes from one piece of a row. */
typedef struct fragment {
    ptrdiff_t at; /* offset of its first lane from the row's first element */
    __mmask16 mask;
    bool last; /* the last fragment of the vector */
} fragment;

/* Fragments of a row, at most, which is reached by pieces of one element. */
enum { MOST_FRAGMENTS = PRT_BF16X3_DEPTH + PRT_BF16X3_DEPTH / TILE };

/* Finds the fragments of all vectors of a row. Returns their number. */
static size_t find_fragments(const prt_bf16x3_pixels *g, fragment *to)
{
    const size_t end = g->skip + g->k;
    size_t n = 0;
    for (size_t k = g->skip; k < g->skip + prt_bf16x3_size(g->k); k += TILE) {
        to[n] = (fragment){ 0, 0, true };
        for (size_t i = k, some; i < k + TILE && i < end; i += some) {
            const size_t piece = i / g->each, after = (piece + 1) * g->each;
            const size_t past = after < end ? after : end;
            some = (past < k + TILE ? past : k + TILE) - i;
            n += i != k ? 1 : 0;
            to[n] =
                (fragment){ (ptrdiff_t)(piece * g->piece_stride + k) - (ptrdiff_t)(piece * g->each),
                    (__mmask16)(mask_of(some) << (i - k)), false };
        }
        to[n++].last = true;
    }
    return n;
}

static inline __attribute__((always_inline)) __m512 gather(const float *x, const fragment **next)
{
    __m512 v = _mm512_setzero_ps();
    const fragment *b = *next;
    do
        v = _mm512_mask_loadu_ps(v, b->mask, x + b->at);
    while (!b++->last);
    *next = b;
    return v;
}

bool prt_bf16x3_pixels_amx(const prt_bf16x3_pixels *g);

bool prt_bf16x3_pixels_amx(const prt_bf16x3_pixels *g)
{
    fragment bits[MOST_FRAGMENTS];
    __m512i order;
    __m512 check = _mm512_setzero_ps();
    const fragment *end = bits + find_fragments(g, bits);
    const float *x = g->x;
    const size_t step = g->step, to_step = g->ldto;
    float *row = g->to;
    order_pairs(&order);
    for (size_t i = g->count; i != 0; i--, x += step, row += to_step) {
        float *to = row;
        for (const fragment *b = bits; b != end; to += UNIT) {
            const __m512 upper = gather(x, &b), lower = gather(x, &b);
            const halves h = convert_pairs(upper, lower, order, check);
            _mm512_storeu_si512(to, h.high);
            _mm512_storeu_si512(to + TILE, h.low);
            check = h.check;
        }
    }
    return is_finite(check);
}

/* A panel that is being converted, rows k and k + 16 of a unit at a time. */
typedef struct conversion {
    const float *b;
    size_t stride, vectors;
    size_t piece, k; /* rows of a piece; rows of it from this unit on */
    char *to;
    size_t offset[PRT_GEMM_PANEL / TILE]; /* bytes from the first vector's tile to the tiles of the
                                           * others */
    size_t row, left;                     /* row of the unit; rows of all units left */
    size_t credit, rate;                  /* in units of ONE, which is a row */
    __m512i order;
    __m512 check;
} conversion;

enum {
    ONE = 256,
    MOST_RATE = 80 /* rate, up to which interleaving the epilogue gains */
};

static size_t units_of(size_t k, size_t taps)
{
    return (k + UNIT - 1) / UNIT * taps;
}

static void begin_conversion(conversion *w, const prt_bf16x3_panel *p)
{
    const size_t units = units_of(p->k, p->taps);
    w->b = p->b;
    w->stride = p->stride;
    w->vectors = prt_gemm_width(p->columns) / TILE;
    w->piece = w->k = p->k;
    w->to = (char *)p->to;
    for (size_t v = 0; v < w->vectors; v++)
        w->offset[v] = v / 2 * units * BYTES + v % 2 * BYTES / 4;
    w->row = 0;
    w->left = units * TILE;
    w->credit = 0;
    order_pairs(&w->order);
    w->check = _mm512_setzero_ps();
}

/* Converts one row, and prefetches the same row of the next unit, since memory is slow to start. */
static __attribute__((noinline)) void convert_row(conversion *w)
{
    const float *b = w->b + w->row * w->stride, *under = b + TILE * w->stride;
    const bool above = w->row < w->k, below = w->row + TILE < w->k;
    for (size_t v = 0; v < w->vectors; v++) {
        __builtin_prefetch(b + UNIT * w->stride + v * TILE, 0, 2);
        __builtin_prefetch(under + UNIT * w->stride + v * TILE, 0, 2);
        const __m512 x = above ? _mm512_loadu_ps(b + v * TILE) : _mm512_setzero_ps();
        const __m512 y = below ? _mm512_loadu_ps(under + v * TILE) : _mm512_setzero_ps();
        const halves h = convert_pairs(x, y, w->order, w->check);
        char *to = w->to + w->offset[v];
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

static inline __attribute__((always_inline)) void convert_some(conversion *w, size_t credit)
{
    for (w->credit += credit; w->credit >= ONE && w->left != 0; w->credit -= ONE)
        convert_row(w);
}

static bool end_conversion(conversion *w)
{
    convert_some(w, w->left * ONE);
    return is_finite(w->check);
}

void prt_bf16x3_panel_amx(prt_bf16x3_panel *p);

void prt_bf16x3_panel_amx(prt_bf16x3_panel *p)
{
    conversion w;
    begin_conversion(&w, p);
    p->finite = end_conversion(&w);
}

/* ---- epilogues that are ranges ---- */

/* A block that is being written to C while the next one is multiplied. */
typedef struct epilogue {
    const float *sums;     /* rows of WIDE */
    const float *residual; /* or NULL */
    float *c;
    size_t ldr, ldc;
    size_t left, each; /* rows; rows of a slot */
    __mmask16 mask[2]; /* of columns */
    float low, high;
} epilogue;

static __attribute__((noinline)) void write_rows(epilogue *t, size_t most)
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

/* Does the other work between tile products. */
static __attribute__((noinline)) void fill_slot(conversion *w, epilogue *t)
{
    convert_some(w, w->rate);
    write_rows(t, t->each);
}

#define FILL() (epilogues ? fill_slot(w, t) : convert_some(w, w->rate))

/* Runs `n` units of K of rows from `a` and `under` on, `lda` bytes apart, for all four tiles. */
static inline __attribute__((always_inline)) void run_whole(const char *a, const char *under,
    size_t lda, const char *b, size_t n, bool epilogues, conversion *w, epilogue *t)
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
    bool lower, bool right, conversion *w, epilogue *t)
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
        convert_some(w, SLOTS * w->rate);
        write_rows(t, SLOTS * t->each);
    }
}

typedef struct strip {
    const prt_bf16x3_block *g;
    size_t row, rows;
    size_t each;       /* of a tile */
    size_t units;      /* of all K */
    const float *bias; /* of all columns, readable up to whole tiles */
    float *scratch;    /* sums of a block */
    bool bounded;      /* the epilogue is a range, applied by `epilogue` */
    conversion conversion;
    epilogue epilogue;
} strip;

/* Multiplies all K of columns from `j` on. */
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
            right, &s->conversion, &s->epilogue);
    }
}

/* Copies the first `n` columns of rows. */
static __attribute__((noinline)) void copy_rows(size_t rows, size_t n, const float *x, size_t ldx,
    float *y, size_t ldy)
{
    for (size_t i = 0; i < rows; i++, x += ldx, y += ldy)
        for (size_t j = 0; j < n; j += TILE)
            _mm512_mask_storeu_ps(y + j, mask_of(n - j),
                _mm512_maskz_loadu_ps(mask_of(n - j), x + j));
}

/* Begins the epilogue of the sums in scratch, of columns from `j` on. */
static void begin_epilogue(strip *s, size_t j, size_t columns)
{
    const prt_bf16x3_block *g = s->g;
    const prt_gemm_end *e = g->end;
    epilogue *t = &s->epilogue;
    t->sums = s->scratch;
    t->c = g->c + s->row * g->ldc + j;
    t->ldc = g->ldc;
    t->residual = e->residual != NULL ? e->residual + s->row * e->ldr + j : NULL;
    t->ldr = e->ldr;
    t->left = s->rows;
    t->each = s->rows / (s->units * SLOTS) + 1;
    t->mask[0] = mask_of(columns);
    t->mask[1] = mask_of(columns > TILE ? columns - TILE : 0);
}

/* Computes columns from `j` on of a strip. */
static void run_block(strip *s, size_t j)
{
    const prt_bf16x3_block *g = s->g;
    const size_t left = g->columns - j, columns = left < WIDE ? left : WIDE;
    const bool lower = s->rows > s->each, right = columns > TILE;
    const bool whole =
        g->tile_at != NULL || (columns % TILE == 0 && s->rows == (lower ? 2 * s->each : s->each));
    const bool direct = whole && !s->bounded;
    float *out = g->c + s->row * g->ldc + j, *c = whole ? out : s->scratch;
    size_t ldc = (whole ? g->ldc : (size_t)WIDE) * sizeof(float);
    if (g->add && !whole) {
        write_rows(&s->epilogue, HIGH);
        copy_rows(s->rows, columns, out, g->ldc, s->scratch, WIDE);
    }
    BARRIER();
    if (g->add) {
        EACH_SUM(_tile_loadd, (const char *)c, s->each * ldc, ldc, lower, right)
    } else if (s->bias != NULL) { /* the same for each row */
        EACH_SUM(_tile_loadd, (const char *)(s->bias + j), 0, 0, lower, right)
    } else {
        zero_sums();
    }
    sum_up(s, j, lower, right);
    write_rows(&s->epilogue, HIGH);
    c = direct ? out : s->scratch;
    ldc = (direct ? g->ldc : (size_t)WIDE) * sizeof(float);
    EACH_SUM(_tile_stored, (char *)c, s->each * ldc, ldc, lower, right)
    BARRIER();
    if (s->bounded)
        begin_epilogue(s, j, columns);
    else if (!whole)
        copy_rows(s->rows, columns, s->scratch, WIDE, out, g->ldc);
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

/* Returns the rows of each tile of a product. All strips have equal tiles: a strip of few rows
 * would take as long, and another configuration would take longer. Tiles may reach beyond the rows;
 * the excess stays in scratch. */
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
    _Alignas(LINE) float scratch[HIGH * WIDE];
    strip s = { .g = g,
        .each = rows_of_tiles(g->rows, g->tile_at != NULL),
        .bias = g->bias,
        .units = units_of(g->k, g->taps),
        .scratch = scratch };
    const size_t pairs = (g->columns + WIDE - 1) / WIDE, high = 2 * s.each;
    const size_t steps = (g->rows + high - 1) / high * pairs * s.units;
    if (g->ahead != NULL)
        begin_conversion(&s.conversion, g->ahead);
    s.conversion.rate = steps != 0 ? s.conversion.left * ONE / (steps * SLOTS) + 1 : 0;
    s.bounded = g->end != NULL && g->end->row_bias == NULL && s.conversion.rate <= MOST_RATE &&
        prt_act_bounds(&g->end->act, &s.epilogue.low, &s.epilogue.high);
    if (g->bias != NULL && g->columns % TILE != 0) {
        copy_rows(1, g->columns, g->bias, 0, bias, 0);
        s.bias = bias;
    }
    for (size_t j = 0; j < g->columns; j += WIDE)
        for (s.row = 0; s.row < g->rows; s.row += high) {
            s.rows = g->rows - s.row < high ? g->rows - s.row : high;
            run_block(&s, j);
            if (g->end != NULL && !s.bounded && j + WIDE >= g->columns)
                finish(&s);
        }
    write_rows(&s.epilogue, HIGH);
    if (g->ahead != NULL)
        g->ahead->finite = end_conversion(&s.conversion);
}
