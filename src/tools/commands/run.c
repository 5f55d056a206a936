/* SPDX-License-Identifier: MIT */
/* run.c — `poprt run`: runs a model once or several times on given or random inputs. */
#include "tools/commands.h"
#include "tools/common/deadline.h"
#include "tools/common/feed.h"
#include "tools/common/profile.h"

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
    OPT_NO_PASSES,
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
    [OPT_INPUT_DIR] = PRT_OPT("input-dir", 0, PRT_OPT_ONE, "DIR",
        "the other inputs from NAME.npy, NAME.pb or input_<i>.pb in DIR"),
    [OPT_DIM] = PRT_OPT("dim", 0, PRT_OPT_EACH, "NAME=N", "a symbolic dimension; may be repeated"),
    [OPT_INDEX] = PRT_OPT("index", 0, PRT_OPT_ONE, "N",
        "graph of a fused model to run; by default the given inputs select it, or it is 0"),
    [OPT_OUTPUT_DIR] = PRT_OPT("output-dir", 0, PRT_OPT_ONE, "DIR",
        "write outputs as NAME.npy instead of printing them"),
    [OPT_THREADS] =
        PRT_OPT("threads", 0, PRT_OPT_ONE, "N", "threads; 0, the default: one for each processor"),
    [OPT_ITERATIONS] = PRT_OPT("iterations", 0, PRT_OPT_ONE, "N", "number of runs; 1 by default"),
    [OPT_SEED] =
        PRT_OPT("seed", 0, PRT_OPT_ONE, "N", "seed of random inputs and operators; 0 by default"),
    [OPT_TIMEOUT] = PRT_OPT("timeout", 0, PRT_OPT_ONE, "SECONDS",
        "stop with exit code 1 if reading, compiling and all runs take longer than this; 0, the "
        "default: no limit"),
    [OPT_PROFILE] = PRT_OPT("profile", 0, PRT_OPT_ONE, "FILE",
        "write the start and end of each step of each run, for chrome://tracing or Perfetto"),
    [OPT_NO_PASSES] = PRT_OPT("disable-passes", 0, PRT_OPT_ONE, "A,B,...",
        "passes to leave out when an ONNX file is compiled"),
    [OPT_SET] = PRT_OPT("set", 0, PRT_OPT_EACH, "KEY=VALUE",
        "an option for compiling an ONNX file, such as bf16x3 or strassen; may be repeated"),
    [OPT_TUNE] = PRT_TOOL_TUNE("tune"),
    [OPT_TUNE_CACHE] = PRT_TOOL_TUNE_CACHE("tune-cache"),
    [OPT_CPU] = PRT_TOOL_CPU,
    [OPT_PLUGIN] = PRT_TOOL_PLUGIN,
};

static const prt_opt_command command = { .name = "poprt run",
    .args = "MODEL",
    .summary = "Runs an ONNX or PopEF file and shows or writes its outputs.",
    .more = "Inputs that are not given are random: element i of input k comes from the "
            "i-th\nnumber of SplitMix64 started at seed + k * 2^32. Floats are in [-1, 1); "
            "integers,\nbools and strings are 0 or 1. Dimensions that are not set become 1. "
            "Characters of NAME\nthat are not allowed in a file name become '_'; if two names are "
            "then equal, _2 and so\non is appended to the later one. Sequences are written as "
            "NAME_<i>.npy, maps as\nNAME_keys.npy and NAME_values.npy.\n",
    .options = options,
    .n_options = OPT_COUNT,
    .min_args = 1,
    .max_args = 1 };

/* Settings from the command line. */
typedef struct plan {
    prt_opts opts;
    int64_t threads, iterations, seed;
    int64_t index;  /* graph of a fused model; -1: not given */
    double timeout; /* seconds; 0: no limit */
} plan;

static poprt_status feed_inputs(const plan *p, prt_feed *feed)
{
    uint32_t cursor = 0;
    for (const char *v; (v = prt_opt_next(&p->opts, OPT_DIM, &cursor)) != NULL;)
        PRT_TRY(prt_feed_dim(feed, v));
    if (p->index >= 0)
        PRT_TRY(prt_feed_index(feed, p->index));
    cursor = 0;
    for (const char *v; (v = prt_opt_next(&p->opts, OPT_INPUT, &cursor)) != NULL;)
        PRT_TRY(prt_feed_input(feed, v));
    const char *dir = prt_opt_value(&p->opts, OPT_INPUT_DIR, NULL);
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

static poprt_status show_outputs(prt_tool *tool, const plan *p, const prt_feed *feed,
    const poprt_stepio *io)
{
    const char *dir = prt_opt_value(&p->opts, OPT_OUTPUT_DIR, NULL);
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
        if (!prt_feed_takes_part(feed, &info))
            continue;
        PRT_TRY(prt_value_output(tool->arena, io, n_in + i, &info, &value));
        if (dir != NULL)
            PRT_TRY(prt_value_write(tool->arena, &written, dir, files[i], &value));
        else
            prt_value_print(stdout, info.name, &value);
    }
    return POPRT_OK;
}

