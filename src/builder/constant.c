/* SPDX-License-Identifier: MIT */
/* constant.c — the operator Constant: its value becomes a constant of the main graph. */
#include "builder/builder.h"
#include "converter/history.h"

static const struct {
    const char *name;
    int32_t kind;
} values[] = { { "value", POPRT_ATTR_TENSOR }, { "value_int", POPRT_ATTR_INT },
    { "value_ints", POPRT_ATTR_INTS }, { "value_float", POPRT_ATTR_FLOAT },
    { "value_floats", POPRT_ATTR_FLOATS }, { "value_string", POPRT_ATTR_STRING },
    { "value_strings", POPRT_ATTR_STRINGS } };

/* Returns the attribute with the value; NULL for another set of attributes. */
static const poprt_attr *find_value(const poprt_builder_op_info *op)
{
    for (size_t i = 0; op->n_attrs == 1 && i < PRT_COUNT_OF(values); i++)
        if (strcmp(values[i].name, op->attrs->name) == 0 && values[i].kind == op->attrs->kind)
            return op->attrs;
    return NULL;
}

static poprt_tensor tensor_of(int32_t dtype, const void *data, size_t size, uint32_t rank,
    const int64_t *dims)
{
    return (poprt_tensor){ .data = (void *)(uintptr_t)data,
        .size = size,
        .dims = dims,
        .rank = rank,
        .dtype = dtype };
}

/* `dim` and `text` are storage of the caller for the result. */
static poprt_tensor value_of(const poprt_attr *a, int64_t *dim, poprt_string *text)
{
    *dim = a->count;
    switch (a->kind) {
    case POPRT_ATTR_INT:
        return tensor_of(POPRT_DTYPE_INT64, &a->integer, sizeof(int64_t), 0, NULL);
    case POPRT_ATTR_FLOAT:
        return tensor_of(POPRT_DTYPE_FLOAT32, &a->real, sizeof(float), 0, NULL);
    case POPRT_ATTR_INTS:
        return tensor_of(POPRT_DTYPE_INT64, a->ints, a->count * sizeof(int64_t), 1, dim);
    case POPRT_ATTR_FLOATS:
        return tensor_of(POPRT_DTYPE_FLOAT32, a->floats, a->count * sizeof(float), 1, dim);
    case POPRT_ATTR_STRING:
        *text = (poprt_string){ a->string, a->count };
        return tensor_of(POPRT_DTYPE_STRING, text, sizeof(*text), 0, NULL);
    case POPRT_ATTR_STRINGS:
        return tensor_of(POPRT_DTYPE_STRING, poprt_attr_object(a), a->count * sizeof(poprt_string),
            1, dim);
    default:
        return *(const poprt_tensor *)poprt_attr_object(a);
    }
}

poprt_status prt_builder_constant_op(poprt_builder *b, const poprt_builder_op_info *op,
    poprt_id *out)
{
    prt_str name;
    int64_t dim;
    poprt_string text;
    for (uint32_t i = 0; i < op->n_attrs; i++)
        PRT_TRY(prt_builder_check_attr(b, &op->attrs[i]));
    const poprt_attr *a = find_value(op);
    if (op->n_inputs + op->n_more_inputs != 0 || op->n_outputs != 1 || a == NULL)
        return prt_fail(POPRT_E_ARG, op->name != NULL ? op->name : "Constant",
            "Constant: needs no input, one output, and one of the attributes value, value_int, "
            "value_ints, value_float, value_floats, value_string and value_strings");
    const int64_t opset = prt_module_opset(prt_onnx_append_module(b->root->module), PRT_STR(""));
    if (!prt_history_has_attr(PRT_STR("Constant"), opset, a->name))
        return prt_fail(POPRT_E_UNSUPPORTED, op->name != NULL ? op->name : "Constant",
            "Constant of opset %lld has no attribute '%s'; accepted: value", (long long)opset,
            a->name);
    if (op->output_names != NULL && op->output_names[0] == NULL)
        return prt_fail(POPRT_E_ARG, "output_names", "entry 0 is NULL");
    PRT_TRY(op->output_names != NULL
            ? prt_builder_take_name(b, op->output_names[0], &name)
            : prt_builder_make_name(b, op->name != NULL ? op->name : "Constant", true, 0, &name));
    const poprt_tensor t = value_of(a, &dim, &text);
    return prt_builder_contents(b, PRT_BUILT_CONSTANT, name, &t, 0, out);
}
