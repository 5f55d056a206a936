/* SPDX-License-Identifier: MIT */
/*
 * test_bytes.c — quantised operators whose intermediate values stay bytes, and near misses.
 * Covers: table.c.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "fuse_bytes"
#define SCALES                                                                                     \
    "xs = const f32[] {0.01}\nxz = const u8[] {128}\nws = const f32[1] {0.02}\n"                   \
    "wz = const i8[] {-3}\nys = const f32[] {0.5}\nyz = const u8[] {3}\n"
#define OPEN(y, x) y " = dequantize_linear " x " xs xz\n"
#define AGAIN(y, x) y " = quantize_linear " x " xs xz\n"

/* The pass keeps results within `bound`; afterwards there are all of `parts`. */
static void assert_becomes(const char *text, const char *parts, double bound)
{
    prt_graph *g = graph_from_text(text);
    assert_pass_keeps_results(text, PASS, bound);
    ck_assert(run_pass(g, PASS, NULL));
    assert_text_has(graph_text(g), parts);
    ck_assert(!run_pass(g, PASS, NULL));
    module_free(g);
}

static void assert_stays(const char *text)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_msg(!run_pass(g, PASS, NULL), "%s", graph_text(g));
    module_free(g);
}

START_TEST(sums_stay_bytes)
{
    assert_becomes("a = input u8[2,3,5]\nb = input i8[2,3,5]\n" SCALES OPEN("c",
                       "a") "d = dequantize_linear b ws wz\ne = add c d\ny = quantize_linear e ys "
                            "yz\nreturn y\n",
        "quantized_add !quantize_linear", 0);
    assert_becomes(
        "a = input u8[2,3,5]\nb = input i8[5]\n" SCALES OPEN("c",
            "a") "d = dequantize_linear b ws wz\ne = add d c\ny = quantize_linear e ys yz\n"
                 "f = mul c c\nreturn y, f\n",
        "quantized_add dequantize_linear", 0);
    assert_becomes("a = input u8[2,3,5]\nb = input i8[2,1,5]\n" SCALES OPEN("c",
                       "a") "d = dequantize_linear b ws wz\ne = mul c d\ny = quantize_linear e ys "
                            "yz\nreturn y\n",
        "quantized_mul !quantize_linear", 0);
    assert_stays("a = input u8[2,3,5]\nb = input f32[2,3,5]\n" SCALES OPEN("c",
        "a") "e = add c b\ny = quantize_linear e ys yz\nreturn y\n");
    assert_stays("a = input u8[2,3,5]\nb = input u8[2,3,5]\n" SCALES OPEN("c", "a")
            OPEN("d", "b") "e = add c d\ny = quantize_linear e ys yz\nreturn y, e\n");
    assert_stays(
        "a = input u8[2,3]\n" SCALES "s = const f32[3] {1,2,3}\nz = const u8[3] {1,2,3}\n"
        "c = dequantize_linear a s z\ne = add c c\ny = quantize_linear e ys yz\nreturn y\n");
}
END_TEST

START_TEST(data_movement_stays_bytes)
{
    assert_becomes(
        "x = input u8[1,3,7,6]\n" SCALES OPEN("a",
            "x") "b = max_pool a {kernel_shape=[3,2],pads=[1,1,1,0],strides=[2,1]}\n" AGAIN("y",
            "b") "return y\n",
        "max_pool !quantize_linear", 0);
    assert_becomes("x = input u8[2,3]\n" SCALES OPEN("a",
                       "x") "b = transpose a {perm=[1,0]}\n" AGAIN("c", "b")
                       OPEN("d", "c") "s = const i64[2] {-1,2}\ne = reshape d s\n" AGAIN("y",
                           "e") "return y\n",
        "transpose reshape !quantize_linear", 0);
    assert_becomes("x = input u8[2,3]\n" SCALES "zs = const f32[] {0.01}\n"
                   "zz = const u8[] {128}\nf = dequantize_linear x zs zz\n" AGAIN("y",
                       "f") "w = transpose y\nreturn w\n",
        "transpose !quantize_linear", 0);
    /* another scale, a scale that loses bits, an operator that computes */
    assert_becomes("x = input u8[2,3]\n" SCALES OPEN("a",
                       "x") "b = transpose a\ny = quantize_linear b ys xz\nreturn y\n",
        "transpose byte_table", 0);
    assert_becomes(
        "x = input u8[1,2,4,4]\n" SCALES OPEN("a",
            "x") "b = max_pool a {kernel_shape=[3,3],pads=[1,1,1,1]}\ny = quantize_linear b ws wz\n"
                 "return y\n",
        "max_pool byte_table", 0);
    assert_becomes("x = input u8[2,3]\nz = input i8[2,2]\n" SCALES OPEN("a",
                       "x") "b = dequantize_linear z ws wz\nc = concat a b {axis=1}\n" AGAIN("y",
                       "c") "return y\n",
        "byte_table concat", 0);
    assert_stays("x = input u8[2,3]\nz = input f32[2,2]\n" SCALES OPEN("a",
        "x") "c = concat a z {axis=1}\n" AGAIN("y", "c") "return y\n");
    assert_stays("x = input u8[2,3]\nxs = const f32[] {1e-42}\nxz = const u8[] {1}\n" OPEN("a",
        "x") "b = transpose a\n" AGAIN("y", "b") "return y\n");
    assert_stays(
        "x = input u8[2,3]\n" SCALES OPEN("a", "x") "b = softmax a\n" AGAIN("y", "b") "return y\n");
}
END_TEST

