/* SPDX-License-Identifier: MIT */
/* test_norm.c — BatchNormalization, GroupNormalization and NormalizeImage of ai.graphcore. */
#include "support/check_main.h"
#include "support/op_check.h"

#define BATCH                                                                                      \
    "x = const f32[2,1,2] {1,3,5,7}\ns = const f32[1] {2}\nb = const f32[1] {1}\n"                 \
    "m = const f32[1] {3}\nv = const f32[1] {4}\n"
#define TRAIN "y,a,c,d,e = gc_batch_normalization x s b m v {epsilon=0,momentum=0.5}\n"

START_TEST(batch_normalization_has_its_values)
{
    ck_result(BATCH "y = gc_batch_normalization x s b m v {epsilon=0}\nreturn y\n",
        "f32[2,1,2] {-1,1,3,5}");
    /* The mean is 4, the variance 5, or 20 / 3 unbiased. */
    ck_result_within(BATCH TRAIN "return y\n",
        "f32[2,1,2] {-1.6832816,0.10557281,1.8944272,3.6832816}", 1e-6);
    ck_result(BATCH TRAIN "return a\n", "f32[1] {3.5}");
    ck_result_within(BATCH TRAIN "return c\n", "f32[1] {5.3333333}", 1e-6);
    ck_result(BATCH TRAIN "return d\n", "f32[1] {4}");
    ck_result_within(BATCH TRAIN "return e\n", "f32[1] {6.6666667}", 1e-6);
    ck_failure("x = const f32[1,1] {1}\ns = const f32[1] {2}\n"
               "y = gc_batch_normalization x s s s s\nreturn y\n",
        POPRT_E_SHAPE, "rank 2");
    ck_failure(BATCH "y,a = gc_batch_normalization x s b m v\nreturn y\n", POPRT_E_PARSE, "1, 5");
    ck_failure(BATCH "k = const f32[2] {1,2}\ny = gc_batch_normalization x s b m k\nreturn y\n",
        POPRT_E_SHAPE, "2");
}
END_TEST

#define GROUPS "x = const f32[1,2,2] {1,3,5,9}\ns = const f32[2] {1,10}\nb = const f32[2] {0,1}\n"

START_TEST(group_normalization_has_its_values)
{
    ck_result(GROUPS "y = gc_group_normalization x s b {num_groups=2,epsilon=0}\nreturn y\n",
        "f32[1,2,2] {-1,1,-9,11}");
    ck_result(GROUPS "y,m,i = gc_group_normalization x s b {num_groups=2,epsilon=0}\nreturn m\n",
        "f32[2] {2,7}");
    ck_result(GROUPS "y,m,i = gc_group_normalization x s b {num_groups=2,epsilon=0}\nreturn i\n",
        "f32[2] {1,0.5}");
    ck_result("x = const f32[1,2,0] {}\ns = const f32[2] {1,1}\n"
              "y,m = gc_group_normalization x s s {num_groups=1}\nreturn m\n",
        "f32[1] {nan}");
    ck_failure(GROUPS "y = gc_group_normalization x s b {num_groups=3}\nreturn y\n", POPRT_E_SHAPE,
        "3 groups");
    ck_failure(GROUPS "y = gc_group_normalization x s b\nreturn y\n", POPRT_E_ARG, "num_groups");
    ck_type("x = input f32[n,4,5]\ns = input f32[4]\n"
            "y,m = gc_group_normalization x s s {num_groups=2}\nreturn m\n",
        "f32[(2*n)]");
}
END_TEST

START_TEST(normalize_image_pads_to_four_channels)
{
    ck_result(
        "x = const u8[1,3] {0,128,255}\no = const f16[3] {0,0.5,0}\n"
        "s = const f16[3] {1,2,4}\ny = gc_normalize_image x o s {scale=0.0078125}\nreturn y\n",
        "f16[1,4] {0,1,7.96875,0}");
    ck_failure("x = const f32[1,4] {0,0,0,0}\no = const f32[3] {0,0,0}\n"
               "y = gc_normalize_image x o o\nreturn y\n",
        POPRT_E_SHAPE, "not 3");
    ck_failure("x = const f32[1,3] {0,0,0}\no = const f32[3] {0,0,0}\n"
               "y = gc_normalize_image x o o {scale=0}\nreturn y\n",
        POPRT_E_ARG, "close to 0");
}
END_TEST

PRT_TEST_MAIN("op/graphcore/norm", batch_normalization_has_its_values,
    group_normalization_has_its_values, normalize_image_pads_to_four_channels)
