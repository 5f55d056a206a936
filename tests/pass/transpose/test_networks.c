/* SPDX-License-Identifier: MIT */
/*
 * test_networks.c — optimize_transposes on networks with channels last, in which each convolution
 * and pool is between two Transposes.
 * Covers: optimize_transposes.c, plan.c.
 */
#include <stdarg.h>

#include "pass/engine/manager.h"
#include "pass/transpose/transposes.h"

/* A network as text; layers return the number of their result, v<number>. */
typedef struct net {
    char text[1 << 17];
    size_t size;
    uint32_t n;
} net;

static void put(net *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    s->size += (size_t)vsnprintf(s->text + s->size, sizeof(s->text) - s->size, fmt, args);
    va_end(args);
    ck_assert(s->size < sizeof(s->text));
}

static void begin(net *s, const char *shape)
{
    memset(s, 0, sizeof(*s));
    put(s, "v0 = input f32[%s]\n", shape);
}

/* Adds an operator with channels first to a tensor with channels last. */
static uint32_t add_nhwc(net *s, uint32_t x, const char *op)
{
    put(s, "p%u = transpose v%u {perm=[0,3,1,2]}\n", ++s->n, x);
    put(s, op, s->n, s->n);
    put(s, "\nv%u = transpose q%u {perm=[0,2,3,1]}\n", s->n, s->n);
    return s->n;
}

/* A convolution with bias; `group` is 1 or the number of channels. */
static uint32_t conv(net *s, uint32_t x, int in, int out, int kernel, int stride, int group)
{
    char op[200];
    const int n = (int)s->n + 1, pad = kernel / 2;
    put(s, "w%d = const f32[%d,%d,%d,%d] fill 0.1\nb%d = const f32[%d] fill 0.3\n", n, out,
        in / group, kernel, kernel, n, out);
    (void)snprintf(op, sizeof(op),
        "q%%u = conv p%%u w%d {strides=[%d,%d],pads=[%d,%d,%d,%d],group=%d}", n, stride, stride,
        pad, pad, pad, pad, group);
    const uint32_t y = add_nhwc(s, x, op);
    put(s, "v%u = add v%u b%d\n", ++s->n, y, n);
    return s->n;
}

static uint32_t unary(net *s, uint32_t x, const char *op)
{
    put(s, "v%u = %s v%u\n", s->n + 1, op, x);
    return ++s->n;
}

static uint32_t relu6(net *s, uint32_t x)
{
    put(s, "l%u = const f32[] {0}\nh%u = const f32[] {6}\nv%u = clip v%u l%u h%u\n", s->n + 1,
        s->n + 1, s->n + 1, x, s->n + 1, s->n + 1);
    return ++s->n;
}

static uint32_t binary(net *s, const char *op, uint32_t x, uint32_t y, const char *attrs)
{
    put(s, "v%u = %s v%u v%u%s\n", s->n + 1, op, x, y, attrs);
    return ++s->n;
}

/* The mean of all pixels, and a product with a matrix. */
static void head(net *s, uint32_t x, int channels)
{
    put(s, "axes = const i64[2] {1,2}\nmean = reduce_mean v%u axes {keepdims=0}\n", x);
    put(s, "m = const f32[%d,5] fill 0.1\nlogits = matmul mean m\ny = softmax logits\n", channels);
    put(s, "return y\n");
}

/* Squeeze and excitation: channels are multiplied by numbers from the mean of all pixels. */
static uint32_t excite(net *s, uint32_t x, int channels)
{
    put(s, "a%u = const i64[2] {1,2}\nv%u = reduce_mean v%u a%u\n", s->n + 1, s->n + 1, x,
        s->n + 1);
    uint32_t y = unary(s, conv(s, ++s->n, channels, 4, 1, 1, 1), "relu");
    y = unary(s, conv(s, y, 4, channels, 1, 1, 1), "hard_sigmoid");
    return binary(s, "mul", x, y, "");
}

static uint32_t count_ops(const prt_graph *g, uint32_t id)
{
    uint32_t n = 0;
    prt_for_each_op (op, g)
        n += prt_op_is(op, id);
    return n;
}

/* Returns the number of Transposes after the pass, which must keep the results. */
static uint32_t transposes_left(net *s)
{
    prt_graph *before = graph_from_text(s->text), *g = graph_from_text(s->text);
    ck_assert(run_pass(g, PASS, NULL));
    const uint32_t n = count_ops(g, PRT_OP_transpose);
    assert_same_results(before, g, 1e-5, 1);
    ck_assert(!run_pass(g, PASS, NULL));
    module_free(before);
    module_free(g);
    return n;
}

