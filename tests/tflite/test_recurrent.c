/* SPDX-License-Identifier: MIT */
/* Recurrent layers and custom operators of TFLite (op_recurrent.c, op_custom.c). */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/tflite_text.h"

/* Weights of two units over three features: gates I, F, C, O. */
#define WEIGHTS                                                                                    \
    "wi = f32[2,3]{0.1, -0.2, 0.3, 0.4, 0.5, -0.6}\n"                                              \
    "wf = f32[2,3]{0.7, 0.1, -0.3, 0.2, -0.5, 0.6}\n"                                              \
    "wc = f32[2,3]{-0.1, 0.9, 0.3, -0.4, 0.2, 0.8}\n"                                              \
    "wo = f32[2,3]{0.3, 0.2, 0.1, -0.7, 0.4, 0.5}\n"                                               \
    "ri = f32[2,2]{0.1, 0.2, -0.3, 0.4}\n"                                                         \
    "rf = f32[2,2]{0.5, -0.1, 0.2, 0.3}\n"                                                         \
    "rc = f32[2,2]{-0.6, 0.2, 0.1, 0.7}\n"                                                         \
    "ro = f32[2,2]{0.3, 0.3, -0.2, 0.1}\n"                                                         \
    "bi = f32[2]{0.1, 0.2}\nbf = f32[2]{1, 0.9}\nbc = f32[2]{-0.1, 0.3}\nbo = f32[2]{0.2, -0.2}\n" \
    "h = f32[2,2] variable\nc = f32[2,2] variable\n"

/* The same for ONNX, with the gates in the order I, O, F, C. */
#define ONNX_WEIGHTS                                                                               \
    "w = const f32[1,8,3] {0.1, -0.2, 0.3, 0.4, 0.5, -0.6, 0.3, 0.2, 0.1, -0.7, 0.4, 0.5, "        \
    "0.7, 0.1, -0.3, 0.2, -0.5, 0.6, -0.1, 0.9, 0.3, -0.4, 0.2, 0.8}\n"                            \
    "r = const f32[1,8,2] {0.1, 0.2, -0.3, 0.4, 0.3, 0.3, -0.2, 0.1, 0.5, -0.1, 0.2, 0.3, "        \
    "-0.6, 0.2, 0.1, 0.7}\n"                                                                       \
    "b = const f32[1,16] {0.1, 0.2, 0.2, -0.2, 1, 0.9, -0.1, 0.3, 0, 0, 0, 0, 0, 0, 0, 0}\n"

#define LSTM(name, peepholes, projection)                                                          \
    name "(x, wi, wf, wc, wo, ri, rf, rc, ro, " peepholes ", bi, bf, bc, bo, " projection          \
         ", h, c, _, _, _, _)"

START_TEST(layers_become_the_operator_lstm)
{
    static const char text[] =
        "x = f32[2,4,3]\ny = f32[2,4,2]\n" WEIGHTS
        "y = " LSTM("UNIDIRECTIONAL_SEQUENCE_LSTM", "_, _, _", "_, _") " activation=4\n"
                                                                       "inputs x\noutputs y\n";
    prt_graph *g = tflite_convert(text);
    assert_text_has(graph_text(g), "lstm !scan");
    module_free(g);
    assert_tflite_results(text,
        "x = input f32[2,4,3]\n" ONNX_WEIGHTS "t = transpose x {perm=[1,0,2]}\n"
        "y = lstm t w r b {hidden_size=2}\n"
        "a = const i64[1] {1}\ns = squeeze y a\nz = transpose s {perm=[1,0,2]}\nreturn z\n",
        1e-5);
}
END_TEST

/* A bound that no cell reaches asks for the general form. */
START_TEST(clipped_layers_are_loops_with_the_same_numbers)
{
    static const char text[] =
        "x = f32[4,2,3]\ny = f32[4,2,2]\n" WEIGHTS
        "pi = f32[2]{0.5, -0.5}\npf = f32[2]{0.25, 1}\npo = f32[2]{-1, 0.75}\n"
        "y = " LSTM("UNIDIRECTIONAL_SEQUENCE_LSTM", "pi, pf, po",
            "_, _") " activation=4 cell_clip=1000 time_major=1\n"
                    "inputs x\noutputs y\n";
    prt_graph *g = tflite_convert(text);
    assert_text_has(graph_text(g), "scan !lstm");
    module_free(g);
    assert_tflite_results(text,
        "x = input f32[4,2,3]\n" ONNX_WEIGHTS "p = const f32[1,6] {0.5, -0.5, -1, 0.75, 0.25, 1}\n"
        "y = lstm x w r b _ _ _ p {hidden_size=2}\n"
        "a = const i64[1] {1}\ns = squeeze y a\nreturn s\n",
        1e-5);
}
END_TEST

