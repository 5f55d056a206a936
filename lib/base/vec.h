/* SPDX-License-Identifier: MIT */
/*
 * vec.h — growing arrays in an arena, declared with PRT_VEC(type). When a vector grows, the old
 * array stays in the arena: pointers into it stay readable but refer to stale items.
 */
#ifndef PRT_BASE_VEC_H
#define PRT_BASE_VEC_H

#include "base/arena.h"

#define PRT_VEC(type)                                                                              \
    struct {                                                                                       \
        type *data;                                                                                \
        size_t count, capacity;                                                                    \
    }

/* Reserves memory for `more` items of `size` bytes after the `count` present ones. Returns false
 * (failure recorded) when it is refused. The capacity at least doubles when it grows. */
bool prt_vec_reserve(prt_arena *arena, void **data, size_t *capacity, size_t count, size_t more,
    size_t size);

/* Appends an item. Evaluates to true, or to false (failure recorded) when memory is refused. */
#define PRT_VEC_PUSH(arena, vec, item)                                                             \
    (prt_vec_reserve(arena, (void **)&(vec)->data, &(vec)->capacity, (vec)->count, 1,              \
         sizeof(*(vec)->data))                                                                     \
            ? ((vec)->data[(vec)->count++] = (item), true)                                         \
            : false)

#endif
