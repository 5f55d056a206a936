/* SPDX-License-Identifier: MIT */
/*
 * Operators of TensorFlow that change shapes, move elements and slice have its results, with known
 * and unknown shapes (op_shape.c, op_slice.c, op_space.c).
 */
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/graphdef_text.h"

START_TEST(zeros_of_a_shape_are_dimensions)
{
    assert_graphdef_results("x = Const() value=float[0,2]{}\n"
                            "s = Const() value=int32[2]{3, 0}\n"
                            "y = Reshape(x, s) T=float Tshape=int32\n"
                            "n = Size(y) T=float\n"
                            "r = Rank(y) T=float\n"
                            "v = Shape(y) T=float out_type=int64\n",
        "n = const i32[] {0}\n"
        "r = const i32[] {2}\n"
        "v = const i64[2] {3, 0}\n"
        "return n, r, v\n",
        0);
}
END_TEST

START_TEST(shapes_are_computed_from_free_dimensions)
{
    static const char text[] = "x = Placeholder() dtype=float shape=[?,4,6]\n"
                               "s = Shape(x) T=float\n"
                               "z = Const() value=int32[1]{0}\n"
                               "o = Const() value=int32[1]{1}\n"
                               "m = Const() value=int32[]{-1}\n"
                               "h = Const() value=int32[]{2}\n"
                               "b = StridedSlice(s, z, o, o) T=int32 Index=int32 "
                               "shrink_axis_mask=1\n"
                               "u = Unpack(s) T=int32 num=3\n"
                               "w = FloorDiv(u:2, h) T=int32\n"
                               "p = Pack(b, m, w, h) N=4 T=int32\n"
                               "y = Reshape(x, p) T=float Tshape=int32\n";
    prt_graph *g = graphdef_convert(text);
    assert_text_has(graph_text(g), "{0, -1, 3, 2} reshape !cast !div");
    module_free(g);
}
END_TEST

START_TEST(dense_layers_of_free_dimensions_are_products)
{
    prt_graph *g = graphdef_convert("x = Placeholder() dtype=float shape=[?,?,4]\n"
                                    "w = Const() value=float[4,2]{1, 2, 3, 4, 5, 6, 7, 8}\n"
                                    "s = Shape(x) T=float\n"
                                    "i = Const() value=int32[2]{0, 1}\n"
                                    "z = Const() value=int32[]{0}\n"
                                    "v = Const() value=int32[1]{0}\n"
                                    "k = Const() value=int32[]{4}\n"
                                    "o = Const() value=int32[1]{2}\n"
                                    "f = GatherV2(s, i, z) Tparams=int32 Tindices=int32 "
                                    "Taxis=int32\n"
                                    "p = Prod(f, v) T=int32\n"
                                    "r = Pack(p, k) N=2 T=int32\n"
                                    "a = Reshape(x, r) T=float Tshape=int32\n"
                                    "m = MatMul(a, w) T=float\n"
                                    "c = ConcatV2(f, o, z) N=2 T=int32 Tidx=int32\n"
                                    "y = Reshape(m, c) T=float Tshape=int32\n");
    assert_text_has(graph_text(g), "y:0 = matmul x:0 !reshape !shape");
    module_free(g);
}
END_TEST

START_TEST(squeeze_drops_what_a_run_knows_to_be_one)
{
    prt_graph *g = graphdef_convert("x = Placeholder() dtype=float shape=[?,1,3]\n"
                                    "y = Squeeze(x) T=float\n");
    assert_text_has(graph_text(g), "squeeze x:0 @y");
    module_free(g);
    assert_graphdef_results("x = Placeholder() dtype=float shape=[1,1,3]\n"
                            "y = Squeeze(x) T=float\n"
                            "z = Squeeze(x) T=float squeeze_dims=(-2)\n",
        "x = input f32[1,1,3]\n"
        "a = const i64[2] {0, 1}\n"
        "b = const i64[1] {1}\n"
        "y = squeeze x a\n"
        "z = squeeze x b\n"
        "return y, z\n",
        0);
}
END_TEST

START_TEST(one_part_of_a_split_takes_the_rest)
{
    assert_graphdef_results("x = Const() value=int32[1,6]{1, 2, 3, 4, 5, 6}\n"
                            "n = Const() value=int64[3]{1, -1, 2}\n"
                            "a = Const() value=int32[]{-1}\n"
                            "y = SplitV(x, n, a) num_split=3 T=int32 Tlen=int64\n"
                            "z = Concat(a, y:2, y:1, y:0) N=3 T=int32\n",
        "z = const i32[1,6] {5, 6, 2, 3, 4, 1}\n"
        "return z\n",
        0);
}
END_TEST

