/* SPDX-License-Identifier: MIT */
/* tf2onnx.c — poprt ... tf2onnx: options of reading a TensorFlow model. */
#include "tools/poprt/convert.h"

#include <stdlib.h>

enum {
    HELP,
    SAVED_MODEL,
    SIGNATURE_DEF,
    TAG,
    INPUTS,
    OUTPUTS,
    OPSET,
    INPUTS_AS_NCHW,
    OUTPUTS_AS_NCHW,
    LIST_OPS
};

static const prt_opt_def options[] = {
    [HELP] = PRT_OPT("help", 'h', PRT_OPT_FLAG, NULL, "print this and exit"),
    [SAVED_MODEL] = PRT_OPT("saved_model", 0, PRT_OPT_FLAG, NULL,
        "the input must be a folder with a SavedModel; without this option its contents tell"),
    [SIGNATURE_DEF] = PRT_OPT("signature_def", 0, PRT_OPT_ONE, "NAME",
        "signature of a SavedModel or TFLite file; by default serving_default, or the only one"),
    [TAG] = PRT_OPT("tag", 0, PRT_OPT_ONE, "A[,B]",
        "set of tags of a SavedModel's graph; by default serve, or the only one"),
    [INPUTS] = PRT_OPT("inputs", 0, PRT_OPT_ONE, "A,B,...",
        "tensors that become the inputs, perhaps with a shape: x:0[1,28,28,3]; by default those "
        "of the signature, or all placeholders"),
    [OUTPUTS] = PRT_OPT("outputs", 0, PRT_OPT_ONE, "A,B,...",
        "tensors that become the outputs; by default those of the signature, or all nodes that "
        "nothing reads"),
    [OPSET] = PRT_OPT("opset", 0, PRT_OPT_ONE, "N",
        "opset of the ONNX model, 11 by default; a later one is taken if an operator needs it"),
    [INPUTS_AS_NCHW] = PRT_OPT("inputs_as_nchw", 0, PRT_OPT_ONE, "A,B,...",
        "image inputs that the ONNX model takes as NCHW"),
    [OUTPUTS_AS_NCHW] = PRT_OPT("outputs_as_nchw", 0, PRT_OPT_ONE, "A,B,...",
        "image outputs that the ONNX model gives as NCHW"),
    [LIST_OPS] = PRT_OPT("list_ops", 0, PRT_OPT_FLAG, NULL,
        "print the operators that can be converted, one a line: its name, the ONNX operator with "
        "the same meaning or -, and its family; those of TFLite have the prefix tflite:"),
};

/* The keys of a config for the options. */
static const char *const keys[PRT_COUNT_OF(options)] = { [SIGNATURE_DEF] = "signature_def",
    [TAG] = "tag",
    [INPUTS] = "graph_inputs",
    [OUTPUTS] = "graph_outputs",
    [OPSET] = "graph_opset",
    [INPUTS_AS_NCHW] = "inputs_as_nchw",
    [OUTPUTS_AS_NCHW] = "outputs_as_nchw" };

static int command_tf2onnx(int argc, char **argv);

const prt_opt_command prt_tf2onnx_command = { .name = "poprt tf2onnx",
    .run = command_tf2onnx,
    .args = "",
    .brief = "convert a TensorFlow model to ONNX",
    .summary = "Converts a TensorFlow model to ONNX: a frozen GraphDef, a SavedModel, a checkpoint "
               "with its meta graph, or a TFLite file. Neither TensorFlow nor Python is needed.",
    .more =
        "Options of poprt stand before the word tf2onnx: poprt --input_model PATH --output_model "
        "OUT.onnx tf2onnx --opset 18. int64 stays int64, unless --target is ipu. The "
        "other commands read such models too: poprt run PATH.",
    .options = options,
    .n_options = PRT_COUNT_OF(options) };

int prt_tf2onnx_find(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "tf2onnx") == 0)
            return i;
    return argc;
}

poprt_status prt_tf2onnx_check(void)
{
#ifdef PRT_NO_TENSORFLOW
    return prt_fail(POPRT_E_UNSUPPORTED, "tensorflow",
        "this build cannot read TensorFlow models: it was configured with -Dtensorflow=disabled");
#else
    return POPRT_OK;
#endif
}

static poprt_status set_config(prt_tool *tool, const prt_opts *opts)
{
    tool->keeps_int64 = true;
    PRT_TRY(prt_tool_set_option(tool, "graph_opset", "11"));
    PRT_TRY(prt_tool_set_option(tool, "model_format",
        prt_opt_has(opts, SAVED_MODEL) ? "saved_model" : "tensorflow"));
    for (uint32_t i = 0; i < PRT_COUNT_OF(options); i++)
        if (keys[i] != NULL && prt_opt_has(opts, i))
            PRT_TRY(prt_tool_set_option(tool, keys[i], prt_opt_value(opts, i, "")));
    tool->usual_opset = atoi(prt_opt_value(opts, OPSET, "11"));
    /* An empty text is the default of the option, and means the empty set here. */
    if (prt_opt_has(opts, TAG) && prt_opt_value(opts, TAG, "")[0] == '\0')
        return prt_tool_set_option(tool, "tag", "''");
    return POPRT_OK;
}

bool prt_tf2onnx_read(prt_tool *tool, int argc, char **argv, int *exit_code)
{
    prt_opts opts;
    if (!prt_opt_parse(tool->arena, &prt_tf2onnx_command, argc, argv, &opts, exit_code))
        return false;
    poprt_status status = prt_tf2onnx_check();
#ifndef PRT_NO_TENSORFLOW
    if (status == POPRT_OK && prt_opt_has(&opts, LIST_OPS)) {
        prt_tf2onnx_list();
        *exit_code = PRT_EXIT_DONE;
        return false;
    }
#endif
    if (status == POPRT_OK)
        status = set_config(tool, &opts);
    if (status == POPRT_OK)
        return true;
    *exit_code = PRT_REPORT_OF(tool, &prt_tf2onnx_command);
    return false;
}

/* The word alone, without options of poprt before it. */
static int command_tf2onnx(int argc, char **argv)
{
    int exit_code = PRT_EXIT_FAILED;
    prt_tool tool = { 0 };
    if (prt_tool_open(&tool, 0) != POPRT_OK)
        return PRT_REPORT();
    if (prt_tf2onnx_read(&tool, argc, argv, &exit_code))
        exit_code = prt_opt_usage_error(&prt_tf2onnx_command,
            "--input_model is missing; it stands before the word tf2onnx");
    prt_tool_close(&tool);
    return exit_code;
}
