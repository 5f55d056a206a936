/* SPDX-License-Identifier: MIT */
/*
 * Element-wise operators of TensorFlow have its results where the operator of ONNX differs:
 * division, zeros, types (op_math.c), bits (op_bits.c), and special functions (op_special.c).
 */
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/graphdef_text.h"

START_TEST(integer_quotients_are_rounded_down_or_toward_zero)
{
    assert_graphdef_results("x = Const() value=int32[6]{-7, 7, -7, 7, -9, 0}\n"
                            "y = Const() value=int32[6]{2, -2, -2, 2, 3, 5}\n"
                            "u = Const() value=uint8[2]{200, 7}\n"
                            "three = Const() value=uint8[]{3}\n"
                            "a = FloorDiv(x, y) T=int32\n"
                            "b = FloorMod(x, y) T=int32\n"
                            "c = TruncateDiv(x, y) T=int32\n"
                            "d = TruncateMod(x, y) T=int32\n"
                            "e = FloorDiv(u, three) T=uint8\n"
                            "f = Mod(x, y) T=int32\n",
        "a = const i32[6] {-4, -4, 3, 3, -3, 0}\n"
        "b = const i32[6] {1, -1, -1, 1, 0, 0}\n"
        "c = const i32[6] {-3, -3, 3, 3, -3, 0}\n"
        "d = const i32[6] {-1, 1, -1, 1, 0, 0}\n"
        "e = const u8[2] {66, 2}\n"
        "return a, b, c, d, e, d\n",
        0);
}
END_TEST

START_TEST(float_quotients_are_rounded_down)
{
    assert_graphdef_results("x = Const() value=float[4]{-7.5, 7.5, 6, -1}\n"
                            "y = Const() value=float[4]{2, -2, 3, 4}\n"
                            "a = FloorDiv(x, y) T=float\n"
                            "b = FloorMod(x, y) T=float\n"
                            "c = Mod(x, y) T=float\n",
        "a = const f32[4] {-4, -4, 2, -1}\n"
        "b = const f32[4] {0.5, -0.5, 0, 3}\n"
        "c = const f32[4] {-1.5, 1.5, 0, -1}\n"
        "return a, b, c\n",
        0);
}
END_TEST

START_TEST(zeros_hide_infinities)
{
    assert_graphdef_results("x = Const() value=float[3]{1, 0, 2}\n"
                            "y = Const() value=float[3]{0, 0, 4}\n"
                            "i = Const() value=float[3]{inf, inf, 3}\n"
                            "a = DivNoNan(x, y) T=float\n"
                            "b = MulNoNan(i, y) T=float\n"
                            "c = Xdivy(x, i) T=float\n"
                            "d = Xlogy(y, y) T=float\n"
                            "e = Xlog1py(y, x) T=float\n",
        "a = const f32[3] {0, 0, 0.5}\n"
        "b = const f32[3] {0, 0, 12}\n"
        "c = const f32[3] {0, 0, 0.6666667}\n"
        "d = const f32[3] {0, 0, 5.5451775}\n"
        "e = const f32[3] {0, 0, 4.394449}\n"
        "return a, b, c, d, e\n",
        1e-6);
}
END_TEST

START_TEST(arc_tangents_know_the_quadrant_and_the_sign_of_zero)
{
    assert_graphdef_results("y = Const() value=float[10]{1, 1, -1, -1, 0, 0, -0.0, -0.0, 2, -2}\n"
                            "x = Const() value=float[10]{1, -1, 1, -1, 1, -1, -1, -0.0, 0, -0.0}\n"
                            "a = Atan2(y, x) T=float\n",
        "a = const f32[10] {0.7853982, 2.3561945, -0.7853982, -2.3561945, 0, 3.1415927, "
        "-3.1415927, -3.1415927, 1.5707964, -1.5707964}\n"
        "return a\n",
        1e-6);
}
END_TEST

START_TEST(shifts_keep_the_sign_and_clamp_their_count)
{
    assert_graphdef_results("x = Const() value=int32[5]{-7, -1, 7, 99, -2147483648}\n"
                            "n = Const() value=int32[5]{1, 3, 1, 40, 31}\n"
                            "b = Const() value=int8[3]{1, -128, 3}\n"
                            "m = Const() value=int8[3]{7, 7, 9}\n"
                            "r = RightShift(x, n) T=int32\n"
                            "l = LeftShift(x, n) T=int32\n"
                            "s = LeftShift(b, m) T=int8\n"
                            "t = RightShift(b, m) T=int8\n",
        "r = const i32[5] {-4, -1, 3, 0, -1}\n"
        "l = const i32[5] {-14, -8, 14, -2147483648, 0}\n"
        "s = const i8[3] {-128, 0, -128}\n"
        "t = const i8[3] {0, -1, 0}\n"
        "return r, l, s, t\n",
        0);
}
END_TEST

