/* SPDX-License-Identifier: MIT */
/* bench.c — `poprt bench`: measures the times of loading, compiling and running a model. */
#include "base/json.h"
#include "base/vec.h"
#include "tools/common/caches.h"
#include "tools/commands.h"
#include "tools/common/feed.h"
#include "tools/common/profile.h"

enum {
    OPT_HELP,
    OPT_THREADS,
    OPT_DIM,
    OPT_INDEX,
    OPT_CACHE,
    OPT_ROWS,
    OPT_MIN_TIME,
    OPT_PROFILE,
    OPT_JSON,
    OPT_DISABLE_PASSES,
    OPT_SET,
    OPT_TUNE,
    OPT_TUNE_CACHE,
    OPT_CPU,
    OPT_PLUGIN,
    OPT_COUNT
};

enum { MIN_RUNS = 5, MAX_RUNS = 1000000 };

static const prt_opt_def options[OPT_COUNT] = {
    [OPT_HELP] = PRT_OPT("help", 'h', PRT_OPT_FLAG, NULL, "print this and exit"),
    [OPT_THREADS] = PRT_TOOL_THREADS("0"),
    [OPT_DIM] = PRT_OPT("dim", 0, PRT_OPT_EACH, "NAME=N",
        "a symbolic dimension, 1 by default; may be repeated"),
    [OPT_INDEX] = { .name = "index",
        .arity = PRT_OPT_ONE,
        .value = "N",
        .accepts = "int 0..4294967295",
        .absent = "0",
        .help = "graph of a fused model to run" },
    [OPT_CACHE] = PRT_OPT("cache", 0, PRT_OPT_EACH, "IN=OUT",
        "binds input and output to one buffer, because the output is the input with more rows, as "
        "in a loop that generates tokens; * stands for the same text in both; may be repeated"),
    [OPT_ROWS] = { .name = "rows",
        .arity = PRT_OPT_ONE,
        .value = "N",
        .accepts = "int 0..2147483647",
        .absent = "1",
        .help = "rows of the caches before each run" },
    [OPT_MIN_TIME] = { .name = "min-time",
        .arity = PRT_OPT_ONE,
        .value = "S",
        .accepts = "real 0..",
        .absent = "1",
        .help = "seconds of measured runs after the first run" },
    [OPT_PROFILE] = PRT_OPT("profile", 0, PRT_OPT_FLAG, NULL,
        "afterwards run for the same time with a clock at every step, and print a table of their "
        "times"),
    [OPT_DISABLE_PASSES] = PRT_TOOL_DISABLE_PASSES,
    [OPT_SET] = PRT_TOOL_SET,
    [OPT_TUNE] = PRT_TOOL_TUNE,
    [OPT_TUNE_CACHE] = PRT_TOOL_TUNE_CACHE,
    [OPT_CPU] = PRT_TOOL_CPU,
    [OPT_PLUGIN] = PRT_TOOL_PLUGIN,
    [OPT_JSON] = PRT_OPT("json", 0, PRT_OPT_FLAG, NULL, "one JSON object instead of one line"),
};

static int command_bench(int argc, char **argv);

const prt_opt_command prt_bench_command = { .name = "poprt bench",
    .run = command_bench,
    .args = "MODEL",
    .brief = "measure loading, compiling and running",
    .summary = "Measures loading, compiling and running a model of ONNX, TensorFlow, TFLite or "
               "PopEF on random inputs.",
    .more = "The first run is reported separately. median_ms, min_ms and p99_ms are of the runs "
            "after it, at least 5. For PopEF compile_ms is 0. peak_rss_mb is that of the "
            "process, in 10^6 bytes.",
    .examples = "  poprt bench model.onnx --dim batch=8 --threads 4\n"
                "  poprt bench model.onnx --profile\n",
    .options = options,
    .n_options = OPT_COUNT,
    .min_args = 1,
    .max_args = 1 };

typedef struct result {
    const char *model;
    uint32_t threads;
    prt_tool_times times;
    double session_ms, first_run_ms, median_ms, min_ms, p99_ms, peak_rss_mb;
    size_t runs;
    bool profile; /* true: print a table of steps */
    prt_caches caches;
} result;

