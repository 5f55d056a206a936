/* SPDX-License-Identifier: MIT */
/* test_conversions.c — options of conversions that other tests reach by their passes only. */
#include "session_test.h"

#include <stdio.h>
#include <unistd.h>

typedef struct text {
    char data[1 << 16];
    size_t size;
} text;

static int32_t append(void *user, const void *bytes, size_t size)
{
    text *t = user;
    ck_assert_uint_lt(t->size + size, sizeof(t->data));
    memcpy(t->data + t->size, bytes, size);
    t->size += size;
    return 0;
}

/* Converts a copy of a model under options, and returns it as text; also the number of passes. */
static const char *converted(const poprt_model *model, const char *options, size_t *n_passes)
{
    static text t;
    poprt_config *config = options_of(NULL, options);
    poprt_pass_manager *manager = NULL;
    poprt_model *copy = NULL;
    poprt_pass_info info = { .struct_size = sizeof(info) };
    size_t n = 0;
    ck_assert_ok(poprt_model_clone(model, &copy));
    ck_assert_ok(poprt_pass_manager_create(NULL, &manager));
    ck_assert_ok(poprt_pass_manager_add_pipeline(manager, "convert", config));
    while (poprt_pass_manager_at(manager, n, &info) == POPRT_OK)
        n++;
    ck_assert_ok(poprt_pass_manager_run(manager, copy));
    t.size = 0;
    ck_assert_ok(poprt_model_describe(copy, POPRT_FORMAT_TEXT, append, &t));
    t.data[t.size] = '\0';
    poprt_pass_manager_release(manager);
    poprt_model_release(copy);
    poprt_config_release(config);
    if (n_passes != NULL)
        *n_passes = n;
    return t.data;
}

static bool makes(const poprt_model *model, const char *options, const char *word)
{
    return strstr(converted(model, options, NULL), word) != NULL;
}

/* An image of three channels, and a map from 0 to 1. */
static poprt_model *painter(void)
{
    poprt_builder *b = new_builder(13);
    const poprt_id x = FLOATS(b, 1, 3, 8, 8),
                   w = add_weight(b, "w", (const int64_t[]){ 3, 3, 3, 3 }, 4);
    const poprt_conv_attrs attrs = { .pads = POPRT_INTS(1, 1, 1, 1) };
    const poprt_id y = poprt_op_conv(b, x, w, 0, &attrs);
    ck_assert_ok(poprt_builder_output(b, poprt_op_sigmoid(b, y, NULL)));
    return finish(b);
}

START_TEST(images_of_eight_bits_have_means_and_deviations)
{
    poprt_model *model = painter();
    ck_assert(!makes(model, "", "u8["));
    ck_assert(makes(model, "eightbitsio = true", "u8[1,3,8,8]"));
    ck_assert(makes(model, "eightbitsio = true\neightbitsio_mean = 0.375\neightbitsio_std = 0.125",
        "{3, 3, 3}"));
    ck_assert(!makes(model, "eightbitsio = true\neightbitsio_mean = 0.5\neightbitsio_std = 0.125",
        "{3, 3, 3}"));
    poprt_model_release(model);
}
END_TEST

/* The output of a Conv has no known range: it becomes bytes if it is listed as an image. */
START_TEST(outputs_of_eight_bits_are_listed)
{
    char options[256];
    poprt_io_info out = { .struct_size = sizeof(out) };
    poprt_builder *b = new_builder(13);
    const poprt_id x = FLOATS(b, 1, 1, 4, 4),
                   w = add_weight(b, "w", (const int64_t[]){ 2, 1, 1, 1 }, 4);
    ck_assert_ok(poprt_builder_output(b, poprt_op_conv(b, x, w, 0, NULL)));
    poprt_model *model = finish(b);
    ck_assert_ok(poprt_model_io_at(model, POPRT_OUTPUT, 0, &out));
    (void)snprintf(options, sizeof(options),
        "eightbitsio = true\neightbitsio_mean = 0.5\neightbitsio_std = 0.25\n"
        "eightbitsio_outputs = \"%s\"",
        out.name);
    ck_assert(!makes(model, "eightbitsio = true\neightbitsio_mean = 0.5\neightbitsio_std = 0.25",
        "to=2"));
    ck_assert(makes(model, options, "to=2"));
    poprt_model_release(model);
}
END_TEST

START_TEST(types_of_operators_keep_float32)
{
    poprt_model *model = painter();
    ck_assert(makes(model, "precision = fp16", "const f16[3,3,3,3]"));
    ck_assert(!makes(model, "precision = fp16\nfp16_skip_op_types = Conv", "const f16[3,3,3,3]"));
    poprt_model_release(model);
}
END_TEST

START_TEST(inputs_of_one_type_become_one)
{
    poprt_builder *b = new_builder(13);
    const poprt_id x = FLOATS(b, 2, 4), y = FLOATS(b, 2, 4);
    ck_assert_ok(poprt_builder_output(b, poprt_op_add(b, x, y, NULL)));
    poprt_model *model = finish(b);
    ck_assert(!makes(model, "", "f32[2,8]"));
    ck_assert(makes(model, "apply_hcsr = [[\"fp32\", [2, 4], 2]]", "f32[2,8]"));
    poprt_model_release(model);
}
END_TEST

