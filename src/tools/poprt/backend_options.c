/* SPDX-License-Identifier: MIT */
/*
 * backend_options.c — options of compiling, applied before any work begins: --compiler_options,
 * --popart_options, --set, --tune and --disable_passes become the config of compiling.
 */
#include <string.h>

#include "base/accepts.h"
#include "tools/poprt/convert.h"

/* Keys of --compiler_options that the tool itself reads, and what they accept. */
static const struct {
    const char *key, *accepts;
} own_keys[] = { { "batches_per_step", "int 1.." }, { "custom_patterns", NULL },
    { "serialize_ir", "bool" }, { "serialized_ir_dest", NULL } };

static poprt_status set(prt_tool *tool, const char *text)
{
    if (strchr(text, '=') == NULL || *text == '=')
        return prt_fail(POPRT_E_ARG, text, "must have the form KEY=VALUE");
    return prt_tool_set(tool, text);
}

/* Checks an option of --compiler_options that the tool reads, or sets another one. */
static poprt_status check_or_set(prt_tool *tool, const char *text)
{
    char expected[256];
    for (size_t i = 0; i < PRT_COUNT_OF(own_keys); i++) {
        const size_t n = strlen(own_keys[i].key);
        if (strncmp(text, own_keys[i].key, n) != 0 || text[n] != '=')
            continue;
        if (prt_accepts(own_keys[i].accepts, text + n + 1))
            return POPRT_OK;
        prt_accepts_describe(own_keys[i].accepts, expected, sizeof(expected));
        return prt_fail(POPRT_E_ARG, own_keys[i].key, "'%s' is not accepted; expected %s",
            text + n + 1, expected);
    }
    return set(tool, text);
}

poprt_status prt_convert_backend(prt_tool *tool, const prt_opts *opts)
{
    uint32_t cursor = 0;
    for (const char *v; (v = prt_opt_next(opts, OPT_COMPILER_OPTIONS, &cursor)) != NULL;)
        PRT_TRY(check_or_set(tool, v));
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
