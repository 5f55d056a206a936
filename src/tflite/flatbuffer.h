/* SPDX-License-Identifier: MIT */
/*
 * flatbuffer.h — a bounds-checked reader of FlatBuffers.
 *
 * A table lies at a position of the file. It begins with the distance back to its vtable, which
 * holds for each slot the offset of a field, or 0 for a field that has its default. Texts, vectors
 * and tables are referred to by offsets that point forward. Every offset, length and alignment is
 * checked before the bytes behind it are read; nothing is copied.
 *
 * The first failure is recorded with the table, the field and the position, and stays: all later
 * calls return defaults and empty vectors, so that a caller checks `status` once after a loop.
 *
 * Tables and vectors may share bytes, and a small file can so describe a large tree. `work` bounds
 * the tables, items and characters that are read to a multiple of the size of the file.
 */
#ifndef PRT_TFLITE_FLATBUFFER_H
#define PRT_TFLITE_FLATBUFFER_H

#include "base/str.h"

typedef enum prt_flat_kind {
    PRT_FLAT_bool,
    PRT_FLAT_u8,
    PRT_FLAT_i8,
    PRT_FLAT_i32,
    PRT_FLAT_u32,
    PRT_FLAT_u64,
    PRT_FLAT_f32,
    PRT_FLAT_subgraph, /* i32: index of a subgraph */
    PRT_FLAT_dtype,    /* i8: a TensorType */
    PRT_FLAT_text,
    PRT_FLAT_table,
    PRT_FLAT_tables, /* the kinds from here to f32s are vectors */
    PRT_FLAT_u8s,
    PRT_FLAT_u16s,
    PRT_FLAT_i32s,
    PRT_FLAT_i64s,
    PRT_FLAT_f32s,
    PRT_FLAT_union /* a type in this slot, and a table in the next one */
} prt_flat_kind;

/* A kind of table: its name, the union that it belongs to (0: not to any), its type there, and the
 * index of its first field in the table of all fields. Its fields end where those of the next one
 * begin.
 */
typedef struct prt_flat_message {
    char name[36];
    uint8_t group, type;
    uint16_t first;
} prt_flat_message;

/* A field of a table: its name, its slot in the vtable, its kind, and its default. */
typedef struct prt_flat_field {
    char name[25];
    uint8_t slot, kind, fallback;
} prt_flat_field;

/* A file being read. */
typedef struct prt_flat {
    const unsigned char *data;
    size_t size;
    uint64_t work; /* tables, items and characters that may still be read */
    poprt_status status;
} prt_flat;

/* A table whose extent and vtable are checked. An absent table has `at` 0 and all defaults. */
typedef struct prt_flat_table {
    prt_flat *file;
    const prt_flat_message *message;
    size_t index; /* in the vector that it was taken from, for errors */
    size_t at, vtable;
    uint32_t vtable_size, size;
} prt_flat_table;

/* A vector whose extent is checked. */
typedef struct prt_flat_vector {
    prt_flat_table owner;
    const prt_flat_field *field;
    const unsigned char *data; /* the items; may be unaligned */
    size_t count;
} prt_flat_vector;

/* Begins to read a file. */
prt_flat prt_flat_open(const void *data, size_t size);

/* Returns the table that the first bytes of the file point to. */
prt_flat_table prt_flat_root(prt_flat *file, const prt_flat_message *message);

static inline bool prt_flat_present(const prt_flat_table *table)
{
    return table->at != 0;
}

/* Return a field or its default. A u64 above INT64_MAX fails. */
int64_t prt_flat_int(const prt_flat_table *table, const prt_flat_field *field);
float prt_flat_f32(const prt_flat_table *table, const prt_flat_field *field);
/* Returns a view; `data` is NULL where the field is absent. */
prt_str prt_flat_text(const prt_flat_table *table, const prt_flat_field *field);
prt_flat_table prt_flat_child(const prt_flat_table *table, const prt_flat_field *field,
    const prt_flat_message *message);
/* Returns the table of a union, which must have the type of `message`; absent if the union is. */
prt_flat_table prt_flat_union(const prt_flat_table *table, const prt_flat_field *field,
    const prt_flat_message *message);
/* Returns the type in a union; 0 where the union is absent. */
uint32_t prt_flat_union_type(const prt_flat_table *table, const prt_flat_field *field);

/* Returns a vector, empty where the field is absent. */
prt_flat_vector prt_flat_items(const prt_flat_table *table, const prt_flat_field *field);

/* Return item `index`, which must be below the count. */
int64_t prt_flat_item_int(const prt_flat_vector *vector, size_t index);
float prt_flat_item_f32(const prt_flat_vector *vector, size_t index);
prt_flat_table prt_flat_item(const prt_flat_vector *vector, size_t index,
    const prt_flat_message *message);

/* Records a failure about a field (NULL: about the table), unless there is one already; returns the
 * status of the file. */
poprt_status prt_flat_fail(const prt_flat_table *table, const prt_flat_field *field,
    poprt_status status, const char *what);

#endif
