/* SPDX-License-Identifier: MIT */
/* test_overflow.c — formulas with a finite result whose intermediate values overflow float16. */
#include <stdio.h>
#include <string.h>

#include "support/check_main.h"
#include "support/graph_text.h"

/* `x` is up to 600 in size; every operator rounds its result to float16. */
static const char head[] = "r = input f32[2,64]\nf = const f32[] {600}\na = const i64[1] {-1}\n"
                           "e = const f32[] {0.001}\nh = const f32[] {-0.5}\n"
                           "two = const f32[] {2}\nx = mul r f\n";

static prt_graph *half_of(const char *body, const char *options)
{
    char text[2048];
    (void)strcpy(text, head);
    (void)strcat(text, body);
    prt_graph *g = graph_from_text(text);
    ck_assert(run_pass(g, "float_to_half", options));
    return g;
}

/* The body gives "y", which stays close to that of a model that only takes and gives float16. */
static void ck_stays_finite(const char *body)
{
    static const char all[] = "skip_op_types=Add,Div,Exp,GlobalAveragePool,Log,Max,Mul,Neg,Pow,"
                              "Reciprocal,ReduceMean,ReduceSum,ReduceSumSquare,Relu,Reshape,"
                              "Softmax,Sqrt,Sub,Tanh";
    char text[1024];
    (void)snprintf(text, sizeof(text), "%sreturn y\n", body);
    prt_graph *before = half_of(text, all);
    prt_graph *after = half_of(text, "enable_avoid_overflow_patterns=true");
    assert_same_results(before, after, 2e-2, 11);
    module_free(before);
    module_free(after);
}

START_TEST(norms_of_large_values_stay_finite)
{
    static const char *const bodies[] = {
        "q = mul x x\nv = reduce_mean q a\nw = add v e\ns = sqrt w\ny = div x s\n",
        "q = pow x two\nv = reduce_mean q a\nw = add v e\ns = sqrt w\nt = reciprocal s\n"
        "y = mul x t\n",
        "q = pow x two\nv = reduce_mean q a\nw = add e v\ns = pow w h\ny = mul x s\n",
        "m = reduce_mean x a\nd = sub x m\nq = mul d d\nv = reduce_mean q a\nw = add v e\n"
        "s = sqrt w\ny = div d s\n",
        "m = reduce_mean x a\nq = mul x x\nv = reduce_mean q a\nk = mul m m\nu = sub v k\n"
        "w = add u e\ns = sqrt w\nd = sub x m\ny = div d s\n",
        "q = mul x x\nv = reduce_sum q a\ns = sqrt v\nm = max s e\ny = div x m\n",
        "q = reduce_sum_square x a\nw = max q e\ns = sqrt w\ny = div x s\n",
        "q = mul x x\nc = reshape q k\nv = global_average_pool c\nw = add v e\n"
        "y = sqrt w\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(bodies); i++) {
        char body[512];
        (void)strcpy(body, i + 1 == PRT_COUNT_OF(bodies) ? "k = const i64[4] {1,2,8,8}\n" : "");
        (void)strcat(body, bodies[i]);
        ck_stays_finite(body);
    }
}
END_TEST

START_TEST(exponentials_and_powers_stay_finite)
{
    /* a sigmoid, a softplus, a softmax without subtraction of the maximum, GELU by tanh */
    ck_stays_finite("t = const f32[] {0.04}\nz = mul x t\nn = neg z\no = exp n\n"
                    "i = const f32[] {1}\np = add o i\ny = div i p\n");
    ck_stays_finite("t = const f32[] {0.04}\nz = mul x t\no = exp z\ni = const f32[] {1}\n"
                    "p = add o i\ny = log p\n");
    ck_stays_finite("t = const f32[] {0.04}\nz = mul x t\no = exp z\ns = reduce_sum o a\n"
                    "y = div o s\n");
    ck_stays_finite("t = const f32[] {3}\nk = const f32[] {0.044715}\nc = pow x t\n"
                    "m = mul c k\nn = add x m\np = tanh n\ny = mul x p\n");
}
END_TEST

/* Four masks of -20000 on all scores: as infinities they would make NaN. */
START_TEST(sums_of_masks_stay_finite)
{
    ck_stays_finite("b = const f32[64] fill -20000\nn = mul r two\ns = sub n r\nt = sub s r\n"
                    "m = add t b\nu = add m b\nv = add u b\nw = add v b\nk = add w r\n"
                    "y = softmax k\n");
}
END_TEST

/* A region ends where numbers are small again, and at products. */
START_TEST(other_operators_become_half)
{
    prt_graph *g = half_of("q = mul x x\nv = reduce_mean q a\nw = add v e\ns = sqrt w\n"
                           "y = div x s\nz = relu y\nreturn z\n",
        "enable_avoid_overflow_patterns=true");
    const prt_value *y = prt_map_find(&g->module->names, PRT_STR("y"));
    const prt_value *w = prt_map_find(&g->module->names, PRT_STR("w"));
    ck_assert_int_eq(y->type->dtype, PRT_DTYPE_f16);
    ck_assert_int_eq(w->type->dtype, PRT_DTYPE_f32);
    module_free(g);
    g = half_of("q = mul x x\nm = const f32[64,4] fill 0.1\nc = matmul q m\nd = relu c\n"
                "return d\n",
        "enable_avoid_overflow_patterns=true");
    const prt_value *c = prt_map_find(&g->module->names, PRT_STR("c"));
    ck_assert_int_eq(c->type->dtype, PRT_DTYPE_f16);
    module_free(g);
}
END_TEST

/* A Clip within the range of float16 ends a region, one without bounds does not. */
START_TEST(clips_end_regions)
{
    prt_graph *g = half_of("l = const f32[] {-60000}\nu = const f32[] {60000}\nq = mul x x\n"
                           "c = clip q l u\ny = add c x\nk = clip q l\nz = add k x\n"
                           "return y, z\n",
        "enable_avoid_overflow_patterns=true");
    assert_text_has(graph_text(g), "y");
    const prt_value *y = prt_map_find(&g->module->names, PRT_STR("y"));
    const prt_value *z = prt_map_find(&g->module->names, PRT_STR("z"));
    ck_assert(!prt_op_is(y->def, PRT_OP_cast)); /* Add of float16 */
    ck_assert(prt_op_is(z->def, PRT_OP_cast));  /* after an Add of float32 */
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("pass/precision/overflow", norms_of_large_values_stay_finite,
    exponentials_and_powers_stay_finite, sums_of_masks_stay_finite, other_operators_become_half,
    clips_end_regions)
