/* SPDX-License-Identifier: MIT */
/*
 * convert.c — the main command line, with the option names of PopRT: reads a model, sets shapes,
 * runs passes and saves ONNX; then, on request, compiles, writes PopEF and runs with random data.
 */
#include <stdio.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/common/log.h"
#include "tools/poprt/convert.h"

static const prt_opt_def options[OPT_COUNT] = {
#define OPT(id, name_, letter_, arity_, value_, takes_, accepts_, use, help_)                      \
    [OPT_##id] = { .name = name_,                                                                  \
        .letter = letter_,                                                                         \
        .arity = PRT_OPT_##arity_,                                                                 \
        .value = value_,                                                                           \
        .help = help_,                                                                             \
        .accepts = accepts_,                                                                       \
        .takes = PRT_TAKES_##takes_,                                                               \
        .may_be_empty = true },
#define CONFIG(id, key, arity_, value_, takes_, accepts_, absent_, use)                            \
    [OPT_##id] = { .name = #key,                                                                   \
        .arity = PRT_OPT_##arity_,                                                                 \
        .value = value_,                                                                           \
        .takes = PRT_TAKES_##takes_,                                                               \
        .row = &prt_option_rows[PRT_OPTION_##key],                                                 \
        .accepts = accepts_,                                                                       \
        .absent = absent_,                                                                         \
        .may_be_empty = true },
#define ALIAS(id, name_, key, arity_, use)                                                         \
    [OPT_##id] = { .name = name_,                                                                  \
        .arity = PRT_OPT_##arity_,                                                                 \
        .value = "VALUE",                                                                          \
        .row = &prt_option_rows[PRT_OPTION_##key],                                                 \
        .may_be_empty = true,                                                                      \
        .hidden = true },
#include "tools/poprt/convert.def"
};

static int command_convert(int argc, char **argv);

const prt_opt_command prt_convert_command = { .name = "poprt",
    .run = command_convert,
    .args = "",
    .brief = "convert, compile and run ONNX models",
    .summary = "Converts a model of ONNX, TensorFlow or TFLite, compiles it to PopEF and runs it.",
    .examples = "  poprt -i model.onnx --input_shape x=1,3,224,224 --export_popef\n"
                "  poprt -i model.onnx --show\n"
                "  poprt --config_yaml job.yaml\n",
    .options = options,
    .n_options = OPT_COUNT,
    .min_args = 0,
    .max_args = 0,
    .commands = prt_commands };

static void print_version(void)
{
    (void)printf("PopRT version: %s\n", poprt_version());
    (void)printf("Build with SDK: libpoprt %s\n", POPRT_VERSION_STRING);
    (void)printf("Runtime SDK: libpoprt %s\n", poprt_version());
}

/* Lists the passes that PopRT has too, then the other passes of the library, then those of
 * plug-ins. */
static poprt_status list_passes(prt_tool *tool)
{
    poprt_pass_info info = { .struct_size = sizeof(info) };
    for (size_t i = 0; poprt_pass_at(i, &info) == POPRT_OK; i++)
        if (info.since[0] != '\0')
            (void)printf("%s\n", info.name);
    for (size_t i = 0; poprt_env_pass_at(tool->env, i, &info) == POPRT_OK; i++)
        (void)printf("%s\n", info.name);
    return POPRT_OK;
}

poprt_status prt_convert_show(const poprt_model *model)
{
    static const char *const words[] = { "Input", "Output" };
    (void)printf("# Inputs and outputs of the model\n");
    for (int32_t direction = POPRT_INPUT; direction <= POPRT_OUTPUT; direction++)
        for (size_t i = 0; i < poprt_model_io_count(model, direction); i++) {
            poprt_io_info info = { .struct_size = sizeof(info) };
            PRT_TRY(poprt_model_io_at(model, direction, i, &info));
            (void)printf("%s %s: dtype - %s, shape - [", words[direction], info.name,
                poprt_dtype_name(info.dtype));
            for (int32_t k = 0; k < info.rank; k++)
                (void)printf("%s%lld", k > 0 ? ", " : "",
                    (long long)(info.dims[k] >= 0 ? info.dims[k] : 0));
            (void)printf("]\n");
        }
    return POPRT_OK;
}

/* ---- converting */

/* Logs a line for each pass at DEBUG, and prints the graph before and after the pass of
 * --show_pass. */
static void log_pass(void *user, const poprt_pass_event *event)
{
    prt_tool *tool = user;
    prt_tool_say(tool, POPRT_LOG_DEBUG, "%s: %.3f ms%s, %u nodes, now %u", event->pass, event->ms,
        event->changed != 0 ? ", changed" : "", event->nodes_before, event->nodes_after);
    if (event->before == NULL || event->after == NULL)
        return;
    prt_progress_clear(&tool->progress);
    (void)printf("# before %s\n%s# after %s\n%s", event->pass, event->before, event->pass,
        event->after);
}

poprt_status prt_convert_run(prt_tool *tool, const prt_opts *opts, const poprt_config *config,
    poprt_model *model)
{
    poprt_pass_manager *manager = NULL;
    PRT_TRY(poprt_pass_manager_create(tool->env, &manager));
    poprt_pass_manager_observe(manager, log_pass, tool);
    poprt_status status =
        poprt_pass_manager_show(manager, prt_opt_value(opts, OPT_SHOW_PASS, NULL));
    if (status == POPRT_OK)
        status = poprt_pass_manager_add_pipeline(manager, "convert", config);
    if (status == POPRT_OK)
        status = poprt_pass_manager_run(manager, model);
    poprt_pass_manager_release(manager);
    return status;
}

static void say_names(void *user, const poprt_pass_event *event)
{
    if (strcmp(event->pass, "unique_name_for_nodes") == 0 && event->changed != 0)
        prt_tool_say(user, POPRT_LOG_WARNING,
            "nodes without a unique name get the names that auto_sharding uses");
}

poprt_status prt_convert_pass(prt_tool *tool, const char *pass, const poprt_config *config,
    poprt_model *model)
{
    poprt_pass_manager *manager = NULL;
    PRT_TRY(poprt_pass_manager_create(tool->env, &manager));
    poprt_pass_manager_observe(manager, say_names, tool);
    poprt_status status = poprt_pass_manager_add(manager, pass, config);
    if (status == POPRT_OK)
        status = poprt_pass_manager_run(manager, model);
    poprt_pass_manager_release(manager);
    return status;
}

poprt_status prt_convert_shapes(prt_tool *tool, const prt_opts *opts, const poprt_config *config,
    poprt_model *model)
{
    poprt_pass_arg args[3];
    size_t n = 0;
    const char *shapes = NULL;
    PRT_TRY(poprt_config_get(config, "input_shape", &shapes));
    if (prt_opt_has(opts, OPT_INPUT_SHAPE))
        args[n++] = (poprt_pass_arg){ "const_input_shape", shapes };
    if (prt_opt_has(opts, OPT_BATCH_SIZE))
        args[n++] = (poprt_pass_arg){ "batch_size", prt_opt_value(opts, OPT_BATCH_SIZE, "-1") };
    if (prt_opt_has(opts, OPT_BATCH_AXIS))
        args[n++] = (poprt_pass_arg){ "batch_axis", prt_opt_value(opts, OPT_BATCH_AXIS, "-1") };
    if (n == 0)
        return POPRT_OK;
    return prt_tool_run_pass(tool, "const_input_shape", args, n, model);
}

/* Saves the converted model; by default its name is that of the input. */
static poprt_status save(prt_tool *tool, const prt_opts *opts, const char *input,
    const poprt_model *model)
{
    const char *slash = strrchr(input, '/');
    const char *usual =
        prt_tool_text(tool->arena, "%s.optimized.onnx", slash != NULL ? slash + 1 : input);
    return usual != NULL ? prt_convert_save(tool, opts, usual, model) : POPRT_E_NOMEM;
}

static poprt_status convert_model(prt_tool *tool, const prt_opts *opts, const poprt_config *config,
    const char *input, poprt_model *model)
{
    if (prt_opt_has(opts, OPT_SHOW))
        return prt_convert_show(model);
    if (prt_opt_has(opts, OPT_SHOW_IO_STAT))
        return prt_convert_pass(tool, "model_io_info_stat", NULL, model);
    if (prt_opt_has(opts, OPT_ONLY_MANUAL_SHARDING)) {
        /* The sharding points may use names that auto_sharding created. */
        PRT_TRY(prt_convert_pass(tool, "unique_name_for_nodes", NULL, model));
        PRT_TRY(prt_convert_pass(tool, "manual_sharding", config, model));
        return save(tool, opts, input, model);
    }
    PRT_TRY(prt_tool_make_dir(prt_opt_value(opts, OPT_OUTPUT_DIR, "./")));
    PRT_TRY(prt_convert_run(tool, opts, config, model));
    PRT_TRY(save(tool, opts, input, model));
    if (prt_opt_has(opts, OPT_EXPORT_POPEF) || prt_opt_has(opts, OPT_RUN))
        return prt_convert_compile(tool, opts, model);
    return POPRT_OK;
}

/* Sets the format of the input model, unless tf2onnx --saved_model has said it more exactly. */
static poprt_status set_format(prt_tool *tool, const char *framework)
{
    const char *format = "auto";
    if (tool->config != NULL)
        PRT_TRY(poprt_config_get(tool->config, "model_format", &format));
    if (framework != NULL && strcmp(framework, "tensorflow") == 0) {
        PRT_TRY(prt_tf2onnx_check());
        if (strcmp(format, "saved_model") == 0)
            return POPRT_OK;
    }
    return prt_tool_set_option(tool, "model_format", framework);
}

poprt_status prt_convert_load(prt_tool *tool, const prt_opts *opts, const char **input,
    poprt_model **model)
{
    bool is_popef = false;
    PRT_TRY(
        prt_tool_find_model(tool, prt_opt_value(opts, OPT_INPUT_MODEL, NULL), input, &is_popef));
    if (is_popef)
        return prt_fail(POPRT_E_UNSUPPORTED, *input,
            "is a compiled PopEF file: run it by poprt run");
    PRT_TRY(set_format(tool, prt_opt_value(opts, OPT_FRAMEWORK, NULL)));
    return poprt_model_load_file(tool->env, *input, tool->config, model);
}

/* Checks names of passes and of their options against the passes of the conversion. */
static poprt_status check_passes(const prt_tool *tool, const prt_opts *opts,
    const poprt_config *config)
{
    poprt_pass_manager *manager = NULL;
    PRT_TRY(poprt_pass_manager_create(tool->env, &manager));
    poprt_status status =
        poprt_pass_manager_show(manager, prt_opt_value(opts, OPT_SHOW_PASS, NULL));
    if (status == POPRT_OK)
        status = poprt_pass_manager_add_pipeline(manager, "convert", config);
    poprt_pass_manager_release(manager);
    return status;
}

/* Converts a model. Shapes are set first, so that --show and --show_io_stat show them. */
static poprt_status convert(prt_tool *tool, const prt_opts *opts)
{
    const char *input = NULL;
    poprt_model *model = NULL;
    poprt_config *config = NULL;
    PRT_TRY(prt_convert_backend(tool, opts));
    PRT_TRY(prt_convert_config(tool, opts, prt_opt_value(opts, OPT_OUTPUT_DIR, NULL), &config));
    poprt_status status = check_passes(tool, opts, config);
    if (status == POPRT_OK)
        status = prt_convert_load(tool, opts, &input, &model);
    if (status == POPRT_OK && (prt_opt_has(opts, OPT_SHOW) || prt_opt_has(opts, OPT_SHOW_IO_STAT)))
        status = prt_convert_shapes(tool, opts, config, model);
    if (status == POPRT_OK)
        status = convert_model(tool, opts, config, input, model);
    poprt_config_release(config);
    poprt_model_release(model);
    return status;
}

/* ---- the command line */

/* Returns the log level of an accepted name. */
static int32_t level_of(const char *name)
{
    int32_t level = POPRT_LOG_ERROR;
    (void)poprt_log_level_of(name, &level);
    return level;
}

static bool needs_model(const prt_opts *opts)
{
    return !prt_opt_has(opts, OPT_VERSION) && !prt_opt_has(opts, OPT_LIST_ALL_PASSES) &&
        !prt_opt_has(opts, OPT_PRINT_COMPLETION);
}

/* Checks combinations of options; PRT_EXIT_DONE: valid. `one`: the options are those of one
 * model. */
static int check_options(const prt_opts *opts, bool one)
{
    const prt_opt_command *command = &prt_convert_command;
    if (!one)
        return prt_opt_has(opts, OPT_ONLY_MANUAL_SHARDING)
            ? prt_opt_usage_error(command,
                  "--only_manual_sharding cannot be combined with model_fusion")
            : PRT_EXIT_DONE;
    if (needs_model(opts) && !prt_opt_has(opts, OPT_INPUT_MODEL))
        return prt_opt_usage_error(command, "--input_model is missing");
    if (prt_opt_has(opts, OPT_BATCH_SIZE) != prt_opt_has(opts, OPT_BATCH_AXIS))
        return prt_opt_usage_error(command, "--batch_size and --batch_axis must be given together");
    if (prt_opt_has(opts, OPT_ONLY_MANUAL_SHARDING) &&
        !prt_opt_has(opts, OPT_MANUAL_SHARDING_CONFIG))
        return prt_opt_usage_error(command,
            "--only_manual_sharding needs --manual_sharding_config");
    return PRT_EXIT_DONE;
}

static poprt_status run_command(prt_tool *tool, const prt_convert_request *request)
{
    const prt_opts *opts = &request->opts;
    if (prt_opt_has(opts, OPT_LOGGING_LEVEL) || !tool->levels_are_given)
        prt_tool_set_log_level(tool, level_of(prt_opt_value(opts, OPT_LOGGING_LEVEL, "WARNING")));
    tool->quiet_compile = prt_opt_has(opts, OPT_DISABLE_COMPILATION_PROGRESS_BAR) ||
        !prt_tool_is_true(prt_convert_backend_value(opts, "show_compilation_progress_bar"), true);
    PRT_TRY(prt_tool_plugins(tool, opts, OPT_CUSTOM_LIBRARY_SO_PATHS));
    PRT_TRY(prt_tool_plugins(tool, opts, OPT_CUSTOM_PASS_CONFIG));
    PRT_TRY(prt_tool_plugins(tool, opts, OPT_CUSTOM_SHAPE_INFERENCE));
    if (prt_opt_has(opts, OPT_VERSION))
        print_version();
    else if (prt_opt_has(opts, OPT_LIST_ALL_PASSES))
        return list_passes(tool);
    else if (prt_opt_has(opts, OPT_PRINT_COMPLETION))
        prt_completion_print(&prt_convert_command, prt_opt_value(opts, OPT_PRINT_COMPLETION, NULL));
    else
        return request->n_models != 0 ? prt_convert_merge_models(tool, request)
                                      : convert(tool, opts);
    return POPRT_OK;
}

/* Parses the command lines of a YAML file's models, each with the options for all models. */
static bool read_models(prt_tool *tool, const prt_convert_lines *lines,
    prt_convert_request *request, int *exit_code)
{
    request->models = PRT_NEW_N(tool->arena, prt_opts, lines->n_models);
    if (request->models == NULL) {
        *exit_code = PRT_REPORT();
        return false;
    }
    for (uint32_t i = 0; i < lines->n_models; i++) {
        const prt_convert_line *line = &lines->models[i];
        const bool parsed = prt_opt_parse(tool->arena, &prt_convert_command, line->argc, line->argv,
            &request->models[i], exit_code);
        if (parsed)
            *exit_code = check_options(&request->models[i], true);
        if (!parsed || *exit_code != PRT_EXIT_DONE) {
            PRT_LOG(POPRT_LOG_ERROR, "%s: this error is in model %u of model_fusion",
                prt_opt_value(&request->opts, OPT_CONFIG_YAML, ""), i);
            return false;
        }
    }
    request->n_models = lines->n_models;
    return true;
}

/* Puts the options of the YAML file before the others and parses the whole line again. */
static bool read_line(prt_tool *tool, int argc, char **argv, prt_convert_request *request,
    int *exit_code)
{
    prt_opts *opts = &request->opts;
    prt_convert_lines lines = { .all = { argc, argv } };
    if (!prt_opt_parse(tool->arena, &prt_convert_command, argc, argv, opts, exit_code))
        return false;
    if (prt_opt_has(opts, OPT_CONFIG_YAML)) {
        if (prt_convert_merge_yaml(tool, opts, argc, argv, &lines) != POPRT_OK) {
            *exit_code = PRT_REPORT_OF(tool, &prt_convert_command);
            return false;
        }
        if (!prt_opt_parse(tool->arena, &prt_convert_command, lines.all.argc, lines.all.argv, opts,
                exit_code))
            return false;
    }
    *exit_code = check_options(opts, lines.n_models == 0);
    return *exit_code == PRT_EXIT_DONE &&
        (lines.n_models == 0 || read_models(tool, &lines, request, exit_code));
}

static int command_convert(int argc, char **argv)
{
    prt_convert_request request = { .n_models = 0 };
    int exit_code = PRT_EXIT_FAILED;
    prt_tool tool = { 0 };
    /* Options behind the word tf2onnx belong to it. */
    const int own = prt_tf2onnx_find(argc, argv);
    if (prt_tool_open_at(&tool, 0, POPRT_LOG_DEBUG) != POPRT_OK)
        return PRT_REPORT();
    if ((own == argc || prt_tf2onnx_read(&tool, argc - own, argv + own, &exit_code)) &&
        read_line(&tool, own, argv, &request, &exit_code)) {
        const poprt_status status = run_command(&tool, &request);
        prt_progress_clear(&tool.progress);
        /* POPRT_E_ARG may also come from the argument of a pass, which is a usage error. */
        tool.past_options = tool.past_options && status != POPRT_E_ARG;
        if (status != POPRT_OK)
            exit_code = PRT_REPORT_OF(&tool, &prt_convert_command);
    }
    prt_tool_close(&tool);
    return exit_code;
}
