/* SPDX-License-Identifier: MIT */
/*
 * test_optimize_transposes.c — optimize_transposes: each operator between two Transposes, and
 * layouts that must stay.
 * Covers: apply.c, cut.c, plan.c, rewrite.c, rules.c, propagate.c.
 */
#include "pass/transpose/transposes.h"

/* Operators of an NHWC tensor `t` [2,4,5,3], whose result is `y`. The tensor comes from a pool of
 * channels first, and `y` is the input of another one. */
static void ck_between_pools(const char *lines, const char *parts)
{
    char text[2000];
    (void)snprintf(text, sizeof(text),
        "x = input f32[2,3,5,6]\na = max_pool x {kernel_shape=[2,2]}\n"
        "t = transpose a {perm=[0,2,3,1]}\n%s\nz = transpose y {perm=[0,3,1,2]}\n"
        "d = max_pool z {kernel_shape=[1,1]}\nreturn d\n",
        lines);
    ck_transposes(text, 0, parts);
}

/* The same, but `y` itself is returned. */
static void ck_behind_pool(const char *lines, uint64_t elements, const char *parts)
{
    char text[2000];
    (void)snprintf(text, sizeof(text),
        "x = input f32[2,3,5,6]\na = max_pool x {kernel_shape=[2,2]}\n"
        "t = transpose a {perm=[0,2,3,1]}\n%s\nreturn y\n",
        lines);
    ck_transposes(text, elements, parts);
}

START_TEST(elementwise_operators_move)
{
    ck_between_pools("y = relu t", "relu");
    ck_between_pools("y = add t t", "add");
    ck_between_pools("y = cast t {to=1}", "cast");
    ck_between_pools("y = identity t", "max_pool");
    ck_between_pools("s = const f32[] {2}\ny = mul s t", "mul");
    ck_between_pools("s = const f32[1,1] {2}\ny = mul t s", "mul");
    ck_between_pools("b = const f32[3] {1,2,3}\ny = add t b", "f32[3,1,1]");
    ck_between_pools("b = const f32[1,1,1,3] {1,2,3}\ny = add b t", "f32[1,3,1,1]");
    ck_between_pools("b = const f32[5,1] {1,2,3,4,5}\ny = sub t b", "f32[1,1,5]");
    ck_between_pools("b = const f32[5,3] {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6}\ny = sub t b",
        "f32[3,1,5] !unsqueeze");
    ck_between_pools("s = const f32[3] {0.1,0.2,0.3}\ny = prelu t s", "prelu f32[3,1,1]");
    ck_between_pools("l = const f32[] {0}\nh = const f32[] {1}\ny = clip t l h", "clip");
    ck_between_pools("b = const f32[] {0}\nc = greater t b\ny = where c t b", "where");
    ck_between_pools("y = sum t t t", "sum");
    ck_between_pools("n = input f32[3]\ny = add t n", "unsqueeze");
    ck_between_pools("n = input f32[1,1,1,3]\ny = add t n", "reshape");
    ck_between_pools("s = const i64[4] {1,4,1,3}\ny = expand t s", "{1,3,4,1}");
    ck_between_pools("r = const f32[] {0.5}\ny = dropout t r", "dropout");
}
END_TEST

START_TEST(quantization_moves)
{
    ck_between_pools("s = const f32[] {0.1}\nz0 = const i8[] {0}\nq = quantize_linear t s z0\n"
                     "y = dequantize_linear q s z0",
        "quantize_linear dequantize_linear");
    ck_between_pools("s = const f32[3] {0.1,0.2,0.3}\nz0 = const i8[3] {0,1,2}\n"
                     "q = quantize_linear t s z0 {axis=3}\ny = dequantize_linear q s z0 {axis=-1}",
        "quantize_linear dequantize_linear axis=1 !axis=3 !axis=-1");
}
END_TEST

