/* SPDX-License-Identifier: MIT */
/* test_npy.c — .npy files: round trips of every type, other layouts, invalid files.
 * Covers: npy_read.c, npy_write.c. */
#include "data/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/dtype.h"
#include "support/check_main.h"

typedef struct bytes {
    unsigned char data[65536];
    size_t size;
} bytes;

static prt_arena *arena;

static void set_up(void)
{
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
}

static int32_t append(void *user, const void *data, size_t size)
{
    bytes *b = user;
    ck_assert_uint_le(b->size + size, sizeof(b->data));
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return 0;
}

/* Makes a version 1 file from a header dict and data. */
static void make_file(bytes *b, const char *header, const void *data, size_t size)
{
    const size_t n = strlen(header);
    b->size = 0;
    (void)append(b, "\x93NUMPY\x01\x00", 8);
    const unsigned char length[2] = { (unsigned char)n, (unsigned char)(n >> 8) };
    (void)append(b, length, 2);
    (void)append(b, header, n);
    (void)append(b, data, size);
}

static poprt_status read_bytes(const void *data, size_t size, int32_t want, prt_tensor *out)
{
    prt_blob *blob = NULL;
    ck_assert_int_eq(prt_blob_create(NULL, size, &blob), POPRT_OK);
    if (size != 0)
        memcpy(prt_blob_bytes(blob), data, size);
    const poprt_status status = prt_npy_read(arena, blob, want, out);
    /* Views point into the blob, so the test copies them. */
    if (status == POPRT_OK && out->size != 0) {
        out->data = prt_arena_copy(arena, out->data, out->size);
        ck_assert_ptr_nonnull(out->data);
    }
    prt_blob_release(blob);
    return status;
}

static poprt_status read_file(const bytes *b, int32_t want, prt_tensor *out)
{
    return read_bytes(b->data, b->size, want, out);
}

START_TEST(every_type_round_trips)
{
    static bytes b;
    const int64_t dims[] = { 3, 5 };
    set_up();
    for (int32_t dtype = 1; dtype < PRT_DTYPE_COUNT; dtype++) {
        prt_tensor t, found;
        if (dtype == PRT_DTYPE_string)
            continue;
        unsigned char data[15 * 16] = { 0 };
        ck_assert(prt_tensor_init(&t, dtype, 2, dims, data));
        for (size_t i = 0; i < t.size; i++)
            data[i] = (unsigned char)(dtype == PRT_DTYPE_bool ? i & 1 : 37 * i + 11);
        if (prt_dtype_bits(dtype) < 8 && 15 * prt_dtype_bits(dtype) % 8 != 0)
            data[t.size - 1] &= (unsigned char)((1u << 15 * prt_dtype_bits(dtype) % 8) - 1);
        b.size = 0;
        ck_assert_int_eq(prt_npy_write(arena, &t, append, &b), POPRT_OK);
        ck_assert_uint_eq((b.data[8] + 256u * b.data[9] + 10u) % 64, 0);
        ck_assert_int_eq(read_file(&b, dtype, &found), POPRT_OK);
        ck_assert_int_eq(found.dtype, dtype);
        ck_assert_uint_eq(found.rank, 2);
        ck_assert_int_eq(found.dims[1], 5);
        ck_assert_uint_eq(found.size, t.size);
        ck_assert_mem_eq(found.data, data, t.size);
    }
    prt_arena_release(arena);
}
END_TEST

START_TEST(strings_that_are_not_utf8_are_written_as_bytes)
{
    static const char *const odd[] = { "a\xc3", "\xff", "\xed\xa0\x80", "\xc0\x80",
        "\xf5\x80\x80\x80" };
    const int64_t dims[] = { 2 };
    set_up();
    for (size_t i = 0; i < PRT_COUNT_OF(odd); i++) {
        static bytes b;
        const poprt_string strings[] = { { "\xc3\xa4", 2 }, { odd[i], strlen(odd[i]) } };
        prt_tensor t, found;
        b.size = 0;
        ck_assert(prt_tensor_init(&t, PRT_DTYPE_string, 1, dims, (void *)(uintptr_t)strings));
        ck_assert_int_eq(prt_npy_write(arena, &t, append, &b), POPRT_OK);
        ck_assert_mem_eq(b.data + 10, "{'descr': '|S", 13);
        ck_assert_int_eq(read_file(&b, PRT_DTYPE_string, &found), POPRT_OK);
        const poprt_string *s = found.data;
        for (int k = 0; k < 2; k++) {
            ck_assert_uint_eq(s[k].size, strings[k].size);
            ck_assert_mem_eq(s[k].data, strings[k].data, s[k].size);
        }
    }
    prt_arena_release(arena);
}
END_TEST