START_TEST(mobile_network_has_one_transpose)
{
    static net s;
    for (int channels_first = 0; channels_first < 2; channels_first++) {
        begin(&s, channels_first ? "n,3,24,24" : "n,24,24,3");
        if (channels_first)
            put(&s, "v%u = transpose v0 {perm=[0,2,3,1]}\n", ++s.n);
        uint32_t x = relu6(&s, conv(&s, s.n, 3, 8, 3, 2, 1));
        for (uint32_t i = 0; i < 6; i++) {
            uint32_t y = relu6(&s, conv(&s, x, 8, 16, 1, 1, 1));
            y = relu6(&s, conv(&s, y, 16, 16, 3, 1, 16));
            if (i % 2 == 1)
                y = excite(&s, y, 16);
            x = binary(&s, "add", x, conv(&s, y, 16, 8, 1, 1, 1), "");
        }
        head(&s, x, 8);
        ck_assert_uint_eq(transposes_left(&s), channels_first ? 0 : 1);
    }
}
END_TEST

START_TEST(residual_network_has_one_transpose)
{
    static net s;
    int channels = 8;
    begin(&s, "2,32,32,3");
    put(&s, "pads = const i64[8] {0,3,3,0,0,3,3,0}\nv1 = pad v0 pads\n");
    s.n = 1;
    uint32_t x = unary(&s, conv(&s, 1, 3, channels, 7, 2, 1), "relu");
    x = add_nhwc(&s, x, "q%u = max_pool p%u {kernel_shape=[3,3],strides=[2,2],pads=[1,1,1,1]}");
    for (uint32_t i = 0; i < 8; i++) {
        const int wider = i % 4 == 3 ? 2 : 1, out = channels * wider;
        uint32_t y = unary(&s, conv(&s, x, channels, channels, 1, 1, 1), "relu");
        y = unary(&s, conv(&s, y, channels, channels, 3, wider, 1), "relu");
        y = conv(&s, y, channels, out, 1, 1, 1);
        if (wider > 1)
            x = conv(&s, x, channels, out, 1, wider, 1);
        x = unary(&s, binary(&s, "add", x, y, ""), "relu");
        channels = out;
    }
    head(&s, x, channels);
    ck_assert_uint_eq(transposes_left(&s), 1);
}
END_TEST

START_TEST(segmentation_network_has_two_transposes)
{
    static net s;
    uint32_t skip[3];
    int channels = 4;
    begin(&s, "1,16,24,3");
    uint32_t x = unary(&s, conv(&s, 0, 3, channels, 3, 1, 1), "relu");
    for (uint32_t i = 0; i < 3; i++) {
        skip[i] = x;
        x = add_nhwc(&s, x, "q%u = average_pool p%u {kernel_shape=[2,2],strides=[2,2]}");
        x = unary(&s, conv(&s, x, channels, channels * 2, 3, 1, 1), "relu");
        channels *= 2;
    }
    for (uint32_t i = 3; i-- > 0;) {
        put(&s, "s%u = const f32[4] {1,2,2,1}\nv%u = resize v%u _ s%u {mode=\"linear\"}\n", i,
            s.n + 1, x, i);
        x = binary(&s, "concat", ++s.n, skip[i], " {axis=3}");
        x = unary(&s, conv(&s, x, channels * 3 / 2, channels / 2, 3, 1, 1), "elu");
        channels /= 2;
    }
    x = conv(&s, x, channels, 2, 1, 1, 1);
    put(&s, "y = softmax v%u\nz = argmax y {axis=-1,keepdims=0}\nreturn y, z\n", x);
    ck_assert_uint_eq(transposes_left(&s), 2);
}
END_TEST

/* Operators that nothing reads keep no Transpose, and biases become inputs of the convolutions. */
START_TEST(converted_network_is_tidy)
{
    static net s;
    prt_pass_manager *pm = NULL;
    begin(&s, "n,24,24,3");
    uint32_t x = unary(&s, conv(&s, s.n, 3, 8, 3, 2, 1), "relu");
    for (uint32_t i = 0; i < 4; i++) {
        x = binary(&s, "add", x, conv(&s, x, 8, 8, 3, 1, 8), "");
        put(&s, "unused%u = lp_pool v%u {kernel_shape=[1,1]}\n", i, x);
    }
    head(&s, x, 8);
    prt_graph *before = graph_from_text(s.text), *g = graph_from_text(s.text);
    ck_assert_int_eq(prt_pass_manager_create(NULL, &pm), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add_pipeline(pm, "tensorflow", NULL), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_run(pm, g->module, NULL), POPRT_OK);
    prt_pass_manager_release(pm);
    ck_assert_uint_eq(count_ops(g, PRT_OP_transpose), 1);
    ck_assert_uint_eq(count_ops(g, PRT_OP_conv), 5);
    ck_assert_uint_eq(count_ops(g, PRT_OP_add), 4);
    ck_assert_uint_eq(count_ops(g, PRT_OP_lp_pool), 0);
    assert_same_results(before, g, 1e-5, 1);
    module_free(before);
    module_free(g);
}
END_TEST

