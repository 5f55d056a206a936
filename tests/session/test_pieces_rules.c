/* SPDX-License-Identifier: MIT */
/*
 * test_pieces_rules.c — operators in a micro-batch that is computed in pieces: those that compute
 * each sample by itself, and those that do not. Covers: train/batch_axis.c.
 */
#include "net.h"

/* ---- short forms of nodes */

static poprt_attr number(const char *name, int64_t value)
{
    return (poprt_attr){ .name = name, .kind = POPRT_ATTR_INT, .integer = value };
}

static poprt_attr numbers(const char *name, const int64_t *values, uint32_t count)
{
    return (poprt_attr){ .name = name, .kind = POPRT_ATTR_INTS, .ints = values, .count = count };
}

static poprt_id one(net *n, const char *type, poprt_id x)
{
    return add(n, type, 1, &x, 0, NULL, NULL);
}

static poprt_id two(net *n, const char *type, poprt_id x, poprt_id y)
{
    const poprt_id in[] = { x, y };
    return add(n, type, 2, in, 0, NULL, NULL);
}

static poprt_id with(net *n, const char *type, poprt_id x, poprt_attr attr)
{
    return add(n, type, 1, &x, 1, &attr, NULL);
}

static poprt_id two_with(net *n, const char *type, poprt_id x, poprt_id y, poprt_attr attr)
{
    const poprt_id in[] = { x, y };
    return add(n, type, 2, in, 1, &attr, NULL);
}

static poprt_id gathered(net *n, poprt_id x, poprt_id indices, int64_t axis)
{
    return two_with(n, "Gather", x, indices, number("axis", axis));
}

/* ---- nodes that compute each sample by itself: from [samples, width] to a tensor */

static poprt_id copies(net *n, poprt_id h)
{
    static const int64_t axes[] = { 1 };
    poprt_id y = two(n, "Unsqueeze", h, INTEGERS(n->b, 1));
    y = two(n, "Expand", y, INTEGERS(n->b, SAMPLES, 3, WIDTH));
    y = with(n, "ReduceMean", y, numbers("axes", axes, 1));
    return two(n, "Squeeze", y, INTEGERS(n->b, 1));
}

static poprt_id parts(net *n, poprt_id h)
{
    const poprt_id some[] = { h, INTEGERS(n->b, 3), INTEGERS(n->b, WIDTH), INTEGERS(n->b, 1),
        INTEGERS(n->b, 2) };
    poprt_id y = add(n, "Slice", 5, some, 0, NULL, NULL);
    y = two(n, "Pad", y, INTEGERS(n->b, 0, 2, 0, 3));
    return gathered(n, y, INTEGERS(n->b, 0, 5, 7, 5), 1);
}

static poprt_id reductions(net *n, poprt_id h)
{
    static const char *const types[] = { "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
        "ReduceSumSquare", "ReduceLogSumExp", "ReduceMean" };
    static const int64_t axes[] = { -1 };
    poprt_id sum = 0;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const poprt_attr attrs[] = { numbers("axes", axes, 1), number("keepdims", i % 2) };
        poprt_id y = add(n, types[i], 1, &h, 2, attrs, NULL);
        if (i % 2 == 0)
            y = two(n, "Unsqueeze", y, INTEGERS(n->b, -1));
        sum = i == 0 ? y : two(n, "Add", sum, y);
    }
    return sum;
}

/* The samples are along the last axis, then along the first one again. */
static poprt_id transposed(net *n, poprt_id h)
{
    poprt_id y = with(n, "Softmax", one(n, "Transpose", h), number("axis", 0));
    y = gathered(n, y, INTEGERS(n->b, 0, 3), 0);
    return with(n, "LogSoftmax", one(n, "Transpose", y), number("axis", -1));
}

