/* SPDX-License-Identifier: MIT */
/*
 * test_attention.c — fuse_attention: the exported forms of attention, and near misses.
 * Covers: scores.c.
 */
#include <stdio.h>
#include <string.h>

#include "support/check_main.h"
#include "support/graph_text.h"

/* 2 images, 5 places, 3 heads of 4. */
#define INPUTS "q = input f32[2,5,12]\nk = input f32[2,5,12]\nv = input f32[2,5,12]\n"
#define HEADS                                                                                      \
    "d = const i64[4] {2,5,3,4}\nqr = reshape q d\nkr = reshape k d\nvr = reshape v d\n"           \
    "qt = transpose qr {perm=[0,2,1,3]}\nvt = transpose vr {perm=[0,2,1,3]}\n"
#define KEYS "kt = transpose kr {perm=[0,2,3,1]}\n"
#define RESULT                                                                                     \
    "w = softmax m\no = matmul w vt\not = transpose o {perm=[0,2,1,3]}\n"                          \
    "e = const i64[3] {2,5,12}\ny = reshape ot e\nreturn y\n"

static bool has_operator(const prt_graph *g, const char *op)
{
    return strstr(graph_text(g), op) != NULL;
}

START_TEST(heads_stay_where_they_are)
{
    prt_graph *g = graph_from_text(INPUTS HEADS KEYS "s = matmul qt kt\nc = const f32[] {2}\n"
                                                     "m = div s c\n" RESULT);
    ck_assert(run_pass(g, "fuse_attention", NULL));
    ck_assert_graph(g,
        INPUTS
        "d = const i64[4] {2,5,3,4}\nc = const f32[] {2}\n"
        "e = const i64[3] {2,5,12}\n"
        "y = fused_attention q k v {sizes=[2,3,3,5,0,5,4,4],query=[0,60,4,12],key=[0,60,4,12],"
        "value=[0,60,4,12],order=[0,2,1],shape=[2,5,12],scale=0.5}\nreturn y\n");
    ck_assert(!run_pass(g, "fuse_attention", NULL));
    module_free(g);
}
END_TEST

/* The second query sees no key. */
#define GUARDED_SCORES                                                                             \
    "b = const bool[1,1,5,5] {1,1,0,1,1,0,0,0,0,0,1,1,1,0,0,1,1,1,1,0,1,1,1,1,1}\n"                \
    "z = const f32[] {0}\nn = const f32[] {-inf}\na = where b z n\ns = matmul qt kt\n"             \
    "s1 = add s a\nw = softmax s1\n"
#define GUARDED_RESULT                                                                             \
    "o = matmul t vt\not = transpose o {perm=[0,2,1,3]}\ne = const i64[3] {2,5,12}\n"              \
    "y = reshape ot e\nreturn y\n"

