/* SPDX-License-Identifier: MIT */
/* test_moe.c — MoE, the mixture of experts. Expected values come from onnxruntime 1.31.1 or,
 * where it has no CPU kernel, from numpy. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(experts_have_their_values)
{
    ck_result_near("x0 = const f32[2,2] {1,0.3,-0.3,0.1}\n"
                   "x1 = const f32[2,3] {0.5,-1,0.25,1,2,1.5}\n"
                   "x2 = const f32[3,2,2] {-0.1,-0.2,1,0.8,-0.2,0.9,1,-0.1,0.2,0,0.1,0.6}\n"
                   "x3 = const f32[3,2] {0.5,-0.9,-1,0.2,-0.4,0.6}\n"
                   "x4 = const f32[3,2,2] {-0.9,-0.5,0.2,0.5,-0.2,0,-0.3,-0.4,-0.3,0.4,0.2,-0.8}\n"
                   "x5 = const f32[3,2] {0.2,0.7,-0.2,0.6,0.5,0}\n"
                   "y0 = ms_moe x0 x1 x2 x3 x4 x5 {k=2}\n"
                   "return y0\n",
        "f32[2,2] {0.1935822,0.1946742,0.12971523,0.14906153}", 1e-5);
    ck_result_near("x0 = const f32[2,2] {-0.8,0.1,-0.4,1}\n"
                   "x1 = const f32[2,3] {0.5,-1,0.25,1,2,1.5}\n"
                   "x2 = const f32[3,2,2] {0.7,0.1,0.4,0.6,0.9,0.4,-0.2,-0.7,0.6,-0.8,-0.9,0.6}\n"
                   "x3 = const f32[3,2] {0.5,-0.2,0.7,0.8,-0.2,-0.9}\n"
                   "x4 = const f32[3,2,2] {-0.7,-0.1,-0.5,-0.8,-0.2,-0.1,0.4,0.6,0.2,1,-0.5,0}\n"
                   "x5 = const f32[3,2] {-0.3,-0.2,-0.8,0.1,0.3,-0.7}\n"
                   "y0 = ms_moe x0 x1 x2 x3 x4 x5 {k=1, activation_type=gelu}\n"
                   "return y0\n",
        "f32[2,2] {-0.13404544,-0.034573287,-0.46813184,0.19738084}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,2] {-0.8,-0.1,0.8,-0.9}\n"
        "x1 = const f32[2,3] {0.5,-1,0.25,1,2,1.5}\n"
        "x2 = const f32[3,2,2] {-0.9,0.6,-0.3,0,0.5,-0.4,1,-0.2,0,1,0.1,-0.6}\n"
        "x3 = const f32[3,2] {-0.5,0.7,-0.2,-0.3,-1,-1}\n"
        "x4 = const f32[3,2,2] {-0.7,-0.4,1,0.1,-0.9,0,-0.4,0.8,1,0.1,0.5,-0.3}\n"
        "x5 = const f32[3,2] {-0.6,0.3,-0.9,0,0.6,-0.6}\n"
        "y0 = ms_moe x0 x1 x2 x3 x4 x5 {k=2, activation_type=silu, normalize_routing_weights=1}\n"
        "return y0\n",
        "f32[2,2] {-0.39272076,-0.03210756,-0.63251334,-0.11969742}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,2] {0.5,-0.6,0.4,-0.6}\n"
        "x1 = const f32[2,3] {0.5,-1,0.25,1,2,1.5}\n"
        "x2 = const f32[3,4,2] {-0.1,-0.2,-0.9,0.3,-0.8,0.3,0,0.7,-0.1,-0.9,-0.3,0.4,-0.8,-0.6,"
        "-0.8,0.6,-0.5,-0.7,0.3,-0.5,0.2,0.5,0.3,0.6}\n"
        "x3 = const f32[3,4] {-0.5,0.5,0.2,-0.2,0.3,0.3,-0.7,-0.5,0.1,-0.6,-0.1,-0.2}\n"
        "x4 = const f32[3,2,2] {0.1,-0.7,0.2,0.5,0,-0.3,-0.6,0.7,0.9,0.6,-0.4,0.6}\n"
        "x5 = const f32[3,2] {-0.2,-0.6,-0.1,-1,-0.8,0.1}\n"
        "y0 = ms_moe x0 x1 x2 x3 x4 x5 {k=2, activation_type=swiglu, swiglu_fusion=1, "
        "activation_alpha=1.5, activation_beta=1, swiglu_limit=0.5}\n"
        "return y0\n",
        "f32[2,2] {-0.36143816,-0.3283211,-0.2506305,-0.63700604}", 1e-5);
    ck_result_near("x0 = const f32[2,2] {0.9,0.4,-0.4,-1}\n"
                   "x1 = const f32[2,3] {0.5,-1,0.25,1,2,1.5}\n"
                   "x2 = const f32[3,2,2] {0.6,-0.9,0.5,0.5,-0.8,0.5,0,-0.4,0.6,-0.5,0.3,-0.7}\n"
                   "x3 = const f32[3,2] {0.8,0.4,-0.1,-0.8,1,0}\n"
                   "x4 = const f32[3,2,2] {0.8,1,0.2,-0.1,-0.4,-0.1,-0.2,-0.7,-0.6,0.7,0.8,0}\n"
                   "x5 = const f32[3,2] {1,0.2,-0.4,0.5,0.4,0.5}\n"
                   "y0 = ms_moe x0 x1 x2 x3 x4 x5 {k=3, activation_type=identity}\n"
                   "return y0\n",
        "f32[2,2] {1.2495025,0.90135556,0.2378054,0.98393}", 1e-5);
}
END_TEST

START_TEST(wrong_experts_are_refused)
{
    ck_failure("x = const f32[1,2] ones\n"
               "r = const f32[1,2] {1,1.001}\n"
               "w = const f32[2,2,2] ones\n"
               "y = ms_moe x r w _ w {k=3}\n"
               "return y\n",
        POPRT_E_ARG, "k is 3, but there are 2 experts");
    ck_failure("x = const f32[1,2] ones\n"
               "r = const f32[1,2] {1,1.001}\n"
               "w = const f32[2,2,2] ones\n"
               "y = ms_moe x r w _ w {activation_type=tanh}\n"
               "return y\n",
        POPRT_E_PARSE, "accepted: relu");
    ck_failure("x = const f32[1,2] ones\n"
               "r = const f32[1,2] {1,1.001}\n"
               "w = const f32[2,2,2] ones\n"
               "y = ms_moe x r w _ w {activation_type=swiglu}\n"
               "return y\n",
        POPRT_E_ARG, "needs fc3");
    ck_failure("x = const f32[1,2] ones\n"
               "r = const f32[1,2] {1,1.001}\n"
               "w = const f32[2,2,2] ones\n"
               "y = ms_moe x r w _ w {use_sparse_mixer=1}\n"
               "return y\n",
        POPRT_E_ARG, "k is 1");
}
END_TEST

/* The third layer gates the first. The sparse mixer gives the first expert its share among the
 * experts with nearly the same score, and the second expert all of the rest. */
START_TEST(the_third_layer_gates_the_first)
{
    ck_result("x = const f32[1,2] ones\nr = const f32[1,1] {5}\nw = const f32[1,1,2] {1,2}\n"
              "v = const f32[1,2,1] {1,3}\ny = ms_moe x r w _ v _ w\nreturn y\n",
        "f32[1,2] {9,27}");
    ck_result_near("x = const f32[1,1] ones\nr = const f32[1,2] {0,8}\nw = const f32[2,1,1] {1,3}\n"
                   "y = ms_moe x r w _ w {k=2, use_sparse_mixer=1}\nreturn y\n",
        "f32[1,1] {10}", 1e-6);
}
END_TEST

PRT_TEST_MAIN("op/microsoft/moe", experts_have_their_values, wrong_experts_are_refused,
    the_third_layer_gates_the_first)
