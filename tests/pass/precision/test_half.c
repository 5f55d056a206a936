/* SPDX-License-Identifier: MIT */
/*
 * test_half.c — float_to_half, float_to_mixed, float_to_bf16.
 * Covers: retype.c, retype_attrs.c, retype_plan.c, retype_value.c.
 */
#include <string.h>

#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/precision_check.h"

static const char *const half = "float_to_half";

START_TEST(all_values_become_half)
{
    assert_pass_rewrites(half, NULL,
        "x = input f32[2,n]\nw = const f32[2,1] {1, 0.1}\ni = input i64[2]\n"
        "m = mul x w\nc = cast i {to=1}\nr = reshape c i\nk = constant_of_shape i\n"
        "o = constant_of_shape i {value=f32[1] {2}}\nz = random_normal {shape=[2]}\n"
        "return m, r, k, o, z\n",
        "x = input f16[2,n]\nw = const f16[2,1] {1, 0.1}\ni = input i64[2]\n"
        "m = mul x w\nc = cast i {to=10}\nr = reshape c i\n"
        "k = constant_of_shape i {value=f16[1] {0}}\n"
        "o = constant_of_shape i {value=f16[1] {2}}\nz = random_normal {dtype=10, shape=[2]}\n"
        "return m, r, k, o, z\n");
}
END_TEST

START_TEST(other_types_are_left)
{
    assert_pass_leaves(half, NULL,
        "x = input f64[2]\ni = input i64[2]\nd = shape x\n"
        "y = add x x\nz = add i i\nreturn y, z, d\n");
    assert_pass_leaves(half, NULL, "x = input f16[2]\ny = cast x {to=11}\nreturn y\n");
}
END_TEST

START_TEST(skipped_operators_stand_between_casts)
{
    const char *const text = "x = input f32[4]\nw = const f32[4] {1, 2, 3, 0.1}\na = relu x\n"
                             "g = gelu a\nh = mul g w\nreturn h\n";
    assert_pass_rewrites(half, "skip_op_types=Softmax ,Gelu", text,
        "x = input f16[4]\nw = const f16[4] {1, 2, 3, 0.1}\na = relu x\n%0 = cast a {to=1}\n"
        "g = gelu %0\n%1 = cast g {to=10}\nh = mul %1 w\nreturn h\n");
    /* their constants are not rounded; one that both kinds read is there twice */
    assert_pass_rewrites(half, "skip_op_types=Mul",
        "x = input f32[4]\nw = const f32[4] {1, 2, 3, 0.1}\na = add x w\ny = mul a w\nreturn y\n",
        "x = input f16[4]\nw = const f32[4] {1, 2, 3, 0.1}\nw_0 = const f16[4] {1, 2, 3, 0.1}\n"
        "a = add x w_0\n%0 = cast a {to=1}\n%1 = mul %0 w\ny = cast %1 {to=10}\nreturn y\n");
    /* no pair of Casts between two of them, nor around a kept op next to them */
    assert_pass_rewrites(half, "skip_op_types=Gelu",
        "x = input f32[4]\na = gelu x\nb = gelu a\nc = relu b\nreturn c\n",
        "x = input f16[4]\n%0 = cast x {to=1}\na = gelu %0\nb = gelu a\n%1 = cast b {to=10}\n"
        "c = relu %1\nreturn c\n");
}
END_TEST

START_TEST(operators_without_half_stand_between_casts)
{
    assert_pass_rewrites(half, NULL,
        "b = input f32[1,9,4]\ns = input f32[1,1,9]\nm = const i64[1] {3}\n"
        "t = const f32[1] {0.1}\nk = relu s\nn = non_max_suppression b k m t\nreturn n\n",
        "b = input f16[1,9,4]\ns = input f16[1,1,9]\nm = const i64[1] {3}\n"
        "t = const f32[1] {0.1}\n%1 = cast b {to=1}\nk = relu s\n%0 = cast k {to=1}\n"
        "n = non_max_suppression %1 %0 m t\nreturn n\n");
    /* one slot alone: the scales of a Resize */
    assert_pass_rewrites(half, NULL,
        "x = input f32[1,1,4,4]\ns = const f32[4] {1,1,2,2}\ny = resize x _ s\nreturn y\n",
        "x = input f16[1,1,4,4]\ns = const f32[4] {1,1,2,2}\ny = resize x _ s\nreturn y\n");
}
END_TEST

