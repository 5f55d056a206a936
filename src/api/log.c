/* SPDX-License-Identifier: MIT */
/* log.c — log lines of an environment: modules, levels and receivers (poprt/env.h). */
#define _DEFAULT_SOURCE
#include "api/handles.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

enum { MOST_LINE = 1024 }; /* bytes of a formatted text */

struct prt_log {
    _Atomic int32_t levels[PRT_LOG_MODULES];
    _Atomic bool wanted; /* there is a receiver */
    pthread_mutex_t lock;
    /* At most one of the two functions is set. */
    poprt_log_fn plain;
    poprt_log_line_fn fn;
    void *user;
    int fd; /* -1: no destination */
};

static const char *const modules[] = {
#define LOG_MODULE(name) #name,
#include "api/log.def"
};

static const char *const level_names[] = { "off", "critical", "output", "error", "warning", "info",
    "debug", "trace" };

/* ---- names */

size_t poprt_log_module_count(void)
{
    return PRT_LOG_MODULES;
}

const char *poprt_log_module_name(size_t index)
{
    return index < PRT_LOG_MODULES ? modules[index] : NULL;
}

const char *poprt_log_level_name(int32_t level)
{
    return level >= POPRT_LOG_OFF && level <= POPRT_LOG_TRACE ? level_names[level - POPRT_LOG_OFF]
                                                              : "?";
}

static bool equals_in_any_case(const char *text, const char *lower)
{
    size_t i = 0;
    for (; lower[i] != '\0'; i++)
        if ((text[i] >= 'A' && text[i] <= 'Z' ? text[i] + ('a' - 'A') : text[i]) != lower[i])
            return false;
    return text[i] == '\0';
}

poprt_status poprt_log_level_of(const char *name, int32_t *out)
{
    static const struct {
        const char *name;
        int32_t level;
    } more[] = { { "err", POPRT_LOG_ERROR }, { "warn", POPRT_LOG_WARNING } };
    PRT_REQUIRE(name);
    PRT_REQUIRE(out);
    for (int32_t level = POPRT_LOG_OFF; level <= POPRT_LOG_TRACE; level++)
        if (level != POPRT_LOG_OUTPUT && equals_in_any_case(name, poprt_log_level_name(level))) {
            *out = level;
            return POPRT_OK;
        }
    for (size_t i = 0; i < PRT_COUNT_OF(more); i++)
        if (equals_in_any_case(name, more[i].name)) {
            *out = more[i].level;
            return POPRT_OK;
        }
    return prt_fail(POPRT_E_NOT_FOUND, name,
        "is not a log level: off, critical, error, warning, info, debug or trace");
}

/* Finds the modules `from` to `to` that a name stands for. */
static poprt_status find_modules(const char *name, uint32_t *from, uint32_t *to)
{
    for (uint32_t i = 0; i < PRT_LOG_MODULES; i++)
        if (name == NULL || strcmp(name, modules[i]) == 0) {
            *from = i;
            *to = name == NULL ? PRT_LOG_MODULES : i + 1;
            return POPRT_OK;
        }
    return prt_fail(POPRT_E_NOT_FOUND, name,
        "is not a module of log lines: model, builder, pass, compile, cache, session, op or "
        "plugin");
}

/* ---- levels and receivers */

poprt_status prt_log_create(const prt_allocator *allocator, const poprt_env_options *options,
    struct prt_log **out)
{
    struct prt_log *log = prt_mem_alloc(allocator, sizeof(*log));
    if (log == NULL)
        return POPRT_E_NOMEM;
    if (pthread_mutex_init(&log->lock, NULL) != 0) {
        prt_mem_free(allocator, log);
        return prt_fail_nomem(sizeof(*log));
    }
    const int32_t level = options->log_level != 0 ? options->log_level : POPRT_LOG_WARNING;
    for (uint32_t i = 0; i < PRT_LOG_MODULES; i++)
        atomic_init(&log->levels[i], level);
    atomic_init(&log->wanted, options->log != NULL);
    log->plain = options->log;
    log->user = options->log_user;
    log->fd = -1;
    *out = log;
    return POPRT_OK;
}

static void close_destination(struct prt_log *log)
{
    if (log->fd > STDERR_FILENO)
        (void)close(log->fd);
    log->fd = -1;
}

void prt_log_release(const prt_allocator *allocator, struct prt_log *log)
{
    if (log == NULL)
        return;
    close_destination(log);
    (void)pthread_mutex_destroy(&log->lock);
    prt_mem_free(allocator, log);
}

