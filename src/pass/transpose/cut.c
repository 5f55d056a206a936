/* SPDX-License-Identifier: MIT */
/*
 * cut.c — the decision as a minimum cut of a network, found by Dinic's algorithm.
 *
 * A movable node is a vertex. On the source's side its ports have layout `a` of their families, on
 * the sink's side layout `b`. A family costs one Transpose if a reader needs `a` and the maker does
 * not write `a`, and one if a reader needs `b` and the maker does not write `b`. Two more vertices
 * express this, one for each layout:
 *
 *     reader --inf--> A --cost--> maker --cost--> B --inf--> reader
 *
 * The source and the sink stand for makers and readers that do not move. A moved node costs 1, so
 * that of two equal decisions the one with fewer moves is taken. A Transpose that a Reshape
 * replaces costs a few of them. The costs of other Transposes are multiples of a number above the
 * sum of all these.
 */
#include "pass/transpose/plan.h"

enum { SOURCE, SINK, FIRST };
enum { RESHAPE = 4 }; /* cost of a Transpose that moves dims of 1 only, in moved nodes */

#define NO_VERTEX UINT32_MAX

static const int64_t infinite = (int64_t)1 << 61;
static const uint64_t most_work = (uint64_t)1 << 28; /* arcs looked at, about one second */

typedef struct arc {
    uint32_t to, next; /* `next`: of the same tail; 0: none */
    int64_t left; /* capacity that is left; the opposite arc is at the index with bit 0 changed */
} arc;

typedef struct network {
    prt_arena *arena;
    uint32_t n_vertices;
    PRT_VEC(arc) arcs;       /* the first two are unused */
    uint32_t *first, *at;    /* by vertex: arcs */
    uint32_t *level, *queue; /* of the breadth-first search */
    uint32_t *path, n_path;  /* arcs */
    uint64_t work;
    poprt_status status;
} network;

static void connect(network *net, uint32_t from, uint32_t to, int64_t capacity)
{
    const uint32_t i = (uint32_t)net->arcs.count;
    if (from == to || from == NO_VERTEX || to == NO_VERTEX || net->status != POPRT_OK)
        return;
    const arc forth = { to, net->first[from], capacity }, back = { from, net->first[to], 0 };
    if (!PRT_VEC_PUSH(net->arena, &net->arcs, forth) || !PRT_VEC_PUSH(net->arena, &net->arcs, back))
        net->status = POPRT_E_NOMEM;
    net->first[from] = i;
    net->first[to] = i + 1;
}

/* Sets the distance of each vertex from the source, plus 1; 0: it cannot be reached. Returns
 * whether the sink can be. */
static bool search(network *net)
{
    uint32_t head = 0, tail = 0;
    memset(net->level, 0, net->n_vertices * sizeof(uint32_t));
    net->level[SOURCE] = 1;
    net->queue[tail++] = SOURCE;
    while (head != tail) {
        const uint32_t v = net->queue[head++];
        for (uint32_t i = net->first[v]; i != 0; i = net->arcs.data[i].next) {
            const arc *a = &net->arcs.data[i];
            net->work++;
            if (a->left == 0 || net->level[a->to] != 0)
                continue;
            net->level[a->to] = net->level[v] + 1;
            net->queue[tail++] = a->to;
        }
    }
    return net->level[SINK] != 0;
}

/* Sends as much as the path allows, and returns to the tail of its first full arc. */
static uint32_t augment(network *net)
{
    int64_t most = infinite;
    for (uint32_t i = 0; i < net->n_path; i++)
        if (net->arcs.data[net->path[i]].left < most)
            most = net->arcs.data[net->path[i]].left;
    for (uint32_t i = net->n_path; i-- > 0;) {
        net->arcs.data[net->path[i]].left -= most;
        net->arcs.data[net->path[i] ^ 1].left += most;
        if (net->arcs.data[net->path[i]].left == 0)
            net->n_path = i;
    }
    return net->arcs.data[net->path[net->n_path] ^ 1].to;
}

/* Sends flow along shortest paths until no arc from level to level is left. */
static void send(network *net)
{
    uint32_t v = SOURCE;
    memcpy(net->at, net->first, net->n_vertices * sizeof(uint32_t));
    net->n_path = 0;
    while (net->work < most_work) {
        if (v == SINK)
            v = augment(net);
        uint32_t i = net->at[v];
        for (; i != 0; i = net->arcs.data[i].next) {
            const arc *a = &net->arcs.data[i];
            net->work++;
            if (a->left != 0 && net->level[a->to] == net->level[v] + 1)
                break;
        }
        net->at[v] = i;
        if (i != 0) {
            net->path[net->n_path++] = i;
            v = net->arcs.data[i].to;
        } else if (net->n_path != 0) {
            net->level[v] = 0;
            v = net->arcs.data[net->path[--net->n_path] ^ 1].to;
        } else {
            return;
        }
    }
}

