/* SPDX-License-Identifier: MIT */
/* vec.c — growth of arena arrays by doubling. */
#include "base/vec.h"

#include <string.h>

bool prt_vec_reserve(prt_arena *arena, void **data, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return true;
    const size_t more = *capacity != 0 ? *capacity * 2 : 8;
    void *grown = prt_arena_alloc_n(arena, more, size);
    if (grown == NULL)
        return false;
    if (count != 0)
        memcpy(grown, *data, count * size);
    *data = grown;
    *capacity = more;
    return true;
}
