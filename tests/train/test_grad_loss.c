/* SPDX-License-Identifier: MIT */
/*
 * test_grad_loss.c — gradients of losses and normalisations against differences.
 * Covers: grad_loss.c, grad_graphcore.c, grad_norm.c.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/gradient_check.h"

#define SCORES "x = input f64[3,4]\nt = const i64[3] {2,0,3}\n"

START_TEST(cross_entropy_gradients_match_differences)
{
    static const char *const ops[] = { "softmax_cross_entropy_loss",
        "negative_log_likelihood_loss" };
    static const char *const reductions[] = { "mean", "sum", "none" };
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 3; k++) {
            char text[512];
            (void)snprintf(text, sizeof(text), SCORES "y = %s x t {reduction=\"%s\"}\nreturn y\n",
                ops[i], reductions[k]);
            check_gradients(text, -2, 2);
            (void)snprintf(text, sizeof(text),
                SCORES "w = input f64[4]\ny = %s x t w {reduction=\"%s\",ignore_index=3}\n"
                       "return y\n",
                ops[i], reductions[k]);
            check_gradients(text, 0.5, 2);
            (void)snprintf(text, sizeof(text),
                "x = input f64[2,3,2]\nt = const i64[2,2] {2,0,-1,1}\n"
                "y = %s x t {reduction=\"%s\",ignore_index=-1}\nreturn y\n",
                ops[i], reductions[k]);
            check_gradients(text, -2, 2);
        }
    check_gradients(SCORES "y, p = softmax_cross_entropy_loss x t\nreturn y, p\n", -2, 2);
}
END_TEST

START_TEST(graphcore_loss_gradients_match_differences)
{
    static const char *const reductions[] = { "Mean", "Sum", "None" };
    for (size_t k = 0; k < 3; k++) {
        char text[512];
        (void)snprintf(text, sizeof(text), SCORES "y = gc_nll x t {reduction=\"%s\"}\nreturn y\n",
            reductions[k]);
        check_gradients(text, 0.1, 1);
        (void)snprintf(text, sizeof(text),
            "x = input f64[2,2,3]\nt = const i32[2,2] {2,7,-1,1}\n"
            "y = gc_nll x t {reduction=\"%s\",ignoreIndex=2,inputIsLogProbability=1}\nreturn y\n",
            reductions[k]);
        check_gradients(text, -2, -0.1);
        (void)snprintf(text, sizeof(text),
            "x = input f64[2,3]\ny = gc_l1 x {reduction=\"%s\",lambda=0.5}\nreturn y\n",
            reductions[k]);
        check_gradients(text, -2, 2);
        (void)snprintf(text, sizeof(text),
            "x = input f64[2,3]\ny = gc_identity_loss x {reduction=\"%s\"}\nreturn y\n",
            reductions[k]);
        check_gradients(text, -2, 2);
        /* The gradient of Ctc includes that of the LogSoftmax before it. */
        (void)snprintf(text, sizeof(text),
            "x = input f64[5,2,3]\np = log_softmax x {axis=-1}\n"
            "t = const i32[2,2] {1,2,2,1}\nn = const i32[2] {5,4}\nm = const i32[2] {2,1}\n"
            "y = gc_ctc p t n m {reduction=\"%s\",zeroInfinity=1}\nreturn y\n",
            reductions[k]);
        check_gradients(text, -2, 2);
    }
}
END_TEST

