/* SPDX-License-Identifier: MIT */
/*
 * test_list.c — TensorLists and TensorArrays: outside of loops, as scan outputs, as tensors and as
 * sequences that loops carry. Covers: list.c, op_list.c, loop.c.
 */
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/graphdef_text.h"

#define X "x = Placeholder() dtype=float shape=[4,3]\n"
#define CONST_I(name, value) name " = Const() value=int32[]{" value "}\n"
#define SHAPE(name, dims) name " = Const() value=int32[" dims "\n"

START_TEST(lists_of_tensors_are_read_and_changed)
{
    assert_graphdef_results(
        X SHAPE("shape", "1]{3}") CONST_I("two", "2") CONST_I("one", "1") CONST_I("six",
            "6") "l = TensorListFromTensor(x, shape) element_dtype=float shape_type=int32\n"
                 "row = TensorListGetItem(l, two, shape) element_dtype=float\n"
                 "neg = Neg(row) T=float\nm = TensorListSetItem(l, one, neg) element_dtype=float\n"
                 "p = TensorListPushBack(m, row) element_dtype=float\n"
                 "a = TensorListStack(p, shape) element_dtype=float num_elements=-1\n"
                 "pop = TensorListPopBack(m, shape) element_dtype=float\n"
                 "b = Identity(pop:1) T=float\n"
                 "c = TensorListLength(pop)\n"
                 "big = TensorListResize(m, six)\n"
                 "d = TensorListStack(big, shape) element_dtype=float num_elements=-1\n",
        "x = input f32[4,3]\nzero = const i64[] {0}\nat = const i64[] {2}\nlast = const i64[] {3}\n"
        "row = gather x at {axis=0}\nn = neg row\nax = const i64[1] {0}\n"
        "neg = unsqueeze n ax\none = const i64[1] {1}\ntwo = const i64[1] {2}\n"
        "four = const i64[1] {4}\nq = slice x ax one ax\nr = slice x two four ax\n"
        "m = concat q neg r {axis=0}\nrowx = unsqueeze row ax\na = concat m rowx {axis=0}\n"
        "b = gather m last {axis=0}\nc = const i32[] {3}\nz = const f32[2,3] {0,0,0,0,0,0}\n"
        "d = concat m z {axis=0}\nreturn a, b, c, d\n",
        0);
}
END_TEST

START_TEST(elements_are_gathered_scattered_joined_and_split)
{
    assert_graphdef_results(
        X SHAPE("shape", "1]{3}") SHAPE("some", "2]{3, 0}") SHAPE("lens", "2]{2, 2}")
            SHAPE("place", "4]{3, 1, 0, 2}") CONST_I("n", "4") SHAPE("two",
                "2]{-1, 3}") "l = TensorListFromTensor(x, shape) element_dtype=float\n"
                             "a = TensorListGather(l, some, shape) element_dtype=float\n"
                             "s = TensorListScatterV2(x, place, shape, n) element_dtype=float\n"
                             "b = TensorListStack(s, shape) element_dtype=float\n"
                             "p = TensorListSplit(x, two, lens) element_dtype=float\n"
                             "cc = TensorListConcatV2(p, two, lens) element_dtype=float\n"
                             "c = Identity(cc) T=float\nd = Identity(cc:1) T=int64\n"
                             "j = TensorListConcatLists(l, s) element_dtype=float\ne = "
                             "TensorListLength(j)\n"
                             "f = TensorListElementShape(l) shape_type=int64\n",
        "x = input f32[4,3]\ni = const i64[2] {3, 0}\na = gather x i {axis=0}\n"
        "k = const i64[4] {2, 1, 3, 0}\nb = gather x k {axis=0}\nc = identity x\n"
        "d = const i64[2] {2, 2}\ne = const i32[] {8}\nf = const i64[1] {3}\n"
        "return a, b, c, d, e, f\n",
        0);
}
END_TEST

