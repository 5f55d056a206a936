/* SPDX-License-Identifier: MIT */
/* dtype.c — the table of element types and its look-ups. */
#include "num/dtype.h"

#include <string.h>

static const prt_dtype_info table[PRT_DTYPE_COUNT] = {
    [PRT_DTYPE_undefined] = { .name = "?", .popef = "?" },
#define DTYPE(id, onnx, bits, kind, name, popef) [onnx] = { name, popef, bits, PRT_KIND_##kind },
#include "num/dtypes.def"
};

const prt_dtype_info *prt_dtype_of(int32_t dtype)
{
    return dtype > 0 && dtype < PRT_DTYPE_COUNT ? &table[dtype] : &table[PRT_DTYPE_undefined];
}

int32_t prt_dtype_by_name(const char *name)
{
    for (int32_t i = 1; i < PRT_DTYPE_COUNT; i++)
        if (strcmp(table[i].name, name) == 0)
            return i;
    return PRT_DTYPE_undefined;
}

int32_t prt_dtype_by_popef(const char *popef)
{
    for (int32_t i = 1; i < PRT_DTYPE_COUNT; i++)
        if (strcmp(table[i].popef, popef) == 0)
            return i;
    return PRT_DTYPE_undefined;
}

bool prt_dtype_size(int32_t dtype, uint64_t count, size_t *out)
{
    const uint64_t bits = prt_dtype_bits(dtype);
    if (bits == 0)
        return false;
    if (bits >= 8)
        return !__builtin_mul_overflow(count, bits / 8, out);
    /* Eight elements fill `bits` bytes. */
    size_t whole;
    return !__builtin_mul_overflow(count / 8, bits, &whole) &&
        !__builtin_add_overflow(whole, (count % 8 * bits + 7) / 8, out);
}