START_TEST(numbers_made_of_sizes_are_not_rounded)
{
    assert_pass_rewrites(half, NULL,
        "x = input f32[1,1,h,w]\nf = const f32[] {1.1}\nd = shape x\n"
        "e = cast d {to=1}\ng = mul e f\nl = floor g\ni = cast l {to=7}\n"
        "y = resize x _ _ i\nz = add l f\nreturn y, z\n",
        "x = input f16[1,1,h,w]\nf = const f32[] {1.1}\nf_0 = const f16[] {1.1}\nd = shape x\n"
        "e = cast d {to=1}\ng = mul e f\nl = floor g\n%0 = cast l {to=10}\ni = cast l {to=7}\n"
        "y = resize x _ _ i\nz = add %0 f_0\nreturn y, z\n");
}
END_TEST

START_TEST(casts_without_effect_are_removed)
{
    assert_pass_rewrites(half, NULL,
        "x = input f16[4]\na = cast x {to=1}\nb = relu a\nc = cast b {to=10}\nreturn c\n",
        "x = input f16[4]\nc = relu x\nreturn c\n");
    /* an output that would be an input keeps its Cast */
    assert_pass_rewrites(half, NULL, "x = input f32[4]\ny = cast x {to=10}\nreturn y\n",
        "x = input f16[4]\ny = cast x {to=10}\nreturn y\n");
}
END_TEST

START_TEST(regions_go_along)
{
    assert_pass_rewrites(half, "skip_op_types=Gelu",
        "q = input bool[]\nx = input f32[4]\nw = const f32[4] {1,2,3,4}\n"
        "r = if q {\n  then_branch { a = mul x w; return a }\n"
        "  else_branch { b = gelu x; return b }\n}\nreturn r\n",
        "q = input bool[]\nx = input f16[4]\nw = const f16[4] {1,2,3,4}\n%0 = cast x {to=1}\n"
        "r = if q {\n  then_branch { a = mul x w; return a }\n"
        "  else_branch { b = gelu %0; %1 = cast b {to=10}; return %1 }\n}\nreturn r\n");
    assert_pass_rewrites(half, NULL,
        "x = input f32[4]\nn = const i64[] {3}\nc = const bool[] {true}\n"
        "r, t = loop n c x {\n  body {\n    i = input i64[]\n    d = input bool[]\n"
        "    s = input f32[4]\n    k = cast i {to=1}\n    u = add s k\n"
        "    return d, u, u\n  }\n}\nreturn r, t\n",
        "x = input f16[4]\nn = const i64[] {3}\nc = const bool[] {true}\n"
        "r, t = loop n c x {\n  body {\n    i = input i64[]\n    d = input bool[]\n"
        "    s = input f16[4]\n    k = cast i {to=10}\n    u = add s k\n"
        "    return d, u, u\n  }\n}\nreturn r, t\n");
    /* one that is skipped keeps all that is in it */
    assert_pass_rewrites(half, "skip_op_types=If",
        "q = input bool[]\nx = input f32[4]\nr = if q {\n  then_branch { a = relu x; return a }\n"
        "  else_branch { return x }\n}\nreturn r\n",
        "q = input bool[]\nx = input f16[4]\n%0 = cast x {to=1}\n"
        "%1 = if q {\n  then_branch { a = relu %0; return a }\n"
        "  else_branch { return %0 }\n}\nr = cast %1 {to=10}\nreturn r\n");
}
END_TEST

