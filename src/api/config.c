/* SPDX-License-Identifier: MIT */
/*
 * config.c — poprt/config.h: options by name, stored as text and, for numbers, also as values.
 * config_read.c reads texts of many options.
 */
#include <stdio.h>

#include "api/fixed_options.h"
#include "api/option_names.h"
#include "base/accepts.h"
#include "base/nearest.h"
#include "cpu/cpu.h"

#define DIM_PREFIX "dim."

enum { MAX_TEXT = 1 << 20 };

/* A row of the table. `option_sentence` is the help without accepted words and without the form of
 * a JSON text. */
#define ROW(id, option_type, option_default, option_min, option_max, option_help, option_sentence, \
    option_accepts, option_json)                                                                   \
    [PRT_OPTION_##id] = { .info = { .struct_size = sizeof(poprt_option_info),                      \
                              .key = #id,                                                          \
                              .help = option_help,                                                 \
                              .default_value = option_default,                                     \
                              .type = POPRT_OPTION_##option_type,                                  \
                              .min = option_min,                                                   \
                              .max = option_max },                                                 \
        .help = option_sentence,                                                                   \
        .accepts = option_accepts,                                                                 \
        .json = option_json },

const prt_option_row prt_option_rows[PRT_OPTION_COUNT] = {
#define OPTION(id, type, initial, min, max, help)                                                  \
    ROW(id, type, initial, min, max, help, help, NULL, NULL)
#define CHOICE(id, initial, words, help)                                                           \
    ROW(id, TEXT, initial, 0, 0, help "; one of " words, help, words, NULL)
#define RANGE(id, accepts, help) ROW(id, TEXT, "", 0, 0, help, help, accepts, NULL)
#define JSON(id, form, help) ROW(id, TEXT, "", 0, 0, help "; as JSON: " form, help, NULL, form)
#include "api/options.def"
};

static size_t find_option(const char *key)
{
    size_t i = 0;
    while (i < PRT_OPTION_COUNT && strcmp(prt_option_rows[i].info.key, key) != 0)
        i++;
    return i;
}

/* Parses decimal text with an optional sign. Returns false unless the whole text is a number. */
static bool parse_i64(const char *text, int64_t *out)
{
    const bool negative = *text == '-';
    const char *p = text + (negative || *text == '+');
    int64_t value = 0;
    if (*p == '\0')
        return false;
    for (; *p != '\0'; p++) {
        if (*p < '0' || *p > '9' || !prt_i64_mul(value, 10, &value) ||
            !prt_i64_add(value, negative ? -(*p - '0') : *p - '0', &value))
            return false;
    }
    *out = value;
    return true;
}

static bool parse_bool(const char *text, int64_t *out)
{
    if (strcmp(text, "true") == 0 || strcmp(text, "True") == 0 || strcmp(text, "1") == 0)
        *out = 1;
    else if (strcmp(text, "false") == 0 || strcmp(text, "False") == 0 || strcmp(text, "0") == 0)
        *out = 0;
    else
        return false;
    return true;
}

static poprt_status parse_value(const prt_option_row *row, const char *text, int64_t *out)
{
    const poprt_option_info *option = &row->info;
    char expected[256];
    *out = 0;
    if (strlen(text) > MAX_TEXT)
        return prt_fail(POPRT_E_ARG, option->key, "the value is longer than %d bytes", MAX_TEXT);
    if (option->type == POPRT_OPTION_BOOL && !parse_bool(text, out))
        return prt_fail(POPRT_E_ARG, option->key, "'%.100s' is not true or false", text);
    if (option->type == POPRT_OPTION_INT &&
        (!parse_i64(text, out) || *out < option->min || *out > option->max))
        return prt_fail(POPRT_E_ARG, option->key, "'%.100s' is not a number from %lld to %lld",
            text, (long long)option->min, (long long)option->max);
    if (prt_accepts_words(row->accepts) && !prt_accepts(row->accepts, text)) {
        prt_accepts_describe(row->accepts, expected, sizeof(expected));
        return prt_fail(POPRT_E_ARG, option->key, "'%.100s' is not accepted; expected %s", text,
            expected);
    }
    return POPRT_OK;
}

