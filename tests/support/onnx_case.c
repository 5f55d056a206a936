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
#include "onnx_data.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "converter/onnx.h"

enum { MAX_PATH_SIZE = 4096, MAX_SECONDS = 120 };

typedef struct totals {
    size_t passed, failed;
    tolerance within;
    bool quiet;
} totals;

/* Runs in the child. Returns 0 if the case passed; otherwise prints the reason and returns 1. */
static int run_case(const char *folder, tolerance within)
{
    char path[MAX_PATH_SIZE], why[1024] = "no data";
    const prt_onnx_limits limits = { .copy_below = SIZE_MAX };
    prt_module *m = NULL;
    uint32_t sets = 0;
    bool passed = false;
    (void)snprintf(path, sizeof(path), "%s/model.onnx", folder);
    if (prt_onnx_read_file(&prt_mem_libc, path, &limits, &m) != POPRT_OK)
        onnx_data_error("read", why, sizeof(why));
    else if (prt_ir_verify(m) != POPRT_OK)
        onnx_data_error("verify", why, sizeof(why));
    else
        passed = onnx_data_run(m, folder, within, &sets, why, sizeof(why)) && sets > 0;
    if (!passed)
        printf("%s", why);
    prt_module_release(m);
    return !passed;
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
