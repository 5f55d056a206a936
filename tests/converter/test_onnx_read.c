/* SPDX-License-Identifier: MIT */
/*
 * test_onnx_read.c — meaning of models: order, names, constants, functions, regions, values.
 * Covers: onnx_constant.c, onnx_graph.c, onnx_names.c, onnx_node.c, onnx_order.c, onnx_tensor.c,
 * onnx_value.c.
 */
#define _POSIX_C_SOURCE 200809L
#include "support/check_main.h"
#include "support/onnx_bytes.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/onnx_raw.h"

static prt_module *loaded(const msg *model)
{
    prt_module *m = NULL;
    const poprt_status status = onnx_load(model, NULL, &m);
    ck_assert_msg(status == POPRT_OK, "%s", last_error());
    ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
    return m;
}

static prt_value *value_of(const prt_module *m, const char *name)
{
    prt_value *v = prt_map_find(&m->names, prt_str_of(name));
    ck_assert_msg(v != NULL, "no value '%s'", name);
    return v;
}

static prt_tensor tensor_of(const prt_module *m, const char *name)
{
    prt_tensor t;
    ck_assert(prt_value_tensor(value_of(m, name), &t));
    return t;
}

/* A model whose only initializer, "w", is `tensor`; w goes through Identity to y. */
static msg *with_tensor(const msg *tensor)
{
    msg *nodes[] = { onnx_node("Identity", "w", "y"), NULL };
    msg *g = msg_msg(onnx_graph("g", nodes), PRT_ONNX_Graph_initializer, tensor);
    return onnx_model(msg_msg(g, PRT_ONNX_Graph_output, msg_text(msg_new(), 1, "y")), 21);
}

/* The same with w as the output, for types that Identity does not accept. */
static msg *tensor_out(const msg *tensor)
{
    msg *nodes[] = { NULL };
    msg *g = msg_msg(onnx_graph("g", nodes), PRT_ONNX_Graph_initializer, tensor);
    return onnx_model(msg_msg(g, PRT_ONNX_Graph_output, msg_text(msg_new(), 1, "w")), 28);
}

START_TEST(nodes_come_in_any_order)
{
    msg *nodes[] = { onnx_node("Neg", "b", "y"), onnx_node("Abs", "a", "b"),
        onnx_node("Exp", "x", "a"), NULL };
    prt_module *m = loaded(onnx_model(onnx_xy(onnx_graph("g", nodes)), 13));
    ck_assert_str_eq(m->main->first->name.data, "Exp");
    ck_assert_str_eq(m->main->last->name.data, "Neg");
    ck_assert_int_eq(value_of(m, "y")->type->rank, 1);
    ck_assert_uint_eq(m->main->first->source_opset, 13);
    ck_assert_ptr_nonnull(m->main->first->source);
    prt_module_release(m);
}
END_TEST

START_TEST(sorted_nodes_keep_their_order)
{
    msg *nodes[] = { onnx_node("Neg", "x", "c"), onnx_node("Abs", "x", "a"),
        onnx_node("Exp", "x", "b"), onnx_node("Sum", "a,b,c", "y"), NULL };
    prt_module *m = loaded(onnx_model(onnx_xy(onnx_graph("g", nodes)), 13));
    const char *want[] = { "Neg", "Abs", "Exp", "Sum" };
    size_t i = 0;
    prt_for_each_op (op, m->main)
        ck_assert_str_eq(op->name.data, want[i++]);
    prt_module_release(m);
}
END_TEST

START_TEST(raw_data_is_a_view)
{
    static unsigned char zeros[1 << 16];
    const int64_t dim = sizeof(zeros) / 4;
    msg *t = msg_bytes(onnx_tensor("w", PRT_DTYPE_f32, 1, &dim), PRT_ONNX_Tensor_raw_data, zeros,
        sizeof(zeros));
    const msg *model = with_tensor(t);
    prt_module *m = loaded(model);
    const prt_tensor got = tensor_of(m, "w");
    const unsigned char *data = got.data;
    ck_assert(data > model->data && data + got.size <= model->data + model->size);
    prt_module_release(m);
}
END_TEST