/* The weights of a convolution are stored as bytes. */
START_TEST(weights_move)
{
    ck_transposes("x = input f32[2,3,4,5]\nw = const i8[2,1,1,3] {1,2,3,4,5,6}\n"
                  "s = const f32[2] {0.5,0.25}\nz = const i8[2] {0,0}\n"
                  "d = dequantize_linear w s z {axis=0}\nk = transpose d {perm=[0,3,1,2]}\n"
                  "y = conv x k\nreturn y\n",
        0, "i8[2,3,1,1]");
}
END_TEST

START_TEST(operators_with_axes_move)
{
    ck_between_pools("y = concat t t {axis=3}", "axis=1");
    ck_between_pools("y = softmax t {axis=-1}", "axis=1");
    ck_between_pools("y = log_softmax t {axis=3}", "axis=1");
    ck_between_pools("y = hardmax t {axis=3}", "axis=1");
    ck_between_pools("y = lp_normalization t {axis=3}", "axis=1");
    ck_between_pools("y = mean_variance_normalization t {axes=[1,2]}", "axes=[2,3]");
    ck_between_pools("i = const i64[] {3}\ny = cumsum t i", "cumsum {1}");
    ck_between_pools("k = const i64[1] {2}\ny, i = topk t k {axis=3}", "axis=1");
    ck_between_pools("s = const i64[2] {1,2}\na1, b1 = split t s {axis=3}\n"
                     "y = concat b1 a1 {axis=3}",
        "split axis=1");
    ck_between_pools("b = const i64[2] {1,0}\ne = const i64[2] {3,4}\n"
                     "i = const i64[2] {-1,2}\ny = slice t b e i",
        "slice {1,3}");
    ck_between_pools("b = const i64[4] {0,1,0,0}\ne = const i64[4] {2,4,5,3}\ny = slice t b e",
        "slice {0,2,3,1}");
    ck_between_pools("p = const i64[8] {0,1,2,0,0,3,4,0}\ny = pad t p", "{0,0,1,2,0,0,3,4}");
    ck_between_pools("p = const i64[4] {1,2,3,4}\nv = const f32[] {1}\ni = const i64[2] {1,3}\n"
                     "y = pad t p v i",
        "{2,1}");
    ck_between_pools("p = const i64[4] {1,1,2,3}\ny = tile t p", "{1,3,1,2}");
    ck_between_pools("s = const f32[4] {1,2,3,1}\nr = const f32[0] {}\n"
                     "y = resize t r s {mode=\"nearest\"}",
        "{1,1,2,3}");
    ck_between_pools("n = const f64[1] {1}\nc = cast_like t n\ny = cast c {to=1}", "cast_like");
    ck_between_pools("s = const i64[4] {2,8,7,3}\ny = resize t _ _ s {mode=\"linear\"}",
        "{2,3,8,7}");
    ck_between_pools("s = const i64[2] {8,7}\ny = resize t _ _ s {mode=\"linear\",axes=[1,2]}",
        "axes=[2,3]");
    ck_between_pools("i = const i64[2] {2,0}\ny = gather t i {axis=3}", "gather axis=1");
}
END_TEST

/* Two pools of channels first are joined, and read by another one. */
START_TEST(branches_are_joined)
{
    static const char text[] =
        "x = input f32[2,3,5,6]\nn = input f32[2,4,5,3]\na = max_pool x {kernel_shape=[2,2]}\n"
        "t = transpose a {perm=[0,2,3,1]}\nm = transpose n {perm=[0,3,1,2]}\n"
        "k = max_pool m {kernel_shape=[1,1]}\nl = transpose k {perm=[0,2,3,1]}\n"
        "y = concat t l {axis=-1}\nz = transpose y {perm=[0,3,1,2]}\n"
        "d = max_pool z {kernel_shape=[1,1]}\nreturn d\n";
    ck_transposes(text, 120, "axis=1");
}
END_TEST

