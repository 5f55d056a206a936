/* SPDX-License-Identifier: MIT */
/*
 * test_formulas.c — expand_formulas: operators that it expands, and operators that it leaves.
 * Covers: spectrum.c.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "expand_formulas"

static void assert_expands(const char *text, uint32_t eliminated)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_msg(run_pass(g, PASS, NULL), "%s", text);
    for (const prt_op *op = g->first; op != NULL; op = op->next)
        ck_assert_msg(!prt_op_is(op, eliminated), "%s", text);
    ck_assert(!run_pass(g, PASS, NULL));
    module_free(g);
    assert_pass_keeps_results(text, PASS, 1e-5);
}

static void assert_stays(const char *text)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_msg(!run_pass(g, PASS, NULL), "%s", text);
    module_free(g);
}

#define PLACES "p = const i64[2,5] {0,1,2,3,8,4,0,5,7,6}\n"

/* The same kind of operator stays, with two dims. */
static void assert_expands_pool(const char *text)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_msg(run_pass(g, PASS, NULL), "%s", text);
    ck_assert(!run_pass(g, PASS, NULL));
    module_free(g);
    assert_pass_keeps_results(text, PASS, 1e-6);
}

/* Compares results over numbers of all sizes, NaN included. */
#define NUMBERS "x = const f32[14] {-inf,-1e30,-100,-21,-2,-0.5,-1e-3,0,1e-3,0.5,2,21,1e30,inf}\n"

START_TEST(elementwise_operators_are_expanded)
{
    static const struct {
        uint32_t op;
        const char *line;
    } cases[] = {
        { PRT_OP_elu, "elu x" },
        { PRT_OP_elu, "elu x {alpha=0.3}" },
        { PRT_OP_selu, "selu x" },
        { PRT_OP_selu, "selu x {alpha=0.5,gamma=2.0}" },
        { PRT_OP_celu, "celu x" },
        { PRT_OP_celu, "celu x {alpha=2.5}" },
        { PRT_OP_isinf, "isinf x" },
        { PRT_OP_isinf, "isinf x {detect_negative=0}" },
        { PRT_OP_isinf, "isinf x {detect_positive=0}" },
        { PRT_OP_isnan, "isnan x" },
        { PRT_OP_mish, "mish x" },
        { PRT_OP_softplus, "softplus x" },
        { PRT_OP_softsign, "softsign x" },
        { PRT_OP_swish, "swish x {alpha=1.702}" },
        { PRT_OP_thresholded_relu, "thresholded_relu x" },
        { PRT_OP_thresholded_relu, "thresholded_relu x {alpha=-0.5}" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), "x = input f32[3,50]\ny = %s\nreturn y\n",
            cases[i].line);
        assert_expands(text, cases[i].op);
        (void)snprintf(text, sizeof(text), "x = input f16[3,50]\ny = %s\nreturn y\n",
            cases[i].line);
        assert_stays(text);
    }
}
END_TEST

/* Where the ends are, and beyond. */
START_TEST(inverse_circular_functions_are_expanded)
{
    static const char *const lines[] = { "acos x", "asin x" };
    assert_expands("x = input f32[3,50]\ns = tanh x\ny = acos s\nreturn y\n", PRT_OP_acos);
    assert_expands("x = input f32[3,50]\ns = tanh x\ny = asin s\nreturn y\n", PRT_OP_asin);
    assert_stays("x = input f16[3,50]\ny = asin x\nreturn y\n");
    for (size_t i = 0; i < PRT_COUNT_OF(lines); i++) {
        char text[400];
        (void)snprintf(text, sizeof(text),
            "z = input f32[11]\nx = const f32[11] {-1,-0.9999999,"
            "-0.99,-0.5,-1e-6,0,1e-30,0.25,0.9,0.9999999,1}\ny = %s\nq = add y z\nreturn q\n",
            lines[i]);
        assert_pass_keeps_results(text, PASS, 1e-6);
        (void)snprintf(text, sizeof(text),
            "z = input f32[3]\nx = const f32[3] {-1.5,1.000001,nan}"
            "\ny = %s\nn = isnan y\nk = cast n {to=1}\nq = add k z\nreturn q\n",
            lines[i]);
        assert_pass_keeps_results(text, PASS, 1e-6);
    }
}
END_TEST

