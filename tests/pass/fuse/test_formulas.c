/* SPDX-License-Identifier: MIT */
/* test_formulas.c — formulas as exporters write them, and near misses. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define X "x = input f32[2,3,8]\n"
#define NUMBERS                                                                                    \
    "half = const f32[] {0.5}\none = const f32[] {1}\ntwo = const f32[] {2}\n"                     \
    "root = const f32[] {1.4142135}\nover = const f32[] {0.70710677}\n"
#define NORM                                                                                       \
    X "s = input f32[8]\nb = input f32[8]\nax = const i64[1] {-1}\ntwo = const f32[] {2}\n"        \
      "e = const f32[] {0.001}\n"

static void assert_becomes(const char *text, const char *op)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_msg(run_pass(g, "fuse_formulas", NULL), "%s", text);
    ck_assert_msg(strstr(graph_text(g), op) != NULL, "%s", graph_text(g));
    ck_assert_ptr_eq(g->first, g->last);
    module_free(g);
    assert_pass_keeps_results(text, "fuse_formulas", 1e-6);
}

START_TEST(swish_is_found)
{
    assert_becomes(X "s = sigmoid x\ny = mul x s\nreturn y\n", "swish x");
    assert_becomes(X "s = sigmoid x\ny = mul s x\nreturn y\n", "swish x");
}
END_TEST

START_TEST(leaky_relu_is_found)
{
    static const char *const forms[] = { "m = mul x a\ny = max x m\n",
        "m = mul a x\ny = max m x\n" };
    for (size_t i = 0; i < PRT_COUNT_OF(forms); i++) {
        char text[512];
        (void)snprintf(text, sizeof(text), X "a = const f32[1] {0.25}\n%sreturn y\n", forms[i]);
        assert_becomes(text, "leaky_relu x {alpha=0.25}");
    }
    static const char *const choices[] = { "c = greater_or_equal x z\ny = where c x m\n",
        "c = greater x z\ny = where c x m\n", "c = less z x\ny = where c x m\n",
        "c = less x z\ny = where c m x\n", "c = greater_or_equal z x\ny = where c m x\n" };
    for (size_t i = 0; i < PRT_COUNT_OF(choices); i++) { /* JAX */
        char text[512];
        (void)snprintf(text, sizeof(text),
            X "a = const f32[] {2.5}\nz = const f32[] {0}\nm = mul a x\n%sreturn y\n", choices[i]);
        assert_becomes(text, "leaky_relu x {alpha=2.5}");
    }
    assert_becomes(X "a = const f32[1,1] {-0.5}\ny = prelu x a\nreturn y\n",
        "leaky_relu x {alpha=-0.5}");
}
END_TEST

START_TEST(gelu_is_found)
{
    static const char *const forms[] = {
        "d = div x root\nf = erf d\ng = add f one\nm = mul x g\ny = mul m half\n",
        "d = mul x over\nf = erf d\ng = add one f\nm = mul g x\ny = mul half m\n",
        "d = div x root\nf = erf d\ng = add f one\nm = mul x half\ny = mul m g\n",
        "d = div x root\nf = erf d\ng = add f one\nm = mul half g\ny = mul x m\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(forms); i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text), X NUMBERS "%sreturn y\n", forms[i]);
        assert_becomes(text, "gelu x");
    }
}
END_TEST

