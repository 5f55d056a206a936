/* SPDX-License-Identifier: MIT */
/*
 * Ragged and sparse tensors have TensorFlow's elements (op_ragged.c, op_sparse.c), and random
 * numbers its distributions (op_random.c). Data enter where the caller
 * says (op_entry.c, output_type.c).
 */
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/graphdef_text.h"

/* ---- ragged tensors */

START_TEST(rows_of_ranges_have_lengths)
{
    assert_graphdef_results("s = Const() value=int32[3]{0, 5, 2}\n"
                            "l = Const() value=int32[3]{3, 5, -3}\n"
                            "d = Const() value=int32[3]{1, 1, -2}\n"
                            "z = Const() value=int32[]{2}\n"
                            "o = Const() value=int32[]{1}\n"
                            "a = RaggedRange(s, l, d) T=int32 Tsplits=int64\n"
                            "b = RaggedRange(z, l, o) T=int32 Tsplits=int32\n"
                            "u = Identity(a:1) T=int32\n"
                            "v = Identity(b:1) T=int32\n"
                            "w = Identity(b) T=int32\n",
        "u = const i32[6] {0, 1, 2, 2, 0, -2}\n"
        "v = const i32[4] {2, 2, 3, 4}\n"
        "w = const i32[4] {0, 1, 4, 4}\n"
        "return u, v, w\n",
        0);
}
END_TEST

START_TEST(ragged_rows_are_gathered)
{
    assert_graphdef_results("s = Const() value=int64[4]{0, 2, 2, 5}\n"
                            "v = Const() value=float[5]{1, 2, 3, 4, 5}\n"
                            "i = Const() value=int32[3]{2, 1, 0}\n"
                            "a = RaggedGather(s, v, i) PARAMS_RAGGED_RANK=1 "
                            "OUTPUT_RAGGED_RANK=1 Tvalues=float Tindices=int32 Tsplits=int64\n"
                            "b = Identity(a:1) T=float\n"
                            "c = RaggedTensorToSparse(s, v) RAGGED_RANK=1 T=float Tsplits=int64\n"
                            "d = Identity(a) T=int64\n"
                            "e = Identity(c) T=int64\n"
                            "f = Identity(c:2) T=int64\n",
        "b = const f32[5] {3, 4, 5, 1, 2}\n"
        "d = const i64[4] {0, 3, 3, 5}\n"
        "e = const i64[5,2] {0, 0, 0, 1, 2, 0, 2, 1, 2, 2}\n"
        "f = const i64[2] {3, 3}\n"
        "return b, d, e, f\n",
        0);
}
END_TEST

START_TEST(ragged_rows_are_filled_or_cut)
{
    assert_graphdef_results("s = Const() value=int64[4]{0, 2, 2, 5}\n"
                            "r = Const() value=int64[5]{0, 0, 2, 2, 2}\n"
                            "n = Const() value=int64[]{4}\n"
                            "v = Const() value=float[5]{1, 2, 3, 4, 5}\n"
                            "d = Const() value=float[]{-1}\n"
                            "m = Const() value=int64[]{-1}\n"
                            "w = Const() value=int64[2]{2, -1}\n"
                            "c = Const() value=int64[2]{-1, 2}\n"
                            "x = RaggedTensorToTensor(m, v, d, s) "
                            "row_partition_types=(\"ROW_SPLITS\") num_row_partition_tensors=1\n"
                            "y = RaggedTensorToTensor(w, v, d, s) "
                            "row_partition_types=(\"ROW_SPLITS\") num_row_partition_tensors=1\n"
                            "z = RaggedTensorToTensor(c, v, d, n, r) "
                            "row_partition_types=(\"FIRST_DIM_SIZE\", \"VALUE_ROWIDS\") "
                            "num_row_partition_tensors=2\n",
        "x = const f32[3,3] {1, 2, -1, -1, -1, -1, 3, 4, 5}\n"
        "y = const f32[2,3] {1, 2, -1, -1, -1, -1}\n"
        "z = const f32[4,2] {1, 2, -1, -1, 3, 4, -1, -1}\n"
        "return x, y, z\n",
        0);
    assert_graphdef_refused("s = Const() value=int64[2]{0, 2}\n"
                            "v = Const() value=float[2]{1, 2}\n"
                            "d = Const() value=float[]{-1}\n"
                            "m = Const() value=int64[]{-1}\n"
                            "x = RaggedTensorToTensor(m, v, d, s, s) "
                            "row_partition_types=(\"ROW_SPLITS\", \"ROW_SPLITS\")\n",
        "RaggedTensorToTensor 'x' one ragged axis");
}
END_TEST

