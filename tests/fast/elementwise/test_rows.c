/* SPDX-License-Identifier: MIT */
/* test_rows.c — fast operators that work on rows: reductions, softmax, normalisations, biases.
 * Covers: reduce.c, softmax.c, norm.c, argmax.c, microsoft.c, fused_matmul.c, skip_norm.c,
 * bias.c. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/fast_check.h"

START_TEST(reductions_equal_the_reference)
{
    static const char *const ops[] = { "sum", "mean", "max", "min", "l2", "sum_square" };
    static const char *const cases[][2] = { { "5", "0" }, { "3,1500", "1" }, { "1500,3", "0" },
        { "7,5,33", "1" }, { "7,5,33", "0,2" }, { "4,5,6,7", "1,2" }, { "4,5,6,7", "0,2" },
        { "4,5,6,7", "1,-1" }, { "4,5,6,7", "3,0,1,2" }, { "2,1,3,1", "1" }, { "2,3,1,4", "1,2" },
        { "2,40,700", "1" }, { "1,1", "0,1" }, { "3,70000", "1" }, { "2,3,2,2,2,3", "0,2,4" },
        { "0,4", "1" }, { "4,0", "1" }, { "2,0,3", "0" } };
    char text[256];
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
            int count = 1;
            for (const char *p = cases[k][1]; *p != '\0'; p++)
                count += *p == ',';
            (void)snprintf(text, sizeof(text),
                "x = input f32[%s]\na = const i64[%d] {%s}\ny = reduce_%s x a {keepdims=%d}\n"
                "return y\n",
                cases[k][0], count, cases[k][1], ops[i], (int)k % 2);
            fast_check(text, -1, 2, 1e-6);
        }
    fast_check("x = input f32[3,4,5]\ny = reduce_sum x\nreturn y\n", -1, 2, 1e-6);
    fast_check("x = input f32[3,4]\ny = reduce_max x {noop_with_empty_axes=1}\nreturn y\n", -1, 2,
        0);
}
END_TEST

START_TEST(reductions_of_nan_and_infinity_are_equal)
{
    static const char *const values[] = { "nan,1,2,3,inf", "1,2,3,inf,nan",
        "-inf,-inf,-inf,-1,-inf", "-inf,-inf,-inf,-inf,-inf", "inf,-inf,1,2,3" };
    static const char *const ops[] = { "sum", "mean", "max", "min", "l2" };
    char text[256];
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        for (size_t k = 0; k < sizeof(ops) / sizeof(ops[0]); k++)
            for (int axis = 0; axis < 2; axis++) {
                (void)snprintf(text, sizeof(text),
                    "x = const f32[5] {%s}\nz = input f32[40,1]\ns = %s x z\nt = input f32[%s]\n"
                    "u = %s s t\na = const i64[1] {%d}\ny = reduce_%s u a\nreturn y\n",
                    values[i], axis == 0 ? "add" : "mul", "5", "add", axis, ops[k]);
                fast_check(text, 0.25, 0.5, 1e-6);
            }
}
END_TEST

START_TEST(softmax_equals_the_reference)
{
    static const char *const shapes[] = { "5,7,33", "1", "5,1", "3,2,2", "2,10,3,300", "2,1500",
        "0,3", "3,0" };
    static const char *const ops[] = { "softmax", "log_softmax" };
    char text[256];
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
            int rank = 1;
            for (const char *p = shapes[k]; *p != '\0'; p++)
                rank += *p == ',';
            for (int axis = -1; axis < rank; axis++) {
                (void)snprintf(text, sizeof(text),
                    "x = input f32[%s]\ny = %s x {axis=%d}\nreturn y\n", shapes[k], ops[i], axis);
                fast_check(text, -30, 5, 1e-6);
            }
        }
    for (size_t i = 0; i < 2; i++)
        for (int axis = 0; axis < 2; axis++) {
            (void)snprintf(text, sizeof(text),
                "x = const f32[3,4] {1,nan,-inf,inf, 2,3,-inf,5, "
                "-1,-2,-inf,-3}\ny = %s x {axis=%d}\nreturn y\n",
                ops[i], axis);
            fast_check(text, 0, 1, 1e-6);
        }
}
END_TEST

START_TEST(normalisations_equal_the_reference)
{
    static const char *const graphs[] = {
        "x = input f32[2,5,6,7]\ns = input f32[5]\nb = input f32[5]\n"
        "y = instance_normalization x s b\n",
        "x = input f32[2,3,1500]\ns = input f32[3]\nb = input f32[3]\n"
        "y = instance_normalization x s b {epsilon=0.01}\n",
        "x = input f32[2,3,0]\ns = input f32[3]\nb = input f32[3]\n"
        "y = instance_normalization x s b\n",
        "x = input f32[3,8,5,7]\ns = input f32[8]\nb = input f32[8]\n"
        "y = group_normalization x s b {num_groups=2}\n",
        "x = input f32[3,8]\ns = input f32[8]\nb = input f32[8]\n"
        "y = group_normalization x s b {num_groups=4}\n",
        "x = input f32[3,5,67]\ns = input f32[67]\ny = rms_normalization x s\n",
        "x = input f32[3,5,67]\ns = input f32[5,67]\ny = rms_normalization x s {axis=1}\n",
        "x = input f32[3,5,67]\ns = input f32[1]\ny = rms_normalization x s {axis=1}\n",
        "x = input f32[3,5,67]\ny = lp_normalization x\n",
        "x = input f32[3,5,67]\ny = lp_normalization x {p=1}\n",
        "x = input f32[3,5,67]\ny = lp_normalization x {p=1,axis=1}\n",
        "x = const f32[3,2] {0,0,1e-30,-2e-30,1e30,nan}\ny = lp_normalization x\n",
        "x = const f32[2,2] {3e38,3e38,1e-40,1e-40}\ny = lp_normalization x {p=1}\n",
    };
    char text[256];
    for (size_t i = 0; i < sizeof(graphs) / sizeof(graphs[0]); i++) {
        (void)snprintf(text, sizeof(text), "%sreturn y\n", graphs[i]);
        fast_check(text, -2, 3, 1e-5);
    }
}
END_TEST

START_TEST(bias_operators_equal_the_reference)
{
    static const char *const graphs[] = {
        "x = input f32[3,5,67]\nb = input f32[67]\ny = ms_bias_gelu x b\n",
        "x = input f32[3,67]\nb = input f32[67]\ny = ms_fast_gelu x b\n",
        "x = input f32[3,67]\ny = ms_fast_gelu x\n",
        "x = input f32[3,5,67]\ns = input f32[3,5,67]\ng = input f32[67]\nb = input f32[67]\n"
        "a = input f32[67]\ny = ms_skip_layer_normalization x s g b a\n",
        "x = input f32[3,5,67]\ns = input f32[1,5,67]\ng = input f32[67]\n"
        "y = ms_skip_layer_normalization x s g\n",
        "x = input f32[3,5,67]\ns = input f32[5,67]\ng = input f32[67]\nb = input f32[67]\n"
        "z, _, _, y = ms_skip_layer_normalization x s g b\n",
        "x = input f32[7,67]\ns = input f32[7,67]\ng = input f32[67]\n"
        "y = ms_skip_simplified_layer_normalization x s g\n",
        "x = input f32[7,67]\ns = input f32[7,67]\ng = input f32[67]\nb = input f32[67]\n"
        "y, p, q, z = ms_skip_simplified_layer_normalization x s g b\n",
        "x = input f32[0,67]\ns = input f32[0,67]\ng = input f32[67]\n"
        "y = ms_skip_layer_normalization x s g\n",
    };
    char text[512];
    for (size_t i = 0; i < sizeof(graphs) / sizeof(graphs[0]); i++) {
        (void)snprintf(text, sizeof(text), "%sreturn y\n", graphs[i]);
        fast_check(text, -2, 3, 1e-5);
    }
}
END_TEST

START_TEST(argmax_and_argmin_equal_the_reference)
{
    static const char *const shapes[] = { "5,7,33", "1", "9,1", "3,2,2", "2,21,300", "2,15000",
        "0,3", "4,40,6" };
    static const char *const specials[] = { "1,nan,-inf,inf, nan,3,-inf,5, 1,inf,-inf,nan",
        "2,2,2,2, 1,2,2,1, -0,0,-0,0", "-inf,-inf,-inf,-inf, inf,inf,inf,inf, 0,-0,-1,1" };
    char text[512];
    for (int least = 0; least < 2; least++)
        for (int last = 0; last < 2; last++) {
            const char *op = least != 0 ? "argmin" : "argmax";
            for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
                int rank = 1;
                for (const char *p = shapes[k]; *p != '\0'; p++)
                    rank += *p == ',';
                for (int axis = rank > 1 && shapes[k][0] == '0' ? 1 : 0; axis < rank; axis++) {
                    (void)snprintf(text, sizeof(text),
                        "x = input f32[%s]\nr = round x\ni = %s r {axis=%d,select_last_index=%d}\n"
                        "y = cast i {to=1}\nreturn y\n",
                        shapes[k], op, axis, last);
                    fast_check(text, -9, 9, 0);
                }
            }
            for (size_t k = 0; k < sizeof(specials) / sizeof(specials[0]); k++)
                for (int axis = 0; axis < 2; axis++) {
                    (void)snprintf(text, sizeof(text),
                        "x = const f32[3,4] {%s}\n"
                        "i = %s x {axis=%d,select_last_index=%d}\ny = cast i {to=1}\nreturn y\n",
                        specials[k], op, axis, last);
                    fast_check(text, 0, 1, 0);
                }
        }
}
END_TEST

START_TEST(fused_matmul_equals_the_reference)
{
    static const char *const graphs[] = {
        "a = input f32[2,3,20,9]\nb = input f32[3,9,17]\ny = ms_fused_matmul a b {alpha=0.5}\n",
        "a = input f32[2,3,20,9]\nb = input f32[3,17,9]\ny = ms_fused_matmul a b {transB=1}\n",
        "a = input f32[20,9]\nb = input f32[17,9]\ny = ms_fused_matmul a b {transB=1,alpha=2}\n",
        "a = input f32[2,9]\nb = input f32[17,9]\ny = ms_fused_matmul a b {transB=1}\n",
        "a = input f32[2,9]\nb = input f32[9]\ny = ms_fused_matmul a b {transB=1}\n",
        "a = input f32[9,2]\nb = input f32[9,17]\ny = ms_fused_matmul a b {transA=1}\n",
        "a = input f32[2,0]\nb = input f32[0,17]\ny = ms_fused_matmul a b {alpha=3}\n",
    };
    char text[256];
    for (size_t i = 0; i < sizeof(graphs) / sizeof(graphs[0]); i++) {
        (void)snprintf(text, sizeof(text), "%sreturn y\n", graphs[i]);
        fast_check(text, -2, 3, 1e-5);
    }
}
END_TEST

PRT_TEST_MAIN("fast/rows", reductions_equal_the_reference, reductions_of_nan_and_infinity_are_equal,
    softmax_equals_the_reference, normalisations_equal_the_reference,
    bias_operators_equal_the_reference, argmax_and_argmin_equal_the_reference,
    fused_matmul_equals_the_reference)
