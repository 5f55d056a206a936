/* SPDX-License-Identifier: MIT */
/* programs_compile.c — compiles several models to named programs, and a model to a session. */
#include <stdio.h>

#include "api/handles.h"
#include "ir/extra.h"

enum { MOST_NAME = 64 };

static bool is_name(const char *name)
{
    size_t n = 0;
    for (; name[n] != '\0'; n++) {
        const char c = name[n];
        const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
            (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
        if (!allowed || n == MOST_NAME)
            return false;
    }
    return n != 0;
}

static poprt_status check_names(const poprt_named_model *programs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        PRT_REQUIRE(programs[i].name);
        PRT_REQUIRE(programs[i].model);
        if (!is_name(programs[i].name))
            return prt_fail(POPRT_E_ARG, programs[i].name,
                "a program needs a name of 1 to %d letters, digits, '_', '-' and '.'", MOST_NAME);
        for (size_t k = 0; k < i; k++)
            if (strcmp(programs[i].name, programs[k].name) == 0)
                return prt_fail(POPRT_E_ARG, programs[i].name, "two programs have this name");
    }
    return POPRT_OK;
}

static poprt_status set_names(const poprt_named_model *programs, size_t count, poprt_model *fused)
{
    for (size_t i = 0; i < count; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), PRT_PROGRAM_KEY "%zu", i);
        PRT_TRY(prt_module_set_metadata(fused->module, key, prt_str_of(programs[i].name)));
    }
    return POPRT_OK;
}

poprt_status poprt_compile_programs(const poprt_named_model *programs, size_t count,
    const poprt_config *config, poprt_executable **out)
{
    const poprt_model *models[PRT_FUSED_MOST];
    poprt_model *fused = NULL;
    PRT_REQUIRE(programs);
    PRT_REQUIRE(out);
    if (count < 2 || count > PRT_FUSED_MOST)
        return prt_fail(POPRT_E_ARG, "count", "%zu programs; accepted: 2 to %d", count,
            PRT_FUSED_MOST);
    PRT_TRY(check_names(programs, count));
    for (size_t i = 0; i < count; i++)
        models[i] = programs[i].model;
    PRT_TRY(poprt_model_fuse(models, count, &fused));
    poprt_status status = set_names(programs, count, fused);
    if (status == POPRT_OK)
        status = poprt_compile(fused, config, out);
    poprt_model_release(fused);
    return status;
}

poprt_status poprt_session_create_from_model(const poprt_model *model, const poprt_config *config,
    poprt_session **out)
{
    poprt_executable *exec = NULL;
    PRT_REQUIRE(out);
    PRT_TRY(poprt_compile(model, config, &exec));
    const poprt_status status = poprt_session_create(exec, config, out);
    poprt_executable_release(exec);
    return status;
}
