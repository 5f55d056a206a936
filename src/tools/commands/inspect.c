/* SPDX-License-Identifier: MIT */
/* inspect.c — `poprt inspect`: describes an ONNX or PopEF file. Weights are not read. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands/blobs.h"
#include "tools/commands.h"
#include "tools/commands/passes.h"
#include "tools/common/tool.h"

enum {
    OPT_HELP,
    OPT_TEXT,
    OPT_JSON,
    OPT_DOT,
    OPT_BLOBS,
    OPT_VERIFY,
    OPT_SHARDING,
    OPT_STEPS,
    OPT_IR,
    OPT_OPS,
    OPT_PASSES,
    OPT_DIM,
    OPT_THREADS,
    OPT_DISABLE_PASSES,
    OPT_TUNE,
    OPT_TUNE_CACHE,
    OPT_PLUGIN,
    OPT_COUNT
};

/* A value beside POPRT_FORMAT_*: a PopEF file blob by blob. */
enum { FORMAT_BLOBS = 100 };

static const prt_opt_def options[OPT_COUNT] = {
    [OPT_HELP] = PRT_OPT("help", 'h', PRT_OPT_FLAG, NULL, "print this and exit"),
    [OPT_TEXT] = PRT_OPT("text", 0, PRT_OPT_FLAG, NULL, "the whole graph or program as text"),
    [OPT_JSON] = PRT_OPT("json", 0, PRT_OPT_FLAG, NULL, "the summary as a JSON object"),
    [OPT_DOT] = PRT_OPT("dot", 0, PRT_OPT_FLAG, NULL, "a Graphviz graph"),
    [OPT_BLOBS] =
        PRT_OPT("blobs", 0, PRT_OPT_FLAG, NULL, "the blobs of a PopEF file, one line each"),
    [OPT_VERIFY] = PRT_OPT("verify", 0, PRT_OPT_FLAG, NULL,
        "check a PopEF file with every checksum, or the types of an ONNX file and whether it "
        "compiles; if it is damaged or invalid, end with 1 and the reason"),
    [OPT_SHARDING] = PRT_OPT("sharding", 0, PRT_OPT_FLAG, NULL,
        "the devices of a sharded ONNX file, and its sharding points in the format of "
        "--manual_sharding_config"),
    [OPT_STEPS] = PRT_OPT("steps", 0, PRT_OPT_FLAG, NULL,
        "every step: its nodes, kernel and memory; then the eliminated nodes; also with --json"),
    [OPT_IR] = PRT_OPT("ir", 0, PRT_OPT_FLAG, NULL,
        "the operators of the compiled program by graph, with types and attributes, as JSON in the "
        "form of PopART's serialised IR"),
    [OPT_DIM] = PRT_OPT("dim", 0, PRT_OPT_EACH, "NAME=N",
        "a symbolic dimension, for the memory plan and the bytes of a session; may be repeated"),
    [OPT_THREADS] = { .name = "threads",
        .arity = PRT_OPT_ONE,
        .value = "N",
        .accepts = "int 0..1024",
        .absent = "1",
        .help = "threads of the session whose memory is reported; 0: one for each processor" },
    [OPT_DISABLE_PASSES] = PRT_TOOL_DISABLE_PASSES,
    [OPT_TUNE] = PRT_TOOL_TUNE,
    [OPT_TUNE_CACHE] = PRT_TOOL_TUNE_CACHE,
    [OPT_PLUGIN] = PRT_TOOL_PLUGIN,
    [OPT_PASSES] = PRT_OPT("passes", 0, PRT_OPT_FLAG, NULL,
        "without a file: every pass with its options, and PopART's patterns, as a page in "
        "Markdown"),
    [OPT_OPS] = PRT_OPT("ops", 0, PRT_OPT_FLAG, NULL,
        "without a file: every operator with versions and types"),
};

static int command_inspect(int argc, char **argv);

const prt_opt_command prt_inspect_command = { .name = "poprt inspect",
    .run = command_inspect,
    .args = "MODEL | --ops | --passes",
    .brief = "show the contents of a file, the operators or the passes",
    .summary = "Shows inputs, outputs, operators, weights, memory plan and steps of a file.",
    .more = "For an ONNX file the summary ends with its compiled program. In JSON that is "
            "the member \"program\", or null if the file does not compile. --ops --text prints "
            "the operators as a page in Markdown, --ops --json as an array.",
    .examples = "  poprt inspect model.onnx --steps\n"
                "  poprt inspect executable.popef --blobs\n",
    .options = options,
    .n_options = OPT_COUNT,
    .min_args = 0,
    .max_args = 1 };

/* A text in memory that grows. */
typedef struct text_buffer {
    char *data;
    size_t size;
} text_buffer;

