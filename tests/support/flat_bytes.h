/* SPDX-License-Identifier: MIT */
/*
 * flat_bytes.h — writes FlatBuffers for tests of the TFLite reader. Offsets point forward, so a
 * table or vector is created before the things that it refers to. All memory is kept until the
 * test's process ends. Positions are returned as numbers.
 */
#ifndef PRT_TESTS_SUPPORT_FLAT_BYTES_H
#define PRT_TESTS_SUPPORT_FLAT_BYTES_H

#include "tflite/model.h"

typedef struct flat {
    unsigned char *data;
    size_t size, capacity;
    size_t root;
} flat;

/* Begins a file whose root is a Model of version 3. */
flat *flat_new(void);

/* Appends a table without fields. */
size_t flat_table(flat *f);

/* Set a field of the table at `t`. */
void flat_int(flat *f, size_t t, const prt_flat_field *field, int64_t value);
void flat_f32(flat *f, size_t t, const prt_flat_field *field, float value);
void flat_text(flat *f, size_t t, const prt_flat_field *field, const char *text);
void flat_ints(flat *f, size_t t, const prt_flat_field *field, size_t count, const int64_t *values);
void flat_bytes(flat *f, size_t t, const prt_flat_field *field, const void *data, size_t size);
/* Appends a vector of `count` tables that flat_item sets. */
size_t flat_tables(flat *f, size_t t, const prt_flat_field *field, size_t count);
/* Append a table and return its position: item `index` of a vector, a field, a union. */
size_t flat_item(flat *f, size_t vector, size_t index);
size_t flat_child(flat *f, size_t t, const prt_flat_field *field);
size_t flat_union(flat *f, size_t t, const prt_flat_field *field, const prt_flat_message *message);

/* Makes the item of a vector refer to a table that exists. */
void flat_share(flat *f, size_t vector, size_t index, size_t t);

/* The file as a blob over its bytes, which is kept too. */
prt_blob *flat_blob(flat *f);

/* A model, built part by part. The numbers of its parts are fixed at the start. */
typedef struct tflite {
    flat *f;
    size_t codes, buffers, subgraphs, signatures; /* vectors */
    size_t tensors, operators;                    /* vectors of the last subgraph */
    size_t subgraph, op, code;                    /* the last ones */
} tflite;
tflite tflite_model(size_t codes, size_t buffers, size_t subgraphs);
void tflite_code(tflite *m, size_t index, int64_t code);
void tflite_data(tflite *m, size_t index, const void *data, size_t size);
void tflite_subgraph(tflite *m, size_t index, size_t tensors, size_t operators);
/* Returns the table of a tensor of the last subgraph. */
size_t tflite_tensor(tflite *m, size_t index, const char *name, int64_t type, size_t rank,
    const int64_t *dims, size_t buffer);
/* An operator with up to two inputs (-1: absent) and one output. */
void tflite_operator(tflite *m, size_t index, size_t code, int64_t in0, int64_t in1, int64_t out);
/* Appends the options of the last operator. */
size_t tflite_options(tflite *m, const prt_flat_message *message);
/* Sets the inputs and outputs of the last subgraph to one tensor each. */
void tflite_ports(tflite *m, int64_t in, int64_t out);

/* x + w of float[2,3], with w in buffer 1; the smallest model with each kind of part. */
tflite tflite_sample(void);

#endif