/* Runs until the time is over and stores the times in a growing array. */
static poprt_status measure(prt_tool *tool, poprt_session *session, poprt_stepio *io,
    double min_time_s, result *r)
{
    PRT_VEC(double) ms = { 0 };
    PRT_TRY(prt_caches_bind(&r->caches, io));
    double start = prt_tool_now_ms();
    PRT_TRY(poprt_session_run(session, io));
    r->first_run_ms = prt_tool_now_ms() - start;
    const double begin = prt_tool_now_ms(), end = begin + min_time_s * 1e3;
    do {
        PRT_TRY(prt_caches_bind(&r->caches, io));
        start = prt_tool_now_ms();
        PRT_TRY(poprt_session_run(session, io));
        const double now = prt_tool_now_ms();
        if (!PRT_VEC_PUSH(tool->arena, &ms, now - start))
            return POPRT_E_NOMEM;
        prt_progress_show(&tool->progress, "Running", (uint64_t)(now - begin),
            (uint64_t)(min_time_s * 1e3));
    } while (ms.count < MIN_RUNS || (prt_tool_now_ms() < end && ms.count < MAX_RUNS));
    prt_progress_clear(&tool->progress);
    prt_tool_sort(ms.data, ms.count);
    r->runs = ms.count;
    r->min_ms = ms.data[0];
    r->median_ms = ms.count % 2 != 0 ? ms.data[ms.count / 2]
                                     : (ms.data[ms.count / 2 - 1] + ms.data[ms.count / 2]) / 2;
    r->p99_ms = ms.data[(ms.count - 1) * 99 / 100];
    return POPRT_OK;
}

/* Prints a table of the steps, measured in separate runs. */
static poprt_status profile(prt_tool *tool, poprt_session *session, poprt_stepio *io,
    double min_time_s, const prt_caches *caches)
{
    prt_profile profile;
    PRT_TRY(prt_profile_start(&profile, tool->arena, session));
    const double begin = prt_tool_now_ms(), end = begin + min_time_s * 1e3;
    do {
        PRT_TRY(prt_caches_bind(caches, io));
        PRT_TRY(poprt_session_run(session, io));
        profile.runs++;
        prt_progress_show(&tool->progress, "Profiling", (uint64_t)(prt_tool_now_ms() - begin),
            (uint64_t)(min_time_s * 1e3));
    } while (profile.runs < MIN_RUNS || (prt_tool_now_ms() < end && profile.missed == 0));
    prt_progress_clear(&tool->progress);
    PRT_TRY(prt_profile_stop(session));
    return prt_profile_print(&profile);
}

static poprt_status bench_session(prt_tool *tool, poprt_executable *exec, const prt_feed *feed,
    double min_time_s, result *r)
{
    poprt_config *config = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_status status = prt_feed_config(feed, &config);
    const double start = prt_tool_now_ms();
    if (status == POPRT_OK)
        status = poprt_session_create(exec, config, &session);
    r->session_ms = prt_tool_now_ms() - start;
    if (status == POPRT_OK)
        status = poprt_stepio_create(session, &io);
    if (status == POPRT_OK)
        status = prt_feed_bind(feed, io);
    if (status == POPRT_OK)
        status = measure(tool, session, io, min_time_s, r);
    if (status == POPRT_OK && r->profile)
        status = profile(tool, session, io, min_time_s, &r->caches);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_config_release(config);
    return status;
}

static poprt_status bench(prt_tool *tool, const prt_opts *opts, result *r)
{
    const int64_t index = prt_opt_number(opts, OPT_INDEX, -1);
    const double min_time_s = prt_opt_real(opts, OPT_MIN_TIME, 1);
    poprt_executable *exec = NULL;
    prt_feed feed = { 0 };
    r->model = opts->args[0];
    r->threads = poprt_env_width(tool->env);
    PRT_TRY(prt_tool_disable(tool, prt_opt_value(opts, OPT_DISABLE_PASSES, NULL)));
    PRT_TRY(prt_tool_set_each(tool, opts, OPT_SET));
    PRT_TRY(prt_tool_set_dims(tool, opts, OPT_DIM));
    PRT_TRY(prt_tool_tune(tool, prt_opt_value(opts, OPT_TUNE, NULL),
        prt_opt_value(opts, OPT_TUNE_CACHE, NULL)));
    PRT_TRY(prt_tool_open_executable(tool, r->model, &r->times, &exec));
    poprt_status status = prt_feed_init(&feed, tool, exec, 0);
    feed.cpu = prt_opt_value(opts, OPT_CPU, NULL);
    uint32_t cursor = 0;
    for (const char *v; status == POPRT_OK && (v = prt_opt_next(opts, OPT_DIM, &cursor)) != NULL;)
        status = prt_feed_dim(&feed, v);
    if (status == POPRT_OK && index >= 0)
        status = prt_feed_index(&feed, index);
    if (status == POPRT_OK)
        status = prt_caches_find(&r->caches, &feed, opts, OPT_CACHE);
    if (status == POPRT_OK)
        status = prt_feed_random(&feed, false, false);
    if (status == POPRT_OK)
        status = prt_caches_make(&r->caches, &feed);
    if (status == POPRT_OK)
        status = bench_session(tool, exec, &feed, min_time_s, r);
    prt_feed_deinit(&feed);
    poprt_executable_release(exec);
    r->peak_rss_mb = prt_tool_peak_mb();
    return status;
}

