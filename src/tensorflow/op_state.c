/* SPDX-License-Identifier: MIT */
/* op_state.c — operators of variables and lookup tables. */
#include "tensorflow/state.h"

#include "ir/evaluate.h"
#include "tensorflow/rows.h"

/* ---- variables */

poprt_status prt_tf_row_variable(prt_tf_call *n)
{
    return prt_tf_make_resource(n, PRT_TF_variable);
}

/* A variable of TensorFlow 1: every reader of its reference reads the contents. */
poprt_status prt_tf_row_ref_variable(prt_tf_call *n)
{
    PRT_TRY(prt_tf_make_resource(n, PRT_TF_variable));
    prt_tf_set(n, 0, prt_tf_variable_read(n, (prt_tf_resource *)(uintptr_t)n->out[0].handle));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_read_variable(prt_tf_call *n)
{
    prt_tf_set(n, 0, prt_tf_variable_read(n, prt_tf_variable(n)));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_variable_shape(prt_tf_call *n)
{
    const int32_t type = prt_tf_attr_dtype(n, "out_type", PRT_DTYPE_i32);
    prt_value *shape = prt_build_shape(&n->b, prt_tf_variable_read(n, prt_tf_variable(n)));
    prt_tf_set(n, 0, prt_build_cast(&n->b, shape, type));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_is_initialized(prt_tf_call *n)
{
    const bool yes = true;
    prt_tf_set(n, 0, prt_build_tensor(&n->b, PRT_DTYPE_bool, 0, NULL, &yes));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_resource_gather(prt_tf_call *n)
{
    prt_value *contents = prt_tf_variable_read(n, prt_tf_variable(n)), *indices = prt_tf_in(n, 1);
    if (prt_tf_attr_i64(n, "batch_dims", 0) != 0)
        return prt_tf_refuse(n, "batch dimensions are not supported");
    if (contents != NULL && indices != NULL)
        prt_tf_set(n, 0, prt_build_gather(&n->b, contents, indices, 0));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_resource_gather_nd(prt_tf_call *n)
{
    prt_value *contents = prt_tf_variable_read(n, prt_tf_variable(n)), *indices = prt_tf_in(n, 1);
    if (contents != NULL && indices != NULL)
        prt_tf_set(n, 0,
            prt_build_gather_nd(&n->b, contents, prt_build_cast(&n->b, indices, PRT_DTYPE_i64), 0));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_assign_variable(prt_tf_call *n)
{
    prt_tf_resource *variable = prt_tf_variable(n);
    prt_value *value = prt_tf_in(n, 1);
    const bool add = prt_str_is(n->node->op, "AssignAddVariableOp");
    if (add || prt_str_is(n->node->op, "AssignSubVariableOp")) {
        prt_value *before = prt_tf_variable_read(n, variable);
        value = before != NULL && value != NULL
            ? prt_build_binary(&n->b, add ? PRT_OP_add : PRT_OP_sub, before, value)
            : NULL;
    }
    return prt_tf_variable_write(n, variable, value);
}

static bool op_ends_with(const prt_tf_call *n, const char *end)
{
    const prt_str op = n->node->op;
    const size_t size = strlen(end);
    return op.size >= size && memcmp(op.data + op.size - size, end, size) == 0;
}

/* Writes rows of a variable, or with Nd elements and slices. */
poprt_status prt_tf_row_resource_scatter(prt_tf_call *n)
{
    static const struct {
        const char *end, *reduction;
    } kinds[] = { { "Update", "none" }, { "Add", "add" }, { "Sub", "add" }, { "Mul", "mul" },
        { "Min", "min" }, { "Max", "max" } };
    prt_tf_resource *variable = prt_tf_variable(n);
    prt_value *before = prt_tf_variable_read(n, variable), *updates = prt_tf_in(n, 2);
    prt_value *indices = prt_build_cast(&n->b, prt_tf_in(n, 1), PRT_DTYPE_i64);
    size_t k = 0;
    if (before == NULL || updates == NULL || indices == NULL)
        return prt_tf_end(n);
    while (!op_ends_with(n, kinds[k].end))
        k++;
    if (memcmp(n->node->op.data, "ResourceScatterNd", 17) != 0) {
        const int64_t last = -1;
        const int32_t rank = prt_tf_rank(indices) + prt_tf_rank(before) - 1;
        if (prt_tf_rank(indices) < 0 || prt_tf_rank(updates) != rank)
            return prt_tf_refuse(n,
                "the updates must have a value for each element that is "
                "written, and the ranks must be known");
        indices = prt_build_unsqueeze(&n->b, indices, 1, &last);
    }
    if (op_ends_with(n, "Sub"))
        updates = prt_build_unary(&n->b, PRT_OP_neg, updates);
    return prt_tf_variable_write(n, variable,
        prt_build_scatter_nd(&n->b, before, indices, updates, kinds[k].reduction));
}

/* ---- lookup tables */

poprt_status prt_tf_row_table(prt_tf_call *n)
{
    return prt_tf_make_resource(n, PRT_TF_table);
}

static void *new_array(prt_tf_call *n, size_t count, size_t size)
{
    void *array = prt_arena_alloc_n(n->c->arena, count + 1, size);
    if (array == NULL)
        n->status = POPRT_E_NOMEM;
    return array;
}

/* Returns whether LabelEncoder has an element type, or int64 can stand for it. */
static bool is_encodable(int32_t dtype)
{
    return dtype == PRT_DTYPE_string || dtype == PRT_DTYPE_f32 || dtype == PRT_DTYPE_f64 ||
        dtype == PRT_DTYPE_bool || prt_dtype_is_integer(dtype);
}

/* Replaces integers and bools by int64. */
static prt_tensor as_encoder_type(prt_tf_call *n, const prt_tensor *t)
{
    const size_t count = prt_tensor_count(t);
    prt_tensor wide = *t;
    if (t->dtype != PRT_DTYPE_bool && !prt_dtype_is_integer(t->dtype))
        return wide;
    int64_t *data = new_array(n, count, sizeof(*data));
    for (size_t i = 0; data != NULL && i < count; i++)
        data[i] = prt_load_i64(t->dtype, t->data, i);
    (void)prt_tensor_init(&wide, PRT_DTYPE_i64, t->rank, t->dims, data);
    return wide;
}

/* Returns the elements of a string tensor as a list of an attribute. */
static prt_strs texts_of(prt_tf_call *n, const prt_tensor *t)
{
    const size_t count = prt_tensor_count(t);
    const poprt_string *from = t->data;
    prt_str *list = new_array(n, count, sizeof(*list));
    for (size_t i = 0; list != NULL && i < count; i++)
        list[i] = (prt_str){ from[i].data, (uint32_t)from[i].size };
    return (prt_strs){ list, (uint32_t)count };
}

/* Sets the keys or values of an encoder: lists, where these can hold them, since old versions have
 * no tensors. */
static void set_column(prt_tf_call *n, const prt_tensor *t, const prt_tensor **tensor,
    prt_strs *texts, prt_i64s *ints, prt_f32s *floats)
{
    const size_t count = prt_tensor_count(t);
    if (count == 0 || t->dtype == PRT_DTYPE_f64)
        *tensor = t;
    else if (t->dtype == PRT_DTYPE_string)
        *texts = texts_of(n, t);
    else if (t->dtype == PRT_DTYPE_i64)
        *ints = (prt_i64s){ t->data, (uint32_t)count };
    else
        *floats = (prt_f32s){ t->data, (uint32_t)count };
}

/* Builds a LabelEncoder. `absent` has one element of the type of the values. */
static prt_value *build_encoder(prt_tf_call *n, prt_value *x, const prt_tensor *keys,
    const prt_tensor *values, const prt_tensor *absent)
{
    const prt_tensor k = as_encoder_type(n, keys), v = as_encoder_type(n, values),
                     d = as_encoder_type(n, absent);
    prt_ml_label_encoder_attrs a = { .default_string = PRT_STR_INIT("_Unused"),
        .default_int64 = -1,
        .default_float = -0.0F };
    const poprt_string *text = d.data;
    if (n->status != POPRT_OK)
        return NULL;
    set_column(n, &k, &a.keys_tensor, &a.keys_strings, &a.keys_int64s, &a.keys_floats);
    set_column(n, &v, &a.values_tensor, &a.values_strings, &a.values_int64s, &a.values_floats);
    if (n->status != POPRT_OK)
        return NULL;
    if (a.values_tensor != NULL)
        a.default_tensor = &d;
    else if (d.dtype == PRT_DTYPE_string)
        a.default_string = (prt_str){ text->data, (uint32_t)text->size };
    else if (d.dtype == PRT_DTYPE_i64)
        a.default_int64 = *(const int64_t *)d.data;
    else
        a.default_float = *(const float *)d.data;
    x = prt_build_cast(&n->b, x, k.dtype);
    return prt_build_cast(&n->b, prt_build_op(&n->b, PRT_OP_ml_label_encoder, &a, 1, &x),
        values->dtype);
}

/* Looks up positions in the table, and gathers the values: for values that are tensors, and for a
 * default that a run computes. */
static prt_value *gather_values(prt_tf_call *n, prt_value *x, prt_value *absent,
    const prt_tf_resource *table)
{
    const int64_t count = table->keys.dims[0], none = -1, last = -1;
    prt_tensor positions, missing;
    int64_t *numbers = new_array(n, (size_t)count, sizeof(*numbers));
    for (int64_t i = 0; numbers != NULL && i < count; i++)
        numbers[i] = i;
    (void)prt_tensor_init(&positions, PRT_DTYPE_i64, 1, &count, numbers);
    (void)prt_tensor_init(&missing, PRT_DTYPE_i64, 0, NULL, (void *)(uintptr_t)&none);
    prt_value *at = build_encoder(n, x, &table->keys, &positions, &missing);
    prt_value *all = prt_graph_add_tensor(n->scope->graph, &table->values);
    if (at == NULL || all == NULL)
        return NULL;
    prt_value *start = prt_build_i64(&n->b, 0);
    prt_value *found = prt_build_binary(&n->b, PRT_OP_greater_or_equal, at, start);
    for (uint32_t i = 1; i < table->values.rank; i++)
        found = prt_build_unsqueeze(&n->b, found, 1, &last);
    prt_value *rows =
        prt_build_gather(&n->b, all, prt_build_binary(&n->b, PRT_OP_max, at, start), 0);
    return prt_build_where(&n->b, found, rows, absent);
}

poprt_status prt_tf_row_table_find(prt_tf_call *n)
{
    const prt_tf_resource *table = prt_tf_table(n);
    prt_value *x = prt_tf_in(n, 1), *absent = prt_tf_in(n, 2);
    prt_tensor constant;
    if (table == NULL || x == NULL || absent == NULL)
        return prt_tf_end(n);
    if (!is_encodable(table->keys.dtype))
        return prt_tf_refuse(n, "keys of this type are not supported");
    const bool plain = is_encodable(table->values.dtype) && prt_tf_constant(n, 2, &constant) &&
        prt_tensor_count(&constant) == 1 && constant.dtype == table->values.dtype;
    if (plain && table->values.rank == 1)
        prt_tf_set(n, 0, build_encoder(n, x, &table->keys, &table->values, &constant));
    else if (table->keys.dims[0] != 0)
        prt_tf_set(n, 0, gather_values(n, x, absent, table));
    else
        return prt_tf_refuse(n, "the table is empty, and the default is computed");
    return prt_tf_end(n);
}

poprt_status prt_tf_row_table_size(prt_tf_call *n)
{
    const prt_tf_resource *table = prt_tf_table(n);
    if (table != NULL)
        prt_tf_set(n, 0, prt_build_i64(&n->b, table->keys.dims[0]));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_table_export(prt_tf_call *n)
{
    const prt_tf_resource *table = prt_tf_table(n);
    if (table == NULL)
        return prt_tf_end(n);
    prt_tf_set(n, 0, prt_graph_add_tensor(n->scope->graph, &table->keys));
    prt_tf_set(n, 1, prt_graph_add_tensor(n->scope->graph, &table->values));
    return prt_tf_end(n);
}
