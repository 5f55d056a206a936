/* SPDX-License-Identifier: MIT */
/* executable.c — poprt/executable.h except poprt_compile: reference counting, reading and writing
 * PopEF. */
#include "api/fixed_options.h"
#include "api/target.h"
#include "base/budget.h"
#include "base/file.h"
#include "poprt/data.h"
#include "program/popef.h"

static poprt_status list_io(const prt_allocator *allocator, const prt_program *p, prt_io_table *out)
{
    prt_arena *scratch = NULL;
    PRT_TRY(prt_arena_create(allocator, 0, &scratch));
    prt_io_entry *entries = PRT_NEW_N(scratch, prt_io_entry, (size_t)p->n_inputs + p->n_outputs);
    poprt_status status = entries != NULL ? POPRT_OK : POPRT_E_NOMEM;
    if (status == POPRT_OK) {
        for (uint32_t i = 0; i < p->n_inputs + p->n_outputs; i++) {
            const prt_io *io = i < p->n_inputs ? &p->inputs[i] : &p->outputs[i - p->n_inputs];
            entries[i] = (prt_io_entry){ .name = io->name,
                .type = io->type,
                .graph = p->n_graphs != 0 ? (int32_t)prt_fused_graph_of(io->name) : -1 };
        }
        status = prt_io_table_create(allocator, p->dims, entries, p->n_inputs,
            entries + p->n_inputs, p->n_outputs, &p->facts, out);
    }
    prt_arena_release(scratch);
    return status;
}

