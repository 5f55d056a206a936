/* SPDX-License-Identifier: MIT */
/*
 * apply_ir_pass.c — apply_ir_pass: runs the listed passes at once, in an order that their rows
 * allow. Difference from the reference: any other pass of the registry may be listed, with its
 * default options. All names are checked before any pass runs.
 */
#include "pass/engine/manager.h"

typedef struct saying {
    const prt_pass *p;
} saying;

static void report(void *user, prt_pass_level level, const char *pass, const char *subject,
    const char *message)
{
    const prt_pass *p = ((const saying *)user)->p;
    if (p->report != NULL)
        p->report(p->report_user, level, pass, subject, message);
}

static bool cancelled(void *user)
{
    const prt_pass *p = ((const saying *)user)->p;
    return p->cancelled != NULL && p->cancelled(p->cancel_user);
}

static bool progress(void *user, const char *stage, uint64_t done, uint64_t total)
{
    const prt_pass *p = ((const saying *)user)->p;
    return p->progress != NULL && p->progress(p->cancel_user, stage, done, total);
}

static poprt_status add_all(const prt_pass *p, prt_pass_manager *pm)
{
    prt_str name;
    for (const char *cursor = NULL; prt_pass_next(p, "passes", &cursor, &name);) {
        const char *text = prt_arena_text(p->arena, name.data, name.size);
        if (text == NULL)
            return POPRT_E_NOMEM;
        if (strcmp(text, p->def->name) == 0)
            return prt_fail(POPRT_E_ARG, text, "%s cannot list itself", text);
        PRT_TRY(prt_pass_manager_add(pm, text, 0, NULL));
    }
    return POPRT_OK;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    saying user = { p };
    const prt_pass_observer observer = { .user = &user,
        .report = report,
        .cancelled = cancelled,
        .progress = progress };
    prt_pass_manager *pm = NULL;
    bool any = false;
    (void)graph;
    PRT_TRY(prt_pass_manager_create(p->module->allocator, &pm));
    prt_pass_manager_set_observer(pm, &observer);
    prt_pass_manager_set_limits(pm, &p->limits);
    prt_pass_manager_set_chooser(pm, p->chooser);
    poprt_status status = add_all(p, pm);
    if (status == POPRT_OK)
        status = prt_pass_manager_run(pm, p->module, &any);
    prt_pass_manager_release(pm);
    *changed = *changed || any;
    return status;
}

const prt_pass_hooks prt_pass_apply_ir_pass = { .run = run };
