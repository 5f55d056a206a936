/* SPDX-License-Identifier: MIT */
/* plugin.c — plug-ins of an environment: the functions of poprt/env.h and poprt/pass.h that need
 * the compiler. */
#include "plugin/plugin.h"

#include "api/handles.h"
#include "base/file.h"
#include "poprt/plugin.h"

static void log_line(void *user, int32_t level, const char *text)
{
    prt_env_log(user, PRT_LOG_plugin, level, text);
}

poprt_status prt_env_open_plugins(poprt_env *env)
{
    if (atomic_load_explicit(&env->frozen, memory_order_relaxed))
        return prt_fail(POPRT_E_STATE, "plug-in",
            "an object was already made from the environment: load plug-ins first");
    if (env->plugins != NULL)
        return POPRT_OK;
    PRT_TRY(prt_plugins_create(&env->allocator, log_line, env, &env->plugins));
    env->release_plugins = prt_plugins_release;
    env->ops = prt_plugins_ops(env->plugins);
    return POPRT_OK;
}

/* Adds the contents of a plug-in's file to the hashes, of which the compile cache makes keys. */
static void hash_file(poprt_env *env, const char *path)
{
    prt_error_copy error;
    prt_blob *file = NULL;
    prt_error_save(&error);
    if (prt_file_map(&env->allocator, path, &file) != POPRT_OK) {
        env->has_plugin_record = true;
        prt_error_restore(&error);
        return;
    }
    env->plugin_hashes[0] = prt_hash(file->data, file->size, env->plugin_hashes[0]);
    env->plugin_hashes[1] = prt_hash(file->data, file->size, ~env->plugin_hashes[1]);
    prt_blob_release(file);
}

poprt_status poprt_env_load_plugin(poprt_env *env, const char *path)
{
    PRT_REQUIRE(env);
    PRT_REQUIRE(path);
    poprt_status status = prt_env_open_plugins(env);
    if (status == POPRT_OK)
        status = prt_plugins_load(env->plugins, path);
    if (status == POPRT_OK)
        hash_file(env, path);
    return prt_fail_in_file(prt_fail_at_stage(status, "plug-in"), path);
}

poprt_status poprt_env_add_plugin(poprt_env *env, const poprt_plugin *plugin)
{
    PRT_REQUIRE(env);
    PRT_REQUIRE(plugin);
    poprt_status status = prt_env_open_plugins(env);
    if (status == POPRT_OK)
        status = prt_plugins_add(env->plugins, plugin);
    env->has_plugin_record = env->has_plugin_record || status == POPRT_OK;
    return prt_fail_at_stage(status, "plug-in");
}

poprt_status poprt_env_pass_at(poprt_env *env, size_t index, poprt_pass_info *out)
{
    PRT_REQUIRE(out);
    const prt_pass_def *def =
        env != NULL && env->plugins != NULL ? prt_plugins_pass(env->plugins, index) : NULL;
    if (def == NULL)
        return prt_fail(POPRT_E_NOT_FOUND, "index", "%zu is past the last pass of a plug-in",
            index);
    const poprt_pass_info info = { .struct_size = sizeof(info),
        .name = def->name,
        .help = def->doc,
        .since = def->since };
    return prt_export(out, &info, sizeof(info), "out");
}
