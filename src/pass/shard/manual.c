/* SPDX-License-Identifier: MIT */
/*
 * manual.c — manual_sharding: each named node, in topological order, takes the nodes it depends on
 * that no earlier named node has taken. All of them get its device as `__ipu_number` and its stage
 * as `__pipeline_stage`. The remaining nodes get the next device and the next stage.
 */
#include "pass/shard/points.h"

typedef struct reader {
    prt_pass *p;
    prt_map names;
    prt_shard_point *points; /* by op id */
} reader;

/* Reads the members of one option: NODE NAME: NUMBER. */
static poprt_status read_points(reader *s, const char *option, bool stages)
{
    prt_json *info;
    PRT_TRY(prt_pass_json(s->p, option, &info));
    if (info != NULL && info->kind != PRT_JSON_OBJECT)
        return prt_fail(POPRT_E_ARG, option, "an object is needed: {\"NODE\": NUMBER}");
    for (uint32_t i = 0; info != NULL && i < info->count; i++) {
        const prt_json *member = &info->items[i];
        const char *name = prt_arena_text(s->p->arena, member->key.data, member->key.size);
        int64_t number;
        prt_op *op;
        if (name == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_shard_find(&s->names, name, &op));
        if (!prt_json_i64(member, &number) || number < 0 || number > INT32_MAX)
            return prt_fail(POPRT_E_ARG, name, "a %s must be an integer of 0 or more",
                stages ? "stage" : "device");
        prt_shard_point *at = &s->points[op->id];
        at->op = op;
        *(stages ? &at->stage : &at->device) = number;
    }
    return POPRT_OK;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    reader s = { .p = p, .points = PRT_NEW_N(p->arena, prt_shard_point, graph->n_ops) };
    if (s.points == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < graph->n_ops; i++)
        s.points[i] = (prt_shard_point){ NULL, -1, -1 };
    PRT_TRY(prt_shard_names(p->arena, graph, &s.names));
    PRT_TRY(read_points(&s, "sharding_info", false));
    PRT_TRY(read_points(&s, "pipelining_info", true));
    PRT_TRY(prt_shard_apply(p, graph, s.points));
    *changed = true;
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_manual_sharding = { .run = run };
