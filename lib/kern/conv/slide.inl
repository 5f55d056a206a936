/* SPDX-License-Identifier: MIT */
/*
 * slide.inl — slide.h for one level. A tile keeps up to eight adjacent outputs of a row in
 * registers, by one vector of channels; each input is loaded once and added to every output that
 * reads it. Loop order: tiles, channels, lines, kernel rows. Lines are innermost, since the next
 * line finds most of its inputs in L1. The last vector of channels begins early enough to be
 * whole.
 */
#ifndef PRT_KERN_CONV_SLIDE_INL
#define PRT_KERN_CONV_SLIDE_INL

#include "kern/vector/simd.h"
#include "kern/conv/slide.h"

enum { SLIDE_ROWS = 3, SLIDE_STRIDES = 2 };

/* Prefetches the taps of the next channels. They are too far apart for the hardware prefetcher, and
 * come from memory, since each is read once a run. */
static inline void fetch_taps(const prt_slide *d, size_t taps, size_t c)
{
    for (size_t k = 0; k < taps; k++)
        __builtin_prefetch(d->w + k * d->pitch + c, 0, 3);
}

/* Inputs of a row that may lie outside the image are checked; all others are inside at compile
 * time. */
#define SLIDE_HAS(i, N, K, S)                                                                      \
    (((i) >= K / 2 || (i) >= from) && ((i) < (N - 1) * S + K - K / 2 || (i) < to))

