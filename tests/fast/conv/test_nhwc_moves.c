/* SPDX-License-Identifier: MIT */
/* test_nhwc_moves.c — fast operators with channels last that move, pool or resize images,
 * against the reference. Moved elements and maxima have equal bits, sums are within 1e-5 of the
 * largest element (NhwcSpread, NhwcGroupNorm) or 1e-6 (means, Resize).
 * Covers: depth_to_space_conv.c, nhwc_norm.c, nhwc_shuffle.c, concat_split.c, transpose.c,
 * nhwc_spread.c. */
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "support/check_main.h"
#include "support/fast_check.h"
#include "support/nhwc_text.h"

static const double MOVED = 0, DEPTH_TO_SPACE = 1e-5, MEAN = 1e-6, RESIZED = 1e-6, NORM = 1e-5;

static int random_below(uint32_t *state, uint32_t n)
{
    return (int)nhwc_random(state, n);
}

START_TEST(spreads_equal_the_reference)
{
    static const char *const acts[] = { "", "Relu", "Sigmoid" };
    uint32_t state = 3;
    for (int i = 0; i < 60; i++) {
        const int channels =
            i % 9 == 0 ? 520 + random_below(&state, 20) : 1 + random_below(&state, 40);
        const int filters = 1 + random_below(&state, i % 5 == 0 ? 80 : 9);
        const int high = 1 + random_below(&state, 3), wide = 1 + random_below(&state, 4);
        const size_t count =
            (size_t)high * nhwc_weights_count("panels", 1, channels, wide * filters, 1);
        char text[512];
        (void)snprintf(text, sizeof(text),
            "x = input f32[%d,%d,%d,%d]\nw = input f32[%zu]\nb = input f32[%d]\n"
            "y = nhwc_spread x w %s {filters=%d,kernel_shape=[%d,%d],activation=\"%s\"}\n"
            "return y\n",
            random_below(&state, 3), 1 + random_below(&state, 9), 1 + random_below(&state, 30),
            channels, count, filters, i % 2 == 0 ? "b" : "", filters, high, wide, acts[i % 3]);
        fast_check(text, -1, 1, DEPTH_TO_SPACE);
    }
    fast_check("x = input f32[1,2,2,0]\nw = input f32[0]\nb = input f32[1]\n"
               "y = nhwc_spread x w b {filters=1,kernel_shape=[1,2]}\nreturn y\n",
        -1, 1, DEPTH_TO_SPACE);
}
END_TEST

START_TEST(group_norms_equal_the_reference)
{
    static const char *const acts[] = { "", "Relu", "Silu", "Gelu" };
    static const int groups[] = { 1, 2, 4, 32 };
    uint32_t state = 9;
    for (int i = 0; i < 80; i++) {
        const int n = groups[i % 4],
                  channels = n * (1 + random_below(&state, i % 7 == 0 ? 300 : 9));
        char text[512];
        (void)snprintf(text, sizeof(text),
            "x = input f32[%d,%d,%d,%d]\ns = input f32[%d]\nb = input f32[%d]\n"
            "y = nhwc_group_norm x s b {num_groups=%d,activation=\"%s\",epsilon=1e-6}\nreturn y\n",
            1 + random_below(&state, 2), 1 + random_below(&state, 40), 1 + random_below(&state, 50),
            channels, channels, channels, i % 3 == 0 ? channels : n, acts[i / 4 % 4]);
        fast_check(text, -1, 1, NORM);
        fast_check(text, 100, 101, 2e-4); /* the values vary by a hundredth of their mean */
    }
}
END_TEST

