/* SPDX-License-Identifier: MIT */
/* Checkpoints of TensorFlow, and of a small writer (bundle.c, bundle_read.c). */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "base/crc.h"
#include "support/bundle_bytes.h"
#include "support/check_main.h"
#include "tensorflow/bundle.h"
#include "tensorflow/wire.h"

enum { TF_FLOAT = 1, TF_INT32 = 3, TF_STRING = 7, TF_INT64 = 9, TF_BOOL = 10, TF_INT4 = 29 };

static char folder[64];
static prt_arena *arena;

static void write_file(const char *name, const msg *m)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(m->data, 1, m->size, file), m->size);
    ck_assert_int_eq(fclose(file), 0);
}

static void remove_file(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    ck_assert_int_eq(remove(path), 0);
}

/* A new arena, and a folder with an index of the items and one shard. */
static prt_bundle *open_items(const table_item *items, size_t count, const msg *shard)
{
    prt_bundle *b = NULL;
    (void)snprintf(folder, sizeof(folder), "/tmp/poprt-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(prt_arena_create(&prt_mem_libc, 0, &arena), POPRT_OK);
    write_file("p.index", table_bytes(items, count, 100, false));
    write_file("p.data-00000-of-00001", shard);
    if (prt_bundle_open(arena, folder, NULL, "p", &b) != POPRT_OK)
        return NULL;
    return b;
}

static void close_items(prt_bundle *b)
{
    prt_bundle_close(b);
    prt_arena_release(arena);
    remove_file("p.index");
    remove_file("p.data-00000-of-00001");
    ck_assert_int_eq(rmdir(folder), 0);
}

static poprt_status read_key(prt_bundle *b, const char *key, bool check, prt_blob **out)
{
    prt_bundle_tensor t;
    const poprt_status status = prt_bundle_find(b, prt_str_of(key), &t);
    return status == POPRT_OK ? prt_bundle_read(b, &t, NULL, check, out) : status;
}

/* Returns the status of reading a key; the contents are dropped. */
static poprt_status status_of(prt_bundle *b, const char *key, bool check)
{
    prt_blob *blob = NULL;
    const poprt_status status = read_key(b, key, check, &blob);
    if (status == POPRT_OK)
        prt_blob_release(blob);
    return status;
}

static uint32_t crc_of(const void *bytes, size_t size)
{
    return prt_masked_crc(prt_crc32c(0, bytes, size));
}

START_TEST(a_checkpoint_of_tensorflow_is_read)
{
    prt_bundle *b = NULL;
    prt_bundle_tensor t;
    prt_blob *blob;
    prt_bytes objects;
    ck_assert_int_eq(prt_arena_create(&prt_mem_libc, 0, &arena), POPRT_OK);
    ck_assert_int_eq(prt_bundle_open(arena, PRT_TEST_DATA "/tensorflow/variables", NULL,
                         "variables/variables", &b),
        POPRT_OK);
    size_t tensors = 0;
    for (size_t i = 0; i < b->index.count; i++) {
        if (b->index.entries[i].key.size == 0)
            continue;
        ck_assert_int_eq(prt_bundle_describe(b, &b->index.entries[i], &t), POPRT_OK);
        ck_assert_int_eq(prt_bundle_read(b, &t, NULL, true, &blob), POPRT_OK);
        ck_assert_uint_eq(blob->size,
            t.count * (t.dtype == PRT_DTYPE_string ? 16 : prt_dtype_bits(t.dtype) / 8));
        prt_blob_release(blob);
        tensors++;
    }
    ck_assert_uint_gt(tensors, 5);
    ck_assert_int_eq(prt_bundle_object_graph(b, &objects), POPRT_OK);
    ck_assert_uint_gt(objects.size, 100);
    prt_bundle_close(b);
    prt_arena_release(arena);
}
END_TEST

/* The names of slices that TensorFlow wrote are found, and their tensor has no hole. */
START_TEST(a_partitioned_variable_of_tensorflow_is_read)
{
    prt_bundle *b = NULL;
    prt_bundle_tensor t;
    prt_blob *blob;
    ck_assert_int_eq(prt_arena_create(&prt_mem_libc, 0, &arena), POPRT_OK);
    ck_assert_int_eq(prt_bundle_open(arena, PRT_TEST_DATA "/tensorflow/checkpoint", NULL, "model",
                         &b),
        POPRT_OK);
    ck_assert_int_eq(prt_bundle_find(b, PRT_STR("net/w"), &t), POPRT_OK);
    ck_assert_uint_eq(t.slices, 3);
    ck_assert_int_eq(t.dims[0], 6);
    ck_assert_int_eq(t.dims[1], 8);
    ck_assert_int_eq(prt_bundle_read(b, &t, NULL, true, &blob), POPRT_OK);
    ck_assert_uint_eq(blob->size, 192);
    prt_blob_release(blob);
    prt_bundle_close(b);
    prt_arena_release(arena);
}
END_TEST

START_TEST(numbers_are_views_and_small_misaligned_ones_copies)
{
    enum { LARGE = 20000 };
    const float numbers[] = { 1, 2, 3 };
    const int64_t small[] = { 3 }, empty[] = { 0 };
    msg *shard = msg_raw(msg_raw(msg_new(), numbers, 12), "x", 1);
    (void)msg_raw(shard, numbers, 12);
    unsigned char *zeros = calloc(LARGE, 1);
    (void)msg_raw(shard, zeros, LARGE);
    const table_item items[] = { { PRT_STR(""), bundle_header(1, 0) },
        { PRT_STR("a"), bundle_entry(TF_FLOAT, 1, small, 0, 12, crc_of(numbers, 12)) },
        { PRT_STR("b"), bundle_entry(TF_FLOAT, 1, small, 13, 12, crc_of(numbers, 12)) },
        { PRT_STR("c"), bundle_entry(TF_BOOL, 0, NULL, 12, 1, crc_of("x", 1)) },
        { PRT_STR("d"),
            bundle_entry(TF_FLOAT, 1, (const int64_t[]){ LARGE / 4 }, 25, LARGE,
                crc_of(zeros, LARGE)) },
        { PRT_STR("e"), bundle_entry(TF_FLOAT, 1, empty, 25, 0, crc_of(zeros, 0)) } };
    prt_bundle *b = open_items(items, 6, shard);
    prt_blob *blob;
    ck_assert_ptr_nonnull(b);
    ck_assert_int_eq(read_key(b, "a", true, &blob), POPRT_OK);
    ck_assert_ptr_eq(blob->data, b->shards[0]->data);
    prt_blob_release(blob);
    ck_assert_int_eq(read_key(b, "b", true, &blob), POPRT_OK);
    ck_assert_uint_eq((uintptr_t)blob->data % 4, 0);
    ck_assert_mem_eq(blob->data, numbers, 12);
    prt_blob_release(blob);
    ck_assert_int_eq(read_key(b, "c", true, &blob), POPRT_OK);
    ck_assert_uint_eq(blob->size, 1);
    prt_blob_release(blob);
    ck_assert_int_eq(read_key(b, "d", true, &blob), POPRT_OK);
    ck_assert_ptr_eq(blob->data, b->shards[0]->data + 25);
    prt_blob_release(blob);
    ck_assert_int_eq(read_key(b, "e", true, &blob), POPRT_OK);
    ck_assert_uint_eq(blob->size, 0);
    prt_blob_release(blob);
    close_items(b);
    free(zeros);
}
END_TEST

START_TEST(strings_are_decoded)
{
    const char *const texts[] = { "first", "", "a third string" };
    const int64_t dims[] = { 3 }, four[] = { 4 };
    uint32_t crc;
    const msg *shard = bundle_strings(texts, 3, &crc);
    const int64_t size = (int64_t)shard->size;
    const table_item items[] = { { PRT_STR(""), bundle_header(1, 0) },
        { PRT_STR("few"), bundle_entry(TF_STRING, 1, four, 0, size, crc) },
        { PRT_STR("s"), bundle_entry(TF_STRING, 1, dims, 0, size, crc) },
        { PRT_STR("short"), bundle_entry(TF_STRING, 1, dims, 0, size - 1, crc) },
        { PRT_STR("wrong"), bundle_entry(TF_STRING, 1, dims, 0, size, crc ^ 1) } };
    prt_bundle *b = open_items(items, 5, shard);
    prt_blob *blob;
    ck_assert_int_eq(read_key(b, "s", true, &blob), POPRT_OK);
    const poprt_string *got = (const poprt_string *)(const void *)blob->data;
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(got[i].size, strlen(texts[i]));
        ck_assert_mem_eq(got[i].data, texts[i], got[i].size);
    }
    prt_blob_release(blob);
    ck_assert_int_eq(status_of(b, "wrong", false), POPRT_OK);
    ck_assert_int_eq(status_of(b, "wrong", true), POPRT_E_PARSE);
    ck_assert_int_eq(status_of(b, "short", false), POPRT_E_PARSE);
    ck_assert_int_eq(status_of(b, "few", false), POPRT_E_PARSE);
    close_items(b);
}
END_TEST

