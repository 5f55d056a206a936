/* SPDX-License-Identifier: MIT */
/* test_flatbuffer.c — tables, vectors and texts of FlatBuffers, valid and broken. Covers also
 * schema.c. */
#include "support/check_main.h"
#include "support/flat_bytes.h"

#define TENSOR(field) PRT_TFLITE_FIELD(Tensor, field)

/* Reads the root of a file as a Tensor. */
static prt_flat_table root_of(const flat *f, prt_flat *file)
{
    *file = prt_flat_open(f->data, f->size);
    return prt_flat_root(file, PRT_TFLITE_MESSAGE(Tensor));
}

static void expect(const prt_flat *file, poprt_status status, const char *words)
{
    ck_assert_int_eq(file->status, status);
    ck_assert_msg(strstr(prt_error_last()->message, words) != NULL, "%s",
        prt_error_last()->message);
}

START_TEST(fields_are_read)
{
    const int64_t dims[] = { 7, -1, 2147483647 };
    flat *f = flat_new();
    flat_int(f, f->root, TENSOR(type), -5);
    flat_int(f, f->root, TENSOR(buffer), 0xfffffffe);
    flat_int(f, f->root, TENSOR(is_variable), 1);
    flat_text(f, f->root, TENSOR(name), "name");
    flat_ints(f, f->root, TENSOR(shape), 3, dims);
    prt_flat file;
    const prt_flat_table t = root_of(f, &file);
    ck_assert_int_eq(prt_flat_int(&t, TENSOR(type)), -5);
    ck_assert_int_eq(prt_flat_int(&t, TENSOR(buffer)), 0xfffffffe);
    ck_assert_int_eq(prt_flat_int(&t, TENSOR(is_variable)), 1);
    ck_assert(prt_str_is(prt_flat_text(&t, TENSOR(name)), "name"));
    const prt_flat_vector v = prt_flat_items(&t, TENSOR(shape));
    ck_assert_uint_eq(v.count, 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(prt_flat_item_int(&v, i), dims[i]);
    ck_assert_int_eq(file.status, POPRT_OK);
}
END_TEST

START_TEST(absent_fields_have_defaults)
{
    prt_flat file;
    const prt_flat_table t = root_of(flat_new(), &file);
    ck_assert_int_eq(prt_flat_int(&t, TENSOR(buffer)), 0);
    ck_assert_ptr_null(prt_flat_text(&t, TENSOR(name)).data);
    ck_assert_uint_eq(prt_flat_items(&t, TENSOR(shape_signature)).count, 0);
    const prt_flat_table q =
        prt_flat_child(&t, TENSOR(quantization), PRT_TFLITE_MESSAGE(QuantizationParameters));
    ck_assert(!prt_flat_present(&q));
    ck_assert_uint_eq(PRT_TFLITE_ITEMS(&q, QuantizationParameters, scale).count, 0);
    const prt_flat_table conv = { .file = &file, .message = PRT_TFLITE_MESSAGE(Conv2DOptions) };
    ck_assert_int_eq(PRT_TFLITE_INT(&conv, Conv2DOptions, dilation_w), 1);
    ck_assert_int_eq(PRT_TFLITE_INT(&conv, Conv2DOptions, stride_w), 0);
    ck_assert_int_eq(file.status, POPRT_OK);
}
END_TEST

START_TEST(floats_and_unions_are_read)
{
    flat *f = flat_new();
    const prt_flat_field *options = PRT_TFLITE_FIELD(Operator, builtin_options);
    const size_t s = flat_union(f, f->root, options, PRT_TFLITE_MESSAGE(SoftmaxOptions));
    flat_f32(f, s, PRT_TFLITE_FIELD(SoftmaxOptions, beta), 0.25f);
    prt_flat file = prt_flat_open(f->data, f->size);
    const prt_flat_table t = prt_flat_root(&file, PRT_TFLITE_MESSAGE(Operator));
    ck_assert_uint_eq(prt_flat_union_type(&t, options), 9);
    const prt_flat_table u = prt_flat_union(&t, options, PRT_TFLITE_MESSAGE(SoftmaxOptions));
    ck_assert(PRT_TFLITE_F32(&u, SoftmaxOptions, beta) == 0.25f);
    const prt_flat_table other = prt_flat_union(&t, options, PRT_TFLITE_MESSAGE(AddOptions));
    ck_assert(!prt_flat_present(&other));
    expect(&file, POPRT_E_PARSE, "Operator 0 at byte");
    expect(&file, POPRT_E_PARSE, "field builtin_options: has type 9; must be 11, AddOptions");
}
END_TEST

START_TEST(the_first_failure_stays)
{
    flat *f = flat_new();
    flat_text(f, f->root, TENSOR(name), "name");
    flat_int(f, f->root, TENSOR(buffer), 3);
    prt_flat file;
    const prt_flat_table t = root_of(f, &file);
    (void)prt_flat_fail(&t, TENSOR(shape), POPRT_E_LIMIT, "first");
    (void)prt_flat_fail(&t, NULL, POPRT_E_PARSE, "second");
    expect(&file, POPRT_E_LIMIT, "field shape: first");
    ck_assert_int_eq(prt_flat_int(&t, TENSOR(buffer)), 0);
    ck_assert_ptr_null(prt_flat_text(&t, TENSOR(name)).data);
}
END_TEST

/* Overwrites `width` bytes at `at` of a Tensor with a name, then reads it. */
static poprt_status read_damaged(size_t at, uint32_t value, size_t width)
{
    flat *f = flat_new();
    flat_text(f, f->root, TENSOR(name), "name");
    ck_assert_uint_le(at + width, f->size);
    memcpy(f->data + at, &value, width);
    prt_flat file;
    const prt_flat_table t = root_of(f, &file);
    (void)prt_flat_text(&t, TENSOR(name));
    return file.status;
}

START_TEST(damaged_offsets_are_refused)
{
    const flat *f = flat_new();
    const size_t vtable = f->root - 36, entry = vtable + 4 + 2 * 3, name = f->root + 8 + 8 * 3;
    ck_assert_int_eq(read_damaged(entry, 8 + 8 * 3, 2), POPRT_OK);
    for (uint32_t value = 0; value < 8; value++)
        ck_assert_int_eq(read_damaged(0, value, 4), POPRT_E_PARSE);
    const uint32_t outside[] = { 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff,
        (uint32_t)f->root + 1, (uint32_t)f->size + 64 };
    for (size_t i = 0; i < PRT_COUNT_OF(outside); i++) {
        ck_assert_int_eq(read_damaged(0, outside[i], 4), POPRT_E_PARSE); /* root */
        ck_assert_int_eq(read_damaged(name, outside[i], 4), POPRT_E_PARSE);
    }
    const uint32_t distances[] = { 0x7fffffff, 0x80000000, 0x80000001, (uint32_t)f->root + 1, 35,
        (uint32_t) - (int32_t)f->size };
    for (size_t i = 0; i < PRT_COUNT_OF(distances); i++) /* of the vtable */
        ck_assert_int_eq(read_damaged(f->root, distances[i], 4), POPRT_E_PARSE);
    const uint32_t entries[] = { 1, 3, 33, 135, 136, 0xffff };
    for (size_t i = 0; i < PRT_COUNT_OF(entries); i++)
        ck_assert_int_eq(read_damaged(entry, entries[i], 2), POPRT_E_PARSE);
    const uint32_t sizes[] = { 0, 2, 37, 0xfffe, 0xffff };
    for (size_t i = 0; i < PRT_COUNT_OF(sizes); i++)
        ck_assert_int_eq(read_damaged(vtable, sizes[i], 2), POPRT_E_PARSE);
    ck_assert_int_eq(read_damaged(vtable + 2, 3, 2), POPRT_E_PARSE);
    ck_assert_int_eq(read_damaged(vtable + 2, 0xffff, 2), POPRT_E_PARSE);
    ck_assert_int_eq(read_damaged(f->size, 6, 4), POPRT_E_PARSE); /* length of the name */
    ck_assert_int_eq(read_damaged(f->size, 0xffffffff, 4), POPRT_E_PARSE);
}
END_TEST

START_TEST(short_files_are_refused)
{
    flat *f = flat_new();
    flat_text(f, f->root, TENSOR(name), "name");
    for (size_t size = 0; size + 1 < f->size; size++) {
        unsigned char *copy = malloc(size + 1); /* of its own size, for sanitizers */
        memcpy(copy, f->data, size);
        prt_flat file = prt_flat_open(copy, size);
        const prt_flat_table t = prt_flat_root(&file, PRT_TFLITE_MESSAGE(Tensor));
        (void)prt_flat_text(&t, TENSOR(name));
        ck_assert_int_eq(file.status, POPRT_E_PARSE);
        free(copy);
    }
}
END_TEST

START_TEST(shared_tables_are_read_a_bounded_number_of_times)
{
    enum { COUNT = 1000 };
    flat *f = flat_new();
    const prt_flat_field *field = PRT_TFLITE_FIELD(Model, subgraphs);
    const size_t v = flat_tables(f, f->root, field, COUNT);
    const size_t t = flat_item(f, v, 0);
    for (size_t i = 1; i < COUNT; i++)
        flat_share(f, v, i, t);
    prt_flat file = prt_flat_open(f->data, f->size);
    const prt_flat_table root = prt_flat_root(&file, PRT_TFLITE_MESSAGE(Model));
    const prt_flat_vector items = prt_flat_items(&root, field);
    size_t read = 0;
    for (; file.status == POPRT_OK; read++)
        (void)prt_flat_item(&items, read % COUNT, PRT_TFLITE_MESSAGE(SubGraph));
    ck_assert_uint_gt(read, COUNT);
    ck_assert_uint_lt(read, 16 * f->size);
    expect(&file, POPRT_E_LIMIT, "share the same bytes");
}
END_TEST

START_TEST(operators_have_their_codes_and_tables)
{
    ck_assert_str_eq(prt_tflite_builtin_name(PRT_TFLITE_OP_CONV_2D), "CONV_2D");
    ck_assert_int_eq(PRT_TFLITE_OP_CUSTOM, 32);
    ck_assert_int_eq(PRT_TFLITE_OP_BATCH_MATMUL, 126);
    ck_assert_int_eq(PRT_TFLITE_OP_DILATE, 203);
    for (size_t i = 0; i < PRT_TFLITE_OPERATORS; i++) {
        ck_assert_str_ne(prt_tflite_builtin_name((int32_t)i), ""); /* the codes have no gap */
        const prt_flat_message *m = prt_tflite_builtin_options((int32_t)i);
        ck_assert(m == PRT_TFLITE_MESSAGE(none) || (m->type != 0 && m[1].first > m->first));
    }
    ck_assert_int_eq(prt_tflite_dtype(9), PRT_DTYPE_i8);
    ck_assert_int_eq(prt_tflite_dtype(13), PRT_DTYPE_undefined);
    ck_assert_int_eq(prt_tflite_dtype(21), -1);
    ck_assert_int_eq(prt_tflite_dtype(-1), -1);
}
END_TEST

PRT_TEST_MAIN("tflite/flatbuffer", fields_are_read, absent_fields_have_defaults,
    floats_and_unions_are_read, the_first_failure_stays, damaged_offsets_are_refused,
    short_files_are_refused, shared_tables_are_read_a_bounded_number_of_times,
    operators_have_their_codes_and_tables)
