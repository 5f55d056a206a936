/* SPDX-License-Identifier: MIT */
/* loops.h — portable pragmas for the loop that follows. */
#ifndef PRT_BASE_LOOPS_H
#define PRT_BASE_LOOPS_H

/* PRT_UNROLL(n): unroll a loop of at most n iterations completely. PRT_UNROLL_BY(n): unroll by n a
 * loop whose trip count is unknown. PRT_NO_ALIAS_LOOP: no iteration reads memory that another one
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
