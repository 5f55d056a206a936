/* SPDX-License-Identifier: MIT */
/*
 * json.c — parses by cJSON, copies the tree into an arena, and reads from it.
 *
 * cJSON allocates from the C library without counting, and ends strings at a zero character. A scan
 * of the text therefore runs first: it bounds depth and number of values, and refuses zero
 * characters. cJSON then allocates at most MAX_VALUES nodes. The host may have given cJSON an
 * allocator of its own; an error tells its failure from malformed text (json_check.c).
 */
#include "base/json.h"

#include <cjson/cJSON.h>
#include <math.h>

#include "base/json_check.h"

enum { MAX_DEPTH = 256, MAX_SIZE = 64 << 20, MAX_VALUES = 4 << 20 };

/* From 2^53 on, neighbouring integers may have the same double. */
#define FIRST_INEXACT 9007199254740992.0

static poprt_status refuse(poprt_status status, size_t offset, const char *why)
{
    return prt_fail(status, NULL, "JSON, at byte %zu: %s", offset, why);
}

/* Moves `*at` from behind an opening quote to behind the closing one, or to the end of the text. */
static poprt_status scan_string(const char *text, size_t size, size_t *at)
{
    size_t i = *at;
    while (i < size && text[i] != '"') {
        if (text[i] == '\0' || (size - i >= 6 && memcmp(text + i, "\\u0000", 6) == 0))
            return refuse(POPRT_E_PARSE, i, "a string contains a zero character");
        i += text[i] == '\\' ? 2 : 1;
    }
    *at = i < size ? i + 1 : size;
    return POPRT_OK;
}

/* Bounds the tree that cJSON would build. Malformed text is left to cJSON, which stops at it. */
static poprt_status scan(const char *text, size_t size)
{
    size_t depth = 0, values = 1;
    for (size_t i = 0; i < size;) {
        const char ch = text[i++];
        if (ch == '"') {
            PRT_TRY(scan_string(text, size, &i));
        } else if (ch == '[' || ch == '{') {
            values++;
            if (++depth > MAX_DEPTH)
                return refuse(POPRT_E_LIMIT, i - 1, "values are nested deeper than 256 levels");
        } else if (ch == ']' || ch == '}') {
            depth -= depth != 0;
        } else if (ch == ',') {
            values++;
        } else if (ch == '\0') {
            return refuse(POPRT_E_PARSE, i - 1, "the text contains a zero byte");
        }
        if (values > MAX_VALUES)
            return refuse(POPRT_E_LIMIT, i - 1, "the text has more than 4194304 values");
    }
    return POPRT_OK;
}

static bool copy_text(prt_arena *arena, const char *text, prt_str *out)
{
    const size_t size = strlen(text);
    const char *copy = prt_arena_text(arena, text, size);
    *out = (prt_str){ copy, (uint32_t)size };
    return copy != NULL;
}

/* Copies a value and its items; the scan has bounded the recursion. */
static poprt_status convert(prt_arena *arena, const cJSON *from, prt_json *to)
{
    if (from->string != NULL && !copy_text(arena, from->string, &to->key))
        return POPRT_E_NOMEM;
    if (cJSON_IsBool(from)) {
        to->kind = PRT_JSON_BOOL;
        to->number = cJSON_IsTrue(from) ? 1 : 0;
    } else if (cJSON_IsNumber(from)) {
        if (!isfinite(from->valuedouble))
            return prt_fail(POPRT_E_PARSE, from->string,
                "JSON: a number exceeds the range of a double");
        to->kind = PRT_JSON_NUMBER;
        to->number = from->valuedouble;
    } else if (cJSON_IsString(from)) {
        to->kind = PRT_JSON_STRING;
        return copy_text(arena, from->valuestring, &to->text) ? POPRT_OK : POPRT_E_NOMEM;
    } else if (cJSON_IsArray(from) || cJSON_IsObject(from)) {
        to->kind = cJSON_IsArray(from) ? PRT_JSON_ARRAY : PRT_JSON_OBJECT;
        size_t count = 0;
        for (const cJSON *item = from->child; item != NULL; item = item->next)
            count++;
        to->items = PRT_NEW_N(arena, prt_json, count);
        if (to->items == NULL)
            return POPRT_E_NOMEM;
        for (const cJSON *item = from->child; item != NULL; item = item->next)
            PRT_TRY(convert(arena, item, &to->items[to->count++]));
    }
    return POPRT_OK;
}

