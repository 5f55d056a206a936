/* SPDX-License-Identifier: MIT */
/* test_parts.c — serialize_products, available_memory_proportion. */
#include <stdio.h>
#include <string.h>

#include "ir/extra.h"
#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "serialize_products"

/* A block of a transformer: up, down, sum, norm. */
#define FFN(rows)                                                                                  \
    "x = input f32[1," rows ",4]\nw = input f32[4,16]\nb = input f32[16]\nv = input f32[16,4]\n"   \
    "s = input f32[4]\na = matmul x w @up\nc = add a b\nd = gelu c\ne = matmul d v @down\n"        \
    "f = add e s\ng = add f x\ny = layer_normalization g s s\nreturn y\n"

static uint32_t count_text(const prt_graph *g, const char *part)
{
    uint32_t n = 0;
    for (const char *at = graph_text(g); (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

/* Marks the op of that name, and asserts that the results stay the same. */
static prt_graph *marked(const char *text, const char *name, int64_t factor, const char *mode,
    float share)
{
    prt_graph *g = graph_from_text(text);
    prt_for_each_op (op, g) {
        if (strcmp(prt_op_label(op), name) != 0)
            continue;
        if (factor != 0)
            ck_assert_int_eq(prt_op_set_mark_i64(op, "__serialize_matmul_factor", factor), 0);
        if (mode != NULL)
            ck_assert_int_eq(prt_op_set_mark_text(op, "__serialize_matmul_mode", mode), 0);
        if (share != 0)
            ck_assert_int_eq(prt_op_set_mark_f32(op, "__available_memory_proportion", share), 0);
    }
    return g;
}

static void becomes_parts(const char *text, const char *name, int64_t factor, const char *mode,
    float share, uint32_t parts)
{
    prt_graph *g = marked(text, name, factor, mode, share), *plain = graph_from_text(text);
    ck_assert_msg(run_pass(g, PASS, NULL) == (parts > 1), "%s", graph_text(g));
    ck_assert_msg(count_text(g, "= matmul x") + count_text(g, "= gelu") != 0, "%s", graph_text(g));
    ck_assert_msg(count_text(g, " = gelu ") == parts, "%u parts in\n%s", parts, graph_text(g));
    ck_assert_uint_eq(count_text(g, " = layer_normalization "), 1);
    assert_same_results(g, plain, 1e-6, 3);
    /* A second run changes nothing. */
    ck_assert(!run_pass(g, PASS, NULL));
    module_free(g);
    module_free(plain);
}

START_TEST(the_number_of_parts_divides_the_rows)
{
    static const char *const modes[] = { NULL, "input_channels", "output_channels",
        "reducing_dim" };
    for (size_t i = 0; i < PRT_COUNT_OF(modes); i++)
        becomes_parts(FFN("64"), "up", 4, modes[i], 0, 4);
    becomes_parts(FFN("64"), "up", 4, "none", 0, 1);
    /* the next number that divides the rows; no cut if there are too few */
    becomes_parts(FFN("64"), "up", 5, NULL, 0, 8);
    becomes_parts(FFN("7"), "up", 5, NULL, 0, 7);
    becomes_parts(FFN("7"), "up", 8, NULL, 0, 1);
    becomes_parts(FFN("64"), "up", 1, NULL, 0, 1);
}
END_TEST

START_TEST(parts_fit_the_share_of_memory)
{
    becomes_parts(FFN("64"), "up", 0, NULL, 0.5f, 2);
    becomes_parts(FFN("64"), "up", 0, NULL, 0.3f, 4);
    becomes_parts(FFN("64"), "up", 0, NULL, 0.01f, 4); /* 16 rows at least */
    becomes_parts(FFN("64"), "up", 0, NULL, 1, 1);
    becomes_parts(FFN("17"), "up", 0, NULL, 0.5f, 1);
    /* the other product is small enough */
    becomes_parts(FFN("64"), "down", 0, NULL, 0.25f, 1);
}
END_TEST

/* A sum over rows, a value with two readers and an output end the chain: only operators on
 * separate rows go along. */
START_TEST(chains_end_at_operators_across_rows)
{
    static const char *const graphs[] = {
        "x = input f32[8,4]\nw = input f32[4,16]\na = matmul x w @p\nr = const i64[1] {0}\n"
        "y = reduce_sum a r\nreturn y\n",
        "x = input f32[8,4]\nw = input f32[4,16]\na = matmul x w @p\nb = exp a\ny = add a b\n"
        "return y\n",
        "x = input f32[8,4]\nw = input f32[4,16]\na = matmul x w @p\nt = transpose a\n"
        "y = exp t\nreturn y\n",
        "x = input f32[8,4]\nw = input f32[4,16]\na = matmul x w @p\ny = softmax a {axis=0}\n"
        "return y\n",
        "x = input f32[8,4]\nw = input f32[4,16]\na = matmul x w @p\nb = exp a\nreturn a, b\n",
        "x = input f32[2,8,4]\nw = input f32[2,4,16]\na = matmul x w @p\nb = exp a\nreturn b\n",
        "x = input f32[8,4]\nw = input f32[4,16]\nm = input f32[8,1]\na = matmul x w @p\n"
        "b = mul a m\nreturn b\n",
        "x = input f32[8,4]\nw = input f32[16,4]\nc = input f32[8,16]\n"
        "a = gemm x w c {transB=1} @p\nb = exp a\nreturn b\n",
        "x = input f32[8,4]\nz = input f32[4,8]\nw = input f32[4,16]\na = matmul x w @p\n"
        "u = matmul z a\nreturn u\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = marked(graphs[i], "p", 4, NULL, 0), *plain = graph_from_text(graphs[i]);
        ck_assert_msg(run_pass(g, PASS, NULL), "%s", graphs[i]);
        ck_assert_msg(count_text(g, "concat") == 1, "%s", graph_text(g));
        assert_same_results(g, plain, 1e-6, 3);
        module_free(g);
        module_free(plain);
    }
}
END_TEST

START_TEST(other_products_are_left)
{
    static const char *const graphs[] = {
        "x = input f32[n,4]\nw = input f32[4,16]\ny = matmul x w @p\nreturn y\n",
        "x = input f32[4]\nw = input f32[4,16]\ny = matmul x w @p\nreturn y\n",
        "x = input f32[4,8]\nw = input f32[4,16]\ny = gemm x w {transA=1} @p\nreturn y\n",
        "x = input f32[8,4]\nw = input f32[2,4,16]\ny = matmul x w @p\nreturn y\n",
        "x = input u8[8,4]\nw = input i8[4,16]\nz = input u8[8]\ny = matmul_integer x w z @p\n"
        "return y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = marked(graphs[i], "p", 2, NULL, 0);
        ck_assert_msg(!run_pass(g, PASS, NULL), "%s", graph_text(g));
        module_free(g);
    }
}
END_TEST

/* Convolutions are cut by images, and pools, sums and norms of images go along. */
#define NET(images)                                                                                \
    "x = input f32[" images                                                                        \
    ",2,6,6]\nw = input f32[4,2,3,3]\nb = input f32[4]\nr = input f32[" images                     \
    ",4,6,6]\na = conv x w b {pads=[1,1,1,1]} @p\nc = relu a\nd = add c r\n"                       \
    "e = batch_normalization d b b b b\ny = max_pool e {kernel_shape=[2,2] strides=[2,2]}\n"       \
    "return y\n"

static void net_becomes(const char *text, int64_t factor, float share, uint32_t parts)
{
    prt_graph *g = marked(text, "p", factor, NULL, share), *plain = graph_from_text(text);
    ck_assert_msg(run_pass(g, PASS, NULL) == (parts > 1), "%s", graph_text(g));
    ck_assert_uint_eq(count_text(g, " = conv "), parts);
    ck_assert_uint_eq(count_text(g, " = max_pool "), parts);
    ck_assert_uint_eq(count_text(g, "concat"), parts > 1);
    assert_same_results(g, plain, 0, 3);
    module_free(g);
    module_free(plain);
}

START_TEST(convolutions_are_cut_by_images)
{
    net_becomes(NET("8"), 0, 0.5f, 2);
    net_becomes(NET("8"), 0, 0.01f, 8);
    net_becomes(NET("6"), 4, 0, 6);
    net_becomes(NET("1"), 0, 0.01f, 1);
    net_becomes(NET("8"), 0, 1, 1);
}
END_TEST

/* Quantised sides: one scale for all rows may be cut, a scale for each row may not. */
START_TEST(quantised_products_are_cut_by_rows)
{
    static const char *const graphs[] = {
        "x = input u8[8,4]\nw = input i8[4,16]\nz = input u8[]\na = matmul_integer x w z @p\n"
        "y = cast a {to=1}\nreturn y\n",
        "x = input u8[8,4]\nw = input u8[4,16]\ns = const f32[] {0.5}\nz = const u8[] {3}\n"
        "y = qlinear_matmul x s z w s z s z @p\nreturn y\n",
        "x = input u8[8,2,4,4]\nw = input u8[4,2,3,3]\ns = const f32[] {0.5}\nz = const u8[] {3}\n"
        "y = qlinear_conv x s z w s z s z @p\nreturn y\n",
        "x = input u8[8,2,4,4]\nw = input u8[4,2,3,3]\na = conv_integer x w @p\n"
        "y = cast a {to=1}\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = marked(graphs[i], "p", 4, NULL, 0), *plain = graph_from_text(graphs[i]);
        ck_assert_msg(run_pass(g, PASS, NULL), "%s", graphs[i]);
        ck_assert_msg(count_text(g, "concat") == 1, "%s", graph_text(g));
        assert_same_results(g, plain, 0, 3);
        module_free(g);
        module_free(plain);
    }
}
END_TEST

START_TEST(the_share_is_a_mark)
{
    static const char *const pass = "available_memory_proportion";
    prt_graph *g = graph_from_text(FFN("8"));
    float share = 0;
    ck_assert(run_pass(g, pass, "proportion=0.25"));
    prt_for_each_op (op, g)
        ck_assert(prt_op_mark_f32(op, "__available_memory_proportion", &share) ==
            prt_op_is(op, PRT_OP_matmul));
    ck_assert(share == 0.25f);
    ck_assert(!run_pass(g, pass, "proportion=0.5"));
    module_free(g);
    g = graph_from_text(NET("8"));
    ck_assert(run_pass(g, pass, "proportion=0.25"));
    prt_for_each_op (op, g)
        ck_assert(prt_op_mark_f32(op, "__available_memory_proportion", &share) ==
            prt_op_is(op, PRT_OP_conv));
    module_free(g);
    assert_pass_fails(pass, "proportion=0", FFN("8"), POPRT_E_ARG, "above 0 to 1");
    assert_pass_fails(pass, "proportion=1.5", FFN("8"), POPRT_E_ARG, "above 0 to 1");
}
END_TEST

PRT_TEST_MAIN("pass/structure/parts", the_number_of_parts_divides_the_rows,
    parts_fit_the_share_of_memory, chains_end_at_operators_across_rows, other_products_are_left,
    convolutions_are_cut_by_images, quantised_products_are_cut_by_rows, the_share_is_a_mark)
