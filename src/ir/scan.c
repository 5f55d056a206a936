/* SPDX-License-Identifier: MIT */
/* scan.c — scanner for words, strings and numbers of the text form, with line and column. */
#include "ir/scan.h"

#include <stdarg.h>
#include <stdio.h>

static void place_of(const prt_scan *s, unsigned *line, unsigned *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < s->at && i < s->size; i++) {
        if (s->text[i] == '\n') {
            ++*line;
            *column = 1;
        } else {
            ++*column;
        }
    }
}

poprt_status prt_scan_fail(const prt_scan *s, poprt_status status, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof(text), fmt, args) < 0)
        text[0] = '\0';
    va_end(args);
    unsigned line, column;
    place_of(s, &line, &column);
    return prt_fail(status, NULL, "line %u, column %u: %s", line, column, text);
}

poprt_status prt_scan_place(const prt_scan *s, poprt_status status)
{
    prt_error_copy e;
    unsigned line, column;
    prt_error_save(&e);
    place_of(s, &line, &column);
    return prt_fail(status, e.subject, "line %u, column %u: %s", line, column, e.message);
}

void prt_scan_space(prt_scan *s, bool lines)
{
    for (; s->at < s->size; s->at++) {
        const char c = s->text[s->at];
        if (c == '#')
            while (s->at + 1 < s->size && s->text[s->at + 1] != '\n')
                s->at++;
        else if (c != ' ' && c != '\t' && c != '\r' && !(lines && (c == '\n' || c == ';')))
            return;
    }
}

char prt_scan_peek(prt_scan *s)
{
    prt_scan_space(s, false);
    return s->at < s->size ? s->text[s->at] : '\0';
}

bool prt_scan_accept(prt_scan *s, char c)
{
    if (prt_scan_peek(s) != c || s->at >= s->size)
        return false;
    s->at++;
    return true;
}

bool prt_scan_accept_word(prt_scan *s, const char *word)
{
    prt_scan_space(s, false);
    const size_t before = s->at;
    if (prt_str_is(prt_scan_word(s), word))
        return true;
    s->at = before;
    return false;
}

poprt_status prt_scan_expect(prt_scan *s, char c)
{
    if (prt_scan_accept(s, c))
        return POPRT_OK;
    return prt_scan_fail(s, POPRT_E_PARSE, "expected '%c'", c);
}

prt_str prt_scan_word(prt_scan *s)
{
    prt_scan_space(s, false);
    const size_t first = s->at;
    while (s->at < s->size && prt_text_name_char(s->text[s->at]))
        s->at++;
    return (prt_str){ s->text + first, (uint32_t)(s->at - first) };
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static poprt_status unescape(prt_scan *s, char *to)
{
    const char c = s->at < s->size ? s->text[s->at] : '\0';
    s->at++;
    if (c == 'n' || c == 't') {
        *to = c == 'n' ? '\n' : '\t';
    } else if (c == 'x' && s->at + 1 < s->size && hex_digit(s->text[s->at]) >= 0 &&
        hex_digit(s->text[s->at + 1]) >= 0) {
        *to = (char)(hex_digit(s->text[s->at]) * 16 + hex_digit(s->text[s->at + 1]));
        s->at += 2;
    } else if (c == '"' || c == '\\') {
        *to = c;
    } else {
        s->at--;
        return prt_scan_fail(s, POPRT_E_PARSE, "unknown escape in a quoted string");
    }
    return POPRT_OK;
}

poprt_status prt_scan_name(prt_scan *s, prt_str *out)
{
    if (prt_scan_peek(s) != '"') {
        *out = prt_scan_word(s);
        return out->size != 0 ? POPRT_OK : prt_scan_fail(s, POPRT_E_PARSE, "expected a name");
    }
    size_t last = ++s->at;
    while (last < s->size && s->text[last] != '"' && s->text[last] != '\n')
        last += s->text[last] == '\\' && last + 1 < s->size ? 2 : 1;
    char *to = prt_arena_alloc(s->arena, last - s->at + 1);
    if (to == NULL)
        return POPRT_E_NOMEM;
    size_t n = 0;
    while (s->at < s->size && s->text[s->at] != '"') {
        const char c = s->text[s->at++];
        if (c == '\n')
            break;
        to[n] = c;
        if (c == '\\')
            PRT_TRY(unescape(s, &to[n]));
        n++;
    }
    if (s->at >= s->size || s->text[s->at] != '"')
        return prt_scan_fail(s, POPRT_E_PARSE, "quoted string has no end");
    s->at++;
    *out = (prt_str){ to, (uint32_t)n };
    return POPRT_OK;
}

prt_str prt_scan_number(prt_scan *s)
{
    prt_scan_space(s, false);
    const size_t first = s->at;
    while (s->at < s->size && (prt_text_name_char(s->text[s->at]) || s->text[s->at] == '+'))
        s->at++;
    return (prt_str){ s->text + first, (uint32_t)(s->at - first) };
}

poprt_status prt_scan_u32(prt_scan *s, uint32_t *out)
{
    const size_t before = s->at;
    if (prt_text_to_element(PRT_DTYPE_u32, prt_scan_number(s), out, 0))
        return POPRT_OK;
    s->at = before;
    return prt_scan_fail(s, POPRT_E_PARSE, "expected a number");
}
