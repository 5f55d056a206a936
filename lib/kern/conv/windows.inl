/* SPDX-License-Identifier: MIT */
/*
 * windows.inl — windows.h for one level: a register tile is some outputs of a row by one vector of
 * channels. Loop order: tiles, channels, lines, taps.
 */
#ifndef PRT_KERN_CONV_WINDOWS_INL
#define PRT_KERN_CONV_WINDOWS_INL

#include "kern/conv/windows.h"
#include "kern/vector/simd.h"

/* N outputs of each line, one vector of channels, which may be partial. */
#define DEPTHWISE(N)                                                                               \
    static void depthwise_##N(const prt_windows *d, size_t at, size_t channel)                     \
    {                                                                                              \
        const size_t all = d->channels, left = all - channel, step = d->x_step;                    \
        const size_t columns = d->columns, x_column = d->x_column;                                 \
        const size_t w_row = d->w_row - columns * all;                                             \
        /* Negative if the taps of a row reach further than the distance of rows. */               \
        const ptrdiff_t x_row = (ptrdiff_t)d->x_row - (ptrdiff_t)(columns * x_column);             \
        const ptrdiff_t x_plane = (ptrdiff_t)d->x_plane - (ptrdiff_t)(d->rows * d->x_row);         \
        const ptrdiff_t w_plane = (ptrdiff_t)d->w_plane - (ptrdiff_t)(d->rows * d->w_row);         \
        const vf low = v_set(d->low), high = v_set(d->high);                                       \
        for (size_t line = 0; line < d->lines; line++) {                                           \
            const float *x = d->x + line * d->x_line + at * step + channel, *w = d->w + channel;   \
            vf sum[N];                                                                             \
            PRT_UNROLL(8)                                                                          \
            for (size_t i = 0; i < N; i++)                                                         \
                sum[i] = d->bias != NULL ? v_load_some(d->bias + channel, 0, left) : v_set(0.0f);  \
            for (size_t p = d->more + 1; p != 0; p--, x += x_plane, w += w_plane)                  \
                for (size_t r = d->rows; r != 0; r--, x += x_row, w += w_row)                      \
                    for (size_t k = columns; k != 0; k--, x += x_column, w += all) {               \
                        const vf tap = v_load_some(w, 0, left);                                    \
                        PRT_UNROLL(8)                                                              \
                        for (size_t i = 0; i < N; i++)                                             \
                            sum[i] = v_fma(v_load_some(x + i * step, 0, left), tap, sum[i]);       \
                    }                                                                              \
            float *y = d->y + line * d->y_line + at * d->y_step + channel;                         \
            PRT_UNROLL(8)                                                                          \
            for (size_t i = 0; i < N; i++)                                                         \
                v_store_some(y + i * d->y_step, 0, left, v_min(high, v_max(low, sum[i])));         \
        }                                                                                          \
    }
DEPTHWISE(1) DEPTHWISE(2) DEPTHWISE(3) DEPTHWISE(4) DEPTHWISE(5) DEPTHWISE(6)

/* Broadcasts one lane of each group of `group` lanes to all lanes of the group, beginning with the
 * first lane; lanes_next selects the next one. */
