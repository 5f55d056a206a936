/* SPDX-License-Identifier: MIT */
/* schema.h — the tables of tflite.def and operators.def. */
#ifndef PRT_TFLITE_SCHEMA_H
#define PRT_TFLITE_SCHEMA_H

#include "num/dtype.h"
#include "tflite/flatbuffer.h"

/* PRT_TFLITE_<table>_<field> is the index of a field in prt_tflite_fields. */
enum {
#define TABLE(table, group, type)                                                                  \
    PRT_TFLITE_##table##_first, PRT_TFLITE_##table##_back = PRT_TFLITE_##table##_first - 1,
#define FIELD(table, slot, kind, name, fallback) PRT_TFLITE_##table##_##name,
#include "tflite/tflite.def"
    PRT_TFLITE_FIELDS
};

/* PRT_TFLITE_<table> is the index of a table in prt_tflite_messages. */
enum {
#define TABLE(table, group, type) PRT_TFLITE_##table,
#include "tflite/tflite.def"
};

/* PRT_TFLITE_OP_<name> is the code of an operator. */
enum {
#define OP(code, name, options) PRT_TFLITE_OP_##name = (code),
#include "tflite/operators.def"
    PRT_TFLITE_OPERATORS
};

typedef enum prt_tflite_activation {
    PRT_TFLITE_NO_ACTIVATION,
    PRT_TFLITE_RELU,
    PRT_TFLITE_RELU_N1_TO_1,
    PRT_TFLITE_RELU6,
    PRT_TFLITE_TANH,
    PRT_TFLITE_SIGN_BIT
} prt_tflite_activation;

enum { PRT_TFLITE_SAME, PRT_TFLITE_VALID }; /* padding */

extern const prt_flat_message prt_tflite_messages[]; /* and a row that ends the last table */
extern const prt_flat_field prt_tflite_fields[PRT_TFLITE_FIELDS];

/* Return the name of a builtin operator, and the table of its options. The code must be below
 * PRT_TFLITE_OPERATORS. */
const char *prt_tflite_builtin_name(int32_t code);
const prt_flat_message *prt_tflite_builtin_options(int32_t code);

#define PRT_TFLITE_MESSAGE(table) (&prt_tflite_messages[PRT_TFLITE_##table])
#define PRT_TFLITE_FIELD(table, field) (&prt_tflite_fields[PRT_TFLITE_##table##_##field])

/* Read a field of a table by its names. */
#define PRT_TFLITE_INT(t, table, field) prt_flat_int(t, PRT_TFLITE_FIELD(table, field))
#define PRT_TFLITE_F32(t, table, field) prt_flat_f32(t, PRT_TFLITE_FIELD(table, field))
#define PRT_TFLITE_ITEMS(t, table, field) prt_flat_items(t, PRT_TFLITE_FIELD(table, field))
#define PRT_TFLITE_TEXT(t, table, field) prt_flat_text(t, PRT_TFLITE_FIELD(table, field))

/* Returns the PRT_DTYPE_* of a TensorType: PRT_DTYPE_undefined for resources and variants, -1 for a
 * number that is not a type. */
int32_t prt_tflite_dtype(int64_t type);

#endif
