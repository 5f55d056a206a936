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

enum { WARM_UPS = 10, MOST_CLIENTS = 256, MOST_RUNS = 100000000 };

static const prt_opt_def options[OPT_COUNT] = {
    [OPT_HELP] = PRT_OPT("help", 'h', PRT_OPT_FLAG, NULL, "print this and exit"),
    [OPT_POPEF] = PRT_OPT("popef", 0, PRT_OPT_ONE, "FILE", "the file to run"),
    [OPT_RUNNER] = { .name = "runner",
        .arity = PRT_OPT_ONE,
        .value = "NAME",
        .accepts = "modelRunner|lightRunner",
        .help = "PopRT's runner to use; both are sessions here" },
    [OPT_ITERATION] = PRT_OPT("iteration", 0, PRT_OPT_ONE, "N",
        "total number of runs, 100 by default; rounded up to a multiple of the clients"),
    [OPT_THREADS] = PRT_OPT("numThreads", 0, PRT_OPT_ONE, "N", "number of clients, 3 by default"),
    [OPT_INDEX] =
        PRT_OPT("index", 0, PRT_OPT_ONE, "N", "graph of a fused model to run; 0 by default"),
    [OPT_MAX_VALID] = PRT_OPT("maxValidNum", 0, PRT_OPT_ONE, "N", NULL),
    [OPT_TIMEOUT] = PRT_OPT("packTimeout", 0, PRT_OPT_ONE, "US", NULL),
    [OPT_DYNAMIC] = PRT_OPT("dynamicInputName", 0, PRT_OPT_ONE, "NAME", NULL),
    [OPT_MASK] = PRT_OPT("maskName", 0, PRT_OPT_ONE, "NAME", NULL),
    [OPT_BATCH] = PRT_OPT("batchSize", 0, PRT_OPT_ONE, "N", NULL),
};

static const prt_opt_command command = { .name = "poprt_exec poprt_run_popef",
    .args = "",
    .summary = "Runs a PopEF file on random inputs with several clients and prints the time it "
               "took.",
    .more = "Options of packRunner are accepted and have no effect.\n",
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

static void put_figures(double *ms, size_t n, int64_t batch, double total)
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
        put_figures(ms, count * runs, batch_of(feed), total);
    return status;
}

static poprt_status run(prt_tool *tool, const prt_opts *opts, size_t count, size_t runs,
    int64_t index)
{
    const char *path = prt_opt_value(opts, OPT_POPEF, NULL);
    poprt_executable *exec = NULL;
    prt_feed feed = { 0 };
    PRT_TRY(poprt_executable_load_file(tool->env, path, NULL, &exec));
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

/* Reads a number within bounds. Returns false after a usage error. */
static bool number(const prt_opts *opts, uint32_t option, int64_t least, int64_t most,
    int64_t *value, int *exit_code)
{
    const char *text = prt_opt_value(opts, option, NULL);
    if (text == NULL || (prt_opt_parse_number(text, value) && *value >= least && *value <= most))
        return true;
    *exit_code = prt_opt_usage_error(&command, "--%s: '%s' is not a number from %lld to %lld",
        options[option].name, text, (long long)least, (long long)most);
    return false;
}

int prt_command_run_popef(int argc, char **argv)
{
    prt_opts opts;
    int exit_code = PRT_EXIT_FAILED;
    int64_t runs = 100, clients = 3, index = -1;
    prt_tool tool = { 0 };
    if (prt_tool_open(&tool, 1) != POPRT_OK)
        return PRT_REPORT();
    if (prt_opt_parse(tool.arena, &command, argc, argv, &opts, &exit_code) &&
        number(&opts, OPT_ITERATION, 1, MOST_RUNS, &runs, &exit_code) &&
        number(&opts, OPT_THREADS, 1, MOST_CLIENTS, &clients, &exit_code) &&
        number(&opts, OPT_INDEX, 0, INT32_MAX, &index, &exit_code)) {
        if (!prt_opt_has(&opts, OPT_POPEF))
            exit_code = prt_opt_usage_error(&command, "--popef is missing");
        else if (run(&tool, &opts, (size_t)clients, (size_t)runs, index) == POPRT_OK)
            exit_code = PRT_EXIT_DONE;
        else
            exit_code = PRT_REPORT();
    }
    prt_tool_close(&tool);
    return exit_code;
}

/* ---- poprt_exec */

static const struct {
    const char *word, *help;
    int (*run)(int argc, char **argv);
} tools[] = {
    { "auto_sharding", "cut a model into shards, one for each device", prt_command_auto_sharding },
    { "poprt_run_popef", "run a PopEF file with several clients", prt_command_run_popef },
};

static void put_tools(FILE *to)
{
    (void)fprintf(to, "usage: poprt_exec TOOL [options]\n\nRuns a tool of PopRT by its name:\n");
    for (size_t i = 0; i < PRT_COUNT_OF(tools); i++)
        (void)fprintf(to, "  %-18s %s\n", tools[i].word, tools[i].help);
}

int prt_command_exec(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < PRT_COUNT_OF(tools); i++)
        if (strcmp(argv[1], tools[i].word) == 0)
            return tools[i].run(argc - 1, argv + 1);
    const bool help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    put_tools(help ? stdout : stderr);
    if (!help && argc > 1)
        (void)fprintf(stderr, "poprt_exec: error: there is no tool '%s'\n", argv[1]);
    return help ? PRT_EXIT_DONE : PRT_EXIT_USAGE;
}
