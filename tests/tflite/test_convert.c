/* SPDX-License-Identifier: MIT */
/*
 * TFLite models are converted: the interface, quantised tensors, subgraphs, and the operators that
 * differ from TensorFlow's (read.c, body.c, convert.c, quantise.c, control.c, op_basic.c,
 * op_conv.c).
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/onnx_bytes.h"
#include "support/tflite_text.h"

#include "base/file.h"

/* ---- the interface */

START_TEST(inputs_and_outputs_have_the_names_of_tensors)
{
    prt_graph *g = tflite_convert("x = f32[?,3]\n"
                                  "w = f32[3]{1, 2, 3}\n"
                                  "serving_default_y:0 = f32[?,3]\n"
                                  "serving_default_y:0 = ADD(x, w) activation=1\n"
                                  "inputs x\n"
                                  "outputs serving_default_y:0\n");
    assert_text_has(graph_text(g), "x x_0,3 add relu serving_default_y:0");
    module_free(g);
}
END_TEST

START_TEST(inputs_and_outputs_are_chosen_by_the_caller)
{
    static const char text[] = "x = f32[2]\n"
                               "a = f32[2]\n"
                               "b = f32[2]\n"
                               "c = f32[2]\n"
                               "a = EXP(x)\n"
                               "b = ABS(a)\n"
                               "c = NEG(b)\n"
                               "inputs x\n"
                               "outputs c\n";
    const prt_tf_options options = { .inputs = "a", .outputs = "b" };
    const prt_tf_options wrong = { .outputs = "bb" }, unknown = { .signature = "s" };
    const prt_tf_options tagged = { .tags = "serve" };
    prt_module *m = NULL;
    ck_assert_msg(tflite_read(text, &options, &m) == POPRT_OK, "%s", last_error());
    assert_text_has(graph_text(m->main), "input abs !exp !neg");
    prt_module_release(m);
    ck_assert_int_eq(tflite_read(text, &wrong, &m), POPRT_E_NOT_FOUND);
    assert_text_has(last_error(), "outputs nearest: b");
    ck_assert_int_eq(tflite_read(text, &unknown, &m), POPRT_E_NOT_FOUND);
    assert_text_has(last_error(), "signature_def");
    ck_assert_int_eq(tflite_read(text, &tagged, &m), POPRT_E_ARG);
}
END_TEST

START_TEST(every_operator_that_cannot_be_converted_is_in_one_error)
{
    assert_tflite_refused("x = f32[2]\na = f32[2]\nb = f32[2]\nc = f32[2]\n"
                          "a = STABLEHLO_CBRT(x)\n"
                          "b = STABLEHLO_CBRT(x)\n"
                          "c = CUSTOM:MakeTea(x)\n"
                          "inputs x\noutputs a b c\n",
        "3 nodes STABLEHLO_CBRT (2, 'a' MakeTea 'c'");
}
END_TEST

START_TEST(uses_without_an_equal_are_refused_with_the_reason)
{
    assert_tflite_refused("x = f32[2]\ns = f32[2] variable\ny = f32[2]\n"
                          "y = ADD(x, s)\ninputs x\noutputs y\n",
        "'s' outlive run");
    assert_tflite_refused("x = f32[2]\nn = f32[2]\ny = f32[2]\n"
                          "y = ADD(x, n)\ninputs x\noutputs y\n",
        "'n' data");
    assert_tflite_refused("x = f32[2]\ny = f32[2]\n"
                          "y = ADD(x, x) activation=5\ninputs x\noutputs y\n",
        "activation 5");
    assert_tflite_refused("x = f32[1,2]\nw = f32[2,2]{1,2,3,4}\ny = f32[1,2]\n"
                          "y = FULLY_CONNECTED(x, w, _) weights_format=1\ninputs x\noutputs y\n",
        "shuffled");
    assert_tflite_refused("x = f32[2]\ny = f32[2]\ny = EXP(x)\ny = ABS(x)\ninputs x\noutputs y\n",
        "two operators 'y'");
    assert_tflite_refused("x = f32[2]\na = f32[2]\ny = f32[2]\n"
                          "a = EXP(y)\ny = ABS(a)\ninputs x\noutputs y\n",
        "depends on itself");
}
END_TEST

