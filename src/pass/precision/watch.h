/* SPDX-License-Identifier: MIT */
/*
 * watch.h — runs the model as it was before a pass on the samples, or on made-up data, and warns of
 * values that the type they were given cannot hold.
 */
#ifndef PRT_PASS_PRECISION_WATCH_H
#define PRT_PASS_PRECISION_WATCH_H

#include "pass/precision/retype.h"

typedef struct prt_watch prt_watch;

/* Keeps a clone of the model. `*out` is NULL where the pass has nothing that runs models, or where
 * there are no samples and the model is large, which is noted. */
poprt_status prt_watch_begin(prt_pass *p, prt_watch **out);

/* A prt_retype's `became`: the value has a form in the new type now. */
void prt_watch_became(void *watch, const prt_value *v);

/* Where the pass has gone well (`status`), runs the clone and warns of values beyond `most` in
 * size, the largest finite number of the type that `type` names. A model that cannot be run, for
 * want of memory too, is not checked, which is noted. Releases the clone. Takes NULL. */
poprt_status prt_watch_end(prt_watch *watch, poprt_status status, const char *type, double most);

#endif
