/* SPDX-License-Identifier: MIT */
/* attr.h — attributes of nodes, decoded from AttrValue messages when they are read. */
#ifndef PRT_TENSORFLOW_ATTR_H
#define PRT_TENSORFLOW_ATTR_H

#include "op/op.h"
#include "tensorflow/wire.h"

typedef enum prt_tf_attr_kind {
    PRT_TF_ATTR_none,
    PRT_TF_ATTR_s,
    PRT_TF_ATTR_i,
    PRT_TF_ATTR_f,
    PRT_TF_ATTR_b,
    PRT_TF_ATTR_type,
    PRT_TF_ATTR_shape,
    PRT_TF_ATTR_tensor,
    PRT_TF_ATTR_placeholder, /* the caller of the function has the value under the name `s` */
    PRT_TF_ATTR_func,
    PRT_TF_ATTR_list
} prt_tf_attr_kind;

typedef struct prt_tf_attr_value {
    prt_tf_attr_kind kind;
    int64_t i; /* also of bool and type */
    float f;
    prt_str s; /* also the name of a placeholder, and of a function that was not read from a file */
    prt_bytes bytes; /* message of a shape, tensor, function or list */
    prt_i64s ints;   /* list of ints, bools or types of a value that was not read from a file */
    prt_f32s floats; /* list of floats of such a value */
} prt_tf_attr_value;

/* An attribute: its message, or its value if the node was not read from a GraphDef. */
typedef struct prt_tf_attr {
    prt_str name;
    prt_bytes bytes;
    uint32_t depth;
    const prt_tf_attr_value *value;
} prt_tf_attr;

/* A function with its attributes, from an attribute of kind func. */
typedef struct prt_tf_func {
    prt_str name;
    const prt_tf_attr *attrs;
    uint32_t n_attrs;
} prt_tf_func;

const prt_tf_attr *prt_tf_attr_find(const prt_tf_attr *attrs, uint32_t count, prt_str name);
poprt_status prt_tf_attr_read(const prt_tf_attr *attr, prt_tf_attr_value *out);

/* Reads the entries of an attribute map, field `number` of a message. */
poprt_status prt_tf_attrs_read(prt_arena *arena, prt_bytes bytes, prt_tf_message message,
    uint32_t number, uint32_t depth, const prt_tf_attr **out, uint32_t *count);

/* Read a list of numbers (ints, bools, types), of floats, of texts or of functions. */
poprt_status prt_tf_list_ints(prt_arena *arena, const prt_tf_attr_value *v, uint32_t depth,
    prt_i64s *out);
poprt_status prt_tf_list_floats(prt_arena *arena, const prt_tf_attr_value *v, uint32_t depth,
    prt_f32s *out);
poprt_status prt_tf_list_texts(prt_arena *arena, const prt_tf_attr_value *v, uint32_t depth,
    prt_strs *out);
poprt_status prt_tf_list_funcs(prt_arena *arena, const prt_tf_attr_value *v, uint32_t depth,
    prt_tf_func **out, uint32_t *count);
poprt_status prt_tf_func_read(prt_arena *arena, prt_bytes bytes, uint32_t depth, prt_tf_func *out);

/* Reads a TensorShapeProto: sets `rank` to PRT_RANK_UNKNOWN, or fills `dims` with numbers and
 * PRT_DIM_UNKNOWN. Fails with a rank above PRT_MAX_RANK. */
poprt_status prt_tf_shape_read(prt_bytes bytes, uint32_t depth, int32_t *rank,
    int64_t dims[PRT_MAX_RANK]);

/* Returns the element type of a DataType number (a reference to it too), PRT_DTYPE_undefined for
 * one that no tensor of ONNX has. */
int32_t prt_tf_dtype_of(int64_t type);

enum { PRT_TF_TYPE_resource = 20, PRT_TF_TYPE_variant = 21, PRT_TF_TYPE_ref = 100 };

#endif
