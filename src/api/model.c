/* SPDX-License-Identifier: MIT */
/* model.c — poprt/model.h: a module and its table of inputs and outputs. */
#define _POSIX_C_SOURCE 200809L
#include "api/handles.h"

#include <stdio.h>

#include "api/model_tensorflow.h"
#include "ir/extra.h"
#include "ir/merge_models.h"
#include "ir/interface.h"
#include "base/budget.h"
#include "base/clock.h"
#include "base/file.h"
#include "converter/history.h"
#include "converter/onnx.h"

static poprt_status list_io(const prt_graph *graph, prt_arena *arena, prt_io_entry **inputs,
    prt_io_entry **outputs)
{
    const bool fused = prt_ir_merged_models(graph->module) != 0;
    *inputs = PRT_NEW_N(arena, prt_io_entry, graph->inputs.count);
    *outputs = PRT_NEW_N(arena, prt_io_entry, graph->ret->n_in);
    if (*inputs == NULL || *outputs == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const prt_value *v = graph->inputs.data[i];
        (*inputs)[i] = (prt_io_entry){ .name = v->name,
            .type = v->type,
            .graph = fused ? (int32_t)prt_fused_graph_of(v->name) : -1 };
    }
    for (uint32_t i = 0; i < graph->ret->n_in; i++) {
        const prt_value *v = graph->ret->in[i].value;
        const prt_str name = i < graph->output_names.count ? graph->output_names.data[i] : v->name;
        (*outputs)[i] = (prt_io_entry){ .name = name,
            .type = v->type,
            .graph = fused ? (int32_t)prt_fused_graph_of(name) : -1 };
    }
    return POPRT_OK;
}

poprt_status prt_model_refresh(poprt_model *model)
{
    const prt_graph *graph = model->module->main;
    prt_arena *scratch = NULL;
    prt_io_entry *inputs = NULL, *outputs = NULL;
    prt_io_table table = { 0 };
    prt_facts facts = { 0 };
    PRT_TRY(prt_arena_create(&model->env->allocator, 0, &scratch));
    poprt_status status = list_io(graph, scratch, &inputs, &outputs);
    if (status == POPRT_OK)
        status = prt_module_facts(model->module, scratch, &facts);
    if (status == POPRT_OK)
        status = prt_io_table_create(&model->env->allocator, model->module->dims, inputs,
            graph->inputs.count, outputs, graph->ret->n_in, &facts, &table);
    prt_arena_release(scratch);
    PRT_TRY(status);
    prt_io_table_deinit(&model->io);
    model->io = table;
    return POPRT_OK;
}

poprt_status prt_model_wrap(poprt_env *env, prt_module *module, size_t memory_limit,
    poprt_model **out)
{
    poprt_model *model = prt_mem_alloc(&env->allocator, sizeof(*model));
    if (model == NULL) {
        prt_module_release(module);
        return POPRT_E_NOMEM;
    }
    (void)prt_env_acquire(env, &model->env);
    model->module = module;
    model->memory_limit = memory_limit;
    const poprt_status status = prt_model_refresh(model);
    if (status != POPRT_OK) {
        poprt_model_release(model);
        return status;
    }
    *out = model;
    return POPRT_OK;
}

/* Warns of opsets that are newer than the library: their operators may have another meaning. With
 * the option strict_op_versions such a model is refused. */
static poprt_status check_imports(const poprt_env *env, const poprt_config *config,
    const prt_module *module)
{
    const bool strict = prt_config_number(config, PRT_OPTION_strict_op_versions) != 0;
    for (const prt_opset *o = module->opsets; o != NULL; o = o->next) {
        const char *domain = prt_history_domain(o->domain);
        const int64_t newest = domain != NULL ? prt_history_newest_of(domain) : 0;
        char text[512];
        if (newest == 0 || o->version <= newest)
            continue;
        if (strict)
            return prt_fail(POPRT_E_VERSION, domain[0] != '\0' ? domain : "ai.onnx",
                "the model imports opset %lld, but the newest known opset is %lld "
                "(strict_op_versions)",
                (long long)o->version, (long long)newest);
        (void)snprintf(text, sizeof(text),
            "%.200s: the model imports opset %lld of %s, but the newest known opset is %lld: its "
            "operators are read as those of opset %lld",
            module->file.data, (long long)o->version, domain[0] != '\0' ? domain : "ai.onnx",
            (long long)newest, (long long)newest);
        prt_env_log(env, PRT_LOG_model, POPRT_LOG_WARNING, text);
    }
    return POPRT_OK;
}

