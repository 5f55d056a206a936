/* SPDX-License-Identifier: MIT */
/* test_movement.c — Reshape and Slice with attributes, Subsample, Reverse, ConvFlipWeights,
 * Init.
 * Covers: onnx_hooks.c. */
#include "support/check_main.h"
#include "support/op_check.h"

#define X23 "x = const f32[2,3] {1,2,3,4,5,6}\n"

START_TEST(reshape_and_slice_follow_their_attributes)
{
    ck_result(X23 "y = gc_reshape x {shape=[0,-1,1]}\nreturn y\n", "f32[2,3,1] {1,2,3,4,5,6}");
    ck_result("x = const i8[1] {7}\ny = gc_reshape x {shape=[]}\nreturn y\n", "i8[] {7}");
    ck_failure(X23 "y = gc_reshape x {shape=[4,-1]}\nreturn y\n", POPRT_E_SHAPE, "divided");
    ck_type("x = input f32[n,4]\ny = gc_reshape x {shape=[-1,2]}\nreturn y\n", "f32[(2*n),2]");
    ck_result(X23 "y = gc_slice x {starts=[1,-2],ends=[2,9]}\nreturn y\n", "f32[1,2] {5,6}");
    ck_result(X23 "y = gc_slice x {starts=[0],ends=[1],axes=[-1]}\nreturn y\n", "f32[2,1] {1,4}");
    ck_failure(X23 "y = gc_slice x {starts=[0],ends=[1],axes=[2]}\nreturn y\n", POPRT_E_SHAPE,
        "axis 2");
    ck_failure(X23 "y = gc_slice x {starts=[0,1],ends=[1]}\nreturn y\n", POPRT_E_SHAPE, "elements");
    ck_result("x = const f32[1,4,1,1] {1,2,3,4}\ny = gc_depth_to_space x {blocksize=2}\nreturn y\n",
        "f32[1,1,2,2] {1,2,3,4}");
    ck_failure("x = const f32[1,4,1,1] {1,2,3,4}\ny = gc_depth_to_space x {blocksize=2,mode=ABC}\n"
               "return y\n",
        POPRT_E_ARG, "DCR");
}
END_TEST

START_TEST(subsample_takes_every_nth_element)
{
    ck_result("x = const i32[5] {1,2,3,4,5}\ny = gc_subsample x {strides=[2]}\nreturn y\n",
        "i32[3] {1,3,5}");
    ck_result(X23 "y = gc_subsample x {strides=[5,2]}\nreturn y\n", "f32[1,2] {1,3}");
    ck_result("x = const f32[0] {}\ny = gc_subsample x {strides=[2]}\nreturn y\n", "f32[0] {}");
    ck_type("x = input f32[n,4]\ny = gc_subsample x {strides=[1,3]}\nreturn y\n", "f32[n,2]");
    ck_result("x = const f32[2] {1,2}\n"
              "y = gc_subsample x {strides=[9223372036854775807]}\nreturn y\n",
        "f32[1] {1}");
    ck_failure(X23 "y = gc_subsample x {strides=[1,0]}\nreturn y\n", POPRT_E_ARG, "stride 1 is 0");
    ck_failure(X23 "y = gc_subsample x {strides=[1]}\nreturn y\n", POPRT_E_SHAPE, "1 strides");
}
END_TEST

START_TEST(reverse_flips_the_given_dims)
{
    ck_result(X23 "y = gc_reverse x {dimensions=[1,0]}\nreturn y\n", "f32[2,3] {6,5,4,3,2,1}");
    ck_result(X23 "y = gc_reverse x {dimensions=[]}\nreturn y\n", "f32[2,3] {1,2,3,4,5,6}");
    ck_result("x = const bool[2,0] {}\ny = gc_reverse x {dimensions=[1]}\nreturn y\n",
        "bool[2,0] {}");
    ck_failure(X23 "y = gc_reverse x {dimensions=[-1]}\nreturn y\n", POPRT_E_SHAPE, "-1");
    ck_failure(X23 "y = gc_reverse x {dimensions=[2]}\nreturn y\n", POPRT_E_SHAPE, "outside");
    ck_failure(X23 "y = gc_reverse x {dimensions=[1,1]}\nreturn y\n", POPRT_E_ARG, "twice");
}
END_TEST

START_TEST(conv_flip_weights_flips_kernels)
{
    ck_result("w = const f32[2,2,2] {1,2,3,4,5,6,7,8}\ny = gc_conv_flip_weights w\nreturn y\n",
        "f32[2,2,2] {2,1,6,5,4,3,8,7}");
    ck_result("w = const f32[2,1,2] {1,2,3,4}\ny = gc_conv_flip_weights w {group=2}\nreturn y\n",
        "f32[2,1,2] {2,1,4,3}");
    ck_failure("w = const f32[3,1,1] {1,2,3}\ny = gc_conv_flip_weights w {group=2}\nreturn y\n",
        POPRT_E_SHAPE, "2 groups");
    ck_failure("w = const f32[3,1] {1,2,3}\ny = gc_conv_flip_weights w\nreturn y\n", POPRT_E_SHAPE,
        "rank 2");
}
END_TEST

START_TEST(init_gives_zeros)
{
    ck_result("y = gc_init {shape=[2],data_type=12}\nreturn y\n", "f16[2] {0,0}");
    ck_result("y = gc_init {shape=[1],data_type=2,init_type=1}\nreturn y\n", "f8e4m3fnuz[1] {0}");
    ck_failure("y = gc_init {shape=[2],data_type=18}\nreturn y\n", POPRT_E_TYPE, "18");
    ck_failure("y = gc_init {shape=[-2]}\nreturn y\n", POPRT_E_SHAPE, "-2");
    ck_failure("y = gc_init {shape=[2],init_type=2}\nreturn y\n", POPRT_E_ARG, "init_type");
    ck_result("y = gc_zeros {shape=[],dtype=6}\nreturn y\n", "i32[] {0}");
    ck_failure("y = gc_zeros {shape=[1],dtype=8}\nreturn y\n", POPRT_E_TYPE, "dtype 8");
    ck_failure("y = gc_zeros {shape=[1,1,1,1,1,1,1,1,1]}\nreturn y\n", POPRT_E_LIMIT, "9 dims");
    ck_result("x = const i8[2] {3,4}\ny = gc_zeros_like x\nreturn y\n", "i8[2] {0,0}");
    ck_result("x = const i8[2] {3,4}\ny = gc_zeros_like x {dtype=1}\nreturn y\n", "f32[2] {0,0}");
}
END_TEST

PRT_TEST_MAIN("op/graphcore/movement", reshape_and_slice_follow_their_attributes,
    subsample_takes_every_nth_element, reverse_flips_the_given_dims,
    conv_flip_weights_flips_kernels, init_gives_zeros)
