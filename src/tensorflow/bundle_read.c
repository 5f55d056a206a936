/* SPDX-License-Identifier: MIT */
/* bundle_read.c — reads the contents of tensors: numbers, strings, partitioned tensors. */
#include <stdio.h>

#include "base/crc.h"
#include "base/vec.h"
#include "tensor/tensor.h"
#include "tensorflow/bundle.h"
#include "tensorflow/wire.h"

enum {
    COPY_BELOW = 16 << 10, /* bytes: misaligned numbers up to this size are copied */
    /* Entries of real checkpoints never overlap. The bytes that are copied out of the shards are
     * limited to this many times their size. */
    MAX_COPIES = 4,
    MAX_SLICES = 4096,
    CRC_SIZE = 4
};

/* Returns the bytes of an element of a number type; 0: the type is not supported. 4-bit numbers
 * have a byte each in a checkpoint, and half a byte in ONNX. */
static size_t element_size(int32_t dtype)
{
    return dtype != PRT_DTYPE_string ? prt_dtype_bits(dtype) / 8 : 0;
}

static poprt_status malformed(const char *what)
{
    return prt_fail(POPRT_E_PARSE, NULL, "%s", what);
}

/* Returns the bytes of a tensor in its shard. */
static poprt_status locate(prt_bundle *b, const prt_bundle_tensor *t, prt_blob **shard,
    prt_bytes *out)
{
    PRT_TRY(prt_bundle_shard(b, t->shard, shard));
    if (t->size > (*shard)->size || t->offset > (*shard)->size - t->size)
        return prt_fail(POPRT_E_PARSE, NULL, "the tensor lies outside its shard of %zu bytes",
            (*shard)->size);
    *out = (prt_bytes){ (*shard)->data + t->offset, (size_t)t->size };
    return POPRT_OK;
}

/* Counts bytes that are going to be copied. */
static poprt_status count_copied(prt_bundle *b, size_t size)
{
    b->copied += size;
    if (b->copied / MAX_COPIES > b->mapped)
        return prt_fail(POPRT_E_LIMIT, NULL, "entries of the checkpoint overlap many times");
    return POPRT_OK;
}

static poprt_status check_crc(uint32_t crc, uint32_t stored)
{
    return prt_masked_crc(crc) == stored
        ? POPRT_OK
        : malformed("the contents do not match their checksum; the file is damaged");
}

/* ---- strings: lengths, a checksum of the lengths, characters */

typedef struct strings {
    pb_istream_t lengths;
    const unsigned char *chars;
    size_t chars_size;
    uint32_t crc; /* of the lengths and their checksum */
} strings;

/* Reads a length, which the checksum takes as 4 or 8 bytes. */
static bool next_length(strings *s, size_t *out)
{
    uint64_t length = 0;
    if (!pb_decode_varint(&s->lengths, &length))
        return false;
    s->crc = prt_crc32c(s->crc, &length, length <= UINT32_MAX ? 4 : 8);
    *out = (size_t)length;
    return true;
}

/* Checks all lengths and finds the characters. The lengths can then be read again. */
static poprt_status open_strings(prt_bytes bytes, size_t count, bool check, strings *out)
{
    strings s = { .lengths = pb_istream_from_buffer(bytes.data, bytes.size) };
    size_t total = 0, length;
    uint32_t stored;
    for (size_t i = 0; i < count; i++)
        if (!next_length(&s, &length) || !prt_size_add(total, length, &total))
            return malformed("a string tensor has malformed lengths");
    if (s.lengths.bytes_left < CRC_SIZE || s.lengths.bytes_left - CRC_SIZE != total)
        return malformed("the characters of a string tensor do not fill its bytes");
    s.chars = (const unsigned char *)s.lengths.state + CRC_SIZE;
    s.chars_size = total;
    memcpy(&stored, s.chars - CRC_SIZE, CRC_SIZE);
    if (check)
        PRT_TRY(check_crc(s.crc, stored));
    s.crc = prt_crc32c(s.crc, &stored, CRC_SIZE);
    s.lengths = pb_istream_from_buffer(bytes.data, bytes.size);
    *out = s;
    return POPRT_OK;
}

