/* SPDX-License-Identifier: MIT */
/* test_q_ordered.c — operators on int8 matrices in row-major order. Expected values come from
 * the formulas in doubles. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(ordered_operators_have_their_values)
{
    ck_result("a = const f32[2,3] {1,-2.6,300,0.24,0.26,-300}\n"
              "b = const f32[] {0.5}\n"
              "y = ms_quantize_with_order a b {order_input=1, order_output=1}\n"
              "return y\n",
        "i8[2,3] {2,-5,127,0,1,-128}");
    ck_result("a = const i8[2,3] {-100,-10,0,10,50,127}\n"
              "b = const f32[] {0.5}\n"
              "y = ms_dequantize_with_order a b {order_input=1, order_output=1, to=10}\n"
              "return y\n",
        "f16[2,3] {-50,-5,0,5,25,63.5}");
    ck_result("a = const i8[2,3] {-100,-10,0,10,50,127}\n"
              "b = const f32[] {0.05}\n"
              "c = const f32[] {0.04}\n"
              "y = ms_qordered_gelu a b c\n"
              "return y\n",
        "i8[2,3] {0,-4,0,9,62,127}");
    ck_result("a = const i8[2,3] {-100,-10,0,10,50,127}\n"
              "b = const f32[] {0.05}\n"
              "c = const f32[3] {1,2,0.5}\n"
              "d = const f32[3] {0.1,0,-0.2}\n"
              "e = const f32[] {0.013}\n"
              "y = ms_qordered_layer_normalization a b c d e\n"
              "return y\n",
        "i8[2,3] {-101,91,16,-75,-39,36}");
    ck_result("a = const i8[2,3] {-100,-10,0,10,50,127}\n"
              "b = const f32[] {0.05}\n"
              "c = const f32[3] {1,2,0.5}\n"
              "e = const f32[] {0.013}\n"
              "y = ms_qordered_layer_normalization a b c _ e\n"
              "return y\n",
        "i8[2,3] {-108,91,31,-83,-39,51}");
    ck_result("a = const i8[2,2,3] {-123,-36,-108,-78,-73,-31,-22,-115,-10,104,98,-93}\n"
              "b = const f32[] {0.02}\n"
              "c = const i8[3,2] {-47,-123,83,39,18,73}\n"
              "d = const f32[2] {0.01,0.03}\n"
              "e = const f32[] {0.07}\n"
              "y = ms_qordered_matmul a b c d e {order_A=1, order_B=0, order_Y=1}\n"
              "return y\n",
        "i8[2,2,2] {4,-114,29,-57,41,-31,-70,-8}");
    ck_result("a = const i8[2,2,3] {-123,-36,-108,-78,-73,-31,-22,-115,-10,104,98,-93}\n"
              "b = const f32[] {0.02}\n"
              "c = const i8[3,2] {-47,-123,83,39,18,73}\n"
              "d = const f32[2] {0.01,0.03}\n"
              "e = const f32[] {0.07}\n"
              "f = const f32[2] {5,-4}\n"
              "g = const i8[1,2,2] {-113,-58,-105,0}\n"
              "h = const f32[] {0.03}\n"
              "y = ms_qordered_matmul a b c d e f g h {order_A=1, order_B=0, order_Y=1}\n"
              "return y\n",
        "i8[2,2,2] {27,-128,55,-114,64,-113,-44,-65}");
}
END_TEST

START_TEST(wrong_orders_are_refused)
{
    ck_failure("a = const f32[2,3] {1,-2.6,300,0.24,0.26,-300}\n"
               "b = const f32[] {0.5}\n"
               "y = ms_quantize_with_order a b {order_input=1, order_output=2}\n"
               "return y\n",
        POPRT_E_UNSUPPORTED, "order_output is 2");
    ck_failure("a = const i8[2,3] {-100,-10,0,10,50,127}\n"
               "b = const f32[] {0.5}\n"
               "y = ms_dequantize_with_order a b {order_input=0, order_output=1, to=1}\n"
               "return y\n",
        POPRT_E_UNSUPPORTED, "order_input is 0");
    ck_failure("a = const i8[2,3] {-100,-10,0,10,50,127}\n"
               "b = const f32[] {0.5}\n"
               "y = ms_dequantize_with_order a b {order_input=1, order_output=1, to=7}\n"
               "return y\n",
        POPRT_E_TYPE, "to 7");
    ck_failure("a = const i8[2,3] {-100,-10,0,10,50,127}\n"
               "b = const f32[2] {1,2}\n"
               "c = const f32[] {0.5}\n"
               "y = ms_qordered_gelu a b c\n"
               "return y\n",
        POPRT_E_SHAPE, "not one number");
    ck_failure("a = const i8[2,3] {-100,-10,0,10,50,127}\n"
               "b = const f32[] {1}\n"
               "c = const f32[] {0.5}\n"
               "y = ms_qordered_gelu a b c {order_X=1, order_Y=2}\n"
               "return y\n",
        POPRT_E_ARG, "order_Y 2");
    ck_failure("a = const i8[2,3] {-100,-10,0,10,50,127}\n"
               "b = const f32[] {1}\n"
               "c = const f32[2] {1,2}\n"
               "e = const f32[] {1}\n"
               "y = ms_qordered_layer_normalization a b c _ e\n"
               "return y\n",
        POPRT_E_SHAPE, "");
    ck_failure("a = const i8[2,2,3] {-123,-36,-108,-78,-73,-31,-22,-115,-10,104,98,-93}\n"
               "b = const f32[] {1}\n"
               "c = const i8[3,2] {-47,-123,83,39,18,73}\n"
               "d = const f32[] {1}\n"
               "e = const f32[] {1}\n"
               "y = ms_qordered_matmul a b c d e {order_A=1, order_B=3, order_Y=1}\n"
               "return y\n",
        POPRT_E_UNSUPPORTED, "order_B is 3");
    ck_failure("a = const i8[2,2,3] {-123,-36,-108,-78,-73,-31,-22,-115,-10,104,98,-93}\n"
               "b = const f32[] {1}\n"
               "c = const i8[3,2] {-47,-123,83,39,18,73}\n"
               "d = const f32[3] {1,2,3}\n"
               "e = const f32[] {1}\n"
               "y = ms_qordered_matmul a b c d e {order_A=1, order_B=0, order_Y=1}\n"
               "return y\n",
        POPRT_E_SHAPE, "3 elements");
    ck_failure("a = const i8[2,2,3] {-123,-36,-108,-78,-73,-31,-22,-115,-10,104,98,-93}\n"
               "b = const f32[] {1}\n"
               "c = const i8[3,2] {-47,-123,83,39,18,73}\n"
               "d = const f32[] {1}\n"
               "e = const f32[] {1}\n"
               "g = const i8[1,2,2] {-113,-58,-105,0}\n"
               "y = ms_qordered_matmul a b c d e _ g {order_A=1, order_B=0, order_Y=1}\n"
               "return y\n",
        POPRT_E_ARG, "must be given together");
    ck_failure("a = const i8[2,2,3] {-123,-36,-108,-78,-73,-31,-22,-115,-10,104,98,-93}\n"
               "b = const f32[] {1}\n"
               "c = const i8[3,2] {-47,-123,83,39,18,73}\n"
               "d = const f32[] {1}\n"
               "e = const f32[] {1}\n"
               "g = const i8[1,2,3] {118,76,64,64,-42,122}\n"
               "h = const f32[] {1}\n"
               "y = ms_qordered_matmul a b c d e _ g h {order_A=1, order_B=0, order_Y=1}\n"
               "return y\n",
        POPRT_E_SHAPE, "a dim of C");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/q_ordered", ordered_operators_have_their_values,
    wrong_orders_are_refused)
