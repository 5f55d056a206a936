/* SPDX-License-Identifier: MIT */
/*
 * bf16x3_small_m_amx.c — bf16x3 GEMM by AMX for few rows (m up to 64): all K of 16 columns at a
 * time, with the sums of all rows in four tiles. B is converted unit by unit, LEAD units before it
 * is multiplied, into a ring that stays in L1. The panels after the current one are prefetched into
 * L2.
 */
#include "kern/bf16x3/bf16x3.inl"

enum {
    RING = 4,                /* units of the ring */
    LEAD = 2,                /* units converted ahead */
    PART = 2 * TILE * LINE,  /* bytes of a converted unit: high parts, then low parts */
    QUARTER = TILE / SLOTS,  /* rows converted in a slot */
    LINES = 2 * TILE / SLOTS /* cache lines prefetched in a slot */
};
_Static_assert(PRT_BF16X3_SMALL_M_SCRATCH * sizeof(float) ==
        RING * PART + PRT_BF16X3_SMALL_M * LINE,
    "the ring, then sums of 16 columns");

typedef struct ring {
    const prt_bf16x3_small_m *g;
    char *at;
    size_t next; /* unit, counted over all columns */
    size_t left;
    const float *b; /* the first row of the unit */
    size_t stride, column, k;
    const char *fetch; /* the panels after this one */
    size_t lines;
    __m512i order;
    __m512 check;
} ring;

static void find_columns(ring *r, size_t column)
{
    const size_t panel = column / PRT_GEMM_PANEL * PRT_GEMM_PANEL;
    r->stride = prt_gemm_panel_width(r->g->n, panel);
    r->b = r->g->b + panel * r->g->k + column - panel;
    r->column = column;
    r->k = 0;
}

/* Converts rows [row, row + QUARTER) and the rows 16 below them. */
static __attribute__((noinline)) void convert_slot(ring *r, size_t row)
{
    static const float nothing[TILE];
    const size_t left = r->g->k - r->k, stride = r->stride;
    char *to = r->at + r->next % RING * PART + row * LINE;
    for (size_t i = row; i < row + QUARTER; i++, to += LINE) {
        const float *b = i < left ? r->b + i * stride : nothing;
        const float *under = i + TILE < left ? r->b + (i + TILE) * stride : nothing;
        const halves h =
            convert_pairs(_mm512_loadu_ps(b), _mm512_loadu_ps(under), r->order, r->check);
        _mm512_store_si512(to, h.high);
        _mm512_store_si512(to + PART / 2, h.low);
        r->check = h.check;
    }
    for (size_t i = 0; i < LINES && r->lines != 0; i++, r->lines--, r->fetch += LINE)
        __builtin_prefetch(r->fetch, 0, 2);
    if (row + QUARTER < TILE)
        return;
    r->next++;
    r->left--;
    r->k += UNIT;
    r->b += UNIT * stride;
    if (r->k >= r->g->k && r->left != 0)
        find_columns(r, r->column + TILE);
}

static void begin_ring(ring *r, const prt_bf16x3_small_m *g, size_t units)
{
    const size_t next = (g->first / PRT_GEMM_PANEL + 1) * PRT_GEMM_PANEL;
    *r = (ring){ .g = g, .at = (char *)g->scratch, .left = units, .check = _mm512_setzero_ps() };
    order_pairs(&r->order);
    if (next < g->last) {
        r->fetch = (const char *)(g->b + next * g->k);
        r->lines = (prt_gemm_width(g->last) - next) * g->k / TILE;
    }
    find_columns(r, g->first);
    for (size_t row = 0; row < LEAD * TILE && r->left != 0; row += QUARTER)
        convert_slot(r, row % TILE);
}

/* Offsets of the rows of each tile. The last tiles may overlap. */
typedef struct tile_offsets {
    size_t at[4]; /* bytes */
} tile_offsets;

static tile_offsets tile_offsets_of(size_t rows, size_t each, size_t row)
{
    return (tile_offsets){ { 0, each * row, 2 * each * row, (rows - each) * row } };
}

#define CONVERT(slot)                                                                              \
    BARRIER();                                                                                     \
    if (r->left != 0)                                                                              \
        convert_slot(r, (slot)*QUARTER);                                                           \
    BARRIER()