/* A convolution along a sequence is one of images with one row, or has a rank of three. */
START_TEST(sequences_have_one_transpose)
{
    static net s;
    begin(&s, "n,30,6");
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t x = s.n;
        put(&s, "e%u = const i64[1] {1}\nw%u = const f32[6,6,1,3] fill 0.1\n", i, i);
        put(&s, "u%u = unsqueeze v%u e%u\np%u = transpose u%u {perm=[0,3,1,2]}\n", i, x, i, i, i);
        put(&s, "q%u = conv p%u w%u {pads=[0,1,0,1]}\nt%u = transpose q%u {perm=[0,2,3,1]}\n", i, i,
            i, i, i);
        put(&s, "r%u = squeeze t%u e%u\nb%u = const f32[6] fill 0.2\n", i, i, i, i);
        put(&s, "a%u = add r%u b%u\nv%u = relu a%u\n", i, i, i, ++s.n, i);
    }
    put(&s, "m = const i64[1] {1}\ny = reduce_max v%u m {keepdims=0}\nreturn y\n", s.n);
    ck_assert_uint_eq(transposes_left(&s), 1);
}
END_TEST

START_TEST(volumes_have_one_transpose)
{
    static net s;
    begin(&s, "2,6,7,8,2");
    for (uint32_t i = 0; i < 3; i++) {
        put(&s, "w%u = const f32[2,2,3,3,3] fill 0.1\nb%u = const f32[2] {1,2}\n", i, i);
        put(&s, "p%u = transpose v%u {perm=[0,4,1,2,3]}\n", i, i);
        put(&s, "q%u = conv p%u w%u {pads=[1,1,1,1,1,1]}\n", i, i, i);
        put(&s, "t%u = transpose q%u {perm=[0,2,3,4,1]}\n", i, i);
        put(&s, "a%u = add t%u b%u\nv%u = relu a%u\n", i, i, i, i + 1, i);
    }
    put(&s, "m = const i64[3] {1,2,3}\ny = reduce_mean v3 m {keepdims=0}\nreturn y\n");
    ck_assert_uint_eq(transposes_left(&s), 1);
}
END_TEST

/* A body of a loop gets one Transpose at each end, since the values that it carries keep their
 * layouts; the graph outside has its own. */
START_TEST(bodies_are_optimized)
{
    static const char text[] =
        "x = input f32[2,4,5,3]\nw = const f32[3,3,1,1] fill 0.5\nn = const i64[] {3}\n"
        "c = const bool[] {true}\n"
        "y = loop n c x {\nbody {\ni = input i64[]\nd = input bool[]\ns = input f32[2,4,5,3]\n"
        "p = transpose s {perm=[0,3,1,2]}\nq = conv p w\nt = transpose q {perm=[0,2,3,1]}\n"
        "r = relu t\nb = const f32[3] {1,2,3}\na = add r b\np2 = transpose a {perm=[0,3,1,2]}\n"
        "q2 = conv p2 w\nt2 = transpose q2 {perm=[0,2,3,1]}\nreturn d, t2\n}\n}\n"
        "return y\n";
    ck_transposes(text, 240, "f32[3,1,1]");
}
END_TEST

/* Transposes of the outer graph are read by a branch, and vanish with what is in it. */
START_TEST(branches_read_outer_transposes)
{
    static const char text[] =
        "x = input f32[2,3,4,5]\nc = input bool[]\na = max_pool x {kernel_shape=[1,1]}\n"
        "t = transpose a {perm=[0,2,3,1]}\n"
        "y = if c {\nthen_branch {\np = transpose t {perm=[0,3,1,2]}\n"
        "q = max_pool p {kernel_shape=[1,1]}\nreturn q\n}\n"
        "else_branch {\nr = relu t\np2 = transpose r {perm=[0,3,1,2]}\nreturn p2\n}\n}\nreturn y\n";
    ck_transposes(text, 0, "relu max_pool");
}
END_TEST

PRT_TEST_MAIN("pass/transpose/networks", mobile_network_has_one_transpose,
    residual_network_has_one_transpose, segmentation_network_has_two_transposes,
    converted_network_is_tidy, sequences_have_one_transpose, volumes_have_one_transpose,
    bodies_are_optimized, branches_read_outer_transposes)