START_TEST(reductions_are_expanded)
{
    assert_expands("x = input f32[3,4,5]\ny = reduce_l1 x\nreturn y\n", PRT_OP_reduce_l1);
    assert_expands("x = input f32[3,4,5]\na = const i64[1] {-2}\ny = reduce_l1 x a {keepdims=0}\n"
                   "return y\n",
        PRT_OP_reduce_l1);
    assert_expands("x = input f32[3,4,5]\ny = reduce_log_sum_exp x\nreturn y\n",
        PRT_OP_reduce_log_sum_exp);
    assert_expands("x = input f32[3,4,5]\na = const i64[2] {0,-1}\n"
                   "y = reduce_log_sum_exp x a {keepdims=0}\nreturn y\n",
        PRT_OP_reduce_log_sum_exp);
    assert_expands("x = input f32[3,4]\na = const f32[] {1000}\nl = mul x a\n"
                   "y = reduce_log_sum_exp l {keepdims=0}\nreturn y\n",
        PRT_OP_reduce_log_sum_exp);
    assert_expands(
        "z = input f32[4]\nx = const f32[4,2] {inf,1,-inf,-inf,-inf,3,1e30,-1e30}\n"
        "a = const i64[1] {1}\nl = reduce_log_sum_exp x a {keepdims=0}\nm = const f32[] {-9}\n"
        "n = max l m\no = const f32[] {9}\np = min n o\ny = add p z\nreturn y\n",
        PRT_OP_reduce_log_sum_exp);
    assert_stays("x = input f32[3,4]\na = input i64[1]\ny = reduce_log_sum_exp x a\nreturn y\n");
    assert_stays("x = input f64[3,4]\ny = reduce_l1 x\nreturn y\n");
}
END_TEST

START_TEST(lp_pools_are_expanded)
{
    assert_expands("x = input f32[2,3,7,8]\ny = lp_pool x {kernel_shape=[3,2],strides=[2,1],"
                   "pads=[1,0,2,1]}\nreturn y\n",
        PRT_OP_lp_pool);
    assert_expands(
        "x = input f32[2,3,9]\ny = lp_pool x {kernel_shape=[4],p=1,auto_pad=\"SAME_LOWER\"}\n"
        "return y\n",
        PRT_OP_lp_pool);
    assert_stays("x = input f32[2,3,9]\ny = lp_pool x {kernel_shape=[4],p=3}\nreturn y\n");
    assert_stays("x = input f32[2,3,9]\ny = lp_pool x {kernel_shape=[4],strides=[3],ceil_mode=1}\n"
                 "return y\n");
}
END_TEST

START_TEST(hardmax_is_expanded)
{
    assert_expands("x = input f32[5,9]\ny = hardmax x\nreturn y\n", PRT_OP_hardmax);
    assert_expands("x = input f32[2,7,3]\ny = hardmax x {axis=1}\nreturn y\n", PRT_OP_hardmax);
    assert_expands("z = input f32[2,4]\nx = const f32[2,4] {1,3,3,2,nan,5,nan,7}\nh = hardmax x\n"
                   "y = add h z\nreturn y\n",
        PRT_OP_hardmax);
    assert_stays("x = input f32[2,n]\ny = hardmax x\nreturn y\n");
}
END_TEST

/* Mish, as exporters write it without the operator. */
START_TEST(mish_is_expanded)
{
    assert_expands("x = input f32[3,50]\ns = softplus x\nt = tanh s\ny = mul x t\nreturn y\n",
        PRT_OP_tanh);
    assert_expands("x = input f32[3,50]\ns = softplus x\nt = tanh s\ny = mul t x\nreturn y\n",
        PRT_OP_tanh);
    /* other numbers, or other readers */
    assert_expands(
        "x = input f32[3,50]\nz = input f32[50]\ns = softplus x\nt = tanh s\ny = mul z t\n"
        "return y\n",
        PRT_OP_softplus);
    assert_expands("x = input f32[3,50]\ns = softplus x\nt = tanh s\ny = mul x t\nreturn y, s\n",
        PRT_OP_softplus);
}
END_TEST

