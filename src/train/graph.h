/* SPDX-License-Identifier: MIT */
/*
 * graph.h — turns a model into a training graph: the model in training form, the gradients of its
 * loss, accumulators, and the update of the weights as an entry of its own.
 */
#ifndef PRT_TRAIN_GRAPH_H
#define PRT_TRAIN_GRAPH_H

#include "ir/ir.h"
#include "train/loss_scaling.h"
#include "train/optimizer.h"
#include "train/update_groups.h"

typedef struct prt_training {
    prt_str loss;
    const prt_optimizer *optimizer;
    prt_optimizer_context context;
    /* Dropout and BatchNormalization stay as the model has them; otherwise Dropout drops, and
     * BatchNormalization uses and updates the statistics of micro-batches. */
    bool keep_form;
    bool master_weights;    /* weights of 16 bits are trained as float32 */
    bool float_loss;        /* a loss of 16 bits, and its scaling, are computed in float32 */
    bool tree_of_gradients; /* gradients of a value with several readers are added in pairs */
    /* Weights to be trained; all_weights: as prt_training_build says. */
    bool all_weights;
    uint32_t n_weights;
    const prt_str *weights;
    uint32_t n_frozen; /* weights that are not trained */
    const prt_str *frozen;
    bool without_weights; /* a loss that depends on no weight is accepted */
    prt_training_scaling scaling;
    prt_update_grouping grouping; /* of the updates */
    uint64_t grouping_bytes;
    int64_t pieces;     /* of a micro-batch, computed one after another; 0 or 1: the whole */
    uint32_t n_anchors; /* tensors that a step returns: gradients among them get their names */
    const prt_str *anchors;
} prt_training;

/* Tensors that training does not change though their users may expect it. */
typedef struct prt_training_unchanged {
    prt_arena *arena;
    PRT_VEC(prt_str) weights; /* chosen weights on which the loss does not depend */
    PRT_VEC(prt_str)
    norms; /* statistics, scales and biases of BatchNormalization that are
            * Constant nodes, and statistics that are used in a subgraph */
} prt_training_unchanged;

typedef struct prt_training_result {
    uint32_t counts, factor; /* variables of automatic loss scaling; UINT32_MAX without it */
    uint32_t n_weights;      /* trained weights */
    prt_training_unchanged unchanged; /* in the arena of the module */
} prt_training_result;

/*
 * Changes the module. Trained are the floating-point initializers that are also inputs of the
 * model, as PopART's Builder makes them; in a model without such initializers, all floating-point
 * initializers except scalars. Of these, weights on which the loss does not depend stay as they
 * are. An initializer with the name of an optimizer state gives its first contents.
 *
 * Fails with POPRT_E_NOT_FOUND if the loss, or a weight that is named, does not exist; with
 * POPRT_E_SHAPE or POPRT_E_TYPE if the loss is not one floating-point number; with
 * POPRT_E_UNSUPPORTED if an operator has no gradient; with POPRT_E_ARG if the loss depends on no
 * weight, or a tensor has a reserved name.
 */
poprt_status prt_training_build(prt_module *module, const prt_training *training,
    prt_training_result *out);

/* form.c: gives the model its training form, and lists what stays as it is. */
poprt_status prt_training_form(prt_module *module, prt_training_unchanged *unchanged);
/* Computes the operator of a 16-bit loss in float32, and casts its outputs to their old types.
 * `loss` becomes the float32 loss. */
poprt_status prt_training_widen_loss(prt_value **loss, prt_arena *arena);

/* weights.c: the values to be trained, allocated in `arena`, and the chosen weights from which
 * nothing leads to the loss. */
poprt_status prt_training_weights(prt_module *module, const prt_training *training,
    const prt_value *loss, prt_arena *arena, prt_training_unchanged *unchanged, prt_value ***out,
    uint32_t *count);
/* Returns whether a name is that of a gradient, "Gradient___x"; `of` becomes x. */
bool prt_training_gradient_of(prt_str name, prt_str *of);
/* The weights, after them the constants whose gradients are anchors, and the inputs on which the
 * tensors depend whose gradients are anchors. */
poprt_status prt_training_leaves(prt_module *module, const prt_training *training, prt_arena *arena,
    uint32_t n_weights, prt_value *const *weights, prt_value ***out, uint32_t *count);

/* Marks the values of the main graph from which the loss is computed, by id. */
poprt_status prt_training_reached(const prt_value *loss, prt_arena *arena, const bool **out);

#endif
