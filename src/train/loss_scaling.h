/* SPDX-License-Identifier: MIT */
/* loss_scaling.h — the statistic of automatic loss scaling: how many elements of float16 gradients
 * are close to overflow. */
#ifndef PRT_TRAIN_LOSS_SCALING_H
#define PRT_TRAIN_LOSS_SCALING_H

#include "train/autodiff.h"

/* Whose gradients count; of PopART's GradientTensorTrackingMethod. */
typedef enum prt_gradient_tracking {
    /* of all values but the loss, except where an operator only moved the elements */
    PRT_TRACKING_all,
    PRT_TRACKING_products, /* of the operands of Conv, ConvTranspose, MatMul and Gemm */
    PRT_TRACKING_tensors   /* of the named tensors */
} prt_gradient_tracking;

/* Automatic loss scaling. */
typedef struct prt_training_scaling {
    bool on;
    float edge; /* share of the largest float16 from which a gradient counts as too large */
    prt_gradient_tracking tracking;
    uint32_t n_tensors;
    const prt_str *tensors;
} prt_training_scaling;

/* Counts the elements of the tracked gradients behind the ops that make them, and adds the counts
 * to the variable `counts`. Fails with POPRT_E_NOT_FOUND if a named tensor does not exist or has
 * no gradient, and with POPRT_E_TYPE if no tracked gradient is float16. */
poprt_status prt_training_count_overflows(prt_graph *graph, const prt_value *loss,
    const prt_training_scaling *scaling, const prt_gradients *all, const prt_ir_variable *counts,
    prt_arena *arena);

#endif
