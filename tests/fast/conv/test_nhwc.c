/* SPDX-License-Identifier: MIT */
/* test_nhwc.c — fast convolutions with channels last against the reference. Bounds are in units
 * of the largest element.
 * Covers: nhwc_windows.c, nhwc_separable.c, nhwc_taps.c, nhwc_weights.c, sliding.c. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "support/check_main.h"
#include "support/fast_check.h"
#include "support/nhwc_text.h"

static const struct {
    const char *of;
    double bound;
} bounds[] = {
    { "panels", 1e-5 }, { "taps", 1e-6 }, { "winograd", 1e-4 }, /* the bound of winograd.c */
    { "winograd2", 1e-5 }, { "winograd5", 1e-4 }, { "winograd6", 1e-4 }, { "winograd_line", 1e-4 },
    { "separable", 1e-5 }, { "moved", 0 }, /* compared bit by bit */
};

static double error_bound(const char *name)
{
    for (size_t i = 0; i < PRT_COUNT_OF(bounds); i++)
        if (strcmp(bounds[i].of, name) == 0)
            return bounds[i].bound;
    ck_abort_msg("no bound for %s", name);
}

static const char *const activations[] = { "", "Relu\"", "Clip\",alpha=-0.5,beta=0.75",
    "LeakyRelu\",alpha=0.125", "Sigmoid\"", "Tanh\"", "Silu\"", "HardSigmoid\",alpha=0.5,beta=0.25",
    "HardSwish\"", "Gelu\"", "GeluTanh\"" };

/* Returns "" or Clip more often than each of the other activations. */
static const char *random_activation(uint32_t *state)
{
    const uint32_t i = nhwc_random(state, 2 * PRT_COUNT_OF(activations));
    return activations[i < PRT_COUNT_OF(activations) ? i : i % 3];
}

static void check_conv(const nhwc_conv_case *c, uint32_t seed)
{
    char *text = nhwc_conv_text(c, seed, false);
    fast_check(text, -1, 1, error_bound(c->form));
    free(text);
}

static int random_below(uint32_t *state, uint32_t n)
{
    return (int)nhwc_random(state, n);
}

static nhwc_conv_case random_conv(uint32_t *state, uint32_t i)
{
    const int rank = random_below(state, 5) == 0 ? 3 : random_below(state, 5) == 0 ? 5 : 4;
    nhwc_conv_case c = { .rank = rank,
        .n = 1 + random_below(state, 3),
        .form = "panels",
        .group = 1,
        .channels = 1,
        .filters = 1,
        .activation = random_activation(state),
        .bias = random_below(state, 3) != 0,
        .residual = random_below(state, 3) == 0,
        .w = nhwc_random_window(state, rank,
            rank == 5        ? 6
                : i % 8 == 0 ? 40
                             : 12,
            i % 8 == 1 && rank != 5 ? 7 : 4) };
    if (i % 3 == 0) {
        c.form = "taps";
        c.group = 1 + random_below(state, 70);
        if (i % 2 == 0) { /* small groups */
            c.group = 1 + random_below(state, 20);
            c.channels = c.filters = 2 << random_below(state, 3);
        }
        return c;
    }
    c.group = random_below(state, 4) == 0 ? 1 + random_below(state, 4) : 1;
    c.channels = 1 + random_below(state, 30);
    c.filters = 1 + random_below(state, i % 6 == 1 ? 150 : 30);
    c.gate = c.group == 1 && random_below(state, 4) == 0;
    c.images = c.group == 1 && !c.gate && random_below(state, 3) == 0;
    if (c.images)
        c.channels = 1 + random_below(state, 5);
    return c;
}

START_TEST(convolutions_equal_the_reference)
{
    uint32_t state = 2027;
    for (uint32_t i = 0; i < FAST_CASES(260); i++) {
        const nhwc_conv_case c = random_conv(&state, i);
        check_conv(&c, i);
    }
}
END_TEST

