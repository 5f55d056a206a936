/* SPDX-License-Identifier: MIT */
/* test_corpus.c — runs the cases of tests/corpus, whose README.md describes their files.
 *
 *     test_corpus [--trace] [--only FORM] [--part K/N] [--rows] FILE-OR-FOLDER …
 *
 * Each case runs in all forms of support/graph_forms.h, or in FORM alone. --part K/N takes every
 * Nth file below a folder, from the Kth on. --rows demands a file for each operator of ai.onnx. The
 * last line of output gives the counts.
 * Covers: eval.c, attrs.c, table.c, reals.c, elements.c. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "support/graph_forms.h"
#include "support/tolerance.h"

enum { MAX_PATH_SIZE = 1024, MAX_SHOWN = 20 };

typedef struct runner {
    size_t passed, failed, cases;
    int only; /* form, or FORMS for all */
    bool trace, rows;
    uint32_t part, parts, files;
} runner;

/* A case as its file has it. */
typedef struct sample {
    const char *file;
    unsigned line;
    prt_str title;   /* the text after "case" */
    prt_str graph;   /* IR text */
    prt_str results; /* lines "= …" or ": …", or one line "! STATUS" */
} sample;

/* ---- expected values */

/* Reads the value that a line "= …" describes; `o`, new for each value, owns its memory. */
static void read_expected(prt_str line, outcome *o)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    must(to != NULL, "memory");
    (void)fprintf(to, "w = const %.*s\nreturn w\n", (int)line.size, line.data);
    (void)fclose(to);
    graph_run((prt_str){ text, (uint32_t)size }, FORM_EVALUATOR, o);
    must(o->status == POPRT_OK, text);
    free(text);
}

static bool check_tensor(prt_str line, const tolerance_class *tolerance, const prt_tensor *got,
    char *why)
{
    outcome want;
    read_expected(line, &want);
    const bool same = prt_tolerance_equal(tolerance, got, &want.out[0], why, MAX_WHY);
    outcome_close(&want);
    return same;
}

/* Checks "= f32[2] {1,2}", "= none", or "= seq 2" and as many lines for the items. */
static bool check_value(prt_str *results, const tolerance_class *tolerance, const prt_tensor *got,
    char *why)
{
    prt_str line = next_line(results);
    line.data += 2;
    line.size -= 2;
    if (got->kind == PRT_VALUE_OPTIONAL && got->count == 1)
        got = &got->items[0];
    if (prt_str_is(line, "none")) {
        (void)snprintf(why, MAX_WHY, "is there, not none");
        return got->kind == PRT_VALUE_OPTIONAL && got->count == 0;
    }
    if (!starts_with(line, "seq "))
        return check_tensor(line, tolerance, got, why);
    const size_t count = (size_t)strtoul(line.data + 4, NULL, 10);
    if (got->kind != PRT_VALUE_SEQUENCE || got->count != count) {
        (void)snprintf(why, MAX_WHY, "is of kind %d with %zu items, not a sequence of %zu",
            got->kind, got->count, count);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!check_value(results, tolerance, &got->items[i], why))
            return false;
    return true;
}

/* The tolerance class is the word after "~" in the title, or "exact". */
static tolerance_class tolerance_of(const sample *s)
{
    tolerance_class found = { .name = "exact" };
    uint32_t at = 0, end;
    while (at < s->title.size && s->title.data[at] != '~')
        at++;
    if (at == s->title.size)
        return found;
    for (end = ++at; end < s->title.size && s->title.data[end] != ' ';)
        end++;
    const prt_str name = { s->title.data + at, end - at };
    must(prt_tolerance_find(name, &found), "class of tolerance");
    return found;
}

/* Checks "! STATUS" or "! STATUS part of the message". */
static bool check_failure(prt_str line, const outcome *o, char *why)
{
    char text[MAX_WHY], *part;
    (void)snprintf(text, sizeof(text), "%.*s", (int)line.size - 2, line.data + 2);
    part = strchr(text, ' ');
    if (part != NULL)
        *part++ = '\0';
    if (strcmp(text, prt_status_name(o->status)) == 0 &&
        (part == NULL || strstr(o->message, part) != NULL))
        return true;
    (void)snprintf(why, MAX_WHY, "gives %.300s, not %.*s",
        o->status == POPRT_OK ? "a result" : o->message, (int)line.size - 2, line.data + 2);
    return false;
}

static bool check_outcome(const sample *s, const outcome *o, char *why)
{
    prt_str results = s->results;
    if (starts_with(results, "! "))
        return check_failure(next_line(&results), o, why);
    if (o->status != POPRT_OK) {
        (void)snprintf(why, MAX_WHY, "%.380s", o->message);
        return false;
    }
    const tolerance_class tolerance = tolerance_of(s);
    for (uint32_t i = 0; i < o->n_out; i++) {
        char what[MAX_WHY] = "";
        if (results.size == 0) {
            (void)snprintf(why, MAX_WHY, "has %u outputs, but fewer are expected", o->n_out);
            return false;
        }
        if (!check_value(&results, &tolerance, &o->out[i], what)) {
            (void)snprintf(why, MAX_WHY, "output %u %.360s", i, what);
            return false;
        }
    }
    (void)snprintf(why, MAX_WHY, "has %u outputs, but more are expected", o->n_out);
    return results.size == 0;
}

/* ---- files */

