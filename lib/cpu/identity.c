/* SPDX-License-Identifier: MIT */
/* identity.c — an identity of the processor, for results that are valid on machines of its kind. */
#define _GNU_SOURCE
#include "cpu/cpu.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#if defined(__x86_64__)

/* Writes vendor, family, model and stepping. */
static void put_model(char *to, size_t size)
{
    char vendor[13] = { 0 };
    uint32_t a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0, &a, &b, &c, &d)) {
        memcpy(vendor, &b, 4);
        memcpy(vendor + 4, &d, 4);
        memcpy(vendor + 8, &c, 4);
    }
    for (char *p = vendor; *p != '\0'; p++)
        if (*p <= ' ' || *p > '~')
            *p = '_';
    a = 0;
    (void)__get_cpuid(1, &a, &b, &c, &d);
    const uint32_t base = a >> 8 & 0xf;
    const uint32_t family = base == 0xf ? base + (a >> 20 & 0xff) : base;
    const uint32_t model = (a >> 4 & 0xf) | (a >> 12 & 0xf0);
    (void)snprintf(to, size, "%s-%u-%u-%u", vendor[0] != '\0' ? vendor : "x86", family, model,
        a & 0xf);
}

#else

static void put_model(char *to, size_t size)
{
#if defined(__aarch64__)
    (void)snprintf(to, size, "aarch64");
#else
    (void)snprintf(to, size, "other");
#endif
}

#endif

uint64_t prt_cpu_cache(int level)
{
    long size = 0;
#if defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE)
    size = level == 2 ? sysconf(_SC_LEVEL2_CACHE_SIZE)
        : level == 3  ? sysconf(_SC_LEVEL3_CACHE_SIZE)
                      : 0;
#else
    (void)level;
#endif
    return size > 0 ? (uint64_t)size : 0;
}

void prt_cpu_identity(char *to, size_t size)
{
    char model[64];
    put_model(model, sizeof(model));
    (void)snprintf(to, size, "%s-f%llx-l2_%lluk-l3_%lluk", model,
        (unsigned long long)prt_cpu_features(), (unsigned long long)prt_cpu_cache(2) >> 10,
        (unsigned long long)prt_cpu_cache(3) >> 10);
}
