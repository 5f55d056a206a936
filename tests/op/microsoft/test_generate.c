/* SPDX-License-Identifier: MIT */
/* test_generate.c — GreedySearch, Sampling and BeamSearch with tiny decoders. Expected values
 * come from onnxruntime 1.31.1, which ran the same decoders in ONNX.
 * Covers: greedy_search.c, beam_search.c, generate_rules.c. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/op_check.h"

#define TINY                                                                                       \
    "emb = const f32[6,2] {-0.4,-1.1,0.7,-1.1,2,0.9,-0.4,0.6,1.6,2.8,-0.9,1.1}\n"                  \
    "pl = const f32[9,2] {0.3,-0.1,0.5,0.3,0.5,-0.3,-0,0.2,0,0,-0.4,0.1,0.1,-0,-0,0.3,-0.3,"       \
    "0.3}\n"                                                                                       \
    "wo = const f32[2,6] {-0.3,0.1,-0.4,1.8,1.5,0,-0.9,3.7,1.1,-2.3,-0,-0.2}\n"                    \
    "a0 = const i64[1] {0}\n"                                                                      \
    "a2 = const i64[1] {2}\n"                                                                      \
    "a02 = const i64[2] {0,2}\n"                                                                   \
    "a13 = const i64[2] {1,3}\n"

/* Inputs: words, positions, the attention mask, one state; a mean over the visible words is
 * added to the scores. */
#define BODY                                                                                       \
    "{w = input i32[?,?]\n"                                                                        \
    "p = input i32[?,?]\n"                                                                         \
    "m = input i32[?,?]\n"                                                                         \
    "s = input f32[2,?,1,?,2]\n"                                                                   \
    "e = gather emb w\n"                                                                           \
    "f = gather pl p\n"                                                                            \
    "x = add e f\n"                                                                                \
    "x5 = unsqueeze x a02\n"                                                                       \
    "kv = concat x5 x5 {axis=0}\n"                                                                 \
    "t = concat s kv {axis=3}\n"                                                                   \
    "b = reduce_sum t a0 {keepdims=0}\n"                                                           \
    "mf = cast m {to=1}\n"                                                                         \
    "m4 = unsqueeze mf a13\n"                                                                      \
    "c = mul b m4\n"                                                                               \
    "d = reduce_sum c a2 {keepdims=0}\n"                                                           \
    "g = add x d\n"                                                                                \
    "h = tanh g\n"                                                                                 \
    "l = matmul h wo\n"
#define DECODER "decoder " BODY "return l, t\n}"
#define DECODER_LIKES                                                                              \
    "init_decoder {iw = input i32[?,?]\n"                                                          \
    "ip = input i32[?,?]\n"                                                                        \
    "im = input i32[?,?]\n"                                                                        \
    "is = input f32[2,?,1,?,2]\n"                                                                  \
    "ie = gather emb iw\n"                                                                         \
    "i5 = unsqueeze ie a02\n"                                                                      \
    "it = concat i5 i5 {axis=0}\n"                                                                 \
    "il = matmul ie wo\n"                                                                          \
    "iq = add il like\n"                                                                           \
    "return iq, it\n}"

START_TEST(greedy_search_takes_the_best_word)
{
    ck_result(TINY "input_ids = const i32[2,2] {1,2,0,4}\n"
                   "max_length = const i32[1] {7}\n"
                   "y = ms_greedy_search input_ids max_length {" DECODER
                   ", eos_token_id=5, pad_token_id=0}\n"
                   "return y\n",
        "i32[2,7] {1,2,1,3,3,1,3,0,4,1,1,3,1,3}");
    ck_result(TINY
        "input_ids = const i32[1,2] {1,2}\n"
        "max_length = const i32[1] {6}\n"
        "min_length = const i32[1] {6}\n"
        "repetition_penalty = const f32[1] {2}\n"
        "y = ms_greedy_search input_ids max_length min_length repetition_penalty {" DECODER
        ", eos_token_id=5, pad_token_id=0}\n"
        "return y\n",
        "i32[1,6] {1,2,1,3,4,1}");
}
END_TEST

