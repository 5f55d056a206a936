/* SPDX-License-Identifier: MIT */
/*
 * tune.c — selects a candidate: a cached result, or the winner of several rounds. In every round
 * each candidate runs once with cold caches, so that load of other processes affects all of them. A
 * candidate replaces that of the rule only if it is faster by a margin both in its median and in
 * its minimum.
 */
#include "compiler/tune.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/tune_cache.h"

enum {
    FAST_ROUNDS = 5,   /* rounds of PRT_TUNE_fast */
    FULL_ROUNDS = 9,   /* rounds of PRT_TUNE_full */
    MARGIN_PERCENT = 3 /* time by which a candidate has to beat the rule */
};

static const uint64_t FAST_NS = UINT64_C(2000000000); /* ns spent on a model */
static const double MOST_WORK = 2e11; /* multiplications; seconds a run on one thread */

struct prt_tune {
    prt_tune_options options;
    prt_arena *arena;
    prt_tune_cache cache;
    prt_chooser chooser;
    uint64_t spent;
    bool found; /* there are results that the file lacks */
};

static bool is_full(const prt_tune *t)
{
    return t->options.mode == PRT_TUNE_full;
}

static bool must_stop(const prt_tune *t)
{
    return (t->options.cancelled != NULL && t->options.cancelled(t->options.user)) ||
        (!is_full(t) && t->spent >= FAST_NS);
}

static void write_log(const prt_tune *t, bool warning, const char *text)
{
    if (t->options.log != NULL)
        t->options.log(t->options.user, warning, text);
}

/* ---- rounds ---- */

typedef struct times {
    uint32_t n;
    uint64_t ns[PRT_CANDIDATES_MAX][FULL_ROUNDS];
} times;

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Times all candidates. Returns false when it is stopped or refused. */
static bool measure(prt_tune *t, const prt_candidates *c, times *all)
{
    const prt_tune_watch *w = t->options.watch;
    const uint32_t rounds = is_full(t) ? FULL_ROUNDS : FAST_ROUNDS;
    if (w->begin(w->user, c) != POPRT_OK)
        return false;
    for (; all->n < rounds; all->n++)
        for (uint32_t i = 0; i < c->n_candidates; i++) {
            const uint32_t candidate = all->n % 2 == 0 ? i : c->n_candidates - 1 - i;
            prt_tune_sample lap = { 0 };
            if (must_stop(t) || w->run(w->user, candidate, &lap) != POPRT_OK)
                return false;
            all->ns[candidate][all->n] = lap.ns;
            t->spent += lap.cost;
        }
    for (uint32_t i = 0; i < c->n_candidates; i++)
        qsort(all->ns[i], all->n, sizeof(all->ns[i][0]), by_size);
    return true;
}

static bool is_faster(const times *all, uint32_t candidate, uint32_t over)
{
    const uint32_t places[2] = { 0, all->n / 2 };
    for (uint32_t i = 0; i < 2; i++)
        if ((double)all->ns[candidate][places[i]] * (100 + MARGIN_PERCENT) >=
            (double)all->ns[over][places[i]] * 100)
            return false;
    return true;
}

static uint32_t winner(const prt_candidates *c, const times *all)
{
    uint32_t best = c->rule;
    for (uint32_t i = 0; i < c->n_candidates; i++) {
        const bool beats_rule = i != c->rule && is_faster(all, i, c->rule);
        if (beats_rule && (best == c->rule || all->ns[i][all->n / 2] < all->ns[best][all->n / 2]))
            best = i;
    }
    return best;
}

/* ---- choosing ---- */

