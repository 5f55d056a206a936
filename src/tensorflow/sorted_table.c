/* SPDX-License-Identifier: MIT */
/*
 * sorted_table.c — footer, index block, data blocks, entries.
 *
 * All blocks are read in sequence: an index has one entry of some 50 bytes for each tensor, so a
 * search in the file would save nothing. The offsets of restarts serve searches only and are not
 * used.
 */
#include "tensorflow/sorted_table.h"

#include "base/crc.h"
#include "base/vec.h"
#include "tensorflow/snappy.h"

enum {
    HANDLES_SIZE = 40, /* bytes of the two handles in the footer, padded */
    FOOTER_SIZE = 48,
    TRAILER_SIZE = 5, /* compression and checksum behind a block */
    STORED = 0,
    SNAPPY = 1,
    /* Keys share their beginning with the key before. The keys may need this many times the bytes
     * of the file; indexes of real models need about twice. */
    MAX_KEY_RATIO = 100
};

typedef struct reader {
    prt_arena *arena;
    prt_bytes file;
    size_t data_end;  /* end of the data block before */
    size_t keys_left; /* bytes that further keys may take */
    PRT_VEC(prt_sorted_entry) entries;
} reader;

/* The entries of a block that are not read yet. */
typedef struct block {
    pb_istream_t stream;
    prt_str key; /* of the entry before */
} block;

typedef struct handle {
    uint64_t offset, size;
} handle;

