/* SPDX-License-Identifier: MIT */
/*
 * pass.h — definition of a pass: a row of passes.def, one source file with an exported struct of
 * hooks, and a context with its options, limits and memory.
 *
 * Rules of rewriting for all passes: inputs and outputs of the graph keep their names. A graph
 * output is not replaced by a graph input, a constant or another output (prt_pass_replace refuses
 * that). Ops stay in topological order. Interior values of a pattern have one reader and are not
 * graph outputs.
 */
#ifndef PRT_PASS_ENGINE_PASS_H
#define PRT_PASS_ENGINE_PASS_H

#include "base/json.h"
#include "ir/build.h"

typedef struct prt_pass prt_pass;
struct prt_chooser;
typedef struct prt_rewrite prt_rewrite;

typedef enum prt_pass_kind {
    PRT_PASS_graph,   /* `run` is called for the main graph and each region, outer ones first */
    PRT_PASS_module,  /* `run` is called once, with the main graph */
    PRT_PASS_pattern, /* `rewrites` run by worklist on the main graph and each region */
    PRT_PASS_check    /* as module, but does not change it */
} prt_pass_kind;

typedef enum prt_option_kind {
    PRT_OPTION_i64,
    PRT_OPTION_f64,
    PRT_OPTION_bool, /* true, false, 1, 0 */
    PRT_OPTION_text,
    PRT_OPTION_choice, /* one of the words of choices.h */
    PRT_OPTION_list,   /* texts separated by commas; blanks around them are ignored */
    PRT_OPTION_json
} prt_option_kind;

typedef struct prt_pass_option {
    const char *name;
    uint32_t kind;       /* prt_option_kind */
    const char *initial; /* the default as text */
    const char *doc;
    const char *words; /* choice: the accepted words, as in base/accepts.h; else NULL */
} prt_pass_option;

/* Constraint between two passes of one list. */
typedef enum prt_pass_relation {
    PRT_RELATION_against, /* the two exclude each other */
    PRT_RELATION_depend,  /* the other one must run earlier; it is added if it is missing */
    PRT_RELATION_before   /* this one runs earlier if both are in the list */
} prt_pass_relation;

typedef struct prt_pass_order {
    uint32_t relation; /* prt_pass_relation */
    const char *other; /* name of a pass */
} prt_pass_order;

typedef enum prt_pass_compares {
    PRT_COMPARES_NOTHING,
    PRT_COMPARES_LIST, /* the model before the whole list */
    PRT_COMPARES_STAGE /* the model before the pass's stage of the pipeline */
} prt_pass_compares;

typedef struct prt_pass_hooks {
    /* Sets *changed if it changes the graph; otherwise leaves *changed as it is. */
    poprt_status (*run)(prt_pass *p, prt_graph *graph, bool *changed);
    const prt_rewrite *rewrites; /* of patterns */
    uint32_t n_rewrites;
    uint32_t compares; /* prt_pass_compares: selects `origin`, of which the manager keeps a clone */
} prt_pass_hooks;

#define PRT_NOT_IN_REFERENCE ""

typedef struct prt_pass_def {
    const char *name; /* if the reference has this pass, exactly its name */
    uint32_t kind;    /* prt_pass_kind */
    /* release of the reference; PRT_NOT_IN_REFERENCE: it has no pass of this name */
    char since[4];
    const char *doc; /* one sentence */
    uint32_t n_options, n_orders;
    const prt_pass_option *options;
    const prt_pass_order *orders;
    const prt_pass_hooks *hooks;
} prt_pass_def;

typedef enum prt_pass_id {
#define PASS_BEGIN(id, kind, since, doc) PRT_PASS_ID_##id,
#include "pass/passes.def"
    PRT_PASS_COUNT
} prt_pass_id;

/* One argument of a pass; key and value are text. */
typedef struct prt_pass_arg {
    const char *key, *value;
} prt_pass_arg;

/* Limits of constant evaluation; 0: no limit, or that of the pass. */
typedef struct prt_pass_limits {
    uint64_t fold_bytes; /* bytes of all constants that one run of a pass makes */
    uint64_t fold_steps; /* of operators whose time is not linear, in a run; see fold/work.h */
    uint64_t fold_ns;    /* nanoseconds of evaluation; a limit makes results machine-dependent */
} prt_pass_limits;

typedef enum prt_pass_level { PRT_PASS_PRINTS, PRT_PASS_WARNS, PRT_PASS_NOTES } prt_pass_level;

struct prt_pass {
    const prt_pass_def *def;
    prt_module *module;
    prt_arena *arena; /* released after the pass */
    prt_pass_limits limits;
    uint32_t n_args;
    const prt_pass_arg *args;              /* checked against the options of `def` */
    const struct prt_chooser *chooser;     /* candidates.h; NULL: rules decide */
    const prt_module *origin;              /* the model to compare with; see prt_pass_hooks */
    const struct prt_feed *feed;           /* precision/feed.h; NULL: generated data */
    const struct prt_popart_set *patterns; /* popart.h; NULL: all are on */
    uint64_t spent, budget; /* bytes of constants made, and their limit; see prt_pass_reserve */
    void *memo;             /* state of the rewrites between matches, in `arena`; NULL at first */
    uint64_t began, grown;  /* bytes of constants at first, and their growth; see prt_pass_constants
                               and layout/conv_algorithm.h */
    bool (*cancelled)(void *user);
    bool (*progress)(void *user, const char *stage, uint64_t done, uint64_t total);
    void (*report)(void *user, prt_pass_level level, const char *pass, const char *subject,
        const char *message);
    void *cancel_user, *report_user;
};

