/* SPDX-License-Identifier: MIT */
/*
 * amx.inl — AMX tiles, 16 rows by 64 bytes: four tiles of sums hold a block of 32 rows by 32
 * columns.
 *
 * A kernel that configures the tiles, which takes as long as two steps of products, releases them
 * soon: the system then has no tile state to save at a context switch. By the ABI the caller's own
 * tile state is lost at a call.
 */
#ifndef PRT_KERN_INT8_AMX_INL
#define PRT_KERN_INT8_AMX_INL

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/int8/dot.h"

enum {
    TILE = 16,       /* rows of a tile; 32-bit words of a row */
    HIGH = 2 * TILE, /* rows of a block */
    WIDE = 2 * TILE, /* columns of a block */
    LINE = 64        /* bytes of a tile's row, and of a cache line */
};

/* The memory operand of ldtilecfg. */
typedef struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} tile_config;

/* Tiles: 0 and 1 are the sums of the upper rows, 2 and 3 of the lower rows; 4 and 5 are rows of A;
 * 6 and 7 are B. */
static inline void configure(size_t upper, size_t lower)
{
    const uint8_t u = (uint8_t)upper, l = (uint8_t)lower;
    const tile_config t = { .palette = 1, .bytes = { 64, 64, 64, 64, 64, 64, 64, 64 },
        .rows = { u, u, l, l, u, l, TILE, TILE } };
    __asm__ volatile("" : : "m"(t)); /* keeps all of `t`, of which the intrinsic names only the
                                      * beginning */
    _tile_loadconfig(&t);
}

#define BARRIER() __asm__ volatile("" : : : "memory")

/* Applies DO to each tile of sums and its place in C; the lower tiles are `under` bytes after the
 * upper ones. */
#define EACH_SUM(DO, c, under, ldc, lower, right)                                                  \
    {                                                                                              \
        DO(0, c, ldc);                                                                             \
        if (right)                                                                                 \
            DO(1, (c) + LINE, ldc);                                                                \
        if (lower)                                                                                 \
            DO(2, (c) + (under), ldc);                                                             \
        if ((lower) && (right))                                                                    \
            DO(3, (c) + (under) + LINE, ldc);                                                      \
    }

static inline void zero_sums(void)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
}

/* Prefetches the lines of one step. */
static inline void fetch(prt_dot_prefetch *f)
{
    size_t some = f->left < f->step ? f->left : f->step;
    f->left -= some;
    for (; some != 0; some -= LINE, f->at += LINE)
        __builtin_prefetch(f->at, 0, 2);
}

/* Returns the mask of the first n elements of a vector; all, if n is larger. */
static inline __mmask16 mask_of(size_t n)
{
    return (__mmask16)(n < TILE ? (1u << n) - 1 : 0xffff);
}

#endif
