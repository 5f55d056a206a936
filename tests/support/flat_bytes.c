/* SPDX-License-Identifier: MIT */
/* flat_bytes.c — writes FlatBuffers. Each field of a table takes 8 bytes. */
#include "support/flat_bytes.h"

#include <stdlib.h>

#include "support/check_main.h"

enum { SLOTS = 16, WIDTH = 8, VTABLE = 4 + 2 * SLOTS, TABLE = 8 + SLOTS * WIDTH };

/* What is kept until the test's process ends: a leak checker finds it here. */
static void *kept[32768];
static size_t n_kept;

static void keep(void *object)
{
    ck_assert_uint_lt(n_kept, PRT_COUNT_OF(kept));
    kept[n_kept++] = object;
}

static void put(flat *f, size_t at, uint64_t value, size_t width)
{
    memcpy(f->data + at, &value, width);
}

/* Appends zero bytes so that position `align - 4` of them is a multiple of `align`. */
static size_t append(flat *f, size_t align, size_t before, size_t size)
{
    size_t at = f->size;
    while ((at + before) % align != 0)
        at++;
    while (at + size > f->capacity) {
        f->capacity = 2 * f->capacity + 1024;
        f->data = realloc(f->data, f->capacity);
        ck_assert_ptr_nonnull(f->data);
    }
    memset(f->data + f->size, 0, at + size - f->size);
    f->size = at + size;
    return at;
}

/* Stores the offset from `at` to `to`. */
static void point(flat *f, size_t at, size_t to)
{
    ck_assert_uint_gt(to, at);
    put(f, at, to - at, 4);
}

size_t flat_table(flat *f)
{
    const size_t vtable = append(f, 8, VTABLE, VTABLE + TABLE), t = vtable + VTABLE;
    put(f, vtable, VTABLE, 2);
    put(f, vtable + 2, TABLE, 2);
    put(f, t, VTABLE, 4);
    return t;
}

/* Returns the position of a slot, which it marks as present. */
static size_t slot(flat *f, size_t t, uint32_t number)
{
    const size_t offset = 8 + number * WIDTH;
    ck_assert_uint_lt(number, SLOTS);
    put(f, t - VTABLE + 4 + 2 * number, offset, 2);
    return t + offset;
}

flat *flat_new(void)
{
    flat *f = calloc(1, sizeof(*f));
    ck_assert_ptr_nonnull(f);
    keep(f);
    append(f, 1, 0, 8);
    memcpy(f->data + 4, "TFL3", 4);
    f->root = flat_table(f);
    put(f, 0, f->root, 4);
    flat_int(f, f->root, PRT_TFLITE_FIELD(Model, version), 3);
    return f;
}

void flat_int(flat *f, size_t t, const prt_flat_field *field, int64_t value)
{
    put(f, slot(f, t, field->slot), (uint64_t)value, WIDTH);
}

void flat_f32(flat *f, size_t t, const prt_flat_field *field, float value)
{
    memcpy(f->data + slot(f, t, field->slot), &value, sizeof(value));
}

/* Appends a vector with zero items of `width` bytes and points the field to it. */
static size_t vector(flat *f, size_t t, const prt_flat_field *field, size_t width, size_t count)
{
    const size_t from = slot(f, t, field->slot);
    const size_t at = append(f, width > 4 ? width : 4, 4, 4 + width * count);
    put(f, at, count, 4);
    point(f, from, at);
    return at;
}

void flat_bytes(flat *f, size_t t, const prt_flat_field *field, const void *data, size_t size)
{
    const size_t at = vector(f, t, field, 1, size);
    if (size != 0)
        memcpy(f->data + at + 4, data, size);
}

void flat_text(flat *f, size_t t, const prt_flat_field *field, const char *text)
{
    flat_bytes(f, t, field, text, strlen(text));
    append(f, 1, 0, 1); /* the zero byte */
}

void flat_ints(flat *f, size_t t, const prt_flat_field *field, size_t count, const int64_t *values)
{
    const size_t width = field->kind == PRT_FLAT_u8s ? 1
        : field->kind == PRT_FLAT_u16s               ? 2
        : field->kind == PRT_FLAT_i64s               ? 8
                                                     : 4;
    const size_t at = vector(f, t, field, width, count);
    for (size_t i = 0; i < count; i++)
        put(f, at + 4 + i * width, (uint64_t)values[i], width);
}

size_t flat_tables(flat *f, size_t t, const prt_flat_field *field, size_t count)
{
    return vector(f, t, field, 4, count);
}

size_t flat_item(flat *f, size_t v, size_t index)
{
    const size_t t = flat_table(f);
    flat_share(f, v, index, t);
    return t;
}

void flat_share(flat *f, size_t v, size_t index, size_t t)
{
    point(f, v + 4 + 4 * index, t);
}

size_t flat_child(flat *f, size_t t, const prt_flat_field *field)
{
    const size_t from = slot(f, t, field->slot), to = flat_table(f);
    point(f, from, to);
    return to;
}

