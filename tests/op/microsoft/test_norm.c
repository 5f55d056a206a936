/* SPDX-License-Identifier: MIT */
/* test_norm.c — normalisations of com.microsoft. Expected values come from onnxruntime 1.31.1
 * or, where it has no CPU kernel, from numpy.
 * Covers: skip_norm.c, group_norm.c, gated.c. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(skip_layer_norm_has_its_values)
{
    ck_result_near("x0 = const f32[2,2,3] {0.5,-1,-0.1,0.3,-0.6,0.2,0.3,0.1,-1,0.2,-0.8,-0.9}\n"
                   "x1 = const f32[2,3] {0.7,0.7,0.8,-0.8,-0.4,-0.6}\n"
                   "x2 = const f32[3] {-0.3,-0.7,0.1}\n"
                   "x3 = const f32[3] {0.6,0.9,0.6}\n"
                   "x4 = const f32[3] {0,-0.3,-0.3}\n"
                   "y, _, _, s = ms_skip_layer_normalization x0 x1 x2 x3 x4\n"
                   "return y\n",
        "f32[2,2,3] {0.24691063,1.7872503,0.6090536,0.3058258,1.8609691,0.6392232,0.27928656,"
        "0.71291715,0.4663694,0.18815622,1.1745626,0.501942}",
        1e-5);
    ck_result_near("x0 = const f32[2,2,3] {0.5,-1,-0.1,0.3,-0.6,0.2,0.3,0.1,-1,0.2,-0.8,-0.9}\n"
                   "x1 = const f32[2,3] {0.7,0.7,0.8,-0.8,-0.4,-0.6}\n"
                   "x2 = const f32[3] {-0.3,-0.7,0.1}\n"
                   "x3 = const f32[3] {0.6,0.9,0.6}\n"
                   "x4 = const f32[3] {0,-0.3,-0.3}\n"
                   "y, _, _, s = ms_skip_layer_normalization x0 x1 x2 x3 x4\n"
                   "return s\n",
        "f32[2,2,3] {1.2,-0.6,0.39999998,-0.5,-1.3,-0.70000005,1,0.5,-0.5,-0.6,-1.5,-1.8}", 1e-5);
    ck_result_near("x0 = const f32[2,3] {0.4,-0.3,0.2,-0.7,-0.9,0.6}\n"
                   "x1 = const f32[2,3] {-0.6,0.7,0.9,-0.6,-0.4,0.1}\n"
                   "x2 = const f32[3] {-0.4,-0.9,0.1}\n"
                   "y0 = ms_skip_layer_normalization x0 x1 x2 {epsilon=0.5}\n"
                   "return y0\n",
        "f32[2,3] {0.28643575,0.033920053,0.07537784,0.22627418,0.5091169,0.11313708}", 1e-5);
    ck_result_near("x0 = const f32[2,2,3] {0.1,-0.6,0.3,0.6,-0.7,0.9,0.4,0.3,0.3,-0.5,-0.9,0.4}\n"
                   "x1 = const f32[1,2,3] {-0.2,0.8,-0.5,0.5,0.5,0.4}\n"
                   "x2 = const f32[3] {0.2,-0.5,0.9}\n"
                   "x3 = const f32[3] {-0.4,-0.4,0.7}\n"
                   "y, _, _, s = ms_skip_simplified_layer_normalization x0 x1 x2 x3\n"
                   "return y\n",
        "f32[2,2,3] {-0.23570226,0.23570228,1.0606601,0.110107735,0.23594514,1.4156708,"
        "-0.07844645,-0.68640643,0.88252246,-0.07934155,0.39670774,1.3388886}",
        1e-5);
    ck_result_near("x0 = const f32[2,2,3] {0.1,-0.6,0.3,0.6,-0.7,0.9,0.4,0.3,0.3,-0.5,-0.9,0.4}\n"
                   "x1 = const f32[1,2,3] {-0.2,0.8,-0.5,0.5,0.5,0.4}\n"
                   "x2 = const f32[3] {0.2,-0.5,0.9}\n"
                   "x3 = const f32[3] {-0.4,-0.4,0.7}\n"
                   "y, _, _, s = ms_skip_simplified_layer_normalization x0 x1 x2 x3\n"
                   "return s\n",
        "f32[2,2,3] {-0.5,-0.20000002,0.5,0.70000005,-0.6,2,-0.2,0.70000005,0.5,-0.4,-0.79999995,"
        "1.5}",
        1e-5);
}
END_TEST

START_TEST(embed_layer_norm_has_its_values)
{
    ck_result_near("x0 = const i32[2,2] {0,2,1,1}\n"
                   "x1 = const i32[2,2] {0,0,1,1}\n"
                   "x2 = const f32[3,3] {0.9,-0.1,-0.9,0.1,0.8,0.9,-0.5,0.6,0.5}\n"
                   "x3 = const f32[2,3] {0.7,0.7,0.3,-0.1,-0.2,0.4}\n"
                   "x4 = const f32[2,3] {-0.5,0.2,-0.8,-0.4,-1,-0.9}\n"
                   "x5 = const f32[3] {-0.8,-0.9,-0.7}\n"
                   "x6 = const f32[3] {-0.7,0.7,0.1}\n"
                   "x7 = const i32[2,2] {1,0,1,1}\n"
                   "y0, y1, y2 = ms_embed_layer_normalization x0 x1 x2 x3 x4 x5 x6 x7\n"
                   "return y0\n",
        "f32[2,2,3] {-1.3699265,0.18858296,1.0839545,0.38406485,-0.2251932,-0.12896192,-0.7,"
        "-0.40227062,0.9573211,-0.13431448,1.336396,-0.88994944}",
        1e-5);
    ck_result("x0 = const i32[2,2] {0,2,1,1}\n"
              "x1 = const i32[2,2] {0,0,1,1}\n"
              "x2 = const f32[3,3] {0.9,-0.1,-0.9,0.1,0.8,0.9,-0.5,0.6,0.5}\n"
              "x3 = const f32[2,3] {0.7,0.7,0.3,-0.1,-0.2,0.4}\n"
              "x4 = const f32[2,3] {-0.5,0.2,-0.8,-0.4,-1,-0.9}\n"
              "x5 = const f32[3] {-0.8,-0.9,-0.7}\n"
              "x6 = const f32[3] {-0.7,0.7,0.1}\n"
              "x7 = const i32[2,2] {1,0,1,1}\n"
              "y0, y1, y2 = ms_embed_layer_normalization x0 x1 x2 x3 x4 x5 x6 x7\n"
              "return y1\n",
        "i32[2] {1,2}");
    ck_result_near("x0 = const i32[2,2] {0,2,1,1}\n"
                   "x1 = const i32[2,2] {0,0,1,1}\n"
                   "x2 = const f32[3,3] {0.9,-0.1,-0.9,0.1,0.8,0.9,-0.5,0.6,0.5}\n"
                   "x3 = const f32[2,3] {0.7,0.7,0.3,-0.1,-0.2,0.4}\n"
                   "x4 = const f32[2,3] {-0.5,0.2,-0.8,-0.4,-1,-0.9}\n"
                   "x5 = const f32[3] {-0.8,-0.9,-0.7}\n"
                   "x6 = const f32[3] {-0.7,0.7,0.1}\n"
                   "x7 = const i32[2,2] {1,0,1,1}\n"
                   "y0, y1, y2 = ms_embed_layer_normalization x0 x1 x2 x3 x4 x5 x6 x7\n"
                   "return y2\n",
        "f32[2,2,3] {1.0999999,0.79999995,-1.4,-1.1,0.6,0.099999964,0.4,0.5,0.30000007,-0.4,"
        "-0.39999998,0.39999998}",
        1e-5);
    ck_result_near("x0 = const i32[2,2] {0,2,1,1}\n"
                   "x2 = const f32[3,3] {-0.6,0.6,0.3,-0.4,-1,-0.3,-0.4,-0.4,0.9}\n"
                   "x3 = const f32[2,3] {0.6,0.5,0.2,0.7,0.8,0.2}\n"
                   "x5 = const f32[3] {-0.2,-0.4,0.1}\n"
                   "x6 = const f32[3] {-0.6,-0.6,0.6}\n"
                   "x8 = const i32[1,2] {1,0}\n"
                   "y0, y1 = ms_embed_layer_normalization x0 _ x2 x3 _ x5 x6 _ x8\n"
                   "return y0\n",
        "f32[2,2,3] {-0.39153266,-1.1395626,0.56934303,-0.48140013,-0.2738503,0.7408374,"
        "-0.8777461,-0.22967198,0.55370903,-0.83249533,-0.088510394,0.6116248}",
        1e-5);
    ck_result("x0 = const i32[2,2] {0,2,1,1}\n"
              "x2 = const f32[3,3] {-0.6,0.6,0.3,-0.4,-1,-0.3,-0.4,-0.4,0.9}\n"
              "x3 = const f32[2,3] {0.6,0.5,0.2,0.7,0.8,0.2}\n"
              "x5 = const f32[3] {-0.2,-0.4,0.1}\n"
              "x6 = const f32[3] {-0.6,-0.6,0.6}\n"
              "x8 = const i32[1,2] {1,0}\n"
              "y0, y1 = ms_embed_layer_normalization x0 _ x2 x3 _ x5 x6 _ x8\n"
              "return y1\n",
        "i32[2] {0,0}");
}
END_TEST

START_TEST(group_norm_has_its_values)
{
    ck_result_near(
        "x0 = const f32[1,2,2,4] {-0.7,-0.4,0.8,0.4,0.2,-0.9,-0.8,-0.9,-0.7,-0.7,-0.8,-0.8,0.9,"
        "0.9,0.3,0.5}\n"
        "x1 = const f32[4] {-0.4,-0.1,-0.3,0.3}\n"
        "x2 = const f32[4] {-0.5,-0.4,-0.7,0.3}\n"
        "y0 = ms_group_norm x0 x1 x2 {groups=2, activation=0, channels_last=1}\n"
        "return y0\n",
        "f32[1,2,2,4] {-0.19748452,-0.36758763,-1.1269685,0.5495271,-0.7160825,-0.29556015,"
        "-0.41720262,-0.027157698,-0.19748452,-0.32437113,-0.41720262,0.017202655,-1.1194365,"
        "-0.5548591,-0.9051667,0.59388745}",
        1e-5);
    ck_result_near("x0 = const f32[1,4,2,1] {0.3,-0.7,-0.5,0.2,0.1,-0.2,-1,-0.8}\n"
                   "x1 = const f32[4] {-0.5,0.2,0.5,0.6}\n"
                   "x2 = const f32[4] {0.6,-0.6,0.7,-0.6}\n"
                   "y0 = ms_group_norm x0 x1 x2 {groups=2, activation=1, channels_last=0}\n"
                   "return y0\n",
        "f32[1,4,2,1] {0.025948113,0.9293206,-0.24067229,-0.16845445,1.0699799,0.7402405,"
        "-0.27835837,-0.27156386}",
        1e-5);
    ck_result_near(
        "x0 = const f32[2,1,2,2] {-0.5,-0.5,-0.4,-0.2,0.4,-0.7,-0.6,0.2}\n"
        "x1 = const f32[2] {0.5,-0.1}\n"
        "x2 = const f32[2] {0,0.2}\n"
        "x3 = const f32[2,2] {-0.1,1,-0.9,-0.8}\n"
        "x4 = const f32[2] {0,-0.7}\n"
        "y0, y1 = ms_skip_group_norm x0 x1 x2 x3 x4 {groups=2, activation=1, channels_last=1}\n"
        "return y0\n",
        "f32[2,1,2,2] {-0.18851085,0.17231837,0.31049213,0.052510135,0.31122226,0.17233115,"
        "-0.18876773,0.052499276}",
        1e-5);
    ck_result_near(
        "x0 = const f32[2,1,2,2] {-0.5,-0.5,-0.4,-0.2,0.4,-0.7,-0.6,0.2}\n"
        "x1 = const f32[2] {0.5,-0.1}\n"
        "x2 = const f32[2] {0,0.2}\n"
        "x3 = const f32[2,2] {-0.1,1,-0.9,-0.8}\n"
        "x4 = const f32[2] {0,-0.7}\n"
        "y0, y1 = ms_skip_group_norm x0 x1 x2 x3 x4 {groups=2, activation=1, channels_last=1}\n"
        "return y1\n",
        "f32[2,1,2,2] {-0.6,-0.19999999,-0.5,0.10000001,-0.49999997,-2.2,-1.5,-1.3}", 1e-5);
    ck_result_near(
        "x0 = const f32[1,1,3,4] {-0.1,-0.5,0.4,-0.8,-0.4,0.2,-0.3,0.4,0.5,0.5,0.2,-0.4}\n"
        "x1 = const f32[4] {-0.4,-0.9,0.3,-0.2}\n"
        "x2 = const f32[4] {-0.2,-0.8,-0.6,0.5}\n"
        "x3 = const f32[1,1,3,4] {-0.1,0.4,0.8,0.7,0.3,0.4,-0.9,-0.2,0.9,0.4,0.4,0.7}\n"
        "y0, y1 = ms_skip_group_norm x0 x1 x2 x3 {groups=2, activation=0, channels_last=1}\n"
        "return y0\n",
        "f32[1,1,3,4] {0.21222013,-0.02290939,-0.17640056,0.57287735,0.14537363,-1.0757419,"
        "-1.1602445,0.49089032,-0.857324,-1.5269557,-0.42236155,0.46356136}",
        1e-5);
    ck_result_near(
        "x0 = const f32[1,1,3,4] {-0.1,-0.5,0.4,-0.8,-0.4,0.2,-0.3,0.4,0.5,0.5,0.2,-0.4}\n"
        "x1 = const f32[4] {-0.4,-0.9,0.3,-0.2}\n"
        "x2 = const f32[4] {-0.2,-0.8,-0.6,0.5}\n"
        "x3 = const f32[1,1,3,4] {-0.1,0.4,0.8,0.7,0.3,0.4,-0.9,-0.2,0.9,0.4,0.4,0.7}\n"
        "y0, y1 = ms_skip_group_norm x0 x1 x2 x3 {groups=2, activation=0, channels_last=1}\n"
        "return y1\n",
        "f32[1,1,3,4] {-0.2,-0.099999994,1.2,-0.100000024,-0.099999994,0.6,-1.2,0.2,1.4,0.9,0.6,"
        "0.29999998}",
        1e-5);
}
END_TEST

START_TEST(gated_norms_have_their_values)
{
    ck_result_near("x0 = const f32[2,4] {-0.9,0.2,-0.4,0.2,-0.6,0.8,-0.3,0.3}\n"
                   "x1 = const f32[2] {-0.2,0.4}\n"
                   "x2 = const f32[2,4] {0.4,-0.4,-1,-1,-0.5,0.5,0.1,-0.1}\n"
                   "y0 = ms_gated_rms_norm x0 x1 x2 {activation=silu}\n"
                   "return y0\n",
        "f32[2,4] {0.06612006,-0.019698491,-0.06803399,-0.06803399,-0.032035068,0.14084506,"
        "0.010499001,-0.018999778}",
        1e-5);
    ck_result_near("x0 = const f32[2,4] {-0.9,0.2,-0.4,0.2,-0.6,0.8,-0.3,0.3}\n"
                   "x1 = const f32[2] {-0.2,0.4}\n"
                   "x2 = const f32[2,4] {0.4,-0.4,-1,-1,-0.5,0.5,0.1,-0.1}\n"
                   "y0 = ms_gated_rms_norm x0 x1 x2 {activation=sigmoid}\n"
                   "return y0\n",
        "f32[2,4] {0.16530015,0.049246226,0.06803399,0.06803399,0.064070135,0.28169012,"
        "0.104990005,0.18999776}",
        1e-5);
    ck_result_near("x0 = const f32[2,4] {-0.9,0.2,-0.4,0.2,-0.6,0.8,-0.3,0.3}\n"
                   "x1 = const f32[4] {-0.4,0.1,0.4,0.5}\n"
                   "y0 = ms_branchwise_rms_norm x0 x1 {num_branches=2}\n"
                   "return y0\n",
        "f32[2,4] {0.5522083,0.03067824,-0.5059391,0.31621197,0.33940786,0.113135956,-0.39997777,"
        "0.49997222}",
        1e-5);
    ck_result_near("x0 = const f32[2,2,2] {-0.9,0.2,-0.4,0.2,-0.6,0.8,-0.3,0.3}\n"
                   "x1 = const f32[2] {-0.2,0.4}\n"
                   "y0 = ms_branchwise_rms_norm x0 x1\n"
                   "return y0\n",
        "f32[2,2,2] {0.27610415,0.12271296,0.25296956,0.25296956,0.16970393,0.45254382,"
        "0.19998889,0.39997777}",
        1e-5);
    ck_result("x0 = const f16[2,3] {0.4,-0.9,-0.1,0.3,0.7,0.9}\n"
              "x1 = const f16[2,3] {0.4,0.4,-0.1,-0.1,-0.4,0.8}\n"
              "x2 = const f16[2,1] {-0.3,-0.5}\n"
              "y0 = ms_gated_add x0 x1 x2\n"
              "return y0\n",
        "f16[2,3] {0.2798,-1.02,-0.06995,0.35,0.9004,0.5}");
    ck_result_near("x0 = const f32[3] {0.6,0,-0.1}\n"
                   "y0 = ms_scaled_silu x0 {alpha=0.7}\n"
                   "return y0\n",
        "f32[3] {0.25346297,0,-0.0337755}", 1e-5);
    ck_result_near("x0 = const f32[3] {-0.9,-0.8,0.1}\n"
                   "x1 = const f32[] {0.3}\n"
                   "y0 = ms_scaled_silu x0 x1\n"
                   "return y0\n",
        "f32[3] {-0.11688492,-0.10566873,0.015224984}", 1e-5);
}
END_TEST

START_TEST(wrong_norm_inputs_are_refused)
{
    ck_failure("x = const f32[1,2] ones\n"
               "s = const f32[3,2] ones\n"
               "g = const f32[2] ones\n"
               "y = ms_skip_layer_normalization x s g\n"
               "return y\n",
        POPRT_E_SHAPE, "residual");
    ck_failure("x = const f32[1,2] ones\n"
               "g = const f32[3] ones\n"
               "y = ms_skip_layer_normalization x x g\n"
               "return y\n",
        POPRT_E_SHAPE, "gamma");
    ck_failure("i = const i32[1,1] {2}\n"
               "x = const f32[1,2] ones\n"
               "g = const f32[2] ones\n"
               "y = ms_embed_layer_normalization i _ x x _ g g\n"
               "return y\n",
        POPRT_E_ARG, "1 rows; row 2");
    ck_failure("i = const i32[1,1] {0}\n"
               "x = const f32[1,2] ones\n"
               "g = const f32[2] ones\n"
               "y = ms_embed_layer_normalization i i x x _ g g\n"
               "return y\n",
        POPRT_E_ARG, "must be given together");
    ck_failure("x = const f32[1,2] ones\n"
               "g = const f32[2] ones\n"
               "y = ms_group_norm x g g {groups=0}\n"
               "return y\n",
        POPRT_E_ARG, "groups is 0");
    ck_failure("x = const f32[1,2] ones\n"
               "g = const f32[2] ones\n"
               "y = ms_group_norm x g g {groups=3}\n"
               "return y\n",
        POPRT_E_SHAPE, "3 groups");
    ck_failure("x = const f32[1,2] ones\n"
               "g = const f32[2] ones\n"
               "y = ms_group_norm x g g {groups=1, activation=2}\n"
               "return y\n",
        POPRT_E_ARG, "activation is 2");
    ck_failure("x = const f32[1,2] ones\n"
               "g = const f32[0] {}\n"
               "y = ms_gated_rms_norm x g x\n"
               "return y\n",
        POPRT_E_SHAPE, "groups of 0");
    ck_failure("x = const f32[1,2] ones\n"
               "g = const f32[2] ones\n"
               "y = ms_gated_rms_norm x g x {activation=relu}\n"
               "return y\n",
        POPRT_E_PARSE, "accepted: silu");
    ck_failure("x = const f32[1,2] ones\n"
               "y = ms_branchwise_rms_norm x {num_branches=3}\n"
               "return y\n",
        POPRT_E_SHAPE, "3 branches");
    ck_failure("x = const f32[1,2] ones\n"
               "y = ms_gated_add x x x\n"
               "return y\n",
        POPRT_E_SHAPE, "gate");
}
END_TEST

START_TEST(empty_inputs_give_empty_outputs)
{
    ck_result("x = const f32[0,2,3] {}\ng = const f32[3] ones\n"
              "y = ms_skip_layer_normalization x x g\nreturn y\n",
        "f32[0,2,3] {}");
    ck_result("x = const f32[2,0] {}\ng = const f32[0] {}\n"
              "y = ms_skip_simplified_layer_normalization x x g\nreturn y\n",
        "f32[2,0] {}");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/norm", skip_layer_norm_has_its_values, embed_layer_norm_has_its_values,
    group_norm_has_its_values, gated_norms_have_their_values, wrong_norm_inputs_are_refused,
    empty_inputs_give_empty_outputs)