/* Returns the vertex of a port, or the side on which a port that does not move is: NO_VERTEX if it
 * has neither layout of its family. */
static uint32_t vertex_of(const prt_plan *plan, const prt_family *f, const prt_port *port)
{
    if (plan->nodes.data[port->node].movable && port->moved != PRT_PERM_IDENTITY)
        return FIRST + port->node;
    return port->layout == f->a ? SOURCE : port->layout == f->b ? SINK : NO_VERTEX;
}

static bool has_layout(const prt_family *f, prt_perm layout)
{
    for (size_t i = 0; i < f->values.count; i++)
        if (f->values.data[i].layout == layout)
            return true;
    return false;
}

/* Adds a family whose Transposes cost `cost`; `a` and `b` are its two vertices. */
static void add_family(const prt_plan *plan, network *net, const prt_family *f, int64_t cost,
    uint32_t a, uint32_t b)
{
    const bool made = f->maker != PRT_PLAN_NONE;
    /* Values of outer graphs exist in several layouts. */
    const bool in_a = !made && has_layout(f, f->a), in_b = !made && has_layout(f, f->b);
    uint32_t maker = in_a ? SOURCE : in_b ? SINK : NO_VERTEX;
    if (f->a == 0 || f->free || (in_a && in_b))
        return;
    if (made)
        maker = vertex_of(plan, f, &plan->ports.data[f->maker]);
    connect(net, a, maker == NO_VERTEX ? SINK : maker, cost);
    connect(net, maker == NO_VERTEX ? SOURCE : maker, b, cost);
    for (uint32_t i = 0; i < f->count; i++) {
        const uint32_t v = vertex_of(plan, f, &plan->ports.data[plan->readers[f->first + i]]);
        if (v != SINK)
            connect(net, v, a, infinite);
        if (v != SOURCE)
            connect(net, b, v, infinite);
    }
}

static poprt_status create(const prt_plan *plan, network *net)
{
    const size_t n = FIRST + plan->nodes.count + 2 * plan->families.count;
    const int64_t unit = (int64_t)(plan->nodes.count + 2 * RESHAPE * plan->families.count + 1);
    /* The sum of all costs stays below half of `infinite`. */
    const int64_t most = infinite / 4 / unit / ((int64_t)plan->families.count + 1);
    *net = (network){ .arena = plan->arena, .n_vertices = (uint32_t)n };
    net->first = PRT_NEW_N(plan->arena, uint32_t, n);
    net->at = PRT_NEW_N(plan->arena, uint32_t, n);
    net->level = PRT_NEW_N(plan->arena, uint32_t, n);
    net->queue = PRT_NEW_N(plan->arena, uint32_t, n);
    net->path = PRT_NEW_N(plan->arena, uint32_t, n);
    const arc none = { 0 };
    if (net->first == NULL || net->at == NULL || net->level == NULL || net->queue == NULL ||
        net->path == NULL || !PRT_VEC_PUSH(net->arena, &net->arcs, none) ||
        !PRT_VEC_PUSH(net->arena, &net->arcs, none))
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < plan->nodes.count; i++) {
        const prt_plan_node *node = &plan->nodes.data[i];
        if (node->movable)
            connect(net, node->at_a ? SOURCE : FIRST + i, node->at_a ? FIRST + i : SINK, 1);
    }
    for (uint32_t i = 0; i < plan->families.count; i++) {
        const prt_family *f = &plan->families.data[i];
        const uint32_t a = FIRST + (uint32_t)plan->nodes.count + 2 * i;
        int64_t cost = unit * (f->cost < most ? f->cost : most);
        if (f->a != 0 && prt_perm_is_reshape(f->root->type, f->a, f->b))
            cost = RESHAPE;
        add_family(plan, net, f, cost, a, a + 1);
    }
    return net->status;
}

poprt_status prt_plan_cut(prt_plan *plan)
{
    network net;
    bool movable = false;
    for (size_t i = 0; i < plan->nodes.count; i++)
        movable = movable || plan->nodes.data[i].movable;
    if (!movable)
        return POPRT_OK;
    PRT_TRY(create(plan, &net));
    while (search(&net) && net.work < most_work) {
        PRT_TRY(prt_pass_check(plan->p));
        send(&net);
    }
    if (net.work >= most_work)
        return POPRT_OK;
    for (uint32_t i = 0; i < plan->nodes.count; i++) {
        prt_plan_node *node = &plan->nodes.data[i];
        node->moves = node->movable && (net.level[FIRST + i] != 0) != node->at_a;
    }
    return POPRT_OK;
}
