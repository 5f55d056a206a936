/* SPDX-License-Identifier: MIT */
/*
 * poprt/attr.h — types of values and attributes of operators, for the interfaces that make or
 * extend models: poprt/builder.h and poprt/plugin.h.
 */
#ifndef POPRT_ATTR_H
#define POPRT_ATTR_H

#include "poprt/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { POPRT_PLUGIN_MAX_RANK = 8 };

/*
 * Type of a value. A dim below 0 is not a number yet: -1 is unknown, and other values stand for
 * expressions. An expression has the same value everywhere in one model; a plug-in may compare it
 * and pass it on, but not interpret it. `rank` is -1 if it is unknown. `dtype` may be
 * POPRT_DTYPE_UNDEFINED. The layout is frozen.
 */
typedef struct poprt_type {
    int32_t dtype; /* POPRT_DTYPE_* */
    int32_t rank;
    int64_t dims[POPRT_PLUGIN_MAX_RANK];
} poprt_type;

/* Kinds of attributes. */
enum {
    POPRT_ATTR_INT = 1,
    POPRT_ATTR_FLOAT = 2,
    POPRT_ATTR_STRING = 3,
    POPRT_ATTR_INTS = 4,
    POPRT_ATTR_FLOATS = 5,
    POPRT_ATTR_STRINGS = 6,
    POPRT_ATTR_TENSOR = 7,
    POPRT_ATTR_TYPE = 8, /* the type of a tensor */
    POPRT_ATTR_GRAPH = 9 /* a subgraph: of poprt_builder_create_subgraph, or of a plug-in's node */
};

/*
 * An attribute. `kind` selects the member that holds its value. The layout is frozen, so the kinds
 * STRINGS, TENSOR, TYPE and GRAPH have their pointer in `string`: poprt_attr_strings and the
 * functions below it set it, poprt_attr_object returns it.
 */
typedef struct poprt_attr {
    const char *name;
    int32_t kind;   /* POPRT_ATTR_* */
    uint32_t count; /* entries of a list, or bytes of `string` */
    int64_t integer;
    float real;
    const char *string; /* not necessarily ended by a zero byte */
    const int64_t *ints;
    const float *floats;
} poprt_attr;

struct poprt_builder;

/* A conversion that compiles without warnings in C and in C++. */
#ifdef __cplusplus
#define POPRT_CAST(type, value) static_cast<type>(value)
#else
#define POPRT_CAST(type, value) ((type)(value))
#endif

/* The following functions return an attribute that refers to its arguments and copies nothing.
 * They are inline, so that plug-ins may use them. */
static inline poprt_attr poprt_attr_of(const char *name, int32_t kind, uint32_t count,
    const void *object)
{
    poprt_attr a = { NULL, 0, 0, 0, 0.0f, NULL, NULL, NULL };
    a.name = name;
    a.kind = kind;
    a.count = count;
    a.string = POPRT_CAST(const char *, object);
    return a;
}

static inline poprt_attr poprt_attr_int(const char *name, int64_t value)
{
    poprt_attr a = poprt_attr_of(name, POPRT_ATTR_INT, 0, NULL);
    a.integer = value;
    return a;
}

static inline poprt_attr poprt_attr_float(const char *name, float value)
{
    poprt_attr a = poprt_attr_of(name, POPRT_ATTR_FLOAT, 0, NULL);
    a.real = value;
    return a;
}

/* `text` ends in a zero byte. */
static inline poprt_attr poprt_attr_string(const char *name, const char *text)
{
    uint32_t size = 0;
    while (text != NULL && text[size] != 0)
        size++;
    return poprt_attr_of(name, POPRT_ATTR_STRING, size, text);
}

static inline poprt_attr poprt_attr_ints(const char *name, const int64_t *values, uint32_t count)
{
    poprt_attr a = poprt_attr_of(name, POPRT_ATTR_INTS, count, NULL);
    a.ints = values;
    return a;
}

static inline poprt_attr poprt_attr_floats(const char *name, const float *values, uint32_t count)
{
    poprt_attr a = poprt_attr_of(name, POPRT_ATTR_FLOATS, count, NULL);
    a.floats = values;
    return a;
}

static inline poprt_attr poprt_attr_strings(const char *name, const poprt_string *values,
    uint32_t count)
{
    return poprt_attr_of(name, POPRT_ATTR_STRINGS, count, values);
}

static inline poprt_attr poprt_attr_tensor(const char *name, const poprt_tensor *value)
{
    return poprt_attr_of(name, POPRT_ATTR_TENSOR, 1, value);
}

static inline poprt_attr poprt_attr_type(const char *name, const poprt_type *value)
{
    return poprt_attr_of(name, POPRT_ATTR_TYPE, 1, value);
}

static inline poprt_attr poprt_attr_graph(const char *name, const struct poprt_builder *value)
{
    return poprt_attr_of(name, POPRT_ATTR_GRAPH, 1, value);
}

/* Returns the poprt_string array, poprt_tensor, poprt_type, or poprt_builder (of a plug-in's node:
 * poprt_graph) of an attribute. */
static inline const void *poprt_attr_object(const poprt_attr *attr)
{
    return attr->string;
}

#ifdef __cplusplus
}
#endif
#endif
