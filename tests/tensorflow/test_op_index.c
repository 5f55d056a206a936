/* SPDX-License-Identifier: MIT */
/*
 * Reductions, products, sorting, gathering, scattering and segments have TensorFlow's results
 * (op_reduce.c, op_index.c, op_segment.c, scatter.c).
 */
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/graphdef_text.h"

/* ---- reductions */

START_TEST(integers_are_reduced_in_their_type)
{
    assert_graphdef_results("x = Const() value=int32[2,3]{-7, 1, 2, 4, -1, 0}\n"
                            "s = Const() value=int8[2]{100, 100}\n"
                            "a = Const() value=int32[]{-1}\n"
                            "n = Const() value=int32[0]{}\n"
                            "z = Const() value=int32[]{0}\n"
                            "y = Mean(x, a) T=int32 Tidx=int32\n"
                            "w = Sum(s, z) T=int8 Tidx=int32\n"
                            "m = Max(s, z) T=int8 Tidx=int32 keep_dims=true\n"
                            "i = Sum(x, n) T=int32 Tidx=int32\n",
        "y = const i32[2] {-1, 1}\n"
        "w = const i8[] {-56}\n"
        "m = const i8[1] {100}\n"
        "i = const i32[2,3] {-7, 1, 2, 4, -1, 0}\n"
        "return y, w, m, i\n",
        0);
}
END_TEST

START_TEST(empty_ranges_are_reduced_to_neutral_elements)
{
    assert_graphdef_results("x = Const() value=float[2,0]{}\n"
                            "i = Const() value=int32[0,2]{}\n"
                            "one = Const() value=int32[]{1}\n"
                            "zero = Const() value=int32[]{0}\n"
                            "a = Max(x, one) T=float\n"
                            "b = Min(i, zero) T=int32\n"
                            "c = Prod(x, one) T=float\n",
        "a = const f32[2] {-inf, -inf}\n"
        "b = const i32[2] {2147483647, 2147483647}\n"
        "c = const f32[2] {1, 1}\n"
        "return a, b, c\n",
        0);
}
END_TEST

START_TEST(axes_may_be_computed)
{
    prt_graph *g = graphdef_convert("x = Placeholder() dtype=float shape=[2,3]\n"
                                    "a = Placeholder() dtype=int32 shape=[?]\n"
                                    "y = Sum(x, a) T=float\n");
    assert_text_has(graph_text(g), "reduce_sum noop_with_empty_axes=1");
    module_free(g);
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[2,3]\n"
                            "a = Placeholder() dtype=int32 shape=[]\n"
                            "y = ArgMax(x, a) T=float\n",
        "ArgMax 'y' axis constant");
}
END_TEST

START_TEST(cumulative_results_exclude_and_reverse)
{
    assert_graphdef_results("x = Const() value=float[1,5]{1, 2, 3, 4, 5}\n"
                            "e = Const() value=float[1,4]{-inf, 0, 0, -inf}\n"
                            "i = Const() value=int8[3]{100, 100, 1}\n"
                            "a = Const() value=int32[]{-1}\n"
                            "p = Cumprod(x, a) T=float exclusive=true\n"
                            "q = Cumprod(x, a) T=float reverse=true\n"
                            "s = Cumsum(i, a) T=int8\n"
                            "l = CumulativeLogsumexp(e, a) T=float\n"
                            "t = Exp(l) T=float\n",
        "p = const f32[1,5] {1, 1, 2, 6, 24}\n"
        "q = const f32[1,5] {120, 120, 60, 20, 5}\n"
        "s = const i8[3] {100, -56, -55}\n"
        "t = const f32[1,4] {0, 1, 2, 2}\n"
        "return p, q, s, t\n",
        1e-6);
}
END_TEST

