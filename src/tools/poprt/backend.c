/* SPDX-License-Identifier: MIT */
/*
 * backend.c — the options of --compiler_options that have an effect when a model is compiled: the
 * graph as JSON (serialize_ir), a cache of executables (enable_engine_caching), patterns
 * (custom_patterns) and less memory (available_memory_proportion).
 */
#include <stdio.h>
#include <string.h>

#include "base/accepts.h"
#include "base/file.h"
#include "base/list.h"
#include "base/nearest.h"
#include "tools/poprt/convert.h"

/* A row of patterns.def. */
typedef struct pattern {
    const char *name, *pass;
} pattern;

static const pattern patterns[] = {
#define PATTERN(name, pass) { #name, pass },
#include "tools/poprt/patterns.def"
};

/* ---- serialize_ir */

static poprt_status write_graphs(const poprt_model *model, const char *path)
{
    prt_file_writer *writer = NULL;
    PRT_TRY(prt_fail_in_file(prt_file_writer_create(NULL, path, &writer), path));
    const poprt_status status =
        poprt_model_describe(model, POPRT_FORMAT_GRAPHS_JSON, prt_file_writer_sink, writer);
    return prt_fail_in_file(prt_file_writer_finish(writer, status), path);
}

static poprt_status serialize(const prt_opts *opts, const poprt_model *model)
{
    const char *path = prt_convert_backend_value(opts, "serialized_ir_dest");
    if (!prt_tool_is_true(prt_convert_backend_value(opts, "serialize_ir"), false))
        return POPRT_OK;
    if (path == NULL || path[0] == '\0')
        return prt_fail(POPRT_E_ARG, "serialize_ir",
            "needs a file to write: --compiler_options serialize_ir=True serialized_ir_dest=FILE");
    return write_graphs(model, path);
}

/* ---- enable_engine_caching */

static poprt_status cache(prt_tool *tool, const prt_opts *opts)
{
    const char *path = prt_convert_backend_value(opts, "cache_path");
    if (!prt_tool_is_true(prt_convert_backend_value(opts, "enable_engine_caching"), false))
        return POPRT_OK;
    PRT_TRY(prt_tool_set(tool, "enable_engine_caching=true"));
    if (path == NULL || path[0] == '\0')
        return POPRT_OK; /* compiling reports the missing option */
    PRT_TRY(prt_tool_make_dir(path));
    const char *option = prt_tool_text(tool->arena, "cache_path=%s", path);
    return option != NULL ? prt_tool_set(tool, option) : POPRT_E_NOMEM;
}

/* ---- custom_patterns */

static const pattern *find_pattern(const char *name)
{
    for (size_t i = 0; i < PRT_COUNT_OF(patterns); i++)
        if (strcmp(patterns[i].name, name) == 0)
            return &patterns[i];
    return NULL;
}

/* Adds a pass to the passes of compiling to leave out. */
static poprt_status disable(prt_tool *tool, const char *pass)
{
    const char *now = "";
    if (strcmp(pass, "share_memory") == 0)
        return prt_tool_set(tool, "share_memory=false");
    if (tool->config != NULL)
        PRT_TRY(poprt_config_get(tool->config, "disable_passes", &now));
    const char *all = prt_tool_text(tool->arena, "%s%s%s", now, now[0] != '\0' ? "," : "", pass);
    return all != NULL ? prt_tool_disable(tool, all) : POPRT_E_NOMEM;
}

/* An entry of the list: "NAME", "NAME:1" (or another true value) or "NAME:0". */
typedef struct pattern_setting {
    const char *name;
    const pattern *pattern; /* NULL: the entry names a pass */
    bool on;
} pattern_setting;

static poprt_status read_setting(const prt_tool *tool, prt_str item, pattern_setting *out)
{
    const char *names[PRT_COUNT_OF(patterns)];
    char nearest[256];
    const char *text = prt_arena_text(tool->arena, item.data, item.size);
    if (text == NULL)
        return POPRT_E_NOMEM;
    const char *colon = strchr(text, ':');
    out->name =
        prt_arena_text(tool->arena, text, colon != NULL ? (size_t)(colon - text) : strlen(text));
    if (out->name == NULL)
        return POPRT_E_NOMEM;
    if (colon != NULL && !prt_accepts("bool", colon + 1))
        return prt_fail(POPRT_E_ARG, text,
            "custom_patterns: '%s' is not accepted; expected NAME, NAME:True or NAME:False",
            colon + 1);
    out->on = colon == NULL || prt_tool_is_true(colon + 1, true);
    out->pattern = find_pattern(out->name);
    if (out->pattern != NULL || prt_tool_is_pass(tool, out->name))
        return POPRT_OK;
    for (size_t i = 0; i < PRT_COUNT_OF(patterns); i++)
        names[i] = patterns[i].name;
    prt_nearest(out->name, names, PRT_COUNT_OF(patterns), nearest, sizeof(nearest));
    return prt_fail(POPRT_E_NOT_FOUND, out->name,
        "custom_patterns: there is neither a pass (also of a plug-in: --custom_library_so_paths) "
        "nor a pattern of this name; nearest patterns: %s",
        nearest);
}

static poprt_status apply_setting(prt_tool *tool, const pattern_setting *c, poprt_model *model)
{
    if (c->pattern == NULL)
        return c->on ? prt_tool_run_pass(tool, c->name, NULL, 0, model) : disable(tool, c->name);
    const bool known = c->pattern->pass[0] != '\0';
    if (!c->on && known)
        return disable(tool, c->pattern->pass);
    prt_tool_say(tool, POPRT_LOG_INFO, "pattern %s %s", c->name,
        known ? "is always enabled" : "has no effect on a CPU");
    return POPRT_OK;
}

poprt_status prt_convert_patterns(const prt_tool *tool, const char *list)
{
    prt_str item;
    pattern_setting c;
    while (list != NULL && prt_list_next(&list, &item))
        PRT_TRY(read_setting(tool, item, &c));
    return POPRT_OK;
}

static poprt_status apply_settings(prt_tool *tool, const char *list, poprt_model *model)
{
    prt_str item;
    pattern_setting c;
    while (list != NULL && prt_list_next(&list, &item)) {
        PRT_TRY(read_setting(tool, item, &c));
        PRT_TRY(apply_setting(tool, &c, model));
    }
    return POPRT_OK;
}

/* ---- available_memory_proportion */

/* Marks written by --available_memory_proportion are kept. */
static poprt_status limit_memory(const prt_tool *tool, const char *share, poprt_model *model)
{
    const poprt_pass_arg arg = { "proportion", share };
    return share != NULL ? prt_tool_run_pass(tool, "available_memory_proportion", &arg, 1, model)
                         : POPRT_OK;
}

poprt_status prt_convert_prepare(prt_tool *tool, const prt_opts *opts, poprt_model *model)
{
    PRT_TRY(
        limit_memory(tool, prt_convert_backend_value(opts, "available_memory_proportion"), model));
    PRT_TRY(apply_settings(tool, prt_convert_backend_value(opts, "custom_patterns"), model));
    PRT_TRY(serialize(opts, model));
    return cache(tool, opts);
}
