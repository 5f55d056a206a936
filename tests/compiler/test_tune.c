/* SPDX-License-Identifier: MIT */
/*
 * test_tune.c — the choice of the tuner with a simulated clock, and the real clock.
 * Covers: tune_watch.c.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "base/status.h"
#include "compiler/tune.h"
#include "op/words.h"
#include "support/check_main.h"

enum { MS = 1000000 };

/* Times of the candidates, and counts of the calls. */
typedef struct script {
    uint64_t ns[2], cost;
    uint64_t best; /* of candidate 1 in its second round; 0: as in all rounds */
    uint32_t begun, runs, ended, rounds[2];
    uint32_t stop_after; /* runs; 0: never */
    poprt_status fails;
    bool fails_at_once;
    uint32_t infos, warnings;
} script;

static poprt_status begin_timing(void *user, const prt_candidates *c)
{
    script *s = user;
    (void)c;
    s->begun++;
    s->rounds[0] = s->rounds[1] = 0;
    return s->fails_at_once ? s->fails : POPRT_OK;
}

static poprt_status run(void *user, uint32_t candidate, prt_tune_sample *lap)
{
    script *s = user;
    const bool other = candidate == 1 && s->best != 0 && s->rounds[1] == 1;
    s->rounds[candidate]++;
    s->runs++;
    *lap = (prt_tune_sample){ .ns = other ? s->best : s->ns[candidate], .cost = s->cost };
    return s->fails_at_once ? POPRT_OK : s->fails;
}

static void end_timing(void *user)
{
    ((script *)user)->ended++;
}

static bool cancelled(void *user)
{
    const script *s = user;
    return s->stop_after != 0 && s->runs >= s->stop_after;
}

static void count_note(void *user, bool warning, const char *text)
{
    script *s = user;
    ck_assert_uint_gt(strlen(text), 0);
    *(warning ? &s->warnings : &s->infos) += 1;
}

static prt_candidates two_candidates(const char *key, bool close)
{
    prt_candidates c = { .label = PRT_STR("node"), .n_candidates = 2, .rule = 0, .close = close };
    (void)snprintf(c.key, sizeof(c.key), "%s", key);
    c.list[0].name = "panels";
    c.list[1].name = "winograd";
    return c;
}

typedef struct tuner {
    prt_tune_watch watch;
    prt_tune *tune;
} tuner;

static void open_tuner(tuner *t, script *s, prt_tune_mode mode, const char *machine,
    const char *path)
{
    t->watch = (prt_tune_watch){ .user = s, .begin = begin_timing, .run = run, .end = end_timing };
    const prt_tune_options options = { .mode = mode,
        .machine = machine,
        .cache = path,
        .watch = &t->watch,
        .cancelled = cancelled,
        .log = count_note,
        .user = s };
    ck_assert_int_eq(prt_tune_create(&options, &t->tune), POPRT_OK);
}

static uint32_t choose(const tuner *t, const prt_candidates *c)
{
    const prt_chooser *chooser = prt_tune_chooser(t->tune);
    return chooser->choose(chooser->user, c);
}

static uint32_t choose_once(script *s, prt_tune_mode mode, bool close)
{
    tuner t;
    const prt_candidates c = two_candidates("k", close);
    open_tuner(&t, s, mode, "m", "");
    const uint32_t candidate = choose(&t, &c);
    prt_tune_release(t.tune);
    return candidate;
}

START_TEST(the_faster_candidate_wins_by_a_margin)
{
    script slower = { .ns = { 100, 101 } }, same = { .ns = { 100, 100 } };
    script little = { .ns = { 100, 98 } }, much = { .ns = { 100, 96 } };
    ck_assert_uint_eq(choose_once(&slower, PRT_TUNE_full, false), 0);
    ck_assert_uint_eq(choose_once(&same, PRT_TUNE_full, false), 0);
    ck_assert_uint_eq(choose_once(&little, PRT_TUNE_full, false), 0);
    ck_assert_uint_eq(choose_once(&much, PRT_TUNE_full, false), 1);
    ck_assert_uint_eq(much.begun, 1);
    ck_assert_uint_eq(much.ended, 1);
    ck_assert_uint_eq(much.rounds[0], much.rounds[1]);
    ck_assert_uint_ge(much.rounds[0], 5);
    ck_assert_uint_eq(much.infos, 1);
}
END_TEST

/* A better best round alone, or a better median alone, is not enough. */
START_TEST(one_lucky_round_does_not_win)
{
    script once = { .ns = { 100, 102 }, .best = 50 };
    ck_assert_uint_eq(choose_once(&once, PRT_TUNE_full, false), 0);
    script noisy = { .ns = { 100, 100 }, .best = 99 };
    ck_assert_uint_eq(choose_once(&noisy, PRT_TUNE_full, false), 0);
}
END_TEST

