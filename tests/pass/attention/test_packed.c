/* SPDX-License-Identifier: MIT */
/*
 * test_packed.c — packed_transformer on a small transformer: two samples a row each, and the
 * same samples packed into other rows.
 * Covers: packed_shape.c, packed_walk.c.
 */
#include <stdio.h>
#include <string.h>

#include "ir/extra.h"
#include "pass/attention/packed.h"
#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "packed_transformer"
#define OPTIONS "max_valid_num=2, segment_max_size=4"

/* Embedding, one block of attention with two heads and a mask, residual sum and norm. */
#define INPUTS "ids = input i64[2,4]\nmask = input i64[2,4]\n"
#define WEIGHTS                                                                                    \
    "table = const f32[6,4] {1,2,3,4,-1,0.5,2,1,0,1,0,-1,2,2,-2,1,0.25,-0.5,1,3,-3,1,1,0}\n"       \
    "wq = const f32[4,4] {1,0,0.5,0,0,1,0,-1,2,0,1,0,0,0,0,1}\n"                                   \
    "wk = const f32[4,4] {0.5,0,0,1,0,1,0,0,0,-1,1,0,1,0,0,2}\n"                                   \
    "wv = const f32[4,4] {1,1,0,0,0,1,1,0,0,0,1,1,1,0,0,1}\n"                                      \
    "bias = const f32[4] {0.1,0.2,0.3,0.4}\ngamma = const f32[4] {1,2,1,1}\n"                      \
    "heads = const i64[4] {2,4,2,2}\nmerged = const i64[3] {2,4,4}\none = const f32[] {1}\n"       \
    "big = const f32[] {-10000}\na12 = const i64[2] {1,2}\nroot = const f32[] {1.5}\n"
#define MASKED "u = unsqueeze mask a12\nc = cast u {to=1}\nn = sub one c\nm = mul n big\n"
#define PROJECT "q0 = matmul e wq\nq1 = add q0 bias\nk0 = matmul e wk\nv0 = matmul e wv\n"
#define ATTEND                                                                                     \
    "q2 = reshape q1 heads\nq = transpose q2 {perm=[0,2,1,3]}\n"                                   \
    "k1 = reshape k0 heads\nk = transpose k1 {perm=[0,2,3,1]}\n"                                   \
    "v1 = reshape v0 heads\nv = transpose v1 {perm=[0,2,1,3]}\n"                                   \
    "s0 = matmul q k\ns1 = div s0 root\ns = add s1 m\np = softmax s\n"                             \
    "o0 = matmul p v\no1 = transpose o0 {perm=[0,2,1,3]}\no = reshape o1 merged\n"
#define REST "r = add e o\nl = layer_normalization r gamma bias\n"
#define HEAD "zero = const i64[] {0}\nf = gather l zero {axis=1}\ny = matmul f wq\nreturn y\n"
#define BLOCK MASKED PROJECT ATTEND REST
#define MODEL INPUTS WEIGHTS "e = gather table ids\n" BLOCK HEAD

/* Inputs become constants: "name = input TYPE" is found and replaced. */
static char *with_constant(char *text, const char *name, const char *value)
{
    static char buffer[2][16384];
    static int round;
    char *to = buffer[round++ & 1], start[64];
    (void)snprintf(start, sizeof(start), "%s = input", name);
    const char *at = strstr(text, start);
    ck_assert_msg(at != NULL, "no input %s in\n%s", name, text);
    (void)snprintf(to, sizeof(buffer[0]), "%.*s%s = const %s%s", (int)(at - text), text, name,
        value, strchr(at, '\n'));
    return to;
}

/* Asserts that the model gives the same results for {1,2,3} and {4,5} in one row each, and
 * packed into the first rows. */
static void check_packed(const char *model, const char *options, double tolerance)
{
    static char text[16384];
    (void)snprintf(text, sizeof(text), "%s", model);
    char *plain = with_constant(text, "ids", "i64[2,4] {1,2,3,0,4,5,0,0}");
    prt_graph *before = graph_from_text(with_constant(plain, "mask", "i64[2,4] {1,1,1,0,1,1,0,0}"));
    prt_graph *g = graph_from_text(model);
    ck_assert(run_pass(g, PASS, options));
    (void)snprintf(text, sizeof(text), "%s", graph_text(g));
    char *packed = with_constant(text, "ids", "i64[2,4] {1,2,3,4,5,0,0,0}");
    packed = with_constant(packed, "mask", "i64[2,4] {1,1,1,1,1,0,0,0}");
    prt_graph *after = graph_from_text(with_constant(packed, "unpack_info", "i32[2,1] {3,2}"));
    assert_same_results(before, after, tolerance, 5);
    module_free(before);
    module_free(g);
    module_free(after);
}

