/* SPDX-License-Identifier: MIT */
/* Sorted tables of many shapes, compressed and not, and damaged ones (sorted_table.c, snappy.c). */
#include <stdio.h>

#include "support/bundle_bytes.h"
#include "support/check_main.h"
#include "tensorflow/snappy.h"
#include "tensorflow/sorted_table.h"

static prt_arena *new_arena(void)
{
    prt_arena *arena = NULL;
    ck_assert_int_eq(prt_arena_create(&prt_mem_libc, 0, &arena), POPRT_OK);
    return arena;
}

static poprt_status read_table(prt_arena *arena, const msg *file, prt_sorted_table *out)
{
    return prt_sorted_table_read(arena, (prt_bytes){ file->data, file->size }, out);
}

/* Makes `count` items with keys that share their beginnings. */
static table_item *make_items(size_t count)
{
    table_item *items = kept_bytes(count * sizeof(*items));
    for (size_t i = 0; i < count; i++) {
        char *key = kept_bytes(64);
        (void)snprintf(key, 64, "model/block_%02zu/layer_%04zu/kernel", i / 50, i);
        items[i] = (table_item){ prt_str_of(key), msg_varint(msg_new(), i * i) };
    }
    return items;
}

/* Writes, reads and compares a table of `count` items. */
static void check_table(size_t count, size_t in_block, bool compressed)
{
    prt_arena *arena = new_arena();
    prt_sorted_table table;
    const table_item *items = make_items(count);
    ck_assert_int_eq(read_table(arena, table_bytes(items, count, in_block, compressed), &table),
        POPRT_OK);
    ck_assert_uint_eq(table.count, count);
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const prt_sorted_entry *e = prt_sorted_table_find(&table, items[i].key);
        wrong += e != &table.entries[i] || !prt_str_equal(e->key, items[i].key) ||
            e->value.size != items[i].value->size ||
            memcmp(e->value.data, items[i].value->data, e->value.size) != 0;
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert_ptr_null(prt_sorted_table_find(&table, PRT_STR("model")));
    ck_assert_ptr_null(prt_sorted_table_find(&table, PRT_STR("zoo")));
    ck_assert_ptr_null(prt_sorted_table_find(&table, PRT_STR("")));
    prt_arena_release(arena);
}

START_TEST(all_entries_are_found)
{
    check_table(0, 1, false);
    check_table(1, 1, false);
    check_table(15, 100, false);
    check_table(1000, 1000, false);
    check_table(1000, 37, false);
    check_table(300, 1, false);
}
END_TEST

START_TEST(compressed_blocks_are_read)
{
    check_table(1, 1, true);
    check_table(500, 500, true);
    check_table(500, 16, true);
}
END_TEST

START_TEST(keys_may_contain_any_bytes)
{
    const table_item items[] = { { PRT_STR(""), msg_new() }, { PRT_STR("\0a"), msg_new() },
        { PRT_STR("\0a\0\1"), msg_new() }, { PRT_STR("a"), msg_new() },
        { PRT_STR("\xff"), msg_text(msg_new(), 1, "last") } };
    prt_arena *arena = new_arena();
    prt_sorted_table table;
    ck_assert_int_eq(read_table(arena, table_bytes(items, 5, 5, false), &table), POPRT_OK);
    for (size_t i = 0; i < 5; i++)
        ck_assert_ptr_eq(prt_sorted_table_find(&table, items[i].key), &table.entries[i]);
    prt_arena_release(arena);
}
END_TEST

/* Every bit of the file is protected, except for the padding of the footer and the bytes that no
 * handle refers to: there are none. */
START_TEST(damage_is_found_at_each_byte)
{
    const msg *file = table_bytes(make_items(40), 40, 16, false);
    unsigned char *copy = malloc(file->size);
    size_t missed = 0, padding = file->size - 48;
    for (int i = 0; i < 4; i++, padding++) /* the handles' four varints */
        while (file->data[padding] >= 128)
            padding++;
    for (size_t at = 0; at < file->size; at++) {
        if (at >= padding && at < file->size - 8)
            continue;
        memcpy(copy, file->data, file->size);
        copy[at] ^= (unsigned char)(1u << (at % 8));
        prt_arena *arena = new_arena();
        prt_sorted_table table;
        missed += prt_sorted_table_read(arena, (prt_bytes){ copy, file->size }, &table) == POPRT_OK;
        prt_arena_release(arena);
    }
    ck_assert_uint_eq(missed, 0);
    free(copy);
}
END_TEST

