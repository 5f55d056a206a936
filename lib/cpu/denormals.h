/* SPDX-License-Identifier: MIT */
/* denormals.h — whether this thread computes with denormals (subnormal float32 and float64) or
 * takes them, as operands and as results, for 0. */
#ifndef PRT_CPU_DENORMALS_H
#define PRT_CPU_DENORMALS_H

#include <stdbool.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* Returns whether the processor has a mode that takes denormals for 0. */
static inline bool prt_cpu_can_flush_denormals(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

/* Takes denormals for 0 on this thread until prt_cpu_restore_denormals. Returns the mode before. */
static inline uint64_t prt_cpu_flush_denormals(void)
{
#if defined(__x86_64__)
    const uint32_t before = _mm_getcsr(), flush = 1u << 15, read_as_zero = 1u << 6;
    _mm_setcsr(before | flush | read_as_zero);
    return before;
#elif defined(__aarch64__)
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(before | 1u << 24));
    return before;
#else
    return 0;
#endif
}

static inline void prt_cpu_restore_denormals(uint64_t before)
{
#if defined(__x86_64__)
    _mm_setcsr((uint32_t)before);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(before));
#else
    (void)before;
#endif
}

#endif
