/* SPDX-License-Identifier: MIT */
/*
 * test_popef.c — PopEF: a written program is read back unchanged, and damaged files are refused.
 * Covers: crc.c, check.c, decode.c, encode.c, popef_index.c, popef_read.c, popef_write.c,
 * program.c, source.c.
 */
#include "base/crc.h"
#include "base/file.h"
#include "op/words.h"
#include "runtime/session.h"
#include "support/check_main.h"
#include "support/program_text.h"

#define MODEL                                                                                      \
    "x = input f32[2,n]\n"                                                                         \
    "w = const f32[2,1] {1.5, -2}\n"                                                               \
    "s = const string[2] {\"a\", \"bc\"}\n"                                                        \
    "c = input bool[]\n"                                                                           \
    "y = mul x w\n"                                                                                \
    "z = if c {\n"                                                                                 \
    "  then_branch {\n    t = add y w\n    return t\n  }\n"                                        \
    "  else_branch {\n    u = transpose y {perm=[0,1]}\n    return u\n  }\n"                       \
    "}\n"                                                                                          \
    "q = identity s\n"                                                                             \
    "return z, q\n"

START_TEST(crc_has_the_known_value)
{
    ck_assert_uint_eq(prt_crc32c(0, "123456789", 9), 0xe3069283u);
    unsigned char bytes[10000];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 31 + 7);
    const uint32_t whole = prt_crc32c(0, bytes, sizeof(bytes));
    uint32_t parts = prt_crc32c(0, bytes, 17);
    parts = prt_crc32c(parts, bytes + 17, 5000);
    parts = prt_crc32c(parts, bytes + 5017, sizeof(bytes) - 5017);
    ck_assert_uint_eq(whole, parts);
}
END_TEST

START_TEST(a_program_survives_the_file)
{
    prt_program *p = program_from_text(MODEL);
    const test_bytes a = popef_of(p), again = popef_of(p);
    ck_assert_uint_eq(a.size, again.size);
    ck_assert_mem_eq(a.data, again.data, a.size);
    prt_program *q = NULL;
    const poprt_status status = program_from_bytes(a.data, a.size, true, &q);
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    const test_bytes b = popef_of(q);
    ck_assert_uint_eq(a.size, b.size);
    ck_assert_mem_eq(a.data, b.data, a.size);
    ck_assert_uint_eq(q->n_blocks, 3);
    ck_assert_uint_eq(q->n_inputs, 2);
    ck_assert_str_eq(q->inputs[0].name.data, "x");
    prt_program_release(p);
    prt_program_release(q);
    free(a.data);
    free(b.data);
    free(again.data);
}
END_TEST

#define ZEROS "0,0,0,0,0,0,0,0,0,0,0,0,0"

/* With z = 0 and r = 1: h = 5 x, then 5 x + 10 h. */
START_TEST(packed_weights_of_the_file_are_used)
{
    prt_program *p = program_from_text("x = input f32[2,1,1]\nw = const f32[16] {0,0,5," ZEROS "}\n"
                                       "r = const f32[32] {0,0,0," ZEROS ",10,0,0," ZEROS "}\n"
                                       "b = const f32[1,6] {0,1,0,0,0,0}\n"
                                       "y = packed_gru x w r b {hidden_size=1,input_size=1,"
                                       "activations=[Affine,Affine]}\nreturn y\n");
    const test_bytes a = popef_of(p);
    prt_program *q = NULL;
    ck_assert_int_eq(program_from_bytes(a.data, a.size, true, &q), POPRT_OK);
    const test_bytes b = popef_of(q);
    ck_assert_uint_eq(a.size, b.size);
    ck_assert_mem_eq(a.data, b.data, a.size);
    float x[2] = { 1, 2 };
    const int64_t dims[3] = { 2, 1, 1 };
    prt_tensor in, y = { 0 };
    prt_session *s = NULL;
    const prt_session_options options = { .kern = NULL };
    ck_assert(prt_tensor_init(&in, PRT_DTYPE_f32, 3, dims, x));
    ck_assert_int_eq(prt_session_create(q, &options, &s), POPRT_OK);
    ck_assert_int_eq(prt_session_run(s, &in, &y), POPRT_OK);
    ck_f32(((const float *)y.data)[0], 5.0f);
    ck_f32(((const float *)y.data)[1], 60.0f);
    prt_session_release(s);
    prt_program_release(p);
    prt_program_release(q);
    free(a.data);
    free(b.data);
}
END_TEST

