/* SPDX-License-Identifier: MIT */
/*
 * test_model.c — TFLite files, made here and by TensorFlow, valid and damaged. Covers also
 * tensor.c.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/flat_bytes.h"

#include "base/file.h"

#define TENSOR(field) PRT_TFLITE_FIELD(Tensor, field)

static prt_arena *arena;

static poprt_status parse(flat *f, const prt_tflite_model **out)
{
    prt_tflite_model *m = NULL;
    if (arena == NULL)
        ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    const poprt_status status = prt_tflite_parse(arena, flat_blob(f), &m);
    if (out != NULL)
        *out = m;
    return status;
}

/* Checks that the file is refused with a message that contains `words`. */
static void refuse(const tflite *m, poprt_status status, const char *words)
{
    ck_assert_int_eq(parse(m->f, NULL), status);
    ck_assert_msg(strstr(prt_error_last()->message, words) != NULL, "%s",
        prt_error_last()->message);
}

START_TEST(all_parts_are_read)
{
    tflite made = tflite_sample();
    const prt_tflite_model *m;
    ck_assert_int_eq(parse(made.f, &m), POPRT_OK);
    ck_assert_uint_eq(m->n_subgraphs, 1);
    const prt_tflite_subgraph *g = &m->subgraphs[0];
    ck_assert_uint_eq(g->n_tensors, 3);
    ck_assert_uint_eq(g->n_operators, 1);
    ck_assert_uint_eq(g->inputs.count, 1);
    ck_assert_int_eq(g->outputs.data[0], 2);
    const prt_tflite_tensor *w = &g->tensors[1];
    ck_assert(prt_str_is(w->name, "w"));
    ck_assert_int_eq(w->dtype, PRT_DTYPE_f32);
    ck_assert_uint_eq(w->rank, 2);
    ck_assert_int_eq(w->dims[1], 3);
    ck_assert_uint_eq(w->data.size, 24);
    ck_assert_ptr_null(g->tensors[0].data.data);
    const prt_tflite_operator *op = &g->operators[0];
    ck_assert(prt_str_is(prt_tflite_operator_name(op), "ADD"));
    ck_assert_int_eq(op->version, 1);
    ck_assert_int_eq(op->inputs.data[1], 1);
    ck_assert_int_eq(PRT_TFLITE_INT(&op->options, AddOptions, activation), PRT_TFLITE_RELU6);
}
END_TEST

START_TEST(the_larger_code_and_the_custom_name_identify_an_operator)
{
    const prt_tflite_model *m;
    tflite made = tflite_model(2, 1, 1);
    tflite_code(&made, 0, PRT_TFLITE_OP_GELU);
    tflite_code(&made, 1, PRT_TFLITE_OP_CUSTOM);
    tflite_subgraph(&made, 0, 2, 2);
    (void)tflite_tensor(&made, 0, "x", 0, 0, NULL, 0);
    (void)tflite_tensor(&made, 1, "y", 0, 0, NULL, 0);
    tflite_operator(&made, 0, 0, 0, -1, 1);
    tflite_operator(&made, 1, 1, 0, -1, 1);
    refuse(&made, POPRT_E_PARSE, "OperatorCode 1 at byte");
    refuse(&made, POPRT_E_PARSE, "custom_code: a custom operator has no name");
    const size_t code = flat_item(made.f, made.codes, 1);
    flat_int(made.f, code, PRT_TFLITE_FIELD(OperatorCode, deprecated_builtin_code), 32);
    flat_text(made.f, code, PRT_TFLITE_FIELD(OperatorCode, custom_code), "FlexErf");
    flat_int(made.f, code, PRT_TFLITE_FIELD(OperatorCode, version), 4);
    flat_bytes(made.f, made.op, PRT_TFLITE_FIELD(Operator, custom_options), "abc", 3);
    ck_assert_int_eq(parse(made.f, &m), POPRT_OK);
    const prt_tflite_operator *ops = m->subgraphs[0].operators;
    ck_assert_int_eq(ops[0].code, PRT_TFLITE_OP_GELU);
    ck_assert_int_eq(ops[0].inputs.data[1], -1);
    ck_assert(prt_str_is(prt_tflite_operator_name(&ops[1]), "FlexErf"));
    ck_assert_int_eq(ops[1].version, 4);
    ck_assert_uint_eq(ops[1].custom_options.size, 3);
}
END_TEST

