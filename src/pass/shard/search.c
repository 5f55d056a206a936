/* SPDX-License-Identifier: MIT */
/*
 * search.c — the first cut, and moves of single sub-graphs away from it.
 *
 * A sub-graph may go to any device between those of what it reads and those of what reads it; so
 * devices never depend on later ones. Of these the one that needs least memory is tried. A cut is
 * kept as the move that made it from another one; the one to go on from is the one whose worst
 * device needs least. A cut is dropped when it is worse than the one it came from, unless it is
 * within NEAR of fitting. Numbers of cuts and of nodes measured are limited.
 */
#include "pass/shard/search.h"

enum {
    MAX_CUTS = 20000,
    MAX_STEPS = 200 * 1000 * 1000, /* a few seconds */
    ENOUGH = 32,                   /* fitting cuts to choose from */
    TRIES = 8,                     /* sub-graphs of a device tried at a time, of each size class */
    BEST = 5,                      /* cuts that are balanced further, */
    KEPT = 3,                      /* and how many cuts each leads to */
    SEEN = 1 << 16
};

/* A tile of 638,976 bytes that would need 641,000 is near enough to go on from. */
#define NEAR (641000.0 / 638976.0)

typedef struct cut {
    uint32_t from;     /* another cut; PRT_NET_NONE: a first one, by FLOPs where `to` is not 0 */
    uint32_t part, to; /* the move */
    uint64_t worst, slowest;
    double deviation; /* sum of squares of FLOPs less their mean */
    bool fits, done;
} cut;

typedef struct move {
    uint32_t part, to;
    double score;
} move;

typedef struct search {
    const prt_shard_task *task;
    prt_meter meter;
    uint32_t *device;    /* of each part, in the cut at hand */
    uint32_t *device_of; /* of each node */
    uint32_t *n_parts;   /* of each device */
    uint64_t *flops;     /* of each device */
    prt_shard_need *needs;
    uint64_t *seen; /* hashes; 0: free */
    uint64_t hash;  /* of the cut at hand */
    double mean;    /* FLOPs of a device */
    uint64_t steps;
    uint32_t max_cuts, fitting;
    PRT_VEC(cut) cuts;
    uint32_t *trail; /* for replaying */
} search;

/* ---- the cut at hand */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void place(search *s, uint32_t part, uint32_t to)
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

static poprt_status measure(search *s, uint32_t device)
{
    s->steps += s->task->net->n_nodes;
    prt_meter_read(&s->meter, s->device_of, device, &s->needs[device]);
    return prt_pass_check(s->task->p);
}

static uint32_t find_worst(const search *s)
{
    uint32_t worst = 0;
    for (uint32_t d = 1; d < s->task->n_devices; d++)
        worst = s->needs[d].bytes > s->needs[worst].bytes ? d : worst;
    return worst;
}

static double deviate(const search *s)
{
    double sum = 0;
    for (uint32_t d = 0; d < s->task->n_devices; d++) {
        const double off = (double)s->flops[d] - s->mean;
        sum += off * off;
    }
    return sum;
}

/* Where the cut at hand is among those that are known, or the free place for it. */
static uint64_t *find_seen(search *s)
{
    const uint64_t key = s->hash != 0 ? s->hash : 1;
    uint64_t i = key % SEEN;
    while (s->seen[i] != key && s->seen[i] != 0)
        i = (i + 1) % SEEN;
    return &s->seen[i];
}

