/* SPDX-License-Identifier: MIT */
/* kern.c — selection of the instruction-set level. */
#include "kern/kern.h"

#include "cpu/cpu.h"

#ifdef PRT_KERN_PORTABLE
extern const prt_kern prt_kern_level_portable;
#endif
#ifdef PRT_KERN_AVX2
extern const prt_kern prt_kern_level_avx2;
#endif
#ifdef PRT_KERN_AVX512
extern const prt_kern prt_kern_level_avx512, prt_kern_level_vnni, prt_kern_level_bf16;
#endif
#ifdef PRT_KERN_AMX
extern const prt_kern prt_kern_level_amx;
#endif

const prt_kern *prt_kern_of(uint64_t features)
{
#ifdef PRT_KERN_AVX512
    const uint64_t vnni = PRT_CPU_AVX512 | PRT_CPU_VNNI, bf16 = vnni | PRT_CPU_BF16;
#ifdef PRT_KERN_AMX
    if ((features & bf16) == bf16 && (features & PRT_CPU_AMX) != 0 && prt_cpu_allow_tiles())
        return &prt_kern_level_amx;
#endif
    if ((features & bf16) == bf16)
        return &prt_kern_level_bf16;
    if ((features & vnni) == vnni)
        return &prt_kern_level_vnni;
    if ((features & PRT_CPU_AVX512) != 0)
        return &prt_kern_level_avx512;
#endif
#ifdef PRT_KERN_AVX2
    if ((features & PRT_CPU_AVX2) != 0)
        return &prt_kern_level_avx2;
#endif
    (void)features;
#ifdef PRT_KERN_PORTABLE
    return &prt_kern_level_portable;
#else
    return NULL;
#endif
}
