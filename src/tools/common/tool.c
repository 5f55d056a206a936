/* SPDX-License-Identifier: MIT */
/* tool.c — environment, log lines and models of all commands. */
#define _DEFAULT_SOURCE
#include "tools/common/tool.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/list.h"
#include "base/str.h"
#include "cpu/cpu.h"
#include "pass/engine/pass.h"
#include "program/popef.h"
#include "tools/common/host.h"
#include "tools/common/log.h"

static const char conversion[] = "PopRT conversion", optimization[] = "Graph optimization",
                  compilation[] = "Graph compilation";

double prt_tool_now_ms(void)
{
    return (double)prt_clock_ns() * 1e-6;
}

double prt_tool_peak_mb(void)
{
    struct rusage usage = { 0 };
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024 / 1e6;
}

/* errno of the first failed write to a stream. */
static int write_error;

static const prt_tool_host *current_host;

void prt_tool_begin(const prt_tool_host *host)
{
    current_host = host;
    write_error = 0;
    clearerr(stdout);
}

int32_t prt_tool_write(void *file, const void *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, file) == size)
        return 0;
    write_error = write_error != 0 ? write_error : errno;
    return 1;
}

int prt_tool_flush(int code)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return code;
    const int error = write_error != 0 ? write_error : errno;
    prt_tool_log(POPRT_LOG_ERROR, __FILE__, __LINE__, "cannot write standard output: %s",
        error != 0 ? strerror(error) : "an earlier write failed");
    return code != 0 ? code : 1;
}

void prt_tool_describe_error(char *to, size_t size)
{
    const poprt_error *e = poprt_last_error();
    /* A message about several nodes has their places already. */
    const bool placed = e->location[0] != '\0' && strstr(e->message, e->location) == NULL;
    (void)snprintf(to, size, "%s%s%s%s%s%s%s%s: %s%s%s%s", poprt_status_name(e->status),
        e->stage[0] != '\0' ? " (" : "", e->stage, e->stage[0] != '\0' ? ")" : "",
        e->file[0] != '\0' ? ": " : "", e->file, e->subject[0] != '\0' ? ": " : "", e->subject,
        e->message, placed ? " (" : "", placed ? e->location : "", placed ? ")" : "");
}

int prt_tool_report(const char *file, int line)
{
    char text[4096];
    prt_tool_describe_error(text, sizeof(text));
    prt_tool_log(POPRT_LOG_ERROR, file, line, "%s", text);
    return PRT_EXIT_FAILED;
}

/* Returns whether the last failure of this thread is about the command line. A missing name or
 * value is, until the command line is checked. */
static bool is_usage_error(const prt_tool *tool)
{
    const poprt_status status = poprt_last_error()->status;
    return !tool->past_options &&
        (status == POPRT_E_ARG || status == POPRT_E_NOT_FOUND || status == POPRT_E_PARSE);
}

int prt_tool_report_of(const prt_tool *tool, const prt_opt_command *command, const char *file,
    int line)
{
    if (!is_usage_error(tool))
        return prt_tool_report(file, line);
    const poprt_error *e = poprt_last_error();
    return prt_opt_usage_error(command, "%s%s%s%s%s", e->file, e->file[0] != '\0' ? ": " : "",
        e->subject, e->subject[0] != '\0' ? ": " : "", e->message);
}

/* Returns the label of the progress bar for a stage of the library. */
static const char *label_of(const char *stage)
{
    static const char *const labels[][2] = { { "read", conversion }, { "passes", conversion },
        { "calibrate", "Calibration" }, { "watch", "Overflow check" }, { "compare", "Comparison" },
        { "optimize", optimization } };
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
        if (strcmp(stage, labels[i][0]) == 0)
            return labels[i][1];
    return compilation;
}

static int32_t show_progress(void *user, const char *stage, uint64_t done, uint64_t total)
{
    prt_tool *tool = user;
    const char *label = label_of(stage);
    const bool compiles = label == compilation || label == optimization;
    if (tool->progress.enabled && (!compiles || !tool->quiet_compile))
        prt_progress_show(&tool->progress, label, done, total);
    if (current_host != NULL && current_host->stops(current_host->user))
        return 1;
    return tool->deadline_ms > 0 && prt_tool_now_ms() > tool->deadline_ms ? 1 : 0;
}