START_TEST(greedy_search_follows_the_score_rules)
{
    ck_result(TINY "input_ids = const i32[1,3] {1,2,1}\n"
                   "max_length = const i32[1] {8}\n"
                   "y = ms_greedy_search input_ids max_length {" DECODER
                   ", eos_token_id=5, pad_token_id=0, no_repeat_ngram_size=2}\n"
                   "return y\n",
        "i32[1,8] {1,2,1,3,3,1,4,1}");
    ck_result(TINY
        "input_ids = const i32[2,1] {1,3}\n"
        "max_length = const i32[1] {5}\n"
        "vocab_mask = const i32[6] {1,1,0,1,0,1}\n"
        "prefix_vocab_mask = const i32[2,6] {0,1,0,0,0,0,0,0,0,1,0,0}\n"
        "y = ms_greedy_search input_ids max_length _ _ vocab_mask prefix_vocab_mask {" DECODER
        ", eos_token_id=5, pad_token_id=0}\n"
        "return y\n",
        "i32[2,5] {1,1,3,3,3,3,3,1,3,1}");
    ck_result(TINY "input_ids = const i32[1,3] {2,3,4}\n"
                   "max_length = const i32[1] {7}\n"
                   "attention_mask = const i32[1,3] {1,0,1}\n"
                   "y = ms_greedy_search input_ids max_length _ _ _ _ attention_mask {" DECODER
                   ", eos_token_id=5, pad_token_id=0}\n"
                   "return y\n",
        "i32[1,7] {2,3,4,1,1,1,3}");
}
END_TEST

START_TEST(beam_search_equals_onnxruntime)
{
    ck_result(TINY "input_ids = const i32[2,2] {1,2,0,4}\n"
                   "max_length = const i32[1] {7}\n"
                   "min_length = const i32[1] {0}\n"
                   "num_beams = const i32[1] {3}\n"
                   "num_return_sequences = const i32[1] {2}\n"
                   "length_penalty = const f32[1] {1}\n"
                   "repetition_penalty = const f32[1] {1}\n"
                   "y, by, all = ms_beam_search input_ids max_length min_length num_beams "
                   "num_return_sequences "
                   "length_penalty repetition_penalty {" DECODER
                   ", eos_token_id=5, pad_token_id=0}\n"
                   "return y\n",
        "i32[2,2,7] {1,2,1,3,3,1,3,1,2,1,3,3,4,1,0,4,1,1,3,1,3,0,4,1,1,4,1,1}");
    ck_result_within(TINY "input_ids = const i32[2,2] {1,2,0,4}\n"
                          "max_length = const i32[1] {7}\n"
                          "min_length = const i32[1] {0}\n"
                          "num_beams = const i32[1] {3}\n"
                          "num_return_sequences = const i32[1] {2}\n"
                          "length_penalty = const f32[1] {1}\n"
                          "repetition_penalty = const f32[1] {1}\n"
                          "y, by, all = ms_beam_search input_ids max_length min_length num_beams "
                          "num_return_sequences "
                          "length_penalty repetition_penalty {" DECODER
                          ", eos_token_id=5, pad_token_id=0}\n"
                          "return by\n",
        "f32[2,2] {-0.24060377,-0.3311066,-0.16907538,-0.3230481}", 1e-5);
}
END_TEST

START_TEST(beam_scores_equal_onnxruntime)
{
    ck_result(TINY "input_ids = const i32[1,1] {3}\n"
                   "max_length = const i32[1] {4}\n"
                   "min_length = const i32[1] {0}\n"
                   "num_beams = const i32[1] {2}\n"
                   "num_return_sequences = const i32[1] {1}\n"
                   "length_penalty = const f32[1] {1}\n"
                   "repetition_penalty = const f32[1] {1}\n"
                   "y, by, all = ms_beam_search input_ids max_length min_length num_beams "
                   "num_return_sequences "
                   "length_penalty repetition_penalty {" DECODER
                   ", eos_token_id=4, pad_token_id=0}\n"
                   "return y\n",
        "i32[1,1,4] {3,1,3,1}");
    ck_result_within(TINY "input_ids = const i32[1,1] {3}\n"
                          "max_length = const i32[1] {4}\n"
                          "min_length = const i32[1] {0}\n"
                          "num_beams = const i32[1] {2}\n"
                          "num_return_sequences = const i32[1] {1}\n"
                          "length_penalty = const f32[1] {1}\n"
                          "repetition_penalty = const f32[1] {1}\n"
                          "y, by, all = ms_beam_search input_ids max_length min_length num_beams "
                          "num_return_sequences "
                          "length_penalty repetition_penalty {" DECODER
                          ", eos_token_id=4, pad_token_id=0}\n"
                          "return all\n",
        "f32[3,1,2,6] {-4.215731,-0.16857429,-2.3763034,-6.094695,-3.9254603,-3.669521,-1e+09,"
        "-1e+09,-1e+09,-1e+09,-1e+09,-1e+09,-3.655786,-7.3292937,-5.526267,-0.3209663,-2.6566076,"
        "-3.9761996,-7.5443277,-2.5452576,-5.6447315,-6.8440475,-4.8445115,-6.54447,-3.4518747,"
        "-1.717191,-2.9679108,-1.7878225,-1.4137876,-2.9519715,-5.8101063,-8.464676,-7.2381797,"
        "-2.7804546,-4.6077394,-5.9749317}",
        1e-5);
}
END_TEST

