/* SPDX-License-Identifier: MIT */
/*
 * build_model.c — builds a small convolutional network with a loop, saves it as ONNX, compiles it
 * and runs it on one image.
 *
 *     build_model OUT.onnx
 *
 * Calls of the builder need no checks: after a failure they do nothing, and poprt_builder_finish
 * returns the first one.
 */
#include <poprt/builder_ops.h>
#include <poprt/poprt.h>

#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 8, CHANNELS = 4, CLASSES = 3, REPEATS = 2 };

/* Adds a weight with small numbers. The builder copies them. */
static poprt_id add_weight(poprt_builder *b, const char *name, const int64_t *dims, uint32_t rank)
{
    size_t count = 1;
    for (uint32_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    float *data = malloc(count * sizeof(float));
    if (data == NULL)
        return 0;
    for (size_t i = 0; i < count; i++)
        data[i] = (float)(i * 7 % 11) / 11.0f - 0.4f;
    const poprt_tensor t = { data, count * sizeof(float), dims, rank, POPRT_DTYPE_FLOAT32 };
    const poprt_id id = poprt_builder_weight(b, name, &t, 0);
    free(data);
    return id;
}

/* relu(conv(x)) with a kernel of 3 x 3 that keeps the size of the image. */
static poprt_id conv_relu(poprt_builder *b, poprt_id x, int64_t in, int64_t out)
{
    const int64_t dims[] = { out, in, 3, 3 };
    const poprt_conv_attrs conv = { .pads = POPRT_INTS(1, 1, 1, 1) };
    return poprt_op_relu(b, poprt_op_conv(b, x, add_weight(b, "w", dims, 4), 0, &conv), NULL);
}

/* Applies a residual block several times: a Loop whose body is a subgraph. */
static poprt_id repeat_block(poprt_builder *b, poprt_id x)
{
    const int64_t repeats = REPEATS;
    const poprt_constant_attrs trips = { .value_int = poprt_int(repeats) };
    poprt_builder *body = NULL;
    if (poprt_builder_create_subgraph(b, "block", &body) != POPRT_OK)
        return 0;
    (void)poprt_builder_input(body, "iteration", NULL, NULL);
    const poprt_id more = poprt_builder_input(body, "more", NULL, NULL);
    const poprt_id image = poprt_builder_input(body, "image", NULL, NULL);
    const poprt_id next =
        poprt_op_add(body, image, conv_relu(body, image, CHANNELS, CHANNELS), NULL);
    (void)poprt_builder_output(body, more);
    (void)poprt_builder_output(body, next);
    const poprt_loop_attrs loop = { .name = "repeat", .body = body };
    const poprt_id y = poprt_op_loop(b, poprt_op_constant(b, &trips), 0, 1, &x, &loop, 1, NULL);
    poprt_builder_release(body);
    return y;
}

static poprt_status build(const char *path, poprt_model **out)
{
    poprt_builder *b = NULL;
    if (poprt_builder_create(NULL, 13, &b) != POPRT_OK)
        return poprt_last_error()->status;
    const poprt_type type = { POPRT_DTYPE_FLOAT32, 4, { 1, 1, SIDE, SIDE } };
    const poprt_id image = poprt_builder_input(b, "image", &type, NULL);
    (void)poprt_builder_push_name(b, "features");
    const poprt_id features = repeat_block(b, conv_relu(b, image, 1, CHANNELS));
    (void)poprt_builder_pop(b);
    const poprt_flatten_attrs rows = { .axis = poprt_int(1) };
    const poprt_id pooled =
        poprt_op_flatten(b, poprt_op_global_average_pool(b, features, NULL), &rows);
    const int64_t dims[] = { CHANNELS, CLASSES };
    const poprt_softmax_attrs last = { .name = "scores", .axis = poprt_int(-1) };
    const poprt_id scores = poprt_op_softmax(b,
        poprt_op_matmul(b, pooled, add_weight(b, "classes", dims, 2), NULL), &last);
    (void)poprt_builder_output(b, scores);
    poprt_status status = poprt_builder_finish(b, out);
    poprt_builder_release(b);
    return status == POPRT_OK ? poprt_model_save_file(*out, path) : status;
}

static poprt_status run(const poprt_model *model)
{
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    float image[SIDE * SIDE];
    const int64_t dims[] = { 1, 1, SIDE, SIDE };
    poprt_tensor in = { image, sizeof(image), dims, 4, POPRT_DTYPE_FLOAT32 }, out;
    for (int i = 0; i < SIDE * SIDE; i++)
        image[i] = (float)i / (SIDE * SIDE);
    poprt_status status = poprt_compile(model, NULL, &exec);
    if (status == POPRT_OK)
        status = poprt_session_create(exec, NULL, &session);
    if (status == POPRT_OK)
        status = poprt_stepio_create(session, &io);
    if (status == POPRT_OK)
        status = poprt_stepio_bind(io, "image", &in);
    if (status == POPRT_OK)
        status = poprt_session_run(session, io);
    if (status == POPRT_OK)
        status = poprt_stepio_output(io, 1, &out); /* slot 0 is the input */
    for (int i = 0; status == POPRT_OK && i < CLASSES; i++)
        printf("class %d has the score %.4f\n", i, (double)((const float *)out.data)[i]);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    return status;
}

int main(int argc, char **argv)
{
    poprt_model *model = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: build_model OUT.onnx\n");
        return 2;
    }
    poprt_status status = build(argv[1], &model);
    if (status == POPRT_OK)
        status = run(model);
    poprt_model_release(model);
    if (status != POPRT_OK)
        fprintf(stderr, "%s: %s\n", poprt_last_error()->subject, poprt_last_error()->message);
    return status == POPRT_OK ? 0 : 1;
}
