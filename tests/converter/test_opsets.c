/* SPDX-License-Identifier: MIT */
/*
 * test_opsets.c — every row of upgrade.def both ways, on ONNX's cases and on hand-written models.
 * Covers: downgrade_attention.c, downgrade_formula.c, downgrade_loss.c, downgrade_math.c,
 * downgrade_move.c, downgrade_nn.c, downgrade_norm.c, downgrade_quant.c, downgrade_reduce.c,
 * downgrade_resize.c, downgrade_shape.c, upgrade_move.c, formula.c, interp.c.
 *
 *     test_opsets [--jobs N] [--keep DIR] [--all] DIR...
 *
 * Every model is converted to every opset from 1 to the newest, written, read again and run; its
 * outputs must be the expected ones. Where the conversion is impossible, the error must name the
 * operator and the versions. A row that never ran is a failure. --keep keeps the written models,
 * --all prints every refusal.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/vec.h"
#include "converter/history.h"
#include "ir/extra.h"
#include "converter/onnx.h"
#include "converter/onnx_names.h"
#include "converter/upgrade.h"
#include "ir/interp.h"
#include "support/onnx_data.h"
#include "test_opsets_models.h"

enum { MAX_PATH_SIZE = 4096, MOST_ROWS = 1024, MOST_CASES = 4096, MOST_JOBS = 64 };
enum { MAX_SECONDS = 300, SEEN = 8 };

/* State shared by all workers. */
typedef struct shared {
    atomic_size_t next;
    atomic_size_t lowered, run, refused, failed;
    atomic_uint runs[2 * MOST_ROWS];
    size_t at[MOST_JOBS]; /* case of each worker */
} shared;

typedef struct work {
    shared *s;
    const char *cases[MOST_CASES]; /* folders, followed by the hand-written models */
    size_t n_folders, n_cases;
    const char *keep;
    bool all;
    tolerance within;
} work;

/* One model and its expected outputs. */
typedef struct subject {
    const char *name, *folder; /* no folder: compared with its own results */
    prt_module *m;
    uint32_t runs[2 * MOST_ROWS];
    uint64_t seen[SEEN]; /* texts that were run already */
    uint32_t n_seen;
    bool known; /* the unchanged model gives the expected outputs */
} subject;

static void complain(work *w, const subject *s, int64_t target, const char *why)
{
    printf("FAIL %s at opset %lld: %.600s\n", s->name, (long long)target, why);
    atomic_fetch_add(&w->s->failed, 1);
}

/* ---- reading back and running ---- */

typedef struct sink {
    unsigned char *data;
    size_t size, capacity;
} sink;

static int32_t collect(void *user, const void *bytes, size_t size)
{
    sink *s = user;
    if (s->size + size > s->capacity) {
        s->capacity = 2 * (s->size + size);
        s->data = realloc(s->data, s->capacity);
    }
    memcpy(s->data + s->size, bytes, size);
    s->size += size;
    return 0;
}

static void keep(const work *w, const subject *s, int64_t target, const sink *bytes)
{
    char path[MAX_PATH_SIZE];
    const char *slash = s->folder != NULL ? strrchr(s->folder, '/') : NULL;
    (void)snprintf(path, sizeof(path), "%s/%s.%lld.onnx", w->keep,
        slash != NULL ? slash + 1 : s->name, (long long)target);
    FILE *f = fopen(path, "wb");
    if (f == NULL)
        return;
    (void)fwrite(bytes->data, 1, bytes->size, f);
    (void)fclose(f);
}

static bool run_alone(const prt_module *m, prt_arena *arena, prt_tensor *out, char *why,
    size_t size)
{
    if (prt_ir_run(m->main, 0, NULL, m->main->ret->n_in, out, arena) == POPRT_OK)
        return true;
    onnx_data_error("run", why, size);
    return false;
}

