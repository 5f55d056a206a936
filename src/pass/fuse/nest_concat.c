/* SPDX-License-Identifier: MIT */
/*
 * nest_concat.c — nest_concat: if a Concat begins with all inputs of an earlier Concat, it reads
 * the result of that Concat instead. So every value is copied once, and may be computed in its
 * place in the result (compiler/alias.c). In DenseNet, layers read all earlier results (Huang et
 * al., 2017).
 *
 * Results are bitwise equal.
 */
#include "pass/engine/match.h"

/* A Concat and the previous one with the same first input. */
typedef struct pair {
    prt_op *before, *op;
} pair;

typedef struct pairs {
    PRT_VEC(pair) list;
} pairs;

static poprt_status find_pairs(prt_pass *p, const prt_graph *graph, pairs *found)
{
    prt_map last = prt_map_in(p->arena); /* Concat by first input */
    prt_for_each_op (op, graph) {
        PRT_TRY(prt_pass_check(p));
        if (!prt_op_is(op, PRT_OP_concat) || op->n_in < 2)
            continue;
        prt_value **key = PRT_NEW(p->arena, prt_value *);
        if (key == NULL)
            return POPRT_E_NOMEM;
        *key = op->in[0].value;
        const prt_str first = { (const char *)key, sizeof(*key) };
        const pair both = { .before = prt_map_find(&last, first), .op = op };
        if (both.before != NULL && !PRT_VEC_PUSH(p->arena, &found->list, both))
            return POPRT_E_NOMEM;
        PRT_TRY(prt_map_set(&last, first, op));
    }
    return POPRT_OK;
}

static bool extends_previous(const pair *both)
{
    const prt_op *op = both->op, *before = both->before;
    if (op->n_in <= before->n_in || !prt_attrs_equal(op->def, op->attrs, before->attrs))
        return false;
    for (uint32_t i = 0; i < before->n_in; i++)
        if (op->in[i].value != before->in[i].value)
            return false;
    return true;
}

/* Goes from the last pair to the first, so that the earlier Concat still has the inputs that are
 * compared. */
static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    pairs found = { .list = { .data = NULL } };
    PRT_TRY(find_pairs(p, graph, &found));
    for (size_t k = found.list.count; k-- > 0;) {
        const pair *both = &found.list.data[k];
        if (!extends_previous(both))
            continue;
        const uint32_t joined = both->before->n_in, n = both->op->n_in - joined + 1;
        prt_value **in = PRT_NEW_N(p->arena, prt_value *, n);
        if (in == NULL)
            return POPRT_E_NOMEM;
        in[0] = &both->before->out[0];
        for (uint32_t i = 1; i < n; i++)
            in[i] = both->op->in[joined + i - 1].value;
        prt_build b = prt_build_before(both->op);
        (void)prt_match_replace_named(&b, both->op, PRT_OP_concat, both->op->attrs, n, in);
        PRT_TRY(prt_build_status(&b));
        *changed = true;
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_nest_concat = { .run = run };