START_TEST(gelu_by_tanh_is_found)
{
    static const char *const gates[] = {
        "p = pow x three\nq = mul p k\nr = add x q\nu = mul r c\n",
        "p = pow x three\nq = mul k p\nr = add q x\nu = mul c r\n",
        "a = mul x x\np = mul a x\nq = mul p k\nr = add x q\nu = mul r c\n",
        "a = mul x x\np = mul x a\nq = mul k p\nr = add x q\nu = mul r c\n",
        "xc = mul x c\nkx = mul k x\nq = mul kx x\nr = add q one\nu = mul xc r\n",
        "xc = mul c x\na = pow x two\nq = mul a k\nr = add one q\nu = mul r xc\n",
    };
    static const char *const ends[] = { "h = mul x half\ny = mul h g\n",
        "h = mul half g\ny = mul x h\n", "h = mul x g\ny = mul h half\n" };
    for (size_t i = 0; i < PRT_COUNT_OF(gates); i++)
        for (size_t k = 0; k < PRT_COUNT_OF(ends); k++) {
            char text[1024];
            (void)snprintf(text, sizeof(text),
                X NUMBERS "three = const f32[] {3}\nk = const f32[] {0.044715}\n"
                          "c = const f32[] {0.7978846}\n%st = tanh u\ng = add t one\n%sreturn y\n",
                gates[i], ends[k]);
            assert_becomes(text, "gelu x {approximate=tanh}");
        }
}
END_TEST

#define HARD                                                                                       \
    "three = const f32[] {3}\nsix = const f32[1] {6}\nsixth = const f32[] {0.16666667}\n"          \
    "zero = const f32[] {0}\nmost = const f32[] {6}\n"

/* Forms of Clip(x + 3, 0, 6). */
static const char *const clipped[] = { "a = add x three\ns = clip a zero most\n",
    "a = add three x\nr = relu a\ns = min r six\n", "a = add x three\nr = relu a\ns = min six r\n",
    "a = add x three\nr = max a zero\ns = min r most\n" };

static void check_hard(const char *clip, const char *end, const char *op)
{
    char text[1024];
    (void)snprintf(text, sizeof(text), X HARD "%s%sreturn y\n", clip, end);
    assert_becomes(text, op);
    /* of numbers that reach the bounds */
    (void)snprintf(text, sizeof(text),
        "i = input f32[2,3,8]\n" HARD "x = mul i six\n%s%sreturn y\n", clip, end);
    assert_pass_keeps_results(text, "fuse_formulas", 1e-6);
}

START_TEST(hard_swish_is_found)
{
    static const char *const ends[] = { "m = mul x s\ny = div m six\n",
        "m = mul s x\ny = mul m sixth\n", "m = mul x sixth\ny = mul m s\n",
        "m = mul sixth x\ny = mul s m\n", "h = div s six\ny = mul x h\n",
        "h = mul s sixth\ny = mul h x\n", "h = div x six\ny = mul h s\n" };
    for (size_t i = 0; i < PRT_COUNT_OF(clipped); i++) {
        for (size_t k = 0; k < PRT_COUNT_OF(ends); k++)
            check_hard(clipped[i], ends[k], "hard_swish x");
        check_hard(clipped[i], "y = div s six\n", "hard_sigmoid x {alpha=0.16");
        check_hard(clipped[i], "y = mul sixth s\n", "hard_sigmoid x {alpha=0.16");
    }
    assert_becomes(X "h = hard_sigmoid x {alpha=0.16666667,beta=0.5}\ny = mul h x\nreturn y\n",
        "hard_swish x");
}
END_TEST

START_TEST(layer_normalization_is_found)
{
    static const char *const squares[] = { "pow d two", "mul d d" };
    for (size_t i = 0; i < PRT_COUNT_OF(squares); i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text),
            NORM "m = reduce_mean x ax\nd = sub x m\nq = %s\nv = reduce_mean q ax\nw = add v e\n"
                 "r = sqrt w\nn = div d r\nz = mul n s\ny = add z b\nreturn y\n",
            squares[i]);
        assert_becomes(text, "layer_normalization x s b {epsilon=0.001");
    }
}
END_TEST

/* Forms of a quotient by a root. */
static const char *const quotients[] = { "r = sqrt w\nn = div d r\n",
    "r = sqrt w\ni = reciprocal r\nn = mul d i\n", "r = sqrt w\ni = div one r\nn = mul i d\n",
    "i = pow w minus\nn = mul d i\n" };

