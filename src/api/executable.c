/* SPDX-License-Identifier: MIT */
/* executable.c — poprt/executable.h: a program, its owners, and PopEF in and out. */
#include "api/handles.h"
#include "base/file.h"
#include "compiler/compile.h"
#include "pass/manager.h"
#include "pass/trace.h"
#include "program/popef.h"

static poprt_status list_io(const prt_allocator *allocator, const prt_program *p, prt_io_table *out)
{
    prt_arena *scratch = NULL;
    PRT_TRY(prt_arena_create(allocator, 0, &scratch));
    prt_io_entry *entries =
        PRT_NEW_N(scratch, prt_io_entry, (size_t)p->n_inputs + p->n_outputs);
    poprt_status status = entries != NULL ? POPRT_OK : POPRT_E_NOMEM;
    if (status == POPRT_OK) {
        for (uint32_t i = 0; i < p->n_inputs; i++)
            entries[i] = (prt_io_entry){ .name = p->inputs[i].name, .type = p->inputs[i].type };
        prt_io_entry *outputs = entries + p->n_inputs;
        for (uint32_t i = 0; i < p->n_outputs; i++)
            outputs[i] = (prt_io_entry){ .name = p->outputs[i].name, .type = p->outputs[i].type };
        status = prt_io_table_create(allocator, p->dims, entries, p->n_inputs, outputs,
            p->n_outputs, out);
    }
    prt_arena_release(scratch);
    return status;
}

/* An executable around a program, which it takes over, also when this fails. */
static poprt_status wrap(poprt_env *env, prt_program *program, const char *file,
    poprt_executable **out)
{
    const size_t size = strlen(file) + 1;
    poprt_executable *exec = prt_mem_alloc(&env->allocator, sizeof(*exec) + size);
    if (exec == NULL) {
        prt_program_release(program);
        return POPRT_E_NOMEM;
    }
    atomic_init(&exec->refs, 1);
    (void)prt_env_take(env, &exec->env);
    exec->program = program;
    exec->file = (char *)(exec + 1);
    memcpy(exec->file, file, size);
    const poprt_status status = list_io(&env->allocator, program, &exec->io);
    if (status != POPRT_OK) {
        poprt_executable_release(exec);
        return status;
    }
    *out = exec;
    return POPRT_OK;
}

/* What optimizing tells and is asked. */
typedef struct optimizer {
    poprt_env *env;
    prt_trace trace;
} optimizer;

static bool is_cancelled(void *user)
{
    const optimizer *o = user;
    return prt_env_progress(o->env, "optimize", 0, 1) != POPRT_OK;
}

static void pass_done(void *user, const prt_pass_event *event)
{
    optimizer *o = user;
    if (event->changed)
        prt_trace_look(&o->trace, event->pass);
}

/* Most bytes of constants that compiling may make. */
enum { FOLD_BYTES = 256 << 20 };

/* The passes that a comma list names are left out. */
static poprt_status skip_passes(prt_pass_manager *manager, const char *list)
{
    while (*list != '\0') {
        char name[128];
        list += strspn(list, ", ");
        const size_t n = strcspn(list, ", ");
        if (n >= sizeof(name))
            return prt_fail(POPRT_E_ARG, "disable_passes", "a name is too long");
        memcpy(name, list, n);
        name[n] = '\0';
        if (n != 0)
            PRT_TRY(prt_pass_manager_skip(manager, name));
        list += n;
    }
    return POPRT_OK;
}

static poprt_status run_passes(optimizer *o, const poprt_config *config, prt_module *module)
{
    prt_pass_manager *manager = NULL;
    const prt_pass_limits limits = { .fold_bytes = FOLD_BYTES };
    const prt_pass_observer observer = { .user = o, .done = pass_done, .cancelled = is_cancelled };
    PRT_TRY(prt_pass_manager_create(&o->env->allocator, &manager));
    poprt_status status = skip_passes(manager, prt_config_text(config, PRT_OPTION_disable_passes));
    if (status == POPRT_OK)
        status = prt_pass_manager_add_pipeline(manager, "inference");
    if (status == POPRT_OK) {
        prt_pass_manager_limit(manager, &limits);
        prt_pass_manager_observe(manager, &observer);
        status = prt_pass_manager_run(manager, module, NULL);
    }
    prt_pass_manager_release(manager);
    return status == POPRT_OK ? o->trace.status : status;
}

/* The nodes that no step will stand for. */
static poprt_status list_gone(const prt_trace *trace, prt_compile_options *options)
{
    prt_gone *gone = PRT_NEW_N(trace->arena, prt_gone, trace->nodes.count);
    if (gone == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < trace->nodes.count; i++) {
        const prt_trace_node *n = trace->nodes.data[i];
        if (n->pass != NULL)
            gone[options->n_gone++] =
                (prt_gone){ .node = n->node, .op = n->op, .pass = prt_str_of(n->pass) };
    }
    options->gone = gone;
    return POPRT_OK;
}

