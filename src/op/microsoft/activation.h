/* SPDX-License-Identifier: MIT */
/* activation.h — activations by name, as fused operators carry them in an attribute. */
#ifndef PRT_OP_MICROSOFT_ACTIVATION_H
#define PRT_OP_MICROSOFT_ACTIVATION_H

#include "op/share/rnn_core.h"

/* An activation and its parameters as the node has them. */
typedef struct prt_ms_activation {
    prt_str name; /* empty: none */
    float params[2];
    uint32_t n_params; /* what is missing has the function's default */
} prt_ms_activation;

/* Fails for a name that is not known. */
poprt_status prt_ms_activation_check(const prt_infer *c, const prt_ms_activation *a);

/* Output 0 through the activation, in place; `add` (may be NULL) is added before: a tensor of the
 * same shape, or of one number for each element of the last dim. */
poprt_status prt_ms_activation_run(prt_eval *c, const prt_ms_activation *a, const prt_tensor *add);

#endif