uint32_t prt_masked_crc(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static poprt_status damaged(const char *what, uint64_t offset)
{
    return prt_fail(POPRT_E_PARSE, NULL, "table is damaged: %s (block at byte %llu)", what,
        (unsigned long long)offset);
}

static uint32_t load32(const unsigned char *from)
{
    uint32_t word;
    memcpy(&word, from, sizeof(word));
    return word;
}

static bool read_handle(pb_istream_t *stream, handle *out)
{
    return pb_decode_varint(stream, &out->offset) && pb_decode_varint(stream, &out->size);
}

/* Reads a block, checks it, and prepares its entries for reading. */
static poprt_status open_block(reader *r, handle h, block *out)
{
    const size_t blocks = r->file.size - FOOTER_SIZE;
    if (h.size > blocks || blocks - h.size < TRAILER_SIZE ||
        h.offset > blocks - h.size - TRAILER_SIZE)
        return damaged("a block exceeds the file", h.offset);
    prt_bytes content = { r->file.data + h.offset, (size_t)h.size };
    const unsigned char *trailer = content.data + content.size;
    if (load32(trailer + 1) != prt_masked_crc(prt_crc32c(0, content.data, content.size + 1)))
        return damaged("a checksum does not match", h.offset);
    if (*trailer == SNAPPY)
        PRT_TRY(prt_snappy_decode(r->arena, content, &content));
    else if (*trailer != STORED)
        return prt_fail(POPRT_E_UNSUPPORTED, NULL,
            "table is compressed by method %d; supported are none (0) and Snappy (1)", *trailer);
    size_t restarts;
    if (content.size < 4 ||
        (restarts = load32(content.data + content.size - 4)) > content.size / 4 - 1)
        return damaged("there are more restarts than bytes", h.offset);
    out->stream = pb_istream_from_buffer(content.data, content.size - 4 - 4 * restarts);
    out->key = PRT_STR("");
    return POPRT_OK;
}

/* Joins the shared beginning of the key before and the rest in the file. */
static poprt_status join_key(reader *r, prt_str before, size_t shared, const unsigned char *rest,
    size_t size, prt_str *out)
{
    *out = (prt_str){ (const char *)rest, (uint32_t)size };
    if (shared == 0)
        return POPRT_OK;
    if (shared + size > r->keys_left)
        return prt_fail(POPRT_E_LIMIT, NULL, "keys of a table need over %d times its bytes",
            MAX_KEY_RATIO);
    r->keys_left -= shared + size;
    char *key = prt_arena_alloc_raw(r->arena, shared + size);
    if (key == NULL)
        return POPRT_E_NOMEM;
    memcpy(key, before.data, shared);
    if (size != 0)
        memcpy(key + shared, rest, size);
    *out = (prt_str){ key, (uint32_t)(shared + size) };
    return POPRT_OK;
}

/* Reads the next entry of a block that has more bytes. */
static poprt_status next_entry(reader *r, block *b, prt_sorted_entry *out)
{
    uint64_t shared, size, value;
    pb_istream_t *s = &b->stream;
    if (!pb_decode_varint(s, &shared) || !pb_decode_varint(s, &size) ||
        !pb_decode_varint(s, &value) || shared > b->key.size || size > s->bytes_left ||
        value > s->bytes_left - size || size > INT32_MAX)
        return prt_fail(POPRT_E_PARSE, NULL, "table is damaged: an entry exceeds its block");
    const unsigned char *rest = s->state;
    PRT_TRY(join_key(r, b->key, (size_t)shared, rest, (size_t)size, &b->key));
    *out = (prt_sorted_entry){ b->key, { rest + size, (size_t)value } };
    (void)pb_read(s, NULL, (size_t)(size + value));
    return POPRT_OK;
}

static int compare(prt_str a, prt_str b)
{
    const size_t n = prt_size_min(a.size, b.size);
    const int order = n != 0 ? memcmp(a.data, b.data, n) : 0;
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static poprt_status read_data_block(reader *r, handle h)
{
    block b;
    if (h.offset < r->data_end)
        return damaged("blocks overlap", h.offset);
    PRT_TRY(open_block(r, h, &b));
    r->data_end = (size_t)(h.offset + h.size + TRAILER_SIZE);
    while (b.stream.bytes_left != 0) {
        prt_sorted_entry entry;
        PRT_TRY(next_entry(r, &b, &entry));
        if (r->entries.count != 0 &&
            compare(r->entries.data[r->entries.count - 1].key, entry.key) >= 0)
            return damaged("keys are not in ascending order", h.offset);
        if (!PRT_VEC_PUSH(r->arena, &r->entries, entry))
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

static poprt_status read_blocks(reader *r)
{
    handle meta, index, data;
    const unsigned char *footer = r->file.data + r->file.size - FOOTER_SIZE;
    pb_istream_t s = pb_istream_from_buffer(footer, HANDLES_SIZE);
    block b;
    if (!read_handle(&s, &meta) || !read_handle(&s, &index))
        return prt_fail(POPRT_E_PARSE, NULL, "table is damaged: its footer has no handles");
    PRT_TRY(open_block(r, meta, &b)); /* The block of metadata is checked, and not needed. */
    PRT_TRY(open_block(r, index, &b));
    while (b.stream.bytes_left != 0) {
        prt_sorted_entry entry;
        PRT_TRY(next_entry(r, &b, &entry));
        s = pb_istream_from_buffer(entry.value.data, entry.value.size);
        if (!read_handle(&s, &data))
            return damaged("an entry of the index has no handle", index.offset);
        PRT_TRY(read_data_block(r, data));
    }
    return POPRT_OK;
}

poprt_status prt_sorted_table_read(prt_arena *arena, prt_bytes file, prt_sorted_table *out)
{
    static const unsigned char magic[] = { 0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb };
    if (file.size < FOOTER_SIZE ||
        memcmp(file.data + file.size - sizeof(magic), magic, sizeof(magic)) != 0)
        return prt_fail(POPRT_E_PARSE, NULL,
            "not a sorted string table, which ends in a footer of %d bytes", FOOTER_SIZE);
    reader r = { .arena = arena,
        .file = file,
        .keys_left = file.size > SIZE_MAX / MAX_KEY_RATIO ? SIZE_MAX : file.size * MAX_KEY_RATIO };
    r.keys_left = prt_size_min(r.keys_left, INT32_MAX);
    PRT_TRY(read_blocks(&r));
    *out = (prt_sorted_table){ r.entries.data, r.entries.count };
    return POPRT_OK;
}

const prt_sorted_entry *prt_sorted_table_find(const prt_sorted_table *table, prt_str key)
{
    size_t first = 0, last = table->count;
    while (first < last) {
        const size_t middle = first + (last - first) / 2;
        const int order = compare(table->entries[middle].key, key);
        if (order == 0)
            return &table->entries[middle];
        if (order < 0)
            first = middle + 1;
        else
            last = middle;
    }
    return NULL;
}
