/* SPDX-License-Identifier: MIT */
/*
 * option_names.c — names that PopART, PopTorch and PopRT have for options. Enumerators are accepted
 * by name, by number, and with the name of their type before them. Case and underscores do not
 * count, so that constant_weights is constantWeights.
 */
#include "api/option_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/accepts.h"
#include "base/nearest.h"

#define SYSTEM_POPART "PopART"
#define SYSTEM_POPTORCH "PopTorch"
#define SYSTEM_POPRT "PopRT"
#define SYSTEM_BOTH "PopART and PopTorch"

#define ROW(set, row_name, effect_of, row_key, initial, row_text, row_accepts, row_harmless,       \
    row_option, row_on)                                                                            \
    { .info = { .struct_size = sizeof(poprt_option_name),                                          \
          .name = #row_name,                                                                       \
          .system = SYSTEM_##set,                                                                  \
          .key = row_key,                                                                          \
          .default_value = initial,                                                                \
          .help = row_text,                                                                        \
          .effect = POPRT_EFFECT_##effect_of },                                                    \
        .accepts = row_accepts,                                                                    \
        .harmless = row_harmless,                                                                  \
        .option = row_option,                                                                      \
        .on = row_on },

const prt_option_name prt_option_names[PRT_OPTION_NAME_COUNT] = {
#define SAME(set, name, key, words)                                                                \
    ROW(set, name, OPTION, #key, NULL, NULL, words, NULL, PRT_OPTION_##key, -1)
#define SWITCHED(set, name, key, switch_key)                                                       \
    ROW(set, name, OPTION, #key, NULL, NULL, NULL, NULL, PRT_OPTION_##key, PRT_OPTION_##switch_key)
#define ALWAYS(set, name, accepts, initial, text)                                                  \
    ROW(set, name, ALWAYS, NULL, initial, text, accepts, NULL, -1, -1)
#define NONE(set, name, accepts, initial, text)                                                    \
    ROW(set, name, NONE, NULL, initial, text, accepts, NULL, -1, -1)
#define DEVICES(set, name, accepts, initial, harmless, text)                                       \
    ROW(set, name, DEVICES, NULL, initial, text, accepts, harmless, -1, -1)
#include "api/option_names.def"
};

const prt_option_name *prt_option_name_find(const char *name)
{
    const size_t size = strlen(name);
    for (size_t i = 0; i < PRT_OPTION_NAME_COUNT; i++) {
        const prt_option_name *row = &prt_option_names[i];
        const size_t n = strlen(row->info.name);
        if (prt_str_same_word(prt_str_of(name), prt_str_of(row->info.name)) ||
            (row->accepts != NULL && strcmp(row->accepts, "map") == 0 && size > n &&
                name[n] == '.' && memcmp(name, row->info.name, n) == 0))
            return row;
    }
    return NULL;
}

static bool is_map(const prt_option_name *row)
{
    return row->accepts != NULL && strcmp(row->accepts, "map") == 0;
}

typedef struct word_search {
    const char *text; /* the word, or its number */
    size_t size;
    size_t number, index; /* number: SIZE_MAX if the text is none */
    const char *found;
    size_t found_size;
} word_search;

static void look_at_word(void *user, const char *word, size_t size)
{
    word_search *s = user;
    const char *equals = memchr(word, '=', size); /* WORD=MEANING */
    const size_t n = equals != NULL ? (size_t)(equals - word) : size;
    if (s->found == NULL &&
        (s->index == s->number ||
            prt_str_same_word((prt_str){ s->text, (uint32_t)s->size },
                (prt_str){ word, (uint32_t)n }))) {
        s->found = equals != NULL ? equals + 1 : word;
        s->found_size = size - (size_t)(s->found - word);
    }
    s->index++;
}

/* Finds a word of a list; returns false if the text is none of them. */
static bool find_word(const char *words, const char *text, bool numbers, word_search *s)
{
    const char *last = strrchr(text, '.');
    const char *colons = strrchr(text, ':');
    const bool digits = *text != '\0' && strspn(text, "0123456789") == strlen(text);
    *s = (word_search){ .text = text, .number = SIZE_MAX };
    if (digits && numbers && strlen(text) < 4)
        s->number = (size_t)strtoul(text, NULL, 10);
    else if (!digits && (last != NULL || colons != NULL))
        s->text = (last == NULL || (colons != NULL && colons > last) ? colons : last) + 1;
    s->size = strlen(s->text);
    prt_accepts_each_word(words, look_at_word, s);
    return s->found != NULL;
}

static poprt_status fail_value(const char *name, const char *accepts, const char *text)
{
    char expected[256];
    prt_accepts_describe(accepts, expected, sizeof(expected));
    return prt_fail(POPRT_E_ARG, name, "'%.100s' is not accepted; expected %s", text, expected);
}

static poprt_status copy(const char *name, const char *text, size_t n, char *out, size_t size)
{
    if (n >= size)
        return prt_fail(POPRT_E_ARG, name, "the value is longer than %zu bytes", size - 1);
    memcpy(out, text, n);
    out[n] = '\0';
    return POPRT_OK;
}

/* The value of a row that names an option, in the words of that option. */
static poprt_status option_value(const prt_option_name *row, const char *name, const char *text,
    char *out, size_t size)
{
    const prt_option_row *option = &prt_option_rows[row->option];
    word_search word, own;
    if (row->accepts != NULL && !is_map(row)) {
        if (!find_word(row->accepts, text, true, &word))
            return fail_value(name, row->accepts, text);
        PRT_TRY(copy(name, word.found, word.found_size, out, size));
        text = out;
    }
    if (prt_accepts_words(option->accepts) && find_word(option->accepts, text, false, &own))
        return copy(name, own.found, own.found_size, out, size);
    return text == out ? POPRT_OK : copy(name, text, strlen(text), out, size);
}

/* Tells once that a row has no effect. */
static void tell(const poprt_config *config, const prt_option_name *row, const char *name)
{
    char line[512];
    if (config->named[row - prt_option_names] != NULL)
        return;
    (void)snprintf(line, sizeof(line), "%s has no effect: %s", name, row->info.help);
    prt_env_log(config->env, PRT_LOG_session, POPRT_LOG_INFO, line);
}

poprt_status prt_option_name_value(const poprt_config *config, const prt_option_name *row,
    const char *name, const char *text, char *out, size_t size)
{
    word_search word;
    if (row->option >= 0)
        return option_value(row, name, text, out, size);
    const bool words = !is_map(row) && prt_accepts_words(row->accepts);
    if (words && !find_word(row->accepts, text, true, &word))
        return fail_value(name, row->accepts, text);
    if (words)
        PRT_TRY(copy(name, word.found, word.found_size, out, size));
    else if (!is_map(row) && !prt_accepts(row->accepts, text))
        return fail_value(name, row->accepts, text);
    else
        PRT_TRY(copy(name, text, strlen(text), out, size));
    if (row->harmless != NULL) {
        const bool is_bool = row->accepts != NULL && strcmp(row->accepts, "bool") == 0;
        const char *value = !is_bool                            ? out
            : strcmp(out, "True") == 0 || strcmp(out, "1") == 0 ? "true"
            : strcmp(out, "true") == 0                          ? "true"
                                                                : "false";
        if (!find_word(row->harmless, value, false, &word))
            return prt_fail(POPRT_E_UNSUPPORTED, name,
                "'%.100s' would change results here: %s; accepted: %s", text, row->info.help,
                row->harmless);
    }
    tell(config, row, name);
    return POPRT_OK;
}

poprt_status poprt_config_name_at(size_t index, poprt_option_name *out)
{
    PRT_REQUIRE(out);
    if (index >= PRT_OPTION_NAME_COUNT)
        return prt_fail(POPRT_E_NOT_FOUND, NULL, "there are %d names", PRT_OPTION_NAME_COUNT);
    poprt_option_name info = prt_option_names[index].info;
    if (prt_option_names[index].option >= 0) {
        const prt_option_row *option = &prt_option_rows[prt_option_names[index].option];
        info.default_value = option->info.default_value;
        info.help = option->info.help;
    }
    return prt_export(out, &info, sizeof(info), "out");
}