/* Every form becomes one operator, with the same results. */
START_TEST(exported_forms_become_one_operator)
{
    static const char *const graphs[] = {
        /* factors at every place; keys transposed twice; a mask by keys */
        INPUTS HEADS
        "a = input f32[2,1,1,5]\nc = const f32[] {0.5}\nqs = mul qt c\n"
        "k1 = transpose kr {perm=[0,2,1,3]}\nks = mul c k1\nkt = transpose ks {perm=[0,1,3,2]}\n"
        "s = matmul qs kt\nsc = mul s c\nm = add a sc\n" RESULT,
        /* two masks, one of them after a Reshape */
        INPUTS HEADS KEYS "a = input f32[3,5,5]\nb = input f32[2,1,5,5]\ns = matmul qt kt\n"
                          "s1 = add s a\nf = const i64[5] {1,2,3,5,5}\ng = const i64[4] {2,3,5,5}\n"
                          "u = const i64[5] {1,2,1,5,5}\nbr = reshape b u\n"
                          "s2 = reshape s1 f\ns3 = add s2 br\nm = reshape s3 g\n" RESULT,
        /* Where with a value that is kept, in either operand */
        INPUTS HEADS KEYS "a = input f32[5,5]\nz = const f32[] {0}\nb = greater a z\n"
                          "n = const f32[] {-10}\ns = matmul qt kt\nm = where b s n\n" RESULT,
        INPUTS HEADS KEYS "a = input f32[2,1,1,5]\nz = const f32[] {0}\nb = greater a z\n"
                          "n = const f32[] {-0.5}\ns = matmul qt kt\nm = where b n s\n" RESULT,
        /* the causal mask as a constant */
        INPUTS HEADS KEYS
        "b = const bool[1,1,5,5] {1,0,0,0,0,1,1,0,0,0,1,1,1,0,0,1,1,1,1,0,"
        "1,1,1,1,1}\nn = const f32[] {-inf}\ns = matmul qt kt\nm = where b s n\n" RESULT,
        INPUTS HEADS KEYS
        "b = const f32[5,5] {0,-inf,-inf,-inf,-inf,0,0,-inf,-inf,-inf,"
        "0,0,0,-inf,-inf,0,0,0,0,-inf,0,0,0,0,0}\ns = matmul qt kt\nm = add s b\n" RESULT,
        /* a lower bound of the scores; a causal constant after a sum */
        INPUTS HEADS KEYS "a = input f32[2,1,5,5]\nl = const f32[] {-1}\ns = matmul qt kt\n"
                          "s1 = add s a\nm = max s1 l\n" RESULT,
        INPUTS HEADS KEYS
        "b = const f32[5,5] {0,-inf,-inf,-inf,-inf,0,0,-inf,-inf,-inf,"
        "0,0,0,-inf,-inf,0,0,0,0,-inf,0,0,0,0,0}\nl = const f32[] {-1}\ns = matmul qt kt\n"
        "s1 = add s b\nm = max s1 l\n" RESULT,
        INPUTS HEADS KEYS
        "a = input f32[5,5]\nz = const f32[] {0}\nb = greater a z\n"
        "n = const f32[] {-10}\nl = const f32[1] {-0.5}\ns = matmul qt kt\nw0 = where b s n\n"
        "m = max l w0\n" RESULT,
        /* weights that are NaN count as 0: torch 2.5 and later, as IsNaN and as it is written out
         */
        INPUTS HEADS KEYS GUARDED_SCORES "u = isnan w\nt = where u z w\n" GUARDED_RESULT,
        INPUTS HEADS KEYS GUARDED_SCORES
        "u0 = equal w w\nu = not u0\nt = where u z w\n" GUARDED_RESULT,
        /* K transposed between Reshapes, and a Reshape of the result without effect: torch.sdpa */
        INPUTS HEADS
        "k1 = transpose kr {perm=[0,2,1,3]}\nf = const i64[3] {-1,5,4}\n"
        "k2 = reshape k1 f\nk3 = transpose k2 {perm=[0,2,1]}\ng = const i64[4] {2,3,4,5}\n"
        "kt = reshape k3 g {allowzero=1}\nm = matmul qt kt\nw = softmax m\no1 = matmul w vt\n"
        "h = const i64[4] {2,-1,5,4}\no = reshape o1 h\not = transpose o {perm=[0,2,1,3]}\n"
        "e = const i64[3] {2,5,12}\ny = reshape ot e\nreturn y\n",
        INPUTS HEADS KEYS
        "b = const bool[1,1,5,5] {1,0,0,0,0,1,1,0,0,0,1,1,1,0,0,1,1,1,1,0,"
        "1,1,1,1,1}\nn = const f32[] {-1e35}\na = input f32[2,1,1,5]\ns = matmul qt kt\n"
        "s1 = where b s n\nm = add s1 a\n" RESULT,
        /* one product for all three, cut by slices */
        "x = input f32[2,5,36]\nb0 = const i64[1] {0}\nb1 = const i64[1] {12}\n"
        "b2 = const i64[1] {24}\nb3 = const i64[1] {36}\nax = const i64[1] {2}\n"
        "q = slice x b0 b1 ax\nk = slice x b1 b2 ax\nv = slice x b2 b3 ax\n" HEADS KEYS
        "m = matmul qt kt\n" RESULT,
        /* the same, cut by Split, and by Gather from a transposed tensor */
        "x = input f32[2,5,36]\nq, k, v = split x {axis=-1,num_outputs=3}\n" HEADS KEYS
        "m = matmul qt kt\n" RESULT,
        "x = input f32[2,5,36]\nd = const i64[5] {2,5,3,3,4}\nxr = reshape x d\n"
        "xt = transpose xr {perm=[2,0,3,1,4]}\ni0 = const i64[] {0}\ni1 = const i64[] {1}\n"
        "i2 = const i64[] {-1}\nqt = gather xt i0\nk1 = gather xt i1\nvt = gather xt i2\n"
        "kt = transpose k1 {perm=[0,1,3,2]}\nm = matmul qt kt\n" RESULT,
        /* three dims: images and heads are one */
        "q = input f32[6,5,4]\nk = input f32[6,7,4]\nv = input f32[6,7,9]\n"
        "kt = transpose k {perm=[0,2,1]}\nm = matmul q kt\nw = softmax m\no = matmul w v\n"
        "y = transpose o {perm=[1,0,2]}\nreturn y\n",
        "q = input f32[5,4]\nk = input f32[7,4]\nv = input f32[7,9]\n"
        "kt = transpose k {perm=[1,0]}\nm = matmul q kt\nw = softmax m\ny = matmul w v\nreturn y\n",
        /* a cache that is not an output */
        INPUTS HEADS
        "p = input f32[2,3,2,4]\nr = input f32[2,3,2,4]\n"
        "k1 = transpose kr {perm=[0,2,1,3]}\nkj = concat p k1 {axis=2}\nvj = concat r vt {axis=2}\n"
        "kt = transpose kj {perm=[0,1,3,2]}\nm = matmul qt kt\nw = softmax m\no = matmul w vj\n"
        "y = transpose o {perm=[0,2,1,3]}\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        ck_assert_msg(run_pass(g, "fuse_attention", NULL), "%s", graphs[i]);
        ck_assert_msg(has_operator(g, "fused_attention") && !has_operator(g, "softmax") &&
                !has_operator(g, "transpose") && !has_operator(g, "concat"),
            "%s", graph_text(g));
        module_free(g);
        assert_pass_keeps_results(graphs[i], "fuse_attention", 1e-6);
    }
}
END_TEST

