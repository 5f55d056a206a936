/* SPDX-License-Identifier: MIT */
/*
 * pass.h — what a pass is: a row of passes.def, one file with one exported struct of hooks, and a
 * context that carries its options, limits and memory.
 *
 * General rules of rewriting, for all passes: inputs and outputs of the graph keep their names; an
 * output is not rewired to a graph input, a constant or a value that is an output already
 * (prt_pass_replace says no); ops stay in topological order; interior values of a pattern have one
 * reader and are no outputs.
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
    PRT_PASS_check    /* as module, but looks only */
} prt_pass_kind;

typedef enum prt_option_kind {
    PRT_OPTION_i64,
    PRT_OPTION_f64,
    PRT_OPTION_bool, /* true, false, 1, 0 */
    PRT_OPTION_text,
    PRT_OPTION_list, /* texts set apart by commas; blanks around them do not count */
    PRT_OPTION_json
} prt_option_kind;

typedef struct prt_pass_option {
    const char *name;
    uint32_t kind;       /* prt_option_kind */
    const char *initial; /* the default as text */
    const char *doc;
} prt_pass_option;

/* How a pass stands to another one in one list. */
typedef enum prt_pass_relation {
    PRT_RELATION_against, /* not both */
    PRT_RELATION_depend,  /* the other one has to run earlier; it is added where it is missing */
    PRT_RELATION_before   /* this one runs earlier, where both are there */
} prt_pass_relation;

typedef struct prt_pass_order {
    uint32_t relation; /* prt_pass_relation */
    const char *other; /* name of a pass */
} prt_pass_order;

typedef enum prt_pass_compares {
    PRT_COMPARES_NOTHING,
    PRT_COMPARES_LIST, /* the model before the whole list */
    PRT_COMPARES_STAGE /* the model before the stage of the pipeline that the pass is in */
} prt_pass_compares;

typedef struct prt_pass_hooks {
    /* Sets *changed when the graph is another one afterwards; leaves it alone otherwise. */
    poprt_status (*run)(prt_pass *p, prt_graph *graph, bool *changed);
    const prt_rewrite *rewrites; /* of patterns */
    uint32_t n_rewrites;
    uint32_t compares; /* prt_pass_compares: what `origin` is; the manager keeps a clone of that */
} prt_pass_hooks;

#define PRT_OURS ""

typedef struct prt_pass_def {
    const char *name;  /* the reference's, exactly */
    uint32_t kind;     /* prt_pass_kind */
    const char *since; /* release of the reference; PRT_OURS: it has none of this name */
    const char *doc;   /* one sentence */
    uint32_t n_options, n_orders;
    const prt_pass_option *options;
    const prt_pass_order *orders;
    const prt_pass_hooks *hooks;
} prt_pass_def;

typedef enum prt_pass_id {
#define PASS_BEGIN(id, kind, since, doc) PRT_PASS_ID_##id,
#define OPTION(id, kind, name, initial, doc)
#define ORDER(id, relation, other)
#define BOUND(id, relative)
#define PASS_END(id)
#include "pass/passes.def"
#undef PASS_BEGIN
#undef OPTION
#undef ORDER
#undef BOUND
#undef PASS_END
    PRT_PASS_COUNT
} prt_pass_id;

/* One argument: both are text. */
typedef struct prt_pass_arg {
    const char *key, *value;
} prt_pass_arg;

/* What evaluating constants may cost. 0: no limit. */
typedef struct prt_pass_limits {
    uint64_t fold_bytes; /* of all constants one run of a pass makes */
    uint64_t fold_ns;    /* time a pass may evaluate; results then depend on the machine */
} prt_pass_limits;

typedef enum prt_pass_level { PRT_PASS_PRINTS, PRT_PASS_WARNS, PRT_PASS_NOTES } prt_pass_level;

struct prt_pass {
    const prt_pass_def *def;
    prt_module *module;
    prt_arena *arena; /* dies after the pass */
    prt_pass_limits limits;
    uint32_t n_args;
    const prt_pass_arg *args;          /* checked against the row */
    const struct prt_chooser *chooser; /* choice.h; NULL: rules decide */
    const prt_module *origin;          /* the model before; see prt_pass_hooks */
    const struct prt_feed *feed;       /* precision/feed.h; NULL: made-up data */
    uint64_t spent, purse; /* bytes of constants made, and that may be; see prt_pass_afford */
    void *memo; /* what rewrites remember from match to match, in `arena`; NULL at first */
    uint64_t began, grown; /* bytes of constants at first, and by how many they have grown; as
                              prt_pass_constants and layout/ways.h have it */
    bool (*cancelled)(void *user);
    bool (*progress)(void *user, const char *stage, uint64_t done, uint64_t total);
    void (*say)(void *user, prt_pass_level level, const char *pass, const char *subject,
        const char *message);
    void *cancel_user, *say_user;
};