START_TEST(pools_equal_the_reference)
{
    static const char *const extras[] = { "", ",ceil_mode=1", ",count_include_pad=1",
        ",count_include_pad=1,ceil_mode=1" };
    uint32_t state = 4;
    for (int i = 0; i < 160; i++) {
        const nhwc_window w = nhwc_random_window(&state, 4, i % 7 == 0 ? 40 : 9, 4);
        const char *extra = extras[i % 2 == 0 ? i / 2 % 2 : i / 2 % 4];
        char text[512];
        (void)snprintf(text, sizeof(text),
            "x = input f32[%d,%d,%d,%d]\ny = nhwc_%s_pool x {kernel_shape=[%d,%d],strides=[%d,%d],"
            "dilations=[%d,%d],pads=[%d,%d,%d,%d]%s}\nreturn y\n",
            random_below(&state, 4), w.in[0], w.in[1], 1 + random_below(&state, 80),
            i % 2 == 0 ? "max" : "average", w.kernel[0], w.kernel[1], w.stride[0], w.stride[1],
            w.dilation[0], w.dilation[1], w.pads[0], w.pads[1], w.pads[2], w.pads[3], extra);
        fast_check(text, -1, 1, i % 2 == 0 ? MOVED : MEAN);
    }
    static const char *const pads[] = { "SAME_UPPER", "SAME_LOWER", "VALID" };
    for (int i = 0; i < 6; i++) {
        char text[512];
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,9,8,21]\ny = nhwc_%s_pool x {kernel_shape=[3,4],strides=[2,1],"
            "auto_pad=\"%s\"}\nreturn y\n",
            i % 2 == 0 ? "max" : "average", pads[i / 2]);
        fast_check(text, -1, 1, i % 2 == 0 ? MOVED : MEAN);
    }
    fast_check("x = input f32[1,3,3,2]\nz = const f32[1,3,3,2] {nan,1,2,-inf,3,4,inf,0,0,0,0,0,0,0,"
               "0,0,0,nan}\nv = add x z\ny = nhwc_max_pool v {kernel_shape=[2,2],pads=[1,0,0,1]}\n"
               "return y\n",
        -1, 1, MOVED);
    fast_check("x = input f32[1,3,3,2]\nz = const f32[1,3,3,2] {nan,1,2,-inf,3,4,inf,0,0,0,0,0,0,0,"
               "0,0,0,nan}\nv = add x z\ny = nhwc_average_pool v {kernel_shape=[2,2],"
               "pads=[1,0,0,1]}\nreturn y\n",
        -1, 1, MEAN);
}
END_TEST

START_TEST(shuffles_equal_the_reference)
{
    static const char *const ends[] = { "y = nhwc_shuffle a b\nreturn y\n",
        "y, h = nhwc_shuffle a b {halves=1}\nreturn y\n",
        "y, h = nhwc_shuffle a b {halves=1}\ns = add y h\nreturn s\n",
        "_, h = nhwc_shuffle a b {halves=1}\nreturn h\n" };
    for (int channels = 0; channels < 40; channels++)
        for (size_t i = 0; i < PRT_COUNT_OF(ends); i++) {
            char text[300];
            (void)snprintf(text, sizeof(text), "a = input f32[2,3,%d]\nb = input f32[2,3,%d]\n%s",
                channels, channels, ends[i]);
            fast_check(text, -1, 1, MOVED);
        }
    fast_check("a = input f32[1,100,99,33]\nb = input f32[1,100,99,33]\n"
               "y, h = nhwc_shuffle a b {halves=1}\ns = sub y h\nreturn s\n",
        -1, 1, MOVED);
    fast_check("a = input f32[0,3]\nb = input f32[0,3]\ny = nhwc_shuffle a b\nreturn y\n", -1, 1,
        MOVED);
}
END_TEST

/* Writes `rank` random dims, each at least 1 or, now and then, 0. */
static void random_dims(uint32_t *state, int rank, int most, int *dims, char *text, size_t size)
{
    int used = 0;
    text[0] = '\0';
    for (int i = 0; i < rank; i++) {
        dims[i] = random_below(state, 5) == 0 ? 1 : 1 + random_below(state, (uint32_t)most);
        if (random_below(state, 60) == 0)
            dims[i] = 0;
        used += snprintf(text + used, size - (size_t)used, "%s%d", i != 0 ? "," : "", dims[i]);
    }
}

START_TEST(transposes_equal_the_reference)
{
    uint32_t state = 8;
    for (int i = 0; i < 200; i++) {
        const int rank = 1 + random_below(&state, 6);
        int dims[6], perm[6], used = 0;
        char shape[100], order[100], text[400];
        random_dims(&state, rank, rank > 4 ? 6 : rank > 2 ? 20 : 300, dims, shape, sizeof(shape));
        for (int k = 0; k < rank; k++) {
            const int at = random_below(&state, (uint32_t)k + 1);
            perm[k] = perm[at];
            perm[at] = k;
        }
        for (int k = 0; k < rank; k++)
            used += snprintf(order + used, sizeof(order) - (size_t)used, "%s%d", k != 0 ? "," : "",
                perm[k]);
        (void)snprintf(text, sizeof(text),
            "x = input f32[%s]\ny = transpose x {perm=[%s]}\n"
            "return y\n",
            shape, order);
        fast_check(text, -1, 1, MOVED);
    }
    fast_check("x = input f32[2,3,4,5]\ny = transpose x\nreturn y\n", -1, 1, MOVED);
    fast_check("x = input f32[1,130,129,3]\ny = transpose x {perm=[0,3,1,2]}\nreturn y\n", -1, 1,
        MOVED);
}
END_TEST

