/* SPDX-License-Identifier: MIT */
/* log.c — log lines and environment variables of the tool; see log.h. */
#define _DEFAULT_SOURCE
#include "tools/common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/str.h"

/* The destination of lines; NULL: standard error. */
static FILE *destination;

static FILE *stream(void)
{
    return destination != NULL ? destination : stderr;
}

void prt_tool_close_log(void)
{
    if (destination != NULL && destination != stdout)
        (void)fclose(destination);
    destination = NULL;
}

/* ---- lines */

/* Prints "YYYY-MM-DD hh:mm:ss,mmm LEVEL [poprt] ". */
static void print_head(int32_t level)
{
    static const char *const names[] = { "CRITICAL", "", "ERROR", "WARNING", "INFO", "DEBUG",
        "TRACE" };
    struct timespec now = { 0 };
    struct tm parts;
    char date[32] = "";
    const bool known = level >= POPRT_LOG_CRITICAL && level <= POPRT_LOG_TRACE;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (localtime_r(&now.tv_sec, &parts) != NULL)
        (void)strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &parts);
    (void)fprintf(stream(), "%s,%03d %s [poprt] ", date, (int)(now.tv_nsec / 1000000),
        known ? names[level - POPRT_LOG_CRITICAL] : "ERROR");
}

void prt_tool_log(int32_t level, const char *file, int line, const char *fmt, ...)
{
    const char *slash = strrchr(file, '/');
    print_head(level);
    (void)fprintf(stream(), "%s:%d] ", slash != NULL ? slash + 1 : file, line);
    va_list args;
    va_start(args, fmt);
    (void)vfprintf(stream(), fmt, args);
    va_end(args);
    (void)fprintf(stream(), "\n");
    (void)fflush(stream());
}

void prt_tool_log_line(void *user, int32_t level, const char *module, const char *text)
{
    prt_tool *tool = user;
    if (!tool->levels_are_given && level > tool->log_level)
        return;
    prt_progress_clear(&tool->progress);
    if (level == POPRT_LOG_OUTPUT) {
        (void)printf("%s\n", text);
        return;
    }
    print_head(level);
    (void)fprintf(stream(), "%s] %s\n", module, text);
    (void)fflush(stream());
}

void prt_tool_say(const prt_tool *tool, int32_t level, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    if (level > tool->log_level)
        return;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof(text), fmt, args) < 0)
        text[0] = '\0';
    va_end(args);
    prt_progress_clear((prt_progress *)(uintptr_t)&tool->progress);
    prt_tool_log(level, "tool.c", __LINE__, "%s", text);
}

void prt_tool_set_log_level(prt_tool *tool, int32_t level)
{
    tool->log_level = level;
    tool->levels_are_given = false;
    (void)poprt_env_set_log_level(tool->env, NULL, level);
}

/* ---- environment variables */

/* A variable under our name, and the names of PopTorch and PopART for it; NULL: there is none. */
typedef struct variable {
    const char *names[3];
} variable;

static const variable level_variable = { { "POPRT_LOG_LEVEL", "POPTORCH_LOG_LEVEL",
    "POPART_LOG_LEVEL" } };
static const variable destination_variable = { { "POPRT_LOG_DEST", "POPTORCH_LOG_DEST",
    "POPART_LOG_DEST" } };
static const variable config_variable = { { "POPRT_LOG_CONFIG", NULL, "POPART_LOG_CONFIG" } };
static const variable ir_variable = { { "POPRT_IR_DUMP", NULL, "POPART_IR_DUMP" } };
static const variable cache_variable = { { "POPRT_CACHE_DIR", "POPTORCH_CACHE_DIR",
    "POPART_CACHE_DIR" } };

/* Returns the value of the first name that is set to a text, and the name; or NULL. */
static const char *value_of(const variable *v, const char **name)
{
    for (size_t i = 0; i < PRT_COUNT_OF(v->names); i++) {
        const char *value = v->names[i] != NULL ? getenv(v->names[i]) : NULL;
        *name = v->names[i];
        if (value != NULL && value[0] != '\0')
            return value;
    }
    return NULL;
}

/* Finds a level by our names, or by the further names and the numbers of PopTorch. */
static poprt_status find_level(const char *subject, const char *text, int32_t *out)
{
    static const struct {
        const char *name;
        int32_t level;
    } rows[] = { { "TRACE_ALL", POPRT_LOG_TRACE }, { "DEBUG_IR", POPRT_LOG_DEBUG },
        { "0", POPRT_LOG_TRACE }, { "1", POPRT_LOG_DEBUG }, { "2", POPRT_LOG_INFO },
        { "3", POPRT_LOG_WARNING }, { "4", POPRT_LOG_ERROR }, { "5", POPRT_LOG_CRITICAL },
        { "6", POPRT_LOG_OFF } };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
        if (strcmp(text, rows[i].name) == 0) {
            *out = rows[i].level;
            return POPRT_OK;
        }
    if (poprt_log_level_of(text, out) == POPRT_OK)
        return POPRT_OK;
    return prt_fail(POPRT_E_ARG, subject,
        "'%.100s' is not accepted; expected one of off, critical, error, warning, info, debug, "
        "trace",
        text);
}

