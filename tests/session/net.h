/* SPDX-License-Identifier: MIT */
/* net.h — models with weights, a batch of samples and labels, for tests of training options. */
#ifndef PRT_TESTS_SESSION_NET_H
#define PRT_TESTS_SESSION_NET_H

#include "session_test.h"

#include <math.h>
#include <stdio.h>

#include "poprt/train.h"

enum {
    SAMPLES = 8,
    WIDTH = 512, /* of a sample, in float32 */
    CLASSES = 4
};

/* A model being built: its input, its weights filled with different numbers, and its labels. */
typedef struct net {
    poprt_builder *b;
    uint32_t state; /* of the generator of weights */
} net;

static inline float next_number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) * 0x1p-24f - 0.5f;
}

static inline poprt_id weight(net *n, const char *name, const int64_t *dims, int32_t rank)
{
    size_t count = 1;
    for (int32_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    float *data = malloc(count * sizeof(float));
    ck_assert_ptr_nonnull(data);
    for (size_t i = 0; i < count; i++)
        data[i] = 0.2f * next_number(&n->state);
    const poprt_tensor t =
        tensor_of(POPRT_DTYPE_FLOAT32, data, count * sizeof(float), dims, (uint32_t)rank);
    const poprt_id id = poprt_builder_weight(n->b, name, &t, 0);
    free(data);
    return id;
}

#define WEIGHT(n, name, ...) weight(n, name, DIMS(__VA_ARGS__))

static inline poprt_id add(net *n, const char *type, uint32_t n_in, const poprt_id *in,
    uint32_t n_attrs, const poprt_attr *attrs, const char *name)
{
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .op_type = type,
        .inputs = in,
        .n_inputs = n_in,
        .attrs = attrs,
        .n_attrs = n_attrs,
        .output_names = name != NULL ? &name : NULL,
        .n_outputs = 1 };
    return poprt_builder_op(n->b, &op, NULL);
}

static inline poprt_model *make_model(void (*build)(net *n, poprt_id x, poprt_id labels))
{
    net n = { .b = new_builder(17), .state = 3 };
    const poprt_type images_type = { .dtype = POPRT_DTYPE_FLOAT32,
        .rank = 2,
        .dims = { SAMPLES, WIDTH } };
    const poprt_type labels_type = { .dtype = POPRT_DTYPE_INT64, .rank = 1, .dims = { SAMPLES } };
    const poprt_id x = poprt_builder_input(n.b, "x", &images_type, NULL);
    const poprt_id labels = poprt_builder_input(n.b, "labels", &labels_type, NULL);
    build(&n, x, labels);
    return finish(n.b);
}

static inline double difference(const float *a, const float *b, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

#endif
