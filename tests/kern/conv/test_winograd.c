/* SPDX-License-Identifier: MIT */
/* test_winograd.c — the transforms of F(4x4, 3x3), F(2x2, 3x3), F(2x2, 5x5) and F(6x6, 3x3) at
 * every level that has them, against the matrices that define them, in double; and bounds,
 * residuals and tiles cut at the border. For strides of two and for lines, all three transforms
 * together.
 * Covers: level_avx2.c, level_avx512.c, kern.c. */
#include <math.h>

#include "base/status.h"
#include "kern/levels.h"
#include "support/check_main.h"

enum { IN = 8, OUT = 6, ALL = PRT_WINOGRAD_MOST };

/* Interpolation points 0, 1, -1, 2, -2 and infinity; or 0, 1, -1 and infinity; or these with 1/2
 * and -1/2. The matrices follow from division by the polynomial of the other points. `bound`:
 * error bound for inputs and outputs below 1. */
typedef struct form {
    size_t in, out;
    double bound_in, bound_out;
    double input[IN][IN], output[OUT][IN], weights[IN][IN];
} form;

#define INPUT6                                                                                     \
    {                                                                                              \
        { 4, 0, -5, 0, 1, 0 }, { 0, -4, -4, 1, 1, 0 }, { 0, 4, -4, -1, 1, 0 },                     \
            { 0, -2, -1, 2, 1, 0 }, { 0, 2, -1, -2, 1, 0 },                                        \
        {                                                                                          \
            0, 4, 0, -5, 0, 1                                                                      \
        }                                                                                          \
    }

/* The two-dimensional algorithms of stride 1. The weights of 5x5 kernels are transformed
 * beforehand. */
enum { FORMS = PRT_WINOGRAD_6x6_3x3 + 1 };

static const form forms[FORMS] = {
    [PRT_WINOGRAD_4x4_3x3] = { 6, 4, 2e-5, 1e-4, INPUT6,
        { { 1, 1, 1, 1, 1, 0 }, { 0, 1, -1, 2, -2, 0 }, { 0, 1, 1, 4, 4, 0 },
            { 0, 1, -1, 8, -8, 1 } },
        { { 1 / 4.0 }, { -1 / 6.0, -1 / 6.0, -1 / 6.0 }, { -1 / 6.0, 1 / 6.0, -1 / 6.0 },
            { 1 / 24.0, 1 / 12.0, 1 / 6.0 }, { 1 / 24.0, -1 / 12.0, 1 / 6.0 }, { 0, 0, 1 } } },
    [PRT_WINOGRAD_2x2_3x3] = { 4, 2, 2e-5, 1e-4,
        { { 1, 0, -1, 0 }, { 0, 1, 1, 0 }, { 0, -1, 1, 0 }, { 0, -1, 0, 1 } },
        { { 1, 1, 1, 0 }, { 0, 1, -1, 1 } },
        { { 1 }, { 0.5, 0.5, 0.5 }, { 0.5, -0.5, 0.5 }, { 0, 0, 1 } } },
    [PRT_WINOGRAD_2x2_5x5] = { 6, 2, 2e-5, 1e-4, INPUT6,
        { { 1, 1, 1, 1, 1, 0 }, { 0, 1, -1, 2, -2, 1 } }, { { 0 } } },
    [PRT_WINOGRAD_6x6_3x3] = { 8, 6, 4e-5, 1e-3,
        { { 1, 0, -5.25, 0, 5.25, 0, -1, 0 }, { 0, 1, 1, -4.25, -4.25, 1, 1, 0 },
            { 0, -1, 1, 4.25, -4.25, -1, 1, 0 }, { 0, 0.5, 0.25, -2.5, -1.25, 2, 1, 0 },
            { 0, -0.5, 0.25, 2.5, -1.25, -2, 1, 0 }, { 0, 2, 4, -2.5, -5, 0.5, 1, 0 },
            { 0, -2, 4, 2.5, -5, -0.5, 1, 0 }, { 0, -1, 0, 5.25, 0, -5.25, 0, 1 } },
        { { 1, 1, 1, 1, 1, 1, 1, 0 }, { 0, 1, -1, 2, -2, 0.5, -0.5, 0 },
            { 0, 1, 1, 4, 4, 0.25, 0.25, 0 }, { 0, 1, -1, 8, -8, 0.125, -0.125, 0 },
            { 0, 1, 1, 16, 16, 0.0625, 0.0625, 0 }, { 0, 1, -1, 32, -32, 0.03125, -0.03125, 1 } },
        { { 1 }, { -2 / 9.0, -2 / 9.0, -2 / 9.0 }, { -2 / 9.0, 2 / 9.0, -2 / 9.0 },
            { 1 / 90.0, 2 / 90.0, 4 / 90.0 }, { 1 / 90.0, -2 / 90.0, 4 / 90.0 },
            { 32 / 45.0, 16 / 45.0, 8 / 45.0 }, { 32 / 45.0, -16 / 45.0, 8 / 45.0 },
            { 0, 0, 1 } } },
};

