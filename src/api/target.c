/* SPDX-License-Identifier: MIT */
/* target.c — see target.h. */
#define _POSIX_C_SOURCE 200809L
#include "api/target.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"

static bool ends_with_slash(const char *path)
{
    const size_t n = strlen(path);
    return n != 0 && path[n - 1] == '/';
}

static bool is_folder(const char *path)
{
    struct stat info;
    return ends_with_slash(path) || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

/* Makes the missing folders of a file's path, which is restored. */
static poprt_status make_folders(const poprt_env *env, char *path)
{
    bool made = false;
    for (char *at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        const bool good = mkdir(path, 0777) == 0;
        const int error = errno;
        made = made || good;
        const poprt_status status = good || error == EEXIST || error == EISDIR || error == EROFS
            ? POPRT_OK
            : prt_file_fail(error, path, "create the folder");
        *at = '/';
        PRT_TRY(status);
    }
    if (made) {
        char text[4096];
        (void)snprintf(text, sizeof(text), "created the folder of %s", path);
        prt_env_log(env, PRT_LOG_session, POPRT_LOG_WARNING, text);
    }
    return POPRT_OK;
}

poprt_status prt_target_file(const poprt_env *env, const char *path, const char *name, bool creates,
    char **out)
{
    const bool inside = is_folder(path);
    const size_t size = strlen(path) + strlen(name) + 2;
    char *file = prt_mem_alloc(&env->allocator, size);
    if (file == NULL)
        return POPRT_E_NOMEM;
    (void)snprintf(file, size, "%s%s%s", path, inside && !ends_with_slash(path) ? "/" : "",
        inside ? name : "");
    const poprt_status status =
        creates && ends_with_slash(path) ? make_folders(env, file) : POPRT_OK;
    if (status != POPRT_OK)
        prt_mem_free(&env->allocator, file);
    else
        *out = file;
    return status;
}
