/* SPDX-License-Identifier: MIT */
/* test_ml.c — fast operators of ai.onnx.ml against the reference: sums of float32 in float32.
 * Covers: svm.c, svm_classifier.c, dot_products.c. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/fast_check.h"

static const double SUMS = 2e-5;

static const char *const kernels[] = { "kernel_type=LINEAR",
    "kernel_type=RBF, kernel_params=[0.3,0,0]", "kernel_type=POLY, kernel_params=[0.5,1,3]",
    "kernel_type=POLY, kernel_params=[0.5,1,2]", "kernel_type=POLY, kernel_params=[0.5,3,1.5]",
    "kernel_type=SIGMOID, kernel_params=[0.5,1,0]" };

enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]), TEXT = 1 << 16 };

/* Returns the text of `count` random numbers in [-1, 1]. */
static const char *random_numbers(uint32_t *state, int count)
{
    static char lists[3][TEXT];
    static int next;
    char *text = lists[next++ % 3];
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        *state = *state * 1664525u + 1013904223u;
        at += (size_t)snprintf(text + at, TEXT - at, "%s%.3f", i != 0 ? "," : "",
            (double)(*state >> 8) / 8388608.0 - 1.0);
        ck_assert_uint_lt(at, TEXT);
    }
    return text;
}

static char text[3 * TEXT];

START_TEST(svm_regressors_equal_the_reference)
{
    static const int features[] = { 1, 3, 16, 20, 37 }, vectors[] = { 1, 2, 5, 8, 33 };
    uint32_t state = 1;
    for (size_t k = 0; k < KERNELS; k++)
        for (int i = 0; i < 10; i++) {
            const int n = features[i % 5], v = vectors[(i / 2 + i) % 5];
            (void)snprintf(text, sizeof(text),
                "x = input f32[%d,%d]\ny = ml_svm_regressor x {%s, "
                "n_supports=%d, support_vectors=[%s], coefficients=[%s], rho=[0.5]%s}\nreturn y\n",
                1 + i * 3, n, kernels[k], v, random_numbers(&state, n * v),
                random_numbers(&state, v), i % 4 == 3 ? ", post_transform=LOGISTIC" : "");
            fast_check(text, -1, 1, SUMS);
        }
    fast_check("x = input f32[7,3]\ny = ml_svm_regressor x {coefficients=[1,-2,0.5], rho=[0.25]}\n"
               "return y\n",
        -1, 1, SUMS);
}
END_TEST

START_TEST(svm_classifiers_equal_the_reference)
{
    static const char *const labels[] = { "[4,7]", "[4,7,9]" };
    uint32_t state = 2;
    for (size_t k = 0; k < KERNELS; k++)
        for (int i = 0; i < 6; i++) {
            const int c = 2 + i % 2, n = 5 + 6 * i, v = 3 * c;
            (void)snprintf(text, sizeof(text),
                "x = input f32[%d,%d]\n_, z = ml_svm_classifier x {%s, classlabels_ints=%s, "
                "vectors_per_class=%s, support_vectors=[%s], coefficients=[%s], rho=[%s]}\n"
                "return z\n",
                1 + i * 5, n, kernels[k], labels[c - 2], c == 2 ? "[3,3]" : "[3,3,3]",
                random_numbers(&state, n * v), random_numbers(&state, (c - 1) * v),
                random_numbers(&state, 3));
            fast_check(text, -1, 1, SUMS);
        }
}
END_TEST

PRT_TEST_MAIN("fast/ml", svm_regressors_equal_the_reference, svm_classifiers_equal_the_reference)
