/* SPDX-License-Identifier: MIT */
/*
 * onnx_case.c — runs the test cases of ONNX's layout with the reference evaluator.
 *
 *     onnx_case [--rtol X] [--atol Y] [--quiet] DIR...
 *
 * Every directory at or below DIR that has a model.onnx is a case; each of its test_data_set_K has
 * input_I.pb and output_I.pb. A case runs in a process of its own, so a crash is a failure like
 * any other. Prints a line for each failure, then the counts.
 */
#define _GNU_SOURCE
#include "onnx_case.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "converter/onnx.h"
#include "ir/interp.h"

enum { MAX_PATH_SIZE = 4096, MAX_SECONDS = 120 };

typedef struct totals {
    size_t passed, failed;
    tolerance within;
    bool quiet;
} totals;

static void say_error(const char *what)
{
    const poprt_error *e = prt_error_last();
    printf("%s: %s: %s: %s", what, prt_status_name(e->status), e->subject, e->message);
}

/* Kind of a graph's input or output; what has no known type is a tensor. */
static int32_t kind_of(const prt_value *v)
{
    const int32_t kind = v != NULL ? v->type->kind : PRT_VALUE_TENSOR;
    return kind == PRT_VALUE_UNKNOWN || kind == PRT_VALUE_ABSENT ? PRT_VALUE_TENSOR : kind;
}

/* False without a file of this name; a file that cannot be read ends the case. Old data sets hold
 * bfloat16 as uint16, for numpy's sake. */
static bool read_pb(prt_arena *arena, const char *folder, const char *stem, uint32_t i,
    const prt_value *value, prt_tensor *out)
{
    const int32_t kind = kind_of(value);
    char path[MAX_PATH_SIZE];
    prt_blob *bytes = NULL;
    (void)snprintf(path, sizeof(path), "%s/%s_%u.pb", folder, stem, i);
    if (access(path, F_OK) != 0)
        return false;
    if (prt_file_map(&prt_mem_libc, path, &bytes) != POPRT_OK ||
        prt_onnx_read_value(arena, bytes, kind, out) != POPRT_OK) {
        say_error(path);
        exit(1);
    }
    if (value != NULL && out->kind == PRT_VALUE_TENSOR && out->dtype == PRT_DTYPE_u16 &&
        value->type->kind == PRT_VALUE_TENSOR && value->type->dtype == PRT_DTYPE_bf16)
        out->dtype = PRT_DTYPE_bf16;
    return true; /* the map lives as long as this process */
}

static bool run_set(const prt_module *m, const char *folder, tolerance within)
{
    const prt_graph *g = m->main;
    const uint32_t n_in = (uint32_t)g->inputs.count, n_out = g->ret->n_in;
    prt_arena *arena = NULL;
    if (prt_arena_create(&prt_mem_libc, 0, &arena) != POPRT_OK)
        return false;
    prt_tensor *in = PRT_NEW_N(arena, prt_tensor, n_in), *out = PRT_NEW_N(arena, prt_tensor, n_out);
    const prt_tensor **refs = PRT_NEW_N(arena, const prt_tensor *, n_in);
    for (uint32_t i = 0; i < n_in; i++)
        if (read_pb(arena, folder, "input", i, g->inputs.data[i], &in[i]))
            refs[i] = &in[i];
    if (prt_ir_run(g, n_in, refs, n_out, out, arena) != POPRT_OK) {
        say_error("run");
        return false;
    }
    for (uint32_t i = 0; i < n_out; i++) {
        prt_tensor want;
        char why[512];
        if (!read_pb(arena, folder, "output", i, g->ret->in[i].value, &want))
            continue;
        if (!values_equal(&out[i], &want, within, why, sizeof(why))) {
            printf("output %u %s", i, why);
            return false;
        }
    }
    prt_arena_release(arena);
    return true;
}

/* In the child: 0 passed, 1 failed with the reason printed. */
static int run_case(const char *folder, tolerance within)
{
    char path[MAX_PATH_SIZE];
    const prt_onnx_limits limits = { .copy_below = SIZE_MAX };
    prt_module *m = NULL;
    (void)snprintf(path, sizeof(path), "%s/model.onnx", folder);
    if (prt_onnx_read_file(&prt_mem_libc, path, &limits, &m) != POPRT_OK) {
        say_error("read");
        return 1;
    }
    if (prt_ir_verify(m) != POPRT_OK) {
        say_error("verify");
        return 1;
    }
    uint32_t sets = 0;
    for (;; sets++) {
        (void)snprintf(path, sizeof(path), "%s/test_data_set_%u", folder, sets);
        if (access(path, F_OK) != 0)
            break;
        if (!run_set(m, path, within))
            return 1;
    }
    prt_module_release(m);
    if (sets == 0)
        printf("no data");
    return sets == 0;
}

/* Runs a case in a child; its output is the reason of a failure. */
static void try_case(const char *folder, totals *t)
{
    int ends[2];
    char text[4096];
    size_t size = 0;
    ssize_t n;
    (void)fflush(stdout);
    if (pipe(ends) != 0)
        exit(2);
    const pid_t child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)alarm(MAX_SECONDS);
        const int code = run_case(folder, t->within);
        (void)fflush(stdout);
        _exit(code);
    }
    (void)close(ends[1]);
    while ((n = read(ends[0], text + size, sizeof(text) - 1 - size)) > 0)
        size += (size_t)n;
    (void)close(ends[0]);
    text[size] = '\0';
    int status = 0;
    (void)waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        t->passed++;
        return;
    }
    t->failed++;
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\n')
            text[i] = '|';
    if (t->quiet)
        printf("FAIL %s\n", folder);
    else if (WIFSIGNALED(status))
        printf("FAIL %s: %s (signal %d) %s\n", folder, strsignal(WTERMSIG(status)),
            WTERMSIG(status), text);
    else
        printf("FAIL %s: %s\n", folder, text);
}

static void walk(const char *folder, totals *t)
{
    char path[MAX_PATH_SIZE];
    (void)snprintf(path, sizeof(path), "%s/model.onnx", folder);
    if (access(path, F_OK) == 0) {
        try_case(folder, t);
        return;
    }
    struct dirent **entries = NULL;
    const int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        struct stat st;
        (void)snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            walk(path, t);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    totals t = { .within = { 1e-3, 1e-5 } };
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--rtol") == 0 && i + 1 < argc)
            t.within.rtol = strtod(argv[++i], NULL);
        else if (strcmp(argv[i], "--atol") == 0 && i + 1 < argc)
            t.within.atol = strtod(argv[++i], NULL);
        else if (strcmp(argv[i], "--quiet") == 0)
            t.quiet = true;
        else
            walk(argv[i], &t);
    }
    printf("%zu passed, %zu failed\n", t.passed, t.failed);
    return t.failed != 0;
}