void prt_tool_set_timeout(prt_tool *tool, double seconds)
{
    tool->timeout_s = seconds;
    tool->deadline_ms = seconds > 0 ? prt_tool_now_ms() + seconds * 1e3 : 0;
}

poprt_status prt_tool_timed_out(const prt_tool *tool, poprt_status status)
{
    if (status != POPRT_E_CANCELLED || !(tool->deadline_ms > 0) ||
        prt_tool_now_ms() < tool->deadline_ms)
        return status;
    return prt_fail(POPRT_E_CANCELLED, "--timeout", "stopped after %g seconds", tool->timeout_s);
}

poprt_status prt_tool_open(prt_tool *tool, uint32_t threads)
{
    return prt_tool_open_at(tool, threads, POPRT_LOG_INFO);
}

poprt_status prt_tool_open_at(prt_tool *tool, uint32_t threads, int32_t most)
{
    *tool = (prt_tool){ .log_level = POPRT_LOG_INFO }; /* level of PrintTensor's output */
    prt_progress_init(&tool->progress);
    const poprt_env_options options = { .struct_size = sizeof(options),
        .threads = threads != 0 ? threads : prt_cpu_count(),
        .log_level = most,
        .progress = show_progress,
        .progress_user = tool };
    PRT_TRY(prt_arena_create(NULL, 0, &tool->arena));
    PRT_TRY(poprt_env_create(&options, &tool->env));
    PRT_TRY(poprt_env_set_log_callback(tool->env, prt_tool_log_line, tool));
    return prt_tool_read_variables(tool);
}

void prt_tool_close(prt_tool *tool)
{
    prt_progress_clear(&tool->progress);
    poprt_config_release(tool->config);
    poprt_env_release(tool->env);
    prt_arena_release(tool->arena);
}

const char *prt_tool_text(prt_arena *arena, const char *fmt, ...)
{
    char text[4096];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof(text)) {
        (void)prt_fail(POPRT_E_LIMIT, NULL, "a path is longer than %zu bytes", sizeof(text) - 1);
        return NULL;
    }
    return prt_arena_text(arena, text, (size_t)n);
}

/* Copies a name and replaces each character that is not allowed in a file name by '_'. */
static char *file_name(prt_arena *arena, const char *name)
{
    char *text = prt_arena_text(arena, name, strlen(name));
    if (text == NULL)
        return NULL;
    for (char *p = text; *p != '\0'; p++) {
        const bool fits = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
            (*p >= '0' && *p <= '9') || *p == '_' || *p == '-' || (*p == '.' && p != text);
        if (!fits)
            *p = '_';
    }
    return text[0] != '\0' ? text : prt_arena_text(arena, "_", 1);
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i] != NULL && strcmp(names[i], name) == 0)
            return true;
    return false;
}

poprt_status prt_tool_file_names(prt_arena *arena, const char *const *names, size_t count,
    const char **out)
{
    for (size_t i = 0; i < count; i++) {
        const char *file = file_name(arena, names[i]);
        if (file == NULL)
            return POPRT_E_NOMEM;
        out[i] = strcmp(file, names[i]) == 0 && !is_among(file, out, i) ? file : NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const char *base = out[i] != NULL ? NULL : file_name(arena, names[i]), *file = base;
        for (unsigned k = 2; file != NULL && is_among(file, out, count); k++)
            file = prt_tool_text(arena, "%s_%u", base, k);
        if (out[i] == NULL && file == NULL)
            return POPRT_E_NOMEM;
        out[i] = out[i] != NULL ? out[i] : file;
    }
    return POPRT_OK;
}

poprt_status prt_tool_save(const char *path, const void *bytes, size_t size)
{
    prt_file_writer *writer = NULL;
    PRT_TRY(prt_fail_in_file(prt_file_writer_create(NULL, path, &writer), path));
    const poprt_status status = prt_file_writer_write(writer, bytes, size);
    return prt_fail_in_file(prt_file_writer_finish(writer, status), path);
}