/* K in parts of 512, and many pixels with one panel of filters. */
START_TEST(many_channels_or_pixels_equal_the_reference)
{
    nhwc_conv_case c = { .rank = 4,
        .n = 1,
        .form = "panels",
        .group = 1,
        .channels = 1100,
        .filters = 5,
        .activation = "Relu\"",
        .residual = true,
        .w = { .in = { 3, 4 }, .kernel = { 1, 1 }, .stride = { 1, 1 }, .dilation = { 1, 1 } } };
    check_conv(&c, 1);
    c.bias = c.gate = true;
    check_conv(&c, 2);
    c.filters = 70; /* more filters than pixels */
    check_conv(&c, 2);
    c.n = 2;
    check_conv(&c, 2);
    c.n = 1;
    c.filters = 5;
    c.w.kernel[1] = 2;
    c.w.pads[1] = 1;
    check_conv(&c, 3);
    c.channels = 100;
    c.w.kernel[0] = 3;
    c.activation = "Gelu\"";
    check_conv(&c, 4);
    c = (nhwc_conv_case){ .rank = 4,
        .n = 2,
        .form = "panels",
        .group = 1,
        .channels = 3,
        .filters = 20,
        .images = true,
        .activation = "",
        .w = { .in = { 70, 63 },
            .kernel = { 7, 7 },
            .stride = { 2, 2 },
            .dilation = { 1, 1 },
            .pads = { 3, 3, 2, 2 } } };
    check_conv(&c, 5);
    c.images = false;
    check_conv(&c, 6);
    c = (nhwc_conv_case){ .rank = 4,
        .n = 1,
        .form = "taps",
        .group = 33,
        .channels = 1,
        .filters = 1,
        .activation = "",
        .w = { .in = { 60, 61 },
            .kernel = { 3, 3 },
            .stride = { 1, 1 },
            .dilation = { 1, 1 },
            .pads = { 1, 1, 1, 1 } } };
    check_conv(&c, 7);
    /* A volume of one plane is not treated as an image if its padding adds planes. */
    c = (nhwc_conv_case){ .rank = 5,
        .n = 2,
        .form = "panels",
        .group = 1,
        .channels = 3,
        .filters = 4,
        .images = true,
        .bias = true,
        .activation = "",
        .w = { .in = { 1, 6, 7 },
            .kernel = { 1, 3, 3 },
            .stride = { 1, 1, 1 },
            .dilation = { 1, 1, 1 },
            .pads = { 1, 1, 1, 1, 1, 1 } } };
    check_conv(&c, 8);
    c.w.stride[0] = 3;
    check_conv(&c, 9);
    c.w.pads[0] = c.w.pads[3] = 0;
    check_conv(&c, 10);
}
END_TEST

/* Dilations about as large as the image: most taps are in the padding. */
START_TEST(large_dilations_equal_the_reference)
{
    uint32_t state = 3;
    for (uint32_t i = 0; i < 24; i++) {
        const int far = 3 + random_below(&state, 12), high = 6 + random_below(&state, 9);
        nhwc_conv_case c = { .rank = 4,
            .n = 1 + random_below(&state, 2),
            .form = "panels",
            .group = 1 + random_below(&state, 2),
            .channels = 64 + random_below(&state, i % 4 == 0 ? 900 : 80),
            .filters = 1 + random_below(&state, 80),
            .activation = random_activation(&state),
            .bias = random_below(&state, 2),
            .residual = random_below(&state, 2) == 0,
            .w = { .in = { high, 8 + 2 * (int)(i % 8) },
                .kernel = { 3, 1 + 2 * random_below(&state, 2) },
                .stride = { 1, 1 },
                .dilation = { far, 1 + random_below(&state, 9) } } };
        for (int k = 0; k < 2; k++)
            c.w.pads[k] = c.w.pads[2 + k] = c.w.dilation[k] * (c.w.kernel[k] - 1) / 2;
        check_conv(&c, i);
    }
}
END_TEST