poprt_status prt_executable_wrap(poprt_env *env, prt_program *program, const char *file,
    poprt_executable **out)
{
    const size_t size = strlen(file) + 1;
    poprt_executable *exec = prt_mem_alloc(&env->allocator, sizeof(*exec) + size);
    if (exec == NULL) {
        prt_program_release(program);
        return POPRT_E_NOMEM;
    }
    atomic_init(&exec->refs, 1);
    (void)prt_env_acquire(env, &exec->env);
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

static prt_popef_depth depth_of(const poprt_config *config)
{
    const bool full = strcmp(prt_config_text(config, PRT_OPTION_verify), "full") == 0;
    return full ? PRT_POPEF_VERIFY : PRT_POPEF_RUN;
}

/* Reads PopEF from `bytes`, or maps the file at `path` if `bytes` is NULL. */
static poprt_status load(poprt_env *env, prt_blob *bytes, const char *path, prt_popef_depth depth,
    const poprt_config *config, poprt_executable **out)
{
    const size_t limit = prt_config_memory_limit(config, env);
    prt_program *program = NULL;
    prt_budget *budget = NULL;
    prt_blob *file = NULL;
    prt_env_freeze(env);
    PRT_TRY(prt_budget_create(&env->allocator, limit, &budget));
    const prt_allocator *allocator = prt_budget_allocator(budget, &env->allocator);
    poprt_status status = bytes == NULL ? prt_file_map(allocator, path, &file) : POPRT_OK;
    if (status == POPRT_OK)
        status = prt_popef_read(allocator, limit, bytes != NULL ? bytes : file, depth, env->ops,
            &program);
    prt_blob_release(file);
    prt_budget_release(budget); /* the program holds a reference now */
    PRT_TRY(status);
    poprt_executable *exec = NULL;
    PRT_TRY(prt_executable_wrap(env, program, path, &exec));
    exec->is_opened = depth != PRT_POPEF_SEALED;
    status = prt_fixed_options_check(exec, config);
    if (status != POPRT_OK) {
        poprt_executable_release(exec);
        return status;
    }
    *out = exec;
    return POPRT_OK;
}

static poprt_status load_file(poprt_env *env, const char *path, prt_popef_depth depth,
    const poprt_config *config, poprt_executable **out)
{
    poprt_env *owner = NULL;
    char *file = NULL;
    PRT_TRY(prt_env_acquire(env, &owner));
    poprt_status status = prt_target_file(owner, path, "executable.popef", false, &file);
    if (status == POPRT_OK)
        status = load(owner, NULL, file, depth, config, out);
    prt_mem_free(&owner->allocator, file);
    poprt_env_release(owner);
    return prt_fail_in_file(prt_fail_at_stage(status, "open"), path);
}

poprt_status poprt_executable_load_file(poprt_env *env, const char *path,
    const poprt_config *config, poprt_executable **out)
{
    PRT_REQUIRE(path);
    PRT_REQUIRE(out);
    return load_file(env, path, depth_of(config), config, out);
}

poprt_status prt_executable_load_sealed(poprt_env *env, const char *path,
    const poprt_config *config, poprt_executable **out)
{
    return load_file(env, path, PRT_POPEF_SEALED, config, out);
}

poprt_status poprt_executable_load_bytes(poprt_env *env, const void *bytes, size_t size,
    const poprt_config *config, poprt_executable **out)
{
    PRT_REQUIRE(bytes);
    PRT_REQUIRE(out);
    poprt_env *owner = NULL;
    prt_blob *blob = NULL;
    PRT_TRY(prt_env_acquire(env, &owner));
    poprt_status status = prt_blob_borrow(&owner->allocator, bytes, size, NULL, NULL, &blob);
    if (status == POPRT_OK)
        status = load(owner, blob, "", depth_of(config), config, out);
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

poprt_status prt_program_save_as(const poprt_env *env, const prt_program *program, const char *file)
{
    prt_file_writer *writer = NULL;
    poprt_status status = prt_file_writer_create(&env->allocator, file, &writer);
    if (status == POPRT_OK) {
        status = prt_popef_write(program, prt_file_writer_sink, writer);
        status = prt_file_writer_finish(writer, status);
    }
    return prt_fail_in_file(prt_fail_at_stage(status, "write"), file);
}

poprt_status poprt_executable_save_file(const poprt_executable *exec, const char *path)
{
    PRT_REQUIRE(exec);
    PRT_REQUIRE(path);
    char *file = NULL;
    poprt_status status = prt_target_file(exec->env, path, "executable.popef", true, &file);
    if (status == POPRT_OK)
        status = prt_program_save_as(exec->env, exec->program, file);
    prt_mem_free(&exec->env->allocator, file);
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

size_t poprt_executable_graph_count(const poprt_executable *exec)
{
    return exec != NULL ? exec->program->n_graphs : 0;
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
    prt_mem_free(&env->allocator, exec->cache_file);
    prt_mem_free(&env->allocator, exec);
    poprt_env_release(env);
}

poprt_status poprt_executable_get_info(const poprt_executable *exec, poprt_model_info *out)
{
    PRT_REQUIRE(exec);
    PRT_REQUIRE(out);
    return prt_export(out, &exec->io.about, sizeof(exec->io.about), "out");
}

poprt_status poprt_executable_get_batching(const poprt_executable *exec, int32_t direction,
    size_t index, poprt_batching *out)
{
    PRT_REQUIRE(exec);
    PRT_REQUIRE(out);
    const prt_program *p = exec->program;
    const bool is_input = direction == POPRT_INPUT;
    if (index >= poprt_executable_io_count(exec, direction))
        return prt_fail(POPRT_E_NOT_FOUND, "index", "there is no %s %zu",
            is_input ? "input" : "output", index);
    poprt_batching b = { .struct_size = sizeof(b),
        .batches_per_step = 1,
        .accumulation_factor = 1,
        .replication_factor = 1,
        .input_group_size = 1,
        .is_input = is_input,
        .period = 1 };
    if (p->has_flow) {
        b.batches_per_step = p->flow.batches;
        b.accumulation_factor = p->flow.accumulation;
        b.replication_factor = p->flow.replicas;
        b.input_group_size =
            is_input && p->broadcast[index] ? p->flow.replicas : p->flow.input_group;
        b.type = is_input ? POPRT_ANCHOR_FINAL : (int32_t)p->anchors[index].mode;
        b.period = is_input ? 1 : p->anchors[index].period;
    }
    return prt_export(out, &b, sizeof(b), "out");
}