static poprt_status iterate(prt_tool *tool, const plan *p, poprt_session *session, poprt_stepio *io)
{
    PRT_VEC(double) ms = { 0 };
    for (int64_t i = 0; i < p->iterations; i++) {
        const double start = prt_tool_now_ms();
        PRT_TRY(poprt_session_run(session, io));
        if (!PRT_VEC_PUSH(tool->arena, &ms, prt_tool_now_ms() - start))
            return POPRT_E_NOMEM;
        prt_progress_show(&tool->progress, "Running", (uint64_t)i + 1, (uint64_t)p->iterations);
    }
    prt_progress_clear(&tool->progress);
    if (p->iterations > 1) {
        prt_tool_sort(ms.data, ms.count);
        (void)fprintf(stderr, "%lld runs: median %.3f ms, fastest %.3f ms\n",
            (long long)p->iterations, ms.data[ms.count / 2], ms.data[0]);
    }
    return POPRT_OK;
}

/* Runs with recording of the steps. The trace is written even if a run fails. */
static poprt_status iterate_profiled(prt_tool *tool, const plan *p, poprt_session *session,
    poprt_stepio *io)
{
    const char *path = prt_opt_value(&p->opts, OPT_PROFILE, NULL);
    prt_profile profile;
    if (path == NULL)
        return iterate(tool, p, session, io);
    PRT_TRY(prt_profile_start(&profile, tool->arena, session));
    poprt_status status = iterate(tool, p, session, io);
    (void)prt_profile_stop(session);
    const poprt_status written = prt_profile_write(&profile, path);
    status = status != POPRT_OK ? status : written;
    if (status == POPRT_OK && profile.missed != 0)
        prt_tool_say(tool, POPRT_LOG_WARNING, "the last %zu steps are not in %s", profile.missed,
            path);
    return status;
}

static poprt_status run_session(prt_tool *tool, const plan *p, poprt_executable *exec,
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
        status = iterate_profiled(tool, p, session, io);
    prt_deadline_stop(&deadline);
    if (status == POPRT_OK)
        status = show_outputs(tool, p, feed, io);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_config_release(config);
    return status;
}

static poprt_status run(prt_tool *tool, const plan *p)
{
    poprt_executable *exec = NULL;
    prt_feed feed = { 0 };
    PRT_TRY(prt_tool_open_executable(tool, p->opts.args[0], NULL, &exec));
    poprt_status status = prt_feed_init(&feed, tool, exec, (uint64_t)p->seed);
    feed.cpu = prt_opt_value(&p->opts, OPT_CPU, NULL);
    if (status == POPRT_OK)
        status = feed_inputs(p, &feed);
    if (status == POPRT_OK)
        status = run_session(tool, p, exec, &feed);
    prt_feed_deinit(&feed);
    poprt_executable_release(exec);
    return status;
}

/* Applies the options on plug-ins and compiling. A failure is a usage error. */
static poprt_status apply_options(prt_tool *tool, const prt_opts *opts)
{
    PRT_TRY(prt_tool_plugins(tool, opts, OPT_PLUGIN));
    PRT_TRY(prt_tool_disable(tool, prt_opt_value(opts, OPT_NO_PASSES, NULL)));
    PRT_TRY(prt_tool_set_each(tool, opts, OPT_SET));
    PRT_TRY(prt_tool_set_dims(tool, opts, OPT_DIM));
    PRT_TRY(prt_tool_check_cpu(tool, prt_opt_value(opts, OPT_CPU, NULL)));
    return prt_tool_tune(tool, prt_opt_value(opts, OPT_TUNE, NULL),
        prt_opt_value(opts, OPT_TUNE_CACHE, NULL));
}

int prt_command_run(int argc, char **argv)
{
    plan p = { .iterations = 1, .index = -1 };
    int exit_code = PRT_EXIT_FAILED;
    prt_arena *arena = NULL;
    if (prt_arena_create(NULL, 0, &arena) != POPRT_OK)
        return PRT_REPORT();
    if (prt_opt_parse(arena, &command, argc, argv, &p.opts, &exit_code) &&
        prt_opt_number(&p.opts, OPT_THREADS, 0, 1024, &p.threads, &exit_code) &&
        prt_opt_number(&p.opts, OPT_ITERATIONS, 1, 1000000000, &p.iterations, &exit_code) &&
        prt_opt_real(&p.opts, OPT_TIMEOUT, &p.timeout, &exit_code) &&
        prt_opt_number(&p.opts, OPT_INDEX, 0, UINT32_MAX, &p.index, &exit_code) &&
        prt_opt_number(&p.opts, OPT_SEED, 0, INT64_MAX, &p.seed, &exit_code)) {
        prt_tool tool = { 0 };
        poprt_status status = prt_tool_open(&tool, (uint32_t)p.threads);
        prt_tool_set_timeout(&tool, p.timeout);
        if (status == POPRT_OK)
            status = apply_options(&tool, &p.opts);
        if (status == POPRT_OK)
            status = prt_tool_timed_out(&tool, run(&tool, &p));
        prt_progress_clear(&tool.progress);
        exit_code = status == POPRT_OK ? PRT_EXIT_DONE : PRT_REPORT_OF(&tool);
        prt_tool_close(&tool);
    }
    prt_arena_release(arena);
    return exit_code;
}
