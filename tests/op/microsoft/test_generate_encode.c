/* SPDX-License-Identifier: MIT */
/* test_generate_encode.c — BeamSearch with an encoder, with tiny graphs. Expected values come
 * from onnxruntime 1.31.1, which ran the same graphs in ONNX.
 * Covers: beam_search.c. */
#include "support/check_main.h"
#include "support/op_check.h"

#define TINY                                                                                       \
    "emb = const f32[6,2] {-0.4,-1.1,0.7,-1.1,2,0.9,-0.4,0.6,1.6,2.8,-0.9,1.1}\n"                  \
    "wo = const f32[2,6] {-0.3,0.1,-0.4,1.8,1.5,0,-0.9,3.7,1.1,-2.3,-0,-0.2}\n"                    \
    "a1 = const i64[1] {1}\n"                                                                      \
    "a2 = const i64[1] {2}\n"                                                                      \
    "a13 = const i64[2] {1,3}\n"

/* Keys are words, values are their negatives; the decoder reads its own keys and the values of
 * the prompt. */
#define ENCODER                                                                                    \
    "encoder {ei = input i32[?,?]\n"                                                               \
    "em = input i32[?,?]\n"                                                                        \
    "ed = input i32[?,?]\n"                                                                        \
    "eh = gather emb ei\n"                                                                         \
    "ekc = unsqueeze eh a1\n"                                                                      \
    "evc = neg ekc\n"                                                                              \
    "ex = gather emb ed\n"                                                                         \
    "ek = unsqueeze ex a1\n"                                                                       \
    "ev = neg ek\n"                                                                                \
    "ef = cast em {to=1}\n"                                                                        \
    "e4 = unsqueeze ef a13\n"                                                                      \
    "ec = mul evc e4\n"                                                                            \
    "es = reduce_sum ec a2 {keepdims=0}\n"                                                         \
    "eo = reduce_sum ek a2 {keepdims=0}\n"                                                         \
    "eg = add ex eo\n"                                                                             \
    "el = sub eg es\n"                                                                             \
    "et = tanh el\n"                                                                               \
    "ey = matmul et wo\n"                                                                          \
    "return ey, eh, ek, ev, ekc, evc\n"                                                            \
    "}"

#define DECODER                                                                                    \
    "decoder {w = input i32[?,?]\n"                                                                \
    "m = input i32[?,?]\n"                                                                         \
    "pk = input f32[?,1,?,2]\n"                                                                    \
    "pv = input f32[?,1,?,2]\n"                                                                    \
    "pkc = input f32[?,1,?,2]\n"                                                                   \
    "pvc = input f32[?,1,?,2]\n"                                                                   \
    "x = gather emb w\n"                                                                           \
    "nk = unsqueeze x a1\n"                                                                        \
    "nv = neg nk\n"                                                                                \
    "k = concat pk nk {axis=2}\n"                                                                  \
    "v = concat pv nv {axis=2}\n"                                                                  \
    "f = cast m {to=1}\n"                                                                          \
    "m4 = unsqueeze f a13\n"                                                                       \
    "cm = mul pvc m4\n"                                                                            \
    "d = reduce_sum cm a2 {keepdims=0}\n"                                                          \
    "s = reduce_sum k a2 {keepdims=0}\n"                                                           \
    "g = add x s\n"                                                                                \
    "q = sub g d\n"                                                                                \
    "t = tanh q\n"                                                                                 \
    "y = matmul t wo\n"                                                                            \
    "return y, k, v\n"                                                                             \
    "}"

