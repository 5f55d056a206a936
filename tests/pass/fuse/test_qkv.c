/* SPDX-License-Identifier: MIT */
/* test_qkv.c — fused_attention: one branch for Q, K and V. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "fused_attention";

#define WEIGHTS                                                                                    \
    "wq = const f32[2,4] {1,2,3,4,5,6,7,8}\nwk = const f32[2,4] {8,7,6,5,4,3,2,1}\n"               \
    "wv = const f32[2,4] {1,-1,2,-2,3,-3,4,-4}\nbq = const f32[4] {1,2,3,4}\n"                     \
    "bk = const f32[4] {4,3,2,1}\n"
#define PLAIN                                                                                      \
    "to = const i64[4] {0,0,2,2}\nmq = matmul x wq @mq\naq = add mq bq\nrq = reshape aq to\n"      \
    "q = transpose rq {perm=[0,2,1,3]}\nmk = matmul x wk\nak = add bk mk\nrk = reshape ak to\n"    \
    "k = transpose rk {perm=[0,2,3,1]}\nmv = matmul x wv\nav = add mv bq\nrv = reshape av to\n"    \
    "v = transpose rv {perm=[0,2,1,3]}\n"
#define END "s = matmul q k\np = softmax s\ny = matmul p v\nreturn y\n"

START_TEST(three_branches_become_one)
{
    assert_pass_rewrites(pass, NULL, "x = input f32[b,3,2]\n" WEIGHTS PLAIN END,
        "x = input f32[b,3,2]\n" WEIGHTS "to = const i64[4] {0,0,2,2}\n"
        "wq_0 = const f32[2,12] {1,2,3,4,8,7,6,5,1,-1,2,-2,5,6,7,8,4,3,2,1,3,-3,4,-4}\n"
        "bq_1 = const f32[12] {1,2,3,4,4,3,2,1,1,2,3,4}\n%0 = const i64[4] {0,3,6,2}\n"
        "%1 = const i64[3] {2,2,2}\n%2 = matmul x wq_0 @mq\n%3 = add %2 bq_1\n%4 = reshape %3 %0\n"
        "%5 = transpose %4 {perm=[0,2,1,3]}\nq, %6, v = split %5 %1 {axis=1} @mq\n"
        "k = transpose %6 {perm=[0,1,3,2]}\n" END);
    assert_pass_keeps_results("x = input f32[b,3,2]\n" WEIGHTS PLAIN END, pass, 0);
    assert_pass_keeps_results("x = input f32[2,3,2]\n" WEIGHTS PLAIN END, pass, 0);
}
END_TEST

#define FLAT                                                                                       \
    "x3 = input f32[2,3,2]\nf = const i64[2] {-1,2}\nx = reshape x3 f\nt3 = const i64[3] "         \
    "{2,3,4}\n"                                                                                    \
    "to = const i64[4] {2,3,2,2}\nmq = matmul x wq\nfq = reshape mq t3\naq = add fq bq\n"          \
    "rq = reshape aq to\nq = transpose rq {perm=[0,2,1,3]}\nmk = matmul x wk\nfk = reshape mk "    \
    "t3\n"                                                                                         \
    "ak = add bk fk\nrk = reshape ak to\nk = transpose rk {perm=[0,2,3,1]}\nmv = matmul x wv\n"    \
    "fv = reshape mv t3\nav = add fv bq\nrv = reshape av to\nv = transpose rv {perm=[0,2,1,3]}\n"

START_TEST(reshapes_between_are_passed)
{
    prt_graph *g = graph_from_text(WEIGHTS FLAT END);
    ck_assert(run_pass(g, pass, NULL));
    ck_assert_ptr_null(strstr(graph_text(g), "mk = "));
    module_free(g);
    assert_pass_keeps_results(WEIGHTS FLAT END, pass, 0);
}
END_TEST

static void becomes_one(const char *text, double tolerance)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_msg(run_pass(g, pass, NULL), "%s", text);
    ck_assert_msg(strstr(graph_text(g), "split") != NULL, "%s", graph_text(g));
    ck_assert_ptr_null(strstr(graph_text(g), "mk = "));
    module_free(g);
    assert_pass_keeps_results(text, pass, tolerance);
}

/* Q and V as the exporters write them, around a K that differs. */
#define Q(shape)                                                                                   \
    "to = const i64[4] " shape "\nmq = matmul x wq\naq = add mq bq\n"                              \
    "rq = reshape aq to {allowzero=1}\nq = transpose rq {perm=[0,2,1,3]}\n"
#define V                                                                                          \
    "mv = matmul x wv\nav = add mv bq\nrv = reshape av to {allowzero=1}\n"                         \
    "v = transpose rv {perm=[0,2,1,3]}\n"
#define K "rk = reshape ak to {allowzero=1}\nk = transpose rk {perm=[0,2,3,1]}\n"