START_TEST(elements_that_were_not_set_are_zeros)
{
    assert_graphdef_results("x = Placeholder() dtype=float shape=[3]\n" SHAPE("shape", "1]{3}")
                                CONST_I("n", "3") CONST_I("one",
                                    "1") "l = TensorListReserve(shape, n) element_dtype=float\n"
                                         "m = TensorListSetItem(l, one, x) element_dtype=float\n"
                                         "y = TensorListStack(m, shape) element_dtype=float\n",
        "x = input f32[3]\nax = const i64[1] {0}\nr = unsqueeze x ax\nz = const f32[1,3] {0,0,0}\n"
        "y = concat z r z {axis=0}\nreturn y\n",
        0);
}
END_TEST

/* A loop over rows: element `index` of the list becomes twice row i of x. */
#define LOOP(limit, reserved, index)                                                               \
    X SHAPE("shape", "1]{3}") CONST_I("n", reserved) CONST_I("zero",                               \
        "0") "l = TensorListReserve(shape, n) element_dtype=float\n"                               \
             "w = While(zero, l, x) cond=@more body=@step T=(int32,variant,float)\n"               \
             "y = TensorListStack(w:1, shape) element_dtype=float\n"                               \
             "def more(i: int32, l: variant, x: float) -> (r: bool = s:z:0) {\n"                   \
             "  n = Const() value=int32[]{" limit "}\n  s = Less(i, n:output:0) T=int32\n}\n"      \
             "def step(i: int32, l: variant, x: float) -> (j: int32 = k:z:0, m: variant = "        \
             "set:out:0, "                                                                         \
             "z: float = x) {\n"                                                                   \
             "  one = Const() value=int32[]{1}\n  three = Const() value=int32[]{3}\n"              \
             "  k = AddV2(i, one:output:0) T=int32\n  axis = Const() value=int32[]{0}\n"           \
             "  back = Sub(three:output:0, i) T=int32\n  same = Identity(i) T=int32\n"             \
             "  row = GatherV2(x, i, axis:output:0) Tparams=float Tindices=int32 Taxis=int32\n"    \
             "  twice = AddV2(row:output:0, row:output:0) T=float\n"                               \
             "  set = TensorListSetItem(l, " index ", twice:z:0) element_dtype=float\n}\n"

START_TEST(an_element_in_each_iteration_is_a_scan_output)
{
    static const char text[] = LOOP("4", "4", "i");
    assert_graphdef_results(text, "x = input f32[4,3]\ny = add x x\nreturn y\n", 0);
    assert_graphdef_has(text, "loop !scatter_nd !concat");
    /* A list that is longer than the loop ends with zeros. */
    assert_graphdef_results(LOOP("4", "6", "i"),
        "x = input f32[4,3]\na = add x x\nz = const f32[2,3] {0,0,0,0,0,0}\n"
        "y = concat a z {axis=0}\nreturn y\n",
        0);
}
END_TEST

START_TEST(another_order_of_elements_is_kept)
{
    static const char text[] = LOOP("4", "4", "back:z:0");
    assert_graphdef_results(text,
        "x = input f32[4,3]\na = add x x\nk = const i64[4] {3, 2, 1, 0}\ny = gather a k {axis=0}\n"
        "return y\n",
        0);
    assert_graphdef_has(text, "loop scatter_nd");
}
END_TEST

