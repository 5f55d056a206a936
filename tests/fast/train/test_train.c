/* SPDX-License-Identifier: MIT */
/*
 * test_train.c — operators of training programs at every level of kernels against the reference
 * kernels; tests/train/test_optimizer_updates.c has the optimizers.
 * Covers: combine.c, train.c, update.c.
 */
#include <math.h>
#include <stdio.h>

#include "base/status.h"
#include "kern/levels.h"
#include "support/check_main.h"
#include "support/fast_check.h"

/* Lengths around vectors, pieces and blocks. */
static const int lengths[] = { 0, 1, 7, 33, 511, 513, 4096, 4097, 13000 };

START_TEST(accumulators_equal_the_reference)
{
    static const char *const types[] = { "1", "10", "16" /* f32, f16, bf16 */ };
    static const char *const graphs[] = { "y = accumulate a g\n",
        "c = const i64[] {0}\ny = accumulate a g c\n",
        "c = const i64[] {3}\ny = accumulate a g c\n",
        "c = const f32[] {3}\ny = accumulate a g c {mode=\"mean\"}\n" };
    char text[512];
    for (size_t l = 0; l < PRT_COUNT_OF(lengths); l++)
        for (size_t t = 0; t < 9; t++)
            for (size_t k = 0; k < PRT_COUNT_OF(graphs); k++) {
                (void)snprintf(text, sizeof(text),
                    "x = input f32[%d]\nz = input f32[%d]\na = cast x {to=%s}\n"
                    "g = cast z {to=%s}\n%so = cast y {to=1}\nreturn o\n",
                    lengths[l], lengths[l], types[t / 3], types[t % 3], graphs[k]);
                fast_check(text, -2, 3, t / 3 == 0 ? 1e-6 : t / 3 == 1 ? 1e-3 : 8e-3);
            }
}
END_TEST

START_TEST(assignments_equal_the_reference)
{
    char text[256];
    for (size_t l = 0; l < PRT_COUNT_OF(lengths); l++) {
        (void)snprintf(text, sizeof(text),
            "x = input f32[%d,3]\nv = input f32[%d,3]\ny = assign x v\nreturn y\n", lengths[l],
            lengths[l]);
        fast_check(text, -2, 3, 0);
        (void)snprintf(text, sizeof(text),
            "x = input f32[%d]\nv = input f32[]\ny = assign x v\nreturn y\n", lengths[l]);
        fast_check(text, -2, 3, 0);
    }
    fast_check("x = input f32[70000]\nv = input f32[70000]\ny = assign x v\nreturn y\n", -2, 3, 0);
}
END_TEST

START_TEST(norms_equal_the_reference)
{
    static const char *const graphs[] = { "n = sgd_norm w _ g s s\nf, y = clip_factor s n\n",
        "n = sgd_norm w v g s s s s {momentum=\"combined\"}\nf, y = clip_factor s n\n",
        "n = sgd_norm w v g s s s s s s s s {momentum=\"separate\", nesterov=1}\n"
        "f, y = clip_factor s n\n",
        "n = adam_norm g s\nf, y = clip_factor s n\n",
        "n = adam_norm g s w s\ny, m = clip_factor s n\n",
        "p, n = lamb_norm w v g s _ g s s s s s s\nf, y = clip_factor s n\n",
        "n, p = lamb_norm w v g _ _ g s s s s s s {mode=\"lamb_no_bias\"}\nf, y = clip_factor s n "
        "p\n" };
    static const char *const types[] = { "1", "10", "16" /* f32, f16, bf16 */ };
    char text[512];
    for (size_t l = 0; l < PRT_COUNT_OF(lengths); l++)
        for (size_t t = 0; t < PRT_COUNT_OF(types); t++)
            for (size_t k = 0; k < PRT_COUNT_OF(graphs); k++) {
                (void)snprintf(text, sizeof(text),
                    "w1 = input f32[%d]\nv1 = input f32[%d]\ng1 = input f32[%d]\ns = input f32[]\n"
                    "w = cast w1 {to=%s}\nv = cast v1 {to=%s}\ng = cast g1 {to=%s}\n%sreturn y\n",
                    lengths[l], lengths[l], lengths[l], types[t], types[t], types[t], graphs[k]);
                fast_check(text, 0.25, 0.75, 1e-6);
            }
}
END_TEST

