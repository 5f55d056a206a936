/* SPDX-License-Identifier: MIT */
/* program_text.h — programs for tests, compiled from IR text, and PopEF bytes in memory. */
#ifndef PRT_TESTS_SUPPORT_PROGRAM_TEXT_H
#define PRT_TESTS_SUPPORT_PROGRAM_TEXT_H

#include "compiler/compile.h"
#include "program/popef.h"

/* Equality of floats, without Check's silent promotion. */
#define ck_f32(a, b) ck_assert_double_eq((double)(a), (double)(b))

typedef struct test_bytes {
    unsigned char *data;
    size_t size;
} test_bytes;

/* Compiles IR text; a failure fails the test. The module is released. */
prt_program *program_from_text(const char *text);
/* The same, but every value has its own memory. */
prt_program *program_without_sharing(const char *text);

/* Write the program as PopEF; the caller frees `data`, on failure too. popef_of fails the test
 * on an error. */
poprt_status popef_write(const prt_program *program, test_bytes *out);
test_bytes popef_of(const prt_program *program);

/* Reads PopEF from a copy of the bytes that is aligned like a mapping. */
poprt_status program_from_bytes(const void *data, size_t size, bool full, prt_program **out);

#endif