START_TEST(sequences_go_along_or_stay_whole)
{
    assert_pass_rewrites(half, NULL,
        "x = input f32[4]\ns = sequence_empty\nt = sequence_insert s x\nu = const i64[] {0}\n"
        "y = sequence_at t u\nreturn y\n",
        "x = input f16[4]\ns = sequence_empty {dtype=10}\nt = sequence_insert s x\n"
        "u = const i64[] {0}\ny = sequence_at t u\nreturn y\n");
    assert_pass_rewrites(half, "skip_op_types=SequenceInsert",
        "x = input f32[4]\ns = sequence_empty\nt = sequence_insert s x\nu = const i64[] {0}\n"
        "y = sequence_at t u\nz = neg y\nreturn z\n",
        "x = input f16[4]\n%0 = cast x {to=1}\ns = sequence_empty\nt = sequence_insert s %0\n"
        "u = const i64[] {0}\ny = sequence_at t u\n%1 = cast y {to=10}\nz = neg %1\nreturn z\n");
}
END_TEST

START_TEST(clipped_constants_are_reported)
{
    prt_graph *g = graph_from_text("x = input f32[2]\nbig = const f32[2] {1e6, -inf}\n"
                                   "eps = const f32[] {1e-12}\nneg = const f32[1] {-1e-9}\n"
                                   "many = const f32[2] {1e-12, nan}\n"
                                   "a = add x big\nb = add a eps\nc = add b neg\nd = add c many\n"
                                   "return d\n");
    ck_assert_str_eq(pass_notes(g, half, NULL),
        "Clip big to range (-65500.0, 65500.0)\n"
        "Set Node eps from 9.999999960041972e-13 to 1e-07\n"
        "Set Node neg from -9.999999717180685e-10 to -1e-07\n");
    ck_assert_graph(g,
        "x = input f16[2]\nbig = const f16[2] {65504, -65504}\n"
        "eps = const f16[] {1e-7}\nneg = const f16[1] {-1e-7}\n"
        "many = const f16[2] {0, nan}\n"
        "a = add x big\nb = add a eps\nc = add b neg\nd = add c many\nreturn d\n");
    module_free(g);
}
END_TEST

START_TEST(patterns_that_overflow_are_kept_on_demand)
{
    const char *const option = "enable_avoid_overflow_patterns=true";
    const char *const text =
        "x = input f32[2,512]\nm = input f32[512]\ne = const f32[] {0.001}\n"
        "a = const i64[1] {-1}\nq = mul x x\nv = reduce_mean q a\nw = add v e\ns = sqrt w\n"
        "d = div x s\nf = add d m\np = softmax f\nreturn p\n";
    assert_pass_rewrites(half, option, text,
        "x = input f16[2,512]\nm = input f16[512]\n%1 = cast m {to=1}\n%0 = cast x {to=1}\n"
        "e = const f32[] {0.001}\na = const i64[1] {-1}\nq = mul %0 %0\nv = reduce_mean q a\n"
        "w = add v e\ns = sqrt w\n%2 = cast s {to=10}\nd = div x %2\n%3 = cast d {to=1}\n"
        "f = add %3 %1\n%4 = softmax f\np = cast %4 {to=10}\nreturn p\n");
    prt_graph *g = graph_from_text(text);
    ck_assert(run_pass(g, half, NULL));
    ck_assert_ptr_null(strstr(graph_text(g), "cast"));
    module_free(g);
    /* few elements do not overflow */
    g = graph_from_text("x = input f32[2,16]\na = const i64[1] {-1}\nv = reduce_mean x a\n"
                        "return v\n");
    ck_assert(run_pass(g, half, option));
    ck_assert_ptr_null(strstr(graph_text(g), "cast"));
    module_free(g);
}
END_TEST

