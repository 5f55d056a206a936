/* SPDX-License-Identifier: MIT */
/* loops.h — what compilers are told of the loop that follows. */
#ifndef PRT_BASE_LOOPS_H
#define PRT_BASE_LOOPS_H

/* PRT_UNROLL(n): as often as it runs, up to n times. PRT_UNROLL_BY(n): n turns at a time of one
 * that runs nobody knows how often. PRT_NO_ALIAS_LOOP: no turn of the loop reads what another one
 * writes. */
#define PRT_PRAGMA_(text) _Pragma(#text)
#if defined(__clang__)
#define PRT_UNROLL(n) _Pragma("clang loop unroll(full)")
#define PRT_UNROLL_BY(n) PRT_PRAGMA_(clang loop unroll_count(n))
#define PRT_NO_ALIAS_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define PRT_UNROLL(n) PRT_PRAGMA_(GCC unroll n)
#define PRT_UNROLL_BY(n) PRT_UNROLL(n)
#define PRT_NO_ALIAS_LOOP _Pragma("GCC ivdep")
#endif

#endif
