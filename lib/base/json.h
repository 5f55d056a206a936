/* SPDX-License-Identifier: MIT */
/*
 * json.h — JSON as a tree in an arena, parsed by cJSON and copied; and a small writer.
 *
 * cJSON stores numbers as doubles. Integers beyond 2^53 are therefore written as decimal strings,
 * and `prt_json_i64` accepts both spellings.
 */
#ifndef PRT_BASE_JSON_H
#define PRT_BASE_JSON_H

#include "base/arena.h"
#include "base/str.h"

typedef enum prt_json_kind {
    PRT_JSON_NULL,
    PRT_JSON_BOOL,
    PRT_JSON_NUMBER,
    PRT_JSON_STRING,
    PRT_JSON_ARRAY,
    PRT_JSON_OBJECT
} prt_json_kind;

typedef struct prt_json {
    int32_t kind;
    prt_str key; /* name of the member, within an object */
    prt_str text;
    double number; /* a boolean is 0 or 1 */
    uint32_t count;
    struct prt_json *items; /* array items or object members, in file order */
} prt_json;

/* Parses `size` bytes, which need not end in zero. Depth, size and number of values are bounded.
 * Zero characters and numbers beyond the range of double are refused; errors state the offset. */
poprt_status prt_json_parse(prt_arena *arena, const char *text, size_t size, prt_json **out);

/* Returns the last member of that name. NULL: there is no such member, or `object` is NULL or is
 * not an object. */
const prt_json *prt_json_get(const prt_json *object, const char *key);

/* Typed reads. They return false, and leave `out` untouched, where the value is absent or of
 * another kind. prt_json_i64 also returns false for a number that is not an exact integer. */
bool prt_json_i64(const prt_json *value, int64_t *out);
bool prt_json_f64(const prt_json *value, double *out);
bool prt_json_bool(const prt_json *value, bool *out);
bool prt_json_text(const prt_json *value, prt_str *out);

/*
 * A writer that appends to a growing buffer in an arena. After a failure every call does nothing,
 * and `prt_json_out_finish` reports the failure. `key` is NULL inside arrays and at the root.
 * Invalid UTF-8 and the zero character, which the reader refuses, are replaced by U+FFFD.
 */
typedef struct prt_json_out {
    prt_arena *arena;
    char *data;
    size_t size, capacity;
    bool comma, failed;
    bool pretty; /* line breaks and two-space indentation */
    uint32_t depth;
} prt_json_out;

void prt_json_out_init(prt_json_out *out, prt_arena *arena, bool pretty);
void prt_json_open(prt_json_out *out, const char *key, char bracket);     /* '{' or '[' */
void prt_json_close(prt_json_out *out, char bracket);                     /* '}' or ']' */
void prt_json_put_text(prt_json_out *out, const char *key, prt_str text); /* not UTF-8: U+FFFD */
void prt_json_put_i64(prt_json_out *out, const char *key, int64_t value);
void prt_json_put_f64(prt_json_out *out, const char *key, double value); /* infinity, NaN: null */
void prt_json_put_bool(prt_json_out *out, const char *key, bool value);
poprt_status prt_json_out_finish(prt_json_out *out, prt_str *text);

#endif