/* Reads a model of another format than ONNX, if the file or the bytes are one. */
static poprt_status read_other(poprt_env *env, const prt_allocator *allocator, const char *path,
    prt_blob *bytes, const poprt_config *config, prt_module **out, bool *found)
{
    *found = false;
#ifndef PRT_NO_TENSORFLOW
    PRT_TRY(prt_model_read_tensorflow(env, allocator, path, bytes, config, out, found));
#else
    (void)env, (void)allocator, (void)path, (void)bytes, (void)config, (void)out;
#endif
    return POPRT_OK;
}

static poprt_status read_file(poprt_env *env, const prt_allocator *allocator, const char *path,
    const poprt_config *config, const prt_onnx_limits *limits, prt_module **out)
{
    bool found;
    PRT_TRY(read_other(env, allocator, path, NULL, config, out, &found));
    if (found)
        return POPRT_OK;
    if (prt_config_number(config, PRT_OPTION_external_data) != 0)
        return prt_onnx_read_file(allocator, path, limits, out);
    prt_blob *file = NULL;
    PRT_TRY(prt_file_map(allocator, path, &file));
    const poprt_status status = prt_onnx_read_bytes(allocator, file, path, NULL, limits, out);
    prt_blob_release(file);
    return status;
}

static poprt_status read_copy(poprt_env *env, const prt_allocator *allocator, const void *bytes,
    size_t size, const poprt_config *config, const prt_onnx_limits *limits, prt_module **out)
{
    bool found;
    prt_blob *copy = NULL;
    PRT_TRY(prt_blob_create(allocator, size, &copy));
    if (size != 0)
        memcpy(prt_blob_bytes(copy), bytes, size);
    poprt_status status = read_other(env, allocator, NULL, copy, config, out, &found);
    if (status == POPRT_OK && !found)
        status = prt_onnx_read_bytes(allocator, copy, "", NULL, limits, out);
    prt_blob_release(copy);
    return status;
}

/* Reads a file, or a copy of `bytes` if `path` is NULL. A budget counts all memory of the model. */
static poprt_status load(poprt_env *env, const char *path, const void *bytes, size_t size,
    const poprt_config *config, poprt_model **out)
{
    const prt_onnx_limits limits = { .arena = prt_config_memory_limit(config, env),
        .ops = env->ops };
    prt_budget *budget = NULL;
    prt_module *module = NULL;
    const uint64_t start = prt_clock_ns();
    prt_env_freeze(env);
    PRT_TRY(prt_env_progress(env, "read", 0, 1));
    PRT_TRY(prt_budget_create(&env->allocator, limits.arena, &budget));
    const prt_allocator *allocator = prt_budget_allocator(budget, &env->allocator);
    poprt_status status = path != NULL
        ? read_file(env, allocator, path, config, &limits, &module)
        : read_copy(env, allocator, bytes, size, config, &limits, &module);
    prt_budget_release(budget); /* the module holds a reference now */
    PRT_TRY(status);
    PRT_TRY(prt_model_wrap(env, module, limits.arena, out));
    status = check_imports(env, config, module);
    prt_env_logf(env, PRT_LOG_model, POPRT_LOG_DEBUG, "read %s: %u nodes, opset %lld, %.3f ms",
        path != NULL ? path : "bytes", module->main->n_ops,
        (long long)prt_module_opset(module, PRT_STR("")), (double)(prt_clock_ns() - start) / 1e6);
    if (status == POPRT_OK)
        status = prt_env_progress(env, "read", 1, 1);
    if (status != POPRT_OK)
        poprt_model_release(*out);
    return status;
}

poprt_status poprt_model_load_file(poprt_env *env, const char *path, const poprt_config *config,
    poprt_model **out)
{
    PRT_REQUIRE(path);
    PRT_REQUIRE(out);
    poprt_env *owner = NULL;
    poprt_model *model = NULL;
    PRT_TRY(prt_env_acquire(env, &owner));
    const poprt_status status = load(owner, path, NULL, 0, config, &model);
    poprt_env_release(owner);
    if (status == POPRT_OK)
        *out = model;
    return prt_fail_in_file(prt_fail_at_stage(status, "read"), path);
}

poprt_status poprt_model_load_bytes(poprt_env *env, const void *bytes, size_t size,
    const poprt_config *config, poprt_model **out)
{
    if (size != 0)
        PRT_REQUIRE(bytes);
    PRT_REQUIRE(out);
    poprt_env *owner = NULL;
    poprt_model *model = NULL;
    PRT_TRY(prt_env_acquire(env, &owner));
    const poprt_status status = load(owner, NULL, bytes, size, config, &model);
    poprt_env_release(owner);
    if (status == POPRT_OK)
        *out = model;
    return prt_fail_at_stage(status, "read");
}

