/* SPDX-License-Identifier: MIT */
/*
 * amx.inl — the tiles of AMX, 16 rows by 64 bytes: four of sums, 32 rows by 32 columns.
 *
 * Who configures the tiles, which takes as long as two steps of products, releases them soon: a
 * thread has no tile state for the system to save when it leaves, and the caller's own use of tiles
 * is over by the ABI's rules.
 */
#ifndef PRT_KERN_INT8_AMX_INL
#define PRT_KERN_INT8_AMX_INL

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/int8/dot.h"

enum {
    TILE = 16,       /* rows of a tile; words in each */
    HIGH = 2 * TILE, /* rows at a time */
    WIDE = 2 * TILE, /* columns at a time */
    LINE = 64        /* bytes of a tile's row, and of a cache line */
};

/* As ldtilecfg reads it. */
typedef struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} tile_config;

/* Tiles: sums of the upper rows 0 and 1, of the lower 2 and 3; rows of A 4 and 5; of B 6 and 7. */
static inline void configure(size_t upper, size_t lower)
{
    const uint8_t u = (uint8_t)upper, l = (uint8_t)lower;
    const tile_config t = { .palette = 1, .bytes = { 64, 64, 64, 64, 64, 64, 64, 64 },
        .rows = { u, u, l, l, u, l, TILE, TILE } };
    __asm__ volatile("" : : "m"(t)); /* all of it, of which the next line names but the beginning */
    _tile_loadconfig(&t);
}

#define BARRIER() __asm__ volatile("" : : : "memory")

/* Does something with each tile of sums and its place in C, where the lower ones lie `under` the
 * upper: bytes. */
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

/* What comes next: lines of a step. */
static inline void fetch(prt_dot_ahead *f)
{
    size_t some = f->left < f->step ? f->left : f->step;
    f->left -= some;
    for (; some != 0; some -= LINE, f->at += LINE)
        __builtin_prefetch(f->at, 0, 2);
}

/* The first n elements of a vector, all where there are more. */
static inline __mmask16 mask_of(size_t n)
{
    return (__mmask16)(n < TILE ? (1u << n) - 1 : 0xffff);
}

#endif