poprt_status prt_tool_make_dir(const char *path)
{
    char text[4096];
    if (strlen(path) >= sizeof(text))
        return prt_fail(POPRT_E_LIMIT, path, "the path is too long");
    (void)memcpy(text, path, strlen(path) + 1);
    for (char *p = text + 1; *p != '\0'; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(text, 0777) != 0 && errno != EEXIST)
            return prt_fail(POPRT_E_IO, text, "cannot create it: %s", strerror(errno));
        *p = '/';
    }
    if (text[0] != '\0' && mkdir(text, 0777) != 0 && errno != EEXIST)
        return prt_fail(POPRT_E_IO, text, "cannot create it: %s", strerror(errno));
    return POPRT_OK;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static poprt_status find_in_dir(prt_tool *tool, const char *path, const char **out)
{
    DIR *dir = opendir(path);
    if (dir == NULL)
        return prt_fail(POPRT_E_IO, path, "%s", strerror(errno));
    uint32_t found = 0;
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        if (ends_with(e->d_name, ".onnx") && found++ == 0)
            *out = prt_tool_text(tool->arena, "%s/%s", path, e->d_name);
    (void)closedir(dir);
    if (found != 1)
        return prt_fail(POPRT_E_NOT_FOUND, path,
            "the directory has %u .onnx files: name one of them", found);
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static bool is_file(const prt_tool *tool, const char *path, const char *end)
{
    struct stat st;
    const char *file = prt_tool_text(tool->arena, "%s%s", path, end);
    return file != NULL && stat(file, &st) == 0 && S_ISREG(st.st_mode);
}

/* Returns whether a folder has a file whose name ends so. */
static bool has_file(const char *folder, const char *end)
{
    bool found = false;
    DIR *dir = opendir(folder);
    for (const struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;)
        found = found || ends_with(e->d_name, end);
    if (dir != NULL)
        (void)closedir(dir);
    return found;
}

/* Returns whether a path is a model of TensorFlow as a whole, and not a file: the folder of a
 * SavedModel or checkpoint, or the prefix of a checkpoint. */
static bool is_tensorflow(const prt_tool *tool, const char *path, bool folder)
{
    if (!folder)
        return is_file(tool, path, ".index");
    return is_file(tool, path, "/saved_model.pb") || is_file(tool, path, "/saved_model.pbtxt") ||
        is_file(tool, path, "/saved_model.cpb") ||
        (has_file(path, ".meta") && !has_file(path, ".onnx"));
}

poprt_status prt_tool_find_model(prt_tool *tool, const char *path, const char **out, bool *is_popef)
{
    struct stat st;
    tool->past_options = true;
    *out = path;
    *is_popef = false;
    const int error = stat(path, &st) != 0 ? errno : 0;
    const bool folder = error == 0 && S_ISDIR(st.st_mode);
    if ((error == ENOENT || folder) && is_tensorflow(tool, path, folder))
        return POPRT_OK;
    if (error != 0)
        return prt_fail(error == ENOENT ? POPRT_E_NOT_FOUND : POPRT_E_IO, path, "%s",
            strerror(error));
    if (folder)
        PRT_TRY(find_in_dir(tool, path, out));
    FILE *file = fopen(*out, "rb");
    if (file == NULL)
        return prt_fail(POPRT_E_IO, *out, "%s", strerror(errno));
    unsigned char start[64];
    const size_t n = fread(start, 1, sizeof(start), file);
    (void)fclose(file);
    *is_popef = prt_popef_is(start, n) || ends_with(*out, ".popef");
    return POPRT_OK;
}

bool prt_tool_is_true(const char *text, bool absent)
{
    return text == NULL
        ? absent
        : strcmp(text, "True") == 0 || strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
}

poprt_status prt_tool_set_option(prt_tool *tool, const char *key, const char *value)
{
    if (value == NULL)
        return POPRT_OK;
    if (tool->config == NULL)
        PRT_TRY(poprt_config_create(tool->env, &tool->config));
    return poprt_config_set(tool->config, key, value);
}

poprt_status prt_tool_set(prt_tool *tool, const char *text)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL)
        return prt_fail(POPRT_E_ARG, text, "must have the form KEY=VALUE");
    const char *key = prt_arena_text(tool->arena, text, (size_t)(equals - text));
    if (key == NULL)
        return POPRT_E_NOMEM;
    return prt_tool_set_option(tool, key, equals + 1);
}

