/* SPDX-License-Identifier: MIT */
/*
 * tune.h — autotuning. The candidates that a pass offers (pass/engine/candidates.h) are run with
 * cold caches, round after round, and a candidate that wins by a margin is selected. Results are
 * stored by machine in a file, if the options name one.
 */
#ifndef PRT_COMPILER_TUNE_H
#define PRT_COMPILER_TUNE_H

#include "par/pool.h"
#include "pass/engine/candidates.h"

typedef enum prt_tune_mode {
    PRT_TUNE_fast, /* only choices that are close by the pass's rule, for at most two seconds */
    PRT_TUNE_full  /* every choice */
} prt_tune_mode;

/* One run of a candidate. */
typedef struct prt_tune_sample {
    uint64_t ns;   /* time of the candidate */
    uint64_t cost; /* total time including its preparation, in ns */
} prt_tune_sample;

/* The stopwatch: begin, then run in any order, then end, even if begin fails. */
typedef struct prt_tune_watch {
    void *user;
    poprt_status (*begin)(void *user, const prt_candidates *c);
    poprt_status (*run)(void *user, uint32_t candidate, prt_tune_sample *lap);
    void (*end)(void *user);
} prt_tune_watch;

typedef struct prt_tune_options {
    const prt_allocator *allocator;
    prt_tune_mode mode;
    const char *machine; /* a word; results are valid for this machine only */
    const char *cache;   /* path; "": no cache */
    const prt_tune_watch *watch;
    bool (*cancelled)(void *user);                           /* may be NULL */
    void (*log)(void *user, bool warning, const char *text); /* may be NULL */
    void *user;                                              /* user pointer of both callbacks */
} prt_tune_options;

typedef struct prt_tune prt_tune;

/* Creates a tuner and reads its cache. A cache that cannot be read causes a warning. */
poprt_status prt_tune_create(const prt_tune_options *options, prt_tune **out);
void prt_tune_release(prt_tune *tune); /* NULL is allowed */

/* Returns the chooser for prt_pass_manager_set_chooser; it lives as long as `tune`. */
const prt_chooser *prt_tune_chooser(prt_tune *tune);

/* Writes new results to the cache if there is one; warns where that fails. */
void prt_tune_save(prt_tune *tune);

/* tune_watch.c: the stopwatch that runs this machine's kernels on `par`'s threads. */
poprt_status prt_tune_watch_create(const prt_allocator *allocator, size_t memory_limit,
    const prt_par *par, prt_tune_watch **out);
void prt_tune_watch_release(prt_tune_watch *watch); /* NULL is allowed */

#endif
