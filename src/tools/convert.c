/* SPDX-License-Identifier: MIT */
/*
 * convert.c — the main command line, spelled as the reference's: load, fix shapes, passes, save
 * ONNX; then compile, write PopEF and run with random data where that is asked for.
 */
#include "tools/commands.h"
#include "tools/feed.h"

enum {
    OPT_HELP,
    OPT_CONVERT_VERSION,
    OPT_DISABLE_PASSES,
    OPT_EXPORT_POPEF,
    OPT_INPUT_MODEL,
    OPT_INPUT_SHAPE,
    OPT_LIST_ALL_PASSES,
    OPT_OUTPUT_DIR,
    OPT_OUTPUT_MODEL,
    OPT_PASSES,
    OPT_RUN,
    OPT_SET,
    OPT_SHOW,
    OPT_TUNE,
    OPT_TUNE_CACHE,
    OPT_VERSION,
    OPT_COUNT
};

static const prt_opt_def options[OPT_COUNT] = {
    [OPT_HELP] = { "help", 'h', PRT_OPT_FLAG, NULL, "print this and exit" },
    [OPT_CONVERT_VERSION] = { "convert_version", 0, PRT_OPT_ONE, "N",
        "opset of the ONNX domain to write, 0 for the model's own; 11 by default, or the next that "
        "has all that the model needs" },
    [OPT_DISABLE_PASSES] = { "disable_passes", 0, PRT_OPT_ONE, "A,B,...",
        "passes to leave out when the model is compiled" },
    [OPT_EXPORT_POPEF] = { "export_popef", 0, PRT_OPT_FLAG, NULL,
        "compile and write executable.popef into the output directory" },
    [OPT_INPUT_MODEL] = { "input_model", 'i', PRT_OPT_ONE, "PATH",
        "an ONNX file, or a directory that holds exactly one" },
    [OPT_INPUT_SHAPE] = { "input_shape", 0, PRT_OPT_MANY, "NAME=D0,D1,...",
        "shapes of inputs; only variable dimensions can be set" },
    [OPT_LIST_ALL_PASSES] = { "list_all_passes", 0, PRT_OPT_FLAG, NULL,
        "print the names of all passes, one a line" },
    [OPT_OUTPUT_DIR] = { "output_dir", 0, PRT_OPT_ONE, "DIR", "where files go; ./ by default" },
    [OPT_OUTPUT_MODEL] = { "output_model", 0, PRT_OPT_ONE, "NAME",
        "the converted model; the input's name and .optimized.onnx by default" },
    [OPT_PASSES] = { "passes", 0, PRT_OPT_ONE, "A,B,...",
        "more passes, run in this order after the usual ones" },
    [OPT_RUN] = { "run", 0, PRT_OPT_FLAG, NULL, "compile and run with random data" },
    [OPT_SET] = { "set", 0, PRT_OPT_EACH, "KEY=VALUE",
        "an option for compiling; may be repeated" },
    [OPT_SHOW] = { "show", 0, PRT_OPT_FLAG, NULL,
        "only print the model's inputs and outputs" },
    [OPT_TUNE] = PRT_TOOL_TUNE("tune"),
    [OPT_TUNE_CACHE] = PRT_TOOL_TUNE_CACHE("tune_cache"),
    [OPT_VERSION] = { "version", 'v', PRT_OPT_FLAG, NULL, "print versions and exit" },
};

static const prt_opt_command command = { .name = "poprt",
    .args = "",
    .summary = "Converts an ONNX model, compiles it to PopEF and runs it.",
    .more = "commands:\n"
            "  poprt run MODEL      run a model on given or random inputs\n"
            "  poprt test DIR...    check models against stored inputs and outputs\n"
            "  poprt bench MODEL    measure loading, compiling and running\n"
            "  poprt inspect MODEL  show what is in a file\n"
            "Each has its own --help.\n",
    .options = options,
    .n_options = OPT_COUNT,
    .min_args = 0,
    .max_args = 0 };

enum { STAGES = 5, WARM_UPS = 2, RUNS = 20, USUAL_OPSET = 11 };

static void put_version(void)
{
    (void)printf("PopRT version: %s\n", poprt_version());
    (void)printf("Build with SDK: libpoprt %s\n", POPRT_VERSION_STRING);
    (void)printf("Runtime SDK: libpoprt %s\n", poprt_version());
}

static poprt_status list_passes(void)
{
    for (size_t i = 0;; i++) {
        poprt_pass_info info = { .struct_size = sizeof(info) };
        if (poprt_pass_at(i, &info) != POPRT_OK)
            return POPRT_OK;
        if (info.since[0] != '\0')
            (void)printf("%s\n", info.name);
    }
}

static poprt_status show(const poprt_model *model)
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

