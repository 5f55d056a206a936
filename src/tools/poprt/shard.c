/* SPDX-License-Identifier: MIT */
/*
 * shard.c — `poprt auto_sharding`: gives every node of an ONNX model a device, and writes the model
 * and its sharding points. The option names are those of PopRT's auto_sharding.py.
 */
#include "tools/commands.h"
#include "tools/common/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_HELP,
    OPT_INPUT_MODEL,
    OPT_NUM_IPUS,
    OPT_OUTPUT_MODEL,
    OPT_OPTIMAL_PERF,
    OPT_NUM_PROCESSES,
    OPT_OUTPUT_YAML,
    OPT_MEMORY_PER_IPU,
    OPT_COUNT
};

static const prt_opt_def options[OPT_COUNT] = {
    [OPT_HELP] = PRT_OPT("help", 'h', PRT_OPT_FLAG, NULL, "print this and exit"),
    [OPT_INPUT_MODEL] = PRT_OPT("input_model", 'i', PRT_OPT_ONE, "FILE", "the ONNX model"),
    [OPT_NUM_IPUS] = PRT_OPT("num_ipus", 0, PRT_OPT_ONE, "N", "number of devices, at least 2"),
    [OPT_OUTPUT_MODEL] = PRT_OPT("output_model", 0, PRT_OPT_ONE, "FILE",
        "the sharded model; by default the path of the input with .auto_sharded.onnx"),
    [OPT_OPTIMAL_PERF] = PRT_OPT("optimal_perf", 0, PRT_OPT_FLAG, NULL,
        "after the first cut that fits, move nodes until the devices have equal FLOPs"),
    [OPT_NUM_PROCESSES] = PRT_OPT("num_processes", 0, PRT_OPT_ONE, "N",
        "no effect: PopRT compiles cuts in this number of processes; here the memory of a cut is "
        "calculated without compiling"),
    [OPT_OUTPUT_YAML] = PRT_OPT("output_yaml", 0, PRT_OPT_ONE, "FILE",
        "also write the sharding points to FILE, for --manual_sharding_config"),
    [OPT_MEMORY_PER_IPU] = PRT_OPT("memory_per_ipu", 0, PRT_OPT_ONE, "BYTES",
        "bytes of a device for weights, activations and received values; 940572672, as in a Mk2 "
        "IPU, by default"),
};

static const prt_opt_command command = { .name = "poprt auto_sharding",
    .args = "",
    .summary = "Cuts a model into shards, one for each device, so that each fits into the memory "
               "of its device.",
    .more = "Prints the needs of each device. Every node gets the attributes __ipu_number "
            "and\n__pipeline_stage. No device depends on a later one. Dimensions must be numbers: "
            "set\nsymbolic ones first, with poprt -i MODEL --input_shape NAME=D0,D1,...\n\n  "
            "poprt auto_sharding --input_model model.onnx --num_ipus 2 --output_yaml cut.yaml\n  "
            "poprt -i model.onnx --only_manual_sharding --manual_sharding_config cut.yaml\n",
    .options = options,
    .n_options = OPT_COUNT,
    .min_args = 0,
    .max_args = 0 };

static poprt_status run_pass(const prt_tool *tool, const prt_opts *opts, poprt_model *model)
{
    const poprt_pass_arg args[] = {
        { "num_ipus", prt_opt_value(opts, OPT_NUM_IPUS, NULL) },
        { "optimal_perf", prt_opt_has(opts, OPT_OPTIMAL_PERF) ? "true" : "false" },
        { "memory_per_ipu", prt_opt_value(opts, OPT_MEMORY_PER_IPU, NULL) },
    };
    const size_t count = PRT_COUNT_OF(args) - !prt_opt_has(opts, OPT_MEMORY_PER_IPU);
    return prt_tool_run_pass(tool, "auto_sharding", args, count, model);
}

/* Prints the comments at the head of a description, without '#'. */
static void put_devices(const char *text)
{
    for (const char *end; text[0] == '#' && (end = strchr(text, '\n')) != NULL; text = end + 1)
        (void)printf("%.*s\n", (int)(end - text) - 2, text + 2);
}

static poprt_status describe(const poprt_model *model, const char *yaml)
{
    char *text = NULL;
    size_t size = 0;
    poprt_status status = prt_tool_gather(model, POPRT_FORMAT_SHARDING, &text, &size);
    if (status == POPRT_OK && yaml != NULL)
        status = prt_tool_save(yaml, text, size);
    if (status == POPRT_OK)
        put_devices(text);
    free(text);
    return status;
}

static poprt_status shard(prt_tool *tool, const prt_opts *opts)
{
    const char *input = NULL;
    bool is_popef = false;
    poprt_model *model = NULL;
    PRT_TRY(
        prt_tool_find_model(tool, prt_opt_value(opts, OPT_INPUT_MODEL, NULL), &input, &is_popef));
    if (is_popef)
        return prt_fail(POPRT_E_UNSUPPORTED, input,
            "is a compiled PopEF file: shard the ONNX model that it was made from");
    const char *output = prt_opt_value(opts, OPT_OUTPUT_MODEL, NULL);
    if (output == NULL)
        output = prt_tool_text(tool->arena, "%s.auto_sharded.onnx", input);
    if (output == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(poprt_model_load_file(tool->env, input, NULL, &model));
    poprt_status status = run_pass(tool, opts, model);
    prt_progress_clear(&tool->progress);
    if (status == POPRT_OK)
        status = prt_tool_save_marks(tool, model, output);
    if (status == POPRT_OK)
        status = describe(model, prt_opt_value(opts, OPT_OUTPUT_YAML, NULL));
    poprt_model_release(model);
    return status;
}

/* Checks for missing options and ranges. Returns false after a usage error. */
static bool check(const prt_opts *opts, int *exit_code)
{
    int64_t number = 0;
    const char *missing = !prt_opt_has(opts, OPT_INPUT_MODEL) ? "--input_model is missing"
        : !prt_opt_has(opts, OPT_NUM_IPUS)                    ? "--num_ipus is missing"
                                                              : NULL;
    if (missing != NULL)
        *exit_code = prt_opt_usage_error(&command, "%s", missing);
    return missing == NULL &&
        prt_opt_number(opts, OPT_NUM_IPUS, 2, INT32_MAX, &number, exit_code) &&
        prt_opt_number(opts, OPT_NUM_PROCESSES, 1, INT32_MAX, &number, exit_code) &&
        prt_opt_number(opts, OPT_MEMORY_PER_IPU, 1, INT64_MAX, &number, exit_code);
}

int prt_command_auto_sharding(int argc, char **argv)
{
    prt_opts opts;
    int exit_code = PRT_EXIT_FAILED;
    prt_tool tool = { 0 };
    if (prt_tool_open(&tool, 1) != POPRT_OK)
        return PRT_REPORT();
    tool.log_level = POPRT_LOG_WARNING;
    if (prt_opt_parse(tool.arena, &command, argc, argv, &opts, &exit_code) &&
        check(&opts, &exit_code))
        exit_code = shard(&tool, &opts) == POPRT_OK ? PRT_EXIT_DONE : PRT_REPORT();
    prt_tool_close(&tool);
    return exit_code;
}
