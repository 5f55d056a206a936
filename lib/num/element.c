/* SPDX-License-Identifier: MIT */
/*
 * element.c — access to single elements of any type.
 *
 * An element of at most 64 bits is a word of raw bits, loaded and stored by its width and
 * interpreted by its kind. A complex number loads its real part and stores an imaginary part of
 * zero. Elements narrower than a byte share it: a store rewrites the neighbours' bits with their
 * old values, so two threads must not store into one byte.
 */
#include <math.h>
#include <string.h>

#include "num/dtype.h"
#include "num/float.h"

static uint64_t fetch(uint32_t bits, const void *data, size_t index)
{
    const unsigned char *p = data;
    uint16_t w16;
    uint32_t w32;
    uint64_t w64;
    switch (bits) {
    case 2:
    case 4:
    case 6:
        return prt_packed_load(bits, data, index);
    case 8:
        return p[index];
    case 16:
        memcpy(&w16, p + index * 2, 2);
        return w16;
    case 32:
        memcpy(&w32, p + index * 4, 4);
        return w32;
    case 64:
        memcpy(&w64, p + index * 8, 8);
        return w64;
    default:
        return 0;
    }
}

static void put(uint32_t bits, void *data, size_t index, uint64_t word)
{
    unsigned char *p = data;
    const uint16_t w16 = (uint16_t)word;
    const uint32_t w32 = (uint32_t)word;
    if (bits < 8) {
        prt_packed_store(bits, data, index, w32);
    } else if (bits == 8) {
        p[index] = (unsigned char)word;
    } else if (bits == 16) {
        memcpy(p + index * 2, &w16, 2);
    } else if (bits == 32) {
        memcpy(p + index * 4, &w32, 4);
    } else if (bits == 64) {
        memcpy(p + index * 8, &word, 8);
    }
}

static double f64_of_bits(int32_t dtype, uint64_t word)
{
    float f;
    double d;
    const uint32_t w32 = (uint32_t)word;
    switch (dtype) {
    case PRT_DTYPE_f32:
        memcpy(&f, &w32, sizeof(f));
        return (double)f;
    case PRT_DTYPE_f64:
        memcpy(&d, &word, sizeof(d));
        return d;
    case PRT_DTYPE_f16:
        return (double)prt_f16_to_f32((uint16_t)word);
    case PRT_DTYPE_bf16:
        return (double)prt_bf16_to_f32((uint16_t)word);
    case PRT_DTYPE_f8e4m3fn:
        return (double)prt_f8e4m3fn_to_f32((uint8_t)word);
    case PRT_DTYPE_f8e4m3fnuz:
        return (double)prt_f8e4m3fnuz_to_f32((uint8_t)word);
    case PRT_DTYPE_f8e5m2:
        return (double)prt_f8e5m2_to_f32((uint8_t)word);
    case PRT_DTYPE_f8e5m2fnuz:
        return (double)prt_f8e5m2fnuz_to_f32((uint8_t)word);
    case PRT_DTYPE_f8e8m0:
        return (double)prt_f8e8m0_to_f32((uint8_t)word);
    case PRT_DTYPE_f4e2m1:
        return (double)prt_f4e2m1_to_f32((uint8_t)word);
    case PRT_DTYPE_f6e2m3:
        return (double)prt_f6e2m3_to_f32((uint8_t)word);
    case PRT_DTYPE_f6e3m2:
        return (double)prt_f6e3m2_to_f32((uint8_t)word);
    default:
        return 0;
    }
}

static uint64_t bits_of_f64(int32_t dtype, double value, bool saturate)
{
    const float f = (float)value;
    uint32_t w32;
    uint64_t w64;
    switch (dtype) {
    case PRT_DTYPE_f32:
        memcpy(&w32, &f, sizeof(w32));
        return w32;
    case PRT_DTYPE_f64:
        memcpy(&w64, &value, sizeof(w64));
        return w64;
    case PRT_DTYPE_f16:
        return prt_f64_to_f16(value);
    case PRT_DTYPE_bf16:
        return prt_f64_to_bf16(value);
    case PRT_DTYPE_f8e4m3fn:
        return prt_f64_to_f8e4m3fn(value, saturate);
    case PRT_DTYPE_f8e4m3fnuz:
        return prt_f64_to_f8e4m3fnuz(value, saturate);
    case PRT_DTYPE_f8e5m2:
        return prt_f64_to_f8e5m2(value, saturate);
    case PRT_DTYPE_f8e5m2fnuz:
        return prt_f64_to_f8e5m2fnuz(value, saturate);
    case PRT_DTYPE_f8e8m0:
        return prt_f64_to_f8e8m0(value, saturate);
    case PRT_DTYPE_f4e2m1:
        return prt_f64_to_f4e2m1(value);
    case PRT_DTYPE_f6e2m3:
        return prt_f64_to_f6e2m3(value);
    case PRT_DTYPE_f6e3m2:
        return prt_f64_to_f6e3m2(value);
    default:
        return 0;
    }
}

static double load_float(int32_t dtype, const void *data, size_t index)
{
    if (dtype == PRT_DTYPE_c64)
        return load_float(PRT_DTYPE_f32, data, index * 2);
    if (dtype == PRT_DTYPE_c128)
        return load_float(PRT_DTYPE_f64, data, index * 2);
    return f64_of_bits(dtype, fetch(prt_dtype_bits(dtype), data, index));
}

