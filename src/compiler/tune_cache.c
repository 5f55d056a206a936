/* SPDX-License-Identifier: MIT */
/* tune_cache.c — the file of tuning results. */
#include "compiler/tune_cache.h"

#include "base/file.h"
#include "base/status.h"
#include "poprt/base.h"

#define HEADER "poprt tune cache 1\n"

enum { MOST_BYTES = PRT_TUNE_LINE * PRT_TUNE_LINES };

static bool is_word(prt_str s)
{
    for (uint32_t i = 0; i < s.size; i++)
        if (s.data[i] <= ' ' || s.data[i] > '~')
            return false;
    return s.size != 0;
}

static bool is_mode(prt_str s)
{
    return prt_str_is(s, "fast") || prt_str_is(s, "full");
}

/* Splits a line into words separated by one blank; returns false where it is malformed. */
static bool split(const char *line, size_t size, prt_str *fields)
{
    uint32_t n = 0;
    const char *end = line + size;
    if (size > PRT_TUNE_LINE)
        return false;
    for (const char *at = line; at <= end; n++) {
        const char *stop = memchr(at, ' ', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        if (n == PRT_TUNE_FIELDS)
            return false;
        fields[n] = (prt_str){ at, (uint32_t)(stop - at) };
        if (!is_word(fields[n]))
            return false;
        at = stop + 1;
    }
    return n == PRT_TUNE_FIELDS && is_mode(fields[2]);
}

static prt_tune_entry *find(const prt_tune_cache *cache, prt_str machine, prt_str version,
    prt_str key)
{
    for (size_t i = 0; i < cache->entries.count; i++) {
        prt_tune_entry *e = &cache->entries.data[i];
        if (prt_str_equal(e->key, key) && prt_str_equal(e->machine, machine) &&
            prt_str_equal(e->version, version))
            return e;
    }
    return NULL;
}

/* Adds a copy of a line's words. */
static poprt_status keep(prt_tune_cache *cache, const prt_str *fields)
{
    prt_str own[PRT_TUNE_FIELDS];
    for (uint32_t i = 0; i < PRT_TUNE_FIELDS; i++) {
        own[i] = (prt_str){ prt_arena_text(cache->arena, fields[i].data, fields[i].size),
            fields[i].size };
        if (own[i].data == NULL)
            return POPRT_E_NOMEM;
    }
    const prt_tune_entry e = { own[0], own[1], own[2], own[3], own[4] };
    return PRT_VEC_PUSH(cache->arena, &cache->entries, e) ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_tune_cache_parse(prt_tune_cache *cache, const char *text, size_t size)
{
    const size_t head = strlen(HEADER);
    if (size == 0)
        return POPRT_OK;
    if (size > MOST_BYTES || size < head || memcmp(text, HEADER, head) != 0) {
        cache->foreign = true;
        return POPRT_OK;
    }
    const char *end = text + size;
    for (const char *at = text + head; at < end;) {
        prt_str fields[PRT_TUNE_FIELDS];
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        if (cache->entries.count >= PRT_TUNE_LINES || !split(at, (size_t)(stop - at), fields))
            cache->ignored++;
        else if (find(cache, fields[0], fields[1], fields[3]) == NULL)
            PRT_TRY(keep(cache, fields));
        at = stop + 1;
    }
    return POPRT_OK;
}

poprt_status prt_tune_cache_read(prt_tune_cache *cache, const char *path)
{
    prt_blob *blob = NULL;
    poprt_status status = prt_file_map(prt_arena_allocator(cache->arena), path, &blob);
    if (status == POPRT_E_NOT_FOUND)
        return POPRT_OK;
    if (status != POPRT_OK)
        return status;
    status = prt_tune_cache_parse(cache, (const char *)blob->data, blob->size);
    prt_blob_release(blob);
    return status;
}

const prt_tune_entry *prt_tune_cache_find(const prt_tune_cache *cache, const char *machine,
    const char *key)
{
    return find(cache, prt_str_of(machine), prt_str_of(POPRT_VERSION_STRING), prt_str_of(key));
}

poprt_status prt_tune_cache_set(prt_tune_cache *cache, const char *machine, const char *mode,
    const char *key, const char *candidate)
{
    const prt_str fields[PRT_TUNE_FIELDS] = { prt_str_of(machine), PRT_STR(POPRT_VERSION_STRING),
        prt_str_of(mode), prt_str_of(key), prt_str_of(candidate) };
    size_t size = PRT_TUNE_FIELDS;
    for (uint32_t i = 0; i < PRT_TUNE_FIELDS; i++) {
        if (!is_word(fields[i]))
            return POPRT_OK;
        size += fields[i].size;
    }
    prt_tune_entry *old = find(cache, fields[0], fields[1], fields[3]);
    if (size > PRT_TUNE_LINE)
        return POPRT_OK;
    if (old != NULL) {
        old->key = PRT_STR(""); /* neither found nor written any more */
        old->machine = PRT_STR("");
    }
    return keep(cache, fields);
}

static poprt_status write_entry(prt_file_writer *w, const prt_tune_entry *e)
{
    const prt_str *fields[PRT_TUNE_FIELDS] = { &e->machine, &e->version, &e->mode, &e->key,
        &e->candidate };
    if (e->key.size == 0)
        return POPRT_OK;
    for (uint32_t i = 0; i < PRT_TUNE_FIELDS; i++) {
        PRT_TRY(prt_file_writer_write(w, fields[i]->data, fields[i]->size));
        PRT_TRY(prt_file_writer_write(w, i + 1 < PRT_TUNE_FIELDS ? " " : "\n", 1));
    }
    return POPRT_OK;
}

/* Writes the newest entries, which are last, up to the limits. */
static poprt_status write_all(prt_file_writer *w, const prt_tune_cache *cache)
{
    const size_t n = cache->entries.count;
    size_t bytes = strlen(HEADER), first = n;
    while (first > 0 && n - first < PRT_TUNE_LINES) {
        const prt_tune_entry *e = &cache->entries.data[first - 1];
        bytes += (size_t)e->machine.size + e->version.size + e->mode.size + e->key.size +
            e->candidate.size + PRT_TUNE_FIELDS;
        if (bytes > MOST_BYTES)
            break;
        first--;
    }
    PRT_TRY(prt_file_writer_write(w, HEADER, strlen(HEADER)));
    for (size_t i = first; i < n; i++)
        PRT_TRY(write_entry(w, &cache->entries.data[i]));
    return POPRT_OK;
}

poprt_status prt_tune_cache_write(prt_tune_cache *cache, const char *path)
{
    prt_file_writer *writer = NULL;
    PRT_TRY(prt_tune_cache_read(cache, path));
    if (cache->foreign)
        return prt_fail(POPRT_E_STATE, path, "the file is not a tune cache and is not overwritten");
    PRT_TRY(prt_file_writer_create(prt_arena_allocator(cache->arena), path, &writer));
    return prt_file_writer_finish(writer, write_all(writer, cache));
}
