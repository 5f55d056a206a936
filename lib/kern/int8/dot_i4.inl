/* SPDX-License-Identifier: MIT */
/*
 * dot_i4.inl — int8 by int4 products with scales by block of K, at the level of the including file.
 * 4-bit integers are offset by 8 to 0..15, which makes them the unsigned side of dot4_i8. A tile
 * keeps the int32 sums of a block and the float32 totals of R rows by W vectors in registers.
 */
#ifndef PRT_KERN_INT8_DOT_I4_INL
#define PRT_KERN_INT8_DOT_I4_INL

#include "kern/int8/dot.h"
#include "kern/int8/dot4_i8_words.h"

typedef void (*i4_fn)(const prt_dot_i4 *g, size_t row, size_t column);

enum { I4_AHEAD = 3072 /* words to prefetch ahead, for a B that is read once */ };

#define I4_EACH(R, W)                                                                              \
    PRT_UNROLL(4)                                                                                  \
    for (size_t i = 0; i < R; i++)                                                                 \
        PRT_UNROLL(4)                                                                              \
        for (size_t j = 0; j < W; j++)

/* R rows by W vectors. The sums of a block start with the correction of the offset 8, and are added
 * to the totals at its end. */
#define I4(R, W)                                                                                   \
    static void i4_##R##x##W(const prt_dot_i4 *g, size_t row, size_t column)                       \
    {                                                                                              \
        const size_t width = prt_gemm_width(g->columns), lda = g->lda, n = g->columns;             \
        const size_t all =                                                                         \
            prt_low_precision_rows(PRT_LOW_PRECISION_i4, g->k) / PRT_LOW_PRECISION_I4_ROWS;        \
        const size_t parts = prt_low_precision_blocks(g->by.block, g->k);                          \
        const dot_words low = set_words(0x0f0f0f0fu), off = set_words(0x88888888u);                \
        const prt_dot_part *part = g->parts + row * parts;                                         \
        const uint32_t *a = g->a + row * lda, *b = g->b + column;                                  \
        const float *scale = g->by.scale + column, *offset = g->by.offset;                         \
        vf total[R][W];                                                                            \
        offset = offset != NULL ? offset + column : NULL;                                          \
        I4_EACH(R, W) total[i][j] = v_set(0.0f);                                                   \
        for (size_t k = 0; k < all; part++, scale += width) {                                      \
            const size_t some = g->by.block / PRT_LOW_PRECISION_I4_ROWS, left = all - k;           \
            const size_t end = k + (some < left ? some : left);                                    \
            dot_words sum[R][W];                                                                   \
            I4_EACH(R, W)                                                                          \
                sum[i][j] = set_words(                                                             \
                    0u - (uint32_t)part[i * parts].sum * PRT_LOW_PRECISION_I4_ROWS);               \
            for (; k < end; k++, b += width, a += 2) {                                             \
                PRT_UNROLL(4)                                                                      \
                for (size_t j = 0; j < W; j++) {                                                   \
                    const dot_words x = load_words(b + j * DOT8_LANES) ^ off;                      \
                    const dot_words even = x & low, odd = x >> 4 & low;                            \
                    if ((R) == 1)                                                                  \
                        __builtin_prefetch(b + I4_AHEAD + j * DOT8_LANES, 0, 2);                   \
                    PRT_UNROLL(4)                                                                  \
                    for (size_t i = 0; i < R; i++) {                                               \
                        sum[i][j] = step_dot4(sum[i][j], even, set_words(a[i * lda]));             \
                        sum[i][j] = step_dot4(sum[i][j], odd, set_words(a[i * lda + 1]));          \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
            I4_EACH(R, W)                                                                          \
                total[i][j] = v_fma(v_load(scale + j * VL),                                        \
                    v_mul(words_as_floats(sum[i][j]), v_set(part[i * parts].scale)), total[i][j]); \
            if (offset == NULL)                                                                    \
                continue;                                                                          \
            I4_EACH(R, W) {                                                                        \
                const prt_dot_part *own = &part[i * parts];                                        \
                total[i][j] = v_fma(v_load(offset + j * VL),                                       \
                    v_set((float)own->sum * own->scale), total[i][j]);                             \
            }                                                                                      \
            offset += width;                                                                       \
        }                                                                                          \
        I4_EACH(R, W)                                                                              \
            v_store_some(g->c + (row + i) * g->ldc, column + j * VL, n, total[i][j]);              \
    }

/* Tiles of one row by one slice. With VNNI, which is faster than unpacking nibbles, also of one row
 * by a panel, and of several rows. */
#if DOT8_LANES == 16 && defined(__AVX512VNNI__)
I4(1, 4) I4(1, 1)
enum { I4_WIDE = PRT_GEMM_PANEL };
#define I4_ROW i4_1x4
#define I4_SLICE i4_1x1
#else
#if DOT8_LANES == 16
I4(1, 1)
#define I4_SLICE i4_1x1
#elif DOT8_LANES == 8
I4(1, 2)
#define I4_SLICE i4_1x2
#else
I4(1, 4)
#define I4_SLICE i4_1x4
#endif
enum { I4_WIDE = PRT_GEMM_SLICE };
#define I4_ROW I4_SLICE
#endif

#if defined(__AVX512VNNI__)
I4(4, 2)
enum { I4_ROWS = 4, I4_COLUMNS = 32 };
#define I4_SOME i4_4x2
#else
enum { I4_ROWS = 1, I4_COLUMNS = PRT_GEMM_SLICE };
#define I4_SOME I4_SLICE
#endif

static void run_dot_i4(const prt_dot_i4 *g)
{
    const size_t width = prt_gemm_width(g->columns);
    for (size_t row = 0, rows; row < g->rows; row += rows) {
        const size_t left = g->rows - row;
        const bool some = I4_ROWS > 1 && left >= I4_ROWS;
        const size_t wide = some ? I4_COLUMNS : I4_WIDE;
        rows = some ? left / I4_ROWS * I4_ROWS : left;
        for (size_t column = 0, columns; column < width; column += columns) {
            const bool slice = wide == PRT_GEMM_SLICE || width - column < wide;
            const i4_fn run = slice ? I4_SLICE : some ? I4_SOME : I4_ROW;
            const size_t step = slice || !some ? 1 : I4_ROWS;
            columns = slice ? PRT_GEMM_SLICE : wide;
            for (size_t i = row; i < row + rows; i += step)
                run(g, i, column);
        }
    }
}

#endif
