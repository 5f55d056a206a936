/* SPDX-License-Identifier: MIT */
/*
 * merge_if.c — merge_if_with_same_cond: Ifs of one graph with the same condition become one If; its
 * branches contain the merged branches in order. Ops in between that read one of the Ifs move after
 * the merged If. If a later If needs them, it starts a new group. A later If that reads results of
 * an earlier one reads the results of the same branch instead.
 *
 * merge_variant_if: pure operators between two such Ifs, which read results of the first If and on
 * which the second depends, move into both branches of the first, so that the Ifs can be merged.
 * Conditions: they read nothing else that is computed after the first If, and all operators that
 * the second If depends on can move.
 *
 * Ifs with effects (random numbers, written weights) stay. Both passes are bitwise equal.
 */
#include "ir/extra.h"
#include "pass/engine/region.h"

enum { STEPS_PER_OP = 256, MORE_STEPS = 1 << 16 };

typedef struct merger {
    prt_pass *p;
    prt_graph *graph;
    prt_arena *scratch; /* of one visit */
    uint64_t steps;     /* steps left; they bound the repeated search for Ifs of many conditions */
    bool changed;
} merger;

static bool is_candidate(const prt_op *op)
{
    prt_graph *one, *two;
    return prt_region_branches(op, &one, &two) && prt_region_is_pure(op) && op->n_out != 0;
}

/* Returns whether the type of an If's output also holds for the result of a branch. (If shapes
 * decide the condition, inference knows the result of one branch only.) */
static bool is_known_of(const prt_value *out, const prt_value *result)
{
    const prt_type *t = out->type, *r = result->type;
    if (out->content != NULL)
        return false;
    if (t == r || t->kind == PRT_VALUE_UNKNOWN)
        return true;
    if (!prt_type_is_tensor(t) || !prt_type_is_tensor(r) || t->dtype != r->dtype)
        return false;
    if (t->rank == PRT_RANK_UNKNOWN)
        return true;
    if (t->rank != r->rank)
        return false;
    for (int32_t i = 0; i < t->rank; i++)
        if (t->dims[i] != r->dims[i] &&
            (prt_dim_is_number(t->dims[i]) || prt_dim_is_expr(t->dims[i])))
            return false;
    return true;
}

/* Returns whether readers of an If's output may read the result of either branch. */
static bool is_either(const prt_value *out)
{
    prt_graph *one, *two;
    return prt_region_branches(out->def, &one, &two) &&
        is_known_of(out, prt_op_input(one->ret, out->slot)) &&
        is_known_of(out, prt_op_input(two->ret, out->slot));
}

/* ---- merging several Ifs */

typedef struct members {
    PRT_VEC(prt_op *) list;
    uint32_t n_out;  /* outputs of all members */
    uint32_t *first; /* by op id: index of a member's first output, from 1; 0: not a member */
} members;

/* Replaces results of a branch that are outputs of an earlier member by the results of that
 * member's branch. */
static void resolve(const members *m, const prt_op *member, prt_value **results)
{
    const uint32_t at = m->first[member->id] - 1;
    for (uint32_t i = at; i < at + member->n_out; i++) {
        const prt_value *v = results[i];
        if (v->graph == member->graph && v->def != NULL && m->first[v->def->id] != 0)
            results[i] = results[m->first[v->def->id] - 1 + v->slot];
    }
}

/* Moves the same branch of every member into `region`. */
static poprt_status fill(const members *m, prt_arena *arena, prt_graph *region, bool other)
{
    prt_value **results = PRT_NEW_N(arena, prt_value *, m->n_out);
    if (results == NULL)
        return POPRT_E_NOMEM;
    uint32_t at = 0;
    for (size_t k = 0; k < m->list.count; k++) {
        prt_op *member = m->list.data[k];
        prt_graph *then_branch, *else_branch;
        if (!prt_region_branches(member, &then_branch, &else_branch))
            return prt_fail(POPRT_E_INTERNAL, prt_op_label(member), "an If lost its branches");
        PRT_TRY(prt_region_inline(other ? else_branch : then_branch, region, NULL, results + at));
        resolve(m, member, results);
        at += member->n_out;
    }
    at = 0;
    for (size_t k = 0; k < m->list.count; k++)
        for (uint32_t i = 0; i < m->list.data[k]->n_out; i++, at++)
            for (prt_use *use = m->list.data[k]->out[i].uses, *next; use != NULL; use = next) {
                next = use->next;
                if (prt_region_containing(use->user, region->owner) == region)
                    prt_op_set_input(use->user, (uint32_t)(use - use->user->in), results[at]);
            }
    return prt_region_set_outputs(region, m->n_out, results);
}