static poprt_id planes(net *n, poprt_id h)
{
    static const int64_t kernel[] = { 2, 2 };
    const poprt_attr area = numbers("kernel_shape", kernel, 2), block = number("blocksize", 2);
    poprt_id y = two(n, "Reshape", h, INTEGERS(n->b, 0, 8, 8, 8));
    const poprt_id norm[] = { y, WEIGHT(n, "v", 8), WEIGHT(n, "u", 8) };
    y = add(n, "InstanceNormalization", 3, norm, 0, NULL, NULL);
    y = with(n, "LRN", y, number("size", 3));
    y = with(n, "SpaceToDepth", with(n, "DepthToSpace", y, block), block);
    const poprt_id up = two(n, "ConvTranspose", y, WEIGHT(n, "filters", 8, 2, 2, 2));
    y = with(n, "AveragePool", up, area);
    return two(n, "Add", one(n, "GlobalAveragePool", y), one(n, "GlobalMaxPool", y));
}

/* The number of samples is part of a shape that the model computes. */
static poprt_id computed_shape(net *n, poprt_id h)
{
    const poprt_id size = gathered(n, one(n, "Shape", h), INTEGERS(n->b, 0), 0);
    const poprt_id shape[] = { size, INTEGERS(n->b, 4), INTEGERS(n->b, -1) };
    const poprt_attr axis = number("axis", 0);
    return two(n, "Reshape", h, add(n, "Concat", 3, shape, 1, &axis, NULL));
}

static poprt_id by_element(net *n, poprt_id h)
{
    const poprt_id zero = two(n, "Sub", h, h);
    const poprt_id in[] = { two(n, "Greater", h, zero), h,
        two(n, "PRelu", h, WEIGHT(n, "v", WIDTH)) };
    poprt_id y = add(n, "Where", 3, in, 0, NULL, NULL);
    const poprt_id product[] = { y, WEIGHT(n, "u", WIDTH, 4),
        with(n, "Flatten", one(n, "Neg", gathered(n, h, INTEGERS(n->b, 1, 2, 3, 4), 1)),
            number("axis", 1)) };
    return add(n, "Gemm", 3, product, 0, NULL, NULL);
}

/* ---- losses from [samples, width] */

typedef struct loss_case {
    const char *type, *reduction, *domain;
    int kind; /* 0: of scores and labels, 1: of their logarithms, 2: of scores, 3: of shares */
} loss_case;

static const loss_case losses[] = { { "SoftmaxCrossEntropyLoss", "sum", "", 0 },
    { "SoftmaxCrossEntropyLoss", "none", "", 0 }, { "NegativeLogLikelihoodLoss", "mean", "", 1 },
    { "NegativeLogLikelihoodLoss", "sum", "", 1 }, { "Nll", "Mean", "ai.graphcore", 3 },
    { "Nll", "Sum", "ai.graphcore", 3 }, { "L1", "Mean", "ai.graphcore", 2 },
    { "L1", "Sum", "ai.graphcore", 2 }, { "IdentityLoss", "Mean", "ai.graphcore", 2 },
    { "IdentityLoss", "Sum", "ai.graphcore", 2 } };
static const loss_case *chosen_loss;

static void with_loss(net *n, poprt_id x, poprt_id labels)
{
    const loss_case *c = chosen_loss;
    poprt_id h = two(n, "Mul", x, WEIGHT(n, "w", WIDTH));
    h = gathered(n, h, INTEGERS(n->b, 0, 1, 2, 3), 1);
    if (c->kind == 1)
        h = one(n, "LogSoftmax", h);
    if (c->kind == 3)
        h = one(n, "Softmax", h);
    const poprt_id in[] = { h, labels };
    const poprt_attr attr = poprt_attr_string("reduction", c->reduction);
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .domain = c->domain,
        .op_type = c->type,
        .inputs = in,
        .n_inputs = c->kind == 2 ? 1 : 2,
        .attrs = &attr,
        .n_attrs = 1,
        .n_outputs = 1 };
    poprt_id y = poprt_builder_op(n->b, &op, NULL);
    if (strcmp(c->reduction, "none") == 0)
        y = with(n, "ReduceMean", y, number("keepdims", 0));
    /* Linear nodes keep a mean a mean, and a sum a sum. */
    const float quarter = 0.25f;
    const poprt_id f = add_scalar(n->b, POPRT_DTYPE_FLOAT32, &quarter, sizeof(quarter));
    y = two(n, "Div", one(n, "Neg", y), f);
    y = two(n, "Sub", two(n, "Mul", y, f), y);
    y = two(n, "Reshape", y, INTEGERS(n->b, 1));
    y = with(n, "ReduceSum", y, number("keepdims", 0));
    const poprt_id last[] = { y };
    ck_assert_ok(poprt_builder_output(n->b, add(n, "Identity", 1, last, 0, NULL, "loss")));
}

