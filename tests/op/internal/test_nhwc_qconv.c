/* SPDX-License-Identifier: MIT */
/* test_nhwc_qconv.c — NhwcQConv against QLinearConv, to the bit, NhwcMaxPool of bytes,
 * QuantizedAdd and ByteTable, and invalid inputs.
 * Covers: quantized_add.c, byte_table.c. */
#include <stdlib.h>

#include "ir/interp.h"
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/nhwc_text.h"
#include "support/op_check.h"

/* Checks that outputs 0 and 1 of the graph hold the same bytes. */
static void ck_pair(const char *text)
{
    prt_graph *g = graph_from_text(text);
    prt_tensor out[2];
    const poprt_status status = prt_ir_run(g, 0, NULL, 2, out, g->module->arena);
    ck_assert_msg(status == POPRT_OK, "%s\n%s", prt_error_last()->message, text);
    ck_assert_msg(out[0].dtype == out[1].dtype && out[0].size == out[1].size &&
            out[0].rank == out[1].rank &&
            memcmp(out[0].dims, out[1].dims, out[0].rank * sizeof(int64_t)) == 0,
        "types\n%s", text);
    if (out[0].size != 0)
        ck_assert_msg(memcmp(out[0].data, out[1].data, out[0].size) == 0, "%s", text);
    module_free(g);
}

START_TEST(equals_qlinear_conv)
{
    uint32_t state = 3;
    for (uint32_t i = 0; i < 80; i++) {
        const int rank = i % 4 == 3 ? 3 : i % 9 == 8 ? 5 : 4;
        nhwc_bytes_case c = { .of = { .rank = rank,
                                  .n = (int)nhwc_random(&state, 3),
                                  .w = nhwc_random_window(&state, rank, 5, 3),
                                  .form = i % 3 == 1 ? "taps" : "panels",
                                  .group = 1,
                                  .channels = 1,
                                  .filters = 1 },
            .x_signed = i % 2 != 0,
            .y_signed = i % 5 < 2,
            .scale = 0.0003 };
        c.x_zero = (int)nhwc_random(&state, 256) - (c.x_signed ? 128 : 0);
        c.y_zero = (int)nhwc_random(&state, 256) - (c.y_signed ? 128 : 0);
        if (i % 3 == 1) {
            c.of.group = 1 + (int)nhwc_random(&state, 9);
        } else {
            c.of.group = i % 6 == 2 ? 2 : 1;
            c.of.channels = 1 + (int)nhwc_random(&state, 9);
            c.of.filters = 1 + (int)nhwc_random(&state, i % 7 == 0 ? 70 : 20);
            c.of.images = c.of.group == 1 && i % 4 == 2;
        }
        char *text = nhwc_bytes_text(&c, i, true);
        ck_pair(text);
        free(text);
    }
}
END_TEST

#define QCONV(w, b, s, xz, attrs)                                                                  \
    "x = const u8[1,1,2,2] {1,2,3,4}\nw = const i8[" w "] fill 1\nb = const i32[" b "] fill 1\n"   \
    "s = const f64[" s "] fill 0.5\nxz = const u8" xz " fill 0\nyz = const i8[] {0}\n"             \
    "y = nhwc_qconv x w b s xz yz {" attrs "}\nreturn y\n"

START_TEST(wrong_inputs_are_refused)
{
    ck_result(QCONV("64", "1", "1", "[]", "channels=2,filters=1,kernel_shape=[1,1]"),
        "i8[1,1,2,1] {2,4}");
    ck_failure(QCONV("63", "1", "1", "[]", "channels=2,filters=1,kernel_shape=[1,1]"),
        POPRT_E_SHAPE, "size of W");
    ck_failure(QCONV("64", "2", "1", "[]", "channels=2,filters=1,kernel_shape=[1,1]"),
        POPRT_E_SHAPE, "filters of B and scale");
    ck_failure(QCONV("64", "1", "2", "[]", "channels=2,filters=1,kernel_shape=[1,1]"),
        POPRT_E_SHAPE, "filters of B and scale");
    ck_failure(QCONV("64", "1", "1", "[2]", "channels=2,filters=1,kernel_shape=[1,1]"),
        POPRT_E_SHAPE, "");
    ck_failure(QCONV("64", "1", "1", "[]", "channels=2,filters=0,kernel_shape=[1,1]"), POPRT_E_ARG,
        "must be given and positive");
    ck_failure(QCONV("64", "1", "1", "[]",
                   "channels=2,filters=1,kernel_shape=[3,3],form=\"winograd\""),
        POPRT_E_ARG, "form");
    ck_failure(QCONV("64", "1", "1", "[]", "channels=2,filters=1,kernel_shape=[1,1],form=\"taps\""),
        POPRT_E_ARG, "form");
    ck_failure(QCONV("64", "1", "1", "[]", "channels=3,filters=1,kernel_shape=[1,1]"),
        POPRT_E_SHAPE, "");
    ck_failure(QCONV("64", "1", "1", "[]",
                   "channels=2147483647,filters=2147483647,group=2147483647,kernel_shape=["
                   "4611686018427387904,"
                   "4611686018427387904]"),
        POPRT_E_ARG, "form");
}
END_TEST

