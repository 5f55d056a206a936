/* SPDX-License-Identifier: MIT */
/* vec.c — growth of arena arrays by doubling. */
#include "base/vec.h"

#include <string.h>

bool prt_vec_reserve(prt_arena *arena, void **data, size_t *capacity, size_t count, size_t more,
    size_t size)
{
    enum { FIRST = 8 };
    size_t need;
    if (!prt_size_add(count, more, &need)) {
        (void)prt_fail_nomem(SIZE_MAX);
        return false;
    }
    if (need <= *capacity)
        return true;
    size_t grown_capacity = need > FIRST ? need : FIRST;
    if (*capacity <= SIZE_MAX / 2 && grown_capacity < *capacity * 2)
        grown_capacity = *capacity * 2;
    void *grown = prt_arena_alloc_n(arena, grown_capacity, size);
    if (grown == NULL)
        return false;
    if (count != 0)
        memcpy(grown, *data, count * size);
    *data = grown;
    *capacity = grown_capacity;
    return true;
}
