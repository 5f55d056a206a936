/* SPDX-License-Identifier: MIT */
/*
 * pattern.c — parses patterns and finds them by backtracking. The pattern's nodes are bound one
 * after the other; a node with an arrow to a bound node is searched only among that node's readers
 * or producers.
 */
#include "pass/engine/pattern.h"

enum {
    MAX_EDGES = 256,     /* arrows of a pattern */
    MAX_STEPS = 20000000 /* ops tried in one search */
};

typedef struct token {
    prt_str op, label;
    bool marker; /* s: or e: */
} token;

typedef struct edge {
    uint32_t from, to; /* indices of nodes */
} edge;

struct prt_pattern {
    prt_arena *arena;
    uint32_t n_nodes, n_edges;
    token nodes[PRT_PATTERN_NODES];
    prt_op *match[PRT_PATTERN_NODES];
    uint32_t order[PRT_PATTERN_NODES]; /* the order in which nodes are bound */
    edge edges[MAX_EDGES];
    prt_map seen; /* keys of returned matches: the ids of their ops */
    uint64_t steps;
    const prt_graph *graph;
};

/* ---- parsing */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static prt_str trim(prt_str s)
{
    while (s.size != 0 && is_blank(s.data[0])) {
        s.data++;
        s.size--;
    }
    while (s.size != 0 && is_blank(s.data[s.size - 1]))
        s.size--;
    return s;
}

static poprt_status fail(prt_str text, const char *why)
{
    const int size = text.size < 100 ? (int)text.size : 100;
    return prt_fail(POPRT_E_PARSE, "pattern", "'%.*s': %s", size, text.data, why);
}

static poprt_status read_token(prt_str text, token *out)
{
    uint32_t colon = 0;
    text = trim(text);
    while (colon < text.size && text.data[colon] != ':')
        colon++;
    *out = (token){ .op = trim((prt_str){ text.data, colon }) };
    if (colon == text.size)
        return fail(text, "a token is OpType:label, s:label or e:label");
    out->label = trim((prt_str){ text.data + colon + 1, text.size - colon - 1 });
    if (out->op.size == 0 || out->label.size == 0)
        return fail(text, "the operator or the label is missing");
    out->marker = prt_str_is(out->op, "s") || prt_str_is(out->op, "e");
    return POPRT_OK;
}

/* Returns the next token of a chain. `rest` becomes the text after its arrow; its data is NULL
 * after the last token. */
static prt_str next_token(prt_str *rest)
{
    for (uint32_t i = 0; i + 1 < rest->size; i++)
        if (rest->data[i] == '-' && rest->data[i + 1] == '>') {
            const prt_str first = { rest->data, i };
            *rest = (prt_str){ rest->data + i + 2, rest->size - i - 2 };
            return first;
        }
    const prt_str last = *rest;
    *rest = (prt_str){ NULL, 0 };
    return last;
}

/* Returns the node of a token: an existing node with the same label, or a new one. */
static poprt_status add_node(prt_pattern *pt, const token *t, prt_str text, uint32_t *out)
{
    for (*out = 0; *out < pt->n_nodes; ++*out)
        if (prt_str_equal(pt->nodes[*out].label, t->label)) {
            if (prt_str_equal(pt->nodes[*out].op, t->op))
                return POPRT_OK;
            return fail(text, "this label already belongs to another operator");
        }
    if (pt->n_nodes == PRT_PATTERN_NODES)
        return fail(text, "the pattern has too many nodes");
    pt->nodes[pt->n_nodes++] = *t;
    return POPRT_OK;
}

static poprt_status read_chain(prt_pattern *pt, prt_str chain)
{
    uint32_t before = UINT32_MAX;
    for (prt_str rest = chain; rest.data != NULL;) {
        const prt_str text = next_token(&rest);
        token t;
        uint32_t node = UINT32_MAX;
        PRT_TRY(read_token(text, &t));
        if (!t.marker)
            PRT_TRY(add_node(pt, &t, text, &node));
        if (before != UINT32_MAX && node != UINT32_MAX) {
            if (pt->n_edges == MAX_EDGES)
                return fail(chain, "the pattern has too many arrows");
            pt->edges[pt->n_edges++] = (edge){ before, node };
        }
        before = node;
    }
    return POPRT_OK;
}

/* Orders the nodes for binding: a node with an arrow to a node placed earlier goes first. */
static void order_nodes(prt_pattern *pt)
{
    bool placed[PRT_PATTERN_NODES] = { false };
    for (uint32_t n = 0; n < pt->n_nodes; n++) {
        uint32_t next = UINT32_MAX;
        for (uint32_t i = 0; i < pt->n_edges && next == UINT32_MAX; i++) {
            const edge *e = &pt->edges[i];
            if (placed[e->from] != placed[e->to])
                next = placed[e->from] ? e->to : e->from;
        }
        for (uint32_t i = 0; i < pt->n_nodes && next == UINT32_MAX; i++)
            if (!placed[i])
                next = i;
        placed[next] = true;
        pt->order[n] = next;
    }
}

