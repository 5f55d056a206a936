/* SPDX-License-Identifier: MIT */
/* order.c — comparison of elements of any type; bottom-up merge sort, without recursion. */
#include "op/share/order.h"

#include <string.h>

#include "op/share/elements.h"
#include "poprt/base.h"

enum { KEYS = 256 }; /* elements converted at a time */

/* Maps a double to an integer with the same order: negative numbers have all bits inverted, the
 * others the sign bit. */
static uint64_t key_of_f64(double v)
{
    const uint64_t sign = UINT64_C(1) << 63;
    const double zero = v + 0.0; /* -0.0 becomes +0.0 */
    uint64_t bits;
    memcpy(&bits, &zero, sizeof(bits));
    bits ^= (0 - (bits >> 63)) | sign;
    return v != v ? UINT64_MAX : bits;
}

uint64_t prt_order_key(int32_t dtype, const void *data, size_t index)
{
    switch (prt_dtype_of(dtype)->kind) {
    case PRT_KIND_int:
        return (uint64_t)prt_load_i64(dtype, data, index) ^ UINT64_C(1) << 63;
    case PRT_KIND_uint:
    case PRT_KIND_bool:
        return prt_load_u64(dtype, data, index);
    default:
        return key_of_f64(prt_load_f64(dtype, data, index));
    }
}

void prt_order_keys(int32_t dtype, const void *data, size_t first, size_t step, size_t count,
    uint64_t *to)
{
    const uint8_t kind = prt_dtype_of(dtype)->kind;
    double x[KEYS];
    if (kind == PRT_KIND_int || kind == PRT_KIND_uint || kind == PRT_KIND_bool) {
        const uint64_t sign = kind == PRT_KIND_int ? UINT64_C(1) << 63 : 0;
        prt_read_i64(dtype, data, first, step, count, (int64_t *)to);
        for (size_t i = 0; i < count; i++)
            to[i] ^= sign;
        return;
    }
    for (size_t at = 0, some; at < count; at += some) {
        some = count - at < KEYS ? count - at : KEYS;
        prt_read_f64(dtype, data, first + at * step, step, some, x);
        for (size_t i = 0; i < some; i++)
            to[at + i] = key_of_f64(x[i]);
    }
}

static int compare_keys(int32_t dtype, const void *data, size_t a, size_t b)
{
    const uint64_t x = prt_order_key(dtype, data, a), y = prt_order_key(dtype, data, b);
    return (x > y) - (x < y);
}

static int compare_strings(const poprt_string *a, const poprt_string *b)
{
    const size_t n = a->size < b->size ? a->size : b->size;
    const int order = n != 0 ? memcmp(a->data, b->data, n) : 0;
    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

int prt_order_compare(int32_t dtype, const void *data, size_t a, size_t b)
{
    if (dtype == PRT_DTYPE_string) {
        const poprt_string *s = data;
        return compare_strings(&s[a], &s[b]);
    }
    if (dtype == PRT_DTYPE_c64 || dtype == PRT_DTYPE_c128) {
        const int32_t part = dtype == PRT_DTYPE_c64 ? PRT_DTYPE_f32 : PRT_DTYPE_f64;
        const int order = compare_keys(part, data, 2 * a, 2 * b);
        return order != 0 ? order : compare_keys(part, data, 2 * a + 1, 2 * b + 1);
    }
    return compare_keys(dtype, data, a, b);
}

void prt_order_sort(int64_t *index, int64_t *scratch, size_t count,
    int (*compare)(const void *user, int64_t a, int64_t b), const void *user)
{
    int64_t *from = index, *to = scratch;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t first = 0; first < count; first += 2 * width) {
            const size_t middle = first + width < count ? first + width : count;
            const size_t end = middle + width < count ? middle + width : count;
            size_t a = first, b = middle;
            for (size_t k = first; k < end; k++) {
                const bool left = b == end || (a < middle && compare(user, from[a], from[b]) <= 0);
                to[k] = left ? from[a++] : from[b++];
            }
        }
        int64_t *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != index && count != 0)
        memcpy(index, from, count * sizeof(int64_t));
}