/* Chains on one value of bytes. */
START_TEST(chains_become_tables)
{
    static const char *const silu = "b = sigmoid a\nc = mul a b\ny = quantize_linear c ys yz\n";
    static const char *const shapes[] = { "", "7", "2,3,4", "n,3", "0,2" };
    char text[1024];
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        (void)snprintf(text, sizeof(text),
            "x = input %s[%s]\n" SCALES
            "iz = const i8[] {-128}\na = dequantize_linear x xs %s\n%sreturn y, a\n",
            i % 2 != 0 ? "i8" : "u8", shapes[i], i % 2 != 0 ? "iz" : "xz", silu);
        assert_becomes(text, "byte_table", 0);
    }
    /* intermediate values as bytes; scalar constants of any rank; other readers of these values */
    assert_becomes("x = input u8[2,3,4]\n" SCALES OPEN("a", "x") "b = sigmoid a\n" AGAIN("c", "b")
                       OPEN("d", "c") "e = mul d a\ny = quantize_linear e ws wz\nreturn y\n",
        "byte_table", 0);
    assert_becomes("x = input u8[2,3,4]\n" SCALES OPEN("a", "x") "b = sigmoid a\n" AGAIN("c", "b")
                       OPEN("d", "c") "e = mul d a\ny = quantize_linear e ws wz\nreturn y, c\n",
        "byte_table", 0);
    assert_becomes("x = input u8[2,3,4]\nk = const f32[1,1,1] {3}\nl = const f32[] {0}\n"
                   "m = const f32[1] {6}\n" SCALES OPEN("a",
                       "x") "b = add a k\nc = clip b l m\n"
                            "d = mul c a\ne = div d m\ny = quantize_linear e ws wz\nreturn y\n",
        "byte_table", 0);
    assert_becomes("x = input u8[5]\n" SCALES OPEN("a",
                       "x") "b = cast a {to=7}\nc = cast b {to=1}\n" AGAIN("y", "c") "return y\n",
        "byte_table", 0);
    /* a number for each channel, another value, one more dim, no bytes */
    assert_stays("x = input u8[2,3]\nk = const f32[3] {3,4,5}\n" SCALES OPEN("a",
        "x") "b = mul a k\n" AGAIN("y", "b") "return y\n");
    assert_stays("x = input u8[2,3]\nz = input u8[2,3]\n" SCALES OPEN("a", "x")
            OPEN("b", "z") "c = div a b\n" AGAIN("y", "c") "return y\n");
    assert_stays("x = input u8[2]\nk = const f32[1,1] {3}\n" SCALES OPEN("a",
        "x") "b = mul a k\n" AGAIN("y", "b") "return y\n");
    assert_stays("x = input f32[2]\n" SCALES "b = sigmoid x\n" AGAIN("y", "b") "return y\n");
    /* a chain longer than the limit of the search: its end is fused */
    size_t at = (size_t)snprintf(text, sizeof(text), "x = input u8[2]\n" SCALES OPEN("a0", "x"));
    for (int i = 0; i < 40; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "a%d = neg a%d\n", i + 1, i);
    (void)snprintf(text + at, sizeof(text) - at, AGAIN("y", "a40") "return y\n");
    assert_stays(text);
}
END_TEST

#define WEIGHTS "w = const i8[4,3] {1,-2,3,4,-5,6,7,8,-9,-10,11,124}\n"

