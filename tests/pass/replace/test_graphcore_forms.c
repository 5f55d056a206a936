/* SPDX-License-Identifier: MIT */
/* test_graphcore_forms.c — operators of ai.graphcore that equal simpler ones. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

START_TEST(operators_that_return_their_input_are_removed)
{
    static const char *const nops[] = { "gc_scale x", "gc_subsample x {strides=[1,1]}",
        "gc_reverse x", "gc_reshape x {shape=[2,-1]}" };
    static const char *const others[] = { "gc_scale x {scale=2}", "gc_subsample x {strides=[1,2]}",
        "gc_reverse x {dimensions=[1]}", "gc_reshape x {shape=[3,2]}" };
    for (size_t i = 0; i < PRT_COUNT_OF(nops); i++) {
        char text[128];
        (void)snprintf(text, sizeof(text), "x = input f32[2,3]\ny = %s\nz = exp y\nreturn z\n",
            nops[i]);
        assert_pass_rewrites("eliminate_nop_graphcore", NULL, text,
            "x = input f32[2,3]\nz = exp x\nreturn z\n");
        (void)snprintf(text, sizeof(text), "x = input f32[2,3]\ny = %s\nz = exp y\nreturn z\n",
            others[i]);
        assert_pass_leaves("eliminate_nop_graphcore", NULL, text);
    }
    /* Of open shapes only the attributes tell; an output that would become an input stays. */
    assert_pass_leaves("eliminate_nop_graphcore", NULL,
        "x = input f32[n,3]\ny = gc_reshape x {shape=[-1,3]}\nz = exp y\nreturn z\n");
    assert_pass_leaves("eliminate_nop_graphcore", NULL,
        "x = input f32[2]\ny = gc_scale x\nreturn y\n");
}
END_TEST

START_TEST(negative_scales_become_neg)
{
    assert_pass_rewrites("replace_scale_with_neg", NULL,
        "x = input f16[n]\ny = gc_scale x {scale=-1} @s\nreturn y\n",
        "x = input f16[n]\ny = neg x @s\nreturn y\n");
    assert_pass_leaves("replace_scale_with_neg", NULL,
        "x = input f32[n]\ny = gc_scale x {scale=-2}\nreturn y\n");
    assert_pass_keeps_results("x = input f32[7]\ny = gc_scale x {scale=-1}\nreturn y\n",
        "replace_scale_with_neg", 0);
}
END_TEST

START_TEST(two_flips_cancel)
{
    assert_pass_rewrites("cancel_flips", NULL,
        "w = input f32[4,2,3]\na = gc_conv_flip_weights w {group=2}\n"
        "b = gc_conv_flip_weights a {group=2}\nz = exp b\nreturn z\n",
        "w = input f32[4,2,3]\nz = exp w\nreturn z\n");
    assert_pass_leaves("cancel_flips", NULL,
        "w = input f32[4,4,3]\na = gc_conv_flip_weights w {group=2}\n"
        "b = gc_conv_flip_weights a\nz = exp b\nreturn z\n");
}
END_TEST

PRT_TEST_MAIN("pass/replace/graphcore_forms", operators_that_return_their_input_are_removed,
    negative_scales_become_neg, two_flips_cancel)