/* Checks the inferred types of a graph with inputs: one line ": type" for each output. */
static void check_types(runner *r, const sample *s)
{
    prt_module *m = NULL;
    prt_str results = s->results;
    char type[MAX_WHY] = "";
    must(prt_module_create(NULL, 0, &m) == POPRT_OK, "module");
    bool same = prt_ir_parse(m, s->graph) == POPRT_OK && prt_ir_verify(m) == POPRT_OK;
    if (!same)
        (void)snprintf(type, sizeof(type), "%.380s", prt_error_last()->message);
    for (uint32_t i = 0; same && i < m->main->ret->n_in; i++) {
        prt_str line = next_line(&results);
        prt_type_print(m->dims, m->main->ret->in[i].value->type, type, sizeof(type));
        same =
            starts_with(line, ": ") && prt_str_is((prt_str){ line.data + 2, line.size - 2 }, type);
    }
    if (!same || results.size != 0)
        printf("%s:%u: %.*s (types): %s\n", s->file, s->line, (int)s->title.size, s->title.data,
            type);
    *(same && results.size == 0 ? &r->passed : &r->failed) += 1;
    prt_module_release(m);
}

static void run_case(runner *r, const sample *s)
{
    r->cases++;
    if (starts_with(s->results, ": ")) {
        check_types(r, s);
        return;
    }
    for (int f = 0; f < FORMS; f++) {
        if (r->only != FORMS && r->only != f)
            continue;
        if (r->trace) {
            printf("%s:%u: %s\n", s->file, s->line, graph_form_names[f]);
            (void)fflush(stdout);
        }
        outcome o;
        char why[MAX_WHY] = "";
        graph_run(s->graph, (graph_form)f, &o);
        if (check_outcome(s, &o, why)) {
            r->passed++;
        } else if (r->failed++ < MAX_SHOWN || r->only != FORMS) {
            printf("%s:%u: %.*s (%s): %s\n", s->file, s->line, (int)s->title.size, s->title.data,
                graph_form_names[f], why);
        }
        outcome_close(&o);
    }
}

/* Blank lines separate cases; lines that start with "#" are comments. */
static void run_file(runner *r, const char *path)
{
    prt_blob *blob = NULL;
    must(prt_file_map(NULL, path, &blob) == POPRT_OK, path);
    prt_str text = { (const char *)blob->data, (uint32_t)blob->size };
    const size_t failed = r->failed;
    for (unsigned at = 1; text.size != 0; at++) {
        prt_str line = next_line(&text);
        if (line.size == 0 || line.data[0] == '#')
            continue;
        must(starts_with(line, "case "), path);
        sample s = { .file = path, .line = at };
        s.title = (prt_str){ line.data + 5, line.size - 5 };
        s.graph = (prt_str){ text.data, 0 };
        for (bool results = false; text.size != 0; at++) {
            line = next_line(&text);
            if (line.size == 0)
                break;
            if (!results && strchr("=!:", line.data[0]) != NULL) {
                results = true;
                s.results = (prt_str){ line.data, 0 };
            }
            *(results ? &s.results.size : &s.graph.size) += line.size + 1;
        }
        at++;
        s.results.size -= s.results.size != 0;
        run_case(r, &s);
    }
    if (r->failed - failed > MAX_SHOWN)
        printf("%s: %zu differences in all\n", path, r->failed - failed);
    prt_blob_release(blob);
}

/* Runs the files of a folder and of its subfolders. */
static void run_folder(runner *r, const char *folder)
{
    struct dirent **entries = NULL;
    const int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name, *end = strrchr(name, '.');
        char path[MAX_PATH_SIZE];
        (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
        if (end == NULL)
            run_folder(r, path);
        else if (strcmp(end, ".txt") == 0 && r->files++ % r->parts == r->part)
            run_file(r, path);
        free(entries[i]);
    }
    free(entries);
}

/* Demands a file for each operator of ai.onnx. */
static void check_rows(runner *r, const char *folder)
{
    for (uint32_t i = 0; i < PRT_OP_COUNT; i++) {
        char path[MAX_PATH_SIZE];
        const prt_op_def *row = prt_op_of(i);
        (void)snprintf(path, sizeof(path), "%s/%s.txt", folder, row->key);
        FILE *file = row->domain[0] == '\0' ? fopen(path, "rb") : stdout;
        if (file == NULL)
            printf("%s: operator %s has no cases\n", path, row->name);
        r->failed += file == NULL;
        if (file != NULL && file != stdout)
            (void)fclose(file);
    }
}

int main(int argc, char **argv)
{
    runner r = { .only = FORMS, .parts = 1 };
    for (int i = 1; i < argc; i++) {
        const char *end = strrchr(argv[i], '.');
        if (strcmp(argv[i], "--trace") == 0) {
            r.trace = true;
        } else if (strcmp(argv[i], "--rows") == 0) {
            r.rows = true;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            i++;
            for (r.only = 0; r.only < FORMS && strcmp(graph_form_names[r.only], argv[i]) != 0;)
                r.only++;
        } else if (strcmp(argv[i], "--part") == 0 && i + 1 < argc) {
            char *rest;
            r.part = (uint32_t)strtoul(argv[++i], &rest, 10);
            r.parts = *rest == '/' ? (uint32_t)strtoul(rest + 1, NULL, 10) : 0;
            must(r.parts != 0 && r.part < r.parts, "--part takes K/N");
        } else if (end != NULL && strcmp(end, ".txt") == 0) {
            run_file(&r, argv[i]);
        } else {
            run_folder(&r, argv[i]);
            if (r.rows)
                check_rows(&r, argv[i]);
        }
    }
    printf("%zu cases, %zu runs as expected, %zu not\n", r.cases, r.passed, r.failed);
    return r.failed == 0 && r.cases != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
