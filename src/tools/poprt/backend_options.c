/* SPDX-License-Identifier: MIT */
/*
 * backend_options.c — options of compiling, applied before any work begins. Keys and values of
 * --compiler_options and --popart_options are checked against their tables; options that only
 * affect an IPU are reported at INFO as having no effect. --set, --tune and --disable_passes become
 * the config of compiling.
 */
#include <string.h>

#include "base/accepts.h"
#include "base/nearest.h"
#include "tools/poprt/convert.h"

/* A key of --compiler_options or --popart_options. */
typedef struct backend_option {
    const char *key;
    const prt_option_row *row; /* NULL: not an option of a poprt_config */
    const char *accepts, *why;
} backend_option;

static const backend_option compiler_options[] = {
#define COMPILER(key, accepts, why) { #key, NULL, accepts, why },
#define COMPILER_CONFIG(key) { #key, &prt_option_rows[PRT_OPTION_##key], NULL, NULL },
#include "tools/poprt/backend_options.def"
};

static const backend_option popart_options[] = {
#define POPART(key, accepts, why) { #key, NULL, accepts, why },
#include "tools/poprt/backend_options.def"
};

enum { MAX_KEYS = 128 };

static poprt_status fail_unknown(const char *key, const backend_option *options, size_t count)
{
    const char *names[MAX_KEYS];
    char nearest[256];
    for (size_t i = 0; i < count && i < MAX_KEYS; i++)
        names[i] = options[i].key;
    prt_nearest(key, names, count < MAX_KEYS ? count : MAX_KEYS, nearest, sizeof(nearest));
    return prt_fail(POPRT_E_NOT_FOUND, key, "no such option; nearest: %s", nearest);
}

static poprt_status check(prt_tool *tool, const char *text, const backend_option *options,
    size_t count)
{
    char buffer[PRT_OPT_ACCEPTS_SIZE], expected[256];
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return prt_fail(POPRT_E_ARG, text, "must have the form KEY=VALUE");
    const size_t size = (size_t)(equals - text);
    for (size_t i = 0; i < count; i++) {
        if (strlen(options[i].key) != size || memcmp(options[i].key, text, size) != 0)
            continue;
        const prt_opt_def o = { .row = options[i].row, .accepts = options[i].accepts };
        const char *accepts = prt_opt_accepts(&o, buffer);
        if (!prt_accepts(accepts, equals + 1)) {
            prt_accepts_describe(accepts, expected, sizeof(expected));
            return prt_fail(POPRT_E_ARG, options[i].key, "'%s' is not accepted; expected %s",
                equals + 1, expected);
        }
        if (options[i].why != NULL)
            prt_tool_say(tool, POPRT_LOG_INFO, "%s has no effect on a CPU: %s", options[i].key,
                options[i].why);
        return POPRT_OK;
    }
    const char *key = prt_arena_text(tool->arena, text, size);
    return key != NULL ? fail_unknown(key, options, count) : POPRT_E_NOMEM;
}

poprt_status prt_convert_backend(prt_tool *tool, const prt_opts *opts)
{
    uint32_t cursor = 0;
    for (const char *v; (v = prt_opt_next(opts, OPT_COMPILER_OPTIONS, &cursor)) != NULL;)
        PRT_TRY(check(tool, v, compiler_options, PRT_COUNT_OF(compiler_options)));
    cursor = 0;
    for (const char *v; (v = prt_opt_next(opts, OPT_POPART_OPTIONS, &cursor)) != NULL;)
        PRT_TRY(check(tool, v, popart_options, PRT_COUNT_OF(popart_options)));
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
