/* SPDX-License-Identifier: MIT */
/* str.c — words, string hashing, and the intern pool (open addressing, grown at three quarters). */
#include "base/str.h"

#include <ctype.h>

bool prt_str_same_word(prt_str a, prt_str b)
{
    uint32_t i = 0, k = 0;
    for (;;) {
        while (i < a.size && a.data[i] == '_')
            i++;
        while (k < b.size && b.data[k] == '_')
            k++;
        if (i == a.size || k == b.size)
            return i == a.size && k == b.size;
        if (tolower((unsigned char)a.data[i++]) != tolower((unsigned char)b.data[k++]))
            return false;
    }
}

uint64_t prt_hash(const void *bytes, size_t size, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t h = seed ^ (0x9e3779b97f4a7c15u + size * 0xff51afd7ed558ccdu);
    while (size >= 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        h = (h ^ w) * 0xd6e8feb86659fd93u;
        h ^= h >> 32;
        p += 8;
        size -= 8;
    }
    uint64_t w = 0;
    for (size_t i = 0; i < size; i++)
        w |= (uint64_t)p[i] << (8 * i);
    h = (h ^ w) * 0xd6e8feb86659fd93u;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    return h ^ (h >> 32);
}

struct prt_strings {
    prt_arena *arena;
    prt_str *slots;
    size_t capacity, count;
};

poprt_status prt_strings_create(prt_arena *arena, prt_strings **out)
{
    prt_strings *pool = PRT_NEW(arena, prt_strings);
    if (pool == NULL)
        return POPRT_E_NOMEM;
    pool->arena = arena;
    *out = pool;
    return POPRT_OK;
}

static prt_str *slot_of(prt_str *slots, size_t capacity, prt_str text)
{
    size_t i = (size_t)prt_hash(text.data, text.size, 0) & (capacity - 1);
    while (slots[i].data != NULL && !prt_str_equal(slots[i], text))
        i = (i + 1) & (capacity - 1);
    return &slots[i];
}

static bool grow(prt_strings *pool)
{
    const size_t capacity = pool->capacity != 0 ? pool->capacity * 2 : 64;
    prt_str *slots = PRT_NEW_N(pool->arena, prt_str, capacity);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < pool->capacity; i++)
        if (pool->slots[i].data != NULL)
            *slot_of(slots, capacity, pool->slots[i]) = pool->slots[i];
    pool->slots = slots;
    pool->capacity = capacity;
    return true;
}

prt_str prt_strings_intern(prt_strings *pool, prt_str text)
{
    const prt_str none = { NULL, 0 };
    if (text.data == NULL)
        text = PRT_STR("");
    if (pool->count * 4 >= pool->capacity * 3 && !grow(pool))
        return none;
    prt_str *slot = slot_of(pool->slots, pool->capacity, text);
    if (slot->data == NULL) {
        const char *copy = prt_arena_text(pool->arena, text.data, text.size);
        if (copy == NULL)
            return none;
        *slot = (prt_str){ copy, text.size };
        pool->count++;
    }
    return *slot;
}