/* The pass does not fold constants, so the kernels see these values. */
START_TEST(expansions_hold_for_numbers_of_all_sizes)
{
    static const char *const lines[] = { "elu x", "selu x", "celu x {alpha=2.5}", "isinf x",
        "isinf x {detect_negative=0}", "isnan x", "thresholded_relu x" };
    for (size_t i = 0; i < PRT_COUNT_OF(lines); i++) {
        char text[512];
        (void)snprintf(text, sizeof(text),
            NUMBERS
            "z = input f32[14]\ny = %s\n"
            "k = cast y {to=1}\nm = const f32[] {-1e38}\nn = max k m\no = const f32[] {1e38}\n"
            "p = min n o\nq = add p z\nreturn q\n",
            lines[i]);
        assert_pass_keeps_results(text, PASS, 1e-5);
    }
}
END_TEST

START_TEST(several_inputs_and_axes_are_expanded)
{
    assert_expands("a = input f32[3,4]\nb = input f32[4]\nc = input f32[3,1]\ny = mean a b c\n"
                   "return y\n",
        PRT_OP_mean);
    assert_expands("x = input f32[2,3,4,5]\ny = mean_variance_normalization x\nreturn y\n",
        PRT_OP_mean_variance_normalization);
    assert_expands(
        "x = input f32[2,3,4]\ny = mean_variance_normalization x {axes=[-1]}\nreturn y\n",
        PRT_OP_mean_variance_normalization);
    assert_expands("x = input f32[2,3,4,5]\ny = global_max_pool x\nreturn y\n",
        PRT_OP_global_max_pool);
    assert_expands("x = input f32[2,7,4,5]\ny = lrn x {size=5,alpha=0.5}\nreturn y\n", PRT_OP_lrn);
    assert_expands("x = input f32[2,7,4]\ny = lrn x {size=4,beta=0.5,bias=2.0}\nreturn y\n",
        PRT_OP_lrn);
    assert_stays("x = input f32[n,7,4]\ny = lrn x {size=3}\nreturn y\n");
    assert_stays("x = input f32[2,7,4]\ny = lrn x {size=3,bias=0.0}\nreturn y\n");
    assert_stays("x = input f32[2]\ny = mean x\nreturn y\n");
    assert_stays("x = input f32[2]\ny = celu x {alpha=-1.0}\nreturn y\n");
}
END_TEST

START_TEST(operators_of_onnx_runtime_are_expanded)
{
    static const char *const activations[] = { "", "activation=\"Relu\"",
        "activation=\"LeakyRelu\"", "activation=\"LeakyRelu\",activation_params=[0.3]",
        "activation=\"HardSigmoid\"", "activation=\"HardSigmoid\",activation_params=[0.1,0.4]",
        "activation=\"Clip\",activation_params=[0.0,0.5]", "activation=\"HardSwish\"",
        "activation=\"Sigmoid\"", "activation=\"Tanh\"", "activation=\"Gelu\"" };
    char text[512];
    for (size_t i = 0; i < PRT_COUNT_OF(activations); i++) {
        (void)snprintf(text, sizeof(text),
            "x = input f32[1,4,5,5]\nw = input f32[6,2,3,3]\n"
            "c = input f32[6]\nz = input f32[1,6,3,3]\n"
            "y = ms_fused_conv x w c z {group=2,pads=[1,1,1,1],strides=[2,2]%s%s}\nreturn y\n",
            activations[i][0] != 0 ? "," : "", activations[i]);
        assert_expands(text, PRT_OP_ms_fused_conv);
    }
    assert_expands(
        "x = input f32[1,4,5,5]\nw = input f32[6,4,3,3]\ny = ms_fused_conv x w\nreturn y\n",
        PRT_OP_ms_fused_conv);
    assert_expands(
        "a = input f32[5,4]\nb = input f32[6,5]\nc = input f32[6]\n"
        "y = ms_fused_gemm a b c {transA=1,transB=1,alpha=0.5,activation=\"Relu\"}\nreturn y\n",
        PRT_OP_ms_fused_gemm);
    assert_expands(
        "a = input f32[4,5]\nb = input f32[5,6]\n"
        "y = ms_fused_gemm a b {activation=\"LeakyRelu\",activation_alpha=0.2}\nreturn y\n",
        PRT_OP_ms_fused_gemm);
    assert_stays("a = input f32[4,5]\nb = input f32[5,6]\n"
                 "y = ms_fused_gemm a b {activation=\"ParametricSoftplus\"}\nreturn y\n");
}
END_TEST

