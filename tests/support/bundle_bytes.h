/* SPDX-License-Identifier: MIT */
/* bundle_bytes.h — writes sorted string tables and checkpoints for tests of TensorFlow's reader.
 * All memory is kept until the test's process ends. */
#ifndef PRT_TESTS_SUPPORT_BUNDLE_BYTES_H
#define PRT_TESTS_SUPPORT_BUNDLE_BYTES_H

#include "support/onnx_bytes.h"

typedef struct table_item {
    prt_str key;
    const msg *value;
} table_item;

/* Returns zeroed memory. */
void *kept_bytes(size_t size);

/* Writes a table of items in ascending order of their keys, `in_block` in each data block. */
msg *table_bytes(const table_item *items, size_t count, size_t in_block, bool compressed);

/* Compresses into Snappy's format: literals, and copies of the nearest earlier match. */
msg *snappy_bytes(const msg *from);

/* Appends a block with its compression and checksum; returns the offset of the block. */
size_t table_block(msg *file, const msg *content, unsigned char compression);

/* Appends the footer with the handles of the two blocks. */
void table_footer(msg *file, const size_t metaindex[2], const size_t index[2]);

/* A BundleHeaderProto, a BundleEntryProto, and a TensorSliceProto of a slice of rank 2; a length of
 * -1 is the whole axis. */
msg *bundle_header(int64_t shards, int64_t endianness);
msg *bundle_entry(int32_t dtype, uint32_t rank, const int64_t *dims, int64_t offset, int64_t size,
    uint32_t crc);
msg *bundle_slice(int64_t start0, int64_t length0, int64_t start1, int64_t length1);

/* The stored form of strings, and the checksum of their entry. */
msg *bundle_strings(const char *const *texts, size_t count, uint32_t *crc);

#endif