#if defined(__AVX512F__) && defined(__AVX512DQ__)
typedef __m512i lanes;
static inline lanes lanes_first(size_t group)
{
    return _mm512_and_si512(_mm512_set1_epi32(-(int)group),
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}
static inline lanes lanes_next(lanes at)
{
    return _mm512_add_epi32(at, _mm512_set1_epi32(1));
}
static inline vf lanes_of(vf x, lanes at)
{
    return _mm512_permutexvar_ps(at, x);
}
enum { GROUPED_MOST = 6 };
#define GROUPED_MANY grouped_6
#elif defined(__AVX2__) && defined(__FMA__)
typedef __m256i lanes;
static inline lanes lanes_first(size_t group)
{
    return _mm256_and_si256(_mm256_set1_epi32(-(int)group),
        _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline lanes lanes_next(lanes at)
{
    return _mm256_add_epi32(at, _mm256_set1_epi32(1));
}
static inline vf lanes_of(vf x, lanes at)
{
    return _mm256_permutevar8x32_ps(x, at);
}
enum { GROUPED_MOST = 4 };
#define GROUPED_MANY grouped_4
#endif

#if defined(GROUPED_MANY)
#define GROUPED(N)                                                                                 \
    static void grouped_##N(const prt_windows *d, size_t at, size_t channel)                       \
    {                                                                                              \
        const size_t all = d->channels, left = all - channel, step = d->x_step;                    \
        const size_t some = left < VL ? left : VL;                                                 \
        const vf low = v_set(d->low), high = v_set(d->high);                                       \
        const lanes first = lanes_first(d->group);                                                 \
        for (size_t line = 0; line < d->lines; line++) {                                           \
            const float *x = d->x + line * d->x_line + at * step + channel;                        \
            vf sum[N];                                                                             \
            PRT_UNROLL(8)                                                                          \
            for (size_t i = 0; i < N; i++)                                                         \
                sum[i] = d->bias != NULL ? v_load_n(d->bias + channel, some) : v_set(0.0f);        \
            for (size_t t = 0; t < d->rows * d->columns; t++) {                                    \
                const size_t r = t / d->columns, k = t % d->columns;                               \
                const float *from = x + r * d->x_row + k * d->x_column;                            \
                const float *w = d->w + r * d->w_row + k * d->group * all + channel;               \
                lanes one = first;                                                                 \
                vf in[N];                                                                          \
                PRT_UNROLL(8)                                                                      \
                for (size_t i = 0; i < N; i++)                                                     \
                    in[i] = v_load_n(from + i * step, some);                                       \
                for (size_t j = d->group; j != 0; j--, w += all, one = lanes_next(one)) {          \
                    const vf tap = v_load_n(w, some);                                              \
                    PRT_UNROLL(8)                                                                  \
                    for (size_t i = 0; i < N; i++)                                                 \
                        sum[i] = v_fma(lanes_of(in[i], one), tap, sum[i]);                         \
                }                                                                                  \
            }                                                                                      \
            float *y = d->y + line * d->y_line + at * d->y_step + channel;                         \
            PRT_UNROLL(8)                                                                          \
            for (size_t i = 0; i < N; i++)                                                         \
                v_store_some(y + i * d->y_step, 0, left, v_min(high, v_max(low, sum[i])));         \
        }                                                                                          \
    }
#if defined(__AVX512F__) && defined(__AVX512DQ__)
GROUPED(6)
#else
GROUPED(4)
#endif
GROUPED(1)

/* The same for three taps of a row that are as far apart as the outputs: the lanes of an input are
 * broadcast once for the three outputs that read it. */
enum { ROW3_OUTPUTS = 6, ROW3_TAPS = 3 };

static void grouped_row3(const prt_windows *d, size_t at, size_t channel)
{
    const size_t all = d->channels, left = all - channel, step = d->x_step;
    const size_t some = left < VL ? left : VL;
    const vf low = v_set(d->low), high = v_set(d->high);
    for (size_t line = 0; line < d->lines; line++) {
        const float *x = d->x + line * d->x_line + at * step + channel, *rows = d->w + channel;
        vf sum[ROW3_OUTPUTS];
        PRT_UNROLL(8)
        for (size_t i = 0; i < ROW3_OUTPUTS; i++)
            sum[i] = d->bias != NULL ? v_load_n(d->bias + channel, some) : v_set(0.0f);
        for (size_t r = 0; r < d->rows; r++, x += d->x_row, rows += d->w_row) {
            const float *w = rows;
            lanes one = lanes_first(d->group);
            for (size_t j = d->group; j != 0; j--, w += all, one = lanes_next(one)) {
                vf tap[ROW3_TAPS];
                PRT_UNROLL(4)
                for (size_t k = 0; k < ROW3_TAPS; k++)
                    tap[k] = v_load_n(w + k * d->group * all, some);
                PRT_UNROLL(8)
                for (size_t p = 0; p < ROW3_OUTPUTS + ROW3_TAPS - 1; p++) {
                    const vf in = lanes_of(v_load_n(x + p * step, some), one);
                    PRT_UNROLL(4)
                    for (size_t k = 0; k < ROW3_TAPS; k++)
                        if (p >= k && p - k < ROW3_OUTPUTS)
                            sum[p - k] = v_fma(in, tap[k], sum[p - k]);
                }
            }
        }
        float *y = d->y + line * d->y_line + at * d->y_step + channel;
        PRT_UNROLL(8)
        for (size_t i = 0; i < ROW3_OUTPUTS; i++)
            v_store_some(y + i * d->y_step, 0, left, v_min(high, v_max(low, sum[i])));
    }
}

/* Small groups: a tap multiplies the channels of a group one by one. The last of several tiles of
 * outputs begins early enough to be whole, and computes some outputs again. */
static void run_grouped(const prt_windows *d)
{
    const bool row3 = d->columns == ROW3_TAPS && d->x_step == d->x_column && d->n >= ROW3_OUTPUTS;
    const size_t most = row3 ? ROW3_OUTPUTS : d->n >= GROUPED_MOST ? GROUPED_MOST : 1;
    for (size_t done = 0; done < d->n; done += most) {
        const size_t at = d->n - done < most ? d->n - most : done;
        for (size_t c = 0; c < d->channels; c += VL)
            (row3 ? grouped_row3 : most == 1 ? grouped_1 : GROUPED_MANY)(d, at, c);
    }
}
#else
/* One output after the other: groups may be longer than vectors. */
static void run_grouped(const prt_windows *d)
{
    const size_t group = d->group;
    for (size_t i = 0; i < d->lines * d->n * d->channels; i++) {
        const size_t c = i % d->channels, at = i / d->channels % d->n;
        const size_t line = i / d->channels / d->n;
        const float *x = d->x + line * d->x_line + at * d->x_step + c / group * group;
        float sum = d->bias != NULL ? d->bias[c] : 0.0f;
        for (size_t t = 0; t < d->rows * d->columns * group; t++) {
            const size_t r = t / group / d->columns, k = t / group % d->columns, j = t % group;
            sum += x[r * d->x_row + k * d->x_column + j] *
                d->w[r * d->w_row + (k * group + j) * d->channels + c];
        }
        sum = d->low > sum ? d->low : sum; /* NaN is preserved */
        d->y[line * d->y_line + at * d->y_step + c] = d->high < sum ? d->high : sum;
    }
}
#endif

enum { DEPTHWISE_MOST = 6 };

typedef void (*depthwise_part)(const prt_windows *d, size_t at, size_t channel);

static void run_depthwise(const prt_windows *d)
{
    if (d->group > 1) {
        run_grouped(d);
        return;
    }
    static const depthwise_part parts[DEPTHWISE_MOST] = { depthwise_1, depthwise_2,
        depthwise_3, depthwise_4, depthwise_5, depthwise_6 };
    const size_t groups = (d->n + DEPTHWISE_MOST - 1) / DEPTHWISE_MOST;
    for (size_t i = 0, at = 0; i < groups; i++) {
        const size_t some = d->n / groups + (i < d->n % groups);
        for (size_t c = 0; c < d->channels; c += VL)
            parts[some - 1](d, at, c);
        at += some;
    }
}

/* ---- pooling: four vectors of channels of one output at a time ---- */

#define POOL(name, first, step, last)                                                              \
    static void name(const prt_windows *d)                                                         \
    {                                                                                              \
        const size_t all = d->channels, x_row = d->x_row, x_column = d->x_column;                  \
        const vf scale = v_set(d->scale);                                                          \
        (void)scale;                                                                               \
        for (size_t i = 0; i < d->lines * d->n; i++) {                                             \
            const float *x = d->x + i / d->n * d->x_line + i % d->n * d->x_step;                   \
            float *y = d->y + i / d->n * d->y_line + i % d->n * d->y_step;                         \
            size_t c = 0;                                                                          \
            for (; c + 4 * VL <= all; c += 4 * VL) {                                               \
                vf v[4] = { first, first, first, first };                                          \
                for (size_t r = 0; r < d->rows; r++)                                               \
                    for (size_t k = 0; k < d->columns; k++) {                                      \
                        const float *from = x + r * x_row + k * x_column + c;                      \
                        PRT_UNROLL(4)                                                              \
                        for (size_t j = 0; j < 4; j++)                                             \
                            v[j] = step(v[j], v_load(from + j * VL));                              \
                    }                                                                              \
                PRT_UNROLL(4)                                                                      \
                for (size_t j = 0; j < 4; j++)                                                     \
                    v_store(y + c + j * VL, last(v[j]));                                           \
            }                                                                                      \
            for (; c < all; c += VL) {                                                             \
                vf v = first;                                                                      \
                for (size_t r = 0; r < d->rows; r++)                                               \
                    for (size_t k = 0; k < d->columns; k++)                                        \
                        v = step(v, v_load_some(x + r * x_row + k * x_column, c, all));            \
                v_store_some(y, c, all, last(v));                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* NaN is preserved: max returns its second operand, and the select keeps a NaN of `a`. */
static inline vf pool_larger(vf a, vf x)
{
    return v_select(v_equal(a, a), v_max(a, x), a);
}
#define POOL_SAME(v) (v)
#define POOL_SCALED(v) v_mul(v, scale)
POOL(run_pool_max, v_set(-INFINITY), pool_larger, POOL_SAME)
POOL(run_pool_mean, v_set(0.0f), v_add, POOL_SCALED)

#endif
