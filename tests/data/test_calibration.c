/* SPDX-License-Identifier: MIT */
/* test_calibration.c — calibration samples from folders, archives and pickles.
 * Covers: archive.c, pickle.c, pickle_numpy.c, npy_read.c. */
#include "data/calibration.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "num/dtype.h"
#include "support/check_main.h"

#define FOLDER PRT_TEST_DATA "/calibration/"

static prt_samples *open_samples(const char *name)
{
    char path[512];
    prt_samples *s = NULL;
    (void)snprintf(path, sizeof(path), FOLDER "%s", name);
    if (prt_samples_open(&prt_mem_libc, path, 0, &s) != POPRT_OK)
        ck_abort_msg("%s: %s", prt_error_last()->subject, prt_error_last()->message);
    return s;
}

static void check_array(const prt_samples *s, const char *name, int32_t dtype, uint32_t rank,
    const int64_t *dims, const double *values)
{
    const prt_sample_array *a = prt_samples_find(s, prt_str_of(name));
    ck_assert_msg(a != NULL, "no array %s", name);
    ck_assert_int_eq(a->tensor.dtype, dtype);
    ck_assert_uint_eq(a->tensor.rank, rank);
    for (uint32_t i = 0; i < rank; i++)
        ck_assert_int_eq(a->tensor.dims[i], dims[i]);
    for (size_t i = 0; i < prt_tensor_count(&a->tensor); i++)
        ck_assert_double_eq(prt_load_f64(dtype, a->tensor.data, i), values[i]);
}

static void check_all(const char *name)
{
    static const double tokens[] = { 1, -2, 3, 400, -5, 60000 }, mask[] = { 1, 0, 1 },
                        big[] = { 1.5, -2.25, 1e300 }, bytes[] = { 0, 127, 255 };
    const int64_t images[] = { 3, 2, 4 }, pairs[] = { 3, 2 };
    double image[24];
    prt_samples *s = open_samples(name);
    for (int i = 0; i < 24; i++)
        image[i] = (i - 5) / 4.0;
    ck_assert_uint_eq(prt_samples_count(s), 3);
    ck_assert_ptr_nonnull(prt_samples_at(s, 4));
    ck_assert_ptr_null(prt_samples_at(s, 5));
    check_array(s, "image", PRT_DTYPE_f32, 3, images, image);
    check_array(s, "tokens", PRT_DTYPE_i64, 2, pairs, tokens);
    check_array(s, "mask", PRT_DTYPE_bool, 1, images, mask);
    check_array(s, "big", PRT_DTYPE_f64, 1, images, big);
    check_array(s, "bytes", PRT_DTYPE_u8, 1, images, bytes);
    ck_assert_ptr_null(prt_samples_find(s, PRT_STR("none")));
    prt_samples_release(s);
}