/* ---- training */

static poprt_id (*chosen_nodes)(net *n, poprt_id h);

static void with_nodes(net *n, poprt_id x, poprt_id labels)
{
    const poprt_id h = two(n, "Mul", x, WEIGHT(n, "w", WIDTH));
    const poprt_id y = chosen_nodes(n, h);
    const poprt_id squares[] = { two(n, "Mul", y, y) };
    const poprt_attr no_dims = number("keepdims", 0);
    (void)labels;
    ck_assert_ok(poprt_builder_output(n->b, add(n, "ReduceMean", 1, squares, 1, &no_dims, "loss")));
}

/* Trains two steps, and returns the loss and the weight w. */
static float train(void (*build)(net *n, poprt_id x, poprt_id labels), const char *options,
    float *w)
{
    static const int64_t dims[] = { SAMPLES, WIDTH };
    static float x[SAMPLES * WIDTH];
    static int64_t labels[SAMPLES];
    uint32_t state = 29;
    poprt_config *config = options_of(NULL, options);
    poprt_model *model = make_model(build);
    poprt_optimizer *optimizer = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_tensor loss, out = { .data = w, .size = WIDTH * sizeof(float) };
    for (int i = 0; i < SAMPLES * WIDTH; i++)
        x[i] = 4 * next_number(&state);
    for (int i = 0; i < SAMPLES; i++)
        labels[i] = (i * 5 + i / 2) % CLASSES;
    ck_assert_ok(poprt_optimizer_create(NULL, "sgd", &optimizer));
    ck_assert_ok(poprt_optimizer_set(optimizer, "learning_rate", 0.01f, 1));
    const poprt_training t = { .struct_size = sizeof(t), .loss = "loss", .optimizer = optimizer };
    ck_assert_ok(poprt_compile_training(model, &t, config, &exec));
    ck_assert_ok(poprt_session_create(exec, config, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    const poprt_tensor in = tensor_of(POPRT_DTYPE_FLOAT32, x, sizeof(x), dims, 2);
    const poprt_tensor targets = tensor_of(POPRT_DTYPE_INT64, labels, sizeof(labels), dims, 1);
    ck_assert_ok(poprt_stepio_bind(io, "x", &in));
    ck_assert_ok(poprt_stepio_bind(io, "labels", &targets));
    for (int i = 0; i < 2; i++)
        ck_assert_ok(poprt_session_run(session, io));
    ck_assert_ok(poprt_stepio_output(io, 2, &loss));
    const float value = *(float *)loss.data;
    ck_assert_ok(poprt_session_read_weight(session, "w", &out));
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_optimizer_release(optimizer);
    poprt_model_release(model);
    poprt_config_release(config);
    return value;
}

static void compare(void (*build)(net *n, poprt_id x, poprt_id labels), size_t k)
{
    static float whole[WIDTH], pieces[WIDTH], zeros[WIDTH];
    const double a = (double)train(build, "", whole);
    const double b = (double)train(build, "batch_serialization_factor = 4", pieces);
    ck_assert_msg(fabs(a - b) < 2e-5 * (1 + fabs(a)), "row %zu: losses %g and %g", k, a, b);
    const double most = difference(whole, zeros, WIDTH);
    ck_assert_msg(difference(whole, pieces, WIDTH) < 1e-5 * (1 + most),
        "row %zu: weights of %g differ by %g", k, most, difference(whole, pieces, WIDTH));
}

/* Labels of all tokens of all samples as one vector, and a mask that all samples share. */
START_TEST(vectors_have_elements_for_each_sample)
{
    enum { TOKENS = 2 };
    float loss[2];
    for (int pieces = 0; pieces < 2; pieces++) {
        net n = { .b = new_builder(17), .state = 3 };
        const poprt_id x = FLOATS(n.b, SAMPLES, TOKENS, CLASSES);
        const poprt_id mask = FLOATS(n.b, TOKENS, CLASSES);
        const poprt_id labels = INPUT(n.b, POPRT_DTYPE_INT64, SAMPLES * TOKENS);
        poprt_id y = two(&n, "MatMul", x, WEIGHT(&n, "w", CLASSES, CLASSES));
        y = two(&n, "Reshape", two(&n, "Add", y, mask), INTEGERS(n.b, SAMPLES * TOKENS, CLASSES));
        const poprt_id in[] = { y, labels };
        ck_assert_ok(
            poprt_builder_output(n.b, add(&n, "SoftmaxCrossEntropyLoss", 2, in, 0, NULL, "loss")));
        poprt_model *model = finish(n.b);
        poprt_config *config = options_of(NULL, pieces ? "batch_serialization_factor = 4" : "");
        poprt_optimizer *optimizer = NULL;
        poprt_executable *exec = NULL;
        poprt_session *session = NULL;
        poprt_stepio *io = NULL;
        float values[SAMPLES * TOKENS * CLASSES];
        int64_t targets[SAMPLES * TOKENS];
        uint32_t state = 7;
        ck_assert_ok(poprt_optimizer_create(NULL, "sgd", &optimizer));
        const poprt_training t = { .struct_size = sizeof(t),
            .loss = "loss",
            .optimizer = optimizer };
        ck_assert_ok(poprt_compile_training(model, &t, config, &exec));
        ck_assert_ok(poprt_session_create(exec, config, &session));
        ck_assert_ok(poprt_stepio_create(session, &io));
        for (int i = 0; i < SAMPLES * TOKENS * CLASSES; i++)
            values[i] = next_number(&state);
        for (int i = 0; i < SAMPLES * TOKENS; i++)
            targets[i] = i * 3 % CLASSES;
        const void *const data[] = { values, values, targets };
        for (size_t i = 0; i < 3; i++) {
            poprt_io_info info = { .struct_size = sizeof(info) };
            ck_assert_ok(poprt_executable_io_at(exec, POPRT_INPUT, i, &info));
            size_t size = i == 2 ? sizeof(int64_t) : sizeof(float);
            for (int32_t d = 0; d < info.rank; d++)
                size *= (size_t)info.dims[d];
            const poprt_tensor in_t =
                tensor_of(info.dtype, data[i], size, info.dims, (uint32_t)info.rank);
            ck_assert_ok(poprt_stepio_bind(io, info.name, &in_t));
        }
        poprt_tensor out;
        for (int i = 0; i < 3; i++)
            ck_assert_ok(poprt_session_run(session, io));
        ck_assert_ok(poprt_stepio_output(io, 3, &out));
        loss[pieces] = *(float *)out.data;
        poprt_stepio_release(io);
        poprt_session_release(session);
        poprt_executable_release(exec);
        poprt_optimizer_release(optimizer);
        poprt_config_release(config);
        poprt_model_release(model);
    }
    ck_assert_float_eq_tol(loss[1], loss[0], 1e-6f);
}
END_TEST

START_TEST(nodes_of_single_samples_are_divided)
{
    static poprt_id (*const rows[])(net * n, poprt_id h) = { copies, parts, reductions, transposed,
        planes, computed_shape, by_element };
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        chosen_nodes = rows[k];
        compare(with_nodes, k);
    }
}
END_TEST

START_TEST(losses_of_samples_are_divided)
{
    for (size_t k = 0; k < sizeof(losses) / sizeof(losses[0]); k++) {
        chosen_loss = &losses[k];
        compare(with_loss, k);
    }
}
END_TEST

/* ---- what cannot be divided */

static void batch_norm(net *n, poprt_id x, poprt_id labels)
{
    const poprt_id in[] = { x, WEIGHT(n, "w", WIDTH), WEIGHT(n, "b", WIDTH),
        WEIGHT(n, "mean", WIDTH), WEIGHT(n, "var", WIDTH) };
    const poprt_id y[] = { add(n, "BatchNormalization", 5, in, 0, NULL, "norm"), labels };
    ck_assert_ok(
        poprt_builder_output(n->b, add(n, "SoftmaxCrossEntropyLoss", 2, y, 0, NULL, "loss")));
}

static void finish_loss(net *n, poprt_id y, const char *type)
{
    const poprt_attr no_dims = { .name = "keepdims", .kind = POPRT_ATTR_INT, .integer = 0 };
    ck_assert_ok(poprt_builder_output(n->b, add(n, type, 1, &y, 1, &no_dims, "loss")));
}

static poprt_id scaled(net *n, poprt_id x)
{
    return poprt_op_mul(n->b, x, WEIGHT(n, "w", WIDTH), NULL);
}

static void softmax_of_samples(net *n, poprt_id x, poprt_id labels)
{
    const poprt_attr axis = { .name = "axis", .kind = POPRT_ATTR_INT, .integer = 0 };
    const poprt_id y = scaled(n, x);
    (void)labels;
    finish_loss(n, add(n, "Softmax", 1, &y, 1, &axis, "shares"), "ReduceSum");
}

static void products_of_samples(net *n, poprt_id x, poprt_id labels)
{
    const poprt_id y = scaled(n, x);
    const poprt_id in[] = { poprt_op_transpose(n->b, y, NULL), y };
    (void)labels;
    finish_loss(n, add(n, "MatMul", 2, in, 0, NULL, "gram"), "ReduceSum");
}

static void largest_sample(net *n, poprt_id x, poprt_id labels)
{
    (void)labels;
    finish_loss(n, scaled(n, x), "ReduceMax");
}

static void square_of_the_mean(net *n, poprt_id x, poprt_id labels)
{
    const poprt_attr no_dims = { .name = "keepdims", .kind = POPRT_ATTR_INT, .integer = 0 };
    const poprt_id y = scaled(n, x);
    const poprt_id mean = add(n, "ReduceMean", 1, &y, 1, &no_dims, "mean");
    (void)labels;
    finish_loss(n, poprt_op_mul(n->b, mean, mean, NULL), "ReduceSum");
}

static void number_of_samples(net *n, poprt_id x, poprt_id labels)
{
    const poprt_cast_attrs to_float = { .to = poprt_int(POPRT_DTYPE_FLOAT32) };
    const poprt_id size = poprt_op_cast(n->b, poprt_op_size(n->b, labels, NULL), &to_float);
    finish_loss(n, poprt_op_div(n->b, scaled(n, x), size, NULL), "ReduceSum");
}

static void weighted_mean(net *n, poprt_id x, poprt_id labels)
{
    const poprt_id in[] = { scaled(n, x), labels };
    const poprt_attr ignored = { .name = "ignore_index", .kind = POPRT_ATTR_INT, .integer = 1 };
    ck_assert_ok(
        poprt_builder_output(n->b, add(n, "SoftmaxCrossEntropyLoss", 2, in, 1, &ignored, "loss")));
}

static void constant_samples(net *n, poprt_id x, poprt_id labels)
{
    (void)labels;
    finish_loss(n, poprt_op_mul(n->b, x, WEIGHT(n, "w", SAMPLES, WIDTH), NULL), "ReduceSum");
}

static void sum_and_constant(net *n, poprt_id x, poprt_id labels)
{
    const poprt_attr no_dims = { .name = "keepdims", .kind = POPRT_ATTR_INT, .integer = 0 };
    const poprt_id w = WEIGHT(n, "w", WIDTH), y = poprt_op_mul(n->b, x, w, NULL);
    const poprt_id in[] = { add(n, "ReduceSum", 1, &y, 1, &no_dims, "sum"),
        add(n, "ReduceSum", 1, &w, 1, &no_dims, "extra") };
    (void)labels;
    ck_assert_ok(poprt_builder_output(n->b, add(n, "Add", 2, in, 0, NULL, "loss")));
}

START_TEST(nodes_that_mix_samples_are_named)
{
    static const struct {
        void (*build)(net *n, poprt_id x, poprt_id labels);
        const char *options, *subject, *words;
    } rows[] = {
        { batch_norm, "", "norm", "statistics of all samples" },
        { softmax_of_samples, "", "shares", "mixes the samples" },
        { products_of_samples, "", "gram", "mixes the samples" },
        { largest_sample, "", "loss", "mixes the samples" },
        { square_of_the_mean, "", "", "mixes the samples" },
        { number_of_samples, "", "", "number of samples" },
        { weighted_mean, "", "loss", "different weights" },
        { constant_samples, "", "batch_serialization_factor", "do not allow pieces of 2" },
        { sum_and_constant, "", "loss", "adds a constant to a sum" },
        { largest_sample, "batch_serialization_factor = 3", "x", "equal pieces" },
        { largest_sample,
            "enableGradientAccumulation = True\naccumulationFactor = 2\n"
            "accumulationAndReplicationReductionType = Mean\n"
            "meanAccumulationAndReplicationReductionStrategy = Running",
            "batch_serialization_factor", "running means" },
    };
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        char text[512];
        (void)snprintf(text, sizeof(text), "batch_serialization_factor = 4\n%s", rows[k].options);
        poprt_config *config = options_of(NULL, text);
        poprt_model *model = make_model(rows[k].build);
        poprt_optimizer *optimizer = NULL;
        poprt_executable *exec = NULL;
        ck_assert_ok(poprt_optimizer_create(NULL, "sgd", &optimizer));
        const poprt_training t = { .struct_size = sizeof(t),
            .loss = "loss",
            .optimizer = optimizer };
        const poprt_status status = poprt_compile_training(model, &t, config, &exec);
        const poprt_error *e = poprt_last_error();
        ck_assert_msg(status == POPRT_E_UNSUPPORTED || status == POPRT_E_SHAPE, "row %zu: %d", k,
            status);
        ck_assert_msg(strstr(e->message, rows[k].words) != NULL &&
                strstr(e->subject, rows[k].subject) != NULL,
            "row %zu: %s: %s", k, e->subject, e->message);
        poprt_optimizer_release(optimizer);
        poprt_model_release(model);
        poprt_config_release(config);
    }
}
END_TEST