/* The projection of the operator LSTM and that of the loop give the same numbers. */
START_TEST(projections_agree_in_both_forms)
{
    static const char text[] =
        "x = f32[4,2,3]\ny = f32[4,2,2]\n" WEIGHTS "p = f32[2,2]{1, 0.5, -0.25, 0.75}\n"
        "y = " LSTM("UNIDIRECTIONAL_SEQUENCE_LSTM", "_, _, _",
            "p, _") " activation=4 time_major=1 proj_clip=%d\n"
                    "inputs x\noutputs y\n";
    char simple[sizeof(text) + 8], clipped[sizeof(text) + 8];
    (void)snprintf(simple, sizeof(simple), text, 0);
    (void)snprintf(clipped, sizeof(clipped), text, 1000);
    prt_graph *a = tflite_convert(simple), *b = tflite_convert(clipped);
    assert_text_has(graph_text(a), "lstm !scan");
    assert_text_has(graph_text(b), "scan !lstm");
    assert_same_results(a, b, 1e-5, 1);
    module_free(a);
    module_free(b);
}
END_TEST

START_TEST(without_an_input_gate_it_is_the_rest_of_the_forget_gate)
{
    assert_tflite_results("x = f32[1,2,3]\ny = f32[1,2,2]\n" WEIGHTS
                          "y = UNIDIRECTIONAL_SEQUENCE_LSTM(x, _, wf, wc, wo, _, rf, rc, ro, _, "
                          "_, _, _, bf, bc, bo, _, _, h, c, _, _, _, _) activation=4 "
                          "time_major=1\ninputs x\noutputs y\n",
        "x = input f32[1,2,3]\n"
        "wf = const f32[3,2] {0.7, 0.2, 0.1, -0.5, -0.3, 0.6}\n"
        "wc = const f32[3,2] {-0.1, -0.4, 0.9, 0.2, 0.3, 0.8}\n"
        "wo = const f32[3,2] {0.3, -0.7, 0.2, 0.4, 0.1, 0.5}\n"
        "bf = const f32[2] {1, 0.9}\nbc = const f32[2] {-0.1, 0.3}\nbo = const f32[2] {0.2, -0.2}\n"
        "a = matmul x wf\nb = add a bf\nf = sigmoid b\none = const f32[] {1}\ni = sub one f\n"
        "d = matmul x wc\ne = add d bc\ng = tanh e\n"
        "j = matmul x wo\nk = add j bo\no = sigmoid k\n"
        "c = mul i g\nt = tanh c\ny = mul o t\nreturn y\n",
        1e-5);
}
END_TEST

START_TEST(gates_are_normalised_before_their_activations)
{
    assert_tflite_results(
        "x = f32[1,2,3]\ny = f32[1,2,2]\n" WEIGHTS
        "nf = f32[2]{0.5, 2}\nnc = f32[2]{1, -1}\nno = f32[2]{1.5, 0.25}\n"
        "y = UNIDIRECTIONAL_SEQUENCE_LSTM(x, _, wf, wc, wo, _, rf, rc, ro, _, _, _, _, bf, bc, bo, "
        "_, _, h, c, _, nf, nc, no) activation=4 time_major=1\ninputs x\noutputs y\n",
        "x = input f32[1,2,3]\n"
        "wf = const f32[3,2] {0.7, 0.2, 0.1, -0.5, -0.3, 0.6}\n"
        "wc = const f32[3,2] {-0.1, -0.4, 0.9, 0.2, 0.3, 0.8}\n"
        "wo = const f32[3,2] {0.3, -0.7, 0.2, 0.4, 0.1, 0.5}\n"
        "bf = const f32[2] {1, 0.9}\nbc = const f32[2] {-0.1, 0.3}\nbo = const f32[2] {0.2, -0.2}\n"
        "nf = const f32[2] {0.5, 2}\nnc = const f32[2] {1, -1}\nno = const f32[2] {1.5, 0.25}\n"
        "a = matmul x wf\nb = layer_normalization a nf bf {epsilon=1e-8}\nf = sigmoid b\n"
        "one = const f32[] {1}\ni = sub one f\n"
        "d = matmul x wc\ne = layer_normalization d nc bc {epsilon=1e-8}\ng = tanh e\n"
        "j = matmul x wo\nk = layer_normalization j no bo {epsilon=1e-8}\no = sigmoid k\n"
        "c = mul i g\nt = tanh c\ny = mul o t\nreturn y\n",
        1e-4);
}
END_TEST

