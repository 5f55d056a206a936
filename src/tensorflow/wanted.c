/* SPDX-License-Identifier: MIT */
/*
 * wanted.c — finds which results of calls the outputs of a model need. The others are not
 * converted, so that an output can be chosen beside one that cannot be converted.
 */
#include "tensorflow/convert.h"

/* Counts the outputs before each node of a body. */
static poprt_status count_outputs(prt_tf_converter *c, prt_tf_body *body)
{
    uint32_t *first = PRT_NEW_N(c->arena, uint32_t, (size_t)body->n_nodes + 1);
    if (first == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        if (body->nodes[i].n_out > INT32_MAX - first[i])
            return prt_fail(POPRT_E_LIMIT, NULL, "the nodes of a graph have too many outputs");
        first[i + 1] = first[i] + body->nodes[i].n_out;
    }
    body->first_out = first;
    return POPRT_OK;
}

typedef PRT_VEC(uint32_t) node_list;

/* Marks the output of an edge, and adds its node to those whose inputs are marked next. */
static bool want(prt_tf_converter *c, const prt_tf_scope *scope, prt_tf_edge edge, uint8_t *wanted,
    uint8_t *seen, node_list *stack)
{
    const prt_tf_body *body = scope->body;
    if (edge.output < body->nodes[edge.node].n_out)
        wanted[body->first_out[edge.node] + edge.output] = 1;
    if (seen[edge.node] || scope->done[edge.node] != NULL)
        return true;
    seen[edge.node] = 1;
    return PRT_VEC_PUSH(c->arena, stack, edge.node);
}

poprt_status prt_tf_mark_wanted(prt_tf_converter *c, prt_tf_scope *scope, uint32_t n,
    const prt_tf_edge *roots)
{
    prt_tf_body *body = (prt_tf_body *)(uintptr_t)scope->body;
    node_list stack = { 0 };
    if (body->first_out == NULL)
        PRT_TRY(count_outputs(c, body));
    uint8_t *wanted = prt_arena_alloc(c->arena, body->first_out[body->n_nodes]);
    uint8_t *seen = prt_arena_alloc(c->arena, body->n_nodes);
    bool stored = wanted != NULL && seen != NULL;
    for (uint32_t i = 0; stored && i < n; i++)
        stored = want(c, scope, roots[i], wanted, seen, &stack);
    while (stored && stack.count != 0) {
        const prt_tf_node *node = &body->nodes[stack.data[--stack.count]];
        for (uint32_t i = 0; stored && i < node->n_in; i++)
            stored = want(c, scope, node->in[i], wanted, seen, &stack);
        for (uint32_t i = 0; stored && i < node->n_control; i++)
            stored =
                want(c, scope, (prt_tf_edge){ node->control[i], UINT32_MAX }, wanted, seen, &stack);
    }
    scope->wanted = wanted;
    return stored ? POPRT_OK : POPRT_E_NOMEM;
}

bool prt_tf_is_wanted(const prt_tf_call *call, uint32_t k)
{
    const prt_tf_scope *scope = call->scope;
    const size_t node = (size_t)(call->node - scope->body->nodes);
    return scope->wanted == NULL || scope->wanted[scope->body->first_out[node] + k] != 0;
}
