/* SPDX-License-Identifier: MIT */
/*
 * loop_invariants.c — hoist_loop_invariants: values that are equal in every iteration of a Loop are
 * neither carried between iterations nor computed again.
 *
 * A carried value that the body returns unchanged is read from outside instead. A carried value
 * that neither the body nor anything after the loop reads is removed. Products, sums and moves of
 * outer values are computed before the loop: these operators cannot fail once their shapes are
 * known.
 */
#include "ir/extra.h"
#include "ir/interface.h"
#include "pass/engine/region.h"

enum { CARRIED = 2 }; /* inputs of the body before the carried values; its outputs have 1 instead */

/* ---- carried values */

static prt_graph *body_of(const prt_op *op)
{
    if (!prt_op_is(op, PRT_OP_loop) || op->n_regions != 1)
        return NULL;
    prt_graph *body = op->regions[0];
    const uint32_t carried = op->n_in > CARRIED ? op->n_in - CARRIED : 0;
    return body->inputs.count == carried + CARRIED && body->ret->n_in == op->n_out + 1 &&
            op->n_out >= carried
        ? body
        : NULL;
}

/* Returns how often a value is an output of the body. */
static uint32_t count_outputs(const prt_graph *body, const prt_value *v)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < body->ret->n_in; i++)
        count += body->ret->in[i].value == v;
    return count;
}

/* Returns whether the loop need not carry value `i`. */
static bool is_needless(const prt_op *op, const prt_graph *body, uint32_t i)
{
    const prt_value *v = body->inputs.data[i + CARRIED], *out = &op->out[i];
    const bool same = prt_op_input(body->ret, i + 1) == v;
    const prt_value *first = prt_op_input(op, i + CARRIED);
    if (first == NULL || prt_value_is_output(out))
        return false;
    if (!prt_value_used(out) && (!prt_value_used(v) || (same && prt_value_used_once(v))))
        return true;
    return same && count_outputs(body, v) == 1;
}

static bool is_eliminated(const prt_value *input)
{
    return input->slot == UINT32_MAX;
}

/* Builds the loop without the values marked in `dropped`, with the body of the old loop. */
static poprt_status rebuild(prt_op *op, prt_graph *body, const bool *dropped, uint32_t n_eliminated,
    prt_arena *arena)
{
    const uint32_t carried = op->n_in - CARRIED;
    prt_build b = prt_build_before(op);
    prt_value **given = PRT_NEW_N(arena, prt_value *, body->ret->n_in);
    prt_op *to = prt_graph_add_op(op->graph, op, op->def, op->n_in - n_eliminated,
        op->n_out - n_eliminated, 1);
    if (given == NULL || to == NULL)
        return POPRT_E_NOMEM;
    PRT_ATTR_SET(*(prt_loop_attrs *)to->attrs, loop, body, 0);
    to->origin = op->origin;
    PRT_TRY(prt_op_copy_marks(to, op));
    op->regions[0] = to->regions[0];
    op->regions[0]->owner = op;
    to->regions[0] = body;
    body->owner = to;
    uint32_t in = 0, out = 0;
    given[out++] = prt_op_input(body->ret, 0);
    for (uint32_t i = 0; i < op->n_out; i++) {
        if (i >= carried || !dropped[i])
            given[out++] = prt_op_input(body->ret, i + 1);
    }
    PRT_TRY(prt_region_set_outputs(body, out, given));
    out = 0;
    for (; in < CARRIED; in++)
        prt_op_set_input(to, in, prt_op_input(op, in));
    for (uint32_t i = 0; i < op->n_out; i++) {
        prt_value *first = i < carried ? prt_op_input(op, i + CARRIED) : NULL;
        if (i < carried && dropped[i]) {
            prt_value *v = body->inputs.data[i + CARRIED];
            prt_value_replace(v, first);
            prt_value_replace(&op->out[i], first);
            v->slot = UINT32_MAX;
            continue;
        }
        if (i < carried)
            prt_op_set_input(to, in++, first);
        PRT_TRY(prt_value_refine_type(&to->out[out], op->out[i].type));
        to->out[out].content = op->out[i].content;
        prt_build_replace_uses(&b, &op->out[i], &to->out[out++]);
    }
    prt_graph_drop_inputs(body, is_eliminated);
    prt_op_erase(op);
    return prt_build_status(&b);
}

static poprt_status drop_carried(prt_pass *p, prt_op *op, bool *changed)
{
    prt_graph *body = body_of(op);
    const uint32_t carried = body != NULL && op->n_in > CARRIED ? op->n_in - CARRIED : 0;
    uint32_t n_eliminated = 0;
    bool *dropped = PRT_NEW_N(p->arena, bool, (size_t)carried + 1);
    if (dropped == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < carried; i++)
        n_eliminated += dropped[i] = is_needless(op, body, i);
    if (n_eliminated == 0)
        return POPRT_OK;
    *changed = true;
    return rebuild(op, body, dropped, n_eliminated, p->arena);
}

/* ---- operators */

static bool may_hoist(const prt_op *op)
{
    static const uint32_t ids[] = { PRT_OP_matmul, PRT_OP_gemm, PRT_OP_transpose, PRT_OP_add,
        PRT_OP_sub, PRT_OP_mul, PRT_OP_cast, PRT_OP_unsqueeze };
    bool listed = false;
    for (size_t i = 0; i < PRT_COUNT_OF(ids); i++)
        listed = listed || prt_op_is(op, ids[i]);
    if (!listed || prt_match_ranked(&op->out[0]) == NULL || prt_value_is_output(&op->out[0]))
        return false;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i].value != NULL && op->in[i].value->graph == op->graph)
            return false;
    return true;
}

static poprt_status hoist_ops(prt_op *loop, prt_graph *body, bool *changed)
{
    prt_build b = prt_build_before(loop);
    for (prt_op *op = body->first, *next; op != NULL; op = next) {
        next = op->next;
        if (!may_hoist(op))
            continue;
        prt_op *copy = prt_region_copy_op(op, loop->graph, loop);
        if (copy == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_value_refine_type(&copy->out[0], op->out[0].type));
        prt_build_replace_uses(&b, &op->out[0], &copy->out[0]);
        prt_op_erase(op);
        *changed = true;
    }
    return prt_build_status(&b);
}

static poprt_status visit(prt_pass *p, prt_graph *graph, bool *changed)
{
    for (prt_op *op = graph->first, *next; op != NULL; op = next) {
        prt_graph *body = body_of(op);
        next = op->next;
        PRT_TRY(prt_pass_check(p));
        if (body == NULL)
            continue;
        PRT_TRY(hoist_ops(op, body, changed));
        PRT_TRY(drop_carried(p, op, changed));
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_hoist_loop_invariants = { .run = visit };
