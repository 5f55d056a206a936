/* SPDX-License-Identifier: MIT */
/*
 * tool.h — declarations shared by the commands of `poprt`: an environment with log lines and
 * progress, error lines, opening models, and time.
 */
#ifndef PRT_TOOLS_COMMON_TOOL_H
#define PRT_TOOLS_COMMON_TOOL_H

#include "base/vec.h"
#include "poprt/poprt.h"
#include "tools/common/opt.h"
#include "tools/common/progress.h"

typedef struct prt_tool {
    prt_arena *arena; /* lives as long as the command */
    poprt_env *env;
    poprt_config *config; /* for loading and compiling; NULL: defaults */
    bool keeps_int64;     /* the conversion leaves int64 as it is */
    int usual_opset;      /* of a converted model without --convert_version */
    prt_progress progress;
    bool quiet_compile;            /* true: no progress bar for compiling */
    PRT_VEC(const char *) plugins; /* paths of the loaded plug-ins */
    bool past_options; /* true: the command line was checked, so failures are not usage errors */
    double timeout_s;  /* seconds of --timeout */
    /* Time by prt_tool_now_ms after which work is cancelled; 0: never. */
    double deadline_ms;
    /* Highest level of the lines of the tool, and, unless `levels_are_given`, of the library. */
    int32_t log_level;
    const char *ir_dump;   /* file of POPRT_IR_DUMP; NULL: none */
    bool levels_are_given; /* true: an environment variable has set the levels of modules (log.h) */
} prt_tool;

struct prt_tool_host;

/* Sets the host of the commands that follow, which may be NULL, and forgets failed writes. */
void prt_tool_begin(const struct prt_tool_host *host);

/* Opens the environment. `threads` 0: one for each processor. */
poprt_status prt_tool_open(prt_tool *tool, uint32_t threads);
/* Opens the environment for log lines of levels up to `most`. A run that logs takes longer. */
poprt_status prt_tool_open_at(prt_tool *tool, uint32_t threads, int32_t most);
void prt_tool_close(prt_tool *tool);

/* Sets a time limit in seconds, from now on, for reading, compiling (checked between passes) and
 * runs watched by prt_deadline; 0: no limit. */
void prt_tool_set_timeout(prt_tool *tool, double seconds);

/* Returns `status`, with an error that names the time limit if that caused POPRT_E_CANCELLED. */
poprt_status prt_tool_timed_out(const prt_tool *tool, poprt_status status);

/* Prints a line to stderr, or to the destination of log.h: "YYYY-MM-DD hh:mm:ss,mmm LEVEL [poprt]
 * file.c:line] text". */
void prt_tool_log(int32_t level, const char *file, int line, const char *fmt, ...) PRT_PRINTF(4, 5);
#define PRT_LOG(level, ...) prt_tool_log(level, __FILE__, __LINE__, __VA_ARGS__)

/* Prints a line of the tool if its level is enabled. */
void prt_tool_say(const prt_tool *tool, int32_t level, const char *fmt, ...) PRT_PRINTF(3, 4);

/* Logs the last failure of this thread and returns PRT_EXIT_FAILED. */
int prt_tool_report(const char *file, int line);
#define PRT_REPORT() prt_tool_report(__FILE__, __LINE__)
/* Logs the last failure of this thread. If an option or its value is wrong, prints a usage error of
 * `command` instead, and returns PRT_EXIT_USAGE. */
#define PRT_REPORT_OF(tool, command) prt_tool_report_of(tool, command, __FILE__, __LINE__)
int prt_tool_report_of(const prt_tool *tool, const prt_opt_command *command, const char *file,
    int line);

/* Writes the last failure as one text: status, stage, file, subject, message. */
void prt_tool_describe_error(char *to, size_t size);

/*
 * Finds the ONNX or PopEF file of `path`: the file itself, or the only .onnx file of a directory.
 * `*is_popef` is determined by its first bytes.
 */
poprt_status prt_tool_find_model(prt_tool *tool, const char *path, const char **out,
    bool *is_popef);

/* Times of opening a model, in milliseconds. */
typedef struct prt_tool_times {
    double load_ms, compile_ms;
} prt_tool_times;

/* Opens PopEF, or reads ONNX and compiles it. `times` may be NULL. */
poprt_status prt_tool_open_executable(prt_tool *tool, const char *path, prt_tool_times *times,
    poprt_executable **out);

/* Compiles a model. Writes its operators as JSON, if POPRT_IR_DUMP names a file. */
poprt_status prt_tool_compile(const prt_tool *tool, const poprt_model *model,
    poprt_executable **out);

/* Writes the output of poprt_executable_describe_as to memory, with the tool's config. The caller
 * frees it by free(), also after a failure. */
poprt_status prt_tool_describe_executable(const prt_tool *tool, const poprt_executable *exec,
    int32_t format, char **text, size_t *size);

/* Writes the output of poprt_model_describe to memory. The caller frees it by free(), also after a
 * failure. */
poprt_status prt_tool_describe_model(const poprt_model *model, int32_t format, char **text,
    size_t *size);

