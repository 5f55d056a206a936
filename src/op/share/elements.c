/* SPDX-License-Identifier: MIT */
/* elements.c — conversion of runs of elements, with one loop for each common type. */
#include "op/share/elements.h"

#include "num/float.h"

/* `expr` converts the element `v`. The dense case has a loop of its own that the compiler
 * vectorises. */
#define READ(type, expr)                                                                           \
    do {                                                                                           \
        const type *x = (const type *)data + first;                                                \
        for (size_t i = 0; step == 1 && i < count; i++) {                                          \
            const type v = x[i];                                                                   \
            to[i] = (expr);                                                                        \
        }                                                                                          \
        for (size_t i = 0; step != 1 && i < count; i++) {                                          \
            const type v = x[i * step];                                                            \
            to[i] = (expr);                                                                        \
        }                                                                                          \
    } while (0)
#define WRITE(type, expr)                                                                          \
    do {                                                                                           \
        type *y = data;                                                                            \
        for (size_t i = 0; i < count; i++)                                                         \
            y[first + i] = (type)(expr);                                                           \
    } while (0)

/* Repeats the first element: a run over a broadcast axis. */
static void repeat(size_t size, size_t count, void *to)
{
    char *bytes = to;
    for (size_t i = 1; i < count; i++)
        memcpy(bytes + i * size, bytes, size);
}

void prt_read_f64(int32_t dtype, const void *data, size_t first, size_t step, size_t count,
    double *to)
{
    if (step == 0 && count > 1) {
        prt_read_f64(dtype, data, first, 1, 1, to);
        repeat(sizeof(double), count, to);
        return;
    }
    switch (dtype) {
    case PRT_DTYPE_f32:
        READ(float, (double)v);
        break;
    case PRT_DTYPE_f64:
        READ(double, v);
        break;
    case PRT_DTYPE_f16:
        READ(uint16_t, (double)prt_f16_to_f32(v));
        break;
    case PRT_DTYPE_bf16:
        READ(uint16_t, (double)prt_bf16_to_f32(v));
        break;
    default:
        for (size_t i = 0; i < count; i++)
            to[i] = prt_load_f64(dtype, data, first + i * step);
    }
}

void prt_read_i64(int32_t dtype, const void *data, size_t first, size_t step, size_t count,
    int64_t *to)
{
    if (step == 0 && count > 1) {
        prt_read_i64(dtype, data, first, 1, 1, to);
        repeat(sizeof(int64_t), count, to);
        return;
    }
    switch (dtype) {
    case PRT_DTYPE_i64:
        READ(int64_t, v);
        break;
    case PRT_DTYPE_u64:
        READ(uint64_t, (int64_t)v);
        break;
    case PRT_DTYPE_i32:
        READ(int32_t, v);
        break;
    case PRT_DTYPE_u32:
        READ(uint32_t, v);
        break;
    case PRT_DTYPE_i16:
        READ(int16_t, v);
        break;
    case PRT_DTYPE_u16:
        READ(uint16_t, v);
        break;
    case PRT_DTYPE_i8:
        READ(int8_t, v);
        break;
    case PRT_DTYPE_u8:
        READ(uint8_t, v);
        break;
    case PRT_DTYPE_bool:
        READ(uint8_t, v != 0);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            to[i] = prt_load_i64(dtype, data, first + i * step);
    }
}

void prt_write_f64(int32_t dtype, void *data, size_t first, size_t count, const double *from)
{
    switch (dtype) {
    case PRT_DTYPE_f32:
        WRITE(float, from[i]);
        break;
    case PRT_DTYPE_f64:
        WRITE(double, from[i]);
        break;
    case PRT_DTYPE_f16:
        WRITE(uint16_t, prt_f64_to_f16(from[i]));
        break;
    case PRT_DTYPE_bf16:
        WRITE(uint16_t, prt_f64_to_bf16(from[i]));
        break;
    case PRT_DTYPE_bool:
        WRITE(uint8_t, from[i] != 0.0);
        break;
    case PRT_DTYPE_i64:
        WRITE(int64_t, prt_f64_to_i64(from[i]));
        break;
    case PRT_DTYPE_i32:
        WRITE(int32_t, prt_f64_to_i64(from[i]));
        break;
    default:
        for (size_t i = 0; i < count; i++)
            prt_store_f64(dtype, data, first + i, from[i]);
    }
}

void prt_write_i64(int32_t dtype, void *data, size_t first, size_t count, const int64_t *from)
{
    switch (dtype) {
    case PRT_DTYPE_i64:
        WRITE(int64_t, from[i]);
        break;
    case PRT_DTYPE_u64:
        WRITE(uint64_t, from[i]);
        break;
    case PRT_DTYPE_i32:
        WRITE(int32_t, from[i]);
        break;
    case PRT_DTYPE_u32:
        WRITE(uint32_t, from[i]);
        break;
    case PRT_DTYPE_i16:
        WRITE(int16_t, from[i]);
        break;
    case PRT_DTYPE_u16:
        WRITE(uint16_t, from[i]);
        break;
    case PRT_DTYPE_i8:
        WRITE(int8_t, from[i]);
        break;
    case PRT_DTYPE_u8:
        WRITE(uint8_t, from[i]);
        break;
    case PRT_DTYPE_bool:
        WRITE(uint8_t, from[i] != 0);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            prt_store_i64(dtype, data, first + i, from[i]);
    }
}
