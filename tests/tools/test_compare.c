/* SPDX-License-Identifier: MIT */
/* test_compare.c — how `poprt test` compares a result with the expected value, and the sentences
 * that describe a difference. */
#include <math.h>

#include "support/check_main.h"
#include "tools/common/compare.h"

static const prt_tolerance tolerance = { .rtol = 1e-3, .atol = 1e-5 };

static prt_tensor vector(int32_t dtype, int64_t n, const void *data)
{
    prt_tensor t;
    ck_assert(prt_tensor_init(&t, dtype, 1, &n, (void *)(uintptr_t)data));
    return t;
}

static prt_tensor list(int32_t kind, size_t n, prt_tensor *items)
{
    return (prt_tensor){ .kind = kind, .dtype = items->dtype, .count = n, .items = items };
}

/* Passes if the values agree (`says` NULL), or if the description contains `says`. */
static void ck_compare(const prt_tensor *a, const prt_tensor *b, const char *says)
{
    char why[256] = "";
    ck_assert_int_eq(prt_compare_differs(a, b, tolerance, why, sizeof(why)), says != NULL);
    ck_assert_msg(says == NULL || strstr(why, says) != NULL, "'%s' is not in '%s'", says, why);
}

START_TEST(floats_agree_within_the_tolerance)
{
    const float x[3] = { 1, NAN, INFINITY }, y[3] = { 1.0009f, NAN, INFINITY };
    const float far[3] = { 1.1f, NAN, -INFINITY };
    const prt_tensor a = vector(PRT_DTYPE_f32, 3, x), b = vector(PRT_DTYPE_f32, 3, y);
    const prt_tensor c = vector(PRT_DTYPE_f32, 3, far);
    ck_compare(&a, &b, NULL);
    ck_compare(&a, &c, "2 of 3 elements differ, first at 0; largest error inf");
}
END_TEST

START_TEST(parts_of_complex_numbers_are_compared)
{
    const float x[4] = { 1, 2, 3, 4 }, y[4] = { 1, 2, 3, 5 };
    const prt_tensor a = vector(PRT_DTYPE_c64, 2, x), b = vector(PRT_DTYPE_c64, 2, y);
    ck_compare(&a, &a, NULL);
    ck_compare(&a, &b, "differ");
}
END_TEST

START_TEST(integers_must_be_equal)
{
    const int64_t x[3] = { 1, -2, 3 }, y[3] = { 1, -4, 10 };
    const uint8_t u[2] = { 200, 1 }, v[2] = { 100, 1 };
    prt_tensor a = vector(PRT_DTYPE_i64, 3, x), b = vector(PRT_DTYPE_i64, 3, y);
    ck_compare(&a, &a, NULL);
    ck_compare(&a, &b, "2 of 3 elements differ, first at 1; largest error 7 (3, expected 10)");
    a = vector(PRT_DTYPE_u8, 2, u);
    b = vector(PRT_DTYPE_u8, 2, v);
    ck_compare(&a, &b, "1 of 2 elements differ, first at 0; largest error 100 (200, expected 100)");
}
END_TEST

START_TEST(a_share_of_the_largest_element_bounds_all_types)
{
    const float x[2] = { 100, 1 }, y[2] = { 100, 1.5f };
    const prt_tensor a = vector(PRT_DTYPE_f32, 2, x), b = vector(PRT_DTYPE_f32, 2, y);
    char why[256];
    prt_tolerance t = { .by_share = true, .share = 0.01 };
    ck_assert(!prt_compare_differs(&a, &b, t, why, sizeof(why)));
    t.share = 0.001;
    ck_assert(prt_compare_differs(&a, &b, t, why, sizeof(why)));
}
END_TEST

START_TEST(strings_types_and_shapes_must_be_equal)
{
    const poprt_string x[2] = { { "a", 1 }, { "", 0 } }, y[2] = { { "a", 1 }, { "b", 1 } };
    const float f[4] = { 1, 2, 3, 4 };
    prt_tensor a = vector(PRT_DTYPE_string, 2, x), b = vector(PRT_DTYPE_string, 2, y);
    ck_compare(&a, &a, NULL);
    ck_compare(&a, &b, "element 1 is '', expected 'b'");
    a = vector(PRT_DTYPE_f32, 2, f);
    b = vector(PRT_DTYPE_i32, 2, f);
    ck_compare(&a, &b, "the type is float32, expected int32");
    ck_assert(
        prt_tensor_init(&b, PRT_DTYPE_f32, 2, (const int64_t[]){ 2, 2 }, (void *)(uintptr_t)f));
    ck_compare(&a, &b, "the shape is [2], expected [2, 2]");
}
END_TEST

START_TEST(sequences_and_optionals_are_compared_item_by_item)
{
    const float f[2] = { 1, 2 };
    prt_tensor x[2] = { vector(PRT_DTYPE_f32, 2, f), vector(PRT_DTYPE_f32, 1, f) };
    prt_tensor y[2] = { vector(PRT_DTYPE_f32, 2, f), vector(PRT_DTYPE_f32, 1, f + 1) };
    const prt_tensor a = list(PRT_VALUE_SEQUENCE, 2, x), b = list(PRT_VALUE_SEQUENCE, 2, y);
    prt_tensor one = list(PRT_VALUE_SEQUENCE, 1, x), some = list(PRT_VALUE_OPTIONAL, 1, x);
    const prt_tensor none = { .kind = PRT_VALUE_OPTIONAL };
    ck_compare(&a, &a, NULL);
    ck_compare(&a, &b, "item 1: 1 of 1 elements differ");
    ck_compare(&one, &a, "has 1 items, expected 2");
    ck_compare(&some, &one, NULL);
    ck_compare(&none, &none, NULL);
    ck_compare(&none, &some, "is nothing, expected a sequence");
    ck_compare(&x[0], &a, "is a tensor, expected a sequence");
    some = list(PRT_VALUE_OPTIONAL, 1, &one);
    ck_compare(&some, &one, NULL);
}
END_TEST

START_TEST(maps_are_compared_in_any_order)
{
    int64_t k[3][2] = { { 1, 2 }, { 2, 1 }, { 1, 3 } };
    const float v[2][2] = { { 0.5f, 0.25f }, { 0.25f, 0.5f } };
    prt_tensor values[2] = { vector(PRT_DTYPE_f32, 2, v[0]), vector(PRT_DTYPE_f32, 2, v[1]) };
    prt_tensor maps[4];
    for (int i = 0; i < 4; i++)
        maps[i] = (prt_tensor){ .kind = PRT_VALUE_MAP,
            .dtype = PRT_DTYPE_i64,
            .data = k[i < 3 ? i : 0],
            .count = 2,
            .items = &values[i == 1 || i == 3] };
    ck_compare(&maps[0], &maps[0], NULL);
    ck_compare(&maps[0], &maps[1], NULL);
    ck_compare(&maps[0], &maps[2], "expected key 1 is missing");
    ck_compare(&maps[0], &maps[3], "value of expected key 0: 1 of 1 elements differ");
    maps[2].count = 1;
    ck_compare(&maps[0], &maps[2],
        "is a map of 2 from int64 to float32, expected 1 from int64 to float32");
}
END_TEST

PRT_TEST_MAIN("tools/compare", floats_agree_within_the_tolerance,
    parts_of_complex_numbers_are_compared, integers_must_be_equal,
    a_share_of_the_largest_element_bounds_all_types, strings_types_and_shapes_must_be_equal,
    sequences_and_optionals_are_compared_item_by_item, maps_are_compared_in_any_order)