/* Returns element (y, x) of M D transposed(M) for `in` by `in` values of D, `step` apart. */
static double transform_element(const double (*m)[IN], size_t in, size_t y, size_t x,
    const float *d, size_t step)
{
    double sum = 0.0;
    for (size_t i = 0; i < in; i++)
        for (size_t j = 0; j < in; j++)
            sum += m[y][i] * m[x][j] * (double)d[(i * in + j) * step];
    return sum;
}

static bool has_transforms(const prt_kern *level, int which)
{
    return level != NULL && level->winograd[which].output != NULL;
}

static void check_input(const prt_kern *kern, int which, size_t n)
{
    const form *f = &forms[which];
    const size_t matrix = n + 5, in = f->in, all = in * in;
    float *d = random_floats(all * n, 1), *to = malloc(all * matrix * sizeof(float));
    const float *from[ALL] = { NULL };
    size_t wrong = 0;
    for (size_t i = 0; i < all * matrix; i++)
        to[i] = 12345.0f;
    for (size_t i = 0; i < all; i++)
        from[i] = d + i * n;
    kern->winograd[which].input(n, from, to, matrix);
    for (size_t m = 0; m < all; m++)
        for (size_t i = 0; i < matrix; i++) {
            const double got = (double)to[m * matrix + i];
            wrong += i < n ? fabs(got - transform_element(f->input, in, m / in, m % in, d + i, n)) >
                    f->bound_in
                           : got != 12345.0;
        }
    ck_assert_msg(wrong == 0, "%s: %zu wrong of %zu channels", kern->level, wrong, n);
    free(d);
    free(to);
}

START_TEST(input_transforms_equal_their_matrices)
{
    for (int l = 0; l < LEVELS; l++)
        for (size_t n = 1; level(l) != NULL && n <= 70; n++)
            for (int which = 0; which < FORMS; which++)
                if (has_transforms(level(l), which))
                    check_input(level(l), which, n);
}
END_TEST

