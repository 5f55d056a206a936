/* SPDX-License-Identifier: MIT */
/*
 * test_grad_move.c — gradients of operators that move elements, of scatters and of attention
 * against differences.
 * Covers: grad_scatter.c, grad_attention.c, grad_linear_attention.c, grad_microsoft.c.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/gradient_check.h"

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

START_TEST(moves)
{
    static const char *const rows[] = {
        X "i = const i64[2,2] {1,0,1,1}\ny = gather x i\n",
        "x = input f64[2,3,2]\ni = const i32[2,2] {2,-1,0,2}\ny = gather x i {axis=1}\n",
        "x = input f64[2,3,2]\ni = const i64[] {1}\ny = gather x i {axis=-1}\n",
        "x = input f64[2,2,3]\ni = const i64[2,1] {1,0}\ny = gather_nd x i {batch_dims=1}\n",
        "x = input f64[2,2,3]\ni = const i64[3,1] {1,0,1}\ny = gather_nd x i\n",
        X "s = const i64[2] {1,-2}\ne = const i64[2] {9,-1}\ny = slice x s e\n",
        X "s = const i64[1] {2}\ne = const i64[1] {0}\na = const i64[1] {-1}\n"
          "t = const i64[1] {-1}\ny = slice x s e a t\n",
        X "s = const i64[1] {9}\ne = const i64[1] {12}\na = const i64[1] {1}\n"
          "p = slice x s e a\nk = const f64[2,1] {1,2}\ny = concat p x k {axis=1}\n",
        "x = input f64[2,1,3]\ns = const i64[4] {2,1,4,3}\ny = expand x s\n",
        "x = input f64[2,1,3,1,2]\ns = const i64[5] {2,1,1,3,2}\ny = tile x s\n",
        X "s = const i64[2] {2,3}\ny = tile x s\n",
        "x = input f64[1,4,2,2]\ny = depth_to_space x {blocksize=2,mode=\"CRD\"}\n",
        "x = input f64[1,2,4,2]\ny = space_to_depth x {blocksize=2}\n",
        "x = input f64[3,2,2]\nl = const i64[2] {2,3}\ny = reverse_sequence x l\n",
        X "v = input f64[]\np = const i64[4] {1,0,-1,2}\ny = pad x p v\n",
        X "v = input f64[]\np = const i64[2] {1,2}\na = const i64[1] {1}\ny = pad x p v a\n",
        X "p = const i64[4] {0,1,1,2}\ny = pad x p {mode=\"edge\"}\n",
        X "p = const i64[4] {1,2,0,1}\ny = pad x p {mode=\"reflect\"}\n",
        X "p = const i64[4] {1,2,0,4}\ny = pad x p {mode=\"wrap\"}\n",
        X "k = const i64[1] {2}\ny, i = topk x k {largest=0,axis=1}\n",
        X "s = const i64[2] {3,2}\ny = center_crop_pad x s\n",
        X "c = const bool[3] {1,0,1}\ny = compress x c {axis=1}\n",
        X "c = const bool[4] {1,0,0,1}\ny = compress x c\n",
        X "u = unique x\nr = mul u u\ny = reduce_sum r {keepdims=0}\n",
        "x = input f64[2,1]\nk = const f64[2,3] {1,1,2,0,0,1}\nz = mul x k\n"
        "u, i = unique z {axis=1}\nr = mul u u\ny = reduce_sum r {keepdims=0}\n",
    };
    CHECK_ROWS(rows, -2, 2);
}
END_TEST

START_TEST(scatters)
{
    static const char *const reductions[] = { "none", "add", "mul", "max", "min" };
    for (size_t i = 0; i < PRT_COUNT_OF(reductions); i++) {
        const bool unique = i == 0;
        char text[512];
        (void)snprintf(text, sizeof(text),
            "x = input f64[3,3]\nu = input f64[2,3]\ni = const i64[2,3] {%s}\n"
            "y = scatter_elements x i u {axis=0,reduction=\"%s\"}\nreturn y\n",
            unique ? "1,0,2,0,2,1" : "1,0,2,1,2,-1", reductions[i]);
        check_gradients(text, -2, 2);
        (void)snprintf(text, sizeof(text),
            "x = input f64[3,2]\nu = input f64[3,2]\ni = const i64[3,1] {%s}\n"
            "y = scatter_nd x i u {reduction=\"%s\"}\nreturn y\n",
            unique ? "2,0,1" : "2,0,2", reductions[i]);
        check_gradients(text, -2, 2);
    }
    /* Products with zeros among the factors. */
    check_gradients("x = input f64[3]\nk = const f64[3] {0,1,0}\nd = mul x k\nu = input f64[4]\n"
                    "m = const f64[4] {1,0,0,1}\nv = mul u m\ni = const i64[4] {0,1,1,2}\n"
                    "y = scatter_elements d i v {reduction=\"mul\"}\nreturn y\n",
        -2, 2);
    check_gradients("x = input f64[2,4,3]\nu = input f64[2,2,3]\ni = const i64[2] {1,3}\n"
                    "y = tensor_scatter x u i {mode=\"circular\"}\nreturn y\n",
        -2, 2);
    check_gradients("x = input f64[2]\ni = const i64[3] {0,-1,5}\nd = const i64[] {4}\n"
                    "y = one_hot i d x\nreturn y\n",
        -2, 2);
}
END_TEST

