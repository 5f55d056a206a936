/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h — a fuzz target accepts any bytes and returns. Built with clang's -fsanitize=fuzzer it is
 * a libFuzzer program; otherwise mutate.c drives it with mutations of seed files.
 */
#ifndef PRT_TESTS_FUZZ_FUZZ_H
#define PRT_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libFuzzer's mutators, which a target may have; mutate.c calls them too. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other,
    size_t other_size, uint8_t *out, size_t capacity, unsigned seed);

/* Memory limit of a target in bytes; a library that needs more must return an error. */
enum { FUZZ_MEMORY = 256 << 20 };

struct prt_allocator;
/* The C library's allocator, capped at FUZZ_MEMORY in all. */
const struct prt_allocator *fuzz_allocator(void);

/* Bytes that are allocated now. */
size_t fuzz_memory_used(void);

/* Aborts on a leak: memory that is still allocated. */
void fuzz_expect_empty(void);

#endif