START_TEST(weights_are_aligned_views_of_the_file)
{
    prt_program *p = program_from_text(MODEL);
    const test_bytes a = popef_of(p);
    prt_program *q = NULL;
    ck_assert_int_eq(program_from_bytes(a.data, a.size, false, &q), POPRT_OK);
    for (uint32_t i = 0; i < q->n_constants; i++) {
        const prt_blob *w = q->constants[i].blob;
        if (q->constants[i].type->dtype == PRT_DTYPE_string)
            continue;
        ck_assert_uint_eq((uintptr_t)w->data % 64, 0);
        ck_assert(w->data > q->file->data && w->data < q->file->data + q->file->size);
    }
    prt_program_release(p);
    prt_program_release(q);
    free(a.data);
}
END_TEST

START_TEST(every_prefix_is_refused)
{
    prt_program *p = program_from_text(MODEL);
    const test_bytes a = popef_of(p);
    size_t accepted = 0;
    for (size_t n = 0; n < a.size; n++) {
        prt_program *q = NULL;
        if (program_from_bytes(a.data, n, true, &q) == POPRT_OK) {
            accepted++;
            prt_program_release(q);
        }
    }
    ck_assert_uint_eq(accepted, 0);
    prt_program_release(p);
    free(a.data);
}
END_TEST

/* With all checksums verified, every single flipped bit is detected. Exceptions by rule: the
 * minor digits of the version and the unused end of the version string. */
START_TEST(every_flipped_bit_is_detected)
{
    prt_program *p = program_from_text(MODEL);
    const test_bytes a = popef_of(p);
    size_t accepted = 0, in_version = 0;
    for (size_t i = 0; i < a.size * 8; i++) {
        prt_program *q = NULL;
        a.data[i / 8] ^= (unsigned char)(1u << (i % 8));
        if (program_from_bytes(a.data, a.size, true, &q) == POPRT_OK) {
            const test_bytes b = popef_of(q);
            a.data[i / 8] ^= (unsigned char)(1u << (i % 8));
            const bool same = b.size == a.size && memcmp(a.data, b.data, a.size) == 0;
            a.data[i / 8] ^= (unsigned char)(1u << (i % 8));
            accepted += !same;
            in_version += same;
            free(b.data);
            prt_program_release(q);
        }
        a.data[i / 8] ^= (unsigned char)(1u << (i % 8));
    }
    ck_assert_uint_eq(accepted, 0);
    ck_assert_uint_gt(in_version, 0);
    prt_program_release(p);
    free(a.data);
}
END_TEST

/* A file of format 1, in which buffers cannot share memory. */
START_TEST(format_1_is_read)
{
    prt_blob *file = NULL;
    prt_program *p = NULL;
    prt_session *s = NULL;
    ck_assert_int_eq(prt_file_map(NULL, PRT_TEST_DATA "/popef/format_1.popef", &file), POPRT_OK);
    const poprt_status status = prt_popef_read(NULL, 0, file, PRT_POPEF_VERIFY, NULL, &p);
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    ck_assert_int_eq(prt_session_create(p, &(prt_session_options){ 0 }, &s), POPRT_OK);
    float x[6] = { 1, 2, 3, 4, 5, 6 }, v[2] = { 0, 0 };
    bool yes = true;
    prt_tensor in[3], out[3] = { { 0 } };
    ck_assert(prt_tensor_init(&in[0], PRT_DTYPE_f32, 2, (const int64_t[]){ 2, 3 }, x));
    ck_assert(prt_tensor_init(&in[1], PRT_DTYPE_f32, 1, (const int64_t[]){ 2 }, v));
    ck_assert(prt_tensor_init(&in[2], PRT_DTYPE_bool, 0, NULL, &yes));
    ck_assert_int_eq(prt_session_run(s, in, out), POPRT_OK);
    ck_f32(((const float *)out[0].data)[5], -14); /* 6 * -2 + -2 */
    ck_assert_int_eq(out[1].dims[0], 12);
    ck_f32(((const float *)out[1].data)[11], 12); /* -(6 * -2) */
    ck_f32(((const float *)out[2].data)[1], -1);  /* -exp(0) */
    prt_session_release(s);
    prt_program_release(p);
    prt_blob_release(file);
}
END_TEST

/* A file of libpoprt 1.0.0 whose steps have words as attributes: Relu, HardSwish, LeakyRelu and
 * Tanh, the form taps, and products of i8. */
