/* SPDX-License-Identifier: MIT */
/*
 * graphs.c — random graphs, built statement by statement. A statement that does not parse, or
 * whose types do not fit, is removed.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/lists.h"

enum { MOST_TEXT = 16384, MOST_VALUES = 64, RECENT = 4, TRIES_PER_LINE = 12 };

typedef struct writer {
    fuzz_dice *dice;
    char text[MOST_TEXT];
    size_t size;
    uint32_t values;  /* v0, v1, ... */
    uint32_t helpers; /* of all statements; named h0, h1, ... */
} writer;

static const struct {
    uint32_t values;
    const char *text;
} lines[] = {
#define LINE(values, text) { values, text },
#include "fuzz/graphs.def"
};

static void put_text(writer *w, const char *text)
{
    while (*text != '\0' && w->size + 1 < sizeof(w->text))
        w->text[w->size++] = *text++;
    w->text[w->size] = '\0';
}

static void put_number(writer *w, const char *before, long long n)
{
    char text[40];
    (void)snprintf(text, sizeof(text), "%s%lld", before, n);
    put_text(w, text);
}

static void put_value(writer *w)
{
    const size_t recent = w->values < RECENT ? w->values : RECENT;
    put_number(w, "v",
        (long long)(fuzz_below(w->dice, 3) != 0 ? w->values - 1 - fuzz_below(w->dice, recent)
                                                : fuzz_below(w->dice, w->values)));
}

static void put_constant(writer *w)
{
    static const char *const numbers[] = { "0", "1", "-1", "2", "0.5", "-0.25", "3", "0.0001" };
    put_text(w, numbers[fuzz_below(w->dice, PRT_COUNT_OF(numbers))]);
}

/* Writes the names of the last statement's values. */
static void put_names(writer *w, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        put_number(w, i == 0 ? "v" : ", v", w->values + i);
    put_text(w, " = ");
}

/* Expands a letter after %. */
static void put_word(writer *w, char letter, uint32_t *helpers)
{
    switch (letter) {
    case 'v':
        put_value(w);
        break;
    case 'd':
        put_number(w, "", (long long)fuzz_below(w->dice, 4));
        break;
    case 'n':
        put_number(w, "", (long long)fuzz_below(w->dice, 7) - 3);
        break;
    case 'f':
        put_constant(w);
        break;
    default:
        put_number(w, "h", w->helpers + (*helpers)++);
        break;
    }
}

static bool is_helper(const char *at, const char *start)
{
    return at[0] == 't' && at[1] >= '0' && at[1] <= '9' && (at == start || at[-1] == ' ');
}

static uint32_t put_line(writer *w, const char *text, uint32_t values)
{
    uint32_t helpers = 0;
    const char *statement = text, *next;
    for (const char *line = text; (next = strchr(line, '\n')) != NULL && line[0] == '%';)
        statement = line = next + 1;
    for (const char *at = text; *at != '\0'; at++) {
        if (at == statement)
            put_names(w, values);
        if (*at == '%')
            put_word(w, *++at, &helpers);
        else if (is_helper(at, text))
            put_number(w, "h", w->helpers + (uint32_t)(*++at - '0'));
        else
            put_text(w, (const char[2]){ *at, '\0' });
    }
    put_text(w, "\n");
    return helpers;
}

static poprt_status parse(const writer *w, prt_module **out)
{
    prt_module *m = NULL;
    PRT_TRY(prt_module_create(fuzz_allocator(), FUZZ_MEMORY / 8, &m));
    const poprt_status status = prt_ir_parse(m, (prt_str){ w->text, (uint32_t)w->size });
    if (status == POPRT_OK)
        *out = m;
    else
        prt_module_release(m);
    return status;
}

/* Adds a statement that fits, if one is found. */
static void add_line(writer *w)
{
    const writer before = *w;
    for (uint32_t i = 0; i < TRIES_PER_LINE; i++) {
        const size_t k = fuzz_below(w->dice, PRT_COUNT_OF(lines));
        const uint32_t helpers = put_line(w, lines[k].text, lines[k].values);
        prt_module *m = NULL;
        const size_t size = w->size;
        put_number(w, "return v", w->values);
        if (parse(w, &m) == POPRT_OK) {
            prt_module_release(m);
            w->size = size;
            w->values += lines[k].values;
            w->helpers += helpers;
            return;
        }
        w->size = before.size;
    }
}

/* Some outputs are listed twice, and some have another name than their value. */
static void put_return(writer *w)
{
    put_text(w, "return ");
    put_number(w, "v", w->values - 1);
    for (size_t n = fuzz_below(w->dice, 4); n > 0; n--) {
        const bool last = fuzz_below(w->dice, 4) == 0;
        put_number(w, ", v", (long long)(last ? w->values - 1 : fuzz_below(w->dice, w->values)));
        if (fuzz_below(w->dice, 3) == 0)
            put_number(w, " as w", (long long)n);
    }
    put_text(w, "\n");
}

poprt_status fuzz_graph_draw(fuzz_dice *dice, prt_module **out)
{
    static const char *const inputs[] = { "f32[4,4]", "f32[2,2,2,4]", "f32[1,4,4]", "f32[n,4]",
        "f32[4]", "f16[4,4]", "i64[2]", "f32[1,2,4,4]" };
    static writer w;
    w = (writer){ .dice = dice };
    for (size_t n = 1 + fuzz_below(dice, 3); n > 0; n--) {
        put_names(&w, 1);
        put_text(&w, "input ");
        put_text(&w, inputs[fuzz_below(dice, PRT_COUNT_OF(inputs))]);
        put_text(&w, "\n");
        w.values++;
    }
    for (size_t n = 3 + fuzz_below(dice, 24); n > 0 && w.values + 4 < MOST_VALUES; n--)
        add_line(&w);
    put_return(&w);
    return parse(&w, out);
}
