/* SPDX-License-Identifier: MIT */
/*
 * update.h — kernels of optimizers over rows of float32: one pass over a weight, its gradient and
 * its states. The formulas are those of op/training/training.def. Outputs may be the same as the
 * inputs of the same place, but not overlap them otherwise.
 */
#ifndef PRT_KERN_TRAIN_UPDATE_H
#define PRT_KERN_TRAIN_UPDATE_H

#include <stdbool.h>
#include <stddef.h>

/* Scalars of an update. The kernels round each to float32. */
typedef enum prt_sgd_momentum {
    PRT_SGD_MOMENTUM_none,
    PRT_SGD_MOMENTUM_combined,
    PRT_SGD_MOMENTUM_separate
} prt_sgd_momentum;

typedef struct prt_sgd_scalars {
    int kind; /* prt_sgd_momentum */
    bool nesterov;
    double learning_rate, decay, dampening, momentum, replicas;
    double nesterov_momentum, weight_decay, gradient_scale;
    double gradient_factor; /* dampening * unscale */
    double clip;
} prt_sgd_scalars;

typedef struct prt_adam_scalars {
    bool adamax, l2;
    double gradient_scaling, clip, weight_decay;
    double keep1, add1; /* factors of M and g in m */
    double keep2, add2; /* factors of V and g * g in v; of adamax, keep2 alone */
    double bias1, bias2;
    double eps;
    double rate; /* learning_rate * ratio */
} prt_adam_scalars;

typedef enum prt_adaptive_mode {
    PRT_ADAPTIVE_adagrad,
    PRT_ADAPTIVE_rmsprop,
    PRT_ADAPTIVE_centered_rmsprop,
    PRT_ADAPTIVE_adadelta
} prt_adaptive_mode;

typedef struct prt_adaptive_scalars {
    int mode; /* prt_adaptive_mode */
    bool l2, tf_variant, has_momentum;
    double gradient_scaling, weight_decay, alpha, momentum, eps;
    double learning_rate;
    double rest; /* 1 - alpha */
    double keep; /* factor of W in W' */
} prt_adaptive_scalars;

enum { PRT_UPDATE_STATES = 3 };

/* Rows of n elements; states that the update does not have are NULL. If `x` is not NULL, only x
 * (SGD) or u (Adam) of the formulas is computed, and written there. */
typedef struct prt_update_rows {
    size_t n;
    const float *g, *w;
    const float *state[PRT_UPDATE_STATES];
    float *w_to;
    float *state_to[PRT_UPDATE_STATES];
    float *x;
} prt_update_rows;

typedef struct prt_kern_train {
    void (*sgd)(const prt_sgd_scalars *s, const prt_update_rows *r);
    void (*adam)(const prt_adam_scalars *s, const prt_update_rows *r);
    void (*adaptive)(const prt_adaptive_scalars *s, const prt_update_rows *r);
    /* to = a * x + b * y; y may be NULL, which stands for zeros */
    void (*combine)(size_t n, float a, const float *x, float b, const float *y, float *to);
    /* Returns the sum of squares, in float64. */
    double (*squares)(size_t n, const float *x);
} prt_kern_train;

#endif
