/* SPDX-License-Identifier: MIT */
/*
 * inference.c — shape_inference: runs the infer hook of every operator in order until types and
 * known contents do not change. Results of unknown operators keep their declared types, unless the
 * program has a shape function. The types are written with the model.
 */
#include "pass/engine/pass.h"

enum { MAX_ROUNDS = 16 };

static uint64_t hash_value(const prt_value *v, uint64_t h)
{
    h = prt_hash(&v->type, sizeof(v->type), h);
    if (v->content != NULL)
        h = prt_hash(v->content->values, v->content->count * sizeof(int64_t), h);
    return h;
}

/* Types are interned, so a hash of their addresses tells whether any type has changed. */
static uint64_t hash_graph(const prt_graph *g, uint64_t h)
{
    for (size_t i = 0; i < g->inputs.count; i++)
        h = hash_value(g->inputs.data[i], h);
    for (const prt_op *op = g->first; op != NULL; op = op->next) {
        for (uint32_t i = 0; i < op->n_out; i++)
            h = hash_value(&op->out[i], h);
        for (uint32_t i = 0; i < op->n_regions; i++)
            h = hash_graph(op->regions[i], h);
    }
    return h;
}

static poprt_status infer_graph(prt_pass *p, prt_graph *graph)
{
    if (graph->contradictory)
        return POPRT_OK;
    prt_for_each_op (op, graph) {
        PRT_TRY(prt_pass_check(p));
        const poprt_status status = prt_ir_infer_op(op);
        if (status != POPRT_OK && status != POPRT_E_UNSUPPORTED)
            return status;
        /* Known operators infer their regions as far as possible; unknown ops in them are
         * skipped. */
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(infer_graph(p, op->regions[i]));
    }
    return POPRT_OK;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    uint64_t before = hash_graph(graph, 0);
    p->module->describes_values = true;
    for (uint32_t round = 0; round < MAX_ROUNDS; round++) {
        PRT_TRY(infer_graph(p, graph));
        const uint64_t after = hash_graph(graph, 0);
        if (after == before)
            break;
        *changed = true;
        before = after;
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_shape_inference = { .run = run };
