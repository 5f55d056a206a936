/* SPDX-License-Identifier: MIT */
/*
 * serve.c — throughput and latency of a runner: client threads send requests of one row and wait
 * for each.
 *
 *     serve MODEL.onnx DIM CLIENTS SECONDS ROWS... [KEY=VALUE...]
 *
 * MODEL.onnx may be "mlp": four layers of 1024 x 1024 float32 weights with Relu, whose DIM is
 * "batch". DIM is the name of the model's batch dimension. Each ROWS is a batch size, with dynamic
 * batching from 2 on; 1 means single requests, first through a light runner (clients take turns),
 * then through a queue. KEY=VALUE are options of all runners. Prints a table.
 */
#include <poprt/builder_ops.h>
#include <poprt/poprt.h>
#include <poprt/runner.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_CLIENTS = 256, MOST_TENSORS = 16, MOST_TIMES = 1 << 16 };

typedef struct client {
    poprt_runner *runner;
    pthread_t thread;
    uint64_t until, n_times;
    poprt_status status;
    poprt_named_tensor tensor[2][MOST_TENSORS];
    size_t n[2];
    uint64_t *times;
} client;

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *send_requests(void *arg)
{
    client *c = arg;
    const poprt_runner_call call = { .struct_size = sizeof(call),
        .inputs = c->tensor[POPRT_INPUT],
        .n_inputs = c->n[POPRT_INPUT],
        .outputs = c->tensor[POPRT_OUTPUT],
        .n_outputs = c->n[POPRT_OUTPUT] };
    for (uint64_t start = now_ns(); start < c->until && c->status == POPRT_OK;) {
        c->status = poprt_runner_execute(c->runner, &call);
        const uint64_t stop = now_ns();
        c->times[c->n_times++ % MOST_TIMES] = stop - start;
        start = stop;
    }
    return NULL;
}

/* Gives a client tensors of one row: zeros. */
static int prepare(client *c, int64_t rows)
{
    for (int32_t direction = POPRT_INPUT; direction <= POPRT_OUTPUT; direction++) {
        c->n[direction] = poprt_runner_io_count(c->runner, POPRT_RUNNER_EXECUTE, direction);
        for (size_t i = 0; i < c->n[direction]; i++) {
            poprt_runner_io io = { .struct_size = sizeof(io) };
            if (i == MOST_TENSORS ||
                poprt_runner_io_at(c->runner, POPRT_RUNNER_EXECUTE, direction, i, &io) != POPRT_OK)
                return 1;
            const size_t size = io.size / (size_t)rows;
            c->tensor[direction][i] = (poprt_named_tensor){ io.name,
                { .data = calloc(1, size), .size = size, .dtype = io.dtype } };
        }
    }
    c->times = malloc(MOST_TIMES * sizeof(*c->times));
    return c->times == NULL;
}

