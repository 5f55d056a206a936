/* SPDX-License-Identifier: MIT */
/*
 * test_winograd.c — the transforms of F(4x4, 3x3), F(2x2, 3x3) and F(2x2, 5x5) at every level
 * against the matrices that define them, in double; and bounds, residuals and tiles cut at the
 * border.
 */
#include <math.h>

#include "base/status.h"
#include "kern/levels.h"
#include "support/check_main.h"

enum { IN = 6, OUT = 4, ALL = PRT_WINOGRAD_MOST };

/* Points 0, 1, -1, 2, -2 and infinity, or 0, 1, -1 and infinity: what a polynomial's division by
 * the others' zeros gives. */
typedef struct form {
    size_t in, out;
    double input[IN][IN], output[OUT][IN], weights[IN][IN];
} form;

#define INPUT6                                                                                     \
    { { 4, 0, -5, 0, 1, 0 }, { 0, -4, -4, 1, 1, 0 }, { 0, 4, -4, -1, 1, 0 },                       \
        { 0, -2, -1, 2, 1, 0 }, { 0, 2, -1, -2, 1, 0 }, { 0, 4, 0, -5, 0, 1 } }

enum { FORMS = 3, FIVE = 2 }; /* the last has its weights transformed beforehand */

static const form forms[FORMS] = {
    { IN, OUT, INPUT6,
        { { 1, 1, 1, 1, 1, 0 }, { 0, 1, -1, 2, -2, 0 }, { 0, 1, 1, 4, 4, 0 },
            { 0, 1, -1, 8, -8, 1 } },
        { { 1 / 4.0 }, { -1 / 6.0, -1 / 6.0, -1 / 6.0 }, { -1 / 6.0, 1 / 6.0, -1 / 6.0 },
            { 1 / 24.0, 1 / 12.0, 1 / 6.0 }, { 1 / 24.0, -1 / 12.0, 1 / 6.0 }, { 0, 0, 1 } } },
    { 4, 2, { { 1, 0, -1, 0 }, { 0, 1, 1, 0 }, { 0, -1, 1, 0 }, { 0, -1, 0, 1 } },
        { { 1, 1, 1, 0 }, { 0, 1, -1, 1 } },
        { { 1 }, { 0.5, 0.5, 0.5 }, { 0.5, -0.5, 0.5 }, { 0, 0, 1 } } },
    { IN, 2, INPUT6, { { 1, 1, 1, 1, 1, 0 }, { 0, 1, -1, 2, -2, 1 } }, { { 0 } } },
};

/* Element (y, x) of M D transposed(M) for the `in` by `in` values `step` apart. */
static double turned(const double (*m)[IN], size_t in, size_t y, size_t x, const float *d,
    size_t step)
{
    double sum = 0.0;
    for (size_t i = 0; i < in; i++)
        for (size_t j = 0; j < in; j++)
            sum += m[y][i] * m[x][j] * (double)d[(i * in + j) * step];
    return sum;
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
            wrong += i < n
                ? fabs(got - turned(f->input, in, m / in, m % in, d + i, n)) > 2e-5
                : got != 12345.0;
        }
    ck_assert_msg(wrong == 0, "%s: %zu wrong of %zu channels", kern->level, wrong, n);
    free(d);
    free(to);
}

START_TEST(inputs)
{
    for (int l = 0; l < LEVELS; l++)
        for (size_t n = 1; level(l) != NULL && n <= 70; n++)
            for (int which = 0; which < FORMS; which++)
                check_input(level(l), which, n);
}
END_TEST

