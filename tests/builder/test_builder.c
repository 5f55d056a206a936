/* SPDX-License-Identifier: MIT */
/*
 * test_builder.c — names, types, lists and models of builders.
 *
 * Covers: root.c, tensors.c, nodes.c, encode.c, model.c, constant.c, builder.c, builder_query.c,
 * onnx_append.c
 */
#include <time.h>

#include "build.h"

START_TEST(names_have_scopes_and_suffixes)
{
    poprt_builder *b = new_builder(11);
    const poprt_id x = FLOATS(b, 2, 3);
    ck_assert_str_eq(poprt_builder_name(b, x), "input");
    ck_assert_str_eq(poprt_builder_name(b, FLOATS(b, 2, 3)), "input/1");
    ck_assert_str_eq(poprt_builder_name(b, add_weight(b, NULL, DIMS(3))), "init_input");
    ck_assert_ok(poprt_builder_push_name(b, "net"));
    ck_assert_ok(poprt_builder_push_name(b, "layer"));
    const poprt_relu_attrs named = { .name = "act" };
    ck_assert_str_eq(poprt_builder_name(b, poprt_op_relu(b, x, &named)), "net/layer/act:0");
    ck_assert_str_eq(poprt_builder_name(b, poprt_op_relu(b, x, NULL)), "net/layer/Relu:0");
    ck_assert_str_eq(poprt_builder_name(b, poprt_op_relu(b, x, NULL)), "net/layer/Relu:0/1");
    ck_assert_ok(poprt_builder_pop(b));
    ck_assert_str_eq(poprt_builder_name(b, poprt_op_relu(b, x, NULL)), "net/Relu:0");
    ck_assert_ok(poprt_builder_pop(b));
    poprt_id out[2];
    const poprt_id top = poprt_op_topk(b, x, INTEGERS(b, 1), NULL, 2, out);
    ck_assert_uint_eq(top, out[0]);
    ck_assert_str_eq(poprt_builder_name(b, out[1]), "TopK:1");
    ck_assert_uint_eq(poprt_builder_find(b, "TopK:1"), out[1]);
    ck_assert_uint_eq(poprt_builder_find(b, "TopK:2"), 0);
    ck_assert_ok(poprt_builder_status(b));
    poprt_builder_release(b);
}
END_TEST

START_TEST(outputs_may_be_named_by_the_caller)
{
    poprt_builder *b = new_builder(11);
    const poprt_id x = FLOATS(b, 4);
    const char *const names[] = { "result" };
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .op_type = "Neg",
        .inputs = &x,
        .output_names = names,
        .n_inputs = 1,
        .n_outputs = 1 };
    ck_assert_ok(poprt_builder_push_name(b, "scope"));
    ck_assert_str_eq(poprt_builder_name(b, poprt_builder_op(b, &op, NULL)), "result");
    ck_assert_uint_eq(poprt_builder_op(b, &op, NULL), 0);
    assert_failed(b, POPRT_E_ARG, "another tensor has this name");
}
END_TEST

START_TEST(types_are_known_at_once)
{
    poprt_builder *b = new_builder(11);
    const poprt_type type = { .dtype = POPRT_DTYPE_FLOAT32, .rank = 4, .dims = { -1, 3, 8, 8 } };
    const char *const names[] = { "batch", NULL, NULL, NULL };
    const poprt_id x = poprt_builder_input(b, "x", &type, names);
    const poprt_conv_attrs conv = { .pads = POPRT_INTS(1, 1, 1, 1), .strides = POPRT_INTS(2, 2) };
    const poprt_id y = poprt_op_conv(b, x, add_weight(b, "w", DIMS(5, 3, 3, 3)), 0, &conv);
    poprt_type got, in;
    ck_assert_ok(poprt_builder_type(b, y, &got));
    ck_assert_ok(poprt_builder_type(b, x, &in));
    ck_assert_int_eq(got.dims[0], in.dims[0]); /* the same symbol */
    ck_assert_int_lt(got.dims[0], -1);
    ck_assert_int_eq(got.dims[1], 5);
    ck_assert_int_eq(got.dims[2], 4);
    const poprt_id flat = poprt_op_reshape(b, y, INTEGERS(b, 0, -1), NULL);
    ck_assert_ok(poprt_builder_type(b, flat, &got));
    ck_assert_int_eq(got.rank, 2);
    ck_assert_int_eq(got.dims[1], 80);
    const poprt_cast_attrs half = { .to = poprt_int(POPRT_DTYPE_FLOAT16) };
    ck_assert_ok(poprt_builder_type(b, poprt_op_cast(b, flat, &half), &got));
    ck_assert_int_eq(got.dtype, POPRT_DTYPE_FLOAT16);
    poprt_builder_release(b);
}
END_TEST