/* Multiplies all K of 16 columns, from unit `i` on, counted over all columns. */
static void sum_columns(ring *r, const tile_offsets *p, size_t i)
{
    const size_t lda = r->g->lda * sizeof(float);
    const char *a = (const char *)r->g->a;
    const char *a1 = a + p->at[1], *a2 = a + p->at[2], *a3 = a + p->at[3];
    for (size_t k = 0; k < r->g->k; k += UNIT, i++) {
        const char *b = r->at + i % RING * PART;
        _tile_loadd(6, b, LINE);
        _tile_loadd(4, a + LINE, lda); /* low high' */
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(5, a1 + LINE, lda);
        _tile_dpbf16ps(1, 5, 6);
        CONVERT(0);
        _tile_loadd(4, a2 + LINE, lda);
        _tile_dpbf16ps(2, 4, 6);
        _tile_loadd(5, a3 + LINE, lda);
        _tile_dpbf16ps(3, 5, 6);
        _tile_loadd(7, b + PART / 2, LINE);
        CONVERT(1);
        _tile_loadd(4, a, lda); /* high high', high low' */
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(5, a1, lda);
        _tile_dpbf16ps(1, 5, 6);
        _tile_dpbf16ps(0, 4, 7);
        _tile_dpbf16ps(1, 5, 7);
        CONVERT(2);
        _tile_loadd(4, a2, lda);
        _tile_dpbf16ps(2, 4, 6);
        _tile_loadd(5, a3, lda);
        _tile_dpbf16ps(3, 5, 6);
        _tile_dpbf16ps(2, 4, 7);
        _tile_dpbf16ps(3, 5, 7);
        CONVERT(3);
        a += 2 * LINE;
        a1 += 2 * LINE;
        a2 += 2 * LINE;
        a3 += 2 * LINE;
    }
}

static void finish(const prt_bf16x3_small_m *g, size_t j, size_t columns)
{
    prt_gemm_end end = *g->end;
    if (end.residual != NULL)
        end.residual += j;
    end_sums(g->rows, columns, g->c + j, g->ldc, &end);
}

bool prt_bf16x3_small_m_amx(const prt_bf16x3_small_m *g);

bool prt_bf16x3_small_m_amx(const prt_bf16x3_small_m *g)
{
    const size_t each = (g->rows + 3) / 4, units = (g->k + UNIT - 1) / UNIT;
    float *scratch = g->scratch + RING * PART / sizeof(float);
    const tile_offsets a = tile_offsets_of(g->rows, each, g->lda * sizeof(float));
    ring r;
    begin_ring(&r, g, units * ((g->last - g->first + TILE - 1) / TILE));
    configure(each, each);
    for (size_t j = g->first, i = 0, from = j; j < g->last; j += TILE, i += units) {
        const size_t left = g->last - j, columns = left < TILE ? left : TILE;
        float *c = left < TILE ? scratch : g->c + j;
        const size_t ldc = left < TILE ? (size_t)TILE : g->ldc;
        const tile_offsets to = tile_offsets_of(g->rows, each, ldc * sizeof(float));
        _Alignas(LINE) float bias[TILE];
        _mm512_store_ps(bias,
            g->bias != NULL ? _mm512_maskz_loadu_ps(mask_of(left), g->bias + j)
                            : _mm512_setzero_ps());
        BARRIER();
        _tile_loadd(0, bias, 0);
        _tile_loadd(1, bias, 0);
        _tile_loadd(2, bias, 0);
        _tile_loadd(3, bias, 0);
        sum_columns(&r, &a, i);
        _tile_stored(0, (char *)c + to.at[0], ldc * sizeof(float));
        _tile_stored(1, (char *)c + to.at[1], ldc * sizeof(float));
        _tile_stored(2, (char *)c + to.at[2], ldc * sizeof(float));
        _tile_stored(3, (char *)c + to.at[3], ldc * sizeof(float));
        BARRIER();
        for (size_t row = 0; left < TILE && row < g->rows; row++)
            _mm512_mask_storeu_ps(g->c + row * g->ldc + j, mask_of(left),
                _mm512_load_ps(scratch + row * TILE));
        if (g->end != NULL && ((j + TILE) % PRT_GEMM_PANEL == 0 || left <= TILE)) {
            finish(g, from, j + columns - from);
            from = j + TILE;
        }
    }
    _tile_release();
    return is_finite(r.check);
}
