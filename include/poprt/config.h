/* SPDX-License-Identifier: MIT */
/*
 * poprt/config.h — options by name. One table holds the key, type, bounds, default and help of
 * every option. The functions below, JSON and the command line all read this table.
 *
 * A key "dim.NAME" sets the symbolic dimension NAME (see poprt_compile and poprt_session_create).
 * One thread at a time may use a config. A function that takes a config copies the values it needs.
 */
#ifndef POPRT_CONFIG_H
#define POPRT_CONFIG_H

#include "poprt/env.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_config poprt_config;

enum {
    POPRT_OPTION_BOOL = 0, /* "true", "false", "1", "0", "True", "False" */
    POPRT_OPTION_INT = 1,  /* decimal, within [min, max] */
    POPRT_OPTION_TEXT = 2
};

/* An option. The strings are static. */
typedef struct poprt_option_info {
    size_t struct_size; /* set by the caller */
    const char *key;
    const char *help;          /* one sentence */
    const char *default_value; /* in the form that poprt_config_set takes */
    int32_t type;              /* POPRT_OPTION_* */
    uint32_t reserved;
    int64_t min, max; /* for POPRT_OPTION_INT */
} poprt_option_info;

/* Creates a config in which every option has its default. */
POPRT_API poprt_status poprt_config_create(poprt_env *env, poprt_config **out);

/* Sets an option from text. Fails with POPRT_E_NOT_FOUND if the key is unknown (the error names the
 * nearest keys), and with POPRT_E_ARG if the value is not accepted (the error names the bounds). */
POPRT_API poprt_status poprt_config_set(poprt_config *config, const char *key, const char *value);

/* Sets every member of a JSON object {"key": value, …} of `size` bytes. If one member is refused,
 * the config does not change. */
POPRT_API poprt_status poprt_config_merge_json(poprt_config *config, const char *json, size_t size);

/* Returns the value of an option as text. It is valid until the option is set again or the config
 * is released. */
POPRT_API poprt_status poprt_config_get(const poprt_config *config, const char *key,
    const char **out);

/* Returns an option of the table by index. Fails with POPRT_E_NOT_FOUND past the end. Static. */
POPRT_API poprt_status poprt_config_option_at(size_t index, poprt_option_info *out);

POPRT_API void poprt_config_release(poprt_config *config);

#ifdef __cplusplus
}
#endif
#endif