START_TEST(mixed_converts_heavy_operators)
{
    assert_pass_rewrites("float_to_mixed", NULL,
        "x = input f32[4,4]\nw = const f32[4,4] fill 0.5\nb = const f32[4] {1,2,3,0.1}\n"
        "p = matmul x w\nt = transpose p\nq = matmul t w\nr = add q b\nreturn r\n",
        "x = input f32[4,4]\nb = const f32[4] {1,2,3,0.1}\nw = const f16[4,4] fill 0.5\n"
        "%0 = cast x {to=10}\np = matmul %0 w\nt = transpose p\nq = matmul t w\n"
        "%1 = cast q {to=1}\nr = add %1 b\nreturn r\n");
    assert_pass_leaves("float_to_mixed", NULL, "x = input f32[2]\ny = add x x\nreturn y\n");
}
END_TEST

START_TEST(bfloat16_keeps_the_range)
{
    assert_pass_rewrites("float_to_bf16", "skip_op_types=Gelu",
        "x = input f32[2]\nw = const f32[2] {1e30, 1e-12}\ny = mul x w\nz = gelu y\nreturn z\n",
        "x = input bf16[2]\nw = const bf16[2] {1e30, 1e-12}\ny = mul x w\n%0 = cast y {to=1}\n"
        "%1 = gelu %0\nz = cast %1 {to=16}\nreturn z\n");
}
END_TEST

/* All sources of a mask: (1 - m) * -FLT_MAX, and the same from attributes and initial values.
 * With an infinity, 0 * -inf would be NaN. */
START_TEST(bfloat16_constants_stay_finite)
{
    assert_pass_rewrites("float_to_bf16", NULL,
        "x = input f32[2]\ns = input i64[1]\nb = const f32[3] {3.4028235e38, -3.4028235e38, -inf}\n"
        "f = constant_of_shape s {value=f32[1] {-3.4028235e38}}\np = const i64[2] {1, 1}\n"
        "v = const f32[] {-3.4028235e38}\nq = pad x p v\nc = clip q v\nd = add f v\n"
        "return b, c, d\n",
        "x = input bf16[2]\ns = input i64[1]\n"
        "p = const i64[2] {1, 1}\nv = const bf16[] {-3.3895314e38}\n"
        "b = const bf16[3] {3.3895314e38, -3.3895314e38, -inf}\n"
        "f = constant_of_shape s {value=f32[1] {-3.3895314e38}}\n%0 = cast f {to=16}\n"
        "q = pad x p v\nc = clip q v\nd = add %0 v\nreturn b, c, d\n");
}
END_TEST

START_TEST(mask_values_of_attributes_are_clipped)
{
    const char *const text =
        "x = input f32[1,2,4]\nw = const f32[4,12] fill 0.5\nb = const f32[12] fill 0.1\n"
        "m = input i32[1,2]\n"
        "y = ms_attention x w b m {num_heads=2, mask_filter_value=-3.4028235e38}\nreturn y\n";
    prt_graph *g = graph_from_text(text);
    ck_assert(run_pass(g, half, NULL));
    assert_text_has(graph_text(g), "mask_filter_value=-65500");
    module_free(g);
    g = graph_from_text(text);
    ck_assert(run_pass(g, "float_to_bf16", NULL));
    assert_text_has(graph_text(g), "mask_filter_value=-3.3895314e+38");
    module_free(g);
}
END_TEST

