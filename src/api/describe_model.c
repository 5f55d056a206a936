/* SPDX-License-Identifier: MIT */
/* describe_model.c — poprt_model_describe and poprt_operators_describe. */
#include "api/describe.h"
#include "describe/describe.h"

poprt_status poprt_model_describe(const poprt_model *model, int32_t format, poprt_write_fn write,
    void *user)
{
    const bool whole = format == POPRT_FORMAT_GRAPHS_JSON || format == POPRT_FORMAT_SHARDING;
    PRT_TRY(prt_describe_check(model, format, whole ? format : POPRT_FORMAT_DOT, write));
    prt_arena *arena = NULL;
    prt_sink sink;
    PRT_TRY(prt_arena_create(&model->env->allocator, 0, &arena));
    prt_sink_init(&sink, write, user);
    const poprt_status status = prt_describe_model(model->module, &model->io, format, arena, &sink);
    prt_arena_release(arena);
    return prt_fail_at_stage(status, "describe");
}

poprt_status poprt_operators_describe(poprt_env *env, int32_t format, poprt_write_fn write,
    void *user)
{
    poprt_env *owner = NULL;
    prt_arena *arena = NULL;
    prt_sink sink;
    PRT_REQUIRE(write);
    if (format < POPRT_FORMAT_SUMMARY || format > POPRT_FORMAT_JSON)
        return prt_fail(POPRT_E_ARG, "format",
            "%d is not POPRT_FORMAT_SUMMARY, POPRT_FORMAT_TEXT or POPRT_FORMAT_JSON", format);
    PRT_TRY(prt_env_acquire(env, &owner));
    poprt_status status = prt_arena_create(&owner->allocator, 0, &arena);
    prt_sink_init(&sink, write, user);
    if (status == POPRT_OK)
        status = prt_describe_operators(owner->ops, format, arena, &sink);
    prt_arena_release(arena);
    poprt_env_release(owner);
    return prt_fail_at_stage(status, "describe");
}
