/* SPDX-License-Identifier: MIT */
/*
 * optimizer.h — an optimizer: its kind, values, settings and clipping groups, without any graph.
 * From them follow, for each weight, the operator that updates it, the scalars and states that the
 * operator needs, and whether another optimizer may replace this one in a running program.
 *
 * A value is constant, or can be replaced while a program runs. Names are PopART's. The formulas
 * are in op/training/training.def.
 */
#ifndef PRT_TRAIN_OPTIMIZER_H
#define PRT_TRAIN_OPTIMIZER_H

#include "op/op.h"

typedef struct prt_optimizer prt_optimizer;

typedef enum prt_optimizer_kind {
#define KIND(name, family, mode) PRT_OPTIMIZER_##name,
#include "train/optimizer.def"
    PRT_OPTIMIZER_KINDS
} prt_optimizer_kind;

typedef enum prt_optimizer_family {
    PRT_OPTIMIZER_SGD,
    PRT_OPTIMIZER_ADAM,
    PRT_OPTIMIZER_ADAPTIVE
} prt_optimizer_family;

typedef enum prt_optimizer_value_id {
#define VALUE(id, key, specific, sgd, adam, adaptive) PRT_OPTIMIZER_VALUE_##id,
#include "train/optimizer.def"
    PRT_OPTIMIZER_VALUES
} prt_optimizer_value_id;

typedef enum prt_optimizer_setting_id {
#define SETTING(id, key, words, sgd, adam, adaptive) PRT_OPTIMIZER_SETTING_##id,
#include "train/optimizer.def"
    PRT_OPTIMIZER_SETTINGS
} prt_optimizer_setting_id;

typedef struct prt_optimizer_value {
    float value;
    bool is_constant;
} prt_optimizer_value;

/* A value of a weight, for prt_optimizer_insert_specific. */
typedef struct prt_optimizer_specific {
    const char *key;
    prt_optimizer_value value;
} prt_optimizer_specific;

enum { PRT_OPTIMIZER_MAX_WEIGHTS = 1 << 20 /* weights with values of their own, or clipped */ };

/* Creates an optimizer of a kind of optimizer.def with the defaults of its family. Fails with
 * POPRT_E_NOT_FOUND for an unknown kind. */
poprt_status prt_optimizer_create(const prt_allocator *allocator, const char *kind,
    prt_optimizer **out);
poprt_status prt_optimizer_copy(const prt_optimizer *from, const prt_allocator *allocator,
    prt_optimizer **out);
void prt_optimizer_release(prt_optimizer *o);

/* Set a value or a setting for all weights. On failure nothing has changed. */
poprt_status prt_optimizer_set(prt_optimizer *o, const char *key, prt_optimizer_value value);
poprt_status prt_optimizer_set_text(prt_optimizer *o, const char *key, const char *word);

/* Gives a weight values of its own; values that are not listed are those of all weights at the
 * time of the call. Fails if the weight already has values of its own. */
poprt_status prt_optimizer_insert_specific(prt_optimizer *o, const char *weight, size_t count,
    const prt_optimizer_specific *values);

/* Adds a clipping group: its weights share one global norm. With `count` 0 the group has all
 * weights, and no other group is allowed. */
poprt_status prt_optimizer_clip(prt_optimizer *o, size_t count, const char *const *weights,
    float max_norm);

/* Sets the number of updates that the step counter starts from: of one weight, or, if that is
 * NULL, of all weights without a number of their own. */
poprt_status prt_optimizer_set_step(prt_optimizer *o, const char *weight, int64_t step);

prt_optimizer_kind prt_optimizer_kind_of(const prt_optimizer *o);
prt_optimizer_family prt_optimizer_family_of(const prt_optimizer *o);

/* Finds a value by its key for all weights or for one. Fails with POPRT_E_NOT_FOUND. */
poprt_status prt_optimizer_find_value(const prt_optimizer *o, const char *key,
    prt_optimizer_value_id *out);

/* Return the value that applies to a weight, and the number of the word of a setting. */
prt_optimizer_value prt_optimizer_value_of(const prt_optimizer *o, prt_str weight,
    prt_optimizer_value_id id);
uint32_t prt_optimizer_setting(const prt_optimizer *o, prt_optimizer_setting_id id);

/* Returns the loss scaling, which all weights share. */
static inline prt_optimizer_value prt_optimizer_loss_scaling(const prt_optimizer *o)
{
    return prt_optimizer_value_of(o, (prt_str){ NULL, 0 }, PRT_OPTIMIZER_VALUE_loss_scaling);
}

