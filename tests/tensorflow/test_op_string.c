/* SPDX-License-Identifier: MIT */
/*
 * Operators on strings have TensorFlow's results (op_string.c), with operators that the opset of
 * the file has.
 */
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/graphdef_text.h"

static prt_graph *convert(const char *text, int64_t opset)
{
    const prt_tf_options options = { .opset = opset };
    prt_module *m = NULL;
    ck_assert_msg(graphdef_read(text, &options, &m) == POPRT_OK, "opset %d: %s", (int)opset,
        last_error());
    ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
    return m->main;
}

/* The results are the same for files of old and new opsets. */
static void assert_results(const char *text, const char *graph)
{
    static const int64_t opsets[] = { 11, 18, 20 };
    for (size_t i = 0; i < PRT_COUNT_OF(opsets); i++) {
        prt_graph *converted = convert(text, opsets[i]), *expected = graph_from_text(graph);
        assert_same_results(converted, expected, 0, 1);
        module_free(converted);
        module_free(expected);
    }
}

static void assert_graph_has(const char *text, int64_t opset, const char *parts)
{
    prt_graph *g = convert(text, opset);
    assert_text_has(graph_text(g), parts);
    module_free(g);
}

static void assert_refused_at(const char *text, int64_t opset, const char *parts)
{
    const prt_tf_options options = { .opset = opset };
    prt_module *m = NULL;
    ck_assert_int_eq(graphdef_read(text, &options, &m), POPRT_E_UNSUPPORTED);
    assert_text_has(last_error(), parts);
}

/* ---- characters */

#define A_UMLAUT "\xc3\xa4"
#define A_UMLAUT_UPPER "\xc3\x84"

START_TEST(letters_of_ascii_or_of_utf8_change)
{
    assert_results("x = Const() value=string[2,2]{\"Ab1\", \"" A_UMLAUT
                   "z\", \"\", \"Q" A_UMLAUT_UPPER "\"}\n"
                   "e = Const() value=string[0,2]{}\n"
                   "a = StringUpper(x)\n"
                   "b = StringLower(x)\n"
                   "c = StringUpper(x) encoding=\"utf-8\"\n"
                   "d = StringLower(x) encoding=\"utf-8\"\n"
                   "f = StringLower(e) encoding=\"utf-8\"\n",
        "a = const string[2,2] {AB1, \"" A_UMLAUT "Z\", \"\", \"Q" A_UMLAUT_UPPER "\"}\n"
        "b = const string[2,2] {ab1, \"" A_UMLAUT "z\", \"\", \"q" A_UMLAUT_UPPER "\"}\n"
        "c = const string[2,2] {AB1, \"" A_UMLAUT_UPPER "Z\", \"\", \"Q" A_UMLAUT_UPPER "\"}\n"
        "d = const string[2,2] {ab1, \"" A_UMLAUT "z\", \"\", \"q" A_UMLAUT "\"}\n"
        "f = const string[0,2] {}\n"
        "return a, b, c, d, f\n");
    assert_graphdef_refused("x = Const() value=string[1]{\"a\"}\n"
                            "y = StringLower(x) encoding=\"latin1\"\n",
        "StringLower 'y' encoding");
}
END_TEST

START_TEST(bytes_or_characters_are_counted_and_cut)
{
    assert_results("x = Const() value=string[2]{\"n" A_UMLAUT "ve\", \"abc\"}\n"
                   "p = Const() value=int32[]{-2}\n"
                   "l = Const() value=int32[]{9}\n"
                   "q = Const() value=int64[2]{1, 0}\n"
                   "m = Const() value=int64[2]{1, 2}\n"
                   "a = StringLength(x)\n"
                   "b = StringLength(x) unit=\"UTF8_CHAR\"\n"
                   "c = Substr(x, p, l) T=int32\n"
                   "d = Substr(x, q, m) T=int64 unit=\"UTF8_CHAR\"\n"
                   "t = Const() value=string[2]{\" \t\", \" x y \"}\n"
                   "e = StringStrip(t)\n",
        "a = const i32[2] {5, 3}\n"
        "b = const i32[2] {4, 3}\n"
        "c = const string[2] {ve, bc}\n"
        "d = const string[2] {\"" A_UMLAUT "\", ab}\n"
        "e = const string[2] {\"\", \"x y\"}\n"
        "return a, b, c, d, e\n");
}
END_TEST