START_TEST(every_source_gives_the_same_arrays)
{
    static const char *const names[] = { "folder", "stored.npz", "deflated.npz", "protocol2.pickle",
        "protocol3.pickle", "protocol4.pickle", "protocol5.pickle", "numpy1.pickle" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_all(names[i]);
}
END_TEST

START_TEST(lists_are_stacked_into_one_array)
{
    const int64_t images[] = { 3, 2, 4 };
    const double numbers[] = { 0, 0.5, 1 };
    double image[24];
    prt_samples *s = open_samples("lists.pickle");
    for (int i = 0; i < 24; i++)
        image[i] = (i - 5) / 4.0;
    check_array(s, "x", PRT_DTYPE_f32, 3, images, image);
    check_array(s, "n", PRT_DTYPE_f32, 1, images, numbers);
    prt_samples_release(s);
}
END_TEST

START_TEST(one_array_is_named_after_its_file)
{
    prt_samples *s = open_samples("folder/bytes.npy");
    ck_assert_str_eq(prt_samples_at(s, 0)->name.data, "bytes");
    prt_samples_release(s);
}
END_TEST

static void check_refused(const char *name, poprt_status status, const char *part)
{
    char path[512];
    prt_samples *s = NULL;
    (void)snprintf(path, sizeof(path), FOLDER "%s", name);
    ck_assert_int_eq(prt_samples_open(&prt_mem_libc, path, 0, &s), status);
    ck_assert_ptr_null(s);
    ck_assert_msg(strstr(prt_error_last()->message, part) != NULL, "%s: %s", name,
        prt_error_last()->message);
}

START_TEST(entries_without_arrays_are_refused_by_name)
{
    check_refused("call.pickle", POPRT_E_UNSUPPORTED, "posix.system");
    check_refused("call4.pickle", POPRT_E_UNSUPPORTED, "posix.system");
    check_refused("objects.pickle", POPRT_E_UNSUPPORTED, "Python objects");
    check_refused("numbers.pickle", POPRT_E_PARSE, "not an array");
    check_refused("uneven.pickle", POPRT_E_SHAPE, "'b' has 3 samples, 'a' has 2");
    check_refused("list.pickle", POPRT_E_PARSE, "not a dict");
    check_refused("text.pickle", POPRT_E_PARSE, "protocol 2 to 5");
    check_refused("none.npz", POPRT_E_NOT_FOUND, "");
}
END_TEST

static poprt_status read_text(const void *bytes, size_t size, size_t limit)
{
    prt_blob *blob = NULL;
    prt_samples *s = NULL;
    ck_assert_int_eq(prt_blob_borrow(&prt_mem_libc, bytes, size, NULL, NULL, &blob), POPRT_OK);
    const poprt_status status = prt_samples_read(&prt_mem_libc, blob, "test", limit, &s);
    prt_samples_release(s);
    prt_blob_release(blob);
    return status;
}

static void check_text(const char *text, size_t size, poprt_status status, const char *part)
{
    ck_assert_int_eq(read_text(text, size, 0), status);
    ck_assert_msg(strstr(prt_error_last()->message, part) != NULL, "%s: %s", part,
        prt_error_last()->message);
}
#define CHECK_TEXT(text, status, part) check_text(text, sizeof(text) - 1, status, part)

START_TEST(bad_pickles_are_errors)
{
    CHECK_TEXT("\x80\x02", POPRT_E_PARSE, "too early");
    CHECK_TEXT("\x80\x06.", POPRT_E_VERSION, "protocol 6");
    CHECK_TEXT("\x80\x02i", POPRT_E_UNSUPPORTED, "opcode 0x69 at byte 2");
    CHECK_TEXT("\x80\x05\x97.", POPRT_E_UNSUPPORTED, "opcode 0x97");
    CHECK_TEXT("\x80\x02.", POPRT_E_PARSE, "not a dict");
    CHECK_TEXT("\x80\x02}.", POPRT_E_NOT_FOUND, "empty");
    CHECK_TEXT("\x80\x02u.", POPRT_E_PARSE, "no mark");
    CHECK_TEXT("\x80\x02(u.", POPRT_E_PARSE, "no container");
    CHECK_TEXT("\x80\x02}(Nu.", POPRT_E_PARSE, "without a value");
    CHECK_TEXT("\x80\x02\x86.", POPRT_E_PARSE, "too short for a tuple");
    CHECK_TEXT("\x80\x02h\x05.", POPRT_E_PARSE, "has no value at that index");
    CHECK_TEXT("\x80\x02}r\xff\xff\xff\xff.", POPRT_E_PARSE, "a memo index is too large");
    CHECK_TEXT("\x80\x02X\xff\xff\xff\x7f.", POPRT_E_PARSE, "too early");
    CHECK_TEXT("\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xff.", POPRT_E_PARSE, "frame");
    CHECK_TEXT("\x80\x02\x8b\x09\0\0\0123456789.", POPRT_E_LIMIT, "64 bits");
    CHECK_TEXT("\x80\x02NNR.", POPRT_E_PARSE, "not a known global");
    CHECK_TEXT("\x80\x02N)b.", POPRT_E_PARSE, "without state");
    CHECK_TEXT("\x80\x02"
               "cbuiltins\neval\n.",
        POPRT_E_UNSUPPORTED, "builtins.eval");
    CHECK_TEXT("\x80\x02"
               "cnumpy\nndarray\n)R.",
        POPRT_E_PARSE, "ndarray is called");
    CHECK_TEXT("\x80\x02}NNs.", POPRT_E_PARSE, "not a string");
}
END_TEST

/* A list of references to one array of 4 MiB: stacked, a file of 4 MiB would become 160 MB. */
START_TEST(small_files_do_not_expand_without_limit)
{
    enum { BIG = 4 << 20, MORE = 64, COPIES = 40 };
    static char text[BIG + 512];
    char *at = text;
    const char *const head = "\x80\x04}\x8c\x01x]cnumpy.core.numeric\n_frombuffer\n(B";
    memcpy(at, head, strlen(head));
    at += strlen(head);
    const uint32_t size = BIG;
    memcpy(at, &size, 4);
    at += 4 + BIG;
    const char *const tail = "cnumpy\ndtype\n\x8c\x02u1\x85RJ";
    memcpy(at, tail, strlen(tail));
    at += strlen(tail);
    memcpy(at, &size, 4);
    at += 4;
    const char *const end = "\x85\x8c\x01"
                            "CtRq\x01"
                            "a";
    memcpy(at, end,
        sizeof("\x85\x8c\x01"
               "CtRq\x01"
               "a") -
            1);
    at += sizeof("\x85\x8c\x01"
                 "CtRq\x01"
                 "a") -
        1;
    for (int i = 0; i < COPIES; i++) {
        memcpy(at,
            "h\x01"
            "a",
            3);
        at += 3;
    }
    memcpy(at, "s.", 2);
    at += 2;
    check_text(text, (size_t)(at - text), POPRT_E_LIMIT, "more than the limit");
}
END_TEST

/* An archive with one changed byte is refused or gives the same samples; no byte beyond its end
 * is read. */
START_TEST(damaged_archives_are_refused_or_unchanged)
{
    prt_blob *file = NULL;
    static char copy[8192];
    ck_assert_int_eq(prt_file_map(&prt_mem_libc, FOLDER "deflated.npz", &file), POPRT_OK);
    const size_t size = file->size;
    ck_assert_uint_lt(size, sizeof(copy));
    ck_assert_int_eq(read_text(file->data, size, 64), POPRT_E_NOMEM);
    size_t read = 0;
    for (size_t n = 4; n < size; n++)
        read += read_text(file->data, n, 0) == POPRT_OK;
    ck_assert_uint_eq(read, 0);
    for (size_t i = 4; i < size; i++) {
        memcpy(copy, file->data, size);
        copy[i] = (char)(copy[i] ^ 0x41);
        (void)read_text(copy, size, 1 << 20);
    }
    memcpy(copy, file->data, size);
    copy[80] = (char)(copy[80] ^ 1);
    ck_assert_int_eq(read_text(copy, size, 0), POPRT_E_PARSE);
    prt_blob_release(file);
    CHECK_TEXT("PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", POPRT_E_PARSE, "empty");
    CHECK_TEXT("PK\x03\x04", POPRT_E_PARSE, "too short");
    CHECK_TEXT("nothing", POPRT_E_PARSE, "not an .npz archive");
}
END_TEST

/* ---- archives with the fields of zip64 */

static size_t read_number(const char *at, unsigned size)
{
    size_t value = 0;
    for (unsigned i = size; i-- > 0;)
        value = value << 8 | (unsigned char)at[i];
    return value;
}

static void put_number(char **at, size_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        *(*at)++ = (char)(value >> (8 * i));
}

/* Copies an entry of the directory, whose sizes and place go to an extra field of zip64. */
static const char *put_large_entry(char **to, const char *from)
{
    enum { ENTRY = 46, LARGE = 28 };
    const size_t name = read_number(from + 28, 2), extra = read_number(from + 30, 2);
    const size_t note = read_number(from + 32, 2);
    char *sizes = *to + 20, *lengths = *to + 30, *place = *to + 42;
    memcpy(*to, from, ENTRY + name);
    put_number(&sizes, UINT64_MAX, 8);
    put_number(&lengths, extra + LARGE, 2);
    put_number(&place, UINT64_MAX, 4);
    *to += ENTRY + name;
    memcpy(*to, from + ENTRY + name, extra);
    *to += extra;
    put_number(to, 1, 2);
    put_number(to, LARGE - 4, 2);
    put_number(to, read_number(from + 24, 4), 8);
    put_number(to, read_number(from + 20, 4), 8);
    put_number(to, read_number(from + 42, 4), 8);
    memcpy(*to, from + ENTRY + name + extra, note);
    *to += note;
    return from + ENTRY + name + extra + note;
}

/* Makes a zip64 archive of an archive without a comment, and returns its size. */
static size_t make_large(const char *from, size_t size, char *to)
{
    const char *end = from + size - 22, *at = from + read_number(end + 16, 4);
    const size_t start = (size_t)(at - from), count = read_number(end + 10, 2);
    char *out = to + start;
    memcpy(to, from, start);
    for (size_t i = 0; i < count; i++)
        at = put_large_entry(&out, at);
    const size_t record = (size_t)(out - to);
    memset(out, 0, 56 + 20 + 22);
    memcpy(out, "PK\x06\x06", 4);
    out += 32;
    put_number(&out, count, 8);
    put_number(&out, record - start, 8);
    put_number(&out, start, 8);
    memcpy(out, "PK\x06\x07", 4);
    out += 8;
    put_number(&out, record, 8);
    out += 4;
    memcpy(out, "PK\x05\x06", 4);
    out += 8;
    put_number(&out, UINT64_MAX, 4);
    put_number(&out, UINT64_MAX, 8);
    return (size_t)(out + 2 - to);
}

/* Refused when a byte at `at` is changed. */
static void check_changed(char *bytes, size_t size, size_t at, const char *part)
{
    bytes[at] = (char)(bytes[at] ^ 1);
    ck_assert_int_eq(read_text(bytes, size, 0), POPRT_E_PARSE);
    ck_assert_msg(strstr(prt_error_last()->message, part) != NULL, "%s", prt_error_last()->message);
    bytes[at] = (char)(bytes[at] ^ 1);
}

START_TEST(archives_with_64_bit_fields_are_read)
{
    static const char *const names[] = { "stored.npz", "deflated.npz" };
    static char large[16384];
    for (size_t i = 0; i < 2; i++) {
        char path[512];
        prt_blob *file = NULL;
        (void)snprintf(path, sizeof(path), FOLDER "%s", names[i]);
        ck_assert_int_eq(prt_file_map(&prt_mem_libc, path, &file), POPRT_OK);
        ck_assert_uint_lt(file->size, sizeof(large) / 2);
        const size_t size = make_large((const char *)file->data, file->size, large);
        ck_assert_int_eq(read_text(large, size, 0), POPRT_OK);
        /* the locator, the record it points to, and the length of the last extra field */
        check_changed(large, size, size - 22 - 20, "the zip64 record is missing");
        check_changed(large, size, size - 22 - 12, "the zip64 record is not at its stated offset");
        check_changed(large, size, size - 22 - 20 - 56 - 26, "");
        prt_blob_release(file);
    }
}
END_TEST

PRT_TEST_MAIN("data/calibration", every_source_gives_the_same_arrays,
    lists_are_stacked_into_one_array, one_array_is_named_after_its_file,
    entries_without_arrays_are_refused_by_name, bad_pickles_are_errors,
    small_files_do_not_expand_without_limit, damaged_archives_are_refused_or_unchanged,
    archives_with_64_bit_fields_are_read)