/* "NAME=d0,d1,…"; "NAME=" is a scalar. Split at the last '='. */
static poprt_status set_shape(prt_tool *tool, poprt_model *model, const char *text)
{
    const char *equals = strrchr(text, '=');
    int64_t dims[PRT_MAX_RANK];
    uint32_t rank = 0;
    if (equals == NULL || equals == text)
        return prt_fail(POPRT_E_ARG, text, "a shape is given as NAME=d0,d1,...");
    for (const char *p = equals + 1; *p != '\0';) {
        const size_t n = strcspn(p, ",");
        const char *word = prt_arena_text(tool->arena, p, n);
        if (word == NULL)
            return POPRT_E_NOMEM;
        if (rank == PRT_MAX_RANK)
            return prt_fail(POPRT_E_LIMIT, text, "more than %d dimensions", PRT_MAX_RANK);
        if (!prt_opt_parse_number(word, &dims[rank]) || dims[rank] < 0)
            return prt_fail(POPRT_E_ARG, text, "'%s' is not a dimension", word);
        rank++;
        p += n + (p[n] == ',');
    }
    const char *name = prt_arena_text(tool->arena, text, (size_t)(equals - text));
    return name != NULL ? poprt_model_set_input_shape(model, name, dims, rank) : POPRT_E_NOMEM;
}

static poprt_status set_shapes(prt_tool *tool, const prt_opts *opts, poprt_model *model)
{
    uint32_t cursor = 0;
    for (const char *v; (v = prt_opt_next(opts, OPT_INPUT_SHAPE, &cursor)) != NULL;)
        PRT_TRY(set_shape(tool, model, v));
    return POPRT_OK;
}

/* A path below the output directory; an absolute one stays as it is. */
static const char *below(prt_tool *tool, const char *dir, const char *name)
{
    if (name == NULL || name[0] == '/')
        return name;
    const bool slash = dir[0] != '\0' && dir[strlen(dir) - 1] == '/';
    return prt_tool_text(tool->arena, "%s%s%s", dir, slash ? "" : "/", name);
}

static poprt_status save_for(const prt_tool *tool, const poprt_model *model, const char *path,
    const char *opset)
{
    poprt_config *config = NULL;
    PRT_TRY(poprt_config_create(tool->env, &config));
    poprt_status status = poprt_config_set(config, "convert_version", opset);
    if (status == POPRT_OK)
        status = poprt_model_save_file_as(model, path, config);
    poprt_config_release(config);
    return status;
}

/*
 * An opset that was asked for is written or fails. Without one it is the usual one, or else the
 * least that has all the model needs, and a warning says why.
 */
static poprt_status save_opset(prt_tool *tool, const char *asked, const poprt_model *model,
    const char *path)
{
    char opset[32], why[2048];
    if (asked != NULL)
        return save_for(tool, model, path, asked);
    (void)snprintf(opset, sizeof(opset), "%d", USUAL_OPSET);
    poprt_status status = save_for(tool, model, path, opset);
    if (status != POPRT_E_UNSUPPORTED)
        return status;
    const poprt_error *e = poprt_last_error();
    (void)snprintf(why, sizeof(why), "%s: %s", e->subject, e->message);
    for (int i = USUAL_OPSET + 1; status == POPRT_E_UNSUPPORTED; i++) {
        (void)snprintf(opset, sizeof(opset), "%d", i);
        status = save_for(tool, model, path, opset);
    }
    if (status == POPRT_E_ARG) { /* past the newest: what nobody knows is written as it is */
        (void)snprintf(opset, sizeof(opset), "that of the model");
        status = poprt_model_save_file(model, path);
    }
    prt_progress_clear(&tool->progress);
    if (status == POPRT_OK)
        PRT_LOG(POPRT_LOG_WARNING, "the model is written for opset %s instead of %d: %s", opset,
            USUAL_OPSET, why);
    return status;
}

static poprt_status save_onnx(prt_tool *tool, const prt_opts *opts, const char *input,
    const poprt_model *model)
{
    const char *dir = prt_opt_value(opts, OPT_OUTPUT_DIR, "./");
    const char *slash = strrchr(input, '/');
    const char *name = prt_opt_value(opts, OPT_OUTPUT_MODEL, NULL);
    if (name == NULL)
        name = prt_tool_text(tool->arena, "%s.optimized.onnx", slash != NULL ? slash + 1 : input);
    const char *path = below(tool, dir, name);
    PRT_TRY(prt_tool_make_dir(dir));
    return path != NULL
        ? save_opset(tool, prt_opt_value(opts, OPT_CONVERT_VERSION, NULL), model, path)
        : POPRT_E_NOMEM;
}

static void put_figures(const prt_feed *feed, double *ms)
{
    int64_t batch = 1;
    for (size_t i = 0; i < feed->count; i++)
        if (feed->values[i].kind == PRT_VALUE_TENSOR && feed->values[i].rank > 0) {
            batch = feed->values[i].dims[0];
            break;
        }
    prt_tool_sort(ms, RUNS);
    const double latency = ms[RUNS / 2];
    (void)printf("Bs: %lld\n", (long long)batch);
    (void)printf("Latency: %.2fms\n", latency);
    (void)printf("Tput: %lld\n", (long long)((double)batch / (latency / 1e3)));
}

