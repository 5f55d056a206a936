/* SPDX-License-Identifier: MIT */
/*
 * batch.c — option `gather_ir_passes`: merges consecutive passes that only rewrite graphs into one
 * apply_ir_pass, which reports one event. Passes with arguments, passes of a loop and passes
 * outside the registry stay separate.
 */
#include "pass/engine/manager_state.h"

static bool is_batchable(const prt_entry *e)
{
    return (e->def->kind == PRT_PASS_graph || e->def->kind == PRT_PASS_pattern) &&
        e->args.count == 0 && e->loop == 0 && e->def->hooks->compares == PRT_COMPARES_NOTHING &&
        prt_pass_find(e->def->name) == e->def;
}

/* Returns the names of entries [first, last), separated by commas; NULL: no memory. */
static char *list_names(const prt_pass_manager *pm, size_t first, size_t last)
{
    size_t size = 0, at = 0;
    for (size_t i = first; i < last; i++)
        size += strlen(pm->entries.data[i].def->name) + 1;
    char *text = prt_arena_alloc(pm->arena, size);
    for (size_t i = first; text != NULL && i < last; i++) {
        const char *name = pm->entries.data[i].def->name;
        memcpy(text + at, name, strlen(name));
        at += strlen(name);
        text[at++] = i + 1 < last ? ',' : '\0';
    }
    return text;
}

static poprt_status merge_entries(prt_pass_manager *pm, size_t first, size_t last, prt_entry *out)
{
    const prt_pass_arg passes = { "passes", list_names(pm, first, last) };
    *out = (prt_entry){ .def = prt_pass_of(PRT_PASS_ID_apply_ir_pass),
        .times = 1,
        .stage = pm->entries.data[first].stage };
    return passes.value != NULL ? prt_manager_add_arg(pm, out, &passes) : POPRT_E_NOMEM;
}

poprt_status prt_manager_batch(prt_pass_manager *pm)
{
    size_t n = 0;
    for (size_t i = 0; i < pm->entries.count;) {
        const prt_entry *e = &pm->entries.data[i];
        size_t last = i;
        while (last < pm->entries.count && is_batchable(&pm->entries.data[last]) &&
            strcmp(pm->entries.data[last].stage, e->stage) == 0)
            last++;
        if (last < i + 2) {
            pm->entries.data[n++] = *e;
            i++;
            continue;
        }
        prt_entry merged;
        PRT_TRY(merge_entries(pm, i, last, &merged));
        pm->entries.data[n++] = merged;
        i = last;
    }
    pm->entries.count = n;
    return POPRT_OK;
}
