/* SPDX-License-Identifier: MIT */
/*
 * convert_config.c — converts options of the command line to a poprt_config. Most have the same
 * name there; lists of KEY=VALUE become JSON.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "tools/poprt/convert.h"

static const uint8_t uses[OPT_COUNT] = {
#define OPT(id, name, letter, arity, value, takes, accepts, use, help) [OPT_##id] = PRT_USE_##use,
#define CONFIG(id, key, arity, value, takes, accepts, absent, use) [OPT_##id] = PRT_USE_##use,
#define ALIAS(id, name, key, arity, use) [OPT_##id] = PRT_USE_##use,
#include "tools/poprt/convert.def"
};

/* Writes dimensions, separated by commas, into an open JSON array. */
static poprt_status write_dims(prt_tool *tool, prt_json_out *out, const char *text, size_t size,
    const char *whole)
{
    for (const char *p = text; p < text + size;) {
        const size_t left = (size_t)(text + size - p);
        size_t n = strcspn(p, ",");
        int64_t dim;
        n = n < left ? n : left;
        const char *word = prt_arena_text(tool->arena, p, n);
        if (word == NULL)
            return POPRT_E_NOMEM;
        if (!prt_opt_parse_number(word, &dim) || dim < 0)
            return prt_fail(POPRT_E_ARG, whole, "'%s' is not a dimension", word);
        prt_json_put_i64(out, NULL, dim);
        p += n + (n < left);
    }
    return POPRT_OK;
}

/* Writes "NAME=D0,D1,…", split at the last '='. "NAME=" is a scalar. */
static poprt_status write_shape(prt_tool *tool, prt_json_out *out, const char *text)
{
    const char *equals = strrchr(text, '=');
    if (equals == NULL || equals == text)
        return prt_fail(POPRT_E_ARG, text, "a shape must have the form NAME=D0,D1,...");
    const char *name = prt_arena_text(tool->arena, text, (size_t)(equals - text));
    if (name == NULL)
        return POPRT_E_NOMEM;
    prt_json_open(out, name, '[');
    PRT_TRY(write_dims(tool, out, equals + 1, strlen(equals + 1), text));
    prt_json_close(out, ']');
    return POPRT_OK;
}

static poprt_status write_pair(prt_tool *tool, prt_json_out *out, const char *text, bool last)
{
    const char *equals = last ? strrchr(text, '=') : strchr(text, '=');
    if (equals == NULL || equals == text)
        return prt_fail(POPRT_E_ARG, text, "must have the form KEY=VALUE");
    const char *key = prt_arena_text(tool->arena, text, (size_t)(equals - text));
    if (key == NULL)
        return POPRT_E_NOMEM;
    prt_json_put_text(out, key, prt_str_of(equals + 1));
    return POPRT_OK;
}

/* Writes "TYPE,[D0,D1,…]" or "TYPE,[D0,D1,…],NUMBER". */
static poprt_status write_group(prt_tool *tool, prt_json_out *out, const char *text)
{
    const char *open = strstr(text, ",[");
    const char *close = open != NULL ? strchr(open, ']') : NULL;
    int64_t number;
    if (close == NULL || open == text)
        return prt_fail(POPRT_E_ARG, text, "must have the form TYPE,[D0,D1,...],NUMBER");
    prt_json_open(out, NULL, '[');
    prt_json_put_text(out, NULL, (prt_str){ text, (uint32_t)(open - text) });
    prt_json_open(out, NULL, '[');
    PRT_TRY(write_dims(tool, out, open + 2, (size_t)(close - open - 2), text));
    prt_json_close(out, ']');
    if (close[1] == ',' && close[2] != '\0') {
        if (!prt_opt_parse_number(close + 2, &number))
            return prt_fail(POPRT_E_ARG, text, "'%s' is not a number of inputs", close + 2);
        prt_json_put_i64(out, NULL, number);
    }
    prt_json_close(out, ']');
    return POPRT_OK;
}

