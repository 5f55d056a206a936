/* SPDX-License-Identifier: MIT */
/* test_slide.c — depthwise convolutions of whole rows at every level against sums in double: all
 * taps, strides, widths and paddings around the tiles, whole images and strips, NaN through
 * bounds; nothing but the outputs is written.
 * Covers: level_portable.c, level_avx2.c, level_avx512.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "kern/levels.h"
#include "support/check_main.h"

static const float GUARD = 12345.0f;

typedef struct image {
    size_t high, wide, channels, rows, columns, stride, top, left, out_h, out_w;
    float *x, *w, *bias, *y;
    size_t size; /* of y, without its guard */
} image;

static image make_image(size_t wide, size_t channels, size_t rows, size_t columns, size_t stride,
    size_t left)
{
    image m = { .high = 9,
        .wide = wide,
        .channels = channels,
        .rows = rows,
        .columns = columns,
        .stride = stride,
        .top = rows / 2,
        .left = left };
    m.out_h = (m.high + 2 * m.top - rows) / stride + 1;
    m.out_w = (wide + 2 * left - columns) / stride + 1;
    m.x = random_floats(m.high * wide * channels, 1);
    m.w = random_floats(rows * columns * channels, 2);
    m.bias = random_floats(channels, 3);
    m.size = m.out_h * m.out_w * channels;
    m.y = malloc((m.size + channels) * sizeof(float));
    for (size_t i = 0; i < m.size + channels; i++)
        m.y[i] = GUARD;
    return m;
}

static void free_image(image *m)
{
    free(m->x);
    free(m->w);
    free(m->bias);
    free(m->y);
}

static double expected_value(const image *m, size_t line, size_t at, size_t c)
{
    double sum = (double)m->bias[c];
    for (size_t r = 0; r < m->rows; r++)
        for (size_t k = 0; k < m->columns; k++) {
            const size_t row = line * m->stride + r, column = at * m->stride + k;
            if (row < m->top || row - m->top >= m->high || column < m->left ||
                column - m->left >= m->wide)
                continue;
            const size_t x = ((row - m->top) * m->wide + column - m->left) * m->channels + c;
            sum += (double)m->x[x] * (double)m->w[(r * m->columns + k) * m->channels + c];
        }
    return fmin(1.0, fmax(-1.0, sum));
}

/* Channels [first, first + count) of lines [from, end). `x` holds only these channels, from the
 * first row that the lines need. */
static void run_channels(const prt_kern *kern, const image *m, size_t from, size_t end,
    size_t first, size_t count, const float *x)
{
    const size_t top = from * m->stride, row = top > m->top ? top - m->top : 0;
    const prt_slide s = { .lines = end - from,
        .n = m->out_w,
        .channels = count,
        .x_pitch = count,
        .pitch = m->channels,
        .rows = m->rows,
        .columns = m->columns,
        .stride_h = m->stride,
        .stride_w = m->stride,
        .above = top < m->top ? m->top - top : 0,
        .left = m->left,
        .in_h = m->high - row,
        .in_w = m->wide,
        .x = x + row * m->wide * count,
        .w = m->w + first,
        .bias = m->bias + first,
        .low = -1.0f,
        .high = 1.0f,
        .y = m->y + from * m->out_w * m->channels + first };
    ck_assert(prt_slide_fits(&s));
    kern->slide(&s);
}

static void run_lines(const prt_kern *kern, const image *m, size_t from, size_t end)
{
    run_channels(kern, m, from, end, 0, m->channels, m->x);
}

static void run_channel_halves(const prt_kern *kern, const image *m)
{
    const size_t pixels = m->high * m->wide, half = m->channels / 2;
    float *x = malloc(pixels * m->channels * sizeof(float));
    for (size_t first = 0; first < m->channels; first += half) {
        const size_t left = m->channels - first, count = left < 2 * half ? left : half;
        for (size_t i = 0; i < pixels; i++)
            memcpy(x + i * count, m->x + i * m->channels + first, count * sizeof(float));
        run_channels(kern, m, 0, m->out_h, first, count, x);
        if (count == left)
            break;
    }
    free(x);
}

