/* SPDX-License-Identifier: MIT */
/* caches.h — inputs and outputs that are measured as caches (poprt_stepio_bind_cache). */
#ifndef PRT_TOOLS_COMMON_CACHES_H
#define PRT_TOOLS_COMMON_CACHES_H

#include "tools/common/feed.h"
#include "tools/common/opt.h"

typedef struct prt_cache {
    const char *input, *output;
    size_t slot; /* of the input */
    int64_t dims[PRT_MAX_RANK];
    poprt_tensor room;
} prt_cache;

typedef struct prt_caches {
    int64_t rows; /* that a run begins with */
    uint32_t count;
    prt_cache *each;
} prt_caches;

/* The inputs that values IN=OUT of an option name, `*` standing for the same text in both; their
 * symbol for the rows gets its number. */
poprt_status prt_caches_find(prt_caches *c, prt_feed *feed, const prt_opts *opts, uint32_t option);
/* Room for as many rows again and more, with the values of the feed in front. */
poprt_status prt_caches_make(prt_caches *c, const prt_feed *feed);
/* The next run begins with `rows` rows. */
poprt_status prt_caches_bind(const prt_caches *c, poprt_stepio *io);

#endif
