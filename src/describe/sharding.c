/* SPDX-License-Identifier: MIT */
/*
 * sharding.c — describes the devices of a sharded model: a comment on each device, then the
 * sharding points as YAML that --manual_sharding_config reads.
 */
#include "describe/describe.h"
#include "base/json.h"
#include "ir/place.h"
#include "pass/shard/points.h"

enum { MAX_DEVICES = 1024 }; /* most devices that are listed */

typedef struct sharding {
    prt_arena *arena;
    prt_net net;
    prt_shard_point *places;  /* sharding point of each node */
    uint32_t *device_of;      /* index into `devices` for each node */
    PRT_VEC(int64_t) devices; /* different devices, ascending */
} sharding;

static poprt_status read_places(sharding *s)
{
    s->places = PRT_NEW_N(s->arena, prt_shard_point, s->net.n_nodes);
    if (s->places == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < s->net.n_nodes; i++) {
        prt_op *op = s->net.nodes[i].op;
        const prt_place *place = prt_op_place(op);
        s->places[i] = (prt_shard_point){ op, place->device, place->stage };
        if (place->device < 0)
            return prt_fail(POPRT_E_STATE, prt_op_label(op),
                "the node has no device (" PRT_MARK_DEVICE "): run the pass auto_sharding or "
                "manual_sharding, which sets the "
                "device of every node");
    }
    return POPRT_OK;
}

/* Returns the index of a device in the sorted list, or the index at which to insert it. */
static size_t find_device(const sharding *s, int64_t device)
{
    size_t low = 0, high = s->devices.count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (s->devices.data[middle] < device)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Lists the different devices. Sets *complete to false if there are more than MAX_DEVICES. */
static poprt_status list_devices(sharding *s, bool *complete)
{
    *complete = true;
    for (uint32_t i = 0; i < s->net.n_nodes; i++) {
        const int64_t device = s->places[i].device;
        const size_t at = find_device(s, device);
        if (at < s->devices.count && s->devices.data[at] == device)
            continue;
        *complete = s->devices.count < MAX_DEVICES;
        if (!*complete)
            return POPRT_OK;
        if (!PRT_VEC_PUSH(s->arena, &s->devices, device))
            return POPRT_E_NOMEM;
        memmove(s->devices.data + at + 1, s->devices.data + at,
            (s->devices.count - 1 - at) * sizeof(device));
        s->devices.data[at] = device;
    }
    s->device_of = PRT_NEW_N(s->arena, uint32_t, s->net.n_nodes);
    if (s->device_of == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < s->net.n_nodes; i++)
        s->device_of[i] = (uint32_t)find_device(s, s->places[i].device);
    return POPRT_OK;
}

static void print_number(prt_sink *sink, const char *before, uint64_t number, const char *behind)
{
    prt_sink_print(sink, "%s", before);
    prt_sink_count(sink, number);
    prt_sink_print(sink, "%s", behind);
}

static poprt_status print_device_needs(const sharding *s, prt_sink *sink)
{
    prt_meter meter;
    PRT_TRY(prt_meter_init(s->arena, &s->net, &meter));
    for (uint32_t d = 0; d < s->devices.count; d++) {
        prt_shard_need need;
        prt_meter_read(&meter, s->device_of, d, &need);
        prt_sink_print(sink, "# device %lld: %u nodes", (long long)s->devices.data[d], need.nodes);
        print_number(sink, ", ", need.bytes, " bytes (");
        print_number(sink, "weights ", need.weights, ", ");
        print_number(sink, "activations ", need.activations, ", ");
        print_number(sink, "received ", need.received, "), ");
        print_number(sink, "", need.flops, " FLOPs\n");
    }
    return POPRT_OK;
}

/* Writes a sharding point. Names are JSON strings, which are also valid YAML. */
static poprt_status print_point(const sharding *s, const prt_shard_point *point, prt_sink *sink)
{
    prt_json_out quoted;
    prt_str name;
    prt_json_out_init(&quoted, s->arena, false);
    prt_json_put_text(&quoted, NULL, point->op->origin);
    PRT_TRY(prt_json_out_finish(&quoted, &name));
    prt_sink_print(sink, "- node: ");
    prt_sink_str(sink, name);
    prt_sink_print(sink, "\n  device: %lld\n", (long long)point->device);
    if (point->stage >= 0)
        prt_sink_print(sink, "  stage: %lld\n", (long long)point->stage);
    return POPRT_OK;
}

poprt_status prt_describe_sharding(const prt_graph *graph, prt_arena *arena, prt_sink *sink)
{
    sharding s = { .arena = arena };
    prt_shard_points points = { 0 };
    bool complete;
    PRT_TRY(prt_net_build(arena, graph, &s.net));
    PRT_TRY(read_places(&s));
    PRT_TRY(prt_shard_points_of(arena, &s.net, s.places, &points));
    PRT_TRY(list_devices(&s, &complete));
    if (complete)
        PRT_TRY(print_device_needs(&s, sink));
    for (size_t i = 0; i < points.count; i++)
        PRT_TRY(print_point(&s, &points.data[i], sink));
    return prt_sink_finish(sink);
}