START_TEST(shape_signature_marks_free_dims)
{
    const int64_t dims[] = { 1, 3 }, free_dims[] = { -1, 3 };
    const prt_tflite_model *m;
    tflite made = tflite_sample();
    const size_t t = tflite_tensor(&made, 0, "x", 0, 2, dims, 0);
    flat_ints(made.f, t, TENSOR(shape_signature), 2, free_dims);
    ck_assert_int_eq(parse(made.f, &m), POPRT_OK);
    ck_assert_int_eq(m->subgraphs[0].tensors[0].dims[0], -1);
    ck_assert_int_eq(m->subgraphs[0].tensors[0].dims[1], 3);
    flat_ints(made.f, t, TENSOR(shape_signature), 1, free_dims);
    refuse(&made, POPRT_E_PARSE, "another rank");
    const int64_t below[] = { -2, 3 };
    flat_ints(made.f, t, TENSOR(shape_signature), 2, below);
    refuse(&made, POPRT_E_PARSE, "below -1");
}
END_TEST

/* Gives tensor x of the sample scales and zero points. */
static size_t quantise(tflite *m, size_t n_scales, size_t n_zeros, int64_t axis)
{
    static const int64_t dims[] = { 2, 3 }, zeros[] = { -128, 0, 127 };
    const int64_t scales[] = { 0x3f000000, 0x3f800000, 0x40000000 }; /* 0.5, 1, 2 */
    const size_t t = tflite_tensor(m, 0, "x", 9, 2, dims, 0);
    const size_t q = flat_child(m->f, t, TENSOR(quantization));
    flat_ints(m->f, q, PRT_TFLITE_FIELD(QuantizationParameters, scale), n_scales, scales);
    flat_ints(m->f, q, PRT_TFLITE_FIELD(QuantizationParameters, zero_point), n_zeros, zeros);
    flat_int(m->f, q, PRT_TFLITE_FIELD(QuantizationParameters, quantized_dimension), axis);
    return q;
}

START_TEST(quantisation_is_read)
{
    const prt_tflite_model *m;
    tflite made = tflite_sample();
    (void)quantise(&made, 1, 1, 7);
    ck_assert_int_eq(parse(made.f, &m), POPRT_OK);
    const prt_tflite_quantization *q = m->subgraphs[0].tensors[0].quantization;
    ck_assert_uint_eq(q->count, 1);
    ck_assert_uint_eq(q->axis, 0);
    ck_assert(q->scales[0] == 0.5f);
    ck_assert_int_eq(q->zero_points[0], -128);
    (void)quantise(&made, 3, 3, 1);
    ck_assert_int_eq(parse(made.f, &m), POPRT_OK);
    q = m->subgraphs[0].tensors[0].quantization;
    ck_assert_uint_eq(q->count, 3);
    ck_assert_uint_eq(q->axis, 1);
    ck_assert(q->scales[2] == 2);
    ck_assert_int_eq(q->zero_points[2], 127);
    (void)quantise(&made, 3, 0, 1);
    ck_assert_int_eq(parse(made.f, &m), POPRT_OK);
    ck_assert_int_eq(m->subgraphs[0].tensors[0].quantization->zero_points[2], 0);
    (void)quantise(&made, 0, 0, 0);
    ck_assert_int_eq(parse(made.f, &m), POPRT_OK);
    ck_assert_ptr_null(m->subgraphs[0].tensors[0].quantization);
}
END_TEST

