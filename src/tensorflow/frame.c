/* SPDX-License-Identifier: MIT */
/*
 * frame.c — the places of nodes, and the conversion of branches and loops of TensorFlow 1. Both
 * sides of a branch and the body of a loop are scopes over the same body of nodes, with the
 * operators in a region: a node that is not in the place of such a scope is converted in the scope
 * around it (convert.c).
 */
#include "tensorflow/frame.h"

#include "tensorflow/region.h"
#include "tensorflow/rows.h"

/* ---- places */

bool prt_tf_place_within(const prt_tf_place *inner, const prt_tf_place *outer)
{
    const uint32_t depth = outer != NULL ? outer->depth : 0;
    while (inner != NULL && inner->depth > depth)
        inner = inner->around;
    return inner == outer;
}

bool prt_tf_is_loop_merge(const prt_tf_body *body, const prt_tf_node *node)
{
    for (uint32_t i = 0; i < node->n_in; i++)
        if (prt_tf_node_is(&body->nodes[node->in[i].node], "NextIteration"))
            return true;
    return false;
}

/* Finds or makes the place of `like` within `around`. */
static const prt_tf_place *place_in(prt_tf_converter *c, prt_tf_places *places,
    const prt_tf_place *around, const prt_tf_place *like)
{
    for (const prt_tf_place *p = places->all; p != NULL; p = p->next)
        if (p->around == around && p->loop == like->loop && prt_str_equal(p->frame, like->frame) &&
            p->pred.node == like->pred.node && p->pred.output == like->pred.output &&
            p->side == like->side)
            return p;
    prt_tf_place *p = prt_arena_copy(c->arena, like, sizeof(*like));
    if (p == NULL)
        return NULL;
    p->around = around;
    p->depth = around != NULL ? around->depth + 1 : 1;
    p->next = places->all;
    places->all = p;
    return p;
}

static const prt_tf_place *deeper(const prt_tf_place *a, const prt_tf_place *b)
{
    return (a != NULL ? a->depth : 0) >= (b != NULL ? b->depth : 0) ? a : b;
}

static const prt_tf_place *common(const prt_tf_place *a, const prt_tf_place *b)
{
    while (a != b) {
        if (deeper(a, b) == a)
            a = a->around;
        else
            b = b->around;
    }
    return a;
}

static prt_str frame_name(const prt_tf_node *node)
{
    prt_tf_attr_value v;
    const prt_tf_attr *attr = prt_tf_attr_find(node->attrs, node->n_attrs, PRT_STR("frame_name"));
    return attr != NULL && prt_tf_attr_read(attr, &v) == POPRT_OK && v.kind == PRT_TF_ATTR_s
        ? v.s
        : PRT_STR("");
}

/* Returns the tensor that a condition is: Identities and Switches hand it on. */
static prt_tf_edge condition_of(const prt_tf_body *body, prt_tf_edge edge)
{
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        const prt_tf_node *node = &body->nodes[edge.node];
        if (node->n_in == 0 ||
            (!prt_str_is(node->op, "Identity") && !prt_tf_node_is(node, "Switch")))
            break;
        edge = node->in[0];
    }
    return edge;
}

/* Returns the place that an edge comes from: the side of a Switch begins at its outputs. The
 * Switch of a loop is in the frame as a whole. */
