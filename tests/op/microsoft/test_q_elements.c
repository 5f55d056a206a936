/* SPDX-License-Identifier: MIT */
/* test_q_elements.c — quantised element-wise operators, pools, convolutions and operators along
 * axes. Expected values come from ONNX Runtime where it has the operator.
 * Covers: q_axes.c, q_conv.c, q_pool.c, channels.c. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(binary_operators_have_their_values)
{
    ck_result("a = const i8[2,3] {-7,3,65,115,-120,-92}\n"
              "b = const f32[] {0.1}\n"
              "c = const i8[] {3}\n"
              "d = const i8[3] {82,114,-65}\n"
              "e = const f32[] {0.05}\n"
              "f = const i8[] {-7}\n"
              "g = const f32[] {0.08}\n"
              "h = const i8[] {5}\n"
              "y = ms_qlinear_add a b c d e f g h\n"
              "return y\n",
        "i8[2,3] {48,81,46,127,-73,-128}");
    ck_result("a = const u8[2,3] {79,222,108,69,211,65}\n"
              "b = const f32[] {0.1}\n"
              "c = const u8[] {130}\n"
              "d = const u8[2,1] {104,164}\n"
              "e = const f32[] {0.05}\n"
              "f = const u8[] {128}\n"
              "g = const f32[] {0.11}\n"
              "h = const u8[] {127}\n"
              "y = ms_qlinear_add a b c d e f g h\n"
              "return y\n",
        "u8[2,3] {70,200,96,88,217,84}");
    ck_result("a = const i8[2,3] {-7,3,65,115,-120,-92}\n"
              "b = const f32[] {0.1}\n"
              "c = const i8[] {3}\n"
              "d = const i8[3] {82,114,-65}\n"
              "e = const f32[] {0.05}\n"
              "f = const i8[] {-7}\n"
              "g = const f32[] {0.9}\n"
              "h = const i8[] {5}\n"
              "y = ms_qlinear_mul a b c d e f g h\n"
              "return y\n",
        "i8[2,3] {0,5,-15,60,-78,36}");
    ck_result("a = const u8[2,3] {79,222,108,69,211,65}\n"
              "b = const f32[] {0.1}\n"
              "c = const u8[] {130}\n"
              "d = const u8[2,1] {104,164}\n"
              "e = const f32[] {0.05}\n"
              "f = const u8[] {128}\n"
              "g = const f32[] {0.7}\n"
              "h = const u8[] {127}\n"
              "y = ms_qlinear_mul a b c d e f g h\n"
              "return y\n",
        "u8[2,3] {136,111,131,111,148,110}");
    ck_result("a = const i8[2] {1,-2}\n"
              "b = const f32[] {2}\n"
              "d = const i8[2] {3,100}\n"
              "e = const f32[] {1}\n"
              "g = const f32[] {0.5}\n"
              "y = ms_qlinear_add a b _ d e _ g\n"
              "return y\n",
        "i8[2] {10,127}");
    ck_result("a = const u8[3] {1,200,255}\n"
              "b = const u8[] {128}\n"
              "c = const u8[3] {7,0,255}\n"
              "y = ms_mul_integer a b c\n"
              "return y\n",
        "i32[3] {-889,0,32385}");
    ck_result("a = const i8[2,1] {-128,127}\n"
              "c = const i8[2] {-128,5}\n"
              "d = const i8[] {127}\n"
              "y = ms_mul_integer a _ c d\n"
              "return y\n",
        "i32[2,2] {32640,15616,-32385,-15494}");
}
END_TEST

START_TEST(where_and_activations_have_their_values)
{
    ck_result("a = const bool[3] {1,0,1}\n"
              "b = const i8[2,3] {-7,3,65,115,-120,-92}\n"
              "c = const f32[] {0.1}\n"
              "d = const i8[] {3}\n"
              "e = const i8[3] {82,114,-65}\n"
              "f = const f32[] {0.05}\n"
              "g = const i8[] {-7}\n"
              "h = const f32[] {0.083}\n"
              "i = const i8[] {5}\n"
              "y = ms_qlinear_where a b c d e f g h i\n"
              "return y\n",
        "i8[2,3] {-7,78,80,127,78,-109}");
    ck_result("a = const u8[2,3] {79,222,108,69,211,65}\n"
              "b = const f32[] {0.05}\n"
              "c = const u8[] {120}\n"
              "d = const f32[] {0.00390625}\n"
              "e = const u8[] {0}\n"
              "y = ms_qlinear_sigmoid a b c d e\n"
              "return y\n",
        "u8[2,3] {29,254,91,19,253,15}");
    ck_result("a = const i8[2,3] {-7,3,65,115,-120,-92}\n"
              "b = const f32[] {0.05}\n"
              "c = const i8[] {-3}\n"
              "d = const f32[] {0.00390625}\n"
              "e = const i8[] {-128}\n"
              "y = ms_qlinear_sigmoid a b c d e\n"
              "return y\n",
        "i8[2,3] {-13,19,120,127,-127,-125}");
    ck_result("a = const i8[2,3] {-7,3,65,115,-120,-92}\n"
              "b = const f32[] {0.05}\n"
              "c = const i8[] {-3}\n"
              "d = const f32[] {0.0317}\n"
              "e = const i8[] {1}\n"
              "y = ms_qlinear_leaky_relu a b c d e {alpha=0.3}\n"
              "return y\n",
        "i8[2,3] {-1,10,108,127,-54,-41}");
    ck_result("a = const u8[2,3] {79,222,108,69,211,65}\n"
              "b = const f32[] {0.05}\n"
              "c = const u8[] {128}\n"
              "d = const f32[] {0.03}\n"
              "e = const u8[] {100}\n"
              "y = ms_qlinear_leaky_relu a b c d e\n"
              "return y\n",
        "u8[2,3] {99,255,100,99,238,99}");
    ck_result("a = const i8[0,2] {}\n"
              "b = const f32[] {0.05}\n"
              "d = const f32[] {0.03}\n"
              "y = ms_qlinear_leaky_relu a b _ d\n"
              "return y\n",
        "i8[0,2] {}");
}
END_TEST

START_TEST(pools_have_their_values)
{
    ck_result("a = const u8[1,4,4,2] {140,21,7,221,192,214,137,209,84,115,201,31,77,31,116,250,34,"
              "98,103,231,52,128,67,5,192,15,71,127,124,29,251,191}\n"
              "b = const f32[] {0.05}\n"
              "c = const u8[] {100}\n"
              "d = const f32[] {0.03}\n"
              "e = const u8[] {120}\n"
              "y = ms_qlinear_average_pool a b c d e {kernel_shape=[2,3], channels_last=1, pads=[1,"
              "1,0,1], strides=[2,1]}\n"
              "return y\n",
        "u8[1,2,4,2] {76,155,142,207,140,255,228,255,129,151,106,129,124,141,83,126}");
    ck_result("a = const i8[1,2,5] {118,-105,57,-53,10,108,-58,57,-87,-46}\n"
              "b = const f32[] {0.05}\n"
              "c = const i8[] {-10}\n"
              "d = const f32[] {0.03}\n"
              "e = const i8[] {12}\n"
              "y = ms_qlinear_average_pool a b c d e {kernel_shape=[3], auto_pad=SAME_UPPER}\n"
              "return y\n",
        "i8[1,2,5] {40,68,-27,36,-7,70,88,-20,-14,-82}");
    ck_result("a = const i8[1,2,5] {118,-105,57,-53,10,108,-58,57,-87,-46}\n"
              "b = const f32[] {0.05}\n"
              "c = const i8[] {-10}\n"
              "d = const f32[] {0.03}\n"
              "e = const i8[] {12}\n"
              "y = ms_qlinear_average_pool a b c d e {kernel_shape=[3], pads=[2,2],"
              " count_include_pad=1}\n"
              "return y\n",
        "i8[1,2,7] {83,30,68,-27,36,-1,23,78,51,88,-20,-14,-51,-8}");
    ck_result("a = const u8[1,4,4,2] {140,21,7,221,192,214,137,209,84,115,201,31,77,31,116,250,34,"
              "98,103,231,52,128,67,5,192,15,71,127,124,29,251,191}\n"
              "b = const f32[] {0.05}\n"
              "c = const u8[] {100}\n"
              "d = const f32[] {0.03}\n"
              "e = const u8[] {120}\n"
              "y = ms_qlinear_global_average_pool a b c d e {channels_last=1}\n"
              "return y\n",
        "u8[1,1,1,2] {146,153}");
    ck_result("a = const u8[1,4,4,2] {140,21,7,221,192,214,137,209,84,115,201,31,77,31,116,250,34,"
              "98,103,231,52,128,67,5,192,15,71,127,124,29,251,191}\n"
              "b = const f32[] {0.05}\n"
              "c = const u8[] {100}\n"
              "d = const f32[] {0.03}\n"
              "e = const u8[] {120}\n"
              "y = ms_qlinear_global_average_pool a b c d e\n"
              "return y\n",
        "u8[1,4,1,1] {191,142,103,162}");
    ck_type("x = input u8[n,h,w,3]\n"
            "s = input f32[]\n"
            "z = input u8[]\n"
            "y = ms_qlinear_average_pool x s z s z {kernel_shape=[2,2], channels_last=1,"
            " strides=[2,2], pads=[0,0,1,1]}\n"
            "return y\n",
        "u8[n,((h+1)/2),((w+1)/2),3]");
    ck_type("x = input u8[n,h,w,3]\n"
            "s = input f32[]\n"
            "z = input u8[]\n"
            "y = ms_qlinear_global_average_pool x s z s z {channels_last=1}\n"
            "return y\n",
        "u8[n,1,1,3]");
}
END_TEST

START_TEST(softmax_concat_and_reductions_have_their_values)
{
    ck_result("a = const u8[2,2,3] {248,107,132,74,29,108,159,116,198,92,156,197}\n"
              "b = const f32[] {0.02}\n"
              "c = const u8[] {100}\n"
              "d = const f32[] {0.00390625}\n"
              "e = const u8[] {0}\n"
              "y = ms_qlinear_softmax a b c d e {axis=1, opset=13}\n"
              "return y\n",
        "u8[2,2,3] {248,212,158,8,44,98,203,79,129,53,177,127}");
    ck_result("a = const u8[2,2,3] {248,107,132,74,29,108,159,116,198,92,156,197}\n"
              "b = const f32[] {0.02}\n"
              "c = const u8[] {100}\n"
              "d = const f32[] {0.00390625}\n"
              "e = const u8[] {0}\n"
              "y = ms_qlinear_softmax a b c d e {axis=1, opset=11}\n"
              "return y\n",
        "u8[2,2,3] {203,12,20,6,3,12,37,16,80,10,35,79}");
    ck_result("a = const i8[2,5] {106,-19,-118,55,7,95,-11,-34,-113,-11}\n"
              "b = const f32[] {0.02}\n"
              "c = const i8[] {1}\n"
              "d = const f32[] {0.00390625}\n"
              "e = const i8[] {-128}\n"
              "y = ms_qlinear_softmax a b c d e {opset=13}\n"
              "return y\n",
        "i8[2,5] {33,-115,-126,-70,-106,64,-105,-113,-125,-105}");
    ck_result("a = const f32[] {0.05}\n"
              "b = const i8[] {10}\n"
              "c = const i8[2,3] {-7,3,65,115,-120,-92}\n"
              "d = const f32[] {0.05}\n"
              "e = const i8[] {10}\n"
              "f = const i8[2,1] {36,69}\n"
              "g = const f32[] {0.09}\n"
              "h = const i8[] {-5}\n"
              "y = ms_qlinear_concat a b c d e f g h {axis=1}\n"
              "return y\n",
        "i8[2,4] {-7,3,65,84,115,-120,-92,127}");
    ck_result("a = const f32[] {0.05}\n"
              "b = const u8[] {10}\n"
              "c = const u8[2,3] {79,222,108,69,211,65}\n"
              "d = const f32[] {0.02}\n"
              "e = const u8[] {77}\n"
              "y = ms_qlinear_concat a b c d e {axis=-2}\n"
              "return y\n",
        "u8[2,3] {11,68,22,7,64,5}");
    ck_result("a = const u8[2,2,3] {248,107,132,74,29,108,159,116,198,92,156,197}\n"
              "b = const f32[] {0.1}\n"
              "c = const u8[] {3}\n"
              "d = const f32[] {0.05}\n"
              "e = const u8[] {0}\n"
              "y = ms_qlinear_reduce_mean a b c d e {axes=[0,-1], keepdims=1}\n"
              "return y\n",
        "u8[1,2,1] {255,213}");
    ck_result("a = const i8[2,5] {106,-19,-118,55,7,95,-11,-34,-113,-11}\n"
              "b = const f32[] {0.1}\n"
              "d = const f32[] {0.15}\n"
              "y = ms_qlinear_reduce_mean a b _ d {axes=[1], keepdims=0}\n"
              "return y\n",
        "i8[2] {4,-10}");
    ck_result("a = const i8[2,5] {106,-19,-118,55,7,95,-11,-34,-113,-11}\n"
              "y = ms_reduce_sum_integer a {axes=[1], keepdims=0}\n"
              "return y\n",
        "i32[2] {31,-74}");
    ck_result("a = const u8[2,2,3] {248,107,132,74,29,108,159,116,198,92,156,197}\n"
              "y = ms_reduce_sum_integer a {axes=[0,1], keepdims=1}\n"
              "return y\n",
        "u32[1,1,3] {573,408,635}");
}
END_TEST

START_TEST(channels_last_conv_has_its_values)
{
    ck_result("a = const u8[1,3,3,2] {209,17,174,194,201,223,49,142,205,91,48,122,20,56,218,170,"
              "220,215}\n"
              "b = const f32[] {0.05}\n"
              "c = const u8[] {100}\n"
              "d = const i8[4,1,2,2] {90,-73,23,77,-62,-40,87,20,2,44,2,123,64,-115,-91,11}\n"
              "e = const f32[4] {0.1,0.2,0.05,0.3}\n"
              "f = const i8[4] {0,0,0,0}\n"
              "g = const f32[] {5}\n"
              "h = const u8[] {128}\n"
              "i = const i32[4] {1,-2,300,4}\n"
              "y = ms_qlinear_conv a b c d e f g h i {channels_last=1, group=2, pads=[1,0,0,1]}\n"
              "return y\n",
        "u8[1,3,3,4] {136,150,134,154,137,145,136,106,130,146,128,94,139,104,130,68,126,127,"
        "132,107,136,106,128,146,123,117,132,154,153,144,136,103,126,155,128,101}");
    ck_result("a = const u8[1,2,3,3] {209,174,201,49,205,48,20,218,220,17,194,223,142,91,122,56,"
              "170,215}\n"
              "b = const f32[] {0.05}\n"
              "c = const u8[] {100}\n"
              "d = const i8[4,1,2,2] {90,-73,23,77,-62,-40,87,20,2,44,2,123,64,-115,-91,11}\n"
              "e = const f32[4] {0.1,0.2,0.05,0.3}\n"
              "f = const i8[4] {0,0,0,0}\n"
              "g = const f32[] {5}\n"
              "h = const u8[] {128}\n"
              "i = const i32[4] {1,-2,300,4}\n"
              "y = ms_qlinear_conv a b c d e f g h i {group=2, strides=[2,1]}\n"
              "return y\n",
        "u8[1,4,1,2] {139,126,104,127,130,132,68,107}");
    ck_type("x = input u8[n,h,w,3]\n"
            "s = input f32[]\n"
            "z = input u8[]\n"
            "k = input u8[8,3,1,1]\n"
            "y = ms_qlinear_conv x s z k s z s z {channels_last=1}\n"
            "return y\n",
        "u8[n,h,w,8]");
}
END_TEST

START_TEST(wrong_quantized_inputs_are_refused)
{
    ck_failure("a = const i8[2] {1,2}\n"
               "b = const f32[2] {1,2}\n"
               "d = const i8[2] {1,2}\n"
               "e = const f32[] {1}\n"
               "g = const f32[] {1}\n"
               "y = ms_qlinear_add a b _ d e _ g\n"
               "return y\n",
        POPRT_E_SHAPE, "not one number");
    ck_failure("a = const i8[2] {1,2}\n"
               "b = const f32[] {1}\n"
               "d = const i8[3] {1,2,3}\n"
               "e = const f32[] {1}\n"
               "g = const f32[] {1}\n"
               "y = ms_qlinear_add a b _ d e _ g\n"
               "return y\n",
        POPRT_E_SHAPE, "do not broadcast");
    ck_failure("a = const i8[2] {1,2}\n"
               "b = const i8[2] {1,2}\n"
               "c = const i8[2] {1,2}\n"
               "y = ms_mul_integer a b c\n"
               "return y\n",
        POPRT_E_SHAPE, "not one number");
    ck_failure("a = const bool[1] {1}\n"
               "b = const i8[1] {1}\n"
               "c = const f32[] {1}\n"
               "d = const i8[1] {1}\n"
               "e = const i8[1] {1}\n"
               "f = const f32[] {1}\n"
               "g = const i8[1] {1}\n"
               "h = const f32[2] {1,1}\n"
               "i = const i8[] {0}\n"
               "y = ms_qlinear_where a b c d e f g h i\n"
               "return y\n",
        POPRT_E_SHAPE, "not one number");
    ck_failure("a = const i8[1] {1}\n"
               "b = const f32[] {1}\n"
               "d = const f32[] {1}\n"
               "e = const i8[] {0}\n"
               "y = ms_qlinear_softmax a b _ d e\n"
               "return y\n",
        POPRT_E_ARG, "opset");
    ck_failure("a = const i8[1] {1}\n"
               "b = const f32[] {1}\n"
               "d = const f32[] {1}\n"
               "e = const i8[] {0}\n"
               "y = ms_qlinear_softmax a b _ d e {opset=13, axis=1}\n"
               "return y\n",
        POPRT_E_SHAPE, "axis 1");
    ck_failure("a = const f32[] {1}\n"
               "b = const i8[] {0}\n"
               "c = const i8[1] {1}\n"
               "d = const f32[] {1}\n"
               "y = ms_qlinear_concat a b c d\n"
               "return y\n",
        POPRT_E_PARSE, "one group of three");
    ck_failure("a = const f32[] {1}\n"
               "b = const i8[] {0}\n"
               "c = const i8[1] {1}\n"
               "d = const i8[] {0}\n"
               "e = const f32[] {1}\n"
               "y = ms_qlinear_concat a b c d e\n"
               "return y\n",
        POPRT_E_TYPE, "inputs 2 to 4");
    ck_failure("a = const f32[] {1}\n"
               "b = const i8[] {0}\n"
               "c = const i8[1] {1}\n"
               "d = const f32[2] {1,1}\n"
               "e = const i8[] {0}\n"
               "y = ms_qlinear_concat a b c d e\n"
               "return y\n",
        POPRT_E_SHAPE, "not one number");
    ck_failure("a = const i8[1] {1}\n"
               "y = ms_reduce_sum_integer a {axes=[2], keepdims=1}\n"
               "return y\n",
        POPRT_E_SHAPE, "axis");
    ck_failure("a = const i8[1] {1}\n"
               "b = const f32[2] {1,1}\n"
               "d = const f32[] {1}\n"
               "y = ms_qlinear_reduce_mean a b _ d {axes=[0], keepdims=1}\n"
               "return y\n",
        POPRT_E_SHAPE, "not one number");
    ck_failure("a = const i8[1,2,5] {118,-105,57,-53,10,108,-58,57,-87,-46}\n"
               "b = const f32[] {1}\n"
               "d = const f32[] {1}\n"
               "y = ms_qlinear_average_pool a b _ d\n"
               "return y\n",
        POPRT_E_ARG, "kernel_shape");
    ck_failure("a = const u8[1,3,3,2] {209,17,174,194,201,223,49,142,205,91,48,122,20,56,218,170,"
               "220,215}\n"
               "b = const f32[] {1}\n"
               "c = const u8[] {0}\n"
               "d = const i8[4,1,2,2] {90,-73,23,77,-62,-40,87,20,2,44,2,123,64,-115,-91,11}\n"
               "e = const f32[] {1}\n"
               "f = const i8[] {0}\n"
               "g = const f32[] {1}\n"
               "h = const u8[] {0}\n"
               "y = ms_qlinear_conv a b c d e f g h {channels_last=1}\n"
               "return y\n",
        POPRT_E_SHAPE, "channels");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/q_elements", binary_operators_have_their_values,
    where_and_activations_have_their_values, pools_have_their_values,
    softmax_concat_and_reductions_have_their_values, channels_last_conv_has_its_values,
    wrong_quantized_inputs_are_refused)