static uint32_t count_text(const prt_graph *g, const char *part)
{
    uint32_t n = 0;
    for (const char *at = graph_text(g); (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

START_TEST(packed_samples_give_the_same_results)
{
    check_packed(MODEL, OPTIONS, 1e-6);
}
END_TEST

START_TEST(projections_and_sums_stay_packed)
{
    prt_graph *g = graph_from_text(MODEL);
    ck_assert(run_pass(g, PASS, OPTIONS ", efficiency_priority=true"));
    /* gc_unpack of Q, K, V, the mask and the head; one gc_pack */
    ck_assert_uint_eq(count_text(g, "= gc_unpack "), 5);
    ck_assert_uint_eq(count_text(g, "= gc_repack "), 1);
    ck_assert_ptr_nonnull(strstr(graph_text(g), "unpack_info = input i32[2,1]"));
    ck_assert_ptr_nonnull(strstr(graph_text(g), "r = add e o\n"));
    prt_for_each_op (op, g) {
        int64_t on = 0;
        ck_assert(!prt_op_is(op, PRT_OP_gc_unpack) ||
            (prt_op_mark_i64(op, "__efficiency_priority", &on) && on == 1));
        ck_assert(!prt_op_mark_i64(op, "__enable_double_batch_unpack", &on));
    }
    module_free(g);
}
END_TEST

START_TEST(matrices_of_tokens_stay_packed)
{
    check_packed(INPUTS WEIGHTS
        "rows = const i64[2] {8,4}\nback = const i64[3] {2,4,4}\n"
        "e0 = gather table ids\ne = reshape e0 rows\n" MASKED PROJECT
        "q2 = reshape q1 heads\nq = transpose q2 {perm=[0,2,1,3]}\n"
        "k1 = reshape k0 heads\nk = transpose k1 {perm=[0,2,3,1]}\n"
        "v1 = reshape v0 heads\nv = transpose v1 {perm=[0,2,1,3]}\n"
        "s0 = matmul q k\ns = add s0 m\np = softmax s\no0 = matmul p v\n"
        "o1 = transpose o0 {perm=[0,2,1,3]}\no = reshape o1 rows\n"
        "r = add e o\nl0 = layer_normalization r gamma bias\nl = reshape l0 back\n" HEAD,
        OPTIONS, 1e-6);
}
END_TEST

/* GPT-2: one Gemm of a matrix of tokens makes queries, keys and values. */
START_TEST(a_gemm_of_tokens_and_its_split_stay_packed)
{
    static const char *const model = INPUTS WEIGHTS
        "rows = const i64[2] {8,4}\nback = const i64[3] {2,4,4}\n"
        "all = concat wq wk wv {axis=1}\nb3 = concat bias bias bias {axis=0}\n"
        "e0 = gather table ids\ne = reshape e0 rows\n" MASKED
        "qkv = gemm e all b3\nq1, k0, v0 = split qkv {axis=1}\n"
        "q2 = reshape q1 heads\nq = transpose q2 {perm=[0,2,1,3]}\n"
        "k1 = reshape k0 heads\nk = transpose k1 {perm=[0,2,3,1]}\n"
        "v1 = reshape v0 heads\nv = transpose v1 {perm=[0,2,1,3]}\n"
        "s0 = matmul q k\ns = add s0 m\np = softmax s\no0 = matmul p v\n"
        "o1 = transpose o0 {perm=[0,2,1,3]}\no = reshape o1 rows\nz = gemm o wq bias\n"
        "r = add e z\nl0 = layer_normalization r gamma bias\nl = reshape l0 back\n" HEAD;
    check_packed(model, OPTIONS, 1e-6);
    prt_graph *g = graph_from_text(model);
    ck_assert(run_pass(g, PASS, OPTIONS));
    ck_assert_uint_eq(count_text(g, "= gc_unpack "), 5); /* Q, K, V, the mask and the head */
    module_free(g);
    /* rows of C are tokens, or tokens are columns: samples would be needed */
    assert_pass_fails(PASS, OPTIONS,
        INPUTS WEIGHTS "rows = const i64[2] {8,4}\ne0 = gather table ids\ne = reshape e0 rows\n"
                       "c = input f32[8,4]\ny = gemm e wq c\nreturn y\n",
        POPRT_E_UNSUPPORTED, "Gemm reads tokens");
    assert_pass_fails(PASS, OPTIONS,
        INPUTS WEIGHTS "rows = const i64[2] {8,4}\ne0 = gather table ids\ne = reshape e0 rows\n"
                       "c = input f32[8,4]\ny = gemm e c {transA=1}\nreturn y\n",
        POPRT_E_UNSUPPORTED, "Gemm reads tokens");
}
END_TEST

/* RoBERTa looks up token types in a table with a row for each sample of the batch. */
START_TEST(tables_get_a_row_for_each_packed_sample)
{
    prt_graph *g = graph_from_text(
        INPUTS WEIGHTS "types = const i64[2,6] {0,1,1,0,2,2,0,1,1,0,2,2}\n"
                       "i = gather_elements types ids {axis=1}\nt = gather table i\n"
                       "e0 = gather table ids\ne = add e0 t\n" BLOCK HEAD);
    ck_assert(run_pass(g, PASS, "max_valid_num=5, segment_max_size=4"));
    ck_assert_ptr_nonnull(strstr(graph_text(g), "= expand "));
    ck_assert(g->ret->in[0].value->type->dims[0] == 5);
    module_free(g);
    check_packed(INPUTS WEIGHTS "types = const i64[2,6] {0,1,1,0,2,2,0,1,1,0,2,2}\n"
                                "i = gather_elements types ids {axis=1}\nt = gather table i\n"
                                "e0 = gather table ids\ne = add e0 t\n" BLOCK HEAD,
        OPTIONS, 1e-6);
}
END_TEST

START_TEST(position_tables_are_packed)
{
    check_packed(INPUTS WEIGHTS
        "w = gather table ids\n"
        "pos = const f32[1,4,4] {1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1}\ne = add w pos\n" BLOCK HEAD,
        OPTIONS, 1e-6);
    /* a group of the ids alone; the mask belongs to it */
    check_packed(MODEL, OPTIONS ", dynamic_groups=[[ids,]]", 1e-6);
    /* samples are at most 3 long: three positions are left */
    check_packed(INPUTS WEIGHTS
        "w = gather table ids\n"
        "pos = const f32[1,4,4] {1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1}\ne = add w pos\n" BLOCK HEAD,
        "max_valid_num=2, segment_max_size=3", 1e-6);
    assert_pass_fails(PASS, "max_valid_num=2, segment_max_size=5",
        INPUTS WEIGHTS
        "w = gather table ids\npos = const f32[4,4] fill 1\ne = add w pos\n" BLOCK HEAD,
        POPRT_E_SHAPE, "has 4 positions");
}
END_TEST

/* A constant with a row for each sample, as exporters fold position embeddings: all rows alike. */
START_TEST(positions_for_each_sample_are_packed)
{
    static const char *const three = "max_valid_num=3, segment_max_size=4";
    static const char *const model =
        INPUTS "table = const f32[6,1] {1,2,3,4,5,6}\np = const f32[2,4,1] {%s}\n"
               "e = gather table ids\ny = add e p\nreturn y\n";
    char text[1024];
    (void)snprintf(text, sizeof(text), model, "1,2,3,4,1,2,3,4");
    prt_graph *g = graph_from_text(text);
    ck_assert(run_pass(g, PASS, three));
    ck_assert_msg(strstr(graph_text(g), "const f32[1,4,1] {1, 2, 3, 4}") != NULL, "%s",
        graph_text(g));
    module_free(g);
    (void)snprintf(text, sizeof(text), model, "1,2,3,4,1,2,3,5");
    assert_pass_fails(PASS, three, text, POPRT_E_SHAPE, "do not broadcast");
}
END_TEST

START_TEST(outputs_are_unpacked)
{
    prt_graph *g = graph_from_text(INPUTS WEIGHTS "e = gather table ids\n" BLOCK "return l\n");
    ck_assert(run_pass(g, PASS,
        "max_valid_num=5, segment_max_size=1+2, "
        "dynamic_groups=[[ids,mask]]"));
    const prt_type *type = g->ret->in[0].value->type;
    ck_assert_int_eq(type->rank, 3);
    ck_assert_int_eq(type->dims[0], 5);
    ck_assert_int_eq(type->dims[1], 3);
    ck_assert(prt_op_is(g->ret->in[0].value->def, PRT_OP_gc_unpack));
    ck_assert(prt_str_is(g->output_names.data[0], "l"));
    ck_assert_ptr_nonnull(strstr(graph_text(g), "unpack_info = input i32[5,2]"));
    module_free(g);
}
END_TEST

/* A value has one unpacked form, and an output that is an input by name stays that. */
START_TEST(outputs_listed_twice_are_unpacked_once)
{
    prt_graph *g = graph_from_text("x = input f32[2,4,3]\nh = const i64[2] {8,3}\nn = neg x\n"
                                   "f = reshape n h\ny = neg f\n"
                                   "return y, y, y as again, x, x as copy, x\n");
    ck_assert(run_pass(g, PASS,
        "max_valid_num=5, segment_max_size=1+3, "
        "dynamic_groups=[[x]]"));
    const prt_use *out = g->ret->in;
    ck_assert_ptr_eq(out[0].value, out[1].value);
    ck_assert_ptr_eq(out[0].value, out[2].value);
    ck_assert_ptr_eq(out[3].value, g->inputs.data[0]);
    ck_assert_ptr_eq(out[5].value, g->inputs.data[0]);
    ck_assert(prt_op_is(out[0].value->def, PRT_OP_gc_unpack));
    ck_assert(prt_op_is(out[4].value->def, PRT_OP_gc_unpack));
    ck_assert_uint_eq(count_text(g, "= gc_unpack "), 2);
    module_free(g);
}
END_TEST

START_TEST(packing_ends_where_the_head_begins)
{
    prt_graph *g = graph_from_text(
        INPUTS WEIGHTS "e = gather table ids\n" BLOCK "y = matmul l wq\nz = relu y\nreturn z\n");
    ck_assert(run_pass(g, PASS, OPTIONS ", head_pattern='s:0->LayerNormalization:1->MatMul:2'"));
    ck_assert_ptr_nonnull(strstr(graph_text(g), "l = layer_normalization %"));
    module_free(g);
}
END_TEST

START_TEST(shapes_are_followed)
{
    static const struct {
        const char *x, *y, *now, *want;
    } cases[] = { { "2,4,6", "2,4,3,2", "5,7,6", "5,7,3,2" },
        { "2,4", "2,1,1,4", "5,7", "5,1,1,7" }, { "1,4", "1,1,1,4", "5,7", "5,1,1,7" },
        { "2,3,4,5", "6,4,5", "7,3,9,5", "21,9,5" }, { "2,4,3,2", "2,4,6", "5,7,3,2", "5,7,6" },
        { "1,4,6", "4,6", "5,7,6", "35,6" }, { "2,4,6", "4,2,6", "5,7,6", NULL },
        { "8,4", "2,4,4", "9,4", NULL }, { "2,4", "2,4,1", "n,4", NULL } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        int64_t dims[PRT_MAX_RANK];
        (void)snprintf(text, sizeof(text),
            "x = input f32[%s]\ny = input f32[%s]\nn = input f32[%s]\nw = input f32[%s]\n"
            "return x, y, n, w\n",
            cases[i].x, cases[i].y, cases[i].now, cases[i].want != NULL ? cases[i].want : "");
        prt_graph *g = graph_from_text(text);
        prt_value **in = g->inputs.data;
        ck_assert_msg(prt_packed_reshape(in[0]->type, in[1]->type, in[2]->type, dims) ==
                (cases[i].want != NULL),
            "%s", text);
        for (int32_t k = 0; cases[i].want != NULL && k < in[3]->type->rank; k++)
            ck_assert_int_eq(dims[k], in[3]->type->dims[k]);
        module_free(g);
    }
}
END_TEST

START_TEST(wrong_options_are_refused)
{
    assert_pass_fails(PASS, NULL, MODEL, POPRT_E_ARG, "max_valid_num");
    assert_pass_fails(PASS, "max_valid_num=2", MODEL, POPRT_E_ARG, "segment_max_size");
    assert_pass_fails(PASS, "max_valid_num=2, segment_max_size=4x", MODEL, POPRT_E_ARG, "13+51");
    assert_pass_fails(PASS, OPTIONS ", dynamic_groups=[[nobody]]", MODEL, POPRT_E_NOT_FOUND,
        "nobody");
    assert_pass_fails(PASS, OPTIONS, "x = input i64[n,4]\nreturn x\n", POPRT_E_UNSUPPORTED,
        "known shape");
    assert_pass_fails(PASS, OPTIONS,
        "x = input i64[2,4]\nunpack_info = input f32[]\nreturn x, unpack_info\n", POPRT_E_ARG,
        "already");
    assert_pass_fails(PASS, OPTIONS,
        "q = input bool[]\nx = input i64[2,4]\nr = if q {\n  then_branch { t = neg x; return t }\n"
        "  else_branch { return x }\n}\nreturn r\n",
        POPRT_E_UNSUPPORTED, "region");
    assert_pass_fails(PASS, "max_valid_num=3, segment_max_size=4",
        "x = input i64[2,4]\nh = const i64[2] {4,2}\ny = reshape x h\nreturn y\n",
        POPRT_E_UNSUPPORTED, "this Reshape");
    assert_pass_leaves(PASS, OPTIONS, "x = input f32[2,4]\ny = neg x\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/attention/packed", packed_samples_give_the_same_results,
    projections_and_sums_stay_packed, matrices_of_tokens_stay_packed,
    a_gemm_of_tokens_and_its_split_stay_packed, tables_get_a_row_for_each_packed_sample,
    position_tables_are_packed, positions_for_each_sample_are_packed, outputs_are_unpacked,
    outputs_listed_twice_are_unpacked_once, packing_ends_where_the_head_begins, shapes_are_followed,
    wrong_options_are_refused)