START_TEST(forms_of_exporters_are_found)
{
    static const char *const forms[] = {
        /* torch.onnx.export(dynamo=True): allowzero; heads or batch left open */
        Q("{2,3,-1,2}") V "mk = matmul x wk\nak = add mk bk\n" K,
        Q("{-1,3,2,2}") V "mk = matmul x wk\nak = add bk mk\n" K,
        /* Whisper: no bias for K */
        Q("{2,3,2,2}") V "mk = matmul x wk\nrk = reshape mk to {allowzero=1}\n"
                         "k = transpose rk {perm=[0,2,3,1]}\n",
        /* T5, LLaMA: no bias */
        "to = const i64[4] {2,3,2,2}\nmq = matmul x wq\nrq = reshape mq to\n"
        "q = transpose rq {perm=[0,2,1,3]}\nmk = matmul x wk\nrk = reshape mk to\n"
        "k = transpose rk {perm=[0,2,3,1]}\nmv = matmul x wv\nrv = reshape mv to\n"
        "v = transpose rv {perm=[0,2,1,3]}\n",
        /* jax2onnx of Flax: Gemm of a matrix of tokens */
        "f = const i64[2] {-1,2}\nto = const i64[4] {2,3,2,2}\nx2 = reshape x f\n"
        "mq = gemm x2 wq bq\nrq = reshape mq to\nq = transpose rq {perm=[0,2,1,3]}\n"
        "mk = gemm x2 wk bk\nrk = reshape mk to\nk = transpose rk {perm=[0,2,3,1]}\n"
        "mv = gemm x2 wv\nrv = reshape mv to\nv = transpose rv {perm=[0,2,1,3]}\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(forms); i++) {
        char text[2048];
        (void)snprintf(text, sizeof(text), "x = input f32[2,3,2]\n" WEIGHTS "%s" END, forms[i]);
        becomes_one(text, strstr(forms[i], "gemm") != NULL ? 1e-6 : 0);
    }
}
END_TEST

START_TEST(products_of_other_kinds_are_left)
{
    static const char *const gemms[] = { "{alpha=0.5}", "{beta=2}", "{transA=1}", "{transB=1}" };
    for (size_t i = 0; i < PRT_COUNT_OF(gemms); i++) {
        char text[2048];
        (void)snprintf(text, sizeof(text),
            "x2 = input f32[4,4]\nwq = const f32[4,4] fill 1\nwk = const f32[4,4] fill 2\n"
            "wv = const f32[4,4] fill 3\nb = const f32[4] fill 1\nto = const i64[4] {2,2,2,2}\n"
            "mq = gemm x2 wq b %s\nrq = reshape mq to\nq = transpose rq {perm=[0,2,1,3]}\n"
            "mk = gemm x2 wk b\nrk = reshape mk to\nk = transpose rk {perm=[0,2,3,1]}\n"
            "mv = gemm x2 wv b\nrv = reshape mv to\nv = transpose rv {perm=[0,2,1,3]}\n" END,
            gemms[i]);
        assert_pass_leaves(pass, NULL, text);
    }
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const x = "x = input f32[b,3,2]\n";
    static const char *const changes[][2] = {
        { "mk = matmul x wk", "x2 = neg x\nmk = matmul x2 wk" },
        { "rk = reshape ak to", "t2 = const i64[4] {0,0,1,4}\nrk = reshape ak t2" },
        { "k = transpose rk {perm=[0,2,3,1]}", "k = transpose rk {perm=[0,2,1,3]}\nz = neg mk\n" },
        { "wv = const f32[2,4] {1,-1,2,-2,3,-3,4,-4}", "wv = input f32[2,4]" },
        { "av = add mv bq", "av = add mv bv" },
        { "mv = matmul x wv", "mv = matmul x wk" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(changes); i++) {
        char whole[2048], text[2048];
        (void)snprintf(whole, sizeof(whole), "%s%s%s%s", x, i == 4 ? "bv = const f32[1] {1}\n" : "",
            WEIGHTS, PLAIN);
        const char *at = strstr(whole, changes[i][0]);
        ck_assert_ptr_nonnull(at);
        (void)snprintf(text, sizeof(text), "%.*s%s%s%sreturn q, k, v%s\n", (int)(at - whole), whole,
            changes[i][1], at + strlen(changes[i][0]), "", i == 2 ? ", z" : "");
        assert_pass_leaves(pass, NULL, text);
    }
}
END_TEST

START_TEST(regions_are_rewritten)
{
    static const char *const text =
        "x = input f32[2,3,2]\nc = input bool[]\nto = const i64[4] {0,0,2,2}\n" WEIGHTS
        "r = if c {\n  then_branch { mq = matmul x wq; aq = add mq bq; rq = reshape aq to; "
        "q = transpose rq {perm=[0,2,1,3]}; mk = matmul x wk; ak = add bk mk; rk = reshape ak to; "
        "k = transpose rk {perm=[0,2,1,3]}; mv = matmul x wv; av = add mv bq; rv = reshape av to; "
        "v = transpose rv {perm=[0,2,1,3]}; s = add q k; t = mul s v; return t }\n"
        "  else_branch { e = shape x; g = cast e {to=1}; return g }\n}\nreturn r\n";
    assert_pass_keeps_results(text, pass, 0);
}
END_TEST

PRT_TEST_MAIN("pass/fuse/qkv", three_branches_become_one, reshapes_between_are_passed,
    forms_of_exporters_are_found, products_of_other_kinds_are_left, near_misses_are_left,
    regions_are_rewritten)
