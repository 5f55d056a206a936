/* SPDX-License-Identifier: MIT */
/*
 * test_width.c — int64_to_int32 and double_to_float.
 * Covers: kernels.c, retype_bits.c.
 */
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/precision_check.h"

static const char *const integers = "int64_to_int32", *const doubles = "double_to_float";

START_TEST(integers_of_the_interface_change)
{
    assert_pass_rewrites(integers, NULL,
        "x = input i64[n]\nf = input f32[9]\nk = const i64[1] {3}\ny = add x k\n"
        "g = gather f y\nc = cast f {to=7}\nreturn y, g, c\n",
        "x = input i32[n]\nf = input f32[9]\nk = const i32[1] {3}\ny = add x k\n"
        "g = gather f y\nc = cast f {to=6}\nreturn y, g, c\n");
}
END_TEST

START_TEST(slots_of_int64_are_left_or_cast)
{
    assert_pass_leaves(integers, NULL,
        "x = input f32[4]\ns = const i64[2] {2,2}\ny = reshape x s\nreturn y\n");
    assert_pass_rewrites(integers, NULL,
        "x = input f32[4]\ns = input i64[2]\nt = add s s\ny = reshape x t\nreturn y\n",
        "x = input f32[4]\ns = input i32[2]\nt = add s s\n%0 = cast t {to=7}\n"
        "y = reshape x %0\nreturn y\n");
    /* values computed from sizes for such an input stay unchanged */
    assert_pass_leaves(integers, NULL,
        "x = input f32[n,4]\nk = const i64[1] {0}\nm = const i64[1] {-1}\ns = shape x\n"
        "a = gather s k\nb = concat a m {axis=0}\ny = reshape x b\nreturn y\n");
    /* an element of a sequence is of the type that the sequence has */
    assert_pass_rewrites(integers, NULL,
        "x = input i64[1]\nf = input f32[4]\nk = const i64[] {0}\n"
        "s = sequence_construct x x\nt = sequence_at s k\ny = reshape f t\nreturn y\n",
        "x = input i32[1]\nf = input f32[4]\nk = const i32[] {0}\n"
        "s = sequence_construct x x\nt = sequence_at s k\n%0 = cast t {to=7}\n"
        "y = reshape f %0\nreturn y\n");
    /* an index that is given as int64 is read so */
    assert_pass_leaves(integers, NULL,
        "x = input f32[4]\ni = argmax x\ny = gather x i\nreturn y\n");
    assert_pass_rewrites(integers, NULL,
        "x = input f32[4]\nn = const i64[1] {2}\nv, i = topk x n\nreturn v, i\n",
        "x = input f32[4]\nn = const i64[1] {2}\nv, %0 = topk x n\ni = cast %0 {to=6}\n"
        "return v, i\n");
}
END_TEST

/* Other runtimes have no kernel of these on int32. */
START_TEST(operators_without_a_kernel_of_int32_stay)
{
    assert_pass_rewrites(integers, NULL, "x = input i64[9]\na = add x x\ny = unique a\nreturn y\n",
        "x = input i32[9]\na = add x x\n%0 = cast a {to=7}\n%1 = unique %0\n"
        "y = cast %1 {to=6}\nreturn y\n");
    /* all three of int64, or two of int32 and one of float32 */
    assert_pass_rewrites(integers, NULL,
        "x = input i64[9]\nd = const i64[] {5}\nv = const i64[2] {0,3}\ny = one_hot x d v\n"
        "return y\n",
        "x = input i32[9]\nd = const i64[] {5}\nv = const i64[2] {0,3}\n%0 = cast x {to=7}\n"
        "%1 = one_hot %0 d v\ny = cast %1 {to=6}\nreturn y\n");
    assert_pass_rewrites(integers, NULL,
        "x = input i64[9]\nd = const i64[] {5}\nv = const f32[2] {0,3}\ny = one_hot x d v\n"
        "return y\n",
        "x = input i32[9]\nv = const f32[2] {0,3}\nd = const i32[] {5}\ny = one_hot x d v\n"
        "return y\n");
    /* a depth computed from sizes is int64, and no kernel mixes int32 and int64 */
    assert_pass_rewrites(integers, NULL,
        "x = input i64[n]\nv = const f32[2] {0,3}\ns = size x\ny = one_hot x s v\nreturn y\n",
        "x = input i32[n]\nv = const f32[2] {0,3}\n%0 = cast x {to=7}\ns = size x\n"
        "y = one_hot %0 s v\nreturn y\n");
    /* an op that no kernel ran before is converted like the others */
    assert_pass_rewrites(integers, NULL,
        "x = input i64[9]\nd = const i64[] {5}\nv = const f64[2] {0,3}\ny = one_hot x d v\n"
        "return y\n",
        "x = input i32[9]\nv = const f64[2] {0,3}\nd = const i32[] {5}\ny = one_hot x d v\n"
        "return y\n");
}
END_TEST

