/* SPDX-License-Identifier: MIT */
/*
 * test_grad_graphcore.c — gradients of operators of ai.graphcore against differences.
 * Covers: grad_graphcore_ops.c, grad_graphcore_nn.c, grad_packed.c.
 */
#include <stdio.h>

#include "ir/build.h"
#include "support/check_main.h"
#include "support/gradient_check.h"
#include "train/autodiff.h"

/* Each row is a graph without the statement that returns y. */
static void check_rows(size_t n, const char *const *rows, double low, double high)
{
    for (size_t i = 0; i < n; i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text), "%sreturn y\n", rows[i]);
        check_gradients(text, low, high);
    }
}

#define CHECK_ROWS(rows, low, high) check_rows(PRT_COUNT_OF(rows), rows, low, high)
#define X "x = input f64[2,3]\n"
#define XZ X "z = input f64[2,3]\n"

START_TEST(element_wise)
{
    static const char *const rows[] = { X "y = gc_expm1 x\n", X "y = gc_square x\n",
        X "y = gc_gelu x\n", X "y = gc_gelu_erf x\n", X "y = gc_swish x\n",
        X "y = gc_scale x {scale=0.5}\n", X "y = gc_erf_v2 x\n",
        X "y = gc_leaky_relu x {alpha=0.2}\n", X "y = gc_softmax_v2 x {axis=0}\n",
        XZ "y = gc_atan2 x z\n", XZ "y = gc_scaled_add x z {scale0=2,scale1=-1}\n",
        XZ "s = input f64[]\nt = input f64[]\ny = gc_scaled_add x z s t\n",
        "x = input f64[2,3,2]\nb = input f64[3]\ny = gc_add_bias x b\n",
        X "m = const f64[] {0.6}\ny = gc_fmod x m\n",
        X "y = gc_increment_mod x {increment=1,modulus=8}\n",
        X "y = gc_binary_const_scalar x {op=\"Sub\",value=2,scalar_in_index=0}\n",
        X "y = gc_binary_const_scalar x {op=\"Pow\",value=3}\n", X "y = gc_nop x\n",
        X "y = gc_tensor_remap x\n", X "y = gc_shaped_dropout x\n",
        "x = input f64[2,3]\no = const f64[3] {1,2,3}\ns = const f64[3] {2,3,4}\n"
        "y = gc_normalize_image x o s {scale=0.5}\n",
        XZ "c = const bool[2,1] {1,0}\ny = gc_where_v2 c x z\n" };
    CHECK_ROWS(rows, -2, 2);
    check_gradients(X "y = gc_log1p x\nreturn y\n", -0.5, 2);
    check_gradients(XZ "k = const f64[] {5}\nw = mul x k\ny = gc_remainder w z\nreturn y\n", 0.3,
        2);
}
END_TEST

START_TEST(detached_values_have_no_gradient)
{
    check_gradients("x = input f64[2]\nr = gc_round x\nd = gc_nearby_int x\ny = add r d\n"
                    "return y\n",
        -2, 2);
    prt_graph *g = graph_from_text("x = input f32[2]\nd = gc_detach x\ny = mul x d\nreturn y\n");
    prt_build b = prt_build_at_end(g);
    prt_value *dx;
    ck_assert_int_eq(prt_autodiff(&b, g->ret->in[0].value, NULL, 1, g->inputs.data, 0, NULL, &dx,
                         NULL),
        POPRT_OK);
    ck_assert_int_eq(prt_graph_set_outputs(g, 1, &dx, (const prt_str[1]){ PRT_STR("dx") }),
        POPRT_OK);
    prt_graph *want = graph_from_text("x = input f32[2]\ny = identity x\nreturn y\n");
    assert_same_results(g, want, 0.0, 1);
    module_free(g);
    module_free(want);
}
END_TEST

START_TEST(movement)
{
    static const char *const rows[] = {
        X "y = gc_reverse x {dimensions=[1]}\n",
        "x = input f64[3,5]\ny = gc_subsample x {strides=[2,3]}\n",
        X "y = gc_slice x {starts=[1],ends=[3],axes=[1]}\n",
        X "y = gc_reshape x {shape=[3,-1]}\n",
        "x = input f64[1,4,2,1]\ny = gc_depth_to_space x {blocksize=2}\n",
        "x = input f64[4,2,2]\ny = gc_conv_flip_weights x {group=2}\n",
        "x = input f64[4,3]\no = const u32[1] {3}\ny = gc_dynamic_slice x o {axes=[0],sizes=[2]}\n",
        "x = input f64[4,3]\no = const u32[1] {1}\nz = input f64[2,3]\n"
        "y = gc_dynamic_update x o z {axes=[0],sizes=[2]}\n",
        "x = input f64[4,3]\no = const u32[2] {1,2}\nz = input f64[2,1]\n"
        "y = gc_dynamic_add x o z {axes=[0,1],sizes=[2,1]}\n",
        "x = input f64[4,3]\no = const u32[1] {1}\ny = gc_dynamic_zero x o {axes=[1],sizes=[2]}\n",
        "x = input f64[4,2]\nz = input f64[5,2]\nn = const u32[2] {2,1}\ns = const u32[2] {1,0}\n"
        "d = const u32[2] {0,4}\ny = gc_sequence_slice x z n s d\n",
        "x = input f64[4,2]\nz = input f64[5,2]\nn = const u32[2] {2,1}\ns = const u32[2] {1,0}\n"
        "d = const u32[2] {0,4}\ny = gc_sequence_slice x z n s d {zeroUnused=1}\n",
        X "y = gc_sort x {axis=0,descending=1}\n",
        X "y, i = gc_sort x\n",
        "x = input f64[2,3,2]\ny = gc_reduce_median x {axes=[0,-1],keepdims=0}\n",
        "x = input f64[2,3]\ny = gc_reduce_median x\n",
        "x = input f64[3,2]\ni = const i32[2,2] {2,0,2,1}\ny = gc_grouped_gather x i\n",
        "x = input f64[2,3,2]\ni = const i32[2,2] {2,0,2,1}\n"
        "y = gc_grouped_gather x i {group_size=2,axis=1}\n",
        "x = input f64[3,2]\nc = const bool[3] {1,0,1}\ny = gc_mask_compress x c\n",
        "x = input f64[2,3,1]\ni = const i32[2,1] {2,3}\n"
        "y = gc_unpack x i {segment_max_size=[4]}\n",
        "x = input f64[2,4]\np, y = gc_host_concat_split_reshape x {shapes=[2,2,4,1]}\n",
    };
    CHECK_ROWS(rows, -2, 2);
}
END_TEST

