/* SPDX-License-Identifier: MIT */
/*
 * depthwise3x3_i8.inl — 3x3 depthwise int8 convolution by VNNI. The three taps of a window's column
 * are packed into one word (dot4_i8), which is multiplied once and added to the sums of all outputs
 * that read the column. Sums of the outputs in progress stay in registers.
 */
#ifndef PRT_KERN_INT8_DEPTHWISE3X3_I8_INL
#define PRT_KERN_INT8_DEPTHWISE3X3_I8_INL

#include "kern/int8/depthwise_i8.inl"

#if defined(__AVX512VNNI__)
/* Repacks the weights, which are four taps along rows in a word, to one word for each column. */
static void column_weights(const prt_depthwise_i8_block *g, size_t first, size_t n, bool two,
    depthwise_block *b)
{
    const uint32_t *a = g->w + first, *m = a + g->channels, *z = m + g->channels;
    uint32_t w[3][DW_CHANNELS];
    for (size_t i = 0; i < n; i++) {
        w[0][i] = (a[i] & 0xff) | (a[i] >> 16 & 0xff00) | (m[i] & 0xff0000);
        w[1][i] = (a[i] >> 8 & 0xff) | (m[i] & 0xff) << 8 | (m[i] >> 8 & 0xff0000);
        w[2][i] = (a[i] >> 16 & 0xff) | (m[i] & 0xff00) | (z[i] & 0xff) << 16;
    }
    for (size_t k = 0; k < 3; k++)
        depthwise_order(sizeof(uint32_t), n, two, w[k], b->w[k]);
}

/* Loads column i of the inputs of an output row, or of two rows. */
static inline DW_INLINE void column_words(const depthwise_block *b, depthwise_at at, size_t i,
    q_words x[4])
{
    at.i += i;
    at.j += i;
    const q_words t = depthwise_tap(b, 0, at), u = depthwise_tap(b, 1, at), v = depthwise_tap(b,
        2, at);
    const q_words none = DW_SIMD(setzero_si512)();
    const q_words low = DW_SIMD(unpacklo_epi8)(t, u), high = DW_SIMD(unpackhi_epi8)(t, u);
    const q_words low2 = DW_SIMD(unpacklo_epi8)(v, none), high2 = DW_SIMD(unpackhi_epi8)(v, none);
    x[0] = DW_SIMD(unpacklo_epi16)(low, low2);
    x[1] = DW_SIMD(unpackhi_epi16)(low, low2);
    x[2] = DW_SIMD(unpacklo_epi16)(high, high2);
    x[3] = DW_SIMD(unpackhi_epi16)(high, high2);
}

/* Computes to = from + the products of a column. */
static inline DW_INLINE void column_add(const q_words from[4], const q_words x[4],
    const int32_t *w, q_words to[4])
{
    PRT_UNROLL(4)
    for (size_t k = 0; k < 4; k++)
        to[k] = (q_words)step_dot4((dot_words)from[k], (dot_words)x[k],
            (dot_words)q_load(w + k * Q_LANES));
}

static inline DW_INLINE void column_row(const prt_depthwise_i8_block *g, const depthwise_block *b,
    depthwise_at at, size_t stride, uint8_t *y, uint8_t *y2)
{
    const prt_requantize q = *g->q;
    q_words bias[4], sum[4], after[4], x[4];
    PRT_UNROLL(4)
    for (size_t k = 0; k < 4; k++)
        bias[k] = q_load(b->bias + k * Q_LANES);
    column_words(b, at, 0, x);
    column_add(bias, x, b->w[0], sum);
    if (stride == 1) {
        column_words(b, at, 1, x);
        column_add(sum, x, b->w[1], sum);
        column_add(bias, x, b->w[0], after);
    }
    for (size_t i = 0; i < g->wide; i++, y += g->ldy, y2 += g->ldy) {
        q_words next[4];
        if (stride == 1) {
            column_words(b, at, i + 2, x);
            column_add(after, x, b->w[1], next);
        } else {
            column_words(b, at, 2 * i + 1, x);
            column_add(sum, x, b->w[1], sum);
            column_words(b, at, 2 * i + 2, x);
        }
        column_add(sum, x, b->w[2], sum);
        depthwise_requantize(&q, b, &at, sum, y, y2);
        column_add(bias, x, b->w[0], after);
        PRT_UNROLL(4)
        for (size_t k = 0; k < 4; k++) {
            sum[k] = stride == 1 ? next[k] : after[k];
        }
    }
}

static inline void run_columns(const prt_depthwise_i8_block *g)
{
    const size_t rows = g->pixels / g->wide, columns = (g->wide - 1) * g->stride + 3;
    depthwise_block b;
    for (size_t t = 0; t < 3; t++)
        b.from[t] = g->from + t * rows * columns;
    for (size_t first = g->first, n; first < g->last; first += n) {
        n = g->last - first < DW_CHANNELS ? g->last - first : DW_CHANNELS;
        const bool two = n <= DW_CHANNELS / 2;
        column_weights(g, first, n, two, &b);
        depthwise_order_scales(g, first, n, two, &b);
        for (size_t row = 0; row < rows; row += two ? 2 : 1) {
            const size_t other = two && row + 1 < rows ? 1 : 0;
            uint8_t *y = g->y + row * g->wide * g->ldy + first, *y2 = y + other * g->wide * g->ldy;
            depthwise_at at = { .first = first, .n = n, .i = row * columns,
                .j = (row + other) * columns };
            if (two) {
                at.two = true;
                g->stride == 1 ? column_row(g, &b, at, 1, y, y2) : column_row(g, &b, at, 2, y, y2);
            } else {
                g->stride == 1 ? column_row(g, &b, at, 1, y, y2) : column_row(g, &b, at, 2, y, y2);
            }
        }
    }
}
#endif

#endif
