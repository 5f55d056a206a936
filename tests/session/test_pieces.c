/* SPDX-License-Identifier: MIT */
/*
 * test_pieces.c — micro-batches that are computed in pieces, one after another.
 * Covers: train/batch_axis.c, train/batch_pieces.c.
 */
#include "net.h"

enum {
    STEPS = 3,
    MOST = SAMPLES * WIDTH,
    LARGEST = 8 * MOST, /* the output of the convolution */
    LAYERS = 40
};

/* A perceptron with a hidden layer; the mean of the losses. */
static void perceptron(net *n, poprt_id x, poprt_id labels)
{
    poprt_id h = poprt_op_matmul(n->b, x, WEIGHT(n, "w", WIDTH, WIDTH), NULL);
    h = poprt_op_relu(n->b, poprt_op_add(n->b, h, WEIGHT(n, "bias", WIDTH), NULL), NULL);
    for (int i = 0; i < 6; i++)
        h = poprt_op_tanh(n->b, poprt_op_sigmoid(n->b, h, NULL), NULL);
    const poprt_id scores[] = { h, WEIGHT(n, "v", WIDTH, CLASSES) };
    const poprt_id in[] = { add(n, "MatMul", 2, scores, 0, NULL, "scores"), labels };
    ck_assert_ok(poprt_builder_output(n->b, in[0]));
    ck_assert_ok(
        poprt_builder_output(n->b, add(n, "SoftmaxCrossEntropyLoss", 2, in, 0, NULL, "loss")));
}

/* Attention over four tokens of a sample, as exporters write it: the shapes of Reshape hold the
 * number of samples, which is an axis of its own, then one with the tokens, then the second one.
 * The loss is a sum of squares and an addend that does not depend on the samples. */
static void attention(net *n, poprt_id x, poprt_id labels)
{
    enum { TOKENS = 4, DEPTH = WIDTH / TOKENS };
    poprt_builder *b = n->b;
    (void)labels;
    poprt_id t = poprt_op_reshape(b, x, INTEGERS(b, SAMPLES * TOKENS, DEPTH), NULL);
    const poprt_id gamma = WEIGHT(n, "gamma", DEPTH), beta = WEIGHT(n, "beta", DEPTH);
    const poprt_id norm[] = { t, gamma, beta };
    t = add(n, "LayerNormalization", 3, norm, 0, NULL, "normal");
    poprt_id parts[3];
    for (int i = 0; i < 3; i++) {
        char name[4] = { 'w', (char)('0' + i), 0 };
        parts[i] = poprt_op_matmul(b, t, WEIGHT(n, name, DEPTH, DEPTH), NULL);
        parts[i] = poprt_op_reshape(b, parts[i], INTEGERS(b, SAMPLES, TOKENS, 2, DEPTH / 2), NULL);
        const int64_t perm[] = { 0, 2, i == 1 ? 3 : 1, i == 1 ? 1 : 3 };
        const poprt_transpose_attrs swap = { .perm = poprt_ints(perm, 4) };
        parts[i] = poprt_op_transpose(b, parts[i], &swap);
    }
    const float depth = 0.125f;
    poprt_id a = poprt_op_mul(b, poprt_op_matmul(b, parts[0], parts[1], NULL),
        add_scalar(b, POPRT_DTYPE_FLOAT32, &depth, sizeof(depth)), NULL);
    a = poprt_op_matmul(b, poprt_op_softmax(b, a, NULL), parts[2], NULL);
    /* Axis 1 has the samples. */
    const int64_t around[] = { 2, 0, 1, 3 }, back[] = { 1, 2, 0, 3 };
    const poprt_transpose_attrs to_axis_1 = { .perm = poprt_ints(around, 4) };
    const poprt_transpose_attrs to_axis_0 = { .perm = poprt_ints(back, 4) };
    a = poprt_op_transpose(b, a, &to_axis_1);
    const poprt_id same[] = { a };
    a = add(n, "Identity", 1, same, 0, NULL, "middle");
    a = poprt_op_transpose(b, a, &to_axis_0);
    const poprt_id flat[] = { a, INTEGERS(b, SAMPLES, WIDTH) };
    a = add(n, "Reshape", 2, flat, 0, NULL, "scores");
    ck_assert_ok(poprt_builder_output(b, a));
    const poprt_attr no_dims = { .name = "keepdims", .kind = POPRT_ATTR_INT, .integer = 0 };
    const poprt_id squares = poprt_op_mul(b, a, a, NULL);
    const poprt_id sums[] = { squares };
    const poprt_id sum = add(n, "ReduceSum", 1, sums, 1, &no_dims, "sum");
    const float half = 0.5f;
    const poprt_id in[] = { sum, add_scalar(b, POPRT_DTYPE_FLOAT32, &half, sizeof(half)) };
    ck_assert_ok(poprt_builder_output(b, add(n, "Mul", 2, in, 0, NULL, "loss")));
}

