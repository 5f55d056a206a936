/* SPDX-License-Identifier: MIT */
/* cpu.h — the features of the processor, and the number of processors this process may use. */
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
    PRT_CPU_AMX = 1 << 5, /* AMX tiles of int8 and bfloat16; see prt_cpu_allow_tiles */
    PRT_CPU_ALL = (1 << 6) - 1
};

/* Returns the features that the processor has and whose registers the operating system saves. Pure.
 * In a virtual machine it may take 0.1 ms, so frequent callers keep the result. */
uint64_t prt_cpu_features(void);

/* Returns the features of a level: "portable", "avx2", "avx512", "avx512_vnni", "avx512_bf16" (with
 * VNNI), "avx512_amx" (with both), "native" (all features); UINT64_MAX for any other word. The
 * caller masks them with prt_cpu_features() before it runs any code. */
uint64_t prt_cpu_level(const char *name);

/* Asks the system to allow AMX tiles in this process, which then saves 8 kB more for each thread
 * that uses them. Returns false if it refuses. Any thread may call it, any number of times. */
bool prt_cpu_allow_tiles(void);

/* Returns the bytes of the cache of level 2 or 3; 0 if they are unknown. */
uint64_t prt_cpu_cache(int level);

/* Writes model, features and caches as one word. Machines with equal words run the same code
 * alike. */
enum { PRT_CPU_IDENTITY = 128 };
void prt_cpu_identity(char *to, size_t size);

/* Returns the processors this process may use, at least 1: the affinity mask, limited by the cgroup
 * quota (v1 and v2). */
uint32_t prt_cpu_count(void);

/* Returns the processors of the cgroup quota, rounded up; UINT32_MAX without a quota. `root` is the
 * prefix of /proc and /sys: "" for the system's, a folder in tests. */
uint32_t prt_cpu_quota(const char *root);

#endif