static poprt_status join(prt_arena *arena, const members *m)
{
    prt_op *first = m->list.data[0], *last = m->list.data[m->list.count - 1];
    prt_build b = prt_build_before(last);
    prt_op *op = prt_region_new_if(last, prt_op_input(first, 0), m->n_out);
    if (op == NULL)
        return POPRT_E_NOMEM;
    op->origin = first->origin;
    PRT_TRY(fill(m, arena, op->regions[0], false));
    PRT_TRY(fill(m, arena, op->regions[1], true));
    uint32_t at = 0;
    for (size_t k = 0; k < m->list.count; k++)
        for (uint32_t i = 0; i < m->list.data[k]->n_out; i++, at++) {
            PRT_TRY(prt_value_refine_type(&op->out[at], m->list.data[k]->out[i].type));
            op->out[at].content = m->list.data[k]->out[i].content;
            prt_build_replace_uses(&b, &m->list.data[k]->out[i], &op->out[at]);
        }
    for (size_t k = 0; k < m->list.count; k++)
        prt_op_erase(m->list.data[k]);
    return prt_build_status(&b);
}

static bool is_unusable(void *user, const prt_value *v)
{
    const members *m = user;
    const prt_op *any = m->list.data[0];
    return v->graph == any->graph && v->def != NULL && m->first[v->def->id] != 0 && !is_either(v);
}

/* Walks the ops after `first`: collects the members of its group, and marks the ops that read
 * one. */
static poprt_status gather(merger *g, prt_op *first, members *m, bool *marks)
{
    bool *reads = PRT_NEW_N(g->scratch, bool, (size_t)g->graph->n_ops + 1);
    m->first = PRT_NEW_N(g->scratch, uint32_t, (size_t)g->graph->n_ops + 1);
    if (reads == NULL || m->first == NULL || !PRT_VEC_PUSH(g->scratch, &m->list, first))
        return POPRT_E_NOMEM;
    m->n_out = first->n_out;
    m->first[first->id] = 1;
    reads[first->id] = true;
    for (prt_op *op = first->next; op != NULL; op = op->next) {
        PRT_TRY(prt_pass_check(g->p));
        if (g->steps == 0)
            return POPRT_OK;
        g->steps--;
        if (prt_op_input(op, 0) == prt_op_input(first, 0) && is_candidate(op)) {
            if (prt_region_depends(op, marks) || prt_region_reads(op, is_unusable, m) ||
                op->n_out > UINT16_MAX - m->n_out)
                return POPRT_OK;
            if (!PRT_VEC_PUSH(g->scratch, &m->list, op))
                return POPRT_E_NOMEM;
            m->first[op->id] = m->n_out + 1;
            m->n_out += op->n_out;
            reads[op->id] = true;
            continue;
        }
        marks[op->id] = reads[op->id] = prt_region_depends(op, reads);
        if (marks[op->id] && !prt_region_is_pure(op)) /* it cannot be moved */
            return POPRT_OK;
    }
    return POPRT_OK;
}