START_TEST(errors_name_the_file_and_the_key)
{
    const int64_t dims[] = { 3 };
    const table_item items[] = { { PRT_STR(""), bundle_header(2, 0) },
        { PRT_STR("dense/bias"), bundle_entry(TF_FLOAT, 1, dims, 0, 12, 0) },
        { PRT_STR("dense/far"), bundle_entry(TF_FLOAT, 1, dims, 4, 12, 0) },
        { PRT_STR("dense/int4"), bundle_entry(TF_INT4, 1, dims, 0, 3, 0) },
        { PRT_STR("dense/shard"),
            msg_int(bundle_entry(TF_FLOAT, 1, dims, 0, 12, 0), PRT_TF_BundleEntry_shard_id, 1) },
        { PRT_STR("dense/size"), bundle_entry(TF_FLOAT, 1, dims, 0, 11, 0) },
        { PRT_STR("dense/two"),
            msg_int(bundle_entry(TF_FLOAT, 1, dims, 0, 12, 0), PRT_TF_BundleEntry_shard_id, 2) } };
    prt_bundle *b = open_items(items, 7, msg_raw(msg_new(), "0123456789ab", 12));
    ck_assert_int_eq(status_of(b, "dense/bais", false), POPRT_E_NOT_FOUND);
    ck_assert_str_eq(prt_error_last()->subject, "dense/bais");
    ck_assert_str_eq(prt_error_last()->file, "p.index");
    ck_assert_ptr_nonnull(strstr(last_error(), "nearest: dense/bias"));
    ck_assert_int_eq(status_of(b, "dense/size", false), POPRT_E_PARSE);
    ck_assert_str_eq(prt_error_last()->subject, "dense/size");
    ck_assert_int_eq(status_of(b, "dense/int4", false), POPRT_E_UNSUPPORTED);
    /* The name of the only file says that it is one of one. */
    ck_assert_int_eq(status_of(b, "dense/bias", false), POPRT_E_NOT_FOUND);
    ck_assert_str_eq(prt_error_last()->file, "p.data-00000-of-00002");
    ck_assert_int_eq(status_of(b, "dense/shard", false), POPRT_E_NOT_FOUND);
    ck_assert_str_eq(prt_error_last()->file, "p.data-00001-of-00002");
    ck_assert_int_eq(status_of(b, "dense/two", false), POPRT_E_PARSE);
    write_file("p.data-00000-of-00002", msg_raw(msg_new(), "0123456789ab", 12));
    ck_assert_int_eq(status_of(b, "dense/bias", false), POPRT_OK);
    ck_assert_int_eq(status_of(b, "dense/bias", true), POPRT_E_PARSE);
    ck_assert_ptr_nonnull(strstr(last_error(), "checksum"));
    ck_assert_int_eq(status_of(b, "dense/far", false), POPRT_E_PARSE);
    remove_file("p.data-00000-of-00002");
    close_items(b);
}
END_TEST

