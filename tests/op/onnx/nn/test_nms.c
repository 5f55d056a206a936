/* SPDX-License-Identifier: MIT */
/* test_nms.c — NonMaxSuppression of many boxes against a comparison of all pairs. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check_main.h"
#include "support/op_text.h"

enum { MOST = 150, TEXT = 1 << 16 };

typedef struct sample {
    size_t count;
    float box[MOST][4], score[MOST];
    double iou;
} sample;

static double random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) / (double)(1 << 24);
}

/* Corners are multiples of a quarter, so that their decimal text is exact. */
static sample make_sample(uint64_t seed, double range, double size, bool odd)
{
    sample s = { .count = MOST, .iou = 0.25 };
    uint64_t state = seed;
    for (size_t i = 0; i < s.count; i++) {
        const double y = floor(random_number(&state) * range * 4) / 4;
        const double x = floor(random_number(&state) * range * 4) / 4;
        s.box[i][0] = (float)y;
        s.box[i][1] = (float)x;
        s.box[i][2] = (float)(y + floor(random_number(&state) * size * 4) / 4);
        s.box[i][3] = (float)(x + floor(random_number(&state) * size * 4) / 4);
        s.score[i] = (float)(floor(random_number(&state) * 64) / 64);
    }
    if (odd) {
        s.box[3][1] = NAN;
        s.box[MOST - 1][1] = NAN;
        s.box[40][3] = INFINITY;
        s.box[41][1] = -INFINITY;
        s.box[50][1] = 1e30f;
        s.box[50][3] = 2e30f;
    }
    return s;
}

static bool overlap(const float *a, const float *b, double iou)
{
    const double h = (double)(fminf(fmaxf(a[0], a[2]), fmaxf(b[0], b[2])) -
        fmaxf(fminf(a[0], a[2]), fminf(b[0], b[2])));
    const double w = (double)(fminf(fmaxf(a[1], a[3]), fmaxf(b[1], b[3])) -
        fmaxf(fminf(a[1], a[3]), fminf(b[1], b[3])));
    const double one = (double)(fabsf(a[2] - a[0]) * fabsf(a[3] - a[1]));
    const double two = (double)(fabsf(b[2] - b[0]) * fabsf(b[3] - b[1]));
    for (size_t i = 0; i < 4; i++)
        if (isnan(a[i]) || isnan(b[i]))
            return false;
    return h > 0 && w > 0 && h * w / (one + two - h * w) > iou;
}

/* Returns the expected text of op_value, found by comparing all pairs. */
static const char *expected_text(const sample *s)
{
    static char text[TEXT];
    size_t kept[MOST], n = 0;
    bool eliminated[MOST] = { false };
    for (size_t round = 0; round < s->count; round++) {
        size_t best = MOST;
        for (size_t i = 0; i < s->count; i++)
            if (!eliminated[i] && (best == MOST || s->score[i] > s->score[best]))
                best = i;
        eliminated[best] = true;
        bool free = true;
        for (size_t k = 0; k < n; k++)
            free = free && !overlap(s->box[best], s->box[kept[k]], s->iou);
        if (free)
            kept[n++] = best;
    }
    int at = snprintf(text, sizeof(text), "i64[%zu,3]:", n);
    for (size_t k = 0; k < n; k++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, " 0 0 %zu", kept[k]);
    return text;
}

static const char *run_suppression(const sample *s)
{
    static char text[TEXT];
    int at = snprintf(text, sizeof(text), "b = const f32[1,%zu,4] {", s->count);
    for (size_t i = 0; i < 4 * s->count; i++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%.9g", i != 0 ? "," : "",
            (double)s->box[i / 4][i % 4]);
    at += snprintf(text + at, sizeof(text) - (size_t)at, "}\ns = const f32[1,1,%zu] {", s->count);
    for (size_t i = 0; i < s->count; i++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%.9g", i != 0 ? "," : "",
            (double)s->score[i]);
    (void)snprintf(text + at, sizeof(text) - (size_t)at,
        "}\nm = const i64[] {1000}\ni = const f32[1] {%g}\n"
        "y = non_max_suppression b s m i\nreturn y\n",
        s->iou);
    return op_value(text);
}

START_TEST(results_equal_a_search_of_all_pairs)
{
    static const double forms[][2] = { { 100, 10 }, { 1000, 10 }, { 10, 10 }, { 4, 100 }, { 0, 5 },
        { 3000, 0.5 } };
    for (size_t i = 0; i < 6; i++)
        for (uint64_t seed = 1; seed < 6; seed++) {
            const sample s = make_sample(seed, forms[i][0], forms[i][1], false);
            ck_assert_str_eq(run_suppression(&s), expected_text(&s));
        }
}
END_TEST

START_TEST(special_boxes_equal_a_search_of_all_pairs)
{
    for (uint64_t seed = 1; seed < 6; seed++) {
        const sample s = make_sample(seed, 100, 20, true);
        ck_assert_str_eq(run_suppression(&s), expected_text(&s));
    }
}
END_TEST

PRT_TEST_MAIN("op/nms", results_equal_a_search_of_all_pairs,
    special_boxes_equal_a_search_of_all_pairs)