poprt_status prt_pattern_parse(prt_arena *arena, uint32_t n_chains, const prt_str *chains,
    prt_pattern **out)
{
    prt_pattern *pt = PRT_NEW(arena, prt_pattern);
    if (pt == NULL)
        return POPRT_E_NOMEM;
    pt->arena = arena;
    pt->seen = prt_map_in(arena);
    for (uint32_t i = 0; i < n_chains; i++) {
        const char *copy = prt_arena_text(arena, chains[i].data, chains[i].size);
        if (copy == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(read_chain(pt, (prt_str){ copy, chains[i].size }));
    }
    if (pt->n_nodes == 0)
        return prt_fail(POPRT_E_PARSE, "pattern", "the pattern has no node");
    order_nodes(pt);
    *out = pt;
    return POPRT_OK;
}

/* ---- matching */

static bool reads(const prt_op *op, const prt_op *producer)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i].value != NULL && op->in[i].value->def == producer)
            return true;
    return false;
}

/* Returns whether pattern node `node` can be bound to `op`, given the nodes that are bound
 * already. */
static bool can_bind(const prt_pattern *pt, uint32_t node, const prt_op *op)
{
    if (op == NULL || op->graph != pt->graph || op == pt->graph->ret ||
        !prt_str_equal(op->name, pt->nodes[node].op))
        return false;
    for (uint32_t i = 0; i < pt->n_nodes; i++)
        if (pt->match[i] == op)
            return false;
    for (uint32_t i = 0; i < pt->n_edges; i++) {
        const edge *e = &pt->edges[i];
        if (e->to == node && pt->match[e->from] != NULL && !reads(op, pt->match[e->from]))
            return false;
        if (e->from == node && pt->match[e->to] != NULL && !reads(pt->match[e->to], op))
            return false;
    }
    return true;
}

static prt_str key_of(prt_pattern *pt)
{
    uint32_t *ids = PRT_NEW_N(pt->arena, uint32_t, pt->n_nodes);
    for (uint32_t i = 0; ids != NULL && i < pt->n_nodes; i++)
        ids[i] = pt->match[i]->id;
    return (prt_str){ (const char *)ids, ids != NULL ? pt->n_nodes * (uint32_t)sizeof(*ids) : 0 };
}

static poprt_status finish(prt_pattern *pt, bool *found)
{
    const prt_str key = key_of(pt);
    if (key.size == 0)
        return POPRT_E_NOMEM;
    *found = prt_map_find(&pt->seen, key) == NULL;
    return *found ? prt_map_set(&pt->seen, key, pt) : POPRT_OK;
}

static poprt_status bind(prt_pattern *pt, uint32_t depth, bool *found);

static poprt_status try_op(prt_pattern *pt, uint32_t depth, prt_op *op, bool *found)
{
    const uint32_t node = pt->order[depth];
    if (++pt->steps > MAX_STEPS)
        return prt_fail(POPRT_E_LIMIT, "pattern",
            "matching takes too many steps: make the pattern more specific");
    if (!can_bind(pt, node, op))
        return POPRT_OK;
    pt->match[node] = op;
    PRT_TRY(bind(pt, depth + 1, found));
    if (!*found)
        pt->match[node] = NULL;
    return POPRT_OK;
}

static poprt_status try_readers(prt_pattern *pt, uint32_t depth, const prt_op *producer,
    bool *found)
{
    for (uint32_t i = 0; i < producer->n_out; i++)
        prt_for_each_use (use, &producer->out[i]) {
            PRT_TRY(try_op(pt, depth, use->user, found));
            if (*found)
                return POPRT_OK;
        }
    return POPRT_OK;
}

static poprt_status try_producers(prt_pattern *pt, uint32_t depth, const prt_op *reader,
    bool *found)
{
    for (uint32_t i = 0; i < reader->n_in && !*found; i++)
        if (reader->in[i].value != NULL)
            PRT_TRY(try_op(pt, depth, reader->in[i].value->def, found));
    return POPRT_OK;
}

/* Binds the nodes from position `depth` of the order on. */
static poprt_status bind(prt_pattern *pt, uint32_t depth, bool *found)
{
    if (depth == pt->n_nodes)
        return finish(pt, found);
    const uint32_t node = pt->order[depth];
    for (uint32_t i = 0; i < pt->n_edges; i++) {
        const edge *e = &pt->edges[i];
        if (e->to == node && pt->match[e->from] != NULL)
            return try_readers(pt, depth, pt->match[e->from], found);
        if (e->from == node && pt->match[e->to] != NULL)
            return try_producers(pt, depth, pt->match[e->to], found);
    }
    for (prt_op *op = pt->graph->first; op != NULL && !*found; op = op->next)
        PRT_TRY(try_op(pt, depth, op, found));
    return POPRT_OK;
}

poprt_status prt_pattern_next(prt_pattern *pattern, const prt_graph *graph, bool *found)
{
    memset(pattern->match, 0, sizeof(pattern->match));
    pattern->graph = graph;
    pattern->steps = 0;
    *found = false;
    return bind(pattern, 0, found);
}

/* ---- results */

uint32_t prt_pattern_count(const prt_pattern *pattern)
{
    return pattern->n_nodes;
}

prt_str prt_pattern_label(const prt_pattern *pattern, uint32_t index)
{
    return pattern->nodes[index].label;
}

prt_op *prt_pattern_node_at(const prt_pattern *pattern, uint32_t index)
{
    return pattern->match[index];
}

prt_op *prt_pattern_node(const prt_pattern *pattern, prt_str label)
{
    for (uint32_t i = 0; i < pattern->n_nodes; i++)
        if (prt_str_equal(pattern->nodes[i].label, label))
            return pattern->match[i];
    return NULL;
}