/* ---- quantised tensors */

START_TEST(quantised_operators_stand_between_dequantize_and_quantize)
{
    assert_tflite_results("x = i8[4] scale 0.5 3\nw = i8[4]{-128, 0, 5, 127} scale 0.25 -2\n"
                          "y = i8[4] scale 0.75 -10\n"
                          "y = MUL(x, w)\ninputs x\noutputs y\n",
        "x = input i8[4]\n"
        "s = const f32[] {0.5}\nz = const i8[] {3}\n"
        "w = const f32[4] {-31.5, 0.5, 1.75, 32.25}\n"
        "t = const f32[] {0.75}\nq = const i8[] {-10}\n"
        "a = dequantize_linear x s z\n"
        "b = mul a w\n"
        "y = quantize_linear b t q\n"
        "return y\n",
        0);
}
END_TEST

START_TEST(weights_keep_their_integers)
{
    prt_graph *g =
        tflite_convert("x = i8[1,2,2,1] scale 0.5 0\n"
                       "w = i8[2,1,1,1]{3, -4} axis 0 scale 0.5 0 0.25 0\n"
                       "b = i32[2]{8, 16} axis 0 scale 0.25 0 0.125 0\n"
                       "y = i8[1,2,2,2] scale 0.125 0\n"
                       "y = CONV_2D(x, w, b) padding=1 stride_h=1 stride_w=1 activation=1\n"
                       "inputs x\noutputs y\n");
    assert_text_has(graph_text(g),
        "i8[2,1,1,1] 3 -4 i32[2] 8 16 dequantize_linear "
        "quantize_linear relu conv");
    module_free(g);
}
END_TEST

START_TEST(an_activation_that_the_scale_implies_is_left_out)
{
    static const char text[] = "x = i8[4] scale 0.5 0\n"
                               "y = i8[4] scale 0.0235294122 -128\n"
                               "y = ADD(x, x) activation=%c\n"
                               "inputs x\noutputs y\n";
    for (int k = 0; k < 2; k++) {
        char filled[256];
        (void)snprintf(filled, sizeof(filled), text, k == 0 ? '3' : '2');
        prt_graph *g = tflite_convert(filled);
        assert_text_has(graph_text(g), k == 0 ? "add !clip" : "add clip");
        module_free(g);
    }
}
END_TEST

START_TEST(operators_that_move_elements_keep_integers_of_one_scale)
{
    static const char text[] = "x = i8[2,2] scale 0.5 1\n"
                               "p = i32[2]{1, 0}\n"
                               "y = i8[2,2] scale 0.5 %c\n"
                               "y = TRANSPOSE(x, p)\n"
                               "inputs x\noutputs y\n";
    for (int k = 0; k < 2; k++) {
        char filled[256];
        (void)snprintf(filled, sizeof(filled), text, k == 0 ? '1' : '2');
        prt_graph *g = tflite_convert(filled);
        assert_text_has(graph_text(g),
            k == 0 ? "transpose !quantize_linear" : "transpose quantize_linear");
        module_free(g);
    }
}
END_TEST

START_TEST(padding_writes_the_integer_that_stands_for_zero)
{
    assert_tflite_results("x = i8[2] scale 0.5 7\np = i32[1,2]{1, 2}\ny = i8[5] scale 0.5 7\n"
                          "y = PAD(x, p)\ninputs x\noutputs y\n",
        "x = input i8[2]\np = const i64[2] {1, 2}\nz = const i8[] {7}\n"
        "y = pad x p z\nreturn y\n",
        0);
    assert_tflite_results("x = i8[2] scale 0.5 7\np = i32[1,2]{1, 0}\ny = i8[3] scale 0.25 5\n"
                          "v = i8[1]{9} scale 0.5 7\n"
                          "y = PADV2(x, p, v)\ninputs x\noutputs y\n",
        "x = input i8[2]\np = const i64[2] {1, 0}\ns = const f32[] {0.5}\nz = const i8[] {7}\n"
        "t = const f32[] {0.25}\nq = const i8[] {5}\none = const f32[] {1}\n"
        "a = dequantize_linear x s z\nb = pad a p one\ny = quantize_linear b t q\nreturn y\n",
        0);
}
END_TEST

