/* SPDX-License-Identifier: MIT */
/* test_type.c — interned types, their sizes, and their text. */
#include "tensor/type.h"

#include <string.h>

#include "support/check_main.h"
#include "tensor/tensor.h"

static prt_arena *arena; /* of the test that runs, which releases it */

static prt_types *pool(void)
{
    prt_types *types = NULL;
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    ck_assert_int_eq(prt_types_create(arena, &types), POPRT_OK);
    return types;
}

START_TEST(equal_types_are_equal_pointers_when_the_pool_grows)
{
    enum { COUNT = 1000 };
    prt_types *types = pool();
    const prt_type *first[COUNT];
    for (int64_t i = 0; i < COUNT; i++) {
        const int64_t dims[2] = { i, 3 };
        first[i] = prt_type_tensor(types, PRT_DTYPE_f32, 2, dims);
        ck_assert_ptr_nonnull(first[i]);
    }
    for (int64_t i = 0; i < COUNT; i++) {
        const int64_t dims[2] = { i, 3 };
        ck_assert_ptr_eq(prt_type_tensor(types, PRT_DTYPE_f32, 2, dims), first[i]);
        ck_assert_int_eq(first[i]->dims[0], i);
    }
    const int64_t dims[2] = { 0, 3 };
    ck_assert_ptr_ne(prt_type_tensor(types, PRT_DTYPE_f64, 2, dims), first[0]);
    ck_assert_ptr_ne(prt_type_tensor(types, PRT_DTYPE_f32, 1, dims), first[0]);
    ck_assert_ptr_eq(prt_type_unknown(types), prt_type_unknown(types));
    prt_arena_release(arena);
}
END_TEST

START_TEST(count_and_size_need_known_dims_that_do_not_overflow)
{
    prt_types *types = pool();
    uint64_t count = 7;
    size_t size = 7;
    const int64_t small[2] = { 2, 3 }, large[3] = { INT64_MAX, INT64_MAX, 2 };
    const int64_t empty[3] = { INT64_MAX, 0, INT64_MAX }, open[1] = { PRT_DIM_UNKNOWN };
    ck_assert(prt_type_count(prt_type_tensor(types, PRT_DTYPE_i4, 2, small), &count));
    ck_assert_uint_eq(count, 6);
    ck_assert(prt_type_size(prt_type_tensor(types, PRT_DTYPE_i4, 2, small), &size));
    ck_assert_uint_eq(size, 3);
    ck_assert(prt_type_count(prt_type_tensor(types, PRT_DTYPE_f32, 3, empty), &count));
    ck_assert_uint_eq(count, 0);
    ck_assert(!prt_type_count(prt_type_tensor(types, PRT_DTYPE_f32, 3, large), &count));
    ck_assert(prt_type_count(prt_type_tensor(types, PRT_DTYPE_f32, 1, large), &count));
    ck_assert(!prt_type_size(prt_type_tensor(types, PRT_DTYPE_f64, 1, large), &size));
    ck_assert(!prt_type_count(prt_type_tensor(types, PRT_DTYPE_f32, 1, open), &count));
    ck_assert(
        !prt_type_count(prt_type_tensor(types, PRT_DTYPE_f32, PRT_RANK_UNKNOWN, NULL), &count));
    ck_assert(!prt_type_count(prt_type_tensor(types, PRT_DTYPE_undefined, 0, NULL), &count));
    ck_assert(!prt_type_count(prt_type_unknown(types), &count));
    prt_tensor t;
    const int64_t dims[PRT_MAX_RANK + 1] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    ck_assert(prt_tensor_init(&t, PRT_DTYPE_f32, PRT_MAX_RANK, dims, &size));
    ck_assert_uint_eq(t.size, 4);
    ck_assert(!prt_tensor_init(&t, PRT_DTYPE_f32, PRT_MAX_RANK + 1, dims, &size));
    ck_assert(!prt_tensor_init(&t, PRT_DTYPE_f32, 3, large, &size));
    prt_arena_release(arena);
}
END_TEST

static void ck_text(const prt_type *type, const char *want)
{
    char text[64];
    prt_type_print(NULL, type, text, sizeof(text));
    ck_assert_str_eq(text, want);
    for (size_t size = 1; size <= strlen(want); size++) {
        memset(text, '#', sizeof(text));
        prt_type_print(NULL, type, text, size);
        ck_assert_uint_eq(strlen(text), size - 1);
        ck_assert(memcmp(text, want, size - 1) == 0);
    }
}

START_TEST(text_names_each_wrap_and_is_cut_at_its_size)
{
    prt_types *types = pool();
    const int64_t dims[2] = { 2, 3 };
    const prt_type *f32 = prt_type_tensor(types, PRT_DTYPE_f32, 2, dims);
    const prt_type *map = prt_type_wrap(types, PRT_VALUE_MAP, PRT_DTYPE_i64, f32);
    ck_text(f32, "f32[2,3]");
    ck_text(prt_type_tensor(types, PRT_DTYPE_u8, 0, NULL), "u8[]");
    ck_text(prt_type_tensor(types, PRT_DTYPE_u8, PRT_RANK_UNKNOWN, NULL), "u8[*]");
    ck_text(map, "map(i64,f32[2,3])");
    ck_text(prt_type_wrap(types, PRT_VALUE_SEQUENCE, PRT_DTYPE_undefined, map),
        "seq(map(i64,f32[2,3]))");
    ck_text(prt_type_wrap(types, PRT_VALUE_OPTIONAL, PRT_DTYPE_undefined, NULL), "optional(?)");
    ck_text(prt_type_unknown(types), "?");
    ck_text(NULL, "?");
    prt_arena_release(arena);
}
END_TEST

START_TEST(every_element_type_is_found_by_its_short_name)
{
    for (int32_t i = 1; i < PRT_DTYPE_COUNT; i++)
        ck_assert_int_eq(prt_dtype_by_id(prt_str_of(prt_dtype_id(i))), i);
    ck_assert_str_eq(prt_dtype_id(-1), "?");
    ck_assert_str_eq(prt_dtype_id(PRT_DTYPE_COUNT), "?");
    ck_assert_int_eq(prt_dtype_by_id(PRT_STR("f31")), PRT_DTYPE_undefined);
}
END_TEST

PRT_TEST_MAIN("tensor/type", equal_types_are_equal_pointers_when_the_pool_grows,
    count_and_size_need_known_dims_that_do_not_overflow,
    text_names_each_wrap_and_is_cut_at_its_size, every_element_type_is_found_by_its_short_name)
