/* SPDX-License-Identifier: MIT */
/*
 * test_forms.c — options that choose the form of operators, or what may be folded and written.
 * Covers: compiler/forms.c.
 */
#include "session_test.h"

#include <math.h>
#include <stdio.h>

static const int64_t four = 4;

static double distance(const float *a, const double *b, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = fabs((double)a[i] - b[i]);
        most = d > most || isnan(d) ? d : most;
    }
    return most;
}

START_TEST(softmax_without_its_maximum_overflows)
{
    static const float small[] = { -1, 0.5f, 2, 3 }, large[] = { -1, 0.5f, 2, 100 };
    for (int logarithm = 0; logarithm < 2; logarithm++) {
        float stable[4], plain[4];
        double expected[4];
        poprt_builder *b = new_builder(13);
        const poprt_id x = FLOATS(b, 4);
        ck_assert_ok(poprt_builder_output(b,
            logarithm ? poprt_op_log_softmax(b, x, NULL) : poprt_op_softmax(b, x, NULL)));
        poprt_model *model = finish(b);
        const poprt_tensor in = tensor_of(POPRT_DTYPE_FLOAT32, small, sizeof(small), &four, 1);
        const poprt_tensor hot = tensor_of(POPRT_DTYPE_FLOAT32, large, sizeof(large), &four, 1);
        double sum = 0;
        for (int i = 0; i < 4; i++)
            sum += exp((double)small[i]);
        for (int i = 0; i < 4; i++)
            expected[i] = logarithm ? (double)small[i] - log(sum) : exp((double)small[i]) / sum;
        ck_assert_ok(run_once(model, "", &in, stable, sizeof(stable)));
        ck_assert_ok(run_once(model, "enableNonStableSoftmax = True", &in, plain, sizeof(plain)));
        ck_assert_double_lt(distance(stable, expected, 4), 1e-6);
        ck_assert_double_lt(distance(plain, expected, 4), 1e-6);
        ck_assert_ok(run_once(model, "", &hot, stable, sizeof(stable)));
        ck_assert_float_eq_tol(stable[3], logarithm ? 0.0f : 1.0f, 1e-6f);
        ck_assert_ok(run_once(model, "enableNonStableSoftmax = True", &hot, plain, sizeof(plain)));
        ck_assert(isnan(plain[3]));
        poprt_model_release(model);
    }
}
END_TEST

/* y of GroupNormalization with scale and bias, where channel c belongs to a group by `strided`. */
static void normalize(const float *x, size_t n, size_t c, size_t s, size_t groups, bool strided,
    double *y)
{
    for (size_t i = 0; i < n; i++)
        for (size_t g = 0; g < groups; g++) {
            const size_t each = c / groups;
            double mean = 0, square = 0;
            for (int pass = 0; pass < 3; pass++)
                for (size_t k = 0; k < each; k++)
                    for (size_t at = 0; at < s; at++) {
                        const size_t channel = strided ? k * groups + g : g * each + k;
                        const double v = (double)x[(i * c + channel) * s + at];
                        const double scale = 1 + (double)channel, bias = 0.5 * (double)channel;
                        if (pass == 0)
                            mean += v / (double)(each * s);
                        else if (pass == 1)
                            square += (v - mean) * (v - mean) / (double)(each * s);
                        else
                            y[(i * c + channel) * s + at] =
                                (v - mean) / sqrt(square + 1e-5) * scale + bias;
                    }
        }
}

START_TEST(groups_are_neighbours_or_strided)
{
    enum { N = 2, C = 6, S = 5, GROUPS = 3 };
    static const int64_t dims[] = { N, C, S, 1 }, channels = C;
    float x[N * C * S], scale[C], bias[C], y[N * C * S];
    double expected[N * C * S];
    for (int i = 0; i < N * C * S; i++)
        x[i] = sinf((float)(i * i)) * (float)(1 + i % 7);
    for (int i = 0; i < C; i++) {
        scale[i] = 1 + (float)i;
        bias[i] = 0.5f * (float)i;
    }
    poprt_builder *b = new_builder(11);
    const poprt_tensor w = tensor_of(POPRT_DTYPE_FLOAT32, scale, sizeof(scale), &channels, 1);
    const poprt_tensor v = tensor_of(POPRT_DTYPE_FLOAT32, bias, sizeof(bias), &channels, 1);
    const poprt_id in = FLOATS(b, N, C, S, 1);
    const poprt_id inputs[3] = { in, poprt_builder_weight(b, "scale", &w, 0),
        poprt_builder_weight(b, "bias", &v, 0) };
    const poprt_attr attrs[] = {
        { .name = "num_groups", .kind = POPRT_ATTR_INT, .integer = GROUPS },
        { .name = "epsilon", .kind = POPRT_ATTR_FLOAT, .real = 1e-5f }
    };
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .domain = "ai.graphcore",
        .op_type = "GroupNormalization",
        .inputs = inputs,
        .n_inputs = 3,
        .attrs = attrs,
        .n_attrs = 2,
        .n_outputs = 1 };
    ck_assert_ok(poprt_builder_output(b, poprt_builder_op(b, &op, NULL)));
    poprt_model *model = finish(b);
    const poprt_tensor t = tensor_of(POPRT_DTYPE_FLOAT32, x, sizeof(x), dims, 4);
    for (int strided = 0; strided < 2; strided++) {
        ck_assert_ok(run_once(model, strided ? "groupNormStridedChannelGrouping = true" : "", &t, y,
            sizeof(y)));
        normalize(x, N, C, S, GROUPS, strided != 0, expected);
        ck_assert_double_lt(distance(y, expected, N * C * S), 1e-4);
    }
    poprt_model_release(model);
}
END_TEST

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