START_TEST(truncated_tables_are_refused)
{
    const msg *file = table_bytes(make_items(40), 40, 16, true);
    size_t missed = 0;
    for (size_t size = 0; size < file->size; size++) {
        prt_arena *arena = new_arena();
        prt_sorted_table table;
        missed += prt_sorted_table_read(arena, (prt_bytes){ file->data, size }, &table) == POPRT_OK;
        prt_arena_release(arena);
    }
    ck_assert_uint_eq(missed, 0);
}
END_TEST

/* Reads a table with one data block of these bytes, twice in the index if `twice`. */
static poprt_status read_block(const msg *content, unsigned char compression, bool twice)
{
    msg *file = msg_new(), *index = msg_new();
    const size_t offset = table_block(file, content, compression);
    const msg *handle = msg_varint(msg_varint(msg_new(), offset), content->size);
    for (int i = 0; i < (twice ? 2 : 1); i++) {
        const char key = (char)('y' + i);
        (void)msg_varint(msg_varint(msg_varint(index, 0), 1), handle->size);
        (void)msg_raw(msg_raw(index, &key, 1), handle->data, handle->size);
    }
    (void)msg_raw(index, "\0\0\0\0\1\0\0\0", 8);
    const size_t top[] = { table_block(file, index, 0), index->size };
    table_footer(file, top, top);
    prt_arena *arena = new_arena();
    prt_sorted_table table;
    const poprt_status status = read_table(arena, file, &table);
    prt_arena_release(arena);
    return status;
}

static msg *block_of_bytes(const char *bytes, size_t size)
{
    return msg_raw(msg_raw(msg_new(), bytes, size), "\0\0\0\0\1\0\0\0", 8);
}

START_TEST(malformed_entries_are_refused)
{
    ck_assert_int_eq(read_block(block_of_bytes("\0\1\1kv\1\1\1kv", 10), 0, false), POPRT_OK);
    /* shared beginning without a key before; sizes over the block; keys out of order; the same
     * block twice */
    ck_assert_int_eq(read_block(block_of_bytes("\1\1\1kv", 5), 0, false), POPRT_E_PARSE);
    ck_assert_int_eq(read_block(block_of_bytes("\0\2\1kv", 5), 0, false), POPRT_E_PARSE);
    ck_assert_int_eq(read_block(block_of_bytes("\0\1\2kv", 5), 0, false), POPRT_E_PARSE);
    ck_assert_int_eq(read_block(block_of_bytes("\0\1\1kv\0\1\1jv", 10), 0, false), POPRT_E_PARSE);
    ck_assert_int_eq(read_block(block_of_bytes("\0\1\1kv", 5), 0, true), POPRT_E_PARSE);
    /* restarts that fill more than the block; no restarts; an unknown compression */
    ck_assert_int_eq(read_block(msg_raw(msg_new(), "\2\0\0\0", 4), 0, false), POPRT_E_PARSE);
    ck_assert_int_eq(read_block(msg_raw(msg_new(), "\0\0\0", 3), 0, false), POPRT_E_PARSE);
    ck_assert_int_eq(read_block(block_of_bytes("\0\1\1kv", 5), 2, false), POPRT_E_UNSUPPORTED);
}
END_TEST

/* A key of 64 KiB, and entries of 4 bytes that share it. */
START_TEST(keys_are_limited)
{
    enum { KEY = 1 << 16, COUNT = 1 << 14 };
    char *key = calloc(1, KEY);
    msg *m = msg_varint(msg_varint(msg_varint(msg_new(), 0), KEY), 0);
    (void)msg_raw(m, key, KEY);
    for (int i = 0; i < COUNT; i++) {
        (void)msg_varint(msg_varint(msg_varint(m, KEY + (unsigned)i), 1), 0);
        (void)msg_raw(m, "x", 1);
    }
    ck_assert_int_eq(read_block(msg_raw(m, "\0\0\0\0\1\0\0\0", 8), 0, false), POPRT_E_LIMIT);
    ck_assert_ptr_nonnull(strstr(last_error(), "100 times"));
    free(key);
}
END_TEST