START_TEST(weight_transforms_equal_their_matrices)
{
    for (int l = 0; l < LEVELS; l++)
        for (size_t n = 16; level(l) != NULL && n <= 64; n += 16)
            for (int which = 0; which < FORMS; which++) {
                if (which == PRT_WINOGRAD_2x2_5x5 || !has_transforms(level(l), which))
                    continue;
                const form *f = &forms[which];
                const size_t tap = n + 3, matrix = n + 5, all = f->in * f->in;
                float *g = random_floats(9 * tap, 1), *to = malloc(all * matrix * sizeof(float));
                size_t wrong = 0;
                for (size_t i = 0; i < all * matrix; i++)
                    to[i] = 12345.0f;
                const prt_kern_winograd *kern = &level(l)->winograd[which];
                prt_winograd_taps w = { .n = n, .from = g, .tap = tap, .to = to, .matrix = matrix };
                for (; w.part < f->in / kern->columns; w.part++) {
                    kern->weights(&w);
                    w.to += kern->columns * f->in * matrix;
                }
                for (size_t i = 0; i < all * matrix; i++) {
                    const size_t m = i / matrix, k = i % matrix, wide = kern->columns;
                    const size_t y = m % (wide * f->in) / wide;
                    const size_t x = m / (wide * f->in) * wide + m % wide;
                    const double got = (double)to[i];
                    wrong += k < n
                        ? fabs(got - transform_element(f->weights, 3, y, x, g + k, tap)) > 1e-6
                        : got != 12345.0;
                }
                ck_assert_msg(wrong == 0, "%s: %zu wrong of %zu", level(l)->level, wrong, n);
                free(g);
                free(to);
            }
}
END_TEST

/* `with`: bits for bias, residual, bounds, and for a residual that is the output itself. */
static void check_output(const prt_kern *kern, int which, size_t n, size_t high, size_t wide,
    unsigned with)
{
    const form *f = &forms[which];
    const size_t matrix = n + 3, column = n + 2, row = (OUT + 1) * column, size = OUT * row;
    float *from = random_floats(ALL * matrix, 1), *bias = random_floats(n, 2);
    const bool over = (with & 8) != 0;
    const size_t residual_column = over ? column : column + 3,
                 line = over ? row : (OUT + 1) * residual_column + 1;
    float *residual = random_floats(OUT * line, 3), *y = random_floats(size, 4);
    float *before = random_floats(size, 4);
    size_t wrong = 0;
    const prt_winograd_out o = { .n = n,
        .from = from,
        .matrix = matrix,
        .bias = (with & 1) != 0 ? bias : NULL,
        .out = f->out,
        .high = high,
        .wide = wide,
        .residual = over      ? y
            : (with & 2) != 0 ? residual
                              : NULL,
        .residual_row = line,
        .residual_column = residual_column,
        .least = (with & 4) != 0 ? -3.0f : -INFINITY,
        .most = (with & 4) != 0 ? 2.0f : INFINITY,
        .y = y,
        .y_row = row,
        .y_column = column };
    kern->winograd[which].output(&o);
    for (size_t i = 0; i < size; i++) {
        const size_t at_y = i / row, at_x = i % row / column, c = i % column;
        if (at_y >= high || at_x >= wide || c >= n) {
            wrong += y[i] != before[i];
            continue;
        }
        double want = transform_element(f->output, f->in, at_y, at_x, from + c, matrix);
        want += (with & 1) != 0 ? (double)bias[c] : 0.0;
        if (over)
            want += (double)before[i];
        else if ((with & 2) != 0)
            want += (double)residual[at_y * line + at_x * residual_column + c];
        want = fmin((double)o.most, fmax((double)o.least, want));
        wrong += !(fabs((double)y[i] - want) <= f->bound_out);
    }
    ck_assert_msg(wrong == 0, "%s: %zu wrong of %zu channels, %zux%zu, with %u", kern->level, wrong,
        n, high, wide, with);
    free(from);
    free(bias);
    free(residual);
    free(y);
    free(before);
}

START_TEST(output_transforms_equal_their_matrices)
{
    for (int l = 0; l < LEVELS; l++)
        for (size_t n = 1; level(l) != NULL && n <= 70; n++)
            for (unsigned with = 0; with < 16; with++)
                for (int which = 0; which < FORMS; which++) {
                    const size_t out = forms[which].out;
                    if (has_transforms(level(l), which))
                        check_output(level(l), which, n, 1 + (n + with) % out,
                            1 + (n + with / 4) % out, with);
                }
}
END_TEST

