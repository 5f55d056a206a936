/* SPDX-License-Identifier: MIT */
/* test_attention.c — the fast fused_attention and related fast operators against the reference.
 * Covers: attention.c, attend.c, attention_core.c. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/fast_check.h"

/* Heads of `size` and `wide` elements, which lie next to each other in the rows of q, k and v. */
static void check(int batch, int heads, int groups, int queries, int keys, int size, int wide,
    const char *inputs, const char *operands, const char *attrs)
{
    char text[2048];
    (void)snprintf(text, sizeof(text),
        "q = input f32[%d,%d,%d]\nk = input f32[%d,%d,%d]\nv = input f32[%d,%d,%d]\n%s"
        "y = fused_attention q k v %s {sizes=[%d,%d,%d,%d,0,%d,%d,%d],query=[0,%d,%d,%d],"
        "key=[0,%d,%d,%d],value=[0,%d,%d,%d],order=[0,2,1],shape=[%d,%d,%d],scale=0.3%s}\n"
        "return y\n",
        batch, queries, heads * size, batch, keys, groups * size, batch, keys, groups * wide,
        inputs, operands, batch, heads, groups, queries, keys, size, wide, queries * heads * size,
        size, heads * size, keys * groups * size, size, groups * size, keys * groups * wide, wide,
        groups * wide, batch, queries, heads * wide, attrs);
    fast_check(text, -1, 1, 1e-5);
}