START_TEST(strings_round_trip)
{
    static bytes b;
    /* The last string has letters of two, three and four bytes. */
    const poprt_string strings[] = { { "one", 3 }, { "", 0 },
        { "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9 } };
    const int64_t dims[] = { 3 };
    prt_tensor t, found;
    set_up();
    ck_assert(prt_tensor_init(&t, PRT_DTYPE_string, 1, dims, (void *)(uintptr_t)strings));
    ck_assert_int_eq(prt_npy_write(arena, &t, append, &b), POPRT_OK);
    ck_assert_int_eq(read_file(&b, PRT_DTYPE_string, &found), POPRT_OK);
    const poprt_string *s = found.data;
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(s[i].size, strings[i].size);
        ck_assert(s[i].size == 0 || memcmp(s[i].data, strings[i].data, s[i].size) == 0);
    }
    make_file(&b, "{'descr': '|S3', 'fortran_order': False, 'shape': (2,)}", "abcd\0\0", 6);
    ck_assert_int_eq(read_file(&b, PRT_DTYPE_string, &found), POPRT_OK);
    s = found.data;
    ck_assert_uint_eq(s[0].size, 3);
    ck_assert_uint_eq(s[1].size, 1);
    prt_arena_release(arena);
}
END_TEST

START_TEST(column_order_and_big_endian_are_read)
{
    static bytes b;
    static const unsigned char columns[] = { 0, 3, 1, 4, 2, 5 }, big[] = { 0, 1, 0, 2 };
    prt_tensor t;
    set_up();
    make_file(&b, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", columns, 6);
    ck_assert_int_eq(read_file(&b, 0, &t), POPRT_OK);
    for (size_t i = 0; i < 6; i++)
        ck_assert_uint_eq(((unsigned char *)t.data)[i], i);
    make_file(&b, "{'descr': '>u2', 'fortran_order': False, 'shape': (2,), }\n", big, 4);
    ck_assert_int_eq(read_file(&b, 0, &t), POPRT_OK);
    ck_assert_uint_eq(((uint16_t *)t.data)[1], 2);
    make_file(&b, "{'descr': 'bfloat16', 'fortran_order': False, 'shape': ()}", big, 2);
    ck_assert_int_eq(read_file(&b, 0, &t), POPRT_OK);
    ck_assert_int_eq(t.dtype, PRT_DTYPE_bf16);
    ck_assert_uint_eq(t.rank, 0);
    prt_arena_release(arena);
}
END_TEST

START_TEST(bad_files_are_refused)
{
    static const char *const headers[] = {
        "",
        "{",
        "{}",
        "()",
        "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
        "{'descr': '<f4', 'fortran_order': maybe, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f3', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<V8', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f99999999999', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}",
    };
    static bytes b;
    prt_tensor t;
    set_up();
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        make_file(&b, headers[i], "12345678", 8);
        ck_assert_msg(read_file(&b, 0, &t) != POPRT_OK, "accepted: %s", headers[i]);
    }
    ck_assert_int_ne(read_bytes("", 0, 0, &t), POPRT_OK);
    ck_assert_int_ne(read_bytes("\x93NUMPY\x01\x00\xff\xff..", 12, 0, &t), POPRT_OK);
    ck_assert_int_ne(read_bytes("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12, 0, &t), POPRT_OK);
    ck_assert_int_ne(read_bytes("\x93NUMPY\x09\x00\x00\x00..", 12, 0, &t), POPRT_OK);
    prt_arena_release(arena);
}
END_TEST

/* Any change of one byte and any truncation gives an error or a tensor, and nothing is read out
 * of bounds. */
START_TEST(mutants_do_no_harm)
{
    static bytes b;
    prt_tensor t;
    set_up();
    make_file(&b, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }\n", "12345678", 8);
    for (size_t n = 0; n <= b.size; n++)
        (void)read_bytes(b.data, n, PRT_DTYPE_bf16, &t);
    for (size_t i = 0; i < b.size; i++)
        for (uint32_t v = 0; v < 256; v++) {
            const unsigned char before = b.data[i];
            b.data[i] = (unsigned char)v;
            (void)read_bytes(b.data, b.size, PRT_DTYPE_i4, &t);
            b.data[i] = before;
        }
    prt_arena_release(arena);
}
END_TEST

PRT_TEST_MAIN("data/npy", every_type_round_trips, strings_round_trip,
    strings_that_are_not_utf8_are_written_as_bytes, column_order_and_big_endian_are_read,
    bad_files_are_refused, mutants_do_no_harm)