static bool is_script(const char *path)
{
    const size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".py") == 0;
}

static poprt_status load_script(const prt_tool *tool, const char *path)
{
    const poprt_status status = current_host->load_script(current_host->user, tool->env, path);
    return status != POPRT_OK ? prt_fail(status, path, "the Python file failed") : POPRT_OK;
}

/* Loads a plug-in. Several options may name the same path. */
static poprt_status load_plugin(prt_tool *tool, const char *path)
{
    for (size_t i = 0; i < tool->plugins.count; i++)
        if (strcmp(tool->plugins.data[i], path) == 0)
            return POPRT_OK;
    PRT_TRY(current_host != NULL && is_script(path) ? load_script(tool, path)
                                                    : poprt_env_load_plugin(tool->env, path));
    return PRT_VEC_PUSH(tool->arena, &tool->plugins, path) ? POPRT_OK : POPRT_E_NOMEM;
}

/* Loads plug-ins from paths separated by commas. A path cannot contain a comma. */
static poprt_status load_plugins(prt_tool *tool, const char *list)
{
    while (*list != '\0') {
        list += strspn(list, ", ");
        size_t n = strcspn(list, ",");
        const char *rest = list + n;
        while (n > 0 && list[n - 1] == ' ')
            n--;
        const char *path = prt_arena_text(tool->arena, list, n);
        if (path == NULL)
            return POPRT_E_NOMEM;
        if (n != 0)
            PRT_TRY(load_plugin(tool, path));
        list = rest;
    }
    return POPRT_OK;
}

poprt_status prt_tool_plugins(prt_tool *tool, const prt_opts *opts, uint32_t option)
{
    uint32_t cursor = 0;
    for (const char *v; (v = prt_opt_next(opts, option, &cursor)) != NULL;)
        PRT_TRY(load_plugins(tool, v));
    return POPRT_OK;
}

poprt_status prt_tool_set_each(prt_tool *tool, const prt_opts *opts, uint32_t option)
{
    uint32_t cursor = 0;
    for (const char *v; (v = prt_opt_next(opts, option, &cursor)) != NULL;) {
        if (*v != '@' && strchr(v, '=') == NULL)
            return prt_fail(POPRT_E_ARG, "--set", "'%s' must have the form KEY=VALUE or @FILE", v);
        if (*v == '@' && tool->config == NULL)
            PRT_TRY(poprt_config_create(tool->env, &tool->config));
        PRT_TRY(*v == '@' ? poprt_config_load_file(tool->config, v + 1) : prt_tool_set(tool, v));
    }
    return POPRT_OK;
}

poprt_status prt_tool_set_dims(prt_tool *tool, const prt_opts *opts, uint32_t option)
{
    uint32_t cursor = 0;
    for (const char *v; (v = prt_opt_next(opts, option, &cursor)) != NULL;) {
        if (strchr(v, '=') == NULL)
            return prt_fail(POPRT_E_ARG, "--dim", "'%s' must have the form NAME=N", v);
        const char *text = prt_tool_text(tool->arena, "dim.%s", v);
        if (text == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_tool_set(tool, text));
    }
    return POPRT_OK;
}

poprt_status prt_tool_save_marks(const prt_tool *tool, const poprt_model *model, const char *path)
{
    poprt_config *config = NULL;
    PRT_TRY(poprt_config_create(tool->env, &config));
    poprt_status status = poprt_config_set(config, "only_marks", "true");
    if (status == POPRT_OK)
        status = poprt_model_save_file_as(model, path, config);
    poprt_config_release(config);
    if (status != POPRT_E_UNSUPPORTED)
        return status;
    PRT_LOG(POPRT_LOG_WARNING, "%s cannot be a copy of its input: %s", path,
        poprt_last_error()->message);
    return poprt_model_save_file(model, path);
}

poprt_status prt_tool_run_pass(const prt_tool *tool, const char *pass, const poprt_pass_arg *args,
    size_t count, poprt_model *model)
{
    poprt_pass_manager *manager = NULL;
    PRT_TRY(poprt_pass_manager_create(tool->env, &manager));
    poprt_status status = poprt_pass_manager_add_args(manager, pass, args, count);
    if (status == POPRT_OK)
        status = poprt_pass_manager_run(manager, model);
    poprt_pass_manager_release(manager);
    return status;
}

