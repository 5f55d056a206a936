/* SPDX-License-Identifier: MIT */
/* convert.h — declarations shared by the sources of the main command line. */
#ifndef PRT_TOOLS_POPRT_CONVERT_H
#define PRT_TOOLS_POPRT_CONVERT_H

#include "tools/commands.h"
#include "tools/common/tool.h"

enum {
#define OPT(id, name, letter, arity, value, takes, accepts, use, help) OPT_##id,
#define CONFIG(id, key, arity, value, takes, accepts, absent, use) OPT_##id,
#define ALIAS(id, name, key, arity, use) OPT_##id,
#include "tools/poprt/convert.def"
    OPT_COUNT
};

/* Conversion of a command-line option to the value of an option of a poprt_config. */
enum prt_convert_use {
    PRT_USE_TOOL, /* not converted; applies once to all models of model_fusion */
    /* Not converted; each model of model_fusion may have its own, as with all uses below. */
    PRT_USE_MODEL,
    PRT_USE_NOTE,   /* no effect on a CPU */
    PRT_USE_SWITCH, /* the value is "true" */
    PRT_USE_TEXT,   /* the value is the last text */
    PRT_USE_SHAPES, /* NAME=D0,D1 …: the value is a JSON object of arrays */
    /* KEY=VALUE …: the value is a JSON object of texts; split at the last '='. */
    PRT_USE_PAIRS,
    PRT_USE_KEYS,  /* like PAIRS, but split at the first '=' */
    PRT_USE_GROUPS /* TYPE,[DIMS],NUMBER …: the value is a JSON array of arrays */
};

/* The parsed options of a command line. */
typedef struct prt_convert_request {
    prt_opts opts;
    prt_opts *models; /* models of model_fusion in --config_yaml, each with the options for all */
    uint32_t n_models;
} prt_convert_request;

/* ---- convert.c */
/* Loads the model of --input_model and returns its path. */
poprt_status prt_convert_load(prt_tool *tool, const prt_opts *opts, const char **input,
    poprt_model **model);
/* Run the pipeline of the conversion according to the options, or a single pass. */
poprt_status prt_convert_run(prt_tool *tool, const prt_opts *opts, const poprt_config *config,
    poprt_model *model);
poprt_status prt_convert_pass(prt_tool *tool, const char *pass, const poprt_config *config,
    poprt_model *model);
/* Sets the shapes that the options give, without other passes. */
poprt_status prt_convert_shapes(prt_tool *tool, const prt_opts *opts, const poprt_config *config,
    poprt_model *model);
poprt_status prt_convert_show(const poprt_model *model);

/* ---- tf2onnx.c */
/* Returns the index of the word tf2onnx in a command line; `argc` without it. */
int prt_tf2onnx_find(int argc, char **argv);
/* Fails in a build without the readers of TensorFlow and TFLite models. */
poprt_status prt_tf2onnx_check(void);
/* Parses the options behind the word, argv[0], and sets the config for loading models. Returns
 * false with an exit code if the command is done or its options are wrong. */
bool prt_tf2onnx_read(prt_tool *tool, int argc, char **argv, int *exit_code);

/* ---- tf2onnx_list.c, absent from a build without the readers */
/* Prints the operators of TensorFlow and TFLite that can be converted, one a line. */
void prt_tf2onnx_list(void);

/* ---- convert_merge_models.c: makes one model of all models of the request */
poprt_status prt_convert_merge_models(prt_tool *tool, const prt_convert_request *request);

/* ---- convert_output.c */
/* Writes ONNX into the output directory. `usual` is the file name without --output_model. */
poprt_status prt_convert_save(prt_tool *tool, const prt_opts *opts, const char *usual,
    const poprt_model *model);
/* Compiles; on request, writes PopEF and runs. */
poprt_status prt_convert_compile(prt_tool *tool, const prt_opts *opts, poprt_model *model);

/* ---- convert_config.c */
/* Creates the config of a conversion. `dir` is the folder for files that passes write (NULL: the
 * default). Options without effect are reported at INFO. */
poprt_status prt_convert_config(prt_tool *tool, const prt_opts *opts, const char *dir,
    poprt_config **out);
/* Tells whether an option may differ between the models of model_fusion. */
bool prt_convert_is_of_model(uint32_t option);

/* ---- backend_options.c: checks --compiler_options, --popart_options, --set and the like */
poprt_status prt_convert_backend(prt_tool *tool, const prt_opts *opts);
/* Returns the value of a key of --compiler_options; NULL: not given. */
const char *prt_convert_backend_value(const prt_opts *opts, const char *key);

/* ---- backend.c: applies these options between converting and compiling */
/* Checks the names of a list of patterns (NULL: none). */
poprt_status prt_convert_patterns(const prt_tool *tool, const char *list);
poprt_status prt_convert_prepare(prt_tool *tool, const prt_opts *opts, poprt_model *model);

/* ---- convert_yaml.c */
typedef struct prt_convert_line {
    int argc;
    char **argv;
} prt_convert_line;

typedef struct prt_convert_lines {
    prt_convert_line all; /* options outside of model_fusion */
    /* For each model, the options outside and inside; the latter override the former. */
    prt_convert_line *models;
    uint32_t n_models; /* 0: the file has no model_fusion */
} prt_convert_lines;

/* Builds an argv with the options of --config_yaml before those of the command line, which override
 * them. */
poprt_status prt_convert_merge_yaml(prt_tool *tool, const prt_opts *given, int argc, char **argv,
    prt_convert_lines *out);
/* Sets "sharding_info" and "pipelining_info" of a config from --manual_sharding_config. */
poprt_status prt_convert_sharding(prt_tool *tool, const char *path, poprt_config *config);

#endif
