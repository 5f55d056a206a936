/* SPDX-License-Identifier: MIT */
/*
 * sorted_table.h — reads sorted string tables in LevelDB's file format: the index of a TensorFlow
 * checkpoint.
 */
#ifndef PRT_TENSORFLOW_SORTED_TABLE_H
#define PRT_TENSORFLOW_SORTED_TABLE_H

#include "base/str.h"
#include "converter/wire.h"

typedef struct prt_sorted_entry {
    prt_str key; /* may contain any bytes */
    prt_bytes value;
} prt_sorted_entry;

typedef struct prt_sorted_table {
    const prt_sorted_entry *entries; /* in ascending order of their keys */
    size_t count;
} prt_sorted_table;

/* Reads all entries of a table and checks every block against its checksum. Keys and values are
 * views of `file` where the file has them in one piece, and lie in the arena elsewhere. Time and
 * memory are bounded by the size of the file. */
poprt_status prt_sorted_table_read(prt_arena *arena, prt_bytes file, prt_sorted_table *out);

/* Returns the entry of a key, or NULL. */
const prt_sorted_entry *prt_sorted_table_find(const prt_sorted_table *table, prt_str key);

/* Returns a CRC-32C as tables and checkpoints store it: rotated, plus a constant, so that the
 * checksum of bytes that contain checksums is still a good one. */
uint32_t prt_masked_crc(uint32_t crc);

#endif
