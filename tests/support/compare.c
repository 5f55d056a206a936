/* SPDX-License-Identifier: MIT */
/* compare.c — compares run-time values with expected ones. */
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "onnx_case.h"

static bool close_enough(double got, double want, tolerance within)
{
    if (isnan(got) || isnan(want))
        return isnan(got) && isnan(want);
    if (got == want)
        return true;
    return fabs(got - want) <= within.atol + within.rtol * fabs(want);
}

static tolerance widen(int32_t dtype, tolerance within)
{
    const uint32_t bits = prt_dtype_bits(dtype);
    double r = within.rtol, a = within.atol;
    if (dtype == PRT_DTYPE_bf16)
        r = fmax(r, 1.6e-2), a = fmax(a, 1e-3);
    else if (bits == 16)
        r = fmax(r, 2e-3), a = fmax(a, 1e-3);
    else if (bits <= 8)
        r = a = 0;
    return (tolerance){ r, a };
}

static double real_of(int32_t dtype, const void *data, size_t i)
{
    float f;
    double d;
    if (dtype == PRT_DTYPE_c64) {
        memcpy(&f, (const char *)data + i * 4, 4);
        return (double)f;
    }
    if (dtype == PRT_DTYPE_c128) {
        memcpy(&d, (const char *)data + i * 8, 8);
        return d;
    }
    return prt_load_f64(dtype, data, i);
}

static bool floats_equal(const prt_tensor *got, const prt_tensor *want, tolerance within, char *why,
    size_t size)
{
    const size_t parts = prt_dtype_of(got->dtype)->kind == PRT_KIND_complex ? 2 : 1;
    const size_t n = prt_tensor_count(got) * parts;
    size_t bad = 0, first = 0;
    double worst = 0;
    within = widen(got->dtype, within);
    for (size_t i = 0; i < n; i++) {
        const double a = real_of(got->dtype, got->data, i), b = real_of(want->dtype, want->data, i);
        if (close_enough(a, b, within))
            continue;
        if (bad++ == 0)
            first = i;
        if (fabs(a - b) > worst)
            worst = fabs(a - b);
    }
    if (bad == 0)
        return true;
    (void)snprintf(why, size,
        "%zu of %zu elements differ, by %.3g at most; [%zu] is %.9g, not %.9g", bad, n, worst,
        first, real_of(got->dtype, got->data, first), real_of(want->dtype, want->data, first));
    return false;
}

static bool exact_equal(const prt_tensor *got, const prt_tensor *want, char *why, size_t size)
{
    const size_t n = prt_tensor_count(got);
    for (size_t i = 0; i < n; i++) {
        if (got->dtype == PRT_DTYPE_string) {
            const poprt_string *a = got->data, *b = want->data;
            if (a[i].size == b[i].size &&
                (a[i].size == 0 || memcmp(a[i].data, b[i].data, a[i].size) == 0))
                continue;
            (void)snprintf(why, size, "[%zu] is '%.*s', not '%.*s'", i, (int)a[i].size, a[i].data,
                (int)b[i].size, b[i].data);
            return false;
        }
        const int64_t a = prt_load_i64(got->dtype, got->data, i);
        const int64_t b = prt_load_i64(want->dtype, want->data, i);
        if (a != b) {
            (void)snprintf(why, size, "[%zu] is %lld, not %lld", i, (long long)a, (long long)b);
            return false;
        }
    }
    return true;
}

static bool tensors_equal(const prt_tensor *got, const prt_tensor *want, tolerance within,
    char *why, size_t size)
{
    char a[160] = "", b[160] = "";
    if (got->dtype != want->dtype || got->rank != want->rank ||
        (got->rank != 0 && memcmp(got->dims, want->dims, got->rank * sizeof(int64_t)) != 0)) {
        const prt_type ta = { PRT_VALUE_TENSOR, got->dtype, (int32_t)got->rank, got->dims, NULL };
        const prt_type tb = { PRT_VALUE_TENSOR, want->dtype, (int32_t)want->rank, want->dims,
            NULL };
        prt_type_print(NULL, &ta, a, sizeof(a));
        prt_type_print(NULL, &tb, b, sizeof(b));
        (void)snprintf(why, size, "is %s, not %s", a, b);
        return false;
    }
    const uint32_t kind = prt_dtype_of(got->dtype)->kind;
    if (kind == PRT_KIND_float || kind == PRT_KIND_complex)
        return floats_equal(got, want, within, why, size);
    return exact_equal(got, want, why, size);
}

bool values_equal(const prt_tensor *got, const prt_tensor *want, tolerance within, char *why,
    size_t size)
{
    if (got->kind != want->kind) {
        (void)snprintf(why, size, "is a value of kind %d, not %d", got->kind, want->kind);
        return false;
    }
    if (got->kind == PRT_VALUE_TENSOR)
        return tensors_equal(got, want, within, why, size);
    if (got->count != want->count) {
        (void)snprintf(why, size, "has %zu items, not %zu", got->count, want->count);
        return false;
    }
    for (size_t i = 0; i < got->count; i++)
        if (!values_equal(&got->items[i], &want->items[i], within, why, size))
            return false;
    return true;
}