/* Prints two JSON objects as one: the second becomes the last member of the first. */
static void print_json(const text_buffer *model, const text_buffer *program)
{
    size_t end = model->size;
    while (end > 0 && model->data[end - 1] != '}')
        end--;
    while (end > 1 && (model->data[end - 2] == '\n' || model->data[end - 2] == ' '))
        end--;
    (void)printf("%.*s,\n  \"program\": %s}\n", (int)end - 1, model->data,
        program->data != NULL ? program->data : "null\n");
}

/* Prints the memory part of a program's summary: lines from "plan bytes" on. */
static void print_summary(const text_buffer *model, const text_buffer *program)
{
    (void)fwrite(model->data, 1, model->size, stdout);
    const char *plan = program->data != NULL ? strstr(program->data, "\nplan bytes") : NULL;
    if (plan != NULL)
        (void)printf("compiled to%s", plan);
}

static poprt_status inspect_steps(prt_tool *tool, const poprt_model *model, int32_t format)
{
    poprt_executable *exec = NULL;
    poprt_status status = poprt_compile(model, tool->config, &exec);
    prt_progress_clear(&tool->progress);
    if (status == POPRT_OK)
        status = poprt_executable_describe(exec, format, prt_tool_write, stdout);
    poprt_executable_release(exec);
    return status;
}

/* Gathers the program's part of a summary. If a model does not compile, its own summary is still
 * printed, unless dimensions for the program were given. */
static poprt_status gather_compiled(prt_tool *tool, const poprt_model *model, int32_t format,
    bool fixed, text_buffer *out)
{
    poprt_executable *exec = NULL;
    poprt_status status = poprt_compile(model, tool->config, &exec);
    const bool compiled = status == POPRT_OK;
    if (compiled)
        status = prt_tool_describe_executable(tool, exec, format, &out->data, &out->size);
    else if (!fixed)
        (void)PRT_REPORT();
    prt_progress_clear(&tool->progress);
    poprt_executable_release(exec);
    return compiled || fixed ? status : POPRT_OK;
}

/* `fixed`: --dim was given. */
static poprt_status inspect_model(prt_tool *tool, const char *path, int32_t format, bool fixed)
{
    poprt_model *model = NULL;
    text_buffer of_model = { 0 }, of_program = { 0 };
    PRT_TRY(poprt_model_load_file(tool->env, path, tool->config, &model));
    const bool whole = format == POPRT_FORMAT_TEXT || format == POPRT_FORMAT_DOT ||
        format == POPRT_FORMAT_SHARDING;
    poprt_status status = POPRT_OK;
    if (format == POPRT_FORMAT_STEPS || format == POPRT_FORMAT_STEPS_JSON ||
        format == POPRT_FORMAT_GRAPHS_JSON) {
        status = inspect_steps(tool, model, format);
    } else {
        status = prt_tool_describe_model(model, format, &of_model.data, &of_model.size);
        if (status == POPRT_OK && !whole)
            status = gather_compiled(tool, model, format, fixed, &of_program);
        if (status == POPRT_OK && whole)
            (void)fwrite(of_model.data, 1, of_model.size, stdout);
        else if (status == POPRT_OK && format == POPRT_FORMAT_JSON)
            print_json(&of_model, &of_program);
        else if (status == POPRT_OK)
            print_summary(&of_model, &of_program);
    }
    free(of_model.data);
    free(of_program.data);
    poprt_model_release(model);
    return status;
}

/* Reading the file checks its bytes, names and types. Compiling it checks that all operators are
 * supported. */
static poprt_status verify_model(prt_tool *tool, const char *path)
{
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    PRT_TRY(poprt_model_load_file(tool->env, path, tool->config, &model));
    const poprt_status status = poprt_compile(model, tool->config, &exec);
    prt_progress_clear(&tool->progress);
    if (status == POPRT_OK)
        (void)printf("%s: valid ONNX, and it compiles\n", path);
    poprt_executable_release(exec);
    poprt_model_release(model);
    return status;
}

static poprt_status inspect(prt_tool *tool, const char *path, int32_t format, bool verify,
    bool fixed)
{
    const char *file = NULL;
    bool is_popef = false;
    PRT_TRY(prt_tool_find_model(tool, path, &file, &is_popef));
    if (verify && !is_popef)
        return verify_model(tool, file);
    if (!is_popef && format != FORMAT_BLOBS)
        return inspect_model(tool, file, format, fixed);
    /* Opening a program checks its structure. The list of blobs shows the rest of the file. */
    poprt_executable *exec = NULL;
    if (verify || format != FORMAT_BLOBS)
        PRT_TRY(poprt_executable_load_file(tool->env, file, NULL, &exec));
    const poprt_status status = format == FORMAT_BLOBS
        ? prt_blobs_print(tool, file, verify)
        : poprt_executable_describe_as(exec, format, tool->config, prt_tool_write, stdout);
    poprt_executable_release(exec);
    return status;
}