poprt_status poprt_env_set_log_level(poprt_env *env, const char *module, int32_t level)
{
    uint32_t from = 0, to = 0;
    PRT_REQUIRE(env);
    if (level < POPRT_LOG_OFF || level > POPRT_LOG_TRACE || level == POPRT_LOG_OUTPUT)
        return prt_fail(POPRT_E_ARG, "level",
            "%d is not a level of a module: POPRT_LOG_OFF to "
            "POPRT_LOG_TRACE, without POPRT_LOG_OUTPUT",
            level);
    PRT_TRY(find_modules(module, &from, &to));
    for (uint32_t i = from; i < to; i++)
        atomic_store_explicit(&env->log->levels[i], level, memory_order_relaxed);
    return POPRT_OK;
}

poprt_status poprt_env_get_log_level(const poprt_env *env, const char *module, int32_t *out)
{
    uint32_t from = 0, to = 0;
    PRT_REQUIRE(env);
    PRT_REQUIRE(module);
    PRT_REQUIRE(out);
    PRT_TRY(find_modules(module, &from, &to));
    *out = atomic_load_explicit(&env->log->levels[from], memory_order_relaxed);
    return POPRT_OK;
}

static void update_wanted(struct prt_log *log)
{
    atomic_store_explicit(&log->wanted, log->plain != NULL || log->fn != NULL || log->fd >= 0,
        memory_order_release);
}

poprt_status poprt_env_set_log_callback(poprt_env *env, poprt_log_line_fn fn, void *user)
{
    PRT_REQUIRE(env);
    struct prt_log *log = env->log;
    (void)pthread_mutex_lock(&log->lock);
    log->plain = NULL;
    log->fn = fn;
    log->user = user;
    update_wanted(log);
    (void)pthread_mutex_unlock(&log->lock);
    return POPRT_OK;
}

/* Opens a destination. The descriptor of a file is above that of standard error. */
static poprt_status open_destination(const char *name, int *out)
{
    if (name == NULL || strcmp(name, "stdout") == 0 || strcmp(name, "stderr") == 0) {
        *out = name == NULL ? -1 : name[3] == 'o' ? STDOUT_FILENO : STDERR_FILENO;
        return POPRT_OK;
    }
    int fd = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd >= 0 && fd <= STDERR_FILENO) {
        /* A host without standard streams: the file must not stand in for one of them. */
        const int low = fd;
        fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        (void)close(low);
    }
    if (fd < 0)
        return prt_file_fail(errno, name, "open the log file");
    *out = fd;
    return POPRT_OK;
}

poprt_status poprt_env_set_log_destination(poprt_env *env, const char *destination)
{
    int fd = -1;
    PRT_REQUIRE(env);
    PRT_TRY(prt_fail_in_file(prt_fail_at_stage(open_destination(destination, &fd), "log"),
        destination));
    struct prt_log *log = env->log;
    (void)pthread_mutex_lock(&log->lock);
    close_destination(log);
    log->fd = fd;
    update_wanted(log);
    (void)pthread_mutex_unlock(&log->lock);
    return POPRT_OK;
}

/* ---- lines */

bool prt_env_logs(const poprt_env *env, prt_log_module module, int32_t level)
{
    return atomic_load_explicit(&env->log->wanted, memory_order_acquire) &&
        (level == POPRT_LOG_OUTPUT ||
            level <= atomic_load_explicit(&env->log->levels[module], memory_order_relaxed));
}

/* Writes a line to a descriptor, with as few calls as the system allows. */
static void write_line(int fd, prt_log_module module, int32_t level, const char *text)
{
    char line[MOST_LINE + 128];
    struct timespec now = { 0, 0 };
    struct tm utc = { 0 };
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &utc);
    const int n = snprintf(line, sizeof(line), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ %s %s: %.*s\n",
        utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
        (int)(now.tv_nsec / 1000000), poprt_log_level_name(level), modules[module], MOST_LINE,
        text);
    size_t size = n > 0 ? (size_t)n : 0;
    for (const char *at = line; size != 0;) {
        const ssize_t done = write(fd, at, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return;
        at += done;
        size -= (size_t)done;
    }
}

void prt_env_log(const poprt_env *env, prt_log_module module, int32_t level, const char *text)
{
    struct prt_log *log = env->log;
    if (!prt_env_logs(env, module, level))
        return;
    (void)pthread_mutex_lock(&log->lock);
    const poprt_log_fn plain = log->plain;
    const poprt_log_line_fn fn = log->fn;
    void *const user = log->user;
    if (log->fd >= 0)
        write_line(log->fd, module, level, text);
    (void)pthread_mutex_unlock(&log->lock);
    /* The functions may call the library again, this one included. */
    if (plain != NULL)
        plain(user, level, text);
    if (fn != NULL)
        fn(user, level, modules[module], text);
}

void prt_env_logf(const poprt_env *env, prt_log_module module, int32_t level, const char *fmt, ...)
{
    char text[MOST_LINE];
    va_list args;
    if (!prt_env_logs(env, module, level))
        return;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (n >= 0)
        prt_env_log(env, module, level, text);
}
