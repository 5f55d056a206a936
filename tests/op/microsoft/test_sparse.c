/* SPDX-License-Identifier: MIT */
/* test_sparse.c — sparse attention, decoder attention and relative position biases. Expected
 * values come from onnxruntime 1.31.1 or, where it has no CPU kernel, from numpy.
 * Covers: sparse_attention.c, decoder_attention.c, relative_bias.c. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(relative_biases_have_their_values)
{
    ck_result_near("x0 = const f32[4,2] {0.7,1,0.9,-0.8,-0.9,0.4,-0.3,0}\n"
                   "x1 = const i64[1] {4}\n"
                   "x2 = const i64[1] {4}\n"
                   "y0 = ms_relative_position_bias x0 x1 x2 {max_distance=8, is_bidirectional=0}\n"
                   "return y0\n",
        "f32[1,2,4,4] {0.7,0.7,0.7,0.7,1,0.7,0.7,0.7,0.9,1,0.7,0.7,0.9,0.9,1,0.7,-0.9,-0.9,-0.9,"
        "-0.9,0.4,-0.9,-0.9,-0.9,-0.3,0.4,-0.9,-0.9,-0.3,-0.3,0.4,-0.9}",
        1e-5);
    ck_result_near("x0 = const f32[4,2] {0.7,1,0.9,-0.8,-0.9,0.4,-0.3,0}\n"
                   "x1 = const i64[1] {2}\n"
                   "x2 = const i64[1] {5}\n"
                   "y0 = ms_relative_position_bias x0 x1 x2 {max_distance=8, is_bidirectional=1}\n"
                   "return y0\n",
        "f32[1,2,2,5] {0.7,-0.8,-0.8,-0.8,-0.8,1,0.7,-0.8,-0.8,-0.8,-0.9,0,0,0,0,0.4,-0.9,0,0,0}",
        1e-5);
    ck_result_near("x0 = const f32[1,2,2] {0.3,0.6,0.5,-0.1}\n"
                   "x1 = const f32[2] {-0.3,0.3}\n"
                   "x2 = const f32[1,1,2,2] {0.8,0.7,0.7,-0.5}\n"
                   "x3 = const f32[2,2] {-0.6,0.4,0,1}\n"
                   "x4 = const f32[2] {-0.6,0.9}\n"
                   "x5 = const f32[1,1,1,1] {0.9}\n"
                   "y0 = ms_gated_relative_position_bias x0 x1 x2 x3 x4 x5 {num_heads=1}\n"
                   "return y0\n",
        "f32[1,1,2,2] {1.5354624,1.3435296,1.3286011,-0.94900084}", 1e-5);
}
END_TEST

START_TEST(longformer_attention_has_its_values)
{
    ck_result_near("x0 = const f32[1,4,2] {-0.6,0.5,0.1,-0.6,0.7,0.6,0,-0.2}\n"
                   "x1 = const f32[2,6] {0.8,-0.4,0.3,0.2,-0.7,0.4,-0.4,-0.2,-0.5,-0.6,0.4,-0.9}\n"
                   "x2 = const f32[6] {0.2,0.3,0.5,-0.4,-0.9,0.2}\n"
                   "x3 = const f32[1,4] {0,0,0,-1}\n"
                   "x4 = const f32[2,6] {-0.9,0.8,-1,0.6,0,-0.1,-0.3,-0.9,0.2,0,0.1,0}\n"
                   "x5 = const f32[6] {0.7,-0.2,0.8,-1,-0.3,0.1}\n"
                   "x6 = const i32[1,4] {0,1,0,0}\n"
                   "y0 = ms_longformer_attention x0 x1 x2 x3 x4 x5 x6 {num_heads=1, window=1}\n"
                   "return y0\n",
        "f32[1,4,2] {-0.74289566,0.14212635,-0.27979973,0.10438269,-1.1816783,0.38349664,"
        "-1.1833965,0.40755042}",
        1e-5);
}
END_TEST

START_TEST(decoder_attention_has_its_values)
{
    ck_result_near(
        "x0 = const f32[2,1,2] {-1,0.1,-0.7,1}\n"
        "x1 = const f32[3,1,2] {0.6,0.2,0.4,0.7,0.3,0.9}\n"
        "x2 = const f32[2,2] {-0.9,0.2,-0.9,-0.2}\n"
        "x3 = const f32[2,4] {0.2,0.3,-0.9,0.3,0.3,-1,-0.8,0}\n"
        "x4 = const f32[6] {0.7,-0.3,0.4,-0.8,0.7,0.4}\n"
        "x5 = const bool[1,2] {false,true}\n"
        "x8 = const bool[1] {false}\n"
        "x9 = const bool[1] {false}\n"
        "x10 = const bool[1] {false}\n"
        "x11 = const bool[1] {true}\n"
        "y0, y1, y2 = ms_decoder_attention x0 x1 x2 x3 x4 x5 _ _ x8 x9 x10 x11 {num_heads=1}\n"
        "return y0\n",
        "f32[2,1,2] {1.52,0.099999994,1.52,0.099999994}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,1,2] {-1,0.1,-0.7,1}\n"
        "x1 = const f32[3,1,2] {0.6,0.2,0.4,0.7,0.3,0.9}\n"
        "x2 = const f32[2,2] {-0.9,0.2,-0.9,-0.2}\n"
        "x3 = const f32[2,4] {0.2,0.3,-0.9,0.3,0.3,-1,-0.8,0}\n"
        "x4 = const f32[6] {0.7,-0.3,0.4,-0.8,0.7,0.4}\n"
        "x5 = const bool[1,2] {false,true}\n"
        "x8 = const bool[1] {false}\n"
        "x9 = const bool[1] {false}\n"
        "x10 = const bool[1] {false}\n"
        "x11 = const bool[1] {true}\n"
        "y0, y1, y2 = ms_decoder_attention x0 x1 x2 x3 x4 x5 _ _ x8 x9 x10 x11 {num_heads=1}\n"
        "return y1\n",
        "f32[1,1,2,2] {0.23,-1.2,0.56,-2.01}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,1,2] {-1,0.1,-0.7,1}\n"
        "x1 = const f32[3,1,2] {0.6,0.2,0.4,0.7,0.3,0.9}\n"
        "x2 = const f32[2,2] {-0.9,0.2,-0.9,-0.2}\n"
        "x3 = const f32[2,4] {0.2,0.3,-0.9,0.3,0.3,-1,-0.8,0}\n"
        "x4 = const f32[6] {0.7,-0.3,0.4,-0.8,0.7,0.4}\n"
        "x5 = const bool[1,2] {false,true}\n"
        "x8 = const bool[1] {false}\n"
        "x9 = const bool[1] {false}\n"
        "x10 = const bool[1] {false}\n"
        "x11 = const bool[1] {true}\n"
        "y0, y1, y2 = ms_decoder_attention x0 x1 x2 x3 x4 x5 _ _ x8 x9 x10 x11 {num_heads=1}\n"
        "return y2\n",
        "f32[1,1,2,2] {1.52,0.099999994,0.53,0.19}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,1,2] {-0.8,0.2,0.7,0.1}\n"
        "x1 = const f32[3,1,2] {-1,-0.4,-0.1,-1,-0.9,-0.2}\n"
        "x2 = const f32[2,2] {-0.7,0.6,-0.2,0.7}\n"
        "x3 = const f32[2,4] {-0.2,-0.3,0.4,0.2,0,-0.7,-0.7,0.9}\n"
        "x4 = const f32[6] {-0.2,0.9,-0.6,0.3,0.4,0.6}\n"
        "x8 = const bool[1] {true}\n"
        "x9 = const bool[1] {false}\n"
        "x10 = const bool[1] {false}\n"
        "x11 = const bool[1] {false}\n"
        "y0, y1, y2 = ms_decoder_attention x0 x1 x2 x3 x4 _ _ _ x8 x9 x10 x11 {num_heads=1}\n"
        "return y0\n",
        "f32[2,1,2] {0.5178792,-0.021246484,0.56943154,-0.051482715}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,1,2] {-0.8,0.2,0.7,0.1}\n"
        "x1 = const f32[3,1,2] {-1,-0.4,-0.1,-1,-0.9,-0.2}\n"
        "x2 = const f32[2,2] {-0.7,0.6,-0.2,0.7}\n"
        "x3 = const f32[2,4] {-0.2,-0.3,0.4,0.2,0,-0.7,-0.7,0.9}\n"
        "x4 = const f32[6] {-0.2,0.9,-0.6,0.3,0.4,0.6}\n"
        "x8 = const bool[1] {true}\n"
        "x9 = const bool[1] {false}\n"
        "x10 = const bool[1] {false}\n"
        "x11 = const bool[1] {false}\n"
        "y0, y1, y2 = ms_decoder_attention x0 x1 x2 x3 x4 _ _ _ x8 x9 x10 x11 {num_heads=1}\n"
        "return y1\n",
        "f32[1,1,3,2] {-0.40000004,0.88,-0.58000004,1.03,-0.42000002,0.71000004}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,1,2] {-0.8,0.2,0.7,0.1}\n"
        "x1 = const f32[3,1,2] {-1,-0.4,-0.1,-1,-0.9,-0.2}\n"
        "x2 = const f32[2,2] {-0.7,0.6,-0.2,0.7}\n"
        "x3 = const f32[2,4] {-0.2,-0.3,0.4,0.2,0,-0.7,-0.7,0.9}\n"
        "x4 = const f32[6] {-0.2,0.9,-0.6,0.3,0.4,0.6}\n"
        "x8 = const bool[1] {true}\n"
        "x9 = const bool[1] {false}\n"
        "x10 = const bool[1] {false}\n"
        "x11 = const bool[1] {false}\n"
        "y0, y1, y2 = ms_decoder_attention x0 x1 x2 x3 x4 _ _ _ x8 x9 x10 x11 {num_heads=1}\n"
        "return y2\n",
        "f32[1,1,3,2] {0.28,0.040000025,1.06,-0.31999996,0.18,0.24000002}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,1,2] {0.5,-0.8,0.9,-0.7}\n"
        "x1 = const f32[3,1,2] {0.1,0.9,-0.2,0.1,0,0.3}\n"
        "x2 = const f32[2,2] {0.3,-0.4,-1,0.2}\n"
        "x3 = const f32[2,4] {0.8,0.4,0.9,-0.7,-0.5,0.7,-1,-0.4}\n"
        "x4 = const f32[6] {-1,-0.5,0.6,-0.5,-0.8,-0.4}\n"
        "x6 = const f32[1,1,2,2] {0.4,0.3,0.3,0.8}\n"
        "x7 = const f32[1,1,2,2] {-0.1,0.1,0.5,-0.9}\n"
        "x8 = const bool[1] {false}\n"
        "x9 = const bool[1] {true}\n"
        "x10 = const bool[1] {true}\n"
        "x11 = const bool[1] {false}\n"
        "y0, y1, y2 = ms_decoder_attention x0 x1 x2 x3 x4 _ x6 x7 x8 x9 x10 x11 {num_heads=1}\n"
        "return y0\n",
        "f32[2,1,2] {0.43598518,-0.49630827,0.44546828,-0.49923378}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,1,2] {0.5,-0.8,0.9,-0.7}\n"
        "x1 = const f32[3,1,2] {0.1,0.9,-0.2,0.1,0,0.3}\n"
        "x2 = const f32[2,2] {0.3,-0.4,-1,0.2}\n"
        "x3 = const f32[2,4] {0.8,0.4,0.9,-0.7,-0.5,0.7,-1,-0.4}\n"
        "x4 = const f32[6] {-1,-0.5,0.6,-0.5,-0.8,-0.4}\n"
        "x6 = const f32[1,1,2,2] {0.4,0.3,0.3,0.8}\n"
        "x7 = const f32[1,1,2,2] {-0.1,0.1,0.5,-0.9}\n"
        "x8 = const bool[1] {false}\n"
        "x9 = const bool[1] {true}\n"
        "x10 = const bool[1] {true}\n"
        "x11 = const bool[1] {false}\n"
        "y0, y1, y2 = ms_decoder_attention x0 x1 x2 x3 x4 _ x6 x7 x8 x9 x10 x11 {num_heads=1}\n"
        "return y1\n",
        "f32[1,1,4,2] {0.4,0.3,0.3,0.8,1.4000001,-0.86,1.67,-0.63}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,1,2] {0.5,-0.8,0.9,-0.7}\n"
        "x1 = const f32[3,1,2] {0.1,0.9,-0.2,0.1,0,0.3}\n"
        "x2 = const f32[2,2] {0.3,-0.4,-1,0.2}\n"
        "x3 = const f32[2,4] {0.8,0.4,0.9,-0.7,-0.5,0.7,-1,-0.4}\n"
        "x4 = const f32[6] {-1,-0.5,0.6,-0.5,-0.8,-0.4}\n"
        "x6 = const f32[1,1,2,2] {0.4,0.3,0.3,0.8}\n"
        "x7 = const f32[1,1,2,2] {-0.1,0.1,0.5,-0.9}\n"
        "x8 = const bool[1] {false}\n"
        "x9 = const bool[1] {true}\n"
        "x10 = const bool[1] {true}\n"
        "x11 = const bool[1] {false}\n"
        "y0, y1, y2 = ms_decoder_attention x0 x1 x2 x3 x4 _ x6 x7 x8 x9 x10 x11 {num_heads=1}\n"
        "return y2\n",
        "f32[1,1,4,2] {-0.1,0.1,0.5,-0.9,0.45,-0.42999998,0.7099999,-0.75}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,1,2] {0.2,0.8,-0.1,0.6}\n"
        "x1 = const f32[3,1,2] {0.7,0.8,0,-0.8,0.4,-0.9}\n"
        "x2 = const f32[2,2] {0.2,0.2,1,0.4}\n"
        "x3 = const f32[2,4] {-0.6,-0.9,0.7,-0.1,0.9,0.7,-0.1,0.8}\n"
        "x4 = const f32[6] {-0.7,0.6,0.9,-1,0,0.7}\n"
        "x5 = const bool[1,2] {false,true}\n"
        "x6 = const f32[1,1,2,2] {0.2,0.6,-0.4,0.3}\n"
        "x7 = const f32[1,1,2,2] {-0.7,0.9,0.4,0}\n"
        "x8 = const bool[1] {true}\n"
        "x9 = const bool[1] {true}\n"
        "x10 = const bool[1] {true}\n"
        "x11 = const bool[1] {true}\n"
        "y0, y1, y2 = ms_decoder_attention x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 {num_heads=1}\n"
        "return y0\n",
        "f32[2,1,2] {-0.7,0.9,-0.7,0.9}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,1,2] {0.2,0.8,-0.1,0.6}\n"
        "x1 = const f32[3,1,2] {0.7,0.8,0,-0.8,0.4,-0.9}\n"
        "x2 = const f32[2,2] {0.2,0.2,1,0.4}\n"
        "x3 = const f32[2,4] {-0.6,-0.9,0.7,-0.1,0.9,0.7,-0.1,0.8}\n"
        "x4 = const f32[6] {-0.7,0.6,0.9,-1,0,0.7}\n"
        "x5 = const bool[1,2] {false,true}\n"
        "x6 = const f32[1,1,2,2] {0.2,0.6,-0.4,0.3}\n"
        "x7 = const f32[1,1,2,2] {-0.7,0.9,0.4,0}\n"
        "x8 = const bool[1] {true}\n"
        "x9 = const bool[1] {true}\n"
        "x10 = const bool[1] {true}\n"
        "x11 = const bool[1] {true}\n"
        "y0, y1, y2 = ms_decoder_attention x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 {num_heads=1}\n"
        "return y1\n",
        "f32[1,1,2,2] {0.2,0.6,-0.4,0.3}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,1,2] {0.2,0.8,-0.1,0.6}\n"
        "x1 = const f32[3,1,2] {0.7,0.8,0,-0.8,0.4,-0.9}\n"
        "x2 = const f32[2,2] {0.2,0.2,1,0.4}\n"
        "x3 = const f32[2,4] {-0.6,-0.9,0.7,-0.1,0.9,0.7,-0.1,0.8}\n"
        "x4 = const f32[6] {-0.7,0.6,0.9,-1,0,0.7}\n"
        "x5 = const bool[1,2] {false,true}\n"
        "x6 = const f32[1,1,2,2] {0.2,0.6,-0.4,0.3}\n"
        "x7 = const f32[1,1,2,2] {-0.7,0.9,0.4,0}\n"
        "x8 = const bool[1] {true}\n"
        "x9 = const bool[1] {true}\n"
        "x10 = const bool[1] {true}\n"
        "x11 = const bool[1] {true}\n"
        "y0, y1, y2 = ms_decoder_attention x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 {num_heads=1}\n"
        "return y2\n",
        "f32[1,1,2,2] {-0.7,0.9,0.4,0}", 1e-5);
}
END_TEST

/* Block 1 may not read the keys of block 0: the result is the query's own value. */
START_TEST(masked_blocks_are_not_read)
{
    ck_result("q = const f32[1,1,1] {1}\np = const f32[1,1,3,1] {5,6,7}\n"
              "r = const i32[1,3] {0,1,2}\n"
              "c = const i32[1,2] {0,1}\nt = const i32[] {3}\nl = const i32[1] {3}\n"
              "y, k, v = ms_sparse_attention q q q p p r c t l {num_heads=1, kv_num_heads=1, "
              "sparse_block_size=2}\nreturn y\n",
        "f32[1,1,1] {1}");
    ck_result("q = const f32[1,1,1] {1}\np = const f32[1,1,3,1] {5,6,7}\n"
              "r = const i32[1,3] {0,1,2}\n"
              "c = const i32[1,2] {0,1}\nt = const i32[] {2}\nl = const i32[1] {2}\n"
              "y, k, v = ms_sparse_attention q q q p p r c t l {num_heads=1, kv_num_heads=1, "
              "sparse_block_size=2}\nreturn k\n",
        "f32[1,1,3,1] {5,1,7}");
}
END_TEST

