/* SPDX-License-Identifier: MIT */
/*
 * test_loss_scaling.c — which gradients automatic loss scaling tracks.
 * Covers: train/loss_scaling.c, api/training.c.
 */
#include "session_test.h"

#include "poprt/train.h"

enum { STEPS = 8 };

static poprt_id constant(poprt_builder *b, uint16_t value)
{
    return add_scalar(b, POPRT_DTYPE_FLOAT16, &value, sizeof(value));
}

static poprt_id named(poprt_builder *b, const char *type, uint32_t n, const poprt_id *in,
    const char *name)
{
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .op_type = type,
        .inputs = in,
        .n_inputs = n,
        .output_names = &name,
        .n_outputs = 1 };
    return poprt_builder_op(b, &op, NULL);
}

/*
 * h = MatMul(x, w), p = 2^-10 h, r = Reshape(p), q = 2^10 r, loss = the sum of q; all float16. The
 * gradient of the loss scale s is s for q, h and w, and 2^10 s for r and p, that of p by a Reshape.
 */
static poprt_model *make_model(void)
{
    static const int64_t square[] = { 2, 2 };
    static const uint16_t ones[] = { 0x3c00, 0x3c00, 0x3c00, 0x3c00 };
    poprt_builder *b = new_builder(17);
    const poprt_type type = { .dtype = POPRT_DTYPE_FLOAT16, .rank = 2, .dims = { 1, 2 } };
    const poprt_tensor t = tensor_of(POPRT_DTYPE_FLOAT16, ones, sizeof(ones), square, 2);
    const poprt_id x = poprt_builder_input(b, "x", &type, NULL);
    const poprt_id product[] = { x, poprt_builder_weight(b, "w", &t, 0) };
    const poprt_id small[] = { named(b, "MatMul", 2, product, "h"), constant(b, 0x1400) };
    const poprt_id flat[] = { named(b, "Mul", 2, small, "p"), INTEGERS(b, 2) };
    const poprt_id large[] = { named(b, "Reshape", 2, flat, "r"), constant(b, 0x6400) };
    const poprt_id q = named(b, "Mul", 2, large, "q");
    const poprt_reduce_sum_attrs no_dims = { .keepdims = poprt_int(0) };
    const poprt_id sum = poprt_op_reduce_sum(b, q, 0, &no_dims);
    ck_assert_ok(poprt_builder_output(b, named(b, "Identity", 1, &sum, "loss")));
    return finish(b);
}

static poprt_status compile(const poprt_model *model, const char *options, poprt_executable **out)
{
    char text[512];
    poprt_optimizer *optimizer = NULL;
    (void)snprintf(text, sizeof(text), "automaticLossScalingSettings.enabled = True\n%s", options);
    poprt_config *config = options_of(NULL, text);
    ck_assert_ok(poprt_optimizer_create(NULL, "sgd", &optimizer));
    ck_assert_ok(poprt_optimizer_set(optimizer, "lossScaling", 1, 0));
    const poprt_training t = { .struct_size = sizeof(t), .loss = "loss", .optimizer = optimizer };
    const poprt_status status = poprt_compile_training(model, &t, config, out);
    poprt_optimizer_release(optimizer);
    poprt_config_release(config);
    return status;
}

/* Returns the factor after some steps. */
static float factor_of(const char *options)
{
    static uint16_t x[] = { 0x3c00, 0x3c00 };
    static const int64_t dims[] = { 1, 2 };
    poprt_model *model = make_model();
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    float factor = 0;
    ck_assert_ok(compile(model, options, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    const poprt_tensor in = tensor_of(POPRT_DTYPE_FLOAT16, x, sizeof(x), dims, 2);
    poprt_tensor t = { .data = &factor, .size = sizeof(factor) };
    ck_assert_ok(poprt_stepio_bind(io, "x", &in));
    for (int i = 0; i < STEPS; i++)
        ck_assert_ok(poprt_session_run(session, io));
    ck_assert_ok(poprt_session_read_weight(session, "lossScaleUpdateFactor", &t));
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_model_release(model);
    return factor;
}

#define METHOD "automaticLossScalingSettings.gradientTensorTrackingMethod = "
#define TENSORS                                                                                    \
    METHOD "GradientsOfUserSpecifiedTensors\nautomaticLossScalingSettings.toTrackTensors = "

/* Where the gradients of r or p count, 2^10 times the factor must stay below the edge of 8,188: the
 * factor moves between 4 and 8. Otherwise it doubles in every step. */
START_TEST(gradients_that_do_not_count_do_not_lower_the_scale)
{
    static const struct {
        const char *options;
        bool counts_large;
    } rows[] = { { "", true }, { METHOD "AllNonViewChangingGradientTensors", true },
        { METHOD "0", true }, { METHOD "ConvAndMatmulGradients", false }, { METHOD "1", false },
        { TENSORS "w", false }, { TENSORS "\"h, q\"", false }, { TENSORS "p", true },
        { TENSORS "\"w,r\"", true },
        { "automatic_loss_scaling_tracking = tensors\nautomatic_loss_scaling_tensors = loss",
            false } };
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        const float factor = factor_of(rows[k].options);
        if (rows[k].counts_large)
            ck_assert_msg(factor >= 4 && factor <= 8, "%s: %g", rows[k].options, (double)factor);
        else
            ck_assert_msg(factor == 256, "%s: %g", rows[k].options, (double)factor);
    }
}
END_TEST

/* Of all gradients, those of r (2 elements, large), h (2) and w (4) are computed; those of q and p
 * are moved by Expand and Reshape. The large ones are 2 of 8, where p would make them 4 of 10. */
START_TEST(moved_gradients_do_not_count)
{
    static const char all[] = "automaticLossScalingSettings.thresholdUpperCountProportion = ";
    char text[128];
    (void)snprintf(text, sizeof(text), "%s0.24", all);
    ck_assert_float_le(factor_of(text), 8);
    (void)snprintf(text, sizeof(text), "%s0.26", all);
    ck_assert_float_eq(factor_of(text), 256);
}
END_TEST

START_TEST(methods_that_track_nothing_are_refused)
{
    static const struct {
        const char *options;
        poprt_status status;
        const char *words;
    } rows[] = { { TENSORS "none", POPRT_E_NOT_FOUND, "no tensor of this name" },
        { TENSORS "x", POPRT_E_NOT_FOUND, "has none" },
        { METHOD "GradientsOfUserSpecifiedTensors", POPRT_E_ARG, "needs names" },
        { METHOD "0\nautomaticLossScalingSettings.toTrackTensors = w", POPRT_E_ARG, "has names" } };
    poprt_model *model = make_model();
    poprt_executable *exec = NULL;
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        ck_assert_fails(compile(model, rows[k].options, &exec), rows[k].status);
        ck_assert_msg(strstr(poprt_last_error()->message, rows[k].words) != NULL, "%s",
            poprt_last_error()->message);
    }
    poprt_model_release(model);
}
END_TEST

PRT_TEST_MAIN("session/loss_scaling", gradients_that_do_not_count_do_not_lower_the_scale,
    moved_gradients_do_not_count, methods_that_track_nothing_are_refused)