static char *copy_text(const poprt_config *config, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = prt_mem_alloc(&config->env->allocator, size);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

prt_str prt_config_dim_name(const poprt_config *config, uint32_t i)
{
    return prt_str_of(config->dims[i].key + strlen(DIM_PREFIX));
}

/* Returns the index of a dimension, or n_dims if it is not set. */
static uint32_t find_dim(const poprt_config *config, const char *key)
{
    uint32_t i = 0;
    while (i < config->n_dims && strcmp(config->dims[i].key, key) != 0)
        i++;
    return i;
}

static poprt_status set_dim(poprt_config *config, const char *key, const char *text)
{
    int64_t value = 0;
    if (key[strlen(DIM_PREFIX)] == '\0' || strlen(key) > MAX_TEXT)
        return prt_fail(POPRT_E_ARG, key, "the key of a dimension needs a name: dim.NAME");
    if (strlen(text) > MAX_TEXT || !parse_i64(text, &value) || value < 0 || value > INT32_MAX)
        return prt_fail(POPRT_E_ARG, key, "'%.100s' is not a number from 0 to %d", text, INT32_MAX);
    const uint32_t index = find_dim(config, key);
    if (index == PRT_CONFIG_MAX_DIMS)
        return prt_fail(POPRT_E_LIMIT, key, "more than %d dimensions", PRT_CONFIG_MAX_DIMS);
    char *copy = copy_text(config, text);
    if (copy == NULL)
        return POPRT_E_NOMEM;
    prt_config_dim *dim = &config->dims[index];
    if (index == config->n_dims) {
        char *name = copy_text(config, key);
        if (name == NULL) {
            prt_mem_free(&config->env->allocator, copy);
            return POPRT_E_NOMEM;
        }
        dim->key = name;
        config->n_dims++;
    }
    prt_mem_free(&config->env->allocator, dim->text);
    dim->text = copy;
    dim->value = value;
    return POPRT_OK;
}

static poprt_status fail_unknown(const char *key)
{
    const char *names[PRT_OPTION_COUNT + PRT_OPTION_NAME_COUNT];
    size_t n = 0;
    for (; n < PRT_OPTION_COUNT; n++)
        names[n] = prt_option_rows[n].info.key;
#ifndef PRT_NO_COMPILER
    for (size_t i = 0; i < PRT_OPTION_NAME_COUNT; i++)
        names[n++] = prt_option_names[i].info.name;
#endif
    char nearest[256];
    prt_nearest(key, names, n, nearest, sizeof(nearest));
    return prt_fail(POPRT_E_NOT_FOUND, key, "no such option; nearest: %s; or dim.NAME", nearest);
}

/* Replaces the text of a value by a copy of `text`. */
static poprt_status replace_text(const poprt_config *config, char **to, const char *text)
{
    char *copy = copy_text(config, text);
    if (copy == NULL)
        return POPRT_E_NOMEM;
    prt_mem_free(&config->env->allocator, *to);
    *to = copy;
    return POPRT_OK;
}

static poprt_status set_option(poprt_config *config, size_t i, const char *text)
{
    int64_t number = 0;
    PRT_TRY(parse_value(&prt_option_rows[i], text, &number));
    PRT_TRY(replace_text(config, &config->text[i], text));
    config->number[i] = number;
    return POPRT_OK;
}

#ifndef PRT_NO_COMPILER
/* Makes the recorded failure one of `name`. */
static poprt_status fail_as(poprt_status status, const char *name)
{
    char message[512];
    if (status == POPRT_OK || status == POPRT_E_NOMEM)
        return status;
    (void)snprintf(message, sizeof(message), "%s", poprt_last_error()->message);
    return prt_fail(status, name, "%s", message);
}

/* Sets an option by a name of PopART or PopTorch. */
static poprt_status set_name(poprt_config *config, const char *name, const char *text)
{
    enum { VALUE_SIZE = 1 << 14 };
    const prt_option_name *row = prt_option_name_find(name);
    if (row == NULL)
        return fail_unknown(name);
    char *value = prt_mem_alloc(&config->env->allocator, VALUE_SIZE);
    if (value == NULL)
        return POPRT_E_NOMEM;
    poprt_status status = prt_option_name_value(config, row, name, text, value, VALUE_SIZE);
    if (status == POPRT_OK && row->option >= 0) {
        const char *initial = prt_option_rows[row->option].info.default_value;
        status = fail_as(set_option(config, (size_t)row->option, value), name);
        if (status == POPRT_OK && row->on >= 0)
            status =
                set_option(config, (size_t)row->on, strcmp(value, initial) != 0 ? "true" : "false");
    } else if (status == POPRT_OK) {
        status = replace_text(config, &config->named[row - prt_option_names], value);
    }
    prt_mem_free(&config->env->allocator, value);
    return status;
}
#endif

poprt_status prt_config_set(poprt_config *config, const char *key, const char *text)
{
    if (strncmp(key, DIM_PREFIX, strlen(DIM_PREFIX)) == 0)
        return set_dim(config, key, text);
    const size_t i = find_option(key);
    if (i != PRT_OPTION_COUNT)
        return set_option(config, i, text);
#ifndef PRT_NO_COMPILER
    return set_name(config, key, text);
#else
    return fail_unknown(key);
#endif
}

const prt_option_row *prt_config_row(const char *key)
{
    size_t i = find_option(key);
#ifndef PRT_NO_COMPILER
    const prt_option_name *row = i == PRT_OPTION_COUNT ? prt_option_name_find(key) : NULL;
    if (row != NULL && row->option >= 0)
        i = (size_t)row->option;
#endif
    return i != PRT_OPTION_COUNT ? &prt_option_rows[i] : NULL;
}

poprt_status prt_config_check_changeable(const poprt_config *config)
{
    if (config->frozen)
        return prt_fail(POPRT_E_STATE, "config",
            "the config is frozen; poprt_config_clone makes one that can be changed");
    return POPRT_OK;
}

/* Frees the values of a config, but not the config. */
static void clear(poprt_config *config)
{
    const prt_allocator *allocator = &config->env->allocator;
    for (size_t i = 0; i < PRT_OPTION_COUNT; i++)
        prt_mem_free(allocator, config->text[i]);
    for (size_t i = 0; i < PRT_OPTION_NAME_COUNT; i++)
        prt_mem_free(allocator, config->named[i]);
    for (uint32_t i = 0; i < config->n_dims; i++) {
        prt_mem_free(allocator, config->dims[i].key);
        prt_mem_free(allocator, config->dims[i].text);
    }
}

static poprt_status copy_values(const poprt_config *from, poprt_config *to)
{
    for (size_t i = 0; i < PRT_OPTION_COUNT; i++)
        if (from->text[i] != NULL)
            PRT_TRY(set_option(to, i, from->text[i]));
    for (size_t i = 0; i < PRT_OPTION_NAME_COUNT; i++)
        if (from->named[i] != NULL)
            PRT_TRY(replace_text(to, &to->named[i], from->named[i]));
    for (uint32_t i = 0; i < from->n_dims; i++)
        PRT_TRY(set_dim(to, from->dims[i].key, from->dims[i].text));
    return POPRT_OK;
}

poprt_status poprt_config_create(poprt_env *env, poprt_config **out)
{
    PRT_REQUIRE(out);
    poprt_env *owner = NULL;
    PRT_TRY(prt_env_acquire(env, &owner));
    poprt_config *config = prt_mem_alloc(&owner->allocator, sizeof(*config));
    if (config == NULL) {
        poprt_env_release(owner);
        return POPRT_E_NOMEM;
    }
    config->env = owner;
    *out = config;
    return POPRT_OK;
}

poprt_status poprt_config_set(poprt_config *config, const char *key, const char *value)
{
    PRT_REQUIRE(config);
    PRT_REQUIRE(key);
    PRT_REQUIRE(value);
    PRT_TRY(prt_config_check_changeable(config));
    return prt_config_set(config, key, value);
}

poprt_status poprt_config_clone(const poprt_config *config, poprt_config **out)
{
    PRT_REQUIRE(config);
    PRT_REQUIRE(out);
    poprt_config *copy = NULL;
    PRT_TRY(poprt_config_create(config->env, &copy));
    const poprt_status status = copy_values(config, copy);
    if (status == POPRT_OK)
        *out = copy;
    else
        poprt_config_release(copy);
    return status;
}

void poprt_config_freeze(poprt_config *config)
{
    if (config != NULL)
        config->frozen = true;
}

poprt_status poprt_config_get(const poprt_config *config, const char *key, const char **out)
{
    PRT_REQUIRE(config);
    PRT_REQUIRE(key);
    PRT_REQUIRE(out);
    if (strncmp(key, DIM_PREFIX, strlen(DIM_PREFIX)) == 0) {
        const uint32_t index = find_dim(config, key);
        if (index == config->n_dims)
            return prt_fail(POPRT_E_NOT_FOUND, key, "this dimension is not set");
        *out = config->dims[index].text;
        return POPRT_OK;
    }
    const prt_option_row *row = prt_config_row(key);
#ifndef PRT_NO_COMPILER
    const prt_option_name *name = row == NULL ? prt_option_name_find(key) : NULL;
    if (name != NULL) {
        const char *value = config->named[name - prt_option_names];
        *out = value != NULL ? value : name->info.default_value;
        return POPRT_OK;
    }
#endif
    if (row == NULL)
        return fail_unknown(key);
    *out = prt_config_text(config, (prt_option_id)(row - prt_option_rows));
    return POPRT_OK;
}

poprt_status poprt_config_option_at(size_t index, poprt_option_info *out)
{
    PRT_REQUIRE(out);
    if (index >= PRT_OPTION_COUNT)
        return prt_fail(POPRT_E_NOT_FOUND, NULL, "there are %d options", PRT_OPTION_COUNT);
    poprt_option_info info = prt_option_rows[index].info;
#ifndef PRT_NO_COMPILER
    info.is_fixed = prt_option_is_fixed(&prt_option_rows[index]);
#endif
    return prt_export(out, &info, sizeof(info), "out");
}

void poprt_config_release(poprt_config *config)
{
    if (config == NULL)
        return;
    poprt_env *env = config->env;
    clear(config);
    prt_mem_free(&env->allocator, config);
    poprt_env_release(env);
}

int64_t prt_config_number(const poprt_config *config, prt_option_id id)
{
    if (config != NULL && config->text[id] != NULL)
        return config->number[id];
    int64_t number = 0;
    (void)parse_value(&prt_option_rows[id], prt_option_rows[id].info.default_value, &number);
    return number;
}

const char *prt_config_text(const poprt_config *config, prt_option_id id)
{
    return config != NULL && config->text[id] != NULL ? config->text[id]
                                                      : prt_option_rows[id].info.default_value;
}

const prt_kern *prt_config_kernels(const poprt_config *config, const poprt_env *env)
{
    const char *level = prt_config_text(config, PRT_OPTION_cpu);
    if (strcmp(level, "reference") == 0)
        return NULL;
    return prt_kern_of(prt_cpu_level(level) & env->features);
}

size_t prt_config_memory_limit(const poprt_config *config, const poprt_env *env)
{
    const size_t limit = (size_t)prt_config_number(config, PRT_OPTION_memory_limit);
    if (limit == 0 || (env->memory_limit != 0 && env->memory_limit < limit))
        return env->memory_limit;
    return limit;
}