START_TEST(ended_beams_are_kept)
{
    ck_result(TINY "input_ids = const i32[2,2] {1,2,4,4}\n"
                   "max_length = const i32[1] {7}\n"
                   "min_length = const i32[1] {0}\n"
                   "num_beams = const i32[1] {2}\n"
                   "num_return_sequences = const i32[1] {2}\n"
                   "length_penalty = const f32[1] {0.5}\n"
                   "repetition_penalty = const f32[1] {1}\n"
                   "y, by, all = ms_beam_search input_ids max_length min_length num_beams "
                   "num_return_sequences "
                   "length_penalty repetition_penalty {" DECODER
                   ", eos_token_id=4, pad_token_id=0, early_stopping=1}\n"
                   "return y\n",
        "i32[2,2,7] {1,2,0,0,0,0,0,1,2,1,0,0,0,0,4,4,1,0,0,0,0,4,4,0,0,0,0,0}");
    ck_result_within(TINY "input_ids = const i32[2,2] {1,2,4,4}\n"
                          "max_length = const i32[1] {7}\n"
                          "min_length = const i32[1] {0}\n"
                          "num_beams = const i32[1] {2}\n"
                          "num_return_sequences = const i32[1] {2}\n"
                          "length_penalty = const f32[1] {0.5}\n"
                          "repetition_penalty = const f32[1] {1}\n"
                          "y, by, all = ms_beam_search input_ids max_length min_length num_beams "
                          "num_return_sequences "
                          "length_penalty repetition_penalty {" DECODER
                          ", eos_token_id=4, pad_token_id=0, early_stopping=1}\n"
                          "return by\n",
        "f32[2,2] {-1.3987678,-1.7400872,-1.5228634,-1.7457331}", 1e-5);
    ck_result(TINY "input_ids = const i32[1,2] {1,3}\n"
                   "max_length = const i32[1] {7}\n"
                   "min_length = const i32[1] {0}\n"
                   "num_beams = const i32[1] {2}\n"
                   "num_return_sequences = const i32[1] {1}\n"
                   "length_penalty = const f32[1] {2}\n"
                   "repetition_penalty = const f32[1] {1}\n"
                   "y, by, all = ms_beam_search input_ids max_length min_length num_beams "
                   "num_return_sequences "
                   "length_penalty repetition_penalty {" DECODER
                   ", eos_token_id=4, pad_token_id=0, no_repeat_ngram_size=2}\n"
                   "return y\n",
        "i32[1,1,7] {1,3,0,0,0,0,0}");
}
END_TEST

/* A row that has ended is padded; when all rows have ended, the decoder does not run again. */
START_TEST(ended_rows_are_padded)
{
    ck_result(TINY "ids = const i32[2,2] {1,2,0,4}\n"
                   "max = const i32[1] {7}\n"
                   "y = ms_greedy_search ids max {" DECODER ", eos_token_id=1, pad_token_id=5}\n"
                   "return y\n",
        "i32[2,7] {1,2,5,5,5,5,5,0,4,5,5,5,5,5}");
}
END_TEST

/* The first run has its own decoder, which here prefers word 2. */
START_TEST(first_run_uses_its_own_decoder)
{
    ck_result(TINY "like = const f32[1,1,6] {0,0,100,0,0,0}\n"
                   "ids = const i32[1,2] {1,2}\n"
                   "max = const i32[1] {3}\n"
                   "y = ms_greedy_search ids max {" DECODER ", " DECODER_LIKES
                   ", eos_token_id=5, pad_token_id=0}\n"
                   "return y\n",
        "i32[1,3] {1,2,2}");
}
END_TEST

