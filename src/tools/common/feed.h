/* SPDX-License-Identifier: MIT */
/*
 * feed.h — what goes into a run: values from files where they are given, seeded random ones
 * elsewhere, and the numbers that symbolic dimensions get.
 */
#ifndef PRT_TOOLS_COMMON_FEED_H
#define PRT_TOOLS_COMMON_FEED_H

#include "tools/common/value.h"

enum { PRT_FEED_DIMS = 64 };

typedef struct prt_feed {
    prt_tool *tool;
    const poprt_executable *exec;
    size_t n_graphs; /* of fused models; 0: a plain one */
    int32_t graph;   /* the one that runs, known after prt_feed_random; -1 for a plain model */
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

/* Fused models: the graph to run. Where nobody says so the inputs that are given do, else it is
 * graph 0. */
poprt_status prt_feed_index(prt_feed *feed, int64_t index);
/* Input `i` is what selects a graph. */
bool prt_feed_is_index(const prt_feed *feed, size_t i);
/* Belongs to the graph that runs, or to a plain model. */
bool prt_feed_takes_part(const prt_feed *feed, const poprt_io_info *info);

/* "NAME=N" for a symbolic dimension. */
poprt_status prt_feed_dim(prt_feed *feed, const char *text);
/* A symbolic dimension that follows from something else. */
poprt_status prt_feed_learn(prt_feed *feed, const char *name, int64_t value);
/* "NAME=FILE" for an input. */
poprt_status prt_feed_input(prt_feed *feed, const char *text);
/* Inputs not given yet from a directory: NAME.npy, NAME.pb, input_<i>.npy or input_<i>.pb. */
poprt_status prt_feed_dir(prt_feed *feed, const char *dir);
/*
 * Random values for the rest (of fused models, for the rest of one graph). Dimensions nobody set
 * are 1. With `say`, each is announced on stderr; `strict` makes an open one an error instead.
 */
poprt_status prt_feed_random(prt_feed *feed, bool say, bool strict);

/* A session config with the dims given by prt_feed_dim. */
poprt_status prt_feed_config(const prt_feed *feed, poprt_config **out);
/* Binds what is given. */
poprt_status prt_feed_bind(const prt_feed *feed, poprt_stepio *io);

#endif