static poprt_status place_of_edge(prt_tf_converter *c, prt_tf_places *places, prt_tf_edge edge,
    const prt_tf_place **out)
{
    const prt_tf_body *body = places->body;
    const prt_tf_node *from = &body->nodes[edge.node];
    *out = places->of[edge.node];
    if (!prt_tf_node_is(from, "Switch") || from->n_in != 2)
        return POPRT_OK;
    if (prt_tf_node_is(&body->nodes[from->in[1].node], "LoopCond"))
        return POPRT_OK;
    const prt_tf_place like = { .pred = condition_of(body, from->in[1]),
        .side = edge.output,
        .frame = PRT_STR("") };
    *out = place_in(c, places, *out, &like);
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status place_node(prt_tf_converter *c, prt_tf_places *places, uint32_t index)
{
    const prt_tf_body *body = places->body;
    const prt_tf_node *node = &body->nodes[index];
    const bool merge = prt_tf_node_is(node, "Merge");
    const prt_tf_place *place = NULL, *p;
    bool first = true;
    for (uint32_t i = 0; i < node->n_in; i++) {
        if (merge && prt_tf_node_is(&body->nodes[node->in[i].node], "NextIteration"))
            continue;
        PRT_TRY(place_of_edge(c, places, node->in[i], &p));
        place = first ? p : merge ? common(place, p) : deeper(place, p);
        first = false;
    }
    for (uint32_t i = 0; i < node->n_control && !merge; i++)
        place = deeper(place, places->of[node->control[i]]);
    if (prt_tf_node_is(node, "Enter")) {
        const prt_tf_place like = { .loop = true, .frame = frame_name(node) };
        place = place_in(c, places, place, &like);
        if (place == NULL)
            return POPRT_E_NOMEM;
    }
    if (prt_tf_node_is(node, "Exit")) {
        while (place != NULL && !place->loop)
            place = place->around;
        place = place != NULL ? place->around : NULL;
    }
    places->of[index] = place;
    return POPRT_OK;
}

/* Places all nodes, inputs first; the inputs of NextIterations are not followed back. */
static poprt_status place_nodes(prt_tf_converter *c, prt_tf_places *places)
{
    enum { NEW, OPEN, DONE };
    typedef struct visit {
        uint32_t node, next;
    } visit;
    const prt_tf_body *body = places->body;
    unsigned char *state = PRT_NEW_N(c->arena, unsigned char, body->n_nodes);
    PRT_VEC(visit) stack = { 0 };
    if (state == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t root = 0; root < body->n_nodes; root++) {
        if (state[root] != NEW)
            continue;
        if (!PRT_VEC_PUSH(c->arena, &stack, ((visit){ root, 0 })))
            return POPRT_E_NOMEM;
        state[root] = OPEN;
        while (stack.count != 0) {
            visit *v = &stack.data[stack.count - 1];
            const prt_tf_node *node = &body->nodes[v->node];
            if (v->next == node->n_in + node->n_control) {
                PRT_TRY(place_node(c, places, v->node));
                state[v->node] = DONE;
                stack.count--;
                continue;
            }
            const uint32_t i = v->next++;
            const uint32_t to = i < node->n_in ? node->in[i].node : node->control[i - node->n_in];
            if (state[to] != NEW ||
                (prt_tf_node_is(node, "Merge") &&
                    prt_tf_node_is(&body->nodes[to], "NextIteration")))
                continue;
            state[to] = OPEN;
            if (!PRT_VEC_PUSH(c->arena, &stack, ((visit){ to, 0 })))
                return POPRT_E_NOMEM;
        }
    }
    return POPRT_OK;
}

const prt_tf_places *prt_tf_places_of(prt_tf_converter *c, const prt_tf_body *body)
{
    for (prt_tf_places *p = c->places; p != NULL; p = p->next)
        if (p->body == body)
            return p;
    prt_tf_places *p = PRT_NEW(c->arena, prt_tf_places);
    if (p == NULL)
        return NULL;
    p->body = body;
    p->of = PRT_NEW_N(c->arena, const prt_tf_place *, body->n_nodes);
    if (p->of == NULL || place_nodes(c, p) != POPRT_OK)
        return NULL;
    p->next = c->places;
    c->places = p;
    return p;
}

/* ---- scopes */

/* Makes a scope for a place, over the nodes of the scope around it. */
static poprt_status inner_scope(prt_tf_call *n, const prt_tf_place *place, prt_graph *graph,
    prt_tf_scope **out)
{
    prt_tf_scope *outer = n->scope;
    PRT_TRY(prt_tf_scope_create(n->c, outer, outer->body, graph, outer->prefix, 0, NULL, out));
    (*out)->attrs = outer->attrs;
    (*out)->n_attrs = outer->n_attrs;
    (*out)->place = place;
    (*out)->within = true;
    return POPRT_OK;
}

/* Sets all outputs of a node in a scope. */
static poprt_status preset(prt_tf_call *n, prt_tf_scope *scope, uint32_t node, prt_tf_value value)
{
    const uint32_t count = scope->body->nodes[node].n_out;
    prt_tf_value *values = PRT_NEW_N(n->c->arena, prt_tf_value, count);
    if (values == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t k = 0; k < count; k++)
        values[k] = value;
    scope->done[node] = values;
    prt_tf_mark_done(scope, node);
    return POPRT_OK;
}

/* ---- branches */

/* A node is only converted where it is needed, which is in the right side of a branch. */
poprt_status prt_tf_row_switch(prt_tf_call *n)
{
    for (uint32_t k = 0; k < n->n_out && n->n_in != 0; k++)
        prt_tf_set_value(n, k, n->in[0]);
    return prt_tf_end(n);
}

/* A Merge of two sides. */
typedef struct sides {
    const prt_tf_place *place[2]; /* of the false and the true side */
    prt_tf_edge edge[2];
} sides;

static poprt_status convert_side(prt_tf_call *n, const void *user, bool side, prt_graph *graph,
    uint32_t n_out, prt_tf_value *out)
{
    const sides *s = user;
    prt_tf_scope *scope;
    (void)n_out;
    PRT_TRY(inner_scope(n, s->place[side], graph, &scope));
    return prt_tf_demand(n->c, scope, s->edge[side], out);
}

/* Returns the place on the way from `outer` to `place` that is directly within `outer`. */
static const prt_tf_place *step_in(const prt_tf_place *place, const prt_tf_place *outer)
{
    while (place != NULL && place->around != outer)
        place = place->around;
    return place;
}

poprt_status prt_tf_row_merge(prt_tf_call *n)
{
    const prt_tf_body *body = n->scope->body;
    const prt_tf_places *places = prt_tf_places_of(n->c, body);
    const prt_tf_node *node = n->node;
    sides s = { 0 };
    if (places == NULL)
        return prt_error_last()->status;
    if (prt_tf_is_loop_merge(body, node))
        return prt_tf_refuse(n, "a variable of a loop is read outside of the loop");
    if (node->n_in != 2)
        return prt_tf_refuse(n, "the node joins %u sides", node->n_in);
    const prt_tf_place *outer = places->of[node - body->nodes];
    const prt_tf_place *first = NULL;
    uint32_t of_true = 0;
    for (uint32_t i = 0; i < 2; i++) {
        const prt_tf_place *p;
        PRT_TRY(place_of_edge(n->c, (prt_tf_places *)(uintptr_t)places, node->in[i], &p));
        p = step_in(p, outer);
        if (p == NULL || p->loop || p->side > 1)
            return prt_tf_refuse(n, "the sides that it joins do not belong to one condition");
        if (i == 0)
            first = p;
        else if (first->pred.node != p->pred.node || first->pred.output != p->pred.output ||
            first->side == p->side)
            return prt_tf_refuse(n, "the sides that it joins do not belong to one condition");
        s.place[p->side] = p;
        s.edge[p->side] = node->in[i];
        if (p->side == 1)
            of_true = i;
    }
    prt_tf_value pred;
    PRT_TRY(prt_tf_demand(n->c, n->scope, first->pred, &pred));
    if (pred.kind != PRT_TF_tensor && pred.kind != PRT_TF_failed)
        return prt_tf_refuse(n, "the condition is not a tensor");
    if (pred.kind == PRT_TF_failed) {
        prt_tf_set_value(n, 0, (prt_tf_value){ .kind = PRT_TF_failed });
        prt_tf_set_value(n, 1, (prt_tf_value){ .kind = PRT_TF_failed });
        return prt_tf_end(n);
    }
    const prt_op *last = n->b.graph->last;
    prt_tf_value condition = { .kind = PRT_TF_tensor,
        .value = prt_tf_condition(n, &n->b, pred.value) };
    PRT_TRY(prt_tf_end(n));
    PRT_TRY(prt_tf_fold(n->c, n->b.graph, last, 1, &condition));
    PRT_TRY(prt_tf_branch(n, condition.value, convert_side, &s, 1, n->out));
    prt_tf_set(n, 1,
        prt_build_where(&n->b, condition.value, prt_build_scalar(&n->b, PRT_DTYPE_i32, of_true),
            prt_build_scalar(&n->b, PRT_DTYPE_i32, 1 - of_true)));
    return prt_tf_end(n);
}

/* ---- loops */

/* The nodes of a variable of a loop. */
typedef struct chain {
    uint32_t merge;
    PRT_VEC(uint32_t) switches;
    prt_tf_edge start, next;
} chain;

typedef struct frame {
    const prt_tf_place *place;
    PRT_VEC(chain) chains;
    uint32_t condition; /* LoopCond */
} frame;

/* Finds the variables of a frame: its Merges, and the Switches and Exits behind them. */
static poprt_status find_chains(prt_tf_call *n, const prt_tf_places *places, frame *f)
{
    const prt_tf_body *body = places->body;
    f->condition = UINT32_MAX;
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        const prt_tf_node *node = &body->nodes[i];
        if (places->of[i] != f->place)
            continue;
        if (prt_tf_node_is(node, "LoopCond") && node->n_in == 1)
            f->condition = i;
        if (!prt_tf_node_is(node, "Merge") || node->n_in != 2 || !prt_tf_is_loop_merge(body, node))
            continue;
        const bool second = prt_tf_node_is(&body->nodes[node->in[1].node], "NextIteration");
        const prt_tf_node *next = &body->nodes[node->in[second].node];
        if (next->n_in != 1)
            return prt_tf_refuse(n, "the loop is malformed");
        const chain v = { .merge = i, .start = node->in[!second], .next = next->in[0] };
        if (!PRT_VEC_PUSH(n->c->arena, &f->chains, v))
            return POPRT_E_NOMEM;
    }
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        const prt_tf_node *node = &body->nodes[i];
        for (size_t k = 0; k < f->chains.count; k++) {
            chain *v = &f->chains.data[k];
            if (prt_tf_node_is(node, "Switch") && node->n_in == 2 && node->in[0].node == v->merge &&
                node->in[1].node == f->condition && !PRT_VEC_PUSH(n->c->arena, &v->switches, i))
                return POPRT_E_NOMEM;
        }
    }
    if (f->condition == UINT32_MAX || f->chains.count == 0)
        return prt_tf_refuse(n, "the loop has no condition or no variable");
    return POPRT_OK;
}

