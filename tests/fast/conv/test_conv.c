/* SPDX-License-Identifier: MIT */
/* test_conv.c — convolutions that test_fast.c does not reach: transposed ones and Winograd
 * tiles; and the panels that im2col batches_passes. Bounds are in units of the largest element.
 * Covers: conv_transpose.c, winograd.c, im2col.c, planes.c, conv_core.c. */
#include <stdio.h>

#include "base/status.h"
#include "support/check_main.h"
#include "support/fast_check.h"

static void check_all(const char *const *graphs, size_t count, double bound)
{
    for (size_t i = 0; i < count; i++) {
        char text[512];
        (void)snprintf(text, sizeof(text), "%sreturn y\n", graphs[i]);
        fast_check(text, -1, 1, bound);
    }
}

START_TEST(transposed_without_overlap_equals_the_reference)
{
    static const char *const graphs[] = {
        "x = input f32[1,5,9,11]\nw = input f32[5,7,2,2]\nb = input f32[7]\n"
        "y = conv_transpose x w b {strides=[2,2]}\n",
        "x = input f32[2,6,40,33]\nw = input f32[6,65,2,3]\ny = conv_transpose x w "
        "{strides=[2,3],group=2}\n",
        "x = input f32[1,3,1,200]\nw = input f32[3,2,4,1]\nb = input f32[2]\n"
        "y = conv_transpose x w b {strides=[4,1]}\n",
        "x = input f32[2,600,5]\nw = input f32[600,3,2]\nb = input f32[3]\n"
        "y = conv_transpose x w b {strides=[2]}\n",
        "x = input f32[1,4,7,7]\nw = input f32[4,3,1,1]\ny = conv_transpose x w\n",
    };
    check_all(graphs, PRT_COUNT_OF(graphs), 1e-5);
}
END_TEST

START_TEST(transposed_with_overlap_or_gaps_is_equal)
{
    static const char *const graphs[] = {
        "x = input f32[1,5,9,11]\nw = input f32[5,7,3,3]\nb = input f32[7]\n"
        "y = conv_transpose x w b\n",
        "x = input f32[2,8,70,9]\nw = input f32[8,30,4,4]\nb = input f32[30]\n"
        "y = conv_transpose x w b {strides=[2,2],pads=[1,1,1,1]}\n",
        "x = input f32[1,6,20,20]\nw = input f32[6,4,3,2]\nb = input f32[8]\n"
        "y = conv_transpose x w b {group=2,strides=[2,3],pads=[2,0,1,3],dilations=[2,1],"
        "output_padding=[1,2]}\n",
        "x = input f32[1,2,5,6]\nw = input f32[2,3,2,2]\nb = input f32[3]\n"
        "y = conv_transpose x w b {strides=[3,4]}\n",
        "x = input f32[1,2,5,6]\nw = input f32[2,3,2,2]\ny = conv_transpose x w "
        "{strides=[2,2],pads=[1,0,0,3]}\n",
        "x = input f32[1,2,5,6]\nw = input f32[2,3,2,2]\nb = input f32[3]\ny = conv_transpose x w "
        "b {strides=[2,2],output_padding=[1,1]}\n",
        "x = input f32[1,2,5,6]\nw = input f32[2,3,3,3]\nb = input f32[3]\ny = conv_transpose x w "
        "b {strides=[2,2],output_shape=[14,9]}\n",
        "x = input f32[1,2,5,6]\nw = input f32[2,3,3,3]\ny = conv_transpose x w {strides=[2,2],"
        "auto_pad=\"SAME_UPPER\"}\n",
        "x = input f32[1,3,50]\nw = input f32[3,5,7]\ny = conv_transpose x w {strides=[2],"
        "pads=[3,3]}\n",
        "x = input f32[1,600,6]\nw = input f32[600,2,5]\nb = input f32[2]\n"
        "y = conv_transpose x w b {dilations=[3]}\n",
        "x = input f32[1,2,3,4]\nw = input f32[2,2,30,31]\ny = conv_transpose x w\n",
    };
    check_all(graphs, PRT_COUNT_OF(graphs), 1e-5);
}
END_TEST

START_TEST(other_transposed_convolutions_equal_the_reference)
{
    static const char *const graphs[] = {
        "x = input f32[0,3,7,7]\nw = input f32[3,2,3,3]\ny = conv_transpose x w\n",
        ("x = input f32[1,0,7,7]\nw = input f32[0,2,3,3]\nb = input f32[2]\n"
         "y = conv_transpose x w b\n"),
        "x = input f32[1,2,2,2]\nw = input f32[2,2,3,3]\ny = conv_transpose x w {pads=[2,2,2,2]}\n",
        "x = input f32[1,2,1,9]\nw = input f32[2,2,7,3]\ny = conv_transpose x w {pads=[3,0,3,1]}\n",
        "x = input f32[1,2,2,2]\nw = input f32[2,2,40,40]\ny = conv_transpose x w\n",
        "x = input f32[1,2,3,3,3]\nw = input f32[2,2,2,2,2]\ny = conv_transpose x w\n",
    };
    check_all(graphs, PRT_COUNT_OF(graphs), 1e-5);
    fast_check("x = const f32[1,1,3] {nan,1,inf}\nw = input f32[1,2,3]\nz = input f32[1,1,7]\n"
               "y = conv_transpose x w {strides=[2]}\nreturn y\n",
        0.5, 1, 1e-6);
}
END_TEST

