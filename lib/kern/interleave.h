/* SPDX-License-Identifier: MIT */
/* interleave.h — rows of a few planes, and the same elements pixel by pixel. */
#ifndef PRT_KERN_INTERLEAVE_H
#define PRT_KERN_INTERLEAVE_H

#include <stddef.h>

/* to[i * planes + p] = from[p * plane + i] for i < n. */
typedef void (*prt_interleave_fn)(size_t n, size_t planes, const float *from, size_t plane,
    float *to);

#endif
