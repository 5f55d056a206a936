/* SPDX-License-Identifier: MIT */
/* test_move.c — kernels that transpose, copy and interleave elements, at every level: all sizes
 * around the tiles, odd strides.
 * Covers: level_portable.c, level_avx2.c, level_avx512.c. */
#include "base/status.h"
#include "kern/levels.h"
#include "support/check_main.h"

static const float GUARD = 12345.0f;

static float *guarded(size_t n)
{
    float *p = malloc(n * sizeof(float));
    for (size_t i = 0; i < n; i++)
        p[i] = GUARD;
    return p;
}

/* Returns whether the result is wrong. `transpose` false: a copy. Strides are `pad` larger than
 * necessary. */
static size_t moved_wrong(const prt_kern *kern, size_t rows, size_t columns, size_t pad,
    bool transpose)
{
    const size_t from_step = columns + pad, high = transpose ? columns : rows;
    const size_t wide = transpose ? rows : columns, to_step = wide + pad % 2 + pad;
    float *from = random_floats((rows - 1) * from_step + columns, 3);
    float *to = guarded(high * to_step);
    size_t wrong = 0;
    (transpose ? kern->moves.transpose : kern->moves.copy)(rows, columns, from, from_step, to,
        to_step);
    for (size_t i = 0; i < high; i++)
        for (size_t j = 0; j < to_step; j++) {
            const float want = j >= wide ? GUARD
                : transpose              ? from[j * from_step + i]
                                         : from[i * from_step + j];
            wrong += to[i * to_step + j] != want;
        }
    free(from);
    free(to);
    return wrong;
}

START_TEST(matrices_are_transposed_and_copied)
{
    for (int l = 0; l < LEVELS; l++)
        for (size_t rows = 1; level(l) != NULL && rows <= 40; rows++)
            for (size_t columns = 1; columns <= 40; columns++)
                for (int transpose = 0; transpose < 2; transpose++) {
                    const size_t wrong = moved_wrong(level(l), rows, columns,
                        (rows * 3 + columns) % 5, transpose != 0);
                    if (wrong != 0)
                        ck_abort_msg("%s: %zu wrong of %zux%zu, %s", level(l)->level, wrong, rows,
                            columns, transpose != 0 ? "turned" : "copied");
                }
    for (int l = 0; l < LEVELS && level(l) != NULL; l++) {
        ck_assert_uint_eq(moved_wrong(level(l), 130, 77, 3, true), 0);
        ck_assert_uint_eq(moved_wrong(level(l), 3, 300, 1, false), 0);
    }
}
END_TEST

/* Elements are moved as bits: the payload of a NaN stays. */
START_TEST(bits_of_nan_stay)
{
    uint32_t bits[64], found[64];
    for (uint32_t i = 0; i < 64; i++)
        bits[i] = 0x7f800001u + i * 0x10001u;
    for (int l = 0; l < LEVELS && level(l) != NULL; l++) {
        float from[64], to[64];
        memcpy(from, bits, sizeof(bits));
        level(l)->moves.transpose(8, 8, from, 8, to, 8);
        level(l)->moves.transpose(8, 8, to, 8, from, 8);
        memcpy(found, from, sizeof(bits));
        ck_assert_mem_eq(found, bits, sizeof(bits));
        level(l)->moves.copy(1, 63, from, 63, to, 63);
        memcpy(found, to, sizeof(bits));
        ck_assert_mem_eq(found, bits, 63 * sizeof(uint32_t));
    }
}
END_TEST

START_TEST(planes_become_pixels)
{
    for (int l = 0; l < LEVELS; l++)
        for (size_t n = 0; level(l) != NULL && n <= 70; n++)
            for (size_t planes = 1; planes <= 9; planes++) {
                const size_t plane = n + n % 3;
                float *from = random_floats((planes - 1) * plane + n, 5);
                float *to = guarded(n * planes + 4);
                size_t wrong = 0;
                level(l)->interleave(n, planes, from, plane, to);
                for (size_t i = 0; i < n * planes + 4; i++)
                    wrong +=
                        to[i] != (i < n * planes ? from[i % planes * plane + i / planes] : GUARD);
                if (wrong != 0)
                    ck_abort_msg("%s: %zu wrong of %zu pixels of %zu", level(l)->level, wrong, n,
                        planes);
                free(from);
                free(to);
            }
}
END_TEST

START_TEST(vectors_are_interleaved)
{
    for (int l = 0; l < LEVELS; l++)
        for (size_t n = 0; level(l) != NULL && n <= 200; n++) {
            float *a = random_floats((n + 1) / 2, 1), *b = random_floats(n / 2, 2);
            float *y = guarded(n + 4);
            size_t wrong = 0;
            level(l)->zip(n, a, b, y);
            for (size_t i = 0; i < n + 4; i++)
                wrong += y[i] != (i >= n ? GUARD : i % 2 == 0 ? a[i / 2] : b[i / 2]);
            if (wrong != 0)
                ck_abort_msg("%s: %zu wrong of %zu", level(l)->level, wrong, n);
            free(a);
            free(b);
            free(y);
        }
}
END_TEST

PRT_TEST_MAIN("kern/move", matrices_are_transposed_and_copied, bits_of_nan_stay,
    planes_become_pixels, vectors_are_interleaved)