/* Each typed field, packed and not. */
START_TEST(typed_fields_are_decoded)
{
    static const struct {
        int32_t dtype;
        uint32_t field;
        int64_t given[2], want[2];
    } cases[] = {
        { PRT_DTYPE_i8, PRT_ONNX_Tensor_int32_data, { -1, 127 }, { -1, 127 } },
        { PRT_DTYPE_u8, PRT_ONNX_Tensor_int32_data, { 255, 1 }, { 255, 1 } },
        { PRT_DTYPE_i16, PRT_ONNX_Tensor_int32_data, { -2, 300 }, { -2, 300 } },
        { PRT_DTYPE_u16, PRT_ONNX_Tensor_int32_data, { 65535, 7 }, { 65535, 7 } },
        { PRT_DTYPE_i32, PRT_ONNX_Tensor_int32_data, { -5, 1 << 30 }, { -5, 1 << 30 } },
        { PRT_DTYPE_bool, PRT_ONNX_Tensor_int32_data, { 2, 0 }, { 1, 0 } },
        { PRT_DTYPE_f16, PRT_ONNX_Tensor_int32_data, { 0x3c00, 0xc000 }, { 1, -2 } },
        { PRT_DTYPE_bf16, PRT_ONNX_Tensor_int32_data, { 0x3f80, 0x4000 }, { 1, 2 } },
        { PRT_DTYPE_i64, PRT_ONNX_Tensor_int64_data, { -9, INT64_MAX }, { -9, INT64_MAX } },
        { PRT_DTYPE_u32, PRT_ONNX_Tensor_uint64_data, { 7, 4000000000 }, { 7, 4000000000 } },
        { PRT_DTYPE_u64, PRT_ONNX_Tensor_uint64_data, { 7, 8 }, { 7, 8 } },
    };
    const int64_t two = 2;
    for (size_t i = 0; i < 2 * PRT_COUNT_OF(cases); i++) {
        const size_t k = i / 2;
        msg *t = onnx_tensor("w", cases[k].dtype, 1, &two), *packed = msg_new();
        for (size_t j = 0; j < 2; j++)
            (void)(i % 2 ? msg_int(t, cases[k].field, cases[k].given[j])
                         : msg_varint(packed, (uint64_t)cases[k].given[j]));
        if (i % 2 == 0)
            (void)msg_msg(t, cases[k].field, packed);
        prt_module *m = loaded(with_tensor(t));
        const prt_tensor got = tensor_of(m, "w");
        for (size_t j = 0; j < 2; j++)
            ck_assert_int_eq(prt_dtype_is_float(got.dtype)
                    ? (int64_t)prt_load_f64(got.dtype, got.data, j)
                    : prt_load_i64(got.dtype, got.data, j),
                cases[k].want[j]);
        prt_module_release(m);
    }
}
END_TEST

START_TEST(float_and_small_fields_are_decoded)
{
    const float floats[2] = { 1.5f, -2 };
    const double doubles[2] = { 1e300, 3 };
    const int64_t two = 2, three = 3;
    prt_module *m = loaded(with_tensor(msg_bytes(onnx_tensor("w", PRT_DTYPE_f32, 1, &two),
        PRT_ONNX_Tensor_float_data, floats, sizeof(floats))));
    ck_assert_mem_eq(tensor_of(m, "w").data, floats, sizeof(floats));
    prt_module_release(m);
    m = loaded(with_tensor(msg_bytes(onnx_tensor("w", PRT_DTYPE_f64, 1, &two),
        PRT_ONNX_Tensor_double_data, doubles, sizeof(doubles))));
    ck_assert_mem_eq(tensor_of(m, "w").data, doubles, sizeof(doubles));
    prt_module_release(m);
    /* Three 4-bit numbers are two bytes. */
    msg *t = onnx_tensor("w", PRT_DTYPE_u4, 1, &three);
    m = loaded(with_tensor(
        msg_int(msg_int(t, PRT_ONNX_Tensor_int32_data, 0x21), PRT_ONNX_Tensor_int32_data, 0x03)));
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(prt_load_i64(PRT_DTYPE_u4, tensor_of(m, "w").data, i), (int64_t)i + 1);
    prt_module_release(m);
    /* 6-bit numbers come one per entry, and packed as raw data. */
    static const unsigned char codes[3] = { 0x08, 0x32, 0x01 }, raw[3] = { 0x88, 0x1c, 0x00 };
    t = onnx_tensor("w", PRT_DTYPE_f6e2m3, 1, &three);
    m = loaded(tensor_out(msg_bytes(t, PRT_ONNX_Tensor_int32_data, codes, sizeof(codes))));
    ck_assert_mem_eq(tensor_of(m, "w").data, raw, sizeof(raw));
    prt_module_release(m);
    t = onnx_tensor("w", PRT_DTYPE_f6e2m3, 1, &three);
    m = loaded(tensor_out(msg_bytes(t, PRT_ONNX_Tensor_raw_data, raw, sizeof(raw))));
    ck_assert(prt_load_f64(PRT_DTYPE_f6e2m3, tensor_of(m, "w").data, 1) == -2.5);
    prt_module_release(m);
}
END_TEST

