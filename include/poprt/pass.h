/* SPDX-License-Identifier: MIT */
/*
 * poprt/pass.h — passes, and the manager that runs them on a model. Passes have the names of
 * PopRT's passes. One thread at a time may use a manager.
 */
#ifndef POPRT_PASS_H
#define POPRT_PASS_H

#include "poprt/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_pass_manager poprt_pass_manager;

/* Report on a pass that has run. The strings are valid during the call. */
typedef struct poprt_pass_event {
    size_t struct_size;
    const char *pass;
    const char *stage; /* stage of a pipeline: "model", "operators", …; else "" */
    double ms;
    int32_t changed; /* 1: the pass changed the graph */
    uint32_t nodes_before, nodes_after;
    uint32_t reserved;
    const char *before, *after; /* graph as text, if requested; else NULL */
} poprt_pass_event;

/* Called after each pass, on the thread that runs the manager. */
typedef void (*poprt_pass_fn)(void *user, const poprt_pass_event *event);

/* A registered pass. The strings are static. */
typedef struct poprt_pass_info {
    size_t struct_size; /* set by the caller */
    const char *name;
    const char *help; /* one sentence */
    /* Release of PopRT that has a pass of this name. "": the pass exists only in libpoprt. */
    const char *since;
    /* How far results may move, as a share of the largest element. 0: results do not change. */
    double bound;
    /* Not 0: the pass rounds numbers to fewer bits, and no bound exists for its effect on results.
     * Then `typical` is the median share over the trained models on which it was measured, and
     * `bound` is the largest share among them, which other models may exceed. */
    double typical;
} poprt_pass_info;

/* Returns a registered pass by index, in alphabetical order. Fails with POPRT_E_NOT_FOUND past the
 * end. */
POPRT_API poprt_status poprt_pass_at(size_t index, poprt_pass_info *out);

/* Returns a pass of the environment's plug-ins by index, in the order of registration. Fails with
 * POPRT_E_NOT_FOUND past the end. `bound` is 0, because the effect on results is unknown. */
POPRT_API poprt_status poprt_env_pass_at(poprt_env *env, size_t index, poprt_pass_info *out);

/* An option of a pass. The strings are static. */
typedef struct poprt_pass_option_info {
    size_t struct_size; /* set by the caller */
    const char *name;
    /* "i64", "f64", "bool", "text", "list" (separated by commas) or "json". */
    const char *kind;
    const char *default_value; /* as text */
    const char *help;
} poprt_pass_option_info;

/* Returns an option of a pass by index. Fails with POPRT_E_NOT_FOUND past the end, or if no pass
 * has this name. */
POPRT_API poprt_status poprt_pass_option_at(const char *pass, size_t index,
    poprt_pass_option_info *out);

/*
 * A pattern of PopART, and the passes that stand for it. The options `patterns_level`, `patterns`,
 * `enable_patterns` and `disable_patterns` of a config switch patterns when a model is compiled,
 * and in pipelines. A pass that no pattern stands for always runs; any other runs while one of its
 * patterns is on. The attribute __exclude_patterns of a node lists patterns that leave the node as
 * it is. The strings are static.
 */
typedef struct poprt_pattern_info {
    size_t struct_size; /* set by the caller */
    const char *name;
    /* Passes, separated by commas; "share_memory": the sharing of memory by the compiler. "": the
     * pattern has no counterpart, and switching it changes nothing. */
    const char *passes;
    const char *help;  /* one sentence; without counterpart: the reason */
    int32_t initial;   /* 1: on by default */
    int32_t mandatory; /* 1: switching it off is refused, unless `pattern_asserts` is false */
} poprt_pattern_info;

/* Returns a pattern by index, in the order of PopART. Fails with POPRT_E_NOT_FOUND past the end.
 * Any thread. */
POPRT_API poprt_status poprt_pattern_at(size_t index, poprt_pattern_info *out);