/* Returns the number of steps whose operator is `op`. */
static size_t count_steps(const poprt_model *model, const char *options, const char *op)
{
    static text t;
    poprt_config *config = options_of(NULL, options);
    poprt_executable *exec = NULL;
    size_t count = 0;
    char line[64];
    ck_assert_ok(poprt_compile(model, config, &exec));
    t.size = 0;
    ck_assert_ok(poprt_executable_describe(exec, POPRT_FORMAT_TEXT, append, &t));
    t.data[t.size] = '\0';
    (void)snprintf(line, sizeof(line), " %s ", op);
    for (const char *p = t.data; (p = strstr(p, line)) != NULL; p++)
        count++;
    poprt_executable_release(exec);
    poprt_config_release(config);
    return count;
}

/* w is read by Neg, whose result could be stored too, and by the Add. */
START_TEST(constants_with_other_readers_stay)
{
#define UNFUSED "disable_passes = fuse_elementwise,pack_weights\n"
    poprt_builder *b = new_builder(13);
    const poprt_id x = FLOATS(b, 64), w = add_weight(b, "w", &(int64_t){ 64 }, 1);
    const poprt_id y = poprt_op_mul(b, poprt_op_add(b, x, w, NULL), poprt_op_neg(b, w, NULL), NULL);
    ck_assert_ok(poprt_builder_output(b, y));
    poprt_model *model = finish(b);
    ck_assert_uint_eq(count_steps(model, UNFUSED, "neg"), 0);
    ck_assert_uint_eq(count_steps(model, UNFUSED "enableConstantFoldingOfMultipleConsumers = False",
                          "neg"),
        1);
    poprt_model_release(model);
}
END_TEST

START_TEST(products_in_parts_can_be_whole)
{
    poprt_builder *b = new_builder(13);
    const poprt_id x = FLOATS(b, 64, 32), w = add_weight(b, "w", (const int64_t[]){ 32, 48 }, 2);
    const poprt_id y = poprt_op_matmul(b, x, w, NULL);
    ck_assert_ok(poprt_builder_serialize_matmul(b, y, "input_channels", 4, 0));
    ck_assert_ok(poprt_builder_output(b, y));
    poprt_model *model = finish(b);
    ck_assert_uint_eq(count_steps(model, UNFUSED, "matmul"), 4);
    ck_assert_uint_eq(count_steps(model, UNFUSED "enableSerializedMatmuls = False", "matmul"), 1);
    poprt_model_release(model);
}
END_TEST