START_TEST(quotients_are_found)
{
    for (size_t i = 0; i < PRT_COUNT_OF(quotients); i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text),
            NORM "one = const f32[] {1}\nminus = const f32[] {-0.5}\nm = reduce_mean x ax\n"
                 "d = sub x m\nq = mul d d\nv = reduce_mean q ax\nw = add v e\n%s"
                 "z = mul s n\ny = add b z\nreturn y\n",
            quotients[i]);
        assert_becomes(text, "layer_normalization x s b {epsilon=0.001");
        (void)snprintf(text, sizeof(text),
            "d = input f32[2,3,8]\ns = input f32[8]\nax = const i64[1] {-1}\n"
            "two = const f32[] {2}\ne = const f32[] {0.001}\none = const f32[] {1}\n"
            "minus = const f32[] {-0.5}\nq = pow d two\nv = reduce_mean q ax\nw = add v e\n%s"
            "y = mul n s\nreturn y\n",
            quotients[i]);
        assert_becomes(text, "rms_normalization d s {epsilon=0.001");
    }
}
END_TEST

/* Scale and bias with dims of 1 before the last, as JAX broadcasts them; constants and inputs. */
START_TEST(scales_of_other_ranks_are_fused)
{
    static const char *const rows[] = { "s = input f32[1,1,8]\nb = input f32[1,8]\n",
        "s = const f32[1,1,8] {1,2,3,4,5,6,7,8}\nb = const f32[1,1,8] {8,7,6,5,4,3,2,1}\n" };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text),
            X "%sax = const i64[1] {2}\ne = const f32[] {0.001}\nm = reduce_mean x ax\n"
              "d = sub x m\nq = mul d d\nv = reduce_mean q ax\nw = add v e\nr = sqrt w\n"
              "n = div d r\nz = mul n s\ny = add z b\nreturn y\n",
            rows[i]);
        prt_graph *g = graph_from_text(text);
        ck_assert(run_pass(g, "fuse_formulas", NULL));
        ck_assert_msg(strstr(graph_text(g), "layer_normalization x") != NULL, "%s", graph_text(g));
        module_free(g);
        assert_pass_keeps_results(text, "fuse_formulas", 1e-6);
    }
}
END_TEST

/* Norms with factors in other groups, means as sums, and the variance of Flax and TensorFlow. */
START_TEST(norms_in_other_forms_are_found)
{
    static const char *const layer[] = {
        /* (s d) / root, (s d) * over, d * (over s) */
        "m = reduce_mean x ax\nd = sub x m\nq = mul d d\nv = reduce_mean q ax\nw = add v e\n"
        "r = sqrt w\nn = mul s d\nz = div n r\ny = add z b\n",
        "m = reduce_mean x ax\nd = sub x m\nq = mul d d\nv = reduce_mean q ax\nw = add v e\n"
        "r = sqrt w\ni = reciprocal r\nn = mul s d\nz = mul n i\ny = add z b\n",
        "m = reduce_mean x ax\nd = sub x m\nq = mul d d\nv = reduce_mean q ax\nw = add v e\n"
        "r = sqrt w\ni = reciprocal r\nn = mul i s\nz = mul d n\ny = add z b\n",
        /* means as sums */
        "m0 = reduce_sum x ax\nm = div m0 eight\nd = sub x m\nq = mul d d\n"
        "v0 = reduce_sum q ax\nv = mul v0 eighth\nw = add v e\nr = sqrt w\nn = div d r\n"
        "z = mul n s\ny = add z b\n",
        /* Flax: mean(x^2) - mean^2, not below 0 */
        "m = reduce_mean x ax\nd = sub x m\nq = mul x x\np = reduce_mean q ax\nk = mul m m\n"
        "u = sub p k\nv = max u zero\nw = add v e\nr = sqrt w\nn = div d r\nz = mul n s\n"
        "y = add z b\n",
        "m = reduce_mean x ax\nd = sub x m\nq = mul x x\np = reduce_mean q ax\n"
        "k = pow m two\nv = sub p k\nw = add v e\nr = sqrt w\nn = div d r\nz = mul n s\n"
        "y = add z b\n",
        /* TensorFlow: x i + (b - m i) */
        "m = reduce_mean x ax\nd = sub x m\nq = mul d d\nv = reduce_mean q ax\nw = add v e\n"
        "r = sqrt w\nj = reciprocal r\ni = mul j s\nl = mul x i\nk = mul m i\nu = sub b k\n"
        "y = add l u\n",
        "m = reduce_mean x ax\nd = sub x m\nq = mul d d\nv = reduce_mean q ax\nw = add v e\n"
        "r = sqrt w\nj = reciprocal r\ni = mul s j\nl = mul i x\nk = mul i m\nu = sub b k\n"
        "y = add u l\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(layer); i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text),
            NORM "eight = const f32[] {8}\neighth = const f32[] {0.125}\nzero = const f32[] {0}\n"
                 "%sreturn y\n",
            layer[i]);
        assert_becomes(text, "layer_normalization x s b {epsilon=0.001");
    }
    assert_becomes(NORM
        "q = pow x two\nv = reduce_mean q ax\nw = add v e\nr = sqrt w\nn = mul x s\n"
        "y = div n r\nreturn y\n",
        "rms_normalization x s {epsilon=0.001");
}
END_TEST

