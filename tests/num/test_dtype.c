/* SPDX-License-Identifier: MIT */
/* test_dtype.c — the element type table. */
#include <string.h>

#include "num/dtype.h"
#include "poprt/base.h"
#include "support/check_main.h"

START_TEST(table_agrees_with_the_public_values)
{
    ck_assert_int_eq(PRT_DTYPE_f32, POPRT_DTYPE_FLOAT32);
    ck_assert_int_eq(PRT_DTYPE_bool, POPRT_DTYPE_BOOL);
    ck_assert_int_eq(PRT_DTYPE_bf16, POPRT_DTYPE_BFLOAT16);
    ck_assert_int_eq(PRT_DTYPE_f8e8m0, POPRT_DTYPE_FLOAT8E8M0);
    ck_assert_int_eq(PRT_DTYPE_i2, POPRT_DTYPE_INT2);
    ck_assert_int_eq(PRT_DTYPE_f6e2m3, POPRT_DTYPE_FLOAT6E2M3);
    ck_assert_int_eq(PRT_DTYPE_f6e3m2, POPRT_DTYPE_FLOAT6E3M2);
    ck_assert_int_eq(PRT_DTYPE_COUNT, POPRT_DTYPE_FLOAT6E3M2 + 1);
    ck_assert_uint_eq(prt_dtype_bits(PRT_DTYPE_string), sizeof(poprt_string) * 8);
    ck_assert_uint_eq(prt_dtype_bits(PRT_DTYPE_u2), 2);
    ck_assert(prt_dtype_is_float(PRT_DTYPE_f4e2m1) && !prt_dtype_is_float(PRT_DTYPE_c64));
    ck_assert(prt_dtype_is_integer(PRT_DTYPE_u4) && !prt_dtype_is_integer(PRT_DTYPE_bool));
}
END_TEST

START_TEST(every_row_is_found_by_its_names)
{
    for (int32_t i = 1; i < PRT_DTYPE_COUNT; i++) {
        const prt_dtype_info *info = prt_dtype_of(i);
        ck_assert_uint_ne(info->bits, 0);
        ck_assert_uint_ne(info->kind, PRT_KIND_none);
        ck_assert_int_eq(prt_dtype_by_name(info->name), i);
        ck_assert_int_eq(prt_dtype_by_popef(info->popef), i);
    }
    ck_assert_int_eq(prt_dtype_by_popef("F143"), PRT_DTYPE_undefined);
    ck_assert_int_eq(prt_dtype_by_popef("F8143"), PRT_DTYPE_f8e4m3fnuz);
    ck_assert_int_eq(prt_dtype_by_name(""), PRT_DTYPE_undefined);
    ck_assert_int_eq(prt_dtype_by_name("?"), PRT_DTYPE_undefined);
}
END_TEST

START_TEST(unknown_types_have_the_row_of_no_type)
{
    static const int32_t bad[] = { 0, -1, PRT_DTYPE_COUNT, INT32_MAX, INT32_MIN };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        size_t size = 9;
        ck_assert_str_eq(prt_dtype_of(bad[i])->name, "?");
        ck_assert_uint_eq(prt_dtype_bits(bad[i]), 0);
        ck_assert_uint_eq(prt_dtype_of(bad[i])->kind, PRT_KIND_none);
        ck_assert(!prt_dtype_size(bad[i], 1, &size));
        ck_assert_uint_eq(size, 9);
    }
}
END_TEST

START_TEST(sizes_round_up_and_do_not_overflow)
{
    size_t size = 0;
    ck_assert(prt_dtype_size(PRT_DTYPE_u4, 3, &size) && size == 2);
    ck_assert(prt_dtype_size(PRT_DTYPE_i4, 4, &size) && size == 2);
    ck_assert(prt_dtype_size(PRT_DTYPE_i2, 5, &size) && size == 2);
    ck_assert(prt_dtype_size(PRT_DTYPE_f6e2m3, 3, &size) && size == 3);
    ck_assert(prt_dtype_size(PRT_DTYPE_f6e2m3, 4, &size) && size == 3);
    ck_assert(prt_dtype_size(PRT_DTYPE_f6e3m2, 9, &size) && size == 7);
    ck_assert(prt_dtype_size(PRT_DTYPE_i2, 0, &size) && size == 0);
    ck_assert(prt_dtype_size(PRT_DTYPE_f32, 5, &size) && size == 20);
    ck_assert(prt_dtype_size(PRT_DTYPE_c128, 2, &size) && size == 32);
    ck_assert(prt_dtype_size(PRT_DTYPE_u8, UINT64_MAX, &size) && size == SIZE_MAX);
    ck_assert(prt_dtype_size(PRT_DTYPE_u4, UINT64_MAX, &size) && size == UINT64_MAX / 2 + 1);
    ck_assert(!prt_dtype_size(PRT_DTYPE_f32, UINT64_MAX / 4 + 1, &size));
    ck_assert(!prt_dtype_size(PRT_DTYPE_u16, UINT64_MAX, &size));
}
END_TEST

PRT_TEST_MAIN("num/dtype", table_agrees_with_the_public_values, every_row_is_found_by_its_names,
    unknown_types_have_the_row_of_no_type, sizes_round_up_and_do_not_overflow)
