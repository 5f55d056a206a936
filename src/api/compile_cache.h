/* SPDX-License-Identifier: MIT */
/*
 * compile_cache.h — executables that were compiled before, in a folder: `<key>.popef`. The key
 * covers the model, the options, the version and the processor. What is in the folder is not
 * trusted to be right: a file that cannot be read, or is of another model, is compiled anew and
 * replaced.
 */
#ifndef PRT_API_COMPILE_CACHE_H
#define PRT_API_COMPILE_CACHE_H

#include "api/handles.h"
#include "ir/ir.h"

typedef struct prt_compile_cache {
    poprt_env *env;
    const char *path; /* of the file; NULL: nothing is kept */
    char text[4096];
} prt_compile_cache;

/* Finds out which file it would be. */
poprt_status prt_compile_cache_open(prt_compile_cache *cache, poprt_env *env,
    const prt_module *module, const poprt_config *config);

/* What was compiled before; NULL: nothing that fits. Never a failure. */
poprt_executable *prt_compile_cache_load(const prt_compile_cache *cache, const prt_module *module,
    const poprt_config *config);

/* Keeps it; where that fails, a warning says why. */
void prt_compile_cache_store(const prt_compile_cache *cache, const poprt_executable *exec);

#endif