START_TEST(products_stay_bytes)
{
    static const char *const shapes[] = { "5,4", "2,3,4", "n,4", "1,n,4" };
    char text[1024];
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        (void)snprintf(text, sizeof(text),
            "x = input u8[%s]\n" WEIGHTS SCALES
            "y = qlinear_matmul x xs xz w ws wz ys yz\nreturn y\n",
            shapes[i]);
        assert_becomes(text, "nhwc_qconv !qlinear_matmul", 0);
    }
    assert_becomes("x = input u8[5,4]\n" WEIGHTS SCALES "s = const f32[3] {0.1,0.2,0.3}\n"
                   "z = const i8[3] {1,-2,-3}\ny = qlinear_matmul x xs xz w s z ys yz\nreturn y\n",
        "nhwc_qconv", 0);
    assert_becomes("x = input u8[5,3]\n" WEIGHTS SCALES "bs = const f32[] {0.0002}\n"
                   "bq = const i32[4] {-700,0,5000,12}\n" OPEN("a",
                       "x") "v = dequantize_linear w ws wz\nb = dequantize_linear bq bs\n"
                            "c = gemm a v b {transB=1}\ny = quantize_linear c ys yz\nreturn y\n",
        "nhwc_qconv !gemm", 0.01);
    assert_becomes("x = input u8[5,4]\n" WEIGHTS SCALES OPEN("a",
                       "x") "v = dequantize_linear w ws wz\nc = gemm a v\ny = quantize_linear c ys "
                            "yz\nreturn y\n",
        "nhwc_qconv !gemm", 0.01);
    /* weights that are not constant, or do not fit a byte without their zero point; factors */
    assert_stays("x = input u8[5,4]\nw = input i8[4,3]\n" SCALES
                 "y = qlinear_matmul x xs xz w ws wz ys yz\nreturn y\n");
    assert_stays("x = input u8[5,4]\nw = const i8[4,3] {1,-2,3,4,-5,6,7,8,-9,-10,11,125}\n" SCALES
                 "y = qlinear_matmul x xs xz w ws wz ys yz\nreturn y\n");
    assert_stays("x = input u8[n,m,4]\n" WEIGHTS SCALES
                 "y = qlinear_matmul x xs xz w ws wz ys yz\nreturn y\n");
    assert_stays("x = input u8[5,4]\n" WEIGHTS SCALES OPEN("a",
        "x") "v = dequantize_linear w ws wz\nc = gemm a v {alpha=2}\ny = quantize_linear c ys yz\n"
             "return y\n");
    assert_stays("x = input u8[5,4]\nxs = const f32[] {inf}\n" WEIGHTS "xz = const u8[] {1}\n"
                 "ws = const f32[] {1}\nwz = const i8[] {0}\nys = const f32[] {1}\n"
                 "y = qlinear_matmul x xs xz w ws wz ys xz\nreturn y\n");
}
END_TEST

#ifndef PRT_NO_MICROSOFT
START_TEST(operators_of_microsoft_stay_bytes)
{
    assert_becomes("a = input u8[2,3]\nb = input u8[2,3]\n" SCALES
                   "y = ms_qlinear_add a xs xz b xs xz ys yz\nreturn y\n",
        "quantized_add", 0.01);
    assert_becomes("a = input u8[2,3]\nb = input u8[2,3]\n" SCALES
                   "y = ms_qlinear_add a xs _ b xs _ ys _\nreturn y\n",
        "quantized_add", 0.01);
    assert_becomes("x = input u8[2,4]\n" WEIGHTS SCALES "b = const i32[3] {100,-200,300}\n"
                   "y = ms_qgemm x xs xz w ws wz b ys yz\nreturn y\n",
        "nhwc_qconv", 0);
    assert_becomes("x = input u8[2,3]\n" WEIGHTS SCALES
                   "y = ms_qgemm x xs xz w ws wz _ ys yz {transB=1}\nreturn y\n",
        "nhwc_qconv", 0);
    assert_becomes("x = input u8[2,3,4,5]\n" SCALES
                   "y = ms_qlinear_global_average_pool x xs xz ys yz\nreturn y\n",
        "dequantize_linear global_average_pool quantize_linear", 0.5);
    assert_stays("x = input u8[2,4]\n" WEIGHTS SCALES "y = ms_qgemm x xs xz w ws wz\nreturn y\n");
    assert_stays("x = input u8[2,3,4,5]\n" SCALES
                 "y = ms_qlinear_global_average_pool x xs xz ys yz {channels_last=1}\nreturn y\n");
}
END_TEST
PRT_TEST_MAIN("pass/fuse/bytes", sums_stay_bytes, data_movement_stays_bytes, chains_become_tables,
    products_stay_bytes, operators_of_microsoft_stay_bytes)
#else
PRT_TEST_MAIN("pass/fuse/bytes", sums_stay_bytes, data_movement_stays_bytes, chains_become_tables,
    products_stay_bytes)
#endif