#define CACHE                                                                                      \
    INPUTS HEADS                                                                                   \
        "p = input f32[2,3,2,4]\nr = input f32[2,3,2,4]\n"                                         \
        "k1 = transpose kr {perm=[0,2,1,3]}\nkj = concat p k1 {axis=-2}\nvj = concat r vt "        \
        "{axis=2}\n"                                                                               \
        "kt = transpose kj {perm=[0,1,3,2]}\nm = matmul qt kt\nw = softmax m\no = matmul w vj\n"   \
        "y = transpose o {perm=[0,2,1,3]}\n"

/* 4 heads of queries in 2 groups, as LLaMA repeats keys: in eager form, and transposed as in
 * sdpa. */
START_TEST(grouped_heads_are_not_repeated)
{
    static const char *const transposes[] = {
        "kh = reshape ke h\nkt = transpose kh {perm=[0,1,3,2]}\n",
        "f = const i64[3] {-1,5,4}\nk2 = reshape ke f\nk3 = transpose k2 {perm=[0,2,1]}\n"
        "j = const i64[4] {2,4,4,5}\nkt = reshape k3 j\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(transposes); i++) {
        char text[2048];
        (void)snprintf(text, sizeof(text),
            "q = input f32[2,5,16]\nk = input f32[2,5,8]\nv = input f32[2,5,8]\n"
            "a = const i64[4] {2,5,4,4}\nb = const i64[4] {2,5,2,4}\nc = const i64[1] {2}\n"
            "g = const i64[5] {2,2,2,5,4}\nh = const i64[4] {2,4,5,4}\nqr = reshape q a\n"
            "kr = reshape k b\nvr = reshape v b\nqt = transpose qr {perm=[0,2,1,3]}\n"
            "k0 = transpose kr {perm=[0,2,1,3]}\nv0 = transpose vr {perm=[0,2,1,3]}\n"
            "k1 = unsqueeze k0 c\nke = expand k1 g\nv1 = unsqueeze v0 c\n"
            "ve = expand v1 g\nvh = reshape ve h\n%ss = matmul qt kt\nw = softmax s\n"
            "o = matmul w vh\ny = transpose o {perm=[0,2,1,3]}\nreturn y\n",
            transposes[i]);
        prt_graph *g = graph_from_text(text);
        ck_assert(run_pass(g, "fuse_attention", NULL));
        ck_assert_msg(has_operator(g, "sizes=[2,4,2,5,0,5,4,4]") && !has_operator(g, "expand"),
            "%s", graph_text(g));
        module_free(g);
        assert_pass_keeps_results(text, "fuse_attention", 1e-6);
    }
}
END_TEST