/* Hand-written models have no inputs. */
static bool run_both(const subject *s, const prt_module *m, tolerance within, char *why,
    size_t size)
{
    prt_arena *arena = NULL;
    const uint32_t n = m->main->ret->n_in;
    if (prt_arena_create(&prt_mem_libc, 0, &arena) != POPRT_OK)
        return false;
    prt_tensor *want = PRT_NEW_N(arena, prt_tensor, n), *got = PRT_NEW_N(arena, prt_tensor, n);
    bool same = run_alone(s->m, arena, want, why, size) && run_alone(m, arena, got, why, size);
    for (uint32_t i = 0; same && i < n; i++)
        same = values_equal(&got[i], &want[i], within, why, size);
    prt_arena_release(arena);
    return same;
}

static bool run_and_compare(const work *w, const subject *s, const prt_module *m, char *why,
    size_t size)
{
    uint32_t sets = 0;
    if (s->folder == NULL)
        return run_both(s, m, w->within, why, size);
    return onnx_data_run(m, s->folder, w->within, &sets, why, size);
}

/* Returns whether an equal graph ran before. */
static bool is_seen(subject *s, const prt_module *m)
{
    prt_arena *arena = NULL;
    prt_str text;
    if (prt_arena_create(&prt_mem_libc, 0, &arena) != POPRT_OK ||
        prt_ir_print(m->main, arena, &text) != POPRT_OK)
        return false;
    const uint64_t hash = prt_hash(text.data, text.size, 0);
    prt_arena_release(arena);
    for (uint32_t i = 0; i < s->n_seen && i < SEEN; i++)
        if (s->seen[i] == hash)
            return true;
    s->seen[s->n_seen++ % SEEN] = hash;
    return false;
}

/* ---- marks: the marks of a node hold for all nodes that replace it ---- */

static const char mark[] = "__ipu_number";

static bool is_marked(int64_t target)
{
    return target % 2 != 0;
}

static void set_marks(prt_graph *g)
{
    prt_for_each_op (op, g) {
        (void)prt_op_set_mark_i64(op, mark, 3);
        for (uint32_t i = 0; i < op->n_regions; i++)
            set_marks(op->regions[i]);
    }
}

/* Returns the first node without the mark, or NULL. */
static const prt_op *find_unmarked(const prt_graph *g)
{
    int64_t number;
    prt_for_each_op (op, g) {
        if (!prt_op_mark_i64(op, mark, &number) || number != 3)
            return op;
        for (uint32_t i = 0; i < op->n_regions; i++) {
            const prt_op *inner = find_unmarked(op->regions[i]);
            if (inner != NULL)
                return inner;
        }
    }
    return NULL;
}

static void check_marks(work *w, subject *s, int64_t target, const prt_module *m)
{
    char why[1024];
    const prt_op *op = is_marked(target) ? find_unmarked(m->main) : NULL;
    if (op == NULL)
        return;
    (void)snprintf(why, sizeof(why), "node '%.200s' (%.*s) has lost its mark", prt_op_label(op),
        (int)op->name.size, op->name.data);
    complain(w, s, target, why);
}

static void check_written(work *w, subject *s, int64_t target, const sink *bytes)
{
    char why[1024];
    const prt_onnx_limits limits = { .copy_below = SIZE_MAX, .conversion_counts = s->runs };
    prt_blob *blob = NULL;
    prt_module *again = NULL;
    if (prt_blob_create(&prt_mem_libc, bytes->size, &blob) != POPRT_OK)
        return;
    memcpy(prt_blob_bytes(blob), bytes->data, bytes->size);
    if (prt_onnx_read_bytes(&prt_mem_libc, blob, s->name, NULL, &limits, &again) != POPRT_OK) {
        onnx_data_error("read again", why, sizeof(why));
        complain(w, s, target, why);
    } else if (prt_module_opset(again, PRT_STR("")) != target) {
        complain(w, s, target, "another opset was written");
    } else if (!is_seen(s, again)) {
        atomic_fetch_add(&w->s->run, 1);
        if (!run_and_compare(w, s, again, why, sizeof(why)))
            complain(w, s, target, why);
    }
    prt_module_release(again);
    prt_blob_release(blob);
}