/* Lines that are divided among threads. */
START_TEST(long_lines_equal_the_reference)
{
    uint32_t state = 17;
    for (uint32_t i = 0; i < 24; i++) {
        const int taps =
            i % 2 == 0 ? 3 + 2 * random_below(&state, 3) : 1 + random_below(&state, 40);
        const int step = 1 + random_below(&state, 3);
        nhwc_conv_case c = { .rank = 3,
            .n = 1 + random_below(&state, 2),
            .form = "taps",
            .group = 16 + random_below(&state, 80),
            .channels = 1,
            .filters = 1,
            .activation = random_activation(&state),
            .bias = random_below(&state, 2) != 0,
            .residual = random_below(&state, 3) == 0,
            .w = { .in = { taps + random_below(&state, 400) },
                .kernel = { taps },
                .stride = { step },
                .dilation = { i % 3 == 0 ? 1 + random_below(&state, 4) : 1 } } };
        c.w.in[0] += taps * c.w.dilation[0];
        c.w.pads[0] = random_below(&state, 1 + (uint32_t)taps * 2);
        c.w.pads[1] = random_below(&state, 1 + (uint32_t)taps * 2);
        if (i % 6 == 1) { /* small groups */
            c.group = 10;
            c.channels = c.filters = 4;
        }
        check_conv(&c, i);
    }
}
END_TEST

START_TEST(winograd_equals_the_reference)
{
    uint32_t state = 99;
    for (uint32_t i = 0; i < FAST_CASES(60); i++) {
        const uint32_t pads = i % 7 == 0 ? 12 : 4; /* the larger ones give tiles of padding only */
        nhwc_conv_case c = { .rank = 4,
            .n = 1 + random_below(&state, 3),
            .group = 1,
            .form = i % 4 < 2 ? "winograd" : "winograd2",
            .transformed = i % 3 == 0,
            .channels = 1 + random_below(&state, 20),
            .filters = 1 + random_below(&state, i % 8 == 0 ? 140 : 20),
            .activation = random_activation(&state),
            .bias = random_below(&state, 2) != 0,
            .residual = random_below(&state, 3) == 0,
            .w = { .in = { 3 + random_below(&state, 20),
                       3 + random_below(&state, i % 5 == 0 ? 60 : 20) },
                .kernel = { 3, 3 },
                .stride = { 1, 1 },
                .dilation = { 1, 1 },
                .pads = { random_below(&state, pads), random_below(&state, pads),
                    random_below(&state, pads), random_below(&state, pads) } } };
        check_conv(&c, i);
        if (i % 2 == 0) {
            c.form = "winograd6";
            c.transformed = false;
            check_conv(&c, i);
        }
        c.form = "winograd5";
        c.transformed = true;
        c.w.in[0] += 2;
        c.w.in[1] += 2;
        c.w.kernel[0] = c.w.kernel[1] = 5;
        check_conv(&c, i);
        for (uint32_t k = 0; k < 2; k++) { /* dilations */
            c.w.dilation[k] = 1 + random_below(&state, 7);
            c.w.in[k] += 4 * (c.w.dilation[k] - 1);
        }
        check_conv(&c, i);
        c.form = i % 4 < 2 ? "winograd" : "winograd2";
        c.w.kernel[0] = c.w.kernel[1] = 3;
        check_conv(&c, i);
        if (i % 2 == 0)
            continue;
        c.form = "winograd6";
        c.transformed = false;
        check_conv(&c, i);
    }
    for (uint32_t i = 0; i < FAST_CASES(40); i++) { /* strides of two */
        nhwc_conv_case c = { .rank = 4,
            .n = 1 + random_below(&state, 3),
            .group = 1,
            .form = "winograd",
            .channels = 1 + random_below(&state, i % 5 == 0 ? 150 : 20),
            .filters = 1 + random_below(&state, i % 8 == 0 ? 140 : 20),
            .activation = random_activation(&state),
            .bias = random_below(&state, 2) != 0,
            .residual = random_below(&state, 3) == 0,
            .w = { .in = { 3 + random_below(&state, 30),
                       3 + random_below(&state, i % 5 == 1 ? 150 : 30) },
                .kernel = { 3, 3 },
                .stride = { 2, 2 },
                .dilation = { 1, 1 },
                .pads = { random_below(&state, 4), random_below(&state, 4), random_below(&state, 4),
                    random_below(&state, 4) } } };
        check_conv(&c, i);
    }
    /* More channels than one block, and more filters than one transform takes. */
    static const char *const forms[] = { "winograd", "winograd2", "winograd6" };
    for (uint32_t i = 0; i < 6; i++) {
        nhwc_conv_case c = { .rank = 4,
            .n = 1 + (int)(i / 3),
            .group = 1,
            .activation = "",
            .form = forms[i % 3],
            .channels = 150,
            .filters = 100,
            .w = { .in = { 9, 13 },
                .kernel = { 3, 3 },
                .stride = { 1, 1 },
                .dilation = { 1, 1 },
                .pads = { 1, 1, 1, 1 } } };
        check_conv(&c, i);
        c.channels = i % 3 != 1 ? 300 : 600;
        c.filters = 200;
        check_conv(&c, i);
    }
}
END_TEST

