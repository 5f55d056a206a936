/* SPDX-License-Identifier: MIT */
/* bundle_bytes.c — a small writer of LevelDB's table format and of tensor bundles. */
#include "support/bundle_bytes.h"

#include <stdlib.h>

#include "base/crc.h"
#include "tensorflow/sorted_table.h"
#include "tensorflow/wire.h"

static void put32(msg *m, uint32_t word)
{
    (void)msg_raw(m, &word, sizeof(word));
}

void *kept_bytes(size_t size)
{
    void *zeros = calloc(1, size);
    msg *m = msg_raw(msg_new(), zeros, size);
    free(zeros);
    return m->data;
}

size_t table_block(msg *file, const msg *content, unsigned char compression)
{
    const size_t offset = file->size;
    (void)msg_raw(msg_raw(file, content->data, content->size), &compression, 1);
    put32(file, prt_masked_crc(prt_crc32c(0, file->data + offset, content->size + 1)));
    return offset;
}

void table_footer(msg *file, const size_t metaindex[2], const size_t index[2])
{
    static const unsigned char magic[] = { 0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb };
    const unsigned char zero = 0;
    const size_t start = file->size;
    (void)msg_varint(msg_varint(file, metaindex[0]), metaindex[1]);
    (void)msg_varint(msg_varint(file, index[0]), index[1]);
    while (file->size < start + 40)
        (void)msg_raw(file, &zero, 1);
    (void)msg_raw(file, magic, sizeof(magic));
}

static void put_literal(msg *to, const unsigned char *from, size_t size)
{
    while (size > 0) {
        const size_t n = size < 60 ? size : 60;
        const unsigned char tag = (unsigned char)((n - 1) << 2);
        (void)msg_raw(msg_raw(to, &tag, 1), from, n);
        from += n;
        size -= n;
    }
}

msg *snappy_bytes(const msg *from)
{
    msg *to = msg_varint(msg_new(), from->size);
    size_t literal = 0, at = 0;
    while (at < from->size) {
        size_t best = 0, offset = 0;
        for (size_t back = 1; back <= at && back <= 300; back++) {
            size_t n = 0;
            while (n < 64 && at + n < from->size && from->data[at + n] == from->data[at + n - back])
                n++;
            if (n > best) {
                best = n;
                offset = back;
            }
        }
        if (best < 4) {
            at++;
            continue;
        }
        put_literal(to, from->data + literal, at - literal);
        const unsigned char copy[] = { (unsigned char)((best - 1) << 2 | 2), (unsigned char)offset,
            (unsigned char)(offset >> 8) };
        (void)msg_raw(to, copy, sizeof(copy));
        at += best;
        literal = at;
    }
    put_literal(to, from->data + literal, at - literal);
    return to;
}

/* Writes entries, of which each 16th restarts. */
static msg *block_of(const table_item *items, size_t count)
{
    msg *m = msg_new(), *restarts = msg_new();
    for (size_t i = 0; i < count; i++) {
        uint32_t shared = 0;
        if (i % 16 == 0)
            put32(restarts, (uint32_t)m->size);
        else
            while (shared < items[i].key.size && shared < items[i - 1].key.size &&
                items[i].key.data[shared] == items[i - 1].key.data[shared])
                shared++;
        (void)msg_varint(msg_varint(msg_varint(m, shared), items[i].key.size - shared),
            items[i].value->size);
        (void)msg_raw(m, items[i].key.data + shared, items[i].key.size - shared);
        (void)msg_raw(m, items[i].value->data, items[i].value->size);
    }
    const uint32_t restart_count = (uint32_t)(restarts->size / 4);
    (void)msg_raw(m, restarts->data, restarts->size);
    put32(m, restart_count);
    return m;
}

msg *table_bytes(const table_item *items, size_t count, size_t in_block, bool compressed)
{
    msg *file = msg_new();
    const size_t blocks = (count + in_block - 1) / in_block;
    table_item *index = calloc(blocks + 1, sizeof(*index));
    for (size_t i = 0; i < blocks; i++) {
        const size_t first = i * in_block;
        const size_t n = count - first < in_block ? count - first : in_block;
        const msg *content = block_of(items + first, n);
        if (compressed)
            content = snappy_bytes(content);
        const size_t offset = table_block(file, content, compressed);
        index[i] = (table_item){ items[first + n - 1].key,
            msg_varint(msg_varint(msg_new(), offset), content->size) };
    }
    const msg *meta = block_of(NULL, 0), *keys = block_of(index, blocks);
    const size_t metaindex[] = { table_block(file, meta, 0), meta->size };
    const size_t top[] = { table_block(file, keys, 0), keys->size };
    table_footer(file, metaindex, top);
    free(index);
    return file;
}

msg *bundle_header(int64_t shards, int64_t endianness)
{
    return msg_int(msg_int(msg_new(), PRT_TF_BundleHeader_num_shards, shards),
        PRT_TF_BundleHeader_endianness, endianness);
}

msg *bundle_entry(int32_t dtype, uint32_t rank, const int64_t *dims, int64_t offset, int64_t size,
    uint32_t crc)
{
    msg *shape = msg_new();
    for (uint32_t i = 0; i < rank; i++)
        (void)msg_msg(shape, PRT_TF_TensorShape_dim, msg_int(msg_new(), PRT_TF_Dim_size, dims[i]));
    msg *m = msg_int(msg_new(), PRT_TF_BundleEntry_dtype, dtype);
    (void)msg_msg(m, PRT_TF_BundleEntry_shape, shape);
    (void)msg_int(msg_int(m, PRT_TF_BundleEntry_offset, offset), PRT_TF_BundleEntry_size, size);
    (void)msg_varint(m, (uint64_t)PRT_TF_BundleEntry_crc32c << 3 | PRT_WIRE_FIXED32);
    put32(m, crc);
    return m;
}

msg *bundle_slice(int64_t start0, int64_t length0, int64_t start1, int64_t length1)
{
    const int64_t starts[] = { start0, start1 }, lengths[] = { length0, length1 };
    msg *m = msg_new();
    for (int i = 0; i < 2; i++) {
        msg *extent = msg_int(msg_new(), PRT_TF_Extent_start, starts[i]);
        if (lengths[i] >= 0)
            (void)msg_int(extent, PRT_TF_Extent_length, lengths[i]);
        (void)msg_msg(m, PRT_TF_TensorSlice_extent, extent);
    }
    return m;
}

msg *bundle_strings(const char *const *texts, size_t count, uint32_t *crc)
{
    msg *m = msg_new();
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t length = (uint32_t)strlen(texts[i]);
        (void)msg_varint(m, length);
        sum = prt_crc32c(sum, &length, sizeof(length));
    }
    const uint32_t masked = prt_masked_crc(sum);
    put32(m, masked);
    sum = prt_crc32c(sum, &masked, sizeof(masked));
    for (size_t i = 0; i < count; i++) {
        (void)msg_raw(m, texts[i], strlen(texts[i]));
        sum = prt_crc32c(sum, texts[i], strlen(texts[i]));
    }
    *crc = prt_masked_crc(sum);
    return m;
}