START_TEST(words_of_an_older_file_are_read)
{
    prt_blob *file = NULL;
    prt_program *p = NULL;
    ck_assert_int_eq(prt_file_map(NULL, PRT_TEST_DATA "/popef/words_1.popef", &file), POPRT_OK);
    const poprt_status status = prt_popef_read(NULL, 0, file, PRT_POPEF_VERIFY, NULL, &p);
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    uint32_t acts = 0, forms = 0, i8 = 0;
    for (uint32_t i = 0; i < p->n_params; i++) {
        const prt_eval_params *params = &p->params[i];
        if (params->def->id == PRT_OP_nhwc_quantized_conv)
            acts +=
                ((const prt_nhwc_quantized_conv_attrs *)params->attrs)->activation == PRT_ACT_relu;
        if (params->def->id == PRT_OP_nhwc_conv) {
            const prt_nhwc_conv_attrs *a = params->attrs;
            acts += a->activation == PRT_ACT_hard_swish;
            forms += a->form == PRT_NHWC_taps;
        }
        if (params->def->id == PRT_OP_fused_linear) {
            const prt_fused_linear_attrs *a = params->attrs;
            acts += a->activation == PRT_ACT_leaky_relu || a->activation == PRT_ACT_tanh;
            i8 += a->compute == PRT_LINEAR_i8;
        }
    }
    ck_assert_uint_eq(acts, 4);
    ck_assert_uint_eq(forms, 1);
    ck_assert_uint_eq(i8, 1);
    prt_program_release(p);
    prt_blob_release(file);
}
END_TEST

/* Programs of files that were written before metadata was stored have no metadata. */
START_TEST(programs_without_metadata_survive_the_file)
{
    static const char *const texts[] = { MODEL,
        "x = input f32[1,4,4,8]\na = nhwc_max_pool x {kernel_shape=[3,3],pads=[1,1,1,1]}\n"
        "y = concat x a {axis=3}\nreturn y\n" };
    for (size_t i = 0; i < 2; i++) {
        prt_program *p = program_from_text(texts[i]), *q = NULL;
        p->facts = (prt_facts){ 0 };
        const test_bytes a = popef_of(p);
        ck_assert_int_eq(program_from_bytes(a.data, a.size, true, &q), POPRT_OK);
        ck_assert_int_eq(q->facts.opset, 0);
        ck_assert_uint_eq(q->blocks[0].n_buffers, p->blocks[0].n_buffers);
        uint32_t columns = 0;
        for (uint32_t k = 0; k < p->blocks[0].n_buffers; k++) {
            ck_assert_uint_eq(q->blocks[0].buffers[k].space, p->blocks[0].buffers[k].space);
            columns += q->blocks[0].buffers[k].space == PRT_SPACE_COLUMNS;
        }
        ck_assert_uint_eq(columns, i); /* the pool of the second program */
        const test_bytes b = popef_of(q);
        ck_assert_uint_eq(a.size, b.size);
        ck_assert_mem_eq(a.data, b.data, a.size);
        prt_program_release(p);
        prt_program_release(q);
        free(a.data);
        free(b.data);
    }
}
END_TEST

START_TEST(foreign_and_concatenated_files_are_refused)
{
    prt_program *p = program_from_text(MODEL), *q = NULL;
    const test_bytes a = popef_of(p);
    ck_assert_int_eq(program_from_bytes("PK\3\4 something else, surely longer than a header"
                                        "........................................",
                         80, false, &q),
        POPRT_E_PARSE);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "not a PopEF file"));
    unsigned char *two = malloc(a.size * 2);
    ck_assert_ptr_nonnull(two);
    memcpy(two, a.data, a.size);
    memcpy(two + a.size, a.data, a.size);
    ck_assert_int_eq(program_from_bytes(two, a.size * 2, false, &q), POPRT_E_PARSE);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "several executables"));
    memcpy(a.data + 8, "2.0.0", 5);
    ck_assert_int_eq(program_from_bytes(a.data, a.size, false, &q), POPRT_E_VERSION);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "'2.0.0', this library reads 1.x"));
    free(two);
    prt_program_release(p);
    free(a.data);
}
END_TEST

START_TEST(unknown_blobs_are_skipped)
{
    prt_program *p = program_from_text(MODEL), *q = NULL;
    const test_bytes a = popef_of(p);
    unsigned char *more = malloc(a.size + 72);
    ck_assert_ptr_nonnull(more);
    memcpy(more, a.data, a.size);
    memcpy(more + a.size, a.data, 64);
    memset(more + a.size + 64, 0, 8);
    more[a.size + 24] = 9;                               /* an unknown blob type */
    memcpy(more + a.size + 32, "\110\0\0\0\0\0\0\0", 8); /* 72 bytes in total */
    memcpy(more + a.size + 40, "\010\0\0\0\0\0\0\0", 8); /* 8 bytes of content */
    ck_assert_int_eq(program_from_bytes(more, a.size + 72, false, &q), POPRT_OK);
    prt_program_release(q);
    prt_program_release(p);
    free(more);
    free(a.data);
}
END_TEST

PRT_TEST_MAIN("program/popef", crc_has_the_known_value, a_program_survives_the_file,
    packed_weights_of_the_file_are_used, weights_are_aligned_views_of_the_file,
    every_prefix_is_refused, every_flipped_bit_is_detected, format_1_is_read,
    words_of_an_older_file_are_read, programs_without_metadata_survive_the_file,
    foreign_and_concatenated_files_are_refused, unknown_blobs_are_skipped)
