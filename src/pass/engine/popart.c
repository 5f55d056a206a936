/* SPDX-License-Identifier: MIT */
/* popart.c — chooses PopART's patterns, and answers which passes run on which nodes. */
#include "pass/engine/popart.h"

#include "base/list.h"
#include "base/nearest.h"
#include "ir/extra.h"

static const prt_popart_pattern patterns[] = {
#define PATTERN(name, initial, mandatory, passes, doc)                                             \
    { #name, (initial) != 0, (mandatory) != 0, passes, doc },
#include "pass/popart.def"
};

const prt_popart_pattern *prt_popart_of(uint32_t index)
{
    return index < PRT_POPART_COUNT ? &patterns[index] : NULL;
}

poprt_status prt_popart_find(prt_str name, uint32_t *out)
{
    const char *names[PRT_POPART_COUNT];
    char nearest[256], text[64];
    for (uint32_t i = 0; i < PRT_POPART_COUNT; i++) {
        names[i] = patterns[i].name;
        if (prt_str_is(name, patterns[i].name)) {
            *out = i;
            return POPRT_OK;
        }
    }
    const size_t size = name.size < sizeof(text) - 1 ? name.size : sizeof(text) - 1;
    memcpy(text, name.data, size);
    text[size] = '\0';
    prt_nearest(text, names, PRT_POPART_COUNT, nearest, sizeof(nearest));
    return prt_fail(POPRT_E_NOT_FOUND, text, "PopART has no such pattern; nearest: %s", nearest);
}

bool prt_popart_has(const prt_popart_set *set, uint32_t id)
{
    return (set->on[id / 64] >> (id % 64) & 1) != 0;
}

static void put(prt_popart_set *set, uint32_t id, bool on)
{
    const uint64_t bit = (uint64_t)1 << (id % 64);
    set->on[id / 64] = on ? set->on[id / 64] | bit : set->on[id / 64] & ~bit;
}

static poprt_status put_list(prt_popart_set *set, const char *names, bool on)
{
    prt_str name;
    uint32_t id;
    for (const char *cursor = names; prt_list_next(&cursor, &name);) {
        PRT_TRY(prt_popart_find(name, &id));
        put(set, id, on);
    }
    return POPRT_OK;
}

/* Returns whether a pattern is on at a level. In-place results are off at level minimal. */
static bool is_on(const prt_popart_pattern *p, const char *level)
{
    if (strcmp(level, "all") == 0)
        return true;
    if (strcmp(level, "minimal") == 0)
        return p->mandatory;
    return strcmp(level, "default") == 0 && p->initial;
}

poprt_status prt_popart_choose(const prt_popart_options *o, prt_popart_set *out)
{
    prt_popart_set set = { { 0 } };
    const bool only = o->only[0] != '\0';
    for (uint32_t i = 0; i < PRT_POPART_COUNT && !only; i++)
        put(&set, i, is_on(&patterns[i], o->level));
    const prt_popart_set before = set;
    PRT_TRY(put_list(&set, o->only, true));
    PRT_TRY(put_list(&set, o->enable, true));
    PRT_TRY(put_list(&set, o->disable, false));
    for (uint32_t i = 0; i < PRT_POPART_COUNT && o->asserts; i++)
        if (patterns[i].mandatory && !prt_popart_has(&set, i) &&
            (only || prt_popart_has(&before, i)))
            return prt_fail(POPRT_E_ARG, patterns[i].name,
                "this pattern is mandatory and would be off; accepted: keep it on, or set "
                "pattern_asserts to false");
    *out = set;
    return POPRT_OK;
}

static bool stands_for(const prt_popart_pattern *p, const char *pass)
{
    prt_str name;
    if (p->passes[0] == '\0' || strstr(p->passes, pass) == NULL)
        return false; /* nearly always, and cheaper than the list */
    for (const char *cursor = p->passes; prt_list_next(&cursor, &name);)
        if (prt_str_is(name, pass))
            return true;
    return false;
}

bool prt_popart_runs(const prt_popart_set *set, const prt_pass_def *def)
{
    bool any = false;
    for (uint32_t i = 0; i < PRT_POPART_COUNT; i++) {
        if (!stands_for(&patterns[i], def->name))
            continue;
        if (prt_popart_has(set, i))
            return true;
        any = true;
    }
    return !any;
}

static bool lists(prt_strs names, const char *pattern)
{
    for (uint32_t i = 0; i < names.count; i++)
        if (prt_str_is(names.data[i], pattern))
            return true;
    return false;
}

bool prt_popart_excludes(const prt_pass *p, const prt_op *op)
{
    prt_strs names;
    bool any = false;
    if (op->extra == NULL || !prt_op_mark_texts(op, "__exclude_patterns", p->arena, &names))
        return false;
    for (uint32_t i = 0; i < PRT_POPART_COUNT; i++) {
        if (!stands_for(&patterns[i], p->def->name) ||
            (p->patterns != NULL && !prt_popart_has(p->patterns, i)))
            continue;
        if (!lists(names, patterns[i].name))
            return false;
        any = true;
    }
    return any;
}

bool prt_popart_is_excluded(const prt_op *op, uint32_t id, prt_arena *scratch)
{
    prt_strs names;
    return op->extra != NULL && prt_op_mark_texts(op, "__exclude_patterns", scratch, &names) &&
        lists(names, patterns[id].name);
}
