/* SPDX-License-Identifier: MIT */
/*
 * poprt/env.h — the environment: where memory, threads, log lines and progress go. Everything else
 * is owned by one; nothing in the library is global. NULL stands for an environment of defaults
 * wherever a function takes one.
 */
#ifndef POPRT_ENV_H
#define POPRT_ENV_H

#include "poprt/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_env poprt_env;

/* Every byte the library holds comes from here. Called from any thread that calls the library and
 * from its workers. */
typedef struct poprt_allocator {
    void *user;
    void *(*alloc)(void *user, size_t size, size_t align); /* NULL when refused */
    void (*release)(void *user, void *ptr);                /* never called with NULL */
} poprt_allocator;

/* One index of a parallel loop. */
typedef void (*poprt_parallel_body)(void *arg, uint32_t index);

/*
 * The host's own executor, in place of the library's pool. `run` calls body(arg, i) once for each
 * i below n, in any order and on any threads, and returns when all calls have returned; running
 * them in turn is allowed. Calls are never nested.
 */
typedef struct poprt_parallel {
    void *user;
    void (*run)(void *user, uint32_t n, poprt_parallel_body body, void *arg);
    uint32_t width; /* threads that may take part, the caller included; at least 1 */
} poprt_parallel;

/* Severities of log lines; a line is passed on when its level is at most `log_level`. */
enum {
    POPRT_LOG_OUTPUT = 0, /* text that was asked for, as of a pass that prints: always passed on */
    POPRT_LOG_ERROR = 1,
    POPRT_LOG_WARNING = 2,
    POPRT_LOG_INFO = 3,
    POPRT_LOG_DEBUG = 4
};

/* One log line, without line break. Any thread. */
typedef void (*poprt_log_fn)(void *user, int32_t level, const char *text);

/*
 * Long work says how far it is: `done` of `total` units of `stage`. Stages are "read" (a file),
 * "passes" and "optimize" (passes of a conversion and of compiling), "place", "lower", "schedule",
 * "alias", "plan" and "emit" (compiling); inside passes that run the model on samples, "calibrate",
 * "watch" (overflow) and "compare". A stage may come again between the calls of another one.
 * Return 0 to go on; anything else stops the work, which then fails with POPRT_E_CANCELLED.
 */
typedef int32_t (*poprt_progress_fn)(void *user, const char *stage, uint64_t done, uint64_t total);

/* Zero means "default" in every member. */
typedef struct poprt_env_options {
    size_t struct_size;               /* sizeof(poprt_env_options) */
    const poprt_allocator *allocator; /* copied; NULL: the C library's */
    const poprt_parallel *parallel;   /* copied; NULL: a pool of the library's own */
    uint32_t threads; /* width of the own pool, the caller included; 0: 1, the caller alone */
    uint32_t spin_us; /* how long an idle worker spins before it sleeps; 0: 50 */
    poprt_log_fn log; /* NULL: no log lines */
    void *log_user;
    int32_t log_level;          /* 0: POPRT_LOG_WARNING */
    uint32_t reserved;          /* 0 */
    poprt_progress_fn progress; /* NULL: silence */
    void *progress_user;
    /* Most bytes that one model, compilation, executable or session may hold at a time: memory of
     * the allocator, and for a model or an executable the files that it keeps mapped. Weights that
     * an executable shares with the model, and a session with the executable, count for the first
     * of them; bytes that the caller lends count for none. 0: no limit */
    size_t memory_limit;
} poprt_env_options;

/* An initialiser with the size filled in and defaults elsewhere. */
#define POPRT_ENV_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(poprt_env_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                 \
    }

/*
 * Makes an environment. `options` may be NULL. Threads start with the first parallel work, never
 * here. POPRT_E_VERSION when the options are from a newer header and use what is unknown here.
 */
POPRT_API poprt_status poprt_env_create(const poprt_env_options *options, poprt_env **out);

/* Gives it back; what was made from it keeps it alive until it is released too. NULL is allowed. */
POPRT_API void poprt_env_release(poprt_env *env);

struct poprt_plugin;

/*
 * Adds the operators, passes and patterns of a plug-in (poprt/plugin.h) to the environment: from a
 * shared object, which stays loaded until the environment is gone, or from a record of the calling
 * program, which stays as it is for that long. Everything is added, or nothing. Plug-ins come
 * before all else: POPRT_E_STATE once a model, an executable or a pass manager was made from the
 * environment. POPRT_E_PLUGIN for what is no plug-in, or has names that are taken; POPRT_E_VERSION
 * for one that is made for another version. Not while another thread uses the environment. Not in a
 * library that only runs.
 */
POPRT_API poprt_status poprt_env_load_plugin(poprt_env *env, const char *path);
POPRT_API poprt_status poprt_env_add_plugin(poprt_env *env, const struct poprt_plugin *plugin);

/* Threads that may take part in one piece of work, the caller included. */
POPRT_API uint32_t poprt_env_width(const poprt_env *env);

#ifdef __cplusplus
}
#endif
#endif