/* Returns whether a weight has values of its own. */
bool prt_optimizer_has_specific(const prt_optimizer *o, prt_str weight);

/* Returns the number of the clipping group of a weight, or UINT32_MAX; and the number of groups,
 * their largest norm, and the names of a group's weights, none if it has all weights. */
uint32_t prt_optimizer_clip_group(const prt_optimizer *o, prt_str weight);
uint32_t prt_optimizer_clip_groups(const prt_optimizer *o);
float prt_optimizer_clip_max_norm(const prt_optimizer *o, uint32_t group);
prt_strs prt_optimizer_clip_weights(const prt_optimizer *o, uint32_t group);

/* Returns the initial step counter of a weight. */
int64_t prt_optimizer_step(const prt_optimizer *o, prt_str weight);

/* Fails with POPRT_E_ARG and the reason unless `now` may replace `old` in a program that was made
 * for `old`. */
poprt_status prt_optimizer_check_replacement(const prt_optimizer *old, const prt_optimizer *now);

/* Returns a text that two optimizers share exactly if one program serves both: kind, settings,
 * clipping, constant values, and which values are not constant. It excludes values that are not
 * constant; a compiler that stores initial states must add those on which states depend. The text
 * is in `arena`; `data` is NULL on failure. */
prt_str prt_optimizer_identity(const prt_optimizer *o, prt_arena *arena);

/* ---- optimizer_plan.c */

/* How gradients reach the update. */
typedef struct prt_optimizer_context {
    int64_t accumulation; /* micro-batches of an update, accumulation factor */
    int64_t replicas;     /* global replication factor */
    bool accumulates;     /* gradient accumulation is on */
    bool mean;            /* reduction type Mean; else Sum */
    bool running;         /* strategy Running: the gradient is a mean already; else Post: a sum */
} prt_optimizer_context;

/* A scalar input of the update, computed in float64 from values and context. */
typedef struct prt_optimizer_scalar {
    prt_str name;     /* of the variable, if the scalar is not constant; equal names share it */
    double value;     /* for a loss scale factor of 1 */
    bool is_constant; /* all values that it is computed from are */
    int32_t power;    /* the scalar is multiplied by this power of the loss scale factor */
    uint32_t input;   /* input of the operator */
} prt_optimizer_scalar;

typedef enum prt_optimizer_init {
    PRT_OPTIMIZER_INIT_VALUE,  /* all elements are `value` */
    PRT_OPTIMIZER_INIT_WEIGHT, /* `value` times the initial weight */
} prt_optimizer_init;

/* A state of the update: a variable, which the operator reads and writes. */
typedef struct prt_optimizer_state {
    prt_str name;
    int32_t dtype;
    bool is_scalar; /* one element; else the shape of the weight */
    uint32_t init;  /* prt_optimizer_init */
    double value;
    uint32_t input; /* input and output of the operator */
} prt_optimizer_state;

enum { PRT_OPTIMIZER_MAX_SCALARS = 10, PRT_OPTIMIZER_MAX_STATES = 4 };

/* The update of one weight. */
typedef struct prt_optimizer_plan {
    uint32_t op; /* PRT_OP_sgd_update, PRT_OP_adam_update or PRT_OP_adaptive_update */
    uint32_t n_scalars, n_states;
    prt_optimizer_scalar scalars[PRT_OPTIMIZER_MAX_SCALARS];
    prt_optimizer_state states[PRT_OPTIMIZER_MAX_STATES];
    int32_t scalar_type;      /* element type of all scalars */
    int32_t accumulator_type; /* element type of the gradient accumulator */
    prt_str accumulator;      /* name of the gradient accumulator */
    uint32_t clip_group;      /* UINT32_MAX: the weight is not clipped */
    union {
        prt_sgd_update_attrs sgd;
        prt_adam_update_attrs adam;
        prt_adaptive_update_attrs adaptive;
    } attrs;
} prt_optimizer_plan;

/* Returns PopART's name of a float type, such as "FLOAT16". */
const char *prt_optimizer_type_name(int32_t dtype);

/* Makes the plan of a weight of element type `dtype`, a float type. Names are in `arena`. */
poprt_status prt_optimizer_plan_weight(const prt_optimizer *o, prt_str weight, int32_t dtype,
    const prt_optimizer_context *context, prt_arena *arena, prt_optimizer_plan *out);

#endif
