/* SPDX-License-Identifier: MIT */
/* schema.c — the tables of tflite.def and operators.def as data. */
#include "tflite/schema.h"

const prt_flat_message prt_tflite_messages[] = {
#define TABLE(table, group, type) { #table, group, type, PRT_TFLITE_##table##_first },
#include "tflite/tflite.def"
    { "", 0, 0, PRT_TFLITE_FIELDS },
};

const prt_flat_field prt_tflite_fields[] = {
#define FIELD(table, slot, kind, name, fallback) { #name, slot, PRT_FLAT_##kind, fallback },
#include "tflite/tflite.def"
};

const prt_tflite_row prt_tflite_rows[] = {
#define OP(code, name, options) [code] = { #name, PRT_TFLITE_##options },
#include "tflite/operators.def"
};

int32_t prt_tflite_dtype(int64_t type)
{
    static const uint8_t dtypes[] = {
#define TYPE(number, dtype) [number] = PRT_DTYPE_##dtype,
#include "tflite/tflite.def"
    };
    return type >= 0 && type < (int64_t)sizeof(dtypes) ? dtypes[type] : -1;
}
