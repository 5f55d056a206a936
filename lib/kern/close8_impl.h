/* SPDX-License-Identifier: MIT */
/*
 * close8_impl.h — tiles of fours of 8 bits that become bytes while their sums are in registers, by
 * VNNI: of whole panels, for which storing and loading sums is as much work as some steps of K.
 */
#ifndef PRT_KERN_CLOSE8_IMPL_H
#define PRT_KERN_CLOSE8_IMPL_H

#include "kern/dot.h"
#include "kern/dot8_words.h"
#include "kern/requantize_impl.h"

#if defined(__AVX512VNNI__)
enum { CLOSE_ROWS = 6, CLOSE_WIDE = 4 };

/* What all rows have in common. Bytes without a sign are 128 less until the end. */
typedef struct close_with {
    vf near[CLOSE_WIDE];
    __m512i zero, flip;
} close_with;

static inline void close_store(const q_words r[CLOSE_WIDE], const close_with *c, uint8_t *y)
{
    const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(r[0], r[1]), c->zero);
    const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(r[2], r[3]), c->zero);
    q_store(y, q_in_order(_mm512_xor_si512(_mm512_packs_epi16(low, high), c->flip)));
}

/* A row that single precision is not sure of. */
static __attribute__((noinline)) void close_again(const q_words s[CLOSE_WIDE],
    const double *scales, const close_with *c, uint8_t *y)
{
    q_words r[CLOSE_WIDE];
    for (size_t k = 0; k < CLOSE_WIDE; k++)
        r[k] = q_scale(s[k], scales + k * Q_LANES);
    close_store(r, c, y);
}

static inline void close_tile(const prt_dot_block *g, const prt_requantize *q, const close_with *c,
    size_t row, const char *next, size_t stride, uint8_t *y, size_t ldy)
{
    const size_t words = g->words, taps = g->from != NULL ? g->taps : 1;
    const uint32_t *a[CLOSE_ROWS], *b = g->b;
    dot_words sum[CLOSE_ROWS][CLOSE_WIDE];
    PRT_UNROLL(6)
    for (size_t i = 0; i < CLOSE_ROWS; i++)
        PRT_UNROLL(4)
        for (size_t k = 0; k < CLOSE_WIDE; k++)
            sum[i][k] = (dot_words)q_load(q->biases + k * Q_LANES);
    for (size_t t = 0; t < taps; t++) {
        PRT_UNROLL(6)
        for (size_t i = 0; i < CLOSE_ROWS; i++)
            a[i] = g->from != NULL ? g->from[t * g->step + row + i] : g->a + (row + i) * g->lda;
        for (size_t p = 0; p < words; p++, b += PRT_GEMM_PANEL, next += stride) {
            dot_words w[CLOSE_WIDE];
            __builtin_prefetch(next, 0, 2);
            PRT_UNROLL(4)
            for (size_t k = 0; k < CLOSE_WIDE; k++)
                w[k] = load_words(b + k * Q_LANES);
            PRT_UNROLL(6)
            for (size_t i = 0; i < CLOSE_ROWS; i++) {
                const dot_words x = set_words(a[i][p]);
                PRT_UNROLL(4)
                for (size_t k = 0; k < CLOSE_WIDE; k++)
                    sum[i][k] = step_fours(sum[i][k], x, w[k]);
            }
        }
    }
    PRT_UNROLL(6)
    for (size_t i = 0; i < CLOSE_ROWS; i++, y += ldy) {
        q_words r[CLOSE_WIDE];
        vf far = v_set(0.0f);
        PRT_UNROLL(4)
        for (size_t k = 0; k < CLOSE_WIDE; k++)
            r[k] = q_near((q_words)sum[i][k], c->near[k], &far);
        if (q_is_sure(far)) {
            close_store(r, c, y);
        } else {
            q_words s[CLOSE_WIDE];
            PRT_UNROLL(4)
            for (size_t k = 0; k < CLOSE_WIDE; k++)
                s[k] = (q_words)sum[i][k];
            close_again(s, q->scales, c, y);
        }
    }
}

static size_t run_fours_close(const prt_dot_block *g, const prt_requantize *q, uint8_t *y,
    size_t ldy)
{
    if (g->columns != PRT_GEMM_PANEL || !q->tame)
        return 0;
    const size_t tiles = g->rows / CLOSE_ROWS, rows = tiles * CLOSE_ROWS;
    const size_t depth = g->words * (g->from != NULL ? g->taps : 1);
    size_t lines = g->next != NULL && g->next_lines <= tiles * depth ? g->next_lines : 0;
    const char *next = g->next;
    const bool sign = q->low < 0;
    close_with c = { .zero = _mm512_set1_epi16((short)(q->zero - (sign ? 0 : 128))),
        .flip = _mm512_set1_epi8(sign ? 0 : (char)0x80) };
    for (size_t k = 0; k < CLOSE_WIDE; k++)
        c.near[k] = v_load(q->near + k * Q_LANES);
    for (size_t row = 0; row < rows; row += CLOSE_ROWS) {
        const size_t stride = lines != 0 ? 64 : 0;
        close_tile(g, q, &c, row, lines != 0 ? next : (const char *)g->b, stride, y + row * ldy,
            ldy);
        next += stride * depth;
        lines -= lines < depth ? lines : depth;
    }
    return rows;
}
#endif

#endif