/* Stores the characters after the array in one block, of which the view shows only the array. */
static poprt_status read_strings(prt_bundle *b, const prt_bundle_tensor *t, bool check,
    prt_blob **out)
{
    prt_blob *shard, *block = NULL;
    prt_bytes bytes;
    strings s;
    size_t size, whole, length;
    PRT_TRY(locate(b, t, &shard, &bytes));
    if (t->count > bytes.size)
        return malformed("a string tensor has fewer bytes than elements");
    PRT_TRY(open_strings(bytes, t->count, check, &s));
    if (check)
        PRT_TRY(check_crc(prt_crc32c(s.crc, s.chars, s.chars_size), t->crc));
    PRT_TRY(count_copied(b, bytes.size));
    if (!prt_size_mul(t->count, sizeof(poprt_string), &size) ||
        !prt_size_add(size, s.chars_size, &whole))
        return malformed("a string tensor is too large");
    PRT_TRY(prt_blob_create(prt_arena_allocator(b->arena), whole, &block));
    poprt_string *to = (poprt_string *)(void *)prt_blob_bytes(block);
    char *chars = (char *)prt_blob_bytes(block) + size;
    if (s.chars_size != 0)
        memcpy(chars, s.chars, s.chars_size);
    for (size_t i = 0; i < t->count && next_length(&s, &length); i++, chars += length)
        to[i] = (poprt_string){ chars, length };
    const poprt_status status = prt_blob_view(block, 0, size, out);
    prt_blob_release(block);
    return status;
}

/* ---- numbers */

/* Finds the numbers of a tensor that is stored in one piece. */
static poprt_status find_numbers(prt_bundle *b, const prt_bundle_tensor *t, bool check,
    prt_blob **shard, prt_bytes *out)
{
    size_t size;
    if (!prt_size_mul(t->count, element_size(t->dtype), &size) || size != t->size)
        return prt_fail(POPRT_E_PARSE, NULL, "the tensor has %zu elements and %llu bytes", t->count,
            (unsigned long long)t->size);
    PRT_TRY(locate(b, t, shard, out));
    return check ? check_crc(prt_crc32c(0, out->data, out->size), t->crc) : POPRT_OK;
}

static poprt_status read_numbers(prt_bundle *b, const prt_bundle_tensor *t, bool check,
    prt_blob **out)
{
    prt_blob *shard;
    prt_bytes bytes;
    PRT_TRY(find_numbers(b, t, check, &shard, &bytes));
    const size_t unit = element_size(t->dtype), align = unit < 8 ? unit : 8;
    if ((uintptr_t)bytes.data % align == 0 || bytes.size > COPY_BELOW)
        return prt_blob_view(shard, (size_t)t->offset, bytes.size, out);
    PRT_TRY(count_copied(b, bytes.size));
    PRT_TRY(prt_blob_create(prt_arena_allocator(b->arena), bytes.size, out));
    memcpy(prt_blob_bytes(*out), bytes.data, bytes.size);
    return POPRT_OK;
}

/* ---- partitioned tensors */

typedef struct slice {
    prt_bundle_part part;     /* its place in the tensor */
    bool whole[PRT_MAX_RANK]; /* the axis has no length in the file */
    prt_bundle_tensor tensor;
} slice;

