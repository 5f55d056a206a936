/* SPDX-License-Identifier: MIT */
/* run.c — `poprt run`: runs a model once or several times on given or random inputs. */
#include "tools/commands.h"
#include "tools/common/deadline.h"
#include "tools/common/feed.h"

enum {
    OPT_HELP,
    OPT_INPUT,
    OPT_INPUT_DIR,
    OPT_DIM,
    OPT_INDEX,
    OPT_OUTPUT_DIR,
    OPT_THREADS,
    OPT_ITERATIONS,
    OPT_SEED,
    OPT_TIMEOUT,
    OPT_PROFILE,
    OPT_DISABLE_PASSES,
    OPT_SET,
    OPT_TUNE,
    OPT_TUNE_CACHE,
    OPT_CPU,
    OPT_PLUGIN,
    OPT_COUNT
};

static const prt_opt_def options[OPT_COUNT] = {
    [OPT_HELP] = PRT_OPT("help", 'h', PRT_OPT_FLAG, NULL, "print this and exit"),
    [OPT_INPUT] = PRT_OPT("input", 0, PRT_OPT_EACH, "NAME=FILE",
        "an input from an .npy file, or a .pb file of ONNX; may be repeated"),
    [OPT_INPUT_DIR] = { .name = "input-dir",
        .arity = PRT_OPT_ONE,
        .value = "DIR",
        .takes = PRT_TAKES_DIRECTORY,
        .help = "the other inputs from NAME.npy, NAME.pb or input_<i>.pb in DIR" },
    [OPT_DIM] = PRT_OPT("dim", 0, PRT_OPT_EACH, "NAME=N", "a symbolic dimension; may be repeated"),
    [OPT_INDEX] = PRT_OPT_OF("index", "N", "int 0..4294967295",
        "graph of a fused model to run; by default the given inputs select it, or it is 0"),
    [OPT_OUTPUT_DIR] = { .name = "output-dir",
        .arity = PRT_OPT_ONE,
        .value = "DIR",
        .takes = PRT_TAKES_DIRECTORY,
        .help = "write outputs as NAME.npy instead of printing them" },
    [OPT_THREADS] = PRT_TOOL_THREADS("0"),
    [OPT_ITERATIONS] = { .name = "iterations",
        .arity = PRT_OPT_ONE,
        .value = "N",
        .accepts = "int 1..1000000000",
        .absent = "1",
        .help = "number of runs" },
    [OPT_SEED] = { .name = "seed",
        .arity = PRT_OPT_ONE,
        .value = "N",
        .row = &prt_option_rows[PRT_OPTION_seed],
        .absent = "0",
        .help = "seed of random inputs and operators" },
    [OPT_TIMEOUT] = { .name = "timeout",
        .arity = PRT_OPT_ONE,
        .value = "SECONDS",
        .accepts = "real 0..",
        .absent = "0",
        .help = "stop with exit code 1 if reading, compiling and all runs take longer than this; "
                "0: no limit" },
    [OPT_PROFILE] = { .name = "profile",
        .arity = PRT_OPT_ONE,
        .value = "FILE",
        .takes = PRT_TAKES_FILE,
        .help = "write the start and end of each step of each run, for chrome://tracing or "
                "Perfetto" },
    [OPT_DISABLE_PASSES] = PRT_TOOL_DISABLE_PASSES,
    [OPT_SET] = PRT_TOOL_SET,
    [OPT_TUNE] = PRT_TOOL_TUNE,
    [OPT_TUNE_CACHE] = PRT_TOOL_TUNE_CACHE,
    [OPT_CPU] = PRT_TOOL_CPU,
    [OPT_PLUGIN] = PRT_TOOL_PLUGIN,
};

static int command_run(int argc, char **argv);

const prt_opt_command prt_run_command = { .name = "poprt run",
    .run = command_run,
    .args = "MODEL",
    .brief = "run a model on given or random inputs",
    .summary = "Runs a model of ONNX, TensorFlow, TFLite or PopEF and shows or writes its outputs.",
    .more = "Inputs that are not given are random: element i of input k comes from the "
            "i-th number of SplitMix64 started at seed + k * 2^32. Floats are in [-1, 1); "
            "integers, bools and strings are 0 or 1. Dimensions that are not set become 1. "
            "Characters of NAME that are not allowed in a file name become '_'; if two names are "
            "then equal, _2 and so on is appended to the later one. Sequences are written as "
            "NAME_<i>.npy, maps as NAME_keys.npy and NAME_values.npy.",
    .examples = "  poprt run model.onnx --dim batch=4 --iterations 100\n"
                "  poprt run model.onnx --input image=image.npy --output-dir out\n",
    .options = options,
    .n_options = OPT_COUNT,
    .min_args = 1,
    .max_args = 1 };