START_TEST(weights)
{
    for (int l = 0; l < LEVELS; l++)
        for (size_t n = 16; level(l) != NULL && n <= 64; n += 16)
            for (int which = 0; which < FIVE; which++) {
                const form *f = &forms[which];
                const size_t tap = n + 3, matrix = n + 5, all = f->in * f->in;
                float *g = random_floats(9 * tap, 1), *to = malloc(all * matrix * sizeof(float));
                size_t wrong = 0;
                for (size_t i = 0; i < all * matrix; i++)
                    to[i] = 12345.0f;
                const prt_kern_winograd *kern = &level(l)->winograd[which];
                for (size_t part = 0; part < f->in / kern->columns; part++)
                    kern->weights(n, part, g, tap, to + part * kern->columns * matrix,
                        f->in * matrix, matrix);
                for (size_t i = 0; i < all * matrix; i++) {
                    const size_t m = i / matrix, k = i % matrix;
                    const double got = (double)to[i];
                    wrong += k < n
                        ? fabs(got - turned(f->weights, 3, m / f->in, m % f->in, g + k, tap)) > 1e-6
                        : got != 12345.0;
                }
                ck_assert_msg(wrong == 0, "%s: %zu wrong of %zu", level(l)->level, wrong, n);
                free(g);
                free(to);
            }
}
END_TEST

/* `with`: bits for bias, residual, bounds, and the residual being the output itself. */
static void check_output(const prt_kern *kern, int which, size_t n, size_t high, size_t wide,
    unsigned with)
{
    const form *f = &forms[which];
    const size_t matrix = n + 3, column = n + 2, row = 5 * column, size = OUT * row;
    float *from = random_floats(ALL * matrix, 1), *bias = random_floats(n, 2);
    const bool over = (with & 8) != 0;
    const size_t far = over ? column : column + 3, line = over ? row : 5 * far + 1;
    float *residual = random_floats(OUT * line, 3), *y = random_floats(size, 4);
    float *before = random_floats(size, 4);
    size_t wrong = 0;
    const prt_winograd_out o = { .n = n, .from = from, .matrix = matrix,
        .bias = (with & 1) != 0 ? bias : NULL, .five = which == FIVE, .high = high, .wide = wide,
        .residual = over ? y : (with & 2) != 0 ? residual : NULL,
        .residual_row = line, .residual_column = far,
        .least = (with & 4) != 0 ? -3.0f : -INFINITY, .most = (with & 4) != 0 ? 2.0f : INFINITY,
        .y = y, .y_row = row, .y_column = column };
    kern->winograd[which].output(&o);
    for (size_t i = 0; i < size; i++) {
        const size_t at_y = i / row, at_x = i % row / column, c = i % column;
        if (at_y >= high || at_x >= wide || c >= n) {
            wrong += y[i] != before[i];
            continue;
        }
        double want = turned(f->output, f->in, at_y, at_x, from + c, matrix);
        want += (with & 1) != 0 ? (double)bias[c] : 0.0;
        if (over)
            want += (double)before[i];
        else if ((with & 2) != 0)
            want += (double)residual[at_y * line + at_x * far + c];
        want = fmin((double)o.most, fmax((double)o.least, want));
        wrong += !(fabs((double)y[i] - want) <= 1e-4);
    }
    ck_assert_msg(wrong == 0, "%s: %zu wrong of %zu channels, %zux%zu, with %u", kern->level, wrong,
        n, high, wide, with);
    free(from);
    free(bias);
    free(residual);
    free(y);
    free(before);
}

START_TEST(outputs)
{
    for (int l = 0; l < LEVELS; l++)
        for (size_t n = 1; level(l) != NULL && n <= 70; n++)
            for (unsigned with = 0; with < 16; with++)
                for (int which = 0; which < FORMS; which++) {
                    const size_t out = forms[which].out;
                    check_output(level(l), which, n, 1 + (n + with) % out,
                        1 + (n + with / 4) % out, with);
                }
}
END_TEST

START_TEST(nan_comes_through)
{
    for (int l = 0; l < LEVELS && level(l) != NULL; l++) {
        float from[ALL * 3], y[OUT * OUT * 3];
        for (size_t i = 0; i < ALL * 3; i++)
            from[i] = i == 21 * 3 + 1 ? NAN : 1.0f;
        const prt_winograd_out o = { .n = 3, .from = from, .matrix = 3, .high = 4, .wide = 4,
            .least = 0.0f, .most = 1.0f, .y = y, .y_row = 12, .y_column = 3 };
        level(l)->winograd[0].output(&o);
        for (size_t i = 0; i < OUT * OUT * 3; i++)
            ck_assert(isnan(y[i]) == (i % 3 == 1));
    }
}
END_TEST

PRT_TEST_MAIN("kern/winograd", inputs, weights, outputs, nan_comes_through)