/* ---- Snappy */

static poprt_status decode(const char *bytes, size_t size, const char *want)
{
    prt_arena *arena = new_arena();
    prt_bytes out = { 0 };
    const poprt_status status =
        prt_snappy_decode(arena, (prt_bytes){ (const unsigned char *)bytes, size }, &out);
    if (status == POPRT_OK) {
        ck_assert_uint_eq(out.size, strlen(want));
        ck_assert_mem_eq(out.data, want, out.size);
    }
    prt_arena_release(arena);
    return status;
}

#define DECODE(bytes, want) decode(bytes, sizeof(bytes) - 1, want)

START_TEST(each_snappy_element_is_decoded)
{
    ck_assert_int_eq(DECODE("\0", ""), POPRT_OK);
    ck_assert_int_eq(DECODE("\3\x8"
                            "abc",
                         "abc"),
        POPRT_OK);
    /* literals whose length follows in one byte and in four */
    ck_assert_int_eq(DECODE("\3\xf0\2"
                            "abc",
                         "abc"),
        POPRT_OK);
    ck_assert_int_eq(DECODE("\3\xfc\2\0\0\0"
                            "abc",
                         "abc"),
        POPRT_OK);
    /* copies with offsets of 11, 16 and 32 bits; the first two overlap their results */
    ck_assert_int_eq(DECODE("\6\4ab\1\2", "ababab"), POPRT_OK);
    ck_assert_int_eq(DECODE("\6\4ab\xe\2\0", "ababab"), POPRT_OK);
    ck_assert_int_eq(DECODE("\4\4ab\x7\2\0\0\0", "abab"), POPRT_OK);
}
END_TEST

START_TEST(long_offsets_are_decoded)
{
    char text[1025];
    msg *m = msg_varint(msg_new(), 1024 + 4);
    for (int i = 0; i < 1024; i++)
        text[i] = (char)('a' + i % 23 + i / 512);
    text[1024] = '\0';
    (void)msg_raw(msg_raw(m, "\xf4\xff\x03", 3), text, 1024);
    (void)msg_raw(m, "\x81\x00", 2); /* offset 0x400 in 11 bits, length 4 */
    char *want = malloc(1030);
    (void)snprintf(want, 1030, "%s%.4s", text, text);
    ck_assert_int_eq(decode((const char *)m->data, m->size, want), POPRT_OK);
    free(want);
}
END_TEST

START_TEST(malformed_snappy_is_refused)
{
    ck_assert_int_eq(DECODE("", ""), POPRT_E_PARSE); /* no size */
    ck_assert_int_eq(DECODE("\3\x8"
                            "ab",
                         ""),
        POPRT_E_PARSE); /* literal is cut */
    ck_assert_int_eq(DECODE("\2\x8"
                            "abc",
                         ""),
        POPRT_E_PARSE); /* over the stated size */
    ck_assert_int_eq(DECODE("\4\x8"
                            "abc",
                         ""),
        POPRT_E_PARSE);                                        /* below the stated size */
    ck_assert_int_eq(DECODE("\6\4ab\1\3", ""), POPRT_E_PARSE); /* copy from before the start */
    ck_assert_int_eq(DECODE("\6\4ab\1\0", ""), POPRT_E_PARSE); /* copy of offset 0 */
    ck_assert_int_eq(DECODE("\6\4ab\2\2", ""), POPRT_E_PARSE); /* offset is cut */
    ck_assert_int_eq(DECODE("\xff\xff\xff\xff\x0f\0a", ""), POPRT_E_PARSE); /* 4 GiB */
}
END_TEST

PRT_TEST_MAIN("tensorflow/sorted_table", all_entries_are_found, compressed_blocks_are_read,
    keys_may_contain_any_bytes, damage_is_found_at_each_byte, truncated_tables_are_refused,
    malformed_entries_are_refused, keys_are_limited, each_snappy_element_is_decoded,
    long_offsets_are_decoded, malformed_snappy_is_refused)
