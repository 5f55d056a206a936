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
    int32_t is_fixed; /* 1: an executable keeps the value that it was compiled with */
    uint32_t reserved_too;
} poprt_option_info;

/* Creates a config in which every option has its default. */
POPRT_API poprt_status poprt_config_create(poprt_env *env, poprt_config **out);

/* Sets an option from text. The key may also be a name that PopART's SessionOptions or PopTorch's
 * Options has for it, see poprt_config_name_at. Fails with POPRT_E_NOT_FOUND if the key is unknown
 * (the error names the nearest keys), with POPRT_E_ARG if the value is not accepted (the error
 * names the bounds), and with POPRT_E_UNSUPPORTED for values of such names that need several
 * devices. */
POPRT_API poprt_status poprt_config_set(poprt_config *config, const char *key, const char *value);

/* Sets every member of a JSON object {"key": value, …} of `size` bytes. If one member is refused,
 * the config does not change. Members of an object within it are set as OUTER.INNER, unless the
 * option itself is JSON; a list becomes its elements, separated by commas. */
POPRT_API poprt_status poprt_config_merge_json(poprt_config *config, const char *json, size_t size);

/* Returns the value of an option as text. It is valid until the option is set again or the config
 * is released. */
POPRT_API poprt_status poprt_config_get(const poprt_config *config, const char *key,
    const char **out);

/* Returns an option of the table by index. Fails with POPRT_E_NOT_FOUND past the end. Static. */
POPRT_API poprt_status poprt_config_option_at(size_t index, poprt_option_info *out);

/*
 * Sets the options in a text of `size` bytes, in order, so that later lines override earlier ones.
 * A line has one of the forms
 *
 *     KEY = VALUE     or KEY: VALUE, as in a mapping of YAML
 *     NAME(VALUE)     or NAME(VALUE, NAME=VALUE, ...): a call of PopTorch's Options, as its
 *                     loadFromFile reads them; nothing is executed
 *
 * VALUE is a text in quotes, a list, a dictionary, or the rest of the line as poprt_config_set
 * takes it; in a call also a number, a word or another call. A word may have the name of its type
 * before it (SyntheticDataMode.Zeros). `#` begins a comment. A text whose first character is '{' is
 * JSON, as in poprt_config_merge_json. If one line is refused, the config does not change, and the
 * error names the file and the line. `file` is for errors and may be NULL. poprt_config_load_file
 * reads a file of at most 1 MiB.
 */
POPRT_API poprt_status poprt_config_load_text(poprt_config *config, const char *file,
    const char *text, size_t size);
POPRT_API poprt_status poprt_config_load_file(poprt_config *config, const char *path);

/* Makes a copy with the same values, which is not frozen. */
POPRT_API poprt_status poprt_config_clone(const poprt_config *config, poprt_config **out);

/* Makes every later change of the config fail with POPRT_E_STATE. */
POPRT_API void poprt_config_freeze(poprt_config *config);

/* What a name that another system has for an option does here. */
enum {
    POPRT_EFFECT_OPTION = 0, /* sets the option `key` */
    POPRT_EFFECT_ALWAYS = 1, /* what it asks for always holds */
    POPRT_EFFECT_NONE = 2,   /* steers a part of an IPU that a CPU does not have */
    POPRT_EFFECT_DEVICES = 3 /* describes devices; values that change results are refused */
};

/* A name of PopART's SessionOptions, PopRT's CompilerOptions or PopTorch's Options. The strings are
 * static. */
typedef struct poprt_option_name {
    size_t struct_size;        /* set by the caller */
    const char *name;          /* a key of poprt_config_set, which logs values without effect */
    const char *system;        /* "PopART", "PopRT", "PopTorch", "PopART and PopTorch" */
    const char *key;           /* for POPRT_EFFECT_OPTION: the option; otherwise NULL */
    const char *default_value; /* in the form that poprt_config_set takes */
    const char *help;          /* of the option, or why the name has no effect */
    int32_t effect;            /* POPRT_EFFECT_* */
    uint32_t reserved;
} poprt_option_name;

/* Returns a name by index. Fails with POPRT_E_NOT_FOUND past the end. Static. */
POPRT_API poprt_status poprt_config_name_at(size_t index, poprt_option_name *out);

POPRT_API void poprt_config_release(poprt_config *config);

#ifdef __cplusplus
}
#endif
#endif