/* Settings from the command line. */
typedef struct settings {
    prt_opts opts;
    int64_t iterations, seed;
    int64_t index; /* graph of a fused model; -1: not given */
} settings;

static poprt_status feed_inputs(const settings *s, prt_feed *feed)
{
    uint32_t cursor = 0;
    for (const char *v; (v = prt_opt_next(&s->opts, OPT_DIM, &cursor)) != NULL;)
        PRT_TRY(prt_feed_dim(feed, v));
    if (s->index >= 0)
        PRT_TRY(prt_feed_index(feed, s->index));
    cursor = 0;
    for (const char *v; (v = prt_opt_next(&s->opts, OPT_INPUT, &cursor)) != NULL;)
        PRT_TRY(prt_feed_input(feed, v));
    const char *dir = prt_opt_value(&s->opts, OPT_INPUT_DIR, NULL);
    if (dir != NULL)
        PRT_TRY(prt_feed_dir(feed, dir));
    return prt_feed_random(feed, true, false);
}

/* Makes the file names of the outputs, by their index. */
static poprt_status name_files(prt_arena *arena, const poprt_executable *exec, const char ***out)
{
    const size_t count = poprt_executable_io_count(exec, POPRT_OUTPUT);
    const char **names = PRT_NEW_N(arena, const char *, count);
    *out = PRT_NEW_N(arena, const char *, count);
    if (names == NULL || *out == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        poprt_io_info info = { .struct_size = sizeof(info) };
        PRT_TRY(poprt_executable_io_at(exec, POPRT_OUTPUT, i, &info));
        names[i] = info.name;
    }
    return prt_tool_file_names(arena, names, count, *out);
}

static poprt_status show_outputs(prt_tool *tool, const settings *s, const prt_feed *feed,
    const poprt_stepio *io)
{
    const char *dir = prt_opt_value(&s->opts, OPT_OUTPUT_DIR, NULL);
    if (dir != NULL)
        PRT_TRY(prt_tool_make_dir(dir));
    const poprt_executable *exec = feed->exec;
    const char **files = NULL;
    prt_value_files written = { 0 };
    PRT_TRY(name_files(tool->arena, exec, &files));
    const size_t n_in = poprt_executable_io_count(exec, POPRT_INPUT);
    for (size_t i = 0; i < poprt_executable_io_count(exec, POPRT_OUTPUT); i++) {
        poprt_io_info info = { .struct_size = sizeof(info) };
        prt_tensor value;
        PRT_TRY(poprt_executable_io_at(exec, POPRT_OUTPUT, i, &info));
        if (!prt_feed_is_used(feed, &info))
            continue;
        PRT_TRY(prt_value_output(tool->arena, io, n_in + i, &info, &value));
        if (dir != NULL)
            PRT_TRY(prt_value_write(tool->arena, &written, dir, files[i], &value));
        else
            prt_value_print(stdout, info.name, &value);
    }
    return POPRT_OK;
}

static poprt_status iterate(prt_tool *tool, const settings *s, poprt_session *session,
    poprt_stepio *io)
{
    PRT_VEC(double) ms = { 0 };
    for (int64_t i = 0; i < s->iterations; i++) {
        const double start = prt_tool_now_ms();
        PRT_TRY(poprt_session_run(session, io));
        if (!PRT_VEC_PUSH(tool->arena, &ms, prt_tool_now_ms() - start))
            return POPRT_E_NOMEM;
        prt_progress_show(&tool->progress, "Running", (uint64_t)i + 1, (uint64_t)s->iterations);
    }
    prt_progress_clear(&tool->progress);
    if (s->iterations > 1) {
        prt_tool_sort(ms.data, ms.count);
        (void)fprintf(stderr, "%lld runs: median %.3f ms, fastest %.3f ms\n",
            (long long)s->iterations, ms.data[ms.count / 2], ms.data[0]);
    }
    return POPRT_OK;
}