static poprt_status push(search *s, uint32_t from, uint32_t part, uint32_t to)
{
    const uint64_t worst = s->needs[find_worst(s)].bytes;
    cut c = { .from = from,
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

static bool is_spent(const search *s)
{
    return s->cuts.count >= s->max_cuts || s->steps >= MAX_STEPS;
}

/* ---- step 3: the first cut; ours: another one by FLOPs, where those shall be even */

static void cut_first(search *s, bool by_flops)
{
    const prt_parts *parts = s->task->parts;
    const uint32_t n = s->task->n_devices;
    const double share = by_flops ? s->mean : (double)parts->bytes / n;
    double filled = 0;
    uint32_t device = 0;
    for (uint32_t k = 0; k < parts->count; k++) {
        place(s, k, device);
        filled += (double)(by_flops ? parts->part[k].flops : parts->part[k].bytes);
        const uint32_t left = parts->count - k - 1, empty = n - device - 1;
        if (empty != 0 && (filled >= share || left == empty)) {
            device++;
            filled = 0;
        }
    }
}

static poprt_status measure_all(search *s)
{
    for (uint32_t d = 0; d < s->task->n_devices; d++)
        PRT_TRY(measure(s, d));
    return POPRT_OK;
}

static poprt_status start(search *s, bool by_flops)
{
    cut_first(s, by_flops);
    PRT_TRY(measure_all(s));
    return *find_seen(s) == 0 ? push(s, PRT_NET_NONE, 0, by_flops) : POPRT_OK;
}

/* Makes a cut the one at hand and measures it. */
static poprt_status go_to(search *s, uint32_t index)
{
    uint32_t depth = 0, root = index;
    for (; s->cuts.data[root].from != PRT_NET_NONE; root = s->cuts.data[root].from)
        s->trail[depth++] = root;
    cut_first(s, s->cuts.data[root].to != 0);
    while (depth != 0) {
        const cut *c = &s->cuts.data[s->trail[--depth]];
        place(s, c->part, c->to);
    }
    return measure_all(s);
}

/* ---- moves */

/* The devices a part may be on: from what it reads to what reads it. */
static void find_range(const search *s, uint32_t part, uint32_t *low, uint32_t *high)
{
    const prt_parts *parts = s->task->parts;
    const prt_part *it = &parts->part[part];
    *low = 0;
    *high = s->task->n_devices - 1;
    for (uint32_t i = 0; i < it->n_from; i++) {
        const uint32_t d = s->device[parts->from[it->first_from + i]];
        *low = d > *low ? d : *low;
    }
    for (uint32_t i = 0; i < it->n_to; i++) {
        const uint32_t d = s->device[parts->to[it->first_to + i]];
        *high = d < *high ? d : *high;
    }
}

/* Where a part of `from` may go, with the least load (by memory or by FLOPs); else PRT_NET_NONE. */
static uint32_t find_target(search *s, uint32_t part, bool by_flops)
{
    const uint32_t from = s->device[part];
    uint32_t low, high, best = PRT_NET_NONE;
    find_range(s, part, &low, &high);
    for (uint32_t d = low; d <= high; d++) {
        const uint64_t load = by_flops ? s->flops[d] : s->needs[d].bytes;
        if (d != from &&
            (best == PRT_NET_NONE || load < (by_flops ? s->flops[best] : s->needs[best].bytes)))
            best = d;
    }
    s->steps += high - low;
    return s->n_parts[from] > 1 ? best : PRT_NET_NONE;
}

/* Keeps the moves of lowest score, at most `max`, in order. */
static void keep(move *list, uint32_t *count, uint32_t max, move m)
{
    uint32_t at = *count < max ? (*count)++ : max;
    for (; at > 0 && list[at - 1].score > m.score; at--)
        if (at < max)
            list[at] = list[at - 1];
    if (at < max)
        list[at] = m;
}

/* Moves of the worst device's border: the smallest parts that are enough, then the largest of the
 * others. */
static uint32_t list_moves(search *s, uint32_t worst, move moves[2 * TRIES])
{
    const prt_parts *parts = s->task->parts;
    const uint64_t over = s->needs[worst].bytes - s->task->memory;
    uint32_t enough = 0, small = 0;
    move less[TRIES];
    for (uint32_t k = 0; k < parts->count; k++) {
        const uint64_t bytes = parts->part[k].bytes;
        const uint32_t to = s->device[k] == worst ? find_target(s, k, false) : PRT_NET_NONE;
        if (to == PRT_NET_NONE)
            continue;
        if (bytes >= over)
            keep(moves, &enough, TRIES, (move){ k, to, (double)bytes });
        else
            keep(less, &small, TRIES, (move){ k, to, -(double)bytes });
    }
    for (uint32_t i = 0; i < small; i++)
        moves[enough + i] = less[i];
    s->steps += parts->count;
    return enough + small;
}

/* ---- step 4: until all fits */

/* Makes the move's cut one of those that are known, if it is no worse than the one at hand, or
 * where only what fits counts, if it fits. */
static poprt_status try_move(search *s, uint32_t index, move m, bool must_fit)
{
    const uint64_t memory = s->task->memory, before_worst = s->cuts.data[index].worst;
    const uint32_t from = s->device[m.part];
    const prt_shard_need before[2] = { s->needs[from], s->needs[m.to] };
    place(s, m.part, m.to);
    if (*find_seen(s) == 0) {
        PRT_TRY(measure(s, from));
        PRT_TRY(measure(s, m.to));
        const uint64_t worst = s->needs[find_worst(s)].bytes;
        const bool near = worst <= before_worst || (double)worst <= (double)memory * NEAR;
        if (must_fit ? worst <= memory : near)
            PRT_TRY(push(s, index, m.part, m.to));
    }
    place(s, m.part, from);
    s->needs[from] = before[0];
    s->needs[m.to] = before[1];
    return POPRT_OK;
}

static poprt_status expand(search *s, uint32_t index)
{
    move moves[2 * TRIES];
    s->cuts.data[index].done = true;
    PRT_TRY(go_to(s, index));
    const uint32_t count = list_moves(s, find_worst(s), moves);
    for (uint32_t i = 0; i < count && !is_spent(s); i++)
        PRT_TRY(try_move(s, index, moves[i], false));
    return POPRT_OK;
}

static poprt_status relieve(search *s)
{
    while (s->fitting < (s->task->balance ? ENOUGH : 1) && !is_spent(s)) {
        uint32_t next = PRT_NET_NONE;
        for (uint32_t i = 0; i < s->cuts.count; i++) {
            const cut *c = &s->cuts.data[i];
            if (!c->fits && !c->done &&
                (next == PRT_NET_NONE || c->worst < s->cuts.data[next].worst))
                next = i;
        }
        if (next == PRT_NET_NONE)
            break;
        PRT_TRY(expand(s, next));
    }
    return POPRT_OK;
}

/* ---- step 5: until FLOPs are even */

/* The moves that make FLOPs more even, best first; of them at most KEPT that fit become cuts. */
static poprt_status balance(search *s, uint32_t index)
{
    const prt_parts *parts = s->task->parts;
    move moves[2 * TRIES];
    uint32_t count = 0;
    s->cuts.data[index].done = true;
    PRT_TRY(go_to(s, index));
    for (uint32_t k = 0; k < parts->count; k++) {
        const uint32_t from = s->device[k], to = find_target(s, k, true);
        if (to == PRT_NET_NONE)
            continue;
        /* What the sum of squares loses, halved, with the sign of a score. */
        const double by = (double)parts->part[k].flops;
        const double score = by * (by + (double)s->flops[to] - (double)s->flops[from]);
        if (score < 0)
            keep(moves, &count, 2 * TRIES, (move){ k, to, score });
    }
    const size_t before = s->cuts.count;
    for (uint32_t i = 0; i < count && s->cuts.count < before + KEPT && !is_spent(s); i++)
        PRT_TRY(try_move(s, index, moves[i], true));
    return POPRT_OK;
}

/* The fitting cuts with the least deviation, at most BEST. */
static uint32_t list_best(const search *s, move best[BEST])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->cuts.count; i++)
        if (s->cuts.data[i].fits)
            keep(best, &count, BEST, (move){ i, 0, s->cuts.data[i].deviation });
    return count;
}