poprt_status poprt_model_clone(const poprt_model *model, poprt_model **out)
{
    PRT_REQUIRE(model);
    PRT_REQUIRE(out);
    poprt_env *env = model->env;
    prt_module *module = NULL;
    prt_budget *budget = NULL;
    PRT_TRY(prt_budget_create(&env->allocator, model->memory_limit, &budget));
    const poprt_status status =
        prt_ir_clone_into(model->module, prt_budget_allocator(budget, &env->allocator),
            prt_arena_limit(model->module->arena), &module);
    prt_budget_release(budget);
    PRT_TRY(prt_fail_at_stage(status, "clone"));
    return prt_model_wrap(env, module, model->memory_limit, out);
}

static poprt_status fuse(const poprt_model *const *models, size_t count, poprt_model **out)
{
    const prt_module *modules[PRT_FUSED_MOST];
    poprt_env *env = models[0]->env;
    prt_module *module = NULL;
    for (size_t i = 0; i < count; i++) {
        PRT_REQUIRE(models[i]);
        if (models[i]->env != env)
            return prt_fail(POPRT_E_ARG, "models",
                "model %zu belongs to another environment than the first", i);
        modules[i] = models[i]->module;
    }
    size_t limit = 0; /* sum of the limits; 0 if one of the models has none */
    for (size_t i = 0; i < count; i++)
        if (models[i]->memory_limit == 0 || !prt_size_add(limit, models[i]->memory_limit, &limit)) {
            limit = 0;
            break;
        }
    prt_budget *budget = NULL;
    PRT_TRY(prt_budget_create(&env->allocator, limit, &budget));
    const poprt_status status =
        prt_ir_merge_into(modules, count, prt_budget_allocator(budget, &env->allocator), &module);
    prt_budget_release(budget);
    PRT_TRY(status);
    return prt_model_wrap(env, module, limit, out);
}

poprt_status poprt_model_fuse(const poprt_model *const *models, size_t count, poprt_model **out)
{
    PRT_REQUIRE(models);
    PRT_REQUIRE(out);
    if (count < 2 || count > PRT_FUSED_MOST)
        return prt_fail(POPRT_E_ARG, "count",
            "cannot fuse %zu models: the number must be from 2 to %d", count, PRT_FUSED_MOST);
    PRT_REQUIRE(models[0]);
    return prt_fail_at_stage(fuse(models, count, out), "fuse");
}

/* Infers types on a copy and replaces the module if that succeeds, so that an error changes
 * nothing. */
static poprt_status replace_module(poprt_model *model, const char *input, const int64_t *dims,
    uint32_t rank)
{
    prt_module *const before = model->module;
    PRT_TRY(prt_ir_clone(before, &model->module));
    poprt_status status = prt_module_set_input_shape(model->module, input, dims, rank);
    if (status == POPRT_OK)
        status = prt_ir_infer(model->module->main);
    if (status == POPRT_OK)
        status = prt_model_refresh(model);
    if (status != POPRT_OK) {
        prt_module_release(model->module);
        model->module = before;
        return status;
    }
    prt_module_release(before);
    return POPRT_OK;
}

poprt_status poprt_model_set_input_shape(poprt_model *model, const char *input, const int64_t *dims,
    uint32_t rank)
{
    PRT_REQUIRE(model);
    PRT_REQUIRE(input);
    if (rank != 0)
        PRT_REQUIRE(dims);
    const poprt_status status = replace_module(model, input, dims, rank);
    return prt_fail_in_file(prt_fail_at_stage(status, "infer"), model->module->file.data);
}

size_t poprt_model_io_count(const poprt_model *model, int32_t direction)
{
    return model != NULL ? prt_io_table_count(&model->io, direction) : 0;
}

poprt_status poprt_model_io_at(const poprt_model *model, int32_t direction, size_t index,
    poprt_io_info *out)
{
    PRT_REQUIRE(model);
    PRT_REQUIRE(out);
    return prt_io_table_at(&model->io, direction, index, out);
}

/* Calls `use` with a copy of the model whose operators are converted to an opset. */
static poprt_status use_for(const poprt_model *model, int64_t opset, prt_model_use_fn use,
    void *user)
{
    prt_module *copy = NULL;
    PRT_TRY(prt_ir_clone(model->module, &copy));
    poprt_status status = prt_fail_at_stage(prt_onnx_downgrade(copy, opset), "convert");
    if (status == POPRT_OK)
        status = use(user, copy);
    prt_module_release(copy);
    return status;
}

