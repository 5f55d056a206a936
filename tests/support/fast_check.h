/* SPDX-License-Identifier: MIT */
/*
 * fast_check.h — compares fast operators with the reference kernels, at every level that the
 * processor supports.
 */
#ifndef PRT_TESTS_SUPPORT_FAST_CHECK_H
#define PRT_TESTS_SUPPORT_FAST_CHECK_H

#include <stdbool.h>

/* A build with the address sanitizer or with emulated kernels checks one case in this many,
 * because each case takes ten times as long. */
#if defined(__SANITIZE_ADDRESS__) || defined(PRT_EMULATE)
#define FAST_SHARE 2
#else
#define FAST_SHARE 1
#endif
#define FAST_CASES(n) ((n) / FAST_SHARE)

/* Runs a graph of float32 inputs with numbers in [low, high) and checks output 0: within `bound`
 * times the largest element, NaN where the reference has NaN, and the same bits with one and
 * three threads. If Strassen's algorithm gives other bits, its result is checked too; returns
 * true if it did at every level. bf16x3 products, where the level supports them, are checked
 * with a bound larger by 1e-5 of the largest element. */
bool fast_check(const char *text, double low, double high, double bound);

/* Returns true if bf16x3 products gave other bits in the previous check, or if the processor
 * does not support them. */
bool fast_check_bf16x3(void);

/* The same for a program compiled from such a text; releases the program. */
struct prt_program;
bool fast_check_program(struct prt_program *program, const char *text, double low, double high,
    double bound);

#endif