/* Runs with a trace. It is written even if a run fails. */
static poprt_status iterate_traced(prt_tool *tool, const settings *s, poprt_session *session,
    poprt_stepio *io)
{
    const char *path = prt_opt_value(&s->opts, OPT_PROFILE, NULL);
    poprt_trace *trace = NULL;
    if (path == NULL)
        return iterate(tool, s, session, io);
    PRT_TRY(poprt_trace_create(tool->env, 0, &trace));
    poprt_status status = poprt_session_trace(session, trace);
    if (status == POPRT_OK) {
        status = iterate(tool, s, session, io);
        (void)poprt_session_trace(session, NULL);
        const poprt_status written = poprt_trace_write_file(trace, path);
        status = status != POPRT_OK ? status : written;
    }
    if (status == POPRT_OK && poprt_trace_missed(trace) != 0)
        prt_tool_say(tool, POPRT_LOG_WARNING, "the last %zu steps are not in %s",
            poprt_trace_missed(trace), path);
    poprt_trace_release(trace);
    return status;
}

static poprt_status run_session(prt_tool *tool, const settings *s, poprt_executable *exec,
    const prt_feed *feed)
{
    poprt_config *config = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    prt_deadline deadline = { .started = false };
    poprt_status status = prt_feed_config(feed, &config);
    if (status == POPRT_OK)
        status = poprt_session_create(exec, config, &session);
    if (status == POPRT_OK)
        status = poprt_stepio_create(session, &io);
    if (status == POPRT_OK)
        status = prt_feed_bind(feed, io);
    if (status == POPRT_OK)
        status = prt_deadline_start(&deadline, tool, session);
    if (status == POPRT_OK)
        status = iterate_traced(tool, s, session, io);
    prt_deadline_stop(&deadline);
    if (status == POPRT_OK)
        status = show_outputs(tool, s, feed, io);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_config_release(config);
    return status;
}

static poprt_status run(prt_tool *tool, const settings *s)
{
    poprt_executable *exec = NULL;
    prt_feed feed = { 0 };
    PRT_TRY(prt_tool_open_executable(tool, s->opts.args[0], NULL, &exec));
    poprt_status status = prt_feed_init(&feed, tool, exec, (uint64_t)s->seed);
    feed.cpu = prt_opt_value(&s->opts, OPT_CPU, NULL);
    if (status == POPRT_OK)
        status = feed_inputs(s, &feed);
    if (status == POPRT_OK)
        status = run_session(tool, s, exec, &feed);
    prt_feed_deinit(&feed);
    poprt_executable_release(exec);
    return status;
}

/* Applies the options on plug-ins and compiling. A failure is a usage error. */
static poprt_status apply_options(prt_tool *tool, const prt_opts *opts)
{
    PRT_TRY(prt_tool_plugins(tool, opts, OPT_PLUGIN));
    PRT_TRY(prt_tool_disable(tool, prt_opt_value(opts, OPT_DISABLE_PASSES, NULL)));
    PRT_TRY(prt_tool_set_each(tool, opts, OPT_SET));
    PRT_TRY(prt_tool_set_dims(tool, opts, OPT_DIM));
    return prt_tool_tune(tool, prt_opt_value(opts, OPT_TUNE, NULL),
        prt_opt_value(opts, OPT_TUNE_CACHE, NULL));
}

static int command_run(int argc, char **argv)
{
    settings s = { 0 };
    int exit_code = PRT_EXIT_FAILED;
    prt_arena *arena = NULL;
    if (prt_arena_create(NULL, 0, &arena) != POPRT_OK)
        return PRT_REPORT();
    if (prt_opt_parse(arena, &prt_run_command, argc, argv, &s.opts, &exit_code)) {
        prt_tool tool = { 0 };
        s.iterations = prt_opt_number(&s.opts, OPT_ITERATIONS, 1);
        s.index = prt_opt_number(&s.opts, OPT_INDEX, -1);
        s.seed = prt_opt_number(&s.opts, OPT_SEED, 0);
        poprt_status status =
            prt_tool_open(&tool, (uint32_t)prt_opt_number(&s.opts, OPT_THREADS, 0));
        prt_tool_set_timeout(&tool, prt_opt_real(&s.opts, OPT_TIMEOUT, 0));
        if (status == POPRT_OK)
            status = apply_options(&tool, &s.opts);
        if (status == POPRT_OK)
            status = prt_tool_timed_out(&tool, run(&tool, &s));
        prt_progress_clear(&tool.progress);
        exit_code = status == POPRT_OK ? PRT_EXIT_DONE : PRT_REPORT_OF(&tool, &prt_run_command);
        prt_tool_close(&tool);
    }
    prt_arena_release(arena);
    return exit_code;
}