static bool is_switch_of(const chain *v, uint32_t node)
{
    for (size_t i = 0; i < v->switches.count; i++)
        if (v->switches.data[i] == node)
            return true;
    return false;
}

/* Returns whether the next value of a variable is the value itself. */
static bool is_invariant(const prt_tf_body *body, const chain *v)
{
    prt_tf_edge edge = v->next;
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        const prt_tf_node *node = &body->nodes[edge.node];
        if (is_switch_of(v, edge.node))
            return edge.output == 1;
        if (!prt_str_is(node->op, "Identity") || node->n_in != 1)
            return false;
        edge = node->in[0];
    }
    return false;
}

/* Makes a scope for the frame in which the variables have these values. */
static poprt_status frame_scope(prt_tf_call *n, const frame *f, prt_graph *graph,
    const prt_tf_value *variables, prt_tf_scope **out)
{
    PRT_TRY(inner_scope(n, f->place, graph, out));
    for (size_t k = 0; k < f->chains.count; k++) {
        const chain *v = &f->chains.data[k];
        PRT_TRY(preset(n, *out, v->merge, variables[k]));
        for (size_t i = 0; i < v->switches.count; i++)
            PRT_TRY(preset(n, *out, v->switches.data[i], variables[k]));
    }
    return POPRT_OK;
}

