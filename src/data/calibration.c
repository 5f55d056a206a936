/* SPDX-License-Identifier: MIT */
/* calibration.c — samples from a folder, an archive, a pickle or one .npy file. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "data/npy.h"
#include "data/samples.h"

enum { MAX_PATH = 4096 };

size_t prt_samples_bytes_left(const prt_samples *s)
{
    if (s->limit == 0)
        return SIZE_MAX;
    return s->used < s->limit ? s->limit - s->used : 0;
}

poprt_status prt_samples_keep(prt_samples *s, prt_blob *blob)
{
    if (!PRT_VEC_PUSH(s->arena, &s->blobs, blob)) {
        prt_blob_release(blob);
        return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

const prt_sample_array *prt_samples_find(const prt_samples *s, prt_str name)
{
    for (size_t i = 0; i < s->arrays.count; i++)
        if (prt_str_equal(s->arrays.data[i].name, name))
            return &s->arrays.data[i];
    return NULL;
}

const prt_sample_array *prt_samples_at(const prt_samples *s, size_t index)
{
    return index < s->arrays.count ? &s->arrays.data[index] : NULL;
}

size_t prt_samples_count(const prt_samples *s)
{
    return s->arrays.count != 0 ? (size_t)s->arrays.data[0].tensor.dims[0] : 0;
}

poprt_status prt_samples_add(prt_samples *s, prt_str name, const prt_tensor *tensor)
{
    const char *text = prt_arena_text(s->arena, name.data, name.size);
    if (text == NULL)
        return POPRT_E_NOMEM;
    const prt_sample_array item = { { text, name.size }, *tensor };
    if (s->arrays.count == PRT_SAMPLE_ARRAYS)
        return prt_fail(POPRT_E_LIMIT, text, "there are more than %d arrays", PRT_SAMPLE_ARRAYS);
    if (prt_samples_find(s, name) != NULL)
        return prt_fail(POPRT_E_PARSE, text, "two arrays are named '%.200s'", text);
    if (tensor->rank == 0)
        return prt_fail(POPRT_E_SHAPE, text,
            "'%.200s' is one number; axis 0 of an array counts the samples", text);
    if (s->arrays.count != 0 && (size_t)tensor->dims[0] != prt_samples_count(s))
        return prt_fail(POPRT_E_SHAPE, text, "'%.200s' has %lld samples, '%.200s' has %zu", text,
            (long long)tensor->dims[0], s->arrays.data[0].name.data, prt_samples_count(s));
    return PRT_VEC_PUSH(s->arena, &s->arrays, item) ? POPRT_OK : POPRT_E_NOMEM;
}

/* ---- files */

static prt_str stem_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t n = strlen(name);
    if (n > 4 && strcmp(name + n - 4, ".npy") == 0)
        n -= 4;
    return (prt_str){ name, (uint32_t)n };
}

static poprt_status read_npy(prt_samples *s, prt_blob *bytes, prt_str name)
{
    prt_tensor t;
    PRT_TRY(prt_npy_read(s->arena, bytes, PRT_DTYPE_undefined, &t));
    return prt_samples_add(s, name, &t);
}

/* The first bytes determine the format. */
static poprt_status read_bytes(prt_samples *s, prt_blob *bytes, const char *name)
{
    const unsigned char *p = bytes->data;
    PRT_TRY(prt_samples_keep(s, prt_blob_retain(bytes)));
    if (bytes->size >= 6 && memcmp(p, "\x93NUMPY", 6) == 0)
        return read_npy(s, bytes, stem_of(name));
    if (bytes->size >= 4 && (memcmp(p, "PK\x03\x04", 4) == 0 || memcmp(p, "PK\x05\x06", 4) == 0))
        return prt_samples_read_archive(s, bytes);
    if (bytes->size >= 2 && p[0] == 0x80)
        return prt_samples_read_pickle(s, bytes);
    return prt_fail(POPRT_E_PARSE, name,
        "the file is not an .npz archive, an .npy file or a pickle of protocol 2 to 5");
}

