/* SPDX-License-Identifier: MIT */
/*
 * generate.h — what operators that write text share: a decoder run once a token, scores of the
 * words that may come next, and the rules that change them.
 *
 * A batch of prompts is written on by one row for each prompt, or by one for each of its beams.
 * Scores are kept for the step at hand only, states as the decoder gave them last, and tokens up
 * to the length asked for.
 */
#ifndef PRT_OP_MICROSOFT_GENERATE_H
#define PRT_OP_MICROSOFT_GENERATE_H

#include "op/op.h"

enum { PRT_GEN_MOST_TOKENS = 4096, PRT_GEN_MOST_BEAMS = 128 };

/* The attributes that all have; `a` points to those of the operator. */
typedef struct prt_gen_attrs {
    int64_t eos, pad, start, model, ngram, vocab;
    uint32_t decoder, encoder, init_decoder; /* regions */
    bool has_decoder, has_encoder, has_init, has_ends;
} prt_gen_attrs;

/* The first attributes of such a row, in this order. */
enum {
    PRT_GEN_ATTR_DECODER,
    PRT_GEN_ATTR_ENCODER,
    PRT_GEN_ATTR_INIT,
    PRT_GEN_ATTR_EOS,
    PRT_GEN_ATTR_PAD
};

#define PRT_GEN_ATTRS(a)                                                                           \
    {                                                                                              \
        .eos = (a)->eos_token_id, .pad = (a)->pad_token_id, .start = (a)->decoder_start_token_id,  \
        .model = (a)->model_type, .ngram = (a)->no_repeat_ngram_size, .vocab = (a)->vocab_size,    \
        .decoder = (a)->decoder, .encoder = (a)->encoder, .init_decoder = (a)->init_decoder,       \
        .has_decoder = prt_attr_given(a, PRT_GEN_ATTR_DECODER),                                    \
        .has_encoder = prt_attr_given(a, PRT_GEN_ATTR_ENCODER),                                    \
        .has_init = prt_attr_given(a, PRT_GEN_ATTR_INIT),                                          \
        .has_ends = prt_attr_given(a, PRT_GEN_ATTR_EOS) && prt_attr_given(a, PRT_GEN_ATTR_PAD),    \
    }

enum { PRT_GEN_DECODER_ONLY, PRT_GEN_ENCODER_DECODER };

/* Which inputs are what; 0 is the prompt and 1 the length. UINT32_MAX: the operator has none. */
typedef struct prt_gen_inputs {
    uint32_t least, repetition, words, first_words, attention;
} prt_gen_inputs;

/* Infer: attributes, ranks of the inputs, and the regions' own types. */
poprt_status prt_gen_check(prt_infer *c, const prt_gen_attrs *a, const prt_gen_inputs *in);

/* The one number in integer input i for a dim of an output; unknown until the run. */
int64_t prt_gen_dim(const prt_infer *c, uint32_t i);

/* A region that is run again and again, and the states that go from one run to the next. */
typedef struct prt_gen_state {
    prt_tensor value;
    void *place[2]; /* what a region gives may lie in what it got, so they are written in turn */
    size_t room[2];
    uint32_t turn;
} prt_gen_state;

typedef struct prt_gen {
    prt_gen_attrs a;
    prt_gen_inputs in;
    size_t batch, beams, rows; /* rows = batch * beams */
    size_t prompt;             /* tokens that were there at the beginning */
    size_t most;               /* tokens at the end */
    size_t least;
    double repetition;
    int32_t *tokens; /* [rows, most] */
    int32_t *spare;  /* the same again: rows change places */
    size_t length;   /* tokens of each row so far */
    size_t step;     /* runs of the decoder so far */
    size_t vocab;    /* words that count; known after the first run */
    size_t padded;   /* words the decoder gives scores for */
    double *scores;  /* [rows, vocab] */
    bool *found;     /* [vocab]: a mark for each word */
    /* what the decoder gets */
    const prt_tensor **feed;
    prt_tensor *given;
    prt_gen_state *state;
    uint32_t n_feed, n_given, first_state, n_states, batch_axis;
    int32_t *mask, *place, *next; /* attention [rows, most], positions [rows, prompt], words */
    prt_tensor next_tensor, place_tensor, mask_tensor;
    size_t encoded; /* length of what was encoded; 0: decoder only */
} prt_gen;

/* Reads the inputs that all have. */
poprt_status prt_gen_begin(prt_eval *c, prt_gen *g, size_t beams);

/* Runs the decoder on what was added last and loads the scores of the words after it. */
poprt_status prt_gen_step(prt_eval *c, prt_gen *g);

/* The rules: repetition, repeated n-grams, masks of words, a least length. */
void prt_gen_rules(const prt_eval *c, const prt_gen *g);

/* Adds a token to each row. Row r goes on from row from[r] (NULL: from itself). */
poprt_status prt_gen_append(prt_eval *c, prt_gen *g, const int32_t *token, const size_t *from);

/* The states and the first scores of a model that encodes the prompt: in place of the first
 * step. */
poprt_status prt_gen_encode(prt_eval *c, prt_gen *g);

/* For the file that encodes. Room for the inputs and outputs of the decoder, states among them, and
 * for `more` states; state i as rows of `t`; scores in `t`, one row of it for `each` rows. */
poprt_status prt_gen_room(prt_eval *c, prt_gen *g, uint32_t region, uint32_t first_state,
    uint32_t n_states, uint32_t more);
poprt_status prt_gen_take(prt_eval *c, prt_gen *g, uint32_t i, const prt_tensor *t,
    const size_t *from);
poprt_status prt_gen_load_scores(prt_eval *c, prt_gen *g, const prt_tensor *t, size_t each);

#endif
