/* SPDX-License-Identifier: MIT */
/*
 * str.h — counted strings and their interning. An interned string ends in a zero byte, and two
 * interned strings of one pool are equal exactly when their `data` pointers are equal.
 */
#ifndef PRT_BASE_STR_H
#define PRT_BASE_STR_H

#include <string.h>

#include "base/arena.h"

typedef struct prt_str {
    const char *data; /* NULL: absent */
    uint32_t size;
} prt_str;

/* A string literal as prt_str. */
#define PRT_STR(literal) ((prt_str){ (literal), (uint32_t)(sizeof(literal) - 1) })
/* The same as an initialiser of static data. */
#define PRT_STR_INIT(literal)                                                                      \
    {                                                                                              \
        (literal), (uint32_t)(sizeof(literal) - 1)                                                 \
    }
/* The two arguments of a "%.*s". */
#define PRT_STR_ARG(s) (int)(s).size, (s).data != NULL ? (s).data : ""

static inline bool prt_str_equal(prt_str a, prt_str b)
{
    return a.size == b.size &&
        (a.size == 0 || a.data == b.data || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool prt_str_is(prt_str a, const char *text)
{
    const size_t n = strlen(text);
    return a.size == n && (n == 0 || memcmp(a.data, text, n) == 0);
}

static inline prt_str prt_str_of(const char *text)
{
    return (prt_str){ text, (uint32_t)strlen(text) };
}

/* Compares words of option files without regard to case and underscores. */
bool prt_str_same_word(prt_str a, prt_str b);

uint64_t prt_hash(const void *bytes, size_t size, uint64_t seed);

typedef struct prt_strings prt_strings;

/* The pool is allocated in `arena` and released with it. */
poprt_status prt_strings_create(prt_arena *arena, prt_strings **out);

/* Returns an interned copy; on failure `data` is NULL and the failure is recorded. */
prt_str prt_strings_intern(prt_strings *pool, prt_str text);

#endif