/* ---- registry.c: in alphabetical order; NULL past the end or when there is no such name */
const prt_pass_def *prt_pass_of(uint32_t index);
const prt_pass_def *prt_pass_find(const char *name);
/* How far results may move with it, as a share of the largest element; 0: not at all. Where
 * prt_pass_typical is not 0, this is no bound but the largest share measured. */
double prt_pass_bound(const prt_pass_def *def);
/* The share in the median of the trained models of bench/CALIBRATION.md, for passes that round to
 * fewer bits, whose results nothing bounds; 0 for others. */
double prt_pass_typical(const prt_pass_def *def);

/* A row of a named list; see pipelines.def. Passes of one `loop` (not 0) follow each other and are
 * repeated until none changes anything, at most `times` times. */
typedef enum prt_pipeline_kind {
    PRT_STEP_STAGE,
    PRT_STEP_PASS,
    PRT_STEP_WHEN,
    PRT_STEP_UNLESS,
    PRT_STEP_WITH,
    PRT_STEP_GIVE,
    PRT_STEP_SPREAD,
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

/* POPRT_E_NOT_FOUND for a pass or pipeline, naming the nearest ones. */
poprt_status prt_pass_unknown(const char *name);
poprt_status prt_pipeline_unknown(const char *name);

/* ---- pass.c: for use inside passes */

/* Arguments against the row: known keys, values of their kind. */
poprt_status prt_pass_check_args(const prt_pass_def *def, uint32_t n_args,
    const prt_pass_arg *args);

/* Options by name, defaults included; the row must have them with this kind. */
const char *prt_pass_text(const prt_pass *p, const char *name);
int64_t prt_pass_i64(const prt_pass *p, const char *name);
double prt_pass_f64(const prt_pass *p, const char *name);
bool prt_pass_bool(const prt_pass *p, const char *name);
/* The items of a list option in order: *cursor is NULL at first; false after the last. The text of
 * an item is not ended by a zero. */
bool prt_pass_next(const prt_pass *p, const char *name, const char **cursor, prt_str *item);
/* A json option as a tree in the pass's arena; NULL when it is empty. */
poprt_status prt_pass_json(const prt_pass *p, const char *name, prt_json **out);
/* Whether a list option has this item. */
bool prt_pass_lists(const prt_pass *p, const char *name, prt_str item);

/* POPRT_E_CANCELLED when the caller wants to stop. To be asked once an op or so. */
poprt_status prt_pass_check(const prt_pass *p);
/* The same, and tells the caller that `done` of `total` steps of `stage` are done. */
poprt_status prt_pass_progress(const prt_pass *p, const char *stage, uint64_t done, uint64_t total);
void prt_pass_warn(const prt_pass *p, const char *subject, const char *fmt, ...) PRT_PRINTF(3, 4);
/* At INFO: what a pass found or did that cannot be seen in the graph. */
void prt_pass_note(const prt_pass *p, const char *subject, const char *fmt, ...) PRT_PRINTF(3, 4);
/* A line of text that the pass was run for. */
void prt_pass_print(const prt_pass *p, const char *fmt, ...) PRT_PRINTF(2, 3);

/* Runs the hooks of this pass, or of another one by name with its defaults, on the module. */
poprt_status prt_pass_run_hooks(prt_pass *p, bool *changed);
poprt_status prt_pass_run_other(const prt_pass *p, const char *name, bool *changed);

/* Calls `visit` for a graph and its regions, outer ones first. The visited graph may be edited. */
poprt_status prt_pass_each_graph(prt_pass *p, prt_graph *graph,
    poprt_status (*visit)(prt_pass *p, prt_graph *graph, bool *changed), bool *changed);

/* Bytes of all constants that somebody reads, when this was first asked. */
uint64_t prt_pass_constants(prt_pass *p);

/* Counts bytes of a constant that is to be made from others. False: all together would be more than
 * twice what the model has, so constants are made of constants made before, over and over. */
bool prt_pass_afford(prt_pass *p, size_t size);

/* A constant made from `old`, with a name that tells so; takes over the blob. NULL: refused. */
prt_value *prt_pass_derive(prt_graph *graph, const prt_value *old, const prt_type *type,
    prt_blob *blob);

/* May every use of `from` become one of `to`? Not when that would make an output of the graph out
 * of an input, a constant, a value from outside, or an output of another name. */
bool prt_pass_may_replace(const prt_value *from, const prt_value *to);

/* Does it, if it may: `to` learns what is known of from's type, takes its name when `from` is an
 * output, and ops that nobody reads any more are erased. False: nothing was done. */
bool prt_pass_replace(prt_build *b, prt_value *from, prt_value *to);

#endif