START_TEST(a_single_step_has_one_kernel_or_joined_weights)
{
    assert_tflite_results("x = f32[2,3]\ny = f32[2,2]\n" WEIGHTS
                          "y = " LSTM("LSTM", "_, _, _", "_, _") " activation=4\n"
                                                                 "inputs x\noutputs y\n",
        "x = input f32[2,3]\n" ONNX_WEIGHTS "z = const i64[1] {0}\nt = unsqueeze x z\n"
        "y = lstm t w r b {hidden_size=2}\ns = const i64[2] {2, 2}\nv = reshape y s\nreturn v\n",
        1e-5);
    assert_tflite_results("x = f32[1,1]\nh = f32[1,1]\nc = f32[1,1]\n"
                          "w = f32[4,2]{1, 2, 3, 4, 5, 6, 7, 8}\nb = f32[4]{0.1, 0.2, 0.3, 0.4}\n"
                          "y = f32[1,1]\nn = f32[1,1]\nu = f32[1,2]\nv = f32[1,4]\n"
                          "y n u v = LSTM(x, h, w, b, c) kernel_type=1 activation=4\n"
                          "inputs x h c\noutputs y n\n",
        "x = input f32[1,1]\nh = input f32[1,1]\nc = input f32[1,1]\n"
        "w = const f32[2,4] {1, 3, 5, 7, 2, 4, 6, 8}\nb = const f32[4] {0.1, 0.2, 0.3, 0.4}\n"
        "u = concat x h {axis=1}\nm = matmul u w\nz = add m b\n"
        "i, j, f, o = split z {axis=1, num_outputs=4}\n"
        "si = sigmoid i\ntj = tanh j\nsf = sigmoid f\nso = sigmoid o\n"
        "p = mul si tj\nq = mul sf c\nn = add p q\nt = tanh n\ny = mul so t\nreturn y, n\n",
        1e-5);
}
END_TEST

#define RNN_WEIGHTS                                                                                \
    "w = f32[2,1]{0.5, -0.5}\nr = f32[2,2]{0.1, 0.2, 0.3, 0.4}\nb = f32[2]{0.1, -0.1}\n"           \
    "h = f32[1,2] variable\n"

START_TEST(simple_recurrent_layers_run_in_both_directions)
{
    assert_tflite_results("x = f32[1,3,1]\ny = f32[1,3,4]\n" RNN_WEIGHTS
                          "w2 = f32[2,1]{0.25, 0.75}\nr2 = f32[2,2]{0.4, 0.3, 0.2, 0.1}\n"
                          "b2 = f32[2]{0.2, -0.2}\nh2 = f32[1,2] variable\n"
                          "y = BIDIRECTIONAL_SEQUENCE_RNN(x, w, r, b, h, w2, r2, b2, h2, _, _, _) "
                          "activation=1 merge_outputs=1\ninputs x\noutputs y\n",
        "x = input f32[1,3,1]\n"
        "w = const f32[2,2,1] {0.5, -0.5, 0.25, 0.75}\n"
        "r = const f32[2,2,2] {0.1, 0.2, 0.3, 0.4, 0.4, 0.3, 0.2, 0.1}\n"
        "b = const f32[2,4] {0.1, -0.1, 0, 0, 0.2, -0.2, 0, 0}\n"
        "t = transpose x {perm=[1,0,2]}\n"
        "v = rnn t w r b {hidden_size=2, direction=\"bidirectional\", "
        "activations=[\"Relu\", \"Relu\"]}\n"
        "u = transpose v {perm=[2,0,1,3]}\ns = const i64[3] {1, 3, 4}\ny = reshape u s\nreturn y\n",
        1e-5);
    assert_tflite_results("x = f32[1,1]\ny = f32[1,2]\n" RNN_WEIGHTS
                          "y = RNN(x, w, r, b, h)\ninputs x\noutputs y\n",
        "x = input f32[1,1]\nw = const f32[1,2] {0.5, -0.5}\nb = const f32[2] {0.1, -0.1}\n"
        "m = matmul x w\ny = add m b\nreturn y\n",
        1e-5);
}
END_TEST

START_TEST(both_directions_of_lstm_are_joined)
{
    static const char text[] =
        "x = f32[4,2,3]\ny = f32[4,2,4]\n" WEIGHTS
        "h2 = f32[2,2] variable\nc2 = f32[2,2] variable\n"
        "y = BIDIRECTIONAL_SEQUENCE_LSTM(x, wi, wf, wc, wo, ri, rf, rc, ro, _, _, _, bi, bf, bc, "
        "bo, _, _, wi, wf, wc, wo, ri, rf, rc, ro, _, _, _, bi, bf, bc, bo, _, _, h, c, h2, c2, "
        "_, _, _, _, _, _, _, _, _) activation=4 merge_outputs=1\ninputs x\noutputs y\n";
    assert_tflite_results(text,
        "x = input f32[4,2,3]\n" ONNX_WEIGHTS "w2 = concat w w {axis=0}\n"
        "r2 = concat r r {axis=0}\nb2 = concat b b {axis=0}\n"
        "y = lstm x w2 r2 b2 {hidden_size=2, direction=\"bidirectional\"}\n"
        "t = transpose y {perm=[0,2,1,3]}\ns = const i64[3] {4, 2, 4}\nv = reshape t s\nreturn v\n",
        1e-5);
}
END_TEST

