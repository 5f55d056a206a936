/* SPDX-License-Identifier: MIT */
/*
 * manager.h — the pass manager: a list of passes with options that runs on a module in order.
 */
#ifndef PRT_PASS_ENGINE_MANAGER_H
#define PRT_PASS_ENGINE_MANAGER_H

#include "pass/engine/pass.h"

typedef struct prt_pass_manager prt_pass_manager;

/* Report about one pass. `before` and `after` are NULL unless `wants_text` asked for them; all
 * pointers are valid during the call. */
typedef struct prt_pass_event {
    const char *pass;
    const char *stage; /* stage of a pipeline; "" outside of one */
    double ms;
    bool changed;
    uint32_t ops_before, ops_after; /* regions included */
    const char *before, *after;
} prt_pass_event;

typedef struct prt_pass_observer {
    void *user;
    void (*done)(void *user, const prt_pass_event *event); /* may be NULL */
    /* Returns whether `done` needs the graph's text before and after this pass; may be NULL. */
    bool (*wants_text)(void *user, const char *pass);
    void (*report)(void *user, prt_pass_level level, const char *pass, const char *subject,
        const char *message);      /* as in prt_pass; may be NULL */
    bool (*cancelled)(void *user); /* may be NULL; returns true to stop */
    /* Reports steps of a stage inside one pass, such as calibration, and returns true to stop. If
     * it is NULL, `cancelled` is called instead. */
    bool (*progress)(void *user, const char *stage, uint64_t done, uint64_t total);
} prt_pass_observer;

poprt_status prt_pass_manager_create(const prt_allocator *allocator, prt_pass_manager **out);
void prt_pass_manager_release(prt_pass_manager *pm); /* NULL is allowed */

/* Appends a pass with copies of its arguments, which are checked. Fails with POPRT_E_NOT_FOUND for
 * an unknown pass; the message names the nearest passes. */
poprt_status prt_pass_manager_add(prt_pass_manager *pm, const char *pass, uint32_t n_args,
    const prt_pass_arg *args);

/* Settings by key; `get` returns the text of a setting, or NULL if it is not set. */
typedef struct prt_pass_settings {
    void *user;
    const char *(*get)(void *user, const char *key);
} prt_pass_settings;

/* Appends the passes of a named pipeline as `settings` (NULL: no settings) selects them. Leaves out
 * passes for which prt_pass_manager_skip was called before. */
poprt_status prt_pass_manager_add_pipeline(prt_pass_manager *pm, const char *pipeline,
    const prt_pass_settings *settings);
poprt_status prt_pass_manager_skip(prt_pass_manager *pm, const char *pass);
/* Skips every pass of `names`, which are separated by commas or blanks. */
poprt_status prt_pass_manager_skip_all(prt_pass_manager *pm, const char *names);

/* Sets the patterns of PopART that are on: pipelines that are added later leave out the passes of
 * the others. Copied. */
void prt_pass_manager_set_patterns(prt_pass_manager *pm, const struct prt_popart_set *patterns);

/* Registers a pass that is not in passes.def, such as one of a plug-in. `def` must outlive the
 * manager. Fails with POPRT_E_ARG if its name is registered already. */
poprt_status prt_pass_manager_register(prt_pass_manager *pm, const prt_pass_def *def);

/* Finds a pass by name: first among the passes registered with prt_pass_manager_register, then in
 * passes.def. Returns NULL if there is none. */
const prt_pass_def *prt_pass_manager_find(const prt_pass_manager *pm, const char *name);

/* Sets an argument of every pass in the list that has an option `key`. */
poprt_status prt_pass_manager_set(prt_pass_manager *pm, const char *key, const char *value);

/* Returns the pass at `index` of the list; NULL past the end. */
const prt_pass_def *prt_pass_manager_at(const prt_pass_manager *pm, size_t index);

void prt_pass_manager_set_observer(prt_pass_manager *pm,
    const prt_pass_observer *observer); /* copied */
/* Sets the autotuner that is called where a pass has several candidates; it must outlive the
 * manager. With NULL, the default, rules decide, and the same model gives the same result on every
 * machine. */
void prt_pass_manager_set_chooser(prt_pass_manager *pm, const struct prt_chooser *chooser);
void prt_pass_manager_set_limits(prt_pass_manager *pm, const prt_pass_limits *limits);

/* Sets the reference model and the input data of passes that compare results. Both must outlive the
 * manager. If `origin` is NULL, the module at the start of the list is the reference, and a clone
 * of it is kept while such a pass is in the list. If `feed` is NULL, the data is generated. */
struct prt_feed;
void prt_pass_manager_set_reference(prt_pass_manager *pm, const prt_module *origin,
    const struct prt_feed *feed);

/* Sorts the list as the ORDER rows require, with as few moves as possible, and adds passes that
 * others depend on. Fails with POPRT_E_ARG, naming the passes, if two passes exclude each other or
 * the constraints form a cycle. prt_pass_manager_run does this first. */
poprt_status prt_pass_manager_sort(prt_pass_manager *pm);

/* If `on`, the following runs merge consecutive graph and pattern passes of the registry that have
 * no arguments into one apply_ir_pass. */
void prt_pass_manager_set_batching(prt_pass_manager *pm, bool on);

/* Runs the list. `changed` may be NULL. After a failure the module is valid and may be partly
 * rewritten. */
poprt_status prt_pass_manager_run(prt_pass_manager *pm, prt_module *module, bool *changed);

#endif
