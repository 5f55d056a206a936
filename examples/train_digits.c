/* SPDX-License-Identifier: MIT */
/*
 * train_digits.c — builds a convolutional network, trains it on handwritten digits, and writes it
 * as ONNX.
 *
 *     train_digits DATA model.onnx
 *
 * DATA/train and DATA/held_back have image.npy, uint8 [n,1,8,8] with ink from 0 to 16, and
 * label.npy, uint8 [n]. Only the first are trained on. The program ends with 1 if the trained
 * network reads fewer than 98.5 % of the others. It uses libpoprt's public headers alone.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "poprt/builder_ops.h"
#include "poprt/poprt.h"
#include "poprt/train.h"

enum {
    SIDE = 8,
    PIXELS = SIDE * SIDE,
    INK = 16,
    CLASSES = 10,
    BATCH = 32,
    HIDDEN = 96,
    EPOCHS = 32
};

static const float learning_rate = 0.004f, smoothing = 0.15f;

/* A data set. */
typedef struct digits {
    unsigned char *images, *labels;
    size_t count;
} digits;

static int fail(const char *what)
{
    const poprt_error *e = poprt_last_error();
    (void)fprintf(stderr, "%s: %s %s: %s\n", what, poprt_status_name(e->status), e->subject,
        e->message);
    return 1;
}

/* ---- data */

/* Returns the data of a version 1 .npy file of bytes, and their number; NULL if it cannot be
 * read. */
static unsigned char *read_npy(const char *folder, const char *name, size_t *size)
{
    char path[1024];
    unsigned char head[10], *data = NULL;
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file != NULL && fread(head, 1, sizeof(head), file) == sizeof(head) &&
        memcmp(head, "\x93NUMPY\x01", 7) == 0) {
        const long start = 10 + head[8] + 256 * head[9];
        if (fseek(file, 0, SEEK_END) == 0 && ftell(file) > start) {
            *size = (size_t)(ftell(file) - start);
            data = malloc(*size);
            if (data != NULL &&
                (fseek(file, start, SEEK_SET) != 0 || fread(data, 1, *size, file) != *size)) {
                free(data);
                data = NULL;
            }
        }
    }
    if (file != NULL)
        (void)fclose(file);
    if (data == NULL)
        (void)fprintf(stderr, "%s cannot be read\n", path);
    return data;
}

static int read_digits(const char *data, const char *part, digits *out)
{
    char folder[1000];
    size_t bytes = 0;
    (void)snprintf(folder, sizeof(folder), "%s/%s", data, part);
    out->images = read_npy(folder, "image.npy", &bytes);
    out->labels = read_npy(folder, "label.npy", &out->count);
    if (out->images == NULL || out->labels == NULL)
        return 1;
    if (bytes == out->count * PIXELS && out->count >= BATCH)
        return 0;
    (void)fprintf(stderr, "%s: the files are not images of %d bytes and their labels\n", folder,
        PIXELS);
    return 1;
}

/* Fails if an image is in both data sets. */
static int check_held_back(const digits *train, const digits *held_back)
{
    for (size_t i = 0; i < train->count; i++)
        for (size_t k = 0; k < held_back->count; k++)
            if (memcmp(train->images + i * PIXELS, held_back->images + k * PIXELS, PIXELS) == 0) {
                (void)fprintf(stderr, "digit %zu is held back, and is digit %zu of training\n", k,
                    i);
                return 1;
            }
    return 0;
}

/* Returns the next pseudo-random number of 31 bits. */
static uint32_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Returns a pseudo-random number in [-1, 1). */
static float noise(uint64_t *state)
{
    return (float)(draw(state) >> 7) * 0x1p-23f - 1;
}

static float pixel_of(const unsigned char *image, int y, int x)
{
    return y >= 0 && y < SIDE && x >= 0 && x < SIDE ? (float)image[y * SIDE + x] : 0;
}

/* Rotates, scales, slants and shifts an image a little, and changes its ink, so that the network
 * sees new digits each epoch. */
static void vary(const unsigned char *from, uint64_t *state, unsigned char *to)
{
    const float angle = 0.17f * noise(state), scale = 1 + 0.1f * noise(state);
    const float slant = 0.2f * noise(state), strength = 1 + 0.2f * noise(state);
    const float a = scale * cosf(angle), b = scale * sinf(angle), middle = (SIDE - 1) / 2.0f;
    const float down = 0.8f * noise(state) + middle, right = 0.8f * noise(state) + middle;
    for (int i = 0; i < PIXELS; i++) {
        const float v = (float)(i / SIDE) - middle, u = (float)(i % SIDE) - middle;
        const float y = a * v + b * u + down, x = a * u - b * v + slant * v + right;
        const float y0 = floorf(y), x0 = floorf(x), dy = y - y0, dx = x - x0;
        const int row = (int)y0, column = (int)x0;
        const float ink = (1 - dy) *
                ((1 - dx) * pixel_of(from, row, column) + dx * pixel_of(from, row, column + 1)) +
            dy *
                ((1 - dx) * pixel_of(from, row + 1, column) +
                    dx * pixel_of(from, row + 1, column + 1));
        to[i] = (unsigned char)(fminf(strength * ink, INK) + 0.5f);
    }
}