START_TEST(overflow_counts_equal_the_reference)
{
    char text[512];
    for (size_t l = 0; l < PRT_COUNT_OF(lengths); l++) {
        (void)snprintf(text, sizeof(text),
            "x = input f32[%d]\nz = input f32[%d]\na = cast z {to=10}\nb = cast x {to=16}\n"
            "c = const i64[2] {5,7}\nn = overflow_count c x a b {edge=1.5}\n"
            "y = cast n {to=1}\nreturn y\n",
            lengths[l], lengths[l]);
        fast_check(text, -3, 3, 0);
    }
    fast_check("x = input f32[3]\nn = const f32[3] {nan,inf,-inf}\nz = add x n\n"
               "c = const i64[2] {5,7}\nm = overflow_count c z\ny = cast m {to=1}\nreturn y\n",
        -3, 3, 0);
}
END_TEST

START_TEST(nan_and_infinity_are_those_of_the_reference)
{
    static const char *const graphs[] = {
        "y, a, b, c = adam_update w m v t _ g t t h h t t\n",
        "y, a, b, c = adam_update w m v t _ g t t h h t t {mode=\"adamax\"}\n",
        "x, a, y, c = adam_update w m v t _ g t t h h t t {mode=\"adamax\"}\n",
        "y, a = adaptive_update w v _ _ g t t h _ t t\n",
        "y, a, b = adaptive_update w v m _ g t t h _ t t {mode=\"centered_rmsprop\"}\n",
        "y, a, b = adaptive_update w v m _ g t t h _ t t {mode=\"adadelta\"}\n",
        "y, a = sgd_update w v g t h t h {momentum=\"combined\"}\n",
    };
    char text[1024];
    for (size_t k = 0; k < PRT_COUNT_OF(graphs); k++) {
        (void)snprintf(text, sizeof(text),
            "z = input f32[5]\nw = const f32[5] {1,2,inf,4,5}\nm = const f32[5] {0,0,1,nan,0}\n"
            "v = const f32[5] {nan,0,1,0,inf}\ng1 = const f32[5] {1,nan,inf,-inf,1}\n"
            "g = add z g1\nt = const f32[] {1}\nh = const f32[] {0.5}\n%sreturn y\n",
            graphs[k]);
        fast_check(text, 0.25, 0.75, 1e-6);
    }
}
END_TEST

/* The session may write results over inputs. */
START_TEST(kernels_write_over_their_inputs)
{
    const size_t n = 37;
    for (int i = 0; i < LEVELS; i++) {
        if (level(i) == NULL)
            continue;
        float *w = random_floats(n, 1), *m = random_floats(n, 2), *v = random_floats(n, 3);
        float *g = random_floats(n, 4), to[3][37];
        const prt_adam_scalars s = { .gradient_scaling = 1,
            .clip = 1,
            .keep1 = 0.9,
            .add1 = 0.1,
            .keep2 = 0.9,
            .add2 = 0.1,
            .bias1 = 1,
            .bias2 = 1,
            .eps = 1,
            .rate = 0.1 };
        prt_update_rows r = { .n = n,
            .g = g,
            .w = w,
            .state = { m, v },
            .w_to = to[0],
            .state_to = { to[1], to[2] } };
        for (size_t k = 0; k < n; k++)
            v[k] = fabsf(v[k]);
        level(i)->train.adam(&s, &r);
        r.w_to = w;
        r.state_to[0] = m;
        r.state_to[1] = v;
        level(i)->train.adam(&s, &r);
        ck_assert_mem_eq(w, to[0], n * sizeof(float));
        ck_assert_mem_eq(m, to[1], n * sizeof(float));
        ck_assert_mem_eq(v, to[2], n * sizeof(float));
        free(w);
        free(m);
        free(v);
        free(g);
    }
}
END_TEST

START_TEST(sums_of_squares_are_equal_at_every_level)
{
    float *x = random_floats(5000, 9);
    double sums[LEVELS];
    int count = 0;
    for (int i = 0; i < LEVELS; i++)
        if (level(i) != NULL)
            sums[count++] = level(i)->train.squares(4999, x);
    for (int i = 1; i < count; i++)
        ck_assert(sums[i] == sums[0]);
    free(x);
}
END_TEST

PRT_TEST_MAIN("fast/train", accumulators_equal_the_reference, assignments_equal_the_reference,
    norms_equal_the_reference, overflow_counts_equal_the_reference,
    nan_and_infinity_are_those_of_the_reference, kernels_write_over_their_inputs,
    sums_of_squares_are_equal_at_every_level)