START_TEST(cumulative_results_of_unknown_size)
{
    assert_graphdef_results("x = Placeholder() dtype=float shape=[2,?]\n"
                            "a = Const() value=int32[]{1}\n"
                            "p = CumulativeLogsumexp(x, a) T=float\n"
                            "e = Exp(p) T=float\n",
        "x = input f32[2,n]\n"
        "a = const i64[] {1}\n"
        "e = exp x\n"
        "y = cumsum e a\n"
        "return y\n",
        1e-5);
    assert_graphdef_results("x = Placeholder() dtype=float shape=[?,3]\n"
                            "z = Const() value=int32[]{0}\n"
                            "m = Const() value=float[]{0}\n"
                            "a = Maximum(x, m) T=float\n"
                            "s = Cumprod(a, z) T=float reverse=true exclusive=true\n",
        "x = input f32[n,3]\n"
        "m = const f32[] {0}\n"
        "z = const i64[] {0}\n"
        "a = max x m\n"
        "y = cum_prod a z {reverse=1, exclusive=1}\n"
        "return y\n",
        1e-5);
}
END_TEST

START_TEST(products_transpose_their_operands)
{
    assert_graphdef_results("x = Placeholder() dtype=float shape=[2,?,4,3]\n"
                            "y = Placeholder() dtype=float shape=[5,4]\n"
                            "a = BatchMatMulV2(x, y) T=float adj_x=true adj_y=true\n",
        "x = input f32[2,n,4,3]\n"
        "y = input f32[5,4]\n"
        "u = transpose x {perm=[0,1,3,2]}\n"
        "v = transpose y {perm=[1,0]}\n"
        "a = matmul u v\n"
        "return a\n",
        1e-6);
    assert_graphdef_refused("x = Placeholder() dtype=float\n"
                            "y = BatchMatMulV2(x, x) T=float adj_x=true\n",
        "BatchMatMulV2 'y' rank");
}
END_TEST

START_TEST(equations_become_products)
{
    prt_graph *g = graphdef_convert("x = Placeholder() dtype=float shape=[?,7,8]\n"
                                    "w = Placeholder() dtype=float shape=[8,2,4]\n"
                                    "y = Einsum(x, w) N=2 T=float equation=\"...d,dhk->...hk\"\n");
    assert_text_has(graph_text(g), "reshape matmul reshape !einsum");
    module_free(g);
    /* as in attention: the batch and the lengths are not known */
    g = graphdef_convert("x = Placeholder() dtype=float shape=[?,?,2,4]\n"
                         "w = Placeholder() dtype=float shape=[2,4,8]\n"
                         "p = Placeholder() dtype=float shape=[?,2,?,?]\n"
                         "a = Einsum(p, x) N=2 T=float equation=\"acbe,aecd->abcd\"\n"
                         "y = Einsum(a, w) N=2 T=float equation=\"abcd,cde->abe\"\n");
    assert_text_has(graph_text(g), "transpose matmul transpose reshape matmul y:0 !einsum");
    module_free(g);
    assert_graphdef_results("x = Placeholder() dtype=float shape=[?,?,2,4]\n"
                            "w = Placeholder() dtype=float shape=[2,4,8]\n"
                            "y = Einsum(x, w) N=2 T=float equation=\"abcd,cde->abe\"\n",
        "x = input f32[a,b,2,4]\n"
        "w = input f32[2,4,8]\n"
        "y = einsum x w {equation=\"abcd,cde->abe\"}\n"
        "return y\n",
        1e-6);
    g = graphdef_convert("x = Placeholder() dtype=float\n"
                         "y = Einsum(x, x) N=2 T=float equation=\"ij,ij->\"\n");
    assert_text_has(graph_text(g), "einsum");
    module_free(g);
}
END_TEST

