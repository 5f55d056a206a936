/* SPDX-License-Identifier: MIT */
/* test_flexbuffer.c — maps and vectors of FlexBuffers, valid and broken. */
#include "tflite/flexbuffer.h"

#include "support/check_main.h"

/* {"a": -3, "b": 0.5 (indirect), "on": true, "s": "text", "u": 200} */
static const unsigned char map[] = {
    'a', 0, 'b', 0, 'o', 'n', 0, 's', 0, 'u', 0, /* 0: the keys */
    0, 0, 0, 0x3f,                               /* 11: 0.5 */
    4, 't', 'e', 'x', 't', 0,                    /* 15: the size of the text, and the text */
    5, 22, 21, 20, 18, 17,                       /* 21: the count and offsets of the keys */
    5, 1, 5,                                     /* 27: distance to the keys, width, count */
    0xfd, 20, 1, 17, 200,                        /* 30: the items */
    1 << 2, 8 << 2 | 2, 26 << 2, 5 << 2, 2 << 2, /* 35: their types */
    10, 9 << 2, 1                                /* 40: the root */
};

START_TEST(items_of_a_map_are_found)
{
    prt_flex f;
    prt_flex_value v;
    ck_assert_int_eq(prt_flex_open(map, sizeof(map), &f), POPRT_OK);
    ck_assert_uint_eq(f.count, 5);
    ck_assert_int_eq(prt_flex_find(&f, "a", &v), POPRT_OK);
    ck_assert_int_eq(v.kind, PRT_FLEX_int);
    ck_assert_int_eq(v.i, -3);
    ck_assert_double_eq(v.f, -3);
    ck_assert_int_eq(prt_flex_find(&f, "b", &v), POPRT_OK);
    ck_assert_int_eq(v.kind, PRT_FLEX_float);
    ck_assert_double_eq(v.f, 0.5);
    ck_assert_int_eq(prt_flex_find(&f, "on", &v), POPRT_OK);
    ck_assert_int_eq(v.kind, PRT_FLEX_bool);
    ck_assert_int_eq(v.i, 1);
    ck_assert_int_eq(prt_flex_find(&f, "s", &v), POPRT_OK);
    ck_assert_int_eq(v.kind, PRT_FLEX_text);
    ck_assert(prt_str_is(v.s, "text"));
    ck_assert_int_eq(prt_flex_find(&f, "u", &v), POPRT_OK);
    ck_assert_int_eq(v.i, 200);
    ck_assert_int_eq(prt_flex_find(&f, "o", &v), POPRT_OK);
    ck_assert_int_eq(v.kind, PRT_FLEX_absent);
}
END_TEST

START_TEST(a_vector_has_items_without_keys)
{
    static const unsigned char vector[] = { 2, 'h', 'i', 0, 2, 4, 7, 5 << 2, 1 << 2, 4, 10 << 2,
        1 };
    prt_flex f;
    prt_flex_value v;
    ck_assert_int_eq(prt_flex_open(vector, sizeof(vector), &f), POPRT_OK);
    ck_assert_uint_eq(f.count, 2);
    ck_assert_int_eq(prt_flex_item(&f, 0, &v), POPRT_OK);
    ck_assert(prt_str_is(v.s, "hi"));
    ck_assert_int_eq(prt_flex_item(&f, 1, &v), POPRT_OK);
    ck_assert_int_eq(v.i, 7);
    ck_assert_int_eq(prt_flex_find(&f, "hi", &v), POPRT_OK);
    ck_assert_int_eq(v.kind, PRT_FLEX_absent);
}
END_TEST

/* Reads all items and looks for two keys. */
static void read_all(const unsigned char *data, size_t size)
{
    prt_flex f;
    prt_flex_value v;
    if (prt_flex_open(data, size, &f) != POPRT_OK)
        return;
    for (size_t i = 0; i < f.count; i++)
        (void)prt_flex_item(&f, i, &v);
    (void)prt_flex_find(&f, "s", &v);
    (void)prt_flex_find(&f, "absent", &v);
}

START_TEST(reads_of_damaged_buffers_stay_inside)
{
    prt_flex f;
    unsigned char *copy = malloc(sizeof(map));
    for (size_t at = 0; at < sizeof(map); at++)
        for (uint32_t value = 0; value < 256; value++) {
            memcpy(copy, map, sizeof(map));
            copy[at] = (unsigned char)value;
            read_all(copy, sizeof(map));
        }
    free(copy);
    for (size_t size = 0; size < sizeof(map); size++) {
        copy = malloc(size + 1);
        memcpy(copy, map + sizeof(map) - size, size); /* the end, so that the root stays */
        read_all(copy, size);
        if (size < sizeof(map) - 21) /* the keys are cut off */
            ck_assert_int_eq(prt_flex_open(copy, size, &f), POPRT_E_PARSE);
        free(copy);
    }
}
END_TEST

START_TEST(scalar_roots_are_refused)
{
    static const unsigned char scalar[] = { 7, 1 << 2, 1 };
    prt_flex f;
    ck_assert_int_eq(prt_flex_open(scalar, sizeof(scalar), &f), POPRT_E_PARSE);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "neither a map nor a vector"));
}
END_TEST

PRT_TEST_MAIN("tflite/flexbuffer", items_of_a_map_are_found, a_vector_has_items_without_keys,
    reads_of_damaged_buffers_stay_inside, scalar_roots_are_refused)
