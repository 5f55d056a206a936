/* SPDX-License-Identifier: MIT */
/* pass.c — poprt/pass.h: a list of passes, run on a model; the host observes and can cancel it. */
#include "pass/engine/manager.h"

#include <stdio.h>

#include "api/feed.h"
#include "api/patterns.h"
#include "plugin/plugin.h"

enum { MAX_ARGS = 64 };

struct poprt_pass_manager {
    poprt_env *env;
    prt_pass_manager *manager;
    poprt_pass_fn fn;
    void *user;
    uint64_t done, total; /* passes done, passes in the list, of the current run */
    prt_api_feed *feed;   /* may be NULL */
    poprt_model *model;   /* of the current run */
    /* Pass whose graphs are reported as text; "": every pass. */
    char shown[128];
    bool shows;
};

static poprt_status export_pass_info(const prt_pass_def *def, size_t index, poprt_pass_info *out)
{
    if (def == NULL)
        return prt_fail(POPRT_E_NOT_FOUND, "index", "%zu is past the last pass", index);
    const poprt_pass_info info = { .struct_size = sizeof(info),
        .name = def->name,
        .help = def->doc,
        .since = def->since,
        .bound = prt_pass_bound(def),
        .typical = prt_pass_typical(def) };
    return prt_export(out, &info, sizeof(info), "out");
}

poprt_status poprt_pass_at(size_t index, poprt_pass_info *out)
{
    PRT_REQUIRE(out);
    return export_pass_info(index < UINT32_MAX ? prt_pass_of((uint32_t)index) : NULL, index, out);
}

static void pass_done(void *user, const prt_pass_event *event)
{
    poprt_pass_manager *manager = user;
    manager->done++;
    prt_env_logf(manager->env, PRT_LOG_pass, POPRT_LOG_TRACE, "%s: %u nodes, now %u, %.3f ms",
        event->pass, event->ops_before, event->ops_after, event->ms);
    if (manager->fn == NULL)
        return;
    const poprt_pass_event exported = { .struct_size = sizeof(exported),
        .pass = event->pass,
        .stage = event->stage,
        .ms = event->ms,
        .changed = event->changed,
        .nodes_before = event->ops_before,
        .nodes_after = event->ops_after,
        .before = event->before,
        .after = event->after };
    manager->fn(manager->user, &exported);
}

static void pass_says(void *user, prt_pass_level level, const char *pass, const char *subject,
    const char *message)
{
    static const int32_t severities[] = { [PRT_PASS_PRINTS] = POPRT_LOG_OUTPUT,
        [PRT_PASS_WARNS] = POPRT_LOG_WARNING,
        [PRT_PASS_NOTES] = POPRT_LOG_INFO };
    const poprt_pass_manager *manager = user;
    char text[1024];
    if (level == PRT_PASS_PRINTS) {
        prt_env_log(manager->env, PRT_LOG_pass, POPRT_LOG_OUTPUT, message);
        return;
    }
    (void)snprintf(text, sizeof(text), "%s: %s%s%s", pass, subject != NULL ? subject : "",
        subject != NULL ? ": " : "", message);
    prt_env_log(manager->env, PRT_LOG_pass, severities[level], text);
}

static bool pass_shown(void *user, const char *pass)
{
    const poprt_pass_manager *manager = user;
    return manager->shows && (manager->shown[0] == '\0' || strcmp(manager->shown, pass) == 0);
}

static bool pass_cancelled(void *user)
{
    const poprt_pass_manager *manager = user;
    const uint64_t done = manager->done < manager->total ? manager->done : manager->total;
    return prt_env_progress(manager->env, "passes", done, manager->total) != POPRT_OK;
}

static bool pass_progress(void *user, const char *stage, uint64_t done, uint64_t total)
{
    const poprt_pass_manager *manager = user;
    return prt_env_progress(manager->env, stage, done, total) != POPRT_OK;
}