START_TEST(all_sizes_equal_the_reference)
{
    static const int cases[][7] = { { 1, 1, 1, 1, 1, 1, 1 }, { 2, 3, 3, 5, 7, 4, 9 },
        { 1, 4, 2, 1, 70, 64, 64 }, { 1, 2, 1, 3, 33, 17, 15 }, { 2, 2, 2, 49, 49, 32, 32 },
        { 1, 1, 1, 100, 130, 64, 80 }, { 1, 1, 1, 600, 65, 16, 16 }, { 1, 2, 2, 13, 2900, 8, 16 },
        { 0, 2, 2, 3, 3, 4, 4 }, { 1, 2, 2, 0, 3, 4, 4 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int *c = cases[i];
        check(c[0], c[1], c[2], c[3], c[4], c[5], c[6], "", "", "");
        check(c[0], c[1], c[2], c[3], c[4], c[5], c[6], "", "", ",causal=1");
    }
}
END_TEST

START_TEST(masks_equal_the_reference)
{
    static const int queries[] = { 2, 20 };
    for (size_t i = 0; i < 2; i++) {
        const int n = queries[i];
        char inputs[512], attrs[512];
        (void)snprintf(inputs, sizeof(inputs), "b = input f32[2,1,1,70]\n");
        check(2, 3, 3, n, 70, 16, 16, inputs, "b", ",bias=[70,0,0,1]");
        (void)snprintf(inputs, sizeof(inputs), "b = input f32[3,%d,70]\nm = input f32[2,%d,70]\n",
            n, n);
        (void)snprintf(attrs, sizeof(attrs), ",bias=[0,%d,70,1],mask=[%d,0,70,1]", n * 70, n * 70);
        check(2, 3, 3, n, 70, 16, 16, inputs, "b m", attrs);
        (void)snprintf(inputs, sizeof(inputs), "b = input f32[%d]\nm = input f32[70,2]\n", n);
        check(2, 3, 3, n, 70, 16, 16, inputs, "b m", ",bias=[0,0,1,0],mask=[0,0,0,2]");
        (void)snprintf(inputs, sizeof(inputs),
            "a = input f32[%d,70]\nz = const f32[] {0}\nt = greater a z\n", n);
        check(2, 3, 3, n, 70, 16, 16, inputs, "_ _ t", ",keep=[0,0,70,1],fill=-0.5");
        check(2, 3, 3, n, 70, 16, 16, inputs, "_ _ t", ",keep=[0,0,70,1],fill=-inf,inverted=1");
        check(2, 3, 3, n, 70, 16, 16, inputs, "a _ t",
            ",bias=[0,0,70,1],keep=[0,0,70,1],fill=-2,least=-0.25");
    }
}
END_TEST

/* The first row sees no key; another row has a score of NaN. */
START_TEST(infinite_and_nan_scores_equal_the_reference)
{
    fast_check("q = input f32[1,5,4]\nk = input f32[1,3,4]\nv = input f32[1,3,4]\n"
               "b = const f32[5,3] {-inf,-inf,-inf,0,nan,0,0,0,0,-inf,0,-inf,0,inf,0}\n"
               "y = fused_attention q k v b {sizes=[1,1,1,5,0,3,4,4],query=[0,0,4,4],key=[0,0,4,4],"
               "value=[0,0,4,4],order=[0,1,2],shape=[5,4],bias=[0,0,3,1]}\nreturn y\n",
        -1, 1, 1e-5);
    fast_check("q = input f32[1,5,4]\nk = input f32[1,3,4]\nv = input f32[1,3,4]\n"
               "y = fused_attention q k v {sizes=[1,1,1,5,0,3,4,4],query=[0,0,4,4],key=[0,0,4,4],"
               "value=[0,0,4,4],order=[0,1,2],shape=[5,4],causal=1}\nreturn y\n",
        -1, 1, 1e-5);
}
END_TEST

/* The same masks, guarded: such rows give zeros. Few queries and many. */
START_TEST(guarded_rows_without_keys_give_zeros)
{
    fast_check("q = input f32[1,5,4]\nk = input f32[1,3,4]\nv = input f32[1,3,4]\n"
               "b = const f32[5,3] {-inf,-inf,-inf,0,nan,0,0,0,0,-inf,0,-inf,0,inf,0}\n"
               "y = fused_attention q k v b {sizes=[1,1,1,5,0,3,4,4],query=[0,0,4,4],key=[0,0,4,4],"
               "value=[0,0,4,4],order=[0,1,2],shape=[5,4],bias=[0,0,3,1],guarded=1}\nreturn y\n",
        -1, 1, 1e-5);
    fast_check("q = input f32[1,5,4]\nk = input f32[1,3,4]\nv = input f32[1,3,4]\n"
               "y = fused_attention q k v {sizes=[1,1,1,5,0,3,4,4],query=[0,0,4,4],key=[0,0,4,4],"
               "value=[0,0,4,4],order=[0,1,2],shape=[5,4],causal=1,guarded=1}\nreturn y\n",
        -1, 1, 1e-5);
    fast_check("q = input f32[1,2,4]\nk = input f32[1,3,4]\nv = input f32[1,3,4]\n"
               "b = const f32[2,3] {-inf,-inf,-inf,0,nan,-inf}\n"
               "y = fused_attention q k v b {sizes=[1,1,1,2,0,3,4,4],query=[0,0,4,4],key=[0,0,4,4],"
               "value=[0,0,4,4],order=[0,1,2],shape=[2,4],bias=[0,0,3,1],guarded=1}\nreturn y\n",
        -1, 1, 1e-5);
}
END_TEST

/* Queries, keys and values in one input, and transposed results; then a cache that grows. */
START_TEST(strides_and_output_orders_equal_the_reference)
{
    static const char *const orders[] = { "0,1,2", "0,2,1", "1,0,2", "1,2,0", "2,0,1", "2,1,0" };
    char text[1024];
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,9,3,3,16]\ny = fused_attention x x x {sizes=[2,3,3,9,0,9,16,16],"
            "query=[0,1296,16,144],key=[48,1296,16,144],value=[96,1296,16,144],order=[%s],"
            "shape=[864]}\nreturn y\n",
            orders[i]);
        fast_check(text, -1, 1, 1e-5);
    }
    static const char *const results[] = { "y, _, _", "_, y, _", "_, _, y", "y" };
    for (int queries = 1; queries < 12; queries += 4)
        for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
            (void)snprintf(text, sizeof(text),
                "x = input f32[2,%d,128]\np = input f32[2,2,67,16]\nr = input f32[2,2,67,16]\n"
                "%s = fused_attention x x x _ _ _ p r {sizes=[2,4,2,%d,67,%d,16,16],"
                "query=[0,%d,16,128],key=[64,%d,16,128],value=[96,%d,16,128],order=[0,1,2],"
                "shape=[2,4,%d,16],causal=1}\nreturn y\n",
                queries, results[i], queries, queries, queries * 128, queries * 128, queries * 128,
                queries);
            fast_check(text, -1, 1, 1e-5);
        }
}
END_TEST