static poprt_status condition(prt_tf_call *n, const void *user, prt_graph *graph,
    const prt_tf_value *variables, prt_tf_value *out)
{
    const frame *f = user;
    prt_tf_scope *scope;
    PRT_TRY(frame_scope(n, f, graph, variables, &scope));
    return prt_tf_demand(n->c, scope, (prt_tf_edge){ f->condition, 0 }, out);
}

static poprt_status step(prt_tf_call *n, const void *user, prt_graph *graph,
    const prt_tf_value *variables, prt_tf_value *next)
{
    const frame *f = user;
    prt_tf_scope *scope;
    PRT_TRY(frame_scope(n, f, graph, variables, &scope));
    for (size_t k = 0; k < f->chains.count; k++)
        PRT_TRY(prt_tf_demand(n->c, scope, f->chains.data[k].next, &next[k]));
    return POPRT_OK;
}

/* Gives the Exits of a frame their values in the scope of the call. */
static poprt_status set_exits(prt_tf_call *n, const frame *f, const prt_tf_value *last)
{
    const prt_tf_body *body = n->scope->body;
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        const prt_tf_node *node = &body->nodes[i];
        if (!prt_tf_node_is(node, "Exit") || node->n_in != 1)
            continue;
        for (size_t k = 0; k < f->chains.count; k++) {
            if (!is_switch_of(&f->chains.data[k], node->in[0].node))
                continue;
            if (node == n->node)
                prt_tf_set_value(n, 0, last[k]);
            else
                PRT_TRY(preset(n, n->scope, i, last[k]));
        }
    }
    return prt_tf_end(n);
}