START_TEST(integers_of_16_and_64_bits_are_scaled)
{
    assert_tflite_results("x = i16[1,2] scale 0.5 0\nw = i8[1,2]{2, 4} scale 0.5 0\n"
                          "b = i64[1]{8} scale 0.25 0\ny = i16[1,1] scale 2 0\n"
                          "y = FULLY_CONNECTED(x, w, b)\ninputs x\noutputs y\n",
        "x = input i16[1,2]\nw = const f32[2,1] {0.25, 0.5}\nb = const f32[] {1}\n"
        "c = cast x {to=1}\nd = matmul c w\ne = const f32[] {2}\n"
        "f = div d e\ng = const f32[] {1}\nh = add f g\n"
        "i = round h\nlow = const f32[] {-32768}\nhigh = const f32[] {32767}\n"
        "j = clip i low high\ny = cast j {to=5}\nreturn y\n",
        0);
}
END_TEST

START_TEST(looked_up_rows_of_integers_are_scaled)
{
    assert_tflite_results("i = i32[2]{1, 0}\nt = i8[2,2]{1, 2, 3, 4} scale 0.5 1\ny = f32[2,2]\n"
                          "x = f32[2,2]\nz = f32[2,2]\n"
                          "y = EMBEDDING_LOOKUP(i, t)\nz = ADD(x, y)\ninputs x\noutputs z\n",
        "x = input f32[2,2]\ny = const f32[2,2] {1, 1.5, 0, 0.5}\nz = add x y\nreturn z\n", 0);
}
END_TEST

/* ---- subgraphs */

START_TEST(branches_are_subgraphs)
{
    assert_tflite_results("c = bool[1]\nx = f32[2]\ny = f32[2]\n"
                          "y = IF(c, x) then_branch=1 else_branch=2\n"
                          "inputs c x\noutputs y\n"
                          "subgraph\na = f32[2]\nb = f32[2]\nb = NEG(a)\ninputs a\noutputs b\n"
                          "subgraph\na = f32[2]\ninputs a\noutputs a\n",
        "c1 = input bool[1]\nx = input f32[2]\ns = const i64[0] {}\nc = reshape c1 s\n"
        "y = if c {\n"
        "  then_branch {\n    b = neg x\n    return b\n  }\n"
        "  else_branch {\n    d = identity x\n    return d\n  }\n"
        "}\nreturn y\n",
        0);
}
END_TEST

/* The loop doubles x three times, and appends to a tensor that grows. */
START_TEST(loops_carry_tensors_that_grow)
{
    assert_tflite_results("x = f32[1]\nzero = i32[]{0}\nbound = i32[]{3}\n"
                          "i = i32[]\nn = i32[]\ny = f32[?]\nz = f32[1]\n"
                          "i n y z = WHILE(zero, bound, x, x) cond=1 body=2\n"
                          "inputs x\noutputs y z\n"
                          "subgraph\ni = i32[]\nn = i32[]\ny = f32[?]\nz = f32[1]\nc = bool[1]\n"
                          "e = i32[1]{1}\nj = i32[1]\nj = MUL(i, e)\n"
                          "c = LESS(j, n)\ninputs i n y z\noutputs c\n"
                          "subgraph\ni = i32[]\nn = i32[]\ny = f32[?]\nz = f32[1]\n"
                          "one = i32[]{1}\nj = i32[]\nv = f32[?]\nw = f32[1]\n"
                          "j = ADD(i, one)\nw = ADD(z, z)\nv = CONCATENATION(y, w) axis=0\n"
                          "inputs i n y z\noutputs j n v w\n",
        "x = input f32[1]\n"
        "a = add x x\nb = add a a\nc = add b b\ny = concat x a b c {axis=0}\nreturn y, c\n",
        0);
}
END_TEST