/* Q, K, V, the mask and the past get one type, although each has a separate type variable. */
START_TEST(attention_is_of_one_type)
{
    const char *const text =
        "q = input f32[1,2,3,4]\nk = input f32[1,2,5,4]\nv = input f32[1,2,5,4]\n"
        "m = input f32[3,5]\ny = attention q k v m\nreturn y\n";
    assert_pass_rewrites("float_to_mixed", NULL, text,
        "q = input f32[1,2,3,4]\nk = input f32[1,2,5,4]\nv = input f32[1,2,5,4]\n"
        "m = input f32[3,5]\n%0 = const f32[] {-65500}\n%1 = const f32[] {-3.4028235e38}\n"
        "%2 = less m %1\n%3 = max m %0\n%4 = where %2 m %3\n%5 = cast %4 {to=10}\n"
        "%6 = cast v {to=10}\n%7 = cast k {to=10}\n%8 = cast q {to=10}\n"
        "%9 = attention %8 %7 %6 %5\ny = cast %9 {to=1}\nreturn y\n");
    /* also where a neighbour is kept */
    prt_graph *g =
        graph_from_text("q = input f32[1,3,8]\nv = input f32[1,3,8]\nw = gelu v\nn = gelu q\n"
                        "y = attention q q w {q_num_heads=2, kv_num_heads=2}\n"
                        "z = ms_multi_head_attention n q w {num_heads=2}\nreturn y, z\n");
    ck_assert(run_pass(g, half, "skip_op_types=Gelu"));
    for (const prt_op *op = g->first; op != NULL; op = op->next)
        for (uint32_t i = 0;
             i < op->n_in && !prt_op_is(op, PRT_OP_gelu) && !prt_op_is(op, PRT_OP_cast); i++)
            ck_assert_int_eq(op->in[i].value->type->dtype, PRT_DTYPE_f16);
    module_free(g);
}
END_TEST

/* All that float_to_mixed makes float16, with every float input it may have. */
START_TEST(heavy_operators_have_one_type)
{
    static const char *const texts[] = {
        "a = input f32[2,3]\nb = input f32[3,4]\nc = input f32[4]\ny = gemm a b c\nreturn y\n",
        "a = input f32[2,3]\nb = input f32[3,4]\nc = input f32[4]\ny = ms_fused_gemm a b c "
        "{activation=\"Relu\"}\nreturn y\n",
        "a = input f32[2,3]\nb = input f32[3,4]\ny = ms_fused_matmul a b\nreturn y\n",
        "a = input f32[2,3]\nb = input f32[3,4]\ny = einsum a b {equation=\"ij,jk->ik\"}\n"
        "return y\n",
        "x = input f32[1,2,4,4]\nw = input f32[3,2,3,3]\nb = input f32[3]\ny = conv x w b\n"
        "return y\n",
        "x = input f32[1,2,4,4]\nw = input f32[2,3,3,3]\nb = input f32[3]\n"
        "y = conv_transpose x w b\nreturn y\n",
        "x = input f32[1,2,4,4]\nw = input f32[3,2,3,3]\nb = input f32[3]\n"
        "z = input f32[1,3,2,2]\ny = ms_fused_conv x w b z {activation=\"Relu\"}\nreturn y\n",
        "x = input f32[5,1,2]\nw = input f32[1,12,2]\nr = input f32[1,12,3]\nb = input f32[1,24]\n"
        "h = input f32[1,1,3]\nc = input f32[1,1,3]\np = input f32[1,9]\n"
        "y, z, k = lstm x w r b _ h c p {hidden_size=3}\nreturn y, z, k\n",
        "x = input f32[5,1,2]\nw = input f32[1,9,2]\nr = input f32[1,9,3]\nb = input f32[1,18]\n"
        "h = input f32[1,1,3]\ny, z = gru x w r b _ h {hidden_size=3}\nreturn y, z\n",
        "x = input f32[5,1,2]\nw = input f32[1,3,2]\nr = input f32[1,3,3]\nb = input f32[1,6]\n"
        "h = input f32[1,1,3]\ny, z = rnn x w r b _ h {hidden_size=3}\nreturn y, z\n",
        "q = input f32[1,2,3,4]\nk = input f32[1,2,5,4]\nv = input f32[1,2,5,4]\n"
        "m = input f32[3,9]\np = input f32[1,2,4,4]\no = input f32[1,2,4,4]\n"
        "y, a, b = attention q k v m p o\nreturn y, a, b\n",
        "q = input f32[1,3,8]\nk = input f32[1,3,8]\nv = input f32[1,3,8]\nb = input f32[24]\n"
        "m = input f32[1,2,3,3]\ny = ms_multi_head_attention q k v b _ m {num_heads=2}\n"
        "return y\n",
        "x = input f32[1,2,4]\nw = input f32[4,12]\nb = input f32[12]\nm = input f32[1,2,2,2]\n"
        "y = ms_attention x w b _ _ m {num_heads=2}\nreturn y\n",
        "q = input f32[1,1,16]\nk = input f32[1,1,8]\nv = input f32[1,1,8]\n"
        "p = input f32[1,1,4,8]\no = input f32[1,1,4,8]\ns = input i32[1]\nt = input i32[]\n"
        "c = input f32[8,4]\ni = input f32[8,4]\ny, a, b = ms_group_query_attention q k v p o s t "
        "c i {num_heads=2, kv_num_heads=1, do_rotary=1}\nreturn y, a, b\n",
    };
    for (size_t k = 0; k < PRT_COUNT_OF(texts); k++) {
        prt_graph *g = graph_from_text(texts[k]);
        ck_assert(run_pass(g, "float_to_mixed", NULL));
        const prt_op *op = ((prt_value *)prt_map_find(&g->module->names, PRT_STR("y")))->def;
        ck_assert(prt_op_is(op, PRT_OP_cast));
        op = op->in[0].value->def;
        for (uint32_t i = 0; i < op->n_in; i++)
            ck_assert_msg(op->in[i].value == NULL || op->in[i].value->type->dtype != PRT_DTYPE_f32,
                "%s: input %u", op->def->name, i);
        for (uint32_t i = 0; i < op->n_out; i++)
            ck_assert_int_eq(op->out[i].type->dtype, PRT_DTYPE_f16);
        module_free(g);
    }
}
END_TEST

