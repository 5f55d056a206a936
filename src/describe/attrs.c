/* SPDX-License-Identifier: MIT */
/* attrs.c — attributes of an operator as members of a JSON object. */
#include "describe/describe.h"
#include "op/op.h"
#include "op/words.h"

static void put_attr(prt_json_out *out, const prt_dims *dims, const prt_attr_def *row,
    const void *field)
{
    const char *name = prt_attr_name(row);
    char text[PRT_SINK_LINE];
    switch (prt_attr_outer_kind(row->kind)) {
    case PRT_ATTR_i64:
        prt_json_put_i64(out, name, *(const int64_t *)field);
        break;
    case PRT_ATTR_f32:
        prt_json_put_f64(out, name, (double)*(const float *)field);
        break;
    case PRT_ATTR_str:
        prt_json_put_text(out, name, prt_attr_text(row->kind, field));
        break;
    case PRT_ATTR_i64s:
        prt_json_open(out, name, '[');
        for (uint32_t i = 0; i < ((const prt_i64s *)field)->count; i++)
            prt_json_put_i64(out, NULL, ((const prt_i64s *)field)->data[i]);
        prt_json_close(out, ']');
        break;
    case PRT_ATTR_f32s:
        prt_json_open(out, name, '[');
        for (uint32_t i = 0; i < ((const prt_f32s *)field)->count; i++)
            prt_json_put_f64(out, NULL, (double)((const prt_f32s *)field)->data[i]);
        prt_json_close(out, ']');
        break;
    case PRT_ATTR_strs:
        prt_json_open(out, name, '[');
        for (uint32_t i = 0; i < ((const prt_strs *)field)->count; i++)
            prt_json_put_text(out, NULL, ((const prt_strs *)field)->data[i]);
        prt_json_close(out, ']');
        break;
    case PRT_ATTR_type:
        prt_type_print(dims, *(const prt_type *const *)field, text, sizeof(text));
        prt_json_put_text(out, name, prt_str_of(text));
        break;
    default: /* subgraphs are listed separately; of tensors, only the type is written */
        break;
    }
}

void prt_describe_attrs(prt_json_out *out, const prt_dims *dims, const prt_op_def *def,
    const void *attrs)
{
    for (uint32_t i = 0; i < def->n_attrs; i++)
        if (prt_attr_given(attrs, i))
            put_attr(out, dims, &def->attrs[i], (const char *)attrs + def->attrs[i].offset);
}
