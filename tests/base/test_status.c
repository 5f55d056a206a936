/* SPDX-License-Identifier: MIT */
/* test_status.c — the error record of a thread. */
#include <pthread.h>
#include <string.h>

#include "base/status.h"
#include "support/check_main.h"

START_TEST(a_failure_sets_the_record)
{
    ck_assert_int_eq(prt_error_last()->status, POPRT_OK);
    ck_assert_str_eq(prt_error_last()->message, "");
    ck_assert_int_eq(prt_fail(POPRT_E_SHAPE, "conv_3", "rank %d", 9), POPRT_E_SHAPE);
    const poprt_error *e = prt_error_last();
    ck_assert_uint_eq(e->struct_size, sizeof(poprt_error));
    ck_assert_int_eq(e->status, POPRT_E_SHAPE);
    ck_assert_str_eq(e->subject, "conv_3");
    ck_assert_str_eq(e->message, "rank 9");
    ck_assert_str_eq(e->stage, "");
    ck_assert_str_eq(e->file, "");
}
END_TEST

START_TEST(stage_and_file_are_added_once)
{
    (void)prt_fail(POPRT_E_IO, NULL, "gone");
    ck_assert_int_eq(prt_fail_at_stage(POPRT_E_IO, "read"), POPRT_E_IO);
    ck_assert_int_eq(prt_fail_at_stage(POPRT_E_IO, "compile"), POPRT_E_IO);
    ck_assert_int_eq(prt_fail_in_file(POPRT_E_IO, "a.onnx"), POPRT_E_IO);
    ck_assert_int_eq(prt_fail_in_file(POPRT_E_IO, "b.onnx"), POPRT_E_IO);
    ck_assert_int_eq(prt_fail_about(POPRT_E_IO, "w"), POPRT_E_IO);
    ck_assert_int_eq(prt_fail_about(POPRT_E_IO, "v"), POPRT_E_IO);
    ck_assert_str_eq(prt_error_last()->subject, "w");
    ck_assert_str_eq(prt_error_last()->stage, "read");
    ck_assert_str_eq(prt_error_last()->file, "a.onnx");
    ck_assert_int_eq(prt_fail_at_stage(POPRT_OK, "run"), POPRT_OK);
    (void)prt_fail_nomem(77);
    ck_assert_str_eq(prt_error_last()->stage, "");
    ck_assert_str_eq(prt_error_last()->message, "no memory for 77 bytes");
}
END_TEST

START_TEST(long_and_unprintable_texts_are_sanitized)
{
    char big[5000];
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    (void)prt_fail(POPRT_E_PARSE, big, "%s", big);
    ck_assert_uint_eq(strlen(prt_error_last()->subject), 255);
    ck_assert_uint_eq(strlen(prt_error_last()->message), 2047);
    (void)prt_fail(POPRT_E_PARSE, "a\x1b[31m", "%s", "x\ry");
    ck_assert_str_eq(prt_error_last()->subject, "a?[31m");
    ck_assert_str_eq(prt_error_last()->message, "x?y");
    /* A name cannot start a new line of a log; the parts of a report are separate lines. */
    (void)prt_fail(POPRT_E_PARSE, "a\nb", "node '%s'", "c\nERROR d");
    ck_assert_str_eq(prt_error_last()->subject, "a b");
    ck_assert_str_eq(prt_error_last()->message, "node 'c ERROR d'");
    (void)prt_fail_lines(POPRT_E_PARSE, "a\nb", "%s", "c\nd");
    ck_assert_str_eq(prt_error_last()->subject, "a b");
    ck_assert_str_eq(prt_error_last()->message, "c\nd");
    /* The record may be an argument of the next failure. */
    (void)prt_fail(POPRT_E_PARSE, "s", "in");
    (void)prt_fail(POPRT_E_PARSE, prt_error_last()->subject, "out: %s", prt_error_last()->message);
    ck_assert_str_eq(prt_error_last()->subject, "s");
    ck_assert_str_eq(prt_error_last()->message, "out: in");
}
END_TEST

START_TEST(saved_records_are_restored)
{
    prt_error_copy copy;
    (void)prt_fail(POPRT_E_TYPE, "a", "first");
    prt_error_save(&copy);
    (void)prt_fail(POPRT_E_IO, "b", "second");
    prt_error_restore(&copy);
    ck_assert_int_eq(prt_error_last()->status, POPRT_E_TYPE);
    ck_assert_str_eq(prt_error_last()->message, "first");
}
END_TEST

static void *fail_elsewhere(void *arg)
{
    (void)arg;
    (void)prt_fail(POPRT_E_DEVICE, "other", "other");
    return NULL;
}

START_TEST(each_thread_has_its_own_record)
{
    (void)prt_fail(POPRT_E_TYPE, "mine", "mine");
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_str_eq(prt_error_last()->subject, "mine");
}
END_TEST

START_TEST(codes_have_names)
{
    ck_assert_str_eq(prt_status_name(POPRT_OK), "POPRT_OK");
    ck_assert_str_eq(prt_status_name(POPRT_E_SHAPE), "POPRT_E_SHAPE");
    ck_assert_str_eq(prt_status_name(POPRT_E_INTERNAL), "POPRT_E_INTERNAL");
    ck_assert_str_eq(prt_status_name(16), "POPRT_E_?");
    ck_assert_str_eq(prt_status_name(-1), "POPRT_E_?");
}
END_TEST

PRT_TEST_MAIN("base/status", a_failure_sets_the_record, stage_and_file_are_added_once,
    long_and_unprintable_texts_are_sanitized, saved_records_are_restored,
    each_thread_has_its_own_record, codes_have_names)
