/* SPDX-License-Identifier: MIT */
/*
 * test.c — `poprt test`: finds cases below directories and runs each in its own process, so that a
 * crash fails only one case.
 *
 * A child writes its verdict and reason into a pipe, less than the pipe holds, and ends. If a child
 * was killed before, the parent derives the reason from its exit status.
 */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "cpu/cpu.h"
#include "tools/commands/case.h"
#include "tools/commands.h"

enum {
    OPT_HELP,
    OPT_RTOL,
    OPT_ATOL,
    OPT_FILTER,
    OPT_JOBS,
    OPT_VIA_POPEF,
    OPT_DISABLE_PASSES,
    OPT_PASSES,
    OPT_EACH_PASS,
    OPT_CPU,
    OPT_PLUGIN,
    OPT_COUNT
};

enum { MAX_JOBS = 64, MAX_DEPTH = 32, CASE_SECONDS = 300 };

static const prt_opt_def options[OPT_COUNT] = {
    [OPT_HELP] = PRT_OPT("help", 'h', PRT_OPT_FLAG, NULL, "print this and exit"),
    [OPT_RTOL] = { .name = "rtol",
        .arity = PRT_OPT_ONE,
        .value = "X",
        .accepts = "real 0..",
        .absent = "1e-3",
        .help = "relative tolerance of floats" },
    [OPT_ATOL] = { .name = "atol",
        .arity = PRT_OPT_ONE,
        .value = "Y",
        .accepts = "real 0..",
        .absent = "1e-5",
        .help = "absolute tolerance of floats" },
    [OPT_FILTER] =
        PRT_OPT("filter", 0, PRT_OPT_ONE, "GLOB", "only cases whose directory name matches"),
    [OPT_JOBS] = { .name = "jobs",
        .arity = PRT_OPT_ONE,
        .value = "N",
        .accepts = "int 0..64",
        .absent = "0",
        .help = "cases at a time; 0: one for each processor" },
    [OPT_DISABLE_PASSES] = PRT_TOOL_DISABLE_PASSES,
    [OPT_PASSES] = PRT_OPT("passes", 0, PRT_OPT_ONE, "A,B,...",
        "convert each model first, with these additional passes; '' for none"),
    [OPT_EACH_PASS] = PRT_OPT("each-pass", 0, PRT_OPT_FLAG, NULL,
        "run each model through every pass alone, then through the conversion; a pass that "
        "changes the model must keep its results, within the bound that inspect --passes prints; "
        "passes that round to fewer bits have no bound, and fail if an output differs by its "
        "largest element"),
    [OPT_VIA_POPEF] = PRT_OPT("via-popef", 0, PRT_OPT_FLAG, NULL,
        "write each program as PopEF, read it again and run it"),
    [OPT_CPU] = PRT_TOOL_CPU,
    [OPT_PLUGIN] = PRT_TOOL_PLUGIN,
};

static int command_test(int argc, char **argv);

const prt_opt_command prt_test_command = { .name = "poprt test",
    .run = command_test,
    .args = "DIR...",
    .brief = "check models against stored inputs and outputs",
    .summary = "Checks every model.onnx below DIR against its test_data_set_<k>/input_<i>.pb and "
               "output_<i>.pb.",
    .more = "A float a agrees with an expected b if |a - b| <= atol + rtol * |b|. rtol and atol "
            "are at least 1e-2 and 1e-3 for float16, 4e-2 and 1e-2 for bfloat16, and 0.13 and "
            "0.02 for 8 bits and fewer. Other types must be equal. Each case runs in its own "
            "process and may take 300 seconds. The exit code is 1 if a case failed or no case "
            "was found.",
    .examples = "  poprt test models --via-popef --filter '*conv*'\n",
    .options = options,
    .n_options = OPT_COUNT,
    .min_args = 1,
    .max_args = UINT32_MAX };

typedef PRT_VEC(const char *) case_list;

/* Answer of a child process. */
typedef struct answer {
    int32_t verdict;
    char why[2000];
} answer;

typedef struct worker {
    pid_t pid; /* 0: free slot */
    int fd;
    size_t index;
} worker;