/* Tells whether the options of `config` (NULL: defaults) switch a pattern on: *out is 1 or 0. Fails
 * with POPRT_E_NOT_FOUND, with the nearest names, for an unknown pattern, also in the options, and
 * with POPRT_E_ARG if the options leave out a mandatory one. Any thread. */
POPRT_API poprt_status poprt_pattern_is_enabled(const poprt_config *config, const char *name,
    int32_t *out);

POPRT_API poprt_status poprt_pass_manager_create(poprt_env *env, poprt_pass_manager **out);

/* Appends a pass. The pass receives the options of `args` (may be NULL) that have the names of its
 * own options. Fails with POPRT_E_NOT_FOUND if the name is unknown; the error names the nearest
 * names. */
POPRT_API poprt_status poprt_pass_manager_add(poprt_pass_manager *manager, const char *pass,
    const poprt_config *args);

/* An argument of a pass, as text; copied. */
typedef struct poprt_pass_arg {
    const char *key, *value;
} poprt_pass_arg;

/* Appends a pass with arguments. Fails with POPRT_E_ARG if the pass has no such option or the value
 * is not of its kind. */
POPRT_API poprt_status poprt_pass_manager_add_args(poprt_pass_manager *manager, const char *pass,
    const poprt_pass_arg *args, size_t count);

/*
 * Appends the passes of a named pipeline. The pipeline "convert" has all passes that a model goes
 * through between reading and writing. They follow the options of `config` (NULL: defaults) whose
 * help begins with "Converting" or "Compiling and converting".
 */
POPRT_API poprt_status poprt_pass_manager_add_pipeline(poprt_pass_manager *manager,
    const char *pipeline, const poprt_config *config);

/*
 * Sets what passes compare with: check_with_fake_data and layer_precision_compare compare the model
 * with `origin`, which must stay unchanged until the last run of the manager; NULL: with the model
 * before the list. `data` has samples of inputs for these passes and for the calibration of
 * float_to_fp8, in the forms of the option `data_preprocess`; NULL: made-up data. Fails with
 * POPRT_E_IO or POPRT_E_PARSE if the samples cannot be read.
 */
POPRT_API poprt_status poprt_pass_manager_set_reference(poprt_pass_manager *manager,
    const poprt_model *origin, const char *data);

/* Calls `fn` after each pass. NULL ends the calls. */
POPRT_API void poprt_pass_manager_observe(poprt_pass_manager *manager, poprt_pass_fn fn,
    void *user);

/* Requests the graph before and after a pass as text in its events, in the format POPRT_FORMAT_TEXT
 * of poprt_model_describe. "": for every pass; NULL: for no pass, the default. */
POPRT_API poprt_status poprt_pass_manager_show(poprt_pass_manager *manager, const char *pass);

/* Returns a pass of the list by index. Fails with POPRT_E_NOT_FOUND past the end. */
POPRT_API poprt_status poprt_pass_manager_at(const poprt_pass_manager *manager, size_t index,
    poprt_pass_info *out);

/* Sorts the list by the constraints of its passes (against, depend, before) with as few changes as
 * possible, and adds the passes that others depend on. Fails with POPRT_E_ARG if passes exclude
 * each other or form a cycle; the error names them. poprt_pass_manager_run sorts first. */
POPRT_API poprt_status poprt_pass_manager_sort(poprt_pass_manager *manager);

/* PopRT's gather_ir_passes. If `on` is not 0, consecutive passes that only rewrite graphs and have
 * no arguments run as one group, with one event named "apply_ir_pass". */
POPRT_API poprt_status poprt_pass_manager_gather_ir_passes(poprt_pass_manager *manager, int32_t on);

/*
 * Runs the passes in order, on the main graph and all subgraphs. After a failure the model is valid
 * but partly rewritten; clone it before if you need the original.
 */
POPRT_API poprt_status poprt_pass_manager_run(poprt_pass_manager *manager, poprt_model *model);

POPRT_API void poprt_pass_manager_release(poprt_pass_manager *manager);

#ifdef __cplusplus
}
#endif
#endif