poprt_status poprt_model_get_info(const poprt_model *model, poprt_model_info *out)
{
    PRT_REQUIRE(model);
    PRT_REQUIRE(out);
    return prt_export(out, &model->io.about, sizeof(model->io.about), "out");
}

poprt_status poprt_model_set_property(poprt_model *model, const char *key, const char *value)
{
    PRT_REQUIRE(model);
    PRT_REQUIRE(key);
    if (key[0] == '\0')
        return prt_fail(POPRT_E_ARG, "key", "the key of a property must not be empty");
    if (value == NULL)
        prt_module_remove_metadata(model->module, key);
    else
        PRT_TRY(prt_module_set_metadata(model->module, key, prt_str_of(value)));
    return prt_model_refresh(model);
}

static void warn_of_opset(const poprt_model *model, int64_t opset, const char *why)
{
    char text[1024];
    (void)snprintf(text, sizeof(text),
        "the model is written for opset %lld instead of its own, %lld: %s", (long long)opset,
        (long long)prt_module_opset(model->module, PRT_STR("")), why);
    prt_env_log(model->env, PRT_LOG_model, POPRT_LOG_WARNING, text);
}

/*
 * Takes the model for its own opset. If the opset lacks one of its operators, takes it for the next
 * opset that has all of them, and logs a warning with their names. The writer uses a converted copy
 * also for a branch whose output shapes cannot be written, and for a node that the reader replaced,
 * if the opset is one that a copy can be converted to.
 */
poprt_status prt_model_use_written(const poprt_model *model, prt_model_use_fn use, void *user)
{
    const prt_module *m = model->module;
    const int64_t own = prt_module_opset(m, PRT_STR("")), needed = prt_onnx_written_opset(m);
    const bool by_copy = prt_onnx_has_contradiction(m->main) || prt_onnx_has_replaced(m->main);
    const int64_t least = by_copy && needed <= own ? own + 1 : needed;
    char why[800] = "";
    for (int64_t opset = own; own != 0 && opset < least; opset++) {
        const poprt_status status = use_for(model, opset, use, user);
        if (status == POPRT_OK && opset != own)
            warn_of_opset(model, opset, why);
        if (status == POPRT_E_ARG)
            break; /* unknown opset */
        if (status != POPRT_E_UNSUPPORTED)
            return status;
        if (opset == own) {
            const poprt_error *e = prt_error_last();
            (void)snprintf(why, sizeof(why), "%s: %s", e->subject, e->message);
        }
    }
    PRT_TRY(use(user, m));
    if (why[0] != '\0')
        warn_of_opset(model, needed, why);
    return POPRT_OK;
}

static poprt_status write_file(void *user, const prt_module *module)
{
    return prt_onnx_write_file(module, user, 0);
}

/* The receiver of the bytes of a model. */
typedef struct receiver {
    poprt_write_fn write;
    void *user;
} receiver;

static poprt_status write_bytes(void *user, const prt_module *module)
{
    const receiver *to = user;
    return prt_onnx_write(module, to->write, to->user);
}

poprt_status poprt_model_save(const poprt_model *model, poprt_write_fn write, void *user)
{
    PRT_REQUIRE(model);
    PRT_REQUIRE(write);
    receiver to = { write, user };
    return prt_fail_at_stage(prt_model_use_written(model, write_bytes, &to), "write");
}

poprt_status poprt_model_save_file(const poprt_model *model, const char *path)
{
    return poprt_model_save_file_as(model, path, NULL);
}

poprt_status poprt_model_save_file_as(const poprt_model *model, const char *path,
    const poprt_config *config)
{
    PRT_REQUIRE(model);
    PRT_REQUIRE(path);
    const int64_t opset = prt_config_number(config, PRT_OPTION_convert_version);
    void *to = (void *)(uintptr_t)path;
    if (prt_config_number(config, PRT_OPTION_only_marks) != 0)
        return opset == 0 ? prt_onnx_write_marks(model->module, path)
                          : prt_fail(POPRT_E_ARG, "only_marks",
                                "cannot be combined with convert_version: it writes the file as "
                                "it was read");
    const poprt_status status = opset != 0 ? use_for(model, opset, write_file, to)
                                           : prt_model_use_written(model, write_file, to);
    return prt_fail_in_file(prt_fail_at_stage(status, "write"), path);
}

void poprt_model_release(poprt_model *model)
{
    if (model == NULL)
        return;
    poprt_env *env = model->env;
    prt_io_table_deinit(&model->io);
    prt_module_release(model->module);
    prt_mem_free(&env->allocator, model);
    poprt_env_release(env);
}