START_TEST(lists_have_tensors_in_order)
{
    poprt_builder *b = new_builder(11);
    const poprt_id x = FLOATS(b, 2, 2), w = add_weight(b, "w", DIMS(2, 2)), k = INTEGERS(b, 1);
    const int64_t one = 1;
    const poprt_tensor count = { (void *)(uintptr_t)&one, sizeof(one), NULL, 0, POPRT_DTYPE_INT64 };
    const poprt_id steps = poprt_builder_weight(b, "steps", &count, 0);
    const poprt_id y = poprt_op_matmul(b, x, w, NULL), z = poprt_op_relu(b, y, NULL);
    ck_assert_ok(poprt_builder_output(b, z));
    ck_assert_uint_eq(poprt_builder_count(b, POPRT_BUILDER_INPUTS), 1);
    ck_assert_uint_eq(poprt_builder_at(b, POPRT_BUILDER_INPUTS, 0), x);
    ck_assert_uint_eq(poprt_builder_count(b, POPRT_BUILDER_VALUES), 2);
    ck_assert_uint_eq(poprt_builder_at(b, POPRT_BUILDER_VALUES, 1), z);
    ck_assert_uint_eq(poprt_builder_at(b, POPRT_BUILDER_OUTPUTS, 0), z);
    ck_assert_uint_eq(poprt_builder_count(b, POPRT_BUILDER_WEIGHTS), 2);
    ck_assert_uint_eq(poprt_builder_at(b, POPRT_BUILDER_WEIGHTS, 1), steps);
    ck_assert_uint_eq(poprt_builder_count(b, POPRT_BUILDER_TRAINABLE), 1);
    ck_assert_uint_eq(poprt_builder_at(b, POPRT_BUILDER_TRAINABLE, 0), w);
    ck_assert_uint_eq(poprt_builder_at(b, POPRT_BUILDER_TRAINABLE, 1), 0);
    ck_assert_uint_eq(poprt_builder_count(b, 7), 0);
    ck_assert_int_eq(poprt_builder_is_initializer(b, w), 1);
    ck_assert_int_eq(poprt_builder_is_initializer(b, k), 1);
    ck_assert_int_eq(poprt_builder_is_initializer(b, x), 0);
    ck_assert_int_eq(poprt_builder_is_initializer(b, 99), 0);
    poprt_builder_release(b);
}
END_TEST

static void is_two_point_five(const poprt_tensor *out)
{
    ck_assert_int_eq(out->dtype, POPRT_DTYPE_FLOAT32);
    ck_assert_uint_eq(out->size, 4 * sizeof(float));
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq_tol(((const float *)out->data)[i], 2.5f, 1e-6f);
}

/* x [2, 2] of ones times w of ones, plus a constant 0.5. */
static poprt_builder *small_net(int64_t opset)
{
    static const float half = 0.5f;
    poprt_builder *b = new_builder(opset);
    const poprt_id x = FLOATS(b, 2, 2), w = add_weight(b, "w", DIMS(2, 2));
    const poprt_id y = poprt_op_matmul(b, x, w, NULL);
    const poprt_tensor t = { (void *)(uintptr_t)&half, sizeof(half), NULL, 0, POPRT_DTYPE_FLOAT32 };
    const poprt_constant_attrs value = { .name = "bias", .value = &t };
    ck_assert_ok(poprt_builder_output(b, poprt_op_add(b, y, poprt_op_constant(b, &value), NULL)));
    return b;
}

START_TEST(finished_models_run)
{
    static const int64_t opsets[] = { 7, 8, 9, 10, 11, 12, 13, 18, 0 };
    for (size_t i = 0; i < sizeof(opsets) / sizeof(*opsets); i++)
        run_model(finish(small_net(opsets[i])), is_two_point_five);
}
END_TEST

typedef struct file_bytes {
    char *data;
    size_t size;
} file_bytes;

static int32_t collect(void *user, const void *bytes, size_t size)
{
    file_bytes *to = user;
    to->data = realloc(to->data, to->size + size);
    memcpy(to->data + to->size, bytes, size);
    to->size += size;
    return 0;
}