/* N outputs of each line from output `at` on, K taps a row, stride S. */
#define SLIDE(N, K, S)                                                                             \
    PRT_AT_LINE static void slide_##N##_##K##_##S(const prt_slide *d, size_t at)                   \
    {                                                                                              \
        enum { INPUTS = (N - 1) * S + K };                                                         \
        const ptrdiff_t all = (ptrdiff_t)d->x_pitch;                                               \
        const ptrdiff_t start = (ptrdiff_t)(at * S) - (ptrdiff_t)d->left;                          \
        const size_t from = start < 0 ? (size_t)-start : 0;                                        \
        const size_t right = (size_t)((ptrdiff_t)d->in_w - start);                                 \
        const size_t to = right < INPUTS ? right : INPUTS, row_size = d->in_w * d->x_pitch;        \
        const vf low = v_set(d->low), high = v_set(d->high);                                       \
        for (size_t next = 0; next < d->channels; next += VL) {                                    \
            const size_t c = next + VL <= d->channels ? next : d->channels - VL;                   \
            const vf first = d->bias != NULL ? v_load(d->bias + c) : v_set(0.0f);                  \
            float *y = d->y + at * d->pitch + c;                                                   \
            fetch_taps(d, d->rows * K, c + VL);                                                    \
            for (size_t line = 0; line < d->lines; line++, y += d->n * d->pitch) {                 \
                const size_t top = line * d->stride_h;                                             \
                const size_t r0 = top < d->above ? d->above - top : 0;                             \
                const size_t end = d->in_h + d->above > top ? d->in_h + d->above - top : 0;        \
                const size_t r1 = end < d->rows ? end : d->rows;                                   \
                vf sum[N];                                                                         \
                PRT_UNROLL(8)                                                                      \
                for (size_t i = 0; i < N; i++)                                                     \
                    sum[i] = first;                                                                \
                for (size_t r = r0; r < r1; r++) {                                                 \
                    const float *x = d->x + (top + r - d->above) * row_size + c;                   \
                    const float *w = d->w + r * K * d->pitch + c;                                  \
                    vf tap[K];                                                                     \
                    PRT_UNROLL(8)                                                                  \
                    for (size_t k = 0; k < K; k++)                                                 \
                        tap[k] = v_load(w + k * d->pitch);                                         \
                    PRT_UNROLL(24)                                                                 \
                    for (size_t i = 0; i < INPUTS; i++)                                            \
                        if (SLIDE_HAS(i, N, K, S)) {                                               \
                            const vf in = v_load(x + (start + (ptrdiff_t)i) * all);                \
                            PRT_UNROLL(8)                                                          \
                            for (size_t k = 0; k < K; k++)                                         \
                                if (i >= k && (i - k) % S == 0 && (i - k) / S < N)                 \
                                    sum[(i - k) / S] = v_fma(in, tap[k], sum[(i - k) / S]);        \
                        }                                                                          \
                }                                                                                  \
                PRT_UNROLL(8)                                                                      \
                for (size_t i = 0; i < N; i++) {                                                   \
                    v_store(y + i * d->pitch, v_min(high, v_max(low, sum[i])));                    \
                    __builtin_prefetch(y + i * d->pitch + VL, 1, 3);                               \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* Tiles of two and three outputs run as tiles of one: such small images take little time. */
#if defined(__AVX2__) || defined(__AVX512F__)
enum { SLIDE_MOST = 8 };
#define SLIDE_ALL(K, S)                                                                            \
    SLIDE(1, K, S) SLIDE(4, K, S) SLIDE(5, K, S) SLIDE(6, K, S) SLIDE(7, K, S) SLIDE(8, K, S)
#define SLIDE_NAMES(K, S)                                                                          \
    { slide_1_##K##_##S, NULL, NULL, slide_4_##K##_##S, slide_5_##K##_##S, slide_6_##K##_##S,      \
        slide_7_##K##_##S, slide_8_##K##_##S }
#else /* few registers, or an unknown number */
enum { SLIDE_MOST = 4 };
#define SLIDE_ALL(K, S) SLIDE(1, K, S) SLIDE(2, K, S) SLIDE(3, K, S) SLIDE(4, K, S)
#define SLIDE_NAMES(K, S)                                                                          \
    { slide_1_##K##_##S, slide_2_##K##_##S, slide_3_##K##_##S, slide_4_##K##_##S }
#endif
SLIDE_ALL(3, 1)
SLIDE_ALL(3, 2)
SLIDE_ALL(5, 1)
SLIDE_ALL(5, 2)
SLIDE_ALL(7, 1)

typedef void (*slide_part)(const prt_slide *s, size_t at);

/* Cuts a row of outputs into tiles of nearly the same size: parts[n - 1] for n outputs, or parts[0]
 * for each output if that is NULL. */
static void run_parts(const prt_slide *s, const slide_part *parts, size_t most)
{
    const size_t groups = (s->n + most - 1) / most;
    for (size_t i = 0, at = 0; i < groups; i++) {
        const size_t end = at + s->n / groups + (i < s->n % groups);
        const size_t n = parts[end - at - 1] != NULL ? end - at : 1;
        for (; at < end; at += n)
            parts[n - 1](s, at);
    }
}

#ifdef __AVX512F__ /* 32 registers */

/* ---- 3x3 at stride 1: a row of inputs is loaded once and added to the three lines of outputs that
 * read it, all in registers ---- */

#define ROLL(N)                                                                                    \
    PRT_AT_LINE static void roll_##N(const prt_slide *d, size_t at)                                \
    {                                                                                              \
        enum { K = 3, INPUTS = N + K - 1 };                                                        \
        const ptrdiff_t all = (ptrdiff_t)d->x_pitch;                                               \
        const ptrdiff_t start = (ptrdiff_t)at - (ptrdiff_t)d->left;                                \
        const size_t from = start < 0 ? (size_t)-start : 0;                                        \
        const size_t right = (size_t)((ptrdiff_t)d->in_w - start);                                 \
        const size_t to = right < INPUTS ? right : INPUTS, row_size = d->in_w * d->x_pitch;        \
        for (size_t next = 0; next < d->channels; next += VL) {                                    \
            const size_t c = next + VL <= d->channels ? next : d->channels - VL;                   \
            const vf first = d->bias != NULL ? v_load(d->bias + c) : v_set(0.0f);                  \
            const vf low = v_set(d->low), high = v_set(d->high);                                   \
            const float *x = d->x + c;                                                             \
            float *y = d->y + at * d->pitch + c;                                                   \
            vf tap[K * K], s0[N], s1[N], s2[N];                                                    \
            fetch_taps(d, K * K, c + VL);                                                          \
            PRT_UNROLL(16)                                                                         \
            for (size_t k = 0; k < K * K; k++)                                                     \
                tap[k] = v_load(d->w + k * d->pitch + c);                                          \
            PRT_UNROLL(8)                                                                          \
            for (size_t i = 0; i < N; i++)                                                         \
                s0[i] = s1[i] = s2[i] = first;                                                     \
            for (size_t row = 0; row < d->lines + K - 1; row++) {                                  \
                if (row >= d->above && row - d->above < d->in_h) {                                 \
                    PRT_UNROLL(16)                                                                 \
                    for (size_t i = 0; i < INPUTS; i++)                                            \
                        if (SLIDE_HAS(i, N, K, 1)) {                                               \
                            const vf in = v_load(x + (start + (ptrdiff_t)i) * all);                \
                            PRT_UNROLL(8)                                                          \
                            for (size_t k = 0; k < K; k++)                                         \
                                if (i >= k && i - k < N) {                                         \
                                    s0[i - k] = v_fma(in, tap[2 * K + k], s0[i - k]);              \
                                    s1[i - k] = v_fma(in, tap[K + k], s1[i - k]);                  \
                                    s2[i - k] = v_fma(in, tap[k], s2[i - k]);                      \
                                }                                                                  \
                        }                                                                          \
                    x += row_size;                                                                 \
                }                                                                                  \
                if (row >= K - 1) {                                                                \
                    PRT_UNROLL(8)                                                                  \
                    for (size_t i = 0; i < N; i++) {                                               \
                        v_store(y + i * d->pitch, v_min(high, v_max(low, s0[i])));                 \
                        __builtin_prefetch(y + i * d->pitch + VL, 1, 3);                           \
                    }                                                                              \
                    y += d->n * d->pitch;                                                          \
                }                                                                                  \
                PRT_UNROLL(8)                                                                      \
                for (size_t i = 0; i < N; i++) {                                                   \
                    s0[i] = s1[i];                                                                 \
                    s1[i] = s2[i];                                                                 \
                    s2[i] = first;                                                                 \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
ROLL(1) ROLL(3) ROLL(4) ROLL(5) ROLL(6)

enum { ROLL_MOST = 6 };

/* Returns false if this is another kernel or stride. */
static bool roll(const prt_slide *s)
{
    static const slide_part parts[ROLL_MOST] = { roll_1, NULL, roll_3, roll_4, roll_5,
        roll_6 };
    if (s->columns != 3 || s->rows != 3 || s->stride_w != 1 || s->stride_h != 1)
        return false;
    run_parts(s, parts, ROLL_MOST);
    return true;
}
#else
static bool roll(const prt_slide *s)
{
    (void)s;
    return false;
}
#endif

static void run_slide(const prt_slide *s)
{
    static const slide_part parts[SLIDE_ROWS][SLIDE_STRIDES][SLIDE_MOST] = {
        { SLIDE_NAMES(3, 1), SLIDE_NAMES(3, 2) }, { SLIDE_NAMES(5, 1), SLIDE_NAMES(5, 2) },
        { SLIDE_NAMES(7, 1) }
    };
    if (roll(s))
        return;
    run_parts(s, parts[s->columns / 2 - 1][s->stride_w - 1], SLIDE_MOST);
}

#endif