static void shuffle(size_t *order, size_t count, uint64_t *state)
{
    for (size_t i = count - 1; i > 0; i--) {
        const size_t k = draw(state) % (i + 1), other = order[k];
        order[k] = order[i];
        order[i] = other;
    }
}

/* ---- the network */

/* Adds a weight of random numbers, with the variance that keeps the size of activations (He). */
static poprt_id random_weight(poprt_builder *b, const char *name, uint32_t rank,
    const int64_t *dims, int64_t inputs, uint64_t *state)
{
    size_t count = 1;
    for (uint32_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    float *values = malloc(count * sizeof(*values));
    if (values == NULL)
        return 0;
    for (size_t i = 0; i < count; i++) /* [-1, 1) has the variance 1/3 */
        values[i] = noise(state) * sqrtf(6.0f / (float)inputs);
    const poprt_tensor tensor = { values, count * sizeof(*values), dims, rank,
        POPRT_DTYPE_FLOAT32 };
    const poprt_id weight = poprt_builder_weight(b, name, &tensor, 0);
    free(values);
    return weight;
}

/* Adds a vector with equal elements. */
static poprt_id filled(poprt_builder *b, const char *name, int64_t count, float value)
{
    float values[HIDDEN];
    for (int64_t i = 0; i < count; i++)
        values[i] = value;
    const poprt_tensor tensor = { values, (size_t)count * sizeof(float), &count, 1,
        POPRT_DTYPE_FLOAT32 };
    return poprt_builder_weight(b, name, &tensor, 0);
}

/* Adds a convolution of 3x3 with BatchNormalization, whose running mean and variance are weights
 * that training updates by itself, and Relu. */
static poprt_id block(poprt_builder *b, poprt_id x, int64_t in, int64_t out, uint64_t *state)
{
    const int64_t dims[] = { out, in, 3, 3 };
    const poprt_conv_attrs around = { .pads = POPRT_INTS(1, 1, 1, 1) };
    x = poprt_op_conv(b, x, random_weight(b, "filters", 4, dims, 9 * in, state), 0, &around);
    x = poprt_op_batch_normalization(b, x, filled(b, "scale", out, 1), filled(b, "bias", out, 0),
        filled(b, "mean", out, 0), filled(b, "variance", out, 1), NULL, 1, NULL);
    return poprt_op_relu(b, x, NULL);
}

/* Adds a product with a matrix, and a vector. */
static poprt_id dense(poprt_builder *b, poprt_id x, int64_t in, int64_t out, const char *name,
    uint64_t *state)
{
    const int64_t dims[] = { in, out };
    return poprt_op_gemm(b, x, random_weight(b, "matrix", 2, dims, in, state),
        filled(b, "offset", out, 0), &(poprt_gemm_attrs){ .name = name });
}

static poprt_id halve(poprt_builder *b, poprt_id x)
{
    const poprt_max_pool_attrs attrs = { .kernel_shape = POPRT_INTS(2, 2),
        .strides = POPRT_INTS(2, 2) };
    return poprt_op_max_pool(b, x, &attrs, 1, NULL);
}

static poprt_id scalar(poprt_builder *b, const char *name, float value)
{
    const poprt_tensor tensor = { &value, sizeof(value), NULL, 0, POPRT_DTYPE_FLOAT32 };
    return poprt_builder_constant(b, name, &tensor, 0);
}

/* Adds the cross entropy with a part `smoothing` of each label spread over all classes, so that the
 * network does not become too sure of the digits that it has seen. */
static poprt_id smooth_loss(poprt_builder *b, poprt_id scores, poprt_id label)
{
    const poprt_reduce_mean_attrs whole = { .keepdims = poprt_int(0) };
    poprt_id both[2]; /* the cross entropy, and the logarithms of the probabilities */
    (void)poprt_op_softmax_cross_entropy_loss(b, scores, label, 0, NULL, 2, both);
    const poprt_id mean = poprt_op_reduce_mean(b, both[1], 0, &whole);
    const poprt_id right = poprt_op_mul(b, both[0], scalar(b, "right", 1 - smoothing), NULL);
    const poprt_id spread = poprt_op_mul(b, mean, scalar(b, "spread", -smoothing), NULL);
    return poprt_op_add(b, right, spread, &(poprt_add_attrs){ .name = "loss" });
}

/* Makes the network, and a copy that ends with the loss. */
static poprt_status add_network(poprt_builder *b, poprt_model **network, poprt_model **with_loss)
{
    static const char *const names[] = { "batch", NULL, NULL, NULL };
    const poprt_type bytes = { .dtype = POPRT_DTYPE_UINT8,
        .rank = 4,
        .dims = { -1, 1, SIDE, SIDE } };
    const poprt_type classes = { .dtype = POPRT_DTYPE_INT32, .rank = 1, .dims = { -1 } };
    const poprt_cast_attrs to_float = { .to = poprt_int(POPRT_DTYPE_FLOAT32) };
    uint64_t state = 1;
    poprt_id x = poprt_builder_input(b, "image", &bytes, names);
    x = poprt_op_mul(b, poprt_op_cast(b, x, &to_float), scalar(b, "unit", 1.0f / INK), NULL);
    x = block(b, x, 1, 16, &state);
    x = halve(b, block(b, x, 16, 32, &state));
    x = halve(b, block(b, x, 32, 48, &state));
    x = poprt_op_relu(b, dense(b, poprt_op_flatten(b, x, NULL), 4 * 48, HIDDEN, "hidden", &state),
        NULL);
    x = poprt_op_dropout(b, x, scalar(b, "ratio", 0.3f), 0, NULL, 1, NULL);
    x = dense(b, x, HIDDEN, CLASSES, "scores", &state);
    const poprt_status status = poprt_builder_output(b, x);
    if (status == POPRT_OK && poprt_builder_finish(b, network) != POPRT_OK)
        return poprt_builder_status(b);
    const poprt_id label = poprt_builder_input(b, "label", &classes, names);
    (void)poprt_builder_output(b, smooth_loss(b, x, label));
    return poprt_builder_finish(b, with_loss);
}

/* ---- training */

/* A batch on its way to the session. */
typedef struct batch {
    unsigned char images[BATCH * PIXELS];
    int32_t labels[BATCH];
} batch;

static void fill(batch *to, const digits *from, const size_t *order, uint64_t *state)
{
    for (size_t i = 0; i < BATCH; i++) {
        vary(from->images + order[i] * PIXELS, state, to->images + i * PIXELS);
        to->labels[i] = from->labels[order[i]];
    }
}

/* Runs all epochs. The learning rate falls along a cosine. */
static poprt_status run_epochs(poprt_session *session, poprt_stepio *io, batch *now,
    const digits *train, poprt_optimizer *optimizer, size_t *order)
{
    const size_t batches = train->count / BATCH;
    uint64_t state = 7;
    poprt_status status = POPRT_OK;
    for (size_t i = 0; i < train->count; i++)
        order[i] = i;
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        double loss = 0;
        shuffle(order, train->count, &state);
        for (size_t i = 0; i < batches; i++) {
            const double part = (epoch + (double)i / (double)batches) / EPOCHS;
            const double rate = (double)learning_rate * (1 + cos(3.14159265358979 * part)) / 2;
            poprt_tensor out;
            fill(now, train, order + i * BATCH, &state);
            if ((status = poprt_optimizer_set(optimizer, "learning_rate", (float)rate, 0)) ||
                (status = poprt_session_update_optimizer(session, optimizer)) ||
                (status = poprt_session_run(session, io)) ||
                (status = poprt_stepio_output(io, 2, &out))) /* slots 0 and 1 are the inputs */
                return status;
            loss += (double)*(const float *)out.data;
        }
        (void)printf("epoch %2d: loss %.4f\n", epoch + 1, loss / (double)batches);
    }
    return status;
}

