/* SPDX-License-Identifier: MIT */
/* move.h — transposition and strided copies of 32-bit elements of any type. */
#ifndef PRT_KERN_MOVE_MOVE_H
#define PRT_KERN_MOVE_MOVE_H

#include <stddef.h>

typedef struct prt_kern_moves {
    /* to[j * to_step + i] = from[i * from_step + j], for i < rows, j < columns. */
    void (*transpose)(size_t rows, size_t columns, const float *from, size_t from_step, float *to,
        size_t to_step);
    /* to[i * to_step + j] = from[i * from_step + j], for i < rows, j < columns. */
    void (*copy)(size_t rows, size_t columns, const float *from, size_t from_step, float *to,
        size_t to_step);
} prt_kern_moves;

#endif
