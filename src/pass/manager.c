/* SPDX-License-Identifier: MIT */
/* manager.c — runs passes in order: repeats groups, measures, reports, verifies in debug builds. */
#define _POSIX_C_SOURCE 200809L
#include "pass/manager.h"

#include <time.h>


enum { DEFAULT_FOLD_BYTES = 256 << 20 };

typedef struct entry {
    const prt_pass_def *def;
    PRT_VEC(prt_pass_arg) args;
    uint32_t loop, times; /* entries of one loop follow each other; 0: none */
    const char *stage;
} entry;

struct prt_pass_manager {
    const prt_allocator *allocator;
    prt_arena *arena;
    PRT_VEC(entry) entries;
    PRT_VEC(const prt_pass_def *) skipped, known;
    uint32_t loops;
    prt_pass_observer observer;
    prt_pass_limits limits;
    const struct prt_chooser *chooser;
    const prt_module *origin;
    const struct prt_feed *feed;
};

poprt_status prt_pass_manager_create(const prt_allocator *allocator, prt_pass_manager **out)
{
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(allocator, 0, &arena));
    prt_pass_manager *pm = PRT_NEW(arena, prt_pass_manager);
    if (pm == NULL) {
        prt_arena_release(arena);
        return POPRT_E_NOMEM;
    }
    pm->allocator = allocator;
    pm->arena = arena;
    pm->limits.fold_bytes = DEFAULT_FOLD_BYTES;
    *out = pm;
    return POPRT_OK;
}

void prt_pass_manager_release(prt_pass_manager *pm)
{
    if (pm != NULL)
        prt_arena_release(pm->arena);
}

/* ---- the list */

static poprt_status add_arg(prt_pass_manager *pm, entry *e, const prt_pass_arg *arg)
{
    const prt_pass_arg copy = { prt_arena_text(pm->arena, arg->key, strlen(arg->key)),
        prt_arena_text(pm->arena, arg->value, strlen(arg->value)) };
    if (copy.key == NULL || copy.value == NULL)
        return POPRT_E_NOMEM;
    return PRT_VEC_PUSH(pm->arena, &e->args, copy) ? POPRT_OK : POPRT_E_NOMEM;
}

const prt_pass_def *prt_pass_manager_find(const prt_pass_manager *pm, const char *name)
{
    for (size_t i = 0; i < pm->known.count; i++)
        if (strcmp(pm->known.data[i]->name, name) == 0)
            return pm->known.data[i];
    return prt_pass_find(name);
}