/* Writes the file that the model was read from, with only the attributes changed that passes set on
 * its nodes (__ipu_number and others). If that is impossible, writes a new file and a warning. */
poprt_status prt_tool_save_marks(const prt_tool *tool, const poprt_model *model, const char *path);

/* Runs one pass with options on a model. */
poprt_status prt_tool_run_pass(const prt_tool *tool, const char *pass, const poprt_pass_arg *args,
    size_t count, poprt_model *model);

/* Tells whether a pass exists in the library or a plug-in. */
bool prt_tool_is_pass(const prt_tool *tool, const char *name);
/* Disables passes of compiling: names separated by commas; may be NULL. */
poprt_status prt_tool_disable(prt_tool *tool, const char *passes);
/* Sets an option of compiling from "KEY=VALUE". */
poprt_status prt_tool_set(prt_tool *tool, const char *text);
/* Sets an option of `config`; a NULL value leaves the default. */
poprt_status prt_tool_set_option(prt_tool *tool, const char *key, const char *value);
/* Loads the plug-ins of an option: one path, or several separated by commas, in each value. */
poprt_status prt_tool_plugins(prt_tool *tool, const prt_opts *opts, uint32_t option);
/* Sets options of compiling from all values of a command-line option. */
poprt_status prt_tool_set_each(prt_tool *tool, const prt_opts *opts, uint32_t option);
/* Sets dimensions of compiling from NAME=N: the program is made for these dimensions only. */
poprt_status prt_tool_set_dims(prt_tool *tool, const prt_opts *opts, uint32_t option);

/* Sets the options "tune" and "tune_cache" of compiling; NULL: unchanged. */
poprt_status prt_tool_tune(prt_tool *tool, const char *mode, const char *cache);

/* The row of an option of the same meaning as `key` of a poprt_config. */
#define PRT_TOOL_CONFIG(name_, value_, takes_, key)                                                \
    {                                                                                              \
        .name = name_, .arity = PRT_OPT_ONE, .value = value_, .takes = takes_,                     \
        .row = &prt_option_rows[PRT_OPTION_##key]                                                  \
    }

/* The rows of options of every command that compiles, and of every command that runs models. */
#define PRT_TOOL_TUNE PRT_TOOL_CONFIG("tune", "MODE", PRT_TAKES_ANY, tune)
#define PRT_TOOL_TUNE_CACHE PRT_TOOL_CONFIG("tune-cache", "FILE", PRT_TAKES_FILE, tune_cache)
#define PRT_TOOL_DISABLE_PASSES                                                                    \
    PRT_TOOL_CONFIG("disable-passes", "A,B,...", PRT_TAKES_ANY, disable_passes)
#define PRT_TOOL_SET                                                                               \
    PRT_OPT("set", 0, PRT_OPT_EACH, "KEY=VALUE",                                                   \
        "an option for compiling an ONNX file, such as bf16x3 or strassen; @FILE: options of a "   \
        "file; may be repeated")
#define PRT_TOOL_CPU PRT_TOOL_CONFIG("cpu", "LEVEL", PRT_TAKES_ANY, cpu)

/* The row of the option for plug-ins. */
#define PRT_TOOL_PLUGIN                                                                            \
    {                                                                                              \
        .name = "plugin", .arity = PRT_OPT_EACH, .value = "FILE", .takes = PRT_TAKES_FILE,         \
        .help = "a shared object with operators (poprt/plugin.h); may be repeated"                 \
    }

/* The row of the option for threads. */
#define PRT_TOOL_THREADS(absent_)                                                                  \
    {                                                                                              \
        .name = "threads", .arity = PRT_OPT_ONE, .value = "N", .accepts = "int 0..1024",           \
        .absent = absent_, .help = "threads; 0: one for each processor"                            \
    }

/* Tells whether a text is "True", "true" or "1"; returns `absent` for NULL. */
bool prt_tool_is_true(const char *text, bool absent);

/*
 * Makes different file names for `count` names of inputs or outputs. Characters that are
 * not allowed in a file name become '_'. A name that is then equal to another one gets
 * "_2", "_3" and so on appended. Names that are valid file names do not change.
 */
poprt_status prt_tool_file_names(prt_arena *arena, const char *const *names, size_t count,
    const char **out);
const char *prt_tool_text(prt_arena *arena, const char *fmt, ...) PRT_PRINTF(2, 3);
/* Writes a file; it is complete or absent. */
poprt_status prt_tool_save(const char *path, const void *bytes, size_t size);
/* Creates a directory and its parents. */
poprt_status prt_tool_make_dir(const char *path);

double prt_tool_now_ms(void);
/* Returns the peak resident memory of this process, in MB (10^6 bytes). */
double prt_tool_peak_mb(void);
/* A poprt_write_fn that writes to a FILE. */
int32_t prt_tool_write(void *file, const void *bytes, size_t size);

/* Flushes the output at the end of a process with exit code `code`. If that fails (a full
 * disk), prints the reason and returns a code other than 0. */
int prt_tool_flush(int code);

/* Sorts milliseconds for medians and percentiles. */
void prt_tool_sort(double *values, size_t count);

#endif