START_TEST(bits_are_combined_at_any_opset)
{
    static const char text[] = "x = Const() value=int32[4]{-7, 12, 2147483647, -2147483648}\n"
                               "y = Const() value=int32[4]{12, 10, -1, -1}\n"
                               "u = Const() value=uint8[2]{200, 5}\n"
                               "a = BitwiseAnd(x, y) T=int32\n"
                               "b = BitwiseOr(x, y) T=int32\n"
                               "c = BitwiseXor(x, y) T=int32\n"
                               "d = Invert(u) T=uint8\n"
                               "e = Invert(x) T=int32\n";
    static const int64_t opsets[] = { 11, 18 };
    for (size_t i = 0; i < 2; i++) {
        const prt_tf_options options = { .opset = opsets[i] };
        prt_module *m = NULL;
        ck_assert_msg(graphdef_read(text, &options, &m) == POPRT_OK, "%s", last_error());
        assert_text_has(graph_text(m->main), "{8, 8, 2147483647, -2147483648}");
        assert_text_has(graph_text(m->main), "{-3, 14, -1, -1}");
        assert_text_has(graph_text(m->main), "{-11, 6, -2147483648, 2147483647}");
        assert_text_has(graph_text(m->main), "{55, 250}");
        assert_text_has(graph_text(m->main), "{6, -13, -2147483648, 2147483647}");
        prt_module_release(m);
    }
}
END_TEST

START_TEST(shapes_that_do_not_fit_are_not_equal)
{
    static const char text[] = "x = Const() value=float[2]{1, 2}\n"
                               "y = Const() value=float[3]{1, 2, 3}\n"
                               "a = Equal(x, y) T=float incompatible_shape_error=false\n"
                               "b = NotEqual(x, y) T=float incompatible_shape_error=false\n";
    assert_graphdef_results(text,
        "a = const bool[] {false}\n"
        "b = const bool[] {true}\n"
        "return a, b\n",
        0);
    assert_graphdef_refused("x = Const() value=float[2]{1, 2}\n"
                            "y = Const() value=float[3]{1, 2, 3}\n"
                            "a = Equal(x, y) T=float\n",
        "Equal 'a'");
}
END_TEST

START_TEST(a_vector_of_conditions_selects_rows)
{
    assert_graphdef_results("x = Placeholder() dtype=float shape=[3,2]\n"
                            "y = Placeholder() dtype=float shape=[3,2]\n"
                            "c = Const() value=bool[3]{1, 0, 1}\n"
                            "a = Select(c, x, y) T=float\n",
        "x = input f32[3,2]\n"
        "y = input f32[3,2]\n"
        "c = const bool[3,1] {true, false, true}\n"
        "a = where c x y\n"
        "return a\n",
        0);
    prt_graph *g = graphdef_convert("x = Placeholder() dtype=float\n"
                                    "c = Placeholder() dtype=bool\n"
                                    "a = Select(c, x, x) T=float\n");
    assert_text_has(graph_text(g), "reshape where");
    module_free(g);
}
END_TEST

START_TEST(missing_inputs_are_refused)
{
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[3]\n"
                            "y = AddV2(x) T=float\n",
        "required input");
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[3]\n"
                            "y = Select(x) T=float\n",
        "Select 'y' missing");
}
END_TEST

START_TEST(bounds_may_be_tensors)
{
    assert_graphdef_results("x = Const() value=int32[3]{-5, 0, 5}\n"
                            "low = Const() value=int32[3]{-2, 1, 1}\n"
                            "high = Const() value=int32[]{3}\n"
                            "a = ClipByValue(x, low, high) T=int32\n",
        "a = const i32[3] {-2, 1, 3}\n"
        "return a\n",
        0);
}
END_TEST