START_TEST(sampling_with_a_seed_is_reproducible)
{
    ck_result(TINY "input_ids = const i32[2,2] {1,2,0,4}\n"
                   "max_length = const i32[1] {9}\n"
                   "min_length = const i32[1] {0}\n"
                   "repetition_penalty = const f32[1] {1}\n"
                   "seed = const i32[1] {7}\n"
                   "out = ms_sampling input_ids max_length min_length repetition_penalty _ _ _ _ "
                   "seed {" DECODER
                   ", eos_token_id=9, pad_token_id=0, top_p=0.9, temperature=2.0}\n"
                   "return out\n",
        "i32[2,9] {1,2,5,1,3,1,0,4,3,0,4,1,4,2,3,1,1,2}");
    ck_result(TINY "input_ids = const i32[1,2] {3,2}\n"
                   "max_length = const i32[1] {9}\n"
                   "min_length = const i32[1] {0}\n"
                   "repetition_penalty = const f32[1] {1}\n"
                   "seed = const i32[1] {0}\n"
                   "out = ms_sampling input_ids max_length min_length repetition_penalty _ _ _ _ "
                   "seed {" DECODER
                   ", eos_token_id=9, pad_token_id=0, top_p=0.6, temperature=4.0, custom=1}\n"
                   "return out\n",
        "i32[1,9] {3,2,1,3,1,3,4,2,1}");
    ck_result(TINY
        "input_ids = const i32[1,2] {3,2}\n"
        "max_length = const i32[1] {9}\n"
        "min_length = const i32[1] {0}\n"
        "repetition_penalty = const f32[1] {1}\n"
        "seed = const i32[1] {3}\n"
        "out = ms_sampling input_ids max_length min_length repetition_penalty _ _ _ _ seed "
        "{" DECODER
        ", eos_token_id=9, pad_token_id=0, top_p=0.0, min_tokens_to_keep=2, temperature=4.0}\n"
        "return out\n",
        "i32[1,9] {3,2,1,3,4,1,4,1,1}");
}
END_TEST

/* Excluded words are never drawn, whatever the random number. */
START_TEST(sampling_never_draws_excluded_words)
{
    ck_result(TINY "some = const i32[6] {0,0,0,1,0,0}\n"
                   "ids = const i32[1,2] {1,2}\n"
                   "max = const i32[1] {5}\n"
                   "out = ms_sampling ids max _ _ some {" DECODER
                   ", eos_token_id=9, pad_token_id=0, top_p=0.9}\n"
                   "return out\n",
        "i32[1,5] {1,2,3,3,3}");
}
END_TEST

START_TEST(generate_types_are_inferred)
{
    ck_type(TINY "ids = input i32[b,n]\n"
                 "max = const i32[1] {7}\n"
                 "y = ms_greedy_search ids max {" DECODER ", eos_token_id=1, pad_token_id=5}\n"
                 "return y\n",
        "i32[b,7]");
    ck_type(TINY "ids = input i32[b,n]\n"
                 "max = input i32[1]\n"
                 "beams = const i32[1] {3}\n"
                 "some = const i32[1] {2}\n"
                 "y = ms_beam_search ids max _ beams some {" DECODER
                 ", eos_token_id=1, pad_token_id=5}\n"
                 "return y\n",
        "i32[b,2,?]");
}
END_TEST

static void check_fails(const char *op, const char *values, const char *attrs, poprt_status status,
    const char *part)
{
    char graph[8192];
    snprintf(graph, sizeof(graph), TINY "%sy = ms_%s {%s}\nreturn y\n", values, op, attrs);
    ck_failure(graph, status, part);
}

#define ENDS ", eos_token_id=1, pad_token_id=0"
#define IDS "ids = const i32[1,2] {1,2}\n"
#define IDS7 IDS "max = const i32[1] {7}\n"

START_TEST(wrong_greedy_inputs_are_refused)
{
    static const char one[] = "greedy_search ids max";
    check_fails(one, IDS7, "eos_token_id=1, pad_token_id=0", POPRT_E_PARSE, "needs a decoder");
    check_fails(one, IDS7, DECODER ", eos_token_id=1", POPRT_E_ARG, "needs eos_token_id");
    check_fails(one, IDS7, DECODER ", pad_token_id=0, eos_token_id=3000000000", POPRT_E_ARG,
        "32 bits");
    check_fails(one, IDS7, DECODER ENDS ", vocab_size=0", POPRT_E_ARG, "vocab_size is 0");
    check_fails(one, IDS7, DECODER ENDS ", vocab_size=7", POPRT_E_SHAPE, "7 are needed");
    check_fails(one, IDS7, DECODER ENDS ", model_type=1", POPRT_E_UNSUPPORTED, "model_type is 1");
    check_fails(one, IDS "max = const i32[1] {2}\n", DECODER ENDS, POPRT_E_ARG, "max_length is 2");
    check_fails(one, IDS "max = const i32[1] {5000}\n", DECODER ENDS, POPRT_E_ARG,
        "max_length is 5000");
    check_fails(one, IDS "max = const i32[1] {-1}\n", DECODER ENDS, POPRT_E_ARG,
        "max_length is -1");
    check_fails(one, "ids = const i32[1,0] {}\nmax = const i32[1] {7}\n", DECODER ENDS,
        POPRT_E_SHAPE, "the prompt is empty");
    check_fails(one, "ids = const i32[1,2] {1,2}\nmax = const i32[1] {7}\n",
        "decoder {a = input i32[?,?]\nreturn a\n}" ENDS, POPRT_E_SHAPE, "1 inputs and 1 outputs");
    check_fails("greedy_search ids max least", IDS7 "least = const i32[1] {-1}\n", DECODER ENDS,
        POPRT_E_ARG, "min_length is -1");
    check_fails("greedy_search ids max _ by", IDS7 "by = const f32[1] {0}\n", DECODER ENDS,
        POPRT_E_ARG, "repetition_penalty is 0");
    check_fails("greedy_search ids max _ _ some", IDS7 "some = const i32[5] ones\n", DECODER ENDS,
        POPRT_E_SHAPE, "has 5 words; 6 are needed");
    /* a word that is not in the decoder's table is the decoder's to refuse */
    check_fails(one, "ids = const i32[1,2] {1,99}\nmax = const i32[1] {7}\n", DECODER ENDS,
        POPRT_E_ARG, "99");
}
END_TEST