#define DECODER_HIDDEN                                                                             \
    "decoder {w = input i32[?,?]\n"                                                                \
    "m = input i32[?,?]\n"                                                                         \
    "hid = input f32[?,?,2]\n"                                                                     \
    "pk = input f32[?,1,?,2]\n"                                                                    \
    "pv = input f32[?,1,?,2]\n"                                                                    \
    "pkc = input f32[?,1,?,2]\n"                                                                   \
    "pvc = input f32[?,1,?,2]\n"                                                                   \
    "x = gather emb w\n"                                                                           \
    "nk = unsqueeze x a1\n"                                                                        \
    "nv = neg nk\n"                                                                                \
    "k = concat pk nk {axis=2}\n"                                                                  \
    "v = concat pv nv {axis=2}\n"                                                                  \
    "f = cast m {to=1}\n"                                                                          \
    "m4 = unsqueeze f a13\n"                                                                       \
    "cm = mul pvc m4\n"                                                                            \
    "d = reduce_sum cm a2 {keepdims=0}\n"                                                          \
    "s = reduce_sum k a2 {keepdims=0}\n"                                                           \
    "g = add x s\n"                                                                                \
    "q = sub g d\n"                                                                                \
    "t = tanh q\n"                                                                                 \
    "y = matmul t wo\n"                                                                            \
    "return y, k, v\n"                                                                             \
    "}"

START_TEST(encoder_states_reach_the_decoder)
{
    ck_result(TINY "input_ids = const i32[2,3] {1,3,4,0,2,1}\n"
                   "max_length = const i32[1] {6}\n"
                   "min_length = const i32[1] {0}\n"
                   "num_beams = const i32[1] {3}\n"
                   "num_return_sequences = const i32[1] {2}\n"
                   "length_penalty = const f32[1] {1}\n"
                   "repetition_penalty = const f32[1] {1}\n"
                   "out, by, all = ms_beam_search input_ids max_length min_length num_beams "
                   "num_return_sequences length_penalty repetition_penalty {" ENCODER ", " DECODER
                   ", eos_token_id=5, pad_token_id=0, model_type=1, decoder_start_token_id=2}\n"
                   "return out\n",
        "i32[2,2,6] {2,1,1,3,1,3,2,1,1,4,1,1,2,1,3,1,3,4,2,1,3,1,3,1}");
    ck_result_within(TINY
        "input_ids = const i32[2,3] {1,3,4,0,2,1}\n"
        "max_length = const i32[1] {6}\n"
        "min_length = const i32[1] {0}\n"
        "num_beams = const i32[1] {3}\n"
        "num_return_sequences = const i32[1] {2}\n"
        "length_penalty = const f32[1] {1}\n"
        "repetition_penalty = const f32[1] {1}\n"
        "out, by, all = ms_beam_search input_ids max_length min_length num_beams "
        "num_return_sequences length_penalty repetition_penalty {" ENCODER ", " DECODER
        ", eos_token_id=5, pad_token_id=0, model_type=1, decoder_start_token_id=2}\n"
        "return by\n",
        "f32[2,2] {-0.28707182,-0.3592353,-0.34760222,-0.40126693}", 1e-5);
}
END_TEST

START_TEST(hidden_states_reach_the_decoder)
{
    ck_result(TINY "input_ids = const i32[1,3] {1,3,0}\n"
                   "max_length = const i32[1] {6}\n"
                   "min_length = const i32[1] {0}\n"
                   "num_beams = const i32[1] {2}\n"
                   "num_return_sequences = const i32[1] {2}\n"
                   "length_penalty = const f32[1] {1}\n"
                   "repetition_penalty = const f32[1] {1}\n"
                   "out, by, all = ms_beam_search input_ids max_length min_length num_beams "
                   "num_return_sequences length_penalty repetition_penalty {" ENCODER
                   ", " DECODER_HIDDEN
                   ", eos_token_id=3, pad_token_id=0, model_type=1, decoder_start_token_id=2, "
                   "early_stopping=1}\n"
                   "return out\n",
        "i32[1,2,6] {2,1,0,0,0,0,2,0,0,0,0,0}");
}
END_TEST

