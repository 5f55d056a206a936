/* SPDX-License-Identifier: MIT */
/* test_packed.c — Unpack and Repack of ai.graphcore. */
#include "support/check_main.h"
#include "support/op_check.h"

#define PACKED "x = const f32[2,3,1] {1,2,3,4,5,6}\n"
#define INFO "i = const i32[3,1] {2,3,0}\n"

START_TEST(samples_cross_rows)
{
    ck_result(PACKED INFO "y = gc_unpack x i {max_valid_num=3, segment_max_size=[4]}\nreturn y\n",
        "f32[3,4,1] {1,2,0,0,3,4,5,0,0,0,0,0}");
    ck_result(PACKED INFO "u = gc_unpack x i {segment_max_size=[3]}\n"
                          "y = gc_repack u i x {segment_max_size=[3]}\nreturn y\n",
        "f32[2,3,1] {1,2,3,4,5,0}");
    ck_result("x = const i32[1,4] {7,8,9,10}\ni = const i32[2,1] {1,0}\n"
              "y = gc_unpack x i {segment_max_size=[2]}\nreturn y\n",
        "i32[2,2] {7,0,0,0}");
    ck_result("x = const f32[1,2,0] {}\ni = const i32[1,1] {2}\n"
              "y = gc_unpack x i {segment_max_size=[3]}\nreturn y\n",
        "f32[1,3,0] {}");
}
END_TEST

START_TEST(segments_start_at_their_offsets)
{
    ck_result("x = const f16[1,7] {1,2,3,4,5,6,7}\ni = const i32[2,2] {1,2,0,3}\n"
              "y = gc_unpack x i {segment_max_size=[2,3]}\nreturn y\n",
        "f16[2,5] {1,0,2,3,0,0,0,4,5,6}");
    ck_result("x = const bool[1,3] {true,true,true}\nu = const u8[2,5] {1,9,2,3,9,9,9,4,5,6}\n"
              "l = const f32[3,3] fill 0\ni = const i32[2,2] {1,2,0,3}\n"
              "y = gc_repack u i l {segment_max_size=[2,3]}\nreturn y\n",
        "u8[3,3] {1,2,3,4,5,6,0,0,0}");
}
END_TEST

START_TEST(shapes_follow_segment_sizes)
{
    ck_type("x = input f32[b,s,8]\ni = input i32[n,2]\n"
            "y = gc_unpack x i {segment_max_size=[2,3]}\nreturn y\n",
        "f32[n,5,8]");
    ck_type("x = input f32[b,s,8]\ni = input i32[n,1]\n"
            "y = gc_unpack x i {max_valid_num=6, segment_max_size=[2]}\nreturn y\n",
        "f32[6,2,8]");
    ck_type("x = input f16[6,2,8]\ni = input i32[n,1]\nl = input i32[b,s]\n"
            "y = gc_repack x i l {segment_max_size=[2]}\nreturn y\n",
        "f16[b,s,8]");
}
END_TEST

START_TEST(wrong_segments_are_refused)
{
    ck_failure(PACKED "i = const i32[1,1] {7}\ny = gc_unpack x i {segment_max_size=[9]}\n"
                      "return y\n",
        POPRT_E_ARG, "more tokens than the 6");
    ck_failure(PACKED "i = const i32[1,1] {3}\ny = gc_unpack x i {segment_max_size=[2]}\n"
                      "return y\n",
        POPRT_E_ARG, "0 to 2");
    ck_failure(PACKED "i = const i32[1,1] {-1}\ny = gc_unpack x i {segment_max_size=[2]}\n"
                      "return y\n",
        POPRT_E_ARG, "-1 tokens");
    ck_failure(PACKED INFO "y = gc_unpack x i\nreturn y\n", POPRT_E_ARG, "empty");
    ck_failure(PACKED INFO "y = gc_unpack x i {segment_max_size=[-1]}\nreturn y\n", POPRT_E_ARG,
        "is -1");
    ck_failure(PACKED INFO "y = gc_unpack x i {max_valid_num=2, segment_max_size=[4]}\n"
                           "return y\n",
        POPRT_E_SHAPE, "samples");
    ck_failure(PACKED INFO "y = gc_unpack x i {max_valid_num=-2, segment_max_size=[4]}\n"
                           "return y\n",
        POPRT_E_ARG, "max_valid_num");
    ck_failure(PACKED INFO "y = gc_unpack x i {segment_max_size=[4,1]}\nreturn y\n", POPRT_E_SHAPE,
        "segments");
    ck_failure("x = const f32[3] {1,2,3}\n" INFO "y = gc_unpack x i {segment_max_size=[4]}\n"
               "return y\n",
        POPRT_E_SHAPE, "rank 1");
    ck_failure(PACKED INFO "y = gc_repack x i x {segment_max_size=[3]}\nreturn y\n", POPRT_E_SHAPE,
        "samples");
    ck_failure("u = const f32[3,2] fill 1\n" INFO "y = gc_repack u i u {segment_max_size=[3]}\n"
               "return y\n",
        POPRT_E_SHAPE, "length of a sample");
}
END_TEST

PRT_TEST_MAIN("op/graphcore/packed", samples_cross_rows, segments_start_at_their_offsets,
    shapes_follow_segment_sizes, wrong_segments_are_refused)
