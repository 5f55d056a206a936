/* SPDX-License-Identifier: MIT */
/*
 * serve_batches.c — a runner serves several client threads: it gathers their small requests into
 * batches of 8, and a batch that is not full runs after half a millisecond.
 *
 *     serve_batches model.onnx      (the digits model: float32 image [batch, 1, 8, 8])
 */
#include <poprt/poprt.h>
#include <poprt/runner.h>

#include <pthread.h>
#include <stdio.h>

enum { CLIENTS = 4, REQUESTS = 500, PIXELS = 64, SCORES = 10 };

typedef struct client {
    poprt_runner *runner;
    poprt_status status;
    float image[PIXELS], scores[SCORES];
    pthread_t thread;
} client;

/* Sends one image at a time; the runner gathers the images of all clients. */
static void *send_requests(void *arg)
{
    client *c = arg;
    const poprt_named_tensor in = { "image",
        { .data = c->image, .size = sizeof(c->image), .dtype = POPRT_DTYPE_FLOAT32 } };
    const poprt_named_tensor out = { "logits",
        { .data = c->scores, .size = sizeof(c->scores), .dtype = POPRT_DTYPE_FLOAT32 } };
    const poprt_runner_call call = { .struct_size = sizeof(call),
        .inputs = &in,
        .n_inputs = 1,
        .outputs = &out,
        .n_outputs = 1 };
    for (int i = 0; i < REQUESTS && c->status == POPRT_OK; i++)
        c->status = poprt_runner_execute(c->runner, &call);
    if (c->status != POPRT_OK) /* the record of the last error belongs to this thread */
        fprintf(stderr, "%s: %s\n", poprt_last_error()->subject, poprt_last_error()->message);
    return NULL;
}

/* Creates a runner of a model; the config has options for compiling, sessions and runners. */
static poprt_status open_runner(const char *path, poprt_runner **out)
{
    static const char *const options[][2] = { { "dim.batch", "8" }, { "batching_dim", "0" },
        { "timeout_ns", "500000" }, { "runner_sessions", "2" } };
    poprt_config *config = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    poprt_status status = poprt_config_create(NULL, &config);
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]) && status == POPRT_OK; i++)
        status = poprt_config_set(config, options[i][0], options[i][1]);
    if (status == POPRT_OK)
        status = poprt_model_load_file(NULL, path, NULL, &model);
    if (status == POPRT_OK)
        status = poprt_compile(model, config, &exec);
    if (status == POPRT_OK)
        status = poprt_runner_create(exec, config, out);
    poprt_executable_release(exec); /* the runner retains it */
    poprt_model_release(model);
    poprt_config_release(config);
    return status;
}

static int serve(poprt_runner *runner)
{
    client clients[CLIENTS] = { { 0 } };
    poprt_runner_stats stats = { .struct_size = sizeof(stats) };
    int started = 0, failed = 0;
    for (; started < CLIENTS; started++) {
        client *c = &clients[started];
        c->runner = runner;
        for (int i = 0; i < PIXELS; i++)
            c->image[i] = (float)(i % 16) / 16.0f;
        if (pthread_create(&c->thread, NULL, send_requests, c) != 0)
            break;
    }
    for (int i = 0; i < started; i++) {
        (void)pthread_join(clients[i].thread, NULL);
        failed += clients[i].status != POPRT_OK || clients[i].scores[0] != clients[0].scores[0];
    }
    if (poprt_runner_get_stats(runner, &stats) != POPRT_OK)
        return 1;
    printf("%llu requests in %llu batches, score %g\n", (unsigned long long)stats.finished,
        (unsigned long long)stats.batches, (double)clients[0].scores[0]);
    return started != CLIENTS || failed != 0;
}

int main(int argc, char **argv)
{
    poprt_runner *runner = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: serve_batches model.onnx\n");
        return 2;
    }
    if (open_runner(argv[1], &runner) != POPRT_OK) {
        fprintf(stderr, "%s: %s\n", poprt_last_error()->subject, poprt_last_error()->message);
        return 1;
    }
    const int result = serve(runner);
    poprt_runner_release(runner);
    return result;
}