/* Convolutions over images of 16x32 pixels, dropout with a ratio of 0, an embedding of the labels,
 * and a mean of squares to which the squares of a weight are added. */
static void images(net *n, poprt_id x, poprt_id labels)
{
    poprt_builder *b = n->b;
    poprt_id y = poprt_op_reshape(b, x, INTEGERS(b, -1, 1, 16, 32), NULL);
    const poprt_attr pads = { .name = "pads",
        .kind = POPRT_ATTR_INTS,
        .ints = (const int64_t[]){ 1, 1, 1, 1 },
        .count = 4 };
    const poprt_id conv[] = { y, WEIGHT(n, "filters", 8, 1, 3, 3), WEIGHT(n, "bias", 8) };
    y = poprt_op_relu(b, add(n, "Conv", 3, conv, 1, &pads, "conv"), NULL);
    const poprt_attr kernel[] = { { .name = "kernel_shape",
                                      .kind = POPRT_ATTR_INTS,
                                      .ints = (const int64_t[]){ 2, 2 },
                                      .count = 2 },
        { .name = "strides",
            .kind = POPRT_ATTR_INTS,
            .ints = (const int64_t[]){ 2, 2 },
            .count = 2 } };
    y = add(n, "MaxPool", 1, &y, 2, kernel, "pool");
    y = poprt_op_flatten(b, y, NULL);
    y = poprt_op_gemm(b, y, WEIGHT(n, "w", 8 * 8 * 16, 16), WEIGHT(n, "c", 16), NULL);
    const poprt_id table[] = { WEIGHT(n, "table", CLASSES, 16), labels };
    y = poprt_op_sub(b, y, add(n, "Gather", 2, table, 0, NULL, "rows"), NULL);
    const poprt_id parts[] = { y, poprt_op_neg(b, y, NULL) };
    const poprt_attr axis = { .name = "axis", .kind = POPRT_ATTR_INT, .integer = 1 };
    y = add(n, "Concat", 2, parts, 1, &axis, "scores");
    ck_assert_ok(poprt_builder_output(b, y));
    const poprt_attr no_dims = { .name = "keepdims", .kind = POPRT_ATTR_INT, .integer = 0 };
    const poprt_id squares = poprt_op_mul(b, y, y, NULL);
    const poprt_id extra = poprt_op_mul(b, table[0], table[0], NULL);
    const poprt_id in[] = { add(n, "ReduceMean", 1, &squares, 1, &no_dims, "mean"),
        add(n, "ReduceSum", 1, &extra, 1, &no_dims, "extra") };
    ck_assert_ok(poprt_builder_output(b, add(n, "Add", 2, in, 0, NULL, "loss")));
}

/* Many layers without weights. */
static void tower(net *n, poprt_id x, poprt_id labels)
{
    poprt_builder *b = n->b;
    const poprt_id w = WEIGHT(n, "w", WIDTH);
    const poprt_attr no_dims = { .name = "keepdims", .kind = POPRT_ATTR_INT, .integer = 0 };
    (void)labels;
    poprt_id y = poprt_op_mul(b, x, w, NULL);
    for (int i = 0; i < LAYERS; i++)
        y = poprt_op_softmax(b, y, NULL);
    const poprt_id same[] = { y };
    y = add(n, "Identity", 1, same, 0, NULL, "scores");
    ck_assert_ok(poprt_builder_output(b, y));
    const poprt_id squares = poprt_op_mul(b, y, y, NULL);
    ck_assert_ok(poprt_builder_output(b, add(n, "ReduceSum", 1, &squares, 1, &no_dims, "loss")));
}

