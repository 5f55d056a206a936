/* SPDX-License-Identifier: MIT */
/*
 * dtype.h — the table of element types, and reads and writes of single elements of any type. The
 * reference kernels use the single-element functions, which are exact but not fast.
 */
#ifndef PRT_NUM_DTYPE_H
#define PRT_NUM_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum prt_dtype_kind {
    PRT_KIND_none,
    PRT_KIND_bool,
    PRT_KIND_uint,
    PRT_KIND_int,
    PRT_KIND_float,
    PRT_KIND_complex,
    PRT_KIND_string
} prt_dtype_kind;

enum {
    PRT_DTYPE_undefined = 0,
#define DTYPE(id, onnx, bits, kind, name, popef) PRT_DTYPE_##id = (onnx),
#include "num/dtypes.def"
    PRT_DTYPE_COUNT = 29
};

typedef struct prt_dtype_info {
    const char *name, *popef;
    uint8_t bits;
    uint8_t kind; /* prt_dtype_kind */
} prt_dtype_info;

/* Returns the row of a type. Values outside the table have a row with name "?", 0 bits and kind
 * none. */
const prt_dtype_info *prt_dtype_of(int32_t dtype);

/* Return the type of a numpy or PopEF name; PRT_DTYPE_undefined for an unknown name. */
int32_t prt_dtype_by_name(const char *name);
int32_t prt_dtype_by_popef(const char *popef);

static inline uint32_t prt_dtype_bits(int32_t dtype)
{
    return prt_dtype_of(dtype)->bits;
}
static inline bool prt_dtype_is_float(int32_t dtype)
{
    return prt_dtype_of(dtype)->kind == PRT_KIND_float;
}
static inline bool prt_dtype_is_integer(int32_t dtype)
{
    return prt_dtype_of(dtype)->kind == PRT_KIND_int || prt_dtype_of(dtype)->kind == PRT_KIND_uint;
}

/* Returns the bytes of `count` packed elements; false on overflow or for an unknown type. */
bool prt_dtype_size(int32_t dtype, uint64_t count, size_t *out);

/* Access element `index` of a type with fewer than 8 bits, packed without gaps, low bits first. A
 * 6-bit element may span two bytes. */
static inline uint32_t prt_packed_load(uint32_t bits, const void *data, size_t index)
{
    const unsigned char *p = (const unsigned char *)data + index * bits / 8;
    const uint32_t shift = (uint32_t)(index * bits % 8);
    const uint32_t word = p[0] | (shift + bits > 8 ? (uint32_t)p[1] << 8 : 0);
    return word >> shift & ((1u << bits) - 1);
}
static inline void prt_packed_store(uint32_t bits, void *data, size_t index, uint32_t value)
{
    unsigned char *p = (unsigned char *)data + index * bits / 8;
    const uint32_t shift = (uint32_t)(index * bits % 8);
    const uint32_t mask = ((1u << bits) - 1) << shift, word = value << shift & mask;
    p[0] = (unsigned char)((p[0] & ~mask) | word);
    if (shift + bits > 8)
        p[1] = (unsigned char)((p[1] & ~(mask >> 8)) | word >> 8);
}

/*
 * Access one element by index, of any numeric or bool type, packed types included. Loads are exact:
 * f64 holds every float type, i64 and u64 hold every integer. A store to a float rounds to nearest
 * even. A store to float8 saturates with `saturate` (the default of ONNX Cast), and otherwise gives
 * infinity or NaN, as the format allows. A store to an integer wraps. A float is first truncated
 * toward zero: NaN gives 0, and values out of range saturate to int64 or uint64.
 */
static inline int64_t prt_f64_to_i64(double value)
{
    if (value >= 0x1p63)
        return INT64_MAX;
    if (value <= -0x1p63)
        return INT64_MIN;
    return value == value ? (int64_t)value : 0;
}
double prt_load_f64(int32_t dtype, const void *data, size_t index);
int64_t prt_load_i64(int32_t dtype, const void *data, size_t index);
uint64_t prt_load_u64(int32_t dtype, const void *data, size_t index);
void prt_store_f64(int32_t dtype, void *data, size_t index, double value);
void prt_store_f64_as(int32_t dtype, void *data, size_t index, double value, bool saturate);
void prt_store_i64(int32_t dtype, void *data, size_t index, int64_t value);
void prt_store_u64(int32_t dtype, void *data, size_t index, uint64_t value);
/* Converts `count` elements, as these functions load and store them: floating-point numbers through
 * float64, others through int64. Elements of the same type are copied. */
void prt_convert(int32_t from, const void *in, int32_t to, void *out, size_t count);

#endif