/* A cache that is too large to stay in a cache level between two readings. */
START_TEST(large_caches_equal_the_reference)
{
    static const char *const results[] = { "y, _, _", "_, y, _", "_, _, y" };
    char text[1024];
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        (void)snprintf(text, sizeof(text),
            "x = input f32[1,2,3,2,65]\np = input f32[1,2,2100,65]\nr = input f32[1,2,2100,65]\n"
            "%s = fused_attention x x x _ _ _ p r {sizes=[1,2,2,2,2100,2,65,65],"
            "query=[0,780,65,390],key=[130,780,65,390],value=[260,780,65,390],order=[0,2,1],"
            "shape=[1,2,130]}\nreturn y\n",
            results[i]);
        fast_check(text, -1, 1, 1e-5);
    }
}
END_TEST

#define QKV "q = input f32[2,4,20,16]\nk = input f32[2,2,40,16]\nv = input f32[2,2,40,9]\n"
#define THREE "q = input f32[2,20,48]\nk = input f32[2,30,48]\nv = input f32[2,30,48]\n"
#define ONES "1,1,1,1,1,1,1,1,1,1,"

/* Operators that share the fast loops; cases that the fast loops do not support run by the
 * reference. */
START_TEST(attention_operators_equal_the_reference)
{
    static const char *const graphs[] = {
        "q = input f32[2,4,20,16]\nk = input f32[2,2,70,16]\nv = input f32[2,2,70,9]\n"
        "y = attention q k v {is_causal=1}\n",
        "q = input f32[2,20,48]\nk = input f32[2,20,48]\nv = input f32[2,20,48]\n"
        "m = input f32[20,20]\ny = attention q k v m {q_num_heads=3,kv_num_heads=3,scale=0.3}\n",
        "q = input f32[2,1,48]\nk = input f32[2,1,48]\nv = input f32[2,1,48]\n"
        "p = input f32[2,3,67,16]\nr = input f32[2,3,67,16]\n"
        "_, y, _ = attention q k v _ p r {q_num_heads=3,kv_num_heads=3,is_causal=1}\n",
        "q = input f32[2,5,48]\nk = input f32[2,5,48]\nv = input f32[2,5,48]\n"
        "p = input f32[2,3,67,16]\nr = input f32[2,3,67,16]\n"
        "y, _, _ = attention q k v _ p r {q_num_heads=3,kv_num_heads=3,is_causal=1}\n",
        "q = input f32[2,4,5,16]\nk = input f32[2,2,7,16]\nv = input f32[2,2,7,16]\n"
        "m = const bool[5,7] {0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,0,1,0,1,0,1,1,1,1,1,1,1,0,0,0,0,0,0,"
        "1}\ny = attention q k v m\n",
        "q = input f32[2,4,5,16]\nk = input f32[2,2,7,16]\nv = input f32[2,2,7,16]\n"
        "y = attention q k v {softcap=0.5,left_window_size=2}\n",
        "q = input f32[2,4,5,16]\nk = input f32[2,2,7,16]\nv = input f32[2,2,7,16]\n"
        "_, _, _, y = attention q k v\n",
        "q = input f32[2,20,48]\nk = input f32[2,30,48]\nv = input f32[2,30,48]\n"
        "y = ms_multi_head_attention q k v {num_heads=3}\n",
        "q = input f32[2,20,48]\nk = input f32[2,30,48]\nv = input f32[2,30,48]\n"
        "b = input f32[144]\ny = ms_multi_head_attention q k v b {num_heads=3}\n",
        "x = input f32[2,20,40]\nw = input f32[40,144]\nb = input f32[144]\n"
        "y = ms_attention x w b {num_heads=3,unidirectional=1}\n",
        "q = input f32[2,1,64]\nk = input f32[2,1,32]\nv = input f32[2,1,32]\n"
        "p = input f32[2,2,10,16]\nr = input f32[2,2,10,16]\nn = const i32[2] {10,7}\n"
        "t = const i32[] {11}\n"
        "y, _, _ = ms_group_query_attention q k v p r n t {num_heads=4,kv_num_heads=2}\n",
        "q = input f32[2,9,64]\nk = input f32[2,9,32]\nv = input f32[2,9,32]\n"
        "n = const i32[2] {8,6}\nt = const i32[] {9}\n"
        "_, y, _ = ms_group_query_attention q k v _ _ n t {num_heads=4,kv_num_heads=2}\n",
        /* a window of keys in each row */
        QKV "y = attention q k v {left_window_size=3}\n",
        QKV "y = attention q k v {right_window_size=0}\n",
        QKV "y = attention q k v {left_window_size=2,right_window_size=5}\n",
        QKV "y = attention q k v {is_causal=1,left_window_size=1}\n",
        QKV "m = input f32[20,40]\ny = attention q k v m {left_window_size=3}\n",
        QKV "m = const bool[40] {" ONES "0,0," ONES ONES "1,0,1,1,1,1,1,1}\n"
            "y = attention q k v m {left_window_size=3,right_window_size=4}\n",
        QKV "n = const i64[2] {40,3}\ny = attention q k v _ _ _ n\n",
        QKV "n = const i64[2] {25,0}\ny = attention q k v _ _ _ n {is_causal=1}\n",
        "q = input f32[2,20,64]\nk = input f32[2,20,32]\nv = input f32[2,20,32]\n"
        "p = input f32[2,2,50,16]\nr = input f32[2,2,50,16]\nn = const i32[2] {69,40}\n"
        "t = const i32[] {70}\ny, _, _ = ms_group_query_attention q k v p r n t {num_heads=4,"
        "kv_num_heads=2,local_window_size=6}\n",
        THREE "y = ms_multi_head_attention q k v {num_heads=3,unidirectional=1}\n",
        THREE "m = const i32[2] {30,7}\ny = ms_multi_head_attention q k v _ m {num_heads=3}\n",
        THREE "m = const i32[4] {30,17,0,4}\n"
              "y = ms_multi_head_attention q k v _ m {num_heads=3}\n",
        THREE "m = const i32[2,30] {" ONES ONES ONES ONES "0,0," ONES "1,0,1,1,1,1,1,1}\n"
              "y = ms_multi_head_attention q k v _ m {num_heads=3,unidirectional=1}\n",
        THREE "m = const i32[2,30] {" ONES ONES ONES ONES ONES "1,1,1,1,1,1,1,1,1,1}\n"
              "y = ms_multi_head_attention q k v _ m {num_heads=3}\n",
    };
    char text[1024];
    for (size_t i = 0; i < sizeof(graphs) / sizeof(graphs[0]); i++) {
        (void)snprintf(text, sizeof(text), "%sreturn y\n", graphs[i]);
        fast_check(text, -1, 1, 1e-5);
    }
}
END_TEST

PRT_TEST_MAIN("fast/attention", all_sizes_equal_the_reference, masks_equal_the_reference,
    infinite_and_nan_scores_equal_the_reference, guarded_rows_without_keys_give_zeros,
    strides_and_output_orders_equal_the_reference, large_caches_equal_the_reference,
    attention_operators_equal_the_reference)