START_TEST(variables_begin_with_the_contents_of_call_once)
{
    static const char text[] = "x = f32[2]\nh = i32[]\nv = f32[2]\nw = f32[2]\na = f32[2]\n"
                               "b = f32[2]\n"
                               "= CALL_ONCE() init_subgraph=1\n"
                               "h = VAR_HANDLE() shared_name=count\n"
                               "v = READ_VARIABLE(h)\n"
                               "a = ADD(v, x)\n"
                               "= ASSIGN_VARIABLE(h, a)\n"
                               "w = READ_VARIABLE(h)\n"
                               "b = MUL(w, v)\n"
                               "inputs x\noutputs b\n"
                               "subgraph\nh = i32[]\nc = f32[2]{3, 4}\n"
                               "h = VAR_HANDLE() shared_name=count\n"
                               "= ASSIGN_VARIABLE(h, c)\n";
    assert_tflite_results(text,
        "x = input f32[2]\nc = const f32[2] {3, 4}\na = add c x\nb = mul a c\nreturn b\n", 0);
    assert_tflite_refused("h = i32[]\nv = f32[2]\nh = VAR_HANDLE() shared_name=count\n"
                          "v = READ_VARIABLE(h)\noutputs v\n",
        "variable 'count'");
}
END_TEST

START_TEST(tables_are_filled_by_call_once)
{
    assert_tflite_results("x = i64[3]\nh = i32[]\nd = i64[]{-7}\ny = i64[3]\n"
                          "= CALL_ONCE() init_subgraph=1\n"
                          "h = HASHTABLE() table_id=4 key_dtype=4 value_dtype=4\n"
                          "y = HASHTABLE_FIND(h, x, d)\n"
                          "inputs x\noutputs y\n"
                          "subgraph\nh = i32[]\nk = i64[3]{0, 1, 2}\nv = i64[3]{10, 20, 30}\n"
                          "h = HASHTABLE() table_id=4 key_dtype=4 value_dtype=4\n"
                          "= HASHTABLE_IMPORT(h, k, v)\n",
        "x = input i64[3]\n"
        "y = \"ai.onnx.ml.LabelEncoder\" x {keys_int64s=[0, 1, 2], values_int64s=[10, 20, 30], "
        "default_int64=-7}\nreturn y\n",
        0);
}
END_TEST

/* ---- operators */

START_TEST(convolutions_have_filters_with_outputs_first)
{
    assert_tflite_results("x = f32[1,5,4,2]\n"
                          "w = f32[2,2,1,1]{1, 2, -3, 4}\nb = f32[2]{0.5, -1}\n"
                          "y = f32[1,3,2,2]\n"
                          "y = CONV_2D(x, w, b) stride_h=2 stride_w=2 activation=3\n"
                          "inputs x\noutputs y\n",
        "x = input f32[1,5,4,2]\n"
        "w = const f32[2,1,2,1] {1, 2, -3, 4}\nb = const f32[2] {0.5, -1}\n"
        "t = transpose x {perm=[0,3,1,2]}\n"
        "c = conv t w b {group=2, strides=[2,2], pads=[0,0,1,0]}\n"
        "low = const f32[] {0}\nhigh = const f32[] {6}\nd = clip c low high\n"
        "y = transpose d {perm=[0,2,3,1]}\nreturn y\n",
        1e-6);
    assert_tflite_results("x = f32[1,3,3,2]\n"
                          "w = f32[1,1,2,4]{1, 2, 3, 4, 5, 6, 7, 8}\n"
                          "y = f32[1,3,1,4]\n"
                          "y = DEPTHWISE_CONV_2D(x, w, _) padding=1 stride_h=1 stride_w=1 "
                          "dilation_w=2\n"
                          "inputs x\noutputs y\n",
        "x = input f32[1,3,3,2]\n"
        "w = const f32[4,1,1,2] {1, 5, 2, 6, 3, 7, 4, 8}\n"
        "t = transpose x {perm=[0,3,1,2]}\n"
        "c = conv t w {group=2, dilations=[1,2]}\n"
        "y = transpose c {perm=[0,2,3,1]}\nreturn y\n",
        1e-6);
}
END_TEST