/* Converts the loop that an Exit leaves, and sets all of its Exits. */
poprt_status prt_tf_row_exit(prt_tf_call *n)
{
    const prt_tf_body *body = n->scope->body;
    const prt_tf_places *places = prt_tf_places_of(n->c, body);
    frame f = { 0 };
    if (places == NULL)
        return prt_error_last()->status;
    if (n->node->n_in != 1 || !prt_tf_node_is(&body->nodes[n->node->in[0].node], "Switch"))
        return prt_tf_refuse(n, "the loop is malformed");
    f.place = places->of[n->node->in[0].node];
    if (f.place == NULL || !f.place->loop)
        return prt_tf_refuse(n, "the loop is malformed");
    PRT_TRY(find_chains(n, places, &f));
    const uint32_t count = (uint32_t)f.chains.count;
    prt_tf_value *start = PRT_NEW_N(n->c->arena, prt_tf_value, count);
    prt_tf_value *last = PRT_NEW_N(n->c->arena, prt_tf_value, count);
    bool *invariant = PRT_NEW_N(n->c->arena, bool, count);
    if (start == NULL || last == NULL || invariant == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t k = 0; k < count; k++) {
        const prt_tf_edge from = f.chains.data[k].start;
        const prt_tf_node *enter = &body->nodes[from.node];
        if (!prt_tf_node_is(enter, "Enter") || enter->n_in != 1)
            return prt_tf_refuse(n, "the loop is malformed");
        PRT_TRY(prt_tf_demand(n->c, n->scope, enter->in[0], &start[k]));
        invariant[k] = is_invariant(body, &f.chains.data[k]);
    }
    const prt_tf_loop loop = { .n = count,
        .start = start,
        .invariant = invariant,
        .condition = condition,
        .step = step,
        .user = &f };
    PRT_TRY(prt_tf_convert_loop(n, &loop, last));
    return set_exits(n, &f, last);
}