/* Compiles a copy of the model that has gone through the pipeline "inference". */
static poprt_status compile_better(poprt_env *env, const prt_module *module,
    const poprt_config *config, prt_compile_options *options, prt_program **out)
{
    prt_module *copy = NULL;
    optimizer o = { .env = env };
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(&env->allocator, 0, &arena));
    poprt_status status = prt_ir_clone(module, &copy);
    if (status == POPRT_OK) {
        prt_trace_begin(&o.trace, copy, arena);
        status = run_passes(&o, config, copy);
    }
    if (status == POPRT_OK)
        status = list_gone(&o.trace, options);
    if (status == POPRT_OK)
        status = prt_compile(copy, options, out);
    prt_module_release(copy);
    prt_arena_release(arena);
    return status;
}

static poprt_status compile(poprt_env *env, const prt_module *module, const poprt_config *config,
    prt_program **out)
{
    prt_compile_options options = { .allocator = &env->allocator,
        .memory_limit = prt_config_memory_limit(config, env),
        .progress = env->progress,
        .progress_user = env->progress_user,
        .apart = prt_config_number(config, PRT_OPTION_share_memory) == 0 };
    if (prt_config_number(config, PRT_OPTION_optimize) != 0)
        return compile_better(env, module, config, &options, out);
    return prt_compile(module, &options, out);
}

poprt_status poprt_compile(const poprt_model *model, const poprt_config *config,
    poprt_executable **out)
{
    PRT_REQUIRE(model);
    PRT_REQUIRE(out);
    poprt_env *env = model->env;
    const char *file = model->module->file.data != NULL ? model->module->file.data : "";
    prt_program *program = NULL;
    poprt_status status = compile(env, model->module, config, &program);
    if (status == POPRT_OK)
        status = wrap(env, program, file, out);
    return prt_fail_in_file(prt_fail_at_stage(status, "compile"), file);
}

static poprt_status load(poprt_env *env, prt_blob *bytes, const char *path,
    const poprt_config *config, poprt_executable **out)
{
    const bool full = strcmp(prt_config_text(config, PRT_OPTION_verify), "full") == 0;
    prt_program *program = NULL;
    PRT_TRY(prt_popef_read(&env->allocator, prt_config_memory_limit(config, env), bytes, full,
        &program));
    return wrap(env, program, path, out);
}

poprt_status poprt_executable_load_file(poprt_env *env, const char *path,
    const poprt_config *config, poprt_executable **out)
{
    PRT_REQUIRE(path);
    PRT_REQUIRE(out);
    poprt_env *owner = NULL;
    prt_blob *file = NULL;
    PRT_TRY(prt_env_take(env, &owner));
    poprt_status status = prt_file_map(&owner->allocator, path, &file);
    if (status == POPRT_OK)
        status = load(owner, file, path, config, out);
    prt_blob_release(file);
    poprt_env_release(owner);
    return prt_fail_in_file(prt_fail_at_stage(status, "open"), path);
}

poprt_status poprt_executable_load_bytes(poprt_env *env, const void *bytes, size_t size,
    const poprt_config *config, poprt_executable **out)
{
    PRT_REQUIRE(bytes);
    PRT_REQUIRE(out);
    poprt_env *owner = NULL;
    prt_blob *blob = NULL;
    PRT_TRY(prt_env_take(env, &owner));
    poprt_status status =
        prt_blob_borrow(&owner->allocator, bytes, size, NULL, NULL, &blob);
    if (status == POPRT_OK)
        status = load(owner, blob, "", config, out);
    prt_blob_release(blob);
    poprt_env_release(owner);
    return prt_fail_at_stage(status, "open");
}

poprt_status poprt_executable_save(const poprt_executable *exec, poprt_write_fn write, void *user)
{
    PRT_REQUIRE(exec);
    PRT_REQUIRE(write);
    return prt_fail_at_stage(prt_popef_write(exec->program, write, user), "write");
}

poprt_status poprt_executable_save_file(const poprt_executable *exec, const char *path)
{
    PRT_REQUIRE(exec);
    PRT_REQUIRE(path);
    prt_file_writer *writer = NULL;
    poprt_status status = prt_file_writer_create(&exec->env->allocator, path, &writer);
    if (status == POPRT_OK) {
        status = prt_popef_write(exec->program, prt_file_writer_sink, writer);
        if (status == POPRT_OK)
            status = prt_file_writer_commit(writer);
        else
            prt_file_writer_abandon(writer);
    }
    return prt_fail_in_file(prt_fail_at_stage(status, "write"), path);
}

size_t poprt_executable_io_count(const poprt_executable *exec, int32_t direction)
{
    return exec != NULL ? prt_io_table_count(&exec->io, direction) : 0;
}

poprt_status poprt_executable_io_at(const poprt_executable *exec, int32_t direction, size_t index,
    poprt_io_info *out)
{
    PRT_REQUIRE(exec);
    PRT_REQUIRE(out);
    return prt_io_table_at(&exec->io, direction, index, out);
}

poprt_executable *poprt_executable_retain(poprt_executable *exec)
{
    if (exec != NULL)
        atomic_fetch_add_explicit(&exec->refs, 1, memory_order_relaxed);
    return exec;
}

void poprt_executable_release(poprt_executable *exec)
{
    if (exec == NULL || atomic_fetch_sub_explicit(&exec->refs, 1, memory_order_acq_rel) != 1)
        return;
    poprt_env *env = exec->env;
    prt_io_table_deinit(&exec->io);
    prt_program_release(exec->program);
    prt_mem_free(&env->allocator, exec);
    poprt_env_release(env);
}
