/* SPDX-License-Identifier: MIT */
/*
 * memory_check.c — compares what a session needs with memory_limit before it is made. The error has
 * the sum, the limit and the largest tensors. With the option log_dir, a report about all tensors
 * is written, and the error names its path.
 */
#include "api/memory_check.h"

#include <stdio.h>

#include "base/file.h"
#include "describe/describe.h"

enum { MOST_TENSORS = 5, MESSAGE_SIZE = 900 };

/* Lists the largest tensors that the session itself holds: planned ones, and variables. */
static uint32_t find_largest(const prt_program *p, prt_session_tensor *list)
{
    prt_session_tensor t = { .kind = PRT_TENSOR_VALUE };
    uint32_t count = 0;
    for (uint32_t b = 0; b < p->n_blocks; b++)
        for (uint32_t i = 0; i < p->blocks[b].n_buffers; i++) {
            const prt_buffer *buffer = &p->blocks[b].buffers[i];
            t.name = buffer->name;
            if (buffer->space == PRT_SPACE_PLANNED && prt_type_size(buffer->type, &t.size))
                prt_session_tensor_insert(list, MOST_TENSORS, &count, &t);
        }
    for (uint32_t i = 0; i < p->n_variables; i++) {
        t.name = p->variables[i].name;
        if (prt_type_size(p->variables[i].type, &t.size))
            prt_session_tensor_insert(list, MOST_TENSORS, &count, &t);
    }
    return count;
}

/* Writes a report below log_dir, and its path to `path`; an empty path if there is none. */
static void write_report(const poprt_executable *exec, const poprt_config *config,
    const poprt_memory_info *memory, char *path, size_t size)
{
    const char *folder = prt_config_text(config, PRT_OPTION_log_dir);
    prt_file_writer *file = NULL;
    prt_arena *arena = NULL;
    prt_sink sink;
    path[0] = '\0';
    if (*folder == '\0')
        return;
    const int n = snprintf(path, size, "%s/out_of_memory.json", folder);
    poprt_status status = n > 0 && (size_t)n < size ? POPRT_OK : POPRT_E_LIMIT;
    if (status == POPRT_OK)
        status = prt_arena_create(&exec->env->allocator, 0, &arena);
    if (status == POPRT_OK)
        status = prt_file_writer_create(&exec->env->allocator, path, &file);
    if (status == POPRT_OK) {
        prt_sink_init(&sink, prt_file_writer_sink, file);
        status = prt_file_writer_finish(file,
            prt_describe_executable(exec->program, &exec->io, exec->file, memory,
                POPRT_FORMAT_STEPS_JSON, arena, &sink));
    }
    prt_arena_release(arena);
    if (status != POPRT_OK)
        path[0] = '\0';
}

static poprt_status fail_limit(const poprt_executable *exec, const poprt_config *config,
    const prt_session_needs *needs, size_t limit)
{
    const size_t sum = needs->created + needs->scratch;
    const poprt_memory_info info = { .struct_size = sizeof(info),
        .created = needs->created,
        .scratch = needs->scratch,
        .outputs = needs->outputs,
        .is_planned = needs->is_planned };
    prt_session_tensor list[MOST_TENSORS];
    char message[MESSAGE_SIZE], path[512];
    const uint32_t count = find_largest(exec->program, list);
    write_report(exec, config, &info, path, sizeof(path));
    int n = snprintf(message, sizeof(message), "a session needs %zu bytes, and memory_limit is %zu",
        sum, limit);
    for (uint32_t i = 0; i < count && n > 0 && n < MESSAGE_SIZE - 160; i++)
        n += snprintf(message + n, sizeof(message) - (size_t)n, "%s%.100s of %zu bytes",
            i == 0 ? "; the largest tensors: " : ", ",
            list[i].name.size != 0 ? list[i].name.data : "(without name)", list[i].size);
    return prt_fail(POPRT_E_NOMEM, "memory_limit", "%s%s%s", message,
        path[0] != '\0' ? "; report: " : "", path);
}

poprt_status prt_memory_check(const poprt_executable *exec, const poprt_config *config,
    size_t *limit)
{
    const size_t most = prt_config_memory_limit(config, exec->env);
    prt_session_needs needs;
    *limit = most;
    if (most == 0)
        return POPRT_OK;
    PRT_TRY(prt_executable_needs(exec, config, &needs));
    if (needs.created + needs.scratch > most)
        return fail_limit(exec, config, &needs, most);
    if (!prt_size_add(most, needs.transient, limit))
        *limit = SIZE_MAX;
    return POPRT_OK;
}
