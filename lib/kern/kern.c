/* SPDX-License-Identifier: MIT */
/* kern.c — levels by what the processor can do. */
#include "kern/kern.h"

#include "cpu/cpu.h"

extern const prt_kern prt_kern_level_portable;
#if defined(__x86_64__)
extern const prt_kern prt_kern_level_avx2, prt_kern_level_avx512;
#endif

const prt_kern *prt_kern_of(uint64_t features)
{
#if defined(__x86_64__)
    if ((features & PRT_CPU_AVX512) != 0)
        return &prt_kern_level_avx512;
    if ((features & PRT_CPU_AVX2) != 0)
        return &prt_kern_level_avx2;
#endif
    (void)features;
    return &prt_kern_level_portable;
}
