/* SPDX-License-Identifier: MIT */
/*
 * clock.h — a monotonic clock. A source that includes this header defines _POSIX_C_SOURCE first.
 */
#ifndef PRT_BASE_CLOCK_H
#define PRT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns the nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t prt_clock_ns(void)
{
    struct timespec t = { 0, 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