static int by_time(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Prints the line of a runner. */
static int report(const char *name, poprt_runner *runner, client *clients, int n, double seconds)
{
    static uint64_t all[MOST_CLIENTS * 4096];
    size_t count = 0;
    uint64_t requests = 0;
    poprt_runner_stats stats = { .struct_size = sizeof(stats) };
    for (int i = 0; i < n; i++) {
        if (clients[i].status != POPRT_OK)
            return 1;
        requests += clients[i].n_times;
        for (uint64_t k = 0; k < clients[i].n_times && k < 4096; k++)
            all[count++] = clients[i].times[k];
    }
    qsort(all, count, sizeof(all[0]), by_time);
    if (poprt_runner_get_stats(runner, &stats) != POPRT_OK || count == 0)
        return 1;
    printf("| %s | %.0f | %.1f | %.0f | %.0f |\n", name, (double)requests / seconds,
        stats.batches != 0 ? (double)stats.rows / (double)stats.batches : 1.0,
        (double)all[count / 2] / 1e3, (double)all[count * 99 / 100] / 1e3);
    return 0;
}

/* Runs the clients against one runner. */
static int measure(const char *name, poprt_runner *runner, int64_t rows, int n, double seconds)
{
    static client clients[MOST_CLIENTS];
    int started = 0, failed = 0;
    const uint64_t until = now_ns() + (uint64_t)(seconds * 1e9);
    for (; started < n && failed == 0; started++) {
        clients[started] = (client){ .runner = runner, .until = until };
        failed = prepare(&clients[started], rows) != 0 ||
            pthread_create(&clients[started].thread, NULL, send_requests, &clients[started]) != 0;
    }
    for (int i = 0; i < started - failed; i++)
        (void)pthread_join(clients[i].thread, NULL);
    failed = failed || report(name, runner, clients, n, seconds);
    for (int i = 0; i < started; i++) {
        for (int k = 0; k < 2; k++)
            for (size_t t = 0; t < clients[i].n[k]; t++)
                free(clients[i].tensor[k][t].tensor.data);
        free(clients[i].times);
    }
    return failed;
}

/* Builds the model "mlp". */
static poprt_status build_mlp(poprt_model **out)
{
    enum { WIDTH = 1024, LAYERS = 4 };
    static const int64_t dims[] = { WIDTH, WIDTH };
    static const char *const names[] = { "batch", NULL };
    static float weight[WIDTH * WIDTH];
    const poprt_type type = { POPRT_DTYPE_FLOAT32, 2, { -1, WIDTH } };
    poprt_builder *b = NULL;
    if (poprt_builder_create(NULL, 13, &b) != POPRT_OK)
        return poprt_last_error()->status;
    poprt_id x = poprt_builder_input(b, "x", &type, names);
    for (int i = 0; i < LAYERS; i++) {
        for (int k = 0; k < WIDTH * WIDTH; k++)
            weight[k] = (float)((k + i) % 13 - 6) / 100.0f;
        const poprt_tensor w = { weight, sizeof(weight), dims, 2, POPRT_DTYPE_FLOAT32 };
        x = poprt_op_relu(b, poprt_op_matmul(b, x, poprt_builder_weight(b, "w", &w, 0), NULL),
            NULL);
    }
    (void)poprt_builder_output(b, x);
    const poprt_status status = poprt_builder_finish(b, out);
    poprt_builder_release(b);
    return status;
}

/* The options of one runner. */
static poprt_status make_config(const char *dim, const char *rows, const char *type, int argc,
    char **options, poprt_config **out)
{
    char key[256];
    poprt_config *config = NULL;
    poprt_status status = poprt_config_create(NULL, &config);
    (void)snprintf(key, sizeof(key), "dim.%s", dim);
    if (status == POPRT_OK)
        status = poprt_config_set(config, key, rows);
    if (status == POPRT_OK)
        status = poprt_config_set(config, "runner_type", type);
    if (status == POPRT_OK && atoi(rows) > 1)
        status = poprt_config_set(config, "batching_dim", "0");
    for (int i = 0; i < argc && status == POPRT_OK; i++) {
        const char *equal = strchr(options[i], '=');
        if (equal == NULL)
            continue;
        (void)snprintf(key, sizeof(key), "%.*s", (int)(equal - options[i]), options[i]);
        status = poprt_config_set(config, key, equal + 1);
    }
    *out = config;
    return status;
}

static int measure_rows(const char *path, const char *dim, const char *rows, const char *type,
    int argc, char **argv)
{
    char name[64];
    poprt_config *config = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    poprt_runner *runner = NULL;
    poprt_status status = make_config(dim, rows, type, argc, argv, &config);
    if (status == POPRT_OK)
        status = strcmp(path, "mlp") == 0 ? build_mlp(&model)
                                          : poprt_model_load_file(NULL, path, NULL, &model);
    if (status == POPRT_OK)
        status = poprt_compile(model, config, &exec);
    if (status == POPRT_OK)
        status = poprt_runner_create(exec, config, &runner);
    (void)snprintf(name, sizeof(name), "%s, %s", type, rows);
    const int failed =
        status != POPRT_OK || measure(name, runner, atoi(rows), atoi(argv[3]), atof(argv[4]));
    if (failed)
        fprintf(stderr, "%s: %s\n", poprt_last_error()->subject, poprt_last_error()->message);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_config_release(config);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc < 6 || atoi(argv[3]) < 1 || atoi(argv[3]) > MOST_CLIENTS) {
        fprintf(stderr, "usage: serve MODEL.onnx DIM CLIENTS SECONDS ROWS... [KEY=VALUE...]\n");
        return 2;
    }
    printf("| runner, batch | requests/s | rows a batch | median us | 99 %% us |\n"
           "| --- | ---: | ---: | ---: | ---: |\n");
    for (int i = 5; i < argc; i++) {
        if (strchr(argv[i], '=') != NULL)
            continue;
        if (atoi(argv[i]) == 1 && measure_rows(argv[1], argv[2], argv[i], "light", argc, argv) != 0)
            return 1;
        if (measure_rows(argv[1], argv[2], argv[i], "model", argc, argv) != 0)
            return 1;
    }
    return 0;
}
