/* SPDX-License-Identifier: MIT */
/*
 * try_lists.c — runs random lists of passes on models and on random graphs, and compares results.
 *
 *     try_lists [--runs N] [--seed N] [--only K] [--graphs N] [PATH...]
 *
 * PATH is a model, a graph as text (*.txt), or a directory that is searched for *.onnx. --graphs
 * adds N random graphs, called :0, :1 and so on, which are also accepted as a PATH. N lists run on
 * each; with --only, list K alone runs, and the graph is printed. In every other list the inputs
 * are those of test_data_set_0 beside the model, if it exists; otherwise they are random. Each
 * model has a separate process, which an alarm ends if one list takes too long. Prints the lists
 * that break a promise of lists.h and the number of compared results, and ends with the line `N
 * passed, N failed`.
 */
#define _GNU_SOURCE
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "converter/onnx.h"
#include "fuzz/fuzz.h"
#include "fuzz/lists.h"

enum { SECONDS_PER_LIST = 20, RUN_MS = 4000, MOST_MODELS = 65536, FOLD_BYTES = 16 << 20 };

typedef struct settings {
    size_t runs, only;
    uint64_t seed;
} settings;

/* Shared with the worker process. */
typedef struct progress {
    size_t next, failed, compared;
    char text[4096]; /* of the current list */
} progress;

static char *models[MOST_MODELS];
static size_t n_models;

static int note_model(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    const size_t n = strlen(path);
    (void)st;
    (void)at;
    if (flag == FTW_F && n > 5 && strcmp(path + n - 5, ".onnx") == 0 && n_models < MOST_MODELS)
        models[n_models++] = strdup(path);
    return 0;
}

/* Reads the stored values of the inputs; false if one is missing or not a tensor. */
static bool read_inputs(const char *path, const prt_module *m, prt_arena *arena, fuzz_inputs *out)
{
    const char *slash = strrchr(path, '/');
    const int folder = slash != NULL ? (int)(slash - path) : 0;
    out->count = 0;
    for (size_t i = 0; i < m->main->inputs.count; i++) {
        const prt_value *v = m->main->inputs.data[i];
        char file[4096];
        prt_blob *blob = NULL;
        if (v->constant != NULL)
            continue;
        (void)snprintf(file, sizeof(file), "%.*s/test_data_set_0/input_%u.pb", folder, path,
            out->count);
        if (slash == NULL || out->count == FUZZ_MOST_IO ||
            prt_file_map(fuzz_allocator(), file, &blob) != POPRT_OK)
            return false;
        const poprt_status status =
            prt_onnx_read_value(arena, blob, v->type->kind, &out->values[out->count++]);
        if (prt_module_keep((prt_module *)(uintptr_t)m, blob) != POPRT_OK || status != POPRT_OK)
            return false;
    }
    return true;
}

static void try_list(const settings *s, const char *path, prt_module *m, size_t k, progress *p)
{
    uint64_t key[2] = { s->seed * 1000003u + k, prt_hash(path, strlen(path), 0) };
    char why[600];
    prt_arena *arena = NULL;
    fuzz_dice dice;
    fuzz_list list;
    fuzz_inputs inputs;
    bool compared = false;
    fuzz_check how = { .run_ms = RUN_MS,
        .fold_bytes = FOLD_BYTES,
        .seed = k,
        .compared = &compared };
    uint8_t header[FUZZ_HEADER];
    fuzz_dice_init(&dice, (const uint8_t *)key, sizeof(key));
    dice.size = 0; /* all from the generator */
    for (size_t i = 0; i < sizeof(header); i++)
        header[i] = (uint8_t)fuzz_below(&dice, 256);
    fuzz_dice_init(&dice, header, sizeof(header));
    if (prt_arena_create(fuzz_allocator(), 0, &arena) == POPRT_OK &&
        fuzz_list_draw(&dice, m, arena, &list) == POPRT_OK) {
        if (k % 2 == 0 && read_inputs(path, m, arena, &inputs))
            how.inputs = &inputs;
        fuzz_list_text(&list, p->text, sizeof(p->text));
        if (!fuzz_check_list(m, &list, &how, why, sizeof(why))) {
            (void)printf("FAIL %s --seed %llu --only %zu: %s: %s\n", path,
                (unsigned long long)s->seed, k, p->text, why);
            p->failed++;
        }
        p->compared += compared;
    }
    prt_arena_release(arena);
}

