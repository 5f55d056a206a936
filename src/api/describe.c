/* SPDX-License-Identifier: MIT */
/* describe.c — poprt_executable_describe and poprt_executable_describe_as. */
#include "api/describe.h"

#include "describe/describe.h"

poprt_status prt_describe_check(const void *object, int32_t format, int32_t last,
    poprt_write_fn write)
{
    if (object == NULL)
        return prt_fail_null("object");
    PRT_REQUIRE(write);
    if (format < POPRT_FORMAT_SUMMARY || format > last)
        return prt_fail(POPRT_E_ARG, "format",
            "%d is not a format for this object: use a POPRT_FORMAT_ value", format);
    return POPRT_OK;
}

poprt_status poprt_executable_describe(const poprt_executable *exec, int32_t format,
    poprt_write_fn write, void *user)
{
    return poprt_executable_describe_as(exec, format, NULL, write, user);
}

poprt_status poprt_executable_describe_as(const poprt_executable *exec, int32_t format,
    const poprt_config *config, poprt_write_fn write, void *user)
{
    PRT_TRY(prt_describe_check(exec, format, POPRT_FORMAT_GRAPHS_JSON, write));
    poprt_memory_info memory = { .struct_size = sizeof(memory) };
    prt_arena *arena = NULL;
    prt_sink sink;
    poprt_status status = POPRT_OK;
    if (format == POPRT_FORMAT_SUMMARY || format == POPRT_FORMAT_JSON)
        status = poprt_executable_get_memory(exec, config, &memory);
    if (status == POPRT_OK)
        status = prt_arena_create(&exec->env->allocator, 0, &arena);
    prt_sink_init(&sink, write, user);
    if (status == POPRT_OK)
        status = prt_describe_executable(exec->program, &exec->io, exec->file, &memory, format,
            arena, &sink);
    prt_arena_release(arena);
    return prt_fail_at_stage(status, "describe");
}
