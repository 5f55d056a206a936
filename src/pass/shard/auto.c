/* SPDX-License-Identifier: MIT */
/*
 * auto.c — auto_sharding: assigns every node to a device so that each device has enough memory, and
 * optionally balances FLOPs. The marks are those of manual_sharding; each device is a pipeline
 * stage of its own.
 *
 * The reference compiles a cut to learn whether it fits. This library does not compile for these
 * devices, so it estimates the memory: weights, the largest set of live values, and values received
 * from other devices (net.h).
 *
 * Differences from the reference: if there are fewer subgraphs of joins than devices, or no cut
 * between them fits, the pass tries subgraphs that end at any node, then subgraphs of one node
 * each. To balance FLOPs it always tries all three and takes the best. Nodes without unique names
 * are named by unique_name_for_nodes. Shapes that depend on data count as 0, with a warning; inputs
 * of unknown shape are an error.
 */
#include "pass/shard/points.h"
#include "pass/shard/search.h"

static poprt_status check_inputs(const prt_graph *graph)
{
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const prt_value *v = graph->inputs.data[i];
        char type[256];
        if (v->type->kind != PRT_VALUE_TENSOR || prt_type_is_static(v->type))
            continue;
        prt_type_print(graph->module->dims, v->type, type, sizeof(type));
        return prt_fail(POPRT_E_ARG, v->name.data,
            "the input is %s: sizes must be numbers to compute the memory of a device; set them "
            "first, by input_shape of a conversion",
            type);
    }
    return POPRT_OK;
}

/* Reports why no cut fits, and which option would help. */
static poprt_status fail_to_fit(const prt_net *net, const prt_shard_cut *cut, uint32_t n_devices,
    uint64_t memory)
{
    const prt_shard_need *need = &cut->needs[cut->worst];
    uint64_t all = 0;
    for (uint32_t i = 0; i < net->n_nodes; i++)
        if (net->nodes[i].bytes > memory)
            return prt_fail(POPRT_E_LIMIT, net->nodes[i].op->origin.data,
                "the node alone reads %llu bytes of weights, and a device has %llu: a larger "
                "num_ipus "
                "does not help, increase memory_per_ipu",
                (unsigned long long)net->nodes[i].bytes, (unsigned long long)memory);
    for (uint32_t d = 0; d < n_devices; d++)
        all = prt_saturating_add(all, cut->needs[d].bytes);
    const uint64_t least = all / memory + 1;
    return prt_fail(POPRT_E_LIMIT, "num_ipus",
        "in the best of %u cuts device %u needs %llu bytes (weights %llu, activations %llu, "
        "received %llu) and has %llu: try %llu devices, or a larger memory_per_ipu",
        cut->tried, cut->worst, (unsigned long long)need->bytes, (unsigned long long)need->weights,
        (unsigned long long)need->activations, (unsigned long long)need->received,
        (unsigned long long)memory,
        (unsigned long long)(least > n_devices ? least : n_devices + 1));
}

/* Returns the FLOPs of the device with the most FLOPs. */
static uint64_t slowest(const prt_shard_cut *cut, uint32_t n_devices)
{
    uint64_t most = 0;
    for (uint32_t d = 0; d < n_devices; d++)
        most = cut->needs[d].flops > most ? cut->needs[d].flops : most;
    return most;
}

/* Returns whether a later cut is better than an earlier one; earlier cuts are simpler and win
 * ties. */
static bool is_better(const prt_shard_task *task, const prt_shard_cut *cut,
    const prt_shard_cut *than)
{
    if (than->device_of == NULL || cut->fits != than->fits)
        return than->device_of == NULL || cut->fits;
    return cut->fits ? slowest(cut, task->n_devices) < slowest(than, task->n_devices)
                     : cut->needs[cut->worst].bytes < than->needs[than->worst].bytes;
}

