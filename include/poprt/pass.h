/* SPDX-License-Identifier: MIT */
/*
 * poprt/pass.h — passes and the manager that runs them on a model. Names are the reference's.
 * One thread at a time may use a manager.
 */
#ifndef POPRT_PASS_H
#define POPRT_PASS_H

#include "poprt/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_pass_manager poprt_pass_manager;

/* What a pass did. Strings are valid during the call. */
typedef struct poprt_pass_event {
    size_t struct_size;
    const char *pass;
    const char *stage; /* of a pipeline: "model", "operators", …; "" outside */
    double ms;
    int32_t changed; /* 1 when the graph is another one now */
    uint32_t nodes_before, nodes_after;
    uint32_t reserved;
    const char *before, *after; /* the graph as text, where it was asked for; else NULL */
} poprt_pass_event;

/* Called after each pass, on the thread that runs the manager. */
typedef void (*poprt_pass_fn)(void *user, const poprt_pass_event *event);

/* A registered pass. Strings are static. */
typedef struct poprt_pass_info {
    size_t struct_size; /* set by the caller */
    const char *name;
    const char *help;  /* one sentence */
    const char *since; /* release of PopRT that has a pass of this name; "": it is ours alone */
    double bound; /* how far results may move, as a share of the largest element; 0: not at all */
    /* Not 0: the pass rounds numbers to fewer bits, and nothing bounds what that does to results.
     * Then this is the share in the median of the trained models that it was measured on, and
     * `bound` the largest share, which other models may exceed. */
    double typical;
} poprt_pass_info;

/* Registered passes by index, in alphabetical order; POPRT_E_NOT_FOUND past the end. */
POPRT_API poprt_status poprt_pass_at(size_t index, poprt_pass_info *out);

/* The passes that plug-ins of an environment brought, in the order they came; likewise. Nothing is
 * known of how far they move results: `bound` is 0. */
POPRT_API poprt_status poprt_env_pass_at(poprt_env *env, size_t index, poprt_pass_info *out);

/* An option of a pass. Strings are static. */
typedef struct poprt_pass_option_info {
    size_t struct_size; /* set by the caller */
    const char *name;
    const char *kind;          /* "i64", "f64", "bool", "text", "list" (commas between), "json" */
    const char *default_value; /* as text */
    const char *help;
} poprt_pass_option_info;

/* Options of a pass by index; POPRT_E_NOT_FOUND past the end, or when there is no such pass. */
POPRT_API poprt_status poprt_pass_option_at(const char *pass, size_t index,
    poprt_pass_option_info *out);

POPRT_API poprt_status poprt_pass_manager_create(poprt_env *env, poprt_pass_manager **out);

/* Appends a pass; of `args` (may be NULL) it gets the options that have a name of its own. An
 * unknown name is POPRT_E_NOT_FOUND with the nearest names. */
POPRT_API poprt_status poprt_pass_manager_add(poprt_pass_manager *manager, const char *pass,
    const poprt_config *args);

/* One argument of a pass, both as text; copied. */
typedef struct poprt_pass_arg {
    const char *key, *value;
} poprt_pass_arg;

/* Appends a pass with these of its options; POPRT_E_ARG when it has no such option, or the value is
 * not of its kind. */
POPRT_API poprt_status poprt_pass_manager_add_args(poprt_pass_manager *manager, const char *pass,
    const poprt_pass_arg *args, size_t count);

/*
 * Appends the passes of a named list: "convert", all that a model goes through between reading and
 * writing, as the options of `config` whose help begins with "Converting" make it (NULL: defaults).
 */
POPRT_API poprt_status poprt_pass_manager_add_pipeline(poprt_pass_manager *manager,
    const char *pipeline, const poprt_config *config);

/* `fn` may be NULL to stop observing. */
POPRT_API void poprt_pass_manager_observe(poprt_pass_manager *manager, poprt_pass_fn fn,
    void *user);

/* Events of this pass ("": of every one) bring the graph before and after as text, in the form of
 * poprt_model_describe's POPRT_FORMAT_TEXT; NULL: of none, which is the default. */
POPRT_API poprt_status poprt_pass_manager_show(poprt_pass_manager *manager, const char *pass);

/* The pass at a place of the list; POPRT_E_NOT_FOUND past its end. */
POPRT_API poprt_status poprt_pass_manager_at(const poprt_pass_manager *manager, size_t index,
    poprt_pass_info *out);

/* Puts the list into an order that passes ask for (against, depend, before), with as little change
 * as possible, and adds those that others depend on. POPRT_E_ARG names passes that exclude each
 * other or go round in a circle. Running does it first. */
POPRT_API poprt_status poprt_pass_manager_sort(poprt_pass_manager *manager);

/* PopRT's gather_ir_passes: with `on` not 0, passes that only rewrite graphs, have no arguments and
 * follow each other are gathered when the list runs, and are one event: "apply_ir_pass". */
POPRT_API poprt_status poprt_pass_manager_gather_ir_passes(poprt_pass_manager *manager, int32_t on);

/*
 * Runs the passes in order, on the main graph and all sub-graphs. After a failure the model is
 * valid but partly rewritten; clone it first where that matters.
 */
POPRT_API poprt_status poprt_pass_manager_run(poprt_pass_manager *manager, poprt_model *model);

POPRT_API void poprt_pass_manager_release(poprt_pass_manager *manager);

#ifdef __cplusplus
}
#endif
#endif