START_TEST(winograd_lines_equal_the_reference)
{
    uint32_t state = 7;
    for (uint32_t i = 0; i < FAST_CASES(120); i++) { /* rank 3, or along either axis of rank 4 */
        const int rank = i % 3 == 0 ? 3 : 4, axis = i % 3 == 1 ? 1 : 0;
        nhwc_conv_case c = { .rank = rank,
            .n = 1 + random_below(&state, 3),
            .group = 1,
            .form = "winograd_line",
            .channels = 1 + random_below(&state, i % 5 == 0 ? 150 : 20),
            .filters = 1 + random_below(&state, i % 8 == 0 ? 140 : 20),
            .activation = i % 5 == 0 ? "" : random_activation(&state),
            .bias = random_below(&state, 2) != 0,
            .residual = random_below(&state, 3) == 0,
            .w = { .stride = { 1, 1 }, .kernel = { 1, 1 }, .dilation = { 1, 1 } } };
        c.w.kernel[axis] = 3 + random_below(&state, 11);
        c.w.dilation[axis] = i % 4 == 0 ? 1 + random_below(&state, 5) : 1;
        const int far = (c.w.kernel[axis] - 1) * c.w.dilation[axis];
        c.w.pads[axis] = random_below(&state, (uint32_t)far + 1);
        c.w.pads[rank - 2 + axis] = random_below(&state, (uint32_t)far + 1);
        for (int k = 0; k < rank - 2; k++)
            c.w.in[k] = 1 + random_below(&state, i % 7 == 0 ? 80 : 20) + (k == axis ? far : 0);
        check_conv(&c, i);
    }
    for (uint32_t i = 0; i < 4; i++) { /* work items transform the weights */
        nhwc_conv_case c = { .rank = 4,
            .n = 1 + (int)(i / 2),
            .group = 1,
            .activation = "",
            .form = "winograd_line",
            .channels = 200,
            .filters = 100,
            .w = { .in = { 9, 40 },
                .kernel = { 1, 5 + 4 * (int)(i % 2) },
                .stride = { 1, 1 },
                .dilation = { 1, 1 },
                .pads = { 0, 2, 0, 2 } } };
        check_conv(&c, i);
        c.channels = 500;
        c.filters = 300;
        c.w.in[0] = 2;
        c.w.kernel[1] = 7;
        check_conv(&c, i);
    }
}
END_TEST

static void check_separable(const nhwc_separable_case *c, uint32_t seed)
{
    char *text = nhwc_separable_text(c, seed, false);
    fast_check(text, -1, 1, error_bound("separable"));
    free(text);
}