START_TEST(headers_are_checked)
{
    const struct {
        msg *header;
        poprt_status want;
    } cases[] = { { bundle_header(1, 1), POPRT_E_UNSUPPORTED },
        { bundle_header(1 << 20, 0), POPRT_E_LIMIT }, { bundle_header(-1, 0), POPRT_E_LIMIT },
        { NULL, POPRT_E_PARSE } };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        const table_item items[] = { { PRT_STR(""), cases[i].header } };
        ck_assert_ptr_null(open_items(items, cases[i].header != NULL, msg_text(msg_new(), 1, "")));
        ck_assert_int_eq(prt_error_last()->status, cases[i].want);
        ck_assert_str_eq(prt_error_last()->file, "p.index");
        close_items(NULL);
    }
}
END_TEST

/* ---- partitioned tensors: [20000, 4] of int32 */

static const int64_t full_dims[] = { 20000, 4 };

/* The slices by start and length of both axes; a length of -1 is the whole axis. */
typedef struct part {
    int64_t start0, length0, start1, length1;
    const char *code; /* the ordered code of the four numbers */
    uint32_t code_size;
} part;

static prt_str part_key(const part *p)
{
    char *key = kept_bytes(64);
    memcpy(key, "\0w\0\1\1\2", 6);
    memcpy(key + 6, p->code, p->code_size);
    return (prt_str){ key, 6 + p->code_size };
}