/* ---- registry.c: passes in alphabetical order; NULL past the end or for an unknown name */
const prt_pass_def *prt_pass_of(uint32_t index);
const prt_pass_def *prt_pass_find(const char *name);
/* Returns the largest deviation of results that the pass may cause, as a share of the largest
 * element; 0: none. If prt_pass_typical is not 0, this is the largest deviation measured, not a
 * bound. */
double prt_pass_bound(const prt_pass_def *def);
/* Returns the median deviation over the trained models of bench/CALIBRATION.md, for passes that
 * round to fewer bits and have no bound; 0 for other passes. */
double prt_pass_typical(const prt_pass_def *def);

/* A row of a pipeline; see pipelines.def. Passes with the same `loop` (not 0) are consecutive and
 * are repeated until none changes anything, at most `times` times. */
typedef enum prt_pipeline_kind {
    PRT_STEP_STAGE,
    PRT_STEP_PASS,
    PRT_STEP_WHEN,
    PRT_STEP_UNLESS,
    PRT_STEP_WITH,
    PRT_STEP_FROM_SETTING,
    PRT_STEP_FROM_OBJECT,
    PRT_STEP_INSERT
} prt_pipeline_kind;

typedef struct prt_pipeline_step {
    uint32_t kind; /* prt_pipeline_kind */
    uint32_t pass; /* prt_pass_id */
    uint32_t loop, times;
    const char *key, *value;
} prt_pipeline_step;

typedef struct prt_pipeline {
    const char *name, *doc;
    uint32_t n_steps;
    const prt_pipeline_step *steps;
} prt_pipeline;

const prt_pipeline *prt_pipeline_of(uint32_t index);
const prt_pipeline *prt_pipeline_find(const char *name);

/* Fail with POPRT_E_NOT_FOUND; the message names the nearest passes or pipelines. */
poprt_status prt_pass_unknown(const char *name);
poprt_status prt_pipeline_unknown(const char *name);

/* ---- pass.c: functions for passes */

/* Checks the keys and the values of arguments against the options of `def`. */
poprt_status prt_pass_check_args(const prt_pass_def *def, uint32_t n_args,
    const prt_pass_arg *args);

/* Return the value of an option, or its default. `def` must have an option of this name and
 * kind. */
const char *prt_pass_text(const prt_pass *p, const char *name);
int64_t prt_pass_i64(const prt_pass *p, const char *name);
double prt_pass_f64(const prt_pass *p, const char *name);
bool prt_pass_bool(const prt_pass *p, const char *name);
/* Returns the number of the chosen word: a member of the enum in choices.h. */
int prt_pass_choice(const prt_pass *p, const char *name);
/* Returns the items of a list option in order. *cursor is NULL at first; false after the last item.
 * The text of an item is not zero-terminated. */
bool prt_pass_next(const prt_pass *p, const char *name, const char **cursor, prt_str *item);
/* Parses a json option into the pass's arena; *out is NULL if the option is empty. */
poprt_status prt_pass_json(const prt_pass *p, const char *name, prt_json **out);
/* Returns whether a list option has this item. */
bool prt_pass_lists(const prt_pass *p, const char *name, prt_str item);

/* Fails with POPRT_E_CANCELLED if the caller wants to stop. Passes call it about once for each
 * op. */
poprt_status prt_pass_check(const prt_pass *p);
/* Like prt_pass_check, and reports that `done` of `total` steps of `stage` are done. */
poprt_status prt_pass_progress(const prt_pass *p, const char *stage, uint64_t done, uint64_t total);
void prt_pass_warn(const prt_pass *p, const char *subject, const char *fmt, ...) PRT_PRINTF(3, 4);
/* Logs at INFO a finding or an action of the pass that cannot be seen in the graph. */
void prt_pass_note(const prt_pass *p, const char *subject, const char *fmt, ...) PRT_PRINTF(3, 4);
/* Prints a line of text that is the purpose of the pass. */
void prt_pass_print(const prt_pass *p, const char *fmt, ...) PRT_PRINTF(2, 3);

/* Runs the hooks of this pass, or of another pass by name with its default options, on the
 * module. */
poprt_status prt_pass_run_hooks(prt_pass *p, bool *changed);
poprt_status prt_pass_run_other(const prt_pass *p, const char *name, bool *changed);

/* Calls `visit` for a graph and its regions, outer ones first. `visit` may edit its graph. */
poprt_status prt_pass_each_graph(prt_pass *p, prt_graph *graph,
    poprt_status (*visit)(prt_pass *p, prt_graph *graph, bool *changed), bool *changed);

/* Returns the bytes of all constants that had a reader when this was first called. */
uint64_t prt_pass_constants(prt_pass *p);

/* Adds `size` to the bytes of constants the pass has derived from others. Returns false if the sum
 * would exceed twice the size of the model's constants plus 1 MiB. This ends passes that derive
 * constants from derived constants repeatedly. */
bool prt_pass_reserve(prt_pass *p, size_t size);

/* Makes a constant derived from `old`, with a name derived from its name. Takes ownership of the
 * blob. Returns NULL after a failure. */
prt_value *prt_pass_derive(prt_graph *graph, const prt_value *old, const prt_type *type,
    prt_blob *blob);

/* Returns whether every use of `from` may be replaced by `to`. It may not if a graph output would
 * become a graph input, a constant, a value of another graph, or another output. */
bool prt_pass_may_replace(const prt_value *from, const prt_value *to);

/* Replaces every use of `from` by `to` if prt_pass_may_replace allows it. `to` gets the known type
 * of `from`, and its name if `from` is an output; ops without readers are erased. Returns false if
 * nothing was done. */
bool prt_pass_replace(prt_build *b, prt_value *from, prt_value *to);

#endif