static bool is_text(const char *path)
{
    const size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".txt") == 0;
}

static poprt_status read_text(const char *path, prt_module **out)
{
    prt_blob *blob = NULL;
    PRT_TRY(prt_file_map(fuzz_allocator(), path, &blob));
    poprt_status status = prt_module_create(fuzz_allocator(), 0, out);
    if (status == POPRT_OK)
        status = prt_ir_parse(*out, (prt_str){ (const char *)blob->data, (uint32_t)blob->size });
    prt_blob_release(blob);
    return status;
}

/* Loads a random graph or a file. */
static poprt_status load(const settings *s, const char *path, prt_module **out)
{
    fuzz_dice dice;
    prt_str text;
    if (is_text(path))
        return read_text(path, out);
    if (path[0] != ':')
        return prt_onnx_read_file(fuzz_allocator(), path, NULL, out);
    const uint64_t key[2] = { s->seed, strtoull(path + 1, NULL, 10) };
    fuzz_dice_init(&dice, (const uint8_t *)key, sizeof(key));
    dice.size = 0;
    PRT_TRY(fuzz_graph_draw(&dice, out));
    if (s->only != SIZE_MAX && prt_ir_print((*out)->main, (*out)->arena, &text) == POPRT_OK)
        (void)printf("%s\n", text.data);
    return POPRT_OK;
}

static void try_model(const settings *s, const char *path, progress *p)
{
    const bool one = s->only != SIZE_MAX;
    const size_t end = one ? s->only + 1 : s->runs;
    for (size_t k = p->next; k < end; k++) {
        prt_module *m = NULL;
        p->next = k + 1;
        (void)alarm(SECONDS_PER_LIST);
        if (load(s, path, &m) == POPRT_OK)
            try_list(s, path, m, k, p);
        prt_module_release(m);
        fuzz_expect_empty();
    }
}

/* Runs lists in separate processes: the end of a process is a failure, and the next lists run in
 * a new one. */
static void try_apart(const settings *s, const char *path, progress *p)
{
    const size_t end = s->only != SIZE_MAX ? s->only + 1 : s->runs;
    p->next = s->only != SIZE_MAX ? s->only : 0;
    while (p->next < end) {
        int how = 0;
        (void)fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            try_model(s, path, p);
            (void)fflush(NULL);
            _exit(0);
        }
        if (child < 0 || waitpid(child, &how, 0) != child)
            return;
        if (WIFEXITED(how) && WEXITSTATUS(how) == 0)
            continue;
        p->failed++;
        (void)printf("FAIL %s --seed %llu --only %zu: %s: %s\n", path, (unsigned long long)s->seed,
            p->next - 1, p->text,
            WIFSIGNALED(how) ? strsignal(WTERMSIG(how)) : "its process ended");
    }
}

int main(int argc, char **argv)
{
    settings s = { .runs = 20, .only = SIZE_MAX, .seed = 1 };
    progress *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    size_t tried = 0, failed = 0, compared = 0, graphs = 0;
    if (p == MAP_FAILED)
        return 2;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc)
            s.runs = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            s.seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            s.only = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--graphs") == 0 && i + 1 < argc)
            graphs = strtoull(argv[++i], NULL, 10);
        else if ((argv[i][0] == ':' || is_text(argv[i])) && n_models < MOST_MODELS)
            models[n_models++] = strdup(argv[i]);
        else if (nftw(argv[i], note_model, 16, FTW_PHYS) != 0)
            return 2;
    for (size_t i = 0; i < graphs && n_models < MOST_MODELS; i++)
        if (asprintf(&models[n_models], ":%zu", i) > 0)
            n_models++;
    for (size_t i = 0; i < n_models; i++) {
        *p = (progress){ .failed = 0 };
        try_apart(&s, models[i], p);
        tried += s.only != SIZE_MAX ? 1 : s.runs;
        failed += p->failed;
        compared += p->compared;
        free(models[i]);
    }
    (void)munmap(p, sizeof(*p));
    (void)printf("%zu compared\n%zu passed, %zu failed\n", compared, tried - failed, failed);
    return failed == 0 && tried != 0 ? 0 : 1;
}
