/* SPDX-License-Identifier: MIT */
/* bundle.c — opens checkpoints: index, header, descriptions of tensors, shards. */
#include "tensorflow/bundle.h"

#include <stdio.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/size.h"
#include "tensorflow/attr.h"

enum {
    MAX_PATH = 4096,
    MAX_SHARDS = 100000, /* numbers of shards have five digits */
    MAX_NEAREST = 10000  /* keys that are compared for suggestions */
};

/* Adds the key and the file of the index to a failure that has none yet. */
poprt_status prt_bundle_explain(const prt_bundle *b, prt_str key, poprt_status status)
{
    char text[256];
    if (status == POPRT_OK)
        return status;
    (void)snprintf(text, sizeof(text), "%.*s", (int)prt_size_min(key.size, 200), key.data);
    if (text[0] != '\0')
        (void)prt_fail_about(status, text);
    return prt_fail_in_file(status, b->name);
}

static poprt_status read_header(prt_bundle *b)
{
    const prt_sorted_entry *header = prt_sorted_table_find(&b->index, PRT_STR(""));
    if (header == NULL)
        return prt_fail(POPRT_E_PARSE, NULL, "the checkpoint has no header entry");
    uint64_t shards = 0, endianness = 0;
    prt_wire w = prt_tf_open(header->value, PRT_TF_BundleHeader, 1);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_TF_BundleHeader_num_shards)
            shards = f.word;
        else if (f.number == PRT_TF_BundleHeader_endianness)
            endianness = f.word;
    }
    PRT_TRY(w.status);
    if (endianness != 0)
        return prt_fail(POPRT_E_UNSUPPORTED, NULL,
            "the checkpoint was written by a big-endian machine; save it again on another one");
    if (shards > MAX_SHARDS)
        return prt_fail(POPRT_E_LIMIT, NULL, "the checkpoint has more than %d shards", MAX_SHARDS);
    b->shard_count = (size_t)shards;
    b->shards = PRT_NEW_N(b->arena, prt_blob *, b->shard_count);
    return b->shards != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status open_index(prt_bundle *b)
{
    const poprt_status status = prt_file_map_below(prt_arena_allocator(b->arena), b->folder,
        b->owner, b->name, NULL, &b->file);
    if (status == POPRT_E_NOT_FOUND)
        return prt_fail(status, NULL, "the checkpoint has no index file below '%s'", b->folder);
    PRT_TRY(status);
    PRT_TRY(
        prt_sorted_table_read(b->arena, (prt_bytes){ b->file->data, b->file->size }, &b->index));
    return read_header(b);
}

poprt_status prt_bundle_open(prt_arena *arena, const char *folder, const char *owner,
    const char *prefix, prt_bundle **out)
{
    char name[MAX_PATH];
    const int size = snprintf(name, sizeof(name), "%s.index", prefix);
    if (size < 0 || (size_t)size >= sizeof(name))
        return prt_fail(POPRT_E_ARG, prefix, "the path of the checkpoint is too long");
    prt_bundle *b = PRT_NEW(arena, prt_bundle);
    if (b == NULL)
        return POPRT_E_NOMEM;
    *b = (prt_bundle){ .arena = arena,
        .folder = prt_arena_text(arena, folder, strlen(folder)),
        .owner = owner != NULL ? prt_arena_text(arena, owner, strlen(owner)) : NULL,
        .prefix = prt_arena_text(arena, prefix, strlen(prefix)),
        .name = prt_arena_text(arena, name, (size_t)size) };
    if (b->folder == NULL || (owner != NULL && b->owner == NULL) || b->prefix == NULL ||
        b->name == NULL)
        return POPRT_E_NOMEM;
    const poprt_status status = open_index(b);
    if (status != POPRT_OK) {
        (void)prt_fail_in_file(status, b->name);
        prt_bundle_close(b);
        return status;
    }
    *out = b;
    return POPRT_OK;
}