START_TEST(the_edge_is_repeated_by_symmetric_padding)
{
    assert_graphdef_results("x = Const() value=int32[2,3]{1, 2, 3, 4, 5, 6}\n"
                            "p = Const() value=int32[2,2]{1, 0, 2, 3}\n"
                            "q = Const() value=int32[2,2]{1, 0, 2, 1}\n"
                            "y = MirrorPad(x, p) T=int32 mode=\"SYMMETRIC\"\n"
                            "z = MirrorPad(x, q) T=int32 mode=\"REFLECT\"\n",
        "y = const i32[3,8] {2, 1, 1, 2, 3, 3, 2, 1, 2, 1, 1, 2, 3, 3, 2, 1, 5, 4, 4, 5, 6, 6, 5, "
        "4}\n"
        "z = const i32[3,6] {6, 5, 4, 5, 6, 5, 3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5}\n"
        "return y, z\n",
        0);
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[2,3]\n"
                            "p = Placeholder() dtype=int32 shape=[2,2]\n"
                            "y = MirrorPad(x, p) T=float mode=\"SYMMETRIC\"\n",
        "MirrorPad 'y' padding constant");
}
END_TEST

START_TEST(linear_spaces_end_exactly)
{
    assert_graphdef_results("a = Const() value=float[]{0.1}\n"
                            "b = Const() value=float[]{0.7}\n"
                            "n = Const() value=int32[]{4}\n"
                            "o = Const() value=int32[]{1}\n"
                            "y = LinSpace(a, b, n) T=float\n"
                            "z = LinSpace(a, b, o) T=float\n"
                            "l = Const() value=int32[]{3}\n"
                            "e = Unpack(y) T=float num=4\n"
                            "t = Sub(e:3, b) T=float\n"
                            "k = Equal(e:3, b) T=float\n",
        "z = const f32[1] {0.1}\n"
        "k = const bool[] {true}\n"
        "t = const f32[] {0}\n"
        "return z, t, k\n",
        0);
}
END_TEST

START_TEST(axes_are_reversed_and_rolled)
{
    assert_graphdef_results("x = Const() value=int32[2,3]{1, 2, 3, 4, 5, 6}\n"
                            "a = Const() value=int32[2]{-1, 0}\n"
                            "e = Const() value=int32[0]{}\n"
                            "s = Const() value=int32[2]{-4, 3}\n"
                            "b = Const() value=int64[2]{1, 0}\n"
                            "r = ReverseV2(x, a) T=int32 Tidx=int32\n"
                            "q = ReverseV2(x, e) T=int32 Tidx=int32\n"
                            "y = Roll(x, s, b) T=int32 Tshift=int32 Taxis=int64\n",
        "r = const i32[2,3] {6, 5, 4, 3, 2, 1}\n"
        "q = const i32[2,3] {1, 2, 3, 4, 5, 6}\n"
        "y = const i32[2,3] {5, 6, 4, 2, 3, 1}\n"
        "return r, q, y\n",
        0);
    assert_graphdef_results("x = Const() value=int32[5]{1, 2, 3, 4, 5}\n"
                            "z = Const() value=int32[]{0}\n"
                            "s = Placeholder() dtype=int32 shape=[]\n"
                            "m = Sub(s, s) T=int32\n"
                            "o = Const() value=int32[]{-2}\n"
                            "t = Add(m, o) T=int32\n"
                            "y = Roll(x, t, z) T=int32 Tshift=int32 Taxis=int32\n",
        "s = input i32[]\n"
        "x = const i32[5] {3, 4, 5, 1, 2}\n"
        "y = identity x\n"
        "return y\n",
        0);
    assert_graphdef_refused("x = Const() value=int32[2]{1, 2}\n"
                            "s = Const() value=int32[]{1}\n"
                            "a = Const() value=int32[]{-2147483648}\n"
                            "y = Roll(x, s, a) T=int32 Tshift=int32 Taxis=int32\n",
        "Roll 'y' axis");
}
END_TEST

