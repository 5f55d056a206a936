/* SPDX-License-Identifier: MIT */
/* move.inl — move.h for one instruction-set level: transposes VL by VL tiles in registers. */
#ifndef PRT_KERN_MOVE_MOVE_INL
#define PRT_KERN_MOVE_MOVE_INL

#include "kern/move/move.h"
#include "kern/vector/simd.h"

/* Transposes a tile of VL by VL: interleaves the first half of the rows with the second, log2(VL)
 * times. */
static inline void transpose_in_registers(vf row[VL])
{
    vf next[VL];
    PRT_UNROLL(4)
    for (size_t n = VL; n > 1; n /= 2) {
        PRT_UNROLL(8)
        for (size_t i = 0; i < VL / 2; i++)
            v_zip(row[i], row[i + VL / 2], &next[2 * i], &next[2 * i + 1]);
        PRT_UNROLL(16)
        for (size_t i = 0; i < VL; i++)
            row[i] = next[i];
    }
}

static void transpose_tile(const float *from, size_t from_step, float *to, size_t to_step)
{
    vf row[VL];
    PRT_UNROLL(16)
    for (size_t i = 0; i < VL; i++)
        row[i] = v_load(from + i * from_step);
    transpose_in_registers(row);
    PRT_UNROLL(16)
    for (size_t i = 0; i < VL; i++)
        v_store(to + i * to_step, row[i]);
}

static void transpose_partial_tile(size_t rows, size_t columns, const float *from,
    size_t from_step, float *to, size_t to_step)
{
    vf row[VL];
    for (size_t i = 0; i < VL; i++)
        row[i] = i < rows ? v_load_some(from + i * from_step, 0, columns) : v_set(0.0f);
    transpose_in_registers(row);
    for (size_t i = 0; i < columns; i++)
        v_store_some(to + i * to_step, 0, rows, row[i]);
}

static void run_transpose(size_t rows, size_t columns, const float *from, size_t from_step,
    float *to, size_t to_step)
{
    for (size_t i = 0; i < rows; i += VL)
        for (size_t j = 0; j < columns; j += VL) {
            const float *at = from + i * from_step + j;
            float *y = to + j * to_step + i;
            const size_t r = rows - i, c = columns - j;
            if (r >= VL && c >= VL)
                transpose_tile(at, from_step, y, to_step);
            else
                transpose_partial_tile(r < VL ? r : VL, c < VL ? c : VL, at, from_step, y, to_step);
        }
}

static void run_copy(size_t rows, size_t columns, const float *from, size_t from_step, float *to,
    size_t to_step)
{
    for (size_t i = 0; i < rows; i++, from += from_step, to += to_step) {
        size_t j = 0;
        for (; j + 4 * VL <= columns; j += 4 * VL) {
            const vf a = v_load(from + j), b = v_load(from + j + VL);
            const vf c = v_load(from + j + 2 * VL), d = v_load(from + j + 3 * VL);
            v_store(to + j, a);
            v_store(to + j + VL, b);
            v_store(to + j + 2 * VL, c);
            v_store(to + j + 3 * VL, d);
        }
        for (; j < columns; j += VL)
            v_store_some(to, j, columns, v_load_some(from, j, columns));
    }
}

#endif