/* ---- downgrading ---- */

/* "Name-V cannot go to opset T…: why", in a report of several lines or alone. */
static bool names_all(const char *message, int64_t target)
{
    char text[64];
    (void)snprintf(text, sizeof(text), " cannot go to opset %lld", (long long)target);
    const char *at = strstr(message, text);
    return at != NULL && at > message && at[-1] >= '0' && at[-1] <= '9' && strchr(at, ':') != NULL;
}

static void try_opset(work *w, subject *s, int64_t target)
{
    char why[1024];
    prt_module *m = NULL;
    sink bytes = { 0 };
    if (prt_ir_clone(s->m, &m) != POPRT_OK) {
        complain(w, s, target, "no clone");
        return;
    }
    if (is_marked(target))
        set_marks(m->main);
    const poprt_status status = prt_onnx_downgrade(m, target);
    if (status == POPRT_E_UNSUPPORTED && names_all(prt_error_last()->message, target)) {
        atomic_fetch_add(&w->s->refused, 1);
        if (w->all)
            printf("refused %s: %.500s\n", s->name, prt_error_last()->message);
    } else if (status != POPRT_OK) {
        onnx_data_error("downgrade", why, sizeof(why));
        complain(w, s, target, why);
    } else if (prt_onnx_write(m, collect, &bytes) != POPRT_OK) {
        onnx_data_error("write", why, sizeof(why));
        complain(w, s, target, why);
    } else {
        check_marks(w, s, target, m);
        atomic_fetch_add(&w->s->lowered, 1);
        if (w->keep != NULL)
            keep(w, s, target, &bytes);
        if (s->known)
            check_written(w, s, target, &bytes);
    }
    free(bytes.data);
    prt_module_release(m);
}

static bool open_subject(work *w, size_t index, subject *s)
{
    char path[MAX_PATH_SIZE], why[1024];
    const prt_onnx_limits limits = { .copy_below = SIZE_MAX, .conversion_counts = s->runs };
    if (index < w->n_folders) {
        s->name = s->folder = w->cases[index];
        (void)snprintf(path, sizeof(path), "%s/model.onnx", s->folder);
        if (prt_onnx_read_file(&prt_mem_libc, path, &limits, &s->m) != POPRT_OK)
            return false;
    } else {
        const hand_made *model = &hand_made_models[index - w->n_folders];
        s->name = model->name;
        if (prt_module_create(&prt_mem_libc, 0, &s->m) != POPRT_OK)
            return false;
        s->m->conversion_counts = s->runs;
        if (prt_ir_parse(s->m, prt_str_of(model->text)) != POPRT_OK ||
            prt_ir_infer(s->m->main) != POPRT_OK) {
            onnx_data_error("parse", why, sizeof(why));
            complain(w, s, 0, why);
            return false;
        }
    }
    (void)is_seen(s, s->m);
    s->known =
        run_and_compare(w, s, s->m, why, sizeof(why)); /* random models have no known outputs */
    return true;
}

static void try_case(work *w, size_t index)
{
    subject *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return;
    if (open_subject(w, index, s))
        for (int64_t target = prt_history_newest(); target >= 1; target--)
            try_opset(w, s, target);
    prt_module_release(s->m);
    for (size_t i = 0; i < 2 * MOST_ROWS; i++)
        if (s->runs[i] != 0)
            atomic_fetch_add(&w->s->runs[i], s->runs[i]);
    free(s);
}

/* ---- main program ---- */

static void walk(work *w, const char *folder)
{
    char path[MAX_PATH_SIZE];
    (void)snprintf(path, sizeof(path), "%s/model.onnx", folder);
    if (access(path, F_OK) == 0) {
        if (w->n_folders < MOST_CASES)
            w->cases[w->n_folders++] = strdup(folder);
        return;
    }
    struct dirent **entries = NULL;
    const int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        struct stat st;
        (void)snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            walk(w, path);
        free(entries[i]);
    }
    free(entries);
}