START_TEST(attention_of_onnx_runtime_is_expanded)
{
    static const char *const lines[] = {
        "y = ms_attention x w {num_heads=3}\nreturn y\n",
        "b = input f32[72]\ny = ms_attention x w b {num_heads=3,unidirectional=1,scale=0.3}\n"
        "return y\n",
        "b = input f32[72]\nm = const i32[2] {5,3}\n"
        "y = ms_attention x w b m {num_heads=3,mask_filter_value=-100.0}\nreturn y\n",
        "b = input f32[72]\na = input f32[1,3,5,5]\ny = ms_attention x w b _ _ a {num_heads=3}\n"
        "return y\n",
        "b = input f32[72]\np = input f32[2,2,3,4,8]\n"
        "y, z = ms_attention x w b _ p {num_heads=3,unidirectional=1}\nreturn y, z\n",
        "y, z = ms_attention x w {num_heads=3}\nreturn y, z\n",
        "y = ms_attention x w {num_heads=3,qkv_hidden_sizes=[18,18,36]}\nreturn y\n",
    };
    char text[512];
    for (size_t i = 0; i < PRT_COUNT_OF(lines); i++) {
        (void)snprintf(text, sizeof(text), "x = input f32[2,5,16]\nw = input f32[16,72]\n%s",
            lines[i]);
        assert_expands(text, PRT_OP_ms_attention);
    }
}
END_TEST

START_TEST(einsum_is_expanded)
{
    static const char *const cases[][3] = {
        { "2,3,4", "2,4,5", "bij,bjk->bik" },
        { "2,3,4,5", "2,3,6,5", "bhid,bhjd->bhij" },
        { "2,3,4,5", "2,3,5,6", "bhij , bhjd -> bihd" },
        { "2,3,4", "4,5", "bij,jk->bki" },
        { "4,5", "2,3,4", "jk,bij->bik" },
        { "3,4", "4,5", "ij,jk->ki" },
        { "2,4,3", "5,4,2", "bji,kjb->kib" },
        { "1,3,4", "2,4,5", "bij,bjk->bik" },
        { "3,4", "4", "ij,j->i" },
        { "3,4", "3,4", "ij,ij->" },
        { "3", "4", "i,j->ij" },
        { "3,4", "3,4", "ij,ij->i" },
        { "3,4", "3", "ij,i->ij" },
        { "3,4,5", "4,5,2", "ijk,jkl->il" },
        { "2,3,4", "4,5", "...j,jk->...k" },
        { "3,4", "4,5", "ij,jk" },
        { "3,4", "4,5", "kj,ji" },
        { "2,3,4", "3,4", "...j,...j->...j" },
        { "4,5,3,2", "6,3,2", "bind,snd->bnis" },
        { "2,3,4", "4,5,2", "abc,cde->abde" },
        { "2,3,4,5,6,2", "2,3,5,2,4", "bildsk,biokl->bolsd" },
        { "2,3,4,5", "3,6,5", "bhwc,hkc->bhwk" },
        { "2,3,4", "4,5", "abc,ce->b" },
        { "b,s,4", "4,5,6", "bsi,ijk->bsjk" },
        { "2,b,3,4", "2,b,5,4", "xbid,xbjd->bxij" },
        { "2,s,3,4", "2,3,4,5", "bshi,bhij->bhsj" },
    };
    static const char *const others[][3] = {
        { "3,3", "3,4", "ii,ij->j" },
        { "3,1", "4,5", "ij,jk->ik" },
        { "3,0", "0,5", "ij,jk->ik" },
        { "b,s,d,3", "b,3,5,e", "bsdi,bije->bsdje" },
        { "4,n", "n,5", "ij,jk->ik" },
    };
    char text[256];
    for (size_t i = 0; i < PRT_COUNT_OF(cases) + PRT_COUNT_OF(others); i++) {
        const bool is = i < PRT_COUNT_OF(cases);
        const char *const *c = is ? cases[i] : others[i - PRT_COUNT_OF(cases)];
        (void)snprintf(text, sizeof(text),
            "a = input f32[%s]\nb = input f32[%s]\n"
            "y = einsum a b {equation=\"%s\"}\nreturn y\n",
            c[0], c[1], c[2]);
        if (is)
            assert_expands(text, PRT_OP_einsum);
        else
            assert_stays(text);
    }
    static const char *const ones[] = { "ijkl->klij", "ijkl->lj", "ijkl->", "ijkl", "...l->l...",
        "ljki->ijkl" };
    for (size_t i = 0; i < PRT_COUNT_OF(ones); i++) {
        (void)snprintf(text, sizeof(text),
            "a = input f32[2,3,4,5]\n"
            "y = einsum a {equation=\"%s\"}\nz = neg y\nreturn z\n",
            ones[i]);
        assert_expands(text, PRT_OP_einsum);
    }
    assert_stays("a = input f32[2,3,4,5]\nb = input f32[5,2]\nc = input f32[3]\n"
                 "y = einsum a b c {equation=\"ijkl,lm,j->km\"}\nreturn y\n");
    assert_stays("a = input f32[3,3]\ny = einsum a {equation=\"ii->i\"}\nreturn y\n");
}
END_TEST

