/* SPDX-License-Identifier: MIT */
/*
 * compile_cache.h — a cache of executables: files `<key>.popef` in a folder. The key is a hash of
 * the model, the options, the version, the processor and the files of plug-ins. Files of the folder
 * are not trusted: a file that cannot be read, or belongs to another model, is replaced after a new
 * compilation.
 */
#ifndef PRT_API_COMPILE_CACHE_H
#define PRT_API_COMPILE_CACHE_H

#include "api/handles.h"
#include "ir/ir.h"

typedef struct prt_compile_cache {
    poprt_env *env;
    const char *path;   /* file of this key; NULL: no caching */
    int lock;           /* of `lock_path`; negative: not held */
    bool has_variables; /* entries have the contents of variables */
    bool may_appear;    /* the file was not there, or another compilation may have replaced it */
    char text[4096], lock_path[4096];
} prt_compile_cache;

/* Computes the key and the path of the file. */
poprt_status prt_compile_cache_open(prt_compile_cache *cache, poprt_env *env,
    const prt_module *module, const poprt_config *config, const prt_compile_edit *edit);

/* Returns the stored executable, or NULL if there is none or it cannot be used. Never sets an
 * error. */
poprt_executable *prt_compile_cache_load(prt_compile_cache *cache, const prt_module *module,
    const poprt_config *config, const prt_compile_edit *edit);

/*
 * Makes this the only compilation of the key on the machine: waits while another process or thread
 * holds the lock beside the file. Afterwards the file may be there. A holder that is killed frees
 * the lock. Where locks are not possible, nothing is locked. Fails with POPRT_E_CANCELLED if the
 * progress function requests a stop.
 */
poprt_status prt_compile_cache_lock(prt_compile_cache *cache);
void prt_compile_cache_unlock(prt_compile_cache *cache);

/* Stores an executable, which was compiled from `module`. A failure is only logged, as a warning.
 */
void prt_compile_cache_store(const prt_compile_cache *cache, const prt_module *module,
    const poprt_executable *exec);

/* Notes the entry in its executable, for poprt_session_update_cache. */
poprt_status prt_compile_cache_note(const prt_compile_cache *cache, poprt_executable *exec);

#endif