/* A BitCast takes all 64 bits, so the inputs that they come from and the outputs that they go to
 * stay, and all between. */
START_TEST(integers_whose_bits_count_stay)
{
    assert_pass_rewrites(integers, NULL,
        "x = input i64[2]\nk = const i64[2] {3,4}\nz = input i64[2]\na = add x k\n"
        "y = bit_cast a {to=11}\nb = add a z\nc = neg z\nreturn y, c\n",
        "x = input i64[2]\nk = const i64[2] {3,4}\nz = input i32[2]\na = add x k\n"
        "%0 = cast a {to=6}\ny = bit_cast a {to=11}\nb = add %0 z\nc = neg z\nreturn y, c\n");
    assert_pass_rewrites(integers, NULL,
        "x = input f64[2]\nm = input i64[2]\nw = input i64[2]\na = bit_cast x {to=7}\n"
        "b = bitwise_and a m\nc = add w w\ne = equal b b\nreturn b, c, e\n",
        "x = input f64[2]\nm = input i64[2]\nw = input i32[2]\na = bit_cast x {to=7}\n"
        "b = bitwise_and a m\nc = add w w\ne = equal b b\nreturn b, c, e\n");
    assert_pass_leaves(integers, NULL,
        "q = input bool[]\nx = input i64[2]\nr = if q {\n"
        "  then_branch { a = add x x; b = bit_cast a {to=11}; return b }\n"
        "  else_branch { c = cast x {to=11}; return c }\n}\nreturn r\n");
    assert_pass_rewrites(integers, NULL,
        "q = input bool[]\nx = input i64[2]\nz = input f64[2]\nr = if q {\n"
        "  then_branch { b = bit_cast z {to=7}; return b }\n"
        "  else_branch { c = neg x; return c }\n}\ny = abs r\nreturn y\n",
        "q = input bool[]\nx = input i32[2]\nz = input f64[2]\n%0 = cast x {to=7}\n"
        "r = if q {\n  then_branch { b = bit_cast z {to=7}; return b }\n"
        "  else_branch { c = neg %0; return c }\n}\ny = abs r\nreturn y\n");
}
END_TEST

START_TEST(values_out_of_range_are_clipped_and_reported)
{
    prt_graph *g = graph_from_text("x = input f32[4]\na = const i64[1] {1}\n"
                                   "e = const i64[1] {9223372036854775807}\n"
                                   "y = slice x a e\nreturn y\n");
    ck_assert_str_eq(pass_notes(g, integers, NULL), "Clip e to range (-2147483648, 2147483647)\n");
    ck_assert_graph(g,
        "x = input f32[4]\na = const i32[1] {1}\ne = const i32[1] {2147483647}\n"
        "y = slice x a e\nreturn y\n");
    module_free(g);
}
END_TEST

