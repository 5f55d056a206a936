/* SPDX-License-Identifier: MIT */
/*
 * feed.h — the inputs of a run: values from files if given, otherwise seeded random values; and the
 * values of symbolic dimensions.
 */
#ifndef PRT_TOOLS_COMMON_FEED_H
#define PRT_TOOLS_COMMON_FEED_H

#include "tools/common/value.h"

enum { PRT_FEED_DIMS = 64 };

typedef struct prt_feed {
    prt_tool *tool;
    const poprt_executable *exec;
    size_t n_graphs; /* graphs of a fused model; 0: not fused */
    /* Graph that runs; known after prt_feed_random. -1 for a model that is not fused. */
    int32_t graph;
    prt_files files;
    uint64_t seed;
    const char *cpu;    /* highest level of kernels; NULL: the default */
    size_t count;       /* number of inputs */
    prt_tensor *values; /* kind ABSENT: not given */
    bool *given;
    uint32_t n_dims;
    struct {
        const char *name;
        int64_t value;
        bool asked; /* true: set by the user, not taken from a given value */
    } dims[PRT_FEED_DIMS];
} prt_feed;

poprt_status prt_feed_init(prt_feed *feed, prt_tool *tool, const poprt_executable *exec,
    uint64_t seed);
void prt_feed_deinit(prt_feed *feed);

/* Fused models: selects the graph to run. Without this call the given inputs select it; if there
 * are none, it is graph 0. */
poprt_status prt_feed_index(prt_feed *feed, int64_t index);
/* Tells whether input `i` selects a graph. */
bool prt_feed_is_index(const prt_feed *feed, size_t i);
/* Tells whether an input or output belongs to the graph that runs, or to a model that is not
 * fused. */
bool prt_feed_is_used(const prt_feed *feed, const poprt_io_info *info);

/* Sets a symbolic dimension from "NAME=N". */
poprt_status prt_feed_dim(prt_feed *feed, const char *text);
/* Sets a symbolic dimension that follows from other values. */
poprt_status prt_feed_derive_dim(prt_feed *feed, const char *name, int64_t value);
/* Reads an input from "NAME=FILE". */
poprt_status prt_feed_input(prt_feed *feed, const char *text);
/* Reads the inputs that are not given from a directory: NAME.npy, NAME.pb, input_<i>.npy or
 * input_<i>.pb. */
poprt_status prt_feed_dir(prt_feed *feed, const char *dir);
/*
 * Fills the other inputs (of a fused model: of one graph) with random values. Dimensions that are
 * not set become 1. `say`: reports each input and dimension on stderr. `strict`: fails if a
 * dimension is not set.
 */
poprt_status prt_feed_random(prt_feed *feed, bool say, bool strict);

/* Creates a session config with the dims set by prt_feed_dim. */
poprt_status prt_feed_config(const prt_feed *feed, poprt_config **out);
/* Binds the values to the inputs. */
poprt_status prt_feed_bind(const prt_feed *feed, poprt_stepio *io);

#endif
