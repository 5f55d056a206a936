/* SPDX-License-Identifier: MIT */
/*
 * vec.h — growing arrays in an arena. Declare with PRT_VEC(type); the old array stays in the arena
 * when a vector grows, so pointers into it stay readable but go stale.
 */
#ifndef PRT_BASE_VEC_H
#define PRT_BASE_VEC_H

#include "base/arena.h"

#define PRT_VEC(type)                                                                              \
    struct {                                                                                       \
        type *data;                                                                                \
        size_t count, capacity;                                                                    \
    }

/* Room for `more` items of `size` bytes behind the `count` there are; false (failure recorded) when
 * refused. At least doubles what it makes larger. */
bool prt_vec_reserve(prt_arena *arena, void **data, size_t *capacity, size_t count, size_t more,
    size_t size);

/* Appends; evaluates to true, or false (failure recorded) when refused. */
#define PRT_VEC_PUSH(arena, vec, item)                                                             \
    (prt_vec_reserve(arena, (void **)&(vec)->data, &(vec)->capacity, (vec)->count, 1,              \
         sizeof(*(vec)->data))                                                                     \
            ? ((vec)->data[(vec)->count++] = (item), true)                                         \
            : false)

#endif