START_TEST(elements_of_different_shapes_are_a_sequence)
{
    /* Row i is repeated i + 1 times; the elements are joined after the loop. */
    assert_graphdef_results(
        X SHAPE("shape", "2]{-1, 3}") CONST_I("zero", "0") SHAPE("lens",
            "0]{}") "any = Const() value=int32[]{-1}\n"
                    "l = EmptyTensorList(shape, any) element_dtype=float\n"
                    "w = While(zero, l, x) cond=@more body=@step T=(int32,variant,float)\n"
                    "y = TensorListConcatV2(w:1, shape, lens) element_dtype=float\n"
                    "z = Identity(y) T=float\n"
                    "def more(i: int32, l: variant, x: float) -> (r: bool = s:z:0) {\n"
                    "  n = Const() value=int32[]{2}\n  s = Less(i, n:output:0) T=int32\n}\n"
                    "def step(i: int32, l: variant, x: float) -> (j: int32 = k:z:0, m: variant = "
                    "p:out:0, "
                    "z: float = x) {\n"
                    "  one = Const() value=int32[]{1}\n  k = AddV2(i, one:output:0) T=int32\n"
                    "  axis = Const() value=int32[1]{0}\n  many = Pack(k:z:0, one:output:0) N=2 "
                    "T=int32 axis=0\n"
                    "  at = Const() value=int32[]{0}\n"
                    "  row = GatherV2(x, i, at:output:0) Tparams=float Tindices=int32 Taxis=int32\n"
                    "  rows = Tile(row1:output:0, many:output:0) T=float Tmultiples=int32\n"
                    "  row1 = ExpandDims(row:output:0, at:output:0) T=float Tdim=int32\n"
                    "  len = TensorListLength(l)\n"
                    "  p = TensorListPushBack(l, rows:output:0) element_dtype=float\n}\n",
        "x = input f32[4,3]\nk = const i64[3] {0, 1, 1}\ny = gather x k {axis=0}\nreturn y\n", 0);
}
END_TEST

/* A TensorArray that a frame of TensorFlow 1 fills: element i is row i of x, negated. */
START_TEST(a_tensor_array_in_a_frame_is_a_scan_output)
{
    static const char text[] = X CONST_I("four", "4") CONST_I("zero", "0") CONST_I("oneo",
        "1") "all = Range(zero, four, oneo) Tidx=int32\n"
             "in = TensorArrayV3(four) dtype=float element_shape=[3]\n"
             "fill = TensorArrayScatterV3(in, all, x, in:1) T=float\n"
             "out = TensorArrayV3(four) dtype=float element_shape=[3]\n"
             "ei = Enter(zero) T=int32 frame_name=\"f\"\nef = Enter(out:1) T=float "
             "frame_name=\"f\"\n"
             "eo = Enter(out) T=resource frame_name=\"f\" is_constant=true\n"
             "en = Enter(in) T=resource frame_name=\"f\" is_constant=true\n"
             "ew = Enter(fill) T=float frame_name=\"f\" is_constant=true\n"
             "mi = Merge(ei, ni) N=2 T=int32\nmf = Merge(ef, nf) N=2 T=float\n"
             "n = Const(^mi) value=int32[]{4}\nless = Less(mi, n) T=int32\nlc = LoopCond(less)\n"
             "si = Switch(mi, lc) T=int32\nsf = Switch(mf, lc) T=float\n"
             "one = Const(^si) value=int32[]{1}\nadd = AddV2(si:1, one) T=int32\n"
             "row = TensorArrayReadV3(en, si:1, ew) dtype=float\nneg = Neg(row) T=float\n"
             "wr = TensorArrayWriteV3(eo, si:1, neg, sf:1) T=float\n"
             "ni = NextIteration(add) T=int32\nnf = NextIteration(wr) T=float\n"
             "q = Exit(sf) T=float\nsize = TensorArraySizeV3(out, q)\n"
             "idx = Range(zero, size, oneo) Tidx=int32\n"
             "y = TensorArrayGatherV3(out, idx, q) dtype=float element_shape=[3]\n";
    assert_graphdef_results(text, "x = input f32[4,3]\ny = neg x\nreturn y\n", 0);
    assert_graphdef_has(text, "loop !scatter_nd !range");
}
END_TEST

START_TEST(lists_in_lists_are_refused)
{
    assert_graphdef_refused(SHAPE("shape",
                                "0]{}") "any = Const() value=int32[]{-1}\n"
                                        "l = EmptyTensorList(shape, any) element_dtype=variant\n"
                                        "y = TensorListLength(l)\n",
        "EmptyTensorList lists in lists");
}
END_TEST

PRT_TEST_MAIN("tensorflow/list", lists_of_tensors_are_read_and_changed,
    elements_are_gathered_scattered_joined_and_split, elements_that_were_not_set_are_zeros,
    an_element_in_each_iteration_is_a_scan_output, another_order_of_elements_is_kept,
    elements_of_different_shapes_are_a_sequence, a_tensor_array_in_a_frame_is_a_scan_output,
    lists_in_lists_are_refused)
