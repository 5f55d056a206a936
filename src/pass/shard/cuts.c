/* SPDX-License-Identifier: MIT */
/* cuts.c — moves of parts, measurement of devices, and replay of the moves that lead to a cut. */
#include "pass/shard/cuts.h"

enum { SEEN = 1 << 16 }; /* slots of the hash table; more than PRT_MAX_CUTS */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void prt_cuts_place(prt_cuts *s, uint32_t part, uint32_t to)
{
    const prt_part *it = &s->task->parts->part[part];
    const uint32_t from = s->device[part];
    if (from != PRT_NET_NONE) {
        s->n_parts[from]--;
        s->flops[from] -= it->flops;
        s->hash -= mix((uint64_t)part << 16 | from);
    }
    s->device[part] = to;
    s->n_parts[to]++;
    s->flops[to] += it->flops;
    s->hash += mix((uint64_t)part << 16 | to);
    for (uint32_t i = 0; i < it->n_nodes; i++)
        s->device_of[s->task->parts->node[it->first_node + i]] = to;
}

poprt_status prt_cuts_measure(prt_cuts *s, uint32_t device)
{
    s->steps += s->task->net->n_nodes;
    prt_meter_read(&s->meter, s->device_of, device, &s->needs[device]);
    return prt_pass_check(s->task->p);
}

uint32_t prt_cuts_worst(const prt_cuts *s)
{
    uint32_t worst = 0;
    for (uint32_t d = 1; d < s->task->n_devices; d++)
        worst = s->needs[d].bytes > s->needs[worst].bytes ? d : worst;
    return worst;
}

static double deviate(const prt_cuts *s)
{
    double sum = 0;
    for (uint32_t d = 0; d < s->task->n_devices; d++) {
        const double off = (double)s->flops[d] - s->mean;
        sum += off * off;
    }
    return sum;
}

/* Returns the slot of the current cut in the hash table, or the free slot for it. */
static uint64_t *find_seen(const prt_cuts *s)
{
    const uint64_t key = s->hash != 0 ? s->hash : 1;
    uint64_t i = key % SEEN;
    while (s->seen[i] != key && s->seen[i] != 0)
        i = (i + 1) % SEEN;
    return &s->seen[i];
}

bool prt_cuts_contains(const prt_cuts *s)
{
    return *find_seen(s) != 0;
}

poprt_status prt_cuts_add(prt_cuts *s, uint32_t from, uint32_t part, uint32_t to)
{
    const uint64_t worst = s->needs[prt_cuts_worst(s)].bytes;
    prt_cut c = { .from = from,
        .part = part,
        .to = to,
        .worst = worst,
        .deviation = deviate(s),
        .fits = worst <= s->task->memory };
    for (uint32_t d = 0; d < s->task->n_devices; d++)
        c.slowest = s->flops[d] > c.slowest ? s->flops[d] : c.slowest;
    *find_seen(s) = s->hash != 0 ? s->hash : 1;
    s->fitting += c.fits;
    return PRT_VEC_PUSH(s->task->p->arena, &s->cuts, c) ? POPRT_OK : POPRT_E_NOMEM;
}

static void cut_first(prt_cuts *s, bool by_flops)
{
    const prt_parts *parts = s->task->parts;
    const uint32_t n = s->task->n_devices;
    const double share = by_flops ? s->mean : (double)parts->bytes / n;
    double filled = 0;
    uint32_t device = 0;
    for (uint32_t k = 0; k < parts->count; k++) {
        prt_cuts_place(s, k, device);
        filled += (double)(by_flops ? parts->part[k].flops : parts->part[k].bytes);
        const uint32_t left = parts->count - k - 1, empty = n - device - 1;
        if (empty != 0 && (filled >= share || left == empty)) {
            device++;
            filled = 0;
        }
    }
}

static poprt_status measure_all(prt_cuts *s)
{
    for (uint32_t d = 0; d < s->task->n_devices; d++)
        PRT_TRY(prt_cuts_measure(s, d));
    return POPRT_OK;
}

poprt_status prt_cuts_start(prt_cuts *s, bool by_flops)
{
    cut_first(s, by_flops);
    PRT_TRY(measure_all(s));
    return !prt_cuts_contains(s) ? prt_cuts_add(s, PRT_NET_NONE, 0, by_flops) : POPRT_OK;
}

poprt_status prt_cuts_go_to(prt_cuts *s, uint32_t index)
{
    uint32_t depth = 0, root = index;
    for (; s->cuts.data[root].from != PRT_NET_NONE; root = s->cuts.data[root].from)
        s->trail[depth++] = root;
    cut_first(s, s->cuts.data[root].to != 0);
    while (depth != 0) {
        const prt_cut *c = &s->cuts.data[s->trail[--depth]];
        prt_cuts_place(s, c->part, c->to);
    }
    return measure_all(s);
}

poprt_status prt_cuts_init(const prt_shard_task *task, prt_cuts *s)
{
    prt_arena *arena = task->p->arena;
    *s = (prt_cuts){ .task = task };
    s->device = PRT_NEW_N(arena, uint32_t, task->parts->count);
    s->device_of = PRT_NEW_N(arena, uint32_t, task->net->n_nodes);
    s->n_parts = PRT_NEW_N(arena, uint32_t, task->n_devices);
    s->flops = PRT_NEW_N(arena, uint64_t, task->n_devices);
    s->needs = PRT_NEW_N(arena, prt_shard_need, task->n_devices);
    s->seen = PRT_NEW_N(arena, uint64_t, SEEN);
    s->trail = PRT_NEW_N(arena, uint32_t, PRT_MAX_CUTS);
    if (s->device == NULL || s->device_of == NULL || s->n_parts == NULL || s->flops == NULL ||
        s->needs == NULL || s->seen == NULL || s->trail == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t k = 0; k < task->parts->count; k++) {
        s->device[k] = PRT_NET_NONE;
        s->mean += (double)task->parts->part[k].flops / task->n_devices;
    }
    return prt_meter_init(arena, task->net, &s->meter);
}