START_TEST(reductions_move)
{
    ck_between_pools("i = const i64[2] {1,2}\ny = reduce_mean t i", "reduce_mean {2,3}");
    ck_between_pools("y = reduce_max t", "reduce_max");
    ck_behind_pool("i = const i64[2] {1,2}\ny = reduce_mean t i {keepdims=0}", 0,
        "reduce_mean {2,3}");
    ck_behind_pool("i = const i64[1] {3}\ny = reduce_sum t i {keepdims=0}", 0, "reduce_sum {1}");
    ck_behind_pool("i = const i64[1] {1}\ny = reduce_sum t i {keepdims=0}", 30, "reduce_sum {2}");
    ck_behind_pool("y = argmax t {axis=3,keepdims=0}", 0, "argmax axis=1");
    ck_behind_pool("i = const i64[] {1}\ny = gather t i {axis=3}", 0, "gather axis=1");
    ck_behind_pool("m = transpose t {perm=[0,3,1,2]}\ng = global_average_pool m\n"
                   "k = transpose g {perm=[0,2,3,1]}\ni = const i64[2] {1,2}\ny = squeeze k i",
        0, "global_average_pool squeeze {2,3}");
}
END_TEST

START_TEST(shapes_are_gathered)
{
    ck_transposes("x = input f32[n,3,h,6]\na = max_pool x {kernel_shape=[1,1]}\n"
                  "t = transpose a {perm=[0,2,3,1]}\ns = shape t {start=1,end=-1}\n"
                  "y = relu a\nreturn y, s\n",
        0, "gather {2,3}");
    ck_transposes("x = input f32[n,3,h,6]\na = max_pool x {kernel_shape=[1,1]}\n"
                  "t = transpose a {perm=[0,2,3,1]}\ns = size t\ny = relu a\nreturn y, s\n",
        0, "size");
    /* nearest neighbours, for a size that is twice that of the input */
    ck_transposes("x = input f32[1,h,w,3]\np = transpose x {perm=[0,3,1,2]}\n"
                  "a = max_pool p {kernel_shape=[1,1]}\nt = transpose a {perm=[0,2,3,1]}\n"
                  "s = shape t {start=1,end=3}\nk = const i64[] {2}\nm = mul s k\n"
                  "y = resize t _ _ m {mode=\"nearest\",axes=[1,2]}\n"
                  "z = transpose y {perm=[0,3,1,2]}\nd = max_pool z {kernel_shape=[1,1]}\n"
                  "return d\n",
        3 * 32 * 32, "gather resize axes=[2,3]");
}
END_TEST

START_TEST(transposes_are_merged)
{
    ck_transposes("x = input f32[2,3,4,5]\na = transpose x {perm=[0,2,3,1]}\n"
                  "b = transpose a {perm=[0,2,3,1]}\nreturn b\n",
        120, "perm=[0,3,1,2]");
    ck_transposes("x = input f32[2,3,4,5]\na = transpose x {perm=[0,2,3,1]}\n"
                  "b = transpose x {perm=[0,2,3,1]}\nc = max_pool a {kernel_shape=[1,1]}\n"
                  "d = max_pool b {kernel_shape=[2,2]}\nreturn c, d\n",
        120, "max_pool");
    ck_transposes("x = const f32[1,2,1,3] {1,2,3,4,5,6}\na = transpose x {perm=[0,2,3,1]}\n"
                  "y = max_pool a {kernel_shape=[1,1]}\nreturn y\n",
        0, "f32[1,1,3,2] {1,4,2,5,3,6}");
    ck_transposes("x = input f32[n,1,4,5]\na = transpose x {perm=[0,2,3,1]}\n"
                  "y = max_pool a {kernel_shape=[1,1]}\nreturn y\n",
        0, "reshape");
    /* also elements that are not finite */
    prt_graph *g = graph_from_text(
        "x = const f32[1,2,3] {nan,2,inf,4,5,6}\na = transpose x {perm=[0,2,1]}\nreturn a\n");
    ck_assert(run_pass(g, PASS, NULL));
    ck_assert_uint_eq(transposed_elements(g), 0);
    module_free(g);
}
END_TEST