static int by_name(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

typedef PRT_VEC(const char *) name_list;

static poprt_status list_folder(prt_samples *s, const char *path, name_list *names)
{
    DIR *folder = opendir(path);
    poprt_status status = POPRT_OK;
    if (folder == NULL)
        return prt_file_fail(errno, path, "opening the folder");
    for (const struct dirent *e; status == POPRT_OK && (e = readdir(folder)) != NULL;) {
        const size_t n = strlen(e->d_name);
        if (n <= 4 || strcmp(e->d_name + n - 4, ".npy") != 0)
            continue;
        const char *name = prt_arena_text(s->arena, e->d_name, n);
        if (name == NULL || !PRT_VEC_PUSH(s->arena, names, name))
            status = POPRT_E_NOMEM;
        else if (names->count > PRT_SAMPLE_ARRAYS)
            status = prt_fail(POPRT_E_LIMIT, path, "the folder has more than %d arrays",
                PRT_SAMPLE_ARRAYS);
    }
    (void)closedir(folder);
    return status;
}

static poprt_status read_folder(prt_samples *s, const char *path)
{
    name_list names = { 0 };
    PRT_TRY(list_folder(s, path, &names));
    if (names.count == 0)
        return prt_fail(POPRT_E_NOT_FOUND, path, "the folder has no .npy files");
    qsort(names.data, names.count, sizeof(*names.data), by_name);
    for (size_t i = 0; i < names.count; i++) {
        char file[MAX_PATH];
        prt_blob *bytes = NULL;
        const int n = snprintf(file, sizeof(file), "%s/%s", path, names.data[i]);
        if (n < 0 || (size_t)n >= sizeof(file))
            return prt_fail(POPRT_E_LIMIT, path, "the path is too long");
        PRT_TRY(prt_file_map(s->allocator, file, &bytes));
        PRT_TRY(prt_samples_keep(s, bytes));
        PRT_TRY(prt_fail_about(read_npy(s, bytes, stem_of(file)), names.data[i]));
    }
    return POPRT_OK;
}

/* ---- creation and release */

static poprt_status create(const prt_allocator *allocator, size_t limit, prt_samples **out)
{
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(allocator, limit, &arena));
    prt_samples *s = PRT_NEW(arena, prt_samples);
    if (s == NULL) {
        prt_arena_release(arena);
        return POPRT_E_NOMEM;
    }
    s->allocator = allocator;
    s->arena = arena;
    s->limit = limit;
    *out = s;
    return POPRT_OK;
}

void prt_samples_release(prt_samples *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->blobs.count; i++)
        prt_blob_release(s->blobs.data[i]);
    prt_arena_release(s->arena);
}

static poprt_status finish(prt_samples *s, poprt_status status, prt_samples **out)
{
    if (status == POPRT_OK) {
        *out = s;
        return POPRT_OK;
    }
    prt_samples_release(s);
    return status;
}

poprt_status prt_samples_read(const prt_allocator *allocator, prt_blob *bytes, const char *name,
    size_t limit, prt_samples **out)
{
    prt_samples *s = NULL;
    PRT_TRY(create(allocator, limit, &s));
    return finish(s, read_bytes(s, bytes, name), out);
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

poprt_status prt_samples_open(const prt_allocator *allocator, const char *path, size_t limit,
    prt_samples **out)
{
    prt_samples *s = NULL;
    prt_blob *bytes = NULL;
    if (is_folder(path)) {
        PRT_TRY(create(allocator, limit, &s));
        return finish(s, read_folder(s, path), out);
    }
    PRT_TRY(prt_file_map(allocator, path, &bytes));
    const poprt_status status = prt_samples_read(allocator, bytes, path, limit, out);
    prt_blob_release(bytes);
    return status;
}
