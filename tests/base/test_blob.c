/* SPDX-License-Identifier: MIT */
/* test_blob.c — counted bytes and views into them. */
#include <string.h>

#include "base/blob.h"
#include "support/check_main.h"

static int dropped;

static void note_drop(void *user, const void *data, size_t size)
{
    ck_assert_ptr_eq(user, &dropped);
    ck_assert_ptr_nonnull(data);
    ck_assert_uint_eq(size, 5);
    dropped++;
}

START_TEST(owned_bytes_are_zeroed_and_writable)
{
    prt_blob *blob = NULL;
    ck_assert_int_eq(prt_blob_create(NULL, 1000, &blob), POPRT_OK);
    ck_assert_uint_eq(blob->size, 1000);
    ck_assert_uint_eq((uintptr_t)blob->data % 64, 0);
    for (size_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(blob->data[i], 0);
    memset(prt_blob_bytes(blob), 7, 1000);
    ck_assert_uint_eq(blob->data[999], 7);
    prt_blob_release(blob);
    prt_blob_release(NULL);
}
END_TEST

START_TEST(the_last_reference_calls_drop)
{
    prt_blob *blob = NULL, *view = NULL, *inner = NULL;
    ck_assert_int_eq(prt_blob_borrow(NULL, "hello", 5, note_drop, &dropped, &blob), POPRT_OK);
    ck_assert_int_eq(prt_blob_view(blob, 1, 4, &view), POPRT_OK);
    ck_assert_int_eq(prt_blob_view(view, 1, 2, &inner), POPRT_OK);
    ck_assert_int_eq(memcmp(inner->data, "ll", 2), 0);
    ck_assert_ptr_eq(prt_blob_retain(inner), inner);
    prt_blob_release(blob);
    prt_blob_release(view);
    prt_blob_release(inner);
    ck_assert_int_eq(dropped, 0);
    prt_blob_release(inner);
    ck_assert_int_eq(dropped, 1);
}
END_TEST

START_TEST(views_stay_inside)
{
    prt_blob *blob = NULL, *view = NULL;
    ck_assert_int_eq(prt_blob_create(NULL, 10, &blob), POPRT_OK);
    ck_assert_int_eq(prt_blob_view(blob, 11, 0, &view), POPRT_E_PARSE);
    ck_assert_int_eq(prt_blob_view(blob, 5, 6, &view), POPRT_E_PARSE);
    ck_assert_int_eq(prt_blob_view(blob, 5, SIZE_MAX - 2, &view), POPRT_E_PARSE);
    ck_assert_int_eq(prt_blob_view(blob, SIZE_MAX, 2, &view), POPRT_E_PARSE);
    ck_assert_ptr_null(view);
    ck_assert_int_eq(prt_blob_view(blob, 10, 0, &view), POPRT_OK);
    ck_assert_uint_eq(view->size, 0);
    prt_blob_release(view);
    prt_blob_release(blob);
    ck_assert_int_eq(prt_blob_create(NULL, SIZE_MAX - 8, &blob), POPRT_E_NOMEM);
}
END_TEST

PRT_TEST_MAIN("base/blob", owned_bytes_are_zeroed_and_writable, the_last_reference_calls_drop,
    views_stay_inside)
