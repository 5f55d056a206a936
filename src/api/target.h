/* SPDX-License-Identifier: MIT */
/* target.h — files that are named by their folder. */
#ifndef PRT_API_TARGET_H
#define PRT_API_TARGET_H

#include "api/handles.h"

/*
 * Returns the file that a path stands for: `name` in the folder, if the path is a folder or ends
 * with a slash, else the path. If it ends with a slash and `creates` is true, missing folders are
 * made, with a warning. The caller frees `out` with the allocator of the environment.
 */
poprt_status prt_target_file(const poprt_env *env, const char *path, const char *name, bool creates,
    char **out);

#endif
