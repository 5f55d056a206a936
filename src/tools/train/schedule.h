/* SPDX-License-Identifier: MIT */
/* schedule.h — the optimizer of `poprt train` as a text, and its learning rate over the steps. */
#ifndef PRT_TOOLS_TRAIN_SCHEDULE_H
#define PRT_TOOLS_TRAIN_SCHEDULE_H

#include "tools/common/tool.h"

/*
 * Makes an optimizer of "KIND" or "KIND:KEY=VALUE,...". Keys are those of poprt/train.h, also `lr`
 * for the learning rate, `wd` for the weight decay, and `clip` for the largest norm of all
 * gradients together. The learning rate and the loss scaling are not constant, except those of
 * const_sgd.
 */
poprt_status prt_train_optimizer_create(prt_tool *tool, const char *text, poprt_optimizer **out);

typedef struct prt_train_schedule {
    double (*rate)(const struct prt_train_schedule *s, int64_t step, int64_t steps);
    double base;    /* learning rate of the optimizer */
    double last;    /* linear: at the end */
    int64_t period; /* step: updates between changes */
    double factor;  /* step: of a change */
    int64_t warmup; /* updates during which the rate rises */
} prt_train_schedule;

/* Reads "constant", "linear:LAST", "cosine" or "step:N:FACTOR". */
poprt_status prt_train_schedule_read(const char *text, int64_t warmup,
    const poprt_optimizer *optimizer, prt_train_schedule *out);

/* Returns the learning rate of update `step`, counted from 0, of `steps`. */
float prt_train_schedule_rate(const prt_train_schedule *s, int64_t step, int64_t steps);

/* Sets the learning rate of an update in the session. */
poprt_status prt_train_schedule_apply(const prt_train_schedule *s, poprt_optimizer *optimizer,
    int64_t step, int64_t steps, poprt_session *session);

#endif