START_TEST(concat_and_split_equal_the_reference)
{
    uint32_t state = 21;
    for (int i = 0; i < 120; i++) {
        const int rank = 1 + random_below(&state, 4), axis = random_below(&state, (uint32_t)rank);
        int dims[4], sizes[5], n = 1 + random_below(&state, 5), used = 0, all = 0;
        char shape[100], text[1000];
        random_dims(&state, rank, 12, dims, shape, sizeof(shape));
        if (i % 2 != 0) { /* Concat */
            for (int k = 0; k < n; k++) {
                used += snprintf(text + used, sizeof(text) - (size_t)used, "x%d = input f32[", k);
                for (int d = 0; d < rank; d++)
                    used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%d",
                        d != 0 ? "," : "", d == axis ? random_below(&state, 40) : dims[d]);
                used += snprintf(text + used, sizeof(text) - (size_t)used, "]\n");
            }
            used += snprintf(text + used, sizeof(text) - (size_t)used, "y = concat ");
            for (int k = 0; k < n; k++)
                used += snprintf(text + used, sizeof(text) - (size_t)used, "x%d ", k);
            (void)snprintf(text + used, sizeof(text) - (size_t)used, "{axis=%d}\nreturn y\n",
                i % 4 == 1 ? axis : axis - rank);
            fast_check(text, -1, 1, MOVED);
            continue;
        }
        for (int k = 0; k < n; k++)
            all += sizes[k] = random_below(&state, 10);
        used = snprintf(text, sizeof(text), "x = input f32[");
        for (int d = 0; d < rank; d++)
            used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%d", d != 0 ? "," : "",
                d == axis ? all : dims[d]);
        used += snprintf(text + used, sizeof(text) - (size_t)used, "]\ns = const i64[%d] {", n);
        for (int k = 0; k < n; k++)
            used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%d", k != 0 ? "," : "",
                sizes[k]);
        used += snprintf(text + used, sizeof(text) - (size_t)used, "}\n");
        for (int k = 0; k < n; k++)
            used +=
                snprintf(text + used, sizeof(text) - (size_t)used, "%sy%d", k != 0 ? ", " : "", k);
        used += snprintf(text + used, sizeof(text) - (size_t)used,
            " = split x s {axis=%d}\n"
            "z = concat ",
            i % 4 == 0 ? axis : axis - rank);
        for (int k = n; k-- > 0;)
            used += snprintf(text + used, sizeof(text) - (size_t)used, "y%d ", k);
        (void)snprintf(text + used, sizeof(text) - (size_t)used, "{axis=%d}\nreturn z\n", axis);
        fast_check(text, -1, 1, MOVED);
    }
    fast_check("x = input f32[300,400]\ny, _, z = split x {axis=1,num_outputs=3}\n"
               "s = concat x y z {axis=1}\nreturn s\n",
        -1, 1, MOVED);
    fast_check("x = input f32[4,6]\n_, y = split x {axis=1,num_outputs=2}\nreturn y\n", -1, 1,
        MOVED);
}
END_TEST

START_TEST(resizes_equal_the_reference)
{
    static const char *const modes[] = { "mode=\"nearest\"", "mode=\"linear\"",
        "mode=\"linear\",coordinate_transformation_mode=\"align_corners\"",
        "mode=\"nearest\",coordinate_transformation_mode=\"asymmetric\",nearest_mode=\"floor\"",
        "mode=\"linear\",coordinate_transformation_mode=\"pytorch_half_pixel\"" };
    static const char *const scales[] = { "1,2,2,1", "1,3,1,1", "1,1.5,2.6,1", "1,0.5,0.3,1",
        "1,1,2,1", "2,2,2,1", "1,2,2,2", "1,0.6,3,1" };
    uint32_t state = 6;
    for (size_t m = 0; m < PRT_COUNT_OF(modes); m++)
        for (size_t s = 0; s < PRT_COUNT_OF(scales); s++)
            for (int i = 0; i < 3; i++) {
                char text[400];
                (void)snprintf(text, sizeof(text),
                    "x = input f32[%d,%d,%d,%d]\n"
                    "s = const f32[4] {%s}\ny = resize x _ s {%s}\nreturn y\n",
                    1 + random_below(&state, 2), 4 + random_below(&state, 9),
                    4 + random_below(&state, 9), 1 + random_below(&state, 70), scales[s], modes[m]);
                fast_check(text, -1, 1, RESIZED);
            }
    fast_check("x = input f32[1,70,60,16]\nz = const i64[4] {1,140,120,16}\n"
               "y = resize x _ _ z {mode=\"linear\"}\nreturn y\n",
        -1, 1, RESIZED);
}
END_TEST

PRT_TEST_MAIN("fast/nhwc_moves", spreads_equal_the_reference, group_norms_equal_the_reference,
    pools_equal_the_reference, shuffles_equal_the_reference, transposes_equal_the_reference,
    concat_and_split_equal_the_reference, resizes_equal_the_reference)