START_TEST(the_bits_of_constants_are_reinterpreted)
{
    assert_graphdef_results("x = Const() value=float[2]{1, -2}\n"
                            "u = Const() value=uint8[1,4]{0, 0, 128, 63}\n"
                            "a = Bitcast(x) T=float type=uint8\n"
                            "b = Bitcast(u) T=uint8 type=float\n"
                            "c = Bitcast(x) T=float type=int32\n",
        "a = const u8[2,4] {0, 0, 128, 63, 0, 0, 0, 192}\n"
        "b = const f32[1] {1}\n"
        "c = const i32[2] {1065353216, -1073741824}\n"
        "return a, b, c\n",
        0);
    assert_graphdef_refused("u = Const() value=uint8[3]{0, 0, 128}\n"
                            "b = Bitcast(u) T=uint8 type=float\n",
        "Bitcast 'b' last axis");
}
END_TEST

START_TEST(the_bits_of_computed_numbers_are_reinterpreted)
{
    assert_graphdef_results("x = Placeholder() dtype=float shape=[?,4]\n"
                            "i = Bitcast(x) T=float type=int32\n"
                            "b = Bitcast(i) T=int32 type=uint8\n"
                            "v = Bitcast(b) T=uint8 type=float\n"
                            "u = Bitcast(i) T=int32 type=int16\n"
                            "w = Bitcast(u) T=int16 type=uint32\n"
                            "y = Bitcast(w) T=uint32 type=float\n"
                            "l = Const() value=float[]{1e-42}\n"
                            "p = Mul(x, l) T=float\n"
                            "q = Bitcast(p) T=float type=int32\n"
                            "r = Bitcast(q) T=int32 type=float\n",
        "x = input f32[n,4]\n"
        "l = const f32[] {1e-42}\n"
        "y = identity x\n"
        "r = mul x l\n"
        "return y, y, r\n",
        0);
    assert_graphdef_refused("x = Placeholder() dtype=double shape=[4]\n"
                            "y = Bitcast(x) T=double type=int64\n",
        "Bitcast 'y' float32");
}
END_TEST

START_TEST(casts_that_round_toward_zero_are_refused)
{
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[2]\n"
                            "y = Cast(x) SrcT=float DstT=half Truncate=true\n",
        "Cast Truncate");
}
END_TEST

START_TEST(other_operators_have_defaults_of_their_own)
{
    assert_graphdef_results("x = Const() value=float[3]{-1, 0, 4}\n"
                            "w = Const() value=float[3]{-1, nan, -inf}\n"
                            "i = Const() value=int64[2]{3, -4}\n"
                            "z = Const() value=float[2]{0.5, 1.5}\n"
                            "a = LeakyRelu(x) T=float\n"
                            "b = IsFinite(w) T=float\n"
                            "c = Round(i) T=int64\n"
                            "d = Round(z) T=float\n"
                            "e = AddN(i, i, i) N=3 T=int64\n"
                            "f = Erfc(z) T=float\n",
        "a = const f32[3] {-0.2, 0, 4}\n"
        "b = const bool[3] {true, false, false}\n"
        "c = const i64[2] {3, -4}\n"
        "d = const f32[2] {0, 2}\n"
        "e = const i64[2] {9, -12}\n"
        "f = const f32[2] {0.47950011, 0.033894855}\n"
        "return a, b, c, d, e, f\n",
        1e-6);
}
END_TEST

START_TEST(gelu_has_the_formula_that_passes_know)
{
    prt_graph *g = graphdef_convert("x = Placeholder() dtype=float shape=[?,4]\n"
                                    "h = Const() value=float[]{0.5}\n"
                                    "c = Const() value=float[]{0.70710677}\n"
                                    "a = Mul(h, x) T=float\n"
                                    "m = Neg(x) T=float\n"
                                    "z = Mul(m, c) T=float\n"
                                    "e = Erfc(z) T=float\n"
                                    "y = Mul(a, e) T=float\n");
    assert_text_has(graph_text(g), "mul x:0 erf add mul !neg !sub");
    module_free(g);
}
END_TEST

START_TEST(incomplete_gamma_functions_know_all_ranges)
{
    assert_graphdef_results("a = Const() value=float[6]{0.5, 2, 10, 1000, 0.001, 3}\n"
                            "x = Const() value=float[6]{0.3, 8, 9, 1010, 0, 1000000}\n"
                            "p = Igamma(a, x) T=float\n"
                            "q = Igammac(a, x) T=float\n",
        "p = const f32[6] {0.561421974, 0.996980836, 0.412591756, 0.627678945, 0, 1}\n"
        "q = const f32[6] {0.438578026, 0.003019164, 0.587408244, 0.372321055, 1, 0}\n"
        "return p, q\n",
        1e-5);
}
END_TEST