START_TEST(transposed_convolutions_have_a_size)
{
    assert_tflite_results("s = i32[4]{1, 5, 4, 1}\nx = f32[1,2,2,1]\n"
                          "w = f32[1,3,2,1]{1, 2, 3, 4, 5, 6}\n"
                          "b = f32[1]{0.5}\ny = f32[1,5,4,1]\n"
                          "y = TRANSPOSE_CONV(s, w, x, b) padding=1 stride_h=2 stride_w=2 "
                          "activation=1\n"
                          "inputs x\noutputs y\n",
        "x = input f32[1,2,2,1]\n"
        "w = const f32[1,1,3,2] {1, 2, 3, 4, 5, 6}\nb = const f32[1] {0.5}\n"
        "t = transpose x {perm=[0,3,1,2]}\n"
        "c = conv_transpose t w b {strides=[2,2]}\nd = relu c\n"
        "y = transpose d {perm=[0,2,3,1]}\nreturn y\n",
        1e-6);
}
END_TEST

START_TEST(pools_do_not_count_padding)
{
    assert_tflite_results("x = f32[1,3,3,1]\ny = f32[1,2,2,1]\n"
                          "y = L2_POOL_2D(x) filter_height=2 filter_width=2 stride_h=2 stride_w=2\n"
                          "inputs x\noutputs y\n",
        "x = input f32[1,3,3,1]\nq = mul x x\nt = transpose q {perm=[0,3,1,2]}\n"
        "p = average_pool t {kernel_shape=[2,2], strides=[2,2], pads=[0,0,1,1]}\n"
        "r = sqrt p\ny = transpose r {perm=[0,2,3,1]}\nreturn y\n",
        1e-6);
}
END_TEST

START_TEST(fully_connected_flattens_or_keeps_dims)
{
    assert_tflite_results("x = f32[2,2,2]\nw = f32[1,4]{1, 2, 3, 4}\nb = f32[1]{0.5}\n"
                          "y = f32[2,1]\n"
                          "y = FULLY_CONNECTED(x, w, b)\ninputs x\noutputs y\n",
        "x = input f32[2,2,2]\ns = const i64[2] {2, 4}\nr = reshape x s\n"
        "w = const f32[4,1] {1, 2, 3, 4}\nb = const f32[1] {0.5}\n"
        "m = matmul r w\ny = add m b\nreturn y\n",
        1e-6);
    assert_tflite_results("x = f32[2,2,2]\nw = f32[3,2]{1, 2, 3, 4, 5, 6}\n"
                          "y = f32[2,2,3]\n"
                          "y = FULLY_CONNECTED(x, w, _) keep_num_dims=1\ninputs x\noutputs y\n",
        "x = input f32[2,2,2]\nw = const f32[2,3] {1, 3, 5, 2, 4, 6}\n"
        "y = matmul x w\nreturn y\n",
        1e-6);
}
END_TEST

START_TEST(normalisations_and_activations_have_the_numbers_of_tflite)
{
    assert_tflite_results("x = f32[2,3]\ny = f32[2,3]\ny = L2_NORMALIZATION(x)\n"
                          "inputs x\noutputs y\n",
        "x = input f32[2,3]\ns = mul x x\na = const i64[1] {1}\nn = reduce_sum s a\n"
        "r = sqrt n\ny = div x r\nreturn y\n",
        1e-6);
    assert_tflite_results("x = f32[2,3]\ny = f32[2,3]\ny = SOFTMAX(x) beta=0.5\n"
                          "inputs x\noutputs y\n",
        "x = input f32[2,3]\nh = const f32[] {0.5}\ns = mul x h\ny = softmax s\nreturn y\n", 1e-6);
    assert_tflite_results("x = f32[2,3]\na = f32[1,3]{0.5, 1, 2}\ny = f32[2,3]\n"
                          "y = PRELU(x, a)\ninputs x\noutputs y\n",
        "x = input f32[2,3]\na = const f32[1,3] {0.5, 1, 2}\nz = const f32[] {0}\n"
        "p = max x z\nn = min x z\nm = mul n a\ny = add p m\nreturn y\n",
        1e-6);
    assert_tflite_results("x = f32[4]\na = f32[4]\ny = f32[4]\n"
                          "a = RELU_N1_TO_1(x)\ny = RELU_0_TO_1(x)\ninputs x\noutputs a y\n",
        "x = input f32[4]\nm = const f32[] {-1}\nz = const f32[] {0}\no = const f32[] {1}\n"
        "a = clip x m o\ny = clip x z o\nreturn a, y\n",
        0);
}
END_TEST

