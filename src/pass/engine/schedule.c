/* SPDX-License-Identifier: MIT */
/*
 * schedule.c — sorts a list of passes as their ORDER rows require. The unit of sorting is a pass,
 * or all passes of one loop, which stay together.
 */
#include "pass/engine/manager_state.h"

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

/* Returns the index of the first entry of that name; the number of entries if there is none. */
static size_t find_entry(const prt_pass_manager *pm, const char *name)
{
    size_t i = 0;
    while (i < pm->entries.count && strcmp(pm->entries.data[i].def->name, name) != 0)
        i++;
    return i;
}

/* Adds one pass that entry `i` depends on and that is missing, in front of the entry. */
static poprt_status add_missing(prt_pass_manager *pm, size_t i, bool *added)
{
    const prt_pass_def *def = pm->entries.data[i].def;
    for (uint32_t k = 0; k < def->n_orders; k++) {
        const prt_entry e = { .def = prt_pass_manager_find(pm, def->orders[k].other),
            .times = 1,
            .stage = pm->entries.data[i].stage };
        if (def->orders[k].relation != PRT_RELATION_depend ||
            find_entry(pm, def->orders[k].other) < pm->entries.count)
            continue;
        if (e.def == NULL)
            return prt_pass_unknown(def->orders[k].other);
        if (prt_manager_skips(pm, e.def))
            continue;
        size_t at = i; /* in front of the whole loop */
        while (at > 0 && pm->entries.data[at].loop != 0 &&
            pm->entries.data[at - 1].loop == pm->entries.data[at].loop)
            at--;
        if (!PRT_VEC_PUSH(pm->arena, &pm->entries, e))
            return POPRT_E_NOMEM;
        memmove(&pm->entries.data[at + 1], &pm->entries.data[at],
            (pm->entries.count - 1 - at) * sizeof(prt_entry));
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

/* Returns whether `other` must run before `def`. */
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

/* Finds a pass that must run before unit `u` and is not placed yet; `*by` becomes the entry of `u`
 * that requires it. NULL: `u` may run. */
static const prt_pass_def *awaited(const sorter *s, const unit *u, const prt_pass_def **by)
{
    const prt_entry *e = s->pm->entries.data;
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

/* Places the first unit that does not wait for another one, until all are placed. */
static poprt_status place_units(sorter *s)
{
    prt_pass_manager *pm = s->pm;
    const size_t count = pm->entries.count;
    prt_entry *sorted = PRT_NEW_N(pm->arena, prt_entry, count);
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
                "the order of passes forms a cycle: %s must run after %s and also before it",
                by->name, other->name);
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