START_TEST(numbers_have_neighbours)
{
    assert_graphdef_results("x = Const() value=float[7]{1, 1, -2, 0, inf, 3, 3.4028235e38}\n"
                            "y = Const() value=float[7]{2, 0, 0, -1, 0, 3, inf}\n"
                            "z = NextAfter(x, y) T=float\n",
        "z = const f32[7] {1.00000012, 0.99999994, -1.9999999, -1e-45, 3.4028235e38, 3, inf}\n"
        "return z\n",
        0);
}
END_TEST

START_TEST(normalisations_have_the_formula_that_passes_know)
{
    prt_graph *g = graphdef_convert("m = Placeholder() dtype=float shape=[?,1]\n"
                                    "i = Placeholder() dtype=float shape=[?,4]\n"
                                    "b = Const() value=float[4]{1, 2, 3, 4}\n"
                                    "n = Neg(m) T=float\n"
                                    "p = Mul(n, i) T=float\n"
                                    "y = AddV2(p, b) T=float\n");
    assert_text_has(graph_text(g), "mul m:0 sub !neg !add");
    module_free(g);
}
END_TEST

/* Values of the functions to nine digits, from their tables. */
START_TEST(special_functions_are_exact_to_a_millionth)
{
    assert_graphdef_results("p = Const() value=double[4]{-0.999, 0, 0.3, 0.9999}\n"
                            "q = Const() value=double[3]{0.0001, 0.5, 0.975}\n"
                            "x = Const() value=double[6]{-2.5, 0.25, 1, 2, 10, 1000}\n"
                            "y = Const() value=double[5]{-0.5, 0.25, 1, 2, 100}\n"
                            "z = Const() value=double[5]{-5, -1, 0, 3.75, 100}\n"
                            "a = Erfinv(p) T=double\n"
                            "b = Ndtri(q) T=double\n"
                            "c = Lgamma(x) T=double\n"
                            "d = Digamma(y) T=double\n"
                            "e = BesselI0e(z) T=double\n"
                            "f = BesselI1e(z) T=double\n",
        "a = const f64[4] {-2.32675377, 0, 0.272462715, 2.75106391}\n"
        "b = const f64[3] {-3.71901649, 0, 1.95996398}\n"
        "c = const f64[6] {-0.0562437165, 1.28802252, 0, 0, 12.8018275, 5905.22042}\n"
        "d = const f64[5] {0.0364899740, -4.22745353, -0.577215665, 0.422784335, 4.60016185}\n"
        "e = const f64[5] {0.183540813, 0.465759608, 1, 0.21445705, 0.0399443790}\n"
        "f = const f64[5] {-0.163972267, -0.207910415, 0, 0.18296842, 0.0397441530}\n"
        "return a, b, c, d, e, f\n",
        1e-6);
    assert_graphdef_results("p = Const() value=float[2]{-1, 1}\n"
                            "x = Const() value=float[2]{-3, inf}\n"
                            "a = Erfinv(p) T=float\n"
                            "b = Lgamma(x) T=float\n",
        "a = const f32[2] {-inf, inf}\n"
        "b = const f32[2] {inf, inf}\n"
        "return a, b\n",
        0);
}
END_TEST

PRT_TEST_MAIN("tensorflow/op_math", integer_quotients_are_rounded_down_or_toward_zero,
    float_quotients_are_rounded_down, zeros_hide_infinities,
    arc_tangents_know_the_quadrant_and_the_sign_of_zero, shifts_keep_the_sign_and_clamp_their_count,
    bits_are_combined_at_any_opset, shapes_that_do_not_fit_are_not_equal,
    a_vector_of_conditions_selects_rows, missing_inputs_are_refused, bounds_may_be_tensors,
    the_bits_of_constants_are_reinterpreted, the_bits_of_computed_numbers_are_reinterpreted,
    casts_that_round_toward_zero_are_refused, other_operators_have_defaults_of_their_own,
    gelu_has_the_formula_that_passes_know, incomplete_gamma_functions_know_all_ranges,
    numbers_have_neighbours, normalisations_have_the_formula_that_passes_know,
    special_functions_are_exact_to_a_millionth)