/* ---- joining */

START_TEST(strings_are_joined_with_scalars)
{
    assert_results("x = Const() value=string[2]{\"a\", \"\"}\n"
                   "s = Const() value=string[]{\"-\"}\n"
                   "a = StringJoin(s, x, s) N=3 separator=\"::\"\n"
                   "b = StringJoin(x) N=1 separator=\",\"\n"
                   "c = StringJoin(s, s) N=2\n"
                   "d = AddV2(x, s) T=string\n"
                   "e = Equal(x, s) T=string\n"
                   "z = ZerosLike(x) T=string\n"
                   "f = NotEqual(x, z) T=string\n",
        "a = const string[2] {\"-::a::-\", \"-::::-\"}\n"
        "b = const string[2] {a, \"\"}\n"
        "c = const string[] {\"--\"}\n"
        "d = const string[2] {\"a-\", \"-\"}\n"
        "e = const bool[2] {false, false}\n"
        "f = const bool[2] {true, false}\n"
        "return a, b, c, d, e, f\n");
}
END_TEST

START_TEST(axes_are_joined)
{
    assert_results("x = Const() value=string[2,3]{\"a\", \"b\", \"c\", \"d\", \"e\", \"f\"}\n"
                   "v = Const() value=string[2]{\"p\", \"q\"}\n"
                   "n = Const() value=int32[1]{-1}\n"
                   "z = Const() value=int32[]{0}\n"
                   "t = Const() value=int32[2]{1, 0}\n"
                   "o = Const() value=int32[0]{}\n"
                   "a = ReduceJoin(x, n) separator=\".\"\n"
                   "b = ReduceJoin(x, z) keep_dims=true\n"
                   "c = ReduceJoin(v, z) separator=\"/\"\n"
                   "d = ReduceJoin(v, n) keep_dims=true\n"
                   "e = ReduceJoin(x, t)\n"
                   "f = ReduceJoin(v, o)\n"
                   "w = Const() value=string[2,0]{}\n"
                   "g = ReduceJoin(w, n)\n",
        "a = const string[2] {\"a.b.c\", \"d.e.f\"}\n"
        "b = const string[1,3] {ad, be, cf}\n"
        "c = const string[] {\"p/q\"}\n"
        "d = const string[1] {pq}\n"
        "e = const string[] {abcdef}\n"
        "f = const string[2] {p, q}\n"
        "g = const string[2] {\"\", \"\"}\n"
        "return a, b, c, d, e, f, g\n");
}
END_TEST

START_TEST(strings_of_a_segment_are_joined)
{
    assert_results("x = Const() value=string[4]{\"a\", \"b\", \"c\", \"d\"}\n"
                   "i = Const() value=int32[4]{2, 0, 2, 2}\n"
                   "k = Const() value=int32[]{3}\n"
                   "y = UnsortedSegmentJoin(x, i, k) separator=\"+\" Tindices=int32 "
                   "Tnumsegments=int32\n",
        "y = const string[3] {b, \"\", \"a+c+d\"}\n"
        "return y\n");
}
END_TEST

/* ---- splitting */

#define SPLIT_OUTPUTS                                                                              \
    "i = Identity(s) T=int64\n"                                                                    \
    "v = Identity(s:1) T=string\n"                                                                 \
    "h = Identity(s:2) T=int64\n"

START_TEST(white_space_splits_in_runs)
{
    assert_results("x = Const() value=string[3]{\" a\tbc  \", \"\", \"d\"}\n"
                   "e = Const() value=string[]{\"\"}\n"
                   "s = StringSplitV2(x, e)\n" SPLIT_OUTPUTS,
        "i = const i64[3,2] {0, 0, 0, 1, 2, 0}\n"
        "v = const string[3] {a, bc, d}\n"
        "h = const i64[2] {3, 2}\n"
        "return i, v, h\n");
}
END_TEST