START_TEST(contradictory_quantisation_is_refused)
{
    tflite made = tflite_sample();
    (void)quantise(&made, 3, 3, 0);
    refuse(&made, POPRT_E_PARSE, "the number of scales differs");
    (void)quantise(&made, 3, 3, 2);
    refuse(&made, POPRT_E_PARSE, "the number of scales differs");
    (void)quantise(&made, 3, 2, 1);
    refuse(&made, POPRT_E_PARSE, "the number of zero points differs");
    const size_t q = quantise(&made, 1, 1, 0);
    const int64_t nan = 0x7fc00000;
    flat_ints(made.f, q, PRT_TFLITE_FIELD(QuantizationParameters, scale), 1, &nan);
    refuse(&made, POPRT_E_PARSE, "a scale is negative or infinite");
}
END_TEST

START_TEST(signatures_name_tensors)
{
    const prt_tflite_model *m;
    tflite made = tflite_sample();
    flat *f = made.f;
    const size_t v = flat_tables(f, f->root, PRT_TFLITE_FIELD(Model, signature_defs), 1);
    const size_t s = flat_item(f, v, 0);
    flat_text(f, s, PRT_TFLITE_FIELD(SignatureDef, signature_key), "serving_default");
    const size_t in = flat_tables(f, s, PRT_TFLITE_FIELD(SignatureDef, inputs), 1);
    const size_t port = flat_item(f, in, 0);
    flat_text(f, port, PRT_TFLITE_FIELD(TensorMap, name), "image");
    flat_int(f, port, PRT_TFLITE_FIELD(TensorMap, tensor_index), 1);
    ck_assert_int_eq(parse(f, &m), POPRT_OK);
    ck_assert_uint_eq(m->n_signatures, 1);
    ck_assert(prt_str_is(m->signatures[0].key, "serving_default"));
    ck_assert_uint_eq(m->signatures[0].n_outputs, 0);
    ck_assert(prt_str_is(m->signatures[0].inputs[0].name, "image"));
    ck_assert_uint_eq(m->signatures[0].inputs[0].tensor, 1);
    flat_int(f, port, PRT_TFLITE_FIELD(TensorMap, tensor_index), 3);
    refuse(&made, POPRT_E_PARSE, "TensorMap 0");
    flat_int(f, s, PRT_TFLITE_FIELD(SignatureDef, subgraph_index), 1);
    refuse(&made, POPRT_E_PARSE, "subgraph_index: is not the index of a subgraph");
}
END_TEST

START_TEST(buffers_behind_the_flatbuffer_are_read)
{
    const float w[] = { 6, 5, 4, 3, 2, 1 };
    const prt_tflite_model *m;
    tflite made = tflite_sample();
    flat *f = made.f;
    const size_t b = flat_item(f, made.buffers, 1);
    const size_t at = f->size;
    f->data = realloc(f->data, at + sizeof(w));
    memcpy(f->data + at, w, sizeof(w));
    f->size = f->capacity = at + sizeof(w);
    flat_int(f, b, PRT_TFLITE_FIELD(Buffer, offset), (int64_t)at);
    flat_int(f, b, PRT_TFLITE_FIELD(Buffer, size), sizeof(w));
    ck_assert_int_eq(parse(f, &m), POPRT_OK);
    ck_assert_ptr_eq(m->subgraphs[0].tensors[1].data.data, f->data + at);
    flat_int(f, b, PRT_TFLITE_FIELD(Buffer, size), sizeof(w) + 1);
    refuse(&made, POPRT_E_PARSE, "Buffer 1");
    flat_int(f, b, PRT_TFLITE_FIELD(Buffer, size), -1);
    refuse(&made, POPRT_E_PARSE, "field size: is above the maximum");
    flat_int(f, b, PRT_TFLITE_FIELD(Buffer, offset), INT64_MAX);
    flat_int(f, b, PRT_TFLITE_FIELD(Buffer, size), INT64_MAX);
    refuse(&made, POPRT_E_PARSE, "lies outside of the file");
}
END_TEST