START_TEST(rotary_embedding_is_expanded)
{
    static const char *const cases[] = {
        "x = input f32[2,3,5,8]\nc = input f32[9,4]\ns = input f32[9,4]\n" PLACES
        "y = rotary_embedding x c s p\nreturn y\n",
        "x = input f32[2,5,24]\nc = input f32[9,4]\ns = input f32[9,4]\n" PLACES
        "y = rotary_embedding x c s p {num_heads=3}\nreturn y\n",
        "x = input f32[2,3,5,8]\nc = input f32[2,5,2]\ns = input f32[2,5,2]\n"
        "y = rotary_embedding x c s {rotary_embedding_dim=4}\nreturn y\n",
        "x = input f32[2,5,24]\nc = input f32[9,3]\ns = input f32[9,3]\n" PLACES
        "y = ms_rotary_embedding x p c s {num_heads=3,rotary_embedding_dim=6}\nreturn y\n",
        "x = input f32[2,3,5,8]\nc = input f32[9,4]\ns = input f32[9,4]\n" PLACES
        "y = ms_rotary_embedding x p c s\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++)
        assert_expands(cases[i], i < 3 ? PRT_OP_rotary_embedding : PRT_OP_ms_rotary_embedding);
    assert_stays("x = input f32[2,3,5,8]\nc = input f32[9,4]\ns = input f32[9,4]\n" PLACES
                 "y = rotary_embedding x c s p {interleaved=1}\nreturn y\n");
    assert_stays("x = input f32[2,3,5,8]\nc = input f32[9,4]\ns = input f32[9,4]\n"
                 "p = input i64[1]\ny = ms_rotary_embedding x p c s\nreturn y\n");
}
END_TEST

START_TEST(pools_of_three_dims_are_expanded)
{
    static const char *const attrs[] = {
        "kernel_shape=[2,2,2]",
        "kernel_shape=[2,2,2],strides=[2,2,2]",
        "kernel_shape=[3,1,2],strides=[1,2,3]",
    };
    char text[256];
    for (size_t i = 0; i < PRT_COUNT_OF(attrs); i++) {
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,3,5,6,7]\ny = max_pool x {%s}\n"
            "return y\n",
            attrs[i]);
        assert_expands_pool(text);
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,3,5,6,7]\n"
            "y = max_pool x {%s,ceil_mode=1}\nreturn y\n",
            attrs[i]);
        assert_expands_pool(text);
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,3,5,6,7]\ny = average_pool x {%s}\n"
            "return y\n",
            attrs[i]);
        assert_expands_pool(text);
    }
    assert_expands_pool(
        "x = input f32[1,2,4,5,6]\n"
        "y = max_pool x {kernel_shape=[3,3,2],pads=[1,1,0,1,0,1],strides=[2,1,2]}\nreturn y\n");
    assert_expands_pool("x = input f32[1,2,4,5,6]\ny = average_pool x {kernel_shape=[3,3,2],"
                        "pads=[1,1,0,1,0,1],strides=[2,1,2],count_include_pad=1}\nreturn y\n");
    assert_stays("x = input f32[1,2,4,5,6]\ny = average_pool x {kernel_shape=[3,3,2],"
                 "pads=[1,1,0,1,0,1]}\nreturn y\n");
    assert_stays("x = input f32[1,2,4,5,6]\n"
                 "y = max_pool x {kernel_shape=[2,2,2],dilations=[2,1,1]}\nreturn y\n");
    assert_stays("x = input f32[1,2,4,5,6]\n"
                 "y, i = max_pool x {kernel_shape=[2,2,2]}\nreturn y, i\n");
    assert_stays("x = input f32[1,2,5,6]\ny = max_pool x {kernel_shape=[2,2]}\nreturn y\n");
    /* channels come last there */
    assert_stays(
        "x = input f32[1,2,4,5,6]\nw = const f32[2,2,1,1,1] fill 1\nc = conv x w\nr = relu c\n"
        "y = max_pool r {kernel_shape=[2,2,2]}\nreturn y\n");
}
END_TEST

