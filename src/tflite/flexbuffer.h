/* SPDX-License-Identifier: MIT */
/*
 * flexbuffer.h — a bounds-checked reader of FlexBuffers, the form of the options of custom
 * operators: a map or a vector whose items are numbers and texts.
 *
 * A FlexBuffer is read from its end: the last byte is the width of the root in bytes, the byte
 * before it the type of the root, and the root lies before that. Offsets point backwards. Items of
 * types that prt_flex_kind does not list read as PRT_FLEX_other.
 */
#ifndef PRT_TFLITE_FLEXBUFFER_H
#define PRT_TFLITE_FLEXBUFFER_H

#include "base/str.h"

typedef enum prt_flex_kind {
    PRT_FLEX_absent,
    PRT_FLEX_other,
    PRT_FLEX_int, /* of either sign */
    PRT_FLEX_float,
    PRT_FLEX_bool,
    PRT_FLEX_text /* of strings, keys and blobs */
} prt_flex_kind;

typedef struct prt_flex_value {
    prt_flex_kind kind;
    int64_t i; /* of an int or a bool; an unsigned number above INT64_MAX reads as INT64_MAX */
    double f;  /* of a float, and of an int or a bool */
    prt_str s; /* a view */
} prt_flex_value;

/* A map or a vector whose extent is checked. */
typedef struct prt_flex {
    const unsigned char *data;
    size_t size;
    size_t items, keys; /* positions; `keys` is 0 in a vector */
    uint32_t width, key_width;
    size_t count;
} prt_flex;

/* Opens a FlexBuffer whose root is a map, or a vector of items with types. Fails with POPRT_E_PARSE
 * for another root and for one that exceeds the buffer. */
poprt_status prt_flex_open(const void *data, size_t size, prt_flex *out);

/* Reads item `index`, which must be below the count, or the item of a key (absent if the map
 * lacks it). Fails with POPRT_E_PARSE where the item exceeds the buffer. */
poprt_status prt_flex_item(const prt_flex *flex, size_t index, prt_flex_value *out);
poprt_status prt_flex_find(const prt_flex *flex, const char *key, prt_flex_value *out);

#endif
