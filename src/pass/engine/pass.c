/* SPDX-License-Identifier: MIT */
/* pass.c — functions that passes share: options, cancelling, walking regions, replacing values. */
#include "pass/engine/pass.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/accepts.h"
#include "base/list.h"
#include "base/nearest.h"
#include "pass/engine/choices.h"
#include "ir/text.h"
#include "pass/engine/rewrite.h"

enum {
    MAX_DEPTH = 256, /* nested regions */
    MAX_NAMES = 64   /* options of which the nearest names are searched */
};

/* ---- options */

static const prt_pass_option *find_option(const prt_pass_def *def, const char *name)
{
    for (uint32_t i = 0; i < def->n_options; i++)
        if (strcmp(def->options[i].name, name) == 0)
            return &def->options[i];
    return NULL;
}

static bool to_i64(const char *text, int64_t *out)
{
    return prt_text_to_element(PRT_DTYPE_i64, prt_str_of(text), out, 0);
}

static bool to_f64(const char *text, double *out)
{
    return prt_text_to_element(PRT_DTYPE_f64, prt_str_of(text), out, 0);
}

static bool to_bool(const char *text, bool *out)
{
    *out = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    return *out || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
}

int prt_choice_find(const char *words, const char *word)
{
    const size_t size = strlen(word);
    for (int i = 0;; i++) {
        const size_t n = strcspn(words, "|");
        if (n == size && memcmp(words, word, n) == 0)
            return i;
        if (words[n] == '\0')
            return -1;
        words += n + 1;
    }
}

void prt_choice_word(const char *words, int index, char to[PRT_CHOICE_SIZE])
{
    for (; index > 0; index--)
        words += strcspn(words, "|") + 1;
    (void)snprintf(to, PRT_CHOICE_SIZE, "%.*s", (int)strcspn(words, "|"), words);
}

static poprt_status check_choice(const prt_pass_def *def, const prt_pass_option *option,
    const char *value)
{
    char accepted[128];
    if (prt_accepts(option->words, value))
        return POPRT_OK;
    prt_accepts_describe(option->words, accepted, sizeof(accepted));
    return prt_fail(POPRT_E_ARG, option->name, "option %s of pass %s must be %s, not '%.100s'",
        option->name, def->name, accepted, value);
}

static poprt_status check_value(const prt_pass_def *def, const prt_pass_option *option,
    const char *value)
{
    int64_t number;
    double real;
    bool on;
    switch (option->kind) {
    case PRT_OPTION_i64:
        if (!to_i64(value, &number))
            return prt_fail(POPRT_E_ARG, option->name,
                "option %s of pass %s must be an integer, not '%.100s'", option->name, def->name,
                value);
        return POPRT_OK;
    case PRT_OPTION_f64:
        if (!to_f64(value, &real))
            return prt_fail(POPRT_E_ARG, option->name,
                "option %s of pass %s must be a number, not '%.100s'", option->name, def->name,
                value);
        return POPRT_OK;
    case PRT_OPTION_choice:
        return check_choice(def, option, value);
    case PRT_OPTION_bool:
        if (!to_bool(value, &on))
            return prt_fail(POPRT_E_ARG, option->name,
                "option %s of pass %s must be true or false, not '%.100s'", option->name, def->name,
                value);
        return POPRT_OK;
    default:
        return POPRT_OK;
    }
}

static poprt_status unknown_option(const prt_pass_def *def, const char *key)
{
    const char *names[MAX_NAMES] = { NULL };
    char nearest[256];
    const uint32_t n = def->n_options < MAX_NAMES ? def->n_options : MAX_NAMES;
    for (uint32_t i = 0; i < n; i++)
        names[i] = def->options[i].name;
    prt_nearest(key, names, n, nearest, sizeof(nearest));
    return prt_fail(POPRT_E_ARG, key, "pass %s has no option '%.100s'%s%s", def->name, key,
        n != 0 ? "; nearest: " : "", nearest);
}

