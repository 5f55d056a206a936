/* SPDX-License-Identifier: MIT */
/*
 * strings.h — helpers of operators on strings: memory of results, inputs that hold one string,
 * characters of UTF-8, and regular expressions. Strings from outside hold any bytes.
 */
#ifndef PRT_OP_SHARE_STRINGS_H
#define PRT_OP_SHARE_STRINGS_H

#include "op/op.h"
#include "op/share/regex.h"

/* Makes element `at` of output `out` a string of `size` bytes and returns its memory, which the
 * caller fills. Returns NULL, with the error recorded, if memory is refused. */
char *prt_string_reserve(prt_eval *c, uint32_t out, size_t at, size_t size);

/* Makes element `at` of output `out` a copy of `size` bytes. */
poprt_status prt_string_write(prt_eval *c, uint32_t out, size_t at, const char *data, size_t size);

/* Copies `size` bytes to `*to` and advances it. */
static inline void prt_string_append(char **to, const char *data, size_t size)
{
    if (size != 0)
        memcpy(*to, data, size);
    *to += size;
}

/* Reads input `i`, which must hold one string of less than 4 GiB. */
poprt_status prt_eval_string(const prt_eval *c, uint32_t i, prt_str *out);

/* Reads input `i`, which must hold one integer or boolean. */
poprt_status prt_eval_integer(const prt_eval *c, uint32_t i, int64_t *out);

/* Checks that input `i`, if its shape is known, has one element. */
poprt_status prt_infer_single(const prt_infer *c, uint32_t i);

/* Returns the size of the first `count` characters of UTF-8. A character is a byte and the
 * continuation bytes after it. `*count` becomes the number of characters that there are. */
size_t prt_utf8_prefix(const char *text, size_t size, size_t *count);

/* Returns whether a byte is ASCII white space. */
static inline bool prt_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Compiles a pattern in memory of this call, for `n_spans` spans (regex.h). The error of a pattern
 * that cannot be compiled quotes it. */
poprt_status prt_eval_regex(prt_eval *c, prt_str pattern, uint32_t n_spans, prt_regex **out);

/* Checks a pattern. */
poprt_status prt_infer_regex(const prt_infer *c, prt_str pattern);

#endif