START_TEST(the_cache_is_written_once)
{
    prt_graph *g = graph_from_text(CACHE "return y, kj, vj\n");
    ck_assert(run_pass(g, "fuse_attention", NULL));
    ck_assert_graph(g,
        INPUTS
        "p = input f32[2,3,2,4]\nr = input f32[2,3,2,4]\n"
        "d = const i64[4] {2,5,3,4}\n"
        "y, kj, vj = fused_attention q k v _ _ _ p r {sizes=[2,3,3,5,2,5,4,4],query=[0,60,4,12],"
        "key=[0,60,4,12],value=[0,60,4,12],order=[0,2,1],shape=[2,5,3,4],scale=1}\n"
        "return y, kj, vj\n");
    module_free(g);
    assert_pass_keeps_results(CACHE "return y, kj, vj\n", "fuse_attention", 1e-6);
    assert_pass_keeps_results(CACHE "return y, vj\n", "fuse_attention", 1e-6);
    /* With another reader it is a tensor like others. */
    g = graph_from_text(CACHE "z = neg kj\nreturn y, z\n");
    ck_assert(run_pass(g, "fuse_attention", NULL));
    ck_assert(has_operator(g, "concat"));
    module_free(g);
    assert_pass_keeps_results(CACHE "z = neg kj\nreturn y, z\n", "fuse_attention", 1e-6);
}
END_TEST

/* As many rows in the cache as a run has; masks that grow with it. */
#define OPEN                                                                                       \
    INPUTS HEADS "p = input f32[2,3,n,4]\nr = input f32[2,3,n,4]\n"                                \
                 "k1 = transpose kr {perm=[0,2,1,3]}\nkj = concat p k1 {axis=-2}\nvj = concat r "  \
                 "vt {axis=2}\n"
#define OPEN_RESULT "w = softmax m\no = matmul w vj\ny = transpose o {perm=[0,2,1,3]}\n"
#define GROWN "ka = input f32[1,1,5,n]\nkb = input f32[1,1,5,5]\nmk = concat ka kb {axis=3}\n"

/* Products of images as heads: keys and values lose a dim after the cache. */
#define JOINED(ROWS)                                                                               \
    "q = input f32[1,1,12]\nk = input f32[1,1,12]\nv = input f32[1,1,12]\n"                        \
    "p = input f32[1,3," ROWS ",4]\nr = input f32[1,3," ROWS ",4]\nd = const i64[4] {1,1,3,4}\n"   \
    "e = const i64[3] {3,1,4}\ng = const i64[3] {3,-1,4}\nkr = reshape k d\nvr = reshape v d\n"    \
    "qr = reshape q d\nqt = transpose qr {perm=[0,2,1,3]}\nq3 = reshape qt e\n"                    \
    "k1 = transpose kr {perm=[0,2,1,3]}\nv1 = transpose vr {perm=[0,2,1,3]}\n"                     \
    "kj = concat p k1 {axis=2}\nvj = concat r v1 {axis=2}\nk3 = reshape kj g\nv3 = reshape vj g\n" \
    "kt = transpose k3 {perm=[0,2,1]}\ns = matmul q3 kt\nw = softmax s\no = matmul w v3\n"         \
    "h = const i64[4] {1,3,1,4}\no4 = reshape o h\nt = transpose o4 {perm=[0,2,1,3]}\n"            \
    "z = const i64[3] {1,1,12}\ny = reshape t z\nreturn y, kj, vj\n"