poprt_status prt_pass_check_args(const prt_pass_def *def, uint32_t n_args, const prt_pass_arg *args)
{
    for (uint32_t i = 0; i < n_args; i++) {
        const prt_pass_option *option = find_option(def, args[i].key);
        if (option == NULL)
            return unknown_option(def, args[i].key);
        PRT_TRY(check_value(def, option, args[i].value));
    }
    return POPRT_OK;
}

const char *prt_pass_text(const prt_pass *p, const char *name)
{
    const prt_pass_option *option = find_option(p->def, name);
    PRT_ASSERT(option != NULL);
    const char *value = option != NULL ? option->initial : "";
    for (uint32_t i = 0; i < p->n_args; i++)
        if (strcmp(p->args[i].key, name) == 0)
            value = p->args[i].value;
    return value;
}

int64_t prt_pass_i64(const prt_pass *p, const char *name)
{
    int64_t value = 0;
    return to_i64(prt_pass_text(p, name), &value) ? value : 0;
}

double prt_pass_f64(const prt_pass *p, const char *name)
{
    double value = 0;
    return to_f64(prt_pass_text(p, name), &value) ? value : 0;
}

bool prt_pass_bool(const prt_pass *p, const char *name)
{
    bool value = false;
    return to_bool(prt_pass_text(p, name), &value) && value;
}

int prt_pass_choice(const prt_pass *p, const char *name)
{
    const int choice = prt_choice_find(find_option(p->def, name)->words, prt_pass_text(p, name));
    PRT_ASSERT(choice >= 0);
    return choice;
}

bool prt_pass_next(const prt_pass *p, const char *name, const char **cursor, prt_str *item)
{
    if (*cursor == NULL)
        *cursor = prt_pass_text(p, name);
    return prt_list_next(cursor, item);
}

bool prt_pass_lists(const prt_pass *p, const char *name, prt_str item)
{
    prt_str other;
    for (const char *cursor = NULL; prt_pass_next(p, name, &cursor, &other);)
        if (prt_str_equal(other, item))
            return true;
    return false;
}

poprt_status prt_pass_json(const prt_pass *p, const char *name, prt_json **out)
{
    const char *text = prt_pass_text(p, name);
    *out = NULL;
    if (text[0] == '\0')
        return POPRT_OK;
    return prt_fail_about(prt_json_parse(p->arena, text, strlen(text), out), name);
}

/* ---- cancelling, progress, messages */

static poprt_status stopped(const prt_pass *p)
{
    return prt_fail(POPRT_E_CANCELLED, p->def->name, "pass %s was stopped", p->def->name);
}

poprt_status prt_pass_check(const prt_pass *p)
{
    return p->cancelled != NULL && p->cancelled(p->cancel_user) ? stopped(p) : POPRT_OK;
}

poprt_status prt_pass_progress(const prt_pass *p, const char *stage, uint64_t done, uint64_t total)
{
    if (p->progress == NULL)
        return prt_pass_check(p);
    return p->progress(p->cancel_user, stage, done, total) ? stopped(p) : POPRT_OK;
}

static void report(const prt_pass *p, prt_pass_level level, const char *subject, const char *fmt,
    va_list args)
{
    char text[512];
    if (vsnprintf(text, sizeof(text), fmt, args) < 0)
        text[0] = '\0';
    p->report(p->report_user, level, p->def->name, subject, text);
}

void prt_pass_print(const prt_pass *p, const char *fmt, ...)
{
    va_list args;
    if (p->report == NULL)
        return;
    va_start(args, fmt);
    report(p, PRT_PASS_PRINTS, NULL, fmt, args);
    va_end(args);
}

void prt_pass_warn(const prt_pass *p, const char *subject, const char *fmt, ...)
{
    va_list args;
    if (p->report == NULL)
        return;
    va_start(args, fmt);
    report(p, PRT_PASS_WARNS, subject, fmt, args);
    va_end(args);
}

void prt_pass_note(const prt_pass *p, const char *subject, const char *fmt, ...)
{
    va_list args;
    if (p->report == NULL)
        return;
    va_start(args, fmt);
    report(p, PRT_PASS_NOTES, subject, fmt, args);
    va_end(args);
}

/* ---- graphs */