START_TEST(slices_may_be_relative_and_updates_are_moved_to_fit)
{
    assert_tflite_results("x = f32[5]\nb = i32[1]{1}\ne = i32[1]{3}\ns = i32[1]{1}\ny = f32[3]\n"
                          "y = STRIDED_SLICE(x, b, e, s) offset=1\ninputs x\noutputs y\n",
        "x = input f32[5]\nb = const i64[1] {1}\ne = const i64[1] {4}\ny = slice x b e\nreturn y\n",
        0);
    assert_tflite_results("x = f32[3,4]\nu = f32[2,2]\ns = i32[2]{9, 1}\ny = f32[3,4]\n"
                          "y = DYNAMIC_UPDATE_SLICE(x, u, s)\ninputs x u\noutputs y\n",
        "x = input f32[3,4]\nu = input f32[2,2]\n"
        "at = const i64[2,2,2] {1, 1, 1, 2, 2, 1, 2, 2}\ny = scatter_nd x at u\nreturn y\n",
        0);
}
END_TEST

START_TEST(complex_tensors_have_their_rows)
{
    assert_tflite_results("x = f32[1,2,4]\nl = i32[2]{2, 4}\nc = c64[1,2,3]\ny = f32[1,2,3]\n"
                          "z = f32[1,2,3]\n"
                          "c = RFFT2D(x, l)\ny = REAL(c)\nz = IMAG(c)\ninputs x\noutputs y z\n",
        "x = input f32[1,2,4]\n"
        "rows = const f32[2,2] {1, 1, 1, -1}\n"
        "re = const f32[4,3] {1, 1, 1, 1, 0, -1, 1, -1, 1, 1, 0, -1}\n"
        "im = const f32[4,3] {0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0}\n"
        "t = matmul rows x\ny = matmul t re\nz = matmul t im\nreturn y, z\n",
        1e-6);
}
END_TEST

START_TEST(simple_operators_of_stablehlo_are_converted)
{
    assert_tflite_results("x = f32[2,3]\nw = f32[2,3]\na = f32[2,3]\nb = f32[3,2]\ny = i32[3,2]\n"
                          "a = STABLEHLO_SUBTRACT(x, w)\nb = STABLEHLO_RESHAPE(a)\n"
                          "y = STABLEHLO_CONVERT(b)\ninputs x w\noutputs y\n",
        "x = input f32[2,3]\nw = input f32[2,3]\na = sub x w\ns = const i64[2] {3, 2}\n"
        "b = reshape a s\ny = cast b {to=6}\nreturn y\n",
        0);
}
END_TEST

START_TEST(shapes_come_from_options_without_an_input)
{
    assert_tflite_results("x = f32[2,3]\ny = f32[3,2]\ny = RESHAPE(x) new_shape=(3, -1)\n"
                          "inputs x\noutputs y\n",
        "x = input f32[2,3]\ns = const i64[2] {3, 2}\ny = reshape x s\nreturn y\n", 0);
}
END_TEST

/* ---- files */

static prt_blob *fixture(const char *name)
{
    char path[512];
    prt_blob *file = NULL;
    (void)snprintf(path, sizeof(path), "%s/tflite/%s", PRT_TEST_DATA, name);
    ck_assert_int_eq(prt_file_map(NULL, path, &file), POPRT_OK);
    return file;
}

START_TEST(a_signature_names_inputs_and_outputs)
{
    const prt_tf_options by_key = { .signature = "serving_default" };
    const prt_tf_options chosen = { .signature = "serving_default",
        .inputs = "x,n",
        .outputs = "y" };
    prt_blob *file = fixture("control.tflite");
    prt_module *m = NULL;
    ck_assert_int_eq(prt_tflite_read_bytes(NULL, file, "file", &by_key, &m), POPRT_OK);
    ck_assert_uint_eq(m->main->inputs.count, 2);
    ck_assert(prt_str_is(m->main->inputs.data[0]->name, "n"));
    ck_assert(prt_str_is(m->main->inputs.data[1]->name, "x"));
    ck_assert(prt_str_is(m->main->output_names.data[0], "y"));
    prt_module_release(m);
    ck_assert_int_eq(prt_tflite_read_bytes(NULL, file, "file", &chosen, &m), POPRT_OK);
    ck_assert(prt_str_is(m->main->inputs.data[0]->name, "x"));
    prt_module_release(m);
    prt_blob_release(file);
}
END_TEST