static poprt_status write_item(prt_tool *tool, prt_json_out *out, uint32_t use, const char *text)
{
    switch (use) {
    case PRT_USE_SHAPES:
        return write_shape(tool, out, text);
    case PRT_USE_GROUPS:
        return write_group(tool, out, text);
    default:
        return write_pair(tool, out, text, use == PRT_USE_PAIRS);
    }
}

/* Gathers all values of an option as one JSON text. */
static poprt_status gather_values(prt_tool *tool, const prt_opts *opts, uint32_t option,
    const char **text)
{
    const bool array = uses[option] == PRT_USE_GROUPS;
    prt_json_out out;
    prt_str all;
    uint32_t cursor = 0;
    prt_json_out_init(&out, tool->arena, false);
    prt_json_open(&out, NULL, array ? '[' : '{');
    for (const char *v; (v = prt_opt_next(opts, option, &cursor)) != NULL;)
        PRT_TRY(write_item(tool, &out, uses[option], v));
    prt_json_close(&out, array ? ']' : '}');
    PRT_TRY(prt_json_out_finish(&out, &all));
    *text = prt_arena_text(tool->arena, all.data, all.size);
    return *text != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status set_option(prt_tool *tool, const prt_opts *opts, uint32_t option,
    poprt_config *config)
{
    const prt_opt_def *o = &opts->command->options[option];
    const char *text = NULL;
    switch (uses[option]) {
    case PRT_USE_TOOL:
    case PRT_USE_MODEL:
        return POPRT_OK;
    case PRT_USE_NOTE:
        prt_tool_say(tool, POPRT_LOG_INFO, "--%s has no effect on a CPU%s%s", o->name,
            o->help != NULL ? ": " : "", o->help != NULL ? o->help : "");
        return POPRT_OK;
    case PRT_USE_SWITCH:
        text = "true";
        break;
    case PRT_USE_TEXT:
        text = prt_opt_value(opts, option, NULL);
        if (text[0] == '\0') /* a list of words that was left empty */
            return POPRT_OK;
        break;
    default:
        PRT_TRY(prt_fail_about(gather_values(tool, opts, option, &text), o->name));
    }
    return poprt_config_set(config, o->row->info.key, text);
}

static poprt_status set_all(prt_tool *tool, const prt_opts *opts, const char *dir,
    poprt_config *config)
{
    if (dir != NULL)
        PRT_TRY(poprt_config_set(config, "output_dir", dir));
    for (uint32_t i = 0; i < OPT_COUNT; i++)
        if (prt_opt_has(opts, i))
            PRT_TRY(set_option(tool, opts, i, config));
        else if (uses[i] == PRT_USE_TEXT && opts->command->options[i].absent != NULL)
            PRT_TRY(poprt_config_set(config, opts->command->options[i].row->info.key,
                opts->command->options[i].absent));
    if (tool->keeps_int64 && strcmp(prt_opt_value(opts, OPT_TARGET, "cpu"), "ipu") != 0) {
        const char *skipped = prt_opt_value(opts, OPT_SKIP_PASSES, "");
        const char *all = prt_tool_text(tool->arena, "int64_to_int32%s%s",
            skipped[0] != '\0' ? "," : "", skipped);
        if (all == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(poprt_config_set(config, "skip_passes", all));
    }
    const char *sharding = prt_opt_value(opts, OPT_MANUAL_SHARDING_CONFIG, NULL);
    return sharding != NULL ? prt_convert_sharding(tool, sharding, config) : POPRT_OK;
}

bool prt_convert_is_of_model(uint32_t option)
{
    return uses[option] != PRT_USE_TOOL;
}

poprt_status prt_convert_config(prt_tool *tool, const prt_opts *opts, const char *dir,
    poprt_config **out)
{
    poprt_config *config = NULL;
    PRT_TRY(poprt_config_create(tool->env, &config));
    const poprt_status status = set_all(tool, opts, dir, config);
    if (status != POPRT_OK) {
        poprt_config_release(config);
        return status;
    }
    *out = config;
    return POPRT_OK;
}
