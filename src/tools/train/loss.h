/* SPDX-License-Identifier: MIT */
/*
 * loss.h — the loss of `poprt train`: a tensor of the model, or a loss that is added to it, because
 * exported models have no loss.
 */
#ifndef PRT_TOOLS_TRAIN_LOSS_H
#define PRT_TOOLS_TRAIN_LOSS_H

#include "tools/train/data.h"

typedef enum prt_train_loss_kind {
    PRT_LOSS_TENSOR,        /* a tensor of the model */
    PRT_LOSS_CROSS_ENTROPY, /* of scores and labels */
    PRT_LOSS_MSE            /* mean of squared differences of an output and a target */
} prt_train_loss_kind;

typedef struct prt_train_loss {
    prt_train_loss_kind kind;
    const char *tensor;          /* name of the loss in the model; NULL until it is added */
    const char *output, *target; /* tensors that an added loss compares; else NULL */
} prt_train_loss;

/* Reads a tensor's name, "cross_entropy:OUTPUT,LABELS" or "mse:OUTPUT,TARGET". */
poprt_status prt_train_loss_read(prt_arena *arena, const char *text, prt_train_loss *out);

/*
 * Adds the operators of a loss that is not a tensor of the model, and an input for the labels or
 * the target unless the model has it. The input has the element type and the shape of the array of
 * its name in the data.
 */
poprt_status prt_train_loss_add(prt_arena *arena, const prt_train_data *data, poprt_model *model,
    prt_train_loss *loss);

/* Divides "OUTPUT,ARRAY" at its last comma, because names may contain commas. */
poprt_status prt_train_split_pair(prt_arena *arena, const char *option, const char *text,
    const char **first, const char **second);

#endif