static void work_on(work *w, size_t job)
{
    size_t index;
    while ((index = atomic_fetch_add(&w->s->next, 1)) < w->n_cases) {
        w->s->at[job] = index;
        (void)alarm(MAX_SECONDS);
        try_case(w, index);
        (void)fflush(stdout);
    }
}

/* Distributes the cases over workers; a worker that dies is a failure. */
static void run_workers(work *w, size_t jobs)
{
    pid_t children[MOST_JOBS];
    (void)fflush(stdout);
    for (size_t i = 0; i < jobs; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            work_on(w, i);
            _exit(0);
        }
    }
    for (size_t i = 0; i < jobs; i++) {
        int status = 0;
        while (waitpid(children[i], &status, 0) < 0 && errno == EINTR)
            ;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            continue;
        const size_t at = w->s->at[i];
        printf("FAIL a worker died of signal %d at %s\n", WTERMSIG(status),
            at < w->n_folders ? w->cases[at] : hand_made_models[at - w->n_folders].name);
        atomic_fetch_add(&w->s->failed, 1);
    }
}

/* Conversions that no model exercises, because no writer uses that form, and the test that
 * covers them. */
static const struct {
    const char *name, *test;
    int32_t to;
    size_t direction; /* 0: up */
} elsewhere[] = {
    { "GroupNormalization", "test_upgrade_nn: group_norm_factors_are_by_group", 21, 0 },
    { "SimplifiedLayerNormalization", "test_upgrade_values: simplified_layer_norm_becomes_rms_norm",
        1000, 0 },
};

static bool is_elsewhere(const prt_opset_variant *row, size_t direction)
{
    for (size_t i = 0; i < PRT_COUNT_OF(elsewhere); i++)
        if (strcmp(elsewhere[i].name, row->name) == 0 && elsewhere[i].to == row->to &&
            elsewhere[i].direction == direction)
            return true;
    return false;
}

/* Reports rows that no model exercised; rows of other domains have separate tests. */
static size_t count_idle(const work *w)
{
    size_t count, idle = 0;
    const prt_opset_variant *rows = prt_opset_variants(&count);
    for (size_t i = 0; i < count; i++) {
        const prt_opset_variant *row = &rows[i];
        for (size_t direction = 0; direction < 2 && row->domain[0] == '\0'; direction++) {
            const bool has = direction == 0 ? row->up != NULL : row->down != NULL;
            if (w->all && has)
                printf("%s %d-%d %s: %u\n", row->name, row->from, row->to,
                    direction == 0 ? "up" : "down", w->s->runs[2 * i + direction]);
            if (!has || w->s->runs[2 * i + direction] != 0 || is_elsewhere(row, direction))
                continue;
            printf("FAIL %s from %d to %d: nothing ran its way %s\n", row->name, row->from, row->to,
                direction == 0 ? "up" : "down");
            idle++;
        }
    }
    return idle;
}

int main(int argc, char **argv)
{
    static work w = { .within = { 1e-3, 1e-5 } };
    size_t jobs = 2, rows;
    w.s = mmap(NULL, sizeof(*w.s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    (void)prt_opset_variants(&rows);
    if (w.s == MAP_FAILED || rows > MOST_ROWS)
        return 2;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--jobs") == 0 && i + 1 < argc)
            jobs = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--keep") == 0 && i + 1 < argc)
            w.keep = argv[++i];
        else if (strcmp(argv[i], "--all") == 0)
            w.all = true;
        else
            walk(&w, argv[i]);
    }
    w.n_cases = w.n_folders + hand_made_count;
    run_workers(&w, jobs < 1 ? 1 : jobs > MOST_JOBS ? MOST_JOBS : jobs);
    const size_t idle = count_idle(&w), failed = w.s->failed;
    printf("%zu models, %zu forms written, %zu graphs run, %zu refused, %zu failed, "
           "%zu ways idle\n",
        w.n_cases, (size_t)w.s->lowered, (size_t)w.s->run, (size_t)w.s->refused, failed, idle);
    return failed + idle != 0;
}