START_TEST(separators_leave_empty_pieces)
{
    assert_results("x = Const() value=string[4]{\",a,,b\", \"\", \"c\", \",\"}\n"
                   "c = Const() value=string[]{\",\"}\n"
                   "s = StringSplitV2(x, c) maxsplit=-1\n" SPLIT_OUTPUTS,
        "i = const i64[8,2] {0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 2, 0, 3, 0, 3, 1}\n"
        "v = const string[8] {\"\", a, \"\", b, \"\", c, \"\", \"\"}\n"
        "h = const i64[2] {4, 4}\n"
        "return i, v, h\n");
    assert_results("x = Const() value=string[0]{}\n"
                   "c = Const() value=string[]{\",\"}\n"
                   "s = StringSplitV2(x, c)\n" SPLIT_OUTPUTS,
        "i = const i64[0,2] {}\n"
        "v = const string[0] {}\n"
        "h = const i64[2] {0, 0}\n"
        "return i, v, h\n");
}
END_TEST

START_TEST(old_split_drops_empty_pieces)
{
    assert_results("x = Const() value=string[2]{\",a;,b\", \"\"}\n"
                   "c = Const() value=string[]{\",;\"}\n"
                   "s = StringSplit(x, c)\n"
                   "t = StringSplit(x, c) skip_empty=false\n"
                   "w = Identity(t:1) T=string\n" SPLIT_OUTPUTS,
        "w = const string[4] {\"\", a, \"\", b}\n"
        "i = const i64[2,2] {0, 0, 0, 1}\n"
        "v = const string[2] {a, b}\n"
        "h = const i64[2] {2, 2}\n"
        "return w, i, v, h\n");
}
END_TEST

START_TEST(long_separators_and_limits_need_opset_20)
{
    static const char text[] = "x = Const() value=string[2]{\"a--b--c\", \"-\"}\n"
                               "c = Const() value=string[]{\"--\"}\n"
                               "s = StringSplitV2(x, c) maxsplit=1\n" SPLIT_OUTPUTS;
    prt_graph *converted = convert(text, 20),
              *expected = graph_from_text("i = const i64[3,2] {0, 0, 0, 1, 1, 0}\n"
                                          "v = const string[3] {a, \"b--c\", \"-\"}\n"
                                          "h = const i64[2] {2, 2}\n"
                                          "return i, v, h\n");
    assert_same_results(converted, expected, 0, 1);
    module_free(converted);
    module_free(expected);
    assert_refused_at(text, 18, "StringSplitV2 's' opset 20");
    assert_refused_at("x = Const() value=string[1]{\"a b\"}\n"
                      "e = Const() value=string[]{\"\"}\n"
                      "s = StringSplitV2(x, e) maxsplit=1\n" SPLIT_OUTPUTS,
        20, "StringSplitV2 's' maxsplit");
}
END_TEST

/* ---- regular expressions */

START_TEST(matches_are_replaced)
{
    assert_results("x = Const() value=string[2]{\"a1b22\", \"none\"}\n"
                   "p = Const() value=string[]{\"([0-9])\"}\n"
                   "w = Const() value=string[]{\"<\\1>\"}\n"
                   "a = RegexReplace(x, p, w) replace_global=false\n"
                   "b = RegexReplace(x, p, w)\n"
                   "c = StaticRegexReplace(x) pattern=\"[a-z]+\" rewrite=\"\"\n",
        "a = const string[2] {\"a<1>b22\", none}\n"
        "b = const string[2] {\"a<1>b<2><2>\", none}\n"
        "c = const string[2] {\"122\", \"\"}\n"
        "return a, b, c\n");
}
END_TEST