static poprt_status each_graph(prt_pass *p, prt_graph *graph, uint32_t depth,
    poprt_status (*visit)(prt_pass *p, prt_graph *graph, bool *changed), bool *changed)
{
    if (depth > MAX_DEPTH)
        return prt_fail(POPRT_E_LIMIT, graph->name.data, "regions are nested too deeply");
    if (graph->contradictory)
        return POPRT_OK;
    PRT_TRY(visit(p, graph, changed));
    prt_for_each_op (op, graph)
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(each_graph(p, op->regions[i], depth + 1, visit, changed));
    return POPRT_OK;
}

poprt_status prt_pass_each_graph(prt_pass *p, prt_graph *graph,
    poprt_status (*visit)(prt_pass *p, prt_graph *graph, bool *changed), bool *changed)
{
    return each_graph(p, graph, 0, visit, changed);
}

static poprt_status apply_rewrites(prt_pass *p, prt_graph *graph, bool *changed)
{
    return prt_rewrite_graph(p, graph, p->def->hooks->rewrites, p->def->hooks->n_rewrites, changed);
}

poprt_status prt_pass_run_hooks(prt_pass *p, bool *changed)
{
    prt_graph *graph = p->module->main;
    switch (p->def->kind) {
    case PRT_PASS_pattern:
        return prt_pass_each_graph(p, graph, apply_rewrites, changed);
    case PRT_PASS_graph:
        return prt_pass_each_graph(p, graph, p->def->hooks->run, changed);
    default:
        return p->def->hooks->run(p, graph, changed);
    }
}

poprt_status prt_pass_run_other(const prt_pass *p, const char *name, bool *changed)
{
    prt_pass other = *p;
    other.def = prt_pass_find(name);
    other.n_args = 0;
    return other.def != NULL ? prt_pass_run_hooks(&other, changed) : prt_pass_unknown(name);
}

/* Adds the bytes of all constants of the graph and its regions, or (`read`) only of constants that
 * have a reader. */
static void count_constants(const prt_graph *graph, bool read, uint32_t depth, uint64_t *bytes)
{
    for (size_t i = 0; i < graph->constants.count; i++)
        if (!read || graph->constants.data[i]->uses != NULL)
            *bytes += graph->constants.data[i]->constant->size;
    for (const prt_op *op = graph->first; op != NULL && depth < MAX_DEPTH; op = op->next)
        for (uint32_t i = 0; i < op->n_regions; i++)
            count_constants(op->regions[i], read, depth + 1, bytes);
}

uint64_t prt_pass_constants(prt_pass *p)
{
    if (p->began == 0)
        count_constants(p->module->main, true, 0, &p->began);
    return p->began;
}

bool prt_pass_reserve(prt_pass *p, size_t size)
{
    enum { TIMES = 2, MORE = 1 << 20 }; /* limit: TIMES * bytes of all constants + MORE */
    if (p->budget == 0) {
        count_constants(p->module->main, false, 0, &p->budget);
        p->budget = p->budget * TIMES + MORE;
    }
    if (size > p->budget - p->spent)
        return false;
    p->spent += size;
    return true;
}

prt_value *prt_pass_derive(prt_graph *graph, const prt_value *old, const prt_type *type,
    prt_blob *blob)
{
    const prt_str name =
        old->name.size != 0 ? prt_module_fresh_name(graph->module, old->name.data) : PRT_STR("");
    return prt_graph_add_constant(graph, name.data != NULL ? name : PRT_STR(""), type, blob);
}

/* `value` may also be an output of an inner graph: regions may return values they capture. */
bool prt_pass_may_replace(const prt_value *from, const prt_value *to)
{
    if (from == to)
        return false;
    if (!prt_value_is_output(from))
        return true;
    return to->def != NULL && to->graph == from->graph && !prt_value_is_output(to);
}

bool prt_pass_replace(prt_build *b, prt_value *from, prt_value *to)
{
    if (b->status != POPRT_OK || !prt_pass_may_replace(from, to))
        return false;
    b->status = prt_value_refine_type(to, from->type);
    if (to->content == NULL)
        to->content = from->content;
    if (prt_value_is_output(from) && from->name.size != 0)
        to->name = PRT_STR("");
    prt_build_replace(b, from, to);
    return b->status == POPRT_OK;
}
