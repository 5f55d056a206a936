/* SPDX-License-Identifier: MIT */
/*
 * search.c — steps 4 and 5 of auto-sharding: moves of single subgraphs, starting from the initial
 * cut.
 *
 * A subgraph may move to any device between those of its inputs and those of its readers, so that
 * devices never depend on later ones. Of these, the device that needs the least memory is tried.
 * Each cut is stored as the move that made it from another cut. The search continues from the cut
 * whose worst device needs the least. A cut is dropped if it is worse than its predecessor, unless
 * it is within the factor OVERSHOOT of fitting. The numbers of cuts and of measured nodes are
 * bounded.
 */
#include "pass/shard/search.h"

#include "pass/shard/cuts.h"

enum {
    MAX_STEPS = 200 * 1000 * 1000, /* bound on measured nodes: a few seconds */
    ENOUGH = 32,                   /* number of fitting cuts to choose from when balancing */
    /* most subgraphs of a device tried at a time, in each size class */
    TRIES = 8,
    BEST = 5, /* most cuts that are balanced further */
    KEPT = 3  /* most cuts made from each of them */
};

/* Tolerance to continue from a cut that does not fit: a tile of 638,976 bytes that would need
 * 641,000. */
#define OVERSHOOT (641000.0 / 638976.0)

typedef struct move {
    uint32_t part, to;
    double score;
} move;

static bool is_spent(const prt_cuts *s)
{
    return s->cuts.count >= s->max_cuts || s->steps >= MAX_STEPS;
}

/* ---- moves */

/* Returns the range of devices for a part: from its inputs to its readers. */
static void find_range(const prt_cuts *s, uint32_t part, uint32_t *low, uint32_t *high)
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

/* Returns the device in that range with the least load (memory or FLOPs); PRT_NET_NONE if the part
 * cannot move. */
static uint32_t find_target(prt_cuts *s, uint32_t part, bool by_flops)
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

/* Inserts a move into a list sorted by score, which keeps the `max` lowest. */
static void keep(move *list, uint32_t *count, uint32_t max, move m)
{
    uint32_t at = *count < max ? (*count)++ : max;
    for (; at > 0 && list[at - 1].score > m.score; at--)
        if (at < max)
            list[at] = list[at - 1];
    if (at < max)
        list[at] = m;
}

/* Lists moves away from the worst device: the smallest parts that are large enough, then the
 * largest of the others. */
static uint32_t list_moves(prt_cuts *s, uint32_t worst, move moves[2 * TRIES])
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

/* ---- step 4: until all devices fit */

/* Stores the cut after the move if it is no worse than the current one; with `must_fit`, only if it
 * fits. */
static poprt_status try_move(prt_cuts *s, uint32_t index, move m, bool must_fit)
{
    const uint64_t memory = s->task->memory, before_worst = s->cuts.data[index].worst;
    const uint32_t from = s->device[m.part];
    const prt_shard_need before[2] = { s->needs[from], s->needs[m.to] };
    prt_cuts_place(s, m.part, m.to);
    if (!prt_cuts_contains(s)) {
        PRT_TRY(prt_cuts_measure(s, from));
        PRT_TRY(prt_cuts_measure(s, m.to));
        const uint64_t worst = s->needs[prt_cuts_worst(s)].bytes;
        const bool tolerable = worst <= before_worst || (double)worst <= (double)memory * OVERSHOOT;
        if (must_fit ? worst <= memory : tolerable)
            PRT_TRY(prt_cuts_add(s, index, m.part, m.to));
    }
    prt_cuts_place(s, m.part, from);
    s->needs[from] = before[0];
    s->needs[m.to] = before[1];
    return POPRT_OK;
}

static poprt_status expand(prt_cuts *s, uint32_t index)
{
    move moves[2 * TRIES];
    s->cuts.data[index].done = true;
    PRT_TRY(prt_cuts_go_to(s, index));
    const uint32_t count = list_moves(s, prt_cuts_worst(s), moves);
    for (uint32_t i = 0; i < count && !is_spent(s); i++)
        PRT_TRY(try_move(s, index, moves[i], false));
    return POPRT_OK;
}

static poprt_status relieve(prt_cuts *s)
{
    while (s->fitting < (s->task->balance ? ENOUGH : 1) && !is_spent(s)) {
        uint32_t next = PRT_NET_NONE;
        for (uint32_t i = 0; i < s->cuts.count; i++) {
            const prt_cut *c = &s->cuts.data[i];
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

/* ---- step 5: until FLOPs are balanced */

/* Sorts the moves that reduce the deviation of FLOPs, best first; at most KEPT of them that fit
 * become cuts. */
static poprt_status balance(prt_cuts *s, uint32_t index)
{
    const prt_parts *parts = s->task->parts;
    move moves[2 * TRIES];
    uint32_t count = 0;
    s->cuts.data[index].done = true;
    PRT_TRY(prt_cuts_go_to(s, index));
    for (uint32_t k = 0; k < parts->count; k++) {
        const uint32_t from = s->device[k], to = find_target(s, k, true);
        if (to == PRT_NET_NONE)
            continue;
        /* half of the change of the sum of squares: negative is an improvement */
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

/* Lists the fitting cuts with the least deviation, at most BEST. */
static uint32_t list_best(const prt_cuts *s, move best[BEST])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->cuts.count; i++)
        if (s->cuts.data[i].fits)
            keep(best, &count, BEST, (move){ i, 0, s->cuts.data[i].deviation });
    return count;
}

static poprt_status even_out(prt_cuts *s)
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

/* ---- the whole search */

static bool is_better(const prt_cuts *s, const prt_cut *a, const prt_cut *b)
{
    if (a->fits != b->fits)
        return a->fits;
    if (!a->fits || !s->task->balance)
        return !a->fits && a->worst < b->worst;
    return a->slowest != b->slowest    ? a->slowest < b->slowest
        : a->deviation != b->deviation ? a->deviation < b->deviation
                                       : a->worst < b->worst;
}

poprt_status prt_shard_search(const prt_shard_task *task, prt_shard_cut *out)
{
    prt_cuts s;
    uint32_t best = 0;
    PRT_TRY(prt_cuts_init(task, &s));
    s.max_cuts = PRT_MAX_CUTS / 2;
    PRT_TRY(prt_cuts_start(&s, false));
    if (task->balance)
        PRT_TRY(prt_cuts_start(&s, true));
    PRT_TRY(relieve(&s));
    if (task->balance) {
        s.steps = 0;
        s.max_cuts = PRT_MAX_CUTS;
        PRT_TRY(even_out(&s));
    }
    for (uint32_t i = 1; i < s.cuts.count; i++)
        best = is_better(&s, &s.cuts.data[i], &s.cuts.data[best]) ? i : best;
    PRT_TRY(prt_cuts_go_to(&s, best));
    *out = (prt_shard_cut){ .fits = s.cuts.data[best].fits,
        .device_of = s.device_of,
        .needs = s.needs,
        .worst = prt_cuts_worst(&s),
        .tried = (uint32_t)s.cuts.count };
    return POPRT_OK;
}
