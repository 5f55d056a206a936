/* SPDX-License-Identifier: MIT */
/* convert.h — the main command line, shared by the files that carry it out. */
#ifndef PRT_TOOLS_CONVERT_H
#define PRT_TOOLS_CONVERT_H

#include "tools/tool.h"

enum {
#define OPT(id, name, letter, arity, value, takes, choices, use, help) OPT_##id,
#include "tools/convert.def"
#undef OPT
    OPT_COUNT
};

/* How an option of the command line becomes one of a config. */
enum prt_convert_use {
    PRT_USE_TOOL,   /* the tool itself does it */
    PRT_USE_NOTE,   /* no effect on a CPU */
    PRT_USE_SWITCH, /* "true" */
    PRT_USE_TEXT,   /* the last value */
    PRT_USE_SHAPES, /* NAME=D0,D1 … as a JSON object of arrays */
    PRT_USE_PAIRS,  /* KEY=VALUE … as a JSON object of texts, cut at the last '=' */
    PRT_USE_KEYS,   /* the same, cut at the first '=' */
    PRT_USE_GROUPS  /* TYPE,[DIMS],NUMBER … as a JSON array of arrays */
};

extern const prt_opt_command prt_convert_command;

/* ---- convert_config.c: the config of a conversion; says at INFO what has no effect */
poprt_status prt_convert_config(prt_tool *tool, const prt_opts *opts, poprt_config **out);

/* ---- backend_options.c: --compiler_options and --popart_options */
poprt_status prt_convert_backend(prt_tool *tool, const prt_opts *opts);
/* Value of a key of --compiler_options; NULL when it was not given. */
const char *prt_convert_backend_value(const prt_opts *opts, const char *key);

/* ---- backend.c: what they ask for, between converting and compiling */
poprt_status prt_convert_prepare(prt_tool *tool, const prt_opts *opts, poprt_model *model);

/* ---- convert_yaml.c */
/* argv with the options of --config_yaml before those of the command line, which count more. */
poprt_status prt_convert_merge_yaml(prt_tool *tool, const prt_opts *given, int argc, char **argv,
    int *merged_argc, char ***merged_argv);
/* --manual_sharding_config as the config's "sharding_info" and "pipelining_info". */
poprt_status prt_convert_sharding(prt_tool *tool, const char *path, poprt_config *config);

/* ---- completion.c: from the tables */
void prt_convert_put_completion(const char *shell);
void prt_convert_put_man(void);

#endif