START_TEST(fast_mode_times_close_candidates_only)
{
    script far = { .ns = { 100, 50 } }, borderline = { .ns = { 100, 50 } };
    ck_assert_uint_eq(choose_once(&far, PRT_TUNE_fast, false), 0);
    ck_assert_uint_eq(far.begun, 0);
    ck_assert_uint_eq(choose_once(&borderline, PRT_TUNE_fast, true), 1);
}
END_TEST

START_TEST(fast_mode_ends_after_two_seconds)
{
    script s = { .ns = { 100, 50 }, .cost = 150 * MS };
    tuner t;
    const prt_candidates one = two_candidates("one", true), two = two_candidates("two", true),
                         three = two_candidates("three", true);
    open_tuner(&t, &s, PRT_TUNE_fast, "m", "");
    ck_assert_uint_eq(choose(&t, &one), 1);
    ck_assert_uint_eq(choose(&t, &two), 0); /* in the middle of the timing */
    ck_assert_uint_eq(choose(&t, &three), 0);
    ck_assert_uint_eq(s.begun, 2);
    ck_assert_uint_eq(s.ended, 2);
    ck_assert_uint_le(s.runs, 14);
    ck_assert_uint_eq(choose(&t, &one), 1); /* known results are kept */
    prt_tune_release(t.tune);
    script full = { .ns = { 100, 50 }, .cost = 1500 * (uint64_t)MS };
    ck_assert_uint_eq(choose_once(&full, PRT_TUNE_full, false), 1);
}
END_TEST

START_TEST(cancelled_tuning_falls_back_to_the_rule)
{
    script s = { .ns = { 100, 50 }, .stop_after = 3 };
    ck_assert_uint_eq(choose_once(&s, PRT_TUNE_full, false), 0);
    ck_assert_uint_eq(s.runs, 3);
    ck_assert_uint_eq(s.ended, 1);
}
END_TEST

START_TEST(untimed_candidates_fall_back_to_the_rule)
{
    script begins = { .ns = { 100, 50 }, .fails = POPRT_E_NOMEM, .fails_at_once = true };
    script runs = { .ns = { 100, 50 }, .fails = POPRT_E_UNSUPPORTED };
    ck_assert_uint_eq(choose_once(&begins, PRT_TUNE_full, true), 0);
    ck_assert_uint_eq(begins.ended, 1);
    ck_assert_uint_eq(choose_once(&runs, PRT_TUNE_full, true), 0);
    ck_assert_uint_eq(runs.ended, 1);
    script large = { .ns = { 100, 50 } };
    tuner t;
    prt_candidates c = two_candidates("k", true);
    open_tuner(&t, &large, PRT_TUNE_full, "m", "");
    c.work = 1e15;
    ck_assert_uint_eq(choose(&t, &c), 0);
    c.work = 0;
    memset(c.key, 'k', sizeof(c.key) - 1); /* may have been cut off, so it is not used */
    ck_assert_uint_eq(choose(&t, &c), 0);
    ck_assert_uint_eq(large.begun, 0);
    prt_tune_release(t.tune);
}
END_TEST

/* ---- with a file ---- */

static uint32_t choose_with(script *s, prt_tune_mode mode, const char *machine, const char *path)
{
    tuner t;
    const prt_candidates c = two_candidates("k", true);
    open_tuner(&t, s, mode, machine, path);
    const uint32_t candidate = choose(&t, &c);
    ck_assert_uint_eq(choose(&t, &c), candidate); /* timed once */
    prt_tune_save(t.tune);
    prt_tune_release(t.tune);
    return candidate;
}

