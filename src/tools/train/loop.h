/* SPDX-License-Identifier: MIT */
/* loop.h — the task of `poprt train`: from files to the trained model. */
#ifndef PRT_TOOLS_TRAIN_LOOP_H
#define PRT_TOOLS_TRAIN_LOOP_H

#include "tools/train/loss.h"
#include "tools/train/schedule.h"

/* Settings from the command line. Paths and texts that were not given are NULL. */
typedef struct prt_train_settings {
    const char *model, *data, *validation, *checkpoint, *output, *curve;
    prt_train_loss loss;
    const char *scores, *labels; /* of the accuracy */
    poprt_optimizer *optimizer;
    prt_train_schedule schedule;
    int64_t steps, epochs; /* one of them is 0 */
    int64_t batch;         /* 0: that of the model, or 32 */
    int64_t accumulate, replicas;
    int64_t every; /* steps between reports; 0: an epoch */
    int64_t keep;  /* older checkpoints */
    uint64_t seed;
    bool has_seed, shuffle, resume, json;
    size_t n_frozen;
    const char *const *frozen;
} prt_train_settings;

/* Trains. `*signal` is the signal that stopped it after a step; 0: none. */
poprt_status prt_train_run(prt_tool *tool, prt_train_settings *settings, int *signal);

#endif