#define HEADS "q = input f64[2,2,3,2]\nk = input f64[2,2,4,2]\nv = input f64[2,2,4,3]\n"

START_TEST(attention)
{
    static const char *const rows[] = {
        HEADS "y = attention q k v\n",
        HEADS "m = input f64[3,4]\ny = attention q k v m {softcap=1.5,scale=0.7,is_causal=1}\n",
        HEADS "m = const bool[1,1,3,4] {1,0,1,1,0,0,0,0,1,1,1,0}\ny = attention q k v m\n",
        HEADS "m = const bool[3,3] {1,0,1,1,1,0,1,1,1}\ny = attention q k v m\n",
        HEADS "l = const i64[2] {3,4}\ny = attention q k v _ _ _ l {is_causal=1}\n",
        "q = input f64[1,4,3,2]\nk = input f64[1,2,3,2]\nv = input f64[1,2,3,2]\n"
        "y = attention q k v {left_window_size=1,right_window_size=0}\n",
        "q = input f64[2,3,4]\nk = input f64[2,2,4]\nv = input f64[2,2,4]\n"
        "y = attention q k v {q_num_heads=2,kv_num_heads=2}\n",
    };
    CHECK_ROWS(rows, -1, 1);
    for (size_t mode = 0; mode < 4; mode++) {
        char text[512];
        (void)snprintf(text, sizeof(text),
            "q = input f64[1,2,2,2]\nk = input f64[1,2,2,2]\nv = input f64[1,2,2,2]\n"
            "a = input f64[1,2,1,2]\nb = input f64[1,2,1,2]\nm = input f64[1,1,2,3]\n"
            "y, p, r, s = attention q k v m a b {softcap=2,qk_matmul_output_mode=%zu}\n"
            "return y, p, r, s\n",
            mode);
        check_gradients(text, -1, 1);
    }
}
END_TEST

/* Regions that read values of the graph around them. */
START_TEST(flex_attention)
{
    static const char *const texts[] = {
        "y = flex_attention q k v\nreturn y\n",
        "y = flex_attention q k v {scale=0.3,score_mod {\ns = input f64[1,4,3,2]\nt = mul s m\n"
        "u = tanh t\nreturn u\n},prob_mod {\np = input f64[1,4,3,2]\nw = mul p p\n"
        "z = add w m\nreturn z\n}}\nreturn y\n",
    };
    char text[512];
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++) {
        snprintf(text, sizeof(text),
            "q = input f64[1,4,3,2]\nk = input f64[1,2,2,2]\nv = input f64[1,2,2,3]\n%s%s",
            i == 0 ? "" : "m = input f64[4,1,2]\n", texts[i]);
        check_gradients(text, -1, 1);
    }
}
END_TEST

START_TEST(linear_attention)
{
    static const char *const texts[] = {
        "y, s = linear_attention q k v {update_rule=\"linear\",q_num_heads=4,kv_num_heads=2}\n"
        "return y, s\n",
        "p = input f32[2,2,2,1]\nd = input f32[2,3,2]\ny, s = linear_attention q k v p d "
        "{update_rule=\"gated\",q_num_heads=4,kv_num_heads=2,scale=0.4}\nreturn y, s\n",
        "b = input f32[2,3,1]\ny, s = linear_attention q k v _ _ b "
        "{update_rule=\"delta\",q_num_heads=4,kv_num_heads=2}\nreturn y\n",
        "p = input f32[2,2,2,1]\nd = input f32[2,3,4]\nb = input f32[2,3,2]\n"
        "y, s = linear_attention q k v p d b {q_num_heads=4,kv_num_heads=2}\nreturn s, y\n",
    };
    char text[512];
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++) {
        snprintf(text, sizeof(text),
            "q = input f32[2,3,8]\nk = input f32[2,3,4]\nv = input f32[2,3,2]\n%s", texts[i]);
        check_gradients_f32(text, -1, 1);
    }
    check_symbolic_gradients(
        "q = input f32[2,n,2]\nk = input f32[2,n,2]\nv = input f32[2,n,2]\n"
        "y, s = linear_attention q k v {update_rule=\"linear\",q_num_heads=1,kv_num_heads=1}\n"
        "return y\n");
}
END_TEST

