/* SPDX-License-Identifier: MIT */
/*
 * tune.h — forms of operators chosen by time: ways that a pass offers (pass/engine/candidates.h)
 * are run cold, round after round, and what wins by a margin is taken. Results are kept in a file,
 * by machine, where one is named.
 */
#ifndef PRT_COMPILER_TUNE_H
#define PRT_COMPILER_TUNE_H

#include "par/pool.h"
#include "pass/engine/candidates.h"

typedef enum prt_tune_mode {
    PRT_TUNE_fast, /* where the rule is near its border, for two seconds at most */
    PRT_TUNE_full  /* every choice */
} prt_tune_mode;

/* One run of a way. */
typedef struct prt_tune_lap {
    uint64_t ns;   /* the way's own time */
    uint64_t cost; /* all that went by, in ns */
} prt_tune_lap;

/* What times: begin, then run in any order, then end, also where begin fails. */
typedef struct prt_tune_watch {
    void *user;
    poprt_status (*begin)(void *user, const prt_candidates *c);
    poprt_status (*run)(void *user, uint32_t way, prt_tune_lap *lap);
    void (*end)(void *user);
} prt_tune_watch;

typedef struct prt_tune_options {
    const prt_allocator *allocator;
    prt_tune_mode mode;
    const char *machine; /* a word: results hold for it alone */
    const char *cache;   /* path; "": none */
    const prt_tune_watch *watch;
    bool (*cancelled)(void *user);                           /* may be NULL */
    void (*log)(void *user, bool warning, const char *text); /* may be NULL */
    void *user;                                              /* of both */
} prt_tune_options;

typedef struct prt_tune prt_tune;

/* Reads the cache. One that cannot be read costs a warning. */
poprt_status prt_tune_create(const prt_tune_options *options, prt_tune **out);
void prt_tune_release(prt_tune *tune); /* takes NULL */

/* For prt_pass_manager_choose; lives as long as `tune`. */
const prt_chooser *prt_tune_chooser(prt_tune *tune);

/* Writes what was found to the cache, if there is one and anything is new; a warning where that
 * fails. */
void prt_tune_save(prt_tune *tune);

/* ---- tune_watch.c: the true one. Kernels of this machine, on `par`'s threads. */
poprt_status prt_tune_watch_create(const prt_allocator *allocator, size_t memory_limit,
    const prt_par *par, prt_tune_watch **out);
void prt_tune_watch_release(prt_tune_watch *watch); /* takes NULL */

#endif
