/* SPDX-License-Identifier: MIT */
/*
 * onnx_order.c — sorts a graph's nodes topologically, by depth-first search with an explicit stack.
 * Nodes and their inputs are visited in file order, so a file that is sorted keeps its order.
 */
#include "converter/onnx_raw.h"

static poprt_status define(prt_map *names, prt_str name)
{
    static char defined;
    return name.size != 0 ? prt_map_set(names, name, &defined) : POPRT_OK;
}

static poprt_status capture(const prt_raw_reader *r, prt_raw_node *node, const prt_map *defined,
    prt_map *seen, prt_str name)
{
    if (name.size == 0 || prt_map_find(defined, name) != NULL || prt_map_find(seen, name) != NULL)
        return POPRT_OK;
    PRT_TRY(define(seen, name));
    return PRT_VEC_PUSH(r->arena, &node->captures, name) ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status capture_graph(const prt_raw_reader *r, prt_raw_node *node,
    const prt_raw_graph *g, prt_map *seen)
{
    prt_map defined = prt_map_in(r->arena);
    for (size_t i = 0; i < g->inputs.count; i++)
        PRT_TRY(define(&defined, g->inputs.data[i].name));
    for (size_t i = 0; i < g->constants.count; i++)
        PRT_TRY(define(&defined, g->constants.data[i].name));
    for (size_t i = 0; i < g->sparse.count; i++)
        PRT_TRY(define(&defined, g->sparse.data[i].name));
    for (size_t k = 0; k < g->nodes.count; k++)
        for (size_t i = 0; i < g->nodes.data[k]->outputs.count; i++)
            PRT_TRY(define(&defined, g->nodes.data[k]->outputs.data[i]));
    for (size_t k = 0; k < g->nodes.count; k++) {
        const prt_raw_node *n = g->nodes.data[k];
        for (size_t i = 0; i < n->inputs.count; i++)
            PRT_TRY(capture(r, node, &defined, seen, n->inputs.data[i]));
        for (size_t i = 0; i < n->captures.count; i++)
            PRT_TRY(capture(r, node, &defined, seen, n->captures.data[i]));
    }
    for (size_t i = 0; i < g->outputs.count; i++)
        PRT_TRY(capture(r, node, &defined, seen, g->outputs.data[i].name));
    return POPRT_OK;
}

poprt_status prt_raw_captures(const prt_raw_reader *r, prt_raw_node *node)
{
    prt_map seen = prt_map_in(r->arena);
    for (size_t i = 0; i < node->attrs.count; i++)
        for (size_t k = 0; k < node->attrs.data[i].graphs.count; k++)
            PRT_TRY(capture_graph(r, node, node->attrs.data[i].graphs.data[k], &seen));
    return POPRT_OK;
}

enum { NEW, OPEN, DONE };

typedef struct step {
    prt_raw_node *node;
    size_t next; /* index of the next input, then capture, to visit */
} step;

static poprt_status map_writers(const prt_raw_graph *g, prt_map *writers)
{
    for (size_t k = 0; k < g->nodes.count; k++) {
        prt_raw_node *n = g->nodes.data[k];
        for (size_t i = 0; i < n->outputs.count; i++) {
            const prt_str name = n->outputs.data[i];
            if (name.size == 0)
                continue;
            if (prt_map_find(writers, name) != NULL)
                return prt_onnx_fail(POPRT_E_PARSE, prt_raw_label(n),
                    "two nodes write the value '%.*s'", PRT_SHOW(name));
            PRT_TRY(prt_map_set(writers, name, n));
        }
    }
    return POPRT_OK;
}

/* Returns the next unfinished node that the node of `s` depends on, and advances `s`; NULL at the
 * end. */
static prt_raw_node *next_writer(step *s, const prt_map *writers)
{
    const prt_raw_node *n = s->node;
    while (s->next < n->inputs.count + n->captures.count) {
        const size_t i = s->next++;
        const prt_str name =
            i < n->inputs.count ? n->inputs.data[i] : n->captures.data[i - n->inputs.count];
        prt_raw_node *writer = name.size != 0 ? prt_map_find(writers, name) : NULL;
        if (writer != NULL && writer->mark != DONE)
            return writer;
    }
    return NULL;
}

poprt_status prt_raw_order(const prt_raw_reader *r, prt_raw_graph *g)
{
    const size_t n = g->nodes.count;
    prt_map writers = prt_map_in(r->arena);
    PRT_TRY(map_writers(g, &writers));
    prt_raw_node **order = PRT_NEW_N(r->arena, prt_raw_node *, n);
    step *stack = PRT_NEW_N(r->arena, step, n);
    if (order == NULL || stack == NULL)
        return POPRT_E_NOMEM;
    size_t done = 0;
    for (size_t k = 0; k < n; k++) {
        size_t top = 0;
        if (g->nodes.data[k]->mark == DONE)
            continue;
        g->nodes.data[k]->mark = OPEN;
        stack[top++] = (step){ g->nodes.data[k], 0 };
        while (top > 0) {
            prt_raw_node *writer = next_writer(&stack[top - 1], &writers);
            if (writer == NULL) {
                stack[top - 1].node->mark = DONE;
                order[done++] = stack[--top].node;
            } else if (writer->mark == OPEN) {
                return prt_onnx_fail(POPRT_E_PARSE, prt_raw_label(writer),
                    "the graph has a cycle through this node");
            } else {
                writer->mark = OPEN;
                stack[top++] = (step){ writer, 0 };
            }
        }
    }
    if (n != 0)
        memcpy(g->nodes.data, order, n * sizeof(*order));
    return POPRT_OK;
}
