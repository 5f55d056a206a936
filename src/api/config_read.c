/* SPDX-License-Identifier: MIT */
/*
 * config_read.c — poprt/config.h: texts of many options: JSON, lines KEY = VALUE, and calls of
 * PopTorch's Options. Every value becomes a tree of JSON, which is set member by member on a copy
 * of the config, so that an error leaves the config unchanged.
 */
#include <stdio.h>
#include <string.h>

#include "api/option_names.h"
#include "base/file.h"
#include "base/json.h"

enum { MAX_FILE = 1 << 20, MAX_DEPTH = 16, MAX_ITEMS = 1024 };

/* Returns "a" "b" "c" as one text. */
static const char *join(prt_arena *arena, const char *a, const char *b, const char *c)
{
    const size_t n_a = strlen(a), n_b = strlen(b), n_c = strlen(c);
    char *text = prt_arena_alloc(arena, n_a + n_b + n_c + 1);
    if (text != NULL) {
        memcpy(text, a, n_a);
        memcpy(text + n_a, b, n_b);
        memcpy(text + n_a + n_b, c, n_c + 1);
    }
    return text;
}

/* ---- values */

/* Writes a tree as JSON. */
static void put_json(prt_json_out *out, const char *key, const prt_json *value)
{
    const bool array = value->kind == PRT_JSON_ARRAY;
    int64_t integer = 0;
    if (value->kind == PRT_JSON_STRING) {
        prt_json_put_text(out, key, value->text);
    } else if (value->kind == PRT_JSON_BOOL) {
        prt_json_put_bool(out, key, value->number != 0);
    } else if (value->kind == PRT_JSON_NUMBER && prt_json_i64(value, &integer)) {
        prt_json_put_i64(out, key, integer);
    } else if (array || value->kind == PRT_JSON_OBJECT) {
        prt_json_open(out, key, array ? '[' : '{');
        for (uint32_t i = 0; i < value->count; i++) {
            const prt_str name = value->items[i].key;
            put_json(out, array ? NULL : prt_arena_text(out->arena, name.data, name.size),
                &value->items[i]);
        }
        prt_json_close(out, array ? ']' : '}');
    } else {
        prt_json_put_f64(out, key, value->number);
    }
}