/* Lists the numbers in the order of the output. */
static void list_numbers(const result *r, const char **names, double *values)
{
    const struct {
        const char *name;
        double value;
    } rows[] = { { "load_ms", r->times.load_ms }, { "compile_ms", r->times.compile_ms },
        { "session_ms", r->session_ms }, { "first_run_ms", r->first_run_ms },
        { "median_ms", r->median_ms }, { "min_ms", r->min_ms }, { "p99_ms", r->p99_ms } };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
        names[i] = rows[i].name;
        values[i] = rows[i].value;
    }
}

enum { NUMBERS = 7 };

static void print_line(const result *r)
{
    const char *names[NUMBERS];
    double values[NUMBERS];
    list_numbers(r, names, values);
    (void)printf("model=%s threads=%u", r->model, r->threads);
    for (size_t i = 0; i < NUMBERS; i++)
        (void)printf(" %s=%.4f", names[i], values[i]);
    (void)printf(" runs=%zu peak_rss_mb=%.1f version=%s\n", r->runs, r->peak_rss_mb,
        poprt_version());
}

static poprt_status print_json(prt_arena *arena, const result *r)
{
    const char *names[NUMBERS];
    double values[NUMBERS];
    list_numbers(r, names, values);
    prt_json_out json;
    prt_json_out_init(&json, arena, false);
    prt_json_open(&json, NULL, '{');
    prt_json_put_text(&json, "model", prt_str_of(r->model));
    prt_json_put_i64(&json, "threads", r->threads);
    for (size_t i = 0; i < NUMBERS; i++)
        prt_json_put_f64(&json, names[i], values[i]);
    prt_json_put_i64(&json, "runs", (int64_t)r->runs);
    prt_json_put_f64(&json, "peak_rss_mb", r->peak_rss_mb);
    prt_json_put_text(&json, "version", prt_str_of(poprt_version()));
    prt_json_close(&json, '}');
    prt_str text;
    PRT_TRY(prt_json_out_finish(&json, &text));
    (void)printf("%.*s\n", PRT_STR_ARG(text));
    return POPRT_OK;
}

/* Checks combinations of options. */
static bool check_options(const prt_opts *opts, int *exit_code)
{
    if (!prt_opt_has(opts, OPT_PROFILE) || !prt_opt_has(opts, OPT_JSON))
        return true;
    *exit_code = prt_opt_usage_error(&prt_bench_command,
        "--profile cannot be combined with --json: its table is not JSON");
    return false;
}

static int command_bench(int argc, char **argv)
{
    prt_opts opts;
    int exit_code = PRT_EXIT_FAILED;
    prt_arena *arena = NULL;
    if (prt_arena_create(NULL, 0, &arena) != POPRT_OK)
        return PRT_REPORT();
    if (prt_opt_parse(arena, &prt_bench_command, argc, argv, &opts, &exit_code) &&
        check_options(&opts, &exit_code)) {
        prt_tool tool = { 0 };
        result r = { .profile = prt_opt_has(&opts, OPT_PROFILE),
            .caches = { .rows = prt_opt_number(&opts, OPT_ROWS, 1) } };
        poprt_status status = prt_tool_open(&tool, (uint32_t)prt_opt_number(&opts, OPT_THREADS, 0));
        if (status == POPRT_OK)
            status = prt_tool_plugins(&tool, &opts, OPT_PLUGIN);
        if (status == POPRT_OK)
            status = bench(&tool, &opts, &r);
        prt_progress_clear(&tool.progress);
        if (status == POPRT_OK && prt_opt_has(&opts, OPT_JSON))
            status = print_json(arena, &r);
        else if (status == POPRT_OK)
            print_line(&r);
        exit_code = status == POPRT_OK ? PRT_EXIT_DONE : PRT_REPORT_OF(&tool, &prt_bench_command);
        prt_tool_close(&tool);
    }
    prt_arena_release(arena);
    return exit_code;
}