size_t flat_union(flat *f, size_t t, const prt_flat_field *field, const prt_flat_message *message)
{
    put(f, slot(f, t, field->slot), message->type, 1);
    const size_t from = slot(f, t, field->slot + 1u), to = flat_table(f);
    point(f, from, to);
    return to;
}

prt_blob *flat_blob(flat *f)
{
    prt_blob *blob = NULL;
    ck_assert_int_eq(prt_blob_borrow(NULL, f->data, f->size, NULL, NULL, &blob), POPRT_OK);
    keep(blob);
    return blob;
}

tflite tflite_model(size_t codes, size_t buffers, size_t subgraphs)
{
    flat *f = flat_new();
    tflite m = { .f = f };
    m.codes = flat_tables(f, f->root, PRT_TFLITE_FIELD(Model, operator_codes), codes);
    m.buffers = flat_tables(f, f->root, PRT_TFLITE_FIELD(Model, buffers), buffers);
    m.subgraphs = flat_tables(f, f->root, PRT_TFLITE_FIELD(Model, subgraphs), subgraphs);
    if (buffers != 0)
        (void)flat_item(f, m.buffers, 0);
    return m;
}

void tflite_code(tflite *m, size_t index, int64_t code)
{
    const size_t t = m->code = flat_item(m->f, m->codes, index);
    flat_int(m->f, t, PRT_TFLITE_FIELD(OperatorCode, deprecated_builtin_code),
        code < 127 ? code : 127);
    flat_int(m->f, t, PRT_TFLITE_FIELD(OperatorCode, builtin_code), code);
}

void tflite_data(tflite *m, size_t index, const void *data, size_t size)
{
    const size_t t = flat_item(m->f, m->buffers, index);
    flat_bytes(m->f, t, PRT_TFLITE_FIELD(Buffer, data), data, size);
}

void tflite_subgraph(tflite *m, size_t index, size_t tensors, size_t operators)
{
    m->subgraph = flat_item(m->f, m->subgraphs, index);
    m->tensors = flat_tables(m->f, m->subgraph, PRT_TFLITE_FIELD(SubGraph, tensors), tensors);
    m->operators = flat_tables(m->f, m->subgraph, PRT_TFLITE_FIELD(SubGraph, operators), operators);
}

size_t tflite_tensor(tflite *m, size_t index, const char *name, int64_t type, size_t rank,
    const int64_t *dims, size_t buffer)
{
    const size_t t = flat_item(m->f, m->tensors, index);
    flat_ints(m->f, t, PRT_TFLITE_FIELD(Tensor, shape), rank, dims);
    flat_int(m->f, t, PRT_TFLITE_FIELD(Tensor, type), type);
    flat_int(m->f, t, PRT_TFLITE_FIELD(Tensor, buffer), (int64_t)buffer);
    flat_text(m->f, t, PRT_TFLITE_FIELD(Tensor, name), name);
    return t;
}

void tflite_operator(tflite *m, size_t index, size_t code, int64_t in0, int64_t in1, int64_t out)
{
    const int64_t inputs[] = { in0, in1 };
    m->op = flat_item(m->f, m->operators, index);
    flat_int(m->f, m->op, PRT_TFLITE_FIELD(Operator, opcode_index), (int64_t)code);
    flat_ints(m->f, m->op, PRT_TFLITE_FIELD(Operator, inputs), 2, inputs);
    flat_ints(m->f, m->op, PRT_TFLITE_FIELD(Operator, outputs), 1, &out);
}

size_t tflite_options(tflite *m, const prt_flat_message *message)
{
    return flat_union(m->f, m->op,
        message->group == 2 ? PRT_TFLITE_FIELD(Operator, builtin_options_2)
                            : PRT_TFLITE_FIELD(Operator, builtin_options),
        message);
}

void tflite_ports(tflite *m, int64_t in, int64_t out)
{
    flat_ints(m->f, m->subgraph, PRT_TFLITE_FIELD(SubGraph, inputs), 1, &in);
    flat_ints(m->f, m->subgraph, PRT_TFLITE_FIELD(SubGraph, outputs), 1, &out);
}

tflite tflite_sample(void)
{
    const int64_t dims[] = { 2, 3 };
    const float w[] = { 1, 2, 3, 4, 5, 6 };
    tflite m = tflite_model(1, 2, 1);
    tflite_code(&m, 0, PRT_TFLITE_OP_ADD);
    tflite_data(&m, 1, w, sizeof(w));
    tflite_subgraph(&m, 0, 3, 1);
    (void)tflite_tensor(&m, 0, "x", 0, 2, dims, 0);
    (void)tflite_tensor(&m, 1, "w", 0, 2, dims, 1);
    (void)tflite_tensor(&m, 2, "y", 0, 2, dims, 0);
    tflite_operator(&m, 0, 0, 0, 1, 2);
    const size_t options = tflite_options(&m, PRT_TFLITE_MESSAGE(AddOptions));
    flat_int(m.f, options, PRT_TFLITE_FIELD(AddOptions, activation), PRT_TFLITE_RELU6);
    tflite_ports(&m, 0, 2);
    return m;
}