/* Reads a TensorSliceProto of a tensor. */
static poprt_status read_slice(const prt_bundle_tensor *t, prt_bytes bytes, slice *out)
{
    uint32_t axis = 0;
    prt_wire w = prt_tf_open(bytes, PRT_TF_TensorSlice, 2);
    prt_field f, g;
    *out = (slice){ 0 };
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_TF_TensorSlice_extent)
            continue;
        if (axis == t->rank)
            return malformed("a slice has more axes than its tensor");
        int64_t start = 0, length = t->dims[axis];
        bool whole = true;
        prt_wire e = prt_tf_open(f.bytes, PRT_TF_Extent, 3);
        while (prt_wire_next(&e, &g)) {
            if (g.number == PRT_TF_Extent_start)
                start = (int64_t)g.word;
            else if (g.number == PRT_TF_Extent_length) {
                length = (int64_t)g.word;
                whole = false;
            }
        }
        PRT_TRY(e.status);
        if (start < 0 || length < 0 || length > t->dims[axis] || start > t->dims[axis] - length)
            return malformed("a slice exceeds its tensor");
        out->part.start[axis] = start;
        out->part.length[axis] = length;
        out->whole[axis++] = whole;
    }
    PRT_TRY(w.status);
    return axis == t->rank ? POPRT_OK : malformed("a slice has fewer axes than its tensor");
}

/* The keys of slices are ordered codes: byte strings that sort like the numbers in them. */
typedef struct ordered_code {
    prt_arena *arena;
    PRT_VEC(char) text;
    bool failed;
} ordered_code;

static void put_byte(ordered_code *c, unsigned byte)
{
    if (!PRT_VEC_PUSH(c->arena, &c->text, (char)byte))
        c->failed = true;
}

static void put_string(ordered_code *c, prt_str text)
{
    for (uint32_t i = 0; i < text.size; i++) {
        const unsigned char byte = (unsigned char)text.data[i];
        put_byte(c, byte);
        if (byte == 0x00 || byte == 0xff)
            put_byte(c, byte ^ 0xffu);
    }
    put_byte(c, 0x00);
    put_byte(c, 0x01);
}

/* Appends an unsigned number: its size in bytes, and the bytes, most significant first. */
static void put_small(ordered_code *c, uint32_t number)
{
    if (number == 0) {
        put_byte(c, 0);
        return;
    }
    put_byte(c, 1);
    put_byte(c, number);
}

/* Appends a number of at least -1. In N bytes there are N ones, a zero, and 7 N - 1 bits, of which
 * the first is the sign; negative numbers are inverted. */
static void put_signed(ordered_code *c, int64_t number)
{
    unsigned char bytes[10] = { 0 };
    size_t size = 1;
    if (number < 0) {
        put_byte(c, 0x80u ^ (unsigned char)number);
        return;
    }
    while (size < 10 && (uint64_t)number >> (7 * size - 1) != 0)
        size++;
    for (size_t i = 0; i < 8; i++)
        bytes[9 - i] = (unsigned char)((uint64_t)number >> (8 * i));
    unsigned char *first = bytes + sizeof(bytes) - size;
    for (size_t i = 0; i < size; i++)
        first[i / 8] ^= (unsigned char)(0x80u >> (i % 8));
    for (size_t i = 0; i < size; i++)
        put_byte(c, first[i]);
}

/* Finds the entry of a slice. */
static poprt_status find_slice(prt_bundle *b, const prt_bundle_tensor *t, slice *s)
{
    ordered_code key = { .arena = b->arena };
    put_small(&key, 0);
    put_string(&key, t->key);
    put_small(&key, t->rank);
    for (uint32_t i = 0; i < t->rank; i++) {
        put_signed(&key, s->part.start[i]);
        put_signed(&key, s->whole[i] ? -1 : s->part.length[i]);
    }
    if (key.failed)
        return POPRT_E_NOMEM;
    const prt_sorted_entry *entry =
        prt_sorted_table_find(&b->index, (prt_str){ key.text.data, (uint32_t)key.text.count });
    if (entry == NULL)
        return malformed("the checkpoint lacks a slice of the tensor");
    PRT_TRY(prt_bundle_describe(b, entry, &s->tensor));
    if (s->tensor.slices != 0 || s->tensor.dtype != t->dtype || s->tensor.rank != t->rank ||
        !prt_dims_equal(s->tensor.dims, s->part.length, t->rank))
        return malformed("a slice of the tensor has another type or shape than its place");
    return POPRT_OK;
}

