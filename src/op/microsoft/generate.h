/* SPDX-License-Identifier: MIT */
/*
 * generate.h — shared parts of text generation: runs of the decoder, one for each token, scores of
 * the next words, and the rules that change them.
 *
 * A batch has one row for each prompt, or one for each beam of each prompt. Scores are kept for the
 * current step only, states as the decoder returned them last, and tokens up to the maximum length.
 */
#ifndef PRT_OP_MICROSOFT_GENERATE_H
#define PRT_OP_MICROSOFT_GENERATE_H

#include "op/op.h"

enum {
    PRT_GEN_MAX_TOKENS = 4096, /* maximum length of a row, prompt included */
    PRT_GEN_MAX_BEAMS = 128    /* maximum number of beams of a prompt */
};

/* The attributes that all these operators have. PRT_GEN_ATTRS reads them from the attributes `a` of
   an operator. */
typedef struct prt_gen_attrs {
    int64_t eos, pad, start, model, ngram, vocab;
    uint32_t decoder, encoder, init_decoder; /* regions */
    bool has_decoder, has_encoder, has_init, has_ends;
} prt_gen_attrs;

/* Indices of the first attributes of these operators, in this order. */
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

/* Indices of the inputs; 0 is always the prompt and 1 the maximum length. UINT32_MAX: the operator
   does not have the input. */
typedef struct prt_gen_inputs {
    uint32_t least, repetition, words, first_words, attention;
} prt_gen_inputs;

/* For infer: checks attributes, ranks of inputs, and the types of the regions. */
poprt_status prt_gen_check(prt_infer *c, const prt_gen_attrs *a, const prt_gen_inputs *in);

/* Returns the number in integer input i, as a dim of an output; unknown if only the run knows
   it. */
int64_t prt_gen_dim(const prt_infer *c, uint32_t i);

/* A state that passes from one run of the decoder to the next. */
typedef struct prt_gen_state {
    prt_tensor value;
    void *buffer[2]; /* two, written in turn: outputs may alias inputs */
    size_t capacity[2];
    uint32_t current; /* buffer of `value` */
} prt_gen_state;

typedef struct prt_gen {
    prt_gen_attrs a;
    prt_gen_inputs in;
    size_t batch, beams, rows; /* rows = batch * beams */
    size_t prompt;             /* number of tokens at the beginning */
    size_t most;               /* maximum number of tokens */
    size_t least;              /* minimum number of tokens */
    double repetition;
    int32_t *tokens;    /* [rows, most] */
    int32_t *reordered; /* second buffer of the same size, for reordered rows */
    size_t length;      /* current number of tokens of each row */
    size_t step;        /* number of runs of the decoder so far */
    size_t vocab;       /* words with a score; known after the first run */
    size_t padded;      /* words for which the decoder returns scores */
    double *scores;     /* [rows, vocab] */
    bool *found;        /* [vocab]: scratch marks */
    /* inputs and outputs of the decoder */
    const prt_tensor **feed;
    prt_tensor *given;
    prt_gen_state *state;
    uint32_t n_feed, n_given, first_state, n_states, batch_axis;
    int32_t *mask;      /* attention [rows, most] */
    int32_t *positions; /* [rows, prompt] */
    int32_t *next;      /* next words [rows, prompt] */
    prt_tensor next_tensor, positions_tensor, mask_tensor;
    size_t encoded; /* length of the encoded prompt; 0: decoder only */
} prt_gen;

/* Reads the common inputs and allocates the buffers. */
poprt_status prt_gen_begin(prt_eval *c, prt_gen *g, size_t beams);

/* Runs the decoder on the tokens added last and loads the scores of the next words. */
poprt_status prt_gen_step(prt_eval *c, prt_gen *g);

/* Applies the rules to the scores: repetition penalty, repeated n-grams, word masks, minimum
   length. */
void prt_gen_rules(const prt_eval *c, const prt_gen *g);

/* Appends a token to each row. Row r continues row from[r] (NULL: itself). */
poprt_status prt_gen_append(prt_eval *c, prt_gen *g, const int32_t *token, const size_t *from);

/* Runs the encoder in place of the first step: computes the states and the first scores. */
poprt_status prt_gen_encode(prt_eval *c, prt_gen *g);

/* For generate_encode.c. prt_gen_alloc_feed allocates the inputs and outputs of the decoder, with
 * its states and `more` others. prt_gen_set_state copies rows of `t` to state i: row r is row
 * from[r]. prt_gen_load_scores loads the scores in `t`; a row of it serves `each` rows. */
poprt_status prt_gen_alloc_feed(prt_eval *c, prt_gen *g, uint32_t region, uint32_t first_state,
    uint32_t n_states, uint32_t more);
poprt_status prt_gen_set_state(prt_eval *c, prt_gen *g, uint32_t i, const prt_tensor *t,
    const size_t *from);
poprt_status prt_gen_load_scores(prt_eval *c, prt_gen *g, const prt_tensor *t, size_t each);

#endif