static void check(const image *m)
{
    for (size_t i = 0; i < m->size; i++) {
        const size_t at = i / m->channels;
        const double w = expected_value(m, at / m->out_w, at % m->out_w, i % m->channels);
        if (!(fabs((double)m->y[i] - w) <= 2e-6 * (double)(m->rows * m->columns)))
            ck_abort_msg("%zu wide, %zu channels, %zux%zu by %zu, left %zu: output %zu is %g, not "
                         "%g",
                m->wide, m->channels, m->rows, m->columns, m->stride, m->left, i, (double)m->y[i],
                w);
    }
    for (size_t i = 0; i < m->channels; i++)
        ck_assert(m->y[m->size + i] == GUARD);
}

static void check_sizes(const prt_kern *kern, size_t channels, size_t rows, size_t columns)
{
    for (size_t stride = 1; stride <= (columns < 7 ? 2 : 1); stride++)
        for (size_t wide = 1; wide <= 19; wide++)
            for (size_t left = 0; left <= columns / 2; left++) {
                if (wide + 2 * left < columns)
                    continue;
                image m = make_image(wide, channels, rows, columns, stride, left);
                run_lines(kern, &m, 0, m.out_h);
                check(&m);
                const size_t cut = m.out_h / 3; /* the same in strips */
                run_lines(kern, &m, 0, cut);
                run_lines(kern, &m, cut, m.out_h);
                check(&m);
                if (channels >= 2 * PRT_SLIDE_CHANNELS) {
                    memset(m.y, 0, m.size * sizeof(float));
                    run_channel_halves(kern, &m);
                    check(&m);
                }
                free_image(&m);
            }
}

START_TEST(rows_equal_sums_in_double)
{
    static const size_t taps[][2] = { { 3, 3 }, { 5, 5 }, { 7, 7 }, { 1, 3 }, { 5, 3 }, { 3, 7 } };
    static const size_t channels[] = { 16, 24, 33 };
    for (int l = 0; l < LEVELS; l++)
        for (size_t t = 0; level(l) != NULL && t < PRT_COUNT_OF(taps); t++)
            for (size_t c = 0; c < PRT_COUNT_OF(channels); c++)
                check_sizes(level(l), channels[c], taps[t][0], taps[t][1]);
}
END_TEST

START_TEST(nan_passes_the_bounds)
{
    for (int l = 0; l < LEVELS; l++) {
        if (level(l) == NULL)
            continue;
        image m = make_image(9, 16, 3, 3, 1, 1);
        m.x[(4 * 9 + 4) * 16 + 5] = NAN;
        run_lines(level(l), &m, 0, m.out_h);
        for (size_t i = 0; i < m.size; i++) {
            const size_t line = i / 16 / 9, at = i / 16 % 9;
            const bool seen = i % 16 == 5 && line >= 3 && line <= 5 && at >= 3 && at <= 5;
            ck_assert_int_eq(isnan(m.y[i]) != 0, seen);
        }
        free_image(&m);
    }
}
END_TEST

START_TEST(unsupported_shapes_do_not_fit)
{
    const prt_slide good = { .n = 4,
        .channels = 16,
        .rows = 3,
        .columns = 3,
        .stride_w = 1,
        .left = 1,
        .in_w = 4 };
    ck_assert(prt_slide_fits(&good));
    prt_slide s = good;
    s.channels = 15;
    ck_assert(!prt_slide_fits(&s));
    s = good;
    s.columns = 4;
    ck_assert(!prt_slide_fits(&s));
    s = good;
    s.stride_w = 3;
    ck_assert(!prt_slide_fits(&s));
    s = (prt_slide){ .n = 4,
        .channels = 16,
        .rows = 7,
        .columns = 7,
        .stride_w = 2,
        .left = 3,
        .in_w = 8 };
    ck_assert(!prt_slide_fits(&s));
    s = good;
    s.left = 2;
    ck_assert(!prt_slide_fits(&s));
    s = good;
    s.in_w = 3; /* two columns of padding at the right */
    ck_assert(!prt_slide_fits(&s));
}
END_TEST

PRT_TEST_MAIN("kern/slide", rows_equal_sums_in_double, nan_passes_the_bounds,
    unsupported_shapes_do_not_fit)
