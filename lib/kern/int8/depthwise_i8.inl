/* SPDX-License-Identifier: MIT */
/*
 * depthwise_i8.inl — depthwise int8 convolution: four taps of a channel form a word (dot4_i8).
 * Interleaving bytes within 128-bit lanes permutes the channels; narrowing the results restores
 * their order. Weights, biases and scales of a block of channels are stored permuted, in L1.
 */
#ifndef PRT_KERN_INT8_DEPTHWISE_I8_INL
#define PRT_KERN_INT8_DEPTHWISE_I8_INL

#include "kern/int8/dot.h"
#include "kern/int8/dot4_i8_words.h"
#include "kern/int8/requantize.inl"

/* Computes channels [first, first + n) one by one. */
static inline void depthwise_exact(const prt_depthwise_i8_block *g, size_t first, size_t n)
{
    prt_requantize q = *g->q;
    const int8_t *w = (const int8_t *)g->w;
    for (size_t i = 0; i < g->pixels; i++)
        for (size_t c = first; c < first + n; c++) {
            int32_t sum = 0;
            for (size_t t = 0; t < g->taps; t++)
                sum += (int32_t)((const uint8_t *)g->from[t * g->pixels + i])[c] *
                    (int32_t)w[(t / 4 * g->channels + c) * 4 + t % 4];
            sum = (int32_t)((uint32_t)sum + (uint32_t)q.biases[c]);
            g->y[i * g->ldy + c] =
                (uint8_t)(int32_t)requantized((double)sum, q.scales[c], &q);
        }
}

#if defined(__AVX2__) && defined(__FMA__)
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define DW_SIMD(name) _mm512_##name
static inline q_words depthwise_load(const void *p, size_t n)
{
    return _mm512_maskz_loadu_epi8(~(uint64_t)0 >> (64 - n), p);
}
static inline void depthwise_store(uint8_t *y, q_words bytes, size_t n)
{
    _mm512_mask_storeu_epi8(y, ~(uint64_t)0 >> (64 - n), bytes);
}
/* The same for two pixels, each in half a vector. */
static inline q_words depthwise_load_two(const void *p, const void *p2, size_t n)
{
    const __mmask32 m = ~(uint32_t)0 >> (32 - n);
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_maskz_loadu_epi8(m, p)),
        _mm256_maskz_loadu_epi8(m, p2), 1);
}
static inline void depthwise_store_two(uint8_t *y, uint8_t *y2, q_words bytes, size_t n)
{
    const __mmask32 m = ~(uint32_t)0 >> (32 - n);
    _mm256_mask_storeu_epi8(y2, m, _mm512_extracti64x4_epi64(bytes, 1));
    _mm256_mask_storeu_epi8(y, m, _mm512_castsi512_si256(bytes));
}
#else
#define DW_SIMD(name) _mm256_##name
static inline q_words depthwise_load(const void *p, size_t n)
{
    (void)n;
    return _mm256_loadu_si256(p);
}
static inline void depthwise_store(uint8_t *y, q_words bytes, size_t n)
{
    (void)n;
    q_store(y, bytes);
}
static inline q_words depthwise_load_two(const void *p, const void *p2, size_t n)
{
    (void)p2;
    return depthwise_load(p, n);
}
static inline void depthwise_store_two(uint8_t *y, uint8_t *y2, q_words bytes, size_t n)
{
    (void)y2;
    depthwise_store(y, bytes, n);
}
#endif

enum { DW_CHANNELS = 4 * Q_LANES, DW_WORDS = PRT_DEPTHWISE_TAPS / 4 };

/* Parameters of a block of channels, in the order of interleaved bytes. */
typedef struct depthwise_block {
    int32_t w[DW_WORDS][DW_CHANNELS], bias[DW_CHANNELS];
    double scale[DW_CHANNELS];
    float scales_f32[DW_CHANNELS];
    const uint32_t *const *from[PRT_DEPTHWISE_TAPS]; /* the last tap is repeated up to a multiple of
                                                      * four */
} depthwise_block;

/* Stores n elements of `size` bytes in that order, followed by zeros. For two pixels they are
 * repeated in the second half. */
static void depthwise_order(size_t size, size_t n, bool two, const void *from, void *to)
{
    char some[DW_CHANNELS * sizeof(double)];
    memset(some, 0, size * DW_CHANNELS);
    memcpy(some, from, n * size);
    if (two)
        memcpy(some + DW_CHANNELS / 2 * size, from, n * size);
    for (size_t i = 0; i < DW_CHANNELS / 4; i++) /* four elements: lane l of vector k */
        memcpy((char *)to + i * 4 * size,
            some + (i % (Q_LANES / 4) * 16 + i / (Q_LANES / 4) * 4) * size, 4 * size);
}

/* Levels with VNNI have code for two pixels at a time; other levels are built for size. */
#if defined(__AVX512VNNI__)
enum { DW_TWO_PIXELS = 1 };
#else
enum { DW_TWO_PIXELS = 0 };
#endif

/* Inlined once for each compile-time variant of the caller. */
#define DW_INLINE __attribute__((always_inline))