/* ---- sparse tensors */

START_TEST(sparse_elements_are_moved_and_sorted)
{
    assert_graphdef_results("i = Const() value=int64[3,2]{1, 2, 0, 1, 1, 0}\n"
                            "v = Const() value=float[3]{12, 1, 10}\n"
                            "s = Const() value=int64[2]{2, 3}\n"
                            "t = Const() value=int64[2]{3, -1}\n"
                            "a = SparseReorder(i, v, s) T=float\n"
                            "b = SparseReshape(i, s, t)\n"
                            "c = Identity(a:1) T=float\n"
                            "d = Identity(a) T=int64\n"
                            "e = Identity(b) T=int64\n"
                            "f = Identity(b:1) T=int64\n",
        "c = const f32[3] {1, 10, 12}\n"
        "d = const i64[3,2] {0, 1, 1, 0, 1, 2}\n"
        "e = const i64[3,2] {2, 1, 0, 1, 1, 1}\n"
        "f = const i64[2] {3, 2}\n"
        "return c, d, e, f\n",
        0);
}
END_TEST

START_TEST(empty_rows_are_filled)
{
    assert_graphdef_results("i = Const() value=int64[3,2]{1, 2, 1, 0, 3, 1}\n"
                            "v = Const() value=float[3]{12, 10, 31}\n"
                            "s = Const() value=int64[2]{5, 3}\n"
                            "d = Const() value=float[]{-1}\n"
                            "a = SparseFillEmptyRows(i, v, s, d) T=float\n"
                            "b = Identity(a) T=int64\n"
                            "c = Identity(a:1) T=float\n"
                            "e = Identity(a:2) T=bool\n"
                            "f = Identity(a:3) T=int64\n",
        "b = const i64[6,2] {0, 0, 1, 2, 1, 0, 2, 0, 3, 1, 4, 0}\n"
        "c = const f32[6] {-1, 12, 10, -1, 31, -1}\n"
        "e = const bool[5] {true, false, true, false, true}\n"
        "f = const i64[3] {1, 2, 4}\n"
        "return b, c, e, f\n",
        0);
}
END_TEST

START_TEST(sparse_elements_are_cut_and_combined)
{
    assert_graphdef_results("i = Const() value=int64[3,2]{0, 1, 1, 0, 1, 2}\n"
                            "v = Const() value=float[3]{1, 10, 12}\n"
                            "s = Const() value=int64[2]{2, 3}\n"
                            "b = Const() value=int64[2]{0, 1}\n"
                            "n = Const() value=int64[2]{5, 2}\n"
                            "w = Const() value=float[3]{2, 3, 4}\n"
                            "x = Const() value=int32[]{1}\n"
                            "a = SparseSlice(i, v, s, b, n) T=float\n"
                            "c = SparseDenseCwiseMul(i, v, s, w) T=float\n"
                            "d = SparseReduceSum(i, v, s, x) T=float\n"
                            "e = Identity(a) T=int64\n"
                            "f = Identity(a:1) T=float\n"
                            "g = Identity(a:2) T=int64\n",
        "c = const f32[3] {3, 20, 48}\n"
        "d = const f32[2] {1, 22}\n"
        "e = const i64[2,2] {0, 0, 1, 1}\n"
        "f = const f32[2] {1, 12}\n"
        "g = const i64[2] {2, 2}\n"
        "return c, d, e, f, g\n",
        0);
}
END_TEST

/* ---- random numbers */

START_TEST(random_numbers_are_drawn)
{
    prt_graph *g = graphdef_convert("s = Placeholder() dtype=int32 shape=[2]\n"
                                    "seed = Const() value=int64[2]{1, 2}\n"
                                    "a = RandomUniform(s) seed=7 dtype=float T=int32\n"
                                    "b = StatelessRandomNormal(s, seed) dtype=float T=int32\n"
                                    "k = StatelessRandomGetKeyCounter(seed)\n"
                                    "l = StatelessRandomGetAlg()\n"
                                    "c = StatelessRandomNormalV2(s, k, k:1, l) dtype=float\n"
                                    "z = Add(a, b) T=float\n"
                                    "y = Add(z, c) T=float\n");
    assert_text_has(graph_text(g), "seed=899");
    assert_text_has(graph_text(g),
        "expand random_uniform_like seed=217 random_normal_like seed=29");
    module_free(g);
    assert_graphdef_refused("s = Placeholder() dtype=int32 shape=[2]\n"
                            "a = StatelessRandomUniform(s, s) T=int32\n",
        "StatelessRandomUniform 'a' seed constant");
}
END_TEST