START_TEST(nan_passes_the_bounds)
{
    for (int l = 0; l < LEVELS && level(l) != NULL; l++) {
        float from[ALL * 3], y[4 * 4 * 3];
        for (size_t i = 0; i < ALL * 3; i++)
            from[i] = i == 21 * 3 + 1 ? NAN : 1.0f;
        const prt_winograd_out o = { .n = 3,
            .from = from,
            .matrix = 3,
            .out = 4,
            .high = 4,
            .wide = 4,
            .least = 0.0f,
            .most = 1.0f,
            .y = y,
            .y_row = 12,
            .y_column = 3 };
        level(l)->winograd[PRT_WINOGRAD_4x4_3x3].output(&o);
        for (size_t i = 0; i < PRT_COUNT_OF(y); i++)
            ck_assert(isnan(y[i]) == (i % 3 == 1));
    }
}
END_TEST

/* Returns the matrix that multiplies plane p with strides of two, counted over all parts, which
 * have 10, 10, 10 and 6 planes. */
static size_t plane_matrix(size_t p)
{
    if (p < 25)
        return p % 5 == 4 ? 20 + p / 5 : p % 5 / 2 * 10 + p / 5 * 2 + p % 5 % 2;
    return p < 45 ? 25 + (p - 25) / 4 : p < 65 ? 30 + (p - 45) / 4 : 35;
}

/* A tile with strides of two, each channel by itself: the three transforms together equal the
 * taps. */
START_TEST(strides_of_two_equal_the_taps)
{
    enum { SIDE = 9, SIZE = 4, CHANNELS = 48, MATRICES = 36, PIXEL = CHANNELS + 1 };
    for (int l = 0; l < LEVELS; l++) {
        const prt_kern_winograd *kern =
            level(l) != NULL ? &level(l)->winograd[PRT_WINOGRAD_4x4_3x3_STRIDE2] : NULL;
        if (kern == NULL || kern->output == NULL)
            continue;
        const size_t step = CHANNELS + 16, before[] = { 0, 10, 20, 30 };
        float *d = random_floats(ALL * CHANNELS, 1), *g = random_floats(9 * CHANNELS, 2);
        float *planes = random_floats(ALL * step, 3), *w = random_floats(MATRICES * step, 4);
        float *bias = random_floats(CHANNELS, 5), y[SIZE * SIZE * PIXEL];
        const float *from[ALL];
        size_t wrong = 0;
        for (size_t i = 0; i < ALL; i++)
            from[i] = d + i * CHANNELS;
        for (size_t n = 1; n <= CHANNELS; n += 5) {
            kern->input(n, from, planes, step);
            prt_winograd_taps taps = { .n = CHANNELS, .from = g, .tap = CHANNELS, .matrix = step };
            for (; taps.part < 4; taps.part++) {
                taps.to = w + before[taps.part] * step;
                kern->weights(&taps);
            }
            for (size_t p = 0; p < ALL; p++)
                for (size_t i = 0; i < n; i++)
                    planes[p * step + i] *= w[plane_matrix(p) * step + i];
            for (size_t i = 0; i < PRT_COUNT_OF(y); i++)
                y[i] = 12345.0f;
            const prt_winograd_out o = { .n = n,
                .from = planes,
                .matrix = step,
                .bias = bias,
                .high = 1 + n % SIZE,
                .wide = 1 + n / 3 % SIZE,
                .least = -INFINITY,
                .most = INFINITY,
                .y = y,
                .y_row = SIZE * PIXEL,
                .y_column = PIXEL };
            kern->output(&o);
            for (size_t i = 0; i < PRT_COUNT_OF(y); i++) {
                const size_t row = i / PIXEL / SIZE, column = i / PIXEL % SIZE, c = i % PIXEL;
                double want = c < n ? (double)bias[c] : 0.0;
                for (size_t t = 0; t < 9 && c < n; t++)
                    want += (double)g[t * CHANNELS + c] *
                        (double)d[((2 * row + t / 3) * SIDE + 2 * column + t % 3) * CHANNELS + c];
                if (row >= o.high || column >= o.wide || c >= n)
                    want = 12345.0;
                wrong += !(fabs((double)y[i] - want) <= 2e-5);
            }
        }
        ck_assert_msg(wrong == 0, "%s: %zu wrong", level(l)->level, wrong);
        free(d);
        free(g);
        free(planes);
        free(w);
        free(bias);
    }
}
END_TEST

