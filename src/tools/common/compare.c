/* SPDX-License-Identifier: MIT */
/* compare.c — compares values with expected ones. */
#include "tools/common/compare.h"

#include <math.h>
#include <stdio.h>

#include "num/dtype.h"

/* Differences between two tensors. */
typedef struct difference {
    size_t count, first;
    double largest;         /* largest absolute error */
    double found, expected; /* elements with the largest error */
} difference;

static prt_tolerance for_dtype(prt_tolerance t, int32_t dtype)
{
    prt_tolerance least = { .rtol = 0 };
    if (dtype == PRT_DTYPE_f16)
        least = (prt_tolerance){ .rtol = 1e-2, .atol = 1e-3 };
    else if (dtype == PRT_DTYPE_bf16)
        least = (prt_tolerance){ .rtol = 4e-2, .atol = 1e-2 };
    else if (prt_dtype_bits(dtype) <= 8)
        least = (prt_tolerance){ .rtol = 0.13, .atol = 0.02 };
    return (prt_tolerance){ .rtol = fmax(t.rtol, least.rtol), .atol = fmax(t.atol, least.atol) };
}

static void compare_real(difference *d, prt_tolerance t, size_t i, double a, double b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return;
    const double error = fabs(a - b);
    const bool agrees = isfinite(a) && isfinite(b) && error <= t.atol + t.rtol * fabs(b);
    if (!agrees && d->count++ == 0)
        d->first = i;
    /* An error that is NaN counts as the largest. */
    if (!agrees && (d->count == 1 || !(error <= d->largest))) {
        d->largest = error;
        d->found = a;
        d->expected = b;
    }
}

static void compare_floats(difference *d, prt_tolerance t, const prt_tensor *a, const prt_tensor *b)
{
    const bool complex = prt_dtype_of(a->dtype)->kind == PRT_KIND_complex;
    const int32_t part = a->dtype == PRT_DTYPE_c64 ? PRT_DTYPE_f32 : PRT_DTYPE_f64;
    const int32_t dtype = complex ? part : a->dtype;
    const size_t count = prt_tensor_count(a) * (complex ? 2 : 1);
    prt_tolerance tolerance = { 0 };
    if (!t.by_share)
        tolerance = for_dtype(t, dtype);
    for (size_t i = 0; t.by_share && i < count; i++) {
        const double y = fabs(prt_load_f64(dtype, b->data, i));
        tolerance.atol = isfinite(y) ? fmax(tolerance.atol, t.share * y) : tolerance.atol;
    }
    for (size_t i = 0; i < count; i++)
        compare_real(d, tolerance, complex ? i / 2 : i, prt_load_f64(dtype, a->data, i),
            prt_load_f64(dtype, b->data, i));
}

static void compare_integers(difference *d, const prt_tensor *a, const prt_tensor *b)
{
    const size_t count = prt_tensor_count(a);
    const bool is_signed = prt_dtype_of(a->dtype)->kind == PRT_KIND_int;
    for (size_t i = 0; i < count; i++) {
        const int64_t x = prt_load_i64(a->dtype, a->data, i);
        const int64_t y = prt_load_i64(b->dtype, b->data, i);
        if (x == y)
            continue;
        if (d->count++ == 0)
            d->first = i;
        const double p = is_signed ? (double)x : (double)(uint64_t)x;
        const double q = is_signed ? (double)y : (double)(uint64_t)y;
        if (fabs(p - q) > d->largest || d->count == 1) {
            d->largest = fabs(p - q);
            d->found = p;
            d->expected = q;
        }
    }
}

static bool strings_differ(const prt_tensor *a, const prt_tensor *b, char *why, size_t size)
{
    const poprt_string *x = a->data, *y = b->data;
    const size_t count = prt_tensor_count(a);
    for (size_t i = 0; i < count; i++) {
        const size_t n = x[i].size;
        if (n == y[i].size && (n == 0 || memcmp(x[i].data, y[i].data, n) == 0))
            continue;
        (void)snprintf(why, size, "element %zu is '%.*s', expected '%.*s'", i,
            (int)(x[i].size < 60 ? x[i].size : 60), x[i].data,
            (int)(y[i].size < 60 ? y[i].size : 60), y[i].data);
        return true;
    }
    return false;
}

static bool shapes_differ(const prt_tensor *a, const prt_tensor *b, char *why, size_t size)
{
    bool same = a->rank == b->rank;
    for (uint32_t i = 0; same && i < a->rank; i++)
        same = a->dims[i] == b->dims[i];
    if (same)
        return false;
    size_t used = 0;
    const prt_tensor *both[2] = { a, b };
    for (int k = 0; k < 2; k++) {
        used += (size_t)snprintf(why + used, size - used, "%s[",
            k == 0 ? "the shape is " : ", expected ");
        for (uint32_t i = 0; i < both[k]->rank && used < size; i++)
            used += (size_t)snprintf(why + used, size - used, "%s%lld", i > 0 ? ", " : "",
                (long long)both[k]->dims[i]);
        if (used < size)
            used += (size_t)snprintf(why + used, size - used, "]");
        if (used >= size)
            break;
    }
    return true;
}