START_TEST(random_integers_stay_in_their_range)
{
    assert_graphdef_results("s = Const() value=int32[1]{50}\n"
                            "l = Const() value=int32[]{4}\n"
                            "h = Const() value=int32[]{5}\n"
                            "x = RandomUniformInt(s, l, h) Tout=int32 T=int32\n"
                            "n = TruncatedNormal(s) dtype=float T=int32\n"
                            "t = Const() value=float[]{2}\n"
                            "m = Abs(n) T=float\n"
                            "i = LessEqual(m, t) T=float\n"
                            "z = Const() value=int32[]{0}\n"
                            "all = All(i, z)\n"
                            "f = Sub(x, l) T=int32\n"
                            "k = Sum(f, z) T=int32\n"
                            "r = Range(z, t2, one)\n"
                            "one = Const() value=int32[]{1}\n"
                            "t2 = Const() value=int32[]{9}\n"
                            "w = RandomShuffle(r) T=int32\n"
                            "q = Sum(w, z) T=int32\n",
        "all = const bool[] {true}\n"
        "k = const i32[] {0}\n"
        "q = const i32[] {36}\n"
        "return all, k, q\n",
        0);
}
END_TEST

/* ---- data from outside */

START_TEST(tensors_behind_an_entry_can_be_inputs)
{
    static const char text[] = "i = IteratorV2() shared_name=\"\"\n"
                               "x = IteratorGetNext(i) output_types=(float, int32)\n"
                               "y = Neg(x) T=float\n"
                               "z = Abs(x:1) T=int32\n";
    const prt_tf_options options = { .inputs = "x:0[?,3],x:1[2]" };
    prt_module *m = NULL;
    assert_graphdef_refused(text, "1 IteratorGetNext 'x' --inputs");
    ck_assert_msg(graphdef_read(text, &options, &m) == POPRT_OK, "%s", last_error());
    assert_text_has(graph_text(m->main), "input f32[x_0,3] input i32[2] neg abs");
    prt_module_release(m);
}
END_TEST

START_TEST(inner_tensors_have_the_types_of_their_operators)
{
    static const char text[] = "p = Placeholder() dtype=float shape=[2]\n"
                               "k = Const() value=int32[]{1}\n"
                               "a = Less(p, p) T=float\n"
                               "b = Cast(p) SrcT=float DstT=half\n"
                               "c = TopKV2(p, k) T=float index_type=int64\n"
                               "s = Const() value=string[]{\"\"}\n"
                               "d = DecodeJpeg(s)\n"
                               "e = Shape(p) T=float\n"
                               "f = OnesLike(p) T=float\n"
                               "g = Identity(a) T=bool\n"
                               "h = Identity(b) T=half\n"
                               "i = Identity(c:1) T=int64\n"
                               "j = Identity(d) T=uint8\n"
                               "l = Identity(e) T=int32\n"
                               "m = Identity(f) T=float\n";
    const prt_tf_options options = { .inputs = "a[1],b[1],c:1[1],d[1],e[1],f[1]" };
    prt_module *m = NULL;
    ck_assert_msg(graphdef_read(text, &options, &m) == POPRT_OK, "%s", last_error());
    assert_text_has(graph_text(m->main),
        "input bool[1] input f16[1] input i64[1] input u8[1] input i32[1] input f32[1]");
    prt_module_release(m);
}
END_TEST

PRT_TEST_MAIN("tensorflow/op_ragged", rows_of_ranges_have_lengths, ragged_rows_are_gathered,
    ragged_rows_are_filled_or_cut, sparse_elements_are_moved_and_sorted, empty_rows_are_filled,
    sparse_elements_are_cut_and_combined, random_numbers_are_drawn,
    random_integers_stay_in_their_range, tensors_behind_an_entry_can_be_inputs,
    inner_tensors_have_the_types_of_their_operators)
