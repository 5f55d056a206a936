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

/* Severities of log lines. A line is passed on if its level is at most that of its module. */
enum {
    POPRT_LOG_OFF = -2,      /* as a level of a module: no lines but POPRT_LOG_OUTPUT */
    POPRT_LOG_CRITICAL = -1, /* the object concerned cannot be used any more */
    /* Text that the caller asked for, such as the output of a printing pass. It is always passed
     * on. */
    POPRT_LOG_OUTPUT = 0,
    POPRT_LOG_ERROR = 1, /* a failure that no call returns */
    POPRT_LOG_WARNING = 2,
    POPRT_LOG_INFO = 3,
    POPRT_LOG_DEBUG = 4, /* figures of each call: nodes, bytes, times */
    POPRT_LOG_TRACE = 5  /* the beginning of each call, and its stages */
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
 *    "wait"      waiting for another process that compiles the same model (enable_engine_caching)
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
    int32_t log_level;          /* of every module, POPRT_LOG_*; 0: POPRT_LOG_WARNING */
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

/* ---- log lines
 *
 * Each line belongs to a module of the library:
 *
 *     model     reading and writing models      cache    stored executables
 *     builder   making models                   session  sessions and their runs
 *     pass      passes of a conversion          op       lines of printing operators
 *     compile   compiling                       plugin   lines of plug-ins
 *
 * Levels and receivers may be changed at any time, from any thread. A line that another thread is
 * writing may still go to the earlier receiver.
 */

/* Returns the number of modules, and the name of one of them; NULL past the end. */
POPRT_API size_t poprt_log_module_count(void);
POPRT_API const char *poprt_log_module_name(size_t index);

/* Returns the name of a level: "off", "critical", "output", "error", "warning", "info", "debug",
 * "trace"; "?" for an unknown level. */
POPRT_API const char *poprt_log_level_name(int32_t level);

/* Finds the level of a name, in any case; "err" and "warn" are accepted too. "output" is not, since
 * it is not a level of a module. Fails with POPRT_E_NOT_FOUND. */
POPRT_API poprt_status poprt_log_level_of(const char *name, int32_t *out);

/* Sets the level of a module; `module` NULL: of all modules. Fails with POPRT_E_NOT_FOUND if there
 * is no such module, and with POPRT_E_ARG if `level` is POPRT_LOG_OUTPUT or no level. */
POPRT_API poprt_status poprt_env_set_log_level(poprt_env *env, const char *module, int32_t level);
POPRT_API poprt_status poprt_env_get_log_level(const poprt_env *env, const char *module,
    int32_t *out);

/* Receives one log line and the name of its module, without a line break. Called from any
 * thread. */
typedef void (*poprt_log_line_fn)(void *user, int32_t level, const char *module, const char *text);

/* Sets the function that receives the lines from now on, in place of `log` of the options; NULL: no
 * function. */
POPRT_API poprt_status poprt_env_set_log_callback(poprt_env *env, poprt_log_line_fn fn, void *user);

/*
 * Also writes the lines to `destination`: "stdout", "stderr", or a file, at whose end they are
 * added. NULL ends this. A line is "2026-11-27T16:20:01.123Z info session: text", with the time in
 * UTC, and is written at once. A line that cannot be written is lost. If the file cannot be opened,
 * the call fails with POPRT_E_IO, and the earlier destination stays.
 */
POPRT_API poprt_status poprt_env_set_log_destination(poprt_env *env, const char *destination);

/* Returns the number of threads that may take part in one piece of work, the caller included. */
POPRT_API uint32_t poprt_env_width(const poprt_env *env);

#ifdef __cplusplus
}
#endif
#endif
