/* SPDX-License-Identifier: MIT */
/*
 * manual.c — manual_sharding: each named node, in topological order, takes the nodes it depends on
 * that no earlier one took; all of them get its device as `__ipu_number` and its stage as
 * `__pipeline_stage`. The nodes that are left get the next device and the next stage.
 */
#include "ir/extra.h"
#include "pass/pass.h"

typedef struct point {
    prt_op *op;
    int64_t device, stage; /* -1: none given */
} point;

typedef struct sharder {
    prt_pass *p;
    prt_graph *graph;
    point *points;  /* by op id */
    bool *assigned; /* by op id */
    PRT_VEC(prt_op *) list;
} sharder;

static prt_op *find_node(const prt_graph *graph, prt_str name, bool *twice)
{
    prt_op *found = NULL;
    prt_for_each_op(op, graph)
        if (prt_str_equal(op->origin, name)) {
            *twice = found != NULL;
            if (*twice)
                return found;
            found = op;
        }
    return found;
}

/* The members of one option: NODE NAME: NUMBER. */
static poprt_status read_points(sharder *s, const char *option, bool stages)
{
    prt_json *info;
    PRT_TRY(prt_pass_json(s->p, option, &info));
    if (info != NULL && info->kind != PRT_JSON_OBJECT)
        return prt_fail(POPRT_E_ARG, option, "an object is needed: {\"NODE\": NUMBER}");
    for (uint32_t i = 0; info != NULL && i < info->count; i++) {
        const prt_json *member = &info->items[i];
        const char *name = prt_arena_text(s->p->arena, member->key.data, member->key.size);
        int64_t number;
        bool twice = false;
        if (name == NULL)
            return POPRT_E_NOMEM;
        prt_op *op = find_node(s->graph, member->key, &twice);
        if (op == NULL)
            return prt_fail(POPRT_E_NOT_FOUND, name, "no node of the main graph has this name");
        if (twice)
            return prt_fail(POPRT_E_ARG, name,
                "two nodes have this name; the pass unique_name_for_nodes gives others");
        if (!prt_json_i64(member, &number) || number < 0 || number > INT32_MAX)
            return prt_fail(POPRT_E_ARG, name, "a %s is a number from 0",
                stages ? "stage" : "device");
        point *at = &s->points[op->id];
        at->op = op;
        *(stages ? &at->stage : &at->device) = number;
    }
    return POPRT_OK;
}

static poprt_status assign(sharder *s, prt_op *op, int64_t device, int64_t stage)
{
    s->assigned[op->id] = true;
    if (device >= 0)
        PRT_TRY(prt_op_set_mark_i64(op, "__ipu_number", device));
    return stage >= 0 ? prt_op_set_mark_i64(op, "__pipeline_stage", stage) : POPRT_OK;
}

static poprt_status reach(sharder *s, const prt_value *v)
{
    if (v == NULL || v->def == NULL || v->graph != s->graph || s->assigned[v->def->id])
        return POPRT_OK;
    return PRT_VEC_PUSH(s->p->arena, &s->list, v->def) ? POPRT_OK : POPRT_E_NOMEM;
}

/* What an op reads, in its regions too. */
static poprt_status reach_inputs(sharder *s, const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        PRT_TRY(reach(s, op->in[i].value));
    for (uint32_t r = 0; r < op->n_regions; r++) {
        prt_for_each_op(inner, op->regions[r])
            PRT_TRY(reach_inputs(s, inner));
        PRT_TRY(reach_inputs(s, op->regions[r]->ret));
    }
    return POPRT_OK;
}

static poprt_status take(sharder *s, const point *at)
{
    s->list.count = 0;
    if (s->assigned[at->op->id])
        return POPRT_OK;
    if (!PRT_VEC_PUSH(s->p->arena, &s->list, at->op))
        return POPRT_E_NOMEM;
    while (s->list.count != 0) {
        prt_op *op = s->list.data[--s->list.count];
        PRT_TRY(prt_pass_check(s->p));
        if (s->assigned[op->id])
            continue;
        PRT_TRY(assign(s, op, at->device, at->stage));
        PRT_TRY(reach_inputs(s, op));
    }
    return POPRT_OK;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    sharder s = { .p = p, .graph = graph };
    int64_t device = -1, stage = -1;
    s.points = PRT_NEW_N(p->arena, point, graph->n_ops);
    s.assigned = PRT_NEW_N(p->arena, bool, graph->n_ops);
    if (s.points == NULL || s.assigned == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < graph->n_ops; i++)
        s.points[i] = (point){ NULL, -1, -1 };
    PRT_TRY(read_points(&s, "sharding_info", false));
    PRT_TRY(read_points(&s, "pipelining_info", true));
    prt_for_each_op(op, graph) {
        const point *at = &s.points[op->id];
        if (at->op == NULL)
            continue;
        PRT_TRY(take(&s, at));
        device = at->device > device ? at->device : device;
        stage = at->stage > stage ? at->stage : stage;
        *changed = true;
    }
    if (!*changed)
        return prt_fail(POPRT_E_ARG, "sharding_info", "no node is named to shard the model at");
    prt_for_each_op(op, graph)
        if (!s.assigned[op->id])
            PRT_TRY(assign(&s, op, device >= 0 ? device + 1 : -1, stage >= 0 ? stage + 1 : -1));
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_manual_sharding = { .run = run };