START_TEST(bad_indices_are_refused)
{
    const int64_t dims[] = { 2, 3 };
    tflite made = tflite_sample();
    tflite_operator(&made, 0, 1, 0, 1, 2);
    refuse(&made, POPRT_E_PARSE, "opcode_index: is not the index of an operator code");
    tflite_operator(&made, 0, 0, 0, 3, 2);
    refuse(&made, POPRT_E_PARSE, "field inputs: has an index that is not a tensor");
    tflite_operator(&made, 0, 0, -2, 1, 2);
    refuse(&made, POPRT_E_PARSE, "field inputs");
    tflite_operator(&made, 0, 0, 0, 1, -1);
    refuse(&made, POPRT_E_PARSE, "field outputs");
    made = tflite_sample();
    tflite_ports(&made, -1, 2);
    refuse(&made, POPRT_E_PARSE, "SubGraph 0");
    made = tflite_sample();
    (void)tflite_tensor(&made, 1, "w", 0, 2, dims, 2);
    refuse(&made, POPRT_E_PARSE, "buffer: is not the index of a buffer");
    (void)tflite_tensor(&made, 1, "w", 9, 2, dims, 1);
    refuse(&made, POPRT_E_PARSE, "the size of the data does not fit");
    (void)tflite_tensor(&made, 1, "w", 99, 2, dims, 1);
    refuse(&made, POPRT_E_UNSUPPORTED, "type: is not a type that is known");
    const int64_t nine[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    (void)tflite_tensor(&made, 1, "w", 0, 9, nine, 0);
    refuse(&made, POPRT_E_LIMIT, "more than 8 dimensions");
}
END_TEST

START_TEST(other_files_are_refused)
{
    tflite made = tflite_model(0, 0, 0);
    refuse(&made, POPRT_E_PARSE, "there is not any subgraph");
    flat_int(made.f, made.f->root, PRT_TFLITE_FIELD(Model, version), 2);
    refuse(&made, POPRT_E_VERSION, "version: is not 3");
    made.f->data[7] = '4';
    refuse(&made, POPRT_E_PARSE, "TFL3");
}
END_TEST

/* A model of subgraphs, each with one WHILE whose condition and body are the given subgraphs; -1:
 * without an operator. */
static tflite chained(size_t count, const int64_t (*refers)[2])
{
    tflite m = tflite_model(1, 1, count);
    tflite_code(&m, 0, PRT_TFLITE_OP_WHILE);
    for (size_t i = 0; i < count; i++) {
        tflite_subgraph(&m, i, 1, refers[i][0] >= 0 ? 1 : 0);
        (void)tflite_tensor(&m, 0, "x", 0, 0, NULL, 0);
        if (refers[i][0] < 0)
            continue;
        tflite_operator(&m, 0, 0, 0, -1, 0);
        const size_t o = tflite_options(&m, PRT_TFLITE_MESSAGE(WhileOptions));
        flat_int(m.f, o, PRT_TFLITE_FIELD(WhileOptions, cond), refers[i][0]);
        flat_int(m.f, o, PRT_TFLITE_FIELD(WhileOptions, body), refers[i][1]);
    }
    return m;
}

START_TEST(subgraphs_refer_without_a_cycle)
{
    static const int64_t good[][2] = { { 1, 2 }, { 3, 3 }, { 1, 3 }, { -1, -1 } };
    static const int64_t self[][2] = { { 1, 0 }, { -1, -1 } };
    static const int64_t cycle[][2] = { { 1, 2 }, { -1, -1 }, { 1, 3 }, { 1, 2 } };
    static const int64_t outside[][2] = { { 1, 2 }, { -1, -1 } };
    tflite m = chained(4, good);
    ck_assert_int_eq(parse(m.f, NULL), POPRT_OK);
    m = chained(2, self);
    refuse(&m, POPRT_E_PARSE, "WhileOptions 0");
    m = chained(4, cycle);
    refuse(&m, POPRT_E_PARSE, "contains this operator");
    m = chained(2, outside);
    refuse(&m, POPRT_E_PARSE, "does not exist");
}
END_TEST

START_TEST(nesting_is_limited)
{
    enum { COUNT = PRT_TFLITE_NESTING + 1 };
    int64_t chain[COUNT][2];
    for (int reversed = 0; reversed < 2; reversed++)
        for (int64_t count = COUNT - 1; count <= COUNT; count++) {
            for (int64_t i = 0; i < count; i++) {
                const int64_t to = reversed ? i - 1 : i < count - 1 ? i + 1 : -1;
                chain[i][0] = chain[i][1] = to;
            }
            tflite m = chained((size_t)count, (const int64_t(*)[2])chain);
            if (count == COUNT)
                refuse(&m, POPRT_E_LIMIT, "nested too deeply");
            else
                ck_assert_int_eq(parse(m.f, NULL), POPRT_OK);
        }
}
END_TEST

static prt_blob *mapped[8]; /* kept until the process ends */
static size_t n_mapped;

static prt_blob *fixture(const char *name)
{
    char path[512];
    prt_blob *blob = NULL;
    (void)snprintf(path, sizeof(path), "%s/tflite/%s", PRT_TEST_DATA, name);
    ck_assert_int_eq(prt_file_map(NULL, path, &blob), POPRT_OK);
    mapped[n_mapped++ % PRT_COUNT_OF(mapped)] = blob;
    return blob;
}

static const char *const files[] = { "lstm.tflite", "int8.tflite", "control.tflite" };

START_TEST(files_of_tensorflow_are_read)
{
    static const size_t subgraphs[] = { 5, 1, 5 };
    const prt_tflite_subgraph *main_graphs[PRT_COUNT_OF(files)];
    prt_tflite_model *m = NULL;
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    for (size_t i = 0; i < PRT_COUNT_OF(files); i++) {
        ck_assert_int_eq(prt_tflite_parse(arena, fixture(files[i]), &m), POPRT_OK);
        ck_assert_uint_eq(m->n_subgraphs, subgraphs[i]);
        main_graphs[i] = &m->subgraphs[0];
    }
    const prt_tflite_tensor *x = &main_graphs[1]->tensors[main_graphs[1]->inputs.data[0]];
    const int64_t dims[] = { 1, 12, 12, 4 };
    ck_assert_uint_eq(x->rank, 4);
    ck_assert_mem_eq(x->dims, dims, sizeof(dims));
    size_t loops = 0;
    for (size_t i = 0; i < main_graphs[0]->n_operators; i++)
        loops += main_graphs[0]->operators[i].code == PRT_TFLITE_OP_WHILE;
    ck_assert_uint_eq(loops, 2);
}
END_TEST

START_TEST(damaged_words_never_harm)
{
    static const uint32_t values[] = { 0, 1, 4, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000,
        0xfffffffe, 0xffffffff };
    size_t refused = 0;
    ck_assert_int_eq(prt_arena_create(NULL, 64 << 20, &arena), POPRT_OK);
    for (size_t i = 0; i < PRT_COUNT_OF(files); i++) {
        const prt_blob *original = fixture(files[i]);
        prt_blob *copy = NULL;
        prt_tflite_model *m;
        ck_assert_int_eq(prt_blob_create(NULL, original->size, &copy), POPRT_OK);
        unsigned char *bytes = prt_blob_bytes(copy);
        for (size_t at = 0; at + 4 <= original->size; at += 4)
            for (size_t k = 0; k < PRT_COUNT_OF(values); k++) {
                memcpy(bytes, original->data, original->size);
                memcpy(bytes + at, &values[k], 4);
                prt_arena_reset(arena);
                refused += prt_tflite_parse(arena, copy, &m) != POPRT_OK;
            }
        prt_blob_release(copy);
    }
    ck_assert_uint_gt(refused, 1000);
}
END_TEST

PRT_TEST_MAIN("tflite/model", all_parts_are_read,
    the_larger_code_and_the_custom_name_identify_an_operator, shape_signature_marks_free_dims,
    quantisation_is_read, contradictory_quantisation_is_refused, signatures_name_tensors,
    buffers_behind_the_flatbuffer_are_read, bad_indices_are_refused, other_files_are_refused,
    subgraphs_refer_without_a_cycle, nesting_is_limited, files_of_tensorflow_are_read,
    damaged_words_never_harm)