START_TEST(results_are_read_from_the_cache)
{
    char path[] = "/tmp/poprt-tune-XXXXXX";
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    (void)close(fd);
    script first = { .ns = { 100, 50 } }, again = { .ns = { 50, 100 } };
    script careful = again, other = again, last = { .ns = { 100, 50 } };
    ck_assert_uint_eq(choose_with(&first, PRT_TUNE_fast, "m", path), 1);
    ck_assert_uint_eq(first.begun, 1);
    ck_assert_uint_eq(choose_with(&again, PRT_TUNE_fast, "m", path), 1);
    ck_assert_uint_eq(again.begun, 0);
    ck_assert_uint_eq(choose_with(&other, PRT_TUNE_fast, "another", path), 0);
    ck_assert_uint_eq(other.begun, 1);
    ck_assert_uint_eq(choose_with(&careful, PRT_TUNE_full, "m", path), 0);
    ck_assert_uint_eq(careful.begun, 1); /* whose timing the fast mode does not reuse */
    ck_assert_uint_eq(choose_with(&last, PRT_TUNE_fast, "m", path), 0);
    ck_assert_uint_eq(last.begun, 0); /* the full mode reuses it */
    ck_assert_uint_eq(first.warnings + again.warnings + last.warnings, 0);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(unknown_candidates_are_timed_again)
{
    char path[] = "/tmp/poprt-tune-XXXXXX";
    const int fd = mkstemp(path);
    static const char text[] = "poprt tune cache 1\nm " POPRT_VERSION_STRING " full k taps\nx\n";
    ck_assert_int_eq(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    (void)close(fd);
    script s = { .ns = { 100, 50 } }, again = s;
    ck_assert_uint_eq(choose_with(&s, PRT_TUNE_full, "m", path), 1);
    ck_assert_uint_eq(s.begun, 1);
    ck_assert_uint_eq(s.warnings, 1);
    ck_assert_uint_eq(choose_with(&again, PRT_TUNE_full, "m", path), 1);
    ck_assert_uint_eq(again.begun, 0);
    ck_assert_uint_eq(again.warnings, 0);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(an_unusable_file_gives_a_warning)
{
    script s = { .ns = { 100, 50 } };
    ck_assert_uint_eq(choose_with(&s, PRT_TUNE_full, "m", "/nowhere/at/all"), 1);
    ck_assert_uint_eq(s.warnings, 1);
    script folder = { .ns = { 100, 50 } };
    ck_assert_uint_eq(choose_with(&folder, PRT_TUNE_full, "m", "/tmp"), 1);
    ck_assert_uint_ge(folder.warnings, 1);
}
END_TEST

/* ---- the real clock ---- */

START_TEST(the_real_clock_measures_time)
{
    prt_nhwc_conv_attrs panels = PRT_ATTRS_OF(nhwc_conv);
    static const int64_t three[2] = { 3, 3 }, ones[4] = { 1, 1, 1, 1 };
    const int64_t x[4] = { 1, 9, 10, 16 }, w[2] = { 9 * 16 * 32, 36 * 16 * 32 }, bias = 32;
    const prt_par par = { .width = 1 };
    PRT_ATTR_SET(panels, nhwc_conv, channels, 16);
    PRT_ATTR_SET(panels, nhwc_conv, filters, 32);
    PRT_ATTR_SET(panels, nhwc_conv, kernel_shape, ((prt_i64s){ three, 2 }));
    PRT_ATTR_SET(panels, nhwc_conv, pads, ((prt_i64s){ ones, 4 }));
    PRT_ATTR_SET(panels, nhwc_conv, form, PRT_NHWC_panels);
    prt_nhwc_conv_attrs winograd = panels;
    winograd.form = PRT_NHWC_winograd;
    winograd.transformed = 1;
    prt_candidates c = two_candidates("k", true);
    for (uint32_t i = 0; i < 2; i++) {
        prt_candidate_step *s = &c.list[i].steps[0];
        *s = (prt_candidate_step){ .op = PRT_OP_nhwc_conv,
            .attrs = i == 0 ? &panels : &winograd,
            .n_in = 3 };
        c.list[i].n_steps = 1;
        ck_assert(prt_tensor_init(&s->in[0], PRT_DTYPE_f32, 4, x, NULL));
        ck_assert(prt_tensor_init(&s->in[1], PRT_DTYPE_f32, 1, &w[i], NULL));
        ck_assert(prt_tensor_init(&s->in[2], PRT_DTYPE_f32, 1, &bias, NULL));
    }
    prt_tune_watch *watch = NULL;
    ck_assert_int_eq(prt_tune_watch_create(&prt_mem_libc, 0, &par, &watch), POPRT_OK);
    for (uint32_t k = 0; k < 3; k++) {
        ck_assert_int_eq(watch->begin(watch->user, &c), POPRT_OK);
        for (uint32_t i = 0; i < 6; i++) {
            prt_tune_sample lap = { 0 };
            ck_assert_int_eq(watch->run(watch->user, i % 2, &lap), POPRT_OK);
            ck_assert_uint_gt(lap.ns, 0);
            ck_assert_uint_ge(lap.cost, lap.ns);
        }
        watch->end(watch->user);
    }
    c.list[1].steps[0].in[1].dims[0]--; /* weights that do not fit */
    ck_assert_int_ne(watch->begin(watch->user, &c), POPRT_OK);
    watch->end(watch->user);
    prt_tune_watch_release(watch);
    ck_assert_int_eq(prt_tune_watch_create(&prt_mem_libc, 1 << 20, &par, &watch), POPRT_OK);
    ck_assert_int_eq(watch->begin(watch->user, &c), POPRT_E_LIMIT);
    prt_tune_watch_release(watch);
}
END_TEST

PRT_TEST_MAIN("compiler/tune", the_faster_candidate_wins_by_a_margin, one_lucky_round_does_not_win,
    fast_mode_times_close_candidates_only, fast_mode_ends_after_two_seconds,
    cancelled_tuning_falls_back_to_the_rule, untimed_candidates_fall_back_to_the_rule,
    results_are_read_from_the_cache, unknown_candidates_are_timed_again,
    an_unusable_file_gives_a_warning, the_real_clock_measures_time)
