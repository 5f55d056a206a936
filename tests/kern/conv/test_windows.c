/* SPDX-License-Identifier: MIT */
/* test_windows.c — depthwise convolutions and pools at every level against sums in double: all
 * counts of channels and outputs around the tiles, strides, bounds, NaN; nothing else is
 * written.
 * Covers: level_portable.c, level_avx2.c, level_avx512.c. */
#include <math.h>

#include "base/status.h"
#include "kern/levels.h"
#include "support/check_main.h"

static const float GUARD = 12345.0f;

/* Outputs [lines, n] of windows `step` apart; the image is exactly as large as the windows need. */
typedef struct shape {
    size_t lines, n, channels, rows, columns, step, dilation;
} shape;

typedef struct problem {
    prt_windows d;
    shape s;
    size_t pitch;      /* floats from one output to the next */
    size_t wide, size; /* floats of y, and a guard of the same size behind each line */
    float *x, *w, *bias, *y;
} problem;

static problem make_problem(const shape *s, bool bias)
{
    problem p = { .s = *s };
    const size_t high = (s->lines - 1) * s->step + (s->rows - 1) * s->dilation + 1;
    p.wide = (s->n - 1) * s->step + (s->columns - 1) * s->dilation + 1;
    p.x = random_floats(high * p.wide * s->channels, 1);
    p.w = random_floats(s->rows * s->columns * s->channels, 2);
    p.bias = random_floats(s->channels, 3);
    p.pitch = s->channels + s->n % 2 * 3;
    p.size = s->lines * (s->n + 1) * p.pitch;
    p.y = malloc(p.size * sizeof(float));
    for (size_t i = 0; i < p.size; i++)
        p.y[i] = GUARD;
    p.d = (prt_windows){ .lines = s->lines,
        .n = s->n,
        .channels = s->channels,
        .rows = s->rows,
        .columns = s->columns,
        .x = p.x,
        .x_line = s->step * p.wide * s->channels,
        .x_step = s->step * s->channels,
        .x_row = s->dilation * p.wide * s->channels,
        .x_column = s->dilation * s->channels,
        .y = p.y,
        .y_line = (s->n + 1) * p.pitch,
        .y_step = p.pitch,
        .w = p.w,
        .w_row = s->columns * s->channels,
        .bias = bias ? p.bias : NULL,
        .low = -INFINITY,
        .high = INFINITY,
        .scale = 0.125f };
    return p;
}

static void free_problem(problem *p)
{
    free(p->x);
    free(p->w);
    free(p->bias);
    free(p->y);
}

typedef enum kind { DEPTHWISE, LARGEST, MEAN } kind;

static double expected_value(const problem *p, kind k, size_t line, size_t i, size_t c)
{
    const shape *s = &p->s;
    double sum = k == DEPTHWISE && p->d.bias != NULL ? (double)p->bias[c] : 0.0;
    if (k == LARGEST)
        sum = -(double)INFINITY;
    for (size_t r = 0; r < s->rows; r++)
        for (size_t t = 0; t < s->columns; t++) {
            const size_t y = line * s->step + r * s->dilation, x = i * s->step + t * s->dilation;
            const double v = (double)p->x[(y * p->wide + x) * s->channels + c];
            if (k == DEPTHWISE)
                sum += v * (double)p->w[(r * s->columns + t) * s->channels + c];
            else if (k == MEAN)
                sum += v;
            else
                sum = isnan(v) || isnan(sum) ? (double)NAN : fmax(sum, v);
        }
    if (k == MEAN)
        return sum * 0.125;
    if (k == LARGEST || isnan(sum))
        return sum;
    return fmin((double)p->d.high, fmax((double)p->d.low, sum));
}

static void run_windows(const prt_kern *kern, problem *p, kind k)
{
    const shape *s = &p->s;
    size_t wrong = 0;
    (k == DEPTHWISE     ? kern->windows.depthwise
            : k == MEAN ? kern->windows.mean
                        : kern->windows.max)(&p->d);
    for (size_t i = 0; i < p->size; i++) {
        const size_t c = i % p->pitch, at = i / p->pitch % (s->n + 1);
        const double got = (double)p->y[i];
        if (at == s->n || c >= s->channels) {
            wrong += p->y[i] != GUARD;
            continue;
        }
        const double right = expected_value(p, k, i / p->pitch / (s->n + 1), at, c);
        const bool same = isnan(right)     ? isnan(got)
            : isinf(right) || k == LARGEST ? got == right
                                           : fabs(got - right) <= 1e-5 * (1.0 + fabs(right));
        wrong += !same;
    }
    ck_assert_msg(wrong == 0,
        "%s: kind %d: %zu wrong of %zux%zux%zu, %zux%zu taps, step %zu, "
        "dilation %zu",
        kern->level, (int)k, wrong, s->lines, s->n, s->channels, s->rows, s->columns, s->step,
        s->dilation);
}

