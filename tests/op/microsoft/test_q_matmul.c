/* SPDX-License-Identifier: MIT */
/* test_q_matmul.c — products of quantised matrices. Expected values come from ONNX Runtime.
 * Covers: quant_params.c. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(products_with_float_results_have_their_values)
{
    ck_result_near(
        "a = const f32[2,2,3] {0.35,0.82,0.33,-1.3,0.91,0.45,-0.54,0.58,0.36,0.29,0.03,0.55}\n"
        "b = const i8[3,4] {81,-44,-13,73,-97,-51,-97,-12,122,-94,-30,-25}\n"
        "c = const f32[4] {0.1,0.02,0.3,0.05}\n"
        "d = const i8[4] {-21,4,-54,-99}\n"
        "e = const f32[4] {1,-2,0.5,0}\n"
        "y = ms_dynamic_quantize_matmul a b c d e\n"
        "return y\n",
        "f32[2,2,4] {2.9881334,-3.88396,-3.4858003,7.7813673,-12.731467,-2.6363068,"
        "-23.984201,-5.5540338,-3.6886668,-2.8363333,-10.979001,-0.7483667,11.527401,"
        "-3.37332,7.6136007,4.5929003}",
        1e-6);
    ck_result_near(
        "a = const f32[2,2,3] {0.35,0.82,0.33,-1.3,0.91,0.45,-0.54,0.58,0.36,0.29,0.03,0.55}\n"
        "b = const u8[2,3,2] {231,52,128,67,5,192,15,71,127,124,29,251}\n"
        "c = const f32[] {0.05}\n"
        "y = ms_dynamic_quantize_matmul a b c\n"
        "return y\n",
        "f32[2,2,2] {9.355667,6.8211007,-9.078334,3.9949002,3.8120337,6.2608004,1.1713,"
        "8.028801}",
        1e-6);
    ck_result_near("a = const u8[2,3] {191,246,23,185,75,138}\n"
                   "b = const i8[3,4] {81,-44,-13,73,-97,-51,-97,-12,122,-94,-30,-25}\n"
                   "c = const f32[] {0.1}\n"
                   "d = const f32[4] {0.1,0.02,0.3,0.05}\n"
                   "e = const u8[] {128}\n"
                   "f = const i8[4] {-20,31,-12,70}\n"
                   "g = const f32[4] {1,-2,0.5,0}\n"
                   "y = ms_matmul_integer_to_float a b c d e f g\n"
                   "return y\n",
        "f32[2,4] {-175.33002,-4.552,-245.59001,2.44,113.58001,-4.358,128.54001,17.835001}", 1e-6);
    ck_result_near("a = const i8[2,3] {108,-58,57,-87,-46,120}\n"
                   "b = const i8[3,4] {81,-44,-13,73,-97,-51,-97,-12,122,-94,-30,-25}\n"
                   "c = const f32[] {0.1}\n"
                   "d = const f32[] {0.02}\n"
                   "y = ms_matmul_integer_to_float a b c d\n"
                   "return y\n",
        "f32[2,4] {42.656002,-14.304001,5.024,14.31,24.11,-10.212001,3.9860003,-17.598001}", 1e-6);
    ck_type("a = input f32[n,s,8]\n"
            "b = input i8[8,4]\n"
            "s = input f32[4]\n"
            "y = ms_dynamic_quantize_matmul a b s\n"
            "return y\n",
        "f32[n,s,4]");
}
END_TEST

START_TEST(int16_products_have_their_values)
{
    ck_result("a = const i16[2,3] {-8989,7405,17877,27348,-4764,-30174}\n"
              "b = const i16[3,2] {14321,1873,24385,-2665,-8646,-28682}\n"
              "y = ms_matmul_integer16 a b\n"
              "return y\n",
        "i32[2,2] {-102725086,-549318836,536364972,929369532}");
    ck_result("a = const u16[1,2] {65535,65535}\n"
              "b = const u16[2,1] {65535,65535}\n"
              "y = ms_matmul_integer16 a b\n"
              "return y\n",
        "u32[1,1] {4294705154}");
    ck_result("a = const i16[1,2] {-32768,-32768}\n"
              "b = const i16[2,1] {-32768,-32768}\n"
              "y = ms_matmul_integer16 a b\n"
              "return y\n",
        "i32[1,1] {-2147483648}");
}
END_TEST

START_TEST(qgemm_has_its_values)
{
    ck_result("a = const u8[2,3] {191,246,23,185,75,138}\n"
              "b = const f32[] {0.1}\n"
              "c = const u8[] {120}\n"
              "d = const i8[3,4] {81,-44,-13,73,-97,-51,-97,-12,122,-94,-30,-25}\n"
              "e = const f32[4] {0.1,0.02,0.3,0.05}\n"
              "f = const i8[4] {-11,36,69,90}\n"
              "g = const i32[4] {100,-200,3,4}\n"
              "h = const f32[] {5}\n"
              "i = const u8[] {100}\n"
              "y = ms_qgemm a b c d e f g h i\n"
              "return y\n",
        "u8[2,4] {66,98,0,97,125,98,102,101}");
    ck_result_near("a = const i8[3,2] {108,-87,-58,-46,57,120}\n"
                   "b = const f32[] {0.1}\n"
                   "c = const i8[] {12}\n"
                   "d = const i8[4,3] {81,-97,122,-44,-51,-94,-13,-97,-30,73,-12,-25}\n"
                   "e = const f32[] {0.2}\n"
                   "f = const i8[] {-3}\n"
                   "g = const i32[2,1] {10,-20}\n"
                   "y = ms_qgemm a b c d e f g {transA=1, transB=1, alpha=0.5}\n"
                   "return y\n",
        "f32[2,4] {202.79001,-46.610004,44.15,69.46001,106.16001,-30.050003,35.06,-93.98}", 1e-6);
    ck_result("a = const i8[2,3] {108,-58,57,-87,-46,120}\n"
              "b = const f32[] {0.1}\n"
              "c = const i8[] {12}\n"
              "d = const i8[3,4] {81,-44,-13,73,-97,-51,-97,-12,122,-94,-30,-25}\n"
              "e = const f32[] {0.2}\n"
              "f = const i8[] {-3}\n"
              "h = const f32[] {5.1}\n"
              "i = const i8[] {-9}\n"
              "y = ms_qgemm a b c d e f _ h i {alpha=2.0}\n"
              "return y\n",
        "i8[2,4] {127,-46,26,45,74,-32,19,-83}");
}
END_TEST

START_TEST(wrong_quantized_inputs_are_refused)
{
    ck_failure("a = const i8[2,3] {108,-58,57,-87,-46,120}\n"
               "b = const i8[3,4] {81,-44,-13,73,-97,-51,-97,-12,122,-94,-30,-25}\n"
               "c = const f32[2] {0.1,0.2}\n"
               "d = const f32[] {1}\n"
               "y = ms_matmul_integer_to_float a b c d\n"
               "return y\n",
        POPRT_E_SHAPE, "not one number");
    ck_failure("a = const i8[2,3] {108,-58,57,-87,-46,120}\n"
               "b = const i8[3,4] {81,-44,-13,73,-97,-51,-97,-12,122,-94,-30,-25}\n"
               "c = const f32[] {0.1}\n"
               "d = const f32[2] {1,2}\n"
               "y = ms_matmul_integer_to_float a b c d\n"
               "return y\n",
        POPRT_E_SHAPE, "2 elements; 1, 4");
    ck_failure(
        "a = const f32[2,2,3] {0.35,0.82,0.33,-1.3,0.91,0.45,-0.54,0.58,0.36,0.29,0.03,0.55}\n"
        "b = const i8[3,4] {81,-44,-13,73,-97,-51,-97,-12,122,-94,-30,-25}\n"
        "c = const f32[] {1}\n"
        "e = const f32[2] {1,2}\n"
        "y = ms_dynamic_quantize_matmul a b c _ e\n"
        "return y\n",
        POPRT_E_SHAPE, "bias");
    ck_failure("a = const i16[2,3] {-18688,6090,19951,-15723,-10182,22274}\n"
               "b = const i16[2,3] {5346,622,11382,713,31518,16582}\n"
               "y = ms_matmul_integer16 a b\n"
               "return y\n",
        POPRT_E_SHAPE, "inner dim");
    ck_failure("a = const i8[2,3] {108,-58,57,-87,-46,120}\n"
               "b = const f32[] {0.1}\n"
               "c = const i8[] {12}\n"
               "d = const i8[3,4] {81,-44,-13,73,-97,-51,-97,-12,122,-94,-30,-25}\n"
               "e = const f32[] {0.2}\n"
               "f = const i8[] {-3}\n"
               "h = const f32[] {5.1}\n"
               "y = ms_qgemm a b c d e f _ h\n"
               "return y\n",
        POPRT_E_ARG, "must be given together");
    ck_failure("a = const i8[2,3] {108,-58,57,-87,-46,120}\n"
               "b = const f32[] {0.1}\n"
               "c = const i8[] {12}\n"
               "d = const i8[3,4] {81,-44,-13,73,-97,-51,-97,-12,122,-94,-30,-25}\n"
               "e = const f32[] {0.2}\n"
               "f = const i8[] {-3}\n"
               "g = const i32[3] {0,0,0}\n"
               "y = ms_qgemm a b c d e f g\n"
               "return y\n",
        POPRT_E_SHAPE, "does not broadcast");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/q_matmul", products_with_float_results_have_their_values,
    int16_products_have_their_values, qgemm_has_its_values, wrong_quantized_inputs_are_refused)
