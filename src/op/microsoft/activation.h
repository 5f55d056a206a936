/* SPDX-License-Identifier: MIT */
/* activation.h — activations by name, as attributes of fused operators give them. */
#ifndef PRT_OP_MICROSOFT_ACTIVATION_H
#define PRT_OP_MICROSOFT_ACTIVATION_H

#include "op/share/rnn_core.h"

/* An activation and its parameters, from the attributes of a node. */
typedef struct prt_ms_activation {
    prt_str name; /* empty: no activation */
    float params[2];
    uint32_t n_params; /* missing parameters have the defaults of the activation */
} prt_ms_activation;

/* Fails with an error if the name is unknown. */
poprt_status prt_ms_activation_check(const prt_infer *c, const prt_ms_activation *a);

/* Applies the activation to output 0 in place. `add` (may be NULL) is added before: it has the same
   shape, or one number for each element of the last dim. */
poprt_status prt_ms_activation_run(prt_eval *c, const prt_ms_activation *a, const prt_tensor *add);

#endif
