/* SPDX-License-Identifier: MIT */
/*
 * tool.h — what the commands of `poprt` share: an environment with log lines and progress, error
 * lines, opening models, and time.
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
    poprt_config *config; /* for compiling; NULL: defaults */
    prt_progress progress;
    bool quiet_compile;            /* no progress of compiling */
    PRT_VEC(const char *) plugins; /* paths that are loaded */
    bool past_options;  /* the command line is checked: failures are not usage errors any more */
    double timeout_s;   /* as it was given */
    double deadline_ms; /* of prt_tool_now_ms; then work is cancelled; 0: never */
    int32_t log_level;  /* lines of the tool and of the library up to this one are printed */
} prt_tool;

/* `threads` 0 stands for as many as there are processors to use. */
poprt_status prt_tool_open(prt_tool *tool, uint32_t threads);
/* The same where log lines of levels up to `most` may be asked for; runs that log take longer. */
poprt_status prt_tool_open_at(prt_tool *tool, uint32_t threads, int32_t most);
void prt_tool_close(prt_tool *tool);

/* From now on: reading, compiling (between two passes) and what prt_deadline watches are cancelled
 * after so many seconds; 0: never. */
void prt_tool_set_timeout(prt_tool *tool, double seconds);

/* `status`, or where it is POPRT_E_CANCELLED for that reason, the failure that says so. */
poprt_status prt_tool_timed_out(const prt_tool *tool, poprt_status status);

/* One line on stderr: "YYYY-MM-DD hh:mm:ss,mmm LEVEL [poprt] file.c:line] text". */
void prt_tool_log(int32_t level, const char *file, int line, const char *fmt, ...) PRT_PRINTF(4, 5);
#define PRT_LOG(level, ...) prt_tool_log(level, __FILE__, __LINE__, __VA_ARGS__)

/* A line of the tool itself, when its level is wanted. */
void prt_tool_say(const prt_tool *tool, int32_t level, const char *fmt, ...) PRT_PRINTF(3, 4);

/* Logs this thread's last failure; returns PRT_EXIT_FAILED. */
int prt_tool_report(const char *file, int line);
#define PRT_REPORT() prt_tool_report(__FILE__, __LINE__)
/* The same; PRT_EXIT_USAGE where an option or its value is at fault. */
#define PRT_REPORT_OF(tool)                                                                        \
    ((void)PRT_REPORT(), prt_tool_at_fault(tool) ? PRT_EXIT_USAGE : PRT_EXIT_FAILED)
/* Is this thread's last failure about the command line? Models are not looked for before. */
bool prt_tool_at_fault(const prt_tool *tool);

/* The last failure as one text: status, stage, file, subject, message. */
void prt_tool_describe_error(char *to, size_t size);

/*
 * The ONNX or PopEF file that `path` means: itself, or the only .onnx file of a directory.
 * `*is_popef` comes from its first bytes.
 */
poprt_status prt_tool_find_model(prt_tool *tool, const char *path, const char **out,
    bool *is_popef);

/* What opening cost, in milliseconds. */
typedef struct prt_tool_times {
    double load_ms, compile_ms;
} prt_tool_times;

/* Opens PopEF, or reads ONNX and compiles it. `times` may be NULL. */
poprt_status prt_tool_open_executable(prt_tool *tool, const char *path, prt_tool_times *times,
    poprt_executable **out);

/* What poprt_model_describe says, in memory to be given to free(), also after a failure. */
poprt_status prt_tool_gather(const poprt_model *model, int32_t format, char **text, size_t *size);

/* The file that the model was read from with what passes noted at its nodes (__ipu_number and the
 * like) and nothing else changed; with a warning a file of its own where that cannot be. */
poprt_status prt_tool_save_marks(const prt_tool *tool, const poprt_model *model, const char *path);

/* Runs one pass with these of its options on a model. */
poprt_status prt_tool_run_pass(const prt_tool *tool, const char *pass, const poprt_pass_arg *args,
    size_t count, poprt_model *model);

/* Of the library's or of a plug-in's. */
bool prt_tool_is_pass(const prt_tool *tool, const char *name);
/* Compiling leaves these passes (a comma list; may be NULL) out. */
poprt_status prt_tool_disable(prt_tool *tool, const char *passes);
/* An option for compiling, as "KEY=VALUE". */
poprt_status prt_tool_set(prt_tool *tool, const char *text);
/* Loads the plug-ins that an option names, one a value or several in a comma list. */
poprt_status prt_tool_plugins(prt_tool *tool, const prt_opts *opts, uint32_t option);
/* All values of a command-line option of that kind. */
poprt_status prt_tool_set_each(prt_tool *tool, const prt_opts *opts, uint32_t option);
/* NAME=N, for compiling: the program is made for these dimensions alone. */
poprt_status prt_tool_set_dims(prt_tool *tool, const prt_opts *opts, uint32_t option);

/* Is there a level of kernels of this name (NULL: none is asked for)? */
poprt_status prt_tool_check_cpu(const prt_tool *tool, const char *level);

/* Compiling times forms: the options "tune" and "tune_cache"; NULL: as they are. */
poprt_status prt_tool_tune(prt_tool *tool, const char *mode, const char *cache);

/* The rows of those options, for every command that compiles. */
#define PRT_TOOL_TUNE(name)                                                                        \
    PRT_OPT(name, 0, PRT_OPT_ONE, "MODE",                                                          \
        "how an ONNX file's convolutions get their forms: 'off', by rule; 'fast', 'full': timed")
#define PRT_TOOL_TUNE_CACHE(name)                                                                  \
    PRT_OPT(name, 0, PRT_OPT_ONE, "FILE", "keep what tuning finds in FILE, by processor")

/* The row of the option for plug-ins. */
#define PRT_TOOL_PLUGIN                                                                            \
    PRT_OPT("plugin", 0, PRT_OPT_EACH, "FILE",                                                     \
        "a shared object with operators (poprt/plugin.h); may be repeated")

/* The row of the option that every command that runs has. */
#define PRT_TOOL_CPU                                                                               \
    PRT_OPT("cpu", 0, PRT_OPT_ONE, "LEVEL",                                                        \
        "kernels of this level at most: native, the default, avx512, avx2 or portable; "           \
        "reference: the slow ones")

/* "True", "true", "1"; what NULL stands for. */
bool prt_tool_is_true(const char *text, bool absent);

/*
 * File names for `count` names of inputs or outputs, no two the same: characters that do not fit a
 * file name become '_', and what is then another's name gets "_2", "_3" and so on behind it. Names
 * that fit as they are stay.
 */
poprt_status prt_tool_file_names(prt_arena *arena, const char *const *names, size_t count,
    const char **out);
const char *prt_tool_text(prt_arena *arena, const char *fmt, ...) PRT_PRINTF(2, 3);
/* Writes a file, complete or not at all. */
poprt_status prt_tool_save(const char *path, const void *bytes, size_t size);
/* Makes a directory and those above it. */
poprt_status prt_tool_make_dir(const char *path);

double prt_tool_now_ms(void);
/* Most memory this process has had resident, in MB (10^6 bytes). */
double prt_tool_peak_mb(void);
/* A poprt_write_fn to a FILE. */
int32_t prt_tool_write(void *file, const void *bytes, size_t size);

/* At the end of a process that would exit with `code`: what was printed has to arrive. Where it
 * does not (a full disk), says why and returns a code that is not 0. */
int prt_tool_flush(int code);

/* Orders milliseconds for medians and percentiles. */
void prt_tool_sort(double *values, size_t count);

#endif
