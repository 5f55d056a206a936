/* SPDX-License-Identifier: MIT */
/*
 * convert_merge_models.c — model_fusion of --config_yaml: converts every model of the list with its
 * own options and makes one model of them, which is saved and compiled like any other.
 */
#include "tools/poprt/convert.h"

/* Creates the folder of a graph for the files of its passes, if passes write any. */
static poprt_status make_dir(prt_tool *tool, const prt_convert_request *request, uint32_t graph,
    const char **out)
{
    static const uint32_t writers[] = { OPT_CALIBRATION_WITH_DATA, OPT_QUANTIZE,
        OPT_PRECISION_COMPARE };
    const char *dir = prt_opt_value(&request->opts, OPT_OUTPUT_DIR, "./");
    bool writes = false;
    for (size_t i = 0; i < PRT_COUNT_OF(writers); i++)
        writes = writes || prt_opt_has(&request->models[graph], writers[i]);
    if (writes)
        dir = prt_tool_text(tool->arena, "%s/graph%u", dir, graph);
    *out = dir;
    return dir != NULL ? prt_tool_make_dir(dir) : POPRT_E_NOMEM;
}

/* Converts one model. To show inputs and outputs, only shapes are set. */
static poprt_status convert_one(prt_tool *tool, const prt_convert_request *request, uint32_t graph,
    poprt_model *model)
{
    const prt_opts *opts = &request->models[graph];
    const bool look =
        prt_opt_has(&request->opts, OPT_SHOW) || prt_opt_has(&request->opts, OPT_SHOW_IO_STAT);
    poprt_config *config = NULL;
    const char *dir = NULL;
    if (!look)
        PRT_TRY(make_dir(tool, request, graph, &dir));
    poprt_status status = prt_convert_config(tool, opts, dir, &config);
    if (status == POPRT_OK && !look)
        status = prt_convert_run(tool, opts, config, model);
    else if (status == POPRT_OK)
        status = prt_convert_shapes(tool, opts, config, model);
    poprt_config_release(config);
    return status;
}

static poprt_status load_all(prt_tool *tool, const prt_convert_request *request,
    poprt_model **models)
{
    for (uint32_t i = 0; i < request->n_models; i++) {
        const char *input = NULL;
        PRT_TRY(prt_convert_load(tool, &request->models[i], &input, &models[i]));
        PRT_TRY(prt_fail_in_file(convert_one(tool, request, i, models[i]), input));
    }
    return POPRT_OK;
}

static poprt_status merge_models(prt_tool *tool, const prt_convert_request *request,
    poprt_model **out)
{
    poprt_model **models = PRT_NEW_N(tool->arena, poprt_model *, request->n_models);
    if (models == NULL)
        return POPRT_E_NOMEM;
    poprt_status status = load_all(tool, request, models);
    if (status == POPRT_OK)
        status = poprt_model_fuse((const poprt_model *const *)models, request->n_models, out);
    for (uint32_t i = 0; i < request->n_models; i++)
        poprt_model_release(models[i]);
    return status;
}

static poprt_status finish(prt_tool *tool, const prt_opts *opts, poprt_model *model)
{
    if (prt_opt_has(opts, OPT_SHOW))
        return prt_convert_show(model);
    if (prt_opt_has(opts, OPT_SHOW_IO_STAT))
        return prt_convert_pass(tool, "model_io_info_stat", NULL, model);
    PRT_TRY(prt_convert_save(tool, opts, "model_fusion.onnx", model));
    return prt_convert_compile(tool, opts, model);
}

poprt_status prt_convert_merge_models(prt_tool *tool, const prt_convert_request *request)
{
    poprt_model *model = NULL;
    if (!prt_opt_has(&request->opts, OPT_EXPORT_POPEF))
        return prt_fail(POPRT_E_ARG, "export_popef",
            "model_fusion makes one PopEF file of all models: set export_popef: True outside of "
            "it");
    PRT_TRY(prt_convert_backend(tool, &request->opts));
    PRT_TRY(merge_models(tool, request, &model));
    const poprt_status status = finish(tool, &request->opts, model);
    poprt_model_release(model);
    return status;
}