poprt_status prt_pass_manager_know(prt_pass_manager *pm, const prt_pass_def *def)
{
    if (prt_pass_manager_find(pm, def->name) != NULL)
        return prt_fail(POPRT_E_ARG, def->name, "there is a pass of this name already");
    return PRT_VEC_PUSH(pm->arena, &pm->known, def) ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status add_entry(prt_pass_manager *pm, const char *pass, const char *stage,
    uint32_t n_args, const prt_pass_arg *args)
{
    entry e = { .def = prt_pass_manager_find(pm, pass), .times = 1, .stage = stage };
    if (e.def == NULL)
        return prt_pass_unknown(pass);
    PRT_TRY(prt_pass_check_args(e.def, n_args, args));
    for (uint32_t i = 0; i < n_args; i++)
        PRT_TRY(add_arg(pm, &e, &args[i]));
    return PRT_VEC_PUSH(pm->arena, &pm->entries, e) ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_pass_manager_add(prt_pass_manager *pm, const char *pass, uint32_t n_args,
    const prt_pass_arg *args)
{
    return add_entry(pm, pass, "", n_args, args);
}

static bool is_skipped(const prt_pass_manager *pm, const prt_pass_def *def)
{
    for (size_t i = 0; i < pm->skipped.count; i++)
        if (pm->skipped.data[i] == def)
            return true;
    return false;
}

/* ---- pipelines */

typedef struct filler {
    prt_pass_manager *pm;
    const prt_pass_settings *settings;
    const char *stage;
    uint32_t base, most; /* loops are numbered on */
    bool added;          /* the last step was */
} filler;

static const char *setting(const filler *f, const char *key)
{
    return f->settings != NULL ? f->settings->get(f->settings->user, key) : NULL;
}

static bool holds(const filler *f, const prt_pipeline_step *step)
{
    const char *text = setting(f, step->key);
    if (text == NULL)
        return false;
    if (step->value[0] != '\0')
        return strcmp(text, step->value) == 0;
    return text[0] != '\0' && strcmp(text, "false") != 0;
}

static poprt_status add_step(filler *f, const prt_pipeline_step *step)
{
    entry e = { .def = prt_pass_of(step->pass), .times = step->times, .stage = f->stage };
    f->added = !is_skipped(f->pm, e.def);
    if (!f->added)
        return POPRT_OK;
    e.loop = step->loop != 0 ? f->base + step->loop : 0;
    f->most = e.loop > f->most ? e.loop : f->most;
    return PRT_VEC_PUSH(f->pm->arena, &f->pm->entries, e) ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status give(const filler *f, const prt_pipeline_step *step)
{
    const prt_pass_arg arg = { step->value, setting(f, step->key) };
    if (!f->added || arg.value == NULL)
        return POPRT_OK;
    entry *last = &f->pm->entries.data[f->pm->entries.count - 1];
    PRT_TRY(prt_pass_check_args(last->def, 1, &arg));
    return add_arg(f->pm, last, &arg);
}

/* Names with commas between, blanks around them. */
static poprt_status insert(const filler *f, const char *names)
{
    while (names != NULL && *names != '\0') {
        names += strspn(names, " \t,");
        size_t n = strcspn(names, ",");
        const char *next = names + n;
        while (n > 0 && (names[n - 1] == ' ' || names[n - 1] == '\t'))
            n--;
        const char *name = prt_arena_text(f->pm->arena, names, n);
        if (name == NULL)
            return POPRT_E_NOMEM;
        if (n != 0)
            PRT_TRY(add_entry(f->pm, name, f->stage, 0, NULL));
        names = next;
    }
    return POPRT_OK;
}

static poprt_status fill(filler *f, const prt_pipeline_step *step)
{
    switch (step->kind) {
    case PRT_STEP_STAGE:
        f->stage = step->value;
        return POPRT_OK;
    case PRT_STEP_GIVE:
        return give(f, step);
    case PRT_STEP_INSERT:
        return insert(f, setting(f, step->key));
    case PRT_STEP_WHEN:
    case PRT_STEP_UNLESS:
        f->added = false;
        return holds(f, step) == (step->kind == PRT_STEP_WHEN) ? add_step(f, step) : POPRT_OK;
    default:
        return add_step(f, step);
    }
}

poprt_status prt_pass_manager_add_pipeline(prt_pass_manager *pm, const char *name,
    const prt_pass_settings *settings)
{
    filler f = { .pm = pm, .settings = settings, .stage = "", .base = pm->loops };
    const prt_pipeline *pipeline = prt_pipeline_find(name);
    if (pipeline == NULL)
        return prt_pipeline_unknown(name);
    for (uint32_t i = 0; i < pipeline->n_steps; i++)
        PRT_TRY(fill(&f, &pipeline->steps[i]));
    pm->loops = f.most > pm->loops ? f.most : pm->loops;
    return POPRT_OK;
}

poprt_status prt_pass_manager_skip(prt_pass_manager *pm, const char *pass)
{
    const prt_pass_def *def = prt_pass_manager_find(pm, pass);
    if (def == NULL)
        return prt_pass_unknown(pass);
    return PRT_VEC_PUSH(pm->arena, &pm->skipped, def) ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_pass_manager_set(prt_pass_manager *pm, const char *key, const char *value)
{
    const prt_pass_arg arg = { key, value };
    for (size_t i = 0; i < pm->entries.count; i++) {
        entry *e = &pm->entries.data[i];
        for (uint32_t k = 0; k < e->def->n_options; k++)
            if (strcmp(e->def->options[k].name, key) == 0) {
                PRT_TRY(prt_pass_check_args(e->def, 1, &arg));
                PRT_TRY(add_arg(pm, e, &arg));
            }
    }
    return POPRT_OK;
}

const prt_pass_def *prt_pass_manager_at(const prt_pass_manager *pm, size_t index)
{
    return index < pm->entries.count ? pm->entries.data[index].def : NULL;
}

void prt_pass_manager_observe(prt_pass_manager *pm, const prt_pass_observer *observer)
{
    pm->observer = *observer;
}

void prt_pass_manager_choose(prt_pass_manager *pm, const struct prt_chooser *chooser)
{
    pm->chooser = chooser;
}

void prt_pass_manager_compare(prt_pass_manager *pm, const prt_module *origin,
    const struct prt_feed *feed)
{
    pm->origin = origin;
    pm->feed = feed;
}

void prt_pass_manager_limit(prt_pass_manager *pm, const prt_pass_limits *limits)
{
    pm->limits = *limits;
}

/* ---- order: units are single passes, or the passes of one loop, which stay together */

typedef struct unit {
    size_t first, last;
    bool placed;
} unit;

typedef struct sorter {
    prt_pass_manager *pm;
    PRT_VEC(unit) units;
} sorter;

static poprt_status gather_units(sorter *s)
{
    const size_t count = s->pm->entries.count;
    s->units.count = 0;
    for (size_t i = 0; i < count;) {
        const uint32_t loop = s->pm->entries.data[i].loop;
        unit u = { i, i + 1, false };
        while (loop != 0 && u.last < count && s->pm->entries.data[u.last].loop == loop)
            u.last++;
        if (!PRT_VEC_PUSH(s->pm->arena, &s->units, u))
            return POPRT_E_NOMEM;
        i = u.last;
    }
    return POPRT_OK;
}

/* Index of the first entry of that name; the count when there is none. */
static size_t find_entry(const prt_pass_manager *pm, const char *name)
{
    size_t i = 0;
    while (i < pm->entries.count && strcmp(pm->entries.data[i].def->name, name) != 0)
        i++;
    return i;
}

/* What entry `i` depends on and the list has not is put before it. */
static poprt_status add_missing(prt_pass_manager *pm, size_t i, bool *added)
{
    const prt_pass_def *def = pm->entries.data[i].def;
    for (uint32_t k = 0; k < def->n_orders; k++) {
        const entry e = { .def = prt_pass_manager_find(pm, def->orders[k].other), .times = 1,
            .stage = pm->entries.data[i].stage };
        if (def->orders[k].relation != PRT_RELATION_depend ||
            find_entry(pm, def->orders[k].other) < pm->entries.count)
            continue;
        if (e.def == NULL)
            return prt_pass_unknown(def->orders[k].other);
        if (is_skipped(pm, e.def))
            continue;
        size_t at = i; /* never within a loop */
        while (at > 0 && pm->entries.data[at].loop != 0 &&
            pm->entries.data[at - 1].loop == pm->entries.data[at].loop)
            at--;
        if (!PRT_VEC_PUSH(pm->arena, &pm->entries, e))
            return POPRT_E_NOMEM;
        memmove(&pm->entries.data[at + 1], &pm->entries.data[at],
            (pm->entries.count - 1 - at) * sizeof(entry));
        pm->entries.data[at] = e;
        *added = true;
        return POPRT_OK;
    }
    return POPRT_OK;
}

static poprt_status check_against(const prt_pass_manager *pm)
{
    for (size_t i = 0; i < pm->entries.count; i++) {
        const prt_pass_def *def = pm->entries.data[i].def;
        for (uint32_t k = 0; k < def->n_orders; k++)
            if (def->orders[k].relation == PRT_RELATION_against &&
                find_entry(pm, def->orders[k].other) < pm->entries.count)
                return prt_fail(POPRT_E_ARG, def->name,
                    "passes %s and %s exclude each other: leave one of them out", def->name,
                    def->orders[k].other);
    }
    return POPRT_OK;
}

/* Has `other` to run before `def`? */
static bool waits_for(const prt_pass_def *def, const prt_pass_def *other)
{
    for (uint32_t k = 0; k < def->n_orders; k++)
        if (def->orders[k].relation == PRT_RELATION_depend &&
            strcmp(def->orders[k].other, other->name) == 0)
            return true;
    for (uint32_t k = 0; k < other->n_orders; k++)
        if (other->orders[k].relation == PRT_RELATION_before &&
            strcmp(other->orders[k].other, def->name) == 0)
            return true;
    return false;
}

/* An entry of a unit that is not placed yet and that unit `u` waits for; NULL: it may run. */
static const prt_pass_def *awaited(const sorter *s, const unit *u, const prt_pass_def **by)
{
    const entry *e = s->pm->entries.data;
    for (size_t k = 0; k < s->units.count; k++) {
        const unit *other = &s->units.data[k];
        for (size_t i = u->first; other != u && !other->placed && i < u->last; i++)
            for (size_t j = other->first; j < other->last; j++)
                if (waits_for(e[i].def, e[j].def)) {
                    *by = e[i].def;
                    return e[j].def;
                }
    }
    return NULL;
}

/* The first unit that waits for none goes next, until all are placed. */
static poprt_status place_units(sorter *s)
{
    prt_pass_manager *pm = s->pm;
    const size_t count = pm->entries.count;
    entry *sorted = PRT_NEW_N(pm->arena, entry, count);
    size_t n = 0;
    if (count != 0 && sorted == NULL)
        return POPRT_E_NOMEM;
    while (n < count) {
        const prt_pass_def *other = NULL, *by = NULL;
        unit *next = NULL;
        for (size_t i = 0; i < s->units.count && next == NULL; i++)
            if (!s->units.data[i].placed && (other = awaited(s, &s->units.data[i], &by)) == NULL)
                next = &s->units.data[i];
        if (next == NULL)
            return prt_fail(POPRT_E_ARG, by->name,
                "passes wait for each other in a circle: %s for %s, and that one for it", by->name,
                other->name);
        for (size_t i = next->first; i < next->last; i++)
            sorted[n++] = pm->entries.data[i];
        next->placed = true;
    }
    for (size_t i = 0; i < count; i++)
        pm->entries.data[i] = sorted[i];
    return POPRT_OK;
}

poprt_status prt_pass_manager_sort(prt_pass_manager *pm)
{
    sorter s = { .pm = pm };
    for (bool added = true; added;) {
        added = false;
        for (size_t i = 0; i < pm->entries.count && !added; i++)
            PRT_TRY(add_missing(pm, i, &added));
    }
    PRT_TRY(check_against(pm));
    PRT_TRY(gather_units(&s));
    return place_units(&s);
}

/* ---- running */

static double now_ms(void)
{
    struct timespec t = { 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static uint32_t count_ops(const prt_graph *graph)
{
    uint32_t n = 0;
    for (const prt_op *op = graph->first; op != NULL; op = op->next) {
        n++;
        for (uint32_t i = 0; i < op->n_regions; i++)
            n += count_ops(op->regions[i]);
    }
    return n;
}

static poprt_status print_if(const prt_pass_manager *pm, const prt_pass *p, prt_str *out)
{
    if (pm->observer.wants_text == NULL || pm->observer.done == NULL ||
        !pm->observer.wants_text(pm->observer.user, p->def->name))
        return POPRT_OK;
    return prt_ir_print(p->module->main, p->arena, out);
}

static poprt_status run_pass(const prt_pass_manager *pm, prt_pass *p, const char *stage,
    bool *changed)
{
    prt_str before = { NULL, 0 }, after = { NULL, 0 };
    prt_pass_event event = { .pass = p->def->name, .stage = stage,
        .ops_before = count_ops(p->module->main) };
    PRT_TRY(prt_pass_check(p));
    PRT_TRY(print_if(pm, p, &before));
    const double start = now_ms();
    PRT_TRY(prt_pass_run_hooks(p, &event.changed));
    event.ms = now_ms() - start;
#ifdef PRT_DEBUG
    PRT_TRY(prt_ir_verify(p->module));
#endif
    PRT_ASSERT(p->def->kind != PRT_PASS_check || !event.changed);
    *changed = *changed || event.changed;
    if (pm->observer.done == NULL)
        return POPRT_OK;
    PRT_TRY(print_if(pm, p, &after));
    event.ops_after = count_ops(p->module->main);
    event.before = before.data;
    event.after = after.data;
    pm->observer.done(pm->observer.user, &event);
    return POPRT_OK;
}

static poprt_status run_entry(const prt_pass_manager *pm, const entry *e, prt_module *module,
    bool *changed)
{
    prt_pass p = { .def = e->def, .module = module, .limits = pm->limits,
        .n_args = (uint32_t)e->args.count, .args = e->args.data, .chooser = pm->chooser,
        .origin = pm->origin, .feed = pm->feed,
        .cancelled = pm->observer.cancelled, .cancel_user = pm->observer.user,
        .say = pm->observer.say, .say_user = pm->observer.user };
    PRT_TRY(prt_arena_create(pm->allocator, 0, &p.arena));
    const poprt_status status = run_pass(pm, &p, e->stage, changed);
    prt_arena_release(p.arena);
    return status;
}

/* Entries [first, last) of one loop, until nothing changes. */
static poprt_status run_loop(const prt_pass_manager *pm, size_t first, size_t last,
    prt_module *module, bool *changed)
{
    const uint32_t times = pm->entries.data[first].times;
    bool again = true;
    for (uint32_t round = 0; round < times && again; round++) {
        again = false;
        for (size_t i = first; i < last; i++)
            PRT_TRY(run_entry(pm, &pm->entries.data[i], module, &again));
        *changed = *changed || again;
    }
    return POPRT_OK;
}

static poprt_status run_list(prt_pass_manager *pm, prt_module *module, bool *changed)
{
    for (size_t i = 0; i < pm->entries.count;) {
        const uint32_t loop = pm->entries.data[i].loop;
        size_t last = i + 1;
        while (loop != 0 && last < pm->entries.count && pm->entries.data[last].loop == loop)
            last++;
        const poprt_status status = run_loop(pm, i, last, module, changed);
        if (status != POPRT_OK)
            return prt_fail_at_stage(status, "pass");
        i = last;
    }
    return POPRT_OK;
}

static bool compares(const prt_pass_manager *pm)
{
    for (size_t i = 0; i < pm->entries.count; i++)
        if (pm->entries.data[i].def->hooks->compares)
            return true;
    return false;
}

poprt_status prt_pass_manager_run(prt_pass_manager *pm, prt_module *module, bool *changed)
{
    const prt_module *const origin = pm->origin;
    prt_module *clone = NULL;
    bool any = false;
    PRT_TRY(prt_pass_manager_sort(pm));
    if (origin == NULL && compares(pm)) {
        PRT_TRY(prt_ir_clone(module, &clone));
        pm->origin = clone;
    }
    const poprt_status status = run_list(pm, module, &any);
    pm->origin = origin;
    if (clone != NULL)
        prt_module_release(clone);
    if (changed != NULL && status == POPRT_OK)
        *changed = any;
    return status;
}