START_TEST(near_misses_stay)
{
    static const char *const graphs[] = {
        /* Where on the wrong side, at another number, of another value */
        X "a = const f32[] {0.5}\nz = const f32[] {0}\nm = mul a x\nc = less x z\n"
          "y = where c x m\nreturn y\n",
        X "a = const f32[] {0.5}\nz = const f32[] {1}\nm = mul a x\nc = greater x z\n"
          "y = where c x m\nreturn y\n",
        X "a = const f32[] {0.5}\nz = const f32[] {0}\nm = mul a x\nu = input f32[2,3,8]\n"
          "c = greater u z\ny = where c x m\nreturn y\n",
        /* a sum by another number than the count; the mean of another value */
        NORM "six = const f32[] {6}\nq = pow x two\nv0 = reduce_sum q ax\nv = div v0 six\n"
             "w = add v e\nr = sqrt w\nn = div x r\ny = mul n s\nreturn y\n",
        NORM "m = reduce_mean x ax\nd = sub x m\nq = mul d d\nv = reduce_mean q ax\nw = add v e\n"
             "r = sqrt w\nj = reciprocal r\ni = mul j s\nl = mul x i\nk = mul v i\nu = sub b k\n"
             "y = add l u\nreturn y\n",
        NORM "m = reduce_mean x ax\nd = sub x m\nq = mul x x\np = reduce_mean q ax\n"
             "k = mul p p\nv = sub p k\nw = add v e\nr = sqrt w\nn = div d r\nz = mul n s\n"
             "y = add z b\nreturn y\n",
        /* a scale for each row */
        X "s = input f32[3,8]\nax = const i64[1] {-1}\ne = const f32[] {0.001}\nq = mul x x\n"
          "v = reduce_mean q ax\nw = add v e\nr = sqrt w\nn = div x r\ny = mul n s\nreturn y\n",
        X "z = input f32[2,3,8]\ns = sigmoid z\ny = mul x s\nreturn y\n",
        X "s = sigmoid x\ny = mul x s\nz = neg s\nreturn y, z\n",
        X NUMBERS "d = div x root\nf = erf d\ng = add f half\nm = mul x g\ny = mul m half\n"
                  "return y\n",
        X NUMBERS "d = div x two\nf = erf d\ng = add f one\nm = mul x g\ny = mul m half\n"
                  "return y\n",
        X HARD "a = add x six\ns = clip a zero most\nm = mul x s\ny = div m six\nreturn y\n",
        X HARD "a = add x three\ns = clip a zero three\nm = mul x s\ny = div m six\nreturn y\n",
        X HARD "a = add x three\ns = clip a zero most\nm = mul a s\ny = div m six\nreturn y\n",
        X HARD "a = add x three\ns = clip a zero most\nm = mul x s\ny = div six m\nreturn y\n",
        X HARD "a = add x three\ns = clip a zero most\ny = div s three\nreturn y\n",
        X "a = const f32[] {1.5}\nm = mul x a\ny = max x m\nreturn y\n",
        X "a = const f32[] {0.5}\nz = input f32[2,3,8]\nm = mul z a\ny = max x m\nreturn y\n",
        X "a = const f32[] {0.5}\nm = mul x a\ny = max x m a\nreturn y\n",
        X "h = hard_sigmoid x {alpha=0.2,beta=0.5}\ny = mul h x\nreturn y\n",
        X "a = const f32[2,1] {0.5,0.25}\nx2 = input f32[2,8]\ny = prelu x2 a\nreturn y\n",
        X NUMBERS "k = const f32[] {0.044715}\nc = const f32[] {0.7978846}\np = pow x two\n"
                  "q = mul p k\nr = add x q\nu = mul r c\nt = tanh u\ng = add t one\n"
                  "h = mul x half\ny = mul h g\nreturn y\n",
        NORM "m = reduce_mean x ax\nd = sub x m\nq = mul d d\nv = reduce_mean q ax {keepdims=0}\n"
             "ax2 = const i64[1] {-1}\nk = unsqueeze v ax2\nw = add k e\nr = sqrt w\nn = div d r\n"
             "z = mul n s\ny = add z b\nreturn y\n",
        X "s = input f32[1]\nb = input f32[8]\nax = const i64[1] {-1}\ne = const f32[] {0.001}\n"
          "m = reduce_mean x ax\nd = sub x m\nq = mul d d\nv = reduce_mean q ax\nw = add v e\n"
          "r = sqrt w\nn = div d r\nz = mul n s\ny = add z b\nreturn y\n",
        X "s = input f32[8]\nb = input f32[8]\nax = const i64[1] {1}\ne = const f32[] {0.001}\n"
          "m = reduce_mean x ax\nd = sub x m\nq = mul d d\nv = reduce_mean q ax\nw = add v e\n"
          "r = sqrt w\nn = div d r\nz = mul n s\ny = add z b\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        ck_assert_msg(!run_pass(g, "fuse_formulas", NULL), "%s", graphs[i]);
        module_free(g);
    }
}
END_TEST