/* What a training gives. */
typedef struct outcome {
    float loss[STEPS];
    float scores[LARGEST], middle[LARGEST], weights[1 << 19];
    size_t n_weights, memory;
} outcome;

static void copy(poprt_stepio *io, size_t index, float *to)
{
    poprt_tensor t;
    ck_assert_ok(poprt_stepio_output(io, index, &t));
    ck_assert_uint_le(t.size, LARGEST * sizeof(float));
    memcpy(to, t.data, t.size);
}

static void read_weights(poprt_session *session, const char *const *names, outcome *out)
{
    out->n_weights = 0;
    for (; *names != NULL; names++) {
        poprt_tensor t = { .data = out->weights + out->n_weights,
            .size = sizeof(out->weights) - out->n_weights * sizeof(float) };
        ck_assert_ok(poprt_session_read_weight(session, *names, &t));
        out->n_weights += t.size / sizeof(float);
    }
}

typedef struct course {
    void (*build)(net *n, poprt_id x, poprt_id labels);
    const char *weights[8];
    const char *middle; /* a tensor that is returned too, or NULL */
    const char *options;
    int64_t blocks; /* micro-batches of a step */
} course;

static void train(const course *c, const char *factor, outcome *out)
{
    char text[512];
    static float x[4][MOST];
    static int64_t labels[4][SAMPLES];
    const int64_t dims[] = { c->blocks, SAMPLES, WIDTH };
    uint32_t state = 11;
    (void)snprintf(text, sizeof(text), "%s\n%s", factor, c->options);
    poprt_config *config = options_of(NULL, text);
    poprt_model *model = make_model(c->build);
    poprt_optimizer *optimizer = NULL;
    poprt_flow *flow = NULL;
    poprt_executable *exec = NULL, *loaded = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    buffer bytes = { 0 };
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < MOST; i++)
            x[k][i] = next_number(&state);
    for (int i = 0; i < 4 * SAMPLES; i++)
        labels[i / SAMPLES][i % SAMPLES] = (i * 7 + i / 3) % CLASSES;
    ck_assert_ok(poprt_optimizer_create(NULL, "sgd", &optimizer));
    ck_assert_ok(poprt_optimizer_set(optimizer, "learning_rate", 0.05f, 0));
    ck_assert_ok(poprt_flow_create(NULL, 1, &flow));
    ck_assert_ok(poprt_flow_anchor(flow, "loss", POPRT_ANCHOR_FINAL, 0));
    ck_assert_ok(poprt_flow_anchor(flow, "scores", POPRT_ANCHOR_FINAL, 0));
    if (c->middle != NULL)
        ck_assert_ok(poprt_flow_anchor(flow, c->middle, POPRT_ANCHOR_FINAL, 0));
    const poprt_training t = { .struct_size = sizeof(t),
        .loss = "loss",
        .optimizer = optimizer,
        .flow = flow };
    ck_assert_ok(poprt_compile_training(model, &t, config, &exec));
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &bytes));
    ck_assert_ok(poprt_executable_load_bytes(NULL, bytes.data, bytes.size, NULL, &loaded));
    ck_assert_ok(poprt_session_create(loaded, config, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    const poprt_tensor in =
        tensor_of(POPRT_DTYPE_FLOAT32, x, (size_t)c->blocks * sizeof(x[0]), dims, 3);
    const poprt_tensor targets =
        tensor_of(POPRT_DTYPE_INT64, labels, (size_t)c->blocks * sizeof(labels[0]), dims, 2);
    ck_assert_ok(poprt_stepio_bind(io, "x", &in));
    ck_assert_ok(poprt_stepio_bind(io, "labels", &targets));
    for (int i = 0; i < STEPS; i++) {
        float loss[LARGEST];
        ck_assert_ok(poprt_session_run(session, io));
        copy(io, 2, loss);
        out->loss[i] = loss[0];
    }
    copy(io, 3, out->scores);
    if (c->middle != NULL)
        copy(io, 4, out->middle);
    read_weights(session, c->weights, out);
    out->memory = poprt_session_memory(session);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(loaded);
    poprt_executable_release(exec);
    poprt_flow_release(flow);
    poprt_optimizer_release(optimizer);
    poprt_model_release(model);
    poprt_config_release(config);
    free(bytes.data);
}

START_TEST(pieces_train_the_weights_of_the_whole)
{
    static const course courses[] = {
        { perceptron, { "w", "bias", "v" }, NULL, "", 1 },
        { attention, { "gamma", "beta", "w0", "w1", "w2" }, "middle", "", 1 },
        { images, { "filters", "bias", "w", "c", "table" }, "conv", "", 1 },
        { perceptron, { "w", "bias", "v" }, NULL,
            "enableGradientAccumulation = True\naccumulationFactor = 2\n"
            "accumulationAndReplicationReductionType = Mean\n"
            "enableReplicatedGraphs = True\nreplicatedGraphCount = 2",
            4 },
    };
    static const char *const factors[] = { "batchSerializationSettings.factor = 2",
        "batch_serialization_factor = 4", "batchSerializationSettings.factor = 8" };
    static outcome whole, pieces;
    for (size_t k = 0; k < sizeof(courses) / sizeof(courses[0]); k++) {
        train(&courses[k], "", &whole);
        ck_assert_float_ne(whole.loss[STEPS - 1], whole.loss[0]);
        for (size_t f = 0; f < 3; f++) {
            train(&courses[k], factors[f], &pieces);
            for (int i = 0; i < STEPS; i++)
                ck_assert_double_eq_tol((double)pieces.loss[i], (double)whole.loss[i],
                    1e-5 * fabs((double)whole.loss[i]));
            ck_assert_double_lt(difference(pieces.scores, whole.scores, LARGEST), 1e-4);
            ck_assert_double_lt(difference(pieces.middle, whole.middle, LARGEST), 1e-4);
            ck_assert_uint_eq(pieces.n_weights, whole.n_weights);
            ck_assert_double_lt(difference(pieces.weights, whole.weights, whole.n_weights), 1e-5);
        }
    }
}
END_TEST

/* Each of the layers of 512 elements a sample keeps its result for the backward pass. */
START_TEST(pieces_need_less_memory)
{
    static const course c = { tower, { "w" }, NULL, "", 1 };
    static outcome whole, pieces;
    train(&c, "", &whole);
    train(&c, "batch_serialization_factor = 8", &pieces);
    ck_assert_double_lt(difference(pieces.weights, whole.weights, whole.n_weights), 1e-5);
    ck_assert_msg(pieces.memory < whole.memory - LAYERS * SAMPLES * WIDTH / 2 * sizeof(float),
        "%zu and %zu bytes", pieces.memory, whole.memory);
}
END_TEST

/* ---- together with other options */

/* The loss is the mean of x * w, computed in float16. */
static void half_product(net *n, poprt_id x, poprt_id labels)
{
    const poprt_attr no_dims = { .name = "keepdims", .kind = POPRT_ATTR_INT, .integer = 0 };
    const poprt_cast_attrs to_half = { .to = poprt_int(POPRT_DTYPE_FLOAT16) };
    const poprt_id w = poprt_op_cast(n->b, WEIGHT(n, "w", WIDTH), &to_half);
    const poprt_id same[] = { poprt_op_mul(n->b, poprt_op_cast(n->b, x, &to_half), w, NULL) };
    const poprt_cast_attrs to_float = { .to = poprt_int(POPRT_DTYPE_FLOAT32) };
    const poprt_id scores[] = { add(n, "Identity", 1, same, 0, NULL, "product") };
    (void)labels;
    ck_assert_ok(poprt_builder_output(n->b, poprt_op_cast(n->b, scores[0], &to_float)));
    ck_assert_ok(poprt_builder_output(n->b, add(n, "ReduceMean", 1, scores, 1, &no_dims, "loss")));
}

/* Trains with Adam by another program than the one above: weights that are not trained, a model
 * and a checkpoint that are saved, automatic loss scaling, updates of several weights. */
static float train_with_adam(void (*build)(net *n, poprt_id x, poprt_id labels),
    const char *options, const char *weight_name, float *w, size_t n)
{
    static const char *const frozen[] = { "bias" };
    static const int64_t dims[] = { SAMPLES, WIDTH };
    static float x[MOST], initial[WIDTH], kept[WIDTH];
    static int64_t labels[SAMPLES];
    uint32_t state = 11;
    poprt_config *config = options_of(NULL, options);
    poprt_model *model = make_model(build), *trained = NULL;
    poprt_optimizer *optimizer = NULL;
    poprt_executable *exec = NULL, *tested = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    const bool has_bias = build == perceptron;
    for (int i = 0; i < MOST; i++)
        x[i] = next_number(&state);
    ck_assert_ok(poprt_optimizer_create(NULL, "adam", &optimizer));
    ck_assert_ok(poprt_optimizer_set(optimizer, "lossScaling", 2, 0));
    const poprt_training t = { .struct_size = sizeof(t),
        .loss = "loss",
        .optimizer = optimizer,
        .frozen = frozen,
        .frozen_count = has_bias ? 1 : 0 };
    ck_assert_ok(poprt_compile_training(model, &t, config, &exec));
    ck_assert_ok(poprt_session_create(exec, config, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    const poprt_tensor in = tensor_of(POPRT_DTYPE_FLOAT32, x, sizeof(x), dims, 2);
    const poprt_tensor targets = tensor_of(POPRT_DTYPE_INT64, labels, sizeof(labels), dims, 1);
    ck_assert_ok(poprt_stepio_bind(io, "x", &in));
    ck_assert_ok(poprt_stepio_bind(io, "labels", &targets));
    poprt_tensor bias = { .data = initial, .size = sizeof(initial) };
    if (has_bias)
        ck_assert_ok(poprt_session_read_weight(session, "bias", &bias));
    for (int i = 0; i < STEPS; i++)
        ck_assert_ok(poprt_session_run(session, io));
    bias.data = kept;
    if (has_bias)
        ck_assert_ok(poprt_session_read_weight(session, "bias", &bias));
    ck_assert_mem_eq(initial, kept, sizeof(kept));
    poprt_tensor out = { .data = w, .size = n * sizeof(float) };
    ck_assert_ok(poprt_session_read_weight(session, weight_name, &out));
    float factor = 1;
    poprt_tensor scalar = { .data = &factor, .size = sizeof(factor) };
    if (!has_bias)
        ck_assert_ok(poprt_session_read_weight(session, "lossScaleUpdateFactor", &scalar));
    ck_assert_ok(poprt_session_export_model(session, model, 0, &trained));
    ck_assert_ok(poprt_compile(trained, NULL, &tested));
    poprt_executable_release(tested);
    poprt_model_release(trained);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_optimizer_release(optimizer);
    poprt_model_release(model);
    poprt_config_release(config);
    return factor;
}

/* The edge of 1.3 is between the gradient of w and that of the loss, which does not count. Adam
 * divides gradients by their own size, so that rounding shows in the weights. */
START_TEST(pieces_go_with_other_options)
{
    static const char scaled[] = "automatic_loss_scaling = true\n"
                                 "automatic_loss_scaling_bin_edge_location = 0.00002\n";
    static float whole[WIDTH], pieces[WIDTH], many[2][1 << 18];
    char text[256];
    (void)train_with_adam(perceptron, "", "w", many[0], 1 << 18);
    (void)train_with_adam(perceptron,
        "batch_serialization_factor = 4\nmergeVarUpdate = All\nmaster_weights = true", "w", many[1],
        1 << 18);
    ck_assert_double_lt(difference(many[0], many[1], 1 << 18), 1e-3);
    const float factor = train_with_adam(half_product, scaled, "w", whole, WIDTH);
    (void)snprintf(text, sizeof(text), "%sbatch_serialization_factor = 2", scaled);
    ck_assert_float_eq(train_with_adam(half_product, text, "w", pieces, WIDTH), factor);
    ck_assert_float_gt(factor, 1);
    ck_assert_double_lt(difference(whole, pieces, WIDTH), 0.02);
    (void)snprintf(text, sizeof(text),
        "%sbatch_serialization_factor = 2\nenable_stochastic_rounding = true", scaled);
    ck_assert_float_eq(train_with_adam(half_product, text, "w", pieces, WIDTH), factor);
    ck_assert_double_lt(difference(whole, pieces, WIDTH), 0.02);
}
END_TEST

PRT_TEST_MAIN("session/pieces", pieces_train_the_weights_of_the_whole, pieces_need_less_memory,
    pieces_go_with_other_options)