static poprt_status merge_from(merger *g, prt_op *first)
{
    members m = { .n_out = 0 };
    bool *marks = PRT_NEW_N(g->scratch, bool, (size_t)g->graph->n_ops + 1);
    if (marks == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(gather(g, first, &m, marks));
    if (m.list.count < 2)
        return POPRT_OK;
    prt_region_sink(first, m.list.data[m.list.count - 1], marks);
    g->changed = true;
    return join(g->scratch, &m);
}

/* Visits the first Ifs of groups, by condition; conditions with a single If are skipped. */
static poprt_status each_first(merger *g, poprt_status (*visit)(merger *g, prt_op *first))
{
    prt_match_groups groups = { 0 };
    prt_arena *arena = g->p->arena;
    prt_for_each_op (op, g->graph) {
        const prt_value *condition = prt_op_input(op, 0);
        PRT_TRY(prt_pass_check(g->p));
        if (is_candidate(op))
            PRT_TRY(prt_match_group_add(arena, &groups, &condition, sizeof(condition), op));
    }
    for (size_t i = 0; i < groups.list.count; i++) {
        const prt_match_group *group = groups.list.data[i];
        for (size_t k = 0; k + 1 < group->ops.count; k++) {
            prt_arena_reset(g->scratch);
            if (!group->ops.data[k]->dead)
                PRT_TRY(visit(g, group->ops.data[k]));
        }
    }
    return POPRT_OK;
}

static poprt_status run_visits(prt_pass *p, prt_graph *graph, bool *changed,
    poprt_status (*visit)(merger *g, prt_op *first))
{
    merger g = { .p = p, .graph = graph };
    g.steps = STEPS_PER_OP * (uint64_t)graph->n_ops + MORE_STEPS;
    PRT_TRY(prt_arena_create(p->module->allocator, 0, &g.scratch));
    const poprt_status status = each_first(&g, visit);
    prt_arena_release(g.scratch);
    *changed = *changed || g.changed;
    return status;
}

static poprt_status run_merge(prt_pass *p, prt_graph *graph, bool *changed)
{
    return run_visits(p, graph, changed, merge_from);
}

const prt_pass_hooks prt_pass_merge_if_with_same_cond = { .run = run_merge };

/* ---- moving operators into an If */

typedef struct variant {
    prt_op *first, *second;
    bool *reads;  /* by op id: depends on the first If */
    bool *needed; /* by op id: the second If depends on it as well */
    uint32_t n_needed;
    uint32_t n_kept; /* outputs of the first If that others read */
} variant;

static prt_op *next_if(merger *g, const prt_op *first)
{
    for (prt_op *op = first->next; op != NULL && g->steps != 0; op = op->next, g->steps--)
        if (prt_op_input(op, 0) == prt_op_input(first, 0) && is_candidate(op))
            return op;
    return NULL;
}

typedef struct wanted {
    const variant *v;
    uint32_t *count;
} wanted;

static bool mark_needed(void *user, const prt_value *value)
{
    const wanted *w = user;
    const prt_op *def = value->def;
    if (value->graph == w->v->first->graph && def != NULL && def != w->v->first &&
        w->v->reads[def->id] && !w->v->needed[def->id]) {
        w->v->needed[def->id] = true;
        (*w->count)++;
    }
    return false;
}

/* Returns whether the op reads only values defined before the first If, its results, or results of
 * ops that move. */
static bool may_move(const prt_op *op, const variant *v, const uint32_t *places)
{
    if (op->n_regions != 0 || !prt_region_is_pure(op) || (op->def->traits & PRT_CONTROL) != 0)
        return false;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *in = op->in[i].value;
        if (in == NULL || in->graph != op->graph || in->def == NULL || v->needed[in->def->id])
            continue;
        if (in->def == v->first) {
            if (!is_either(in))
                return false;
            continue;
        }
        if (places[in->def->id] > places[v->first->id])
            return false;
    }
    return true;
}

/* Finds the ops that must move. Sets `*found` to false if there are none, or if one cannot move. */
static poprt_status find_needed(merger *g, variant *v, bool *found)
{
    const uint32_t *places = prt_match_positions(g->scratch, g->graph);
    wanted w = { v, &v->n_needed };
    v->reads = prt_region_dependents(g->scratch, v->first, v->second);
    v->needed = PRT_NEW_N(g->scratch, bool, (size_t)g->graph->n_ops + 1);
    *found = false;
    if (places == NULL || v->reads == NULL || v->needed == NULL)
        return POPRT_E_NOMEM;
    (void)prt_region_reads(v->second, mark_needed, &w);
    for (prt_op *op = v->second->prev; op != v->first; op = op->prev)
        if (v->needed[op->id])
            (void)prt_region_reads(op, mark_needed, &w);
    for (prt_op *op = v->first->next; op != v->second; op = op->next)
        if (v->needed[op->id] && !may_move(op, v, places))
            return POPRT_OK;
    *found = v->n_needed != 0;
    return POPRT_OK;
}

/* Returns whether an op that does not move reads the output of the first If. */
static bool is_kept(const variant *v, const prt_value *out)
{
    prt_for_each_use (use, out)
        if (use->user->graph != out->graph || use->user == out->graph->ret ||
            !v->needed[use->user->id])
            return true;
    return false;
}