static poprt_status even_out(search *s)
{
    move best[BEST];
    for (bool again = true; again && !is_spent(s);) {
        const uint32_t count = list_best(s, best);
        again = false;
        for (uint32_t i = 0; i < count && !is_spent(s); i++) {
            if (s->cuts.data[best[i].part].done)
                continue;
            PRT_TRY(balance(s, best[i].part));
            again = true;
        }
    }
    return POPRT_OK;
}

/* ---- all of it */

static bool is_better(const search *s, const cut *a, const cut *b)
{
    if (a->fits != b->fits)
        return a->fits;
    if (!a->fits || !s->task->balance)
        return !a->fits && a->worst < b->worst;
    return a->slowest != b->slowest    ? a->slowest < b->slowest
        : a->deviation != b->deviation ? a->deviation < b->deviation
                                       : a->worst < b->worst;
}

static poprt_status init(search *s)
{
    const prt_shard_task *task = s->task;
    prt_arena *arena = task->p->arena;
    s->device = PRT_NEW_N(arena, uint32_t, task->parts->count);
    s->device_of = PRT_NEW_N(arena, uint32_t, task->net->n_nodes);
    s->n_parts = PRT_NEW_N(arena, uint32_t, task->n_devices);
    s->flops = PRT_NEW_N(arena, uint64_t, task->n_devices);
    s->needs = PRT_NEW_N(arena, prt_shard_need, task->n_devices);
    s->seen = PRT_NEW_N(arena, uint64_t, SEEN);
    s->trail = PRT_NEW_N(arena, uint32_t, MAX_CUTS);
    if (s->device == NULL || s->device_of == NULL || s->n_parts == NULL || s->flops == NULL ||
        s->needs == NULL || s->seen == NULL || s->trail == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t k = 0; k < task->parts->count; k++) {
        s->device[k] = PRT_NET_NONE;
        s->mean += (double)task->parts->part[k].flops / task->n_devices;
    }
    return prt_meter_init(arena, task->net, &s->meter);
}

poprt_status prt_shard_search(const prt_shard_task *task, prt_shard_cut *out)
{
    search s = { .task = task, .max_cuts = MAX_CUTS / 2 };
    uint32_t best = 0;
    PRT_TRY(init(&s));
    PRT_TRY(start(&s, false));
    if (task->balance)
        PRT_TRY(start(&s, true));
    PRT_TRY(relieve(&s));
    if (task->balance) {
        s.steps = 0;
        s.max_cuts = MAX_CUTS;
        PRT_TRY(even_out(&s));
    }
    for (uint32_t i = 1; i < s.cuts.count; i++)
        best = is_better(&s, &s.cuts.data[i], &s.cuts.data[best]) ? i : best;
    PRT_TRY(go_to(&s, best));
    *out = (prt_shard_cut){ .fits = s.cuts.data[best].fits,
        .device_of = s.device_of,
        .needs = s.needs,
        .worst = find_worst(&s),
        .tried = (uint32_t)s.cuts.count };
    return POPRT_OK;
}
