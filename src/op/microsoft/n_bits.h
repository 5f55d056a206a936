/* SPDX-License-Identifier: MIT */
/*
 * n_bits.h — weights of 2, 4 or 8 bits in blocks along K, in the layout of MatMulNBits.
 *
 * Row n holds ceil(K / block) blocks of block * bits / 8 bytes; numbers fill a byte from its low
 * bits up. A block has a scale and a zero point. Zero points are packed as the weights are (rows
 * padded to bytes), or floats; the default is the middle of the range.
 */
#ifndef PRT_OP_MICROSOFT_N_BITS_H
#define PRT_OP_MICROSOFT_N_BITS_H

#include "op/microsoft/unpacked_matmul.h"

/* Sizes from the attributes, and input indices; UINT32_MAX: the operator does not have the
   input. */
typedef struct prt_n_bits_params {
    int64_t n, k, bits, block;
    uint32_t weights, scales, zeros, groups, bias;
} prt_n_bits_params;

typedef struct prt_n_bits {
    size_t k, block, blocks, row; /* row: bytes of a row of weights */
    uint32_t bits;
    const uint8_t *data;
    const prt_tensor *scales;
    const prt_tensor *zeros;  /* NULL: absent */
    const prt_tensor *groups; /* block of each k; NULL: k / block */
    size_t first, first_zero; /* offset, in rows of the scales and of the zero points, of row 0 */
} prt_n_bits;

/* Checks the ranges of the attributes and the sizes of the inputs. */
poprt_status prt_n_bits_check(const prt_infer *c, const prt_n_bits_params *f);

/* Reads the inputs, which have passed the check. Fails where an element of g_idx is not a block. */
poprt_status prt_n_bits_init(const prt_eval *c, const prt_n_bits_params *f, prt_n_bits *w);

/* Unpacks one column: the column function of unpacked_matmul.h. `user` is a prt_n_bits. */
void prt_n_bits_column(const void *user, size_t column, double *to, size_t step);

#endif