START_TEST(constant_nodes_become_constants)
{
    const int64_t ints[2] = { 4, 5 };
    msg *nodes[] = { onnx_attr_int(onnx_node("Constant", "", "i"), "value_int", 42),
        onnx_attr_f32(onnx_node("Constant", "", "f"), "value_float", 0.5f),
        onnx_attr_text(onnx_node("Constant", "", "s"), "value_string", "text"),
        onnx_attr_ints(onnx_node("Constant", "", "l"), "value_ints", 2, ints),
        onnx_node("Identity", "x", "y"), NULL };
    prt_module *m = loaded(onnx_model(onnx_xy(onnx_graph("g", nodes)), 13));
    ck_assert_ptr_eq(m->main->first, m->main->last);
    ck_assert_int_eq(*(int64_t *)tensor_of(m, "i").data, 42);
    ck_assert(*(float *)tensor_of(m, "f").data == 0.5f);
    const prt_tensor s = tensor_of(m, "s");
    ck_assert_uint_eq(((poprt_string *)s.data)->size, 4);
    ck_assert_mem_eq(((poprt_string *)s.data)->data, "text", 4);
    ck_assert_mem_eq(tensor_of(m, "l").data, ints, sizeof(ints));
    prt_module_release(m);
}
END_TEST

START_TEST(sparse_tensors_become_dense)
{
    const float values[2] = { 5, 6 };
    const int64_t at[2] = { 1, 3 }, two = 2, dims[2] = { 2, 2 };
    msg *sparse = msg_msg(msg_new(), PRT_ONNX_SparseTensor_values,
        msg_bytes(onnx_tensor("w", PRT_DTYPE_f32, 1, &two), PRT_ONNX_Tensor_raw_data, values, 8));
    (void)msg_msg(sparse, PRT_ONNX_SparseTensor_indices,
        msg_bytes(onnx_tensor("", PRT_DTYPE_i64, 1, &two), PRT_ONNX_Tensor_raw_data, at, 16));
    for (size_t i = 0; i < 2; i++)
        (void)msg_int(sparse, PRT_ONNX_SparseTensor_dims, dims[i]);
    msg *nodes[] = { onnx_node("Identity", "w", "y"), NULL };
    msg *g = msg_msg(onnx_graph("g", nodes), PRT_ONNX_Graph_sparse_initializer, sparse);
    prt_module *m =
        loaded(onnx_model(msg_msg(g, PRT_ONNX_Graph_output, msg_text(msg_new(), 1, "y")), 13));
    const float want[4] = { 0, 5, 0, 6 };
    ck_assert_mem_eq(tensor_of(m, "w").data, want, sizeof(want));
    prt_module_release(m);
}
END_TEST

START_TEST(an_initialized_input_is_a_constant)
{
    const int64_t two = 2;
    const float w[2] = { 1, 2 };
    msg *nodes[] = { onnx_node("Add", "x,w", "y"), NULL };
    msg *g = onnx_xy(onnx_graph("g", nodes));
    (void)msg_msg(g, PRT_ONNX_Graph_input, onnx_info("w", PRT_DTYPE_f32, 1, &two));
    (void)msg_msg(g, PRT_ONNX_Graph_initializer,
        msg_bytes(onnx_tensor("w", PRT_DTYPE_f32, 1, &two), PRT_ONNX_Tensor_raw_data, w, 8));
    prt_module *m = loaded(onnx_model(g, 13));
    ck_assert_uint_eq(m->main->inputs.count, 1);
    ck_assert(prt_value_is_constant(value_of(m, "w")));
    prt_module_release(m);
}
END_TEST

/* y = -x, both dims of x by one name. */
static msg *named_dims(const char *name)
{
    msg *nodes[] = { onnx_node("Neg", "x", "y"), NULL }, *shape = msg_new();
    for (int i = 0; i < 2; i++)
        (void)msg_msg(shape, PRT_ONNX_Shape_dim,
            msg_text(msg_new(), PRT_ONNX_Dimension_dim_param, name));
    const msg *tensor = msg_msg(msg_int(msg_new(), PRT_ONNX_TensorType_elem_type, PRT_DTYPE_f32),
        PRT_ONNX_TensorType_shape, shape);
    const msg *type = msg_msg(msg_new(), PRT_ONNX_Type_tensor_type, tensor);
    const msg *x =
        msg_msg(msg_text(msg_new(), PRT_ONNX_ValueInfo_name, "x"), PRT_ONNX_ValueInfo_type, type);
    return msg_msg(msg_msg(onnx_graph("g", nodes), PRT_ONNX_Graph_input, x), PRT_ONNX_Graph_output,
        onnx_info("y", PRT_DTYPE_f32, 0, NULL));
}

