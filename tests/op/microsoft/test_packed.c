/* SPDX-License-Identifier: MIT */
/* test_packed.c — batches without padding. Expected values come from onnxruntime 1.31.1 or,
 * where it has no CPU kernel, from numpy. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(padding_is_removed_and_restored)
{
    ck_result_near("x0 = const f32[2,2,2] {-0.4,-0.6,0.2,-0.3,0.2,0.6,-0.4,0.2}\n"
                   "x1 = const i32[2] {1,2}\n"
                   "y0, y1, y2, y3 = ms_remove_padding x0 x1\n"
                   "return y0\n",
        "f32[3,2] {-0.4,-0.6,0.2,0.6,-0.4,0.2}", 1e-5);
    ck_result("x0 = const f32[2,2,2] {-0.4,-0.6,0.2,-0.3,0.2,0.6,-0.4,0.2}\n"
              "x1 = const i32[2] {1,2}\n"
              "y0, y1, y2, y3 = ms_remove_padding x0 x1\n"
              "return y1\n",
        "i32[2,2] {0,2,3,1}");
    ck_result("x0 = const f32[2,2,2] {-0.4,-0.6,0.2,-0.3,0.2,0.6,-0.4,0.2}\n"
              "x1 = const i32[2] {1,2}\n"
              "y0, y1, y2, y3 = ms_remove_padding x0 x1\n"
              "return y2\n",
        "i32[3] {0,1,3}");
    ck_result("x0 = const f32[2,2,2] {-0.4,-0.6,0.2,-0.3,0.2,0.6,-0.4,0.2}\n"
              "x1 = const i32[2] {1,2}\n"
              "y0, y1, y2, y3 = ms_remove_padding x0 x1\n"
              "return y3\n",
        "i32[1] {2}");
    ck_result_near("x0 = const f32[3,2] {-0.4,-0.6,0.2,0.6,-0.4,0.2}\n"
                   "x1 = const i32[2,2] {0,2,3,1}\n"
                   "y0 = ms_restore_padding x0 x1\n"
                   "return y0\n",
        "f32[2,2,2] {-0.4,-0.6,0,0,0.2,0.6,-0.4,0.2}", 1e-5);
}
END_TEST

START_TEST(packed_attention_has_its_values)
{
    ck_result_near("x0 = const f32[3,2] {0.6,-0.8,-0.3,-0.2,0.2,-0.1}\n"
                   "x1 = const f32[2,6] {-0.3,-0.2,0.3,-0.9,-0.1,0.8,0.2,0.5,0.6,0.8,-0.8,-0.9}\n"
                   "x2 = const f32[6] {-0.7,-0.4,-0.9,0.3,0.5,0.5}\n"
                   "x3 = const i32[2,2] {0,2,3,1}\n"
                   "x4 = const i32[3] {0,1,3}\n"
                   "x5 = const f32[2,1,2,2] {-0.1,-0.1,-0.4,0.9,0.6,0.6,0,-0.9}\n"
                   "y0 = ms_packed_attention x0 x1 x2 x3 x4 x5 {num_heads=1}\n"
                   "return y0\n",
        "f32[3,2] {1.08,1.7,0.6243956,0.5964412,0.652092,0.53039604}", 1e-5);
    ck_result_near(
        "x0 = const f32[3,1,3,2] {-0.8,-0.8,0.9,-0.8,0.1,0.4,0.6,0,0.3,-0.2,0.7,-0.8,-0.7,-0.4,"
        "0.2,-0.4,-0.8,0.7}\n"
        "x3 = const f32[6] {-0.7,-0.4,-0.9,0.3,0.5,0.5}\n"
        "x4 = const i32[2,2] {0,2,3,1}\n"
        "x5 = const i32[3] {0,1,3}\n"
        "y0 = ms_packed_multi_head_attention x0 _ _ x3 x4 x5 {num_heads=1}\n"
        "return y0\n",
        "f32[3,2] {0.6,0.9,0.4261432,0.47385684,0.37074748,0.5292526}", 1e-5);
    ck_result_near(
        "x0 = const f32[3,2] {-0.5,0.8,0.5,0.2,0.4,-0.4}\n"
        "x1 = const f32[3,2] {0.4,-0.3,-0.2,0.3,-0.1,0.8}\n"
        "x2 = const f32[3,4] {-0.4,-0.5,0.5,-0.9,-0.6,0.5,-0.9,-0.8,0.4,-0.2,-0.9,-0.7}\n"
        "x4 = const i32[2,2] {0,2,3,1}\n"
        "x5 = const i32[3] {0,1,3}\n"
        "x6 = const f32[2,1,2,2] {-0.1,-0.1,-0.4,0.9,0.6,0.6,0,-0.9}\n"
        "y0 = ms_packed_multi_head_attention x0 x1 x2 _ x4 x5 x6 {num_heads=1}\n"
        "return y0\n",
        "f32[3,4] {-0.4,-0.5,0.5,-0.9,-0.07350834,0.13145582,-0.9,-0.7473508,-0.33363363,"
        "0.31354353,-0.9,-0.77336335}",
        1e-5);
}
END_TEST

START_TEST(wrong_packed_inputs_are_refused)
{
    ck_failure("x = const f32[1,2,1] ones\n"
               "c = const i32[1] {3}\n"
               "y, a, b, d = ms_remove_padding x c\n"
               "return y\n",
        POPRT_E_ARG, "3 tokens, outside [0, 2]");
    ck_failure("x = const f32[1,1] ones\n"
               "o = const i32[1,2] {5,0}\n"
               "y = ms_restore_padding x o\n"
               "return y\n",
        POPRT_E_ARG, "place 5; there are 2");
    ck_failure("x = const f32[2,1] ones\n"
               "o = const i32[1,1] {0}\n"
               "y = ms_restore_padding x o\n"
               "return y\n",
        POPRT_E_SHAPE, "2 tokens for 1");
    ck_failure("x = const f32[1,1] ones\n"
               "w = const f32[1,3] ones\n"
               "b = const f32[3] ones\n"
               "o = const i32[1,1] {0}\n"
               "s = const i32[2] {0,2}\n"
               "y = ms_packed_attention x w b o s {num_heads=1}\n"
               "return y\n",
        POPRT_E_ARG, "tokens 0 to 2, but there are 1");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/packed", padding_is_removed_and_restored,
    packed_attention_has_its_values, wrong_packed_inputs_are_refused)
