/* SPDX-License-Identifier: MIT */
/* integer_logic.inl — integer_logic.h for one level: loops that the compiler vectorises. */
#ifndef PRT_KERN_ROWS_INTEGER_LOGIC_INL
#define PRT_KERN_ROWS_INTEGER_LOGIC_INL

#include <string.h>

#include "kern/rows/integer_logic.h"
#include "kern/vector/simd.h"
#include "num/half.h"

/* Elements at a time. A scalar operand is copied as often, so that one loop serves all combinations
 * of steps. */
enum { LOGIC_BLOCK = 64 };

/* y[i] = expr of the elements `p` and `q`. */
#define LOOP(type, out, expr)                                                                      \
    do {                                                                                           \
        type one_a[LOGIC_BLOCK], one_b[LOGIC_BLOCK];                                               \
        if (step_a == 0)                                                                           \
            for (size_t i = 0; i < LOGIC_BLOCK; i++)                                               \
                one_a[i] = *(const type *)a;                                                       \
        if (step_b == 0)                                                                           \
            for (size_t i = 0; i < LOGIC_BLOCK; i++)                                               \
                one_b[i] = *(const type *)b;                                                       \
        for (size_t at = 0; at < n; at += LOGIC_BLOCK) {                                           \
            const type *x = step_a != 0 ? (const type *)a + at : one_a;                            \
            const type *z = step_b != 0 ? (const type *)b + at : one_b;                            \
            const size_t count = n - at < LOGIC_BLOCK ? n - at : LOGIC_BLOCK;                      \
            out *d = (out *)y + at;                                                                \
            PRT_NO_ALIAS_LOOP                                                                      \
            for (size_t i = 0; i < count; i++) {                                                   \
                const type p = x[i], q = z[i];                                                     \
                d[i] = (out)(expr);                                                                \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* One loop for all kinds instead of three. */
static void run_compare(int kind, int type, size_t n, const void *a, size_t step_a, const void *b,
    size_t step_b, uint8_t *y)
{
    const int less = kind != PRT_COMPARE_equal, equal = kind != PRT_COMPARE_less;
    if (type == PRT_KERN_TYPE_f32)
        LOOP(float, uint8_t, ((p < q) & less) | ((p == q) & equal));
    else if (type == PRT_KERN_TYPE_i32)
        LOOP(int32_t, uint8_t, ((p < q) & less) | ((p == q) & equal));
    else
        LOOP(int64_t, uint8_t, ((p < q) & less) | ((p == q) & equal));
}

/* Integers wrap. Add and Sub share a loop, and so do Max and Min. */
static void run_arithmetic(int kind, int type, size_t n, const void *a, size_t step_a,
    const void *b, size_t step_b, void *y)
{
    const int less = kind == PRT_INTEGER_sub, least = kind == PRT_INTEGER_min;
    if (type == PRT_KERN_TYPE_i32) {
        if (kind == PRT_INTEGER_mul)
            LOOP(uint32_t, uint32_t, p * q);
        else if (kind == PRT_INTEGER_add || kind == PRT_INTEGER_sub)
            LOOP(uint32_t, uint32_t, p + (q ^ (uint32_t)-less) + (uint32_t)less);
        else
            LOOP(int32_t, int32_t, (p > q) != least ? p : q);
    } else {
        if (kind == PRT_INTEGER_mul)
            LOOP(uint64_t, uint64_t, p * q);
        else if (kind == PRT_INTEGER_add || kind == PRT_INTEGER_sub)
            LOOP(uint64_t, uint64_t, p + (q ^ (uint64_t)-less) + (uint64_t)less);
        else
            LOOP(int64_t, int64_t, (p > q) != least ? p : q);
    }
}

static void run_logic(int kind, size_t n, const uint8_t *a, size_t step_a, const uint8_t *b,
    size_t step_b, uint8_t *y)
{
    if (kind == PRT_LOGIC_and)
        LOOP(uint8_t, uint8_t, (p != 0) & (q != 0));
    else if (kind == PRT_LOGIC_or)
        LOOP(uint8_t, uint8_t, (p | q) != 0);
    else
        LOOP(uint8_t, uint8_t, (p != 0) ^ (q != 0));
}

/* Elements of a given size, of any type. */
typedef uint8_t any_1 __attribute__((may_alias));
typedef uint16_t any_2 __attribute__((may_alias));
typedef uint32_t any_4 __attribute__((may_alias));
typedef uint64_t any_8 __attribute__((may_alias));

#define SELECT(type)                                                                               \
    static void choose_##type(size_t n, const uint8_t *which, size_t step_which, const void *a,    \
        size_t step_a, const void *b, size_t step_b, void *y)                                      \
    {                                                                                              \
        uint8_t one[LOGIC_BLOCK];                                                                  \
        if (step_which == 0)                                                                       \
            memset(one, which[0], LOGIC_BLOCK);                                                    \
        LOOP(type, type, (step_which != 0 ? which + at : one)[i] != 0 ? p : q);                    \
    }

SELECT(any_1)
SELECT(any_2)
SELECT(any_4)
SELECT(any_8)

static void run_select(size_t size, size_t n, const uint8_t *which, size_t step_which,
    const void *a, size_t step_a, const void *b, size_t step_b, void *y)
{
    switch (size) {
    case 1:
        choose_any_1(n, which, step_which, a, step_a, b, step_b, y);
        break;
    case 2:
        choose_any_2(n, which, step_which, a, step_a, b, step_b, y);
        break;
    case 4:
        choose_any_4(n, which, step_which, a, step_a, b, step_b, y);
        break;
    default:
        choose_any_8(n, which, step_which, a, step_a, b, step_b, y);
        break;
    }
}

/* Truncates toward 0; NaN gives 0; out of range gives the nearest int64. */
static inline int64_t truncate_to_i64(float x)
{
    const float inside = x > -0x1p63f ? x < 0x1p63f ? x : 0.0f : 0.0f;
    const int64_t whole = (int64_t)inside;
    return x >= 0x1p63f ? INT64_MAX : x <= -0x1p63f ? INT64_MIN : whole;
}

/* Defines a cast of element `x`. */
#define CAST(from, in, to, out, expr)                                                              \
    static void cast_##from##_##to(size_t n, const void *from_data, void *to_data)                 \
    {                                                                                              \
        const in *s = from_data;                                                                   \
        out *d = to_data;                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            const in x = s[i];                                                                     \
            d[i] = (out)(expr);                                                                    \
        }                                                                                          \
    }

CAST(f32, float, i32, int32_t, truncate_to_i64(x))
CAST(f32, float, i64, int64_t, truncate_to_i64(x))
CAST(f32, float, bool, uint8_t, x != 0.0f)
CAST(i32, int32_t, f32, float, x)
CAST(i32, int32_t, i64, int64_t, x)
CAST(i32, int32_t, bool, uint8_t, x != 0)
CAST(i64, int64_t, f32, float, x)
CAST(i64, int64_t, i32, int32_t, x)
CAST(i64, int64_t, bool, uint8_t, x != 0)
CAST(bool, uint8_t, f32, float, x != 0)
CAST(bool, uint8_t, i32, int32_t, x != 0)
CAST(bool, uint8_t, i64, int64_t, x != 0)

/* Compilers do not vectorise these. */
static void cast_f32_f16(size_t n, const void *from_data, void *to_data)
{
    const float *s = from_data;
    uint16_t *d = to_data;
    size_t i = 0;
#if defined(__AVX512F__)
    for (; i + VL <= n; i += VL)
        _mm256_storeu_si256((void *)(d + i),
            _mm512_cvtps_ph(v_load(s + i), _MM_FROUND_TO_NEAREST_INT));
#elif defined(__AVX2__) && defined(__F16C__)
    for (; i + VL <= n; i += VL)
        _mm_storeu_si128((void *)(d + i),
            _mm256_cvtps_ph(v_load(s + i), _MM_FROUND_TO_NEAREST_INT));
#endif
    for (; i < n; i++)
        d[i] = prt_f32_to_half(s[i]);
}

static void cast_f16_f32(size_t n, const void *from_data, void *to_data)
{
    const uint16_t *s = from_data;
    float *d = to_data;
    size_t i = 0;
#if defined(__AVX512F__)
    for (; i + VL <= n; i += VL)
        v_store(d + i, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(s + i))));
