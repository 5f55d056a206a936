/* SPDX-License-Identifier: MIT */
/*
 * run_popef.c — `poprt_exec poprt_run_popef`: several clients run a PopEF file on random inputs at
 * the same time; prints their latencies. Each client is a session with its own queue, whose thread
 * computes alone. A client submits its next run when a run is done, so it has one run in flight.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/common/feed.h"

enum {
    OPT_HELP,
    OPT_POPEF,
    OPT_RUNNER,
    OPT_ITERATION,
    OPT_THREADS,
    OPT_INDEX,
    OPT_MAX_VALID,
    OPT_TIMEOUT,
    OPT_DYNAMIC,
    OPT_MASK,
    OPT_BATCH,
    OPT_COUNT
};

enum { WARM_UPS = 10 };

/* An option of PopRT's packRunner. */
#define PACK_OPTION(name_, value_)                                                                 \
    {                                                                                              \
        .name = name_, .arity = PRT_OPT_ONE, .value = value_, .hidden = true                       \
    }

static const prt_opt_def options[OPT_COUNT] = {
    [OPT_HELP] = PRT_OPT("help", 'h', PRT_OPT_FLAG, NULL, "print this and exit"),
    [OPT_POPEF] = { .name = "popef",
        .arity = PRT_OPT_ONE,
        .value = "FILE",
        .takes = PRT_TAKES_FILE,
        .help = "the file to run" },
    [OPT_RUNNER] = { .name = "runner",
        .arity = PRT_OPT_ONE,
        .value = "NAME",
        .accepts = "modelRunner|lightRunner",
        .help = "PopRT's runner to use; both are sessions here" },
    [OPT_ITERATION] = { .name = "iteration",
        .arity = PRT_OPT_ONE,
        .value = "N",
        .accepts = "int 1..100000000",
        .absent = "100",
        .help = "total number of runs, rounded up to a multiple of the clients" },
    [OPT_THREADS] = { .name = "numThreads",
        .arity = PRT_OPT_ONE,
        .value = "N",
        .accepts = "int 1..256",
        .absent = "3",
        .help = "number of clients" },
    [OPT_INDEX] = { .name = "index",
        .arity = PRT_OPT_ONE,
        .value = "N",
        .accepts = "int 0..2147483647",
        .absent = "0",
        .help = "graph of a fused model to run" },
    [OPT_MAX_VALID] = PACK_OPTION("maxValidNum", "N"),
    [OPT_TIMEOUT] = PACK_OPTION("packTimeout", "US"),
    [OPT_DYNAMIC] = PACK_OPTION("dynamicInputName", "NAME"),
    [OPT_MASK] = PACK_OPTION("maskName", "NAME"),
    [OPT_BATCH] = PACK_OPTION("batchSize", "N"),
};

static int run_popef(int argc, char **argv);

const prt_opt_command prt_run_popef_command = { .name = "poprt_exec poprt_run_popef",
    .run = run_popef,
    .args = "",
    .brief = "run a PopEF file with several clients",
    .summary = "Runs a PopEF file on random inputs with several clients and prints the time it "
               "took.",
    .more = "Options of packRunner are accepted and have no effect.",
    .options = options,
    .n_options = OPT_COUNT,
    .min_args = 0,
    .max_args = 0 };

typedef struct client {
    poprt_session *session;
    poprt_stepio *io;
    size_t left; /* remaining runs, including the one in flight */
    size_t n;
    double start, *ms;
    poprt_status status;
    char why[512];
} client;

static void submit(client *c);

/* Called on the session's thread. */
static void run_done(void *user, poprt_status status, const poprt_error *error)
{
    client *c = user;
    c->ms[c->n++] = prt_tool_now_ms() - c->start;
    c->left--;
    if (status != POPRT_OK) {
        c->status = status;
        (void)snprintf(c->why, sizeof(c->why), "%s", error != NULL ? error->message : "");
    } else if (c->left != 0) {
        submit(c);
    }
}

static void submit(client *c)
{
    c->start = prt_tool_now_ms();
    const poprt_status status = poprt_session_submit(c->session, c->io, run_done, c);
    if (status == POPRT_OK)
        return;
    c->status = status;
    (void)snprintf(c->why, sizeof(c->why), "%s", poprt_last_error()->message);
}

static poprt_status open_client(prt_tool *tool, poprt_executable *exec, const prt_feed *feed,
    size_t runs, client *c)
{
    poprt_config *config = NULL;
    PRT_TRY(prt_feed_config(feed, &config));
    poprt_status status = poprt_session_create(exec, config, &c->session);
    if (status == POPRT_OK)
        status = poprt_stepio_create(c->session, &c->io);
    if (status == POPRT_OK)
        status = prt_feed_bind(feed, c->io);
    poprt_config_release(config);
    c->ms = PRT_NEW_N(tool->arena, double, runs > WARM_UPS ? runs : WARM_UPS);
    return status == POPRT_OK && c->ms == NULL ? POPRT_E_NOMEM : status;
}

/* Runs all clients at the same time, `runs` runs each. */
static poprt_status run_all(client *clients, size_t count, size_t runs)
{
    for (size_t i = 0; i < count; i++) {
        clients[i].left = runs;
        clients[i].n = 0;
        submit(&clients[i]);
    }
    for (size_t i = 0; i < count; i++) {
        PRT_TRY(poprt_session_drain(clients[i].session));
        if (clients[i].status != POPRT_OK)
            return prt_fail(clients[i].status, "client", "%s", clients[i].why);
    }
    return POPRT_OK;
}

