/* SPDX-License-Identifier: MIT */
/*
 * wise8_impl.h — windows over each channel by itself, 8 bits: four taps of a channel become one
 * word, which is what is multiplied at once. Interleaving bytes within 128 bits puts the channels
 * out of order, and narrowing the results puts them back.
 */
#ifndef PRT_KERN_WISE8_IMPL_H
#define PRT_KERN_WISE8_IMPL_H

#include "kern/dot.h"
#include "kern/dot8_words.h"
#include "kern/requantize_impl.h"

/* Channels [first, first + n) one by one. */
static inline void wise_plain(const prt_wise_block *g, size_t first, size_t n)
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
#define WISE_OF(name) _mm512_##name
static inline q_words wise_load(const void *p, size_t n)
{
    return _mm512_maskz_loadu_epi8(~(uint64_t)0 >> (64 - n), p);
}
static inline void wise_store(uint8_t *y, q_words bytes, size_t n)
{
    _mm512_mask_storeu_epi8(y, ~(uint64_t)0 >> (64 - n), bytes);
}
#else
#define WISE_OF(name) _mm256_##name
static inline q_words wise_load(const void *p, size_t n)
{
    (void)n;
    return _mm256_loadu_si256(p);
}
static inline void wise_store(uint8_t *y, q_words bytes, size_t n)
{
    (void)n;
    q_store(y, bytes);
}
#endif

enum { WISE = 4 * Q_LANES, WISE_FOURS = PRT_WISE_TAPS / 4 };

/* What a block of channels needs, in the order of interleaved bytes. */
typedef struct wise_block {
    int32_t w[WISE_FOURS][WISE], bias[WISE];
    double scale[WISE];
    float near[WISE];
} wise_block;

/* n elements of so many bytes in that order, zeros behind. */
static void wise_lay(size_t size, size_t n, const void *from, void *to)
{
    char some[WISE * sizeof(double)];
    memset(some, 0, size * WISE);
    memcpy(some, from, n * size);
    for (size_t i = 0; i < WISE / 4; i++) /* fours: of vector k, its 128 bits l */
        memcpy((char *)to + i * 4 * size,
            some + (i % (Q_LANES / 4) * 16 + i / (Q_LANES / 4) * 4) * size, 4 * size);
}

static inline void wise_some(const prt_wise_block *g, const wise_block *b, size_t first, size_t n,
    size_t fours)
{
    const prt_requantize q = *g->q;
    const size_t pixels = g->pixels;
    for (size_t i = 0; i < pixels; i++) {
        q_words sum[4];
        PRT_UNROLL(4)
        for (size_t k = 0; k < 4; k++)
            sum[k] = q_load(b->bias + k * Q_LANES);
        for (size_t f = 0; f < fours; f++) {
            q_words t[4];
            PRT_UNROLL(4)
            for (size_t k = 0; k < 4; k++) {
                const size_t tap = 4 * f + k < g->taps ? 4 * f + k : g->taps - 1;
                t[k] = wise_load((const uint8_t *)g->from[tap * pixels + i] + first, n);
            }
            const q_words ab = WISE_OF(unpacklo_epi8)(t[0], t[1]);
            const q_words ab2 = WISE_OF(unpackhi_epi8)(t[0], t[1]);
            const q_words cd = WISE_OF(unpacklo_epi8)(t[2], t[3]);
            const q_words cd2 = WISE_OF(unpackhi_epi8)(t[2], t[3]);
            const q_words x[4] = { WISE_OF(unpacklo_epi16)(ab, cd), WISE_OF(unpackhi_epi16)(ab, cd),
                WISE_OF(unpacklo_epi16)(ab2, cd2), WISE_OF(unpackhi_epi16)(ab2, cd2) };
            PRT_UNROLL(4)
            for (size_t k = 0; k < 4; k++)
                sum[k] = (q_words)step_fours((dot_words)sum[k], (dot_words)x[k],
                    (dot_words)q_load(b->w[f] + k * Q_LANES));
        }
        q_words r[4];
        q_doubt doubt = (q_doubt){ 0 };
        PRT_UNROLL(4)
        for (size_t k = 0; k < 4; k++)
            r[k] = q_near(sum[k], v_load(b->near + k * Q_LANES), &doubt);
        if (!q_is_sure(doubt))
            for (size_t k = 0; k < 4; k++)
                r[k] = q_scale(sum[k], b->scale + k * Q_LANES);
        wise_store(g->y + i * g->ldy + first, q_narrow(r, &q), n);
    }
}

static inline void run_wise(const prt_wise_block *g)
{
    const size_t fours = (g->taps + 3) / 4;
    wise_block b;
    for (size_t first = 0, n; first < g->channels; first += n) {
        n = g->channels - first < WISE ? g->channels - first : WISE;
        if (n < WISE && Q_LANES == 8) { /* nothing is read that is not there */
            if (g->channels < WISE) {
                wise_plain(g, first, n);
                return;
            }
            first = g->channels - WISE;
            n = WISE;
        }
        for (size_t f = 0; f < fours; f++)
            wise_lay(sizeof(int32_t), n, g->w + f * g->channels + first, b.w[f]);
        wise_lay(sizeof(int32_t), n, g->q->biases + first, b.bias);
        wise_lay(sizeof(double), n, g->q->scales + first, b.scale);
        wise_lay(sizeof(float), n, g->q->near + first, b.near);
        if (fours == 3)
            wise_some(g, &b, first, n, 3);
        else
            wise_some(g, &b, first, n, fours);
    }
}
#else
static inline void run_wise(const prt_wise_block *g)
{
    wise_plain(g, 0, g->channels);
}
#endif

#endif
