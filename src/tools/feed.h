/* SPDX-License-Identifier: MIT */
/*
 * feed.h — what goes into a run: values from files where they are given, seeded random ones
 * elsewhere, and the numbers that symbolic dimensions get.
 */
#ifndef PRT_TOOLS_FEED_H
#define PRT_TOOLS_FEED_H

#include "tools/value.h"

enum { PRT_FEED_DIMS = 64 };

typedef struct prt_feed {
    prt_tool *tool;
    const poprt_executable *exec;
    prt_files files;
    uint64_t seed;
    const char *cpu;    /* level of kernels; NULL: the default */
    size_t count;       /* inputs */
    prt_tensor *values; /* kind ABSENT: not given yet */
    bool *given;
    uint32_t n_dims;
    struct {
        const char *name;
        int64_t value;
        bool asked; /* by the user, not read off a given value */
    } dims[PRT_FEED_DIMS];
} prt_feed;

poprt_status prt_feed_init(prt_feed *feed, prt_tool *tool, const poprt_executable *exec,
    uint64_t seed);
void prt_feed_deinit(prt_feed *feed);

/* "NAME=N" for a symbolic dimension. */
poprt_status prt_feed_dim(prt_feed *feed, const char *text);
/* "NAME=FILE" for an input. */
poprt_status prt_feed_input(prt_feed *feed, const char *text);
/* Inputs not given yet from a directory: NAME.npy, NAME.pb, input_<i>.npy or input_<i>.pb. */
poprt_status prt_feed_dir(prt_feed *feed, const char *dir);
/*
 * Random values for the rest. Dimensions nobody set are 1. With `say`, each is announced on
 * stderr; `strict` makes an open dimension an error instead.
 */
poprt_status prt_feed_random(prt_feed *feed, bool say, bool strict);

/* A session config with the dims given by prt_feed_dim. */
poprt_status prt_feed_config(const prt_feed *feed, poprt_config **out);
poprt_status prt_feed_bind(const prt_feed *feed, poprt_stepio *io);

#endif