START_TEST(normalisation_gradients_with_statistics)
{
    check_gradients_f32("x = input f32[2,4]\ns = input f32[4]\nb = input f32[4]\n"
                        "y, m, v = layer_normalization x s b\nreturn y, m, v\n",
        -2, 2);
    check_gradients("x = input f64[3,2,2]\ns = input f64[2]\nb = input f64[2]\nm = input f64[2]\n"
                    "v = input f64[2]\n"
                    "y, p, q = batch_normalization x s b m v {training_mode=1,momentum=0.75}\n"
                    "return y, p, q\n",
        0.5, 2);
    check_gradients("x = input f64[3,2,2]\ns = input f64[2]\nb = input f64[2]\nm = input f64[2]\n"
                    "v = input f64[2]\ny = batch_normalization x s b m v\nreturn y\n",
        0.5, 2);
    check_gradients("x = input f64[3,2,2]\ns = input f64[2]\nb = input f64[2]\nm = input f64[2]\n"
                    "v = input f64[2]\ny, p, q, r, t = gc_batch_normalization x s b m v\n"
                    "return y, p, q, r, t\n",
        0.5, 2);
    check_gradients("x = input f64[2,4,3]\ns = input f64[4]\nb = input f64[4]\n"
                    "y, m, v = gc_group_normalization x s b {num_groups=2}\nreturn y, m, v\n",
        -2, 2);
    check_gradients("x = input f64[2,4]\ns = input f64[4]\nb = input f64[4]\n"
                    "y = gc_fast_norm x s b\nreturn y\n",
        -2, 2);
    check_gradients("x = input f64[2,2,2,3]\ny = mean_variance_normalization x\nreturn y\n", -2, 2);
    check_gradients("x = input f64[2,2,3]\ny = mean_variance_normalization x {axes=[-1]}\n"
                    "return y\n",
        -2, 2);
    check_gradients("x = input f64[2,3]\ny = lp_normalization x {p=1,axis=0}\nreturn y\n", -2, 2);
    check_gradients("x = input f64[2,3]\ny = lp_normalization x\nreturn y\n", -2, 2);
    for (size_t size = 1; size < 5; size++) {
        char text[256];
        (void)snprintf(text, sizeof(text),
            "x = input f64[2,4,3]\ny = lrn x {size=%zu,alpha=0.5,beta=0.7,bias=2}\nreturn y\n",
            size);
        check_gradients(text, -2, 2);
    }
}
END_TEST

START_TEST(mixed_types_of_scales)
{
    check_gradients_f32("x = input f32[2,3,2]\ns = input f32[3]\nc = cast s {to=11}\n"
                        "b = const f64[3] {1,2,3}\nm = const f32[3] {0,0,0}\n"
                        "v = const f32[3] {1,1,1}\ny = batch_normalization x c b m v\nreturn y\n",
        -2, 2);
    check_gradients_f32("x = input f32[2,3]\ns = input f32[3]\nc = cast s {to=11}\n"
                        "y = rms_normalization x c\nreturn y\n",
        -2, 2);
}
END_TEST

START_TEST(dropout_uses_the_mask_of_the_forward_op)
{
    check_gradients("x = input f64[4,5]\nr = const f64[] {0.5}\nt = const bool[] {true}\n"
                    "y = dropout x r t {seed=3}\nreturn y\n",
        -2, 2);
    check_gradients("x = input f64[4,5]\nr = const f64[] {0.25}\nf = const bool[] {false}\n"
                    "t = not f\ny, m = dropout x r t {seed=3}\nreturn y\n",
        -2, 2);
    check_gradients("x = input f64[4,5]\nr = const f64[] {0.25}\nf = const bool[] {true}\n"
                    "t = not f\ny = dropout x r t {seed=3}\nreturn y\n",
        -2, 2);
}
END_TEST

START_TEST(call_is_differentiated_through)
{
    check_gradients("x = input f64[3]\nw = input f64[3]\ny, z = gc_call x {callee {\n"
                    "a = input f64[3]\nb = mul a w\nc = sin b\nreturn c, a\n}}\nreturn y, z\n",
        -1, 1);
}
END_TEST

PRT_TEST_MAIN("train/grad_loss", cross_entropy_gradients_match_differences,
    graphcore_loss_gradients_match_differences, normalisation_gradients_with_statistics,
    mixed_types_of_scales, dropout_uses_the_mask_of_the_forward_op, call_is_differentiated_through)