START_TEST(unnamed_input_dims_become_symbols)
{
    static const char *const names[] = { "?", "-1", "None" };
    const int64_t open[2] = { -1, 3 };
    msg *nodes[] = { onnx_node("Neg", "x", "y"), NULL };
    msg *g = msg_msg(onnx_graph("g", nodes), PRT_ONNX_Graph_input,
        onnx_info("x", PRT_DTYPE_f32, 2, open));
    (void)msg_msg(g, PRT_ONNX_Graph_output, onnx_info("y", PRT_DTYPE_f32, 2, open));
    prt_module *m = loaded(onnx_model(g, 13));
    char text[64];
    prt_type_print(m->dims, value_of(m, "y")->type, text, sizeof(text));
    ck_assert_str_eq(text, "f32[x.0,3]");
    prt_module_release(m);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        m = loaded(onnx_model(named_dims(names[i]), 13));
        prt_type_print(m->dims, value_of(m, "y")->type, text, sizeof(text));
        ck_assert_str_eq(text, "f32[x.0,x.1]");
        prt_module_release(m);
    }
}
END_TEST

/* Functions, attribute references and defaults, regions with captured values, unknown operators. */
START_TEST(the_sample_is_read)
{
    prt_module *m = loaded(onnx_sample());
    const char *want[] = { "Add", "Transpose", "If", "Odd" };
    size_t i = 0;
    prt_for_each_op (op, m->main)
        ck_assert_str_eq(op->name.data, want[i++]);
    const prt_op *transpose = value_of(m, "t")->def, *branch = value_of(m, "b")->def;
    const prt_transpose_attrs *perm = transpose->attrs;
    ck_assert_uint_eq(perm->perm.count, 2);
    ck_assert_int_eq(perm->perm.data[0], 1);
    ck_assert_str_eq(transpose->origin.data, "t/out");
    ck_assert_ptr_null(transpose->source);
    ck_assert_uint_eq(branch->n_regions, 2u);
    ck_assert_ptr_eq(branch->regions[1]->first->in[0].value, value_of(m, "t"));
    const prt_op *odd = m->main->last;
    ck_assert_ptr_null(odd->def);
    ck_assert_str_eq(odd->domain.data, "elsewhere");
    ck_assert_uint_eq(odd->extra->field, PRT_ONNX_Node_attribute);
    ck_assert_int_eq(value_of(m, "y")->type->rank, 2); /* as declared */
    ck_assert_int_eq(value_of(m, "b")->type->rank, 2); /* as inferred */
    prt_module_release(m);
}
END_TEST

START_TEST(external_data_is_mapped)
{
    const int64_t two = 2;
    const float w[3] = { 9, 1, 2 };
    char folder[] = "/tmp/prt_external_XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/w.bin", folder);
    FILE *file = fopen(path, "wb");
    ck_assert_uint_eq(fwrite(w, sizeof(w), 1, file), 1);
    ck_assert_int_eq(fclose(file), 0);
    static const struct {
        const char *location, *offset, *length;
        poprt_status status;
    } cases[] = {
        { "w.bin", "4", "8", POPRT_OK },
        { "w.bin", "4", NULL, POPRT_OK },
        { "w.bin", "5", "8", POPRT_E_PARSE },
        { "w.bin", "4", "4", POPRT_E_PARSE },
        { "w.bin", "18446744073709551612", "8", POPRT_E_PARSE },
        { "w.bin", "-1", "8", POPRT_E_PARSE },
        { "../w.bin", "0", "8", -1 },
        { "/etc/passwd", "0", "8", -1 },
        { "none.bin", "0", "8", POPRT_E_NOT_FOUND },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        msg *t =
            msg_int(onnx_tensor("w", PRT_DTYPE_f32, 1, &two), PRT_ONNX_Tensor_data_location, 1);
        const char *keys[] = { "location", "offset", "length", "unknown" };
        const char *values[] = { cases[i].location, cases[i].offset, cases[i].length, "x" };
        for (size_t k = 0; k < 4; k++)
            if (values[k] != NULL)
                (void)msg_msg(t, PRT_ONNX_Tensor_external_data,
                    msg_text(msg_text(msg_new(), 1, keys[k]), 2, values[k]));
        const msg *model = with_tensor(t);
        prt_blob *blob = NULL;
        prt_module *m = NULL;
        ck_assert_int_eq(prt_blob_borrow(&prt_mem_libc, model->data, model->size, NULL, NULL,
                             &blob),
            0);
        const poprt_status status =
            prt_onnx_read_bytes(&prt_mem_libc, blob, "test", folder, NULL, &m);
        if (cases[i].status == -1)
            ck_assert_int_ne(status, POPRT_OK);
        else
            ck_assert_int_eq(status, cases[i].status);
        if (status == POPRT_OK)
            ck_assert_mem_eq(tensor_of(m, "w").data, w + 1, 8);
        prt_module_release(m);
        prt_blob_release(blob);
        ck_assert_int_ne(onnx_load(model, NULL, &m), POPRT_OK); /* no folder */
    }
    (void)unlink(path);
    (void)rmdir(folder);
}
END_TEST