static void check(const shape *s, bool bias)
{
    for (int l = 0; l < LEVELS; l++)
        for (int k = 0; level(l) != NULL && k < 3; k++) {
            problem p = make_problem(s, bias);
            if (s->n % 3 == 0) {
                p.d.low = -0.5f;
                p.d.high = 0.75f;
            }
            run_windows(level(l), &p, (kind)k);
            free_problem(&p);
        }
}

START_TEST(every_channel_count_equals_sums_in_double)
{
    static const size_t taps[][2] = { { 3, 3 }, { 5, 5 }, { 1, 1 }, { 2, 3 }, { 3, 7 }, { 1, 5 } };
    for (size_t c = 1; c <= 70; c++)
        for (size_t t = 0; t < PRT_COUNT_OF(taps); t++) {
            const shape s = { .lines = 1 + c % 3,
                .n = 1 + (c * 7 + t) % 15,
                .channels = c,
                .rows = taps[t][0],
                .columns = taps[t][1],
                .step = 1 + (c + t) % 3,
                .dilation = c % 5 == 0 ? 2 : 1 };
            check(&s, c % 2 == 0);
        }
}
END_TEST

START_TEST(every_output_count_equals_sums_in_double)
{
    static const size_t channels[] = { 3, 8, 16, 37, 64 };
    for (size_t n = 1; n <= 30; n++)
        for (size_t c = 0; c < PRT_COUNT_OF(channels); c++)
            for (size_t columns = 3; columns <= 5; columns++) {
                const shape s = { .lines = n % 4 + 1,
                    .n = n,
                    .channels = channels[c],
                    .rows = 3,
                    .columns = columns,
                    .step = n % 7 == 0 ? 2 : 1,
                    .dilation = 1 };
                check(&s, n % 2 == 0);
            }
}
END_TEST

/* NaN appears in the outputs whose windows hold the special input, and in no other output. */
START_TEST(nan_and_infinity_stay_in_their_windows)
{
    static const size_t channels[] = { 1, 7, 8, 16, 21, 40, 67 };
    for (int l = 0; l < LEVELS; l++)
        for (size_t c = 0; level(l) != NULL && c < PRT_COUNT_OF(channels); c++)
            for (int k = 0; k < 3; k++) {
                const shape s = { .lines = 2,
                    .n = 9,
                    .channels = channels[c],
                    .rows = 3,
                    .columns = 3,
                    .step = 1,
                    .dilation = 1 };
                problem p = make_problem(&s, true);
                p.x[(p.wide + 3) * channels[c] + channels[c] / 2] = NAN;
                p.x[(2 * p.wide + 7) * channels[c]] = k == DEPTHWISE ? NAN : INFINITY;
                p.d.low = -0.25f;
                p.d.high = 0.25f;
                run_windows(level(l), &p, (kind)k);
                free_problem(&p);
            }
}
END_TEST

/* Rows that are closer together than the taps of a row reach. */
START_TEST(overlapping_rows_equal_sums_in_double)
{
    for (int l = 0; l < LEVELS; l++)
        for (int k = 0; level(l) != NULL && k < 3; k++) {
            const shape s = { .lines = 1,
                .n = 1,
                .channels = 5,
                .rows = 1,
                .columns = 4,
                .step = 1,
                .dilation = 3 };
            problem p = make_problem(&s, true);
            run_windows(level(l), &p, (kind)k);
            p.d.rows = 2; /* both rows are the same */
            p.d.x_row = 0;
            p.d.w_row = 0;
            float once[5];
            memcpy(once, p.y, sizeof(once));
            const prt_kern_windows *w = &level(l)->windows;
            (k == DEPTHWISE ? w->depthwise : k == MEAN ? w->mean : w->max)(&p.d);
            for (size_t c = 0; c < 5 && k == MEAN; c++)
                ck_assert(fabsf(p.y[c] - 2.0f * once[c]) < 1e-6f);
            free_problem(&p);
        }
}
END_TEST

START_TEST(windows_without_taps_are_accepted)
{
    for (int l = 0; l < LEVELS; l++)
        for (int k = 0; level(l) != NULL && k < 3; k++) {
            const shape s = { .lines = 1,
                .n = 3,
                .channels = 19,
                .rows = 1,
                .columns = 3,
                .step = 1,
                .dilation = 1 };
            problem p = make_problem(&s, true);
            p.s.rows = p.d.rows = 0;
            run_windows(level(l), &p, (kind)k);
            free_problem(&p);
        }
}
END_TEST

PRT_TEST_MAIN("kern/windows", every_channel_count_equals_sums_in_double,
    every_output_count_equals_sums_in_double, nan_and_infinity_stay_in_their_windows,
    overlapping_rows_equal_sums_in_double, windows_without_taps_are_accepted)
