/* SPDX-License-Identifier: MIT */
/* test_act.c — activations at every level: distance from the value in double, edges, tails.
 * Covers: level_portable.c, level_avx2.c, level_avx512.c. */
#include <math.h>

#include "cpu/cpu.h"
#include "kern/kern.h"
#include "base/status.h"
#include "kern/levels.h"
#include "support/check_main.h"

static double exact_value(int kind, double x, double a, double b)
{
    switch (kind) {
    case PRT_ACT_relu:
        return x > 0.0 ? x : 0.0;
    case PRT_ACT_clip:
        return x < a ? a : x > b ? b : x;
    case PRT_ACT_leaky_relu:
        return x < 0.0 ? a * x : x;
    case PRT_ACT_sigmoid:
        return 1.0 / (1.0 + exp(-x));
    case PRT_ACT_tanh:
        return tanh(x);
    case PRT_ACT_silu:
        return x / (1.0 + exp(-x));
    case PRT_ACT_hard_sigmoid:
        return fmin(1.0, fmax(0.0, a * x + b));
    case PRT_ACT_hard_swish:
        return x * fmin(1.0, fmax(0.0, x / 6.0 + 0.5));
    case PRT_ACT_gelu:
        return 0.5 * x * erfc(-x * 0.70710678118654752440);
    case PRT_ACT_gelu_tanh:
        return x / (1.0 + exp(-2.0 * 0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    default:
        return x;
    }
}

/* Largest error allowed, in units of the last place of the result or of `floor`, whichever is
 * larger: gelu far below 0 is a small difference of numbers near 1. */
static const struct {
    int kind;
    double ulp, least;
} bounds[] = {
    { PRT_ACT_none, 0, 0 },
    { PRT_ACT_relu, 0, 0 },
    { PRT_ACT_clip, 0, 0 },
    { PRT_ACT_leaky_relu, 1, 0 },
    { PRT_ACT_sigmoid, 5, 0 },
    { PRT_ACT_tanh, 6, 0 },
    { PRT_ACT_silu, 7, 0 },
    { PRT_ACT_hard_sigmoid, 2, 1e-8 },
    { PRT_ACT_hard_swish, 4, 1 },
    { PRT_ACT_gelu, 8, 1 },
    { PRT_ACT_gelu_tanh, 12, 2e-2 },
};

static double ulp_of(double y)
{
    int e;
    (void)frexp(fabs(y) > 1.2e-38 ? y : 1.2e-38, &e);
    return ldexp(1.0, e - 24);
}

static void check(const prt_kern *kern, size_t which, double *worst)
{
    enum { N = 1003 };
    const prt_act act = { bounds[which].kind, 0.25f, 0.5f };
    float x[N], y[N + 1];
    for (int block = 0; block < 400; block++) {
        for (int i = 0; i < N; i++) {
            const double t = ((double)block * N + i) / (400.0 * N) * 2.0 - 1.0;
            x[i] = (float)(block % 2 == 0 ? t * 12.0 : t * t * t * 100.0);
        }
        y[N] = 7.0f;
        kern->rows.act(&act, N, x, y);
        ck_assert(y[N] == 7.0f);
        for (int i = 0; i < N; i++) {
            const double want = exact_value(act.kind, (double)x[i], 0.25, 0.5);
            const double unit = ulp_of(fmax(fabs(want), bounds[which].least));
            /* A result below the normal range may be 0. */
            const double off = fabs((double)y[i] - want);
            const double error = off < 2e-36 ? 0.0 : off / unit;
            *worst = fmax(*worst, error);
            if (!(error <= bounds[which].ulp + 0.5))
                ck_abort_msg("%s: activation %d of %.9g is %.9g, not %.9g (%g ULP)", kern->level,
                    act.kind, (double)x[i], (double)y[i], want, error);
        }
    }
}

START_TEST(activations_are_within_their_bounds)
{
    for (int l = 0; l < LEVELS; l++) {
        const prt_kern *kern = level(l);
        if (kern == NULL)
            continue;
        for (size_t i = 0; i < PRT_COUNT_OF(bounds); i++) {
            double worst = 0.0;
            check(kern, i, &worst);
        }
    }
}
END_TEST

START_TEST(edge_values_are_exact)
{
    const prt_kern *kern = prt_kern_of(prt_cpu_features());
    static const int kinds[] = { PRT_ACT_sigmoid, PRT_ACT_tanh, PRT_ACT_none };
    float x[5] = { INFINITY, -INFINITY, NAN, 0.0f, -0.0f }, y[5];
    for (size_t i = 0; i < PRT_COUNT_OF(kinds); i++) {
        const prt_act act = { kinds[i], 0.0f, 0.0f };
        kern->rows.act(&act, 5, x, y);
        ck_assert(isnan(y[2]));
        ck_assert_double_eq((double)y[0], exact_value(kinds[i], (double)INFINITY, 0, 0));
        const double least = exact_value(kinds[i], -(double)INFINITY, 0, 0);
        ck_assert((double)y[1] == least || fabs((double)y[1] - least) < 1e-38);
        ck_assert_double_eq((double)y[3], exact_value(kinds[i], 0.0, 0, 0));
    }
}
END_TEST

/* Masks of -100, for instance, would give subnormal numbers, which cost some processors a
 * hundred times as long. */
START_TEST(softmax_weights_are_zero_or_normal)
{
    enum { N = 1003 };
    for (int l = 0; l < LEVELS; l++) {
        const prt_kern *kern = level(l);
        float x[N], y[N];
        if (kern == NULL)
            continue;
        for (size_t i = 0; i < N; i++)
            x[i] = -110.0f * (float)i / (N - 1);
        memcpy(y, x, sizeof(x));
        const float one_by_sum = kern->attend.unscaled_softmax(N, y);
        double sum = 0.0;
        for (size_t i = 0; i < N; i++) {
            const double want = exp((double)x[i]);
            sum += want;
            ck_assert(y[i] == 0.0f || isnormal(y[i]));
            ck_assert_double_le(fabs((double)y[i] - want), 3e-7 * want + 1.2e-38);
        }
        ck_assert_double_le(fabs((double)one_by_sum * sum - 1.0), 1e-6);
    }
}
END_TEST

PRT_TEST_MAIN("kern/act", activations_are_within_their_bounds, edge_values_are_exact,
    softmax_weights_are_zero_or_normal)
