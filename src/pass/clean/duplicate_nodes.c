/* SPDX-License-Identifier: MIT */
/*
 * duplicate_nodes.c — eliminate_duplicate_nodes: merges operators that compute the same (equal
 * operator, inputs and attributes). Operators with regions, and operators whose inputs do not
 * determine the result, are not merged.
 */
#include "pass/engine/pass.h"

/* List of operators with one key; the key covers everything except the attributes. */
typedef struct duplicate {
    prt_op *op;
    struct duplicate *next;
} duplicate;

static prt_str key_of(prt_pass *p, const prt_op *op)
{
    const size_t size = sizeof(op->def) + sizeof(op->n_out) + op->n_in * sizeof(prt_value *);
    char *key = prt_arena_alloc(p->arena, size), *at = key;
    if (key == NULL || size > UINT32_MAX)
        return (prt_str){ NULL, 0 };
    memcpy(at, &op->def, sizeof(op->def));
    at += sizeof(op->def);
    memcpy(at, &op->n_out, sizeof(op->n_out));
    at += sizeof(op->n_out);
    for (uint32_t i = 0; i < op->n_in; i++, at += sizeof(prt_value *))
        memcpy(at, &op->in[i].value, sizeof(prt_value *));
    return (prt_str){ key, (uint32_t)size };
}

/* Returns whether every used output of `op` can be replaced by that of `first`. */
static bool may_merge(const prt_op *first, const prt_op *op)
{
    if (!prt_attrs_equal(op->def, first->attrs, op->attrs))
        return false;
    for (uint32_t i = 0; i < op->n_out; i++)
        if (prt_value_used(&op->out[i]) && !prt_pass_may_replace(&op->out[i], &first->out[i]))
            return false;
    return true;
}

static poprt_status merge(prt_op *first, prt_op *op)
{
    prt_build b = prt_build_before(op);
    for (uint32_t i = 0; i < op->n_out && !op->dead; i++)
        if (prt_value_used(&op->out[i]))
            (void)prt_pass_replace(&b, &op->out[i], &first->out[i]);
    return prt_build_status(&b);
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_map duplicates = prt_map_in(p->arena);
    for (prt_op *op = graph->first, *after; op != NULL; op = after) {
        after = op->next;
        PRT_TRY(prt_pass_check(p));
        if (op->def == NULL || (op->def->traits & PRT_PURE) == 0 || op->n_regions != 0)
            continue;
        const prt_str key = key_of(p, op);
        if (key.data == NULL)
            return POPRT_E_NOMEM;
        duplicate *first = prt_map_find(&duplicates, key), *t = first;
        while (t != NULL && !may_merge(t->op, op))
            t = t->next;
        if (t != NULL) {
            PRT_TRY(merge(t->op, op));
            *changed = true;
            continue;
        }
        t = PRT_NEW(p->arena, duplicate);
        if (t == NULL)
            return POPRT_E_NOMEM;
        *t = (duplicate){ .op = op, .next = first };
        PRT_TRY(prt_map_set(&duplicates, key, t));
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_eliminate_duplicate_nodes = { .run = run };
