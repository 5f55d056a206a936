/* SPDX-License-Identifier: MIT */
/* report.c — `poprt report`: runs a model with a profile and writes a page about its memory and
 * times. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "tools/commands.h"
#include "tools/commands/report_page.h"
#include "tools/common/feed.h"

enum {
    OPT_HELP,
    OPT_OUTPUT,
    OPT_ITERATIONS,
    OPT_THREADS,
    OPT_DIM,
    OPT_INDEX,
    OPT_SEED,
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
    [OPT_OUTPUT] = { .name = "output",
        .letter = 'o',
        .arity = PRT_OPT_ONE,
        .value = "FILE",
        .takes = PRT_TAKES_FILE,
        .absent = "report.html",
        .help = "the page" },
    [OPT_ITERATIONS] = { .name = "iterations",
        .arity = PRT_OPT_ONE,
        .value = "N",
        .accepts = "int 0..1000000",
        .absent = "10",
        .help = "measured runs on random inputs, after one that is not measured; 0: no run" },
    [OPT_THREADS] = PRT_TOOL_THREADS("0"),
    [OPT_DIM] = PRT_OPT("dim", 0, PRT_OPT_EACH, "NAME=N",
        "a symbolic dimension, 1 by default; may be repeated"),
    [OPT_INDEX] = { .name = "index",
        .arity = PRT_OPT_ONE,
        .value = "N",
        .accepts = "int 0..4294967295",
        .absent = "0",
        .help = "graph of a fused model to run" },
    [OPT_SEED] = { .name = "seed",
        .arity = PRT_OPT_ONE,
        .value = "N",
        .accepts = "int",
        .absent = "0",
        .help = "seed of the random inputs" },
    [OPT_DISABLE_PASSES] = PRT_TOOL_DISABLE_PASSES,
    [OPT_SET] = PRT_TOOL_SET,
    [OPT_TUNE] = PRT_TOOL_TUNE,
    [OPT_TUNE_CACHE] = PRT_TOOL_TUNE_CACHE,
    [OPT_CPU] = PRT_TOOL_CPU,
    [OPT_PLUGIN] = PRT_TOOL_PLUGIN,
};

static int command_report(int argc, char **argv);

const prt_opt_command prt_report_command = { .name = "poprt report",
    .run = command_report,
    .args = "MODEL",
    .brief = "write a page about memory and times",
    .summary = "Runs a model of ONNX, TensorFlow, TFLite or PopEF on random inputs and writes a "
               "page about it: memory by kind and over the steps, time by operator and step, and "
               "the largest tensors.",
    .more = "The page is one HTML file without scripts, which a browser shows without a network. "
            "Dimensions that are not set become 1.",
    .examples = "  poprt report model.onnx --dim batch=8 --output page.html\n"
                "  poprt report executable.popef --iterations 0\n",
    .options = options,
    .n_options = OPT_COUNT,
    .min_args = 1,
    .max_args = 1 };

/* A text in memory that grows. */
typedef struct text_buffer {
    char *data;
    size_t size;
} text_buffer;

static poprt_status report_json(poprt_session *session, text_buffer *out)
{
    FILE *file = open_memstream(&out->data, &out->size);
    if (file == NULL)
        return prt_fail_nomem(0);
    const poprt_status status =
        poprt_session_report(session, POPRT_FORMAT_JSON, prt_tool_write, file);
    return fclose(file) == 0 ? status : prt_fail_nomem(0);
}

/* Runs once without and then `iterations` times with the profile. */
static poprt_status measure(prt_tool *tool, poprt_session *session, const prt_feed *feed,
    int64_t iterations)
{
    poprt_stepio *io = NULL;
    if (iterations == 0)
        return POPRT_OK;
    poprt_status status = poprt_stepio_create(session, &io);
    if (status == POPRT_OK)
        status = prt_feed_bind(feed, io);
    if (status == POPRT_OK)
        status = poprt_session_run(session, io);
    if (status == POPRT_OK)
        status = poprt_session_profile(session, 1);
    for (int64_t i = 0; status == POPRT_OK && i < iterations; i++) {
        status = poprt_session_run(session, io);
        prt_progress_show(&tool->progress, "Running", (uint64_t)i + 1, (uint64_t)iterations);
    }
    prt_progress_clear(&tool->progress);
    poprt_stepio_release(io);
    return status;
}