START_TEST(the_largest_are_found)
{
    assert_graphdef_results("x = Const() value=float[2,4]{3, 1, 3, 2, 1, inf, 0, 5}\n"
                            "k = Const() value=int32[]{2}\n"
                            "t = Const() value=int32[2]{2, 1}\n"
                            "u = Const() value=int32[2]{3, 7}\n"
                            "a = TopKV2(x, k) T=float index_type=int64\n"
                            "b = NthElement(x, k) T=float\n"
                            "c = NthElement(x, k) T=float reverse=true\n"
                            "d = InTopKV2(x, t, k)\n"
                            "e = InTopKV2(x, u, k)\n"
                            "f = Identity(a:1) T=int64\n",
        "b = const f32[2] {3, 5}\n"
        "c = const f32[2] {2, 1}\n"
        "d = const bool[2] {true, false}\n"
        "e = const bool[2] {false, false}\n"
        "f = const i64[2,2] {0, 2, 1, 3}\n"
        "return b, c, d, e, f\n",
        0);
}
END_TEST

/* ---- gathering and scattering */

START_TEST(rows_are_gathered_behind_batch_axes)
{
    assert_graphdef_results(
        "x = Const() value=int32[2,2,3]{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}\n"
        "i = Const() value=int32[2,2]{2, 0, 1, 1}\n"
        "a = Const() value=int32[]{-1}\n"
        "o = Const() value=int32[]{1}\n"
        "j = Const() value=int32[2]{1, 0}\n"
        "y = GatherV2(x, i, a) batch_dims=1 Tparams=int32 Tindices=int32 "
        "Taxis=int32\n"
        "z = GatherV2(x, j, o) batch_dims=-1 Tparams=int32 Tindices=int32 "
        "Taxis=int32\n",
        "y = const i32[2,2,2] {3, 1, 6, 4, 8, 8, 11, 11}\n"
        "z = const i32[2,2,3] {4, 5, 6, 1, 2, 3, 10, 11, 12, 7, 8, 9}\n"
        "return y, z\n",
        0);
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[2,3]\n"
                            "i = Placeholder() dtype=int32\n"
                            "a = Const() value=int32[]{1}\n"
                            "y = GatherV2(x, i, a) batch_dims=1 Tparams=float Tindices=int32 "
                            "Taxis=int32\n",
        "GatherV2 'y' rank");
}
END_TEST

START_TEST(early_opsets_have_other_operators)
{
    static const char text[] = "x = Const() value=int32[2,3]{1, 2, 3, 4, 5, 6}\n"
                               "i = Const() value=int32[2,2]{2, 0, 1, 1}\n"
                               "a = Const() value=int32[]{1}\n"
                               "y = GatherV2(x, i, a) batch_dims=1 Tparams=int32 Tindices=int32 "
                               "Taxis=int32\n"
                               "p = Placeholder() dtype=string shape=[2]\n"
                               "q = Placeholder() dtype=string shape=[]\n"
                               "z = Equal(p, q) T=string\n"
                               "j = Const() value=int32[3,2]{0, 1, 0, 1, 1, 0}\n"
                               "u = Const() value=float[3]{1, 2, 5}\n"
                               "s = Const() value=int32[2]{2, 2}\n"
                               "m = Const() value=float[2,2]{2, 2, 2, 7}\n"
                               "b = ScatterNd(j, u, s) T=float Tindices=int32\n"
                               "c = TensorScatterMax(m, j, u) T=float Tindices=int32\n"
                               "d = Placeholder() dtype=float shape=[3,?]\n"
                               "e = Const() value=int32[3]{0, 0, 1}\n"
                               "f = SegmentSum(d, e) T=float Tindices=int32\n";
    const prt_tf_options options = { .opset = 11 };
    prt_module *m = NULL;
    ck_assert_msg(graphdef_read(text, &options, &m) == POPRT_OK, "%s", last_error());
    assert_text_has(graph_text(m->main), "{3, 1, 5, 5}");
    assert_text_has(graph_text(m->main), "unique equal");
    assert_text_has(graph_text(m->main), "{0, 3, 5, 0}");
    assert_text_has(graph_text(m->main), "{2, 2, 5, 7}");
    assert_text_has(graph_text(m->main), "reduce_sum !scatter_nd");
    prt_module_release(m);
}
END_TEST