START_TEST(wrong_sampling_inputs_are_refused)
{
    static const char some[] = "sampling ids max";
    check_fails(some, IDS7, DECODER ENDS ", top_p=1.5", POPRT_E_ARG, "top_p 1.5");
    check_fails(some, IDS7, DECODER ENDS ", top_p=nan", POPRT_E_ARG, "top_p nan");
    check_fails(some, IDS7, DECODER ENDS ", temperature=-1.0", POPRT_E_ARG, "temperature is -1");
    check_fails(some, IDS7, DECODER ENDS ", min_tokens_to_keep=-1", POPRT_E_ARG,
        "min_tokens_to_keep is -1");
    check_fails("sampling ids max _ _ _ _ _ ids", IDS7, DECODER ENDS, POPRT_E_UNSUPPORTED,
        "presence_mask");
    check_fails("sampling ids max _ _ _ _ _ _ by", IDS7 "by = const i32[1] {-1}\n", DECODER ENDS,
        POPRT_E_ARG, "the seed must be");
}
END_TEST

START_TEST(wrong_beam_inputs_are_refused)
{
    static const char some[] = "beam_search ids max _ n k";
    check_fails(some, IDS7 "n = const i32[1] {0}\nk = const i32[1] {1}\n", DECODER ENDS,
        POPRT_E_ARG, "num_beams is not one number from 1 to 128");
    check_fails(some, IDS7 "n = const i32[1] {1000}\nk = const i32[1] {1}\n", DECODER ENDS,
        POPRT_E_ARG, "num_beams");
    check_fails(some, IDS7 "n = const i32[1] {2}\nk = const i32[1] {3}\n", DECODER ENDS,
        POPRT_E_ARG, "num_return_sequences is not one number from 1 to 2");
    check_fails(some, IDS7 "n = const i32[1] {2}\nk = const i32[1] {1}\n",
        DECODER ", eos_token_id=0, pad_token_id=0, vocab_size=1", POPRT_E_ARG,
        "there are 2 beams, but only 1 words");
    check_fails(some, IDS7 "n = const i32[1] {2}\nk = const i32[1] {1}\n",
        DECODER ENDS ", model_type=1", POPRT_E_PARSE, "needs an encoder");
    check_fails(some, IDS7 "n = const i32[1] {2}\nk = const i32[1] {1}\n",
        DECODER ENDS ", model_type=2", POPRT_E_UNSUPPORTED, "model_type is 2");
    check_fails("beam_search ids max _ n k _ _ _ _ _ ids",
        IDS7 "n = const i32[1] {2}\nk = const i32[1] {1}\n", DECODER ENDS, POPRT_E_UNSUPPORTED,
        "decoder_input_ids");
    check_fails("beam_search ids max _ n k _ _ _ _ _ _ k",
        IDS7 "n = const i32[1] {2}\nk = const i32[1] {1}\n", DECODER ENDS, POPRT_E_UNSUPPORTED,
        "logits_processor is 1");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/generate", greedy_search_takes_the_best_word,
    greedy_search_follows_the_score_rules, beam_search_equals_onnxruntime,
    beam_scores_equal_onnxruntime, ended_beams_are_kept, ended_rows_are_padded,
    first_run_uses_its_own_decoder, sampling_with_a_seed_is_reproducible,
    sampling_never_draws_excluded_words, generate_types_are_inferred,
    wrong_greedy_inputs_are_refused, wrong_sampling_inputs_are_refused,
    wrong_beam_inputs_are_refused)
