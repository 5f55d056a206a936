/* SPDX-License-Identifier: MIT */
/* map.c — a string map by open addressing; entries are replaced but never removed. */
#include "base/map.h"

static prt_map_entry *entry_of(prt_map_entry *entries, size_t capacity, prt_str key)
{
    size_t i = (size_t)prt_hash(key.data, key.size, 1) & (capacity - 1);
    while (entries[i].key.data != NULL && !prt_str_equal(entries[i].key, key))
        i = (i + 1) & (capacity - 1);
    return &entries[i];
}

void *prt_map_find(const prt_map *map, prt_str key)
{
    if (map->count == 0 || key.data == NULL)
        return NULL;
    return entry_of(map->entries, map->capacity, key)->value;
}

static bool grow(prt_map *map)
{
    const size_t capacity = map->capacity != 0 ? map->capacity * 2 : 16;
    prt_map_entry *entries = PRT_NEW_N(map->arena, prt_map_entry, capacity);
    if (entries == NULL)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].key.data != NULL)
            *entry_of(entries, capacity, map->entries[i].key) = map->entries[i];
    map->entries = entries;
    map->capacity = capacity;
    return true;
}

poprt_status prt_map_set(prt_map *map, prt_str key, void *value)
{
    PRT_ASSERT(key.data != NULL && value != NULL);
    if (map->count * 4 >= map->capacity * 3 && !grow(map))
        return POPRT_E_NOMEM;
    prt_map_entry *entry = entry_of(map->entries, map->capacity, key);
    if (entry->key.data == NULL) {
        entry->key = key;
        map->count++;
    }
    entry->value = value;
    return POPRT_OK;
}
