/* SPDX-License-Identifier: MIT */
/* caches.h — inputs and outputs that `poprt bench` binds as caches (poprt_stepio_bind_cache). */
#ifndef PRT_TOOLS_COMMON_CACHES_H
#define PRT_TOOLS_COMMON_CACHES_H

#include "tools/common/feed.h"
#include "tools/common/opt.h"

typedef struct prt_cache {
    const char *input, *output;
    size_t slot; /* slot of the input */
    int64_t dims[PRT_MAX_RANK];
    poprt_tensor buffer;
} prt_cache;

typedef struct prt_caches {
    int64_t rows; /* rows at the start of each run */
    uint32_t count;
    prt_cache *items;
} prt_caches;

/* Finds the inputs named by the values IN=OUT of an option; `*` stands for the same text in both.
 * Sets the symbol of their rows to `rows`. */
poprt_status prt_caches_find(prt_caches *c, prt_feed *feed, const prt_opts *opts, uint32_t option);
/* Allocates the caches, with room for more than twice the rows. The first rows are those of the
 * feed. */
poprt_status prt_caches_make(prt_caches *c, const prt_feed *feed);
/* Binds the caches, so that the next run begins with `rows` rows. */
poprt_status prt_caches_bind(const prt_caches *c, poprt_stepio *io);

#endif