/* Hidden channels by panels, and by panels for each thread; the last channels are many or few. */
START_TEST(separable_by_panels_equals_the_reference)
{
    static const int hidden[] = { 80, 128, 144, 200, 336 };
    uint32_t state = 6;
    for (uint32_t i = 0; i < 30; i++) {
        nhwc_separable_case c = { .n = 1 + (i % 11 == 0),
            .hidden = hidden[i % 5],
            .channels = i % 3 == 0 ? 1 + random_below(&state, 20) : 24 + random_below(&state, 50),
            .w = nhwc_random_window(&state, 4, 12, 5),
            .bias = random_below(&state, 3) != 0,
            .activation = { random_activation(&state), random_activation(&state), "" } };
        for (int k = 0; k < 2; k++) {
            c.w.in[k] = 9 + random_below(&state, 12);
            c.w.kernel[k] = i % 2 == 0 ? 3 : 5;
            c.w.pads[k] = c.w.pads[k + 2] = (int)c.w.kernel[k] / 2;
            c.w.stride[k] = 1 + (i % 4 == 0);
            c.w.dilation[k] = 1;
        }
        if (i % 6 == 1) /* the first rows see only padding */
            c.w.pads[0] = 18;
        c.filters = (i & 2) != 0 ? 1 + random_below(&state, 40) : 0;
        c.mean = c.filters == 0 && (i & 4) != 0;
        c.residual = c.filters != 0 && (i & 4) != 0;
        check_separable(&c, i);
    }
}
END_TEST

START_TEST(separable_equals_the_reference)
{
    uint32_t state = 5;
    for (uint32_t i = 0; i < FAST_CASES(120); i++) {
        nhwc_separable_case c = { .n = 1 + random_below(&state, 3),
            .hidden = 1 + random_below(&state, 70),
            .w = nhwc_random_window(&state, 4, i % 10 == 0 ? 60 : 12, 5),
            .bias = random_below(&state, 3) != 0,
            .activation = { random_activation(&state), random_activation(&state),
                random_activation(&state) } };
        c.channels = (i & 1) != 0 ? 1 + random_below(&state, 20) : 0;
        c.filters = (i & 2) != 0 ? 1 + random_below(&state, 20) : 0;
        c.mean = c.filters == 0 && (i & 4) != 0;
        c.residual = c.filters != 0 && (i & 4) != 0;
        check_separable(&c, i);
    }
}
END_TEST

/* ---- infinity and NaN, and sizes of 0 */

START_TEST(infinity_and_nan_reach_their_outputs)
{
    static const char *const specials[] = { "nan", "inf", "-inf" };
    uint32_t state = 17;
    for (uint32_t i = 0; i < FAST_CASES(60); i++) {
        nhwc_conv_case c = random_conv(&state, i);
        /* With a gate, an infinity may meet other zeros than it does in the reference. */
        c.gate = false;
        c.activation = activations[i % 4];
        c.special = specials[i % 3];
        check_conv(&c, i);
    }
}
END_TEST

START_TEST(zero_sizes_give_no_elements)
{
    nhwc_conv_case c = { .rank = 4,
        .n = 0,
        .form = "panels",
        .group = 1,
        .channels = 3,
        .filters = 5,
        .activation = "",
        .bias = true,
        .gate = true,
        .w = { .in = { 3, 4 }, .kernel = { 3, 3 }, .stride = { 1, 1 }, .dilation = { 1, 1 } } };
    check_conv(&c, 1);
    c.n = 2;
    c.w.in[0] = 2; /* no outputs */
    check_conv(&c, 1);
    for (int images = 0; images < 2; images++) {
        c.gate = false;
        c.images = images != 0;
        c.w.in[0] = 0; /* padding only */
        c.w.pads[0] = 2;
        c.w.pads[2] = 1;
        check_conv(&c, 1);
        c.w.in[0] = 4;
        c.w.pads[0] = c.w.pads[2] = 9;
        c.w.pads[1] = c.w.pads[3] = 9;
        check_conv(&c, 1);
    }
    c.form = "taps";
    c.images = false;
    c.group = 20;
    c.channels = c.filters = 1;
    check_conv(&c, 1);
    c.w.in[1] = 0;
    check_conv(&c, 1);
    nhwc_separable_case s = { .n = 0,
        .hidden = 4,
        .channels = 3,
        .filters = 2,
        .w = c.w,
        .activation = { "", "", "" } };
    for (int n = 0; n < 2; n++) {
        s.n = n;
        check_separable(&s, 1);
    }
}
END_TEST

