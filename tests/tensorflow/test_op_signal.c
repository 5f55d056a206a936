/* SPDX-License-Identifier: MIT */
/*
 * Complex numbers, transforms, matrices, quantisation and losses of TensorFlow have its results
 * (op_complex.c, op_signal.c, op_matrix.c, op_diagonal.c, op_quant.c, op_loss.c). The numbers are
 * those of TensorFlow 2.21.
 */
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/graphdef_text.h"

static void assert_converted(const char *text, int64_t opset, const char *parts)
{
    prt_module *m = NULL;
    const prt_tf_options options = { .opset = opset };
    ck_assert_msg(graphdef_read(text, &options, &m) == POPRT_OK, "%s", prt_error_last()->message);
    assert_text_has(graph_text(m->main), parts);
    module_free(m->main);
}

/* ---- complex numbers */

START_TEST(complex_numbers_are_two_parts)
{
    assert_graphdef_results("x = Const() value=float[2]{1,3}\n"
                            "y = Const() value=float[2]{2,-4}\n"
                            "c = Complex(x, y) T=float Tout=complex64\n"
                            "k = Const() value=complex64[2]{0,1,2,-1}\n"
                            "p = Mul(c, k) T=complex64\n"
                            "q = Sub(p, k) T=complex64\n"
                            "re = Real(q) T=complex64\n"
                            "im = Imag(q) T=complex64\n"
                            "a = ComplexAbs(c) T=complex64\n"
                            "j = Conj(c) T=complex64\n"
                            "w = Angle(j) T=complex64\n",
        "re = const f32[2] {-2, 0}\n"
        "im = const f32[2] {0, -10}\n"
        "a = const f32[2] {2.236068, 5}\n"
        "w = const f32[2] {-1.1071488, 0.92729522}\n"
        "return re, im, a, w\n",
        1e-6);
}
END_TEST

START_TEST(operators_without_a_complex_form_are_refused)
{
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[2]\n"
                            "c = Complex(x, x) T=float Tout=complex64\n"
                            "l = Log(c) T=complex64\n"
                            "y = Real(l) T=complex64\n",
        "Log complex");
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[2]\n"
                            "y = Complex(x, x) T=float Tout=complex64\n",
        "y:0 complex");
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[2]\n"
                            "y = Real(x) T=complex64\n",
        "input 0 not complex");
}
END_TEST

/* ---- transforms */

START_TEST(transforms_cut_their_input)
{
    static const char text[] = "x = Const() value=float[5]{1,2,3,4,9}\n"
                               "n = Const() value=int32[1]{4}\n"
                               "f = RFFT(x, n) Treal=float Tcomplex=complex64\n"
                               "re = Real(f) T=complex64\n"
                               "im = Imag(f) T=complex64\n";
    assert_graphdef_results(text,
        "re = const f32[3] {10, -2, -2}\n"
        "im = const f32[3] {0, 2, 0}\n"
        "return re, im\n",
        1e-6);
}
END_TEST

START_TEST(old_opsets_have_products_for_transforms)
{
    static const char text[] = "x = Placeholder() dtype=float shape=[?,8]\n"
                               "n = Const() value=int32[1]{8}\n"
                               "f = RFFT(x, n) Treal=float Tcomplex=complex64\n"
                               "y = ComplexAbs(f) T=complex64\n";
    assert_converted(text, 18, "dft !matmul");
    assert_converted(text, 11, "matmul !dft");
}
END_TEST

START_TEST(the_inverse_ignores_what_a_real_signal_has_not)
{
    assert_graphdef_results("x = Const() value=complex64[3]{1,5,2,1,3,7}\n"
                            "n = Const() value=int32[1]{4}\n"
                            "y = IRFFT(x, n) Treal=float Tcomplex=complex64\n",
        "y = const f32[4] {2, -1, 0, 0}\n"
        "return y\n",
        1e-6);
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[4]\n"
                            "n = Const() value=int32[1]{0}\n"
                            "f = RFFT(x, n) Treal=float Tcomplex=complex64\n"
                            "y = ComplexAbs(f) T=complex64\n",
        "RFFT fft_length");
}
END_TEST

START_TEST(spectrograms_have_frames_and_windows)
{
    assert_graphdef_results("x = Const() value=float[6,1]{1,2,3,4,5,6}\n"
                            "y = AudioSpectrogram(x) window_size=4 stride=2 "
                            "magnitude_squared=true\n",
        "y = const f32[1,2,3] {36, 10, 0, 100, 26, 0}\n"
        "return y\n",
        1e-6);
}
END_TEST

