/* SPDX-License-Identifier: MIT */
/* map.h — a hash map from strings to pointers, in an arena. Keys are not copied. */
#ifndef PRT_BASE_MAP_H
#define PRT_BASE_MAP_H

#include "base/str.h"

typedef struct prt_map_entry {
    prt_str key; /* NULL: the entry is free */
    void *value;
} prt_map_entry;

typedef struct prt_map {
    prt_arena *arena;
    prt_map_entry *entries;
    size_t capacity, count;
} prt_map;

static inline prt_map prt_map_in(prt_arena *arena)
{
    return (prt_map){ .arena = arena };
}

/* Returns the value of `key`, or NULL. */
void *prt_map_find(const prt_map *map, prt_str key);

/* Sets the value of `key`, replacing an earlier one. `value` must not be NULL. */
poprt_status prt_map_set(prt_map *map, prt_str key, void *value);

#endif
