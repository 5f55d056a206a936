/* SPDX-License-Identifier: MIT */
/* test_unary.c — the tangent of rows at every level: distance from the value in double, at random
 * numbers and at the floats nearest to its zeros and poles. */
#include <math.h>

#include "base/status.h"
#include "kern/levels.h"
#include "support/check_main.h"

enum {
    N = 4096,
    MULTIPLES = 5300, /* multiples of pi/2 below 8192, and some above */
    MOST = 4          /* units in the last place */
};

static double ulp_of(double y)
{
    const double size = fabs(y);
    return size < 0x1p-126 ? 0x1p-149 : ldexp(1.0, ilogb(size) - 23);
}

/* Fails where a tangent is more than MOST units of its last place from the exact value. */
static void check_tangents(const prt_kern *k, size_t n, const float *x)
{
    float *y = random_floats(n, 1);
    k->rows.unary(PRT_UNARY_tan, n, x, y);
    for (size_t i = 0; i < n; i++) {
        const double want = tan((double)x[i]), off = fabs((double)y[i] - want) / ulp_of(want);
        ck_assert_msg(off <= MOST, "%s: tan(%.9g) is %.9g, not %.9g: %g ulp", k->level,
            (double)x[i], (double)y[i], want, off);
    }
    free(y);
}

START_TEST(tangents_are_near_the_exact_value)
{
    static const float sizes[] = { 1e-30f, 0.5f, 1.6f, 20.0f, 1000.0f, 8192.0f, 1e9f };
    for (int l = 0; l < LEVELS; l++)
        for (size_t s = 0; level(l) != NULL && s < PRT_COUNT_OF(sizes); s++) {
            float *x = random_floats(N + 3, (uint32_t)s + 2);
            for (size_t i = 0; i < N + 3; i++)
                x[i] *= sizes[s];
            check_tangents(level(l), N + 3, x);
            free(x);
        }
}
END_TEST

START_TEST(tangents_are_near_the_exact_value_at_zeros_and_poles)
{
    const double quarter = acos(-1.0) / 2;
    for (int l = 0; l < LEVELS; l++) {
        float *x = random_floats(3 * MULTIPLES, 1);
        for (int i = 0; i < MULTIPLES && level(l) != NULL; i++) {
            x[3 * i] = (float)((i + 1) * quarter);
            x[3 * i + 1] = nextafterf(x[3 * i], 0.0f);
            x[3 * i + 2] = -nextafterf(x[3 * i], INFINITY);
        }
        if (level(l) != NULL)
            check_tangents(level(l), 3 * MULTIPLES, x);
        free(x);
    }
}
END_TEST

START_TEST(tangents_keep_signs_of_zeros_and_nan)
{
    const float x[4] = { 0.0f, -0.0f, NAN, INFINITY };
    for (int l = 0; l < LEVELS; l++) {
        float y[4];
        if (level(l) == NULL)
            continue;
        level(l)->rows.unary(PRT_UNARY_tan, 4, x, y);
        ck_assert(y[0] == 0.0f && !signbit(y[0]));
        ck_assert(y[1] == 0.0f && signbit(y[1]));
        ck_assert(isnan(y[2]) && isnan(y[3]));
    }
}
END_TEST

PRT_TEST_MAIN("kern/rows/unary", tangents_are_near_the_exact_value,
    tangents_are_near_the_exact_value_at_zeros_and_poles, tangents_keep_signs_of_zeros_and_nan)
