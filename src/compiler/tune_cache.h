/* SPDX-License-Identifier: MIT */
/*
 * tune_cache.h — the file of tuning results, with lines of machine, version, mode, key and
 * candidate. The file is not trusted: malformed lines are ignored, and a file of another kind is
 * never overwritten.
 */
#ifndef PRT_COMPILER_TUNE_CACHE_H
#define PRT_COMPILER_TUNE_CACHE_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

enum { PRT_TUNE_FIELDS = 5, PRT_TUNE_LINE = 640, PRT_TUNE_LINES = 4096 };

/* The fields of a line: words of printable ASCII. */
typedef struct prt_tune_entry {
    prt_str machine, version, mode, key, candidate;
} prt_tune_entry;

typedef struct prt_tune_cache {
    prt_arena *arena;
    PRT_VEC(prt_tune_entry) entries;
    size_t ignored; /* number of malformed lines */
    bool foreign;   /* the file is not a tune cache and must not be overwritten */
} prt_tune_cache;

/* Adds the entries of a file's text. An entry with the same machine, version and key as an earlier
 * one is ignored. */
poprt_status prt_tune_cache_parse(prt_tune_cache *cache, const char *text, size_t size);

/* The same from a file; a missing file is an empty cache. */
poprt_status prt_tune_cache_read(prt_tune_cache *cache, const char *path);

/* Returns the entry of a machine and key for this version; NULL if there is none. */
const prt_tune_entry *prt_tune_cache_find(const prt_tune_cache *cache, const char *machine,
    const char *key);

/* Sets the candidate for this machine, version and key. Fields that do not fit a line are not
 * stored. */
poprt_status prt_tune_cache_set(prt_tune_cache *cache, const char *machine, const char *mode,
    const char *key, const char *candidate);

/* Writes the entries, after adding those that the file has gained since it was read. The file is
 * replaced atomically: a reader sees the old or the new one. */
poprt_status prt_tune_cache_write(prt_tune_cache *cache, const char *path);

#endif
