/* SPDX-License-Identifier: MIT */
/* tolerance.c — compares results with expected values. */
#include "support/tolerance.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const tolerance_class rows[] = {
    { "exact", 0, 0, 0, 0, 0 },    /* moves, comparisons, integers, or one rounded operation */
    { "round", 1, 8, 0, 0, 0 },    /* a function of libm, rounded once */
    { "sum", 1, 64, 1e-14, 0, 0 }, /* sums and products of many, in double, rounded once */
    { "chain", 2, 1024, 1e-12, 0,
        0 }, /* longer chains in double: recurrences, spectra, resampling */
    { "peer", 256, 4e9, 1e-5, 0, 0 }, /* expected values are ONNX Runtime's, in f32 all along */
    { "step", 0, 0, 0, 0, 1 },        /* quotients in f32 there, which may round either way */
    { "f32", 4, 4e9, 4e-7, 0, 0 },    /* intermediates that the operator defines as f32 */
    { "f16", 4, 4e12, 4e-3, 0, 0 },   /* the same with f16 */
    { "bf16", 4, 4e13, 3e-2, 0, 0 },  /* the same with bf16 */
};

bool prt_tolerance_find(prt_str name, tolerance_class *found)
{
    for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (prt_str_is(name, rows[i].name)) {
            *found = rows[i];
            return true;
        }
    char text[32] = "", *end = text;
    if (name.size < sizeof(text))
        memcpy(text, name.data, name.size);
    *found = (tolerance_class){ .name = "mixed", .mixed = strtod(text, &end) };
    return end != text && *end == '\0' && found->mixed > 0 && isfinite(found->mixed);
}

/* Bits of the fraction and exponent of the smallest normal number. */
static void format_of(int32_t dtype, int *fraction, int *least)
{
    static const struct {
        int32_t dtype;
        int fraction, least;
    } formats[] = {
        { PRT_DTYPE_f64, 52, -1022 },
        { PRT_DTYPE_c128, 52, -1022 },
        { PRT_DTYPE_f32, 23, -126 },
        { PRT_DTYPE_c64, 23, -126 },
        { PRT_DTYPE_f16, 10, -14 },
        { PRT_DTYPE_bf16, 7, -126 },
        { PRT_DTYPE_f8e4m3fn, 3, -6 },
        { PRT_DTYPE_f8e4m3fnuz, 3, -7 },
        { PRT_DTYPE_f8e5m2, 2, -14 },
        { PRT_DTYPE_f8e5m2fnuz, 2, -15 },
        { PRT_DTYPE_f4e2m1, 1, 0 },
        { PRT_DTYPE_f8e8m0, 0, -127 },
        { PRT_DTYPE_f6e2m3, 3, 0 },
        { PRT_DTYPE_f6e3m2, 2, -2 },
    };
    *fraction = 52;
    *least = -1022;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].dtype == dtype) {
            *fraction = formats[i].fraction;
            *least = formats[i].least;
        }
}

static double ulp(int32_t dtype, double value)
{
    int fraction, least, exponent;
    format_of(dtype, &fraction, &least);
    (void)frexp(value, &exponent);
    exponent = value == 0 || exponent - 1 < least ? least : exponent - 1;
    return ldexp(1.0, exponent - fraction);
}

static double part_of(const prt_tensor *t, size_t i)
{
    float f;
    double d;
    if (t->dtype == PRT_DTYPE_c64) {
        memcpy(&f, (const char *)t->data + i * sizeof(f), sizeof(f));
        return (double)f;
    }
    if (t->dtype == PRT_DTYPE_c128) {
        memcpy(&d, (const char *)t->data + i * sizeof(d), sizeof(d));
        return d;
    }
    return prt_load_f64(t->dtype, t->data, i);
}

static bool close_enough(const tolerance_class *row, int32_t dtype, double got, double want,
    double largest)
{
    if (isnan(got) || isnan(want))
        return isnan(got) && isnan(want);
    if (got == want)
        return row->ulps > 0 || row->mixed > 0 || signbit(got) == signbit(want);
    const bool wide = dtype == PRT_DTYPE_f64 || dtype == PRT_DTYPE_c128;
    double by = (wide ? row->ulps64 : row->ulps) * ulp(dtype, want);
    by += row->share * largest + row->mixed * (1 + fabs(want));
    return fabs(got - want) <= by;
}

static bool floats_equal(const tolerance_class *row, const prt_tensor *got, const prt_tensor *want,
    char *why, size_t size)
{
    const bool complex_kind = prt_dtype_of(got->dtype)->kind == PRT_KIND_complex;
    const size_t n = prt_tensor_count(got) * (complex_kind ? 2 : 1);
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(part_of(want, i)) && fabs(part_of(want, i)) > largest)
            largest = fabs(part_of(want, i));
    for (size_t i = 0; i < n; i++) {
        const double a = part_of(got, i), b = part_of(want, i);
        if (close_enough(row, got->dtype, a, b, largest))
            continue;
        (void)snprintf(why, size, "[%zu] is %.17g, not %.17g: %.3g ulp (%s)", i, a, b,
            fabs(a - b) / ulp(want->dtype, b), row->name);
        return false;
    }
    return true;
}

static bool words_equal(const tolerance_class *row, const prt_tensor *got, const prt_tensor *want,
    char *why, size_t size)
{
    for (size_t i = 0; i < prt_tensor_count(got); i++) {
        if (got->dtype == PRT_DTYPE_string) {
            const poprt_string *a = (const poprt_string *)got->data + i;
            const poprt_string *b = (const poprt_string *)want->data + i;
            if (a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0))
                continue;
            (void)snprintf(why, size, "[%zu] is '%.*s', not '%.*s'", i, (int)a->size,
                a->size != 0 ? a->data : "", (int)b->size, b->size != 0 ? b->data : "");
            return false;
        }
        const int64_t a = prt_load_i64(got->dtype, got->data, i);
        const int64_t b = prt_load_i64(want->dtype, want->data, i);
        if (a == b || (row->steps != 0 && a - b <= row->steps && b - a <= row->steps))
            continue;
        (void)snprintf(why, size, "[%zu] is %" PRId64 ", not %" PRId64, i, a, b);
        return false;
    }
    return true;
}

static bool tensors_equal(const tolerance_class *row, const prt_tensor *got, const prt_tensor *want,
    char *why, size_t size)
{
    const size_t bytes = got->rank * sizeof(int64_t);
    if (got->dtype != want->dtype || got->rank != want->rank ||
        (bytes != 0 && memcmp(got->dims, want->dims, bytes) != 0)) {
        char a[160] = "", b[160] = "";
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
        return floats_equal(row, got, want, why, size);
    return words_equal(row, got, want, why, size);
}

bool prt_tolerance_equal(const tolerance_class *by, const prt_tensor *got, const prt_tensor *want,
    char *why, size_t size)
{
    if (got->kind != want->kind) {
        (void)snprintf(why, size, "is a value of kind %d, not %d", got->kind, want->kind);
        return false;
    }
    if (got->kind == PRT_VALUE_TENSOR)
        return tensors_equal(by, got, want, why, size);
    if (got->count != want->count) {
        (void)snprintf(why, size, "has %zu items, not %zu", got->count, want->count);
        return false;
    }
    for (size_t i = 0; i < got->count; i++)
        if (!prt_tolerance_equal(by, &got->items[i], &want->items[i], why, size))
            return false;
    return true;
}
