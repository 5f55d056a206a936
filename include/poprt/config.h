/* SPDX-License-Identifier: MIT */
/*
 * poprt/config.h — options by name. One table holds key, type, bounds, default and help of every
 * option; the functions here, JSON and the command line all read it.
 *
 * Keys of the form "dim.NAME" set the symbolic dimension NAME (see poprt_compile and
 * poprt_session_create).
 * A config may be used by one thread at a time; functions that take one copy what they need.
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

/* One option. Strings are static. */
typedef struct poprt_option_info {
    size_t struct_size; /* set by the caller */
    const char *key;
    const char *help;          /* one sentence */
    const char *default_value; /* as text */
    int32_t type;              /* POPRT_OPTION_* */
    uint32_t reserved;
    int64_t min, max; /* for POPRT_OPTION_INT */
} poprt_option_info;

/* A config in which every option has its default. */
POPRT_API poprt_status poprt_config_create(poprt_env *env, poprt_config **out);

/* Sets an option from text. POPRT_E_NOT_FOUND names the nearest keys; POPRT_E_ARG the bounds. */
POPRT_API poprt_status poprt_config_set(poprt_config *config, const char *key, const char *value);

/* Sets every member of a JSON object {"key": value, …} of `size` bytes. All or nothing. */
POPRT_API poprt_status poprt_config_merge_json(poprt_config *config, const char *json, size_t size);

/* Value of an option as text; valid until the option is set again or the config released. */
POPRT_API poprt_status poprt_config_get(const poprt_config *config, const char *key,
    const char **out);

/* The option table, by index; POPRT_E_NOT_FOUND past its end. Static. */
POPRT_API poprt_status poprt_config_option_at(size_t index, poprt_option_info *out);

POPRT_API void poprt_config_release(poprt_config *config);

#ifdef __cplusplus
}
#endif
#endif
