/* SPDX-License-Identifier: MIT */
/*
 * features.c — the features that the processor has and the operating system supports.
 *
 * A feature counts only if the system saves the registers it uses (XCR0): a kernel or hypervisor
 * may show AVX-512 in CPUID while its state is switched off.
 */
#define _GNU_SOURCE
#include "cpu/cpu.h"

#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__x86_64__)

/* Bits of XCR0: SSE and AVX; in addition opmask, ZMM low and ZMM high; in addition the AMX tiles
 * and their configuration. */
enum { XCR0_YMM = 0x06, XCR0_ZMM = 0xe6, XCR0_TILES = 0x600e6 };

static uint32_t bit(uint32_t index)
{
    return UINT32_C(1) << index;
}

static uint64_t read_xcr0(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

uint64_t prt_cpu_features(void)
{
    const uint32_t fma = bit(12), osxsave = bit(27), avx = bit(28), f16c = bit(29);
    const uint32_t leaf1 = fma | osxsave | avx | f16c;
    const uint32_t avx2 = bit(5), bmi2 = bit(8);
    const uint32_t avx512 = bit(16) | bit(17) | bit(28) | bit(30) | bit(31); /* F DQ CD BW VL */
    const uint32_t vnni = bit(11), bf16 = bit(5);
    const uint32_t amx = bit(22) | bit(24) | bit(25); /* bf16, tiles, int8 */
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & leaf1) != leaf1)
        return 0;
    const uint64_t saved = read_xcr0();
    if ((saved & XCR0_YMM) != XCR0_YMM || !__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
        (b & (avx2 | bmi2)) != (avx2 | bmi2))
        return 0;
    uint64_t features = PRT_CPU_AVX2;
#ifdef PRT_EMULATE
    return prt_cpu_level("avx512_amx"); /* for tests/emulate */
#endif
    if ((saved & XCR0_ZMM) != XCR0_ZMM || (b & avx512) != avx512)
        return features;
    features |= PRT_CPU_AVX512;
    if ((c & vnni) != 0)
        features |= PRT_CPU_VNNI;
    if ((saved & XCR0_TILES) == XCR0_TILES && (d & amx) == amx)
        features |= PRT_CPU_AMX;
    /* `a` is the highest subleaf of leaf 7. */
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & bf16) != 0)
        features |= PRT_CPU_BF16;
    return features;
}

#elif defined(__aarch64__)

uint64_t prt_cpu_features(void)
{
    return PRT_CPU_NEON; /* part of the base architecture */
}

#else

uint64_t prt_cpu_features(void)
{
    return 0;
}

#endif

bool prt_cpu_allow_tiles(void)
{
#ifdef PRT_EMULATE
    return true;
#elif defined(__x86_64__) && defined(__linux__)
    enum { REQ_XCOMP_PERM = 0x1023, TILE_DATA = 18 }; /* arch_prctl, since Linux 5.16 */
    return syscall(SYS_arch_prctl, REQ_XCOMP_PERM, TILE_DATA) == 0;
#else
    return false;
#endif
}

uint64_t prt_cpu_level(const char *name)
{
    if (strcmp(name, "portable") == 0)
        return 0;
    if (strcmp(name, "avx2") == 0)
        return PRT_CPU_AVX2;
    if (strcmp(name, "avx512") == 0)
        return PRT_CPU_AVX2 | PRT_CPU_AVX512;
    if (strcmp(name, "avx512_vnni") == 0)
        return PRT_CPU_AVX2 | PRT_CPU_AVX512 | PRT_CPU_VNNI;
    if (strcmp(name, "avx512_bf16") == 0)
        return PRT_CPU_AVX2 | PRT_CPU_AVX512 | PRT_CPU_VNNI | PRT_CPU_BF16;
    if (strcmp(name, "avx512_amx") == 0)
        return PRT_CPU_AVX2 | PRT_CPU_AVX512 | PRT_CPU_VNNI | PRT_CPU_BF16 | PRT_CPU_AMX;
    return strcmp(name, "native") == 0 ? PRT_CPU_ALL : UINT64_MAX;
}
