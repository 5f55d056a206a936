/* SPDX-License-Identifier: MIT */
/* q_moe.h — quantised weights of a mixture of experts: shapes, and unpacking of an expert's
   columns. */
#ifndef PRT_OP_MICROSOFT_Q_MOE_H
#define PRT_OP_MICROSOFT_Q_MOE_H

#include "op/share/delegate.h"
#include "op/microsoft/n_bits.h"

/* Matrices 0 to 2 are FC1 to FC3. Returns the input index of the weights; scales and bias follow
   it. */
static inline uint32_t prt_moe_slot(uint32_t which)
{
    return 2 + 3 * which;
}
static inline uint32_t prt_moe_zeros_slot(uint32_t which)
{
    return 11 + which;
}

/* One matrix of one expert: n columns of k weights each. */
typedef struct prt_moe_weights {
    prt_n_bits bits;     /* integer weights */
    const prt_tensor *t; /* float weights [experts, n, k] */
    const prt_tensor *scales;
    size_t expert, n, k, block;
    double scale; /* global scale of the expert */
    void (*column)(const void *user, size_t column, double *to, size_t step);
} prt_moe_weights;

/* Returns the number of weights that one element of a matrix's tensor holds. */
size_t prt_moe_packing(const prt_eval *c, uint32_t which);

/* Reads one matrix of an expert. `bias` is set to NULL if it is absent. */
poprt_status prt_moe_weights_init(prt_eval *c, uint32_t which, size_t expert, prt_moe_weights *w,
    const double **bias);

poprt_status prt_moe_infer(prt_infer *c);

#endif