START_TEST(repeated_classes_are_merged_and_blanks_dropped)
{
    assert_graphdef_results("x = Const() value=float[6,1,3]{1,8,1,1,7,2,6,2,2,1,2,7,5,3,2,9,1,1}\n"
                            "l = Const() value=int32[1]{5}\n"
                            "c = CTCGreedyDecoder(x, l) merge_repeated=true T=float\n"
                            "i = Identity(c) T=int64\n"
                            "v = Identity(c:1) T=int64\n"
                            "s = Identity(c:2) T=int64\n"
                            "p = Identity(c:3) T=float\n",
        "i = const i64[3,2] {0, 0, 0, 1, 0, 2}\n"
        "v = const i64[3] {1, 0, 0}\n"
        "s = const i64[2] {1, 3}\n"
        "p = const f32[1,1] {-33}\n"
        "return i, v, s, p\n",
        0);
}
END_TEST

/* ---- matrices */

#define MATRIX "m = Const() value=float[3,4]{1,2,3,4,5,6,7,8,9,10,11,12}\n"

START_TEST(diagonals_lie_left_or_right)
{
    assert_graphdef_results(MATRIX "k = Const() value=int32[2]{-1, 2}\n"
                                   "z = Const() value=float[]{0}\n"
                                   "y = MatrixDiagPartV3(m, k, z) align=\"RIGHT_LEFT\" T=float\n"
                                   "d = Const() value=float[2]{0,-1}\n"
                                   "o = Const() value=int32[]{-1}\n"
                                   "s = MatrixSetDiagV3(m, d, o) align=\"LEFT_RIGHT\" T=float\n",
        "y = const f32[4,3] {0, 3, 8, 2, 7, 12, 1, 6, 11, 5, 10, 0}\n"
        "s = const f32[3,4] {1, 2, 3, 4, 0, 6, 7, 8, 9, -1, 11, 12}\n"
        "return y, s\n",
        0);
    assert_graphdef_results("d = Const() value=float[2,3]{1,2,3,4,5,0}\n"
                            "k = Const() value=int32[2]{-1, 0}\n"
                            "r = Const() value=int32[]{3}\n"
                            "c = Const() value=int32[]{4}\n"
                            "p = Const() value=float[]{9}\n"
                            "y = MatrixDiagV3(d, k, r, c, p) align=\"LEFT_LEFT\" T=float\n",
        "y = const f32[3,4] {1, 9, 9, 9, 4, 2, 9, 9, 9, 5, 3, 9}\n"
        "return y\n",
        0);
}
END_TEST

START_TEST(bounds_of_diagonals_must_be_known)
{
    assert_graphdef_refused(MATRIX "k = Placeholder() dtype=int32 shape=[]\n"
                                   "z = Const() value=float[]{0}\n"
                                   "y = MatrixDiagPartV3(m, k, z) T=float\n",
        "MatrixDiagPartV3 k constant");
    assert_graphdef_refused(MATRIX "k = Const() value=int32[2]{2, -1}\n"
                                   "z = Const() value=float[]{0}\n"
                                   "y = MatrixDiagPartV3(m, k, z) T=float\n",
        "MatrixDiagPartV3 k in order");
}
END_TEST

START_TEST(matrices_are_inverted_with_pivots)
{
    assert_graphdef_results("m = Const() value=float[3,3]{0,2,1,1,0,0,3,1,0}\n"
                            "b = Const() value=float[3,1]{1,2,3}\n"
                            "y = MatrixInverse(m) T=float\n"
                            "z = MatrixSolve(m, b) adjoint=true T=float\n",
        "y = const f32[3,3] {0, 1, 0, 0, -3, 1, 1, 6, -2}\n"
        "z = const f32[3,1] {3, 13, -4}\n"
        "return y, z\n",
        1e-6);
}
END_TEST

START_TEST(one_triangle_is_read)
{
    assert_graphdef_results("m = Const() value=float[2,2]{2,99,1,4}\n"
                            "b = Const() value=float[2,1]{2,9}\n"
                            "y = MatrixTriangularSolve(m, b) T=float\n"
                            "a = Const() value=float[2,2]{4,99,2,10}\n"
                            "c = Cholesky(a) T=float\n",
        "y = const f32[2,1] {1, 2}\n"
        "c = const f32[2,2] {2, 0, 1, 3}\n"
        "return y, c\n",
        1e-6);
}
END_TEST

/* ---- quantisation and losses */