#elif defined(__AVX2__) && defined(__F16C__)
    for (; i + VL <= n; i += VL)
        v_store(d + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(s + i))));
#endif
    for (; i < n; i++)
        d[i] = prt_half_to_f32(s[i]);
}

/* Casts between float16 and integers go through float32, which holds all integers in the range of
 * float16. */
static void run_cast(int from, int to, size_t n, const void *x, void *y)
{
    static void (*const casts[PRT_KERN_TYPE_COUNT][PRT_KERN_TYPE_COUNT])(size_t, const void *,
        void *) = {
        { NULL, cast_f32_f16, cast_f32_i32, cast_f32_i64, cast_f32_bool },
        { cast_f16_f32, NULL, NULL, NULL, NULL },
        { cast_i32_f32, NULL, NULL, cast_i32_i64, cast_i32_bool },
        { cast_i64_f32, NULL, cast_i64_i32, NULL, cast_i64_bool },
        { cast_bool_f32, NULL, cast_bool_i32, cast_bool_i64, NULL },
    };
    static const size_t sizes[PRT_KERN_TYPE_COUNT] = { 4, 2, 4, 8, 1 };
    if (casts[from][to] != NULL) {
        casts[from][to](n, x, y);
        return;
    }
    for (size_t at = 0; at < n; at += LOGIC_BLOCK) {
        float between[LOGIC_BLOCK];
        const size_t some = n - at < LOGIC_BLOCK ? n - at : LOGIC_BLOCK;
        casts[from][PRT_KERN_TYPE_f32](some, (const char *)x + at * sizes[from], between);
        casts[PRT_KERN_TYPE_f32][to](some, between, (char *)y + at * sizes[to]);
    }
}

#endif
