/* SPDX-License-Identifier: MIT */
/*
 * dtype.h — the element type table, and reading and writing single elements of any type. The
 * single-element calls are what reference kernels use: exact, not fast.
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
#undef DTYPE
    PRT_DTYPE_COUNT = 29
};

typedef struct prt_dtype_info {
    const char *name, *popef;
    uint8_t bits;
    uint8_t kind; /* prt_dtype_kind */
} prt_dtype_info;

/* Row of a type; for values outside the table a row named "?", 0 bits and kind none. */
const prt_dtype_info *prt_dtype_of(int32_t dtype);

/* Type with this numpy or PopEF name; PRT_DTYPE_undefined when there is none. */
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

/* Bytes of `count` packed elements; false when that overflows or the type is unknown. */
bool prt_dtype_size(int32_t dtype, uint64_t count, size_t *out);

/* Element `index` of elements of fewer than 8 bits each, packed without gaps, low bits first: a
 * 6-bit one may lie in two bytes. */
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
 * One element by index, any numeric or bool type, packed ones too. Loads widen exactly (f64 holds
 * every float type; i64 and u64 hold every integer). Stores to floats round to nearest even;
 * float8 stores saturate when `saturate` (ONNX Cast's default), else give infinity or NaN as the
 * format allows. Stores to integers wrap, from floats truncate toward zero first (NaN gives 0,
 * what is out of range saturates to int64 or uint64 before wrapping).
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

#endif