/* Rows that are masked whole are uniform: with -inf they would be 0, or NaN elsewhere. */
START_TEST(masks_stay_finite_in_mixed_attention)
{
    const char *const text = "q = input f32[1,1,2,4]\nm = input f32[2,2]\nf = const f32[] {-1e38}\n"
                             "o = exp m\nn = mul o f\ny = attention q q q n\nreturn y\n";
    prt_graph *before = graph_from_text(text), *after = graph_from_text(text);
    ck_assert(run_pass(after, "float_to_mixed", NULL));
    assert_same_results(before, after, 1e-2, 7);
    module_free(before);
    module_free(after);
}
END_TEST

START_TEST(cases_stay_close)
{
    assert_model_stays_close("bf16_mask", "float_to_bf16", NULL, 2e-2);
    assert_model_stays_close("bf16_mask", half, NULL, 1e-2);
    assert_model_stays_close("mixed_attention", "float_to_mixed", NULL, 1e-2);
}
END_TEST

START_TEST(trained_models_stay_close)
{
    static const char *const models[] = { "digits", "charlm", "encoder" };
    for (size_t i = 0; i < 3; i++) {
        assert_model_stays_close(models[i], half, NULL, 1e-2);
        assert_model_stays_close(models[i], half, "enable_avoid_overflow_patterns=true", 1e-2);
        assert_model_stays_close(models[i], "float_to_mixed", NULL, 1e-2);
        assert_model_stays_close(models[i], "float_to_bf16", NULL, 5e-2);
    }
}
END_TEST

PRT_TEST_MAIN("pass/precision/half", all_values_become_half, other_types_are_left,
    skipped_operators_stand_between_casts, operators_without_half_stand_between_casts,
    numbers_made_of_sizes_are_not_rounded, casts_without_effect_are_removed, regions_go_along,
    sequences_go_along_or_stay_whole, clipped_constants_are_reported,
    patterns_that_overflow_are_kept_on_demand, mixed_converts_heavy_operators,
    bfloat16_keeps_the_range, bfloat16_constants_stay_finite, mask_values_of_attributes_are_clipped,
    attention_is_of_one_type, heavy_operators_have_one_type, masks_stay_finite_in_mixed_attention,
    cases_stay_close, trained_models_stay_close)