/* Some channels of one or two pixels. */
typedef struct depthwise_at {
    size_t first, n, i, j;
    bool two;
} depthwise_at;

static inline q_words depthwise_tap(const depthwise_block *b, size_t tap, depthwise_at at)
{
    const uint8_t *p = (const uint8_t *)b->from[tap][at.i] + at.first;
    return at.two ? depthwise_load_two(p, (const uint8_t *)b->from[tap][at.j] + at.first, at.n)
                  : depthwise_load(p, at.n);
}

static inline DW_INLINE void depthwise_four(const depthwise_block *b, size_t f, depthwise_at at,
    q_words sum[4])
{
    const q_words t = depthwise_tap(b, 4 * f, at), u = depthwise_tap(b, 4 * f + 1, at);
    const q_words v = depthwise_tap(b, 4 * f + 2, at), w = depthwise_tap(b, 4 * f + 3, at);
    const q_words low = DW_SIMD(unpacklo_epi8)(t, u), high = DW_SIMD(unpackhi_epi8)(t, u);
    const q_words low2 = DW_SIMD(unpacklo_epi8)(v, w), high2 = DW_SIMD(unpackhi_epi8)(v, w);
    const q_words x[4] = { DW_SIMD(unpacklo_epi16)(low, low2), DW_SIMD(unpackhi_epi16)(low, low2),
        DW_SIMD(unpacklo_epi16)(high, high2), DW_SIMD(unpackhi_epi16)(high, high2) };
    PRT_UNROLL(4)
    for (size_t k = 0; k < 4; k++)
        sum[k] = (q_words)step_dot4((dot_words)sum[k], (dot_words)x[k],
            (dot_words)q_load(b->w[f] + k * Q_LANES));
}

static inline DW_INLINE void depthwise_requantize(const prt_requantize *q, const depthwise_block *b,
    const depthwise_at *at, const q_words sum[4], uint8_t *y, uint8_t *y2)
{
    q_words r[4];
    vf scales_f32[4];
    const double *scales[4];
    PRT_UNROLL(4)
    for (size_t k = 0; k < 4; k++) {
        scales_f32[k] = v_load(b->scales_f32 + k * Q_LANES);
        scales[k] = b->scale + k * Q_LANES;
    }
    q_numbers(sum, scales_f32, scales, r);
    if (at->two)
        depthwise_store_two(y, y2, q_pack_bytes(r, q), at->n);
    else
        depthwise_store(y, q_pack_bytes(r, q), at->n);
}

static inline DW_INLINE void depthwise_some(const prt_depthwise_i8_block *g,
    const depthwise_block *b, depthwise_at at,
    size_t words)
{
    const prt_requantize q = *g->q;
    for (at.i = 0; at.i < g->pixels; at.i += at.two ? 2 : 1) {
        q_words sum[4];
        at.j = at.i + 1 < g->pixels ? at.i + 1 : at.i; /* an odd last pixel is computed twice */
        PRT_UNROLL(4)
        for (size_t k = 0; k < 4; k++)
            sum[k] = q_load(b->bias + k * Q_LANES);
        for (size_t f = 0; f < words; f++)
            depthwise_four(b, f, at, sum);
        uint8_t *y = g->y + at.i * g->ldy + at.first;
        depthwise_requantize(&q, b, &at, sum, y, y + (at.j - at.i) * g->ldy);
    }
}

/* Orders the parameters other than weights. */
static void depthwise_order_scales(const prt_depthwise_i8_block *g, size_t first, size_t n,
    bool two,
    depthwise_block *b)
{
    depthwise_order(sizeof(int32_t), n, two, g->q->biases + first, b->bias);
    depthwise_order(sizeof(double), n, two, g->q->scales + first, b->scale);
    depthwise_order(sizeof(float), n, two, g->q->scales_f32 + first, b->scales_f32);
}

static inline void run_depthwise_i8(const prt_depthwise_i8_block *g)
{
    const size_t words = (g->taps + 3) / 4;
    depthwise_block b;
    for (size_t t = 0; t < 4 * words; t++)
        b.from[t] = g->from + (t < g->taps ? t : g->taps - 1) * g->pixels;
    for (size_t first = g->first, n; first < g->last; first += n) {
        n = g->last - first < DW_CHANNELS ? g->last - first : DW_CHANNELS;
        if (n < DW_CHANNELS && Q_LANES == 8) { /* avoids reading beyond the channels */
            if (g->last - g->first < DW_CHANNELS) {
                depthwise_exact(g, first, n);
                return;
            }
            first = g->last - DW_CHANNELS;
            n = DW_CHANNELS;
        }
        const bool two = DW_TWO_PIXELS && n <= DW_CHANNELS / 2;
        for (size_t f = 0; f < words; f++)
            depthwise_order(sizeof(int32_t), n, two, g->w + f * g->channels + first, b.w[f]);
        depthwise_order_scales(g, first, n, two, &b);
        depthwise_some(g, &b, (depthwise_at){ .first = first, .n = n, .two = DW_TWO_PIXELS && two },
            words);
    }
}
#else
static inline void run_depthwise_i8(const prt_depthwise_i8_block *g)
{
    depthwise_exact(g, g->first, g->last - g->first);
}
#endif

#endif
