/* SPDX-License-Identifier: MIT */
/* cpu.h — what this processor can do, and how many processors this process may use. */
#ifndef PRT_CPU_CPU_H
#define PRT_CPU_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PRT_CPU_AVX2 = 1 << 0,   /* AVX2, FMA, F16C, BMI2 */
    PRT_CPU_AVX512 = 1 << 1, /* F, BW, DQ, VL, CD */
    PRT_CPU_VNNI = 1 << 2,   /* AVX512-VNNI */
    PRT_CPU_BF16 = 1 << 3,   /* AVX512-BF16 */
    PRT_CPU_NEON = 1 << 4,
    PRT_CPU_AMX = 1 << 5, /* AMX's tiles of int8 and bfloat16; see prt_cpu_allow_tiles */
    PRT_CPU_ALL = (1 << 6) - 1
};

/* Features that the processor has and the operating system saves. Pure; a virtual machine may take
 * 0.1 ms for it, so what is asked for often is kept. */
uint64_t prt_cpu_features(void);

/* Features of a level: "portable", "avx2", "avx512", "avx512_vnni", "avx512_bf16" (with VNNI),
 * "avx512_amx" (with both), "native" (all there are); UINT64_MAX for another word.
 * Mask them with prt_cpu_features() before running anything. */
uint64_t prt_cpu_level(const char *name);

/* Asks the system to let this process use AMX's tiles, for which it saves 8 kB more of a thread
 * that has some; false: it does not. Any thread, any number of times. */
bool prt_cpu_allow_tiles(void);

/* Bytes of the cache of level 2 or 3; 0: not known. */
uint64_t prt_cpu_cache(int level);

/* Model, features and caches as one word: machines of one word run the same code alike. */
enum { PRT_CPU_IDENTITY = 128 };
void prt_cpu_identity(char *to, size_t size);

/* Processors this process may use: affinity mask and cgroup quota (v1 and v2); at least 1. */
uint32_t prt_cpu_count(void);

/* Processors the cgroup quota pays for, rounded up; UINT32_MAX without a quota. `root` stands
 * before /proc and /sys: "" for the system's, a folder in tests. */
uint32_t prt_cpu_quota(const char *root);

#endif