/* w can be written, while v stays a constant. */
START_TEST(named_buffers_can_be_written)
{
    static const float x[] = { 1, 2, 3, 4 }, new_w[] = { 10, 20, 30, 40 };
    poprt_builder *b = new_builder(13);
    const poprt_id in = FLOATS(b, 4);
    const poprt_id y = poprt_op_add(b, poprt_op_mul(b, in, add_weight(b, "w", &four, 1), NULL),
        add_weight(b, "v", &four, 1), NULL);
    ck_assert_ok(poprt_builder_output(b, y));
    poprt_model *model = finish(b);
    poprt_config *config = options_of(NULL, "updatableNamedBuffers([\"w\"])");
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_tensor out;
    ck_assert_ok(poprt_compile(model, config, &exec));
    ck_assert_ok(poprt_session_create(exec, config, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    const poprt_tensor t = tensor_of(POPRT_DTYPE_FLOAT32, x, sizeof(x), &four, 1);
    const poprt_tensor w = tensor_of(POPRT_DTYPE_FLOAT32, new_w, sizeof(new_w), &four, 1);
    ck_assert_ok(poprt_stepio_bind(io, "input", &t));
    for (int i = 0; i < 2; i++) {
        ck_assert_ok(poprt_session_run(session, io));
        ck_assert_ok(poprt_stepio_output(io, 1, &out));
        for (int k = 0; k < 4; k++)
            ck_assert_float_eq(((const float *)out.data)[k],
                i == 0 ? x[k] + 1 : x[k] * new_w[k] + 1);
        ck_assert_ok(poprt_session_write_weight(session, "w", &w));
    }
    ck_assert_fails(poprt_session_write_weight(session, "v", &w), POPRT_E_STATE);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_config_release(config);
    config = options_of(NULL, "updatable_named_buffers = w,u");
    ck_assert_fails(poprt_compile(model, config, &exec), POPRT_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "'u'"));
    poprt_config_release(config);
    poprt_model_release(model);
}
END_TEST

START_TEST(scales_of_eight_bits_have_a_range)
{
    static const int32_t scales[] = { 3, 40 };
    static const uint8_t x[] = { 0x40, 0x48, 0, 0x38 };
    for (int i = 0; i < 2; i++) {
        uint16_t out[4];
        poprt_builder *b = new_builder(11);
        const poprt_id in = INPUT(b, POPRT_DTYPE_FLOAT8E4M3FNUZ, 4);
        const poprt_id inputs[2] = { in,
            add_scalar(b, POPRT_DTYPE_INT32, &scales[i], sizeof(scales[i])) };
        const poprt_builder_op_info op = { .struct_size = sizeof(op),
            .domain = "ai.graphcore",
            .op_type = "CastThenPow2Scale",
            .name = "scale",
            .inputs = inputs,
            .n_inputs = 2,
            .n_outputs = 1 };
        ck_assert_ok(poprt_builder_output(b, poprt_builder_op(b, &op, NULL)));
        poprt_model *model = finish(b);
        const poprt_tensor t = tensor_of(POPRT_DTYPE_FLOAT8E4M3FNUZ, x, sizeof(x), &four, 1);
        const poprt_status status = run_once(model, "", &t, out, sizeof(out));
        ck_assert_int_eq(status, i == 0 ? POPRT_OK : POPRT_E_ARG);
        ck_assert_ok(
            run_once(model, "throwIfLog2ScaleTensorNotInRange = False", &t, out, sizeof(out)));
        ck_assert_uint_eq(out[0], i == 0 ? 0x4800 : 0x7c00); /* 1 times 2^3; infinity */
        ck_assert_uint_eq(out[2], 0);
        poprt_model_release(model);
    }
}
END_TEST

/* ai.onnx of opset 99 in the smallest model: one Relu. */
START_TEST(newer_opsets_may_be_refused)
{
    static const unsigned char bytes[] = { 0x8, 0xa, 0x3a, 0x33, 0xa, 0xc, 0xa, 0x1, 0x78, 0x12,
        0x1, 0x79, 0x22, 0x4, 0x52, 0x65, 0x6c, 0x75, 0x12, 0x1, 0x67, 0x5a, 0xf, 0xa, 0x1, 0x78,
        0x12, 0xa, 0xa, 0x8, 0x8, 0x1, 0x12, 0x4, 0xa, 0x2, 0x8, 0x2, 0x62, 0xf, 0xa, 0x1, 0x79,
        0x12, 0xa, 0xa, 0x8, 0x8, 0x1, 0x12, 0x4, 0xa, 0x2, 0x8, 0x2, 0x42, 0x4, 0xa, 0x0, 0x10,
        0x63 };
    poprt_model *model = NULL;
    poprt_config *config = options_of(NULL, "strictOpVersions = False");
    ck_assert_ok(poprt_model_load_bytes(NULL, bytes, sizeof(bytes), config, &model));
    poprt_model_release(model);
    ck_assert_ok(poprt_config_set(config, "strictOpVersions", "True"));
    ck_assert_fails(poprt_model_load_bytes(NULL, bytes, sizeof(bytes), config, &model),
        POPRT_E_VERSION);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "opset 99"));
    poprt_config_release(config);
}
END_TEST

PRT_TEST_MAIN("session/forms", softmax_without_its_maximum_overflows,
    groups_are_neighbours_or_strided, constants_with_other_readers_stay,
    products_in_parts_can_be_whole, named_buffers_can_be_written, scales_of_eight_bits_have_a_range,
    newer_opsets_may_be_refused)