START_TEST(loops_count_in_int64)
{
    assert_pass_rewrites(integers, NULL,
        "x = input i64[]\nn = const i64[] {3}\nc = const bool[] {true}\n"
        "r = loop n c x {\n  body {\n    i = input i64[]\n    d = input bool[]\n"
        "    s = input i64[]\n    u = add s i\n    return d, u\n  }\n}\nreturn r\n",
        "x = input i32[]\nn = const i64[] {3}\nc = const bool[] {true}\n"
        "r = loop n c x {\n  body {\n    i = input i64[]\n    d = input bool[]\n"
        "    s = input i32[]\n    %0 = cast i {to=6}\n    u = add s %0\n    return d, u\n  }\n}\n"
        "return r\n");
}
END_TEST

START_TEST(the_trained_models_count_the_same)
{
    static const char *const models[] = { "charlm", "encoder" };
    for (size_t i = 0; i < 2; i++)
        assert_model_stays_close(models[i], integers, NULL, 0);
}
END_TEST

START_TEST(initializers_of_doubles_become_floats)
{
    assert_pass_rewrites(doubles, NULL,
        "i = input i64[2]\nt = const f64[3] {1, 2, 0.1}\ng = gather t i\nc = cast g {to=1}\n"
        "return c\n",
        "i = input i64[2]\nt = const f32[3] {1, 2, 0.1}\nc = gather t i\nreturn c\n");
    /* outputs stay, inputs and Casts too; who reads them computes in double */
    assert_pass_rewrites(doubles, NULL,
        "i = input i64[2]\nx = input f64[2]\nt = const f64[3] {1, 2, 0.5}\ng = gather t i\n"
        "w = const f64[2] {0.25, 4}\ny = mul x w\nreturn g, y\n",
        "i = input i64[2]\nx = input f64[2]\nt = const f32[3] {1, 2, 0.5}\n"
        "w = const f32[2] {0.25, 4}\n%0 = cast w {to=11}\n%1 = gather t i\n"
        "g = cast %1 {to=11}\ny = mul x %0\nreturn g, y\n");
    assert_pass_leaves(doubles, NULL, "x = input f64[2]\ny = cast x {to=1}\nreturn y\n");
}
END_TEST

START_TEST(doubles_no_float_can_hold_are_clipped)
{
    prt_graph *g = graph_from_text("i = input i64[2]\nt = const f64[2] {1e300, -inf}\n"
                                   "g = gather t i\nc = cast g {to=1}\nreturn c\n");
    ck_assert_str_eq(pass_notes(g, doubles, NULL),
        "Clip t to range (-3.4028234663852886e+38, 3.4028234663852886e+38)\n");
    ck_assert_graph(g,
        "i = input i64[2]\nt = const f32[2] {3.4028234663852886e38, -inf}\n"
        "c = gather t i\nreturn c\n");
    module_free(g);
}
END_TEST

START_TEST(regions_keep_their_edges)
{
    assert_pass_rewrites(doubles, NULL,
        "q = input bool[]\ni = input i64[2]\nt = const f64[3] {1, 2, 0.5}\n"
        "r = if q {\n  then_branch { a = gather t i; b = cast a {to=1}; return b }\n"
        "  else_branch { c = cast i {to=1}; return c }\n}\nreturn r\n",
        "q = input bool[]\ni = input i64[2]\nt = const f32[3] {1, 2, 0.5}\n"
        "r = if q {\n  then_branch { b = gather t i; return b }\n"
        "  else_branch { c = cast i {to=1}; return c }\n}\nreturn r\n");
}
END_TEST

PRT_TEST_MAIN("pass/precision/width", integers_of_the_interface_change,
    slots_of_int64_are_left_or_cast, operators_without_a_kernel_of_int32_stay,
    integers_whose_bits_count_stay, values_out_of_range_are_clipped_and_reported,
    loops_count_in_int64, the_trained_models_count_the_same, initializers_of_doubles_become_floats,
    doubles_no_float_can_hold_are_clipped, regions_keep_their_edges)
