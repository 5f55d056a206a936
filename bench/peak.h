/* SPDX-License-Identifier: MIT */
/* peak.h — what the registers of one instruction-set level can do at best. */
#ifndef POPRT_BENCH_PEAK_H
#define POPRT_BENCH_PEAK_H

#include <stddef.h>

typedef struct peak_level {
    const char *name;
    size_t flops; /* a turn's */
    float (*turns)(size_t n);
} peak_level;

extern const peak_level peak_portable, peak_avx2, peak_avx512;

#endif