static void store_float(int32_t dtype, void *data, size_t index, double value, bool saturate)
{
    if (dtype == PRT_DTYPE_c64 || dtype == PRT_DTYPE_c128) {
        const int32_t part = dtype == PRT_DTYPE_c64 ? PRT_DTYPE_f32 : PRT_DTYPE_f64;
        store_float(part, data, index * 2, value, saturate);
        store_float(part, data, index * 2 + 1, 0, saturate);
        return;
    }
    put(prt_dtype_bits(dtype), data, index, bits_of_f64(dtype, value, saturate));
}

/* Returns an element of an integer or bool type as a 64-bit pattern, sign-extended. */
static uint64_t load_integer(const prt_dtype_info *info, const void *data, size_t index)
{
    const uint64_t word = fetch(info->bits, data, index);
    if (info->kind == PRT_KIND_bool)
        return word != 0;
    const uint64_t sign = UINT64_C(1) << (info->bits - 1);
    return info->kind == PRT_KIND_int ? (word ^ sign) - sign : word;
}

/* Negative values are converted through int64, so that -1 is all ones. */
static uint64_t u64_of_f64(double value)
{
    if (!(value >= 0x1p63))
        return (uint64_t)prt_f64_to_i64(value);
    return value >= 0x1p64 ? UINT64_MAX : (uint64_t)value;
}

/* Returns a magnitude as a double that rounds to any narrower type as the integer itself would.
 * Bits beyond a double's mantissa set its last bit ("round to odd"). */
static double f64_for_rounding(uint64_t magnitude)
{
    if (magnitude >> 53 != 0)
        magnitude = (magnitude & ~UINT64_C(0x7ff)) | ((magnitude & 0x7ff) != 0 ? 0x800 : 0);
    return (double)magnitude;
}

double prt_load_f64(int32_t dtype, const void *data, size_t index)
{
    const prt_dtype_info *info = prt_dtype_of(dtype);
    switch (info->kind) {
    case PRT_KIND_bool:
    case PRT_KIND_uint:
        return (double)load_integer(info, data, index);
    case PRT_KIND_int:
        return (double)(int64_t)load_integer(info, data, index);
    case PRT_KIND_float:
    case PRT_KIND_complex:
        return load_float(dtype, data, index);
    default:
        return 0;
    }
}

int64_t prt_load_i64(int32_t dtype, const void *data, size_t index)
{
    const prt_dtype_info *info = prt_dtype_of(dtype);
    if (info->kind == PRT_KIND_float || info->kind == PRT_KIND_complex)
        return prt_f64_to_i64(load_float(dtype, data, index));
    return (int64_t)prt_load_u64(dtype, data, index);
}

uint64_t prt_load_u64(int32_t dtype, const void *data, size_t index)
{
    const prt_dtype_info *info = prt_dtype_of(dtype);
    switch (info->kind) {
    case PRT_KIND_bool:
    case PRT_KIND_uint:
    case PRT_KIND_int:
        return load_integer(info, data, index);
    case PRT_KIND_float:
    case PRT_KIND_complex:
        return u64_of_f64(load_float(dtype, data, index));
    default:
        return 0;
    }
}

void prt_store_f64(int32_t dtype, void *data, size_t index, double value)
{
    prt_store_f64_as(dtype, data, index, value, true);
}

void prt_store_f64_as(int32_t dtype, void *data, size_t index, double value, bool saturate)
{
    const prt_dtype_info *info = prt_dtype_of(dtype);
    switch (info->kind) {
    case PRT_KIND_bool:
        put(info->bits, data, index, value < 0 || value > 0 || isnan(value));
        break;
    case PRT_KIND_uint:
        put(info->bits, data, index, u64_of_f64(value));
        break;
    case PRT_KIND_int:
        put(info->bits, data, index, (uint64_t)prt_f64_to_i64(value));
        break;
    case PRT_KIND_float:
    case PRT_KIND_complex:
        store_float(dtype, data, index, value, saturate);
        break;
    default:
        break;
    }
}

static void store_integer(int32_t dtype, void *data, size_t index, uint64_t word, bool negative)
{
    const prt_dtype_info *info = prt_dtype_of(dtype);
    const uint64_t magnitude = negative ? 0 - word : word;
    const bool full = dtype == PRT_DTYPE_f64 || dtype == PRT_DTYPE_c128;
    const double value = full ? (double)magnitude : f64_for_rounding(magnitude);
    switch (info->kind) {
    case PRT_KIND_bool:
        put(info->bits, data, index, word != 0);
        break;
    case PRT_KIND_uint:
    case PRT_KIND_int:
        put(info->bits, data, index, word);
        break;
    case PRT_KIND_float:
    case PRT_KIND_complex:
        store_float(dtype, data, index, negative ? -value : value, true);
        break;
    default:
        break;
    }
}

void prt_store_i64(int32_t dtype, void *data, size_t index, int64_t value)
{
    store_integer(dtype, data, index, (uint64_t)value, value < 0);
}

void prt_store_u64(int32_t dtype, void *data, size_t index, uint64_t value)
{
    store_integer(dtype, data, index, value, false);
}

void prt_convert(int32_t from, const void *in, int32_t to, void *out, size_t count)
{
    size_t size;
    if (from == to && prt_dtype_size(to, count, &size)) {
        if (size != 0)
            memcpy(out, in, size);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (prt_dtype_is_float(from))
            prt_store_f64(to, out, i, prt_load_f64(from, in, i));
        else
            prt_store_i64(to, out, i, prt_load_i64(from, in, i));
}
