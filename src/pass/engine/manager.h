/* SPDX-License-Identifier: MIT */
/*
 * manager.h — a list of passes with their options, run in order on a module.
 */
#ifndef PRT_PASS_ENGINE_MANAGER_H
#define PRT_PASS_ENGINE_MANAGER_H

#include "pass/engine/pass.h"

typedef struct prt_pass_manager prt_pass_manager;

/* What a pass did. Texts are NULL unless they were asked for; all is valid during the call. */
typedef struct prt_pass_event {
    const char *pass;
    const char *stage; /* of a pipeline; "" outside */
    double ms;
    bool changed;
    uint32_t ops_before, ops_after; /* regions included */
    const char *before, *after;
} prt_pass_event;

typedef struct prt_pass_observer {
    void *user;
    void (*done)(void *user, const prt_pass_event *event); /* may be NULL */
    /* Whether the graph's text before and after this pass is wanted; may be NULL. */
    bool (*wants_text)(void *user, const char *pass);
    void (*say)(void *user, prt_pass_level level, const char *pass, const char *subject,
        const char *message);      /* as in prt_pass; may be NULL */
    bool (*cancelled)(void *user); /* may be NULL; true: stop */
    /* Steps of a stage inside one pass, such as calibration; NULL: `cancelled` is asked instead;
     * true: stop. */
    bool (*progress)(void *user, const char *stage, uint64_t done, uint64_t total);
} prt_pass_observer;

poprt_status prt_pass_manager_create(const prt_allocator *allocator, prt_pass_manager **out);
void prt_pass_manager_release(prt_pass_manager *pm); /* takes NULL */

/* Appends a pass; arguments are copied and checked. POPRT_E_NOT_FOUND names the nearest passes. */
poprt_status prt_pass_manager_add(prt_pass_manager *pm, const char *pass, uint32_t n_args,
    const prt_pass_arg *args);

/* Text of a setting, by key; NULL: it is not set. */
typedef struct prt_pass_settings {
    void *user;
    const char *(*get)(void *user, const char *key);
} prt_pass_settings;

/* Appends a named list as settings (NULL: none) make it. Passes that prt_pass_manager_skip was
 * given before are left out. */
poprt_status prt_pass_manager_add_pipeline(prt_pass_manager *pm, const char *pipeline,
    const prt_pass_settings *settings);
poprt_status prt_pass_manager_skip(prt_pass_manager *pm, const char *pass);
/* The same for names with commas or blanks between. */
poprt_status prt_pass_manager_skip_all(prt_pass_manager *pm, const char *names);

/* A row of no table that names in the lists may mean from now on. It outlives the manager. */
poprt_status prt_pass_manager_know(prt_pass_manager *pm, const prt_pass_def *def);

/* A row by name: of those it knows, then of passes.def; NULL when there is none. */
const prt_pass_def *prt_pass_manager_find(const prt_pass_manager *pm, const char *name);

/* An argument for every pass of the list so far that has this option. */
poprt_status prt_pass_manager_set(prt_pass_manager *pm, const char *key, const char *value);

/* The pass at `index` of the list; NULL past the end. */
const prt_pass_def *prt_pass_manager_at(const prt_pass_manager *pm, size_t index);

void prt_pass_manager_observe(prt_pass_manager *pm, const prt_pass_observer *observer); /* copied */
/* Asked where a pass has several ways to compute the same; it outlives the manager. NULL, the
 * default: rules decide, and the same model gives the same result on every machine. */
void prt_pass_manager_choose(prt_pass_manager *pm, const struct prt_chooser *chooser);
void prt_pass_manager_limit(prt_pass_manager *pm, const prt_pass_limits *limits);

/* What passes that compare the model with how it was take as the model before, and as data for
 * running both; both outlive the manager. NULL, the defaults: what the list starts with, a clone of
 * which is kept while such a pass is in the list, and made-up data. */
struct prt_feed;
void prt_pass_manager_compare(prt_pass_manager *pm, const prt_module *origin,
    const struct prt_feed *feed);

/* Puts the list into an order that the rows' ORDERs allow, with as little change as possible, and
 * adds passes that others depend on. POPRT_E_ARG names passes that exclude each other, or that
 * wait for each other. Running does this first. */
poprt_status prt_pass_manager_sort(prt_pass_manager *pm);

/* From the next run on, graph and pattern passes of the registry that follow each other and have no
 * arguments run as one apply_ir_pass. */
void prt_pass_manager_gather(prt_pass_manager *pm, bool on);

/* Runs the list. `changed` may be NULL. After a failure the module is valid, partly rewritten. */
poprt_status prt_pass_manager_run(prt_pass_manager *pm, prt_module *module, bool *changed);

#endif
