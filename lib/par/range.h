/* SPDX-License-Identifier: MIT */
/*
 * range.h — a lock-free range of numbers that threads take from both ends. The low half of the word
 * holds the first number left, the high half the end.
 */
#ifndef PRT_PAR_RANGE_H
#define PRT_PAR_RANGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef _Atomic uint64_t prt_range;

static inline uint64_t prt_range_of(uint32_t first, uint32_t end)
{
    return first | (uint64_t)end << 32;
}

/* Takes the first or the last number; returns false when the range is empty. Writes that happened
 * before the range was stored with release order are visible afterwards. */
static inline bool prt_range_pop(prt_range *range, bool front, uint32_t *number)
{
    uint64_t left = atomic_load_explicit(range, memory_order_relaxed), then;
    do {
        const uint32_t first = (uint32_t)left, end = (uint32_t)(left >> 32);
        if (first >= end)
            return false;
        *number = front ? first : end - 1;
        then = front ? prt_range_of(first + 1, end) : prt_range_of(first, end - 1);
    } while (!atomic_compare_exchange_weak_explicit(range, &left, then, memory_order_acquire,
        memory_order_relaxed));
    return true;
}

#endif