/* Boxes 0 and 1 overlap, box 2 stands alone. Scores have a background, and do not depend on the
 * input. */
static const char *detector(int each, int most, int by_class)
{
    static char text[1200];
    (void)snprintf(text, sizeof(text),
        "x = f32[1,3,3]\nzero = f32[1]{0}\nz = f32[1,3,3]\ns = f32[1,3,3]\n"
        "k = f32[1,3,3]{0.1, 0.9, 0.3, 0, 0.8, 0.95, 0, 0.2, 0.5}\n"
        "t = f32[1,3,4]{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}\n"
        "a = f32[3,4]{0.5, 0.5, 1, 1, 0.5, 0.45, 1, 1, 3, 3, 2, 2}\n"
        "b = f32[1,4,4]\nc = f32[1,4]\nd = f32[1,4]\nn = f32[1]\n"
        "z = MUL(x, zero)\ns = ADD(z, k)\n"
        "b c d n = CUSTOM:TFLite_Detection_PostProcess(t, s, a) detections_per_class=2 h_scale=5 "
        "max_classes_per_detection=%d max_detections=%d nms_iou_threshold=0.5 "
        "nms_score_threshold=0.25 num_classes=2 use_regular_nms=%d w_scale=5 x_scale=10 "
        "y_scale=10\ninputs x\noutputs b c d n\n",
        each, most, by_class);
    return text;
}

#define DETECTIONS(boxes, classes, scores, number)                                                 \
    "x = input f32[1,3,3]\nb = const f32[1,4,4] {" boxes "}\nc = const f32[1,4] {" classes         \
    "}\nd = const f32[1,4] {" scores "}\nn = const f32[1] {" number "}\n"                          \
    "b1 = identity b\nc1 = identity c\nd1 = identity d\nn1 = identity n\nreturn b1, c1, d1, n1\n"

START_TEST(detections_are_selected_and_padded)
{
    assert_tflite_results(detector(1, 4, 0),
        DETECTIONS("0, 0.05, 1, 1.05, 2, 2, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0", "1, 1, 0, 0",
            "0.95, 0.5, 0, 0", "2"),
        1e-6);
    assert_tflite_results(detector(2, 2, 0),
        DETECTIONS("0, 0.05, 1, 1.05, 0, 0.05, 1, 1.05, 2, 2, 4, 4, 2, 2, 4, 4", "1, 0, 1, 0",
            "0.95, 0.8, 0.5, 0.2", "2"),
        1e-6);
    assert_tflite_results(detector(1, 4, 1),
        DETECTIONS("0, 0.05, 1, 1.05, 0, 0, 1, 1, 2, 2, 4, 4, 0, 0, 0, 0", "1, 0, 1, 0",
            "0.95, 0.9, 0.5, 0", "3"),
        1e-6);
}
END_TEST

START_TEST(detectors_with_unknown_options_are_refused)
{
    assert_tflite_refused("t = f32[1,3,4]\ns = f32[1,3,3]\na = f32[3,4]\nb = f32[1,4,4]\n"
                          "c = f32[1,4]\nd = f32[1,4]\nn = f32[1]\n"
                          "b c d n = CUSTOM:TFLite_Detection_PostProcess(t, s, a) "
                          "max_detections=4\ninputs t s a\noutputs b\n",
        "options incomplete");
    assert_tflite_refused("x = f32[1]\ny = f32[1]\ny = CUSTOM:edgetpu-custom-op(x) a=1\n"
                          "inputs x\noutputs y\n",
        "Edge TPU");
}
END_TEST

PRT_TEST_MAIN("tflite/recurrent", layers_become_the_operator_lstm,
    clipped_layers_are_loops_with_the_same_numbers, projections_agree_in_both_forms,
    without_an_input_gate_it_is_the_rest_of_the_forget_gate,
    gates_are_normalised_before_their_activations, a_single_step_has_one_kernel_or_joined_weights,
    simple_recurrent_layers_run_in_both_directions, both_directions_of_lstm_are_joined,
    detections_are_selected_and_padded, detectors_with_unknown_options_are_refused)