static bool only_space(const char *from, const char *end)
{
    while (from < end && (*from == ' ' || *from == '\t' || *from == '\n' || *from == '\r'))
        from++;
    return from == end;
}

poprt_status prt_json_parse(prt_arena *arena, const char *text, size_t size, prt_json **out)
{
    if (size > MAX_SIZE)
        return prt_fail(POPRT_E_LIMIT, NULL, "JSON of %zu bytes; the limit is %d", size, MAX_SIZE);
    PRT_TRY(scan(text, size));
    prt_json *root = PRT_NEW(arena, prt_json);
    if (root == NULL)
        return POPRT_E_NOMEM;
    const char *end = text;
    cJSON *tree = size != 0 ? cJSON_ParseWithLengthOpts(text, size, &end, false) : NULL;
    poprt_status status;
    if (tree == NULL && prt_json_is_wellformed(text, size))
        status = prt_fail(POPRT_E_NOMEM, NULL,
            "no memory for the values of %zu bytes of JSON: cJSON's allocator refused it", size);
    else if (tree == NULL)
        status = refuse(POPRT_E_PARSE, (size_t)(end - text), "the text is malformed");
    else if (!only_space(end, text + size))
        status = refuse(POPRT_E_PARSE, (size_t)(end - text), "text follows the value");
    else
        status = convert(arena, tree, root);
    cJSON_Delete(tree);
    if (status == POPRT_OK)
        *out = root;
    return status;
}

const prt_json *prt_json_get(const prt_json *object, const char *key)
{
    if (object == NULL || object->kind != PRT_JSON_OBJECT)
        return NULL;
    for (uint32_t i = object->count; i-- > 0;)
        if (prt_str_is(object->items[i].key, key))
            return &object->items[i];
    return NULL;
}

static bool i64_of_text(prt_str text, int64_t *out)
{
    const bool negative = text.size != 0 && text.data[0] == '-';
    uint32_t i = negative ? 1 : 0;
    if (i == text.size)
        return false;
    int64_t value = 0;
    for (; i < text.size; i++) {
        const int digit = text.data[i] - '0';
        if (digit < 0 || digit > 9 || !prt_i64_mul(value, 10, &value) ||
            !prt_i64_add(value, negative ? -digit : digit, &value))
            return false;
    }
    *out = value;
    return true;
}

bool prt_json_i64(const prt_json *value, int64_t *out)
{
    if (value == NULL)
        return false;
    if (value->kind == PRT_JSON_STRING)
        return i64_of_text(value->text, out);
    if (value->kind != PRT_JSON_NUMBER || !(fabs(value->number) < FIRST_INEXACT) ||
        value->number != trunc(value->number))
        return false;
    *out = (int64_t)value->number;
    return true;
}

bool prt_json_f64(const prt_json *value, double *out)
{
    if (value == NULL || value->kind != PRT_JSON_NUMBER)
        return false;
    *out = value->number;
    return true;
}

bool prt_json_bool(const prt_json *value, bool *out)
{
    if (value == NULL || value->kind != PRT_JSON_BOOL)
        return false;
    *out = value->number > 0;
    return true;
}

bool prt_json_text(const prt_json *value, prt_str *out)
{
    if (value == NULL || value->kind != PRT_JSON_STRING)
        return false;
    *out = value->text;
    return true;
}