START_TEST(negative_classes_are_off_on_any_axis)
{
    assert_graphdef_results("i = Const() value=int64[2]{-1, 1}\n"
                            "d = Const() value=int32[]{3}\n"
                            "on = Const() value=int32[]{7}\n"
                            "off = Const() value=int32[]{-1}\n"
                            "y = OneHot(i, d, on, off) T=int32 TI=int64\n"
                            "z = OneHot(i, d, on, off) T=int32 TI=int64 axis=0\n",
        "y = const i32[2,3] {-1, -1, -1, -1, 7, -1}\n"
        "z = const i32[3,2] {-1, -1, -1, 7, -1, -1}\n"
        "return y, z\n",
        0);
}
END_TEST

START_TEST(repeated_indices_add_up)
{
    assert_graphdef_results("i = Const() value=int32[3,1]{1, 1, 0}\n"
                            "u = Const() value=float[3]{1, 2, 4}\n"
                            "s = Const() value=int32[1]{4}\n"
                            "x = Const() value=float[2]{1, 1}\n"
                            "a = ScatterNd(i, u, s) T=float Tindices=int32\n"
                            "b = TensorScatterUpdate(x, i, u) T=float Tindices=int32\n"
                            "c = TensorScatterSub(x, i, u) T=float Tindices=int32\n",
        "a = const f32[4] {4, 3, 0, 0}\n"
        "b = const f32[2] {4, 2}\n"
        "c = const f32[2] {-3, -2}\n"
        "return a, b, c\n",
        0);
}
END_TEST

START_TEST(rows_are_partitioned_and_stitched)
{
    assert_graphdef_results("x = Const() value=int32[2,2]{1, 2, 3, 4}\n"
                            "p = Const() value=int32[2,2]{1, 0, 1, 3}\n"
                            "y = DynamicPartition(x, p) num_partitions=2 T=int32\n"
                            "i = Const() value=int32[]{4}\n"
                            "j = Const() value=int32[1,2]{1, 4}\n"
                            "v = Const() value=int32[1,2]{5, 6}\n"
                            "w = Const() value=int32[]{9}\n"
                            "z = DynamicStitch(i, j, w, v) N=2 T=int32\n"
                            "e = Const() value=int32[0]{}\n"
                            "f = DynamicStitch(e, e) N=1 T=int32\n"
                            "a = Identity(y:1) T=int32\n",
        "z = const i32[5] {0, 5, 0, 0, 6}\n"
        "f = const i32[0] {}\n"
        "a = const i32[2] {1, 3}\n"
        "return z, f, a\n",
        0);
}
END_TEST

START_TEST(places_are_searched)
{
    assert_graphdef_results("x = Const() value=int32[5]{5, 1, 2, 1, 9}\n"
                            "n = Const() value=int32[0]{}\n"
                            "y = Const() value=int32[2]{1, 9}\n"
                            "a = ListDiff(x, y) T=int32\n"
                            "b = ListDiff(x, n) T=int32 out_idx=int64\n"
                            "c = Unique(x) T=int32\n"
                            "d = Bucketize(x) T=int32 boundaries=(1.0, 5.0)\n"
                            "e = Identity(a:1) T=int32\n"
                            "f = Identity(b:1) T=int64\n"
                            "g = Identity(c:1) T=int32\n",
        "d = const i32[5] {2, 1, 1, 1, 2}\n"
        "e = const i32[2] {0, 2}\n"
        "f = const i64[5] {0, 1, 2, 3, 4}\n"
        "g = const i32[5] {0, 1, 2, 1, 3}\n"
        "return d, e, f, g\n",
        0);
}
END_TEST

START_TEST(sparse_values_become_dense)
{
    assert_graphdef_results("i = Const() value=int64[]{2}\n"
                            "j = Const() value=int64[2]{0, 3}\n"
                            "s = Const() value=int64[1]{4}\n"
                            "v = Const() value=int32[]{7}\n"
                            "d = Const() value=int32[]{-1}\n"
                            "a = SparseToDense(i, s, v, d) T=int32 Tindices=int64\n"
                            "b = SparseToDense(j, s, v, d) T=int32 Tindices=int64\n",
        "a = const i32[4] {-1, -1, 7, -1}\n"
        "b = const i32[4] {7, -1, -1, 7}\n"
        "return a, b\n",
        0);
}
END_TEST

