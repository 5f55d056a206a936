/* SPDX-License-Identifier: MIT */
/*
 * equal.c — whether two regions compute the same: equal operators, attributes, types and constants,
 * connected in the same way, in the same order. Names of values and nodes may differ, except where
 * an operator prints them.
 */
#include "ir/equal.h"

enum { MAX_DEPTH = 256 }; /* deepest nesting of regions */

/* Two graphs that are compared. `value_of` maps ids of the values of `a` to values of `b`. */
typedef struct pair {
    const prt_graph *a, *b;
    const prt_value **value_of;
    const struct pair *outer;
    uint32_t depth;
} pair;

static bool constants_equal(const prt_value *a, const prt_value *b)
{
    if (a->constant == NULL || b->constant == NULL || a->type != b->type ||
        a->type->dtype == PRT_DTYPE_string || a->initializer != b->initializer)
        return false;
    return a->constant == b->constant ||
        (a->constant->size == b->constant->size &&
            memcmp(a->constant->data, b->constant->data, a->constant->size) == 0);
}

/* Values of the compared graphs must correspond; values outside them must be the same. */
static bool values_equal(const pair *p, const prt_value *a, const prt_value *b)
{
    if (a == NULL || b == NULL || a->constant != NULL)
        return a == b || (a != NULL && b != NULL && constants_equal(a, b));
    for (; p != NULL; p = p->outer)
        if (a->graph == p->a)
            return p->value_of[a->id] == b;
    return a == b;
}

static bool add_value(const pair *p, const prt_value *a, const prt_value *b)
{
    if (a->type != b->type || a->variable != b->variable)
        return false;
    p->value_of[a->id] = b;
    return true;
}

static bool graphs_equal(const prt_graph *a, const prt_graph *b, const pair *outer,
    prt_arena *scratch);

static bool ops_equal(const pair *p, const prt_op *a, const prt_op *b, prt_arena *scratch)
{
    if (a->def != b->def || a->n_in != b->n_in || a->n_out != b->n_out ||
        a->n_regions != b->n_regions || a->place != b->place)
        return false;
    if (a->def != NULL && !prt_attrs_equal(a->def, a->attrs, b->attrs))
        return false;
    const bool prints = a->def == NULL || (a->def->traits & (PRT_PURE | PRT_CONTROL)) == 0;
    for (uint32_t i = 0; i < a->n_in; i++) {
        const prt_value *x = a->in[i].value, *y = b->in[i].value;
        if (!values_equal(p, x, y) || (prints && x != NULL && !prt_str_equal(x->name, y->name)))
            return false;
    }
    for (uint32_t i = 0; i < a->n_regions; i++)
        if (!graphs_equal(a->regions[i], b->regions[i], p, scratch))
            return false;
    for (uint32_t i = 0; i < a->n_out; i++)
        if ((a->out[i].uses != NULL) != (b->out[i].uses != NULL) ||
            !add_value(p, &a->out[i], &b->out[i]))
            return false;
    return true;
}

static bool graphs_equal(const prt_graph *a, const prt_graph *b, const pair *outer,
    prt_arena *scratch)
{
    pair p = { .a = a, .b = b, .outer = outer, .depth = outer != NULL ? outer->depth + 1 : 1 };
    if (a->inputs.count != b->inputs.count || a->ret->n_in != b->ret->n_in ||
        a->contradictory != b->contradictory || p.depth > MAX_DEPTH)
        return false;
    p.value_of = PRT_NEW_N(scratch, const prt_value *, (size_t)a->n_values + 1);
    if (p.value_of == NULL)
        return false;
    for (size_t i = 0; i < a->inputs.count; i++)
        if (!add_value(&p, a->inputs.data[i], b->inputs.data[i]))
            return false;
    const prt_op *x = a->first, *y = b->first;
    for (; x != NULL && y != NULL; x = x->next, y = y->next)
        if (!ops_equal(&p, x, y, scratch))
            return false;
    if (x != NULL || y != NULL)
        return false;
    for (uint32_t i = 0; i < a->ret->n_in; i++)
        if (!values_equal(&p, a->ret->in[i].value, b->ret->in[i].value))
            return false;
    return true;
}

bool prt_graphs_equal(const prt_graph *a, const prt_graph *b, prt_arena *scratch)
{
    return a == b || graphs_equal(a, b, NULL, scratch);
}