/* Binds the batch to the inputs, and trains. */
static poprt_status train_session(poprt_session *session, const digits *train,
    poprt_optimizer *optimizer)
{
    static const int64_t dims[] = { BATCH, 1, SIDE, SIDE };
    poprt_stepio *io = NULL;
    batch *now = malloc(sizeof(*now));
    size_t *order = malloc(train->count * sizeof(*order));
    poprt_status status = POPRT_E_NOMEM;
    if (now != NULL && order != NULL) {
        const poprt_tensor images = { now->images, sizeof(now->images), dims, 4,
            POPRT_DTYPE_UINT8 };
        const poprt_tensor labels = { now->labels, sizeof(now->labels), dims, 1,
            POPRT_DTYPE_INT32 };
        if (!(status = poprt_stepio_create(session, &io)) &&
            !(status = poprt_stepio_bind(io, "image", &images)) &&
            !(status = poprt_stepio_bind(io, "label", &labels)))
            status = run_epochs(session, io, now, train, optimizer, order);
    }
    poprt_stepio_release(io);
    free(order);
    free(now);
    return status;
}

/* Compiles the training program. Without anchors a step would also return the scores. */
static poprt_status compile(const poprt_model *model, const poprt_optimizer *optimizer,
    poprt_executable **out)
{
    poprt_flow *flow = NULL;
    poprt_status status = poprt_flow_create(NULL, 1, &flow);
    const poprt_training training = { .struct_size = sizeof(training),
        .loss = "loss:0",
        .optimizer = optimizer,
        .flow = flow };
    if (status == POPRT_OK && !(status = poprt_flow_anchor(flow, "loss:0", POPRT_ANCHOR_FINAL, 0)))
        status = poprt_compile_training(model, &training, NULL, out);
    poprt_flow_release(flow);
    return status;
}