static poprt_status write_page(const prt_tool *tool, const char *model, const text_buffer *report,
    const text_buffer *summary, const char *path)
{
    text_buffer page = { 0 };
    prt_json *json = NULL;
    PRT_TRY(prt_json_parse(tool->arena, report->data, report->size, &json));
    FILE *file = open_memstream(&page.data, &page.size);
    if (file == NULL)
        return prt_fail_nomem(0);
    prt_report_page(file, model, json, summary->data);
    poprt_status status = fclose(file) == 0 ? POPRT_OK : prt_fail_nomem(0);
    if (status == POPRT_OK)
        status = prt_tool_save(path, page.data, page.size);
    free(page.data);
    return status;
}

static poprt_status report_session(prt_tool *tool, const prt_opts *opts, poprt_executable *exec,
    const prt_feed *feed)
{
    poprt_config *config = NULL;
    poprt_session *session = NULL;
    text_buffer report = { 0 }, summary = { 0 };
    const char *path = prt_opt_value(opts, OPT_OUTPUT, "report.html");
    poprt_status status = prt_feed_config(feed, &config);
    if (status == POPRT_OK)
        status = poprt_session_create(exec, config, &session);
    if (status == POPRT_OK)
        status = measure(tool, session, feed, prt_opt_number(opts, OPT_ITERATIONS, 10));
    if (status == POPRT_OK)
        status = report_json(session, &report);
    if (status == POPRT_OK)
        status = prt_tool_describe_executable(tool, exec, POPRT_FORMAT_SUMMARY, &summary.data,
            &summary.size);
    if (status == POPRT_OK)
        status = write_page(tool, opts->args[0], &report, &summary, path);
    if (status == POPRT_OK)
        (void)printf("%s\n", path);
    free(report.data);
    free(summary.data);
    poprt_session_release(session);
    poprt_config_release(config);
    return status;
}

static poprt_status apply_options(prt_tool *tool, const prt_opts *opts)
{
    PRT_TRY(prt_tool_plugins(tool, opts, OPT_PLUGIN));
    PRT_TRY(prt_tool_disable(tool, prt_opt_value(opts, OPT_DISABLE_PASSES, NULL)));
    PRT_TRY(prt_tool_set_each(tool, opts, OPT_SET));
    PRT_TRY(prt_tool_set_dims(tool, opts, OPT_DIM));
    return prt_tool_tune(tool, prt_opt_value(opts, OPT_TUNE, NULL),
        prt_opt_value(opts, OPT_TUNE_CACHE, NULL));
}

static poprt_status report(prt_tool *tool, const prt_opts *opts)
{
    const int64_t index = prt_opt_number(opts, OPT_INDEX, -1);
    poprt_executable *exec = NULL;
    prt_feed feed = { 0 };
    uint32_t cursor = 0;
    PRT_TRY(apply_options(tool, opts));
    PRT_TRY(prt_tool_open_executable(tool, opts->args[0], NULL, &exec));
    poprt_status status =
        prt_feed_init(&feed, tool, exec, (uint64_t)prt_opt_number(opts, OPT_SEED, 0));
    feed.cpu = prt_opt_value(opts, OPT_CPU, NULL);
    for (const char *v; status == POPRT_OK && (v = prt_opt_next(opts, OPT_DIM, &cursor)) != NULL;)
        status = prt_feed_dim(&feed, v);
    if (status == POPRT_OK && index >= 0)
        status = prt_feed_index(&feed, index);
    if (status == POPRT_OK)
        status = prt_feed_random(&feed, false, false);
    if (status == POPRT_OK)
        status = report_session(tool, opts, exec, &feed);
    prt_feed_deinit(&feed);
    poprt_executable_release(exec);
    return status;
}

static int command_report(int argc, char **argv)
{
    prt_opts opts;
    int exit_code = PRT_EXIT_FAILED;
    prt_arena *arena = NULL;
    if (prt_arena_create(NULL, 0, &arena) != POPRT_OK)
        return PRT_REPORT();
    if (prt_opt_parse(arena, &prt_report_command, argc, argv, &opts, &exit_code)) {
        prt_tool tool = { 0 };
        poprt_status status = prt_tool_open(&tool, (uint32_t)prt_opt_number(&opts, OPT_THREADS, 0));
        if (status == POPRT_OK)
            status = report(&tool, &opts);
        prt_progress_clear(&tool.progress);
        exit_code = status == POPRT_OK ? PRT_EXIT_DONE : PRT_REPORT_OF(&tool, &prt_report_command);
        prt_tool_close(&tool);
    }
    prt_arena_release(arena);
    return exit_code;
}