START_TEST(rotary_embedding)
{
    check_gradients_f32("x = input f32[1,2,3,6]\nc = input f32[1,3,3]\ns = input f32[1,3,3]\n"
                        "y = rotary_embedding x c s\nreturn y\n",
        -1, 1);
    check_gradients_f32("x = input f32[1,3,8]\nc = input f32[5,1]\ns = input f32[5,1]\n"
                        "p = const i64[1,3] {4,0,2}\n"
                        "y = rotary_embedding x c s p {num_heads=2,rotary_embedding_dim=2,"
                        "interleaved=1}\nreturn y\n",
        -1, 1);
}
END_TEST

START_TEST(causal_convolution)
{
    check_gradients_f32("x = input f32[2,2,3]\nw = input f32[2,1,3]\nb = input f32[2]\n"
                        "p = input f32[2,2,2]\n"
                        "y, s = causal_conv_with_state x w b p {activation=\"silu\"}\n"
                        "return y, s\n",
        -1, 1);
    check_gradients_f32("x = input f32[1,2,3]\nw = input f32[2,1,2]\n"
                        "y, s = causal_conv_with_state x w\nreturn y, s\n",
        -1, 1);
}
END_TEST

#ifndef PRT_NO_MICROSOFT

START_TEST(attention_of_microsoft)
{
    static const char *const rows[] = {
        "x = input f32[2,3,4]\nw = input f32[4,12]\nb = input f32[12]\nm = const i32[2] {2,3}\n"
        "y = ms_attention x w b m {num_heads=2,mask_filter_value=-3}\nreturn y\n",
        "x = input f32[1,2,3]\nw = input f32[3,12]\nb = input f32[12]\n"
        "p = input f32[2,1,2,2,2]\na = input f32[1,2,2,4]\n"
        "y, q = ms_attention x w b _ p a {num_heads=2,unidirectional=1,scale=0.5}\nreturn y, q\n",
        "q = input f32[2,2,4]\nk = input f32[2,3,4]\nv = input f32[2,3,6]\nb = input f32[14]\n"
        "m = const i32[2,3] {1,0,1,1,1,1}\n"
        "y, p = ms_multi_head_attention q k v b m {num_heads=2}\nreturn y, p\n",
        "q = input f32[1,2,4]\nk = input f32[1,2,3,2]\nv = input f32[1,2,3,2]\n"
        "m = const i32[1,2,3] {1,0,1,1,1,1}\n"
        "y = ms_multi_head_attention q k v _ m {num_heads=2}\nreturn y\n",
        "q = input f32[1,1,4]\nk = input f32[1,1,4]\nv = input f32[1,1,4]\n"
        "a = input f32[1,2,2,2]\nc = input f32[1,2,2,2]\n"
        "y, p, r = ms_multi_head_attention q k v _ _ _ a c {num_heads=2,unidirectional=1}\n"
        "return y, p, r\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
        check_gradients_f32(rows[i], -1, 1);
}
END_TEST

START_TEST(other_operators_of_microsoft)
{
    static const char *const rows[] = {
        "x = input f32[2,2,4]\ns = input f32[2,2,4]\nw = input f32[4]\nb = input f32[4]\n"
        "c = input f32[4]\ny, m, v, t = ms_skip_layer_normalization x s w b c\n"
        "return y, m, v, t\n",
        "x = input f32[2,4]\ns = input f32[2,4]\nw = input f32[4]\n"
        "y, _, v, t = ms_skip_simplified_layer_normalization x s w\nreturn y, v, t\n",
        "x = input f32[1,2,3,4]\np = const i64[1,3] {1,0,2}\nc = input f32[3,2]\n"
        "s = input f32[3,2]\ny = ms_rotary_embedding x p c s\nreturn y\n",
        "x = input f32[2,2,8]\np = const i64[1] {1}\nc = input f32[3,2]\ns = input f32[3,2]\n"
        "y = ms_rotary_embedding x p c s {interleaved=1}\nreturn y\n",
        "x = input f32[2,3]\nb = input f32[3]\ny = ms_fast_gelu x b\nreturn y\n",
        "x = input f32[2,3]\nb = input f32[3]\ny = ms_bias_gelu x b\nreturn y\n",
        "x = input f32[3,2]\nw = input f32[3,2]\n"
        "y = ms_fused_matmul x w {transA=1,alpha=0.5}\nreturn y\n",
        "x = input f32[2,2]\nk = const f32[2,2] {3,0,0,3}\nz = add x k\n"
        "y = ms_inverse z\nreturn y\n",
        "x = input f32[1,2,3]\nw = input f32[3,2]\ny = ms_gemm_fast_gelu x w\nreturn y\n",
        "x = input f32[1,2,3]\nb = input f32[3]\ns = input f32[1,2,3]\n"
        "y = ms_bias_add x b s\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
        check_gradients_f32(rows[i], -1, 1);
}
END_TEST

PRT_TEST_MAIN("train/grad_move", moves, scatters, attention, flex_attention, linear_attention,
    rotary_embedding, causal_convolution, attention_of_microsoft, other_operators_of_microsoft)

#else

PRT_TEST_MAIN("train/grad_move", moves, scatters, attention, flex_attention, linear_attention,
    rotary_embedding, causal_convolution)

#endif