/* Values in files: tensors, sequences of them, optionals with something and with nothing. */
START_TEST(all_errors_are_in_one_report)
{
    msg *foo = onnx_node("Foo", "x", "a"), *bad = onnx_node("MatMul", "x,w", "b");
    msg_text(foo, PRT_ONNX_Node_domain, "my.domain");
    msg_text(foo, PRT_ONNX_Node_name, "foo");
    msg_text(bad, PRT_ONNX_Node_name, "bad");
    msg *graph = onnx_graph("g", (msg *[]){ foo, bad, onnx_node("Neg", "x", "y"), NULL });
    onnx_xy(graph);
    msg_msg(graph, PRT_ONNX_Graph_input,
        onnx_info("w", PRT_DTYPE_f32, 2, (const int64_t[]){ 3, 4 }));
    prt_module *m = NULL;
    ck_assert_int_eq(onnx_load(onnx_model(graph, 17), NULL, &m), POPRT_E_SHAPE);
    ck_assert_str_eq(prt_error_last()->subject, "bad");
    ck_assert_ptr_nonnull(strstr(last_error(), "MatMul: "));
    ck_assert_ptr_nonnull(
        strstr(last_error(), "(ai.onnx, opset 17)\nfoo: Foo: is not an operator"));
    ck_assert_ptr_nonnull(strstr(last_error(), "(my.domain, opset 0)"));
}
END_TEST

START_TEST(values_are_read)
{
    const int64_t two = 2;
    const int32_t numbers[2] = { 3, 4 };
    msg *t =
        msg_bytes(onnx_tensor("", PRT_DTYPE_i32, 1, &two), PRT_ONNX_Tensor_raw_data, numbers, 8);
    msg *seq = msg_msg(msg_msg(msg_new(), PRT_ONNX_Sequence_tensor_values, t),
        PRT_ONNX_Sequence_tensor_values, t);
    msg *opt = msg_msg(msg_new(), PRT_ONNX_Sequence_sequence_values, seq);
    prt_arena *arena = NULL;
    prt_blob *blob = NULL;
    prt_tensor v;
    ck_assert_int_eq(prt_arena_create(&prt_mem_libc, 0, &arena), POPRT_OK);
    ck_assert_int_eq(prt_blob_borrow(&prt_mem_libc, opt->data, opt->size, NULL, NULL, &blob), 0);
    ck_assert_int_eq(prt_onnx_read_value(arena, blob, PRT_VALUE_OPTIONAL, &v), POPRT_OK);
    ck_assert_int_eq(v.kind, PRT_VALUE_OPTIONAL);
    ck_assert_uint_eq(v.count, 1);
    ck_assert_int_eq(v.items[0].kind, PRT_VALUE_SEQUENCE);
    ck_assert_uint_eq(v.items[0].count, 2);
    ck_assert_mem_eq(v.items[0].items[1].data, numbers, 8);
    prt_blob_release(blob);
    ck_assert_int_eq(prt_blob_borrow(&prt_mem_libc, "", 0, NULL, NULL, &blob), 0);
    ck_assert_int_eq(prt_onnx_read_value(arena, blob, PRT_VALUE_OPTIONAL, &v), POPRT_OK);
    ck_assert_uint_eq(v.count, 0);
    ck_assert_int_eq(prt_onnx_read_value(arena, blob, PRT_VALUE_TENSOR, &v), POPRT_E_UNSUPPORTED);
    prt_blob_release(blob);
    prt_arena_release(arena);
}
END_TEST