/* The sum of the weights does not depend on samples. */
static void loss_and_sum(net *n, poprt_id x, poprt_id labels)
{
    const poprt_id w = WEIGHT(n, "w", WIDTH), y = poprt_op_mul(n->b, x, w, NULL);
    const poprt_id in[] = { with(n, "ReduceMean", y, number("keepdims", 0)),
        add(n, "ReduceSum", 1, &w, 0, NULL, "sum") };
    (void)labels;
    ck_assert_ok(poprt_builder_output(n->b, add(n, "Add", 2, in, 0, NULL, "loss")));
}

START_TEST(tensors_without_samples_are_not_returned)
{
    static const struct {
        const char *anchor, *words;
        poprt_status status;
    } rows[] = { { "Gradient___w", "a gradient of one piece", POPRT_E_UNSUPPORTED },
        { "sum", "does not depend on the samples", POPRT_E_UNSUPPORTED },
        { "none", "no tensor", POPRT_E_NOT_FOUND }, { "w", "", POPRT_OK },
        { "loss", "", POPRT_OK } };
    poprt_config *config = options_of(NULL, "batch_serialization_factor = 2");
    poprt_model *model = make_model(loss_and_sum);
    poprt_optimizer *optimizer = NULL;
    ck_assert_ok(poprt_optimizer_create(NULL, "sgd", &optimizer));
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        poprt_flow *flow = NULL;
        poprt_executable *exec = NULL;
        ck_assert_ok(poprt_flow_create(NULL, 1, &flow));
        ck_assert_ok(poprt_flow_anchor(flow, rows[k].anchor, POPRT_ANCHOR_FINAL, 0));
        const poprt_training t = { .struct_size = sizeof(t),
            .loss = "loss",
            .optimizer = optimizer,
            .flow = flow };
        const poprt_status status = poprt_compile_training(model, &t, config, &exec);
        ck_assert_msg(status == rows[k].status, "%s: %d: %s", rows[k].anchor, status,
            poprt_last_error()->message);
        ck_assert(status == POPRT_OK || strstr(poprt_last_error()->message, rows[k].words) != NULL);
        poprt_executable_release(exec);
        poprt_flow_release(flow);
    }
    poprt_optimizer_release(optimizer);
    poprt_model_release(model);
    poprt_config_release(config);
}
END_TEST

PRT_TEST_MAIN("session/pieces_rules", nodes_of_single_samples_are_divided,
    vectors_have_elements_for_each_sample, losses_of_samples_are_divided,
    nodes_that_mix_samples_are_named, tensors_without_samples_are_not_returned)
