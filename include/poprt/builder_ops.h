/* SPDX-License-Identifier: MIT */
/*
 * poprt/builder_ops.h — a function for each operator, over poprt_builder_op. The functions are
 * inline: they are part of the program, not of the library.
 *
 *     poprt_conv_attrs attrs = { .strides = POPRT_INTS(2, 2), .group = poprt_int(4) };
 *     poprt_id y = poprt_op_conv(b, x, w, bias, &attrs);
 *
 *  - Inputs come in the order of ONNX; 0 is an absent one. Inputs that repeat are a count and an
 *    array.
 *  - An attribute that is not given has the default of ONNX. A struct whose members are all zero
 *    gives no attribute, and so does NULL. Numbers are given by poprt_int and poprt_float,
 * everything else by a pointer that is not NULL. `name` is the name of the operator.
 *  - Operators with one output return it. Others return the first of `n_out` outputs and write all
 *    of them to `out`, which may be NULL.
 *  - The struct has the attributes of all versions of the operator from opset 6 on. A call fails if
 *    the version of the builder's opset does not have a given one.
 *  - A function is called poprt_op_ and the name in the table of operators, in small letters, with
 * the prefix gc_ for ai.graphcore, ms_ for com.microsoft, ml_ for ai.onnx.ml, contrib_ for
 * ai.onnx.contrib and text_ for poprt.text. Other operators are added by poprt_builder_op.
 *
 * C++17 has no designated initialisers: poprt_conv_attrs attrs = {}; attrs.group = poprt_int(4);
 */
#ifndef POPRT_BUILDER_OPS_H
#define POPRT_BUILDER_OPS_H

#include "poprt/builder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- values of attributes; a value whose members are zero is not given */

typedef struct poprt_optional_int {
    int64_t value;
    int32_t given;
} poprt_optional_int;

typedef struct poprt_optional_float {
    float value;
    int32_t given;
} poprt_optional_float;

typedef struct poprt_int_list {
    const int64_t *data;
    uint32_t count;
} poprt_int_list;

typedef struct poprt_float_list {
    const float *data;
    uint32_t count;
} poprt_float_list;

typedef struct poprt_string_list {
    const poprt_string *data;
    uint32_t count;
} poprt_string_list;

static inline poprt_optional_int poprt_int(int64_t value)
{
    const poprt_optional_int made = { value, 1 };
    return made;
}

static inline poprt_optional_float poprt_float(float value)
{
    const poprt_optional_float made = { value, 1 };
    return made;
}

/* The lists refer to the arrays, which must live until the operator is added. */
static inline poprt_int_list poprt_ints(const int64_t *data, uint32_t count)
{
    const poprt_int_list made = { data, count };
    return made;
}

static inline poprt_float_list poprt_floats(const float *data, uint32_t count)
{
    const poprt_float_list made = { data, count };
    return made;
}

static inline poprt_string_list poprt_strings(const poprt_string *data, uint32_t count)
{
    const poprt_string_list made = { data, count };
    return made;
}

/* Initialiser of a poprt_string with a literal. */
#define POPRT_TEXT(literal)                                                                        \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }

/* Lists of at least one literal, in C. The list lives as long as the block that contains it. */
#ifndef __cplusplus
#define POPRT_INTS(...)                                                                            \
    {                                                                                              \
        (const int64_t[]){ __VA_ARGS__ },                                                          \
            (uint32_t)(sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))                 \
    }
#define POPRT_FLOATS(...)                                                                          \
    {                                                                                              \
        (const float[]){ __VA_ARGS__ },                                                            \
            (uint32_t)(sizeof((const float[]){ __VA_ARGS__ }) / sizeof(float))                     \
    }
#endif

/* ---- used by the functions of the operators: append a given attribute to a list */

static inline uint32_t poprt_put_int(poprt_attr *list, uint32_t n, const char *name,
    poprt_optional_int value)
{
    if (value.given != 0)
        list[n++] = poprt_attr_int(name, value.value);
    return n;
}

static inline uint32_t poprt_put_float(poprt_attr *list, uint32_t n, const char *name,
    poprt_optional_float value)
{
    if (value.given != 0)
        list[n++] = poprt_attr_float(name, value.value);
    return n;
}

static inline uint32_t poprt_put_string(poprt_attr *list, uint32_t n, const char *name,
    const char *value)
{
    if (value != NULL)
        list[n++] = poprt_attr_string(name, value);
    return n;
}

static inline uint32_t poprt_put_ints(poprt_attr *list, uint32_t n, const char *name,
    poprt_int_list value)
{
    if (value.data != NULL)
        list[n++] = poprt_attr_ints(name, value.data, value.count);
    return n;
}

static inline uint32_t poprt_put_floats(poprt_attr *list, uint32_t n, const char *name,
    poprt_float_list value)
{
    if (value.data != NULL)
        list[n++] = poprt_attr_floats(name, value.data, value.count);
    return n;
}

static inline uint32_t poprt_put_strings(poprt_attr *list, uint32_t n, const char *name,
    poprt_string_list value)
{
    if (value.data != NULL)
        list[n++] = poprt_attr_strings(name, value.data, value.count);
    return n;
}

/* A tensor, a type or a graph. */
static inline uint32_t poprt_put_object(poprt_attr *list, uint32_t n, const char *name,
    int32_t kind, const void *value)
{
    if (value != NULL)
        list[n++] = poprt_attr_of(name, kind, 1, value);
    return n;
}

/* Describes an operator without repeated inputs. */
static inline poprt_builder_op_info poprt_put_op(const char *domain, const char *op_type,
    const char *name, const poprt_id *inputs, uint32_t n_inputs, const poprt_attr *attrs,
    uint32_t n_attrs)
{
    poprt_builder_op_info op;
    op.struct_size = sizeof(op);
    op.domain = domain;
    op.op_type = op_type;
    op.name = name;
    op.inputs = inputs;
    op.attrs = attrs;
    op.output_names = NULL;
    op.n_inputs = n_inputs;
    op.n_attrs = n_attrs;
    op.n_outputs = 1;
    op.n_more_inputs = 0;
    op.more_inputs = NULL;
    return op;
}

#ifdef __cplusplus
}
#endif

#include "poprt/builder_ops_contrib.h"
#include "poprt/builder_ops_graphcore.h"
#include "poprt/builder_ops_microsoft.h"
#include "poprt/builder_ops_ml.h"
#include "poprt/builder_ops_onnx.h"

#endif