START_TEST(images_may_be_heads)
{
    static const char *const graphs[] = { JOINED("6"), JOINED("n") };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        ck_assert_msg(run_pass(g, "fuse_attention", NULL), "%s", graphs[i]);
        ck_assert_msg(has_operator(g, "_ _ _ p r {sizes=[1,3,3,1,") && !has_operator(g, "concat"),
            "%s", graph_text(g));
        module_free(g);
        assert_pass_keeps_results(graphs[i], "fuse_attention", 1e-6);
    }
}
END_TEST

START_TEST(the_length_of_the_past_may_be_unknown)
{
    static const char *const graphs[] = {
        OPEN "kt = transpose kj {perm=[0,1,3,2]}\nm = matmul qt kt\n" OPEN_RESULT
             "return y, kj, vj\n",
        OPEN GROWN
        "kt = transpose kj {perm=[0,1,3,2]}\ns = matmul qt kt\nm = add mk s\n" OPEN_RESULT
        "return y, kj\n",
        /* a factor on the keys, before or after their Transpose; Where */
        OPEN GROWN
        "c = const f32[] {0.5}\nks = mul kj c\nkt = transpose ks {perm=[0,1,3,2]}\n"
        "z = const f32[] {0}\nkeep = greater mk z\nlow = const f32[] {-10}\ns = matmul qt kt\n"
        "m = where keep s low\n" OPEN_RESULT "return y\n",
        /* a mask by heads */
        OPEN "ka = input f32[1,3,1,n]\nkb = input f32[1,3,1,5]\nmk = concat ka kb {axis=3}\n"
             "kt = transpose kj {perm=[0,1,3,2]}\ns = matmul qt kt\nm = add mk s\n" OPEN_RESULT
             "return y\n",
        OPEN "ka = input f32[n]\nkb = input f32[5]\nmk = concat ka kb {axis=0}\n"
             "c = const f32[] {4}\nkt = transpose kj {perm=[0,1,3,2]}\nks = div kt c\n"
             "s = matmul qt ks\nm = add s mk\n" OPEN_RESULT "return y, vj\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        ck_assert_msg(run_pass(g, "fuse_attention", NULL), "%s", graphs[i]);
        ck_assert_msg(has_operator(g, "sizes=[2,3,3,5,-1,5,4,4]") && !has_operator(g, "softmax"),
            "%s", graph_text(g));
        module_free(g);
        assert_pass_keeps_results(graphs[i], "fuse_attention", 1e-6);
    }
}
END_TEST

START_TEST(masks_that_keep_everything_are_removed)
{
    prt_graph *g = graph_from_text(INPUTS HEADS KEYS
        "b = const bool[1,5] {1,1,1,1,1}\nn = const f32[] {-1}\ns = matmul qt kt\n"
        "m = where b s n\n" RESULT);
    ck_assert(run_pass(g, "fuse_attention", NULL));
    ck_assert(!has_operator(g, "where") && !has_operator(g, "keep"));
    module_free(g);
}
END_TEST

