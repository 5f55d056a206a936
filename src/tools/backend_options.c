/* SPDX-License-Identifier: MIT */
/*
 * backend_options.c — --compiler_options and --popart_options: keys and values are checked against
 * their tables, and those that steer an IPU alone are said to have no effect, at INFO.
 */
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "tools/convert.h"

typedef enum value_type { TYPE_BOOL, TYPE_INT, TYPE_REAL, TYPE_TEXT } value_type;

typedef struct row {
    const char *key;
    value_type type;
    const char *why;
} row;

static const row compiler_rows[] = {
#define COMPILER(key, type, why) { #key, TYPE_##type, why },
#define POPART(key, type, why)
#include "tools/backend_options.def"
#undef COMPILER
#undef POPART
};

static const row popart_rows[] = {
#define COMPILER(key, type, why)
#define POPART(key, type, why) { #key, TYPE_##type, why },
#include "tools/backend_options.def"
#undef COMPILER
#undef POPART
};

enum { MAX_KEYS = 128 };

static poprt_status fail_unknown(const char *key, const row *rows, size_t count)
{
    const char *names[MAX_KEYS];
    char near[256];
    for (size_t i = 0; i < count && i < MAX_KEYS; i++)
        names[i] = rows[i].key;
    prt_nearest(key, names, count < MAX_KEYS ? count : MAX_KEYS, near, sizeof(near));
    return prt_fail(POPRT_E_NOT_FOUND, key, "no such option; near names: %s", near);
}

static bool fits(value_type type, const char *text)
{
    static const char *const bools[] = { "True", "true", "1", "False", "false", "0" };
    int64_t number;
    char *end = NULL;
    switch (type) {
    case TYPE_BOOL:
        for (size_t i = 0; i < PRT_COUNT_OF(bools); i++)
            if (strcmp(text, bools[i]) == 0)
                return true;
        return false;
    case TYPE_INT:
        return prt_opt_parse_number(text, &number);
    case TYPE_REAL:
        (void)strtod(text, &end);
        return end != text && *end == '\0';
    default:
        return true;
    }
}

static poprt_status check(prt_tool *tool, const char *text, const row *rows, size_t count)
{
    static const char *const words[] = { "True or False", "an integer", "a number", "a text" };
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return prt_fail(POPRT_E_ARG, text, "is not of the form KEY=VALUE");
    const size_t size = (size_t)(equals - text);
    for (size_t i = 0; i < count; i++) {
        if (strlen(rows[i].key) != size || memcmp(rows[i].key, text, size) != 0)
            continue;
        if (!fits(rows[i].type, equals + 1))
            return prt_fail(POPRT_E_ARG, rows[i].key, "'%s' is not %s", equals + 1,
                words[rows[i].type]);
        if (rows[i].why != NULL)
            prt_tool_say(tool, POPRT_LOG_INFO, "%s has no effect here: %s", rows[i].key,
                rows[i].why);
        return POPRT_OK;
    }
    const char *key = prt_arena_text(tool->arena, text, size);
    return key != NULL ? fail_unknown(key, rows, count) : POPRT_E_NOMEM;
}

poprt_status prt_convert_backend(prt_tool *tool, const prt_opts *opts)
{
    uint32_t cursor = 0;
    for (const char *v; (v = prt_opt_next(opts, OPT_COMPILER_OPTIONS, &cursor)) != NULL;)
        PRT_TRY(check(tool, v, compiler_rows, PRT_COUNT_OF(compiler_rows)));
    cursor = 0;
    for (const char *v; (v = prt_opt_next(opts, OPT_POPART_OPTIONS, &cursor)) != NULL;)
        PRT_TRY(check(tool, v, popart_rows, PRT_COUNT_OF(popart_rows)));
    return POPRT_OK;
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