static void report(const prt_tune *t, const prt_candidates *c, const times *all, uint32_t candidate)
{
    char text[512];
    int n = snprintf(text, sizeof(text), "tune: %.*s: %s", PRT_STR_ARG(c->label),
        c->list[candidate].name);
    if (candidate != c->rule && n > 0 && (size_t)n < sizeof(text))
        n += snprintf(text + n, sizeof(text) - (size_t)n, " instead of %s", c->list[c->rule].name);
    for (uint32_t i = 0; all != NULL && i < c->n_candidates && n > 0 && (size_t)n < sizeof(text);
         i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%s %.3f ms", i == 0 ? " (" : ", ",
            c->list[i].name, (double)all->ns[i][all->n / 2] * 1e-6);
    if (all != NULL && n > 0 && (size_t)n < sizeof(text))
        (void)snprintf(text + n, sizeof(text) - (size_t)n, ") %s", c->key);
    write_log(t, false, text);
}

/* Finds a cached result that was tuned at least as carefully. */
static bool is_known(const prt_tune *t, const prt_candidates *c, uint32_t *candidate)
{
    const prt_tune_entry *e = prt_tune_cache_find(&t->cache, t->options.machine, c->key);
    if (e == NULL || (is_full(t) && !prt_str_is(e->mode, "full")))
        return false;
    for (*candidate = 0; *candidate < c->n_candidates; (*candidate)++)
        if (prt_str_is(e->candidate, c->list[*candidate].name))
            return true;
    return false;
}

static uint32_t choose(void *user, const prt_candidates *c)
{
    prt_tune *t = user;
    const prt_tune_watch *w = t->options.watch;
    times all = { 0 };
    uint32_t candidate;
    if (strlen(c->key) + 1 >= sizeof(c->key)) /* the key was cut off */
        return c->rule;
    if (is_known(t, c, &candidate)) {
        if (candidate != c->rule)
            report(t, c, NULL, candidate);
        return candidate;
    }
    if ((!c->close && !is_full(t)) || c->work > MOST_WORK || must_stop(t))
        return c->rule;
    const bool done = measure(t, c, &all);
    w->end(w->user);
    if (!done)
        return c->rule;
    candidate = winner(c, &all);
    report(t, c, &all, candidate);
    /* Without memory for the result it is measured again next time. */
    if (prt_tune_cache_set(&t->cache, t->options.machine, is_full(t) ? "full" : "fast", c->key,
            c->list[candidate].name) == POPRT_OK)
        t->found = true;
    return candidate;
}

/* ---- the cache file ---- */

/* Warns of the last failure, which has no further consequence. */
static void warn_about_cache(const prt_tune *t, const char *what)
{
    char text[512];
    (void)snprintf(text, sizeof(text), "tune_cache: %.200s %s: %.200s", t->options.cache, what,
        prt_error_last()->message);
    write_log(t, true, text);
}

static void read_cache(prt_tune *t)
{
    char text[512];
    if (t->options.cache[0] == '\0')
        return;
    if (prt_tune_cache_read(&t->cache, t->options.cache) != POPRT_OK)
        warn_about_cache(t, "cannot be read");
    if (t->cache.foreign) {
        (void)snprintf(text, sizeof(text),
            "tune_cache: %.300s is not a tune cache, or too long; it is neither read nor written",
            t->options.cache);
        write_log(t, true, text);
    }
    if (t->cache.ignored != 0) {
        (void)snprintf(text, sizeof(text), "tune_cache: %.300s: %zu lines make no sense",
            t->options.cache, t->cache.ignored);
        write_log(t, true, text);
    }
}

poprt_status prt_tune_create(const prt_tune_options *options, prt_tune **out)
{
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(options->allocator, 0, &arena));
    prt_tune *t = PRT_NEW(arena, prt_tune);
    if (t == NULL) {
        prt_arena_release(arena);
        return POPRT_E_NOMEM;
    }
    t->options = *options;
    t->options.machine = prt_arena_text(arena, options->machine, strlen(options->machine));
    t->options.cache = prt_arena_text(arena, options->cache, strlen(options->cache));
    if (t->options.machine == NULL || t->options.cache == NULL) {
        prt_arena_release(arena);
        return POPRT_E_NOMEM;
    }
    t->arena = arena;
    t->cache.arena = arena;
    t->chooser = (prt_chooser){ .user = t, .choose = choose };
    read_cache(t);
    *out = t;
    return POPRT_OK;
}

void prt_tune_release(prt_tune *tune)
{
    if (tune != NULL)
        prt_arena_release(tune->arena);
}

const prt_chooser *prt_tune_chooser(prt_tune *tune)
{
    return &tune->chooser;
}

void prt_tune_save(prt_tune *tune)
{
    if (tune->found && tune->options.cache[0] != '\0' && !tune->cache.foreign &&
        prt_tune_cache_write(&tune->cache, tune->options.cache) != POPRT_OK)
        warn_about_cache(tune, "cannot be written");
}