/* Memory for the graphs ends at every place in turn. */
START_TEST(a_lack_of_memory_is_an_error)
{
    enum { STEP = 1000, MOST = 8 << 20 };
    static const char *const files[] = { "lstm.tflite", "int8.tflite", "control.tflite" };
    for (size_t i = 0; i < PRT_COUNT_OF(files); i++) {
        prt_blob *file = fixture(files[i]);
        poprt_status status = POPRT_E_NOMEM;
        size_t refusals = 0;
        for (size_t limit = STEP; status != POPRT_OK && limit < MOST; limit += STEP) {
            const prt_tf_options options = { .arena = limit };
            prt_module *m = NULL;
            status = prt_tflite_read_bytes(NULL, file, files[i], &options, &m);
            ck_assert_msg(status == POPRT_OK || status == POPRT_E_NOMEM || status == POPRT_E_LIMIT,
                "with %zu bytes %s gives: %s", limit, files[i], last_error());
            refusals += status != POPRT_OK;
            prt_module_release(m);
        }
        ck_assert_int_eq(status, POPRT_OK);
        ck_assert_uint_gt(refusals, 50);
        prt_blob_release(file);
    }
}
END_TEST

/* Every third word of files of TensorFlow has each of these values once: the file is converted, or
 * refused with a message. */
START_TEST(damaged_words_are_converted_or_refused)
{
    static const char *const files[] = { "lstm.tflite", "int8.tflite", "control.tflite" };
    static const uint32_t values[] = { 0, 3, 0x7fffffff, 0xffffffff };
    const prt_tf_options options = { .arena = 64 << 20 };
    size_t converted = 0, refused = 0;
    for (size_t i = 0; i < PRT_COUNT_OF(files); i++) {
        prt_blob *original = fixture(files[i]), *copy = NULL;
        ck_assert_int_eq(prt_blob_create(NULL, original->size, &copy), POPRT_OK);
        for (size_t at = 0; at + 4 <= original->size; at += 12)
            for (size_t k = 0; k < PRT_COUNT_OF(values); k++) {
                prt_module *m = NULL;
                memcpy(prt_blob_bytes(copy), original->data, original->size);
                memcpy(prt_blob_bytes(copy) + at, &values[k], 4);
                if (prt_tflite_read_bytes(NULL, copy, "damaged", &options, &m) == POPRT_OK)
                    converted++;
                else
                    refused += last_error()[0] != '\0';
                prt_module_release(m);
            }
        prt_blob_release(copy);
        prt_blob_release(original);
    }
    ck_assert_uint_gt(converted, 1000);
    ck_assert_uint_gt(refused, 1000);
}
END_TEST

PRT_TEST_MAIN("tflite/convert", inputs_and_outputs_have_the_names_of_tensors,
    inputs_and_outputs_are_chosen_by_the_caller,
    every_operator_that_cannot_be_converted_is_in_one_error,
    uses_without_an_equal_are_refused_with_the_reason,
    quantised_operators_stand_between_dequantize_and_quantize, weights_keep_their_integers,
    an_activation_that_the_scale_implies_is_left_out,
    operators_that_move_elements_keep_integers_of_one_scale,
    padding_writes_the_integer_that_stands_for_zero, integers_of_16_and_64_bits_are_scaled,
    looked_up_rows_of_integers_are_scaled, branches_are_subgraphs,
    variables_begin_with_the_contents_of_call_once, tables_are_filled_by_call_once,
    loops_carry_tensors_that_grow, convolutions_have_filters_with_outputs_first,
    transposed_convolutions_have_a_size, pools_do_not_count_padding,
    fully_connected_flattens_or_keeps_dims,
    normalisations_and_activations_have_the_numbers_of_tflite,
    slices_may_be_relative_and_updates_are_moved_to_fit, damaged_words_are_converted_or_refused,
    a_signature_names_inputs_and_outputs, a_lack_of_memory_is_an_error,
    complex_tensors_have_their_rows, simple_operators_of_stablehlo_are_converted,
    shapes_come_from_options_without_an_input)
