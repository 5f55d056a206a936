/* SPDX-License-Identifier: MIT */
/*
 * perm.h — a permutation of up to eight axes as one number. Digit i, of four bits, is the axis of
 * the operand that becomes axis i of the result, as in the attribute of Transpose. Digits beyond
 * the rank are their own index, so that the number does not depend on the rank.
 */
#ifndef PRT_PASS_TRANSPOSE_PERM_H
#define PRT_PASS_TRANSPOSE_PERM_H

#include "ir/ir.h"

typedef uint32_t prt_perm;

#define PRT_PERM_IDENTITY UINT32_C(0x76543210)

static inline uint32_t prt_perm_at(prt_perm p, uint32_t i)
{
    return p >> 4 * i & 15;
}

static inline prt_perm prt_perm_set(prt_perm p, uint32_t i, uint32_t axis)
{
    return (p & ~(UINT32_C(15) << 4 * i)) | axis << 4 * i;
}

/* Returns the permutation of two Transposes, `first` before `second`. */
static inline prt_perm prt_perm_then(prt_perm first, prt_perm second)
{
    prt_perm p = 0;
    for (uint32_t i = 0; i < PRT_MAX_RANK; i++)
        p |= prt_perm_at(first, prt_perm_at(second, i)) << 4 * i;
    return p;
}

static inline prt_perm prt_perm_inverse(prt_perm p)
{
    prt_perm inverse = 0;
    for (uint32_t i = 0; i < PRT_MAX_RANK; i++)
        inverse |= i << 4 * prt_perm_at(p, i);
    return inverse;
}

/* Returns the position of an axis of the operand in the result. */
static inline uint32_t prt_perm_find(prt_perm p, uint32_t axis)
{
    return prt_perm_at(prt_perm_inverse(p), axis);
}

/* Returns whether two permutations of a tensor have the dims that are not 1 in the same order, so
 * that a Reshape converts between them. */
bool prt_perm_is_reshape(const prt_type *type, prt_perm a, prt_perm b);

/* Reads the permutation of a Transpose of a tensor of known rank from 1 to 8. */
bool prt_perm_of(const prt_op *op, prt_perm *out);

#endif