START_TEST(scatter_reduce)
{
    static const char *const reductions[] = { "sum", "max", "min", "mul", "none" };
    for (size_t i = 0; i < PRT_COUNT_OF(reductions); i++) {
        const bool unique = i == 4;
        char text[512];
        (void)snprintf(text, sizeof(text),
            "x = input f64[3,2]\nj = const i32[3] {%s}\n"
            "y = gc_scatter_reduce x j {axis=0,axis_size=4,reduction=\"%s\"}\nreturn y\n",
            unique ? "2,0,3" : "2,0,2", reductions[i]);
        check_gradients(text, 0.3, 2);
        (void)snprintf(text, sizeof(text),
            "x = input f64[2,3]\nz = input f64[2,4]\nj = const u32[2,3] {%s}\n"
            "y = gc_scatter_reduce x j z {axis=1,axis_size=4,reduction=\"%s\"}\nreturn y\n",
            unique ? "2,0,3,1,0,2" : "2,0,2,1,3,1", reductions[i]);
        check_gradients(text, 0.3, 2);
    }
    check_gradients("x = input f64[2,3,2]\nj = const i32[2,3] {1,0,1,1,1,0}\n"
                    "y = gc_scatter_reduce x j {axis=1,axis_size=2,group_size=2}\nreturn y\n",
        0.3, 2);
}
END_TEST

START_TEST(networks)
{
    static const char *const rows[] = {
        "x = input f64[3,2,2]\nw = input f64[4,5,3]\nb = input f64[4,3]\ns = input f64[2,2,3]\n"
        "l = const i32[2] {2,3}\ny = gc_lstm x w b s l\n",
        "x = input f64[3,2,2]\nw = input f64[4,5,3]\n"
        "p, c = gc_lstm x w {output_full_sequence=0}\ny = mul p c\n",
        "a = input f64[1,2,4,3]\nv = input f64[2,2,2,2]\nb = input f64[2]\nc = input f64[1,2,5]\n"
        "w = input f64[2,1,2]\np, q = gc_multi_conv a v b c w {strides=[1,2,1],pads=[1,0,0,1,2,0],"
        "dilations=[1,1,2],inDilations=[1,2,2],outPads=[0,1,0,0,0,1]}\n"
        "r = reduce_sum q {keepdims=0}\ny = mul p r\n",
        "x = input f64[3,2]\nw = input f64[4,2,2]\nb = input f64[3,2]\n"
        "i = const i32[3,2] {0,3,1,1,2,0}\ny = gc_spline_weighting x w b i\n",
        "x = input f64[6,2]\nz = input f64[2]\no = const i64[3] {0,2,3}\nn = const i64[3] {2,1,3}\n"
        "t = const i64[3] {3,2,0}\nm = const i64[3] {2,1,2}\n"
        "y = gc_packed_data_block x o n t m {maxSequenceLengths=[3],resultSize=5,"
        "callbackBatchSize=1,callback {\nv = input f64[1,3,2]\nu = mul v z\ns = sin u\n"
        "return s\n}}\n",
    };
    CHECK_ROWS(rows, -1, 1);
}
END_TEST

START_TEST(print_tensor_prints_the_gradient)
{
    prt_graph *g = graph_from_text("x = input f32[2]\np = gc_print_tensor x {title=\"t\"}\n"
                                   "q = gc_print_tensor p\nr = gc_print_tensor q "
                                   "{print_gradient=0}\ny = exp r\nreturn y\n");
    prt_build b = prt_build_at_end(g);
    prt_value *dx;
    ck_assert_int_eq(prt_autodiff(&b, g->ret->in[0].value, NULL, 1, g->inputs.data, 0, NULL, &dx,
                         NULL),
        POPRT_OK);
    prt_value *const outs[2] = { g->ret->in[0].value, dx };
    ck_assert_int_eq(prt_graph_set_outputs(g, 2, outs,
                         (const prt_str[2]){ PRT_STR("y"), PRT_STR("d") }),
        POPRT_OK);
    assert_text_has(graph_text(g), "title=t_gradient title=Gradient___p !Gradient___q");
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("train/grad_graphcore", element_wise, detached_values_have_no_gradient, movement,
    scatter_reduce, networks, print_tensor_prints_the_gradient)