START_TEST(reshapes_move)
{
    /* a pixel of each channel: nothing is moved */
    ck_transposes("x = input f32[2,7,5,5]\na = max_pool x {kernel_shape=[5,5]}\n"
                  "t = transpose a {perm=[0,2,3,1]}\ns = const i64[2] {2,7}\n"
                  "y = reshape t s\nreturn y\n",
        0, "reshape");
    ck_transposes("x = input f32[n,7,5,5]\na = max_pool x {kernel_shape=[5,5]}\n"
                  "t = transpose a {perm=[0,2,3,1]}\ny = flatten t\nreturn y\n",
        0, "reshape");
    /* groups of channels that are exchanged */
    ck_transposes("x = input f32[2,6,4,5]\na = max_pool x {kernel_shape=[1,1]}\n"
                  "t = transpose a {perm=[0,2,3,1]}\ns = const i64[5] {2,4,5,2,3}\n"
                  "r = reshape t s\nk = transpose r {perm=[0,1,2,4,3]}\n"
                  "u = const i64[4] {2,4,5,6}\ny = reshape k u\n"
                  "z = transpose y {perm=[0,3,1,2]}\nd = max_pool z {kernel_shape=[1,1]}\n"
                  "return d\n",
        240, "{2,2,3,4,5} perm=[0,2,1,3,4]");
    /* pixels that become rows of a matrix */
    assert_pass_leaves(PASS, NULL,
        "x = input f32[2,3,4,5]\na = max_pool x {kernel_shape=[1,1]}\n"
        "t = transpose a {perm=[0,2,3,1]}\ns = const i64[3] {2,20,3}\n"
        "y = reshape t s\nreturn y\n");
    ck_between_pools("s = const i64[3] {2,20,3}\nr = reshape t s\nm = relu r\n"
                     "u = const i64[4] {2,4,5,3}\ny = reshape m u",
        "reshape relu reshape");
}
END_TEST

START_TEST(layouts_stay)
{
    /* operators that know channels by their place, and inputs and outputs */
    assert_pass_leaves(PASS, NULL,
        "x = input f32[2,4,5,3]\na = transpose x {perm=[0,3,1,2]}\n"
        "b = max_pool a {kernel_shape=[2,2]}\nc = transpose b {perm=[0,2,3,1]}\nreturn c\n");
    /* two transposed elements for one */
    assert_pass_leaves(PASS, NULL,
        "x = input f32[2,3,4,5]\nn = input f32[2,4,5,3]\na = max_pool x {kernel_shape=[1,1]}\n"
        "t = transpose a {perm=[0,2,3,1]}\ny = add t n\nreturn y\n");
    /* all rows in one, in the order of channels last */
    assert_pass_leaves(PASS, NULL,
        "x = input f32[2,3,4,5]\na = max_pool x {kernel_shape=[1,1]}\n"
        "t = transpose a {perm=[0,2,3,1]}\nr = relu t\nf = flatten r\nreturn f\n");
    /* attention: heads */
    assert_pass_leaves(PASS, NULL,
        "x = input f32[2,7,4,5]\nk = input f32[2,7,4,5]\na = transpose x {perm=[0,2,1,3]}\n"
        "b = transpose k {perm=[0,2,3,1]}\nc = matmul a b\ns = softmax c\nreturn s\n");
    /* cubic interpolation, for channels first only */
    assert_pass_leaves(PASS, NULL,
        "x = input f32[2,4,5,3]\na = transpose x {perm=[0,3,1,2]}\n"
        "s = const i64[4] {2,3,8,7}\nb = resize a _ _ s {mode=\"cubic\"}\n"
        "c = transpose b {perm=[0,2,3,1]}\nreturn c\n");
    /* a constant of text, which is not folded */
    assert_pass_leaves(PASS, NULL,
        "x = input string[2,3]\nc = const string[8,2] "
        "{\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\","
        "\"a\",\"a\"}\ni = const i64[2] {0,1}\n"
        "t = transpose x {perm=[1,0]}\ny = concat t c {axis=0}\ng = gather y i\n"
        "z = transpose g {perm=[1,0]}\nreturn z\n");
    /* axes that are not known */
    assert_pass_leaves(PASS, NULL,
        "x = input f32[2,3,4,5]\ni = input i64[1]\na = max_pool x {kernel_shape=[1,1]}\n"
        "t = transpose a {perm=[0,2,3,1]}\nr = reduce_sum t i\n"
        "z = transpose r {perm=[0,3,1,2]}\nreturn z\n");
}
END_TEST