/* Intersects two parts of a tensor. Returns false if they have no element in common. */
static bool intersect(const prt_bundle_part *a, const prt_bundle_part *b, uint32_t rank,
    prt_bundle_part *out)
{
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t a_end = a->start[i] + a->length[i], b_end = b->start[i] + b->length[i];
        out->start[i] = a->start[i] > b->start[i] ? a->start[i] : b->start[i];
        out->length[i] = (a_end < b_end ? a_end : b_end) - out->start[i];
        if (out->length[i] <= 0)
            return false;
    }
    return true;
}

/* Reads the slices of a tensor, and checks that each element is in exactly one of them. */
static poprt_status read_slices(prt_bundle *b, const prt_bundle_tensor *t, slice *slices)
{
    size_t n = 0, total = 0;
    prt_bundle_part common;
    prt_wire w = prt_tf_open(t->entry, PRT_TF_BundleEntry, 1);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_TF_BundleEntry_slices)
            continue;
        slice *s = &slices[n];
        PRT_TRY(read_slice(t, f.bytes, s));
        PRT_TRY(find_slice(b, t, s));
        for (size_t i = 0; i < n; i++)
            if (intersect(&slices[i].part, &s->part, t->rank, &common))
                return malformed("slices of the tensor overlap");
        total += s->tensor.count;
        n++;
    }
    PRT_TRY(w.status);
    return total == t->count ? POPRT_OK : malformed("slices of the tensor leave a hole");
}

/* Returns the position of an element of a tensor: `at` in the part `in`, counted from the start of
 * `from`. */
static size_t position(const prt_bundle_part *from, const prt_bundle_part *in, const int64_t *at,
    uint32_t rank)
{
    size_t n = 0;
    for (uint32_t i = 0; i < rank; i++)
        n = n * (size_t)from->length[i] + (size_t)(in->start[i] + at[i] - from->start[i]);
    return n;
}

/* Copies the elements that `from` and `to`, parts of one tensor of elements of `unit` bytes, have
 * in common. */
static void copy_common(const prt_bundle_part *from, const unsigned char *source,
    const prt_bundle_part *to, unsigned char *target, uint32_t rank, size_t unit)
{
    prt_bundle_part common;
    int64_t at[PRT_MAX_RANK] = { 0 };
    if (!intersect(from, to, rank, &common))
        return;
    const size_t row = rank != 0 ? (size_t)common.length[rank - 1] * unit : unit;
    for (;;) {
        memcpy(target + position(to, &common, at, rank) * unit,
            source + position(from, &common, at, rank) * unit, row);
        uint32_t axis = rank > 1 ? rank - 1 : 0;
        while (axis > 0 && ++at[axis - 1] == common.length[axis - 1])
            at[--axis] = 0;
        if (axis == 0)
            return;
    }
}

/* Reads all slices of a partitioned tensor, or regards a tensor in one piece as a slice. */
static poprt_status list_slices(prt_bundle *b, const prt_bundle_tensor *t, slice **out,
    size_t *count)
{
    if (t->slices > MAX_SLICES)
        return prt_fail(POPRT_E_LIMIT, NULL, "the tensor has more than %d slices", MAX_SLICES);
    *count = t->slices != 0 ? t->slices : 1;
    *out = PRT_NEW_N(b->arena, slice, *count);
    if (*out == NULL)
        return POPRT_E_NOMEM;
    if (t->slices != 0)
        return read_slices(b, t, *out);
    (*out)->tensor = *t;
    memcpy((*out)->part.length, t->dims, sizeof(t->dims));
    return POPRT_OK;
}

