/* SPDX-License-Identifier: MIT */
/*
 * n_bits.h — weights of 2, 4 or 8 bits in blocks along K, as MatMulNBits has them.
 *
 * Row n holds ceil(K / block) blocks of block * bits / 8 bytes; numbers fill a byte from its low
 * bits up. A block has a scale and a zero point, which are packed like the weights (rows padded to
 * bytes) or floats; without any it is the middle of the range.
 */
#ifndef PRT_OP_MICROSOFT_N_BITS_H
#define PRT_OP_MICROSOFT_N_BITS_H

#include "op/microsoft/weights.h"

/* Attributes, and which inputs hold what; UINT32_MAX for none. */
typedef struct prt_n_bits_form {
    int64_t n, k, bits, block;
    uint32_t weights, scales, zeros, groups, bias;
} prt_n_bits_form;

typedef struct prt_n_bits {
    size_t k, block, blocks, row; /* row: bytes of a row of weights */
    uint32_t bits;
    const uint8_t *data;
    const prt_tensor *scales;
    const prt_tensor *zeros;  /* NULL: none */
    const prt_tensor *groups; /* block of each k; NULL: in order */
    size_t first, first_zero; /* rows of the scales and zero points that row 0 has */
} prt_n_bits;

/* Attributes' ranges and the sizes of the inputs. */
poprt_status prt_n_bits_check(const prt_infer *c, const prt_n_bits_form *f);

/* From inputs that passed the check; fails when a group is no block. */
poprt_status prt_n_bits_init(const prt_eval *c, const prt_n_bits_form *f, prt_n_bits *w);

/* The column function of weights.h; `user` is a prt_n_bits. */
void prt_n_bits_column(const void *user, size_t column, double *to, size_t step);

#endif