bool prt_tool_is_pass(const prt_tool *tool, const char *name)
{
    poprt_pass_info info = { .struct_size = sizeof(info) };
    for (size_t i = 0; poprt_pass_at(i, &info) == POPRT_OK; i++)
        if (strcmp(info.name, name) == 0)
            return true;
    for (size_t i = 0; poprt_env_pass_at(tool->env, i, &info) == POPRT_OK; i++)
        if (strcmp(info.name, name) == 0)
            return true;
    return false;
}

poprt_status prt_tool_disable(prt_tool *tool, const char *passes)
{
    const char *list = passes;
    prt_str item;
    while (list != NULL && prt_list_next(&list, &item)) {
        const char *name = prt_arena_text(tool->arena, item.data, item.size);
        if (name == NULL)
            return POPRT_E_NOMEM;
        if (!prt_tool_is_pass(tool, name))
            return prt_pass_unknown(name);
    }
    return prt_tool_set_option(tool, "disable_passes", passes);
}

poprt_status prt_tool_tune(prt_tool *tool, const char *mode, const char *cache)
{
    PRT_TRY(prt_tool_set_option(tool, "tune", mode));
    return prt_tool_set_option(tool, "tune_cache", cache);
}

poprt_status prt_tool_describe_executable(const prt_tool *tool, const poprt_executable *exec,
    int32_t format, char **text, size_t *size)
{
    FILE *file = open_memstream(text, size);
    if (file == NULL)
        return prt_fail_nomem(0);
    const poprt_status status =
        poprt_executable_describe_as(exec, format, tool->config, prt_tool_write, file);
    return fclose(file) == 0 ? status : prt_fail_nomem(0);
}

poprt_status prt_tool_compile(const prt_tool *tool, const poprt_model *model,
    poprt_executable **out)
{
    char *text = NULL;
    size_t size = 0;
    PRT_TRY(poprt_compile(model, tool->config, out));
    if (tool->ir_dump == NULL)
        return POPRT_OK;
    poprt_status status =
        prt_tool_describe_executable(tool, *out, POPRT_FORMAT_GRAPHS_JSON, &text, &size);
    if (status == POPRT_OK)
        status = prt_tool_save(tool->ir_dump, text, size);
    free(text);
    if (status != POPRT_OK) {
        poprt_executable_release(*out);
        *out = NULL;
    }
    return status;
}

static poprt_status compile(prt_tool *tool, const char *path, prt_tool_times *times,
    poprt_executable **out)
{
    poprt_model *model = NULL;
    const double start = prt_tool_now_ms();
    PRT_TRY(poprt_model_load_file(tool->env, path, tool->config, &model));
    const double loaded = prt_tool_now_ms();
    const poprt_status status = prt_tool_compile(tool, model, out);
    poprt_model_release(model);
    times->load_ms = loaded - start;
    times->compile_ms = prt_tool_now_ms() - loaded;
    return status;
}

poprt_status prt_tool_open_executable(prt_tool *tool, const char *path, prt_tool_times *times,
    poprt_executable **out)
{
    prt_tool_times unused = { 0 };
    prt_tool_times *t = times != NULL ? times : &unused;
    const char *file = NULL;
    bool is_popef = false;
    PRT_TRY(prt_tool_find_model(tool, path, &file, &is_popef));
    if (!is_popef)
        return compile(tool, file, t, out);
    const double start = prt_tool_now_ms();
    PRT_TRY(poprt_executable_load_file(tool->env, file, tool->config, out));
    *t = (prt_tool_times){ .load_ms = prt_tool_now_ms() - start };
    return POPRT_OK;
}

poprt_status prt_tool_describe_model(const poprt_model *model, int32_t format, char **text,
    size_t *size)
{
    FILE *file = open_memstream(text, size);
    if (file == NULL)
        return prt_fail_nomem(0);
    const poprt_status status = poprt_model_describe(model, format, prt_tool_write, file);
    if (fclose(file) != 0)
        return prt_fail_nomem(0);
    return status;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void prt_tool_sort(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_value);
}