START_TEST(masked_words_are_ignored)
{
    ck_result(TINY
        "input_ids = const i32[1,3] {1,3,4}\n"
        "max_length = const i32[1] {4}\n"
        "min_length = const i32[1] {0}\n"
        "num_beams = const i32[1] {2}\n"
        "num_return_sequences = const i32[1] {1}\n"
        "length_penalty = const f32[1] {1}\n"
        "repetition_penalty = const f32[1] {1}\n"
        "attention_mask = const i32[1,3] {1,0,1}\n"
        "out, by, all = ms_beam_search input_ids max_length min_length num_beams "
        "num_return_sequences length_penalty repetition_penalty _ _ attention_mask {" ENCODER
        ", " DECODER ", eos_token_id=5, pad_token_id=0, model_type=1, decoder_start_token_id=2}\n"
        "return out\n",
        "i32[1,1,4] {2,1,4,1}");
    ck_result_within(TINY
        "input_ids = const i32[1,3] {1,3,4}\n"
        "max_length = const i32[1] {4}\n"
        "min_length = const i32[1] {0}\n"
        "num_beams = const i32[1] {2}\n"
        "num_return_sequences = const i32[1] {1}\n"
        "length_penalty = const f32[1] {1}\n"
        "repetition_penalty = const f32[1] {1}\n"
        "attention_mask = const i32[1,3] {1,0,1}\n"
        "out, by, all = ms_beam_search input_ids max_length min_length num_beams "
        "num_return_sequences length_penalty repetition_penalty _ _ attention_mask {" ENCODER
        ", " DECODER ", eos_token_id=5, pad_token_id=0, model_type=1, decoder_start_token_id=2}\n"
        "return all\n",
        "f32[3,1,2,6] {-5.161492,-0.16987601,-3.2651353,-4.4589553,-2.463144,-4.1627693,-1e+09,"
        "-1e+09,-1e+09,-1e+09,-1e+09,-1e+09,-3.449818,-1.3020622,-2.7899182,-1.8817931,-1.307904,"
        "-2.8838606,-7.6319838,-2.6319835,-5.731983,-6.931985,-4.9319844,-6.6319838,-4.5125074,"
        "-6.892602,-5.821243,-1.5664039,-3.2564483,-4.635566,-6.476738,-1.4767444,-4.576741,"
        "-5.7767363,-3.7767394,-5.476739}",
        1e-5);
}
END_TEST

START_TEST(wrong_encoders_are_refused)
{
    ck_failure(TINY
        "ids = const i32[1,2] {1,2}\n"
        "max = const i32[1] {4}\n"
        "one = const i32[1] {1}\n"
        "out = ms_beam_search ids max _ one one {encoder {a = input i32[?,?]\nreturn a\n}, " DECODER
        ", eos_token_id=1, pad_token_id=0, model_type=1}\n"
        "return out\n",
        POPRT_E_SHAPE, "the encoder has 1 inputs and 1 outputs");
    ck_failure(TINY "ids = const i32[1,2] {1,2}\n"
                    "max = const i32[1] {4}\n"
                    "one = const i32[1] {1}\n"
                    "out = ms_beam_search ids max _ one one {" ENCODER
                    ", decoder {a = input i32[?,?]\n"
                    "return a\n}, eos_token_id=1, pad_token_id=0, model_type=1}\n"
                    "return out\n",
        POPRT_E_SHAPE, "the decoder 1 and 1");
    /* the prompt's states are not by row */
    ck_failure(TINY "ids = const i32[1,2] {1,2}\n"
                    "max = const i32[1] {4}\n"
                    "one = const i32[1] {1}\n"
                    "out = ms_beam_search ids max _ one one {encoder {a = input i32[?,?]\n"
                    "b = input i32[?,?]\nc = input i32[?,?]\nl = gather emb c\nreturn l, l, a, a, "
                    "a, a\n}, " DECODER ", eos_token_id=1, pad_token_id=0, model_type=1}\n"
                    "return out\n",
        POPRT_E_TYPE, "state 0 is not a float tensor");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/generate_encode", encoder_states_reach_the_decoder,
    hidden_states_reach_the_decoder, masked_words_are_ignored, wrong_encoders_are_refused)