START_TEST(wrong_sparse_inputs_are_refused)
{
    ck_failure("q = const f32[1,1,1] {1}\n"
               "p = const f32[1,1,3,1] {5,6,7}\n"
               "r = const i32[1,3] {0,1,2}\n"
               "c = const i32[1,2] {0,1}\n"
               "t = const i32[] {4}\n"
               "l = const i32[1] {4}\n"
               "y, k, v = ms_sparse_attention q q q p p r c t l {num_heads=1, kv_num_heads=1, "
               "sparse_block_size=2}\n"
               "return y\n",
        POPRT_E_ARG, "4 keys with 1 new");
    ck_failure("b = const f32[1,1] ones\n"
               "n = const i64[1] {2}\n"
               "y = ms_relative_position_bias b n n {max_distance=3}\n"
               "return y\n",
        POPRT_E_SHAPE, "too few");
    ck_failure("b = const f32[4,1] ones\n"
               "n = const i64[1] {-2}\n"
               "y = ms_relative_position_bias b n n {max_distance=3}\n"
               "return y\n",
        POPRT_E_ARG, "-2 queries");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/sparse", relative_biases_have_their_values,
    longformer_attention_has_its_values, decoder_attention_has_its_values,
    masked_blocks_are_not_read, wrong_sparse_inputs_are_refused)