/* A converted model has no operators that other runtimes have no kernel of. */
START_TEST(portable_results_have_kernels)
{
    static const char portable[] = "portable=true";
    assert_pass_leaves("fuse_formulas", portable, X "s = sigmoid x\ny = mul x s\nreturn y\n");
    assert_pass_leaves("fuse_formulas", portable,
        "x = input f64[2]\na = const f64[] {0.25}\nm = mul x a\ny = max x m\nreturn y\n");
    assert_pass_rewrites("fuse_formulas", portable,
        "x = input f32[2]\na = const f32[] {0.25}\nm = mul x a\ny = max x m\nreturn y\n",
        "x = input f32[2]\na = const f32[] {0.25}\ny = leaky_relu x {alpha=0.25}\nreturn y\n");
    assert_pass_rewrites("fuse_formulas", NULL,
        "x = input f64[2]\na = const f64[] {0.25}\nm = mul x a\ny = max x m\nreturn y\n",
        "x = input f64[2]\na = const f64[] {0.25}\ny = leaky_relu x {alpha=0.25}\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/fuse/formulas", swish_is_found, leaky_relu_is_found, gelu_is_found,
    gelu_by_tanh_is_found, hard_swish_is_found, layer_normalization_is_found, quotients_are_found,
    scales_of_other_ranks_are_fused, norms_in_other_forms_are_found, near_misses_stay,
    portable_results_have_kernels)
