/* SPDX-License-Identifier: MIT */
/* manager.c — runs the list of passes: repeats loops, measures times, reports events, and verifies
 * the IR in debug builds. */
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "pass/engine/manager_state.h"

enum { DEFAULT_FOLD_BYTES = 256 << 20 }; /* limit of constants that one run of a pass makes */

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

poprt_status prt_manager_add_arg(prt_pass_manager *pm, prt_entry *e, const prt_pass_arg *arg)
{
    const prt_pass_arg copy = { prt_arena_text(pm->arena, arg->key, strlen(arg->key)),
        prt_arena_text(pm->arena, arg->value, strlen(arg->value)) };
    if (copy.key == NULL || copy.value == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < e->args.count; i++)
        if (strcmp(e->args.data[i].key, copy.key) == 0) {
            e->args.data[i] = copy;
            return POPRT_OK;
        }
    return PRT_VEC_PUSH(pm->arena, &e->args, copy) ? POPRT_OK : POPRT_E_NOMEM;
}

const prt_pass_def *prt_pass_manager_find(const prt_pass_manager *pm, const char *name)
{
    for (size_t i = 0; i < pm->registered.count; i++)
        if (strcmp(pm->registered.data[i]->name, name) == 0)
            return pm->registered.data[i];
    return prt_pass_find(name);
}