/* Fills a branch of the new If: inlines the old branch, copies the moved ops, and returns the
 * results that are read. */
static poprt_status fill_variant(merger *g, const variant *v, prt_graph *from, prt_graph *region,
    uint32_t n_out)
{
    prt_arena *arena = g->scratch;
    prt_value **old = PRT_NEW_N(arena, prt_value *, v->first->n_out);
    prt_value **results = PRT_NEW_N(arena, prt_value *, n_out);
    prt_op **copies = PRT_NEW_N(arena, prt_op *, (size_t)g->graph->n_ops + 1);
    uint32_t n = 0;
    if (old == NULL || results == NULL || copies == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_region_inline(from, region, NULL, old));
    for (uint32_t i = 0; i < v->first->n_out; i++)
        if (is_kept(v, &v->first->out[i]))
            results[n++] = old[i];
    for (prt_op *op = v->first->next; op != v->second; op = op->next) {
        if (!v->needed[op->id])
            continue;
        prt_op *copy = prt_region_copy_op(op, region, NULL);
        if (copy == NULL)
            return POPRT_E_NOMEM;
        copies[op->id] = copy;
        for (uint32_t i = 0; i < copy->n_in; i++) {
            const prt_value *in = op->in[i].value;
            if (in == NULL || in->graph != g->graph || in->def == NULL)
                continue;
            if (in->def == v->first)
                prt_op_set_input(copy, i, old[in->slot]);
            else if (v->needed[in->def->id])
                prt_op_set_input(copy, i, &copies[in->def->id]->out[in->slot]);
        }
        for (uint32_t i = 0; i < copy->n_out; i++)
            results[n++] = &copy->out[i];
    }
    return prt_region_set_outputs(region, n_out, results);
}

static poprt_status move_needed(merger *g, const variant *v, uint32_t n_out)
{
    prt_graph *then_branch, *else_branch;
    prt_build b = prt_build_before(v->first);
    prt_op *op = prt_region_new_if(v->first, prt_op_input(v->first, 0), n_out), *next;
    if (op == NULL || !prt_region_branches(v->first, &then_branch, &else_branch))
        return POPRT_E_NOMEM;
    op->origin = v->first->origin;
    PRT_TRY(prt_op_copy_marks(op, v->first));
    PRT_TRY(fill_variant(g, v, then_branch, op->regions[0], n_out));
    PRT_TRY(fill_variant(g, v, else_branch, op->regions[1], n_out));
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->first->n_out; i++)
        if (is_kept(v, &v->first->out[i])) {
            PRT_TRY(prt_value_refine_type(&op->out[n], v->first->out[i].type));
            prt_build_replace_uses(&b, &v->first->out[i], &op->out[n++]);
        }
    for (prt_op *moved = v->first->next; moved != v->second; moved = moved->next)
        for (uint32_t i = 0; v->needed[moved->id] && i < moved->n_out; i++) {
            PRT_TRY(prt_value_refine_type(&op->out[n], moved->out[i].type));
            prt_build_replace_uses(&b, &moved->out[i], &op->out[n++]);
        }
    /* In reverse order, since the ops read each other. */
    for (prt_op *moved = v->second->prev; moved != v->first; moved = next) {
        next = moved->prev;
        if (v->needed[moved->id])
            prt_op_erase(moved);
    }
    prt_op_erase(v->first);
    return prt_build_status(&b);
}

static poprt_status move_into(merger *g, prt_op *first)
{
    variant v = { .first = first, .second = next_if(g, first) };
    uint64_t n_out = 0;
    bool found = false;
    if (v.second == NULL)
        return POPRT_OK;
    PRT_TRY(find_needed(g, &v, &found));
    if (!found)
        return POPRT_OK;
    for (uint32_t i = 0; i < first->n_out; i++)
        n_out += is_kept(&v, &first->out[i]) ? 1 : 0;
    for (prt_op *op = first->next; op != v.second; op = op->next)
        n_out += v.needed[op->id] ? op->n_out : 0;
    if (n_out > UINT16_MAX)
        return POPRT_OK;
    g->changed = true;
    return move_needed(g, &v, (uint32_t)n_out);
}

static poprt_status run_variant(prt_pass *p, prt_graph *graph, bool *changed)
{
    return run_visits(p, graph, changed, move_into);
}

const prt_pass_hooks prt_pass_merge_variant_if = { .run = run_variant };