START_TEST(patterns_match_whole_strings)
{
    assert_results("x = Const() value=string[2,2]{\"ab\", \"\", \"xab\", \"abab\"}\n"
                   "p = Const() value=string[]{\"(ab)*\"}\n"
                   "a = RegexFullMatch(x, p)\n"
                   "b = StaticRegexFullMatch(x) pattern=\"xa|ab|(?i)XAB\"\n",
        "a = const bool[2,2] {true, true, false, true}\n"
        "b = const bool[2,2] {true, false, true, false}\n"
        "return a, b\n");
    assert_results("x = Const() value=string[]{\"a\"}\n"
                   "b = StaticRegexFullMatch(x) pattern=\"a\"\n",
        "b = const bool[] {true}\n"
        "return b\n");
}
END_TEST

/* ---- numbers */

START_TEST(numbers_are_printed_and_read)
{
    assert_results("i = Const() value=int32[2]{-5, 17}\n"
                   "f = Const() value=float[2]{1.5, -2}\n"
                   "b = Const() value=bool[2]{1, 0}\n"
                   "s = Const() value=string[2]{\" 12\", \"-3\"}\n"
                   "o = AsString(i) T=int32\n"
                   "p = AsString(i) T=int32 width=4 fill=\"0\"\n"
                   "q = AsString(f) T=float\n"
                   "r = AsString(f) T=float precision=1 scientific=true\n"
                   "t = AsString(b) T=bool\n"
                   "u = AsString(s) T=string\n"
                   "v = StringToNumber(s)\n"
                   "w = StringToNumber(s) out_type=int32\n",
        "o = const string[2] {\"-5\", \"17\"}\n"
        "p = const string[2] {\"-005\", \"0017\"}\n"
        "q = const string[2] {\"1.500000\", \"-2.000000\"}\n"
        "r = const string[2] {\"1.5e+00\", \"-2.0e+00\"}\n"
        "t = const string[2] {\"true\", \"false\"}\n"
        "u = const string[2] {\" 12\", \"-3\"}\n"
        "v = const f32[2] {12, -3}\n"
        "w = const i32[2] {12, -3}\n"
        "return o, p, q, r, t, u, v, w\n");
}
END_TEST

/* ---- pieces as sparse tensors */

START_TEST(pieces_become_dense)
{
    assert_results("x = Const() value=string[3]{\"a b\", \"\", \"c\"}\n"
                   "e = Const() value=string[]{\"\"}\n"
                   "d = Const() value=string[]{\"?\"}\n"
                   "s = StringSplitV2(x, e)\n"
                   "y = SparseToDense(s, s:2, s:1, d) T=string Tindices=int64\n"
                   "f = SparseFillEmptyRows(s, s:1, s:2, d) T=string\n"
                   "w = Identity(f:1) T=string\n"
                   "z = Const() value=int32[]{0}\n"
                   "u = Unpack(y) T=string num=2 axis=1\n"
                   "v = Pack(u, u:1) N=2 T=string axis=0\n"
                   "c = ConcatV2(v, v, z) N=2 T=string Tidx=int32\n",
        "w = const string[4] {a, b, \"?\", c}\n"
        "c = const string[4,3] {a, \"?\", c, b, \"?\", \"?\", a, \"?\", c, b, \"?\", \"?\"}\n"
        "return w, c\n");
}
END_TEST

/* ---- refusals */

START_TEST(nodes_that_lack_facts_are_refused)
{
    assert_graphdef_refused("x = Placeholder() dtype=string shape=[?]\n"
                            "c = Placeholder() dtype=string shape=[]\n"
                            "s = StringSplitV2(x, c)\n" SPLIT_OUTPUTS,
        "StringSplitV2 's' separator constant");
    assert_graphdef_refused("x = Placeholder() dtype=string shape=[?]\n"
                            "y = AsString(x) T=string width=4\n",
        "AsString 'y' pads");
    assert_graphdef_refused("x = Placeholder() dtype=string shape=[?]\n"
                            "y = RegexReplace(x, x)\n",
        "RegexReplace 'y' input missing");
    assert_graphdef_refused("x = Placeholder() dtype=string shape=[?]\n"
                            "y = StringToHashBucketStrong(x) num_buckets=7\n",
        "StringToHashBucketStrong key");
    assert_graphdef_refused("y = StringJoin() N=0\n", "StringJoin 'y' input missing");
}
END_TEST

/* ---- operators of the opset */