void prt_bundle_close(prt_bundle *b)
{
    if (b == NULL)
        return;
    for (size_t i = 0; b->shards != NULL && i < b->shard_count; i++)
        prt_blob_release(b->shards[i]);
    prt_blob_release(b->file);
    b->shards = NULL;
    b->file = NULL;
}

poprt_status prt_bundle_shard(prt_bundle *b, uint64_t shard, prt_blob **out)
{
    char name[MAX_PATH];
    if (shard >= b->shard_count)
        return prt_fail(POPRT_E_PARSE, NULL, "shard %llu of %zu does not exist",
            (unsigned long long)shard, b->shard_count);
    if (b->shards[shard] == NULL) {
        (void)snprintf(name, sizeof(name), "%s.data-%05u-of-%05u", b->prefix, (unsigned)shard,
            (unsigned)b->shard_count);
        PRT_TRY(prt_file_map_below(prt_arena_allocator(b->arena), b->folder, b->owner, name, NULL,
            &b->shards[shard]));
        b->mapped += b->shards[shard]->size;
    }
    *out = b->shards[shard];
    return POPRT_OK;
}

/* ---- descriptions */

static poprt_status read_shape(prt_bytes bytes, prt_bundle_tensor *t)
{
    int32_t rank;
    PRT_TRY(prt_tf_shape_read(bytes, 2, &rank, t->dims));
    t->rank = rank >= 0 ? (uint32_t)rank : 0;
    t->count = 1;
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dims[i] < 0 || !prt_size_mul(t->count, (size_t)t->dims[i], &t->count))
            rank = PRT_RANK_UNKNOWN;
    return rank >= 0
        ? POPRT_OK
        : prt_fail(POPRT_E_PARSE, NULL, "a tensor of the checkpoint has impossible dims");
}

static poprt_status describe(prt_bundle_tensor *t)
{
    prt_wire w = prt_tf_open(t->entry, PRT_TF_BundleEntry, 1);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        switch (f.number) {
        case PRT_TF_BundleEntry_dtype:
            t->dtype = prt_tf_dtype_of((int64_t)f.word);
            break;
        case PRT_TF_BundleEntry_shape:
            PRT_TRY(read_shape(f.bytes, t));
            break;
        case PRT_TF_BundleEntry_shard_id:
            t->shard = f.word;
            break;
        case PRT_TF_BundleEntry_offset:
            t->offset = f.word;
            break;
        case PRT_TF_BundleEntry_size:
            t->size = f.word;
            break;
        case PRT_TF_BundleEntry_crc32c:
            t->crc = (uint32_t)f.word;
            break;
        case PRT_TF_BundleEntry_slices:
            t->slices++;
            break;
        default:
            break;
        }
    }
    return w.status;
}

poprt_status prt_bundle_describe(const prt_bundle *b, const prt_sorted_entry *entry,
    prt_bundle_tensor *out)
{
    *out = (prt_bundle_tensor){ .key = entry->key, .count = 1, .entry = entry->value };
    return prt_bundle_explain(b, entry->key, describe(out));
}

static poprt_status fail_missing(const prt_bundle *b, prt_str key)
{
    size_t count = prt_size_min(b->index.count, MAX_NEAREST), names = 0;
    const char **list = PRT_NEW_N(b->arena, const char *, count);
    const char *name = prt_arena_text(b->arena, key.data, key.size);
    if (list == NULL || name == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const prt_str known = b->index.entries[i].key;
        if (known.size == 0 || known.data[0] == '\0')
            continue;
        list[names] = prt_arena_text(b->arena, known.data, known.size);
        if (list[names++] == NULL)
            return POPRT_E_NOMEM;
    }
    return prt_fail_in_file(prt_fail_nearest(name, list, names,
                                "the checkpoint has no tensor of this key"),
        b->name);
}

poprt_status prt_bundle_find(prt_bundle *b, prt_str key, prt_bundle_tensor *out)
{
    const prt_sorted_entry *entry = key.size != 0 ? prt_sorted_table_find(&b->index, key) : NULL;
    return entry != NULL ? prt_bundle_describe(b, entry, out) : fail_missing(b, key);
}