/* Reads a part of a tensor, or all of a tensor in slices. */
static poprt_status read_part(prt_bundle *b, const prt_bundle_tensor *t,
    const prt_bundle_part *part, bool check, prt_blob **out)
{
    const size_t unit = element_size(t->dtype);
    size_t size = unit, count = 0;
    slice *slices = NULL;
    prt_bundle_part common;
    for (uint32_t i = 0; i < t->rank; i++)
        if (!prt_size_mul(size, (size_t)part->length[i], &size))
            return malformed("the tensor is too large");
    PRT_TRY(list_slices(b, t, &slices, &count));
    for (size_t i = 0; i < count; i++) {
        prt_blob *shard;
        prt_bytes bytes;
        if (prt_dims_equal(slices[i].part.start, part->start, t->rank) &&
            prt_dims_equal(slices[i].part.length, part->length, t->rank))
            return read_numbers(b, &slices[i].tensor, check, out);
        PRT_TRY(find_numbers(b, &slices[i].tensor, false, &shard, &bytes));
    }
    PRT_TRY(count_copied(b, size));
    prt_blob *blob;
    PRT_TRY(prt_blob_create(prt_arena_allocator(b->arena), size, &blob));
    poprt_status status = POPRT_OK;
    for (size_t i = 0; i < count && status == POPRT_OK; i++) {
        prt_blob *shard;
        prt_bytes bytes;
        if (!intersect(&slices[i].part, part, t->rank, &common))
            continue;
        status = find_numbers(b, &slices[i].tensor, check, &shard, &bytes);
        if (status == POPRT_OK)
            copy_common(&slices[i].part, bytes.data, part, prt_blob_bytes(blob), t->rank, unit);
    }
    if (status == POPRT_OK)
        *out = blob;
    else
        prt_blob_release(blob);
    return status;
}

static poprt_status read(prt_bundle *b, const prt_bundle_tensor *t, const prt_bundle_part *part,
    bool check, prt_blob **out)
{
    prt_bundle_part all = { 0 };
    if (t->dtype == PRT_DTYPE_string && t->slices == 0 && part == NULL)
        return read_strings(b, t, check, out);
    if (element_size(t->dtype) == 0)
        return prt_fail(POPRT_E_UNSUPPORTED, NULL,
            "checkpoints with %s of this type are not supported",
            t->slices != 0 || part != NULL ? "partitioned tensors" : "tensors");
    if (t->slices == 0 && part == NULL)
        return read_numbers(b, t, check, out);
    memcpy(all.length, t->dims, sizeof(t->dims));
    if (part == NULL)
        part = &all;
    for (uint32_t i = 0; i < t->rank; i++)
        if (part->start[i] < 0 || part->length[i] < 0 || part->length[i] > t->dims[i] ||
            part->start[i] > t->dims[i] - part->length[i])
            return malformed("a part exceeds its tensor");
    return read_part(b, t, part, check, out);
}

poprt_status prt_bundle_read(prt_bundle *b, const prt_bundle_tensor *t, const prt_bundle_part *part,
    bool check, prt_blob **out)
{
    return prt_bundle_explain(b, t->key, read(b, t, part, check, out));
}

poprt_status prt_bundle_object_graph(prt_bundle *b, prt_bytes *out)
{
    const prt_sorted_entry *entry =
        prt_sorted_table_find(&b->index, PRT_STR("_CHECKPOINTABLE_OBJECT_GRAPH"));
    prt_bundle_tensor t;
    prt_blob *shard;
    prt_bytes bytes;
    strings s;
    *out = (prt_bytes){ NULL, 0 };
    if (entry == NULL)
        return POPRT_OK;
    PRT_TRY(prt_bundle_describe(b, entry, &t));
    if (t.dtype != PRT_DTYPE_string || t.rank != 0 || t.slices != 0)
        return prt_bundle_explain(b, t.key, malformed("the object graph is not a string"));
    PRT_TRY(prt_bundle_explain(b, t.key, locate(b, &t, &shard, &bytes)));
    PRT_TRY(prt_bundle_explain(b, t.key, open_strings(bytes, 1, true, &s)));
    *out = (prt_bytes){ s.chars, s.chars_size };
    return POPRT_OK;
}
