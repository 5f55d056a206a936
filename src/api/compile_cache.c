/* SPDX-License-Identifier: MIT */
/* compile_cache.c — the cache of executables: options enable_engine_caching and cache_path. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <time.h>

#include "api/compile_cache.h"
#include "base/file_lock.h"
#include "converter/onnx.h"

/* Tells whether an option has no effect on the compiled executable. */
static bool has_no_effect(uint32_t option)
{
    return option == PRT_OPTION_cache_path || option == PRT_OPTION_enable_engine_caching ||
        option == PRT_OPTION_tune_cache || option == PRT_OPTION_output_dir;
}

typedef struct digest {
    uint64_t a, b;
} digest;

static int32_t add(void *user, const void *bytes, size_t size)
{
    digest *d = user;
    d->a = prt_hash(bytes, size, d->a);
    d->b = prt_hash(bytes, size, ~d->b);
    return 0;
}

static void add_text(digest *d, const char *text)
{
    (void)add(d, text, strlen(text) + 1);
}

static void add_config(digest *d, const poprt_config *config)
{
    for (uint32_t i = 0; i < PRT_OPTION_COUNT; i++)
        if (!has_no_effect(i)) {
            const int64_t number = prt_config_number(config, (prt_option_id)i);
            (void)add(d, &number, sizeof(number));
            add_text(d, prt_config_text(config, (prt_option_id)i));
        }
    for (uint32_t i = 0; config != NULL && i < config->n_dims; i++) {
        add_text(d, config->dims[i].key);
        add_text(d, config->dims[i].text);
    }
}

static void log_path(const poprt_env *env, int32_t level, const char *event, const char *path,
    const char *why)
{
    char text[4096 + 512];
    (void)snprintf(text, sizeof(text), "%s %s%s%s", event, path, why[0] != '\0' ? ": " : "", why);
    prt_env_log(env, PRT_LOG_cache, level, text);
}

poprt_status prt_compile_cache_open(prt_compile_cache *cache, poprt_env *env,
    const prt_module *module, const poprt_config *config, const prt_compile_edit *edit)
{
    const char *folder = prt_config_text(config, PRT_OPTION_cache_path);
    digest d = { .a = 1, .b = 2 };
    cache->env = env;
    cache->path = NULL;
    cache->lock = PRT_FILE_LOCK_NONE;
    if (prt_config_number(config, PRT_OPTION_enable_engine_caching) == 0)
        return POPRT_OK;
    if (folder[0] == '\0')
        return prt_fail(POPRT_E_ARG, "cache_path",
            "must name a folder for executables, because enable_engine_caching is set");
    if (env->has_plugin_record) {
        prt_env_log(env, PRT_LOG_cache, POPRT_LOG_INFO,
            "executables are not stored in cache_path, because a plug-in has no file whose "
            "contents could be part of the key");
        return POPRT_OK;
    }
    add_text(&d, poprt_version());
    (void)add(&d, &env->features, sizeof(env->features));
    if (env->plugins != NULL)
        (void)add(&d, env->plugin_hashes, sizeof(env->plugin_hashes));
    add_config(&d, config);
    if (edit != NULL)
        (void)add(&d, edit->identity.data, edit->identity.size);
    prt_error_copy error;
    prt_error_save(&error);
    /* Writing fails for instance if the model is larger than 2 GiB. */
    if (prt_onnx_write(module, add, &d) != POPRT_OK) {
        log_path(env, POPRT_LOG_INFO, "executable not stored in", folder,
            poprt_last_error()->message);
        prt_error_restore(&error);
        return POPRT_OK;
    }
    const int n = snprintf(cache->text, sizeof(cache->text), "%s/%016llx%016llx.popef", folder,
        (unsigned long long)d.a, (unsigned long long)d.b);
    const int m = snprintf(cache->lock_path, sizeof(cache->lock_path),
        "%s/.poprt-%016llx%016llx.lock", folder, (unsigned long long)d.a, (unsigned long long)d.b);
    if (n < 0 || m < 0 || (size_t)m >= sizeof(cache->lock_path))
        return prt_fail(POPRT_E_LIMIT, "cache_path", "the path is too long");
    cache->path = cache->text;
    return POPRT_OK;
}