/* Hostile padding and strides take no memory. */
START_TEST(enormous_padding_takes_no_memory)
{
    fast_check("x = input f32[1,1,1,1]\nw = input f32[16]\n"
               "y = nhwc_conv x w {images=1,channels=1,filters=1,kernel_shape=[1,1],"
               "pads=[2147483647,2147483647,2147483647,2147483647],"
               "strides=[2147483647,2147483647]}\nreturn y\n",
        -1, 1, error_bound("panels"));
    fast_check("x = input f32[1,1,1,1]\nw = input f32[16]\n"
               "y = nhwc_conv x w {channels=1,filters=1,kernel_shape=[1,1],"
               "pads=[2147483647,2147483647,2147483647,2147483647],"
               "strides=[2147483647,2147483647]}\nreturn y\n",
        -1, 1, error_bound("panels"));
    fast_check("x = input f32[1,1,1,2]\nw = input f32[8]\nb = input f32[2]\n"
               "y = nhwc_conv x w b {form=\"taps\",group=2,kernel_shape=[2,2],"
               "dilations=[2147483647,2147483647],strides=[2147483647,2147483647],"
               "pads=[2147483647,2147483647,2147483647,2147483647]}\nreturn y\n",
        -1, 1, error_bound("taps"));
    fast_check("x = input f32[1,3,3,1]\nw = input f32[8]\nv = input f32[16]\n"
               "y = nhwc_separable x w _ v {hidden=2,kernel_shape=[2,2],"
               "dilations=[2147483647,2147483647],strides=[2147483647,2147483647],"
               "pads=[2147483647,2147483647,2147483647,2147483647]}\nreturn y\n",
        -1, 1, error_bound("separable"));
    fast_check("x = input f32[1,2,2,3]\ny = nhwc_max_pool x {kernel_shape=[2,2],"
               "dilations=[2147483647,2147483647],strides=[2147483647,2147483647],"
               "pads=[2147483647,2147483647,2147483647,2147483647]}\nreturn y\n",
        -1, 1, error_bound("moved"));
    fast_check("x = input f32[1,2,1,2]\nw = input f32[288]\n"
               "y = nhwc_conv x w {form=\"winograd\",channels=2,filters=3,kernel_shape=[3,3],"
               "dilations=[2147483647,2147483647],"
               "pads=[2147483647,2147483647,2147483647,2147483647]}\nreturn y\n",
        -1, 1, error_bound("winograd"));
    fast_check("x = input f32[1,3,2]\nw = input f32[96]\n"
               "y = nhwc_conv x w {form=\"winograd_line\",channels=2,filters=3,kernel_shape=[3],"
               "dilations=[2147483647],pads=[2147483647,2147483647]}\nreturn y\n",
        -1, 1, error_bound("winograd_line"));
}
END_TEST

PRT_TEST_MAIN("fast/nhwc", convolutions_equal_the_reference,
    many_channels_or_pixels_equal_the_reference, large_dilations_equal_the_reference,
    long_lines_equal_the_reference, winograd_equals_the_reference,
    winograd_lines_equal_the_reference, separable_equals_the_reference,
    separable_by_panels_equals_the_reference, infinity_and_nan_reach_their_outputs,
    zero_sizes_give_no_elements, enormous_padding_takes_no_memory)
