/* SPDX-License-Identifier: MIT */
/*
 * tune_cache.h — what tuning found, in a file of lines: machine, version, mode, key, way. The file
 * is not trusted: lines that make no sense are left out, and a file that is none of ours is left
 * alone.
 */
#ifndef PRT_COMPILER_TUNE_CACHE_H
#define PRT_COMPILER_TUNE_CACHE_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

enum { PRT_TUNE_FIELDS = 5, PRT_TUNE_LINE = 640, PRT_TUNE_LINES = 4096 };

/* Words of printable ASCII. */
typedef struct prt_tune_entry {
    prt_str machine, version, mode, key, way;
} prt_tune_entry;

typedef struct prt_tune_cache {
    prt_arena *arena;
    PRT_VEC(prt_tune_entry) entries;
    size_t ignored; /* lines that made no sense */
    bool foreign;   /* the file is something else: not to be written over */
} prt_tune_cache;

/* Adds the entries of a file's text. Those that are there already (same machine, version and key)
 * stay as they are. */
poprt_status prt_tune_cache_parse(prt_tune_cache *cache, const char *text, size_t size);

/* The same from a file; none at all is an empty one. */
poprt_status prt_tune_cache_read(prt_tune_cache *cache, const char *path);

/* NULL: none. */
const prt_tune_entry *prt_tune_cache_find(const prt_tune_cache *cache, const char *machine,
    const char *key);

/* Sets the way for this machine, version and key. Nothing is kept of words that do not fit. */
poprt_status prt_tune_cache_put(prt_tune_cache *cache, const char *machine, const char *mode,
    const char *key, const char *way);

/* What there is, then what the file has gained since it was read; the file is replaced whole, so
 * that a reader sees the old or the new one. */
poprt_status prt_tune_cache_write(prt_tune_cache *cache, const char *path);

#endif