/* A MapProto: keys of one type, and a sequence with one value per key. */
static poprt_status read_map(msg *map, prt_arena *arena, prt_tensor *v)
{
    prt_blob *blob = NULL;
    ck_assert_int_eq(prt_blob_borrow(&prt_mem_libc, map->data, map->size, NULL, NULL, &blob), 0);
    const poprt_status status = prt_onnx_read_value(arena, blob, PRT_VALUE_MAP, v);
    prt_blob_release(blob);
    return status;
}

static msg *map_of(const int64_t *keys, size_t n, msg *values)
{
    msg *map = msg_int(msg_new(), PRT_ONNX_Map_key_type, PRT_DTYPE_i64);
    for (size_t i = 0; i < n; i++)
        msg_int(map, PRT_ONNX_Map_keys, keys[i]);
    return msg_msg(map, PRT_ONNX_Map_values, values);
}

static msg *scalar(int32_t dtype, const void *data, size_t size)
{
    return msg_bytes(onnx_tensor("", dtype, 0, NULL), PRT_ONNX_Tensor_raw_data, data, size);
}

START_TEST(maps_are_read)
{
    const int64_t keys[2] = { -3, 4 }, two = 2;
    const float numbers[2] = { 1.5f, -2 };
    const int32_t whole = 1;
    msg *each = msg_msg(msg_msg(msg_new(), PRT_ONNX_Sequence_tensor_values,
                            scalar(PRT_DTYPE_f32, &numbers[0], 4)),
        PRT_ONNX_Sequence_tensor_values, scalar(PRT_DTYPE_f32, &numbers[1], 4));
    msg *mixed = msg_msg(msg_msg(msg_new(), PRT_ONNX_Sequence_tensor_values,
                             scalar(PRT_DTYPE_f32, &numbers[0], 4)),
        PRT_ONNX_Sequence_tensor_values, scalar(PRT_DTYPE_i32, &whole, 4));
    msg *list = msg_msg(msg_new(), PRT_ONNX_Sequence_tensor_values,
        msg_bytes(onnx_tensor("", PRT_DTYPE_f32, 1, &two), PRT_ONNX_Tensor_raw_data, numbers, 8));
    prt_arena *arena = NULL;
    prt_tensor v;
    ck_assert_int_eq(prt_arena_create(&prt_mem_libc, 0, &arena), POPRT_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(read_map(map_of(keys, 2, i == 0 ? each : list), arena, &v), POPRT_OK);
        ck_assert_int_eq(v.kind, PRT_VALUE_MAP);
        ck_assert_int_eq(v.dtype, PRT_DTYPE_i64);
        ck_assert_uint_eq(v.count, 2);
        ck_assert_mem_eq(v.data, keys, sizeof(keys));
        ck_assert_int_eq(v.items->dtype, PRT_DTYPE_f32);
        ck_assert_uint_eq(prt_tensor_count(v.items), 2);
        ck_assert_mem_eq(v.items->data, numbers, sizeof(numbers));
    }
    ck_assert_int_eq(read_map(map_of(keys, 0, msg_new()), arena, &v), POPRT_OK);
    ck_assert_uint_eq(v.count, 0);
    ck_assert_int_eq(read_map(map_of(keys, 1, each), arena, &v), POPRT_E_PARSE);
    ck_assert_int_eq(read_map(map_of(keys, 2, msg_new()), arena, &v), POPRT_E_PARSE);
    ck_assert_int_eq(read_map(map_of(keys, 2, mixed), arena, &v), POPRT_E_UNSUPPORTED);
    ck_assert_int_eq(read_map(msg_int(msg_new(), PRT_ONNX_Map_key_type, PRT_DTYPE_f32), arena, &v),
        POPRT_E_UNSUPPORTED);
    prt_arena_release(arena);
}
END_TEST

PRT_TEST_MAIN("converter/onnx_read", nodes_come_in_any_order, sorted_nodes_keep_their_order,
    raw_data_is_a_view, typed_fields_are_decoded, float_and_small_fields_are_decoded,
    constant_nodes_become_constants, sparse_tensors_become_dense,
    an_initialized_input_is_a_constant, unnamed_input_dims_become_symbols, the_sample_is_read,
    external_data_is_mapped, all_errors_are_in_one_report, maps_are_read, values_are_read)