START_TEST(other_products_are_left)
{
    static const char *const graphs[] = {
        /* scores with another reader, or as an output */
        INPUTS HEADS KEYS "m = matmul qt kt\nw = softmax m\no = matmul w vt\nz = neg w\n"
                          "return o, z\n",
        INPUTS HEADS KEYS "m = matmul qt kt\nw = softmax m\no = matmul w vt\nreturn o, m\n",
        /* guarded weights with another reader; another number in their place */
        INPUTS HEADS KEYS GUARDED_SCORES "u = isnan w\nt = where u z w\no = matmul t vt\n"
                                         "x = neg w\nreturn o, x\n",
        INPUTS HEADS KEYS GUARDED_SCORES
        "u = isnan w\ni = const f32[] {1}\nt = where u i w\n" GUARDED_RESULT,
        /* a softmax along the queries */
        INPUTS HEADS KEYS "m = matmul qt kt\nw = softmax m {axis=2}\no = matmul w vt\nreturn o\n",
        /* a factor after a mask; a sum after Where */
        INPUTS HEADS KEYS "a = input f32[5]\nc = const f32[] {2}\ns = matmul qt kt\nt = add s a\n"
                          "m = mul t c\n" RESULT,
        INPUTS HEADS KEYS "a = input f32[5]\nb = const bool[5] {1,0,1,1,0}\nn = const f32[] {-1}\n"
                          "s = matmul qt kt\nt = where b s n\nm = add t a\n" RESULT,
        /* a lower bound inside a mask; a Where that masks after a sum */
        INPUTS HEADS KEYS "a = input f32[5]\nl = const f32[] {-1}\ns = matmul qt kt\nt = max s l\n"
                          "m = add t a\n" RESULT,
        /* a mask that makes the scores larger */
        "q = input f32[1,5,4]\nk = input f32[1,4,5]\nv = input f32[3,5,4]\na = input f32[3,5,5]\n"
        "s = matmul q k\nm = add s a\nw = softmax m\ny = matmul w v\nreturn y\n",
        /* keys that are transposed already */
        "q = input f32[3,5,4]\nk = input f32[3,4,5]\nv = input f32[3,5,4]\n"
        "m = matmul q k\nw = softmax m\ny = matmul w v\nreturn y\n",
        /* other types, open shapes, operands that repeat */
        "q = input f64[3,5,4]\nk = input f64[3,5,4]\nv = input f64[3,5,4]\n"
        "kt = transpose k {perm=[0,2,1]}\nm = matmul q kt\nw = softmax m\ny = matmul w v\n"
        "return y\n",
        "q = input f32[n,5,4]\nk = input f32[n,5,4]\nv = input f32[n,5,4]\n"
        "kt = transpose k {perm=[0,2,1]}\nm = matmul q kt\nw = softmax m\ny = matmul w v\n"
        "return y\n",
        "q = input f32[3,5,4]\nk = input f32[1,5,4]\nv = input f32[3,5,4]\n"
        "kt = transpose k {perm=[0,2,1]}\nm = matmul q kt\nw = softmax m\ny = matmul w v\n"
        "return y\n",
        /* an open past with a mask whose rows are open too, or by heads and rows; values with a
         * factor */
        OPEN "ka = input f32[1,1,h,n]\nkb = input f32[1,1,h,5]\nmk = concat ka kb {axis=3}\n"
             "kt = transpose kj {perm=[0,1,3,2]}\ns = matmul qt kt\nm = add mk s\n" OPEN_RESULT
             "return y\n",
        OPEN "ka = input f32[1,3,5,n]\nkb = input f32[1,3,5,5]\nmk = concat ka kb {axis=3}\n"
             "kt = transpose kj {perm=[0,1,3,2]}\ns = matmul qt kt\nm = add mk s\n" OPEN_RESULT
             "return y\n",
        OPEN "kt = transpose kj {perm=[0,1,3,2]}\nm = matmul qt kt\nw = softmax m\n"
             "c = const f32[] {2}\nvs = mul vj c\ny = matmul w vs\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        ck_assert_msg(!run_pass(g, "fuse_attention", NULL), "%s", graphs[i]);
        module_free(g);
    }
}
END_TEST

PRT_TEST_MAIN("pass/fuse/attention", heads_stay_where_they_are, exported_forms_become_one_operator,
    grouped_heads_are_not_repeated, the_cache_is_written_once, images_may_be_heads,
    the_length_of_the_past_may_be_unknown, masks_that_keep_everything_are_removed,
    other_products_are_left)
