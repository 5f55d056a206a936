/* SPDX-License-Identifier: MIT */
/* feed.h — sample data and compiled runs for passes that run the model. */
#ifndef PRT_API_FEED_H
#define PRT_API_FEED_H

#include "api/handles.h"

struct prt_feed;
typedef struct prt_api_feed prt_api_feed;

/* Creates a feed. `path` is a file of samples (see prt_samples_open); NULL: generated data. `env`
 * must outlive the feed. */
poprt_status prt_api_feed_create(poprt_env *env, const char *path, prt_api_feed **out);
void prt_api_feed_release(prt_api_feed *feed); /* accepts NULL */

/* Returns the feed for the pass manager. It lives as long as `feed`. */
const struct prt_feed *prt_api_feed_of(const prt_api_feed *feed);

#endif
