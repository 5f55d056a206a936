/* SPDX-License-Identifier: MIT */
/*
 * poprt/env.h — the environment: the allocator, the threads, and the receivers of log lines and
 * progress. Every other object belongs to an environment; the library has no global state. A
 * function that takes an environment accepts NULL, which stands for an environment with defaults.
 */
#ifndef POPRT_ENV_H
#define POPRT_ENV_H

#include "poprt/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_env poprt_env;

/* The allocator of all memory that the library holds. It is called from the threads that call the
 * library and from the library's workers. */
typedef struct poprt_allocator {
    void *user;
    void *(*alloc)(void *user, size_t size, size_t align); /* NULL: refused */
    void (*release)(void *user, void *ptr);                /* never called with NULL */
} poprt_allocator;

/* Runs one index of a parallel loop. */
typedef void (*poprt_parallel_body)(void *arg, uint32_t index);

/*
 * The host's own executor, in place of the library's pool. `run` calls body(arg, i) once for each i
 * below n, in any order and on any threads, and returns after all calls have returned. It may make
 * the calls one after the other. Calls are never nested.
 */
typedef struct poprt_parallel {
    void *user;
    void (*run)(void *user, uint32_t n, poprt_parallel_body body, void *arg);
    uint32_t width; /* threads that may take part, the caller included; at least 1 */
} poprt_parallel;

/* Severities of log lines. A line is passed on if its level is at most `log_level`. */
enum {
    /* Text that the caller asked for, such as the output of a printing pass. It is always passed
     * on. */
    POPRT_LOG_OUTPUT = 0,
    POPRT_LOG_ERROR = 1,
    POPRT_LOG_WARNING = 2,
    POPRT_LOG_INFO = 3,
    POPRT_LOG_DEBUG = 4
};

/* Receives one log line, without a line break. Called from any thread. */
typedef void (*poprt_log_fn)(void *user, int32_t level, const char *text);

/*
 * Reports the progress of long work: `done` of `total` units of `stage`. The stages are:
 *
 *    "read"      reading a file
 *    "passes"    the passes of a conversion
 *    "optimize"  the passes of compiling
 *    "place", "lower", "schedule", "alias", "plan", "emit"    compiling
 *    "calibrate", "watch" (overflow), "compare"    inside passes that run the model on samples
 *
 * A stage may be reported again after calls for another stage. Return 0 to continue. Any other
 * value stops the work, which then fails with POPRT_E_CANCELLED.
 */
typedef int32_t (*poprt_progress_fn)(void *user, const char *stage, uint64_t done, uint64_t total);

/* Options of an environment. In every member 0 stands for the default. */
typedef struct poprt_env_options {
    size_t struct_size;               /* sizeof(poprt_env_options) */
    const poprt_allocator *allocator; /* copied; NULL: the allocator of the C library */
    const poprt_parallel *parallel;   /* copied; NULL: the library's own pool */
    /* Threads of the library's own pool, the caller included. 0: 1, the caller alone. */
    uint32_t threads;
    /* Time in microseconds that an idle worker spins before it sleeps. 0: 50. */
    uint32_t spin_us;
    poprt_log_fn log; /* NULL: no log lines */
    void *log_user;
    int32_t log_level;          /* 0: POPRT_LOG_WARNING */
    uint32_t reserved;          /* 0 */
    poprt_progress_fn progress; /* NULL: no reports */
    void *progress_user;
    /* Most bytes that one model, compilation, executable or session may hold at a time: memory of
     * the allocator, and for a model or an executable also the files that it keeps mapped. Weights
     * that an executable shares with its model count for the model. Weights that a session shares
     * with its executable count for the executable. Buffers lent by the caller are not counted. 0:
     * no limit. */
    size_t memory_limit;
} poprt_env_options;

/* Initialiser that sets the size and leaves every other member at its default. */
#define POPRT_ENV_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(poprt_env_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                 \
    }

/*
 * Creates an environment. `options` may be NULL. The call starts no threads; they start with the
 * first parallel work. Fails with POPRT_E_VERSION if the options come from a newer header and use a
 * member that this library does not know.
 */
POPRT_API poprt_status poprt_env_create(const poprt_env_options *options, poprt_env **out);

/* Releases the caller's reference. The environment lives until the last object made from it is
 * released. `env` may be NULL. */
POPRT_API void poprt_env_release(poprt_env *env);

struct poprt_plugin;

/*
 * Adds the operators, passes and patterns of a plug-in (poprt/plugin.h) to the environment.
 * poprt_env_load_plugin loads a shared object, which stays loaded until the environment is
 * destroyed. poprt_env_add_plugin takes a record of the calling program, which must stay unchanged
 * for that long. A call adds everything or nothing. No other thread may use the environment during
 * the call. A library without compiler has neither function.
 *
 * Fails with POPRT_E_STATE after a model, an executable or a pass manager was made from the
 * environment, with POPRT_E_PLUGIN if the file is not a plug-in or one of its names is taken, and
 * with POPRT_E_VERSION if the plug-in was made for another version.
 */
POPRT_API poprt_status poprt_env_load_plugin(poprt_env *env, const char *path);
POPRT_API poprt_status poprt_env_add_plugin(poprt_env *env, const struct poprt_plugin *plugin);

/* Returns the number of threads that may take part in one piece of work, the caller included. */
POPRT_API uint32_t poprt_env_width(const poprt_env *env);

#ifdef __cplusplus
}
#endif
#endif