/* Returns the smallest leading dimension of the inputs that take part. */
static int64_t batch_of(const prt_feed *feed)
{
    int64_t batch = 0;
    for (size_t i = 0; i < feed->count; i++) {
        const prt_tensor *v = &feed->values[i];
        if (v->kind == PRT_VALUE_TENSOR && v->rank > 0 && !prt_feed_is_index(feed, i) &&
            (batch == 0 || v->dims[0] < batch))
            batch = v->dims[0];
    }
    return batch > 0 ? batch : 1;
}

static void print_latencies(double *ms, size_t n, int64_t batch, double total)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ms[i];
    prt_tool_sort(ms, n);
    const long p99 = lround(0.99 * (double)n) - 1;
    (void)printf("Max latency: %.2f ms\n", ms[n - 1]);
    (void)printf("Min latency: %.2f ms\n", ms[0]);
    (void)printf("Average latency: %.2f ms\n", sum / (double)n);
    (void)printf("P99 latency: %.2f ms\n", ms[p99 > 0 ? p99 : 0]);
    (void)printf("Iterations: %zu\n", n);
    (void)printf("Batch size: %lld\n", (long long)batch);
    (void)printf("Total time: %.2f ms\n", total);
    (void)printf("Throughput: %lld\n", (long long)((double)n * 1000 * (double)batch / total));
}

static poprt_status measure(prt_tool *tool, poprt_executable *exec, const prt_feed *feed,
    size_t count, size_t runs)
{
    client *clients = PRT_NEW_N(tool->arena, client, count);
    double *ms = PRT_NEW_N(tool->arena, double, count *runs), total = 0;
    poprt_status status = clients != NULL && ms != NULL ? POPRT_OK : POPRT_E_NOMEM;
    for (size_t i = 0; i < count && status == POPRT_OK; i++)
        status = open_client(tool, exec, feed, runs, &clients[i]);
    if (status == POPRT_OK)
        status = run_all(clients, count, (WARM_UPS + count - 1) / count);
    if (status == POPRT_OK) {
        const double start = prt_tool_now_ms();
        status = run_all(clients, count, runs);
        total = prt_tool_now_ms() - start;
    }
    for (size_t i = 0; clients != NULL && i < count; i++) {
        if (status == POPRT_OK)
            memcpy(ms + i * runs, clients[i].ms, runs * sizeof(*ms));
        poprt_stepio_release(clients[i].io);
        poprt_session_release(clients[i].session);
    }
    prt_progress_clear(&tool->progress);
    if (status == POPRT_OK)
        print_latencies(ms, count * runs, batch_of(feed), total);
    return status;
}

static poprt_status run(prt_tool *tool, const prt_opts *opts)
{
    const int64_t index = prt_opt_number(opts, OPT_INDEX, -1);
    const size_t runs = (size_t)prt_opt_number(opts, OPT_ITERATION, 100);
    const size_t count = (size_t)prt_opt_number(opts, OPT_THREADS, 3);
    const char *path = prt_opt_value(opts, OPT_POPEF, NULL);
    poprt_executable *exec = NULL;
    prt_feed feed = { 0 };
    PRT_TRY(poprt_executable_load_file(tool->env, path, tool->config, &exec));
    poprt_status status = prt_feed_init(&feed, tool, exec, 0);
    if (status == POPRT_OK && index >= 0)
        status = prt_feed_index(&feed, index);
    if (status == POPRT_OK)
        status = prt_feed_random(&feed, false, false);
    if (status == POPRT_OK)
        status = measure(tool, exec, &feed, count, (runs + count - 1) / count);
    prt_feed_deinit(&feed);
    poprt_executable_release(exec);
    return status;
}

static int run_popef(int argc, char **argv)
{
    prt_opts opts;
    int exit_code = PRT_EXIT_FAILED;
    prt_tool tool = { 0 };
    if (prt_tool_open(&tool, 1) != POPRT_OK)
        return PRT_REPORT();
    if (prt_opt_parse(tool.arena, &prt_run_popef_command, argc, argv, &opts, &exit_code)) {
        if (!prt_opt_has(&opts, OPT_POPEF))
            exit_code = prt_opt_usage_error(&prt_run_popef_command, "--popef is missing");
        else
            exit_code = run(&tool, &opts) == POPRT_OK ? PRT_EXIT_DONE : PRT_REPORT();
    }
    prt_tool_close(&tool);
    return exit_code;
}

/* ---- poprt_exec */

static int run_exec(int argc, char **argv)
{
    prt_arena *arena = NULL;
    prt_opts opts;
    int exit_code = PRT_EXIT_FAILED;
    if (prt_arena_create(NULL, 0, &arena) != POPRT_OK)
        return PRT_REPORT();
    if (prt_opt_parse(arena, &prt_exec_command, argc, argv, &opts, &exit_code))
        exit_code = prt_opt_usage_error(&prt_exec_command, "TOOL must be the first word");
    prt_arena_release(arena);
    return exit_code;
}

static const prt_opt_def exec_options[] = {
    PRT_OPT("help", 'h', PRT_OPT_FLAG, NULL, "print this and exit"),
};

static const prt_opt_command *const exec_tools[] = { &prt_auto_sharding_command,
    &prt_run_popef_command, NULL };

const prt_opt_command prt_exec_command = { .name = "poprt_exec",
    .run = run_exec,
    .args = "TOOL",
    .brief = "run a tool of PopRT by its name",
    .summary = "Runs a tool of PopRT by its name.",
    .options = exec_options,
    .n_options = PRT_COUNT_OF(exec_options),
    .min_args = 1,
    .max_args = UINT32_MAX,
    .commands = exec_tools };