START_TEST(resizes_of_volumes_are_expanded)
{
    static const char *const attrs[] = { "mode=\"linear\"", "mode=\"nearest\"",
        "mode=\"linear\",coordinate_transformation_mode=\"align_corners\"",
        "coordinate_transformation_mode=\"asymmetric\",nearest_mode=\"floor\"" };
    char text[300];
    for (size_t i = 0; i < PRT_COUNT_OF(attrs); i++) {
        (void)snprintf(text, sizeof(text),
            "x = input f32[n,3,4,5,6]\n"
            "s = const f32[5] {1,1,2,3,0.5}\ny = resize x _ s {%s}\nreturn y\n",
            attrs[i]);
        assert_expands_pool(text);
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,3,4,5,6]\n"
            "s = const i64[5] {2,3,3,9,7}\ny = resize x _ _ s {%s}\nreturn y\n",
            attrs[i]);
        assert_expands_pool(text);
    }
    static const char *const others[] = { "s = const f32[5] {1,2,2,3,1}\ny = resize x _ s",
        "s = const f32[5] {1,1,2,3,1}\ny = resize x _ s {mode=\"cubic\"}",
        "s = const f32[5] {1,1,0.5,1,1}\ny = resize x _ s {mode=\"linear\",antialias=1}",
        "s = input f32[5]\ny = resize x _ s" };
    for (size_t i = 0; i < PRT_COUNT_OF(others); i++) {
        (void)snprintf(text, sizeof(text), "x = input f32[2,3,4,5,6]\n%s\nreturn y\n", others[i]);
        assert_stays(text);
    }
}
END_TEST

START_TEST(spectra_are_expanded)
{
    static const char *const graphs[] = {
        "x = input f32[b,30]\nl = const i64[] {3}\nw = const f32[5] {0.1,0.5,1,0.7,0.2}\n"
        "y = stft x l w\nreturn y\n",
        "x = input f32[2,30,1]\nl = const i64[] {4}\nn = const i64[] {8}\n"
        "w = const f32[8] {0.1,0.5,1,0.7,0.2,0,-1,2}\ny = stft x l w n {onesided=0}\nreturn y\n",
        "x = input f32[b,t,1]\nl = const i64[] {1}\nn = const i64[] {3}\ny = stft x l _ n\n"
        "return y\n",
        "x = input f32[2,7]\nl = const i64[] {1}\ny = stft x l\nreturn y\n",
    };
    static const char *const lines[] = { "dft x", "dft x _ a {onesided=1}", "dft x {inverse=1}",
        "dft x n", "dft x n a {onesided=1}" };
    static const char *const inputs[] = { "f32[2,3,8,5,2]", "f32[3,9,4,1]", "f32[b,6,t,3,2]",
        "f32[2,7,5,2]" };
    char text[256];
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++)
        assert_expands(graphs[i], PRT_OP_stft);
    for (size_t i = 0; i < PRT_COUNT_OF(lines); i++)
        for (size_t k = 0; k < PRT_COUNT_OF(inputs); k++)
            for (int n = 3; n < 15; n += 3) {
                (void)snprintf(text, sizeof(text),
                    "x = input %s\nn = const i64[] {%d}\n"
                    "a = const i64[] {1}\ny = %s\nreturn y\n",
                    inputs[k], n, lines[i]);
                assert_expands(text, PRT_OP_dft);
            }
    /* A one-sided spectrum gives real numbers. */
    for (int n = 1; n < 6; n++) {
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,%d,2]\ny = dft x "
            "{inverse=1,onesided=1}\nreturn y\n",
            n + 1);
        assert_expands(text, PRT_OP_dft);
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,4,2]\nn = const i64[] {%d}\n"
            "y = dft x n {inverse=1,onesided=1}\nreturn y\n",
            n + 2);
        assert_expands(text, PRT_OP_dft);
    }
    assert_stays("x = input f32[2,t,2]\ny = dft x\nreturn y\n");
    assert_stays("x = input f32[2,1000,2]\ny = dft x\nreturn y\n");
    assert_stays("x = input f64[2,10,2]\ny = dft x\nreturn y\n");
    assert_stays("x = input f32[2,10,2]\nn = input i64[]\ny = dft x n\nreturn y\n");
    assert_stays("x = input f32[2,10,2]\nl = const i64[] {1}\nn = const i64[] {5}\n"
                 "y = stft x l _ n {onesided=0}\nreturn y\n");
    assert_stays("x = input f32[2,10]\nl = input i64[]\nn = const i64[] {5}\ny = stft x l _ n\n"
                 "return y\n");
    assert_stays("x = input f32[2,10]\nl = const i64[] {1}\nw = input f32[5]\ny = stft x l w\n"
                 "return y\n");
}
END_TEST

