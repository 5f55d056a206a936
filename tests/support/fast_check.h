/* SPDX-License-Identifier: MIT */
/*
 * fast_check.h — fast forms of operators against the reference kernels, at every level that the
 * processor has.
 */
#ifndef PRT_TESTS_SUPPORT_FAST_CHECK_H
#define PRT_TESTS_SUPPORT_FAST_CHECK_H

#include <stdbool.h>

/* One in so many cases is checked by a build with the address sanitizer, or one where kernels are
 * emulated, in which each takes ten times as long. */
#if defined(__SANITIZE_ADDRESS__) || defined(PRT_EMULATE)
#define FAST_SHARE 2
#else
#define FAST_SHARE 1
#endif
#define FAST_CASES(n) ((n) / FAST_SHARE)

/* Runs a graph of float32 inputs, which get numbers in [low, high), and compares output 0: within
 * `bound` times its largest element, NaN where the reference has it; the same bits with three
 * threads as with one. Where Strassen's algorithm gives other bits, all that with it; true when it
 * did at every level. So for split products, where the level has them, whose bound is 1e-5 of the
 * largest element more. */
bool fast_check(const char *text, double low, double high, double bound);

/* Split products gave other bits in the check before, or the processor has none. */
bool fast_check_bf16x3(void);

/* The same of a program, which it releases, made of such a text. */
struct prt_program;
bool fast_check_program(struct prt_program *program, const char *text, double low, double high,
    double bound);

#endif