START_TEST(opsets_choose_the_operators)
{
    static const char text[] = "x = Placeholder() dtype=string shape=[?]\n"
                               "y = Placeholder() dtype=string shape=[?]\n"
                               "a = StringJoin(x, y) N=2\n"
                               "b = StaticRegexFullMatch(x) pattern=\"a\"\n"
                               "c = Equal(x, y) T=string\n"
                               "p = Const() value=string[]{\",\"}\n"
                               "s = StringSplitV2(x, p)\n" SPLIT_OUTPUTS;
    assert_graph_has(text, 18,
        "contrib_string_concat contrib_string_regex_replace "
        "contrib_string_split !regex_full_match");
    assert_graph_has(text, 20, "string_concat regex_full_match equal string_split !contrib");
    assert_graph_has("x = Placeholder() dtype=string shape=[?]\n"
                     "y = StringToHashBucketFast(x) num_buckets=7\n"
                     "z = StringToHashBucketStrong(x) num_buckets=7 key=(1, 2)\n"
                     "w = StringToHashBucket(x) num_buckets=7\n",
        18,
        "contrib_string_to_hash_bucket_fast text_string_to_hash_bucket_strong "
        "num_buckets=7 key=[1,2]");
}
END_TEST

/* ---- operators of other families */

START_TEST(strings_are_moved)
{
    assert_results("x = Const() value=string[3]{\"b\", \"a\", \"b\"}\n"
                   "y = Const() value=string[1]{\"a\"}\n"
                   "i = Const() value=int32[3]{1, 0, 1}\n"
                   "t = Const() value=bool[3]{1, 0, 1}\n"
                   "s = Const() value=int64[3]{0, 2, 3}\n"
                   "d = Const() value=string[]{\"\"}\n"
                   "m = Const() value=int64[]{-1}\n"
                   "u = Unique(x) T=string\n"
                   "a = Identity(u) T=string\n"
                   "b = SelectV2(t, x, d) T=string\n"
                   "l = ListDiff(x, y) T=string\n"
                   "c = Identity(l) T=string\n"
                   "e = DynamicPartition(x, i) num_partitions=2 T=string\n"
                   "f = Identity(e:1) T=string\n"
                   "g = DynamicStitch(i2, i3, y, x) N=2 T=string\n"
                   "i2 = Const() value=int32[1]{3}\n"
                   "i3 = Const() value=int32[3]{0, 1, 5}\n"
                   "h = RaggedTensorToTensor(m, x, d, s) row_partition_types=(\"ROW_SPLITS\") "
                   "num_row_partition_tensors=1\n"
                   "r = Const() value=int64[]{4}\n"
                   "q = Const() value=int64[3]{1, 1, 3}\n"
                   "k = RaggedTensorToTensor(m, x, d, r, q) "
                   "row_partition_types=(\"FIRST_DIM_SIZE\", \"VALUE_ROWIDS\") "
                   "num_row_partition_tensors=2\n",
        "a = const string[2] {b, a}\n"
        "b = const string[3] {b, \"\", b}\n"
        "c = const string[2] {b, b}\n"
        "f = const string[2] {b, b}\n"
        "g = const string[6] {b, a, \"\", a, \"\", b}\n"
        "h = const string[2,2] {b, a, b, \"\"}\n"
        "k = const string[4,2] {\"\", \"\", b, a, \"\", \"\", b, \"\"}\n"
        "return a, b, c, f, g, h, k\n");
}
END_TEST

PRT_TEST_MAIN("tensorflow/op_string", letters_of_ascii_or_of_utf8_change,
    bytes_or_characters_are_counted_and_cut, strings_are_joined_with_scalars, axes_are_joined,
    strings_of_a_segment_are_joined, white_space_splits_in_runs, separators_leave_empty_pieces,
    old_split_drops_empty_pieces, long_separators_and_limits_need_opset_20, matches_are_replaced,
    patterns_match_whole_strings, numbers_are_printed_and_read, pieces_become_dense,
    nodes_that_lack_facts_are_refused, opsets_choose_the_operators, strings_are_moved)
