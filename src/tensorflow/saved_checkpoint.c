/* SPDX-License-Identifier: MIT */
/* saved_checkpoint.c — opens checkpoints of TensorFlow 1: a prefix of the names of files. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "tensorflow/saved_parts.h"

enum { MAX_PATH = 4096, MAX_LIST = 1000 };

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), size = strlen(end);
    return n > size && strcmp(text + n - size, end) == 0;
}

/* Finds the only meta graph of a folder, and writes its path without ".meta" to `prefix`. */
static poprt_status search_folder(DIR *dir, const char *folder, char prefix[MAX_PATH])
{
    char list[MAX_LIST] = "";
    size_t found = 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (!ends_with(e->d_name, ".meta"))
            continue;
        const size_t used = strlen(list);
        (void)snprintf(list + used, sizeof(list) - used, "%s%s", found++ == 0 ? "" : ", ",
            e->d_name);
        const int n = snprintf(prefix, MAX_PATH, "%s/%s", folder, e->d_name);
        if (n < 0 || n >= MAX_PATH)
            return prt_fail(POPRT_E_ARG, folder, "the path is too long");
        prefix[n - 5] = '\0';
    }
    if (found == 1)
        return POPRT_OK;
    return found == 0
        ? prt_fail(POPRT_E_NOT_FOUND, folder,
              "the folder has no meta graph (.meta); a checkpoint without one has only weights")
        : prt_fail(POPRT_E_ARG, folder, "the folder has several checkpoints; name one of: %s",
              list);
}

bool prt_saved_is_checkpoint_folder(const char *path)
{
    bool found = false, other = false;
    DIR *dir = opendir(path);
    if (dir == NULL)
        return false;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        found = found || ends_with(e->d_name, ".meta");
        other = other || ends_with(e->d_name, ".onnx") || ends_with(e->d_name, ".popef");
    }
    (void)closedir(dir);
    return found && !other;
}

/* Writes the prefix of the checkpoint that `path` names. */
static poprt_status find_prefix(const char *path, char prefix[MAX_PATH])
{
    DIR *dir = opendir(path);
    if (dir != NULL) {
        const poprt_status status = search_folder(dir, path, prefix);
        (void)closedir(dir);
        return status;
    }
    const int n = snprintf(prefix, MAX_PATH, "%s", path);
    if (n < 0 || n >= MAX_PATH)
        return prt_fail(POPRT_E_ARG, path, "the path is too long");
    if (ends_with(prefix, ".meta"))
        prefix[n - 5] = '\0';
    else if (ends_with(prefix, ".index"))
        prefix[n - 6] = '\0';
    return POPRT_OK;
}

static bool exists(const char *prefix, const char *end)
{
    char path[MAX_PATH + 8];
    (void)snprintf(path, sizeof(path), "%s%s", prefix, end);
    return access(path, F_OK) == 0;
}

static poprt_status open_checkpoint(prt_saved_model *m, const char *given)
{
    char prefix[MAX_PATH], path[MAX_PATH + 8];
    PRT_TRY(find_prefix(given, prefix));
    if (!exists(prefix, ".meta") && exists(prefix, ".index"))
        return prt_fail(POPRT_E_UNSUPPORTED, prefix,
            "the checkpoint has only weights; its graph (.meta) lies not beside it: give a "
            "SavedModel, or the file .meta too");
    if (exists(prefix, "") && !exists(prefix, ".index"))
        return prt_fail(POPRT_E_UNSUPPORTED, prefix,
            "this is a single file, perhaps a checkpoint of a version before TensorFlow 1.0; save "
            "it again with a newer version");
    const int n = snprintf(path, sizeof(path), "%s.meta", prefix);
    m->path = prt_arena_text(m->arena, path, (size_t)n);
    m->folder = prt_saved_folder_of(m->arena, path);
    if (m->path == NULL || m->folder == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_file_map(prt_arena_allocator(m->arena), m->path, &m->file));
    m->meta_graph = (prt_bytes){ m->file->data, m->file->size };
    m->depth = 1;
    PRT_TRY(prt_saved_find_graph(m));
    const char *slash = strrchr(prefix, '/');
    return prt_bundle_open(m->arena, m->folder, m->path, slash != NULL ? slash + 1 : prefix,
        &m->bundle);
}

poprt_status prt_saved_checkpoint_open(prt_arena *arena, const char *path, prt_saved_model **out)
{
    prt_saved_model *m = prt_saved_model_new(arena);
    if (m == NULL)
        return POPRT_E_NOMEM;
    const poprt_status status = open_checkpoint(m, path);
    if (status != POPRT_OK) {
        if (m->path != NULL)
            (void)prt_fail_in_file(status, m->path);
        prt_saved_model_close(m);
        return status;
    }
    *out = m;
    return POPRT_OK;
}
