/* SPDX-License-Identifier: MIT */
/* manager_state.h — the body of a pass manager, for the files that make it. */
#ifndef PRT_PASS_ENGINE_MANAGER_STATE_H
#define PRT_PASS_ENGINE_MANAGER_STATE_H

#include "pass/engine/manager.h"

typedef struct prt_entry {
    const prt_pass_def *def;
    PRT_VEC(prt_pass_arg) args;
    uint32_t loop, times; /* entries of one loop follow each other; 0: none */
    const char *stage;
} prt_entry;

struct prt_pass_manager {
    const prt_allocator *allocator;
    prt_arena *arena;
    PRT_VEC(prt_entry) entries;
    PRT_VEC(const prt_pass_def *) skipped, known;
    uint32_t loops;
    prt_pass_observer observer;
    prt_pass_limits limits;
    const struct prt_chooser *chooser;
    const prt_module *origin;
    bool gathers;     /* gather_ir_passes */
    bool fixed;       /* `origin` was given */
    prt_module *kept; /* the model before the stage in progress, where a pass of it asks for that */
    const struct prt_feed *feed;
};

bool prt_manager_skips(const prt_pass_manager *pm, const prt_pass_def *def);
/* An entry at the end, with arguments that are checked; one more argument, which was. */
poprt_status prt_manager_add_entry(prt_pass_manager *pm, const char *pass, const char *stage,
    uint32_t n_args, const prt_pass_arg *args);
poprt_status prt_manager_add_arg(prt_pass_manager *pm, prt_entry *e, const prt_pass_arg *arg);
/* Makes one apply_ir_pass of passes that follow each other: gather.c. */
poprt_status prt_manager_gather(prt_pass_manager *pm);

#endif