typedef struct suite {
    prt_tool tool;
    case_list cases;
    prt_case_options options;
    const char *filter;
    uint32_t n_jobs;
    worker workers[MAX_JOBS];
    size_t done, counts[3]; /* number of cases by verdict */
    /* One for each case. Cases are reported in order, whatever their order of completion. */
    answer *answers;
    size_t reported;
} suite;

static const char *last_part(const char *path)
{
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return path + start;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* Finds cases. A directory with a model is a case; its subdirectories are not searched. */
static poprt_status find_cases(suite *s, const char *dir, uint32_t depth)
{
    struct stat st;
    const char *model = prt_tool_text(s->tool.arena, "%s/model.onnx", dir);
    if (model == NULL)
        return POPRT_E_NOMEM;
    if (stat(model, &st) == 0) {
        if (s->filter != NULL && fnmatch(s->filter, last_part(dir), 0) != 0)
            return POPRT_OK;
        return PRT_VEC_PUSH(s->tool.arena, &s->cases, dir) ? POPRT_OK : POPRT_E_NOMEM;
    }
    if (depth == MAX_DEPTH)
        return POPRT_OK;
    struct dirent **entries = NULL;
    const int n = scandir(dir, &entries, is_visible, by_name);
    if (n < 0)
        return depth == 0 ? prt_fail(POPRT_E_IO, dir, "%s", strerror(errno)) : POPRT_OK;
    poprt_status status = POPRT_OK;
    for (int i = 0; i < n; i++) {
        if (status == POPRT_OK) {
            const char *path = prt_tool_text(s->tool.arena, "%s%s%s", dir,
                dir[strlen(dir) - 1] == '/' ? "" : "/", entries[i]->d_name);
            if (path == NULL)
                status = POPRT_E_NOMEM;
            else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
                status = find_cases(s, path, depth + 1);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

_Noreturn static void be_child(const suite *s, size_t index, int fd)
{
    answer a = { 0 };
    (void)alarm(CASE_SECONDS);
    a.verdict = (int32_t)prt_case_run(s->cases.data[index], &s->options, a.why, sizeof(a.why));
    const ssize_t n = write(fd, &a, sizeof(a));
    _exit(n == (ssize_t)sizeof(a) ? 0 : 1);
}

static poprt_status start(suite *s, worker *w, size_t index)
{
    int fds[2];
    if (pipe(fds) != 0)
        return prt_fail(POPRT_E_IO, NULL, "cannot create a pipe: %s", strerror(errno));
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid < 0) {
        (void)close(fds[0]);
        (void)close(fds[1]);
        return prt_fail(POPRT_E_IO, NULL, "cannot start a process: %s", strerror(errno));
    }
    if (pid == 0) {
        (void)close(fds[0]);
        be_child(s, index, fds[1]);
    }
    (void)close(fds[1]);
    *w = (worker){ .pid = pid, .fd = fds[0], .index = index };
    return POPRT_OK;
}

/* Reads the verdict of a child that has ended. */
static void collect(suite *s, worker *w, int how)
{
    answer *a = &s->answers[w->index];
    const bool clean = WIFEXITED(how) && WEXITSTATUS(how) == 0;
    if (!clean || read(w->fd, a, sizeof(*a)) != (ssize_t)sizeof(*a)) {
        a->verdict = PRT_CASE_FAILED;
        if (WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM)
            (void)snprintf(a->why, sizeof(a->why), "took more than %d seconds", CASE_SECONDS);
        else if (WIFSIGNALED(how))
            (void)snprintf(a->why, sizeof(a->why), "crashed: %s", strsignal(WTERMSIG(how)));
        else
            (void)snprintf(a->why, sizeof(a->why), "its process ended with code %d",
                WIFEXITED(how) ? WEXITSTATUS(how) : -1);
    }
    (void)close(w->fd);
    w->pid = 0;
    s->counts[a->verdict]++;
    s->done++;
    a->verdict |= 4; /* the process has finished */
}

/* Prints failures in the order of the cases. */
static void report(suite *s)
{
    for (; s->reported < s->cases.count; s->reported++) {
        const answer *a = &s->answers[s->reported];
        if ((a->verdict & 4) == 0)
            return;
        if ((a->verdict & 3) != PRT_CASE_FAILED)
            continue;
        prt_progress_clear(&s->tool.progress);
        (void)printf("FAILED %s: %s\n", s->cases.data[s->reported], a->why);
    }
}

static void wait_for_one(suite *s)
{
    int how = 0;
    const pid_t pid = wait(&how);
    for (uint32_t i = 0; i < s->n_jobs; i++)
        if (pid > 0 && s->workers[i].pid == pid)
            collect(s, &s->workers[i], how);
}

static poprt_status run_all(suite *s)
{
    size_t next = 0;
    s->answers = PRT_NEW_N(s->tool.arena, answer, s->cases.count);
    if (s->answers == NULL)
        return POPRT_E_NOMEM;
    poprt_status status = POPRT_OK;
    while (s->done < next || (next < s->cases.count && status == POPRT_OK)) {
        worker *idle = NULL;
        for (uint32_t i = 0; i < s->n_jobs && idle == NULL; i++)
            if (s->workers[i].pid == 0)
                idle = &s->workers[i];
        if (idle != NULL && next < s->cases.count && status == POPRT_OK) {
            status = start(s, idle, next);
            next += status == POPRT_OK;
            continue;
        }
        wait_for_one(s);
        report(s);
        prt_progress_show(&s->tool.progress, "Testing", s->done, s->cases.count);
    }
    prt_progress_clear(&s->tool.progress);
    return status;
}

static int test(suite *s, const prt_opts *opts)
{
    for (uint32_t i = 0; i < opts->n_args; i++)
        if (find_cases(s, opts->args[i], 0) != POPRT_OK)
            return PRT_REPORT();
    if (s->cases.count == 0) {
        (void)prt_fail(POPRT_E_NOT_FOUND, opts->args[0],
            "no directory with a model.onnx was found%s",
            s->filter != NULL ? " whose name matches the filter" : "");
        return PRT_REPORT();
    }
    if (run_all(s) != POPRT_OK)
        return PRT_REPORT();
    (void)printf("%zu passed, %zu failed", s->counts[PRT_CASE_PASSED], s->counts[PRT_CASE_FAILED]);
    if (s->counts[PRT_CASE_SKIPPED] != 0)
        (void)printf(", %zu skipped", s->counts[PRT_CASE_SKIPPED]);
    (void)printf("\n");
    return s->counts[PRT_CASE_FAILED] == 0 ? PRT_EXIT_DONE : PRT_EXIT_FAILED;
}

static int command_test(int argc, char **argv)
{
    static suite s;
    prt_opts opts;
    int exit_code = PRT_EXIT_FAILED;
    if (prt_tool_open(&s.tool, 1) != POPRT_OK)
        return PRT_REPORT();
    if (prt_opt_parse(s.tool.arena, &prt_test_command, argc, argv, &opts, &exit_code)) {
        const int64_t jobs = prt_opt_number(&opts, OPT_JOBS, 0);
        s.options.tolerance = (prt_tolerance){ .rtol = prt_opt_real(&opts, OPT_RTOL, 1e-3),
            .atol = prt_opt_real(&opts, OPT_ATOL, 1e-5) };
        s.filter = prt_opt_value(&opts, OPT_FILTER, NULL);
        s.options.via_popef = prt_opt_has(&opts, OPT_VIA_POPEF);
        s.options.disable_passes = prt_opt_value(&opts, OPT_DISABLE_PASSES, NULL);
        s.options.passes = prt_opt_value(&opts, OPT_PASSES, NULL);
        s.options.each_pass = prt_opt_has(&opts, OPT_EACH_PASS);
        s.n_jobs = jobs != 0 ? (uint32_t)jobs : prt_cpu_count();
        s.n_jobs = s.n_jobs < MAX_JOBS ? s.n_jobs : MAX_JOBS;
        s.options.cpu = prt_opt_value(&opts, OPT_CPU, NULL);
        s.options.opts = &opts;
        s.options.plugins = OPT_PLUGIN;
        exit_code = prt_tool_plugins(&s.tool, &opts, OPT_PLUGIN) == POPRT_OK
            ? test(&s, &opts)
            : PRT_REPORT_OF(&s.tool, &prt_test_command);
    }
    prt_tool_close(&s.tool);
    return exit_code;
}