/* A tile along a line with `taps` taps, each channel by itself. */
static void check_line(const prt_kern *level, size_t out, size_t taps, size_t n)
{
    enum { IN_LINE = 8, CHANNELS = 48, PIXEL = CHANNELS + 1, STEP = CHANNELS + 16 };
    const prt_kern_winograd *kern = &level->winograd[PRT_WINOGRAD_LINE];
    float *d = random_floats(IN_LINE * CHANNELS, 1), *g = random_floats(5 * CHANNELS, 2);
    float *planes = random_floats(IN_LINE * STEP, 3), *w = random_floats(IN_LINE * STEP, 4);
    float *bias = random_floats(CHANNELS, 5), *residual = random_floats(6 * PIXEL, 6);
    float y[6 * PIXEL];
    const float *from[IN_LINE];
    size_t wrong = 0;
    for (size_t i = 0; i < IN_LINE; i++)
        from[i] = d + i * CHANNELS;
    kern->input(n, from, planes, STEP);
    const prt_winograd_taps of = { .n = CHANNELS,
        .taps = taps,
        .out = out,
        .from = g,
        .tap = CHANNELS,
        .to = w,
        .matrix = STEP };
    kern->weights(&of);
    for (size_t i = 0; i < IN_LINE * STEP; i++)
        planes[i] *= w[i];
    for (size_t i = 0; i < PRT_COUNT_OF(y); i++)
        y[i] = 12345.0f;
    const prt_winograd_out o = { .n = n,
        .from = planes,
        .matrix = STEP,
        .bias = bias,
        .out = out,
        .high = 1,
        .wide = 1 + n % out,
        .residual = residual,
        .residual_column = PIXEL,
        .least = -1.0f,
        .most = 2.0f,
        .y = y,
        .y_column = PIXEL };
    kern->output(&o);
    for (size_t i = 0; i < PRT_COUNT_OF(y); i++) {
        const size_t x = i / PIXEL, c = i % PIXEL;
        const bool there = x < o.wide && c < n;
        double want = there ? (double)bias[c] + (double)residual[i] : 0.0;
        for (size_t t = 0; t < taps && there; t++)
            want += (double)g[t * CHANNELS + c] * (double)d[(x + t) * CHANNELS + c];
        want = there ? fmin(2.0, fmax(-1.0, want)) : 12345.0;
        wrong += !(fabs((double)y[i] - want) <= 4e-5);
    }
    ck_assert_msg(wrong == 0, "%s: %zu wrong of F(%zu), %zu taps, %zu channels", level->level,
        wrong, out, taps, n);
    free(d);
    free(g);
    free(planes);
    free(w);
    free(bias);
    free(residual);
}

START_TEST(lines_equal_the_taps)
{
    for (int l = 0; l < LEVELS; l++) {
        if (level(l) == NULL || level(l)->winograd[PRT_WINOGRAD_LINE].output == NULL)
            continue;
        for (size_t out = 4; out <= 6; out++)
            for (size_t taps = 1; taps <= 9 - out; taps++)
                for (size_t n = 1; n <= 48; n += n < 20 ? 1 : 7)
                    check_line(level(l), out, taps, n);
    }
}
END_TEST

PRT_TEST_MAIN("kern/winograd", input_transforms_equal_their_matrices,
    weight_transforms_equal_their_matrices, output_transforms_equal_their_matrices,
    nan_passes_the_bounds, strides_of_two_equal_the_taps, lines_equal_the_taps)