/* Makes the names of the plug-ins' passes known to the manager. */
static poprt_status register_plugin_passes(const poprt_env *env, prt_pass_manager *manager)
{
    const prt_pass_def *def = NULL;
    for (size_t i = 0; env->plugins != NULL; i++) {
        def = prt_plugins_pass(env->plugins, i);
        if (def == NULL)
            break;
        PRT_TRY(prt_pass_manager_register(manager, def));
    }
    return POPRT_OK;
}

static poprt_status create(poprt_env *env, poprt_pass_manager **out)
{
    poprt_pass_manager *manager = prt_mem_alloc(&env->allocator, sizeof(*manager));
    if (manager == NULL)
        return POPRT_E_NOMEM;
    (void)prt_env_acquire(env, &manager->env);
    prt_env_freeze(env);
    poprt_status status = prt_pass_manager_create(&env->allocator, &manager->manager);
    if (status == POPRT_OK)
        status = register_plugin_passes(env, manager->manager);
    if (status != POPRT_OK) {
        poprt_pass_manager_release(manager);
        return status;
    }
    const prt_pass_observer observer = { .user = manager,
        .done = pass_done,
        .wants_text = pass_shown,
        .report = pass_says,
        .cancelled = pass_cancelled,
        .progress = pass_progress };
    prt_pass_manager_set_observer(manager->manager, &observer);
    *out = manager;
    return POPRT_OK;
}

poprt_status poprt_pass_manager_create(poprt_env *env, poprt_pass_manager **out)
{
    PRT_REQUIRE(out);
    poprt_env *owner = NULL;
    PRT_TRY(prt_env_acquire(env, &owner));
    const poprt_status status = create(owner, out);
    poprt_env_release(owner);
    return status;
}

/* Lists the options of a pass that the config sets. Returns their number. */
static uint32_t list_args(const prt_pass_def *def, const poprt_config *config, prt_pass_arg *args)
{
    uint32_t count = 0;
    for (uint32_t id = 0; id < PRT_OPTION_COUNT; id++) {
        const char *key = prt_option_rows[id].info.key;
        for (uint32_t i = 0; i < def->n_options && config->text[id] != NULL; i++)
            if (strcmp(def->options[i].name, key) == 0)
                args[count++] = (prt_pass_arg){ .key = key, .value = config->text[id] };
    }
    return count;
}

poprt_status poprt_pass_manager_add(poprt_pass_manager *manager, const char *pass,
    const poprt_config *args)
{
    PRT_REQUIRE(manager);
    PRT_REQUIRE(pass);
    const prt_pass_def *def = prt_pass_manager_find(manager->manager, pass);
    if (def == NULL)
        return prt_fail_at_stage(prt_pass_unknown(pass), "passes");
    prt_pass_arg list[PRT_OPTION_COUNT];
    const uint32_t count = args != NULL ? list_args(def, args, list) : 0;
    return prt_fail_at_stage(prt_pass_manager_add(manager->manager, pass, count, list), "passes");
}

enum { FORMULA_OPSET = 17 }; /* first opset with LayerNormalization */

poprt_status poprt_pass_manager_add_args(poprt_pass_manager *manager, const char *pass,
    const poprt_pass_arg *args, size_t count)
{
    PRT_REQUIRE(manager);
    PRT_REQUIRE(pass);
    if (count != 0)
        PRT_REQUIRE(args);
    if (count > MAX_ARGS)
        return prt_fail(POPRT_E_LIMIT, pass, "more than %d arguments", MAX_ARGS);
    prt_pass_arg list[MAX_ARGS];
    for (size_t i = 0; i < count; i++) {
        PRT_REQUIRE(args[i].key);
        PRT_REQUIRE(args[i].value);
        list[i] = (prt_pass_arg){ args[i].key, args[i].value };
    }
    return prt_fail_at_stage(prt_pass_manager_add(manager->manager, pass, (uint32_t)count, list),
        "passes");
}

