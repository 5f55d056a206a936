/* SPDX-License-Identifier: MIT */
/* output_type.c — the element type of a node's output, from its attributes and its operator. */
#include "tensorflow/interface.h"

/* Reads attribute `name` as a type, or as a list of types, whose entry `index` is read. Returns
 * false if the node lacks it. */
static bool type_of_attr(prt_tf_converter *c, const prt_tf_node *node, prt_str name, uint32_t index,
    uint32_t *count, int32_t *out)
{
    prt_tf_attr_value v;
    const prt_tf_attr *attr = prt_tf_attr_find(node->attrs, node->n_attrs, name);
    if (attr == NULL || prt_tf_attr_read(attr, &v) != POPRT_OK)
        return false;
    *count = v.kind == PRT_TF_ATTR_i && v.i > 0 && v.i < UINT16_MAX ? (uint32_t)v.i : 0;
    if (v.kind == PRT_TF_ATTR_type)
        *out = prt_tf_dtype_of(v.i);
    if (v.kind == PRT_TF_ATTR_list) {
        prt_i64s list;
        if (prt_tf_list_ints(c->arena, &v, attr->depth + 1, &list) != POPRT_OK)
            return false;
        *count = list.count;
        if (index < list.count)
            *out = prt_tf_dtype_of(list.data[index]);
    }
    return v.kind != PRT_TF_ATTR_placeholder;
}

/* Finds output `output` among the lists that the row of an operator names, as "name*types". */
static bool type_in_list(prt_tf_converter *c, const prt_tf_node *node, uint32_t output,
    int32_t *out)
{
    const char *at = node->row->outputs;
    while (*at != '\0') {
        const size_t size = strcspn(at, " "), plain = strcspn(at, " *");
        uint32_t count = 1;
        const prt_str attr = { at + plain + 1, (uint32_t)(size - plain - (plain < size)) };
        if (plain < size && !type_of_attr(c, node, attr, output, &count, out))
            return false;
        if (output < count)
            return plain < size && *out != PRT_DTYPE_undefined;
        *out = PRT_DTYPE_undefined;
        output -= count;
        at += size + (at[size] == ' ');
    }
    return false;
}

/* Returns the only type that the results of an operator of the library have, if there is one. */
static int32_t only_type(uint32_t id)
{
    const prt_op_def *def = id < PRT_OP_COUNT ? prt_op_of(id) : NULL;
    for (uint32_t i = 0; def != NULL && i < def->n_types; i++)
        for (int32_t dtype = 1; dtype < PRT_DTYPE_COUNT; dtype++)
            if (strcmp(def->types[i].var, def->out[0].var) == 0 &&
                def->types[i].set == (uint64_t)1 << dtype)
                return dtype;
    return PRT_DTYPE_undefined;
}

int32_t prt_tf_output_type(prt_tf_converter *c, const prt_tf_node *node, uint32_t output)
{
    static const char *const first[] = { "DstT", "out_type", "output_type", "Tout",
        "output_dtype" };
    static const char *const other[] = { "index_type", "out_idx" }; /* of output 1 */
    static const char *const last[] = { "dtype", "T" };
    static const char *const sizes[] = { "Shape", "ShapeN", "Size", "Rank" };
    static const char *const logical[] = { "All", "Any", "IsFinite", "ApproximateEqual" };
    int32_t type = PRT_DTYPE_undefined;
    uint32_t count;
    if (node->row != NULL && type_in_list(c, node, output, &type))
        return type;
    for (uint32_t i = 0; i < PRT_COUNT_OF(other); i++)
        if (output == 1 && type_of_attr(c, node, prt_str_of(other[i]), 0, &count, &type))
            return type;
    for (uint32_t i = 0; i < PRT_COUNT_OF(first); i++)
        if (type_of_attr(c, node, prt_str_of(first[i]), 0, &count, &type))
            return type;
    for (uint32_t i = 0; i < PRT_COUNT_OF(sizes); i++) /* the default of out_type */
        if (prt_str_is(node->op, sizes[i]))
            return PRT_DTYPE_i32;
    for (uint32_t i = 0; i < PRT_COUNT_OF(logical); i++)
        if (prt_str_is(node->op, logical[i]))
            return PRT_DTYPE_bool;
    if (node->row != NULL && (type = only_type(node->row->id)) != PRT_DTYPE_undefined)
        return type;
    for (uint32_t i = 0; i < PRT_COUNT_OF(last); i++)
        if (type_of_attr(c, node, prt_str_of(last[i]), 0, &count, &type))
            return type;
    if (prt_str_is(node->op, "DecodeWav"))
        return PRT_DTYPE_f32;
    return node->op.size > 6 && memcmp(node->op.data, "Decode", 6) == 0 ? PRT_DTYPE_u8
                                                                        : PRT_DTYPE_undefined;
}
