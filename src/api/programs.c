/* SPDX-License-Identifier: MIT */
/*
 * programs.c — named programs: graphs of a fused model whose names are metadata of the model,
 * "program.<i>". Also sessions of the executable of another session, and of files.
 */
#include <stdio.h>

#include "api/handles.h"
#include "base/file.h"
#include "base/nearest.h"
#include "program/popef.h"

/* Returns the name of graph `index`; NULL if it has none. */
static const char *name_of(const prt_program *p, size_t index)
{
    char key[32];
    (void)snprintf(key, sizeof(key), PRT_PROGRAM_KEY "%zu", index);
    for (uint32_t i = 0; i < p->facts.n_properties; i++)
        if (prt_str_is(p->facts.properties[i].key, key))
            return p->facts.properties[i].value.data;
    return NULL;
}

size_t poprt_executable_program_count(const poprt_executable *exec)
{
    return exec != NULL && name_of(exec->program, 0) != NULL ? exec->program->n_graphs : 0;
}

const char *poprt_executable_program_at(const poprt_executable *exec, size_t index)
{
    return index < poprt_executable_program_count(exec) ? name_of(exec->program, index) : NULL;
}

uint32_t prt_executable_program(const poprt_executable *exec, prt_str name)
{
    const size_t count = poprt_executable_program_count(exec);
    for (size_t i = 0; i < count; i++) {
        const char *own = name_of(exec->program, i);
        if (own != NULL && prt_str_is(name, own))
            return (uint32_t)i;
    }
    return PRT_NO_GRAPH;
}

static poprt_status fail_unknown(const poprt_executable *exec, const char *name)
{
    const char *names[PRT_FUSED_MOST];
    char nearest[256];
    size_t n = 0;
    const size_t count = poprt_executable_program_count(exec);
    for (size_t i = 0; i < count && i < PRT_FUSED_MOST; i++)
        if (name_of(exec->program, i) != NULL)
            names[n++] = name_of(exec->program, i);
    if (n == 0)
        return prt_fail(POPRT_E_NOT_FOUND, name, "the executable has no named programs");
    prt_nearest(name, names, n, nearest, sizeof(nearest));
    return prt_fail(POPRT_E_NOT_FOUND, name, "there is no program of this name; nearest: %s",
        nearest);
}

poprt_status poprt_session_run_program(poprt_session *session, const char *program,
    poprt_stepio *io)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(program);
    PRT_REQUIRE(io);
    const uint32_t graph = prt_executable_program(session->exec, prt_str_of(program));
    if (graph == PRT_NO_GRAPH)
        return prt_fail_at_stage(fail_unknown(session->exec, program), "run");
    return prt_session_run_graph(session, io, graph);
}

/* ---- sessions */

poprt_status poprt_session_create_from_session(const poprt_session *session,
    const poprt_config *config, poprt_session **out)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(out);
    return poprt_session_create(session->exec, config, out);
}

static poprt_status is_popef(poprt_env *env, const char *path, bool *out)
{
    enum { START = 64 };
    prt_blob *file = NULL;
    PRT_TRY(prt_file_map(&env->allocator, path, &file));
    *out = prt_popef_is(file->data, file->size < START ? file->size : START);
    prt_blob_release(file);
    return POPRT_OK;
}

static poprt_status open_file(poprt_env *env, const char *path, const poprt_config *config,
    poprt_executable **out)
{
    bool popef = false;
    PRT_TRY(prt_fail_in_file(is_popef(env, path, &popef), path));
    if (popef)
        return poprt_executable_load_file(env, path, config, out);
#ifdef PRT_NO_COMPILER
    return prt_fail(POPRT_E_UNSUPPORTED, path,
        "is not a PopEF file, and this library has no compiler");
#else
    poprt_model *model = NULL;
    PRT_TRY(poprt_model_load_file(env, path, config, &model));
    const poprt_status status = poprt_compile(model, config, out);
    poprt_model_release(model);
    return status;
#endif
}

poprt_status poprt_session_create_from_file(poprt_env *env, const char *path,
    const poprt_config *config, poprt_session **out)
{
    PRT_REQUIRE(path);
    PRT_REQUIRE(out);
    poprt_env *own = NULL;
    poprt_executable *exec = NULL;
    PRT_TRY(prt_env_acquire(env, &own));
    poprt_status status = open_file(own, path, config, &exec);
    poprt_env_release(own);
    if (status == POPRT_OK)
        status = poprt_session_create(exec, config, out);
    poprt_executable_release(exec);
    return status;
}