START_TEST(models_are_written_as_they_were_built)
{
    file_bytes first = { NULL, 0 }, second = { NULL, 0 };
    poprt_model *model = finish(small_net(9)), *again = NULL;
    ck_assert_ok(poprt_model_save(model, collect, &first));
    ck_assert_ok(poprt_model_load_bytes(NULL, first.data, first.size, NULL, &again));
    poprt_model_info info = { .struct_size = sizeof(info) };
    ck_assert_ok(poprt_model_get_info(again, &info));
    ck_assert_int_eq(info.opset, 9);
    ck_assert_int_eq(info.ir_version, 4);
    ck_assert_str_eq(info.producer_name, "libpoprt");
    ck_assert_uint_eq(poprt_model_io_count(again, POPRT_INPUT), 1);
    ck_assert_ok(poprt_model_save(again, collect, &second));
    ck_assert_uint_eq(first.size, second.size);
    ck_assert_int_eq(memcmp(first.data, second.data, first.size), 0);
    free(first.data);
    free(second.data);
    poprt_model_release(again);
    run_model(model, is_two_point_five);
}
END_TEST

START_TEST(a_builder_makes_several_models)
{
    poprt_builder *b = small_net(11);
    poprt_model *first = NULL;
    ck_assert_ok(poprt_builder_finish(b, &first));
    const poprt_id y = poprt_builder_at(b, POPRT_BUILDER_OUTPUTS, 0);
    ck_assert_ok(poprt_builder_output(b, poprt_op_neg(b, y, NULL)));
    poprt_model *second = finish(b);
    ck_assert_uint_eq(poprt_model_io_count(first, POPRT_OUTPUT), 1);
    ck_assert_uint_eq(poprt_model_io_count(second, POPRT_OUTPUT), 2);
    poprt_model_release(second);
    run_model(first, is_two_point_five);
}
END_TEST

START_TEST(a_copy_tells_weights_from_constants)
{
    poprt_builder *b = small_net(11), *copy = NULL;
    poprt_model *model = NULL;
    ck_assert_ok(poprt_builder_finish(b, &model));
    ck_assert_ok(poprt_builder_create_from(model, &copy));
    ck_assert_uint_eq(poprt_builder_count(copy, POPRT_BUILDER_WEIGHTS), 1);
    ck_assert_uint_eq(poprt_builder_at(copy, POPRT_BUILDER_TRAINABLE, 0),
        poprt_builder_find(copy, "w"));
    ck_assert_int_eq(poprt_builder_is_initializer(copy, poprt_builder_find(copy, "bias:0")), 1);
    poprt_builder_release(copy);
    poprt_model_release(model);
    poprt_builder_release(b);
}
END_TEST

START_TEST(loaded_models_are_extended)
{
    poprt_model *model = NULL;
    poprt_builder *b = NULL;
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    ck_assert_ok(poprt_builder_create_from(model, &b));
    ck_assert_uint_gt(poprt_builder_count(b, POPRT_BUILDER_TRAINABLE), 0);
    ck_assert_uint_eq(poprt_builder_count(b, POPRT_BUILDER_OUTPUTS),
        poprt_model_io_count(model, POPRT_OUTPUT));
    const poprt_id y = poprt_builder_at(b, POPRT_BUILDER_OUTPUTS, 0);
    ck_assert_ok(poprt_builder_output(b, poprt_op_softmax(b, y, NULL)));
    poprt_model *more = finish(b);
    ck_assert_uint_eq(poprt_model_io_count(more, POPRT_OUTPUT),
        poprt_model_io_count(model, POPRT_OUTPUT) + 1);
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_compile(more, NULL, &exec));
    poprt_executable_release(exec);
    poprt_model_release(more);
    poprt_model_release(model);
}
END_TEST

START_TEST(an_unchanged_copy_is_written_alike)
{
    file_bytes first = { NULL, 0 }, second = { NULL, 0 };
    poprt_model *model = NULL;
    poprt_builder *b = NULL;
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    ck_assert_ok(poprt_model_save(model, collect, &first));
    ck_assert_ok(poprt_builder_create_from(model, &b));
    poprt_model_release(model);
    model = finish(b);
    ck_assert_ok(poprt_model_save(model, collect, &second));
    ck_assert_uint_eq(first.size, second.size);
    free(first.data);
    free(second.data);
    poprt_model_release(model);
}
END_TEST