/* Opens a checkpoint of these slices, whose elements are their indices in the full tensor. */
static prt_bundle *open_parts(const part *parts, size_t count)
{
    table_item items[8] = { { PRT_STR(""), bundle_header(1, 0) } };
    msg *shard = msg_new(), *full = bundle_entry(TF_INT32, 2, full_dims, 0, 0, 0);
    for (size_t i = 0; i < count; i++) {
        const part *p = &parts[i];
        const int64_t rows = p->length0 < 0 ? full_dims[0] : p->length0;
        const int64_t columns = p->length1 < 0 ? full_dims[1] : p->length1;
        const size_t start = shard->size;
        for (int64_t r = p->start0; r < p->start0 + rows; r++)
            for (int64_t c = p->start1; c < p->start1 + columns; c++)
                (void)msg_raw(shard, &(int32_t){ (int32_t)(r * full_dims[1] + c) }, 4);
        const size_t size = shard->size - start;
        (void)msg_msg(full, PRT_TF_BundleEntry_slices,
            bundle_slice(p->start0, p->length0, p->start1, p->length1));
        items[i + 1] = (table_item){ part_key(p),
            bundle_entry(TF_INT32, 2, (const int64_t[]){ rows, columns }, (int64_t)start,
                (int64_t)size, crc_of(shard->data + start, size)) };
    }
    items[count + 1] = (table_item){ PRT_STR("w"), full };
    return open_items(items, count + 2, shard);
}

/* 100 is stored in 13 bits and 19900 in 20, behind as many ones as there are bytes, and a zero. */
#define CODE(text) text, sizeof(text) - 1
static const part halves[] = { { 0, 100, 0, -1, CODE("\x80\xc0\x64\x80\x7f") },
    { 100, 19900, 0, 1, CODE("\xc0\x64\xe0\x4d\xbc\x80\x81") },
    { 100, 19900, 1, 3, CODE("\xc0\x64\xe0\x4d\xbc\x81\x83") } };

START_TEST(slices_are_put_together)
{
    prt_bundle *b = open_parts(halves, 3);
    prt_blob *blob;
    ck_assert_int_eq(read_key(b, "w", true, &blob), POPRT_OK);
    ck_assert_uint_eq(blob->size, 320000);
    size_t wrong = 0;
    for (int32_t i = 0; i < 80000; i++)
        wrong += memcmp(blob->data + 4 * i, &i, 4) != 0;
    ck_assert_uint_eq(wrong, 0);
    prt_blob_release(blob);
    close_items(b);
}
END_TEST

