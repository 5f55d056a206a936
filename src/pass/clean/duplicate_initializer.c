/* SPDX-License-Identifier: MIT */
/*
 * duplicate_initializer.c — eliminate_duplicate_initializer: merges constants of one graph that
 * have the same type and bytes. remove_duplicated_initializer: also replaces constants of a region
 * by equal ones of an outer graph. Inputs with defaults, constants that are outputs, weights that
 * an operator writes, and strings are not merged.
 */
#include "pass/engine/pass.h"

enum { MAX_DEPTH = 256, SAMPLES = 32, MAX_DUPLICATES = 64 };

/* Lookup key of a constant: its type and samples of its bytes. */
typedef struct const_key {
    const prt_type *type;
    uint64_t samples[SAMPLES];
} const_key;

/* List of constants with the same key. */
typedef struct duplicate {
    prt_value *value;
    struct duplicate *next;
} duplicate;

typedef struct merger {
    prt_pass *p;
    prt_map duplicates; /* by key */
    bool changed;
} merger;

/* Returns whether `of` belongs to the graph of `v` or to an outer one. */
static bool is_visible(const prt_value *of, const prt_value *v)
{
    const prt_graph *g = v->graph;
    while (g != NULL && g != of->graph)
        g = g->owner != NULL ? g->owner->graph : NULL;
    return g != NULL;
}

static bool may_merge(const prt_value *v)
{
    size_t size;
    return prt_value_is_fixed(v) && prt_value_used(v) && prt_type_size(v->type, &size) &&
        v->type->dtype != PRT_DTYPE_string && size <= UINT32_MAX && size <= v->constant->size &&
        !prt_value_is_output(v);
}

static void make_key(const_key *l, const prt_value *v, size_t size)
{
    const unsigned char *bytes = v->constant->data;
    const size_t words = size / sizeof(uint64_t);
    l->type = v->type;
    if (words <= SAMPLES && size != 0)
        memcpy(l->samples, bytes, words * sizeof(uint64_t));
    for (size_t i = 0; words > SAMPLES && i < SAMPLES; i++)
        memcpy(&l->samples[i], bytes + (words - 1) / (SAMPLES - 1) * i * sizeof(uint64_t),
            sizeof(uint64_t));
}

static bool is_duplicate(const prt_value *a, const prt_value *b, size_t size)
{
    return is_visible(a, b) &&
        (size == 0 || memcmp(a->constant->data, b->constant->data, size) == 0);
}

static poprt_status merge_constant(merger *m, prt_value *v)
{
    size_t size;
    PRT_TRY(prt_pass_check(m->p));
    if (!may_merge(v) || !prt_type_size(v->type, &size))
        return POPRT_OK;
    const_key *l = PRT_NEW(m->p->arena, const_key);
    if (l == NULL)
        return POPRT_E_NOMEM;
    make_key(l, v, size);
    const prt_str key = { (const char *)l, sizeof(*l) };
    duplicate *first = prt_map_find(&m->duplicates, key), *t = first;
    uint32_t tried = 0;
    while (t != NULL && tried++ < MAX_DUPLICATES && !is_duplicate(t->value, v, size))
        t = t->next;
    if (t != NULL && tried <= MAX_DUPLICATES) {
        prt_value_replace(v, t->value);
        v->name = PRT_STR("");
        m->changed = true;
        return POPRT_OK;
    }
    t = PRT_NEW(m->p->arena, duplicate);
    if (t == NULL)
        return POPRT_E_NOMEM;
    *t = (duplicate){ v, first };
    return prt_map_set(&m->duplicates, key, t);
}

static poprt_status merge_graph(merger *m, prt_graph *graph)
{
    for (size_t i = 0; i < graph->constants.count; i++)
        PRT_TRY(merge_constant(m, graph->constants.data[i]));
    return POPRT_OK;
}

static poprt_status merge_all(merger *m, prt_graph *graph, uint32_t depth)
{
    if (depth > MAX_DEPTH)
        return prt_fail(POPRT_E_LIMIT, graph->name.data, "regions are nested too deeply");
    PRT_TRY(merge_graph(m, graph));
    prt_for_each_op (op, graph)
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(merge_all(m, op->regions[i], depth + 1));
    return POPRT_OK;
}

/* Drops the constants that are unused now, with their names. */
static poprt_status end(merger *m, prt_graph *graph, poprt_status status, bool *changed)
{
    if (status == POPRT_OK && m->changed)
        (void)prt_graph_drop_constants(graph, true);
    *changed = *changed || m->changed;
    return status;
}

static poprt_status run_here(prt_pass *p, prt_graph *graph, bool *changed)
{
    merger m = { .p = p, .duplicates = prt_map_in(p->arena) };
    return end(&m, graph, merge_graph(&m, graph), changed);
}

static poprt_status run_everywhere(prt_pass *p, prt_graph *graph, bool *changed)
{
    merger m = { .p = p, .duplicates = prt_map_in(p->arena) };
    return end(&m, graph, merge_all(&m, graph, 0), changed);
}

const prt_pass_hooks prt_pass_eliminate_duplicate_initializer = { .run = run_here };
const prt_pass_hooks prt_pass_remove_duplicated_initializer = { .run = run_everywhere };