poprt_status poprt_pass_option_at(const char *pass, size_t index, poprt_pass_option_info *out)
{
    static const char *const kinds[] = { [PRT_OPTION_i64] = "i64",
        [PRT_OPTION_f64] = "f64",
        [PRT_OPTION_bool] = "bool",
        [PRT_OPTION_text] = "text",
        [PRT_OPTION_choice] = "text",
        [PRT_OPTION_list] = "list",
        [PRT_OPTION_json] = "json" };
    PRT_REQUIRE(pass);
    PRT_REQUIRE(out);
    const prt_pass_def *def = prt_pass_find(pass);
    if (def == NULL)
        return prt_pass_unknown(pass);
    if (index >= def->n_options)
        return prt_fail(POPRT_E_NOT_FOUND, pass, "%zu is past the last option", index);
    const prt_pass_option *o = &def->options[index];
    const poprt_pass_option_info info = { .struct_size = sizeof(info),
        .name = o->name,
        .kind = kinds[o->kind],
        .default_value = o->initial,
        .help = o->doc };
    return prt_export(out, &info, sizeof(info), "out");
}

/* Returns the loss that calibration minimises; NULL: no calibration. If only weights are stored in
 * 8 bits, gptq gives the best results and is the default. */
static const char *calibration(const poprt_config *config)
{
    const bool chosen = config->text[PRT_OPTION_calibration_loss_type] != NULL;
    const char *precision = prt_config_text(config, PRT_OPTION_precision);
    if (prt_config_number(config, PRT_OPTION_calibration_with_data) == 0)
        return NULL;
    return !chosen && strcmp(precision, "fp8_weight") == 0
        ? "gptq"
        : prt_config_text(config, PRT_OPTION_calibration_loss_type);
}

/* Returns the value of a pipeline setting: an option that differs from its default, or a setting
 * derived from several options. NULL: not set. */
static const char *get_setting(void *user, const char *key)
{
    const poprt_config *config = user;
    const int64_t opset = prt_config_number(config, PRT_OPTION_convert_version);
    const bool ipu = strcmp(prt_config_text(config, PRT_OPTION_target), "ipu") == 0;
    if (strcmp(key, "formulas") == 0)
        return !ipu && (opset == 0 || opset >= FORMULA_OPSET) ? "true" : NULL;
    if (strcmp(key, "calibration") == 0)
        return calibration(config);
    if (strcmp(key, "fast_norm") == 0)
        return ipu && prt_config_number(config, PRT_OPTION_disable_fast_norm) == 0 ? "true" : NULL;
    for (uint32_t i = 0; i < PRT_OPTION_COUNT; i++)
        if (strcmp(prt_option_rows[i].info.key, key) == 0) {
            const char *text = config->text[i];
            if (text == NULL || strcmp(text, prt_config_text(NULL, i)) == 0)
                return NULL;
            if (prt_option_rows[i].info.type != POPRT_OPTION_BOOL)
                return text;
            return config->number[i] != 0 ? "true" : NULL;
        }
    return NULL;
}

static poprt_status set_reference(poprt_pass_manager *manager, const poprt_model *origin,
    const char *data)
{
    const prt_module *module = origin != NULL ? origin->module : NULL;
    prt_pass_manager_set_reference(manager->manager, NULL, NULL);
    prt_api_feed_release(manager->feed);
    manager->feed = NULL;
    PRT_TRY(prt_api_feed_create(manager->env, data, &manager->feed));
    prt_pass_manager_set_reference(manager->manager, module, prt_api_feed_of(manager->feed));
    return POPRT_OK;
}

poprt_status poprt_pass_manager_set_reference(poprt_pass_manager *manager,
    const poprt_model *origin, const char *data)
{
    PRT_REQUIRE(manager);
    return prt_fail_at_stage(set_reference(manager, origin, data), "passes");
}

