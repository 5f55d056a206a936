/* SPDX-License-Identifier: MIT */
/* manager_state.h — definition of prt_pass_manager, private to the files of the manager. */
#ifndef PRT_PASS_ENGINE_MANAGER_STATE_H
#define PRT_PASS_ENGINE_MANAGER_STATE_H

#include "pass/engine/manager.h"
#include "pass/engine/popart.h"

typedef struct prt_entry {
    const prt_pass_def *def;
    PRT_VEC(prt_pass_arg) args;
    uint32_t loop, times; /* entries of one loop are consecutive; 0: no loop */
    const char *stage;
} prt_entry;

struct prt_pass_manager {
    const prt_allocator *allocator;
    prt_arena *arena;
    PRT_VEC(prt_entry) entries;
    PRT_VEC(const prt_pass_def *) skipped, registered;
    uint32_t loops;
    prt_pass_observer observer;
    prt_pass_limits limits;
    const struct prt_chooser *chooser;
    const prt_module *origin;
    prt_module *module;  /* of the current run */
    bool batches_passes; /* gather_ir_passes */
    bool fixed;          /* `origin` was given */
    prt_module *kept;    /* clone of the module before the current stage, if a pass of the stage
                            compares with it */
    const struct prt_feed *feed;
    bool has_patterns;
    prt_popart_set patterns; /* if `has_patterns`; else all are on */
};

bool prt_manager_skips(const prt_pass_manager *pm, const prt_pass_def *def);
/* Appends an entry and checks its arguments. */
poprt_status prt_manager_add_entry(prt_pass_manager *pm, const char *pass, const char *stage,
    uint32_t n_args, const prt_pass_arg *args);
/* Sets one argument of an entry; the caller has checked it. */
poprt_status prt_manager_add_arg(prt_pass_manager *pm, prt_entry *e, const prt_pass_arg *arg);
/* Merges consecutive passes into one apply_ir_pass: batch.c. */
poprt_status prt_manager_batch(prt_pass_manager *pm);

#endif