static poprt_status find_cut(prt_pass *p, const prt_net *net, prt_shard_cut *cut)
{
    prt_parts parts;
    prt_shard_cut best = { .device_of = NULL };
    uint32_t tried = 0;
    prt_shard_task task = { .p = p,
        .net = net,
        .parts = &parts,
        .n_devices = (uint32_t)prt_pass_i64(p, "num_ipus"),
        .memory = (uint64_t)prt_pass_i64(p, "memory_per_ipu"),
        .balance = prt_pass_bool(p, "optimal_perf") };
    for (prt_parts_by by = PRT_PARTS_JOINS; by <= PRT_PARTS_SINGLE; by++) {
        if (best.fits && !task.balance)
            break;
        PRT_TRY(prt_parts_find(p, net, by, &parts));
        if (parts.count < task.n_devices)
            continue;
        PRT_TRY(prt_shard_search(&task, cut));
        tried += cut->tried;
        if (is_better(&task, cut, &best))
            best = *cut;
    }
    if (best.device_of == NULL)
        return prt_fail(POPRT_E_ARG, "num_ipus",
            "%u devices are more than the %u nodes of the model", task.n_devices, net->n_nodes);
    best.tried = tried;
    *cut = best;
    return best.fits ? POPRT_OK : fail_to_fit(net, cut, task.n_devices, task.memory);
}

static poprt_status mark(prt_pass *p, prt_graph *graph, const prt_net *net,
    const prt_shard_cut *cut)
{
    prt_shard_points list = { 0 };
    prt_shard_point *places = PRT_NEW_N(p->arena, prt_shard_point, net->n_nodes);
    prt_shard_point *points = PRT_NEW_N(p->arena, prt_shard_point, graph->n_ops);
    if (places == NULL || points == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < net->n_nodes; i++)
        places[i] = (prt_shard_point){ net->nodes[i].op, cut->device_of[i], cut->device_of[i] };
    PRT_TRY(prt_shard_points_of(p->arena, net, places, &list));
    for (size_t i = 0; i < list.count; i++)
        points[list.data[i].op->id] = list.data[i];
    return prt_shard_apply(p, graph, points);
}

static void say_needs(const prt_pass *p, const prt_shard_cut *cut, uint32_t n_devices)
{
    for (uint32_t d = 0; d < n_devices; d++) {
        const prt_shard_need *need = &cut->needs[d];
        prt_pass_note(p, NULL,
            "device %u: %u nodes, weights %llu, activations %llu, received %llu bytes, %llu FLOPs",
            d, need->nodes, (unsigned long long)need->weights,
            (unsigned long long)need->activations, (unsigned long long)need->received,
            (unsigned long long)need->flops);
    }
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    const int64_t n = prt_pass_i64(p, "num_ipus");
    prt_net net;
    prt_shard_cut cut;
    bool renamed = false;
    if (n < 2 || n > PRT_SHARD_MAX_DEVICES)
        return prt_fail(POPRT_E_ARG, "num_ipus", "%lld is not a number of devices from 2 to %d",
            (long long)n, PRT_SHARD_MAX_DEVICES);
    if (prt_pass_i64(p, "memory_per_ipu") < 1)
        return prt_fail(POPRT_E_ARG, "memory_per_ipu", "memory_per_ipu must be 1 byte or more");
    PRT_TRY(check_inputs(graph));
    PRT_TRY(prt_pass_run_other(p, "unique_name_for_nodes", &renamed));
    if (renamed)
        prt_pass_warn(p, NULL,
            "nodes without a name of their own got one from unique_name_for_nodes; "
            "sharding points may refer to these names");
    PRT_TRY(prt_net_build(p->arena, graph, &net));
    if (net.unknown != 0)
        prt_pass_warn(p, prt_op_label(net.unknown_from),
            "the memory or FLOPs of %llu nodes, first this one, are underestimated: shapes depend "
            "on "
            "data, or the operator is unknown",
            (unsigned long long)net.unknown);
    *changed = renamed;
    PRT_TRY(find_cut(p, &net, &cut));
    *changed = true;
    PRT_TRY(mark(p, graph, &net, &cut));
    say_needs(p, &cut, (uint32_t)n);
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_auto_sharding = { .run = run };