static poprt_status add_pipeline(poprt_pass_manager *manager, const char *pipeline,
    const poprt_config *config)
{
    const prt_pass_settings settings = { (void *)(uintptr_t)config, get_setting };
    const char *data = prt_config_text(config, PRT_OPTION_data_preprocess);
    prt_popart_set patterns;
    PRT_TRY(prt_config_patterns(config, manager->env, &patterns));
    prt_pass_manager_set_patterns(manager->manager, &patterns);
    PRT_TRY(prt_pass_manager_skip_all(manager->manager,
        prt_config_text(config, PRT_OPTION_skip_passes)));
    PRT_TRY(set_reference(manager, NULL, data[0] != '\0' ? data : NULL));
    return prt_pass_manager_add_pipeline(manager->manager, pipeline,
        config != NULL ? &settings : NULL);
}

poprt_status poprt_pass_manager_add_pipeline(poprt_pass_manager *manager, const char *pipeline,
    const poprt_config *config)
{
    PRT_REQUIRE(manager);
    PRT_REQUIRE(pipeline);
    return prt_fail_at_stage(add_pipeline(manager, pipeline, config), "passes");
}

void poprt_pass_manager_observe(poprt_pass_manager *manager, poprt_pass_fn fn, void *user)
{
    if (manager == NULL)
        return;
    manager->fn = fn;
    manager->user = user;
}

poprt_status poprt_pass_manager_show(poprt_pass_manager *manager, const char *pass)
{
    PRT_REQUIRE(manager);
    if (pass != NULL && strlen(pass) >= sizeof(manager->shown))
        return prt_fail(POPRT_E_NOT_FOUND, "pass", "no pass has a name of this length");
    manager->shows = pass != NULL;
    (void)snprintf(manager->shown, sizeof(manager->shown), "%s", pass != NULL ? pass : "");
    return POPRT_OK;
}

poprt_status poprt_pass_manager_at(const poprt_pass_manager *manager, size_t index,
    poprt_pass_info *out)
{
    PRT_REQUIRE(manager);
    PRT_REQUIRE(out);
    return export_pass_info(prt_pass_manager_at(manager->manager, index), index, out);
}

poprt_status poprt_pass_manager_sort(poprt_pass_manager *manager)
{
    PRT_REQUIRE(manager);
    return prt_fail_at_stage(prt_pass_manager_sort(manager->manager), "passes");
}

poprt_status poprt_pass_manager_gather_ir_passes(poprt_pass_manager *manager, int32_t on)
{
    PRT_REQUIRE(manager);
    prt_pass_manager_set_batching(manager->manager, on != 0);
    return POPRT_OK;
}

poprt_model *prt_pass_manager_model(const poprt_pass_manager *manager)
{
    return manager->model;
}

poprt_status poprt_pass_manager_run(poprt_pass_manager *manager, poprt_model *model)
{
    PRT_REQUIRE(manager);
    PRT_REQUIRE(model);
    manager->done = 0;
    manager->total = 0;
    while (prt_pass_manager_at(manager->manager, (size_t)manager->total) != NULL)
        manager->total++;
    manager->model = model;
    const poprt_status status = prt_pass_manager_run(manager->manager, model->module, NULL);
    manager->model = NULL;
    /* A failed run may have changed the model too, so its table must be rebuilt. */
    prt_error_copy error;
    prt_error_save(&error);
    const poprt_status refreshed = prt_model_refresh(model);
    if (status == POPRT_OK)
        return prt_fail_at_stage(refreshed, "passes");
    prt_error_restore(&error);
    return prt_fail_in_file(prt_fail_at_stage(status, "passes"), model->module->file.data);
}

void poprt_pass_manager_release(poprt_pass_manager *manager)
{
    if (manager == NULL)
        return;
    poprt_env *env = manager->env;
    prt_pass_manager_release(manager->manager);
    prt_api_feed_release(manager->feed);
    prt_mem_free(&env->allocator, manager);
    poprt_env_release(env);
}
