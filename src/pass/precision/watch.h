/* SPDX-License-Identifier: MIT */
/*
 * watch.h — runs the model as it was before a pass on the samples or on pseudo-random data, and
 * warns of values that exceed the range of their new type.
 */
#ifndef PRT_PASS_PRECISION_WATCH_H
#define PRT_PASS_PRECISION_WATCH_H

#include "pass/precision/retype.h"

typedef struct prt_watch prt_watch;

/* Clones the model. Sets `*out` to NULL if the pass cannot run models, or if there are no samples
 * and the model is large; the latter gives a note. */
poprt_status prt_watch_begin(prt_pass *p, prt_watch **out);

/* Callback `converted` of prt_retype: the value has a copy in the new type. */
void prt_watch_add(void *watch, const prt_value *v);

/* If the pass succeeded (`status`), runs the clone and warns of values larger in size than `most`,
 * the largest finite number of the type named `type`. If the model cannot be run (lack of memory
 * included), a note says so. Releases the clone; `watch` may be NULL. */
poprt_status prt_watch_end(prt_watch *watch, poprt_status status, const char *type, double most);

#endif