/* ---- segments */

START_TEST(empty_segments_have_their_values)
{
    assert_graphdef_results("x = Const() value=int32[3,2]{1, -2, 3, 4, -5, 6}\n"
                            "i = Const() value=int32[3]{0, 0, 2}\n"
                            "a = SegmentMax(x, i) T=int32 Tindices=int32\n"
                            "b = SegmentProd(x, i) T=int32 Tindices=int32\n"
                            "c = SegmentMean(x, i) T=int32 Tindices=int32\n",
        "a = const i32[3,2] {3, 4, 0, 0, -5, 6}\n"
        "b = const i32[3,2] {3, -8, 1, 1, -5, 6}\n"
        "c = const i32[3,2] {2, 1, 0, 0, -5, 6}\n"
        "return a, b, c\n",
        0);
}
END_TEST

START_TEST(segments_of_no_rows_are_none)
{
    assert_graphdef_results("x = Const() value=float[0,2]{}\n"
                            "i = Const() value=int32[0]{}\n"
                            "a = SegmentSum(x, i) T=float Tindices=int32\n"
                            "s = Shape(a) T=float\n",
        "s = const i32[2] {0, 2}\n"
        "return s\n",
        0);
}
END_TEST

START_TEST(ids_of_unsorted_segments_have_axes)
{
    assert_graphdef_results("x = Const() value=float[2,2]{1, 2, 3, 4}\n"
                            "i = Const() value=int32[2,2]{2, -1, 0, 2}\n"
                            "n = Const() value=int32[]{4}\n"
                            "a = UnsortedSegmentMin(x, i, n) T=float Tindices=int32\n"
                            "b = UnsortedSegmentSum(x, i, n) T=float Tindices=int32\n",
        "a = const f32[4] {3, 3.4028235e38, 1, 3.4028235e38}\n"
        "b = const f32[4] {3, 0, 5, 0}\n"
        "return a, b\n",
        0);
}
END_TEST

START_TEST(numbers_outside_the_bins_are_ignored)
{
    assert_graphdef_results("x = Const() value=int32[2,3]{0, 5, 1, 1, 1, 9}\n"
                            "n = Const() value=int32[]{3}\n"
                            "e = Const() value=float[0]{}\n"
                            "w = Const() value=float[2,3]{1, 2, 3, 4, 5, 6}\n"
                            "a = Bincount(x, n, e) T=float\n"
                            "b = DenseBincount(x, n, w) T=float Tidx=int32\n"
                            "c = DenseBincount(x, n, e) T=float Tidx=int32 binary_output=true\n",
        "a = const f32[3] {1, 3, 0}\n"
        "b = const f32[2,3] {1, 3, 0, 0, 9, 0}\n"
        "c = const f32[2,3] {1, 1, 0, 0, 1, 0}\n"
        "return a, b, c\n",
        0);
}
END_TEST

PRT_TEST_MAIN("tensorflow/op_index", integers_are_reduced_in_their_type,
    empty_ranges_are_reduced_to_neutral_elements, axes_may_be_computed,
    cumulative_results_exclude_and_reverse, cumulative_results_of_unknown_size,
    products_transpose_their_operands, equations_become_products, the_largest_are_found,
    rows_are_gathered_behind_batch_axes, early_opsets_have_other_operators,
    negative_classes_are_off_on_any_axis, repeated_indices_add_up,
    rows_are_partitioned_and_stitched, places_are_searched, sparse_values_become_dense,
    empty_segments_have_their_values, segments_of_no_rows_are_none,
    ids_of_unsorted_segments_have_axes, numbers_outside_the_bins_are_ignored)