/* The sum moves before the Transposes of both operands, or behind that of the result. */
START_TEST(the_cheapest_place_is_chosen)
{
    ck_transposes("x = input f32[2,3,4,5]\nn = input f32[2,3,4,5]\n"
                  "a = transpose x {perm=[0,2,3,1]}\nb = transpose n {perm=[0,2,3,1]}\n"
                  "y = add a b\nz = max_pool y {kernel_shape=[1,1]}\nreturn z\n",
        120, "add transpose");
    ck_transposes("x = input f32[2,4,5,3]\na = max_pool x {kernel_shape=[1,1]}\n"
                  "i = const i64[1] {3}\nr = reduce_max a i\nt = transpose a {perm=[0,3,1,2]}\n"
                  "u = transpose r {perm=[0,3,1,2]}\ny = sub t u\n"
                  "z = max_pool y {kernel_shape=[1,1]}\nreturn z\n",
        120, "sub transpose");
    /* a smaller result */
    ck_transposes("x = input f32[2,4,5,3]\na = transpose x {perm=[0,3,1,2]}\n"
                  "i = const i64[1] {1}\nr = reduce_max a i\n"
                  "z = max_pool r {kernel_shape=[1,1]}\nreturn z\n",
        0, "reduce_max");
    ck_transposes("x = input f32[2,4,5,3]\na = transpose x {perm=[0,3,1,2]}\n"
                  "i = const i64[1] {2}\nr = reduce_max a i\n"
                  "z = max_pool r {kernel_shape=[1,1]}\nreturn z\n",
        30, "reduce_max {1}");
}
END_TEST

/* Names of outputs, marks and other readers stay. */
START_TEST(names_stay)
{
    prt_graph *g = graph_from_text("x = input f32[2,3,4,5]\na = max_pool x {kernel_shape=[1,1]}\n"
                                   "t = transpose a {perm=[0,2,3,1]}\nr = relu t @R !{stage=2}\n"
                                   "y = transpose r {perm=[0,3,1,2]}\nreturn y\n");
    ck_assert(run_pass(g, PASS, NULL));
    ck_assert_graph(g,
        "x = input f32[2,3,4,5]\na = max_pool x {kernel_shape=[1,1]}\n"
        "y = relu a @R !{stage=2}\nreturn y\n");
    module_free(g);
}
END_TEST

/* A value may be several outputs. */
START_TEST(equal_outputs_stay_equal)
{
    assert_pass_rewrites(PASS, NULL,
        "x = input f32[2,3,4,5]\na = transpose x {perm=[0,2,3,1]}\n"
        "y = transpose a {perm=[0,2,3,1]}\nreturn y, y\n",
        "x = input f32[2,3,4,5]\ny = transpose x {perm=[0,3,1,2]}\nreturn y, y\n");
    assert_pass_rewrites(PASS, NULL,
        "x = input f32[2,3,4,5]\na = transpose x {perm=[0,2,3,1]}\n"
        "y = transpose a {perm=[0,3,1,2]}\nreturn y, x, y as z\n",
        "x = input f32[2,3,4,5]\ny = identity x\nreturn y, x, y as z\n");
}
END_TEST

PRT_TEST_MAIN("pass/transpose/optimize_transposes", elementwise_operators_move, quantization_moves,
    weights_move, operators_with_axes_move, branches_are_joined, reductions_move,
    shapes_are_gathered, transposes_are_merged, reshapes_move, layouts_stay,
    the_cheapest_place_is_chosen, names_stay, equal_outputs_stay_equal)
