/* SPDX-License-Identifier: MIT */
/* test_onnx_write_marks.c — marks are written into a file, and every other byte stays. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "ir/extra.h"
#include "support/check_main.h"
#include "support/onnx_bytes.h"

static const char model[] = PRT_TEST_DATA "/encoder/model.onnx";

static prt_module *load(const char *path)
{
    prt_module *m = NULL;
    ck_assert_msg(prt_onnx_read_file(&prt_mem_libc, path, NULL, &m) == POPRT_OK, "%s",
        last_error());
    return m;
}

static void check_same_files(const char *a, const char *b)
{
    prt_blob *x = NULL, *y = NULL;
    ck_assert_int_eq(prt_file_map(&prt_mem_libc, a, &x), POPRT_OK);
    ck_assert_int_eq(prt_file_map(&prt_mem_libc, b, &y), POPRT_OK);
    ck_assert_uint_eq(x->size, y->size);
    ck_assert_int_eq(memcmp(x->data, y->data, x->size), 0);
    prt_blob_release(x);
    prt_blob_release(y);
}

static uint32_t set_marks(prt_module *m, int64_t number)
{
    uint32_t n = 0;
    prt_for_each_op (op, m->main) {
        ck_assert_int_eq(prt_op_set_mark_i64(op, "__ipu_number", number), POPRT_OK);
        ck_assert_int_eq(prt_op_set_mark_text(op, "__note", "a b"), POPRT_OK);
        n++;
    }
    return n;
}

static uint32_t count_marks(const prt_module *m, int64_t want)
{
    uint32_t n = 0;
    int64_t number;
    prt_for_each_op (op, m->main)
        n += prt_op_mark_i64(op, "__ipu_number", &number) && number == want;
    return n;
}

START_TEST(only_marks_change)
{
    char one[] = "/tmp/poprt-marks-XXXXXX", two[] = "/tmp/poprt-marks-XXXXXX";
    ck_assert_int_ge(mkstemp(one), 0);
    ck_assert_int_ge(mkstemp(two), 0);
    prt_module *m = load(model), *copy = NULL;
    ck_assert_int_eq(prt_onnx_write_marks(m, one), POPRT_OK);
    check_same_files(model, one);
    const uint32_t n = set_marks(m, 3);
    ck_assert_int_eq(prt_ir_clone(m, &copy), POPRT_OK);
    prt_module_release(m);
    ck_assert_int_eq(prt_onnx_write_marks(copy, one), POPRT_OK);
    prt_module_release(copy);
    m = load(one);
    ck_assert_uint_eq(count_marks(m, 3), n);
    /* Other marks of the same size take the place of these, and back again. */
    ck_assert_uint_eq(set_marks(m, 5), n);
    ck_assert_int_eq(prt_onnx_write_marks(m, two), POPRT_OK);
    prt_module_release(m);
    m = load(two);
    ck_assert_uint_eq(count_marks(m, 5), n);
    ck_assert_uint_eq(set_marks(m, 3), n);
    ck_assert_int_eq(prt_onnx_write_marks(m, two), POPRT_OK);
    check_same_files(one, two);
    prt_module_release(m);
    ck_assert_int_eq(unlink(one), 0);
    ck_assert_int_eq(unlink(two), 0);
}
END_TEST

START_TEST(models_without_a_file_are_refused)
{
    prt_module *m = NULL;
    ck_assert_int_eq(prt_module_create(&prt_mem_libc, 0, &m), POPRT_OK);
    ck_assert_int_eq(prt_onnx_write_marks(m, "/tmp/nowhere.onnx"), POPRT_E_UNSUPPORTED);
    prt_module_release(m);
}
END_TEST

PRT_TEST_MAIN("converter/onnx_write_marks", only_marks_change, models_without_a_file_are_refused)