static bool matches(const poprt_io_info *info, prt_str name, const prt_value *v)
{
    return v != NULL && prt_str_is(name, info->name) &&
        (!prt_type_is_tensor(v->type) || v->type->dtype == info->dtype);
}

/* Tells whether an executable has the names and element types of the module's inputs and
 * outputs; those of an edited module are not compared. */
static bool was_compiled_from(const poprt_executable *exec, const prt_module *module, bool edited)
{
    const prt_graph *g = module->main;
    bool same = prt_io_table_count(&exec->io, POPRT_INPUT) == g->inputs.count &&
        (edited || prt_io_table_count(&exec->io, POPRT_OUTPUT) == g->ret->n_in);
    for (size_t i = 0; same && i < g->inputs.count; i++)
        same = matches(&exec->io.info[POPRT_INPUT][i], g->inputs.data[i]->name, g->inputs.data[i]);
    for (uint32_t i = 0; same && !edited && i < g->ret->n_in; i++)
        same =
            matches(&exec->io.info[POPRT_OUTPUT][i], g->output_names.data[i], g->ret->in[i].value);
    return same;
}

poprt_executable *prt_compile_cache_load(prt_compile_cache *cache, const prt_module *module,
    const poprt_config *config, const prt_compile_edit *edit)
{
    poprt_executable *exec = NULL;
    prt_error_copy error;
    if (cache->path == NULL)
        return NULL;
    prt_error_save(&error);
    cache->may_appear = false;
    const poprt_status status = prt_executable_load_sealed(cache->env, cache->path, config, &exec);
    if (status == POPRT_OK && !was_compiled_from(exec, module, edit != NULL)) {
        log_path(cache->env, POPRT_LOG_WARNING, "compiling again; another model is in", cache->path,
            "");
        poprt_executable_release(exec);
        exec = NULL;
    } else if (status == POPRT_OK) {
        log_path(cache->env, POPRT_LOG_INFO, "compiled before:", cache->path, "");
    } else if (status == POPRT_E_NOT_FOUND) {
        cache->may_appear = true;
    } else {
        log_path(cache->env, POPRT_LOG_WARNING, "compiling again; cannot use", cache->path,
            poprt_last_error()->message);
    }
    prt_error_restore(&error);
    return exec;
}

poprt_status prt_compile_cache_lock(prt_compile_cache *cache)
{
    enum { POLL_NS = 10 * 1000 * 1000 };
    bool said = false;
    while (cache->path != NULL &&
        (cache->lock = prt_file_lock_take(cache->lock_path)) == PRT_FILE_LOCK_BUSY) {
        const struct timespec pause = { 0, POLL_NS };
        if (!said)
            log_path(cache->env, POPRT_LOG_INFO, "waiting for another compilation of", cache->path,
                "");
        said = cache->may_appear = true;
        PRT_TRY(prt_env_progress(cache->env, "wait", 0, 1));
        (void)nanosleep(&pause, NULL);
    }
    return POPRT_OK;
}

void prt_compile_cache_unlock(prt_compile_cache *cache)
{
    prt_file_lock_release(cache->lock_path, cache->lock);
    cache->lock = PRT_FILE_LOCK_NONE;
}

void prt_compile_cache_store(const prt_compile_cache *cache, const poprt_executable *exec)
{
    prt_error_copy error;
    if (cache->path == NULL)
        return;
    prt_error_save(&error);
    if (prt_executable_save_as(exec, cache->path) != POPRT_OK)
        log_path(cache->env, POPRT_LOG_WARNING, "not kept:", cache->path,
            poprt_last_error()->message);
    else
        log_path(cache->env, POPRT_LOG_INFO, "kept:", cache->path, "");
    prt_error_restore(&error);
}