START_TEST(weights_are_borrowed)
{
    static float data[4] = { 1, 1, 1, 1 };
    const poprt_tensor t = { data, sizeof(data), (const int64_t[]){ 2, 2 }, 2,
        POPRT_DTYPE_FLOAT32 };
    poprt_builder *b = new_builder(13);
    const poprt_id w = poprt_builder_weight(b, "w", &t, POPRT_BUILDER_BORROW);
    ck_assert_ok(poprt_builder_output(b, poprt_op_matmul(b, FLOATS(b, 2, 2), w, NULL)));
    poprt_model *model = NULL;
    data[0] = 9; /* seen, because nothing was copied */
    ck_assert_ok(poprt_builder_finish(b, &model));
    file_bytes file = { NULL, 0 };
    ck_assert_ok(poprt_model_save(model, collect, &file));
    bool found = false;
    for (size_t i = 0; !found && i + sizeof(data) <= file.size; i++)
        found = memcmp(file.data + i, data, sizeof(data)) == 0;
    ck_assert(found);
    free(file.data);
    poprt_model_release(model);
    poprt_builder_release(b);
}
END_TEST

START_TEST(strings_and_small_types_are_constants)
{
    static const poprt_string words[] = { POPRT_TEXT("one"), POPRT_TEXT("two") };
    static const unsigned char packed[] = { 0x21, 0x03 };
    poprt_builder *b = new_builder(21);
    const poprt_constant_attrs text = { .value_strings = poprt_strings(words, 2) };
    assert_type(b, poprt_op_constant(b, &text), POPRT_DTYPE_STRING, DIMS(2));
    const poprt_tensor t = { (void *)(uintptr_t)packed, 2, (const int64_t[]){ 3 }, 1,
        POPRT_DTYPE_UINT4 };
    assert_type(b, poprt_builder_constant(b, "q", &t, 0), POPRT_DTYPE_UINT4, DIMS(3));
    const poprt_constant_attrs one = { .value_int = poprt_int(1) };
    assert_type(b, poprt_op_constant(b, &one), POPRT_DTYPE_INT64, NULL, 0);
    poprt_builder_release(b);
}
END_TEST

START_TEST(unknown_domains_are_kept)
{
    poprt_builder *b = new_builder(11);
    const poprt_id x = FLOATS(b, 2);
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .domain = "com.example",
        .op_type = "Mine",
        .inputs = &x,
        .n_inputs = 1,
        .n_outputs = 2 };
    poprt_id out[2];
    ck_assert_ok(poprt_builder_set_opset(b, "com.example", 3));
    ck_assert_uint_ne(poprt_builder_op(b, &op, out), 0);
    poprt_type type;
    ck_assert_ok(poprt_builder_type(b, out[1], &type));
    ck_assert_int_eq(type.rank, -1);
    ck_assert_ok(poprt_builder_output(b, poprt_op_relu(b, out[0], NULL)));
    poprt_model *model = finish(b);
    file_bytes file = { NULL, 0 };
    ck_assert_ok(poprt_model_save(model, collect, &file));
    free(file.data);
    poprt_model_release(model);
}
END_TEST

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Seconds of processor time for the last of `count` operators of equal names. */
static double time_of(poprt_builder *b, poprt_id *x, int count)
{
    const double start = seconds();
    for (int i = 0; i < count; i++)
        *x = i % 2 != 0 ? poprt_op_add(b, *x, *x, NULL) : poprt_op_relu(b, *x, NULL);
    ck_assert_ok(poprt_builder_status(b));
    return seconds() - start;
}

/* Quadratic work would make the last 10,000 operators three times as slow as the first. */
START_TEST(time_does_not_grow_with_the_model)
{
    poprt_builder *b = new_builder(11);
    poprt_id x = FLOATS(b, 4, 4);
    double best[4] = { 1e9, 1e9, 1e9, 1e9 };
    for (int i = 0; i < 4; i++)
        best[i] = time_of(b, &x, 10000);
    printf("10,000 operators: %.3f s, and %.3f s after 30,000\n", best[0], best[3]);
    ck_assert_double_lt(best[3], 3 * best[0] + 0.1);
    ck_assert_double_lt(best[0], 10); /* also with sanitizers */
    poprt_builder_release(b);
}
END_TEST

PRT_TEST_MAIN("builder/builder", names_have_scopes_and_suffixes, outputs_may_be_named_by_the_caller,
    types_are_known_at_once, lists_have_tensors_in_order, finished_models_run,
    models_are_written_as_they_were_built, a_builder_makes_several_models,
    a_copy_tells_weights_from_constants, loaded_models_are_extended,
    an_unchanged_copy_is_written_alike, weights_are_borrowed, strings_and_small_types_are_constants,
    unknown_domains_are_kept, time_does_not_grow_with_the_model)