START_TEST(sequences_are_reversed_along_any_axes)
{
    assert_graphdef_results("x = Const() value=int32[1,2,3]{1, 2, 3, 4, 5, 6}\n"
                            "n = Const() value=int32[2]{2, 3}\n"
                            "y = ReverseSequence(x, n) seq_dim=2 batch_dim=1 T=int32 Tlen=int32\n",
        "y = const i32[1,2,3] {2, 1, 3, 6, 5, 4}\n"
        "return y\n",
        0);
}
END_TEST

START_TEST(shapes_are_broadcast)
{
    assert_graphdef_results("a = Const() value=int32[3]{2, 1, 5}\n"
                            "b = Const() value=int32[2]{0, 5}\n"
                            "y = BroadcastArgs(a, b)\n",
        "y = const i32[3] {2, 0, 5}\n"
        "return y\n",
        0);
}
END_TEST

START_TEST(gradients_know_the_axes_and_offsets)
{
    assert_graphdef_results("a = Const() value=int32[3]{2, 1, 5}\n"
                            "b = Const() value=int32[2]{4, 1}\n"
                            "x = Const() value=int32[]{1}\n"
                            "y = BroadcastGradientArgs(a, b) T=int32\n"
                            "o = ConcatOffset(x, a, a, a) N=3\n"
                            "p = Identity(y) T=int32\n"
                            "q = Identity(y:1) T=int32\n"
                            "r = Identity(o:2) T=int32\n",
        "p = const i32[1] {1}\n"
        "q = const i32[2] {0, 2}\n"
        "r = const i32[3] {0, 2, 0}\n"
        "return p, q, r\n",
        0);
}
END_TEST

/* ---- slices */

#define SLICED "x = Const() value=int32[2,2,3]{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}\n"

START_TEST(masks_belong_to_entries_not_to_axes)
{
    assert_graphdef_results(SLICED
        "b = Const() value=int32[3]{1, 0, -1}\n"
        "e = Const() value=int32[3]{2, 0, 9}\n"
        "s = Const() value=int32[3]{1, 1, -1}\n"
        "y = StridedSlice(x, b, e, s) T=int32 Index=int32 ellipsis_mask=2 shrink_axis_mask=1 "
        "end_mask=4\n"
        "z = StridedSlice(x, b, e, s) T=int32 Index=int32 new_axis_mask=2 end_mask=4 "
        "shrink_axis_mask=2\n"
        "w = StridedSlice(x, b, e, s) T=int32 Index=int32 ellipsis_mask=1 new_axis_mask=2 "
        "shrink_axis_mask=4\n",
        "y = const i32[2,3] {9, 8, 7, 12, 11, 10}\n"
        "z = const i32[1,1,2,3] {10, 11, 12, 7, 8, 9}\n"
        "w = const i32[2,2,1] {3, 6, 9, 12}\n"
        "return y, z, w\n",
        0);
}
END_TEST

START_TEST(computed_indices_slice_at_run_time)
{
    assert_graphdef_results(SLICED
        "i = Placeholder() dtype=int32 shape=[]\n"
        "zero = Sub(i, i) T=int32\n"
        "one = Const() value=int32[]{1}\n"
        "k = Sub(zero, one) T=int32\n"
        "o = Const() value=int32[1]{0}\n"
        "b = Pack(k, zero) N=2 T=int32\n"
        "e = Pack(zero, k) N=2 T=int32\n"
        "s = Pack(one, k) N=2 T=int32\n"
        "y = StridedSlice(x, b, e, s) T=int32 Index=int32 shrink_axis_mask=1 begin_mask=2 "
        "end_mask=2\n"
        "n = Pack(k, k, one) N=3 T=int32\n"
        "c = Pack(zero, one, one) N=3 T=int32\n"
        "z = Slice(x, c, n) T=int32 Index=int32\n",
        "i = input i32[]\n"
        "y = const i32[2,3] {10, 11, 12, 7, 8, 9}\n"
        "z = const i32[2,1,1] {5, 11}\n"
        "a = identity y\n"
        "b = identity z\n"
        "return a, b\n",
        0);
}
END_TEST

START_TEST(the_rank_of_a_slice_need_not_be_known)
{
    prt_graph *g = graphdef_convert("x = Placeholder() dtype=float\n"
                                    "b = Const() value=int32[2]{0, 1}\n"
                                    "e = Const() value=int32[2]{0, 3}\n"
                                    "s = Const() value=int32[2]{1, 1}\n"
                                    "y = StridedSlice(x, b, e, s) T=float Index=int32 "
                                    "ellipsis_mask=1\n");
    assert_text_has(graph_text(g), "{-1} slice");
    module_free(g);
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[2]\n"
                            "b = Placeholder() dtype=int32\n"
                            "y = StridedSlice(x, b, b, b) T=float Index=int32\n",
        "StridedSlice 'y' number of its indices");
    assert_graphdef_refused(SLICED "b = Const() value=int32[2]{0, 1}\n"
                                   "y = StridedSlice(x, b, b, b) T=int32 Index=int32 "
                                   "ellipsis_mask=3\n",
        "StridedSlice 'y' ellipses");
}
END_TEST