/* Only products are left, with no attribute but transB. */
START_TEST(gemms_become_products)
{
    static const char *const attrs[] = { "{alpha=0.5}", "{beta=-2.0}", "{transA=1}",
        "{alpha=2.0,beta=3.0,transA=1,transB=1}", "" };
    static const char *const adds[] = { "", "const f32[3] {1,2,3}", "const f32[1,3] {1,2,3}",
        "const f32[] {2}", "const f32[3,1] {1,2,3}", "const f32[3,3] fill 0.5",
        "const f32[1] {7}" };
    for (size_t i = 0; i < PRT_COUNT_OF(attrs); i++)
        for (size_t k = 0; k < PRT_COUNT_OF(adds); k++)
            for (int constant = 0; constant < 2; constant++) {
                char text[512];
                (void)snprintf(text, sizeof(text),
                    "a = input f32[3,3]\nb = %s\n%s%s%s"
                    "y = gemm a b%s %s\nreturn y\n",
                    constant != 0 ? "const f32[3,3] {1,2,3,4,5,6,7,8,-9}" : "input f32[3,3]",
                    k != 0 ? "c = " : "", adds[k], k != 0 ? "\n" : "", k != 0 ? " c" : "",
                    attrs[i]);
                const bool plain = attrs[i][0] == '\0' || (attrs[i][1] == 'b' && k == 0);
                if (plain && k < 3) {
                    assert_stays(text);
                    continue;
                }
                prt_graph *g = graph_from_text(text);
                ck_assert_msg(run_pass(g, PASS, NULL), "%s", text);
                ck_assert_msg(!run_pass(g, PASS, NULL), "%s", text);
                for (const char *left[] = { "alpha", "beta", "transA", NULL }, **l = left;
                     *l != NULL; l++)
                    ck_assert_msg(strstr(graph_text(g), *l) == NULL, "%s", graph_text(g));
                module_free(g);
                assert_pass_keeps_results(text, PASS, 1e-5);
            }
    assert_stays("a = input f32[m,3]\nb = input f32[3,n]\nc = input f32[k]\n"
                 "y = gemm a b c {beta=2.0}\nreturn y\n");
    assert_stays("a = input f64[3,3]\ny = gemm a a {alpha=2.0}\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/expand/formulas", elementwise_operators_are_expanded,
    inverse_circular_functions_are_expanded, reductions_are_expanded, lp_pools_are_expanded,
    hardmax_is_expanded, mish_is_expanded, expansions_hold_for_numbers_of_all_sizes,
    several_inputs_and_axes_are_expanded, operators_of_onnx_runtime_are_expanded,
    attention_of_onnx_runtime_is_expanded, einsum_is_expanded, rotary_embedding_is_expanded,
    pools_of_three_dims_are_expanded, resizes_of_volumes_are_expanded, spectra_are_expanded,
    gemms_become_products)