poprt_status prt_pass_manager_register(prt_pass_manager *pm, const prt_pass_def *def)
{
    if (prt_pass_manager_find(pm, def->name) != NULL)
        return prt_fail(POPRT_E_ARG, def->name, "a pass of this name is registered already");
    return PRT_VEC_PUSH(pm->arena, &pm->registered, def) ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_manager_add_entry(prt_pass_manager *pm, const char *pass, const char *stage,
    uint32_t n_args, const prt_pass_arg *args)
{
    prt_entry e = { .def = prt_pass_manager_find(pm, pass), .times = 1, .stage = stage };
    if (e.def == NULL)
        return prt_pass_unknown(pass);
    PRT_TRY(prt_pass_check_args(e.def, n_args, args));
    for (uint32_t i = 0; i < n_args; i++)
        PRT_TRY(prt_manager_add_arg(pm, &e, &args[i]));
    return PRT_VEC_PUSH(pm->arena, &pm->entries, e) ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_pass_manager_add(prt_pass_manager *pm, const char *pass, uint32_t n_args,
    const prt_pass_arg *args)
{
    return prt_manager_add_entry(pm, pass, "", n_args, args);
}

bool prt_manager_skips(const prt_pass_manager *pm, const prt_pass_def *def)
{
    for (size_t i = 0; i < pm->skipped.count; i++)
        if (pm->skipped.data[i] == def)
            return true;
    return false;
}

poprt_status prt_pass_manager_skip(prt_pass_manager *pm, const char *pass)
{
    const prt_pass_def *def = prt_pass_manager_find(pm, pass);
    if (def == NULL)
        return prt_pass_unknown(pass);
    return PRT_VEC_PUSH(pm->arena, &pm->skipped, def) ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_pass_manager_skip_all(prt_pass_manager *pm, const char *names)
{
    for (size_t n; *(names += strspn(names, ", ")) != '\0'; names += n) {
        n = strcspn(names, ", ");
        const char *name = prt_arena_text(pm->arena, names, n);
        if (name == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_pass_manager_skip(pm, name));
    }
    return POPRT_OK;
}

poprt_status prt_pass_manager_set(prt_pass_manager *pm, const char *key, const char *value)
{
    const prt_pass_arg arg = { key, value };
    for (size_t i = 0; i < pm->entries.count; i++) {
        prt_entry *e = &pm->entries.data[i];
        for (uint32_t k = 0; k < e->def->n_options; k++)
            if (strcmp(e->def->options[k].name, key) == 0) {
                PRT_TRY(prt_pass_check_args(e->def, 1, &arg));
                PRT_TRY(prt_manager_add_arg(pm, e, &arg));
            }
    }
    return POPRT_OK;
}

const prt_pass_def *prt_pass_manager_at(const prt_pass_manager *pm, size_t index)
{
    return index < pm->entries.count ? pm->entries.data[index].def : NULL;
}

void prt_pass_manager_set_observer(prt_pass_manager *pm, const prt_pass_observer *observer)
{
    pm->observer = *observer;
}

void prt_pass_manager_set_chooser(prt_pass_manager *pm, const struct prt_chooser *chooser)
{
    pm->chooser = chooser;
}

void prt_pass_manager_set_reference(prt_pass_manager *pm, const prt_module *origin,
    const struct prt_feed *feed)
{
    pm->origin = origin;
    pm->feed = feed;
}

void prt_pass_manager_set_patterns(prt_pass_manager *pm, const prt_popart_set *patterns)
{
    pm->has_patterns = true;
    pm->patterns = *patterns;
}

void prt_pass_manager_set_batching(prt_pass_manager *pm, bool on)
{
    pm->batches_passes = on;
}

void prt_pass_manager_set_limits(prt_pass_manager *pm, const prt_pass_limits *limits)
{
    pm->limits = *limits;
}

/* ---- running */

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
    prt_pass_event event = { .pass = p->def->name,
        .stage = stage,
        .ops_before = count_ops(p->module->main) };
    PRT_TRY(prt_pass_check(p));
    PRT_TRY(print_if(pm, p, &before));
    const uint64_t start = prt_clock_ns();
    PRT_TRY(prt_pass_run_hooks(p, &event.changed));
    event.ms = (double)(prt_clock_ns() - start) * 1e-6;
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

static poprt_status run_entry(prt_pass_manager *pm, const prt_entry *e, bool *changed)
{
    prt_pass p = { .def = e->def,
        .module = pm->module,
        .limits = pm->limits,
        .n_args = (uint32_t)e->args.count,
        .args = e->args.data,
        .chooser = pm->chooser,
        .origin = pm->kept != NULL && e->def->hooks->compares == PRT_COMPARES_STAGE ? pm->kept
                                                                                    : pm->origin,
        .feed = pm->feed,
        .patterns = pm->has_patterns ? &pm->patterns : NULL,
        .cancelled = pm->observer.cancelled,
        .cancel_user = pm->observer.user,
        .progress = pm->observer.progress,
        .report = pm->observer.report,
        .report_user = pm->observer.user };
    PRT_TRY(prt_arena_create(pm->allocator, 0, &p.arena));
    const poprt_status status = run_pass(pm, &p, e->stage, changed);
    pm->module = p.module; /* a pass of the calling program may replace it */
    prt_arena_release(p.arena);
    return status;
}

/* Repeats entries [first, last), which are one loop, until none changes the module, at most `times`
 * times. */
static poprt_status run_loop(prt_pass_manager *pm, size_t first, size_t last, bool *changed)
{
    const uint32_t times = pm->entries.data[first].times;
    bool again = true;
    for (uint32_t round = 0; round < times && again; round++) {
        again = false;
        for (size_t i = first; i < last; i++)
            PRT_TRY(run_entry(pm, &pm->entries.data[i], &again));
        *changed = *changed || again;
    }
    return POPRT_OK;
}

/* Returns whether an entry from `i` on compares with the model before the list (PRT_COMPARES_LIST).
 * For PRT_COMPARES_STAGE: whether an entry of the stage of `i` compares with the model before that
 * stage. */
static bool compares(const prt_pass_manager *pm, size_t i, prt_pass_compares with)
{
    const char *stage = i < pm->entries.count ? pm->entries.data[i].stage : "";
    for (; i < pm->entries.count; i++)
        if (pm->entries.data[i].def->hooks->compares == with &&
            (with == PRT_COMPARES_LIST || strcmp(pm->entries.data[i].stage, stage) == 0))
            return true;
    return false;
}

static bool compares_outside_stages(const prt_pass_manager *pm)
{
    for (size_t i = 0; i < pm->entries.count; i++)
        if (pm->entries.data[i].def->hooks->compares == PRT_COMPARES_STAGE &&
            pm->entries.data[i].stage[0] == '\0')
            return true;
    return false;
}

/* If entry `i` is the first of a stage, releases the clone of the previous stage, and clones the
 * module if a pass of the new stage compares with it. */
static poprt_status enter_stage(prt_pass_manager *pm, size_t i)
{
    if (pm->entries.data[i].stage[0] == '\0' ||
        (i > 0 && strcmp(pm->entries.data[i - 1].stage, pm->entries.data[i].stage) == 0))
        return POPRT_OK;
    prt_module_release(pm->kept);
    pm->kept = NULL;
    return compares(pm, i, PRT_COMPARES_STAGE) ? prt_ir_clone(pm->module, &pm->kept) : POPRT_OK;
}

static poprt_status run_list(prt_pass_manager *pm, bool *changed)
{
    for (size_t i = 0; i < pm->entries.count;) {
        const uint32_t loop = pm->entries.data[i].loop;
        size_t last = i + 1;
        while (loop != 0 && last < pm->entries.count && pm->entries.data[last].loop == loop)
            last++;
        poprt_status status = pm->fixed ? POPRT_OK : enter_stage(pm, i);
        if (status == POPRT_OK)
            status = run_loop(pm, i, last, changed);
        if (status != POPRT_OK)
            return prt_fail_at_stage(status, "pass");
        i = last;
    }
    return POPRT_OK;
}

poprt_status prt_pass_manager_run(prt_pass_manager *pm, prt_module *module, bool *changed)
{
    const prt_module *const origin = pm->origin;
    prt_module *clone = NULL;
    bool any = false;
    PRT_TRY(prt_pass_manager_sort(pm));
    if (pm->batches_passes)
        PRT_TRY(prt_manager_batch(pm));
    /* A pass outside a stage compares with the model before the whole list. */
    const bool wants = compares(pm, 0, PRT_COMPARES_LIST) || compares_outside_stages(pm);
    if (origin == NULL && wants) {
        PRT_TRY(prt_ir_clone(module, &clone));
        pm->origin = clone;
    }
    pm->fixed = origin != NULL;
    pm->module = module;
    const poprt_status status = run_list(pm, &any);
    pm->origin = origin;
    prt_module_release(pm->kept);
    pm->kept = NULL;
    if (clone != NULL)
        prt_module_release(clone);
    if (changed != NULL && status == POPRT_OK)
        *changed = any;
    return status;
}
