/* SPDX-License-Identifier: MIT */
/*
 * dot_impl.h — tiles of groups along K, C's tile in registers. The includer says what one is:
 *
 *     DOT_NAME     the function to define, of type void (const prt_dot_block *)
 *     DOT_SUM      vector type of sums; DOT_ZERO one of zeros
 *     DOT_WORD     vector type of words; DOT_LOAD(p), DOT_SET(word)
 *     DOT_STEP(sum, a, b)
 *     DOT_PUT(g, row, column, sum)
 *     DOT_LANES    words in a vector
 */

#define DOT_GLUE_(a, b) a##_##b
#define DOT_GLUE(a, b) DOT_GLUE_(a, b)
#define DOT_TILE(R, W) DOT_GLUE(DOT_NAME, R##x##W)

#define DOT_DEFINE(R, W)                                                                           \
    static void DOT_TILE(R, W)(const prt_dot_block *g, size_t row, size_t column,                  \
        const char *next, size_t stride)                                                           \
    {                                                                                              \
        DOT_SUM sum[R][W];                                                                         \
        const uint32_t *a[R];                                                                      \
        const size_t width = prt_gemm_width(g->columns), words = g->words;                         \
        const uint32_t *b = g->b + column;                                                         \
        PRT_UNROLL(8)                                                                              \
        for (size_t i = 0; i < R; i++) {                                                           \
            a[i] = g->a + (row + i) * g->lda;                                                      \
            PRT_UNROLL(8)                                                                          \
            for (size_t j = 0; j < W; j++)                                                         \
                sum[i][j] = DOT_ZERO;                                                              \
        }                                                                                          \
        for (size_t p = 0; p < words; p++, b += width, next += stride) {                           \
            DOT_WORD w[W];                                                                         \
            __builtin_prefetch(next, 0, 2);                                                        \
            PRT_UNROLL(8)                                                                          \
            for (size_t j = 0; j < W; j++)                                                         \
                w[j] = DOT_LOAD(b + j * DOT_LANES);                                                \
            PRT_UNROLL(8)                                                                          \
            for (size_t i = 0; i < R; i++) {                                                       \
                const DOT_WORD x = DOT_SET(a[i][p]);                                               \
                PRT_UNROLL(8)                                                                      \
                for (size_t j = 0; j < W; j++)                                                     \
                    sum[i][j] = DOT_STEP(sum[i][j], x, w[j]);                                      \
            }                                                                                      \
        }                                                                                          \
        PRT_UNROLL(8)                                                                              \
        for (size_t i = 0; i < R; i++)                                                             \
            PRT_UNROLL(8)                                                                          \
            for (size_t j = 0; j < W; j++)                                                         \
                DOT_PUT(g, row + i, column + j * DOT_LANES, sum[i][j]);                            \
    }

/* As many vectors as a panel has, and one slice. */
#if DOT_LANES == 16
DOT_DEFINE(1, 4) DOT_DEFINE(2, 4) DOT_DEFINE(3, 4) DOT_DEFINE(4, 4) DOT_DEFINE(5, 4)
DOT_DEFINE(6, 4)
DOT_DEFINE(1, 1) DOT_DEFINE(2, 1) DOT_DEFINE(3, 1) DOT_DEFINE(4, 1) DOT_DEFINE(5, 1)
DOT_DEFINE(6, 1)
#define DOT_ROWS 6
#define DOT_WIDE 4
#define DOT_ONE 1
#define DOT_TABLE                                                                                  \
    { { DOT_TILE(1, 4), DOT_TILE(2, 4), DOT_TILE(3, 4), DOT_TILE(4, 4), DOT_TILE(5, 4),            \
          DOT_TILE(6, 4) },                                                                        \
        { DOT_TILE(1, 1), DOT_TILE(2, 1), DOT_TILE(3, 1), DOT_TILE(4, 1), DOT_TILE(5, 1),          \
            DOT_TILE(6, 1) } }
#elif DOT_LANES == 8
DOT_DEFINE(1, 2) DOT_DEFINE(2, 2) DOT_DEFINE(3, 2) DOT_DEFINE(4, 2)
#define DOT_ROWS 4
#define DOT_WIDE 2
#define DOT_ONE 2
#define DOT_TABLE                                                                                  \
    { { DOT_TILE(1, 2), DOT_TILE(2, 2), DOT_TILE(3, 2), DOT_TILE(4, 2) },                          \
        { DOT_TILE(1, 2), DOT_TILE(2, 2), DOT_TILE(3, 2), DOT_TILE(4, 2) } }
#else
DOT_DEFINE(1, 4) DOT_DEFINE(2, 4)
#define DOT_ROWS 2
#define DOT_WIDE 4
#define DOT_ONE 4
#define DOT_TABLE { { DOT_TILE(1, 4), DOT_TILE(2, 4) }, { DOT_TILE(1, 4), DOT_TILE(2, 4) } }
#endif

void DOT_NAME(const prt_dot_block *g);

void DOT_NAME(const prt_dot_block *g)
{
    static void (*const tiles[2][DOT_ROWS])(const prt_dot_block *g, size_t row, size_t column,
        const char *next, size_t stride) = DOT_TABLE;
    const size_t width = prt_gemm_width(g->columns), wide = DOT_WIDE * DOT_LANES;
    const size_t groups = (g->rows + DOT_ROWS - 1) / DOT_ROWS;
    size_t lines = g->next != NULL && g->next_lines <= groups * g->words ? g->next_lines : 0;
    const char *next = g->next;
    for (size_t n = 0, row = 0, rows = 0; n < groups; n++, row += rows) {
        rows = g->rows / groups + (n < g->rows % groups);
        for (size_t column = 0; column < width;) {
            const bool whole = width - column >= wide;
            const size_t stride = lines != 0 ? 64 : 0;
            tiles[whole ? 0 : 1][rows - 1](g, row, column, lines != 0 ? next : (const char *)g->b,
                stride);
            next += stride * g->words;
            lines -= lines < g->words ? lines : g->words;
            column += whole ? wide : DOT_ONE * DOT_LANES;
        }
    }
}

#undef DOT_GLUE_
#undef DOT_GLUE
#undef DOT_TILE
#undef DOT_DEFINE
#undef DOT_ROWS
#undef DOT_WIDE
#undef DOT_ONE
#undef DOT_TABLE
#undef DOT_NAME
#undef DOT_SUM
#undef DOT_ZERO
#undef DOT_WORD
#undef DOT_LOAD
#undef DOT_SET
#undef DOT_STEP
#undef DOT_PUT
#undef DOT_LANES
