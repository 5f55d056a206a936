/* SPDX-License-Identifier: MIT */
/* rotary_core.h — the rotation of the elements of a head by rotary embeddings. */
#ifndef PRT_OP_SHARE_ROTARY_CORE_H
#define PRT_OP_SHARE_ROTARY_CORE_H

#include <stdbool.h>
#include <stddef.h>

/* Rotates the first 2 * half elements of `x`: pair k by the angle with this cosine and sine. A
 * pair is elements 2k and 2k + 1 if interleaved, else k and k + half. */
static inline void prt_rotary_rotate(size_t half, bool interleaved, const double *cosine,
    const double *sine, double *x)
{
    for (size_t k = 0; k < half; k++) {
        const size_t i = interleaved ? 2 * k : k, j = interleaved ? 2 * k + 1 : k + half;
        const double a = x[i], b = x[j];
        x[i] = cosine[k] * a - sine[k] * b;
        x[j] = sine[k] * a + cosine[k] * b;
    }
}

#endif