static poprt_status run_random(prt_tool *tool, poprt_executable *exec)
{
    prt_feed feed = { 0 };
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    double ms[RUNS];
    poprt_status status = prt_feed_init(&feed, tool, exec, 0);
    if (status == POPRT_OK)
        status = prt_feed_random(&feed, false, true);
    if (status == POPRT_OK)
        status = poprt_session_create(exec, NULL, &session);
    if (status == POPRT_OK)
        status = poprt_stepio_create(session, &io);
    if (status == POPRT_OK)
        status = prt_feed_bind(&feed, io);
    for (int i = -WARM_UPS; i < RUNS && status == POPRT_OK; i++) {
        const double start = prt_tool_now_ms();
        status = poprt_session_run(session, io);
        if (i >= 0)
            ms[i] = prt_tool_now_ms() - start;
    }
    prt_progress_clear(&tool->progress);
    if (status == POPRT_OK)
        put_figures(&feed, ms);
    poprt_stepio_release(io);
    poprt_session_release(session);
    prt_feed_deinit(&feed);
    return status;
}

static poprt_status compile(prt_tool *tool, const prt_opts *opts, const poprt_model *model)
{
    poprt_executable *exec = NULL;
    const char *dir = prt_opt_value(opts, OPT_OUTPUT_DIR, "./");
    PRT_TRY(prt_tool_disable(tool, prt_opt_value(opts, OPT_DISABLE_PASSES, NULL)));
    PRT_TRY(prt_tool_set_each(tool, opts, OPT_SET));
    PRT_TRY(prt_tool_tune(tool, prt_opt_value(opts, OPT_TUNE, NULL),
        prt_opt_value(opts, OPT_TUNE_CACHE, NULL)));
    PRT_TRY(poprt_compile(model, tool->config, &exec));
    poprt_status status = POPRT_OK;
    if (prt_opt_has(opts, OPT_EXPORT_POPEF)) {
        const char *path = below(tool, dir, "executable.popef");
        status = path != NULL ? poprt_executable_save_file(exec, path) : POPRT_E_NOMEM;
    }
    if (status == POPRT_OK && prt_opt_has(opts, OPT_RUN))
        status = run_random(tool, exec);
    poprt_executable_release(exec);
    return status;
}

/* The five stages of a conversion. */
static poprt_status convert_model(prt_tool *tool, const prt_opts *opts, const char *input,
    poprt_model *model)
{
    static const char label[] = "PopRT conversion";
    prt_progress_show(&tool->progress, label, 1, STAGES);
    PRT_TRY(set_shapes(tool, opts, model));
    prt_progress_show(&tool->progress, label, 2, STAGES);
    PRT_TRY(prt_tool_run_passes(tool, model, prt_opt_value(opts, OPT_PASSES, NULL)));
    prt_progress_show(&tool->progress, label, 3, STAGES);
    PRT_TRY(save_onnx(tool, opts, input, model));
    prt_progress_show(&tool->progress, label, 4, STAGES);
    if (prt_opt_has(opts, OPT_EXPORT_POPEF) || prt_opt_has(opts, OPT_RUN))
        return compile(tool, opts, model);
    return POPRT_OK;
}

static poprt_status convert(prt_tool *tool, const prt_opts *opts)
{
    const char *input = NULL;
    bool is_popef = false;
    poprt_model *model = NULL;
    PRT_TRY(prt_tool_find_model(tool, prt_opt_value(opts, OPT_INPUT_MODEL, NULL), &input,
        &is_popef));
    if (is_popef)
        return prt_fail(POPRT_E_UNSUPPORTED, input,
            "is a PopEF file: it is compiled already, use poprt run");
    PRT_TRY(poprt_model_load_file(tool->env, input, NULL, &model));
    poprt_status status;
    if (prt_opt_has(opts, OPT_SHOW)) {
        status = set_shapes(tool, opts, model);
        if (status == POPRT_OK)
            status = show(model);
    } else {
        status = convert_model(tool, opts, input, model);
    }
    poprt_model_release(model);
    return status;
}

int prt_command_convert(int argc, char **argv)
{
    prt_opts opts;
    int exit_code = PRT_EXIT_FAILED;
    prt_tool tool = { 0 };
    if (prt_tool_open(&tool, 0) != POPRT_OK)
        return PRT_REPORT();
    if (prt_opt_parse(tool.arena, &command, argc, argv, &opts, &exit_code)) {
        poprt_status status = POPRT_OK;
        exit_code = PRT_EXIT_DONE;
        if (prt_opt_has(&opts, OPT_VERSION))
            put_version();
        else if (prt_opt_has(&opts, OPT_LIST_ALL_PASSES))
            status = list_passes();
        else if (!prt_opt_has(&opts, OPT_INPUT_MODEL))
            exit_code = prt_opt_usage_error(&command, "--input_model is missing");
        else
            status = convert(&tool, &opts);
        prt_progress_clear(&tool.progress);
        if (status != POPRT_OK)
            exit_code = PRT_REPORT();
    }
    prt_tool_close(&tool);
    return exit_code;
}
