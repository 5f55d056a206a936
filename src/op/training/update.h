/* SPDX-License-Identifier: MIT */
/*
 * update.h — the operators of training.def: numbers of their inputs, scalars of an update, and
 * checks. Fast implementations read the same scalars.
 */
#ifndef PRT_OP_TRAINING_UPDATE_H
#define PRT_OP_TRAINING_UPDATE_H

#include "kern/train/update.h"
#include "op/op.h"

enum { PRT_NORM_BLOCK = 4096 /* elements of a block of a norm */ };

/* Inputs of sgd_update and sgd_norm. */
enum {
    PRT_SGD_W,
    PRT_SGD_V,
    PRT_SGD_G,
    PRT_SGD_LEARNING_RATE,
    PRT_SGD_DECAY,
    PRT_SGD_DAMPENING,
    PRT_SGD_MOMENTUM,
    PRT_SGD_NESTEROV_MOMENTUM,
    PRT_SGD_WEIGHT_DECAY,
    PRT_SGD_GRADIENT_SCALE,
    PRT_SGD_UNSCALE,
    PRT_SGD_CLIP,
    PRT_SGD_INPUTS
};

/* Inputs of adam_update and lamb_norm. */
enum {
    PRT_ADAM_W,
    PRT_ADAM_M,
    PRT_ADAM_V,
    PRT_ADAM_STEP,
    PRT_ADAM_SCALE,
    PRT_ADAM_G,
    PRT_ADAM_LEARNING_RATE,
    PRT_ADAM_WEIGHT_DECAY,
    PRT_ADAM_BETA1,
    PRT_ADAM_BETA2,
    PRT_ADAM_EPS,
    PRT_ADAM_GRADIENT_SCALING,
    PRT_ADAM_LOSS_SCALING,
    PRT_ADAM_CLIP,
    PRT_ADAM_MAX_WEIGHT_NORM,
    PRT_ADAM_WEIGHT_SQUARES,
    PRT_ADAM_UPDATE_SQUARES,
    PRT_ADAM_INPUTS
};

/* Inputs of adam_norm. */
enum {
    PRT_ADAM_NORM_G,
    PRT_ADAM_NORM_GRADIENT_SCALING,
    PRT_ADAM_NORM_W,
    PRT_ADAM_NORM_WEIGHT_DECAY,
    PRT_ADAM_NORM_INPUTS
};

/* Inputs of adaptive_update. */
enum {
    PRT_ADAPTIVE_W,
    PRT_ADAPTIVE_A1,
    PRT_ADAPTIVE_A2,
    PRT_ADAPTIVE_A3,
    PRT_ADAPTIVE_G,
    PRT_ADAPTIVE_LEARNING_RATE,
    PRT_ADAPTIVE_WEIGHT_DECAY,
    PRT_ADAPTIVE_ALPHA,
    PRT_ADAPTIVE_MOMENTUM,
    PRT_ADAPTIVE_EPS,
    PRT_ADAPTIVE_GRADIENT_SCALING,
    PRT_ADAPTIVE_INPUTS
};

/* Scalars of an update whose inputs passed `infer`. They are read before anything is written. */
prt_sgd_scalars prt_sgd_scalars_of(const prt_eval *c);
prt_adam_scalars prt_adam_scalars_of(const prt_eval *c);
prt_adaptive_scalars prt_adaptive_scalars_of(const prt_eval *c);

/* Writes Step and Scale of adam_update. Call it after prt_adam_scalars_of. */
void prt_adam_finish(prt_eval *c);

/* The new value of an accumulator is keep * acc + add * G; acc is not read if keep is 0. */
typedef struct prt_accumulate_factors {
    double keep, add;
} prt_accumulate_factors;
prt_accumulate_factors prt_accumulate_factors_of(const prt_eval *c);

/* Returns the number of blocks of a norm of n elements. */
static inline size_t prt_norm_blocks(size_t n)
{
    return n / PRT_NORM_BLOCK + (n % PRT_NORM_BLOCK != 0);
}

/* Returns the sum of the blocks of a norm, added in order. */
double prt_norm_sum(const prt_tensor *squares);

/* Returns the single number of input i, or `absent` if the input is absent. */
double prt_update_scalar(const prt_eval *c, uint32_t i, double absent);

/* For rows of training.def. Bit i of `tensors`: input i has the shape of the weight; bit i of
 * `norms`: input i is a norm; all other inputs have one element. Fails where shapes differ, or
 * where only some of the inputs are float64. Types the outputs of a row with PRT_UPDATES. */
poprt_status prt_update_infer(prt_infer *c, uint32_t tensors, uint32_t norms);

/* Makes output i the norm of a tensor like input `like`. */
poprt_status prt_update_infer_norm(prt_infer *c, uint32_t i, uint32_t like);

/* Fails, naming the attribute and the words, unless `value` is one of the `count` words. */
poprt_status prt_update_word(const prt_infer *c, const char *attr, prt_str value, uint32_t count,
    const char *const *words);

/* Fails unless input i is there exactly if `needed`. */
poprt_status prt_update_need(const prt_infer *c, uint32_t i, bool needed);

/* Returns the index of a word; `count` if it is not in the list. */
uint32_t prt_update_word_index(prt_str value, uint32_t count, const char *const *words);

#endif