/* Trains the copy with the loss, and returns the network with its weights. */
static poprt_status train_network(const poprt_model *network, poprt_model *with_loss,
    const digits *train, poprt_model **trained)
{
    static const int64_t image[] = { BATCH, 1, SIDE, SIDE };
    poprt_optimizer *optimizer = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_status status;
    if (!(status = poprt_optimizer_create(NULL, "adamw", &optimizer)) &&
        !(status = poprt_optimizer_set(optimizer, "learning_rate", learning_rate, 0)) &&
        !(status = poprt_optimizer_set(optimizer, "weight_decay", 0.02f, 1)) &&
        !(status = poprt_model_set_input_shape(with_loss, "image", image, 4)) &&
        !(status = compile(with_loss, optimizer, &exec)) &&
        !(status = poprt_session_create(exec, NULL, &session)) &&
        !(status = train_session(session, train, optimizer)))
        status = poprt_session_export_model(session, network, 0, trained);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_optimizer_release(optimizer);
    return status;
}

/* ---- the result */

/* Counts the digits that the model reads right. */
static poprt_status count_right(const poprt_model *model, const digits *from, size_t *right)
{
    const int64_t dims[] = { (int64_t)from->count, 1, SIDE, SIDE };
    const poprt_tensor images = { from->images, from->count * PIXELS, dims, 4, POPRT_DTYPE_UINT8 };
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_tensor scores;
    poprt_status status;
    *right = 0;
    if (!(status = poprt_compile(model, NULL, &exec)) &&
        !(status = poprt_session_create(exec, NULL, &session)) &&
        !(status = poprt_stepio_create(session, &io)) &&
        !(status = poprt_stepio_bind(io, "image", &images)) &&
        !(status = poprt_session_run(session, io)) &&
        !(status = poprt_stepio_output(io, 1, &scores)))
        for (size_t i = 0; i < from->count; i++) {
            const float *s = (const float *)scores.data + i * CLASSES;
            int best = 0;
            for (int c = 1; c < CLASSES; c++)
                best = s[c] > s[best] ? c : best;
            *right += best == from->labels[i];
        }
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    return status;
}

/* Builds, trains, tests and writes the network. Returns the exit code. */
static int make_model(const digits *train, const digits *held_back, const char *path)
{
    poprt_builder *builder = NULL;
    poprt_model *network = NULL, *with_loss = NULL, *trained = NULL;
    size_t right = 0;
    int failed = 0;
    const clock_t begun = clock();
    if (poprt_builder_create(NULL, 17, &builder) != POPRT_OK ||
        add_network(builder, &network, &with_loss) != POPRT_OK)
        failed = fail("building");
    else if (train_network(network, with_loss, train, &trained) != POPRT_OK)
        failed = fail("training");
    else if (count_right(trained, held_back, &right) != POPRT_OK)
        failed = fail("testing");
    else if (poprt_model_save_file(trained, path) != POPRT_OK)
        failed = fail(path);
    if (!failed) {
        (void)printf("%zu of %zu held-back digits read right (%.2f %%), %.1f s of one processor\n",
            right, held_back->count, 100.0 * (double)right / (double)held_back->count,
            (double)(clock() - begun) / CLOCKS_PER_SEC);
        failed = 1000 * right < 985 * held_back->count;
    }
    poprt_model_release(trained);
    poprt_model_release(with_loss);
    poprt_model_release(network);
    poprt_builder_release(builder);
    return failed;
}

int main(int argc, char **argv)
{
    digits train = { 0 }, held_back = { 0 };
    if (argc != 3) {
        (void)fprintf(stderr, "usage: %s DATA model.onnx\n", argv[0]);
        return 2;
    }
    int failed = read_digits(argv[1], "train", &train) ||
        read_digits(argv[1], "held_back", &held_back) || check_held_back(&train, &held_back);
    if (!failed)
        failed = make_model(&train, &held_back, argv[2]);
    free(train.images);
    free(train.labels);
    free(held_back.images);
    free(held_back.labels);
    return failed;
}