START_TEST(parts_are_read)
{
    prt_bundle *b = open_parts(halves, 3);
    prt_bundle_tensor t;
    prt_blob *blob;
    ck_assert_int_eq(prt_bundle_find(b, PRT_STR("w"), &t), POPRT_OK);
    /* a stored slice is a view; the rows of another part come from all three slices */
    const prt_bundle_part first = { { 0, 0 }, { 100, 4 } }, across = { { 99, 0 }, { 3, 2 } },
                          outside = { { 19999, 0 }, { 2, 4 } }, empty = { { 5, 1 }, { 0, 2 } };
    ck_assert_int_eq(prt_bundle_read(b, &t, &first, true, &blob), POPRT_OK);
    ck_assert_ptr_eq(blob->data, b->shards[0]->data);
    prt_blob_release(blob);
    const int32_t want[] = { 396, 397, 400, 401, 404, 405 };
    ck_assert_int_eq(prt_bundle_read(b, &t, &across, true, &blob), POPRT_OK);
    ck_assert_uint_eq(blob->size, sizeof(want));
    ck_assert_mem_eq(blob->data, want, sizeof(want));
    prt_blob_release(blob);
    ck_assert_int_eq(prt_bundle_read(b, &t, &empty, true, &blob), POPRT_OK);
    ck_assert_uint_eq(blob->size, 0);
    prt_blob_release(blob);
    ck_assert_int_eq(prt_bundle_read(b, &t, &outside, true, &blob), POPRT_E_PARSE);
    close_items(b);
}
END_TEST

START_TEST(wrong_slices_are_refused)
{
    const part hole[] = { halves[0], halves[1] },
               missing[] = { halves[0], { 100, 19900, 0, 1, CODE("\xc0\x64\xe0\x4d\xbb\x80\x81") },
                   halves[2] },
               overlap[] = { { 0, 101, 0, -1, CODE("\x80\xc0\x65\x80\x7f") }, halves[1],
                   halves[2] },
               outside[] = { halves[0], halves[1],
                   { 100, 19901, 1, 3, CODE("\xc0\x64\xe0\x4d\xbd\x81\x83") } };
    const struct {
        const part *parts;
        size_t count;
        const char *why;
    } cases[] = { { hole, 2, "hole" }, { missing, 3, "lacks" }, { overlap, 3, "overlap" },
        { outside, 3, "exceeds" } };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        prt_bundle *b = open_parts(cases[i].parts, cases[i].count);
        ck_assert_int_eq(status_of(b, "w", false), POPRT_E_PARSE);
        ck_assert_str_eq(prt_error_last()->subject, "w");
        ck_assert_msg(strstr(last_error(), cases[i].why) != NULL, "%s", last_error());
        close_items(b);
    }
}
END_TEST

/* Many tensors that overlap and must be copied use no more memory than a multiple of the file. */
START_TEST(copies_are_limited)
{
    const int64_t dims[] = { 4000 };
    unsigned char *zeros = calloc(16001, 1);
    const table_item items[] = { { PRT_STR(""), bundle_header(1, 0) },
        { PRT_STR("w"), bundle_entry(TF_FLOAT, 1, dims, 1, 16000, 0) } };
    prt_bundle *b = open_items(items, 2, msg_raw(msg_new(), zeros, 16001));
    int reads = 0;
    while (reads < 100 && status_of(b, "w", false) == POPRT_OK)
        reads++;
    ck_assert_int_lt(reads, 10);
    ck_assert_int_eq(prt_error_last()->status, POPRT_E_LIMIT);
    close_items(b);
    free(zeros);
}
END_TEST

PRT_TEST_MAIN("tensorflow/bundle", a_checkpoint_of_tensorflow_is_read,
    a_partitioned_variable_of_tensorflow_is_read,
    numbers_are_views_and_small_misaligned_ones_copies, strings_are_decoded,
    errors_name_the_file_and_the_key, headers_are_checked, slices_are_put_together, parts_are_read,
    wrong_slices_are_refused, copies_are_limited)
