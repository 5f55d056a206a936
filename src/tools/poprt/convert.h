/* SPDX-License-Identifier: MIT */
/* convert.h — the main command line, shared by the files that carry it out. */
#ifndef PRT_TOOLS_POPRT_CONVERT_H
#define PRT_TOOLS_POPRT_CONVERT_H

#include "tools/common/tool.h"

enum {
#define OPT(id, name, letter, arity, value, takes, accepts, use, help) OPT_##id,
#include "tools/poprt/convert.def"
#undef OPT
    OPT_COUNT
};

/* How an option of the command line becomes one of a config. */
enum prt_convert_use {
    PRT_USE_TOOL,   /* the tool itself does it, once for all models of model_fusion */
    PRT_USE_MODEL,  /* the tool itself does it for each of them; so do passes all that follow */
    PRT_USE_NOTE,   /* no effect on a CPU */
    PRT_USE_SWITCH, /* "true" */
    PRT_USE_TEXT,   /* the last value */
    PRT_USE_SHAPES, /* NAME=D0,D1 … as a JSON object of arrays */
    PRT_USE_PAIRS,  /* KEY=VALUE … as a JSON object of texts, cut at the last '=' */
    PRT_USE_KEYS,   /* the same, cut at the first '=' */
    PRT_USE_GROUPS  /* TYPE,[DIMS],NUMBER … as a JSON array of arrays */
};

extern const prt_opt_command prt_convert_command;

/* Options of a command line: of one model, or of all and of each. */
typedef struct prt_convert_job {
    prt_opts opts;
    prt_opts *models; /* of --config_yaml's model_fusion, with what holds for all */
    uint32_t n_models;
} prt_convert_job;

/* ---- convert.c */
/* The model of --input_model, and its path. */
poprt_status prt_convert_load(prt_tool *tool, const prt_opts *opts, const char **input,
    poprt_model **model);
/* The main list of passes, as the options make it, and one pass alone. */
poprt_status prt_convert_run(prt_tool *tool, const prt_opts *opts, const poprt_config *config,
    poprt_model *model);
poprt_status prt_convert_pass(prt_tool *tool, const char *pass, const poprt_config *config,
    poprt_model *model);
/* What the options say of shapes, alone. */
poprt_status prt_convert_shapes(prt_tool *tool, const prt_opts *opts, const poprt_config *config,
    poprt_model *model);
poprt_status prt_convert_show(const poprt_model *model);

/* ---- convert_fusion.c: all models of the job as one */
poprt_status prt_convert_fuse(prt_tool *tool, const prt_convert_job *job);

/* ---- convert_output.c */
/* Writes ONNX into the output directory; `usual` is its name unless there is --output_model. */
poprt_status prt_convert_save(prt_tool *tool, const prt_opts *opts, const char *usual,
    const poprt_model *model);
/* Compiles; writes PopEF and runs, where that is asked for. */
poprt_status prt_convert_compile(prt_tool *tool, const prt_opts *opts, poprt_model *model);

/* ---- convert_config.c */
/* The config of a conversion whose files go to `dir` (NULL: the default); says at INFO what has no
 * effect. */
poprt_status prt_convert_config(prt_tool *tool, const prt_opts *opts, const char *dir,
    poprt_config **out);
/* An option may differ from one model of model_fusion to the next. */
bool prt_convert_is_of_model(uint32_t option);

/* ---- backend_options.c: --compiler_options, --popart_options, --set and the like, checked */
poprt_status prt_convert_backend(prt_tool *tool, const prt_opts *opts);
/* Value of a key of --compiler_options; NULL when it was not given. */
const char *prt_convert_backend_value(const prt_opts *opts, const char *key);

/* ---- backend.c: what they ask for, between converting and compiling */
/* Checks the names of a list of patterns (NULL: none). */
poprt_status prt_convert_patterns(const prt_tool *tool, const char *list);
poprt_status prt_convert_prepare(prt_tool *tool, const prt_opts *opts, poprt_model *model);

/* ---- convert_yaml.c */
typedef struct prt_convert_line {
    int argc;
    char **argv;
} prt_convert_line;

typedef struct prt_convert_lines {
    prt_convert_line all;     /* what stands outside of model_fusion */
    prt_convert_line *models; /* that and what stands inside, which counts more */
    uint32_t n_models;        /* 0: the file has no model_fusion */
} prt_convert_lines;

/* argv with the options of --config_yaml before those of the command line, which count more. */
poprt_status prt_convert_merge_yaml(prt_tool *tool, const prt_opts *given, int argc, char **argv,
    prt_convert_lines *out);
/* --manual_sharding_config as the config's "sharding_info" and "pipelining_info". */
poprt_status prt_convert_sharding(prt_tool *tool, const char *path, poprt_config *config);

/* ---- completion.c: from the tables */
void prt_convert_put_completion(const char *shell);
void prt_convert_put_man(void);

#endif
