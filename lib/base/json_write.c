/* SPDX-License-Identifier: MIT */
/*
 * json_write.c — the JSON writer: one growing buffer, and a flag that says whether a comma comes
 * next.
 *
 * json.c can read all of its output: text is made valid UTF-8 without zero characters, and integers
 * that are not exact in double become strings.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/vec.h"

#define MAX_EXACT INT64_C(9007199254740991)
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

void prt_json_out_init(prt_json_out *out, prt_arena *arena, bool pretty)
{
    *out = (prt_json_out){ .arena = arena, .pretty = pretty };
}

/* Reserves `size` more bytes and a zero byte after them. */
static bool reserve(prt_json_out *out, size_t size)
{
    size_t need;
    if (out->failed || !prt_size_add(out->size, size, &need) || need >= UINT32_MAX) {
        out->failed = true;
        return false;
    }
    if (!prt_vec_reserve(out->arena, (void **)&out->data, &out->capacity, out->size, size + 1, 1)) {
        out->failed = true;
        return false;
    }
    return true;
}

static void write_bytes(prt_json_out *out, const char *bytes, size_t size)
{
    if (!reserve(out, size))
        return;
    memcpy(out->data + out->size, bytes, size);
    out->size += size;
}

static void write_line_break(prt_json_out *out)
{
    if (!out->pretty)
        return;
    write_bytes(out, "\n", 1);
    for (uint32_t i = 0; i < out->depth; i++)
        write_bytes(out, "  ", 2);
}

/* Returns the length of the valid UTF-8 sequence at `p`; 0 for overlong sequences, surrogates and
 * codes above U+10FFFF. */
static size_t utf8_length(const unsigned char *p, size_t left)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (p[0] < 0x80)
        return 1;
    const size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n > left)
        return 0;
    uint32_t code = p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3fu);
    }
    if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    return n;
}

static void write_escape(prt_json_out *out, unsigned char ch)
{
    static const char letters[] = "btn fr"; /* for the codes 8 to 13 */
    char text[8] = { '\\', (char)ch };
    size_t n = 2;
    if (ch >= 8 && ch <= 13 && ch != 11)
        text[1] = letters[ch - 8];
    else if (ch < 0x20)
        n = (size_t)snprintf(text, sizeof(text), "\\u%04x", ch);
    write_bytes(out, text, n);
}

static void write_quoted(prt_json_out *out, prt_str text)
{
    const unsigned char *p = (const unsigned char *)text.data;
    write_bytes(out, "\"", 1);
    for (size_t i = 0; i < text.size;) {
        const size_t n = utf8_length(p + i, text.size - i);
        if (n == 0 || p[i] == '\0')
            write_bytes(out, REPLACEMENT, 3);
        else if (p[i] < 0x20 || p[i] == '"' || p[i] == '\\')
            write_escape(out, p[i]);
        else
            write_bytes(out, text.data + i, n);
        i += n != 0 ? n : 1;
    }
    write_bytes(out, "\"", 1);
}

/* Writes the text in front of any value: comma, line break, key. */
static void begin_value(prt_json_out *out, const char *key)
{
    if (out->comma)
        write_bytes(out, ",", 1);
    if (out->depth != 0)
        write_line_break(out);
    if (key != NULL) {
        write_quoted(out, prt_str_of(key));
        write_bytes(out, ": ", out->pretty ? 2 : 1);
    }
    out->comma = true;
}

void prt_json_open(prt_json_out *out, const char *key, char bracket)
{
    begin_value(out, key);
    write_bytes(out, &bracket, 1);
    out->comma = false;
    out->depth++;
}

void prt_json_close(prt_json_out *out, char bracket)
{
    PRT_ASSERT(out->depth != 0);
    const bool empty = !out->comma;
    out->depth--;
    if (!empty)
        write_line_break(out);
    write_bytes(out, &bracket, 1);
    out->comma = true;
}

void prt_json_put_text(prt_json_out *out, const char *key, prt_str text)
{
    begin_value(out, key);
    write_quoted(out, text);
}

void prt_json_put_i64(prt_json_out *out, const char *key, int64_t value)
{
    const bool exact = value >= -MAX_EXACT && value <= MAX_EXACT;
    char text[32];
    const int n = snprintf(text, sizeof(text), exact ? "%" PRId64 : "\"%" PRId64 "\"", value);
    begin_value(out, key);
    write_bytes(out, text, (size_t)n);
}

void prt_json_put_f64(prt_json_out *out, const char *key, double value)
{
    begin_value(out, key);
    if (!isfinite(value)) {
        write_bytes(out, "null", 4);
        return;
    }
    /* Uses the fewest of 15 to 17 digits that read back as the same double. */
    char text[40];
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(text, sizeof(text), "%.*g", digits, value);
        if (!(strtod(text, NULL) < value || strtod(text, NULL) > value))
            break;
    }
    /* The host's locale may have another decimal mark, of one byte or more. */
    const int head = (int)strspn(text, "-0123456789");
    const int mark = (int)strcspn(text + head, "e0123456789");
    write_bytes(out, text, (size_t)head);
    if (mark != 0)
        write_bytes(out, ".", 1);
    write_bytes(out, text + head + mark, (size_t)(n - head - mark));
}

void prt_json_put_bool(prt_json_out *out, const char *key, bool value)
{
    begin_value(out, key);
    write_bytes(out, value ? "true" : "false", value ? 4 : 5);
}

poprt_status prt_json_out_finish(prt_json_out *out, prt_str *text)
{
    PRT_ASSERT(out->depth == 0);
    if (!reserve(out, 1))
        return prt_fail_nomem(out->size);
    out->data[out->size] = '\0';
    *text = (prt_str){ out->data, (uint32_t)out->size };
    return POPRT_OK;
}