START_TEST(values_are_written_to_slices)
{
    assert_graphdef_results("x = Const() value=int32[2,4]{1, 2, 3, 4, 5, 6, 7, 8}\n"
                            "b = Const() value=int32[2]{1, 3}\n"
                            "e = Const() value=int32[2]{2, 0}\n"
                            "s = Const() value=int32[2]{1, -2}\n"
                            "v = Const() value=int32[2]{-1, -2}\n"
                            "y = TensorStridedSliceUpdate(x, b, e, s, v) T=int32 Index=int32 "
                            "shrink_axis_mask=1\n",
        "y = const i32[2,4] {1, 2, 3, 4, 5, -2, 7, -1}\n"
        "return y\n",
        0);
}
END_TEST

/* ---- blocks */

START_TEST(space_goes_to_batches_and_back)
{
    assert_graphdef_results("x = Const() value=int32[1,3,2]{1, 2, 3, 4, 5, 6}\n"
                            "b = Const() value=int32[1]{2}\n"
                            "p = Const() value=int32[1,2]{0, 1}\n"
                            "y = SpaceToBatchND(x, b, p) T=int32\n"
                            "z = BatchToSpaceND(y, b, p) T=int32\n",
        "z = const i32[1,3,2] {1, 2, 3, 4, 5, 6}\n"
        "return z\n",
        0);
    prt_graph *g = graphdef_convert("x = Placeholder() dtype=float shape=[?,?,4,3]\n"
                                    "b = Const() value=int32[2]{2, 2}\n"
                                    "p = Const() value=int32[2,2]{1, 1, 0, 2}\n"
                                    "y = SpaceToBatchND(x, b, p) T=float\n");
    assert_text_has(graph_text(g), "pad reshape transpose reshape !where");
    module_free(g);
}
END_TEST

START_TEST(formats_order_vectors_and_axes)
{
    assert_graphdef_results("x = Const() value=int32[2,2]{1, 2, 3, 4}\n"
                            "v = Const() value=int32[5]{1, 2, 3, 4, 5}\n"
                            "i = Const() value=int32[3]{-1, 0, 1}\n"
                            "a = DataFormatVecPermute(x) T=int32\n"
                            "b = DataFormatVecPermute(v) T=int32 src_format=\"NDHWC\" "
                            "dst_format=\"NCDHW\"\n"
                            "c = DataFormatDimMap(i) T=int32\n"
                            "d = DataFormatVecPermute(x) T=int32 src_format=\"NHWC\" "
                            "dst_format=\"NCWH\"\n",
        "a = const i32[2,2] {1, 2, 3, 4}\n"
        "b = const i32[5] {1, 5, 2, 3, 4}\n"
        "c = const i32[3] {1, 0, 2}\n"
        "d = const i32[2,2] {3, 4, 1, 2}\n"
        "return a, b, c, d\n",
        0);
    assert_graphdef_refused("v = Const() value=int32[4]{1, 2, 3, 4}\n"
                            "b = DataFormatVecPermute(v) T=int32 src_format=\"NDHWC\"\n",
        "DataFormatVecPermute formats");
}
END_TEST

PRT_TEST_MAIN("tensorflow/op_shape", zeros_of_a_shape_are_dimensions,
    shapes_are_computed_from_free_dimensions, dense_layers_of_free_dimensions_are_products,
    squeeze_drops_what_a_run_knows_to_be_one, one_part_of_a_split_takes_the_rest,
    the_edge_is_repeated_by_symmetric_padding, linear_spaces_end_exactly,
    axes_are_reversed_and_rolled, sequences_are_reversed_along_any_axes, shapes_are_broadcast,
    gradients_know_the_axes_and_offsets, masks_belong_to_entries_not_to_axes,
    computed_indices_slice_at_run_time, the_rank_of_a_slice_need_not_be_known,
    values_are_written_to_slices, space_goes_to_batches_and_back, formats_order_vectors_and_axes)
