/* SPDX-License-Identifier: MIT */
/*
 * convert_output.c — the outputs of a conversion: the ONNX file, PopEF, and a run with random data.
 */
#include <stdlib.h>

#include "tools/poprt/convert.h"
#include "tools/common/feed.h"

enum { WARM_UPS = 2, RUNS = 20, USUAL_OPSET = 11 };

/* Returns a path below the output directory; an absolute path does not change. */
static const char *below(prt_tool *tool, const char *dir, const char *name)
{
    if (name == NULL || name[0] == '/')
        return name;
    const bool slash = dir[0] != '\0' && dir[strlen(dir) - 1] == '/';
    return prt_tool_text(tool->arena, "%s%s%s", dir, slash ? "" : "/", name);
}

static poprt_status save_with(const prt_tool *tool, const poprt_model *model, const char *path,
    const char *key, const char *value)
{
    poprt_config *config = NULL;
    PRT_TRY(poprt_config_create(tool->env, &config));
    poprt_status status = poprt_config_set(config, key, value);
    if (status == POPRT_OK)
        status = poprt_model_save_file_as(model, path, config);
    poprt_config_release(config);
    return status;
}

/*
 * Saves the model. With --convert_version, it is written for this opset or saving fails. Otherwise
 * it is written for the usual opset, or, with a warning, for the smallest opset that has all of its
 * operators.
 */
static poprt_status save_opset(prt_tool *tool, const char *asked, const poprt_model *model,
    const char *path)
{
    char opset[32], why[2048];
    if (asked != NULL)
        return save_with(tool, model, path, "convert_version", asked);
    const int usual = tool->usual_opset != 0 ? tool->usual_opset : USUAL_OPSET;
    (void)snprintf(opset, sizeof(opset), "%d", usual);
    poprt_status status = save_with(tool, model, path, "convert_version", opset);
    if (status != POPRT_E_UNSUPPORTED)
        return status;
    const poprt_error *e = poprt_last_error();
    (void)snprintf(why, sizeof(why), "%s: %s", e->subject, e->message);
    for (int i = usual + 1; status == POPRT_E_UNSUPPORTED; i++) {
        (void)snprintf(opset, sizeof(opset), "%d", i);
        status = save_with(tool, model, path, "convert_version", opset);
    }
    if (status == POPRT_E_ARG) { /* the model's opset is newer than the newest known one: keep it */
        (void)snprintf(opset, sizeof(opset), "the model's own");
        status = poprt_model_save_file(model, path);
    }
    prt_progress_clear(&tool->progress);
    if (status == POPRT_OK)
        PRT_LOG(POPRT_LOG_WARNING, "the model is written for opset %s instead of %d: %s", opset,
            usual, why);
    return status;
}

poprt_status prt_convert_save(prt_tool *tool, const prt_opts *opts, const char *usual,
    const poprt_model *model)
{
    const char *dir = prt_opt_value(opts, OPT_OUTPUT_DIR, "./");
    const char *path = below(tool, dir, prt_opt_value(opts, OPT_OUTPUT_MODEL, usual));
    const char *opset = prt_opt_value(opts, OPT_CONVERT_VERSION, NULL);
    PRT_TRY(prt_tool_make_dir(dir));
    if (path == NULL)
        return POPRT_E_NOMEM;
    if (prt_opt_has(opts, OPT_ONLY_MANUAL_SHARDING) && opset == NULL)
        return prt_tool_save_marks(tool, model, path);
    return save_opset(tool, opset, model, path);
}

static void print_throughput(const prt_feed *feed, double *ms)
{
    int64_t batch = 1;
    for (size_t i = 0; i < feed->count; i++)
        if (feed->given[i] && !prt_feed_is_index(feed, i) &&
            feed->values[i].kind == PRT_VALUE_TENSOR && feed->values[i].rank > 0) {
            batch = feed->values[i].dims[0];
            break;
        }
    prt_tool_sort(ms, RUNS);
    const double latency = ms[RUNS / 2];
    (void)printf("Bs: %lld\n", (long long)batch);
    (void)printf("Latency: %.2fms\n", latency);
    (void)printf("Tput: %lld\n", (long long)((double)batch / (latency / 1e3)));
}

/* Runs graph `graph` of a fused model, or (-1) a model that is not fused. */
static poprt_status run_random(prt_tool *tool, poprt_executable *exec, int64_t graph)
{
    prt_feed feed = { 0 };
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    double ms[RUNS];
    poprt_status status = prt_feed_init(&feed, tool, exec, 0);
    if (status == POPRT_OK && graph >= 0)
        status = prt_feed_index(&feed, graph);
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
    if (status == POPRT_OK && graph >= 0)
        (void)printf("graph%lld\n", (long long)graph);
    if (status == POPRT_OK)
        print_throughput(&feed, ms);
    poprt_stepio_release(io);
    poprt_session_release(session);
    prt_feed_deinit(&feed);
    return status;
}

static poprt_status run_all(prt_tool *tool, poprt_executable *exec)
{
    const size_t n_graphs = poprt_executable_graph_count(exec);
    if (n_graphs == 0)
        return run_random(tool, exec, -1);
    for (size_t i = 0; i < n_graphs; i++)
        PRT_TRY(run_random(tool, exec, (int64_t)i));
    return POPRT_OK;
}

/* Compiles for runs of --batches_per_step mini-batches. */
static poprt_status compile(prt_tool *tool, const prt_opts *opts, const poprt_model *model,
    poprt_executable **out)
{
    const char *key = prt_convert_backend_value(opts, "batches_per_step");
    const char *asked = prt_opt_value(opts, OPT_BATCHES_PER_STEP, key);
    const int64_t batches = asked != NULL ? strtoll(asked, NULL, 10) : 1;
    if (batches <= 1)
        return prt_tool_compile(tool, model, out);
    for (size_t i = 0; i < poprt_model_io_count(model, POPRT_INPUT); i++) {
        poprt_io_info info = { .struct_size = sizeof(info) };
        PRT_TRY(poprt_model_io_at(model, POPRT_INPUT, i, &info));
        if (info.graph >= 0)
            return prt_fail(POPRT_E_UNSUPPORTED, "batches_per_step",
                "fused models run one mini-batch of one graph");
    }
    const char *text = prt_tool_text(tool->arena, "batches_per_step=%s", asked);
    PRT_TRY(text != NULL ? prt_tool_set(tool, text) : POPRT_E_NOMEM);
    return prt_tool_compile(tool, model, out);
}

poprt_status prt_convert_compile(prt_tool *tool, const prt_opts *opts, poprt_model *model)
{
    poprt_executable *exec = NULL;
    const char *dir = prt_opt_value(opts, OPT_OUTPUT_DIR, "./");
    PRT_TRY(prt_convert_prepare(tool, opts, model));
    PRT_TRY(compile(tool, opts, model, &exec));
    poprt_status status = POPRT_OK;
    if (prt_opt_has(opts, OPT_EXPORT_POPEF)) {
        const char *path = below(tool, dir, "executable.popef");
        status = path != NULL ? poprt_executable_save_file(exec, path) : POPRT_E_NOMEM;
    }
    if (status == POPRT_OK && prt_opt_has(opts, OPT_RUN))
        status = run_all(tool, exec);
    poprt_executable_release(exec);
    return status;
}