static poprt_status text_of_json(const prt_json *value, prt_arena *arena, const char **out)
{
    prt_json_out json;
    prt_str text;
    prt_json_out_init(&json, arena, false);
    put_json(&json, NULL, value);
    PRT_TRY(prt_json_out_finish(&json, &text));
    *out = prt_arena_text(arena, text.data, text.size);
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

/* Converts a value to the text of an option; elements of a list are separated by commas. */
static poprt_status text_of(const prt_json *value, prt_arena *arena, bool as_json, const char **out)
{
    char number[32];
    int64_t integer = 0;
    if (value->kind == PRT_JSON_STRING) {
        *out = prt_arena_text(arena, value->text.data, value->text.size);
    } else if (as_json) {
        return text_of_json(value, arena, out);
    } else if (value->kind == PRT_JSON_BOOL) {
        *out = value->number != 0 ? "true" : "false";
    } else if (value->kind == PRT_JSON_ARRAY) {
        const char *list = "", *item = NULL;
        for (uint32_t i = 0; i < value->count && list != NULL; i++) {
            PRT_TRY(text_of(&value->items[i], arena, false, &item));
            list = join(arena, list, i != 0 ? "," : "", item);
        }
        *out = list;
    } else if (value->kind == PRT_JSON_NUMBER) {
        if (prt_json_i64(value, &integer))
            (void)snprintf(number, sizeof(number), "%lld", (long long)integer);
        else
            (void)snprintf(number, sizeof(number), "%.17g", value->number);
        *out = prt_arena_text(arena, number, strlen(number));
    } else {
        return prt_fail(POPRT_E_ARG, NULL,
            "the value of an option must be a text, a number, a bool or a list of these");
    }
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

/* Sets an option; members of an object are set as KEY.MEMBER unless the option is JSON. */
static poprt_status set_value(poprt_config *config, prt_arena *arena, const char *key,
    const prt_json *value)
{
    const prt_option_row *row = prt_config_row(key);
    const bool as_json = row != NULL && row->json != NULL;
    const char *text = NULL;
    if (value->kind != PRT_JSON_OBJECT || as_json) {
        PRT_TRY(text_of(value, arena, as_json, &text));
        return prt_config_set(config, key, text);
    }
    for (uint32_t i = 0; i < value->count; i++) {
        const prt_str name = value->items[i].key;
        const char *member = prt_arena_text(arena, name.data, name.size);
        const char *inner = member != NULL && *key != '\0' ? join(arena, key, ".", member) : member;
        if (inner == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(set_value(config, arena, inner, &value->items[i]));
    }
    return POPRT_OK;
}

static poprt_status read_json(poprt_config *config, prt_arena *arena, const char *text, size_t size)
{
    prt_json *root = NULL;
    PRT_TRY(prt_json_parse(arena, text, size, &root));
    if (root->kind != PRT_JSON_OBJECT)
        return prt_fail(POPRT_E_ARG, "json", "expected a JSON object of options");
    return set_value(config, arena, "", root);
}

/* ---- lines */

typedef struct line_reader {
    prt_arena *arena;
    const char *at, *end;
    uint32_t depth;
} line_reader;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

static void skip_blanks(line_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

/* Takes a character after blanks, if it is the next one. */
static bool take(line_reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static poprt_status expected(const line_reader *r, const char *what)
{
    const size_t left = (size_t)(r->end - r->at);
    return prt_fail(POPRT_E_PARSE, NULL, "expected %s before '%.*s'", what,
        (int)(left < 40 ? left : 40), r->at);
}

/* Reads NAME or NAME.NAME... */
static poprt_status read_path(line_reader *r, prt_str *out)
{
    skip_blanks(r);
    const char *first = r->at;
    while (r->at < r->end && is_letter(*r->at)) {
        while (r->at < r->end && is_word(*r->at))
            r->at++;
        if (r->at + 1 < r->end && *r->at == '.' && is_letter(r->at[1]))
            r->at++;
        else
            break;
    }
    *out = (prt_str){ first, (uint32_t)(r->at - first) };
    return out->size != 0 ? POPRT_OK : expected(r, "a name");
}

static poprt_status read_value(line_reader *r, prt_json *out);

static poprt_status read_quoted(line_reader *r, prt_json *out)
{
    const char quote = *r->at++;
    char *text = prt_arena_alloc(r->arena, (size_t)(r->end - r->at) + 1);
    uint32_t n = 0;
    if (text == NULL)
        return POPRT_E_NOMEM;
    while (r->at < r->end && *r->at != quote) {
        if (*r->at == '\\' && r->at + 1 < r->end)
            r->at++;
        text[n++] = *r->at++;
    }
    if (r->at == r->end)
        return prt_fail(POPRT_E_PARSE, NULL, "a text has no closing %c", quote);
    r->at++;
    *out = (prt_json){ .kind = PRT_JSON_STRING, .text = { text, n } };
    return POPRT_OK;
}

/* Reads the items up to `close`: values; KEY: VALUE in a dictionary; values and NAME=VALUE in a
 * call, whose items without a name have an empty key. */
static poprt_status read_items(line_reader *r, char close, prt_json *out)
{
    prt_json *items = PRT_NEW_N(r->arena, prt_json, MAX_ITEMS);
    uint32_t n = 0;
    if (items == NULL)
        return POPRT_E_NOMEM;
    while (!take(r, close)) {
        if (n == MAX_ITEMS)
            return prt_fail(POPRT_E_LIMIT, NULL, "more than %d items", MAX_ITEMS);
        prt_json key = { .kind = PRT_JSON_NULL };
        if (close == ')') {
            const char *first = r->at;
            prt_str name;
            if (read_path(r, &name) == POPRT_OK && take(r, '='))
                key.text = name;
            else
                r->at = first;
        } else if (close == '}') {
            PRT_TRY(read_value(r, &key));
            if (key.kind != PRT_JSON_STRING || !take(r, ':'))
                return expected(r, "KEY: VALUE in a dictionary");
        }
        PRT_TRY(read_value(r, &items[n]));
        items[n++].key = key.text;
        if (!take(r, ',') && (r->at == r->end || *r->at != close))
            return expected(r,
                close == ']'       ? "',' or ']'"
                    : close == '}' ? "',' or '}'"
                                   : "',' or ')'");
    }
    *out = (prt_json){ .kind = close == '}' ? PRT_JSON_OBJECT : PRT_JSON_ARRAY,
        .count = n,
        .items = items };
    return POPRT_OK;
}

/* Reads a word: a bool, an enumerator, or a call with calls of its members behind it, which becomes
 * its own text. */
static poprt_status read_word(line_reader *r, prt_json *out)
{
    const char *first = r->at;
    prt_json items;
    prt_str path;
    PRT_TRY(read_path(r, &path));
    bool call = false;
    while (r->at < r->end && *r->at == '(') {
        call = true;
        r->at++;
        PRT_TRY(read_items(r, ')', &items));
        if (r->at < r->end && *r->at == '.') {
            r->at++;
            PRT_TRY(read_path(r, &path));
        }
    }
    const prt_str text = { first, (uint32_t)(r->at - first) };
    const bool yes = prt_str_is(text, "True") || prt_str_is(text, "true");
    const bool no = prt_str_is(text, "False") || prt_str_is(text, "false");
    if (!call && prt_str_is(text, "None"))
        *out = (prt_json){ .kind = PRT_JSON_STRING, .text = prt_str_of("") };
    else if (!call && (yes || no))
        *out = (prt_json){ .kind = PRT_JSON_BOOL, .number = yes ? 1 : 0 };
    else
        *out = (prt_json){ .kind = PRT_JSON_STRING, .text = text };
    return POPRT_OK;
}

/* Reads a number as a text, which the option checks. */
static poprt_status read_number(line_reader *r, prt_json *out)
{
    const char *first = r->at;
    while (r->at < r->end && (is_word(*r->at) || *r->at == '.' || *r->at == '+' || *r->at == '-'))
        r->at++;
    *out = (prt_json){ .kind = PRT_JSON_STRING, .text = { first, (uint32_t)(r->at - first) } };
    return out->text.size != 0 ? POPRT_OK : expected(r, "a value");
}

static poprt_status read_value(line_reader *r, prt_json *out)
{
    skip_blanks(r);
    if (r->at == r->end)
        return prt_fail(POPRT_E_PARSE, NULL, "a value is missing");
    if (++r->depth > MAX_DEPTH)
        return prt_fail(POPRT_E_LIMIT, NULL, "values are nested more than %d deep", MAX_DEPTH);
    poprt_status status;
    const char c = *r->at;
    if (c == '\'' || c == '"') {
        status = read_quoted(r, out);
    } else if (c == '[' || c == '{' || c == '(') {
        r->at++;
        status = read_items(r, c == '[' ? ']' : c == '{' ? '}' : ')', out);
    } else {
        status = is_letter(c) ? read_word(r, out) : read_number(r, out);
    }
    r->depth--;
    return status;
}

/* Returns the name of argument `i` of a call: that of the i-th row NAME.ARGUMENT; NULL: there is
 * none. */
static const char *argument_name(const char *call, uint32_t i)
{
#ifndef PRT_NO_COMPILER
    const size_t n = strlen(call);
    for (size_t k = 0; k < PRT_OPTION_NAME_COUNT; k++) {
        const char *name = prt_option_names[k].info.name;
        if (strncmp(name, call, n) == 0 && name[n] == '.' && i-- == 0)
            return name + n + 1;
    }
#else
    (void)call;
    (void)i;
#endif
    return NULL;
}

/* Sets a level and a dictionary of patterns that are on or off. */
static poprt_status set_patterns(poprt_config *config, prt_arena *arena, const prt_json *arguments)
{
    const char *lists[2] = { "", "" };
    for (uint32_t i = 0; i < arguments->count; i++) {
        const prt_json *value = &arguments->items[i];
        const bool level = prt_str_is(value->key, "level") || (i == 1 && value->key.size == 0);
        if (level)
            PRT_TRY(set_value(config, arena, "patternsLevel", value));
        else if (value->kind != PRT_JSON_OBJECT)
            return prt_fail(POPRT_E_ARG, "_Popart.setPatterns",
                "takes a dictionary of patterns, and a level");
        for (uint32_t k = 0; !level && k < value->count; k++) {
            const prt_json *item = &value->items[k];
            const char *name = prt_arena_text(arena, item->key.data, item->key.size);
            const char **list = &lists[item->kind == PRT_JSON_BOOL && item->number != 0];
            *list = name != NULL ? join(arena, *list, **list != '\0' ? "," : "", name) : NULL;
            if (*list == NULL)
                return POPRT_E_NOMEM;
        }
    }
    PRT_TRY(prt_config_set(config, "disable_patterns", lists[0]));
    return prt_config_set(config, "enable_patterns", lists[1]);
}

/* Sets what a call of PopTorch's Options sets. */
static poprt_status set_call(poprt_config *config, prt_arena *arena, const char *call,
    const prt_json *arguments)
{
    const prt_json yes = { .kind = PRT_JSON_BOOL, .number = 1 };
    const char *key = NULL;
    if (strcmp(call, "_Popart.set") == 0) {
        if (arguments->count != 2)
            return prt_fail(POPRT_E_ARG, call, "takes a name and a value");
        PRT_TRY(text_of(&arguments->items[0], arena, false, &key));
        return set_value(config, arena, key, &arguments->items[1]);
    }
    if (strcmp(call, "_Popart.setPatterns") == 0)
        return set_patterns(config, arena, arguments);
    if (strcmp(call, "_Popart.setEngineOptions") == 0)
        call = "engineOptions";
    if (arguments->count == 0)
        return set_value(config, arena, call, &yes);
    for (uint32_t i = 0; i < arguments->count; i++) {
        const prt_str given = arguments->items[i].key;
        const char *name = given.size != 0 ? prt_arena_text(arena, given.data, given.size)
                                           : argument_name(call, i);
        key = call;
        if (argument_name(call, 0) != NULL && name != NULL)
            key = join(arena, call, ".", name);
        else if (i != 0)
            return prt_fail(POPRT_E_ARG, call, "takes fewer than %u arguments", i + 1);
        if (key == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(set_value(config, arena, key, &arguments->items[i]));
    }
    return POPRT_OK;
}

/* Reads a value without quotes or brackets: the rest of the line up to a comment. */
static prt_json read_plain(line_reader *r)
{
    const char *first = r->at, *last;
    while (r->at < r->end &&
        !(*r->at == '#' && (r->at == first || r->at[-1] == ' ' || r->at[-1] == '\t')))
        r->at++;
    for (last = r->at; last > first && (last[-1] == ' ' || last[-1] == '\t' || last[-1] == '\r');)
        last--;
    prt_str text = { first, (uint32_t)(last - first) };
    if (prt_str_is(text, "None"))
        text.size = 0;
    return (prt_json){ .kind = PRT_JSON_STRING, .text = text };
}

/* Reads the value of KEY = VALUE. */
static poprt_status read_assigned(line_reader *r, prt_json *out)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at == '#')
        return prt_fail(POPRT_E_PARSE, NULL, "a value is missing");
    if (*r->at == '\'' || *r->at == '"' || *r->at == '[' || *r->at == '{' || *r->at == '(')
        return read_value(r, out);
    *out = read_plain(r);
    return POPRT_OK;
}

static poprt_status read_line(poprt_config *config, prt_arena *arena, const char *line, size_t size)
{
    line_reader r = { .arena = arena, .at = line, .end = line + size };
    prt_json value;
    prt_str path;
    skip_blanks(&r);
    if (r.at == r.end || *r.at == '#')
        return POPRT_OK;
    PRT_TRY(read_path(&r, &path));
    if (path.size > 8 && memcmp(path.data, "options.", 8) == 0)
        path = (prt_str){ path.data + 8, path.size - 8 };
    const char *key = prt_arena_text(arena, path.data, path.size);
    if (key == NULL)
        return POPRT_E_NOMEM;
    const bool call = take(&r, '(');
    if (!call && !take(&r, '=') && !take(&r, ':'))
        return expected(&r, "'(', '=' or ':'");
    PRT_TRY(call ? read_items(&r, ')', &value) : read_assigned(&r, &value));
    skip_blanks(&r);
    if (r.at != r.end && *r.at != '#')
        return expected(&r, "the end of the line");
    return call ? set_call(config, arena, key, &value) : set_value(config, arena, key, &value);
}

/* Names the line in the recorded failure. */
static poprt_status fail_in_line(poprt_status status, uint32_t line)
{
    char subject[256], message[1024];
    const poprt_error *error = poprt_last_error();
    if (status == POPRT_E_NOMEM)
        return status;
    (void)snprintf(subject, sizeof(subject), "%s", error->subject);
    (void)snprintf(message, sizeof(message), "line %u: %s", line, error->message);
    return prt_fail(status, subject, "%s", message);
}

static poprt_status read_lines(poprt_config *config, prt_arena *arena, const char *text,
    size_t size)
{
    uint32_t line = 1;
    for (const char *end = text + size; text < end; line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        const size_t n = (size_t)((stop != NULL ? stop : end) - text);
        const poprt_status status = read_line(config, arena, text, n);
        if (status != POPRT_OK)
            return fail_in_line(status, line);
        text += n + 1;
    }
    return POPRT_OK;
}

/* ---- public functions */

static poprt_status read_text(poprt_config *config, const char *text, size_t size, bool json)
{
    poprt_config *copy = NULL;
    prt_arena *arena = NULL;
    PRT_TRY(prt_config_check_changeable(config));
    PRT_TRY(poprt_config_clone(config, &copy));
    poprt_status status = prt_arena_create(&config->env->allocator, 0, &arena);
    if (status == POPRT_OK)
        status = (json ? read_json : read_lines)(copy, arena, text, size);
    if (status == POPRT_OK) {
        poprt_config swap = *config;
        *config = *copy;
        *copy = swap;
    }
    prt_arena_release(arena);
    poprt_config_release(copy);
    return status;
}

poprt_status poprt_config_merge_json(poprt_config *config, const char *json, size_t size)
{
    PRT_REQUIRE(config);
    PRT_REQUIRE(json);
    return read_text(config, json, size, true);
}

poprt_status poprt_config_load_text(poprt_config *config, const char *file, const char *text,
    size_t size)
{
    PRT_REQUIRE(config);
    PRT_REQUIRE(text);
    if (size > MAX_FILE)
        return prt_fail(POPRT_E_LIMIT, file != NULL ? file : "text",
            "options take at most %d bytes", MAX_FILE);
    size_t i = 0;
    while (i < size && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n'))
        i++;
    const bool json = i < size && text[i] == '{';
    const poprt_status status = read_text(config, text, size, json);
    return file != NULL ? prt_fail_in_file(status, file) : status;
}

poprt_status poprt_config_load_file(poprt_config *config, const char *path)
{
    PRT_REQUIRE(config);
    PRT_REQUIRE(path);
    prt_blob *blob = NULL;
    PRT_TRY(prt_fail_in_file(prt_file_map(&config->env->allocator, path, &blob), path));
    const poprt_status status =
        poprt_config_load_text(config, path, (const char *)blob->data, blob->size);
    prt_blob_release(blob);
    return status;
}
