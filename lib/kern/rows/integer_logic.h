/* SPDX-License-Identifier: MIT */
/*
 * integer_logic.h — loops over other types than float32: comparisons, integer arithmetic, logic,
 * Where and casts. `step_*` are 1, or 0 for a scalar that is broadcast. A bool is a byte, 0 or
 * 1.
 */
#ifndef PRT_KERN_ROWS_INTEGER_LOGIC_H
#define PRT_KERN_ROWS_INTEGER_LOGIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum prt_compare_kind {
    PRT_COMPARE_equal,
    PRT_COMPARE_less,
    PRT_COMPARE_less_or_equal
} prt_compare_kind;

typedef enum prt_logic_kind { PRT_LOGIC_and, PRT_LOGIC_or, PRT_LOGIC_xor } prt_logic_kind;

typedef enum prt_integer_kind {
    PRT_INTEGER_add,
    PRT_INTEGER_sub,
    PRT_INTEGER_mul,
    PRT_INTEGER_max,
    PRT_INTEGER_min
} prt_integer_kind;

typedef enum prt_kern_type {
    PRT_KERN_TYPE_f32,
    PRT_KERN_TYPE_f16,
    PRT_KERN_TYPE_i32,
    PRT_KERN_TYPE_i64,
    PRT_KERN_TYPE_bool,
    PRT_KERN_TYPE_COUNT
} prt_kern_type;

typedef struct prt_kern_integer_logic {
    /* Elements are f32, i32 or i64. */
    void (*compare)(int kind, int type, size_t n, const void *a, size_t step_a, const void *b,
        size_t step_b, uint8_t *y);
    /* Elements are i32 or i64. y may be an input that is not broadcast. */
    void (*arithmetic)(int kind, int type, size_t n, const void *a, size_t step_a, const void *b,
        size_t step_b, void *y);
    void (*logic)(int kind, size_t n, const uint8_t *a, size_t step_a, const uint8_t *b,
        size_t step_b, uint8_t *y);
    /* y = a where `which` is not 0, else b; elements of 1, 2, 4 or 8 bytes */
    void (*select)(size_t size, size_t n, const uint8_t *which, size_t step_which, const void *a,
        size_t step_a, const void *b, size_t step_b, void *y);
    /* Types differ. Floats are truncated toward 0 and wrap as int64 does; to bool: x != 0. */
    void (*cast)(int from, int to, size_t n, const void *x, void *y);
} prt_kern_integer_logic;

#endif
