/* SPDX-License-Identifier: MIT */
/* schema.c — the tables of tflite.def and operators.def as data. */
#include "tflite/schema.h"

#include <stddef.h>

const prt_flat_message prt_tflite_messages[] = {
#define TABLE(table, group, type) { #table, group, type, PRT_TFLITE_##table##_first },
#include "tflite/tflite.def"
    { "", 0, 0, PRT_TFLITE_FIELDS },
};

const prt_flat_field prt_tflite_fields[] = {
#define FIELD(table, slot, kind, name, fallback) { #name, slot, PRT_FLAT_##kind, fallback },
#include "tflite/tflite.def"
};

/* The names of all operators, one behind the other. */
typedef struct name_list {
#define OP(code, name, options) char name[sizeof(#name)];
#include "tflite/operators.def"
} name_list;
static const name_list names = {
#define OP(code, name, options) #name,
#include "tflite/operators.def"
};

static const struct {
    uint16_t name; /* its place among the names */
    uint8_t options;
} builtins[] = {
#define OP(code, name, options) [code] = { offsetof(name_list, name), PRT_TFLITE_##options },
#include "tflite/operators.def"
};

const char *prt_tflite_builtin_name(int32_t code)
{
    return (const char *)&names + builtins[code].name;
}

const prt_flat_message *prt_tflite_builtin_options(int32_t code)
{
    return &prt_tflite_messages[builtins[code].options];
}

int32_t prt_tflite_dtype(int64_t type)
{
    static const uint8_t dtypes[] = {
#define TYPE(number, dtype) [number] = PRT_DTYPE_##dtype,
#include "tflite/tflite.def"
    };
    return type >= 0 && type < (int64_t)sizeof(dtypes) ? dtypes[type] : -1;
}