/* Returns the chosen format. Returns false after a usage error and sets `exit_code`. */
static bool choose_format(const prt_opts *opts, int32_t *format, int *exit_code)
{
    static const int32_t formats[OPT_COUNT] = { [OPT_TEXT] = POPRT_FORMAT_TEXT,
        [OPT_JSON] = POPRT_FORMAT_JSON,
        [OPT_DOT] = POPRT_FORMAT_DOT,
        [OPT_BLOBS] = FORMAT_BLOBS,
        [OPT_VERIFY] = FORMAT_BLOBS,
        [OPT_SHARDING] = POPRT_FORMAT_SHARDING };
    const bool ops = prt_opt_has(opts, OPT_OPS);
    uint32_t chosen = 0;
    *format = POPRT_FORMAT_SUMMARY;
    const bool steps = prt_opt_has(opts, OPT_STEPS), ir = prt_opt_has(opts, OPT_IR);
    for (uint32_t i = OPT_TEXT; i <= OPT_SHARDING; i++)
        if (prt_opt_has(opts, i)) {
            *format = formats[i];
            chosen++;
        }
    const bool passes = prt_opt_has(opts, OPT_PASSES);
    const bool sized = prt_opt_has(opts, OPT_DIM) || prt_opt_has(opts, OPT_THREADS);
    const char *wrong = passes && (opts->n_items != 1 || opts->n_args != 0)
        ? "--passes cannot be combined with other options or a MODEL"
        : chosen > 1 ? "--text, --json, --dot, --blobs, --verify, --sharding exclude each other"
        : steps && (ops || (*format != POPRT_FORMAT_SUMMARY && *format != POPRT_FORMAT_JSON))
        ? "--steps can only be combined with --json"
        : ir && (ops || steps || chosen != 0)  ? "--ir cannot be combined with another format"
        : ops && *format > POPRT_FORMAT_JSON   ? "--ops can only be combined with --text or --json"
        : ops && opts->n_args != 0             ? "--ops does not take a MODEL"
        : !ops && !passes && opts->n_args == 0 ? "a MODEL, --ops or --passes is missing"
        : sized && (ops || (*format != POPRT_FORMAT_SUMMARY && *format != POPRT_FORMAT_JSON))
        ? "--dim and --threads are only for the summary, --json, --ir or --steps"
        : NULL;
    if (ir)
        *format = POPRT_FORMAT_GRAPHS_JSON;
    if (steps)
        *format = *format == POPRT_FORMAT_JSON ? POPRT_FORMAT_STEPS_JSON : POPRT_FORMAT_STEPS;
    if (wrong != NULL)
        *exit_code = prt_opt_usage_error(&prt_inspect_command, "%s", wrong);
    return wrong == NULL;
}

/* Applies the options on plug-ins, passes, dimensions and tuning. */
static poprt_status apply_options(prt_tool *tool, const prt_opts *opts)
{
    PRT_TRY(prt_tool_plugins(tool, opts, OPT_PLUGIN));
    PRT_TRY(prt_tool_disable(tool, prt_opt_value(opts, OPT_DISABLE_PASSES, NULL)));
    PRT_TRY(prt_tool_set_dims(tool, opts, OPT_DIM));
    return prt_tool_tune(tool, prt_opt_value(opts, OPT_TUNE, NULL),
        prt_opt_value(opts, OPT_TUNE_CACHE, NULL));
}

static int run(const prt_opts *opts, int32_t format)
{
    prt_tool tool = { 0 };
    poprt_status status = prt_tool_open(&tool, (uint32_t)prt_opt_number(opts, OPT_THREADS, 1));
    if (status == POPRT_OK)
        status = apply_options(&tool, opts);
    if (status == POPRT_OK)
        status = prt_opt_has(opts, OPT_OPS)
            ? poprt_operators_describe(tool.env, format, prt_tool_write, stdout)
            : inspect(&tool, opts->args[0], format, prt_opt_has(opts, OPT_VERIFY),
                  prt_opt_has(opts, OPT_DIM));
    const int exit_code =
        status == POPRT_OK ? PRT_EXIT_DONE : PRT_REPORT_OF(&tool, &prt_inspect_command);
    prt_tool_close(&tool);
    return exit_code;
}

static int command_inspect(int argc, char **argv)
{
    prt_opts opts;
    int exit_code = PRT_EXIT_FAILED;
    int32_t format;
    prt_arena *arena = NULL;
    if (prt_arena_create(NULL, 0, &arena) != POPRT_OK)
        return PRT_REPORT();
    const bool parsed = prt_opt_parse(arena, &prt_inspect_command, argc, argv, &opts, &exit_code) &&
        choose_format(&opts, &format, &exit_code);
    if (parsed && prt_opt_has(&opts, OPT_PASSES)) {
        prt_passes_print();
        exit_code = PRT_EXIT_DONE;
    } else if (parsed) {
        exit_code = run(&opts, format);
    }
    prt_arena_release(arena);
    return exit_code;
}
