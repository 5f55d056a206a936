/* SPDX-License-Identifier: MIT */
/*
 * compile_cache.c — the cache of executables: options enable_engine_caching and cache_path. With
 * enable_variables_caching=false an entry has no contents of variables that the model's
 * initializers have too: a hit takes them from there.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <time.h>

#include "api/compile_cache.h"
#include "api/fixed_options.h"
#include "base/file_lock.h"
#include "converter/onnx.h"
#include "poprt/train.h"
#include "program/derive.h"

/* Tells whether an option has no effect on the compiled executable. Entries with and without
 * variables are different ones. */
static bool has_no_effect(uint32_t option)
{
    return option == PRT_OPTION_output_dir || option == PRT_OPTION_log_dir ||
        (prt_option_names_files(option) && option != PRT_OPTION_enable_variables_caching);
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

/* Sets the path of the lock beside the entry. */
static poprt_status name_lock(prt_compile_cache *cache)
{
    const char *slash = strrchr(cache->text, '/');
    const int n = snprintf(cache->lock_path, sizeof(cache->lock_path), "%.*s/.poprt-%.32s.lock",
        (int)(slash - cache->text), cache->text, slash + 1);
    return n > 0 && (size_t)n < sizeof(cache->lock_path)
        ? POPRT_OK
        : prt_fail(POPRT_E_LIMIT, "cache_path", "the path is too long");
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
    if (n < 0 || (size_t)n >= sizeof(cache->text))
        return prt_fail(POPRT_E_LIMIT, "cache_path", "the path is too long");
    PRT_TRY(name_lock(cache));
    cache->has_variables = prt_config_number(config, PRT_OPTION_enable_variables_caching) != 0;
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

/* ---- contents of variables */

/* Returns the first contents of a variable as the initializers of the model give them: those of its
 * name, or of a weight that is trained as float32, Master___<name>. NULL: the model has none. */
static poprt_status contents_in_model(const prt_module *module, const prt_variable *v,
    const prt_allocator *allocator, prt_blob **out)
{
    char name[1024];
    prt_tensor from;
    size_t size;
    const int n = snprintf(name, sizeof(name), "Master___%.*s", PRT_STR_ARG(v->name));
    const prt_value *w = NULL;
    *out = NULL;
    if (n > 0 && (size_t)n < sizeof(name))
        w = prt_module_initializer(module, prt_str_of(name));
    if (w == NULL)
        w = prt_module_initializer(module, v->name);
    if (w == NULL || !prt_value_tensor(w, &from) || !prt_type_size(v->type, &size) ||
        from.rank != (uint32_t)v->type->rank ||
        !prt_dims_equal(from.dims, v->type->dims, from.rank) ||
        (from.dtype != v->type->dtype && prt_dtype_bits(from.dtype) != 16))
        return POPRT_OK;
    PRT_TRY(prt_blob_create(allocator, size, out));
    prt_convert(from.dtype, from.data, v->type->dtype, prt_blob_bytes(*out),
        prt_tensor_count(&from));
    return POPRT_OK;
}

static bool is_equal(const prt_blob *a, const prt_blob *b)
{
    return a != NULL && a->size == b->size &&
        (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

typedef poprt_status (*visit_fn)(const prt_program *p, const prt_variable *v, prt_blob *in_model,
    prt_first_contents *contents);

/* Drops contents that the model has. */
static poprt_status drop(const prt_program *p, const prt_variable *v, prt_blob *in_model,
    prt_first_contents *contents)
{
    contents->drops = is_equal(in_model, p->constants[v->init].blob);
    return POPRT_OK;
}

/* Takes contents that the program does not have. */
static poprt_status take(const prt_program *p, const prt_variable *v, prt_blob *in_model,
    prt_first_contents *contents)
{
    if (!prt_variable_is_empty(p, v))
        return POPRT_OK;
    contents->blob = prt_blob_retain(in_model);
    return in_model != NULL ? POPRT_OK
                            : prt_fail(POPRT_E_PARSE, v->name.data,
                                  "the model has no contents of this variable, nor has the file");
}

static poprt_status visit_all(prt_program *p, const prt_module *module, visit_fn visit,
    prt_first_contents *contents)
{
    for (uint32_t i = 0; i < p->n_variables; i++) {
        const prt_variable *v = &p->variables[i];
        prt_blob *in_model = NULL;
        if (v->init == PRT_NO_CONSTANT)
            continue;
        PRT_TRY(contents_in_model(module, v, p->allocator, &in_model));
        const poprt_status status = visit(p, v, in_model, &contents[i]);
        prt_blob_release(in_model);
        PRT_TRY(status);
    }
    return POPRT_OK;
}

/* Creates a program without the contents that the model has, or with them. */
static poprt_status derive(prt_program *p, const prt_module *module, visit_fn visit,
    prt_program **out)
{
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(p->allocator, 0, &arena));
    prt_first_contents *contents = PRT_NEW_N(arena, prt_first_contents, p->n_variables);
    poprt_status status = contents != NULL ? visit_all(p, module, visit, contents) : POPRT_E_NOMEM;
    if (status == POPRT_OK)
        status = prt_program_derive(p, contents, false, out);
    for (uint32_t i = 0; contents != NULL && i < p->n_variables; i++)
        prt_blob_release(contents[i].blob);
    prt_arena_release(arena);
    return status;
}

/* Gives a stored executable the contents that its file does not have. */
static poprt_status complete(poprt_executable *exec, const prt_module *module)
{
    prt_program *old = exec->program, *now = NULL;
    bool lacks = false;
    for (uint32_t i = 0; i < old->n_variables; i++)
        lacks = lacks || prt_variable_is_empty(old, &old->variables[i]);
    if (!lacks)
        return POPRT_OK;
    PRT_TRY(derive(old, module, take, &now));
    exec->program = now;
    prt_program_release(old);
    return POPRT_OK;
}

/* ---- loading and storing */

poprt_executable *prt_compile_cache_load(prt_compile_cache *cache, const prt_module *module,
    const poprt_config *config, const prt_compile_edit *edit)
{
    poprt_executable *exec = NULL;
    prt_error_copy error;
    if (cache->path == NULL)
        return NULL;
    prt_error_save(&error);
    cache->may_appear = false;
    poprt_status status = prt_executable_load_sealed(cache->env, cache->path, config, &exec);
    const bool other = status == POPRT_OK && !was_compiled_from(exec, module, edit != NULL);
    if (status == POPRT_OK && !other)
        status = complete(exec, module);
    if (other)
        log_path(cache->env, POPRT_LOG_WARNING, "compiling again; another model is in", cache->path,
            "");
    else if (status == POPRT_OK)
        log_path(cache->env, POPRT_LOG_INFO, "compiled before:", cache->path, "");
    else if (status == POPRT_E_NOT_FOUND)
        cache->may_appear = true;
    else
        log_path(cache->env, POPRT_LOG_WARNING, "compiling again; cannot use", cache->path,
            poprt_last_error()->message);
    if (other || status != POPRT_OK) {
        poprt_executable_release(exec);
        exec = NULL;
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

static poprt_status store(const prt_compile_cache *cache, const prt_module *module,
    const poprt_executable *exec)
{
    prt_program *bare = NULL;
    if (cache->has_variables)
        return prt_program_save_as(cache->env, exec->program, cache->path);
    PRT_TRY(derive(exec->program, module, drop, &bare));
    const poprt_status status = prt_program_save_as(cache->env, bare, cache->path);
    prt_program_release(bare);
    return status;
}

void prt_compile_cache_store(const prt_compile_cache *cache, const prt_module *module,
    const poprt_executable *exec)
{
    prt_error_copy error;
    if (cache->path == NULL)
        return;
    prt_error_save(&error);
    if (store(cache, module, exec) != POPRT_OK)
        log_path(cache->env, POPRT_LOG_WARNING, "not kept:", cache->path,
            poprt_last_error()->message);
    else
        log_path(cache->env, POPRT_LOG_INFO, "kept:", cache->path, "");
    prt_error_restore(&error);
}

poprt_status prt_compile_cache_note(const prt_compile_cache *cache, poprt_executable *exec)
{
    if (cache->path == NULL)
        return POPRT_OK;
    const size_t size = strlen(cache->path) + 1;
    exec->cache_file = prt_mem_alloc(&exec->env->allocator, size);
    if (exec->cache_file == NULL)
        return POPRT_E_NOMEM;
    memcpy(exec->cache_file, cache->path, size);
    exec->caches_variables = cache->has_variables;
    return POPRT_OK;
}

/* ---- writing the variables of a session */

static poprt_status update(poprt_session *session)
{
    const poprt_executable *exec = session->exec;
    prt_compile_cache cache = { .env = session->env, .lock = PRT_FILE_LOCK_NONE };
    if (exec->cache_file == NULL)
        return prt_fail(POPRT_E_STATE, exec->file,
            "the executable has no entry in a cache: compile it with enable_engine_caching=true "
            "and cache_path");
    if (!exec->caches_variables)
        return prt_fail(POPRT_E_STATE, "enable_variables_caching",
            "is false: the entry of the executable keeps no variables");
    (void)snprintf(cache.text, sizeof(cache.text), "%s", exec->cache_file);
    cache.path = cache.text;
    PRT_TRY(name_lock(&cache));
    PRT_TRY(prt_compile_cache_lock(&cache));
    const poprt_status status =
        prt_session_save_as(session, cache.path, POPRT_SAVE_METADATA | POPRT_SAVE_VARIABLES);
    prt_compile_cache_unlock(&cache);
    if (status == POPRT_OK)
        log_path(cache.env, POPRT_LOG_INFO, "kept with variables:", cache.path, "");
    return prt_fail_in_file(status, cache.path);
}

poprt_status poprt_session_update_cache(poprt_session *session)
{
    PRT_REQUIRE(session);
    PRT_TRY(prt_lock_session(session));
    const poprt_status status = update(session);
    prt_unlock_session(session);
    return prt_fail_at_stage(status, "cache");
}
