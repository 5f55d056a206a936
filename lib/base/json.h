/* SPDX-License-Identifier: MIT */
/*
 * json.h — JSON as one tree in an arena, read by cJSON and copied out of it; and a small writer.
 *
 * cJSON keeps numbers as doubles, so integers beyond 2^53 are written as decimal strings and
 * `prt_json_i64` accepts both spellings.
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
    prt_str key; /* within an object */
    prt_str text;
    double number; /* bools: 0 or 1 */
    uint32_t count;
    struct prt_json *items; /* array items or object members, in file order */
} prt_json;

/* Parses `size` bytes (need not end in zero). Depth, size and the number of values are bounded;
 * errors name the offset. Zero characters and numbers no double can hold are refused. */
poprt_status prt_json_parse(prt_arena *arena, const char *text, size_t size, prt_json **out);

/* Member of an object (the last so named), or NULL (also when `object` is NULL or no object). */
const prt_json *prt_json_get(const prt_json *object, const char *key);

/* Typed reads; false when absent or of another kind (`out` untouched). i64 is exact or false. */
bool prt_json_i64(const prt_json *value, int64_t *out);
bool prt_json_f64(const prt_json *value, double *out);
bool prt_json_bool(const prt_json *value, bool *out);
bool prt_json_text(const prt_json *value, prt_str *out);

/*
 * Writer: appends to a growing buffer in an arena. Sticky: after a failure every call is a no-op,
 * and `prt_json_out_finish` reports it. `key` is NULL inside arrays and at the root. What is not
 * UTF-8, and the zero character, which the reader refuses, become U+FFFD.
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
void prt_json_put_text(prt_json_out *out, const char *key, prt_str text); /* non-text: U+FFFD */
void prt_json_put_i64(prt_json_out *out, const char *key, int64_t value);
void prt_json_put_f64(prt_json_out *out, const char *key, double value); /* not finite: null */
void prt_json_put_bool(prt_json_out *out, const char *key, bool value);
poprt_status prt_json_out_finish(prt_json_out *out, prt_str *text);

#endif