START_TEST(fake_quantisation_is_linear_where_the_range_is_known)
{
    assert_graphdef_results("x = Const() value=float[6]{-9,-0.3,0.04,0.06,0.31,9}\n"
                            "y = FakeQuantWithMinMaxArgs(x) min=-1.0 max=1.0 num_bits=3\n",
        "y = const f32[6] {-0.8571429, -0.2857143, 0, 0, 0.2857143, 1.1428572}\n"
        "return y\n",
        1e-6);
    static const char vars[] = "x = Placeholder() dtype=float shape=[4,2]\n"
                               "a = Const() value=float[2]{-1,-2}\n"
                               "b = Const() value=float[2]{1,3}\n"
                               "y = FakeQuantWithMinMaxVarsPerChannel(x, a, b) narrow_range=true\n";
    assert_converted(vars, 18, "quantize_linear dequantize_linear axis=-1 max min !floor");
    assert_converted(vars, 11, "floor !quantize_linear");
    assert_converted("x = Placeholder() dtype=float shape=[4,2]\n"
                     "a = Placeholder() dtype=float shape=[]\n"
                     "b = Const() value=float[]{1}\n"
                     "y = FakeQuantWithMinMaxVars(x, a, b)\n",
        18, "floor !quantize_linear");
}
END_TEST

START_TEST(an_empty_range_is_zero)
{
    assert_graphdef_results("x = Const() value=float[3]{-9,0,1}\n"
                            "z = Const() value=float[]{0}\n"
                            "y = FakeQuantWithMinMaxVars(x, z, z)\n",
        "y = const f32[3] {0, 0, 0}\n"
        "return y\n",
        0);
}
END_TEST

START_TEST(ranges_are_widened_and_rounded)
{
    assert_graphdef_results("x = Const() value=float[5]{-9,-0.5,0.1,0.26,9}\n"
                            "a = Const() value=float[]{-1}\n"
                            "h = Const() value=float[]{0.5}\n"
                            "b = Const() value=float[]{1}\n"
                            "q = QuantizeV2(x, a, b) T=int8 mode=\"SCALED\"\n"
                            "r = QuantizeV2(x, h, b) T=uint8 mode=\"MIN_COMBINED\"\n"
                            "y = Identity(q) T=int8\n"
                            "l = Identity(q:1) T=float\n"
                            "z = Identity(r) T=uint8\n"
                            "d = Dequantize(z, a, b) T=uint8\n"
                            "e = Identity(z) T=uint8\n",
        "y = const i8[5] {-128, -64, 13, 33, 127}\n"
        "l = const f32[] {-1.0078740}\n"
        "d = const f32[5] {-1, -1, -0.79607843, -0.48235294, 1}\n"
        "e = const u8[5] {0, 0, 26, 66, 255}\n"
        "return y, l, d, e\n",
        1e-6);
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[5]\n"
                            "a = Const() value=float[]{-1}\n"
                            "q = QuantizeV2(x, a, a) T=uint8 mode=\"MIN_FIRST\"\n"
                            "y = Identity(q) T=uint8\n",
        "QuantizeV2 MIN_FIRST");
}
END_TEST

START_TEST(quantised_floats_keep_the_range_of_the_larger_side)
{
    assert_graphdef_results("x = Const() value=float[4]{-0.9,-0.26,0.3,0.61}\n"
                            "a = Const() value=float[]{-0.5}\n"
                            "b = Const() value=float[]{0.75}\n"
                            "y = QuantizeAndDequantizeV2(x, a, b) range_given=true num_bits=3 "
                            "T=float\n",
        "y = const f32[4] {-1, -0.25, 0.25, 0.5}\n"
        "return y\n",
        1e-6);
}
END_TEST

START_TEST(losses_have_their_gradient)
{
    assert_graphdef_results("x = Const() value=float[1,4]{0}\n"
                            "l = Const() value=int64[1]{2}\n"
                            "s = SparseSoftmaxCrossEntropyWithLogits(x, l) T=float Tlabels=int64\n"
                            "y = Identity(s) T=float\n"
                            "g = Identity(s:1) T=float\n",
        "y = const f32[1] {1.3862944}\n"
        "g = const f32[1,4] {0.25, 0.25, -0.75, 0.25}\n"
        "return y, g\n",
        1e-6);
}
END_TEST

PRT_TEST_MAIN("tensorflow/op_signal", complex_numbers_are_two_parts,
    operators_without_a_complex_form_are_refused, transforms_cut_their_input,
    old_opsets_have_products_for_transforms, the_inverse_ignores_what_a_real_signal_has_not,
    spectrograms_have_frames_and_windows, repeated_classes_are_merged_and_blanks_dropped,
    diagonals_lie_left_or_right, bounds_of_diagonals_must_be_known,
    matrices_are_inverted_with_pivots, one_triangle_is_read,
    fake_quantisation_is_linear_where_the_range_is_known, an_empty_range_is_zero,
    ranges_are_widened_and_rounded, quantised_floats_keep_the_range_of_the_larger_side,
    losses_have_their_gradient)
