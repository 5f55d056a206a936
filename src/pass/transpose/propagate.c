/* SPDX-License-Identifier: MIT */
/*
 * propagate.c — makes nodes movable. A Transpose offers its family a second layout; the operators
 * that read or write the family then get second permutations, which offer second layouts to the
 * families of their other ports, and so on.
 */
#include "pass/transpose/rules.h"

enum { MAX_KINDS = 64 }; /* permutations that are counted; others are not tried */

typedef struct kind { /* a permutation or its inverse */
    prt_perm perm;
    uint32_t count;
} kind;

typedef struct propagation {
    prt_plan *plan;
    PRT_VEC(uint32_t) queue; /* families with new layouts */
} propagation;

/* ---- from ports to families */

static void forget(const prt_plan *plan, const prt_plan_node *node)
{
    for (uint32_t i = 0; i < node->n_ports; i++)
        plan->ports.data[node->first + i].moved = PRT_PERM_IDENTITY;
}

/* Gives the families of a node the layouts that its ports need. Returns false, and gives none, if a
 * family has other ones. */
static poprt_status offer(propagation *s, const prt_plan_node *node, bool *fits)
{
    const size_t before = s->queue.count;
    *fits = true;
    for (uint32_t i = 0; i < node->n_ports && *fits; i++) {
        const prt_port *port = &s->plan->ports.data[node->first + i];
        if (port->family == PRT_PLAN_NONE || port->moved == PRT_PERM_IDENTITY)
            continue;
        prt_family *f = &s->plan->families.data[port->family];
        const prt_perm moved = prt_perm_then(port->layout, port->moved);
        const prt_perm a = node->at_a ? port->layout : moved;
        const prt_perm b = node->at_a ? moved : port->layout;
        if (f->free)
            continue;
        if (f->a != 0 || f->fixed) {
            *fits = f->a == a && f->b == b;
            continue;
        }
        f->a = a;
        f->b = b;
        if (!PRT_VEC_PUSH(s->plan->arena, &s->queue, port->family))
            return POPRT_E_NOMEM;
    }
    while (!*fits && s->queue.count > before) {
        prt_family *f = &s->plan->families.data[s->queue.data[--s->queue.count]];
        f->a = f->b = 0;
    }
    return POPRT_OK;
}

/* Makes the node of a port movable, if the port has one of the two layouts of its family. */
static poprt_status reach(propagation *s, uint32_t index)
{
    prt_port *port = &s->plan->ports.data[index];
    prt_plan_node *node = &s->plan->nodes.data[port->node];
    const prt_family *f = &s->plan->families.data[port->family];
    bool fits;
    if (node->rule == NULL || node->movable || (port->layout != f->a && port->layout != f->b))
        return POPRT_OK;
    node->at_a = port->layout == f->a;
    port->moved = prt_perm_then(prt_perm_inverse(port->layout), node->at_a ? f->b : f->a);
    node->movable = prt_move_derive(s->plan, node, index);
    if (node->movable) {
        PRT_TRY(offer(s, node, &fits));
        node->movable = fits;
    }
    if (!node->movable)
        forget(s->plan, node);
    return POPRT_OK;
}

/* Propagates the layouts of a family to all that is connected with it. */
static poprt_status propagate_from(propagation *s, uint32_t family)
{
    s->queue.count = 0;
    if (!PRT_VEC_PUSH(s->plan->arena, &s->queue, family))
        return POPRT_E_NOMEM;
    for (size_t at = 0; at < s->queue.count; at++) {
        const prt_family *f = &s->plan->families.data[s->queue.data[at]];
        PRT_TRY(prt_pass_check(s->plan->p));
        if (f->maker != PRT_PLAN_NONE)
            PRT_TRY(reach(s, f->maker));
        for (uint32_t i = 0; i < f->count; i++)
            PRT_TRY(reach(s, s->plan->readers[f->first + i]));
    }
    return POPRT_OK;
}

/* ---- where to begin */

static prt_perm kind_of(prt_perm perm)
{
    const prt_perm inverse = prt_perm_inverse(perm);
    return inverse < perm ? inverse : perm;
}

/* Counts the families that have each layout, the most frequent first. Returns their number. */
static uint32_t count_kinds(const prt_plan *plan, kind *kinds)
{
    uint32_t n = 0;
    for (size_t i = 0; i < plan->families.count; i++) {
        const prt_family *f = &plan->families.data[i];
        for (size_t k = 0; k < f->perms.count; k++) {
            const prt_perm perm = kind_of(f->perms.data[k]);
            uint32_t at = 0;
            while (at < n && kinds[at].perm != perm)
                at++;
            if (at == MAX_KINDS)
                continue;
            if (at == n)
                kinds[n++] = (kind){ perm, 0 };
            kinds[at].count++;
        }
    }
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && kinds[k].count > kinds[k - 1].count; k--) {
            const kind higher = kinds[k];
            kinds[k] = kinds[k - 1];
            kinds[k - 1] = higher;
        }
    return n;
}

poprt_status prt_plan_propagate(prt_plan *plan, bool rare_first)
{
    kind kinds[MAX_KINDS];
    const uint32_t n = count_kinds(plan, kinds);
    propagation s = { .plan = plan };
    for (uint32_t at = 0; at < n; at++) {
        const prt_perm perm = kinds[rare_first ? n - 1 - at : at].perm;
        for (uint32_t i = 0; i < plan->families.count; i++) {
            prt_family *f = &plan->families.data[i];
            for (size_t k = 0; k < f->perms.count && f->a == 0; k++) {
                if (f->free || f->fixed || kind_of(f->perms.data[k]) != perm)
                    continue;
                f->a = PRT_PERM_IDENTITY;
                f->b = f->perms.data[k];
                PRT_TRY(propagate_from(&s, i));
            }
        }
    }
    return POPRT_OK;
}