static bool tensors_differ(const prt_tensor *a, const prt_tensor *b, prt_tolerance t, char *why,
    size_t size)
{
    if (a->dtype != b->dtype) {
        (void)snprintf(why, size, "the type is %s, expected %s", prt_dtype_of(a->dtype)->name,
            prt_dtype_of(b->dtype)->name);
        return true;
    }
    if (shapes_differ(a, b, why, size))
        return true;
    const prt_dtype_info *info = prt_dtype_of(a->dtype);
    if (info->kind == PRT_KIND_string)
        return strings_differ(a, b, why, size);
    difference d = { 0 };
    if (info->kind == PRT_KIND_float || info->kind == PRT_KIND_complex)
        compare_floats(&d, t, a, b);
    else
        compare_integers(&d, a, b);
    if (d.count == 0)
        return false;
    (void)snprintf(why, size,
        "%zu of %zu elements differ, first at %zu; largest error %.6g (%.9g, expected %.9g)",
        d.count, prt_tensor_count(a), d.first, d.largest, d.found, d.expected);
    return true;
}

/* Returns element i of a list as a tensor of one element. */
static prt_tensor element_of(int32_t dtype, void *data, size_t i)
{
    prt_tensor one = { .kind = PRT_VALUE_ABSENT };
    (void)prt_tensor_init(&one, dtype, 0, NULL, (char *)data + i * (prt_dtype_bits(dtype) / 8));
    return one;
}

/* Returns the index in `a` of the key at index `i` of `b`, which is usually the same; a->count if
 * `a` does not have it. */
static size_t find_key(const prt_tensor *a, const prt_tensor *b, size_t i)
{
    char why[256];
    const prt_tolerance exact = { .rtol = 0 };
    const prt_tensor key = element_of(b->dtype, b->data, i);
    for (size_t k = 0; k < a->count; k++) {
        const size_t at = (i + k) % a->count;
        const prt_tensor other = element_of(a->dtype, a->data, at);
        if (!tensors_differ(&other, &key, exact, why, sizeof(why)))
            return at;
    }
    return a->count;
}

static bool maps_differ(const prt_tensor *a, const prt_tensor *b, prt_tolerance t, char *why,
    size_t size)
{
    if (a->dtype != b->dtype || a->items->dtype != b->items->dtype || a->count != b->count) {
        (void)snprintf(why, size, "is a map of %zu from %s to %s, expected %zu from %s to %s",
            a->count, prt_dtype_of(a->dtype)->name, prt_dtype_of(a->items->dtype)->name, b->count,
            prt_dtype_of(b->dtype)->name, prt_dtype_of(b->items->dtype)->name);
        return true;
    }
    for (size_t i = 0; i < b->count; i++) {
        char inner[256];
        const size_t at = find_key(a, b, i);
        if (at == a->count) {
            (void)snprintf(why, size, "expected key %zu is missing", i);
            return true;
        }
        const prt_tensor x = element_of(a->items->dtype, a->items->data, at);
        const prt_tensor y = element_of(b->items->dtype, b->items->data, i);
        if (!tensors_differ(&x, &y, t, inner, sizeof(inner)))
            continue;
        (void)snprintf(why, size, "value of expected key %zu: %s", i, inner);
        return true;
    }
    return false;
}

/* Compares items of the same kind, tensors or maps. */
static bool items_differ(const prt_tensor *a, const prt_tensor *b, prt_tolerance t, char *why,
    size_t size)
{
    return a->kind == PRT_VALUE_MAP && b->kind == PRT_VALUE_MAP
        ? maps_differ(a, b, t, why, size)
        : tensors_differ(a, b, t, why, size);
}

static const char *kind_name(int32_t kind)
{
    static const char *const names[] = { "nothing", "a tensor", "a sequence", "an optional",
        "a map", "unknown" };
    return kind >= 0 && kind <= PRT_VALUE_UNKNOWN ? names[kind] : "?";
}

/* Returns the content of an optional: nothing, a tensor or a sequence. A tensor in an optional and
 * a sequence of one tensor in an optional cannot be told apart here. */
static prt_tensor optional_content(const prt_tensor *t)
{
    if (t->kind != PRT_VALUE_OPTIONAL)
        return *t;
    if (t->count == 0 || t->items == NULL)
        return (prt_tensor){ .kind = PRT_VALUE_ABSENT };
    prt_tensor inner = *t;
    if (t->items[0].kind == PRT_VALUE_SEQUENCE)
        inner = t->items[0];
    inner.kind = PRT_VALUE_SEQUENCE;
    return inner;
}

bool prt_compare_differs(const prt_tensor *found, const prt_tensor *expected, prt_tolerance t,
    char *why, size_t size)
{
    const prt_tensor a = optional_content(found), b = optional_content(expected);
    if (a.kind != b.kind) {
        (void)snprintf(why, size, "is %s, expected %s", kind_name(a.kind), kind_name(b.kind));
        return true;
    }
    if (a.kind == PRT_VALUE_TENSOR || a.kind == PRT_VALUE_MAP)
        return items_differ(&a, &b, t, why, size);
    if (a.kind == PRT_VALUE_ABSENT)
        return false;
    if (a.count != b.count) {
        (void)snprintf(why, size, "has %zu items, expected %zu", a.count, b.count);
        return true;
    }
    for (size_t i = 0; i < a.count; i++) {
        char inner[256];
        if (!items_differ(&a.items[i], &b.items[i], t, inner, sizeof(inner)))
            continue;
        (void)snprintf(why, size, "item %zu: %s", i, inner);
        return true;
    }
    return false;
}