/* F(4x4, 3x3): 1e-4 is the bound that winograd.c states. */
START_TEST(winograd_tiles_equal_the_reference)
{
    static const char *const graphs[] = {
        /* weights transformed first, panels one by one; rows of tiles cut at any place */
        "x = input f32[1,8,131,77]\nw = input f32[9,8,3,3]\nb = input f32[9]\n"
        "y = conv x w b {pads=[1,1,1,1]}\n",
        "x = input f32[2,17,70,71]\nw = input f32[50,17,3,3]\ny = conv x w {pads=[0,2,1,0]}\n",
        "x = input f32[1,130,30,31]\nw = input f32[140,130,3,3]\nb = input f32[140]\n"
        "y = conv x w b {auto_pad=\"SAME_LOWER\"}\n",
        "x = input f32[2,8,20,300]\nw = input f32[25,8,3,3]\ny = conv x w {pads=[3,3,3,3]}\n",
        "x = input f32[1,9,150,12]\nw = input f32[8,9,3,3]\ny = conv x w\n",
        /* inputs transformed first, filters block by block */
        "x = input f32[2,64,14,13]\nw = input f32[165,64,3,3]\nb = input f32[165]\n"
        "y = conv x w b {pads=[1,1,1,1]}\n",
        "x = input f32[1,300,20,21]\nw = input f32[140,300,3,3]\ny = conv x w {pads=[1,0,0,1]}\n",
        "x = input f32[3,40,16,16]\nw = input f32[400,40,3,3]\nb = input f32[400]\n"
        "y = conv x w b\n",
        /* an addition after the convolution: it comes before the activation */
        "x = input f32[2,9,50,51]\nw = input f32[8,9,3,3]\nb = input f32[8]\n"
        "r = input f32[2,8,50,51]\n"
        "y = fused_conv x w b r {activation=\"Relu\",pads=[1,1,1,1]}\n",
        "x = input f32[1,64,14,14]\nw = input f32[160,64,3,3]\nb = input f32[160]\n"
        "y = fused_conv x w b {activation=\"LeakyRelu\",alpha=0.25,pads=[1,1,1,1]}\n",
    };
    check_all(graphs, PRT_COUNT_OF(graphs), 1e-4);
}
END_TEST

/* Panels of 64 outputs that begin and end at any place in rows of all widths. */
START_TEST(gathered_panels_equal_the_reference)
{
    static const int sizes[][5] = { /* height, width, kernel, stride, padding */
        { 7, 7, 3, 1, 1 }, { 14, 15, 3, 2, 1 }, { 9, 1, 3, 1, 1 }, { 3, 64, 3, 1, 1 },
        { 4, 65, 3, 1, 1 }, { 5, 200, 3, 1, 2 }, { 9, 301, 7, 2, 3 }, { 31, 33, 5, 3, 0 },
        { 40, 41, 4, 4, 0 }, { 17, 300, 4, 4, 3 }, { 30, 31, 1, 2, 0 }, { 9, 150, 1, 2, 1 },
        { 20, 21, 1, 3, 2 }, { 26, 27, 12, 3, 5 }, { 2, 2, 3, 1, 60 }
    };
    for (size_t i = 0; i < PRT_COUNT_OF(sizes); i++) {
        const int *s = sizes[i];
        char text[512];
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,6,%d,%d]\nw = input f32[8,3,%d,%d]\nb = input f32[8]\n"
            "y = conv x w b {group=2,strides=[%d,%d],pads=[%d,%d,%d,%d]}\nreturn y\n",
            s[0], s[1], s[2], s[2], s[3], s[3], s[4], s[4], s[4], s[4]);
        fast_check(text, -1, 1, 1e-5);
    }
    static const char *const graphs[] = {
        ("x = input f32[1,100,13,14]\nw = input f32[7,100,3,3]\n"
         "y = conv x w {strides=[2,1],dilations=[1,2]}\n"),
        "x = input f32[2,3,500]\nw = input f32[4,3,10]\ny = conv x w {strides=[5]}\n",
        "x = input f32[2,3,90]\nw = input f32[4,3,5]\ny = conv x w {pads=[2,2],dilations=[7]}\n",
    };
    check_all(graphs, PRT_COUNT_OF(graphs), 1e-5);
}
END_TEST

PRT_TEST_MAIN("fast/conv", transposed_without_overlap_equals_the_reference,
    transposed_with_overlap_or_gaps_is_equal, other_transposed_convolutions_equal_the_reference,
    gathered_panels_equal_the_reference, winograd_tiles_equal_the_reference)
