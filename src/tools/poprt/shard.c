/* SPDX-License-Identifier: MIT */
/*
 * shard.c — `poprt auto_sharding`: gives every node of an ONNX model a device, and writes the model
 * and its sharding points. The option names are those of PopRT's auto_sharding.py.
 */
#include "tools/commands.h"
#include "tools/common/log.h"
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
    [OPT_INPUT_MODEL] = { .name = "input_model",
        .letter = 'i',
        .arity = PRT_OPT_ONE,
        .value = "FILE",
        .takes = PRT_TAKES_FILE,
        .help = "the ONNX model" },
    [OPT_NUM_IPUS] = PRT_OPT_OF("num_ipus", "N", "int 2..2147483647", "number of devices"),
    [OPT_OUTPUT_MODEL] = { .name = "output_model",
        .arity = PRT_OPT_ONE,
        .value = "FILE",
        .takes = PRT_TAKES_FILE,
        .absent = "the path of the input with .auto_sharded.onnx",
        .help = "the sharded model" },
    [OPT_OPTIMAL_PERF] = PRT_OPT("optimal_perf", 0, PRT_OPT_FLAG, NULL,
        "after the first cut that fits, move nodes until the devices have equal FLOPs"),
    [OPT_NUM_PROCESSES] = PRT_OPT_OF("num_processes", "N", "int 1..2147483647",
        "no effect: PopRT compiles cuts in this number of processes; here the memory of a cut is "
        "calculated without compiling"),
    [OPT_OUTPUT_YAML] = { .name = "output_yaml",
        .arity = PRT_OPT_ONE,
        .value = "FILE",
        .takes = PRT_TAKES_FILE,
        .help = "also write the sharding points to FILE, for --manual_sharding_config" },
    [OPT_MEMORY_PER_IPU] = { .name = "memory_per_ipu",
        .arity = PRT_OPT_ONE,
        .value = "BYTES",
        .accepts = "int 1..",
        .absent = "940572672, as in a Mk2 IPU",
        .help = "bytes of a device for weights, activations and received values" },
};

static int command_auto_sharding(int argc, char **argv);

const prt_opt_command prt_auto_sharding_command = { .name = "poprt auto_sharding",
    .run = command_auto_sharding,
    .args = "",
    .brief = "cut a model into shards, one for each device",
    .summary = "Cuts a model into shards, one for each device, so that each fits into the memory "
               "of its device.",
    .more = "Prints the needs of each device. Every node gets the attributes __ipu_number "
            "and __pipeline_stage. No device depends on a later one. Dimensions must be numbers: "
            "set symbolic ones first, with poprt -i MODEL --input_shape NAME=D0,D1,...",
    .examples =
        "  poprt auto_sharding --input_model model.onnx --num_ipus 2 --output_yaml cut.yaml\n"
        "  poprt -i model.onnx --only_manual_sharding --manual_sharding_config cut.yaml\n",
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
static void print_devices(const char *text)
{
    for (const char *end; text[0] == '#' && (end = strchr(text, '\n')) != NULL; text = end + 1)
        (void)printf("%.*s\n", (int)(end - text) - 2, text + 2);
}

static poprt_status describe(const poprt_model *model, const char *yaml)
{
    char *text = NULL;
    size_t size = 0;
    poprt_status status = prt_tool_describe_model(model, POPRT_FORMAT_SHARDING, &text, &size);
    if (status == POPRT_OK && yaml != NULL)
        status = prt_tool_save(yaml, text, size);
    if (status == POPRT_OK)
        print_devices(text);
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
    PRT_TRY(poprt_model_load_file(tool->env, input, tool->config, &model));
    poprt_status status = run_pass(tool, opts, model);
    prt_progress_clear(&tool->progress);
    if (status == POPRT_OK)
        status = prt_tool_save_marks(tool, model, output);
    if (status == POPRT_OK)
        status = describe(model, prt_opt_value(opts, OPT_OUTPUT_YAML, NULL));
    poprt_model_release(model);
    return status;
}

/* Checks for missing options. Returns false after a usage error. */
static bool check_options(const prt_opts *opts, int *exit_code)
{
    const char *missing = !prt_opt_has(opts, OPT_INPUT_MODEL) ? "--input_model is missing"
        : !prt_opt_has(opts, OPT_NUM_IPUS)                    ? "--num_ipus is missing"
                                                              : NULL;
    if (missing != NULL)
        *exit_code = prt_opt_usage_error(&prt_auto_sharding_command, "%s", missing);
    return missing == NULL;
}

static int command_auto_sharding(int argc, char **argv)
{
    prt_opts opts;
    int exit_code = PRT_EXIT_FAILED;
    prt_tool tool = { 0 };
    if (prt_tool_open(&tool, 1) != POPRT_OK)
        return PRT_REPORT();
    if (!tool.levels_are_given)
        prt_tool_set_log_level(&tool, POPRT_LOG_WARNING);
    if (prt_opt_parse(tool.arena, &prt_auto_sharding_command, argc, argv, &opts, &exit_code) &&
        check_options(&opts, &exit_code))
        exit_code = shard(&tool, &opts) == POPRT_OK ? PRT_EXIT_DONE : PRT_REPORT();
    prt_tool_close(&tool);
    return exit_code;
}