START_TEST(compress_becomes_an_operator_of_fixed_length)
{
    poprt_builder *b = new_builder(13);
    const poprt_id x = FLOATS(b, 6), keep = INPUT(b, POPRT_DTYPE_BOOL, 6);
    const poprt_id kept = poprt_op_compress(b, x, keep, NULL);
    ck_assert_ok(poprt_builder_output(b, poprt_op_reduce_l2(b, kept, 0, NULL)));
    poprt_model *model = finish(b);
    ck_assert(!makes(model, "", "mask_compress"));
    ck_assert(makes(model, "enable_compress_pattern = true", "mask_compress"));
    poprt_model_release(model);
}
END_TEST

START_TEST(shapes_are_inferred_ahead)
{
    size_t plain = 0, ahead = 0;
    poprt_model *model = painter();
    (void)converted(model, "", &plain);
    (void)converted(model, "infer_shape_ahead = true", &ahead);
    ck_assert_uint_gt(ahead, plain);
    poprt_model_release(model);
}
END_TEST

/* The file of a model, of which nodes changed; with only_marks it is the old one. */
START_TEST(files_change_in_their_marks_only)
{
    char path[64];
    poprt_model *model = NULL;
    poprt_pass_manager *manager = NULL;
    (void)snprintf(path, sizeof(path), "marks_%ld.onnx", (long)getpid());
    ck_assert_ok(poprt_model_load_file(NULL, PRT_TEST_DATA "/digits/model.onnx", NULL, &model));
    ck_assert_ok(poprt_pass_manager_create(NULL, &manager));
    ck_assert_ok(poprt_pass_manager_add(manager, "fuse_elementwise", NULL));
    ck_assert_ok(poprt_pass_manager_add(manager, "replace_gemm_with_matmul", NULL));
    ck_assert_ok(poprt_pass_manager_run(manager, model));
    for (int only = 0; only < 2; only++) {
        static char old[1 << 18], now[1 << 18];
        poprt_config *config = options_of(NULL, only ? "only_marks = true" : "");
        ck_assert_ok(poprt_model_save_file_as(model, path, config));
        FILE *a = fopen(PRT_TEST_DATA "/digits/model.onnx", "rb"), *b = fopen(path, "rb");
        ck_assert(a != NULL && b != NULL);
        const size_t n = fread(old, 1, sizeof(old), a), m = fread(now, 1, sizeof(now), b);
        ck_assert_int_eq(n == m && memcmp(old, now, n) == 0, only);
        (void)fclose(a);
        (void)fclose(b);
        poprt_config_release(config);
    }
    (void)remove(path);
    poprt_pass_manager_release(manager);
    poprt_model_release(model);
}
END_TEST

/* The sum of 2,050 ones is a number of float16, but in float16 it stays 2,048: 2,049 is rounded to
 * that. */
START_TEST(sums_of_products_are_wider_than_half)
{
    enum { ONES = 2050 };
    static const char *const options[] = { "partialsTypeMatMuls = half",
        "partialsTypeMatMuls = half\ncpu = portable", "partials_type = half\nexact_half = true",
        "Precision.setPartialsType(half)\ncpu = reference",
        "partialsTypeMatMuls = half\noptimize = false" };
    static const int64_t dims[] = { ONES, 1, 1, 1 };
    static uint16_t ones[ONES];
    for (int i = 0; i < ONES; i++)
        ones[i] = 0x3c00;
    for (int convolves = 0; convolves < 2; convolves++) {
        poprt_builder *b = new_builder(17);
        const poprt_tensor column = tensor_of(POPRT_DTYPE_FLOAT16, ones, sizeof(ones), dims, 2);
        const poprt_tensor filter = { .data = ones,
            .size = sizeof(ones),
            .dims = (const int64_t[]){ 1, ONES, 1, 1 },
            .rank = 4,
            .dtype = POPRT_DTYPE_FLOAT16 };
        const poprt_id in[] = { convolves ? INPUT(b, POPRT_DTYPE_FLOAT16, 1, ONES, 1, 1)
                                          : INPUT(b, POPRT_DTYPE_FLOAT16, 1, ONES),
            poprt_builder_constant(b, "w", convolves ? &filter : &column, 0) };
        poprt_builder_op_info op = { .struct_size = sizeof(op),
            .op_type = convolves ? "Conv" : "MatMul",
            .inputs = in,
            .n_inputs = 2,
            .n_outputs = 1 };
        ck_assert_ok(poprt_builder_output(b, poprt_builder_op(b, &op, NULL)));
        poprt_model *model = finish(b);
        const poprt_tensor row = { .data = ones,
            .size = sizeof(ones),
            .dims = filter.dims,
            .rank = convolves ? 4 : 2,
            .dtype = POPRT_DTYPE_FLOAT16 };
        for (size_t k = 0; k < sizeof(options) / sizeof(options[0]); k++) {
            uint16_t y = 0;
            ck_assert_ok(run_once(model, options[k], &row, &y, sizeof(y)));
            ck_assert_msg(y == 0x6801, "%s: %x", options[k], y);
        }
        poprt_model_release(model);
    }
}
END_TEST

PRT_TEST_MAIN("session/conversions", images_of_eight_bits_have_means_and_deviations,
    outputs_of_eight_bits_are_listed, types_of_operators_keep_float32,
    inputs_of_one_type_become_one, compress_becomes_an_operator_of_fixed_length,
    shapes_are_inferred_ahead, files_change_in_their_marks_only,
    sums_of_products_are_wider_than_half)