START_TEST(max_pool_equals_channels_first_max_pool)
{
    ck_pair("x = const i8[1,2,3,2] {-5,4,3,-2,1,0,100,-128,-3,7,-9,127}\n"
            "y = nhwc_max_pool x {kernel_shape=[2,2],pads=[1,0,0,1],strides=[1,2]}\n"
            "t = transpose x {perm=[0,3,1,2]}\n"
            "u = max_pool t {kernel_shape=[2,2],pads=[1,0,0,1],strides=[1,2]}\n"
            "z = transpose u {perm=[0,2,3,1]}\nreturn y, z\n");
}
END_TEST

START_TEST(quantized_sums_have_their_values)
{
#define SUM(a, b, tail)                                                                            \
    "a = const u8" a "\nb = const i8" b "\nsa = const f32[] {0.5}\nza = const u8[] {10}\n"         \
    "sb = const f32[1] {0.25}\nzb = const i8[] {-2}\n" tail
#define CLOSE(scale, zero)                                                                         \
    "sy = const f32[] {" scale "}\nzy = const " zero "\n"                                          \
    "y = quantized_add a sa za b sb zb sy zy\nreturn y\n"
    /* (a - 10) / 2 + (b + 2) / 4: 5.25, -4.75, 122.25, 23 */
    ck_result(SUM("[4] {20,0,255,10}", "[4] {-1,-1,-3,90}", CLOSE("0.5", "u8[] {3}")),
        "u8[4] {13,0,247,49}"); /* 10.5 to even, -9.5, 244.5, 46 */
    ck_result(SUM("[2,1] {20,0}", "[2] {-1,90}", CLOSE("1", "i8[] {-1}")),
        "i8[2,2] {4,27,-6,17}"); /* 5.25, 28, -4.75, 18 */
    /* (a - 10) / 2 times (b + 2) / 4: 1.25, -1.25 */
    ck_result(SUM("[2] {20,0}", "[2] {-1,-1}",
                  "sy = const f32[] {0.5}\nzy = const u8[] {3}\n"
                  "y = quantized_mul a sa za b sb zb sy zy\nreturn y\n"),
        "u8[2] {5,1}"); /* 2.5, -2.5 */
    ck_result(SUM("[1] {20}", "[0] {}", CLOSE("1", "i8[] {-1}")), "i8[0] {}");
    ck_result(SUM("[1] {20}", "[1] {5}", CLOSE("nan", "i8[] {-1}")), "i8[1] {-128}");
    ck_failure(SUM("[2] {20,1}", "[3] {5,5,5}", CLOSE("1", "i8[] {-1}")), POPRT_E_SHAPE, "");
    ck_failure(SUM("[2] {20,1}", "[2] {5,5}", CLOSE("1", "i8[2] {-1,2}")), POPRT_E_SHAPE, "");
    ck_type("a = input u8[n,3]\nb = input i8[n,1]\ns = const f32[] {1}\nz = const u8[] {1}\n"
            "w = const i8[] {1}\ny = quantized_add a s z b s w s w\nreturn y\n",
        "i8[n,3]");
}
END_TEST

START_TEST(byte_table_looks_up_each_byte)
{
#define TABLE(x, t)                                                                                \
    x "t = const " t "[256] fill 7\ni = const i64[2] {255,1}\nv = const " t "[2] {100,9}\n"        \
      "w = scatter_elements t i v\ny = byte_table x w\nreturn y\n"
    ck_result(TABLE("x = const i8[2,2] {-1,1,127,-128}\n", "u8"), "u8[2,2] {100,9,7,7}");
    ck_result(TABLE("x = const u8[3] {255,1,0}\n", "i8"), "i8[3] {100,9,7}");
    ck_result(TABLE("x = const u8[0] {}\n", "i8"), "i8[0] {}");
    ck_failure("x = const u8[1] {1}\nt = const u8[255] fill 1\ny = byte_table x t\nreturn y\n",
        POPRT_E_SHAPE, "");
    ck_failure("x = const u8[1] {1}\nt = const u8[256,1] fill 1\ny = byte_table x t\nreturn y\n",
        POPRT_E_SHAPE, "");
    ck_type("x = input i8[n,3]\nt = input u8[m]\ny = byte_table x t\nreturn y\n", "u8[n,3]");
}
END_TEST

PRT_TEST_MAIN("op/internal/nhwc_qconv", equals_qlinear_conv, wrong_inputs_are_refused,
    max_pool_equals_channels_first_max_pool, quantized_sums_have_their_values,
    byte_table_looks_up_each_byte)
