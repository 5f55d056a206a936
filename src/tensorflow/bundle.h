/* SPDX-License-Identifier: MIT */
/*
 * bundle.h — reads the checkpoints of TensorFlow ("tensor bundles"): PREFIX.index, which is a
 * sorted string table, and the shards PREFIX.data-00000-of-00001 that it points into.
 */
#ifndef PRT_TENSORFLOW_BUNDLE_H
#define PRT_TENSORFLOW_BUNDLE_H

#include "base/blob.h"
#include "tensor/type.h"
#include "tensorflow/sorted_table.h"

typedef struct prt_bundle {
    prt_sorted_table index; /* key "": header; keys that begin with a zero byte: single slices */
    const char *name;       /* path of the index below the folder, for errors */
    /* private to bundle.c and bundle_read.c */
    prt_arena *arena;
    const char *folder, *owner, *prefix;
    prt_blob *file;    /* the index */
    prt_blob **shards; /* NULL: not mapped yet */
    size_t shard_count;
    size_t mapped, copied; /* bytes of mapped shards, and of them that were copied */
} prt_bundle;

/* One tensor of a checkpoint: its description, without its contents. */
typedef struct prt_bundle_tensor {
    prt_str key;
    int32_t dtype; /* PRT_DTYPE_undefined: a type that ONNX does not have */
    uint32_t rank;
    int64_t dims[PRT_MAX_RANK];
    size_t count; /* number of elements */
    /* Where the contents are stored. A partitioned tensor has slices instead: `entry` has them. */
    uint64_t shard, offset, size;
    uint32_t crc;
    size_t slices;
    prt_bytes entry; /* BundleEntryProto */
} prt_bundle_tensor;

/* A part of a tensor: [start, start + length) of each axis. */
typedef struct prt_bundle_part {
    int64_t start[PRT_MAX_RANK], length[PRT_MAX_RANK];
} prt_bundle_part;

/*
 * Opens the checkpoint with the path `prefix` below `folder`, and reads its index. Shards are
 * mapped when a tensor of theirs is read. `owner` is the path of the model, for symbolic links (see
 * prt_file_map_below). The bundle lies in the arena; prt_bundle_close releases its files.
 */
poprt_status prt_bundle_open(prt_arena *arena, const char *folder, const char *owner,
    const char *prefix, prt_bundle **out);
void prt_bundle_close(prt_bundle *bundle); /* NULL is allowed */

/* Describes the tensor of a key. Fails with POPRT_E_NOT_FOUND and the nearest keys where there is
 * none. */
poprt_status prt_bundle_find(prt_bundle *bundle, prt_str key, prt_bundle_tensor *out);

/* Describes the tensor of an entry of the index. */
poprt_status prt_bundle_describe(const prt_bundle *bundle, const prt_sorted_entry *entry,
    prt_bundle_tensor *out);

/* Maps a shard if it is not mapped yet. The bundle owns the blob. */
poprt_status prt_bundle_shard(prt_bundle *bundle, uint64_t shard, prt_blob **out);

/* Adds the key and the index to a failure that names no subject and no file; returns `status`. */
poprt_status prt_bundle_explain(const prt_bundle *bundle, prt_str key, poprt_status status);

/*
 * Returns the contents of a tensor, or of a part of it (NULL: all), which the caller releases: the
 * elements in memory layout, or an array of poprt_string whose characters live as long as the blob.
 * Numbers are a view of the mapped shard where they are in one piece there, unless they are few and
 * misaligned. With `check`, contents that do not match their checksum are refused.
 */
poprt_status prt_bundle_read(prt_bundle *bundle, const prt_bundle_tensor *tensor,
    const prt_bundle_part *part, bool check, prt_blob **out);

/* Returns the TrackableObjectGraph of a TensorFlow 2 checkpoint, a view of a shard that lives until
 * the bundle is closed; empty where the checkpoint has none. */
poprt_status prt_bundle_object_graph(prt_bundle *bundle, prt_bytes *out);

#endif
