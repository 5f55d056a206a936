/* SPDX-License-Identifier: MIT */
/* validate.h — loss and accuracy of the weights of a training session on data of their own. */
#ifndef PRT_TOOLS_TRAIN_VALIDATE_H
#define PRT_TOOLS_TRAIN_VALIDATE_H

#include "tools/train/loss.h"

typedef struct prt_train_validator {
    prt_tool *tool;
    const poprt_model *model; /* with its loss */
    const char *loss;         /* name of the loss */
    prt_train_data data;
    int64_t batch;               /* samples of a run */
    const char *scores, *labels; /* tensor and array of the accuracy; NULL: none is computed */
    const prt_tensor *truth;     /* the array `labels` */
} prt_train_validator;

typedef struct prt_train_quality {
    double loss, accuracy; /* means over all samples; accuracy: 0 to 1, NAN without labels */
} prt_train_quality;

/* Opens the data at `path` and checks it. The other members are set by the caller; `model` must be
 * kept until prt_train_validator_close. */
poprt_status prt_train_validator_open(prt_train_validator *v, const char *path);
void prt_train_validator_close(prt_train_validator *v);

/* Compiles the model for inference with the weights and statistics of the session, and runs it on
 * all samples. */
poprt_status prt_train_validate(const prt_train_validator *v, poprt_session *session,
    prt_train_quality *out);

#endif
