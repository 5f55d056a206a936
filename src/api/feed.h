/* SPDX-License-Identifier: MIT */
/* feed.h — samples from a file, and compiled runs, for passes that run the model. */
#ifndef PRT_API_FEED_H
#define PRT_API_FEED_H

#include "api/handles.h"

struct prt_feed;
typedef struct prt_api_feed prt_api_feed;

/* `path` is what prt_samples_open takes; NULL: made-up data. `env` has to stay. */
poprt_status prt_api_feed_create(poprt_env *env, const char *path, prt_api_feed **out);
void prt_api_feed_release(prt_api_feed *feed); /* takes NULL */

/* What the manager is given; lives as long as the feed. */
const struct prt_feed *prt_api_feed_of(const prt_api_feed *feed);

#endif
