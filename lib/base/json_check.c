/* SPDX-License-Identifier: MIT */
/*
 * json_check.c — a check of the grammar of JSON (RFC 8259) that builds no tree.
 *
 * cJSON does not say why it returned no tree. If this check accepts the text, cJSON's allocator
 * must have refused: it belongs to the host if the host called cJSON_InitHooks. The check accepts
 * slightly less than cJSON does; for instance it refuses numbers such as 01.
 */
#include "base/json_check.h"

#include <string.h>

typedef struct text {
    const char *at, *end;
    unsigned depth;
} text;

static bool value(text *t);

static void skip_space(text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t' || *t->at == '\n' || *t->at == '\r'))
        t->at++;
}

static bool accept(text *t, char ch)
{
    if (t->at == t->end || *t->at != ch)
        return false;
    t->at++;
    return true;
}

static bool word(text *t, const char *word)
{
    const size_t n = strlen(word);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
        return false;
    t->at += n;
    return true;
}

static bool digits(text *t)
{
    const char *begin = t->at;
    while (t->at < t->end && *t->at >= '0' && *t->at <= '9')
        t->at++;
    return t->at != begin;
}

static bool number(text *t)
{
    (void)accept(t, '-');
    if (!accept(t, '0') && !digits(t))
        return false;
    if (accept(t, '.') && !digits(t))
        return false;
    if (!accept(t, 'e') && !accept(t, 'E'))
        return true;
    if (!accept(t, '-'))
        (void)accept(t, '+');
    return digits(t);
}

/* Returns the value of the four digits of \uXXXX; -1 if they are not hexadecimal. */
static long hex4(text *t)
{
    long code = 0;
    if (t->end - t->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        const char ch = *t->at++;
        const char *hex = "0123456789abcdef";
        const char *found = strchr(hex, ch >= 'A' && ch <= 'F' ? ch - 'A' + 'a' : ch);
        if (ch == '\0' || found == NULL)
            return -1;
        code = code * 16 + (found - hex);
    }
    return code;
}

/* Checks an escape, from behind the backslash. */
static bool escape(text *t)
{
    if (t->at == t->end)
        return false;
    const char ch = *t->at++;
    if (ch != 'u')
        return ch != '\0' && strchr("\"\\/bfnrt", ch) != NULL;
    const long code = hex4(t);
    if (code < 0xd800 || code > 0xdfff)
        return code >= 0;
    if (code > 0xdbff || !accept(t, '\\') || !accept(t, 'u'))
        return false;
    const long low = hex4(t);
    return low >= 0xdc00 && low <= 0xdfff;
}

static bool string(text *t)
{
    if (!accept(t, '"'))
        return false;
    while (t->at < t->end) {
        const char ch = *t->at++;
        if (ch == '"')
            return true;
        if (ch == '\\' && !escape(t))
            return false;
    }
    return false;
}

static bool member(text *t)
{
    skip_space(t);
    if (!string(t))
        return false;
    skip_space(t);
    return accept(t, ':') && value(t);
}

/* Checks the items of an array or object, from behind the opening bracket. */
static bool items(text *t, char close, bool (*item)(text *t))
{
    skip_space(t);
    if (accept(t, close))
        return true;
    do {
        if (!item(t))
            return false;
        skip_space(t);
    } while (accept(t, ','));
    return accept(t, close);
}

static bool value(text *t)
{
    bool good;
    if (t->depth == PRT_JSON_MAX_DEPTH)
        return false;
    t->depth++;
    skip_space(t);
    if (t->at == t->end)
        good = false;
    else if (*t->at == '"')
        good = string(t);
    else if (accept(t, '['))
        good = items(t, ']', value);
    else if (accept(t, '{'))
        good = items(t, '}', member);
    else
        good = word(t, "null") || word(t, "true") || word(t, "false") || number(t);
    t->depth--;
    return good;
}

bool prt_json_is_wellformed(const char *bytes, size_t size)
{
    text t = { .at = bytes, .end = bytes + size };
    if (!value(&t))
        return false;
    skip_space(&t);
    return t.at == t.end;
}
