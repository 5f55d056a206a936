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

/* ---- group.c */

enum { PRT_UPDATE_INPUTS = 32 /* the inputs of an update are fewer */ };

/* How the arguments of a node of several updates belong to its members. */
typedef struct prt_update_group {
    uint32_t op;              /* PRT_OP_sgd_update, PRT_OP_adam_update, PRT_OP_adaptive_update */
    uint32_t members;         /* updates */
    uint32_t inputs, outputs; /* of each member */
    uint32_t slots[PRT_UPDATE_INPUTS]; /* input of the update that argument i of a member is */
} prt_update_group;

/* Returns the update of which the operator is a group; PRT_OP_NONE for other operators. */
uint32_t prt_update_of_group(uint32_t op);

/* Returns the group of which the update is a member; PRT_OP_NONE for other operators. */
uint32_t prt_group_of_update(uint32_t op);

/* Returns the value of attribute `inputs` of the group `op`. */
int64_t prt_update_group_mask(const void *attrs, uint32_t op);

/* Fills `out` for a group of members of the update `op`. Returns false if no update has the inputs
 * of the mask. */
bool prt_update_group_layout(uint32_t op, int64_t mask, uint32_t members, prt_update_group *out);

/* The same for a node. Returns false unless its arguments are those of whole members. */
bool prt_update_group_read(const prt_op_def *def, const void *attrs, uint32_t n_in, uint32_t n_out,
    prt_update_group *out);

/* Returns the argument of the group that is argument `i` of a member: its outputs come first. */
static inline uint32_t prt_update_group_argument(const prt_update_group *g, uint32_t member,
    uint32_t i)
{
    return i < g->outputs
        ? member * g->outputs + i
        : g->members * g->outputs + member * (g->inputs - g->outputs) + (i - g->outputs);
}

/* The context of a member, with the tensors that it refers to. */
typedef struct prt_update_member {
    prt_eval eval;
    const prt_tensor *in[PRT_UPDATE_INPUTS];
    prt_tensor *out[PRT_UPDATE_INPUTS];
} prt_update_member;

/* Makes the context of a member of the node `c`, which passed `infer`. */
void prt_update_member_of(const prt_eval *c, const prt_update_group *g, uint32_t member,
    prt_update_member *out);

/* ---- update.c */

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