/* Sets the level of a module, which may have its name in PopART. */
static poprt_status set_module(const prt_tool *tool, const char *subject, const char *module,
    int32_t level)
{
    static const char *const rows[][2] = { { "popart", NULL }, { "ir", "model" },
        { "devicex", "compile" }, { "transform", "pass" }, { "pattern", "pass" },
        { "ces", "compile" }, { "opx", "session" } };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
        if (strcmp(module, rows[i][0]) == 0)
            return poprt_env_set_log_level(tool->env, rows[i][1], level);
    if (poprt_env_set_log_level(tool->env, module, level) == POPRT_OK)
        return POPRT_OK;
    return prt_fail(POPRT_E_ARG, subject, "module '%.100s': %s", module,
        poprt_last_error()->message);
}

/* Applies "LEVEL", or a list of "LEVEL" and "MODULE=LEVEL" separated by commas. */
static poprt_status apply_levels(prt_tool *tool, const char *subject, const char *text)
{
    char *const copy = prt_arena_text(tool->arena, text, strlen(text));
    if (copy == NULL)
        return POPRT_E_NOMEM;
    for (char *at = copy, *next; at != NULL; at = next) {
        int32_t level = 0;
        next = strchr(at, ',');
        if (next != NULL)
            *next++ = '\0';
        char *equals = strpbrk(at, "=:");
        if (equals != NULL)
            *equals = '\0';
        PRT_TRY(find_level(subject, equals != NULL ? equals + 1 : at, &level));
        if (equals != NULL) {
            PRT_TRY(set_module(tool, subject, at, level));
            continue;
        }
        tool->log_level = level;
        PRT_TRY(poprt_env_set_log_level(tool->env, NULL, level));
    }
    return POPRT_OK;
}

/* Applies a JSON file of the form {"MODULE": "LEVEL", ...}. */
static poprt_status apply_config(const prt_tool *tool, const char *subject, const char *path)
{
    prt_blob *file = NULL;
    prt_json *json = NULL;
    PRT_TRY(prt_fail_in_file(prt_file_map(NULL, path, &file), path));
    poprt_status status = prt_json_parse(tool->arena, (const char *)file->data, file->size, &json);
    if (status == POPRT_OK && json->kind != PRT_JSON_OBJECT)
        status = prt_fail(POPRT_E_ARG, subject, "must be an object: {\"module\": \"level\"}");
    for (uint32_t i = 0; status == POPRT_OK && i < json->count; i++) {
        const prt_json *m = &json->items[i];
        int32_t level = 0;
        if (m->kind != PRT_JSON_STRING)
            status =
                prt_fail(POPRT_E_ARG, subject, "the level of '%.100s' must be a text", m->key.data);
        if (status == POPRT_OK)
            status = find_level(subject, m->text.data, &level);
        if (status == POPRT_OK)
            status = set_module(tool, subject, m->key.data, level);
    }
    prt_blob_release(file);
    return prt_fail_in_file(prt_fail_about(status, subject), path);
}

static poprt_status open_destination(const char *subject, const char *path)
{
    if (strcmp(path, "stderr") == 0)
        return POPRT_OK;
    destination = strcmp(path, "stdout") == 0 ? stdout : fopen(path, "ae");
    return destination != NULL
        ? POPRT_OK
        : prt_fail_in_file(prt_fail(POPRT_E_ARG, subject, "cannot be opened: %s", strerror(errno)),
              path);
}

poprt_status prt_tool_read_variables(prt_tool *tool)
{
    const char *name = NULL, *value = value_of(&destination_variable, &name);
    if (value != NULL)
        PRT_TRY(open_destination(name, value));
    value = value_of(&level_variable, &name);
    tool->levels_are_given = value != NULL;
    if (value != NULL)
        PRT_TRY(apply_levels(tool, name, value));
    value = value_of(&config_variable, &name);
    if (value != NULL) {
        /* Modules that the file does not name keep the level of the tool. */
        if (!tool->levels_are_given)
            PRT_TRY(poprt_env_set_log_level(tool->env, NULL, tool->log_level));
        tool->levels_are_given = true;
        PRT_TRY(apply_config(tool, name, value));
    }
    tool->ir_dump = value_of(&ir_variable, &name);
    value = value_of(&cache_variable, &name);
    if (value == NULL)
        return POPRT_OK;
    const char *path = prt_tool_text(tool->arena, "cache_path=%s", value);
    if (path == NULL)
        return prt_fail_about(POPRT_E_LIMIT, name);
    PRT_TRY(prt_tool_make_dir(value));
    PRT_TRY(prt_tool_set(tool, "enable_engine_caching=true"));
    return prt_tool_set(tool, path);
}
