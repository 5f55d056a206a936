/* SPDX-License-Identifier: MIT */
/* interleave.h — interleaving of a few planes, pixel by pixel. */
#ifndef PRT_KERN_MOVE_INTERLEAVE_H
#define PRT_KERN_MOVE_INTERLEAVE_H

#include <stddef.h>

/* to[i * planes + p] = from[p * plane + i] for i < n. */
typedef void (
    *prt_interleave_fn)(size_t n, size_t planes, const float *from, size_t plane, float *to);

/* y[2 i] = a[i], y[2 i + 1] = b[i], for the n elements of y; an odd n ends with an element of a. */
typedef void (*prt_zip_fn)(size_t n, const float *a, const float *b, float *y);

#endif
