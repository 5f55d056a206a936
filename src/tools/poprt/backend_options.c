/* SPDX-License-Identifier: MIT */
/*
 * backend_options.c — options of compiling, applied before any work begins: --compiler_options,
 * --popart_options, --set, --tune and --disable_passes become the config of compiling.
 */
#include <string.h>

#include "tools/poprt/convert.h"

/* Keys of --compiler_options that the tool itself reads. */
static const char *const own_keys[] = { "custom_patterns", "serialize_ir", "serialized_ir_dest" };

static poprt_status set(prt_tool *tool, const char *text)
{
    if (strchr(text, '=') == NULL || *text == '=')
        return prt_fail(POPRT_E_ARG, text, "must have the form KEY=VALUE");
    return prt_tool_set(tool, text);
}

static bool is_own(const char *text)
{
    for (size_t i = 0; i < PRT_COUNT_OF(own_keys); i++)
        if (strncmp(text, own_keys[i], strlen(own_keys[i])) == 0 &&
            text[strlen(own_keys[i])] == '=')
            return true;
    return false;
}

poprt_status prt_convert_backend(prt_tool *tool, const prt_opts *opts)
{
    uint32_t cursor = 0;
    for (const char *v; (v = prt_opt_next(opts, OPT_COMPILER_OPTIONS, &cursor)) != NULL;)
        if (!is_own(v))
            PRT_TRY(set(tool, v));
    cursor = 0;
    for (const char *v; (v = prt_opt_next(opts, OPT_POPART_OPTIONS, &cursor)) != NULL;)
        PRT_TRY(set(tool, v));
    PRT_TRY(prt_convert_patterns(tool, prt_convert_backend_value(opts, "custom_patterns")));
    PRT_TRY(prt_tool_disable(tool, prt_opt_value(opts, OPT_DISABLE_PASSES, NULL)));
    PRT_TRY(prt_tool_set_each(tool, opts, OPT_SET));
    return prt_tool_tune(tool, prt_opt_value(opts, OPT_TUNE, NULL),
        prt_opt_value(opts, OPT_TUNE_CACHE, NULL));
}

const char *prt_convert_backend_value(const prt_opts *opts, const char *key)
{
    const size_t size = strlen(key);
    const char *value = NULL;
    uint32_t cursor = 0;
    for (const char *v; (v = prt_opt_next(opts, OPT_COMPILER_OPTIONS, &cursor)) != NULL;)
        if (strncmp(v, key, size) == 0 && v[size] == '=')
            value = v + size + 1;
    return value;
}
